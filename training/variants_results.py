"""What a study has found: the balance sheet of each cell at each table, and how cells differ from their baselines."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from training import balance
from training.balance import Metric
from training.comparison import ERROR, Columns, Difference, Estimate, all_settled, differences, estimate, holm
from training.variants import TOGETHER, Cell, Study
from training.variants_block import MATTER, SKILL, STAKES


@dataclass(frozen=True)
class Sheet:
    """The balance sheet of a cell at a table: every metric with its estimate."""

    cell: Cell
    table: str
    rows: tuple[tuple[Metric, Estimate], ...]

    @property
    def games(self) -> int:
        return max((e.games for _, e in self.rows), default=0)

    def __getitem__(self, metric: str) -> Estimate:
        return next(e for m, e in self.rows if m.name == metric)

    def get(self, metric: str) -> Estimate | None:
        return next((e for m, e in self.rows if m.name == metric), None)

    def first_seat_advantage(self) -> tuple[float, float, float]:
        """Share of the victory of seat 0 over an equal share, with its interval, in percentage points."""
        e, equal = self["seat_0"], 1 / self.cell.players
        return 100 * (e.mean - equal), 100 * (e.low - equal), 100 * (e.high - equal)


@dataclass(frozen=True)
class Comparison:
    """A cell against its baseline at a table."""

    cell: Cell
    table: str
    differences: tuple[Difference, ...]

    def line(self, difference: Difference) -> str:
        """`protection=true: captures per game -0.8 [-0.9, -0.7]`, and whether that shows a difference at all."""
        corrected = "" if difference.sure else " (no difference shown)"
        return f"{self.cell.name}: {difference}{corrected}"


@dataclass(frozen=True)
class Results:
    """columns: for (place of the cell, place of the table) what was measured, as in `training.comparison.Columns`. looked: the results
    decided how long was played, so that differences are told by what holds whenever one stops."""

    study: Study
    columns: dict[tuple[int, int], Columns]
    looked: bool = False

    def of_games(self, cell: Cell, table: str) -> list[Metric]:
        """The metrics that every game has."""
        return balance.metrics(self.study.game, self.study.game.variant(cell.variant), len(table.split(TOGETHER)))

    def metrics(self, cell: Cell, table: str) -> list[Metric]:
        """Those, and what is found by search."""
        return [*self.of_games(cell, table), SKILL, STAKES, MATTER]

    def sheets(self) -> list[Sheet]:
        found = []
        for table_at, table in enumerate(self.study.tables):
            for cell_at, cell in enumerate(self.study.cells):
                columns = self.columns.get((cell_at, table_at), {})
                rows = [(m, estimate(m, *columns[m.name])) for m in self.metrics(cell, table) if m.name in columns]
                if rows:
                    found.append(Sheet(cell, table, tuple(rows)))
        return found

    def comparisons(self) -> list[Comparison]:
        """Every cell but the baselines, with p-values corrected for all comparisons there are."""
        found = []
        for cell_at, table_at, baseline in self.pairs():
            cell, table = self.study.cells[cell_at], self.study.tables[table_at]
            ours, theirs = self.columns.get((cell_at, table_at), {}), self.columns.get((baseline, table_at), {})
            told = differences(self.of_games(cell, table), ours, theirs, self.looked)
            found.append((cell, table, told + differences([SKILL, STAKES, MATTER], ours, theirs)))
        corrected = iter(holm([d.p for _, _, told in found for d in told]))
        return [Comparison(c, t, tuple(dataclasses.replace(d, holm=next(corrected)) for d in told)) for c, t, told in found]

    def pairs(self) -> list[tuple[int, int, int]]:
        """(cell, table, cell of its baseline), as places."""
        cells = self.study.cells
        at = {(cell.name, cell.players): i for i, cell in enumerate(cells)}
        wanted = [(i, at[cell.baseline, cell.players]) for i, cell in enumerate(cells) if not cell.is_baseline]
        return [(i, table, baseline) for table in range(len(self.study.tables)) for i, baseline in wanted]

    def open_pairs(self, only: Sequence[str] = ()) -> list[tuple[int, int, int]]:
        """Of `pairs` those with a difference that is not settled yet, all of them together being wrong with a chance of 5 % at most, at
        whatever moments one asks. only: the metrics that count, by name; all if none is named."""
        pairs = self.pairs()
        wanted = {
            (cell, table): [
                m for m in self.of_games(self.study.cells[cell], self.study.tables[table]) if m.compared and (not only or m.name in only)
            ]
            for cell, table, _ in pairs
        }
        error = ERROR / max(sum(len(metrics) for metrics in wanted.values()), 1)
        return [
            (cell, table, baseline)
            for cell, table, baseline in pairs
            if not all_settled(
                wanted[cell, table], self.columns.get((cell, table), {}), self.columns.get((baseline, table), {}), error
            )
        ]


def as_columns(read: dict[str, np.ndarray]) -> Columns:
    """Blocks as read from a store: a pair (deal, numbers) for each metric."""
    return {name: (read["deal"], values) for name, values in read.items() if name not in ("deal", "block")}
