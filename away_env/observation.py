"""What a seat sees of a_way: the layout of the flat observation, and its encoder.

Cells, ports and orientations are those of the observing seat's own frame. Seats are relative: entry 0 of the per-seat parts is the
observing seat, entry k the opponent k seats on; entries of seats that do not play are zeros.
"""

from __future__ import annotations

import numpy as np

from away_env.cards import (
    ACTION_CARDS,
    CARDS,
    DESIGN_NAMES,
    FACE,
    FACTIONS,
    FIRST_SOLAR,
    HAND,
    MOST_STATIONS,
    NUM_CARDS,
    NUM_DESIGNS,
    NUM_ON_TABLE,
    PIRATE_RAID,
    PORTS,
    SIDE,
)
from away_env.lanes import ALL_STOPS, BASE_PORT, BY_ARROWS, CELL_OF, FRAME, IN, OUT, OWN_OF, destinations, is_card
from away_env.rules import MOST_ROUNDS, AwayRules
from away_env.state import FREE, NO_CARD, NO_CELL, NO_EFFECT, NOT_HOME, NUM_CELLS, PHASES, PILE, TABLE_PLACE, WIDTH
from tabletop.compiled import kernel
from tabletop.layout import Layout, Part

SEATS = AwayRules.max_players
OPTIONS = AwayRules.names()
MAX_ROUNDS = AwayRules.place("max_rounds")
SIZE = AwayRules.place("size")
TABLE_CODE = AwayRules.place("cards")
EFFECTS = (*ACTION_CARDS, "lay", "move")
STOPS = ("base", *map(str, range(1, MOST_STATIONS + 1)))
FAR, NO_WAY = 30, 31  # `moves_home`: so many moves or more; no way
MOST_CELLS = 2 * (SIDE - 1)

#: the planes of the part `board`: those of a cell's `face`, and some with few ones
PLANES = (*FACE, *(f"ship_{k}" for k in range(SEATS)), "named_1", "named_2")

LAYOUT = Layout(
    [
        Part(
            "board",
            (len(PLANES), SIDE, SIDE),
            1,
            "planes of cells: what lies there; in_N: a ship can come in by port N, out_N: leave by it, way_NE: get from N to E (over"
            " stations or not); its stations; the ships of the seats; stops of the own ship's next move; the cells named",
        ),
        Part(
            "lying",
            (3, SIDE, SIDE),
            NUM_ON_TABLE,
            "planes of cells: number + 1 of the card that lies there, in the order of the deck's cards and then the solar ones; of its"
            " design; of its orientation. 0 where none lies",
            typical=NUM_ON_TABLE,
        ),
        Part("phase", (len(PHASES),), 1, "what is being decided; zeros when the game is over", PHASES),
        Part("turn", (SEATS,), 1, "whose turn it is, seats relative; zeros when the game is over"),
        Part("second_part", (), 1, "phase 2 of the turn: the own ship may move"),
        Part("faction", (len(FACTIONS),), 1, "of the cards played this turn", FACTIONS),
        Part("discarded", (), 3, "cards discarded this turn: the top ones of the pile"),
        Part("effect", (len(EFFECTS),), 1, "what is being done", EFFECTS),
        Part("step", (), 3, "how many of its cells, turns or stations have been named", typical=1),
        Part("raided", (SEATS,), 1, "whose ship is raided"),
        Part("named_turn", (len(PORTS),), 1, "orientation named for the first of two cards swapped", tuple("0123")),
        Part("card", (NUM_CARDS,), 1, "the card being laid or whose effect is being done", CARDS),
        Part("laid_design", (NUM_DESIGNS,), 1, "the design of the card being laid", DESIGN_NAMES),
        Part("hand", (NUM_CARDS,), 1, "the own hand", CARDS),
        Part("pile", (NUM_CARDS,), 1, "the discard pile", CARDS),
        Part("pile_top", (NUM_CARDS,), 1, "its top card", CARDS),
        Part("on_table", (NUM_CARDS,), 1, "exploration cards on the table", CARDS),
        Part("deck_size", (), NUM_CARDS, "cards in the deck"),
        Part("pile_size", (), NUM_CARDS, "cards on the discard pile"),
        Part("hand_size", (SEATS,), HAND, "cards in the hands"),
        Part("stop", (SEATS, len(STOPS)), 1, "on which station of its card, or on a base, the ship is", STOPS),
        Part("home", (SEATS,), 1, "the ship has come home"),
        Part("moves_home", (SEATS,), NO_WAY, f"moves home by the lanes as they are, other ships away; {FAR}: or more, {NO_WAY}: no way"),
        Part("cells_home", (SEATS,), MOST_CELLS, "rows and columns between the ship and its home"),
        Part("players", (3,), 1, "number of players", ("2", "3", "4")),
        Part("first", (SEATS,), 1, "who started (seat 0): the last seat before it ends the round"),
        Part("round", (), MOST_ROUNDS, "the round, from 1", typical=30),
        Part("rounds_left", (), MOST_ROUNDS, "rounds after this one before the game is cut off", typical=100),
        Part("size", (), SIDE, "cells on a side of the table"),
        Part("other_table", (), 1, "another card table than the installed one"),
    ]
)

