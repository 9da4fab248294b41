"""The rules of a_way, compiled: deal, legal, apply, determinize. Functions are named in the words of the rules.

Inside, `s` is one record; the public functions take a record array and a row. What lies on the table and where ships can go is in
`lanes`, what may be played and named in `targets`, what cards and moves do in `effects`, how a turn goes on in `turn`.
"""

from __future__ import annotations

import numpy as np

from away_env.actions import A_CELL, A_DISCARD, A_DONE, A_MOVE, A_PASS, A_PLAY, A_ROW, A_SEAT, A_STOP, A_TURN
from away_env.cards import (
    FIRST_BASE,
    FIRST_SOLAR,
    MAX_PLAYERS,
    NUM_CARDS,
    NUM_EXPLORATION,
    NUM_SOLAR,
    SIDE,
)
from away_env.deck import draw_hand
from away_env.effects import SIZE, measure_ways, remove_line
from away_env.lanes import BASE_CELLS, BASE_PORT, BY_ARROWS, CELL_OF, CELLS, FRAME, SOLAR_CELLS, STEP, can_move
from away_env.state import (
    ACT,
    CELL,
    DECK,
    DISCARD,
    FREE,
    LINE,
    MOVE,
    NO_CARD,
    NO_CELL,
    NO_FACTION,
    NOWHERE,
    OFF,
    PLAY,
    SEAT,
    SHIP,
    STOP,
    TURN,
)
from away_env.targets import can_play, legal_cells, legal_lines, legal_seats, legal_stops, legal_turns
from away_env.turn import (
    FACTION,
    MOST_DISCARDED,
    discard,
    end_effect,
    end_turn,
    forget_decision,
    leave_hand,
    name_cell,
    name_seat,
    name_stop,
    name_turn,
    play,
    start_phase_2,
    start_turn,
)
from tabletop.compiled import kernel
from tabletop.stream import draw_below, shuffle

TURNS = np.int64(4)


# -- set-up ------------------------------------------------------------------------------------------------------------


@kernel
def begin(s):
    """The table before hands are drawn: bases and ships, the solar cards and the deck shuffled, each solar card turned."""
    forget_decision(s)
    s["decisions"] = 0
    s["over"] = 0
    s["seat"] = 0
    s["round"] = 1
    margin = (SIDE - np.int64(s["options"][SIZE])) // 2
    s["board"][:] = OFF
    s["turn"][:] = 0
    for row in range(margin, SIDE - margin):
        for column in range(margin, SIDE - margin):
            s["board"][CELLS[row * SIDE + column]] = FREE
    players = np.int64(s["players"])
    for k in range(MAX_PLAYERS):
        s["won"][k] = 0
        s["home"][k] = 0
        s["stop"][k] = 0
        s["hand_size"][k] = 0
        s["moves_home"][k] = 0
        s["base"][k] = NO_CELL
        s["ship"][k] = NO_CELL
        if k < 2 or players > 2:
            cell = BASE_CELLS[k] + margin * STEP[BASE_PORT[k]]
            s["base"][k] = cell
            s["board"][cell] = FIRST_BASE + k
            if k < players:
                s["ship"][k] = cell
    solar = np.arange(FIRST_SOLAR, FIRST_SOLAR + NUM_SOLAR)
    shuffle(s["stream"], solar, solar.size)
    for k in range(NUM_SOLAR):
        s["board"][SOLAR_CELLS[k]] = solar[k]
        s["turn"][SOLAR_CELLS[k]] = draw_below(s["stream"], TURNS)
    s["deck"][:] = NO_CARD
    s["pile"][:] = NO_CARD
    s["pile_size"] = 0
    size = np.int64(0)
    for card in range(NUM_CARDS):
        s["place"][card] = NOWHERE
        if s["in_deck"][card]:
            s["place"][card] = DECK
            s["deck"][size] = card
            size += 1
    s["deck_size"] = size
    shuffle(s["stream"], s["deck"], size)


