"""The options of a_way's rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from away_env.cards import CARD_TABLES, HAND, MAX_PLAYERS, SIDE, TABLE, CardTable, compiled_arrays
from tabletop.errors import RulesError
from tabletop.rules import Rules, option

SMALLEST = 5  # the solar cards and the bases around them
MOST_ROUNDS = 127


@dataclass(frozen=True)
class AwayRules(Rules):
    """a_way as the rules page describes it; the defaults are the base game."""

    game: ClassVar[str] = "away"
    max_players: ClassVar[int] = MAX_PLAYERS

    max_rounds: int = option(100, "rounds after which a game without an arrival is cut off", 1, MOST_ROUNDS)
    size: int = option(SIDE, "cells on a side of the table, an odd number: the middle of the 9 x 9 cells is played on", SMALLEST, SIDE)
    cards: CardTable | None = option(None, "another card table than the installed one", none=0, texts=CARD_TABLES)  # noqa: RUF009 (CARD_TABLES is one object)

    def check(self) -> None:
        if self.size % 2 == 0:
            raise RulesError(f"away rules: size={self.size} is not allowed; size is 5, 7 or 9")

    def check_players(self, players: int) -> None:
        super().check_players(players)
        if fault := (self.cards or TABLE).chain_fault(players):
            raise RulesError(f"card table {self.cards}: actions: {fault}")

    def configure(self, records: Any, rows: Any) -> None:
        """Write the options, and the arrays of the card table, into rows of a record array."""
        super().configure(records, rows)
        for name, array in compiled_arrays(self.cards or TABLE).items():
            records[name][rows] = array


def max_decisions(rules: AwayRules, players: int) -> int:
    """Most decisions (forced ones counted) of a game.

    A turn plays at most the five cards of a hand, each with at most four targets (two swapped and turned; two stations of two
    decisions each), of its own or of the card it brings; then `done`, and a move of three decisions.
    """
    return rules.max_rounds * players * (HAND * (1 + 4) + 1 + 3)
