"""Potential-based shaping: what it adds up to over a game does not depend on the play; news of games tell the true rewards."""

from __future__ import annotations

import numpy as np
import pytest

import tabletop
from agents.random_agent import RandomAgent
from tabletop.sampling import random_actions
from training.shaping import TrainingVecEnv, potential


def test_shaping_telescopes_to_minus_the_first_potential() -> None:
    game = tabletop.game("away")
    env = TrainingVecEnv(game, 8, 2, "max_rounds=6", seed=3, weight=0.5, gamma=1.0)
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


def test_a_game_that_is_cut_off_has_ended_with_nothing() -> None:
    """PPO adds what it thinks of a position to rewards of games that were cut off by something else than the rules."""
    env = TrainingVecEnv("away", 8, 2, "max_rounds=2", seed=3)
    rng = np.random.default_rng(0)
    env.reset()
    ended = 0
    for _ in range(200):
        _, rewards, dones, infos = env.step(random_actions(env.action_masks(), rng))
        assert (env.learner.truncated == dones).all()
        assert all(rewards[row] == 0 and infos[row]["TimeLimit.truncated"] is False for row in np.flatnonzero(dones))
        ended += int(dones.sum())
    assert ended >= 8


def test_what_is_added_depends_on_the_positions_alone() -> None:
    """A run that is resumed has other games dealt at first."""
    rng = np.random.default_rng(0)
    one, other = (TrainingVecEnv("away", 8, 2, seed=seed, weight=0.5) for seed in (3, 4))
    one.reset()
    for _ in range(20):
        one.step(random_actions(one.action_masks(), rng))
    arrays, told = one.learner.state()
    other.learner.restore_state({name: array.copy() for name, array in arrays.items()}, told, lambda name: RandomAgent())
    added = 0
    for _ in range(30):
        actions = random_actions(one.action_masks(), rng)
        rewards = [env.step(actions)[1] for env in (one, other)]
        assert (rewards[0] == rewards[1]).all()
        added += np.count_nonzero(rewards[0])
    assert added


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
