"""The Stable-Baselines3 view: a VecEnv whose tables are stepped in compiled loops. The one module that imports stable_baselines3."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from gymnasium import spaces
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv

from tabletop.learner import LearnerTables
from tabletop.opponents import name_of
from tabletop.registry import Game
from tabletop.rules import Rules
from tabletop.single import observation_space

PER_TABLE = ("action_mask", "observation", "seat", "never_asked", "variants")  # of LearnerTables: what get_attr knows


class LearnerVecEnv(VecEnv):
    """`num_envs` tables, each of which asks the decisions of one seat, as Stable-Baselines3 and sb3-contrib take them.

    Observations (N, D) of the layout's dtype, rewards (N,) float32, dones (N,) bool, all new arrays. Tables are dealt anew in the
    step that ends their game. The info of a row that ended has "terminal_observation" (D,), "TimeLimit.truncated", "episode"
    {"r": return, "l": decisions, "t": seconds since the start} as a Monitor gives, "is_success" (the seat won, alone or with
    others), "seat", "opponents" (names, by seat) and, where an illegal action lost the game, "illegal". The other rows have no
    news: their infos are empty dictionaries, the same ones at every step.

    MaskablePPO and `sb3_contrib.common.maskable.utils.get_action_masks` find the masks; `action_masks()` is the whole (N, A).

    illegal: "raise" IllegalAction, for with masks none is ever played; "lose" the game, for algorithms without masks.
    All else: as `LearnerTables` takes it. `seed(s)` makes the next `reset` deal the games (s, i) for rows i; before the first
    reset the seed is that of the constructor.
    """

    def __init__(
        self,
        game: str | Game,
        num_envs: int = 1,
        num_players: int | Sequence[int] | None = None,
        rules: Rules | str | Sequence[Rules | str | None] | None = None,
        seed: int | tuple[int, int] | None = 0,
        *,
        opponents: Any = None,
        learner_seat: str | int | Sequence[int] = "random",
        illegal: str = "raise",
        skip_forced: bool = True,
        max_decisions: int | None = None,
        threads: int = 1,
    ) -> None:
        self.learner = LearnerTables(
            game, num_envs, num_players, rules, seed, opponents=opponents, learner_seat=learner_seat, autoreset="same_step",
            illegal=illegal, skip_forced=skip_forced, max_decisions=max_decisions, threads=threads,
        )  # fmt: skip
        self.game = self.learner.game
        super().__init__(self.learner.num_tables, observation_space(self.game), spaces.Discrete(self.game.num_actions))
        self._fresh = True  # dealt, and not yet played on
        self._actions = np.zeros(self.num_envs, np.int64)
        self._returns = np.zeros(self.num_envs, np.float64)
        self._lengths = np.zeros(self.num_envs, np.int64)
        self._no_news: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        self._start = time.perf_counter()

    def reset(self) -> np.ndarray:
        """Deal anew, from the seed if one was given since the last reset, and with `set_options` once, as for `Tables.reset`."""
        seed, options = self._seeds[0], self._options[0]
        if any(other != options for other in self._options):
            raise ValueError("set_options must be the same for all tables")
        if seed is not None or options or not self._fresh:
            self.learner.reset(seed, options=options or None)
        self._reset_seeds()
        self._reset_options()
        self._fresh = False
        self._returns[:] = 0
        self._lengths[:] = 0
        return self.learner.observation.copy()

    def step_async(self, actions: np.ndarray) -> None:
        """Keep the actions (N,) for `step_wait`."""
        self._actions = np.asarray(actions)

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Take one decision at every table: observations, rewards, dones, infos."""
        learner = self.learner
        learner.step(self._actions)
        self._fresh = False
        self._returns += learner.reward
        self._lengths += 1
        dones = learner.terminated | learner.truncated
        infos = self._no_news.copy()
        for row in np.flatnonzero(dones).tolist():
            infos[row] = self._news(row)
            self._returns[row] = 0
            self._lengths[row] = 0
        return learner.observation.copy(), learner.reward.copy(), dones, infos

    def _news(self, row: int) -> dict[str, Any]:
        """The info of a row whose game ended in this step."""
        learner = self.learner
        info = {
            "terminal_observation": learner.final_observation[row].copy(),
            "TimeLimit.truncated": bool(learner.truncated[row] and not learner.terminated[row]),
            "episode": {
                "r": float(self._returns[row]),
                "l": int(self._lengths[row]),
                "t": round(time.perf_counter() - self._start, 6),
            },
            "is_success": bool(learner.reward[row] > 0),
            "seat": int(learner.final_seat[row]),
            "opponents": {seat: name_of(agent) for seat, agent in learner.final_opponents_of(row).items()},
        }
        if learner.illegal[row]:
            info["illegal"] = True
        return info

    def action_masks(self) -> np.ndarray:
        """The legal actions of all tables, (N, A) bool: a read-only view that the next step writes in."""
        return self.learner.action_mask.view(np.bool_)

    def _action_mask(self, row: int) -> np.ndarray:
        return self.action_masks()[row]

    # -- what Stable-Baselines3 asks of every VecEnv -------------------------------------------------------------------

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """`action_masks`: the legal actions (A,) bool of each table, views. There are no other methods of single tables."""
        if method_name != "action_masks":
            raise AttributeError(f"tables have the method action_masks, not {method_name!r}")
        masks = list(self.action_masks())
        return masks if indices is None else [masks[row] for row in self._get_indices(indices)]

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """One of the attributes in PER_TABLE, `action_masks` (as methods) or `render_mode` (None), of each table."""
        rows = self._get_indices(indices)
        if attr_name == "render_mode":
            return [None for _ in rows]
        if attr_name == "action_masks":
            return [partial(self._action_mask, row) for row in rows]
        if attr_name in PER_TABLE:
            return [getattr(self.learner, attr_name)[row] for row in rows]
        raise AttributeError(f"tables have no attribute {attr_name!r}; there are {', '.join(PER_TABLE)}")

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """AttributeError: tables have no attributes of their own that could be set."""
        raise AttributeError(f"{attr_name} cannot be set: make a new LearnerVecEnv")

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """True for Monitor, whose news this environment itself gives; False for all others."""
        return [wrapper_class is Monitor for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[np.ndarray | None]:
        """None for each: there is no picture of a table here."""
        return [None] * self.num_envs

    def close(self) -> None:
        """Nothing is held that would have to be released."""
