"""What a resume refuses, in one line and changing nothing; and folders that cannot be written to."""

from __future__ import annotations

import functools
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file, save_file

from agents.policy import CARD_FILE, WEIGHTS_FILE
from tests.training.helpers import arguments, plays, trainer
from training import checkpoint, cli, files


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("finished") / "run"
    trainer(run, decisions=1300).run()
    return run


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "run"))


def contents(run: Path) -> dict[str, bytes]:
    return {str(path.relative_to(run)): path.read_bytes() for path in sorted(run.rglob("*")) if path.is_file()}


def newest(run: Path) -> Path:
    return run / json.loads((run / "latest.json").read_text())["checkpoint"]


def rewrite(path: Path, **changes: Any) -> None:
    told = json.loads(path.read_text()) | changes
    path.write_text(json.dumps({key: value for key, value in told.items() if value != "leave out"}))


def refused(capsys: pytest.CaptureFixture[str], *given: str) -> str:
    """The one line on stderr of a command that exits with 2."""
    assert cli.main([*given, "--quiet"]) == 2
    told = capsys.readouterr().err
    assert told.startswith("beyond-away: ") and told.count("\n") == 1, told
    return told


def save_trainer(run: Path, tensors: dict[str, Any]) -> None:
    """Write other tensors of the trainer, as a checkpoint that was written with them."""
    path = newest(run) / checkpoint.TRAINER_FILE
    save_file(tensors, path)
    rewrite(newest(run) / checkpoint.TRAINER_CARD, digest=checkpoint.digest(path))


def without_tensor(name: str) -> Callable[[Path], None]:
    def damage(run: Path) -> None:
        tensors = load_file(newest(run) / checkpoint.TRAINER_FILE)
        del tensors[name]
        save_trainer(run, tensors)

    return damage


def flipped_byte(run: Path) -> None:
    path = newest(run) / checkpoint.TRAINER_FILE
    data = bytearray(path.read_bytes())
    data[-7] ^= 0x40
    path.write_bytes(bytes(data))


def other_metrics(*entry: Any) -> Callable[[Path], None]:
    return lambda run: rewrite(newest(run) / checkpoint.TRAINER_CARD, metrics=list(entry))


def other_setting(**changes: Any) -> Callable[[Path], None]:
    def damage(run: Path) -> None:
        told = json.loads((run / "run.json").read_text())
        rewrite(run / "run.json", settings=told["settings"] | changes)

    return damage


def cut(file: str, part: float) -> Callable[[Path], None]:
    def damage(run: Path) -> None:
        path = newest(run) / file
        path.write_bytes(path.read_bytes()[: int(part * path.stat().st_size)])

    return damage


def smaller_env(run: Path) -> None:
    tensors = load_file(newest(run) / checkpoint.TRAINER_FILE)
    save_trainer(run, tensors | {"env.records": tensors["env.records"][:-8].clone()})


def other_play(**changes: Any) -> Callable[[Path], None]:
    def damage(run: Path) -> None:
        told = json.loads((newest(run) / checkpoint.TRAINER_CARD).read_text())
        rewrite(newest(run) / checkpoint.TRAINER_CARD, play=told["play"] | changes)

    return damage


