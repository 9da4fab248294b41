"""Cards of a_way that only lay, turn or move cards of the table: the best that they can lead to.

All that such a card changes is what lies on one or two cells. What that is worth is told by `away_bounds`, and by new searches where
that does not settle it; the ends are those that carrying out every target would lead to.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from agents.away_bounds import (
    least_moves,
    least_over,
    may_change,
    most_moves,
    search_again,
    study,
)
from agents.away_ways import (
    ENDLESS,
    OTHERS,
    count_vortices,
    lay_out,
    lay_out_cell,
    worth_of_own_way,
    worth_of_way,
)
from away_env.actions import A_CELL, A_TURN, ACTIONS
from away_env.cards import (
    COSMIC_COMPASS,
    MAX_PLAYERS,
    NEBULA_DEVIATION,
    NUM_DESIGNS,
    SIDE,
    SOLAR_ROTATION,
    SOLAR_STORM,
    SOLAR_TORNADO,
    SUPER_NEBULA,
    UNSTABLE_FIELD,
)
from away_env.lanes import (
    CELL_OF,
    FRAME,
    TURNED,
    can_lift,
    is_bare,
    is_empty_card,
    is_solar,
    may_lay,
    may_lie,
)
from away_env.state import FREE, LAY
from away_env.targets import count_empty, is_rotated_by
from tabletop.compiled import kernel

KERNEL_PACKAGES = ("away_env", "agents.away_bounds", "agents.away_ways")

MOST_LEAVES = 200  # ends of one action that are looked at
STRIDE = 97  # targets are tried in steps of this: prime to the number of actions, so that a cut sample is spread out
NEVER = -1e9
NOBODY = np.int64(-1)
# arguments of functions below: numpy's, for numba compiles a copy of a function for every literal it is called with
LAID_OUT = np.int64(0)  # the room in which the cells are laid out
LEAF = np.int64(MAX_PLAYERS)  # that for searches in positions that are tried
ON_TURN, UNTURNED = np.bool_(True), np.int64(0)


class Desk(NamedTuple):
    """Where a decision is worked out."""

    rooms: np.ndarray  # (MAX_PLAYERS + 1,) ROOM: for each seat's way home in the position, and for searches in those tried
    near: np.ndarray  # (MAX_PLAYERS,) what each way is worth in a position tried
    alike: np.ndarray  # `alike_turns`


_TRIED = [i * STRIDE % len(ACTIONS) for i in range(len(ACTIONS))]
CELL_ORDER = np.array([a - A_CELL for a in _TRIED if A_CELL <= a < A_CELL + SIDE * SIDE], np.int64)  # own cells, as they are tried
TURN_ORDER = np.array([a - A_TURN for a in _TRIED if A_TURN <= a < A_TURN + 4], np.int64)


def alike_turns(record: np.void) -> np.ndarray:
    """(designs, 4): the lowest orientation in which a card of the design has the same lanes, stations told apart."""
    alike = np.zeros((NUM_DESIGNS, 4), np.int64)
    for design in range(NUM_DESIGNS):
        seen: dict[tuple[int, ...], int] = {}
        for turn in range(4):
            lanes = record["lanes"][design].astype(np.int64)
            lies = tuple(int(lanes[(p - turn) & 3 if p < 4 else p]) for p in range(8))
            lies = tuple((to & 0xF0) | int(TURNED[turn, to & 15]) for to in lies)
            alike[design, turn] = seen.setdefault(lies, turn)
    return alike


@kernel
def study_all(s, me, w, rooms):
    """Study the ways home of seat k in rooms[k], for `try_change`; what the position is worth to the seat on turn."""
    lay_out(s, rooms[LAID_OUT], w)
    best = 0.0
    mean = 0.0
    players = np.int64(s["players"])
    for k in range(players):
        study(s, k, w, rooms, LAID_OUT, k)
        if k != me:
            near = worth_of_way(rooms[k]["moves"], w)
            rooms[k]["near"] = near
            best = max(best, near)
            mean += near / (players - 1)
    rooms[me]["near"] = worth_of_own_way(rooms[me]["moves"], ON_TURN, w)
    return rooms[me]["near"] - w[OTHERS] * (0.8 * best + 0.2 * mean)


@kernel
def changes_cells(effect):
    """Does a card of that effect only lay, turn or move cards, so that `best_change` knows it?"""
    return effect in (LAY, SOLAR_ROTATION, UNSTABLE_FIELD, COSMIC_COMPASS, SOLAR_TORNADO, SOLAR_STORM, NEBULA_DEVIATION, SUPER_NEBULA)


@kernel
def name_target(s, me, action):
    """Note a target of an effect that changes cells, without doing it: the orientation, if it is the last one, else -1."""
    if action < A_TURN:
        s["target"][0 if s["target"][0] < 0 else 1] = CELL_OF[me, action - A_CELL]
        return NOBODY
    turn = (action - A_TURN - FRAME[me]) & 3
    if s["effect"] == SUPER_NEBULA and s["target_turn"] < 0:
        s["target_turn"] = turn
        return NOBODY
    return turn


@kernel
def worth_of_others(s, me, w, near):
    """What is taken off for the others' ways, near (players,) being what those are worth."""
    best = 0.0
    mean = 0.0
    players = np.int64(s["players"])
    for k in range(players):
        if k != me:
            best = max(best, near[k])
            mean += near[k] / (players - 1)
    return w[OTHERS] * (0.8 * best + 0.2 * mean)


