"""A position as text and back."""

from __future__ import annotations

import contextlib
import re

import numpy as np
import pytest

import tabletop
from beyond_env.text import parse, text
from tests.beyond.helpers import GAME, Position
from tests.beyond.test_determinize import positions

EXAMPLE = """\
beyond(players=2,protection=true,summoning=true)
turn: 7, seat 0, act
end: not triggered, 0 depletions
decisions: 41, limit 20000
stream: 00000000000000ff, 79 drawn
centre: 4 Nian Shou, 11 tokens
deck: unicorn_1_yin, 2 turtle_snake_yang, rest
known: unicorn_1_yin
discard: 2 vermilion_bird_yin
seat 0: 3 tokens, 1 Nian Shou  # 27 points
  pool: 3 turtle_snake_yin (1 protected), unicorn_2_yang
  slots: vermilion_bird_yang
  enchantments: 2 azure_dragon (1 summoned)
seat 1: 5 tokens, 1 Nian Shou
"""


@pytest.mark.parametrize("block", range(3))
def test_round_trip(block):
    """The full text is read back to the same bytes: in every phase, half-made decisions and finished games included."""
    phases = set()
    for p in positions(10 + block, 60):
        written = text(p.records[0])
        assert parse(written).tobytes() == p.records.tobytes(), written
        phases.add("over" if p.over else p.phase)
    assert {"over", "choose", "act", "place", "reveal"} <= phases


@pytest.mark.parametrize("cut", [1, 5, 30])
def test_round_trip_of_a_game_cut_off(cut):
    tables = tabletop.Tables("beyond", 1, 3, "summoning=true", seed=4, max_decisions=cut, autoreset="disabled")
    while not tables.truncated[0]:
        tables.step([int(tables.action_mask[0].argmax())])
    written = text(tables.records[0])
    assert "cut off" in written
    assert parse(written).tobytes() == tables.records.tobytes()


def test_a_rescue_half_made():
    p = Position.of_deck(["unicorn_1_yin", "turtle_snake_yin", "vermilion_bird_yin", "turtle_snake_yang"], "start_tokens=5")
    p.do("reveal", "reveal", "reveal", "rescue:turtle_snake")
    assert "revealed: unicorn_1_yin, turtle_snake_yin (rescued), vermilion_bird_yin, turtle_snake_yang" in text(p.records[0])
    assert parse(text(p.records[0])).tobytes() == p.records.tobytes()


def test_what_is_written():
    """Text of everything begins with the variant, and says nothing that is not there."""
    p = Position.of_deck(["unicorn_1_yin", "unicorn_2_yin", "unicorn_2_yin"], "protection=true")
    lines = text(p.records[0]).splitlines()
    assert lines[:2] == ["beyond(players=2,protection=true)", "turn: 1, seat 0, reveal"]
    assert "deck: 2 unicorn_2_yin, " in text(p.records[0])
    assert "seat 0: 2 tokens, 0 Nian Shou  # 2 points" in lines
    assert not any(line.startswith(("discard", "known", "looked", "winners", "  pool")) for line in lines)
    assert max(map(len, lines)) <= 132


def test_what_a_seat_knows():
    """The text of a seat has neither the deck's order nor the stream, and cannot be read back."""
    p = Position.of_text(EXAMPLE)
    seen = text(p.records[0], 1)
    assert "what seat 1 knows" in seen and "stream" not in seen
    assert "65 cards, yin on top, in some order: " in seen and "known: unicorn_1_yin" in seen
    other = p.copy()
    other.records["deck"][0, :50] = other.records["deck"][0, :50][::-1]
    other.records["stream"] += np.uint64(1)
    assert text(other.records[0], 1) == seen
    assert text(other.records[0]) != text(p.records[0])
    with pytest.raises(tabletop.SetupError, match="line 2: this is what seat 1 knows"):
        parse(seen)
    with pytest.raises(tabletop.SetupError, match="seats are 0 to 1"):
        text(p.records[0], 2)


