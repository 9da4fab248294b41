"""Tournaments: blocks that depend on nothing but the settings, agents that fail, going on after any end, playing until sure."""

from __future__ import annotations

import multiprocessing
import os
import random
import shutil
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tabletop
from agents.named import agent, quoted
from tests.training.kill_arena import AGENTS, difference, kill_and_resume, uninterrupted, values
from training import arena as arena_module
from training import workers as workers_module
from training.arena import MOST_GAMES, Arena, Goal, digest, new_setup, setup_of
from training.arena_block import BlockPlayer, Setup, parse_agents
from training.arena_report import load
from training.arena_run import Asked, what_to_play
from training.arena_schedule import Block
from training.arena_store import Blocks, StoreError
from training.play import play
from training.workers import WorkerDied

BOTS = '''
import os
import numpy as np

class Bot:
    name = "bot"

    def act(self, observation, action_mask, rng):
        actions = action_mask.argmax(axis=1).astype(np.int64)
        turn = (observation.astype(np.int64).sum(axis=1) % 40) == 0   # in some games, at the same moments in batches and alone
        return self.failing(actions, action_mask, turn)

    def failing(self, actions, mask, turn):
        return actions

class Raises(Bot):
    def failing(self, actions, mask, turn):
        if turn.any():
            raise RuntimeError("I do not\\nknow")
        return actions

class Quits(Bot):
    def failing(self, actions, mask, turn):
        if turn.any():
            raise SystemExit
        return actions

class Cheats(Bot):
    def failing(self, actions, mask, turn):
        return np.where(turn, mask.argmin(axis=1), actions)

class Babbles(Bot):
    def failing(self, actions, mask, turn):
        return [None] if turn.any() else actions

class Stammers(Bot):
    def failing(self, actions, mask, turn):
        if turn.any():
            raise ValueError("bad \\ud800\\0 text")
        return actions

class Slams(Bot):
    """Plays a table at a time, and fails when it is to close."""
    def start(self, variant, seat): pass
    def decide(self, observation, mask): return int(mask.argmax())
    def end(self, rewards, fault=None): pass
    def close(self): raise RuntimeError

class Dies(Bot):
    def failing(self, actions, mask, turn):
        os._exit(3)

def first(): return Bot()
def raises(): return Raises()
def quits(): return Quits()
def cheats(): return Cheats()
def babbles(): return Babbles()
def stammers(): return Stammers()
def slams(): return Slams()
def dies(): return Dies()
'''

#: A bot that plays table by table, and once it has played never closes.
STAYS = """
import time

class Bot:
    def start(self, variant, seat): pass
    def decide(self, observation, mask): return int(mask.argmax())
    def end(self, rewards, fault=None): self.played = True
    def close(self): time.sleep(1e6 if hasattr(self, "played") else 0)

agent = Bot
"""


def setup(agents: tuple[str, ...] = AGENTS, players: int = 2, size: int = 3, seed: int = 3, game: str = "beyond") -> Setup:
    return new_setup(game, agents, players, "", seed, size, Goal(1), False)


def same(a: dict[str, Any], b: dict[str, Any]) -> bool:
    names = [name for name in a if not name.startswith("milliseconds")]
    return list(a) == list(b) and all(values(np.asarray(a[name])) == values(np.asarray(b[name])) for name in names)


@pytest.fixture
def bots(tmp_path: Path) -> Path:
    path = tmp_path / "bots.py"
    path.write_text(BOTS)
    return path


@pytest.mark.parametrize("players", [2, 3])
def test_a_block_depends_on_the_settings_alone(players: int) -> None:
    one, other = BlockPlayer(setup(players=players)), BlockPlayer(setup(players=players))
    groups = range(len(one.groups))
    forwards = {block: one.play(block) for block in (Block(r, g) for r in range(2) for g in groups)}
    for block, columns in reversed(forwards.items()):
        assert same(other.play(block), columns)
    assert not same(forwards[Block(0, 0)], forwards[Block(1, 0)])
    changed = BlockPlayer(setup(players=players, seed=4)).play(Block(0, 0))
    assert not same(forwards[Block(0, 0)], changed)


