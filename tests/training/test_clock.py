"""A run by the clock: evaluations take no time from the warm start, leave time between them, and never take all of self-play."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from tests.training.helpers import left_by, trainer
from training import ppo

LENGTH = 0.05  # minutes


def slow_evaluations(monkeypatch: pytest.MonkeyPatch, minutes: float) -> None:
    """Let every evaluation take so much longer."""
    measure = ppo.Trainer.measure

    def slow(self: ppo.Trainer, games: int, label: str) -> Any:
        self.before += 60 * minutes
        return measure(self, games, label)

    monkeypatch.setattr(ppo.Trainer, "measure", slow)


def labels(run: Path) -> list[str]:
    return [entry["label"] for entry in json.loads((run / "metrics.json").read_text())]


def test_evaluations_longer_than_the_run_leave_warm_start_and_self_play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow_evaluations(monkeypatch, 10 * LENGTH)
    run = trainer(tmp_path / "run", decisions=None, minutes=LENGTH, imitate=0.2)
    run.run()
    told = left_by(tmp_path / "run")["told"]
    assert labels(tmp_path / "run") == ["untrained", "after the warm start", "final"]
    assert run.warm >= 0.2 * 60 * LENGTH and told["imitated"] > 100
    assert told["play"]["n_updates"] == 1 and told["decisions"] > told["imitated"]
    again = trainer(tmp_path / "run", decisions=None, minutes=LENGTH, imitate=0.2, resume=True)
    again.run()
    assert left_by(tmp_path / "run")["told"]["play"]["n_updates"] == 1, "a run that is over does nothing when it is resumed"


def test_a_warm_start_of_the_whole_run_is_followed_by_nothing(tmp_path: Path) -> None:
    trainer(tmp_path / "run", decisions=None, minutes=LENGTH / 2, imitate=1.0).run()
    told = left_by(tmp_path / "run")["told"]
    assert told["imitated"] == told["decisions"] > 0 and told["play"] is None


def test_evaluations_that_are_longer_than_what_lies_between_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """None follows the one before but for the training between them."""
    slow_evaluations(monkeypatch, 0.2 * LENGTH)
    trainer(tmp_path / "run", decisions=None, minutes=LENGTH, imitate=0.1, evaluate_every=0.15).run()
    entries = [entry for entry in json.loads((tmp_path / "run" / "metrics.json").read_text()) if entry["phase"] == "play"]
    assert [entry["label"] for entry in entries].count("on the way") >= 1
    for before, after in itertools.pairwise(entries[:-1]):
        assert before["took"] >= 0.2 * LENGTH
        assert after["minutes"] - before["minutes"] - before["took"] >= 0.149 * LENGTH
        assert after["decisions"] > before["decisions"]


def test_a_warm_start_that_is_gone_on_with_takes_its_time_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[float] = []
    when_due = ppo.Trainer._checkpoint_when_due

    def stop(self: ppo.Trainer) -> None:
        if self.phase == "imitate" and self.warm > 0.6 * 0.5 * 60 * LENGTH:
            self.stop_asked = True
        when_due(self)

    monkeypatch.setattr(ppo.Trainer, "_checkpoint_when_due", stop)
    run = trainer(tmp_path / "run", decisions=None, minutes=LENGTH, imitate=0.5)
    with pytest.raises(ppo.Interrupted):
        run.run()
    seen.append(run.warm)
    monkeypatch.undo()
    run = trainer(tmp_path / "run", decisions=None, minutes=LENGTH, imitate=0.5, resume=True)
    assert run.phase == "imitate" and run.warm == seen[0] > 0
    run.run()
    assert run.warm < 2 * 0.5 * 60 * LENGTH
