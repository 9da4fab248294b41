"""The action cards, each with what it needs and does (rules: A turn, the table of action cards)."""

from __future__ import annotations

import pytest

from tests.away.helpers import Position, position

ROW = "r4c1 lane.blue/0, r4c2 lane.green/0, r4c3 lane.pink/0, r4c4 lane.orange/0"
TURNS = ["turn:0", "turn:1", "turn:2", "turn:3"]


def playable(p: Position, card: str) -> bool:
    return f"play:{card}" in p.legal


def others(turn: int) -> list[str]:
    return [name for name in TURNS if name != f"turn:{turn}"]


# -- hyperdrive, solar_wind --------------------------------------------------------------------------------------------


def test_hyperdrive_moves_two_stations():
    p = position(ROW, "hyperdrive.pink, bend.pink", ships=["r4c1 stop 1"]).do("play:hyperdrive.pink")
    assert p.pile == ["hyperdrive.pink"] and p.legal == ["cell:4,2"]
    p.do("cell:4,2")
    assert p.ship(0) == "r4c2 stop 1"  # moved before the second is asked
    assert p.legal == ["cell:4,1", "cell:4,3"]
    assert p.do("cell:4,3").ship(0) == "r4c3 stop 1" and p.legal == ["play:bend.pink", "done"] and p.faction == "pink"


def test_hyperdrive_moves_one_station_if_there_is_no_second():
    p = position("r4c1 oneway.blue/0, r4c2 deadend.orange/0", "hyperdrive.pink", ships=["r4c1 stop 1"])
    assert p.do("play:hyperdrive.pink", "cell:4,2").phase == "play" and p.ship(0) == "r4c2 stop 1"


def test_hyperdrive_ends_at_home():
    p = position("r4c7 lane.blue/0, r4c6 lane.pink/0", "hyperdrive.pink", ships=["r4c7 stop 1"]).do("play:hyperdrive.pink")
    p.do("cell:4,8")
    assert p.ship(0) == "home" and p.phase == "play" and p.do("done").legal == ["pass"]
    two = position("r4c7 lane.blue/0, r4c6 lane.pink/0", "hyperdrive.pink", ships=["r4c6 stop 1"])
    assert two.do("play:hyperdrive.pink", "cell:4,7", "cell:4,8").ship(0) == "home"


def test_hyperdrive_needs_a_station_to_go_to():
    assert not playable(position("r4c1 lane.blue/0", "hyperdrive.pink", ships=["r4c1 stop 1"]), "hyperdrive.pink")


def test_hyperdrive_asks_for_the_stop():
    table = "r4c3 crossroads.1/0, r4c4 twinlane.1/0, r3c3 bend.blue/3, r3c4 bend.green/0"
    p = position(table, "hyperdrive.pink", ships=["r4c3 stop 1", "r3c3 stop 1", "r3c4 stop 1"], players=3).do("play:hyperdrive.pink")
    p.do("cell:4,4", "stop:2")
    assert p.ship(0) == "r4c4 stop 2" and p.phase == "cell"


@pytest.mark.parametrize("card", ["hyperdrive.pink", "solar_wind.blue"])
def test_a_ship_on_its_start_base_is_moved_by_the_turns_own_moves_alone(card):
    p = position("r4c1 lane.blue/0" if "pink" in card else "r4c1 lane.pink/0", card)
    assert "move" in p.legal and not playable(p, card)


def test_solar_wind_ignores_arrows_on_the_whole_way():
    table = "r4c1 lane.pink/0, r4c2 express.blue/2, r4c3 oneway.green/2"
    p = position(table, "solar_wind.blue", ships=["r4c1 stop 1"])
    assert "move" not in p.legal
    assert p.do("play:solar_wind.blue").legal == ["cell:4,3"] and p.do("cell:4,3").ship(0) == "r4c3 stop 1"
    assert (
        position("r4c7 oneway.blue/2", "solar_wind.green", ships=["r4c7 stop 1"]).do("play:solar_wind.green", "cell:4,8").ship(0) == "home"
    )
    assert not playable(position("r4c1 lane.pink/0", "solar_wind.blue", ships=["r4c1 stop 1"]), "solar_wind.blue")


