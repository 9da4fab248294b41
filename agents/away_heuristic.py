"""An a_way player that looks one card ahead: it does what leaves its own ship near home and the others' far from it.

A position is worth what the ways home promise (`away_ways`). Of every action the best end counts, all targets that it asks for
included: worked out by what it changes where it only changes cards on the table (`away_changes`), otherwise on a copy of the position,
made from the observation alone (`away_position`). Whole batches at once; ties go to the lowest action.
"""

from __future__ import annotations

import numpy as np

from agents.away_changes import (
    LAID_OUT,
    MOST_LEAVES,
    NEVER,
    NOBODY,
    STRIDE,
    Desk,
    best_change,
    changes_cells,
    name_target,
    study_all,
)
from agents.away_position import rebuild
from agents.away_tables import Played, by_table, known_tables
from agents.away_ways import (
    CARD,
    CHAIN,
    ENDLESS,
    FATE,
    FRESH,
    NO_WAY,
    NOT_STUDIED,
    OTHERS,
    ROOM,
    WEIGHTS,
    lay_out,
    search_on,
    way_home,
    worth_of_own_way,
    worth_of_way,
)
from away_env import observation as o
from away_env.actions import A_CELL, A_DISCARD, A_DONE, A_PASS, A_STOP, ACTIONS
from away_env.cards import MAX_PLAYERS, NUM_CARDS, SCRAPYARD, UNKNOWN_FATE
from away_env.kernel import FACTION, apply, legal
from away_env.state import CELL, LINE, SEAT, STATE, STOP, TURN
from away_env.targets import ACTION
from tabletop.compiled import announce, kernel, used_packages
from tabletop.sampling import check_masks

__all__ = ["HEURISTIC", "WEIGHTS", "AwayHeuristic", "best_end", "decide", "nearness", "rebuild", "value", "way_home", "worth_of_action"]

KERNEL_PACKAGES = ("away_env", "agents.away_bounds", "agents.away_changes", "agents.away_position", "agents.away_ways")

DEPTH = 6  # most targets of an action, and one more
MAY_BE_NEGATIVE = {"card", "chain", "fate", "fresh", "soon"}  # weights on which no bound of `away_bounds` rests


# -- what a position is worth ----------------------------------------------------------------------------------------------


@kernel
def value(s, me, w):
    """What the position is worth to the seat `me`."""
    return value_in(s, me, w, np.empty(1, ROOM), LAID_OUT)


@kernel
def value_in(s, me, w, rooms, r):
    """The same, worked out in rooms[r]."""
    if s["over"] == 1:
        return 10.0 if s["won"][me] else -10.0
    lay_out(s, rooms[r], w)
    own = 0.0
    best = 0.0
    mean = 0.0
    players = np.int64(s["players"])
    for k in range(players):
        moves = search_on(s, k, w, rooms, r, r, NO_WAY, NOT_STUDIED, r, r, ENDLESS)
        if k == me:
            own = worth_of_own_way(moves, s["seat"] == me, w)
        else:
            near = worth_of_way(moves, w)
            best = max(best, near)
            mean += near / (players - 1)
    return own - w[OTHERS] * (0.8 * best + 0.2 * mean)


@kernel
def nearness(s, seat, w):
    """What the seat's way home is worth."""
    return worth_of_way(way_home(s, seat, w), w)


# -- the decision ----------------------------------------------------------------------------------------------------------


@kernel
def asks_target(s, me):
    """Is a target of the same effect asked next?"""
    phase = s["phase"]
    return s["over"] == 0 and s["seat"] == me and phase in (SEAT, CELL, STOP, TURN, LINE)


@kernel
def best_end(work, masks, tried, me, w):
    """The best value that the effect under way in work[0], whichever it is, can end in."""
    if not asks_target(work[0], me):
        return value(work[0], me, w)
    rooms = np.empty(1, ROOM)
    best = NEVER
    leaves = 0
    depth = 0
    legal(work, 0, masks[0])
    tried[0] = 0
    num_actions = masks.shape[1]
    while depth >= 0 and leaves < MOST_LEAVES:
        action = -1
        while tried[depth] < num_actions and action < 0:
            candidate = tried[depth] * STRIDE % num_actions
            tried[depth] += 1
            if masks[depth, candidate]:
                action = candidate
        if action < 0:
            depth -= 1
            continue
        work[depth + 1] = work[depth]
        apply(work, depth + 1, action)
        if depth + 2 < DEPTH and asks_target(work[depth + 1], me):
            depth += 1
            legal(work, depth, masks[depth])
            tried[depth] = 0
        else:
            leaves += 1
            best = max(best, value_in(work[depth + 1], me, w, rooms, LAID_OUT))
    return best


@kernel
def hand_of_faction(s, me, faction, without):
    """Cards of a faction in the hand, one left out."""
    count = 0
    for card in range(NUM_CARDS):
        count += s["place"][card] == me and FACTION[card] == faction and card != without
    return count


