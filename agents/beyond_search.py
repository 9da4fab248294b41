"""What the search of Beyond adds to `agents.tree`: the worth of a position as chances of victory, and playouts by rule of thumb.

The worth is what the value network says (`agents.value_network`), which reads the observation of the seat to act. It was fitted by
`training.fit_value` to games of the heuristic in which some actions were random, of all numbers of players and many variants.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from agents.beyond_heuristic import WEIGHTS, decide
from agents.value_network import ValueNetwork, judge, value_network
from beyond_env.cards import NUM_KINDS, NUM_SPIRITS
from beyond_env.observation import LAYOUT, observe
from beyond_env.reveal import SPIRIT
from beyond_env.state import CHOOSE, REVEAL
from tabletop.compiled import kernel
from tabletop.registry import Game

KERNEL_PACKAGES = ("beyond_env", "agents.beyond_heuristic", "agents.value_network")

#: Options of the search that serve this game best
DEFAULTS = {"playout": "heuristic", "depth": 0, "exploration": 0.2, "widening": 0.25}

WORTH = np.array(list(WEIGHTS.values()), np.float64)
#: by which the inputs of the value network are multiplied
INPUT_SCALE = LAYOUT.scale


class Scratch(NamedTuple):
    """An observation to write into, and the network that judges it."""

    inputs: np.ndarray
    network: ValueNetwork


def scratch(game: Game) -> Scratch:
    return Scratch(np.zeros(game.layout.size, game.layout.dtype), value_network(game.name))


@kernel
def forget(records, i, seat):
    """Sort the hidden part of the deck, but for a top card of the symbol that all see: the lowest kind of it."""
    s = records[i]
    deck = s["deck"]
    hidden = np.int64(s["deck_size"]) - np.int64(s["known"])
    if hidden <= 0:
        return
    symbol = deck[hidden - 1] % 2
    for end in range(1, hidden):  # insertion: this is done once a search
        card = deck[end]
        at = end
        while at > 0 and deck[at - 1] > card:
            deck[at] = deck[at - 1]
            at -= 1
        deck[at] = card
    if s["known"] == 0:
        at = 0
        while deck[at] % 2 != symbol:
            at += 1
        card = deck[at]
        for k in range(at, hidden - 1):
            deck[k] = deck[k + 1]
        deck[hidden - 1] = card


@kernel
def quiet(records, i):
    """A turn begins: its first card lies there. (Values from the middle of turns are not as comparable.)"""
    s = records[i]
    return s["phase"] == REVEAL and s["num_revealed"] == 1


@kernel
def outcome(records, i):
    """The spirit of the card revealed last, or the cards looked at; and the symbol that the deck shows now."""
    s = records[i]
    what = 0
    if s["phase"] == CHOOSE:
        for at in range(s["deck_size"] - s["looked"], s["deck_size"]):
            what = what * NUM_KINDS + s["deck"][at]
    elif s["num_revealed"] > 0:
        what = np.int64(SPIRIT[s["revealed"][s["num_revealed"] - 1]])
    elif s["num_queue"] > 0:
        what = np.int64(SPIRIT[s["queue"][s["num_queue"] - 1]])
    if s["deck_size"] > 0:
        what = 2 * what + np.int64(s["deck"][s["deck_size"] - 1] % 2)
    return 1 + what


@kernel
def describe(records, i, scratch):
    """Write what the value network goes by: the observation of the seat to act."""
    observe(records, i, np.int64(records[i]["seat"]), scratch.inputs)


@kernel
def evaluate(work, i, masks, scratch, values):
    """Write the expected reward of each seat: of its chance to win, as the value network has it."""
    describe(work, i, scratch)
    judge(scratch.network, scratch.inputs, np.int64(work[i]["seat"]), np.int64(work[i]["players"]), values)


@kernel
def playout_action(work, masks, scratch):
    """The heuristic's action."""
    observe(work, 0, np.int64(work[0]["seat"]), scratch.inputs)
    return decide(scratch.inputs, masks[0], WORTH, np.zeros(NUM_SPIRITS + 1), np.zeros(NUM_SPIRITS + 1))
