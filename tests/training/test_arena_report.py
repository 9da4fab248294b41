"""The command and its report: numbers by hand, tables that fit, a picture, one-line errors."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from rich.console import Console

from training import cli
from training.arena_picture import MOST_LETTERS, MOST_LINES, label
from training.arena_report import load, markdown, show, summary
from training.arena_results import Results
from training.statistics import share_by_deal

TOLD: dict[str, Any] = {"variant": "beyond(players=2)", "seed": 0, "until_sure": False, "damaged_blocks": [], "other_files": []}


def results(games: list[tuple[int, tuple[int, ...], tuple[float, ...]]], names: tuple[str, ...]) -> Results:
    """Games as (deal, seating, shares); seat k has 10 + k decisions of 2 + k milliseconds."""
    deal, seating, share = (np.array(column) for column in zip(*games, strict=True))
    n, seats = seating.shape
    no_fault = (np.full(n, -1), np.full(n, "", object), np.full(n, "", object))
    decisions, milliseconds = np.tile(10 + np.arange(seats), (n, 1)), np.tile(2.0 + np.arange(seats), (n, 1))
    return Results(names, seats, deal, seating, share, decisions, milliseconds, np.zeros(n, bool), *no_fault)


def told(names: tuple[str, ...], **more: Any) -> dict[str, Any]:
    return TOLD | {"agents": {name: name for name in names}} | more


def test_numbers_by_hand() -> None:
    """Three agents; a beats b in 3 of 4 games, b and c share everything, a and c have not met."""
    games = [(0, (0, 1), (1.0, 0.0)), (0, (1, 0), (0.0, 1.0)), (1, (0, 1), (1.0, 0.0)), (1, (1, 0), (1.0, 0.0))]
    games += [(0, (1, 2), (0.5, 0.5)), (0, (2, 1), (0.5, 0.5))]
    found = results(games, ("a", "b", "c"))
    report = summary(found, told(("a", "b", "c")), "b")
    assert [entry["name"] for entry in report["ranking"]] == ["a", "c", "b"]  # the prior draws c, which has not met a, towards a
    pairs = {(p["better"], p["worse"]): p["score"] for p in report["pairs"]}
    assert pairs["a", "b"]["mean"] == 0.75 and pairs["a", "b"]["games"] == 4 and pairs["a", "b"]["deals"] == 2
    expected = share_by_deal(np.array([0, 0, 1, 1]), np.array([1, 1, 1, 0.0]))
    assert (pairs["a", "b"]["low"], pairs["a", "b"]["high"]) == (expected.low, expected.high)
    assert pairs["c", "b"]["mean"] == 0.5 and pairs["a", "c"] is None
    first = report["ranking"][0]
    assert (first["share"]["mean"], first["games"], first["above_next"]) == (0.75, 4, "not played")
    assert first["decisions_per_game"] == 10.5
    assert "Order of neighbours: 2 of 2 open" in markdown(report)  # also that of a and c
    assert first["milliseconds_per_decision"] == 2.5  # the median of its seats
    assert report["decisions_per_game"]["mean"] == 21 and report["games"] == 6 and report["deals"] == 2
    assert [seat["games"] for seat in report["seats"]] == [6, 6]
    assert report["anchor"] == "b" and report["ranking"][2]["rating"]["value"] == 0
    assert "| 1 | `a` |  | – | 75.0 % [" in markdown(report)
    json.dumps(report, allow_nan=False)


def test_scores_with_three_seats() -> None:
    """0.5 and half of what a seat of one agent got more than a seat of the other's."""
    found = results([(0, (0, 1, 2), (1.0, 0.0, 0.0)), (0, (1, 2, 0), (0.5, 0.5, 0.0)), (1, (0, 0, 1), (1.0, 0.0, 0.0))], ("a", "b", "c"))
    deal, score = found.against(0, 1)
    assert deal.tolist() == [0, 0, 1] and score.tolist() == [1.0, 0.25, 0.75]
    assert found.against(2, 0)[1].tolist() == [0.0, 0.75]
    assert found.mean_share(0)[1].tolist() == [1.0, 0.0, 0.5]


def test_a_circle_is_told() -> None:
    """a beats b, which beats c in many more games, and c is no worse than a: b is rated above a."""
    games = []
    for deal in range(40):
        games += [(deal, (0, 1), (1.0, 0.0)), (deal, (1, 0), (0.0, 1.0))]
        games += [(deal, (1, 2), (1.0, 0.0)), (deal, (2, 1), (0.0, 1.0))] * 10
        games += [(deal, (0, 2), (0.5, 0.5)), (deal, (2, 0), (0.5, 0.5))] * 10
    report = summary(results(games, ("a", "b", "c")), told(("a", "b", "c")))
    order = [entry["name"] for entry in report["ranking"]]
    contrary = [entry["name"] for entry in report["ranking"] if entry.get("above_next") == "no"]
    assert contrary and all(f"{name} is rated above" in markdown(report) for name in contrary), order
    assert "who beats whom goes in a circle" in markdown(report)


