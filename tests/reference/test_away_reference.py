"""The reference implementation by itself: what must hold whatever is played."""

import random

import pytest

from .away_reference import (
    Away,
    TableCard,
    all_deck_cards,
    all_solar_cards,
    to_own,
    to_table,
)


def new_game(players, rng, max_rounds=100):
    solar = all_solar_cards()
    rng.shuffle(solar)
    deck = all_deck_cards()
    rng.shuffle(deck)

    def shuffle(cards):
        return rng.sample(cards, len(cards))

    turned = [(design, rng.randrange(4)) for design in solar]
    return Away(players, turned, deck, shuffle, max_rounds)


def check_conservation(game):
    public = game.public()

    on_table = [card for card in public["cards"].values() if card[0] == "exploration"]
    cards = game.deck + public["pile"] + sum(public["hands"], [])
    cards += [f"{design}.{faction}" for _, design, faction, _ in on_table]
    cards += [game.laying] if game.laying else []
    assert sorted(cards) == sorted(all_deck_cards())
    assert public["deck_size"] == len(game.deck)

    solar = [card[1] for card in public["cards"].values() if card[0] == "solar"]
    assert sorted(solar + public["solar_out"]) == sorted(all_solar_cards())

    bases = public["bases"]
    assert sorted(bases) == (["E", "W"] if game.players == 2 else list("ENSW"))
    assert len(set(bases.values())) == len(bases)
    cells = list(public["cards"]) + list(bases.values())
    assert len(set(cells)) == len(cells)
    assert all(0 <= row < 9 and 0 <= column < 9 for row, column in cells)

    assert len(public["ships"]) == game.players
    away = [ship for ship in public["ships"] if ship != "home"]
    assert len(set(away)) == len(away)
    for ship in away:
        assert ship[1] in bases.values() if ship[0] == "base" else ship[0] in cells
    home = [seat for seat, ship in enumerate(public["ships"]) if ship == "home"]
    assert sorted(public["arrived"]) == home


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("seed", range(3))
def test_random_game(players, seed):
    rng = random.Random(f"{players} {seed}")
    max_rounds = 40
    game = new_game(players, rng, max_rounds)
    turn = (0, 0)
    while not game.over:
        check_conservation(game)
        if (game.round, game.seat) != turn:
            turn = (game.round, game.seat)
            assert all(len(hand) == 5 for hand in game.hands)
        names = game.legal()
        assert names and names == sorted(set(names))
        with pytest.raises(ValueError):
            game.step("no such action")
        # Moving more often than at random, so that some ships get home.
        game.step("move" if "move" in names else rng.choice(names))
    check_conservation(game)
    assert game.seat == -1 and game.legal() == []
    with pytest.raises(ValueError):
        game.step("pass")
    if game.cut_off:
        assert game.round == max_rounds and not game.arrived and game.winners == []
    else:
        assert game.winners == [game.arrived[-1]]


def arranged(cards, hand, ships=None, pile=(), bases=None, players=2):
    """A game at the start of seat 0's turn, with this table and this hand."""
    game = new_game(players, random.Random(0))
    game.cards = {
        cell: TableCard("exploration", *card.split("."), orientation)
        for cell, (card, orientation) in cards.items()
    }
    game.hands[0] = list(hand)
    game.ships = list(ships or game.ships)
    game.bases.update(bases or {})
    game.pile = list(pile)
    game._decisions = game._game()
    game._go_on(None)
    return game


def play(game, *names):
    for name in names:
        assert name in game.legal(), (name, game.legal())
        game.step(name)


def test_frames():
    for seat, own in enumerate([(2, 3), (6, 5), (5, 2), (3, 6)]):
        assert to_own(seat, (2, 3)) == own
        assert to_table(seat, own) == (2, 3)


def test_home_over_lanes_and_held_stations():
    line = {(4, column): ("passage.green", 0) for column in range(1, 8)}
    assert "move" in arranged(line, []).legal()
    game = arranged(line, [])
    play(game, "move", "cell:4,8", "pass")
    assert game.arrived == [0] and game.seat == 1
    line[(4, 3)] = ("lane.blue", 0)
    game = arranged(line, [], ships=["start", ((4, 3), 1)])
    play(game, "move", "cell:4,8")
    game = arranged(line, [])
    play(game, "move", "cell:4,3", "move", "cell:4,8")
    line[(4, 3)] = ("oneway.blue", 2)
    assert "move" not in arranged(line, []).legal()
    assert game.public()["ships"][0] == "home"


