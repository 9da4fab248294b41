"""The uniformly random player of any game."""

from __future__ import annotations

import numpy as np

from tabletop.sampling import random_actions


class RandomAgent:
    """Plays every legal action with the same probability."""

    name = "random"

    def act(self, observation: np.ndarray, action_mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Actions (n,) for masks (n, A); EmptyMask if a row allows nothing."""
        return random_actions(action_mask, rng)
