"""How a game ends: six Nian Shou, or points, ties and shared victories."""

from __future__ import annotations

import numpy as np

from beyond_env.cards import NUM_KINDS, NUM_NIAN, NUM_SPIRITS, SPIRITS
from beyond_env.rules import POINTS, SCORE_LAID_TOKENS
from tabletop.compiled import kernel

PATTERN_SIZE = sum(SPIRITS[0].pattern)



@kernel
def finish(s):
    s["over"] = 1
    s["seat"] = -1


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
