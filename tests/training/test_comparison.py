"""Intervals, effect sizes and corrections: against values worked out elsewhere, and by simulation."""

from __future__ import annotations

from math import inf, sqrt

import numpy as np
import pytest
from scipy.stats import false_discovery_control, ttest_rel

from training.balance import Metric
from training.comparison import (
    SMALL_EFFECT,
    Difference,
    decimals,
    difference,
    differences,
    estimate,
    holm,
    paired,
    running_difference,
    running_interval,
    running_p,
    settled,
)

NUMBER = Metric("captures", "captures per game", "play")
SHARE = Metric("seat_0", "share of seat 0", "seats", share=True)


def test_differences_of_numbers_are_students() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.gamma(2, size=80), rng.gamma(2, size=80)
    ours, theirs = difference(NUMBER, a, b), ttest_rel(a, b)
    interval = theirs.confidence_interval(0.95)
    assert (ours.low, ours.high, ours.p) == pytest.approx((interval.low, interval.high, theirs.pvalue))
    assert ours.effect == pytest.approx((a.mean() - b.mean()) / sqrt((a.var(ddof=1) + b.var(ddof=1)) / 2))


def test_differences_of_shares_are_bonett_and_prices() -> None:
    """40 pairs: 12 won by the first alone, 4 by the second alone (Bonett and Price 2012: add one to each of both)."""
    a = np.array([1.0] * 12 + [0.0] * 4 + [1.0] * 24)
    b = np.array([0.0] * 12 + [1.0] * 4 + [1.0] * 24)
    p12, p21 = 13 / 42, 5 / 42
    half = 2.0195 * sqrt((p12 + p21 - (p12 - p21) ** 2) / 41)  # Student's for 41 degrees of freedom
    ours = difference(SHARE, a, b)
    assert ours.mean == pytest.approx(8 / 40) and ours.effect == pytest.approx(20)
    assert (ours.low, ours.high) == pytest.approx((p12 - p21 - half, p12 - p21 + half), abs=1e-4)
    never = difference(SHARE, np.zeros(100), np.zeros(100))
    few = difference(NUMBER, np.full(3, 2.0), np.zeros(3))
    assert few.mean == 2 and few.p == 0.25
    assert never.low < 0 < never.high < 0.04 and never.p == 1  # nothing seen in 100 deals is not nothing


def test_a_single_deal_shows_nothing() -> None:
    seen = estimate(NUMBER, np.zeros(2), np.array([1.0, 4.0]))
    assert (seen.mean, seen.low, seen.high, seen.deals) == (2.5, -inf, inf, 1)
    for taken in (difference, running_difference):
        told = taken(NUMBER, np.array([3.0]), np.array([1.0]))
        assert (told.mean, told.low, told.high, told.p) == (2, -inf, inf, 1)
        assert str(told) == "captures per game +2.0 [-inf, +inf]"
    twice = running_difference(NUMBER, np.array([3.0, 4.0]), np.array([1.0, 2.0]))  # two deals may well differ by the same
    assert (twice.low, twice.high) == (-inf, inf)


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0] and holm([]) == []
    p = np.random.default_rng(1).random(50) ** 3
    assert (np.array(holm(p.tolist())) >= false_discovery_control(p) - 1e-12).all()  # Holm's is the stricter


def test_games_of_one_deal_are_one_observation() -> None:
    deal = np.repeat(np.arange(50), 4)
    value = np.repeat(np.random.default_rng(2).normal(size=50), 4)
    assert estimate(NUMBER, deal, value).high - estimate(NUMBER, deal, value).low == pytest.approx(
        estimate(NUMBER, np.arange(50), value[::4]).high - estimate(NUMBER, np.arange(50), value[::4]).low
    )
    ours, theirs = paired((deal, value), (np.array([3, 7, 99]), np.array([1.0, 2.0, 3.0])))
    assert ours == pytest.approx(value[[12, 28]]) and theirs == pytest.approx([1.0, 2.0])


def test_intervals_cover_as_often_as_they_say() -> None:
    rng = np.random.default_rng(3)
    covered = {"number": 0, "share": 0, "rare": 0}
    for _ in range(1000):
        luck = rng.normal(size=60)  # of the deal, common to both
        a, b = rng.poisson(np.exp(luck / 2)), rng.poisson(np.exp(luck / 2))
        covered["number"] += _covers(difference(NUMBER, a.astype(float), b.astype(float)))
        chance = 1 / (1 + np.exp(-luck))
        covered["share"] += _covers(difference(SHARE, (rng.random(60) < chance) * 1.0, (rng.random(60) < chance) * 1.0))
        covered["rare"] += _covers(difference(SHARE, (rng.random(60) < 0.02) * 1.0, (rng.random(60) < 0.02) * 1.0))
    assert 930 <= covered["number"] <= 970 and 930 <= covered["share"] <= 970, covered
    assert covered["rare"] >= 930, covered


