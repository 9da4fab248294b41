"""What a seat sees of Beyond: the layout of the flat observation, and its encoder.

Seats are relative: row 0 of the per-seat parts is the observing seat, row k the opponent k seats on; rows of seats that do not
play are zeros. All seats know the same, so only the frame differs.
"""

from __future__ import annotations

import numpy as np

from beyond_env.act import NEEDED, PARTS_BEGIN
from beyond_env.cards import COPIES_OF_KIND, KINDS, NUM_KINDS, NUM_SPIRITS, SPIRIT_NAMES
from beyond_env.ending import score
from beyond_env.reveal import SPIRIT
from beyond_env.rules import BeyondRules
from beyond_env.state import MOST_REVEALED, NO_KIND, PHASES, REVEAL
from tabletop.compiled import kernel
from tabletop.layout import Layout, Part

SEATS = BeyondRules.max_players
MOST_OF_A_KIND = max(COPIES_OF_KIND)
MOST_POINTS = 127
OPTIONS = BeyondRules.names()
NUM_OPTIONS = len(OPTIONS)
MOST_OPTION = 127

LAYOUT = Layout(
    [
        Part("phase", (len(PHASES),), 1, "what is being decided; zeros when the game is over", PHASES),
        Part("turn", (SEATS,), 1, "whose turn it is, seats relative; zeros when the game is over"),
        Part("players", (3,), 1, "number of players", ("2", "3", "4")),
        Part("first", (SEATS,), 1, "who started (seat 0): the last seat before it ends the round"),
        Part("triggered", (), 1, "the end has been triggered: the round is finished"),
        Part("depletions", (), 20, "depletions so far (20: 20 or more)", typical=2),
        Part("deck_size", (), 80, "cards in the deck"),
        Part("top_symbol", (2,), 1, "symbol of the deck's top card; zeros if there is none", ("yin", "yang")),
        Part("bust_chance", (), 100, "chance in percent, rounded down, that the next card revealed is a bust; 0 unless phase is reveal"),
        Part("known_top", (NUM_KINDS,), 1, "the top card itself, when all know it", KINDS),
        Part("deck", (NUM_KINDS,), MOST_OF_A_KIND, "cards of each kind left in the deck", KINDS, typical=4),
        Part("discard", (NUM_KINDS,), MOST_OF_A_KIND, "the discard pile", KINDS, typical=4),
        Part("revealed", (NUM_KINDS,), MOST_OF_A_KIND, "cards lying revealed, the busting card included", KINDS, typical=1),
        Part("rescued", (NUM_KINDS,), MOST_OF_A_KIND, "those of them already rescued", KINDS, typical=1),
        Part("busting", (NUM_KINDS,), 1, "the busting card, while rescuing", KINDS),
        Part("placing", (NUM_KINDS,), 1, "the collected card to be placed now", KINDS),
        Part("queue", (MOST_REVEALED,), NUM_KINDS, "collected cards in placing order, the one to be placed first: kind + 1, 0 for none"),
        Part("looked", (NUM_KINDS,), MOST_OF_A_KIND, "cards being looked at", KINDS, typical=2),
        Part("summoned_spirit", (NUM_SPIRITS,), 1, "whose summon asks for a choice", SPIRIT_NAMES),
        Part("centre_nian", (), 6, "Nian Shou in the centre"),
        Part("supply", (), 99, "lotus tokens in the supply", typical=20),
        Part("pool", (SEATS, NUM_KINDS), MOST_OF_A_KIND, "cards in the pool", KINDS, typical=3),
        Part("protected", (SEATS, NUM_KINDS), MOST_OF_A_KIND, "those of them with a token", KINDS, typical=2),
        Part("slots", (SEATS, NUM_KINDS), MOST_OF_A_KIND, "cards in the capture slots", KINDS, typical=2),
        Part("enchanted", (SEATS, NUM_KINDS), MOST_OF_A_KIND, "cards in enchantments", KINDS, typical=4),
        Part("progress", (SEATS, NUM_SPIRITS), 4, "pool cards fitting one enchantment; 4 is a full pattern", SPIRIT_NAMES),
        Part("enchantments", (SEATS, NUM_SPIRITS), 4, "enchantments", SPIRIT_NAMES, typical=2),
        Part("summoned", (SEATS, NUM_SPIRITS), 4, "those of them with a token", SPIRIT_NAMES, typical=2),
        Part("nian", (SEATS,), 6, "Nian Shou held"),
        Part("tokens", (SEATS,), 99, "lotus tokens on the stock card", typical=4),
        Part("points", (SEATS,), MOST_POINTS, f"points as the position stands (at most {MOST_POINTS} shown)", typical=30),
        Part("options", (NUM_OPTIONS,), MOST_OPTION, "the rules' options, as whole numbers (rescue_limit 5: none)", OPTIONS, typical=10),
    ]
)

_AT = LAYOUT.start
O_PHASE, O_TURN, O_PLAYERS, O_FIRST = _AT("phase"), _AT("turn"), _AT("players"), _AT("first")
O_TRIGGERED, O_DEPLETIONS, O_DECK_SIZE = _AT("triggered"), _AT("depletions"), _AT("deck_size")
O_TOP_SYMBOL, O_BUST_CHANCE, O_KNOWN_TOP = _AT("top_symbol"), _AT("bust_chance"), _AT("known_top")
O_DECK, O_DISCARD, O_REVEALED, O_RESCUED, O_BUSTING = _AT("deck"), _AT("discard"), _AT("revealed"), _AT("rescued"), _AT("busting")
O_PLACING, O_QUEUE, O_LOOKED, O_SUMMONED_SPIRIT = _AT("placing"), _AT("queue"), _AT("looked"), _AT("summoned_spirit")
O_CENTRE_NIAN, O_SUPPLY = _AT("centre_nian"), _AT("supply")
O_POOL, O_PROTECTED, O_SLOTS, O_ENCHANTED = _AT("pool"), _AT("protected"), _AT("slots"), _AT("enchanted")
O_PROGRESS, O_ENCHANTMENTS, O_SUMMONED = _AT("progress"), _AT("enchantments"), _AT("summoned")
O_NIAN, O_TOKENS, O_POINTS, O_OPTIONS = _AT("nian"), _AT("tokens"), _AT("points"), _AT("options")