def test_a_block_is_what_play_gives() -> None:
    """Row by row, against the same games played without the arena."""
    chosen = setup(("random", "heuristic"), size=4)
    columns = BlockPlayer(chosen).play(Block(2, 0))
    game, variant = chosen.parsed()
    games = play(game, variant, [agent(game, name) for name in ("random", "heuristic")], np.arange(8, 12), chosen.seed, salt=1)
    assert columns["deal"].tolist() == games.deal.tolist() == [8, 8, 9, 9, 10, 10, 11, 11]
    for seat in range(2):
        assert columns[f"share_{seat}"].tolist() == games.share[:, seat].tolist()
        assert columns[f"reward_{seat}"].tolist() == games.rewards[:, seat].tolist()
        assert columns[f"won_{seat}"].tolist() == (games.records["won"][:, seat] == 1).tolist()
        assert columns[f"agent_{seat}"].tolist() == [("random", "heuristic")[k] for k in games.seating[:, seat]]
    assert columns["decisions"].tolist() == games.decisions.tolist()
    assert (columns["decisions"] == columns["decisions_0"] + columns["decisions_1"]).all()
    assert (columns["milliseconds_0"] > 0).all() and (columns["fault_seat"] == -1).all()


@pytest.mark.parametrize(
    ("bot", "kind", "reason"),
    [
        ("raises", "crash", "RuntimeError: I do not know"),
        ("quits", "crash", "SystemExit"),
        ("stammers", "crash", "ValueError: bad text"),
        ("cheats", "illegal", "which is not legal"),
        ("babbles", "nonsense", "and gave an array of shape"),
    ],
)
def test_who_fails_loses_that_game_alone(bots: Path, bot: str, kind: str, reason: str) -> None:
    columns = BlockPlayer(setup((f"bad={bots}:{bot}", f"good={bots}:first"), size=12)).play(Block(0, 0))
    fault = columns["fault_seat"] >= 0
    assert 0 < fault.sum() < len(fault)
    for row in np.flatnonzero(fault):
        seat = columns["fault_seat"][row]
        assert columns[f"agent_{seat}"][row] == "bad"
        assert (columns[f"share_{seat}"][row], columns[f"reward_{seat}"][row], columns[f"won_{seat}"][row]) == (0, -1, False)
        assert (columns[f"share_{1 - seat}"][row], columns[f"reward_{1 - seat}"][row], columns[f"won_{1 - seat}"][row]) == (1, 1, True)
        assert columns["fault_kind"][row] == kind and reason in columns["fault_reason"][row]
    well = BlockPlayer(setup((f"bad={bots}:first", f"good={bots}:first"), size=12)).play(Block(0, 0))
    for name in ("share_0", "share_1", "decisions", "truncated"):
        assert (columns[name] == well[name])[~fault].all()
    assert set(columns["fault_kind"][~fault]) == {""}


def test_the_others_share_the_victory_over_who_fails(bots: Path) -> None:
    columns = BlockPlayer(setup((f"bad={bots}:raises", "random", "heuristic"), players=3, size=12)).play(Block(0, 0))
    fault = columns["fault_seat"] >= 0
    assert fault.any()
    for row in np.flatnonzero(fault):
        shares = [columns[f"share_{seat}"][row] for seat in range(3)]
        rewards = [columns[f"reward_{seat}"][row] for seat in range(3)]
        assert shares == [0 if seat == columns["fault_seat"][row] else 0.5 for seat in range(3)]
        assert rewards == [-1 if seat == columns["fault_seat"][row] else 0.5 for seat in range(3)]


def test_a_program_that_crashes_loses_and_the_tournament_goes_on(tmp_path: Path) -> None:
    program = tmp_path / "bot.py"
    program.write_text("import sys\nsys.exit('no idea')\n")
    arena = Arena(setup((f"program:python3 {program}", "random", "heuristic"), size=1), Goal(2), tmp_path / "run")
    assert arena.run()
    results = arena.results()
    assert len(results) == 6
    fault = results.fault_seat >= 0
    assert fault.sum() == 4
    assert all(results.names[results.seating[g, results.fault_seat[g]]].startswith("program:") for g in np.flatnonzero(fault))
    assert "no idea" in results.fault_reason[fault][0]
    assert results.ranking()[-1] == 0


