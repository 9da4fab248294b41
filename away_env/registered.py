"""a_way as the kit knows it: the entry point `away` of the group `tabletop.games`."""

from __future__ import annotations

from away_env.actions import ACTIONS
from away_env.observation import LAYOUT
from away_env.rules import AwayRules, max_decisions
from away_env.state import STATE
from tabletop.registry import Game

GAME = Game(
    name="away",
    package="away_env",
    rules=AwayRules,
    dtype=STATE,
    actions=ACTIONS,
    layout=LAYOUT,
    max_decisions=max_decisions,
    title="a_way",
)
