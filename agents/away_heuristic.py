"""An a_way player that looks one card ahead: it does what leaves its own ship near home and the others' far from it.

A position is worth what the ways home promise (`away_ways`). Every action is carried out on a copy of the position, all targets it
asks for included, and the best end counts. The copy is made from the observation alone (`away_position`). Whole batches at once; ties
go to the lowest action.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import tabletop
from agents.away_position import rebuild
from agents.away_ways import (
    CARD,
    CHAIN,
    ENDLESS,
    FAR,
    FATE,
    FRESH,
    NEAR,
    NEAR_WORTH,
    NO_WAY,
    OTHERS,
    ROOM,
    SOON,
    WEIGHTS,
    has_vortex,
    lay_out,
    lay_out_cell,
    least_moves,
    most_moves,
    search_on,
    study,
    way_home,
)
from away_env import observation as o
from away_env.actions import A_CELL, A_DISCARD, A_DONE, A_PASS, A_STOP, A_TURN, ACTIONS
from away_env.cards import (
    COSMIC_COMPASS,
    MAX_PLAYERS,
    NEBULA_DEVIATION,
    NUM_CARDS,
    NUM_DESIGNS,
    SCRAPYARD,
    SIDE,
    SOLAR_ROTATION,
    SOLAR_STORM,
    SOLAR_TORNADO,
    SUPER_NEBULA,
    UNKNOWN_FATE,
    UNSTABLE_FIELD,
)
from away_env.kernel import FACTION, apply, legal
from away_env.lanes import CELL_OF, FRAME, TURNED, can_lift, is_bare, is_empty_card, is_solar, may_lay, may_lie
from away_env.state import CELL, FREE, LAY, LINE, SEAT, STATE, STOP, TURN
from away_env.targets import ACTION, count_empty, is_rotated_by
from tabletop.compiled import announce, kernel, used_packages
from tabletop.sampling import check_masks

__all__ = ["HEURISTIC", "WEIGHTS", "AwayHeuristic", "best_end", "decide", "nearness", "rebuild", "value", "way_home", "worth_of_action"]

KERNEL_PACKAGES = ("away_env", "agents.away_position", "agents.away_ways")

DEPTH = 6  # most targets of an action, and one more
MOST_LEAVES = 200  # ends of one action that are looked at
STRIDE = 97  # targets are tried in steps of this: prime to the number of actions, so that a cut sample is spread out
NEVER = -1e9
NOBODY = np.int64(-1)
LEAF = MAX_PLAYERS  # the room for searches in positions that are tried
LAID_OUT = 0  # the room in which the cells are laid out


class Desk(NamedTuple):
    """Where a decision is worked out."""

    rooms: np.ndarray  # (MAX_PLAYERS + 1,) ROOM: for each seat's way home in the position, and for searches in those tried
    near: np.ndarray  # (MAX_PLAYERS,) what the others' ways are worth in a position tried
    alike: np.ndarray  # `alike_turns`


_TRIED = [i * STRIDE % len(ACTIONS) for i in range(len(ACTIONS))]
CELL_ORDER = np.array([a - A_CELL for a in _TRIED if A_CELL <= a < A_CELL + SIDE * SIDE], np.int64)  # own cells, as they are tried
TURN_ORDER = np.array([a - A_TURN for a in _TRIED if A_TURN <= a < A_TURN + 4], np.int64)


# -- what a position is worth ----------------------------------------------------------------------------------------------


@kernel
def value(s, me, w):
    """What the position is worth to the seat `me`."""
    return value_in(s, me, w, np.empty(1, ROOM), 0)


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
        moves = search_on(s, k, w, rooms, r, r, NO_WAY)
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


@kernel
def worth_of_way(moves, w):
    """What so many moves home are worth, most of all none."""
    return 1.5 + w[NEAR_WORTH] if moves == 0.0 else np.exp(-w[FAR] * moves) + w[NEAR_WORTH] * np.exp(-w[NEAR] * moves)


@kernel
def worth_of_own_way(moves, on_turn, w):
    """The same of the own ship, for which the turn's last move may be still to come."""
    return worth_of_way(0.0, w) - w[SOON] if on_turn and moves == 1.0 else worth_of_way(moves, w)


