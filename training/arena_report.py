"""What came of a tournament: one summary in plain values (report.json), shown as tables on the terminal and as Markdown."""

from __future__ import annotations

import math
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from training.arena import results_of, setup_of
from training.arena_results import Results
from training.arena_schedule import block_named
from training.arena_store import Blocks
from training.files import RunFolderError, write_json, write_text
from training.ratings import rate
from training.statistics import Share, share_by_deal


def load(folder: Path) -> tuple[Results, dict[str, Any]]:
    """The results in a run's folder so far, and what they are of. Nothing in the folder is changed."""
    setup, goal = setup_of(folder)
    store = Blocks(folder, alike=True)
    others = sorted(name for name in store.done if not block_named(name, len(setup.groups)))
    told = {"variant": setup.variant, "seed": setup.seed, "agents": dict(setup.agents), "damaged_blocks": store.damaged}
    return results_of(store, setup), told | {"other_files": others, "until_sure": goal.until_sure}


def summary(results: Results, told: dict[str, Any], anchor: str | None = None) -> dict[str, Any]:
    """Everything that the report shows, as JSON values. told: as `load` gives it; anchor: the agent whose rating is 0, by default the
    heuristic, or else the first agent."""
    names = results.names
    if anchor is not None and anchor not in names:
        raise ValueError(f"the anchor must be one of {', '.join(names)}, not {anchor}")
    if not len(results):
        raise ValueError("no game has been finished yet")
    zero = names.index(anchor) if anchor else next((k for k, n in enumerate(names) if told["agents"][n] == "heuristic"), 0)
    ratings = rate(results.wins, zero)
    order = sorted(range(len(names)), key=lambda k: (-round(ratings[k].value, 2), k))
    agents = [_agent(results, told, k) | {"rating": _plain(ratings[k].value, ratings[k].low, ratings[k].high)} for k in order]
    for entry, (a, b) in zip(agents, pairwise(order), strict=False):
        sure = results.settled(a, b)
        entry["above_next"] = {1: "yes", -1: "no", 0: "open"}[sure.sign] if sure.n else "not played"
    return {
        **told,
        "anchor": names[zero],
        "games": len(results),
        "deals": len(np.unique(results.deal)),
        "players": results.seats,
        "ranking": agents,
        "pairs": [_pair(results, a, b) for at, a in enumerate(order) for b in order[at + 1 :]],
        "seats": [_share(share_by_deal(results.deal, results.share[:, seat])) for seat in range(results.seats)],
        "decisions_per_game": _spread(results.decisions.sum(axis=1)),
        "cut_off": float(results.truncated.mean()),
        "faults": int((results.fault_seat >= 0).sum()),
    }


def _agent(results: Results, told: dict[str, Any], k: int) -> dict[str, Any]:
    games, share = results.mean_share(k)
    mine = results.seating == k
    asked = results.decisions[mine].sum()
    took = results.milliseconds[mine & (results.decisions > 0)]  # in a game that ends before its turn it takes no time
    at_fault = (results.fault_seat >= 0) & (results.seating[np.arange(len(results)), results.fault_seat] == k)
    kinds = Counter(map(str, results.fault_kind[at_fault]))
    return {
        "name": results.names[k],
        "agent": told["agents"][results.names[k]],
        "share": _share(share_by_deal(results.deal[games], share)) if len(games) else None,
        "games": len(games),
        "decisions_per_game": float(asked / max(mine.sum(), 1)),
        "milliseconds_per_decision": float(np.median(took)) if took.size else 0.0,
        "cut_off": float(results.truncated[games].mean()) if len(games) else 0.0,
        "faults": dict(sorted(kinds.items())),
        "fault_example": str(results.fault_reason[at_fault][0]) if at_fault.any() else "",
    }


def _pair(results: Results, a: int, b: int) -> dict[str, Any]:
    score, sure = results.score(a, b), results.settled(a, b)
    return {
        "better": results.names[a],
        "worse": results.names[b],
        "score": _share(score) if score else None,
        "settled": {1: "better", -1: "worse", 0: "open"}[sure.sign],
    }


