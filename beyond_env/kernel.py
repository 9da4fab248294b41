"""The rules of Beyond, compiled: deal, legal, apply, determinize. Functions are named in the words of the rules.

Inside, `s` is one record; the public functions take a record array and a row.
"""

from __future__ import annotations

import numpy as np

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
from beyond_env.cards import (
    AZURE_DRAGON,
    COPIES_OF_KIND,
    FIRST_PART,
    METAL_TIGER,
    NEEDED_OF_PART,
    NUM_KINDS,
    NUM_NIAN,
    NUM_SPIRITS,
    SPIRIT_OF_KIND,
    SPIRITS,
    TURTLE_SNAKE,
    UNICORN,
    VERMILION_BIRD,
    YANG,
    YIN,
)
from beyond_env.rules import BeyondRules
from beyond_env.state import ACT, CHOOSE, MOST_REVEALED, NO_KIND, PLACE, RECLAIM, RESCUE, REVEAL
from tabletop.compiled import kernel
from tabletop.stream import draw_below, shuffle

COPIES = np.array(COPIES_OF_KIND, np.int8)
SPIRIT = np.array(SPIRIT_OF_KIND, np.int8)
PARTS_BEGIN = np.array((*FIRST_PART, len(NEEDED_OF_PART)), np.int8)  # parts of spirit p: PARTS_BEGIN[p] to PARTS_BEGIN[p + 1]
NEEDED = np.array(NEEDED_OF_PART, np.int8)
PATTERN_SIZE = sum(SPIRITS[0].pattern)

PROTECTION = BeyondRules.place("protection")
SUMMONING = BeyondRules.place("summoning")
END_DISTINCT = BeyondRules.place("end_distinct")
RESCUE_LIMIT = BeyondRules.place("rescue_limit")
END_ON_NOTHING = BeyondRules.place("end_on_nothing")
SCORE_LAID_TOKENS = BeyondRules.place("score_laid_tokens")
START_TOKENS = BeyondRules.place("start_tokens")
TOKEN_SUPPLY = BeyondRules.place("token_supply")
CAPTURE_SLOTS = BeyondRules.place("capture_slots")
END_ENCHANTMENTS = BeyondRules.place("end_enchantments")
END_DEPLETIONS = BeyondRules.place("end_depletions")
POINTS = BeyondRules.place("points_vermilion_bird")  # + spirit


# -- set-up ------------------------------------------------------------------------------------------------------------


@kernel
def begin(s):
    """The table before the first card: tokens dealt, all cards in the deck, in the order of their kinds."""
    players = np.int64(s["players"])
    options = s["options"]
    s["decisions"] = 0
    s["over"] = 0
    s["seat"] = 0
    s["turns"] = 0
    s["triggered"] = 0
    s["depletions"] = 0
    s["discard"][:] = 0
    s["centre_nian"] = NUM_NIAN
    s["supply"] = np.int64(options[TOKEN_SUPPLY]) - players * np.int64(options[START_TOKENS])
    for seat in range(4):
        s["won"][seat] = 0
        s["pool"][seat, :] = 0
        s["protected"][seat, :] = 0
        s["slots"][seat, :] = 0
        s["enchanted"][seat, :] = 0
        s["enchantments"][seat, :] = 0
        s["summoned"][seat, :] = 0
        s["nian"][seat] = 0
        s["tokens"][seat] = options[START_TOKENS] if seat < players else 0
    size = 0
    for kind in range(NUM_KINDS):
        s["deck_counts"][kind] = COPIES[kind]
        for _ in range(COPIES[kind]):
            s["deck"][size] = kind
            size += 1
    s["deck_size"] = size
    s["known"] = 0


@kernel
def deal(records, i):
    """Set-up and the first card of the first turn."""
    s = records[i]
    begin(s)
    shuffle(s["stream"], s["deck"], np.int64(s["deck_size"]))
    start_turn(s)


