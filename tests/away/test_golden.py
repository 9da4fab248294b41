"""Games and node counts written down once: they change only with the rules (see `golden` for how to write them anew)."""

from __future__ import annotations

import pytest

from tests.away.golden import FOLDER, PLAYTHROUGHS, actions_of, written_counts, written_playthrough

ANEW = "if the change of the rules is meant: python -m tests.away.golden --write"


def compare(old: str, new: str) -> None:
    for number, (ours, theirs) in enumerate(zip(old.splitlines(), new.splitlines(), strict=False), 1):
        assert ours == theirs, f"line {number}; {ANEW}"
    assert old == new, ANEW


@pytest.mark.parametrize("file", PLAYTHROUGHS)
def test_playthrough(file):
    """The same actions lead to the same positions, with the same legal actions at each decision."""
    old = (FOLDER / file).read_text()
    actions = actions_of(old)
    assert len(actions) > 40
    compare(old, written_playthrough(file, actions))


def test_counts():
    """The same number of ways to play on from fixed positions."""
    compare((FOLDER / "counts.txt").read_text(), written_counts())


def test_the_folder_holds_nothing_else():
    assert {path.name for path in FOLDER.iterdir()} == {*PLAYTHROUGHS, "counts.txt"}
