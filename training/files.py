"""Files that are never half-written: write to a temporary name beside the target, then rename."""

from __future__ import annotations

import json
import os
import shutil
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # pragma: no cover  (Windows: nothing keeps two writers apart)
    fcntl = None  # type: ignore[assignment]


class RunFolderError(OSError):
    """A folder that results should go to cannot be used."""

    def __str__(self) -> str:
        return str(self.args[0])


def make_folder(path: Path) -> Path:
    """Make a folder that can be written to; RunFolderError says why not."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / f".probe-{os.getpid()}"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        raise RunFolderError(f"cannot write to {path}: {error.strerror or error}") from None
    return path


class Lock:
    """A folder is locked until `close`, or the end of this object or of the process, however it ends; BlockingIOError if another one has
    it locked. The folder stays as it is."""

    def __init__(self, folder: Path) -> None:
        if fcntl is None:  # pragma: no cover
            return
        handle = os.open(folder, os.O_RDONLY)
        self._close = weakref.finalize(self, _unlock, handle)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.close()
            raise
        except OSError:  # a file system without locks
            pass

    def close(self) -> None:
        if fcntl is not None:
            self._close()


def _unlock(handle: int) -> None:
    if fcntl is not None:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_UN)  # a forked child may have the handle too
    os.close(handle)


def lock_run(folder: Path) -> Lock:
    """Keep other processes from training in a folder; RunFolderError if one does so now."""
    try:
        return Lock(folder)
    except BlockingIOError:
        raise RunFolderError(f"another process is training in {folder}; name another folder by --out") from None


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """A temporary path to write to; it takes the place of `path` when the block ends well, and goes when it does not."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield temporary
        with open(temporary, "rb") as file:
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    with replaced(path) as temporary:
        temporary.write_text(text)


def write_json(path: Path, value: Any) -> None:
    write_text(path, json.dumps(value, indent=1) + "\n")


def write_folder(path: Path, fill: Callable[[Path], None]) -> None:
    """Let `fill` write files into a temporary folder, then rename it to `path`, which must not exist yet: a folder that is replaced
    would be gone for a moment."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    shutil.rmtree(temporary, ignore_errors=True)
    try:
        temporary.mkdir()
        fill(temporary)
        if path.exists():
            raise FileExistsError(f"{path} exists already")
        os.rename(temporary, path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def remove_parts(folder: Path) -> None:
    """Remove what a killed process had half-written in a folder."""
    for left in folder.glob(".*.part"):
        if left.is_dir():
            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink(missing_ok=True)
