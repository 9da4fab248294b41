"""Phases 1 and 2 of a turn: reveal, rescue, collect, place; and how turns begin and end."""

from __future__ import annotations

import numpy as np

from beyond_env.cards import NUM_KINDS, NUM_SPIRITS, SPIRIT_OF_KIND
from beyond_env.deck import leave_deck, refill
from beyond_env.ending import finish, most_points_win, take_nian_from_centre
from beyond_env.rules import END_ON_NOTHING, RESCUE_LIMIT
from beyond_env.state import ACT, MOST_REVEALED, PLACE, RESCUE, REVEAL
from tabletop.compiled import kernel

SPIRIT = np.array(SPIRIT_OF_KIND, np.int8)



@kernel
def start_turn(s):
    """Begin the turn of `seat` with its first card, if there is one."""
    s["turns"] += 1
    s["num_revealed"] = 0
    s["num_queue"] = 0
    s["summoned_spirit"] = -1
    s["looked"] = 0
    for j in range(MOST_REVEALED):
        s["revealed"][j] = -1
        s["rescued"][j] = 0
        s["queue"][j] = -1
    if s["deck_size"] == 0:
        refill(s)
    if s["deck_size"] == 0:
        if s["options"][END_ON_NOTHING]:
            s["triggered"] = 1
        s["phase"] = ACT
    else:
        reveal(s)


@kernel
def lying(s, spirit):
    """Place of the revealed card of a spirit, the busting card left out; -1 if there is none."""
    for j in range(s["num_revealed"]):
        if SPIRIT[s["revealed"][j]] == spirit:
            return j
    return -1


@kernel
def reveal(s):
    """Reveal the top card: a bust if its spirit lies there already."""
    kind = leave_deck(s, np.int64(s["deck_size"]) - 1)
    bust = lying(s, SPIRIT[kind]) >= 0
    s["revealed"][s["num_revealed"]] = kind
    s["num_revealed"] += 1
    if bust:
        if s["num_revealed"] == 2 and s["centre_nian"] > 0:
            take_nian_from_centre(s)
            if s["over"]:
                return
        s["phase"] = RESCUE
        if not can_rescue(s):
            end_rescue(s)
    elif s["num_revealed"] == NUM_SPIRITS or s["deck_size"] == 0:
        stop(s)
    else:
        s["phase"] = REVEAL


@kernel
def stop(s):
    """Collect every revealed card."""
    for j in range(s["num_revealed"]):
        s["rescued"][j] = 1
    collect(s)


@kernel
def can_rescue(s):
    """Is there a token, a card and a rescue under the limit left?"""
    rescues = 0
    for j in range(s["num_revealed"] - 1):
        rescues += s["rescued"][j]
    return s["tokens"][s["seat"]] > 0 and rescues < s["num_revealed"] - 1 and rescues < s["options"][RESCUE_LIMIT]


@kernel
def rescue(s, spirit):
    """Pay one token to the supply to collect also the card of that spirit."""
    s["tokens"][s["seat"]] -= 1
    s["supply"] += 1
    s["rescued"][lying(s, spirit)] = 1
    if not can_rescue(s):
        end_rescue(s)


@kernel
def end_rescue(s):
    """Discard the cards not rescued; the others are collected, the busting card last."""
    last = s["num_revealed"] - 1
    s["rescued"][last] = 1
    for j in range(last):
        if not s["rescued"][j]:
            s["discard"][s["revealed"][j]] += 1
    collect(s)


@kernel
def collect(s):
    """The revealed cards marked are to be placed, in the order revealed; none lies revealed any more."""
    n = 0
    for j in range(s["num_revealed"]):
        if s["rescued"][j]:
            s["queue"][n] = s["revealed"][j]
            n += 1
        s["revealed"][j] = -1
        s["rescued"][j] = 0
    s["num_queue"] = n
    s["num_revealed"] = 0
    s["phase"] = PLACE


@kernel
def used_slots(s, seat):
    used = 0
    for kind in range(NUM_KINDS):
        used += s["slots"][seat, kind]
    return used


@kernel
def place(s, into_slots):
    """Put the next collected card into the pool or a capture slot."""
    kind = s["queue"][0]
    if into_slots:
        s["slots"][s["seat"], kind] += 1
    else:
        s["pool"][s["seat"], kind] += 1
    left = s["num_queue"] - 1
    for j in range(left):
        s["queue"][j] = s["queue"][j + 1]
    s["queue"][left] = -1
    s["num_queue"] = left
    if left == 0:
        s["phase"] = ACT


@kernel
def end_turn(s):
    """Pass the turn on; after the last seat the game is over if its end has been triggered."""
    seat = (np.int64(s["seat"]) + 1) % np.int64(s["players"])
    if seat == 0 and s["triggered"]:
        most_points_win(s)
        finish(s)
    else:
        s["seat"] = seat
        start_turn(s)
