"""The variant lab: its design, its games, and that a study that was stopped goes on to the same end."""

from __future__ import annotations

import os
import re
import shutil
import signal
import threading
import time
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import tabletop
from tabletop.errors import RulesError
from training import cli
from training.arena_store import StoreError, interrupts
from training.comparison import paired, running_interval
from training.play import play
from training.variants import RETRAIN, Searches, Study, design, new_study
from training.variants_block import Block, play_block
from training.variants_pictures import forest
from training.variants_report import write_report
from training.variants_run import Lab, Workers, study_folder

BEYOND = tabletop.game("beyond")


def study(games: int = 12, tables: tuple[str, ...] = ("random",), **more: Any) -> Study:
    cells = design(BEYOND, ["start_tokens=2,4"], (2, 3), rules="end_depletions=1")
    return new_study(BEYOND, cells, tables, games, **more)


# -- the design --------------------------------------------------------------------------------------------------------


def test_all_combinations_or_one_at_a_time() -> None:
    vary = ["protection=false,true", "start_tokens=2,3,4"]
    full = design(BEYOND, vary, (2, 4))
    assert len(full) == 12 and len({str(cell) for cell in full}) == 12
    assert {cell.baseline for cell in full} == {"protection=false,start_tokens=2"} and sum(cell.is_baseline for cell in full) == 2
    assert full[5].name == "protection=true,start_tokens=4" and full[5].variant == "beyond(players=2,protection=true,start_tokens=4)"
    alone = design(BEYOND, vary, one_at_a_time=True)
    assert [cell.name for cell in alone[1:]] == ["protection=true", "start_tokens=3", "start_tokens=4"]


def test_further_variants_and_other_names_for_them() -> None:
    cells = design(BEYOND, ["protection=true,false"], also=["end_distinct=true", "twin: protection=true"], rules="end_depletions=1")
    assert [(cell.name, cell.variant) for cell in cells[2:]] == [
        ("end_distinct=true", "beyond(players=2,protection=true,end_distinct=true,end_depletions=1)"),
        ("twin", cells[0].variant),
    ]


