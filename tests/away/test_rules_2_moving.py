"""Moving one station (rules: Cards as lanes, Moving one station)."""

from __future__ import annotations

import random
from collections import deque
from typing import Any

import numpy as np
import pytest

from away_env import lanes
from away_env.cards import BASE_PORTS, DESIGNS, FIRST_BASE
from away_env.state import NUM_CELLS
from tests.away.helpers import Position, position


def destinations(p: Position) -> list[str]:
    return p.copy().do("move").of("cell") if "move" in p.legal else []


def test_over_cards_without_a_station_to_the_next_stop():
    assert destinations(position("r4c1 passage.green/0, r4c2 express.blue/0, r4c3 lane.blue/0, r4c4 lane.green/0")) == ["cell:4,3"]


def test_never_against_an_arrow():
    assert destinations(position("r4c1 oneway.blue/2")) == []
    assert destinations(position("r4c1 express.blue/2, r4c2 lane.blue/0")) == []
    assert destinations(position("r4c1 oneway.blue/0, r4c2 oneway.green/0", ships=["r4c1 stop 1"])) == ["cell:4,2"]
    assert destinations(position("r4c0 base W, r4c1 lane.blue/0, r4c2 oneway.green/0", ships=["r4c2 stop 1"])) == []


def test_lanes_that_lead_nowhere():
    assert destinations(position("r3c1 lane.blue/0")) == []  # no card before the base
    assert destinations(position("r4c1 lane.blue/1")) == []  # it shuts the base
    assert destinations(position("r4c1 lane.blue/0, r4c2 bend.blue/2", ships=["r4c1 stop 1"])) == []


def test_forks_leave_the_choice():
    fork = "r4c1 fork.blue/0, r3c1 lane.blue/1, r5c1 lane.green/1"
    assert destinations(position(fork, ships=["r4c1 stop 1"])) == ["cell:3,1", "cell:5,1"]
    cross = "r4c4 crossroads.1/0, r3c4 lane.blue/1, r5c4 lane.green/1, r4c3 lane.pink/0, r4c5 lane.orange/0"
    assert destinations(position(cross, ships=["r4c4 stop 1"])) == ["cell:3,4", "cell:4,3", "cell:4,5", "cell:5,4"]


def test_a_held_stop_is_jumped():
    row = "r4c1 lane.blue/0, r4c2 lane.green/0, r4c3 lane.pink/0, r4c4 lane.orange/0"
    assert destinations(position(row, ships=["start", "r4c1 stop 1"])) == ["cell:4,2"]
    assert destinations(position(row, ships=["start", "r4c1 stop 1", "r4c2 stop 1"], players=3)) == ["cell:4,3"]
    three = position(row, ships=["start", "r4c1 stop 1", "r4c2 stop 1", "r4c3 stop 1"], players=4)
    assert destinations(three) == ["cell:4,4"]
    assert destinations(position("r4c1 deadend.orange/0", ships=["start", "r4c1 stop 1"])) == []
    # beyond a held fork both ways are open
    fork = "r4c1 fork.blue/0, r3c1 lane.blue/1, r5c1 lane.green/1"
    assert destinations(position(fork, ships=["start", "r4c1 stop 1"])) == ["cell:3,1", "cell:5,1"]


def test_the_own_stop_is_neither_a_destination_nor_passed():
    loop = "r4c4 roundabout.1/0"
    p = position(loop, ships=["r4c4 stop 1", "r4c4 stop 2"])
    assert p.do("move").legal == ["cell:4,4"] and p.do("cell:4,4").ship(0) == "r4c4 stop 3"
    # with all others held there is no way but round to the own stop
    assert destinations(position(loop, ships=["r4c4 stop 1", "r4c4 stop 2", "r4c4 stop 3", "r4c4 stop 4"], players=4)) == []
    # from the held r4c5 the lanes lead back over the own stop to r4c3: not a destination, it is not passed
    row = "r4c3 lane.pink/0, r4c4 lane.orange/0, r4c5 deadend.orange/0"
    assert destinations(position(row, ships=["r4c4 stop 1", "r4c5 stop 1"])) == ["cell:4,3"]


def test_stop_is_not_asked_for_a_single_station():
    assert position("r4c1 double.blue/0").do("move", "cell:4,1").ship(0) == "r4c1 stop 1"


