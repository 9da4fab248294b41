"""What can be set about a training run, and the presets."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from agents.policy import MOST_UNITS, has_lookahead
from tabletop.registry import Game
from training.evaluate import MOST_GAMES


@dataclass(frozen=True)
class TrainConfig:
    """Train a self-play agent: a warm start by imitating the game's heuristic, then MaskablePPO against frozen past selves, the
    heuristic and the random player."""

    preset: str = "quick"
    """quick (about five minutes on two cores), standard (about forty), or smoke (seconds: to see that it works)"""
    players: tuple[int, ...] = (2,)
    """numbers of players to train for"""
    rules: tuple[str, ...] = ("",)
    """rules to train for, each a string "option=value,…"; every number of players plays all of them"""
    out: Path | None = None
    """the run's folder (default: runs/GAME-SEED-PRESET, or the next of that name with a number)"""
    resume: bool = False
    """go on with the run in the folder from its last checkpoint"""
    seed: int = 0
    minutes: float | None = None
    """length of the run; the preset's if neither this nor decisions is given"""
    decisions: int | None = None
    """length of the run in decisions of the learner, instead of minutes: the run can be repeated exactly"""
    imitate: float | None = None
    """share of the run that the warm start takes (0: none); the preset's if not given, with a lookahead 0.05"""
    threads: int = 0
    """threads of torch; 0: as many as the machine has cores, at most 2"""
    tables: int = 0
    """games side by side; 0: the preset's (256, smoke 32)"""
    steps: int = 0
    """decisions at each table between updates; 0: the preset's (64, smoke 32)"""
    epochs: int = 3
    batch: int = 2048
    learning_rate: float | None = None
    """at the start of self-play, from where it falls; 0.0003 if not given, with a lookahead 0.0006"""
    gamma: float = 1.0
    gae_lambda: float = 0.97
    clip: float = 0.2
    entropy: float | None = None
    """weight of the entropy; 0.003 if not given, with a lookahead 0.001"""
    target_kl: float = 0.0
    """an update ends early when the policy has moved away so far; 0: never"""
    lookahead: bool = True
    """read what the game's lookahead tells of every action, for games that have one"""
    hidden: tuple[int, ...] = (256, 256)
    """sizes of the network's layers"""
    channels: tuple[int, ...] = ()
    """channels of its convolutions, for games with planes in their observation; 32 32 if not given, with a lookahead 16 16"""
    opponent_heuristic: float | None = None
    """share of games against the heuristic; 0.4 if not given, with a lookahead 0.8"""
    opponent_random: float = 0.02
    """share of games against the random player; the rest is against past selves"""
    snapshot_every: int = 8
    """updates between two past selves"""
    past_selves: int = 12
    """most past selves kept"""
    shaping: float = 0.0
    """weight of potential-based shaping by the way home (Ng, Harada, Russell 1999), for games whose observation tells it"""
    evaluate_every: float = 0.0
    """share of the run between evaluations; 0: the preset's"""
    evaluate_games: int = 0
    """games against each baseline in an evaluation during the run; 0: the preset's (400, smoke 40)"""
    final_games: int = 0
    """games against each baseline at the end; 0: the preset's (2000, smoke 100)"""
    checkpoint_minutes: float = 1.0
    """minutes between checkpoints"""
    quiet: bool = False
    """no progress bar"""

    def with_preset(self, game: Game | None = None) -> TrainConfig:
        """The settings with what the preset gives, for that game, filled in."""
        if self.preset not in PRESETS:
            raise ValueError(f"preset must be one of {', '.join(PRESETS)}, not {self.preset!r}")
        if self.minutes is not None and self.decisions is not None:
            raise ValueError("give minutes or decisions, not both")
        self._check_kinds()
        self._check_numbers()
        chosen = {**COMMON, **PRESETS[self.preset]}
        if game and self.lookahead and has_lookahead(game):
            chosen |= WITH_LOOKAHEAD | PRESETS_WITH_LOOKAHEAD[self.preset]
        if self.decisions is not None:
            del chosen["minutes"]
        given = {name: getattr(self, name) for name in chosen}
        missing = {n: v for n, v in chosen.items() if given[n] in (None, ()) or (given[n] == 0 and n not in SHARES)}
        settings = dataclasses.replace(self, **missing)
        size = settings.tables * settings.steps
        if size % min(settings.batch, size) == 1 or size == 1:  # whose advantage, divided by the deviation of one number, is no number
            raise ValueError(f"tables x steps is {size}: batches of {settings.batch} leave one of a single decision; change one of them")
        return settings

    def _check_kinds(self) -> None:
        for name, kind in get_type_hints(TrainConfig).items():
            if not _is_of(kind, value := getattr(self, name)):
                told = f"a tuple of {get_args(kind)[0].__name__}" if get_origin(kind) is tuple else getattr(kind, "__name__", str(kind))
                raise ValueError(f"{name} must be {told.replace('pathlib.', '')}, not {value!r}")

    def _check_numbers(self) -> None:
        for name, (low, high) in LIMITS.items():
            given = getattr(self, name)
            for value in given if isinstance(given, tuple | list) else (given,):
                if value is not None and not low <= value <= high:
                    limits = f"at least {low:g}" if high == math.inf else f"{low:g} to {high:.0f}"
                    raise ValueError(f"{name} must be {limits}, not {value}")
        for name in ("minutes", "learning_rate"):
            if (value := getattr(self, name)) is not None and not 0 < value < math.inf:
                raise ValueError(f"{name} must be above 0, not {value}")
        if (self.opponent_heuristic or 0.0) + self.opponent_random > 1:
            raise ValueError("opponent_heuristic and opponent_random are shares of the games: together at most 1")
        for name in ("players", "rules"):
            if not getattr(self, name):
                raise ValueError(f"{name}: name at least one")

    def json(self) -> dict[str, Any]:
        return {k: str(v) if isinstance(v, Path) else v for k, v in dataclasses.asdict(self).items()}