def test_a_warp_can_be_a_move_by_an_action_card():
    p = position("r1c1 vortex.blue/0, r7c6 vortex.pink/0", "hyperdrive.pink, solar_wind.blue", ships=["r1c1 stop 1"])
    assert p.copy().do("play:solar_wind.blue").legal == ["cell:7,6"]
    p.do("play:hyperdrive.pink", "cell:7,6")
    assert p.legal == ["cell:1,1"]  # and back
    raid = position("r1c1 vortex.blue/0, r7c6 vortex.pink/0", "pirate_raid.blue", ships=["start", "r1c1 stop 1"])
    assert raid.do("play:pirate_raid.blue", "seat:1").legal == ["cell:7,6"]


# -- pirate_raid -------------------------------------------------------------------------------------------------------


def test_pirate_raid_moves_an_opponents_ship_ignoring_arrows():
    table = "r4c1 oneway.pink/0, r4c2 oneway.green/0"
    p = position(table, "pirate_raid.blue", ships=["start", "r4c2 stop 1", "start"], players=3).do("play:pirate_raid.blue")
    assert p.legal == ["seat:1"] and p.do("seat:1").legal == ["cell:4,1"]
    assert p.do("cell:4,1").ship(1) == "r4c1 stop 1" and p["seat"] == 0 and p.phase == "play"


def test_pirate_raid_names_opponents_by_seats_on():
    p = position(ROW, "pirate_raid.orange", turn="round 3, seat 2",
                 ships=["r4c2 stop 1", "r4c4 stop 1", "r4c3 stop 1", "start"], players=4)  # fmt: skip
    assert p.do("play:pirate_raid.orange").legal == ["seat:2", "seat:3"]  # seats 0 and 1; seat 3 is on its base
    p.do("seat:3")
    # seat 1 at r4c4 jumps the acting ship and seat 0 to r4c1; in the frame of seat 2 that is (7, 4)
    assert p.legal == ["cell:7,4"] and p.do("cell:7,4").ship(1) == "r4c1 stop 1"


def test_pirate_raid_never_moves_onto_a_base_nor_a_ship_on_one():
    assert not playable(position("r4c1 lane.pink/0", "pirate_raid.blue", ships=["start", "r4c1 stop 1"]), "pirate_raid.blue")
    assert not playable(position("r4c7 lane.pink/0, r4c6 lane.blue/0", "pirate_raid.blue"), "pirate_raid.blue")
    p = position("r4c1 lane.pink/0, r4c2 lane.blue/0", "pirate_raid.blue", ships=["start", "r4c1 stop 1"])
    assert p.do("play:pirate_raid.blue", "seat:1").legal == ["cell:4,2"]


def test_pirate_raid_leaves_a_ship_that_is_home():
    p = position(ROW, "pirate_raid.orange", turn="round 3, seat 1", ships=["home", "r4c2 stop 1"])
    assert not playable(p, "pirate_raid.orange")


def test_pirate_raid_jumps_the_raiders_own_ship():
    p = position(ROW, "pirate_raid.orange", ships=["r4c2 stop 1", "r4c1 stop 1"])
    assert p.do("play:pirate_raid.orange", "seat:1").legal == ["cell:4,3"]


# -- turning -----------------------------------------------------------------------------------------------------------


