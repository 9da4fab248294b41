"""Potential-based shaping for games in which random play hardly ever ends: a wish of the trainer's, never of the environment's.

Every transition from s to s' gets gamma x P(s') - P(s) on top of its reward, and P is 0 when a game is over. What that adds up to
over a game does not depend on how it is played, so the best play stays the same (Ng, Harada, Russell 1999).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tabletop.registry import Game
from tabletop.sb3 import LearnerVecEnv


def potential(game: Game, observation: np.ndarray) -> np.ndarray:
    """P (n,) float32 from -1 to 0 of observations (n, D): the nearer the own home, the higher.

    Moves home by the lanes there are; where none lead home, as many as there may be and the cells between.
    """
    parts = game.layout.parts
    if "moves_home" not in parts or "cells_home" not in parts:
        raise ValueError(f"shaping needs an observation with moves_home and cells_home; {game.name} has none")
    most = parts["moves_home"].high
    moves = game.layout.view(observation, "moves_home")[:, 0].astype(np.float32)
    cells = game.layout.view(observation, "cells_home")[:, 0].astype(np.float32)
    home = game.layout.view(observation, "home")[:, 0] != 0
    way = np.where(moves < most, moves, most + cells) / (most + parts["cells_home"].high)
    return np.where(home, np.float32(0), -way).astype(np.float32)


class ShapedVecEnv(LearnerVecEnv):
    """LearnerVecEnv whose rewards have the shaping added; the news of ended games tell the rewards without it."""

    def __init__(self, *arguments: Any, weight: float, gamma: float, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.weight, self.gamma = weight, gamma
        self.before = potential(self.game, self.learner.observation)

    def reset(self) -> np.ndarray:
        observation = super().reset()
        self.before = potential(self.game, observation)
        return observation

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        observation, rewards, dones, infos = super().step_wait()
        after = potential(self.game, observation)
        rewards += self.weight * (self.gamma * np.where(dones, np.float32(0), after) - self.before)
        self.before = after
        return observation, rewards, dones, infos
