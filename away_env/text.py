"""A position of a_way as text that a person reads and writes, and back.

    away(players=2)
    turn: round 7, seat 0, part 1, cell, faction blue
    doing: solar_tornado, solar_tornado.blue, cell r2c4
    row 3: c3 junction.1/2, c4 twinlane.1/0, c5 lane.blue/3      # card and orientation; solar cards are numbered
    row 4: c0 base W, c3 crossroads.2/1, c8 base E
    pile: solar_tornado.blue, fork.pink                          # from the top
    deck: lane.pink, rest                                        # from the top
    seat 0: ship r3c3 stop 1
      hand: black_hole.green, oneway.blue
    seat 1: ship start

`text(record)` writes everything, the deck's order and the random stream included, in the table's frame, and `parse` reads it back to
the same bytes; `text(record, seat)` writes what that seat knows, in its own frame, which cannot be read back. `#` begins a comment, a
line without a name goes on with the line before. In a text written by hand all but the first line may be left out: no solar or
exploration card lies on the table then, bases and ships stand where they start, hands are empty, and the cards that are named nowhere
are the deck, in an order drawn by the stream; `rest` stands for them at the end of the line deck. Solar cards that are not named are
out of the game.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

import numpy as np

from away_env.cards import BASE_NAMES, CARDS, DESIGN_NAMES, FACTIONS, FIRST_BASE, FIRST_SOLAR, NUM_CARDS, PIRATE_RAID, QUARTERS, SIDE
from away_env.lanes import CELL_OF, OWN_OF
from away_env.observation import EFFECTS
from away_env.picture import SHIPS, picture
from away_env.rules import AwayRules
from away_env.state import DECK, NOT_HOME, PHASES, STATE
from tabletop.errors import SetupError
from tabletop.reading import SEEN_BY
from tabletop.registry import LIVE, TERMINATED, TRUNCATED
from tabletop.rules import Variant

WIDTH = 132
NONE = "none"
OVER = {LIVE: "", TERMINATED: "over", TRUNCATED: "cut off"}


def text(record: Any, seat: int | None = None) -> str:
    """A position as text. seat: what that seat knows, in its own frame; None: everything, which `parse` reads back."""
    r = np.asarray(record, STATE).reshape(())
    players = int(r["players"])
    if seat is not None and not 0 <= seat < players:
        raise SetupError(f"seats are 0 to {players - 1}, not {seat!r}")
    lines = [str(Variant(players, AwayRules.from_codes(r["options"])))]
    if seat is not None:
        lines.append(f"{SEEN_BY}{seat} knows, in its own frame")
    for name, value in _fields(r, seat):
        lines += _wrapped(f"{name}: {value}") if name else [f"# {value}".rstrip()]
    return "\n".join(lines) + "\n"


def parse(text: str) -> np.ndarray:
    """The record array (1,) of a position. SetupError names the line that is wrong, or what does not fit together."""
    from away_env.reader import read

    return read(text)


def _wrapped(line: str) -> list[str]:
    """A line, cut into several at commas where it is too long."""
    whole_items = line.replace(" ", "\0").replace(",\0", ", ")
    lines = textwrap.wrap(whole_items, WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return [part.replace("\0", " ") for part in lines]


def solar_names(record: Any) -> list[str]:
    """Names of the nine solar cards, by number: their designs, the copies of each numbered from 1."""
    names: list[str] = []
    for card in range(FIRST_SOLAR, FIRST_BASE):
        design = DESIGN_NAMES[record["design"][card]]
        names.append(f"{design}.{1 + sum(name.partition('.')[0] == design for name in names)}")
    return names


def _fields(r: Any, seat: int | None) -> Iterator[tuple[str, str]]:
    """(name, value) of each line after the first; lines without a name are comments."""
    frame = seat or 0
    yield "turn", ", ".join(_turn(r))
    if r["won"].any():
        yield "winners", ", ".join(map(str, np.flatnonzero(r["won"])))
    yield "decisions", f"{r['decisions']}, limit {r['limit']}"
    if seat is None:
        yield "stream", f"{int(r['stream'][0]):016x}, {r['stream'][1]} drawn"
    if r["effect"] >= 0:
        yield "doing", ", ".join(_doing(r, frame))
    for line in picture(r, frame):
        yield "", line
    yield from _rows(r, frame)
    pile = [CARDS[card] for card in r["pile"][: r["pile_size"]][::-1]]
    yield "pile", ", ".join(pile) or NONE
    deck = [CARDS[card] for card in r["deck"][: r["deck_size"]][::-1]]
    hidden = [CARDS[c] for c in range(NUM_CARDS) if 0 <= r["place"][c] <= DECK and r["place"][c] != frame]
    if seat is None:
        yield "deck", ", ".join(deck) or NONE
    else:
        yield "deck", _number(len(deck), "card")
        yield "unseen", ", ".join(hidden) or NONE
    for k in range(r["players"]):
        way = "home" if r["home"][k] else "no way home" if r["moves_home"][k] == NOT_HOME else f"{_number(r['moves_home'][k], 'move')} home"
        yield f"seat {k}", f"ship {_ship(r, k, frame)}  # {SHIPS[k]}, {way}"
        if seat in (None, k):
            yield "  hand", ", ".join(CARDS[card] for card in np.flatnonzero(r["place"] == k)) or NONE
        else:
            yield "  hand", _number(r["hand_size"][k], "card")


def _number(n: Any, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"


def _turn(r: Any) -> Iterator[str]:
    yield f"round {r['round']}"
    if r["over"] != LIVE:
        yield OVER[int(r["over"])]
        return
    yield f"seat {r['seat']}"
    yield f"part {r['part']}"
    yield PHASES[r["phase"]]
    if r["faction"] >= 0:
        yield f"faction {FACTIONS[r['faction']]}"
    if r["discarded"]:
        yield f"{r['discarded']} discarded"


def _doing(r: Any, frame: int) -> Iterator[str]:
    """What is being done, and what of it has been named."""
    yield EFFECTS[r["effect"]]
    if r["card"] >= 0:
        yield CARDS[r["card"]]
    cells = r["target"]
    if r["effect"] == PIRATE_RAID:
        if cells[0] >= 0:
            yield f"raided {cells[0]}"
        cells = cells[1:]
    yield from (f"cell {_cell(cell, frame)}" for cell in cells if cell >= 0)
    if r["target_turn"] >= 0:
        yield f"turn {(r['target_turn'] + QUARTERS[frame]) % 4}"
    if EFFECTS[r["effect"]] == "hyperdrive" and r["step"]:
        yield "second"


def _cell(cell: Any, frame: int) -> str:
    row, column = divmod(int(OWN_OF[frame, cell]), SIDE)
    return f"r{row}c{column}"


def _rows(r: Any, frame: int) -> Iterator[tuple[str, str]]:
    """What lies on the table, row by row, and as a comment the solar cards out of the game."""
    solar = solar_names(r)
    for row in range(SIDE):
        items = []
        for column in range(SIDE):
            cell = CELL_OF[frame, row * SIDE + column]
            there = int(r["board"][cell])
            if there >= FIRST_BASE:
                items.append(f"c{column} base {BASE_NAMES[there - FIRST_BASE]}")
            elif there >= 0:
                name = solar[there - FIRST_SOLAR] if there >= FIRST_SOLAR else CARDS[there]
                items.append(f"c{column} {name}/{(r['turn'][cell] + QUARTERS[frame]) % 4}")
        if items:
            yield f"row {row}", ", ".join(items)
    out = [name for card, name in enumerate(solar, FIRST_SOLAR) if card not in r["board"]]
    if out:
        yield "", f"out of the game: {', '.join(out)}"


def _ship(r: Any, k: int, frame: int) -> str:
    if r["home"][k]:
        return "home"
    return "start" if r["stop"][k] == 0 else f"{_cell(r['ship'][k], frame)} stop {r['stop'][k]}"
