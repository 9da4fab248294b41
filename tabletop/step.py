"""The one step of all games: what a finished table does, forced decisions, masks, rewards, cut-off and auto-reset.

This module is a template. `tabletop.compiled.bind` makes a copy of it for each game, with the five functions below replaced by
the game's own. Kernels take a record array and a row, never a single record: that is what numba calls cheaply.
"""

from __future__ import annotations

import numpy as np

from tabletop.compiled import kernel
from tabletop.stream import next_game, seed_guess, seed_stream

LIVE, TERMINATED, TRUNCATED = 0, 1, 2
DISABLED, NEXT_STEP, SAME_STEP = 0, 1, 2
FINE = -1  # no row is at fault


def deal(records, i):
    """Set up row i for its players, options and stream; then a seat is to act."""
    raise NotImplementedError


def legal(records, i, mask):
    """Write the mask (A,) int8 of the seat to act in row i, which is live: every entry."""
    raise NotImplementedError


def apply(records, i, action):
    """Do a legal action in row i. At the end of the game set `won`, `over` = 1 and `seat` = -1."""
    raise NotImplementedError


def observe(records, i, seat, observation):
    """Write what `seat` knows of row i into observation (D,): every entry."""
    raise NotImplementedError


def determinize(records, i, seat):
    """Deal again, from the row's stream, all that `seat` cannot see in row i."""
    raise NotImplementedError


@kernel
def act(records, i, action):
    """Apply an action, count it, and cut the game off when it has reached its limit."""
    apply(records, i, action)
    s = records[i]
    s["decisions"] += 1
    if s["over"] == LIVE and s["decisions"] >= s["limit"]:
        s["over"] = TRUNCATED
        s["seat"] = -1


@kernel
def settle(records, i, skip_forced, mask):
    """Write the mask of the seat to act, having played forced decisions if asked to. False if a live seat has no action."""
    while records[i]["over"] == LIVE:
        legal(records, i, mask)
        count = 0
        for a in range(mask.size):
            count += mask[a]
        if count == 0:
            return False
        if count > 1 or not skip_forced:
            return True
        only = 0
        while mask[only] == 0:
            only += 1
        act(records, i, only)
    mask[:] = 0
    return True


@kernel
def pay(records, i, rewards):
    """Rewards (P,) of a game that ended: winners share +1, the others -1; all won, or cut off: nothing."""
    s = records[i]
    players = np.int64(s["players"])
    winners = 0
    for seat in range(players):
        winners += s["won"][seat]
    for seat in range(players):
        if s["over"] == TERMINATED and 0 < winners < players:
            rewards[seat] = np.float32(1.0 / winners) if s["won"][seat] else np.float32(-1.0 / (players - winners))


@kernel
def begin_row(records, i, skip_forced, observation, mask, seat, rewards, earned, terminated, truncated):
    """Deal row i and write all that is told of it."""
    deal(records, i)
    fine = settle(records, i, skip_forced, mask[i])
    rewards[i, :] = 0
    earned[i, :] = 0
    show_row(records, i, 0, observation, seat, terminated, truncated)
    return fine


@kernel
def show_row(records, i, viewer, observation, seat, terminated, truncated):
    """Write observation, seat and flags of row i; the observation is of the seat to act, or of `viewer` when the game is over."""
    s = records[i]
    over = s["over"]
    seat[i] = s["seat"]
    terminated[i] = over == TERMINATED
    truncated[i] = over == TRUNCATED
    observe(records, i, np.int64(s["seat"]) if over == LIVE else viewer, observation[i])


@kernel
def reset_rows(records, rows, lo, hi, skip_forced, observation, mask, seat, rewards, earned, terminated, truncated):
    """Deal rows[lo:hi], each from its stream as it is. FINE or the first row without a legal action."""
    fault = FINE
    for j in range(lo, hi):
        if not begin_row(records, rows[j], skip_forced, observation, mask, seat, rewards, earned, terminated, truncated):
            fault = rows[j]
    return fault


@kernel
def refresh_rows(records, rows, lo, hi, skip_forced, observation, mask, seat, rewards, earned, terminated, truncated):
    """Write all that is told of rows[lo:hi], whose records were set from outside."""
    fault = FINE
    for j in range(lo, hi):
        i = rows[j]
        if not settle(records, i, skip_forced, mask[i]):
            fault = i
        rewards[i, :] = 0
        earned[i, :] = 0
        show_row(records, i, 0, observation, seat, terminated, truncated)
    return fault


