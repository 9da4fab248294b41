"""What a study of variants plays: cells (variants by name), tables of agents, and blocks of deals that all cells have in common."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import tabletop
from agents import named
from agents.program import is_table_bot
from tabletop.errors import RulesError, listed
from tabletop.opponents import is_searcher
from tabletop.registry import Game
from tabletop.rules import Variant, text_of

RETRAIN = "retrain"  # the table of the policies that were trained for each variant
TOGETHER = " + "  # joins the agents that play at one table
MOST_DEALS, MOST_SEARCHED_DEALS = 1000, 50  # of a block; of agents that search


@dataclass(frozen=True)
class Cell:
    """One variant under study. name: what it is called, without its number of players; baseline: the name of the cell that it is
    compared with, its own for a baseline."""

    name: str
    variant: str  # canonical
    players: int
    baseline: str

    @property
    def is_baseline(self) -> bool:
        return self.name == self.baseline

    def __str__(self) -> str:
        return f"{self.name}, {self.players} players"


@dataclass(frozen=True)
class Searches:
    """What is found out by search, and how thoroughly; a number of 0 turns it off.

    ladder_games: of twice the budget (2 x ladder_iterations) against once the budget. positions: decisions, one of a game each,
    that are searched twice, with as many iterations each time.
    """

    ladder_games: int = 0
    ladder_iterations: int = 30
    positions: int = 0
    iterations: int = 200

    def __post_init__(self) -> None:
        for name in ("ladder_games", "positions"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must be at least 0, not {getattr(self, name)}")
        for name in ("ladder_iterations", "iterations"):
            if getattr(self, name) < 2:
                raise ValueError(f"{name} must be at least 2, not {getattr(self, name)}")


@dataclass(frozen=True)
class Study:
    """The settings that games depend on. tables: the agents of each table, named as for `agents.named.agent`, joined by " + ";
    sizes: deals of a block, for each table."""

    game: Game
    cells: tuple[Cell, ...]
    tables: tuple[str, ...]
    sizes: tuple[int, ...]
    seed: int = 0
    searches: Searches = field(default_factory=Searches)
    retrain: float = 0.0  # minutes for each variant
    retrain_decisions: int = 0  # instead of minutes

    def __post_init__(self) -> None:
        if self.retrain_decisions < 0:
            raise ValueError(f"decisions of a training must be at least 1, or 0 for none such limit, not {self.retrain_decisions}")
        if RETRAIN in self.tables and not self.retrain_decisions and not 0 < self.retrain < float("inf"):
            raise ValueError(f"minutes of a training must be above 0, not {self.retrain}")

    def agents_of(self, table: str, cell: Cell, policies: str = "") -> list[str]:
        """The names of the agents at a table. policies: the folder of those that were trained for each variant."""
        return [f"policy:{named.quoted(f'{policies}/{self.key(cell)}')}"] if table == RETRAIN else table.split(TOGETHER)

    def key(self, cell: Cell) -> str:
        """A cell's name in files."""
        return f"{self.cells.index(cell):03d}"

    def games_of_a_deal(self, table: str, cell: Cell) -> int:
        from training.play import rotations

        agents = 1 if table == RETRAIN else len(table.split(TOGETHER))
        return 1 if agents == 1 else len(rotations(agents, cell.players))

    def json(self) -> dict[str, Any]:
        """All that the games depend on, as JSON values."""
        return {
            "game": self.game.name,
            "cells": {str(cell): cell.variant for cell in self.cells},
            "order": [str(cell) for cell in self.cells],  # blocks are named by it, and dictionaries are equal in any order
            "tables": list(self.tables),
            "seed": self.seed,
            "deals_per_block": list(self.sizes),
            "ladder_iterations": self.searches.ladder_iterations,
            "iterations": self.searches.iterations,
            "retrain": [self.retrain, self.retrain_decisions],
        }


# -- the design --------------------------------------------------------------------------------------------------------


def parse_vary(game: Game, vary: Sequence[str]) -> dict[str, list[str]]:
    """Options and their values, as canonical texts, from `option=V1,V2`; the errors list what is allowed."""
    found: dict[str, list[str]] = {}
    for text in vary:
        name, equals, values = (part.strip() for part in text.partition("="))
        if not equals or name not in game.rules.allowed():
            raise RulesError(f"{game.name} has no option to vary in {text!r}; write option=value,value; there are {options_line(game)}")
        if name in found:
            raise RulesError(f"{name} is varied twice; give all its values at once: {name}=value,value")
        given = [value.strip() for value in values.split(",") if value.strip()]
        read = [text_of(getattr(game.rules.parse(f"{name}={value}"), name)) for value in given]
        if len(given) < 2 or len(set(read)) < len(read):
            raise RulesError(f"{name}={values}: name at least two different values; {name} is {game.rules.allowed()[name]}")
        found[name] = read
    return found


def options_line(game: Game) -> str:
    """Every option with what it may be, in one line."""
    return "; ".join(f"{name} ({allowed})" for name, allowed in game.rules.allowed().items())


def options_help(game: Game) -> str:
    """Every option with default, what it may be and what it means, a line each."""
    default = game.rules()
    width = max(len(name) for name in game.rules.names())
    lines = [
        f"  {name:{width}}  {allowed}; default {text_of(getattr(default, name))}: {allowed.doc}"
        for name, allowed in game.rules.allowed().items()
    ]
    return "\n".join([f"options of {game.name} that can be varied:", *lines])


