"""Who plays whom in a tournament: groups of agents, their seatings, and the blocks in which the games are played.

A *group* is who sits at one table: with as many agents as seats or more, every choice of as many agents as there are seats (with two
players: every pair); with fewer agents, every way to share the seats as evenly as they can be.

Every deal is played once by each rotation of a group around the table, so that each agent has each seat once and the luck of the
deal cancels. With three and four players it also matters who sits after whom: the order around the table changes from deal to deal,
through all of them (2 with three players, 6 with four), so that over 2 or 6 deals everybody sat next to everybody equally often.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np


@dataclass(frozen=True, order=True)
class Block:
    """The games of one group on the deals of one round: what is played, stored and resumed as a whole."""

    round: int
    group: int

    @property
    def name(self) -> str:
        return f"{self.round:05d}-{self.group:04d}"


def block_named(name: str, groups: int) -> Block | None:
    """The block of that name in a tournament of so many groups; None if there is none."""
    found = re.fullmatch(r"(\d{5,})-(\d{4,})", name)
    block = Block(int(found[1]), int(found[2])) if found else None
    return block if block and block.name == name and block.group < groups else None


def groups(agents: int, players: int) -> list[tuple[int, ...]]:
    """The groups of so many agents for tables of so many seats; agents by index, ascending, copies side by side."""
    if agents < 2:
        raise ValueError("a tournament needs at least two agents")
    if agents >= players:
        return list(combinations(range(agents), players))
    each, rest = divmod(players, agents)
    return [tuple(sorted((*range(agents),) * each + extra)) for extra in combinations(range(agents), rest)]


def orders(group: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The orders around the table, from which deal after deal takes the next one: the first seat's stays, all others change places.

    Copies of an agent count as different here, so that an order comes up as often as it is likely.
    """
    return [(group[0], *rest) for rest in permutations(group[1:])]


def seatings(order: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The rotations of an order, each once: seatings[g][seat] = agent."""
    turned = [order[k:] + order[:k] for k in range(len(order))]
    return list(dict.fromkeys(turned))


def deals_of(round_number: int, size: int) -> np.ndarray:
    """The deals of a round of `size` deals; the same for all groups."""
    return np.arange(round_number * size, (round_number + 1) * size)


def by_order(group: tuple[int, ...], deals: Iterable[int]) -> list[tuple[np.ndarray, list[tuple[int, ...]]]]:
    """The deals of a block with the seatings they are played in: (deals, seatings) for each order that is used."""
    around = orders(group)
    numbers = np.asarray(list(deals))
    parts = [(numbers[numbers % len(around) == k], seatings(order)) for k, order in enumerate(around)]
    return [(chosen, seats) for chosen, seats in parts if chosen.size]
