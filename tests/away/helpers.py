"""Positions of a_way for tests: written in few words, played by action names, read by names. All in the table's frame."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Self

import numpy as np

from away_env import kernel
from away_env.cards import CARDS, DESIGN_NAMES, FACTIONS, FIRST_BASE, FIRST_SOLAR, SIDE
from away_env.lanes import CELLS, OWN_OF
from away_env.registered import GAME
from away_env.state import DECK, PHASES
from away_env.text import solar_names

NAMES = GAME.actions.names
LIVE = 0


class Position:
    """One table. Decisions are asked one by one, forced ones too; an action that is not legal fails the test."""

    def __init__(self, records: np.ndarray) -> None:
        self.records = records
        self.mask = np.zeros(len(NAMES), np.int8)

    @classmethod
    def of_text(cls, text: str) -> Self:
        return cls(GAME.parse(text))

    @classmethod
    def of_seed(cls, seed: int, rules: str | None = None, players: int = 2) -> Self:
        return cls(GAME.new_record(GAME.variant(rules, players), seed))

    def copy(self) -> Self:
        return type(self)(self.records.copy())

    # -- play

    @property
    def legal(self) -> list[str]:
        if self.records["over"][0] != LIVE:
            return []
        kernel.legal(self.records, 0, self.mask)
        return GAME.actions.legal(self.mask)

    def do(self, *names: str) -> Self:
        for name in names:
            assert name in self.legal, f"{name} is not legal; legal: {self.legal}\n{self}"
            kernel.apply(self.records, 0, GAME.actions.id(name))
            self.records["decisions"] += 1
        return self

    def of(self, *words: str) -> list[str]:
        """The legal actions of these words."""
        return [name for name in self.legal if name.partition(":")[0] in words]

    # -- reading

    def __getitem__(self, field: str) -> int:
        return int(self.records[field][0])

    @property
    def phase(self) -> str:
        return PHASES[self["phase"]]

    @property
    def over(self) -> bool:
        return self["over"] != LIVE

    @property
    def winners(self) -> list[int]:
        return [int(seat) for seat in np.flatnonzero(self.records["won"][0])]

    @property
    def faction(self) -> str | None:
        return None if self["faction"] < 0 else FACTIONS[self["faction"]]

    @property
    def table(self) -> dict[str, str]:
        """What lies on each cell: `lane.blue/0`, `junction.2/3`, `base W`."""
        r, solar, lying = self.records[0], solar_names(self.records[0]), {}
        for cell in map(int, CELLS):
            there = int(r["board"][cell])
            if there >= FIRST_BASE:
                lying[cell_name(cell)] = f"base {'WENS'[there - FIRST_BASE]}"
            elif there >= 0:
                name = solar[there - FIRST_SOLAR] if there >= FIRST_SOLAR else CARDS[there]
                lying[cell_name(cell)] = f"{name}/{r['turn'][cell]}"
        return lying

    def design(self, cell: str) -> str:
        card = self.records["board"][0, field_cell(cell)]
        return DESIGN_NAMES[self.records["design"][0, card]]

    def ship(self, seat: int) -> str:
        """`r4c1 stop 1`, `start` or `home`."""
        r = self.records[0]
        if r["home"][seat]:
            return "home"
        return f"{cell_name(int(r['ship'][seat]))} stop {r['stop'][seat]}" if r["stop"][seat] else "start"

    def hand(self, seat: int) -> list[str]:
        return [CARDS[card] for card in np.flatnonzero(self.records["place"][0] == seat)]

    @property
    def pile(self) -> list[str]:
        """From the top."""
        return [CARDS[card] for card in self.records["pile"][0][: self["pile_size"]][::-1]]

    @property
    def deck(self) -> list[str]:
        """From the top."""
        return [CARDS[card] for card in self.records["deck"][0][: self["deck_size"]][::-1]]

    def moves_home(self, seat: int) -> int:
        return int(self.records["moves_home"][0, seat])

    def check(self) -> Self:
        """Every card, ship and base is in one place, and no two in the same."""
        r = self.records[0]
        place, on_table = r["place"], r["board"][r["board"] >= 0]
        assert np.unique(on_table).size == on_table.size
        assert (place[on_table[on_table < FIRST_SOLAR]] == 6).all() and (place == 6).sum() == (on_table < FIRST_SOLAR).sum()
        assert sorted(r["deck"][: r["deck_size"]]) == np.flatnonzero(place == DECK).tolist()
        assert sorted(r["pile"][: r["pile_size"]]) == np.flatnonzero(place == 5).tolist()
        assert [(place == k).sum() for k in range(4)] == r["hand_size"].tolist()
        assert ((place >= 0) == (r["in_deck"] == 1)).all() and (place == 7).sum() == (r["effect"] == 13)
        players = int(r["players"])
        stops = [(r["ship"][k], r["stop"][k]) for k in range(players) if r["stop"][k]]
        assert len(set(stops)) == len(stops)
        assert all((r["stop"][k] == 0) == (r["board"][r["ship"][k]] >= FIRST_BASE) for k in range(players))
        bases = [int(b) for b in r["base"] if b >= 0]
        assert len(bases) == len(set(bases)) == (2 if players == 2 else 4)
        assert all(r["board"][cell] == FIRST_BASE + k for k, cell in enumerate(r["base"]) if cell >= 0)
        assert (r["turn"][r["board"] < 0] == 0).all() and ((r["turn"] >= 0) & (r["turn"] < 4)).all()
        return self

    def __str__(self) -> str:
        return GAME.text(self.records[0])


def cell_name(cell: int) -> str:
    row, column = divmod(int(OWN_OF[0, cell]), SIDE)
    return f"r{row}c{column}"


def field_cell(name: str) -> int:
    return int(CELLS[int(name[1]) * SIDE + int(name[3])])


def cell(name: str) -> str:
    """The action that names a cell of seat 0's frame: `cell:4,1` for r4c1."""
    return f"cell:{name[1]},{name[3]}"


def position(
    table: str = "",
    hand: str = "",
    *,
    ships: Mapping[int, str] | Sequence[str] = (),
    hands: Mapping[int, str] | None = None,
    pile: str = "",
    deck: str = "rest",
    turn: str = "round 3, seat 0",
    doing: str = "",
    players: int = 2,
    rules: str = "",
) -> Position:
    """A position in few words. table: `r4c1 lane.blue/0, r4c2 …`; hand: that of the seat to act; pile and deck from the top."""
    seat_to_act = int(re.findall(r"seat (\d)", turn)[0])
    held = {seat_to_act: hand, **(hands or {})}
    where = dict(enumerate(ships)) if isinstance(ships, Sequence) else dict(ships)
    rows: dict[str, list[str]] = {}
    for item in filter(None, (item.strip() for item in table.split(","))):
        rows.setdefault(item[1], []).append(item[2:])
    lines = [f"away(players={players}{',' if rules else ''}{rules})", f"turn: {turn}", f"deck: {deck}"]
    lines += [f"row {row}: {', '.join(items)}" for row, items in rows.items()]
    lines += [f"pile: {pile}"] if pile else []
    lines += [f"doing: {doing}"] if doing else []
    for seat in range(players):
        lines += [f"seat {seat}: ship {where.get(seat, 'start')}", f"hand: {held.get(seat, '') or 'none'}"]
    return Position.of_text("\n".join(lines)).check()
