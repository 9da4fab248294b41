"""The rules of Beyond, sentence by sentence: Variant: protection tokens."""

from __future__ import annotations

import pytest

from tests.beyond.helpers import Position

BOTH = """
    beyond(players=2,protection=true)
    seat 0: 2 tokens
      slots: {slots}
    seat 1: 1 token
      pool: {pool}
"""


def test_protect():
    """In phase 3, protect:<kind> lays one lotus token from the stock card on one own unprotected pool card of that kind."""
    p = Position.of_text("""
        beyond(players=2,protection=true)
        seat 0: 2 tokens
          pool: 2 turtle_snake_yin, unicorn_1_yang
          slots: vermilion_bird_yin
        seat 1: 2 tokens
          pool: unicorn_2_yin
    """)
    assert p.legal == ["protect:turtle_snake_yin", "protect:unicorn_1_yang", "end"]  # own pool cards only
    p.do("protect:turtle_snake_yin")
    assert (p.kinds("protected", 0), p.tokens, p["supply"]) == ({"turtle_snake_yin": 1}, [1, 2], 17)


def test_protect_needs_the_variant():
    """The variant is off by default."""
    assert Position.of_text("beyond(players=2)\nseat 0: 2 tokens\n pool: unicorn_1_yin").legal == ["end"]


@pytest.mark.parametrize("phase", ["reveal", "rescue", "place"])
def test_protect_in_phase_3_only(phase):
    """…in phase 3."""
    cards = {
        "reveal": "revealed: unicorn_1_yin",
        "rescue": "revealed: unicorn_1_yin, unicorn_1_yin",
        "place": "placing: unicorn_1_yin",
    }[phase]
    p = Position.of_text(f"""
        beyond(players=2,protection=true)
        turn: {phase}
        {cards}
        seat 0: 2 tokens
          pool: turtle_snake_yin
    """)
    assert not any(name.startswith("protect") for name in p.legal)


def test_one_token_per_card():
    """One per card."""
    p = Position.of_text("beyond(players=2,protection=true)\nseat 0: 3 tokens\n pool: 2 turtle_snake_yin")
    p.do("protect:turtle_snake_yin", "protect:turtle_snake_yin")
    assert (p.legal, p.tokens[0]) == (["end"], 1)


def test_protect_needs_a_token():
    """…lays one lotus token from the stock card: without one it is not legal."""
    assert Position.of_text("beyond(players=2,protection=true)\nseat 0: 0 tokens\n pool: unicorn_1_yin").legal == ["end"]


def test_not_on_nian():
    """Never moved, not on Nian Shou: no action does."""
    assert Position.of_text("beyond(players=2,protection=true)\nseat 0: 5 tokens, 3 Nian Shou").legal == ["end"]


@pytest.mark.parametrize("slots", ["2 vermilion_bird_yin", "2 vermilion_bird_yang"])
def test_a_protected_card_costs_both(slots):
    """A protected card costs yin and yang to capture: one symbol is not enough."""
    assert Position.of_text(BOTH.format(slots=slots, pool="unicorn_1_yin (1 protected), unicorn_1_yang (1 protected)")).legal == ["end"]


@pytest.mark.parametrize("kind", ["unicorn_1_yin", "unicorn_1_yang"])
def test_capture_of_a_protected_card(kind):
    """Its owner then puts that token back on the stock card and gets none from the supply; the captor's card is unprotected and
    may be protected again."""
    p = Position.of_text(BOTH.format(slots="vermilion_bird_yin, vermilion_bird_yang", pool=f"{kind} (1 protected)"))
    p.do(f"capture:1:{kind}")
    assert (p.slots(0), p.discard) == ({}, {"vermilion_bird_yin": 1, "vermilion_bird_yang": 1})
    assert (p.tokens, p["supply"], p.pool(0), p.pool(1)) == ([2, 2], 17, {kind: 1}, {})
    assert (p.kinds("protected", 0), p.kinds("protected", 1)) == ({}, {})
    assert p.legal == [f"protect:{kind}", "end"]


def test_capture_of_a_protected_card_without_supply():
    """The owner's own token comes back though the supply is empty."""
    p = Position.of_text("""
        beyond(players=2,protection=true,token_supply=4)
        seat 0: 2 tokens
          slots: vermilion_bird_yin, vermilion_bird_yang
        seat 1: 1 token
          pool: unicorn_1_yin (1 protected)
    """).do("capture:1:unicorn_1_yin")
    assert (p.tokens, p["supply"]) == ([2, 2], 0)


def test_capture_takes_an_unprotected_copy_first():
    """capture:<k>:<kind> takes an unprotected copy if there is one, else a protected one."""
    pool = "2 unicorn_1_yin (1 protected)"
    p = Position.of_text(BOTH.format(slots="2 vermilion_bird_yin, 2 vermilion_bird_yang", pool=pool)).do("capture:1:unicorn_1_yin")
    assert (p.discard, p.kinds("protected", 1), p.tokens, p["supply"]) == ({"vermilion_bird_yang": 1}, {"unicorn_1_yin": 1}, [2, 2], 16)
    p.do("capture:1:unicorn_1_yin")
    assert (p.discard, p.kinds("protected", 1), p.tokens, p["supply"]) == (
        {"vermilion_bird_yang": 2, "vermilion_bird_yin": 1}, {}, [2, 3], 16,
    )  # fmt: skip


def test_the_unprotected_copy_costs_one_symbol():
    """An unprotected copy is legal with the opposite symbol alone, and not with the same one."""
    pool = "2 unicorn_1_yin (1 protected)"
    assert Position.of_text(BOTH.format(slots="vermilion_bird_yang", pool=pool)).legal == ["capture:1:unicorn_1_yin", "end"]
    assert Position.of_text(BOTH.format(slots="vermilion_bird_yin", pool=pool)).legal == ["end"]


def test_tokens_on_enchanted_cards_go_to_the_supply():
    """Tokens on cards that are enchanted go to the supply."""
    p = Position.of_text("""
        beyond(players=2,protection=true)
        seat 0: 0 tokens
          pool: 2 turtle_snake_yin (1 protected), 2 turtle_snake_yang (2 protected)
    """)
    before = p["supply"]
    p.do("enchant:turtle_snake")
    assert (p["supply"] - before, p.tokens[0], p.kinds("protected", 0)) == (3, 0, {})


def test_protected_cards_can_be_enchanted_in_every_part():
    """…a unicorn of protected cards."""
    p = Position.of_text("""
        beyond(players=2,protection=true)
        seat 0: 0 tokens
          pool: 2 unicorn_1_yin (1 protected), unicorn_2_yang (1 protected), unicorn_3_yin, unicorn_4_yang (1 protected)
    """)
    before = p["supply"]
    p.do("enchant:unicorn")
    assert (p["supply"] - before, p.pool(0), p.kinds("protected", 0)) == (2, {"unicorn_1_yin": 1}, {"unicorn_1_yin": 1})
