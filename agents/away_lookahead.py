"""What each legal action of an a_way decision leads to, as numbers for a network: the ways home after the action's best end and after
the best rest of the turn.

A network cannot foresee what a card does to the lanes; carrying the action out on a copy of the position can. The copy is made from
the observation alone, as the heuristic makes its own (agents.away_heuristic), and ends are compared by the heuristic's value of a
position. Unlike the heuristic, several cards of a turn are tried one after the other.
"""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar

import numpy as np

import tabletop
from agents import away_ends
from agents.away_changes import NEVER, Desk, study_all
from agents.away_ends import KEPT, MORE_CARDS, MOST_LEAVES, SPARE, best_ends, make_space, play_on
from agents.away_heuristic import brings_fate, hand_of_faction
from agents.away_position import rebuild
from agents.away_tables import Played, by_table, known_tables
from agents.away_ways import CARD, CHAIN, FATE, FRESH, NO_WAY, ROOM, WEIGHTS, search
from away_env.actions import A_CELL, A_DISCARD, A_DONE, A_PASS, ACTIONS
from away_env.cards import MAX_PLAYERS
from away_env.effects import measure_ways
from away_env.kernel import FACTION
from away_env.state import NOT_HOME
from away_env.targets import ACTION
from tabletop.compiled import announce, kernel, used_packages

KERNEL_PACKAGES = (*away_ends.KERNEL_PACKAGES, "agents.away_ends")

VERSION = 1  # to be raised whenever a feature of the same name tells something else

#: What is told of every action; the last row tells the same of the position as it is, as far as that makes sense.
FEATURES = {  # name: typical size
    "legal": 1,
    "gain": 32,  # worth of the action's best end less the worth now, in steps of 1/500
    "large_gain": 32,  # what of it lies beyond the limits of `gain`, in steps of 1/60
    "turn_gain": 32,  # the same with the best rest of the turn
    "large_turn_gain": 32,
    "behind": 32,  # turn_gain less that of the best action
    "own_way": 16,  # own moves home at the best end, in quarters
    "own_lanes": 8,  # those by lanes alone; 31: none lead home
    "other_way": 16,  # of the other who is nearest home
    "other_lanes": 8,
    "turn_own_way": 16,  # at the end of the best rest of the turn
    "turn_own_lanes": 8,
    "turn_other_way": 16,
    "turn_other_lanes": 8,
    "home": 1,  # the own ship is home at the best end
    "turn_over": 1,  # the turn is over then
    "others_home": 1,  # how many of the others are home
    "company": 2,  # cards of the card's faction that stay in the hand
    "hand": 4,  # cards that stay in the hand
}
(F_LEGAL, F_GAIN, F_LARGE_GAIN, F_TURN_GAIN, F_LARGE_TURN_GAIN, F_BEHIND, F_WAYS, _, _, _, F_TURN_WAYS, _, _, _, F_HOME, F_TURN_OVER,
 F_OTHERS_HOME, F_COMPANY, F_HAND) = range(len(FEATURES))  # fmt: skip
FINE, COARSE, LIMIT = 500.0, 60.0, 127
NO_LANES = 31
LOOKED_INTO = 4  # actions whose rest of the turn is looked at: those of the best ends


@kernel
def write_ways(s, me, w, rooms, out):
    """The four numbers of ways home."""
    nearest = 1e9
    lanes = np.int64(NOT_HOME)
    for k in range(np.int64(s["players"])):
        if k != me:
            nearest = min(nearest, search(s, k, w, rooms, SPARE, NO_WAY))
            lanes = min(lanes, np.int64(s["moves_home"][k]))
    out[0] = np.int64(min(4.0 * search(s, me, w, rooms, SPARE, NO_WAY), LIMIT))
    out[1] = min(np.int64(s["moves_home"][me]), NO_LANES)
    out[2] = np.int64(min(4.0 * nearest, LIMIT))
    out[3] = min(lanes, NO_LANES)


@kernel
def write_rest(s, me, out):
    """Ships at home, and whose turn it is."""
    others = 0
    for k in range(np.int64(s["players"])):
        if k != me:
            others += s["home"][k]
    out[F_HOME] = s["home"][me]
    out[F_TURN_OVER] = s["over"] != 0 or s["seat"] != me
    out[F_OTHERS_HOME] = others
    out[F_HAND] = s["hand_size"][me]


@kernel
def write_gain(gain, out):
    """A gain in fine steps, and in coarse ones what lies beyond their limits."""
    fine = min(max(gain * FINE, -LIMIT), LIMIT)
    out[0] = np.int64(np.rint(fine))
    out[1] = np.int64(np.rint(min(max((gain - fine / FINE) * COARSE, -LIMIT), LIMIT)))


