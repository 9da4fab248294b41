"""a_way, the board game, for reinforcement learning.

    from away_env import away_v0
    env = away_v0.env(num_players=2, rules="max_rounds=60")         # PettingZoo AEC

    import tabletop
    tables = tabletop.Tables("away", num_tables=4096, num_players=2, seed=0)

Importing the package registers the game with Gymnasium and PettingZoo (see `tabletop.registration`).
"""

from __future__ import annotations

from typing import Any

import tabletop.registration  # noqa: F401  it registers all games

__all__ = ["away_v0", "game"]


def __getattr__(name: str) -> Any:
    """Load the game when it is first asked for: importing the package is quick."""
    from importlib import import_module

    if name == "game":
        value: Any = import_module("away_env.registered").GAME
    elif name == "away_v0":
        return import_module("away_env.away_v0")
    else:
        raise AttributeError(f"module 'away_env' has no attribute {name!r}")
    globals()[name] = value
    return value
