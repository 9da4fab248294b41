"""What a seat cannot see is dealt again with the chances that the rules give: every unseen card is as likely anywhere."""

from __future__ import annotations

import numpy as np
import pytest

import tabletop

DEALS = 6000


@pytest.mark.parametrize("players", [2, 3, 4])
def test_every_unseen_card_is_as_likely_in_a_hand(players: int) -> None:
    """Chi-square of how often each is in the next seat's hand; a hand is drawn without replacement, which the factor allows for."""
    tables = tabletop.Tables("away", 1, players, seed=11)
    record, me = tables.records[0], int(tables.seat[0])
    unseen = np.flatnonzero((record["place"] >= 0) & (record["place"] <= 4) & (record["place"] != me))
    other = (me + 1) % players
    dealt = tables.determinize(np.repeat(tables.records, DEALS), np.full(DEALS, me), 5)
    counts = (dealt["place"][:, unseen] == other).sum(axis=0)
    n, share = len(unseen), 5 / len(unseen)
    assert counts.sum() == 5 * DEALS
    statistic = ((counts - DEALS * share) ** 2).sum() / (DEALS * share * (1 - share)) * (n - 1) / n
    assert abs(statistic - (n - 1)) < 4 * np.sqrt(2 * (n - 1))
