"""Policies of a game with a lookahead: they begin as players, their files say what they read, their training can be gone on with."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import tabletop
from agents import away_lookahead, policy
from agents.policy import CARD_FILE, PolicyAgent, find_lookahead, make_network, network_spec
from tabletop.errors import CheckpointError
from tabletop.sb3 import LearnerVecEnv
from tests.training.helpers import difference, disturb_generators, left_by, plays, trainer
from training import checkpoint
from training.config import TrainConfig
from training.imitate import foresee
from training.lookahead import LookaheadVecEnv
from training.ppo import KitPolicy

AWAY = tabletop.game("away")
BEYOND = tabletop.game("beyond")
SHORT: dict[str, Any] = {"channels": (4,), "hidden": (16,), "decisions": 700, "imitate": 0.2, "rules": ("max_rounds=8",)}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Path]]:
    """An uninterrupted run, and copies of its folder as it was after each checkpoint."""
    folder = tmp_path_factory.mktemp("whole")
    copies: list[Path] = []
    save = checkpoint.save

    def save_and_copy(*given: Any) -> Path:
        path = save(*given)
        copies.append(folder / f"after-{len(copies)}")
        shutil.copytree(folder / "run", copies[-1])
        return path

    patch = pytest.MonkeyPatch()
    patch.setattr(checkpoint, "save", save_and_copy)
    trainer(folder / "run", AWAY, **SHORT).run()
    patch.undo()
    return folder / "run", copies


def asked(tables: int = 24, steps: int = 40) -> tuple[np.ndarray, np.ndarray]:
    """Observations and masks after some moves of a policy that is not trained."""
    played = tabletop.Tables(AWAY, tables, 2, seed=2, autoreset="same_step")
    agent = PolicyAgent(AWAY, make_network(AWAY, network_spec(AWAY, (16,), (4,))))
    for _ in range(steps):
        played.step(agent.act(played.observation, played.action_mask, np.random.default_rng(0)))
    return played.observation.copy(), played.action_mask.copy()


def test_an_untrained_network_takes_the_best_gain() -> None:
    torch.manual_seed(1)
    agent = PolicyAgent(AWAY, make_network(AWAY, network_spec(AWAY, (16,), (4,))))
    seen, masks = asked()
    told = find_lookahead(AWAY).look(seen, masks)[:, :-1]
    chosen = told[np.arange(len(seen)), agent.act(seen, masks, np.random.default_rng(0))]
    assert (chosen[:, list(away_lookahead.FEATURES).index("behind")] == 0).mean() > 0.95
    logits, values = agent.logits(seen, masks)
    assert np.isneginf(logits[masks == 0]).all() and np.isfinite(logits[masks == 1]).all() and np.isfinite(values).all()


def test_the_environment_tells_what_the_agent_tells_itself() -> None:
    lookahead = find_lookahead(AWAY)
    inner = LearnerVecEnv(AWAY, 6, 2, "max_rounds=2", seed=1)
    env = LookaheadVecEnv(inner, lookahead)
    agent = PolicyAgent(AWAY, make_network(AWAY, network_spec(AWAY, (16,), (4,))))
    kit_policy = KitPolicy(env.observation_space, env.action_space, lambda _: 1e-3, kit_network=agent.network)
    seen = env.reset()
    ended = 0
    for _ in range(60):
        assert env.observation_space.contains(seen[0]) and seen.dtype == AWAY.layout.dtype
        bare, masks = inner.learner.observation, inner.learner.action_mask.copy()
        assert (seen == agent.input(bare, masks)).all() and agent.input(seen, masks) is seen
        actions = agent.act(bare, masks, np.random.default_rng(0))
        assert (actions == agent.act(seen, masks, np.random.default_rng(0))).all()
        assert (actions == kit_policy.predict(seen, deterministic=True, action_masks=masks)[0]).all()
        assert (np.stack(env.env_method("action_masks")) == masks).all()
        seen, _, dones, infos = env.step(actions)
        ended += dones.sum()
        assert all(infos[row]["terminal_observation"].shape == seen[row].shape for row in np.flatnonzero(dones))
    assert ended > 6


def test_the_warm_start_leaves_the_play_and_learns_the_outcome() -> None:
    torch.manual_seed(0)
    network = make_network(AWAY, network_spec(AWAY, (16,), (4,)))
    seen, masks = asked()
    before, values = PolicyAgent(AWAY, network).logits(seen, masks)
    short = [AWAY.variant("max_rounds=3", 2)]
    learned_from = foresee(AWAY, short, network, lambda done: done / 500, seed=1, num_tables=16, steps=40, batch_size=64)
    after, learned = PolicyAgent(AWAY, network).logits(seen, masks)
    assert learned_from >= 500 and np.abs(learned - values).max() > 1e-3
    assert (np.where(masks, before, 0).argmax(axis=1) == np.where(masks, after, 0).argmax(axis=1)).mean() > 0.9


@pytest.mark.parametrize("part", [0.1, 0.4, 0.7])
def test_resumed_is_uninterrupted(whole: tuple[Path, list[Path]], part: float, tmp_path: Path) -> None:
    run, copies = whole
    playing = [copy for copy in copies if checkpoint.load(copy).told["play"]]
    assert len(playing) > 4
    shutil.copytree(playing[int(part * (len(playing) - 1))], tmp_path / "run")
    disturb_generators()
    resumed = trainer(tmp_path / "run", AWAY, resume=True, **SHORT)
    disturb_generators()
    resumed.run()
    assert difference(left_by(run), left_by(tmp_path / "run")) == []


def test_the_card_names_the_lookahead(whole: tuple[Path, list[Path]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert plays(whole[0])
    shutil.copytree(whole[0], tmp_path / "run")
    card = policy.find_policy(tmp_path / "run") / CARD_FILE
    told = json.loads(card.read_text())
    assert told["network"]["lookahead"] == find_lookahead(AWAY).digest
    monkeypatch.setattr(away_lookahead.AwayLookahead, "digest", "another")
    with pytest.raises(CheckpointError, match=r"reads the lookahead .* of away, which has another in this version"):
        PolicyAgent.load(tmp_path / "run")
    monkeypatch.setattr(policy, "find_lookahead", lambda game, variants: None)
    with pytest.raises(CheckpointError, match="of away, which has none in this version"):
        PolicyAgent.load(tmp_path / "run")
    card.write_text(json.dumps({**told, "network": {**told["network"], "lookahead": 7}}))
    with pytest.raises(CheckpointError, match="damaged"):
        PolicyAgent.load(tmp_path / "run")


def test_it_can_be_left_out(tmp_path: Path) -> None:
    """As for a game without one, whose networks read the observation alone."""
    run = trainer(tmp_path / "run", AWAY, **SHORT | {"decisions": 300, "lookahead": False})
    run.run()
    assert run.network.lookahead is None and "lookahead" not in run.network_spec
    assert PolicyAgent.load(tmp_path / "run").network.lookahead is None
    assert find_lookahead(BEYOND) is None and network_spec(BEYOND, (8,), ()) == {"hidden": [8], "channels": []}
    with pytest.raises(CheckpointError, match="of beyond, which has none"):
        make_network(BEYOND, {"hidden": [8], "channels": [], "lookahead": "x"})


def test_settings_with_a_lookahead() -> None:
    away, beyond = TrainConfig().with_preset(AWAY), TrainConfig().with_preset(BEYOND)
    assert (away.channels, away.opponent_heuristic, beyond.channels, beyond.opponent_heuristic) == ((16, 16), 0.8, (32, 32), 0.4)
    assert TrainConfig(channels=(8,)).with_preset(AWAY).channels == (8,)
    assert TrainConfig(opponent_heuristic=0.0).with_preset(AWAY).opponent_heuristic == 0.0
    assert TrainConfig(lookahead=False).with_preset(AWAY).channels == (32, 32)
    assert away.with_preset(AWAY) == away
