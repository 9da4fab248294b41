"""Fitting what searches judge positions by: what is noted of games, that a fit finds what there is, and that it is written as it was."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import tabletop
from agents import value_network
from agents.value_network import log_odds
from training import fit_value
from training.fit_value import Notes, draw_rules, fit, masked_log_loss, play_and_note, write_weights


@pytest.mark.parametrize("name", ["beyond", "away"])
def test_drawn_rules_are_allowed_and_various(name):
    game, rng = tabletop.game(name), np.random.default_rng(0)
    for players in (2, 3, 4):
        drawn = [draw_rules(game, players, rng) for _ in range(40)]
        for rules in drawn:
            game.variant(rules, players)
        assert len({str(rules) for rules in drawn}) > 5


def test_notes_are_of_whole_games_in_the_frame_of_the_seat_to_act(monkeypatch):
    monkeypatch.setattr(fit_value, "TABLES", 6)
    game, notes = tabletop.game("beyond"), Notes()
    play_and_note(game, "heuristic", 9, 0.1, 3, notes)
    assert notes.games >= 9
    inputs, shares, players = np.array(notes.inputs), np.array(notes.shares), np.array(notes.players)
    assert sorted(set(notes.game)) == list(range(notes.games))
    turn = game.layout.view(inputs, "turn")
    assert (turn[:, 0] == 1).all()
    assert set(players) == {2, 3, 4}
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-6)
    assert all((shares[players == n, n:] == 0).all() for n in (2, 3))
    # who is far ahead in points at a game's last noted position has mostly won it
    points = game.layout.view(inputs, "points").astype(int)
    last = np.array([np.flatnonzero(np.array(notes.game) == g)[-1] for g in range(notes.games)])
    ahead = points[last].argmax(axis=1)
    assert shares[last, ahead].mean() > 0.6


def test_a_fit_finds_what_there_is_and_is_written_as_it_was(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    inputs = rng.integers(0, 9, (20_000, 3)).astype(np.int8)
    players = rng.integers(2, 5, 20_000).astype(np.int8)
    odds = np.stack([inputs[:, 0] / 4, inputs[:, 1] / 4, np.ones(20_000), np.zeros(20_000)], axis=1)
    odds[np.arange(4)[None] >= players[:, None]] = -1e9
    chances = np.exp(odds - odds.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    won = (chances.cumsum(axis=1) > rng.random((20_000, 1))).argmax(axis=1)
    shares, scale = np.eye(4, dtype=np.float32)[won], np.array([0.125, 0.125, 0.125], np.float32)
    network, loss = fit(inputs, scale, shares, players, np.arange(20_000) >= 18_000, 8, 0)
    assert loss == pytest.approx(-np.log(chances[18_000:][np.arange(2_000), won[18_000:]]).mean(), abs=0.03)

    write_weights(network, scale, tmp_path / "toy_value.npz")
    monkeypatch.setattr(value_network, "file_of", lambda game: tmp_path / f"{game}_value.npz")
    compiled = value_network.value_network("toy")
    with torch.no_grad():
        expected = network(torch.from_numpy(inputs[:50]).float() * torch.from_numpy(scale)).numpy()
    for row, wanted in zip(inputs[:50], expected, strict=True):
        found = np.zeros(4)
        log_odds(compiled, row, 4, found)
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


def test_seats_that_do_not_play_are_left_out_of_the_loss():
    odds = torch.tensor([[0.0, 0.0, 50.0, 50.0], [0.0, 0.0, 0.0, 50.0]])
    shares, players = torch.tensor([[1.0, 0.0, 0.0, 0.0], [0.0, 0.5, 0.5, 0.0]]), torch.tensor([2, 3])
    assert float(masked_log_loss(odds, shares, players)) == pytest.approx((np.log(2) + np.log(3)) / 2, rel=1e-5)
