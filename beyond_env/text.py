"""A position of Beyond as text that a person reads and writes, and back.

    beyond(players=2,summoning=true)
    turn: 7, seat 0, act
    end: not triggered, 0 depletions
    centre: 4 Nian Shou, 14 tokens
    deck: unicorn_1_yin, 2 turtle_snake_yang, rest       # from the top
    known: unicorn_1_yin
    discard: 2 vermilion_bird_yin
    seat 0: 3 tokens, 1 Nian Shou                        # 21 points
      pool: 3 turtle_snake_yin (1 protected), unicorn_2_yang
      slots: vermilion_bird_yang
      enchantments: 2 azure_dragon (1 summoned)

`text(record)` writes everything, the deck's order and the random stream included, and `parse` reads it back to the same bytes;
`text(record, seat)` writes what that seat knows, which cannot be read back. `#` begins a comment, a line without a name goes on
with the line before. In a text written by hand all but the first line may be left out: a seat is then as at the set-up, the
centre holds what nobody has, the cards that are named nowhere are the deck, in an order drawn by the stream. `rest` stands for
these cards, once, in the deck or in any pile; which cards are in enchantments (`enchanted`) is made up from them.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

import numpy as np

from beyond_env.cards import KINDS, NUM_SPIRITS, SPIRIT_NAMES, SYMBOLS
from beyond_env.rules import POINTS, SCORE_LAID_TOKENS, BeyondRules
from beyond_env.state import PHASES, STATE
from tabletop.errors import SetupError
from tabletop.reading import SEEN_BY
from tabletop.registry import LIVE, TERMINATED, TRUNCATED
from tabletop.rules import Variant

WIDTH = 132
NONE = "none"
OVER = {LIVE: "", TERMINATED: "over", TRUNCATED: "cut off"}


def text(record: Any, seat: int | None = None) -> str:
    """A position as text. seat: what that seat knows; None: everything, which `parse` reads back."""
    r = np.asarray(record, STATE).reshape(())
    players = int(r["players"])
    if seat is not None and not 0 <= seat < players:
        raise SetupError(f"seats are 0 to {players - 1}, not {seat!r}")
    lines = [str(Variant(players, BeyondRules.from_codes(r["options"])))]
    if seat is not None:
        lines.append(f"{SEEN_BY}{seat} knows")
    for name, value in _fields(r, seat):
        lines += _wrapped(f"{name}: {value}")
    return "\n".join(lines) + "\n"


def _wrapped(line: str) -> list[str]:
    """A line, cut into several at commas where it is too long."""
    whole_items = line.replace(" ", "\0").replace(",\0", ", ")
    lines = textwrap.wrap(whole_items, WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return [part.replace("\0", " ") for part in lines]


def _fields(r: Any, seat: int | None) -> Iterator[tuple[str, str]]:
    """(name, value) of each line after the first."""
    turn = [str(r["turns"]), f"seat {r['seat']}" if r["seat"] >= 0 else "", PHASES[r["phase"]], OVER[int(r["over"])]]
    yield "turn", ", ".join(filter(None, turn))
    yield "end", f"{'triggered' if r['triggered'] else 'not triggered'}, {_number(r['depletions'], 'depletion')}"
    if r["won"].any():
        yield "winners", ", ".join(map(str, np.flatnonzero(r["won"])))
    yield "decisions", f"{r['decisions']}, limit {r['limit']}"
    if seat is None:
        yield "stream", f"{int(r['stream'][0]):016x}, {r['stream'][1]} drawn"
    yield "centre", f"{r['centre_nian']} Nian Shou, {_number(r['supply'], 'token')}"
    size = int(r["deck_size"])
    down = r["deck"][:size][::-1]
    if seat is None:
        yield "deck", _in_order(down)
    else:
        top = f", {SYMBOLS[down[0] % 2]} on top" if size else ""
        yield "deck", f"{_number(size, 'card')}{top}, in some order: {_counts(r['deck_counts'])}"
    if r["known"]:
        yield "known", _in_order(down[: r["known"]])
    if r["discard"].any():
        yield "discard", _counts(r["discard"])
    if r["num_revealed"]:
        yield "revealed", _revealed(r)
    if r["num_queue"]:
        yield "placing", _in_order(r["queue"][: r["num_queue"]])
    if r["summoned_spirit"] >= 0:
        yield "summoning", SPIRIT_NAMES[r["summoned_spirit"]]
    if r["looked"]:
        yield "looked", _in_order(down[: r["looked"]])
    for k in range(r["players"]):
        yield f"seat {k}", f"{_number(r['tokens'][k], 'token')}, {r['nian'][k]} Nian Shou  # {_number(points(r, k), 'point')}"
        if r["pool"][k].any():
            yield "  pool", _counts(r["pool"][k], KINDS, r["protected"][k], "protected")
        if r["slots"][k].any():
            yield "  slots", _counts(r["slots"][k])
        if r["enchantments"][k].any():
            yield "  enchantments", _counts(r["enchantments"][k], SPIRIT_NAMES, r["summoned"][k], "summoned")
            yield "  enchanted", _counts(r["enchanted"][k])


def _number(n: Any, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"


def _counts(counts: Any, names: tuple[str, ...] = KINDS, marked: Any = None, mark: str = "") -> str:
    """`3 turtle_snake_yin (1 protected), unicorn_2_yang`"""
    items = []
    for at in np.flatnonzero(counts):
        item = names[at] if counts[at] == 1 else f"{counts[at]} {names[at]}"
        items.append(item if marked is None or not marked[at] else f"{item} ({marked[at]} {mark})")
    return ", ".join(items) or NONE


def _in_order(cards: Any) -> str:
    """Cards from the first on; equal ones that follow each other as `2 unicorn_1_yin`."""
    runs: list[list[int]] = []
    for card in cards:
        if runs and runs[-1][1] == card:
            runs[-1][0] += 1
        else:
            runs.append([1, int(card)])
    return ", ".join(KINDS[kind] if n == 1 else f"{n} {KINDS[kind]}" for n, kind in runs) or NONE


def _revealed(r: Any) -> str:
    cards = zip(r["revealed"][: r["num_revealed"]], r["rescued"], strict=False)
    return ", ".join(KINDS[kind] + (" (rescued)" if rescued else "") for kind, rescued in cards)


def points(r: Any, seat: int) -> int:
    """Points of a seat as the position stands."""
    codes = r["options"]
    each = codes[POINTS : POINTS + NUM_SPIRITS].astype(int)
    laid = int(r["protected"][seat].sum()) if codes[SCORE_LAID_TOKENS] else 0
    lying = int(r["pool"][seat].sum()) + int(r["slots"][seat].sum()) + int(r["nian"][seat]) + int(r["tokens"][seat])
    return int(each @ r["enchantments"][seat]) + lying + laid


def parse(text: str) -> np.ndarray:
    """The record array (1,) of a position. SetupError names the line that is wrong, or what does not fit together."""
    from beyond_env.reader import read

    return read(text)
