"""The heuristic of a_way: rebuilds the position from the observation alone, plays it row by row as in a batch, legally in all
variants, and not foolishly."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tabletop
from agents import away_heuristic, named
from agents.away_heuristic import WEIGHTS, AwayHeuristic
from agents.random_agent import RandomAgent
from away_env import kernel
from away_env.cards import ACTION_OF, CARDS, FACE, FACTION_OF, FIRST_BASE, INSTALLED
from away_env.lanes import BASE_PORT, CELLS, STEP, lanes_from
from away_env.observation import observe
from away_env.state import DECK, FREE, STATE
from tabletop.errors import EmptyMask
from tests.away.helpers import Position, position
from training.play import play
from training.statistics import share_by_deal

GAME = tabletop.game("away")
VARIANTS = ("", "size=7", "size=5,max_rounds=30", "max_rounds=3")
RNG = np.random.default_rng(0)


@pytest.fixture(scope="module")
def heuristic() -> AwayHeuristic:
    return AwayHeuristic()


def positions(
    agent: AwayHeuristic, rules: str, players: int, steps: int, tables: int = 16, seed: int = 1
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Records, observations and masks of many decisions, reached by the heuristic and by random moves alike."""
    played = tabletop.Tables(GAME, tables, players, rules, seed=seed, autoreset="same_step")
    rng, other = np.random.default_rng(seed), RandomAgent()
    records, seen, masks = [], [], []
    for _ in range(steps):
        records.append(played.records.copy())
        seen.append(played.observation.copy())
        masks.append(played.action_mask.copy())
        by_rule, at_random = agent.act(seen[-1], masks[-1], rng), other.act(seen[-1], masks[-1], rng)
        played.step(np.where(rng.random(tables) < 0.6, by_rule, at_random))
    return np.concatenate(records), np.concatenate(seen), np.concatenate(masks)


# -- as an agent ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("rules", VARIANTS)
def test_legal_deterministic_and_the_same_in_any_batch(heuristic: AwayHeuristic, rules: str, players: int) -> None:
    _, seen, masks = positions(heuristic, rules, players, 60)
    before = seen.tobytes(), masks.tobytes()
    actions = heuristic.act(seen, masks, RNG)
    assert masks[np.arange(len(actions)), actions].all()
    assert (seen.tobytes(), masks.tobytes()) == before
    assert actions.dtype == np.int64
    assert (heuristic.act(seen, masks, np.random.default_rng(5)) == actions).all()
    some = range(0, len(actions), 7)
    assert [int(heuristic.act(seen[i : i + 1], masks[i : i + 1], RNG)[0]) for i in some] == actions[list(some)].tolist()
    order = np.random.default_rng(2).permutation(len(actions))
    assert (heuristic.act(seen[order], masks[order], RNG) == actions[order]).all()


def test_variants_mixed_in_a_batch(heuristic: AwayHeuristic) -> None:
    """Nothing of a row is left over in the next."""
    parts = [positions(heuristic, rules, players, 30, 4)[1:] for rules in VARIANTS for players in (4, 2, 3)]
    alone = np.concatenate([heuristic.act(seen, masks, RNG) for seen, masks in parts])
    seen, masks = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    order = np.random.default_rng(3).permutation(len(alone))
    assert (heuristic.act(seen[order], masks[order], RNG) == alone[order]).all()


def test_any_kind_of_array(heuristic: AwayHeuristic) -> None:
    _, seen, masks = positions(heuristic, "", 2, 10)
    actions = heuristic.act(seen, masks, RNG)
    locked = seen.copy(), masks.copy()
    for array in locked:
        array.flags.writeable = False
    assert (heuristic.act(*locked, RNG) == actions).all()
    assert (heuristic.act(seen.astype(np.int64), masks.astype(np.bool_), RNG) == actions).all()
    assert (heuristic.act(np.asfortranarray(seen), masks.astype(np.int64), RNG) == actions).all()
    assert heuristic.act(seen[:0], masks[:0], RNG).shape == (0,)