# -- cards that change cells of the table ----------------------------------------------------------------------------------


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
    rooms[me]["near"] = worth_of_own_way(rooms[me]["moves"], True, w)
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
def try_change(s, me, w, desk, now, first, card, turn, second, other, other_turn, best):
    """What the position is worth when `card` comes to lie on the cell `first`, and `other` on `second` (the same cell twice for one
    change), FREE for none; NEVER if that is found to be no more than `best`."""
    table, rooms, near = desk.rooms[LAID_OUT], desk.rooms, desk.near
    was, was_turned = np.int64(s["board"][first]), s["turn"][first]
    other_was, other_was_turned = np.int64(s["board"][second]), s["turn"][second]
    warps = has_vortex(s, card) or has_vortex(s, other) or has_vortex(s, was) or has_vortex(s, other_was)
    players = np.int64(s["players"])
    changed = 0  # whose ways have to be searched again, as bits
    worth = 0.0  # of the own way, at most
    for k in range(players):
        moves = rooms[k]["moves"]
        least = 0.0 if warps else least_moves(s, rooms[k], first, card, turn, second, other, other_turn, w)
        most = ENDLESS if warps else most_moves(s, table, rooms[k], first, card, turn, second, other, other_turn, w)
        if least < moves or most > moves:
            changed |= 1 << k
        if k != me:
            near[k] = rooms[k]["near"] if most == moves else 0.0 if most == ENDLESS else worth_of_way(most, w)
        else:
            worth = rooms[me]["near"] if least == moves else worth_of_way(least, w)
            if least <= 1.0:
                worth = max(worth, worth_of_own_way(1.0, True, w))
    if changed == 0:
        return now
    result = worth - worth_of_others(s, me, w, near)
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
            room = rooms[k]
            known = not warps and not room["by_lanes"] and not room["on_way"][first] and not room["on_way"][second]
            moves = search_on(s, k, w, rooms, LAID_OUT, LEAF, room["before_home"] if known else NO_WAY)
            if k == me:
                worth = worth_of_own_way(moves, True, w)
            else:
                near[k] = worth_of_way(moves, w)
            result = worth - worth_of_others(s, me, w, near)
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
        if s["effect"] == SOLAR_STORM:
            found = max(found, try_change(s, me, w, desk, now, cell, free, 0, there, card, lies, max(best, found)))
            leaves += 1
            continue
        for turn in range(4):
            if turn == named or (named < 0 and desk.alike[design, turn] == turn):
                found = max(found, try_change(s, me, w, desk, now, cell, free, 0, there, card, turn, max(best, found)))
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
        if s["effect"] == NEBULA_DEVIATION:
            lies, other_lies = np.int64(s["turn"][cell]), np.int64(s["turn"][there])
            found = max(found, try_change(s, me, w, desk, now, cell, other, other_lies, there, card, lies, max(best, found)))
            leaves += 1
            continue
        for own_turn in TURN_ORDER:
            turn = (own_turn - FRAME[me]) & 3
            if s["target_turn"] >= 0 and turn != s["target_turn"]:
                continue
            for own_other_turn in TURN_ORDER:
                other_turn = (own_other_turn - FRAME[me]) & 3
                if (named >= 0 and other_turn != named) or leaves >= MOST_LEAVES:
                    continue
                leaves += 1
                found = max(found, try_change(s, me, w, desk, now, cell, other, other_turn, there, card, turn, max(best, found)))
    return found, leaves


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
            best = max(best, value_in(work[depth + 1], me, w, rooms, 0))
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
    """Plays a_way for 2 to 4 players. `weights` changes some of WEIGHTS by name. rules: those whose card table is played by."""

    name = "heuristic"

    def __init__(self, rules: str | None = None, **weights: float) -> None:
        if unknown := sorted(set(weights) - set(WEIGHTS)):
            raise ValueError(f"the a_way heuristic has no weight {unknown[0]!r}; weights: {', '.join(WEIGHTS)}")
        self.weights = np.array(list((WEIGHTS | weights).values()), np.float64)
        game = tabletop.game("away")
        self._root = np.zeros(1, STATE)
        game.configure(self._root, [0], game.variant(rules, 2))
        self._alike = alike_turns(self._root[0])
        announce("the a_way heuristic", used_packages(__name__, KERNEL_PACKAGES), self._warm_up)

    def act(self, observation: np.ndarray, action_mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Actions (n,) for observation (n, D) and mask (n, A); EmptyMask if a row allows nothing. `rng` is not used."""
        check_masks(action_mask)
        return self._decide(np.ascontiguousarray(observation, np.int8), np.ascontiguousarray(action_mask, np.int8))

    def _decide(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        actions = np.empty(len(observation), np.int64)
        work, masks, tried = np.zeros(DEPTH + 1, STATE), np.zeros((DEPTH + 1, len(ACTIONS)), np.int8), np.zeros(DEPTH + 1, np.int64)
        desk = Desk(np.zeros(MAX_PLAYERS + 1, ROOM), np.zeros(MAX_PLAYERS), self._alike)
        decide_rows(observation, mask, self._root.copy(), work, masks, tried, self.weights, desk, actions)
        return actions

    def _warm_up(self) -> None:
        self._decide(np.zeros((0, o.LAYOUT.size), np.int8), np.zeros((0, len(ACTIONS)), np.int8))


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


HEURISTIC = AwayHeuristic
