"""Runs a bot's program with its memory limited, and leaves nothing of it behind, however the process that wanted it ends.

    python -I -S supervisor.py LIFELINE BYTES PROGRAM ARGUMENT …

LIFELINE is the number of an inherited socket. When the program ends by itself, its status is written there as a line (an exit
status, or minus the number of the signal that ended it). When the socket closes, because whoever holds the other end closed it or
is gone, killed even, the program is killed. Either way all that it started goes at the end: its process group, and on Linux also what
left that group. Only the standard library, and none of this project: it starts in a few milliseconds. It is run as a process of its
own since setting limits between fork and exec is not safe in a process with threads.
"""

from __future__ import annotations

import _thread
import os
import resource
import signal
import sys
from contextlib import suppress

SET_PDEATHSIG, SET_CHILD_SUBREAPER = 1, 36  # of Linux's prctl


def main() -> None:
    lifeline, memory, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    prctl(SET_CHILD_SUBREAPER, 1)  # what loses its parent becomes this process's
    child = os.fork()
    if child == 0:
        os.close(lifeline)
        prctl(SET_PDEATHSIG, signal.SIGKILL)
        run(memory, command)
    nothing = os.open(os.devnull, os.O_RDWR)
    for pipe in (0, 1, 2):  # the program's alone: its ends must be seen to close
        os.dup2(nothing, pipe)

    def watch() -> None:
        os.read(lifeline, 1)  # nothing is ever sent: it returns at the end
        os.kill(child, signal.SIGKILL)

    _thread.start_new_thread(watch, ())
    ended = status = -1
    while ended != child:
        ended, status = os.waitpid(-1, 0)
    try:
        os.write(lifeline, b"%d\n" % os.waitstatus_to_exitcode(status))
    finally:
        try:
            kill_children()
        finally:
            os.killpg(0, signal.SIGKILL)  # where nothing is adopted, what the program started and left; and this process


def prctl(option: int, value: int) -> None:
    """Ask Linux for something; elsewhere nothing happens."""
    if sys.platform == "linux":
        with suppress(ImportError, OSError, AttributeError):
            import ctypes

            ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def kill_children() -> None:
    """Kill what is below this process, generation after generation: what a killed one leaves is adopted and comes next."""
    with suppress(ChildProcessError):  # there is none left
        while True:
            if os.waitpid(-1, os.WNOHANG) == (0, 0):
                for child in children():
                    os.kill(child, signal.SIGKILL)
                os.waitpid(-1, 0)


def children() -> list[int]:
    """Processes of which this one is the parent, as /proc tells."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError, ValueError), open(f"/proc/{name}/stat", "rb") as file:
            if int(file.read().rpartition(b")")[2].split()[1]) == os.getpid():
                found.append(int(name))
    return found


def run(memory: int, command: list[str]) -> None:
    """Become the program."""
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if memory:
            # of what is written to: garbage-collected languages reserve far more address space than they use
            kind = resource.RLIMIT_DATA if sys.platform == "linux" else resource.RLIMIT_AS
            _, most = resource.getrlimit(kind)
            if most != resource.RLIM_INFINITY:
                memory = min(memory, most)
            resource.setrlimit(kind, (memory, memory))
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.execvp(command[0], command)
    except (OSError, ValueError) as error:
        os.write(2, f"{command[0]}: {error}\n".encode(errors="replace"))
    os._exit(127)


if __name__ == "__main__":
    main()
