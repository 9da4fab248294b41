"""Run a tournament: blocks are played, here or in worker processes, and stored one by one, so that any end is one to go on from."""

from __future__ import annotations

import hashlib
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from agents import named
from agents.program import close_bots
from agents.value_network import file_of
from tabletop.compiled import package_hash
from tabletop.errors import CheckpointError, listed
from tabletop.registry import Game, games
from training.arena_block import BlockPlayer, Setup, parse_agents
from training.arena_results import Results
from training.arena_schedule import Block, block_named, seatings
from training.arena_store import Blocks, StoreError, claim, read_manifest
from training.workers import Workers, terminate_is_interrupt

FORMAT = 1
DEFAULT_GAMES, MOST_GAMES = 200, 20_000  # of each pairing: played; and at most, when playing until sure
DEFAULT_SIZE = 25  # deals of a block
LIBRARIES = ("beyond-away", "numpy", "numba", "duckdb", "choix", "torch")

Progress = Callable[[float, str], None]  # share of the whole that is done, and what there is to say


@dataclass(frozen=True)
class Goal:
    """When a tournament is over. games: of each pairing, rounded up to whole blocks; until_sure: only as many rounds as it takes to
    settle the order of all neighbours in the ranking, for the groups that can tell."""

    games: int
    until_sure: bool = False

    def __post_init__(self) -> None:
        if self.games < 1:
            raise ValueError(f"games must be at least 1, not {self.games}")


