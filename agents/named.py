"""Agents by name: `random`, `search:iterations=500`, `policy:PATH,greedy=false`, `bot.py`, `program:node bot.mjs`.

    NAME     = KIND | KIND:TARGET | KIND:OPTIONS | KIND:TARGET,OPTIONS | SOURCE | SOURCE,OPTIONS
    SOURCE   = PATH.py | PATH.py:FACTORY | MODULE:FACTORY
    OPTIONS  = name=value,name=value,…

Options go to the keyword arguments of the class or factory, by its signature. docs/bots.md is for those who write one.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import re
import shlex
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from agents.options import BadOption, Options, hints, keywords
from agents.program import is_table_bot
from agents.random_agent import RandomAgent
from tabletop.agent import Agent, Player
from tabletop.errors import CheckpointError, TabletopError, listed
from tabletop.opponents import is_player
from tabletop.registry import Game
from tabletop.rules import Variant


class UnknownAgent(ValueError):
    """There is no agent of that name, or it does not take such options."""


@dataclass(frozen=True)
class Kind:
    """A kind of agents. where: MODULE:NAME of what makes one, {game} standing for the game's name; doc: what it is, for help; target:
    the argument that stands right after the colon, as the signature and as the help call it; instead: what makes one when an option of that
    name is given."""

    where: str
    doc: str
    target: tuple[str, str] | None = None
    instead: dict[str, str] = field(default_factory=dict)

    def form(self, name: str) -> str:
        return f"{name}:{self.target[1]}" if self.target else name

    def maker(self, game: Game, options: Options) -> str:
        """MODULE:NAME of what makes the agent."""
        found = next((where for option, where in self.instead.items() if option in options), self.where)
        return found.format(game=game.name)

    def is_there(self, game: Game) -> bool:
        return importlib.util.find_spec(self.where.format(game=game.name).partition(":")[0]) is not None


#: Every kind by name. A further one is a line here.
KINDS = {
    "random": Kind("agents.random_agent:RandomAgent", "every legal action with the same probability"),
    "heuristic": Kind("agents.{game}_heuristic:HEURISTIC", "the game's own rules of thumb; options: its weights"),
    "policy": Kind("agents.policy:PolicyAgent.load", "a trained network; option greedy=false draws", ("path", "PATH")),
    "flat": Kind("agents.flat:FlatAgent", "flat Monte Carlo, as in flat:samples=10"),
    "search": Kind(
        "agents.search:SearchAgent",
        "tree search, as in search:iterations=500,playout=heuristic; guided by a policy: search:policy=PATH,iterations=64",
        instead={"policy": "agents.guided:GuidedAgent"},
    ),
    "program": Kind("agents.program:ProgramBot", "a program in any language, as in 'program:node bot.mjs'", ("command", "COMMAND")),
}
SOURCES = "PATH.py, PATH.py:FACTORY, MODULE:FACTORY"
FACTORY = "agent"  # the factory of a file for which none is named
_IMPORTLIB = str(importlib.__file__)
FILE = re.compile(r"(['\"]?)(.+\.py)\1(?::(\w+))?")

#: For the help of commands that take agents.
USAGE = "; ".join(f"{kind.form(name)} ({kind.doc})" for name, kind in KINDS.items()) + f"; your own: {SOURCES}"


def agent(game: Game, name: str, variant: Variant | None = None, any_variant: bool = False, by_table: bool = False) -> Player:
    """The agent of that name. variant: what it is to play, and what a policy must have been trained for unless any_variant; by_table: it
    may be one that plays a table at a time and no more (`agents.program.TableBot`).

    UnknownAgent lists what there is; CheckpointError says what is wrong with a policy's files. A name of a file or module runs the code
    in it, and a program is run when it is first asked; all other names run no code but this project's.
    """
    maker = _Maker(game, variant, any_variant, name, by_table=by_table)
    kind_name, colon, rest = name.partition(":")
    kinds = {called: kind for called, kind in KINDS.items() if kind.is_there(game)}
    if kind := kinds.get(kind_name):
        target, options = split_options(rest) if colon else ("", {})
        if kind.target is None and target:
            raise UnknownAgent(f"{name}: {kind_name} takes options as name=value,… (a value with a comma in quotes), not {target!r}")
        if kind.target is not None:
            if not target:
                raise UnknownAgent(f"{name!r} lacks {kind.target[1]}: {kind.form(kind_name)}")
            options = {kind.target[0]: target if kind.target[0] == "command" else unquoted(target)} | options
        return maker.make(_attribute(kind.maker(game, options), name), kind_name, options, kind.target)
    source, options = split_options(name)
    if match := FILE.fullmatch(source):
        return maker.make(_member(_file(Path(match[2]), name), match[3] or FACTORY, name), source, options)
    if match := re.fullmatch(r"((?:\w+\.)*\w+):(\w+)", source):
        return maker.make(_member(_module(match[1], name), match[2], name), source, options)
    forms = ", ".join(kind.form(called) for called, kind in kinds.items())
    raise UnknownAgent(f"no agent of {game.name} is called {name!r}; there are {forms}, and your own as {SOURCES}")


def heuristic(game: Game, variant: Variant | Sequence[Variant] | None = None) -> Agent | None:
    """The game's heuristic, for that variant, or for several: `HEURISTIC` of the module agents.<game>_heuristic, if there is one. Making it
    compiles it."""
    if not has_heuristic(game):
        return None
    factory = importlib.import_module(f"agents.{game.name}_heuristic").HEURISTIC
    one, several = (variant, ()) if isinstance(variant, Variant | None) else (None, variant)
    return factory(**_Maker(game, one, True, "heuristic", several).supplied(factory))


def has_heuristic(game: Game) -> bool:
    return KINDS["heuristic"].is_there(game)


def baselines(game: Game, variant: Variant | None = None) -> list[Player]:
    """The players of a game that need no training, weakest first."""
    found = heuristic(game, variant)
    return [RandomAgent(), *([found] if found else [])]


def split_options(text: str) -> tuple[str, Options]:
    """What stands before the options, and the options: the segments name=value at the end, between commas outside quotes."""
    segments, quote = [""], ""
    for character in text:
        if character == "," and not quote:
            segments.append("")
            continue
        segments[-1] += character
        if character in "'\"":
            quote = character if not quote else "" if quote == character else quote
    if quote:  # one that is never closed is a mere apostrophe
        segments = text.split(",")
    options: list[tuple[str, str]] = []
    while segments and (match := re.fullmatch(r"\s*(\w+)=(.*)", segments[-1], re.DOTALL)):
        options.append((match[1], unquoted(match[2].strip())))
        segments.pop()
    if twice := sorted({name for name, _ in options if [n for n, _ in options].count(name) > 1}):
        raise UnknownAgent(f"{text}: the option {twice[0]} is given twice")
    return ",".join(segments), dict(reversed(options))


def unquoted(text: str) -> str:
    """What stands in quotes, if it does: a path or a value with commas or equals signs."""
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


def quoted(text: str) -> str:
    """A path or a value as it is written in a name."""
    mark = '"' if "'" in text else "'"
    return f"{mark}{text}{mark}" if re.search(r"[,='\"]", text) and mark not in text else text


def policy_of(name: str) -> str | None:
    """The path of the policy that an agent of that name is, or searches by."""
    kind, _, rest = name.partition(":")
    target, options = split_options(rest)
    return unquoted(target) if kind == "policy" else options.get("policy") if kind == "search" else None


def with_policy(name: str, path: str) -> str:
    """The name of an agent like that, by another policy."""
    kind, _, rest = name.partition(":")
    options = split_options(rest)[1]
    if "policy" in options:
        options["policy"] = path
    told = [f"{option}={quoted(value)}" for option, value in options.items()]
    return f"{kind}:{','.join([quoted(path), *told] if kind == 'policy' else told)}"


def parts_of(name: str) -> list[str]:
    """What stands in a name besides kinds and the names of options: paths, words of a command, a module, values."""
    kind, _, rest = name.partition(":")
    before, options = split_options(rest if kind in KINDS else name)
    words = [before]
    if kind in KINDS:
        with suppress(ValueError):  # a mere apostrophe
            words += shlex.split(before)
    elif match := FILE.fullmatch(before):
        words.append(match[2])
    else:
        words.append(kind)
    return [unquoted(word) for word in [*words, *options.values()] if word]


@dataclass(frozen=True)
class _Maker:
    """Calls factories with what they ask for."""

    game: Game
    variant: Variant | None
    any_variant: bool
    name: str
    several: Sequence[Variant] = ()  # in place of one variant
    by_table: bool = False

    def supplied(self, factory: Callable[..., Any]) -> dict[str, Any]:
        """What a factory gets without being an option: parameters called game, variant, any_variant; the rules of the variant, a tuple of
        them where there are several."""
        there: dict[str, Any] = {"game": self.game, "variant": self.variant, "any_variant": self.any_variant}
        there["rules"] = self.variant.rules if self.variant else tuple(variant.rules for variant in self.several) or None
        return {name: there[name] for name in inspect.signature(factory).parameters if name in there}

    def make(self, factory: Callable[..., Any], called: str, options: Options, target: tuple[str, str] | None = None) -> Player:
        try:
            supplied = self.supplied(factory)
            first = next(iter(inspect.signature(factory).parameters.values()), None)
            positional: list[Any] = []
            hidden = {*supplied, *(target or ())[:1]}
            if first and _is_needed(first) and first.name not in {*hidden, *options, "policy"}:
                positional = [self.game]  # whatever the factory calls it
                hidden.add(first.name)
            given = keywords(factory, options, hidden)
            if "policy" in given and hints(factory).get("policy") is not str:
                if not given["policy"]:
                    raise BadOption("needs a path: policy=PATH")
                given["policy"] = self.policy(given["policy"])
            made = factory(*positional, **supplied, **given)
        except TabletopError:
            raise
        except BadOption as error:
            raise UnknownAgent(f"{self.name}: {called} {error}") from None
        except ValueError as error:
            raise UnknownAgent(f"{self.name}: {error}") from error
        except Exception as error:
            if called in KINDS:
                raise
            raise UnknownAgent(f"{self.name}: {_failed(error)}") from error
        if not is_player(made) and is_table_bot(made) and not self.by_table:
            raise UnknownAgent(f"{self.name}: it plays a table at a time (start, decide, end, close), which tournaments alone can do")
        if not is_player(made) and not is_table_bot(made):
            needed = "act(observation, action_mask, rng) or act_on(positions, action_mask, rng)"
            raise UnknownAgent(f"{self.name}: an agent must have {needed}, unlike {made!r}")
        return self._checked(made)

    def policy(self, path: str) -> Any:
        from agents.policy import PolicyAgent

        return self._checked(PolicyAgent.load(Path(path), self.variant, self.any_variant))

    def _checked(self, made: Any) -> Any:
        """It has a name, and is of this game if it is of one."""
        theirs = getattr(made, "game", self.game)
        if isinstance(theirs, Game) and theirs.name != self.game.name:
            what = "a policy" if type(made).__name__ == "PolicyAgent" else "an agent"
            raise CheckpointError(f"{self.name} is {what} of {theirs.name}, not of {self.game.name}")
        if not isinstance(getattr(made, "name", None), str):
            with suppress(AttributeError):  # one that takes no attributes is called by its class
                made.name = self.name
        return made


def _is_needed(parameter: inspect.Parameter) -> bool:
    positional = parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    return positional and parameter.default is parameter.empty


def _attribute(where: str, name: str) -> Any:
    """What MODULE:NAME is; NAME may have dots."""
    module, _, path = where.partition(":")
    if importlib.util.find_spec(module) is None:
        raise UnknownAgent(f"{name}: there is no {module}")
    found: Any = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    return found


def _member(module: ModuleType, factory: str, name: str) -> Callable[..., Any]:
    found = getattr(module, factory, None)
    if not callable(found):
        own = [key for key, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__ and callable(value)]
        raise UnknownAgent(f"{name}: there is no {factory} to call in it; there are {listed(own) or 'none'}")
    return found


def _file(path: Path, name: str) -> ModuleType:
    """The module of a Python file, run once in a process. Modules beside it can be imported."""
    if not path.is_file():
        raise UnknownAgent(f"{name}: there is no file {path}")
    path = path.resolve()
    called = f"bot_{path.stem}_{abs(hash(path)):x}"
    if called not in sys.modules:
        _importable(path.parent)
        spec = importlib.util.spec_from_file_location(called, path)
        assert spec is not None and spec.loader is not None
        module = sys.modules[called] = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except Exception as error:
            del sys.modules[called]
            raise UnknownAgent(f"{name}: {_failed(error)}") from error
    return sys.modules[called]


def _module(module: str, name: str) -> ModuleType:
    _importable(Path.cwd())
    try:
        return importlib.import_module(module)
    except Exception as error:
        raise UnknownAgent(f"{name}: {_failed(error)}") from error


def _importable(folder: Path) -> None:
    """Let modules of a folder be imported, where there are no others of their names."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def _failed(error: Exception) -> str:
    """An error of a user's code in one line, with the line that raised it."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(("<", __file__, _IMPORTLIB))]
    at = f", line {frames[-1].lineno} of {Path(frames[-1].filename).name}" if frames else ""
    said = f"line {error.lineno}: {error.msg}" if isinstance(error, SyntaxError) else f"{' '.join(str(error).split())}{at}"
    return f"it raised {type(error).__name__}: {said}"
