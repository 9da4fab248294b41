"""The pages say what is so: their code and command lines run, their links lead somewhere, their tables are those of the code.

The blocks of a page run in order, in one folder and one namespace. `beyond-away` lines run in this process, cut down to a few games
(see `smaller`); `make` lines are looked up in the Makefile, and the `beyond-away` lines of their recipes run too.
"""

from __future__ import annotations

import importlib
import os
import re
import shlex
import shutil
import sys
import traceback
from collections.abc import Iterator
from contextlib import redirect_stderr
from dataclasses import dataclass
from importlib.util import find_spec
from io import StringIO
from itertools import takewhile
from pathlib import Path
from typing import Any, NoReturn

import pytest
import torch

import tabletop
from agents import away_heuristic, beyond_heuristic
from away_env.cards import QUARTERS, TABLE, turned
from training.cli import COMMANDS, main
from training.config import PRESETS
from training.describe import describe

ROOT = Path(__file__).parents[1]
PAGES = {path.relative_to(ROOT).as_posix(): path.read_text() for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))}
A_RUN = "runs/beyond-0-quick"  # there for every page, as after `make run`

#: What commands get in place of such options of their own, to be over in a second or two.
SMALL = {
    "train": {
        "preset": "smoke",
        "decisions": "500",
        "imitate": "0",
        "tables": "8",
        "steps": "32",
        "evaluate-games": "8",
        "final-games": "8",
        "threads": "1",
    },
    "evaluate": {"games": "20"},
    "exploit": {
        "decisions": "300",
        "tables": "8",
        "steps": "16",
        "evaluate-games": "8",
        "final-games": "8",
        "threads": "1",
    },
    "arena": {"games": "2", "deals-per-block": "1", "workers": "1"},
    "variants": {"games": "4", "ladder-games": "0", "positions": "2", "iterations": "4", "decisions-per-variant": "300", "workers": "1"},
    "bench": {"seconds": "0.01", "repeats": "1"},
}


@dataclass
class Block:
    """A fenced block: its page, the line of its first line, its language and its text."""

    page: str
    line: int
    language: str
    text: str


def blocks(page: str) -> Iterator[Block]:
    begun: Block | None = None
    for number, line in enumerate(PAGES[page].splitlines(), 1):
        if not line.startswith("```"):
            if begun:
                begun.text += line + "\n"
        elif begun:
            yield begun
            begun = None
        else:
            begun = Block(page, number + 1, line.removeprefix("```"), "")
    assert begun is None, f"{page}:{begun.line}: the block has no end"


def prose(page: str) -> Iterator[tuple[int, str]]:
    """(number, line) of the lines outside fenced blocks."""
    inside = False
    for number, line in enumerate(PAGES[page].splitlines(), 1):
        if line.startswith("```"):
            inside = not inside
        elif not inside:
            yield number, line


def wrong(page: str, line: int, what: object) -> NoReturn:
    pytest.fail(f"{page}:{line}: {what}", pytrace=False)


# -- code and command lines --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def a_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds a run of a few decisions."""
    folder = tmp_path_factory.mktemp("docs")
    before = Path.cwd()
    os.chdir(folder)
    try:
        assert main(smaller(["train", "beyond"])) == 0
    finally:
        os.chdir(before)
    return folder


@pytest.mark.filterwarnings("ignore:The old environment creation API:DeprecationWarning")  # one of the suites that bench measures
@pytest.mark.parametrize("page", [page for page in PAGES if "```" in PAGES[page]])
def test_code_and_commands(page: str, a_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(a_run / "runs", tmp_path / "runs")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    names: dict[str, Any] = {"__name__": "docs"}
    for block in blocks(page):
        if block.language == "python":
            if file := re.match(r"# (\w+\.py)\n", block.text):  # a file to be
                Path(file[1]).write_text(block.text)
            run_python(block, names)
        elif block.language == "sh":
            for line, command in commands(block):
                run_command(page, line, command)
        elif block.language != "text":
            wrong(page, block.line, f"blocks are python, sh or text, not {block.language!r}")
    torch.set_num_threads(threads)


def run_python(block: Block, names: dict[str, Any]) -> None:
    try:
        exec(compile("\n" * (block.line - 1) + block.text, block.page, "exec"), names)
    except Exception as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == block.page]
        at = lines[-1] if lines else getattr(error, "lineno", None)
        wrong(block.page, at or block.line, f"{type(error).__name__}: {error}")


