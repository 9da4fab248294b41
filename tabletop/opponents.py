"""Who plays the seats that a learner does not: ways to name opponents, and the list of those at the tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tabletop.agent import Agent
from tabletop.errors import UnknownAction
from tabletop.sampling import random_actions

KEPT_AGENTS = 32  # agents that no table refers to are forgotten when there are more than this


class RandomOpponent:
    """Plays every legal action with the same probability."""

    name = "random"

    def act(self, observation: np.ndarray, action_mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return random_actions(action_mask, rng)


def drawer(opponents: Any) -> Callable[[np.random.Generator], Agent]:
    """Opponents in any of the ways that `LearnerTables` takes, as a function that draws one."""
    if opponents is None:
        opponents = RandomOpponent()
    if callable(getattr(opponents, "act", None)):
        return Always(opponents)
    if callable(getattr(opponents, "draw", None)):
        return opponents.draw
    if callable(opponents):
        return opponents
    agents = tuple(opponents) if isinstance(opponents, Sequence) and not isinstance(opponents, str) else ()
    if not agents or not all(callable(getattr(agent, "act", None)) for agent in agents):
        raise TypeError(f"opponents must be an agent, a sequence of agents, or something that draws agents, not {opponents!r}")
    return OneOf(agents)


class Always:
    """Draws the one agent there is, without using the generator."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent

    def __call__(self, rng: np.random.Generator) -> Agent:
        return self.agent


class OneOf:
    """Draws one of some agents, each with the same probability."""

    def __init__(self, agents: tuple[Agent, ...]) -> None:
        self.agents = agents

    def __call__(self, rng: np.random.Generator) -> Agent:
        return self.agents[int(rng.integers(len(self.agents)))]


class Roster:
    """The agents at the tables, each at a place that stays its own for as long as one of the arrays `used_in` holds it."""

    def __init__(self, used_in: tuple[np.ndarray, ...]) -> None:
        self.agents: list[Agent] = []
        self.used_in = used_in

    def place(self, agent: Agent) -> int:
        """The place of an agent, a new one if it has none."""
        for place, known in enumerate(self.agents):
            if known is agent:
                return place
        if not callable(getattr(agent, "act", None)):
            raise TypeError(f"an opponent must have act(observation, action_mask, rng), unlike {agent!r}")
        if len(self.agents) >= KEPT_AGENTS:
            used = set(np.unique(np.concatenate([array.ravel() for array in self.used_in])).tolist())
            for place in range(len(self.agents)):
                if place not in used:
                    self.agents[place] = agent
                    return place
        self.agents.append(agent)
        return len(self.agents) - 1


def answer(agent: Agent, observation: np.ndarray, action_mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The agent's actions (n,) for n decisions; UnknownAction, which names it, if it gives anything but n whole numbers."""
    acted = np.asarray(agent.act(observation, action_mask, rng))
    if acted.shape != observation.shape[:1] or acted.dtype.kind not in "iu":
        told = f"an array of shape {acted.shape}, {acted.dtype}"
        raise UnknownAction(f"agent {name_of(agent)} was asked for {len(observation)} actions and gave {told}")
    return acted


def name_of(agent: Any) -> str:
    """An agent's name, for messages."""
    return str(getattr(agent, "name", type(agent).__name__))