_AT = LAYOUT.start
O_BOARD, O_LYING, O_PHASE, O_TURN, O_SECOND_PART = _AT("board"), _AT("lying"), _AT("phase"), _AT("turn"), _AT("second_part")
O_FACTION, O_DISCARDED, O_EFFECT, O_STEP = _AT("faction"), _AT("discarded"), _AT("effect"), _AT("step")
O_RAIDED, O_NAMED_TURN, O_CARD, O_LAID_DESIGN = _AT("raided"), _AT("named_turn"), _AT("card"), _AT("laid_design")
O_HAND, O_PILE, O_PILE_TOP, O_ON_TABLE = _AT("hand"), _AT("pile"), _AT("pile_top"), _AT("on_table")
O_DECK_SIZE, O_PILE_SIZE, O_HAND_SIZE = _AT("deck_size"), _AT("pile_size"), _AT("hand_size")
O_STOP, O_HOME, O_MOVES_HOME, O_CELLS_HOME = _AT("stop"), _AT("home"), _AT("moves_home"), _AT("cells_home")
O_PLAYERS, O_FIRST, O_ROUND, O_ROUNDS_LEFT = _AT("players"), _AT("first"), _AT("round"), _AT("rounds_left")
O_SIZE, O_OTHER_TABLE = _AT("size"), _AT("other_table")

PLANE = SIDE * SIDE
P_SHIP, P_NAMED_1, P_NAMED_2 = (O_BOARD + PLANE * PLANES.index(name) for name in ("ship_0", "named_1", "named_2"))
EXPLORATION, SOLAR, OWN_HOME, OWN_START, OTHER_BASE, OPEN, REACHABLE = (1 << bit for bit in range(7))  # of `face`
PILE_PLACE, LYING_PLACE = np.int64(PILE), np.int64(TABLE_PLACE)  # numpy's, for numba compiles a copy for every literal
BASE_PORTS_BITS = 1 << IN | 1 << OUT


@kernel
def observe(records, i, seat, out):
    """Write what `seat` knows of row i into out (D,) int8."""
    s = records[i]
    players = np.int64(s["players"])
    observe_board(s, seat, out)
    observe_turn(s, seat, out)
    observe_cards(s, seat, out[O_HAND : O_HAND + NUM_CARDS])
    observe_cards(s, PILE_PLACE, out[O_PILE : O_PILE + NUM_CARDS])
    observe_cards(s, LYING_PLACE, out[O_ON_TABLE : O_ON_TABLE + NUM_CARDS])
    size = np.int64(s["pile_size"])
    if size > 0:
        out[O_PILE_TOP + np.int64(s["pile"][size - 1])] = 1
    out[O_DECK_SIZE] = s["deck_size"]
    out[O_PILE_SIZE] = size
    for k in range(players):
        observe_seat(s, seat, (seat + k) % players, k, out)
    out[O_PLAYERS + players - 2] = 1
    out[O_FIRST + (players - seat) % players] = 1
    out[O_ROUND] = s["round"]
    out[O_ROUNDS_LEFT] = np.int64(s["options"][MAX_ROUNDS]) - np.int64(s["round"])
    out[O_SIZE] = s["options"][SIZE]
    out[O_OTHER_TABLE] = s["options"][TABLE_CODE] != 0


