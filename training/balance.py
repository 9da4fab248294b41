"""The balance sheet of a variant: what is measured of every game, the same for all games and what a game adds of its own.

`BalanceWatch` watches games of `training.play.play` and leaves a column of numbers for each metric, one number a game. What a game
adds stands in `BALANCE` of the module `training.<game>_balance`, if there is one (see `Balance`).
"""

from __future__ import annotations

import importlib
import importlib.util
import re
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

import tabletop
from tabletop.registry import Game
from tabletop.rules import Variant
from training.play import Games


@dataclass(frozen=True)
class Metric:
    """A number that every game has. share: it is a share or a truth (0 to 1), told in per cent; compared: it is among what variants
    are compared by (not what follows from others that are)."""

    name: str
    title: str
    group: str
    share: bool = False
    compared: bool = True


class Balance(Protocol):
    """What a game measures of its own. Made once for each watch; all arguments are arrays of records."""

    #: metrics that count actions: each with a pattern that the whole name of an action matches
    COUNTED: ClassVar[tuple[tuple[Metric, str], ...]]
    #: metrics that count what happens in decisions but is not told by the action's name
    EVENTS: ClassVar[tuple[Metric, ...]]
    #: metrics told by the last position
    ENDINGS: ClassVar[tuple[Metric, ...]]

    def __init__(self, game: Game) -> None: ...

    def events(self, records: np.ndarray, rows: np.ndarray, actions: np.ndarray) -> dict[str, np.ndarray]:
        """The rows in which each of EVENTS happens when actions[j] is done in records[rows[j]]."""
        ...

    def rounds(self, records: np.ndarray) -> np.ndarray:
        """Rounds begun (n,), from 1."""
        ...

    def standing(self, records: np.ndarray) -> np.ndarray:
        """How far each seat is, (n, P): the seat with most leads. Seats that do not play are ignored."""
        ...

    def endings(self, records: np.ndarray) -> dict[str, np.ndarray]:
        """ENDINGS of games that are over, (n,) each."""
        ...


DECISIONS = Metric("decisions", "decisions per game", "length")
CUT_OFF = Metric("cut_off", "games cut off", "ending", share=True)
CHOICES = Metric("choices", "legal actions per decision", "choices")
FIRST = Metric("first_agent", "share of the victory of the first agent named", "skill", share=True)
ROUNDS = Metric("rounds", "rounds per game", "length")
LEAD_CHANGES = Metric("lead_changes", "changes of the lead per game", "drama")
SETTLED = Metric("settled", "share of the game until the winner leads for good", "drama")
LED_HALF_WAY = Metric("led_half_way", "games won by who led (or shared the lead) half way", "drama", share=True)


def seat_metric(seat: int, players: int) -> Metric:
    """The share of the victory of one seat. The last seat's follows from the others'."""
    return Metric(f"seat_{seat}", f"share of the victory of seat {seat}", "seats", share=True, compared=seat < players - 1)


def own_balance(game: Game) -> Balance | None:
    """What the game measures of its own, if it says so."""
    name = f"training.{game.name}_balance"
    return importlib.import_module(name).BALANCE(game) if importlib.util.find_spec(name) is not None else None


def metrics(game: Game, variant: Variant, agents: int = 1) -> list[Metric]:
    """All metrics of a variant's balance sheet, in the order shown. agents: how many different ones play at a table."""
    own = own_balance(game)
    seats = [seat_metric(seat, variant.players) for seat in range(variant.players)]
    drama = [ROUNDS, DECISIONS, LEAD_CHANGES, SETTLED, LED_HALF_WAY] if own else [DECISIONS]
    counted = [m for m, _ in own.COUNTED] + list(own.EVENTS) if own else []
    return [*seats, *([FIRST] if agents > 1 else []), *(own.ENDINGS if own else ()), CUT_OFF, *drama, CHOICES, *counted]


