"""How variants differ: means and paired differences with their intervals, effect sizes, and how sure several at once are.

A deal is one observation: games of one deal are averaged first. Two variants are compared on their common deals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, floor, inf, log, log10, sqrt

import numpy as np

from training.balance import Metric
from training.sequential import capital, interval
from training.statistics import share_by_deal

ERROR = 0.05
SMALL_SHARE = 0.02  # differences that need not be told from none: 2 percentage points
SMALL_EFFECT = 0.1  # and a tenth of the standard deviation
RHO2 = 0.02  # of `running_interval`: narrowest at a few hundred deals
LEAST = 100  # deals before a difference of numbers counts as settled: the intervals of fewer cannot be trusted


@dataclass(frozen=True)
class Estimate:
    """A mean with its 95 % interval, over `games` games on `deals` deals; sd: standard deviation between deals."""

    mean: float
    low: float
    high: float
    sd: float
    games: int
    deals: int


@dataclass(frozen=True)
class Difference:
    """Variant minus baseline: mean with 95 % interval over `deals` common deals. effect: of a share the difference in percentage points,
    else Cohen's d (in standard deviations between deals, of both variants pooled). p: two-sided; holm: the same, corrected by Holm
    (1979) for all comparisons of the study, once `holm` has been called."""

    metric: Metric
    mean: float
    low: float
    high: float
    effect: float
    p: float
    deals: int
    holm: float = 1.0

    @property
    def sure(self) -> bool:
        """Is a difference shown, corrected for the number of comparisons?"""
        return self.holm < ERROR

    def __str__(self) -> str:
        """`captures per game -0.8 [-0.9, -0.7]`; differences of shares in percentage points."""
        scale = 100 if self.metric.share else 1
        mean, low, high = decimals(scale * self.mean, scale * self.low, scale * self.high, sign=True)
        return f"{self.metric.title} {mean}{' points' if self.metric.share else ''} [{low}, {high}]"


def decimals(mean: float, low: float, high: float, sign: bool = False) -> tuple[str, str, str]:
    """The three as text, with so many decimals that the interval's half-width has two significant figures, at most four."""
    half = (high - low) / 2
    places = min(max(1 - floor(log10(half)), 0), 4) if 0 < half < inf else 1
    rounded = (round(value, places) + 0.0 for value in (mean, low, high))  # + 0.0: no minus before a zero
    mean_text, low_text, high_text = (f"{value:{'+' if sign else ''}.{places}f}" for value in rounded)
    return mean_text, low_text, high_text


def estimate(metric: Metric, deal: np.ndarray, value: np.ndarray) -> Estimate:
    """The mean of one number a game: Wilson's interval for shares (see `share_by_deal`), Student's for all else."""
    _, per_deal = by_deal(deal, value)
    n = per_deal.size
    sd = float(per_deal.std(ddof=1)) if n > 1 else 0.0
    if metric.share:
        share = share_by_deal(deal, np.clip(value, 0.0, 1.0))
        return Estimate(share.mean, share.low, share.high, sd, share.games, share.deals)
    mean = float(per_deal.mean())
    half = student(n) * sd / sqrt(n) if n > 1 else inf
    return Estimate(mean, mean - half, mean + half, sd, value.size, n)


