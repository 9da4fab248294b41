"""A Beyond player by rule of thumb: it values positions in points and takes the decision that leaves the best one.

The value of a seat is what it has (enchantments, loose cards, tokens, capture cards), what its unfinished patterns promise, less
what the worst capture the others could make now would cost it; a position is worth the own value less the others'. Revealing is
weighed card by card: the cards that the next one can be (deck counts and the top symbol are public), what a bust would lose and
what could be rescued. It plays from the observation alone, for whole batches at once, and breaks ties by the lowest action.
"""

from __future__ import annotations

import numpy as np

from beyond_env import observation as o
from beyond_env.act import NEEDED, PARTS_BEGIN
from beyond_env.actions import (
    A_CAPTURE,
    A_CHOOSE,
    A_ENCHANT,
    A_END,
    A_PASS,
    A_PLACE_SPIRIT,
    A_PROTECT,
    A_RECLAIM,
    A_RESCUE,
    A_REVEAL,
    A_STOP,
    A_SUMMON,
    ACTIONS,
    CAPTURE_NIAN,
    CAPTURE_STRIDE,
)
from beyond_env.cards import AZURE_DRAGON, METAL_TIGER, NUM_KINDS, NUM_NIAN, NUM_SPIRITS, TURTLE_SNAKE, UNICORN, VERMILION_BIRD
from beyond_env.reveal import SPIRIT
from beyond_env.rules import CAPTURE_SLOTS, END_DISTINCT, END_ENCHANTMENTS, POINTS, RESCUE_LIMIT, SCORE_LAID_TOKENS
from tabletop.compiled import announce, kernel, used_packages
from tabletop.sampling import check_masks

KERNEL_PACKAGES = ("beyond_env",)

#: What the thumb rules weigh, in points. Fitted by playing against itself (see docs/agents.md).
WEIGHTS = {
    "promise_1": 0.01,  # share of a pattern's extra points that 1, 2, 3 fitting cards promise
    "promise_2": 0.18,
    "promise_3": 0.58,
    "surplus": 0.13,  # a pool card beyond one pattern, over its own point
    "token": 0.73,
    "slot_first": 0.92,  # the first capture card of a symbol, over its own point
    "slot_more": 0.37,  # each further one
    "threat": 0.62,  # share of the worst loss by a capture that is feared
    "threat_made": 0.41,  # the same, for the others
    "others": 1.05,  # weight of the others' value
    "nian_4": 4.3,  # holding 4 or 5 Nian Shou, over their points
    "nian_5": 11.0,
    "bust_nian": 0.33,  # a Nian Shou by a bust, over its point
    "reveal_more": 0.0,  # a card more revealed: what could still follow
    "lead": 0.56,  # a point ahead when the own enchantment triggers the end
    "last_turn": 4.9,  # points an opponent is expected to make in its last turn
}
NAMES = tuple(WEIGHTS)
(
    PROMISE_1, PROMISE_2, PROMISE_3, SURPLUS, TOKEN, SLOT_FIRST, SLOT_MORE, THREAT, THREAT_MADE, OTHERS, NIAN_4, NIAN_5, BUST_NIAN,
    REVEAL_MORE, LEAD, LAST_TURN,
) = range(len(WEIGHTS))  # fmt: skip
NEVER = -1e9


@kernel
def pattern_value(w, points, fitting, more_turns, can_enchant):
    """Points that the cards fitting one enchantment stand for."""
    if fitting == 4 and can_enchant:
        return max(points, 4.0)
    promise = 0.0
    if more_turns:
        promise = w[PROMISE_3] if fitting >= 3 else w[PROMISE_2] if fitting == 2 else w[PROMISE_1] if fitting == 1 else 0.0
    return fitting + promise * max(points - 4.0, 0.0)


@kernel
def still_to_play(obs, k):
    """Does seat k (relative) have a turn after this one in the round under way?"""
    players = 2
    while obs[o.O_PLAYERS + players - 2] == 0:
        players += 1
    first = 0
    while obs[o.O_FIRST + first] == 0:
        first += 1
    return 0 < k < (first if first > 0 else players)


