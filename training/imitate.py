"""Warm start: a network learns to play as a teacher (a heuristic) does, and to foresee how the teacher's games end.

The teacher plays itself on fresh deals in batches; every decision is a sample (observation, mask, the teacher's action, what the
seat got in the end). One pass over the stream, no stored data set.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import tabletop
from agents.policy import PolicyAgent, with_lookahead
from tabletop.agent import Agent
from tabletop.registry import Game
from tabletop.rules import Variant
from tabletop.sampling import random_actions


class TeacherStream:
    """Decisions of a teacher that plays itself at `num_tables` tables, game after game, some moves being random.

    explore: share of decisions that are played at random instead, so that positions off the teacher's own path are seen too;
    the sample's action is the teacher's all the same.
    """

    def __init__(
        self, game: Game, variants: Sequence[Variant], teacher: Agent, num_tables: int, seed: int, explore: float = 0.05,
        lookahead: Any = None,
    ) -> None:  # fmt: skip
        self.teacher, self.explore, self.lookahead = teacher, explore, lookahead
        of = [variants[i % len(variants)] for i in range(num_tables)]
        self.tables = tabletop.Tables(
            game, num_tables, [v.players for v in of], [v.rules for v in of], seed=(seed, 1 << 40), autoreset="same_step"
        )
        self.rng = np.random.default_rng((seed, 1))
        width = self.tables.observation.shape[1] + ((game.num_actions + 1) * len(lookahead.features) if lookahead else 0)
        self._open = {  # decisions of the games under way
            "observation": np.empty((0, width), self.tables.observation.dtype),
            "mask": self.tables.action_mask[:0],
            "action": np.empty(0, np.int64),
            "seat": np.empty(0, np.int64),
            "table": np.empty(0, np.int64),
        }

    def samples(self, steps: int) -> dict[str, np.ndarray]:
        """Play `steps` steps of all tables. The decisions of all games that ended in them: observation, mask, action, outcome.

        Decisions of games that go on are kept until those end: else the openings of games that are longer than `steps` would
        never be learned from.
        """
        tables, n = self.tables, self.tables.num_tables
        asked: dict[str, np.ndarray] = {
            "observation": np.empty((steps, n, self._open["observation"].shape[1]), tables.observation.dtype),
            "mask": np.empty((steps, *tables.action_mask.shape), np.int8),
            "action": np.empty((steps, n), np.int64),
            "seat": np.empty((steps, n), np.int64),
            "table": np.broadcast_to(np.arange(n), (steps, n)),
        }
        ended = np.empty((steps, n), np.bool_)
        rewards = np.empty((steps, *tables.rewards.shape), np.float32)
        for t in range(steps):
            observation, mask = tables.observation.copy(), tables.action_mask.copy()
            if self.lookahead:
                observation = with_lookahead(self.lookahead, observation, mask)
            action = self.teacher.act(observation, mask, self.rng)
            for name, value in (("observation", observation), ("mask", mask), ("action", action), ("seat", tables.seat)):
                asked[name][t] = value
            played = action.copy()
            astray = self.rng.random(n) < self.explore
            if astray.any():
                played[astray] = random_actions(mask[astray], self.rng)
            tables.step(played)
            ended[t], rewards[t] = tables.terminated | tables.truncated, tables.rewards
        next_end = np.full(n, steps)  # the step in which the game under way ends; `steps`: not in these
        end = np.empty((steps, n), np.int64)
        for t in range(steps - 1, -1, -1):
            next_end[ended[t]] = t
            end[t] = next_end
        told = {name: np.concatenate([self._open[name], value.reshape(-1, *value.shape[2:])]) for name, value in asked.items()}
        ends = np.concatenate([next_end[self._open["table"]], end.ravel()])
        over = ends < steps
        self._open = {name: value[~over] for name, value in told.items()}
        done = {name: value[over] for name, value in told.items()}
        outcome = rewards[ends[over], done.pop("table"), done.pop("seat")]  # each decision gets what its seat got in the end
        return {**done, "outcome": outcome}


def imitate(
    game: Game,
    variants: Sequence[Variant],
    network: Any,
    teacher: Agent,
    finished: Callable[[int], float],
    seed: int = 0,
    learning_rate: float = 1e-3,
    num_tables: int = 256,
    steps: int = 160,
    batch_size: int = 1024,
) -> int:
    """Train `network` on the teacher's decisions until finished(decisions so far) reaches 1 (it gives the share done). Returns
    the number of decisions learned from."""
    from torch.nn import functional

    def loss(logits: Any, values: Any, mask: Any, action: Any, outcome: Any) -> Any:
        masked = logits.masked_fill(mask == 0, -1e9)
        return functional.cross_entropy(masked, action) + 0.5 * functional.mse_loss(values, outcome)

    stream = TeacherStream(game, variants, teacher, num_tables, seed)
    return _learn(stream, network, loss, finished, (seed, 2), learning_rate, steps, batch_size)


def foresee(
    game: Game,
    variants: Sequence[Variant],
    network: Any,
    finished: Callable[[int], float],
    seed: int = 0,
    learning_rate: float = 1e-3,
    num_tables: int = 256,
    steps: int = 64,
    batch_size: int = 1024,
) -> int:
    """Train a network that is a player already, by its lookahead, to foresee how its own games end; else as `imitate`."""
    from torch.nn import functional

    def loss(logits: Any, values: Any, mask: Any, action: Any, outcome: Any) -> Any:
        return functional.mse_loss(values, outcome)

    player = PolicyAgent(game, copy.deepcopy(network), "start")
    stream = TeacherStream(game, variants, player, num_tables, seed, lookahead=network.lookahead)
    return _learn(stream, network, loss, finished, (seed, 2), learning_rate, steps, batch_size)


def _learn(
    stream: TeacherStream, network: Any, loss_of: Any, finished: Callable[[int], float], seed: tuple[int, int], learning_rate: float,
    steps: int, batch_size: int,
) -> int:  # fmt: skip
    import torch

    optimizer = torch.optim.Adam(network.parameters(), lr=learning_rate)
    shuffler = np.random.default_rng(seed)
    done = 0
    network.train()
    while (share := finished(done)) < 1:
        data = stream.samples(steps)
        order = shuffler.permutation(len(data["action"]))
        for group in optimizer.param_groups:
            group["lr"] = learning_rate * max(1.0 - share, 0.05)
        for lo in range(0, len(order), batch_size):
            pick = order[lo : lo + batch_size]
            logits, values = network(torch.from_numpy(data["observation"][pick]))
            loss = loss_of(logits, values, *(torch.from_numpy(data[name][pick]) for name in ("mask", "action", "outcome")))
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
        done += len(order)
        if finished(done) >= 1:
            break
    return done
