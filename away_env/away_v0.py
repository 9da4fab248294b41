"""a_way for PettingZoo: `env` in the customary wrappers, `raw_env` without."""

from __future__ import annotations

from typing import Any

from pettingzoo import AECEnv

from away_env.registered import GAME
from away_env.rules import AwayRules
from tabletop.aec import RawEnv, wrap

__all__ = ["env", "raw_env"]


def raw_env(num_players: int | None = None, rules: AwayRules | str | None = None, render_mode: str | None = None, **options: Any) -> RawEnv:
    """One table of a_way; an illegal action raises IllegalAction. options: as `tabletop.aec.RawEnv` takes them."""
    return RawEnv(GAME, num_players, rules, render_mode, **options)


def env(
    num_players: int | None = None, rules: AwayRules | str | None = None, render_mode: str | None = None, **options: Any
) -> AECEnv[Any, Any, Any]:
    """The same in PettingZoo's wrappers; an illegal action ends the game with -1 for its agent (see `tabletop.aec.wrap`)."""
    return wrap(raw_env(num_players, rules, render_mode, **options))
