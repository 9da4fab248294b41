"""Ctrl-C ends a run in good order: a checkpoint that plays and can be gone on with, and the words how."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from tests.training.helpers import arguments, left_by, plays
from training import checkpoint, cli, ppo


def interrupt(monkeypatch: pytest.MonkeyPatch, phase: str, after: int = 0, times: int = 1, number: int = signal.SIGINT) -> None:
    """Send the signal when the trainer looks for the `after`-th time in a phase whether a checkpoint is due."""
    when_due = ppo.Trainer._checkpoint_when_due
    looks: list[int] = []

    def watched(self: ppo.Trainer) -> None:
        if self.phase == phase:
            looks.append(1)
            if len(looks) == after + 1:
                for _ in range(times):
                    os.kill(os.getpid(), number)
        when_due(self)

    monkeypatch.setattr(ppo.Trainer, "_checkpoint_when_due", watched)


@pytest.mark.parametrize(("phase", "after"), [("imitate", 0), ("imitate", 15), ("play", 0), ("play", 7)])
def test_ctrl_c_leaves_what_can_be_gone_on_with(
    phase: str, after: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = signal.getsignal(signal.SIGINT)
    out = tmp_path / "a folder [with] marks"
    interrupt(monkeypatch, phase, after)
    assert cli.main(["train", "beyond", "--out", str(out), *arguments(decisions=2500, checkpoint_minutes=9.0)]) == 0
    assert signal.getsignal(signal.SIGINT) is before
    told = capsys.readouterr().out
    assert "stopped early" in told
    assert f"beyond-away train beyond --resume --out '{out}'" in told
    assert plays(out)
    assert (out / "game.txt").read_text().startswith("beyond(players=2)")
    state = checkpoint.load(out)
    assert state.told["phase"] == phase
    if after:
        assert state.told["decisions"] > 0
    monkeypatch.undo()
    assert cli.main(["train", "beyond", "--resume", "--out", str(out), "--quiet"]) == 0
    assert "beyond-away evaluate" in capsys.readouterr().out
    after_all = left_by(out)
    assert after_all["told"]["decisions"] >= 2500
    assert after_all["metrics"][-1]["label"] == "final"


def test_terminate_is_as_ctrl_c(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    interrupt(monkeypatch, "play", number=signal.SIGTERM)
    assert cli.main(["train", "beyond", "--out", str(tmp_path / "run"), *arguments(decisions=2000)]) == 0
    assert "--resume" in capsys.readouterr().out
    assert plays(tmp_path / "run")


@pytest.mark.parametrize("phase", ["imitate", "play"])
def test_a_second_ctrl_c_stops_at_once(
    phase: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was saved before is still there."""
    before = signal.getsignal(signal.SIGINT)
    interrupt(monkeypatch, phase, 1, times=2)
    assert cli.main(["train", "beyond", "--out", str(tmp_path / "run"), *arguments()]) == 130
    assert capsys.readouterr().err == "beyond-away: interrupted\n"
    assert signal.getsignal(signal.SIGINT) is before
    assert plays(tmp_path / "run")


def test_ctrl_c_in_the_last_evaluation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    evaluate = ppo.Trainer._evaluate

    def stopped(self: ppo.Trainer, games: int, label: str) -> object:
        if label == "final":
            os.kill(os.getpid(), signal.SIGINT)
        return evaluate(self, games, label)

    monkeypatch.setattr(ppo.Trainer, "_evaluate", stopped)
    assert cli.main(["train", "beyond", "--out", str(tmp_path / "run"), *arguments(decisions=1500)]) == 0
    assert "--resume" in capsys.readouterr().out
    monkeypatch.undo()
    before = left_by(tmp_path / "run")
    assert cli.main(["train", "beyond", "--resume", "--out", str(tmp_path / "run"), "--quiet"]) == 0
    after = left_by(tmp_path / "run")
    assert (after["tensors"], after["weights"], after["pool"]) == (before["tensors"], before["weights"], before["pool"])
    assert [entry["label"] for entry in json.loads((tmp_path / "run" / "metrics.json").read_text())][-1] == "final"


def test_ctrl_c_between_resuming_and_playing_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cli.main(["train", "beyond", "--out", str(tmp_path / "run"), *arguments(decisions=1500)]) == 0
    before = left_by(tmp_path / "run")
    finished = ppo.Trainer.finished

    def stopped(self: ppo.Trainer) -> bool:
        if self.model is None and not self.stop_asked:
            os.kill(os.getpid(), signal.SIGINT)
        return finished(self)

    monkeypatch.setattr(ppo.Trainer, "finished", stopped)
    assert cli.main(["train", "beyond", "--resume", "--out", str(tmp_path / "run"), "--decisions", "3000", "--quiet"]) == 0
    after = left_by(tmp_path / "run")
    assert (after["tensors"], after["told"]) == (before["tensors"], before["told"])
