"""The turn: its phases, playing and discarding, the targets named one by one, and the end (rules: A turn, End).

Each function leaves the record at the next decision to be asked.
"""

from __future__ import annotations

import numpy as np

from away_env.cards import (
    BLACK_HOLE,
    COSMIC_COMPASS,
    FACTION_OF,
    HYPERDRIVE,
    NEBULA_DEVIATION,
    PIRATE_RAID,
    SCRAPYARD,
    SOLAR_STORM,
    SOLAR_TORNADO,
    SUPER_NEBULA,
    UNKNOWN_FATE,
)
from away_env.deck import draw, draw_hand, put_on_pile, take_from_pile
from away_env.effects import (
    lay_card,
    move_ship,
    only_stop,
    shift_card,
    swap_cards,
    turn_card,
)
from away_env.lanes import BY_ARROWS, can_move
from away_env.rules import AwayRules
from away_env.state import (
    ACT,
    CELL,
    DISCARD,
    LAID,
    LAY,
    LINE,
    MOVE,
    NO_CARD,
    NO_CELL,
    NO_EFFECT,
    NO_FACTION,
    NO_SEAT,
    NOWHERE,
    NUM_CELLS,
    PLAY,
    SEAT,
    SHIP,
    STOP,
    TURN,
)
from away_env.targets import ACTION, can_play, find_destinations, is_moving
from tabletop.compiled import kernel

FACTION = np.array(FACTION_OF, np.int64)
MAX_ROUNDS = AwayRules.place("max_rounds")
MOST_DISCARDED = 3


# -- the turn ----------------------------------------------------------------------------------------------------------


@kernel
def forget_decision(s):
    """No effect is being done."""
    s["effect"] = NO_EFFECT
    s["step"] = 0
    s["card"] = NO_CARD
    s["target"][0] = NO_CELL
    s["target"][1] = NO_CELL
    s["target_turn"] = -1


@kernel
def start_turn(s):
    """Begin the turn of `seat`."""
    forget_decision(s)
    s["part"] = 1
    s["phase"] = ACT
    s["faction"] = NO_FACTION
    s["discarded"] = 0
    seat = np.int64(s["seat"])
    if s["hand_size"][seat] == 0 and not can_move(s, seat, BY_ARROWS):  # phase 1 is skipped
        start_phase_2(s)


@kernel
def start_phase_2(s):
    s["part"] = 2
    s["phase"] = SHIP


@kernel
def end_turn(s):
    """Draw, and pass the turn on; after the last seat the round is over."""
    draw_hand(s, np.int64(s["seat"]))
    players = np.int64(s["players"])
    seat = (np.int64(s["seat"]) + 1) % players
    s["seat"] = seat
    if seat == 0:
        last = -1
        for k in range(players):  # ships come home in their own turns only: the highest seat did so last
            if s["home"][k]:
                last = k
        if last >= 0:
            s["won"][last] = 1
            finish(s, 1)
            return
        if s["round"] >= s["options"][MAX_ROUNDS]:
            finish(s, 2)
            return
        s["round"] += 1
    start_turn(s)


@kernel
def finish(s, over):
    """The game has ended (1), or is cut off as a draw (2)."""
    forget_decision(s)
    s["part"] = 1
    s["phase"] = ACT
    s["faction"] = NO_FACTION
    s["discarded"] = 0
    s["over"] = over
    s["seat"] = NO_SEAT


@kernel
def end_effect(s):
    """A move or a card is done: go on with the turn."""
    moved = s["effect"] == MOVE
    forget_decision(s)
    if not moved:
        s["phase"] = PLAY
    elif s["part"] == 1:
        start_phase_2(s)
    else:
        end_turn(s)


# -- playing and discarding --------------------------------------------------------------------------------------------


@kernel
def leave_hand(s, card):
    s["place"][card] = NOWHERE
    s["hand_size"][s["seat"]] -= 1


@kernel
def discard(s, card):
    """Discard a card of the hand face up."""
    leave_hand(s, card)
    put_on_pile(s, card)
    s["discarded"] += 1
    s["phase"] = DISCARD


