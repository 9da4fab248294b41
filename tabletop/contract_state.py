"""The contract of the game itself: its positions, what seats see of them, what is dealt again, its text and its variants."""

from __future__ import annotations

from typing import Any

import numpy as np

from tabletop.contract import Case
from tabletop.errors import RulesError
from tabletop.plain import act, as_bytes, field_at, first_record, mask_of
from tabletop.registry import LIVE, NOBODY, TERMINATED, TRUNCATED
from tabletop.rules import Variant

KEPT = ("limit", "players", "options")  # set by the kit before the deal; no function of a game writes them
GUESSES = 12  # determinizations of each position looked at


def check_variant(case: Case) -> None:
    """The canonical string, the codes in the record and the options stand for each other; what is not allowed is refused."""
    rules = case.game.rules
    variant = case.variant
    if Variant.parse(str(variant), rules) != variant or rules.parse(str(variant.rules)) != variant.rules:
        case.fail("the canonical string is not read back as the same variant")
    if (case.story.records["options"] != variant.rules.codes()).any() or case.game.variant_of(case.story.records[-1]) != variant:
        case.fail("the record does not hold the options of the variant")
    wrong = ["no_such_option=1", *(f"{n}=maybe" for n in rules.names())]
    wrong += [f"{n}={v}" for n, a in rules.allowed().items() if not a.is_bool and a.texts is None for v in (a.low - 1, a.high + 1)]
    for text in wrong:
        try:
            rules.parse(text)
        except RulesError:
            continue
        case.fail(f"the rules {text!r} are taken, but they are not allowed")


def check_positions(case: Case) -> None:
    """The fields of the kit are as it expects them at every position, and games end within the length the game declares."""
    story, players = case.story, case.variant.players
    records, seat, over = story.records, story.seat, story.over
    live = over == LIVE
    ends = np.array(story.last)
    for name, wrong in {
        "a live position has no seat to act": live & ~((seat >= 0) & (seat < players)),
        "a seat is to act in a game that is over": ~live & (seat != NOBODY),
        "`won` is set in a game that goes on": live & records["won"].any(axis=1),
        "`won` is neither 0 nor 1, or set for a seat that does not play": ~np.isin(records["won"], (0, 1)).all(axis=1)
        | records["won"][:, players:].any(axis=1),
        "`won` is set in a game that was cut off": (over != TERMINATED) & records["won"].any(axis=1),
        "the game is not over after as many decisions as it declares to be the most": (over == TRUNCATED)
        & (records["decisions"] >= records["limit"]),  # a game may cut itself off before
        "the rewards of all seats do not add up to nothing": np.abs(story.rewards.sum(axis=1)) > 1e-6,
        "`apply` changed the key of the random stream": records["stream"][:, 0] != np.repeat(records["stream"][ends, 0], _lengths(story)),
    }.items():
        if wrong.any():
            case.fail(name, int(np.flatnonzero(wrong)[0]))
    declared = case.game.max_decisions(case.variant.rules, players)
    for name, value in zip(KEPT, (declared, players, case.variant.rules.codes()), strict=True):
        if (records[name] != value).any():
            case.fail(f"a function of the game changed `{name}`")


def _lengths(story: Any) -> np.ndarray:
    return np.array(story.last) - np.array(story.first) + 1


def check_pure(case: Case) -> None:
    """legal, observe and determinize do what they say and nothing else; the same deal and the same action do the same twice."""
    kernel, observation = case.game.module("kernel"), case.game.module("observation")
    story = case.story
    for g in {0, case.games - 1}:
        records = first_record(case.game, case.variant, case.seed, g)
        again = first_record(case.game, case.variant, case.seed, g)
        if records.tobytes() != again.tobytes():
            case.fail("two deals from the same seed differ: something besides the record's stream is drawn from", story.first[g])
    for place in case.sample(24, live=True):
        records = story.records[place : place + 1].copy()
        before = records.tobytes()
        mask = mask_of(case.game, records)
        if (mask != story.mask[place]).any():
            case.fail("legal() gives another mask at a second call", place)
        for filling in (0, 55):
            for seat in range(case.variant.players):
                out = np.full(case.game.layout.size, filling, case.game.layout.dtype)
                observation.observe(records, 0, seat, out)
                if records.tobytes() != before:
                    case.fail("observe() changes the record", place)
                if seat == story.seat[place] and (out != story.observation[place]).any():
                    case.fail(_part_that_differs(case, out, story.observation[place], "observe() leaves entries unwritten"), place)
        twin = records.copy()
        for row in (records, twin):
            act(case.game, row, int(story.action[place]))
        if records.tobytes() != twin.tobytes():
            case.fail("the same action in the same position leads to two different positions: the record does not hold all there is", place)
        kernel.legal(story.records, place, mask)  # a row in the middle of an array, with a mask that is filled already
        if (mask != story.mask[place]).any():
            case.fail("legal() gives another mask for another row of the array", place)


