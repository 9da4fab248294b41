"""Guided search: what its tree holds, whom a value belongs to, and budgets of memory and time that do not depend on the company."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tabletop
from agents import guided
from agents.guided import GuidedAgent, Trees

GAME = tabletop.game("beyond")


class Judge:
    """Stands for a policy: uniform but for a liking for late actions, and of a worth that is the same for every seat."""

    name = "judge"
    game = GAME

    def __init__(self, worth: float = 0.0) -> None:
        self.worth = worth

    def logits(self, observation: np.ndarray, action_mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        likes = np.where(action_mask == 1, np.arange(action_mask.shape[1]) / 10.0, -np.inf)
        return likes.astype(np.float32), np.full(len(action_mask), self.worth, np.float32)


def positions(players: int, count: int = 6, seed: int = 3, choices: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Positions of random games in which the seat to act has at least so many choices, as searchers get them, and their masks."""
    tables = tabletop.Tables(GAME, 256, players, seed=seed)
    rng = np.random.default_rng(seed)
    for _ in range(25):
        tables.step(tabletop.sampling.random_actions(tables.action_mask, rng))
    rows = np.flatnonzero((tables.seat >= 0) & (tables.action_mask.sum(axis=1) >= choices))[:count]
    assert rows.size == count
    return tables.determinize(tables.records[rows], tables.seat[rows], 1), tables.action_mask[rows].copy()


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch) -> list[Trees]:
    """The trees of every search, in the order in which they were begun."""
    made: list[Trees] = []

    class Kept(Trees):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            made.append(self)

    agent = GuidedAgent(GAME, Judge())  # type: ignore[arg-type]  # compiles
    assert agent.iterations == guided.ITERATIONS
    monkeypatch.setattr(guided, "Trees", Kept)
    return made


def act(agent: GuidedAgent, asked: tuple[np.ndarray, np.ndarray]) -> list[int]:
    return agent.act_on(*asked, np.random.default_rng(0)).tolist()


def test_the_root_has_room_for_every_action(monkeypatch: pytest.MonkeyPatch) -> None:
    """However few nodes there are for an iteration: with a single one the policy's choice is played."""
    monkeypatch.setattr(guided, "CHILDREN", 1)
    asked = positions(2)
    favourite = asked[1].shape[1] - 1 - asked[1][:, ::-1].argmax(axis=1)
    assert act(GuidedAgent(GAME, Judge(), iterations=1), asked) == favourite.tolist()  # type: ignore[arg-type]


def test_a_leaf_gets_all_its_children_or_none(monkeypatch: pytest.MonkeyPatch, searched: list[Trees]) -> None:
    """Once the nodes are used up no leaf is left with the first of its actions alone."""
    monkeypatch.setattr(guided, "CHILDREN", 1)
    asked = positions(3)
    actions = act(GuidedAgent(GAME, Judge(), iterations=100), asked)  # type: ignore[arg-type]
    assert (asked[1][np.arange(6), actions] == 1).all()
    (trees,) = searched
    assert (trees.size[:, 0] > 150).all()  # nearly full
    for nodes in trees.nodes:
        assert nodes["visits"][0] == 100
        for parent in np.flatnonzero(nodes["first"] > 0):
            chances, child = 0.0, nodes[parent]["first"]
            while child > 0:
                chances += nodes[child]["probability"] if nodes[child]["seat"] >= 0 else 1.0
                child = nodes[child]["next"]
            assert chances > 0.999


@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_value_belongs_to_the_seat_to_act(players: int) -> None:
    """What it gains the others lose in equal parts, in the order of the seats at the table."""
    agent, asked = GuidedAgent(GAME, Judge(0.75), iterations=1), positions(players)  # type: ignore[arg-type]
    act(agent, asked)
    for told, position in zip(agent.explain(), asked[0], strict=True):
        expected = [0.75 if seat == position["seat"] else -0.75 / (players - 1) for seat in range(players)]
        assert told.values == pytest.approx(expected)


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch, searched: list[Trees]) -> None:
    """Many iterations: fewer positions side by side, which changes no answer."""
    asked, agent = positions(2), GuidedAgent(GAME, Judge(), iterations=50)  # type: ignore[arg-type]
    together = act(agent, asked)
    monkeypatch.setattr(guided, "MOST_NODES_AT_ONCE", 2 * agent.nodes)
    assert act(agent, asked) == together
    assert [len(trees.roots) for trees in searched] == [6, 2, 2, 2]
    assert GuidedAgent(GAME, Judge(), iterations=10**6).nodes == guided.MOST_NODES  # type: ignore[arg-type]


def test_the_clock_gives_every_decision_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Positions that are searched side by side share the time of all of them: no decision gets less for being in company."""
    now = iter(range(10**6))
    monkeypatch.setattr(guided.time, "perf_counter", lambda: next(now) / 1000)  # a millisecond for each look at it
    asked, agent = positions(2), GuidedAgent(GAME, Judge(), milliseconds=20)  # type: ignore[arg-type]
    for count in (1, 6):
        act(agent, (asked[0][:count], asked[1][:count]))
        assert abs(agent.explain()[0].iterations - 20 * count) <= 2
