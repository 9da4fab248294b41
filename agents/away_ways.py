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
        # the way home
        ("moves", np.float64),  # what the way home comes to
        ("near", np.float64),  # and is worth
        ("before_home", np.float64),  # what it comes to at the cell before home, where it leads over cells
        ("by_lanes", np.int64),  # 1 where lanes lead home
        ("cost", np.float64, (NUM_CELLS,)),  # of ways over cells, to each of them
        ("reach", np.float64, (NUM_CELLS, 4)),  # by each port, entering the cell left out; the least over lanes and cells
        ("least", np.float64, (NUM_CELLS,)),  # no way home that enters the cell comes to less
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
def search(s, seat, w, rooms, r, most):
    """The way home (`way_home`), worked out in rooms[r]. most: what the way over cells to the one before home comes to at most, NO_WAY
    if that is not known."""
    lay_out(s, rooms[r], w)
    return search_on(s, seat, w, rooms, r, r, most)


@kernel
def lay_out(s, table, w):
    """Write what searches read of the cells into a room."""
    table["enter"][:, :] = ENDLESS
    table["shut"][:] = 0
    table["inside"][:] = ENDLESS
    for cell in CELLS:
        if s["board"][cell] == FREE or is_card(np.int64(s["board"][cell])):
            lay_out_cell(s, table, cell, w)


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
def search_on(s, seat, w, rooms, laid_out, r, most):
    """`search` in rooms[r], the position being laid out in the room `laid_out` already."""
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
    return over_cells(rooms[laid_out], w, room, count, door, home_port)


@kernel
def over_cells(table, w, room, count, door, home_port):
    """The rest of a search: the least cost of a way over cells, from the `count` ends of lanes in the queue to home behind the door."""
    queue, waits, cost, reach, left = room["queue"], room["waits"], room["cost"], room["reach"], room["left"]
    enter, shut = table["enter"], table["shut"]
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
    return cost[door] + (w[BLOCKED] if shut[door] >> (home_port ^ 2) & 1 else 0.0)


# -- which cells matter ----------------------------------------------------------------------------------------------------


@kernel
def study(s, seat, w, rooms, laid_out, r):
    """Search the seat's way home, and note what other cards on cells can do to it (`least_moves`, `most_moves`)."""
    room = rooms[r]
    room["moves"] = search_on(s, seat, w, rooms, laid_out, r, NO_WAY)
    room["on_way"][:] = 0
    if s["home"][seat]:
        room["by_lanes"] = 1
        room["reach"][:, :] = ENDLESS
        room["touched"][:] = 0
        room["at"] = -1
        return
    room["at"] = s["ship"][seat]
    room["door"] = s["base"][seat ^ 1] + STEP[BASE_PORT[seat ^ 1]]
    room["home_port"] = BASE_PORT[seat ^ 1] ^ 2
    mark_way(s, seat, room)
    if room["moves"] > room["before_home"] and not room["by_lanes"]:  # the door is shut: another card there could let in from ways
        for port in range(4):  # that were not followed, as they came to more before it
            room["reach"][room["door"], port] = min(room["reach"][room["door"], port], room["before_home"] - min(1.0, w[GAP]))
    bound_ways(s, rooms[laid_out], seat, w, room)
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
        on_way[cell] = ON_LANE
        if room["before_home"] >= NO_WAY:
            room["reach"][door] = 0.0  # a card there costs even where there is no way
            return
        out = room["home_port"]
        while room["left"][cell] >= 0:
            before = np.int64(room["left"][cell])
            port = port_between(before, cell)
            on_way[cell] = ON_CELL | (port ^ 2) << 4 | out << 6
            out = port
            cell = before
        state = ~np.int64(room["left"][cell])
        on_way[cell] = ON_END | (port_between(state >> 3, cell) ^ 2) << 4 | out << 6
    stop = np.int64(s["stop"][seat])
    start = 8 * np.int64(s["ship"][seat]) + (3 + stop if stop > 0 else BASE_PORT[seat])
    on_way[start >> 3] = ON_LANE
    while state != start:
        on_way[state >> 3] = ON_LANE
        state = np.int64(room["came"][state])


@kernel
def port_between(cell, neighbour):
    for port in range(4):
        if cell + STEP[port] == neighbour:
            return port
    return 0


