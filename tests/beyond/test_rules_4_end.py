"""The rules of Beyond, sentence by sentence: End of the game."""

from __future__ import annotations

import pytest

import tabletop
from tests.beyond.helpers import EVERY_SEAT, GAME, Position

# -- triggers


@pytest.mark.parametrize("last", [1, 2, 3, 5])
def test_end_enchantments(last):
    """Triggered when a player has enchanted 3 spirits (end_enchantments)."""
    p = Position.of_text(f"""
        beyond(players=2,end_enchantments={last})
        seat 0: 2 tokens
          pool: 4 vermilion_bird_yin, 4 turtle_snake_yin, 2 azure_dragon_head_yin, 2 azure_dragon_body_yin, 2 metal_tiger_head_yin,
            2 metal_tiger_body_yin, unicorn_1_yin, unicorn_2_yin, unicorn_3_yin, unicorn_4_yin
    """)
    for n, spirit in enumerate(("unicorn", "metal_tiger", "vermilion_bird", "turtle_snake", "azure_dragon"), 1):
        p.do(f"enchant:{spirit}")
        assert p["triggered"] == (n >= last)


def test_enchantments_of_one_player_count():
    """…when *a player* has enchanted 3: those of all players together do not count."""
    p = Position.of_text("""
        beyond(players=2)
        seat 0: 2 tokens
          pool: 4 vermilion_bird_yin
          enchantments: turtle_snake
        seat 1: 2 tokens
          enchantments: 2 metal_tiger
    """).do("enchant:vermilion_bird")
    assert p["triggered"] == 0


@pytest.mark.parametrize(("distinct", "triggered"), [("false", 1), ("true", 0)])
def test_end_distinct(distinct, triggered):
    """end_distinct chooses between three enchantments and three different kinds."""
    p = Position.of_text(f"""
        beyond(players=2,end_distinct={distinct})
        seat 0: 2 tokens
          pool: 4 turtle_snake_yin, 4 vermilion_bird_yin
          enchantments: turtle_snake, metal_tiger
    """).do("enchant:turtle_snake")
    assert p["triggered"] == triggered
    assert p.do("enchant:vermilion_bird")["triggered"] == 1


def test_end_distinct_range():
    """There are five kinds of spirit."""
    GAME.variant("end_distinct=true,end_enchantments=5", 2)
    with pytest.raises(tabletop.RulesError, match="1 to 5"):
        GAME.variant("end_distinct=true,end_enchantments=6", 2)


def test_the_turn_goes_on_and_more_may_be_enchanted():
    """The turn goes on; more may be enchanted."""
    p = Position.of_text("""
        beyond(players=2)
        seat 0: 2 tokens
          pool: 8 turtle_snake_yin
          enchantments: 2 vermilion_bird
    """).do("enchant:turtle_snake")
    assert (p["triggered"], p.over, p.legal) == (1, False, ["enchant:turtle_snake", "end"])


@pytest.mark.parametrize(("players", "seat"), EVERY_SEAT)
def test_the_round_is_finished(players, seat):
    """…and the round is finished, so that all have had the same number of turns."""
    p = Position.of_text(f"""
        beyond(players={players})
        turn: {players + seat + 1}
        seat {seat}: 2 tokens
          pool: 4 turtle_snake_yin
          enchantments: 2 vermilion_bird
    """).do("enchant:turtle_snake")
    for other in range(seat, players):
        assert (p["seat"], p.over) == (other, False)
        p.next_turn()
    assert p.over
    assert p["turns"] == 2 * players  # two turns each


def test_the_game_is_over_before_another_card_is_revealed():
    """When the last seat ends its turn and the end has been triggered, the game is over before another card is revealed."""
    p = Position.of_text("beyond(players=2)\nturn: 2\nend: triggered, 2 depletions\ndeck: rest").do("end")
    assert (p.over, p.revealed, len(p.deck), p["turns"]) == (True, [], 80, 2)


@pytest.mark.parametrize(("seat", "over"), [(0, False), (1, True)])
def test_a_trigger_in_the_last_seats_turn_ends_with_it(seat, over):
    """A trigger during a turn belongs to that turn's round: the last seat's own trigger ends the game with its turn."""
    p = Position.of_text(f"""
        beyond(players=2)
        turn: {seat + 1}
        seat {seat}: 2 tokens
          pool: 4 turtle_snake_yin
          enchantments: 2 vermilion_bird
    """).do("enchant:turtle_snake", "end")
    assert p.over == over


def test_a_trigger_by_the_first_card_belongs_to_the_new_round():
    """…its first card included: seat 0's first card is the last one of the deck for the second time; everyone has another turn."""
    p = Position.of_text("""
        beyond(players=3)
        turn: 3
        end: not triggered, 1 depletion
        deck: turtle_snake_yin
        discard: 6 vermilion_bird_yin
        seat 0: 2 tokens
          pool: rest
    """).do("end")
    assert (p["seat"], p["triggered"], p.over, p["depletions"]) == (0, 1, False, 2)
    p.next_turn().next_turn()
    assert not p.over
    assert p.next_turn().over
    assert p["turns"] == 6


# -- points


def test_points():
    """Points: each enchantment its points; 1 for every pool card and Nian Shou; 1 for every card in a capture slot; 1 for every
    lotus token on the stock card."""
    p = Position.of_text("""
        beyond(players=2)
        seat 0: 3 tokens, 2 Nian Shou
          pool: 5 turtle_snake_yin, unicorn_1_yin
          slots: vermilion_bird_yin, vermilion_bird_yang
          enchantments: unicorn, 2 azure_dragon
        seat 1: 0 tokens
          slots: metal_tiger_head_yin
    """)
    assert p.points == [3 + 2 + 6 + 2 + 12 + 18, 1]


