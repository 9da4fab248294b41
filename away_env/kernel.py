"""The rules of a_way, compiled: deal, legal, apply, determinize. Functions are named in the words of the rules.

Inside, `s` is one record; the public functions take a record array and a row. What lies on the table and where ships can go is in
`lanes`, what may be played and named in `targets`, what is done in `effects`; here are the deck, the turn and the end.
"""

from __future__ import annotations

import numpy as np

from away_env.actions import A_CELL, A_DISCARD, A_DONE, A_MOVE, A_PASS, A_PLAY, A_ROW, A_SEAT, A_STOP, A_TURN
from away_env.cards import (
    BLACK_HOLE,
    COSMIC_COMPASS,
    FACTION_OF,
    FIRST_BASE,
    FIRST_SOLAR,
    HAND,
    HYPERDRIVE,
    MAX_PLAYERS,
    NEBULA_DEVIATION,
    NUM_CARDS,
    NUM_EXPLORATION,
    NUM_SOLAR,
    PIRATE_RAID,
    SCRAPYARD,
    SIDE,
    SOLAR_STORM,
    SOLAR_TORNADO,
    SUPER_NEBULA,
    UNKNOWN_FATE,
)
from away_env.effects import (
    SIZE,
    lay_card,
    measure_ways,
    move_ship,
    only_stop,
    put_on_pile,
    remove_line,
    shift_card,
    swap_cards,
    take_from_pile,
    turn_card,
)
from away_env.lanes import BASE_CELLS, BASE_PORT, BY_ARROWS, CELL_OF, CELLS, FRAME, SOLAR_CELLS, STEP, can_move
from away_env.rules import AwayRules
from away_env.state import (
    ACT,
    CELL,
    DECK,
    DISCARD,
    FREE,
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
    OFF,
    PLAY,
    SEAT,
    SHIP,
    STOP,
    TURN,
)
from away_env.targets import ACTION, can_play, find_destinations, is_moving, legal_cells, legal_lines, legal_seats, legal_stops, legal_turns
from tabletop.compiled import kernel
from tabletop.stream import draw_below, shuffle

FACTION = np.array(FACTION_OF, np.int64)
MAX_ROUNDS = AwayRules.place("max_rounds")
MOST_DISCARDED = 3
TURNS = np.int64(4)


# -- set-up ------------------------------------------------------------------------------------------------------------


@kernel
def begin(s):
    """The table before hands are drawn: bases and ships, the solar cards and the deck shuffled, each solar card turned."""
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


# -- the deck ----------------------------------------------------------------------------------------------------------


@kernel
def refill(s):
    """All of the discard pile but its top card is shuffled into a new deck."""
    size = np.int64(s["pile_size"]) - 1
    for at in range(size):
        card = s["pile"][at]
        s["deck"][at] = card
        s["place"][card] = DECK
        s["pile"][at] = NO_CARD
    s["pile"][0] = s["pile"][size]
    if size > 0:
        s["pile"][size] = NO_CARD
    s["pile_size"] = 1
    s["deck_size"] = size
    shuffle(s["stream"], s["deck"], size)


@kernel
def draw(s):
    """Take the deck's top card; -1 if there is none and nothing to shuffle."""
    if s["deck_size"] == 0:
        if s["pile_size"] < 2:
            return np.int64(NO_CARD)
        refill(s)
    size = np.int64(s["deck_size"]) - 1
    card = np.int64(s["deck"][size])
    s["deck"][size] = NO_CARD
    s["deck_size"] = size
    return card


@kernel
def draw_hand(s, seat):
    """Draw up to five cards."""
    while s["hand_size"][seat] < HAND:
        card = draw(s)
        if card < 0:
            return
        s["place"][card] = seat
        s["hand_size"][seat] += 1


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
        for card in range(NUM_CARDS):
            mask[A_DISCARD + card] = s["place"][card] == seat
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