@kernel
def bound_ways(s, table, seat, w, room):
    """Write `least`: as if all cards let in and out everywhere, and cost a move if there is a station on every way."""
    door = np.int64(s["base"][seat ^ 1]) + STEP[BASE_PORT[seat ^ 1]]
    least, queue, waits = room["least"], room["queue"], room["waits"]
    moves = room["moves"]
    least[:] = ENDLESS
    waits[:] = 0
    count = 0
    head = 0
    inside = table["inside"]
    if inside[door] < ENDLESS:
        least[door] = inside[door] + (w[BLOCKED] if table["shut"][door] >> room["home_port"] & 1 else 0.0)
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
            count = lower(cell + STEP[port], from_here, inside, least, queue, waits, head, count)
        if has_vortex(s, np.int64(s["board"][cell])):
            for there in CELLS:
                if has_vortex(s, np.int64(s["board"][there])):
                    count = lower(there, from_here, inside, least, queue, waits, head, count)


@kernel
def lower(there, from_here, inside, least, queue, waits, head, count):
    """A way that enters the cell `there` and goes on for `from_here`: queue the cell if that is less than was known."""
    paid = from_here + inside[there]
    if paid < least[there]:
        least[there] = paid
        if not waits[there]:
            waits[there] = 1
            at = head + count
            queue[at if at < NUM_CELLS else at - NUM_CELLS] = there
            count += 1
    return count


@kernel
def has_vortex(s, card):
    return is_card(card) and s["vortices"][s["design"][card]] != 0


@kernel
def least_inside(s, card):
    """Moves that a way over a card takes at least: none if a lane goes through without a station."""
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
def most_moves(s, table, room, first, card, turn, second, other, other_turn, w):
    """What the way comes to at most with that card, turned so, on the cell `first`, and another on `second` (or the same again);
    ENDLESS where that is not known. Off the way: no more than before, unless lanes then lead home where cells were the shorter way."""
    if room["touched"][first] | room["touched"][second] == BY_LANES | TO_HOME:
        return ENDLESS
    most = room["moves"] + longer(s, table, room, first, card, turn, w)
    return most if second == first else most + longer(s, table, room, second, other, other_turn, w)


@kernel
def longer(s, table, room, cell, card, turn, w):
    """By how much the way gets longer, if it goes on over the cell; ENDLESS where it may not."""
    on_way = np.int64(room["on_way"][cell])
    if on_way == 0:
        return 0.0
    if on_way & ON_LANE:
        return ENDLESS
    entry, out = on_way >> 4 & 3, on_way >> 6
    before = table["enter"][cell, entry] + (w[BLOCKED] if table["shut"][cell] >> out & 1 else 0.0)
    if card == FREE:
        return w[GAP] - before
    face = np.int64(s["face"][s["design"][card], turn])
    lets_in = face >> (IN + entry) & 1
    if lets_in and on_way & ON_END:
        return ENDLESS  # the lane goes on over the card
    after = 1.0 if lets_in else 1.0 + w[BLOCKED]
    return after - before if face >> (OUT + out) & 1 else after + w[BLOCKED] - before


@kernel
def least_moves(s, room, first, card, turn, second, other, other_turn, w):
    """What the way comes to at least with that card, turned so, on the cell `first`, and another on `second` (or the same again);
    no card that lies there then or did before has a vortex."""
    if room["by_lanes"] and (room["on_way"][first] or room["on_way"][second]):
        return 0.0  # a way over cells may be shorter than the one by lanes that goes
    moves = room["moves"]
    into = least_into(s, room, first, card, turn, w)
    out = least_out(s, room, first, card, turn, w)
    moves = min(moves, into + out)
    if second == first:
        return moves
    into_second = least_into(s, room, second, other, other_turn, w)
    out_second = least_out(s, room, second, other, other_turn, w)
    moves = min(moves, into_second + out_second)
    return min(moves, min(into + out_second, into_second + out))


@kernel
def least_into(s, room, cell, card, turn, w):
    """What a way home comes to at least until it is on the cell, on which the card is going to lie."""
    if cell == room["at"]:
        return 0.0
    reach = room["reach"][cell]
    if card == FREE:
        return w[GAP] + min(min(reach[0], reach[1]), min(reach[2], reach[3]))
    face = np.int64(s["face"][s["design"][card], turn])
    inside = least_inside(s, card)
    least = ENDLESS
    for port in range(4):
        least = min(least, reach[port] + (inside if face >> (IN + port) & 1 else 1.0 + w[BLOCKED]))
    return least


@kernel
def least_out(s, room, cell, card, turn, w):
    """What is left of a way home at least, once it is on the cell, on which the card is going to lie."""
    face = np.int64(-1) if card == FREE else np.int64(s["face"][s["design"][card], turn])
    least = ENDLESS
    for port in range(4):
        on = 0.0 if cell == room["door"] and port == room["home_port"] else room["least"][cell + STEP[port]]
        least = min(least, on if face >> (OUT + port) & 1 else on + w[BLOCKED])
    return least
