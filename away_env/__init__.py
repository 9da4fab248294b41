"""a_way, the board game, for reinforcement learning.

import tabletop
tables = tabletop.Tables("away", num_tables=4096, num_players=2, seed=0)
"""

from __future__ import annotations

from typing import Any

__all__ = ["game"]


def __getattr__(name: str) -> Any:
    """Load the game when it is first asked for: importing the package is quick."""
    from importlib import import_module

    if name != "game":
        raise AttributeError(f"module 'away_env' has no attribute {name!r}")
    value: Any = import_module("away_env.registered").GAME
    globals()[name] = value
    return value
