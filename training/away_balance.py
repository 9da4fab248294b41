"""What a_way's balance sheet has of its own. Everything is found by the names of actions and fields of the record."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from tabletop.registry import Game
from training.balance import Metric

ACTION_CARDS = (
    "hyperdrive", "solar_wind", "pirate_raid", "solar_rotation", "unstable_field", "cosmic_compass", "solar_tornado", "solar_storm",
    "nebula_deviation", "super_nebula", "black_hole", "unknown_fate", "scrapyard",
)  # fmt: skip
WIDTH = 11  # cells in a row of `board`


class AwayBalance:
    """Arrivals, the ways home, and how often each action card is played from the hand."""

    COUNTED: ClassVar[tuple[tuple[Metric, str], ...]] = (
        (Metric("moves", "moves of the own ship chosen per game", "play"), r"move"),
        (Metric("discards", "cards discarded per game", "play"), r"discard:.*"),
        (Metric("laid", "exploration cards laid from the hand per game", "play"), rf"play:(?!({'|'.join(ACTION_CARDS)})\.).*"),
        (Metric("action_cards", "action cards played from the hand per game", "play"), rf"play:({'|'.join(ACTION_CARDS)})\..*"),
        *((Metric(card, f"{card} played from the hand per game", "play"), rf"play:{card}\..*") for card in ACTION_CARDS),
    )
    EVENTS: ClassVar[tuple[Metric, ...]] = (Metric("without_way", "decisions of a ship without a way home per game", "drama"),)
    ENDINGS: ClassVar[tuple[Metric, ...]] = (
        Metric("single_arrival", "ended by a single arrival", "ending", share=True),
        Metric("several_arrivals", "ended by several arrivals in the last round", "ending", share=True),
    )

    def __init__(self, game: Game) -> None:
        self.no_way = 127  # `moves_home` when no lanes lead home
        self.home_base = np.arange(game.rules.max_players) ^ 1  # home is the base that the seat opposite starts on

    def events(self, records: np.ndarray, rows: np.ndarray, actions: np.ndarray) -> dict[str, np.ndarray]:
        return {"without_way": rows[records["moves_home"][rows, records["seat"][rows]] == self.no_way]}

    def rounds(self, records: np.ndarray) -> np.ndarray:
        return records["round"].astype(np.int64)

    def standing(self, records: np.ndarray) -> np.ndarray:
        """The fewer moves home by the lanes as they lie, the farther. Ships without a way are behind all others; among them, those
        with fewer cells between them and their home lead."""
        ship, home = records["ship"].astype(np.int64), records["base"][:, self.home_base].astype(np.int64)
        cells = abs(ship // WIDTH - home // WIDTH) + abs(ship % WIDTH - home % WIDTH)
        moves = records["moves_home"].astype(np.int64)
        return -np.where(records["home"] > 0, -1, np.where(moves < self.no_way, moves, self.no_way + cells))

    def endings(self, records: np.ndarray) -> dict[str, np.ndarray]:
        arrived = records["home"].sum(axis=1)
        return {"single_arrival": arrived == 1, "several_arrivals": arrived > 1}


BALANCE = AwayBalance