def test_a_bot_that_fails_when_all_is_over(tmp_path: Path, bots: Path) -> None:
    arena = Arena(setup((f"bad={bots}:slams", "random"), size=1), Goal(2), tmp_path / "run")
    assert arena.run()
    assert arena.results().fault_seat.tolist() == [-1, -1]


def test_workers_play_as_this_process_does(tmp_path: Path) -> None:
    folders = [tmp_path / "here", tmp_path / "there"]
    for folder, workers in zip(folders, (1, 2), strict=True):
        assert Arena(setup(), Goal(12), folder, workers).run()
    assert difference(*folders) == []
    assert len(Blocks(folders[0]).done) == 6


def test_a_worker_that_dies_is_named(tmp_path: Path, bots: Path) -> None:
    arena = Arena(setup(("random", f"bad={bots}:dies")), Goal(2), tmp_path / "run", 2)
    with pytest.raises(WorkerDied, match="a worker process died, by a signal or for want of memory, in block 00000-0000"):
        arena.run()


@pytest.mark.parametrize(("workers", "players"), [(1, 2), (2, 3)])
def test_killed_at_random_moments_it_comes_to_the_same(tmp_path: Path, workers: int, players: int) -> None:
    """`python -m tests.training.kill_arena` does it more often."""
    seen = kill_and_resume("beyond", tmp_path / "killed", 3 - workers, 30 * players, workers, random.Random(workers), players)
    assert seen[-1] > 0
    uninterrupted("beyond", tmp_path / "whole", tmp_path / "killed")
    assert difference(tmp_path / "killed", tmp_path / "whole") == []
    assert not list((tmp_path / "killed" / "results").glob("*.part"))


def test_a_longer_goal_goes_on_from_a_shorter_one(tmp_path: Path) -> None:
    assert Arena(setup(), Goal(6), tmp_path / "a").run()
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "a" / "results").glob("*.parquet")}
    assert Arena(setup(), Goal(20), tmp_path / "a").run()
    assert len(kept) == 3 and {path: path.stat().st_mtime_ns for path in kept} == kept
    assert Arena(setup(), Goal(20), tmp_path / "b").run()
    assert difference(tmp_path / "a", tmp_path / "b") == []
    assert setup_of(tmp_path / "a") == (setup(), Goal(20))


def test_a_damaged_block_is_played_again(tmp_path: Path) -> None:
    for name in ("a", "b"):
        assert Arena(setup(), Goal(12), tmp_path / name).run()
    damaged = tmp_path / "a" / "results" / "00001-0001.parquet"
    damaged.write_bytes(damaged.read_bytes()[:-20])
    arena = Arena(setup(), Goal(12), tmp_path / "a")
    assert arena.store.damaged == ["00001-0001"]
    assert arena.run()
    assert difference(tmp_path / "a", tmp_path / "b") == []


def test_files_that_are_no_blocks_do_not_count(tmp_path: Path) -> None:
    """A copy beside a block, as some tools for synchronizing make; one that was put in the place of another is named."""
    arena = Arena(setup(), Goal(12, until_sure=True), tmp_path / "run")
    results = tmp_path / "run" / "results"
    assert arena.run()
    games = len(arena.results())
    for name in ("00000-0000 (1)", "copy", "00000-0009", "0-0", "000000-0000"):
        shutil.copy(results / "00000-0000.parquet", results / f"{name}.parquet")
    again = Arena(setup(), Goal(12, until_sure=True), tmp_path / "run")
    assert again.run() and len(again.results()) == games
    assert load(tmp_path / "run")[1]["other_files"] == ["0-0", "00000-0000 (1)", "00000-0009", "000000-0000", "copy"]
    shutil.copy(results / "00000-0000.parquet", results / "00000-0002.parquet")
    with pytest.raises(StoreError, match=r"00000-0002.parquet holds games of 00000-0000: remove it"):
        again.results()


