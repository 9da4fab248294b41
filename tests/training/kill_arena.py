"""Kill a tournament at random moments, go on with it each time, and compare what is left with a tournament that was let be.

    python -m tests.training.kill_arena --kills 20 --workers 2
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from training.arena import Arena, Goal, setup_of
from training.arena_schedule import groups
from training.arena_store import Blocks

AGENTS = ("random", "heuristic", "again=random")
SECONDS_TO_WAIT = 120.0


def command(game: str, folder: Path, games: int, workers: int, players: int = 2) -> list[str]:
    words = ["arena", game, *AGENTS, "--games", str(games), "--deals-per-block", "1", "--out", str(folder), "--quiet"]
    words += ["--workers", str(workers), "--players", str(players), "--seed", "3"]
    return [sys.executable, "-c", "import sys; from training.cli import main; sys.exit(main())", *words]


def uninterrupted(game: str, folder: Path, like: Path) -> None:
    """Play in this process what was begun in the folder `like`."""
    setup, goal = setup_of(like)
    assert Arena(setup, Goal(goal.games), folder).run()


def difference(a: Path, b: Path) -> list[str]:
    """Names of the result columns in which two runs differ, but for the times."""
    first, second = Blocks(a).read(), Blocks(b).read()
    if list(first) != list(second) or len(first["deal"]) != len(second["deal"]):
        return [f"{len(first['deal'])} and {len(second['deal'])} games"]
    names = [name for name in first if not name.startswith("milliseconds")]
    return [name for name in names if values(first[name]) != values(second[name])]


def values(column: np.ndarray) -> object:
    return column.tolist() if column.dtype == object else (column.dtype, column.tobytes())


def kill_and_resume(game: str, folder: Path, kills: int, games: int, workers: int, rng: random.Random, players: int = 2) -> list[int]:
    """Begin a tournament, kill it and begin it again, so many times; let it end. How many blocks were there at each kill."""
    seen: list[int] = []
    most = max(1, all_blocks(games, players) * 2 // 3 // (kills + 1))  # between two kills; a third is left for what a kill is late
    words = command(game, folder, games, workers, players)
    for k in range(kills):
        enough = blocks(folder) + rng.randint(1, most)
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        begun = time.monotonic()
        early = k % 7 == 5  # some while it is starting
        while not early and blocks(folder) < enough and process.poll() is None and time.monotonic() - begun < SECONDS_TO_WAIT:
            time.sleep(0.001)
        time.sleep(rng.uniform(0, 1.0) if early else rng.uniform(0, 0.03))
        process.kill()
        _, error = process.communicate()
        assert process.returncode == -9, f"it ended before the kill: {process.returncode} {error.decode()}"
        seen.append(blocks(folder))
    ended = subprocess.run(words, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return seen


def all_blocks(games: int, players: int) -> int:
    """Blocks of a deal each that such a tournament has."""
    return -(-games // players) * len(groups(len(AGENTS), players))


def blocks(folder: Path) -> int:
    return len(list(folder.glob("results/*.parquet")))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", default="beyond")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--games", type=int, default=400)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--players", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        seen = kill_and_resume(
            asked.game, folder / "killed", asked.kills, asked.games, asked.workers, random.Random(asked.seed), asked.players
        )
        uninterrupted(asked.game, folder / "whole", folder / "killed")
        found = difference(folder / "killed", folder / "whole")
        print(f"killed {asked.kills} times, with {seen} blocks done; at the end {blocks(folder / 'killed')} blocks, "
              f"{len(Blocks(folder / 'killed').read()['deal'])} games; columns that differ: {', '.join(found) or 'none'}")  # fmt: skip
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
