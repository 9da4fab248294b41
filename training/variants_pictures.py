"""The pictures of a study's report, as SVG: who wins, how games end, and what changes by how much."""

from __future__ import annotations

import re
from io import StringIO
from typing import Any

import numpy as np

from training.variants_results import Comparison, Sheet

COLOURS = ("#4c72b0", "#dd8452", "#55a868", "#c44e52", "#8172b3", "#937860", "#da8bc3", "#8c8c8c", "#ccb974", "#64b5cd")
MOST_ROWS = 24  # of differences, the largest


def pictures(sheets: list[Sheet], comparisons: list[Comparison]) -> dict[str, list[str]]:
    """For each heading of the report (agents and number of players) its pictures."""
    from training.variants_report import grouped

    drawn: dict[str, list[str]] = {}
    for heading, group in grouped(sheets):
        against = [c for c in comparisons if f"{c.table}, {c.cell.players} players" == heading and c.differences]
        drawn[heading] = [_svg(overview(group))]
        for share in (False, True):
            if any(d.metric.share is share and d.sure for c in against for d in c.differences):
                drawn[heading].append(_svg(forest(against, share)))
    return drawn


def overview(sheets: list[Sheet]) -> Any:
    """Shares of the victory by seat, and how games end, a row for each cell."""
    figure, (seats, endings) = _figure(11, 1.3 + 0.55 * len(sheets), 2)
    names = [s.cell.name for s in sheets]
    players = sheets[0].cell.players
    rows = np.arange(len(sheets))[::-1]
    for seat in range(players):
        found = [s[f"seat_{seat}"] for s in sheets]
        at = rows + 0.4 * (0.5 - (seat + 0.5) / players)
        mean = np.array([e.mean for e in found])
        low, high = mean - [e.low for e in found], np.array([e.high for e in found]) - mean
        seats.errorbar(100 * mean, at, xerr=100 * np.array([low, high]), fmt="o", ms=4, color=COLOURS[seat], label=f"seat {seat}")
    seats.axvline(100 / players, color="#999", lw=0.8, zorder=0)
    seats.set(yticks=rows, yticklabels=names, xlabel="share of the victory with its 95 % interval, per cent", title="Who wins")
    figure.legend(*seats.get_legend_handles_labels(), frameon=False, fontsize=8, loc="outside lower left", ncols=players)
    metrics = [m for m, _ in sheets[0].rows if m.group == "ending" and m.name not in ("shared",)]
    left = np.zeros(len(sheets))
    for k, metric in enumerate(metrics):
        width = np.array([100 * s[metric.name].mean for s in sheets])
        if width.max() >= 0.05:
            endings.barh(rows, width, left=left, height=0.6, color=COLOURS[k % len(COLOURS)], label=metric.title)
        left += width
    endings.set(yticks=rows, yticklabels=[], xlabel="per cent of the games", title="How games end", xlim=(0, 100))
    figure.legend(*endings.get_legend_handles_labels(), frameon=False, fontsize=8, loc="outside lower right", ncols=2)
    return figure


def forest(comparisons: list[Comparison], share: bool) -> Any:
    """Differences from the baseline with their intervals: of shares in percentage points, of all else in standard deviations. Only
    metrics in which some cell is shown to differ, ValueError if there is none; open marks are differences not shown."""
    largest: dict[str, float] = {}
    titles: dict[str, str] = {}
    for c in comparisons:
        for d in c.differences:
            if d.metric.share is share:
                titles[d.metric.name] = d.metric.title
                largest[d.metric.name] = max(largest.get(d.metric.name, 0.0), abs(d.effect) if d.sure else 0.0)
    shown = sorted((name for name, size in largest.items() if size > 0), key=lambda name: -largest[name])[:MOST_ROWS]
    if not shown:
        raise ValueError(f"no {'share' if share else 'number'} is shown to differ: there is nothing to draw")
    figure, (axes,) = _figure(11, 1.6 + 0.34 * len(shown), 1)
    rows = {name: len(shown) - 1 - k for k, name in enumerate(shown)}
    for k, c in enumerate(comparisons):
        shift = 0.5 * (0.5 - (k + 0.5) / len(comparisons))
        axes.plot([], [], "o", ms=4, color=COLOURS[k % len(COLOURS)], label=c.cell.name)
        for d in c.differences:
            if d.metric.name in rows:
                scale = 100.0 if share else d.effect / d.mean if d.mean else 0.0
                bounds = np.array([[max(d.mean - d.low, 0.0)], [max(d.high - d.mean, 0.0)]]) * abs(scale)
                axes.errorbar(
                    [scale * d.mean], [rows[d.metric.name] + shift], xerr=bounds, fmt="o", ms=4, color=COLOURS[k % len(COLOURS)],
                    mfc=None if d.sure else "white",
                )  # fmt: skip
    axes.axvline(0, color="#999", lw=0.8, zorder=0)
    axes.set(yticks=list(rows.values()), yticklabels=[titles[name] for name in rows], ylim=(-0.6, len(shown) - 0.4))
    unit = "percentage points" if share else "standard deviations between deals"
    axes.set_xlabel(f"difference with its 95 % interval, {unit}; open marks: no difference shown")
    axes.set_title(f"{'Shares' if share else 'Numbers'} that change, against {comparisons[0].cell.baseline}")
    figure.legend(frameon=False, fontsize=8, loc="outside lower center", ncols=min(len(comparisons), 4))
    if not share:
        _widen_the_middle(axes)
    return figure


def _widen_the_middle(axes: Any) -> None:
    """A scale on which both a tenth and several standard deviations can be read."""
    axes.set_xscale("symlog", linthresh=0.5)
    low, high = axes.get_xlim()
    ticks = [t for t in (-50, -20, -10, -5, -2, -1, -0.5, -0.25, 0, 0.25, 0.5, 1, 2, 5, 10, 20, 50) if low <= t <= high]
    axes.set_xticks(ticks, [f"{t:g}" for t in ticks])
    axes.set_xticks([], minor=True)


def _figure(width: float, height: float, columns: int) -> tuple[Any, list[Any]]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = [figure.add_subplot(1, columns, k + 1) for k in range(columns)]
    for each in axes:
        each.spines[["top", "right"]].set_visible(False)
        each.grid(axis="x", color="#eee")
        each.set_axisbelow(True)
    return figure, axes


def _svg(figure: Any) -> str:
    """The picture as text that can stand in a page: no date, no random names, so that the same numbers give the same file."""
    from matplotlib import rc_context

    written = StringIO()
    with rc_context({"svg.hashsalt": "variants", "svg.fonttype": "none"}):
        figure.savefig(written, format="svg", metadata={"Date": None})
    return re.sub(r"^.*?(?=<svg )", "", written.getvalue(), count=1, flags=re.DOTALL)
