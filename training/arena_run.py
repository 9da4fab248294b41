"""`beyond-away arena` as the user sees it: what was asked for, a progress bar, the report, how to go on."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rich.console import Console

from training.arena import DEFAULT_GAMES, MOST_GAMES, Arena, Goal, new_setup, setup_of
from training.arena_block import Setup
from training.arena_report import load, show, summary, write
from training.arena_store import MANIFEST, StoreError
from training.run import SECONDS_BETWEEN_LINES, progress_bar


@dataclass(frozen=True)
class Asked:
    """The options of the command; `training.cli.arena` says what they mean."""

    game: str = ""
    agents: tuple[str, ...] = ()
    players: int = 2
    rules: str = ""
    games: int | None = None
    until_sure: bool = False
    minutes: float | None = None
    seed: int = 20_000
    out: Path | None = None
    resume: bool = False
    workers: int = 1
    deals_per_block: int | None = None
    anchor: str | None = None
    report: Path | None = None
    any_variant: bool = False
    quiet: bool = False


def run_and_show(asked: Asked, console: Console) -> None:
    """Play what was asked for and show the report; the report alone if that was asked for."""
    say = partial(console.print, markup=False, soft_wrap=True)
    if asked.minutes is not None and not asked.minutes > 0:
        raise ValueError(f"minutes must be above 0, not {asked.minutes:g}")
    if asked.report is not None:
        if asked.agents or asked.resume or asked.out:
            raise ValueError("--report FOLDER shows what has been played there; it takes no agents, no --resume and no --out")
        show_and_write(asked.report, asked.anchor, console)
        return
    setup, goal, folder = what_to_play(asked)
    if asked.anchor is not None and asked.anchor not in dict(setup.agents):
        raise ValueError(f"the anchor must be one of {', '.join(dict(setup.agents))}, not {asked.anchor}")
    arena = Arena(setup, goal, folder, asked.workers)
    if arena.store.damaged:
        say(f"damaged, to be played again: {', '.join(arena.store.damaged)}")
    if arena.store.done:
        say(f"going on from {len(arena.store.done)} blocks in {folder}")
    finished, interrupted = False, False
    with progress_bar(console, asked.quiet) as bar:
        task = bar.add_task("playing", total=1.0, note="")
        told = time.monotonic()

        def progress(share: float, text: str) -> None:
            nonlocal told
            bar.update(task, completed=share, note=text)
            if not (console.is_terminal or asked.quiet) and time.monotonic() - told > SECONDS_BETWEEN_LINES:
                told = time.monotonic()  # a log has no bar
                say(f"{share:.0%} {text}")

        try:
            finished = arena.run(asked.minutes, progress)
        except KeyboardInterrupt:
            interrupted = True
    if arena.store.done:
        show_and_write(folder, asked.anchor, console)
    if not finished:
        say("stopped early" if interrupted else "the minutes are over", "and nothing that was finished is lost; to go on:")
        say(f"  beyond-away arena --resume --out {shlex.quote(str(folder))}" + (f" --workers {asked.workers}" * (asked.workers > 1)))


def what_to_play(asked: Asked) -> tuple[Setup, Goal, Path]:
    """The tournament that the options describe, or that their folder holds."""
    if asked.resume and asked.out is not None and not asked.agents:
        setup, goal = setup_of(asked.out)
        if asked.game and asked.game != setup.game:
            raise StoreError(f"{asked.out} holds results of {setup.game}, not of {asked.game}")
        game, variant = setup.parsed()
        if asked.rules and game.variant(asked.rules, variant.players) != variant:
            raise StoreError(f"{asked.out} holds results of {variant}, not with rules {asked.rules}; --resume goes on with its own")
        for name, was in {"players": variant.players, "seed": setup.seed, "deals_per_block": setup.size}.items():
            if getattr(asked, name) not in (getattr(Asked, name), was):
                raise StoreError(f"{asked.out} holds results with {name} {was}, not {getattr(asked, name)}; --resume goes on with its own")
        return setup, goal_of(asked, goal), asked.out
    if not asked.game or not asked.agents:
        raise ValueError("name a game and two or more agents, or --resume --out FOLDER, or --report FOLDER")
    goal = goal_of(asked)
    folder = asked.out or Path("runs") / f"arena-{asked.game}-{asked.players}p-{asked.seed}"
    if asked.resume and not (folder / MANIFEST).exists():
        raise StoreError(f"{folder} holds no results to go on from")
    size = asked.deals_per_block
    if (folder / MANIFEST).exists():
        stored, kept = setup_of(folder)
        size = stored.size if size is None else size  # its default depends on the games, which may change
        goal = goal_of(asked, kept) if asked.resume else goal
    setup = new_setup(asked.game, asked.agents, asked.players, asked.rules, asked.seed, size, goal, asked.any_variant)
    return setup, goal, folder


def goal_of(asked: Asked, resumed: Goal | None = None) -> Goal:
    """What is asked for. resumed: what was before, which stands where nothing is asked, and with other games goes on
    until it is sure if it was to."""
    if resumed and asked.games is None and not asked.until_sure:
        return resumed
    until_sure = asked.until_sure or bool(resumed and resumed.until_sure)
    most = MOST_GAMES if until_sure else DEFAULT_GAMES
    return Goal(most if asked.games is None else asked.games, until_sure)


def show_and_write(folder: Path, anchor: str | None, console: Console) -> None:
    """The report on the terminal and as files in the folder."""
    told = summary(*load(folder), anchor)
    show(told, console)
    say: Callable[[str], None] = partial(console.print, markup=False, soft_wrap=True)
    for path in write(folder, told):
        say(f"{path.suffix[1:]:8s}{path}")