@kernel
def brings_fate(s, card):
    """Is it a card of the deck that playing this card would bring?"""
    if ACTION[card] == SCRAPYARD:
        return ACTION[s["pile"][s["pile_size"] - 1]] == UNKNOWN_FATE
    return ACTION[card] == UNKNOWN_FATE


@kernel
def worth_of_action(root, work, masks, tried, me, action, now, w, desk, floor):
    """What a legal action leads to; NEVER if that is found to be no more than `floor`."""
    s = root[0]
    if action == A_PASS:
        return now if desk.rooms[me]["moves"] > 1.0 else NEVER  # what is left of the turn counts in `now`
    if action == A_DONE:
        return now
    if A_DISCARD <= action < A_CELL:
        card = action - A_DISCARD
        company = hand_of_faction(s, me, FACTION[card], card)
        return now + w[FRESH] * (1.0 - 0.25 * company - (0.3 if ACTION[card] >= 0 else 0.0))
    if action < A_DISCARD and brings_fate(s, action):
        return now + w[FATE]
    work[0] = s
    if A_CELL <= action < A_STOP and changes_cells(s["effect"]):
        turn = name_target(work[0], me, action)
        return best_change(work[0], me, turn, w, desk, now, floor)
    apply(work, 0, action)
    extra = w[CHAIN] * hand_of_faction(s, me, FACTION[action], action) - w[CARD] if action < A_DISCARD else 0.0
    if asks_target(work[0], me) and changes_cells(work[0]["effect"]):
        return best_change(work[0], me, NOBODY, w, desk, now, floor - extra) + extra
    return best_end(work, masks, tried, me, w) + extra


@kernel
def decide(obs, mask, root, work, masks, tried, w, desk):
    """The action for one decision."""
    me = rebuild(obs, root[0])
    now = study_all(root[0], me, w, desk.rooms)
    floor = NEVER
    for action in range(A_DISCARD, A_CELL):  # what is sure anyway
        if mask[action]:
            floor = max(floor, worth_of_action(root, work, masks, tried, me, action, now, w, desk, NEVER))
    if mask[A_DONE]:
        floor = max(floor, now)
    floor -= 1e-6
    best = -1
    best_worth = 2 * NEVER
    for action in range(mask.size):
        if mask[action]:
            worth = worth_of_action(root, work, masks, tried, me, action, now, w, desk, max(floor, best_worth))
            if worth > best_worth + 1e-9:
                best = action
                best_worth = worth
    return best


@kernel
def decide_rows(observation, mask, root, work, masks, tried, w, desk, actions):
    """The actions for a batch of decisions."""
    for i in range(observation.shape[0]):
        actions[i] = decide(observation[i], mask[i], root, work, masks, tried, w, desk)


class AwayHeuristic:
    """Plays a_way for 2 to 4 players. `weights` changes some of WEIGHTS by name. rules: those that are played, one or several, which may
    have one card table besides the installed one (agents.away_tables).

    ValueError names a weight that there is not, or that may not be negative.
    """

    name = "heuristic"

    def __init__(self, rules: Played = None, **weights: float) -> None:
        if unknown := sorted(set(weights) - set(WEIGHTS)):
            raise ValueError(f"the a_way heuristic has no weight {unknown[0]!r}; weights: {', '.join(WEIGHTS)}")
        if negative := [name for name in (WEIGHTS.keys() & weights.keys()) - MAY_BE_NEGATIVE if weights[name] < 0.0]:
            raise ValueError(f"the a_way heuristic's weight {min(negative)} must be at least 0, not {weights[min(negative)]:g}")
        self.weights = np.array(list((WEIGHTS | weights).values()), np.float64)
        self._root, self._alike = known_tables(rules)
        announce("the a_way heuristic", used_packages(__name__, KERNEL_PACKAGES), self._warm_up)

    def act(self, observation: np.ndarray, action_mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Actions (n,) for observation (n, D) and mask (n, A); EmptyMask if a row allows nothing. `rng` is not used."""
        check_masks(action_mask)
        return self._decide(np.ascontiguousarray(observation, np.int8), np.ascontiguousarray(action_mask, np.int8))

    def _decide(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        actions = np.empty(len(observation), np.int64)
        work, masks, tried = np.zeros(DEPTH + 1, STATE), np.zeros((DEPTH + 1, len(ACTIONS)), np.int8), np.zeros(DEPTH + 1, np.int64)
        for table, rows in by_table(observation, len(self._root)):
            desk = Desk(np.zeros(MAX_PLAYERS + 1, ROOM), np.zeros(MAX_PLAYERS), self._alike[table])
            root, decided = self._root[table : table + 1].copy(), actions[rows]
            decide_rows(observation[rows], mask[rows], root, work, masks, tried, self.weights, desk, decided)
            actions[rows] = decided
        return actions

    def _warm_up(self) -> None:
        self._decide(np.zeros((0, o.LAYOUT.size), np.int8), np.zeros((0, len(ACTIONS)), np.int8))


HEURISTIC = AwayHeuristic
