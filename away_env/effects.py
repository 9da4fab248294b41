"""What cards and moves do, once their last target is named (rules: A turn)."""

from __future__ import annotations

import numpy as np

from away_env.cards import SIDE
from away_env.deck import put_on_pile
from away_env.lanes import CELL_OF, HOME, OWN_OF, count_moves_home, is_exploration, line_cell
from away_env.rules import AwayRules
from away_env.state import FREE, NO_CELL, TABLE_PLACE
from tabletop.compiled import kernel

SIZE = AwayRules.place("size")


@kernel
def measure_ways(s):
    """The lanes have changed: count every ship's moves home again."""
    for seat in range(np.int64(s["players"])):
        s["moves_home"][seat] = count_moves_home(s, seat)


@kernel
def move_ship(s, mover, cell, stop):
    """Move a ship to a stop: a station (1 to 4), or 0 for its home base."""
    s["ship"][mover] = cell
    s["stop"][mover] = stop
    if stop == 0:
        s["home"][mover] = 1
    s["moves_home"][mover] = count_moves_home(s, mover)


@kernel
def only_stop(stops):
    """The stop, if `stops` (bits of `lanes.destinations`) is a single one; else -1."""
    if stops == HOME:
        return 0
    for station in range(1, 5):
        if stops == 8 << station:
            return station
    return -1


@kernel
def turn_card(s, cell, orientation):
    """Turn the card on a cell; its stations, and the ships on them, turn with it."""
    s["turn"][cell] = orientation
    measure_ways(s)


@kernel
def lay_card(s, card, cell, orientation):
    """Lay an exploration card on the table."""
    s["board"][cell] = card
    s["turn"][cell] = orientation
    s["place"][card] = TABLE_PLACE
    measure_ways(s)


@kernel
def shift_card(s, origin, cell, orientation):
    """Lift the card from `origin` and lay it on another cell."""
    s["board"][cell] = s["board"][origin]
    s["turn"][cell] = orientation
    s["board"][origin] = FREE
    s["turn"][origin] = 0
    measure_ways(s)


@kernel
def swap_cards(s, first, second, turn_of_first, turn_of_second):
    """Swap two cards; the orientations are given, of the card named first, which comes to lie on the second cell, first."""
    card = s["board"][first]
    s["board"][first] = s["board"][second]
    s["board"][second] = card
    s["turn"][first] = turn_of_second
    s["turn"][second] = turn_of_first
    measure_ways(s)


@kernel
def remove_line(s, seat, line):
    """A black hole over a line of the seat's own frame: its exploration cards go onto the pile by rising number, its solar cards
    out of the game; what lies beyond, bases and ships with it, moves one cell down in number."""
    margin = (SIDE - np.int64(s["options"][SIZE])) // 2
    for k in range(SIDE):
        card = np.int64(s["board"][line_cell(seat, line, k)])
        if is_exploration(card):
            put_on_pile(s, card)
    last = line // SIDE * SIDE + SIDE - 1 - margin
    for number in range(line, last + 1):
        for k in range(margin, SIDE - margin):
            cell = line_cell(seat, number, k)
            if number == last:
                s["board"][cell] = FREE
                s["turn"][cell] = 0
            else:
                beyond = line_cell(seat, number + 1, k)
                s["board"][cell] = s["board"][beyond]
                s["turn"][cell] = s["turn"][beyond]
    step = SIDE if line < SIDE else 1  # of own cells
    for k in range(4):
        if s["base"][k] != NO_CELL:
            s["base"][k] = moved_down(seat, line, np.int64(s["base"][k]), step)
            s["ship"][k] = moved_down(seat, line, np.int64(s["ship"][k]), step) if k < s["players"] else NO_CELL
    measure_ways(s)


@kernel
def moved_down(seat, line, cell, step):
    """Where a cell's ship or base comes to lie when the line is removed."""
    own = OWN_OF[seat, cell]
    number = own // SIDE if line < SIDE else own % SIDE + SIDE
    return CELL_OF[seat, own - step] if number > line else cell
