"""`beyond-away variants`: its settings, and what it says on the terminal."""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import tyro
from rich.console import Console

import tabletop
from training.variants import RETRAIN, Searches, design, new_study


@dataclass(frozen=True)
class VariantsConfig:
    """Compare variants of a game: the same agents play each of them on common deals; a balance sheet of each, and how they differ.

    Results are stored as they come: the same command again goes on where it was stopped. In the folder: report.html, report.md,
    sheet.parquet, differences.parquet, and every game in results/.
    """

    vary: tyro.conf.UseAppendAction[tuple[str, ...]] = ()
    """an option and the values it takes, OPTION=V1,V2,…; once for each option. The first values are the baseline"""
    also: tyro.conf.UseAppendAction[tuple[str, ...]] = ()
    """a further variant, as rules ("option=value,…"), or with a name of its own ("NAME: option=value")"""
    one_at_a_time: bool = False
    """change one option at a time; otherwise all combinations are played"""
    rules: str = ""
    """options that all variants share, "option=value,…\""""
    players: tuple[int, ...] = (2,)
    """numbers of players; variants are compared within each"""
    agents: tuple[str, ...] = ("heuristic",)
    """who plays: each agent sits in all seats of tables of its own; "A + B" sit at one table, seats rotated; none: only --retrain"""
    games: tuple[int, ...] = (2000,)
    """games of each variant and number of players: one number, or one for each of the agents (and for --retrain, last)"""
    retrain: bool = False
    """train a policy for each variant, and let it play that variant"""
    minutes_per_variant: float = 4.5
    """length of each training"""
    decisions_per_variant: int = 0
    """length of each training in decisions, instead of minutes: can be repeated exactly"""
    until_sure: bool = False
    """stop a variant when all its differences are settled (told from none, or known to be small); --games is then the most"""
    decide: tuple[str, ...] = ()
    """metrics that --until-sure waits for, by their names in sheet.parquet; all if none is named"""
    ladder_games: int = 100
    """games between twice the search and once the search, for the skill that a variant rewards; 0: none"""
    ladder_iterations: int = 30
    """iterations of once the search"""
    positions: int = 200
    """decisions, one of a game each, that are searched to see what is at stake in them; 0: none"""
    iterations: int = 200
    """iterations of such a search, of which there are two"""
    seed: int = 30_000
    """of the deals"""
    out: Path | None = None
    """the folder of the results (default: runs/variants-GAME, or the first of -2, -3, … that is free or holds this very study)"""
    workers: int = 2
    """processes that play; 1 plays in this one"""
    quiet: bool = False
    """no progress"""


SECONDS_BETWEEN_LINES = 30.0


def run_and_show(name: str, config: VariantsConfig, console: Console, arguments: Sequence[str] = ()) -> None:
    """Run the study, write the report, and print what differs."""
    from training.arena_store import interrupts
    from training.run import progress_bar
    from training.variants_report import HTML, ordered, write_report
    from training.variants_run import Lab, continued, study_folder

    game = tabletop.game(name)
    cells = design(game, config.vary, config.players, config.one_at_a_time, config.also, config.rules)
    tables = (*config.agents, *([RETRAIN] if config.retrain else []))
    study = new_study(
        game, cells, tables, config.games, config.seed, retrain=config.minutes_per_variant if config.retrain else 0.0,
        retrain_decisions=config.decisions_per_variant if config.retrain else 0,
        searches=Searches(config.ladder_games, config.ladder_iterations, config.positions, config.iterations),
    )  # fmt: skip
    folder = config.out or study_folder(study)
    lab = Lab(continued(study, folder), folder, config.games, config.workers, config.until_sure, config.decide)
    begun = told = time.monotonic()
    with progress_bar(console, config.quiet) as bar:
        task = bar.add_task("playing", total=1.0, note="")

        def progress(share: float, text: str) -> None:
            nonlocal told
            bar.update(task, completed=share, note=text)
            if not (console.is_terminal or config.quiet) and time.monotonic() - told > SECONDS_BETWEEN_LINES:
                told = time.monotonic()  # a log has no bar
                console.print(f"{share:.0%} {text}", markup=False, soft_wrap=True)

        try:
            results, stopped = lab.run(progress), False
        except KeyboardInterrupt:
            with interrupts():
                results, stopped = lab.results(), True
    with interrupts():
        write_report(results, folder, shlex.join(["beyond-away", "variants", *arguments]) if arguments else "")
    for comparison in results.comparisons():
        console.print(f"{comparison.cell}, {comparison.table}, against {comparison.cell.baseline}:", markup=False, soft_wrap=True)
        lines = ordered(comparison)[: sum(d.sure for d in comparison.differences)]
        shown = lines[:MOST_LINES] + ([f"and {len(lines) - MOST_LINES} more, in the report"] if len(lines) > MOST_LINES else [])
        for line in shown or ["no difference shown"]:
            console.print(f"  {line}", markup=False, soft_wrap=True)
    games = sum(sheet.games for sheet in results.sheets())
    console.print(f"{games:,} games, {time.monotonic() - begun:.0f} s in this run", soft_wrap=True)
    console.print(f"report  {folder / HTML}", markup=False, soft_wrap=True)
    if stopped:
        raise KeyboardInterrupt  # the report is of what was finished; the same command goes on


MOST_LINES = 12  # on the terminal, of each comparison