def _covers(d: Difference) -> bool:
    return d.low <= 0 <= d.high


@pytest.mark.parametrize("metric", [NUMBER, SHARE])
def test_looking_again_and_again_keeps_the_error(metric: Metric) -> None:
    """Of 100 pairs that do not differ, looked at four times each, hardly any is ever told apart; one that differs is."""
    rng = np.random.default_rng(4)
    wrong = 0
    for _ in range(100):
        a, b = ((rng.random((2, 2000)) < 0.5) * 1.0) if metric.share else rng.exponential(size=(2, 2000))
        for n in range(500, 2001, 500):
            low, high = running_interval(metric, a[:n], b[:n], 0.05)
            if low > 0 or high < 0:
                wrong += 1
                break
    assert wrong <= 11  # 5 % and three standard errors
    apart = running_interval(metric, a, b - 0.3 if not metric.share else b * (rng.random(2000) < 0.7), 0.05)
    assert apart[0] > 0


@pytest.mark.parametrize("metric", [NUMBER, SHARE])
def test_the_p_value_of_many_looks_is_the_error_at_which_the_interval_excludes_zero(metric: Metric) -> None:
    rng = np.random.default_rng(6)
    a, b = (rng.random((2, 400)) < [[0.6], [0.5]]) * 1.0 if metric.share else rng.normal([[0.2], [0.0]], size=(2, 400))
    p = running_p(metric, a, b)
    assert 1e-6 < p < 0.9
    for error, excluded in ((0.98 * p, False), (1.5 * p, True)):  # of shares to within a thousandth
        low, high = running_interval(metric, a, b, error)
        assert (low > 0 or high < 0) is excluded
    assert running_p(metric, a, a) == 1.0 and running_p(metric, a[:1], b[:1]) == 1.0
    assert running_p(NUMBER, np.full(3, 2.0), np.zeros(3)) == 0.25


def test_stopping_when_it_looks_good_shows_no_more_than_five_per_cent() -> None:
    """One metric, 40 looks, stopped as soon as it is settled: what is then called a difference, of pairs that do not differ. Judged
    by Student's p-value it would be 6.4 %."""
    rng = np.random.default_rng(7)
    wrong = {"student": 0, "looked": 0}
    studies = 1000
    for _ in range(studies):
        a, b = rng.normal(size=(2, 2000))
        stop = next((n for n in range(50, 2001, 50) if settled(NUMBER, a[:n], b[:n], 0.05)), 2000)
        wrong["student"] += difference(NUMBER, a[:stop], b[:stop]).p < 0.05
        wrong["looked"] += running_difference(NUMBER, a[:stop], b[:stop]).p < 0.05
    assert wrong["looked"] <= 0.05 * studies < wrong["student"], wrong


def test_a_few_deals_settle_nothing_of_numbers() -> None:
    """What has not happened in a few deals may yet happen; and those that differ by the same show little."""
    assert not settled(NUMBER, np.zeros(20), np.zeros(20), 0.05)
    assert not settled(NUMBER, np.ones(20), np.zeros(20), 0.05)


def test_differences_of_shares_stay_between_minus_one_and_one() -> None:
    d = difference(SHARE, np.ones(6), np.zeros(6))
    assert d.mean == 1 and d.high == 1 and 0 < d.low < 1


def test_settled_is_told_apart_or_small() -> None:
    rng = np.random.default_rng(5)
    a = rng.normal(size=20_000)
    assert not settled(NUMBER, a[:200], a[:200] + rng.normal(scale=1, size=200), 0.05)
    assert settled(NUMBER, a, a + rng.normal(scale=0.5, size=a.size), 0.05)  # no difference, known to be below SMALL_EFFECT
    assert settled(NUMBER, a, a + 3 * SMALL_EFFECT, 0.05)


def test_what_never_changes_is_no_comparison() -> None:
    deal = np.arange(10)
    nothing = {"captures": (deal, np.zeros(10))}
    assert differences([NUMBER], nothing, nothing) == []
    assert len(differences([NUMBER], {"captures": (deal, np.ones(10))}, nothing)) == 1


def test_lines() -> None:
    told = Difference(NUMBER, -0.83, -0.941, -0.719, -0.1, 0.0, 100)
    assert str(told) == "captures per game -0.83 [-0.94, -0.72]"
    assert str(Difference(SHARE, 0.031, 0.0101, 0.0519, 3.1, 0.0, 100)) == "share of seat 0 +3.1 points [+1.0, +5.2]"
    assert decimals(-0.00001, -0.1, 0.1) == ("0.00", "-0.10", "0.10") and decimals(12.0, 12.0, 12.0) == ("12.0", "12.0", "12.0")
