"""What the study of variants concludes is what its own tables say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "study-variants.md").read_text()
TABLES = "\n".join(line for line in PAGE.splitlines() if line.startswith("|"))
PROSE = " ".join(line.strip() for line in PAGE.splitlines() if not line.startswith("|"))
NUMBER = r"[-+]?\d+(?:\.\d+)?"
TOLD = rf"({NUMBER})(?: %)? \[({NUMBER}), ({NUMBER})\]"
FOUND = [tuple(float(value) for value in told) for told in re.findall(TOLD, TABLES)]
ELSEWHERE = ("`flat:samples=2`, 2,000 games", "`flat:samples=3`, 2,000 games")  # begin what is told of games that are in no table


@pytest.mark.parametrize("told", re.findall(TOLD, PROSE))
def test_intervals_in_the_text_are_those_of_a_table(told: tuple[str, str, str]) -> None:
    mean, low, high = (float(value) for value in told)
    other = "".join(PROSE.partition(begin)[2].partition("games")[0] for begin in ELSEWHERE)
    turned = (-mean, -high, -low)  # "6.5 fewer"
    assert (mean, low, high) in FOUND or turned in FOUND or f"{told[1]}, {told[2]}]" in other, told


def test_there_are_such_intervals() -> None:
    assert len(FOUND) > 300 and len(re.findall(TOLD, PROSE)) > 20
