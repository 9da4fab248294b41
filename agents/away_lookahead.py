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
from agents.away_heuristic import (
    CARD,
    CELL_ORDER,
    CHAIN,
    DEPTH,
    FATE,
    FRESH,
    NEVER,
    NOBODY,
    STRIDE,
    WEIGHTS,
    Desk,
    alike_turns,
    asks_target,
    brings_fate,
    changes_cells,
    hand_of_faction,
    name_target,
    study_all,
    try_change,
    value_in,
)
from agents.away_position import rebuild
from agents.away_ways import NO_WAY, ROOM, search
from away_env.actions import A_CELL, A_DISCARD, A_DONE, A_PASS, A_STOP, ACTIONS
from away_env.cards import (
    COSMIC_COMPASS,
    MAX_PLAYERS,
    NEBULA_DEVIATION,
    SOLAR_ROTATION,
    SOLAR_STORM,
    SOLAR_TORNADO,
    SUPER_NEBULA,
    UNSTABLE_FIELD,
)
from away_env.effects import measure_ways
from away_env.kernel import FACTION, apply, legal
from away_env.lanes import CELL_OF, can_lift, is_bare, is_empty_card, is_solar, may_lay, may_lie
from away_env.state import FREE, LAY, NOT_HOME, PLAY, STATE, TABLE_PLACE
from away_env.targets import ACTION, count_empty, is_rotated_by
from away_env.turn import end_effect
from tabletop.compiled import announce, kernel, used_packages

KERNEL_PACKAGES = ("away_env", "agents.away_position", "agents.away_ways", "agents.away_heuristic")

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

MOST_LEAVES = 200  # ends of one action that are looked at
KEPT = 2  # ends from which the turn is played on
MORE_CARDS = 2  # further cards of the turn
LOOKED_INTO = 4  # actions whose rest of the turn is looked at: those of the best ends
MOST_CHANGES = MOST_LEAVES + 16
SPARE = MAX_PLAYERS  # the room for single searches


# -- the ends of an action -------------------------------------------------------------------------------------------------


@kernel
def keep_end(s, worth, kept, worths, count):
    """Put an end into the list of the best, if it is one of them; how many there are now."""
    for k in range(count):
        if abs(worths[k] - worth) < 1e-9:
            return count
    at = count
    if count < worths.size:
        count += 1
    elif worth <= worths[count - 1]:
        return count
    else:
        at = count - 1
    while at > 0 and worths[at - 1] < worth:
        worths[at] = worths[at - 1]
        kept[at] = kept[at - 1]
        at -= 1
    worths[at] = worth
    kept[at] = s
    return count


@kernel
def note(changes, count, first, card, turn, second, other, other_turn):
    """Add a change of two cells (the same one twice for a single change): what lies there afterwards, and how it is turned."""
    change = changes[count]
    change[0] = first
    change[1] = card
    change[2] = turn
    change[3] = second
    change[4] = other
    change[5] = other_turn
    return count + 1


@kernel
def list_changes(s, me, named, alike, changes):
    """Write the changes that the effect under way, one that changes cells, can end in; how many. named: the orientation that was the
    last target, else -1. Orientations that look alike count once."""
    effect = np.int64(s["effect"])
    first = np.int64(s["target"][0])
    second = np.int64(s["target"][1])
    bare = effect == LAY and is_bare(s)
    exploration, solar = count_empty(s) if effect in (NEBULA_DEVIATION, SUPER_NEBULA) else (0, 0)
    swaps = effect in (NEBULA_DEVIATION, SUPER_NEBULA)
    count = 0
    for own_cell in CELL_ORDER:
        cell = CELL_OF[me, own_cell]
        if count >= MOST_LEAVES:
            break
        if effect == COSMIC_COMPASS:
            good = cell == s["ship"][me]
        elif first >= 0:
            good = cell == first
        elif effect == LAY:
            good = may_lay(s, cell, bare)
        elif effect == SOLAR_ROTATION:
            good = is_rotated_by(s, me, cell)
        elif effect in (SOLAR_TORNADO, SOLAR_STORM):
            good = can_lift(s, cell)
        else:
            good = is_empty_card(s, cell) and (not swaps or (solar if is_solar(s["board"][cell]) else exploration) > 1)
        if not good:
            continue
        card = np.int64(s["card"]) if effect == LAY else np.int64(s["board"][cell])
        lies = np.int64(s["turn"][cell])
        design = np.int64(s["design"][card])
        if effect in (LAY, SOLAR_ROTATION, UNSTABLE_FIELD, COSMIC_COMPASS):
            for turn in range(4):
                if effect != LAY and turn == lies:
                    continue
                like = alike[design, turn]
                if turn == named or (named < 0 and (like == turn or (effect != LAY and like == lies))):
                    count = note(changes, count, cell, card, turn, cell, card, turn)
            continue
        for own_there in CELL_ORDER:
            there = CELL_OF[me, own_there]
            if count >= MOST_LEAVES:
                break
            if second >= 0:
                good = there == second
            elif swaps:
                good = there != cell and is_empty_card(s, there) and is_solar(s["board"][there]) == is_solar(card)
            else:
                good = may_lie(s, there, cell)
            if not good:
                continue
            other = np.int64(s["board"][there])
            other_lies = np.int64(s["turn"][there])
            if effect == SOLAR_STORM:
                count = note(changes, count, cell, np.int64(FREE), 0, there, card, lies)
            elif effect == NEBULA_DEVIATION:
                count = note(changes, count, cell, other, other_lies, there, card, lies)
            elif effect == SOLAR_TORNADO:
                for turn in range(4):
                    if turn == named or (named < 0 and alike[design, turn] == turn):
                        count = note(changes, count, cell, np.int64(FREE), 0, there, card, turn)
            else:
                of_other = np.int64(s["design"][other])
                for turn in range(4):
                    if s["target_turn"] >= 0 and turn != s["target_turn"]:
                        continue
                    if s["target_turn"] < 0 and alike[design, turn] != turn:
                        continue
                    for other_turn in range(4):
                        if count < MOST_LEAVES and (other_turn == named or (named < 0 and alike[of_other, other_turn] == other_turn)):
                            count = note(changes, count, cell, other, other_turn, there, card, turn)
    return count


