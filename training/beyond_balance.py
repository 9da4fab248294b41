"""What Beyond's balance sheet has of its own. Everything is found by the names of actions, options and fields of the record."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from tabletop.registry import Game
from training.balance import Metric

SPIRITS = ("vermilion_bird", "turtle_snake", "azure_dragon", "metal_tiger", "unicorn")
ALL_NIAN = 6


class BeyondBalance:
    """Endings, points, and how often cards are captured, busts happen, tokens are laid."""

    COUNTED: ClassVar[tuple[tuple[Metric, str], ...]] = (
        (Metric("captures", "captures per game", "play"), r"capture:.*"),
        (Metric("nian_captures", "captures of Nian Shou per game", "play"), r"capture:\d:nian"),
        (Metric("rescues", "rescues per game", "play"), r"rescue:.*"),
        (Metric("enchantments", "enchantments per game", "play"), r"enchant:.*"),
        (Metric("protections", "protections per game", "play"), r"protect:.*"),
        (Metric("summons", "summons per game", "play"), r"summon:.*"),
        *((Metric(f"summons_{spirit}", f"summons of {spirit} per game", "play"), f"summon:{spirit}") for spirit in SPIRITS),
    )
    EVENTS: ClassVar[tuple[Metric, ...]] = (
        Metric("busts", "busts per game", "play"),
        Metric("nian_busts", "busts that bring a Nian Shou per game", "play"),
    )
    ENDINGS: ClassVar[tuple[Metric, ...]] = (
        Metric("ended_spirits", "ended by enchanted spirits", "ending", share=True),
        Metric("ended_depletion", "ended by the last depletion", "ending", share=True),
        Metric("ended_both", "ended by both in one round", "ending", share=True),
        Metric("ended_nian", "ended by six Nian Shou", "ending", share=True),
        Metric("shared", "shared victories", "ending", share=True),
        Metric("points_winner", "points of the winner", "points"),
        Metric("margin", "points between first and second", "points"),
        Metric("spread", "points between first and last", "points"),
    )

    def __init__(self, game: Game) -> None:
        place, names = game.rules.place, game.actions.names
        self.reveal = game.actions.id("reveal")
        self.points = place(f"points_{SPIRITS[0]}")
        self.places = {name: place(name) for name in ("end_distinct", "end_enchantments", "end_depletions", "score_laid_tokens")}
        kinds = [name.removeprefix("choose:") for name in names if name.startswith("choose:")]
        spirit_of = [next(i for i, spirit in enumerate(SPIRITS) if kind.startswith(spirit)) for kind in kinds]
        self.spirit_of = np.array([*spirit_of, -1])  # of a kind; -1 (no card) has none

    def option(self, records: np.ndarray, name: str) -> np.ndarray:
        return records["options"][:, self.places[name]].astype(np.int64)

    def events(self, records: np.ndarray, rows: np.ndarray, actions: np.ndarray) -> dict[str, np.ndarray]:
        at = rows[actions == self.reveal]
        top = records["deck"][at, records["deck_size"][at].astype(np.int64) - 1]
        lying = records["revealed"][at]
        bust = (self.spirit_of[lying] == self.spirit_of[top][:, None]).any(axis=1)
        nian = bust & (records["num_revealed"][at] == 1) & (records["centre_nian"][at] > 0)
        return {"busts": at[bust], "nian_busts": at[nian]}

    def rounds(self, records: np.ndarray) -> np.ndarray:
        players = records["players"]
        return (records["turns"] + players - 1) // players

    def standing(self, records: np.ndarray) -> np.ndarray:
        """Points as the position stands; whoever holds all Nian Shou has won."""
        worth = records["options"][:, None, self.points : self.points + len(SPIRITS)]
        points = (records["enchantments"].astype(np.int64) * worth).sum(axis=2)
        points += records["nian"] + records["tokens"].astype(np.int64)
        points += (records["pool"] + records["slots"]).sum(axis=2, dtype=np.int64)
        points += self.option(records, "score_laid_tokens")[:, None] * records["protected"].sum(axis=2, dtype=np.int64)
        return points

    def endings(self, records: np.ndarray) -> dict[str, np.ndarray]:
        """A game that nothing more could be revealed in, or that was cut off, ended by none of the four."""
        played, nian = records["over"] == 1, (records["nian"] == ALL_NIAN).any(axis=1)
        made = records["enchantments"].astype(np.int64)
        distinct = self.option(records, "end_distinct")[:, None] > 0
        count = np.where(distinct, (made > 0).sum(axis=2), made.sum(axis=2)).max(axis=1)
        spirits = played & ~nian & (count >= self.option(records, "end_enchantments"))
        depleted = played & ~nian & (records["depletions"] >= self.option(records, "end_depletions"))
        players = records["players"][:, None]
        points = np.where(np.arange(records["nian"].shape[1]) < players, self.standing(records), np.iinfo(np.int64).min)
        order = np.sort(points, axis=1)
        best = order[:, -1]
        return {
            "ended_spirits": spirits & ~depleted,
            "ended_depletion": depleted & ~spirits,
            "ended_both": spirits & depleted,
            "ended_nian": nian,
            "shared": records["won"].sum(axis=1) > 1,
            "points_winner": np.where(records["won"] > 0, points, 0).sum(axis=1) / np.maximum(records["won"].sum(axis=1), 1),
            "margin": best - order[:, -2],
            "spread": best - np.take_along_axis(order, -players.astype(np.int64), axis=1)[:, 0],
        }


BALANCE = BeyondBalance
