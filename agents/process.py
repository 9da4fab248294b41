"""A bot's process: lines to its standard input, lines from its standard output, limits on time, memory and output.

Nothing here knows of games: `agents.program` speaks the protocol.
"""

from __future__ import annotations

import os
import re
import select
import signal
import socket
import subprocess
import sys
import time
import weakref
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from tabletop.errors import TabletopError

KINDS = ("start", "crash", "memory", "timeout", "flood", "nonsense", "illegal")
SUPERVISOR = Path(__file__).with_name("supervisor.py")
OUT_OF_MEMORY = re.compile(r"MemoryError|bad_alloc|out of memory|cannot allocate memory|OutOfMemory|memory allocation", re.IGNORECASE)
SECONDS_FOR_STATUS = 1.0  # to learn how a process ended whose output has ended
SECONDS_TO_END = 5.0  # for the supervisor to kill what it watches over


class BotFault(TabletopError):
    """A bot failed in a way that loses it the game. One line says how.

    kind: one of KINDS: start (it does not start or greet), crash, memory (it crashed and says that memory ran out), timeout,
    flood (too much output), nonsense (no answer of the protocol), illegal (an action that is not legal). stderr: the end of what
    it wrote to standard error.
    """

    def __init__(self, reason: str, kind: str, stderr: str = "") -> None:
        super().__init__(reason)
        self.reason, self.kind, self.stderr = reason, kind, stderr

    def __reduce__(self) -> tuple[object, ...]:  # it comes back from worker processes
        return BotFault, (self.reason, self.kind, self.stderr)


def said(error: BaseException) -> str:
    """What a bot in Python raised, in a line that can be shown and stored whatever stands in it."""
    try:
        text = str(error)
    except Exception:
        text = "an error that cannot be shown"
    return f"{type(error).__name__}: {' '.join(_shown(text, 300).split())}".removesuffix(": ")