def commands(block: Block) -> Iterator[tuple[int, str]]:
    """(line, command) of a shell block; lines that end in a backslash go on."""
    whole, start = "", block.line
    for number, line in enumerate(block.text.splitlines(), block.line):
        start = start if whole else number
        whole += line.removesuffix("\\")
        if not line.endswith("\\"):
            if whole.strip() and not whole.lstrip().startswith("#"):
                yield start, whole
            whole = ""


def run_command(page: str, line: int, command: str) -> None:
    words = shlex.split(command, comments=True)
    if ">" in words:
        words = words[: words.index(">")]
    while re.fullmatch(r"NUMBA_\w+=1", words[0]):
        words.pop(0)
    program, *arguments = words
    if program == "beyond-away":
        if shutil.which("node") or not any(word.startswith("program:node ") for word in arguments):
            run_ours(page, line, arguments)
    elif program == "make":
        recipes = makefile()
        targets = [word for word in arguments if "=" not in word]
        for target in targets:
            if target not in recipes:
                wrong(page, line, f"the Makefile has no target {target!r}; there are {', '.join(recipes)}")
            for recipe in recipes[target]:
                if recipe[0] == "$(BIN)/beyond-away":
                    run_ours(page, line, recipe[1:])
    elif program == "python" and arguments[:1] == ["-m"]:
        if find_spec(arguments[1]) is None:
            wrong(page, line, f"there is no module {arguments[1]}")
        for path in arguments[2:]:
            if path.startswith("tests/") and not (ROOT / path).exists():
                wrong(page, line, f"there is no {path}")
    elif program != "tensorboard" or find_spec("tensorboard") is None:
        wrong(page, line, f"no rule says how to check {command!r}")


def run_ours(page: str, line: int, arguments: list[str]) -> None:
    made = smaller(arguments)
    said = StringIO()
    try:
        with redirect_stderr(said):
            status: Any = main(made)
    except SystemExit as error:
        status = error.code
    except Exception as error:
        status = f"{type(error).__name__}: {error}"
    if status and "--help" not in made:
        wrong(page, line, f"beyond-away {shlex.join(made)}: {status} {said.getvalue().strip()}")


def smaller(arguments: list[str]) -> list[str]:
    """The arguments with a small budget; the run's folder is what the page says, and is new unless it is resumed."""
    if "--help" in arguments:
        return arguments
    small = dict(SMALL.get(arguments[0], {}))
    kept: list[str] = []
    given: dict[str, str] = {}
    skip = False
    for word, after in zip(arguments, [*arguments[1:], ""], strict=True):
        name = word.removeprefix("--")
        if skip and not word.startswith("--"):
            continue
        skip = False
        if word == "--retrain":  # tests/training/test_variants.py does that
            continue
        if word.startswith("--") and not after.startswith("--"):
            given[name] = after
        if word.startswith("--") and (name in small or (small and name == "minutes")):
            skip = True
            continue
        kept.append(word)
    if arguments == ["bench"]:
        kept.append("beyond")
    if arguments[0] == "arena":
        agents = list(takewhile(lambda word: not word.startswith("--"), kept[2:]))
        few = [re.sub(r"\biterations=\d+", "iterations=2", word) for word in (agents if len(agents) < 4 else agents[::3])]
        kept[2 : 2 + len(agents)] = few
    if arguments[0] == "train":
        folder = given.get("out", f"runs/{arguments[1]}-{given.get('seed', 0)}-{given.get('preset', 'quick')}")
        if "out" not in given:
            kept += ["--out", folder]
        if "--resume" in arguments:
            small = {"decisions": "600"}
        else:
            shutil.rmtree(folder, ignore_errors=True)
        kept.append("--quiet")
    return kept + [word for name, value in small.items() for word in (f"--{name}", value)]


