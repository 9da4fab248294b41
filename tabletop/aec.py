"""The PettingZoo view of one table: an AEC environment for any game, and the wrappers that are customary around it."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import logger, spaces
from pettingzoo import AECEnv
from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, OrderEnforcingWrapper, TerminateIllegalWrapper

from tabletop.errors import StepAfterEnd
from tabletop.registry import Game
from tabletop.rules import Rules
from tabletop.tables import Tables

RENDER_MODES = ("human", "ansi")
ILLEGAL_REWARD = -1.0  # what PettingZoo's wrapper gives the seat whose illegal action ends the game in `env()`


class RawEnv(AECEnv[str, dict[str, np.ndarray], Any]):
    """One table of `game` as a PettingZoo AEC environment, with agents `player_0`, `player_1`, …

    Every observation is a new {"observation": (D,) of the layout's dtype, "action_mask": (A,) int8}. The mask is of the seat to
    act; off turn and after the end it is all zeros. `last()` gives the rewards since the agent's own last decision.

    rules, num_players, skip_forced, max_decisions: as `tabletop.Tables` takes them.
    render_mode: None, "ansi" (`render` returns what the seat to act knows, as text) or "human" (it is printed at every step).

    A copy (`copy.deepcopy`, `pickle`) at any moment goes on exactly as this one; `state_bytes` is the same for storage.
    """

    def __init__(
        self,
        game: str | Game,
        num_players: int | None = None,
        rules: Rules | str | None = None,
        render_mode: str | None = None,
        *,
        skip_forced: bool = True,
        max_decisions: int | None = None,
    ) -> None:
        super().__init__()
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise ValueError(f"render_mode must be None or one of {', '.join(RENDER_MODES)}, not {render_mode!r}")
        self.tables = Tables(
            game, 1, num_players, rules, seed=None, skip_forced=skip_forced, autoreset="disabled", max_decisions=max_decisions
        )
        self.game = self.tables.game
        self.variant = self.tables.variants[0]
        self.render_mode = render_mode
        self.metadata = {
            "name": f"{self.game.name}_v0",
            "render_modes": list(RENDER_MODES),
            "is_parallelizable": False,
            "render_fps": 2,
        }
        self.possible_agents = [f"player_{seat}" for seat in range(self.variant.players)]
        self.agents: list[str] = []
        self._live = False  # a game is begun by `reset`
        layout, actions = self.game.layout, self.game.num_actions
        self.observation_spaces = {
            agent: spaces.Dict(
                observation=spaces.Box(layout.low, layout.high, dtype=layout.dtype.type),
                action_mask=spaces.Box(0, 1, (actions,), np.int8),
            )
            for agent in self.possible_agents
        }
        self.action_spaces = {agent: spaces.Discrete(actions) for agent in self.possible_agents}
        self._bind()

    def _bind(self) -> None:
        """Look up once what every step needs: views of the tables' arrays, and the arguments of their compiled step."""
        tables = self.tables
        self._names = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self._row = np.zeros(1, np.int64)
        self._action = np.zeros(1, np.int64)
        self._viewer = np.zeros(1, np.int64)
        self._observation, self._mask, self._earned = tables.observation[0], tables.action_mask[0], tables.earned[0]
        self._step_one, self._arguments = tables.one_step(self._row, self._action)

    def __getstate__(self) -> dict[str, Any]:
        bound = ("_names", "_row", "_action", "_viewer", "_observation", "_mask", "_earned", "_step_one", "_arguments")
        return {name: value for name, value in self.__dict__.items() if name not in bound}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._bind()

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The space of the agent's observations: the same object at every call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Discrete(A): the same object at every call. `.sample(action_mask)` samples legal actions."""
        return self.action_spaces[agent]

    # -- the loop of play ----------------------------------------------------------------------------------------------

    def reset(self, seed: int | tuple[int, int] | None = None, options: dict[str, Any] | None = None) -> None:  # type: ignore[override]
        """Deal a game: that of `seed`, a whole number or a pair (seed, row); with None the next one after the game before.

        options: a set-up, as the game takes it ({"record": bytes of `state_bytes`}, {"text": …}, or one of the game's own, such
        as {"deck": […]}). SetupError names what is wrong with it, and the game before stands.
        """
        # PettingZoo's api_test passes {"options": 1} to any environment: that one name means nothing
        given = {name: value for name, value in options.items() if name != "options"} if isinstance(options, dict) else options
        self.tables.reset(seed, options=given)
        self.agents = self.possible_agents.copy()
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._told = self._earned.tolist()
        self._skip_agent_selection = None
        self._turn()

    def step(self, action: int | np.integer | str | None) -> None:
        """Take one decision of `agent_selection`: the action's number or its name. None for an agent whose game is over.

        UnknownAction, IllegalAction and StepAfterEnd change nothing.
        """
        if not self._live:
            self._step_dead(action)
            return
        chosen = action if action.__class__ is int else self.game.action(action)  # type: ignore[arg-type]
        if not 0 <= chosen < self._mask.size or not self._mask.item(chosen):  # type: ignore[operator,arg-type]
            raise self.tables.fault(0, chosen)  # type: ignore[arg-type]
        self._action[0] = chosen
        self.tables.check_row(self._step_one(*self._arguments))
        earned = self._earned.tolist()
        if earned != self._told:
            self._told = earned
            paid = self.tables.rewards[0].tolist()
            for seat, agent in enumerate(self.possible_agents):
                self.rewards[agent] = paid[seat]
                self._cumulative_rewards[agent] = earned[seat]
        self._turn()
        if self.render_mode == "human":
            self.render()

    def _turn(self) -> None:
        """Say whose turn it is; when the game is over every agent gets one, from the first on, to see its last reward."""
        seat = self.tables.seat.item()
        self._live = seat >= 0
        if self._live:
            self.agent_selection = self.possible_agents[seat]
        else:
            self.terminations = dict.fromkeys(self.agents, bool(self.tables.terminated[0]))
            self.truncations = dict.fromkeys(self.agents, bool(self.tables.truncated[0]))
            self.agent_selection = self.agents[0]

    def _step_dead(self, action: Any) -> None:
        if not self.agents:
            raise StepAfterEnd(f"no game of {self.game.name} is being played: call reset()")
        if action is not None:
            raise StepAfterEnd(f"the game of {self.game.name} is over: {self.agent_selection} can only step(None), or call reset()")
        self._was_dead_step(action)

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """What the agent knows, on turn or not, and after the end: a new dictionary of new arrays."""
        if self._live and agent == self.agent_selection:
            return {"observation": self._observation.copy(), "action_mask": self._mask.copy()}
        known = np.empty((1, self._observation.size), self._observation.dtype)
        self._viewer[0] = self._names[agent]
        self.tables.observe(self._viewer, out=known)
        return {"observation": known[0], "action_mask": np.zeros_like(self._mask)}

    def last(self, observe: bool = True) -> tuple[dict[str, np.ndarray] | None, float, bool, bool, dict[str, Any]]:
        """Observation, reward since the agent's own last decision, terminated, truncated and info of `agent_selection`."""
        agent = self.agent_selection
        return (
            self.observe(agent) if observe else None,
            self._cumulative_rewards[agent],
            self.terminations[agent],
            self.truncations[agent],
            self.infos[agent],
        )

    # -- copies and pictures -------------------------------------------------------------------------------------------

    def state_bytes(self) -> bytes:
        """The position, complete. `reset(options={"record": …})` of an environment of the same variant goes on from it."""
        return self.game.to_bytes(self.tables.records[0])

    def render(self) -> str | None:  # type: ignore[override]
        """What the seat to act knows, as text: returned ("ansi") or printed ("human")."""
        if self.render_mode is None:
            logger.warn("render() was called on an environment made without a render_mode; give render_mode='ansi' or 'human'")
            return None
        text = self.game.text(self.tables.records[0], self._names.get(self.agent_selection, 0))
        if self.render_mode == "ansi":
            return text
        print(text, flush=True)
        return None

    def close(self) -> None:
        """Nothing is held that would have to be released."""


def raw_env(game: str | Game, num_players: int | None = None, rules: Rules | str | None = None, **options: Any) -> RawEnv:
    """One table without wrappers: fastest, and an illegal action is an IllegalAction."""
    return RawEnv(game, num_players, rules, **options)


def env(game: str | Game, num_players: int | None = None, rules: Rules | str | None = None, **options: Any) -> AECEnv[Any, Any, Any]:
    """One table in PettingZoo's customary wrappers (see `wrap`)."""
    return wrap(RawEnv(game, num_players, rules, **options))


def wrap(raw: RawEnv) -> AECEnv[Any, Any, Any]:
    """PettingZoo's customary wrappers: an illegal action ends the game with -1 for its agent and 0 for the others, an action that
    is no action is an AssertionError, and calls out of order are told."""
    return _Ordered(_InBounds(_Legal(raw, illegal_reward=ILLEGAL_REWARD)))


def _straight(name: str) -> property:
    """An attribute of the raw environment, read in one step: PettingZoo's wrappers ask each other in turn, ten times a decision."""

    def read(self: Any) -> Any:
        if self.__dict__.get("_has_reset", True):
            return getattr(self.raw, name)
        raise AttributeError(name)  # then the wrapper's own __getattr__ says what is wrong

    return property(read)


class _Straight:
    """PettingZoo's wrapper as it is, but that it reads the raw environment's attributes from there."""

    agent_selection = _straight("agent_selection")
    agents = _straight("agents")
    rewards = _straight("rewards")
    terminations = _straight("terminations")
    truncations = _straight("truncations")
    infos = _straight("infos")
    _cumulative_rewards = _straight("_cumulative_rewards")

    def __init__(self, env: AECEnv[Any, Any, Any], **options: Any) -> None:
        self.raw = env.unwrapped
        super().__init__(env, **options)  # type: ignore[call-arg]

    def __str__(self) -> str:
        return str(self.raw)


class _Legal(_Straight, TerminateIllegalWrapper):
    def step(self, action: Any) -> None:
        super().step(action)
        if self._terminated:
            self.raw._live = False  # nobody is to act: all masks are zeros


class _InBounds(_Straight, AssertOutOfBoundsWrapper):
    pass


class _Ordered(_Straight, OrderEnforcingWrapper):
    pass
