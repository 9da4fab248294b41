"""Play the compiled game and the reference side by side, decision by decision, by name; also a command for many games.

    python -m tests.away.differential 100000 --players 2 3 4

Three ways of choosing: uniformly among the legal actions; with a liking for moves and action cards; and that with a liking for ways
home, so that ships arrive.
"""

from __future__ import annotations

import argparse
import random
from typing import Any

import numpy as np

from away_env import kernel
from away_env.actions import ACTIONS
from away_env.cards import ACTION_OF, BASE_NAMES, CARDS, DESIGN_NAMES, FIRST_BASE, FIRST_SOLAR, NUM_SOLAR, SIDE
from away_env.lanes import CELLS, SOLAR_CELLS
from away_env.rules import AwayRules, max_decisions
from away_env.state import DECK, STATE, WIDTH
from tabletop.rules import Variant
from tabletop.stream import seed_stream, shuffle
from tests.reference import away_reference as reference

WAYS = ("uniform", "lively", "homing")
PLACE_OF = {int(cell): divmod(k, SIDE) for k, cell in enumerate(CELLS)}


class Sides:
    """One game on both sides. After a difference is raised, `names` are the actions that led to it."""

    def __init__(self, players: int, seed: int, max_rounds: int = 100) -> None:
        variant = Variant(players, AwayRules(max_rounds=max_rounds))
        self.records = np.zeros(1, STATE)
        self.records["players"] = players
        self.records["limit"] = max_decisions(variant.rules, players)
        variant.rules.configure(self.records, slice(None))
        seed_stream(self.records["stream"][0], np.uint64(seed), np.uint64(0))
        kernel.deal(self.records, 0)
        self.record = self.records[0]
        self.mask = np.zeros(len(ACTIONS), np.int8)
        self.names: list[str] = []
        self.shuffles = 0
        board, turn = self.record["board"], self.record["turn"]
        solar = [(DESIGN_NAMES[self.record["design"][board[cell]]], int(turn[cell])) for cell in SOLAR_CELLS]
        hands = [card for seat in range(players) for card in np.flatnonzero(self.record["place"] == seat)]
        deck = hands + list(self.record["deck"][: self.record["deck_size"]][::-1])
        self.stream = self.record["stream"].copy()
        self.other = reference.Away(players, solar, [CARDS[card] for card in deck], self._shuffle, max_rounds)

    def _shuffle(self, cards: Any) -> list[str]:
        """The reference's shuffle: that of the record's stream as it was before the step."""
        self.shuffles += 1
        pile = np.array([CARDS.index(card) for card in cards], np.int8)
        shuffle(self.stream, pile, pile.size)
        return [CARDS[card] for card in pile[::-1]]

    @property
    def over(self) -> bool:
        return bool(self.record["over"])

    def legal(self) -> list[str]:
        kernel.legal(self.records, 0, self.mask)
        return ACTIONS.legal(self.mask)

    def compare(self) -> list[str]:
        """Raise AssertionError naming the first difference; the legal actions."""
        assert self.record["seat"] == self.other.seat, f"seat {self.record['seat']}, not {self.other.seat}"
        ours, theirs = public(self.record), self.other.public()
        for key, value in ours.items():
            assert value == theirs[key], f"{key}: {value}, not {theirs[key]}"
        if self.over:
            assert (self.record["over"] == 2) == self.other.cut_off
            assert list(np.flatnonzero(self.record["won"])) == list(self.other.winners or [])
            return []
        names, others = self.legal(), sorted(self.other.legal())
        assert sorted(names) == others, f"legal only here {set(names) - set(others)}, only there {set(others) - set(names)}"
        return names

    def step(self, name: str) -> None:
        self.names.append(name)
        self.stream = self.record["stream"].copy()
        kernel.apply(self.records, 0, ACTIONS.id(name))
        self.other.step(name)


