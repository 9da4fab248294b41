"""unknown_fate and scrapyard, the discard pile, refills (rules: A turn, The discard pile after each event)."""

from __future__ import annotations

from collections import Counter

from away_env.cards import ACTION_OF, CARDS
from tests.away.helpers import Position, position

TABLE = "r4c4 crossroads.1/0"


def test_scrapyard_takes_the_top_of_the_pile():
    p = position(TABLE, "scrapyard.pink, lane.green", pile="fork.green, bend.blue").do("play:scrapyard.pink")
    assert p.pile == ["scrapyard.pink", "bend.blue"] and p.faction == "green" and p.phase == "cell"
    assert p.hand(0) == ["lane.green"]
    p.do("cell:3,4", "turn:2")
    assert p.check().table["r3c4"] == "fork.green/2" and p.pile == ["scrapyard.pink", "bend.blue"]
    assert p.legal == ["play:lane.green", "done"]  # the brought card's faction is the turn's now


def test_scrapyard_with_an_action_card():
    p = position(TABLE, "scrapyard.pink", pile="unstable_field.blue, bend.blue").do("play:scrapyard.pink")
    assert p.pile == ["unstable_field.blue", "scrapyard.pink", "bend.blue"] and p.faction == "blue"
    assert p.do("cell:4,4", "turn:3").table["r4c4"] == "crossroads.1/3" and p.check().legal == ["done"]


def test_scrapyard_with_a_card_that_cannot_be_played():
    p = position(TABLE, "scrapyard.pink, unstable_field.blue", pile="cosmic_compass.blue, bend.pink").do("play:scrapyard.pink")
    assert p.pile == ["cosmic_compass.blue", "scrapyard.pink", "bend.pink"]
    assert p.faction == "blue" and p.legal == ["play:unstable_field.blue", "done"]  # its faction counts, playing goes on


def test_scrapyard_needs_a_card_to_bring():
    assert "play:scrapyard.pink" not in position(TABLE, "scrapyard.pink").legal


def test_a_scrapyard_that_a_scrapyard_brings_cannot_be_played():
    p = position(TABLE, "scrapyard.pink", pile="scrapyard.orange, bend.pink").do("play:scrapyard.pink")
    assert p.pile == ["scrapyard.orange", "scrapyard.pink", "bend.pink"] and p.faction == "orange" and p.legal == ["done"]


def test_unknown_fate_draws_the_top_of_the_deck():
    p = position(TABLE, "unknown_fate.green", deck="lane.pink, rest", pile="bend.pink").do("play:unknown_fate.green")
    assert p.pile == ["unknown_fate.green", "bend.pink"] and p.faction == "pink" and p.phase == "cell" and p.hand(0) == []
    assert p.do("cell:3,4", "turn:0").check().table["r3c4"] == "lane.pink/0" and p.legal == ["done"]


def test_unknown_fate_with_an_action_card():
    p = position(TABLE, "unknown_fate.green, unstable_field.orange", deck="unstable_field.pink, rest").do("play:unknown_fate.green")
    assert p.pile == ["unstable_field.pink", "unknown_fate.green"] and p.faction == "pink"
    p.do("cell:4,4", "turn:1")
    assert p.check().legal == ["done"]


def test_unknown_fate_with_a_card_that_cannot_be_played():
    p = position(TABLE, "unknown_fate.green", deck="hyperdrive.pink, rest").do("play:unknown_fate.green")
    assert p.check().pile == ["hyperdrive.pink", "unknown_fate.green"] and p.faction == "pink" and p.legal == ["done"]


def without_deck(pile: str, hand: str = "unknown_fate.green") -> Position:
    """All other cards are on the table or in hands of nobody: here, on the pile's bottom under those named."""
    named = {name.strip() for name in f"{pile}, {hand}".split(",")}
    rest = [card for card in CARDS if card not in named]
    return position(TABLE, hand, pile=", ".join(filter(None, [pile, *rest])), deck="none")


def test_unknown_fate_with_an_empty_deck():
    p = without_deck("bend.blue, fork.green").do("play:unknown_fate.green")
    brought = p["card"] if p["card"] >= 0 else CARDS.index(p.pile[0])
    assert p["deck_size"] == 66 and len({*p.deck, *p.pile, CARDS[brought]}) == 68
    assert p.pile in (["unknown_fate.green"], [CARDS[brought], "unknown_fate.green"])  # it alone stays, the card drawn may follow