@kernel
def seed_rows(records, rows, deals, seed):
    """Start the stream of rows[j] for the game (seed, deals[j])."""
    for j in range(rows.size):
        seed_stream(records[rows[j]]["stream"], seed, deals[j])


@kernel
def advance_rows(records, rows):
    """Move the streams of these rows on to their next games."""
    for j in range(rows.size):
        next_game(records[rows[j]]["stream"])


@kernel
def first_fault(seat, rows, actions, mask):
    """The first place j whose action is out of range or not legal; FINE if all are good. Rows that are over (seat -1) take any.

    It reads nothing of the records, which are wide: two narrow arrays stay in the cache."""
    for j in range(rows.size):
        i = rows[j]
        if seat[i] >= 0:
            a = actions[j]
            if a < 0 or a >= mask.shape[1] or mask[i, a] == 0:
                return j
    return FINE


@kernel
def step_rows(
    records, rows, actions, lo, hi, autoreset, skip_forced,
    observation, mask, seat, rewards, earned, terminated, truncated, final_observation, final_records,
):  # fmt: skip
    """Step rows[lo:hi] by actions[lo:hi], known to be legal. FINE or the first row left without a legal action.

    earned[i, k] is what seat k got since its own last decision, this step included. A row that ended earlier does nothing and
    gets nothing when auto-reset is disabled, and is dealt anew (its action ignored) in next-step mode. In same-step mode a
    row that ends is dealt anew at once; the position it ended in goes to final_records, its last mover's view to
    final_observation.
    """
    fault = FINE
    for j in range(lo, hi):
        i = rows[j]
        s = records[i]
        rewards[i, :] = 0
        if s["over"] != LIVE:
            if autoreset == DISABLED:
                continue
            next_game(s["stream"])
            if not begin_row(records, i, skip_forced, observation, mask, seat, rewards, earned, terminated, truncated):
                fault = i
            continue
        mover = np.int64(s["seat"])
        if terminated[i] or truncated[i]:  # of the game before, which same-step mode dealt anew at its end
            earned[i, :] = 0
        act(records, i, actions[j])
        if not settle(records, i, skip_forced, mask[i]):
            fault = i
        earned[i, mover] = 0
        if s["over"] != LIVE:
            pay(records, i, rewards[i])
            for k in range(rewards.shape[1]):
                earned[i, k] += rewards[i, k]
            if autoreset == SAME_STEP:
                records_end(records, i, mover, final_observation, final_records)
                over = s["over"]
                next_game(s["stream"])
                deal(records, i)
                if not settle(records, i, skip_forced, mask[i]):
                    fault = i
                show_row(records, i, mover, observation, seat, terminated, truncated)
                terminated[i] = over == TERMINATED
                truncated[i] = over == TRUNCATED
                continue
        show_row(records, i, mover, observation, seat, terminated, truncated)
    return fault


@kernel
def records_end(records, i, mover, final_observation, final_records):
    """Keep the position that row i ended in, and its last mover's view of it."""
    final_records[i] = records[i]
    observe(records, i, mover, final_observation[i])


@kernel
def observe_rows(records, rows, seats, observation):
    """Write what seats[j] knows of row rows[j] into observation[j]."""
    for j in range(rows.size):
        observe(records, rows[j], np.int64(seats[j]), observation[j])


@kernel
def determinize_rows(records, rows, seats, seed):
    """Deal again what seats[j] cannot see in rows[j]; each row gets the stream of (seed, j) first, so nothing of the old one is left."""
    for j in range(rows.size):
        seed_guess(records[rows[j]]["stream"], seed, np.uint64(j))
        determinize(records, rows[j], np.int64(seats[j]))


def warm_up(game):
    """Compile everything above for a game, by using it."""
    from tabletop.tables import Tables

    tables = Tables(game, num_tables=2, num_players=2, seed=0, autoreset="same_step")
    tables.step([int(np.flatnonzero(row)[0]) for row in tables.action_mask])
    tables.reset(seed=1)
    tables.restore(tables.records.copy())
    tables.determinize(tables.records.copy(), [0, 0], seed=0)
    tables.observe([0, 1])
