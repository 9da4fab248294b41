"""Flat Monte Carlo as an agent: a few playouts for every action and no tree, as a yardstick for searches."""

from __future__ import annotations

from types import ModuleType

import numpy as np

from agents import tree
from agents.search import PLAYOUTS, Found, PositionAgent, Workspace, called, check_whole, compiled, depth_of, first_decision, options_of
from tabletop.errors import EmptyMask
from tabletop.registry import Game


class FlatAgent(PositionAgent):
    """Plays the action that does best on the mean of so many samples.

    A sample deals the hidden cards again from the seat to act, the same for each action, and plays on by `playout` for `depth`
    decisions, both as in `agents.search.SearchAgent`. threads: decisions looked into at the same time.
    """

    def __init__(
        self, game: Game, *, samples: int = 10, playout: str | None = None, depth: int | str | None = None, threads: int = 1
    ) -> None:
        check_whole("samples", samples, 1, 10**7)
        used = options_of(game, {"playout": playout, "depth": depth})
        self.name = called("flat", {"samples": samples, "playout": playout, "depth": depth})
        self.samples, self.playout, self.depth = samples, PLAYOUTS[used["playout"]], depth_of(used["depth"])
        super().__init__(game, threads, 2)
        self.kernels = compiled(game, "flat search", "agents.samples", lambda bound: warm_up(game, bound))

    def _look_into(self, w: Workspace, roots: np.ndarray, row: int, allowed: np.ndarray, seed: int) -> Found:
        sample(self.kernels, w, roots, row, allowed, seed, self.samples, self.playout, self.depth)
        tried = np.flatnonzero(w.visits)
        action = int(tried[w.mean[tried].argmax()])
        iterations = int(w.visits.sum())
        return action, self._explainer(w, int(roots[row]["seat"]), int(roots[row]["players"]), action, iterations)


def sample(
    bound: ModuleType, w: Workspace, roots: np.ndarray, row: int, allowed: np.ndarray, seed: int, samples: int, playout: int, depth: int
) -> None:
    """Sample every allowed action of one position; counts and means are left in the workspace."""
    if w.prepare:
        w.prepare(w.scratch, roots[row])
    w.visits[:] = 0
    w.mean[:] = 0.0
    seats = np.zeros_like(w.values)
    status = bound.sample(
        roots, row, np.uint64(seed), 0, samples, w.work, w.masks, w.scratch, w.rewards, w.values, allowed, playout, depth,
        w.visits, w.mean, seats,
    )  # fmt: skip
    if status != tree.FINE:
        raise EmptyMask(f"a seat on turn had no legal action in a position that the samples of row {row} came to")
    w.available[:] = w.visits
    w.mean /= np.maximum(w.visits, 1)
    w.values[:] = seats / w.visits.sum()


def warm_up(game: Game, bound: ModuleType) -> None:
    """Compile the samples by using them."""
    records, mask = first_decision(game)
    sample(bound, Workspace(game, 2), records, 0, mask, 1, 1, tree.RANDOM, 0)
