"""The options of Beyond's rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from beyond_env.cards import SPIRITS
from tabletop.errors import RulesError
from tabletop.rules import Rules, option

NO_RESCUE_LIMIT = 5  # code of rescue_limit=none: a bust never offers more than four cards


@dataclass(frozen=True)
class BeyondRules(Rules):
    """Beyond as the rules page describes it; the defaults are the base game."""

    game: ClassVar[str] = "beyond"

    protection: bool = option(False, "variant: lotus tokens protect pool cards")
    summoning: bool = option(False, "variant: lotus tokens summon enchanted spirits")
    end_distinct: bool = option(False, "the end takes end_enchantments different spirits, not just as many enchantments")
    rescue_limit: int | None = option(None, "most cards rescued in one bust", 0, 4, none=NO_RESCUE_LIMIT)
    end_on_nothing: bool = option(True, "a turn that begins with deck and discard pile both empty triggers the end")
    score_laid_tokens: bool = option(False, "a token on a pool card counts 1 point")
    start_tokens: int = option(2, "lotus tokens of each player at the start", 0, 20)
    token_supply: int = option(21, "lotus tokens in all, those of the players included", 0, 99)
    capture_slots: int = option(4, "capture slots of each player", 0, 20)
    end_enchantments: int = option(3, "enchantments of one player that trigger the end", 1, 20)
    end_depletions: int = option(2, "depletions of the deck that trigger the end", 1, 20)
    points_vermilion_bird: int = option(SPIRITS[0].points, "points of an enchantment", 0, 30)
    points_turtle_snake: int = option(SPIRITS[1].points, "points of an enchantment", 0, 30)
    points_azure_dragon: int = option(SPIRITS[2].points, "points of an enchantment", 0, 30)
    points_metal_tiger: int = option(SPIRITS[3].points, "points of an enchantment", 0, 30)
    points_unicorn: int = option(SPIRITS[4].points, "points of an enchantment", 0, 30)

    def check(self) -> None:
        if self.end_distinct and self.end_enchantments > len(SPIRITS):
            raise RulesError(f"beyond rules: end_distinct=true allows end_enchantments 1 to {len(SPIRITS)}, not {self.end_enchantments}")

    def check_players(self, players: int) -> None:
        super().check_players(players)
        if self.start_tokens * players > self.token_supply:
            raise RulesError(
                f"beyond rules: start_tokens={self.start_tokens} for {players} players takes more than token_supply={self.token_supply}"
            )


def max_decisions(rules: BeyondRules, players: int) -> int:
    """Most decisions (forced ones counted) of a game.

    Every turn reveals at least one card and no deck holds more than 80, so end_depletions decks last at most 80 turns each; then
    the round is finished. A turn has at most 5 reveals, a stop, 5 rescues and a pass, 6 placings, 20 enchantments, 20 captures, an
    end, and three decisions for each token laid (a summon, its choice, a capture with the card it brought). With
    end_on_nothing=false a game may go on for ever: it is cut off at 20,000.
    """
    if not rules.end_on_nothing:
        return 20_000
    turns = 80 * rules.end_depletions + 2 * players
    return turns * (60 + 3 * rules.token_supply)


# places of the options in a record's `options`
PROTECTION = BeyondRules.place("protection")
SUMMONING = BeyondRules.place("summoning")
END_DISTINCT = BeyondRules.place("end_distinct")
RESCUE_LIMIT = BeyondRules.place("rescue_limit")
END_ON_NOTHING = BeyondRules.place("end_on_nothing")
SCORE_LAID_TOKENS = BeyondRules.place("score_laid_tokens")
START_TOKENS = BeyondRules.place("start_tokens")
TOKEN_SUPPLY = BeyondRules.place("token_supply")
CAPTURE_SLOTS = BeyondRules.place("capture_slots")
END_ENCHANTMENTS = BeyondRules.place("end_enchantments")
END_DEPLETIONS = BeyondRules.place("end_depletions")
POINTS = BeyondRules.place("points_vermilion_bird")  # + spirit
