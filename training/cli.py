"""The command `beyond-away`."""

from __future__ import annotations

import os
import sys
import types
from pathlib import Path
from typing import Annotated, Any

import tabletop
from agents.named import USAGE
from tabletop.errors import TabletopError
from tabletop.registry import Game
from training.config import TrainConfig
from training.exploit import ExploitConfig

try:
    import tyro
    from rich.console import Console

    from training.variants_config import VariantsConfig
except ImportError as error:  # pragma: no cover
    sys.exit(f"beyond-away: the command line needs {error.name}: pip install 'beyond-away[train]'")

GameName = Annotated[str, tyro.conf.Positional]
AgentName = Annotated[str, tyro.conf.Positional, tyro.conf.arg(help=f"an agent's name: {USAGE}")]
AgentNames = Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(help=f"one name for each seat, 2 to 4: {USAGE}")]
console = Console(highlight=False)


def train(game: GameName, config: Annotated[TrainConfig, tyro.conf.arg(name="")]) -> None:
    """Train a self-play agent, show how strong it is, and leave a checkpoint, a learning curve and a game to read.

    Ctrl-C ends the run early and leaves a checkpoint; --resume goes on from it.
    """
    from training.run import train_and_show

    train_and_show(tabletop.game(game), config, console)


def evaluate(
    game: GameName,
    agent: AgentName,
    against: tuple[str, ...] = (),
    players: int = 2,
    rules: str = "",
    games: int = 2000,
    seed: int = 10_000,
    any_variant: bool = False,
) -> None:
    """Play an agent against others on common deals, seats rotated, with 95 % intervals.

    Args:
        game: the game's name
        against: its opponents, each taken by itself; all baselines if none is named
        players: number of players; the opponent takes all other seats
        rules: options of the rules, "option=value,…"
        games: games against each opponent
        seed: of the deals
        any_variant: allow a policy that was trained for other variants
    """
    from agents import named
    from agents.program import close_bots
    from training.evaluate import evaluate as measure
    from training.run import progress_bar, results_table

    found = tabletop.game(game)
    variant = found.variant(rules, players)
    subject = named.agent(found, agent, variant, any_variant)
    rivals = [named.agent(found, name, variant, any_variant) for name in against] or None
    try:
        with progress_bar(console) as bar:
            task = bar.add_task("playing", total=1.0, note="")
            results = measure(found, subject, [variant], games, seed, rivals, lambda done, of: bar.update(task, completed=done / of))
    finally:
        close_bots([subject, *(rivals or [])])
    console.print(results_table(results, agent))


def watch(
    game: GameName,
    agents: AgentNames,
    rules: str = "",
    seed: int = 0,
    deal: int = 0,
    any_variant: bool = False,
) -> None:
    """Print one game between agents, decision by decision.

    Args:
        game: the game's name
        rules: options of the rules, "option=value,…"
        seed: of the game
        deal: which game of that seed
        any_variant: allow a policy that was trained for other variants
    """
    from agents import named
    from agents.program import close_bots
    from training.transcript import transcript

    found = tabletop.game(game)
    variant = found.variant(rules, len(agents))
    players = [named.agent(found, name, variant, any_variant) for name in agents]
    try:
        print(transcript(found, variant, players, seed, deal), end="")
    finally:
        close_bots(players)


def rules(game: GameName) -> None:
    """Print a game's options, actions and observation as tables."""
    from training.describe import describe

    print(describe(tabletop.game(game)))


def bench(
    games: Annotated[tuple[str, ...], tyro.conf.Positional] = (), seconds: float = 1.0, repeats: int = 5, threads: int = 2
) -> None:
    """Measure the speed of random play on this machine, side by side with other suites if they are installed.

    Args:
        games: games to measure; all if none is named
        seconds: length of one measurement
        repeats: measurements of each row
        threads: also measure a batch on that many threads (1: not)
    """
    from training.bench import bench as measure

    for name in games:
        tabletop.game(name)
    print(measure(list(games), seconds, repeats, threads, lambda text: print(text, file=sys.stderr)))


def games() -> None:
    """List the games."""
    for name in tabletop.games():
        found: Game = tabletop.game(name)
        print(f"{name}: {found.title or name}, {found.num_actions} actions, observation of {found.layout.size} entries")