def by_deal(deal: np.ndarray, value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The deals, ascending, and the mean of each."""
    deals, index = np.unique(deal, return_inverse=True)
    return deals, np.bincount(index, value) / np.bincount(index)


def student(n: int, error: float = ERROR) -> float:
    """Half-width of Student's interval of the mean of n observations, in standard errors; infinite for a single one."""
    from scipy.stats import t

    return float(t.isf(error / 2, n - 1)) if n > 1 else inf


def paired(a: tuple[np.ndarray, np.ndarray], b: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """(deal, number a game) of two variants -> the means of their common deals, (n,) each."""
    (deals_a, mean_a), (deals_b, mean_b) = by_deal(*a), by_deal(*b)
    _, at_a, at_b = np.intersect1d(deals_a, deals_b, assume_unique=True, return_indices=True)
    return mean_a[at_a], mean_b[at_b]


def difference(metric: Metric, value: np.ndarray, baseline: np.ndarray) -> Difference:
    """value minus baseline, deal by deal; at least one deal.

    Differences of shares get one deal of +1 and one of -1 more: the interval of Bonett and Price (2012) for paired proportions, which
    stays honest when hardly any deal differs.
    """
    from scipy.stats import t

    seen = value - baseline
    d = np.concatenate([seen, [1.0, -1.0]]) if metric.share else seen
    n = d.size
    mean, sd = float(d.mean()), float(d.std(ddof=1)) if n > 1 else 0.0
    error = sd / sqrt(n)
    half = student(n) * error if n > 1 else inf
    p = 1.0 if mean == 0 or n < 2 else 0.0 if error == 0 else float(2 * t.sf(abs(mean) / error, n - 1))
    p = max(p, 2.0 ** (1 - seen.size))  # a few deals that differ by the same prove no more than their signs do
    told = float(seen.mean())
    low, high = min(mean - half, told), max(mean + half, told)
    if metric.share:
        low, high = max(low, -1.0), min(high, 1.0)
    return Difference(metric, told, low, high, effect_size(metric, value, baseline), p, seen.size)


def effect_size(metric: Metric, value: np.ndarray, baseline: np.ndarray) -> float:
    """Of a share the difference in percentage points, else Cohen's d; 0 where nothing varies."""
    told, pooled = float((value - baseline).mean()), pooled_sd(value, baseline)
    return 100 * told if metric.share else told / pooled if pooled > 0 else 0.0


def pooled_sd(a: np.ndarray, b: np.ndarray) -> float:
    return sqrt((float(a.var(ddof=1)) + float(b.var(ddof=1))) / 2) if a.size > 1 else 0.0


def holm(p: Sequence[float]) -> list[float]:
    """p-values corrected by Holm's step-down procedure (1979): together they are wrong with a chance of 5 % at most."""
    order = np.argsort(p, kind="stable")
    factors = np.arange(len(order), 0, -1)
    stepped = np.minimum(np.maximum.accumulate(np.asarray(p, np.float64)[order] * factors), 1.0)
    corrected = np.empty(len(order))
    corrected[order] = stepped
    return corrected.tolist()


# -- looking again and again -------------------------------------------------------------------------------------------


def running_interval(metric: Metric, value: np.ndarray, baseline: np.ndarray, error: float) -> tuple[float, float]:
    """Bounds of the difference that hold at all looks at once, with a chance of 1 - error: a confidence sequence, its newest entry.

    Of shares by betting (`training.sequential`), for any distribution; of other numbers the asymptotic confidence sequence of
    Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas (2024), by the standard deviation seen: for looks at a few hundred deals and more.
    """
    d = value - baseline
    if metric.share:
        low, high = interval(np.clip(0.5 + d / 2, 0.0, 1.0), error)
        return 2 * low - 1, 2 * high - 1
    n = d.size
    if d.std() == 0 and 2.0 ** (1 - n) > error:  # a few deals that differ by the same
        return -inf, inf
    half = float(d.std()) * sqrt(2 * (n * RHO2 + 1) / (n * n * RHO2) * log(sqrt(n * RHO2 + 1) / error))
    return float(d.mean()) - half, float(d.mean()) + half


def running_p(metric: Metric, value: np.ndarray, baseline: np.ndarray) -> float:
    """The smallest error with which `running_interval` excludes 0: a p-value that may be looked at again and again, for the chance that
    it is ever below any error is that error at most."""
    d = value - baseline
    n = d.size
    if metric.share:
        x = np.clip(0.5 + d / 2, 0.0, 1.0)
        gained = max(float(capital(each, 0.5).max()) for each in (x, 1 - x))
        return min(2 * exp(-gained), 1.0)
    mean, variance = float(d.mean()), float(d.var())
    if mean == 0 or n < 2:
        return 1.0
    # the solution of |mean| = half-width for the error
    exponent = mean * mean * n * n * RHO2 / (2 * variance * (n * RHO2 + 1)) if variance > 0 else inf
    p = exp(0.5 * log(n * RHO2 + 1) - exponent) if exponent < 700 else 0.0
    return max(min(p, 1.0), 2.0 ** (1 - n))  # as in `difference`


def running_difference(metric: Metric, value: np.ndarray, baseline: np.ndarray) -> Difference:
    """`difference`, its interval and p-value being those that hold at all looks at once."""
    told = float((value - baseline).mean())
    low, high = running_interval(metric, value, baseline, ERROR)
    effect, p = effect_size(metric, value, baseline), running_p(metric, value, baseline)
    return Difference(metric, told, min(low, told), max(high, told), effect, p, value.size)


def settled(metric: Metric, value: np.ndarray, baseline: np.ndarray, error: float) -> bool:
    """Is the difference told from none, or known to be small (SMALL_SHARE, SMALL_EFFECT)?"""
    if not metric.share and value.size < LEAST:
        return False
    low, high = running_interval(metric, value, baseline, error)
    small = SMALL_SHARE if metric.share else SMALL_EFFECT * pooled_sd(value, baseline)
    return low > 0 or high < 0 or (-small <= low and high <= small)


Columns = Mapping[str, tuple[np.ndarray, np.ndarray]]  # name of a metric -> (deal, number a game)


def differences(metrics: Sequence[Metric], variant: Columns, baseline: Columns, looked: bool = False) -> list[Difference]:
    """All metrics that variants are compared by and that both have on common deals. looked: by intervals that hold at all looks."""
    found = []
    taken = running_difference if looked else difference
    for metric in metrics:
        if metric.compared and metric.name in variant and metric.name in baseline:
            ours, theirs = paired(variant[metric.name], baseline[metric.name])
            if ours.size and np.ptp(np.concatenate([ours, theirs])) > 0:  # what never changes tells nothing
                found.append(taken(metric, ours, theirs))
    return found


def all_settled(metrics: Sequence[Metric], variant: Columns, baseline: Columns, error: float) -> bool:
    """Is every difference settled, each with that chance of error?"""
    compared = [m for m in metrics if m.compared and m.name in variant and m.name in baseline]
    return all(settled(metric, *paired(variant[metric.name], baseline[metric.name]), error) for metric in compared)
