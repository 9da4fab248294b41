"""The compiled rules against the plain reference (see `differential`)."""

from __future__ import annotations

import pytest

from beyond_env import kernel
from beyond_env.cards import KINDS
from tests.beyond.differential import Game, play


@pytest.mark.parametrize("block", range(6))
def test_random_games_of_random_variants(block: int) -> None:
    ends = {play(seed)[2] for seed in range(50 * block, 50 * block + 50)}
    assert "most points" in ends


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("field", ["pool", "deck", "supply", "known", "triggered"])
def test_a_difference_is_found_and_named(players: int, field: str) -> None:
    game = Game(players, {"protection": True}, 5)
    game.compare()
    if field == "pool":
        game.records["pool"][0, players - 1, 3] += 1
    elif field == "deck":
        deck = game.records["deck"][0]
        top = int(deck[:79].argmax())
        deck[0], deck[top] = deck[top], deck[0]
    else:
        game.records[field] += 1
    game.read()
    with pytest.raises(AssertionError, match=f"{field}|deck|known top"):
        game.compare()


def test_a_wrong_rule_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A capture that pays the highest kind of a symbol instead of the lowest would be seen."""
    real = kernel.apply

    def wrong(records, i, action):
        before = records["slots"][i].copy()
        real(records, i, action)
        paid = before - records["slots"][i]
        for seat, kind in zip(*(paid > 0).nonzero(), strict=True):
            other = max(k for k in range(kind % 2, len(KINDS), 2) if before[seat, k])
            records["slots"][i, seat, kind] += 1
            records["slots"][i, seat, other] -= 1
            records["discard"][i, kind] -= 1
            records["discard"][i, other] += 1

    monkeypatch.setattr(kernel, "apply", wrong)
    with pytest.raises(AssertionError, match="slots of seat"):
        list(map(play, range(50)))
