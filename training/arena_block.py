"""Play one block of a tournament: its games depend on the tournament's settings and the block alone, not on what was played before.

Agents that are asked in batches play all games of a block side by side. A block in which one of them fails is played again game by
game (`agents.table.play_table`), which shows whose games fail and lets the others be; so are blocks with agents that play one table
at a time.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import tabletop
from agents import named
from agents.process import BotFault, said
from agents.program import close_bots, is_table_bot
from agents.table import play_table
from tabletop.opponents import is_searcher
from tabletop.registry import Game
from tabletop.rules import Variant
from training.arena_schedule import Block, by_order, deals_of, groups
from training.play import play

NOBODY = -1
MOST_OF_A_REASON = 300


@dataclass(frozen=True)
class Setup:
    """The settings that games depend on. agents: (name, what it is called for `agents.named.agent`), in the order given;
    size: deals of a block."""

    game: str
    variant: str
    agents: tuple[tuple[str, str], ...]
    seed: int
    size: int
    any_variant: bool = False

    @property
    def players(self) -> int:
        return self.parsed()[1].players

    def parsed(self) -> tuple[Game, Variant]:
        game = tabletop.game(self.game)
        return game, game.variant(self.variant)

    @property
    def groups(self) -> list[tuple[int, ...]]:
        return groups(len(self.agents), self.players)


def parse_agents(given: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Agents of a command line, each AGENT or NAME=AGENT, as (name, agent)."""
    found = []
    for text in given:
        alias = re.fullmatch(r"([\w.+-]+)=(.+)", text)
        found.append((alias[1], alias[2]) if alias else (text, text))
    names = [name for name, _ in found]
    if len(found) < 2:
        raise ValueError(f"a tournament needs at least two agents, not {len(found)}")
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"{twice[0]} is there twice: give one of them another name, as in other={dict(found)[twice[0]]}")
    return tuple(found)


