"""The rules of Beyond, sentence by sentence: Material, Set-up."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import tabletop
from beyond_env.cards import COPIES_OF_KIND, KINDS, PARTS, SPIRIT_OF_KIND, SPIRITS, SYMBOLS
from beyond_env.rules import BeyondRules
from tests.beyond.helpers import GAME, Position


def test_cards():
    """80 celestial spirit cards, 5 spirits x 16. Each spirit has 8 yin and 8 yang cards."""
    deck = Counter(dict(zip(KINDS, COPIES_OF_KIND, strict=True)))
    assert deck.total() == 80
    for spirit in range(5):
        for symbol in SYMBOLS:
            assert sum(n for kind, n in deck.items() if SPIRIT_OF_KIND[KINDS.index(kind)] == spirit and kind.endswith(symbol)) == 8


@pytest.mark.parametrize(
    ("spirit", "colour", "pattern", "points"),
    [
        ("vermilion_bird", "orange", {"vermilion_bird": 4}, 6),
        ("turtle_snake", "blue", {"turtle_snake": 4}, 6),
        ("azure_dragon", "green", {"azure_dragon_head": 2, "azure_dragon_body": 2}, 9),
        ("metal_tiger", "purple", {"metal_tiger_head": 2, "metal_tiger_body": 2}, 9),
        ("unicorn", "yellow", {"unicorn_1": 1, "unicorn_2": 1, "unicorn_3": 1, "unicorn_4": 1}, 12),
    ],
)
def test_table_of_spirits(spirit, colour, pattern, points):
    """The table: spirit, colour, parts, pattern of 4, points."""
    (found,) = [s for s in SPIRITS if s.name == spirit]
    assert (found.colour, dict(zip(found.parts, found.pattern, strict=True)), found.points) == (colour, pattern, points)
    assert getattr(BeyondRules(), f"points_{spirit}") == points


def test_kinds():
    """Parts in this order; a kind is <part>_<symbol>, its number 2 x (place of the part) + (0 yin, 1 yang)."""
    assert PARTS == (
        "vermilion_bird", "turtle_snake", "azure_dragon_head", "azure_dragon_body", "metal_tiger_head", "metal_tiger_body",
        "unicorn_1", "unicorn_2", "unicorn_3", "unicorn_4",
    )  # fmt: skip
    assert KINDS[0] == "vermilion_bird_yin" and KINDS[5] == "azure_dragon_head_yang" and KINDS[18] == "unicorn_4_yin"


@pytest.mark.parametrize(
    ("spirit", "copies"), [("vermilion_bird", 8), ("turtle_snake", 8), ("azure_dragon", 4), ("metal_tiger", 4), ("unicorn", 2)]
)
def test_copies(spirit, copies):
    """Copies of each kind: bird and turtle 8 of each, dragon and tiger 4 of each, unicorn 2 of each."""
    assert {n for kind, n in zip(KINDS, COPIES_OF_KIND, strict=True) if kind.startswith(spirit)} == {copies}


@pytest.mark.parametrize("players", [2, 3, 4])
def test_nian_tokens_and_slots(players):
    """6 Nian Shou cards, 21 lotus tokens, a stock card with 4 capture slots for each player. 2 to 4 players."""
    p = Position.of_seed(0, players=players)
    assert (p["centre_nian"], p["supply"] + sum(p.tokens)) == (6, 21)
    assert BeyondRules().capture_slots == 4


@pytest.mark.parametrize("players", [1, 5, 0])
def test_number_of_players(players):
    """2 to 4 players."""
    with pytest.raises(tabletop.RulesError, match="2 to 4 players"):
        GAME.variant(None, players)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_seat_0_starts(players):
    """Seat 0 starts."""
    assert all(Position.of_seed(seed, players=players)["seat"] == 0 for seed in range(20))


@pytest.mark.parametrize(
    ("players", "rules", "tokens", "supply"),
    [
        (2, None, 2, 17),
        (3, None, 2, 15),
        (4, None, 2, 13),
        (4, "start_tokens=5", 5, 1),
        (3, "start_tokens=0,token_supply=0", 0, 0),
        (2, "token_supply=99", 2, 95),
    ],
)
def test_tokens_at_the_start(players, rules, tokens, supply):
    """Each player takes 2 lotus tokens (token_supply counts all tokens, these included); the rest is the supply."""
    p = Position.of_seed(1, rules, players)
    assert (p.tokens, p["supply"]) == ([tokens] * players, supply)


def test_too_few_tokens():
    """token_supply counts all tokens, those of the players included."""
    with pytest.raises(tabletop.RulesError, match="token_supply=5"):
        GAME.variant("token_supply=5", 3)
    GAME.variant("token_supply=6", 3)


def test_options_as_values():
    """Options are taken as Python's or numpy's values; an error shows what was given, not what it looks like."""
    rules = BeyondRules(protection=np.bool_(True), start_tokens=np.int64(3))
    assert rules == BeyondRules(protection=True, start_tokens=3) and str(rules) == "protection=true,start_tokens=3"
    for wrong, shown in (({"start_tokens": "3"}, "start_tokens='3'"), ({"protection": 1}, "protection=1"), ({"rescue_limit": 2.0}, "=2.0")):
        with pytest.raises(tabletop.RulesError, match=f"{shown} is not allowed; "):
            BeyondRules(**wrong)


def test_nian_in_the_centre():
    """The 6 Nian Shou lie in the centre."""
    p = Position.of_seed(2)
    assert (p["centre_nian"], p.nian) == (6, [0, 0])


def test_top_symbol_is_public():
    """The symbol of the deck's top card is public at all times."""
    p = Position.of_deck(["unicorn_1_yin", "turtle_snake_yang", "vermilion_bird_yin"])
    assert [p.seen(seat)["top_symbol"] for seat in (0, 1)] == [{"yang": 1}, {"yang": 1}]
    p.do("reveal")
    assert p.seen(1)["top_symbol"] == {"yin": 1}
    assert "yin on top" in GAME.text(p.records[0], 1)


def test_set_up_shuffle_is_uniform():
    """A shuffle is uniform over the pile: the first card of a game is each kind as often as it has copies."""
    counts = Counter(Position.of_seed(seed).revealed[0] for seed in range(4_000))
    expected = {kind: 4_000 * n / 80 for kind, n in zip(KINDS, COPIES_OF_KIND, strict=True)}
    chi_square = sum((counts[kind] - e) ** 2 / e for kind, e in expected.items())
    assert chi_square < 43.8  # 19 degrees of freedom, 0.1 percent


def test_set_up_shuffle_of_neighbours():
    """A shuffle is uniform: places in the deck are independent (second card of the same kind as the first)."""
    same = sum(Position.of_seed(seed).deck[0] == Position.of_seed(seed).revealed[0] for seed in range(3_000))
    chance = sum(n * (n - 1) for n in COPIES_OF_KIND) / (80 * 79)
    assert abs(same - 3_000 * chance) < 4 * np.sqrt(3_000 * chance * (1 - chance))