def test_results_of_other_settings_are_refused(tmp_path: Path, bots: Path) -> None:
    agents = ("random", f"bot={bots}:first")
    Arena(setup(agents), Goal(2), tmp_path / "run")
    with pytest.raises(StoreError, match="with seed 3, not 4"):
        Arena(setup(agents, seed=4), Goal(2), tmp_path / "run")
    with pytest.raises(StoreError, match=r"with agents \[.*\], not \["):
        Arena(setup((*agents, "heuristic")), Goal(2), tmp_path / "run")
    bots.write_text(BOTS + "\n# changed\n")
    with pytest.raises(StoreError, match="digest"):
        Arena(setup(agents), Goal(2), tmp_path / "run")


@pytest.mark.parametrize("folder", ["plain", "with spaces", "a,b", "a=1,b=2", "it's"])
def test_what_an_agent_is_made_of_is_noticed_wherever_it_lies(tmp_path: Path, folder: str) -> None:
    """A policy, alone or searched by, a bot's file, a program's: whatever stands in the path."""
    there = tmp_path / folder
    there.mkdir()
    for name in ("policy.json", "policy.safetensors", "bot.py"):
        (there / name).write_text("first")
    path, program = quoted(str(there)), f"python3 \"{there / 'bot.py'}\""
    names = [f"policy:{path}", f"policy:{path},greedy=false", f"search:policy={path},iterations=4", f"program:{program}"]
    names += [f"{quoted(str(there / 'bot.py'))}:Bot", f"program:{program},memory_mb=0"]
    before = [digest(name, None) for name in names]
    assert [digest(name, None) for name in names] == before
    for name in ("policy.safetensors", "bot.py"):
        (there / name).write_text("second")
    assert all(a != b for a, b in zip(before, (digest(name, None) for name in names), strict=True))


def test_parts_of_a_name_that_are_no_path() -> None:
    for name in ("program:python3 -c 'time'", "program:python3 -c '" + "x" * 5000 + "'", "bot.py,mode=sys"):
        assert digest(name, None) == digest("random", None)  # nothing is read


