"""A learned policy: its network, its files, and the agent that plays it.

Files: a folder with `policy.safetensors` (weights) and `policy.json` (what they belong to: game, variants, versions, network, seeds).
Neither runs code when it is loaded. torch is imported when a policy is made, not before.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import tabletop
from tabletop.errors import CheckpointError, RulesError, listed
from tabletop.reading import read_json
from tabletop.registry import Game
from tabletop.rules import Variant
from tabletop.sampling import check_masks

FORMAT = 1
WEIGHTS_FILE = "policy.safetensors"
CARD_FILE = "policy.json"
DEFAULT_NETWORK = {"hidden": [256, 256], "channels": [32, 32]}
MOST_UNITS = 1 << 16  # of one layer: a damaged card must not ask for all memory


def interface(game: Game) -> str:
    """Digest of what a network of this game reads and answers: the observation's layout and the actions' names."""
    parts = [(p.name, p.shape, p.typical or p.high) for p in game.layout.parts.values()]
    return hashlib.sha256(repr((parts, game.actions.names)).encode()).hexdigest()[:16]


def find_lookahead(game: Game, variants: Sequence[Variant] = ()) -> Any:
    """The game's lookahead for these variants: `LOOKAHEAD(rules)` of the module agents.<game>_lookahead, None without one. Making it
    compiles it. RulesError if one lookahead cannot serve all of them.

    It has `look(observation (n, D), action_mask (n, A)) -> (n, A + 1, F)` of the observation's dtype: F features of every action, zeros
    for those that are not legal, and in the last row of the position; `features`: their names and typical sizes; `prior`: weights of
    features that make a first player; `digest`: of all that a feature's meaning depends on; `threads`: how many it may use.
    """
    if not has_lookahead(game):
        return None
    return importlib.import_module(f"agents.{game.name}_lookahead").LOOKAHEAD(tuple(variant.rules for variant in variants) or None)


def has_lookahead(game: Game) -> bool:
    return importlib.util.find_spec(f"agents.{game.name}_lookahead") is not None


def network_spec(game: Game, hidden: Sequence[int], channels: Sequence[int], lookahead: bool = True) -> dict[str, Any]:
    """What describes a network: the sizes of its layers and, if the game has one, the lookahead that it reads."""
    spec: dict[str, Any] = {"hidden": list(hidden), "channels": list(channels)}
    if lookahead and (found := find_lookahead(game)):
        spec["lookahead"] = found.digest
    return spec


def with_lookahead(lookahead: Any, observation: np.ndarray, action_mask: np.ndarray) -> np.ndarray:
    """What the network reads: observations (n, D) followed by what the lookahead tells of them, (n, D + (A + 1) F)."""
    return np.concatenate([observation, lookahead.look(observation, action_mask).reshape(len(observation), -1)], axis=1)


def make_network(game: Game, network: dict[str, Any] | None = None, variants: Sequence[Variant] = ()) -> Any:
    """An untrained torch network: observation (n, D) -> logits (n, A), values (n,).

    Entries are scaled by the layout. Parts of three axes (planes, rows, columns) go through 3 x 3 convolutions of the given
    channels; all else, and what the convolutions give, through layers of the `hidden` sizes. A network with a `lookahead` (the
    digest of the game's) reads what that tells, of positions of these variants, behind the observation. CheckpointError if the game's
    is another one.
    """
    from agents.network import PolicyNetwork

    network = network or DEFAULT_NETWORK
    lookahead = None
    if "lookahead" in network:
        lookahead = find_lookahead(game, variants)
        if lookahead is None or lookahead.digest != network["lookahead"]:
            has = "has none" if lookahead is None else f"has {lookahead.digest}"
            raise CheckpointError(f"the network reads the lookahead {network['lookahead']} of {game.name}, which {has} in this version")
    return PolicyNetwork(game, network, lookahead)


class PolicyAgent:
    """Plays by a network. greedy: the likeliest action; otherwise actions are drawn by their probabilities."""

    def __init__(self, game: Game, network: Any, name: str = "policy", greedy: bool = True) -> None:
        self.game, self.network, self.name, self.greedy = game, network, name, greedy
        self.network.eval()

    def logits(self, observation: np.ndarray, action_mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Masked logits (n, A) float32 (-inf for what is not legal) and values (n,) in the rewards' units, for n decisions."""
        import torch

        check_masks(action_mask)
        with torch.inference_mode():
            logits, values = self.network(torch.from_numpy(np.ascontiguousarray(self.input(observation, action_mask))))
        finite = np.nan_to_num(logits.numpy())  # a legal action stays above -inf, whatever the network says
        masked = np.where(np.asarray(action_mask, np.bool_), finite, -np.inf)
        return masked, values.numpy()

    def input(self, observation: np.ndarray, action_mask: np.ndarray) -> np.ndarray:
        """What the network reads of observations (n, D): with a lookahead, also what that tells (unless it is there already)."""
        lookahead = getattr(self.network, "lookahead", None)
        if lookahead is None or observation.shape[1] > self.game.layout.size:
            return observation
        return with_lookahead(lookahead, observation, action_mask)

    def act(self, observation: np.ndarray, action_mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Actions (n,) for observation (n, D) and mask (n, A); EmptyMask if a row allows nothing."""
        masked, _ = self.logits(observation, action_mask)
        if not self.greedy:
            masked = masked + rng.gumbel(size=masked.shape)
        return masked.argmax(axis=1)

    @classmethod
    def load(cls, path: str | Path, variant: Variant | None = None, any_variant: bool = False, greedy: bool = True) -> PolicyAgent:
        """The agent of a checkpoint folder (or of a run folder: its latest checkpoint).

        variant: the one that is played, else those that it was trained for; refuse a policy that was not trained for it, unless
        any_variant. CheckpointError says what is wrong.
        """
        folder = find_policy(path)
        card = read_card(folder)
        game = tabletop.game(card["game"])
        if card["interface"] != interface(game):
            raise CheckpointError(f"{folder} is a policy of another version of {game.name}: its observation or actions have changed")
        if variant is not None and not any_variant and _by_digest(str(variant)) not in map(_by_digest, card["variants"]):
            raise CheckpointError(f"{folder} was trained for {listed(card['variants'])}, not for {variant}")
        network = make_network(game, card["network"], _variants_seen(folder, card, variant))
        load_weights(folder / WEIGHTS_FILE, network)
        run = folder.parents[1] if folder.parent.name == "checkpoints" else folder
        return cls(game, network, name=f"policy:{run.name}", greedy=greedy)


def _by_digest(variant: str) -> str:
    """A variant's text without the places of the files in it, written path@digest: a file is the same wherever it lies."""
    return re.sub(r"=[^=,()]*@(?=[0-9a-f]{12}[,)])", "=@", variant)


def _variants_seen(folder: Path, card: dict[str, Any], variant: Variant | None) -> list[Variant]:
    """The variants whose positions a policy's lookahead is to understand, if it has one."""
    if variant is not None or "lookahead" not in card["network"]:
        return [variant] if variant else []
    try:
        return [tabletop.game(card["game"]).variant(told) for told in card["variants"]]
    except RulesError as error:
        raise CheckpointError(f"{folder} plays by rules that cannot be read here: {error}") from None


def find_policy(path: str | Path) -> Path:
    """The folder of a policy: `path` itself, or what its `latest.json` names."""
    folder = Path(path)
    if (folder / CARD_FILE).is_file():
        return folder
    latest = folder / "latest.json"
    if latest.is_file():
        try:
            named = folder / str(read_json(latest)["checkpoint"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise CheckpointError(f"{latest} is damaged: {error}") from None
        if (named / CARD_FILE).is_file():
            return named
    raise CheckpointError(f"{folder} has no policy: there is neither {CARD_FILE} nor a latest.json that names a folder with one")


def read_card(folder: Path) -> dict[str, Any]:
    """What stands in a checkpoint's policy.json, checked."""
    try:
        card = read_json(folder / CARD_FILE)
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{folder / CARD_FILE} cannot be read: {str(error).splitlines()[0]}") from None
    needed = ("format", "game", "variants", "interface", "network")
    if not isinstance(card, dict) or any(key not in card for key in needed):
        raise CheckpointError(f"{folder / CARD_FILE} is damaged: it must have {listed(needed)}")
    if not _is_list_of(str, card["variants"]) or not _is_network(card["network"]):
        raise CheckpointError(f"{folder / CARD_FILE} is damaged: variants must be texts, network the sizes of its layers")
    if card["format"] != FORMAT:
        raise CheckpointError(f"{folder} has checkpoint format {card['format']}; this version reads {FORMAT}")
    if card["game"] not in tabletop.games():
        raise CheckpointError(f"{folder} is a policy of {card['game']!r}; games here are {listed(tabletop.games())}")
    return card


def _is_list_of(kind: type, values: Any) -> bool:
    return isinstance(values, list) and all(type(value) is kind for value in values)


def _is_network(network: Any) -> bool:
    if not isinstance(network, dict) or not isinstance(network.get("lookahead", ""), str):
        return False
    if not all(_is_list_of(int, network.get(key)) for key in DEFAULT_NETWORK):
        return False
    return all(0 < size <= MOST_UNITS for key in DEFAULT_NETWORK for size in network[key])


def make_card(game: Game, variants: Sequence[Variant], network: dict[str, Any], **more: Any) -> dict[str, Any]:
    """What is written into policy.json."""
    from importlib.metadata import version

    versions = {name: version(name) for name in ("beyond-away", "numpy", "torch")}
    return {
        "format": FORMAT,
        "game": game.name,
        "variants": [str(v) for v in variants],
        "interface": interface(game),
        "network": network,
        "versions": versions,
        **more,
    }


def save_weights(path: Path, network: Any) -> None:
    """Write a network's weights as safetensors; OSError says why that is not possible."""
    save_tensors(path, {name: value.contiguous() for name, value in network.state_dict().items()})


def save_tensors(path: Path, tensors: dict[str, Any]) -> None:
    """Write torch tensors as safetensors; OSError says why that is not possible."""
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    try:
        save_file(tensors, path)
    except SafetensorError as error:  # its own name for a full disk too
        raise OSError(f"cannot write {path}: {' '.join(str(error).split())}") from None


def load_weights(path: Path, network: Any) -> None:
    """Read weights into a network of the same shape; CheckpointError if they are damaged or of another shape."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        weights = load_file(path)
    except (OSError, SafetensorError, ValueError) as error:
        raise CheckpointError(f"{path} cannot be read (truncated or damaged): {str(error).splitlines()[0]}") from None
    if broken := [name for name, value in weights.items() if not value.isfinite().all()]:
        raise CheckpointError(f"{path} is damaged: not all weights of {listed(broken)} are numbers")
    try:
        network.load_state_dict(weights)
    except RuntimeError as error:
        raise CheckpointError(f"{path} does not fit the network its policy.json describes: {' '.join(str(error).split())[:200]}") from None
