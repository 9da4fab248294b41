"""Which cards can be played, and what their targets may be: each decision offers only what can be completed (rules: A turn)."""

from __future__ import annotations

import numpy as np

from away_env.actions import A_CELL, A_ROW, A_SEAT, A_STOP, A_TURN
from away_env.cards import (
    ACTION_OF,
    BLACK_HOLE,
    COSMIC_COMPASS,
    HYPERDRIVE,
    NEBULA_DEVIATION,
    PIRATE_RAID,
    SCRAPYARD,
    SIDE,
    SOLAR_ROTATION,
    SOLAR_STORM,
    SOLAR_TORNADO,
    SOLAR_WIND,
    SUPER_NEBULA,
    UNKNOWN_FATE,
    UNSTABLE_FIELD,
)
from away_env.lanes import (
    ALL_STOPS,
    CELLS,
    FRAME,
    OWN_OF,
    can_lift,
    can_move,
    can_vanish,
    destinations,
    holds_ship,
    is_bare,
    is_card,
    is_empty_card,
    is_exploration,
    is_solar,
    may_lay,
    may_lie,
    raid_destinations,
)
from away_env.state import LAY, MOVE, NUM_CELLS
from tabletop.compiled import kernel

ACTION = np.array(ACTION_OF, np.int64)


# -- which cards can be played -----------------------------------------------------------------------------------------


@kernel
def can_lay(s):
    """Is there a cell for an exploration card from a hand?"""
    bare = is_bare(s)
    for cell in CELLS:
        if may_lay(s, cell, bare):
            return True
    return False


@kernel
def can_raid(s, seat):
    """Is there an opponent's ship that a raid can move?"""
    found = np.empty(NUM_CELLS, np.uint8)
    for victim in range(np.int64(s["players"])):
        if victim != seat and raid_destinations(s, victim, found) > 0:
            return True
    return False


@kernel
def is_rotated_by(s, seat, cell):
    """Is it a solar card with at least one opponent's ship that lies there?"""
    if not is_solar(np.int64(s["board"][cell])):
        return False
    for other in range(np.int64(s["players"])):
        if other != seat and s["ship"][other] == cell:
            return True
    return False


@kernel
def count_empty(s):
    """How many empty exploration cards and how many empty solar cards lie on the table, as far as there are more than one."""
    exploration = 0
    solar = 0
    for cell in CELLS:
        if is_empty_card(s, cell):
            if is_solar(np.int64(s["board"][cell])):
                solar += 1
            else:
                exploration += 1
            if exploration > 1 and solar > 1:  # more make no difference
                break
    return exploration, solar


@kernel
def can_do(s, seat, effect):
    """Can the effect of an action card be done in full, save hyperdrive's second station? unknown_fate and scrapyard are not yet
    on the pile. A ship on a base is touched by none of them."""
    if effect in (HYPERDRIVE, SOLAR_WIND):
        return s["stop"][seat] > 0 and can_move(s, seat, effect == SOLAR_WIND)
    if effect == PIRATE_RAID:
        return can_raid(s, seat)
    if effect == COSMIC_COMPASS:
        return s["stop"][seat] > 0
    if effect == UNKNOWN_FATE:
        return s["deck_size"] > 0 or s["pile_size"] > 0
    if effect == SCRAPYARD:
        return s["pile_size"] > 0
    if effect == BLACK_HOLE:
        for line in range(2 * SIDE):
            if can_vanish(s, seat, line):
                return True
        return False
    if effect in (NEBULA_DEVIATION, SUPER_NEBULA):
        exploration, solar = count_empty(s)
        return exploration > 1 or solar > 1
    for cell in CELLS:
        if effect == SOLAR_ROTATION:
            if is_rotated_by(s, seat, cell):
                return True
        elif effect == UNSTABLE_FIELD:
            if is_empty_card(s, cell):
                return True
        elif can_lift(s, cell):  # solar_tornado, solar_storm
            return True
    return False


@kernel
def can_play(s, seat, card):
    """Can the card be played now?"""
    return can_do(s, seat, ACTION[card]) if ACTION[card] >= 0 else can_lay(s)


# -- targets -----------------------------------------------------------------------------------------------------------


@kernel
def find_destinations(s, seat, found):
    """Write where the ship that is being moved can go (see `lanes.destinations`)."""
    if s["effect"] == PIRATE_RAID:
        raid_destinations(s, np.int64(s["target"][0]), found)
    else:
        destinations(s, seat, s["effect"] == SOLAR_WIND, ALL_STOPS, found)


@kernel
def is_moving(effect):
    """Does the effect move a ship?"""
    return effect in (MOVE, HYPERDRIVE, SOLAR_WIND, PIRATE_RAID)


@kernel
def legal_cells(s, seat, mask):
    """The cells that may be named."""
    effect = np.int64(s["effect"])
    if is_moving(effect):
        found = np.empty(NUM_CELLS, np.uint8)
        find_destinations(s, seat, found)
        for cell in CELLS:
            mask[A_CELL + OWN_OF[seat, cell]] = found[cell] != 0
        return
    first = np.int64(s["target"][0])
    bare = effect == LAY and is_bare(s)
    exploration, solar = count_empty(s) if effect in (NEBULA_DEVIATION, SUPER_NEBULA) else (0, 0)
    for cell in CELLS:
        if effect == LAY:
            good = may_lay(s, cell, bare)
        elif effect == SOLAR_ROTATION:
            good = is_rotated_by(s, seat, cell)
        elif effect == UNSTABLE_FIELD:
            good = is_empty_card(s, cell)
        elif effect in (SOLAR_TORNADO, SOLAR_STORM):
            good = can_lift(s, cell) if first < 0 else may_lie(s, cell, first)
        elif not is_card(np.int64(s["board"][cell])) or holds_ship(s, cell):
            good = False
        elif first < 0:
            good = (solar if is_solar(np.int64(s["board"][cell])) else exploration) > 1
        else:
            good = cell != first and is_exploration(np.int64(s["board"][cell])) == is_exploration(np.int64(s["board"][first]))
        mask[A_CELL + OWN_OF[seat, cell]] = good


@kernel
def legal_stops(s, seat, mask):
    """The stations of the cell named that the ship can go to."""
    found = np.empty(NUM_CELLS, np.uint8)
    find_destinations(s, seat, found)
    cell = s["target"][1] if s["effect"] == PIRATE_RAID else s["target"][0]
    for station in range(4):
        mask[A_STOP + station] = found[cell] >> (4 + station) & 1


@kernel
def legal_turns(s, seat, mask):
    """The orientations a card may be turned to: another one where turning is all that is done, else any."""
    effect = s["effect"]
    lies = np.int64(-1)
    if effect == COSMIC_COMPASS:
        lies = np.int64(s["turn"][s["ship"][seat]])
    elif effect in (SOLAR_ROTATION, UNSTABLE_FIELD):
        lies = np.int64(s["turn"][s["target"][0]])
    for turn in range(4):
        mask[A_TURN + (turn + FRAME[seat]) % 4] = turn != lies


@kernel
def legal_seats(s, seat, mask):
    """The opponents whose ships a raid can move."""
    found = np.empty(NUM_CELLS, np.uint8)
    players = np.int64(s["players"])
    for k in range(1, players):
        mask[A_SEAT + k - 1] = raid_destinations(s, (seat + k) % players, found) > 0


@kernel
def legal_lines(s, seat, mask):
    """The rows and columns, in the seat's own frame, that can be removed."""
    for line in range(2 * SIDE):
        mask[A_ROW + line] = can_vanish(s, seat, line)
