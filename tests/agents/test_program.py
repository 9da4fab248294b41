"""Bots as programs: they play, and what goes wrong in one costs it its game, nobody anything else, and leaves nothing behind."""

from __future__ import annotations

import fcntl
import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tabletop
from agents.named import agent
from agents.process import KINDS
from agents.program import PROTOCOL, BotFault, ProgramBot
from agents.random_agent import RandomAgent
from agents.table import play_table
from training import cli
from training.evaluate import evaluate
from training.play import play

ROOT = Path(__file__).parents[2]
GAME = tabletop.game("beyond")
TWO = GAME.variant("", 2)

#: A bot that plays the first legal action; `react` is called with every message and may do what it likes.
BOT = """
import json, os, sys, time
def say(text): print(text, flush=True)
greeting = json.dumps({"type": "ready", "protocol": 1})
decisions = 0
for line in sys.stdin:
    m = json.loads(line)
    if m["type"] == "decide":
        decisions += 1
        first = json.dumps({"action": m["legal"][0]})
    REACT
    if m["type"] == "hello": say(greeting)
    if m["type"] == "decide": say(first)
    if m["type"] == "quit": break
"""


def bot(react: str = "pass", **limits: Any) -> ProgramBot:
    code = BOT.replace("REACT", react.replace("\n", "\n    "))
    return ProgramBot(GAME, [sys.executable, "-I", "-c", code], **limits)


@pytest.mark.parametrize(
    ("react", "kind", "reason", "limits"),
    [
        ("if decisions == 2: raise ValueError('no idea')", "crash", "exit status 1: ValueError: no idea", {}),
        ("if decisions == 2: os.kill(os.getpid(), 11)", "crash", "was ended by signal 11", {}),
        ("if decisions == 2: sys.exit()", "crash", "ended with exit status 0", {}),
        ("if decisions == 2: os.close(1); time.sleep(60)", "crash", "closed its output", {}),
        ("if decisions == 2: time.sleep(60)", "timeout", "no answer within 0.3 seconds", {"decision_seconds": 0.3}),
        ("if decisions: time.sleep(0.06)", "timeout", "more than 0.2 seconds for its decisions of a game", {"game_seconds": 0.2}),
        ("if decisions == 2: os.write(1, b'x' * 3000)", "flood", "more than 2,048 bytes", {"answer_kb": 2}),
        ("while decisions == 2: os.write(1, b'x' * 5000)", "flood", "more than 65,536 bytes", {}),
        ("if decisions == 2: os.write(1, b'\\xff\\xfe' * 10)", "nonsense", "no JSON object", {}),
        ("if decisions == 2: first = '[' * 20000", "nonsense", "no JSON object", {}),
        ("if decisions == 2: first = '{\"action\": ' + '1' * 9000 + '}'", "nonsense", "no JSON object", {}),
        ("if decisions == 2: first = 'thinking'", "nonsense", "thinking", {}),
        ("if decisions == 2: say(first + chr(10) + first)", "nonsense", "went on after its answer", {}),
        ("if decisions == 2: first = '{}'", "nonsense", 'instead of {"action": NAME}', {}),
        ("if decisions == 2: first = '{\"action\": 1}'", "nonsense", 'instead of {"action": NAME}', {}),
        ("if decisions == 2: first = '{\"action\": \"fly\"}'", "nonsense", "fly, which is no action of beyond", {}),
        ("if decisions == 2: first = '{\"action\": \"capture:3:nian\"}'", "illegal", "capture:3:nian, which is not legal; legal: ", {}),
        ("if decisions == 2: x = bytearray(1 << 29)", "memory", "MemoryError", {"memory_mb": 200}),
        ("if m['type'] == 'start': say('hello?')", "nonsense", "answer", {}),
        ("sys.exit('cannot find my weights')", "start", "at its start: ended with exit status 1: cannot find my weights", {}),
        ("time.sleep(60)", "start", "at its start: no answer within 0.3 seconds", {"start_seconds": 0.3}),
        ("greeting = '{\"type\": \"ready\", \"protocol\": 7}'", "start", "speaks protocol 7; this version speaks 1", {}),
        ("greeting = '{}'", "start", 'instead of {"type": "ready"', {}),
    ],
)  # fmt: skip
def test_faults(react: str, kind: str, reason: str, limits: dict[str, Any]) -> None:
    failing = bot(react, **limits)
    played = play_table(GAME, TWO, [RandomAgent(), failing], seed=1)
    assert played.fault is not None and played.fault_seat == 1
    assert played.fault.kind == kind and kind in KINDS
    assert reason in played.fault.reason
    assert "\n" not in played.fault.reason
    assert played.rewards.tolist() == [1, -1] and played.share.tolist() == [1, 0]
    failing.close()


