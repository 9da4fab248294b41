"""What other cards on one or two cells of the table can make of a way home of a_way.

Most cards that can be played change nothing about it. `study` finds, for one position, the cells on which a shortest way lies and what a
way through any other cell comes to at least; by that, most cards need no new search, and most searches look at few cells.
"""

from __future__ import annotations

import numpy as np

from agents.away_ways import (
    BLOCKED,
    BY_LANES,
    BY_PORT,
    ENDLESS,
    GAP,
    NO_WAY,
    NOT_STUDIED,
    ON_CELL,
    ON_END,
    ON_LANE,
    TO_HOME,
    count_vortices,
    distance,
    least_inside,
    search_from_ends,
    search_on,
)
from away_env.lanes import (
    BASE_PORT,
    CELLS,
    IGNORING_ARROWS,
    IN,
    OUT,
    STEP,
    is_card,
    lanes_from,
)
from away_env.state import FREE, NUM_CELLS
from tabletop.compiled import kernel

KERNEL_PACKAGES = ("away_env", "agents.away_ways")


@kernel
def study(s, seat, w, rooms, laid_out, r):
    """Search the seat's way home, and note what other cards on cells can do to it (`least_moves`, `most_moves`)."""
    room = rooms[r]
    room["moves"] = search_on(s, seat, w, rooms, laid_out, r, NO_WAY, NOT_STUDIED, r, r, ENDLESS)
    room["on_way"][:] = 0
    if s["home"][seat]:
        room["by_lanes"] = 1
        room["before"][:] = ENDLESS
        room["onward"][:] = 0.0
        room["beyond"][:] = ENDLESS
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
    measure_onward(rooms[laid_out], w, room)
    reach, least, before, beyond = room["reach"], room["least"], room["before"], room["beyond"]
    for cell in range(NUM_CELLS):
        least[cell] = min(least[cell], room["moves"])  # more than that was not looked into
    for cell in CELLS:
        before[cell] = min(min(reach[cell, 0], reach[cell, 1]), min(reach[cell, 2], reach[cell, 3]))
        beyond[cell] = min(min(least[cell + STEP[0]], least[cell + STEP[1]]), min(least[cell + STEP[2]], least[cell + STEP[3]]))
    before[room["at"]] = 0.0
    beyond[room["door"]] = 0.0
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
        if count_vortices(s, np.int64(s["board"][cell])) > 0:
            for there in CELLS:
                if count_vortices(s, np.int64(s["board"][there])) > 0:
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
def measure_onward(table, w, room):
    """Write `onward`, as far as it is not more than the whole way."""
    onward, queue, waits, enter, shut, inside = room["onward"], room["queue"], room["waits"], table["enter"], table["shut"], table["inside"]
    door = np.int64(room["door"])
    onward[:] = room["moves"]
    waits[:] = 0
    head = 0
    count = 0
    if inside[door] < ENDLESS:
        onward[door] = w[BLOCKED] if shut[door] >> room["home_port"] & 1 else 0.0
        queue[0] = door
        count = 1
    while count > 0:
        cell = np.int64(queue[head])
        head = head + 1 if head + 1 < NUM_CELLS else 0
        count -= 1
        waits[cell] = 0
        for port in range(4):
            there = cell + STEP[port]
            paid = onward[cell] + enter[cell, port]
            if shut[there] >> (port ^ 2) & 1:
                paid += w[BLOCKED]
            if paid < onward[there] and inside[there] < ENDLESS:
                onward[there] = paid
                if not waits[there]:
                    waits[there] = 1
                    at = head + count
                    queue[at if at < NUM_CELLS else at - NUM_CELLS] = there
                    count += 1


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
def may_change(room, first, second):
    """Can other cards on these cells (the second may be the first again), none of them with a vortex, make the way another one? That
    they cannot is told at less cost than by `least_moves` and `most_moves`, but not always."""
    if room["on_way"][first] or room["on_way"][second] or completes_lanes(room, first, second):
        return True
    return min(room["before"][first], room["before"][second]) + min(room["beyond"][first], room["beyond"][second]) < room["moves"]


@kernel
def completes_lanes(room, first, second):
    """Can other cards on these cells make lanes lead home that did not?"""
    return (room["touched"][first] | room["touched"][second]) & (BY_LANES | TO_HOME) == BY_LANES | TO_HOME


