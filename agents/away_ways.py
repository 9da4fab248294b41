"""The ways home of a_way's ships, and how long they are.

A way home is counted in moves along the lanes as they lie, other ships away; where no lanes lead home, in moves to where they end and
what the cells from there on cost.
"""

from __future__ import annotations

import numpy as np

from away_env.lanes import BASE_PORT, BY_ARROWS, CELLS, IN, MOST_WAITING, OUT, PORTS_MASK, STEP, is_card, lanes_from
from away_env.state import FREE, NUM_CELLS, WIDTH
from tabletop.compiled import kernel

KERNEL_PACKAGES = ("away_env",)

#: What the player weighs (see docs/agents.md)
WEIGHTS = {
    "far": 0.12,  # how fast a way home loses worth with its length: exp(-far x moves)
    "near": 0.70,  # the same, of what counts near home only
    "near_worth": 0.60,  # what that is worth
    "gap": 2.2,  # moves that a cell without a card on the way counts for
    "blocked": 2.5,  # moves that a card counts for besides that does not let the ship in or out
    "others": 0.85,  # weight of the opponents
    "card": 0.002,  # what a card played costs
    "chain": 0.004,  # what a further card of the same faction in the hand is worth when one is played
    "fate": 0.02,  # what an unknown fate brings
    "fresh": 0.006,  # what discarding a card is worth
    "soon": 0.20,  # what is lost by coming home in phase 2 only
}
FAR, NEAR, NEAR_WORTH, GAP, BLOCKED, OTHERS, CARD, CHAIN, FATE, FRESH, SOON = range(len(WEIGHTS))
NO_WAY = 40.0  # moves home when neither lanes nor open ends lead anywhere
ENDLESS = 1e9
NOT_STUDIED = -1.0
FIRST_ROOM = np.int64(0)  # numpy's, for numba compiles a copy of a function for every literal it is called with
NUM_STATES = 8 * NUM_CELLS
BY_LANES, TO_HOME, BY_PORT = 1, 2, 4  # bits of `touched`
#: bits of `on_way`: crossed by a lane; over cells, entered by a lane that ends there, or from a cell. Then its ports, two bits each
ON_LANE, ON_END, ON_CELL = 1, 2, 4
ROW = np.arange(NUM_CELLS) // WIDTH
COLUMN = np.arange(NUM_CELLS) % WIDTH

#: Where a search works, and what it leaves. A state is 8 x cell + point.
ROOM = np.dtype(
    [
        # the position's cells (`lay_out`)
        ("enter", np.float64, (NUM_CELLS, 4)),  # what a way over cells pays to enter by each port; ENDLESS where it cannot
        ("shut", np.uint8, (NUM_CELLS,)),  # the ports by which a card does not let out, as bits
        ("inside", np.float64, (NUM_CELLS,)),  # the least that any way pays there
        ("vortices", np.int64),  # on the table
        # the way home
        ("moves", np.float64),  # what the way home comes to
        ("near", np.float64),  # and is worth
        ("before_home", np.float64),  # what it comes to at the cell before home, where it leads over cells
        ("by_lanes", np.int64),  # 1 where lanes lead home
        ("num_ends", np.int64),
        ("ends", np.int16, (NUM_CELLS,)),  # the cells that lanes end at
        ("end_cost", np.float64, (NUM_CELLS,)),  # what they cost
        ("most", np.float64),  # bounds of `moves` after the change that is tried
        ("rest", np.float64),
        ("cost", np.float64, (NUM_CELLS,)),  # of ways over cells, to each of them
        ("reach", np.float64, (NUM_CELLS, 4)),  # by each port, entering the cell left out; the least over lanes and cells
        ("least", np.float64, (NUM_CELLS,)),  # no way home that enters the cell comes to less
        ("onward", np.float64, (NUM_CELLS,)),  # what a way over cells home costs that has entered the cell
        ("before", np.float64, (NUM_CELLS,)),  # the least of `reach`
        ("beyond", np.float64, (NUM_CELLS,)),  # no way home that leaves the cell comes to less
        ("door", np.int64),  # the cell before home
        ("home_port", np.int64),  # its port that leads home
        ("at", np.int64),  # the ship's cell
        ("came", np.int16, (NUM_STATES,)),  # the state before each
        ("left", np.int16, (NUM_CELLS,)),  # the cell before each, or ~state where it is entered by a lane
        ("waiting", np.int16, (NUM_STATES,)),
        ("stops", np.int16, (MOST_WAITING,)),
        ("taken", np.int16, (MOST_WAITING,)),
        ("queue", np.int16, (NUM_CELLS,)),
        ("seen", np.uint8, (NUM_CELLS,)),  # points of each cell, as bits
        ("waits", np.uint8, (NUM_CELLS,)),
        ("on_way", np.uint8, (NUM_CELLS,)),  # the cells of one shortest way: ON_…, port in << 4, port out << 6
        (
            "touched",
            np.uint8,
            (NUM_CELLS,),
        ),  # BY_LANES: lanes lead there from the ship, by BY_PORT << port; TO_HOME: in no direction, from home
    ],
    align=True,
)


