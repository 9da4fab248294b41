"""Positions of Beyond for tests: set up by text or by deck, played by action names, read by names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np

import tabletop
from beyond_env import ending, kernel
from beyond_env.cards import KINDS, SPIRIT_NAMES
from beyond_env.state import PHASES

GAME = tabletop.game("beyond")
NAMES = GAME.actions.names
LIVE = 0
EVERY_SEAT = [(players, seat) for players in (2, 3, 4) for seat in range(players)]


class Position:
    """One table. Decisions are asked one by one, forced ones too; an action that is not legal fails the test."""

    def __init__(self, records: np.ndarray) -> None:
        self.records = records
        self.mask = np.zeros(len(NAMES), np.int8)

    @classmethod
    def of_text(cls, text: str) -> Self:
        return cls(GAME.parse(text))

    @classmethod
    def of_deck(cls, deck: Sequence[str], rules: str | None = None, players: int = 2, seed: int = 0) -> Self:
        """A game from its first card on; `deck` from the top, the cards not named lie shuffled under them."""
        records = GAME.new_record(GAME.variant(rules, players), seed)
        GAME.set_up(records, 0, {"deck": deck})
        return cls(records)

    @classmethod
    def of_seed(cls, seed: int, rules: str | None = None, players: int = 2) -> Self:
        return cls(GAME.new_record(GAME.variant(rules, players), seed))

    def copy(self) -> Self:
        return type(self)(self.records.copy())

    # -- play

    @property
    def legal(self) -> list[str]:
        if self.records["over"][0] != LIVE:
            return []
        kernel.legal(self.records, 0, self.mask)
        return GAME.actions.legal(self.mask)

    def do(self, *names: str) -> Self:
        for name in names:
            assert name in self.legal, f"{name} is not legal; legal: {self.legal}\n{self}"
            kernel.apply(self.records, 0, GAME.actions.id(name))
            self.records["decisions"] += 1
        return self

    def to_act(self) -> Self:
        """Go on to phase 3 of the turn: no more reveals, no rescue, all cards into the pool."""
        while self.phase != "act":
            self.do({"reveal": "stop", "rescue": "pass", "place": "place:spirit"}[self.phase])
        return self

    def next_turn(self) -> Self:
        return self.to_act().do("end")

    # -- reading

    def __getitem__(self, field: str) -> int:
        return int(self.records[field][0])

    @property
    def phase(self) -> str:
        return PHASES[self["phase"]]

    @property
    def over(self) -> bool:
        return self["over"] != LIVE

    @property
    def winners(self) -> list[int]:
        return [int(seat) for seat in np.flatnonzero(self.records["won"][0])]

    def kinds(self, field: str, seat: int | None = None) -> dict[str, int]:
        """Cards by kind: pool, protected, slots, enchanted of a seat; discard, deck_counts."""
        row = self.records[field][0] if seat is None else self.records[field][0][seat]
        return {KINDS[kind]: int(row[kind]) for kind in np.flatnonzero(row)}

    def spirits(self, field: str, seat: int) -> dict[str, int]:
        """enchantments, summoned of a seat."""
        row = self.records[field][0][seat]
        return {SPIRIT_NAMES[spirit]: int(row[spirit]) for spirit in np.flatnonzero(row)}

    def pool(self, seat: int) -> dict[str, int]:
        return self.kinds("pool", seat)

    def slots(self, seat: int) -> dict[str, int]:
        return self.kinds("slots", seat)

    @property
    def discard(self) -> dict[str, int]:
        return self.kinds("discard")

    @property
    def deck(self) -> list[str]:
        """From the top."""
        return [KINDS[kind] for kind in self.records["deck"][0][: self["deck_size"]][::-1]]

    @property
    def known(self) -> list[str]:
        return self.deck[: self["known"]]

    @property
    def looked(self) -> list[str]:
        return self.deck[: self["looked"]]

    @property
    def revealed(self) -> list[str]:
        return [KINDS[kind] for kind in self.records["revealed"][0][: self["num_revealed"]]]

    @property
    def placing(self) -> list[str]:
        return [KINDS[kind] for kind in self.records["queue"][0][: self["num_queue"]]]

    def each(self, field: str) -> list[int]:
        """One number for each seat: tokens, nian."""
        return [int(n) for n in self.records[field][0][: self["players"]]]

    @property
    def tokens(self) -> list[int]:
        return self.each("tokens")

    @property
    def nian(self) -> list[int]:
        return self.each("nian")

    @property
    def points(self) -> list[int]:
        return [int(ending.score(self.records[0], seat)) for seat in range(self["players"])]

    def seen(self, seat: int) -> dict[str, object]:
        """The decoded observation of a seat."""
        from beyond_env.observation import observe

        out = np.full(GAME.layout.size, -99, GAME.layout.dtype)
        observe(self.records, 0, seat, out)
        return GAME.layout.decode(out)

    def __repr__(self) -> str:
        return GAME.text(self.records[0])
