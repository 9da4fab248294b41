"""The rules of Beyond, sentence by sentence: 2. Place, and 3. Enchant, capture."""

from __future__ import annotations

import pytest

from tests.beyond.helpers import EVERY_SEAT, Position

# -- 2. Place


def test_placing_is_compulsory():
    """Collecting, taking the Nian Shou and placing are compulsory: while cards are to be placed, nothing else is legal."""
    p = Position.of_deck(["unicorn_1_yin", "turtle_snake_yin"]).do("reveal", "stop")
    assert p.legal == ["place:spirit", "place:capture"]
    assert p.do("place:spirit").legal == ["place:spirit", "place:capture"]


def test_cards_are_placed_in_the_order_revealed_the_busting_card_last():
    """Each collected card, in the order revealed, the busting card last."""
    deck = ["unicorn_1_yin", "turtle_snake_yin", "vermilion_bird_yin", "turtle_snake_yang"]
    p = Position.of_deck(deck, "start_tokens=3").do("reveal", "reveal", "reveal", "rescue:vermilion_bird", "rescue:unicorn", "pass")
    assert p.placing == ["unicorn_1_yin", "vermilion_bird_yin", "turtle_snake_yang"]
    p.do("place:capture", "place:spirit", "place:capture")
    assert (p.slots(0), p.pool(0), p.phase) == ({"unicorn_1_yin": 1, "turtle_snake_yang": 1}, {"vermilion_bird_yin": 1}, "act")


def test_place_spirit():
    """place:spirit puts it face up into the pool in the play area."""
    p = Position.of_deck(["unicorn_1_yin"]).do("stop", "place:spirit")
    assert (p.pool(0), p.slots(0)) == ({"unicorn_1_yin": 1}, {})


def test_place_capture():
    """place:capture puts it back up into a capture slot."""
    p = Position.of_deck(["unicorn_1_yin"]).do("stop", "place:capture")
    assert (p.pool(0), p.slots(0)) == ({}, {"unicorn_1_yin": 1})


@pytest.mark.parametrize("slots", [0, 1, 3, 4, 20])
def test_full_slots(slots):
    """…of which there are 4 (capture_slots); with full slots only place:spirit is legal."""
    sixteen_and_four = ["vermilion_bird_yin"] * 8 + ["turtle_snake_yin"] * 8 + ["azure_dragon_head_yin"] * 4
    for used in {max(slots - 1, 0), slots}:
        p = Position.of_text(f"""
            beyond(players=2,capture_slots={slots})
            placing: unicorn_1_yin
            seat 0: 2 tokens
              slots: {", ".join(sixteen_and_four[:used]) or "none"}
            seat 1: 2 tokens
              slots: {f"{min(slots, 8)} turtle_snake_yang" if slots else "none"}
        """)
        assert p.legal == (["place:spirit", "place:capture"] if used < slots else ["place:spirit"])


def test_a_placed_card_is_never_turned_or_moved():
    """A placed card is never turned or moved between pool and slots: no action does."""
    p = Position.of_text("""
        beyond(players=2,protection=true,summoning=true)
        seat 0: 2 tokens
          pool: unicorn_1_yin
          slots: turtle_snake_yang
    """)
    assert p.legal == ["protect:unicorn_1_yin", "end"]


def test_patterns_are_made_from_the_pool_only():
    """Patterns are made from the pool freely; cards in slots do not count, nor those of others."""
    p = Position.of_text("""
        beyond(players=2)
        seat 0: 2 tokens
          pool: 3 turtle_snake_yin
          slots: turtle_snake_yang
        seat 1: 2 tokens
          pool: turtle_snake_yin
    """)
    assert not any(name.startswith("enchant") for name in p.legal)


# -- 3. Enchant, capture


def test_any_order_as_often_as_wanted_none_compulsory():
    """In any order and as often as wanted, none compulsory; end is always legal here."""
    p = Position.of_text("""
        beyond(players=2)
        seat 0: 2 tokens
          pool: 3 turtle_snake_yin, 4 vermilion_bird_yang
          slots: unicorn_1_yin, unicorn_2_yin
        seat 1: 2 tokens
          pool: 2 turtle_snake_yang
    """)
    assert p.legal == ["enchant:vermilion_bird", "capture:1:turtle_snake_yang", "end"]
    p.do("capture:1:turtle_snake_yang", "enchant:turtle_snake", "capture:1:turtle_snake_yang")
    assert p.legal == ["enchant:vermilion_bird", "end"]
    assert p.do("end")["seat"] == 1


def test_end_waits_for_a_choice():
    """…except between a summon and its choice."""
    p = Position.of_text("""
        beyond(players=2,summoning=true)
        seat 0: 2 tokens
          enchantments: turtle_snake, unicorn, metal_tiger (1 summoned)
    """)
    assert "end" not in p.copy().do("summon:turtle_snake").legal
    assert p.do("summon:unicorn").legal == ["reclaim:metal_tiger"]


