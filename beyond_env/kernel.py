"""The rules of Beyond as the kit calls them: deal, legal, apply, determinize, compiled.

What the actions do stands in `deck`, `reveal` (phases 1 and 2), `act` (phase 3) and `ending`, in functions named in the words of
the rules. There `s` is one record; the functions here take a record array and a row.
"""

from __future__ import annotations

import numpy as np

from beyond_env.act import (
    capture,
    capture_nian,
    choose,
    enchant,
    has_pattern,
    has_slot_card,
    protect,
    reclaim,
    summon,
)
from beyond_env.actions import (
    A_CAPTURE,
    A_CHOOSE,
    A_ENCHANT,
    A_END,
    A_PASS,
    A_PLACE_CAPTURE,
    A_PLACE_SPIRIT,
    A_PROTECT,
    A_RECLAIM,
    A_RESCUE,
    A_REVEAL,
    A_STOP,
    A_SUMMON,
    CAPTURE_NIAN,
    CAPTURE_STRIDE,
)
from beyond_env.cards import AZURE_DRAGON, METAL_TIGER, NUM_KINDS, NUM_SPIRITS, TURTLE_SNAKE, UNICORN, VERMILION_BIRD, YANG, YIN
from beyond_env.deck import begin
from beyond_env.reveal import SPIRIT, end_rescue, end_turn, place, rescue, reveal, start_turn, stop, used_slots
from beyond_env.rules import CAPTURE_SLOTS, PROTECTION, SUMMONING
from beyond_env.state import ACT, CHOOSE, PLACE, RESCUE, REVEAL
from tabletop.compiled import kernel
from tabletop.stream import draw_below, shuffle


@kernel
def deal(records, i):
    """Set-up and the first card of the first turn."""
    s = records[i]
    begin(s)
    shuffle(s["stream"], s["deck"], np.int64(s["deck_size"]))
    start_turn(s)


@kernel
def legal(records, i, mask):
    """Write the mask (129,) of the seat to act."""
    s = records[i]
    mask[:] = 0
    phase = s["phase"]
    if phase == REVEAL:
        mask[A_REVEAL] = 1
        mask[A_STOP] = 1
    elif phase == RESCUE:
        for j in range(s["num_revealed"] - 1):
            if not s["rescued"][j]:
                mask[A_RESCUE + SPIRIT[s["revealed"][j]]] = 1
        mask[A_PASS] = 1
    elif phase == PLACE:
        mask[A_PLACE_SPIRIT] = 1
        mask[A_PLACE_CAPTURE] = used_slots(s, s["seat"]) < s["options"][CAPTURE_SLOTS]
    elif phase == ACT:
        mask[A_END] = 1
        for spirit in range(NUM_SPIRITS):
            mask[A_ENCHANT + spirit] = has_pattern(s, s["seat"], spirit)
        legal_captures(s, mask)
        if s["tokens"][s["seat"]] > 0:
            if s["options"][PROTECTION]:
                for kind in range(NUM_KINDS):
                    mask[A_PROTECT + kind] = s["pool"][s["seat"], kind] > s["protected"][s["seat"], kind]
            if s["options"][SUMMONING]:
                legal_summons(s, mask)
    elif phase == CHOOSE:
        if s["summoned_spirit"] == VERMILION_BIRD:
            for kind in range(NUM_KINDS):
                mask[A_CHOOSE + kind] = s["discard"][kind] > 0
        else:
            for at in range(s["deck_size"] - s["looked"], s["deck_size"]):
                mask[A_CHOOSE + s["deck"][at]] = 1
    else:
        for spirit in range(NUM_SPIRITS):  # the token just laid on a unicorn is not on another enchantment
            mask[A_RECLAIM + spirit] = s["summoned"][s["seat"], spirit] > (spirit == UNICORN)


