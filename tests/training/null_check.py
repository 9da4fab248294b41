"""Are the intervals of the variant lab honest? The same variant under two names, in many small studies, and a planted difference.

    python -m tests.training.null_check --studies 1000 --workers 2

For each metric: in how many of the studies the 95 % interval of a difference that is none covers zero; how often a study shows any
difference after Holm's correction; and how often a difference that is there is found.

Agents that play the same on the same deals would differ by exactly nothing. So every tenth action of the heuristic is random here,
drawn anew for each name. On common deals, as the lab pairs them, the deals cancel and this noise is left; with the deals of the next
study for the second name, all chance is in the difference. The games are short ones (RULES). The planted difference is looked for in the
first fifth of the studies.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

import tabletop
from agents import named
from tabletop.agent import Agent
from tabletop.registry import Game
from tabletop.sampling import random_actions
from training.balance import Metric, metrics
from training.comparison import Columns, Difference, differences, holm
from training.variants import design, new_study
from training.variants_run import Lab


class Noisy:
    """The heuristic, every tenth action being a random one."""

    def __init__(self, game: Game) -> None:
        heuristic = named.heuristic(game)
        assert heuristic is not None
        self.heuristic: Agent = heuristic
        self.name = "noisy"

    def act(self, observation: np.ndarray, action_mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        best = self.heuristic.act(observation, action_mask, rng)
        return np.where(rng.random(len(best)) < 0.1, random_actions(action_mask, rng), best)


NOISY = "tests.training.null_check:Noisy"
RULES = "end_depletions=1"
PLANTED = "start_tokens=4"


def arms(folder: Path, studies: int, deals: int, workers: int, told: Callable[[float, str], None] | None = None) -> dict[str, Columns]:
    """What was played, on common deals: `default`, `twin` and `planted`."""
    game = tabletop.game("beyond")
    cells = design(game, [], also=["twin: ", f"planted: {PLANTED}"], rules=RULES)
    asked = {"common": (cells[:2], studies * deals), "planted": (cells[2:], planted_studies(studies) * deals)}
    found = {
        name: Lab(new_study(game, chosen, [NOISY], games), folder / name, [games], workers).run(told).columns
        for name, (chosen, games) in asked.items()
    }
    return {"default": found["common"][0, 0], "twin": found["common"][1, 0], "planted": found["planted"][0, 0]}


def planted_studies(studies: int) -> int:
    return max(studies // 5, 1)


def part(columns: Columns, first: int, size: int, shift: int = 0) -> Columns:
    """The games of `size` deals from `first` on, their deals numbered lower by `shift`."""
    found = {}
    for name, (deal, values) in columns.items():
        lo, hi = np.searchsorted(deal, [first, first + size])
        found[name] = (deal[lo:hi] - shift, values[lo:hi])
    return found


class Coverage:
    """How often intervals cover zero, by metric, and how often studies show anything."""

    def __init__(self) -> None:
        self.covered: dict[str, list[bool]] = {}
        self.shown: list[bool] = []

    def add(self, found: list[Difference]) -> None:
        for d in found:
            self.covered.setdefault(d.metric.name, []).append(d.low <= 0 <= d.high)
        self.shown.append(min(holm([d.p for d in found]), default=1.0) < 0.05)

    def share(self, metric: str) -> float:
        return float(np.mean(self.covered[metric]))


def check(played: dict[str, Columns], studies: int, deals: int) -> dict[str, Coverage]:
    """Both kinds of studies without a difference, and those with the planted one."""
    game = tabletop.game("beyond")
    compared = metrics(game, game.variant())
    found = {"common deals": Coverage(), "own deals": Coverage(), "planted": Coverage()}
    for study in range(studies):
        first = study * deals
        a = part(played["default"], first, deals)
        found["common deals"].add(differences(compared, part(played["twin"], first, deals), a))
        others = (study + 1) % studies * deals
        found["own deals"].add(differences(compared, part(played["twin"], others, deals, others - first), a))
        if study < planted_studies(studies):
            found["planted"].add(differences(compared, part(played["planted"], first, deals), a))
    return found


def large(played: dict[str, Columns], deals: int) -> list[Difference]:
    """The planted difference in one study of all deals, corrected."""
    game = tabletop.game("beyond")
    compared: list[Metric] = metrics(game, game.variant())
    found = differences(compared, part(played["planted"], 0, deals), part(played["default"], 0, deals))
    return [d for d, p in zip(found, holm([d.p for d in found]), strict=True) if p < 0.05]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=1000)
    parser.add_argument("--deals", type=int, default=60, help="deals of a study")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, default=None, help="keep what is played here, and go on with it")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.out or Path(temporary)
        played = arms(folder, given.studies, given.deals, given.workers, lambda share, text: print(f"{share:.0%} {text}", flush=True))
        found = check(played, given.studies, given.deals)
        print(f"\n{given.studies:,} studies of {given.deals} deals each; share of the intervals that cover zero:\n")
        print("| metric | games in which it is not 0 | common deals | own deals |\n| --- | ---: | ---: | ---: |")
        for name in found["common deals"].covered:
            often = float((played["default"][name][1] != 0).mean())
            shares = (100 * found[kind].share(name) for kind in ("common deals", "own deals"))
            print(f"| {name} | {100 * often:.1f} % | " + " | ".join(f"{share:.1f} %" for share in shares) + " |")
        for kind in ("common deals", "own deals"):
            every = np.concatenate([np.asarray(values) for values in found[kind].covered.values()])
            shown = 100 * np.mean(found[kind].shown)
            print(f"\n{kind}: {100 * every.mean():.2f} % of all intervals; some difference shown in {shown:.1f} % of the studies")
        shown = 100 * np.mean(found["planted"].shown)
        print(f"\nplanted ({PLANTED} against 2): some difference shown in {shown:.1f} % of the studies")
        for d in large(played, min(2000, planted_studies(given.studies) * given.deals)):
            print(f"- in one study of {d.deals:,} deals: {d}")


if __name__ == "__main__":
    main()
