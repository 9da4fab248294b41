"""Options of a game's rules: a frozen, validated value with a canonical string.

A game declares each option once, in its Rules dataclass: `protection: bool = option(False, "…")`. From that one line come
validation, parsing, the canonical string, the place in the record (`options`), the observation and the docs.
"""

from __future__ import annotations

import contextlib
import dataclasses
import operator
import re
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from tabletop.errors import RulesError, listed


class Texts(Protocol):
    """The values of an option that is neither bool nor a whole number (a file, say): written as text, kept in records as a code.

    str(value) is the value's canonical text, without comma or parenthesis; str(texts) says what is allowed.
    """

    def read(self, given: Any) -> Any:
        """The value of a text, or a value itself; RulesError otherwise."""

    def code(self, value: Any) -> int:
        """The value's int16 code."""

    def value(self, code: int) -> Any:
        """Inverse of `code`; RulesError if this process does not know the value."""


@dataclass(frozen=True)
class Allowed:
    """What one option may be. bool options are 0/1; `none`, if given, is the code in records for the value None."""

    low: int
    high: int
    is_bool: bool
    none: int | None
    doc: str
    texts: Texts | None = None

    def __str__(self) -> str:
        if self.is_bool:
            return "true or false"
        values = str(self.texts) if self.texts is not None else f"{self.low} to {self.high}"
        return values + (" or none" if self.none is not None else "")

    def code(self, value: Any) -> int:
        """A value as it stands in a record's `options`."""
        if value is None and self.none is not None:
            return self.none
        return int(value) if self.texts is None else self.texts.code(value)

    def value(self, code: int) -> Any:
        """Inverse of `code`."""
        if self.none is not None and code == self.none:
            return None
        return bool(code) if self.is_bool else int(code) if self.texts is None else self.texts.value(int(code))


def option(default: Any, doc: str, low: int = 0, high: int = 1, none: int | None = None, texts: Texts | None = None) -> Any:
    """Declare an option. Whole numbers take low and high (both included), others `texts`; `none` allows None and gives its code."""
    allowed = Allowed(low, high, isinstance(default, bool), none, doc, texts)
    return field(default=default, metadata={"allowed": allowed})