def check_observations(case: Case) -> None:
    """Every seat has an observation at every position, within the bounds of the layout; the seat to act gets what it was told."""
    story, layout = case.story, case.game.layout
    loops = case.game.loops
    rows = np.arange(story.seat.size)
    for seat in range(case.variant.players):
        seen = np.full((rows.size, layout.size), 66, layout.dtype)
        loops.observe_rows(story.records, rows, np.full(rows.size, seat), seen)
        outside = (seen < layout.low) | (seen > layout.high)
        if outside.any():
            place, entry = np.argwhere(outside)[0]
            part = next(p for p in layout.parts.values() if p.start <= entry < p.start + p.size)
            value = f"{seen[place, entry]}, not {part.low} to {part.high}"
            case.fail(f"seat {seat}: entry {entry} of the observation ({part.name}) is {value}", int(place))
        asked = story.seat == seat
        if (seen[asked] != story.observation[asked]).any():
            place = int(np.flatnonzero(asked)[np.argwhere(seen[asked] != story.observation[asked])[0][0]])
            case.fail(f"seat {seat} is told something else by the batch than by observe()", place)
    layout.decode(story.observation[0])


def _part_that_differs(case: Case, one: np.ndarray, other: np.ndarray, what: str) -> str:
    entry = int(np.flatnonzero(one != other)[0])
    part = next(p for p in case.game.layout.parts.values() if p.start <= entry < p.start + p.size)
    return f"{what}: entry {entry} of the observation ({part.name}) is {one[entry]} and {other[entry]}"


def check_hidden(case: Case) -> None:
    """determinize deals again all that the seat cannot see, and only that; nothing of it is in what the seat is given."""
    state, story = case.game.module("state"), case.story
    if not hasattr(state, "HIDDEN"):
        case.fail("state.HIDDEN does not say which fields of the record are not seen by every seat; () if there are none")
    hidden = tuple(state.HIDDEN)
    conserved = getattr(state, "conserved", None) or (lambda record: sorted(np.concatenate([np.ravel(record[n]) for n in hidden]).tolist()))
    open_fields = [name for name in case.game.dtype.names or () if name not in (*hidden, "stream")]
    varied = set()
    for place in case.sample(12):
        true = np.repeat(story.records[place : place + 1], GUESSES)
        for seat in range(case.variant.players):
            guesses = _determinized(case, true, seat, place)
            for name in open_fields:
                if (guesses[name] != true[name]).any():
                    case.fail(f"determinize for seat {seat} changes `{name}`, which is not hidden", place)
            varied |= {name for name in hidden if (guesses[name] != true[name]).any()}
            if hidden and any(conserved(guess) != conserved(true[0]) for guess in guesses):
                case.fail(f"determinize for seat {seat} does not conserve what is hidden: something appears or is lost", place)
            _same_knowledge(case, true, guesses, seat, place)
        _play_on(case, guesses, place)
    if missing := sorted(set(hidden) - varied):
        case.fail(f"determinize never changes {', '.join(missing)}, which is declared hidden")


def _determinized(case: Case, true: np.ndarray, seat: int, place: int) -> np.ndarray:
    guesses, again = true.copy(), true.copy()
    rows, seats = np.arange(true.size), np.full(true.size, seat)
    case.game.loops.determinize_rows(guesses, rows, seats, np.uint64(place))
    case.game.loops.determinize_rows(again, rows, seats, np.uint64(place))
    if guesses.tobytes() != again.tobytes():
        case.fail("determinize gives something else for the same seed", place)
    if (guesses["stream"][:, 0] == true["stream"][:, 0]).any():
        case.fail("a determinized position has the random stream of the true one", place)
    return guesses


def _same_knowledge(case: Case, true: np.ndarray, guesses: np.ndarray, seat: int, place: int) -> None:
    """Observation, mask and text of the seat are the same, whatever is hidden from it."""
    size = case.game.layout.size
    seen, rows, seats = np.empty((2, true.size, size), case.game.layout.dtype), np.arange(true.size), np.full(true.size, seat)
    case.game.loops.observe_rows(true, rows, seats, seen[0])
    case.game.loops.observe_rows(guesses, rows, seats, seen[1])
    if (seen[0] != seen[1]).any():
        row = int(np.argwhere(seen[0] != seen[1])[0][0])
        what = f"seat {seat} sees what is hidden from it (or determinize changes what it knows)"
        case.fail(_part_that_differs(case, seen[0, row], seen[1, row], what), place)
    if case.story.seat[place] == seat:
        for j in range(3):
            if (mask_of(case.game, guesses[j : j + 1]) != case.story.mask[place]).any():
                case.fail(f"what seat {seat} may do tells what is hidden from it (or determinize changes what it knows)", place)
    if case.has_text and case.game.text(guesses[0], seat) != case.game.text(true[0], seat):
        case.fail(f"the text for seat {seat} tells what is hidden from it", place)


def _play_on(case: Case, guesses: np.ndarray, place: int) -> None:
    """A determinized position is one that the game can be played on from."""
    records = guesses[:1].copy()
    for _ in range(30):
        if records["over"][0] != LIVE:
            return
        legal = np.flatnonzero(mask_of(case.game, records))
        act(case.game, records, int(case.rng.choice(legal)))


def check_text(case: Case) -> None:
    """A position as text is read back to the same bytes; as bytes too."""
    for place in case.sample(16):
        record = case.story.records[place]
        if case.game.from_bytes(case.game.to_bytes(record)).tobytes() != record.tobytes():
            case.fail("to_bytes() is not read back by from_bytes()", place)
        if not case.has_text:
            continue
        read = case.game.parse(case.game.text(record))
        if read.tobytes() != record.tobytes():
            name = field_at(case.game, int(np.flatnonzero(as_bytes(read)[0] != case.story.bytes[place])[0]))
            case.fail(f"the position as text is not read back as the same record: `{name}` differs", place)


STATES = (check_variant, check_pure, check_positions, check_observations, check_hidden, check_text)
