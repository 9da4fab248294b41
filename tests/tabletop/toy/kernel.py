"""The rules of the toy game."""

import numpy as np

from tabletop.compiled import kernel
from tabletop.stream import shuffle
from toy import ToyRules

LOW_WINS, GROUPS, RESHUFFLE, ROUNDS = (ToyRules.place(name) for name in ("low_wins", "groups", "reshuffle", "rounds"))
KEEP, DRAW, DROP_LOW, DROP_HIGH = range(4)
CARDS = 12


@kernel
def deal(records, i):
    s = records[i]
    s["decisions"] = 0
    s["over"] = 0
    s["seat"] = 0
    s["drawn"] = 0
    s["round"] = 0
    s["won"][:] = 0
    s["hand"][:] = 0
    s["discard"][:] = 0
    for card in range(CARDS):
        s["deck"][card] = card + 1
    s["deck_size"] = CARDS
    shuffle(s["stream"], s["deck"], CARDS)
    for seat in range(s["players"]):
        s["hand"][seat, 0] = take_top(s)


@kernel
def take_top(s):
    last = np.int64(s["deck_size"]) - 1
    card = np.int64(s["deck"][last])
    s["deck"][last] = 0
    s["deck_size"] = last
    return card


@kernel
def legal(records, i, mask):
    s = records[i]
    mask[:] = 0
    if s["drawn"]:
        mask[DROP_LOW] = 1
        mask[DROP_HIGH] = 1
    else:
        mask[KEEP] = 1
        mask[DRAW] = s["deck_size"] > 0


@kernel
def apply(records, i, action):
    s = records[i]
    hand = s["hand"][s["seat"]]
    if action == DRAW:
        hand[1] = take_top(s)
        s["drawn"] = 1
        return
    if action != KEEP:
        low = min(hand[0], hand[1])
        high = max(hand[0], hand[1])
        dropped = low if action == DROP_LOW else high
        hand[0] = high if action == DROP_LOW else low
        hand[1] = 0
        s["discard"][dropped - 1] = 1
        s["drawn"] = 0
        if s["options"][RESHUFFLE]:
            shuffle(s["stream"], s["deck"], np.int64(s["deck_size"]))
    end_turn(s)


@kernel
def end_turn(s):
    s["seat"] += 1
    if s["seat"] == s["players"]:
        s["seat"] = 0
        s["round"] += 1
        if s["round"] == s["options"][ROUNDS]:
            finish(s)


@kernel
def worth(s, seat):
    card = np.int64(s["hand"][seat, 0])
    if s["options"][GROUPS]:
        card = (card - 1) // 3
    return -card if s["options"][LOW_WINS] else card


@kernel
def finish(s):
    best = np.int64(-100)
    for seat in range(s["players"]):
        best = max(best, worth(s, seat))
    for seat in range(s["players"]):
        s["won"][seat] = worth(s, seat) == best
    s["over"] = 1
    s["seat"] = -1


@kernel
def determinize(records, i, seat):
    """All cards that the seat does not see are shuffled and dealt to where such cards lie."""
    s = records[i]
    pool = np.zeros(CARDS, np.int8)
    size = 0
    for at in range(s["deck_size"]):
        pool[size] = s["deck"][at]
        size += 1
    for other in range(s["players"]):
        for j in range(2):
            if other != seat and s["hand"][other, j] > 0:
                pool[size] = s["hand"][other, j]
                size += 1
    shuffle(s["stream"], pool, size)
    for at in range(s["deck_size"]):
        size -= 1
        s["deck"][at] = pool[size]
    for other in range(s["players"]):
        for j in range(2):
            if other != seat and s["hand"][other, j] > 0:
                size -= 1
                s["hand"][other, j] = pool[size]
