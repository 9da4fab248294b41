"""tabletop: the kit that makes fast environments of board games. It names no game; games register themselves.

    game = tabletop.game("beyond")
    tables = tabletop.Tables(game, num_tables=4096, num_players=2, seed=0)
    tables.step(actions)                       # tables.observation, tables.action_mask, tables.seat, tables.rewards, …
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tabletop.errors import (
    ActionError,
    CheckpointError,
    EmptyMask,
    IllegalAction,
    RulesError,
    SetupError,
    StepAfterEnd,
    TabletopError,
    UnknownAction,
    UnknownGame,
)

if TYPE_CHECKING:
    from tabletop.agent import Agent
    from tabletop.learner import LearnerTables
    from tabletop.registry import Game, game, games
    from tabletop.rules import Rules, Variant, option
    from tabletop.tables import Tables

__all__ = [
    "ActionError", "Agent", "CheckpointError", "EmptyMask", "Game", "IllegalAction", "LearnerTables", "Rules", "RulesError",
    "SetupError", "StepAfterEnd", "TabletopError", "Tables", "UnknownAction", "UnknownGame", "Variant", "game", "games", "option",
]  # fmt: skip

_LAZY = {
    "Agent": "tabletop.agent", "LearnerTables": "tabletop.learner",
    "Game": "tabletop.registry", "game": "tabletop.registry", "games": "tabletop.registry",
    "Rules": "tabletop.rules", "Variant": "tabletop.rules", "option": "tabletop.rules",
    "Tables": "tabletop.tables",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import numba (through Tables) only when it is needed: `import tabletop` is quick."""
    if name not in _LAZY:
        raise AttributeError(f"module 'tabletop' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_LAZY[name]), name)
    globals()[name] = value
    return value