def test_faults_are_counted_with_an_example() -> None:
    found = results([(deal, (0, 1), (0.0, 1.0)) for deal in range(5)], ("a", "b"))
    found.fault_seat[:3], found.fault_kind[:2], found.fault_kind[2], found.fault_reason[:3] = 0, "timeout", "crash", "too slow"
    report = summary(found, told(("a", "b")))
    last = report["ranking"][-1]
    assert last["name"] == "a" and last["faults"] == {"crash": 1, "timeout": 2} and report["faults"] == 3
    assert "1 crash, 2 timeout |" in markdown(report) and "a lost 3 games by fault, as: too slow" in markdown(report)


def test_games_without_a_turn_take_no_time() -> None:
    """Where the others' faults end them before a seat has been asked."""
    found = results([(deal, (0, 1), (1.0, 0.0)) for deal in range(5)], ("a", "b"))
    found.decisions[:3, 0] = found.milliseconds[:3, 0] = 0
    entry = next(e for e in summary(found, told(("a", "b")))["ranking"] if e["name"] == "a")
    assert entry["milliseconds_per_decision"] == 2.0


def test_names_do_not_break_markdown() -> None:
    name = "program:python3 -c 'a|b`c``\n'"
    text = markdown(summary(results([(0, (0, 1), (1.0, 0.0))], (name, "b")), told((name, "b"))))
    assert "| 1 | ``` program:python3 -c 'a\\|b`c`` ' ``` |" in text
    bars = [len(re.findall(r"(?<!\\)\|", line)) for line in text.splitlines() if line.startswith("| ") and "program" in line]
    assert bars == [7, 5, 7]  # the ranking, the pairs, the rest, as many as their headers have


def test_nothing_to_report_is_said() -> None:
    with pytest.raises(ValueError, match="no game has been finished"):
        summary(Results.of({}, ("a", "b"), 2), told(("a", "b")))
    with pytest.raises(ValueError, match="the anchor must be one of a, b, not c"):
        summary(results([(0, (0, 1), (0.0, 1.0))], ("a", "b")), told(("a", "b")), "c")


@pytest.mark.parametrize("name", ["heuristic", "search:policy=runs/a-very-long-name-of-a-run/with-more,iterations=64,playout=heuristic"])
def test_labels_of_the_picture_are_short(name: str) -> None:
    lines = label(name).split("\n")
    assert len(lines) <= MOST_LINES and max(map(len, lines)) <= MOST_LETTERS + 24
    assert "".join(lines) == name or "…" in lines[-1]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "a folder [with] marks"
    arguments = ["arena", "beyond", "heuristic", "wild[1]=random", "--out", str(out), "--games", "8", "--deals-per-block", "2", "--quiet"]
    assert cli.main([a.replace("wild[1]", "wild") for a in arguments]) == 0
    said = capsys.readouterr().out
    assert "share of the victory" in said and str(out / "report.png") in said
    kept = json.loads((out / "report.json").read_text())
    assert kept["games"] == 8 and kept["ranking"][0]["name"] == "heuristic" and kept["ranking"][1]["agent"] == "random"
    assert (out / "report.md").read_text() == markdown(kept)
    image = Image.open(out / "report.png")
    assert min(image.size) > 300 and len(set(image.convert("L").resize((64, 64)).tobytes())) > 5

    before = {path: path.read_bytes() for path in (out / "results").glob("*.parquet")}
    assert cli.main(["arena", "--report", str(out), "--anchor", "wild"]) == 0
    assert "wild has rating 0" in capsys.readouterr().out
    assert cli.main(["arena", "--resume", "--out", str(out), "--games", "12", "--quiet"]) == 0
    assert "going on from 2 blocks" in capsys.readouterr().out
    assert json.loads((out / "report.json").read_text())["games"] == 12
    assert all(path.read_bytes() == data for path, data in before.items())

    resumed = ["arena", "--resume", "--out", str(out), "--quiet"]
    for option, value in (("--players", "3"), ("--seed", "1"), ("--deals-per-block", "3"), ("--rules", "protection=true")):
        assert cli.main([*resumed, option, value]) == 2, option
        assert "--resume goes on with its own" in capsys.readouterr().err
    assert cli.main([*resumed, "--players", "2", "--rules", "protection=false", "--deals-per-block", "2"]) == 0
    turned = [a.replace("wild[1]", "wild") for a in arguments]
    turned[2:4] = turned[3:1:-1]
    assert cli.main(turned) == 2
    assert 'with agents ["heuristic", "wild"], not ["wild", "heuristic"]' in capsys.readouterr().err
    assert cli.main(["arena", "beyond", "random", "heuristic", "--report", str(out)]) == 2


