"""Random games of the reference: nothing is lost, nothing is doubled, and games end."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from .beyond_reference import DEFAULTS, KINDS, NIAN_SHOU, PATTERN, SPIRIT_OF, Beyond, full_deck

CAP = 20_000
SWITCHES = ["protection", "summoning", "end_distinct", "end_on_nothing", "score_laid_tokens"]
# How often random play picks an action, against 1 for all others, so that games get far.
WEIGHT = {"enchant": 20.0, "summon": 8.0, "end": 0.5, "stop": 0.5, "protect": 0.5}


def random_options(rng: random.Random) -> dict[str, object]:
    options: dict[str, object] = {name: rng.random() < 0.5 for name in SWITCHES}
    options["rescue_limit"] = rng.choice([None, 0, 1, 2, 3, 4])
    if rng.random() < 0.5:
        options["start_tokens"] = rng.randint(0, 5)
        options["token_supply"] = rng.randint(20, 30)
        options["capture_slots"] = rng.randint(0, 8)
        options["end_enchantments"] = rng.randint(1, 6)
        options["end_depletions"] = rng.randint(1, 4)
    return options


def random_game(rng: random.Random, players: int, options: dict[str, object]) -> Beyond:
    def shuffled(cards: list[str]) -> list[str]:
        return rng.sample(cards, len(cards))

    return Beyond(players, options, shuffled(full_deck()), shuffled)


def random_action(rng: random.Random, game: Beyond) -> str:
    names = game.legal()
    return rng.choices(names, [WEIGHT.get(name.split(":")[0], 1.0) for name in names])[0]


def check(game: Beyond) -> None:
    public = game.public()
    cards = Counter(game.deck) + Counter(public["discard"])
    cards += Counter(public["revealed"]) + Counter(public["collected"])
    for zone in ("pool", "slots", "enchanted"):
        for counts in public[zone]:
            cards += Counter(counts)
    assert cards == Counter(full_deck())
    assert public["centre_nian"] + sum(public["nian"]) == NIAN_SHOU
    tokens = public["supply"] + sum(public["tokens"])
    for zone in ("protected", "summoned"):
        tokens += sum(sum(counts.values()) for counts in public[zone])
    assert tokens == game.options["token_supply"]
    assert min(public["tokens"] + public["nian"] + [public["supply"], public["centre_nian"]]) >= 0

    for seat in range(game.players):
        assert Counter(public["protected"][seat]) <= Counter(public["pool"][seat])
        assert Counter(public["summoned"][seat]) <= Counter(public["enchantments"][seat])
        assert sum(public["slots"][seat].values()) <= game._number("capture_slots")
        parts: Counter[str] = Counter()
        for kind, number in public["enchanted"][seat].items():
            parts[kind.rsplit("_", 1)[0]] += number
        expected: Counter[str] = Counter()
        for spirit, number in public["enchantments"][seat].items():
            for part, needed in PATTERN[spirit].items():
                expected[part] += needed * number
        assert parts == expected

    phase = public["phase"]
    assert game.over == (phase == "over") == (game.seat == -1) == (game.legal() == [])
    assert game.over == bool(game.winners)
    assert game.over or game.seat == public["turn_seat"]
    assert bool(public["collected"]) == (phase == "place")
    assert phase in ("reveal", "rescue", "over") or not public["revealed"]
    assert phase == "choose" or not public["looked"]
    assert (public["top_symbol"] is None) == (public["deck_size"] == 0)
    if public["known_top"] is not None:
        assert public["known_top"] == game.deck[0]
    if phase == "reveal":
        assert public["deck_size"] > 0
        assert len({SPIRIT_OF[card] for card in public["revealed"]}) == len(public["revealed"]) < 5
    if phase == "act":
        assert "end" in game.legal()


def play(rng: random.Random, players: int, options: dict[str, object]) -> Beyond:
    game = random_game(rng, players, options)
    check(game)
    decisions = 0
    while not game.over and decisions < CAP:
        game.step(random_action(rng, game))
        check(game)
        decisions += 1
    assert game.over or not game.options["end_on_nothing"]
    if game.over and NIAN_SHOU not in game.public()["nian"]:
        assert game.triggered
        assert game.turn_seat == players - 1
        best = max(game.scores())
        assert all(game.scores()[seat] == best for seat in game.winners)
    return game


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("players", [2, 3, 4])
def test_random_games(players: int, seed: int) -> None:
    rng = random.Random(100 * players + seed)
    # Without the end on nothing a game may run for ever: a few such games are enough here.
    options = random_options(rng) | {"end_on_nothing": seed % 5 != 0}
    play(rng, players, options if seed else {})


def test_only_legal_actions_and_known_options() -> None:
    game = random_game(random.Random(0), 2, {})
    assert game.legal() == ["reveal", "stop"]
    with pytest.raises(ValueError):
        game.step("end")
    with pytest.raises(ValueError):
        random_game(random.Random(0), 2, {"protect": True})
    with pytest.raises(ValueError):
        random_game(random.Random(0), 5, {})
    assert len(KINDS) == 20 and len(full_deck()) == 80 and len(DEFAULTS) == 16


# ---------------------------------------------------------------- single rules, by hand


def set_game(top: list[str], players: int = 2, **options: object) -> Beyond:
    """A game whose deck begins with these cards; shuffles leave the order as it is."""
    rest = Counter(full_deck()) - Counter(top)
    return Beyond(players, options, top + list(rest.elements()), lambda cards: cards)


def to_act(game: Beyond) -> None:
    while game.phase != "act":
        game.step({"reveal": "stop", "rescue": "pass", "place": "place:spirit"}[game.phase])


def test_bust_with_the_first_two_cards() -> None:
    game = set_game(["unicorn_1_yin", "unicorn_2_yang", "turtle_snake_yin"])
    game.step("reveal")
    assert game.legal() == ["pass", "rescue:unicorn"]
    assert (game.public()["nian"], game.public()["top_symbol"]) == ([1, 0], "yin")
    game.step("rescue:unicorn")
    assert game.public()["collected"] == ["unicorn_1_yin", "unicorn_2_yang"]
    assert (game.public()["tokens"], game.public()["supply"]) == ([1, 2], 18)


def test_rescued_cards_are_placed_in_the_order_revealed() -> None:
    top = ["unicorn_1_yin", "turtle_snake_yin", "vermilion_bird_yang", "turtle_snake_yin"]
    game = set_game(top, rescue_limit=2, start_tokens=3)
    for name in ["reveal", "reveal", "reveal", "rescue:vermilion_bird"]:
        game.step(name)
    assert game.public()["revealed"] == top
    assert game.public()["rescued"] == ["vermilion_bird_yang"]
    game.step("rescue:unicorn")
    assert game.public()["collected"] == ["unicorn_1_yin", "vermilion_bird_yang", "turtle_snake_yin"]
    assert game.public()["discard"] == {"turtle_snake_yin": 1}
    assert game.public()["nian"] == [0, 0]


def test_capture_of_a_protected_card() -> None:
    game = set_game(["unicorn_1_yin"], protection=True)
    to_act(game)
    game.step("protect:unicorn_1_yin")
    game.step("end")
    to_act(game)
    me, owner = game.player[1], game.player[0]
    for kind in ("vermilion_bird_yang", "turtle_snake_yang"):  # as if placed before
        game.deck.remove(kind)
        me.slots[kind] += 1
    assert "capture:1:unicorn_1_yin" not in game.legal()
    game.deck.remove("turtle_snake_yin")
    me.slots["turtle_snake_yin"] += 1
    game.step("capture:1:unicorn_1_yin")
    assert game.public()["slots"][1] == {"turtle_snake_yang": 1}
    assert (owner.tokens, game.supply) == (2, 17)
    assert game.public()["protected"] == [{}, {}]
    check(game)


def test_copies_enchanted() -> None:
    game = set_game([], protection=True)
    to_act(game)
    me = game.player[0]
    me.pool.clear()
    me.pool.update({"turtle_snake_yin": 2, "turtle_snake_yang": 4})
    me.protected["turtle_snake_yang"] = 2
    me.tokens = 0
    game.step("enchant:turtle_snake")  # two unprotected yang, then both yin
    assert me.pool == {"turtle_snake_yin": 0, "turtle_snake_yang": 2}
    game.deck.append("vermilion_bird_yin")
    me.pool.update({"turtle_snake_yin": 2})
    game.step("enchant:turtle_snake")
    assert me.enchanted == {"turtle_snake_yin": 4, "turtle_snake_yang": 4}
    assert (game.supply, me.protected.total()) == (19, 0)


def test_dragon_puts_the_other_card_back_on_top() -> None:
    game = set_game(["unicorn_1_yin", "unicorn_2_yin", "unicorn_3_yang"], summoning=True)
    to_act(game)
    game.player[0].enchantments["azure_dragon"] = 1
    game.step("summon:azure_dragon")
    assert game.legal() == ["choose:unicorn_2_yin", "choose:unicorn_3_yang"]
    game.step("choose:unicorn_3_yang")
    assert (game.public()["known_top"], game.public()["top_symbol"]) == ("unicorn_2_yin", "yin")
    assert "summon:azure_dragon" not in game.legal()
    game.step("end")
    assert game.public()["revealed"] == ["unicorn_2_yin"]
    assert game.public()["known_top"] is None


def test_the_last_card_depletes_at_once() -> None:
    game = set_game(["unicorn_1_yin", "unicorn_2_yin"], end_depletions=1)
    game.discard, game.deck = game.deck[1:], game.deck[:1]
    game.step("reveal")
    assert (game.depletions, game.triggered) == (1, True)
    assert len(game.deck) == 78  # refilled before the bust
    game.step("pass")
    assert game.public()["discard"] == {"unicorn_1_yin": 1}
    to_act(game)
    game.step("end")
    assert not game.over
    to_act(game)
    game.step("end")
    assert game.over


def test_a_turn_with_nothing_to_reveal() -> None:
    for ends in (True, False):
        game = set_game([], end_on_nothing=ends)
        to_act(game)
        game.player[0].enchanted.update(game.deck)  # out of the way
        game.deck = []
        game.step("end")
        assert (game.phase, game.turn_seat, game.triggered) == ("act", 1, ends)
        assert game.public()["top_symbol"] is None
        game.step("end")
        assert game.over == ends


def test_the_sixth_nian_shou_wins_alone() -> None:
    game = set_game(["unicorn_1_yin", "unicorn_2_yang"])
    game.player[0].nian, game.centre_nian = 5, 1
    game.step("reveal")
    assert (game.over, game.winners, game.seat, game.legal()) == (True, [0], -1, [])
    assert game.public()["revealed"] == ["unicorn_1_yin", "unicorn_2_yang"]
    assert game.public()["pool"] == [{}, {}]


def test_points_and_ties() -> None:
    game = set_game([], score_laid_tokens=True)
    game.deck = []
    first, second = game.player
    first.enchantments["unicorn"] = 1  # 12 points, 4 cards
    first.summoned["unicorn"] = 1
    second.pool["turtle_snake_yin"] = 11
    second.protected["turtle_snake_yin"] = 1
    assert game.scores() == [14, 14]
    assert game._best() == [0]
