"""The opponents of a learner: frozen past selves, the game's heuristic, the random player, drawn at the start of each game."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from agents.named import heuristic
from agents.policy import PolicyAgent, load_weights, make_network, save_weights
from agents.random_agent import RandomAgent
from tabletop.agent import Agent
from tabletop.registry import Game
from tabletop.rules import Variant
from training.files import replaced

ACTIVE = 3  # past selves drawn from at a time: each costs a network call at every step


class Opponents:
    """Draws an opponent for a game that starts. Past selves never change once they are in; they lie in `folder` by name.

    With few past selves the rest of their share goes to the heuristic, and without a heuristic to the random player. variants: those
    that are played, for which heuristic and past selves are made.
    """

    def __init__(
        self, game: Game, network: dict[str, Any], folder: Path, share_heuristic: float, share_random: float, most: int, seed: int,
        variants: Sequence[Variant] = (),
    ) -> None:  # fmt: skip
        self.game, self.network, self.folder, self.most, self.variants = game, network, folder, most, variants
        self.heuristic = heuristic(game, variants)
        self.random = RandomAgent()
        self.shares = (share_heuristic if self.heuristic else 0.0, share_random)
        self.past: dict[str, PolicyAgent] = {}
        self.active: list[str] = []
        self.rng = np.random.default_rng((seed, 3))

    def draw(self, rng: np.random.Generator) -> Agent:
        chance = rng.random()
        if chance < self.shares[1]:
            return self.random
        if self.heuristic and (chance < sum(self.shares) or not self.active):
            return self.heuristic
        if not self.active:
            return self.random
        return self.past[self.active[int(rng.integers(len(self.active)))]]

    def add(self, network: object, decisions: int) -> None:
        """Freeze a copy of the network as a past self, and choose anew who is drawn from: the newest and some older ones."""
        name = f"past-{decisions:012d}"
        if name not in self.past:
            with replaced(self.folder / f"{name}.safetensors") as temporary:
                save_weights(temporary, network)
            self.past[name] = PolicyAgent(self.game, copy.deepcopy(network), name, greedy=False)
        if len(self.past) > self.most:  # the oldest but one goes: the first self stays, as a yardstick
            del self.past[list(self.past)[min(1, self.most - 1)]]
        older = [n for n in self.past if n != name]
        picked = self.rng.permutation(len(older))[: ACTIVE - 1]
        self.active = [name, *(older[int(i)] for i in picked)]

    def named(self, name: str) -> Agent:
        """The opponent of that name: what a stored state refers to."""
        for agent in (self.random, self.heuristic):
            if agent and agent.name == name:
                return agent
        return self.past.get(name) or self._load(name)  # loaded: no longer drawn from, but still at a table

    def _load(self, name: str) -> PolicyAgent:
        network = make_network(self.game, self.network, self.variants)
        load_weights(self.folder / f"{name}.safetensors", network)
        return PolicyAgent(self.game, network, name, greedy=False)

    def state(self) -> dict[str, Any]:
        return {"past": list(self.past), "active": self.active, "rng": self.rng.bit_generator.state}

    def restore(self, state: dict[str, Any]) -> None:
        self.past = {name: self._load(name) for name in state["past"]}
        self.active = list(state["active"])
        self.rng.bit_generator.state = state["rng"]
