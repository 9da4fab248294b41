"""Agents by name, for a game: `random`, `heuristic`, `policy:PATH`."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path

from agents.random_agent import RandomAgent
from tabletop.agent import Agent, Player
from tabletop.errors import CheckpointError
from tabletop.registry import Game
from tabletop.rules import Variant


class UnknownAgent(ValueError):
    """There is no agent of that name."""


def heuristic(game: Game) -> Agent | None:
    """The game's heuristic: `HEURISTIC` of the module agents.<game>_heuristic, if there is one. Making it compiles it."""
    return importlib.import_module(f"agents.{game.name}_heuristic").HEURISTIC() if has_heuristic(game) else None


def has_heuristic(game: Game) -> bool:
    return importlib.util.find_spec(f"agents.{game.name}_heuristic") is not None


def baselines(game: Game) -> list[Player]:
    """The players of a game that need no training, weakest first."""
    found = heuristic(game)
    return [RandomAgent(), *([found] if found else [])]


def agent(game: Game, name: str, variant: Variant | None = None, any_variant: bool = False) -> Player:
    """The agent of that name; UnknownAgent lists what there is. variant: what a policy must have been trained for."""
    if name == "random":
        return RandomAgent()
    if name == "heuristic" and (found := heuristic(game)):
        return found
    if name.startswith("policy:"):
        from agents.policy import PolicyAgent

        path = Path(name.removeprefix("policy:"))
        policy = PolicyAgent.load(path, variant, any_variant)
        if policy.game.name != game.name:
            raise CheckpointError(f"{path} is a policy of {policy.game.name}, not of {game.name}")
        return policy
    known = ["random", *(["heuristic"] if has_heuristic(game) else []), "policy:PATH"]
    raise UnknownAgent(f"no agent of {game.name} is called {name!r}; there are {', '.join(known)}")