@kernel
def most_moves(s, table, room, first, card, turn, second, other, other_turn, w):
    """What the way comes to at most with that card, turned so, on the cell `first`, and another on `second` (or the same again);
    ENDLESS where that is not known. Off the way: no more than before, unless lanes then lead home where cells were the shorter way."""
    if completes_lanes(room, first, second):
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
def least_moves(s, table, room, first, card, turn, second, other, other_turn, w):
    """What the way comes to at least with that card, turned so, on the cell `first`, and another on `second` (or the same again);
    no card that lies there then or did before has a vortex."""
    if room["by_lanes"] and (room["on_way"][first] or room["on_way"][second]):
        return 0.0  # a way over cells may be shorter than the one by lanes that goes
    into, into_lanes = least_into(s, room, first, card, turn, w)
    out = least_over(s, table, room, first, card, turn, w)
    out_lanes = least_out(s, table, room, first, card, turn) if into_lanes < ENDLESS or second != first else ENDLESS
    least = min(into + out, into_lanes + out_lanes)
    if second != first:
        into_second, into_second_lanes = least_into(s, room, second, other, other_turn, w)
        out_second = least_over(s, table, room, second, other, other_turn, w)
        out_second_lanes = least_out(s, table, room, second, other, other_turn)
        between = min(1.0, w[GAP]) * distance(first, second)
        least = min(least, min(into_second + out_second, into_second_lanes + out_second_lanes))
        least = min(least, min(into + between + out_second, into_lanes + min(out_second, out_second_lanes)))
        least = min(least, min(into_second + between + out, into_second_lanes + min(out, out_lanes)))
    return min(room["moves"], least)


@kernel
def least_into(s, room, cell, card, turn, w):
    """What a way comes to at least until it has entered the cell, on which the card is going to lie: over cells, and by a lane that goes
    on over the card, what the card takes included."""
    reach = room["reach"][cell]
    if card == FREE:
        return w[GAP] + min(min(reach[0], reach[1]), min(reach[2], reach[3])), ENDLESS
    face = np.int64(s["face"][s["design"][card], turn])
    least = ENDLESS
    by_lanes = 1.0 if cell == room["at"] else ENDLESS
    for port in range(4):
        if face >> (IN + port) & 1:
            least = min(least, reach[port] + 1.0)
            if room["touched"][cell] >> port & BY_PORT:
                by_lanes = min(by_lanes, reach[port] + least_inside(s, card))
        else:
            least = min(least, reach[port] + 1.0 + w[BLOCKED])
    return least, by_lanes


@kernel
def least_over(s, table, room, cell, card, turn, w):
    """What a way over cells costs at least that leaves the cell, on which the card is going to lie, and no other that changes."""
    face = np.int64(-1) if card == FREE else np.int64(s["face"][s["design"][card], turn])
    least = ENDLESS
    for port in range(4):
        there = cell + STEP[port]
        on = table["enter"][there, port ^ 2] + room["onward"][there]
        if cell == room["door"] and port == room["home_port"]:
            on = 0.0
        least = min(least, on if face >> (OUT + port) & 1 else on + w[BLOCKED])
    return least


@kernel
def least_out(s, table, room, cell, card, turn):
    """What is left at least of a way by lanes that leaves the cell, on which the card is going to lie, and no other that changes."""
    if card == FREE:
        return ENDLESS
    face = np.int64(s["face"][s["design"][card], turn])
    least = ENDLESS
    for port in range(4):
        if face >> (OUT + port) & 1:
            there = cell + STEP[port]
            if cell == room["door"] and port == room["home_port"]:
                least = 0.0
            elif table["enter"][there, port ^ 2] == 1.0:  # lanes go on
                least = min(least, room["least"][there])
            else:
                least = min(least, table["enter"][there, port ^ 2] + room["onward"][there])
    return least


@kernel
def search_again(s, seat, w, rooms, laid_out, r, first, second):
    """The way home with cards changed on these cells, of a seat whose way was studied in rooms[seat] and bounded: `most`, `rest`."""
    room = rooms[seat]
    last = w[BLOCKED] if rooms[laid_out]["shut"][room["door"]] >> room["home_port"] & 1 else 0.0
    most = min(room["most"] - last, NO_WAY)
    if room["most"] < ENDLESS / 2 and not room["by_lanes"] and not (room["touched"][first] | room["touched"][second]) & BY_LANES:
        return search_from_ends(seat, w, rooms, laid_out, r, most, room["rest"], first, second)
    by_lanes = room["most"] >= ENDLESS / 2 or room["by_lanes"] or (room["touched"][first] | room["touched"][second]) & TO_HOME
    limit = ENDLESS if by_lanes else room["most"]
    return search_on(s, seat, w, rooms, laid_out, r, most, room["rest"], first, second, limit)