def text_of(value: Any) -> str:
    """An option's value as it stands in a canonical string."""
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True)
class Rules:
    """Base of the games' rules. Subclasses are frozen dataclasses whose fields are made with `option`."""

    game: ClassVar[str] = ""
    min_players: ClassVar[int] = 2
    max_players: ClassVar[int] = 4

    def __post_init__(self) -> None:
        for name, allowed in self.allowed().items():
            value = getattr(self, name)
            if isinstance(value, np.generic):  # numpy's numbers and truths are taken as Python's
                value = value.item()
                object.__setattr__(self, name, value)
            if allowed.is_bool:
                good = isinstance(value, bool)
            elif value is None:
                good = allowed.none is not None
            elif allowed.texts is not None:
                object.__setattr__(self, name, allowed.texts.read(value))
                good = True
            else:
                good = isinstance(value, int) and not isinstance(value, bool) and allowed.low <= value <= allowed.high
            if not good:
                raise RulesError(f"{self.game} rules: {name}={value!r} is not allowed; {name} is {allowed}")
        self.check()

    def check(self) -> None:
        """Refuse bad combinations of options. Overridden by games that have some."""

    def check_players(self, players: int) -> None:
        """Refuse a number of players that does not go with these options."""
        if not (isinstance(players, int) and self.min_players <= players <= self.max_players):
            raise RulesError(f"{self.game} is for {self.min_players} to {self.max_players} players, not {players!r}")

    @classmethod
    def allowed(cls) -> dict[str, Allowed]:
        """Every option by name, in the order of declaration."""
        return {f.name: f.metadata["allowed"] for f in dataclasses.fields(cls)}

    @classmethod
    def names(cls) -> tuple[str, ...]:
        return tuple(cls.allowed())

    @classmethod
    def place(cls, name: str) -> int:
        """Place of an option in a record's `options`."""
        return cls.names().index(name)

    def codes(self) -> list[int]:
        """The options as whole numbers, in order, as they stand in a record's `options`."""
        return [allowed.code(getattr(self, name)) for name, allowed in self.allowed().items()]

    def configure(self, records: Any, rows: Any) -> None:
        """Write the options into rows of a record array. Overridden by games whose records hold more of them than their codes."""
        records["options"][rows] = self.codes()

    @classmethod
    def from_codes(cls, codes: Any) -> Self:
        """Inverse of `codes`."""
        return cls(**{name: allowed.value(code) for (name, allowed), code in zip(cls.allowed().items(), codes, strict=True)})

    def changed(self) -> dict[str, Any]:
        """The options that differ from their defaults."""
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if getattr(self, f.name) != f.default}

    def __str__(self) -> str:
        return ",".join(f"{name}={text_of(value)}" for name, value in self.changed().items())

    @classmethod
    def parse(cls, rules: Rules | str | None) -> Self:
        """Rules from None (all defaults), a string such as "protection=true,rescue_limit=1", or Rules of this game."""
        if rules is None:
            return cls()
        if isinstance(rules, Rules):
            if isinstance(rules, cls):
                return rules
            raise RulesError(f"{cls.game} needs its own rules, not those of {rules.game}")
        if not isinstance(rules, str):
            raise RulesError(f"rules of {cls.game} are None, a string or {cls.__name__}, not {type(rules).__name__}")
        return cls(**cls._parse_options(rules))

    @classmethod
    def _parse_options(cls, text: str) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for part in filter(None, (p.strip() for p in text.split(","))):
            name, equals, value = (p.strip() for p in part.partition("="))
            allowed = cls.allowed().get(name)
            if not equals or allowed is None:
                raise RulesError(f"{cls.game} has no option {part!r}; options: {listed(cls.names(), 40)} (written name=value)")
            if name in values:
                raise RulesError(f"{cls.game} rules: {name} is given twice")
            values[name] = cls._parse_value(name, allowed, value)
        return values

    @classmethod
    def _parse_value(cls, name: str, allowed: Allowed, value: str) -> Any:
        word = value.lower()
        if allowed.is_bool and word in ("true", "false"):
            return word == "true"
        if word == "none" and allowed.none is not None:
            return None
        if allowed.texts is not None:
            return allowed.texts.read(value)
        if not allowed.is_bool and re.fullmatch(r"-?[0-9]{1,9}", word):
            return int(word)
        raise RulesError(f"{cls.game} rules: {name}={value} is not allowed; {name} is {allowed}")


@dataclass(frozen=True)
class Variant:
    """A game's rules for a number of players: what a checkpoint, a replay or a result belongs to."""

    players: int
    rules: Rules

    def __post_init__(self) -> None:
        with contextlib.suppress(TypeError):  # numpy's whole numbers are taken too; what is none is refused
            object.__setattr__(self, "players", operator.index(self.players))
        self.rules.check_players(self.players)

    def __str__(self) -> str:
        options = str(self.rules)
        return f"{self.rules.game}(players={self.players}{',' if options else ''}{options})"

    @classmethod
    def parse(cls, text: str, rules_class: type[Rules]) -> Variant:
        """Inverse of str: `beyond(players=3,protection=true)`."""
        match = re.fullmatch(r"\s*(\w+)\s*\((.*)\)\s*", text)
        if match is None or match[1] != rules_class.game:
            raise RulesError(f"{text!r} is not a variant of {rules_class.game}; write {rules_class.game}(players=2,option=value,…)")
        parts = [p.strip() for p in match[2].split(",") if p.strip()]
        players = [p.partition("=")[2].strip() for p in parts if p.partition("=")[0].strip() == "players"]
        if len(players) != 1 or not re.fullmatch("[0-9]{1,3}", players[0]):
            raise RulesError(f"{text!r} must name players once: {rules_class.game}(players=2,…)")
        rest = ",".join(p for p in parts if p.partition("=")[0].strip() != "players")
        return cls(int(players[0]), rules_class.parse(rest))