class Guarded:
    """An agent whose time is taken and whose faults are named: it raises BotFault for whatever the agent does wrong."""

    def __init__(self, agent: Any, name: str) -> None:
        self.agent, self.name = agent, name
        self.seconds, self.asked = 0.0, 0
        if is_searcher(agent):
            self.act_on = lambda positions, mask, rng: self._ask(agent.act_on, positions, mask, rng)
        else:
            self.act = lambda observation, mask, rng: self._ask(agent.act, observation, mask, rng)

    def _ask(self, act: Callable[..., Any], known: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        begun = time.perf_counter()
        try:
            acted = np.asarray(act(known, mask.copy(), rng))
        except BotFault:
            raise
        except (Exception, SystemExit) as error:
            raise BotFault(said(error), "crash") from error
        self.seconds += time.perf_counter() - begun
        self.asked += len(mask)
        if acted.shape != (len(mask),) or acted.dtype.kind not in "iu":
            raise BotFault(f"was asked for {len(mask)} actions and gave an array of shape {acted.shape}, {acted.dtype}", "nonsense")
        if (out := (acted < 0) | (acted >= mask.shape[1])).any():
            raise BotFault(f"answered {acted[out][0]}; actions are 0 to {mask.shape[1] - 1}", "nonsense")
        if (wrong := mask[np.arange(len(mask)), acted] == 0).any():
            raise BotFault(f"answered {acted[wrong][0]}, which is not legal", "illegal")
        return acted


class AskedCounter:
    """Counts, as a watcher of `play`, the decisions asked of each seat."""

    def __init__(self, players: int) -> None:
        self.players = players
        self.parts: list[np.ndarray] = []

    def begin(self, tables: tabletop.Tables) -> None:
        self.parts.append(np.zeros((tables.num_tables, self.players), np.int64))

    def watch(self, tables: tabletop.Tables, rows: np.ndarray, actions: np.ndarray) -> None:
        self.parts[-1][rows, tables.seat[rows]] += 1

    def end(self, tables: tabletop.Tables) -> None:
        pass


class BlockPlayer:
    """Plays blocks of a tournament. It makes its agents when they are first needed, and keeps them."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.game, self.variant = setup.parsed()
        self.groups = setup.groups
        self._agents: dict[tuple[int, int], Any] = {}

    def agent(self, index: int, copy: int = 0) -> Any:
        """The agent of that index; bots that play one table have a copy for each seat they hold."""
        if (index, copy) not in self._agents:
            if copy and not is_table_bot(self.agent(index)):
                return self.agent(index)
            name = self.setup.agents[index][1]
            self._agents[index, copy] = named.agent(self.game, name, self.variant, self.setup.any_variant, by_table=True)
            if "torch" in sys.modules:
                sys.modules["torch"].set_num_threads(1)  # results of another number of threads may differ, and workers share cores
        return self._agents[index, copy]

    def prepare(self, block: Block) -> None:
        """Make the block's agents, which may take longer than its games: networks are read and kernels compiled."""
        for index in self.groups[block.group]:
            self.agent(index)

    def close(self) -> None:
        """End the programs."""
        close_bots(self._agents.values())
        self._agents.clear()

    def play(self, block: Block) -> dict[str, Any]:
        """The block's games as columns, a row each, in the order of the schedule."""
        group = self.groups[block.group]
        parts: list[dict[str, Any]] = []
        for deals, seats in by_order(group, deals_of(block.round, self.setup.size)):
            members = sorted(set(group))
            if any(is_table_bot(self.agent(index)) for index in members):
                parts.append(self._one_by_one(block, deals, seats))
                continue
            try:
                parts.append(self._batch(block, deals, seats))
            except BotFault:
                parts.append(self._one_by_one(block, deals, seats))
        whole = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        order = np.argsort(whole["deal"], kind="stable")
        return {name: column[order] for name, column in whole.items()}

    def _batch(self, block: Block, deals: np.ndarray, seats: list[tuple[int, ...]]) -> dict[str, Any]:
        members = sorted(set(seats[0]))
        guards = [Guarded(self.agent(index), self.setup.agents[index][0]) for index in members]
        local = [[members.index(index) for index in seating] for seating in seats]
        counter = AskedCounter(self.variant.players)
        games = play(
            self.game, self.variant, guards, deals, self.setup.seed, local, watcher=counter, salt=self._salt(block)  # type: ignore[arg-type]
        )
        per_decision = np.array([1000 * guard.seconds / max(guard.asked, 1) for guard in guards])
        n = len(games.deal)
        return self._columns(
            block, games.deal, np.array(members)[games.seating], games.share, games.rewards, np.concatenate(counter.parts),
            per_decision[games.seating], games.truncated, np.full(n, NOBODY), [""] * n, [""] * n,
        )  # fmt: skip

    def _one_by_one(self, block: Block, deals: np.ndarray, seats: list[tuple[int, ...]]) -> dict[str, Any]:
        played, seating = [], []
        for deal in deals:
            for number, seated in enumerate(seats):
                rng = np.random.default_rng((self.setup.seed, int(deal), self._salt(block), number))
                seating.append(seated)
                played.append(play_table(self.game, self.variant, self._seated(seated), self.setup.seed, int(deal), rng))
        asked = np.array([p.decisions for p in played])
        milliseconds = 1000 * np.array([p.seconds for p in played]) / np.maximum(asked, 1)
        reasons = [" ".join(p.fault.reason.split())[:MOST_OF_A_REASON] if p.fault else "" for p in played]
        return self._columns(
            block, np.repeat(deals, len(seats)), np.array(seating), np.array([p.share for p in played]),
            np.array([p.rewards for p in played]), asked, milliseconds, np.array([p.truncated for p in played]),
            np.array([p.fault_seat for p in played]), [p.fault.kind if p.fault else "" for p in played], reasons,
        )  # fmt: skip

    def _seated(self, seated: tuple[int, ...]) -> list[Any]:
        """The agents for the seats of one table."""
        found = [self.agent(index, seated[:seat].count(index)) for seat, index in enumerate(seated)]
        return [agent if is_table_bot(agent) else Guarded(agent, self.setup.agents[i][0]) for agent, i in zip(found, seated, strict=True)]

    def _salt(self, block: Block) -> int:
        """What agents draw differs between groups; the deals do not."""
        return block.group + 1

    def _columns(
        self, block: Block, deal: np.ndarray, seating: np.ndarray, share: np.ndarray, rewards: np.ndarray, asked: np.ndarray,
        milliseconds: np.ndarray, truncated: np.ndarray, fault_seat: np.ndarray, fault_kind: list[str], fault_reason: list[str],
    ) -> dict[str, Any]:  # fmt: skip
        """The columns that docs/arena.md describes."""
        names = np.array([name for name, _ in self.setup.agents], object)
        n, seats = seating.shape
        won = ~truncated[:, None] & (share > 0)
        columns: dict[str, Any] = {"round": np.full(n, block.round, np.int32), "group": np.full(n, block.group, np.int32)}
        columns["deal"] = deal.astype(np.int64)
        for seat in range(seats):
            columns |= {
                f"agent_{seat}": names[seating[:, seat]],
                f"share_{seat}": share[:, seat].astype(np.float64),
                f"reward_{seat}": rewards[:, seat].astype(np.float64),
                f"won_{seat}": won[:, seat],
                f"decisions_{seat}": asked[:, seat].astype(np.int32),
                f"milliseconds_{seat}": milliseconds[:, seat].astype(np.float64),
            }
        columns["decisions"] = asked.sum(axis=1).astype(np.int32)
        columns["truncated"] = truncated.astype(np.bool_)
        columns["fault_seat"] = fault_seat.astype(np.int8)
        columns["fault_kind"] = np.array(fault_kind, object)
        columns["fault_reason"] = np.array(fault_reason, object)
        return columns