@kernel
def way_home(s, seat, w):
    """Moves from the ship to its home along the lanes, other ships away; where no lanes lead there, moves to where they end and
    what the cells from there on cost."""
    return search(s, seat, w, np.empty(1, ROOM), FIRST_ROOM, NO_WAY)


@kernel
def search(s, seat, w, rooms, r, most):
    """The way home (`way_home`), worked out in rooms[r]. most: what the way over cells to the one before home comes to at most, NO_WAY
    if that is not known."""
    lay_out(s, rooms[r], w)
    return search_on(s, seat, w, rooms, r, r, most, NOT_STUDIED, r, r, ENDLESS)


@kernel
def lay_out(s, table, w):
    """Write what searches read of the cells into a room."""
    table["enter"][:, :] = ENDLESS
    table["shut"][:] = 0
    table["inside"][:] = ENDLESS
    table["vortices"] = 0
    for cell in CELLS:
        card = np.int64(s["board"][cell])
        if card == FREE or is_card(card):
            lay_out_cell(s, table, cell, w)
            table["vortices"] += count_vortices(s, card)


@kernel
def lay_out_cell(s, table, cell, w):
    """The same for a cell that is free or holds a card."""
    card = np.int64(s["board"][cell])
    enter = table["enter"][cell]
    if card == FREE:
        for port in range(4):
            enter[port] = w[GAP]
        table["shut"][cell] = 0
        table["inside"][cell] = w[GAP]
        return
    face = np.int64(s["face"][s["design"][card], s["turn"][cell]])
    for port in range(4):
        enter[port] = 1.0 if face >> (IN + port) & 1 else 1.0 + w[BLOCKED]
    table["shut"][cell] = ~(face >> OUT) & PORTS_MASK
    table["inside"][cell] = least_inside(s, card)


@kernel
def lets_in(s, cell, port):
    """Does the card on the cell let a ship in by that port?"""
    return s["face"][s["design"][s["board"][cell]], s["turn"][cell]] >> (IN + port) & 1


@kernel
def search_on(s, seat, w, rooms, laid_out, r, most, rest, first, second, limit):
    """`search` in rooms[r], the position being laid out in the room `laid_out` already.

    rest: NOT_STUDIED; or if the seat's way was studied in rooms[seat], and other cards have come to lie on the cells `first` and `second`
    since, what a way over cells costs at least that goes on from the last of them. limit: what the way comes to at most, if lanes do not
    lead home.
    """
    room = rooms[r]
    room["by_lanes"] = 0
    if s["home"][seat]:
        room["before_home"] = 0.0
        return 0.0
    home = np.int64(s["base"][seat ^ 1])
    home_port = BASE_PORT[seat ^ 1]
    door = home + STEP[home_port]
    seen, waiting, stops, moves = room["seen"], room["waiting"], room["stops"], room["taken"]
    came, left, cost, reach, touched = room["came"], room["left"], room["cost"], room["reach"], room["touched"]
    queue, waits = room["queue"], room["waits"]
    seen[:] = 0
    waits[:] = 0
    touched[:] = 0
    cost[:] = NO_WAY
    reach[:, :] = ENDLESS
    cost[door] = most
    count = 0
    at = np.int64(s["ship"][seat])
    stop = np.int64(s["stop"][seat])
    touched[at] = BY_LANES
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
        if taken >= limit:
            break
        from_base = next_stop == 0 and stop == 0
        next_stop += 1
        state = np.int64(waiting[0])
        if not from_base and not warped and s["vortices"][s["design"][s["board"][state >> 3]]] >> (state & 7) & 1:
            warped = True
            for there in CELLS:
                if is_card(np.int64(s["board"][there])):
                    vortices = np.int64(s["vortices"][s["design"][s["board"][there]]]) & ~np.int64(seen[there])
                    for other in range(4, 8):
                        if vortices >> other & 1:
                            seen[there] |= 1 << other
                            came[8 * there + other] = state
                            stops[num_stops] = 8 * there + other
                            moves[num_stops] = taken
                            num_stops += 1
        while size > 0:
            size -= 1
            state = np.int64(waiting[size])
            cell = state >> 3
            point = state & 7
            to = np.int64(1) << point if from_base else lanes_from(s, cell, point, BY_ARROWS)
            from_base = False
            stations = to & ~np.int64(seen[cell]) & 0xF0
            if stations:
                seen[cell] |= stations
                for other in range(4, 8):
                    if stations >> other & 1:
                        came[8 * cell + other] = state
                        stops[num_stops] = 8 * cell + other
                        moves[num_stops] = taken
                        num_stops += 1
            for port in range(4):
                if to >> port & 1:
                    there = cell + STEP[port]
                    entry = port ^ 2
                    on_table = np.int64(s["board"][there])
                    touched[there] |= BY_LANES | BY_PORT << entry
                    if taken < reach[there, entry]:
                        reach[there, entry] = taken
                    if is_card(on_table):
                        if seen[there] >> entry & 1:
                            continue
                        seen[there] |= 1 << entry
                        if lets_in(s, there, entry):
                            came[8 * there + entry] = state
                            waiting[size] = 8 * there + entry
                            size += 1
                            continue
                        paid = taken + 1.0 + w[BLOCKED]
                    elif there == home and entry == home_port:
                        room["by_lanes"] = 1
                        came[0] = state
                        return float(taken)
                    elif on_table == FREE:
                        paid = taken + w[GAP]
                    else:
                        continue
                    if paid < cost[there]:
                        cost[there] = paid
                        left[there] = ~state
                        if not waits[there]:
                            waits[there] = 1
                            queue[count] = there
                            count += 1
    room["num_ends"] = count
    for j in range(count):
        room["ends"][j] = queue[j]
        room["end_cost"][j] = cost[queue[j]]
    onward = rooms[seat if rest >= 0.0 else r]["onward"]
    return over_cells(rooms[laid_out], w, room, onward, rest, first, second, count, door, home_port)


