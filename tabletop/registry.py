"""A game, as the kit sees it, and the registry of games (entry points of the group `tabletop.games`)."""

from __future__ import annotations

import hashlib
import importlib
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import entry_points
from types import ModuleType
from typing import Any

import numpy as np

from tabletop.actions import Actions
from tabletop.errors import RulesError, SetupError, UnknownAction, UnknownGame, listed
from tabletop.layout import Layout
from tabletop.rules import Rules, Variant

LIVE, TERMINATED, TRUNCATED = 0, 1, 2
NOBODY = -1  # `seat` of a game that is over
MAGIC = b"TABLETOP2"


def record_dtype(rules: type[Rules], fields: list[tuple[Any, ...]]) -> np.dtype:
    """The dtype of a game's record: the kit's fields, which every game has, and then the game's own.

    stream: the random stream (hidden from all seats); decisions: actions applied so far, forced ones too; limit: the number of
    them at which the kit cuts the game off; players; seat: the seat to act, -1 when over; over: 0 live, 1 terminated, 2
    truncated; won: 1 for each winner, set by the game's `apply` when it ends; options: codes of the rules.
    The fields lie by size and `unused` (zeros) fills the end, so that there are no gaps: numpy copies records without the bytes
    in gaps, and equal positions would not be equal bytes.
    """
    header: list[tuple[Any, ...]] = [
        ("stream", np.uint64, (2,)),
        ("decisions", np.int32),
        ("limit", np.int32),
        ("players", np.int8),
        ("seat", np.int8),
        ("over", np.int8),
        ("won", np.int8, (rules.max_players,)),
        ("options", np.int16, (len(rules.names()),)),
    ]
    by_size = sorted(header + fields, key=lambda field: -np.dtype(field[1]).itemsize)
    bare = np.dtype(by_size).itemsize
    full = np.dtype(by_size, align=True).itemsize
    return np.dtype([*by_size, ("unused", np.int8, (full - bare,))] if full > bare else by_size, align=True)


