"""Agents by name: one grammar, options by signature, and errors that say what there is."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

import tabletop
from agents import named
from agents.beyond_heuristic import WEIGHTS, BeyondHeuristic
from agents.named import KINDS, USAGE, UnknownAgent, agent, split_options
from agents.options import BadOption, keywords
from agents.policy import CARD_FILE, WEIGHTS_FILE, PolicyAgent, make_card, make_network, save_weights
from agents.program import ProgramBot
from agents.random_agent import RandomAgent
from training.evaluate import evaluate

GAME = tabletop.game("beyond")
AWAY = tabletop.game("away")
TWO = GAME.variant("", 2)

BOT = '''
"""A bot."""
from helper import choice

class First:
    def __init__(self, place: int = 0, boldness: float = 0.5, deep: bool = False, like: str | None = None):
        self.place, self.boldness, self.deep, self.like = place, boldness, deep, like
    def act(self, observation, action_mask, rng):
        return choice(action_mask)

def agent(table_game, *, variant=None, place=1):
    made = First(place)
    made.table_game, made.variant, made.name = table_game, variant, "mine"
    return made

def nothing(game):
    return 3

def broken(game):
    return game.no_such_thing

def needs(game, *, depth: int):
    return First(depth)
'''


@pytest.fixture
def bot(tmp_path: Path) -> Path:
    (tmp_path / "helper.py").write_text("def choice(mask):\n    return mask.argmax(axis=1)\n")
    (tmp_path / "bot.py").write_text(BOT)
    return tmp_path / "bot.py"


@pytest.mark.parametrize(
    ("text", "before", "options"),
    [
        ("", "", {}),
        ("iterations=500", "", {"iterations": "500"}),
        ("iterations=500,playout=heuristic", "", {"iterations": "500", "playout": "heuristic"}),
        ("runs/a", "runs/a", {}),
        ("runs/a,greedy=false", "runs/a", {"greedy": "false"}),
        ("runs/a=b", "runs/a=b", {}),
        ("runs/a,b,greedy=false", "runs/a,b", {"greedy": "false"}),
        ("policy=runs/a=b,iterations=64", "", {"policy": "runs/a=b", "iterations": "64"}),
        ("node bot.mjs --level 3,memory_mb=0", "node bot.mjs --level 3", {"memory_mb": "0"}),
        ("python3 -c 'a,b=1,2',memory_mb=0", "python3 -c 'a,b=1,2'", {"memory_mb": "0"}),
        ("kim's bot,greedy=true", "kim's bot", {"greedy": "true"}),
        ("x=", "", {"x": ""}),
        ("policy='runs/a,b=1',iterations=64", "", {"policy": "runs/a,b=1", "iterations": "64"}),
        ('word="it\'s"', "", {"word": "it's"}),
    ],
)
def test_where_options_begin(text: str, before: str, options: dict[str, str]) -> None:
    assert split_options(text) == (before, options)


def test_an_option_given_twice() -> None:
    with pytest.raises(UnknownAgent, match="iterations is given twice"):
        split_options("iterations=1,iterations=2")


def test_values_by_signature() -> None:
    def factory(
        game: Any, *, whole: int = 1, number: float | None = None, flag: bool = False, way: Literal["up", "down"] = "up",
        path: Path | None = None, either: int | str = 3, plain=0.5, **weights: float,
    ) -> dict[str, Any]:  # fmt: skip
        return {}

    def read(**options: str) -> dict[str, Any]:
        return keywords(factory, options, {"game"})

    assert read(whole="-3", number="2", flag="True", way="down") == {"whole": -3, "number": 2.0, "flag": True, "way": "down"}
    assert read(number="none", path="a/b", either="7", plain="2") == {"number": None, "path": Path("a/b"), "either": 7, "plain": 2.0}
    assert read(either="end", plain=".25", other="1e-3") == {"either": "end", "plain": 0.25, "other": 0.001}
    for option, allowed in {
        "whole=1.5": "a whole number",
        "number=x": "a number or none",
        "number=nan": "a number or none",
        "number=inf": "a number or none",
        "flag=1": "true or false",
        "way=left": "up or down",
    }.items():
        name, value = option.split("=")
        with pytest.raises(BadOption, match=f"takes {option}, but {name} must be {allowed}"):
            read(**{name: value})


def test_values_where_types_are_only_for_checkers() -> None:
    """Types that a module imports for type checkers alone do not keep the others from being read."""
    names: dict[str, Any] = {}
    exec("from __future__ import annotations\ndef f(game: Missing, *, policy: Missing, n: int | None = None): ...", names)
    assert keywords(names["f"], {"n": "4", "policy": "x"}, {"game"}) == {"n": 4, "policy": "x"}
    with pytest.raises(BadOption, match=r"needs the option policy; options, with their defaults: policy, n=none"):
        keywords(names["f"], {"n": "4"}, {"game"})


def test_kinds() -> None:
    assert isinstance(agent(GAME, "random"), RandomAgent)
    weighted = agent(GAME, "heuristic:others=0,threat=0.25")
    assert isinstance(weighted, BeyondHeuristic)
    assert dict(zip(WEIGHTS, weighted.weights, strict=True)) == WEIGHTS | {"others": 0.0, "threat": 0.25}
    program = agent(GAME, f"program:{sys.executable} -c 'x,y=1',decision_seconds=2.5,memory_mb=0")
    assert isinstance(program, ProgramBot)
    assert program.command == [sys.executable, "-c", "x,y=1"]
    assert (program.decision_seconds, program.memory_mb, program.game_seconds) == (2.5, 0, 600.0)


def test_every_kind_is_there_and_in_the_help() -> None:
    for name, kind in KINDS.items():
        assert kind.is_there(GAME) and kind.is_there(AWAY), name
        assert f"{kind.form(name)} (" in USAGE


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nobody", r"'nobody'; there are random, heuristic, policy:PATH, .*program:COMMAND, and your own as PATH\.py"),
        ("", "no agent of beyond is called ''; there are random"),
        ("random,x=1", "no agent of beyond is called 'random,x=1'"),
        ("random:x=1", "random:x=1: random has no option 'x'; it has no options"),
        ("random:x", r"random takes options as name=value,… \(a value with a comma in quotes\), not 'x'"),
        ("heuristic:luck=1", "heuristic:luck=1: the Beyond heuristic has no weight 'luck'; weights: promise_1"),
        ("heuristic:threat=high", "threat must be a number"),
        ("policy:", "'policy:' lacks PATH: policy:PATH"),
        ("policy", "'policy' lacks PATH: policy:PATH"),
        ("policy:x,gredy=false", "policy has no option 'gredy'; options, with their defaults: greedy=true"),
        ("policy:x,greedy=perhaps", "greedy must be true or false"),
        ("program:", "'program:' lacks COMMAND"),
        ("program:no-such-program", "no program 'no-such-program'"),
        ("program:python3,speed=9", "no option 'speed'; options, with their defaults: decision_seconds=10.0, game_seconds=600.0"),
        ("program:python3,memory_mb=-1", "memory_mb must be at least 0"),
        ("program:python3 'open", "No closing quotation"),
        ("no_such_file.py", "no file no_such_file.py"),
        ("no_such_module:Bot", "it raised ModuleNotFoundError: No module named 'no_such_module'$"),
        ("search:policy=,iterations=4", "search needs a path: policy=PATH"),
        ("heuristic:threat=inf", "threat must be a number"),
        ("agents.random_agent:Bot", "there is no Bot to call in it"),
    ],
)  # fmt: skip
def test_errors_say_what_there_is(name: str, message: str) -> None:
    with pytest.raises(UnknownAgent, match=message) as caught:
        agent(GAME, name, TWO)
    assert "\n" not in str(caught.value)


def test_a_game_without_heuristic(monkeypatch: pytest.MonkeyPatch) -> None:
    import dataclasses

    other = dataclasses.replace(GAME, name="other")
    with pytest.raises(UnknownAgent, match=r"no agent of other is called 'heuristic'; there are random, policy:PATH"):
        agent(other, "heuristic")
    assert [a.name for a in named.baselines(other)] == ["random"]


def test_a_file(bot: Path) -> None:
    """Its factory `agent`, or one that is named; the game and the variant by whatever name it calls for."""
    mine: Any = agent(GAME, str(bot), TWO)
    assert (mine.name, mine.place, mine.table_game, mine.variant) == ("mine", 1, GAME, TWO)
    assert agent(GAME, f"{bot},place=4").place == 4  # type: ignore[attr-defined]
    other: Any = agent(GAME, f"{bot}:First,place=2,boldness=1,deep=true,like=none")
    assert (other.place, other.boldness, other.deep, other.like) == (2, 1.0, True, None)
    assert type(other) is type(mine)  # the file was run once
    assert other.name == f"{bot}:First,place=2,boldness=1,deep=true,like=none"  # it had none of its own
    (result,) = evaluate(GAME, other, [TWO], games=4, opponents=[RandomAgent()])
    assert result.share.games == 4


def test_what_files_do_wrong(bot: Path) -> None:
    (bot.parent / "bad.py").write_text("x = 1\ndef f(:\n")
    (bot.parent / "worse.py").write_text("import json\nx = json.loads('?')\n")
    cases = {
        f"{bot}:Second": "no Second to call in it; there are First, agent, nothing, broken, needs",
        f"{bot}:nothing": "unlike 3",
        f"{bot}:broken": "it raised AttributeError: 'Game' object has no attribute 'no_such_thing', line 20 of bot.py",
        f"{bot}:needs": "needs the option depth; options, with their defaults: depth",
        f"{bot}:First,colour=red": "has no option 'colour'; options, with their defaults: place=0, boldness=0.5, deep=false, like=none",
        f"{bot}:First,place=first": "place must be a whole number",
        str(bot.parent / "bad.py"): "it raised SyntaxError: line 2",
        str(bot.parent / "worse.py"): "it raised JSONDecodeError",
    }
    for name, message in cases.items():
        with pytest.raises(UnknownAgent, match=re.escape(message)):
            agent(GAME, name)


def test_a_module(bot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is installed, and one in the folder where the command is given."""
    assert isinstance(agent(GAME, "agents.random_agent:RandomAgent"), RandomAgent)
    monkeypatch.chdir(bot.parent)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (bot.parent / "a_bot_of_mine.py").write_text(BOT)
    made: Any = agent(GAME, "a_bot_of_mine:First,place=3")
    assert made.place == 3


