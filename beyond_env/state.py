"""The record of a Beyond position, who may see each field, and setting a position up from a given deck.

Hidden from every seat are only `deck`'s order and the random `stream`; all else is public (rules: What a player knows). Of the
deck, all know `deck_counts`, the top card's symbol, and the top `known` cards themselves.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from beyond_env.cards import COPIES_OF_KIND, KINDS, NUM_CARDS, NUM_KINDS, NUM_SPIRITS
from beyond_env.rules import BeyondRules
from tabletop.errors import SetupError, listed
from tabletop.registry import record_dtype
from tabletop.stream import shuffle

REVEAL, RESCUE, PLACE, ACT, CHOOSE, RECLAIM = range(6)
PHASES = ("reveal", "rescue", "place", "act", "choose", "reclaim")
NO_KIND = -1
MOST_REVEALED = 5  # the fifth different spirit, or the busting card after four

PER_SEAT_KINDS = (4, NUM_KINDS)
PER_SEAT_SPIRITS = (4, NUM_SPIRITS)

STATE = record_dtype(
    BeyondRules,
    [
        # the turn
        ("phase", np.int8),  # one of the six above
        ("turns", np.int32),  # turns begun
        ("triggered", np.int8),  # the end has been triggered: the round is finished
        ("depletions", np.int8),  # counted up to 100, for more do nothing
        # the deck and the piles
        ("deck", np.int8, (NUM_CARDS,)),  # hidden: kinds from the bottom; the top card is deck[deck_size - 1], -1 beyond
        ("deck_size", np.int8),
        ("deck_counts", np.int8, (NUM_KINDS,)),
        ("known", np.int8),  # number of cards on top of the deck whose kinds all players know
        ("discard", np.int8, (NUM_KINDS,)),
        ("centre_nian", np.int8),
        ("supply", np.int8),
        # phases 1 and 2
        ("revealed", np.int8, (MOST_REVEALED,)),  # kinds in the order revealed; -1 beyond num_revealed
        ("num_revealed", np.int8),
        ("rescued", np.int8, (MOST_REVEALED,)),  # 1 for the revealed cards that were rescued
        ("queue", np.int8, (MOST_REVEALED,)),  # collected kinds still to be placed, next one first; -1 beyond num_queue
        ("num_queue", np.int8),
        # a summon's choice
        ("summoned_spirit", np.int8),  # whose effect is being chosen, else -1
        ("looked", np.int8),  # number of cards on top of the deck being looked at (they are known)
        # the seats; nothing of it is hidden
        ("pool", np.int8, PER_SEAT_KINDS),
        ("protected", np.int8, PER_SEAT_KINDS),  # of the pool cards, those with a token
        ("slots", np.int8, PER_SEAT_KINDS),
        ("enchanted", np.int8, PER_SEAT_KINDS),  # cards in enchantments
        ("enchantments", np.int8, PER_SEAT_SPIRITS),
        ("summoned", np.int8, PER_SEAT_SPIRITS),  # of the enchantments, those with a token
        ("nian", np.int8, (4,)),
        ("tokens", np.int8, (4,)),  # on the stock card
    ],
)

#: Fields that not every seat sees; each seat sees what `observation` tells it of them. (The stream is hidden in every game.)
HIDDEN = ("deck",)

#: Set-ups that `reset(options=…)` takes, besides `record` and `text`
SET_UP = {"deck": "kinds from the top of the deck, by name; cards not named lie shuffled under them"}


def set_up(records: np.ndarray, options: dict[str, Any]) -> None:
    """Set up a game from its first card on, with a given deck, in row 0, which is dealt."""
    from beyond_env.deck import begin
    from beyond_env.reveal import start_turn

    cards = options["deck"]
    if isinstance(cards, str) or not hasattr(cards, "__iter__"):
        raise SetupError("deck must be a list of kinds by name, from the top")
    cards = list(cards)
    for card in cards:
        if card not in KINDS:
            raise SetupError(f"no card is called {card!r}; cards are {listed(KINDS, 20)}")
    counts = [cards.count(kind) for kind in KINDS]
    for kind, count, copies in zip(KINDS, counts, COPIES_OF_KIND, strict=True):
        if count > copies:
            raise SetupError(f"the deck asked for has {count} cards of {kind}; there are {copies}")
    rest = np.repeat(np.arange(NUM_KINDS), np.array(COPIES_OF_KIND) - np.array(counts)).astype(np.int8)
    shuffle(records[0]["stream"], rest, rest.size)
    begin(records[0])
    records["deck"][0] = np.concatenate([rest, [KINDS.index(card) for card in reversed(cards)]])
    start_turn(records[0])
