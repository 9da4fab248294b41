"""What a player knows: hidden cards dealt again, and the observation."""

from __future__ import annotations

import random
from itertools import combinations
from math import comb, factorial
from typing import Any

import numpy as np
import pytest

import tabletop
from away_env import observation
from away_env.cards import BASE_NAMES, CARDS, DESIGNS, FACTIONS, FIRST_BASE, FIRST_SOLAR, MOST_STATIONS, PORTS, QUARTERS, SIDE
from away_env.lanes import CELL_OF, OWN_OF
from away_env.observation import EFFECTS, LAYOUT, PLANES
from away_env.rules import AwayRules
from away_env.state import DECK, PHASES, PILE, WIDTH
from tests.away.helpers import GAME, Position, position
from tests.away.test_rules_2_moving import plain_destinations, plain_moves_home

MANY = 4_000


def dealt_again(p: Position, seat: int, seed: int = 0, many: int = MANY) -> np.ndarray:
    tables = tabletop.Tables(GAME, 1, p["players"])
    return tables.determinize(np.repeat(p.records, many), np.full(many, seat), seed)


def far_off(counts: np.ndarray, expected: float) -> float:
    """Chi-square in standard deviations above its mean, of counts that all have the same expectation."""
    freedom = counts.size - 1
    return float((((counts - expected) ** 2 / expected).sum() - freedom) / np.sqrt(2 * freedom))


def few_unseen() -> Position:
    """Seat 0 does not know two cards in hand 1, two in hand 2 and one in the deck; all others lie on the pile."""
    unseen = ["lane.green", "lane.pink", "bend.green", "bend.pink", "fork.green"]
    pile = [card for card in CARDS if card not in (*unseen, "lane.blue")]
    hands = {0: "lane.blue", 1: ", ".join(unseen[:2]), 2: ", ".join(unseen[2:4])}
    return position("", hands=hands, pile=", ".join(pile), deck=unseen[4], players=3)


def test_other_hands_and_deck_are_one_pool():
    p = few_unseen()
    copies = dealt_again(p, 0)
    unseen = np.array(sorted(np.flatnonzero((p.records["place"][0] == DECK) | (p.records["place"][0] == 1) | (p.records["place"][0] == 2))))
    places = copies["place"][:, unseen]
    assert ((places == 1).sum(1) == 2).all() and ((places == 2).sum(1) == 2).all() and ((places == DECK).sum(1) == 1).all()
    assert (unseen[(places == DECK).argmax(1)] == copies["deck"][:, 0]).all()
    ways = factorial(5) // (2 * 2)
    found = {tuple(row): n for row, n in zip(*np.unique(places, axis=0, return_counts=True), strict=True)}
    assert len(found) == ways and far_off(np.array(list(found.values())), MANY / ways) < 5
    for name in GAME.dtype.names:
        if name not in ("place", "deck", "stream"):
            assert (copies[name] == p.records[name]).all(), name
    assert (np.delete(copies["place"], unseen, axis=1) == np.delete(p.records["place"], unseen, axis=1)).all()


def test_decks_order_is_dealt_again():
    pile = [card for card in CARDS if card not in ("lane.green", "lane.pink", "bend.green", "lane.blue")]
    p = position("", "lane.blue", pile=", ".join(pile), deck="lane.green, lane.pink, bend.green")
    _, counts = np.unique(dealt_again(p, 0)["deck"], axis=0, return_counts=True)
    assert counts.size == 6 and far_off(counts, MANY / 6) < 5


def test_each_card_is_anywhere_with_its_chance():
    p = Position.of_seed(3, players=4)
    copies = dealt_again(p, 2)
    unseen = np.flatnonzero(p.records["place"][0] != 2)
    assert unseen.size == 63 and (copies["place"][:, np.setdiff1d(np.arange(68), unseen)] == 2).all()
    for place, size in ((0, 5), (1, 5), (3, 5), (DECK, 48)):
        share = (copies["place"][:, unseen] == place).mean(0)
        assert np.abs(share - size / 63).max() < 5 * np.sqrt(size / 63 / MANY)
    pairs = copies["place"][:, unseen[:6]] == 0
    together = [(pairs[:, a] & pairs[:, b]).mean() for a, b in combinations(range(6), 2)]
    assert abs(np.mean(together) - comb(5, 2) / comb(63, 2)) < 0.002


# -- the observation, worked out in plain Python from the layout's documented meaning ----------------------------------


def board_of(p: Position, seat: int) -> np.ndarray:
    r: Any = p.records[0]
    players, quarters = int(r["players"]), QUARTERS[seat]
    board = np.zeros((len(PLANES), SIDE, SIDE), np.int8)

    def mark(plane: str, cell: int) -> None:
        board[PLANES.index(plane)][divmod(int(OWN_OF[seat, cell]), SIDE)] = 1

    for cell in map(int, CELL_OF[0]):
        there = int(r["board"][cell])
        if there == -1:
            mark("free", cell)
        elif there >= FIRST_BASE:
            name = BASE_NAMES[there - FIRST_BASE]
            mark({BASE_NAMES[seat]: "own_start", BASE_NAMES[seat ^ 1]: "own_home"}.get(name, "other_base"), cell)
            port = PORTS[("ESWN"["WNES".index(name)] and PORTS.index("ESWN"["WNES".index(name)]) + quarters) % 4]
            mark(f"in_{port}", cell)
            mark(f"out_{port}", cell)
        elif there >= 0:
            mark("solar" if there >= FIRST_SOLAR else "exploration", cell)
            design = DESIGNS[r["design"][there]]
            turn = int(r["turn"][cell]) + quarters
            reach = {a: {b for x, b in design.lanes if x == a} for a in range(8)}
            for _ in range(8):
                for a in range(8):
                    reach[a] |= {c for b in reach[a] if b >= 4 for c in reach[b]}
            for a, b in design.lanes:
                if a < 4:
                    mark(f"in_{PORTS[(a + turn) % 4]}", cell)
                if b < 4:
                    mark(f"out_{PORTS[(b + turn) % 4]}", cell)
            for a in range(4):
                for b in reach[a]:
                    if b < 4 and b != a:
                        mark(f"way_{PORTS[(a + turn) % 4]}{PORTS[(b + turn) % 4]}", cell)
            for station in range(design.stations):
                mark(f"station_{station + 1}", cell)
            if design.vortices:
                mark("vortex", cell)
    for k in range(players):
        mark(f"ship_{k}", int(r["ship"][(seat + k) % players]))
    for cell, _ in plain_destinations(p, seat, False):
        mark("reachable", cell)
    named = [int(cell) for cell in r["target"]]
    named = named[1:] if r["effect"] == EFFECTS.index("pirate_raid") else named
    for number, cell in enumerate(named, 1):
        if cell >= 0:
            mark(f"named_{number}", cell)
    return board


