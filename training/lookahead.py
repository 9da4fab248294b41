"""The Stable-Baselines3 view of a game with a lookahead: what it tells of every action follows the observation.

It is computed once for every decision; the rollout buffer keeps it, so that learning from a sample does not look again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from stable_baselines3.common.vec_env import VecEnvWrapper

from agents.policy import with_lookahead
from tabletop.sb3 import LearnerVecEnv


class LookaheadVecEnv(VecEnvWrapper):
    """`inner` with observations (N, D + (A + 1) F): see agents.policy.find_lookahead. The masks are those of `inner`."""

    def __init__(self, inner: LearnerVecEnv, lookahead: Any) -> None:
        game, told = inner.game, (inner.game.num_actions + 1) * len(lookahead.features)
        limits = np.iinfo(game.layout.dtype)
        low, high = (np.concatenate([a, np.full(told, b)]) for a, b in ((game.layout.low, limits.min), (game.layout.high, limits.max)))
        super().__init__(inner, observation_space=spaces.Box(low, high, dtype=game.layout.dtype.type))
        self.inner, self.lookahead = inner, lookahead

    def seen(self) -> np.ndarray:
        """The observations of the decisions that are asked now."""
        return with_lookahead(self.lookahead, self.inner.learner.observation, self.inner.learner.action_mask)

    def reset(self) -> np.ndarray:
        self.inner.reset()
        return self.seen()

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        _, rewards, dones, infos = self.inner.step_wait()
        nothing = np.zeros((1, self.inner.game.num_actions), np.int8)
        for row in np.flatnonzero(dones):
            last = infos[row]["terminal_observation"]
            infos[row]["terminal_observation"] = with_lookahead(self.lookahead, last[None], nothing)[0]
        return self.seen(), rewards, dones, infos
