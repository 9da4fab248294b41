"""The uniformly random player of any game."""

from __future__ import annotations

from tabletop.opponents import RandomOpponent as RandomAgent

__all__ = ["RandomAgent"]