class BalanceWatch:
    """Watches games and makes the columns: a `Watcher` of `play`."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.own = own_balance(game)
        self.parts: list[dict[str, np.ndarray]] = []
        self.counted: list[tuple[str, np.ndarray]] = []  # name of a metric, the classes of actions that it counts
        names = game.actions.names
        patterns = [re.compile(pattern) for _, pattern in self.own.COUNTED] if self.own else []
        hits = np.array([[bool(p.fullmatch(name)) for p in patterns] for name in names], np.bool_).reshape(len(names), -1)
        classes, self.class_of = np.unique(hits, axis=0, return_inverse=True)  # actions counted by the same metrics
        self.classes = len(classes)
        if self.own:
            self.counted = [(m.name, np.flatnonzero(classes[:, k])) for k, (m, _) in enumerate(self.own.COUNTED)]

    def begin(self, tables: tabletop.Tables) -> None:
        n, seats = tables.num_tables, tables.max_players
        self.players = int(tables.records["players"][0])
        self.counts = np.zeros((n, self.classes), np.int32)
        self.legal = np.zeros(n, np.int64)
        self.decisions = np.zeros(n, np.int64)
        if self.own:
            self.happened = {metric.name: np.zeros(n, np.int32) for metric in self.own.EVENTS}
            self.round = np.zeros(n, np.int16)
            self.leader = np.full(n, -1, np.int8)  # the last seat that led alone
            self.changes = np.zeros(n, np.int16)
            self.behind = np.zeros((n, seats), np.int16)  # the last round at whose beginning the seat was behind
            self.leads = np.zeros((n, 128), np.uint8)  # who led or shared the lead as each round began, as bits

    def watch(self, tables: tabletop.Tables, rows: np.ndarray, actions: np.ndarray) -> None:
        self.legal[rows] += np.count_nonzero(tables.action_mask[rows], axis=1)
        self.decisions[rows] += 1
        self.counts[rows, self.class_of[actions]] += 1
        if not self.own:
            return
        for name, where in self.own.events(tables.records, rows, actions).items():
            self.happened[name][where] += 1
        rounds = self.own.rounds(tables.records)[rows]
        new = rounds > self.round[rows]
        if new.any():
            self._take_standing(tables.records, rows[new], rounds[new])

    def _take_standing(self, records: np.ndarray, rows: np.ndarray, rounds: np.ndarray) -> None:
        """A round has begun: who leads?"""
        assert self.own is not None
        standing = self.own.standing(records[rows])[:, : self.players]
        leads = standing == standing.max(axis=1, keepdims=True)
        alone = leads.sum(axis=1) == 1
        leader, before = leads.argmax(axis=1), self.leader[rows]
        self.changes[rows] += alone & (before >= 0) & (before != leader)
        self.leader[rows] = np.where(alone, leader, before)
        seats = np.arange(self.players)
        behind = np.where(leads, self.behind[rows][:, seats], rounds[:, None])
        self.behind[rows[:, None], seats] = behind
        self.leads[rows, np.minimum(rounds, 127)] = leads @ (1 << seats)
        self.round[rows] = rounds

    def end(self, tables: tabletop.Tables) -> None:
        records, columns = tables.records, {}
        columns["choices"] = self.legal / self.decisions
        for name, classes in self.counted:
            columns[name] = self.counts[:, classes].sum(axis=1).astype(np.float64)
        if self.own:
            columns |= {name: count.astype(np.float64) for name, count in self.happened.items()}
            columns |= {name: np.asarray(value, np.float64) for name, value in self.own.endings(records).items()}
            columns |= self._drama(self.own.rounds(records), records["won"][:, : self.players] > 0)
        self.parts.append(columns)

    def _drama(self, rounds: np.ndarray, won: np.ndarray) -> dict[str, np.ndarray]:
        """A game without a winner is never settled and counts 1; of several winners the mean is taken."""
        winners = won.sum(axis=1)
        settled = np.where(won, self.behind[:, : self.players], 0).sum(axis=1) / np.maximum(winners, 1) / rounds
        leads, row = self.leads, np.arange(rounds.size)
        half = np.minimum((rounds + 1) // 2, 127)
        while (unknown := (leads[row, half] == 0) & (half > 0)).any():  # a round of forced decisions only
            half = half - unknown
        led = (leads[row, half][:, None] >> np.arange(self.players)) & 1
        return {
            "rounds": rounds.astype(np.float64),
            "lead_changes": self.changes.astype(np.float64),
            "settled": np.where(winners > 0, settled, 1.0),
            "led_half_way": np.where(winners > 0, (led & won).sum(axis=1) / np.maximum(winners, 1), 0.0),
        }

    def columns(self, games: Games) -> dict[str, np.ndarray]:
        """One number a game for every metric, and `deal`: the games being what `play` returned."""
        told = {name: np.concatenate([part[name] for part in self.parts]) for name in self.parts[0]}
        seats = {f"seat_{seat}": games.share[:, seat] for seat in range(games.share.shape[1])}
        first = {"first_agent": games.share_of(0)} if games.seating.max() > 0 else {}
        fixed: dict[str, Any] = {"deal": games.deal.astype(np.int64), **seats, **first}
        return {**fixed, "decisions": games.decisions.astype(np.float64), "cut_off": games.truncated.astype(np.float64), **told}