def test_empty_mask_is_named(heuristic: AwayHeuristic) -> None:
    _, seen, masks = positions(heuristic, "", 2, 1)
    masks[5] = 0
    with pytest.raises(EmptyMask, match="row 5"):
        heuristic.act(seen, masks, RNG)


def test_unknown_weight() -> None:
    with pytest.raises(ValueError, match=r"no weight 'greed'.*far"):
        AwayHeuristic(greed=1.0)
    assert AwayHeuristic(gap=2.0).weights[list(WEIGHTS).index("gap")] == 2.0
    with pytest.raises(ValueError, match="weight gap must be at least 0, not -1"):
        AwayHeuristic(gap=-1.0)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_from_what_its_seat_knows_alone(heuristic: AwayHeuristic, players: int) -> None:
    """What the seat cannot see is dealt anew: the same decision."""
    tables = tabletop.Tables(GAME, 24, players, seed=3)
    records, seen, masks = positions(heuristic, "", players, 40)
    actions = heuristic.act(seen, masks, RNG)
    for seed in (9, 10):
        others = tables.determinize(records, records["seat"], seed)
        assert (others["place"] != records["place"]).any(axis=1).mean() > 0.9
        told = np.zeros_like(seen)
        for i in range(len(told)):
            observe(others, i, int(others["seat"][i]), told[i])
        assert (heuristic.act(told, masks, RNG) == actions).all()


def test_another_card_table(heuristic: AwayHeuristic, tmp_path: Path) -> None:
    """By its rules the heuristic knows another table, also made by name for a variant; without them it still plays legally."""
    path, text = tmp_path / "other.toml", INSTALLED.read_text()
    for old, new in (('lanes = "W-1, 1-E" }', 'lanes = "W-1, 1-N" }'), ('["blue", "pink"]', '["blue"]')):
        assert old in text
        text = text.replace(old, new, 1)
    path.write_text(text)
    rules = f"cards={path}"
    knowing = AwayHeuristic(rules)
    for agent in (knowing, heuristic):
        records, seen, masks = positions(agent, rules, 2, 40)
        actions = agent.act(seen, masks, RNG)
        assert masks[np.arange(len(actions)), actions].all()
    check_rebuilt(knowing, records, seen, masks)
    by_name = named.agent(GAME, "heuristic", GAME.variant(rules, 2))
    assert (by_name.act(seen, masks, RNG) == knowing.act(seen, masks, RNG)).all()
    assert [plain_decision(knowing, *row) for row in zip(seen[:200], masks[:200], strict=True)] == list(knowing.act(seen, masks, RNG)[:200])


# -- the position rebuilt from the observation -----------------------------------------------------------------------------

PUBLIC = (
    "players", "seat", "over", "won", "options", "round", "part", "phase", "faction", "discarded", "effect", "step", "card", "target",
    "target_turn", "board", "turn", "base", "ship", "stop", "home", "hand_size", "deck_size", "pile_size", "in_deck", "lanes",
    "both_ways", "vortices", "face",
)  # fmt: skip


def check_rebuilt(agent: AwayHeuristic, records: np.ndarray, seen: np.ndarray, masks: np.ndarray) -> None:
    """What is rebuilt has all that is public, holds each card once, and offers the same actions."""
    root, mask, stream = agent._root.copy(), np.zeros(GAME.num_actions, np.int8), agent._root["stream"].copy()
    for record, told, legal in zip(records, seen, masks, strict=True):
        me = away_heuristic.rebuild(told, root[0])
        made = root[0]
        assert me == record["seat"]
        for name in PUBLIC:
            assert (made[name] == record[name]).all(), f"{name}: {made[name]}, not {record[name]}\n{GAME.text(record)}"
        on_table = record["board"][(record["board"] >= 0) & (record["board"] < record["design"].size)]
        assert (made["design"][on_table] == record["design"][on_table]).all()
        kept = (record["place"] > DECK) | (record["place"] == me) | (record["place"] < 0)
        assert (made["place"][kept] == record["place"][kept]).all(), GAME.text(record)
        assert ((made["place"] >= 0) == (record["place"] >= 0)).all()
        for seat in range(made["players"]):
            assert (made["place"] == seat).sum() == record["hand_size"][seat]
        deck, pile = (set(map(int, made[name][: made[f"{name}_size"]])) for name in ("deck", "pile"))
        assert deck == set(np.flatnonzero(made["place"] == DECK)) and len(deck) == record["deck_size"]
        assert pile == set(map(int, record["pile"][: record["pile_size"]])) and len(pile) == record["pile_size"]
        if pile:
            assert made["pile"][made["pile_size"] - 1] == record["pile"][record["pile_size"] - 1]
        assert (made["deck"][made["deck_size"] :] == -1).all() and (made["pile"][made["pile_size"] :] == -1).all()
        kernel.legal(root, 0, mask)
        assert (mask == legal).all(), GAME.text(record)
        assert (root["stream"] == stream).all()


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("rules", VARIANTS)
def test_rebuilds_the_position(heuristic: AwayHeuristic, rules: str, players: int) -> None:
    check_rebuilt(heuristic, *positions(heuristic, rules, players, 40))