# -- the deck ----------------------------------------------------------------------------------------------------------


@kernel
def refill(s):
    """Shuffle a non-empty discard pile into the new deck."""
    size = 0
    for kind in range(NUM_KINDS):
        for _ in range(s["discard"][kind]):
            s["deck"][size] = kind
            size += 1
        s["deck_counts"][kind] = s["discard"][kind]
        s["discard"][kind] = 0
    s["deck_size"] = size
    s["known"] = 0
    shuffle(s["stream"], s["deck"], size)


@kernel
def leave_deck(s, place):
    """Take the card at a place of the deck; if it was the last, the deck is depleted, at once."""
    kind = np.int64(s["deck"][place])
    last = np.int64(s["deck_size"]) - 1
    for p in range(place, last):
        s["deck"][p] = s["deck"][p + 1]
    s["deck"][last] = NO_KIND  # nothing of the past stays: equal positions are equal bytes
    s["deck_size"] = last
    s["deck_counts"][kind] -= 1
    if s["known"] > 0:
        s["known"] -= 1
    if last == 0:
        if s["depletions"] < 100:
            s["depletions"] += 1
        if s["depletions"] == s["options"][END_DEPLETIONS]:
            s["triggered"] = 1
        refill(s)
    return kind


# -- phase 1: reveal and collect ---------------------------------------------------------------------------------------


@kernel
def start_turn(s):
    """Begin the turn of `seat` with its first card, if there is one."""
    s["turns"] += 1
    s["num_revealed"] = 0
    s["num_queue"] = 0
    s["summoned_spirit"] = -1
    s["looked"] = 0
    for j in range(MOST_REVEALED):
        s["revealed"][j] = -1
        s["rescued"][j] = 0
        s["queue"][j] = -1
    if s["deck_size"] == 0:
        refill(s)
    if s["deck_size"] == 0:
        if s["options"][END_ON_NOTHING]:
            s["triggered"] = 1
        s["phase"] = ACT
    else:
        reveal(s)


@kernel
def lying(s, spirit):
    """Place of the revealed card of a spirit, the busting card left out; -1 if there is none."""
    for j in range(s["num_revealed"]):
        if SPIRIT[s["revealed"][j]] == spirit:
            return j
    return -1


@kernel
def reveal(s):
    """Reveal the top card: a bust if its spirit lies there already."""
    kind = leave_deck(s, np.int64(s["deck_size"]) - 1)
    bust = lying(s, SPIRIT[kind]) >= 0
    s["revealed"][s["num_revealed"]] = kind
    s["num_revealed"] += 1
    if bust:
        if s["num_revealed"] == 2 and s["centre_nian"] > 0:
            take_nian_from_centre(s)
            if s["over"]:
                return
        s["phase"] = RESCUE
        if not can_rescue(s):
            end_rescue(s)
    elif s["num_revealed"] == NUM_SPIRITS or s["deck_size"] == 0:
        stop(s)
    else:
        s["phase"] = REVEAL


@kernel
def stop(s):
    """Collect every revealed card."""
    for j in range(s["num_revealed"]):
        s["rescued"][j] = 1
    collect(s)


@kernel
def can_rescue(s):
    """Is there a token, a card and a rescue under the limit left?"""
    rescues = 0
    for j in range(s["num_revealed"] - 1):
        rescues += s["rescued"][j]
    return s["tokens"][s["seat"]] > 0 and rescues < s["num_revealed"] - 1 and rescues < s["options"][RESCUE_LIMIT]


@kernel
def rescue(s, spirit):
    """Pay one token to the supply to collect also the card of that spirit."""
    s["tokens"][s["seat"]] -= 1
    s["supply"] += 1
    s["rescued"][lying(s, spirit)] = 1
    if not can_rescue(s):
        end_rescue(s)