@kernel
def bust_chance(s):
    """Percent, rounded down, of the cards the next one can be (rules: What a player knows) whose spirit lies revealed."""
    top = np.int64(s["deck"][s["deck_size"] - 1])
    possible = 0
    busts = 0
    for part in range(NUM_KINDS // 2):
        kind = 2 * part + top % 2
        count = np.int64(kind == top) if s["known"] > 0 else np.int64(s["deck_counts"][kind])
        possible += count
        for j in range(s["num_revealed"]):
            if SPIRIT[s["revealed"][j]] == SPIRIT[kind]:
                busts += count
    return 100 * busts // possible


@kernel
def observe(records, i, seat, out):
    """Write what `seat` knows of row i into out (D,) int8."""
    s = records[i]
    players = np.int64(s["players"])
    live = s["over"] == 0
    for at in range(out.size):
        out[at] = 0
    if live:
        out[O_PHASE + s["phase"]] = 1
        out[O_TURN + (np.int64(s["seat"]) - seat) % players] = 1
    out[O_PLAYERS + players - 2] = 1
    out[O_FIRST + (players - seat) % players] = 1
    out[O_TRIGGERED] = s["triggered"]
    out[O_DEPLETIONS] = min(np.int64(s["depletions"]), 20)
    observe_deck(s, live, out)
    observe_turn(s, out)
    out[O_CENTRE_NIAN] = s["centre_nian"]
    out[O_SUPPLY] = s["supply"]
    for k in range(players):
        observe_seat(s, (seat + k) % players, k, out)
    for j in range(NUM_OPTIONS):
        out[O_OPTIONS + j] = s["options"][j]


@kernel
def observe_deck(s, live, out):
    """The deck and the discard pile: parts deck_size to discard."""
    size = np.int64(s["deck_size"])
    out[O_DECK_SIZE] = size
    if size > 0:
        top = np.int64(s["deck"][size - 1])
        out[O_TOP_SYMBOL + top % 2] = 1
        if s["known"] > 0:
            out[O_KNOWN_TOP + top] = 1
        if live and s["phase"] == REVEAL:
            out[O_BUST_CHANCE] = bust_chance(s)
    for kind in range(NUM_KINDS):
        out[O_DECK + kind] = s["deck_counts"][kind]
    for kind in range(NUM_KINDS):
        out[O_DISCARD + kind] = s["discard"][kind]


@kernel
def observe_turn(s, out):
    """The cards revealed, collected, looked at: parts revealed to summoned_spirit."""
    num_revealed = np.int64(s["num_revealed"])
    for j in range(num_revealed):
        kind = np.int64(s["revealed"][j])
        out[O_REVEALED + kind] += 1
        out[O_RESCUED + kind] += s["rescued"][j]
    if num_revealed > 0 and s["phase"] != REVEAL:
        out[O_BUSTING + np.int64(s["revealed"][num_revealed - 1])] = 1
    for j in range(s["num_queue"]):
        out[O_QUEUE + j] = s["queue"][j] - NO_KIND
    if s["num_queue"] > 0:
        out[O_PLACING + np.int64(s["queue"][0])] = 1
    for at in range(s["deck_size"] - s["looked"], s["deck_size"]):
        out[O_LOOKED + np.int64(s["deck"][at])] += 1
    if s["summoned_spirit"] >= 0:
        out[O_SUMMONED_SPIRIT + np.int64(s["summoned_spirit"])] = 1


@kernel
def copy_row(field, seat, out, at, size):
    """Copy one seat's row of a per-seat field. (One short loop for each field: several copies in one loop run twice as long.)"""
    for j in range(size):
        out[at + j] = field[seat, j]


@kernel
def observe_seat(s, seat, k, out):
    """The parts of one seat, which stands k seats on from the observing one."""
    copy_row(s["pool"], seat, out, O_POOL + k * NUM_KINDS, NUM_KINDS)
    copy_row(s["protected"], seat, out, O_PROTECTED + k * NUM_KINDS, NUM_KINDS)
    copy_row(s["slots"], seat, out, O_SLOTS + k * NUM_KINDS, NUM_KINDS)
    copy_row(s["enchanted"], seat, out, O_ENCHANTED + k * NUM_KINDS, NUM_KINDS)
    copy_row(s["enchantments"], seat, out, O_ENCHANTMENTS + k * NUM_SPIRITS, NUM_SPIRITS)
    copy_row(s["summoned"], seat, out, O_SUMMONED + k * NUM_SPIRITS, NUM_SPIRITS)
    for spirit in range(NUM_SPIRITS):
        fitting = np.int64(0)
        for part in range(PARTS_BEGIN[spirit], PARTS_BEGIN[spirit + 1]):
            fitting += min(np.int64(s["pool"][seat, 2 * part]) + np.int64(s["pool"][seat, 2 * part + 1]), np.int64(NEEDED[part]))
        out[O_PROGRESS + k * NUM_SPIRITS + spirit] = fitting
    out[O_NIAN + k] = s["nian"][seat]
    out[O_TOKENS + k] = s["tokens"][seat]
    out[O_POINTS + k] = min(score(s, seat), MOST_POINTS)
