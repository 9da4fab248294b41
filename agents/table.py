"""One game at one table, in which a player that fails loses instead of ending everything: what a tournament plays where not all
its players can be played in batches."""

from __future__ import annotations

import operator
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

import tabletop
from agents.process import BotFault, said
from agents.program import TableBot, is_table_bot
from tabletop.agent import Player
from tabletop.opponents import answer
from tabletop.registry import Game
from tabletop.rules import Variant


@dataclass(frozen=True)
class Played:
    """What came of one game. rewards, share (P,): as in `training.play.Games`; decisions, seconds (P,): asked of each seat, and how long
    its player took for them (by the clock on the wall); fault: how the player of `fault_seat` lost the game, if one failed.

    A player that fails loses (-1); the game is over, and the others share the victory: each gets 1/(players - 1) of it.
    """

    rewards: np.ndarray
    share: np.ndarray
    decisions: np.ndarray
    seconds: np.ndarray
    truncated: bool
    fault: BotFault | None = None
    fault_seat: int = -1


def play_table(
    game: Game,
    variant: Variant,
    players: Sequence[Player | TableBot],
    seed: int = 0,
    deal: int = 0,
    rng: np.random.Generator | None = None,
    max_decisions: int | None = None,
) -> Played:
    """Play the game (seed, deal), the same cards as in `training.play.play`, with players[k] in seat k.

    A `TableBot` is told of its game's start and end. What any player raises, or an answer that is no legal action, is a fault of that
    player's: it loses; a game that is over stands, whatever a bot does when it is told so. rng: the players' randomness; default: of
    seed and deal. Ctrl-C is nobody's fault and is raised.
    """
    bots = [player for player in players if is_table_bot(player)]
    if len(players) != variant.players or len({id(bot) for bot in bots}) != len(bots):
        raise ValueError(f"{variant} needs {variant.players} players, and a bot that plays table by table can have one seat only")
    tables = tabletop.Tables(game, 1, variant.players, variant.rules, seed=(seed, deal), autoreset="disabled", max_decisions=max_decisions)
    rng = np.random.default_rng((seed, deal)) if rng is None else rng
    decisions, seconds = np.zeros(variant.players, np.int64), np.zeros(variant.players)
    row, seat = np.zeros(1, np.int64), 0
    told: list[TableBot] = []  # of the game's start
    try:
        for seat, player in enumerate(players):
            if is_table_bot(player):
                player.start(variant, seat)
                told.append(player)
        while (seat := int(tables.seat[0])) >= 0:
            player, begun = players[seat], time.perf_counter()
            if is_table_bot(player):
                action = np.array([_id(player.decide(tables.observation[0].copy(), tables.action_mask[0].copy()))], np.int64)
            else:
                action = answer(player, tables, row, rng)  # type: ignore[arg-type]
            seconds[seat] += time.perf_counter() - begun
            decisions[seat] += 1
            tables.step(action)
    except (Exception, SystemExit) as error:
        fault, (rewards, share) = _fault_of(error), _forfeited(len(players), seat)
        for bot in told:
            if bot is not players[seat]:
                _tell_end(bot, rewards, (seat, fault.kind))
        return Played(rewards, share, decisions, seconds, False, fault, seat)
    rewards = tables.rewards[0, : variant.players].copy()
    won = np.zeros(variant.players) if tables.truncated[0] else tables.records["won"][0, : variant.players].astype(np.float64)
    share = won / won.sum() if won.sum() else np.full(variant.players, 1.0 / variant.players)
    for bot in bots:
        _tell_end(bot, rewards)
    return Played(rewards, share, decisions, seconds, bool(tables.truncated[0]))


def _id(answer: Any) -> int:
    """An action's id, if it is a whole number that can be one."""
    try:
        action = operator.index(answer)
    except TypeError:
        raise BotFault(f"answered {type(answer).__name__}, not the id of an action", "nonsense") from None
    if not 0 <= action < 1 << 31:
        raise BotFault(f"answered {action:.3g}, which is no action's id", "nonsense")
    return action


def _tell_end(bot: TableBot, rewards: np.ndarray, fault: tuple[int, str] | None = None) -> None:
    with suppress(Exception, SystemExit):
        bot.end(rewards, fault) if fault else bot.end(rewards)


def _fault_of(error: BaseException) -> BotFault:
    if isinstance(error, BotFault):
        return error
    kind = "illegal" if isinstance(error, tabletop.IllegalAction) else "nonsense" if isinstance(error, tabletop.UnknownAction) else "crash"
    return BotFault(said(error).partition(": ")[2] if isinstance(error, tabletop.ActionError) else said(error), kind)


def _forfeited(players: int, seat: int) -> tuple[np.ndarray, np.ndarray]:
    """Rewards and shares (P,) of a game that the player of a seat has lost by a fault."""
    share = np.full(players, 1.0 / (players - 1))
    share[seat] = 0.0
    return np.where(np.arange(players) == seat, -1.0, share).astype(np.float32), share
