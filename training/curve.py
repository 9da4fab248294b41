"""The learning curve of a run as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from training.files import replaced


def draw(metrics: list[dict[str, Any]], path: Path, title: str, level: float | None = None) -> None:
    """Write a PNG: share of the victory against each baseline, with 95 % intervals, over the minutes trained; at `level` a line."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    lines: dict[tuple[str, str], list[tuple[float, float, float, float]]] = {}
    for entry in metrics:
        for r in entry["results"]:
            lines.setdefault((r["variant"], r["opponent"]), []).append((entry["minutes"], r["share"], r["low"], r["high"]))
    several = len({variant for variant, _ in lines}) > 1
    figure, axes = pyplot.subplots(figsize=(8, 4.5), dpi=120)
    for (variant, opponent), points in lines.items():
        minutes, share, low, high = (list(column) for column in zip(*points, strict=True))
        label = f"against {opponent}" + (f", {variant}" if several else "")
        (line,) = axes.plot(minutes, share, marker="o", markersize=4, label=label)
        axes.fill_between(minutes, low, high, alpha=0.2, color=line.get_color(), linewidth=0)
    if level is not None:
        axes.axhline(level, color="0.4", linestyle="--", linewidth=1)
    warm = [e["minutes"] for e in metrics if e["label"] == "after the warm start"]
    if warm:
        axes.axvline(warm[0], color="0.6", linestyle=":", linewidth=1)
        axes.annotate("self-play begins", (warm[0], 0.02), xytext=(4, 0), textcoords="offset points", fontsize=8, color="0.4")
    axes.set(xlabel="minutes of training", ylabel="share of victories (95 % interval)", ylim=(0, 1.02), title=title)
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")
    figure.tight_layout()
    with replaced(path) as temporary:
        figure.savefig(temporary, format="png")
    pyplot.close(figure)
