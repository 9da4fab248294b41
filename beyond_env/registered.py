"""Beyond as the kit knows it: the entry point `beyond` of the group `tabletop.games`."""

from __future__ import annotations

from beyond_env.actions import ACTIONS
from beyond_env.observation import LAYOUT
from beyond_env.rules import BeyondRules, max_decisions
from beyond_env.state import STATE
from tabletop.registry import Game

GAME = Game(
    name="beyond",
    package="beyond_env",
    rules=BeyondRules,
    dtype=STATE,
    actions=ACTIONS,
    layout=LAYOUT,
    max_decisions=max_decisions,
    title="Beyond",
)
