"""A batch of tables of one game, stepped in compiled loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np

from tabletop.errors import EmptyMask, IllegalAction, SetupError, StepAfterEnd, UnknownAction, listed
from tabletop.registry import LIVE, Game
from tabletop.registry import game as find_game
from tabletop.rules import Rules, Variant
from tabletop.stream import seed_words

INT64 = np.dtype(np.int64)
NOT_KEPT = ("_loops", "_pool", "_told", "_told_of_step", "action_mask", "seat")  # of copies and pickles: made anew
AUTORESET = {"disabled": 0, "next_step": 1, "same_step": 2}


def read_only(array: np.ndarray) -> np.ndarray:
    """A view that cannot be written to: what actions are checked by."""
    view = array.view()
    view.flags.writeable = False
    return view


class Tables:
    """`num_tables` games side by side; each asks the decisions of its seat to act, forced ones being played by the kit.

    All arrays are owned by the tables and written in place: copy what is to be kept. N tables, P = the game's largest number
    of players, D and A the sizes of observation and action space.

    observation (N, D): what the seat to act knows, in its own frame (of a table that is over: what its last mover knows)
    action_mask (N, A) int8, read-only: 1 for each action the seat to act may take; all zeros when the table is over
    seat (N,) int8, read-only: the seat to act, -1 when over
    rewards (N, P) float32: what every seat got in the last step
    earned (N, P) float32: what every seat got since its own last decision
    terminated, truncated (N,) bool: ended by the rules; cut off
    records (N,): the positions, complete. Copy rows to clone them; `restore` takes them back.
    final_observation (N, D), final_records (N,): in same-step mode, of the tables that the last step ended

    num_players and rules may be sequences, one for each table: 2, 3 and 4 players and any variants share a batch.
    seed: table i plays the game (seed, i); with a pair (s, first) the game (s, first + i); `deals` gives the second numbers
    explicitly, the same one for tables that are to have common deals. None: a fresh seed.
    autoreset: "next_step" (Gymnasium's default: the step after an end deals anew and ignores the action), "same_step" or
    "disabled" (a finished table does nothing and gets nothing until `reset`).
    max_decisions: cut games off after that many actions, forced ones counted; None: the length the game declares.
    threads: tables are stepped by that many threads; no result depends on it.
    """

    def __init__(
        self,
        game: str | Game,
        num_tables: int,
        num_players: int | Sequence[int] | None = None,
        rules: Rules | str | Sequence[Rules | str | None] | None = None,
        seed: int | tuple[int, int] | None = 0,
        *,
        skip_forced: bool = True,
        autoreset: str = "next_step",
        max_decisions: int | None = None,
        threads: int = 1,
        deals: Any = None,
    ) -> None:
        self.game = find_game(game)
        if not isinstance(num_tables, int | np.integer) or num_tables < 1:
            raise ValueError(f"num_tables must be a whole number of at least 1, not {num_tables!r}")
        if autoreset not in AUTORESET:
            raise ValueError(f"autoreset must be one of {listed(AUTORESET)}, not {autoreset!r}")
        if not isinstance(threads, int) or threads < 1:
            raise ValueError(f"threads must be a whole number of at least 1, not {threads!r}")
        if max_decisions is not None and not (isinstance(max_decisions, int | np.integer) and 1 <= max_decisions < 2**31):
            raise ValueError(f"max_decisions must be a whole number from 1 to 2**31-1, or None, not {max_decisions!r}")
        self.num_tables = n = int(num_tables)
        self.skip_forced = bool(skip_forced)
        self.autoreset = autoreset
        self.metadata = {"autoreset_mode": autoreset}
        self.variants = self._variants(num_players, rules)
        self.max_players = self.game.rules.max_players
        self._mode = AUTORESET[autoreset]
        self._loops = self.game.loops
        layout, actions = self.game.layout, self.game.num_actions
        self.records = np.zeros(n, self.game.dtype)
        self.observation = np.zeros((n, layout.size), layout.dtype)
        self._mask = np.zeros((n, actions), np.int8)
        self.action_mask = read_only(self._mask)
        self._seat = np.full(n, -1, np.int8)
        self.seat = read_only(self._seat)
        self.rewards = np.zeros((n, self.max_players), np.float32)
        self.earned = np.zeros((n, self.max_players), np.float32)
        self.terminated = np.zeros(n, np.bool_)
        self.truncated = np.zeros(n, np.bool_)
        kept = n if autoreset == "same_step" else 0
        self.final_observation = np.zeros((kept, layout.size), layout.dtype)
        self.final_records = np.zeros(kept, self.game.dtype)
        self._tell()
        self._all = np.arange(n)
        self._threads = min(threads, n)
        self._pool = self._new_pool()
        for variant in set(self.variants):
            self.game.configure(self.records, [i for i, v in enumerate(self.variants) if v == variant], variant, max_decisions)
        self.reset(seed_words(None) if seed is None else seed, deals=deals)

    def _new_pool(self) -> ThreadPoolExecutor | None:
        return ThreadPoolExecutor(self._threads - 1, "tables") if self._threads > 1 else None

    def __getstate__(self) -> dict[str, Any]:
        """All but the compiled loops, the threads and the view of the mask: copies and pickles go on exactly as these tables."""
        return {name: value for name, value in self.__dict__.items() if name not in NOT_KEPT}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._loops = self.game.loops
        self._pool = self._new_pool()
        self._tell()
        self.action_mask, self.seat = read_only(self._mask), read_only(self._seat)

    def _tell(self) -> None:
        """What the compiled loops write of each row, in the order that they take it."""
        told = (self.observation, self._mask, self._seat, self.rewards, self.earned, self.terminated, self.truncated)
        self._told = (self.skip_forced, *told)
        self._told_of_step = (self._mode, *self._told, self.final_observation, self.final_records)

    def _variants(self, num_players: Any, rules: Any) -> tuple[Variant, ...]:
        """The variant of each table."""
        several = [isinstance(v, Sequence | np.ndarray) and not isinstance(v, str) for v in (num_players, rules)]
        for name, value, many in zip(("num_players", "rules"), (num_players, rules), several, strict=True):
            if many and len(value) != self.num_tables:
                raise ValueError(f"{name} must be one value or one for each of {self.num_tables} tables, not {len(value)}")
        if not any(several):
            return (self.game.variant(rules, num_players),) * self.num_tables
        made: dict[Any, Variant] = {}
        found = []
        for i in range(self.num_tables):
            asked = (rules[i] if several[1] else rules, num_players[i] if several[0] else num_players)
            key = repr(asked)  # of what is no rules and no number too: 2.0 is not 2
            if key not in made:
                made[key] = self.game.variant(*asked)
            found.append(made[key])
        return tuple(found)

    # -- the loop of play ----------------------------------------------------------------------------------------------

    def step(self, actions: Any, rows: Any = None) -> None:
        """Take one decision at every table, or at the tables `rows` only (different indices; the others are left as they are).

        actions: one whole number for each. The whole batch is checked first: UnknownAction, IllegalAction and StepAfterEnd
        change nothing. A table that is over takes any number (see `autoreset`).
        """
        chosen = self._all if rows is None else self._rows(rows)
        given = actions
        if type(given) is not np.ndarray or given.dtype is not INT64 or given.shape != chosen.shape or not given.flags.c_contiguous:
            given = np.asarray(actions) if chosen.size or np.size(actions) else np.zeros(0, np.int64)
            if given.shape != chosen.shape or given.dtype.kind not in "iu":
                told = f"an array of shape {given.shape} and dtype {given.dtype}"
                raise UnknownAction(f"actions must be {chosen.size} whole numbers, not {told}")
            given = np.ascontiguousarray(given, np.int64)
        if chosen.size != 1 or not self._is_legal(chosen.item(), given.item()):
            at = self._first_fault(chosen, given)
            if at >= 0:
                raise self.fault(int(chosen[at]), int(given[at]))
        if self._mode == 0 and chosen.size and (self.records["over"][chosen] != LIVE).all():
            raise StepAfterEnd(f"step after the end: {'the table is' if chosen.size == 1 else 'all tables are'} over; call reset()")
        self._advance(chosen, given)

    def _is_legal(self, row: int, action: int) -> bool:
        return 0 <= action < self._mask.shape[1] and self._mask.item(row, action) != 0

    def _advance(self, rows: np.ndarray, actions: np.ndarray) -> None:
        """Step rows by actions that are known to be legal."""
        step, told = self._loops.step_rows, self._told_of_step
        if self._pool is None:
            fault = step(self.records, rows, actions, 0, rows.size, *told)
            if fault >= 0:
                self.check_row(fault)
        else:
            self._run(lambda lo, hi: step(self.records, rows, actions, lo, hi, *told), rows.size)

    def _first_fault(self, rows: np.ndarray, actions: np.ndarray) -> int:
        """The first place whose action its table does not take; -1 if all are good."""
        check = self._loops.first_fault
        parts = self._parts(lambda lo, hi: check(self._seat, rows[lo:hi], actions[lo:hi], self._mask), rows.size)
        return next((lo + at for lo, at in parts if at >= 0), -1)

    def _run(self, part: Any, size: int) -> None:
        """Run the compiled loop part(lo, hi) over 0..size, on all threads."""
        for _, row in self._parts(part, size):
            self.check_row(row)

    def _parts(self, part: Any, size: int) -> list[tuple[int, int]]:
        """0..size cut into as many pieces as there are threads: the begin of each, and what part(lo, hi) returned for it."""
        if self._pool is None or size < 2 * self._threads:
            return [(0, part(0, size))]
        cuts = [size * k // self._threads for k in range(self._threads + 1)]
        waiting = [self._pool.submit(part, lo, hi) for lo, hi in pairwise(cuts[1:])]
        results = [part(cuts[0], cuts[1]), *(w.result() for w in waiting)]
        return list(zip(cuts[:-1], results, strict=True))

    def one_step(self, row: np.ndarray, action: np.ndarray) -> tuple[Any, tuple[Any, ...]]:
        """The compiled step and its arguments, to step one table at least cost: the table row[0] by action[0], known to be legal.

        row, action: (1,) int64, kept and read at every call. Give what the step returns to `check_row`.
        """
        arguments = (self.records, row, action, 0, 1, *self._told_of_step)
        return self._loops.step_rows, arguments

    def check_row(self, row: int) -> None:
        """EmptyMask if a compiled loop returned a row that is at fault."""
        if row >= 0:
            seat = self.records["seat"][row]
            raise EmptyMask(f"table {row}: seat {seat} of {self.game.name} has no legal action: a fault of the game's rules")

    def illegal(self, rows: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """True where actions[j] is out of range, or not legal, at table rows[j]; (n,) bool for n whole numbers each."""
        known = (actions >= 0) & (actions < self.game.num_actions)
        return ~known | (self._mask[rows, np.where(known, actions, 0)] == 0)

    def fault(self, row: int, action: int) -> Exception:
        """The error for an action that table `row` does not take."""
        last = self.game.num_actions - 1
        if not 0 <= action <= last:
            return UnknownAction(f"table {row}: action {action} is out of range; {self.game.name} has actions 0 to {last}")
        allowed = listed(self.game.actions.legal(self._mask[row]), 40)
        seat, name = int(self.records["seat"][row]), self.game.actions.names[action]
        return IllegalAction(f"table {row}: seat {seat} may not take action {action} ({name}) now; legal: {allowed}")

    def reset(
        self,
        seed: int | tuple[int, int] | None = None,
        rows: Any = None,
        *,
        deals: Any = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        """Deal anew, all tables or `rows`. With a seed as at the start; without, each table goes on to its own next game.

        options: a set-up for every table dealt, as the game's `set_up` takes it (a position, or a deck).
        """
        chosen = self._all if rows is None else self._rows(rows)
        if seed is None and deals is not None:
            raise ValueError("deals need a seed")
        if options is not None and not isinstance(options, Mapping):
            raise SetupError(f"options must be a dictionary of set-ups by name, not {options!r}")
        before = self.records[chosen].copy() if options else None
        if seed is not None:
            word, first = seed_words(seed)
            numbers = self._deals(deals, chosen) if deals is not None else chosen.astype(np.uint64) + np.uint64(first)
            if deals is None and first > 2**63 - self.num_tables:
                raise ValueError(f"the rows of a seed are numbered up to 2**63-1: the first of {self.num_tables} cannot be {first}")
            self._loops.seed_rows(self.records, chosen, np.ascontiguousarray(numbers, np.uint64), np.uint64(word))
        else:
            self._loops.advance_rows(self.records, chosen)
        if options:
            self._set_up(chosen, options, before)
        loop = self._loops.refresh_rows if options else self._loops.reset_rows
        self._run(lambda lo, hi: loop(self.records, chosen, lo, hi, *self._told), chosen.size)

    def _deals(self, deals: Any, rows: np.ndarray) -> np.ndarray:
        """The numbers of the deals asked for, one for each of the rows."""
        numbers = np.asarray(deals)
        if numbers.shape != rows.shape or numbers.dtype.kind not in "iu":
            told = f"of shape {numbers.shape} and dtype {numbers.dtype}"
            raise ValueError(f"deals must be {rows.size} whole numbers, one for each table, not {told}")
        if numbers.size and numbers.min() < 0:
            raise ValueError(f"deals must be whole numbers from 0 on, not {numbers.min()}")
        return numbers

    def _set_up(self, rows: np.ndarray, options: dict[str, Any], before: Any) -> None:
        try:
            for row in rows:
                self._loops.deal(self.records, row)
                self.game.set_up(self.records, row, options)
        except Exception:
            self.records[rows] = before
            raise

    def restore(self, records: np.ndarray, rows: Any = None) -> None:
        """Take positions (copied rows of `records`, or of `Game.from_bytes`) as the tables' own, and tell them anew.

        A position of another variant, or number of players, than the table's is taken with its variant. Positions are taken as
        they are: what was not copied from tables, or read by `Game.from_bytes` or `Game.parse`, may be none and play nonsense.
        """
        chosen = self._all if rows is None else self._rows(rows)
        self._check_records(records, chosen.size)
        self.records[chosen] = records
        self._run(lambda lo, hi: self._loops.refresh_rows(self.records, chosen, lo, hi, *self._told), chosen.size)

    def _rows(self, rows: Any) -> np.ndarray:
        """Different indices of tables, from indices or from booleans for all tables."""
        chosen = _indices(rows, self.num_tables)
        if chosen.size > 1:
            named = np.zeros(self.num_tables, np.bool_)
            named[chosen] = True
            if np.count_nonzero(named) < chosen.size:
                raise ValueError(f"rows must be different, not {listed(chosen)}")
        return chosen

    def _check_records(self, records: Any, size: int | None = None) -> None:
        """ValueError unless these are positions of the game (size: as many as that), as far as can be told quickly."""
        wanted = f"records must be ({'n' if size is None else size},) of {self.game.name}'s dtype"
        if not isinstance(records, np.ndarray):
            raise ValueError(f"{wanted}, not {type(records).__name__}")
        if records.dtype != self.game.dtype or records.ndim != 1 or (size is not None and records.size != size):
            told = "" if records.dtype == self.game.dtype else f" of {records.dtype}"
            raise ValueError(f"{wanted}, not {records.shape}{told}")
        players = records["players"]
        if size and (players.min() < self.game.rules.min_players or players.max() > self.max_players):
            raise ValueError(f"records must be positions of {self.game.name}: one has {players.min()} to {players.max()} players")

    # -- what seats see, and search ------------------------------------------------------------------------------------

    def observe(self, seats: Any, rows: Any = None, records: np.ndarray | None = None, out: np.ndarray | None = None) -> np.ndarray:
        """What the given seats (one for each row, on turn or not) know: (n, D). records: of these positions instead."""
        if records is not None:
            self._check_records(records)
        source = self.records if records is None else records
        chosen = np.arange(source.size) if rows is None else _indices(rows, source.size)
        viewers = _viewers(seats, source["players"][chosen])
        layout = self.game.layout
        if out is not None and not (isinstance(out, np.ndarray) and out.shape == (chosen.size, layout.size) and out.dtype == layout.dtype):
            raise ValueError(f"out must be an array ({chosen.size}, {layout.size}) of {layout.dtype}")
        made = np.empty((chosen.size, layout.size), layout.dtype) if out is None else out
        self._loops.observe_rows(source, chosen, viewers, made)
        return made

    def determinize(self, records: np.ndarray, seats: Any, seed: int) -> np.ndarray:
        """Copies of positions in which all that seats[j] cannot see in records[j] is dealt again, uniformly among what is possible.

        The copies' random streams are (seed, j): nothing of the true ones is left, so a search on them knows what its seat knows.
        """
        self._check_records(records)
        copies = records.copy()
        viewers = _viewers(seats, copies["players"])
        self._loops.determinize_rows(copies, np.arange(copies.size), viewers, np.uint64(seed_words(seed)[0]))
        return copies


def _indices(rows: Any, size: int) -> np.ndarray:
    """Indices (n,) int64 below `size`, from indices or from `size` booleans."""
    chosen = np.asarray(rows)
    good = chosen.ndim == 1
    if chosen.dtype == np.bool_:
        good = chosen.shape == (size,)
        chosen = np.flatnonzero(chosen)
    elif chosen.size:
        good = good and chosen.dtype.kind in "iu" and chosen.min() >= 0 and chosen.max() < size
    if not good:
        raise ValueError(f"rows must be indices from 0 to {size - 1}, or {size} booleans")
    return np.ascontiguousarray(chosen, np.int64)


def _viewers(seats: Any, players: np.ndarray) -> np.ndarray:
    """Seats (n,) int64, each below its position's number of players."""
    viewers = np.asarray(seats)
    if viewers.shape != players.shape or (
        viewers.size and (viewers.dtype.kind not in "iu" or viewers.min() < 0 or (viewers >= players).any())
    ):
        raise ValueError(f"seats must be {players.size} seats, each below its table's number of players")
    return np.ascontiguousarray(viewers, np.int64)