def _plain(value: float, low: float | None, high: float | None) -> dict[str, float | None]:
    return {"value": value, "low": low, "high": high}


def _share(share: Share) -> dict[str, Any]:
    return {"mean": share.mean, "low": share.low, "high": share.high, "games": share.games, "deals": share.deals}


def _spread(values: np.ndarray) -> dict[str, float]:
    low, high = np.percentile(values, [10, 90])
    return {"mean": float(values.mean()), "p10": float(low), "p90": float(high)}


# -- tables ------------------------------------------------------------------------------------------------------------

Rows = tuple[list[str], list[list[str]]]
LEFT = ("agent", "games lost by fault")  # columns of words
NAME_WIDTH, CELL_WIDTH = 24, 8  # on a terminal, of the table of pairs: place and name; a share with its interval


def rating_text(rating: dict[str, Any]) -> str:
    low, high = ("…" if bound is None else f"{bound:.0f}" for bound in (rating["low"], rating["high"]))
    return f"{rating['value']:.0f} [{low}, {high}]"


def share_text(share: dict[str, Any] | None) -> str:
    return f"{100 * share['mean']:.1f} % [{100 * share['low']:.1f}, {100 * share['high']:.1f}]" if share else "–"


def time_text(milliseconds: float) -> str:
    return f"{milliseconds:.{max(0, 1 - math.floor(math.log10(max(milliseconds, 1e-3))))}f}"


def ranking_rows(told: dict[str, Any]) -> Rows:
    rows = []
    for place, entry in enumerate(told["ranking"], 1):
        above = entry.get("above_next", "")
        rows.append([str(place), entry["name"], rating_text(entry["rating"]), above, share_text(entry["share"]), f"{entry['games']:,}"])
    return ["", "agent", "rating", "above the next?", "share of the victory", "games"], rows


def play_rows(told: dict[str, Any]) -> Rows:
    rows = []
    for place, entry in enumerate(told["ranking"], 1):
        faults = ", ".join(f"{number} {kind}" for kind, number in entry["faults"].items())
        numbers = [f"{entry['decisions_per_game']:.0f}", time_text(entry["milliseconds_per_decision"])]
        rows.append([str(place), entry["name"], *numbers, f"{100 * entry['cut_off']:.1f} %", faults or "0"])
    return ["", "agent", "decisions a game", "ms a decision", "games cut off", "games lost by fault"], rows


def pair_rows(told: dict[str, Any]) -> Rows:
    """Each agent's score against each other, by place in the ranking."""
    names = [entry["name"] for entry in told["ranking"]]
    found = {(pair["better"], pair["worse"]): pair["score"] for pair in told["pairs"]}
    rows = []
    for place, name in enumerate(names, 1):
        row = [str(place), name]
        for other in names:
            share = found.get((name, other)) or _turned(found.get((other, name)))
            row.append("" if other == name else share_text(share))
        rows.append(row)
    return ["", "agent", *(str(k + 1) for k in range(len(names)))], rows


def _turned(share: dict[str, Any] | None) -> dict[str, Any] | None:
    """The same games seen from the other side."""
    return share and share | {"mean": 1 - share["mean"], "low": 1 - share["high"], "high": 1 - share["low"]}