def test_the_digest_is_also_of_the_weights_that_searches_judge_by(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    weights = tmp_path / "weights.npz"
    monkeypatch.setattr("training.arena.file_of", lambda game: weights)
    found = []
    for content in (b"one", b"two", b"one"):
        weights.write_bytes(content)
        found.append(digest("heuristic", agent(tabletop.game("beyond"), "heuristic")))
    assert found[0] == found[2] != found[1]


def test_while_one_plays_another_changes_nothing(tmp_path: Path) -> None:
    """Not even how many games are to be played."""
    arena = Arena(setup(), Goal(12), tmp_path / "run")
    told: list[str] = []

    def progress(share: float, text: str) -> None:
        if told:
            return
        told.append(text)
        with pytest.raises(StoreError, match="another process is writing"):
            Arena(setup(), Goal(2), tmp_path / "run")

    assert arena.run(progress=progress) and told
    assert setup_of(tmp_path / "run")[1] == Goal(12)


def test_until_sure_stops_when_it_knows(tmp_path: Path) -> None:
    """random and its copy are equal, the heuristic is better than both: after the first rounds the equals alone play on."""
    for name, workers in (("a", 1), ("b", 2)):
        arena = Arena(setup(size=10), Goal(80, until_sure=True), tmp_path / name, workers)
        assert arena.run()
    results = arena.results()
    met = {(a, b): len(results.against(a, b)[0]) for a, b in results.pairs()}
    assert met[0, 2] == 80
    assert sum(met.values()) < 200 and min(met.values()) >= 20
    assert [set(pair) for pair in results.open_pairs()] == [{0, 2}]
    assert difference(tmp_path / "a", tmp_path / "b") == []
    again = Arena(setup(size=10), Goal(80, until_sure=True), tmp_path / "a")
    assert [block.name for stage in again.stages() for block in stage] == sorted(again.store.done)


def test_more_games_of_a_tournament_that_is_played_until_it_is_sure(tmp_path: Path) -> None:
    for until_sure in (True, False):
        out = tmp_path / str(until_sure)
        Arena(setup(), Goal(12, until_sure), out)
        assert what_to_play(Asked(out=out, resume=True, games=30))[1] == Goal(30, until_sure)
        again = Asked("beyond", AGENTS, seed=3, deals_per_block=3, out=out, resume=True)
        assert what_to_play(again)[1] == Goal(12, until_sure)
        assert what_to_play(replace(again, games=30))[1] == Goal(30, until_sure)
        assert what_to_play(replace(again, games=30, resume=False))[1] == Goal(30)
    assert what_to_play(Asked(out=out, resume=True, until_sure=True))[1] == Goal(MOST_GAMES, True)


def test_a_bot_that_does_not_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bot.py").write_text(STAYS)
    monkeypatch.setattr(workers_module, "SECONDS_TO_END", 0.2)
    arena = Arena(setup(("random", f"slow={tmp_path / 'bot.py'}"), size=1), Goal(4), tmp_path / "run", workers=2)
    children = set(multiprocessing.active_children())
    assert arena.run() and len(arena.store.done) == 2
    for process in set(multiprocessing.active_children()) - children:
        process.join(10)
        assert process.exitcode is not None


def pauses_or_dies(seconds: float) -> None:
    time.sleep(seconds)
    if seconds:
        os._exit(1)


@pytest.mark.parametrize("deadline", [None, float("inf")])
def test_a_worker_may_die_while_a_result_is_stored(deadline: float | None) -> None:
    calls = [(pauses_or_dies, seconds) for seconds in (0.0, 0.3, *[0.0] * 40)]
    names = [str(at) for at in range(len(calls))]

    def run() -> None:
        with workers_module.Workers(2) as two:
            for _ in two.run(calls, names, deadline):
                time.sleep(0.5)

    with pytest.raises(WorkerDied, match=r"a worker process died.* in 1[ ;]"):
        run()


def test_until_sure_ends_early_when_all_is_settled(tmp_path: Path) -> None:
    arena = Arena(setup(("random", "heuristic"), size=5), Goal(10_000, until_sure=True), tmp_path / "run")
    assert arena.run()
    assert 20 <= len(arena.results()) <= 100


def test_minutes_end_it_and_it_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moments = iter([0.0, *[10.0 * k for k in range(100)]])  # each look at the clock is ten seconds after the last
    monkeypatch.setattr(arena_module.time, "monotonic", lambda: next(moments))
    arena = Arena(setup(), Goal(60), tmp_path / "a")
    assert not arena.run(minutes=1.0)
    monkeypatch.undo()
    assert 0 < len(arena.store.done) < 30
    assert Arena(setup(), Goal(60), tmp_path / "a").run()
    assert Arena(setup(), Goal(60), tmp_path / "b").run()
    assert difference(tmp_path / "a", tmp_path / "b") == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_leaves_what_can_be_gone_on_with(tmp_path: Path, number: int) -> None:
    before = signal.getsignal(signal.SIGTERM)
    arena = Arena(setup(), Goal(60), tmp_path / "run")
    told: list[str] = []

    def progress(share: float, text: str) -> None:
        told.append(text)
        if len(told) == 5:
            os.kill(os.getpid(), number)

    with pytest.raises(KeyboardInterrupt):
        arena.run(progress=progress)
    assert signal.getsignal(signal.SIGTERM) is before
    assert len(Blocks(tmp_path / "run").done) == 4
    assert told[-1].startswith("4 of 30 blocks, ") and told[-1].endswith(" left")


def test_names_of_agents() -> None:
    assert parse_agents(("a=heuristic", "search:iterations=50", "bots/x=1.py")) == (
        ("a", "heuristic"), ("search:iterations=50", "search:iterations=50"), ("bots/x=1.py", "bots/x=1.py")
    )  # fmt: skip
    with pytest.raises(ValueError, match="random is there twice: give one of them another name"):
        parse_agents(("random", "random"))
    with pytest.raises(ValueError, match="at least two agents, not 1"):
        parse_agents(("random",))


def test_away_has_tournaments_too(tmp_path: Path) -> None:
    arena = Arena(setup(("random", "heuristic"), size=1, game="away"), Goal(2), tmp_path / "run")
    assert arena.run()
    assert len(arena.results()) == 2
    assert tabletop.game("away").variant().players == 2