def test_unknown_fate_needs_a_card_to_bring():
    everything = [card for card in CARDS if card != "unknown_fate.green" and ACTION_OF[CARDS.index(card)] < 0]
    cells = [f"r{r}c{c}" for r in (0, 1, 2, 6, 7, 8) for c in range(9)][: len(everything)]
    table = ", ".join(f"{cell} {card}/0" for cell, card in zip(cells, everything, strict=True))
    actions = [card for card in CARDS if ACTION_OF[CARDS.index(card)] >= 0 and card != "unknown_fate.green"]
    # 27 action cards in the pile: there is a card to bring
    assert "play:unknown_fate.green" in position(table, "unknown_fate.green", pile=", ".join(actions), deck="none").legal


def test_a_scrapyard_that_unknown_fate_brings_takes_that_unknown_fate():
    p = position(TABLE, "unknown_fate.green", deck="scrapyard.pink, lane.pink, rest").do("play:unknown_fate.green")
    assert p.pile == ["unknown_fate.green", "scrapyard.pink"] and p.faction == "pink" and p.phase == "cell"
    assert p.do("cell:3,4", "turn:0").check().table["r3c4"] == "lane.pink/0"


def test_a_long_chain():
    deck = "unknown_fate.orange, scrapyard.pink, scrapyard.orange, bend.orange, rest"
    p = position(TABLE, "unknown_fate.green, lane.orange", deck=deck).do("play:unknown_fate.green")
    # green draws orange, which draws scrapyard.pink, which takes orange, which draws scrapyard.orange, which takes it again
    assert p.pile == ["unknown_fate.orange", "scrapyard.orange", "scrapyard.pink", "unknown_fate.green"]
    p.do("cell:3,4", "turn:0")
    assert p.check().legal == ["play:lane.orange", "done"]


def test_a_scrapyard_brings_an_unknown_fate():
    p = position(TABLE, "scrapyard.pink", pile="unknown_fate.orange, bend.blue", deck="lane.green, rest").do("play:scrapyard.pink")
    assert p.pile == ["unknown_fate.orange", "scrapyard.pink", "bend.blue"] and p.faction == "green"
    assert p.do("cell:3,4", "turn:1").check().table["r3c4"] == "lane.green/1"


def test_a_refill_while_drawing():
    """Three cards wanted, one in the deck: all of the pile but its top card becomes the new deck."""
    hand = "lane.blue, fork.blue, bend.blue, lane.pink, fork.pink"
    rest = [card for card in CARDS if card not in (*hand.split(", "), "oneway.green")]
    tops = Counter()
    for _ in range(3):
        p = position(TABLE, hand, deck="oneway.green", pile=", ".join(rest))
        p.do("discard:lane.blue", "discard:fork.blue", "discard:bend.blue", "done", "pass")
        assert p.check().pile == ["bend.blue"]  # the old top card alone
        assert len(p.hand(0)) == 5 and "oneway.green" in p.hand(0) and p["deck_size"] == 68 - 1 - 5
        tops[p.deck[0]] += 1
    assert len(tops) == 1  # the stream decides, and it is the same here


def test_no_refill_before_a_card_is_wanted():
    hand = "lane.blue, fork.blue, bend.blue, lane.pink, fork.pink"
    rest = [card for card in CARDS if card not in (*hand.split(", "), "oneway.green")]
    p = position(TABLE, hand, deck="oneway.green", pile=", ".join(rest)).do("discard:lane.blue", "done", "pass")
    assert p["deck_size"] == 0 and len(p.pile) == 63


def test_with_nothing_to_shuffle_no_card_is_drawn():
    exploration = [card for card in CARDS[:40] if card != "lane.blue"]
    cells = [f"r{r}c{c}" for r in (0, 1, 2, 6, 7) for c in range(9)][: len(exploration)]
    table = ", ".join(f"{cell} {card}/0" for cell, card in zip(cells, exploration, strict=True))
    p = position(table, "lane.blue", pile=", ".join(CARDS[40:]), deck="none")
    # nobody can be left without cards in a game; in this position the pile is drawn from until one card is left
    p.do("discard:lane.blue", "done", "pass")
    assert len(p.hand(0)) == 5 and p.pile == ["lane.blue"] and p["deck_size"] == 23


def test_action_card_from_the_hand_lies_on_the_pile_while_its_effect_is_done():
    p = position(TABLE, "unstable_field.pink", pile="bend.blue").do("play:unstable_field.pink")
    assert p.pile == ["unstable_field.pink", "bend.blue"] and p.phase == "cell"
