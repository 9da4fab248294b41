"""The Gymnasium views of every game: the checkers of Gymnasium and Stable-Baselines3, and one environment against many."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from learners import OPPONENTS, Steady, brief
from stable_baselines3.common.env_checker import check_env as check_env_of_sb3

import tabletop
import tabletop.registration
from tabletop.errors import IllegalAction, SetupError, StepAfterEnd, UnknownAction
from tabletop.learner import LearnerTables
from tabletop.sampling import random_actions
from tabletop.single import SingleAgentEnv
from tabletop.vector import LearnerVectorEnv

pytestmark = pytest.mark.parametrize("game", tabletop.games())


def id_of(game: str) -> str:
    (found,) = (name for name, spec in gymnasium.registry.items() if spec.kwargs.get("game") == game)
    return found


def play_on(env: SingleAgentEnv, steps: int, rng: np.random.Generator) -> list[Any]:
    """Legal random steps, resetting as needed."""
    told: list[Any] = []
    for _ in range(steps):
        if env.learner.over[0]:
            told.append(env.reset())
        told.append(env.step(random_actions(env.action_masks()[None], rng)[0]))
    return told


@pytest.mark.parametrize("options", [{}, {"num_players": 3, "render_mode": "ansi"}, {"num_players": 4, "opponents": OPPONENTS}])
def test_checkers_pass_without_a_warning(game: str, options: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(id_of(game), **options).unwrapped)
        check_env_of_sb3(gymnasium.make(id_of(game), **options), skip_render_check=False)


def test_random_steps_through_make(game: str) -> None:
    """Gymnasium's own wrappers find nothing to complain about, masked or not."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make(id_of(game))
        env.action_space.seed(1)
        rewards = []
        _, info = env.reset(seed=1)
        for step in range(300):
            action = env.action_space.sample(info["action_mask"] if step % 50 else None)
            _, reward, terminated, truncated, info = env.step(action)
            rewards.append(reward)
            if terminated or truncated:
                assert not info["action_mask"].any() and not env.get_wrapper_attr("action_masks")().any()
                _, info = env.reset()
        assert set(rewards) <= {-1.0, 0.0, 1.0} and -1.0 in rewards


def test_a_seed_gives_the_game_of_row_0(game: str) -> None:
    """The opponents' moves are drawn from np_random: the whole game, theirs included, is that of a batch of one."""
    env = SingleAgentEnv(game)
    learner = LearnerTables(game, 1, seed=5, autoreset="disabled")
    observation, info = env.reset(seed=5)
    assert env.np_random_seed == 5
    rng = np.random.default_rng(0)
    while True:
        assert (observation == learner.observation[0]).all() and (info["action_mask"] == learner.action_mask[0]).all()
        assert info["seat"] == learner.seat[0]
        assert env.np_random.bit_generator.state == learner.agent_rng.bit_generator.state
        if learner.over[0]:
            break
        action = random_actions(learner.action_mask, rng)
        learner.step(action)
        observation, reward, terminated, truncated, info = env.step(action[0])
        assert (reward, terminated, truncated) == (learner.reward[0], learner.terminated[0], learner.truncated[0])


def test_two_of_one_seed_are_alike_and_a_copy_goes_on_alike(game: str) -> None:
    one, two = SingleAgentEnv(game, 3), SingleAgentEnv(game, 3)
    assert data_equivalence(one.reset(seed=0), two.reset(seed=0), exact=True)
    first = play_on(one, 100, np.random.default_rng(1))
    assert data_equivalence(first, play_on(two, 100, np.random.default_rng(1)), exact=True)
    copies = [copy.deepcopy(one), pickle.loads(pickle.dumps(one))]
    expected = play_on(one, 100, np.random.default_rng(2))
    assert all(data_equivalence(play_on(other, 100, np.random.default_rng(2)), expected, exact=True) for other in copies)
    assert not data_equivalence(one.reset(seed=0), one.reset(seed=1), exact=True)