def lines(told: dict[str, Any]) -> list[str]:
    """The rest of the report, a sentence a line."""
    length = told["decisions_per_game"]
    open_orders = sum(entry.get("above_next") in ("open", "not played") for entry in told["ranking"])
    found = [
        f"{told['variant']}, {told['games']:,} games on {told['deals']:,} deals of seed {told['seed']}; {told['anchor']} has rating 0.",
        f"Decisions a game: {length['mean']:.0f}, of 80 % of the games {length['p10']:.0f} to {length['p90']:.0f}; "
        f"{100 * told['cut_off']:.1f} % cut off.",
        "Share by seat: " + ", ".join(f"seat {k}: {share_text(seat)}" for k, seat in enumerate(told["seats"])) + ".",
        f"Order of neighbours: {open_orders or 'none'} of {len(told['ranking']) - 1} open at 95 % for the whole ranking.",
    ]
    for above, below in pairwise(told["ranking"]):
        if above.get("above_next") == "no":
            found.append(f"{above['name']} is rated above {below['name']} and does worse against it: who beats whom goes in a circle.")
    for entry in told["ranking"]:
        if entry["faults"]:
            found.append(f"{entry['name']} lost {sum(entry['faults'].values())} games by fault, as: {entry['fault_example']}")
    if told["damaged_blocks"]:
        found.append(f"Damaged blocks, which do not count: {', '.join(told['damaged_blocks'])}.")
    if told["other_files"]:
        found.append(f"Files that are none of its blocks, which do not count: {', '.join(told['other_files'])}.")
    return found


def tables(told: dict[str, Any]) -> list[tuple[str, Rows]]:
    """The tables of the report with their titles."""
    pairs = "Share of the victory against each other, %"
    if told["players"] > 2:
        pairs = "Score against each other, %: 50 % and half of what a seat gets more of the victory than one of the other's"
    return [("Ranking, with 95 % intervals", ranking_rows(told)), (pairs, pair_rows(told)), ("How they played", play_rows(told))]


def show(told: dict[str, Any], console: Console) -> None:
    """The report on a terminal. The table of pairs is cut into as many as fit its width."""
    for title, (head, rows) in tables(told):
        several = head == pair_rows(told)[0]
        step = max(1, (console.width - NAME_WIDTH) // CELL_WIDTH) if several else len(head)
        for start in range(2, len(head), step):
            chosen = [0, 1, *range(start, min(start + step, len(head)))]
            table = Table(title=title, box=box.SIMPLE_HEAD, pad_edge=False)
            for name in (head[k] for k in chosen):
                left, width = name in LEFT, 10 if name == "agent" else None
                table.add_column(name, justify="left" if left else "right", overflow="fold", min_width=width)
            for row in rows:
                table.add_row(*(Text(_cell(row[k], short=several) if head[k] != "agent" else row[k]) for k in chosen))
            console.print(table)
    for line in lines(told):
        console.print(line, markup=False, soft_wrap=True)


def _cell(text: str, short: bool) -> str:
    """A cell in two lines, the interval below; short: a share in whole per cent, its sign left out."""
    found = re.fullmatch(r"([\d.]+) % \[([\d.]+), ([\d.]+)\]", text) if short else None
    if found is None:
        return text.replace(" [", "\n[")
    mean, low, high = (f"{float(number):.0f}" for number in found.groups())
    return f"{mean}\n{low}–{high}"


def markdown(told: dict[str, Any]) -> str:
    parts = ["\n".join(f"{line}  " for line in lines(told)).rstrip()]
    for title, (head, rows) in tables(told):
        align = ["---" if name in LEFT else "---:" for name in head]
        told_rows = [[_code(cell) if name == "agent" else cell for name, cell in zip(head, row, strict=True)] for row in rows]
        table = "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in (head, align, *told_rows))
        parts.append(f"{title}:\n\n{table}")
    return "\n\n".join(parts) + "\n"


def _code(name: str) -> str:
    """A name as code in Markdown, in one line."""
    marks = "`" * (1 + max(map(len, re.findall("`+", name)), default=0))
    space = " " if "`" in name else ""
    return f"{marks}{space}{' '.join(name.split())}{space}{marks}"


def write(folder: Path, told: dict[str, Any]) -> list[Path]:
    """Write report.json, report.md and report.png into a folder; their paths. RunFolderError if they cannot be written."""
    from training.arena_picture import draw

    try:
        write_json(folder / "report.json", told)
        write_text(folder / "report.md", markdown(told))
        draw(told, folder / "report.png")
    except OSError as error:
        raise RunFolderError(f"cannot write the report to {folder}: {error.strerror or error}") from None
    return [folder / f"report.{kind}" for kind in ("md", "json", "png")]