@kernel
def start_game(s):
    """Each seat in turn draws its hand; seat 0 begins."""
    measure_ways(s)
    for seat in range(np.int64(s["players"])):
        draw_hand(s, seat)
    start_turn(s)


@kernel
def deal(records, i):
    """Set-up; then seat 0 is to act."""
    s = records[i]
    begin(s)
    start_game(s)


# -- what may be done --------------------------------------------------------------------------------------------------


@kernel
def legal(records, i, mask):
    """Write the mask (249,) of the seat to act."""
    s = records[i]
    mask[:] = 0
    phase = s["phase"]
    seat = np.int64(s["seat"])
    if phase in (ACT, PLAY):
        legal_plays(s, seat, mask)
    if phase == ACT or (phase == DISCARD and s["discarded"] < MOST_DISCARDED):
        discards = mask[A_DISCARD : A_DISCARD + NUM_CARDS]
        for card in range(NUM_CARDS):
            discards[card] = s["place"][card] == seat
    if phase == ACT:
        mask[A_MOVE] = can_move(s, seat, BY_ARROWS)
    elif phase in (PLAY, DISCARD):
        mask[A_DONE] = 1
    elif phase == SHIP:
        mask[A_PASS] = 1
        mask[A_MOVE] = can_move(s, seat, BY_ARROWS)
    elif phase == CELL:
        legal_cells(s, seat, mask)
    elif phase == STOP:
        legal_stops(s, seat, mask)
    elif phase == TURN:
        legal_turns(s, seat, mask)
    elif phase == SEAT:
        legal_seats(s, seat, mask)
    elif phase == LINE:
        legal_lines(s, seat, mask)


@kernel
def legal_plays(s, seat, mask):
    """The cards of the hand that can be played, of the turn's faction if it has one."""
    laying = -1  # can an exploration card be laid? not yet known
    for card in range(NUM_CARDS):
        if s["place"][card] == seat and (s["faction"] == NO_FACTION or s["faction"] == FACTION[card]):
            if card >= NUM_EXPLORATION:
                mask[A_PLAY + card] = can_play(s, seat, card)
            else:
                if laying < 0:
                    laying = np.int64(can_play(s, seat, card))
                mask[A_PLAY + card] = laying


@kernel
def apply(records, i, action):
    """Do a legal action."""
    s = records[i]
    if action < A_DISCARD:
        leave_hand(s, action - A_PLAY)
        play(s, action - A_PLAY)
    elif action < A_CELL:
        discard(s, action - A_DISCARD)
    elif action < A_TURN:
        name_cell(s, CELL_OF[s["seat"], action - A_CELL])
    elif action < A_STOP:
        name_turn(s, (action - A_TURN - FRAME[s["seat"]]) % 4)
    elif action < A_SEAT:
        name_stop(s, action - A_STOP + 1)
    elif action < A_ROW:
        name_seat(s, action - A_SEAT + 1)
    elif action < A_MOVE:
        remove_line(s, np.int64(s["seat"]), action - A_ROW)
        end_effect(s)
    elif action == A_MOVE:
        s["effect"] = MOVE
        s["phase"] = CELL
    elif action == A_PASS:
        end_turn(s)
    else:
        start_phase_2(s)


# -- hidden information ------------------------------------------------------------------------------------------------


@kernel
def determinize(records, i, seat):
    """Deal the other hands and the deck again: they are one pool of cards, of which each hand gets as many as it has."""
    s = records[i]
    pool = np.empty(NUM_CARDS, np.int64)
    size = np.int64(0)
    for card in range(NUM_CARDS):
        place = np.int64(s["place"][card])
        if place == DECK or (0 <= place < MAX_PLAYERS and place != seat):
            pool[size] = card
            size += 1
    shuffle(s["stream"], pool, size)
    at = 0
    for other in range(np.int64(s["players"])):
        if other != seat:
            for _ in range(s["hand_size"][other]):
                s["place"][pool[at]] = other
                at += 1
    for k in range(s["deck_size"]):
        s["deck"][k] = pool[at]
        s["place"][pool[at]] = DECK
        at += 1