@pytest.mark.parametrize("players", [2, 3, 4])
def test_rebuilds_the_position_in_random_games(heuristic: AwayHeuristic, players: int) -> None:
    """Random play that likes cards: every effect and every target comes up, forced decisions too."""
    rng, root = random.Random(players), heuristic._root
    assert root.dtype == STATE
    records, seen, masks, effects = [], [], [], set()
    for game in range(8):
        p = Position.of_seed(100 + game, None, players)
        for _ in range(250):
            legal = p.legal
            if not legal:
                break
            told = np.zeros(GAME.layout.size, np.int8)
            observe(p.records, 0, p["seat"], told)
            records.append(p.records[0].copy())
            seen.append(told)
            masks.append(p.mask.copy())
            effects.add((p["effect"], p["phase"], p["step"]))
            plays = [name for name in legal if not name.startswith(("discard", "pass", "done"))]
            p.do(rng.choice(plays or legal))
    assert {effect for effect, _, _ in effects} >= set(range(-1, 11)) | {13, 14} and len(effects) > 25
    check_rebuilt(heuristic, np.array(records), np.array(seen), np.array(masks))


# -- worth, the plain way --------------------------------------------------------------------------------------------------


def plain_decision(agent: AwayHeuristic, told: np.ndarray, mask: np.ndarray) -> int:
    """Every end of every action is reached by `apply`, and all ways home are searched in it."""
    root, work = agent._root.copy(), np.zeros(away_heuristic.DEPTH + 1, STATE)
    masks, tried = np.zeros((len(work), GAME.num_actions), np.int8), np.zeros(len(work), np.int64)
    me, w = away_heuristic.rebuild(told, root[0]), dict(zip(WEIGHTS, agent.weights, strict=True))
    s = root[0]
    now = away_heuristic.value(s, me, agent.weights)
    best, best_worth = -1, -np.inf
    for action in np.flatnonzero(mask):
        kind, _, name = GAME.actions.names[action].partition(":")
        card = CARDS.index(name) if kind in ("play", "discard") else -1
        company = sum(s["place"][c] == me and FACTION_OF[c] == FACTION_OF[card] and c != card for c in range(len(CARDS)))
        if kind == "pass":
            worth = now if away_heuristic.way_home(s, me, agent.weights) > 1.0 else -1e9
        elif kind == "done":
            worth = now
        elif kind == "discard":
            worth = now + w["fresh"] * (1.0 - 0.25 * company - (0.3 if ACTION_OF[card] >= 0 else 0.0))
        elif kind == "play" and away_heuristic.brings_fate(s, card):
            worth = now + w["fate"]
        else:
            work[0] = s
            kernel.apply(work, 0, action)
            worth = away_heuristic.best_end(work, masks, tried, me, agent.weights)
            worth += w["chain"] * company - w["card"] if kind == "play" else 0.0
        if worth > best_worth + 1e-9:
            best, best_worth = int(action), worth
    return best


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("rules", ["", "size=5"])
@pytest.mark.parametrize("weights", [{}, {"gap": 0.7, "blocked": 4.0, "far": 0.3, "others": 2.0}], ids=["", "other weights"])
def test_decides_as_the_plain_way(rules: str, players: int, weights: dict[str, float]) -> None:
    """What is left out because it cannot matter does not matter."""
    agent = AwayHeuristic(**weights)
    _, seen, masks = positions(agent, rules, players, 25, seed=11)
    decided = agent.act(seen, masks, RNG)
    for told, mask, action in zip(seen, masks, decided, strict=True):
        assert action == plain_decision(agent, told, mask)


