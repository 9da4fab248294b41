"""The ways home of a_way's ships: how long they are, and which cells of the table could change that.

A way home is counted in moves along the lanes as they lie, other ships away; where no lanes lead home, in moves to where they end and
what the cells from there on cost. Most cards that can be played change nothing about it: `study` finds, for one position, the cells on
which a shortest way lies and a bound on what a way through any other cell could come to, so that such cards need no new search.
"""

from __future__ import annotations

import numpy as np

from away_env.lanes import BASE_PORT, BY_ARROWS, CELLS, IGNORING_ARROWS, IN, MOST_WAITING, OUT, PORTS_MASK, STEP, is_card, lanes_from
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
NUM_STATES = 8 * NUM_CELLS
BY_LANES, TO_HOME = 1, 2  # bits of `touched`
ROW = np.arange(NUM_CELLS) // WIDTH
COLUMN = np.arange(NUM_CELLS) % WIDTH

#: Where a search works, and what it leaves. A state is 8 x cell + point.
ROOM = np.dtype(
    [
        ("moves", np.float64),  # what the way home comes to
        ("near", np.float64),  # and is worth
        ("before_home", np.float64),  # what it comes to at the cell before home, where it leads over cells
        ("by_lanes", np.int64),  # 1 where lanes lead home
        ("cost", np.float64, (NUM_CELLS,)),  # of ways over cells, to each of them
        ("reach", np.float64, (NUM_CELLS,)),  # the same, what entering the cell costs left out; least over lanes and cells
        ("beyond", np.float64, (NUM_CELLS,)),  # no way home that leaves the cell comes to less
        ("least", np.float64, (NUM_CELLS,)),  # no way home that enters the cell comes to less
        ("came", np.int16, (NUM_STATES,)),  # the state before each
        ("left", np.int16, (NUM_CELLS,)),  # the cell before each, or ~state where it is entered by a lane
        ("waiting", np.int16, (NUM_STATES,)),
        ("stops", np.int16, (MOST_WAITING,)),
        ("taken", np.int16, (MOST_WAITING,)),
        ("queue", np.int16, (NUM_CELLS,)),
        ("seen", np.uint8, (NUM_CELLS,)),  # points of each cell, as bits
        ("waits", np.uint8, (NUM_CELLS,)),
        ("on_way", np.uint8, (NUM_CELLS,)),  # 1 for the cells of one shortest way
        ("touched", np.uint8, (NUM_CELLS,)),  # BY_LANES: lanes lead there from the ship; TO_HOME: in no direction, from home
    ],
    align=True,
)


@kernel
def way_home(s, seat, w):
    """Moves from the ship to its home along the lanes, other ships away; where no lanes lead there, moves to where they end and
    what the cells from there on cost."""
    return search(s, seat, w, np.empty(1, ROOM), 0, NO_WAY)


@kernel
def lets_in(s, cell, port):
    """Does the card on the cell let a ship in by that port?"""
    return s["face"][s["design"][s["board"][cell]], s["turn"][cell]] >> (IN + port) & 1


@kernel
def lets_out(s, cell, port):
    return s["face"][s["design"][s["board"][cell]], s["turn"][cell]] >> (OUT + port) & 1


@kernel
def search(s, seat, w, rooms, r, most):
    """The way home (`way_home`). most: what the way over cells to the one before home comes to at most, NO_WAY if not known."""
    room = rooms[r]  # not handed over itself: numba would not keep its array
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
    reach[:] = ENDLESS
    cost[door] = most
    count = 0
    at = np.int64(s["ship"][seat])
    stop = np.int64(s["stop"][seat])
    reach[at] = 0.0
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
                    touched[there] = BY_LANES
                    if taken < reach[there]:
                        reach[there] = taken
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
    return over_cells(s, w, room, count, door, home_port)


