"""Phase 3 of a turn: enchant, capture, protect, summon."""

from __future__ import annotations

import numpy as np

from beyond_env.cards import (
    FIRST_PART,
    METAL_TIGER,
    NEEDED_OF_PART,
    NUM_KINDS,
    NUM_SPIRITS,
    TURTLE_SNAKE,
    UNICORN,
    VERMILION_BIRD,
    YANG,
    YIN,
)
from beyond_env.deck import leave_deck, refill
from beyond_env.ending import gain_nian, take_nian_from_centre
from beyond_env.rules import END_DISTINCT, END_ENCHANTMENTS
from beyond_env.state import ACT, CHOOSE, RECLAIM
from tabletop.compiled import kernel
from tabletop.stream import shuffle

PARTS_BEGIN = np.array((*FIRST_PART, len(NEEDED_OF_PART)), np.int8)  # parts of spirit p: PARTS_BEGIN[p] to PARTS_BEGIN[p + 1]
NEEDED = np.array(NEEDED_OF_PART, np.int8)



@kernel
def has_pattern(s, seat, spirit):
    """Does the pool hold a full pattern of the spirit?"""
    for part in range(PARTS_BEGIN[spirit], PARTS_BEGIN[spirit + 1]):
        if np.int64(s["pool"][seat, 2 * part]) + np.int64(s["pool"][seat, 2 * part + 1]) < NEEDED[part]:
            return False
    return True


@kernel
def enchant(s, spirit):
    """Take a full pattern from the pool; tokens on its cards go to the supply."""
    seat = s["seat"]
    for part in range(PARTS_BEGIN[spirit], PARTS_BEGIN[spirit + 1]):
        yin = 2 * part + YIN
        first = yin if s["pool"][seat, yin] >= s["pool"][seat, 2 * part + YANG] else yin + 1
        second = yin + yin + 1 - first
        missing = np.int64(NEEDED[part])
        for kind in (first, second):  # unprotected before protected
            n = min(missing, np.int64(s["pool"][seat, kind]) - np.int64(s["protected"][seat, kind]))
            s["pool"][seat, kind] -= n
            s["enchanted"][seat, kind] += n
            missing -= n
        for kind in (first, second):
            n = min(missing, np.int64(s["protected"][seat, kind]))
            s["pool"][seat, kind] -= n
            s["protected"][seat, kind] -= n
            s["supply"] += n
            s["enchanted"][seat, kind] += n
            missing -= n
    s["enchantments"][seat, spirit] += 1
    count = 0
    for p in range(NUM_SPIRITS):
        n = np.int64(s["enchantments"][seat, p])
        count += min(n, 1) if s["options"][END_DISTINCT] else n
    if count >= s["options"][END_ENCHANTMENTS]:
        s["triggered"] = 1


@kernel
def has_slot_card(s, seat, symbol):
    """Is there a card of that symbol in the seat's capture slots?"""
    for part in range(NUM_KINDS // 2):
        if s["slots"][seat, 2 * part + symbol] > 0:
            return True
    return False


@kernel
def pay_capture_card(s, symbol):
    """Discard the capture card of that symbol with the lowest kind number."""
    seat = s["seat"]
    kind = symbol
    while s["slots"][seat, kind] == 0:
        kind += 2
    s["slots"][seat, kind] -= 1
    s["discard"][kind] += 1


@kernel
def compensate(s, victim):
    """The opponent captured from takes a token from the supply, if there is one."""
    if s["supply"] > 0:
        s["supply"] -= 1
        s["tokens"][victim] += 1


@kernel
def capture(s, k, kind):
    """Capture a card of that kind from the opponent k seats on: an unprotected copy if there is one, else a protected one."""
    victim = (np.int64(s["seat"]) + k) % np.int64(s["players"])
    opposite = 1 - kind % 2
    pay_capture_card(s, opposite)
    if s["pool"][victim, kind] > s["protected"][victim, kind]:
        compensate(s, victim)
    else:
        pay_capture_card(s, 1 - opposite)
        s["protected"][victim, kind] -= 1
        s["tokens"][victim] += 1
    s["pool"][victim, kind] -= 1
    s["pool"][s["seat"], kind] += 1


@kernel
def capture_nian(s, k):
    """Capture a Nian Shou from the opponent k seats on, for one yin and one yang card."""
    victim = (np.int64(s["seat"]) + k) % np.int64(s["players"])
    pay_capture_card(s, YIN)
    pay_capture_card(s, YANG)
    s["nian"][victim] -= 1
    gain_nian(s)
    if not s["over"]:
        compensate(s, victim)


@kernel
def protect(s, kind):
    """Lay a token on an unprotected pool card of that kind."""
    s["tokens"][s["seat"]] -= 1
    s["protected"][s["seat"], kind] += 1


@kernel
def summon(s, spirit):
    """Lay a token on an enchantment and do its effect, or ask for its choice."""
    seat = s["seat"]
    s["tokens"][seat] -= 1
    s["summoned"][seat, spirit] += 1
    if spirit == METAL_TIGER:
        take_nian_from_centre(s)
    elif spirit == UNICORN:
        s["phase"] = RECLAIM
    else:
        s["summoned_spirit"] = spirit
        s["phase"] = CHOOSE
        if spirit != VERMILION_BIRD:
            if s["deck_size"] == 0:
                refill(s)
            looked = min(4 if spirit == TURTLE_SNAKE else 2, np.int64(s["deck_size"]))
            s["looked"] = looked
            s["known"] = max(looked, np.int64(s["known"]))


@kernel
def choose(s, kind):
    """The card that a turtle, a bird or a dragon brings."""
    seat = s["seat"]
    spirit = s["summoned_spirit"]
    s["summoned_spirit"] = -1
    s["looked"] = 0
    s["phase"] = ACT
    if spirit == VERMILION_BIRD:
        s["discard"][kind] -= 1
        s["slots"][seat, kind] += 1
        return
    at = np.int64(s["deck_size"]) - 1
    while s["deck"][at] != kind:
        at -= 1
    depletes = s["deck_size"] == 1
    leave_deck(s, at)
    s["pool"][seat, kind] += 1
    if spirit == TURTLE_SNAKE and not depletes:
        s["known"] = 0
        shuffle(s["stream"], s["deck"], np.int64(s["deck_size"]))


@kernel
def reclaim(s, spirit):
    """The token on that enchantment goes to the supply: it can be summoned again."""
    s["summoned"][s["seat"], spirit] -= 1
    s["supply"] += 1
    s["phase"] = ACT