def test_actions_by_name_and_what_is_no_action(game: str) -> None:
    one, two = SingleAgentEnv(game), SingleAgentEnv(game)
    with pytest.raises(ResetNeeded):
        one.step(0)
    one.reset(seed=3)
    two.reset(seed=3)
    action = int(one.action_masks().argmax())
    for wrong in (-1, one.game.num_actions, "no such action", None, 0.5, True):
        with pytest.raises(UnknownAction):
            one.step(wrong)
    assert data_equivalence(one.step(one.game.actions.names[action]), two.step(np.int64(action)), exact=True)


def test_an_illegal_action_loses_the_game(game: str) -> None:
    env = SingleAgentEnv(game, render_mode="ansi")
    env.reset(seed=3)
    observation, reward, terminated, truncated, info = env.step(int(env.action_masks().argmin()))
    assert (reward, terminated, truncated, info["illegal"]) == (-1.0, True, False, True)
    assert observation in env.observation_space and not info["action_mask"].any()
    assert isinstance(env.render(), str)
    with pytest.raises(StepAfterEnd):
        env.step(0)
    _, info = env.reset()
    assert "illegal" not in info and env.action_masks().any()


def test_set_ups(game: str) -> None:
    source = tabletop.Tables(game, 1, 2, seed=8)
    for _ in range(6):
        source.step(source.action_mask.argmax(1))
    env = SingleAgentEnv(game, 2, learner_seat=int(source.seat[0]))
    observation, _ = env.reset(options={"record": source.game.to_bytes(source.records[0])})
    assert (observation == source.observation[0]).all()
    for options in ({"nonsense": 1}, 5):
        with pytest.raises(SetupError):
            env.reset(options=options)  # type: ignore[arg-type]
        with pytest.raises(SetupError):
            LearnerVectorEnv(game, 2).reset(options=options)  # type: ignore[arg-type]
    env.step(env.learner.action_mask[0].argmax())  # the game before stands


def test_a_set_up_that_is_over_begins_no_game(game: str) -> None:
    source = tabletop.Tables(game, 1, 2, seed=8, autoreset="disabled", max_decisions=3)
    while source.seat[0] >= 0:
        source.step(source.action_mask.argmax(1))
    env = SingleAgentEnv(game, 2)
    env.reset(seed=1)
    with pytest.raises(SetupError, match="leaves it nothing to decide"):
        env.reset(options={"record": source.game.to_bytes(source.records[0])})
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)
    env.reset()
    env.step(env.learner.action_mask[0].argmax())


def test_rendering(game: str, capsys: pytest.CaptureFixture[str]) -> None:
    env = SingleAgentEnv(game, render_mode="human")
    env.reset(seed=0)
    first = capsys.readouterr().out
    env.step(int(env.action_masks().argmax()))
    assert first and capsys.readouterr().out not in ("", first)
    with pytest.raises(TypeError, match="render_mode"):
        SingleAgentEnv(game, render_mode="rgb_array")
    many = LearnerVectorEnv(game, 2, render_mode="ansi")
    many.reset(seed=0)
    texts = many.render()
    assert texts is not None and len(texts) == 2 and texts[0] != texts[1]


# -- many at once ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("players", [2, 4])
def test_a_batch_is_told_as_gymnasium_tells_single_environments(game: str, mode: AutoresetMode, players: int) -> None:
    """Every observation, reward, flag and info, keys and dtypes too; with opponents that use no chance of their own."""
    options: dict[str, Any] = {"opponents": OPPONENTS}
    ours = LearnerVectorEnv(game, 5, players, autoreset_mode=mode, **options)
    theirs = SyncVectorEnv([lambda: SingleAgentEnv(game, players, **options)] * 5, autoreset_mode=mode)
    assert ours.metadata["autoreset_mode"] == mode
    assert ours.observation_space == theirs.observation_space and ours.action_space == theirs.action_space
    seeds = [3, 1, 4, 1, 5]
    assert data_equivalence(ours.reset(seed=seeds), theirs.reset(seed=seeds), exact=True)
    learner, ends, illegal = Steady(11), 0, np.random.default_rng(0)
    for step in range(300):
        actions = learner.act(ours.learner.observation, ours.learner.action_mask, None)
        if step % 20 == 0:
            actions[illegal.integers(5)] = 0  # most often not legal: loses a game
        told, expected = ours.step(actions), theirs.step(actions)
        assert (told[1] == expected[1]).all()
        assert data_equivalence((told[0], *told[2:]), (expected[0], *expected[2:]), exact=True)
        ended = told[2] | told[3]
        ends += int(ended.sum())
        if mode == AutoresetMode.DISABLED and ended.any():
            with pytest.raises(StepAfterEnd):
                ours.step(actions)
            (told_now, infos), (expected_now, told_of) = (env.reset(options={"reset_mask": ended}) for env in (ours, theirs))
            assert (told_now == expected_now).all() and infos["_action_mask"].all()  # ours has the masks of the other rows too
            assert (infos["action_mask"][ended] == told_of["action_mask"][ended]).all()
    assert ends > 10


