"""The rules of Beyond, sentence by sentence: 1. Reveal and collect."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.beyond.helpers import Position

FIVE = ["vermilion_bird_yin", "turtle_snake_yin", "azure_dragon_head_yin", "metal_tiger_head_yin", "unicorn_1_yin"]


def test_first_card_is_revealed_at_the_set_up():
    """The first card of a turn is revealed at once, as part of the set-up for the first turn. Then: reveal or stop."""
    p = Position.of_deck(["unicorn_1_yin"])
    assert (p.revealed, p.phase, p.legal) == (["unicorn_1_yin"], "reveal", ["reveal", "stop"])


@pytest.mark.parametrize("players", [2, 3, 4])
def test_first_card_is_revealed_by_the_end_of_the_turn_before(players):
    """The first card of a turn is revealed as part of the step that ended the turn before."""
    p = Position.of_deck(["unicorn_1_yin", "turtle_snake_yang"], players=players).do("stop", "place:spirit", "end")
    assert (p["seat"], p["turns"], p.revealed, p.legal) == (1, 2, ["turtle_snake_yang"], ["reveal", "stop"])


@pytest.mark.parametrize("players", [2, 3, 4])
def test_turns_go_round(players):
    """Seats play in turn."""
    p = Position.of_seed(3, players=players)
    seats = []
    for _ in range(2 * players + 1):
        seats.append(p["seat"])
        p.next_turn()
    assert seats == [turn % players for turn in range(2 * players + 1)]


def test_stop_collects_every_revealed_card():
    """stop: collect every revealed card."""
    p = Position.of_deck(FIVE[:3]).do("reveal", "reveal", "stop")
    assert (p.placing, p.phase, p.revealed) == (FIVE[:3], "place", [])


def test_a_spirit_that_lies_there_ends_the_revealing():
    """A revealed card whose spirit lies there already ends the revealing: the player collects that last card."""
    p = Position.of_deck([*FIVE[:2], "vermilion_bird_yang"], "start_tokens=0").do("reveal", "reveal")
    assert (p.placing, p.phase) == (["vermilion_bird_yang"], "place")


def test_bust_by_spirit_not_by_part_or_symbol():
    """A bust is by spirit: another part, another symbol of a spirit that lies there busts; no other spirit does."""
    p = Position.of_deck(["unicorn_1_yin", "turtle_snake_yin", "azure_dragon_head_yin", "unicorn_4_yang"]).do("reveal", "reveal")
    assert p.phase == "reveal"
    assert p.do("reveal").phase == "rescue"


def test_rescue_pays_a_token_for_the_card_of_a_spirit():
    """rescue:<spirit> pays one lotus token to the supply and collects also the card of that spirit revealed before."""
    p = Position.of_deck([*FIVE[:3], "turtle_snake_yang"]).do("reveal", "reveal", "reveal")
    assert p.legal == ["rescue:vermilion_bird", "rescue:turtle_snake", "rescue:azure_dragon", "pass"]
    p.do("rescue:azure_dragon")
    assert (p.tokens, p["supply"]) == ([1, 2], 18)
    p.do("pass")
    assert p.placing == ["azure_dragon_head_yin", "turtle_snake_yang"]


def test_rescue_of_the_busting_spirit():
    """The busting card's own spirit included; each card once."""
    p = Position.of_deck([*FIVE[:3], "turtle_snake_yang"]).do("reveal", "reveal", "reveal", "rescue:turtle_snake")
    assert p.legal == ["rescue:vermilion_bird", "rescue:azure_dragon", "pass"]
    assert p.do("pass").placing == ["turtle_snake_yin", "turtle_snake_yang"]


def test_rescue_as_often_as_tokens_last():
    """As often as tokens and cards last: the last token ends it."""
    p = Position.of_deck([*FIVE[:3], "turtle_snake_yang"]).do("reveal", "reveal", "reveal", "rescue:turtle_snake", "rescue:vermilion_bird")
    assert (p.phase, p.placing, p.tokens[0]) == ("place", ["vermilion_bird_yin", "turtle_snake_yin", "turtle_snake_yang"], 0)


def test_rescue_as_often_as_cards_last():
    """As often as tokens and cards last: the last card ends it."""
    p = Position.of_deck([*FIVE[:2], "turtle_snake_yang"], "start_tokens=5").do("reveal", "reveal")
    p.do("rescue:turtle_snake", "rescue:vermilion_bird")
    assert (p.phase, p.tokens[0], p.discard) == ("place", 3, {})


@pytest.mark.parametrize("limit", [0, 1, 2, 3, 4])
def test_rescue_limit(limit):
    """rescue_limit: most cards rescued in one bust."""
    p = Position.of_deck([*FIVE[:4], "turtle_snake_yang"], f"rescue_limit={limit},start_tokens=5").do(*["reveal"] * 4)
    rescues = 0
    while p.phase == "rescue":
        p.do(p.legal[0])
        rescues += 1
    assert (rescues, len(p.placing), sum(p.discard.values()), p.tokens[0]) == (limit, limit + 1, 4 - limit, 5 - limit)


