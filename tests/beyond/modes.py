"""Short games, one line of text for each decision: played compiled, uncompiled and bounds-checked, they must read the same.

NUMBA_DISABLE_JIT=1 python -W error -m tests.beyond.modes
"""

from __future__ import annotations

import hashlib
import random

import numpy as np

from beyond_env import kernel, observation
from tests.beyond.helpers import GAME, Position

MOST = "token_supply=99,start_tokens=20,capture_slots=20,end_enchantments=20,end_depletions=2"
DEAR = ",".join(f"points_{spirit}=30" for spirit in ("vermilion_bird", "turtle_snake", "azure_dragon", "metal_tiger", "unicorn"))
RICH = """
    beyond(players=2,protection=true,summoning=true,end_enchantments=20,end_depletions=1)
    deck: 2 azure_dragon_head_yin, rest
    discard: 3 vermilion_bird_yang
    seat 0: 6 tokens, 2 Nian Shou
      pool: 3 turtle_snake_yin, 2 turtle_snake_yang (1 protected)
      slots: metal_tiger_head_yin, vermilion_bird_yin
      enchantments: 2 unicorn (1 summoned), azure_dragon, metal_tiger
    seat 1: 4 tokens, 3 Nian Shou
      pool: 4 vermilion_bird_yang (2 protected), metal_tiger_body_yang
      slots: turtle_snake_yang
      enchantments: turtle_snake, vermilion_bird, azure_dragon
"""
GAMES = [
    (2, ""),
    (2, f"protection=true,summoning=true,score_laid_tokens=true,{MOST},{DEAR}"),
    (3, "protection=true,summoning=true,end_distinct=true,rescue_limit=1,end_depletions=1,start_tokens=6,token_supply=30"),
    (4, "summoning=true,end_enchantments=6,start_tokens=8,token_supply=40"),
    (2, "protection=true,end_on_nothing=false,capture_slots=0,token_supply=0,start_tokens=0,end_depletions=20"),
    (2, RICH),
]
WEIGHT = {"enchant": 20, "summon": 20, "reclaim": 20, "protect": 0.2}
LONGEST = 300


def lines():
    """`game decision action digest` for each decision: the digest is of record, mask, every seat's view, and a clone dealt again."""
    for game, (players, rules) in enumerate(GAMES):
        rng = random.Random(game)
        p = Position.of_text(rules) if "seat" in rules else Position.of_seed(game, rules, players)
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
    try:
        kernel.legal(p.records, 0, p.mask)
        kernel.apply(p.records, 0, GAME.actions.id("reveal"))
    except IndexError:
        return False
    return True


if __name__ == "__main__":
    print("\n".join(lines()))
    print("unchecked" if reads_beyond_the_deck() else "checked")
