"""Independent second implementation of the rules of a_way, plain and slow.

It is used only by the tests, to compare decision by decision with the implementation
that players use. It was written from the text of the rules alone and shares no code and
no data with the other one: the card table stands in this file.

How it is built: the whole game is one generator (``_game``). At each decision it yields
the possible answers, a dict from the action's name to what the name means, and is sent
the name that was chosen. All targets of a card are enumerated as complete sequences
(``_completions``), and a decision offers what continues the sequence named so far, so
that nothing is offered that cannot be completed.

Inside, everything is in the table's frame, which is that of seat 0; names are turned
into the acting seat's frame when they are offered. Rows and columns of a black hole are
the exception: they are in the acting seat's frame throughout.

A game cannot be copied; to get a second one in the same position, replay its actions.
"""

from __future__ import annotations

from dataclasses import dataclass

SIZE = 9
HAND = 5

# ---------------------------------------------------------------- the card table

FACTIONS = ["blue", "green", "pink", "orange"]

# name: (number of stations, lanes); "a>b" is one way along its arrow, "a-b" both ways
EXPLORATION_DESIGNS = {
    "express": (0, "W>E"),
    "passage": (0, "W-E"),
    "lane": (1, "W-1, 1-E"),
    "oneway": (1, "W>1, 1>E"),
    "bend": (1, "W-1, 1-S"),
    "left": (1, "W>1, 1>N"),
    "right": (1, "W>1, 1>S"),
    "fork": (1, "W>1, 1>N, 1>S"),
    "junction": (1, "W-1, 1-E, 1-S"),
    "crossroads": (1, "N-1, E-1, S-1, W-1"),
    "overpass": (2, "W>1, 1>E, N>2, 2>S"),
    "double": (2, "W-1, 1-2, 2-E"),
    "chicane": (3, "W>1, 1>2, 2>3, 3>E"),
    "roundabout": (4, "N-1, E-2, S-3, W-4, 1>2, 2>3, 3>4, 4>1"),
    "deadend": (1, "W-1"),
    "vortex": (1, "W-1, 1-E"),
}
VORTEX = "vortex"  # the design whose station is a vortex

SOLAR_DESIGNS = {
    "crossroads": (1, "N-1, E-1, S-1, W-1"),
    "junction": (1, "W-1, 1-E, 1-S"),
    "twinbend": (2, "W-1, 1-N, E-2, 2-S"),
    "twinlane": (2, "W-1, 1-E, N-2, 2-S"),
    "roundabout": (4, "N-1, E-2, S-3, W-4, 1>2, 2>3, 3>4, 4>1"),
}
SOLAR_COUNTS = {
    "crossroads": 2,
    "junction": 2,
    "twinbend": 2,
    "twinlane": 2,
    "roundabout": 1,
}

EXPLORATION_OF_ALL = ["lane", "oneway", "bend", "fork"]
EXPLORATION_OF_FACTION = {
    "blue": ["express", "left", "junction", "crossroads", "double", "vortex"],
    "green": ["passage", "right", "junction", "overpass", "chicane", "roundabout"],
    "pink": ["express", "left", "crossroads", "overpass", "double", "vortex"],
    "orange": ["passage", "right", "junction", "crossroads", "deadend", "roundabout"],
}

ACTION_FACTIONS = {
    "hyperdrive": ["green", "pink"],
    "solar_wind": ["green", "blue"],
    "pirate_raid": ["blue", "orange"],
    "solar_rotation": ["blue", "orange"],
    "unstable_field": ["blue", "green", "pink", "orange"],
    "cosmic_compass": ["blue", "pink"],
    "solar_tornado": ["green", "blue"],
    "solar_storm": ["pink", "orange"],
    "nebula_deviation": ["green", "blue"],
    "super_nebula": ["pink", "orange"],
    "black_hole": ["green", "pink"],
    "unknown_fate": ["green", "orange"],
    "scrapyard": ["pink", "orange"],
}


def all_solar_cards() -> list[str]:
    """The nine solar designs, as often as they occur."""
    return [name for name, count in SOLAR_COUNTS.items() for _ in range(count)]


