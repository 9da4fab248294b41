"""The material of a_way, as data: `cards.toml` read and checked, lanes compiled into small arrays (rules: Cards as lanes).

Points of a card: its ports N E S W are 0 to 3, its stations 1 to 4 are points 4 to 7. The lanes of a design are, for each point,
a byte whose bit p says that a lane leads to point p.

Cards are numbered: exploration cards by design and faction, then action cards, then the solar cards on the table. Another table
than the installed one (an option of the rules) may change stations, lanes, vortices, the solar cards, and leave cards out, but has
the installed table's names: they are the names of the actions.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from tabletop.errors import RulesError, listed

PORTS = ("N", "E", "S", "W")
NORTH, EAST, SOUTH, WEST = range(4)
MOST_STATIONS = 4
NUM_POINTS = len(PORTS) + MOST_STATIONS
SIDE = 9  # cells on a side of the table
NUM_SOLAR = 9
HAND = 5  # cards drawn up to
MAX_PLAYERS = 4

ACTION_CARDS = (
    "hyperdrive", "solar_wind", "pirate_raid", "solar_rotation", "unstable_field", "cosmic_compass", "solar_tornado", "solar_storm",
    "nebula_deviation", "super_nebula", "black_hole", "unknown_fate", "scrapyard",
)  # fmt: skip
(
    HYPERDRIVE, SOLAR_WIND, PIRATE_RAID, SOLAR_ROTATION, UNSTABLE_FIELD, COSMIC_COMPASS, SOLAR_TORNADO, SOLAR_STORM,
    NEBULA_DEVIATION, SUPER_NEBULA, BLACK_HOLE, UNKNOWN_FATE, SCRAPYARD,
) = range(len(ACTION_CARDS))  # fmt: skip
CHAINS = ("unknown_fate", "scrapyard")
#: the base each seat starts on; its home is the base of the seat opposite, `seat ^ 1`
BASE_NAMES = ("W", "E", "N", "S")
BASE_PORTS = (EAST, WEST, SOUTH, NORTH)
QUARTERS = (0, 2, 3, 1)  # by how many quarters each seat's frame is turned clockwise


@dataclass(frozen=True)
class Design:
    """What is printed on a card. lanes: (begin, end) points, a lane of both ways twice; vortices: stations."""

    name: str
    stations: int
    lanes: tuple[tuple[int, int], ...]
    vortices: tuple[int, ...]
    text: str  # the lanes as written


@dataclass(frozen=True, eq=False)
class CardTable:
    """A checked card table. `path` is empty for the installed one."""

    path: str
    digest: str
    factions: tuple[str, ...]
    designs: tuple[Design, ...]
    deck: tuple[tuple[str, str], ...]  # (name, faction) of the exploration cards, then of the action cards
    num_exploration: int
    solar: tuple[str, ...]  # the designs of the nine solar cards
    solar_cells: tuple[tuple[int, int], ...]
    bases: tuple[tuple[int, int], ...]  # W E N S

    def __str__(self) -> str:
        return f"{self.path}@{self.digest}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CardTable) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    @property
    def code(self) -> int:
        """The table's number in a record's `options`: 1 to 32767."""
        return 1 + int(self.digest, 16) % 32767

    def design(self, name: str) -> int:
        return next(i for i, design in enumerate(self.designs) if design.name == name)

    def chain_fault(self, players: int) -> str:
        """Why a chain of unknown_fates and scrapyards might never end with so many players; empty if all end."""
        actions = len(self.deck) - self.num_exploration
        chains = sum(name in CHAINS for name, _ in self.deck)
        if actions > HAND * players + chains:
            return ""
        return (
            f"{actions} action cards are not more than {HAND} for each of {players} players and the {chains} unknown_fates and"
            " scrapyards together: a chain of those might never end"
        )


# -- reading -----------------------------------------------------------------------------------------------------------


class _Reader:
    """Reads one file; every fault names the file and the entry."""

    def __init__(self, path: Path, shown: str) -> None:
        self.shown = shown
        try:
            raw = path.read_bytes()
            self.data = tomllib.loads(raw.decode("utf-8"))
        except OSError as error:
            raise RulesError(f"card table {shown} cannot be read: {error.strerror}") from None
        except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise RulesError(f"card table {shown}: {error}") from None
        self.digest = hashlib.sha256(raw).hexdigest()[:12]

    def fault(self, entry: str, what: str) -> NoReturn:
        raise RulesError(f"card table {self.shown}: {entry}: {what}")

    def section(self, name: str) -> dict[str, Any]:
        value = self.data.get(name)
        if not isinstance(value, dict) or not value:
            self.fault(name, "this section is missing or empty")
        return value

    def read(self) -> CardTable:
        if unknown := sorted(set(self.data) - {"factions", "designs", "exploration", "actions", "solar", "board"}):
            self.fault(unknown[0], "no such section; there are factions, designs, exploration, actions, solar, board")
        factions = self.data.get("factions")
        if not isinstance(factions, list) or not factions or not all(isinstance(f, str) and re.fullmatch(r"\w+", f) for f in factions):
            self.fault("factions", f"must be a list of words, not {factions!r}")
        if len(set(factions)) != len(factions):
            self.fault("factions", "a faction is listed twice")
        designs = tuple(self.design(name, entry) for name, entry in self.section("designs").items())
        names = [design.name for design in designs]
        exploration = self.cards("exploration", names, factions, "a design")
        actions = self.cards("actions", ACTION_CARDS, factions, "an action card")
        return CardTable(
            "" if self.shown == INSTALLED.name else self.shown, self.digest, tuple(factions), designs, (*exploration, *actions),
            len(exploration), self.solar(names), *self.board(),
        )  # fmt: skip

    def design(self, name: str, entry: Any) -> Design:
        at = f"designs.{name}"
        if not re.fullmatch(r"\w+", name) or name in ACTION_CARDS:
            self.fault(at, "a design is named by a word, not that of an action card")
        if not isinstance(entry, dict) or set(entry) - {"stations", "lanes", "vortices"} or not {"stations", "lanes"} <= set(entry):
            self.fault(at, "must have stations and lanes, and may have vortices, nothing else")
        stations, text, vortices = entry["stations"], entry["lanes"], entry.get("vortices", [])
        if not isinstance(stations, int) or isinstance(stations, bool) or not 0 <= stations <= MOST_STATIONS:
            self.fault(at, f"stations must be 0 to {MOST_STATIONS}, not {stations!r}")
        if not isinstance(text, str):
            self.fault(at, f"lanes must be a text such as 'W-1, 1>E', not {text!r}")
        if not isinstance(vortices, list) or not all(isinstance(v, int) and 1 <= v <= stations for v in vortices):
            self.fault(at, f"vortices must be a list of its stations 1 to {stations}, not {vortices!r}")
        lanes = [lane for part in text.split(",") if part.strip() for lane in self.lane(at, part.strip(), stations)]
        if len(set(lanes)) != len(lanes):
            self.fault(at, f"a lane is written twice in {text!r}")
        return Design(name, stations, tuple(lanes), tuple(sorted(set(vortices))), ", ".join(p.strip() for p in text.split(",")))

    def lane(self, at: str, part: str, stations: int) -> list[tuple[int, int]]:
        match = re.fullmatch(r"(\w+)\s*([->])\s*(\w+)", part)
        if match is None:
            self.fault(at, f"{part!r} is not a lane; lanes are written a>b (one way) or a-b")
        begin, end = (self.point(at, part, match[i], stations) for i in (1, 3))
        if begin == end:
            self.fault(at, f"lane {part!r} leads from a point to itself")
        return [(begin, end), (end, begin)] if match[2] == "-" else [(begin, end)]

    def point(self, at: str, part: str, word: str, stations: int) -> int:
        if word in PORTS:
            return PORTS.index(word)
        if not word.isdigit():
            self.fault(at, f"lane {part!r}: there is no port {word!r}; ports are N, E, S, W")
        if not 1 <= int(word) <= stations:
            self.fault(at, f"lane {part!r}: there is no station {word}; the card has {stations}")
        return len(PORTS) + int(word) - 1

    def cards(self, section: str, names: Any, factions: list[str], kind: str) -> list[tuple[str, str]]:
        cards = []
        for name, entry in self.section(section).items():
            at = f"{section}.{name}"
            if name not in names:
                self.fault(at, f"there is no such card; {kind} is one of {listed(names, 40)}")
            if not isinstance(entry, list):
                self.fault(at, f"must be a list of factions, not {entry!r}")
            for faction in entry:
                if faction not in factions:
                    self.fault(at, f"there is no faction {faction!r}; factions are {listed(factions)}")
            if len(set(entry)) != len(entry):
                self.fault(at, "duplicate card: a faction is listed twice")
            cards += [(name, faction) for faction in entry]
        order = {name: i for i, name in enumerate(names)}
        return sorted(cards, key=lambda card: (order[card[0]], factions.index(card[1])))

    def solar(self, names: list[str]) -> tuple[str, ...]:
        cards: list[str] = []
        for name, count in self.section("solar").items():
            if name not in names:
                self.fault(f"solar.{name}", f"there is no such design; designs are {listed(names, 40)}")
            if not isinstance(count, int) or isinstance(count, bool) or count < 0:
                self.fault(f"solar.{name}", f"must be a number of cards, not {count!r}")
            cards += [name] * count
        if len(cards) != NUM_SOLAR:
            self.fault("solar", f"there must be {NUM_SOLAR} solar cards, not {len(cards)}")
        return tuple(sorted(cards, key=names.index))

    def board(self) -> tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]:
        board = self.section("board")
        spans = [board.get("solar_rows"), board.get("solar_columns")]
        for name, span in zip(("solar_rows", "solar_columns"), spans, strict=True):
            if not isinstance(span, list) or len(span) != 2 or not all(isinstance(n, int) and 0 < n < SIDE - 1 for n in span):
                self.fault(f"board.{name}", f"must be the first and the last, from 1 to {SIDE - 2}, not {span!r}")
        rows, columns = (range(span[0], span[1] + 1) for span in spans)  # type: ignore[index]
        cells = tuple((r, c) for r in rows for c in columns)
        if len(cells) != NUM_SOLAR:
            self.fault("board", f"solar_rows and solar_columns make {len(cells)} cells for {NUM_SOLAR} solar cards")
        given = board.get("bases")
        if not isinstance(given, dict) or set(given) != set(BASE_NAMES):
            self.fault("board.bases", f"must name the cells of {listed(BASE_NAMES)}")
        bases = []
        for name, quarters in zip(BASE_NAMES, QUARTERS, strict=True):
            cell = given[name]
            if not isinstance(cell, list) or len(cell) != 2 or not all(isinstance(n, int) and 0 <= n < SIDE for n in cell):
                self.fault(f"board.bases.{name}", f"must be a cell [row, column], not {cell!r}")
            if turned(cell, quarters) != tuple(given["W"]) or turned(cell, quarters)[1] != 0:
                self.fault(f"board.bases.{name}", f"{cell!r}: turned for its seat, every base must be where base W is, in column 0")
            bases.append((cell[0], cell[1]))
        return cells, tuple(bases)


def turned(cell: Any, quarters: int) -> tuple[int, int]:
    """Where a cell goes when the whole table is turned clockwise."""
    row, column = cell
    for _ in range(quarters):
        row, column = column, SIDE - 1 - row
    return row, column


INSTALLED = Path(__file__).with_name("cards.toml")


def read_table(path: str | Path) -> CardTable:
    """The card table of a file; RulesError names file and entry of a fault."""
    return _Reader(Path(path), str(path)).read()


TABLE = _Reader(INSTALLED, INSTALLED.name).read()
for _players in range(2, MAX_PLAYERS + 1):
    if _fault := TABLE.chain_fault(_players):
        raise RulesError(f"card table {INSTALLED.name}: actions: {_fault}")


# -- the installed table, by number ------------------------------------------------------------------------------------

FACTIONS = TABLE.factions
DESIGNS = TABLE.designs
DESIGN_NAMES = tuple(design.name for design in DESIGNS)
CARDS = tuple(f"{name}.{faction}" for name, faction in TABLE.deck)
NUM_CARDS, NUM_EXPLORATION, NUM_DESIGNS = len(CARDS), TABLE.num_exploration, len(DESIGNS)
FIRST_SOLAR = NUM_CARDS  # solar cards follow the deck's, bases the solar cards
FIRST_BASE = FIRST_SOLAR + NUM_SOLAR
NUM_ON_TABLE = FIRST_BASE + len(BASE_NAMES)
if NUM_ON_TABLE > 127:
    raise RulesError(f"card table {INSTALLED.name}: {NUM_CARDS} cards are more than the {127 - NUM_SOLAR - len(BASE_NAMES)} there may be")

FACTION_OF = tuple(FACTIONS.index(faction) for _, faction in TABLE.deck)
#: what an action card does, a number of ACTION_CARDS; -1 for exploration cards
ACTION_OF = tuple(ACTION_CARDS.index(name) if name in ACTION_CARDS else -1 for name, _ in TABLE.deck)

TABLE_FIELDS = [
    ("design", np.int8, (FIRST_BASE,)),  # of each exploration and solar card; -1 for action cards
    ("in_deck", np.int8, (NUM_CARDS,)),  # 1 for the cards that this table has
    ("lanes", np.uint8, (NUM_DESIGNS, NUM_POINTS)),  # the points that lanes lead to, as bits
    ("both_ways", np.uint8, (NUM_DESIGNS, NUM_POINTS)),  # the same ignoring arrows
    ("vortices", np.uint8, (NUM_DESIGNS,)),  # points that are vortices, as bits
    ("face", np.uint32, (NUM_DESIGNS, 4)),  # of a card in each orientation what FACE names, as bits
]

WAYS = tuple((p, q) for p in range(len(PORTS)) for q in range(len(PORTS)) if p != q)
#: what is seen of a card at a glance: the bits of `face` from the lowest on; the first ones say what lies on the cell
FACE = (
    "exploration", "solar", "own_home", "own_start", "other_base", "free", "reachable", "vortex",
    *(f"in_{p}" for p in PORTS), *(f"out_{p}" for p in PORTS),
    *(f"way_{PORTS[p]}{PORTS[q]}" for p, q in WAYS), *(f"station_{n}" for n in range(1, MOST_STATIONS + 1)),
)  # fmt: skip


def compiled_arrays(table: CardTable) -> dict[str, np.ndarray]:
    """The arrays that a record holds of its card table: TABLE_FIELDS."""
    arrays = {name: np.zeros(shape, dtype) for name, dtype, shape in TABLE_FIELDS}
    names = tuple(design.name for design in table.designs)
    arrays["design"][:] = -1
    for number, (name, faction) in enumerate(TABLE.deck):
        arrays["in_deck"][number] = (name, faction) in table.deck
        if number < NUM_EXPLORATION:
            arrays["design"][number] = names.index(name)
    arrays["design"][FIRST_SOLAR:] = [names.index(name) for name in table.solar]
    for number, design in enumerate(table.designs):
        lanes = np.zeros((NUM_POINTS, NUM_POINTS), np.int64)
        for begin, end in design.lanes:
            lanes[begin, end] = 1
        bits = 1 << np.arange(NUM_POINTS)
        arrays["lanes"][number] = lanes @ bits
        arrays["both_ways"][number] = (lanes | lanes.T) @ bits
        arrays["vortices"][number] = sum(1 << (len(PORTS) + v - 1) for v in design.vortices)
        for orientation in range(4):
            seen = face(design, lanes, orientation)
            arrays["face"][number, orientation] = sum(1 << bit for bit, name in enumerate(FACE) if seen.get(name))
    return arrays


def face(design: Design, lanes: np.ndarray, orientation: int) -> dict[str, bool]:
    """What FACE names, of a card as it lies: stations, ports that let a ship in and out, and ways from port to port."""
    reach = lanes.copy()
    for middle in range(len(PORTS), NUM_POINTS):  # no way goes on from a port within the card
        reach |= np.outer(reach[:, middle], reach[middle])
    ports = [(port - orientation) % 4 for port in range(4)]  # as printed, of the ports as they lie
    seen = {"vortex": bool(design.vortices)}
    for port, printed in enumerate(ports):
        seen[f"in_{PORTS[port]}"] = bool(lanes[printed].any())
        seen[f"out_{PORTS[port]}"] = bool(lanes[:, printed].any())
    for p, q in WAYS:
        seen[f"way_{PORTS[p]}{PORTS[q]}"] = bool(reach[ports[p], ports[q]])
    for station in range(MOST_STATIONS):
        seen[f"station_{station + 1}"] = station < design.stations
    return seen


# -- tables named by an option -----------------------------------------------------------------------------------------


class CardTables:
    """The card tables that rules may name (`tabletop.rules.Texts`): those read by this process, by code."""

    def __init__(self) -> None:
        self.known: dict[int, CardTable] = {}

    def __str__(self) -> str:
        return "the path of a card table (TOML)"

    def read(self, given: Any) -> CardTable:
        """The table at a path, or at path@digest if its file still has that digest."""
        if isinstance(given, CardTable):
            table = given
        elif isinstance(given, str | Path):
            table = self._of_text(str(given))
        else:
            raise RulesError(f"away rules: cards={given!r} is not allowed; cards is {self}, or none")
        other = self.known.setdefault(table.code, table)
        if other != table:
            raise RulesError(f"away rules: the card tables {other} and {table} have the same code; change a comment in one of them")
        return table

    def _of_text(self, text: str) -> CardTable:
        match = re.fullmatch(r"(.+)@([0-9a-f]{12})", text)
        path = match[1] if match else text
        if re.search(r"[,()\s]", path):
            raise RulesError(f"away rules: cards={path!r} is not allowed: a path with a comma, a parenthesis or a space cannot be named")
        table = read_table(path)
        if match and table.digest != match[2]:
            raise RulesError(f"away rules: card table {path} has changed: its digest is {table.digest}, not {match[2]}")
        for what, new, old in (
            ("factions", table.factions, TABLE.factions),
            ("designs", tuple(design.name for design in table.designs), DESIGN_NAMES),
            ("board", (table.solar_cells, table.bases), (TABLE.solar_cells, TABLE.bases)),
        ):
            if new != old:
                raise RulesError(f"card table {path}: {what}: must be those of {INSTALLED.name}, in their order; change them in that file")
        if extra := sorted(set(table.deck) - set(TABLE.deck)):
            raise RulesError(
                f"card table {path}: {extra[0][0]}.{extra[0][1]}: the deck of {INSTALLED.name} has no such card; add it in that file"
            )
        return table

    def code(self, value: Any) -> int:
        return value.code

    def value(self, code: int) -> CardTable:
        if code not in self.known:
            raise RulesError(f"this process has not read the card table with code {code}; name it first (cards=PATH)")
        return self.known[code]


CARD_TABLES = CardTables()
