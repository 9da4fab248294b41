"""Intervals for shares of victory."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

Z95 = 1.959964


@dataclass(frozen=True)
class Share:
    """A mean share of the victory (0 to 1) with its 95 % interval, over `games` games on `deals` common deals."""

    mean: float
    low: float
    high: float
    games: int
    deals: int

    def __str__(self) -> str:
        return f"{100 * self.mean:.1f} % [{100 * self.low:.1f}, {100 * self.high:.1f}]"


def share_by_deal(deal: np.ndarray, share: np.ndarray) -> Share:
    """The mean of `share` (one for each game) with a 95 % interval that counts games of the same deal as one observation.

    Wilson's score interval (1927), the number of games being the one that would have given the variance seen between deals: so it
    stays honest when all games are won, and gains from pairing when rotated seats cancel the luck of the deal. Where no variance
    is seen, games of one deal may be copies of each other: it is the number of deals.
    """
    _, index = np.unique(deal, return_inverse=True)
    per_deal = np.bincount(index, share) / np.bincount(index)
    deals, games = len(per_deal), len(share)
    mean = float(per_deal.mean())
    variance = float(per_deal.var(ddof=1)) / deals if deals > 1 else 0.25
    effective = float(deals)
    if variance > 1e-12 and 0 < mean < 1:
        effective = min(mean * (1 - mean) / variance, 4.0 * games)
    low, high = wilson(mean, effective)
    return Share(mean, low, high, games, deals)


def wilson(mean: float, n: float) -> tuple[float, float]:
    """Wilson's 95 % score interval for a proportion seen in n trials."""
    centre = (mean + Z95**2 / (2 * n)) / (1 + Z95**2 / n)
    half = Z95 / (1 + Z95**2 / n) * sqrt(max(mean * (1 - mean), 0.0) / n + Z95**2 / (4 * n * n))
    return max(min(centre - half, mean), 0.0), min(max(centre + half, mean), 1.0)  # rounding never puts the mean outside