def _is_of(kind: Any, value: Any) -> bool:
    """Is a value of the kind that a field is annotated with? A whole number is a number too, a truth is neither."""
    if get_origin(kind) is tuple:
        return isinstance(value, tuple | list) and all(_is_of(get_args(kind)[0], part) for part in value)
    if get_args(kind):
        return any(_is_of(one, value) for one in get_args(kind))
    if kind in (int, float):
        return isinstance(value, int if kind is int else int | float) and not isinstance(value, bool)
    return isinstance(value, kind)


#: Smallest and largest value (of each, where there are several).
LIMITS: dict[str, tuple[float, float]] = {
    "seed": (0, 2**32 - 1),
    "imitate": (0, 1),
    "gamma": (0, 1),
    "gae_lambda": (0, 1),
    "opponent_heuristic": (0, 1),
    "opponent_random": (0, 1),
    "threads": (0, 1024),
    "clip": (0, math.inf),
    "entropy": (0, math.inf),
    "checkpoint_minutes": (0, math.inf),
    **dict.fromkeys(("evaluate_every", "shaping", "target_kl"), (0, math.inf)),
    **dict.fromkeys(("tables", "steps"), (0, 1 << 16)),
    **dict.fromkeys(("evaluate_games", "final_games"), (0, MOST_GAMES)),
    "batch": (2, math.inf),
    **dict.fromkeys(("hidden", "channels"), (1, MOST_UNITS)),
    **dict.fromkeys(("decisions", "epochs", "snapshot_every", "past_selves"), (1, math.inf)),
}

SHARES = ("imitate", "opponent_heuristic", "entropy")  # of which 0 is a value of its own, and None what is not given

COMMON: dict[str, Any] = {
    "tables": 256, "steps": 64, "evaluate_every": 0.1, "evaluate_games": 400, "final_games": 2000, "channels": (32, 32),
    "opponent_heuristic": 0.4, "learning_rate": 3e-4, "entropy": 0.003,
}  # fmt: skip

PRESETS: dict[str, dict[str, Any]] = {
    "smoke": {"minutes": 0.2, "imitate": 0.4, "tables": 32, "steps": 32, "evaluate_games": 40, "final_games": 100, "evaluate_every": 0.5},
    "quick": {"minutes": 4.5, "imitate": 0.35},
    "standard": {"minutes": 40.0, "imitate": 0.12, "evaluate_every": 0.05},
}

#: What is otherwise for a game with a lookahead, in all presets or in one. Its network begins as a player: the warm start has only to
#: show it how games end, and larger steps do no harm. Looking ahead costs more than a small network, in evaluations too.
WITH_LOOKAHEAD: dict[str, Any] = {
    "imitate": 0.05, "channels": (16, 16), "opponent_heuristic": 0.8, "learning_rate": 6e-4, "entropy": 0.001,
}  # fmt: skip
PRESETS_WITH_LOOKAHEAD: dict[str, dict[str, Any]] = {
    "smoke": {"evaluate_games": 6, "final_games": 20},
    "quick": {"evaluate_every": 0.25, "evaluate_games": 100},
    "standard": {"evaluate_every": 0.1, "evaluate_games": 200},
}


def run_folder(game: Game, config: TrainConfig) -> Path:
    """The folder of a run that names none: runs/GAME-SEED-PRESET, with -2, -3, … for further ones. To resume: the last there is."""
    first = Path("runs") / f"{game.name}-{config.seed}-{config.preset}"
    path, number = first, 1
    while (path / "latest.json").exists():
        number += 1
        path, before = first.with_name(f"{first.name}-{number}"), path
        if config.resume and not (path / "latest.json").exists():
            return before
    return path
