"""Random games in compiled batches, their positions checked.

    python -m tests.away.many_games --games 100000 --seed 1 --every 20

prints what was played, and the longest game beside the length that its variant declares.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter

import numpy as np

import tabletop
from away_env.cards import FIRST_BASE, FIRST_SOLAR, NUM_CARDS
from away_env.rules import max_decisions
from away_env.state import DECK, LAID, LAY, PILE, TABLE_PLACE
from tabletop.registry import LIVE
from tabletop.sampling import random_actions

GAME = tabletop.game("away")
MOVE = GAME.actions.id("move")
FIRST_ACTION_CARD = 40


def check(r: np.ndarray, mask: np.ndarray) -> None:
    """Every card, base and ship of every position is in one place; the seat to act has an answer, nobody else."""
    live = r["over"] == LIVE
    assert (mask.any(1) == live).all() and ((r["seat"] >= 0) == live).all()
    place, board = r["place"], r["board"]
    for k in range(4):
        assert ((place == k).sum(1) == r["hand_size"][:, k]).all()
    assert (r["hand_size"] <= 5).all() and ((place == LAID).sum(1) == (r["effect"] == LAY)).all()
    assert (place >= 0).all()
    for name, size, where in (("deck", "deck_size", DECK), ("pile", "pile_size", PILE)):
        cards = np.sort(np.where(np.arange(NUM_CARDS) < r[size][:, None], r[name], NUM_CARDS), axis=1)
        should_be = np.sort(np.where(place == where, np.arange(NUM_CARDS), NUM_CARDS), axis=1)
        assert (cards == should_be).all()
        assert (r[name][np.arange(NUM_CARDS) >= r[size][:, None]] == -1).all()
    lying = np.zeros((r.size, FIRST_BASE + 4), np.int64)
    rows, cells = np.nonzero(board >= 0)
    np.add.at(lying, (rows, board[rows, cells]), 1)
    assert (lying[:, :NUM_CARDS] == (place == TABLE_PLACE)).all() and (lying <= 1).all()
    assert (lying[:, FIRST_SOLAR:FIRST_BASE].sum(1) <= 9).all()
    everyone = np.arange(r.size)
    for k in range(4):
        has = r["base"][:, k] >= 0
        assert (has == ((k < 2) | (r["players"] > 2))).all()
        assert (board[everyone[has], r["base"][has, k]] == FIRST_BASE + k).all()
        ship = k < r["players"]
        assert ((r["ship"][:, k] >= 0) == ship).all()
        under = board[everyone[ship], r["ship"][ship, k]]
        on_base = r["stop"][ship, k] == 0
        assert (under[on_base] == FIRST_BASE + np.where(r["home"][ship, k], k ^ 1, k)[on_base]).all()
        assert ((under[~on_base] >= 0) & (under[~on_base] < FIRST_BASE)).all()
        for other in range(k):
            both = ship & (r["stop"][:, k] > 0)
            assert ((r["ship"][both, k] != r["ship"][both, other]) | (r["stop"][both, k] != r["stop"][both, other])).all()


def play(num_tables: int, seed: int, totals: Counter[str], every: int) -> None:
    """Play one game at each of these tables, of 2 to 4 players on tables of all sizes, half of them with a liking for moves."""
    rng = np.random.default_rng(seed)
    players = rng.integers(2, 5, num_tables).tolist()
    rules = [
        f"size={size},max_rounds={rounds}"
        for size, rounds in zip(rng.choice([5, 7, 9], num_tables), rng.integers(1, 61, num_tables), strict=True)
    ]
    tables = tabletop.Tables(GAME, num_tables, players, rules, seed=seed, autoreset="disabled", skip_forced=bool(seed % 2))
    eager = rng.random(num_tables) < 0.5
    check(tables.records, tables.action_mask)
    live, steps = np.arange(num_tables), 0
    while live.size:
        mask = tables.action_mask[live]
        actions = random_actions(mask, rng)
        tables.step(np.where(eager[live] & (mask[:, MOVE] == 1), MOVE, actions), rows=live)
        steps += 1
        if steps % every == 0:
            check(tables.records[live], tables.action_mask[live])
        live = live[tables.records["over"][live] == LIVE]
    r = tables.records
    check(r, tables.action_mask)
    declared = np.array([max_decisions(v.rules, v.players) for v in tables.variants])  # type: ignore[arg-type]
    assert (r["decisions"] < declared).all(), "a game reached the length that its variant declares"
    arrived = r["home"].sum(1)
    assert ((arrived > 0) == tables.terminated).all() and (r["won"].sum(1) == (arrived > 0)).all()
    totals["games"] += num_tables
    totals["decisions"] += int(r["decisions"].sum())
    totals["arrivals"] += int((arrived > 0).sum())
    totals["several arrivals"] += int((arrived > 1).sum())
    totals["longest"] = max(totals["longest"], int(r["decisions"].max()))
    totals["largest share of the declared length, %"] = max(
        totals["largest share of the declared length, %"], int(100 * (r["decisions"] / declared).max())
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="play random games of a_way and check their positions")
    parser.add_argument("--games", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--every", type=int, default=20, help="check after every so many steps")
    given = parser.parse_args()
    start, totals = time.perf_counter(), Counter[str]()
    while totals["games"] < given.games:
        play(min(4_000, given.games - totals["games"]), given.seed + totals["games"], totals, given.every)
    print(", ".join(f"{name}: {n:,}" for name, n in totals.items()), f"; {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
