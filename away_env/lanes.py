"""The table: frames, neighbours, and where ships can go by lanes (rules: Cards as lanes, Moving one station).

Cells are places in the field of 11 x 11 cells (see `state`), points those of `cards`: ports 0 to 3 N E S W, stations 4 to 7.
"""

from __future__ import annotations

import numpy as np

from away_env.cards import BASE_PORTS, FACE, FIRST_BASE, FIRST_SOLAR, NUM_EXPLORATION, QUARTERS, SIDE, TABLE, turned
from away_env.state import FREE, NOT_HOME, NUM_CELLS, WIDTH
from tabletop.compiled import kernel

STEP = np.array([-WIDTH, 1, WIDTH, -1], np.int64)  # from a cell to its neighbour N E S W
BASE_PORT = np.array(BASE_PORTS, np.int64)
FRAME = np.array(QUARTERS, np.int64)  # quarter turns of the table in each seat's own frame

# own cell (9 x row + column) of each seat -> cell, and back (-1 outside the table)
CELL_OF = np.zeros((len(QUARTERS), SIDE * SIDE), np.int64)
OWN_OF = np.full((len(QUARTERS), NUM_CELLS), -1, np.int64)
for _seat, _quarters in enumerate(QUARTERS):
    for _row in range(SIDE):
        for _column in range(SIDE):
            _own = turned((_row, _column), _quarters)
            _cell = (_row + 1) * WIDTH + _column + 1
            CELL_OF[_seat, _own[0] * SIDE + _own[1]] = _cell
            OWN_OF[_seat, _cell] = _own[0] * SIDE + _own[1]
CELLS = CELL_OF[0]  # of the table, row by row
SOLAR_CELLS = np.array([CELLS[r * SIDE + c] for r, c in TABLE.solar_cells], np.int64)
BASE_CELLS = np.array([CELLS[r * SIDE + c] for r, c in TABLE.bases], np.int64)  # at full size

# four bits of ports, turned clockwise
TURNED = np.array([[((ports << o) | (ports >> (4 - o))) & 15 for ports in range(16)] for o in range(4)], np.int64)
PORTS_MASK = 15
STATIONS_MASK = 0xF0
IN, OUT = FACE.index("in_N"), FACE.index("out_N")  # bits of `face`
HOME = 1  # in `found`: bit of the home base; bits 4 to 7 are stations
# arguments of the functions below. They are numpy's, for numba compiles a copy of a function for every literal it is called with
BY_ARROWS, IGNORING_ARROWS = np.bool_(False), np.bool_(True)
ALL_STOPS, ANY_STOP = np.bool_(False), np.bool_(True)
NOTHING = np.int64(-1)
MOST_WAITING = 4 * SIDE * SIDE + 8  # a port of a cell is entered once, and three stations are jumped


@kernel
def is_card(there):
    """Is it a solar or exploration card that lies there?"""
    return 0 <= there < FIRST_BASE


@kernel
def is_exploration(there):
    return 0 <= there < NUM_EXPLORATION


@kernel
def is_solar(there):
    return FIRST_SOLAR <= there < FIRST_BASE


@kernel
def lanes_from(s, cell, point, ignoring_arrows):
    """The points, as bits, that lanes lead to from a point of the card on a cell, as the card lies."""
    design = np.int64(s["design"][s["board"][cell]])
    orientation = np.int64(s["turn"][cell])
    printed = (point - orientation) & 3 if point < 4 else point
    to = np.int64(s["both_ways"][design, printed]) if ignoring_arrows else np.int64(s["lanes"][design, printed])
    return (to & STATIONS_MASK) | TURNED[orientation, to & PORTS_MASK]


@kernel
def held(s, mover, cell, station):
    """Does another ship than the mover's hold that station?"""
    for seat in range(np.int64(s["players"])):
        if s["ship"][seat] == cell and s["stop"][seat] == station and seat != mover:
            return True
    return False


