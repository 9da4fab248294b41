"""A turn: moving, playing, discarding, drawing; exploration cards (rules: A turn)."""

from __future__ import annotations

import pytest

from tests.away.helpers import position

HAND = "lane.blue, fork.blue, cosmic_compass.blue, bend.pink, super_nebula.orange"
TABLE = "r4c1 lane.green/0, r4c2 lane.pink/0"
DISCARDS = [f"discard:{card}" for card in ("lane.blue", "bend.pink", "fork.blue", "cosmic_compass.blue", "super_nebula.orange")]


def test_phase_1_is_exactly_one_of_move_play_discard():
    p = position(TABLE, HAND)
    assert p.of("move", "pass", "done") == ["move"] and p.of("discard") == DISCARDS
    assert p.of("play") == ["play:lane.blue", "play:bend.pink", "play:fork.blue", "play:super_nebula.orange"]
    moved = p.copy().do("move", "cell:4,1")
    assert moved.phase == "ship" and moved["part"] == 2 and moved.legal == ["move", "pass"]
    discarded = p.copy().do("discard:lane.blue")
    assert not discarded.of("play", "move", "cell")
    played = p.copy().do("play:lane.blue", "cell:3,1", "turn:0")
    assert not played.of("discard", "move")


def test_without_a_way_there_is_no_move():
    p = position("r4c1 lane.green/1", HAND)
    assert not p.of("move") and p.do("discard:lane.blue", "done").legal == ["pass"]


def test_without_a_card_and_a_way_phase_1_is_skipped():
    p = position("r4c1 lane.green/1")
    assert (p["part"], p.phase, p.legal) == (2, "ship", ["pass"])
    assert position(TABLE).legal == ["move"]


def test_the_first_card_sets_the_faction():
    p = position(TABLE, HAND).do("play:lane.blue", "cell:3,1", "turn:0")
    assert p.faction == "blue" and p.legal == ["play:fork.blue", "done"]
    p.do("play:fork.blue", "cell:3,2", "turn:3")
    assert p.legal == ["done"]  # the compass needs the own ship on a card; done is asked even if it is the only answer
    assert p.do("done").legal == ["move", "pass"]
    assert p.table["r3c2"] == "fork.blue/3" and p.hand(0) == ["bend.pink", "cosmic_compass.blue", "super_nebula.orange"]


def test_cards_in_any_order_and_number():
    hand = "lane.blue, fork.blue, bend.blue, unstable_field.blue, express.blue"
    p = position(TABLE, hand).do("play:unstable_field.blue", "cell:4,2", "turn:1", "play:express.blue", "cell:3,2", "turn:0")
    p.do("play:lane.blue", "cell:2,2", "turn:1", "play:bend.blue", "cell:1,2", "turn:2", "play:fork.blue", "cell:0,2", "turn:3")
    assert p.legal == ["done"] and p.hand(0) == []
    p.do("done", "pass")
    assert len(p.hand(0)) == 5 and p.check()["seat"] == 1


def test_done_is_never_before_the_first_card():
    p = position(TABLE, HAND)
    assert "done" not in p.legal and "done" not in p.do("play:lane.blue").legal and "done" not in p.do("cell:3,1").legal


def test_at_most_three_cards_are_discarded():
    p = position(TABLE, HAND).do("discard:lane.blue")
    assert p.of("discard") == [name for name in DISCARDS if name != "discard:lane.blue"] and "done" in p.legal
    p.do("discard:bend.pink", "discard:super_nebula.orange")
    assert p.legal == ["done"] and p["discarded"] == 3
    assert p.pile == ["super_nebula.orange", "bend.pink", "lane.blue"]  # in the order discarded, the last on top
    assert p.faction is None and p.do("done").phase == "ship"


def test_phase_2_is_a_move_or_a_pass():
    p = position(TABLE, HAND).do("discard:lane.blue", "done")
    assert p.copy().do("pass")["seat"] == 1
    moved = p.do("move", "cell:4,1")
    assert moved["seat"] == 1 and moved.ship(0) == "r4c1 stop 1"


def test_two_moves_in_one_turn():
    p = position(TABLE, HAND).do("move", "cell:4,1", "move", "cell:4,2")
    assert p.ship(0) == "r4c2 stop 1" and p["seat"] == 1


