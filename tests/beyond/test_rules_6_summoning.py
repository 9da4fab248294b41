"""The rules of Beyond, sentence by sentence: Variant: summoning."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.beyond.helpers import Position

TOP = "unicorn_1_yin, unicorn_2_yin, turtle_snake_yang, unicorn_2_yin, vermilion_bird_yang"


def act(enchantments: str, deck: str = f"{TOP}, rest", tokens: int = 2, more: str = "", rules: str = "", top: str = "") -> Position:
    """Seat 0 in phase 3 with these enchantments; more: lines below its seat; top: lines above."""
    return Position.of_text(f"""
        beyond(players=2,summoning=true{rules})
        deck: {deck}
        {top}
        seat 0: {tokens} tokens
          enchantments: {enchantments}
          {more}
    """)


def test_summon_lays_a_token():
    """In phase 3, summon:<spirit> lays one lotus token from the stock card on one own enchantment of that spirit."""
    p = act("turtle_snake, 2 metal_tiger")
    assert p.legal == ["summon:turtle_snake", "summon:metal_tiger", "end"]
    p.do("summon:metal_tiger")
    assert (p.tokens[0], p.spirits("summoned", 0), p["supply"]) == (1, {"metal_tiger": 1}, 17)


def test_summon_needs_the_variant():
    """The variant is off by default."""
    p = Position.of_text("beyond(players=2)\nseat 0: 2 tokens\n enchantments: metal_tiger")
    assert p.legal == ["end"]


def test_without_a_token_on_it():
    """…on one own enchantment of that spirit *without a token*: each enchantment once, several in a turn if wanted."""
    p = act("2 metal_tiger", tokens=3).do("summon:metal_tiger", "summon:metal_tiger")
    assert (p.legal, p.nian[0], p.tokens[0]) == (["end"], 2, 1)


def test_own_enchantments_only():
    """…own enchantment."""
    p = Position.of_text("""
        beyond(players=2,summoning=true)
        seat 0: 2 tokens
        seat 1: 2 tokens
          enchantments: metal_tiger
    """)
    assert p.legal == ["end"]


def test_summon_needs_a_token():
    """…lays one lotus token from the stock card."""
    assert act("metal_tiger, turtle_snake", tokens=0).legal == ["end"]


def test_at_once_or_in_a_later_turn():
    """At once or in a later turn."""
    p = Position.of_text("""
        beyond(players=2,summoning=true)
        seat 0: 2 tokens
          pool: 4 turtle_snake_yin, 2 metal_tiger_head_yin, 2 metal_tiger_body_yin
    """).do("enchant:metal_tiger", "summon:metal_tiger", "enchant:turtle_snake")
    assert p.nian[0] == 1
    p.next_turn().next_turn().to_act()
    assert "summon:turtle_snake" in p.legal


# -- turtle_snake


def test_turtle_looks_at_the_top_4():
    """turtle_snake: look at the top 4 deck cards, choose:<kind> one into the own pool."""
    p = act("turtle_snake").do("summon:turtle_snake")
    assert p.looked == ["unicorn_1_yin", "unicorn_2_yin", "turtle_snake_yang", "unicorn_2_yin"]
    assert p.legal == ["choose:turtle_snake_yang", "choose:unicorn_1_yin", "choose:unicorn_2_yin"]
    p.do("choose:unicorn_2_yin")
    assert (p.pool(0), p.phase, p.looked, len(p.deck)) == ({"unicorn_2_yin": 1}, "act", [], 75)


def test_turtle_shuffles_the_deck():
    """…then: shuffle the deck. The cards looked at are no longer known to be on top; every order is as likely."""
    p = act("turtle_snake", deck="turtle_snake_yang, vermilion_bird_yin, vermilion_bird_yang, unicorn_1_yin", more="pool: rest")
    p.do("summon:turtle_snake")
    orders = Counter()
    for n in range(1_800):
        q = p.copy()
        q.records["stream"][0, 1] = 100 * n
        q.do("choose:turtle_snake_yang")
        assert q.known == []
        orders[tuple(q.deck)] += 1
    assert len(orders) == 6
    assert sum((n - 300) ** 2 / 300 for n in orders.values()) < 20.5  # 5 degrees of freedom, 0.1 percent


@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_look_is_not_topped_up(size):
    """A look is not topped up from the discard pile."""
    deck = ["unicorn_1_yin", "unicorn_2_yin", "unicorn_3_yin"][:size]
    p = act("turtle_snake", deck=", ".join(deck), more="pool: rest", top="discard: 6 vermilion_bird_yin").do("summon:turtle_snake")
    assert (p.looked, p.discard) == (deck, {"vermilion_bird_yin": 6})


def test_only_an_empty_deck_is_refilled_first():
    """Only an empty deck is refilled first (no depletion)."""
    p = act("turtle_snake", deck="none", more="pool: rest", top="discard: 3 vermilion_bird_yin").do("summon:turtle_snake")
    assert (p.looked, p.discard, p["depletions"]) == (["vermilion_bird_yin"] * 3, {}, 0)


@pytest.mark.parametrize("spirit", ["turtle_snake", "azure_dragon"])
def test_choosing_the_last_card_depletes(spirit):
    """Only the chosen one leaves the deck, and can deplete it; the depletion takes the place of shuffling or putting back."""
    p = act(spirit, deck="unicorn_1_yin", more="pool: rest", top="discard: 3 vermilion_bird_yin\nend: 1 depletion").do(f"summon:{spirit}")
    drawn = int(p.records["stream"][0, 1])
    p.do("choose:unicorn_1_yin")
    assert (p.deck, p.discard, p["depletions"], p["triggered"]) == (["vermilion_bird_yin"] * 3, {}, 2, 1)
    assert (p.known, p.phase) == ([], "act")
    assert int(p.records["stream"][0, 1]) - drawn == 2  # one shuffle of three cards, not two


@pytest.mark.parametrize("spirit", ["turtle_snake", "azure_dragon"])
def test_choosing_the_last_card_of_all(spirit):
    """A deck that stays empty after the choice has no top symbol."""
    p = act(spirit, deck="unicorn_1_yin", more="pool: rest").do(f"summon:{spirit}", "choose:unicorn_1_yin")
    assert (p.deck, p["depletions"], p.known) == ([], 1, [])
    assert p.seen(1)["top_symbol"] == {}


def test_cards_looked_at_are_public():
    """Cards looked at are public and stay in the deck."""
    p = act("turtle_snake").do("summon:turtle_snake")
    for seat in (0, 1):
        assert p.seen(seat)["looked"] == {"unicorn_1_yin": 1, "unicorn_2_yin": 2, "turtle_snake_yang": 1}
    assert p["deck_size"] == 76


@pytest.mark.parametrize("spirit", ["turtle_snake", "azure_dragon", "vermilion_bird", "unicorn"])
def test_the_choice_is_made_before_anything_else(spirit):
    """The choice is made before anything else."""
    p = act("turtle_snake, azure_dragon, vermilion_bird, unicorn, metal_tiger (1 summoned)", top="discard: unicorn_4_yin")
    names = p.do(f"summon:{spirit}").legal
    assert names and all(name.startswith(("choose:", "reclaim:")) for name in names)


# -- vermilion_bird


def test_bird_takes_any_card_of_the_discard_pile():
    """vermilion_bird: choose:<kind> any card of the discard pile into an empty capture slot."""
    p = act("vermilion_bird", top="discard: 2 unicorn_4_yin, turtle_snake_yin").do("summon:vermilion_bird")
    assert p.legal == ["choose:turtle_snake_yin", "choose:unicorn_4_yin"]
    p.do("choose:unicorn_4_yin")
    assert (p.slots(0), p.discard, p.pool(0), p.phase) == ({"unicorn_4_yin": 1}, {"unicorn_4_yin": 1, "turtle_snake_yin": 1}, {}, "act")


@pytest.mark.parametrize(("slots", "legal"), [(3, True), (4, False)])
def test_bird_needs_an_empty_slot(slots, legal):
    """…into an empty capture slot; a summon that would have no effect is not legal."""
    p = act("vermilion_bird", top="discard: turtle_snake_yin", more=f"slots: {slots} vermilion_bird_yin")
    assert ("summon:vermilion_bird" in p.legal) == legal


def test_bird_needs_a_discard_pile():
    """A summon that would have no effect is not legal."""
    assert act("vermilion_bird").legal == ["end"]


def test_bird_without_slots():
    """With capture_slots=0 the bird has no effect."""
    assert act("vermilion_bird", top="discard: turtle_snake_yin", rules=",capture_slots=0").legal == ["end"]


# -- azure_dragon


@pytest.mark.parametrize(("choice", "left"), [("unicorn_1_yin", "unicorn_2_yang"), ("unicorn_2_yang", "unicorn_1_yin")])
def test_dragon(choice, left):
    """azure_dragon: look at the top 2, choose:<kind> one into the own pool; the other goes back on top, known to all."""
    p = act("azure_dragon", deck="unicorn_1_yin, unicorn_2_yang, rest").do("summon:azure_dragon")
    under = p.deck[2:]
    assert (p.looked, p.legal) == (["unicorn_1_yin", "unicorn_2_yang"], ["choose:unicorn_1_yin", "choose:unicorn_2_yang"])
    p.do(f"choose:{choice}")
    assert (p.pool(0), p.deck, p.known) == ({choice: 1}, [left, *under], [left])
    assert [p.seen(seat)["known_top"] for seat in (0, 1)] == [{left: 1}, {left: 1}]


def test_dragon_with_two_of_a_kind():
    """Two cards of a kind are one choice."""
    p = act("azure_dragon", deck="2 unicorn_1_yin, rest").do("summon:azure_dragon")
    assert p.legal == ["choose:unicorn_1_yin"]
    assert p.do("choose:unicorn_1_yin").known == ["unicorn_1_yin"]


def test_the_known_card_is_revealed_next():
    """…known to all until it leaves the top."""
    p = act("azure_dragon", deck="unicorn_1_yin, unicorn_2_yang, rest").do("summon:azure_dragon", "choose:unicorn_1_yin", "end")
    assert (p.revealed, p.known) == (["unicorn_2_yang"], [])


def test_a_turtle_forgets_the_known_card():
    """…or the deck is shuffled."""
    p = act("azure_dragon, turtle_snake", deck="unicorn_1_yin, unicorn_2_yang, rest").do("summon:azure_dragon", "choose:unicorn_1_yin")
    assert p.known == ["unicorn_2_yang"]
    p.do("summon:turtle_snake", "choose:unicorn_2_yang")
    assert p.known == []


@pytest.mark.parametrize(("choice", "known"), [("unicorn_2_yang", "unicorn_3_yin"), ("unicorn_3_yin", "unicorn_2_yang")])
def test_a_second_dragon_looks_at_the_known_card_too(choice, known):
    """A known top card is one of the next two looked at."""
    p = act("2 azure_dragon", deck="unicorn_1_yin, unicorn_2_yang, unicorn_3_yin, rest")
    p.do("summon:azure_dragon", "choose:unicorn_1_yin", "summon:azure_dragon")
    assert p.looked == ["unicorn_2_yang", "unicorn_3_yin"]
    assert p.do(f"choose:{choice}").known == [known]


def test_bird_and_tiger_keep_the_known_card():
    """Other summons leave the top of the deck as it is known."""
    p = act("azure_dragon, vermilion_bird, metal_tiger, unicorn", deck=f"{TOP}, rest", top="discard: unicorn_4_yin", tokens=4)
    p.do("summon:azure_dragon", "choose:unicorn_1_yin", "summon:vermilion_bird", "choose:unicorn_4_yin", "summon:metal_tiger")
    p.do("summon:unicorn", "reclaim:metal_tiger")
    assert p.known == ["unicorn_2_yin"]


def test_dragon_with_one_card():
    """The look of a dragon at a deck of one card: nothing is put back."""
    p = act("azure_dragon", deck="unicorn_1_yin", more="pool: rest", top="discard: turtle_snake_yin").do("summon:azure_dragon")
    assert p.looked == ["unicorn_1_yin"]


# -- metal_tiger


def test_tiger():
    """metal_tiger: take a Nian Shou from the centre."""
    p = act("metal_tiger").do("summon:metal_tiger")
    assert (p.nian, p["centre_nian"], p.phase) == ([1, 0], 5, "act")


def test_tiger_with_an_empty_centre():
    """A summon that would have no effect is not legal."""
    p = Position.of_text("""
        beyond(players=2,summoning=true)
        seat 0: 2 tokens, 3 Nian Shou
          enchantments: metal_tiger
        seat 1: 2 tokens, 3 Nian Shou
    """)
    assert p.legal == ["end"]


def test_the_sixth_nian_by_a_tiger_wins_at_once():
    """Holding all 6 Nian Shou wins at once, however the sixth came."""
    p = Position.of_text("""
        beyond(players=3,summoning=true)
        turn: 2
        seat 0: 9 tokens
        seat 1: 1 token, 5 Nian Shou
          enchantments: metal_tiger
    """).do("summon:metal_tiger")
    assert (p.over, p.winners, p.legal, p["seat"]) == (True, [1], [], -1)


# -- unicorn


def test_unicorn():
    """unicorn: reclaim:<spirit>: the token on another own enchantment goes to the supply, so that it can be summoned again."""
    p = act("unicorn, metal_tiger (1 summoned), turtle_snake (1 summoned), azure_dragon").do("summon:unicorn")
    assert p.legal == ["reclaim:turtle_snake", "reclaim:metal_tiger"]
    before = p["supply"]
    p.do("reclaim:metal_tiger")
    assert (p["supply"] - before, p.spirits("summoned", 0), p.tokens[0]) == (1, {"turtle_snake": 1, "unicorn": 1}, 1)
    assert p.do("summon:metal_tiger").nian == [1, 0]


def test_another_unicorn_too():
    """(another unicorn too) — but not the one just summoned."""
    p = act("2 unicorn (1 summoned)").do("summon:unicorn")
    assert p.legal == ["reclaim:unicorn"]
    p.do("reclaim:unicorn")
    assert (p.spirits("summoned", 0), p.phase) == ({"unicorn": 1}, "act")


@pytest.mark.parametrize(
    ("enchantments", "legal"), [("unicorn, metal_tiger", False), ("2 unicorn", False), ("unicorn, metal_tiger (1 summoned)", True)]
)
def test_unicorn_needs_another_token(enchantments, legal):
    """A summon that would have no effect is not legal."""
    assert ("summon:unicorn" in act(enchantments).legal) == legal


def test_unicorns_own_tokens_only():
    """…another *own* enchantment."""
    p = Position.of_text("""
        beyond(players=2,summoning=true)
        seat 0: 2 tokens
          enchantments: unicorn
        seat 1: 2 tokens
          enchantments: metal_tiger (1 summoned)
    """)
    assert p.legal == ["end"]


@pytest.mark.parametrize("spirit", ["turtle_snake", "azure_dragon"])
def test_a_look_needs_a_card(spirit):
    """A summon that would have no effect is not legal: nothing to look at in deck and discard pile."""
    assert act(spirit, deck="none", more="pool: rest").legal == (["enchant:" + s for s in (
        "vermilion_bird", "turtle_snake", "azure_dragon", "metal_tiger", "unicorn")] + ["end"])  # fmt: skip


def test_summoned_enchantments_still_count():
    """A token changes nothing of an enchantment's points; it is only no longer on the stock card."""
    p = act("metal_tiger", tokens=1)
    before = p.points[0]
    assert p.do("summon:metal_tiger").points[0] == before - 1 + 1  # a token less, a Nian Shou more
