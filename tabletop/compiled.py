"""The compiler: `kernel` is numba's njit with a cache that can never be stale.

numba keys its cache by the one file that holds a function, so an edit in another file that the function calls goes unseen, and
NUMBA_BOUNDSCHECK is not part of the key. Here the cache lies in a folder named by a hash of *all* sources a kernel may use (the kit's
kernels, its own package, and the packages named by `uses`), the flags and the versions; any edit starts a new folder. Modules that by
the layout of a package hold nothing that is compiled (NOT_COMPILED) do not count. The user's own numba settings are left alone.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.machinery
import importlib.util
import os
import sys
import time
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core import config as _config

config: Any = _config
F = TypeVar("F", bound=Callable[..., Any])

KIT_SOURCES = ("compiled.py", "sampling.py", "step.py", "stream.py")
NOT_COMPILED = ("__init__.py", "registered.py", "text.py", "reader.py", "picture.py", "draw.py")  # and the *_v0.py views
FLAGS = ("NUMBA_BOUNDSCHECK", "NUMBA_OPT", "NUMBA_DEBUG_NUMBA", "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES")


def cache_root() -> Path:
    """Where compiled code is kept: $BEYOND_AWAY_CACHE, else $XDG_CACHE_HOME/beyond-away, else ~/.cache/beyond-away."""
    if chosen := os.environ.get("BEYOND_AWAY_CACHE"):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "beyond-away"


@cache
def package_hash(package: str) -> bytes:
    """Hash of all Python and data sources of a package (or of the one file of a plain module)."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        return package.encode()
    origin = Path(spec.origin)
    folder = origin.parent if spec.submodule_search_locations else None
    files = sorted(p for p in folder.rglob("*") if counts(package, p.name)) if folder else [origin]
    digest = hashlib.sha256()
    for path in files:
        digest.update(str(path.relative_to(folder) if folder else path.name).encode())
        digest.update(path.read_bytes())
    return digest.digest()


def counts(package: str, file: str) -> bool:
    """Does a file of a package go into compiled code?"""
    if package == "tabletop":
        return file in KIT_SOURCES
    return file.endswith((".py", ".toml")) and file not in NOT_COMPILED and not file.endswith("_v0.py")


@cache
def cache_folder(packages: tuple[str, ...]) -> Path:
    """The cache folder for kernels that use these packages, as they are now."""
    digest = hashlib.sha256()
    for package in packages:
        digest.update(package_hash(package))
    digest.update(repr((numba.__version__, np.__version__, sys.version_info[:3])).encode())
    digest.update(repr([(flag, os.environ.get(flag)) for flag in FLAGS]).encode())
    return cache_root() / "numba" / digest.hexdigest()[:20]


def used_packages(module: str, uses: Iterable[str]) -> tuple[str, ...]:
    """The packages that count for a kernel in `module`, in a fixed order.

    A module outside the kit that says itself what it uses (KERNEL_PACKAGES) counts alone, not with the whole package it lies in.
    """
    package, _, rest = module.partition(".")
    own = module.partition("__")[0] if rest and uses and package != "tabletop" else package
    return tuple(sorted({"tabletop", *uses} | ({own} if package != "__main__" else set())))


def kernel(function: F | None = None, *, uses: Iterable[str] = ()) -> Any:
    """Compile a function of the rules: `numba.njit(nogil=True)`, cached. With NUMBA_DISABLE_JIT=1 the function itself.

    uses: further packages whose sources go into the compiled code (a heuristic that calls a game's kernels names the game).
    """
    if function is None:
        return lambda f: kernel(f, uses=uses)
    if config.DISABLE_JIT:
        return function
    module = function.__module__
    own = getattr(sys.modules.get(module), "KERNEL_PACKAGES", ())
    folder = cache_folder(used_packages(module, (*uses, *own)))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        writable = os.access(folder, os.W_OK)
    except OSError:
        writable = False  # no place to keep compiled code: compile in every process
    before = config.CACHE_DIR
    config.CACHE_DIR = str(folder)
    try:
        return numba.njit(cache=writable, nogil=True)(function)
    finally:
        config.CACHE_DIR = before


def bind(template: str, name: str, packages: tuple[str, ...], **functions: Any) -> ModuleType:
    """A copy of the module `template` in which some of its global functions are a game's own.

    numba resolves globals when a function is first called, and caches by module name and file: so every game gets its own
    compiled copy of the one template, and the copies stay cached. (A closure over compiled functions would not be.)
    """
    full = f"{template}__{name}"
    if full in sys.modules:
        return sys.modules[full]
    origin = importlib.util.find_spec(template)
    assert origin is not None and origin.origin is not None
    loader = importlib.machinery.SourceFileLoader(full, origin.origin)
    spec = importlib.util.spec_from_loader(full, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    module.__dict__["KERNEL_PACKAGES"] = packages
    sys.modules[full] = module
    try:
        loader.exec_module(module)
    except BaseException:
        del sys.modules[full]
        raise
    for key, function in functions.items():
        if not hasattr(module, key):
            raise AttributeError(f"template {template} has no {key} to bind")
        setattr(module, key, function)
    return module


def announce(label: str, packages: tuple[str, ...], warm_up: Callable[[], object]) -> None:
    """Run `warm_up` (which compiles everything that `label` needs) once for each state of the sources, and say so."""
    if config.DISABLE_JIT:
        return
    stamp = cache_folder(packages) / f"{label}.ready"
    if stamp.exists():
        return
    print(f"beyond-away: compiling {label} for this machine (once, under a minute) …", file=sys.stderr, flush=True)
    start = time.perf_counter()
    warm_up()
    print(f"beyond-away: {label} compiled in {time.perf_counter() - start:.1f} s", file=sys.stderr, flush=True)
    with contextlib.suppress(OSError):  # a cache that cannot be written: compiled again in the next process, which says so again
        stamp.touch()
