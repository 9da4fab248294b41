"""The rules of Beyond, sentence by sentence: Decisions, and What a player knows."""

from __future__ import annotations

import numpy as np
import pytest

import tabletop
from beyond_env.cards import KINDS, SPIRIT_NAMES
from tests.beyond.helpers import GAME, NAMES, Position


def test_129_names():
    """129 names: reveal, stop, 5 rescue, pass, 2 place, 5 enchant, 63 capture, 20 protect, 5 summon, 20 choose, 5 reclaim, end."""
    sizes: dict[str, int] = {}
    for name in NAMES:
        word = name.partition(":")[0]
        sizes[word] = sizes.get(word, 0) + 1
    assert len(NAMES) == 129
    assert sizes == {
        "reveal": 1, "stop": 1, "rescue": 5, "pass": 1, "place": 2, "enchant": 5, "capture": 63, "protect": 20, "summon": 5, "choose": 20,
        "reclaim": 5, "end": 1,
    }  # fmt: skip
    assert {f"capture:{k}:{what}" for k in (1, 2, 3) for what in (*KINDS, "nian")} == {n for n in NAMES if n.startswith("capture")}
    assert {f"rescue:{spirit}" for spirit in SPIRIT_NAMES} < set(NAMES)


def test_forced_decisions():
    """A decision with a single legal action is forced, and the kit can play it by itself."""
    rules = "capture_slots=0"
    asked = tabletop.Tables("beyond", 1, 2, rules, seed=0, skip_forced=False)
    skipped = tabletop.Tables("beyond", 1, 2, rules, seed=0)
    for tables in (asked, skipped):
        tables.reset(seed=0, options={"deck": ["unicorn_1_yin", "turtle_snake_yin"]})
        tables.step([GAME.actions.id("stop")])
    assert GAME.actions.legal(asked.action_mask[0]) == ["place:spirit"]
    assert GAME.actions.legal(skipped.action_mask[0]) == ["reveal", "stop"]  # placed, ended, and seat 1's first card revealed
    assert (asked.seat[0], skipped.seat[0]) == (0, 1)
    for name in ("place:spirit", "end"):
        asked.step([GAME.actions.id(name)])
    assert asked.records.tobytes() == skipped.records.tobytes()


FULL = """
    beyond(players=3,protection=true,summoning=true)
    turn: 7, rescue
    end: not triggered, 1 depletion
    deck: unicorn_1_yin, vermilion_bird_yin, turtle_snake_yang, rest
    discard: 2 metal_tiger_head_yang
    revealed: azure_dragon_head_yin (rescued), unicorn_2_yin, azure_dragon_body_yang
    seat 0: 3 tokens, 1 Nian Shou
      pool: 2 turtle_snake_yin (1 protected)
      slots: vermilion_bird_yang
    seat 1: 1 token
      enchantments: 2 metal_tiger (1 summoned)
    seat 2: 0 tokens, 2 Nian Shou
      pool: unicorn_4_yin
"""


@pytest.mark.parametrize("seat", [0, 1, 2])
def test_what_all_know(seat):
    """All pools, protection, cards in capture slots with their kinds, enchantments and what is in them, Nian Shou, tokens, supply,
    the discard pile's content, revealed and collected cards, the number of depletions, and so the deck's content."""
    p = Position.of_text(FULL)
    seen = p.seen(seat)
    for k in range(3):
        at = (seat + k) % 3
        for field in ("pool", "protected", "slots", "enchanted"):
            assert seen[field][k] == p.kinds(field, at)
        for field in ("enchantments", "summoned"):
            assert seen[field][k] == p.spirits(field, at)
        assert (seen["nian"][k], seen["tokens"][k], seen["points"][k]) == (p.nian[at], p.tokens[at], p.points[at])
    assert (seen["supply"], seen["centre_nian"], seen["depletions"], seen["triggered"]) == (p["supply"], 3, 1, 0)
    assert (seen["discard"], seen["deck"], seen["deck_size"]) == (p.discard, p.kinds("deck_counts"), len(p.deck))
    assert seen["revealed"] == {"azure_dragon_head_yin": 1, "unicorn_2_yin": 1, "azure_dragon_body_yang": 1}
    assert (seen["rescued"], seen["busting"]) == ({"azure_dragon_head_yin": 1}, {"azure_dragon_body_yang": 1})
    assert (seen["top_symbol"], seen["known_top"]) == ({"yin": 1}, {})


def test_collected_cards_are_known_in_order():
    """…revealed and collected cards."""
    p = Position.of_deck(["unicorn_2_yang", "vermilion_bird_yin", "turtle_snake_yang"]).do("reveal", "reveal", "stop", "place:spirit")
    seen = p.seen(1)
    assert (seen["placing"], seen["queue"]) == ({"vermilion_bird_yin": 1}, [1, 4, 0, 0, 0])


@pytest.mark.parametrize("seat", [0, 1, 2])
def test_the_decks_order_and_the_stream_are_hidden(seat):
    """Of its order only the top symbol: another order under a top card of the same symbol, another stream, look the same."""
    p = Position.of_text(FULL)
    q = Position.of_text(FULL.replace("unicorn_1_yin, vermilion_bird_yin", "vermilion_bird_yin, unicorn_1_yin"))
    q.records["stream"] += np.uint64(12345)
    assert p.deck != q.deck
    assert p.seen(seat) == q.seen(seat)
    assert GAME.text(p.records[0], seat) == GAME.text(q.records[0], seat)
    other = Position.of_text(FULL.replace("deck: unicorn_1_yin", "deck: unicorn_1_yang"))
    assert p.seen(seat) != other.seen(seat)  # another symbol on top is seen


@pytest.mark.parametrize(
    ("revealed", "deck", "known", "percent"),
    [
        ("unicorn_1_yin", "turtle_snake_yin, rest", "", 17),  # 7 unicorns among the 39 yin cards left
        ("unicorn_1_yin", "turtle_snake_yang, rest", "", 20),  # 8 among 40 yang cards
        ("unicorn_1_yin, turtle_snake_yang", "vermilion_bird_yin, rest", "", 38),  # 15 of 39
        ("unicorn_1_yin", "unicorn_2_yin, rest", "known: unicorn_2_yin", 100),  # the top card is known
        ("unicorn_1_yin", "turtle_snake_yin, rest", "known: turtle_snake_yin", 0),
    ],
)
def test_chance_of_a_bust(revealed, deck, known, percent):
    """The chance that the next card busts, from what all know: the top symbol and the deck's content, or the top card itself."""
    p = Position.of_text(f"beyond(players=2)\nrevealed: {revealed}\ndeck: {deck}\n{known}")
    assert p.seen(0)["bust_chance"] == p.seen(1)["bust_chance"] == percent
    assert Position.of_text("beyond(players=2)").seen(0)["bust_chance"] == 0