def test_solar_rotation_turns_a_solar_card_with_an_opponent():
    table = "r3c3 junction.1/2, r3c4 crossroads.1/0, r3c5 lane.blue/0, r4c4 twinlane.1/0"
    ships = ["r3c3 stop 1", "r3c4 stop 1", "r3c5 stop 1", "r4c4 stop 2"]
    p = position(table, "solar_rotation.orange", ships=ships, players=4).do("play:solar_rotation.orange")
    assert p.legal == ["cell:3,4", "cell:4,4"]
    assert p.do("cell:4,4").legal == others(0)
    assert p.do("turn:3").table["r4c4"] == "twinlane.1/3" and p.ship(3) == "r4c4 stop 2"
    assert not playable(position("r3c3 junction.1/2", "solar_rotation.orange", ships=["r3c3 stop 1"]), "solar_rotation.orange")
    both = position("r4c4 twinlane.1/0", "solar_rotation.blue", ships=["r4c4 stop 1", "r4c4 stop 2"])
    assert both.do("play:solar_rotation.blue").legal == ["cell:4,4"]  # the own ship may be there too


@pytest.mark.parametrize("faction", ["blue", "green", "pink", "orange"])
def test_unstable_field_turns_an_empty_card(faction):
    table = "r3c3 junction.1/2, r3c4 crossroads.1/0, r3c5 lane.blue/3, r4c4 bend.blue/0"
    p = position(table, f"unstable_field.{faction}", ships=["r4c4 stop 1", "r3c4 stop 1"]).do(f"play:unstable_field.{faction}")
    assert p.legal == ["cell:3,3", "cell:3,5"]  # solar or exploration, without a ship, the own included
    assert p.copy().do("cell:3,5").legal == others(3)
    assert p.do("cell:3,3", "turn:1").table["r3c3"] == "junction.1/1"


def test_unstable_field_needs_an_empty_card():
    p = position("r4c4 bend.blue/0, r4c5 bend.green/0", "unstable_field.pink", ships=["r4c4 stop 1", "r4c5 stop 1"])
    assert not playable(p, "unstable_field.pink")


def test_cosmic_compass_turns_the_card_under_the_own_ship():
    p = position("r4c4 bend.green/1", "cosmic_compass.blue", ships=["r4c4 stop 1"]).do("play:cosmic_compass.blue")
    assert p.legal == others(1) and p.do("turn:2").table["r4c4"] == "bend.green/2" and p.ship(0) == "r4c4 stop 1"
    assert not playable(position("r4c1 bend.green/1", "cosmic_compass.blue"), "cosmic_compass.blue")


def test_another_orientation_is_another_number_though_the_card_looks_the_same():
    p = position("r4c4 crossroads.1/0", "unstable_field.pink").do("play:unstable_field.pink", "cell:4,4")
    assert p.legal == ["turn:1", "turn:2", "turn:3"]


# -- moving cards ------------------------------------------------------------------------------------------------------


def test_solar_tornado_lifts_an_empty_exploration_card():
    table = "r4c4 crossroads.1/0, r4c5 lane.pink/1, r4c6 bend.pink/0, r4c7 fork.pink/0"
    p = position(table, "solar_tornado.blue", ships=["r4c7 stop 1"]).do("play:solar_tornado.blue")
    assert p.legal == ["cell:4,5", "cell:4,6"]
    p.do("cell:4,6")
    assert "cell:4,6" not in p.legal  # never on the cell it came from
    assert "cell:3,6" not in p.legal  # which the lifted card alone touches
    assert "cell:3,7" in p.legal and "cell:3,5" in p.legal and "cell:3,8" not in p.legal and "r4c6" in p.table
    assert p.do("cell:3,5").legal == TURNS
    p.do("turn:0")
    assert p.check().table["r3c5"] == "bend.pink/0" and "r4c6" not in p.table


def test_solar_storm_keeps_the_orientation():
    p = position("r4c4 crossroads.1/0, r4c5 lane.pink/1", "solar_storm.pink").do("play:solar_storm.pink", "cell:4,5", "cell:3,4")
    assert p.phase == "play" and p.check().table["r3c4"] == "lane.pink/1" and "r4c5" not in p.table


