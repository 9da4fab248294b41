"""Faults planted into the toy game and into the kit around it: the contract has to find every one of them.

The game is played uncompiled here, so that a function can be replaced by a faulty one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
import toy

from tabletop import compiled
from tabletop.registry import Game

MODULES = ("kernel", "observation", "state", "text")


def uncompiled(name: str, plant: Callable[[Any], None], bound: int = 2) -> Game:
    """A toy game in modules of its own, uncompiled, with what `plant` changes in them (`game.loops` are the kit's loops)."""
    package = f"toy_{name}"
    spec = spec_from_file_location(package, toy.__file__)
    assert spec is not None
    sys.modules[package] = module_from_spec(spec)
    sys.modules[package].__dict__.update(vars(toy))
    before = compiled.config.DISABLE_JIT
    compiled.config.DISABLE_JIT = True
    try:
        for module in MODULES:
            path = Path(toy.__file__).with_name(f"{module}.py")
            spec = spec_from_file_location(f"{package}.{module}", path)
            assert spec is not None and spec.loader is not None
            sys.modules[spec.name] = module_from_spec(spec)
            spec.loader.exec_module(sys.modules[spec.name])
        game = toy.make(package, package, bound)
        sys.modules[package].__dict__["game"] = game
        _ = game.loops
    finally:
        compiled.config.DISABLE_JIT = before
    plant(game)
    for name_of_loop, module, function in (
        ("deal", "kernel", "deal"), ("legal", "kernel", "legal"), ("apply", "kernel", "apply"),
        ("determinize", "kernel", "determinize"), ("observe", "observation", "observe"),
    ):  # fmt: skip
        setattr(game.loops, name_of_loop, getattr(game.module(module), function))
    return game


def after(module: str, function: str, change: Callable[..., None]) -> Callable[[Game], None]:
    """`change` is called after the function, with its arguments."""

    def plant(game: Game) -> None:
        whole = game.module(module)
        right = getattr(whole, function)

        def wrong(*arguments: Any) -> Any:
            result = right(*arguments)
            change(*arguments)
            return result

        setattr(whole, function, wrong)

    return plant


def instead(module: str, function: str, make: Callable[[Any], Callable[..., Any]]) -> Callable[[Game], None]:
    """make(right function) takes the place of the function."""

    def plant(game: Game) -> None:
        whole = game.module(module)
        setattr(whole, function, make(getattr(whole, function)))

    return plant


def in_loops(function: str, make: Callable[[Any], Callable[..., Any]]) -> Callable[[Game], None]:
    """make(right function) takes the place of a function of the kit's step."""

    def plant(game: Game) -> None:
        setattr(game.loops, function, make(getattr(game.loops, function)))

    return plant


def _forgets_to_deal(name: str) -> Callable[[Any], Any]:
    """A deal that leaves a field as it was."""

    def make(right: Any) -> Any:
        def deal(records: Any, i: int) -> None:
            kept = records[name][i].copy()
            right(records, i)
            records[name][i] = kept

        return deal

    return make


def _count(game: list[int]) -> Callable[..., None]:
    """Something that the record does not hold makes a difference: every 7th action goes to another seat."""

    def change(records: Any, i: int, action: int) -> None:
        game[0] += 1
        if game[0] % 7 == 0 and records["over"][i] == 0:
            records["round"][i] += 1

    return change


def _leak(field: str, entry: int) -> Callable[..., None]:
    def change(records: Any, i: int, seat: int, out: Any) -> None:
        out[22] = records[field][i].ravel()[entry] > 6

    return change


def _set(field: str, value: Any, when: Callable[[Any], bool] = lambda s: True) -> Callable[..., None]:
    def change(records: Any, i: int, *_: Any) -> None:
        if when(records[i]):
            records[field][i] = value

    return change


def _mask_entry(entry: int, value: int, when: Callable[[Any], bool]) -> Callable[..., None]:
    def change(records: Any, i: int, mask: Any) -> None:
        if when(records[i]):
            mask[entry] = value

    return change


def _unwritten_mask(right: Any) -> Any:
    def legal(records: Any, i: int, mask: Any) -> None:
        kept = mask[3]
        right(records, i, mask)
        if not records["drawn"][i]:
            mask[3] = kept

    return legal


def _unwritten_observation(right: Any) -> Any:
    def observe(records: Any, i: int, seat: int, out: Any) -> None:
        kept = out[9]
        right(records, i, seat, out)
        out[9] = kept

    return observe


def _numpys_generator(records: Any, i: int) -> None:
    deck = records["deck"][i]
    np.random.shuffle(deck[: records["deck_size"][i]])  # noqa: NPY002  the fault


def _swap_own_card(records: Any, i: int, seat: int) -> None:
    deck, hand = records["deck"][i], records["hand"][i]
    if records["deck_size"][i]:
        deck[0], hand[seat, 0] = hand[seat, 0], int(deck[0])


def _lose_a_card(records: Any, i: int, seat: int) -> None:
    if records["deck_size"][i] > 1:
        records["deck"][i][0] = records["deck"][i][1]


def _nothing(right: Any) -> Any:
    return lambda *arguments: None


def _only_deck(right: Any) -> Any:
    def determinize(records: Any, i: int, seat: int) -> None:
        deck = records["deck"][i]
        deck[: records["deck_size"][i]] = deck[: records["deck_size"][i]][::-1].copy()

    return determinize


def _text_of_all(right: Any) -> Any:
    return lambda record, seat=None: right(record, seat) + ("" if seat is None else f"\ntop: {record['deck'].max()} {record['deck'][0]}")


def _parse_forgets(right: Any) -> Any:
    def parse(text: str) -> Any:
        records = right(text)
        records["stream"][0, 1] = 0
        return records

    return parse


def _pay_winners_only(right: Any) -> Any:
    def pay(records: Any, i: int, rewards: Any) -> None:
        right(records, i, rewards)
        rewards[rewards < 0] = 0

    return pay


def _rewards_stay(right: Any) -> Any:
    def show_row(records: Any, i: int, viewer: int, observation: Any, seat: Any, terminated: Any, truncated: Any) -> None:
        right(records, i, viewer, observation, seat, terminated, truncated)
        terminated[i] = False

    return show_row


def _no_fault(right: Any) -> Any:
    return lambda *arguments: -1


def _one_stream(right: Any) -> Any:
    def seed_rows(records: Any, rows: Any, deals: Any, seed: Any) -> None:
        right(records, rows, np.zeros_like(deals), seed)

    return seed_rows


def _same_seed_again(right: Any) -> Any:
    return lambda stream: None


def _wrong_viewer(right: Any) -> Any:
    def records_end(records: Any, i: int, mover: int, final_observation: Any, final_records: Any) -> None:
        right(records, i, 0, final_observation, final_records)

    return records_end


def _true_stream(right: Any) -> Any:
    def determinize_rows(records: Any, rows: Any, seats: Any, seed: Any) -> None:
        streams = records["stream"].copy()
        right(records, rows, seats, seed)
        records["stream"] = streams

    return determinize_rows


#: name: what plants it, and words of the message that finds it
GAME_FAULTS: dict[str, tuple[Callable[[Game], None], str]] = {
    "deal_leaves_won": (instead("kernel", "deal", _forgets_to_deal("won")), r"after a reset .* \(`won`\)"),
    "deal_leaves_discard": (instead("kernel", "deal", _forgets_to_deal("discard")), "auto-reset next_step: the position"),
    "deal_by_numpy": (after("kernel", "deal", _numpys_generator), "two deals"),
    "hidden_state_elsewhere": (after("kernel", "apply", _count([0])), "two different positions"),
    "legal_writes": (after("kernel", "legal", _set("round", 1)), "legal\\(\\) changes the record"),
    "mask_unwritten": (instead("kernel", "legal", _unwritten_mask), "unwritten"),
    "mask_of_two": (after("kernel", "legal", _mask_entry(0, 2, lambda s: not s["drawn"])), "others than 0 and 1"),
    "no_action_left": (after("kernel", "legal", lambda records, i, mask: mask.fill(0)), "no legal action"),
    "mask_leaks": (after("kernel", "legal", _mask_entry(1, 0, lambda s: s["deck"][0] > 6)), "what seat . may do tells"),
    "observe_leaks_deck": (after("observation", "observe", _leak("deck", 0)), "sees what is hidden"),
    "observe_leaks_hand": (after("observation", "observe", _leak("hand", 2)), "sees what is hidden"),
    "observe_unwritten": (instead("observation", "observe", _unwritten_observation), "unwritten|deck_size"),
    "observe_outside": (after("observation", "observe", lambda r, i, seat, out: out.__setitem__(8, 7)), "not 0 to 6"),
    "observe_writes": (after("observation", "observe", _set("round", 6)), "observe\\(\\) changes the record"),
    "determinize_nothing": (instead("kernel", "determinize", _nothing), "never changes deck, hand"),
    "determinize_deck_only": (instead("kernel", "determinize", _only_deck), "never changes hand"),
    "determinize_own_card": (after("kernel", "determinize", _swap_own_card), "sees what is hidden"),
    "determinize_loses": (after("kernel", "determinize", _lose_a_card), "does not conserve"),
    "determinize_public": (after("kernel", "determinize", _set("discard", 0)), "changes `discard`"),
    "end_keeps_seat": (after("kernel", "apply", _set("seat", 0, lambda s: s["over"] == 1)), "seat is to act in a game that is over"),
    "wrong_seat": (after("kernel", "apply", _set("seat", 2, lambda s: s["over"] == 0 and s["players"] == 2)), ""),
    "winner_who_does_not_play": (after("kernel", "finish", lambda s: s["won"].__setitem__(3, 1)), "`won`"),
    "apply_changes_options": (after("kernel", "apply", _set("options", 0)), "`options`|options of the variant|variant"),
    "apply_changes_key": (after("kernel", "apply", lambda r, i, a: r["stream"][i].__setitem__(0, 5)), "key of the random stream"),
    "text_leaks": (instead("text", "text", _text_of_all), "the text for seat"),
    "parse_forgets": (instead("text", "parse", _parse_forgets), "`stream` differs"),
    "hidden_undeclared": (lambda game: delattr(game.module("state"), "HIDDEN"), "HIDDEN"),
    "hidden_partly_declared": (lambda game: setattr(game.module("state"), "HIDDEN", ("deck",)), "changes `hand`"),
}
KIT_FAULTS: dict[str, tuple[Callable[[Game], None], str]] = {
    "winners_only_are_paid": (in_loops("pay", _pay_winners_only), "reward"),
    "nobody_is_paid": (in_loops("pay", _nothing), "reward"),
    "end_untold": (in_loops("show_row", _rewards_stay), "terminated"),
    "illegal_is_taken": (in_loops("first_fault", _no_fault), "is taken|which is not legal|out of bounds"),
    "one_stream_for_all": (in_loops("seed_rows", _one_stream), "in a batch: the position"),
    "same_game_again": (in_loops("next_game", _same_seed_again), "the next game after a reset: the position"),
    "final_view_of_seat_0": (in_loops("records_end", _wrong_viewer), "final position or observation"),
    "search_knows_the_stream": (in_loops("determinize_rows", _true_stream), "random stream of the true one"),
}
