"""An a_way position written from an observation alone: what the seat sees, and a guess at what it does not see.

Hands of others and the deck are dealt as they come from the cards that must be there; nothing may rest on them.
"""

from __future__ import annotations

import numpy as np

from away_env import observation as o
from away_env.cards import FIRST_BASE, MAX_PLAYERS, MOST_STATIONS, NUM_CARDS, NUM_EXPLORATION, PIRATE_RAID
from away_env.effects import SIZE
from away_env.kernel import forget_decision
from away_env.lanes import BASE_PORT, CELL_OF, FRAME
from away_env.state import DECK, FREE, LAID, NO_CARD, NO_CELL, NO_FACTION, NOWHERE, OFF, PILE, TABLE_PLACE
from away_env.turn import MAX_ROUNDS
from tabletop.compiled import kernel

KERNEL_PACKAGES = ("away_env",)


@kernel
def only(obs, at, size):
    """Place of the one among `size` entries, or -1."""
    for j in range(size):
        if obs[at + j]:
            return j
    return -1


@kernel
def rebuild(obs, s):
    """Write the position into s, whose options and card table are set; the acting seat's number is returned."""
    players = 2 + only(obs, o.O_PLAYERS, 3)
    me = (players - only(obs, o.O_FIRST, MAX_PLAYERS)) % players
    s["players"] = players
    s["seat"] = me
    s["over"] = 0
    s["decisions"] = 0
    s["limit"] = 1 << 30
    s["won"][:] = 0
    s["options"][SIZE] = obs[o.O_SIZE]
    s["options"][MAX_ROUNDS] = obs[o.O_ROUND] + obs[o.O_ROUNDS_LEFT]
    s["round"] = obs[o.O_ROUND]
    s["part"] = 2 if obs[o.O_SECOND_PART] else 1
    forget_decision(s)
    s["phase"] = only(obs, o.O_PHASE, 9)
    faction = only(obs, o.O_FACTION, 4)
    s["faction"] = faction if faction >= 0 else NO_FACTION
    s["discarded"] = obs[o.O_DISCARDED]
    rebuild_table(obs, s, me)
    rebuild_ships(obs, s, me, players)
    rebuild_cards(obs, s, me, players)
    s["effect"] = only(obs, o.O_EFFECT, len(o.EFFECTS))
    s["step"] = obs[o.O_STEP]
    first = only(obs, o.P_NAMED_1, o.PLANE)
    second = only(obs, o.P_NAMED_2, o.PLANE)
    if s["effect"] == PIRATE_RAID:
        raided = only(obs, o.O_RAIDED, MAX_PLAYERS)
        s["target"][0] = (me + raided) % players if raided >= 0 else NO_CELL
        s["target"][1] = CELL_OF[me, first] if first >= 0 else NO_CELL
    else:
        s["target"][0] = CELL_OF[me, first] if first >= 0 else NO_CELL
        s["target"][1] = CELL_OF[me, second] if second >= 0 else NO_CELL
    named = only(obs, o.O_NAMED_TURN, 4)
    s["target_turn"] = (named - FRAME[me]) & 3 if named >= 0 else -1
    return me


@kernel
def rebuild_table(obs, s, me):
    """Cards and bases on the table."""
    s["board"][:] = OFF
    s["turn"][:] = 0
    s["base"][:] = NO_CELL
    for own in range(o.PLANE):
        cell = CELL_OF[me, own]
        card = np.int64(obs[o.O_LYING + own]) - 1
        if card >= 0:
            s["board"][cell] = card
            s["design"][card] = obs[o.O_LYING + o.PLANE + own] - 1
            s["turn"][cell] = (np.int64(obs[o.O_LYING + 2 * o.PLANE + own]) - 1 - FRAME[me]) & 3
        elif obs[o.O_BOARD + 5 * o.PLANE + own]:
            s["board"][cell] = FREE
        else:
            base = -1
            for port in range(4):  # a base is told by the side its port is on
                if obs[o.O_BOARD + (o.IN + port) * o.PLANE + own]:
                    for k in range(MAX_PLAYERS):
                        if (BASE_PORT[k] + FRAME[me]) & 3 == port:
                            base = k
            if base >= 0:
                s["board"][cell] = FIRST_BASE + base
                s["base"][base] = cell


@kernel
def rebuild_ships(obs, s, me, players):
    s["ship"][:] = NO_CELL
    s["stop"][:] = 0
    s["home"][:] = 0
    s["hand_size"][:] = 0
    for k in range(players):
        seat = (me + k) % players
        s["ship"][seat] = CELL_OF[me, only(obs, o.P_SHIP + k * o.PLANE, o.PLANE)]
        s["stop"][seat] = only(obs, o.O_STOP + k * (1 + MOST_STATIONS), 1 + MOST_STATIONS)
        s["home"][seat] = obs[o.O_HOME + k]
        s["hand_size"][seat] = obs[o.O_HAND_SIZE + k]


@kernel
def rebuild_cards(obs, s, me, players):
    """Where the cards are; those not seen are dealt to the other hands and the deck as they come."""
    s["deck"][:] = NO_CARD
    s["pile"][:] = NO_CARD
    s["place"][:] = NOWHERE
    seat = 0
    dealt = 0  # to that seat
    left = -np.int64(s["hand_size"][me])
    for k in range(players):
        left += np.int64(s["hand_size"][k])
    size = 0
    piled = 0
    top = only(obs, o.O_PILE_TOP, NUM_CARDS)
    s["card"] = only(obs, o.O_CARD, NUM_CARDS)
    deck_size = np.int64(obs[o.O_DECK_SIZE])
    for card in range(NUM_CARDS):
        if obs[o.O_HAND + card]:
            s["place"][card] = me
        elif obs[o.O_PILE + card]:
            s["place"][card] = PILE
            if card != top:
                s["pile"][piled] = card
                piled += 1
        elif obs[o.O_ON_TABLE + card]:
            s["place"][card] = TABLE_PLACE
        elif card == s["card"] and card < NUM_EXPLORATION:
            s["place"][card] = LAID
        elif s["in_deck"][card]:
            if size < deck_size:
                s["place"][card] = DECK
                s["deck"][size] = card
                size += 1
            elif left > 0:
                while seat == me or dealt == s["hand_size"][seat]:
                    seat += 1
                    dealt = 0
                s["place"][card] = seat
                dealt += 1
                left -= 1
    s["deck_size"] = size
    if top >= 0:
        s["pile"][piled] = top
        piled += 1
    s["pile_size"] = piled
