"""Options written as texts, for the keyword arguments of a class or function: names and types come from its signature."""

from __future__ import annotations

import inspect
import math
import types
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any

Options = dict[str, str]
KINDS: dict[type, str] = {bool: "true or false", int: "a whole number", float: "a number", Path: "a path", str: "a text"}


class BadOption(ValueError):
    """There is no such option, or it cannot have that value."""


def keywords(factory: Callable[..., Any], options: Options, hidden: set[str]) -> dict[str, Any]:
    """Keyword arguments for `factory` from options; BadOption lists the options there are with their defaults.

    hidden: parameters that are no options for those who write them (a name's target, say), though one may be among `options`.
    """
    parameters = inspect.signature(factory).parameters
    types_ = hints(factory)
    others = next((p for p in parameters.values() if p.kind is p.VAR_KEYWORD), None)
    named = {n: p for n, p in parameters.items() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    given = {}
    for name, text in options.items():
        if name not in named and others is None:
            raise BadOption(f"has no option {name!r}; {described(factory, hidden)}")
        parameter = named.get(name, others)
        assert parameter is not None
        given[name] = read(name, text, types_.get(parameter.name, Any), parameter.default)
    missing = [n for n, p in named.items() if p.default is p.empty and n not in hidden and n not in given]
    if missing:
        raise BadOption(f"needs the option {missing[0]}; {described(factory, hidden)}")
    return given


def described(factory: Callable[..., Any], hidden: set[str]) -> str:
    """The options of a factory with their defaults, in a line."""
    shown = []
    for name, p in inspect.signature(factory).parameters.items():
        if name in hidden or p.kind is p.VAR_POSITIONAL:
            continue
        shown.append(f"any other {name}" if p.kind is p.VAR_KEYWORD else name if p.default is p.empty else f"{name}={text_of(p.default)}")
    return f"options, with their defaults: {', '.join(shown)}" if shown else "it has no options"


def text_of(value: Any) -> str:
    """A default as it would be written."""
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def hints(factory: Callable[..., Any]) -> dict[str, Any]:
    """Types of the parameters; none where an annotation cannot be resolved."""
    function = factory.__init__ if inspect.isclass(factory) else factory  # type: ignore[misc]
    try:
        return typing.get_type_hints(function)
    except Exception:  # a name that is there for type checkers alone
        simple = {kind.__name__: kind for kind in KINDS} | {"None": type(None)}
        found = {}
        for name, p in inspect.signature(factory).parameters.items():
            parts = [part.strip() for part in p.annotation.split("|")] if isinstance(p.annotation, str) else []
            if parts and all(part in simple for part in parts):
                found[name] = typing.Union[tuple(simple[part] for part in parts)]  # noqa: UP007
        return found


def read(name: str, text: str, hint: Any, default: Any) -> Any:
    """The value that a text stands for. Without a type, the default's type tells; else it stays a text."""
    if hint is Any:
        hint = type(default) if type(default) in KINDS else str
    members = typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, types.UnionType) else (hint,)
    if text.lower() == "none" and type(None) in members:
        return None
    choices = [value for member in members if typing.get_origin(member) is typing.Literal for value in typing.get_args(member)]
    for value in choices:
        if text == text_of(value):
            return value
    known = [kind for kind in KINDS if kind in members]
    for kind in known:
        try:
            value = TRUTHS[text.lower()] if kind is bool else kind(text)
        except (ValueError, KeyError):
            continue
        if kind is not float or math.isfinite(value):
            return value
    if not known and not choices:  # a type of its own: whoever wrote it reads it
        return text
    allowed = [text_of(value) for value in choices] + [KINDS[kind] for kind in known] + (["none"] if type(None) in members else [])
    raise BadOption(f"takes {name}={text}, but {name} must be {' or '.join(allowed)}")


TRUTHS = {"true": True, "false": False}
