"""A test that may be looked at after every observation: for tournaments and experiments that play on until they know.

Hedged betting (Waudby-Smith and Ramdas 2024, "Estimating means of bounded random variables by betting", JRSS B 86): whoever holds
that the mean is above `middle` bets on each observation a share of the capital that is chosen from those before it. If the mean is
not above, the capital is a non-negative supermartingale, and the chance that it ever reaches 1/error is at most `error` (Ville
1939), at whatever moments one looks and stops, and for observations of any distribution on [0, 1].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MOST = 0.75  # of the largest bet that could lose all
PRIOR = 4.0  # observations that the first guess (mean as the middle, variance 1/4) counts for


@dataclass(frozen=True)
class Sure:
    """What is known after n observations. sign: +1 the mean is above the middle, -1 below, 0 not settled; n: observations seen;
    at: how many of them it took (0: not settled)."""

    sign: int
    n: int
    at: int


def capital(x: np.ndarray, middle: float | np.ndarray) -> np.ndarray:
    """Logarithm of the capital of one who bets on a mean above `middle`, after each of the observations x (n,) in [0, 1], in the order
    in which they came: (n,), or (n, k) for k middles (each inside 0 to 1).

    The bet is the growth-optimal one for mean and variance as seen so far ("aGRAPA"), never below 0: which keeps the test one-sided.
    """
    observed = np.asarray(x, np.float64)
    if observed.ndim != 1 or (observed.size and not (observed.min() >= -1e-9 and observed.max() <= 1 + 1e-9)):
        raise ValueError("observations must lie between 0 and 1, in one dimension")
    m = np.asarray(middle, np.float64)
    if not ((m > 0) & (m < 1)).all():
        raise ValueError(f"middle must lie between 0 and 1, not {middle}")
    d = observed.reshape(-1, *(1,) * m.ndim) - m
    before = np.arange(observed.size).reshape(-1, *(1,) * m.ndim) + PRIOR
    total = np.cumsum(d, axis=0) - d  # of the observations before each
    squares = np.cumsum(d * d, axis=0) - d * d + PRIOR / 4
    mean = total / before
    bet = np.clip(mean / np.maximum(squares / before, 1e-12), 0.0, MOST / m)
    return np.cumsum(np.log1p(bet * d), axis=0)


def settle(x: np.ndarray, error: float = 0.05, middle: float = 0.5) -> Sure:
    """Is the mean of x (n,) above or below the middle? The chance that it is ever settled wrongly is at most `error`.

    x: observations in [0, 1] in the order in which they came, each a fair draw whatever came before: one for each *deal*, as
    games of one deal are not independent. To compare a with b: 0.5 + half the difference of what they got.
    """
    if not 0 < error < 1:
        raise ValueError(f"error must lie between 0 and 1, not {error}")
    observed = np.asarray(x, np.float64)
    enough = np.log(2 / error)  # half the error for each side
    up, down = capital(observed, middle) >= enough, capital(1 - observed, 1 - middle) >= enough
    first = [int(np.argmax(side)) + 1 if side.any() else 0 for side in (up, down)]
    sign = 0 if not any(first) else (1 if first[0] and (not first[1] or first[0] < first[1]) else -1)
    return Sure(sign, observed.size, first[0] if sign > 0 else first[1] if sign < 0 else 0)


def interval(x: np.ndarray, error: float = 0.05, steps: int = 1000) -> tuple[float, float]:
    """Bounds of the mean that hold at all moments at once with a chance of 1 - `error` (a confidence sequence, its newest entry):
    the means that `settle` would not yet have excluded, to within 1/steps."""
    observed = np.asarray(x, np.float64)
    if not observed.size:
        return 0.0, 1.0
    grid = np.arange(1, steps) / steps
    enough = np.log(2 / error)

    def excluded_below(values: np.ndarray) -> float:
        """How far up means are excluded as too low: a bisection, as the capital falls with the middle."""
        lo, hi = -1, grid.size
        while hi - lo > 1:
            at = (lo + hi) // 2
            if capital(values, float(grid[at])).max() >= enough:
                lo = at
            else:
                hi = at
        return float(grid[lo]) if lo >= 0 else 0.0

    return excluded_below(observed), 1 - excluded_below(1 - observed)