@kernel
def carry_out(s, change):
    """End the effect under way by that change."""
    s["board"][change[0]] = change[1]
    s["turn"][change[0]] = change[2]
    s["board"][change[3]] = change[4]
    s["turn"][change[3]] = change[5]
    if s["effect"] == LAY:
        s["place"][change[1]] = TABLE_PLACE
    measure_ways(s)
    end_effect(s)


@kernel
def changed_ends(work, me, named, desk, now, changes, picked, picked_worths, w, kept, worths, count):
    """`best_ends` where cells are changed, of a position whose ways are in the desk's rooms and which is worth `now`."""
    s = work[0]
    size = list_changes(s, me, named, desk.alike, changes)
    num = 0
    for c in range(size):
        floor = picked_worths[num - 1] if num == picked.size else NEVER
        if count == worths.size:
            floor = max(floor, worths[count - 1])
        change = changes[c]
        worth = try_change(s, me, w, desk, now, change[0], change[1], change[2], change[3], change[4], change[5], floor)
        if worth <= floor:
            continue
        known = False
        for k in range(num):
            known |= abs(picked_worths[k] - worth) < 1e-9
        if known:
            continue
        at = num if num < picked.size else num - 1
        num = min(num + 1, picked.size)
        while at > 0 and picked_worths[at - 1] < worth:
            picked_worths[at] = picked_worths[at - 1]
            picked[at] = picked[at - 1]
            at -= 1
        picked_worths[at] = worth
        picked[at] = c
    for k in range(num):
        work[1] = s
        carry_out(work[1], changes[picked[k]])
        count = keep_end(work[1], picked_worths[k], kept, worths, count)
    return count


@kernel
def other_ends(work, masks, tried, me, w, desk, kept, worths, count):
    """`best_ends` of all other effects: every way of naming the targets is carried out."""
    if not asks_target(work[0], me):
        return keep_end(work[0], value_in(work[0], me, w, desk.rooms, SPARE), kept, worths, count)
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
            count = keep_end(work[depth + 1], value_in(work[depth + 1], me, w, desk.rooms, SPARE), kept, worths, count)
    return count


@kernel
def best_ends(s, action, work, masks, tried, me, desk, now, changes, picked, picked_worths, w, kept, worths, count):
    """Put the best ends of an action into the list; how many are in it now. The desk's rooms tell the ways of s, worth `now`."""
    work[0] = s
    named = NOBODY
    if A_CELL <= action < A_STOP and changes_cells(s["effect"]):
        named = name_target(work[0], me, action)
    else:
        apply(work, 0, action)
    if asks_target(work[0], me) and changes_cells(work[0]["effect"]):
        return changed_ends(work, me, named, desk, now, changes, picked, picked_worths, w, kept, worths, count)
    return other_ends(work, masks, tried, me, w, desk, kept, worths, count)


@kernel
def play_on(beam, worths, count, other, other_worths, end, work, masks, tried, mask, me, desk, changes, picked, picked_worths, w):
    """The best worth that further cards of the turn lead to from the ends in `beam`, and its position, written into end[0]."""
    best = worths[0]
    end[0] = beam[0]
    for _ in range(MORE_CARDS):
        found = 0
        for k in range(count):
            if beam[k]["over"] != 0 or beam[k]["seat"] != me or beam[k]["phase"] != PLAY:
                continue
            legal(beam, k, mask)
            now = NEVER
            for action in range(A_DISCARD):
                if mask[action] and not brings_fate(beam[k], action):
                    if now == NEVER:
                        now = study_all(beam[k], me, w, desk.rooms)
                    found = best_ends(
                        beam[k], action, work, masks, tried, me, desk, now, changes, picked, picked_worths, w, other, other_worths, found
                    )  # fmt: skip
        if found == 0:
            break
        if other_worths[0] - w[CARD] > best:
            best = other_worths[0] - w[CARD]
            end[0] = other[0]
        for k in range(found):
            beam[k] = other[k]
            worths[k] = other_worths[k]
        count = found
    return best


