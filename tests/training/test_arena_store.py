"""Blocks of results: whole or not at all, and never of other settings."""

from __future__ import annotations

import json
import os
import resource
import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from training.arena_store import Blocks, StoreError, claim, interrupts, read_manifest


def rows(start: int, n: int = 3) -> dict[str, Any]:
    return {
        "deal": np.arange(start, start + n),
        "name": np.array(["a", "bé, 'c'", ""], object)[np.arange(n) % 3],
        "share": np.array([1 / 3, 0.0, 1.0])[np.arange(n) % 3],
        "cut": np.arange(n) % 2 == 0,
    }


def test_what_is_appended_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "a folder's [results]"
    store = Blocks(folder)
    assert store.read() == {} and store.done == set()
    store.append("b-2", rows(10))
    store.append("b-1", rows(0))
    for opened in (store, Blocks(folder)):
        assert opened.done == {"b-1", "b-2"} and opened.damaged == []
        read = opened.read()
        assert read["block"].tolist() == ["b-1"] * 3 + ["b-2"] * 3
        assert read["deal"].tolist() == [0, 1, 2, 10, 11, 12]
        assert read["name"].tolist() == ["a", "bé, 'c'", ""] * 2
        assert read["share"].tobytes() == np.array([1 / 3, 0.0, 1.0] * 2).tobytes()
        assert read["cut"].tolist() == [True, False, True] * 2
        assert opened.read(["b-2"])["deal"].tolist() == [10, 11, 12]
    with pytest.raises(StoreError, match="no block b-3"):
        store.read(["b-3"])


def test_many_rows_keep_their_order(tmp_path: Path) -> None:
    store = Blocks(tmp_path)
    for k in reversed(range(12)):
        store.append(f"{k:03d}", rows(1000 * k, 700))
    assert store.read()["deal"].tolist() == [1000 * k + j for k in range(12) for j in range(700)]


@pytest.mark.parametrize("keep", [0, 3, 100, -1])
def test_a_damaged_block_is_named_and_can_be_written_again(tmp_path: Path, keep: int) -> None:
    store = Blocks(tmp_path)
    for k in range(3):
        store.append(f"b{k}", rows(k))
    path = store.path("b1")
    whole = path.read_bytes()
    path.write_bytes(whole[:keep])
    store.close()
    again = Blocks(tmp_path)
    assert again.damaged == ["b1"] and again.done == {"b0", "b2"}
    assert set(again.read()["block"]) == {"b0", "b2"}
    again.append("b1", rows(1))
    assert Blocks(tmp_path).damaged == [] and path.read_bytes() == whole


def test_a_block_of_other_columns_is_damaged(tmp_path: Path) -> None:
    store = Blocks(tmp_path)
    for k in range(3):
        store.append(f"b{k}", rows(k))
    store.append("b00", {"x": np.arange(3)})
    assert Blocks(tmp_path).damaged == []  # unless they are to be alike
    opened = Blocks(tmp_path, alike=True)
    assert opened.damaged == ["b00"] and opened.done == {"b0", "b1", "b2"}
    assert set(opened.read()["block"]) == opened.done
    store.append("b3", {"x": np.arange(3)})
    store.close()
    opened.lock()  # looks at what is new beside what is known
    assert opened.damaged == ["b00", "b3"]


def test_ctrl_c_while_a_block_is_written(tmp_path: Path) -> None:
    """duckdb calls it a RuntimeError; nothing is left of the block."""
    store = Blocks(tmp_path)
    columns = {"number": np.arange(3_000_000)}
    threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()

    def write_and_wait() -> None:
        store.append("b", columns)
        time.sleep(5)  # where that was quick, the signal comes here

    with pytest.raises(KeyboardInterrupt):
        write_and_wait()
    assert not list(store.folder.glob(".*.part"))
    store.append("b", rows(0))
    with pytest.raises(RuntimeError, match="other"), interrupts():
        raise RuntimeError("some other fault")