DAMAGES: dict[str, Callable[[Path], None]] = {
    "no run.json": lambda run: (run / "run.json").unlink(),
    "empty run.json": lambda run: (run / "run.json").write_text("") and None,
    "run.json is a list": lambda run: (run / "run.json").write_text("[]") and None,
    "run.json without game": lambda run: rewrite(run / "run.json", game="leave out"),
    "run.json of another game": lambda run: rewrite(run / "run.json", game="chess"),
    "settings of another version": lambda run: rewrite(run / "run.json", settings={"width": 3}),
    "settings are a number": lambda run: rewrite(run / "run.json", settings=3),
    "settings out of range": lambda run: rewrite(run / "run.json", settings={"tables": -3}),
    "settings of the wrong kind": lambda run: rewrite(run / "run.json", settings={"tables": "many"}),
    "no latest.json": lambda run: (run / "latest.json").unlink(),
    "damaged latest.json": lambda run: (run / "latest.json").write_text('{"check') and None,
    "checkpoint is gone": lambda run: shutil.rmtree(newest(run)),
    "another game's": lambda run: rewrite(newest(run) / CARD_FILE, game="chess"),
    "another version's": lambda run: rewrite(newest(run) / CARD_FILE, interface="0123"),
    "another variant's": lambda run: rewrite(newest(run) / CARD_FILE, variants=["beyond(players=3)"]),
    "another format": lambda run: rewrite(newest(run) / CARD_FILE, format=2),
    "another network": lambda run: rewrite(newest(run) / CARD_FILE, network={"hidden": [17], "channels": [8]}),
    "no weights": lambda run: (newest(run) / WEIGHTS_FILE).unlink(),
    "cut weights": cut(WEIGHTS_FILE, 0.5),
    "cut card": cut(CARD_FILE, 0.5),
    "no trainer card": lambda run: (newest(run) / checkpoint.TRAINER_CARD).unlink(),
    "cut trainer card": cut(checkpoint.TRAINER_CARD, 0.5),
    "trainer card is a list": lambda run: (newest(run) / checkpoint.TRAINER_CARD).write_text("[]") and None,
    "trainer card lacks something": lambda run: rewrite(newest(run) / checkpoint.TRAINER_CARD, metrics="leave out"),
    "trainer card has play of no kind": lambda run: rewrite(newest(run) / checkpoint.TRAINER_CARD, play={}),
    "trainer card lacks the digest": lambda run: rewrite(newest(run) / checkpoint.TRAINER_CARD, digest="leave out"),
    "run.json is nested too deep": lambda run: (run / "run.json").write_text("[" * 100_000) and None,
    "latest.json is nested too deep": lambda run: (run / "latest.json").write_text("[" * 100_000) and None,
    "trainer card is nested too deep": lambda run: (newest(run) / checkpoint.TRAINER_CARD).write_text("[" * 100_000) and None,
    "no trainer tensors": lambda run: (newest(run) / checkpoint.TRAINER_FILE).unlink(),
    "empty trainer tensors": cut(checkpoint.TRAINER_FILE, 0),
    "cut trainer tensors": cut(checkpoint.TRAINER_FILE, 0.7),
    "trainer tensors lack records": without_tensor("env.records"),
    "trainer tensors lack the optimizer's": without_tensor("optimizer.0.exp_avg"),
    "trainer tensors lack a generator": without_tensor("torch.rng"),
    "trainer tensors are smaller": smaller_env,
    "trainer tensors with a flipped byte": flipped_byte,
    "a setting of the wrong kind": other_setting(epochs=[]),
    "a setting that is no whole number": other_setting(seed=1.5),
    "counters of no kind": lambda run: rewrite(newest(run) / checkpoint.TRAINER_CARD, decisions=[]),
    "a time of no kind": lambda run: rewrite(newest(run) / checkpoint.TRAINER_CARD, elapsed="long"),
    "play is a number": lambda run: rewrite(newest(run) / checkpoint.TRAINER_CARD, play=3.7),
    "updates of no kind": other_play(n_updates=None),
    "metrics are numbers": other_metrics(0),
    "metrics without results": other_metrics({"label": "untrained", "decisions": 0, "minutes": 0.0, "results": 7}),
    "results are numbers": other_metrics({"label": "untrained", "decisions": 0, "minutes": 0.0, "results": [None]}),
    "shares of no kind": other_metrics(
        {"label": "x", "decisions": 0, "minutes": 0.0, "results": [{"variant": "a", "opponent": "b", "share": 0.5, "low": {}, "high": 1}]}
    ),
    "a past self is gone": other_play(opponents={"past": ["past-1"], "active": [], "rng": {}}),
    "generators of no kind": other_play(numpy=["MT19937"]),
    "returns of no kind": other_play(returns="none"),
}