def test_stop_numbers_are_those_of_the_card_table_whatever_the_orientation():
    p = position("r4c4 roundabout.1/1, r4c3 crossroads.1/0", ships=["r4c3 stop 1"])
    assert p.do("move", "cell:4,4").ship(0) == "r4c4 stop 3"  # turned once, the southern port is the western
    held = position("r4c4 roundabout.1/0, r4c3 crossroads.1/0", ships=["r4c3 stop 1", "r4c4 stop 4"])
    assert held.do("move", "cell:4,4").ship(0) == "r4c4 stop 1"


def test_two_stations_of_one_cell():
    """Over two held stations both stations of the twinlane are possible."""
    table = "r4c3 crossroads.1/0, r4c4 twinlane.1/0, r3c3 bend.blue/3, r3c4 bend.green/0"
    p = position(table, ships=["r4c3 stop 1", "r3c3 stop 1", "r3c4 stop 1"], players=3)
    p.do("move", "cell:4,4")
    assert p.phase == "stop" and p.legal == ["stop:1", "stop:2"]
    assert p.copy().do("stop:1").ship(0) == "r4c4 stop 1" and p.do("stop:2").ship(0) == "r4c4 stop 2"


def test_home_is_never_blocked():
    row = "r4c7 lane.blue/0"
    p = position(row, ships=["r4c7 stop 1", "start"])  # seat 1's ship is still on its base, seat 0's home
    assert p.do("move").legal == ["cell:4,8"]
    assert p.do("cell:4,8").ship(0) == "home" and p.phase == "ship" and p.legal == ["pass"]


def test_other_bases_are_dead_ends():
    assert destinations(position("r4c1 lane.blue/0", ships=["r4c1 stop 1"])) == []  # the own start base
    cross = "r1c4 crossroads.1/0, r1c5 lane.blue/0"
    assert destinations(position(cross, ships=["r1c4 stop 1"], players=4)) == ["cell:1,5"]  # base N


def test_a_base_joins_only_at_its_port():
    assert destinations(position("r3c8 lane.blue/1", ships=["r3c8 stop 1"])) == []
    assert destinations(position("r4c7 lane.blue/0", ships=["r4c7 stop 1"])) == ["cell:4,8"]


def test_bases_port_to_port_are_joined():
    p = position("r4c0 base W, r4c1 base E")
    assert p.moves_home(0) == p.moves_home(1) == 1
    assert p.do("move").legal == ["cell:4,1"] and p.do("cell:4,1").ship(0) == "home"
    assert destinations(position("r4c1 base W, r4c0 base E")) == []  # back to back


VORTICES = "r1c1 vortex.blue/0, r7c6 vortex.pink/0, r7c7 bend.blue/0"


def test_warp():
    assert destinations(position(VORTICES, ships=["r1c1 stop 1"])) == ["cell:7,6"]
    p = position(VORTICES, ships=["r7c6 stop 1"])
    assert destinations(p) == ["cell:1,1", "cell:7,7"]
    assert p.do("move", "cell:1,1").ship(0) == "r1c1 stop 1"


def test_from_a_held_vortex_a_move_goes_on_by_lanes():
    assert destinations(position(VORTICES, ships=["r1c1 stop 1", "r7c6 stop 1"])) == ["cell:7,7"]


def test_a_warp_is_only_the_first_step():
    assert destinations(position(VORTICES, ships=["r7c7 stop 1", "r7c6 stop 1"])) == []
    assert destinations(position("r1c1 lane.blue/0, r1c2 vortex.blue/0, r7c6 vortex.pink/0", ships=["r1c1 stop 1"])) == ["cell:1,2"]


