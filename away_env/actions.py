"""The 249 actions of a_way, by name, and where each block of them begins. Cells, rows, columns and turns are the acting seat's own."""

from __future__ import annotations

from away_env.cards import CARDS, MAX_PLAYERS, MOST_STATIONS, PORTS, SIDE
from tabletop.actions import Actions

ACTIONS = Actions(
    [
        *(f"play:{card}" for card in CARDS),
        *(f"discard:{card}" for card in CARDS),
        *(f"cell:{row},{column}" for row in range(SIDE) for column in range(SIDE)),
        *(f"turn:{quarters}" for quarters in range(len(PORTS))),
        *(f"stop:{station}" for station in range(1, MOST_STATIONS + 1)),
        *(f"seat:{k}" for k in range(1, MAX_PLAYERS)),
        *(f"row:{row}" for row in range(SIDE)),
        *(f"col:{column}" for column in range(SIDE)),
        "move",
        "pass",
        "done",
    ]
)

A_PLAY = ACTIONS.first("play")  # + card
A_DISCARD = ACTIONS.first("discard")  # + card
A_CELL = ACTIONS.first("cell")  # + 9 x row + column
A_TURN = ACTIONS.first("turn")  # + quarter turns clockwise
A_STOP = ACTIONS.first("stop")  # + station - 1
A_SEAT = ACTIONS.first("seat")  # + seats on - 1
A_ROW = ACTIONS.first("row")  # + row; the columns follow the rows
A_MOVE = ACTIONS.id("move")
A_PASS = ACTIONS.id("pass")
A_DONE = ACTIONS.id("done")

MEANINGS = {
    "play:<card>.<faction>": "play that card from the hand",
    "discard:<card>.<faction>": "discard that card from the hand",
    "cell:<row>,<column>": "name a cell: where a card is laid or lies, or where a ship goes",
    "turn:<quarters>": "the orientation of a card, in quarter turns clockwise",
    "stop:<station>": "the station of the cell named, where several are possible; numbered as in the card table",
    "seat:<k>": "the opponent k seats on, whose ship is raided",
    "row:<row>": "the row that a black hole removes",
    "col:<column>": "the column that a black hole removes",
    "move": "move the own ship one station",
    "pass": "do not move the own ship in phase 2",
    "done": "play or discard no more",
}
