"""Random play, checked in every position: conservation, points, winners, what seats see."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beyond_env.rules import BeyondRules, max_decisions
from tests.beyond import invariants, plain_view
from tests.beyond.helpers import GAME, Position
from tests.beyond.many_games import Totals, play

WEIGHT = {"enchant": 20.0, "summon": 8.0, "protect": 0.3}


def options() -> st.SearchStrategy[dict[str, object]]:
    """Any options in their ranges, most of them left at their defaults."""
    kinds = {
        name: st.booleans() if a.is_bool else st.integers(a.low, a.high) | (st.none() if a.none is not None else st.nothing())
        for name, a in BeyondRules.allowed().items()
    }
    return st.fixed_dictionaries({}, optional=kinds)


def variant(players: int, chosen: dict[str, object]):
    if chosen.get("end_distinct"):
        chosen["end_enchantments"] = min(chosen.get("end_enchantments", 3), 5)
    chosen["token_supply"] = max(chosen.get("token_supply", 21), players * chosen.get("start_tokens", 2))
    return GAME.variant(BeyondRules(**chosen), players)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.integers(2, 4), options(), st.integers(0, 2**32))
def test_random_play(players: int, chosen: dict[str, object], seed: int):
    """The positions of a game (one in four) are sound, and every seat's observation is what it should be."""
    p = Position(GAME.new_record(variant(players, chosen), seed))
    rng = random.Random(seed)
    out = np.empty(GAME.layout.size, GAME.layout.dtype)
    observe = GAME.module("observation").observe
    for _ in range(400):
        legal = p.legal
        if not legal or rng.random() < 0.25:
            invariants.check(p.records, p.mask[None] if legal else None)
            for seat in range(players):
                out[:] = -99
                observe(p.records, 0, seat, out)
                assert (out >= GAME.layout.low).all() and (out <= GAME.layout.high).all()
                assert GAME.layout.decode(out) == plain_view.view(p.records[0], seat)
            assert p.points == invariants.points(p.records)[0, :players].tolist()
        if not legal:
            break
        p.do(rng.choices(legal, [WEIGHT.get(name.partition(":")[0], 1.0) for name in legal])[0])


def test_many_games():
    """A thousand games of random variants; each ends within the length that its variant declares."""
    totals = Totals()
    play(500, 1, totals, every=20)
    play(500, 2, totals, every=20)
    assert totals.games == 1_000 and totals.ends["most points"] > 800
    assert totals.closest < 1


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("ends", [True, False])
def test_declared_length(players: int, ends: bool):
    """What a variant declares is written into its records, and cuts games off that could go on for ever."""
    rules = BeyondRules(end_on_nothing=ends)
    record = GAME.new_record(GAME.variant(rules, players), 0)
    assert record["limit"][0] == max_decisions(rules, players) == (20_000 if not ends else (160 + 2 * players) * (60 + 63))


@pytest.mark.parametrize(
    ("field", "value", "named"),
    [
        (("pool", 0, 1, 3), 1, "80 cards"),
        (("nian", 0, 0), 1, "6 Nian Shou"),
        (("supply", 0), 3, "all tokens"),
        (("tokens", 0, 3), 1, "tokens"),
        (("protected", 0, 0, 0), 1, "all tokens"),
        (("deck", 0, 0), -1, "the deck and its content"),
        (("seat", 0), -1, "one seat"),
        (("seat", 0), 1, "in turn"),
        (("won", 0, 1), 1, "won only"),
        (("known", 0), 2, "more than the top"),
        (("triggered", 0), 1, "turn with nothing"),
        (("depletions", 0), 2, "trigger the end"),
        (("num_queue", 0), 1, "num_queue"),
        (("summoned_spirit", 0), 1, "variant"),
        (("over", 0), 1, "one seat"),
    ],
)
def test_the_checks_can_fail(field: tuple, value: int, named: str):
    """Each check names what does not hold."""
    p = Position.of_seed(0, "end_on_nothing=false")
    invariants.check(p.records)
    p.records[field[0]][field[1:]] = value
    with pytest.raises(AssertionError, match=named):
        invariants.check(p.records)
