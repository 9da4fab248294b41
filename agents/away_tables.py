"""The card tables that an a_way player plays by: records in which they are set, and which of them a decision is of.

An observation tells whether its card table is the installed one, but not which other one it is. So a player knows the installed table,
and one other at most.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import tabletop
from agents.away_changes import alike_turns
from away_env import observation as o
from away_env.rules import AwayRules
from away_env.state import STATE
from tabletop.errors import RulesError

Played = AwayRules | str | Sequence[AwayRules | str] | None  # the rules that a player is made for: one, several, or the base game's


def known_tables(rules: Played) -> tuple[np.ndarray, list[np.ndarray]]:
    """Records (T,) STATE with the card tables of the rules set, and `alike_turns` of each. The first is another table than the installed
    one, where the rules name one; the last is the installed one. RulesError if they name two others."""
    game = tabletop.game("away")
    given = [rules] if rules is None or isinstance(rules, str | AwayRules) else rules
    variants: list[Any] = [game.variant(one, 2) for one in given]
    others = {variant.rules.cards: variant for variant in variants if variant.rules.cards is not None}
    if len(others) > 1:
        told = " and ".join(map(str, others))
        raise RulesError(f"the card tables {told} cannot be played by one agent: an observation does not tell which of them it is of")
    roots = np.zeros(len(others) + 1, STATE)
    for at, variant in enumerate([*others.values(), game.variant()]):
        game.configure(roots, [at], variant)
    return roots, [alike_turns(root) for root in roots]


def by_table(observation: np.ndarray, known: int) -> Iterator[tuple[int, Any]]:
    """Of observations (n, D): (place of a table in `known_tables`, the rows whose table it is), for every table that has rows. One that
    knows but the installed table plays all rows by it."""
    if known == 1:
        yield 0, slice(None)
        return
    other = observation[:, o.O_OTHER_TABLE] != 0
    if other.all() or not other.any():
        yield int(not other.all()), slice(None)
        return
    yield 0, np.flatnonzero(other)
    yield 1, np.flatnonzero(~other)