@kernel
def destinations(s, mover, ignoring_arrows, any_only, found):
    """Where the ship of `mover` can go as one move: how many stops; with any_only, 1 as soon as there is one.

    found (NUM_CELLS,) uint8 gets for each cell the stations as bits 4 to 7, and HOME for the home base.
    """
    found[:] = 0
    count = 0
    if s["home"][mover]:
        return count
    home = np.int64(s["base"][mover ^ 1])
    home_port = BASE_PORT[mover ^ 1]
    seen = np.zeros(NUM_CELLS, np.uint8)  # points seen of each cell, as bits
    waiting = np.empty(MOST_WAITING, np.int16)  # 8 x cell + point, from where lanes are still to be followed
    size = 0
    at = np.int64(s["ship"][mover])
    stop = np.int64(s["stop"][mover])
    start_port = BASE_PORT[mover]
    if stop > 0:
        seen[at] = 1 << (3 + stop)
        waiting[0] = 8 * at + 3 + stop
        size = 1
        if s["vortices"][s["design"][s["board"][at]]] >> (3 + stop) & 1:
            for there in CELLS:
                if is_card(np.int64(s["board"][there])):
                    vortices = np.int64(s["vortices"][s["design"][s["board"][there]]]) & ~np.int64(seen[there])
                    for point in range(4, 8):
                        if vortices >> point & 1:
                            seen[there] |= 1 << point
                            if held(s, mover, there, point - 3):
                                waiting[size] = 8 * there + point
                                size += 1
                            else:
                                found[there] |= 1 << point
                                count += 1
    first = stop == 0
    while (size > 0 or first) and not (any_only and count > 0):
        if first:  # a base has one port
            first = False
            cell = at
            to = np.int64(1) << start_port
        else:
            size -= 1
            cell = np.int64(waiting[size]) >> 3
            to = lanes_from(s, cell, np.int64(waiting[size]) & 7, ignoring_arrows)
        for point in range(4, 8):
            if to >> point & 1 and not seen[cell] >> point & 1:
                seen[cell] |= 1 << point
                if held(s, mover, cell, point - 3):
                    waiting[size] = 8 * cell + point
                    size += 1
                else:
                    found[cell] |= 1 << point
                    count += 1
        for port in range(4):
            if to >> port & 1:
                there = cell + STEP[port]
                entry = port ^ 2
                if is_card(np.int64(s["board"][there])):
                    if not seen[there] >> entry & 1:
                        seen[there] |= 1 << entry
                        waiting[size] = 8 * there + entry
                        size += 1
                elif there == home and entry == home_port and not found[there]:
                    found[there] = HOME
                    count += 1
    return count


@kernel
def can_move(s, seat, ignoring_arrows):
    """Is there a stop that the seat's own ship can go to?"""
    return destinations(s, seat, ignoring_arrows, ANY_STOP, np.empty(NUM_CELLS, np.uint8)) > 0


@kernel
def raid_destinations(s, victim, found):
    """Where a raid can send an opponent's ship: by lanes of any direction, never onto a base. How many stops."""
    found[:] = 0
    if s["stop"][victim] == 0:  # ships on bases are not touched
        return 0
    count = destinations(s, victim, IGNORING_ARROWS, ALL_STOPS, found)
    home = s["base"][victim ^ 1]
    if found[home]:
        found[home] = 0
        count -= 1
    return count