# -- the features ----------------------------------------------------------------------------------------------------------


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
def look(obs, mask, root, work, masks, tried, beam, worths, other, other_worths, later, desk, changes, picked, picked_worths, w, gains,
         turn_gains, out):  # fmt: skip
    """Write the features (A + 1, F) of one decision."""
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
        if A_DISCARD <= action < A_CELL or action in (A_PASS, A_DONE) or (action < A_DISCARD and brings_fate(s, action)):
            row[F_WAYS : F_WAYS + 4] = still[F_WAYS : F_WAYS + 4]
            write_rest(s, me, row)
            row[F_TURN_OVER] = action == A_PASS
            if action == A_PASS:
                gain = -1.0 if desk.rooms[me]["moves"] <= 1.0 else 0.0
        else:
            best_ends(s, action, work, masks, tried, me, desk, now, changes, picked, picked_worths, w, beam, worths, 0)
            gain = worths[0] - now
            write_ways(beam[0], me, w, desk.rooms, row[F_WAYS : F_WAYS + 4])
            write_rest(beam[0], me, row)
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
        count = best_ends(s, chosen, work, masks, tried, me, desk, now, changes, picked, picked_worths, w, beam, worths, 0)
        first = worths[0]
        end = work[DEPTH:]
        best = play_on(
            beam, worths, count, other, other_worths, end, work, masks, tried, later, me, desk, changes, picked, picked_worths, w
        )  # fmt: skip
        if best > first:
            gains[chosen] += best - first
            write_ways(end[0], me, w, desk.rooms, out[chosen, F_TURN_WAYS : F_TURN_WAYS + 4])
            write_gain(gains[chosen], out[chosen, F_TURN_GAIN : F_TURN_GAIN + 2])
    for action in range(num_actions):
        if mask[action]:
            best_gain = max(best_gain, gains[action])
    for action in range(num_actions):
        if mask[action]:
            out[action, F_BEHIND] = np.int64(np.rint(max((gains[action] - best_gain) * FINE, -LIMIT)))


@kernel
def look_rows(observation, mask, root, work, masks, tried, beam, worths, other, other_worths, later, desk, changes, picked, picked_worths,
              w, gains, turn_gains, out):  # fmt: skip
    """The features of a batch of decisions."""
    for i in range(observation.shape[0]):
        look(
            observation[i], mask[i], root, work, masks, tried, beam, worths, other, other_worths, later, desk, changes, picked,
            picked_worths, w, gains, turn_gains, out[i],
        )  # fmt: skip


class AwayLookahead:
    """Features of the actions of a_way's decisions, for networks. rules: those whose card table is played by."""

    features = FEATURES
    #: what the network's logits begin as: so much for each step of a feature
    prior: ClassVar = {"turn_gain": 0.25, "large_turn_gain": 0.25 * FINE / COARSE}
    digest = hashlib.sha256(repr((VERSION, FEATURES, WEIGHTS, MOST_LEAVES, KEPT, MORE_CARDS, LOOKED_INTO)).encode()).hexdigest()[:16]

    def __init__(self, rules: str | None = None, threads: int = 1) -> None:
        self.threads = threads
        self.weights = np.array(list(WEIGHTS.values()), np.float64)
        game = tabletop.game("away")
        self._root = np.zeros(1, STATE)
        game.configure(self._root, [0], game.variant(rules, 2))
        self._alike = alike_turns(self._root[0])
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
        actions = len(ACTIONS)
        desk = Desk(np.zeros(MAX_PLAYERS + 1, ROOM), np.zeros(MAX_PLAYERS), self._alike)
        look_rows(
            observation, mask, self._root.copy(), np.zeros(DEPTH + 1, STATE), np.zeros((DEPTH + 1, actions), np.int8),
            np.zeros(DEPTH + 1, np.int64), np.zeros(KEPT, STATE), np.zeros(KEPT), np.zeros(KEPT, STATE), np.zeros(KEPT),
            np.zeros(actions, np.int8), desk, np.zeros((MOST_CHANGES, 6), np.int64), np.zeros(KEPT, np.int64), np.zeros(KEPT),
            self.weights, np.zeros(actions), np.zeros(actions), out,
        )  # fmt: skip

    def _warm_up(self) -> None:
        self.look(np.zeros((0, tabletop.game("away").layout.size), np.int8), np.zeros((0, len(ACTIONS)), np.int8))


LOOKAHEAD = AwayLookahead