PATTERNS = {
    "vermilion_bird": "vermilion_bird_yin, 3 vermilion_bird_yang",
    "turtle_snake": "4 turtle_snake_yin",
    "azure_dragon": "2 azure_dragon_head_yin, azure_dragon_body_yin, azure_dragon_body_yang",
    "metal_tiger": "metal_tiger_head_yin, metal_tiger_head_yang, 2 metal_tiger_body_yang",
    "unicorn": "unicorn_1_yin, unicorn_2_yang, unicorn_3_yin, unicorn_4_yang",
}


@pytest.mark.parametrize("spirit", PATTERNS)
@pytest.mark.parametrize("points", [None, 0, 30])
def test_enchant(spirit, points):
    """enchant:<spirit>: take a full pattern from the pool, whatever their symbols; it is worth its points."""
    rules = "" if points is None else f",points_{spirit}={points}"
    p = Position.of_text(f"beyond(players=2{rules})\nseat 0: 0 tokens\n pool: {PATTERNS[spirit]}")
    before = p.pool(0)
    assert (p.legal, p.points[0]) == ([f"enchant:{spirit}", "end"], 4)
    p.do(f"enchant:{spirit}")
    worth = {"vermilion_bird": 6, "turtle_snake": 6, "azure_dragon": 9, "metal_tiger": 9, "unicorn": 12}[spirit]
    worth = worth if points is None else points
    assert (p.pool(0), p.kinds("enchanted", 0), p.spirits("enchantments", 0), p.points[0]) == ({}, before, {spirit: 1}, worth)


@pytest.mark.parametrize(
    ("spirit", "pool"),
    [
        ("vermilion_bird", "3 vermilion_bird_yin"),
        ("turtle_snake", "2 turtle_snake_yin, turtle_snake_yang"),
        ("azure_dragon", "3 azure_dragon_head_yin, azure_dragon_body_yin"),
        ("azure_dragon", "azure_dragon_head_yin, 3 azure_dragon_body_yang"),
        ("metal_tiger", "4 metal_tiger_head_yin, metal_tiger_body_yin"),
        ("unicorn", "2 unicorn_1_yin, unicorn_2_yin, unicorn_3_yin"),
        ("unicorn", "unicorn_1_yin, unicorn_2_yin, 2 unicorn_4_yin, unicorn_4_yang"),
    ],
)
def test_not_a_full_pattern(spirit, pool):
    """A full pattern is needed: 4 cards, or 2 heads + 2 bodies, or one of each part."""
    p = Position.of_text(f"beyond(players=2)\nseat 0: 0 tokens\n pool: {pool}")
    assert p.legal == ["end"], spirit


def test_the_same_spirit_several_times():
    """The same spirit can be enchanted several times."""
    p = Position.of_text("beyond(players=2)\nseat 0: 0 tokens\n pool: 8 turtle_snake_yin, 8 turtle_snake_yang")
    p.do("enchant:turtle_snake", "enchant:turtle_snake", "enchant:turtle_snake", "enchant:turtle_snake")
    assert (p.spirits("enchantments", 0), p.points[0], p.legal, p["triggered"]) == ({"turtle_snake": 4}, 24, ["end"], 1)


def test_enchanted_cards_can_never_be_captured():
    """…its cards can never be captured."""
    p = Position.of_text("""
        beyond(players=2)
        seat 0: 0 tokens
          slots: vermilion_bird_yin, vermilion_bird_yang
        seat 1: 0 tokens
          enchantments: turtle_snake, metal_tiger
    """)
    assert p.legal == ["end"]


@pytest.mark.parametrize(
    ("pool", "taken"),
    [
        ("5 turtle_snake_yin, 2 turtle_snake_yang", {"turtle_snake_yin": 4}),  # more yin
        ("2 turtle_snake_yin, 5 turtle_snake_yang", {"turtle_snake_yang": 4}),  # more yang
        ("3 turtle_snake_yin, 2 turtle_snake_yang", {"turtle_snake_yin": 3, "turtle_snake_yang": 1}),
        ("2 turtle_snake_yin, 3 turtle_snake_yang", {"turtle_snake_yin": 1, "turtle_snake_yang": 3}),
        ("3 turtle_snake_yin, 3 turtle_snake_yang", {"turtle_snake_yin": 3, "turtle_snake_yang": 1}),  # yin on a tie
        ("5 turtle_snake_yin, 5 turtle_snake_yang", {"turtle_snake_yin": 4}),
    ],
)
def test_which_copies_go_in(pool, taken):
    """Of each part first the symbol of which the pool holds more copies (counted once, before any is taken), yin on a tie."""
    p = Position.of_text(f"beyond(players=2)\nseat 0: 0 tokens\n pool: {pool}").do("enchant:turtle_snake")
    assert p.kinds("enchanted", 0) == taken