def test_a_bot_that_never_reads() -> None:
    """Its pipe is full at the first question of a_way, which is longer than a pipe holds in some systems; nobody waits for ever."""
    game = tabletop.game("away")
    code = 'print(\'{"type": "ready", "protocol": 1}\', flush=True); import time; time.sleep(60)'
    deaf = ProgramBot(game, [sys.executable, "-I", "-c", code], decision_seconds=0.3)
    played = play_table(game, game.variant(), [deaf, RandomAgent()])
    assert played.fault is not None and played.fault.kind == "timeout"


def test_standard_error_is_drained_and_its_end_is_kept() -> None:
    noisy = bot("if decisions: print('x' * 30_000, file=sys.stderr)\nif decisions == 10: raise KeyError('the end')")
    played = play_table(GAME, TWO, [noisy, RandomAgent()], seed=1)
    assert played.fault is not None
    assert played.fault.reason == "ended with exit status 1: KeyError: 'the end'"
    assert len(played.fault.stderr) <= 4096 and "Traceback" in played.fault.stderr
    assert str(pickle.loads(pickle.dumps(played.fault))) == played.fault.reason


def test_the_tournament_goes_on(tmp_path: Path) -> None:
    """The game after a fault is played by the program started anew; programs that do well are started once."""
    mark = tmp_path / "failed"
    failing = bot(f"if decisions == 3 and not os.path.exists({str(mark)!r}): open({str(mark)!r}, 'w'); os._exit(1)")
    other = bot()
    games = [play_table(GAME, TWO, [failing, other], seed=1, deal=deal) for deal in range(3)]
    assert [g.fault_seat for g in games] == [0, -1, -1]
    assert (failing.starts, other.starts) == (2, 1)
    failing.close()
    other.close()


@pytest.mark.parametrize("seconds", [0, 0.2])
def test_a_program_that_ends_with_its_game_loses_none(seconds: float) -> None:
    """It is started anew for the next one, whether it is gone when that begins or seen to end only when it is asked."""
    leaving = bot(f"if m['type'] == 'end': time.sleep({seconds}); sys.exit(0)")
    games = [play_table(GAME, TWO, [leaving, RandomAgent()], seed=1, deal=deal) for deal in range(4)]
    assert [game.fault for game in games] == [None] * 4
    assert leaving.starts == 4
    leaving.close()


def test_one_that_is_started_anew_and_ends_again_has_lost() -> None:
    ending = bot("if m['type'] == 'end': sys.exit(0)\nif decisions == 1 and os.path.exists(sys.argv[1]): sys.exit(7)")
    ending.command.append("/nonexistent")
    assert play_table(GAME, TWO, [ending, RandomAgent()], seed=1).fault is None
    ending.command[-1] = "/"
    played = play_table(GAME, TWO, [ending, RandomAgent()], seed=1)
    assert played.fault is not None and played.fault.reason == "ended with exit status 7" and ending.starts == 2


def test_starting_anew_takes_no_time_of_the_game_away() -> None:
    """Nor does it give any: the limit of the game still holds."""
    leaving = bot("if m['type'] == 'end': time.sleep(0.2); sys.exit(0)\nif decisions: time.sleep(0.03)", game_seconds=5)
    assert play_table(GAME, TWO, [leaving, RandomAgent()], seed=1).fault is None
    leaving.game_seconds = 0.5
    played = play_table(GAME, TWO, [leaving, RandomAgent()], seed=1)
    assert played.fault is not None and "more than 0.5 seconds for its decisions of a game" in played.fault.reason
    assert leaving.starts == 2