def test_the_heuristic_plays_the_variants_card_table(tmp_path: Path) -> None:
    """By name, as baseline, and as opponent: not the installed table where the variant has another."""
    import away_env

    table = (Path(away_env.__file__).parent / "cards.toml").read_text()
    copy = tmp_path / "cards.toml"
    copy.write_text(table.replace('lanes = "W>E"', 'lanes = "W-E"', 1))
    variant = AWAY.variant(f"cards={copy}")
    for made in (agent(AWAY, "heuristic", variant), named.heuristic(AWAY, variant), named.baselines(AWAY, variant)[-1]):
        assert AWAY.variant_of(made._root[0]).rules.cards == variant.rules.cards  # type: ignore[union-attr]


def test_an_option_that_is_a_policy(tmp_path: Path) -> None:
    """A factory that takes a policy gets it loaded, refused as any policy that is named; one that takes a text gets the path."""
    saved = tmp_path / "mine"
    saved.mkdir()
    save_weights(saved / WEIGHTS_FILE, make_network(GAME, {"hidden": [4], "channels": [2]}))
    (saved / CARD_FILE).write_text(json.dumps(make_card(GAME, [TWO], {"hidden": [4], "channels": [2]})))
    (tmp_path / "guided.py").write_text(
        "class Guided:\n    def act(self, observation, action_mask, rng):\n        return action_mask.argmax(axis=1)\n"
        "def agent(game, policy, *, iterations=64):\n"
        "    made = Guided()\n    made.policy, made.iterations = policy, iterations\n    return made\n"
        "def by_path(game, policy: str):\n    return agent(game, policy)\n"
    )
    made: Any = agent(GAME, f"{tmp_path / 'guided.py'},policy={saved},iterations=8", TWO)
    assert isinstance(made.policy, PolicyAgent) and made.iterations == 8
    assert agent(GAME, f"{tmp_path / 'guided.py'}:by_path,policy={saved}").policy == str(saved)  # type: ignore[attr-defined]
    with pytest.raises(UnknownAgent, match="needs the option policy"):
        agent(GAME, str(tmp_path / "guided.py"))
    with pytest.raises(tabletop.CheckpointError, match="trained for"):
        agent(GAME, f"{tmp_path / 'guided.py'},policy={saved}", GAME.variant("", 3))