@pytest.mark.parametrize(
    ("pool", "taken", "left_protected"),
    [
        # unprotected before protected, whatever the symbol
        ("4 turtle_snake_yin (3 protected), 3 turtle_snake_yang", {"turtle_snake_yin": 1, "turtle_snake_yang": 3}, {"turtle_snake_yin": 3}),
        # protected copies count for which symbol the pool holds more of
        ("4 turtle_snake_yin (2 protected), 3 turtle_snake_yang", {"turtle_snake_yin": 2, "turtle_snake_yang": 2}, {"turtle_snake_yin": 2}),
        # among the protected ones, the symbol with more copies first
        ("2 turtle_snake_yin (2 protected), 3 turtle_snake_yang (3 protected)", {"turtle_snake_yin": 1, "turtle_snake_yang": 3},
         {"turtle_snake_yin": 1}),
        # yin on a tie, counted before any is taken: 3 and 3; two unprotected yang, then two of the three protected yin
        ("3 turtle_snake_yin (3 protected), 3 turtle_snake_yang (1 protected)", {"turtle_snake_yin": 2, "turtle_snake_yang": 2},
         {"turtle_snake_yin": 1, "turtle_snake_yang": 1}),
    ],
)  # fmt: skip
def test_which_copies_go_in_with_protection(pool, taken, left_protected):
    """Of each part, unprotected before protected; among those, first the symbol with more copies, protected ones included."""
    p = Position.of_text(f"beyond(players=2,protection=true)\nseat 0: 0 tokens\n pool: {pool}").do("enchant:turtle_snake")
    assert (p.kinds("enchanted", 0), p.kinds("protected", 0)) == (taken, left_protected)


def test_which_copies_go_in_by_part():
    """…of each part: heads and bodies by themselves."""
    p = Position.of_text("""
        beyond(players=2)
        seat 0: 0 tokens
          pool: 3 azure_dragon_head_yin, 2 azure_dragon_head_yang, azure_dragon_body_yin, 2 azure_dragon_body_yang
    """).do("enchant:azure_dragon")
    assert p.kinds("enchanted", 0) == {"azure_dragon_head_yin": 2, "azure_dragon_body_yang": 2}
    p = Position.of_text("""
        beyond(players=2)
        seat 0: 0 tokens
          pool: unicorn_1_yin, unicorn_1_yang, unicorn_2_yang, unicorn_3_yin, 2 unicorn_3_yang, unicorn_4_yang
    """).do("enchant:unicorn")
    assert p.kinds("enchanted", 0) == {"unicorn_1_yin": 1, "unicorn_2_yang": 1, "unicorn_3_yang": 1, "unicorn_4_yang": 1}


@pytest.mark.parametrize(("kind", "payment"), [("turtle_snake_yin", "unicorn_1_yang"), ("turtle_snake_yang", "unicorn_1_yin")])
def test_capture(kind, payment):
    """capture:<k>:<kind>: pay one capture card of the opposite symbol to the discard pile, take a card of that kind from the
    opponent's pool into the own pool; then the opponent takes a lotus token from the supply."""
    p = Position.of_text(f"""
        beyond(players=2)
        seat 0: 2 tokens
          slots: {payment}
        seat 1: 2 tokens
          pool: 2 turtle_snake_yin, 2 turtle_snake_yang
    """)
    assert p.legal == [f"capture:1:{kind}", "end"]  # only the other symbol
    p.do(f"capture:1:{kind}")
    assert (p.slots(0), p.discard, p.pool(0), p.pool(1)[kind]) == ({}, {payment: 1}, {kind: 1}, 1)
    assert (p.tokens, p["supply"]) == ([2, 3], 16)


def test_capture_without_supply():
    """…takes a lotus token from the supply, if there is one."""
    p = Position.of_text("""
        beyond(players=2,token_supply=4)
        seat 0: 2 tokens
          slots: unicorn_1_yin
        seat 1: 2 tokens
          pool: turtle_snake_yang, 1 vermilion_bird_yang
    """).do("capture:1:turtle_snake_yang")
    assert (p.tokens, p["supply"], p.pool(1)) == ([2, 2], 0, {"vermilion_bird_yang": 1})


