"""Results in a folder, in blocks that are there whole or not at all: one parquet file each, and a manifest of what they belong to.

A block is written to a temporary file and renamed, so a process killed at any moment leaves blocks that are whole. Whoever knows
what blocks there are to play goes on by playing those that are not `done`.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from tabletop.errors import TabletopError, listed
from tabletop.reading import read_json
from training.files import Lock, make_folder, remove_parts, replaced, write_json

FOLDER = "results"
MANIFEST = "arena.json"


class StoreError(TabletopError, ValueError):
    """A folder of results is missing, unreadable, or belongs to other settings."""


class Blocks:
    """Tables of results in `folder`/results. Blocks have names (letters, digits, - and .); alike: all of them have the same columns.

    Opening reads every block once, changes nothing and needs no right to write. Blocks that cannot be read, or are not like most where
    they are to be, are listed in `damaged` and count as not done: written again, they are replaced. Only one process at a time may
    write (see `lock`), any number may read.
    """

    def __init__(self, folder: Path, alike: bool = False) -> None:
        import duckdb

        self.alike = alike
        self.folder = folder / FOLDER
        self._connection = duckdb.connect(config={"threads": 1})
        self._errors = duckdb.Error
        self._lock: Lock | None = None
        self.damaged: list[str] = []
        self.done: set[str] = set()
        self._look()

    def path(self, block: str) -> Path:
        return self.folder / f"{block}.parquet"

    def _look(self) -> None:
        """Find the blocks that are not known to be done."""
        found = sorted({path.stem for path in self.folder.glob("*.parquet")} - self.done)
        self.damaged = []
        if found and self._columns([*found, *sorted(self.done)[:1]]) is None:
            columns = {block: self._columns([block]) for block in [*found, *self.done]}
            usual = Counter(names for names in columns.values() if names).most_common(1)
            self.damaged = [b for b in found if columns[b] is None or (self.alike and columns[b] != usual[0][0])]
        self.done |= set(found) - set(self.damaged)

    def lock(self) -> None:
        """Keep other processes from writing, until `close` or the end of this one, however it ends; StoreError if one is writing.
        What others have finished since is found, and what a process that was killed had half written is removed."""
        if self._lock is None:
            self._lock = _lock(self.folder)
            remove_parts(self.folder)
            self._look()

    def close(self) -> None:
        """Let others write."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def append(self, block: str, columns: Mapping[str, Any]) -> None:
        """Write a block: columns of one length each, numpy arrays of numbers, booleans or str (as objects). No NaN, no None."""
        rows = {name: np.asarray(column) for name, column in columns.items()}
        if len({len(column) for column in rows.values()}) != 1:
            raise ValueError(f"the columns of a block must have one length, not {({name: len(c) for name, c in rows.items()})}")
        self.lock()
        write_parquet(self.path(block), rows, self._connection)
        self.done.add(block)

    def read(self, blocks: Iterable[str] | None = None) -> dict[str, np.ndarray]:
        """The columns of all blocks done, or of these, one block after another in the order of their names; {} if there are none.

        A column `block` more holds the name of each row's block.
        """
        chosen = sorted(self.done if blocks is None else set(blocks))
        if missing := [block for block in chosen if block not in self.done]:
            raise StoreError(f"{self.folder} has no block {listed(missing)}")
        if not chosen:
            return {}
        try:
            columns = self._select("* EXCLUDE (filename), parse_filename(filename, true) AS block", chosen)
        except self._errors as error:
            raise StoreError(f"results in {self.folder} cannot be read: {_line(error)}") from None
        order = np.argsort(columns["block"], kind="stable")  # files are read as they come, rows of a file in their order
        return {name: np.asarray(column)[order] for name, column in columns.items()}

    def _select(self, what: str, blocks: list[str]) -> dict[str, np.ndarray]:
        paths = [str(self.path(block)) for block in blocks]
        with interrupts():
            return self._connection.execute(f"SELECT {what} FROM read_parquet(?, filename = true)", [paths]).fetchnumpy()

    def _columns(self, blocks: list[str]) -> tuple[str, ...] | None:
        """The names of the columns of blocks; None if they cannot be read, all of them, together."""
        try:
            return tuple(self._select("*", blocks))
        except self._errors:
            return None


