"""The table as lines of characters, seven by three for a cell.

A card shows its stations by number (`@` a vortex), a ship on one by its seat's letter A to D, `+` if it has none; at its ports `|`
and `-` let in and out, `<` `>` `^` `v` one way. A base stands in brackets with its name and the ships on it, `.` is a free cell.
"""

from __future__ import annotations

from typing import Any

from away_env.cards import BASE_NAMES, FACE, FIRST_BASE, QUARTERS, SIDE
from away_env.lanes import CELL_OF
from away_env.state import FREE, OFF

BOTH, OUT, IN = ("|", "-", "|", "-"), ("^", ">", "v", "<"), ("v", "<", "^", ">")  # of the ports N E S W
SHIPS = "ABCD"
CELL_WIDTH = 7


def picture(record: Any, frame: int = 0) -> list[str]:
    """The table in the frame of a seat, rows and columns numbered as that seat calls them."""
    margin = next(k for k in range(SIDE) if record["board"][CELL_OF[0][k * SIDE + k]] != OFF)
    span = range(margin, SIDE - margin)
    lines = [" " * 3 + "".join(f"{column:^{CELL_WIDTH}}" for column in span)]
    for row in span:
        cells = [cell_lines(record, int(CELL_OF[frame][row * SIDE + column]), frame) for column in span]
        for k, left in enumerate(("", str(row), "")):
            lines.append(f"{left:>2} " + "".join(cell[k] for cell in cells))
    return [line.rstrip() for line in lines]


def cell_lines(record: Any, cell: int, frame: int) -> tuple[str, str, str]:
    """The three lines of a cell."""
    there = int(record["board"][cell])
    ships = {int(record["stop"][k]): SHIPS[k] for k in range(record["players"]) if record["ship"][k] == cell}
    if there >= FIRST_BASE:
        on_it = "".join(SHIPS[k] for k in range(record["players"]) if record["ship"][k] == cell)
        return " " * CELL_WIDTH, f"{'[' + BASE_NAMES[there - FIRST_BASE] + on_it + ']':^{CELL_WIDTH}}", " " * CELL_WIDTH
    if there < 0:
        return " " * CELL_WIDTH, f"{'.' if there == FREE else ' ':^{CELL_WIDTH}}", " " * CELL_WIDTH
    design = record["design"][there]
    face = int(record["face"][design, (record["turn"][cell] + QUARTERS[frame]) % 4])
    seen = {name for bit, name in enumerate(FACE) if face >> bit & 1}
    ports = []
    for k, port in enumerate("NESW"):
        lets_in, lets_out = f"in_{port}" in seen, f"out_{port}" in seen
        ports.append(BOTH[k] if lets_in and lets_out else OUT[k] if lets_out else IN[k] if lets_in else " ")
    vortices = int(record["vortices"][design])
    stations = [n for n in range(1, 5) if f"station_{n}" in seen]
    middle = "".join(ships.get(n) or ("@" if vortices >> (n + 3) & 1 else str(n)) for n in stations) or "+"
    return f"{ports[0]:^{CELL_WIDTH}}", f"{ports[3]}{middle:^{CELL_WIDTH - 2}}{ports[1]}", f"{ports[2]:^{CELL_WIDTH}}"