@pytest.mark.parametrize(("players", "seat"), EVERY_SEAT)
def test_capture_from_the_opponent_k_seats_further_on(players, seat):
    """k = 1, 2, 3: the opponent k seats further on."""
    seats = "\n".join(f"seat {k}: 2 tokens, 1 Nian Shou\n pool: unicorn_{k + 1}_yang" for k in range(players))
    p = Position.of_text(f"beyond(players={players})\nturn: {seat + 1}\n{seats}\n")
    p.records["slots"][0, seat, [0, 1]] += 1
    expected = []
    for k in range(1, players):
        victim = (seat + k) % players
        expected += [f"capture:{k}:unicorn_{victim + 1}_yang", f"capture:{k}:nian"]
        q = p.copy().do(f"capture:{k}:unicorn_{victim + 1}_yang")
        assert (q.pool(victim), q.tokens[victim], sum(q.tokens)) == ({}, 3, 2 * players + 1)
        q = p.copy().do(f"capture:{k}:nian")
        assert (q.nian[victim], q.nian[seat], q.tokens[victim]) == (0, 2, 3)
    assert p.legal == [*expected, "end"]


def test_capture_of_a_nian():
    """capture:<k>:nian costs one yin and one yang card and is compensated in the same way."""
    p = Position.of_text("""
        beyond(players=2)
        seat 0: 2 tokens
          slots: unicorn_1_yin, unicorn_2_yang
        seat 1: 2 tokens, 2 Nian Shou
    """).do("capture:1:nian")
    assert (p.nian, p.slots(0), p.discard, p.tokens, p["supply"]) == ([1, 1], {}, {"unicorn_1_yin": 1, "unicorn_2_yang": 1}, [2, 3], 16)


@pytest.mark.parametrize("slots", ["2 unicorn_1_yin", "2 unicorn_1_yang", "none"])
def test_capture_of_a_nian_needs_both_symbols(slots):
    """A Nian Shou costs one yin and one yang card."""
    p = Position.of_text(f"beyond(players=2)\nseat 0: 2 tokens\n slots: {slots}\nseat 1: 2 tokens, 2 Nian Shou")
    assert p.legal == ["end"]


@pytest.mark.parametrize(
    ("slots", "paid"),
    [
        ("unicorn_1_yin, turtle_snake_yin, azure_dragon_body_yin", "turtle_snake_yin"),
        ("unicorn_4_yin, metal_tiger_head_yin, vermilion_bird_yang", "metal_tiger_head_yin"),
        ("2 unicorn_2_yin, unicorn_1_yang", "unicorn_2_yin"),
    ],
)
def test_which_card_is_paid(slots, paid):
    """Which card of a symbol is paid is no decision: the one with the lowest kind number."""
    p = Position.of_text(f"beyond(players=2)\nseat 0: 2 tokens\n slots: {slots}\nseat 1: 2 tokens\n pool: turtle_snake_yang")
    assert p.do("capture:1:turtle_snake_yang").discard == {paid: 1}


def test_which_cards_are_paid_for_a_nian():
    """…of each symbol the one with the lowest kind number."""
    p = Position.of_text("""
        beyond(players=2)
        seat 0: 2 tokens
          slots: unicorn_4_yin, unicorn_3_yin, metal_tiger_head_yang, vermilion_bird_yang
        seat 1: 2 tokens, 1 Nian Shou
    """).do("capture:1:nian")
    assert p.discard == {"unicorn_3_yin": 1, "vermilion_bird_yang": 1}


def test_slots_and_enchantments_cannot_be_captured():
    """Cards in slots and enchantments cannot be captured."""
    p = Position.of_text("""
        beyond(players=2)
        seat 0: 2 tokens
          slots: vermilion_bird_yin, vermilion_bird_yang
        seat 1: 2 tokens
          slots: 2 turtle_snake_yin
          enchantments: unicorn
    """)
    assert p.legal == ["end"]


@pytest.mark.parametrize("players", [2, 4])
def test_the_sixth_nian_by_capture_wins_at_once(players):
    """Holding all 6 Nian Shou wins at once, whatever the points; nothing more is done (no compensation), not even the round."""
    p = Position.of_text(f"""
        beyond(players={players})
        turn: 1
        seat 0: 0 tokens, 5 Nian Shou
          slots: unicorn_1_yin, unicorn_1_yang
        seat 1: 9 tokens, 1 Nian Shou
          pool: 8 turtle_snake_yin
    """).do("capture:1:nian")
    assert (p.over, p.winners, p.legal, p["seat"]) == (True, [0], [], -1)
    assert (p.tokens[1], p.nian) == (9, [6] + [0] * (players - 1))
    assert p.points[1] > p.points[0]
    assert p.discard == {"unicorn_1_yin": 1, "unicorn_1_yang": 1}


def test_five_nian_do_not_win():
    """Holding all 6 wins, not 5."""
    p = Position.of_text("""
        beyond(players=2)
        seat 0: 0 tokens, 4 Nian Shou
          slots: unicorn_1_yin, unicorn_1_yang
        seat 1: 0 tokens, 2 Nian Shou
    """).do("capture:1:nian")
    assert not p.over