def test_rescue_limit_counts_anew_in_every_bust():
    """rescue_limit counts the cards of one bust."""
    bust = ["unicorn_1_yin", "unicorn_2_yin", "turtle_snake_yin", "turtle_snake_yin"]
    p = Position.of_deck(bust, "rescue_limit=1").do("reveal", "rescue:unicorn").next_turn().do("reveal")
    assert p.legal == ["rescue:turtle_snake", "pass"]


def test_pass_ends_rescuing_and_cards_not_rescued_are_discarded():
    """pass ends it. Cards not rescued are then discarded, before phase 2."""
    p = Position.of_deck([*FIVE[:3], "turtle_snake_yang"]).do("reveal", "reveal", "reveal", "rescue:turtle_snake")
    assert p.discard == {}
    p.do("pass")
    assert (p.phase, p.discard) == ("place", {"vermilion_bird_yin": 1, "azure_dragon_head_yin": 1})


def test_bust_with_the_first_two_cards_takes_a_nian():
    """If the bust came with the first two cards of the turn, the player first takes one Nian Shou from the centre."""
    p = Position.of_deck(["unicorn_1_yin", "unicorn_1_yin"]).do("reveal")
    assert (p.nian, p["centre_nian"]) == ([1, 0], 5)
    assert p.legal == ["rescue:unicorn", "pass"]  # rescuing is possible then too
    assert p.do("rescue:unicorn").placing == ["unicorn_1_yin", "unicorn_1_yin"]


def test_later_busts_take_no_nian():
    """Only a bust with the first two cards takes a Nian Shou."""
    p = Position.of_deck(["unicorn_1_yin", "turtle_snake_yin", "unicorn_1_yin"]).do("reveal", "reveal")
    assert (p.phase, p.nian, p["centre_nian"]) == ("rescue", [0, 0], 6)


def test_no_nian_left_in_the_centre():
    """…if any is left."""
    p = Position.of_text("""
        beyond(players=2)
        turn: 3, reveal
        deck: unicorn_2_yang, rest
        revealed: unicorn_1_yin
        seat 0: 1 token, 3 Nian Shou
        seat 1: 1 token, 3 Nian Shou
    """).do("reveal")
    assert (p.phase, p.nian, p["centre_nian"], p.over) == ("rescue", [3, 3], 0, False)


@pytest.mark.parametrize(("deck", "depletions"), [("unicorn_2_yang, rest", 0), ("unicorn_2_yang", 1)])
def test_the_sixth_nian_by_a_bust(deck, depletions):
    """If it is the sixth, the game is over at once and the revealed cards are not collected — also when the deck runs out by it."""
    p = Position.of_text(f"""
        beyond(players=3)
        turn: 5, reveal
        end: not triggered, 0 depletions
        deck: {deck}
        revealed: unicorn_1_yin
        seat 1: 1 token, 5 Nian Shou
        seat 2: 3 tokens
          pool: {"rest" if deck == "unicorn_2_yang" else "turtle_snake_yin"}
    """).do("reveal")
    assert (p.over, p.winners, p["seat"], p.legal) == (True, [1], -1, [])
    assert (p.revealed, p.pool(1), p.discard, p["depletions"]) == (["unicorn_1_yin", "unicorn_2_yang"], {}, {}, depletions)


def test_the_sixth_nian_beats_the_second_depletion():
    """The sixth Nian Shou wins at once, whatever the points, though the same card depletes the deck for the second time."""
    p = Position.of_text("""
        beyond(players=2)
        turn: 4, reveal
        end: not triggered, 1 depletion
        deck: unicorn_2_yang
        discard: 2 turtle_snake_yin
        revealed: unicorn_1_yin
        seat 0: 9 tokens
          pool: rest
        seat 1: 5 Nian Shou, 0 tokens
    """).do("reveal")
    assert (p["depletions"], p["triggered"], p.over, p.winners) == (2, 1, True, [1])
    assert p.points[0] > p.points[1]


def test_five_different_spirits_stop_by_themselves():
    """With five different spirits revealed the player stops by itself."""
    p = Position.of_deck([*FIVE, "turtle_snake_yin"]).do("reveal", "reveal", "reveal", "reveal")
    assert (p.phase, p.placing, p.deck[0]) == ("place", FIVE, "turtle_snake_yin")


def test_a_bust_with_the_fifth_card():
    """The fifth card may bust too: all four before can be rescued."""
    p = Position.of_deck([*FIVE[:4], "metal_tiger_body_yang"], "start_tokens=4").do("reveal", "reveal", "reveal", "reveal")
    assert p.legal == ["rescue:vermilion_bird", "rescue:turtle_snake", "rescue:azure_dragon", "rescue:metal_tiger", "pass"]