def exploit(
    agent: Annotated[str, tyro.conf.Positional] = "", config: Annotated[ExploitConfig, tyro.conf.arg(name="")] = ExploitConfig()  # noqa: B008
) -> None:
    """Train a best response to an agent, which stays as it is, and report what it wins: a lower bound on how exploitable the agent is.

    Ctrl-C ends the search early and leaves a checkpoint; --resume goes on from it.

    Args:
        agent: the folder of a policy, or an agent's name with --game (docs/bots.md)
    """
    from training.exploit import exploit_and_show

    exploit_and_show(agent, config, console)


def arena(
    game: GameName = "",
    agents: Annotated[tuple[str, ...], tyro.conf.Positional] = (),
    players: int = 2,
    rules: str = "",
    games: int | None = None,
    until_sure: bool = False,
    minutes: float | None = None,
    seed: int = 20_000,
    out: Path | None = None,
    resume: bool = False,
    workers: int = 1,
    deals_per_block: int | None = None,
    anchor: str | None = None,
    report: Path | None = None,
    any_variant: bool = False,
    quiet: bool = False,
) -> None:
    """Play a tournament between agents and rank them; killed at any moment, it goes on where it was.

    Every pairing plays the same deals, each in every seat. Results are stored as they come; the same command again, or --resume
    --out FOLDER, plays what is missing. Ctrl-C stops in good order.

    Args:
        game: the game's name
        agents: two or more, each AGENT or NAME=AGENT; docs/bots.md lists the ways to name an agent
        players: seats of a table, 2 to 4
        rules: options of the rules, "option=value,…"
        games: games of each pairing, rounded up to whole blocks; 200 if not given. With --until-sure the most: 20,000
        until_sure: play until the order of neighbours in the ranking is settled at 95 %, for the pairings that can tell
        minutes: begin no more games after so many minutes
        seed: of the deals
        out: the folder of the results; runs/arena-<game>-<players>p-<seed> if not given
        resume: go on in the folder --out with the settings found there (--games, --until-sure and --workers may be given anew)
        workers: processes that play; 1 plays in this one
        deals_per_block: deals that are played and stored together, 25 or fewer
        anchor: the agent whose rating is 0; the heuristic, or else the first
        report: show the report of this folder, as far as it has been played, and play nothing
        any_variant: allow policies that were trained for other variants
        quiet: no progress
    """
    from training.arena_run import Asked, run_and_show

    asked = Asked(game, agents, players, rules, games, until_sure, minutes, seed, out, resume, workers, deals_per_block, anchor, report,
                  any_variant, quiet)  # fmt: skip
    run_and_show(asked, console)


def variants(game: GameName, config: Annotated[VariantsConfig, tyro.conf.arg(name="")]) -> None:
    """Compare variants of a game: the same agents play each of them on common deals; a balance sheet of each, and how they differ.

    Results are stored as they come: the same command again goes on where it was stopped. In the folder: report.html, report.md,
    sheet.parquet, differences.parquet, and every game in results/. `beyond-away variants GAME --help` lists the game's options.
    """
    from training.variants_config import run_and_show

    run_and_show(game, config, console, sys.argv[2:] if sys.argv[1:2] == ["variants"] else ())


COMMANDS: dict[str, Any] = {
    "train": train,
    "evaluate": evaluate,
    "arena": arena,
    "variants": variants,
    "exploit": exploit,
    "watch": watch,
    "rules": rules,
    "bench": bench,
    "games": games,
}


def with_options(command: Any, arguments: list[str]) -> Any:
    """The command with a help that lists the options of the game named, as the game declares them."""
    named_games = [word for word in arguments[1:2] if arguments[0] == "variants" and word in tabletop.games()]
    if not named_games:
        return command
    from training.variants import options_help

    told = types.FunctionType(command.__code__, command.__globals__, command.__name__, command.__defaults__)
    told.__annotations__ = command.__annotations__
    told.__doc__ = f"{command.__doc__}\n{options_help(tabletop.game(named_games[0]))}"
    return told


def main(arguments: list[str] | None = None) -> int:
    """Run a command; errors of the user's are one line on the terminal and exit status 2."""
    given = sys.argv[1:] if arguments is None else arguments
    try:
        tyro.extras.subcommand_cli_from_dict(
            {**COMMANDS, "variants": with_options(variants, given)},
            prog="beyond-away",
            description="Board games for reinforcement learning: train, measure, watch.",
            args=arguments,
            config=(tyro.conf.OmitArgPrefixes,),
        )
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read has gone, as in `… | head`: nothing more to say, at exit neither
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (TabletopError, ValueError, OSError) as error:
        print(f"beyond-away: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("beyond-away: interrupted", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