@kernel
def can_matter(s, desk, first, card, second, other):
    """Could `card` on the cell `first` and `other` on `second` change a way home, however they are turned? See `try_change`."""
    if warps(s, desk.rooms[LAID_OUT]["vortices"], first, card, second, other):
        return True
    for k in range(np.int64(s["players"])):
        if may_change(desk.rooms[k], first, second):
            return True
    return False


@kernel
def warps(s, vortices, first, card, second, other):
    """Can ships warp to or from the cards that come to lie on these cells, or lie there, `vortices` being on the table?"""
    was = np.int64(s["board"][first])
    laid = count_vortices(s, card)
    if laid + count_vortices(s, other) + count_vortices(s, was) + count_vortices(s, np.int64(s["board"][second])) == 0:
        return False
    return vortices + (laid if was == FREE else 0) > 1


@kernel
def try_change(s, me, w, desk, now, first, card, turn, second, other, other_turn, best):
    """What the position is worth when `card` comes to lie on the cell `first`, and `other` on `second` (the same cell twice for one
    change), FREE for none; NEVER if that is found to be no more than `best`."""
    table, rooms, near = desk.rooms[LAID_OUT], desk.rooms, desk.near
    was, was_turned = s["board"][first], s["turn"][first]
    other_was, other_was_turned = s["board"][second], s["turn"][second]
    warped = warps(s, table["vortices"], first, card, second, other)
    players = np.int64(s["players"])
    changed = 0  # whose ways have to be searched again, as bits
    for k in range(players):
        room = rooms[k]
        near[k] = room["near"]
        if not warped and not may_change(room, first, second):
            continue
        moves = room["moves"]
        least = 0.0 if warped else least_moves(s, table, room, first, card, turn, second, other, other_turn, w)
        most = ENDLESS if warped else most_moves(s, table, room, first, card, turn, second, other, other_turn, w)
        if least < moves or most > moves:
            changed |= 1 << k
            room["most"] = most
            rest = least_over(s, table, room, first, card, turn, w)
            room["rest"] = min(rest, least_over(s, table, room, second, other, other_turn, w))
        if k == me and least < moves:
            near[k] = worth_of_way(least, w)
            if least <= 1.0:
                near[k] = max(near[k], worth_of_own_way(1.0, ON_TURN, w))
        elif k != me and most != moves:
            near[k] = 0.0 if most >= ENDLESS else worth_of_way(most, w)
    if changed == 0:
        return now
    result = near[me] - worth_of_others(s, me, w, near)
    if result <= best:
        return NEVER
    s["board"][first] = card
    s["turn"][first] = turn
    s["board"][second] = other
    s["turn"][second] = other_turn
    lay_out_cell(s, table, first, w)
    lay_out_cell(s, table, second, w)
    for j in range(players):
        k = me + j if me + j < players else me + j - players
        if changed >> k & 1 and result > best:
            moves = search_again(s, k, w, rooms, LAID_OUT, LEAF, first, second)
            near[k] = worth_of_own_way(moves, k == me, w)
            result = near[me] - worth_of_others(s, me, w, near)
    s["board"][second] = other_was
    s["turn"][second] = other_was_turned
    s["board"][first] = was
    s["turn"][first] = was_turned
    lay_out_cell(s, table, first, w)
    lay_out_cell(s, table, second, w)
    return result


@kernel
def best_change(s, me, turn, w, desk, now, best):
    """The best value that the effect under way, one that changes cells, can end in, if it is more than `best`; else NEVER.

    turn: the orientation named, if that was the last target, else -1. All targets still to be named are tried, MOST_LEAVES at most.
    """
    effect = np.int64(s["effect"])
    first = np.int64(s["target"][0])
    found = NEVER
    leaves = 0
    bare = effect == LAY and is_bare(s)
    exploration, solar = count_empty(s) if effect in (NEBULA_DEVIATION, SUPER_NEBULA) else (0, 0)
    for own_cell in CELL_ORDER:
        cell = CELL_OF[me, own_cell]
        if effect == COSMIC_COMPASS:
            if cell != s["ship"][me]:
                continue
        elif first >= 0:
            if cell != first:
                continue
        elif effect == LAY:
            if not may_lay(s, cell, bare):
                continue
        elif effect == SOLAR_ROTATION:
            if not is_rotated_by(s, me, cell):
                continue
        elif effect in (SOLAR_TORNADO, SOLAR_STORM):
            if not can_lift(s, cell):
                continue
        elif not is_empty_card(s, cell) or (effect != UNSTABLE_FIELD and (solar if is_solar(s["board"][cell]) else exploration) < 2):
            continue
        if effect == LAY:
            end = best_turn(s, me, cell, np.int64(s["card"]), turn, NOBODY, w, desk, now, max(best, found))
            leaves += 4
        elif effect in (SOLAR_ROTATION, UNSTABLE_FIELD, COSMIC_COMPASS):
            card = np.int64(s["board"][cell])
            end = best_turn(s, me, cell, card, turn, np.int64(s["turn"][cell]), w, desk, now, max(best, found))
            leaves += 3
        elif effect in (SOLAR_TORNADO, SOLAR_STORM):
            end, leaves = best_shift(s, me, cell, turn, leaves, w, desk, now, max(best, found))
        else:
            end, leaves = best_swap(s, me, cell, turn, leaves, w, desk, now, max(best, found))
        found = max(found, end)
        if leaves >= MOST_LEAVES:
            break
    return found