def test_warp_over_a_held_vortex():
    cards = {
        (1, 1): ("vortex.blue", 0),
        (7, 6): ("vortex.pink", 0),
        (7, 7): ("bend.blue", 0),
    }
    game = arranged(cards, [], ships=[((1, 1), 1), "start"])
    play(game, "move", "cell:7,6", "move")
    assert game.legal() == ["cell:1,1", "cell:7,7"]
    game = arranged(cards, [], ships=[((1, 1), 1), ((7, 6), 1)])
    play(game, "move")
    assert game.legal() == ["cell:7,7"]
    game = arranged(cards, [], ships=[((7, 7), 1), ((7, 6), 1)])
    assert "move" not in game.legal()  # a held vortex is passed by lanes only


def test_black_hole():
    cards = {
        (2, 5): ("lane.blue", 0),
        (2, 1): ("bend.pink", 1),
        (1, 1): ("fork.pink", 3),
        (6, 6): ("oneway.pink", 2),
    }
    ships = ["start", ((6, 6), 1)]
    game = arranged(cards, ["black_hole.green"], ships)
    play(game, "play:black_hole.green")
    assert game.legal() == ["col:1", "col:5", "row:1", "row:2"]
    play(game, "row:2")
    assert game.pile == ["black_hole.green", "bend.pink", "lane.blue"]
    public = game.public()
    assert sorted(public["cards"]) == [(1, 1), (5, 6)]
    assert public["ships"] == [("base", (3, 0)), ((5, 6), 1)]
    assert public["bases"] == {"W": (3, 0), "E": (3, 8)}
    assert game.legal() == ["done"]


def test_scrapyard():
    cards = {(4, 4): ("lane.blue", 0)}
    game = arranged(cards, ["scrapyard.pink"], pile=["bend.blue", "fork.green"])
    play(game, "play:scrapyard.pink")
    assert game.pile == ["bend.blue", "scrapyard.pink"]
    assert game.faction == "green" and game.laying == "fork.green"
    play(game, "cell:3,4", "turn:2", "done")
    assert game.public()["cards"][(3, 4)] == ("exploration", "fork", "green", 2)

    game = arranged(cards, ["scrapyard.pink"], pile=["scrapyard.orange"])
    play(game, "play:scrapyard.pink")
    assert game.pile == ["scrapyard.pink", "scrapyard.orange"]
    assert game.faction == "orange" and game.legal() == ["done"]

    assert "play:scrapyard.pink" not in arranged(cards, ["scrapyard.pink"]).legal()


def test_unknown_fate():
    cards = {(4, 4): ("lane.blue", 0)}
    pile = ["bend.blue", "fork.green"]
    game = arranged(cards, ["unknown_fate.green"], pile=pile)
    game.deck = []
    game.shuffle = lambda lower: lower[::-1]
    play(game, "play:unknown_fate.green")
    assert game.pile == ["unknown_fate.green"] and game.deck == ["bend.blue"]
    assert game.laying == "fork.green"

    # The scrapyard takes the unknown_fate that brought it, which draws once more.
    game = arranged(cards, ["unknown_fate.green"])
    game.deck = ["scrapyard.pink", "lane.pink"]
    play(game, "play:unknown_fate.green")
    assert game.pile == ["scrapyard.pink", "unknown_fate.green"]
    assert game.faction == "pink" and game.laying == "lane.pink"


def test_at_most_three_discards():
    hand = ["lane.pink", "lane.blue", "lane.green", "lane.orange", "bend.pink"]
    game = arranged({(4, 4): ("fork.blue", 0)}, hand)
    assert "done" not in game.legal()
    for card in hand[:3]:
        play(game, f"discard:{card}")
        assert "done" in game.legal()
    assert game.legal() == ["done"]
    play(game, "done")
    assert game.legal() == ["pass"] and game.pile == hand[:3]
