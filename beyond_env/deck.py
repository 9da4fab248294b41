"""The deck and the discard pile: set-up, refill, depletion. Everywhere in the rules' modules `s` is one record."""

from __future__ import annotations

import numpy as np

from beyond_env.cards import COPIES_OF_KIND, NUM_KINDS, NUM_NIAN
from beyond_env.rules import END_DEPLETIONS, START_TOKENS, TOKEN_SUPPLY
from beyond_env.state import NO_KIND
from tabletop.compiled import kernel
from tabletop.stream import shuffle

COPIES = np.array(COPIES_OF_KIND, np.int8)



@kernel
def begin(s):
    """The table before the first card: tokens dealt, all cards in the deck, in the order of their kinds."""
    players = np.int64(s["players"])
    options = s["options"]
    s["decisions"] = 0
    s["over"] = 0
    s["seat"] = 0
    s["turns"] = 0
    s["triggered"] = 0
    s["depletions"] = 0
    s["discard"][:] = 0
    s["centre_nian"] = NUM_NIAN
    s["supply"] = np.int64(options[TOKEN_SUPPLY]) - players * np.int64(options[START_TOKENS])
    for seat in range(4):
        s["won"][seat] = 0
        s["pool"][seat, :] = 0
        s["protected"][seat, :] = 0
        s["slots"][seat, :] = 0
        s["enchanted"][seat, :] = 0
        s["enchantments"][seat, :] = 0
        s["summoned"][seat, :] = 0
        s["nian"][seat] = 0
        s["tokens"][seat] = options[START_TOKENS] if seat < players else 0
    size = 0
    for kind in range(NUM_KINDS):
        s["deck_counts"][kind] = COPIES[kind]
        for _ in range(COPIES[kind]):
            s["deck"][size] = kind
            size += 1
    s["deck_size"] = size
    s["known"] = 0


@kernel
def refill(s):
    """Shuffle a non-empty discard pile into the new deck."""
    size = 0
    for kind in range(NUM_KINDS):
        for _ in range(s["discard"][kind]):
            s["deck"][size] = kind
            size += 1
        s["deck_counts"][kind] = s["discard"][kind]
        s["discard"][kind] = 0
    s["deck_size"] = size
    s["known"] = 0
    shuffle(s["stream"], s["deck"], size)


@kernel
def leave_deck(s, place):
    """Take the card at a place of the deck; if it was the last, the deck is depleted, at once."""
    kind = np.int64(s["deck"][place])
    last = np.int64(s["deck_size"]) - 1
    for p in range(place, last):
        s["deck"][p] = s["deck"][p + 1]
    s["deck"][last] = NO_KIND  # nothing of the past stays: equal positions are equal bytes
    s["deck_size"] = last
    s["deck_counts"][kind] -= 1
    if s["known"] > 0:
        s["known"] -= 1
    if last == 0:
        if s["depletions"] < 100:
            s["depletions"] += 1
        if s["depletions"] == s["options"][END_DEPLETIONS]:
            s["triggered"] = 1
        refill(s)
    return kind
