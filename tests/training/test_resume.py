"""A run that was killed and resumed ends, bit for bit, as the one that was not; past selves never change."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.policy import PolicyAgent
from tabletop.errors import CheckpointError
from tabletop.learner import LearnerTables
from tests.training.helpers import GAME, arguments, difference, disturb_generators, left_by, plays, trainer
from training import checkpoint, cli, ppo
from training.self_play import Opponents


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Path]]:
    """An uninterrupted run, and copies of its folder as it was after each checkpoint."""
    folder = tmp_path_factory.mktemp("whole")
    run, copies = folder / "run", []
    save = checkpoint.save

    def save_and_copy(*given: Any) -> Path:
        path = save(*given)
        copies.append(folder / f"after-{len(copies)}")
        shutil.copytree(run, copies[-1])
        return path

    patch = pytest.MonkeyPatch()
    patch.setattr(ppo.checkpoint, "save", save_and_copy)
    trainer(run).run()
    patch.undo()
    return run, copies


def phase(run: Path) -> str:
    told = checkpoint.load(run).told
    return "play" if told["play"] else told["phase"]


def test_updates_are_counted_though_they_stop_early(tmp_path: Path) -> None:
    """At target_kl an update has fewer epochs than it might."""
    trainer(tmp_path / "run", epochs=3, target_kl=1e-12, imitate=0.0, decisions=1000).run()
    play = checkpoint.load(tmp_path / "run").told["play"]
    assert play["updates"] == play["num_timesteps"] // 64 and play["n_updates"] < 3 * play["updates"]


def test_the_run_is_of_use_here(whole: tuple[Path, list[Path]]) -> None:
    """It has many past selves, more agents than a roster keeps, and evaluations on the way."""
    run, copies = whole
    assert [phase(copy) for copy in (copies[0], copies[-1])] == ["imitate", "play"]
    assert len(list((run / "past").iterdir())) > 33
    assert len(checkpoint.load(run).told["play"]["opponents"]["past"]) == 3
    labels = [entry["label"] for entry in json.loads((run / "metrics.json").read_text())]
    assert labels[:2] == ["untrained", "after the warm start"] and labels[-1] == "final" and "on the way" in labels


@pytest.mark.parametrize("part", [0.0, 0.2, 0.4, 0.6, 0.8, 0.95])
def test_resumed_is_uninterrupted(whole: tuple[Path, list[Path]], part: float, tmp_path: Path) -> None:
    run, copies = whole
    playing = [copy for copy in copies if phase(copy) == "play"]
    shutil.copytree(playing[int(part * (len(playing) - 1))], tmp_path / "run")
    disturb_generators()
    resumed = trainer(tmp_path / "run", resume=True)
    disturb_generators()
    resumed.run()
    assert difference(left_by(run), left_by(tmp_path / "run")) == []


@pytest.mark.parametrize("seed", [1, 2])
def test_killed_and_resumed_from_the_command_line(whole: tuple[Path, list[Path]], seed: int, tmp_path: Path) -> None:
    out = tmp_path / "run"
    command = [sys.executable, "-m", "training.cli", "train", "beyond", "--out", str(out), *arguments()]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        until = time.monotonic() + 300
        while not list(out.glob("past/past-*.safetensors")) or not (out / "latest.json").exists():
            assert process.poll() is None, process.stderr and process.stderr.read()
            assert time.monotonic() < until
            time.sleep(0.01)
        time.sleep(random.Random(seed).uniform(0.05, 1.0))
        process.send_signal(signal.SIGKILL)
    assert plays(out)
    was = phase(out)
    (out / ".metrics.json.1.part").write_text("half-writ")
    (out / "checkpoints" / ".step-000000000001.1.part").mkdir()
    assert cli.main(["train", "beyond", "--resume", "--out", str(out), "--quiet"]) == 0
    assert not list(out.rglob("*.part"))
    if was == "play":
        assert difference(left_by(whole[0]), left_by(out)) == []


def test_resumed_in_the_warm_start_goes_on(whole: tuple[Path, list[Path]], tmp_path: Path) -> None:
    warm = [copy for copy in whole[1] if phase(copy) == "imitate"][-1]
    shutil.copytree(warm, tmp_path / "run")
    resumed = trainer(tmp_path / "run", resume=True)
    before = checkpoint.load(warm).told
    assert resumed.decisions == before["decisions"] and resumed.phase == "imitate"
    for name, value in PolicyAgent.load(warm).network.state_dict().items():
        assert (resumed.network.state_dict()[name] == value).all()
    resumed.run()
    after = left_by(tmp_path / "run")
    assert after["told"]["decisions"] >= 4000 and after["told"]["imitated"] >= before["decisions"]
    assert after["metrics"][-1]["label"] == "final"


def test_a_finished_run_can_be_made_longer(whole: tuple[Path, list[Path]], tmp_path: Path) -> None:
    """Resumed as it is it does nothing; made longer it goes on with optimizer and past selves, and is evaluated on the way."""
    out = tmp_path / "run"
    shutil.copytree(whole[0], out)
    before = left_by(out)
    trainer(out, resume=True).run()
    assert difference(before, left_by(out)) == []
    assert cli.main(["train", "beyond", "--resume", "--out", str(out), "--decisions", "6000", "--quiet"]) == 0
    after = left_by(out)
    assert after["told"]["decisions"] >= 6000 > before["told"]["decisions"]
    assert after["told"]["imitated"] == before["told"]["imitated"]
    assert after["told"]["play"]["n_updates"] > before["told"]["play"]["n_updates"] + 10
    later = after["metrics"][len(before["metrics"]) - 1 :]
    assert [entry["label"] for entry in later][-2:] == ["on the way", "final"]


@pytest.mark.parametrize("change", [{"players": 3}, {"rules": "protection=true"}, {"tables": 9}, {"learning_rate": 0.1}, {"hidden": (8,)}])
def test_a_resume_keeps_the_settings(whole: tuple[Path, list[Path]], change: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    ((name, value),) = change.items()
    option = ["--" + name.replace("_", "-"), *map(str, value if isinstance(value, tuple) else (value,))]
    assert cli.main(["train", "beyond", "--resume", "--out", str(whole[0]), *option]) == 2
    assert f"with {name}" in capsys.readouterr().err


def test_a_checkpoint_of_other_settings_is_refused(whole: tuple[Path, list[Path]]) -> None:
    changes: tuple[tuple[dict[str, Any], str], ...] = (
        ({"rules": ("summoning=true",)}, "not for beyond"),
        ({"hidden": (8,)}, "network"),
        ({"players": (3,)}, "players=3"),
    )
    for change, message in changes:
        with pytest.raises(CheckpointError, match=message):
            trainer(whole[0], resume=True, **change)


# -- past selves -----------------------------------------------------------------------------------------------------------


def test_past_selves_never_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files: dict[Path, str] = {}
    weights: dict[str, str] = {}

    def check(self: Opponents) -> None:
        for path in self.folder.iterdir():
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            assert files.setdefault(path, digest) == digest
        for name, agent in self.past.items():
            digest = hashlib.sha256(b"".join(v.numpy().tobytes() for v in agent.network.state_dict().values())).hexdigest()
            assert weights.setdefault(name, digest) == digest

    add = Opponents.add

    def checked_add(self: Opponents, network: Any, decisions: int) -> None:
        check(self)
        add(self, network, decisions)
        check(self)

    monkeypatch.setattr(Opponents, "add", checked_add)
    done = trainer(tmp_path / "run", decisions=2500)
    done.run()
    check(done.opponents)
    assert len(files) == len(weights) > 10
    assert len(set(weights.values())) == len(weights), "the learner learned nothing between two past selves"


@pytest.mark.parametrize("most", [1, 2, 5])
def test_the_pool_keeps_the_first_and_the_newest(most: int, tmp_path: Path) -> None:
    run = trainer(tmp_path / "run", past_selves=most)
    pool = run.opponents
    for number in range(8):
        pool.add(run.network, number)
        assert pool.active[0] == f"past-{number:012d}"
        assert set(pool.active) <= set(pool.past) and len(pool.past) <= most
        for _ in range(20):
            pool.draw(np.random.default_rng(number))
    if most > 1:
        assert next(iter(pool.past)) == "past-000000000000"
    again = Opponents(GAME, run.network_spec, pool.folder, 0.4, 0.1, most, 99)
    again.restore(json.loads(json.dumps(pool.state())))
    assert again.state() == pool.state()
    assert again.named("random") is again.random and again.named(pool.active[0]) is again.past[pool.active[0]]
    assert again.named("past-000000000002").network is not run.network  # dropped, but still at a table somewhere
    with pytest.raises(CheckpointError):
        again.named("past-000000000099")


def test_opponents_stay_for_a_whole_game(tmp_path: Path) -> None:
    run = trainer(tmp_path / "run")
    pool = run.opponents
    pool.add(run.network, 0)
    tables = LearnerTables(GAME, 12, 3, seed=5, opponents=pool, autoreset="same_step")
    rng = np.random.default_rng(0)
    at_start = [tables.opponents_of(row) for row in range(12)]
    met: set[str] = set()
    games = 0
    for step in range(300):
        if step % 10 == 0:
            pool.add(run.network, step + 1)
        tables.step(pool.random.act(tables.observation, tables.action_mask, rng))
        for row, ended in enumerate(tables.terminated | tables.truncated):
            if ended:
                assert tables.final_opponents_of(row) == at_start[row]
                at_start[row] = tables.opponents_of(row)
                games += 1
            assert tables.opponents_of(row) == at_start[row]
            met |= {agent.name for agent in at_start[row].values()}
    assert games > 12 and {"random", "heuristic"} <= met and len(met) > 6


# -- a kill at any moment of writing -----------------------------------------------------------------------------------------


def killed_at(moment: int, act: Any) -> bool:
    """Call `act` in a child process that dies at the `moment`-th thing it does to files. True if it came to an end before."""
    child = os.fork()
    if not child:
        left = [moment]

        def watch(event: str, _: Any) -> None:
            if event == "open" or event.startswith(("os.rename", "os.mkdir", "os.remove", "os.rmdir")):
                left[0] -= 1
                if not left[0]:
                    os._exit(9)

        try:
            sys.addaudithook(watch)
            act()
            os._exit(0)
        finally:
            os._exit(1)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, 9)
    return code == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_kill_at_any_moment_of_a_save_leaves_a_whole_checkpoint(tmp_path: Path) -> None:
    run = trainer(tmp_path / "first", decisions=1300)
    run.run()
    moment, done = 0, False
    while not done:
        moment += 1
        run.folder = tmp_path / f"kill-{moment}"
        shutil.copytree(tmp_path / "first", run.folder)
        if moment % 2:
            run.decisions += 1  # a checkpoint of its own; else one more at the same decision
        done = killed_at(moment, run.save)
        assert plays(run.folder, 2)
        assert checkpoint.load(run.folder).told["play"] is not None
        if moment % 5 == 0 or done:
            resumed = trainer(run.folder, resume=True, decisions=1300)
            resumed.save()
            assert plays(run.folder, 2)
        run.save()
        kept = sorted((run.folder / "checkpoints").glob("step-*"))
        assert len(kept) == 2
        assert checkpoint.load(run.folder).told["decisions"] == run.decisions
        shutil.rmtree(run.folder)
    assert moment > 10
