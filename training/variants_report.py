"""What a study has found, as tables: rows for parquet, and a report in Markdown and in one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from training.arena_store import write_parquet
from training.balance import Metric
from training.comparison import decimals
from training.files import write_text
from training.variants_results import Comparison, Results, Sheet

GROUPS = {
    "seats": "Seats", "skill": "Skill", "ending": "How games end", "points": "Points", "length": "Length", "drama": "Drama",
    "choices": "Choices", "play": "What is done",
}  # fmt: skip
SHEET, DIFFERENCES = "sheet.parquet", "differences.parquet"
MARKDOWN, HTML = "report.md", "report.html"


def write_report(results: Results, folder: Path, command: str = "") -> None:
    """Write sheet.parquet, differences.parquet, report.md and report.html."""
    from training.variants_pictures import pictures

    sheets, comparisons = results.sheets(), results.comparisons()
    for name, columns in ((SHEET, sheet_rows(sheets)), (DIFFERENCES, difference_rows(comparisons))):
        if columns:
            write_parquet(folder / name, columns)
    write_text(folder / MARKDOWN, markdown(results, sheets, comparisons, command))
    write_text(folder / HTML, html(results, sheets, comparisons, pictures(sheets, comparisons), command))


# -- rows --------------------------------------------------------------------------------------------------------------


def sheet_rows(sheets: list[Sheet]) -> dict[str, np.ndarray]:
    """One row for each metric of each cell at each table, as columns."""
    rows = [
        {
            "cell": s.cell.name, "players": s.cell.players, "variant": s.cell.variant, "table": s.table, "metric": m.name, "title": m.title,
            "group": m.group, "share": m.share, "mean": e.mean, "low": e.low, "high": e.high, "sd": e.sd, "games": e.games,
            "deals": e.deals,
        }
        for s in sheets for m, e in s.rows
    ]  # fmt: skip
    return _columns(rows) if rows else {}


def difference_rows(comparisons: list[Comparison]) -> dict[str, np.ndarray]:
    """One row for each comparison, as columns."""
    rows = [
        {
            "cell": c.cell.name, "baseline": c.cell.baseline, "players": c.cell.players, "table": c.table, "metric": d.metric.name,
            "title": d.metric.title, "share": d.metric.share, "mean": d.mean, "low": d.low, "high": d.high, "effect": d.effect, "p": d.p,
            "p_holm": d.holm, "sure": d.sure, "deals": d.deals, "line": c.line(d),
        }
        for c in comparisons for d in c.differences
    ]  # fmt: skip
    return _columns(rows) if rows else {}


def _columns(rows: list[dict[str, Any]]) -> dict[str, np.ndarray]:
    return {name: np.array([row[name] for row in rows], object if isinstance(rows[0][name], str) else None) for name in rows[0]}


# -- texts -------------------------------------------------------------------------------------------------------------


def told(metric: Metric, mean: float, low: float, high: float) -> str:
    """`12.3 [11.9, 12.7]`; shares in per cent."""
    scale = 100 if metric.share else 1
    text, low_text, high_text = decimals(scale * mean, scale * low, scale * high)
    return f"{text}{' %' if metric.share else ''} [{low_text}, {high_text}]"


def grouped(sheets: list[Sheet]) -> Iterator[tuple[str, list[Sheet]]]:
    """(heading, sheets) for each table of agents and number of players."""
    keys = dict.fromkeys((s.table, s.cell.players) for s in sheets)
    for table, players in keys:
        yield f"{table}, {players} players", [s for s in sheets if (s.table, s.cell.players) == (table, players)]


def sheet_table(sheets: list[Sheet]) -> tuple[list[str], list[tuple[str, list[list[str]]]]]:
    """(header, (group, rows)) of a table of several cells, one column each."""
    header = ["", *(f"{s.cell.name} ({s.games:,} games)" for s in sheets)]
    metrics = list(dict.fromkeys(m for s in sheets for m, _ in s.rows))
    body: list[tuple[str, list[list[str]]]] = []
    for group, title in GROUPS.items():
        rows = []
        for m in metrics:
            if m.group == group:
                found = [s.get(m.name) for s in sheets]
                rows.append([m.title, *(told(m, e.mean, e.low, e.high) if e else "–" for e in found)])
        if group == "seats" and rows:
            advantages = [decimals(*s.first_seat_advantage(), sign=True) for s in sheets]
            rows.append(["first-seat advantage, points over an equal share", *(f"{a[0]} [{a[1]}, {a[2]}]" for a in advantages)])
        if rows:
            body.append((title, rows))
    return header, body


def ordered(comparison: Comparison) -> list[str]:
    """The lines of a comparison: what is shown to differ first, the largest effects before the others."""
    size = {True: 0.02, False: 1.0}  # a difference of 50 points weighs as much as one of a standard deviation
    by_size = sorted(comparison.differences, key=lambda d: (not d.sure, -abs(d.effect) * size[d.metric.share]))
    return [comparison.line(d) for d in by_size]


NOTES = (
    "Numbers stand with their 95 % intervals; games of one deal count as one observation.",
    "Differences are taken deal by deal on common deals. Those marked (no difference shown) are not told from none when Holm's correction"
    " for all {m:,} comparisons of the study is made; the intervals themselves are not corrected.{looked}",
    "A game that is cut off counts as shared by all. The lead is taken as each round begins; a game without a winner counts as led by"
    " the winner in none of it.",
)


LOOKED = (
    " This study was played until it was sure: intervals and p-values of differences are wider than those of a fixed number of games, and"
    " hold whenever one looks and stops."
)


def notes(results: Results, comparisons: list[Comparison]) -> list[str]:
    m = sum(len(c.differences) for c in comparisons)
    return [note.format(m=m, looked=LOOKED if results.looked else "") for note in NOTES]


def markdown(results: Results, sheets: list[Sheet], comparisons: list[Comparison], command: str = "") -> str:
    lines = [f"# Variants of {results.study.game.title or results.study.game.name}", ""]
    if command:
        lines += ["```text", command, "```", ""]
    lines += [*notes(results, comparisons), ""]
    for heading, group in grouped(sheets):
        lines += [f"## {heading}", ""]
        header, body = sheet_table(group)
        lines += [markdown_row(header), "| --- |" + " ---: |" * (len(header) - 1)]
        for title, rows in body:
            lines.append(f"| **{title}** |" + " |" * (len(header) - 1))
            lines += [markdown_row(row) for row in rows]
        lines.append("")
        for c in comparisons:
            if f"{c.table}, {c.cell.players} players" == heading and c.differences:
                lines += [f"### {c.cell.name} against {c.cell.baseline}", "", *(f"- {line}" for line in ordered(c)), ""]
    return "\n".join(lines)


def markdown_row(cells: Iterable[str]) -> str:
    """A line of a table; a name may have a bar in it."""
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def html(results: Results, sheets: list[Sheet], comparisons: list[Comparison], drawn: Mapping[str, list[str]], command: str = "") -> str:
    """The report as one page. drawn: for each heading its pictures, as SVG."""
    from jinja2 import Environment

    groups = []
    for heading, group in grouped(sheets):
        header, body = sheet_table(group)
        against = [c for c in comparisons if f"{c.table}, {c.cell.players} players" == heading and c.differences]
        lines = [(f"{c.cell.name} against {c.cell.baseline}", ordered(c)) for c in against]
        groups.append({"heading": heading, "header": header, "body": body, "lines": lines, "pictures": drawn.get(heading, [])})
    cells = [(str(cell), cell.variant) for cell in results.study.cells]
    page = Environment(autoescape=True).from_string(PAGE)
    title = f"Variants of {results.study.game.title or results.study.game.name}"
    return page.render(title=title, command=command, notes=notes(results, comparisons), groups=groups, cells=cells, seed=results.study.seed)


PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{{ title }}</title><style>
body { font: 15px/1.45 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; color: #1b1b1b }
table { border-collapse: collapse; font-size: 13px; display: block; overflow-x: auto }
td, th { padding: .2rem .7rem; text-align: right; white-space: nowrap; border-bottom: 1px solid #e4e4e4 }
td:first-child, th:first-child { text-align: left } .group td { font-weight: 600; padding-top: .7rem; border-bottom: 1px solid #999 }
pre { background: #f5f5f5; padding: .7rem; white-space: pre-wrap } .no { color: #777 } svg { max-width: 100%; height: auto }
</style></head><body>
<h1>{{ title }}</h1>
{% if command %}<pre>{{ command }}</pre>{% endif %}
{% for note in notes %}<p>{{ note }}</p>{% endfor %}
{% for group in groups %}
<h2>{{ group.heading }}</h2>
{% for picture in group.pictures %}<p>{{ picture | safe }}</p>{% endfor %}
<table><tr>{% for cell in group.header %}<th>{{ cell }}</th>{% endfor %}</tr>
{% for title, rows in group.body %}
<tr class="group"><td colspan="{{ group.header | length }}">{{ title }}</td></tr>
{% for row in rows %}<tr>{% for cell in row %}<td>{{ cell }}</td>{% endfor %}</tr>{% endfor %}
{% endfor %}</table>
{% for title, lines in group.lines %}<h3>{{ title }}</h3><ul>
{% for line in lines %}<li{% if "(no difference" in line %} class="no"{% endif %}>{{ line }}</li>{% endfor %}</ul>{% endfor %}
{% endfor %}
<h2>The variants</h2>
<p>Deals of seed {{ seed }}.</p>
<table>{% for name, variant in cells %}<tr><td>{{ name }}</td><td>{{ variant }}</td></tr>{% endfor %}</table>
</body></html>
"""