def test_nothing_left_to_reveal_stops_by_itself():
    """With nothing left to reveal, the player stops by itself."""
    p = Position.of_text("""
        beyond(players=2)
        turn: 5, reveal
        deck: turtle_snake_yin
        revealed: unicorn_1_yin
        seat 1: 2 tokens
          pool: rest
    """).do("reveal")
    assert (p.phase, p.placing, p.deck, p["depletions"]) == ("place", ["unicorn_1_yin", "turtle_snake_yin"], [], 1)


def test_the_first_card_alone_stops_by_itself():
    """With nothing left to reveal after the first card of a turn, the player stops by itself."""
    p = Position.of_text("""
        beyond(players=2)
        turn: 2
        deck: turtle_snake_yin
        seat 0: 2 tokens
          pool: rest
    """).do("end")
    assert (p["seat"], p.phase, p.placing, p.legal) == (0, "place", ["turtle_snake_yin"], ["place:spirit", "place:capture"])


@pytest.mark.parametrize(("rules", "tokens"), [("", 0), ("rescue_limit=0", 3)])
def test_rescue_ends_by_itself(rules, tokens):
    """The rescue ends by itself when no token, card or rescue under the limit is left: here at once."""
    p = Position.of_text(f"""
        beyond(players=2,{rules})
        deck: unicorn_2_yang, rest
        revealed: unicorn_1_yin
        seat 0: {tokens} tokens
    """).do("reveal")
    assert (p.phase, p.placing, p.discard, p.nian, p.tokens[0]) == ("place", ["unicorn_2_yang"], {"unicorn_1_yin": 1}, [1, 0], tokens)


def test_revealed_cards_are_not_shuffled_in():
    """Cards revealed in the current turn lie in neither pile: they are not shuffled in, and a bust discards them to the next pile."""
    p = Position.of_text("""
        beyond(players=2)
        deck: unicorn_2_yang
        discard: 5 turtle_snake_yin
        revealed: turtle_snake_yang, unicorn_1_yin
        seat 0: 0 tokens
        seat 1: 2 tokens
          pool: rest
    """).do("reveal")
    assert p.deck == ["turtle_snake_yin"] * 5
    assert p.discard == {"turtle_snake_yang": 1, "unicorn_1_yin": 1}
    assert (p.placing, p["depletions"]) == (["unicorn_2_yang"], 1)


def test_depletion_comes_before_what_the_card_causes():
    """When the last card leaves the deck, then at once, before anything which that card causes: counted, and reshuffled."""
    p = Position.of_text("""
        beyond(players=2,end_depletions=1)
        turn: 3, reveal
        deck: unicorn_2_yang
        discard: 3 turtle_snake_yin
        revealed: unicorn_1_yin
        seat 1: 2 tokens
          pool: rest
    """).do("reveal")
    assert (p.phase, p["depletions"], p["triggered"]) == ("rescue", 1, 1)  # the rescue is still to be decided, the deck is new
    assert (p.deck, p.discard, p.nian) == (["turtle_snake_yin"] * 3, {}, [1, 0])


@pytest.mark.parametrize(("last", "before"), [(1, 0), (1, 1), (2, 0), (2, 1), (2, 2), (3, 1), (3, 2), (20, 18), (20, 19)])
def test_end_depletions(last, before):
    """The depletion is counted and, if it is the second (end_depletions), triggers the end."""
    p = Position.of_text(f"""
        beyond(players=2,end_depletions={last})
        end: {before} depletions
        deck: vermilion_bird_yin
        revealed: turtle_snake_yin
        seat 0: 0 tokens
          pool: rest
    """)
    assert p["triggered"] == (before >= last)
    p.do("reveal")
    assert (p["depletions"], p["triggered"]) == (before + 1, before + 1 >= last)


def test_a_non_empty_discard_pile_is_shuffled_into_the_new_deck():
    """Then a non-empty discard pile is shuffled into the new deck: each order as likely."""
    p = Position.of_text("""
        beyond(players=2)
        deck: vermilion_bird_yin
        discard: unicorn_1_yin, unicorn_2_yin, unicorn_3_yin
        revealed: turtle_snake_yin
        seat 0: 0 tokens
          pool: rest
    """)
    orders = Counter()
    for n in range(1_200):
        q = p.copy()
        q.records["stream"][0, 1] = n * 100
        orders[tuple(q.do("reveal").deck)] += 1
    assert len(orders) == 6
    assert sum((n - 200) ** 2 / 200 for n in orders.values()) < 20.5  # 5 degrees of freedom, 0.1 percent