def all_deck_cards() -> list[str]:
    """The 68 cards of the deck, as "<card>.<faction>"."""
    cards = []
    for faction in FACTIONS:
        for name in EXPLORATION_OF_ALL + EXPLORATION_OF_FACTION[faction]:
            cards.append(f"{name}.{faction}")
    for name, factions in ACTION_FACTIONS.items():
        for faction in factions:
            cards.append(f"{name}.{faction}")
    return cards


def read_lanes(text: str) -> list[tuple]:
    """The lanes of a design, as (begin, end, both ways); a station is an int."""
    lanes = []
    for lane in text.split(", "):
        begin, end = lane[0], lane[2]
        begin = int(begin) if begin.isdigit() else begin
        end = int(end) if end.isdigit() else end
        lanes.append((begin, end, lane[1] == "-"))
    return lanes


LANES = {
    "exploration": {n: read_lanes(t) for n, (_, t) in EXPLORATION_DESIGNS.items()},
    "solar": {n: read_lanes(t) for n, (_, t) in SOLAR_DESIGNS.items()},
}

# ---------------------------------------------------------------- table and frames

PORTS = "NESW"
STEP = {"N": (-1, 0), "E": (0, 1), "S": (1, 0), "W": (0, -1)}
OPPOSITE = {"N": "S", "E": "W", "S": "N", "W": "E"}

BASE_CELLS = {"W": (4, 0), "E": (4, 8), "N": (0, 4), "S": (8, 4)}
START_BASE = ["W", "E", "N", "S"]  # by seat
HOME_BASE = ["E", "W", "S", "N"]  # by seat
# A base's one port is towards the table's middle: W's is its east side.
BASE_PORT = OPPOSITE

HOME = "home"  # a ship at home, and home as a destination
START = "start"  # a ship on its start base

QUARTERS = [0, 2, 3, 1]  # by seat: how far the table is turned clockwise


def quarter_turn(cell):
    """Where a cell goes when the table is turned clockwise once."""
    row, column = cell
    return (column, SIZE - 1 - row)


def to_own(seat, cell):
    """A cell of the table, in the seat's own frame."""
    for _ in range(QUARTERS[seat]):
        cell = quarter_turn(cell)
    return cell


def to_table(seat, cell):
    """A cell of the seat's own frame, in the table's."""
    for _ in range(4 - QUARTERS[seat]):
        cell = quarter_turn(cell)
    return cell


def neighbour(cell, side):
    return (cell[0] + STEP[side][0], cell[1] + STEP[side][1])


def on_table(cell):
    return 0 <= cell[0] < SIZE and 0 <= cell[1] < SIZE


def turned(point, orientation):
    """A port after turning its card; a station keeps its number."""
    if isinstance(point, int):
        return point
    return PORTS[(PORTS.index(point) + orientation) % 4]


def kind_of(card):
    return card.split(".")[0]


def faction_of(card):
    return card.split(".")[1]


def is_action(card):
    return kind_of(card) in ACTION_FACTIONS


@dataclass
class TableCard:
    """A card that lies on the table."""

    sort: str  # "solar" or "exploration"
    design: str
    faction: str  # "" for a solar card
    orientation: int

    def ways_on(self, point, ignoring_arrows):
        """The ends of the lanes that begin at a port (a side) or a station."""
        ends = []
        for begin, end, both_ways in LANES[self.sort][self.design]:
            begin = turned(begin, self.orientation)
            end = turned(end, self.orientation)
            if begin == point:
                ends.append(end)
            if end == point and (both_ways or ignoring_arrows):
                ends.append(begin)
        return ends


# ---------------------------------------------------------------- the game