def test_the_turn_ends_with_the_draw():
    p = position(TABLE, HAND, deck="oneway.blue, oneway.pink, rest")
    p.do("discard:lane.blue", "discard:fork.blue", "done")
    assert len(p.hand(0)) == 3  # not before phase 2
    p.do("pass")
    assert set(p.hand(0)) == {"cosmic_compass.blue", "bend.pink", "super_nebula.orange", "oneway.blue", "oneway.pink"}
    assert p.check().pile == ["fork.blue", "lane.blue"]


def test_turns_go_by_seat_number_and_rounds_count():
    p = position("r4c4 crossroads.1/0", "lane.blue", turn="round 3, seat 2", players=3, hands={0: "bend.blue", 1: "fork.blue"})
    p.do("discard:lane.blue", "done", "pass")
    assert (p["seat"], p["round"]) == (0, 4)
    p.do("discard:bend.blue", "done", "pass")
    assert (p["seat"], p["round"]) == (1, 4)


# -- exploration cards -------------------------------------------------------------------------------------------------


def test_a_card_is_laid_beside_a_card_in_any_orientation():
    p = position("r4c2 lane.green/0", "bend.blue", ships=["r4c2 stop 1"]).do("play:bend.blue")
    assert p.hand(0) == [] and "bend.blue" not in p.pile  # it has left the hand
    assert p.legal == ["cell:3,2", "cell:4,1", "cell:4,3", "cell:5,2"]  # not diagonally, not on the base
    assert p.copy().do("cell:4,3").legal == ["turn:0", "turn:1", "turn:2", "turn:3"]
    for turn in range(4):
        assert p.copy().do("cell:4,3", f"turn:{turn}").check().table["r4c3"] == f"bend.blue/{turn}"


def test_nothing_changes_until_the_last_target_is_named():
    p = position("r4c2 lane.green/0", "bend.blue, fork.blue")
    p.do("play:bend.blue", "cell:4,3")
    assert "r4c3" not in p.table


def test_a_base_is_not_touched():
    p = position("r4c2 lane.green/0", "bend.blue").do("play:bend.blue")
    assert "cell:3,0" not in p.legal and "cell:5,0" not in p.legal


def test_on_a_bare_table_a_base_is_touched():
    p = position("", "bend.blue").do("play:bend.blue")
    assert p.legal == ["cell:3,0", "cell:3,8", "cell:4,1", "cell:4,7", "cell:5,0", "cell:5,8"]


def test_a_card_may_shut_a_base_and_lanes_need_not_meet():
    p = position("r4c2 lane.green/0", "bend.blue").do("play:bend.blue", "cell:4,1", "turn:2")
    assert p.table["r4c1"] == "bend.blue/2"


@pytest.mark.parametrize(
    ("seat", "cell", "turn"), [(0, "cell:2,3", "turn:1"), (1, "cell:6,5", "turn:3"), (2, "cell:5,2", "turn:0"), (3, "cell:3,6", "turn:2")]
)
def test_the_example_of_the_frames(seat, cell, turn):
    p = position("r3c3 crossroads.1/0", "bend.blue", turn=f"round 3, seat {seat}", players=4)
    assert p.do("play:bend.blue", cell, turn).table["r2c3"] == "bend.blue/1"


@pytest.mark.parametrize("seat", range(4))
def test_every_seat_sees_its_start_in_the_west_and_its_home_in_the_east(seat):
    before_start = {0: "r4c1 lane.blue/0", 1: "r4c7 lane.blue/2", 2: "r1c4 lane.blue/1", 3: "r7c4 lane.blue/3"}[seat]
    p = position(before_start, turn=f"round 3, seat {seat}", players=4).do("move")
    assert p.legal == ["cell:4,1"]
    before_home = {0: "r4c7", 1: "r4c1", 2: "r7c4", 3: "r1c4"}[seat]
    p = position(f"{before_home} crossroads.1/0", turn=f"round 3, seat {seat}", ships={seat: f"{before_home} stop 1"}, players=4)
    assert p.do("move").legal == ["cell:4,8"]