@kernel
def over_cells(s, w, room, count, door, home_port):
    """The rest of a search: the least cost of a way over cells, from the `count` ends of lanes in the queue to home behind the door."""
    queue, waits, cost, reach, left = room["queue"], room["waits"], room["cost"], room["reach"], room["left"]
    head = 0
    step = min(1.0, w[GAP])  # no cell costs less
    row, column = ROW[door], COLUMN[door]
    while count > 0:
        cell = np.int64(queue[head])
        head = head + 1 if head + 1 < NUM_CELLS else 0
        count -= 1
        waits[cell] = 0
        at_cell = cost[cell]
        if at_cell + step * (abs(ROW[cell] - row) + abs(COLUMN[cell] - column)) >= cost[door]:
            continue
        shut = np.int64(0)  # ports by which the card does not let out
        if is_card(np.int64(s["board"][cell])):
            shut = ~(np.int64(s["face"][s["design"][s["board"][cell]], s["turn"][cell]]) >> OUT) & PORTS_MASK
        for port in range(4):
            there = cell + STEP[port]
            on_table = np.int64(s["board"][there])
            paid = at_cell + w[BLOCKED] if shut >> port & 1 else at_cell
            if is_card(on_table):
                if paid < reach[there]:
                    reach[there] = paid
                paid += 1.0 if lets_in(s, there, port ^ 2) else 1.0 + w[BLOCKED]
            elif on_table == FREE:
                if paid < reach[there]:
                    reach[there] = paid
                paid += w[GAP]
            else:
                continue
            if paid < cost[there] and paid < cost[door]:
                cost[there] = paid
                left[there] = cell
                if not waits[there]:
                    waits[there] = 1
                    at = head + count
                    queue[at if at < NUM_CELLS else at - NUM_CELLS] = there
                    count += 1
    room["before_home"] = cost[door]
    least = cost[door]
    if is_card(np.int64(s["board"][door])) and not lets_out(s, door, home_port ^ 2):
        least += w[BLOCKED]
    return least


# -- which cells matter ----------------------------------------------------------------------------------------------------


@kernel
def study(s, seat, w, rooms, r):
    """Search the seat's way home, and note what other cards on cells can do to it (`may_lengthen`, `least_moves`)."""
    room = rooms[r]
    room["moves"] = search(s, seat, w, rooms, r, NO_WAY)
    room["on_way"][:] = 0
    room["beyond"][:] = ENDLESS
    if s["home"][seat]:
        room["reach"][:] = ENDLESS
        room["touched"][:] = 0
        return
    mark_way(s, seat, room)
    bound_ways(s, seat, w, room)
    if not room["by_lanes"]:
        touch_from_home(s, seat, room)


@kernel
def mark_way(s, seat, room):
    """Mark the cells of the way that the search found."""
    door = np.int64(s["base"][seat ^ 1]) + STEP[BASE_PORT[seat ^ 1]]
    on_way = room["on_way"]
    state = np.int64(room["came"][0])
    if not room["by_lanes"]:
        cell = door
        on_way[cell] = 1
        if room["before_home"] >= NO_WAY:
            room["reach"][door] = 0.0  # a card there costs even where there is no way
            return
        while room["left"][cell] >= 0:
            cell = np.int64(room["left"][cell])
            on_way[cell] = 1
        state = ~np.int64(room["left"][cell])
    stop = np.int64(s["stop"][seat])
    start = 8 * np.int64(s["ship"][seat]) + (3 + stop if stop > 0 else BASE_PORT[seat])
    on_way[start >> 3] = 1
    while state != start:
        on_way[state >> 3] = 1
        state = np.int64(room["came"][state])


@kernel
def bound_ways(s, seat, w, room):
    """Write `least` and `beyond`: as if all cards let in and out everywhere, and cost a move if there is a station on every way."""
    door = np.int64(s["base"][seat ^ 1]) + STEP[BASE_PORT[seat ^ 1]]
    least, queue, waits = room["least"], room["queue"], room["waits"]
    moves = room["moves"]
    least[:] = ENDLESS
    waits[:] = 0
    count = 0
    head = 0
    on_table = np.int64(s["board"][door])
    if on_table == FREE or is_card(on_table):
        least[door] = least_cost(s, door, w)
        if is_card(on_table) and not lets_out(s, door, BASE_PORT[seat ^ 1] ^ 2):
            least[door] += w[BLOCKED]
        queue[0] = door
        count = 1
    while count > 0:
        cell = np.int64(queue[head])
        head = head + 1 if head + 1 < NUM_CELLS else 0
        count -= 1
        waits[cell] = 0
        from_here = least[cell]
        if from_here >= moves:
            continue
        for port in range(4):
            there = cell + STEP[port]
            on_table = np.int64(s["board"][there])
            if on_table == FREE or is_card(on_table):
                count = lower(s, there, from_here, w, least, queue, waits, head, count)
        if is_card(np.int64(s["board"][cell])) and s["vortices"][s["design"][s["board"][cell]]]:
            for there in CELLS:
                if is_card(np.int64(s["board"][there])) and s["vortices"][s["design"][s["board"][there]]]:
                    count = lower(s, there, from_here, w, least, queue, waits, head, count)
    beyond = room["beyond"]
    for cell in CELLS:
        beyond[cell] = min(min(least[cell + STEP[0]], least[cell + STEP[1]]), min(least[cell + STEP[2]], least[cell + STEP[3]]))
    beyond[door] = 0.0