@pytest.mark.parametrize("folder", ["plain", "a,b", "a,b=1", "a b,c=it's", 'a,b="1"', "ünïcode, = x"])
def test_paths_with_commas_and_quotes(folder: str, tmp_path: Path) -> None:
    """In quotes any path can be told apart from options; whoever writes a name for another path finds the quotes."""
    saved = tmp_path / folder
    saved.mkdir()
    save_weights(saved / WEIGHTS_FILE, make_network(GAME, {"hidden": [4], "channels": [2]}))
    (saved / CARD_FILE).write_text(json.dumps(make_card(GAME, [TWO], {"hidden": [4], "channels": [2]})))
    (saved / "bot.py").write_text(BOT.replace("from helper import choice", ""))
    path = named.quoted(str(saved))
    assert (path == str(saved)) == (folder == "plain")
    made: Any = agent(GAME, f"policy:{path},greedy=false", TWO)
    assert isinstance(made, PolicyAgent) and not made.greedy
    searching: Any = agent(GAME, f"search:policy={path},iterations=3", TWO)
    assert searching.iterations == 3
    assert agent(GAME, f"{named.quoted(str(saved / 'bot.py'))}:First,place=7").place == 7  # type: ignore[attr-defined]
    for name in (f"policy:{path},greedy=false", f"search:policy={path},iterations=3"):
        assert named.policy_of(name) == str(saved)
        assert named.with_policy(name.replace(path, "other"), str(saved)) == name


