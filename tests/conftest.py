"""Everything that is compiled is compiled before the first test, so that no test's output or time has it in it."""

from __future__ import annotations

import pytest

import tabletop
from agents.named import heuristic


@pytest.fixture(scope="session", autouse=True)
def compiled() -> None:
    for name in tabletop.games():
        _ = tabletop.game(name).loops
        heuristic(tabletop.game(name))