def test_written_by_hand():
    """The example of the docstring: what is left out is as at the set-up, or worked out."""
    p = Position.of_text(EXAMPLE)
    assert (p["turns"], p["seat"], p.phase, p["decisions"], p["limit"]) == (7, 0, "act", 41, 20000)
    assert p.records["stream"][0, 0] == 255
    assert p.deck[:3] == ["unicorn_1_yin", "turtle_snake_yang", "turtle_snake_yang"]
    assert (p.known, p.discard, p.tokens, p.nian) == (["unicorn_1_yin"], {"vermilion_bird_yin": 2}, [3, 5], [1, 1])
    assert (p.pool(0), p.kinds("protected", 0)) == ({"turtle_snake_yin": 3, "unicorn_2_yang": 1}, {"turtle_snake_yin": 1})
    assert (p.spirits("enchantments", 0), p.spirits("summoned", 0)) == ({"azure_dragon": 2}, {"azure_dragon": 1})
    assert sum(p.kinds("enchanted", 0).values()) == 8
    assert p.points[0] == 27


def test_defaults():
    """A text of a variant alone is a turn with nothing on the table, ready for phase 3."""
    p = Position.of_text("beyond(players=3)")
    assert (p["seat"], p["turns"], p.phase, p.tokens, p["supply"], p["centre_nian"], len(p.deck)) == (0, 1, "act", [2, 2, 2], 15, 6, 80)
    assert p["limit"] == GAME.max_decisions(GAME.rules(), 3)
    assert p.deck != sorted(p.deck)


@pytest.mark.parametrize(
    ("line", "phase"), [("revealed: unicorn_1_yin", "reveal"), ("placing: unicorn_1_yin", "place"), ("discard: unicorn_1_yin", "act")]
)
def test_the_phase_follows_from_the_cards(line, phase):
    assert Position.of_text(f"beyond(players=2)\n{line}").phase == phase


def test_rest_stands_for_the_cards_named_nowhere():
    """…in any one pile; the deck may be given in full."""
    p = Position.of_text("beyond(players=2)\ndeck: none\ndiscard: rest\nseat 1: 2 tokens\n pool: unicorn_1_yin")
    assert (sum(p.discard.values()), p.deck) == (79, [])
    p = Position.of_text("beyond(players=2)\ndeck: unicorn_1_yin\nseat 1: 2 tokens\n pool: rest")
    assert (sum(p.pool(1).values()), p.deck) == (79, ["unicorn_1_yin"])


def test_comments_and_long_lines():
    p = Position.of_text("# a position\n\nbeyond(players=2)  # two\nseat 0: 2 tokens\n pool: unicorn_1_yin,\n   unicorn_2_yin\n\n")
    assert p.pool(0) == {"unicorn_1_yin": 1, "unicorn_2_yin": 1}


def test_triggered_is_worked_out():
    assert Position.of_text("beyond(players=2)\nseat 0: 2 tokens\n enchantments: 3 unicorn")["triggered"] == 1
    assert Position.of_text("beyond(players=2)\nend: 2 depletions")["triggered"] == 1
    assert Position.of_text("beyond(players=2)\nend: triggered")["triggered"] == 1
    assert Position.of_text("beyond(players=2,end_distinct=true)\nseat 0: 2 tokens\n enchantments: 3 unicorn")["triggered"] == 0