@kernel
def fitting_cards(obs, k, spirit):
    """Pool cards of seat k that fit into one enchantment of the spirit."""
    fitting = 0
    for part in range(PARTS_BEGIN[spirit], PARTS_BEGIN[spirit + 1]):
        at = o.O_POOL + k * NUM_KINDS + 2 * part
        fitting += min(np.int64(obs[at]) + np.int64(obs[at + 1]), np.int64(NEEDED[part]))
    return fitting


@kernel
def seat_value(obs, w, k, players):
    """What seat k (relative) stands for, in points."""
    more_turns = obs[o.O_TRIGGERED] == 0 or still_to_play(obs, k)
    can_enchant = more_turns or k == 0
    nian = np.int64(obs[o.O_NIAN + k])
    value = float(nian)
    if nian >= 4:
        value += w[NIAN_5] if nian == 5 else w[NIAN_4]
    value += w[TOKEN] * obs[o.O_TOKENS + k] if more_turns else 1.0 * obs[o.O_TOKENS + k]
    worst = 0.0
    for spirit in range(NUM_SPIRITS):
        points = float(obs[o.O_OPTIONS + POINTS + spirit])
        value += points * obs[o.O_ENCHANTMENTS + k * NUM_SPIRITS + spirit]
        fitting = fitting_cards(obs, k, spirit)
        whole = pattern_value(w, points, fitting, more_turns, can_enchant)
        broken = whole - pattern_value(w, points, fitting - 1, more_turns, can_enchant) if fitting > 0 else 0.0
        value += whole
        for part in range(PARTS_BEGIN[spirit], PARTS_BEGIN[spirit + 1]):
            at = o.O_POOL + k * NUM_KINDS + 2 * part
            held = np.int64(obs[at]) + np.int64(obs[at + 1])
            spare = held - np.int64(NEEDED[part])
            if spare > 0:
                value += spare * (1.0 + (w[SURPLUS] if more_turns else 0.0))
            if held > 0:
                loss = 1.0 if spare > 0 else broken
                if loss > worst and (can_be_captured(obs, k, 2 * part, players) or can_be_captured(obs, k, 2 * part + 1, players)):
                    worst = loss
    value += slots_value(obs, w, k, more_turns)
    if obs[o.O_OPTIONS + SCORE_LAID_TOKENS]:
        for kind in range(NUM_KINDS):
            value += obs[o.O_PROTECTED + k * NUM_KINDS + kind]
    return value - (w[THREAT] if k == 0 else w[THREAT_MADE]) * worst