def test_a_seed_plays_rows_of_that_seed(game: str) -> None:
    env = LearnerVectorEnv(game, 3, opponents=OPPONENTS)
    env.reset(seed=6)
    expected = tabletop.Tables(game, 3, seed=6)
    assert (env.learner.tables.records["stream"][:, 0] == expected.records["stream"][:, 0]).all()
    first = env.step(env.learner.action_mask.argmax(1))
    env.reset(seed=6)
    assert data_equivalence(env.step(env.learner.action_mask.argmax(1)), first, exact=True)


@pytest.mark.parametrize("seed", [7, [7, 8, 9]])
def test_a_batch_of_random_opponents_repeats_itself(game: str, seed: Any) -> None:
    def told(env: LearnerVectorEnv) -> list[Any]:
        rng = np.random.default_rng(0)
        env.reset(seed=seed)
        return [env.step(random_actions(env.action_masks(), rng)) for _ in range(30)]

    env = LearnerVectorEnv(game, 3, autoreset_mode="SameStep")
    assert data_equivalence(told(env), told(env), exact=True)
    assert data_equivalence(told(env), told(LearnerVectorEnv(game, 3, autoreset_mode=AutoresetMode.SAME_STEP)), exact=True)


def test_make_vec_and_gymnasiums_statistics(game: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        options = {"num_players": 3, "rules": brief(game), "autoreset_mode": AutoresetMode.SAME_STEP}
        env = gymnasium.make_vec(id_of(game), 8, vectorization_mode="vector_entry_point", **options)
        assert isinstance(env, LearnerVectorEnv) and env.num_envs == 8
        wrapped = gymnasium.wrappers.vector.RecordEpisodeStatistics(env)
        rng = np.random.default_rng(0)
        _, infos = wrapped.reset(seed=1)
        returns: list[float] = []
        for _ in range(300):
            *_, infos = wrapped.step(random_actions(infos["action_mask"], rng))
            if "episode" in infos:
                returns += infos["episode"]["r"][infos["_episode"]].tolist()
        assert len(returns) > 4 and {-0.5, 1.0} & set(returns)
        wrapped.close()


def test_options_of_a_batch(game: str) -> None:
    env = LearnerVectorEnv(game, 2, illegal="raise", copy=False)
    observation, infos = env.reset(seed=1)
    assert observation is env.learner.observation and infos["action_mask"] is env.learner.action_mask
    with pytest.raises(IllegalAction):
        env.step(env.learner.action_mask.argmin(1))
    for mask in (np.zeros(2, np.bool_), np.ones(3, np.bool_), [True, False]):
        with pytest.raises(ValueError, match="reset_mask"):
            env.reset(options={"reset_mask": mask})
    before = env.learner.tables.records.tobytes()
    for seed in ([1, 2, 3], "ab", 1.5, [1, -1], [None, 2.0], np.int64(1)):
        with pytest.raises(ValueError, match="seed must be"):
            env.reset(seed=seed)  # type: ignore[arg-type]
    assert env.learner.tables.records.tobytes() == before
    with pytest.raises(TypeError, match="render_mode"):
        LearnerVectorEnv(game, 2, render_mode="human")