@kernel
def observe_board(s, seat, out):
    """The parts `board` and `lying`, and zeros after them."""
    found = np.empty(NUM_CELLS, np.uint8)
    destinations(s, seat, BY_ARROWS, ALL_STOPS, found)
    faces = np.empty(PLANE, np.uint32)
    frame = FRAME[seat]
    for own in range(PLANE):  # without branches, as free cells and cards follow each other in no order
        cell = CELL_OF[seat, own]
        there = np.int64(s["board"][cell])
        card = there if is_card(there) else np.int64(0)
        face = np.int64(s["face"][s["design"][card], (np.int64(s["turn"][cell]) + frame) & 3])
        face |= SOLAR if there >= FIRST_SOLAR else EXPLORATION
        face = face if is_card(there) else np.int64(OPEN) if there == FREE else np.int64(0)
        faces[own] = face | (REACHABLE if found[cell] else 0)
    for k in range(SEATS):
        if s["base"][k] != NO_CELL:
            what = OWN_START if k == seat else OWN_HOME if k == seat ^ 1 else OTHER_BASE
            faces[OWN_OF[seat, s["base"][k]]] |= what | (BASE_PORTS_BITS << ((BASE_PORT[k] + frame) & 3))
    board = out[O_BOARD : O_BOARD + len(FACE) * PLANE]
    for own in range(PLANE):  # with nothing else in it, this loop is done for many cells at once
        bits = faces[own]
        for bit in range(len(FACE)):
            board[bit * PLANE + own] = (bits >> bit) & 1
    rest = out[P_SHIP:]
    for at in range(rest.size):
        rest[at] = 0
    for own in range(PLANE):
        cell = CELL_OF[seat, own]
        there = np.int64(s["board"][cell])
        if is_card(there):
            out[O_LYING + own] = there + 1
            out[O_LYING + PLANE + own] = s["design"][there] + 1
            out[O_LYING + 2 * PLANE + own] = 1 + ((np.int64(s["turn"][cell]) + frame) & 3)
    first = np.int64(s["target"][0])
    second = np.int64(s["target"][1])
    if s["effect"] == PIRATE_RAID:
        first = second
        second = np.int64(NO_CELL)
    if first >= 0:
        out[P_NAMED_1 + OWN_OF[seat, first]] = 1
    if second >= 0:
        out[P_NAMED_2 + OWN_OF[seat, second]] = 1


@kernel
def observe_cards(s, place, out):
    """Write into out (NUM_CARDS,) which cards are in a place."""
    for card in range(NUM_CARDS):
        out[card] = s["place"][card] == place


@kernel
def observe_turn(s, seat, out):
    """The turn and the decision being made: parts phase to laid_design."""
    players = np.int64(s["players"])
    if s["over"] == 0:
        out[O_PHASE + np.int64(s["phase"])] = 1
        out[O_TURN + (np.int64(s["seat"]) - seat) % players] = 1
    out[O_SECOND_PART] = s["part"] == 2
    if s["faction"] >= 0:
        out[O_FACTION + np.int64(s["faction"])] = 1
    out[O_DISCARDED] = s["discarded"]
    effect = np.int64(s["effect"])
    if effect != NO_EFFECT:
        out[O_EFFECT + effect] = 1
    out[O_STEP] = s["step"]
    if effect == PIRATE_RAID and s["target"][0] >= 0:
        out[O_RAIDED + (np.int64(s["target"][0]) - seat) % players] = 1
    if s["target_turn"] >= 0:
        out[O_NAMED_TURN + ((np.int64(s["target_turn"]) + FRAME[seat]) & 3)] = 1
    card = np.int64(s["card"])
    if card != NO_CARD:
        out[O_CARD + card] = 1
        if s["design"][card] >= 0:
            out[O_LAID_DESIGN + np.int64(s["design"][card])] = 1


@kernel
def observe_seat(s, seat, other, k, out):
    """What all know of the seat `other`, k seats on."""
    out[O_HAND_SIZE + k] = s["hand_size"][other]
    ship = np.int64(s["ship"][other])
    out[P_SHIP + PLANE * k + OWN_OF[seat, ship]] = 1
    out[O_STOP + k * (1 + MOST_STATIONS) + np.int64(s["stop"][other])] = 1
    out[O_HOME + k] = s["home"][other]
    moves = np.int64(s["moves_home"][other])
    out[O_MOVES_HOME + k] = NO_WAY if moves == NOT_HOME else min(moves, FAR)
    home = np.int64(s["base"][other ^ 1])
    out[O_CELLS_HOME + k] = abs(ship // WIDTH - home // WIDTH) + abs(ship % WIDTH - home % WIDTH)
