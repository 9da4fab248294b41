"""Dealing again what nobody knows: uniform over what is possible, with all that is known kept."""

from __future__ import annotations

import random
from collections import Counter
from itertools import permutations

import numpy as np
import pytest

import tabletop
from beyond_env import kernel
from beyond_env.cards import KINDS
from tests.beyond.differential import random_variant
from tests.beyond.helpers import GAME, Position

MANY = 6_000


def orders(records: np.ndarray) -> Counter[tuple[str, ...]]:
    """How often each order of the deck, from the top, occurs."""
    size = int(records["deck_size"][0])
    return Counter(tuple(KINDS[kind] for kind in deck[:size][::-1]) for deck in records["deck"])


def dealt_again(p: Position, seat: int = 0, seed: int = 0, many: int = MANY) -> np.ndarray:
    tables = tabletop.Tables(GAME, 1, p["players"])
    return tables.determinize(np.repeat(p.records, many), np.full(many, seat), seed)


def exact(deck: list[str], known: int) -> dict[tuple[str, ...], float]:
    """The chance of each order: those of all arrangements of the hidden cards that agree with the known cards or the top symbol."""
    symbol = deck[0].rpartition("_")[2]
    possible: Counter[tuple[str, ...]] = Counter()
    for hidden in permutations(deck[known:]):
        order = (*deck[:known], *hidden)
        if order[0].endswith(f"_{symbol}"):
            possible[order] += 1
    return {order: n / possible.total() for order, n in possible.items()}


def far_off(counts: Counter, chances: dict) -> float:
    """How far the counts are from the chances: chi-square in standard deviations above its mean. Beyond 5 it is no chance."""
    assert set(counts) <= set(chances), f"impossible: {set(counts) - set(chances)}"
    total = counts.total()
    chi_square = sum((counts[what] - total * chance) ** 2 / (total * chance) for what, chance in chances.items())
    freedom = max(len(chances) - 1, 1)
    return (chi_square - freedom) / np.sqrt(2 * freedom)


HEAD = "beyond(players=2,summoning=true)\ndeck: {deck}\n{more}\nseat 0: 5 tokens\n pool: rest\n enchantments: turtle_snake, azure_dragon\n"


@pytest.mark.parametrize(
    "deck",
    [
        "unicorn_1_yin, unicorn_1_yin, turtle_snake_yin, unicorn_2_yang, vermilion_bird_yang",  # two of a kind
        "unicorn_2_yang, unicorn_1_yin, turtle_snake_yin, vermilion_bird_yin, metal_tiger_head_yin",  # one card of the top symbol
        "unicorn_1_yin, unicorn_2_yin, turtle_snake_yin, vermilion_bird_yin",  # no other symbol
        "3 unicorn_4_yang, 2 unicorn_4_yin".replace("3 unicorn_4_yang", "2 unicorn_4_yang, unicorn_3_yang"),
        "unicorn_1_yin",
        "unicorn_1_yin, unicorn_1_yang",
    ],
)
@pytest.mark.parametrize("seat", [0, 1])
def test_frequencies_given_the_top_symbol(deck, seat):
    """Without a known card: the top card is any card of the top's symbol, each as likely, the others in any order."""
    p = Position.of_text(HEAD.format(deck=deck, more=""))
    assert far_off(orders(dealt_again(p, seat)), exact(p.deck, 0)) < 5


def test_frequencies_given_the_top_card():
    """After a dragon's summon the top card is fixed, the others lie in any order."""
    p = Position.of_text(
        HEAD.format(deck="unicorn_1_yin, unicorn_2_yang, turtle_snake_yin, turtle_snake_yin, vermilion_bird_yang", more="")
    )
    p.do("summon:azure_dragon", "choose:unicorn_1_yin")
    counts = orders(dealt_again(p))
    assert {order[0] for order in counts} == {"unicorn_2_yang"}
    assert far_off(counts, exact(p.deck, 1)) < 5


@pytest.mark.parametrize(("spirit", "looked"), [("turtle_snake", 4), ("azure_dragon", 2)])
def test_frequencies_during_a_look(spirit, looked):
    """During a look the cards looked at stay on top, as they lie."""
    deck = "unicorn_1_yin, unicorn_2_yang, turtle_snake_yin, unicorn_3_yin, vermilion_bird_yang, vermilion_bird_yin, unicorn_4_yin"
    p = Position.of_text(HEAD.format(deck=deck, more="")).do(f"summon:{spirit}")
    counts = orders(dealt_again(p))
    assert {order[:looked] for order in counts} == {tuple(p.deck[:looked])}
    assert far_off(counts, exact(p.deck, looked)) < 5


def test_after_a_turtle_all_is_hidden_but_the_top_symbol():
    p = Position.of_text(HEAD.format(deck="unicorn_1_yin, unicorn_2_yang, turtle_snake_yin, vermilion_bird_yang, unicorn_3_yin", more=""))
    p.do("summon:turtle_snake", "choose:unicorn_2_yang")
    assert far_off(orders(dealt_again(p)), exact(p.deck, 0)) < 5


