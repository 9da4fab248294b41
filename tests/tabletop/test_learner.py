"""The learner's view of a batch: what it tells is what the engine plays, each thing once."""

from __future__ import annotations

import copy
import pickle
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from learners import LEARNER, OPPONENTS, Episode, Steady, brief, by_the_engine, flat, play

import tabletop
from tabletop.errors import EmptyMask, IllegalAction, RulesError, SetupError, StepAfterEnd, TabletopError, UnknownAction
from tabletop.learner import LearnerTables
from tabletop.opponents import KEPT_AGENTS, RandomOpponent
from tabletop.sampling import random_actions

pytestmark = pytest.mark.parametrize("game", tabletop.games())
MODES = ("next_step", "same_step", "disabled")


def random_step(learner: LearnerTables, rng: np.random.Generator) -> None:
    actions = np.zeros(learner.num_tables, np.int64)
    live = ~learner.over
    actions[live] = random_actions(learner.action_mask[live], rng)
    learner.step(actions)


def told(learner: LearnerTables) -> tuple[bytes, ...]:
    arrays = (learner.observation, learner.action_mask, learner.reward, learner.terminated, learner.truncated, learner.seat)
    return tuple(array.tobytes() for array in arrays)


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("mode", MODES)
def test_games_are_those_of_the_engine(game: str, mode: str, players: int) -> None:
    """Observation, mask, reward, end and last view of every game, in every mode, are those of the engine without auto-reset."""
    learner = LearnerTables(game, 4, players, brief(game), seed=3, opponents=OPPONENTS, autoreset=mode)
    agents = {agent.name: agent for agent in OPPONENTS}
    count = 0
    for row, episodes in enumerate(play(learner, 700)):
        tables = tabletop.Tables(game, 1, players, brief(game), seed=(3, row), autoreset="disabled")
        for episode in episodes:
            others = {seat: agents[name] for seat, name in episode.opponents.items()}
            assert by_the_engine(tables, episode.seat, others | {episode.seat: LEARNER}) == episode
            assert sum(episode.rewards) == pytest.approx(float(tables.rewards[0, episode.seat]))
            tables.reset()
            count += 1
    assert count >= 4


@pytest.mark.parametrize("mode", MODES)
def test_cut_off_games_are_truncated_and_pay_nothing(game: str, mode: str) -> None:
    learner = LearnerTables(game, 4, 2, seed=1, opponents=OPPONENTS, autoreset=mode, max_decisions=12)
    episodes = flat(play(learner, 60))
    assert len(episodes) > 8
    assert all(e.ended == (False, True) and sum(e.rewards) == 0 for e in episodes)


def test_rows_play_as_they_do_alone(game: str) -> None:
    """With opponents that use no chance of their own; seats and opponents are drawn alike at any size of the batch."""
    options: dict[str, Any] = {"rules": brief(game), "opponents": OPPONENTS, "autoreset": "same_step"}
    batch = play(LearnerTables(game, 7, 3, seed=5, **options), 600)
    again = play(LearnerTables(game, 7, 3, seed=5, threads=2, **options), 600)
    assert batch == again
    for row in (0, 3, 6):
        assert play(LearnerTables(game, 1, 3, seed=(5, row), **options), 600) == [batch[row]]
    assert play(LearnerTables(game, 3, 3, seed=(5, 2), **options), 600) == batch[2:5]
    assert play(LearnerTables(game, 2, 3, seed=5, deals=[6, 1], **options), 600) == [batch[6], batch[1]]
    assert len({e.seat for e in flat(batch)}) == 3


def test_numbers_of_players_share_a_batch(game: str) -> None:
    options: dict[str, Any] = {"opponents": OPPONENTS, "autoreset": "same_step"}
    mixed = play(LearnerTables(game, 3, [2, 3, 4], seed=9, **options), 200)
    for row, players in enumerate((2, 3, 4)):
        assert play(LearnerTables(game, 1, players, seed=(9, row), **options), 200) == [mixed[row]]
        assert {len(e.opponents) for e in mixed[row]} <= {players - 1}


def test_a_seed_gives_the_same_games(game: str) -> None:
    """With random opponents, whatever the global generators did, in a new object or in the same one."""

    def games(learner: LearnerTables) -> list[list[Episode]]:
        return play(learner, 700)

    first = games(LearnerTables(game, 8, 2, brief(game), seed=0, autoreset="same_step"))
    np.random.seed(7)  # noqa: NPY002
    learner = LearnerTables(game, 8, 2, brief(game), seed=1, autoreset="same_step")
    assert games(learner) != first
    learner.reset(0)
    assert games(learner) == first