@pytest.mark.parametrize("card", ["solar_tornado.green", "solar_storm.orange"])
def test_the_only_card_cannot_be_lifted(card):
    assert not playable(position("r4c4 lane.pink/0", card), card)
    assert not playable(position("r4c4 junction.1/0", card), card)  # a solar card is not lifted
    assert playable(position("r4c4 lane.pink/0, r7c7 lane.blue/0", card), card)
    full = position("r4c4 lane.pink/0, r4c5 lane.blue/0", card, ships=["r4c4 stop 1", "r4c5 stop 1"])
    assert not playable(full, card)


def test_nebula_deviation_swaps_two_empty_cards_of_the_same_sort():
    table = "r3c3 junction.1/2, r3c4 crossroads.1/1, r3c5 twinbend.1/0, r6c3 lane.pink/1, r6c4 bend.pink/3, r6c5 fork.pink/0"
    ships = ["r3c5 stop 1", "r6c5 stop 1"]
    p = position(table, "nebula_deviation.blue", ships=ships).do("play:nebula_deviation.blue")
    assert p.legal == ["cell:3,3", "cell:3,4", "cell:6,3", "cell:6,4"]
    assert p.copy().do("cell:3,4").legal == ["cell:3,3"] and p.copy().do("cell:6,3").legal == ["cell:6,4"]
    one, other = p.copy().do("cell:6,3", "cell:6,4"), p.copy().do("cell:6,4", "cell:6,3")
    assert one.table["r6c3"] == "bend.pink/3" and one.table["r6c4"] == "lane.pink/1" and one.table == other.table  # orientations kept
    one.check()
    solar = p.do("cell:3,3", "cell:3,4")
    assert solar.table["r3c3"] == "crossroads.1/1" and solar.table["r3c4"] == "junction.1/2"


@pytest.mark.parametrize("card", ["nebula_deviation.green", "super_nebula.orange"])
def test_swaps_need_two_empty_cards_of_a_sort(card):
    assert not playable(position("r3c3 junction.1/2, r3c4 lane.blue/0", card), card)
    p = position("r3c3 junction.1/2, r3c4 lane.blue/0, r3c5 bend.blue/0", card).do(f"play:{card}")
    assert p.legal == ["cell:3,4", "cell:3,5"]


def test_super_nebula_turns_both():
    p = position("r6c3 lane.pink/1, r6c4 bend.pink/3", "super_nebula.orange").do("play:super_nebula.orange", "cell:6,3", "cell:6,4")
    assert p.legal == TURNS and p.table["r6c3"] == "lane.pink/1"
    assert p.do("turn:2").legal == TURNS and p.table["r6c3"] == "lane.pink/1"
    p.do("turn:0")  # first that of the card named first, now on the second cell
    assert p.check().table["r6c4"] == "lane.pink/2" and p.table["r6c3"] == "bend.pink/0"


# -- black_hole --------------------------------------------------------------------------------------------------------

HOLE = "r2c5 lane.blue/0, r2c1 bend.pink/1, r1c1 fork.pink/3, r6c6 oneway.pink/2, r2c4 junction.1/1"


def test_black_hole_removes_a_line_without_ship_and_base():
    p = position(HOLE, "black_hole.green", ships=["start", "r6c6 stop 1"]).do("play:black_hole.green")
    assert p.legal == ["row:1", "row:2", "col:1", "col:4", "col:5"]  # not row 4 with the bases, nor where the ship is
    p.do("row:2")
    assert p.pile == ["lane.blue", "bend.pink", "black_hole.green"]  # by rising number, the last on top
    assert p.check().table == {"r1c1": "fork.pink/3", "r5c6": "oneway.pink/2", "r3c0": "base W", "r3c8": "base E"}
    assert p.ship(1) == "r5c6 stop 1" and p.ship(0) == "start" and p.phase == "play"
    assert "out of the game: junction.1" in str(p)