class BotProcess:
    """A program that is running, in a session of its own (Ctrl-C does not reach it). It goes when this object or process goes.

    memory_bytes: most memory for its data, 0 for no limit; most_output: bytes of one answer; kept_stderr: bytes of its standard
    error that are kept, the last ones. BotFault (start) if it cannot be run.
    """

    def __init__(self, command: Sequence[str], memory_bytes: int, most_output: int, kept_stderr: int = 4096) -> None:
        if os.name != "posix":
            raise BotFault("bots as programs need Linux or macOS", "start")
        self.most_output, self.kept_stderr = most_output, kept_stderr
        self._lifeline, theirs = socket.socketpair()
        words = [sys.executable, "-I", "-S", str(SUPERVISOR), str(theirs.fileno()), str(memory_bytes), *command]
        try:
            self._process = subprocess.Popen(
                words, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                pass_fds=(theirs.fileno(),), start_new_session=True,
            )  # fmt: skip
        except (OSError, ValueError) as error:
            self._lifeline.close()
            raise BotFault(f"cannot be started: {error}", "start") from None
        finally:
            theirs.close()
        self._input, self._output, self._error = (_open(p) for p in (self._process.stdin, self._process.stdout, self._process.stderr))
        for pipe in (self._input, self._output, self._error):
            os.set_blocking(pipe, False)
        self._waiting = bytearray()  # to be written when the program reads
        self._read = bytearray()
        self._stderr = b""
        self._output_open = self._input_open = True
        self._poll = select.poll()
        self._poll.register(self._output, select.POLLIN)
        self._poll.register(self._error, select.POLLIN)
        self._end = weakref.finalize(self, _kill, self._process, self._lifeline, os.getpid())

    @property
    def running(self) -> bool:
        """Is it still there to be asked? What came of it since is read first."""
        if self._end.alive and self._output_open:
            self._exchange(0.0)
        return self._end.alive and self._output_open and self._input_open

    def tell(self, line: bytes) -> None:
        """Send a line that wants no answer. What the program does not read now waits until it is asked."""
        self._waiting += line
        self._exchange(0.0)

    def ask(self, line: bytes, seconds: float) -> bytes:
        """Send a line and give the line that answers, without its end; BotFault after `seconds` or when it will not come."""
        self._exchange(0.0)
        if self._read.strip():
            raise self.fault(f"wrote {_shown(bytes(self._read))} without being asked: all but answers belong to standard error", "nonsense")
        self._read.clear()
        self._waiting += line
        deadline = time.monotonic() + seconds
        while b"\n" not in self._read:
            if len(self._read) > self.most_output:
                raise self.fault(f"wrote more than {self.most_output:,} bytes as one answer", "flood")
            if not self._output_open:
                raise self._crash()
            left = deadline - time.monotonic()
            if left <= 0:
                raise self.fault(f"no answer within {seconds:.3g} seconds", "timeout")
            self._exchange(left)
        answer, _, rest = bytes(self._read).partition(b"\n")
        if len(answer) > self.most_output or len(rest) > self.most_output:
            raise self.fault(f"wrote more than {self.most_output:,} bytes as one answer", "flood")
        if rest.strip():
            raise self.fault(f"went on after its answer: {_shown(rest)}", "nonsense")
        self._read.clear()
        return answer

    def fault(self, reason: str, kind: str) -> BotFault:
        """A BotFault of this process, with what it wrote to standard error."""
        return BotFault(reason, kind, self._stderr.decode(errors="replace"))

    def close(self, seconds: float = 0.0) -> None:
        """Give the program some seconds to end by itself once its input has ended, then kill it and all that it started."""
        if self._end.alive and seconds and self._output_open:
            deadline = time.monotonic() + seconds
            while self._waiting and self._input_open and self._output_open and (left := deadline - time.monotonic()) > 0:
                self._exchange(left)
            self._end_input()
            while self._output_open and (left := deadline - time.monotonic()) > 0:
                self._exchange(left)
                self._read.clear()
        self._end()

    def _crash(self) -> BotFault:
        """How it ended, with the last line that it had to say about it."""
        deadline = time.monotonic() + SECONDS_FOR_STATUS
        self._lifeline.settimeout(SECONDS_FOR_STATUS)
        try:
            told = self._lifeline.recv(16)
        except OSError:
            told = b""
        while self._exchange(0.0) and time.monotonic() < deadline:
            pass
        if not told:
            how = "closed its output"
        elif (status := int(told)) >= 0:
            how = f"ended with exit status {status}"
        else:
            how = f"was ended by signal {-status} ({signal.strsignal(-status)})"
        lines = self._stderr.decode(errors="replace").split("\n")
        said = [line.strip() for line in lines if line.strip()]
        kind = "memory" if any(OUT_OF_MEMORY.search(line) for line in said) else "crash"
        return self.fault(how + (f": {_shown(said[-1])}" if said else ""), kind)

    def _exchange(self, seconds: float) -> bool:
        """Wait at most so long for something to read or write, and do that. Was there something?"""
        if self._waiting and self._input_open:
            self._poll.register(self._input, select.POLLOUT)
        events = self._poll.poll(max(seconds, 0.0) * 1000)
        for pipe, _ in events:
            if pipe == self._input:
                self._write()
            elif pipe == self._output:
                if data := _read(self._output):
                    self._read += data
                elif data is not None:
                    self._output_open = False
                    self._poll.unregister(self._output)
            elif data := _read(self._error):
                self._stderr = (self._stderr + data)[-self.kept_stderr :]
            elif data is not None:
                self._poll.unregister(self._error)
        return bool(events)

    def _write(self) -> None:
        try:
            del self._waiting[: os.write(self._input, self._waiting)]
        except BlockingIOError:
            return
        except OSError:  # it reads no more; whether it still answers is seen at its output
            self._end_input()
            return
        if not self._waiting:
            self._poll.unregister(self._input)

    def _end_input(self) -> None:
        if self._input_open:
            self._input_open = False
            self._waiting.clear()
            with suppress(KeyError):
                self._poll.unregister(self._input)
            assert self._process.stdin is not None
            self._process.stdin.close()


def _open(pipe: IO[bytes] | None) -> int:
    assert pipe is not None
    return pipe.fileno()


def _read(pipe: int) -> bytes | None:
    """What there is to read; None: nothing yet, empty: the end."""
    try:
        return os.read(pipe, 1 << 16)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def _shown(data: bytes | str, most: int = 160) -> str:
    """Output of a program as part of a one-line message."""
    text = data[: 4 * most].decode(errors="replace") if isinstance(data, bytes) else data
    text = "".join(c if c.isprintable() else " " for c in text).strip()
    return text if len(text) <= most else text[:most] + "…"


def _kill(process: subprocess.Popen[bytes], lifeline: socket.socket, owner: int) -> None:
    """End the supervisor, which ends the program and what that started, and whatever is left of its process group, if the program had
    ended the supervisor. The supervisor reaps the program, so that no zombie is left to others."""
    if os.getpid() != owner:  # a forked copy of this process: not its program
        return
    lifeline.close()
    try:
        process.wait(SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    with suppress(ProcessLookupError, PermissionError):  # a group's number is given to no other while somebody is in it
        os.killpg(process.pid, signal.SIGKILL)
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()