def test_copies_go_on_alike(game: str) -> None:
    learner = LearnerTables(game, 4, 3, opponents=[RandomOpponent(), *OPPONENTS], autoreset="same_step")
    play(learner, 20)
    copies = [copy.deepcopy(learner), pickle.loads(pickle.dumps(learner))]
    expected = play(learner, 150)
    assert all(play(other, 150) == expected for other in copies)


class FreshOpponents:
    """A pool that makes a new agent at every draw, and lets each note which games it plays in."""

    def __init__(self) -> None:
        self.made: list[Any] = []
        self.game = 0

    def draw(self, rng: np.random.Generator) -> Any:
        agent = SimpleNamespace(name=f"draw {len(self.made)}", games=set())

        def act(observation: np.ndarray, action_mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
            agent.games.add(self.game)
            return random_actions(action_mask, rng)

        agent.act = act
        self.made.append(agent)
        return agent


def test_opponents_stay_for_a_game(game: str) -> None:
    pool = FreshOpponents()
    learner = LearnerTables(game, 1, 3, seed=2, opponents=pool, autoreset="disabled")
    rng = np.random.default_rng(0)
    number = 40
    for pool.game in range(number):
        if pool.game:
            learner.reset()
        at_start = learner.opponents_of(0)
        assert list(at_start) == [seat for seat in range(3) if seat != learner.seat[0]]
        while not learner.over[0]:
            random_step(learner, rng)
        assert learner.opponents_of(0) == at_start == learner.final_opponents_of(0)
    assert len(pool.made) == 2 * (number + learner.never_asked[0])
    assert all(len(agent.games) <= 1 for agent in pool.made)
    assert sum(len(agent.games) for agent in pool.made) > number
    assert len(learner._roster.agents) <= KEPT_AGENTS + 4


def test_each_agent_is_asked_once_in_a_round(game: str) -> None:
    """Rows are grouped by agent: far fewer calls than decisions."""
    calls: list[int] = []

    class Counting(Steady):
        def act(self, observation: np.ndarray, action_mask: np.ndarray, rng: Any) -> np.ndarray:
            calls.append(len(observation))
            return super().act(observation, action_mask, rng)

    learner = LearnerTables(game, 64, 2, opponents=[Counting(1), Counting(2)], autoreset="same_step")
    calls.clear()
    play(learner, 10)
    assert sum(calls) > 3 * len(calls)


def test_an_illegal_action_is_refused_and_changes_nothing(game: str) -> None:
    learner = LearnerTables(game, 3, 2, autoreset="same_step")
    actions = learner.action_mask.argmax(1)
    wrong = actions.copy()
    wrong[1] = learner.action_mask[1].argmin()
    before = told(learner), learner.tables.records.tobytes(), learner.agent_rng.bit_generator.state
    with pytest.raises(IllegalAction, match=f"table 1: seat {learner.seat[1]}"):
        learner.step(wrong)
    for bad, error in ((actions[:2], UnknownAction), (actions * 1.0, UnknownAction), (actions - 10**6, UnknownAction)):
        with pytest.raises(error):
            learner.step(bad)
    assert before == (told(learner), learner.tables.records.tobytes(), learner.agent_rng.bit_generator.state)
    learner.step(actions)


@pytest.mark.parametrize("mode", MODES)
def test_an_illegal_action_loses_where_declared(game: str, mode: str) -> None:
    """The learner alone loses; the other tables, and this one's next game, are as they would have been."""
    options: dict[str, Any] = {"seed": 4, "opponents": OPPONENTS, "autoreset": mode}
    learner = LearnerTables(game, 3, 3, illegal="lose", **options)
    other = LearnerTables(game, 3, 3, **options)
    actions = LEARNER.act(learner.observation, learner.action_mask, None)
    other.step(actions)
    actions[1] = learner.action_mask[1].argmin()
    seat = learner.seat[1]
    learner.step(actions)
    assert learner.reward.tolist() == [other.reward[0], -1, other.reward[2]]
    assert learner.terminated.tolist() == learner.illegal.tolist() == [False, True, False] and not learner.truncated.any()
    assert learner.final_seat[1] == seat
    if mode != "same_step":
        assert learner.over.tolist() == [False, True, False] and not learner.action_mask[1].any()
        assert (learner.observation[1] == learner.final_observation[1]).all()
        record = learner.tables.records[1]
        assert record["won"][:3].tolist() == [int(s != seat) for s in range(3)] and record["over"] == 1
    if mode == "next_step":
        learner.step(actions * 0 + LEARNER.act(learner.observation, learner.action_mask, None))
    elif mode == "disabled":
        learner.reset(rows=[1])
    other.reset(rows=[1])
    assert not learner.illegal.any() or mode == "same_step"
    assert learner.seat[1] == other.seat[1] and (learner.observation[1] == other.observation[1]).all()
    with pytest.raises(UnknownAction):
        learner.step(np.full(3, 10**6))


@pytest.mark.parametrize(
    ("answer", "error"), [(lambda mask: mask.argmin(1), IllegalAction), (lambda mask: mask.argmax(1)[:0], UnknownAction)]
)
def test_an_agent_that_errs_is_named(game: str, answer: Any, error: type[Exception]) -> None:
    agent = SimpleNamespace(name="the cheat", act=lambda observation, action_mask, rng: answer(action_mask))
    with pytest.raises(error, match="agent the cheat"):
        play(LearnerTables(game, 5, 2, opponents=[agent, RandomOpponent()]), 50)


def test_games_without_a_decision_of_the_learner_are_counted_and_dealt_again(game: str) -> None:
    learner = LearnerTables(game, 16, 4, opponents=OPPONENTS, autoreset="same_step", max_decisions=5)
    episodes = flat(play(learner, 30))
    assert learner.never_asked.sum() > 0 and all(len(e.actions) >= 1 for e in episodes)
    with pytest.raises(TabletopError, match="in a row ended before the learner"):
        LearnerTables(game, 2, 2, learner_seat=[0, 1], max_decisions=1)


def test_set_ups_are_begun_from(game: str) -> None:
    source = tabletop.Tables(game, 1, 2, seed=8)
    for _ in range(6):
        source.step(source.action_mask.argmax(1))
    record = source.game.to_bytes(source.records[0])
    learner = LearnerTables(game, 2, 2, learner_seat=int(source.seat[0]), autoreset="disabled")
    learner.reset(options={"record": record})
    assert (learner.observation == source.observation[0]).all() and (learner.action_mask == source.action_mask[0]).all()
    while source.seat[0] >= 0:
        source.step(random_actions(source.action_mask, np.random.default_rng(0)))
    with pytest.raises(SetupError, match="nothing to decide"):
        learner.reset(options={"record": source.game.to_bytes(source.records[0])})
    with pytest.raises(SetupError):
        learner.reset(options={"nonsense": 1})
    learner.reset()
    assert learner.action_mask.any(1).all()


def test_seats_and_opponents_are_what_was_asked(game: str) -> None:
    learner = LearnerTables(game, 4, 4, learner_seat=[0, 1, 2, 3], opponents=OPPONENTS[0], autoreset="same_step")
    for episodes, seat in zip(play(learner, 120), range(4), strict=True):
        assert all(e.seat == seat for e in episodes)
    assert LearnerTables(game, 2, 2, learner_seat=1).seat.tolist() == [1, 1]
    assert LearnerTables(game, 2, 2, opponents=lambda rng: OPPONENTS[1]).opponents_of(0).popitem()[1] is OPPONENTS[1]
    for seats in (2, -1, [0, 2]):
        with pytest.raises(RulesError):
            LearnerTables(game, 2, 2, learner_seat=seats)
    for seats in ("first", [0], 0.5):
        with pytest.raises(ValueError, match="learner_seat"):
            LearnerTables(game, 2, 2, learner_seat=seats)  # type: ignore[arg-type]
    for opponents in ([], "random", [3], 3, lambda rng: 3):
        with pytest.raises(TypeError, match="opponent"):
            LearnerTables(game, 2, 2, opponents=opponents)
    for option in ({"illegal": "repair"}, {"autoreset": "sometimes"}):
        with pytest.raises(ValueError, match="must be"):
            LearnerTables(game, 2, 2, **option)


def test_after_the_end_nothing_is_legal(game: str) -> None:
    learner = LearnerTables(game, 2, 2, autoreset="disabled")
    rng = np.random.default_rng(0)
    while not learner.over.all():
        random_step(learner, rng)
    assert not learner.action_mask.any()
    with pytest.raises(EmptyMask, match="row 0"):
        random_actions(learner.action_mask, rng)
    with pytest.raises(StepAfterEnd):
        learner.step(np.zeros(2, np.int64))
    learner.reset(rows=[1])
    final = learner.observation[0].copy()
    random_step(learner, rng)
    assert learner.over.tolist() == [True, False] and learner.reward[0] == 0 and (learner.observation[0] == final).all()
