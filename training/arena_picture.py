"""A tournament as a picture: ratings with their intervals, and who gets how much against whom."""

from __future__ import annotations

from pathlib import Path
from textwrap import wrap
from typing import Any

from training.files import replaced

MOST_LETTERS = 22  # of a line of a name
MOST_LINES = 3


def draw(told: dict[str, Any], path: Path) -> None:
    """Write a PNG of a summary (`training.arena_report.summary`)."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    ranking = told["ranking"]
    n = len(ranking)
    labels = [label(entry["name"]) for entry in ranking]
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(8 + 0.75 * n, 2.6 + 0.62 * n), dpi=110, layout="constrained")
    _ratings(left, ranking, labels, told["anchor"])
    _pairs(right, told, labels)
    figure.suptitle(f"{told['variant']}: {told['games']:,} games on {told['deals']:,} deals", fontsize=11)
    with replaced(path) as temporary:
        figure.savefig(temporary, format="png")
    pyplot.close(figure)


def label(name: str) -> str:
    """A name in few short lines."""
    for mark in (":", ",", "/"):
        name = name.replace(mark, mark + " ")
    lines = [line.replace(": ", ":").replace(", ", ",").replace("/ ", "/") for line in wrap(name, MOST_LETTERS)]
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES - 1], "…" + lines[-1]]
    return "\n".join(lines)


def _ratings(axes: Any, ranking: list[dict[str, Any]], labels: list[str], anchor: str) -> None:
    ends = [bound for entry in ranking for bound in entry["rating"].values() if bound is not None]
    margin = 0.08 * (max(ends) - min(ends) or 100.0)
    for place, entry in enumerate(ranking):
        value, low, high = (entry["rating"][key] for key in ("value", "low", "high"))
        axes.plot([min(ends) - margin if low is None else low, max(ends) + margin if high is None else high], [place, place],
                  color="tab:blue", linewidth=2.5, alpha=0.45, solid_capstyle="butt")  # fmt: skip
        for bound, end, mark in ((low, min(ends) - margin, "<"), (high, max(ends) + margin, ">")):
            if bound is None:
                axes.plot([end], [place], marker=mark, color="tab:blue", alpha=0.6, clip_on=False)
        axes.plot([value], [place], marker="o", color="tab:blue")
        axes.annotate(f"{value:.0f}", (value, place), xytext=(0, 6), textcoords="offset points", ha="center", fontsize=8)
    axes.axvline(0, color="0.6", linestyle=":", linewidth=1)
    axes.set_yticks(range(len(labels)), labels, fontsize=8)
    axes.set_ylim(len(labels) - 0.5, -0.6)
    axes.set_xlim(min(ends) - 1.6 * margin, max(ends) + 1.6 * margin)
    axes.set_xlabel(f"rating over {label(anchor)}\n95 % interval (arrow: no bound)", fontsize=9)
    axes.grid(alpha=0.3, axis="x")


def _pairs(axes: Any, told: dict[str, Any], labels: list[str]) -> None:
    import numpy as np

    names = [entry["name"] for entry in told["ranking"]]
    score = np.full((len(names), len(names)), np.nan)
    bounds: dict[tuple[int, int], tuple[float, float]] = {}
    for pair in told["pairs"]:
        if pair["score"]:
            a, b = names.index(pair["better"]), names.index(pair["worse"])
            score[a, b], score[b, a] = pair["score"]["mean"], 1 - pair["score"]["mean"]
            low, high = pair["score"]["low"], pair["score"]["high"]
            bounds[a, b], bounds[b, a] = (low, high), (1 - high, 1 - low)
    axes.imshow(score, cmap="PuOr", vmin=-0.5, vmax=1.5, aspect="auto")  # pale, for the numbers to be read
    for a in range(len(names)):
        for b in range(len(names)):
            if not np.isnan(score[a, b]):
                low, high = bounds[a, b]
                text = f"{100 * score[a, b]:.0f}\n{100 * low:.0f}–{100 * high:.0f}"
                axes.text(b, a, text, ha="center", va="center", fontsize=8, color="black")
    axes.set_xticks(range(len(names)), [str(k + 1) for k in range(len(names))])
    axes.set_yticks(range(len(names)), [f"{text}  {k + 1}" for k, text in enumerate(labels)], fontsize=8)
    axes.xaxis.tick_top()
    what = "share of the victory" if told["players"] == 2 else "score"
    axes.set_xlabel(f"{what}, row against column, %\nwith 95 % interval", fontsize=9)
