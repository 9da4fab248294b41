"""The games of a tournament as arrays, and what the schedule and the report read off them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise

import numpy as np

from training.ratings import comparisons, fit
from training.sequential import Sure, settle
from training.statistics import Share, share_by_deal


@dataclass(frozen=True)
class Results:
    """Games g (n of them) of agents `names`, for tables of `seats` seats. deal (n,); seating (n, seats): agent by index; share,
    decisions, milliseconds (n, seats), milliseconds being those of a decision; truncated (n,); fault_seat (n,): -1 for none;
    fault_kind, fault_reason (n,)."""

    names: tuple[str, ...]
    seats: int
    deal: np.ndarray
    seating: np.ndarray
    share: np.ndarray
    decisions: np.ndarray
    milliseconds: np.ndarray
    truncated: np.ndarray
    fault_seat: np.ndarray
    fault_kind: np.ndarray
    fault_reason: np.ndarray

    @classmethod
    def of(cls, columns: dict[str, np.ndarray], names: tuple[str, ...], seats: int) -> Results:
        """From the columns of the blocks (`training.arena_block`), or of none."""
        if not columns:
            empty = {"deal": np.zeros(0, np.int64), "truncated": np.zeros(0, bool), "fault_seat": np.zeros(0, np.int8)}
            columns = empty | {"fault_kind": np.zeros(0, object), "fault_reason": np.zeros(0, object)}
            columns |= {f"agent_{k}": np.zeros(0, object) for k in range(seats)}
            columns |= {f"{what}_{k}": np.zeros(0) for what in ("share", "decisions", "milliseconds") for k in range(seats)}
        index = {name: k for k, name in enumerate(names)}
        seating = np.array([[index[name] for name in columns[f"agent_{k}"]] for k in range(seats)], np.int64).T.reshape(-1, seats)
        by_seat = {what: np.stack([columns[f"{what}_{k}"] for k in range(seats)], 1) for what in ("share", "decisions", "milliseconds")}
        same = {what: columns[what] for what in ("deal", "truncated", "fault_seat", "fault_kind", "fault_reason")}
        return cls(names, seats, seating=seating, **by_seat, **same)

    def __len__(self) -> int:
        return len(self.deal)

    @cached_property
    def wins(self) -> np.ndarray:
        """Wins of agents against agents on each deal, (deals, agents, agents), for `training.ratings`."""
        return comparisons(self.deal, self.seating, self.share, len(self.names))[1]

    def mean_share(self, agent: int) -> tuple[np.ndarray, np.ndarray]:
        """Of the games that an agent is in: their indices, and its share of the victory for a seat it holds."""
        mine = self.seating == agent
        games = np.flatnonzero(mine.any(axis=1))
        return games, (self.share * mine)[games].sum(axis=1) / mine[games].sum(axis=1)

    def against(self, a: int, b: int) -> tuple[np.ndarray, np.ndarray]:
        """The deals of the games that both agents are in, and a's score in each: 0.5 + half of what a seat of a's got more of the
        victory than one of b's. With two players this is a's share."""
        games_a, share_a = self.mean_share(a)
        games_b, share_b = self.mean_share(b)
        games, at_a, at_b = np.intersect1d(games_a, games_b, assume_unique=True, return_indices=True)
        return self.deal[games], 0.5 + (share_a[at_a] - share_b[at_b]) / 2

    def score(self, a: int, b: int) -> Share | None:
        """a's score against b with its interval; None if they have not met."""
        deal, score = self.against(a, b)
        return share_by_deal(deal, score) if len(deal) else None

    def settled(self, a: int, b: int, error: float = 0.05) -> Sure:
        """Is a better than b, or worse? `error`: of the whole ranking; each pair of agents has its part of it (Bonferroni).

        The observations are the scores of the deals, in the order of the deals, which is the order of the rounds.
        """
        deal, score = self.against(a, b)
        pairs = len(self.names) * (len(self.names) - 1) // 2
        _, place = np.unique(deal, return_inverse=True)
        per_deal = np.bincount(place, score) / np.bincount(place) if len(deal) else np.zeros(0)
        return settle(np.clip(per_deal, 0.0, 1.0), error / pairs)

    def ranking(self) -> list[int]:
        """The agents by rating, best first."""
        values = fit(self.wins.sum(axis=0)).round(2)  # equals in the order of their names, whatever the last digits say
        return sorted(range(len(self.names)), key=lambda agent: (-values[agent], agent))

    def open_pairs(self, error: float = 0.05) -> list[tuple[int, int]]:
        """Neighbours in the ranking whose order is not settled."""
        return [(a, b) for a, b in pairwise(self.ranking()) if self.settled(a, b, error).sign == 0]

    def pairs(self) -> list[tuple[int, int]]:
        return list(combinations(range(len(self.names)), 2))
