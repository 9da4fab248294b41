"""The rules run alike compiled, uncompiled and bounds-checked."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.away.modes import GAMES, lines

ROOT = Path(__file__).parents[2]
SETTINGS = ("NUMBA_DISABLE_JIT", "NUMBA_BOUNDSCHECK")


@cache
def compiled() -> list[str]:
    """The games as a process of its own plays them with neither setting."""
    return list(lines()) if not any(os.environ.get(name) for name in SETTINGS) else played({})[:-1]


def played(settings: dict[str, str], *flags: str) -> list[str]:
    environment = {name: value for name, value in os.environ.items() if name not in SETTINGS} | settings
    command = [sys.executable, *flags, "-m", "tests.away.modes"]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()


def test_the_games_reach_every_kind_of_decision():
    words = {line.split()[2].partition(":")[0] for line in compiled()}
    assert words == {"deal", "play", "discard", "cell", "turn", "stop", "seat", "row", "col", "move", "pass", "done"}
    assert {line.split()[0] for line in compiled()} == {str(game) for game in range(len(GAMES))}


@pytest.mark.parametrize(
    ("settings", "flags"),
    [({"NUMBA_DISABLE_JIT": "1"}, ("-W", "error")), ({"NUMBA_BOUNDSCHECK": "1"}, ())],
    ids=["plain", "bounds-checked"],
)
def test_same_games(settings, flags):
    """Same records, masks, observations and redealt clones at every decision; in plain mode no warning (overflow) is raised."""
    *theirs_lines, checked = played(settings, *flags)
    assert checked == "checked", "this mode was to find indices out of range"
    for ours, theirs in zip(compiled(), theirs_lines, strict=True):
        assert ours == theirs, f"compiled: {ours}, with {settings}: {theirs} (game, decision, action, digest)"