@pytest.mark.parametrize(("laid", "points"), [("false", 7), ("true", 9)])
def test_score_laid_tokens(laid, points):
    """With score_laid_tokens also 1 for every token on a pool card."""
    p = Position.of_text(f"""
        beyond(players=2,protection=true,score_laid_tokens={laid})
        seat 0: 3 tokens
          pool: 3 turtle_snake_yin (2 protected), unicorn_1_yin
    """)
    assert p.points[0] == points


@pytest.mark.parametrize("laid", ["false", "true"])
def test_a_token_on_a_summoned_enchantment_never_counts(laid):
    """A token on a summoned enchantment never counts."""
    p = Position.of_text(f"""
        beyond(players=2,summoning=true,score_laid_tokens={laid})
        seat 0: 3 tokens
          enchantments: unicorn (1 summoned)
    """)
    assert p.points[0] == 15


def test_points_at_the_extremes():
    """Points of many dear enchantments are counted in full (the observation shows at most 127)."""
    p = Position.of_text("""
        beyond(players=2,points_turtle_snake=30,points_vermilion_bird=30,points_unicorn=30,end_enchantments=20,token_supply=99)
        turn: 2
        end: triggered
        seat 0: 97 tokens
          enchantments: 4 turtle_snake, 4 vermilion_bird, 4 unicorn
        seat 1: 2 tokens
          enchantments: 4 azure_dragon
          pool: 2 metal_tiger_head_yin
    """)
    assert p.points == [97 + 360, 40]
    assert p.seen(0)["points"] == [127, 40, 0, 0]
    assert p.do("end").winners == [0]


# -- who wins


def finish(*seats: str, rules: str = "") -> Position:
    """The game ends with these seats (the text after `seat k:`)."""
    lines = "\n".join(f"seat {k}: {text}" for k, text in enumerate(seats))
    return Position.of_text(f"beyond(players={len(seats)}{rules})\nturn: {len(seats)}\nend: triggered\n{lines}\n").do("end")


@pytest.mark.parametrize(("players", "winner"), EVERY_SEAT)
def test_most_points_win(players, winner):
    """Most points win."""
    p = finish(*("5 tokens" if seat == winner else "4 tokens" for seat in range(players)))
    assert (p.over, p.winners) == (True, [winner])


@pytest.mark.parametrize(
    ("fewer", "more"),
    [
        ("4 tokens", "3 tokens\n pool: turtle_snake_yin"),  # pool cards count as face up
        ("4 tokens", "3 tokens, 1 Nian Shou"),  # Nian Shou too
        ("3 tokens\n slots: turtle_snake_yin", "3 tokens\n pool: turtle_snake_yin"),  # capture slots do not
        ("4 tokens\n slots: turtle_snake_yin", "3 tokens, 2 Nian Shou"),
        ("6 tokens, 1 Nian Shou", "1 token\n enchantments: turtle_snake"),  # 4 for each enchantment
        ("4 tokens, 3 Nian Shou", "1 token\n enchantments: turtle_snake"),
        ("0 tokens\n enchantments: unicorn", "0 tokens\n enchantments: 2 turtle_snake"),  # 12 points: 4 cards against 8
        ("1 token\n enchantments: turtle_snake", "2 tokens, 5 Nian Shou"),
    ],
)
@pytest.mark.parametrize("players", [2, 3, 4])
def test_ties_fewer_cards_face_up(players, fewer, more):
    """Ties: fewer cards lying spirit-face up wins (pool, Nian Shou, and 4 for each enchantment; not capture slots)."""
    others = ["0 tokens"] * (players - 2)
    for p, winner in ((finish(fewer, more, *others), 0), (finish(*others, more, fewer), players - 1)):
        assert sorted(p.points, reverse=True)[0] == sorted(p.points, reverse=True)[1]
        assert p.winners == [winner]


@pytest.mark.parametrize("winners", [[0, 1], [0, 2], [1, 2], [1, 3], [0, 1, 2], [0, 1, 2, 3], [2, 3]])
def test_shared_victory(winners):
    """All who are still tied share the victory."""
    p = finish(*("3 tokens, 1 Nian Shou" if seat in winners else "3 tokens" for seat in range(4)))
    assert p.winners == winners


def test_more_cards_do_not_beat_more_points():
    """Cards face up only break ties."""
    assert finish("5 tokens", "0 tokens\n pool: 6 turtle_snake_yin").winners == [1]


def test_the_tie_break_holds_at_the_extremes():
    """The largest number of cards face up is less than a point."""
    many = "0 tokens, 5 Nian Shou\n pool: 8 turtle_snake_yin, 8 turtle_snake_yang\n enchantments: 4 vermilion_bird, 4 unicorn"
    p = finish(many, "20 tokens", rules=",points_vermilion_bird=0,points_unicorn=0")
    assert (p.points, p.winners) == ([21, 20], [0])


def test_the_holder_of_six_wins_alone_whatever_the_points():
    """Holding all 6 Nian Shou: the holder alone wins, whatever the points, though the end has been triggered."""
    p = Position.of_text("""
        beyond(players=3)
        turn: 1, reveal
        end: triggered
        revealed: unicorn_1_yin
        deck: unicorn_2_yin, rest
        seat 0: 0 tokens, 5 Nian Shou
        seat 1: 8 tokens
        seat 2: 8 tokens
    """).do("reveal")
    assert (p.over, p.winners) == (True, [0])
