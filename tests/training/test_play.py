"""Games between agents on common deals, the intervals of their shares, and evaluations made of both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tabletop
from agents.named import baselines, heuristic
from agents.random_agent import RandomAgent
from tabletop.errors import ActionError
from training.evaluate import evaluate
from training.play import play, rotations
from training.statistics import share_by_deal, wilson

GAME = tabletop.game("beyond")
TWO = GAME.variant("", 2)


class Names(RandomAgent):
    def __init__(self, name: str) -> None:
        self.name = name


@pytest.mark.parametrize(("agents", "players"), [(2, 2), (2, 3), (2, 4), (3, 3), (4, 4), (3, 2), (4, 3)])
def test_everyone_sits_everywhere_equally_often(agents: int, players: int) -> None:
    seats = np.array(rotations(agents, players))
    assert len({tuple(row) for row in seats.tolist()}) == len(seats)
    for agent in range(agents):
        in_seat = (seats == agent).sum(axis=0)
        assert in_seat.min() == in_seat.max() > 0
    if agents == players:
        assert all(sorted(row) == list(range(players)) for row in seats.tolist())


@pytest.mark.parametrize("players", [2, 3, 4])
def test_common_deals_and_whole_shares(players: int, monkeypatch: pytest.MonkeyPatch) -> None:
    decks: dict[int, set[bytes]] = {}
    made = tabletop.Tables

    def watched(*given: object, **options: object) -> tabletop.Tables:
        tables = made(*given, **options)  # type: ignore[arg-type]
        for deal, record in zip(options["deals"], tables.records, strict=True):  # type: ignore[call-overload]
            decks.setdefault(int(deal), set()).add(record["deck"].tobytes() + record["stream"].tobytes())
        return tables

    monkeypatch.setattr(tabletop, "Tables", watched)
    played = play(GAME, GAME.variant("", players), [RandomAgent(), Names("b")], 12, seed=5)
    assert len(played.deal) == 12 * players
    assert sorted(decks) == list(range(12))
    assert all(len(dealt) == 1 for dealt in decks.values()) and len(set.union(*decks.values())) == 12
    assert np.allclose(played.share.sum(axis=1), 1)
    assert np.allclose(played.share_of(0) + played.share_of(1), 1)
    assert np.allclose(played.rewards.sum(axis=1), 0, atol=1e-6)
    assert ((played.share > 0) == (played.rewards > 0)).all()
    assert (played.decisions > 0).all() and not played.truncated.any()
    assert (played.records["over"] == 1).all()


def test_the_same_call_gives_the_same_games() -> None:
    def played(seed: int, deals: int | np.ndarray = 8) -> tuple[bytes, ...]:
        games = play(GAME, TWO, [RandomAgent(), RandomAgent()], deals, seed)
        return games.records.tobytes(), games.share.tobytes(), games.decisions.tobytes()

    assert played(1) == played(1) == played(1, np.arange(8))
    assert played(1) != played(2)
    assert played(0) != played(1)


def test_rule_players_do_not_depend_on_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    agent = heuristic(GAME)
    assert agent is not None
    whole = play(GAME, TWO, [agent, agent], 9, seed=3)
    monkeypatch.setattr("training.play.MOST_TABLES", 5)
    told: list[tuple[int, int]] = []
    parts = play(GAME, TWO, [agent, agent], 9, seed=3, progress=lambda done, of: told.append((done, of)))
    assert (whole.records == parts.records).all() and (whole.deal == parts.deal).all() and (whole.seating == parts.seating).all()
    assert told == [(5, 18), (10, 18), (15, 18), (18, 18)]


def test_cut_off_games_are_counted() -> None:
    played = play(GAME, GAME.variant("", 3), [RandomAgent(), Names("b")], 6, seed=5, max_decisions=20)
    assert played.truncated.all() and len(played.deal) == 18
    assert np.allclose(played.share, 1 / 3) and (played.rewards == 0).all()


def test_a_draw_is_shared_by_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """A game that its rules end without a winner."""
    step = tabletop.Tables.step

    def drawn(self: tabletop.Tables, *given: object) -> None:
        step(self, *given)  # type: ignore[arg-type]
        self.records["won"] = 0

    monkeypatch.setattr(tabletop.Tables, "step", drawn)
    played = play(GAME, TWO, [RandomAgent(), Names("b")], 3)
    assert not played.truncated.any()
    assert np.allclose(played.share, 0.5)


@pytest.mark.parametrize("seatings", [[(0, 1, 0)], [(0, 2)], [(-1, 0)], []])
def test_wrong_seatings(seatings: list[tuple[int, ...]]) -> None:
    with pytest.raises(ValueError, match="seatings must name 2 of 2"):
        play(GAME, TWO, [RandomAgent(), RandomAgent()], 2, seatings=seatings)


class Odd:
    """Gives what it is made with for every decision, in that shape."""

    name = "odd"

    def __init__(self, given: Any) -> None:
        self.given = given

    def act(self, observation: np.ndarray, action_mask: np.ndarray, rng: np.random.Generator) -> Any:
        return self.given(action_mask)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (lambda mask: mask.argmax(1) + 0.5, "agent odd was asked for [0-9]+ actions and gave an array of shape"),
        (lambda mask: 0, "agent odd was asked for"),
        (lambda mask: mask.argmax(1)[:1], "agent odd was asked for"),
        (lambda mask: None, "agent odd was asked for"),
        (lambda mask: mask.argmin(1), "agent odd acted illegally: table"),
        (lambda mask: mask.argmax(1) + 1000, "agent odd acted illegally: table"),
    ],
)
def test_an_agent_that_errs_is_named(given: Any, message: str) -> None:
    with pytest.raises(ActionError, match=message):
        play(GAME, TWO, [RandomAgent(), Odd(given)], 3)


def test_a_wrong_seed_is_told() -> None:
    with pytest.raises(ValueError, match="seed must be a whole number"):
        play(GAME, TWO, [RandomAgent(), RandomAgent()], 1, seed=-1)


@pytest.mark.parametrize("deals", [0, -3])
def test_no_deals(deals: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        play(GAME, TWO, [RandomAgent(), RandomAgent()], deals)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_evaluate(players: int) -> None:
    variants = [GAME.variant("", players), GAME.variant("protection=true,summoning=true", players)]
    told: list[tuple[int, int]] = []
    results = evaluate(GAME, RandomAgent(), variants, 24, progress=lambda done, of: told.append((done, of)))
    assert [(r.variant, r.opponent) for r in results] == [(str(v), a.name) for v in variants for a in baselines(GAME)]
    for r in results:
        assert r.share.games == 24 and r.share.deals == 24 // players
        assert 0 <= r.share.low <= r.share.mean <= r.share.high <= 1 and r.share.low < r.share.high
        assert r.cut_off == 0 and r.decisions > 10
        assert r.row()["share"] == r.share.mean
    even, lost = (r for r in results if r.variant == str(variants[0]))
    assert even.share.low < 1 / players < even.share.high  # among equals
    assert lost.share.high < 0.5
    assert told == [(24, 24)] * 4
    assert evaluate(GAME, RandomAgent(), variants, 24) == results
    with pytest.raises(ValueError, match="games must be at least 1"):
        evaluate(GAME, RandomAgent(), variants, 0)


# -- intervals -----------------------------------------------------------------------------------------------------------------

Study = Callable[[np.random.Generator, float, int], np.ndarray]  # (generator, p, deals) -> won (deals, games of a deal)


def unpaired(rng: np.random.Generator, p: float, deals: int) -> np.ndarray:
    return rng.random((deals, 1)) < p


def paired_apart(rng: np.random.Generator, p: float, deals: int) -> np.ndarray:
    """Two games of a deal that have nothing in common."""
    return rng.random((deals, 2)) < p


def paired_luck(rng: np.random.Generator, p: float, deals: int) -> np.ndarray:
    """A deal is good or bad for the agent, in either seat."""
    return rng.random((deals, 2)) < rng.beta(4 * p, 4 - 4 * p, (deals, 1))


def paired_cancelled(rng: np.random.Generator, p: float, deals: int) -> np.ndarray:
    """A deal is good for a seat: what the agent gains in one seating it loses in the other."""
    luck = rng.uniform(-1, 1, (deals, 1)) * min(p, 1 - p)
    return rng.random((deals, 2)) < p + luck * np.array([1, -1])


def paired_copies(rng: np.random.Generator, p: float, deals: int) -> np.ndarray:
    """Both games of a deal end alike."""
    return np.repeat(rng.random((deals, 1)) < p, 2, axis=1)


@pytest.mark.parametrize("study", [unpaired, paired_apart, paired_luck, paired_cancelled, paired_copies])
@pytest.mark.parametrize(("p", "deals"), [(0.5, 60), (0.7, 200), (0.9, 200)])
def test_intervals_cover(study: Study, p: float, deals: int) -> None:
    """95 % intervals of 1,000 studies hold the truth in 92 to 98 % of them."""
    rng = np.random.default_rng((int(100 * p), deals))
    held = 0
    for _ in range(1000):
        won = study(rng, p, deals)
        share = share_by_deal(np.repeat(np.arange(deals), won.shape[1]), won.ravel().astype(float))
        assert share.low < share.high
        held += share.low <= p <= share.high
    assert 920 <= held <= 980


def test_pairing_narrows() -> None:
    """Where rotated seats cancel the luck of the deal the interval is narrower than for games apart, and wider for copies."""
    rng = np.random.default_rng(1)
    deal = np.repeat(np.arange(400), 2)

    def width(won: np.ndarray) -> float:
        share = share_by_deal(deal, won.ravel().astype(float))
        return share.high - share.low

    assert width(paired_cancelled(rng, 0.5, 400)) < width(paired_apart(rng, 0.5, 400)) < width(paired_copies(rng, 0.5, 400))


@pytest.mark.parametrize("games", [1, 2, 3, 10, 1000])
@pytest.mark.parametrize("each", [0.0, 1 / 3, 0.5, 1.0])
def test_no_interval_is_a_point(games: int, each: float) -> None:
    for deal in (np.arange(games), np.zeros(games, int), np.arange(games) // 2):
        share = share_by_deal(deal, np.full(games, each))
        assert 0 <= share.low < share.high <= 1
        assert share.low <= share.mean + 1e-9 and share.mean <= share.high + 1e-9
        assert share.games == games and share.deals == len(np.unique(deal))
    assert "%" in str(share)


def test_games_of_one_deal_that_are_all_won_count_once() -> None:
    assert share_by_deal(np.repeat(np.arange(20), 3), np.ones(60)).low == pytest.approx(wilson(1.0, 20)[0])


def test_deals_in_any_order() -> None:
    rng = np.random.default_rng(3)
    deal, won = rng.integers(1000, 1040, 200), rng.random(200)
    order = rng.permutation(200)
    one, other = share_by_deal(deal, won), share_by_deal(deal[order], won[order])
    assert (one.low, one.mean, one.high) == pytest.approx((other.low, other.mean, other.high))