SUMMON = "seat 0: 2 tokens\nenchantments: turtle_snake (1 summoned), vermilion_bird (1 summoned), azure_dragon"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("", "line 1: the text is empty"),
        ("away(players=2)", "line 1: .*not a variant of beyond"),
        ("beyond(players=2,colour=red)", "line 1: .*colour"),
        ("beyond(players=5)", "line 1: .*2 to 4 players"),
        ("beyond(players=2)\nnonsense", "line 2: 'nonsense' is not of the form"),
        ("beyond(players=2)\ncolour: red", "line 2 .colour.: unknown; lines are called"),
        ("beyond(players=2)\nturn: 1\nturn: 2", "line 3 .turn.: given twice, first in line 2"),
        ("beyond(players=2)\nturn: soon", "line 2 .turn.: 'soon' cannot be read"),
        ("beyond(players=2)\nturn: 0", "line 2 .turn.: '0' is out of range"),
        ("beyond(players=2)\nturn: 2, seat 0", "line 2 .turn.: turn 2 is one of seat 1"),
        ("beyond(players=2)\nturn: 2, seat 4", "line 2 .turn.: 'seat 4' is out of range"),
        ("beyond(players=2)\nturn: 2, over", "no line winners"),
        ("beyond(players=2)\nturn: 2, seat 1, over\nwinners: 0", "no seat is to act"),
        ("beyond(players=2)\nturn: 3, over\nwinners: 0, 1\nend: triggered", "line 2 .turn.: a game is over by six Nian Shou, or when"),
        ("beyond(players=2)\nturn: 4, over\nwinners: 0, 1", "line 2 .turn.: a game is over by six Nian Shou, or when"),
        ("beyond(players=2)\nturn: 4, over\nwinners: 0\nend: triggered", "line 3 .winners.: winners are 0, 1"),
        ("beyond(players=2)\nturn: 4, over\nwinners: 0\nseat 1: 6 Nian Shou", "line 3 .winners.: winners are 1"),
        (f"beyond(players=2)\ndiscard: {'9' * 5000} unicorn_1_yin", "line 2 .discard.: "),
        (f"beyond(players=2)\ndecisions: {'9' * 5000}", "line 2 .decisions.: .*out of range"),
        (f"beyond(players=2,token_supply={'9' * 5000})", "line 1: "),
        ("beyond(players=²)", "line 1: "),
        ("beyond(players=2)\nwinners: 0", "line 2 .winners.: nobody has won"),
        ("beyond(players=2)\nturn: over\nwinners: 2", "line 3 .winners.: '2' is not a seat"),
        ("beyond(players=2)\nend: soon", "line 2 .end.: 'soon' cannot be read"),
        ("beyond(players=2)\nend: not triggered, 2 depletions", "line 2 .end.: not triggered, though"),
        ("beyond(players=2)\nend: 101 depletions", "line 2 .end.: .*out of range"),
        ("beyond(players=2)\ndecisions: many", "line 2 .decisions.: 'many' cannot be read"),
        ("beyond(players=2)\ndecisions: 3000000000", "line 2 .decisions.: .*out of range"),
        ("beyond(players=2)\nstream: zz", "line 2 .stream.: 'zz' cannot be read"),
        ("beyond(players=2)\nseat 2: 2 tokens", "line 2 .seat 2.: beyond.players=2. has seats 0 to 1"),
        ("beyond(players=2)\npool: unicorn_1_yin", "line 2 .pool.: it must stand below"),
        ("beyond(players=2)\nseat 0: rich", "line 2 .seat 0.: 'rich' cannot be read"),
        ("beyond(players=2)\nseat 0: 22 tokens", "line 2 .seat 0.: '22 tokens' is out of range"),
        ("beyond(players=2)\nseat 0: 20 tokens", "line 2 .seat.*: the seats have 22 tokens; token_supply is 21"),
        ("beyond(players=2)\nseat 0: 2 tokens, 7 Nian Shou", "line 2 .seat 0.: .*out of range"),
        ("beyond(players=2)\nseat 0: 4 Nian Shou\nseat 1: 3 Nian Shou", "line 3 .seat 1.: the seats hold 7 Nian Shou; there are 6"),
        ("beyond(players=2)\nseat 0: 6 Nian Shou", "holds all 6 Nian Shou, but the game is not over"),
        ("beyond(players=2)\ncentre: 5 Nian Shou", "line 2 .centre.: 5 Nian Shou and 0 held"),
        ("beyond(players=2)\ncentre: 18 tokens", "line 2 .centre.: 18 tokens and 4 of the seats are not token_supply=21"),
        ("beyond(players=2)\ncentre: gold", "line 2 .centre.: 'gold' cannot be read"),
        ("beyond(players=2)\ndiscard: unicorn_5_yin", "line 2 .discard.: 'unicorn_5_yin' is not one of vermilion_bird_yin"),
        ("beyond(players=2)\ndiscard: 3 unicorn_1_yin", "line 2 .discard.: more than 2 cards of unicorn_1_yin"),
        ("beyond(players=2)\ndiscard: 0 unicorn_1_yin", "line 2 .discard.: .*no such number"),
        ("beyond(players=2)\ndiscard: unicorn_1_yin (1 protected)", "line 2 .discard.: .*cannot stand here"),
        ("beyond(players=2)\nseat 0: 2 tokens\npool: unicorn_1_yin (2 protected)", "line 3 .pool.: .*more protected than there are"),
        ("beyond(players=2)\nseat 0: 2 tokens\npool: unicorn_1_yin (1 protected)", "line 3 .pool.: .*needs protection=true"),
        ("beyond(players=2)\nseat 0: 2 tokens\nenchantments: unicorn (1 summoned)", "line 3 .enchantments.: .*needs summoning=true"),
        ("beyond(players=2)\nseat 0: 2 tokens\nenchantments: 5 unicorn", "line 3 .enchantments.: more than 4"),
        ("beyond(players=2)\nseat 0: 2 tokens\nenchantments: 4 unicorn\npool: unicorn_1_yin", "line 3 .enchantments.: not enough cards"),
        ("beyond(players=2)\nseat 0: 2 tokens\nenchanted: unicorn_1_yin", "line 3 .enchanted.: the cards enchanted are not those"),
        ("beyond(players=2)\nseat 0: 2 tokens\nslots: 5 turtle_snake_yin", "line 3 .slots.: 5 cards; capture_slots is 4"),
        ("beyond(players=2)\ndiscard: 2 unicorn_1_yin\ndeck: unicorn_1_yin, rest", "line 3 .deck.: 3 cards of unicorn_1_yin in all"),
        ("beyond(players=2)\ndeck: unicorn_1_yin", "line 2 .deck.: 1 cards in all, not 80: missing .*or write rest"),
        ("beyond(players=2)\ndeck: rest, unicorn_1_yin", "line 2 .deck.: rest is the last item"),
        ("beyond(players=2)\ndeck: rest\ndiscard: rest", "line 2 .deck.: rest stands already in line 3"),
        ("beyond(players=2)\ndeck: unicorn_1_yin, rest\nknown: unicorn_2_yin", "line 3 .known.: these are not the deck's top cards"),
        ("beyond(players=2)\nrevealed: unicorn_1_yin, unicorn_2_yin\nturn: reveal", "phase reveal has 1 to 4 cards of different spirits"),
        ("beyond(players=2)\nrevealed: 2 unicorn_1_yin, 2 unicorn_2_yin, 2 unicorn_3_yin", "more than 5 cards"),
        ("beyond(players=2)\nrevealed: unicorn_1_yin\nturn: act", "line 3 .turn.: no card lies revealed in phase act"),
        ("beyond(players=2)\nturn: reveal", "phase reveal has 1 to 4"),
        ("beyond(players=2)\nturn: place", "line 2 .turn.: cards are to be placed"),
        ("beyond(players=2)\nturn: choose", "line 2 .turn.: a spirit is being summoned"),
        ("beyond(players=2)\nturn: reclaim", "line 2 .turn.: phase reclaim needs a unicorn"),
        ("beyond(players=2)\nturn: rescue\nrevealed: unicorn_1_yin, turtle_snake_yin", "phase rescue has cards of different spirits"),
        ("beyond(players=2,rescue_limit=0)\nturn: rescue\nrevealed: 2 unicorn_1_yin", "phase rescue needs a token, a card and a rescue"),
        (f"beyond(players=2,summoning=true)\nturn: choose\nsummoning: metal_tiger\n{SUMMON}", "line 3 .summoning.: .*asks for no choice"),
        (f"beyond(players=2,summoning=true)\nturn: choose\nsummoning: turtle_snake\n{SUMMON}", "cards are looked at .line looked."),
        (f"beyond(players=2,summoning=true)\nturn: choose\nsummoning: vermilion_bird\n{SUMMON}", "the vermilion_bird needs a card"),
        (
            f"beyond(players=2,summoning=true)\nturn: choose\nsummoning: azure_dragon\ndeck: 2 turtle_snake_yin, rest\n"
            f"known: 2 turtle_snake_yin\nlooked: 2 turtle_snake_yin\n{SUMMON}",
            "seat 0 has no azure_dragon .summoned.",
        ),
        (
            f"beyond(players=2,summoning=true)\nturn: choose\nsummoning: turtle_snake\ndeck: 2 turtle_snake_yin, rest\n"
            f"known: 2 turtle_snake_yin\nlooked: 2 turtle_snake_yin\n{SUMMON}",
            "a turtle_snake looks at the top 4",
        ),
        (
            f"beyond(players=2,summoning=true)\nturn: choose\nsummoning: turtle_snake\ndeck: 2 turtle_snake_yin, rest\n"
            f"looked: 2 turtle_snake_yin\n{SUMMON}",
            "line 5 .looked.: cards looked at are known",
        ),
    ],
)  # fmt: skip
def test_errors(lines, message):
    """An error is one line that names the line of the text and what is wrong with it."""
    with pytest.raises(tabletop.SetupError) as error:
        parse(lines)
    assert re.search(message, str(error.value)), str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("given", [None, 7, b"beyond(players=2)", ["beyond(players=2)"]])
