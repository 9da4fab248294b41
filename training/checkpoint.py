"""Checkpoints of a training run: everything that going on depends on, so that a run resumed from between two updates of
self-play is the uninterrupted one.

A checkpoint is a folder that appears by a rename: the policy's two files (see agents.policy), and `trainer.safetensors` with
`trainer.json`: optimizer, generators, games under way, opponents, counters. No pickle anywhere. `latest.json` names the newest.
"""

from __future__ import annotations

import hashlib
import json
import math
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from agents.policy import CARD_FILE, WEIGHTS_FILE, find_policy, interface, load_weights, read_card, save_tensors, save_weights
from tabletop.errors import CheckpointError, TabletopError, listed
from tabletop.reading import read_json
from training.files import write_folder, write_json

if TYPE_CHECKING:
    from training.ppo import Trainer

TRAINER_FILE = "trainer.safetensors"
TRAINER_CARD = "trainer.json"
TOLD = ("decisions", "imitated", "games", "elapsed", "phase", "metrics", "play", "digest")


@dataclass
class State:
    """A checkpoint as read: its folder, the policy's card, the trainer's values and tensors."""

    folder: Path
    card: dict[str, Any]
    told: dict[str, Any]
    tensors: dict[str, torch.Tensor]


def save(run: Path, trainer: Trainer, card: dict[str, Any]) -> Path:
    """Write a checkpoint of the trainer into the run's folder, point `latest.json` to it, and drop all but it and the one before.

    A folder is never replaced, so at any moment `latest.json` names one that is whole.
    """
    tensors: dict[str, torch.Tensor] = {}
    told = {
        "decisions": trainer.decisions,
        "imitated": trainer.imitated,
        "games": trainer.games,
        "elapsed": trainer.elapsed(),
        "warm": trainer.warm,
        "phase": trainer.phase,
        "metrics": trainer.metrics,
        "play": _play_state(trainer, tensors) if trainer.model is not None else None,
    }
    folder = run / "checkpoints"
    folder.mkdir(exist_ok=True)
    name = f"step-{trainer.decisions:012d}"
    path, number = folder / name, 1
    while path.exists():  # stopped twice between the same two updates, or killed before latest.json named it
        number += 1
        path = folder / f"{name}-{number}"
    before = _latest(run)

    def fill(target: Path) -> None:
        save_weights(target / WEIGHTS_FILE, trainer.network)
        (target / CARD_FILE).write_text(json.dumps(card, indent=1) + "\n")
        save_tensors(target / TRAINER_FILE, tensors)
        (target / TRAINER_CARD).write_text(json.dumps(told | {"digest": digest(target / TRAINER_FILE)}) + "\n")

    write_folder(path, fill)
    write_json(run / "latest.json", {"checkpoint": f"checkpoints/{path.name}"})
    for old in folder.glob("step-*"):
        if old not in (path, before):
            shutil.rmtree(old, ignore_errors=True)
    return path


def digest(path: Path) -> str:
    """Of a file: positions that are not as they were written must not come into compiled loops."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def _latest(run: Path) -> Path | None:
    """The checkpoint that `latest.json` names."""
    try:
        return find_policy(run)
    except CheckpointError:
        return None


def _play_state(trainer: Trainer, tensors: dict[str, torch.Tensor]) -> dict[str, Any]:
    """The state of PPO and its games; arrays go into `tensors`, the rest is returned for JSON."""
    model, env = trainer.model, trainer.env
    assert model is not None and env is not None
    arrays, learner = env.learner.state()
    for name, array in arrays.items():
        tensors[f"env.{name}"] = torch.from_numpy(np.ascontiguousarray(array))
    for index, values in model.policy.optimizer.state_dict()["state"].items():
        for name, value in values.items():
            tensors[f"optimizer.{index}.{name}"] = torch.as_tensor(value).clone()
    kind, keys, position, has_gauss, gauss = np.random.get_state()  # noqa: NPY002  (Stable-Baselines3 draws from it)
    tensors["numpy.keys"] = torch.from_numpy(np.asarray(keys).astype(np.int64))
    tensors["torch.rng"] = torch.get_rng_state()
    tensors["episode_starts"] = torch.from_numpy(np.asarray(model._last_episode_starts, np.bool_).copy())
    return {
        "learner": learner,
        "returns": env._returns.tolist(),
        "lengths": env._lengths.tolist(),
        "num_timesteps": model.num_timesteps,
        "n_updates": model._n_updates,
        "updates": trainer.updates,
        "numpy": [kind, position, has_gauss, gauss],
        "opponents": trainer.opponents.state(),
    }


def load(run: Path) -> State:
    """Read the run's newest checkpoint; CheckpointError says what is wrong with it."""
    folder = find_policy(run)
    card = read_card(folder)
    try:
        told = read_json(folder / TRAINER_CARD)
        tensors = load_file(folder / TRAINER_FILE)
        found = digest(folder / TRAINER_FILE)
    except (OSError, ValueError, SafetensorError) as error:
        raise CheckpointError(f"{folder} cannot be gone on with (truncated or damaged): {str(error).splitlines()[0]}") from None
    if not isinstance(told, dict) or any(key not in told for key in TOLD):
        raise CheckpointError(f"{folder / TRAINER_CARD} is damaged: it must have {listed(TOLD)}")
    if wrong := [name for name, good in _checks(told).items() if not good]:
        raise CheckpointError(f"{folder / TRAINER_CARD} is damaged: {listed(wrong)}")
    if told["digest"] != found:
        raise CheckpointError(f"{folder / TRAINER_FILE} is damaged: it is not what {TRAINER_CARD} was written with")
    return State(folder, card, told, tensors)


