"""The Gymnasium view of many tables: one seat of each, stepped in compiled loops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from tabletop.errors import StepAfterEnd, listed
from tabletop.learner import LearnerTables
from tabletop.registry import Game
from tabletop.rules import Rules
from tabletop.single import SingleAgentEnv, observation_space
from tabletop.stream import seed_words

MODES = {AutoresetMode.NEXT_STEP: "next_step", AutoresetMode.SAME_STEP: "same_step", AutoresetMode.DISABLED: "disabled"}


class LearnerVectorEnv(VectorEnv[np.ndarray, np.ndarray, np.ndarray]):
    """`num_envs` times what `SingleAgentEnv` is, told as `gymnasium.vector.SyncVectorEnv` tells it, but played in one batch.

    observations (N, D) of the layout's dtype, rewards (N,) float32, terminations and truncations (N,) bool;
    infos: "action_mask" (N, A) int8, "seat" (N,) int64, "illegal" (N,) bool where a game was lost by an illegal action; each
    with its "_" mask (N,) bool of the rows that it is told of. In same-step mode "final_obs" (N,) of object and "final_info"
    hold what a row that ended would have told.

    autoreset_mode: NEXT_STEP (default), SAME_STEP or DISABLED (rows that are over are reset by `options={"reset_mask": …}`).
    illegal: "lose" (the game) or "raise" IllegalAction before anything changes.
    copy: whether the arrays returned are copies; without, they are buffers that the next step writes in.
    All else: as `LearnerTables` takes it. With num_players or rules for each table, all variants share this one environment.

    `reset(seed=s)`: row i plays the game (s, i). A sequence of seeds, one for each row: row i plays (seeds[i], 0), as
    `SingleAgentEnv.reset(seed=seeds[i])` does.
    """

    def __init__(
        self,
        game: str | Game,
        num_envs: int = 1,
        num_players: int | Sequence[int] | None = None,
        rules: Rules | str | Sequence[Rules | str | None] | None = None,
        opponents: Any = None,
        learner_seat: str | int | Sequence[int] = "random",
        render_mode: str | None = None,
        *,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        illegal: str = "lose",
        copy: bool = True,
        skip_forced: bool = True,
        max_decisions: int | None = None,
        threads: int = 1,
    ) -> None:
        if render_mode not in (None, "ansi"):
            raise TypeError(f"render_mode of many tables must be None or ansi, not {render_mode!r}")
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.learner = LearnerTables(
            game, num_envs, num_players, rules, None, opponents=opponents, learner_seat=learner_seat, illegal=illegal,
            autoreset=MODES[self.autoreset_mode], skip_forced=skip_forced, max_decisions=max_decisions, threads=threads,
        )  # fmt: skip
        self.game, self.num_envs = self.learner.game, self.learner.num_tables
        self.copy, self.render_mode = copy, render_mode
        self.metadata = {
            **SingleAgentEnv.metadata,
            "render_modes": ["ansi"],
            "illegal_action": illegal,
            "autoreset_mode": self.autoreset_mode,
        }
        self.single_observation_space = observation_space(self.game)
        self.single_action_space = spaces.Discrete(self.game.num_actions)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._everywhere = np.ones(self.num_envs, np.bool_)

    def reset(  # type: ignore[override]
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Deal anew: observations and infos. options: "reset_mask" (N,) bool, to deal at those rows only, and a set-up for each."""
        mask = None
        if isinstance(options, dict):
            options = dict(options)
            mask = options.pop("reset_mask", None)
        rows = self._reset_rows(mask)
        if seed is None or isinstance(seed, int):
            super().reset(seed=seed)
            self.learner.reset(seed, None if mask is None else rows, options=options)
        else:
            if not isinstance(seed, Sequence | np.ndarray) or isinstance(seed, str) or len(seed) != self.num_envs:
                raise ValueError(f"seed must be one whole number, or one for each of {self.num_envs} rows, not {seed!r}")
            for one in seed:
                if one is not None:
                    seed_words(one)  # all are checked before any row is dealt anew
            if mask is None and None not in seed:
                self.learner.agent_rng = np.random.default_rng(seed)  # type: ignore[arg-type]
            for row in rows:
                self.learner.reset(seed[row], np.array([row]), deals=None if seed[row] is None else np.zeros(1, np.int64), options=options)
        if seed is not None:
            self._np_random = self.learner.agent_rng
        return self._kept(self.learner.observation), self._infos()

    def _reset_rows(self, mask: Any) -> np.ndarray:
        """The rows that a reset_mask chooses."""
        if mask is None:
            return np.arange(self.num_envs)
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (self.num_envs,) or not mask.any():
            raise ValueError(f"reset_mask must be a ({self.num_envs},) array of booleans, at least one of them True")
        return np.flatnonzero(mask)

    def step(self, actions: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Take one decision at every table: observations, rewards, terminations, truncations, infos.

        In next-step mode the row of a game that is over is dealt anew, its action ignored, its reward 0. StepAfterEnd where
        auto-reset is disabled and a game is over; UnknownAction for what is no action. These change nothing.
        """
        learner = self.learner
        if self.autoreset_mode == AutoresetMode.DISABLED and learner.over.any():
            over = listed(np.flatnonzero(learner.over))
            raise StepAfterEnd(f"step after the end: the games of rows {over} are over; call reset(options={{'reset_mask': …}})")
        learner.step(np.asarray(actions))
        infos = self._infos()
        ended = learner.terminated | learner.truncated
        if self.autoreset_mode == AutoresetMode.SAME_STEP:
            if ended.any():
                self._tell_ends(infos, ended)
        elif learner.illegal.any():
            infos |= {"illegal": learner.illegal.copy(), "_illegal": learner.illegal.copy()}
        told = (learner.reward, learner.terminated, learner.truncated)
        return self._kept(learner.observation), *(self._kept(array) for array in told), infos  # type: ignore[return-value]

    def _infos(self) -> dict[str, Any]:
        """What the infos say of every row: also of rows that a partial reset left alone, for their masks are still needed."""
        mask, seats = self._kept(self.learner.action_mask), self.learner.seat.astype(np.int64)
        return {"action_mask": mask, "_action_mask": self._everywhere.copy(), "seat": seats, "_seat": self._everywhere.copy()}

    def _tell_ends(self, infos: dict[str, Any], ended: np.ndarray) -> None:
        """Add to infos what the rows that ended would have told, had they not been dealt anew."""
        learner = self.learner
        final = np.full(self.num_envs, None, object)
        for row in np.flatnonzero(ended):
            final[row] = learner.final_observation[row].copy()
        info: dict[str, Any] = {"action_mask": np.zeros_like(learner.action_mask), "_action_mask": ended.copy()}
        info |= {"seat": np.where(ended, learner.final_seat, 0).astype(np.int64), "_seat": ended.copy()}
        if learner.illegal.any():
            info |= {"illegal": learner.illegal.copy(), "_illegal": learner.illegal.copy()}
        infos |= {"final_obs": final, "_final_obs": ended.copy(), "final_info": info, "_final_info": ended.copy()}

    def _kept(self, array: np.ndarray) -> np.ndarray:
        return array.copy() if self.copy else array

    def action_masks(self) -> np.ndarray:
        """The legal actions (N, A) bool."""
        return self.learner.action_mask != 0

    def render(self) -> tuple[str, ...] | None:  # type: ignore[override]
        """What each learner's seat knows, as texts ("ansi")."""
        if self.render_mode is None:
            return None
        records, seats = self.learner.tables.records, self.learner.seat.tolist()
        return tuple(self.game.text(record, seat) for record, seat in zip(records, seats, strict=True))