EMPTY_DECK = """
    beyond(players=2,summoning={summoning})
    turn: 1
    deck: none
    discard: {discard}
    seat 0: 2 tokens
      pool: rest
      slots: {slots}
      enchantments: turtle_snake, azure_dragon
    seat 1: 2 tokens
      pool: unicorn_1_yang
"""


def test_an_empty_deck_stays_empty_until_a_card_is_needed():
    """A deck that stays empty is refilled only when a card is to be revealed or looked at; until then there is no top symbol."""
    p = Position.of_text(EMPTY_DECK.format(summoning="false", discard="none", slots="vermilion_bird_yin"))
    assert p.seen(0)["top_symbol"] == {}
    p.do("capture:1:unicorn_1_yang")
    assert (p.deck, p.discard, p.seen(0)["top_symbol"]) == ([], {"vermilion_bird_yin": 1}, {})


def test_refill_at_the_first_card_of_a_turn():
    """…at the first card of a turn. Refilling is no depletion, but taking the last card is."""
    p = Position.of_text(EMPTY_DECK.format(summoning="false", discard="vermilion_bird_yin, vermilion_bird_yang", slots="none")).do("end")
    assert (len(p.deck), len(p.revealed), p.discard, p["depletions"], p["triggered"]) == (1, 1, {}, 0, 0)


def test_refill_of_one_card_at_the_first_card_of_a_turn():
    """A refilled deck of one card is depleted by the first card of the turn, at once; the player then stops by itself."""
    p = Position.of_text(EMPTY_DECK.format(summoning="false", discard="vermilion_bird_yin", slots="none")).do("end")
    assert (p.deck, p.placing, p.phase, p["depletions"], p["triggered"]) == ([], ["vermilion_bird_yin"], "place", 1, 0)


@pytest.mark.parametrize(("spirit", "looked"), [("turtle_snake", 4), ("azure_dragon", 2)])
def test_refill_at_a_summon(spirit, looked):
    """…and at the summon of a turtle_snake or azure_dragon. Refilling is no depletion."""
    p = Position.of_text(EMPTY_DECK.format(summoning="true", discard="5 vermilion_bird_yin", slots="none")).do(f"summon:{spirit}")
    assert (p.looked, p.discard, p["depletions"]) == (["vermilion_bird_yin"] * looked, {}, 0)
    assert len(p.deck) == 5


def test_further_depletions_do_nothing_but_refill():
    """Further depletions do nothing but refill. Play goes on with the refilled deck until the round is over."""
    p = Position.of_text("""
        beyond(players=2)
        turn: 1, reveal
        end: triggered, 2 depletions
        deck: vermilion_bird_yin
        discard: 2 unicorn_1_yin
        revealed: turtle_snake_yin
        seat 1: 2 tokens
          pool: rest
    """).do("reveal")
    assert (p["depletions"], p.over, p.deck) == (3, False, ["unicorn_1_yin"] * 2)
    p.next_turn()
    assert (p["seat"], p.revealed) == (1, ["unicorn_1_yin"])
    assert p.next_turn().over


def test_many_depletions_are_counted_up_to_100():
    """A game without end_on_nothing can deplete a deck any number of times: the count stays at 100."""
    p = Position.of_text("""
        beyond(players=2)
        end: triggered, 100 depletions
        deck: vermilion_bird_yin
        revealed: turtle_snake_yin
        seat 0: 0 tokens
          pool: rest
    """).do("reveal")
    assert p["depletions"] == 100


@pytest.mark.parametrize("ends", [True, False])
@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_turn_that_begins_with_nothing(players, ends):
    """A turn that begins with deck and discard pile both empty triggers the end (end_on_nothing). Its phases 1 and 2 are skipped,
    its phase 3 is played, and it counts as a turn."""
    p = Position.of_text(f"""
        beyond(players={players},end_on_nothing={str(ends).lower()})
        turn: 1
        deck: none
        seat 0: 2 tokens
          pool: rest
        seat 1: 2 tokens
          pool: 4 turtle_snake_yin
          slots: turtle_snake_yang
    """).do("end")
    assert (p["seat"], p.phase, p["turns"], p["triggered"], p["depletions"]) == (1, "act", 2, ends, 0)
    assert {"enchant:turtle_snake", "end"} <= set(p.legal)
    for _ in range(players - 1):
        assert not p.over
        p.do("end")
    assert p.over == ends


def test_a_capture_ends_the_emptiness():
    """Without cards a game goes on, and a card paid for a capture is the next turn's deck."""
    p = Position.of_text("""
        beyond(players=2,end_on_nothing=false)
        turn: 2
        deck: none
        seat 0: 2 tokens
          pool: rest
        seat 1: 2 tokens
          slots: turtle_snake_yang
    """).do("capture:1:unicorn_1_yin", "end")
    assert (p["seat"], p.placing, p["depletions"]) == (0, ["turtle_snake_yang"], 1)
