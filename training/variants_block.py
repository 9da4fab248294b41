"""Play one block of a study: games of one cell at one table, whose columns depend on the study's settings and the block alone."""

from __future__ import annotations

import re
import sys
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

import tabletop
from agents.named import agent
from tabletop.tables import Tables
from training.balance import BalanceWatch, Metric
from training.play import Games, play, rotations
from training.variants import Cell, Study, make_agent, variant_of

GAMES, LADDER, POSITIONS = "games", "ladder", "positions"
SEARCHED_DEALS = {LADDER: 10, POSITIONS: 50}
MATTERS = 0.05  # chance of victory that is at stake in a decision that matters


@dataclass(frozen=True)
class Block:
    """number: the deals from number * size on. what: games at the table; the skill ladder; positions searched."""

    cell: int
    table: int
    number: int
    what: str = GAMES

    @property
    def name(self) -> str:
        return f"{self.what}-{self.cell:03d}-{self.table:02d}-{self.number:05d}"

    @classmethod
    def named(cls, name: str) -> Block | None:
        """Inverse of `name`; None if it is no block's."""
        parts = re.fullmatch(rf"({GAMES}|{LADDER}|{POSITIONS})-(\d+)-(\d+)-(\d+)", name)
        block = cls(int(parts[2]), int(parts[3]), int(parts[4]), parts[1]) if parts else None
        return block if block and block.name == name else None


SKILL = Metric("skill", "share of the victory of twice the search against once", "skill", share=True)
STAKES = Metric("stakes", "chance of victory at stake in a decision, best action against the mean", "choices")
MATTER = Metric("matters", f"decisions with at least {100 * MATTERS:.0f} points of that chance at stake", "choices", share=True)


def play_block(study: Study, block: Block, policies: str = "") -> dict[str, np.ndarray]:
    """The block's columns. policies: the folder of those that were trained for each variant."""
    size = size_of(study, block)
    deals = np.arange(block.number * size, (block.number + 1) * size)
    cell = study.cells[block.cell]
    if block.what == LADDER:
        return _ladder(study, cell, deals)
    if block.what == POSITIONS:
        return _positions(study, cell, block, deals, policies)
    watch = BalanceWatch(study.game)
    return watch.columns(_play(study, cell, block.table, deals, policies, watch))


def size_of(study: Study, block: Block) -> int:
    """Deals of a block."""
    return study.sizes[block.table] if block.what == GAMES else min(SEARCHED_DEALS[block.what], study.sizes[0])


def _play(study: Study, cell: Cell, table: int, deals: np.ndarray, policies: str, watcher: Any) -> Games:
    """Games at a table, seats rotated. Agents that draw do so anew in every cell, that two cells of one variant are two samples."""
    agents = [make_agent(study.game, name, cell) for name in study.agents_of(study.tables[table], cell, policies)]
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)  # results of another number of threads may differ, and workers share the cores
    seatings = [[0] * cell.players] if len(agents) == 1 else rotations(len(agents), cell.players)
    return play(study.game, variant_of(study.game, cell), agents, deals, study.seed, seatings, watcher=watcher, salt=salt(cell, table))


def salt(cell: Cell, table: int) -> int:
    return 1 + zlib.crc32(f"{cell}/{table}".encode())


# -- how much skill a variant rewards ----------------------------------------------------------------------------------


def _ladder(study: Study, cell: Cell, deals: np.ndarray) -> dict[str, np.ndarray]:
    """One seat searches twice as long as the others, each seat in turn."""
    budget, variant = study.searches.ladder_iterations, variant_of(study.game, cell)
    agents = [agent(study.game, f"search:iterations={n}", variant) for n in (2 * budget, budget)]
    games = play(study.game, variant, agents, deals, study.seed, salt=salt(cell, -1))
    return {"deal": games.deal.astype(np.int64), "skill": games.share_of(0)}


# -- how often a decision matters --------------------------------------------------------------------------------------


class Sampler:
    """Keeps the position before one decision of each game, all of them being as likely: a `Watcher` of `play`."""

    def __init__(self, seed: tuple[int, ...]) -> None:
        self.rng = np.random.default_rng(seed)
        self.parts: list[np.ndarray] = []
        self.decided: list[np.ndarray] = []  # whether a game had a decision at all

    def begin(self, tables: Tables) -> None:
        self.parts.append(tables.records.copy())
        self.seen = np.zeros(tables.num_tables, np.int64)

    def watch(self, tables: Tables, rows: np.ndarray, actions: np.ndarray) -> None:
        self.seen[rows] += 1
        taken = rows[self.rng.random(rows.size) * self.seen[rows] < 1]
        self.parts[-1][taken] = tables.records[taken]

    def end(self, tables: Tables) -> None:
        self.decided.append(self.seen > 0)


def _positions(study: Study, cell: Cell, block: Block, deals: np.ndarray, policies: str) -> dict[str, np.ndarray]:
    """What is at stake in a decision: the best action by one search, against the mean of all actions, as a second search values them.

    The first search chooses and the second measures, so that luck in choosing does not look like something at stake. Values are
    turned from rewards into chances of victory.
    """
    from agents.search import SearchAgent

    sampler = Sampler((study.seed, block.number, salt(cell, block.table)))
    games = _play(study, cell, block.table, deals, policies, sampler)
    decided = np.concatenate(sampler.decided)
    records = np.concatenate(sampler.parts)[decided]
    variant = variant_of(study.game, cell)
    tables = tabletop.Tables(study.game, len(records), variant.players, variant.rules, seed=study.seed, autoreset="disabled")
    tables.restore(records)
    search = SearchAgent(study.game, iterations=study.searches.iterations)
    rng = np.random.default_rng((study.seed, block.number, salt(cell, block.table), 1))
    found = []
    for _ in range(2):
        positions = tables.determinize(tables.records, tables.seat, int(rng.integers(2**63)))
        search.act_on(positions, tables.action_mask, rng)
        found.append(search.explain())
    stakes = np.zeros(len(records))
    for row, (first, second) in enumerate(zip(*found, strict=True)):
        values = {move.action: move.value for move in second.moves}
        if len(values) > 1 and first.action in values:
            stakes[row] = values[first.action] - float(np.mean(list(values.values())))
    stakes *= (variant.players - 1) / variant.players  # a victory is +1, a defeat -1/(players - 1)
    deal = games.deal[decided].astype(np.int64)
    return {"deal": deal, "stakes": stakes, "matters": (stakes >= MATTERS).astype(np.float64)}
