"""One more option, declared once in a game's rules, is in the lab, in `--help`, in the observation and in the docs' tables."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
LINE = '    open_cards: int | None = option(3, "cards that lie open", 0, 5, none=6)\n'
AFTER = '    low_wins: bool = option(False, "the lowest card wins")\n'

CHECK = """
import sys
import numpy as np
import tabletop, toy
from training import cli
from training.describe import describe
from training.variants import design, new_study
from training.variants_block import Block, play_block

game = toy.game
tabletop.games, tabletop.game = (lambda: ("toy",)), (lambda name: game)

# the lab
cells = design(game, ["open_cards=3,5,none"], (2, 3))
assert [cell.variant for cell in cells] == [
    "toy(players=2)", "toy(players=2,open_cards=5)", "toy(players=2,open_cards=none)",
    "toy(players=3)", "toy(players=3,open_cards=5)", "toy(players=3,open_cards=none)",
]
columns = play_block(new_study(game, cells, ["random"], 20), Block(1, 0, 0))
assert len(columns["deal"]) == 20 and set(columns) >= {"seat_0", "decisions", "choices"}

# the observation, and the record
tables = tabletop.Tables(game, 2, 2, ["", "open_cards=none"])
shown = [game.layout.decode(row)["options"] for row in tables.observation]
assert [options["open_cards"] for options in shown] == [3, 6] and shown[0]["rounds"] == 2, shown
assert str(game.variant_of(tables.records[1])) == "toy(players=2,open_cards=none)"

# the docs
page = describe(game)
assert "| open_cards | 3 | 0 to 5 or none | cards that lie open |" in page
assert "| options | 38-42 | 5 |" in page

# errors and help
assert cli.main(["variants", "toy", "--vary", "shut_cards=1,2"]) == 2
try:
    cli.main(["variants", "toy", "--help"])
except SystemExit:
    pass
"""


def test_one_more_option(tmp_path: Path) -> None:
    """The line is put into a copy of the toy game, which is then played uncompiled."""
    shutil.copytree(ROOT / "tests" / "tabletop" / "toy", tmp_path / "toy", ignore=shutil.ignore_patterns("__pycache__"))
    file = tmp_path / "toy" / "__init__.py"
    before = file.read_text()
    assert before.count(AFTER) == 1
    file.write_text(before.replace(AFTER, AFTER + LINE))
    (tmp_path / "toy" / "actions.py").write_text("")  # where a game says what its actions mean
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    done = subprocess.run(
        [sys.executable, "-c", CHECK], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "open_cards  0 to 5 or none; default 3: cards that lie open" in done.stdout
    assert "open_cards (0 to 5 or none)" in done.stderr
