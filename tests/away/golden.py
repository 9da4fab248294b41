"""Goldens of a_way: playthroughs that a person reads, and node counts.

    python -m tests.away.golden            # compares the files in tests/golden/away with what the rules do now
    python -m tests.away.golden --write    # writes them anew: after a change of the rules that is meant; read the difference

A playthrough is one game: its first and last position in full; at each turn the table and the acting seat's hand, and a digest of the
full text, which tells of a difference in what is not shown; each decision with the actions that were legal.
Node counts are the numbers of ways to play on from a position for a number of decisions, by the word of the last one.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from away_env.picture import picture
from tests.away.helpers import GAME, Position

FOLDER = Path(__file__).parents[1] / "golden" / "away"

#: file: number of players, rules, seed
PLAYTHROUGHS = {
    "playthrough_2_players.txt": (2, "max_rounds=12", 4),
    "playthrough_3_players_small.txt": (3, "size=5,max_rounds=12", 13),
    "playthrough_4_players.txt": (4, "max_rounds=5", 2),
}
WEIGHT = {"move": 20.0, "play": 3.0, "discard": 0.2, "pass": 0.2}

#: name: position, depth
COUNTED = {
    "a new game": (
        "away(players=2)\nturn: round 1, seat 0\nrow 4: c4 crossroads.1/0\nseat 0: ship start\nhand: bend.blue, fork.pink, express.blue",
        3,
    ),
    "moves, jumps and a raid, three players": (
        """
        away(players=3)
        turn: round 4, seat 1
        row 3: c3 fork.blue/3, c4 roundabout.1/1, c5 twinbend.1/0
        row 4: c3 lane.blue/0, c4 crossroads.1/0, c5 overpass.pink/2, c6 vortex.blue/0, c7 oneway.green/2
        row 5: c4 vortex.pink/3, c5 chicane.green/1
        seat 0: ship r4c3 stop 1
        seat 1: ship r4c4 stop 1
          hand: hyperdrive.pink, solar_wind.blue, pirate_raid.blue, cosmic_compass.blue, solar_rotation.blue
        seat 2: ship r3c4 stop 2
        """,
        4,
    ),
    "cards moved, four players": (
        """
        away(players=4)
        turn: round 4, seat 3
        row 2: c3 lane.pink/0
        row 3: c3 junction.1/0, c4 twinlane.1/1
        row 4: c3 bend.orange/2
        row 5: c2 lane.orange/3
        pile: scrapyard.orange, fork.orange
        deck: unknown_fate.green, scrapyard.pink, fork.green, rest
        seat 0: ship r3c3 stop 1
        seat 3: ship start
          hand: solar_tornado.blue, nebula_deviation.blue, super_nebula.orange, black_hole.pink, unknown_fate.orange
        """,
        3,
    ),
}


def words(names: list[str]) -> str:
    """Actions, those of one word together: `cell 3,4 5,4, done`"""
    groups: dict[str, list[str]] = {}
    for name in names:
        word, _, rest = name.partition(":")
        groups.setdefault(word, []).append(rest)
    return ", ".join(" ".join(filter(None, (word, *rest))) for word, rest in groups.items())


def table(p: Position) -> str:
    digest = hashlib.sha256(str(p).encode()).hexdigest()[:8]
    lines = [line for line in picture(p.records[0]) if line]
    return "\n".join([*lines, f"hand: {', '.join(p.hand(p['seat']))}; pile: {', '.join(p.pile[:2])} …; deck of {len(p.deck)}  [{digest}]"])


def playthrough(p: Position, choose: Callable[[list[str]], str]) -> Iterator[str]:
    """The lines of a game, in which `choose` chooses among the legal actions."""
    turn = (0, 0)
    while legal := p.legal:
        if (p["round"], p["seat"]) != turn:
            first, turn = turn == (0, 0), (p["round"], p["seat"])
            yield f"\n== round {turn[0]}, seat {turn[1]} {'=' * 60}\n{p if first else table(p)}"
        name = choose(legal)
        yield f"seat {p['seat']} {p.phase:7} > {name:31}" + (f"legal: {words(legal)}" if len(legal) > 1 else "forced")
        p.do(name).check()
    yield f"\n== the end {'=' * 59}\n{p}"


def written_playthrough(file: str, actions: list[str] | None = None) -> str:
    """A playthrough: of these actions, or chosen by chance."""
    players, rules, seed = PLAYTHROUGHS[file]
    rng = random.Random(seed)
    given = iter(actions or [])

    def choose(legal: list[str]) -> str:
        if actions is not None:
            return next(given)
        return rng.choices(legal, [WEIGHT.get(name.partition(":")[0], 1.0) for name in legal])[0]

    head = f"A game of a_way by chance: {GAME.variant(rules, players)}, seed {seed}. Made by `python -m tests.away.golden --write`."
    return "\n".join([head, *playthrough(Position.of_seed(seed, rules, players), choose)]).rstrip() + "\n"


def actions_of(text: str) -> list[str]:
    """The actions of a written playthrough."""
    return re.findall(r"^seat \d \w+ +> (\S+)", text, re.MULTILINE)


def count(p: Position, depth: int) -> list[Counter[str]]:
    """For 1, 2, … depth decisions: the number of ways to play them, by the word of the last."""
    counts: list[Counter[str]] = [Counter() for _ in range(depth)]
    legal = p.legal
    counts[0].update(name.partition(":")[0] for name in legal)
    if depth > 1:
        for name in legal:
            for below, of_child in zip(counts[1:], count(p.copy().do(name), depth - 1), strict=True):
                below.update(of_child)
    return counts


def written_counts() -> str:
    lines = ["Ways to play on from fixed positions, by the word of the last decision. Made by `python -m tests.away.golden --write`."]
    for name, (text, depth) in COUNTED.items():
        p = Position.of_text(text)
        lines += ["", f"== {name} {'=' * (70 - len(name))}", str(p).rstrip()]
        for decisions, by_word in enumerate(count(p, depth), 1):
            listed = ", ".join(f"{word} {n}" for word, n in sorted(by_word.items()))
            lines.append(f"depth {decisions}: {by_word.total()} ({listed})")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="compare the goldens of a_way with what the rules do now, or write them anew")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    made = {file: (lambda file=file: written_playthrough(file)) for file in PLAYTHROUGHS} | {"counts.txt": written_counts}
    for file, make in made.items():
        path, text = FOLDER / file, make()
        old = path.read_text() if path.exists() else ""
        if given.write:
            path.write_text(text)
        print(f"{file}: {'the same' if old == text else 'written' if given.write else 'DIFFERENT'}, {len(text.splitlines())} lines")


if __name__ == "__main__":
    main()
