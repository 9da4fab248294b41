"""The random stream of a record: Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011), counter-based, two words of state.

`stream[0]` is the key, `stream[1]` the number of words drawn. The key comes from (seed, row), so row i of a batch seeded s is
the single game seeded (s, i); a re-deal moves on to the next key, whatever was drawn before, so the n-th game of a row does
not depend on how the earlier ones were played. All arithmetic is 32 x 32 -> 64 bits: it cannot overflow, and runs alike
compiled and uncompiled.
"""

from __future__ import annotations

import secrets

import numpy as np

from tabletop.compiled import kernel

LOW = np.uint64(0xFFFFFFFF)
SHIFT = np.uint64(32)
MULTIPLY_0 = np.uint64(0xD2511F53)
MULTIPLY_1 = np.uint64(0xCD9E8D57)
WEYL_0 = np.uint64(0x9E3779B9)
WEYL_1 = np.uint64(0xBB67AE85)
ONE = np.uint64(1)
DRAWS = np.uint64(0)  # the last counter word tells apart what a key is used for
NEXT_GAME = np.uint64(1)
SEEDING = np.uint64(2)
GUESSING = np.uint64(3)


@kernel
def philox(key, counter, purpose):
    """64 random bits for a 64-bit key, a 64-bit counter and a purpose."""
    c0 = counter & LOW
    c1 = counter >> SHIFT
    c2 = np.uint64(0)
    c3 = purpose
    k0 = key & LOW
    k1 = key >> SHIFT
    for _ in range(10):
        p0 = MULTIPLY_0 * c0
        p1 = MULTIPLY_1 * c2
        c0, c1, c2, c3 = (p1 >> SHIFT) ^ c1 ^ k0, p1 & LOW, (p0 >> SHIFT) ^ c3 ^ k1, p0 & LOW
        k0 = (k0 + WEYL_0) & LOW
        k1 = (k1 + WEYL_1) & LOW
    return c0 | (c1 << SHIFT)


@kernel
def seed_stream(stream, seed, row):
    """Start the stream of (seed, row); both np.uint64."""
    stream[0] = philox(seed, row, SEEDING)
    stream[1] = np.uint64(0)


@kernel
def seed_guess(stream, seed, row):
    """Start the stream of a determinized position: that of no game, whatever the games' seeds are."""
    stream[0] = philox(seed, row, GUESSING)
    stream[1] = np.uint64(0)


@kernel
def next_game(stream):
    """Move on to the key of the row's next game."""
    stream[0] = philox(stream[0], np.uint64(0), NEXT_GAME)
    stream[1] = np.uint64(0)


@kernel
def draw_below(stream, n):
    """A whole number from 0 to n - 1, exactly uniform (Lemire 2019: multiply and reject). 0 < n < 2**31."""
    bound = np.uint64(n)
    while True:
        word = philox(stream[0], stream[1], DRAWS)
        stream[1] = stream[1] + ONE
        product = (word & LOW) * bound
        fraction = product & LOW
        if fraction >= bound or fraction >= (LOW + ONE - bound) % bound:
            return np.int64(product >> SHIFT)


@kernel
def shuffle(stream, cards, size):
    """Shuffle the first `size` entries of `cards` uniformly (Fisher-Yates)."""
    for last in range(size - 1, 0, -1):
        other = draw_below(stream, last + 1)
        card = cards[last]
        cards[last] = cards[other]
        cards[other] = card


def seed_words(seed: int | tuple[int, int] | None) -> tuple[int, int]:
    """(seed, first row) of a seed as users give it: a whole number, a pair (seed, row), or None for a fresh one."""
    if seed is None:
        return secrets.randbits(63), 0
    pair = seed if isinstance(seed, tuple) else (seed, 0)
    if len(pair) != 2 or not all(isinstance(n, int | np.integer) and 0 <= n < 2**64 for n in pair):
        raise ValueError(f"seed must be a whole number from 0 to 2**64-1, a pair (seed, row) of such, or None; not {seed!r}")
    return int(pair[0]), int(pair[1])
