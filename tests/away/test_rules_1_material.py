"""The table, the cards, the start (rules: The table, Cards as lanes)."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest

from away_env.cards import CARDS, DESIGNS, FACTIONS, INSTALLED, PORTS, QUARTERS, TABLE, read_table, turned
from tabletop.errors import RulesError, SetupError
from tests.away.helpers import GAME, Position

DESIGN_TABLE = """
express 0 W>E | passage 0 W-E | lane 1 W-1, 1-E | oneway 1 W>1, 1>E | bend 1 W-1, 1-S | left 1 W>1, 1>N | right 1 W>1, 1>S
fork 1 W>1, 1>N, 1>S | junction 1 W-1, 1-E, 1-S | crossroads 1 N-1, E-1, S-1, W-1 | overpass 2 W>1, 1>E, N>2, 2>S
double 2 W-1, 1-2, 2-E | chicane 3 W>1, 1>2, 2>3, 3>E | roundabout 4 N-1, E-2, S-3, W-4, 1>2, 2>3, 3>4, 4>1
deadend 1 W-1 | vortex 1 W-1, 1-E | twinbend 2 W-1, 1-N, E-2, 2-S | twinlane 2 W-1, 1-E, N-2, 2-S
"""


def test_designs_are_those_of_the_rules():
    written = [re.fullmatch(r"(\w+) (\d) (.+)", d.strip()).groups() for d in DESIGN_TABLE.replace("\n", "|").split("|") if d.strip()]
    assert {(d.name, str(d.stations), d.text) for d in DESIGNS} == set(written)
    assert [d.name for d in DESIGNS if d.vortices] == ["vortex"]


def test_cards_are_those_of_the_rules():
    by_faction = {faction: sorted(c.partition(".")[0] for c in CARDS[:40] if c.endswith(faction)) for faction in FACTIONS}
    assert by_faction == {
        "blue": sorted(["lane", "oneway", "bend", "fork", "express", "left", "junction", "crossroads", "double", "vortex"]),
        "green": sorted(["lane", "oneway", "bend", "fork", "passage", "right", "junction", "overpass", "chicane", "roundabout"]),
        "pink": sorted(["lane", "oneway", "bend", "fork", "express", "left", "crossroads", "overpass", "double", "vortex"]),
        "orange": sorted(["lane", "oneway", "bend", "fork", "passage", "right", "junction", "crossroads", "deadend", "roundabout"]),
    }
    letters = dict(zip("BGPO", FACTIONS, strict=True))
    written = """hyperdrive GP, solar_wind GB, pirate_raid BO, solar_rotation BO, unstable_field BGPO, cosmic_compass BP, solar_tornado GB,
        solar_storm PO, nebula_deviation GB, super_nebula PO, black_hole GP, unknown_fate GO, scrapyard PO"""
    action_cards = {f"{name}.{letters[f]}" for name, of in (item.split() for item in written.split(",")) for f in of}
    assert set(CARDS[40:]) == action_cards and len(CARDS) == 68 and len(action_cards) == 28
    assert Counter(TABLE.solar) == {"crossroads": 2, "junction": 2, "twinbend": 2, "twinlane": 2, "roundabout": 1}


def test_actions_are_those_of_the_rules():
    assert len(GAME.actions) == 249
    assert Counter(name.partition(":")[0] for name in GAME.actions.names) == {
        "play": 68, "discard": 68, "cell": 81, "turn": 4, "stop": 4, "seat": 3, "row": 9, "col": 9, "move": 1, "pass": 1, "done": 1,
    }  # fmt: skip


@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_start(players):
    turns, first, cards_seen = set(), set(), set()
    for seed in range(40):
        p = Position.of_seed(seed, players=players).check()
        bases = {"r4c0": "base W", "r4c8": "base E", "r0c4": "base N", "r8c4": "base S"}
        solar = {f"r{r}c{c}" for r in (3, 4, 5) for c in (3, 4, 5)}
        assert set(p.table) == solar | set(list(bases)[: 2 if players == 2 else 4])
        assert {cell: p.table[cell] for cell in bases if cell in p.table} == dict(list(bases.items())[: 2 if players == 2 else 4])
        assert Counter(p.design(cell) for cell in solar) == Counter(TABLE.solar)
        assert [len(p.hand(k)) for k in range(players)] == [5] * players and p["deck_size"] == 68 - 5 * players
        assert [p.ship(k) for k in range(players)] == ["start"] * players and p["seat"] == 0 and p["round"] == 1 and not p.pile
        starts = p.records["ship"][0][:players].tolist()
        assert starts == p.records["base"][0][:players].tolist()
        turns.add(p.table["r3c3"][-1])
        first.add(p.table["r3c3"][:-2])
        cards_seen |= set(p.hand(0))
    assert turns == set("0123") and len(first) > 4 and len(cards_seen) > 50


def test_hands_are_drawn_seat_by_seat_from_the_top():
    records = GAME.new_record(GAME.variant(None, 3), 0)
    GAME.set_up(records, 0, {"deck": list(CARDS[:20])})
    p = Position(records)
    assert [p.hand(k) for k in range(3)] == [list(CARDS[5 * k : 5 * k + 5]) for k in range(3)] and p.deck[:5] == list(CARDS[15:20])
    assert sorted(p.deck) == sorted(CARDS[15:]) and p.deck[5:] != list(CARDS[20:])


def test_solar_cards_set_up():
    given = [("junction", 1), ("twinlane", 0), ("junction", 3), ("roundabout", 2), ("crossroads", 0), ("twinbend", 1)]
    given += [("twinlane", 2), ("crossroads", 3), ("twinbend", 0)]
    records = GAME.new_record(GAME.variant(None, 2), 0)
    GAME.set_up(records, 0, {"solar": given})
    p = Position(records).check()
    cells = [f"r{r}c{c}" for r in (3, 4, 5) for c in (3, 4, 5)]
    assert [(p.design(cell), int(p.table[cell][-1])) for cell in cells] == given


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"deck": "lane.blue"}, "deck must be a list"),
        ({"deck": ["lane.red"]}, "no card is called 'lane.red'"),
        ({"deck": ["lane.blue", "lane.blue"]}, "has lane.blue twice"),
        ({"solar": [("junction", 0)] * 3}, "solar must be 9 pairs"),
        ({"solar": [("junction", 0)] * 9}, "no solar card 'junction' left"),
        ({"solar": [("lane", 0)] * 9}, "no solar card 'lane' left"),
        ({"solar": [("junction", 4)] * 9}, "an orientation is 0 to 3, not 4"),
        ({"solar": ["junction"] * 9}, "given as"),
        ({"hand": []}, "cannot be set up by hand"),
    ],
)
def test_set_ups_that_are_refused(options, said):
    records = GAME.new_record(GAME.variant(None, 2), 0)
    before = records.tobytes()
    with pytest.raises(SetupError, match=said):
        GAME.set_up(records, 0, options)
    assert records.tobytes() == before


def test_frames_of_the_example():
    p = {seat: (turned((2, 3), QUARTERS[seat]), (1 + QUARTERS[seat]) % 4) for seat in range(4)}
    assert p == {0: ((2, 3), 1), 1: ((6, 5), 3), 2: ((5, 2), 0), 3: ((3, 6), 2)}


INSTALLED_TEXT = INSTALLED.read_text()


def other_table(tmp_path, *changes, name="other.toml"):
    text = INSTALLED_TEXT
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    path = tmp_path / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('lanes = "W-1, 1-S"', 'lanes = "W-1, 2-S"', r"designs.bend: lane '2-S': there is no station 2; the card has 1"),
        ('lanes = "W-1, 1-S"', 'lanes = "W-1, 1-Q"', r"designs.bend: lane '1-Q': there is no port 'Q'; ports are N, E, S, W"),
        ('lanes = "W-1, 1-S"', 'lanes = "W-1, 1=S"', r"designs.bend: '1=S' is not a lane"),
        ('lanes = "W-1, 1-S"', 'lanes = "W-1, 1>W"', r"designs.bend: a lane is written twice"),
        ('lanes = "W-1, 1-S"', 'lanes = "W-1, 1-1"', r"designs.bend: lane '1-1' leads from a point to itself"),
        ("bend       = { stations = 1", "bend       = { stations = 5", r"designs.bend: stations must be 0 to 4"),
        ("vortices = [1]", "vortices = [2]", r"designs.vortex: vortices must be a list of its stations"),
        ('bend       = ["blue"', 'bend       = ["blue", "blue"', r"exploration.bend: duplicate card"),
        ('bend       = ["blue"', 'bend       = ["red"', r"exploration.bend: there is no faction 'red'"),
        ("hyperdrive       =", "overdrive        =", r"actions.overdrive: there is no such card"),
        ("chicane    = [", "helix      = [", r"exploration.helix: there is no such card"),
        ("roundabout = 1", "roundabout = 2", r"solar: there must be 9 solar cards, not 10"),
        ("solar_rows    = [3, 5]", "solar_rows    = [3, 4]", r"board: solar_rows and solar_columns make 6 cells"),
        ("N = [0, 4]", "N = [0, 5]", r"board.bases.N: \[0, 5\]: turned for its seat"),
        ("[solar]", "[sun]", r"sun: no such section"),
        ("[solar]", "[solar", r"card table .*: .*line"),
        ("express    = {", "express    = {}#", r"designs.express: must have stations and lanes"),
    ],
)
def test_a_bad_table_is_refused(tmp_path, old, new, said):
    path = other_table(tmp_path, (old, new))
    with pytest.raises(RulesError, match=said):
        read_table(path)
    with pytest.raises(RulesError, match=said):
        GAME.variant(f"cards={path}", 2)


def test_a_table_whose_chains_might_never_end_is_refused(tmp_path):
    few = [(f'{name} = ["blue", "green"]', f"{name} = []") for name in ("solar_tornado   ", "nebula_deviation")]
    path = other_table(tmp_path, *few)  # 24 action cards
    assert GAME.variant(f"cards={path}", 3).players == 3
    with pytest.raises(RulesError, match="24 action cards are not more than 5 for each of 4 players and the 4 unknown_fates"):
        GAME.variant(f"cards={path}", 4)


def test_another_table_in_play(tmp_path):
    path = other_table(tmp_path, ('lanes = "W-1, 1-S"', 'lanes = "W>1, 1>S"'), ('deadend    = ["orange"]', "deadend    = []"))
    variant = GAME.variant(f"cards={path}", 2)
    assert re.fullmatch(rf"away\(players=2,cards={re.escape(str(path))}@[0-9a-f]{{12}}\)", str(variant))
    assert GAME.variant(str(variant)) == variant != GAME.variant(None, 2)
    p = Position.of_text(f"{variant}\nturn: round 1, seat 0\nrow 4: c1 bend.blue/0\nseat 0: ship r4c1 stop 1")
    assert "move" not in p.legal  # it is one way now
    assert "deadend.orange" not in p.deck and len(p.deck) == 66
    again = GAME.parse(str(p))
    assert again.tobytes() == p.records.tobytes() and GAME.variant_of(again[0]) == variant
    path.write_text(path.read_text() + "\n# changed\n")
    with pytest.raises(RulesError, match="has changed"):
        GAME.variant(str(variant))


def test_another_table_has_the_names_of_the_installed_one(tmp_path):
    extra = other_table(tmp_path, ('deadend    = ["orange"]', 'deadend    = ["orange", "blue"]'))
    with pytest.raises(RulesError, match=r"deadend.blue: the deck of cards.toml has no such card"):
        GAME.variant(f"cards={extra}", 2)
    moved = other_table(tmp_path, ("[3, 5]  # first", "[2, 4]  # first"), name="moved.toml")
    with pytest.raises(RulesError, match=r"board: must be those of cards.toml"):
        GAME.variant(f"cards={moved}", 2)
    with pytest.raises(RulesError, match="cannot be read"):
        GAME.variant("cards=/nowhere.toml", 2)


@pytest.mark.parametrize("rules", ["size=8", "size=3", "size=11", "max_rounds=0", "max_rounds=128", "cards=", "size=none"])
def test_rules_that_are_refused(rules):
    with pytest.raises(RulesError):
        GAME.variant(rules, 2)


@pytest.mark.parametrize("size", [5, 7])
def test_smaller_tables(size):
    p = Position.of_seed(0, f"size={size}", 4).check()
    margin = (9 - size) // 2
    assert [p.records["base"][0, k] for k in range(4)] == [
        (r + 1) * 11 + c + 1 for r, c in ((4, margin), (4, 8 - margin), (margin, 4), (8 - margin, 4))
    ]
    inside = {f"r{r}c{c}" for r in range(margin, 9 - margin) for c in range(margin, 9 - margin)}
    assert set(p.table) <= inside
    free = np.flatnonzero(p.records["board"][0] == -1).size
    assert free == size * size - len(p.table)


def test_ports_are_named_in_order():
    assert PORTS == ("N", "E", "S", "W")
