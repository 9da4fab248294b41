"""The contract holds for every registered game, and finds the faults that are planted into a toy game."""

from __future__ import annotations

import re

import planted
import pytest

import tabletop
from tabletop.contract import ContractError, cases, check, variants

CASES = list(cases())


@pytest.mark.parametrize(("game", "rules", "players"), CASES, ids=[f"{g}({p},{r})" for g, r, p in CASES])
def test_every_registered_game_keeps_the_contract(game: str, rules: str, players: int) -> None:
    check(game, rules, players, games=2)


@pytest.mark.parametrize("game", tabletop.games())
def test_many_games_of_the_rules_as_they_are(game: str) -> None:
    check(game, games=12, seed=5)


def test_variants_are_the_defaults_and_each_option_alone() -> None:
    assert variants(planted.toy.game) == ("", "low_wins=true", "groups=true", "reshuffle=true", "rounds=1", "rounds=6")


@pytest.fixture(scope="module")
def sound() -> tabletop.Game:
    return planted.uncompiled("sound", lambda game: None)


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("rules", ["", "groups=true,reshuffle=true", "rounds=6", "low_wins=true,rounds=1"])
def test_the_toy_game_keeps_the_contract(sound: tabletop.Game, rules: str, players: int) -> None:
    check(sound, rules, players, games=5)


@pytest.mark.parametrize("name", planted.GAME_FAULTS)
def test_a_fault_of_the_game_is_found(name: str) -> None:
    plant, message = planted.GAME_FAULTS[name]
    find(name, plant, message)


@pytest.mark.parametrize("name", planted.KIT_FAULTS)
def test_a_fault_of_the_kit_is_found(name: str) -> None:
    plant, message = planted.KIT_FAULTS[name]
    find(name, plant, message)


def find(name: str, plant: object, message: str) -> None:
    game = planted.uncompiled(name, plant)  # type: ignore[arg-type]
    with pytest.raises(ContractError, match=rf"^toy_{name}: toy\(players=2,reshuffle=true\), seed 3") as caught:
        check(game, "reshuffle=true", games=6, seed=3)
    assert re.search(message, str(caught.value)), str(caught.value)


def test_a_declared_length_that_games_exceed_is_found() -> None:
    game = planted.uncompiled("short", lambda game: None, bound=1)
    with pytest.raises(ContractError, match="as it declares"):
        check(game, games=6)


def test_unknown_games_and_rules_are_errors_of_their_own() -> None:
    with pytest.raises(tabletop.UnknownGame):
        check("no such game")
    with pytest.raises(tabletop.RulesError):
        check(planted.toy.game, "no_such_option=1")