def seen(p: Position, seat: int) -> dict[str, Any]:
    """The decoded observation that `seat` should have, the board left out."""
    r: Any = p.records[0]
    players = int(r["players"])
    order = [(seat + k) % players for k in range(players)]
    rules = AwayRules.from_codes(r["options"])
    live = not p.over

    def relative(who: int) -> list[int]:
        return [int(k < players and order[k] == who) for k in range(4)]

    def each(value: Any, empty: Any = 0) -> list[Any]:
        return [value(k) for k in order] + [empty] * (4 - players)

    def cells_home(k: int) -> int:
        ship, base = int(r["ship"][k]), int(r["base"][k ^ 1])
        return abs(ship // WIDTH - base // WIDTH) + abs(ship % WIDTH - base % WIDTH)

    effect, card = int(r["effect"]), int(r["card"])
    raided = int(r["target"][0]) if effect == EFFECTS.index("pirate_raid") else -1
    laid = DESIGNS[r["design"][card]].name if 0 <= card < 40 else None
    return {
        "phase": {PHASES[r["phase"]]: 1} if live else {},
        "turn": relative(int(r["seat"])) if live else [0] * 4,
        "second_part": int(r["part"] == 2),
        "faction": {FACTIONS[r["faction"]]: 1} if r["faction"] >= 0 else {},
        "discarded": int(r["discarded"]),
        "effect": {EFFECTS[effect]: 1} if effect >= 0 else {},
        "step": int(r["step"]),
        "raided": relative(raided) if raided >= 0 else [0] * 4,
        "named_turn": {str((r["target_turn"] + QUARTERS[seat]) % 4): 1} if r["target_turn"] >= 0 else {},
        "card": {CARDS[card]: 1} if card >= 0 else {},
        "laid_design": {laid: 1} if laid else {},
        "hand": dict.fromkeys(p.hand(seat), 1),
        "pile": {CARDS[c]: 1 for c in range(68) if r["place"][c] == PILE},
        "pile_top": {p.pile[0]: 1} if p.pile else {},
        "on_table": {
            what[:-2]: 1
            for what in sorted(p.table.values(), key=lambda w: CARDS.index(w[:-2]) if w[:-2] in CARDS else 0)
            if what[:-2] in CARDS
        },
        "deck_size": len(p.deck),
        "pile_size": len(p.pile),
        "hand_size": each(lambda k: len(p.hand(k))),
        "stop": each(lambda k: {"base" if r["stop"][k] == 0 else str(r["stop"][k]): 1}, {}),
        "home": each(lambda k: int(r["home"][k])),
        "moves_home": each(lambda k: 31 if plain_moves_home(p, k) == 127 else min(plain_moves_home(p, k), 30)),
        "cells_home": each(cells_home),
        "players": {str(players): 1},
        "first": relative(0),
        "round": int(r["round"]),
        "rounds_left": rules.max_rounds - int(r["round"]),
        "size": rules.size,
        "other_table": 0,
    }


@pytest.mark.parametrize("players", [2, 3, 4])
def test_observation_is_what_the_layout_says(players):
    rng = random.Random(players)
    out = np.zeros(LAYOUT.size, np.int8)
    p = Position.of_seed(players, "size=7,max_rounds=60" if players == 3 else None, players)
    for step in range(300):
        if step % 5 == 0:
            for seat in range(players):
                observation.observe(p.records, 0, seat, out)
                told = LAYOUT.decode(out)
                board = np.array(told.pop("board"))
                should_be = board_of(p, seat)
                for plane, name in enumerate(PLANES):
                    assert (board[plane] == should_be[plane]).all(), f"seat {seat}, plane {name}\n{p}"
                assert (LAYOUT.view(out, "board") == board).all()
                for part, value in seen(p, seat).items():
                    assert told[part] == value, f"seat {seat}, {part}\n{p}"
        legal = p.legal
        if not legal:
            break
        lively = [name for name in legal if name.startswith(("play", "move", "cell", "turn", "stop", "seat", "row", "col"))]
        p.do(rng.choice(lively or legal))


def test_hidden_cards_are_in_no_observation():
    p = Position.of_seed(1, players=3)
    for seat in range(3):
        copies = dealt_again(p, seat, many=50)
        told = np.zeros((50, LAYOUT.size), np.int8)
        for i in range(50):
            observation.observe(copies, i, seat, told[i])
        assert (told == told[0]).all()


def test_stations_fit():
    assert MOST_STATIONS == 4 and all(d.stations <= 4 for d in DESIGNS)