#: What is said of each.
SAID = {
    "no run.json": "No such file or directory",
    "empty run.json": "holds no run to go on with: Expecting value",
    "run.json is a list": "run.json must have game and settings",
    "run.json without game": "run.json must have game and settings",
    "run.json of another game": "is a run of chess, not of beyond",
    "settings of another version": "'width'",
    "settings are a number": "run.json must have game and settings",
    "settings out of range": "tables must be 0 to 65536, not -3",
    "settings of the wrong kind": "tables must be int, not 'many'",
    "no latest.json": "has no policy",
    "damaged latest.json": "latest.json is damaged",
    "checkpoint is gone": "has no policy",
    "another game's": "is a policy of 'chess'",
    "another version's": "another version of beyond",
    "another variant's": "is a run for beyond(players=3), not for beyond(players=2)",
    "another format": "format 2; this version reads 1",
    "another network": "has the network",
    "no weights": "policy.safetensors cannot be read",
    "cut weights": "policy.safetensors cannot be read (truncated or damaged)",
    "cut card": "policy.json cannot be read",
    "no trainer card": "trainer.json",
    "cut trainer card": "truncated or damaged",
    "trainer card is a list": "trainer.json is damaged: it must have",
    "trainer card lacks something": "trainer.json is damaged: it must have",
    "trainer card has play of no kind": "damaged: play",
    "trainer card lacks the digest": "trainer.json is damaged: it must have",
    "run.json is nested too deep": "holds no run to go on with: nested too deep",
    "latest.json is nested too deep": "latest.json is damaged: nested too deep",
    "trainer card is nested too deep": "nested too deep",
    "no trainer tensors": "trainer.safetensors",
    "empty trainer tensors": "truncated or damaged",
    "cut trainer tensors": "truncated or damaged",
    "trainer tensors lack records": "'records'",
    "trainer tensors lack the optimizer's": "some of the optimizer's tensors are missing",
    "trainer tensors lack a generator": "'torch.rng'",
    "trainer tensors are smaller": "buffer size",
    "trainer tensors with a flipped byte": "is not what trainer.json was written with",
    "a setting of the wrong kind": "epochs must be int, not ()",
    "a setting that is no whole number": "seed must be int, not 1.5",
    "counters of no kind": "damaged: decisions",
    "a time of no kind": "damaged: elapsed",
    "play is a number": "damaged: play",
    "updates of no kind": "damaged: play",
    "metrics are numbers": "damaged: metrics",
    "metrics without results": "damaged: metrics",
    "results are numbers": "damaged: metrics",
    "shares of no kind": "damaged: metrics",
    "a past self is gone": "past-1.safetensors cannot be read",
    "generators of no kind": "not enough values to unpack",
    "returns of no kind": "'none'",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_damaged_is_refused(run: Path, damage: str, capsys: pytest.CaptureFixture[str]) -> None:
    DAMAGES[damage](run)
    before = contents(run)
    said = refused(capsys, "train", "beyond", "--resume", "--out", str(run), "--decisions", "2000")
    assert str(run) in said and SAID[damage] in said
    after = contents(run)
    for name, data in before.items():
        assert after[name] == data or name == "run.json", name
    assert {name for name in after if not name.startswith("tensorboard")} == {n for n in before if not n.startswith("tensorboard")}


def test_a_folder_that_holds_a_run(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = contents(run)
    assert "--resume" in refused(capsys, "train", "beyond", "--out", str(run), "--decisions", "2000")
    assert contents(run) == before


def test_nothing_to_resume(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no run to go on with" in refused(capsys, "train", "beyond", "--resume", "--out", str(tmp_path / "none"))
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("out", ["/dev/null", "/dev/null/x", "/proc/x", "FILE", "FILE/run/deep"])
def test_a_folder_that_cannot_be_written_to(out: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("kept")
    told = refused(capsys, "train", "beyond", "--out", out.replace("FILE", str(tmp_path / "file")), "--decisions", "2000")
    assert "cannot write to" in told
    assert (tmp_path / "file").read_text() == "kept"


@pytest.mark.parametrize("resumed", [False, True])
def test_a_full_disk(resumed: bool, run: Path, tmp_path: Path) -> None:
    """One line, nothing half-written, and the checkpoints of before."""
    resource = pytest.importorskip("resource")
    out, given = (run, ["--resume", "--decisions", "2000", "--quiet"]) if resumed else (tmp_path / "new", arguments(decisions=1300))
    kept = json.loads((run / "latest.json").read_text())
    command = [sys.executable, "-m", "training.cli", "train", "beyond", "--out", str(out), *given]
    limit = functools.partial(resource.setrlimit, resource.RLIMIT_FSIZE, (30_000, 30_000))  # as a full disk: files end there
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limit, check=False, timeout=300)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("beyond-away: cannot write ") and done.stderr.count("\n") == 1, done.stderr
    assert not list(out.rglob("*.part"))
    if resumed:
        assert json.loads((run / "latest.json").read_text()) == kept and plays(run)
        assert cli.main(["train", "beyond", "--resume", "--out", str(run), "--decisions", "1500", "--quiet"]) == 0


def test_two_processes_do_not_train_in_one_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also before it has begun, and before there is a checkpoint."""
    out = tmp_path / "run"
    other = trainer(out, decisions=1300)
    before = contents(out)
    for given in (["--decisions", "2000"], ["--resume"]):
        assert "another process is training in" in refused(capsys, "train", "beyond", "--out", str(out), *given)
    assert "another process is training in" in refused(capsys, "exploit", "random", "--game", "beyond", "--out", str(out))
    assert contents(out) == before
    other.run()
    assert plays(out)
    files.lock_run(out).close()


def test_a_folder_without_a_checkpoint_is_begun_anew(tmp_path: Path) -> None:
    """Killed before its first checkpoint: there is nothing to lose."""
    (tmp_path / "run.json").write_text("{")
    (tmp_path / ".run.json.77.part").write_text("{")
    assert cli.main(["train", "beyond", "--out", str(tmp_path), *arguments(decisions=500)]) == 0
    assert plays(tmp_path)
    assert not list(tmp_path.rglob("*.part"))


# -- files ---------------------------------------------------------------------------------------------------------------------


def test_files_are_whole_or_not_there(tmp_path: Path) -> None:
    files.write_text(tmp_path / "a", "one")

    def half() -> None:
        with files.replaced(tmp_path / "a") as temporary:
            temporary.write_text("tw")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        half()
    assert (tmp_path / "a").read_text() == "one"

    def fail(target: Path) -> None:
        (target / "x").write_text("x")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        files.write_folder(tmp_path / "b", fail)
    files.write_folder(tmp_path / "c", lambda target: (target / "x").write_text("one") and None)
    with pytest.raises(FileExistsError):
        files.write_folder(tmp_path / "c", lambda target: (target / "x").write_text("two") and None)
    assert (tmp_path / "c" / "x").read_text() == "one"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "c"]
