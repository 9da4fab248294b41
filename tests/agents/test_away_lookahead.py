"""What a_way's lookahead tells of actions: true of the positions that they lead to, the same row by row, and nothing hidden in it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tabletop
from agents.away_heuristic import AwayHeuristic
from agents.away_lookahead import FEATURES, NO_LANES, AwayLookahead
from agents.random_agent import RandomAgent
from away_env import kernel
from away_env.actions import A_CELL, A_DISCARD, A_PASS, A_TURN, ACTIONS
from away_env.cards import INSTALLED
from away_env.state import LAY, TURN

GAME = tabletop.game("away")
RNG = np.random.default_rng(0)
AT = {name: k for k, name in enumerate(FEATURES)}


@pytest.fixture(scope="module")
def lookahead() -> AwayLookahead:
    return AwayLookahead()


def positions(rules: str = "", players: int = 2, steps: int = 60, tables: int = 16, seed: int = 1) -> tuple[np.ndarray, ...]:
    """Records, observations, masks and seats of many decisions, reached by the heuristic and by random moves alike."""
    played = tabletop.Tables(GAME, tables, players, rules, seed=seed, autoreset="same_step")
    rng, rule, other = np.random.default_rng(seed), AwayHeuristic(), RandomAgent()
    told: list[tuple[np.ndarray, ...]] = []
    for _ in range(steps):
        told.append((played.records.copy(), played.observation.copy(), played.action_mask.copy(), played.seat.copy()))
        by_rule, at_random = (agent.act(told[-1][1], told[-1][2], rng) for agent in (rule, other))
        played.step(np.where(rng.random(tables) < 0.6, by_rule, at_random))
    return tuple(np.concatenate(parts) for parts in zip(*told, strict=True))


@pytest.mark.parametrize(("rules", "players"), [("", 2), ("size=7", 3), ("max_rounds=5", 4)])
def test_every_legal_action_has_its_row(lookahead: AwayLookahead, rules: str, players: int) -> None:
    _, seen, masks, _ = positions(rules, players)
    before = seen.tobytes(), masks.tobytes()
    told = lookahead.look(seen, masks)
    assert (seen.tobytes(), masks.tobytes()) == before
    assert told.shape == (len(seen), len(ACTIONS) + 1, len(FEATURES)) and told.dtype == GAME.layout.dtype
    assert (told[:, :-1, AT["legal"]] == masks).all() and not told[:, -1, AT["legal"]].any()
    assert not told[:, :-1][masks == 0].any()
    of_turn, own = (told[..., AT[f"{name}gain"]].astype(int) for name in ("turn_", ""))
    assert (of_turn[:, :-1] >= own[:, :-1]).all() and (of_turn[:, :-1] > own[:, :-1]).any()
    behind = np.where(masks, told[:, :-1, AT["behind"]], -128)
    assert (behind.max(axis=1) == 0).all()
    assert told[:, A_PASS, AT["turn_over"]].any()


def test_the_same_row_by_row_and_on_any_number_of_threads(lookahead: AwayLookahead) -> None:
    _, seen, masks, _ = positions(steps=20)
    whole = lookahead.look(seen, masks)
    assert (AwayLookahead(threads=3).look(seen, masks.astype(np.bool_)) == whole).all()
    for row in range(0, len(seen), 37):
        assert (lookahead.look(seen[row : row + 1], masks[row : row + 1])[0] == whole[row]).all()


def test_lanes_are_those_of_the_position_that_is_reached(lookahead: AwayLookahead) -> None:
    """Of the last target of a card that is laid, and of the position as it is."""
    records, seen, masks, seats = positions(steps=150, seed=3)
    told = lookahead.look(seen, masks)
    rows = np.arange(len(seen))
    most = np.minimum(records["moves_home"], NO_LANES)
    assert (told[:, -1, AT["own_lanes"]] == most[rows, seats]).all()
    assert (told[:, -1, AT["other_lanes"]] == most[rows, 1 - seats]).all()
    turning = np.flatnonzero((records["phase"] == TURN) & (records["effect"] == LAY))
    assert len(turning) > 100
    changed = 0
    for turn in range(4):
        after = records[turning].copy()
        for k in range(len(after)):
            kernel.apply(after, k, A_TURN + turn)
        row = told[turning, A_TURN + turn]
        most = np.minimum(after["moves_home"], NO_LANES)
        assert (row[:, AT["own_lanes"]] == most[np.arange(len(after)), seats[turning]]).all()
        assert (row[:, AT["other_lanes"]] == most[np.arange(len(after)), 1 - seats[turning]]).all()
        changed += np.count_nonzero(row[:, AT["own_lanes"]] != told[turning, -1, AT["own_lanes"]])
    assert changed > 5
    assert told[:, :-1, AT["home"]].any() and (told[..., AT["own_lanes"]][told[..., AT["home"]] > 0] == 0).all()


def test_gains_are_those_that_the_heuristic_plays_by(lookahead: AwayLookahead) -> None:
    """The heuristic's own action gains as much as any, but where the one or the other tries a part of many targets only."""
    _, seen, masks, _ = positions(steps=80, seed=5)
    told = lookahead.look(seen, masks).astype(int)
    gain = told[:, :-1, AT["gain"]] + told[:, :-1, AT["large_gain"]] * 500 / 60
    gain[masks == 0] = -1e9
    chosen = gain[np.arange(len(seen)), AwayHeuristic().act(seen, masks, RNG)]
    assert (chosen >= gain.max(axis=1) - 5).mean() > 0.97