@kernel
def legal_captures(s, mask):
    seat = np.int64(s["seat"])
    players = np.int64(s["players"])
    has_yin = has_slot_card(s, seat, YIN)
    has_yang = has_slot_card(s, seat, YANG)
    if not (has_yin or has_yang):
        return
    both = has_yin and has_yang
    for k in range(1, players):
        victim = (seat + k) % players
        base = A_CAPTURE + (k - 1) * CAPTURE_STRIDE
        for part in range(NUM_KINDS // 2):
            yin = 2 * part + YIN
            yang = 2 * part + YANG
            mask[base + yin] = (has_yang and s["pool"][victim, yin] > s["protected"][victim, yin]) or (both and s["pool"][victim, yin] > 0)
            mask[base + yang] = (has_yin and s["pool"][victim, yang] > s["protected"][victim, yang]) or (
                both and s["pool"][victim, yang] > 0
            )
        mask[base + CAPTURE_NIAN] = both and s["nian"][victim] > 0


@kernel
def legal_summons(s, mask):
    """Summons that would have an effect."""
    seat = s["seat"]
    discards = 0
    laid = 0
    for kind in range(NUM_KINDS):
        discards += s["discard"][kind]
    for spirit in range(NUM_SPIRITS):
        laid += s["summoned"][seat, spirit]
    for spirit in range(NUM_SPIRITS):
        if s["enchantments"][seat, spirit] > s["summoned"][seat, spirit]:
            if spirit in (TURTLE_SNAKE, AZURE_DRAGON):
                effect = s["deck_size"] > 0 or discards > 0
            elif spirit == VERMILION_BIRD:
                effect = discards > 0 and used_slots(s, seat) < s["options"][CAPTURE_SLOTS]
            elif spirit == METAL_TIGER:
                effect = s["centre_nian"] > 0
            else:
                effect = laid > 0
            mask[A_SUMMON + spirit] = effect


@kernel
def apply(records, i, action):
    """Do a legal action."""
    s = records[i]
    if action == A_REVEAL:
        reveal(s)
    elif action == A_STOP:
        stop(s)
    elif action < A_PASS:
        rescue(s, action - A_RESCUE)
    elif action == A_PASS:
        end_rescue(s)
    elif action < A_ENCHANT:
        place(s, action == A_PLACE_CAPTURE)
    elif action < A_CAPTURE:
        enchant(s, action - A_ENCHANT)
    elif action < A_PROTECT:
        k = 1 + (action - A_CAPTURE) // CAPTURE_STRIDE
        kind = (action - A_CAPTURE) % CAPTURE_STRIDE
        if kind == CAPTURE_NIAN:
            capture_nian(s, k)
        else:
            capture(s, k, kind)
    elif action < A_SUMMON:
        protect(s, action - A_PROTECT)
    elif action < A_CHOOSE:
        summon(s, action - A_SUMMON)
    elif action < A_RECLAIM:
        choose(s, action - A_CHOOSE)
    elif action < A_END:
        reclaim(s, action - A_RECLAIM)
    else:
        end_turn(s)


@kernel
def determinize(records, i, seat):
    """Deal the deck's order again, uniformly among the orders that agree with what all know: the known cards on top stay, and
    without any the top card keeps its symbol. All seats know the same, so `seat` makes no difference."""
    s = records[i]
    hidden = np.int64(s["deck_size"]) - np.int64(s["known"])
    if hidden <= 0:
        return
    deck = s["deck"]
    if s["known"] > 0:
        shuffle(s["stream"], deck, hidden)
        return
    # the top card is any card of its symbol, each as likely; the others lie in any order
    symbol = deck[hidden - 1] % 2
    count = 0
    for at in range(hidden):
        count += deck[at] % 2 == symbol
    wanted = draw_below(s["stream"], count)
    for at in range(hidden):
        if deck[at] % 2 == symbol:
            if wanted == 0:
                top = deck[at]
                deck[at] = deck[hidden - 1]
                deck[hidden - 1] = top
                break
            wanted -= 1
    shuffle(s["stream"], deck, hidden - 1)