class Away:
    """One game.

    players: 2 to 4.
    solar: nine (design, orientation), rows 3 to 5, columns 3 to 5, in reading order.
    deck: the 68 cards from the top, before the hands are dealt.
    shuffle: called with the cards that make a new deck (in the order of the pile, the
        lowest first); returns the new deck from the top.
    """

    def __init__(self, players, solar, deck, shuffle, max_rounds=100):
        if players not in (2, 3, 4):
            raise ValueError(f"2 to 4 players, not {players}")
        if len(solar) != 9 or any(design not in SOLAR_DESIGNS for design, _ in solar):
            raise ValueError("nine solar cards, please")
        if sorted(deck) != sorted(all_deck_cards()):
            raise ValueError("the deck is not the 68 cards of the card table")
        self.players = players
        self.shuffle = shuffle
        self.max_rounds = max_rounds

        letters = "WE" if players == 2 else "WENS"
        self.bases = {letter: BASE_CELLS[letter] for letter in letters}
        self.cards = {}  # (row, column): TableCard
        places = [(row, column) for row in (3, 4, 5) for column in (3, 4, 5)]
        for cell, (design, orientation) in zip(places, solar):
            self.cards[cell] = TableCard("solar", design, "", orientation)
        # A ship is START, ((row, column), station) or HOME.
        self.ships = [START] * players
        self.deck = list(deck)  # from the top
        self.hands = []
        for _ in range(players):
            self.hands.append(self.deck[:HAND])
            self.deck = self.deck[HAND:]
        self.pile = []  # the discard pile, bottom first
        self.solar_out = []  # solar cards out of the game
        self.laying = None  # the exploration card that is being laid

        self.round = 0  # counted from 1
        self.turn_seat = -1
        self.faction = None  # of the turn
        self.arrived = []  # seats, in order of arrival
        self.over = False
        self.cut_off = False
        self.winners = []

        self._options = {}
        self._decisions = self._game()
        self._go_on(None)

    # ------------------------------------------------------------ for the outside

    @property
    def seat(self):
        """The seat to act, -1 when the game is over."""
        return -1 if self.over else self.turn_seat

    def legal(self):
        return sorted(self._options)

    def step(self, name):
        if name not in self._options:
            raise ValueError(f"not a legal action: {name}")
        self._go_on(name)

    def public(self):
        """The whole position, in the table's frame."""
        ships = []
        for seat, ship in enumerate(self.ships):
            if ship == START:
                ships.append(("base", self.bases[START_BASE[seat]]))
            else:
                ships.append(ship)
        return {
            "cards": {
                cell: (card.sort, card.design, card.faction, card.orientation)
                for cell, card in self.cards.items()
            },
            "ships": ships,
            "bases": dict(self.bases),
            "hands": [sorted(hand) for hand in self.hands],
            "pile": list(self.pile),
            "deck_size": len(self.deck),
            "solar_out": sorted(self.solar_out),
            "round": self.round,
            "turn_seat": self.turn_seat,
            "faction": self.faction,
            "arrived": list(self.arrived),
        }

    def _go_on(self, name):
        try:
            self._options = self._decisions.send(name)
        except StopIteration:
            self._options = {}

    # ------------------------------------------------------------ game and turn

    def _game(self):
        for self.round in range(1, self.max_rounds + 1):
            for self.turn_seat in range(self.players):
                yield from self._turn()
            if self.arrived:
                self.winners = [self.arrived[-1]]  # the last to arrive wins
                break
        else:
            self.cut_off = True
        self.over = True
        self.turn_seat = -1

    def _turn(self):
        hand = self.hands[self.turn_seat]
        self.faction = None

        # Phase 1: exactly one of moving, playing, discarding.
        options = {}
        if self._destinations(self.turn_seat):
            options["move"] = ("move", None)
        for card in hand:
            if self._playable(card):
                options[f"play:{card}"] = ("play", card)
            options[f"discard:{card}"] = ("discard", card)
        if options:
            name = yield options
            what, card = options[name]
            if what == "move":
                yield from self._move()
            elif what == "play":
                yield from self._play_cards(card)
            else:
                yield from self._discard_cards(card)

        # Phase 2: the own ship may move.
        options = {"pass": None}
        if self._destinations(self.turn_seat):
            options["move"] = None
        name = yield options
        if name == "move":
            yield from self._move()

        # Phase 3: draw.
        while len(hand) < HAND:
            card = self._draw()
            if card is None:
                break
            hand.append(card)
        self.faction = None

    def _play_cards(self, card):
        hand = self.hands[self.turn_seat]
        while card is not None:
            hand.remove(card)
            yield from self._play(card, brought_by=None)
            options = {"done": None}
            for other in hand:
                if faction_of(other) == self.faction and self._playable(other):
                    options[f"play:{other}"] = other
            name = yield options
            card = options[name]

    def _discard_cards(self, card):
        hand = self.hands[self.turn_seat]
        discarded = 0
        while card is not None:
            hand.remove(card)
            self.pile.append(card)
            discarded += 1
            options = {"done": None}
            if discarded < 3:
                for other in hand:
                    options[f"discard:{other}"] = other
            name = yield options
            card = options[name]

    def _draw(self):
        """The top card of the deck, which is refilled if it is empty; or None."""
        if not self.deck and len(self.pile) > 1:
            self.deck = list(self.shuffle(self.pile[:-1]))
            self.pile = self.pile[-1:]
        if not self.deck:
            return None
        return self.deck.pop(0)

    # ------------------------------------------------------------ targets

    def _name(self, target):
        """The name of a target in the acting seat's own frame."""
        what, value = target
        if what == "cell":
            row, column = to_own(self.turn_seat, value)
            return f"cell:{row},{column}"
        if what == "turn":
            return f"turn:{(value + QUARTERS[self.turn_seat]) % 4}"
        return f"{what}:{value}"  # stop, seat, row, col

    def _ask_targets(self, completions):
        """Ask for targets, one decision each, until a sequence of them is complete."""
        left = list(completions)
        named = 0
        while True:
            if any(len(sequence) == named for sequence in left):
                assert len(left) == 1
                return [value for _, value in left[0]]
            options = {self._name(s[named]): s[named] for s in left}
            name = yield options
            left = [s for s in left if s[named] == options[name]]
            named += 1

    # ------------------------------------------------------------ moving one station

    def _held_stations(self, but):
        return [
            ship
            for seat, ship in enumerate(self.ships)
            if seat != but and ship not in (START, HOME)
        ]

    def _destinations(self, seat, ignoring_arrows=False):
        """Where one move can bring the seat's ship: (cell, station), or HOME."""
        ship = self.ships[seat]
        if ship == HOME:
            return []
        held = self._held_stations(but=seat)
        found = []
        todo = []  # (cell, station gone on from, or side by which it was entered)

        def leave(cell, side):
            there = neighbour(cell, side)
            entered = OPPOSITE[side]
            for letter, base in self.bases.items():
                if base == there and letter == HOME_BASE[seat]:
                    if BASE_PORT[letter] == entered and HOME not in found:
                        found.append(HOME)
            if there in self.cards and (there, entered) not in todo:
                todo.append((there, entered))

        def reach(station):
            if station == ship:
                return  # its own stop
            if station in held:
                if station not in todo:
                    todo.append(station)
            elif station not in found:
                found.append(station)

        if ship == START:
            letter = START_BASE[seat]
            leave(self.bases[letter], BASE_PORT[letter])
        else:
            todo.append(ship)
            if self._is_vortex(ship[0]):
                for cell in self.cards:
                    if self._is_vortex(cell):
                        reach((cell, 1))

        for cell, point in todo:  # todo grows on the way
            for end in self.cards[cell].ways_on(point, ignoring_arrows):
                if isinstance(end, int):
                    reach((cell, end))
                else:
                    leave(cell, end)
        return found

    def _is_vortex(self, cell):
        card = self.cards[cell]
        return card.sort == "exploration" and card.design == VORTEX

    def _destination_targets(self, seat, destinations):
        """Complete sequences of targets that name the destinations of a move."""
        stations = [place for place in destinations if place != HOME]
        cells = [cell for cell, _ in stations]
        for cell, station in stations:
            if cells.count(cell) > 1:
                yield [("cell", cell), ("stop", station)]
            else:
                yield [("cell", cell)]
        if HOME in destinations:
            yield [("cell", self.bases[HOME_BASE[seat]])]

    def _bring_ship(self, seat, destinations, targets):
        """Move a ship to the destination named by [cell] or [cell, stop]."""
        if targets[0] == self.bases[HOME_BASE[seat]]:
            self.ships[seat] = HOME
            self.arrived.append(seat)
            return
        for cell, station in destinations:
            if cell == targets[0] and station == (targets[1:] or [station])[0]:
                self.ships[seat] = (cell, station)
                return
        raise AssertionError("no such destination")

    def _move(self, ignoring_arrows=False):
        """The own ship moves one station."""
        seat = self.turn_seat
        places = self._destinations(seat, ignoring_arrows)
        targets = yield from self._ask_targets(self._destination_targets(seat, places))
        self._bring_ship(seat, [p for p in places if p != HOME], targets)

    # ------------------------------------------------------------ playing a card

    def _raid_destinations(self, seat):
        """Where a pirate raid can bring an opponent's ship: never onto a base."""
        if self.ships[seat] in (START, HOME):
            return []
        places = self._destinations(seat, ignoring_arrows=True)
        return [place for place in places if place != HOME]

    def _playable(self, card, brought_by=None):
        """Can the card, which is not on the pile yet, be played?"""
        kind = kind_of(card)
        if kind == "unknown_fate":
            return bool(self.deck or self.pile)
        if kind == "scrapyard":
            return bool(self.pile) and brought_by != "scrapyard"
        for _ in self._completions(card):
            return True
        return False

    def _play(self, card, brought_by):
        """Play a card that has left the hand, the deck or the pile."""
        self.faction = faction_of(card)
        kind = kind_of(card)
        if not self._playable(card, brought_by):
            assert brought_by is not None
            self.pile.append(card)

        elif not is_action(card):
            self.laying = card
            cell, turn = yield from self._ask_targets(self._completions(card))
            self.laying = None
            self.cards[cell] = TableCard("exploration", kind, self.faction, turn)

        elif kind == "unknown_fate":
            self.pile.append(card)
            brought = self._draw()
            yield from self._play(brought, brought_by=kind)

        elif kind == "scrapyard":
            brought = self.pile.pop()
            self.pile.append(card)
            yield from self._play(brought, brought_by=kind)

        elif kind in ("hyperdrive", "solar_wind"):
            self.pile.append(card)
            if kind == "solar_wind":
                yield from self._move(ignoring_arrows=True)
            else:
                yield from self._move()
                if self._destinations(self.turn_seat):  # none from home
                    yield from self._move()

        else:
            self.pile.append(card)
            targets = yield from self._ask_targets(self._completions(card))
            getattr(self, f"_do_{kind}")(*targets)

    # ------------------------------------------------------------ what a card can do

    def _completions(self, card):
        """All complete sequences of targets (of hyperdrive: its first move)."""
        if is_action(card):
            return getattr(self, f"_for_{kind_of(card)}")()
        return self._for_exploration_card()

    def _is_free(self, cell):
        return cell not in self.cards and cell not in self.bases.values()

    def _empty_cards(self, sorts=("solar", "exploration")):
        """Cells of cards without a ship."""
        with_ship = [ship[0] for ship in self._held_stations(but=None)]
        return [
            cell
            for cell, card in self.cards.items()
            if card.sort in sorts and cell not in with_ship
        ]

    def _free_cells_beside(self, cells):
        """Free cells that touch, by a side, one of the cells."""
        beside = []
        for cell in cells:
            for side in PORTS:
                there = neighbour(cell, side)
                if on_table(there) and self._is_free(there) and there not in beside:
                    beside.append(there)
        return beside

    def _own_station(self):
        """The own ship's (cell, station), or None if it is on a base."""
        ship = self.ships[self.turn_seat]
        return None if ship in (START, HOME) else ship

    def _opponents(self):
        """(k, seat) of the opponents, k seats on."""
        return [
            (k, (self.turn_seat + k) % self.players) for k in range(1, self.players)
        ]

    def _other_turns(self, cell):
        return [turn for turn in range(4) if turn != self.cards[cell].orientation]

    def _for_exploration_card(self):
        beside = list(self.cards) or list(self.bases.values())
        for cell in self._free_cells_beside(beside):
            for turn in range(4):
                yield [("cell", cell), ("turn", turn)]

    def _for_hyperdrive(self):
        seat = self.turn_seat
        if self._own_station():
            yield from self._destination_targets(seat, self._destinations(seat))

    def _for_solar_wind(self):
        seat = self.turn_seat
        if self._own_station():
            places = self._destinations(seat, ignoring_arrows=True)
            yield from self._destination_targets(seat, places)

    def _for_pirate_raid(self):
        for k, seat in self._opponents():
            places = self._raid_destinations(seat)
            for targets in self._destination_targets(seat, places):
                yield [("seat", k)] + targets

    def _do_pirate_raid(self, k, *targets):
        seat = (self.turn_seat + k) % self.players
        self._bring_ship(seat, self._raid_destinations(seat), list(targets))

    def _for_solar_rotation(self):
        opponents = [seat for _, seat in self._opponents()]
        for cell, card in self.cards.items():
            holds = [
                seat
                for seat in opponents
                if self.ships[seat] not in (START, HOME) and self.ships[seat][0] == cell
            ]
            if card.sort == "solar" and holds:
                for turn in self._other_turns(cell):
                    yield [("cell", cell), ("turn", turn)]

    def _do_solar_rotation(self, cell, turn):
        self.cards[cell].orientation = turn

    def _for_unstable_field(self):
        for cell in self._empty_cards():
            for turn in self._other_turns(cell):
                yield [("cell", cell), ("turn", turn)]

    def _do_unstable_field(self, cell, turn):
        self.cards[cell].orientation = turn

    def _for_cosmic_compass(self):
        if self._own_station():
            cell, _ = self._own_station()
            for turn in self._other_turns(cell):
                yield [("turn", turn)]

    def _do_cosmic_compass(self, turn):
        cell, _ = self._own_station()
        self.cards[cell].orientation = turn

    def _for_solar_storm(self):
        for cell in self._empty_cards(["exploration"]):
            left = [other for other in self.cards if other != cell]
            # the cell it came from is not among the free ones
            for place in self._free_cells_beside(left):
                yield [("cell", cell), ("cell", place)]

    def _do_solar_storm(self, cell, place):
        self.cards[place] = self.cards.pop(cell)

    def _for_solar_tornado(self):
        for targets in self._for_solar_storm():
            for turn in range(4):
                yield targets + [("turn", turn)]

    def _do_solar_tornado(self, cell, place, turn):
        self.cards[place] = self.cards.pop(cell)
        self.cards[place].orientation = turn

    def _for_nebula_deviation(self):
        for sort in ("solar", "exploration"):
            for first in self._empty_cards([sort]):
                for second in self._empty_cards([sort]):
                    if first != second:
                        yield [("cell", first), ("cell", second)]

    def _do_nebula_deviation(self, first, second):
        cards = self.cards
        cards[first], cards[second] = cards[second], cards[first]

    def _for_super_nebula(self):
        for targets in self._for_nebula_deviation():
            for turn in range(4):
                for other_turn in range(4):
                    yield targets + [("turn", turn), ("turn", other_turn)]

    def _do_super_nebula(self, first, second, turn, other_turn):
        self._do_nebula_deviation(first, second)
        self.cards[second].orientation = turn  # the card that was named first
        self.cards[first].orientation = other_turn

    def _line(self, number_at):
        """Function that gives the line number of a cell in the acting seat's frame."""
        return lambda cell: to_own(self.turn_seat, cell)[number_at]

    def _for_black_hole(self):
        for number_at, what in enumerate(["row", "col"]):
            line = self._line(number_at)
            for number in range(SIZE):
                holds_card = any(line(cell) == number for cell in self.cards)
                ships = self._held_stations(but=None)
                holds_ship = any(line(cell) == number for cell, _ in ships)
                holds_base = any(line(cell) == number for cell in self.bases.values())
                if holds_card and not holds_ship and not holds_base:
                    # The value says which of the two it is.
                    yield [(what, BlackHoleLine(number_at, number))]

    def _do_black_hole(self, removed):
        seat = self.turn_seat
        line = self._line(removed.number_at)

        # What lies on the line goes, by rising number along it.
        gone = [cell for cell in self.cards if line(cell) == removed.number]
        for cell in sorted(gone, key=self._line(1 - removed.number_at)):
            card = self.cards.pop(cell)
            if card.sort == "solar":
                self.solar_out.append(card.design)
            else:
                self.pile.append(f"{card.design}.{card.faction}")

        # The part with the higher number moves one cell down in number.
        def moved(cell):
            if line(cell) < removed.number:
                return cell
            own = list(to_own(seat, cell))
            own[removed.number_at] -= 1
            return to_table(seat, tuple(own))

        self.cards = {moved(cell): card for cell, card in self.cards.items()}
        self.bases = {letter: moved(cell) for letter, cell in self.bases.items()}
        self.ships = [
            ship if ship in (START, HOME) else (moved(ship[0]), ship[1])
            for ship in self.ships
        ]


@dataclass(frozen=True)
class BlackHoleLine:
    """A row (number_at 0) or column (1) in the acting seat's own frame."""

    number_at: int
    number: int

    def __str__(self):
        return str(self.number)
