"""Short training runs, and what is left of a run, for comparison."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file

import tabletop
from agents.policy import WEIGHTS_FILE, PolicyAgent
from tabletop.registry import Game
from training import checkpoint
from training.config import TrainConfig
from training.ppo import Trainer

GAME = tabletop.game("beyond")
SHORT: dict[str, Any] = {
    "preset": "smoke", "tables": 8, "steps": 8, "batch": 32, "epochs": 1, "hidden": (16,), "decisions": 4000, "imitate": 0.3,
    "opponent_random": 0.2, "snapshot_every": 1, "past_selves": 3, "evaluate_every": 0.25, "evaluate_games": 4, "final_games": 6,
    "checkpoint_minutes": 0.0, "threads": 1, "quiet": True,
}  # fmt: skip


def arguments(**changes: Any) -> list[str]:
    """A short run's settings for the command line."""
    told = []
    for name, value in (SHORT | changes).items():
        option = "--" + name.replace("_", "-")
        if isinstance(value, bool):
            told += [option] if value else []
        else:
            told += [option, *map(str, value)] if isinstance(value, tuple) else [option, str(value)]
    return told


def trainer(out: Path, game: Game = GAME, **changes: Any) -> Trainer:
    """A short run, not yet begun."""
    return Trainer(game, TrainConfig(**SHORT | {"out": out} | changes))


def without_times(metrics: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in entry.items() if name not in ("minutes", "took")} for entry in metrics]


def left_by(run: Path) -> dict[str, Any]:
    """Everything that a run has come to, but for the times."""
    state = checkpoint.load(run)
    told = state.told | {"elapsed": None, "warm": None, "metrics": without_times(state.told["metrics"])}
    tensors = {name: value.numpy().tobytes() for name, value in state.tensors.items()}
    weights = {name: value.numpy().tobytes() for name, value in load_file(state.folder / WEIGHTS_FILE).items()}
    pool = {name: (run / "past" / f"{name}.safetensors").read_bytes() for name in told["play"]["opponents"]["past"]} if told["play"] else {}
    metrics = without_times(json.loads((run / "metrics.json").read_text()))
    return {"told": told, "tensors": tensors, "weights": weights, "pool": pool, "metrics": metrics}


def difference(a: dict[str, Any], b: dict[str, Any]) -> list[str]:
    """Where two runs differ, by name."""
    found = []
    for part in a:
        if isinstance(a[part], dict):
            found += [f"{part}.{name}" for name in sorted({*a[part], *b[part]}) if a[part].get(name) != b[part].get(name)]
        elif a[part] != b[part]:
            found.append(part)
    return found


def plays(policy: Path | PolicyAgent, steps: int = 30) -> bool:
    """A policy can be loaded and plays legally."""
    agent = policy if isinstance(policy, PolicyAgent) else PolicyAgent.load(policy)
    tables = tabletop.Tables(agent.game, 4, 2, autoreset="same_step")
    for _ in range(steps):
        tables.step(agent.act(tables.observation, tables.action_mask, np.random.default_rng(1)))
    return True


def disturb_generators() -> None:
    np.random.seed(4321)  # noqa: NPY002
    torch.manual_seed(4321)
