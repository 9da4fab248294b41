"""Policies: masked on every path, and loaded from what was really saved for this game and variant, or refused by name."""

from __future__ import annotations

import json
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn

import tabletop
from agents import named, policy
from agents.named import UnknownAgent
from agents.policy import CARD_FILE, WEIGHTS_FILE, PolicyAgent, make_card, make_network, save_weights
from agents.random_agent import RandomAgent
from tabletop.errors import CheckpointError, EmptyMask
from tabletop.learner import LearnerTables
from training.evaluate import evaluate
from training.play import play
from training.transcript import transcript

GAME = tabletop.game("beyond")
TWO = GAME.variant("", 2)
NETWORK = {"hidden": [16], "channels": [8]}


class Perverse(nn.Module):
    """Puts all weight on what is not legal: it is told the masks on the side."""

    def __init__(self, low: float, high: float) -> None:
        super().__init__()
        self.low, self.high = low, high
        self.masks: Callable[[], np.ndarray] = lambda: np.zeros((0, GAME.num_actions))

    def forward(self, observation: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        mask = torch.from_numpy(np.asarray(self.masks(), np.float32))
        return torch.where(mask > 0, self.low, self.high), torch.zeros(len(observation))


class PerverseAgent(PolicyAgent):
    def act(self, observation: np.ndarray, action_mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        self.network.masks = lambda: action_mask
        return super().act(observation, action_mask, rng)


WEIGHTS = [(-50.0, 50.0), (-1e30, 1e30), (-np.inf, np.inf), (-np.inf, 0.0), (np.nan, 1.0)]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("greedy", [True, False])
@pytest.mark.parametrize(("low", "high"), WEIGHTS)
def test_all_weight_on_illegal_actions(low: float, high: float, greedy: bool) -> None:
    """It plays legally on all paths: a batch, evaluation, transcript, as an opponent in training."""
    agent = PerverseAgent(GAME, Perverse(low, high), greedy=greedy)
    rng = np.random.default_rng(1)
    tables = tabletop.Tables(GAME, 16, 2, "protection=true,summoning=true", autoreset="same_step")
    for _ in range(60):
        actions = agent.act(tables.observation, tables.action_mask, rng)
        assert tables.action_mask[np.arange(16), actions].all()
        tables.step(actions)
    assert evaluate(GAME, agent, [TWO], 2)[0].share.games == 2
    assert "the end" in transcript(GAME, TWO, [agent, RandomAgent()])
    learner = LearnerTables(GAME, 8, 3, opponents=agent, autoreset="same_step")
    for _ in range(40):
        learner.step(RandomAgent().act(learner.observation, learner.action_mask, rng))


@pytest.mark.parametrize("name", ["random", "heuristic", "greedy", "sampled"])
def test_empty_mask_is_named_by_every_agent(name: str) -> None:
    network = make_network(GAME, NETWORK)
    agents = {a.name: a for a in named.baselines(GAME)}
    agents |= {"greedy": PolicyAgent(GAME, network), "sampled": PolicyAgent(GAME, network, greedy=False)}
    tables = tabletop.Tables(GAME, 5, 2)
    mask = tables.action_mask.copy()
    mask[3] = 0
    for given in (mask, mask.astype(np.bool_)):
        with pytest.raises(EmptyMask, match="row 3"):
            agents[name].act(tables.observation, given, np.random.default_rng(0))


def test_the_training_policy_masks_too() -> None:
    """sb3-contrib's distribution on our network: entropy and gradients are finite with one legal action, and it is the one taken."""
    from sb3_contrib import MaskablePPO

    from tabletop.sb3 import LearnerVecEnv
    from training.ppo import KitPolicy

    network = make_network(GAME, NETWORK)
    env = LearnerVecEnv(GAME, 4, 2)
    model = MaskablePPO(KitPolicy, env, policy_kwargs={"kit_network": network}, n_steps=4, batch_size=8, device="cpu")
    observation = torch.from_numpy(env.reset())
    masks = np.zeros((4, GAME.num_actions), np.bool_)
    masks[np.arange(4), [0, 5, 60, 128]] = True
    actions, _, log_prob = model.policy(observation, action_masks=masks)
    assert actions.tolist() == [0, 5, 60, 128]
    values, again, entropy = model.policy.evaluate_actions(observation, actions, action_masks=masks)
    assert torch.isfinite(entropy).all() and torch.allclose(again, torch.zeros(4), atol=1e-5) and torch.isfinite(log_prob).all()
    (again.mean() + entropy.mean() + values.mean()).backward()
    assert all(torch.isfinite(p.grad).all() for p in network.parameters() if p.grad is not None)
    assert any(p.grad is not None for p in network.parameters())
    ours = {id(p) for p in network.parameters()}
    assert {id(p) for group in model.policy.optimizer.param_groups for p in group["params"]} == ours
    assert {id(p) for p in model.policy.parameters()} == ours


def test_sampled_actions_follow_the_probabilities() -> None:
    class Fixed(nn.Module):
        def forward(self, observation: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            logits = torch.full((len(observation), GAME.num_actions), 9.0)
            logits[:, :3] = torch.log(torch.tensor([0.5, 0.3, 0.2]))
            return logits, torch.zeros(len(observation))

    mask = np.zeros((20_000, GAME.num_actions), np.int8)
    mask[:, :3] = 1
    seen = np.zeros((20_000, GAME.layout.size), np.int8)
    actions = PolicyAgent(GAME, Fixed(), greedy=False).act(seen, mask, np.random.default_rng(3))
    assert np.allclose(np.bincount(actions, minlength=3) / 20_000, [0.5, 0.3, 0.2], atol=0.015)
    assert (PolicyAgent(GAME, Fixed()).act(seen, mask, np.random.default_rng(3)) == 0).all()


# -- files -------------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.manual_seed(1)
    folder = tmp_path_factory.mktemp("saved") / "mine"
    folder.mkdir()
    save_weights(folder / WEIGHTS_FILE, make_network(GAME, NETWORK))
    (folder / CARD_FILE).write_text(json.dumps(make_card(GAME, [TWO, GAME.variant("protection=true", 3)], NETWORK)))
    return folder


@pytest.fixture
def copy(saved: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(saved, tmp_path / "copy"))


def change(folder: Path, **changes: Any) -> None:
    card = json.loads((folder / CARD_FILE).read_text()) | changes
    (folder / CARD_FILE).write_text(json.dumps({key: value for key, value in card.items() if value is not None}))


def test_what_is_loaded_plays_as_what_was_saved(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pickle."""

    def refuse(*given: object, **options: object) -> None:
        raise AssertionError("pickle was used")

    for name in ("load", "loads", "Unpickler"):
        monkeypatch.setattr(pickle, name, refuse)
    monkeypatch.setattr(torch, "load", refuse)
    agent = PolicyAgent.load(saved, TWO)
    torch.manual_seed(1)
    same = PolicyAgent(GAME, make_network(GAME, NETWORK))
    a, b = (play(GAME, TWO, [player, RandomAgent()], 3, seed=2) for player in (agent, same))
    assert (a.records == b.records).all()
    assert agent.name == "policy:mine"


def test_by_name(saved: Path) -> None:
    assert isinstance(named.agent(GAME, f"policy:{saved}", TWO), PolicyAgent)
    assert named.agent(GAME, f"policy:{saved}", GAME.variant("protection=true", 3)).name == "policy:mine"
    with pytest.raises(CheckpointError, match=r"trained for .*, not for beyond\(players=4\)"):
        named.agent(GAME, f"policy:{saved}", GAME.variant("", 4))
    assert named.agent(GAME, f"policy:{saved}", GAME.variant("", 4), any_variant=True).name == "policy:mine"
    with pytest.raises(UnknownAgent, match="random, heuristic, policy:PATH"):
        named.agent(GAME, "nobody")


def test_of_another_game(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A game that is registered, and one that is not."""
    import dataclasses

    other = dataclasses.replace(GAME, name="other")
    with pytest.raises(CheckpointError, match="policy of beyond, not of other"):
        named.agent(other, f"policy:{saved}", any_variant=True)
    monkeypatch.setattr(tabletop, "games", lambda: ("chess",))
    with pytest.raises(CheckpointError, match="policy of 'beyond'; games here are chess"):
        PolicyAgent.load(saved)


def test_of_another_version(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = policy.interface(GAME)
    part = GAME.layout.parts["tokens"]
    import dataclasses

    monkeypatch.setitem(GAME.layout.parts, "tokens", dataclasses.replace(part, typical=part.typical + 1))
    assert policy.interface(GAME) != before
    with pytest.raises(CheckpointError, match="another version of beyond"):
        PolicyAgent.load(saved)


DAMAGES: dict[str, tuple[dict[str, Any], str]] = {
    "format": ({"format": 99}, "format 99; this version reads 1"),
    "interface": ({"interface": "0123"}, "another version"),
    "game": ({"game": "chess"}, "games here are"),
    "no game": ({"game": None}, "must have"),
    "no network": ({"network": None}, "must have"),
    "network": ({"network": 5}, "network"),
    "hidden": ({"network": {"hidden": ["x"], "channels": []}}, "network"),
    "negative": ({"network": {"hidden": [-4], "channels": [8]}}, "network"),
    "huge": ({"network": {"hidden": [10**9], "channels": [8]}}, "network"),
    "truth": ({"network": {"hidden": [True], "channels": [8]}}, "network"),
    "shape": ({"network": {"hidden": [24], "channels": [8]}}, "does not fit"),
    "depth": ({"network": {"hidden": [16, 16], "channels": [8]}}, "does not fit"),
    "variants": ({"variants": "beyond(players=2)"}, "variants must be"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_card_that_does_not_fit(copy: Path, damage: str) -> None:
    changes, message = DAMAGES[damage]
    change(copy, **changes)
    with pytest.raises(CheckpointError, match=message) as caught:
        PolicyAgent.load(copy, TWO)
    assert "\n" not in str(caught.value) and str(copy) in str(caught.value)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "3", '"beyond"', "{}", "\x00\xff", '{"format": 1', "[" * 100_000])
def test_a_damaged_card(copy: Path, text: str) -> None:
    (copy / CARD_FILE).write_bytes(text.encode("latin-1"))
    with pytest.raises(CheckpointError, match=CARD_FILE):
        PolicyAgent.load(copy)


@pytest.mark.parametrize("part", [0.0, 0.0001, 0.001, 0.01, 0.3, 0.9, 0.9999])
def test_truncated_weights(copy: Path, part: float) -> None:
    whole = (copy / WEIGHTS_FILE).read_bytes()
    (copy / WEIGHTS_FILE).write_bytes(whole[: int(part * len(whole))])
    with pytest.raises(CheckpointError, match="truncated or damaged"):
        PolicyAgent.load(copy)


def test_weights_that_are_something_else(copy: Path) -> None:
    for data in (b"not weights at all" * 50, pickle.dumps({"a": 1}) * 20, bytes(1000), b"\xff" * 1000):
        (copy / WEIGHTS_FILE).write_bytes(data)
        with pytest.raises(CheckpointError, match="truncated or damaged"):
            PolicyAgent.load(copy)
    (copy / WEIGHTS_FILE).unlink()
    with pytest.raises(CheckpointError, match=WEIGHTS_FILE):
        PolicyAgent.load(copy)
    (copy / WEIGHTS_FILE).mkdir()
    with pytest.raises(CheckpointError, match=WEIGHTS_FILE):
        PolicyAgent.load(copy)


def test_weights_with_a_tensor_too_few_or_too_many(saved: Path, copy: Path) -> None:
    tensors = load_file(saved / WEIGHTS_FILE)
    save_file({name: t for name, t in tensors.items() if name != "value_net.bias"}, copy / WEIGHTS_FILE)
    with pytest.raises(CheckpointError, match=r"value_net\.bias"):
        PolicyAgent.load(copy)
    save_file(tensors | {"more": torch.zeros(3)}, copy / WEIGHTS_FILE)
    with pytest.raises(CheckpointError, match="more"):
        PolicyAgent.load(copy)


def test_weights_that_are_no_numbers(saved: Path, copy: Path) -> None:
    tensors = load_file(saved / WEIGHTS_FILE)
    tensors["value_net.bias"][0] = float("nan")
    save_file(tensors, copy / WEIGHTS_FILE)
    with pytest.raises(CheckpointError, match=r"not all weights of value_net\.bias are numbers"):
        PolicyAgent.load(copy)


@pytest.mark.parametrize("latest", ["", "[]", "{}", '{"checkpoint": 5}', '{"checkpoint": "gone"}', '{"checkpoint": null}'])
def test_a_run_whose_latest_is_damaged(tmp_path: Path, latest: str) -> None:
    (tmp_path / "latest.json").write_text(latest)
    with pytest.raises(CheckpointError, match=r"latest\.json"):
        PolicyAgent.load(tmp_path)


@pytest.mark.parametrize("path", ["/nowhere/at/all", "/dev/null", "/dev/null/x", ""])
def test_no_policy_there(path: str) -> None:
    with pytest.raises(CheckpointError, match="has no policy"):
        PolicyAgent.load(path)


def test_a_run_is_named_by_its_folder(saved: Path, tmp_path: Path) -> None:
    run = tmp_path / "my-run"
    shutil.copytree(saved, run / "checkpoints" / "step-000000000005")
    (run / "latest.json").write_text('{"checkpoint": "checkpoints/step-000000000005"}')
    assert PolicyAgent.load(run).name == PolicyAgent.load(run / "checkpoints" / "step-000000000005").name == "policy:my-run"
