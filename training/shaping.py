"""The environment that PPO learns from: where games end for it, and potential-based shaping, a wish of the trainer's for games in which
random play hardly ever ends.

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


class TrainingVecEnv(LearnerVecEnv):
    """LearnerVecEnv in which a game that the rules cut off has ended, with rewards of 0, as the observation foretells; elsewhere PPO would
    add what it thinks the position is worth. Rewards have the shaping added, by its weight; the news of ended games tell them without."""

    def __init__(self, *arguments: Any, weight: float = 0.0, gamma: float = 1.0, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.weight, self.gamma = weight, gamma

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        before = potential(self.game, self.learner.observation) if self.weight else None
        observation, rewards, dones, infos = super().step_wait()
        if before is not None:
            after = potential(self.game, observation)
            rewards += self.weight * (self.gamma * np.where(dones, np.float32(0), after) - before)
        for row in np.flatnonzero(dones):
            infos[row]["TimeLimit.truncated"] = False
        return observation, rewards, dones, infos