def test_what_stands_in_a_name() -> None:
    """Everything that may be a path, for those who want to know what an agent is made of."""
    cases = {
        "heuristic:threat=0.5": ["0.5"],
        "policy:'a,b=1',greedy=false": ["a,b=1", "false"],
        "search:policy='a b,c',iterations=3": ["a b,c", "3"],
        "program:python3 'my bot.py' --fast,memory_mb=0": ["python3", "my bot.py", "--fast", "0"],
        "my bots/bot.py:First,place=3": ["my bots/bot.py", "3"],
        "my.module:First": ["my.module"],
    }
    for name, parts in cases.items():
        assert set(parts) <= set(named.parts_of(name)), name
    assert named.policy_of("heuristic:threat=0.5") is None and named.policy_of("my.module:First,policy=x") is None


def test_an_agent_that_takes_no_attributes(tmp_path: Path) -> None:
    (tmp_path / "slots.py").write_text(
        "class agent:\n    __slots__ = ()\n    def act(self, observation, action_mask, rng):\n        return action_mask.argmax(axis=1)\n"
    )
    assert not hasattr(agent(GAME, str(tmp_path / "slots.py")), "name")


def test_one_that_plays_a_table_at_a_time(tmp_path: Path) -> None:
    """Whoever plays in batches could not ask it."""
    methods = "".join(f"    def {name}(self, *given): ...\n" for name in ("start", "decide", "end", "close"))
    (tmp_path / "table.py").write_text(f"class agent:\n{methods}")
    name = str(tmp_path / "table.py")
    assert agent(GAME, name, TWO, by_table=True).name == name
    with pytest.raises(UnknownAgent, match=r"plays a table at a time \(start, decide, end, close\), which tournaments alone can do"):
        agent(GAME, name, TWO)


def test_agents_of_another_game() -> None:
    class Elsewhere:
        name = "elsewhere"
        game = AWAY

        def act(self, observation: np.ndarray, action_mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
            return action_mask.argmax(axis=1)

    sys.modules[__name__].Elsewhere = Elsewhere  # type: ignore[attr-defined]
    with pytest.raises(tabletop.CheckpointError, match="is an agent of away, not of beyond"):
        agent(GAME, f"{__name__}:Elsewhere")
