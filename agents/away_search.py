"""What the search of a_way adds to `agents.tree`: the worth of a position as chances of victory, and the heuristic's first choice.

The worth is what the value network says (`agents.value_network`) of the ways home (`agents.away_ways`), the hands and the turn. It was
fitted by `training.fit_value` to games of the heuristic in which some actions were random.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from agents import away_heuristic
from agents.away_changes import LEAF, Desk, alike_turns, study_all
from agents.away_heuristic import DEPTH, worth_of_action
from agents.away_ways import ENDLESS, NO_WAY, NOT_STUDIED, ROOM, WEIGHTS, lay_out, search_on
from agents.value_network import ValueNetwork, judge, value_network
from away_env.cards import ACTION_CARDS, MAX_PLAYERS, NUM_CARDS, NUM_DESIGNS
from away_env.kernel import FACTION
from away_env.rules import AwayRules
from away_env.state import ACT, DISCARD, PLAY, SHIP, STATE
from away_env.targets import ACTION
from tabletop.compiled import kernel
from tabletop.registry import Game

KERNEL_PACKAGES = (*away_heuristic.KERNEL_PACKAGES, "agents.away_heuristic", "agents.value_network")

#: Options of the search that serve this game best
DEFAULTS = {"playout": "heuristic", "depth": 0, "exploration": 0.3, "widening": 0.5}

WEIGHED = np.array(list(WEIGHTS.values()), np.float64)
LEAST = 1e-9  # difference of two worths

#: Moves home between which the network is told where a way lies; also how near each of these the way is, from 0 to 1
MOVES = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 11.0, 15.0, 20.0])
# of each seat, counted from the one to act: MOVES; lanes lead home; on its start base; has its turn still in this round; hand
I_BY_LANES = len(MOVES)
I_AT_BASE, I_TURN_TO_COME, I_HAND = I_BY_LANES + 1, I_BY_LANES + 2, I_BY_LANES + 3
NUM_HAND = len(ACTION_CARDS) + 1  # action cards of each name, exploration cards
SEAT_INPUTS = I_HAND + NUM_HAND
# of all: phase 2 of the turn; phases; players; somebody is home; rounds left; cards of the hand that the faction played allows
I_PART = SEAT_INPUTS * MAX_PLAYERS
I_PHASE = I_PART + 1
I_PLAYERS = I_PHASE + 4
I_HOME = I_PLAYERS + MAX_PLAYERS - 1
I_ROUNDS = I_HOME + 1
I_FITTING = I_ROUNDS + 3
NUM_INPUTS = I_FITTING + 2
MAX_ROUNDS = AwayRules.place("max_rounds")
LAST_ROUNDS = np.array([1.0, 3.0, 10.0])
INPUT_SCALE = np.ones(NUM_INPUTS, np.float32)


class Scratch(NamedTuple):
    """Where positions are worked out, and the network that judges them."""

    desk: Desk
    records: np.ndarray
    masks: np.ndarray
    tried: np.ndarray
    inputs: np.ndarray
    network: ValueNetwork


def scratch(game: Game) -> Scratch:
    desk = Desk(np.zeros(MAX_PLAYERS + 1, ROOM), np.zeros(MAX_PLAYERS), np.zeros((NUM_DESIGNS, 4), np.int64))
    records, masks = np.zeros(DEPTH + 1, STATE), np.zeros((DEPTH + 1, game.num_actions), np.int8)
    inputs = np.zeros(NUM_INPUTS, np.float32)
    return Scratch(desk, records, masks, np.zeros(DEPTH + 1, np.int64), inputs, value_network(game.name))


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
def describe_way(moves, inputs, at):
    """Write where a way home lies among MOVES."""
    k = 0
    while k < MOVES.size - 2 and moves > MOVES[k + 1]:
        k += 1
    part = min((moves - MOVES[k]) / (MOVES[k + 1] - MOVES[k]), 1.0)
    inputs[at + k] = 1.0 - part
    inputs[at + k + 1] = part


@kernel
def describe_all(s, moves, by_lanes, inputs):
    """Write what the value network goes by into inputs, for ways home of so many moves (P,), by lanes or not (P,)."""
    inputs[:] = 0.0
    players = np.int64(s["players"])
    me = np.int64(s["seat"])
    home = 0
    for k in range(players):
        seat = (me + k) % players
        at = k * SEAT_INPUTS
        describe_way(moves[seat], inputs, at)
        inputs[at + I_BY_LANES] = by_lanes[seat]
        inputs[at + I_AT_BASE] = s["stop"][seat] == 0 and not s["home"][seat]
        inputs[at + I_TURN_TO_COME] = seat > me
        home += s["home"][seat]
    for card in range(NUM_CARDS):
        seat = np.int64(s["place"][card])
        if 0 <= seat < players:
            action = np.int64(ACTION[card])
            k = (seat - me + players) % players
            inputs[k * SEAT_INPUTS + I_HAND + (action if action >= 0 else NUM_HAND - 1)] += 1.0
            if seat == me and s["faction"] == FACTION[card]:
                inputs[I_FITTING + (action >= 0)] += 1.0
    inputs[I_PART] = s["part"] == 2
    phase = s["phase"]
    inputs[I_PHASE + (0 if phase == ACT else 1 if phase == PLAY else 2 if phase == DISCARD else 3)] = 1.0
    inputs[I_PLAYERS + players - 2] = 1.0
    inputs[I_HOME] = home
    left = np.float64(s["options"][MAX_ROUNDS] - s["round"])
    for k in range(LAST_ROUNDS.size):
        inputs[I_ROUNDS + k] = max(1.0 - left / LAST_ROUNDS[k], 0.0)


@kernel
def describe(records, i, scratch):
    """Write what the value network goes by of the position in row i."""
    s = records[i]
    rooms = scratch.desk.rooms
    moves = np.empty(MAX_PLAYERS)
    by_lanes = np.empty(MAX_PLAYERS)
    lay_out(s, rooms[LEAF], WEIGHED)
    for seat in range(np.int64(s["players"])):
        moves[seat] = search_on(s, seat, WEIGHED, rooms, LEAF, LEAF, NO_WAY, NOT_STUDIED, LEAF, LEAF, ENDLESS)
        by_lanes[seat] = rooms[LEAF]["by_lanes"] or s["home"][seat]
    describe_all(s, moves, by_lanes, scratch.inputs)


@kernel
def evaluate(work, i, masks, scratch, values):
    """Write the expected reward of each seat: of its chance to win, as the value network has it."""
    describe(work, i, scratch)
    judge(scratch.network, scratch.inputs, np.int64(work[i]["seat"]), np.int64(work[i]["players"]), values)


@kernel
def playout_action(work, masks, scratch):
    """The action that the heuristic finds best, all targets that it asks for included: the lowest of them."""
    me = np.int64(work[0]["seat"])
    desk = scratch.desk
    now = study_all(work[0], me, WEIGHED, desk.rooms)
    floor = now - LEAST  # what is not better than the best so far is not looked at more closely
    best = -1
    best_worth = 0.0
    for a in range(masks.shape[1]):
        if masks[0, a] == 1:
            worth = worth_of_action(work, scratch.records, scratch.masks, scratch.tried, me, np.int64(a), now, WEIGHED, desk, floor)
            worth = max(worth, floor)
            floor = max(floor, worth - LEAST)
            if best < 0 or worth > best_worth + LEAST:
                best = a
                best_worth = worth
    return best
