"""The network at the leaves of searches: what it computes, in whose frame, and that the weights that come with it are fit for use."""

from __future__ import annotations

import numpy as np
import pytest

import tabletop
from agents import value_network
from agents.named import agent as agent_named
from agents.search import kernels, own_module
from agents.value_network import ValueNetwork, judge, log_odds
from tabletop.opponents import answer

GAMES = ("beyond", "away")


def drawn_network(inputs: int, rng: np.random.Generator) -> ValueNetwork:
    shapes = [(inputs, 5), (5,), (5, 3), (3,), (3, 4), (4,)]
    weights = [rng.normal(size=shape).astype(np.float32) for shape in shapes]
    return ValueNetwork(*weights, np.zeros(5, np.float32), np.zeros(3, np.float32))


@pytest.mark.parametrize("dtype", [np.int8, np.float32])
@pytest.mark.parametrize("players", [2, 3, 4])
def test_two_layers_of_rectified_units(dtype, players):
    rng = np.random.default_rng(players)
    network = drawn_network(7, rng)
    for _ in range(20):
        inputs = rng.integers(-2, 3, 7).astype(dtype)
        found = np.full(4, 99.0)
        log_odds(network, inputs, players, found)
        hidden = np.maximum(inputs.astype(np.float64) @ network.first + network.first_bias, 0)
        hidden = np.maximum(hidden @ network.second + network.second_bias, 0)
        np.testing.assert_allclose(found[:players], (hidden @ network.last + network.last_bias)[:players], rtol=1e-4, atol=1e-4)
        assert (found[players:] == 99).all()


def always(odds) -> ValueNetwork:
    """A network that gives every position these odds."""
    network = drawn_network(7, np.random.default_rng(0))
    network.last[:], network.last_bias[:] = 0, np.log(odds)
    return network


def test_odds_are_rewards_of_the_seats_from_the_one_to_act():
    values = np.full(4, 99.0)
    judge(always([3.0, 1.0, 9.0, 9.0]), np.zeros(7), 1, 2, values)  # seat 1 is to act and wins three games of four
    np.testing.assert_allclose(values, [-0.5, 0.5, 0, 0])
    judge(always([1.0, 2.0, 1.0, 9.0]), np.zeros(7), 2, 3, values)  # the seat after seat 2 is seat 0
    np.testing.assert_allclose(values, [0.5 - 0.25, 0.25 - 0.375, 0.25 - 0.375, 0])
    judge(always([1e30, 1e-30, 1.0, 1.0]), np.zeros(7), 0, 4, values)
    np.testing.assert_allclose(values, [1, -1 / 3, -1 / 3, -1 / 3])


@pytest.mark.parametrize("name", GAMES)
def test_the_weights_that_come_with_the_games_fit_them(name):
    game = tabletop.game(name)
    network = own_module(game).scratch(game).network
    inputs = own_module(game).scratch(game).inputs
    assert network.first.shape[0] == inputs.size == own_module(game).INPUT_SCALE.size
    assert network.last.shape[1] == game.rules.max_players
    assert all(np.isfinite(array).all() for array in network)


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("name", GAMES)
def test_who_will_win_is_judged_better_than_by_none(name, players):
    """Late in games of the heuristic the chances that the network gives must be better than equal ones, by their log loss."""
    game = tabletop.game(name)
    own, quiet = own_module(game), kernels(game).quiet
    tables = tabletop.Tables(game, 60, players, seed=77)
    heuristic, rng = agent_named(game, "heuristic"), np.random.default_rng(7)
    scratch, judged = own.scratch(game), [[] for _ in range(60)]
    while (rows := np.flatnonzero(tables.seat >= 0)).size:
        for i in rows:
            if quiet(tables.records, i):
                values = np.zeros(game.rules.max_players)
                own.evaluate(tables.records, i, None, scratch, values)
                judged[i].append((values[:players] * (players - 1) + 1) / players)
        tables.step(answer(heuristic, tables, rows, rng), rows)
    lost = []
    for i, chances in enumerate(judged):
        share = (tables.rewards[i, :players] * (players - 1) + 1) / players
        for chance in chances[len(chances) // 2 :]:
            assert chance.sum() == pytest.approx(1)
            lost.append(-(share * np.log(np.maximum(chance, 1e-9))).sum())
    assert np.mean(lost) < 0.95 * np.log(players)


def test_weights_are_read_without_running_code(tmp_path, monkeypatch):
    np.savez(tmp_path / "risky_value.npz", **{name: np.array([object()], object) for name in value_network.NAMES})
    monkeypatch.setattr(value_network, "file_of", lambda game: tmp_path / f"{game}_value.npz")
    with pytest.raises(ValueError, match="allow_pickle"):
        value_network.value_network("risky")
