"""Who may import whom: training -> agents -> games -> kit. Over the syntax trees of all files, and over what is really loaded."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
GAMES = tuple(sorted(path.name for path in ROOT.glob("*_env") if (path / "__init__.py").exists()))
OWN = ("tabletop", *GAMES, "agents", "training")
FILES = [path for package in OWN for path in sorted((ROOT / package).rglob("*.py"))]
MAY_IMPORT = {
    "tabletop": {"tabletop"},
    **{game: {"tabletop", game} for game in GAMES},
    "agents": {"tabletop", "agents", *GAMES},
    "training": {"tabletop", "agents", "training"},
}
HEAVY = {"torch", "stable_baselines3", "sb3_contrib", "safetensors", "matplotlib", "pygame", "tensorboard"}


class Import(NamedTuple):
    module: str
    line: int
    at_top: bool  # runs when the file is imported


def imports(path: Path) -> Iterator[Import]:
    """Every import of a file, those for type checking only left out."""
    for node, at_top in _nodes(ast.parse(path.read_text()), True):
        if isinstance(node, ast.Import):
            yield from (Import(alias.name, node.lineno, at_top) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: a relative import"
            yield Import(node.module or "", node.lineno, at_top)


def _nodes(node: ast.AST, at_top: bool) -> Iterator[tuple[ast.AST, bool]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        yield child, at_top
        yield from _nodes(child, at_top and not inside)


def top(module: str) -> str:
    return module.partition(".")[0]


def place(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_there_is_something_to_check() -> None:
    assert "beyond_env" in GAMES
    assert len(FILES) > 40


@pytest.mark.parametrize("package", OWN)
def test_imports_run_one_way(package: str) -> None:
    wrong = [
        f"{place(path)}:{found.line} imports {found.module}"
        for path in sorted((ROOT / package).rglob("*.py"))
        for found in imports(path)
        if top(found.module) in {*OWN, "tests"} - MAY_IMPORT[package]
    ]
    assert not wrong


def test_a_game_is_imported_only_by_its_own_agents() -> None:
    """Agents take any game, but for the modules <game>_<what they do>, which take that one."""
    for path in sorted((ROOT / "agents").rglob("*.py")):
        named = {top(found.module) for found in imports(path)} & set(GAMES)
        game, _, part = path.stem.partition("_")
        assert named <= ({f"{game}_env"} if part else set()), place(path)


def test_the_kit_and_training_name_no_game() -> None:
    """Neither as a name nor as a text; docstrings may give examples."""
    games = {game.removesuffix("_env") for game in GAMES} | set(GAMES) | {f"{game.removesuffix('_env')}_v0" for game in GAMES}
    for package in ("tabletop", "training"):
        for path in sorted((ROOT / package).rglob("*.py")):
            tree = ast.parse(path.read_text())
            docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
            for node in ast.walk(tree):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
                    assert node.value not in games, f"{place(path)}:{node.lineno}"
                elif isinstance(node, ast.Name | ast.Attribute):
                    name = node.id if isinstance(node, ast.Name) else node.attr
                    assert name not in games, f"{place(path)}:{node.lineno}"


def test_the_kit_needs_learning_libraries_only_in_its_stable_baselines_view() -> None:
    for path in FILES:
        if path.is_relative_to(ROOT / "agents") or path.is_relative_to(ROOT / "training"):
            continue
        needed = {top(found.module) for found in imports(path)} & HEAVY
        assert needed <= ({"stable_baselines3"} if place(path) == "tabletop/sb3.py" else set()), place(path)


def test_torch_is_imported_late() -> None:
    """At the top of agents/network.py and of the three modules of training that are all torch; elsewhere inside functions."""
    at_top = {place(path) for path in FILES for found in imports(path) if top(found.module) in HEAVY and found.at_top}
    assert at_top == {"agents/network.py", "tabletop/sb3.py", "training/checkpoint.py", "training/lookahead.py", "training/ppo.py"}
    inside = {place(path) for path in FILES for found in imports(path) if top(found.module) == "torch"}
    assert {name for name in inside if name.startswith("agents/")} == {"agents/network.py", "agents/policy.py"}


def test_nothing_needs_pickle() -> None:
    for path in FILES:
        if path.parent.name in ("agents", "training"):
            loaded = {found.module for found in imports(path)}
            assert not loaded & {"pickle", "cloudpickle", "dill", "joblib", "marshal", "shelve"}, place(path)
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Call):
                    called = ast.unparse(node.func)
                    assert called not in ("torch.load", "torch.save", "eval", "exec"), place(path)
                    if called == "np.load":
                        assert "allow_pickle=False" in [ast.unparse(keyword) for keyword in node.keywords], place(path)


@pytest.mark.parametrize("module", ["tabletop", *GAMES, "agents.named", "agents.policy", "training.cli"])
def test_importing_loads_nothing_heavy(module: str) -> None:
    code = f"import sys, {module}; print(*sorted({{name.partition('.')[0] for name in sys.modules}} & {HEAVY!r}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.split() == []