@kernel
def play(s, card):
    """Play a card that has left its place, and at once what an unknown_fate or a scrapyard brings; ask for the first target."""
    seat = np.int64(s["seat"])
    forget_decision(s)
    while True:
        s["faction"] = FACTION[card]
        effect = ACTION[card]
        if effect == SCRAPYARD:
            brought = take_from_pile(s)
            put_on_pile(s, card)
        elif effect == UNKNOWN_FATE:
            put_on_pile(s, card)
            brought = draw(s)
        else:
            ask_first_target(s, card, effect)
            return
        # two scrapyards would fetch each other for ever
        playable = not (effect == SCRAPYARD and ACTION[brought] == SCRAPYARD) and can_play(s, seat, brought)
        card = brought
        if not playable:
            s["faction"] = FACTION[card]
            put_on_pile(s, card)
            s["phase"] = PLAY
            return


@kernel
def ask_first_target(s, card, effect):
    """An exploration card is going to be laid; another card goes onto the pile and its effect is done."""
    s["card"] = card
    if effect < 0:
        s["place"][card] = LAID
        s["effect"] = LAY
        s["phase"] = CELL
        return
    put_on_pile(s, card)
    s["effect"] = effect
    if effect == PIRATE_RAID:
        s["phase"] = SEAT
    elif effect == COSMIC_COMPASS:
        s["phase"] = TURN
    elif effect == BLACK_HOLE:
        s["phase"] = LINE
    else:
        s["phase"] = CELL


# -- targets named -----------------------------------------------------------------------------------------------------


@kernel
def name_cell(s, cell):
    """A cell is named: a ship goes there, or a card lies or is laid there."""
    effect = np.int64(s["effect"])
    if is_moving(effect):
        found = np.empty(NUM_CELLS, np.uint8)
        find_destinations(s, np.int64(s["seat"]), found)
        stop = only_stop(np.int64(found[cell]))
        s["target"][1 if effect == PIRATE_RAID else 0] = cell
        if stop < 0:
            s["phase"] = STOP
        else:
            name_stop(s, stop)
        return
    first = np.int64(s["target"][0])
    if first < 0:
        s["target"][0] = cell
        s["step"] = 1
        if effect != SOLAR_TORNADO and effect != SOLAR_STORM and effect != NEBULA_DEVIATION and effect != SUPER_NEBULA:
            s["phase"] = TURN
    elif effect == SOLAR_STORM:
        shift_card(s, first, cell, np.int64(s["turn"][first]))
        end_effect(s)
    elif effect == NEBULA_DEVIATION:
        swap_cards(s, first, cell, np.int64(s["turn"][first]), np.int64(s["turn"][cell]))
        end_effect(s)
    else:
        s["target"][1] = cell
        s["step"] = 2
        s["phase"] = TURN


@kernel
def name_stop(s, stop):
    """The ship being moved goes to that stop of the cell named."""
    effect = np.int64(s["effect"])
    if effect == PIRATE_RAID:
        move_ship(s, np.int64(s["target"][0]), np.int64(s["target"][1]), stop)
        end_effect(s)
        return
    seat = np.int64(s["seat"])
    move_ship(s, seat, np.int64(s["target"][0]), stop)
    if effect == HYPERDRIVE and s["step"] == 0 and can_move(s, seat, BY_ARROWS):
        s["step"] = 1
        s["target"][0] = NO_CELL
        s["phase"] = CELL
    else:
        end_effect(s)


@kernel
def name_turn(s, turn):
    """An orientation is named, given in the table's frame."""
    effect = np.int64(s["effect"])
    first = np.int64(s["target"][0])
    second = np.int64(s["target"][1])
    if effect == LAY:
        lay_card(s, np.int64(s["card"]), first, turn)
    elif effect == COSMIC_COMPASS:
        turn_card(s, np.int64(s["ship"][s["seat"]]), turn)
    elif effect == SOLAR_TORNADO:
        shift_card(s, first, second, turn)
    elif effect == SUPER_NEBULA:
        if s["target_turn"] < 0:
            s["target_turn"] = turn
            s["step"] = 3
            return
        swap_cards(s, first, second, np.int64(s["target_turn"]), turn)
    else:  # solar_rotation, unstable_field
        turn_card(s, first, turn)
    end_effect(s)


@kernel
def name_seat(s, k):
    """The opponent k seats on is raided."""
    s["target"][0] = (np.int64(s["seat"]) + k) % np.int64(s["players"])
    s["step"] = 1
    s["phase"] = CELL
