"""How strong is an agent: games against each baseline on common deals, seats rotated, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agents.named import baselines
from tabletop.agent import Player
from tabletop.registry import Game
from tabletop.rules import Variant
from training.play import play
from training.statistics import Share, share_by_deal

MOST_GAMES = 1_000_000  # against one opponent: all of them are kept until the last is over


@dataclass(frozen=True)
class Result:
    """An agent's share of the victory against opponents of one kind in one variant."""

    variant: str
    opponent: str
    share: Share
    decisions: float  # per game
    cut_off: float  # share of the games

    def row(self) -> dict[str, object]:
        s = self.share
        return {
            "variant": self.variant,
            "opponent": self.opponent,
            "share": s.mean,
            "low": s.low,
            "high": s.high,
            "games": s.games,
            "deals": s.deals,
            "decisions_per_game": self.decisions,
            "cut_off": self.cut_off,
        }


def evaluate(
    game: Game,
    agent: Player,
    variants: Sequence[Variant],
    games: int = 2000,
    seed: int = 10_000,
    opponents: Sequence[Player] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Result]:
    """`agent` against each of the opponents (default: every baseline of the game), about `games` games each.

    In a game of more than two players the opponent takes all other seats, so an equal agent gets 1/players of the victories.
    """
    if not 1 <= games <= MOST_GAMES:
        raise ValueError(f"games must be at least 1 and at most {MOST_GAMES:,}, not {games}")
    results = []
    for variant in variants:
        for rival in baselines(game, variant) if opponents is None else opponents:
            deals = max(games // variant.players, 1)
            played = play(game, variant, [agent, rival], deals, seed, progress=progress)
            share = share_by_deal(played.deal, played.share_of(0))
            results.append(
                Result(str(variant), rival.name, share, float(played.decisions.mean()), float(played.truncated.mean()))
            )
    return results
