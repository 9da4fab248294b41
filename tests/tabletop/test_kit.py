"""The parts of the kit by themselves: rules and variants, actions, layouts, streams, tables, registry, errors."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections import Counter
from typing import Any

import numpy as np
import pytest
import toy
from hypothesis import given
from hypothesis import strategies as st
from planted import uncompiled

import tabletop
from tabletop import stream as streams
from tabletop.actions import Actions
from tabletop.errors import listed
from tabletop.layout import Layout, Part
from tabletop.rules import Variant
from tabletop.sampling import check_masks, random_actions

GAMES = tabletop.games()
per_game = pytest.mark.parametrize("game", GAMES)


def values_of(allowed: Any) -> st.SearchStrategy[Any]:
    if allowed.texts is not None:
        return st.nothing()
    if allowed.is_bool:
        return st.booleans()
    numbers: st.SearchStrategy[Any] = st.integers(allowed.low, allowed.high)
    return numbers if allowed.none is None else numbers | st.none()


# -- rules -------------------------------------------------------------------------------------------------------------


@given(st.data())
def test_a_variant_is_read_back_from_its_string(data: st.DataObject) -> None:
    rules = tabletop.game(data.draw(st.sampled_from(GAMES))).rules
    chosen = {n: data.draw(values_of(a), n) for n, a in rules.allowed().items() if a.texts is None and data.draw(st.booleans())}
    try:
        variant = Variant(data.draw(st.integers(rules.min_players, rules.max_players)), rules(**chosen))
    except tabletop.RulesError:
        return  # a combination that does not go together
    assert Variant.parse(str(variant), rules) == variant
    assert rules.from_codes(np.array(variant.rules.codes(), np.int16)) == variant.rules
    assert rules.parse(str(variant.rules)) == variant.rules
    assert hash(Variant.parse(f" {variant} ".replace(",", " , "), rules)) == hash(variant)


def test_canonical_strings() -> None:
    assert str(Variant(3, toy.ToyRules(low_wins=True, rounds=4))) == "toy(players=3,low_wins=true,rounds=4)"
    assert str(Variant(2, toy.ToyRules.parse("rounds=2, groups=FALSE"))) == "toy(players=2)"
    assert toy.game.variant("toy(rounds=3,players=4)") == Variant(4, toy.ToyRules(rounds=3))
    assert toy.game.variant(None) == Variant(2, toy.ToyRules())
    assert toy.game.variant(toy.ToyRules(rounds=1), 3) == toy.game.variant("rounds=1", 3)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ("round=1", "no option 'round=1'; options: low_wins, groups, reshuffle, rounds"),
        ("rounds", "no option 'rounds'"),
        ("rounds=7", "rounds=7 is not allowed; rounds is 1 to 6"),
        ("rounds=two", "rounds=two is not allowed"),
        ("rounds=none", "rounds=none is not allowed"),
        ("low_wins=1", "low_wins=1 is not allowed; low_wins is true or false"),
        ("rounds=1,rounds=2", "given twice"),
        ("toy(rounds=1)", "must name players once"),
        ("toy(players=2,players=3)", "must name players once"),
        ("toy(players=5)", "2 to 4 players, not 5"),
        ("other(players=2)", "not a variant of toy"),
        (7, "None, a string or ToyRules"),
    ],
)
def test_wrong_rules_are_errors_that_say_what_is_allowed(rules: Any, message: str) -> None:
    with pytest.raises(tabletop.RulesError) as caught:
        toy.game.variant(rules)
    assert message in str(caught.value)


def test_rules_are_checked_however_they_are_made() -> None:
    for wrong in ({"rounds": 0}, {"rounds": True}, {"rounds": 2.0}, {"low_wins": 1}, {"rounds": None}):
        with pytest.raises(tabletop.RulesError):
            toy.ToyRules(**wrong)  # type: ignore[arg-type]
    with pytest.raises(tabletop.RulesError, match="is for 4 players"):
        toy.game.variant("toy(players=4)", 3)
    for players in (0, 1, 5, 2.5, "2"):
        with pytest.raises(tabletop.RulesError):
            toy.game.variant(None, players)  # type: ignore[arg-type]


# -- actions and layouts -----------------------------------------------------------------------------------------------


@per_game
def test_actions_are_a_bijection(game: str) -> None:
    actions = tabletop.game(game).actions
    assert [actions.id(name) for name in actions.names] == list(range(len(actions)))
    assert actions.legal(np.ones(len(actions), np.int8)) == list(actions.names)
    with pytest.raises(tabletop.UnknownAction, match="no action is called 'nonsense'"):
        actions.id("nonsense")


def test_unknown_actions_name_the_ones_that_are_near() -> None:
    with pytest.raises(tabletop.UnknownAction, match=r"'drop:middle'; there are drop:low, drop:high$"):
        toy.ACTIONS.id("drop:middle")
    with pytest.raises(ValueError, match="different"):
        Actions(["a", "a"])


@per_game
def test_layouts_lie_without_gaps_and_can_be_read(game: str) -> None:
    layout = tabletop.game(game).layout
    at = 0
    for part in layout.parts.values():
        assert part.start == at and part.low <= 0 <= part.high <= np.iinfo(layout.dtype).max and part.doc
        at += part.size
    assert at == layout.size == layout.low.size == layout.high.size
    tables = tabletop.Tables(game, 2, seed=1)
    read = layout.decode(tables.observation[0])
    assert set(read) == set(layout.parts)
    for name, part in layout.parts.items():
        view = layout.view(tables.observation, name)
        assert view.shape == (2, *part.shape) and np.shares_memory(view, tables.observation)
        assert f"| {name} |" in layout.describe()
    assert layout.scale.shape == (layout.size,) and (layout.scale > 0).all() and (layout.scale <= 1).all()


def test_wrong_layouts_are_refused() -> None:
    with pytest.raises(ValueError, match="twice"):
        Layout([Part("a", (), 1, ""), Part("a", (), 1, "")])
    with pytest.raises(ValueError, match="labels"):
        Layout([Part("a", (3,), 1, "", ("x",))])
    with pytest.raises(ValueError, match="the last axis"):
        toy.LAYOUT.view(np.zeros(3, np.int8), "hand")
    with pytest.raises(KeyError, match="no part 'feet'; parts: turn"):
        toy.LAYOUT.view(np.zeros(toy.LAYOUT.size, np.int8), "feet")


# -- the random stream -------------------------------------------------------------------------------------------------


def plain_philox(counter: tuple[int, int, int, int], key: tuple[int, int]) -> tuple[int, int, int, int]:
    """Philox4x32-10 as the paper writes it, in whole numbers."""
    (c0, c1, c2, c3), (k0, k1), word = counter, key, 2**32
    for _ in range(10):
        high0, low0 = divmod(0xD2511F53 * c0, word)
        high1, low1 = divmod(0xCD9E8D57 * c2, word)
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        k0, k1 = (k0 + 0x9E3779B9) % word, (k1 + 0xBB67AE85) % word
    return c0, c1, c2, c3


def test_philox_gives_the_published_numbers() -> None:
    """The known answers that its authors publish with Random123, and the kernel agrees with the plain version."""
    assert plain_philox((0, 0, 0, 0), (0, 0)) == (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)
    ones = 2**32 - 1
    assert plain_philox((ones,) * 4, (ones,) * 2) == (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)
    pi = (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344)
    assert plain_philox(pi, (0xA4093822, 0x299F31D0)) == (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)
    for key, counter, purpose in ((0, 0, 0), (2**64 - 1, 2**64 - 1, 3), (0x0123456789ABCDEF, 0xFEDCBA9876543210, 1)):
        c0, c1, *_ = plain_philox((counter % 2**32, counter >> 32, 0, purpose), (key % 2**32, key >> 32))
        assert int(streams.philox(np.uint64(key), np.uint64(counter), np.uint64(purpose))) == c0 | c1 << 32


def test_streams_of_seeds_rows_games_and_guesses_differ() -> None:
    keys = []
    for seed in (0, 1, 2**63, 2**64 - 1):
        for row in (0, 1, 7):
            stream = np.zeros(2, np.uint64)
            streams.seed_stream(stream, np.uint64(seed), np.uint64(row))
            keys.append(int(stream[0]))
            for _ in range(3):
                streams.next_game(stream)
                keys.append(int(stream[0]))
            streams.seed_guess(stream, np.uint64(seed), np.uint64(row))
            keys.append(int(stream[0]))
    assert len(set(keys)) == len(keys)


def test_draws_are_uniform_and_in_range() -> None:
    stream = np.array([5, 0], np.uint64)
    for n in (1, 2, 3, 7, 80):
        drawn = Counter(int(streams.draw_below(stream, n)) for _ in range(600 * n))
        assert set(drawn) == set(range(n))
        assert sum((count - 600) ** 2 / 600 for count in drawn.values()) < n + 6 * (2 * n) ** 0.5 + 6  # chi-square, far out
    assert int(stream[1]) >= 600 * (1 + 2 + 3 + 7 + 80)


def test_shuffles_are_uniform() -> None:
    stream = np.array([9, 0], np.uint64)
    seen: Counter[tuple[int, ...]] = Counter()
    for _ in range(6000):
        cards = np.arange(4, dtype=np.int8)
        streams.shuffle(stream, cards, 3)
        seen[tuple(cards.tolist())] += 1
    assert len(seen) == 6 and all(key[3] == 3 for key in seen)
    assert sum((count - 1000) ** 2 / 1000 for count in seen.values()) < 26  # chi-square with 5 degrees of freedom: 1 in 10,000


@pytest.mark.parametrize("seed", [-1, 2**64, 1.0, "0", (1, 2, 3), (0, -1), (1.5, 0), [1, 2]])
def test_a_wrong_seed_is_an_error(seed: Any) -> None:
    with pytest.raises(ValueError, match="seed must be"):
        streams.seed_words(seed)
    assert streams.seed_words(np.int64(4)) == (4, 0) and streams.seed_words((0, 3)) == (0, 3)
    assert streams.seed_words(None) != streams.seed_words(None)


# -- sampling ----------------------------------------------------------------------------------------------------------


def test_random_actions_are_legal_uniform_and_reproducible() -> None:
    masks = np.tile(np.array([0, 1, 1, 0, 1], np.int8), (3000, 1))
    actions = random_actions(masks, np.random.default_rng(0))
    assert set(actions.tolist()) == {1, 2, 4} and min(Counter(actions.tolist()).values()) > 900
    assert np.array_equal(actions, random_actions(masks.astype(bool), np.random.default_rng(0)))


def test_an_empty_mask_is_a_named_error() -> None:
    masks = np.array([[1, 0], [0, 0]], np.int8)
    for call in (lambda: random_actions(masks, np.random.default_rng(0)), lambda: check_masks(masks)):
        with pytest.raises(tabletop.EmptyMask, match="row 1 has no legal action"):
            call()
    check_masks(masks[:1])


# -- tables ------------------------------------------------------------------------------------------------------------


@per_game
def test_tables_without_a_seed_are_fresh_and_differ(game: str) -> None:
    tables = tabletop.Tables(game, 3, seed=None)
    again = tabletop.Tables(game, 3, seed=None)
    assert len(np.unique(np.concatenate([tables.records, again.records])["stream"][:, 0])) == 6


@per_game
def test_common_deals(game: str) -> None:
    tables = tabletop.Tables(game, 4, seed=3, deals=[5, 5, 6, 6])
    alone = tabletop.Tables(game, 1, seed=(3, 6))
    assert tables.records[0].tobytes() == tables.records[1].tobytes() != tables.records[2].tobytes()
    assert tables.records[3].tobytes() == alone.records[0].tobytes()
    tables.reset(3, rows=[0], deals=[6])
    assert tables.records[0].tobytes() == alone.records[0].tobytes()
    for wrong in ([1], [[1, 2, 3, 4]]):
        with pytest.raises(ValueError, match="deals must be"):
            tables.reset(3, deals=wrong)
    with pytest.raises(ValueError, match="deals need a seed"):
        tables.reset(deals=[1, 2, 3, 4])


@per_game
def test_a_reset_of_some_rows_leaves_the_others(game: str) -> None:
    tables = tabletop.Tables(game, 5, seed=0)
    rng = np.random.default_rng(0)
    for _ in range(6):
        tables.step(random_actions(tables.action_mask, rng))
    before = [tables.records[i].tobytes() for i in range(5)], tables.observation.copy()
    tables.reset(rows=np.array([False, True, False, True, False]))
    for i in range(5):
        assert (tables.records[i].tobytes() == before[0][i]) == (i not in (1, 3))
        assert i in (1, 3) or np.array_equal(tables.observation[i], before[1][i])


@per_game
def test_wrong_calls_of_tables_say_what_is_wrong(game: str) -> None:
    for arguments, message in (
        ({"num_tables": 0}, "num_tables"),
        ({"num_tables": 2, "autoreset": "later"}, "autoreset must be one of disabled, next_step, same_step"),
        ({"num_tables": 2, "threads": 0}, "threads"),
        ({"num_tables": 2, "max_decisions": 0}, "max_decisions"),
        ({"num_tables": 2, "max_decisions": 1.5}, "max_decisions"),
        ({"num_tables": 2, "max_decisions": "9"}, "max_decisions"),
        ({"num_tables": 2, "max_decisions": 2**31}, "max_decisions"),
        ({"num_tables": 2, "num_players": [2.0, 2]}, "players, not 2.0"),
        ({"num_tables": 2, "num_players": [2, "2"]}, "players, not '2'"),
        ({"num_tables": 2, "num_players": np.array([2.0, 2.0])}, "players, not"),
        ({"num_tables": 2, "rules": [None, {}]}, "not dict"),
        ({"num_tables": 2, "deals": [1, 2.0]}, "deals must be 2 whole numbers"),
        ({"num_tables": 2, "deals": [-1, 0]}, "deals must be whole numbers from 0 on, not -1"),
        ({"num_tables": 2, "deals": [2**64, 0]}, "deals must be 2 whole numbers"),
        ({"num_tables": 2, "deals": ["1", "2"]}, "deals must be 2 whole numbers"),
        ({"num_tables": 2, "seed": (1, 2**64 - 1)}, "up to 2"),
        ({"num_tables": 2, "num_players": [2]}, "num_players must be one value or one for each of 2 tables"),
        ({"num_tables": 2, "rules": [None] * 3}, "rules must be one value"),
    ):
        with pytest.raises(ValueError, match=message):
            tabletop.Tables(game, **arguments)  # type: ignore[arg-type]
    tables = tabletop.Tables(game, 2, seed=0)
    for actions in (0, [0], [0.0, 1.0], [True, False], ["a", "b"], [[0], [1]]):
        with pytest.raises(tabletop.UnknownAction, match="actions must be 2 whole numbers"):
            tables.step(actions)
    for rows in ([2], [-1], [0.5], [[0]], [True], [True, False, False]):
        with pytest.raises(ValueError, match="rows must be"):
            tables.step([0], rows=rows)
    with pytest.raises(ValueError, match="read-only"):
        tables.action_mask[0, 0] = 1
    with pytest.raises(tabletop.SetupError, match="options must be a dictionary"):
        tables.reset(options=5)  # type: ignore[arg-type]


@per_game
def test_compiled_loops_never_get_what_does_not_fit(game: str) -> None:
    """They check no index: an array too small, a seat too high or a row named twice would corrupt memory or the game."""
    tables = tabletop.Tables(game, 3, seed=0)
    before = tables.records.tobytes()
    first = int(tables.action_mask[0].argmax())
    with pytest.raises(ValueError, match="rows must be different, not 1, 0, 1"):
        tables.step([first] * 3, rows=[1, 0, 1])
    for seats in ([0], [0, 0, 2], [-1, 0, 0], [0.0, 0.0, 0.0], ["a", "b", "c"], 0):
        with pytest.raises(ValueError, match="seats must be"):
            tables.observe(seats)
        with pytest.raises(ValueError, match="seats must be"):
            tables.determinize(tables.records, seats, seed=0)
    layout = tables.game.layout
    for out in (np.zeros((3, 5), layout.dtype), np.zeros((2, layout.size), layout.dtype), np.zeros((3, layout.size), np.float32), []):
        with pytest.raises(ValueError, match="out must be"):
            tables.observe([0, 0, 0], out=out)  # type: ignore[arg-type]
    assert tables.observe([0, 1], rows=[2, 2]).shape == (2, layout.size)
    with pytest.raises(ValueError, match="rows must be indices from 0 to 0"):
        tables.observe([0], rows=[2], records=tables.records[:1])
    for records in (tables.records[:1], tables.records.tobytes(), None, np.zeros(3), np.zeros(3, tables.game.dtype)):
        with pytest.raises(ValueError, match="records must be"):
            tables.restore(records)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="records must be"):
        tables.determinize(np.zeros(3), [0, 0, 0], seed=0)
    assert tables.records.tobytes() == before


@per_game
def test_a_step_of_no_table_does_nothing(game: str) -> None:
    tables = tabletop.Tables(game, 2, seed=0, autoreset="disabled")
    before = tables.records.tobytes()
    tables.step([], rows=[])
    tables.step(np.zeros(0, np.int64), rows=np.zeros(2, np.bool_))
    assert tables.records.tobytes() == before


def test_numpys_whole_numbers_are_numbers_of_players() -> None:
    assert toy.game.variant(None, np.int64(3)) == toy.game.variant(None, 3)  # type: ignore[arg-type]
    assert str(toy.game.variant(None, np.int8(3))) == "toy(players=3)"  # type: ignore[arg-type]
    for wrong in (2.0, "2", True, 5, None):
        with pytest.raises(tabletop.RulesError, match="for 2 to 4 players"):
            Variant(wrong, toy.ToyRules())  # type: ignore[arg-type]


@per_game
def test_tables_with_threads_copy_and_pickle(game: str) -> None:
    tables = tabletop.Tables(game, 8, seed=2, threads=2)
    rng = np.random.default_rng(0)
    for _ in range(5):
        tables.step(random_actions(tables.action_mask, rng))
    copies = [copy.deepcopy(tables), pickle.loads(pickle.dumps(tables))]
    actions = random_actions(tables.action_mask, rng)
    before = tables.records.tobytes()
    for other in copies:
        assert other.game is tables.game and not other.action_mask.flags.writeable
        assert not np.shares_memory(other.records, tables.records)
        other.step(actions)
    assert tables.records.tobytes() == before
    tables.step(actions)
    assert all(other.records.tobytes() == tables.records.tobytes() for other in copies)


@per_game
def test_restored_rows_may_be_of_another_variant(game: str) -> None:
    two, four = tabletop.Tables(game, 1, 2, seed=1), tabletop.Tables(game, 1, 4, seed=1)
    two.restore(four.records.copy())
    assert two.observation.tobytes() == four.observation.tobytes() and two.action_mask.tobytes() == four.action_mask.tobytes()


@per_game
def test_a_search_seeded_like_the_game_does_not_get_its_stream(game: str) -> None:
    tables = tabletop.Tables(game, 2, seed=5)
    guesses = tables.determinize(tables.records, tables.seat, seed=5)
    assert not set(guesses["stream"][:, 0].tolist()) & set(tables.records["stream"][:, 0].tolist())


# -- bytes, the registry, errors ---------------------------------------------------------------------------------------


@per_game
def test_bytes_of_others_are_refused(game: str) -> None:
    found = tabletop.game(game)
    data = found.to_bytes(found.new_record(found.variant())[0])
    assert found.from_bytes(data).size == 1
    for wrong, message in (
        (b"", "not the bytes of a"), (data[:-1], "another version, or cut short"), (data + b"x", "another version, or cut short"),
        (data.replace(game.encode(), b"chess", 1), "position of b'chess'"), (b"x" + data, "not the bytes"), ("text", "not the bytes"),
    ):  # fmt: skip
        with pytest.raises(tabletop.SetupError, match=message):
            found.from_bytes(wrong)  # type: ignore[arg-type]


@per_game
def test_games_are_found_by_name(game: str) -> None:
    found = tabletop.game(game)
    assert tabletop.game(found) is found and found.name == game == found.rules.game
    assert copy.deepcopy(found) is found and pickle.loads(pickle.dumps(found)) is found
    assert repr(found).startswith(f"<game {game}: {found.num_actions} actions")
    for wrong in (-1, found.num_actions, True, 1.0, None, "x"):
        with pytest.raises(tabletop.UnknownAction):
            found.action(wrong)  # type: ignore[arg-type]


def test_an_unknown_game_lists_those_there_are() -> None:
    with pytest.raises(tabletop.UnknownGame) as caught:
        tabletop.game("ludo")
    assert str(caught.value) == f"no game is called 'ludo'; there are {', '.join(GAMES)}"
    assert isinstance(caught.value, KeyError | tabletop.TabletopError)


def test_records_lie_without_gaps() -> None:
    for game in (*map(tabletop.game, GAMES), toy.game):
        fields: Any = game.dtype.fields
        assert sum(fields[name][0].itemsize for name in fields) == game.dtype.itemsize


def test_lists_in_messages_are_cut() -> None:
    assert listed("abc") == "a, b, c" and listed(range(14)) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, … (2 more)"


def test_importing_the_kit_is_light() -> None:
    lines = "import sys, tabletop; assert not {'numba', 'torch', 'matplotlib', 'gymnasium', 'pettingzoo'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", lines], check=True)


def test_winners_share_one_and_losers_share_minus_one() -> None:
    game = uncompiled("shares", lambda game: None)
    tables = tabletop.Tables(game, 60, 4, "groups=true,rounds=1", autoreset="disabled")
    rng = np.random.default_rng(0)
    got = np.zeros((60, 4))
    while (live := np.flatnonzero(tables.seat >= 0)).size:
        tables.step(random_actions(tables.action_mask[live], rng), rows=live)
        got[live] += tables.rewards[live]
    won = tables.records["won"].astype(bool)
    number = won.sum(axis=1, keepdims=True)
    assert {1, 2} <= set(number.ravel().tolist()) <= {1, 2, 3}
    assert np.allclose(got, np.where(won, 1 / number, -1 / (4 - number)))
    assert np.array_equal(tables.earned, got.astype(np.float32))


def test_what_was_earned_in_one_game_is_gone_in_the_next() -> None:
    """In same-step mode `earned` tells of the game that ended until the table steps on; a seat that has not acted since has nothing."""
    tables = tabletop.Tables("beyond", 8, 2, seed=4, autoreset="same_step")
    rng, ended = np.random.default_rng(0), np.zeros(8, np.bool_)
    seen = 0
    for _ in range(400):
        tables.step(random_actions(tables.action_mask, rng))
        now = tables.terminated | tables.truncated
        assert (tables.earned[ended & ~now] == 0).all()
        assert (np.abs(tables.earned[now]).sum(axis=1) == np.abs(tables.rewards[now]).sum(axis=1)).all()
        ended, seen = now, seen + int(now.sum())
    assert seen > 8


@pytest.mark.parametrize("game", tabletop.games())
@pytest.mark.parametrize("line", ["seat {}: x", "decisions: {}", "winners: {}", "turn: seat {}", "turn: round {}"])
def test_numbers_of_any_length_in_texts_are_refused_by_line(game: str, line: str) -> None:
    """Python itself refuses to read numbers of thousands of digits: that must not come through."""
    with pytest.raises(tabletop.SetupError, match=r"^line 2 "):
        tabletop.game(game).parse(f"{game}(players=2)\n" + line.format("9" * 5000))
