"""What a seat sees of the toy game."""

import numpy as np

from tabletop.compiled import kernel


@kernel
def observe(records, i, seat, out):
    s = records[i]
    players = np.int64(s["players"])
    out[:] = 0
    if s["over"] == 0:
        out[(np.int64(s["seat"]) - seat) % players] = 1
    out[4 + players - 2] = 1
    out[7] = s["drawn"]
    out[8] = s["round"]
    out[9] = s["deck_size"]
    for j in range(2):
        card = np.int64(s["hand"][seat, j])
        if card > 0:
            out[10 + card - 1] = 1
    for card in range(12):
        out[22 + card] = s["discard"][card]
    for k in range(players):
        for j in range(2):
            out[34 + k] += s["hand"][(seat + k) % players, j] > 0
    for j in range(s["options"].size):
        out[38 + j] = s["options"][j]