@kernel
def lower(s, there, from_here, w, least, queue, waits, head, count):
    """A way that enters the cell `there` and goes on for `from_here`: queue the cell if that is less than was known."""
    paid = from_here + least_cost(s, there, w)
    if paid < least[there]:
        least[there] = paid
        if not waits[there]:
            waits[there] = 1
            at = head + count
            queue[at if at < NUM_CELLS else at - NUM_CELLS] = there
            count += 1
    return count


@kernel
def least_cost(s, cell, w):
    """What a way over the cell counts for at least."""
    card = np.int64(s["board"][cell])
    if card == FREE:
        return w[GAP]
    lanes = s["lanes"][s["design"][card]]
    return 0.0 if (lanes[0] | lanes[1] | lanes[2] | lanes[3]) & PORTS_MASK else 1.0


@kernel
def touch_from_home(s, seat, room):
    """Mark in `touched` the cells that lanes join to home, their arrows ignored."""
    home_port = BASE_PORT[seat ^ 1]
    door = np.int64(s["base"][seat ^ 1]) + STEP[home_port]
    touched, seen, waiting = room["touched"], room["seen"], room["waiting"]
    touched[door] |= TO_HOME
    size = 0
    warped = False
    seen[:] = 0
    if is_card(np.int64(s["board"][door])):
        seen[door] = 1 << (home_port ^ 2)
        waiting[0] = 8 * door + (home_port ^ 2)
        size = 1
    while size > 0:
        size -= 1
        cell = np.int64(waiting[size]) >> 3
        point = np.int64(waiting[size]) & 7
        to = lanes_from(s, cell, point, IGNORING_ARROWS)
        if not warped and s["vortices"][s["design"][s["board"][cell]]] >> point & 1:
            warped = True
            for there in CELLS:
                if is_card(np.int64(s["board"][there])):
                    vortices = np.int64(s["vortices"][s["design"][s["board"][there]]]) & ~np.int64(seen[there])
                    for other in range(4, 8):
                        if vortices >> other & 1:
                            touched[there] |= TO_HOME
                            seen[there] |= 1 << other
                            waiting[size] = 8 * there + other
                            size += 1
        for other in range(4, 8):
            if to >> other & 1 and not seen[cell] >> other & 1:
                seen[cell] |= 1 << other
                waiting[size] = 8 * cell + other
                size += 1
        for port in range(4):
            if to >> port & 1:
                there = cell + STEP[port]
                entry = port ^ 2
                touched[there] |= TO_HOME
                if is_card(np.int64(s["board"][there])) and not seen[there] >> entry & 1:
                    seen[there] |= 1 << entry
                    waiting[size] = 8 * there + entry
                    size += 1


@kernel
def may_lengthen(room, first, second):
    """Can other cards on these cells (the second may be the first again) make the way longer? Where none of them lies on the way,
    only by lanes that then lead home, where cells were the shorter way."""
    if room["on_way"][first] or room["on_way"][second]:
        return True
    return room["touched"][first] | room["touched"][second] == BY_LANES | TO_HOME


@kernel
def least_moves(room, first, second):
    """What the way comes to at least with other cards on these cells, none of them with a vortex."""
    if room["by_lanes"] and (room["on_way"][first] or room["on_way"][second]):
        return 0.0  # a way over cells may be shorter than the one by lanes that goes
    through = min(room["reach"][first], room["reach"][second]) + min(room["beyond"][first], room["beyond"][second])
    return min(room["moves"], through)
