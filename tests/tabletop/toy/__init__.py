"""High card: a small game with hidden hands, for tests of the kit.

Twelve cards, 1 to 12; each seat is dealt one. In every round each seat keeps its card, or draws one and drops the lower or the
higher of the two. After the last round the highest card wins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tabletop.actions import Actions
from tabletop.layout import Layout, Part
from tabletop.registry import Game, record_dtype
from tabletop.rules import Rules, option

CARDS = 12


@dataclass(frozen=True)
class ToyRules(Rules):
    game: ClassVar[str] = "toy"

    low_wins: bool = option(False, "the lowest card wins")
    groups: bool = option(False, "cards count by threes: the victory may be shared")
    reshuffle: bool = option(False, "the deck is shuffled after every drop")
    rounds: int = option(2, "rounds", 1, 6)


ACTIONS = Actions(["keep", "draw", "drop:low", "drop:high"])

LAYOUT = Layout(
    [
        Part("turn", (4,), 1, "whose turn it is, seats relative; zeros when the game is over"),
        Part("players", (3,), 1, "number of players", ("2", "3", "4")),
        Part("drawn", (), 1, "a card has been drawn: one of two is to be dropped"),
        Part("round", (), 6, "rounds played"),
        Part("deck_size", (), CARDS, "cards in the deck"),
        Part("hand", (CARDS,), 1, "own cards"),
        Part("discard", (CARDS,), 1, "cards dropped"),
        Part("held", (4,), 2, "number of cards held, seats relative"),
        Part("options", (len(ToyRules.names()),), 6, "the rules", ToyRules.names()),
    ]
)

STATE = record_dtype(
    ToyRules,
    [
        ("drawn", np.int8),
        ("round", np.int8),
        ("deck", np.int8, (CARDS,)),  # hidden; the top card is deck[deck_size - 1]; zeros beyond
        ("deck_size", np.int8),
        ("hand", np.int8, (4, 2)),  # hidden from the other seats; 0: no card
        ("discard", np.int8, (CARDS,)),  # 1 for a card dropped
    ],
)


def make(package: str = "toy", name: str = "toy", bound: int = 2) -> Game:
    """The game, with its functions in modules of `package`; it declares at most bound * players * rounds decisions."""
    return Game(name, package, ToyRules, STATE, ACTIONS, LAYOUT, lambda rules, players: bound * players * rules.rounds)


game = make()