def test_what_a_killed_process_left_is_cleared(tmp_path: Path) -> None:
    store = Blocks(tmp_path)
    store.folder.mkdir()
    left = store.folder / ".b0.parquet.123.part"
    left.write_bytes(b"half")
    opened = Blocks(tmp_path)
    assert opened.done == set() and left.exists()  # another process may be writing it
    opened.append("b1", rows(0))
    assert not left.exists()


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    first, second = Blocks(tmp_path), Blocks(tmp_path)
    first.lock()
    with pytest.raises(StoreError, match="another process is writing"):
        second.append("b", rows(0))
    first.close()
    second.append("b", rows(0))
    assert Blocks(tmp_path).done == {"b"}


def test_nobody_changes_what_a_writer_plays_for(tmp_path: Path) -> None:
    """While one process writes, another can read; it changes neither blocks nor manifest."""
    claim(tmp_path, {"seed": 0}, {"goal": 300})
    writer = Blocks(tmp_path)
    writer.lock()
    with pytest.raises(StoreError, match="another process is writing"):
        claim(tmp_path, {"seed": 0}, {"goal": 10})
    claim(tmp_path, {"seed": 0}, {"goal": 400}, locked=True)
    assert read_manifest(tmp_path)["goal"] == 400
    writer.append("b", rows(0))
    assert Blocks(tmp_path).done == {"b"}


def test_what_others_finished_meanwhile_is_done(tmp_path: Path) -> None:
    first, second = Blocks(tmp_path), Blocks(tmp_path)
    first.append("b", rows(0))
    first.close()
    assert second.done == set()
    second.lock()
    assert second.done == {"b"}


def test_reading_writes_nothing(tmp_path: Path) -> None:
    assert Blocks(tmp_path).read() == {} and list(tmp_path.iterdir()) == []


def test_a_block_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """As on a full disk; what was finished stays, and nothing half-written."""
    store = Blocks(tmp_path)
    store.append("b0", rows(0))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (500, limits[1]))
    try:
        with pytest.raises(StoreError, match=r"cannot write .*b1\.parquet: File too large$"):
            store.append("b1", rows(0, 10_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert Blocks(tmp_path).done == {"b0"} and not list(store.folder.glob(".*.part"))


def test_columns_of_two_lengths_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="one length"):
        Blocks(tmp_path).append("b", {"deal": np.arange(2), "share": np.zeros(3)})
    assert Blocks(tmp_path).done == set()


def test_settings_are_kept_apart(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"game": "beyond", "agents": {"a": "1", "b": "2"}, "seed": 0}
    claim(tmp_path, settings, {"goal": 3})
    claim(tmp_path, settings, {"goal": 4})
    assert read_manifest(tmp_path) == {"settings": settings, "goal": 4}
    with pytest.raises(StoreError, match="results with seed 0, not 1"):
        claim(tmp_path, settings | {"seed": 1})
    with pytest.raises(StoreError, match=r'with agents \{"b": "2"\}, not \{"b": "3"\}'):
        claim(tmp_path, settings | {"agents": {"a": "1", "b": "3"}})
    with pytest.raises(StoreError, match=r'with agents \["a", "b"\], not \["b", "a"\]'):
        claim(tmp_path, settings | {"agents": {"b": "2", "a": "1"}})
    with pytest.raises(StoreError, match="with seed 0, not null"):
        claim(tmp_path, {"game": "beyond", "agents": settings["agents"]})
    assert read_manifest(tmp_path)["settings"] == settings


def test_unreadable_manifests_are_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="holds no results"):
        read_manifest(tmp_path)
    for text in ("{", "[]", json.dumps({"seed": 1})):
        (tmp_path / "arena.json").write_text(text)
        with pytest.raises(StoreError, match="cannot be read"):
            claim(tmp_path, {})
    (tmp_path / "arena.json").unlink()
    Blocks(tmp_path).append("b", rows(0))
    with pytest.raises(StoreError, match="unknown settings"):
        claim(tmp_path, {})