def test_no_text(given):
    with pytest.raises(tabletop.SetupError, match="given as text, not"):
        parse(given)


@pytest.mark.parametrize("line", range(1, 15))
def test_no_line_of_a_text_may_be_damaged_unseen(line):
    """A text of everything with a number or a name changed is refused, or is another position."""
    p = Position.of_text(EXAMPLE)
    written = text(p.records[0]).splitlines()
    if line >= len(written):
        pytest.fail(f"the text has only {len(written)} lines")
    bare = written[line].partition("#")[0]
    for found in re.finditer(r"\d+|unicorn|yin", bare):
        changed = str(int(found[0]) + 1) if found[0].isdigit() else {"unicorn": "turtle_snake", "yin": "yang"}[found[0]]
        damaged = "\n".join([*written[:line], bare[: found.start()] + changed + bare[found.end() :], *written[line + 1 :]])
        with contextlib.suppress(tabletop.SetupError):
            assert parse(damaged).tobytes() != p.records.tobytes(), damaged


def test_set_up_by_text():
    """`reset(options={"text": …})` begins from the position."""
    tables = tabletop.Tables("beyond", 2, 2, "protection=true,summoning=true", seed=1, max_decisions=50)
    tables.reset(options={"text": EXAMPLE})
    assert tables.records["pool"][1].tobytes() == Position.of_text(EXAMPLE).records["pool"][0].tobytes()
    assert (tables.records["limit"] == 50).all()
    assert GAME.actions.legal(tables.action_mask[0]) == [
        "protect:turtle_snake_yin", "protect:unicorn_2_yang", "summon:azure_dragon", "end",
    ]  # fmt: skip


