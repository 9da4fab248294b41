"""A batch of games as one learner sees it: it plays one seat of every table, and given agents play the others.

This is the one place where a game of many seats becomes a chain of single-agent transitions. The Gymnasium views, the
Stable-Baselines3 view, training and evaluation all stand on it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tabletop.agent import Player
from tabletop.errors import ActionError, IllegalAction, RulesError, SetupError, StepAfterEnd, TabletopError, UnknownAction, listed
from tabletop.opponents import Roster, answer, drawer, name_of
from tabletop.registry import TERMINATED, Game
from tabletop.rules import Rules
from tabletop.stream import seed_words
from tabletop.tables import Tables

ILLEGAL = ("raise", "lose")
MOST_REDEALS = 200  # games in a row that a table may end before its learner is asked at all


class LearnerTables:
    """`num_tables` games side by side, each asking the decisions of one seat, the learner's.

    At the start of every game the learner's seat and the agent of each other seat are drawn; they are kept to the game's end.
    All arrays are owned by this object and written in place: copy what is to be kept. N tables, P = the game's largest number
    of players, D and A the sizes of observation and action space.

    observation (N, D): what the learner's seat knows, at its turn or, of a game that is over, at the end
    action_mask (N, A) int8, read-only: 1 for each action it may take; all zeros when the game is over
    reward (N,) float32: what its seat earned in the last step, that is since its own last decision
    terminated, truncated (N,) bool: in the last step the game ended by the rules; was cut off
    illegal (N,) bool: the last step lost the game by an illegal action (illegal="lose")
    over (N,) bool: the table waits to be dealt anew (never so in same-step mode)
    seat (N,) int8: the learner's seat; `opponents_of(row)`: who plays the others
    final_observation (N, D), final_seat (N,), `final_opponents_of(row)`: of the game that last ended at a table
    never_asked (N,) int64: games that ended before their learner's first decision. Such a game is no episode (there is
        nothing to learn from it): it is counted here and the table is dealt anew, seats and opponents drawn again.

    opponents: an Agent; a sequence of Agents, of which each other seat draws one; an object with `draw(rng) -> Agent`, or a
        function of that kind, asked for each other seat at the start of a game; None: uniformly random players.
    learner_seat: "random" (drawn anew for each game), a seat, or a sequence with one seat for each table.
    num_players, rules, seed, deals, skip_forced, autoreset, max_decisions, threads: as for `Tables`.
    illegal: "raise" refuses a learner's illegal action before anything changes; "lose" ends that game at once: the learner
        loses it, reward -1, and the record says that the others won. What is no action at all is an UnknownAction in any case.

    Reproducible: the same seed, agents and actions give the same games. Table i plays the deals of (seed, i) and draws seats and
    opponents from a generator of that same pair, whatever the size of the batch. Agents act on many rows at once, with one generator
    for all (`agent_rng`): so a table plays the same games in a batch as alone if its opponents do not use their `rng`.
    """

    def __init__(
        self,
        game: str | Game,
        num_tables: int,
        num_players: int | Sequence[int] | None = None,
        rules: Rules | str | Sequence[Rules | str | None] | None = None,
        seed: int | tuple[int, int] | None = 0,
        *,
        opponents: Any = None,
        learner_seat: str | int | Sequence[int] = "random",
        autoreset: str = "next_step",
        illegal: str = "raise",
        skip_forced: bool = True,
        max_decisions: int | None = None,
        threads: int = 1,
        deals: Any = None,
    ) -> None:
        if illegal not in ILLEGAL:
            raise ValueError(f"illegal must be one of {listed(ILLEGAL)}, not {illegal!r}")
        numbers = seed_words(seed)
        # The tables never reset themselves: when a game ends, its learner's reward and last view are read first.
        options: dict[str, Any] = {"skip_forced": skip_forced, "max_decisions": max_decisions, "threads": threads, "deals": deals}
        self.tables = Tables(game, num_tables, num_players, rules, numbers, autoreset="disabled", **options)
        if autoreset not in ("next_step", "same_step", "disabled"):
            raise ValueError(f"autoreset must be next_step, same_step or disabled, not {autoreset!r}")
        self.game, self.num_tables = self.tables.game, self.tables.num_tables
        self.variants = self.tables.variants
        self.autoreset, self.illegal_policy = autoreset, illegal
        self._draw_agent = drawer(opponents)
        self._players = np.array([variant.players for variant in self.variants])
        self._fixed_seat = self._seats(learner_seat)
        n, layout = self.num_tables, self.game.layout
        self.reward = np.zeros(n, np.float32)
        self.terminated = np.zeros(n, np.bool_)
        self.truncated = np.zeros(n, np.bool_)
        self.illegal = np.zeros(n, np.bool_)
        self.over = np.zeros(n, np.bool_)
        self.seat = np.zeros(n, np.int8)
        self.final_observation = np.zeros((n, layout.size), layout.dtype)
        self.final_seat = np.full(n, -1, np.int8)
        self.never_asked = np.zeros(n, np.int64)
        self._asked = np.zeros(n, np.bool_)  # the learner has decided in the running game
        self._redeals = np.zeros(n, np.int64)
        self._agent_at = np.full((n, self.tables.max_players), -1, np.int64)  # place in the roster of each seat's; -1 the learner
        self._final_at = self._agent_at.copy()
        self._roster = Roster((self._agent_at, self._final_at))
        self._all = np.arange(n)
        self._set_up: dict[str, Any] | None = None
        self._generators: list[Any] = [None] * n
        self.agent_rng = np.random.default_rng(0)
        self.reset(numbers, deals=deals)

    @property
    def observation(self) -> np.ndarray:
        return self.tables.observation

    @property
    def action_mask(self) -> np.ndarray:
        return self.tables.action_mask

    def opponents_of(self, row: int) -> dict[int, Player]:
        """The agents that play the other seats of table `row`, by seat."""
        return {seat: self._roster.agents[at] for seat, at in enumerate(self._agent_at[row]) if at >= 0}

    def final_opponents_of(self, row: int) -> dict[int, Player]:
        """The agents that played the other seats of the game that last ended at table `row`, by seat."""
        return {seat: self._roster.agents[at] for seat, at in enumerate(self._final_at[row]) if at >= 0}

    # -- the loop of play ----------------------------------------------------------------------------------------------

    def reset(
        self, seed: int | tuple[int, int] | None = None, rows: Any = None, *, deals: Any = None, options: dict[str, Any] | None = None
    ) -> None:
        """Deal anew, all tables or `rows`, and play until every learner is to decide. With a seed as at the start; without,
        each table goes on to its own next game.

        options: a set-up for every table dealt, as `Tables.reset` takes it. SetupError if the learner is never asked from there.
        """
        chosen = self._all if rows is None else self.tables._rows(rows)
        numbers = None if seed is None else seed_words(seed)
        self.tables.reset(numbers, None if rows is None else chosen, deals=deals, options=options)
        if numbers is not None:
            self._seed(chosen, *numbers, deals, whole=rows is None)
        for array in (self.reward, self.terminated, self.truncated, self.illegal):
            array[chosen] = 0
        self._set_up = options
        try:
            self._start(chosen)
            self._play(chosen)
        finally:
            self._set_up = None

    def _seed(self, rows: np.ndarray, word: int, first: int, deals: Any, whole: bool) -> None:
        """Generators of seats and opponents for `rows`; with the whole batch, also that of the agents' choices.

        The one of the agents' choices is `numpy.random.default_rng(seed)`, as Gymnasium's `np_random` is, unless the batch is a
        part of a larger one, which begins with another row than 0.
        """
        numbers = rows + first if deals is None else np.asarray(deals)
        for row, number in zip(rows.tolist(), numbers.tolist(), strict=True):
            self._generators[row] = np.random.Generator(np.random.PCG64(np.random.SeedSequence(word, spawn_key=(number,))))
        if whole:
            self.agent_rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(word, spawn_key=(first, 1) if first else ())))

    def step(self, actions: Any) -> None:
        """Take one decision of the learner at every table, then play until it is to decide again or the game is over.

        actions: (N,) whole numbers. A table that is over ignores its action: it is dealt anew in next-step mode, and left as it
        is when auto-reset is disabled (StepAfterEnd if all are over). UnknownAction and IllegalAction for a learner's action
        change nothing; an IllegalAction that names an agent leaves the tables in the midst of a step: reset them.
        """
        given = np.asarray(actions)
        if given.shape != self.seat.shape or given.dtype.kind not in "iu":
            raise UnknownAction(f"actions must be {self.num_tables} whole numbers, not an array of shape {given.shape}, {given.dtype}")
        waiting = np.flatnonzero(self.over)
        rows = np.flatnonzero(~self.over) if waiting.size else self._all
        if self.autoreset == "disabled" and not rows.size:
            raise StepAfterEnd("step after the end: all tables are over; call reset()")
        lost, played = rows[:0], rows
        if self.illegal_policy == "lose" and (illegal := self.tables.illegal(rows, given[rows])).any():
            lost, played = rows[illegal], rows[~illegal]
            for row in lost.tolist():
                self.game.action(int(given[row]))  # what is no action at all is refused, not lost by
        if played.size:
            self.tables.step(given[played], played)
        for array in (self.reward, self.terminated, self.truncated, self.illegal):
            array[:] = 0
        self._asked[rows] = True
        self._redeals[rows] = 0
        if lost.size:
            self._forfeit(lost)
        if waiting.size and self.autoreset == "next_step":
            self._deal(waiting)
            rows = self._all
        self._play(rows)
        rest = self._asked.nonzero()[0]
        self.reward[rest] = self.tables.earned[rest, self.seat[rest]]

    def _forfeit(self, rows: np.ndarray) -> None:
        """End the games of `rows` as lost by the learner alone."""
        records, seats = self.tables.records[rows], self.seat[rows]
        others = np.arange(self.tables.max_players) < self._players[rows, None]
        others[np.arange(rows.size), seats] = False
        records["won"] = others
        records["over"] = TERMINATED
        records["seat"] = -1
        self.tables.restore(records, rows)
        self.tables.earned[rows, seats] = -1
        self.illegal[rows] = True

    def _play(self, rows: np.ndarray) -> None:
        """Let the opponents play at `rows` until each is at its learner's turn, or over for good."""
        while rows.size:
            seats = self.tables.seat[rows]
            ended = seats < 0
            if ended.any():
                rows = np.concatenate([rows[~ended], self._end(rows[ended])])
                continue
            waits = seats != self.seat[rows]
            rows, seats = rows[waits], seats[waits]
            if rows.size:
                self._opponents_act(rows, seats)

    def _opponents_act(self, rows: np.ndarray, seats: np.ndarray) -> None:
        """One decision of the opponents to act at `rows`: one call of each agent for all its rows, one step of the tables."""
        who = self._agent_at[rows, seats]
        places = [int(who[0])] if who.size == 1 or (who[0] == who).all() else np.unique(who).tolist()
        actions = np.empty(rows.size, np.int64)
        for place in places:
            mine: Any = slice(None) if len(places) == 1 else np.flatnonzero(who == place)
            chosen = rows[mine]
            agent = self._roster.agents[place]
            actions[mine] = answer(agent, self.tables, chosen, self.agent_rng)
        try:
            self.tables.step(actions, rows)
        except ActionError as error:
            at = int(np.flatnonzero(self.tables.illegal(rows, actions))[0])
            raise IllegalAction(f"agent {name_of(self._roster.agents[int(who[at])])} acted illegally: {error}") from None

    # -- ends and beginnings of games ----------------------------------------------------------------------------------

    def _end(self, rows: np.ndarray) -> np.ndarray:
        """Note the ends of the games of `rows`, and deal those tables anew that go on at once; these are returned."""
        asked = self._asked[rows]
        done, void = rows[asked], rows[~asked]
        if done.size:
            seats = self.seat[done]
            self.reward[done] = self.tables.earned[done, seats]
            self.terminated[done] = self.tables.terminated[done]
            self.truncated[done] = self.tables.truncated[done]
            self.final_observation[done] = self.tables.observe(seats, done)
            self.final_seat[done] = seats
            self._final_at[done] = self._agent_at[done]
            self._asked[done] = False
        if void.size:
            self._void(void)
        again = rows if self.autoreset == "same_step" else void
        if again is not rows and done.size:
            self.over[done] = True
            self.tables.observation[done] = self.final_observation[done]
        if again.size:
            self._deal(again)
        return again

    def _void(self, rows: np.ndarray) -> None:
        """Count games that ended before their learner's first decision; too many in a row are an error."""
        self.never_asked[rows] += 1
        self._redeals[rows] += 1
        worst = int(rows[self._redeals[rows].argmax()])
        if self._redeals[worst] >= MOST_REDEALS:
            told = f"table {worst}: {MOST_REDEALS} games in a row ended before the learner, in seat {self.seat[worst]}, was asked"
            if self._set_up:
                raise SetupError(f"{told}; the position set up leaves it nothing to decide")
            raise TabletopError(f"{told}; is max_decisions too small?")

    def _deal(self, rows: np.ndarray) -> None:
        self.tables.reset(rows=rows, options=self._set_up)
        self._start(rows)

    def _start(self, rows: np.ndarray) -> None:
        """Draw the learner's seat and its opponents for the games that begin at `rows`."""
        self.over[rows] = False
        self._asked[rows] = False
        for row in rows.tolist():
            rng, players = self._generators[row], int(self._players[row])
            seat = int(self._fixed_seat[row]) if self._fixed_seat is not None else int(rng.integers(players))
            self.seat[row] = seat
            self._agent_at[row] = -1
            for other in range(players):
                if other != seat:
                    self._agent_at[row, other] = self._roster.place(self._draw_agent(rng))

    def _seats(self, learner_seat: Any) -> np.ndarray | None:
        """The learner's seat at each table (N,), or None if it is drawn."""
        if isinstance(learner_seat, str):
            if learner_seat != "random":
                raise ValueError(f'learner_seat must be "random" or a seat, not {learner_seat!r}')
            return None
        seats = np.asarray(learner_seat)
        if seats.dtype.kind not in "iu" or seats.shape not in ((), (self.num_tables,)):
            raise ValueError(f'learner_seat must be "random", a seat, or one for each of {self.num_tables} tables, not {learner_seat!r}')
        if (seats < 0).any() or (seats >= self._players).any():
            raise RulesError(f"learner_seat must be below the number of players ({self._players.min()}), not {learner_seat!r}")
        return np.broadcast_to(seats, (self.num_tables,))

    # -- stopping and going on -----------------------------------------------------------------------------------------

    _KEPT = (
        "reward", "terminated", "truncated", "illegal", "over", "seat", "final_seat", "never_asked",
        "_asked", "_redeals", "_agent_at", "_final_at",
    )  # fmt: skip
    _OF_TABLES = ("_mask", "observation", "_seat", "rewards", "earned", "terminated", "truncated")

    def state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Everything that going on from here depends on, between two steps: arrays, and a value for JSON that names the agents.
        (`final_observation` is not in it.) Agents act in the order of their places and share a generator, so those that are at no
        table just now keep their places too."""
        arrays = {f"learner.{name}": getattr(self, name).copy() for name in self._KEPT}
        arrays |= {f"tables.{name}": getattr(self.tables, name).copy() for name in self._OF_TABLES}
        arrays["records"] = np.frombuffer(self.tables.records.tobytes(), np.uint8).copy()
        return arrays, {
            "variants": [str(v) for v in self.variants],
            "agents": {str(at): name_of(agent) for at, agent in enumerate(self._roster.agents) if not isinstance(agent, _Gone)},
            "agent_rng": self.agent_rng.bit_generator.state,
            "generators": [g.bit_generator.state for g in self._generators],
        }

    def restore_state(self, arrays: dict[str, np.ndarray], told: dict[str, Any], agent_of: Callable[[str], Player]) -> None:
        """Go on from a `state` of tables made in the same way; agent_of(name) gives the agents that were at them."""
        if told["variants"] != [str(v) for v in self.variants]:
            raise SetupError("the state is of tables of other variants, or of another number of tables")
        for name in self._KEPT:
            getattr(self, name)[:] = arrays[f"learner.{name}"]
        for name in self._OF_TABLES:
            getattr(self.tables, name)[:] = arrays[f"tables.{name}"]
        self.tables.records[:] = np.frombuffer(arrays["records"].tobytes(), self.game.dtype)
        self._roster.agents = [_Gone() for _ in range(max((int(at) for at in told["agents"]), default=-1) + 1)]
        for at, name in told["agents"].items():
            self._roster.agents[int(at)] = agent_of(name)
        self.agent_rng.bit_generator.state = told["agent_rng"]
        for generator, state in zip(self._generators, told["generators"], strict=True):
            generator.bit_generator.state = state


class _Gone:
    """Holds the place of an agent that no table refers to any more."""

    name = "gone"

    def act(self, observation: np.ndarray, action_mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        raise AssertionError("no table refers to this agent")
