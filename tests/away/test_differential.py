"""The compiled rules against the plain reference (see `differential`)."""

from __future__ import annotations

import pytest

from away_env import kernel
from away_env.actions import ACTIONS
from tests.away.differential import WAYS, Sides, play


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("players", [2, 3, 4])
def test_random_games(players: int, way: str) -> None:
    for seed in range(3):
        sides = play(players, 100 * players + seed, way, max_rounds=15)
        assert len(sides.names) > 20


def test_a_difference_is_found_and_named() -> None:
    sides = Sides(3, 5)
    sides.compare()
    for field, at, said in (("turn", (0, 4 * 11 + 5), "cards"), ("deck_size", (0,), "deck_size"), ("round", (0,), "round")):
        kept = sides.records.copy()
        sides.records[field][at] += 1
        with pytest.raises(AssertionError, match=said):
            sides.compare()
        sides.records[:] = kept
    sides.compare()


def test_a_wrong_rule_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mask that leaves out `pass` would be seen."""
    real = kernel.legal

    def wrong(records, i, mask):
        real(records, i, mask)
        mask[ACTIONS.id("pass")] = 0

    monkeypatch.setattr(kernel, "legal", wrong)
    with pytest.raises(AssertionError, match=r"legal only here set\(\), only there \{'pass'\}"):
        play(2, 0, "uniform")
