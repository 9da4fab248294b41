"""One game as a person reads it: every decision by name, and the position at every new turn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import tabletop
from tabletop.agent import Player
from tabletop.opponents import answer
from tabletop.registry import Game
from tabletop.rules import Variant


def transcript(game: Game, variant: Variant, agents: Sequence[Player], seed: int = 0, deal: int = 0) -> str:
    """The game (seed, deal) with agents[k] in seat k. Positions are shown as everyone at the table knows them, before the seat acts."""
    tables = tabletop.Tables(game, 1, variant.players, variant.rules, seed=(seed, deal), skip_forced=False, autoreset="disabled")
    rng = np.random.default_rng((seed, deal))
    lines = [f"{variant}, seed {seed}, deal {deal}", *(f"seat {k}: {a.name}" for k, a in enumerate(agents))]
    before = -1
    while (seat := int(tables.seat[0])) >= 0:
        if seat != before:
            lines += ["", f"--- seat {seat} ({agents[seat].name}) ---", _shown(game, tables, seat), ""]
            before = seat
        action = answer(agents[seat], tables, np.zeros(1, np.int64), rng)
        legal = int(tables.action_mask[0].sum())
        lines.append(f"seat {seat}: {game.actions.names[int(action[0])]}   ({f'{legal} legal' if legal > 1 else 'forced'})")
        tables.step(action)
    lines += ["", "--- the end ---", game.text(tables.records[0], 0), "", ending(tables)]
    return "\n".join(lines) + "\n"


def _shown(game: Game, tables: tabletop.Tables, seat: int) -> str:
    return "\n".join(f"    {line}" for line in game.text(tables.records[0], seat).splitlines()[1:])


def ending(tables: tabletop.Tables) -> str:
    """Who won."""
    if tables.truncated[0]:
        return "cut off: a draw"
    winners = [f"seat {k}" for k in np.flatnonzero(tables.records["won"][0])]
    if not winners:
        return "a draw"
    return f"{' and '.join(winners)} {'wins' if len(winners) == 1 else 'share the victory'}"
