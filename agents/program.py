"""Bots in any language: a program that speaks JSON lines on its standard input and output (docs/bots.md has the protocol).

`ProgramBot` plays one table at a time, which is what a tournament wants: a bot that fails loses that game and no more.

    bot = ProgramBot(game, "node bot.mjs")
    bot.start(variant, seat=1)                      # the program is started when it is not running
    try:
        action = bot.decide(observation, mask)      # (D,), (A,) of its seat, whenever that seat is to act
    except BotFault as fault:                       # it has lost: fault.kind, fault.reason, fault.stderr; the program is killed
        ...
    else:
        bot.end(rewards)                            # (P,); the program goes on running for the next game
    bot.close()                                     # also done when the object or this process goes

`agents.table.play_table` is that loop, for any mixture of players. As an `Agent` (act) a ProgramBot is asked decisions of many
tables in turn, without start and end; there a fault is an error.
"""

from __future__ import annotations

import json
import shlex
import shutil
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, Protocol, TypeGuard

import numpy as np

from agents.process import KINDS, BotFault, BotProcess
from tabletop.registry import Game
from tabletop.rules import Variant
from tabletop.sampling import check_masks

__all__ = ["KINDS", "PROTOCOL", "BotFault", "ProgramBot", "TableBot", "close_bots", "is_table_bot"]

PROTOCOL = 1
SECONDS_TO_QUIT = 0.5


class TableBot(Protocol):
    """A player of one table at a time that is told when its game begins and ends. Two seats of a table need two of them."""

    name: str

    def start(self, variant: Variant, seat: int) -> None:
        """A game of that variant begins, in which the bot has that seat. BotFault: it cannot play."""
        ...

    def decide(self, observation: np.ndarray, action_mask: np.ndarray) -> int:
        """The action of the bot's seat for observation (D,) and mask (A,), in the frame of that seat. BotFault: it has lost."""
        ...

    def end(self, rewards: np.ndarray, fault: tuple[int, str] | None = None) -> None:
        """The game is over with rewards (P,) by seat. fault: seat and kind of a fault that ended it. Never called after the bot's
        own fault."""
        ...

    def close(self) -> None:
        """No more games."""
        ...


def is_table_bot(player: Any) -> TypeGuard[TableBot]:
    """Is it to be played table by table?"""
    return all(callable(getattr(player, name, None)) for name in ("start", "decide", "end", "close"))


def close_bots(players: Iterable[Any]) -> None:
    """Tell those that play table by table that there are no more games. What they do then is nobody's concern."""
    for player in players:
        if is_table_bot(player):
            with suppress(Exception, SystemExit):
                player.close()


