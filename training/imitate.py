"""Warm start: a network learns to play as a teacher (a heuristic) does, and to foresee how the teacher's games end.

The teacher plays itself on fresh deals in batches; every decision is a sample (observation, mask, the teacher's action, what the
seat got in the end). One pass over the stream, no stored data set.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import tabletop
from tabletop.agent import Agent
from tabletop.registry import Game
from tabletop.rules import Variant
from tabletop.sampling import random_actions


class TeacherStream:
    """Decisions of a teacher that plays itself at `num_tables` tables, game after game, some moves being random.

    explore: share of decisions that are played at random instead, so that positions off the teacher's own path are seen too;
    the sample's action is the teacher's all the same.
    """

    def __init__(self, game: Game, variants: Sequence[Variant], teacher: Agent, num_tables: int, seed: int, explore: float = 0.05) -> None:
        self.teacher, self.explore = teacher, explore
        of = [variants[i % len(variants)] for i in range(num_tables)]
        self.tables = tabletop.Tables(
            game, num_tables, [v.players for v in of], [v.rules for v in of], seed=(seed, 1 << 40), autoreset="same_step"
        )
        self.rng = np.random.default_rng((seed, 1))

    def samples(self, steps: int) -> dict[str, np.ndarray]:
        """The decisions of `steps` steps of all tables whose games ended in them: observation, mask, action, outcome."""
        tables, n = self.tables, self.tables.num_tables
        observation = np.empty((steps, *tables.observation.shape), tables.observation.dtype)
        mask = np.empty((steps, *tables.action_mask.shape), np.int8)
        action = np.empty((steps, n), np.int64)
        seat = np.empty((steps, n), np.int64)
        ended = np.empty((steps, n), np.bool_)
        rewards = np.empty((steps, *tables.rewards.shape), np.float32)
        for t in range(steps):
            observation[t], mask[t], seat[t] = tables.observation, tables.action_mask, tables.seat
            action[t] = self.teacher.act(observation[t], mask[t], self.rng)
            played = action[t].copy()
            astray = self.rng.random(n) < self.explore
            if astray.any():
                played[astray] = random_actions(mask[t][astray], self.rng)
            tables.step(played)
            ended[t], rewards[t] = tables.terminated | tables.truncated, tables.rewards
        outcome = np.zeros((steps, n), np.float32)
        known = np.zeros((steps, n), np.bool_)
        final, over = rewards[-1], np.zeros(n, np.bool_)
        for t in range(steps - 1, -1, -1):  # each decision gets what its seat got at the end of its game
            over = over | ended[t]
            final = np.where(ended[t][:, None], rewards[t], final)
            outcome[t], known[t] = final[np.arange(n), seat[t]], over
        return {"observation": observation[known], "mask": mask[known], "action": action[known], "outcome": outcome[known]}


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
    import torch
    from torch.nn import functional

    stream = TeacherStream(game, variants, teacher, num_tables, seed)
    optimizer = torch.optim.Adam(network.parameters(), lr=learning_rate)
    shuffler = np.random.default_rng((seed, 2))
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
            masked = logits.masked_fill(torch.from_numpy(data["mask"][pick]) == 0, -1e9)
            loss = functional.cross_entropy(masked, torch.from_numpy(data["action"][pick]))
            loss = loss + 0.5 * functional.mse_loss(values, torch.from_numpy(data["outcome"][pick]))
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
        done += len(order)
        if finished(done) >= 1:
            break
    return done