def test_set_up_by_the_text_of_another_variant():
    """The position is one of another variant: nothing is changed."""
    tables = tabletop.Tables("beyond", 1, 2, seed=1)
    before = tables.records.tobytes()
    with pytest.raises(tabletop.SetupError, match=r"the position is one of beyond\(players=2,protection=true,summoning=true\)"):
        tables.reset(options={"text": EXAMPLE})
    with pytest.raises(tabletop.SetupError, match="no other option"):
        tables.reset(options={"text": EXAMPLE, "deck": []})
    assert tables.records.tobytes() == before


@pytest.mark.parametrize(
    ("deck", "message"),
    [
        (["unicorn_9_yin"], "no card is called 'unicorn_9_yin'"),
        (["unicorn_1_yin"] * 3, "3 cards of unicorn_1_yin; there are 2"),
        ("unicorn_1_yin", "must be a list"),
        (5, "must be a list"),
        ([None], "no card is called None"),
    ],
)
def test_errors_of_a_deck(deck, message):
    with pytest.raises(tabletop.SetupError, match=message):
        Position.of_deck(deck)


def test_a_deck_in_full():
    """A deck given in full is the deck; one given in part lies on top of the others, shuffled."""
    full = [kind for kind, n in Position.of_seed(0).kinds("deck_counts").items() for _ in range(n)]
    full += Position.of_seed(0).revealed
    p = Position.of_deck(full)
    assert p.revealed + p.deck == full
    a, b = Position.of_deck(["unicorn_1_yin"], seed=1), Position.of_deck(["unicorn_1_yin"], seed=2)
    assert a.deck != b.deck and sorted(a.deck) == sorted(b.deck)
