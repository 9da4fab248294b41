"""The record of an a_way position, who may see each field, and setting a position up from given solar cards and a given deck.

Hidden from a seat are the other hands and the deck's order, and the random `stream`: `place` of the cards that are in another hand
or in the deck (which of the two), and `deck`. All else is public (rules: What a player knows).

The table lies in the middle of a field of 11 x 11 cells, row by row, so that every cell of the table has four neighbours; `cell`
below is a place in that field, in the table's own frame, which is that of seat 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from away_env.cards import (
    CARDS,
    DESIGN_NAMES,
    FIRST_BASE,
    FIRST_SOLAR,
    MAX_PLAYERS,
    NUM_CARDS,
    NUM_SOLAR,
    SIDE,
    TABLE_FIELDS,
)
from away_env.rules import AwayRules
from tabletop.errors import SetupError, listed
from tabletop.registry import record_dtype

WIDTH = SIDE + 2  # of the field
NUM_CELLS = WIDTH * WIDTH

FREE, OFF = -1, -2  # on `board`: no card and no base; not a cell of the table
NO_CARD, NO_CELL, NO_SEAT, NO_FACTION = -1, -1, -1, -1

#: what is being decided
ACT, PLAY, DISCARD, SHIP, SEAT, CELL, STOP, TURN, LINE = range(9)
PHASES = ("act", "play", "discard", "ship", "seat", "cell", "stop", "turn", "line")
#: `effect`: an action card (its number in ACTION_CARDS) or one of these
LAY, MOVE, NO_EFFECT = 13, 14, -1
#: `place` of a card of the deck; 0 to 3: in that seat's hand
DECK, PILE, TABLE_PLACE, LAID, NOWHERE = 4, 5, 6, 7, -1
NOT_HOME = 127  # `moves_home` when no lanes lead home

STATE = record_dtype(
    AwayRules,
    [
        # the turn
        ("round", np.int8),  # from 1
        ("part", np.int8),  # phase 1 or 2 of the turn
        ("phase", np.int8),  # what is being decided: one of the nine above
        ("faction", np.int8),  # of the cards played this turn, -1 before the first
        ("discarded", np.int8),  # cards discarded this turn: the top ones of the pile
        # the decision being made
        ("effect", np.int8),  # what is being done, else -1
        ("step", np.int8),  # how many of its cells, turns or stations have been named
        ("card", np.int8),  # the card being laid or whose effect is being done, else -1
        ("target", np.int8, (2,)),  # cells named; in a raid first the seat raided, then the cell; -1 where not named
        ("target_turn", np.int8),  # orientation named for the first of two cards swapped, else -1
        # the table
        ("board", np.int8, (NUM_CELLS,)),  # the number of the card or base (FIRST_BASE + seat that starts on it), FREE or OFF
        ("turn", np.int8, (NUM_CELLS,)),  # orientation of the card, 0 elsewhere
        ("base", np.int8, (MAX_PLAYERS,)),  # cell of the base that seat k starts on, -1 without such a base
        ("ship", np.int8, (MAX_PLAYERS,)),  # cell of each seat's ship, -1 without one
        ("stop", np.int8, (MAX_PLAYERS,)),  # its station, 0 on a base
        ("home", np.int8, (MAX_PLAYERS,)),  # 1 when it has come home
        ("moves_home", np.int8, (MAX_PLAYERS,)),  # moves from there to its home by lanes, other ships away; NOT_HOME if there is no way
        # the cards
        ("place", np.int8, (NUM_CARDS,)),  # where each card of the deck is; hands and deck hidden as said above
        ("hand_size", np.int8, (MAX_PLAYERS,)),
        ("deck", np.int8, (NUM_CARDS,)),  # hidden: from the bottom; the top card is deck[deck_size - 1], -1 beyond
        ("deck_size", np.int8),
        ("pile", np.int8, (NUM_CARDS,)),  # the discard pile from the bottom, -1 beyond pile_size
        ("pile_size", np.int8),
        # the card table: a record is complete without its file
        *TABLE_FIELDS,
    ],
)

#: Fields that not every seat sees; each seat sees what `observation` tells it of them. (The stream is hidden in every game.)
HIDDEN = ("place", "deck")


def conserved(record: Any) -> Any:
    """What dealing the hidden cards again keeps: how many cards are where, and which are in hands or in the deck."""
    pooled = [card for card in range(NUM_CARDS) if 0 <= record["place"][card] <= DECK]
    deck = sorted(int(card) for card in record["deck"][: record["deck_size"]])
    in_order = deck == [card for card in pooled if record["place"][card] == DECK]
    return sorted(record["place"].tolist()), pooled, in_order


#: Set-ups that `reset(options=…)` takes, besides `record` and `text`
SET_UP = {
    "solar": "the nine solar cards, row by row, each as (design, orientation)",
    "deck": "cards from the top of the deck, before hands are drawn, by name; cards not named lie shuffled under them",
}


def set_up(records: np.ndarray, options: dict[str, Any]) -> None:
    """Set up a game from its start with given solar cards, a given deck, or both, in row 0, which is dealt."""
    from away_env.kernel import begin, start_game

    solar = read_solar(records[0], options["solar"]) if "solar" in options else None
    deck = read_deck(records[0], options["deck"]) if "deck" in options else ()
    begin(records[0])
    if solar is not None:
        from away_env.lanes import SOLAR_CELLS

        for cell, (card, orientation) in zip(SOLAR_CELLS, solar, strict=True):
            records["board"][0, cell] = card
            records["turn"][0, cell] = orientation
    if deck:
        top = list(records["deck"][0, : records["deck_size"][0]])
        top = [card for card in top if card not in deck] + list(reversed(deck))
        records["deck"][0, : len(top)] = top
    start_game(records[0])


def read_solar(record: Any, given: Any) -> list[tuple[int, int]]:
    """Solar cards asked for by (design, orientation), as (card, orientation)."""
    if isinstance(given, str) or not hasattr(given, "__len__") or len(given) != NUM_SOLAR:
        raise SetupError(f"solar must be {NUM_SOLAR} pairs (design, orientation), row by row")
    left = {card: DESIGN_NAMES[record["design"][card]] for card in range(FIRST_SOLAR, FIRST_BASE)}
    names = sorted(left.values())
    read = []
    for entry in given:
        if isinstance(entry, str) or not hasattr(entry, "__len__") or len(entry) != 2:
            raise SetupError(f"a solar card is given as (design, orientation), not {entry!r}")
        name, orientation = entry
        if isinstance(orientation, bool) or not isinstance(orientation, int | np.integer) or not 0 <= orientation <= 3:
            raise SetupError(f"an orientation is 0 to 3, not {orientation!r}")
        card = next((card for card in sorted(left) if left[card] == name), None)
        if card is None:
            raise SetupError(f"there is no solar card {name!r} left; the solar cards are {listed(names)}")
        del left[card]
        read.append((card, int(orientation)))
    return read


def read_deck(record: Any, given: Any) -> list[int]:
    """Cards of the deck asked for by name, from the top, as numbers."""
    if isinstance(given, str) or not hasattr(given, "__iter__"):
        raise SetupError("deck must be a list of cards by name, from the top")
    read: list[int] = []
    for name in given:
        card = CARDS.index(name) if name in CARDS else -1
        if card < 0 or not record["in_deck"][card]:
            raise SetupError(
                f"no card is called {name!r}; cards are {listed([c for i, c in enumerate(CARDS) if record['in_deck'][i]], 70)}"
            )
        if card in read:
            raise SetupError(f"the deck asked for has {name} twice; there is one")
        read.append(card)
    return read