@kernel
def end_rescue(s):
    """Discard the cards not rescued; the others are collected, the busting card last."""
    last = s["num_revealed"] - 1
    s["rescued"][last] = 1
    for j in range(last):
        if not s["rescued"][j]:
            s["discard"][s["revealed"][j]] += 1
    collect(s)


@kernel
def collect(s):
    """The revealed cards marked are to be placed, in the order revealed; none lies revealed any more."""
    n = 0
    for j in range(s["num_revealed"]):
        if s["rescued"][j]:
            s["queue"][n] = s["revealed"][j]
            n += 1
        s["revealed"][j] = -1
        s["rescued"][j] = 0
    s["num_queue"] = n
    s["num_revealed"] = 0
    s["phase"] = PLACE


# -- phase 2: place ----------------------------------------------------------------------------------------------------


@kernel
def used_slots(s, seat):
    used = 0
    for kind in range(NUM_KINDS):
        used += s["slots"][seat, kind]
    return used


@kernel
def place(s, into_slots):
    """Put the next collected card into the pool or a capture slot."""
    kind = s["queue"][0]
    if into_slots:
        s["slots"][s["seat"], kind] += 1
    else:
        s["pool"][s["seat"], kind] += 1
    left = s["num_queue"] - 1
    for j in range(left):
        s["queue"][j] = s["queue"][j + 1]
    s["queue"][left] = -1
    s["num_queue"] = left
    if left == 0:
        s["phase"] = ACT


# -- phase 3: enchant, capture, protect, summon ------------------------------------------------------------------------


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
def take_nian_from_centre(s):
    s["centre_nian"] -= 1
    gain_nian(s)


@kernel
def gain_nian(s):
    """One more Nian Shou for the seat; the sixth wins at once."""
    seat = np.int64(s["seat"])
    s["nian"][seat] += 1
    if s["nian"][seat] == NUM_NIAN:
        s["won"][seat] = 1
        finish(s)


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


# -- the end -----------------------------------------------------------------------------------------------------------


@kernel
def end_turn(s):
    """Pass the turn on; after the last seat the game is over if its end has been triggered."""
    seat = (np.int64(s["seat"]) + 1) % np.int64(s["players"])
    if seat == 0 and s["triggered"]:
        most_points_win(s)
        finish(s)
    else:
        s["seat"] = seat
        start_turn(s)


@kernel
def finish(s):
    s["over"] = 1
    s["seat"] = -1


@kernel
def score(s, seat):
    """Points of a seat as the position stands (rules: Points)."""
    points = np.int64(s["nian"][seat]) + np.int64(s["tokens"][seat])
    for spirit in range(NUM_SPIRITS):
        points += np.int64(s["enchantments"][seat, spirit]) * np.int64(s["options"][POINTS + spirit])
    for kind in range(NUM_KINDS):
        points += np.int64(s["pool"][seat, kind]) + np.int64(s["slots"][seat, kind])
    if s["options"][SCORE_LAID_TOKENS]:
        for kind in range(NUM_KINDS):
            points += np.int64(s["protected"][seat, kind])
    return points


@kernel
def face_up(s, seat):
    """Cards lying spirit-face up: pool, Nian Shou, and 4 for each enchantment."""
    count = np.int64(s["nian"][seat])
    for spirit in range(NUM_SPIRITS):
        count += PATTERN_SIZE * np.int64(s["enchantments"][seat, spirit])
    for kind in range(NUM_KINDS):
        count += np.int64(s["pool"][seat, kind])
    return count


@kernel
def most_points_win(s):
    """Most points win, among those the fewest cards face up; all still tied share the victory."""
    best = np.int64(-1)
    for seat in range(s["players"]):
        worth = 1000 * score(s, seat) + 999 - face_up(s, seat)
        if worth > best:
            best = worth
    for seat in range(s["players"]):
        s["won"][seat] = 1000 * score(s, seat) + 999 - face_up(s, seat) == best


# -- what may be done --------------------------------------------------------------------------------------------------


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


# -- hidden information ------------------------------------------------------------------------------------------------


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