@pytest.mark.parametrize(
    ("vary", "more", "said"),
    [
        (["protektion=true,false"], {}, r"protection \(true or false\).*start_tokens \(0 to 20\).*points_unicorn"),
        (["protection"], {}, "protection"),
        (["start_tokens=2"], {}, "at least two different values; start_tokens is 0 to 20"),
        (["start_tokens=2,02"], {}, "at least two different"),
        (["start_tokens=2,21"], {}, "start_tokens=21 is not allowed; start_tokens is 0 to 20"),
        (["start_tokens=2,3", "start_tokens=4,5"], {}, "varied twice"),
        ([], {}, "nothing to compare"),
        (["start_tokens=2,3"], {"rules": "start_tokens=4"}, "varied and set by rules"),
        (["start_tokens=2,6"], {"players": (4,)}, "more than token_supply"),
        (["start_tokens=2,6"], {"players": (5,)}, "2 to 4 players"),
        (["start_tokens=2,6"], {"players": (2, 2)}, "different ones, not 2, 2"),
        (["start_tokens=2,6"], {"players": ()}, "one number or several different ones, not none"),
        (["start_tokens=2,6"], {"also": ["start_tokens=6"]}, "two variants are called start_tokens=6"),
    ],
)
def test_what_cannot_be_studied(vary: list[str], more: dict[str, Any], said: str) -> None:
    with pytest.raises((RulesError, ValueError), match=said):
        design(BEYOND, vary, **more)


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ((), "at least one agent"),
        (("nobody",), "no agent of beyond is called 'nobody'"),
        (("random", "random"), "named twice"),
        (("random + random",), "named twice at one table"),
        (("policy:nowhere",), "has no policy"),
        (("program:cat",), "one table at a time"),
    ],
)
def test_who_cannot_play(tables: tuple[str, ...], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        study(tables=tables)


# -- the games ---------------------------------------------------------------------------------------------------------


def test_a_block_is_what_play_plays_on_common_deals() -> None:
    s = study(tables=("heuristic", "heuristic + random"))
    for cell in range(4):
        block = play_block(s, Block(cell, 0, 1))
        variant = BEYOND.variant(s.cells[cell].variant)
        from agents.named import agent

        players = [agent(BEYOND, "heuristic", variant)]
        games = play(BEYOND, variant, players, np.arange(12, 24), s.seed, [[0] * variant.players])
        assert (block["deal"] == games.deal).all() and (block["seat_0"] == games.share[:, 0]).all()
        assert (block["decisions"] == games.decisions).all() and "first_agent" not in block
        mixed = play_block(s, Block(cell, 1, 0))
        assert len(mixed["deal"]) == 12 * variant.players and (np.unique(mixed["deal"]) == np.arange(12)).all()
        assert mixed["first_agent"].mean() > 0.9


def test_agents_that_draw_draw_anew_under_another_name() -> None:
    cells = design(BEYOND, [], also=["twin: "])
    s = new_study(BEYOND, cells, ["random", "heuristic"], 30)
    a, b = (play_block(s, Block(cell, 0, 0)) for cell in (0, 1))
    assert (a["deal"] == b["deal"]).all() and (a["decisions"] != b["decisions"]).any()
    assert all((play_block(s, Block(0, 1, 0))[name] == values).all() for name, values in play_block(s, Block(1, 1, 0)).items())


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The report of a study that ran without a stop."""
    folder = tmp_path_factory.mktemp("whole")
    searches = Searches(ladder_games=6, ladder_iterations=2, positions=6, iterations=4)
    results = Lab(study(12, searches=searches), folder, [24]).run()
    write_report(results, folder, "the command")
    return reports(folder)


def reports(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in ("report.md", "report.html")}


def test_a_study_that_was_stopped_goes_on_to_the_same_end(tmp_path: Path, whole: dict[str, bytes]) -> None:
    searches = Searches(ladder_games=6, ladder_iterations=2, positions=6, iterations=4)
    lab = Lab(study(12, searches=searches), tmp_path, [24])

    def stop(share: float, text: str) -> None:
        if len(lab.store.done) == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lab.run(stop)
    (tmp_path / "results" / "games-000-00-00000.parquet").write_bytes(b"PAR1 damaged")
    again = Lab(study(12, searches=searches), tmp_path, [24])
    assert len(again.store.done) == 4
    write_report(again.run(), tmp_path, "the command")
    assert reports(tmp_path) == whole


def test_an_interrupt_while_duckdb_writes_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """duckdb answers Ctrl-C with a RuntimeError, which was told as a fault of the program's."""
    lab = Lab(study(), tmp_path, [12])
    with pytest.raises(KeyboardInterrupt):
        lab.run(lambda share, text: _interrupt_a_query(tmp_path))
    assert len(lab.store.done) == 1
    with pytest.raises(RuntimeError, match="another"), interrupts():
        raise RuntimeError("another fault")


def _interrupt_a_query(folder: Path) -> None:
    connection = duckdb.connect(config={"threads": 1})
    connection.register("rows", {"number": np.arange(3_000_000)})
    threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
    connection.execute(f"COPY rows TO '{folder}/large.parquet' (FORMAT parquet, COMPRESSION zstd)")
    time.sleep(5)  # where that was quick, the signal comes here


def test_workers_change_nothing(tmp_path: Path, whole: dict[str, bytes]) -> None:
    searches = Searches(ladder_games=6, ladder_iterations=2, positions=6, iterations=4)
    write_report(Lab(study(12, searches=searches), tmp_path, [24], workers=2).run(), tmp_path, "the command")
    assert reports(tmp_path) == whole


def test_another_study_does_not_go_into_the_same_folder(tmp_path: Path) -> None:
    Lab(study(), tmp_path, [12])
    with pytest.raises(StoreError, match="seed 0, not 1"):
        Lab(study(seed=1), tmp_path, [12])
    Lab(study(), tmp_path, [48])  # more games of the same study do


def test_more_games_add_to_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A study of few games has small blocks; one of more goes on in blocks of that size."""
    monkeypatch.chdir(tmp_path)
    command = ["variants", "beyond", "--vary", "start_tokens=2,3", "--agents", "heuristic", "--quiet", "--workers", "1"]
    for games, blocks in ((6, 2), (15, 6), (4, 6)):
        assert cli.main([*command, "--games", str(games), "--ladder-games", "0", "--positions", "0"]) == 0, capsys.readouterr().err
        assert len(list(tmp_path.glob("runs/variants-beyond/results/*.parquet"))) == blocks
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["variants-beyond"]
    few = duckdb.sql(f"SELECT deal, captures FROM '{tmp_path}/runs/variants-beyond/results/games-000-*.parquet' ORDER BY deal").fetchnumpy()
    one = play_block(new_study(BEYOND, design(BEYOND, ["start_tokens=2,3"]), ["heuristic"], 18, 30_000), Block(0, 0, 0))
    assert (few["deal"] == np.arange(18)).all() and (few["captures"] == one["captures"]).all()


def test_blocks_are_not_larger_than_what_each_table_is_asked_for(tmp_path: Path) -> None:
    cells = design(BEYOND, ["start_tokens=2,4"])
    assert new_study(BEYOND, cells, ["random", "heuristic", RETRAIN], [5, 3000, 20], retrain=1.0).sizes == (5, 1000, 20)
    with pytest.raises(ValueError, match="one for each of 2 tables"):
        new_study(BEYOND, cells, ["random", "heuristic"], [1, 2, 3])


def test_the_same_cells_in_another_order_are_another_study(tmp_path: Path) -> None:
    """Blocks are named by the order of the cells: taken for another, a cell would have the games of the other one."""
    for number, values in enumerate(("4,0", "0,4")):
        made = new_study(BEYOND, design(BEYOND, [f"capture_slots={values}"]), ["random"], 4)
        if number == 0:
            Lab(made, tmp_path, [4]).run()
        else:
            with pytest.raises(StoreError, match=r"cells .*capture_slots=4.*, not .*capture_slots=0"):
                Lab(made, tmp_path, [4])


def test_files_of_others_among_the_results_are_left_alone(tmp_path: Path) -> None:
    lab = Lab(study(), tmp_path, [12])
    lab.run()
    results = tmp_path / "results"
    before = lab.results().sheets()
    for name in ("copy", "games-000-00-00000-copy", "games-099-00-00000", "games-000-07-00000"):
        (results / f"{name}.parquet").write_bytes((results / "games-001-00-00000.parquet").read_bytes())
    again = Lab(study(), tmp_path, [12]).run()
    assert again.sheets() == before and (results / "copy.parquet").exists()
    assert [Block.named(name) for name in ("games-0-0-0", "games-000-00-000000", "other-000-00-00000")] == [None] * 3


def test_a_block_in_the_place_of_another_is_found(tmp_path: Path) -> None:
    lab = Lab(study(), tmp_path, [24])
    lab.run()
    shutil.copy(lab.store.path(Block(1, 0, 0).name), lab.store.path(Block(1, 0, 1).name))
    with pytest.raises(StoreError, match=r"games-001-00-00001.parquet holds another block's deals: remove it"):
        Lab(study(), tmp_path, [24]).run()


def test_a_study_of_one_deal_says_that_it_knows_nothing(tmp_path: Path) -> None:
    results = Lab(new_study(BEYOND, design(BEYOND, ["start_tokens=2,4"]), ["heuristic"], 1), tmp_path, [1]).run()
    write_report(results, tmp_path)
    assert not any(d.sure for c in results.comparisons() for d in c.differences)
    text = (tmp_path / "report.md").read_text()
    assert "[-inf, inf]" in text and "nan" not in text


@pytest.mark.parametrize(
    ("length", "said"),
    [
        ({"retrain": 0.0}, "minutes of a training must be above 0"),
        ({"retrain": float("nan")}, "minutes of a training must be above 0"),
        ({"retrain": 1.0, "retrain_decisions": -5}, "decisions of a training must be at least 1"),
    ],
)
def test_trainings_have_a_length(length: dict[str, float], said: str) -> None:
    """Found before a folder is claimed."""
    with pytest.raises(ValueError, match=said):
        new_study(BEYOND, design(BEYOND, ["start_tokens=2,4"]), [RETRAIN], 4, **length)


def test_studies_that_name_no_folder_get_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert study_folder(study()) == Path("runs/variants-beyond")
    Lab(study(), study_folder(study()), [12])
    assert study_folder(study()) == Path("runs/variants-beyond") and study_folder(study(seed=1)) == Path("runs/variants-beyond-2")


def test_until_sure_stops_early_where_it_is_sure(tmp_path: Path) -> None:
    """Without slots there are no captures, which is seen at once; of twins nothing is ever sure but that a difference is small."""
    cells = design(BEYOND, [], also=["none: capture_slots=0", "twin: "])
    s = new_study(BEYOND, cells, ["random"], 100)
    lab = Lab(s, tmp_path, [300], until_sure=True, decide=["captures"])
    results = lab.run()
    games = {sheet.cell.name: sheet.games for sheet in results.sheets()}
    assert games["none"] == 100 and games["default"] == games["twin"] > 100
    again = Lab(s, tmp_path, [300], until_sure=True, decide=["captures"])
    before = set(again.store.done)
    again.run()
    assert again.store.done == before
    for wrong in ("luck", "skill"):  # what is searched is searched after all games, and cannot decide how many there are
        with pytest.raises(ValueError, match=rf"variants are not compared by '{wrong}' in every game; there are .*captures"):
            Lab(s, tmp_path, [300], until_sure=True, decide=[wrong])
    captures = next(d for c in results.comparisons() if c.cell.name == "none" for d in c.differences if d.metric.name == "captures")
    ours, theirs = paired(results.columns[1, 0]["captures"], results.columns[0, 0]["captures"])
    assert captures.sure and (captures.low, captures.high) == running_interval(captures.metric, ours, theirs, 0.05)
    write_report(results, tmp_path)
    assert "hold whenever one looks and stops" in (tmp_path / "report.md").read_text()


# -- what is reported --------------------------------------------------------------------------------------------------


def test_a_planted_difference_is_found_and_nothing_else_is_made_of_twins(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["variants", "beyond", "--vary", "start_tokens=2,4", "--also", "twin: start_tokens=2", "--agents", "heuristic"]
    assert cli.main([*command, "--games", "400", "--ladder-games", "0", "--positions", "0", "--workers", "1", "--out", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    assert re.search(r"start_tokens=4: rescues per game \+\d", told)
    assert "twin, 2 players, heuristic, against start_tokens=2:\n  no difference shown" in told
    rows = duckdb.sql(f"SELECT cell, metric, mean, low, high, sure FROM '{tmp_path}/differences.parquet'").fetchall()
    found = {metric: (mean, low, high) for cell, metric, mean, low, high, sure in rows if sure and cell == "start_tokens=4"}
    assert found["rescues"][1] > 0
    page = (tmp_path / "report.html").read_text()
    assert "<svg" in page and not re.search(r'(src|href)="http|url\(http|@import|<script', page)  # it needs nothing else
    sheet = duckdb.sql(f"SELECT count(*), min(deals) FROM '{tmp_path}/sheet.parquet' WHERE low <= mean AND mean <= high").fetchall()
    assert sheet == [(duckdb.sql(f"SELECT count(*) FROM '{tmp_path}/sheet.parquet'").fetchall()[0][0], 400)]


def test_search_finds_skill_and_stakes() -> None:
    searches = Searches(ladder_games=4, ladder_iterations=2, positions=8, iterations=10)
    cells = design(BEYOND, ["end_depletions=1,2"])
    s = new_study(BEYOND, cells, ["random"], 8, searches=searches)
    ladder, positions = play_block(s, Block(0, 0, 0, "ladder")), play_block(s, Block(0, 0, 0, "positions"))
    assert set(ladder["skill"]) <= {0.0, 0.5, 1.0} and len(ladder["deal"]) == 2 * 8
    assert len(positions["deal"]) == 8 and (abs(positions["stakes"]) <= 1).all()
    assert (positions["matters"] == (positions["stakes"] >= 0.05)).all()


def test_retrained_policies_play_the_variant_they_were_trained_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from training import config

    monkeypatch.setitem(config.PRESETS, "quick", config.PRESETS["smoke"])
    cells = design(BEYOND, ["start_tokens=2,4"], rules="end_depletions=1,end_enchantments=1")
    s = new_study(BEYOND, cells, [RETRAIN], 4, retrain_decisions=600)
    results = Lab(s, tmp_path, [4]).run()
    assert [sheet.table for sheet in results.sheets()] == [RETRAIN, RETRAIN]
    assert "start_tokens=4" in (tmp_path / "policies" / "001.json").read_text()


# -- one more variant --------------------------------------------------------------------------------------------------


def test_a_name_with_a_bar_does_not_break_the_table(tmp_path: Path) -> None:
    s = new_study(BEYOND, design(BEYOND, [], also=["a|b: start_tokens=4"]), ["random"], 4)
    write_report(Lab(s, tmp_path, [4]).run(), tmp_path)
    rows = [line for line in (tmp_path / "report.md").read_text().splitlines() if line.startswith("| ")]
    assert r"a\|b (4 games)" in rows[0] and len({len(re.split(r"(?<!\\)\|", row)) for row in rows}) == 1


def test_a_picture_of_nothing_is_not_drawn(tmp_path: Path) -> None:
    comparisons = Lab(new_study(BEYOND, design(BEYOND, [], also=["twin: "]), ["random"], 4), tmp_path, [4]).run().comparisons()
    with pytest.raises(ValueError, match="no share is shown to differ"):
        forest(comparisons, share=True)


@pytest.mark.parametrize("game", tabletop.games())
def test_help_and_errors_name_every_option(game: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["variants", game, "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert cli.main(["variants", game, "--vary", "nothing=1,2"]) == 2
    error = " ".join(capsys.readouterr().err.split())
    for name, allowed in tabletop.game(game).rules.allowed().items():
        assert f"{name} {allowed}; default" in shown and f"{name} ({allowed})" in error


def test_a_stop_leaves_a_report_of_what_was_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    played = Workers.run

    def stopped(self: Workers, *calls: Any) -> Any:
        yield from (result for result, _ in zip(played(self, *calls), range(3), strict=False))
        raise KeyboardInterrupt

    monkeypatch.setattr(Workers, "run", stopped)
    command = ["variants", "beyond", "--vary", "start_tokens=2,4", "--agents", "random", "--games", "30", "--players", "2", "3"]
    assert cli.main([*command, "--workers", "1", "--quiet", "--out", str(tmp_path)]) == 130
    assert "90 games" in capsys.readouterr().out
    page = (tmp_path / "report.html").read_text()
    assert "random, 2 players" in page and "start_tokens=4 against start_tokens=2" in page