@kernel
def distance(cell, other):
    return abs(ROW[cell] - ROW[other]) + abs(COLUMN[cell] - COLUMN[other])


@kernel
def search_from_ends(seat, w, rooms, laid_out, r, most, rest, first, second):
    """`search_on` where no lane that the ship can take has changed since its way was studied in rooms[seat], and none led home."""
    known, room = rooms[seat], rooms[r]
    home_port = BASE_PORT[seat ^ 1]
    door = np.int64(known["door"])
    queue, waits, cost = room["queue"], room["waits"], room["cost"]
    waits[:] = 0
    cost[:] = NO_WAY
    cost[door] = most
    count = 0
    for j in range(known["num_ends"]):
        there = np.int64(known["ends"][j])
        if known["end_cost"][j] < cost[there]:
            cost[there] = known["end_cost"][j]
            waits[there] = 1
            queue[count] = there
            count += 1
    return over_cells(rooms[laid_out], w, room, known["onward"], rest, first, second, count, door, home_port)


@kernel
def over_cells(table, w, room, onward, rest, first, second, count, door, home_port):
    """The rest of a search: the least cost of a way over cells, from the `count` ends of lanes in the queue to home behind the door.
    Ways are not followed on that would come to no less than what is known. What is left of them is at least the distance; and, where
    `rest` is given, at least what it was before `first` and `second` changed (`onward`), or else the distance to one of those and the
    rest from there."""
    queue, waits, cost, reach, left = room["queue"], room["waits"], room["cost"], room["reach"], room["left"]
    enter, shut = table["enter"], table["shut"]
    head = 0
    step = min(1.0, w[GAP])  # no cell costs less
    last = w[BLOCKED] if shut[door] >> (home_port ^ 2) & 1 else 0.0
    while count > 0:
        cell = np.int64(queue[head])
        head = head + 1 if head + 1 < NUM_CELLS else 0
        count -= 1
        waits[cell] = 0
        at_cell = cost[cell]
        if at_cell + step * distance(cell, door) >= cost[door]:
            continue
        if rest >= 0.0:
            left_over = min(onward[cell], rest + step * min(distance(cell, first), distance(cell, second)))
            if at_cell + left_over >= cost[door] + last:
                continue
        for port in range(4):
            there = cell + STEP[port]
            entry = port ^ 2
            paid = at_cell + w[BLOCKED] if shut[cell] >> port & 1 else at_cell
            if paid < reach[there, entry]:
                reach[there, entry] = paid
            paid += enter[there, entry]
            if paid < cost[there] and paid < cost[door]:
                cost[there] = paid
                left[there] = cell
                if not waits[there]:
                    waits[there] = 1
                    at = head + count
                    queue[at if at < NUM_CELLS else at - NUM_CELLS] = there
                    count += 1
    room["before_home"] = cost[door]
    return cost[door] + last


@kernel
def count_vortices(s, card):
    """Those of a card; 0 for no card."""
    count = 0
    if is_card(card) and s["vortices"][s["design"][card]]:
        for point in range(4, 8):
            count += np.int64(s["vortices"][s["design"][card]]) >> point & 1
    return count


@kernel
def least_inside(s, card):
    """Moves that a way over a card takes at least: none if a lane goes through without a station."""
    lanes = s["lanes"][s["design"][card]]
    return 0.0 if (lanes[0] | lanes[1] | lanes[2] | lanes[3]) & PORTS_MASK else 1.0


# -- what ways home are worth -----------------------------------------------------------------------------------------------


@kernel
def worth_of_way(moves, w):
    """What so many moves home are worth, most of all none."""
    return 1.5 + w[NEAR_WORTH] if moves == 0.0 else np.exp(-w[FAR] * moves) + w[NEAR_WORTH] * np.exp(-w[NEAR] * moves)


@kernel
def worth_of_own_way(moves, on_turn, w):
    """The same of the own ship, for which the turn's last move may be still to come."""
    return worth_of_way(0.0, w) - w[SOON] if on_turn and moves == 1.0 else worth_of_way(moves, w)