def test_frequencies_of_a_whole_deck():
    """The top card of a full deck is each kind of its symbol as often as there are cards of it; so is the second, of all kinds."""
    p = Position.of_seed(5)
    symbol = p.deck[0].rpartition("_")[2]
    again = dealt_again(p, many=20_000)
    places = {place: Counter(KINDS[kind] for kind in again["deck"][:, p["deck_size"] - 1 - place]) for place in (0, 1, 40, 78)}
    left = p.kinds("deck_counts")
    of_symbol = {kind: n for kind, n in left.items() if kind.endswith(f"_{symbol}")}
    total, total_of_symbol = sum(left.values()), sum(of_symbol.values())
    assert far_off(places[0], {kind: n / total_of_symbol for kind, n in of_symbol.items()}) < 5
    below = {kind: (n - (of_symbol.get(kind, 0) / total_of_symbol)) / (total - 1) for kind, n in left.items()}
    for place in (1, 40, 78):
        assert far_off(places[place], below) < 5


@pytest.mark.parametrize("deck", ["none", "unicorn_1_yin"])
def test_little_to_hide(deck):
    """An empty deck and a single card stay as they are."""
    p = Position.of_text(HEAD.format(deck=deck, more="discard: 2 vermilion_bird_yin"))
    q = p.copy()
    kernel.determinize(q.records, 0, 0)
    assert q.records["deck"].tobytes() == p.records["deck"].tobytes()


def positions(seed: int, many: int):
    """Positions of random games of random variants, half-made decisions among them."""
    rng = random.Random(seed)
    for game in range(many):
        players, options = random_variant(rng)
        options |= {"summoning": True, "start_tokens": 4, "token_supply": 40}
        p = Position(GAME.new_record(GAME.variant(GAME.rules(**options), players), game))
        for _ in range(rng.randint(0, 200)):
            if not (legal := p.legal):
                break
            p.do(rng.choices(legal, [20 if name.startswith(("enchant", "summon")) else 1 for name in legal])[0])
            if p.phase in ("choose", "reclaim") and rng.random() < 0.2:
                break
        yield p


@pytest.mark.parametrize("block", range(3))
def test_all_that_is_known_is_kept(block):
    """What every seat sees, the legal actions and each field but the order of hidden cards are the same after dealing again."""
    changed = 0
    for p in positions(block, 60):
        tables = tabletop.Tables(GAME, 1, p["players"])
        before = p.records.tobytes()
        again = tables.determinize(p.records, [block % p["players"]], seed=7)
        assert p.records.tobytes() == before, "the game itself was touched, or its generator"
        q = Position(again)
        assert (q.legal, q.known, q.looked) == (p.legal, p.known, p.looked)
        for seat in range(p["players"]):
            assert q.seen(seat) == p.seen(seat)
            assert GAME.text(again[0], seat) == GAME.text(p.records[0], seat)
        for name in GAME.dtype.names:
            assert name in ("deck", "stream") or again[name].tobytes() == p.records[name].tobytes(), name
        assert Counter(q.deck) == Counter(p.deck)
        assert again["stream"].tobytes() != p.records["stream"].tobytes(), "the true stream is hidden"
        changed += q.deck != p.deck
    assert changed > 40


def test_nothing_of_the_true_order_is_left():
    """Two positions that differ only in what nobody knows are dealt again alike."""
    p = Position.of_seed(3)
    q = p.copy()
    deck = q.records["deck"][0]
    deck[: p["deck_size"] - 1] = deck[: p["deck_size"] - 1][::-1]
    q.records["stream"] += np.uint64(99)
    ours, theirs = dealt_again(p, many=4_000), dealt_again(q, many=4_000)
    place = p["deck_size"] - 2
    counts = [np.bincount(r["deck"][:, place], minlength=20) for r in (ours, theirs)]
    pooled = (counts[0] + counts[1]) / 2
    difference = sum(((c - pooled) ** 2 / np.maximum(pooled, 1)).sum() for c in counts)
    assert difference < 19 + 5 * np.sqrt(38)


def test_the_kernel_draws_from_the_rows_own_stream_only():
    """The kernel changes nothing but the deck and the stream of its row, and numpy's global generator not at all."""
    records = np.concatenate([Position.of_seed(1).records, Position.of_seed(2).records])
    before = records.copy()
    np.random.seed(5)  # noqa: NPY002
    state = np.random.get_state()[1].tobytes()  # noqa: NPY002
    kernel.determinize(records, 0, 1)
    assert np.random.get_state()[1].tobytes() == state  # noqa: NPY002
    assert records[1].tobytes() == before[1].tobytes()
    assert records["deck"][0].tobytes() != before["deck"][0].tobytes()
