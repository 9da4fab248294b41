"""The warm start: what the stream of samples says of whole games, and that the network takes it in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

import tabletop
from agents.named import heuristic
from agents.policy import PolicyAgent, make_network
from agents.random_agent import RandomAgent
from tabletop import plain
from tabletop.agent import Agent
from training.evaluate import evaluate
from training.imitate import TeacherStream, imitate

GAME = tabletop.game("beyond")
VARIANTS = [GAME.variant("", 2), GAME.variant("summoning=true", 3), GAME.variant("protection=true", 4)]
FIRST_DEAL = 1 << 40


class Teacher:
    """The heuristic, which keeps what it was asked."""

    name = "teacher"

    def __init__(self) -> None:
        agent = heuristic(GAME)
        assert agent is not None
        self.agent: Agent = agent
        self.asked = 0

    def act(self, observation: np.ndarray, action_mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        self.asked += len(observation)
        return self.agent.act(observation, action_mask, rng)


@pytest.mark.parametrize("explore", [0.0, 0.3])
def test_samples_are_those_of_whole_games(explore: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every game is played again, one action after the other, without the kit's loops; outcomes are those of its end."""
    teacher, steps, tables = Teacher(), 90, 9
    stream = TeacherStream(GAME, VARIANTS, teacher, tables, seed=4, explore=explore)
    played: list[np.ndarray] = []
    step = stream.tables.step

    def kept(actions: Any) -> None:
        played.append(actions.copy())
        step(actions)

    monkeypatch.setattr(stream.tables, "step", kept)
    chunks = [stream.samples(steps) for _ in range(4)]
    expected: list[list[tuple[int, int, bytes, bytes, int, float]]] = [[] for _ in chunks]  # (step, table, …), as samples are in order
    carried = 0
    for table in range(tables):
        records, number, deciding, at = None, 0, [], 0
        while at < len(played):
            if records is None:
                records = plain.first_record(GAME, VARIANTS[table % 3], 4, FIRST_DEAL + table, number)
            mask = plain.mask_of(GAME, records)
            if mask.sum() == 1:
                action = int(mask.argmax())
            else:
                seen = np.zeros((1, GAME.layout.size), GAME.layout.dtype)
                seat = int(records["seat"][0])
                GAME.module("observation").observe(records, 0, seat, seen[0])
                advised = int(teacher.agent.act(seen, mask[None], np.random.default_rng(0))[0])
                deciding.append((at, seat, seen[0].tobytes(), mask.tobytes(), advised))
                action = int(played[at][table])
                at += 1
            plain.act(GAME, records, action)
            while records["over"][0] == 0 and (forced := plain.mask_of(GAME, records)).sum() == 1:
                plain.act(GAME, records, int(forced.argmax()))
            if records["over"][0]:
                paid = plain.returns(records[0], 4)
                for when, seat, observation, legal, advised in deciding:
                    expected[(at - 1) // steps].append((when, table, observation, legal, advised, float(paid[seat])))
                    carried += when // steps < (at - 1) // steps
                records, number, deciding = None, number + 1, []
    assert carried > 500
    for chunk, right in zip(chunks, expected, strict=True):
        right.sort(key=lambda sample: sample[:2])
        assert len(chunk["action"]) == len(right)
        assert [row.tobytes() for row in chunk["observation"]] == [sample[2] for sample in right]
        assert [row.tobytes() for row in chunk["mask"]] == [sample[3] for sample in right]
        assert chunk["action"].tolist() == [sample[4] for sample in right]
        assert np.allclose(chunk["outcome"], [sample[5] for sample in right])
        assert chunk["mask"][np.arange(len(right)), chunk["action"]].all()
    assert sum(map(len, expected)) > 1500
    assert len(set(np.concatenate([chunk["outcome"] for chunk in chunks]).round(3).tolist())) > 3


def loss_on(network: Any, data: dict[str, np.ndarray]) -> tuple[float, float]:
    """(cross entropy of the teacher's actions, squared error of the outcomes)"""
    with torch.no_grad():
        logits, values = network(torch.from_numpy(data["observation"]))
        masked = logits.masked_fill(torch.from_numpy(data["mask"]) == 0, -1e9)
        entropy = functional.cross_entropy(masked, torch.from_numpy(data["action"]))
        return float(entropy), float(functional.mse_loss(values, torch.from_numpy(data["outcome"])))


def test_the_loss_falls_and_play_gets_better() -> None:
    torch.manual_seed(1)
    network = make_network(GAME, {"hidden": [64], "channels": [8]})
    data = TeacherStream(GAME, VARIANTS[:1], Teacher(), 64, seed=99).samples(200)
    before = loss_on(network, data)
    told: list[int] = []

    def finished(done: int) -> float:
        told.append(done)
        return done / 40_000

    done = imitate(GAME, VARIANTS[:1], network, Teacher(), finished, seed=1, num_tables=64, batch_size=256)
    after = loss_on(network, data)
    assert after[0] < 0.8 * before[0] and after[1] < before[1]
    assert done == told[-1] >= 40_000 and told == sorted(told)
    share = evaluate(GAME, PolicyAgent(GAME, network), VARIANTS[:1], 100, opponents=[RandomAgent()])[0].share
    assert share.low > 0.6, share


def test_the_same_seed_gives_the_same_network() -> None:
    def trained(seed: int) -> bytes:
        torch.manual_seed(1)
        network = make_network(GAME, {"hidden": [16], "channels": [8]})
        imitate(GAME, VARIANTS, network, Teacher(), lambda done: done / 1000, seed, num_tables=9)
        return b"".join(value.numpy().tobytes() for value in network.state_dict().values())

    assert trained(1) == trained(1) != trained(2)


def test_nothing_is_learned_when_there_is_no_time() -> None:
    network = make_network(GAME, {"hidden": [16], "channels": [8]})
    teacher = Teacher()
    assert imitate(GAME, VARIANTS, network, teacher, lambda done: 1.0, 1, num_tables=9) == 0
    assert teacher.asked == 0