UNCOMPILED = """
import sys
import numpy as np
from agents.away_heuristic import AwayHeuristic
given = np.load(sys.argv[1])
np.save(sys.argv[2], AwayHeuristic().act(given["seen"], given["masks"], np.random.default_rng(0)))
"""


def test_decides_the_same_uncompiled(heuristic: AwayHeuristic, tmp_path: Path) -> None:
    parts = [positions(heuristic, "", players, 40, tables=4, seed=7)[1:] for players in (2, 4)]
    seen, masks = (np.concatenate(arrays)[::12] for arrays in zip(*parts, strict=True))
    np.savez(tmp_path / "given.npz", seen=seen, masks=masks)
    command = [sys.executable, "-W", "ignore", "-c", UNCOMPILED, str(tmp_path / "given.npz"), str(tmp_path / "decided.npy")]
    subprocess.run(command, check=True, env=os.environ | {"NUMBA_DISABLE_JIT": "1"}, timeout=120)
    assert (np.load(tmp_path / "decided.npy") == heuristic.act(seen, masks, RNG)).all()


def plain_way_home(record: np.ndarray, seat: int, w: dict[str, float]) -> float:
    """The way home by its definition: first along lanes, move by move; then, if none lead home, by the cheapest cells."""
    home, port = int(record["base"][seat ^ 1]), int(BASE_PORT[seat ^ 1])
    start, stop, board = int(record["ship"][seat]), int(record["stop"][seat]), record["board"]
    if record["home"][seat]:
        return 0.0

    def card(cell: int) -> bool:
        return 0 <= board[cell] < FIRST_BASE

    def lanes(cell: int, point: int) -> list[int]:
        if not card(cell):  # a base
            return [point]
        to = int(lanes_from(record, cell, point, False))
        return [p for p in range(8) if to >> p & 1]

    def lets(way: str, cell: int, side: int) -> bool:
        return bool(record["face"][record["design"][board[cell]], record["turn"][cell]] >> FACE.index(f"{way}_{'NESW'[side]}") & 1)

    def vortices(cell: int) -> list[tuple[int, int]]:
        bits = int(record["vortices"][record["design"][board[cell]]]) if card(cell) else 0
        return [(cell, p) for p in range(4, 8) if bits >> p & 1]

    def paid(cell: int, side: int) -> float:
        return w["gap"] if not card(cell) else 1.0 if lets("in", cell, side) else 1.0 + w["blocked"]

    cost: dict[int, float] = {}
    at = {(start, 3 + stop if stop else int(BASE_PORT[seat]))}
    seen, moves = set(at), 0
    while at:  # the stops that so many moves lead to
        moves += 1
        following, points = set(), list(at)
        if any(v in vortices(v[0]) for v in at):
            following |= {v for cell in CELLS for v in vortices(int(cell))} - seen
            seen |= following
        while points:
            cell, point = points.pop()
            for to in lanes(cell, point):
                if to >= 4:
                    if (cell, to) not in seen:
                        seen.add((cell, to))
                        following.add((cell, to))
                    continue
                there, entry = cell + int(STEP[to]), to ^ 2
                if (there, entry) == (home, port):
                    return float(moves)
                if card(there) and lets("in", there, entry):
                    if (there, entry) not in seen:
                        seen.add((there, entry))
                        points.append((there, entry))
                elif card(there) or board[there] == FREE:
                    cost[there] = min(cost.get(there, 40.0), moves + paid(there, entry))
        at = following
    door = home + int(STEP[port])
    for _ in range(40):  # cells of any way that is not dearer than none
        for cell, so_far in list(cost.items()):
            for side in range(4):
                there = cell + int(STEP[side])
                if card(there) or board[there] == FREE:
                    out = w["blocked"] if card(cell) and not lets("out", cell, side) else 0.0
                    cost[there] = min(cost.get(there, 40.0), so_far + out + paid(there, side ^ 2))
    return cost.get(door, 40.0) + (w["blocked"] if card(door) and not lets("out", door, port ^ 2) else 0.0)


