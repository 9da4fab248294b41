"""Ratings find the strengths that games were drawn by, with two seats and with more, and say how sure they are."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from training.arena_schedule import by_order, groups
from training.ratings import SCALE, comparisons, fit, rate


def drawn(strength: list[float], players: int, deals: int, seed: int, draws: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(deal, seating, share) of a tournament in which an agent wins in proportion to exp(strength); a part of the games is drawn."""
    rng = np.random.default_rng(seed)
    deal, seating, share = [], [], []
    for group in groups(len(strength), players):
        for chosen, seats in by_order(group, range(deals)):
            for d in chosen:
                for seated in seats:
                    weight = np.exp([strength[k] for k in seated])
                    won = np.eye(players)[rng.choice(players, p=weight / weight.sum())]
                    deal.append(d)
                    seating.append(seated)
                    share.append(np.full(players, 1 / players) if rng.random() < draws else won)
    return np.array(deal), np.array(seating), np.array(share)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_strengths_are_found(players: int) -> None:
    strength = [0.0, 0.5, -0.7, 1.2]
    _, wins = comparisons(*drawn(strength, players, 400, seed=players), 4)
    found = rate(wins, anchor=0, samples=300)
    for rating, true in zip(found, strength, strict=True):
        assert rating.low is not None and rating.high is not None
        assert rating.value == pytest.approx(SCALE * true, abs=0.15 * SCALE)
        assert rating.low <= SCALE * true + 20 and rating.high >= SCALE * true - 20
    assert found[0].value == found[0].low == found[0].high == 0


def test_comparisons_by_hand() -> None:
    """Of four seats three share the victory: each beats the fourth, and each of the others, by a third."""
    deals, wins = comparisons(np.array([7]), np.array([[0, 1, 2, 3]]), np.array([[1 / 3, 1 / 3, 0, 1 / 3]]), 4)
    third = 1 / 3
    assert deals.tolist() == [7]
    assert wins[0].tolist() == [[0, third, third, third], [third, 0, third, third], [0, 0, 0, 0], [third, third, third, 0]]


def test_with_two_players_it_is_the_likeliest_fit() -> None:
    """Against a general optimiser on the likelihood of Bradley and Terry, draws counting half, with the prior's wins."""
    _, wins = comparisons(*drawn([0.0, 1.0, 0.3], 2, 40, seed=5, draws=0.3), 3)
    total = wins.sum(axis=0)

    def loss(free: np.ndarray) -> float:
        s = np.concatenate([[0.0], free])
        return float(((total + 0.25 * (1 - np.eye(3))) * np.log1p(np.exp(s[None, :] - s[:, None]))).sum())

    best = minimize(loss, np.zeros(2)).x
    assert fit(total) == pytest.approx([0.0, *SCALE * best], abs=0.05)


def test_intervals_cover_at_about_their_rate() -> None:
    """Of 40 tournaments at least 33 of the 95 % intervals hold the true difference."""
    covered = 0
    for seed in range(40):
        _, wins = comparisons(*drawn([0.0, 0.4], 2, 40, seed=100 + seed), 2)
        rating = rate(wins, samples=100)[1]
        assert rating.low is not None and rating.high is not None
        covered += rating.low <= SCALE * 0.4 <= rating.high
    assert covered >= 33


def test_games_of_a_deal_are_resampled_together() -> None:
    """Eight copies of each game are no more knowledge: the interval stays, where resampling games would shrink it to a third."""
    deal, seating, share = drawn([0.0, 0.3], 2, 60, seed=3)
    once = rate(comparisons(deal, seating, share, 2)[1])[1]
    copies = rate(comparisons(np.tile(deal, 8), np.tile(seating, (8, 1)), np.tile(share, (8, 1)), 2)[1])[1]
    assert None not in (once.low, once.high, copies.low, copies.high)
    assert copies.high - copies.low == pytest.approx(once.high - once.low, rel=0.15)  # type: ignore[operator]


def test_comparisons_of_one_game_by_hand() -> None:
    """Seat 0 and seat 2 share the victory in a game of three; a copy of an agent is not compared with itself."""
    _, wins = comparisons(np.array([7]), np.array([[0, 1, 2]]), np.array([[0.5, 0.0, 0.5]]), 3)
    assert wins[0].tolist() == [[0, 0.5, 0.5], [0, 0, 0], [0.5, 0.5, 0]]
    _, wins = comparisons(np.array([7]), np.array([[0, 1, 0]]), np.array([[1.0, 0.0, 0.0]]), 2)
    assert wins[0].tolist() == [[0, 1], [0, 0]]
    deals, wins = comparisons(np.array([5, 2, 5]), np.array([[0, 1], [1, 0], [1, 0]]), np.array([[1.0, 0], [1, 0], [0.5, 0.5]]), 2)
    assert deals.tolist() == [2, 5]
    assert wins.tolist() == [[[0, 0], [1, 0]], [[0, 1.5], [0.5, 0]]]


def test_equal_agents_are_rated_equal_whatever_the_draws() -> None:
    wins = np.array([[[0, 1.0], [1, 0]]] * 20)
    assert [r.value for r in rate(wins)] == pytest.approx([0, 0], abs=1e-3)


def test_who_never_won_has_no_lower_bound_and_an_honest_upper_one() -> None:
    """Agent 2 lost all of 2 games on each of 50 deals against each of the others, which are even."""
    wins = np.zeros((50, 3, 3))
    wins[:, :2, 2] = 2
    wins[::2, 0, 1] = wins[1::2, 1, 0] = 2
    even, other, last = rate(wins, anchor=0, samples=200)
    assert None not in (even.low, even.high, other.low, other.high)
    assert last.low is None and last.high is not None and last.value < last.high
    lost = 1 / (1 + 10 ** (-last.high / 400))  # a chance of 7.1 % is what none of 50 deals leaves possible
    assert lost == pytest.approx(0.071, abs=0.004)
    first = rate(wins, anchor=2, samples=50)[0]
    assert first.high is None and first.low == pytest.approx(-last.high, abs=2)
