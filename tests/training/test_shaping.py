"""Potential-based shaping: what it adds up to over a game does not depend on the play; news of games tell the true rewards."""

from __future__ import annotations

import numpy as np
import pytest

import tabletop
from tabletop.sampling import random_actions
from training.shaping import ShapedVecEnv, potential


def test_shaping_telescopes_to_minus_the_first_potential() -> None:
    game = tabletop.game("away")
    env = ShapedVecEnv(game, 8, 2, "max_rounds=6", seed=3, weight=0.5, gamma=1.0)
    rng = np.random.default_rng(0)
    observation = env.reset()
    first, total, ended = potential(game, observation), np.zeros(8), 0
    for _ in range(400):
        observation, rewards, dones, infos = env.step(random_actions(env.action_masks(), rng))
        total += rewards
        for row in np.flatnonzero(dones):
            assert total[row] == pytest.approx(infos[row]["episode"]["r"] - 0.5 * first[row], abs=1e-4)
            first[row], total[row] = potential(game, observation)[row], 0.0
            ended += 1
    assert ended >= 8


def test_the_potential_rises_towards_home() -> None:
    game = tabletop.game("away")
    observation = np.zeros((4, game.layout.size), np.int8)
    for row, (moves, cells) in enumerate([(31, 8), (31, 2), (5, 8), (1, 1)]):
        game.layout.view(observation, "moves_home")[row, 0] = moves
        game.layout.view(observation, "cells_home")[row, 0] = cells
    values = potential(game, observation)
    assert (np.diff(values) > 0).all() and values.min() >= -1 and values.max() < 0
    game.layout.view(observation, "home")[0, 0] = 1
    assert potential(game, observation)[0] == 0


def test_games_without_a_way_home_refuse() -> None:
    game = tabletop.game("beyond")
    with pytest.raises(ValueError, match="shaping needs an observation with moves_home and cells_home; beyond has none"):
        potential(game, np.zeros((1, game.layout.size), np.int8))