class Arena:
    """A tournament in a folder. Making it claims the folder for its settings, or finds it to hold those results already."""

    def __init__(self, setup: Setup, goal: Goal, folder: Path, workers: int = 1) -> None:
        if workers < 1:
            raise ValueError(f"workers must be at least 1, not {workers}")
        self.setup, self.goal, self.folder, self.workers = setup, goal, folder, workers
        self.names = tuple(name for name, _ in setup.agents)
        self._settings = settings(setup)
        self._more = {"goal": {"games": goal.games, "until_sure": goal.until_sure}, "made_with": made_with()}
        claim(folder, self._settings, self._more)
        self.store = Blocks(folder, alike=True)
        self.seconds: dict[int, list[float]] = {}  # how long blocks took, by group

    @property
    def rounds(self) -> int:
        """The most rounds that the goal allows."""
        games_of_a_deal = min(len(seatings(group)) for group in self.setup.groups)
        return -(-self.goal.games // (games_of_a_deal * self.setup.size))

    def results(self, rounds: int | None = None) -> Results:
        """What has been played, or of it the first rounds."""
        return results_of(self.store, self.setup, rounds)

    def stages(self) -> Iterator[list[Block]]:
        """The blocks of the tournament, stage by stage; each stage is to be played before the next is asked for.

        Until sure, a stage is the next rounds of the groups that hold a pair of neighbours whose order is open: one round, later a
        quarter of the rounds so far. It depends on the results before it alone, so a tournament that is resumed goes the same way.
        """
        every = range(len(self.setup.groups))
        if not self.goal.until_sure:
            yield [Block(r, group) for r in range(self.rounds) for group in every]
            return
        played = 0
        while played < self.rounds:
            pairs = self.results(played).open_pairs() if played else []
            if played and not pairs:
                return
            chosen = [g for g in every if not played or any(set(pair) <= set(self.setup.groups[g]) for pair in pairs)]
            more = min(max(1, played // 4), self.rounds - played)
            yield [Block(r, group) for r in range(played, played + more) for group in chosen]
            played += more

    def run(self, minutes: float | None = None, progress: Progress | None = None) -> bool:
        """Play what is missing. True if the goal is reached, False if the minutes are over. Ctrl-C (and SIGTERM) is raised as
        KeyboardInterrupt; whatever has been finished is stored."""
        deadline = None if minutes is None else time.monotonic() + 60 * minutes
        self.store.lock()
        try:
            claim(self.folder, self._settings, self._more, locked=True)  # another may have begun and ended here since
            with terminate_is_interrupt(), Workers(self.workers, _begin, self.setup, end=_end) as workers:
                for stage in self.stages():
                    todo = [block for block in stage if block.name not in self.store.done]
                    left = todo.copy()
                    if progress:
                        progress(1 - len(left) / len(stage), self._told(stage, left))
                    for at, (columns, seconds) in workers.run([(_play, b) for b in todo], [f"block {b.name}" for b in todo], deadline):
                        block = todo[at]
                        self.store.append(block.name, columns)
                        left.remove(block)
                        self.seconds.setdefault(block.group, []).append(seconds)
                        if progress:
                            progress(1 - len(left) / len(stage), self._told(stage, left))
                    if left:
                        return False
            return True
        finally:
            self.store.close()

    def _told(self, stage: list[Block], left: list[Block]) -> str:
        """How far a stage is, and how long the rest will take: as long as blocks of the same groups took."""
        text = f"{len(stage) - len(left)} of {len(stage)} blocks"
        if self.goal.until_sure:
            text += f" of rounds {stage[0].round + 1} to {stage[-1].round + 1}, {len({block.group for block in stage})} groups"
        if self.seconds and left:
            mean = {group: sum(took) / len(took) for group, took in self.seconds.items()}
            other = sum(mean.values()) / len(mean)
            text += f", {duration(sum(mean.get(block.group, other) for block in left) / self.workers)} left"
        return text


def results_of(store: Blocks, setup: Setup, rounds: int | None = None) -> Results:
    """What has been played of a tournament, or of its first rounds. Files that are none of its blocks do not count; StoreError names one
    whose games are another block's."""
    known = {name: block for name in store.done if (block := block_named(name, len(setup.groups)))}
    columns = store.read(name for name, block in known.items() if rounds is None or block.round < rounds)
    try:
        results = Results.of(columns, tuple(name for name, _ in setup.agents), setup.players)
        kept = set(zip(*(columns[name].tolist() for name in ("block", "round", "group")), strict=True)) if columns else set()
    except KeyError as error:
        raise StoreError(f"results in {store.folder} are none of this tournament: there is no {error}") from None
    if wrong := [f"{name}.parquet holds games of {Block(*other).name}" for name, *other in sorted(kept) if known[name] != Block(*other)]:
        raise StoreError(f"{store.folder}/{listed(wrong)}: remove it, and its own are played again")
    return results


_player: BlockPlayer | None = None


def _begin(setup: Setup) -> None:
    global _player
    _player = BlockPlayer(setup)


def _end() -> None:
    global _player
    if _player:
        _player.close()
    _player = None


def _play(block: Block) -> tuple[dict[str, Any], float]:
    assert _player is not None
    _player.prepare(block)
    begun = time.monotonic()
    return _player.play(block), time.monotonic() - begun


def duration(seconds: float) -> str:
    """A length of time to read: 42 s, 12 min, 3.2 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


# -- the manifest ------------------------------------------------------------------------------------------------------


def settings(setup: Setup) -> dict[str, Any]:
    """What results depend on, for the manifest. Agents are made once, which finds wrong names before anything is played."""
    game, variant = setup.parsed()
    agents = {}
    for name, told in setup.agents:
        made = named.agent(game, told, variant, setup.any_variant, by_table=True)
        agents[name] = {"agent": told, "digest": digest(told, made)}
        close_bots([made])
    return {
        "format": FORMAT,
        "game": setup.game,
        "variant": str(variant),
        "agents": agents,
        "seed": setup.seed,
        "deals_per_block": setup.size,
        "any_variant": setup.any_variant,
        "interface": game.format.hex(),
        "game_code": game_code(game),
    }


def game_code(game: Game) -> str:
    """Of the sources of a game's rules."""
    return hashlib.sha256(b"".join(package_hash(package) for package in game.packages)).hexdigest()[:16]


def digest(told: str, agent: Any) -> str:
    """Of what an agent is made of: the source of its class (of one of ours, all of them, and the weights that searches judge by), and
    what its name names: files, modules and policies."""
    from agents.policy import CARD_FILE, WEIGHTS_FILE, find_policy

    module = sys.modules.get(type(agent).__module__)
    ours = bool(module and module.__name__.startswith("agents."))
    found = hashlib.sha256(package_hash("agents") if ours else b"")
    file = getattr(module, "__file__", None)
    paths = [Path(file)] if file else []
    if ours:
        paths += sorted(path for path in map(file_of, games()) if path.exists())
    for part in named.parts_of(told):
        if file := getattr(sys.modules.get(part), "__file__", None):
            paths.append(Path(file))
        elif os.path.isfile(part):  # unlike Path's, at peace with texts that can be no path
            paths.append(Path(part))
        elif os.path.isdir(part):
            with suppress(CheckpointError):
                policy = find_policy(part)
                paths += [policy / WEIGHTS_FILE, policy / CARD_FILE]
    for path in dict.fromkeys(paths):
        if path.is_file():
            found.update(path.read_bytes())
    return found.hexdigest()[:16]


def made_with() -> dict[str, str]:
    return {"python": platform.python_version()} | {name: version(name) for name in LIBRARIES}


def setup_of(folder: Path) -> tuple[Setup, Goal]:
    """What a folder's manifest says that is played in it."""
    told = read_manifest(folder)
    try:
        kept, goal = told["settings"], told["goal"]
        if kept["format"] != FORMAT:
            raise StoreError(f"{folder} holds results of format {kept['format']}; this version reads {FORMAT}")
        agents = tuple((name, agent["agent"]) for name, agent in kept["agents"].items())
        setup = Setup(kept["game"], kept["variant"], agents, int(kept["seed"]), int(kept["deals_per_block"]), bool(kept["any_variant"]))
        return setup, Goal(int(goal["games"]), bool(goal["until_sure"]))
    except (KeyError, TypeError, AttributeError) as error:
        raise StoreError(f"{folder} holds no tournament to read: {type(error).__name__} {error}") from None


def new_setup(
    game: str, agents: tuple[str, ...], players: int, rules: str, seed: int, size: int | None, goal: Goal, any_variant: bool
) -> Setup:
    """A tournament's settings from the command line's; ValueError or RulesError says what is wrong."""
    import tabletop

    found = tabletop.game(game)
    variant = found.variant(rules, players)
    if size is not None and size < 1:
        raise ValueError(f"deals per block must be at least 1, not {size}")
    if not 0 <= seed < 1 << 64:
        raise ValueError(f"seed must be a whole number from 0 to 2**64 - 1, not {seed}")
    deals = -(-goal.games // variant.players)
    chosen = size or max(1, min(DEFAULT_SIZE, deals))
    parsed = parse_agents(agents)
    if len(parsed) > 64:
        raise ValueError(f"a tournament takes at most 64 agents, not {listed(name for name, _ in parsed)}")
    return Setup(game, str(variant), parsed, seed, chosen, any_variant)
