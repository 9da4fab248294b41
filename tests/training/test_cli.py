"""The command line: what its commands print and leave, and that errors of the user's are short."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import matplotlib.image
import numpy as np
import pytest

import tabletop
from tests.training.helpers import arguments, plays
from training import cli, config
from training.config import TrainConfig
from training.transcript import transcript

GAME = tabletop.game("beyond")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole run by the smoke preset, but shorter."""
    out = tmp_path_factory.mktemp("smoke") / "run"
    given = ["--preset", "smoke", "--decisions", "2500", "--tables", "8", "--steps", "16", "--evaluate-games", "8", "--final-games", "12"]
    assert cli.main(["train", "beyond", "--out", str(out), *given, "--hidden", "16", "--threads", "1"]) == 0
    return out


def test_a_run_leaves_what_it_says(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert plays(run)
    picture = matplotlib.image.imread(run / "curve.png")
    assert (run / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert picture.shape[0] > 300 and picture.shape[1] > 500 and picture.std() > 0.01
    game = (run / "game.txt").read_text()
    assert game.startswith("beyond(players=2), seed 0, deal 0\nseat 0: learner\nseat 1: heuristic\n")
    assert game.rstrip().splitlines()[-1].endswith(("wins", "share the victory"))
    metrics = json.loads((run / "metrics.json").read_text())
    assert [m["label"] for m in metrics[:2]] == ["untrained", "after the warm start"] and metrics[-1]["label"] == "final"
    for entry in metrics:
        assert {r["opponent"] for r in entry["results"]} == {"random", "heuristic"}
        assert all(0 <= r["low"] <= r["share"] <= r["high"] <= 1 and r["low"] < r["high"] for r in entry["results"])
    events = list((run / "tensorboard").glob("events.out.tfevents.*"))
    assert events and sum(path.stat().st_size for path in events) > 1000
    told = json.loads((run / "run.json").read_text())
    assert told["game"] == "beyond" and told["settings"]["tables"] == 8
    assert not list(run.rglob("*.part")) and not list(run.rglob(".probe*"))


def test_tensorboard_reads_the_events(run: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(run / "tensorboard"))
    events.Reload()
    assert "train/loss" in events.Tags()["scalars"]
    assert all(np.isfinite(event.value) for event in events.Scalars("train/loss"))


def test_what_a_run_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / ("a-long-folder-name-" * 5) / "run"
    assert cli.main(["train", "beyond", "--out", str(out), *arguments(decisions=1500)]) == 0
    quiet = capsys.readouterr()
    assert quiet.err == "" and "evaluated" not in quiet.out and "0:00" not in quiet.out
    lines = quiet.out.splitlines()
    assert f"checkpoint      {out}/checkpoints/{sorted(p.name for p in (out / 'checkpoints').iterdir())[-1]}" in lines
    assert f"learning curve  {out}/curve.png" in lines
    assert f"  beyond-away watch beyond policy:{out} heuristic --seed 1" in lines
    assert "95 % interval" in quiet.out
    assert cli.main(["train", "beyond", "--out", str(tmp_path / "loud"), *arguments(decisions=1500, quiet=False)]) == 0
    loud = capsys.readouterr().out
    assert "evaluated" in loud and "1,500 decisions" in loud
    assert cli.main(["watch", "beyond", f"policy:{out}", "heuristic", "--seed", "1"]) == 0
    assert "policy:run" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("game", "more"),
    [
        ("beyond", {"players": (3,), "rules": ("protection=true",)}),
        ("beyond", {"players": (4, 2), "rules": ("", "summoning=true")}),
        ("away", {"players": (3,), "rules": ("max_rounds=6",)}),
        ("away", {"players": (4,), "rules": ("max_rounds=6",)}),
    ],
)
def test_what_is_to_be_tried_next_can_be(game: str, more: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Trained for three and four players, gone on with, watched and evaluated by the commands that the run ends with."""
    out = tmp_path / "a run"
    assert cli.main(["train", game, "--out", str(out), *arguments(**{"decisions": 700, "channels": (4,), **more})]) == 0
    told = capsys.readouterr().out
    watched, evaluated, longer = (shlex.split(line)[1:] for line in told.splitlines()[-3:])
    assert cli.main(watched) == 0
    assert len(re.findall(r"^seat \d: (?:policy|heuristic)", capsys.readouterr().out, re.MULTILINE)) == more["players"][0]
    assert cli.main([*evaluated[:-1], "8"]) == 0
    assert f"players={more['players'][0]}" in capsys.readouterr().out
    at = longer.index("--players")
    assert longer[at + 1 : at + 1 + len(more["players"])] == list(map(str, more["players"])) and longer[-2:] == ["--preset", "standard"]
    assert cli.main(["train", game, "--resume", "--out", str(out), "--decisions", "900", "--quiet"]) == 0
    assert json.loads((out / "metrics.json").read_text())[-1]["decisions"] >= 900


def test_evaluate_prints_intervals(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["evaluate", "beyond", f"policy:{run}", "--games", "20"]) == 0
    told = capsys.readouterr().out
    assert "interval" in told and "random" in told and "heuristic" in told and " to " in told and "%" in told
    assert cli.main(["evaluate", "beyond", "heuristic", "--against", "random", "--games", "30", "--players", "3", "--seed", "4"]) == 0
    one = capsys.readouterr().out
    assert "beyond(players=3)" in one and one.count(" to ") == 1 and " 30 " in one
    assert cli.main(["evaluate", "beyond", "heuristic", "--against", "random", "--games", "30", "--players", "3", "--seed", "4"]) == 0
    assert capsys.readouterr().out.splitlines()[-4:] == one.splitlines()[-4:]
    assert cli.main(["evaluate", "beyond", f"policy:{run}", "--games", "4", "--rules", "protection=true", "--any-variant"]) == 0


@pytest.mark.parametrize("players", [2, 3, 4])
def test_watch(players: int, capsys: pytest.CaptureFixture[str]) -> None:
    """Every decision by its name, the position before each turn: played again by name it comes to the same end."""
    agents = ["heuristic", "random", "random", "heuristic"][:players]
    rules = ["--rules", "protection=true,summoning=true"] if players == 3 else []
    given = ["watch", "beyond", *agents, "--seed", "3", "--deal", "5", *rules]
    assert cli.main(given) == 0
    told = capsys.readouterr().out
    assert cli.main(given) == 0
    assert capsys.readouterr().out == told
    assert cli.main([*given, "--any-variant"]) == 0
    assert capsys.readouterr().out == told
    lines = told.splitlines()
    assert [line for line in lines if line.startswith("seat")][:players] == [f"seat {k}: {name}" for k, name in enumerate(agents)]
    tables = tabletop.Tables(GAME, 1, players, rules[1] if rules else None, seed=(3, 5), skip_forced=False, autoreset="disabled")
    moves = [line for line in lines if line.startswith("seat") and line.endswith(("legal)", "(forced)"))]
    assert len(moves) > 30
    for move in moves:
        seat, name = move.split("   ")[0].removeprefix("seat ").split(": ")
        assert int(tables.seat[0]) == int(seat)
        legal = int(tables.action_mask[0].sum())
        assert move.endswith("(forced)" if legal == 1 else f"({legal} legal)")
        tables.step(np.array([GAME.actions.id(name)]))
    assert tables.terminated[0]
    winners = [f"seat {k}" for k in np.flatnonzero(tables.records["won"][0])]
    assert lines[-1].startswith(" and ".join(winners))
    assert GAME.text(tables.records[0], 0) in told
    assert "stream" not in told and told.count("--- seat") > players


def test_transcript_of_a_game_without_winner(monkeypatch: pytest.MonkeyPatch) -> None:
    from agents.random_agent import RandomAgent

    step = tabletop.Tables.step

    def drawn(self: tabletop.Tables, *given: object) -> None:
        step(self, *given)  # type: ignore[arg-type]
        self.records["won"] = 0

    monkeypatch.setattr(tabletop.Tables, "step", drawn)
    assert transcript(GAME, GAME.variant(), [RandomAgent(), RandomAgent()]).endswith("a draw\n")


@pytest.mark.parametrize("game", tabletop.games())
def test_rules_tells_everything(game: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["rules", game]) == 0
    told = capsys.readouterr().out
    found = tabletop.game(game)
    for name, allowed in found.rules.allowed().items():
        assert f"| {name} |" in told and allowed.doc in told
    for part in found.layout.parts.values():
        assert f"| {part.name} |" in told and part.doc in told
    blocks = [line for line in told.splitlines() if line.startswith("| ") and "`" in line]
    shown = 0
    for block in blocks:
        ids, _, meaning = block.removeprefix("| ").split(" | ")[:3]
        low, _, high = ids.partition("-")
        shown += int(high or low) - int(low) + 1
        assert found.actions.names[int(low)] in block and found.actions.names[int(high or low)] in block
        assert len(meaning.strip(" |")) > 3, block
    assert shown == found.num_actions


def test_games(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["games"]) == 0
    told = capsys.readouterr().out
    assert all(f"{name}: " in told for name in tabletop.games())


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of PettingZoo's own games
def test_bench(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", "beyond", "--seconds", "0.01", "--repeats", "1", "--threads", "1"]) == 0
    told = capsys.readouterr()
    assert "| Beyond: Tables, 4,096 tables |" in told.out and "| Beyond: PettingZoo raw_env |" in told.out
    assert "round 1 of 1" in told.err


@pytest.mark.parametrize("command", [[], *([name] for name in cli.COMMANDS)])
def test_help(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main([*command, "--help"])
    assert ended.value.code == 0
    told = capsys.readouterr().out
    assert "beyond-away" in told
    assert len(told.splitlines()) > 5
    if command == ["train"]:
        assert "--decisions" in told and "--resume" in told and "smoke" in told
    if not command:
        assert all(name in told for name in cli.COMMANDS)


WRONG = {
    "train chess": "no game is called 'chess'; there are",
    "evaluate chess random": "no game is called 'chess'",
    "watch chess random random": "no game is called 'chess'",
    "rules chess": "no game is called 'chess'",
    "bench chess": "no game is called 'chess'",
    "evaluate beyond nobody": "no agent of beyond is called 'nobody'",
    "evaluate beyond random --against nobody": "'nobody'",
    "evaluate beyond policy:/nowhere": "/nowhere has no policy",
    "evaluate beyond random --games 0": "games must be at least 1",
    "evaluate beyond random --games -5": "games must be at least 1",
    "evaluate beyond random --players 5": "2 to 4 players",
    "evaluate beyond random --rules protection=maybe": "protection is true or false",
    "evaluate beyond random --rules protect=true": "no option 'protect=true'",
    "evaluate beyond random --seed -1": "seed must be a whole number from 0",
    "watch beyond random": "2 to 4 players",
    "watch beyond random random random random random": "2 to 4 players",
    "watch beyond random someone": "'someone'",
    "bench beyond --seconds 0": "seconds must be above 0",
    "bench beyond --repeats 0": "repeats",
    "bench beyond --threads 0": "threads",
    "train beyond --preset long": "preset must be one of smoke, quick, standard",
    "train beyond --minutes 1 --decisions 5": "not both",
    "train beyond --minutes 0": "minutes must be above 0",
    "train beyond --minutes -1": "minutes must be above 0",
    "train beyond --minutes nan": "minutes must be above 0",
    "train beyond --minutes inf": "minutes must be above 0",
    "train beyond --decisions 0": "decisions must be at least 1",
    "train beyond --players 7": "2 to 4 players",
    "train beyond --players": "name at least one",
    "train beyond --players 2 3 2": "name beyond(players=2) twice",
    "train beyond --rules protection=true summoning=false,protection=true": "name beyond(players=2,protection=true) twice",
    "train beyond --rules": "name at least one",
    "train beyond --rules points_unicorn=99": "points_unicorn is 0 to 30",
    "train beyond --seed -1": "seed must be 0 to",
    "train beyond --seed 5000000000": "seed must be 0 to",
    "train beyond --threads -1": "threads must be 0 to",
    "train beyond --imitate 1.5": "imitate must be 0 to 1",
    "train beyond --gamma nan": "gamma must be 0 to 1",
    "train beyond --learning-rate 0": "learning_rate must be above 0",
    "train beyond --hidden 64 0": "hidden must be 1 to 65536",
    "train beyond --hidden 70000": "hidden must be 1 to 65536",
    "train beyond --tables 1000000000000": "tables must be 0 to 65536",
    "train beyond --final-games 1000000000000": "final_games must be 0 to 1000000",
    "evaluate beyond random --games 1000000000000": "at most 1,000,000",
    "train beyond --tables -1": "tables must be 0 to 65536, not -1",
    "train beyond --epochs 0": "epochs must be at least 1",
    "train beyond --tables 3 --steps 43 --batch 128": "a single decision",
    "train beyond --tables 1 --steps 1": "a single decision",
    "train beyond --opponent-heuristic 0.9 --opponent-random 0.2": "together at most 1",
    "train beyond --evaluate-every -1": "evaluate_every must be at least 0, not -1",
    "train beyond --past-selves 0": "past_selves must be at least 1",
}


@pytest.mark.parametrize("command", WRONG)
def test_errors_are_one_line(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(command.split()) == 2
    told = capsys.readouterr().err
    assert told.startswith("beyond-away: ") and told.count("\n") == 1, told
    assert WRONG[command] in told
    assert not list(tmp_path.rglob("*.json"))


@pytest.mark.parametrize(
    "command",
    [
        "", "fly", "train", "rules", "evaluate beyond",
        "train beyond --colour 3", "train beyond --minutes soon", "train beyond --decisions 1.5",
    ],
)  # fmt: skip
def test_errors_of_the_grammar(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """tyro's own message, which names the option and says where help is; nothing begins."""
    with pytest.raises(SystemExit) as ended:
        cli.main(command.split())
    assert ended.value.code == 2
    told = capsys.readouterr()
    assert "--help" in told.err + told.out and "Traceback" not in told.err


def test_as_a_program(tmp_path: Path) -> None:
    """The exit status and the streams as a shell sees them."""
    command = [sys.executable, "-m", "training.cli"]
    done = subprocess.run([*command, "rules", "chess"], capture_output=True, text=True, cwd=tmp_path, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("beyond-away: no game is called 'chess'") and done.stderr.count("\n") == 1


def test_a_reader_that_goes(tmp_path: Path) -> None:
    command = f"{sys.executable} -m training.cli rules beyond | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=tmp_path, timeout=120, check=False)
    assert done.stdout.splitlines()[1:] == ["0"] and done.stderr == ""


# -- settings --------------------------------------------------------------------------------------------------------------------


def test_presets_fill_in_what_is_not_set() -> None:
    for preset in config.PRESETS:
        settings = TrainConfig(preset=preset).with_preset()
        assert settings.minutes == config.PRESETS[preset]["minutes"] and settings.imitate == config.PRESETS[preset]["imitate"]
        assert settings.with_preset() == settings
    smoke = TrainConfig(preset="smoke", tables=7, imitate=0.0, decisions=100).with_preset()
    assert (smoke.tables, smoke.imitate, smoke.minutes, smoke.decisions) == (7, 0.0, None, 100)
    assert smoke.steps == config.PRESETS["smoke"]["steps"]


def test_limits_are_of_real_settings() -> None:
    names = {field for field in TrainConfig.__dataclass_fields__}
    assert set(config.LIMITS) <= names
    numbers = {name for name, value in vars(TrainConfig()).items() if isinstance(value, int | float) and not isinstance(value, bool)}
    assert numbers <= {*config.LIMITS, "learning_rate", "evaluate_every"}


@pytest.mark.parametrize("imitate", ["0", "1"])
def test_all_or_nothing_of_a_warm_start(imitate: str, tmp_path: Path) -> None:
    assert cli.main(["train", "beyond", "--out", str(tmp_path / "run"), *arguments(decisions=600, imitate=imitate)]) == 0
    assert plays(tmp_path / "run")
    labels = [entry["label"] for entry in json.loads((tmp_path / "run" / "metrics.json").read_text())]
    assert ("after the warm start" in labels) == (imitate == "1")


def test_several_variants_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run"
    variants = {"players": (2, 3), "rules": ("", "protection=true,summoning=true")}
    assert cli.main(["train", "beyond", "--out", str(out), *arguments(decisions=900, tables=9, final_games=12, **variants)]) == 0
    told = capsys.readouterr().out
    card = json.loads(next((out / "checkpoints").glob("step-*/policy.json")).read_text())
    assert len(card["variants"]) == 4
    results = json.loads((out / "metrics.json").read_text())[-1]["results"]
    assert {r["variant"] for r in results} == set(card["variants"]) and len(results) == 8
    assert "…" not in told.removeprefix("loading …")  # no variant is cut short
    assert cli.main(["evaluate", "beyond", f"policy:{out}", "--players", "4", "--games", "4"]) == 2
    assert "not for beyond(players=4)" in capsys.readouterr().err