def makefile() -> dict[str, list[list[str]]]:
    """The recipes of the Makefile's targets, as words."""
    recipes: dict[str, list[list[str]]] = {}
    target = ""
    for line in (ROOT / "Makefile").read_text().replace("\\\n", " ").splitlines():
        if match := re.match(r"([a-z]+):(?!=)", line):
            target = match[1]
            recipes[target] = []
        elif line.startswith("\t") and target:
            recipes[target].append(line.split())
        elif line.strip():
            target = ""
    return recipes


# -- links and names ---------------------------------------------------------------------------------------------------


def anchors(text: str) -> set[str]:
    """What links to headings of a page are called."""
    headings = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower().replace("`", "")).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES)
def test_links(page: str) -> None:
    for number, line in prose(page):
        for target in re.findall(r"\]\(([^)]+)\)", line):
            if re.match(r"https?://", target):
                continue
            path, _, anchor = target.partition("#")
            file = (ROOT / page).parent / path if path else ROOT / page
            if not file.exists():
                wrong(page, number, f"the link leads to {target}, which is not there")
            if anchor and anchor not in anchors(file.read_text()):
                wrong(page, number, f"{path or page} has no heading #{anchor}")


def test_every_page_is_named_in_the_readme() -> None:
    linked = set(re.findall(r"\]\((docs/[\w-]+\.md)", PAGES["README.md"]))
    assert linked == set(PAGES) - {"README.md"}


@pytest.mark.parametrize("page", PAGES)
def test_names_in_the_text(page: str) -> None:
    """Modules, attributes, files and commands that the text names are there."""
    for number, line in prose(page):
        for code in re.findall(r"`([^`]+)`", line):
            if re.fullmatch(r"(tests|docs|examples|tabletop|beyond_env|away_env|agents|training)/[\w./*-]*", code):
                if not list(ROOT.glob(code.rstrip("/"))):
                    wrong(page, number, f"there is no {code}")
            elif match := re.match(r"(?:tabletop|beyond_env|away_env|beyond_v0|agents|training)(?:\.\w+)+", code):
                if not is_there(match[0].replace("beyond_v0.", "beyond_env.beyond_v0.", 1) if code.startswith("beyond_v0") else match[0]):
                    wrong(page, number, f"there is no {match[0]}")
            elif (match := re.match(r"beyond-away (\w+)", code)) and match[1] not in COMMANDS:
                wrong(page, number, f"there is no command {match[1]!r}")


def is_there(dotted: str) -> bool:
    """Is it a module, or an attribute of one?"""
    if dotted == "tabletop.games":  # a function, and the group of entry points
        return True
    first, *rest = dotted.split(".")
    found: Any = importlib.import_module(first)
    path = first
    for name in rest:
        path += f".{name}"
        if not hasattr(found, name):
            try:
                importlib.import_module(path)
            except ImportError:
                return False
        found = getattr(found, name, sys.modules.get(path))
    return True


# -- tables that are the code's ----------------------------------------------------------------------------------------


def observation_page(game: str) -> str:
    return "docs/observation.md" if game == "beyond" else f"docs/observation-{game}.md"


@pytest.mark.parametrize("game", tabletop.games())
def test_observation_page_is_the_commands_output(game: str) -> None:
    page = observation_page(game)
    assert PAGES[page] == describe(tabletop.game(game)) + "\n", f"write it anew: beyond-away rules {game} > {page}"


