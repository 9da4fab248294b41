"""Beyond, played plainly: an independent second implementation of the rules.

It is plain and slow, shares no code with the compiled one, and is used only by the tests, which
compare both decision by decision: legal actions, public knowledge, ends, winners and points.
The names are those of the rules. Cards are kind names, such as "azure_dragon_head_yin".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

YIN, YANG = "yin", "yang"
SYMBOLS = [YIN, YANG]
SPIRITS = ["vermilion_bird", "turtle_snake", "azure_dragon", "metal_tiger", "unicorn"]

# For each spirit the pattern of an enchantment: how many cards of each part.
PATTERN = {
    "vermilion_bird": {"vermilion_bird": 4},
    "turtle_snake": {"turtle_snake": 4},
    "azure_dragon": {"azure_dragon_head": 2, "azure_dragon_body": 2},
    "metal_tiger": {"metal_tiger_head": 2, "metal_tiger_body": 2},
    "unicorn": {"unicorn_1": 1, "unicorn_2": 1, "unicorn_3": 1, "unicorn_4": 1},
}
PARTS = [part for spirit in SPIRITS for part in PATTERN[spirit]]
KINDS = [f"{part}_{symbol}" for part in PARTS for symbol in SYMBOLS]  # in the order of their numbers
SPIRIT_OF = {
    f"{part}_{symbol}": spirit for spirit in SPIRITS for part in PATTERN[spirit] for symbol in SYMBOLS
}
SYMBOL_OF = {f"{part}_{symbol}": symbol for part in PARTS for symbol in SYMBOLS}
OPPOSITE = {YIN: YANG, YANG: YIN}
# 16 cards of each spirit, split evenly over its kinds: 8, 4 or 2 copies.
COPIES = {kind: 16 // (2 * len(PATTERN[SPIRIT_OF[kind]])) for kind in KINDS}
CARDS_IN_ENCHANTMENT = 4
NIAN_SHOU = 6
LOOK = {"turtle_snake": 4, "azure_dragon": 2}  # how many deck cards a summon looks at

DEFAULTS: dict[str, object] = {
    "protection": False,
    "summoning": False,
    "end_distinct": False,
    "end_on_nothing": True,
    "score_laid_tokens": False,
    "rescue_limit": None,
    "start_tokens": 2,
    "token_supply": 21,
    "capture_slots": 4,
    "end_enchantments": 3,
    "end_depletions": 2,
    "points_vermilion_bird": 6,
    "points_turtle_snake": 6,
    "points_azure_dragon": 9,
    "points_metal_tiger": 9,
    "points_unicorn": 12,
}


def full_deck() -> list[str]:
    """The 80 celestial cards, in the order of their kind numbers."""
    return [kind for kind in KINDS for _ in range(COPIES[kind])]


def positive(counts: Counter[str]) -> dict[str, int]:
    """The counts as a plain dict, without zeros."""
    return {name: number for name, number in counts.items() if number > 0}


class Player:
    """What lies in front of one player."""

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens  # on the stock card
        self.pool: Counter[str] = Counter()
        self.protected: Counter[str] = Counter()  # of the pool cards, those with a token
        self.slots: Counter[str] = Counter()  # cards in capture slots
        self.enchantments: Counter[str] = Counter()  # by spirit
        self.summoned: Counter[str] = Counter()  # of the enchantments, those with a token
        self.enchanted: Counter[str] = Counter()  # the cards in enchantments
        self.nian = 0

    def slot_symbols(self) -> set[str]:
        return {SYMBOL_OF[kind] for kind in positive(self.slots)}

    def holds_pattern(self, spirit: str) -> bool:
        return all(
            self.pool[f"{part}_yin"] + self.pool[f"{part}_yang"] >= needed
            for part, needed in PATTERN[spirit].items()
        )


class Beyond:
    def __init__(
        self,
        players: int,
        options: dict[str, object],
        deck: list[str],
        shuffle: Callable[[list[str]], list[str]],
    ) -> None:
        if players not in (2, 3, 4):
            raise ValueError(f"2, 3 or 4 players, not {players}")
        if unknown := set(options) - set(DEFAULTS):
            raise ValueError(f"unknown options: {sorted(unknown)}; known: {sorted(DEFAULTS)}")
        if sorted(deck) != sorted(full_deck()):
            raise ValueError("the deck is not made of the 80 celestial cards")
        self.players = players
        self.options = DEFAULTS | options
        self._shuffle_callback = shuffle

        start_tokens = self._number("start_tokens")
        self.supply = self._number("token_supply") - players * start_tokens
        if self.supply < 0:
            raise ValueError("not enough lotus tokens for the set-up")
        self.player = [Player(start_tokens) for _ in range(players)]
        self.deck = list(deck)  # from the top
        self.discard: list[str] = []
        self.centre_nian = NIAN_SHOU
        self.revealed: list[str] = []
        self.rescued: list[str] = []
        self.collected: list[str] = []  # still to be placed
        self.looked: list[str] = []
        self.known_top: str | None = None
        self.depletions = 0
        self.triggered = False
        self.over = False
        self.winners: list[int] = []
        self.phase = ""
        self._summoning: str | None = None  # the spirit summoned, until its choice is made
        self.turn_seat = 0
        self.seat = 0
        self._begin_turn()

    # ---------------------------------------------------------------- legal actions

    def legal(self) -> list[str]:
        """The names of the legal actions of the seat to act, sorted."""
        me = self.player[self.turn_seat]
        names: list[str] = []
        if self.phase == "reveal":
            names = ["reveal", "stop"]
        elif self.phase == "rescue":
            names = ["pass"] + [f"rescue:{SPIRIT_OF[card]}" for card in self._rescuable()]
        elif self.phase == "place":
            names = ["place:spirit"]
            if me.slots.total() < self._number("capture_slots"):
                names.append("place:capture")
        elif self.phase == "act":
            names = ["end"] + [f"enchant:{s}" for s in SPIRITS if me.holds_pattern(s)]
            names += self._legal_captures()
            if self.options["protection"] and me.tokens > 0:
                names += [f"protect:{k}" for k in KINDS if me.pool[k] > me.protected[k]]
            if self.options["summoning"]:
                names += [f"summon:{s}" for s in SPIRITS if self._may_summon(s)]
        elif self.phase == "choose":
            names = [f"choose:{kind}" for kind in self._choices()]
        elif self.phase == "reclaim":
            names = [f"reclaim:{s}" for s in SPIRITS if self._other_tokens(s) > 0]
        return sorted(names)

    def _rescuable(self) -> list[str]:
        """The cards that can be rescued now: none without token or rescue under the limit."""
        limit = self.options["rescue_limit"]
        if self.player[self.turn_seat].tokens == 0:
            return []
        if limit is not None and len(self.rescued) >= self._number("rescue_limit"):
            return []
        # The cards before the busting one are of different spirits, so no two are of one kind.
        return [card for card in self.revealed[:-1] if card not in self.rescued]

    def _legal_captures(self) -> list[str]:
        symbols = self.player[self.turn_seat].slot_symbols()
        names = []
        for k in range(1, self.players):
            opponent = self._opponent(k)
            for kind in KINDS:
                if opponent.pool[kind] == 0:
                    continue
                if symbols >= self._capture_cost(opponent, kind):
                    names.append(f"capture:{k}:{kind}")
            if opponent.nian > 0 and symbols == {YIN, YANG}:
                names.append(f"capture:{k}:nian")
        return names

    def _capture_cost(self, opponent: Player, kind: str) -> set[str]:
        """The symbols to be paid: both if there is no unprotected copy, else the opposite one."""
        if opponent.pool[kind] == opponent.protected[kind]:
            return {YIN, YANG}
        return {OPPOSITE[SYMBOL_OF[kind]]}

    def _may_summon(self, spirit: str) -> bool:
        me = self.player[self.turn_seat]
        if me.tokens == 0 or me.enchantments[spirit] == me.summoned[spirit]:
            return False
        # A summon without effect is not legal.
        if spirit in LOOK:
            return bool(self.deck or self.discard)
        if spirit == "vermilion_bird":
            return bool(self.discard) and me.slots.total() < self._number("capture_slots")
        if spirit == "metal_tiger":
            return self.centre_nian > 0
        return me.summoned.total() > 0  # unicorn

    def _choices(self) -> set[str]:
        """The kinds to choose from after a summon."""
        return set(self.discard if self._summoning == "vermilion_bird" else self.looked)

    def _other_tokens(self, spirit: str) -> int:
        """Tokens on own enchantments of that spirit, without the unicorn just summoned."""
        return self.player[self.turn_seat].summoned[spirit] - (spirit == "unicorn")

    # ---------------------------------------------------------------- steps

    def step(self, name: str) -> None:
        """Play one action, with all that follows from it by itself."""
        if name not in self.legal():
            raise ValueError(f"{name!r} is not legal; legal are {self.legal()}")
        me = self.player[self.turn_seat]
        verb, *rest = name.split(":")
        if verb == "reveal":
            self._reveal()
        elif verb == "stop":
            self._collect(self.revealed)
        elif verb == "rescue":
            self._rescue(rest[0])
        elif verb == "pass":
            self._end_rescue()
        elif verb == "place":
            card = self.collected.pop(0)
            (me.pool if rest[0] == "spirit" else me.slots)[card] += 1
            if not self.collected:
                self.phase = "act"
        elif verb == "enchant":
            self._enchant(rest[0])
        elif verb == "capture":
            self._capture(self._opponent(int(rest[0])), rest[1])
        elif verb == "protect":
            me.tokens -= 1
            me.protected[rest[0]] += 1
        elif verb == "summon":
            self._summon(rest[0])
        elif verb == "choose":
            self._choose(rest[0])
        elif verb == "reclaim":
            me.summoned[rest[0]] -= 1
            self.supply += 1
            self._end_summon()
        elif verb == "end":
            self._end_turn()

    # Turns

    def _begin_turn(self) -> None:
        """Reveal the first card, if there is one."""
        if not self.deck:
            self._refill()
        if self.deck:
            self._reveal()
            return
        if self.options["end_on_nothing"]:
            self.triggered = True
        self.phase = "act"

    def _end_turn(self) -> None:
        last_seat = self.turn_seat == self.players - 1
        if last_seat and self.triggered:
            self._finish(self._best())
            return
        self.turn_seat = self.seat = (self.turn_seat + 1) % self.players
        self._begin_turn()

    # The deck

    def _shuffled(self, cards: list[str]) -> list[str]:
        order = list(self._shuffle_callback(list(cards)))
        if sorted(order) != sorted(cards):
            raise ValueError("the shuffle changed the cards")
        self.known_top = None
        return order

    def _refill(self) -> None:
        """A non-empty discard pile becomes the new deck."""
        if self.discard:
            self.deck = self._shuffled(sorted(self.discard, key=KINDS.index))
            self.discard = []

    def _take_from_deck(self, place: int) -> str:
        """Take a card out of the deck; with the last one, the depletion happens at once."""
        card = self.deck.pop(place)
        self.known_top = None
        if not self.deck:
            self.depletions += 1
            if self.depletions == self._number("end_depletions"):
                self.triggered = True
            self._refill()
        return card

    # Phase 1: reveal and collect

    def _reveal(self) -> None:
        self.phase = "reveal"
        lying = {SPIRIT_OF[card] for card in self.revealed}
        card = self._take_from_deck(0)
        self.revealed.append(card)
        if SPIRIT_OF[card] in lying:
            self._bust()
        elif len(self.revealed) == len(SPIRITS) or not self.deck:
            self._collect(self.revealed)  # stops by itself

    def _bust(self) -> None:
        if len(self.revealed) == 2 and self.centre_nian > 0:
            self._take_nian_from_centre()
            if self.over:
                return
        self.phase = "rescue"
        if not self._rescuable():
            self._end_rescue()

    def _rescue(self, spirit: str) -> None:
        self.player[self.turn_seat].tokens -= 1
        self.supply += 1
        self.rescued += [card for card in self.revealed[:-1] if SPIRIT_OF[card] == spirit]
        if not self._rescuable():
            self._end_rescue()

    def _end_rescue(self) -> None:
        *before, busting = self.revealed
        self.discard += [card for card in before if card not in self.rescued]
        self._collect([card for card in before if card in self.rescued] + [busting])

    def _collect(self, cards: list[str]) -> None:
        self.collected = list(cards)
        self.revealed = []
        self.rescued = []
        self.phase = "place"

    # Phase 3: enchant, capture

    def _enchant(self, spirit: str) -> None:
        me = self.player[self.turn_seat]
        for part, needed in PATTERN[spirit].items():
            yin, yang = f"{part}_yin", f"{part}_yang"
            order = [yin, yang] if me.pool[yin] >= me.pool[yang] else [yang, yin]
            for kind in order:  # unprotected ones first
                taken = min(needed, me.pool[kind] - me.protected[kind])
                me.pool[kind] -= taken
                me.enchanted[kind] += taken
                needed -= taken
            for kind in order:  # then protected ones, whose tokens go to the supply
                taken = min(needed, me.protected[kind])
                me.pool[kind] -= taken
                me.protected[kind] -= taken
                self.supply += taken
                me.enchanted[kind] += taken
                needed -= taken
        me.enchantments[spirit] += 1
        distinct = len(positive(me.enchantments))
        reached = distinct if self.options["end_distinct"] else me.enchantments.total()
        if reached >= self._number("end_enchantments"):
            self.triggered = True

    def _capture(self, opponent: Player, what: str) -> None:
        me = self.player[self.turn_seat]
        if what == "nian":
            self._pay({YIN, YANG})
            opponent.nian -= 1
            me.nian += 1
            if me.nian == NIAN_SHOU:
                self._finish([self.turn_seat])
                return
            self._compensate(opponent)
            return
        protected = opponent.pool[what] == opponent.protected[what]
        self._pay(self._capture_cost(opponent, what))
        opponent.pool[what] -= 1
        me.pool[what] += 1
        if protected:
            opponent.protected[what] -= 1
            opponent.tokens += 1
        else:
            self._compensate(opponent)

    def _pay(self, symbols: set[str]) -> None:
        """For each symbol, the capture card with the lowest kind number goes to the discard pile."""
        slots = self.player[self.turn_seat].slots
        for symbol in sorted(symbols):
            card = next(k for k in KINDS if slots[k] > 0 and SYMBOL_OF[k] == symbol)
            slots[card] -= 1
            self.discard.append(card)

    def _compensate(self, opponent: Player) -> None:
        if self.supply > 0:
            self.supply -= 1
            opponent.tokens += 1

    def _take_nian_from_centre(self) -> None:
        me = self.player[self.turn_seat]
        self.centre_nian -= 1
        me.nian += 1
        if me.nian == NIAN_SHOU:
            self._finish([self.turn_seat])

    # Summoning

    def _summon(self, spirit: str) -> None:
        me = self.player[self.turn_seat]
        me.tokens -= 1
        me.summoned[spirit] += 1
        if spirit == "metal_tiger":
            self._take_nian_from_centre()
            return
        self._summoning = spirit
        if spirit == "unicorn":
            self.phase = "reclaim"
            return
        if spirit in LOOK:
            if not self.deck:
                self._refill()
            self.looked = self.deck[: LOOK[spirit]]
        self.phase = "choose"

    def _choose(self, kind: str) -> None:
        me = self.player[self.turn_seat]
        if self._summoning == "vermilion_bird":
            self.discard.remove(kind)
            me.slots[kind] += 1
            self._end_summon()
            return
        was_the_last = len(self.deck) == 1
        me.pool[self._take_from_deck(self.looked.index(kind))] += 1
        if not was_the_last:  # else the depletion takes the place of shuffling or putting back
            if self._summoning == "turtle_snake":
                self.deck = self._shuffled(self.deck)
            else:
                self.known_top = self.deck[0]  # the other card looked at
        self._end_summon()

    def _end_summon(self) -> None:
        self._summoning = None
        self.looked = []
        self.phase = "act"

    # ---------------------------------------------------------------- the end

    def _finish(self, winners: list[int]) -> None:
        self.over = True
        self.winners = winners
        self.phase = "over"
        self.seat = -1

    def _best(self) -> list[int]:
        """Most points; of those, fewest cards face up; all who are still tied."""
        points = self.scores()
        order = [(-points[seat], self._face_up(seat)) for seat in range(self.players)]
        return [seat for seat in range(self.players) if order[seat] == min(order)]

    def _face_up(self, seat: int) -> int:
        player = self.player[seat]
        cards = CARDS_IN_ENCHANTMENT * player.enchantments.total()
        return player.pool.total() + player.nian + cards

    def scores(self) -> list[int]:
        """The points of each seat, as the table lies now."""
        result = []
        for player in self.player:
            points = sum(
                self._number(f"points_{spirit}") * number for spirit, number in player.enchantments.items()
            )
            points += player.pool.total() + player.nian + player.slots.total() + player.tokens
            if self.options["score_laid_tokens"]:
                points += player.protected.total()
            result.append(points)
        return result

    # ---------------------------------------------------------------- what players know

    def public(self) -> dict[str, Any]:
        """All that players know; each of them knows the same."""
        return {
            "pool": [positive(player.pool) for player in self.player],
            "protected": [positive(player.protected) for player in self.player],
            "slots": [positive(player.slots) for player in self.player],
            "enchantments": [positive(player.enchantments) for player in self.player],
            "summoned": [positive(player.summoned) for player in self.player],
            "enchanted": [positive(player.enchanted) for player in self.player],
            "nian": [player.nian for player in self.player],
            "tokens": [player.tokens for player in self.player],
            "supply": self.supply,
            "centre_nian": self.centre_nian,
            "discard": positive(Counter(self.discard)),
            "revealed": list(self.revealed),
            "rescued": list(self.rescued),
            "collected": list(self.collected),
            "looked": list(self.looked),
            "depletions": self.depletions,
            "triggered": self.triggered,
            "deck_size": len(self.deck),
            "top_symbol": SYMBOL_OF[self.deck[0]] if self.deck else None,
            "known_top": self.known_top,
            "turn_seat": self.turn_seat,
            "phase": self.phase,
        }

    # ---------------------------------------------------------------- small things

    def _opponent(self, k: int) -> Player:
        """The opponent k seats further on."""
        return self.player[(self.turn_seat + k) % self.players]

    def _number(self, option: str) -> int:
        value = self.options[option]
        if not isinstance(value, int):
            raise TypeError(f"{option} is a number, not {value!r}")
        return value