@pytest.mark.parametrize(("agents", "width"), [(7, 80), (12, 80), (3, 120)])
def test_the_report_fits_the_terminal(agents: int, width: int, tmp_path: Path) -> None:
    """Nothing is cut: every share stands there with its interval, and every name."""
    names = tuple(f"agent-{k:02d}" for k in range(agents))
    rng = np.random.default_rng(0)
    games: list[tuple[int, tuple[int, ...], tuple[float, ...]]] = []
    for deal in range(6):
        for a in range(agents):
            for b in range(a):
                won = float(rng.integers(2))
                games.append((deal, (a, b), (won, 1 - won)))
    report = summary(results(games, names), told(names))
    console = Console(width=width, record=True, file=open(tmp_path / "out", "w"))  # noqa: SIM115
    show(report, console)
    text, _, _ = console.export_text().partition(" games on ")
    lines = text.splitlines()[:-1]
    assert max(map(len, lines)) <= width
    pairs = text[text.index("Share of") : text.index("How they")]
    assert len(re.findall(r"\b\d+–\d+\b", pairs)) == agents * (agents - 1)
    assert all(text.count(name) >= 3 for name in names)


def test_ctrl_c_shows_what_there_is(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from training.workers import Workers

    play = Workers.run

    def stopped(self: Workers, *arguments: Any) -> Any:
        for number, played in enumerate(play(self, *arguments)):
            if number == 3:
                raise KeyboardInterrupt
            yield played

    monkeypatch.setattr(Workers, "run", stopped)
    out = tmp_path / "a run"
    arguments = ["arena", "beyond", "heuristic", "random", "--out", str(out), "--games", "20", "--deals-per-block", "1", "--quiet"]
    assert cli.main(arguments) == 0
    said = capsys.readouterr().out
    assert "stopped early" in said and f"beyond-away arena --resume --out '{out}'" in said
    monkeypatch.undo()
    assert cli.main(["arena", "--resume", "--out", str(out), "--quiet"]) == 0
    assert load(out)[0].deal.size == 20


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name a game and two or more agents"),
        (["beyond", "random"], "at least two agents, not 1"),
        (["beyond", "random", "random"], "random is there twice"),
        (["beyond", "random", "nobody"], "no agent of beyond is called 'nobody'"),
        (["chess", "random", "heuristic"], "no game is called 'chess'"),
        (["beyond", "random", "heuristic", "--players", "7"], "2 to 4 players"),
        (["beyond", "random", "heuristic", "--rules", "x=1"], "has no option"),
        (["beyond", "random", "heuristic", "--games", "0"], "games must be at least 1"),
        (["beyond", "random", "heuristic", "--minutes", "0"], "minutes must be above 0"),
        (["beyond", "random", "heuristic", "--workers", "0"], "workers must be at least 1"),
        (["beyond", "random", "heuristic", "--seed", str(1 << 64)], "seed must be a whole number from 0 to"),
        (["beyond", "random", "heuristic", "--seed", "-1"], "seed must be a whole number from 0 to"),
        (["beyond", "random", "heuristic", "--deals-per-block", "0"], "deals per block must be at least 1"),
        (["beyond", "random", "heuristic", "--anchor", "nobody"], "the anchor must be one of random, heuristic"),
        (["beyond", "random", "heuristic", "--resume"], "holds no results to go on from"),
        (["--resume", "--out", "nowhere"], "holds no results"),
        (["--report", "nowhere"], "holds no results"),
    ],
)
def test_errors_are_one_line(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["arena", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1 and error.startswith("beyond-away: ")
    assert not list(tmp_path.rglob("*.json"))


def test_a_policy_of_another_variant_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import tabletop
    from agents.policy import CARD_FILE, DEFAULT_NETWORK, WEIGHTS_FILE, make_card, make_network, save_weights

    game = tabletop.game("beyond")
    network = DEFAULT_NETWORK | {"hidden": [8]}
    save_weights(tmp_path / WEIGHTS_FILE, make_network(game, network))
    (tmp_path / CARD_FILE).write_text(json.dumps(make_card(game, [game.variant()], network)))
    arguments = ["arena", "beyond", "random", f"policy:{tmp_path}", "--out", str(tmp_path / "run"), "--games", "2", "--quiet"]
    assert cli.main([*arguments, "--players", "3"]) == 2
    assert re.search(r"was trained for beyond\(players=2\), not for beyond\(players=3\)\n$", capsys.readouterr().err)
    assert cli.main(arguments) == 0
    save_weights(tmp_path / WEIGHTS_FILE, make_network(game, network))
    assert cli.main(arguments) == 2
    assert "digest" in capsys.readouterr().err
