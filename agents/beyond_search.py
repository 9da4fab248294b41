"""What the search of Beyond adds to `agents.tree`: the worth of a position as chances of victory, and playouts by rule of thumb.

The worth of the seats in points is that of the heuristic (`agents.beyond_heuristic`). Chances are a softmax over the seats of it; a
point counts more the nearer the end is. The constants were fitted by maximum likelihood to games of the heuristic against itself in
which every tenth action was random (4,000 games each for 2, 3 and 4 players; see docs/search.md).
"""

from __future__ import annotations

import numpy as np

from agents.beyond_heuristic import WEIGHTS, decide, seat_value
from beyond_env.cards import NUM_CARDS, NUM_KINDS, NUM_SPIRITS
from beyond_env.observation import observe
from beyond_env.reveal import SPIRIT
from beyond_env.rules import END_DEPLETIONS, END_DISTINCT, END_ENCHANTMENTS
from beyond_env.state import CHOOSE, REVEAL
from tabletop.compiled import kernel
from tabletop.registry import Game

KERNEL_PACKAGES = ("beyond_env", "agents.beyond_heuristic")

#: Options of the search that serve this game best
DEFAULTS = {"playout": "heuristic", "depth": 0, "exploration": 0.7, "widening": 0.5}

WORTH = np.array(list(WEIGHTS.values()), np.float64)
# for two players, and for more: what a point counts at the start of the game, what it counts more when a seat has all the enchantments
# that end it, and when the deck has run out but for the last time; what it counts once the end is triggered
POINT = np.array([0.097, -0.027])
POINT_ENCHANTED = np.array([0.086, 0.09])
POINT_SPENT = np.array([0.038, 0.128])
POINT_TRIGGERED = np.array([0.295, 0.44])
LEAST_POINT = 0.02
# points that the turn is worth to the seat that begins it, in the same four cases; and to the next seat, before the end is triggered
TURN = np.array([1.3, 3.4])
TURN_ENCHANTED = np.array([-1.9, -0.7])
TURN_SPENT = np.array([6.2, 2.0])
TURN_TRIGGERED = np.array([-1.1, 1.8])
NEXT_TURN = np.array([0.0, 3.0])


def scratch(game: Game) -> np.ndarray:
    """An observation to write into."""
    return np.zeros(game.layout.size, game.layout.dtype)


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
def nearest_end(s):
    """How near the seat with most enchantments is to triggering the end: 0 to 1."""
    most = 0
    for seat in range(np.int64(s["players"])):
        count = 0
        for spirit in range(NUM_SPIRITS):
            n = np.int64(s["enchantments"][seat, spirit])
            count += min(n, 1) if s["options"][END_DISTINCT] else n
        most = max(most, count)
    return min(most / s["options"][END_ENCHANTMENTS], 1.0)


@kernel
def evaluate(work, i, masks, scratch, values):
    """Write the expected reward of each seat: of its chance to win, by the points that the seats stand for."""
    s = work[i]
    players = np.int64(s["players"])
    me = np.int64(s["seat"])
    observe(work, i, me, scratch)
    n = 0 if players == 2 else 1
    enchanted = nearest_end(s)
    spent = (s["depletions"] + (NUM_CARDS - s["deck_size"]) / NUM_CARDS) / max(s["options"][END_DEPLETIONS] - 1, 1)
    spent = min(spent, 1.0)
    if s["triggered"]:
        point = POINT_TRIGGERED[n]
        turn = TURN_TRIGGERED[n]
    else:
        point = max(POINT[n] + POINT_ENCHANTED[n] * enchanted + POINT_SPENT[n] * spent, LEAST_POINT)
        turn = TURN[n] + TURN_ENCHANTED[n] * enchanted + TURN_SPENT[n] * spent
    most = -1e9
    for k in range(players):
        points = seat_value(scratch, WORTH, k, players)
        if k == 0:
            points += turn
        elif k == 1 and not s["triggered"]:
            points += NEXT_TURN[n]
        chance = point * points
        values[(me + k) % players] = chance
        most = max(most, chance)
    total = 0.0
    for seat in range(players):
        values[seat] = np.exp(values[seat] - most)
        total += values[seat]
    for seat in range(values.size):
        chance = values[seat] / total
        values[seat] = chance - (1.0 - chance) / (players - 1) if seat < players else 0.0


@kernel
def playout_action(work, masks, scratch):
    """The heuristic's action."""
    observe(work, 0, np.int64(work[0]["seat"]), scratch)
    return decide(scratch, masks[0], WORTH, np.zeros(NUM_SPIRITS + 1), np.zeros(NUM_SPIRITS + 1))
