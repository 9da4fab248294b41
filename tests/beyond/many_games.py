"""Random games of random variants in compiled batches, their positions checked.

    python -m tests.beyond.many_games --games 100000 --seed 1 --every 5

prints what was played, and the longest game beside the length that its variant declares.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

import tabletop
from beyond_env import ending
from beyond_env.rules import BeyondRules, max_decisions
from tabletop.registry import TRUNCATED
from tabletop.sampling import random_actions
from tests.beyond.differential import random_variant
from tests.beyond.invariants import check, points

EAGER = tuple(tabletop.game("beyond").actions.first(word) for word in ("enchant", "summon"))


@dataclass
class Totals:
    games: int = 0
    decisions: int = 0
    longest: int = 0
    longest_of: str = ""
    closest: float = 0.0  # the largest share of its declared length that a game took
    ends: Counter[str] = field(default_factory=Counter)
    players: Counter[int] = field(default_factory=Counter)
    variants: set[str] = field(default_factory=set)


def eager(actions: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """In most tables an enchantment or a summon is taken where one is legal: games get further than by chance."""
    for first in EAGER:
        block = mask[:, first : first + 5]
        rows = np.flatnonzero(block.any(1) & (rng.random(actions.size) < 0.7))
        actions[rows] = first + block[rows].argmax(1)
    return actions


def play(num_tables: int, seed: int, totals: Totals, every: int = 5) -> None:
    """Play one game at each of these tables, checking the positions after every `every`-th step, and all those that end a game."""
    rng, chance = np.random.default_rng(seed), random.Random(seed)
    chosen = [random_variant(chance) for _ in range(num_tables)]
    players, rules = [p for p, _ in chosen], [BeyondRules(**options) for _, options in chosen]
    tables = tabletop.Tables("beyond", num_tables, players, rules, seed=seed, autoreset="disabled", skip_forced=bool(seed % 2))
    check(tables.records, tables.action_mask)
    live = np.flatnonzero(tables.records["over"] == 0)
    steps = 0
    while live.size:
        mask = tables.action_mask[live]
        tables.step(eager(random_actions(mask, rng), mask, rng), rows=live)
        steps += 1
        if steps % every == 0:
            check(tables.records[live], tables.action_mask[live])
        live = live[tables.records["over"][live] == 0]
    r = tables.records
    check(r, tables.action_mask)
    declared = np.array([max_decisions(rule, p) for rule, p in zip(rules, players, strict=True)])
    endless = np.array([not rule.end_on_nothing for rule in rules])
    assert (r["limit"] == declared).all()
    assert (endless | (r["over"] != TRUNCATED)).all(), "a game reached the length that its variant declares"
    score = points(r)
    for i in range(0, num_tables, 50):  # the kernel's own points, now and then
        assert [ending.score(r[i], seat) for seat in range(players[i])] == score[i, : players[i]].tolist()
    at = int(r["decisions"].argmax())
    if r["decisions"][at] > totals.longest:
        totals.longest, totals.longest_of = int(r["decisions"][at]), f"{tables.variants[at]}, declared {declared[at]}"
    totals.closest = max(totals.closest, float((r["decisions"] / declared)[~endless].max(initial=0)))
    totals.games += num_tables
    totals.decisions += int(r["decisions"].sum())
    totals.players.update(players)
    totals.variants.update(map(str, tables.variants))
    won = r["won"].sum(1)
    six = (r["nian"] == 6).any(1)
    names = np.select([r["over"] == TRUNCATED, six, won > 1], ["cut off", "six Nian Shou", "shared"], "most points")
    totals.ends.update(names.tolist())


def main() -> None:
    parser = argparse.ArgumentParser(description="play random games of random variants and check every position")
    parser.add_argument("--games", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--every", type=int, default=5, help="check after every so many steps")
    given = parser.parse_args()
    start, totals = time.perf_counter(), Totals()
    while totals.games < given.games:
        play(min(5_000, given.games - totals.games), given.seed + totals.games, totals, given.every)
    players = dict(sorted(totals.players.items()))
    print(f"{totals.games} games of {len(totals.variants)} variants, by players {players}, {totals.decisions} decisions")
    print(f"ends: {dict(totals.ends.most_common())}")
    print(f"longest: {totals.longest} decisions ({totals.longest_of})")
    print(f"largest share of the declared length: {totals.closest:.1%}; {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
