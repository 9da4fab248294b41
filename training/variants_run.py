"""Run a study: blocks are played, here or in worker processes, and stored one by one, so that a study that was killed goes on."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from training.arena import digest, game_code, made_with
from training.arena_store import MANIFEST, Blocks, StoreError, claim, interrupts, read_manifest
from training.files import make_folder, write_json
from training.variants import RETRAIN, TOGETHER, Study, games_of_tables, make_agent
from training.variants_block import GAMES, LADDER, POSITIONS, Block, play_block, size_of
from training.variants_results import Results, as_columns
from training.workers import Workers, terminate_is_interrupt

Progress = Callable[[float, str], None]  # share of the whole that is done, and what there is to say
POLICIES = "policies"


class Lab:
    """A study in a folder. Making it claims the folder for its settings, or finds it to hold those results already.

    games: at each table, for every cell, rounded up to whole blocks; until_sure: only as many as it takes to settle all differences
    from the baselines (or those of the metrics `decide`), and `games` at most. workers: processes.
    """

    def __init__(
        self, study: Study, folder: Path, games: Sequence[int], workers: int = 1, until_sure: bool = False, decide: Sequence[str] = ()
    ) -> None:
        if workers < 1:
            raise ValueError(f"workers must be at least 1, not {workers}")
        self.study, self.folder, self.workers = study, folder, workers
        self.games = games_of_tables(games, study.tables)
        self.until_sure, self.decide = until_sure, tuple(decide)
        known = {m.name for cell in study.cells for table in study.tables for m in Results(study, {}).of_games(cell, table) if m.compared}
        if wrong := [name for name in decide if name not in known]:
            raise ValueError(f"variants are not compared by {wrong[0]!r} in every game; there are {', '.join(sorted(known))}")
        goal = {"games": self.games, "until_sure": until_sure, "decide": list(decide)}
        self._settings, self._more = settings(study), {"goal": goal, "made_with": made_with()}
        claim(folder, self._settings, self._more)
        self.store = Blocks(folder)

    # -- what there is to play -----------------------------------------------------------------------------------------

    def numbers(self, cell: int, table: int) -> int:
        """Blocks of a cell at a table, when all games are played."""
        deals = -(-self.games[table] // self.study.games_of_a_deal(self.study.tables[table], self.study.cells[cell]))
        return -(-deals // self.study.sizes[table])

    def searched(self) -> list[Block]:
        """The blocks of the skill ladder and of the positions searched."""
        found, searches = [], self.study.searches
        for cell_at, cell in enumerate(self.study.cells):
            for what, games, per_deal in ((LADDER, searches.ladder_games, cell.players), (POSITIONS, searches.positions, 1)):
                deals = -(-games // per_deal)
                size = size_of(self.study, Block(cell_at, 0, 0, what))
                found += [Block(cell_at, 0, number, what) for number in range(-(-deals // size))]
        return found

    def stages(self) -> Iterator[list[Block]]:
        """Stage by stage; each is to be played before the next is asked for. Until sure, a stage depends on the results of those before
        it alone, so that a study that is resumed goes the same way."""
        cells, tables = range(len(self.study.cells)), range(len(self.study.tables))
        every = [(cell, table) for table in tables for cell in cells]
        if not self.until_sure:
            most = max(self.numbers(cell, table) for cell, table in every)
            yield [Block(cell, table, k) for k in range(most) for cell, table in every if k < self.numbers(cell, table)]
        else:
            played = 0
            wanted = every
            while stage := [Block(c, t, played) for c, t in wanted if played < self.numbers(c, t)]:
                yield stage
                played += 1
                still_open = self.results(played).open_pairs(self.decide)
                wanted = sorted({(c, t) for cell, t, baseline in still_open for c in (cell, baseline)}, key=every.index)
        yield self.searched()

    # -- playing -------------------------------------------------------------------------------------------------------

    def run(self, progress: Progress | None = None) -> Results:
        """Play what is missing. Ctrl-C and SIGTERM are raised as KeyboardInterrupt; whatever has been finished is stored."""
        self.store.lock()
        try:
            claim(self.folder, self._settings, self._more, locked=True)  # another may have begun and ended here since
            with terminate_is_interrupt(), interrupts(), Workers(self.workers) as workers:
                if RETRAIN in self.study.tables:
                    self._train(workers, progress)
                for stage in self.stages():
                    self._play(stage, workers, progress)
        finally:
            self.store.close()
        return self.results()

    def _play(self, stage: list[Block], workers: Workers, progress: Progress | None) -> None:
        todo = [block for block in stage if block.name not in self.store.done]
        calls = [(play_block, self.study, block, str(self.folder / POLICIES)) for block in todo]
        names = [f"block {block.name}" for block in todo]
        for done, (at, columns) in enumerate(workers.run(calls, names), len(stage) - len(todo) + 1):
            self.store.append(todo[at].name, columns)
            if progress:
                cell, table = self.study.cells[todo[at].cell], self.study.tables[todo[at].table]
                progress(done / len(stage), f"{done} of {len(stage)} blocks; last: {cell}, {table}")

    def _train(self, workers: Workers, progress: Progress | None) -> None:
        """A policy for each variant."""
        todo = [cell for cell in self.study.cells if not (self.folder / POLICIES / f"{self.study.key(cell)}.json").exists()]
        make_folder(self.folder / POLICIES)
        calls = [(train_policy, self.study, self.study.cells.index(cell), str(self.folder / POLICIES)) for cell in todo]
        for done, (at, _) in enumerate(workers.run(calls, [f"the training for {cell}" for cell in todo]), 1):
            if progress:
                progress(done / len(todo), f"trained for {todo[at]}")

    def results(self, blocks: int | None = None) -> Results:
        """What has been played, or of it the first blocks of each cell and table, and what was searched."""
        found: dict[tuple[int, int], dict[str, list[str]]] = {}
        for name in sorted(self.store.done):
            block = Block.named(name)
            if block is None or block.cell >= len(self.study.cells) or block.table >= len(self.study.tables):
                continue  # a file that this study did not write
            if blocks is None or (block.what == GAMES and block.number < blocks):
                found.setdefault((block.cell, block.table), {}).setdefault(block.what, []).append(name)
        columns: dict[tuple[int, int], Any] = {}
        for key, by_what in found.items():
            columns[key] = {}
            for names in by_what.values():
                read = self.store.read(names)
                self._check_deals(read)
                columns[key] |= as_columns(read)
        return Results(self.study, columns, looked=self.until_sure)

    def _check_deals(self, read: dict[str, np.ndarray]) -> None:
        """StoreError names a block that holds another one's deals."""
        for name in np.unique(read["block"]):
            block = Block.named(name)
            assert block is not None
            if (read["deal"][read["block"] == name] // size_of(self.study, block) != block.number).any():
                raise StoreError(f"{self.store.path(name)} holds another block's deals: remove it, and its own are played again")


def settings(study: Study) -> dict[str, Any]:
    """What results depend on, for the manifest: what is asked for, the game's code, and what the agents are made of."""
    cell, game = study.cells[0], study.game
    agents = {name for table in study.tables if table != RETRAIN for name in table.split(TOGETHER)}
    return {
        **study.json(),
        "agents": {name: digest(name, make_agent(game, name, cell)) for name in sorted(agents)},
        "game_code": game_code(game),
    }


def continued(study: Study, folder: Path) -> Study:
    """The study in blocks of the sizes that the folder holds results of: those of a study of fewer games may be smaller."""
    if not (folder / MANIFEST).exists():
        return study
    kept = read_manifest(folder)["settings"].get("deals_per_block")
    fits = isinstance(kept, list) and len(kept) == len(study.sizes) and all(isinstance(size, int) and size > 0 for size in kept)
    return dataclasses.replace(study, sizes=tuple(kept)) if fits else study


def study_folder(study: Study) -> Path:
    """The folder of a study that names none: runs/variants-GAME, or the first of -2, -3, … that is free or holds this very study."""
    wanted, number = settings(study), 1
    while True:
        path = Path("runs") / f"variants-{study.game.name}{f'-{number}' if number > 1 else ''}"
        if not (path / MANIFEST).exists():
            return path
        asked = wanted | {"deals_per_block": list(continued(study, path).sizes)}
        if read_manifest(path)["settings"] == json.loads(json.dumps(asked)):
            return path
        number += 1


def train_policy(study: Study, at: int, folder: str) -> None:
    """Train a policy for one cell, in a folder of its own; one that was begun is gone on with."""
    from training.config import TrainConfig
    from training.ppo import Interrupted, Trainer

    cell, key = study.cells[at], study.key(study.cells[at])
    rules = study.game.variant(cell.variant).rules
    length: dict[str, Any] = {"decisions": study.retrain_decisions} if study.retrain_decisions else {"minutes": study.retrain}
    out = Path(folder) / key
    config = TrainConfig(
        players=(cell.players,), rules=(str(rules),), out=out, resume=(out / "latest.json").exists(), seed=study.seed % 2**32,
        evaluate_games=100, final_games=400, evaluate_every=0.25, threads=1, quiet=True, **length,
    )  # fmt: skip
    try:
        results = Trainer(study.game, config).run()
    except Interrupted:
        raise KeyboardInterrupt from None
    told = [{"opponent": r.opponent, "share": r.share.mean, "low": r.share.low, "high": r.share.high} for r in results]
    write_json(Path(folder) / f"{key}.json", {"variant": cell.variant, **length, "results": told})