@dataclass(frozen=True, eq=False)
class Game:
    """A game: its material as data, and the modules of its package where its functions live.

    The package has, besides what stands here: `kernel` (deal, legal, apply, determinize), `observation` (observe),
    `text` (text, parse) and `state` (SET_UP, set_up, HIDDEN: the fields that not every seat sees). They are imported when first needed.
    """

    name: str
    package: str
    rules: type[Rules]
    dtype: np.dtype
    actions: Actions
    layout: Layout
    max_decisions: Callable[[Any, int], int]  # of its Rules and a number of players: bound on a game's decisions, forced ones counted
    title: str = ""

    def module(self, name: str) -> ModuleType:
        return importlib.import_module(f"{self.package}.{name}")

    @cached_property
    def packages(self) -> tuple[str, ...]:
        from tabletop.compiled import used_packages

        return used_packages(self.package, ())

    @cached_property
    def loops(self) -> ModuleType:
        """The template step (`tabletop.step`) bound to this game's functions; compiled at first use, which is announced."""
        from tabletop.compiled import announce, bind

        kernel, observation = self.module("kernel"), self.module("observation")
        loops = bind(
            "tabletop.step",
            self.name,
            self.packages,
            deal=kernel.deal,
            legal=kernel.legal,
            apply=kernel.apply,
            determinize=kernel.determinize,
            observe=observation.observe,
        )
        self.__dict__["loops"] = loops  # the warm-up itself plays on tables
        announce(self.title or self.name, self.packages, lambda: loops.warm_up(self))
        return loops

    @property
    def num_actions(self) -> int:
        return len(self.actions)

    def variant(self, rules: Rules | str | None = None, num_players: int | None = None) -> Variant:
        """The variant of `rules` (None, "option=value,…", a canonical string, or Rules) for `num_players`."""
        if isinstance(rules, str) and "(" in rules:
            variant = Variant.parse(rules, self.rules)
            if num_players not in (None, variant.players):
                raise RulesError(f"{rules!r} is for {variant.players} players, but num_players={num_players}")
            return variant
        return Variant(2 if num_players is None else num_players, self.rules.parse(rules))

    def variant_of(self, record: Any) -> Variant:
        """The variant that a record is played by."""
        return Variant(int(record["players"]), self.rules.from_codes(record["options"]))

    def configure(self, records: np.ndarray, rows: Any, variant: Variant, max_decisions: int | None = None) -> None:
        """Write a variant, and the length at which games are cut off, into rows of a record array."""
        records["players"][rows] = variant.players
        variant.rules.configure(records, rows)
        records["limit"][rows] = max_decisions if max_decisions is not None else self.max_decisions(variant.rules, variant.players)

    def new_record(self, variant: Variant, seed: int | tuple[int, int] | None = 0) -> np.ndarray:
        """A record array of one dealt game, before any decision (forced ones are not played yet)."""
        from tabletop.stream import seed_stream, seed_words

        records = np.zeros(1, self.dtype)
        self.configure(records, slice(None), variant)
        word, row = seed_words(seed)
        seed_stream(records["stream"][0], np.uint64(word), np.uint64(row))
        self.module("kernel").deal(records, 0)
        return records

    def text(self, record: Any, seat: int | None = None) -> str:
        """A position as readable text. seat: what that seat knows; None: everything, which `parse` reads back."""
        return self.module("text").text(record, seat)

    def parse(self, text: str) -> np.ndarray:
        """The record array (1,) of a position written by `text` (of everything)."""
        return self.module("text").parse(text)

    def set_up(self, records: np.ndarray, row: int, options: dict[str, Any]) -> None:
        """Set up the position that `options` asks for in a row that is dealt. Nothing is changed when it raises SetupError."""
        work = records[row : row + 1].copy()
        known = {"record", "text", *self.module("state").SET_UP}
        if unknown := sorted(set(options) - known):
            raise SetupError(f"{self.name} cannot be set up by {listed(unknown)}; there are {listed(sorted(known))}")
        if "record" in options or "text" in options:
            if len(options) != 1:
                raise SetupError("a position from a record or a text takes no other option")
            given = self.from_bytes(options["record"]) if "record" in options else self.parse(options["text"])
            ours, theirs = self.variant_of(work[0]), self.variant_of(given[0])
            if ours != theirs:
                raise SetupError(f"the position is one of {theirs}, this table plays {ours}")
            given["limit"] = work["limit"]
            work = given
        elif options:
            self.module("state").set_up(work, options)
        records[row] = work[0]

    @cached_property
    def format(self) -> bytes:
        """Digest of the record's layout and of the rules' options: bytes of another version are refused."""
        described = repr((self.dtype.descr, self.rules.names(), self.actions.names))
        return hashlib.sha256(described.encode()).digest()[:8]

    def to_bytes(self, record: Any) -> bytes:
        """A record as bytes, complete: stream, turn, half-made decisions. They begin with the game's name and format."""
        body = self.format + np.asarray(record, self.dtype).tobytes()
        return MAGIC + self.name.encode() + b"\0" + body + zlib.crc32(body).to_bytes(4, "little")

    def from_bytes(self, data: bytes) -> np.ndarray:
        """The record array (1,) of `to_bytes`; SetupError for another game's, another version's or damaged bytes."""
        head = MAGIC + self.name.encode() + b"\0"
        if not isinstance(data, bytes | bytearray) or not data.startswith(MAGIC):
            raise SetupError(f"these are not the bytes of a position of {self.name}")
        if not data.startswith(head):
            raise SetupError(f"these bytes are a position of {data[len(MAGIC) :].partition(bytes(1))[0]!r}, not of {self.name!r}")
        body = bytes(data[len(head) :])
        if body[:8] != self.format or len(body) != 8 + self.dtype.itemsize + 4:
            raise SetupError(f"these bytes are a position of {self.name} of another version, or cut short")
        if zlib.crc32(body[:-4]).to_bytes(4, "little") != body[-4:]:
            raise SetupError(f"these bytes of a position of {self.name} are damaged")
        return np.frombuffer(body[8:-4], self.dtype).copy()

    def action(self, action: int | str) -> int:
        """An action id from an id or a name; UnknownAction if there is none."""
        if isinstance(action, str):
            return self.actions.id(action)
        if isinstance(action, int | np.integer) and not isinstance(action, bool) and 0 <= action < len(self.actions):
            return int(action)
        raise UnknownAction(f"{action!r} is not an action of {self.name}; actions are 0 to {len(self.actions) - 1}, or a name")

    def __deepcopy__(self, memo: dict[int, Any]) -> Game:
        return self  # it holds nothing that changes

    def __reduce__(self) -> tuple[Any, ...]:
        return _game_of, (self.package,)

    def __repr__(self) -> str:
        return f"<game {self.name}: {self.num_actions} actions, observation ({self.layout.size},) {self.layout.dtype}>"


def _game_of(package: str) -> Game:
    """The game of a package, by the name that each has it under: how pickles name games."""
    return importlib.import_module(package).game


def games() -> tuple[str, ...]:
    """Names of the registered games, sorted."""
    return tuple(sorted({point.name for point in entry_points(group="tabletop.games")}))


def game(name: str | Game) -> Game:
    """The game of that name; a Game is passed through. UnknownGame lists what there is."""
    if isinstance(name, Game):
        return name
    for point in entry_points(group="tabletop.games"):
        if point.name == name:
            return point.load()
    raise UnknownGame(f"no game is called {name!r}; there are {listed(games())}")