class ProgramBot:
    """A program that plays. command: its words, or a text that is split as a shell would (no shell runs it).

    decision_seconds, game_seconds: most time that it may take for a decision and for all its decisions of a game; start_seconds: for
    its greeting after it was started; memory_mb: most memory for its data, 0 for no limit; answer_kb: longest answer. Times are by the
    clock on the wall. ValueError for limits that are none, and if there is no such program.
    """

    def __init__(
        self,
        game: Game,
        command: str | Sequence[str],
        *,
        decision_seconds: float = 10.0,
        game_seconds: float = 600.0,
        start_seconds: float = 30.0,
        memory_mb: int = 1024,
        answer_kb: int = 64,
    ) -> None:
        self.command = shlex.split(command) if isinstance(command, str) else list(command)
        self.name = f"program:{' '.join(shlex.join(self.command).split())}"
        if not self.command or shutil.which(self.command[0]) is None:
            raise ValueError(f"there is no program {self.command[0]!r}" if self.command else "a program is needed, as in 'node bot.mjs'")
        limits = {"decision_seconds": decision_seconds, "game_seconds": game_seconds, "start_seconds": start_seconds}
        for name, value in limits.items():
            if not 0 < value < 1e6:
                raise ValueError(f"{name} must be above 0 and below a million, not {value}")
        if memory_mb < 0 or not 1 <= answer_kb <= 1 << 20:
            raise ValueError(f"memory_mb must be at least 0 and answer_kb 1 to {1 << 20}, not {memory_mb} and {answer_kb}")
        self.game = game
        self.decision_seconds, self.game_seconds, self.start_seconds = decision_seconds, game_seconds, start_seconds
        self.memory_mb, self.answer_kb = memory_mb, answer_kb
        self.called = ""  # what the program calls itself
        self.starts = 0  # times that it was started
        self._process: BotProcess | None = None
        self._left: float | None = None  # seconds of the game under way
        self._begun: bytes | None = None  # what it was told at its start, until it is asked, where it has played before

    # -- one table at a time -------------------------------------------------------------------------------------------

    def start(self, variant: Variant, seat: int) -> None:
        """A game begins. Starts the program if it is not running; BotFault (start) if it does not start or greet."""
        before = self._process
        process = self._running()
        self._left = self.game_seconds
        rules = {name: getattr(variant.rules, name) for name in variant.rules.names()}
        rules = {name: value if isinstance(value, bool | int | None) else str(value) for name, value in rules.items()}
        told = _line({"type": "start", "variant": str(variant), "rules": rules, "players": variant.players, "seat": seat})
        self._begun = told if process is before else None
        process.tell(told)

    def decide(self, observation: np.ndarray, action_mask: np.ndarray) -> int:
        """The action (an id) for observation (D,) and mask (A,) of its seat. After a BotFault the program is gone, and the next `start`
        starts it anew."""
        process = self._process or self._running()  # one that has died since the start of a game has lost it
        names = self.game.actions.names
        seconds = self.decision_seconds if self._left is None else min(self.decision_seconds, self._left)
        question = {
            "type": "decide",
            "legal": [names[a] for a in np.flatnonzero(action_mask)],
            "decoded": self.game.layout.decode(observation),
            "observation": np.asarray(observation).tolist(),
            "seconds": round(seconds, 3),
        }
        try:
            process, answer = self._ask(process, _line(question), seconds)
            return self._action(_read(process, answer), process, action_mask)
        except BotFault as fault:
            if fault.kind == "timeout" and seconds < self.decision_seconds:
                fault = BotFault(f"took more than {self.game_seconds:.3g} seconds for its decisions of a game", "timeout", fault.stderr)
            self._stop()
            raise fault from None
        except BaseException:  # Ctrl-C amid an answer: what comes later would answer the next question
            self._stop()
            raise

    def _ask(self, process: BotProcess, question: bytes, seconds: float) -> tuple[BotProcess, bytes]:
        """The answer, and who gave it: a program that ended after the game before, which is seen only now, is started anew."""
        told, self._begun = self._begun, None
        try:
            return process, self._timed(process, question, seconds)
        except BotFault as fault:
            if told is None or fault.kind != "crash":
                raise
        self._stop_process()
        process = self._running()
        process.tell(told)
        return process, self._timed(process, question, seconds)

    def _timed(self, process: BotProcess, question: bytes, seconds: float) -> bytes:
        """The answer, its time taken from the game's."""
        begun = time.monotonic()
        answer = process.ask(question, seconds)
        if self._left is not None:
            self._left -= time.monotonic() - begun
        return answer

    def end(self, rewards: np.ndarray, fault: tuple[int, str] | None = None) -> None:
        """Its game is over: rewards (P,) by seat, and whose fault of which kind ended it, if one did."""
        self._left = None
        if self._process:
            message: dict[str, Any] = {"type": "end", "rewards": np.asarray(rewards).tolist()}
            if fault:
                message["fault"] = {"seat": fault[0], "kind": fault[1]}
            self._process.tell(_line(message))

    def close(self) -> None:
        """End the program: it is asked to, and killed soon."""
        if self._process and self._process.running:
            self._process.tell(_line({"type": "quit"}))
        self._stop(SECONDS_TO_QUIT)

    # -- many tables ---------------------------------------------------------------------------------------------------

    def act(self, observation: np.ndarray, action_mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Actions (n,) for observation (n, D) and mask (n, A), asked one after the other. BotFault names the program. `rng` is not
        used: the program's randomness is its own."""
        check_masks(action_mask)
        self._left = None
        try:
            return np.array([self.decide(o, m) for o, m in zip(observation, action_mask, strict=True)], np.int64)
        except BotFault as fault:
            raise BotFault(f"{self.name}: {fault.reason}", fault.kind, fault.stderr) from None

    # -- the program ---------------------------------------------------------------------------------------------------

    def _running(self) -> BotProcess:
        """The program, greeted."""
        if self._process and self._process.running:
            return self._process
        self._stop_process()
        self.starts += 1
        self._process = process = BotProcess(self.command, self.memory_mb << 20, self.answer_kb << 10)
        try:
            answer = _read(process, process.ask(_line(self._hello()), self.start_seconds))
            if answer.get("type") != "ready":
                raise process.fault(f'greeted with {_short(answer)} instead of {{"type": "ready", "protocol": {PROTOCOL}}}', "start")
            if answer.get("protocol") != PROTOCOL:
                raise process.fault(f"speaks protocol {_short(answer.get('protocol'))}; this version speaks {PROTOCOL}", "start")
        except BotFault as fault:
            self._stop()
            raise BotFault(fault.reason if fault.kind == "start" else f"at its start: {fault.reason}", "start", fault.stderr) from None
        except BaseException:
            self._stop()
            raise
        self.called = _short(answer["name"]) if isinstance(answer.get("name"), str) else ""
        return process

    def _hello(self) -> dict[str, Any]:
        layout, planes = self.game.layout, getattr(self.game.module("observation"), "PLANES", ())
        parts: list[dict[str, Any]] = [
            {"name": p.name, "start": p.start, "shape": p.shape, "low": p.low, "high": p.high, "labels": p.labels, "doc": p.doc}
            for p in layout.parts.values()
        ]
        for part in parts:
            if planes and part["shape"][:1] == (len(planes),):
                part["planes"] = planes  # names for the first axis
        limits = {"decision": self.decision_seconds, "game": self.game_seconds, "start": self.start_seconds}
        return {
            "type": "hello",
            "protocol": PROTOCOL,
            "game": self.game.name,
            "actions": self.game.actions.names,
            "observation": {"size": layout.size, "parts": parts},
            "limits": {"seconds": limits, "memory_mb": self.memory_mb, "answer_kb": self.answer_kb},
        }

    def _action(self, answer: dict[str, Any], process: BotProcess, action_mask: np.ndarray) -> int:
        names = self.game.actions.names
        name = answer.get("action")
        if not isinstance(name, str):
            raise process.fault(f'answered {_short(answer)} instead of {{"action": NAME}}', "nonsense")
        if name not in names:
            raise process.fault(f"answered {_short(name)}, which is no action of {self.game.name}", "nonsense")
        action = self.game.actions.id(name)
        if not action_mask[action]:
            legal = [names[a] for a in np.flatnonzero(action_mask)]
            raise process.fault(f"answered {name}, which is not legal; legal: {_short(', '.join(legal), 300)}", "illegal")
        return action

    def _stop(self, seconds: float = 0.0) -> None:
        self._left = self._begun = None
        self._stop_process(seconds)

    def _stop_process(self, seconds: float = 0.0) -> None:
        process, self._process = self._process, None
        if process:
            process.close(seconds)


def _line(message: dict[str, Any]) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def _read(process: BotProcess, answer: bytes) -> dict[str, Any]:
    """An answer's JSON object; BotFault (nonsense) if it is none."""
    try:
        told = json.loads(answer)
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, dict):
        raise process.fault(f"answered {_short(answer.decode(errors='replace'))}, which is no JSON object", "nonsense")
    return told


def _short(value: Any, most: int = 120) -> str:
    """A value as part of a one-line message."""
    text = value if isinstance(value, str) else json.dumps(value)
    text = "".join(c if c.isprintable() else "?" for c in text)
    return text if len(text) <= most else text[:most] + "…"