def plain_destinations(p: Position, mover: int, ignoring_arrows: bool) -> set[tuple[int, int]]:
    """The same by a plain search over (cell, point) with the lanes as they are written: {(cell, station or 0 for home)}."""
    r: Any = p.records[0]
    lanes_of = {}
    for cell in range(NUM_CELLS):
        card = int(r["board"][cell])
        if 0 <= card < FIRST_BASE:
            turn = int(r["turn"][cell])
            pairs = [((a + turn) % 4 if a < 4 else a, (b + turn) % 4 if b < 4 else b) for a, b in DESIGNS[r["design"][card]].lanes]
            lanes_of[cell] = pairs + [(b, a) for a, b in pairs if ignoring_arrows]
    step = {0: -11, 1: 1, 2: 11, 3: -1}
    own = (int(r["ship"][mover]), int(r["stop"][mover]))
    others = {(int(r["ship"][k]), int(r["stop"][k])) for k in range(r["players"]) if k != mover}
    home = int(r["base"][mover ^ 1])
    if r["home"][mover]:
        return set()
    reached, seen, queue = set(), set(), deque()

    def stop_at(cell: int, point: int) -> None:
        place = (cell, point - 3)
        if place != own and place not in reached:
            if place in others:
                queue.append((cell, point))
            else:
                reached.add(place)

    def leave(cell: int, port: int) -> None:
        there = cell + step[port]
        if there in lanes_of:
            queue.append((there, port ^ 2))
        elif there == home and BASE_PORTS[mover ^ 1] == port ^ 2:
            reached.add((home, 0))

    if own[1] == 0:
        leave(own[0], BASE_PORTS[mover])
    else:
        queue.append((own[0], own[1] + 3))
        if own[1] in DESIGNS[r["design"][r["board"][own[0]]]].vortices:
            for cell in lanes_of:
                for vortex in DESIGNS[r["design"][r["board"][cell]]].vortices:
                    stop_at(cell, vortex + 3)
    while queue:
        at = queue.popleft()
        if at in seen:
            continue
        seen.add(at)
        for begin, end in lanes_of[at[0]]:
            if begin == at[1]:
                if end < 4:
                    leave(at[0], end)
                else:
                    stop_at(at[0], end)
    return reached


def plain_moves_home(p: Position, mover: int) -> int:
    """Moves home with the other ships away, 127 without a way, by one-move searches from every stop."""
    alone = p.copy()
    r: Any = alone.records[0]
    home = int(r["base"][mover ^ 1])
    for k in range(r["players"]):
        if k != mover:
            r["ship"][k], r["stop"][k] = 0, 0
    if r["home"][mover]:
        return 0
    known = {(int(r["ship"][mover]), int(r["stop"][mover])): 0}
    queue = deque(known)
    while queue:
        at = queue.popleft()
        r["ship"][mover], r["stop"][mover] = at
        for place in plain_destinations(alone, mover, False):
            if place == (home, 0):
                return known[at] + 1
            if place not in known:
                known[place] = known[at] + 1
                queue.append(place)
    return 127


def scattered(rng: random.Random, players: int) -> Position:
    """A full table: every free cell has some card, ships stand anywhere."""
    p = Position.of_seed(rng.randrange(10**6), players=players)
    r: Any = p.records[0]
    free = [cell for cell in range(NUM_CELLS) if r["board"][cell] == -1]
    rng.shuffle(free)
    for card, cell in zip(
        rng.sample(range(40), rng.choice((15, 30, 40))), sorted(free, key=lambda c: abs(c - 60) + rng.random()), strict=False
    ):
        r["board"][cell], r["turn"][cell] = card, rng.randrange(4)
    stations = [
        (cell, n + 1)
        for cell in range(NUM_CELLS)
        if 0 <= r["board"][cell] < FIRST_BASE
        for n in range(DESIGNS[r["design"][r["board"][cell]]].stations)
    ]
    vortices = [place for place in stations if DESIGNS[r["design"][r["board"][place[0]]]].vortices]
    for k, place in enumerate(rng.sample(stations, players)):
        if rng.random() < 0.9:
            r["ship"][k], r["stop"][k] = place
    if vortices and rng.random() < 0.5 and all((r["ship"][k], r["stop"][k]) != vortices[0] for k in range(players)):
        r["ship"][0], r["stop"][0] = vortices[0]
    return p


@pytest.mark.parametrize("players", [2, 3, 4])
def test_destinations_and_ways_home_agree_with_a_plain_search(players):
    rng = random.Random(players)
    found = np.zeros(NUM_CELLS, np.uint8)
    ways = set()
    for _ in range(60):
        p = scattered(rng, players)
        for mover in range(players):
            for ignoring in (lanes.BY_ARROWS, lanes.IGNORING_ARROWS):
                count = lanes.destinations(p.records[0], np.int64(mover), ignoring, lanes.ALL_STOPS, found)
                ours = {(c, n) for c in range(NUM_CELLS) for n in range(1, 5) if found[c] >> (n + 3) & 1}
                ours |= {(c, 0) for c in range(NUM_CELLS) if found[c] & 1}
                assert ours == plain_destinations(p, mover, bool(ignoring)), f"seat {mover}, ignoring {ignoring}\n{p}"
                assert count == len(ours)
                assert lanes.can_move(p.records[0], np.int64(mover), ignoring) == bool(ours)
            way = lanes.count_moves_home(p.records[0], np.int64(mover))
            assert way == plain_moves_home(p, mover), f"seat {mover}\n{p}"
            ways.add(int(way))
    assert 127 in ways and len(ways) > 4
