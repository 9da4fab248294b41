"""Ratings of agents from what they got of the victory in games of two to four, with intervals.

The model is that of Bradley and Terry (1952), for several players that of Luce (1959) and Plackett (1975): an agent wins a game with
a chance proportional to its strength. Each game counts as comparisons of each seat with each other: a winner beats each of the rest;
winners who share a victory k ways beat the rest and each other by 1/k; a game without a winner is a draw of all. With two players the
fit of these comparisons is the maximum-likelihood fit. With more it is a composite likelihood: under Luce's model who of two wins,
given that one of them does, depends on these two alone, so the comparisons estimate the same strengths (top-choice breaking is
consistent: Azari Soufiani, Chen, Parkes, Xia 2013), but are not independent: their intervals come from resampling *deals*, as games
of a deal have their cards in common.

Ratings are on the scale of Elo (1978): 400 points are odds of 10 to 1. The anchor has rating 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse.csgraph import connected_components

from training.statistics import wilson

SCALE = 400 / np.log(10)
PRIOR = 0.25  # wins of each agent over each other that are added, so that who never won has a rating too
PERCENTILES = (2.5, 97.5)


@dataclass(frozen=True)
class Rating:
    """An agent's rating over the anchor's, with its 95 % interval. low or high is None where the games set no bound: the agent
    won all of its games against those around the anchor, or none."""

    value: float
    low: float | None
    high: float | None


def comparisons(deal: np.ndarray, seating: np.ndarray, share: np.ndarray, agents: int) -> tuple[np.ndarray, np.ndarray]:
    """The different deals (d,), and wins (d, agents, agents): [k, i, j] = what i won against j in the games of deal k.

    deal (n,); seating (n, seats): agent by index; share (n, seats): share of the victory.
    """
    deals, place = np.unique(deal, return_inverse=True)
    wins = np.zeros((len(deals), agents, agents))
    for a in range(seating.shape[1]):
        for b in range(seating.shape[1]):
            other = seating[:, a] != seating[:, b]
            np.add.at(wins, (place[other], seating[other, a], seating[other, b]), share[other, a])
    return deals, wins


def fit(wins: np.ndarray, anchor: int = 0) -> np.ndarray:
    """Ratings (agents,) from wins (agents, agents), the anchor's being 0."""
    strength = _strength(wins + PRIOR * (1 - np.eye(len(wins))), None)
    return SCALE * (strength - strength[anchor])


def rate(wins: np.ndarray, anchor: int = 0, samples: int = 1000, seed: int = 0) -> list[Rating]:
    """Ratings with intervals (percentile bootstrap) from the wins of each deal, (deals, agents, agents)."""
    deals, agents, _ = wins.shape
    prior = PRIOR * (1 - np.eye(agents))
    total = wins.sum(axis=0)
    strength = _strength(total + prior, None)
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(deals, np.full(deals, 1 / deals), size=samples)
    drawn = (counts @ wins.reshape(deals, -1)).reshape(samples, agents, agents)
    found = np.array([_strength(sample + prior, strength) for sample in drawn])
    low, high = np.percentile(SCALE * (found - found[:, [anchor]]), PERCENTILES, axis=0)
    values = SCALE * (strength - strength[anchor])
    ratings = [Rating(float(v), float(lo), float(hi)) for v, lo, hi in zip(values, low, high, strict=True)]
    return _unbounded(ratings, total, deals, anchor)


def _strength(wins: np.ndarray, start: np.ndarray | None) -> np.ndarray:
    """The maximum-likelihood strengths (logarithms)."""
    import choix  # late: with it comes scipy.stats, a second of import time

    return choix.ilsr_pairwise_dense(wins, initial_params=start, max_iter=10_000, tol=1e-6)


def _unbounded(ratings: list[Rating], total: np.ndarray, deals: int, anchor: int) -> list[Rating]:
    """Ratings with the bounds taken away that the games do not set.

    Agents between whom wins go both ways, directly or by others, are rated by the games; who stands above or below the anchor's
    such group by the prior alone. Its bound towards the anchor is where it would be if all those who never won had won as often
    as can be ruled out at 97.5 % when nothing is seen on so many deals.
    """
    _, group = connected_components(total > 0, connection="strong")
    if (group == group[anchor]).all():
        return ratings
    chance = wilson(0.0, deals)[1]
    bounds = fit(total + chance * total.T * (group[:, None] != group), anchor)
    made = list(ratings)
    for i in np.flatnonzero(group != group[anchor]):
        value, bound = ratings[i].value, float(bounds[i])
        made[i] = Rating(value, None, max(bound, value)) if value < 0 else Rating(value, min(bound, value), None)
    return made
