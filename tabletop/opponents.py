"""Who plays the seats that a learner does not: ways to name opponents, and the list of those at the tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard, cast

import numpy as np

from tabletop.agent import Agent, Player, Searcher
from tabletop.errors import UnknownAction
from tabletop.sampling import random_actions

if TYPE_CHECKING:
    from tabletop.tables import Tables

KEPT_AGENTS = 32  # agents that no table refers to are forgotten when there are more than this


class RandomOpponent:
    """Plays every legal action with the same probability."""

    name = "random"

    def act(self, observation: np.ndarray, action_mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return random_actions(action_mask, rng)


def drawer(opponents: Any) -> Callable[[np.random.Generator], Player]:
    """Opponents in any of the ways that `LearnerTables` takes, as a function that draws one."""
    if opponents is None:
        opponents = RandomOpponent()
    if is_player(opponents):
        return Always(opponents)
    if callable(getattr(opponents, "draw", None)):
        return opponents.draw
    if callable(opponents):
        return opponents
    agents = tuple(opponents) if isinstance(opponents, Sequence) and not isinstance(opponents, str) else ()
    if not agents or not all(is_player(agent) for agent in agents):
        raise TypeError(f"opponents must be an agent, a sequence of agents, or something that draws agents, not {opponents!r}")
    return OneOf(agents)


class Always:
    """Draws the one agent there is, without using the generator."""

    def __init__(self, agent: Player) -> None:
        self.agent = agent

    def __call__(self, rng: np.random.Generator) -> Player:
        return self.agent


class OneOf:
    """Draws one of some agents, each with the same probability."""

    def __init__(self, agents: tuple[Player, ...]) -> None:
        self.agents = agents

    def __call__(self, rng: np.random.Generator) -> Player:
        return self.agents[int(rng.integers(len(self.agents)))]


class Roster:
    """The agents at the tables, each at a place that stays its own for as long as one of the arrays `used_in` holds it."""

    def __init__(self, used_in: tuple[np.ndarray, ...]) -> None:
        self.agents: list[Player] = []
        self.used_in = used_in

    def place(self, agent: Player) -> int:
        """The place of an agent, a new one if it has none."""
        for place, known in enumerate(self.agents):
            if known is agent:
                return place
        if not is_player(agent):
            raise TypeError(
                f"an opponent must have act(observation, action_mask, rng) or act_on(positions, action_mask, rng), unlike {agent!r}"
            )
        if len(self.agents) >= KEPT_AGENTS:
            used = set(np.unique(np.concatenate([array.ravel() for array in self.used_in])).tolist())
            for place in range(len(self.agents)):
                if place not in used:
                    self.agents[place] = agent
                    return place
        self.agents.append(agent)
        return len(self.agents) - 1


def answer(agent: Player, tables: Tables, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The agent's actions (n,) for the decisions at `rows` of tables: the one place where agents are asked.

    A `Searcher` gets determinized copies of the positions, any other agent the observations. UnknownAction, which names the agent,
    if it gives anything but n whole numbers.
    """
    if is_searcher(agent):
        positions = tables.determinize(tables.records[rows], tables.seat[rows], int(rng.integers(2**63)))
        acted = np.asarray(agent.act_on(positions, tables.action_mask[rows], rng))
    else:
        acted = np.asarray(cast(Agent, agent).act(tables.observation[rows], tables.action_mask[rows], rng))
    if acted.shape != rows.shape or acted.dtype.kind not in "iu":
        told = f"an array of shape {acted.shape}, {acted.dtype}"
        raise UnknownAction(f"agent {name_of(agent)} was asked for {rows.size} actions and gave {told}")
    return acted


def is_searcher(agent: Any) -> TypeGuard[Searcher]:
    return callable(getattr(agent, "act_on", None))


def is_player(agent: Any) -> bool:
    """Can it be asked for actions, in either way?"""
    return is_searcher(agent) or callable(getattr(agent, "act", None))


def name_of(agent: Any) -> str:
    """An agent's name, for messages."""
    return str(getattr(agent, "name", type(agent).__name__))
