"""The PettingZoo view by PettingZoo's own tests, and what they leave out, for every registered game."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import warnings
from typing import Any

import gymnasium
import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, render_test, seed_test

import tabletop
from tabletop.aec import RawEnv, env, raw_env
from tabletop.registration import register_games

GAMES = tabletop.games()
VIEWS = {"raw": raw_env, "wrapped": env}

pytestmark = pytest.mark.filterwarnings("error")

#: what api_test warns of in any environment with a dictionary observation that is not on its own list of names
NOT_ON_PETTINGZOOS_LIST = ("Observation is not a NumPy array", "Observation space for each agent probably should be gymnasium.spaces.box")


def random_action(observation: dict[str, np.ndarray], rng: np.random.Generator) -> int:
    return int(rng.choice(np.flatnonzero(observation["action_mask"])))


def play(view: Any, rng: np.random.Generator, most: int = 10**9) -> dict[str, list[float]]:
    """Play at random, for at most that many decisions; the rewards that each agent got by `last`."""
    got: dict[str, list[float]] = {agent: [] for agent in view.possible_agents}
    for agent in view.agent_iter(most):
        observation, reward, terminated, truncated, _ = view.last()
        got[agent].append(reward)
        view.step(None if terminated or truncated else random_action(observation, rng))
    return got


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("game", GAMES)
def test_pettingzoos_own_tests_pass(game: str, view: str, players: int, capsys: pytest.CaptureFixture[str]) -> None:
    make = VIEWS[view]
    with warnings.catch_warnings():
        for message in NOT_ON_PETTINGZOOS_LIST:
            warnings.filterwarnings("ignore", message)
        api_test(make(game, players), num_cycles=700)
    seed_test(lambda: make(game, players), num_cycles=100)
    assert "warn" not in capsys.readouterr().err.lower()


@pytest.mark.parametrize("game", GAMES)
def test_rendering_by_pettingzoos_own_test(game: str, capsys: pytest.CaptureFixture[str]) -> None:
    render_test(lambda render_mode: env(game, render_mode=render_mode))
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize("game", GAMES)
def test_a_picture_is_what_the_seat_to_act_knows(game: str) -> None:
    view = raw_env(game, 3, render_mode="ansi")
    view.reset(seed=4)
    play(view, np.random.default_rng(0), 5)
    seat = view.possible_agents.index(view.agent_selection)
    assert view.render() == view.game.text(view.tables.records[0], seat)
    play(view, np.random.default_rng(0))
    assert isinstance(view.render(), str)
    with pytest.raises(ValueError, match="render_mode"):
        raw_env(game, render_mode="hologram")


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("game", GAMES)
def test_every_agent_gets_its_last_reward_once(game: str, view: str) -> None:
    rng = np.random.default_rng(1)
    for players in (2, 3, 4):
        table = VIEWS[view](game, players)
        for seed in range(4):
            table.reset(seed=seed)
            got = play(table, rng)
            assert sum(map(sum, got.values())) == pytest.approx(0, abs=1e-6)
            assert all(not any(rewards[:-1]) for rewards in got.values())
            assert sorted(r[-1] for r in got.values()) == sorted(table.unwrapped.tables.rewards[0, :players].tolist())
            assert table.agents == [] and table.terminations == {}


@pytest.mark.parametrize("game", GAMES)
def test_seeds_and_the_games_that_follow(game: str) -> None:
    def records(*seeds: Any) -> list[bytes]:
        table = raw_env(game)
        found = []
        for seed in seeds:
            table.reset(seed=seed)
            found.append(table.state_bytes())
            play(table, np.random.default_rng(len(found)), 3 * len(found))
        return found

    assert records(0, None, None) == records(0, None, None)
    assert len(set(records(0, None, None, 1, (0, 1)))) == 5
    assert records(7, 7, 7) == [records(7)[0]] * 3
    assert records((5, 0)) == records(5)
    assert records(None) != records(None)
    batch = tabletop.Tables(game, 3, seed=9)
    assert batch.game.to_bytes(batch.records[2]) == records((9, 2))[0]


@pytest.mark.parametrize("game", GAMES)
def test_actions_are_numbers_of_any_kind_or_names(game: str) -> None:
    table = raw_env(game)
    after = set()
    table.reset(seed=3)
    action = random_action(table.last()[0], np.random.default_rng(0))
    for given in (action, np.int64(action), np.int16(action), np.uint8(action), table.game.actions.names[action]):
        table.reset(seed=3)
        table.step(given)
        after.add(table.state_bytes())
    assert len(after) == 1


@pytest.mark.parametrize("game", GAMES)
def test_a_wrong_action_raises_and_changes_nothing(game: str) -> None:
    table = raw_env(game)
    table.reset(seed=3)
    before, observation = table.state_bytes(), table.last()
    illegal = int(np.flatnonzero(observation[0]["action_mask"] == 0)[0])
    name = table.game.actions.names[illegal]
    for wrong in (illegal, np.int64(illegal), name):
        with pytest.raises(tabletop.IllegalAction, match=rf"seat 0 may not take action {illegal} \({name}\) now; legal: "):
            table.step(wrong)
    for wrong in (-1, table.game.num_actions, True, 1.0, "no such action", None, np.array([illegal])):
        with pytest.raises(tabletop.UnknownAction):
            table.step(wrong)
    assert table.state_bytes() == before
    assert not any(table.rewards.values())
    assert np.array_equal(table.last()[0]["observation"], observation[0]["observation"])


@pytest.mark.parametrize("game", GAMES)
def test_a_step_after_the_end_says_so(game: str) -> None:
    table = raw_env(game)
    with pytest.raises(tabletop.StepAfterEnd, match="reset"):
        table.step(0)
    table.reset(seed=0)
    while not any((*table.terminations.values(), *table.truncations.values())):
        table.step(random_action(table.last()[0], np.random.default_rng(0)))
    with pytest.raises(tabletop.StepAfterEnd, match="player_0"):
        table.step(0)
    assert table.agents == table.possible_agents
    for agent in table.possible_agents:
        assert not table.observe(agent)["action_mask"].any()
        assert table.agent_selection == agent
        table.step(None)
    with pytest.raises(tabletop.StepAfterEnd, match="reset"):
        table.step(None)


@pytest.mark.parametrize("game", GAMES)
def test_the_wrappers_declare_what_an_illegal_action_does(game: str, capsys: pytest.CaptureFixture[str]) -> None:
    table = env(game, 3)
    with pytest.raises(AttributeError, match="before reset"):
        _ = table.agent_selection
    table.reset(seed=0)
    with pytest.raises(AssertionError, match="action space"):
        table.step(table.action_space("player_0").n)
    table.step(int(np.flatnonzero(table.last()[0]["action_mask"] == 0)[0]))
    assert all(table.terminations.values()) and table.rewards == {"player_0": -1, "player_1": 0, "player_2": 0}
    got = {}
    for agent in table.agent_iter():
        observation, got[agent], terminated, _, _ = table.last()
        assert terminated and not observation["action_mask"].any()
        table.step(None)
    assert got == {"player_0": -1, "player_1": 0, "player_2": 0}
    table.reset(seed=0)  # and no trace of it is left
    again = env(game, 3)
    again.reset(seed=0)
    assert play(table, np.random.default_rng(5)) == play(again, np.random.default_rng(5))
    capsys.readouterr()


@pytest.mark.parametrize("game", GAMES)
def test_observations_are_the_callers_to_keep(game: str) -> None:
    table = raw_env(game, 2)
    table.reset(seed=2)
    kept, kept_mask = table.last()[0]["observation"], table.last()[0]["action_mask"]
    copies = kept.copy(), kept_mask.copy()
    play(table, np.random.default_rng(0), 40)
    assert np.array_equal(kept, copies[0]) and np.array_equal(kept_mask, copies[1])
    observation = table.observe(table.agent_selection)
    observation["observation"][:] = 0
    observation["action_mask"][:] = 0
    assert table.last()[0]["action_mask"].any()


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("game", GAMES)
def test_copies_in_the_middle_go_on_alike(game: str, view: str) -> None:
    table = VIEWS[view](game, 3, skip_forced=False)
    table.reset(seed=(8, 3))
    play(table, np.random.default_rng(0), 20)
    copies = [copy.deepcopy(table), pickle.loads(pickle.dumps(table))]
    fresh = VIEWS[view](game, 3, skip_forced=False)
    fresh.reset(seed=99, options={"record": table.unwrapped.state_bytes()})
    for sampled in (table, copies[0]):
        sampled.action_space("player_0").seed(4)
    assert table.action_space("player_0").sample() == copies[0].action_space("player_0").sample()
    wanted = play(table, np.random.default_rng(1))
    assert [play(other, np.random.default_rng(1)) for other in [*copies, fresh]] == [wanted] * 3


@pytest.mark.parametrize("game", GAMES)
def test_a_set_up_that_cannot_be_leaves_the_game_as_it_is(game: str) -> None:
    table = raw_env(game, 2)
    table.reset(seed=1)
    before = table.state_bytes()
    other = raw_env(game, 3)
    other.reset(seed=1)
    for options in ({"no_such_option": 1}, {"record": b"nonsense"}, {"record": other.state_bytes()}, {"text": "nonsense"}, 5, ["deck"]):
        with pytest.raises(tabletop.SetupError):
            table.reset(seed=5, options=options)  # type: ignore[arg-type]
        assert table.state_bytes() == before
    table.reset(options={"text": table.game.text(table.tables.records[0])})
    assert table.state_bytes() == before


@pytest.mark.parametrize("game", GAMES)
def test_nothing_hidden_is_told_beside_the_observation(game: str) -> None:
    table = raw_env(game)
    table.reset(seed=6)
    assert table.infos == {"player_0": {}, "player_1": {}}
    assert set(table.observe("player_1")) == {"observation", "action_mask"}


@pytest.mark.parametrize("game", GAMES)
def test_max_decisions_truncates(game: str) -> None:
    table = RawEnv(game, max_decisions=5)
    table.reset(seed=0)
    got = play(table, np.random.default_rng(0))
    assert table.tables.records["decisions"][0] == 5 and table.tables.truncated[0]
    assert not any(map(any, got.values()))


def test_the_registries_know_every_game() -> None:
    ids = register_games()
    assert len(ids) == len(GAMES)
    for name, game in zip(sorted(ids), GAMES, strict=True):
        assert name in gymnasium.registry
        table = pettingzoo.make("aec", name, num_players=3)
        assert table.unwrapped.game is tabletop.game(game) and table.max_num_agents == 3
        assert str(table) == f"{game}_v0"


@pytest.mark.parametrize("game", GAMES)
def test_the_package_of_a_game_has_the_pettingzoo_names(game: str) -> None:
    package = tabletop.game(game).package
    module = __import__(f"{package}.{game}_v0", fromlist=["env"])
    table = module.env(num_players=3, render_mode="ansi")
    table.reset(seed=0)
    assert table.num_agents == 3 and isinstance(module.raw_env(), RawEnv)


@pytest.mark.parametrize("game", GAMES)
def test_importing_a_game_is_light_and_registers_it(game: str) -> None:
    package = tabletop.game(game).package
    lines = f"""
import sys, {package}, gymnasium
heavy = [name for name in ("numba", "torch", "matplotlib", "pygame", "stable_baselines3", "ray") if name in sys.modules]
assert not heavy, heavy
assert any(spec.kwargs.get("game") == {game!r} for spec in gymnasium.registry.values())
"""
    subprocess.run([sys.executable, "-c", lines], check=True)


@pytest.mark.parametrize("game", GAMES)
def test_gymnasium_can_import_a_game_by_itself(game: str) -> None:
    name = next(i for i in register_games() if gymnasium.registry[i].kwargs["game"] == game)
    lines = f"import gymnasium; gymnasium.make('{tabletop.game(game).package}:{name}').reset(seed=0)"
    subprocess.run([sys.executable, "-W", "error::UserWarning", "-c", lines], check=True)
