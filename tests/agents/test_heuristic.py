"""Beyond's heuristic: plays by the observation alone, row by row as in a batch, legally in all variants, and not foolishly."""

from __future__ import annotations

import numpy as np
import pytest

import tabletop
from agents.beyond_heuristic import WEIGHTS, BeyondHeuristic
from agents.random_agent import RandomAgent
from beyond_env import kernel
from beyond_env.observation import observe
from tabletop.errors import EmptyMask
from training.play import play
from training.statistics import share_by_deal

GAME = tabletop.game("beyond")
VARIANTS = (
    "",
    "protection=true",
    "summoning=true",
    "protection=true,summoning=true,end_distinct=true,rescue_limit=1,score_laid_tokens=true",
    "rescue_limit=0,end_on_nothing=false,start_tokens=0,capture_slots=1,end_enchantments=2,points_unicorn=0",
    "summoning=true,start_tokens=5,capture_slots=0,end_depletions=1",
    "protection=true,capture_slots=20,token_supply=99,start_tokens=20,end_enchantments=6",
)
RNG = np.random.default_rng(0)


@pytest.fixture(scope="module")
def heuristic() -> BeyondHeuristic:
    return BeyondHeuristic()


def positions(rules: str, players: int, steps: int, tables: int = 24, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Observations and masks of many decisions, reached by the heuristic and by random moves alike."""
    played = tabletop.Tables(GAME, tables, players, rules, seed=seed, autoreset="same_step")
    rng, agent, other = np.random.default_rng(seed), BeyondHeuristic(), RandomAgent()
    seen, masks = [], []
    for _ in range(steps):
        seen.append(played.observation.copy())
        masks.append(played.action_mask.copy())
        by_rule, at_random = agent.act(seen[-1], masks[-1], rng), other.act(seen[-1], masks[-1], rng)
        played.step(np.where(rng.random(tables) < 0.7, by_rule, at_random))
    return np.concatenate(seen), np.concatenate(masks)


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("rules", VARIANTS)
def test_legal_deterministic_and_the_same_in_any_batch(heuristic: BeyondHeuristic, rules: str, players: int) -> None:
    seen, masks = positions(rules, players, 120)
    before = seen.tobytes(), masks.tobytes()
    actions = heuristic.act(seen, masks, RNG)
    assert masks[np.arange(len(actions)), actions].all()
    assert (seen.tobytes(), masks.tobytes()) == before
    assert actions.dtype == np.int64
    assert (heuristic.act(seen, masks, np.random.default_rng(5)) == actions).all()
    some = range(0, len(actions), 23)
    assert [int(heuristic.act(seen[i : i + 1], masks[i : i + 1], RNG)[0]) for i in some] == actions[list(some)].tolist()
    order = np.random.default_rng(2).permutation(len(actions))
    assert (heuristic.act(seen[order], masks[order], RNG) == actions[order]).all()


def test_any_kind_of_array(heuristic: BeyondHeuristic) -> None:
    seen, masks = positions("", 2, 10)
    actions = heuristic.act(seen, masks, RNG)
    locked = seen.copy(), masks.copy()
    for array in locked:
        array.flags.writeable = False
    assert (heuristic.act(*locked, RNG) == actions).all()
    assert (heuristic.act(seen.astype(np.int64), masks.astype(np.bool_), RNG) == actions).all()
    assert (heuristic.act(np.asfortranarray(seen), masks.astype(np.int64), RNG) == actions).all()
    assert heuristic.act(seen[:0], masks[:0], RNG).shape == (0,)


def test_empty_mask_is_named(heuristic: BeyondHeuristic) -> None:
    seen, masks = positions("", 2, 1)
    masks[5] = 0
    with pytest.raises(EmptyMask, match="row 5"):
        heuristic.act(seen, masks, RNG)


def test_from_what_its_seat_knows_alone(heuristic: BeyondHeuristic) -> None:
    """What the seat cannot see is dealt anew: the same decision."""
    tables = tabletop.Tables(GAME, 64, 3, "summoning=true", seed=3)
    rng = np.random.default_rng(3)
    for _ in range(40):
        others = tables.determinize(tables.records, tables.seat, 9)
        seen = tables.observe(tables.seat, records=others)
        actions = heuristic.act(tables.observation, tables.action_mask, rng)
        assert (heuristic.act(seen, tables.action_mask, rng) == actions).all()
        tables.step(RandomAgent().act(tables.observation, tables.action_mask, rng))


def test_unknown_weight() -> None:
    with pytest.raises(ValueError, match=r"no weight 'greed'.*promise_1"):
        BeyondHeuristic(greed=1.0)
    assert BeyondHeuristic(token=2.0).weights[list(WEIGHTS).index("token")] == 2.0


# -- positions in which one decision is right ----------------------------------------------------------------------------


def decides(heuristic: BeyondHeuristic, text: str) -> str:
    """The name of its decision in a position written as text."""
    records = GAME.parse(text)
    mask, seen = np.zeros((1, GAME.num_actions), np.int8), np.zeros((1, GAME.layout.size), GAME.layout.dtype)
    kernel.legal(records, 0, mask[0])
    observe(records, 0, int(records["seat"][0]), seen[0])
    assert mask.sum() > 1, "the decision is forced"
    return GAME.actions.names[int(heuristic.act(seen, mask, RNG)[0])]


def test_takes_the_sixth_nian_shou_from_an_opponent(heuristic: BeyondHeuristic) -> None:
    told = """beyond(players=2)
        turn: 9, seat 0, act
        seat 0: 2 tokens, 5 Nian Shou
          pool: 4 vermilion_bird_yin
          slots: turtle_snake_yin, turtle_snake_yang
        seat 1: 2 tokens, 1 Nian Shou
          pool: 2 unicorn_2_yin"""
    assert decides(heuristic, told) == "capture:1:nian"


def test_takes_the_sixth_nian_shou_by_a_summon_or_a_bust(heuristic: BeyondHeuristic) -> None:
    summon = """beyond(players=2,summoning=true)
        turn: 9, seat 0, act
        seat 0: 2 tokens, 5 Nian Shou
          enchantments: metal_tiger, unicorn"""
    assert decides(heuristic, summon) == "summon:metal_tiger"
    bust = """beyond(players=2)
        turn: 9, seat 0, reveal
        revealed: unicorn_1_yin
        seat 0: 0 tokens, 5 Nian Shou"""
    assert decides(heuristic, bust) == "reveal"


def test_completes_a_pattern(heuristic: BeyondHeuristic) -> None:
    told = """beyond(players=2)
        turn: 9, seat 0, act
        seat 0: 2 tokens
          pool: 3 turtle_snake_yin, turtle_snake_yang, vermilion_bird_yin"""
    assert decides(heuristic, told) == "enchant:turtle_snake"


AHEAD = """beyond(players=2)
        turn: 9, seat 0, act
        seat 0: 2 tokens
          pool: 4 turtle_snake_yin
          enchantments: {own}
        seat 1: 2 tokens
          enchantments: {other}"""


def test_does_not_trigger_the_end_when_behind(heuristic: BeyondHeuristic) -> None:
    behind = AHEAD.format(own="2 vermilion_bird", other="2 unicorn")
    ahead = AHEAD.format(own="2 unicorn", other="2 vermilion_bird")
    assert decides(heuristic, behind) == "end"
    assert decides(heuristic, ahead) == "enchant:turtle_snake"


def test_captures_the_card_that_completes_its_unicorn(heuristic: BeyondHeuristic) -> None:
    told = """beyond(players=3)
        turn: 7, seat 0, act
        seat 0: 2 tokens
          pool: unicorn_1_yin, unicorn_2_yang, unicorn_3_yin
          slots: azure_dragon_head_yang
        seat 1: 2 tokens
          pool: vermilion_bird_yin, turtle_snake_yin
        seat 2: 2 tokens
          pool: unicorn_4_yin, metal_tiger_head_yin"""
    assert decides(heuristic, told) == "capture:2:unicorn_4_yin"


def test_stops_when_a_bust_is_sure(heuristic: BeyondHeuristic) -> None:
    told = """beyond(players=2)
        turn: 9, seat 0, reveal
        revealed: turtle_snake_yin, vermilion_bird_yin, unicorn_1_yang
        known: turtle_snake_yang
        deck: turtle_snake_yang, rest
        seat 0: 0 tokens"""
    assert decides(heuristic, told) == "stop"


def test_reveals_when_a_bust_is_impossible_and_the_card_is_good(heuristic: BeyondHeuristic) -> None:
    told = """beyond(players=2)
        turn: 9, seat 0, reveal
        revealed: turtle_snake_yin, vermilion_bird_yin
        known: unicorn_1_yang
        deck: unicorn_1_yang, rest
        seat 0: 0 tokens
          pool: unicorn_2_yin, unicorn_3_yin, unicorn_4_yin"""
    assert decides(heuristic, told) == "reveal"


def test_rescues_a_card_worth_more_than_a_token(heuristic: BeyondHeuristic) -> None:
    told = """beyond(players=2)
        turn: 9, seat 0, rescue
        revealed: vermilion_bird_yin, unicorn_1_yang, vermilion_bird_yang
        seat 0: 1 token
          pool: unicorn_2_yin, unicorn_3_yin, unicorn_4_yin"""
    assert decides(heuristic, told) == "rescue:unicorn"


def test_beats_random_players(heuristic: BeyondHeuristic) -> None:
    """200 deals, each with both seatings; also where it is one of four."""
    played = play(GAME, GAME.variant("", 2), [heuristic, RandomAgent()], 200, seed=77)
    share = share_by_deal(played.deal, played.share_of(0))
    assert share.games == 400
    assert share.mean > 0.95 and share.low > 0.93, share
    among = play(GAME, GAME.variant("protection=true,summoning=true", 4), [heuristic, RandomAgent()], 50, seed=77)
    assert share_by_deal(among.deal, among.share_of(0)).low > 0.8