def test_the_deals_are_those_of_batches() -> None:
    """Alone at a table or in a batch, the same game comes of it."""

    class Last:
        name = "last"

        def act(self, observation: np.ndarray, action_mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
            return action_mask.shape[1] - 1 - action_mask[:, ::-1].argmax(axis=1)

    class First:
        name = "first"

        def act(self, observation: np.ndarray, action_mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
            return action_mask.argmax(axis=1)

    first = bot()
    batch = play(GAME, TWO, [First(), Last()], 3, seed=5)
    for game in range(len(batch.deal)):
        players = [[first, Last()][a] for a in batch.seating[game]]
        alone = play_table(GAME, TWO, players, seed=5, deal=int(batch.deal[game]))
        assert alone.fault is None
        assert alone.share.tolist() == batch.share[game].tolist() and alone.rewards.tolist() == batch.rewards[game].tolist()
        assert alone.decisions.sum() == batch.decisions[game]
    first.close()


def test_what_it_is_told(tmp_path: Path) -> None:
    log = tmp_path / "log"
    listening = bot(f"open({str(log)!r}, 'a').write(line)")
    three = GAME.variant("protection=true", 3)
    played = play_table(GAME, three, [RandomAgent(), listening, bot("if decisions == 4: first = '?'")], seed=3)
    listening.close()
    assert played.fault is not None and played.fault_seat == 2
    assert played.rewards.tolist() == [0.5, 0.5, -1]  # the others share the victory
    told = [json.loads(line) for line in log.read_text().splitlines()]
    assert [m["type"] for m in told if m["type"] != "decide"] == ["hello", "start", "end", "quit"]
    hello, start, *decisions = told[:-2]
    assert (hello["protocol"], hello["game"], hello["actions"]) == (PROTOCOL, "beyond", list(GAME.actions.names))
    assert hello["observation"]["size"] == GAME.layout.size
    assert {p["name"]: p["start"] for p in hello["observation"]["parts"]} == {n: p.start for n, p in GAME.layout.parts.items()}
    assert (start["variant"], start["players"], start["seat"], start["rules"]["protection"]) == (str(three), 3, 1, True)
    for m in decisions:
        observation = np.array(m["observation"], GAME.layout.dtype)
        assert m["decoded"] == json.loads(json.dumps(GAME.layout.decode(observation)))
        assert m["legal"] and set(m["legal"]) <= set(GAME.actions.names)
        assert 0 < m["seconds"] <= 10
    assert len(decisions) == played.decisions[1]
    assert told[-2] == {"type": "end", "rewards": played.rewards.tolist(), "fault": {"seat": 2, "kind": "nonsense"}}


def test_players_of_our_own_that_fail_lose_too() -> None:
    class Bad:
        name = "bad"

        def __init__(self, answer: Any) -> None:
            self.answer = answer

        def act(self, observation: np.ndarray, action_mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
            return self.answer(action_mask)

    cases = [
        (lambda mask: 1 // 0, "crash", "ZeroDivisionError"),
        (lambda mask: mask.argmin(axis=1), "illegal", "legal"),
        (lambda mask: np.array([0.5]), "nonsense", "agent bad was asked for 1 actions"),
        (lambda mask: np.array([999]), "nonsense", "999"),
    ]
    for answer, kind, reason in cases:
        played = play_table(GAME, TWO, [Bad(answer), RandomAgent()])
        assert played.fault is not None and (played.fault.kind, played.fault_seat) == (kind, 0)
        assert reason in played.fault.reason


class Told:
    """A player of one table in Python: legal actions, until `fails` is reached, where it raises `error`."""

    name = "told"

    def __init__(self, fails: str = "", error: BaseException | None = None, answer: Any = None) -> None:
        self.fails, self.error, self.answer, self.ends = fails, error, answer, 0

    def reach(self, where: str) -> None:
        if self.error is not None and where == self.fails:
            raise self.error

    def start(self, variant: Any, seat: int) -> None:
        self.reach("start")

    def decide(self, observation: np.ndarray, action_mask: np.ndarray) -> int:
        self.reach("decide")
        return int(action_mask.argmax()) if self.answer is None else self.answer

    def end(self, rewards: np.ndarray, fault: tuple[int, str] | None = None) -> None:
        self.ends += 1
        self.reach("end")

    def close(self) -> None:
        self.reach("close")


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize("where", ["start", "decide"])
@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (SystemExit(3), "SystemExit: 3"),
        (ValueError("bad \ud800\0\n text"), "ValueError: bad text"),
        (Mute(), "Mute: an error that cannot be shown"),
        (MemoryError(), "MemoryError"),
    ],
)
def test_whatever_a_table_bot_raises_is_its_own_loss(where: str, error: BaseException, reason: str) -> None:
    other = Told()
    played = play_table(GAME, TWO, [Told(where, error), other])
    assert played.fault is not None and played.fault_seat == 0 and (played.fault.kind, played.fault.reason) == ("crash", reason)
    assert played.fault.reason.encode() and other.ends == (where == "decide")  # a game that it was not told of has no end


@pytest.mark.parametrize("error", [RuntimeError("at the end"), SystemExit(1)])
def test_a_game_that_is_over_stands(error: BaseException) -> None:
    """Whatever a bot does when it is told so, after its own game or the other's fault."""
    bad = Told("end", error)
    assert play_table(GAME, TWO, [bad, Told()], seed=1).fault is None
    assert play_table(GAME, TWO, [bad, Told("decide", error)], seed=1).fault_seat == 1
    assert bad.ends == 2


@pytest.mark.parametrize("answer", ["reveal", 3.0, 10**30, -1, [0], b"x"])
def test_answers_that_are_no_action(answer: Any) -> None:
    played = play_table(GAME, TWO, [Told(answer=answer), RandomAgent()])
    assert played.fault is not None and (played.fault.kind, played.fault_seat) == ("nonsense", 0)
    assert "answered" in played.fault.reason


def test_in_a_batch_a_fault_is_an_error() -> None:
    failing = bot("if decisions == 5: first = 'nonsense'")
    with pytest.raises(BotFault, match=r"program:.*: answered nonsense"):
        evaluate(GAME, failing, [TWO], games=4, opponents=[RandomAgent()])


def test_bad_calls() -> None:
    with pytest.raises(ValueError, match="no program 'no-such-program'"):
        ProgramBot(GAME, "no-such-program --fast")
    for limits in ({"decision_seconds": 0}, {"game_seconds": float("nan")}, {"memory_mb": -1}, {"answer_kb": 0}):
        with pytest.raises(ValueError, match=next(iter(limits))):
            bot(**limits)
    same = bot()
    with pytest.raises(ValueError, match="one seat only"):
        play_table(GAME, TWO, [same, same])
    with pytest.raises(ValueError, match="2 players"):
        play_table(GAME, TWO, [same])


# -- nothing is left behind --------------------------------------------------------------------------------------------

#: A bot that holds a lock, as does a process that it starts; both would stay for a minute, and neither listens to signals that can be.
HOLDING = """
import fcntl, os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.signal(signal.SIGINT, signal.SIG_IGN)
lock = open(sys.argv[1], "w"); fcntl.flock(lock, fcntl.LOCK_SH)
forked = os.fork()
if not forked and "leaves" in sys.argv:  # the group, the session, its parent and all pipes
    os.setsid()
    if os.fork(): os._exit(0)
    for pipe in (0, 1, 2): os.close(pipe)
if forked:
    if "leaves" in sys.argv: os.wait()
    print('{"type": "ready", "protocol": 1}', flush=True)
    if "kills" in sys.argv: sys.stdin.readline(); sys.stdin.readline(); os.kill(os.getppid(), signal.SIGKILL)
time.sleep(60)
"""
HOW = ["stays", "leaves"] if sys.platform == "linux" else ["stays"]


def is_held(path: Path) -> bool:
    with open(path, "a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def is_soon(condition: Any) -> bool:
    deadline = time.monotonic() + 20
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return bool(condition())


@pytest.mark.parametrize("how", [*HOW, "kills"])
def test_a_bot_and_what_it_started_end_with_its_fault(tmp_path: Path, how: str) -> None:
    """Also what became a daemon, and of a bot that kills who watches over it."""
    (tmp_path / "bot.py").write_text(HOLDING)
    holding = ProgramBot(GAME, [sys.executable, "-I", str(tmp_path / "bot.py"), str(tmp_path / "lock"), how], decision_seconds=0.5)
    holding.start(TWO, 0)
    assert is_held(tmp_path / "lock")
    with pytest.raises(BotFault):
        holding.decide(np.zeros(GAME.layout.size, np.int8), np.ones(GAME.num_actions, np.int8))
    assert is_soon(lambda: not is_held(tmp_path / "lock"))
    holding.start(TWO, 0)
    assert is_held(tmp_path / "lock")
    holding.close()
    assert is_soon(lambda: not is_held(tmp_path / "lock"))


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_bot_ends_with_those_who_play(number: signal.Signals, how: str, tmp_path: Path) -> None:
    """Killed, interrupted or ended in the middle of a decision."""
    (tmp_path / "bot.py").write_text(HOLDING)
    (tmp_path / "play.py").write_text(
        "import sys, numpy as np, tabletop\nfrom agents.program import ProgramBot\n"
        "game = tabletop.game('beyond')\n"
        f"bot = ProgramBot(game, [sys.executable, '-I', {str(tmp_path / 'bot.py')!r}, {str(tmp_path / 'lock')!r}, {how!r}])\n"
        "bot.start(game.variant(), 0)\nprint('started', flush=True)\n"
        "bot.decide(np.zeros(game.layout.size, np.int8), np.ones(game.num_actions, np.int8))\n"
    )
    playing = subprocess.Popen(
        [sys.executable, str(tmp_path / "play.py")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert playing.stdout is not None
    assert playing.stdout.readline() == "started\n", playing.stderr and playing.stderr.read()
    assert is_held(tmp_path / "lock")
    playing.send_signal(number)
    playing.communicate(timeout=30)
    assert is_soon(lambda: not is_held(tmp_path / "lock"))


# -- the examples ------------------------------------------------------------------------------------------------------

EXAMPLES = ["python3 examples/bots/thumb.py", "node examples/bots/thumb.mjs"]


@pytest.mark.parametrize("command", EXAMPLES)
def test_examples(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They play both games by the protocol, and better than at random."""
    if shutil.which(command.split()[0]) is None:
        pytest.skip(f"there is no {command.split()[0]} here")
    monkeypatch.chdir(ROOT)
    (result,) = evaluate(GAME, agent(GAME, f"program:{command}"), [TWO], games=12, opponents=[RandomAgent()])
    assert result.share.mean > 0.75
    away = tabletop.game("away")
    example = ProgramBot(away, command)
    for deal, players in enumerate((2, 4)):
        rest = [RandomAgent() for _ in range(players - 1)]
        played = play_table(away, away.variant("max_rounds=20", players), [example, *rest], seed=2, deal=deal)
        assert played.fault is None and played.decisions[0] > 20
    example.close()


def test_examples_play_all_variants(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    example = ProgramBot(GAME, EXAMPLES[0])
    for players in (2, 3, 4):
        for rules in ("protection=true", "summoning=true"):
            rest = [RandomAgent() for _ in range(players - 1)]
            assert play_table(GAME, GAME.variant(rules, players), [*rest, example], seed=players).fault is None
    example.close()


@pytest.mark.parametrize(
    "command",
    ["evaluate beyond BOT --against random --games 2", "watch beyond BOT random", "arena beyond BOT random"],
    ids=lambda command: command.split()[0],
)
def test_it_is_told_that_there_are_no_more_games(command: str, tmp_path: Path) -> None:
    log, file = tmp_path / "log", tmp_path / "bot.py"
    file.write_text(BOT.replace("REACT", f"open({str(log)!r}, 'a').write(m['type'] + chr(10))"))
    words = [f"program:{sys.executable} {file}" if word == "BOT" else word for word in command.split()]
    if words[0] == "arena":
        words += ["--games", "4", "--workers", "2", "--out", str(tmp_path / "arena")]
    assert cli.main(words) == 0
    assert log.read_text().splitlines()[-1] == "quit"
