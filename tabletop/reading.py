"""Reading what others have written: the lines of a position's text, as every game writes it (the variant, then fields `name: item, item, …`
with comments after #), and JSON files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from tabletop.errors import SetupError
from tabletop.rules import Rules, Variant

SEEN_BY = "what seat "  # begins the second line of what one seat knows, which cannot be read back
MOST_DIGITS = 25  # more are out of any range; Python refuses to read thousands


class Line(NamedTuple):
    """A field of the text: the number of the line it begins in, its name, and its items (parts between commas)."""

    number: int
    name: str
    items: tuple[str, ...]

    def wrong(self, why: str) -> NoReturn:
        raise SetupError(f"line {self.number} ({self.name}): {why}")

    def within(self, digits: str, low: int, high: int, item: str | None = None) -> int:
        """The number that the digits of an item write, refused if it is not from low to high."""
        n = whole(digits)
        if not low <= n <= high:
            self.wrong(f"{n if item is None else repr(item)} is out of range: {low} to {high}")
        return n


def whole(digits: str) -> int:
    """The number that digits write, however many they are."""
    return int(digits[:MOST_DIGITS])


def lines_of(text: str, rules: type[Rules]) -> tuple[Variant, list[Line]]:
    """The variant in the first line, and the fields that follow. SetupError names the line that is wrong."""
    if not isinstance(text, str):
        raise SetupError(f"a position is given as text, not {type(text).__name__}")
    variant = None
    found: list[list[Any]] = []
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.partition("#")[0].strip()
        if not line:
            continue
        if variant is None:
            try:
                variant = Variant.parse(line, rules)
            except ValueError as error:
                raise SetupError(f"line {number}: {error}") from None
        elif line.startswith(SEEN_BY):
            raise SetupError(f"line {number}: this is {line}; only a text of everything can be read")
        elif ":" in line:
            name, _, value = line.partition(":")
            found.append([number, name.strip(), value.strip()])
        elif found:
            found[-1][2] += " " + line
        else:
            raise SetupError(f"line {number}: {line!r} is not of the form name: value")
    if variant is None:
        raise SetupError(f"line 1: the text is empty; it begins with a variant, such as {rules.game}(players=2)")
    return variant, [Line(n, name, tuple(i for i in (i.strip() for i in value.split(",")) if i)) for n, name, value in found]


def read_json(path: Path) -> Any:
    """The value in a file; OSError, or ValueError if there is none, however deep it is nested."""
    try:
        return json.loads(path.read_text())
    except RecursionError:
        raise ValueError("nested too deep") from None