def design(
    game: Game, vary: Sequence[str], players: Sequence[int] = (2,), one_at_a_time: bool = False, also: Sequence[str] = (), rules: str = ""
) -> tuple[Cell, ...]:
    """The cells of a study: all combinations of the values (or the first values, and each other value alone), for each number of
    players, and then the variants of `also`: rules, or "NAME: rules". The first values of all options are the baseline.

    rules: options that all cells share.
    """
    values = parse_vary(game, vary)
    if not values and not also:
        raise RulesError(f"nothing to compare: vary at least one option, as option=value,value; there are {options_line(game)}")
    shared = game.rules.parse(rules)
    if both := [name for name in values if name in shared.changed()]:
        raise RulesError(f"{both[0]} is varied and set by rules: give it in one of them")
    first = {name: options[0] for name, options in values.items()}
    if one_at_a_time:
        chosen = [first, *({**first, name: value} for name, options in values.items() for value in options[1:])]
    else:
        chosen = [dict(zip(values, combination, strict=True)) for combination in itertools.product(*values.values())]
    named_cells = [(_name(first, options), _rules(rules, options)) for options in chosen]
    for text in also:
        alias = re.fullmatch(r"\s*([^:=,]+):\s*(.*)", text)
        more = alias[2] if alias else text
        told = more if more else "default"
        named_cells.append((alias[1].strip() if alias else told, _rules(rules, {**first, **_options(game, more)})))
    names = [name for name, _ in named_cells]
    if twice := [name for name in names if names.count(name) > 1]:
        raise RulesError(f"two variants are called {twice[0]}; give one another name: --also 'NAME: {twice[0]}'")
    if not players or len(set(players)) < len(players):
        raise ValueError(f"players must be one number or several different ones, not {listed(players) or 'none'}")
    cells = []
    for number in players:
        for name, options in named_cells:
            cells.append(Cell(name, str(game.variant(options, number)), number, names[0]))
    return tuple(cells)


def _name(first: dict[str, str], options: dict[str, str]) -> str:
    """What differs from the first values; of the baseline itself all of it."""
    changed = {name: value for name, value in options.items() if value != first[name]} or first
    return ",".join(f"{name}={value}" for name, value in changed.items()) or "default"


def _rules(shared: str, options: dict[str, str]) -> str:
    return ",".join(filter(None, [shared.strip(" ,"), *(f"{name}={value}" for name, value in options.items())]))


def _options(game: Game, text: str) -> dict[str, str]:
    rules = game.rules.parse(text)
    given = [part.partition("=")[0].strip() for part in text.split(",") if part.strip()]
    return {name: text_of(getattr(rules, name)) for name in given}


# -- the tables --------------------------------------------------------------------------------------------------------


def sizes_of(game: Game, cells: Sequence[Cell], tables: Sequence[str], games: Sequence[int]) -> tuple[int, ...]:
    """The size of a block for each table. Every agent is made for every cell once: names that are wrong, and policies that do not cover a
    variant, are found before anything is played."""
    if not tables:
        raise ValueError("name at least one agent, or --retrain")
    if twice := [table for table in tables if tables.count(table) > 1]:
        raise ValueError(f"{twice[0]} is named twice")
    most = [MOST_DEALS if table == RETRAIN else _size_of(game, cells, table) for table in tables]
    return tuple(min(number, size) for number, size in zip(games_of_tables(games, tables), most, strict=True))


def games_of_tables(games: Sequence[int], tables: Sequence[str]) -> list[int]:
    """The games of each table, of one number for all or one for each."""
    if len(games) not in (1, len(tables)) or min(games) < 1:
        raise ValueError(f"games must be one number, or one for each of {len(tables)} tables, at least 1: not {list(games)}")
    return list(games) * len(tables) if len(games) == 1 else list(games)


def _size_of(game: Game, cells: Sequence[Cell], table: str) -> int:
    agents, size = table.split(TOGETHER), MOST_DEALS
    if len(set(agents)) < len(agents):
        raise ValueError(f"{table}: an agent is named twice at one table")
    for cell in cells:
        if len(agents) not in (1, 2, cell.players):
            raise ValueError(f"{table}: at a table of {cell.players}, one agent, two, or {cell.players} can play, not {len(agents)}")
        for name in agents:
            made = make_agent(game, name, cell)
            if is_table_bot(made):
                raise ValueError(f"{name} plays one table at a time, which is too slow here: use beyond-away arena")
            if is_searcher(made):
                size = MOST_SEARCHED_DEALS
    return size


def make_agent(game: Game, name: str, cell: Cell) -> Any:
    """An agent for a cell."""
    return named.agent(game, name, variant_of(game, cell))


def variant_of(game: Game, cell: Cell) -> Variant:
    return game.variant(cell.variant)


def new_study(
    game: str | Game, cells: Sequence[Cell], tables: Sequence[str], games: int | Sequence[int], seed: int = 0, **more: Any
) -> Study:
    """A study whose blocks are not larger than what is asked for; agents are made once, to find wrong names. games: one number, or one
    for each table."""
    if seed < 0:
        raise ValueError(f"seed must be at least 0, not {seed}")
    found = tabletop.game(game)
    sizes = sizes_of(found, cells, tables, [games] if isinstance(games, int) else games)
    return Study(found, tuple(cells), tuple(tables), sizes, seed, **more)
