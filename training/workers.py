"""Calls in processes of their own, which end with this one however it ends."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait as wait_for
from multiprocessing.util import Finalize
from typing import Any

from tabletop.errors import TabletopError

SECONDS_TO_END = 3.0  # for a worker, after its last call


class WorkerDied(TabletopError, RuntimeError):
    """A worker process ended, by a signal or for want of memory."""


class Workers:
    """Calls functions in so many processes, or of one worker in this process. begin: called in each before anything else, with these
    arguments; end: called there after the last call, but in processes only if there was no error (Ctrl-C is one)."""

    def __init__(
        self, number: int, begin: Callable[..., None] | None = None, *arguments: Any, end: Callable[[], None] | None = None
    ) -> None:
        self.number, self.begin, self.arguments, self.end = number, begin, arguments, end
        self.pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Workers:
        self.before = set(multiprocessing.active_children())
        if self.number > 1:
            context = multiprocessing.get_context("forkserver")  # a forked copy of a process that has computed in threads may hang
            self.pool = ProcessPoolExecutor(self.number, context, _begin, (self.begin, self.arguments, self.end))
        elif self.begin:
            self.begin(*self.arguments)
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        if self.pool is None:
            if self.end:
                self.end()
            return
        self.pool.shutdown(wait=False, cancel_futures=True)
        left, until = set(multiprocessing.active_children()) - self.before, time.monotonic() + SECONDS_TO_END
        try:
            for process in left if error is None else ():  # without an error nothing runs any more
                process.join(max(until - time.monotonic(), 0))
        finally:
            for process in left:
                process.terminate()

    def run(
        self, calls: Sequence[tuple[Any, ...]], names: Sequence[str], deadline: float | None = None
    ) -> Iterator[tuple[int, Any]]:
        """(place of the call, what it returned), as they end. calls: a function and its arguments each; names: what WorkerDied calls them.
        None is begun after the deadline (time.monotonic)."""
        waiting = list(enumerate(calls))
        if self.pool is None:
            while waiting and _before(deadline):
                at, (function, *arguments) = waiting.pop(0)
                yield at, function(*arguments)
            return
        at_once = 2 * self.number if deadline is None else self.number  # what is ready keeps a worker busy while a result is stored
        running: dict[Future[Any], int] = {}
        try:
            while waiting or running:
                while waiting and len(running) < at_once and _before(deadline):
                    at, (function, *arguments) = waiting[0]
                    running[self.pool.submit(function, *arguments)] = at
                    del waiting[0]
                if not running:
                    return
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    result = future.result()
                    yield running.pop(future), result
        except BrokenProcessPool:
            told = " or ".join([names[at] for at in running.values()][: self.number])  # the others had not begun
            raise WorkerDied(f"a worker process died, by a signal or for want of memory, in {told}; what was finished is stored") from None


def _before(deadline: float | None) -> bool:
    return deadline is None or time.monotonic() < deadline


def _begin(begin: Callable[..., None] | None, arguments: tuple[Any, ...], end: Callable[[], None] | None) -> None:
    """In a worker: Ctrl-C is the parent's to answer, one thread for torch, and no life without the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["OMP_NUM_THREADS"] = "1"
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()
    if begin:
        begin(*arguments)
    if end:
        Finalize(None, end, exitpriority=0)


def _end_with(sentinel: int) -> None:
    wait_for([sentinel])
    os._exit(1)


class terminate_is_interrupt:
    """While this holds, SIGTERM is as Ctrl-C."""

    def __enter__(self) -> None:
        self.main = threading.current_thread() is threading.main_thread()
        if self.main:
            self.before = signal.signal(signal.SIGTERM, signal.default_int_handler)

    def __exit__(self, *_: object) -> None:
        if self.main:
            signal.signal(signal.SIGTERM, self.before)