@kernel
def look(obs, mask, root, space, desk, w, gains, turn_gains, out):
    """Write the features (A + 1, F) of one decision. gains, turn_gains (A,): for what is worked out on the way."""
    me = rebuild(obs, root[0])
    s = root[0]
    measure_ways(s)
    now = study_all(s, me, w, desk.rooms)
    num_actions = mask.size
    out[:] = 0
    still = out[num_actions]
    write_ways(s, me, w, desk.rooms, still[F_WAYS : F_WAYS + 4])
    write_rest(s, me, still)
    write_gain(now - 0.5, still[F_GAIN : F_GAIN + 2])
    best_gain = NEVER
    for action in range(num_actions):
        turn_gains[action] = NEVER  # not to be looked into
        if not mask[action]:
            continue
        row = out[action]
        gain = 0.0
        count = 0  # of ends, none also where another card table than the known one is played by
        if not (A_DISCARD <= action < A_CELL or action in (A_PASS, A_DONE) or (action < A_DISCARD and brings_fate(s, action))):
            count = best_ends(s, action, space, me, desk, now, w, space.kept, space.worths, 0)
        if count == 0:
            row[F_WAYS : F_WAYS + 4] = still[F_WAYS : F_WAYS + 4]
            write_rest(s, me, row)
            row[F_TURN_OVER] = action == A_PASS
            if action == A_PASS:
                gain = -1.0 if desk.rooms[me]["moves"] <= 1.0 else 0.0
        else:
            gain = space.worths[0] - now
            write_ways(space.kept[0], me, w, desk.rooms, row[F_WAYS : F_WAYS + 4])
            write_rest(space.kept[0], me, row)
            turn_gains[action] = gain
        row[F_LEGAL] = 1
        row[F_TURN_WAYS : F_TURN_WAYS + 4] = row[F_WAYS : F_WAYS + 4]
        if action < A_DISCARD:
            row[F_COMPANY] = hand_of_faction(s, me, FACTION[action], action)
            gain += w[FATE] if brings_fate(s, action) else w[CHAIN] * row[F_COMPANY] - w[CARD]
        elif action < A_CELL:
            card = action - A_DISCARD
            row[F_COMPANY] = hand_of_faction(s, me, FACTION[card], card)
            row[F_HAND] -= 1
            gain = w[FRESH] * (1.0 - 0.25 * row[F_COMPANY] - (0.3 if ACTION[card] >= 0 else 0.0))
        gains[action] = gain
        write_gain(gain, row[F_GAIN : F_GAIN + 2])
        row[F_TURN_GAIN : F_TURN_GAIN + 2] = row[F_GAIN : F_GAIN + 2]
    for _ in range(LOOKED_INTO):
        chosen = -1
        for action in range(num_actions):
            if turn_gains[action] > NEVER and (chosen < 0 or turn_gains[action] > turn_gains[chosen]):
                chosen = action
        if chosen < 0:
            break
        turn_gains[chosen] = NEVER
        study_all(s, me, w, desk.rooms)
        count = best_ends(s, chosen, space, me, desk, now, w, space.kept, space.worths, 0)
        first = space.worths[0]
        best = play_on(space, count, me, desk, w)
        if best > first:
            gains[chosen] += best - first
            write_ways(space.end[0], me, w, desk.rooms, out[chosen, F_TURN_WAYS : F_TURN_WAYS + 4])
            write_gain(gains[chosen], out[chosen, F_TURN_GAIN : F_TURN_GAIN + 2])
    for action in range(num_actions):
        if mask[action]:
            best_gain = max(best_gain, gains[action])
    for action in range(num_actions):
        if mask[action]:
            out[action, F_BEHIND] = np.int64(np.rint(max((gains[action] - best_gain) * FINE, -LIMIT)))


@kernel
def look_rows(observation, mask, root, space, desk, w, gains, turn_gains, out):
    """The features of a batch of decisions."""
    for i in range(observation.shape[0]):
        look(observation[i], mask[i], root, space, desk, w, gains, turn_gains, out[i])


class AwayLookahead:
    """Features of the actions of a_way's decisions, for networks. rules: those that are played, one or several, which may have
    one card table besides the installed one (agents.away_tables)."""

    features = FEATURES
    #: what the network's logits begin as: so much for each step of a feature
    prior: ClassVar = {"turn_gain": 0.25, "large_turn_gain": 0.25 * FINE / COARSE}
    digest = hashlib.sha256(repr((VERSION, FEATURES, WEIGHTS, MOST_LEAVES, KEPT, MORE_CARDS, LOOKED_INTO)).encode()).hexdigest()[:16]

    def __init__(self, rules: Played = None, threads: int = 1) -> None:
        self.threads = threads
        self.weights = np.array(list(WEIGHTS.values()), np.float64)
        self._root, self._alike = known_tables(rules)
        announce("a_way's lookahead", used_packages(__name__, KERNEL_PACKAGES), self._warm_up)

    def look(self, observation: np.ndarray, action_mask: np.ndarray) -> np.ndarray:
        """Features (n, A + 1, F) int8 of observations (n, D) with masks (n, A)."""
        observation = np.ascontiguousarray(observation, np.int8)
        mask = np.ascontiguousarray(action_mask).view(np.int8)
        out = np.empty((len(mask), mask.shape[1] + 1, len(FEATURES)), np.int8)
        parts = min(self.threads, max(len(mask) // 16, 1))
        if parts == 1:
            self._look(observation, mask, out)
        else:  # a row does not depend on the others: the same numbers by any number of threads
            bounds = np.linspace(0, len(mask), parts + 1).astype(int)
            with ThreadPoolExecutor(parts) as pool:
                list(pool.map(lambda a, b: self._look(observation[a:b], mask[a:b], out[a:b]), bounds[:-1], bounds[1:]))
        return out

    def _look(self, observation: np.ndarray, mask: np.ndarray, out: np.ndarray) -> None:
        gains, turn_gains = np.zeros((2, len(ACTIONS)))
        for table, rows in by_table(observation, len(self._root)):
            desk = Desk(np.zeros(MAX_PLAYERS + 1, ROOM), np.zeros(MAX_PLAYERS), self._alike[table])
            root, told = self._root[table : table + 1].copy(), out[rows]
            look_rows(observation[rows], mask[rows], root, make_space(), desk, self.weights, gains, turn_gains, told)
            out[rows] = told

    def _warm_up(self) -> None:
        self.look(np.zeros((0, tabletop.game("away").layout.size), np.int8), np.zeros((0, len(ACTIONS)), np.int8))


LOOKAHEAD = AwayLookahead
