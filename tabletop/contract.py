"""The contract of a game, as a test that runs over any game, variant and number of players: `check("beyond", "protection=true", 3)`.

A game keeps it when `check` returns. Otherwise it raises a ContractError that says which game, variant, seed and decision is at fault
and in what. Authors of games and of variants call it on their own work; `cases()` lists what there is to check.

What a game tells of itself beside its functions: `state.HIDDEN`, the names of the record's fields that not every seat sees, and, if
dealing those fields again does not keep the multiset of their entries, `state.conserved(record)`, whatever must stay the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np

from tabletop.errors import RulesError
from tabletop.plain import Story, tell
from tabletop.registry import LIVE, Game, games
from tabletop.registry import game as find_game
from tabletop.rules import Rules, Variant, text_of


class ContractError(AssertionError):
    """A game, or the kit, does not keep the contract."""


class Case:
    """One game, variant and seed under test, and the story of its games, which all paths are compared with."""

    def __init__(self, game: Game, variant: Variant, seed: int, games: int) -> None:
        self.game, self.variant, self.seed, self.games = game, variant, seed, games
        self.rng = np.random.default_rng([seed, games, variant.players])
        self.story: Story
        self.has_text = _has_text(game)

    def fail(self, what: str, place: int | None = None, story: Story | None = None) -> NoReturn:
        """Raise the ContractError; place: the position of the story where it was seen."""
        where = ""
        if place is not None:
            told = story or self.story
            row = int(np.searchsorted(told.last, place))
            where = f", game {row}, decision {place - told.first[row]}"
        raise ContractError(f"{self.game.name}: {self.variant}, seed {self.seed}{where}: {what}")

    def sample(self, most: int, live: bool = False) -> np.ndarray:
        """At most that many different places of the story, first and last positions of a game among them."""
        places = np.flatnonzero(self.story.over == LIVE) if live else np.arange(self.story.over.size)
        chosen = self.rng.choice(places, min(most, places.size), replace=False)
        ends = [self.story.first[0]] if live else [self.story.first[0], self.story.last[0]]
        return np.unique(np.concatenate([chosen, np.array(ends)]))


def _has_text(game: Game) -> bool:
    from importlib.util import find_spec

    return find_spec(f"{game.package}.text") is not None


def check(game: str | Game, rules: Rules | str | None = None, players: int = 2, games: int = 20, seed: int = 0) -> None:
    """Raise a ContractError unless the game keeps the contract under these rules, in `games` random games from `seed` on.

    Takes a fraction of a second for a game of two hundred decisions. The same arguments check the same games.
    """
    from tabletop.contract_paths import PATHS
    from tabletop.contract_state import STATES

    found = find_game(game)
    variant = found.variant(rules, players)
    case = Case(found, variant, seed, games)
    try:
        case.story = tell(found, variant, seed, range(games))
        for part in (*STATES, *PATHS):
            part(case)
    except ContractError:
        raise
    except Exception as error:
        case.fail(f"{type(error).__name__}: {error}")


def variants(game: str | Game, players: int = 2) -> tuple[str, ...]:
    """Rules to try for that number of players: the defaults, and each option alone at its other value or its extremes."""
    rules = find_game(game).rules
    found = [""]
    for name, allowed in rules.allowed().items():
        values: list[Any] = [False, True] if allowed.is_bool else [allowed.low, allowed.high] if allowed.texts is None else []
        for value in [*values, None] if allowed.none is not None else values:
            try:
                made = rules(**{name: value})
                made.check_players(players)
            except RulesError:
                continue  # it does not go with the other defaults, or with so many players
            if made.changed():
                found.append(f"{name}={text_of(value)}")
    return tuple(found)


def cases(names: Any = None) -> Iterator[tuple[str, str, int]]:
    """(game, rules, players) for all registered games (or those named), every number of players and every one of `variants`."""
    for name in games() if names is None else names:
        rules = find_game(name).rules
        for players in range(rules.min_players, rules.max_players + 1):
            for variant in variants(name, players):
                yield name, variant, players


def check_all(names: Any = None, games: int = 3, seed: int = 0) -> int:
    """`check` all `cases`; how many there were."""
    checked = list(cases(names))
    for name, rules, players in checked:
        check(name, rules, players, games, seed)
    return len(checked)


__all__ = ["Case", "ContractError", "cases", "check", "check_all", "variants"]
