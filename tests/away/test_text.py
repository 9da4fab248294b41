"""Positions as text, and back."""

from __future__ import annotations

import random

import pytest

from tabletop.errors import SetupError
from tests.away.differential import WAYS, Sides, choose
from tests.away.helpers import GAME, Position, position


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("rules", ["", "size=7"])
def test_every_position_of_a_game_is_read_back(players, rules):
    rng = random.Random(players)
    p = Position.of_seed(players, rules or None, players)
    phases = set()
    for _ in range(400):
        assert GAME.parse(str(p)).tobytes() == p.records.tobytes(), str(p)
        phases.add(p.phase)
        if not (legal := p.legal):
            break
        lively = [name for name in legal if name.startswith(("play", "move", "cell", "turn", "stop", "seat", "row", "col"))]
        p.do(rng.choice(lively or legal))
    assert len(phases) >= 7


def test_the_end_is_read_back():
    for seed in range(3):
        rng = random.Random(seed)
        p = Position.of_seed(seed, "max_rounds=4", 3)
        while legal := p.legal:
            p.do(rng.choice(legal))
        assert GAME.parse(str(p)).tobytes() == p.records.tobytes()
    won = position("r4c1 lane.blue/0", ships=["start", "r4c1 stop 1"], turn="round 2, seat 1").do("move", "cell:4,8", "pass")
    assert won.winners == [1] and GAME.parse(str(won)).tobytes() == won.records.tobytes()


def test_the_picture():
    p = position("r4c3 roundabout.1/0, r4c4 oneway.blue/0, r4c5 vortex.blue/1, r4c6 express.pink/3", ships=["r4c3 stop 2", "r4c4 stop 1"])
    rows = [line for line in str(p).splitlines() if line.startswith("#  4")]
    assert rows == ["#  4   [W]     .      .   -1A34 ->  B  >   @      +      .     [E]"]
    lines = str(p).splitlines()
    above = lines[lines.index(rows[0]) - 1]
    assert above.split() == ["#", "|", "|", "^"]


def test_a_seat_reads_in_its_own_frame_and_sees_no_other_hand():
    p = position("r4c1 lane.blue/0, r4c2 oneway.green/0", "bend.pink", ships=["r4c1 stop 1"], hands={1: "fork.green, fork.pink"})
    own, other = GAME.text(p.records[0], 0), GAME.text(p.records[0], 1)
    assert "hand: bend.pink" in own and "hand: 2 cards" in own and "fork.green" in own.partition("unseen:")[2].partition("seat 0")[0]
    assert "ship r4c7 stop 1" in other and "oneway.green/2" in other and "c0 base E" in other
    assert "stream" not in own and "deck: 63 cards" in own
    with pytest.raises(SetupError, match="only a text of everything"):
        GAME.parse(own)
    with pytest.raises(SetupError, match="seats are 0 to 1"):
        GAME.text(p.records[0], 2)


HEAD = "away(players=2)\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1: the text is empty"),
        ("beyond(players=2)", "line 1: .* is not a variant of away"),
        (HEAD + "nonsense", "line 2: 'nonsense' is not of the form"),
        (HEAD + "sun: 3", r"line 2 \(sun\): unknown"),
        (HEAD + "seat 2: ship start", "there are seats 0 to 1"),
        (HEAD + "hand: lane.blue", "below the line of its seat"),
        (HEAD + "seat 0: ship start\nhand: lane.red", "no card 'lane.red'"),
        (HEAD + "seat 0: ship start\nhand: junction.1", "junction.1 is a solar card"),
        (HEAD + "seat 0: ship start\nhand: lane.blue, lane.blue", "lane.blue is named twice"),
        (HEAD + "seat 0: ship start\nseat 0: ship start", "given twice, first in line 2"),
        (HEAD + "seat 0: ship r4c4 stop 1", "there is no such station"),
        (HEAD + "row 4: c1 lane.blue/0\nseat 0: ship r4c1 stop 2", "there is no such station"),
        (HEAD + "row 4: c1 lane.blue/0\nseat 0: ship r4c1 stop 1\nseat 1: ship r4c1 stop 1", "another ship is there"),
        (HEAD + "row 4: c0 lane.blue/0", "something lies there already"),
        (HEAD + "row 4: c1 lane.blue", "'c1 lane.blue' cannot be read"),
        (HEAD + "row 4: c1 hyperdrive.pink/0", "it does not lie on the table"),
        (HEAD + "row 4: c1 lane.blue/0, c2 lane.blue/0", "lane.blue lies on the table twice"),
        (HEAD + "row 0: c4 base N", "2 players have no base N"),
        ("away(players=2,size=7)\nrow 0: c4 lane.blue/0", "column 4 of this row is not on the table"),
        (HEAD + "deck: lane.blue", "named nowhere"),
        (HEAD + "deck: rest, lane.blue", "rest is the last item"),
        (HEAD + "turn: round 101", "101 is out of range: 1 to 100"),
        (HEAD + "turn: seat 0, faction red", "factions are blue"),
        (HEAD + "turn: seat 0, play", "after a card is played there is a faction"),
        (HEAD + "turn: seat 0, over", "there is no line winners"),
        (HEAD + "turn: seat 0, cell", "targets are named"),
        (HEAD + "turn: seat 0, cell, faction blue\ndoing: lay", "the card being laid must be named"),
        (HEAD + "turn: seat 0, cell, faction blue\ndoing: solar_wind", "a card's effect needs the card"),
        (HEAD + "turn: seat 0, turn, faction blue\ndoing: lay, lane.blue", "lay does not ask for a turn when 0 of its targets"),
        (HEAD + "turn: seat 0, cell\ndoing: lay, lane.blue", "the turn's faction is that of lane.blue"),
        (HEAD + "turn: seat 0, line, faction pink\ndoing: black_hole, black_hole.pink", "must lie on top of the pile"),
        (HEAD + "turn: seat 0, line, faction pink\ndoing: black_hole, black_hole.pink\npile: black_hole.pink", "nothing can be answered"),
        (HEAD + "turn: seat 0\nseat 1: ship home", "the round would be over"),
        (HEAD + "stream: xyz", "cannot be read"),
        (HEAD + "decisions: many", "cannot be read"),
        (HEAD + "winners: 0", "nobody has won a game that is not over"),
    ],
)
def test_texts_that_are_refused(text, said):
    with pytest.raises(SetupError, match=said) as caught:
        GAME.parse(text)
    assert "\n" not in str(caught.value)


def test_a_position_by_text_in_play():
    sides = Sides(2, 1)  # a differential game, to have half-made decisions of all sorts
    rng = random.Random(0)
    for _ in range(150):
        names = sides.compare()
        text = GAME.text(sides.record)
        assert GAME.parse(text).tobytes() == sides.records.tobytes()
        sides.step(choose(sides, names, WAYS[1], rng))
