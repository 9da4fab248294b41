"""Play many games between agents: common deals, every seating, and what came out of each game.

Games are played in batches: at every step each agent gets, in one call, all the decisions that wait for it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

import tabletop
from tabletop.agent import Player
from tabletop.errors import ActionError, IllegalAction
from tabletop.opponents import answer, name_of
from tabletop.registry import Game
from tabletop.rules import Variant
from tabletop.stream import seed_words

MOST_TABLES = 4096


class Watcher(Protocol):
    """Is told everything that happens in the games of `play`, batch by batch. It must change nothing."""

    def begin(self, tables: tabletop.Tables) -> None:
        """New tables have been dealt, one for each game of a batch."""

    def watch(self, tables: tabletop.Tables, rows: np.ndarray, actions: np.ndarray) -> None:
        """At tables rows[j] the seat to act has chosen the legal action actions[j]; (n,) int64 each. It has not been done yet."""

    def end(self, tables: tabletop.Tables) -> None:
        """All games of the batch are over."""


@dataclass
class Games:
    """Finished games. Row g: deal[g]; seating[g, seat] = index of the agent who sat there; rewards[g, seat]; share[g, seat]: share
    of the victory (1/winners for a winner; 1/players for all when cut off or drawn); decisions[g]: real decisions; truncated[g]."""

    deal: np.ndarray
    seating: np.ndarray
    rewards: np.ndarray
    share: np.ndarray
    decisions: np.ndarray
    truncated: np.ndarray
    records: np.ndarray

    def share_of(self, agent: int) -> np.ndarray:
        """Share of the victory that one agent got in each game, over all seats it held."""
        return np.where(self.seating == agent, self.share, 0.0).sum(axis=1)


def rotations(agents: int, players: int) -> list[tuple[int, ...]]:
    """Seatings in which each of `agents` agents sits in each seat equally often; of two agents, the first alone in each seat."""
    if agents == players:
        base = tuple(range(players))
        return [base[k:] + base[:k] for k in range(players)]
    if agents == 2:  # one of agent 0 against the others, in each seat
        return [tuple(0 if seat == k else 1 for seat in range(players)) for k in range(players)]
    return list(itertools.permutations(range(agents), players))


def play(
    game: str | Game,
    variant: Variant,
    agents: Sequence[Player],
    deals: int | np.ndarray,
    seed: int = 0,
    seatings: Sequence[Sequence[int]] | None = None,
    progress: Callable[[int, int], None] | None = None,
    max_decisions: int | None = None,
    watcher: Watcher | None = None,
    salt: int = 0,
) -> Games:
    """Play every deal once for each seating; deal d is the game (seed, d), the same cards for all seatings.

    agents: players by index; seatings: which of them sits in seats 0, 1, …; default `rotations`. All randomness of agents comes
    from a generator of `seed` and `salt`, so the same call gives the same games; with another salt the deals are the same, and what
    agents draw is new. watcher: is told what happens, and changes no game.
    """
    game = tabletop.game(game)
    numbers = np.arange(deals) if isinstance(deals, int | np.integer) else np.asarray(deals)
    seed_words(seed)
    if not len(numbers):
        raise ValueError(f"deals must be at least 1, not {deals}")
    seats = np.array(rotations(len(agents), variant.players) if seatings is None else seatings)
    if seats.ndim != 2 or seats.shape[1] != variant.players or seats.min() < 0 or seats.max() >= len(agents):
        raise ValueError(f"seatings must name {variant.players} of {len(agents)} agents each")
    deal = np.repeat(numbers, len(seats))
    seating = np.tile(seats, (len(numbers), 1))
    parts = []
    for lo in range(0, len(deal), MOST_TABLES):
        hi = min(lo + MOST_TABLES, len(deal))
        rng = np.random.default_rng((seed, int(deal[lo]), salt) if salt else (seed, int(deal[lo])))
        parts.append(_play_batch(game, variant, agents, deal[lo:hi], seating[lo:hi], seed, rng, max_decisions, watcher))
        if progress:
            progress(hi, len(deal))
    return Games(*(np.concatenate([getattr(p, f) for p in parts]) for f in Games.__dataclass_fields__))


def _play_batch(
    game: Game,
    variant: Variant,
    agents: Sequence[Player],
    deal: np.ndarray,
    seating: np.ndarray,
    seed: int,
    rng: np.random.Generator,
    max_decisions: int | None,
    watcher: Watcher | None,
) -> Games:
    n, players = seating.shape
    tables = tabletop.Tables(
        game, n, players, variant.rules, seed=seed, deals=deal, autoreset="disabled", max_decisions=max_decisions
    )
    decisions = np.zeros(n, np.int64)
    if watcher:
        watcher.begin(tables)
    while (live := np.flatnonzero(tables.seat >= 0)).size:
        mover = seating[live, tables.seat[live]]
        actions = np.empty(live.size, np.int64)
        for index in np.unique(mover):
            mine = np.flatnonzero(mover == index)
            rows = live[mine]
            actions[mine] = answer(agents[index], tables, rows, rng)
        if watcher and not tables.illegal(live, actions).any():
            watcher.watch(tables, live, actions)
        try:
            tables.step(actions, live)
        except ActionError as error:
            at = int(np.flatnonzero(tables.illegal(live, actions))[0])
            raise IllegalAction(f"agent {name_of(agents[mover[at]])} acted illegally: {error}") from None
        decisions[live] += 1
    if watcher:
        watcher.end(tables)
    won = tables.records["won"][:, :players].astype(np.float64)
    winners = np.where(tables.truncated, 0, won.sum(axis=1))[:, None]
    share = np.where(winners == 0, 1.0 / players, won / np.maximum(winners, 1))
    return Games(deal, seating, tables.rewards[:, :players].copy(), share, decisions, tables.truncated.copy(), tables.records.copy())