def _checks(told: dict[str, Any]) -> dict[str, bool]:
    """Whether the values of a trainer card are of their kinds, by name. What `play` holds is checked when it is taken."""
    play, metrics = told["play"], told["metrics"]
    good = {name: _is_count(told[name]) for name in ("decisions", "imitated", "games")}
    good |= {name: _is_number(told.get(name, 0.0)) for name in ("elapsed", "warm")}
    good["phase"] = told["phase"] in ("imitate", "play")
    good["play"] = play is None or (isinstance(play, dict) and _is_count(play.get("n_updates")) and _is_count(play.get("updates", 0)))
    good["metrics"] = isinstance(metrics, list) and all(map(_is_evaluation, metrics))
    return good


def _is_evaluation(entry: Any) -> bool:
    if not isinstance(entry, dict) or not isinstance(entry.get("label"), str) or not isinstance(entry.get("results"), list):
        return False
    numbers = [entry.get("decisions"), entry.get("minutes"), entry.get("took", 0.0)]
    for row in entry["results"]:
        if not isinstance(row, dict) or not all(isinstance(row.get(name), str) for name in ("variant", "opponent")):
            return False
        numbers += [row.get(name) for name in ("share", "low", "high")]
    return all(map(_is_number, numbers))


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value < math.inf


def restore(trainer: Trainer, state: State) -> None:
    """Take weights and counters; refuse a checkpoint of another game, variant, version or network."""
    game, card = trainer.game, state.card
    if card["game"] != game.name:
        raise CheckpointError(f"{state.folder} is a run of {card['game']}, not of {game.name}")
    if card["interface"] != interface(game):
        raise CheckpointError(f"{state.folder} is a run of another version of {game.name}: its observation or actions have changed")
    if card["variants"] != [str(v) for v in trainer.variants]:
        raise CheckpointError(f"{state.folder} is a run for {', '.join(card['variants'])}, not for {', '.join(map(str, trainer.variants))}")
    if card["network"] != trainer.network_spec:
        raise CheckpointError(f"{state.folder} has the network {card['network']}, not {trainer.network_spec}")
    load_weights(state.folder / WEIGHTS_FILE, trainer.network)
    told = state.told
    trainer.decisions, trainer.imitated, trainer.games = told["decisions"], told["imitated"], told["games"]
    trainer.before, trainer.phase, trainer.metrics = told["elapsed"], told["phase"], told["metrics"]
    trainer.warm = told.get("warm", 0.0)
    if told["play"] is not None:
        play = told["play"]
        trainer.updates = play.get("updates", play["n_updates"] // trainer.config.epochs)  # older ones tell no updates


def restore_play(trainer: Trainer, state: State) -> None:
    """Take the optimizer, the generators, the games under way and the opponents; CheckpointError if something is not as it was written."""
    try:
        _restore_play(trainer, state)
    except TabletopError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, RuntimeError) as error:
        told = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        raise CheckpointError(f"{state.folder} cannot be gone on with (damaged): {told}") from None


def _restore_play(trainer: Trainer, state: State) -> None:
    model, env, play, tensors = trainer.model, trainer.env, state.told["play"], state.tensors
    assert model is not None and env is not None
    trainer.opponents.restore(play["opponents"])
    arrays = {name.removeprefix("env."): tensor.numpy() for name, tensor in tensors.items() if name.startswith("env.")}
    env.learner.restore_state(arrays, play["learner"], trainer.opponents.named)
    env._fresh = False
    env._returns[:] = play["returns"]
    env._lengths[:] = play["lengths"]
    assert model.env is not None
    model._last_obs = model.env.seen() if trainer.lookahead else env.learner.observation.copy()  # type: ignore[attr-defined]
    model._last_episode_starts = tensors["episode_starts"].numpy().copy()
    model.num_timesteps, model._n_updates = play["num_timesteps"], play["n_updates"]
    optimizer = model.policy.optimizer.state_dict()
    optimizer["state"] = {}
    for name, tensor in tensors.items():
        if name.startswith("optimizer."):
            _, index, key = name.split(".")
            optimizer["state"].setdefault(int(index), {})[key] = tensor.clone()
    kept = [set(values) for values in optimizer["state"].values()]
    if kept and (len(kept) != len(list(trainer.network.parameters())) or any(names != kept[0] for names in kept)):
        raise ValueError("some of the optimizer's tensors are missing")
    model.policy.optimizer.load_state_dict(optimizer)
    torch.set_rng_state(tensors["torch.rng"])
    kind, position, has_gauss, gauss = play["numpy"]
    np.random.set_state((kind, tensors["numpy.keys"].numpy().astype(np.uint32), position, has_gauss, gauss))  # noqa: NPY002
