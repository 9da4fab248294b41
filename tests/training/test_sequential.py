"""The sequential test keeps its error rate however often one looks, and finds what is there."""

from __future__ import annotations

import numpy as np
import pytest

from training.sequential import Sure, capital, interval, settle


def pairs(p: float, n: int, rng: np.random.Generator) -> np.ndarray:
    """What one of two players gets of n deals, each played in both seats, if it wins games with probability p."""
    return rng.binomial(2, p, n) / 2


def test_equal_players_are_seldom_settled() -> None:
    """At any of 2,000 looks: of 600 pairs at most 5 % and what chance adds (3.5 sigma)."""
    rng = np.random.default_rng(1)
    wrong = sum(settle(pairs(0.5, 2000, rng)).sign != 0 for _ in range(600))
    assert wrong <= 600 * 0.05 + 3.5 * (600 * 0.05 * 0.95) ** 0.5


def test_the_worse_player_is_hardly_ever_taken_for_the_better() -> None:
    rng = np.random.default_rng(2)
    assert sum(settle(pairs(0.51, 1500, rng)).sign < 0 for _ in range(300)) <= 300 * 0.025 + 3.5 * (300 * 0.025) ** 0.5


def test_rare_extremes_do_not_fool_it() -> None:
    """The mean is 1/2 and nearly all observations lie above: a normal interval would be sure after 100 of them."""
    rng = np.random.default_rng(3)
    drawn = [np.where(rng.random(1000) < 0.02, 0.0, 0.5 / 0.98) for _ in range(300)]
    assert sum(settle(x).sign != 0 for x in drawn) <= 300 * 0.05 + 3.5 * (300 * 0.05 * 0.95) ** 0.5


def test_differences_are_found() -> None:
    rng = np.random.default_rng(4)
    found = [settle(pairs(0.6, 2000, rng)) for _ in range(50)]
    assert all(f.sign > 0 for f in found) and np.median([f.at for f in found]) < 200
    lost = settle(np.zeros(30))
    assert lost.sign < 0 and 5 < lost.at < 20 and lost.n == 30
    assert settle(np.ones(30)).at == lost.at


def test_a_stricter_error_takes_longer_and_nothing_is_known_of_nothing() -> None:
    x = pairs(0.6, 3000, np.random.default_rng(5))
    assert 0 < settle(x).at < settle(x, 0.05 / 21).at
    assert settle(np.zeros(0)) == Sure(0, 0, 0)
    assert interval(np.zeros(0)) == (0.0, 1.0)


def test_more_observations_never_change_what_was_settled() -> None:
    x = pairs(0.6, 1000, np.random.default_rng(6))
    whole = settle(x)
    assert settle(x[: whole.at]) == Sure(whole.sign, whole.at, whole.at)
    assert settle(x[: whole.at - 1]).sign == 0


def test_the_capital_is_that_of_the_bets() -> None:
    """By hand: no bet first; then by mean and variance so far, the first guess counting for four observations."""
    d1, d2 = 0.5, -0.25
    bet2 = min((d1 / 5) / ((d1**2 + 1) / 5), 1.5)
    assert capital(np.array([1.0, 0.25]), 0.5) == pytest.approx([0.0, np.log(1 + bet2 * d2)])
    assert capital(np.ones(2), np.array([0.5, 0.25])).shape == (2, 2)


def test_intervals_hold_at_all_moments() -> None:
    rng = np.random.default_rng(7)
    missed = 0
    for _ in range(60):
        x = pairs(0.7, 400, rng)
        bounds = [interval(x[:n]) for n in (20, 50, 100, 200, 400)]
        missed += any(not low <= 0.7 <= high for low, high in bounds)
        assert bounds[-1][1] - bounds[-1][0] < bounds[0][1] - bounds[0][0]
    assert missed <= 60 * 0.05 + 3.5 * (60 * 0.05 * 0.95) ** 0.5


def test_wrong_input_is_named() -> None:
    with pytest.raises(ValueError, match="between 0 and 1, in one dimension"):
        settle(np.array([0.5, 1.5]))
    with pytest.raises(ValueError, match="error must"):
        settle(np.ones(3), 0.0)
    with pytest.raises(ValueError, match="middle must"):
        settle(np.ones(3), 0.05, 1.0)