def test_cards_that_stay_in_the_hand(lookahead: AwayLookahead) -> None:
    _, seen, masks, _ = positions(steps=40)
    told = lookahead.look(seen, masks)
    hand = GAME.layout.view(seen, "hand_size")[:, 0]
    row, action = masks.nonzero()
    discarding = (action >= A_DISCARD) & (action < A_CELL)
    left = told[row, action, AT["hand"]]
    assert discarding.any() and (left[discarding] == hand[row[discarding]] - 1).all()
    assert (told[:, -1, AT["hand"]] == hand).all()


def test_another_card_table(lookahead: AwayLookahead, tmp_path: Path) -> None:
    """By its rules the lookahead knows another table; without them it still tells something of every action."""
    path, text = tmp_path / "other.toml", INSTALLED.read_text()
    old = 'lane       = { stations = 1, lanes = "W-1, 1-E" }'
    assert old in text
    path.write_text(text.replace(old, 'lane       = { stations = 1, lanes = "W-1, 1-N" }'))
    records, seen, masks, seats = positions(f"cards={path}", steps=60)
    knowing, guessing = (ahead.look(seen, masks) for ahead in (AwayLookahead(f"cards={path}"), lookahead))
    assert (knowing[:, -1, AT["own_lanes"]] == np.minimum(records["moves_home"], NO_LANES)[np.arange(len(seen)), seats]).all()
    assert (guessing[:, :-1, AT["legal"]] == masks).all() and (guessing != knowing).any()


def test_uncompiled_tells_the_same(lookahead: AwayLookahead, tmp_path: Path) -> None:
    """As Python alone, which checks every index."""
    _, seen, masks, _ = positions(steps=30, tables=4)
    few = masks[:, A_CELL:].any(axis=1) & (masks.sum(axis=1) < 6)  # decisions that do not take long
    seen, masks = seen[few][:4], masks[few][:4]
    path = str(tmp_path / "rows.npz")
    np.savez(path, seen=seen, masks=masks, told=lookahead.look(seen, masks))
    program = (
        "import numpy as np; from agents.away_lookahead import AwayLookahead; d = np.load({!r});"
        " assert (AwayLookahead().look(d['seen'], d['masks']) == d['told']).all()"
    )
    uncompiled = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, "-c", program.format(path)], env=uncompiled, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
