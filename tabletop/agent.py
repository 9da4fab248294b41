"""What an agent is: it plays from what its seat knows, for whole batches at once."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np


@runtime_checkable
class Agent(Protocol):
    """A player. It is given what its seat knows, never the true record, and keeps nothing between calls that a game depends on."""

    name: str

    def act(self, observation: np.ndarray, action_mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Actions (n,) int64 for n decisions: observation (n, D), action_mask (n, A), each in the frame of the seat to act.

        All randomness comes from `rng`. Raises EmptyMask if a row of the mask allows nothing.
        """
        ...


@runtime_checkable
class Searcher(Protocol):
    """A player that thinks ahead: it is given positions to play on, in which all that its seat cannot see has been dealt again."""

    name: str

    def act_on(self, positions: np.ndarray, action_mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Actions (n,) int64 for n decisions of the seats to act: positions (n,) records of the game, as `Tables.determinize`
        gives them, action_mask (n, A).

        Each position is one guess among many: a searcher determinizes it anew, from the seat to act, as often as it needs. It may
        write to them. All randomness comes from `rng`.
        """
        ...


Player = Agent | Searcher
