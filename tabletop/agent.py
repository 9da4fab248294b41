"""What an agent is: it plays from observation and mask, for whole batches at once."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np


@runtime_checkable
class Agent(Protocol):
    """A player. It is given what its seat knows, never a record, and keeps nothing between calls that a game depends on."""

    name: str

    def act(self, observation: np.ndarray, action_mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Actions (n,) int64 for n decisions: observation (n, D), action_mask (n, A), each in the frame of the seat to act.

        All randomness comes from `rng`. Raises EmptyMask if a row of the mask allows nothing.
        """
        ...
