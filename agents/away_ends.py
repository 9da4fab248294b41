"""The ends that an action of a_way can have, all targets named, and what the rest of the turn can make of them.

Every end is worth what the heuristic finds it worth. Effects that only change cells of the table are worked out as the heuristic does,
by what they change about the ways home; all others are carried out on copies of the position.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from agents import away_heuristic
from agents.away_changes import CELL_ORDER, NEVER, NOBODY, STRIDE, changes_cells, name_target, study_all, try_change
from agents.away_heuristic import DEPTH, asks_target, brings_fate, value_in
from agents.away_ways import CARD
from away_env.actions import A_CELL, A_DISCARD, A_STOP, ACTIONS
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
from away_env.kernel import apply, legal
from away_env.lanes import CELL_OF, can_lift, is_bare, is_empty_card, is_solar, may_lay, may_lie
from away_env.state import FREE, LAY, PLAY, STATE, TABLE_PLACE
from away_env.targets import count_empty, is_rotated_by
from away_env.turn import end_effect
from tabletop.compiled import kernel

KERNEL_PACKAGES = (*away_heuristic.KERNEL_PACKAGES, "agents.away_heuristic")

MOST_LEAVES = 200  # ends of one action that are looked at
KEPT = 2  # ends from which the turn is played on
MORE_CARDS = 2  # further cards of the turn
MOST_CHANGES = MOST_LEAVES + 16
SPARE = MAX_PLAYERS  # the desk's room for single searches


class Space(NamedTuple):
    """Where ends are worked out and kept."""

    work: np.ndarray  # (DEPTH,) STATE: the position after each target named
    masks: np.ndarray  # (DEPTH, A): what may be named there
    tried: np.ndarray  # (DEPTH,): how much of it has been
    changes: np.ndarray  # (MOST_CHANGES, 6): see `note`
    picked: np.ndarray  # (KEPT,): the best of them
    picked_worths: np.ndarray
    kept: np.ndarray  # (KEPT,) STATE: the best ends of an action, the best first
    worths: np.ndarray
    further: np.ndarray  # (KEPT,) STATE: those after one card more
    further_worths: np.ndarray
    mask: np.ndarray  # (A,)
    end: np.ndarray  # (1,) STATE: the best end of the turn


def make_space() -> Space:
    actions = len(ACTIONS)
    return Space(
        work=np.zeros(DEPTH, STATE),
        masks=np.zeros((DEPTH, actions), np.int8),
        tried=np.zeros(DEPTH, np.int64),
        changes=np.zeros((MOST_CHANGES, 6), np.int64),
        picked=np.zeros(KEPT, np.int64),
        picked_worths=np.zeros(KEPT),
        kept=np.zeros(KEPT, STATE),
        worths=np.zeros(KEPT),
        further=np.zeros(KEPT, STATE),
        further_worths=np.zeros(KEPT),
        mask=np.zeros(actions, np.int8),
        end=np.zeros(1, STATE),
    )


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
def changed_ends(space, me, named, desk, now, w, kept, worths, count):
    """`best_ends` where cells are changed, of a position whose ways are in the desk's rooms and which is worth `now`."""
    work, changes, picked, picked_worths = space.work, space.changes, space.picked, space.picked_worths
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
def other_ends(space, me, w, desk, kept, worths, count):
    """`best_ends` of all other effects: every way of naming the targets is carried out."""
    work, masks, tried = space.work, space.masks, space.tried
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
def best_ends(s, action, space, me, desk, now, w, kept, worths, count):
    """Put the best ends of an action into the list; how many are in it now. The desk's rooms tell the ways of s, worth `now`."""
    work = space.work
    work[0] = s
    named = NOBODY
    if A_CELL <= action < A_STOP and changes_cells(s["effect"]):
        named = name_target(work[0], me, action)
    else:
        apply(work, 0, action)
    if asks_target(work[0], me) and changes_cells(work[0]["effect"]):
        return changed_ends(space, me, named, desk, now, w, kept, worths, count)
    return other_ends(space, me, w, desk, kept, worths, count)


@kernel
def play_on(space, count, me, desk, w):
    """The best worth that further cards of the turn lead to from the `count` ends in the list; its position is written into `end`."""
    kept, worths, further, further_worths = space.kept, space.worths, space.further, space.further_worths
    best = worths[0]
    space.end[0] = kept[0]
    for _ in range(MORE_CARDS):
        found = 0
        for k in range(count):
            if kept[k]["over"] != 0 or kept[k]["seat"] != me or kept[k]["phase"] != PLAY:
                continue
            legal(kept, k, space.mask)
            now = NEVER
            for action in range(A_DISCARD):
                if space.mask[action] and not brings_fate(kept[k], action):
                    if now == NEVER:
                        now = study_all(kept[k], me, w, desk.rooms)
                    found = best_ends(kept[k], action, space, me, desk, now, w, further, further_worths, found)
        if found == 0:
            break
        if further_worths[0] - w[CARD] > best:
            best = further_worths[0] - w[CARD]
            space.end[0] = further[0]
        for k in range(found):
            kept[k] = further[k]
            worths[k] = further_worths[k]
        count = found
    return best
