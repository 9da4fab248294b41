"""What the search of a_way adds to `agents.tree`: the worth of a position as chances of victory, and of each action at first sight.

Chances are a softmax over the seats of what their ways home (`agents.away_ways`) are worth. That depends on whether the seat has its
turn, and has moved in it, or comes later in the round or not before the next. The table was fitted by maximum likelihood to games of
the heuristic against itself in which every twentieth action was random (see docs/search.md). An action is guessed to be worth
what the heuristic finds at its best end, all targets that it asks for included.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from agents import away_heuristic
from agents.away_changes import Desk, alike_turns, study_all
from agents.away_heuristic import DEPTH, worth_of_action
from agents.away_ways import ROOM, WEIGHTS, way_home
from away_env.cards import MAX_PLAYERS, NUM_DESIGNS
from away_env.state import ACT, DISCARD, PLAY, SHIP, STATE
from tabletop.compiled import kernel
from tabletop.registry import Game

KERNEL_PACKAGES = (*away_heuristic.KERNEL_PACKAGES, "agents.away_heuristic")

#: Options of the search that serve this game best
DEFAULTS = {"playout": "heuristic", "depth": 0, "exploration": 0.3, "prior": 1.0}

WEIGHED = np.array(list(WEIGHTS.values()), np.float64)
TURN_MOVES_TO_COME, TURN_LAST_MOVE, LATER_IN_ROUND, NEXT_ROUND = range(4)
MOVES = np.array([0.0, 1.0, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0])  # home
#: log chances of a seat so many moves from home, in the four cases above: with two players, and with more
CHANCE = np.array(
    [
        [
            [4.52, 4.35, 3.72, 2.57, 1.64, 1.04, 0.50, 0.05],
            [3.89, 3.89, 3.18, 2.15, 1.29, 0.99, 0.44, -0.07],
            [4.87, 4.88, 4.02, 2.96, 1.88, 1.20, 0.71, -0.04],
            [3.87, 3.15, 2.60, 1.88, 1.17, 0.78, 0.22, 0.06],
        ],
        [
            [4.40, 4.30, 3.29, 2.25, 1.53, 0.84, 0.28, 0.06],
            [3.90, 3.90, 2.96, 1.87, 1.27, 0.68, 0.34, 0.04],
            [4.91, 4.90, 3.65, 2.32, 1.78, 1.18, 0.49, 0.09],
            [4.10, 2.95, 2.07, 1.43, 1.06, 0.53, 0.10, -0.19],
        ],
    ]
)
SLOPE = 3.5  # of log chances by the heuristic's worth
MARGIN = 0.25  # actions worth less than what is sure by so much are not looked at more closely


class Scratch(NamedTuple):
    """Where positions are worked out."""

    desk: Desk
    records: np.ndarray
    masks: np.ndarray
    tried: np.ndarray
    worths: np.ndarray


def scratch(game: Game) -> Scratch:
    desk = Desk(np.zeros(MAX_PLAYERS + 1, ROOM), np.zeros(MAX_PLAYERS), np.zeros((NUM_DESIGNS, 4), np.int64))
    records, masks = np.zeros(DEPTH + 1, STATE), np.zeros((DEPTH + 1, game.num_actions), np.int8)
    return Scratch(desk, records, masks, np.zeros(DEPTH + 1, np.int64), np.zeros(game.num_actions))


def prepare(scratch: Scratch, record: Any) -> None:
    """Write which orientations look alike, by the card table of the record."""
    scratch.desk.alike[:] = _alike(record["lanes"].tobytes())


@lru_cache(maxsize=16)
def _alike(lanes: bytes) -> np.ndarray:
    record = np.zeros(1, STATE)
    record["lanes"][0] = np.frombuffer(lanes, STATE["lanes"].base).reshape(STATE["lanes"].shape)
    return alike_turns(record[0])


@kernel
def quiet(records, i):
    """No effect is being done."""
    phase = records[i]["phase"]
    return phase in (ACT, PLAY, DISCARD, SHIP)


@kernel
def outcome(records, i):
    """The card being laid or whose effect is being done, which an unknown_fate may have brought."""
    return 1 + np.int64(records[i]["card"])


@kernel
def log_chance(moves, case, n):
    """What so many moves from home mean: a row of CHANCE, interpolated."""
    k = 0
    while k < MOVES.size - 2 and moves > MOVES[k + 1]:
        k += 1
    part = min((moves - MOVES[k]) / (MOVES[k + 1] - MOVES[k]), 1.0)
    return (1.0 - part) * CHANCE[n, case, k] + part * CHANCE[n, case, k + 1]


@kernel
def write_chances(s, moves, values):
    """Write each seat's chance to win, by the moves from home of all, into values."""
    players = np.int64(s["players"])
    me = np.int64(s["seat"])
    n = 0 if players == 2 else 1
    total = 0.0
    for seat in range(players):
        if seat == me:
            case = TURN_MOVES_TO_COME if s["part"] == 1 else TURN_LAST_MOVE
        else:
            case = LATER_IN_ROUND if seat > me else NEXT_ROUND
        values[seat] = np.exp(log_chance(moves[seat], case, n))
        total += values[seat]
    for seat in range(values.size):
        values[seat] = values[seat] / total if seat < players else 0.0


@kernel
def reward(chance, players):
    """The expected reward of a chance to win."""
    return chance - (1.0 - chance) / (players - 1)


@kernel
def evaluate(work, i, masks, scratch, values):
    """Write the expected reward of each seat: of its chance to win, by the ways home."""
    s = work[i]
    players = np.int64(s["players"])
    moves = scratch.desk.near
    for seat in range(players):
        moves[seat] = way_home(s, seat, WEIGHED)
    write_chances(s, moves, values)
    for seat in range(players):
        values[seat] = reward(values[seat], players)


@kernel
def weigh(work, masks, scratch, margin):
    """Write into scratch.worths what the heuristic says of every action without a child, no closer than by `margin` less than the best or
    than doing nothing; return what the position is worth to it."""
    me = np.int64(work[0]["seat"])
    desk = scratch.desk
    now = study_all(work[0], me, WEIGHED, desk.rooms)
    floor = now - margin
    worths = scratch.worths
    for a in range(worths.size):
        if masks[0, a] == 1:
            worth = worth_of_action(work, scratch.records, scratch.masks, scratch.tried, me, np.int64(a), now, WEIGHED, desk, floor)
            worths[a] = max(worth, floor)
            floor = max(floor, worth - margin)
    return now


@kernel
def guess(work, masks, scratch, guesses):
    """Write for each action without a child what reward the seat to act may expect of it."""
    s = work[0]
    players = np.int64(s["players"])
    me = np.int64(s["seat"])
    now = weigh(work, masks, scratch, MARGIN)
    moves = scratch.desk.near
    for seat in range(players):
        moves[seat] = scratch.desk.rooms[seat]["moves"]
    chances = np.empty(MAX_PLAYERS)
    write_chances(s, moves, chances)
    odds = chances[me] / max(1.0 - chances[me], 1e-9)
    for a in range(guesses.size):
        if masks[0, a] == 1:
            shifted = odds * np.exp(SLOPE * min(max(scratch.worths[a] - now, -4.0), 4.0))
            guesses[a] = reward(shifted / (1.0 + shifted), players)


@kernel
def playout_action(work, masks, scratch):
    """The action that the heuristic finds best: the lowest of them."""
    weigh(work, masks, scratch, 1e-9)
    best = -1
    for a in range(scratch.worths.size):
        if masks[0, a] == 1 and (best < 0 or scratch.worths[a] > scratch.worths[best] + 1e-9):
            best = a
    return best