def test_black_hole_over_a_column():
    p = position(HOLE, "black_hole.pink", ships=["start", "r6c6 stop 1"]).do("play:black_hole.pink", "col:1")
    assert p.pile == ["bend.pink", "fork.pink", "black_hole.pink"]
    assert p.check().table == {
        "r2c4": "lane.blue/0", "r2c3": "junction.1/1", "r6c5": "oneway.pink/2", "r4c0": "base W", "r4c7": "base E",
    }  # fmt: skip


@pytest.mark.parametrize("players", [2, 3, 4])
def test_black_hole_needs_a_line(players):
    assert not playable(position("r4c4 lane.blue/0", "black_hole.pink", players=players, ships=["r4c4 stop 1"]), "black_hole.pink")
    p = position("r4c4 lane.blue/0", "black_hole.pink", players=players)
    assert playable(p, "black_hole.pink") == (players == 2)  # only two have no base in column 4


def test_black_hole_closes_the_gap_in_the_acting_seats_frame():
    """For seat 1 the table is turned by two quarters: what has the lower numbers in the table's frame moves."""
    p = position(HOLE, "black_hole.pink", turn="round 3, seat 1", ships=["start", "r6c6 stop 1"]).do("play:black_hole.pink")
    assert p.legal == ["row:6", "row:7", "col:3", "col:4", "col:7"]
    p.do("row:6")  # row 2 of the table
    assert p.pile == ["bend.pink", "lane.blue", "black_hole.pink"]  # rising in the own frame
    assert p.check().table == {"r2c1": "fork.pink/3", "r6c6": "oneway.pink/2", "r4c0": "base W", "r4c8": "base E"}


@pytest.mark.parametrize(("seat", "line"), [(2, "row:3"), (3, "row:5")])
def test_black_hole_of_seats_on_the_other_axis(seat, line):
    """Column 5 of the table is row 3 of seat 2, whose row numbers fall from west to east, and row 5 of seat 3."""
    p = position(
        "r2c5 lane.blue/0, r6c5 bend.blue/0, r2c7 fork.blue/1, r2c3 left.blue/2", "black_hole.pink", turn=f"round 3, seat {seat}", players=4
    )
    p.do("play:black_hole.pink", line)
    assert p.pile == (["bend.blue", "lane.blue", "black_hole.pink"] if seat == 2 else ["lane.blue", "bend.blue", "black_hole.pink"])
    moved = {"r2c4": "left.blue/2", "r2c7": "fork.blue/1"} if seat == 2 else {"r2c3": "left.blue/2", "r2c6": "fork.blue/1"}
    bases = {"r4c1": "base W", "r4c8": "base E", "r0c5": "base N", "r8c5": "base S"}
    if seat == 3:
        bases = {"r4c0": "base W", "r4c7": "base E", "r0c4": "base N", "r8c4": "base S"}
    assert p.check().table == moved | bases


def test_the_freed_line_can_be_laid_on():
    p = position("r1c8 lane.blue/0, r1c7 bend.pink/0", "black_hole.pink, lane.pink").do("play:black_hole.pink", "col:7", "play:lane.pink")
    assert "cell:1,8" in p.legal and p.table["r1c7"] == "lane.blue/0"


def test_bases_come_to_lie_port_to_port():
    table = ", ".join(f"r0c{c} {card}/0" for c, card in enumerate(
        ["lane.blue", "lane.green", "lane.pink", "lane.orange", "bend.blue", "bend.green", "bend.pink"], 1))  # fmt: skip
    p = position(table, "black_hole.pink")
    for _ in range(7):
        p = position(", ".join(f"{cell} {what}" for cell, what in p.table.items()), "black_hole.pink").do("play:black_hole.pink", "col:1")
    assert p.table == {"r4c0": "base W", "r4c1": "base E"} and p.moves_home(0) == 1
    p.do("done", "move", "cell:4,1")
    assert p.ship(0) == "home"
