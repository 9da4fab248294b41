"""Searches: they know what their seat knows and no more, decide alike in any company, and find what is there to be found."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import tabletop
from agents.flat import FlatAgent
from agents.guided import GuidedAgent
from agents.named import UnknownAgent
from agents.named import agent as agent_named
from agents.policy import PolicyAgent, make_network
from agents.search import SearchAgent
from tabletop.errors import EmptyMask
from tabletop.opponents import answer
from tabletop.sampling import random_actions
from training.play import play
from training.statistics import share_by_deal

GAMES = ("beyond", "away")


def untrained(game: tabletop.Game) -> PolicyAgent:
    import torch

    torch.manual_seed(0)
    return PolicyAgent(game, make_network(game), "untrained")


MAKERS = {
    "search": lambda game: SearchAgent(game, iterations=40),
    "search, random playouts": lambda game: SearchAgent(game, iterations=20, playout="random", depth=20, widening=0.0),
    "flat": lambda game: FlatAgent(game, samples=2),
    "guided": lambda game: GuidedAgent(game, untrained(game), iterations=12),
}


@pytest.fixture(params=MAKERS)
def make(request):
    return MAKERS[request.param]


def midgame(game: tabletop.Game, players: int, count: int, seed: int = 3, steps: int = 25) -> tabletop.Tables:
    """Tables some heuristic decisions into their games, all live."""
    tables = tabletop.Tables(game, count, players, seed=seed)
    heuristic, rng = agent_named(game, "heuristic"), np.random.default_rng(seed)
    for step in range(steps):
        rows = np.arange(count)
        tables.step(answer(heuristic, tables, rows, rng) if step % 4 else random_actions(tables.action_mask, rng))
    assert (tables.seat >= 0).all()
    return tables


def thoughts(agent) -> list[str]:
    return [str(told) for told in agent.explain()]


@pytest.mark.parametrize("name", GAMES)
def test_a_decision_does_not_depend_on_its_company(name, make):
    game = tabletop.game(name)
    tables, agent = midgame(game, 2, 6), make(game)
    positions = tables.determinize(tables.records, tables.seat, 1)
    before = positions.copy()
    together = agent.act_on(positions, tables.action_mask, np.random.default_rng(5))
    told = thoughts(agent)
    assert positions.tobytes() == before.tobytes()
    assert (tables.action_mask[np.arange(6), together] == 1).all()
    first = agent.act_on(positions[:1], tables.action_mask[:1], np.random.default_rng(5))
    assert first[0] == together[0]
    if not isinstance(agent, GuidedAgent):  # whose network rounds otherwise in batches of other sizes
        assert thoughts(agent) == told[:1]
    again = make(game).act_on(positions, tables.action_mask, np.random.default_rng(5))
    assert (again == together).all()


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("name", GAMES)
def test_what_a_seat_cannot_see_changes_nothing(name, players, make):
    """The same position with hands and deck dealt otherwise, all that the seat sees being equal: equal thoughts."""
    game = tabletop.game(name)
    tables, agent = midgame(game, players, 3, seed=players), make(game)
    dealt = [tables.determinize(tables.records, tables.seat, seed) for seed in (1, 2)]
    hidden = game.module("state").HIDDEN
    assert any((dealt[0][field] != dealt[1][field]).any() for field in hidden), "nothing was dealt otherwise"
    told = []
    for positions in dealt:
        actions = agent.act_on(positions, tables.action_mask, np.random.default_rng(7))
        told.append((actions.tolist(), thoughts(agent)))
    assert told[0] == told[1]


@pytest.mark.parametrize("name", GAMES)
def test_a_game_is_the_same_whether_anyone_thinks_or_not(name):
    game = tabletop.game(name)
    agent, heuristic = SearchAgent(game, iterations=10), agent_named(game, "heuristic")
    ends = []
    for thinks in (False, True):
        tables, rng = tabletop.Tables(game, 1, seed=4, autoreset="disabled"), np.random.default_rng(0)
        for _ in range(30):
            if thinks:
                answer(agent, tables, np.array([0]), np.random.default_rng(1))
            tables.step(answer(heuristic, tables, np.array([0]), rng))
        ends.append(tables.records.tobytes())
    assert ends[0] == ends[1]


@pytest.mark.parametrize("name", GAMES)
def test_a_win_at_once_is_taken(name):
    """Positions in which some action, and not every one, wins the game for the seat at once."""
    game = tabletop.game(name)
    tables = tabletop.Tables(game, 60, 2, seed=9, autoreset="disabled")
    heuristic, rng, found = agent_named(game, "heuristic"), np.random.default_rng(0), []
    work = np.zeros(1, game.dtype)
    while (live := np.flatnonzero(tables.seat >= 0)).size:
        for row in live:
            legal = np.flatnonzero(tables.action_mask[row])
            wins = []
            for action in legal:
                work[0] = tables.records[row]
                game.loops.act(work, 0, action)
                if work[0]["over"] == 1 and work[0]["won"][tables.seat[row]] and work[0]["won"].sum() == 1:
                    wins.append(int(action))
            if 0 < len(wins) < len(legal):
                found.append((tables.records[row : row + 1].copy(), tables.action_mask[row : row + 1].copy(), wins))
        tables.step(answer(heuristic, tables, live, rng), live)
    assert len(found) >= 3
    taken = 0
    for record, mask, wins in found[:20]:
        agent = SearchAgent(game, iterations=400)
        position = tables.determinize(record, record["seat"], 1)
        action = int(agent.act_on(position, mask, np.random.default_rng(0))[0])
        taken += action in wins or agent.explain()[0].moves[0].value > 0.95  # or what wins as surely
    assert taken == len(found[:20])


@pytest.mark.parametrize("name", GAMES)
def test_a_full_tree_goes_on_without_growing(name):
    game = tabletop.game(name)
    tables = midgame(game, 2, 2)
    agent = SearchAgent(game, iterations=300, nodes=20)
    actions = agent.act_on(tables.determinize(tables.records, tables.seat, 1), tables.action_mask, np.random.default_rng(0))
    assert (tables.action_mask[[0, 1], actions] == 1).all()
    assert agent.explain()[0].iterations == 300


def test_a_forced_row_is_not_searched(make):
    game = tabletop.game("beyond")
    tables, agent = midgame(game, 2, 2), make(game)
    mask = np.zeros((2, game.num_actions), np.int8)
    only = [int(np.flatnonzero(row)[-1]) for row in tables.action_mask]
    mask[[0, 1], only] = 1
    assert agent.act_on(tables.determinize(tables.records, tables.seat, 1), mask, np.random.default_rng(0)).tolist() == only
    assert [told.iterations for told in agent.explain()] == [0, 0]


def test_an_empty_mask_is_an_error(make):
    game = tabletop.game("beyond")
    tables = midgame(game, 2, 2)
    mask = tables.action_mask.copy()
    mask[1] = 0
    with pytest.raises(EmptyMask, match="row 1"):
        make(game).act_on(tables.determinize(tables.records, tables.seat, 1), mask, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("search:iterations=0", "iterations must be a whole number from 1"),
        ("search:playout=clever", "playout must be random or heuristic"),
        ("search:depth=-1", "depth must be a whole number from 0 to 1,000,000 or end"),
        ("search:exploration=-1", "exploration must be a number from 0 to 100"),
        ("search:milliseconds=0", "milliseconds must be a number from 0.1"),
        ("search:itrations=5", "iterations"),
        ("flat:samples=0", "samples must be a whole number from 1"),
    ],
)
def test_wrong_options_say_what_is_allowed(name, told):
    with pytest.raises(UnknownAgent, match=told) as error:
        agent_named(tabletop.game("beyond"), name)
    assert "\n" not in str(error.value)


def test_by_the_clock():
    game = tabletop.game("beyond")
    tables = midgame(game, 2, 1)
    positions = tables.determinize(tables.records, tables.seat, 1)
    for agent in (SearchAgent(game, milliseconds=5), GuidedAgent(game, untrained(game), milliseconds=5)):
        agent.act_on(positions, tables.action_mask, np.random.default_rng(0))
        assert agent.explain()[0].iterations > 0


def test_explanations_add_up():
    game = tabletop.game("beyond")
    tables, agent = midgame(game, 3, 1), SearchAgent(game, iterations=100)
    agent.act_on(tables.determinize(tables.records, tables.seat, 1), tables.action_mask, np.random.default_rng(0))
    told = agent.explain()[0]
    assert sum(move.visits for move in told.moves) == told.iterations == 100
    assert all(move.visits <= move.available <= 100 for move in told.moves)
    assert told.action == told.moves[0].action
    assert abs(sum(told.values)) < 1e-5  # what some win the others lose
    assert "after 100 iterations" in str(told)


def test_guided_search_is_named_with_its_policy(tmp_path):
    from agents.policy import make_card, network_spec, save_weights
    from training.files import write_json

    game = tabletop.game("beyond")
    spec = network_spec(game, (16,), (4,))
    save_weights(tmp_path / "policy.safetensors", make_network(game, spec))
    write_json(tmp_path / "policy.json", make_card(game, [game.variant()], spec))
    agent = agent_named(game, f"search:policy={tmp_path},iterations=3", game.variant())
    assert isinstance(agent, GuidedAgent) and agent.iterations == 3
    with pytest.raises(tabletop.CheckpointError, match="trained for"):
        agent_named(game, f"search:policy={tmp_path}", game.variant("protection=true"))


@pytest.mark.parametrize("iterations", [1, 2, 64])
def test_guided_search_of_any_budget(iterations):
    """With one iteration nothing but the policy has spoken: its choice is played."""
    game = tabletop.game("beyond")
    policy = untrained(game)
    tables, agent = midgame(game, 4, 5), GuidedAgent(game, policy, iterations=iterations)
    actions = agent.act_on(tables.determinize(tables.records, tables.seat, 1), tables.action_mask, np.random.default_rng(0))
    assert (tables.action_mask[np.arange(5), actions] == 1).all()
    if iterations == 1:
        assert actions.tolist() == policy.act(tables.observation, tables.action_mask, np.random.default_rng(0)).tolist()


def test_search_beats_random_play_for_any_number_of_players():
    for name, players in (("beyond", 2), ("beyond", 4), ("away", 3)):
        game = tabletop.game(name)
        agents = [SearchAgent(game, iterations=15), agent_named(game, "random")]
        games = play(game, game.variant(None, players), agents, 6, seed=1)
        assert share_by_deal(games.deal, games.share_of(0)).low > 1 / players, (name, players)


PLAIN = """
import numpy as np, tabletop
from agents.search import SearchAgent
game = tabletop.game({name!r})
tables = tabletop.Tables(game, 1, 2, seed=3)
positions = tables.determinize(tables.records, tables.seat, 1)
agent = SearchAgent(game, iterations={iterations}, playout="random", depth=2)
agent.act_on(positions, tables.action_mask, np.random.default_rng(2))
print(agent.explain()[0])
"""


@pytest.mark.parametrize(("name", "iterations"), [("beyond", 12), ("away", 3)])
def test_uncompiled_it_thinks_the_same(name, iterations):
    told = [
        subprocess.run(
            [sys.executable, "-c", PLAIN.format(name=name, iterations=iterations)],
            env={**os.environ, **more}, capture_output=True, text=True, check=True,
        ).stdout
        for more in ({}, {"NUMBA_DISABLE_JIT": "1"})
    ]  # fmt: skip
    assert told[0] == told[1] and "visits" in told[0]