@kernel
def best_turn(s, me, cell, card, named, but, w, desk, now, best):
    """The best orientation of a card on a cell, but for one: the one named, if it is not -1. Those that look alike are tried once."""
    if not can_matter(s, desk, cell, card, cell, card):
        return now
    found = NEVER
    design = np.int64(s["design"][card])
    for own_turn in TURN_ORDER:
        turn = (own_turn - FRAME[me]) & 3
        if (
            turn == but
            or (named >= 0 and turn != named)
            or (named < 0 and desk.alike[design, turn] != turn and desk.alike[design, turn] != but)
        ):
            continue
        found = max(found, try_change(s, me, w, desk, now, cell, card, turn, cell, card, turn, max(best, found)))
    return found


@kernel
def best_shift(s, me, cell, named, leaves, w, desk, now, best):
    """The best place for the card on a cell."""
    found = NEVER
    second = np.int64(s["target"][1])
    card = np.int64(s["board"][cell])
    design = np.int64(s["design"][card])
    lies = np.int64(s["turn"][cell])
    free = np.int64(FREE)
    for own_cell in CELL_ORDER:
        there = CELL_OF[me, own_cell]
        if leaves >= MOST_LEAVES:
            break
        if (second >= 0 and there != second) or (second < 0 and not may_lie(s, there, cell)):
            continue
        if not can_matter(s, desk, cell, free, there, card):
            found = max(found, now)
            leaves += 1 if s["effect"] == SOLAR_STORM else 4
            continue
        if s["effect"] == SOLAR_STORM:
            found = max(found, try_change(s, me, w, desk, now, cell, free, UNTURNED, there, card, lies, max(best, found)))
            leaves += 1
            continue
        for turn in range(4):
            if turn == named or (named < 0 and desk.alike[design, turn] == turn):
                found = max(found, try_change(s, me, w, desk, now, cell, free, UNTURNED, there, card, turn, max(best, found)))
        leaves += 4
    return found, leaves


@kernel
def best_swap(s, me, cell, named, leaves, w, desk, now, best):
    """The best card to swap the one on a cell with."""
    found = NEVER
    second = np.int64(s["target"][1])
    card = np.int64(s["board"][cell])
    for own_cell in CELL_ORDER:
        there = CELL_OF[me, own_cell]
        if leaves >= MOST_LEAVES:
            break
        other = np.int64(s["board"][there])
        if second >= 0:
            if there != second:
                continue
        elif there == cell or not is_empty_card(s, there) or is_solar(other) != is_solar(card):
            continue
        if not can_matter(s, desk, cell, other, there, card):
            found = max(found, now)
            leaves += 1 if s["effect"] == NEBULA_DEVIATION else 16
            continue
        if s["effect"] == NEBULA_DEVIATION:
            lies, other_lies = np.int64(s["turn"][cell]), np.int64(s["turn"][there])
            found = max(found, try_change(s, me, w, desk, now, cell, other, other_lies, there, card, lies, max(best, found)))
            leaves += 1
            continue
        alike, of_other = desk.alike, np.int64(s["design"][other])
        whole = named < 0 and leaves + 16 <= MOST_LEAVES  # are all turns tried?
        for own_turn in TURN_ORDER:
            turn = (own_turn - FRAME[me]) & 3
            as_turned = alike[s["design"][card], turn] if s["target_turn"] < 0 else turn
            if s["target_turn"] >= 0 and turn != s["target_turn"]:
                continue
            for own_other_turn in TURN_ORDER:
                other_turn = (own_other_turn - FRAME[me]) & 3
                if (named >= 0 and other_turn != named) or leaves >= MOST_LEAVES:
                    continue
                leaves += 1
                if whole and (turn != as_turned or alike[of_other, other_turn] != other_turn):
                    continue  # looks like another one
                found = max(found, try_change(s, me, w, desk, now, cell, other, other_turn, there, card, turn, max(best, found)))
    return found, leaves
