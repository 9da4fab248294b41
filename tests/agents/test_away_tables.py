"""Card tables of a_way that heuristic and lookahead play by: the installed one, and one other, row by row as the observation tells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tabletop
from agents import named
from agents.away_heuristic import AwayHeuristic
from agents.away_lookahead import AwayLookahead
from tabletop.errors import RulesError

GAME = tabletop.game("away")
TABLES = Path(__file__).parents[2] / "examples" / "cards"
OTHER, THIRD = (f"cards={TABLES / name}" for name in ("many_one_way.toml", "few_one_way.toml"))


@pytest.fixture(scope="module")
def mixed() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Observations and masks at tables of the installed and of another card table by turns; which rows are of the other."""
    rules = ["", OTHER, "size=7", f"{OTHER},size=7"] * 6
    tables = tabletop.Tables(GAME, len(rules), [2 + k % 3 for k in range(len(rules))], rules, seed=3, autoreset="same_step")
    player, rng = AwayHeuristic(), np.random.default_rng(0)
    seen, masks = [], []
    for _ in range(40):
        seen.append(tables.observation.copy())
        masks.append(tables.action_mask.copy())
        tables.step(player.act(seen[-1], masks[-1], rng))
    return np.concatenate(seen), np.concatenate(masks), np.tile([OTHER in told for told in rules], 40)


def heuristic(seen: np.ndarray, masks: np.ndarray, rules: Any = None) -> np.ndarray:
    return AwayHeuristic(rules).act(seen, masks, np.random.default_rng(0))


def lookahead(seen: np.ndarray, masks: np.ndarray, rules: Any = None) -> np.ndarray:
    return AwayLookahead(rules).look(seen, masks)


@pytest.mark.parametrize("player", [heuristic, lookahead])
def test_every_row_is_played_by_its_own_table(player: Any, mixed: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    seen, masks, other = mixed
    told = player(seen, masks, OTHER)
    assert (told[~other] == player(seen[~other], masks[~other])).all()
    assert (told[other] == player(seen[other], masks[other], OTHER)).all()
    assert (told[other] != player(seen[other], masks[other])).any(), "the tables do not differ in these positions"
    for rules in (["", OTHER], [OTHER, "size=7", f"{OTHER},size=7"], GAME.variant(OTHER).rules):
        assert (player(seen, masks, rules) == told).all()


@pytest.mark.parametrize("made", [AwayHeuristic, AwayLookahead])
def test_two_other_tables_are_refused(made: Any) -> None:
    """Which of them it is, an observation does not tell."""
    with pytest.raises(RulesError, match=r"many_one_way.* and .*few_one_way.* cannot be played by one agent"):
        made([OTHER, "", THIRD])


def test_made_by_name_for_several_variants(mixed: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    seen, masks, _ = mixed
    made = named.heuristic(GAME, [GAME.variant("", 3), GAME.variant(OTHER, 2)])
    assert made is not None
    assert (made.act(seen, masks, np.random.default_rng(0)) == heuristic(seen, masks, OTHER)).all()
    assert named.heuristic(tabletop.game("beyond"), [tabletop.game("beyond").variant()]) is not None
