"""Some hundred random games of all sizes, their positions checked (see `many_games`)."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.away.many_games import play


@pytest.mark.parametrize("seed", [0, 1])
def test_random_games(seed: int) -> None:
    totals: Counter[str] = Counter()
    play(150, seed, totals, every=25)
    assert totals["arrivals"] > 20