@kernel
def slots_value(obs, w, k, more_turns):
    """Capture cards count a point each, and more for what they can still capture."""
    yin = 0
    yang = 0
    for part in range(NUM_KINDS // 2):
        yin += np.int64(obs[o.O_SLOTS + k * NUM_KINDS + 2 * part])
        yang += np.int64(obs[o.O_SLOTS + k * NUM_KINDS + 2 * part + 1])
    value = float(yin + yang)
    if more_turns:
        value += w[SLOT_FIRST] * (min(yin, 1) + min(yang, 1)) + w[SLOT_MORE] * (max(yin - 1, 0) + max(yang - 1, 0))
    return value


@kernel
def can_be_captured(obs, k, kind, players):
    """Could another seat that has a turn to come (or has the turn) capture a card of that kind from seat k with what it holds?"""
    held = obs[o.O_POOL + k * NUM_KINDS + kind]
    if held == 0:
        return False
    bare = held > obs[o.O_PROTECTED + k * NUM_KINDS + kind]
    for j in range(players):
        if j == k or (obs[o.O_TRIGGERED] and j != 0 and not still_to_play(obs, j)):
            continue
        opposite = False
        same = False
        for part in range(NUM_KINDS // 2):
            at = o.O_SLOTS + j * NUM_KINDS + 2 * part
            opposite = opposite or obs[at + 1 - kind % 2] > 0
            same = same or obs[at + kind % 2] > 0
        if opposite and (bare or same):
            return True
    return False


@kernel
def position_value(obs, w, players):
    """The own value less the others' (the best of them counts half, their mean half)."""
    best = NEVER
    total = 0.0
    for k in range(1, players):
        value = seat_value(obs, w, k, players)
        total += value
        best = max(best, value)
    return seat_value(obs, w, 0, players) - w[OTHERS] * 0.5 * (best + total / (players - 1))


# -- the value of single changes; each undoes what it did to the (scratch) observation ------------------------------------


@kernel
def gain_of_pool_card(obs, w, players, kind, base):
    obs[o.O_POOL + kind] += 1
    gain = position_value(obs, w, players) - base
    obs[o.O_POOL + kind] -= 1
    return gain


@kernel
def gain_of_slot_card(obs, w, players, kind, base):
    used = 0
    for j in range(NUM_KINDS):
        used += np.int64(obs[o.O_SLOTS + j])
    if used >= obs[o.O_OPTIONS + CAPTURE_SLOTS]:
        return NEVER
    obs[o.O_SLOTS + kind] += 1
    gain = position_value(obs, w, players) - base
    obs[o.O_SLOTS + kind] -= 1
    return gain


@kernel
def gain_of_card(obs, w, players, kind, base):
    """What collecting a card is worth, put where it serves best."""
    return max(gain_of_pool_card(obs, w, players, kind, base), gain_of_slot_card(obs, w, players, kind, base))


@kernel
def paid_card(obs, symbol):
    """The capture card of that symbol that the rules make a seat pay, or -1."""
    for kind in range(symbol, NUM_KINDS, 2):
        if obs[o.O_SLOTS + kind] > 0:
            return kind
    return -1


@kernel
def gain_of_capture(obs, w, players, k, kind, base):
    """What a legal capture of a card, or of a Nian Shou, is worth."""
    nian = kind == CAPTURE_NIAN
    if nian and obs[o.O_NIAN] == NUM_NIAN - 1:
        return -NEVER  # the sixth wins
    bare = not nian and obs[o.O_POOL + k * NUM_KINDS + kind] > obs[o.O_PROTECTED + k * NUM_KINDS + kind]
    shield = not nian and not bare
    yin = paid_card(obs, 0) if nian or shield or kind % 2 == 1 else -1
    yang = paid_card(obs, 1) if nian or shield or kind % 2 == 0 else -1
    token = 1 if shield or obs[o.O_SUPPLY] > 0 else 0
    for sign in (-1, 1):
        if yin >= 0:
            obs[o.O_SLOTS + yin] += sign
        if yang >= 0:
            obs[o.O_SLOTS + yang] += sign
        if nian:
            obs[o.O_NIAN + k] += sign
            obs[o.O_NIAN] -= sign
        else:
            obs[o.O_POOL + k * NUM_KINDS + kind] += sign
            obs[o.O_POOL + kind] -= sign
            if shield:
                obs[o.O_PROTECTED + k * NUM_KINDS + kind] += sign
        obs[o.O_TOKENS + k] -= sign * token
        if sign == -1:
            gain = position_value(obs, w, players) - base
    return gain


@kernel
def gain_of_enchanting(obs, w, players, spirit):
    """An enchantment is safe, and may trigger the end: good for who is ahead."""
    gain = 0.01  # safe from captures
    if obs[o.O_TRIGGERED]:
        return gain
    count = 0
    for p in range(NUM_SPIRITS):
        n = np.int64(obs[o.O_ENCHANTMENTS + p]) + (p == spirit)
        count += min(n, 1) if obs[o.O_OPTIONS + END_DISTINCT] else n
    if count < obs[o.O_OPTIONS + END_ENCHANTMENTS]:
        return gain
    own = float(obs[o.O_POINTS])
    for p in range(NUM_SPIRITS):
        if fitting_cards(obs, 0, p) == 4:
            own += max(float(obs[o.O_OPTIONS + POINTS + p]) - 4.0, 0.0)
    best = NEVER
    for k in range(1, players):
        points = float(obs[o.O_POINTS + k])
        if still_to_play(obs, k):
            points += w[LAST_TURN]
            for p in range(NUM_SPIRITS):
                if fitting_cards(obs, k, p) == 4:
                    points += max(float(obs[o.O_OPTIONS + POINTS + p]) - 4.0, 0.0)
        best = max(best, points)
    return gain + w[LEAD] * min(max(own - best, -10.0), 10.0)


@kernel
def mean_gain(obs, w, players, base, cards):
    """What a summon that looks at `cards` cards of the deck is worth: about the mean gain, and more for more to choose from."""
    total = 0.0
    best = 0.0
    count = 0
    for kind in range(NUM_KINDS):
        n = np.int64(obs[o.O_DECK + kind])
        if n > 0:
            gain = gain_of_pool_card(obs, w, players, kind, base)
            total += n * gain
            count += n
            best = max(best, gain)
    if count == 0:
        return 1.0
    return total / count + (best - total / count) * (0.6 if cards == 4 else 0.35)


@kernel
def gain_of_summon(obs, w, players, spirit, base):
    """What a summon is worth, its token paid. (A unicorn's is what summoning again the best other enchantment brings.)"""
    if spirit == VERMILION_BIRD:
        gain = 0.0
        for kind in range(NUM_KINDS):
            if obs[o.O_DISCARD + kind] > 0:
                gain = max(gain, gain_of_slot_card(obs, w, players, kind, base))
    elif spirit in (TURTLE_SNAKE, AZURE_DRAGON):
        gain = mean_gain(obs, w, players, base, 4 if spirit == TURTLE_SNAKE else 2)
    elif spirit == METAL_TIGER:
        if obs[o.O_NIAN] == NUM_NIAN - 1:
            return -NEVER
        obs[o.O_NIAN] += 1
        gain = position_value(obs, w, players) - base
        obs[o.O_NIAN] -= 1
    else:
        gain = 0.0
        if obs[o.O_TOKENS] >= 2:
            for other in range(UNICORN):
                if obs[o.O_SUMMONED + other] > 0 and (other != METAL_TIGER or obs[o.O_CENTRE_NIAN] > 0):
                    gain = max(gain, gain_of_summon_again(obs, w, players, other, base))
    return gain - w[TOKEN]


@kernel
def gain_of_summon_again(obs, w, players, spirit, base):
    if spirit == METAL_TIGER:
        return 1.0 - w[TOKEN]
    if spirit == VERMILION_BIRD:
        return 0.0
    return mean_gain(obs, w, players, base, 4 if spirit == TURTLE_SNAKE else 2) - w[TOKEN]


# -- the decisions -------------------------------------------------------------------------------------------------------


@kernel
def rescuable(gains, count, tokens, w):
    """What rescuing the best of `count` cards with the tokens is worth, each token paid."""
    total = 0.0
    for _ in range(min(tokens, count)):
        best = 0
        for j in range(count):
            if gains[j] > gains[best]:
                best = j
        if gains[best] <= w[TOKEN]:
            break
        total += gains[best] - w[TOKEN]
        gains[best] = NEVER
    return total


@kernel
def decide_reveal(obs, w, players, base, gains, scratch):
    """Reveal, if the cards that can follow are worth more, on the mean, than stopping now."""
    stop = 0.0
    count = 0
    revealed_spirits = np.zeros(NUM_SPIRITS, np.int64)
    for kind in range(NUM_KINDS):
        if obs[o.O_REVEALED + kind] > 0:
            gains[count] = gain_of_card(obs, w, players, kind, base)
            stop += gains[count]
            revealed_spirits[SPIRIT[kind]] = 1
            count += 1
    tokens = min(np.int64(obs[o.O_TOKENS]), np.int64(obs[o.O_OPTIONS + RESCUE_LIMIT]))
    total = 0.0
    possible = 0
    for kind in range(NUM_KINDS):
        known = obs[o.O_KNOWN_TOP + kind]
        n = np.int64(obs[o.O_DECK + kind]) if obs[o.O_TOP_SYMBOL + kind % 2] else 0
        for other in range(NUM_KINDS):
            if obs[o.O_KNOWN_TOP + other] and not known:
                n = 0
        if n == 0:
            continue
        possible += n
        gain = gain_of_card(obs, w, players, kind, base)
        if revealed_spirits[SPIRIT[kind]]:
            for j in range(count):
                scratch[j] = gains[j]
            gain += rescuable(scratch, count, tokens, w)
            if count == 1 and obs[o.O_CENTRE_NIAN] > 0:
                gain += 1.0 + w[BUST_NIAN]
                if obs[o.O_NIAN] == NUM_NIAN - 1:
                    gain += 1000.0
        else:
            gain += stop + w[REVEAL_MORE]
        total += n * gain
    return A_REVEAL if possible > 0 and total > possible * stop else A_STOP


@kernel
def gain_of_action(obs, w, players, a, base):
    """What a legal action of the phases rescue, place, act, choose and reclaim is worth, over doing nothing."""
    if a < A_PASS:
        for kind in range(NUM_KINDS):
            if SPIRIT[kind] == a - A_RESCUE and obs[o.O_REVEALED + kind] > (obs[o.O_BUSTING + kind] > 0) and not obs[o.O_RESCUED + kind]:
                return gain_of_card(obs, w, players, kind, base) - w[TOKEN]
        return gain_of_card(obs, w, players, 0, base) - w[TOKEN]
    if a in (A_PASS, A_END):
        return 0.0
    if a < A_ENCHANT:
        kind = 0
        while obs[o.O_PLACING + kind] == 0:
            kind += 1
        if a == A_PLACE_SPIRIT:
            return gain_of_pool_card(obs, w, players, kind, base)
        return gain_of_slot_card(obs, w, players, kind, base)
    if a < A_CAPTURE:
        return gain_of_enchanting(obs, w, players, a - A_ENCHANT)
    if a < A_PROTECT:
        k = 1 + (a - A_CAPTURE) // CAPTURE_STRIDE
        return gain_of_capture(obs, w, players, k, (a - A_CAPTURE) % CAPTURE_STRIDE, base)
    if a < A_SUMMON:
        obs[o.O_PROTECTED + a - A_PROTECT] += 1
        obs[o.O_TOKENS] -= 1
        gain = position_value(obs, w, players) - base
        obs[o.O_PROTECTED + a - A_PROTECT] -= 1
        obs[o.O_TOKENS] += 1
        return gain
    if a < A_CHOOSE:
        return gain_of_summon(obs, w, players, a - A_SUMMON, base)
    if a < A_RECLAIM:
        if obs[o.O_SUMMONED_SPIRIT + VERMILION_BIRD]:
            return gain_of_slot_card(obs, w, players, a - A_CHOOSE, base)
        return gain_of_pool_card(obs, w, players, a - A_CHOOSE, base)
    return gain_of_summon_again(obs, w, players, a - A_RECLAIM, base) if a - A_RECLAIM != UNICORN else NEVER / 2


@kernel
def decide(obs, mask, w, gains, scratch):
    """The action for one decision. `obs` is changed and restored on the way."""
    players = 2
    while obs[o.O_PLAYERS + players - 2] == 0:
        players += 1
    base = position_value(obs, w, players)
    if mask[A_REVEAL]:
        return decide_reveal(obs, w, players, base, gains, scratch)
    best = -1
    best_gain = 2 * NEVER
    for a in range(mask.size):
        if mask[a]:
            gain = gain_of_action(obs, w, players, a, base)
            if gain > best_gain:
                best = a
                best_gain = gain
    return best


@kernel
def decide_rows(observation, mask, w, actions):
    """The actions for a batch of decisions."""
    obs = np.zeros(observation.shape[1], np.int8)
    gains = np.zeros(NUM_SPIRITS + 1)
    scratch = np.zeros(NUM_SPIRITS + 1)
    for i in range(observation.shape[0]):
        obs[:] = observation[i]
        actions[i] = decide(obs, mask[i], w, gains, scratch)


class BeyondHeuristic:
    """Plays Beyond by rule of thumb, for 2 to 4 players and all options. `weights` changes some of WEIGHTS by name."""

    name = "heuristic"

    def __init__(self, **weights: float) -> None:
        if unknown := sorted(set(weights) - set(WEIGHTS)):
            raise ValueError(f"the Beyond heuristic has no weight {unknown[0]!r}; weights: {', '.join(WEIGHTS)}")
        self.weights = np.array(list((WEIGHTS | weights).values()), np.float64)
        announce("the Beyond heuristic", used_packages(__name__, KERNEL_PACKAGES), self._warm_up)

    def act(self, observation: np.ndarray, action_mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Actions (n,) for observation (n, D) and mask (n, A); EmptyMask if a row allows nothing. `rng` is not used."""
        check_masks(action_mask)
        actions = np.empty(len(observation), np.int64)
        # copies: of one dtype and writable, so that one compiled version serves all
        decide_rows(np.array(observation, np.int8, order="C"), np.array(action_mask, np.int8, order="C"), self.weights, actions)
        return actions

    def _warm_up(self) -> None:
        nothing = np.zeros((0, o.LAYOUT.size), np.int8)
        decide_rows(nothing, np.zeros((0, len(ACTIONS)), np.int8), self.weights, np.zeros(0, np.int64))


HEURISTIC = BeyondHeuristic