@pytest.mark.parametrize("players", [2, 4])
def test_ways_home_by_their_definition(heuristic: AwayHeuristic, players: int) -> None:
    records, _, _ = positions(heuristic, "", players, 60, tables=8, seed=4)
    found = []
    for record in records[::13]:
        for seat in range(players):
            found.append(away_heuristic.way_home(record, seat, heuristic.weights))
            assert found[-1] == pytest.approx(plain_way_home(record, seat, WEIGHTS))
    assert len({round(moves, 6) for moves in found}) > 15


# -- positions in which one decision is right ------------------------------------------------------------------------------


def decides(heuristic: AwayHeuristic, p: Position) -> str:
    """The name of its decision."""
    legal = p.legal
    assert len(legal) > 1, "the decision is forced"
    seen = np.zeros((1, GAME.layout.size), np.int8)
    observe(p.records, 0, p["seat"], seen[0])
    return GAME.actions.names[int(heuristic.act(seen, p.mask[None].copy(), RNG)[0])]


def plays_turn(heuristic: AwayHeuristic, p: Position) -> list[str]:
    """The decisions of its turn, forced ones too; the position is played on."""
    seat, done = p["seat"], []
    while not p.over and p["seat"] == seat:
        done.append(decides(heuristic, p) if len(p.legal) > 1 else p.legal[0])
        p.do(done[-1])
    return done


ROW = "r4c1 lane.blue/0, r4c2 lane.green/0, r4c3 lane.pink/0, r4c4 crossroads.1/0, r4c5 bend.green/3, r4c6 bend.pink/0, r4c7 lane.orange/0"


@pytest.mark.parametrize("seat", range(4))
def test_moves_home_when_it_can(heuristic: AwayHeuristic, seat: int) -> None:
    before_home = {0: "r4c7", 1: "r4c1", 2: "r7c4", 3: "r1c4"}[seat]
    hand = "bend.blue, fork.green, black_hole.pink, unknown_fate.orange, unstable_field.green"
    for part in ("part 1", "part 2, ship"):
        p = position(f"r4c4 junction.1/0, {before_home} crossroads.1/0", "" if part != "part 1" else hand, players=4,
                     turn=f"round 9, seat {seat}, {part}", ships={seat: f"{before_home} stop 1"})  # fmt: skip
        assert decides(heuristic, p) == "move"
        plays_turn(heuristic, p)
        assert p.ship(seat) == "home"


def test_moves_along_its_way(heuristic: AwayHeuristic) -> None:
    table = "r4c1 lane.blue/0, r4c2 lane.green/0, r4c3 lane.pink/0, r4c4 crossroads.1/0, r4c5 lane.orange/0"
    p = position(table, "deadend.orange", ships=["r4c2 stop 1"])
    assert plays_turn(heuristic, p)[:4] == ["move", "cell:4,3", "move", "cell:4,4"]
    choice = position(ROW, turn="round 5, seat 0, part 2, ship", ships=["r4c3 stop 1"]).do("move")
    assert choice.legal == ["cell:4,2", "cell:4,4"] and decides(heuristic, choice) == "cell:4,4"


def test_does_not_move_back(heuristic: AwayHeuristic) -> None:
    p = position("r4c1 lane.blue/0, r4c2 lane.green/0, r4c3 lane.pink/0", turn="round 5, seat 0, part 2, ship", ships=["r4c3 stop 1"])
    assert p.legal == ["move", "pass"] and decides(heuristic, p) == "pass"


