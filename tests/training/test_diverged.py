"""Training whose network becomes useless ends in one line, before a checkpoint or a past self is made of it."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.training.helpers import arguments, left_by, plays, trainer
from training import cli, ppo


@pytest.mark.parametrize("rate", ["1e6", "1e30"])
def test_a_learning_rate_that_is_far_too_large(rate: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run"
    assert cli.main(["train", "beyond", "--out", str(out), *arguments(decisions=3000, learning_rate=rate)]) == 2
    told = capsys.readouterr().err
    assert told.startswith("beyond-away: training has diverged") and "--learning-rate" in told and told.count("\n") == 1
    assert plays(out), "the checkpoint of before is kept"
    assert len(list((out / "past").iterdir())) == 1


def test_nothing_is_made_of_a_network_without_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = trainer(tmp_path / "run", decisions=3000)
    train = ppo.MaskablePPO.train

    def broken(self: ppo.MaskablePPO) -> None:
        train(self)
        if self._n_updates >= 3:
            with torch.no_grad():
                next(iter(run.network.parameters())).fill_(torch.nan)

    monkeypatch.setattr(ppo.MaskablePPO, "train", broken)
    with pytest.raises(ppo.Diverged):
        run.run()
    told = left_by(tmp_path / "run")
    assert told["told"]["play"]["n_updates"] == 2 and plays(tmp_path / "run")
    assert len(told["pool"]) == 3
