"""A game's options, actions and observation as tables, generated from its code."""

from __future__ import annotations

import dataclasses

from tabletop.registry import Game
from tabletop.rules import text_of


def describe(game: Game) -> str:
    """The page that `beyond-away rules GAME` prints, as Markdown."""
    return "\n".join(
        [
            f"# {game.title or game.name}: options, actions, observation",
            "",
            "## Options of the rules",
            "",
            'Written `name=value,…`, as in `rules="…"`; `' + str(game.variant()) + "` is the default for two players.",
            "",
            options_table(game),
            "",
            f"## Actions ({game.num_actions})",
            "",
            actions_table(game),
            "",
            f"## Observation ({game.layout.size} entries, {game.layout.dtype})",
            "",
            "In the frame of the observing seat: seats are counted from it, 0 is itself. One shape for all players and options.",
            "",
            game.layout.describe(),
        ]
    )


def options_table(game: Game) -> str:
    lines = ["| option | default | allowed | meaning |", "| --- | --- | --- | --- |"]
    defaults = {f.name: f.default for f in dataclasses.fields(game.rules)}
    for name, allowed in game.rules.allowed().items():
        lines.append(f"| {name} | {text_of(defaults[name]) or '(none)'} | {allowed} | {allowed.doc} |")
    return "\n".join(lines)


def actions_table(game: Game) -> str:
    """Blocks of actions that share their first word, with the meanings that the game's `actions` module gives."""
    meanings: dict[str, str] = getattr(game.module("actions"), "MEANINGS", {})
    lines = ["| ids | names | meaning |", "| --- | --- | --- |"]
    start = 0
    names = game.actions.names
    for i in range(1, len(names) + 1):
        if i == len(names) or _block(names[i], meanings) != _block(names[start], meanings):
            ids = str(start) if i == start + 1 else f"{start}-{i - 1}"
            shown = f"`{names[start]}`" if i == start + 1 else f"`{names[start]}` … `{names[i - 1]}`"
            meant = [m for key, m in meanings.items() if _block(key, meanings) == _block(names[start], meanings)]
            lines.append(f"| {ids} | {shown} | {'; '.join(dict.fromkeys(meant))} |")
            start = i
    return "\n".join(lines)


def _block(name: str, meanings: dict[str, str]) -> str:
    """Actions of one block share their first word; those whose whole name has a meaning of its own are blocks by themselves."""
    return name if name in meanings and "<" not in name else name.partition(":")[0]
