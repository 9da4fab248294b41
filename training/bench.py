"""The speed table: decisions per CPU-second of uniformly random legal play, with observation and mask at every decision.

CPU-seconds of the whole process are counted, for wall time on a shared machine says little. Every row is measured several times,
the rows taking turns, so that ratios between them come from one run; best and median are shown. Other suites are measured in the same way
if they are installed.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import numpy as np

import tabletop
from tabletop.registry import Game
from tabletop.sampling import pick_rows


@dataclass
class Row:
    """One line of the table. run(seconds) plays for about that long and returns the number of decisions."""

    name: str
    run: Callable[[float], int]
    rates: list[float] = field(default_factory=list)
    walls: list[float] = field(default_factory=list)

    def measure(self, seconds: float) -> None:
        cpu, wall = time.process_time(), time.perf_counter()
        decisions = self.run(seconds)
        self.rates.append(decisions / (time.process_time() - cpu))
        self.walls.append(decisions / (time.perf_counter() - wall))


def batch_row(game: Game, num_tables: int, threads: int = 1) -> Callable[[float], int]:
    """Random play on `num_tables` two-player tables, auto-reset on."""
    tables = tabletop.Tables(game, num_tables, 2, seed=1, autoreset="same_step", threads=threads)
    stream, actions = np.array([7, 0], np.uint64), np.zeros(num_tables, np.int64)
    steps = max(1, 2000 // num_tables)

    def run(seconds: float) -> int:
        decisions, until = 0, time.perf_counter() + seconds
        while time.perf_counter() < until:
            for _ in range(steps):
                pick_rows(tables.action_mask, stream, actions)
                tables.step(actions)
            decisions += steps * num_tables
        return decisions

    run(0.01)
    return run


def aec_row(env: Any, games: Callable[[], None] | None = None) -> Callable[[float], int]:
    """Random play through agent_iter, last and step of a PettingZoo environment with an action mask."""
    rng = np.random.default_rng(7)

    def run(seconds: float) -> int:
        decisions, until = 0, time.perf_counter() + seconds
        while time.perf_counter() < until:
            env.reset(seed=decisions)
            for _ in env.agent_iter():
                observation, _, terminated, truncated, _ = env.last()
                if terminated or truncated:
                    env.step(None)
                    continue
                legal = observation["action_mask"].nonzero()[0]
                env.step(int(legal[int(rng.random() * len(legal))]))
                decisions += 1
        return decisions

    run(0.01)
    return run


def openspiel_row(name: str) -> Callable[[float], int]:
    """Random play of an OpenSpiel game from Python, with observation and mask at every decision."""
    import pyspiel

    game = pyspiel.load_game(name)
    rng = np.random.default_rng(7)
    shown = game.get_type().provides_observation_tensor

    def run(seconds: float) -> int:
        decisions, until = 0, time.perf_counter() + seconds
        while time.perf_counter() < until:
            state = game.new_initial_state()
            while not state.is_terminal():
                if state.is_chance_node():
                    outcomes = state.chance_outcomes()
                    state.apply_action(outcomes[int(rng.random() * len(outcomes))][0])
                    continue
                player = state.current_player()
                legal = state.legal_actions()
                np.asarray(state.legal_actions_mask(player), np.int8)
                np.asarray(state.observation_tensor(player) if shown else state.information_state_tensor(player), np.float32)
                state.apply_action(legal[int(rng.random() * len(legal))])
                decisions += 1
        return decisions

    run(0.01)
    return run


def rows(games: list[str], threads: int) -> Iterator[Row]:
    """The rows that can be measured here."""
    from tabletop import aec

    for name in games:
        game = tabletop.game(name)
        title = game.title or name
        yield Row(f"{title}: Tables, 4,096 tables", batch_row(game, 4096))
        if threads > 1:
            yield Row(f"{title}: Tables, 4,096 tables, {threads} threads", batch_row(game, 4096, threads))
        yield Row(f"{title}: Tables, 1 table", batch_row(game, 1))
        yield Row(f"{title}: PettingZoo raw_env", aec_row(aec.raw_env(game, num_players=2)))
        yield Row(f"{title}: PettingZoo env (wrapped)", aec_row(aec.env(game, num_players=2)))
    for classic in ("connect_four_v3", "gin_rummy_v4"):
        try:
            from importlib import import_module

            yield Row(f"PettingZoo {classic}: env (wrapped)", aec_row(import_module(f"pettingzoo.classic.{classic}").env()))
        except ImportError:
            pass  # the rest of PettingZoo's classics need packages of their own
    for other in ("backgammon", "gin_rummy", "connect_four"):
        try:
            yield Row(f"OpenSpiel {other}, from Python", openspiel_row(other))
        except ImportError:
            break


def machine() -> str:
    """The machine in one line."""
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo") as file:
            model = next((line.partition(":")[2].strip() for line in file if line.startswith("model name")), model)
    except OSError:
        pass
    import os

    return f"{model}, {os.cpu_count()} cores, Python {platform.python_version()}, numpy {np.__version__}"


def table(measured: list[Row], reference: Row) -> str:
    """The table as Markdown; ratios are those of the medians, to the `reference` row."""
    lines = [
        "| what | decisions per CPU-second, best | median | per second of wall time, best | ratio |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    base = median(reference.rates)
    for r in measured:
        ratio = median(r.rates) / base
        lines.append(f"| {r.name} | {max(r.rates):,.0f} | {median(r.rates):,.0f} | {max(r.walls):,.0f} | {ratio:,.2f} |")
    return "\n".join(lines)


def bench(games: list[str], seconds: float = 1.0, repeats: int = 5, threads: int = 2, say: Callable[[str], None] = print) -> str:
    """Measure and return the table."""
    from tabletop.registry import games as registered

    if not (seconds > 0 and repeats >= 1 and threads >= 1):
        raise ValueError(f"seconds must be above 0, repeats and threads at least 1, not {seconds:g}, {repeats}, {threads}")
    measured = list(rows(games or list(registered()), threads))
    for turn in range(repeats):
        say(f"measuring: round {turn + 1} of {repeats} ({len(measured)} rows of {seconds:g} s)")
        for row in measured:
            row.measure(seconds)
    reference = next((r for r in measured if r.name.startswith("PettingZoo connect_four")), measured[0])
    head = (
        f"Two-player games, uniformly random legal play, observation and mask at every decision. {machine()}.\n"
        f"{repeats} rounds of {seconds:g} s; ratio: medians, to “{reference.name}”.\n\n"
    )
    return head + table(measured, reference)
