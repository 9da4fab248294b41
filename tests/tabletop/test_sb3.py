"""The Stable-Baselines3 view of every game: what SB3 and sb3-contrib ask of a VecEnv, and a short training."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from learners import LEARNER, OPPONENTS, brief, play
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecNormalize

import tabletop
import tabletop.registration
from tabletop.errors import IllegalAction
from tabletop.learner import LearnerTables
from tabletop.sampling import random_actions
from tabletop.sb3 import LearnerVecEnv

pytestmark = pytest.mark.parametrize("game", tabletop.games())


@pytest.fixture(autouse=True)
def one_thread() -> Any:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield
    torch.set_num_threads(before)


def test_rewards_ends_and_news_are_those_of_the_learners_tables(game: str) -> None:
    options: dict[str, Any] = {"num_players": 3, "opponents": OPPONENTS, "max_decisions": 60}
    expected = play(LearnerTables(game, 6, seed=2, autoreset="same_step", **options), 200)
    env = LearnerVecEnv(game, 6, seed=2, **options)
    observations = env.reset()
    count = 0
    for _ in range(200):
        masks = get_action_masks(env)
        assert masks.dtype == np.bool_ and (masks == env.learner.action_mask).all()
        kept = observations.copy()
        observations, rewards, dones, infos = env.step(LEARNER.act(observations, masks.astype(np.int8), None))
        assert observations.dtype == env.game.layout.dtype and rewards.dtype == np.float32 and dones.dtype == np.bool_
        for row, info in enumerate(infos):
            assert bool(info) == dones[row]
            if not dones[row]:
                continue
            episode = expected[row].pop(0)
            assert info["terminal_observation"].tobytes() == episode.final
            assert (info["episode"]["r"], info["episode"]["l"]) == (pytest.approx(sum(episode.rewards)), len(episode.actions))
            assert info["TimeLimit.truncated"] == episode.ended[1] and info["is_success"] == (episode.rewards[-1] > 0)
            assert info["seat"] == episode.seat and info["opponents"] == episode.opponents
            assert kept[row].tobytes() == episode.observations[-1]
            count += 1
    assert count > 10 and not any(expected)


def test_what_stable_baselines_asks_of_tables(game: str) -> None:
    env = LearnerVecEnv(game, 3, 2)
    env.reset()
    assert is_masking_supported(env) and env.has_attr("seat") and not env.has_attr("nonsense")
    assert (env.env_method("action_masks", indices=[2, 0])[0] == env.action_masks()[2]).all()
    assert (env.get_attr("action_masks", 1)[0]() == env.action_masks()[1]).all()
    assert env.get_attr("seat") == env.learner.seat.tolist() and env.get_attr("render_mode") == [None] * 3
    assert env.env_is_wrapped(Monitor) == [True] * 3 and env.env_is_wrapped(VecNormalize, 0) == [False]  # type: ignore[arg-type]
    assert not env.action_masks().flags.writeable and list(env.get_images()) == [None] * 3
    for wrong in (lambda: env.get_attr("nonsense"), lambda: env.env_method("render"), lambda: env.set_attr("seat", 1)):
        with pytest.raises(AttributeError):
            wrong()
    env.close()


def test_seeds(game: str) -> None:
    def told(env: LearnerVecEnv) -> list[bytes]:
        rng = np.random.default_rng(0)
        seen = [env.reset().tobytes()]
        for _ in range(50):
            observations, *_ = env.step(random_actions(env.action_masks(), rng))
            seen.append(observations.tobytes())
        return seen

    first = told(LearnerVecEnv(game, 4, seed=3))
    env = LearnerVecEnv(game, 4)
    assert told(env) != first
    env.seed(3)
    assert told(env) == first
    assert told(env) != first  # the next games
    source = tabletop.Tables(game, 1, 2, seed=8)
    env.set_options({"record": source.game.to_bytes(source.records[0])})
    env.seed(1)
    env.reset()
    on_move = env.learner.seat == source.seat[0]
    assert on_move.any() and (env.learner.observation[on_move] == source.observation[0]).all()


def test_illegal_actions(game: str) -> None:
    env = LearnerVecEnv(game, 2)
    env.reset()
    with pytest.raises(IllegalAction):
        env.step(env.action_masks().argmin(1))
    env = LearnerVecEnv(game, 2, illegal="lose")
    env.reset()
    _, rewards, dones, infos = env.step(env.action_masks().argmin(1))
    assert rewards.tolist() == [-1, -1] and dones.all() and all(info["illegal"] and not info["is_success"] for info in infos)


def test_maskable_ppo_trains_and_plays_by_the_masks(game: str) -> None:
    """Every action played is legal, or the environment would raise; evaluation counts whole games."""
    env = LearnerVecEnv(game, 16, 2, brief(game), seed=1)
    model = MaskablePPO("MlpPolicy", env, n_steps=64, batch_size=256, n_epochs=2, seed=1, device="cpu")
    model.learn(3000)
    assert len(model.ep_info_buffer) > 5 and all(-1 <= info["r"] <= 1 for info in model.ep_info_buffer)
    rewards, lengths = evaluate_policy(
        model, LearnerVecEnv(game, 8, 2, brief(game), seed=2), n_eval_episodes=12, return_episode_rewards=True
    )
    assert len(rewards) == 12 and min(lengths) > 0 and set(rewards) <= {-1.0, 0.0, 1.0}


def test_sb3s_own_wrapping_of_the_gymnasium_id(game: str) -> None:
    """`make_vec_env` first asks for pictures, and goes on without where there are none."""
    (name,) = (name for name, spec in gymnasium.registry.items() if spec.kwargs.get("game") == game)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*render_mode", UserWarning)
        env = make_vec_env(name, 2, env_kwargs={"num_players": 3})
    env.reset()
    masks = get_action_masks(env)
    assert masks.shape == (2, tabletop.game(game).num_actions) and masks.dtype == np.bool_
    env.step(masks.argmax(1))


def test_ppo_without_masks_loses_by_illegal_actions(game: str) -> None:
    env = LearnerVecEnv(game, 4, 2, illegal="lose")
    model = PPO("MlpPolicy", env, n_steps=32, batch_size=64, n_epochs=1, device="cpu")
    model.learn(128)
    assert min(info["r"] for info in model.ep_info_buffer) == -1