@contextmanager
def interrupts() -> Iterator[None]:
    """Ctrl-C stays what it is while duckdb works, which tells of it by a RuntimeError of its own."""
    try:
        yield
    except RuntimeError as error:
        if "interrupted" not in str(error).lower():
            raise
        raise KeyboardInterrupt from None


def read_manifest(folder: Path) -> dict[str, Any]:
    """What `arena.json` of a run's folder says; StoreError if there is none to read."""
    path = folder / MANIFEST
    try:
        told = read_json(path)
        if not isinstance(told, dict) or not isinstance(told.get("settings"), dict):
            raise ValueError("it holds no settings")
    except OSError as error:
        raise StoreError(f"{folder} holds no results: {MANIFEST}: {error.strerror}") from None
    except ValueError as error:
        raise StoreError(f"{path} cannot be read: {error}") from None
    return told


def write_parquet(path: Path, columns: Mapping[str, np.ndarray], connection: Any = None) -> None:
    """Write columns of one length each, texts as objects; StoreError says why it cannot be. connection: duckdb's, if there is one."""
    import duckdb

    connection = connection or duckdb.connect(config={"threads": 1})
    connection.register("rows", dict(columns))
    try:
        with replaced(path) as temporary, interrupts():
            quoted = str(temporary).replace("'", "''")
            connection.execute(f"COPY rows TO '{quoted}' (FORMAT parquet, COMPRESSION zstd)")
    except duckdb.Error as error:
        number = re.search(r'"errno":"(\d+)"', str(error))
        raise StoreError(f"cannot write {path}: {os.strerror(int(number[1])) if number else _line(error)}") from None
    finally:
        connection.unregister("rows")


def _line(error: Exception) -> str:
    return str(error).splitlines()[0]


def _lock(folder: Path) -> Lock:
    """The lock of a folder of results, which is made if need be; StoreError if another process writes to it."""
    try:
        return Lock(make_folder(folder))
    except BlockingIOError:
        raise StoreError(f"another process is writing results to {folder}") from None


def claim(folder: Path, settings: Mapping[str, Any], more: Mapping[str, Any] | None = None, locked: bool = False) -> None:
    """Make the folder that of results with these settings (JSON values), or check that it is: StoreError names what differs, or says that
    another process is writing there.

    more: what else the manifest tells; it may change from one call to the next. locked: this process holds the folder's lock.
    """
    with nullcontext() if locked else closing(_lock(folder / FOLDER)):
        _claim(folder, json.loads(json.dumps(settings)), more or {})


def _claim(folder: Path, wanted: dict[str, Any], more: Mapping[str, Any]) -> None:
    if (folder / MANIFEST).exists():
        kept = read_manifest(folder)["settings"]
        for name in [*wanted, *kept]:
            if json.dumps(kept.get(name)) != json.dumps(wanted.get(name)):  # in the same order, too: blocks go by it
                told, asked = _difference(kept.get(name), wanted.get(name))
                raise StoreError(f"{folder} holds results with {name} {told}, not {asked}: take another folder, or the same {name}")
    elif any((folder / FOLDER).glob("*.parquet")):
        raise StoreError(f"{folder} holds results of unknown settings: {MANIFEST} is missing")
    for left in folder.glob(f".{MANIFEST}.*.part"):  # of a process that was killed
        left.unlink(missing_ok=True)
    write_json(folder / MANIFEST, {"settings": wanted, **more})


def _difference(kept: Any, wanted: Any) -> tuple[str, str]:
    """Two values that differ, as text; of dictionaries the names, or only the entries that differ."""
    if isinstance(kept, dict) and isinstance(wanted, dict) and list(kept) != list(wanted):
        kept, wanted = list(kept), list(wanted)
    elif isinstance(kept, dict) and isinstance(wanted, dict):
        names = [name for name in kept if kept[name] != wanted[name]]
        kept, wanted = {name: kept[name] for name in names}, {name: wanted[name] for name in names}
    return json.dumps(kept), json.dumps(wanted)