@kernel
def count_moves_home(s, seat):
    """Moves from where the ship is to its home by the lanes as they are, other ships away; NOT_HOME if there is no way."""
    if s["home"][seat]:
        return 0
    home = np.int64(s["base"][seat ^ 1])
    home_port = BASE_PORT[seat ^ 1]
    before = np.int64(s["board"][home + STEP[home_port]])
    if is_card(before):
        face = np.int64(s["face"][s["design"][before], s["turn"][home + STEP[home_port]]])
        if not face >> (OUT + (home_port ^ 2)) & 1:
            return NOT_HOME  # shut
    elif before != FIRST_BASE + seat:
        return NOT_HOME
    seen = np.zeros(NUM_CELLS, np.uint8)
    waiting = np.empty(MOST_WAITING, np.int16)  # points reached in the move being made
    stops = np.empty(MOST_WAITING, np.int16)  # stops, in the order of the moves they take
    moves = np.empty(MOST_WAITING, np.int16)
    at = np.int64(s["ship"][seat])
    stop = np.int64(s["stop"][seat])
    stops[0] = 8 * at + (3 + stop if stop > 0 else BASE_PORT[seat])
    moves[0] = 0
    num_stops = 1
    next_stop = 0
    warped = False
    if stop > 0:
        seen[at] = 1 << (3 + stop)
    while next_stop < num_stops:
        size = 1
        waiting[0] = stops[next_stop]
        taken = np.int64(moves[next_stop]) + 1
        from_base = next_stop == 0 and stop == 0
        next_stop += 1
        cell = np.int64(waiting[0]) >> 3
        point = np.int64(waiting[0]) & 7
        if not from_base and not warped and s["vortices"][s["design"][s["board"][cell]]] >> point & 1:
            warped = True  # all vortices are reached by now
            for there in CELLS:
                if is_card(np.int64(s["board"][there])):
                    vortices = np.int64(s["vortices"][s["design"][s["board"][there]]]) & ~np.int64(seen[there])
                    for other in range(4, 8):
                        if vortices >> other & 1:
                            seen[there] |= 1 << other
                            stops[num_stops] = 8 * there + other
                            moves[num_stops] = taken
                            num_stops += 1
        while size > 0:
            size -= 1
            cell = np.int64(waiting[size]) >> 3
            point = np.int64(waiting[size]) & 7
            to = np.int64(1) << point if from_base else lanes_from(s, cell, point, BY_ARROWS)
            from_base = False
            for other in range(4, 8):
                if to >> other & 1 and not seen[cell] >> other & 1:
                    seen[cell] |= 1 << other
                    stops[num_stops] = 8 * cell + other
                    moves[num_stops] = taken
                    num_stops += 1
            for port in range(4):
                if to >> port & 1:
                    there = cell + STEP[port]
                    entry = port ^ 2
                    if is_card(np.int64(s["board"][there])):
                        if not seen[there] >> entry & 1:
                            seen[there] |= 1 << entry
                            waiting[size] = 8 * there + entry
                            size += 1
                    elif there == home and entry == home_port:
                        return min(taken, NOT_HOME - 1)
    return NOT_HOME


@kernel
def holds_ship(s, cell):
    """Is a ship on the card that lies there?"""
    for seat in range(np.int64(s["players"])):
        if s["ship"][seat] == cell:
            return True
    return False


@kernel
def is_empty_card(s, cell):
    """Is it a card without a ship that lies there?"""
    return is_card(np.int64(s["board"][cell])) and not holds_ship(s, cell)


@kernel
def may_lie(s, cell, lifted):
    """Is the cell free, another one than `lifted`, and does it touch a card, the one on `lifted` left out?"""
    if s["board"][cell] != FREE or cell == lifted:
        return False
    for port in range(4):
        there = cell + STEP[port]
        if there != lifted and is_card(np.int64(s["board"][there])):
            return True
    return False


@kernel
def may_lay(s, cell, bare):
    """May an exploration card from a hand be laid there? bare: no card lies on the table, so that a base is touched."""
    if not bare:
        return may_lie(s, cell, NOTHING)
    if s["board"][cell] != FREE:
        return False
    for port in range(4):
        if s["board"][cell + STEP[port]] >= FIRST_BASE:
            return True
    return False


@kernel
def is_bare(s):
    """Does no solar or exploration card lie on the table?"""
    for cell in CELLS:
        if is_card(np.int64(s["board"][cell])):
            return False
    return True


@kernel
def can_lift(s, cell):
    """Is it an empty exploration card that lies there, and is there a place for it elsewhere?"""
    if not is_exploration(np.int64(s["board"][cell])) or holds_ship(s, cell):
        return False
    for there in CELLS:
        if may_lie(s, there, cell):
            return True
    return False


@kernel
def line_cell(seat, line, k):
    """The k-th cell, by rising number, of a line of the seat's own frame: rows are lines 0 to 8, columns 9 to 17."""
    return CELL_OF[seat, line * SIDE + k] if line < SIDE else CELL_OF[seat, k * SIDE + line - SIDE]


@kernel
def can_vanish(s, seat, line):
    """Does the line hold at least one card, and no ship and no base?"""
    cards = 0
    for k in range(SIDE):
        cell = line_cell(seat, line, k)
        there = np.int64(s["board"][cell])
        if there >= FIRST_BASE or (is_card(there) and holds_ship(s, cell)):
            return False
        cards += is_card(there)
    return cards > 0