@pytest.mark.parametrize("game", tabletop.games())
def test_rules_page_names_every_option_and_every_action(game: str) -> None:
    text, found = PAGES[f"docs/rules-{game}.md"], tabletop.game(game)
    for name in found.rules.names():
        assert re.search(rf"`{name}[=`]", text), f"docs/rules-{game}.md does not name the option {name}"
    for word in {name.partition(":")[0] for name in found.actions.names}:
        assert re.search(rf"`{word}[:`]", text), f"docs/rules-{game}.md does not name the action {word}"
    assert f"{found.num_actions} actions" in text


@pytest.mark.parametrize(("game", "letter"), [("beyond", "C"), ("away", "A")])
def test_rules_page_lists_the_choices_it_marks(game: str, letter: str) -> None:
    text, _, listed = PAGES[f"docs/rules-{game}.md"].partition("## The choices")
    marked = set(re.findall(rf"\b{letter}\d+\b", text.partition("## Material")[2]))
    choices = re.findall(rf"^\| ({letter}\d+) \|", listed, re.M)
    assert marked == set(choices) and choices == [f"{letter}{k + 1}" for k in range(len(choices))]


def table_rows(page: str, head: str) -> list[list[str]]:
    """The cells of the table whose first line begins so."""
    lines = PAGES[page].partition(f"\n| {head}")[2].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in takewhile(lambda line: line.startswith("|"), lines)]


def test_card_table_of_a_way() -> None:
    page = "docs/rules-away.md"
    expected = []
    for design in TABLE.designs:
        stations = f"{design.stations}{', a vortex' if design.vortices else ''}"
        cards = [faction for name, faction in TABLE.deck if name == design.name]
        cards += [f"{TABLE.solar.count(design.name)} solar"] if design.name in TABLE.solar else []
        expected.append([design.name, stations, design.text, ", ".join(cards)])
    assert table_rows(page, "design |") == expected
    actions: dict[str, list[str]] = {}
    for name, faction in TABLE.deck[TABLE.num_exploration :]:
        actions.setdefault(name, []).append(faction)
    assert {name: factions.split(", ") for name, factions, _ in table_rows(page, "action card |")} == actions
    exploration = TABLE.num_exploration
    assert f"{exploration} exploration cards (A3) and {len(TABLE.deck) - exploration} action cards" in PAGES[page]


def test_frames_of_a_way() -> None:
    for seat, (number, _, cell, turn, row, column) in enumerate(table_rows("docs/rules-away.md", "seat |")):
        assert int(number) == seat
        for r, c in ((2, 3), (0, 8), (4, 4)):
            values = {"r": r, "c": c, "o": 3}
            own = turned((r, c), QUARTERS[seat])
            assert eval(f"({cell})", values) == own
            assert eval(turn, values) % 4 == (3 + QUARTERS[seat]) % 4
            for line in (row, column):  # that line has the cell
                word, _, called = line.strip("`").partition(":")
                assert eval(called, values) == own[("row", "col").index(word)]


@pytest.mark.parametrize(
    ("heading", "module"), [("Beyond's heuristic", beyond_heuristic), ("The heuristic of a_way", away_heuristic)], ids=["beyond", "away"]
)
def test_weights_of_the_heuristics(heading: str, module: Any) -> None:
    text = PAGES["docs/agents.md"].partition(f"## {heading}\n")[2].partition("\n## ")[0]
    shown = re.findall(r"^\| `(\w+)` \| ([\d.]+) \|", text, re.M)
    assert [(name, float(value)) for name, value in shown] == list(module.WEIGHTS.items())


def test_presets() -> None:
    shown = re.findall(r"^\| `(\w+)`(?: \(default\))? \| ([\d.]+) \|", PAGES["docs/training.md"], re.M)
    assert {name: float(minutes) for name, minutes in shown} == {name: preset["minutes"] for name, preset in PRESETS.items()}


def test_readme_has_the_places_for_numbers() -> None:
    for name in ("bench", "strength", "strength-away"):
        assert re.search(rf"<!-- {name} -->\n.+\n<!-- /{name} -->", PAGES["README.md"], re.S)