def test_opens_its_shut_door(heuristic: AwayHeuristic) -> None:
    """A lane across the door shuts its home; its own card turns it."""
    table = "r4c4 crossroads.1/0, r4c5 lane.blue/0, r4c6 lane.green/0, r4c7 lane.pink/1"
    p = position(table, "unstable_field.pink, bend.blue", ships=["r4c6 stop 1"])
    assert plays_turn(heuristic, p)[:3] == ["play:unstable_field.pink", "cell:4,7", p.table["r4c7"].replace("lane.pink/", "turn:")]
    assert p.table["r4c7"] in ("lane.pink/0", "lane.pink/2")
    assert p.ship(0) == "r4c7 stop 1"  # and goes on by it


def test_lays_the_card_that_closes_its_way(heuristic: AwayHeuristic) -> None:
    p = position("r4c4 crossroads.1/0, r4c5 lane.blue/0, r4c6 lane.green/0", "lane.pink, bend.blue", ships=["r4c6 stop 1"])
    turn = plays_turn(heuristic, p)
    assert turn[:2] == ["play:lane.pink", "cell:4,7"] and p.moves_home(0) == 1 and p.ship(0) == "r4c7 stop 1"


ABOUT_TO_COME_HOME = "r4c4 crossroads.1/0, r4c3 lane.green/0, r4c2 lane.pink/0, r4c1 lane.orange/0"  # seat 1, whose home is W


@pytest.mark.parametrize("hand", ["pirate_raid.blue, deadend.orange", "solar_rotation.blue, unstable_field.pink", "unstable_field.blue"])
def test_keeps_an_opponent_from_coming_home(heuristic: AwayHeuristic, hand: str) -> None:
    p = position(ABOUT_TO_COME_HOME, hand, ships=["r4c4 stop 1", "r4c2 stop 1"])
    before = p.moves_home(1)
    plays_turn(heuristic, p)
    assert before == 2 and p.moves_home(1) > before


def test_blocks_first_and_then_comes_home(heuristic: AwayHeuristic) -> None:
    """An opponent who comes home later in the same round would win: what keeps it off is played before the last move."""
    table = "r4c7 lane.blue/0, r4c6 lane.green/0, r4c1 lane.pink/0, r4c2 lane.orange/0"
    p = position(table, "unstable_field.pink, bend.blue", ships=["r4c7 stop 1", "r4c2 stop 1"])
    turn = plays_turn(heuristic, p)
    assert turn[:2] == ["play:unstable_field.pink", "cell:4,1"] and p.ship(0) == "home" and p.moves_home(1) == 127


def test_comes_home_at_once_when_nobody_can_follow(heuristic: AwayHeuristic) -> None:
    p = position("r4c7 lane.blue/0, r4c6 lane.green/0", "bend.blue, unstable_field.pink", ships=["r4c7 stop 1", "start"])
    assert decides(heuristic, p) == "move"


@pytest.mark.parametrize("hand", ["scrapyard.pink, deadend.orange", "unknown_fate.orange, deadend.orange"])
def test_what_the_deck_brings_is_not_looked_at(hand: str) -> None:
    """An unknown_fate counts what the weight says, also one that a scrapyard brings; the guessed deck does not matter."""
    p = position(ROW, hand, pile="unknown_fate.green", ships=["r4c3 stop 1"])
    card = f"play:{hand.partition(',')[0]}"
    assert decides(AwayHeuristic(fate=5.0), p) == card
    assert decides(AwayHeuristic(fate=-5.0), p) != card


def test_beats_random_players(heuristic: AwayHeuristic) -> None:
    """50 deals, each with both seatings; also where it is one of four."""
    played = play(GAME, GAME.variant("", 2), [heuristic, RandomAgent()], 50, seed=77)
    share = share_by_deal(played.deal, played.share_of(0))
    assert share.games == 100
    assert share.mean > 0.95 and share.low > 0.9, share
    among = play(GAME, GAME.variant("", 4), [heuristic, RandomAgent()], 10, seed=77)
    assert share_by_deal(among.deal, among.share_of(0)).low > 0.8
