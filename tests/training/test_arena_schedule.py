"""Every agent sits in each seat equally often, beside and against each other equally often, whatever the numbers of seats and agents."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from training.arena_schedule import Block, by_order, deals_of, groups, orders, seatings

SIZES = [(agents, players) for players in (2, 3, 4) for agents in range(2, 7)]


def tables(agents: int, players: int, deals: int = 24) -> list[tuple[int, tuple[int, ...]]]:
    """(deal, seating) of all games of a tournament."""
    return [
        (int(deal), seating)
        for group in groups(agents, players)
        for chosen, seats in by_order(group, range(deals))
        for deal in chosen
        for seating in seats
    ]


@pytest.mark.parametrize(("agents", "players"), SIZES)
def test_balance(agents: int, players: int) -> None:
    seats: Counter[tuple[int, int]] = Counter()
    met: Counter[tuple[int, int]] = Counter()
    after: Counter[tuple[int, int]] = Counter()
    for _, seating in tables(agents, players):
        for seat, agent in enumerate(seating):
            seats[agent, seat] += 1
            after[agent, seating[(seat + 1) % players]] += 1
            for other in set(seating) - {agent}:
                met[agent, other] += 1
    assert len(seats) == agents * players and len(set(seats.values())) == 1
    assert len(met) == agents * (agents - 1) and len(set(met.values())) == 1
    others = [count for (a, b), count in after.items() if a != b]
    assert len(others) == agents * (agents - 1) and len(set(others)) == 1


@pytest.mark.parametrize(("agents", "players"), SIZES)
def test_each_deal_has_each_agent_of_a_group_in_each_seat_equally_often(agents: int, players: int) -> None:
    for group in groups(agents, players):
        for order in orders(group):
            seated = np.array(seatings(order))
            for agent in set(group):
                assert len(set((seated == agent).sum(axis=0))) == 1


def test_two_players_are_pairs_in_both_seats() -> None:
    assert groups(3, 2) == [(0, 1), (0, 2), (1, 2)]
    assert tables(2, 2, 2) == [(0, (0, 1)), (0, (1, 0)), (1, (0, 1)), (1, (1, 0))]


def test_few_agents_share_the_seats_evenly() -> None:
    assert groups(2, 4) == [(0, 0, 1, 1)]
    assert groups(2, 3) == [(0, 0, 1), (0, 1, 1)]
    assert groups(3, 4) == [(0, 0, 1, 2), (0, 1, 1, 2), (0, 1, 2, 2)]
    assert seatings((0, 1, 0, 1)) == [(0, 1, 0, 1), (1, 0, 1, 0)]
    with pytest.raises(ValueError, match="at least two agents"):
        groups(1, 2)


def test_rounds_cut_the_deals_without_gaps() -> None:
    assert np.concatenate([deals_of(r, 7) for r in range(3)]).tolist() == list(range(21))
    parts = by_order((0, 1, 2, 3), deals_of(2, 7))
    assert sorted(np.concatenate([deals for deals, _ in parts]).tolist()) == list(range(14, 21))
    assert len({seats[0] for _, seats in parts}) == len(parts) == 6


def test_names_of_blocks_sort_as_they_are_played() -> None:
    blocks = [Block(r, g) for r in (0, 9, 10, 200) for g in (0, 11, 100)]
    assert sorted(block.name for block in blocks) == [block.name for block in blocks]
