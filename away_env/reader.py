"""Reading a position of a_way from text (see `text`), and whether it fits together."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from away_env.actions import ACTIONS
from away_env.cards import (
    ACTION_OF,
    BASE_NAMES,
    BLACK_HOLE,
    CARDS,
    COSMIC_COMPASS,
    FACTION_OF,
    FACTIONS,
    FIRST_BASE,
    FIRST_SOLAR,
    HAND,
    HYPERDRIVE,
    NEBULA_DEVIATION,
    NUM_EXPLORATION,
    PIRATE_RAID,
    SIDE,
    SOLAR_ROTATION,
    SOLAR_STORM,
    SOLAR_TORNADO,
    SOLAR_WIND,
    SUPER_NEBULA,
    UNSTABLE_FIELD,
)
from away_env.lanes import CELLS
from away_env.observation import EFFECTS
from away_env.rules import AwayRules, max_decisions
from away_env.state import (
    ACT,
    CELL,
    DECK,
    DISCARD,
    FREE,
    LAID,
    LAY,
    LINE,
    MOVE,
    NO_CARD,
    NOWHERE,
    OFF,
    PHASES,
    PILE,
    PLAY,
    SEAT,
    SHIP,
    STATE,
    STOP,
    TABLE_PLACE,
    TURN,
)
from away_env.text import NONE, OVER, solar_names
from tabletop.errors import listed
from tabletop.reading import Line, lines_of, whole
from tabletop.registry import LIVE, NOBODY, TERMINATED
from tabletop.rules import Variant
from tabletop.stream import seed_stream, shuffle

REST = "rest"
FIELDS = ("turn", "winners", "decisions", "stream", "doing", "pile", "deck")
#: (phase, number of cells named) that each effect can be in; in a raid the seat counts as the first
ASKED = {
    LAY: ((CELL, 0), (TURN, 1)),
    MOVE: ((CELL, 0), (STOP, 1)),
    HYPERDRIVE: ((CELL, 0), (STOP, 1)),
    SOLAR_WIND: ((CELL, 0), (STOP, 1)),
    PIRATE_RAID: ((SEAT, 0), (CELL, 1), (STOP, 2)),
    SOLAR_ROTATION: ((CELL, 0), (TURN, 1)),
    UNSTABLE_FIELD: ((CELL, 0), (TURN, 1)),
    COSMIC_COMPASS: ((TURN, 0),),
    SOLAR_TORNADO: ((CELL, 0), (CELL, 1), (TURN, 2)),
    SOLAR_STORM: ((CELL, 0), (CELL, 1)),
    NEBULA_DEVIATION: ((CELL, 0), (CELL, 1)),
    SUPER_NEBULA: ((CELL, 0), (CELL, 1), (TURN, 2)),
    BLACK_HOLE: ((LINE, 0),),
}
MOVES = (MOVE, HYPERDRIVE, SOLAR_WIND)


def read(text: str) -> np.ndarray:
    """The record array (1,) of a position. SetupError names the line that is wrong, or what does not fit together."""
    return Reader(*lines_of(text, AwayRules)).read()


class Reader:
    """Reads the fields of one text into one record."""

    def __init__(self, variant: Variant, lines: list[Line]) -> None:
        assert isinstance(variant.rules, AwayRules)
        self.variant, self.rules, self.players = variant, variant.rules, variant.players
        self.records = np.zeros(1, STATE)
        self.r = self.records[0]
        self.lines: dict[tuple[str, int], Line] = {}  # by name, and number of the row or seat
        seat = -1
        for line in lines:
            match = re.fullmatch(r"(row|seat) (\d+)", line.name)
            key = (match[1], whole(match[2])) if match else (line.name, seat if line.name == "hand" else 0)
            if match and key[1] >= (self.players if key[0] == "seat" else SIDE):
                line.wrong(f"there are seats 0 to {self.players - 1} and rows 0 to {SIDE - 1}")
            if key[0] == "seat":
                seat = key[1]
            if not match and line.name not in (*FIELDS, "hand"):
                line.wrong(f"unknown; lines are called {listed((*FIELDS, 'row 0', 'seat 0', 'hand'), 20)}")
            if line.name == "hand" and seat < 0:
                line.wrong("it must stand below the line of its seat, such as 'seat 0: ship start'")
            if key in self.lines:
                line.wrong(f"given twice, first in line {self.lines[key].number}")
            self.lines[key] = line

    def read(self) -> np.ndarray:
        from away_env.effects import measure_ways

        self._begin()
        self._bookkeeping()
        for row in range(SIDE):  # a base that is named is not where it was at the start
            for _, item in self._items("row", row):
                if (match := re.fullmatch(r"c\d base ([NESW])", item)) and self.r["base"][BASE_NAMES.index(match[1])] >= 0:
                    self.r["board"][self.r["base"][BASE_NAMES.index(match[1])]] = FREE
        for row in range(SIDE):
            self._row(row)
        for seat in range(self.players):
            self._seat(seat)
        self._turn()
        self._doing()
        self._piles()
        self._check_ships()
        measure_ways(self.r)
        if self.r["over"] == LIVE:
            self._check_phase()
        return self.records

    def _items(self, name: str, number: int = 0) -> Iterator[tuple[Line, str]]:
        line = self.lines.get((name, number))
        if line is not None:
            for item in line.items:
                if item != NONE:
                    yield line, item

    def _line(self, *names: str) -> Line:
        return next((self.lines[name, 0] for name in names if (name, 0) in self.lines), Line(1, "turn", ()))

    # -- the lines, one by one

    def _begin(self) -> None:
        """The table at the start, without solar cards, and no card dealt."""
        from away_env.kernel import begin

        r = self.r
        r["players"] = self.players
        self.rules.configure(self.records, slice(None))
        begin(r)
        seed_stream(r["stream"], np.uint64(0), np.uint64(0))
        r["board"][(r["board"] >= FIRST_SOLAR) & (r["board"] < FIRST_BASE)] = FREE
        r["turn"] = 0
        r["deck"] = NO_CARD
        r["deck_size"] = 0
        r["place"] = NOWHERE
        r["faction"] = -1
        r["part"] = 1
        self.card_names = [name if there else "" for name, there in zip(CARDS, r["in_deck"], strict=True)] + solar_names(r)

    def _bookkeeping(self) -> None:
        r = self.r
        r["limit"] = max_decisions(self.rules, self.players)
        most = np.iinfo(np.int32).max
        for line, item in self._items("decisions"):
            match = re.fullmatch(r"(limit )?(\d+)", item)
            if match is None:
                line.wrong(f"{item!r} cannot be read; write: 37, limit 2900")
            r["limit" if match[1] else "decisions"] = line.within(match[2], 1 if match[1] else 0, most)
        for line, item in self._items("stream"):
            if re.fullmatch(r"[0-9a-f]{16}", item):
                r["stream"][0] = np.uint64(int(item, 16))
            elif match := re.fullmatch(r"(\d+) drawn", item):
                r["stream"][1] = np.uint64(line.within(match[1], 0, 2**64 - 1))
            else:
                line.wrong(f"{item!r} cannot be read; write 16 hexadecimal digits, and: 79 drawn")

    def _row(self, row: int) -> None:
        r = self.r
        for line, item in self._items("row", row):
            match = re.fullmatch(r"c([0-8]) (?:base ([NESW])|([\w.]+)/([0-3]))", item)
            if match is None:
                line.wrong(f"{item!r} cannot be read; write: c3 lane.blue/2, or: c0 base W")
            cell = int(CELLS[row * SIDE + int(match[1])])
            if r["board"][cell] == OFF:
                line.wrong(f"{item!r}: column {match[1]} of this row is not on the table, whose size is {self.rules.size}")
            if r["board"][cell] != FREE:
                line.wrong(f"{item!r}: something lies there already")
            if match[2]:
                base = BASE_NAMES.index(match[2])
                if r["base"][base] < 0:
                    line.wrong(f"{self.players} players have no base {match[2]}")
                if FIRST_BASE + base in r["board"]:
                    line.wrong(f"base {match[2]} stands on the table twice")
                r["board"][cell] = FIRST_BASE + base
                r["base"][base] = cell
                if base < self.players:
                    r["ship"][base] = cell
                continue
            card = self._card(line, match[3])
            if NUM_EXPLORATION <= card < FIRST_SOLAR:
                line.wrong(f"{match[3]} is an action card: it does not lie on the table")
            if card in r["board"]:
                line.wrong(f"{match[3]} lies on the table twice")
            r["board"][cell] = card
            r["turn"][cell] = int(match[4])
            if card < FIRST_SOLAR:
                self._put(line, card, TABLE_PLACE)

    def _card(self, line: Line, name: str) -> int:
        if name not in self.card_names or not name:
            line.wrong(f"there is no card {name!r} in this game; cards are {listed([n for n in self.card_names if n], 80)}")
        return self.card_names.index(name)

    def _deck_card(self, line: Line, name: str) -> int:
        card = self._card(line, name)
        if card >= FIRST_SOLAR:
            line.wrong(f"{name} is a solar card: it is on the table or out of the game")
        return card

    def _put(self, line: Line, card: int, place: int) -> None:
        if self.r["place"][card] != NOWHERE:
            line.wrong(f"{CARDS[card]} is named twice; there is one")
        self.r["place"][card] = place

    def _cell(self, line: Line, row: str, column: str) -> int:
        cell = int(CELLS[int(row) * SIDE + int(column)])
        if self.r["board"][cell] == OFF:
            line.wrong(f"r{row}c{column} is not on the table, whose size is {self.rules.size}")
        return cell

    def _seat(self, seat: int) -> None:
        r = self.r
        for line, item in self._items("seat", seat):
            match = re.fullmatch(r"ship (?:(start)|(home)|r([0-8])c([0-8]) stop ([1-4]))", item)
            if match is None:
                line.wrong(f"{item!r} cannot be read; write: ship start, ship home, or: ship r3c4 stop 1")
            if match[2]:
                r["home"][seat] = 1
                r["ship"][seat] = r["base"][seat ^ 1]
            elif match[3]:
                cell, stop = self._cell(line, match[3], match[4]), int(match[5])
                there = int(r["board"][cell])
                if not 0 <= there < FIRST_BASE or not int(r["face"][r["design"][there], 0]) >> (27 + stop) & 1:
                    line.wrong(f"{item!r}: there is no such station")
                if any(r["ship"][k] == cell and r["stop"][k] == stop for k in range(seat)):
                    line.wrong(f"{item!r}: another ship is there")
                r["ship"][seat], r["stop"][seat] = cell, stop
        for line, item in self._items("hand", seat):
            self._put(line, self._deck_card(line, item), seat)
            r["hand_size"][seat] += 1
            if r["hand_size"][seat] > HAND:
                line.wrong(f"a hand has {HAND} cards at most")

    def _turn(self) -> None:
        r = self.r
        r["phase"] = ACT
        for line, item in self._items("turn"):
            if match := re.fullmatch(r"round (\d+)", item):
                r["round"] = line.within(match[1], 1, self.rules.max_rounds)
            elif match := re.fullmatch(r"seat (\d+)", item):
                r["seat"] = line.within(match[1], 0, self.players - 1)
            elif match := re.fullmatch(r"part ([12])", item):
                r["part"] = int(match[1])
            elif match := re.fullmatch(r"([123]) discarded", item):
                r["discarded"] = int(match[1])
            elif match := re.fullmatch(r"faction (\w+)", item):
                if match[1] not in FACTIONS:
                    line.wrong(f"{item!r}: factions are {listed(FACTIONS)}")
                r["faction"] = FACTIONS.index(match[1])
            elif item in PHASES:
                r["phase"] = PHASES.index(item)
            elif item in OVER.values():
                r["over"] = next(over for over, name in OVER.items() if name == item)
                r["seat"] = NOBODY
            else:
                line.wrong(
                    f"{item!r} cannot be read; write: round 7, seat 0, part 1, faction blue, one of {listed(PHASES)}, or over, cut off"
                )
        if r["phase"] == SHIP:
            r["part"] = 2
        for line, item in self._items("winners"):
            if not re.fullmatch(r"\d+", item) or whole(item) >= self.players:
                line.wrong(f"{item!r} is not a seat")
            if r["over"] != TERMINATED:
                line.wrong("nobody has won a game that is not over")
            r["won"][int(item)] = 1
        if r["over"] == TERMINATED and not r["won"].any():
            self._line("turn").wrong("the game is over, but there is no line winners")

    def _doing(self) -> None:
        r = self.r
        named: list[int] = []
        for line, item in self._items("doing"):
            if item in EFFECTS:
                r["effect"] = EFFECTS.index(item)
            elif match := re.fullmatch(r"raided (\d)", item):
                named.insert(0, line.within(match[1], 0, self.players - 1))
            elif match := re.fullmatch(r"cell r([0-8])c([0-8])", item):
                named.append(self._cell(line, match[1], match[2]))
            elif match := re.fullmatch(r"turn ([0-3])", item):
                r["target_turn"] = int(match[1])
            elif item == "second":
                r["step"] = 1
            elif item in CARDS:
                r["card"] = self._deck_card(line, item)
            else:
                line.wrong(f"{item!r} cannot be read; write what is done, the card, and: cell r3c4, turn 2, raided 1, second")
        if len(named) > 2:
            self._line("doing").wrong("two cells are named at most")
        r["target"][: len(named)] = named
        effect, phase = int(r["effect"]), int(r["phase"])
        if effect < 0:
            return
        line = self._line("doing")
        if effect not in ASKED or (phase, len(named)) not in ASKED[effect]:
            line.wrong(f"{EFFECTS[effect]} does not ask for a {PHASES[phase]} when {len(named)} of its targets are named")
        if r["target_turn"] >= 0 and (effect != SUPER_NEBULA or phase != TURN):
            line.wrong(f"{EFFECTS[effect]} has no turn named yet")
        if r["step"] and effect != HYPERDRIVE:
            line.wrong("only a hyperdrive has a second move")
        if effect not in MOVES:
            r["step"] = len(named) - (effect == PIRATE_RAID and phase == STOP) + int(r["target_turn"] >= 0)
        if effect == LAY:
            if not 0 <= r["card"] < NUM_EXPLORATION:
                line.wrong("the card being laid must be named, an exploration card")
            self._put(line, int(r["card"]), LAID)

    def _piles(self) -> None:
        """Discard pile and deck, and the cards that are named nowhere."""
        r = self.r
        pile = []
        for line, item in self._items("pile"):
            pile.append(self._deck_card(line, item))
            self._put(line, pile[-1], PILE)
        r["pile"] = NO_CARD
        r["pile"][: len(pile)] = pile[::-1]
        r["pile_size"] = len(pile)
        deck, rest = [], ("deck", 0) not in self.lines
        for line, item in self._items("deck"):
            if rest:
                line.wrong(f"{REST} is the last item")
            if item == REST:
                rest = True
                continue
            deck.append(self._deck_card(line, item))
            self._put(line, deck[-1], DECK)
        unnamed = np.flatnonzero((r["place"] == NOWHERE) & (r["in_deck"] == 1)).astype(np.int64)
        if unnamed.size and not rest:
            self._line("deck").wrong(f"{listed([CARDS[c] for c in unnamed], 5)} named nowhere (write {REST} for the cards that are)")
        shuffle(r["stream"], unnamed, unnamed.size)
        r["place"][unnamed] = DECK
        deck += unnamed.tolist()
        r["deck"][: len(deck)] = deck[::-1]
        r["deck_size"] = len(deck)

    # -- does it fit together?

    def _check_ships(self) -> None:
        r = self.r
        if r["over"] == LIVE and r["home"].any():
            late = [k for k in range(self.players) if r["home"][k] and k > r["seat"]]
            if late:
                self.lines["seat", late[0]].wrong(f"its ship is home, but it is seat {r['seat']}'s turn: the round would be over")

    def _check_phase(self) -> None:
        """Can the seat to act be asked what the phase asks?"""
        from away_env.kernel import legal

        r = self.r
        phase, effect, card, line = int(r["phase"]), int(r["effect"]), int(r["card"]), self._line("doing", "turn")
        if (effect >= 0) != (phase >= SEAT):
            line.wrong("targets are named (line doing) in the phases seat, cell, stop, turn and line, and in no other")
        if effect >= 0 and (card < 0) != (effect == MOVE):
            line.wrong("a card's effect needs the card, a move has none")
        if card >= 0:
            if effect != (LAY if ACTION_OF[card] < 0 else ACTION_OF[card]):
                line.wrong(f"{CARDS[card]} does not do {EFFECTS[effect]}")
            if ACTION_OF[card] >= 0 and (r["pile_size"] == 0 or r["pile"][r["pile_size"] - 1] != card):
                line.wrong(f"{CARDS[card]} must lie on top of the pile")
            if r["faction"] != FACTION_OF[card]:
                line.wrong(f"the turn's faction is that of {CARDS[card]}: faction {FACTIONS[FACTION_OF[card]]}")
        if r["part"] == 2 and effect not in (-1, MOVE):
            line.wrong("in part 2 of a turn only a move is made")
        if (r["part"] == 2) != (phase == SHIP) and effect < 0:
            line.wrong("without anything being done, the phase of part 2 is ship")
        if phase == ACT and (r["faction"] >= 0 or r["discarded"]):
            line.wrong("phase act has no faction and no card discarded")
        if (phase == PLAY and r["faction"] < 0) or (r["faction"] >= 0 and r["discarded"]):
            line.wrong("after a card is played there is a faction, and nothing is discarded")
        if (phase == DISCARD) != (r["discarded"] > 0) and r["part"] == 1:
            line.wrong("phase discard has 1 to 3 cards discarded")
        if r["discarded"] > r["pile_size"]:
            line.wrong("more cards discarded than there are on the pile")
        if effect == PIRATE_RAID and r["target"][0] == r["seat"]:
            line.wrong("the raided ship is an opponent's")
        if effect == COSMIC_COMPASS and r["stop"][r["seat"]] == 0:
            line.wrong("the own ship is on no card")
        cells = [int(cell) for cell in (r["target"][1:] if effect == PIRATE_RAID else r["target"]) if cell >= 0]
        if effect not in (*MOVES, PIRATE_RAID, LAY) and cells and not 0 <= r["board"][cells[0]] < FIRST_BASE:
            line.wrong("no card lies on the cell named first")
        mask = np.zeros(len(ACTIONS), np.int8)
        legal(self.records, 0, mask)
        if phase == ACT and not mask.any():  # phase 1 is skipped
            r["part"], r["phase"] = 2, SHIP
            return
        if not mask.any():
            line.wrong(f"seat {r['seat']} is asked for a {PHASES[phase]}, but nothing can be answered")
