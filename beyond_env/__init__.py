"""Beyond, the board game, for reinforcement learning.

    from beyond_env import beyond_v0
    env = beyond_v0.env(num_players=2, rules="protection=true")     # PettingZoo AEC

    import tabletop
    tables = tabletop.Tables("beyond", num_tables=4096, num_players=2, seed=0)

Importing the package registers the game with Gymnasium and PettingZoo (see `tabletop.registration`).
"""

from __future__ import annotations

from typing import Any

import tabletop.registration  # noqa: F401  it registers all games

__all__ = ["beyond_v0", "game"]


def __getattr__(name: str) -> Any:
    """Load the game when it is first asked for: importing the package is quick."""
    from importlib import import_module

    if name == "game":
        value: Any = import_module("beyond_env.registered").GAME
    elif name == "beyond_v0":
        return import_module("beyond_env.beyond_v0")
    else:
        raise AttributeError(f"module 'beyond_env' has no attribute {name!r}")
    globals()[name] = value
    return value