def public(record: Any) -> dict[str, Any]:
    """A position in the reference's terms."""
    players = int(record["players"])
    cards, bases, ships = {}, {}, []
    for cell in map(int, CELLS):
        card = int(record["board"][cell])
        if 0 <= card < FIRST_BASE:
            design = DESIGN_NAMES[record["design"][card]]
            sort, faction = ("solar", "") if card >= FIRST_SOLAR else ("exploration", CARDS[card].partition(".")[2])
            cards[PLACE_OF[cell]] = (sort, design, faction, int(record["turn"][cell]))
    for name, cell in zip(BASE_NAMES, record["base"], strict=True):
        if cell >= 0:
            bases[name] = PLACE_OF[int(cell)]
    for seat in range(players):
        place = PLACE_OF[int(record["ship"][seat])]
        ships.append(
            "home" if record["home"][seat] else ("base", place) if record["stop"][seat] == 0 else (place, int(record["stop"][seat]))
        )
    out = set(range(FIRST_SOLAR, FIRST_SOLAR + NUM_SOLAR)) - set(map(int, record["board"]))
    return {
        "cards": cards,
        "ships": ships,
        "bases": bases,
        "hands": [sorted(CARDS[c] for c in np.flatnonzero(record["place"] == seat)) for seat in range(players)],
        "pile": [CARDS[c] for c in record["pile"][: record["pile_size"]]],
        "deck_size": int(record["deck_size"]),
        "solar_out": sorted(DESIGN_NAMES[record["design"][c]] for c in out),
    } | ({} if record["over"] else {"round": int(record["round"]), "turn_seat": int(record["seat"]), "faction": faction_of(record)})


def faction_of(record: Any) -> str | None:
    from away_env.cards import FACTIONS

    return None if record["faction"] < 0 else FACTIONS[record["faction"]]


def choose(sides: Sides, names: list[str], way: str, rng: random.Random) -> str:
    """An action, in one of the WAYS."""
    if way == "uniform" or len(names) == 1:
        return rng.choice(names)
    if way == "homing" and names[0].startswith(("cell", "turn", "stop")) and rng.random() < 0.8:
        return min(rng.sample(names, min(len(names), 12)), key=lambda name: ways_after(sides, name))
    weights = []
    for name in names:
        kind, _, what = name.partition(":")
        if kind == "move":
            weights.append(10.0)
        elif kind == "play":
            weights.append(6.0 if ACTION_OF[CARDS.index(what)] >= 0 else 2.0)
        else:
            weights.append(0.3 if kind in ("pass", "done") else 1.0)
    return rng.choices(names, weights)[0]


def ways_after(sides: Sides, name: str) -> tuple[int, int, float]:
    """How far the seat is from home when an action is taken: by moves, then by cells."""
    copy = sides.records.copy()
    seat = int(copy["seat"][0])
    kernel.apply(copy, 0, ACTIONS.id(name))
    ship, home = int(copy["ship"][0, seat]), int(copy["base"][0, seat ^ 1])
    return int(copy["moves_home"][0, seat]), abs(ship // WIDTH - home // WIDTH) + abs(ship % WIDTH - home % WIDTH), random.random()


def play(players: int, seed: int, way: str, max_rounds: int = 100) -> Sides:
    """One game to its end on both sides."""
    rng = random.Random(seed)
    sides = Sides(players, seed, max_rounds)
    try:
        while names := sides.compare():
            sides.step(choose(sides, names, way, rng))
    except AssertionError as difference:
        raise AssertionError(
            f"{players} players, seed {seed}, {way}, after {len(sides.names)} actions, the last {sides.names[-8:]}: {difference}"
        ) from None
    assert (sides.record["place"] != DECK).sum() + sides.record["deck_size"] == len(CARDS)
    return sides


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("games", type=int)
    parser.add_argument("--players", type=int, nargs="*", default=[2, 3, 4])
    parser.add_argument("--ways", nargs="*", default=list(WAYS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=30)
    options = parser.parse_args()
    decisions = arrivals = several = shuffles = 0
    counts: dict[str, int] = {}
    for game in range(options.games):
        way = options.ways[game % len(options.ways)]
        players = options.players[game // len(options.ways) % len(options.players)]
        sides = play(players, options.seed + game, way, options.rounds)
        decisions += len(sides.names)
        arrivals += int(sides.record["over"] == 1)
        several += int(sides.record["home"].sum() > 1)
        shuffles += sides.shuffles
        for name in sides.names:
            if name.startswith("play"):
                card = name[5:].partition(".")[0]
                counts[card] = counts.get(card, 0) + 1
    print(
        f"{options.games} games, {decisions} decisions, no difference; {arrivals} ended at home, {several} with several; {shuffles} refills"
    )
    print(dict(sorted(counts.items())))


if __name__ == "__main__":
    main()
