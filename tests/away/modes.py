"""Short games, one line of text for each decision: played compiled, uncompiled and bounds-checked, they must read the same.

NUMBA_DISABLE_JIT=1 python -W error -m tests.away.modes
"""

from __future__ import annotations

import hashlib
import random

import numpy as np

from away_env import kernel, observation
from tests.away.golden import COUNTED
from tests.away.helpers import GAME, Position

STOPS = """
    away(players=3)
    turn: round 2, seat 0
    row 3: c3 bend.blue/3, c4 bend.green/0
    row 4: c3 crossroads.1/0, c4 twinlane.1/0
    seat 0: ship r4c3 stop 1
      hand: hyperdrive.pink, hyperdrive.green
    seat 1: ship r3c3 stop 1
    seat 2: ship r3c4 stop 1
"""
GAMES = [
    (2, ""),
    (3, "size=5"),
    (4, "size=7,max_rounds=2"),
    *((int(text.partition("players=")[2][0]), text) for text in (STOPS, *(text for text, _ in COUNTED.values()))),
]
WEIGHT = {"move": 8, "play": 4, "discard": 0.3, "pass": 0.3}
LONGEST = 150


def lines():
    """`game decision action digest` for each decision: the digest is of record, mask, every seat's view, and a clone dealt again."""
    for game, (players, rules) in enumerate(GAMES):
        rng = random.Random(game)
        p = Position.of_text(rules) if "seat" in rules else Position.of_seed(game, rules or None, players)
        out = np.zeros(GAME.layout.size, GAME.layout.dtype)
        name = "deal"
        for decision in range(LONGEST):
            legal = p.legal
            digest = hashlib.sha256(p.records.tobytes() + p.mask.tobytes())
            for seat in range(players):
                observation.observe(p.records, 0, seat, out)
                digest.update(out.tobytes())
            clone = p.records.copy()
            kernel.determinize(clone, 0, 0)
            digest.update(clone.tobytes())
            yield f"{game} {decision} {name} {digest.hexdigest()[:16]}"
            if not legal:
                break
            name = rng.choices(legal, [WEIGHT.get(n.partition(":")[0], 1) for n in legal])[0]
            p.do(name)


def reads_beyond_the_deck() -> bool:
    """Does a damaged record make the kernels read beyond an array unnoticed? They do where nothing checks it."""
    p = Position.of_seed(0)
    p.records["deck_size"] = 100
    p.records["hand_size"][0, 0] = 4
    try:
        kernel.apply(p.records, 0, GAME.actions.id("pass"))
    except IndexError:
        return False
    return True


if __name__ == "__main__":
    print("\n".join(lines()))
    print("unchecked" if reads_beyond_the_deck() else "checked")
