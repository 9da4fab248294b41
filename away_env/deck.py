"""The deck and the discard pile (rules: The discard pile after each event)."""

from __future__ import annotations

import numpy as np

from away_env.cards import HAND
from away_env.state import DECK, NO_CARD, PILE
from tabletop.compiled import kernel
from tabletop.stream import shuffle


@kernel
def put_on_pile(s, card):
    """The card goes face up on the discard pile."""
    s["pile"][s["pile_size"]] = card
    s["pile_size"] += 1
    s["place"][card] = PILE


@kernel
def take_from_pile(s):
    """Take the top card of the discard pile, which is not empty."""
    size = np.int64(s["pile_size"]) - 1
    card = np.int64(s["pile"][size])
    s["pile"][size] = -1
    s["pile_size"] = size
    return card


@kernel
def refill(s):
    """All of the discard pile but its top card is shuffled into a new deck."""
    size = np.int64(s["pile_size"]) - 1
    for at in range(size):
        card = s["pile"][at]
        s["deck"][at] = card
        s["place"][card] = DECK
        s["pile"][at] = NO_CARD
    s["pile"][0] = s["pile"][size]
    if size > 0:
        s["pile"][size] = NO_CARD
    s["pile_size"] = 1
    s["deck_size"] = size
    shuffle(s["stream"], s["deck"], size)


@kernel
def draw(s):
    """Take the deck's top card; -1 if there is none and nothing to shuffle."""
    if s["deck_size"] == 0:
        if s["pile_size"] < 2:
            return np.int64(NO_CARD)
        refill(s)
    size = np.int64(s["deck_size"]) - 1
    card = np.int64(s["deck"][size])
    s["deck"][size] = NO_CARD
    s["deck_size"] = size
    return card


@kernel
def draw_hand(s, seat):
    """Draw up to five cards."""
    while s["hand_size"][seat] < HAND:
        card = draw(s)
        if card < 0:
            return
        s["place"][card] = seat
        s["hand_size"][seat] += 1
