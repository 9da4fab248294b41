"""The Gymnasium view: one seat of one table, the other seats played by given agents."""

from __future__ import annotations

import secrets
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded

from tabletop.errors import SetupError, StepAfterEnd
from tabletop.learner import LearnerTables
from tabletop.registry import Game
from tabletop.rules import Rules


class SingleAgentEnv(gymnasium.Env[np.ndarray, Any]):
    """One seat of one table of `game`: what a learner, or a person, plays.

    Observations are new (D,) arrays of the layout's dtype, in the seat's own frame; actions are whole numbers, or the names of
    `game.actions`. The legal actions are `info["action_mask"]`, (A,) int8, after every reset and step (all zeros after the end),
    and `action_masks()`, as sb3-contrib asks. `info["seat"]` is the seat played.

    The reward is what the seat earned since its own last decision: +1 or less for a win (winners share it), down to -1 for a
    loss, 0 before the end and when the game is cut off (truncated).

    An illegal action loses the game: reward -1, terminated, `info["illegal"]` is True. It is answered so because Gymnasium's
    checkers, and learners without masks, step unmasked actions. What is no action at all is an UnknownAction.

    opponents: an agent, a sequence of agents, or something that draws agents (see `LearnerTables`); None: uniformly random.
    learner_seat: "random" (drawn for each game) or a seat.
    render_mode: "ansi" (`render` returns what the seat knows, as text) or "human" (printed at every reset and step).
    rules, num_players, skip_forced, max_decisions: as `tabletop.Tables` takes them.

    `reset(seed=s)` deals the game (s, 0), and all that is random besides (seats, opponents and their moves) follows from s too;
    `reset()` goes on to the next game. A copy (`copy.deepcopy`, `pickle`) at any moment goes on exactly as this one.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["human", "ansi"], "render_fps": 2, "illegal_action": "lose"}  # type: ignore[misc]

    def __init__(
        self,
        game: str | Game,
        num_players: int | None = None,
        rules: Rules | str | None = None,
        opponents: Any = None,
        learner_seat: str | int = "random",
        render_mode: str | None = None,
        *,
        skip_forced: bool = True,
        max_decisions: int | None = None,
    ) -> None:
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            # a TypeError, for on that Stable-Baselines3, which asks for rgb_array first, tries again without a mode
            raise TypeError(f"render_mode must be None, human or ansi, not {render_mode!r}")
        self.learner = LearnerTables(
            game, 1, num_players, rules, None, opponents=opponents, learner_seat=learner_seat,
            autoreset="disabled", illegal="lose", skip_forced=skip_forced, max_decisions=max_decisions,
        )  # fmt: skip
        self.game, self.variant = self.learner.game, self.learner.variants[0]
        self.render_mode = render_mode
        self.observation_space = observation_space(self.game)
        self.action_space = spaces.Discrete(self.game.num_actions)
        self._action = np.zeros(1, np.int64)
        self._ready = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        """Deal a game and let the opponents play until the seat is to decide: its observation and info.

        options: a set-up, as the game takes it ({"text": …}, {"record": bytes}, or one of the game's own, such as a deck).
        SetupError names what is wrong with it.
        """
        if seed is None and not self._ready:
            seed = secrets.randbits(63)
        super().reset(seed=seed)
        if seed is None:
            self.learner.agent_rng = self.np_random
        try:
            self.learner.reset(seed, options=options)
        except SetupError:
            self._ready = bool(self.learner.action_mask[0].any())  # the game before stands, unless one was begun that is over
            raise
        self._np_random = self.learner.agent_rng  # for a seed the same stream: the opponents' moves are drawn from np_random
        self._ready = True
        return self._told()

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Take one decision: observation, reward, terminated, truncated, info.

        UnknownAction, for what is no action, and StepAfterEnd change nothing.
        """
        if not self._ready:
            raise ResetNeeded("call reset() before step()")
        if self.learner.over[0]:
            raise StepAfterEnd(f"step after the end: the game of {self.game.name} is over; call reset()")
        self._action[0] = self.game.action(action.item() if isinstance(action, np.ndarray) and action.size == 1 else action)
        self.learner.agent_rng = self.np_random
        self.learner.step(self._action)
        observation, info = self._told()
        if self.learner.illegal[0]:
            info["illegal"] = True
        return observation, float(self.learner.reward[0]), bool(self.learner.terminated[0]), bool(self.learner.truncated[0]), info

    def _told(self) -> tuple[np.ndarray, dict[str, Any]]:
        """Observation and info as they are now, in new arrays."""
        if self.render_mode == "human":
            self.render()
        info = {"action_mask": self.learner.action_mask[0].copy(), "seat": int(self.learner.seat[0])}
        return self.learner.observation[0].copy(), info

    def action_masks(self) -> np.ndarray:
        """The legal actions (A,) bool."""
        return self.learner.action_mask[0] != 0

    def render(self) -> str | None:  # type: ignore[override]
        """What the seat knows, as text: returned ("ansi") or printed ("human")."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() was called on an environment made without a render_mode; give render_mode='ansi' or 'human'")
            return None
        text = self.game.text(self.learner.tables.records[0], int(self.learner.seat[0]))
        if self.render_mode == "ansi":
            return text
        print(text, flush=True)
        return None


def observation_space(game: Game) -> spaces.Box:
    """The space of one flat observation of `game`: (D,), the layout's dtype and bounds."""
    return spaces.Box(game.layout.low, game.layout.high, dtype=game.layout.dtype.type)
