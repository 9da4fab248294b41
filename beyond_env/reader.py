"""Reads a position of Beyond from text (what a text looks like: `text`), and refuses one that does not fit together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from beyond_env.cards import (
    AZURE_DRAGON,
    COPIES_OF_KIND,
    FIRST_PART,
    KINDS,
    NUM_KINDS,
    NUM_NIAN,
    NUM_SPIRITS,
    SPIRIT_NAMES,
    SPIRIT_OF_KIND,
    SPIRITS,
    TURTLE_SNAKE,
    UNICORN,
    VERMILION_BIRD,
)
from beyond_env.rules import NO_RESCUE_LIMIT, BeyondRules, max_decisions
from beyond_env.state import MOST_REVEALED, PHASES, STATE
from beyond_env.text import NONE, OVER, points
from tabletop.errors import SetupError, listed
from tabletop.reading import Line, lines_of
from tabletop.registry import LIVE, TERMINATED
from tabletop.rules import Variant
from tabletop.stream import seed_stream, shuffle

REST = "rest"
FIELDS = (
    "turn", "end", "winners", "decisions", "stream", "centre", "deck", "known", "discard", "revealed", "placing", "summoning", "looked",
)  # fmt: skip
SEAT_FIELDS = ("pool", "slots", "enchantments", "enchanted")


def read(text: str) -> np.ndarray:
    """The record array (1,) of a position. SetupError names the line that is wrong, or what does not fit together."""
    return Reader(*lines_of(text, BeyondRules)).read()


def _number(line: Line, item: str, pattern: str, low: int, high: int) -> int:
    """The number in an item of the form `pattern`, which has one group."""
    match = re.fullmatch(pattern, item)
    assert match is not None
    return line.within(match[1], low, high, item)


class Reader:
    """Reads the fields of one text into one record."""

    def __init__(self, variant: Variant, lines: list[Line]) -> None:
        assert isinstance(variant.rules, BeyondRules)
        self.variant, self.rules, self.players = variant, variant.rules, variant.players
        self.records = np.zeros(1, STATE)
        self.r = self.records[0]
        self.lines: dict[tuple[str, int | None], Line] = {}  # by name, and seat for the lines below `seat k`
        self.deck: list[int] = []  # from the top
        self.rest: tuple[Line, Any] | None = None  # the line that takes the rest, and its pile (None: the deck)
        self._sort(lines)

    def _sort(self, lines: list[Line]) -> None:
        seat = None
        for line in lines:
            if match := re.fullmatch(r"seat (\d{1,4})", line.name):
                seat = int(match[1])
                if seat >= self.players:
                    line.wrong(f"{self.variant} has seats 0 to {self.players - 1}")
                key: tuple[str, int | None] = ("seat", seat)
            elif line.name in SEAT_FIELDS:
                if seat is None:
                    line.wrong("it must stand below the line of its seat, such as 'seat 0: 2 tokens'")
                key = (line.name, seat)
            elif line.name in FIELDS:
                key = (line.name, None)
            else:
                line.wrong(f"unknown; lines are called {listed(('seat 0', *SEAT_FIELDS, *FIELDS), 20)}")
            if key in self.lines:
                line.wrong(f"given twice, first in line {self.lines[key].number}")
            self.lines[key] = line

    def read(self) -> np.ndarray:
        r = self.r
        r["players"] = self.players
        r["options"] = self.rules.codes()
        r["revealed"] = r["queue"] = r["summoned_spirit"] = -1
        self._bookkeeping()
        self._turn_cards()
        for seat in range(self.players):
            self._seat(seat)
        self._piles()
        self._centre()
        self._end()
        self._turn()
        self._check()
        return self.records

    # -- the lines, one by one

    def _items(self, name: str, seat: int | None = None) -> Iterator[tuple[Line, str]]:
        line = self.lines.get((name, seat))
        if line is not None:
            for item in line.items:
                if item != NONE:
                    yield line, item

    def _bookkeeping(self) -> None:
        r = self.r
        r["limit"] = max_decisions(self.rules, self.players)
        seed_stream(r["stream"], np.uint64(0), np.uint64(0))
        most = np.iinfo(np.int32).max
        for line, item in self._items("decisions"):
            if re.fullmatch(r"\d+", item):
                r["decisions"] = _number(line, item, r"(\d+)", 0, most)
            elif re.fullmatch(r"limit \d+", item):
                r["limit"] = _number(line, item, r"limit (\d+)", 1, most)
            else:
                line.wrong(f"{item!r} cannot be read; write: 37, limit 20000")
        for line, item in self._items("stream"):
            if re.fullmatch(r"[0-9a-f]{16}", item):
                r["stream"][0] = np.uint64(int(item, 16))
            elif re.fullmatch(r"\d+ drawn", item):
                r["stream"][1] = np.uint64(_number(line, item, r"(\d+) drawn", 0, 2**64 - 1))
            else:
                line.wrong(f"{item!r} cannot be read; write 16 hexadecimal digits, and: 79 drawn")

    def _turn_cards(self) -> None:
        """Cards revealed and collected, the summon whose choice is open."""
        r = self.r
        for name, cards, number in (("revealed", "revealed", "num_revealed"), ("placing", "queue", "num_queue")):
            for line, item in self._items(name):
                count, kind, rescued = self._card(line, item, "rescued" if name == "revealed" else None)
                for _ in range(count):
                    if r[number] == MOST_REVEALED:
                        line.wrong(f"more than {MOST_REVEALED} cards")
                    r[cards][r[number]] = kind
                    if name == "revealed":
                        r["rescued"][r[number]] = rescued > 0
                    r[number] += 1
        for line, item in self._items("summoning"):
            if item not in SPIRIT_NAMES or SPIRIT_NAMES.index(item) not in (VERMILION_BIRD, TURTLE_SNAKE, AZURE_DRAGON):
                line.wrong(f"{item!r} asks for no choice; it is vermilion_bird, turtle_snake or azure_dragon")
            r["summoned_spirit"] = SPIRIT_NAMES.index(item)

    def _seat(self, seat: int) -> None:
        r = self.r
        r["tokens"][seat] = self.rules.start_tokens
        for line, item in self._items("seat", seat):
            if re.fullmatch(r"\d+ tokens?", item):
                r["tokens"][seat] = _number(line, item, r"(\d+) tokens?", 0, self.rules.token_supply)
            elif re.fullmatch(r"\d+ Nian Shou", item):
                r["nian"][seat] = _number(line, item, r"(\d+) Nian Shou", 0, NUM_NIAN)
            else:
                line.wrong(f"{item!r} cannot be read; write: 2 tokens, 1 Nian Shou")
        self._pile("pool", seat, r["pool"][seat], r["protected"][seat])
        self._pile("slots", seat, r["slots"][seat])
        for line, item in self._items("enchantments", seat):
            count, spirit, laid = self._named(line, item, SPIRIT_NAMES, "summoned")
            if r["enchantments"][seat, spirit] + count > 4:
                line.wrong(f"more than 4 enchantments of {SPIRIT_NAMES[spirit]}")
            r["enchantments"][seat, spirit] += count
            r["summoned"][seat, spirit] += laid
        self._pile("enchanted", seat, r["enchanted"][seat])

    def _pile(self, name: str, seat: int | None, pile: Any, marked: Any = None) -> None:
        """A pile of cards of which only the numbers count."""
        for line, item in self._items(name, seat):
            if item == REST:
                self._take_rest(line, pile)
                continue
            count, kind, marks = self._card(line, item, None if marked is None else "protected")
            if pile[kind] + count > COPIES_OF_KIND[kind]:
                line.wrong(f"more than {COPIES_OF_KIND[kind]} cards of {KINDS[kind]}, which is all there are")
            pile[kind] += count
            if marked is not None:
                marked[kind] += marks

    def _take_rest(self, line: Line, pile: Any) -> None:
        if self.rest is not None:
            line.wrong(f"{REST} stands already in line {self.rest[0].number}")
        self.rest = (line, pile)

    def _card(self, line: Line, item: str, mark: str | None) -> tuple[int, int, int]:
        return self._named(line, item, KINDS, mark)

    @staticmethod
    def _named(line: Line, item: str, names: tuple[str, ...], mark: str | None) -> tuple[int, int, int]:
        """(count, place in names, number marked) of an item such as `3 turtle_snake_yin (1 protected)`."""
        match = re.fullmatch(r"(?:(\d{1,4}) )?(\w+)(?: \((?:(\d{1,4}) )?(\w+)\))?", item)
        if match is None or match[2] not in names:
            line.wrong(f"{item!r} is not one of {listed(names, 20)}, with a number before it if there are several")
        if match[4] and match[4] != mark:
            line.wrong(f"{item!r}: ({match[4]}) cannot stand here")
        count = int(match[1] or 1)
        marks = int(match[3] or 1) if match[4] else 0
        if not 1 <= count <= 80:
            line.wrong(f"{item!r}: there is no such number of cards")
        if marks > count:
            line.wrong(f"{item!r}: more {mark} than there are")
        return count, names.index(match[2]), marks

    # -- what the lines have in common

    def _piles(self) -> None:
        """Discard pile and deck, and the cards that are named nowhere."""
        r = self.r
        self._pile("discard", None, r["discard"])
        for line, item in self._items("deck"):
            if self.rest is not None and self.rest[1] is None:
                line.wrong(f"{REST} is the last item")
            if item == REST:
                self._take_rest(line, None)
                continue
            count, kind, _ = self._card(line, item, None)
            self.deck += [kind] * count
        left = [copies - n for copies, n in zip(COPIES_OF_KIND, self._all_cards(), strict=True)]
        for kind, copies in enumerate(COPIES_OF_KIND):
            if left[kind] < 0:
                name = KINDS[kind]
                raise SetupError(f"{self._last_naming(name)}: {copies - left[kind]} cards of {name} in all; there are {copies}")
        for seat in range(self.players):
            if ("enchanted", seat) not in self.lines:
                self._make_up_enchanted(seat, left)
        under: list[int] = []
        if self.rest is not None and self.rest[1] is not None:
            self.rest[1][:] += np.array(left, np.int8)
        elif self.rest is not None or ("deck", None) not in self.lines:
            unnamed = np.repeat(np.arange(NUM_KINDS), left).astype(np.int8)
            shuffle(r["stream"], unnamed, unnamed.size)
            under = [int(kind) for kind in unnamed]
        elif any(left):
            missing = ", ".join(f"{n} {KINDS[kind]}" for kind, n in enumerate(left) if n)
            raise SetupError(f"{self._where('deck')}: {80 - sum(left)} cards in all, not 80: missing {missing} (or write {REST})")
        self.deck += under
        r["deck"] = -1
        r["deck"][: len(self.deck)] = self.deck[::-1]
        r["deck_size"] = len(self.deck)
        r["deck_counts"] = np.bincount(self.deck, minlength=NUM_KINDS)
        for name in ("known", "looked"):
            cards = [kind for line, item in self._items(name) for n, kind, _ in [self._card(line, item, None)] for _ in range(n)]
            if cards != self.deck[: len(cards)]:
                self.lines[name, None].wrong("these are not the deck's top cards, from the top")
            r[name] = len(cards)

    def _all_cards(self) -> list[int]:
        r = self.r
        counts = Counter(self.deck)
        counts.update(int(kind) for kind in (*r["revealed"], *r["queue"]) if kind >= 0)
        piles = r["discard"].astype(int) + r["pool"].sum(0) + r["slots"].sum(0) + r["enchanted"].sum(0)
        return [int(piles[kind]) + counts[kind] for kind in range(NUM_KINDS)]

    def _make_up_enchanted(self, seat: int, left: list[int]) -> None:
        """Cards for the enchantments of a seat from those left, yin first."""
        for spirit in range(NUM_SPIRITS):
            for part, needed in enumerate(SPIRITS[spirit].pattern, FIRST_PART[spirit]):
                wanted = needed * int(self.r["enchantments"][seat, spirit])
                for kind in (2 * part, 2 * part + 1):
                    n = min(wanted, left[kind])
                    self.r["enchanted"][seat, kind] += n
                    left[kind] -= n
                    wanted -= n
                if wanted:
                    self.lines["enchantments", seat].wrong(f"not enough cards are left for the enchantments of {SPIRIT_NAMES[spirit]}")

    def _centre(self) -> None:
        r = self.r
        laid = int(r["protected"].sum()) + int(r["summoned"].sum())
        nian, supply = NUM_NIAN - int(r["nian"].sum()), self.rules.token_supply - int(r["tokens"].sum()) - laid
        held = self._where("centre", "seat")
        if nian < 0:
            raise SetupError(f"{held}: the seats hold {NUM_NIAN - nian} Nian Shou; there are {NUM_NIAN}")
        if supply < 0:
            raise SetupError(f"{held}: the seats have {self.rules.token_supply - supply} tokens; token_supply is {self.rules.token_supply}")
        for line, item in self._items("centre"):
            if re.fullmatch(r"\d+ Nian Shou", item):
                if _number(line, item, r"(\d+) Nian Shou", 0, NUM_NIAN) != nian:
                    line.wrong(f"{item} and {NUM_NIAN - nian} held by the seats are not {NUM_NIAN}")
            elif re.fullmatch(r"\d+ tokens?", item):
                if _number(line, item, r"(\d+) tokens?", 0, self.rules.token_supply) != supply:
                    line.wrong(f"{item} and {self.rules.token_supply - supply} of the seats are not token_supply={self.rules.token_supply}")
            else:
                line.wrong(f"{item!r} cannot be read; write: 4 Nian Shou, 14 tokens")
        r["centre_nian"], r["supply"] = nian, supply

    def _end(self) -> None:
        r = self.r
        given = None
        for line, item in self._items("end"):
            if item in ("triggered", "not triggered"):
                given = item == "triggered"
            elif re.fullmatch(r"\d+ depletions?", item):
                r["depletions"] = _number(line, item, r"(\d+) depletions?", 0, 100)
            else:
                line.wrong(f"{item!r} cannot be read; write: not triggered, 1 depletion")
        kinds = (r["enchantments"] > 0).sum(1) if self.rules.end_distinct else r["enchantments"].sum(1)
        must = bool(kinds.max() >= self.rules.end_enchantments) or int(r["depletions"]) >= self.rules.end_depletions
        if given is False and must:
            self.lines["end", None].wrong("not triggered, though enchantments or depletions trigger the end")
        r["triggered"] = must if given is None else given

    def _turn(self) -> None:
        r = self.r
        phase = "rescue" if r["rescued"].any() else "reveal" if r["num_revealed"] else "place" if r["num_queue"] else "act"
        turn = seat = None
        for line, item in self._items("turn"):
            if re.fullmatch(r"\d+", item):
                turn = _number(line, item, r"(\d+)", 1, np.iinfo(np.int32).max)
            elif re.fullmatch(r"seat \d+", item):
                seat = _number(line, item, r"seat (\d+)", 0, self.players - 1)
            elif item in PHASES:
                phase = item
            elif item in OVER.values():
                r["over"] = next(over for over, name in OVER.items() if name == item)
            else:
                line.wrong(f"{item!r} cannot be read; write: 7, seat 0, and one of {listed(PHASES)}, or over, cut off")
        r["turns"] = turn if turn is not None else 1 + (seat or 0)
        r["phase"] = PHASES.index(phase)
        if r["over"] == LIVE:
            r["seat"] = (r["turns"] - 1) % self.players
            if seat is not None and seat != r["seat"]:
                self.lines["turn", None].wrong(f"turn {r['turns']} is one of seat {r['seat']}")
        else:
            r["seat"] = -1
            if seat is not None:
                self.lines["turn", None].wrong("no seat is to act when the game is over")
        for line, item in self._items("winners"):
            if not re.fullmatch(r"\d", item) or int(item) >= self.players:
                line.wrong(f"{item!r} is not a seat")
            if r["over"] != TERMINATED:
                line.wrong("nobody has won a game that is not over")
            r["won"][int(item)] = 1
        if r["over"] == TERMINATED and not r["won"].any():
            self.lines["turn", None].wrong("the game is over, but there is no line winners")

    # -- does it fit together?

    def _check(self) -> None:
        r = self.r
        for seat in range(self.players):
            if r["slots"][seat].sum() > self.rules.capture_slots:
                self.lines["slots", seat].wrong(f"{r['slots'][seat].sum()} cards; capture_slots is {self.rules.capture_slots}")
            if r["protected"][seat].any() and not self.rules.protection:
                self.lines["pool", seat].wrong("(protected) needs protection=true")
            if r["summoned"][seat].any() and not self.rules.summoning:
                self.lines["enchantments", seat].wrong("(summoned) needs summoning=true")
            for part in range(NUM_KINDS // 2):
                spirit = SPIRIT_OF_KIND[2 * part]
                needed = SPIRITS[spirit].pattern[part - FIRST_PART[spirit]] * int(r["enchantments"][seat, spirit])
                if r["enchanted"][seat, 2 * part : 2 * part + 2].sum() != needed:
                    where = self._where("enchanted", "enchantments", seat=seat)
                    raise SetupError(f"{where}: the cards enchanted are not those of the enchantments of {SPIRIT_NAMES[spirit]}")
        if r["looked"] > r["known"]:
            self.lines["looked", None].wrong("cards looked at are known: they stand in the line known too")
        if r["over"] == LIVE:
            self._check_phase()
        elif r["over"] == TERMINATED:
            self._check_end()

    def _check_end(self) -> None:
        """Is this how a game ends, and are these the winners?"""
        r = self.r
        six = np.flatnonzero(r["nian"] == NUM_NIAN).tolist()
        if not six and not (r["triggered"] and r["turns"] % self.players == 0):
            self.lines["turn", None].wrong("a game is over by six Nian Shou, or when the end is triggered and all had as many turns")
        face_up = r["pool"].sum(1) + r["nian"] + 4 * r["enchantments"].sum(1)
        worth = [(points(r, seat), -int(face_up[seat])) for seat in range(self.players)]
        winners = six or [seat for seat in range(self.players) if worth[seat] == max(worth)]
        if np.flatnonzero(r["won"]).tolist() != winners:
            self.lines["winners", None].wrong(f"winners are {', '.join(map(str, winners))}")

    def _check_phase(self) -> None:
        """Can the seat to act be asked what the phase asks?"""
        r = self.r
        phase, seat = PHASES[r["phase"]], int(r["seat"])
        shown = [int(kind) for kind in r["revealed"][: r["num_revealed"]]]
        spirits = [SPIRIT_OF_KIND[kind] for kind in shown]
        bust = len(set(spirits)) < len(spirits)
        limit = NO_RESCUE_LIMIT if self.rules.rescue_limit is None else self.rules.rescue_limit
        rescued = int(r["rescued"].sum())
        chooses = int(r["summoned_spirit"])
        line = self.lines.get(("turn", None)) or self.lines.get(("revealed", None)) or Line(1, "turn", ())
        if (r["nian"] == NUM_NIAN).any():
            line.wrong(f"a seat holds all {NUM_NIAN} Nian Shou, but the game is not over")
        if shown and phase not in ("reveal", "rescue"):
            line.wrong(f"no card lies revealed in phase {phase}")
        if (r["num_queue"] > 0) != (phase == "place"):
            line.wrong("cards are to be placed (line placing) in phase place, and in no other")
        if (chooses >= 0) != (phase == "choose"):
            line.wrong("a spirit is being summoned (line summoning) in phase choose, and in no other")
        if phase == "reveal" and (bust or rescued or not 1 <= len(shown) < NUM_SPIRITS or not self.deck):
            line.wrong("phase reveal has 1 to 4 cards of different spirits revealed, none rescued, and a card in the deck")
        if phase == "rescue":
            once = len(set(spirits[:-1])) == len(shown) - 1
            if not (bust and once and not r["rescued"][len(shown) - 1]):
                line.wrong("phase rescue has cards of different spirits revealed, and the busting card last, which is not rescued")
            if not (r["tokens"][seat] > 0 and rescued < min(limit, len(shown) - 1)):
                line.wrong("phase rescue needs a token, a card and a rescue under the limit left")
        if (r["looked"] > 0) != (chooses in (TURTLE_SNAKE, AZURE_DRAGON)):
            line.wrong("cards are looked at (line looked) while a turtle_snake or azure_dragon is summoned, and never else")
        if r["looked"] not in (0, min(4 if chooses == TURTLE_SNAKE else 2, len(self.deck))):
            line.wrong("a turtle_snake looks at the top 4 cards, an azure_dragon at the top 2, or as many as there are")
        if chooses == VERMILION_BIRD and not (r["discard"].any() and r["slots"][seat].sum() < self.rules.capture_slots):
            line.wrong("the vermilion_bird needs a card in the discard pile and an empty capture slot")
        if chooses >= 0 and r["summoned"][seat, chooses] == 0:
            line.wrong(f"seat {seat} has no {SPIRIT_NAMES[chooses]} (summoned)")
        if phase == "reclaim" and not (r["summoned"][seat, UNICORN] > 0 and r["summoned"][seat].sum() > 1):
            line.wrong("phase reclaim needs a unicorn (summoned) and a token on another enchantment")

    def _where(self, *names: str, seat: int | None = None) -> str:
        """The last line of those names, for an error that belongs to several."""
        lines = [line for (name, whose), line in self.lines.items() if name in names and (seat is None or seat == whose)]
        return f"line {lines[-1].number} ({lines[-1].name})" if lines else "line 1"

    def _last_naming(self, word: str) -> str:
        lines = [line for line in self.lines.values() if any(re.search(rf"\b{word}\b", item) for item in line.items)]
        return f"line {lines[-1].number} ({lines[-1].name})"
