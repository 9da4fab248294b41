"""A training run as the user sees it: progress bar, evaluation table, learning curve, a game to read, what to try next."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from agents.named import baselines, quoted
from tabletop.errors import CheckpointError
from tabletop.reading import read_json
from tabletop.registry import Game
from training.config import TrainConfig, run_folder
from training.evaluate import Result
from training.files import write_text

if TYPE_CHECKING:
    from training.ppo import Trainer


def train_and_show(game: Game, config: TrainConfig, console: Console) -> None:
    """`beyond-away train`."""
    if console.is_terminal:
        console.print("loading …", end="\r")
    from training.curve import draw
    from training.ppo import Interrupted, Trainer
    from training.transcript import transcript

    if config.resume:
        config = settings_of_run(game, config)
    with progress_bar(console, config.quiet) as bar:
        trainer = Trainer(game, config, reporter(console, bar, config.quiet))
        results: list[Result] = []
        interrupted = False
        try:
            results = trainer.run()
        except Interrupted:
            interrupted = True
    folder = trainer.folder
    if trainer.metrics:
        draw(trainer.metrics, folder / "curve.png", f"{game.title or game.name}: {', '.join(map(str, trainer.variants))}")
    variant = trainer.variants[0]
    rivals = [baselines(game, variant)[-1]] * (variant.players - 1)
    write_text(folder / "game.txt", transcript(game, variant, [trainer.agent(), *rivals], seed=config.seed))
    say = partial(console.print, markup=False, soft_wrap=True)  # paths are copied from the terminal: never cut or read as markup
    if interrupted:
        say(f"stopped early after {trainer.decisions:,} decisions; nothing is lost")
    else:
        console.print(results_table(results, "the learned policy"))
    say(f"checkpoint      {folder / read_json(folder / 'latest.json')['checkpoint']}")
    if trainer.metrics:
        say(f"learning curve  {folder / 'curve.png'}")
    say(f"a game to read  {folder / 'game.txt'}")
    if (folder / "tensorboard").exists():
        say(f"TensorBoard     tensorboard --logdir {shlex.quote(str(folder / 'tensorboard'))}")
    say("what to try next")
    for words in what_next(trainer, interrupted, rivals[0].name):
        say(f"  {shlex.join(words)}")


def what_next(trainer: Trainer, interrupted: bool, rival: str) -> list[list[str]]:
    """Commands that go on from a run, as words: for the first of its variants, where it has several."""
    game, policy, variant, c = trainer.game.name, f"policy:{quoted(str(trainer.folder))}", trainer.variants[0], trainer.config
    rules = ["--rules", str(variant.rules)] if str(variant.rules) else []
    players = ["--players", str(variant.players)] if variant.players != 2 else []
    told = [
        ["watch", game, policy, *[rival] * (variant.players - 1), *rules, "--seed", "1"],
        ["evaluate", game, policy, *players, *rules, "--games", "10000"],
    ]
    if interrupted:
        told.insert(0, ["train", game, "--resume", "--out", str(trainer.folder)])
    elif c.preset != "standard":
        players = ["--players", *map(str, c.players)] if c.players != TrainConfig.players else []
        told.append(["train", game, *players, *(["--rules", *c.rules] if c.rules != TrainConfig.rules else []), "--preset", "standard"])
    return [["beyond-away", *words] for words in told]


SECONDS_BETWEEN_LINES = 30.0

#: What a resume may ask for; of all else it keeps what the run began with.
MAY_CHANGE = ("out", "resume", "minutes", "decisions", "quiet", "threads")


def settings_of_run(game: Game, config: TrainConfig) -> TrainConfig:
    """The settings of the run in the folder, of which a resume may change only its length, its threads and its quietness."""
    folder = config.out or run_folder(game, config)
    try:
        told = read_json(folder / "run.json")
        if not isinstance(told, dict) or not isinstance(told.get("settings"), dict) or "game" not in told:
            raise ValueError("run.json must have game and settings")
        settings: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in told["settings"].items()}
        stored = TrainConfig(**settings | {"out": folder, "resume": True})
        stored.with_preset()  # checks the numbers
        name = told["game"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CheckpointError(f"{folder} holds no run to go on with: {str(error).splitlines()[0]}") from None
    if name != game.name:
        raise CheckpointError(f"{folder} is a run of {name}, not of {game.name}")
    for f in fields(config):
        asked, kept = getattr(config, f.name), getattr(stored, f.name)
        if f.name not in MAY_CHANGE and asked not in (f.default, kept):
            raise CheckpointError(f"{folder} is a run with {f.name} {kept}; going on with it by {f.name} {asked} is not possible")
    if config.minutes is not None or config.decisions is not None:
        stored = replace(stored, minutes=config.minutes, decisions=config.decisions)
    return replace(stored, quiet=config.quiet, threads=config.threads or stored.threads)


def reporter(console: Console, bar: Progress, quiet: bool) -> Callable[[str, float, str], None]:
    """Shows how far a run is, in the bar; where there is no terminal, in a line now and then."""
    task = bar.add_task("starting", total=1.0, note="")
    told = time.monotonic()

    def report(phase: str, share: float, text: str) -> None:
        nonlocal told
        bar.update(task, description=phase, completed=min(share, 1.0), note=text)
        if not (console.is_terminal or quiet) and time.monotonic() - told > SECONDS_BETWEEN_LINES:
            told = time.monotonic()  # a log has no bar
            console.print(f"{min(share, 1.0):.0%} {phase}, {text}", markup=False, soft_wrap=True)

    return report


def progress_bar(console: Console, quiet: bool = False) -> Progress:
    return Progress(
        TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"), TimeElapsedColumn(),
        TextColumn("{task.fields[note]}") if not quiet else TextColumn(""), console=console, disable=quiet,
    )  # fmt: skip


def results_table(results: Sequence[Result], subject: str) -> Table:
    """Shares of the victory with their intervals."""
    variants = sorted({r.variant for r in results})
    several = len(variants) > 1
    title = f"{subject}: share of victories, common deals, seats rotated"
    table = Table(title=escape(title if several else f"{title}\n{variants[0]}"))
    for column in (*(("variant",) if several else ()), "opponent", "share", "95 % interval", "games", "decisions a game", "cut off"):
        table.add_column(column, justify="left" if column in ("variant", "opponent") else "right", overflow="fold")
    for r in results:
        s = r.share
        percent = f"{100 * s.mean:.1f} %", f"{100 * s.low:.1f} to {100 * s.high:.1f} %"
        told = (escape(r.opponent), *percent, f"{s.games:,}", f"{r.decisions:.0f}", f"{100 * r.cut_off:.1f} %")
        table.add_row(*((r.variant,) if several else ()), *told)
    return table
