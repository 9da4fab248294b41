"""The end of a game (rules: End)."""

from __future__ import annotations

import numpy as np
import pytest

import tabletop
from tests.away.helpers import GAME, position

BEFORE_HOME = {0: ("r4c7 lane.blue/0", "r4c7 stop 1"), 1: ("r4c1 lane.green/0", "r4c1 stop 1"), 2: ("r7c4 lane.pink/1", "r7c4 stop 1"),
               3: ("r1c4 lane.orange/1", "r1c4 stop 1")}  # fmt: skip
HANDS = {0: "bend.blue", 1: "bend.green", 2: "bend.pink", 3: "bend.orange"}


def before_the_end(players: int, seat: int = 0, turn: str = "round 9", rules: str = ""):
    return position(
        ", ".join(table for table, _ in BEFORE_HOME.values()),
        turn=f"{turn}, seat {seat}",
        ships={k: BEFORE_HOME[k][1] for k in range(players)},
        hands={k: HANDS[k] for k in range(players)},
        players=players,
        rules=rules,
    )


def home(p):
    return p.do("move", "cell:4,8", "pass")


def stay(p):
    return p.do(next(name for name in p.legal if name.startswith("discard")), "done", "pass")


@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_round_is_played_to_its_end(players):
    for first in range(players):
        p = before_the_end(players)
        for seat in range(players):
            assert p["seat"] == seat and not p.over
            (home if seat == first else stay)(p)
        assert p.over and p["over"] == 1 and p.winners == [first] and p["seat"] == -1 and p.legal == []


def test_the_last_of_several_to_arrive_wins():
    for several, winner in (((0, 1), 1), ((0, 2), 2), ((0, 1, 3), 3), ((2, 3), 3)):
        p = before_the_end(4)
        for seat in range(4):
            (home if seat in several else stay)(p)
        assert p.winners == [winner] and [int(h) for h in p.records["home"][0]] == [int(k in several) for k in range(4)]


def test_a_ship_that_is_home_does_not_move_again_and_its_player_finishes_the_turn():
    p = position(
        "r4c7 lane.blue/0, r4c6 lane.green/0", "hyperdrive.pink, lane.pink, cosmic_compass.pink, solar_wind.blue", ships=["r4c6 stop 1"]
    )
    p.do("play:hyperdrive.pink", "cell:4,7", "cell:4,8")
    assert p.ship(0) == "home" and p.legal == ["play:lane.pink", "done"]
    p.do("play:lane.pink", "cell:3,6", "turn:0", "done")
    assert p.legal == ["pass"]


def test_every_turn_ends_with_the_draw_the_games_last_too():
    p = stay(home(before_the_end(2)))
    assert p.over and [len(p.hand(k)) for k in range(2)] == [5, 5]
    p.check()


def test_cut_off_without_an_arrival():
    p = before_the_end(3, turn="round 5", rules="max_rounds=5")
    for _ in range(3):
        stay(p)
    assert p["over"] == 2 and p.winners == [] and p["round"] == 5 and p["seat"] == -1


def test_arrivals_in_the_last_round_count():
    p = before_the_end(3, turn="round 5", rules="max_rounds=5")
    stay(home(stay(p)))
    assert p["over"] == 1 and p.winners == [1]


def test_rewards():
    p = before_the_end(3)
    home(p)
    tables = tabletop.Tables(GAME, 1, 3, skip_forced=False, autoreset="disabled")
    stay(p)
    tables.restore(p.records)
    for word in ("discard", "done", "pass"):
        legal = np.flatnonzero(tables.action_mask[0])
        tables.step([next(a for a in legal if GAME.actions.names[a].startswith(word))])
    assert tables.terminated[0] and tables.rewards[0].tolist() == [1.0, -0.5, -0.5, 0.0]
    cut = tabletop.Tables(GAME, 1, 2, "max_rounds=1", seed=3, skip_forced=False, autoreset="disabled")
    while not cut.truncated[0]:
        legal = np.flatnonzero(cut.action_mask[0])
        cut.step([legal[-1]])
    assert not cut.terminated[0] and not cut.rewards.any()
