"""Flat Monte Carlo, compiled: every action is tried in the same guesses of what is hidden, and played out.

This module is a template like `agents.tree`, and bound to a game by the same functions.
"""

from __future__ import annotations

import numpy as np

from agents.tree import (  # noqa: F401 - some are here to be replaced by a game's own
    FINE,
    HERE,
    HEURISTIC,
    LIVE,
    STUCK,
    act,
    determinize,
    evaluate,
    forget,
    observe,
    outcome,
    pay,
    playout_action,
    quiet,
    random_action,
    settle,
)
from tabletop.compiled import kernel
from tabletop.stream import seed_guess


@kernel
def sample(
    roots, row, seed, begin, end, work, masks, scratch, rewards, values, allowed, playout, depth, visits, totals, seats,
):  # fmt: skip
    """Samples begin to end - 1 of every allowed action of roots[row]. Sample k deals the hidden cards from the stream of (seed, k), the
    same for each action. Adds to visits (A,), to totals (A,), what the seat to act got, and to seats (P,), what each seat got."""
    if begin == 0:
        forget(roots, row, np.int64(roots[row]["seat"]))
    mask = masks[0]
    me = np.int64(roots[row]["seat"])
    for k in range(begin, end):
        for action in range(allowed.size):
            if not allowed[action]:
                continue
            work[0] = roots[row]
            seed_guess(work[0]["stream"], seed, np.uint64(k))
            determinize(work, HERE, me)
            chosen = np.int64(action)
            steps = 0
            valued = False
            while True:
                act(work, HERE, chosen)
                if not settle(work, HERE, True, mask):
                    return STUCK
                if work[0]["over"] != LIVE:
                    break
                if depth >= 0 and steps >= depth and quiet(work, HERE):
                    evaluate(work, HERE, masks, scratch, values)
                    valued = True
                    break
                steps += 1
                chosen = np.int64(playout_action(work, masks, scratch) if playout == HEURISTIC else random_action(work, mask))
            if not valued:
                rewards[:] = 0
                pay(work, HERE, rewards)
                for seat in range(values.size):
                    values[seat] = rewards[seat]
            visits[action] += 1
            totals[action] += values[me]
            for seat in range(values.size):
                seats[seat] += values[seat]
    return FINE
