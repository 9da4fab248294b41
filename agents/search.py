"""Information-set Monte Carlo tree search as an agent: the kernels of `agents.tree` for any game, in one call for many decisions.

A game's own part, if it has one, is the module agents.<game>_search: any of HOOKS (see `agents.tree`); `scratch(game)`, what they
work with; `prepare(scratch, record)`, called once a search; and DEFAULTS, the options that serve this game best. A game without one
is played out at random to the end.
"""

from __future__ import annotations

import importlib
import importlib.util
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from agents import tree
from tabletop.compiled import announce, bind, used_packages
from tabletop.errors import EmptyMask
from tabletop.registry import Game
from tabletop.sampling import check_masks

HOOKS = ("forget", "quiet", "outcome", "evaluate", "playout_action")
PLAYOUTS = {"random": tree.RANDOM, "heuristic": tree.HEURISTIC}
DEFAULTS: dict[str, Any] = {"playout": "random", "depth": "end", "exploration": 0.7, "widening": 0.0}
ITERATIONS = 1000
MOST_NODES = 1 << 20  # of a tree, unless more are asked for
CHUNK = 32  # iterations between two looks at the clock


def own_part(game: Game) -> str | None:
    """The name of the module with the game's own part of the search, if there is one."""
    name = f"agents.{game.name}_search"
    return name if importlib.util.find_spec(name) else None


@cache
def own_module(game: Game) -> Any:
    """That module; None if there is none."""
    found = own_part(game)
    return importlib.import_module(found) if found else None


@cache
def kernels(game: Game, template: str = "agents.tree") -> ModuleType:
    """A template, as `agents.tree`, bound to a game's functions. It is compiled at first use."""
    loops, own = game.loops, own_module(game)
    functions = {name: getattr(loops, name) for name in ("determinize", "observe", "act", "settle", "pay")}
    functions |= {name: getattr(own, name) for name in HOOKS if hasattr(own, name)}
    packages = (*game.packages, "agents.tree")
    if own is not None:
        packages = (*packages, own.__name__, *getattr(own, "KERNEL_PACKAGES", ()))
    return bind(template, game.name, packages, **functions)


def compiled(game: Game, label: str, template: str, warm_up: Callable[[ModuleType], object]) -> ModuleType:
    """The same, compiled, which is announced."""
    bound = kernels(game, template)
    packages = used_packages(bound.__name__, bound.KERNEL_PACKAGES)
    announce(f"the {label} of {game.title or game.name}", packages, lambda: warm_up(bound))
    return bound


def first_decision(game: Game) -> tuple[np.ndarray, np.ndarray]:
    """A record array of one game and the mask (A,) of the seat to act, to compile with."""
    records, mask = game.new_record(game.variant()), np.zeros(game.num_actions, np.int8)
    game.loops.settle(records, 0, True, mask)
    return records, mask


@dataclass(frozen=True)
class Settings:
    """What `search_row` goes by. iterations, milliseconds: None without a limit; depth: tree.TO_THE_END or a number of decisions."""

    iterations: int | None
    milliseconds: float | None
    playout: int
    depth: int
    exploration: float
    widening: float


class Workspace:
    """The arrays of one search at a time."""

    def __init__(self, game: Game, nodes: int) -> None:
        seats = game.rules.max_players
        node = np.dtype(
            [
                ("value", np.float64, (seats,)),  # sum over the visits, for each seat
                ("first", np.int32),  # child
                ("next", np.int32),  # child of the same parent
                ("visits", np.int32),
                ("available", np.int32),  # visits of the parent in which the action was legal
                ("probability", np.float32),  # of the action, as a policy has it (agents.puct)
                ("action", np.int32),  # that led here
                ("seat", np.int16),  # that took it
            ],
            align=True,
        )
        self.work = np.zeros(1, game.dtype)
        self.masks = np.zeros((1, game.num_actions), np.int8)
        own = own_module(game)
        self.scratch: Any = own.scratch(game) if hasattr(own, "scratch") else np.zeros(1, game.layout.dtype)
        self.prepare: Callable[[Any, Any], None] | None = getattr(own, "prepare", None)
        self.rewards = np.zeros(seats, np.float32)
        self.values = np.zeros(seats)
        self.nodes = np.zeros(nodes, node)
        self.size = np.zeros(1, np.int64)
        self.path = np.zeros(tree.DEEPEST + 1, np.int64)
        self.visits = np.zeros(game.num_actions, np.int64)
        self.available = np.zeros(game.num_actions, np.int64)
        self.mean = np.zeros(game.num_actions)


def search_row(bound: ModuleType, w: Workspace, roots: np.ndarray, row: int, allowed: np.ndarray, seed: int, settings: Settings) -> int:
    """Search from one position within the budget; what is found is left in the workspace's tree. The number of iterations."""
    until = None if settings.milliseconds is None else time.perf_counter() + settings.milliseconds / 1000
    if w.prepare:
        w.prepare(w.scratch, roots[row])
    done = 0
    while settings.iterations is None or done < settings.iterations:
        end = settings.iterations if settings.iterations is not None else done + CHUNK
        if until is not None:
            end = min(end, done + CHUNK)
        status = bound.search(
            roots, row, np.uint64(seed), done, end, w.work, w.masks, w.scratch, w.rewards, w.values, w.nodes, w.size, w.path,
            allowed, settings.playout, settings.depth, settings.exploration, settings.widening,
        )  # fmt: skip
        if status != tree.FINE:
            raise EmptyMask(f"a seat on turn had no legal action in a position that the search of row {row} came to")
        done = end
        if until is not None and time.perf_counter() >= until:
            break
    return done


@dataclass(frozen=True)
class Move:
    """What a search found out about one action: how often it was tried and could have been, and its mean value for the searcher."""

    action: str
    visits: int
    available: int
    value: float


@dataclass(frozen=True)
class Explanation:
    """What a search found out about one decision. values: expected reward of each seat (P,); moves: those tried, most visited first."""

    action: str
    seat: int
    iterations: int
    values: tuple[float, ...]
    moves: tuple[Move, ...]

    def __str__(self) -> str:
        values = ", ".join(f"seat {k} {value:+.2f}" for k, value in enumerate(self.values))
        width = max([len(move.action) for move in self.moves], default=6)
        lines = [f"seat {self.seat} plays {self.action} after {self.iterations:,} iterations; value: {values}"]
        lines += [f"{'action':{width}}  visits  available   value"] if self.moves else []
        lines += [f"{m.action:{width}}  {m.visits:6,}  {m.available:9,}  {m.value:+6.2f}" for m in self.moves]
        return "\n".join(lines)


Found = tuple[int, Callable[[], Explanation]]  # an action, and what explains it


class PositionAgent:
    """What agents have in common that look into each position by itself: many rows in one call, threads, and `explain`."""

    game: Game
    threads: int
    nodes: int

    def __init__(self, game: Game, threads: int, nodes: int) -> None:
        check_whole("threads", threads, 1, 1024)
        self.game, self.threads, self.nodes = game, threads, nodes
        self._spaces: list[Workspace] = []
        self._found: list[Callable[[], Explanation]] = []

    def act_on(self, positions: np.ndarray, action_mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Actions (n,) int64 for the seats to act in positions (n,), which are not written to; EmptyMask if a row of the mask (n, A) allows
        nothing. One number of `rng` seeds each row."""
        check_masks(action_mask)
        n = len(positions)
        roots = positions.copy()
        allowed = np.array(action_mask, np.int8, order="C")
        seeds = rng.integers(2**63, size=n)
        actions = np.empty(n, np.int64)
        found: list[Any] = [None] * n
        threads = min(self.threads, n)
        while len(self._spaces) < threads:
            self._spaces.append(Workspace(self.game, self.nodes))

        def look_into_rows(thread: int) -> None:
            for row in range(thread, n, threads):
                if allowed[row].sum() == 1:
                    actions[row], found[row] = self._forced(roots, row, allowed[row])
                else:
                    actions[row], found[row] = self._look_into(self._spaces[thread], roots, row, allowed[row], int(seeds[row]))

        if threads < 2:
            for thread in range(threads):
                look_into_rows(thread)
        else:
            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(look_into_rows, range(threads)))
        self._found = found
        return actions

    def explain(self) -> list[Explanation]:
        """What the last call of `act_on` found out, for each of its rows; print one to read it."""
        return [explain() for explain in self._found]

    def _look_into(self, w: Workspace, roots: np.ndarray, row: int, allowed: np.ndarray, seed: int) -> Found:
        """The action for one row, and what explains it."""
        raise NotImplementedError

    def _forced(self, roots: np.ndarray, row: int, allowed: np.ndarray) -> Found:
        action, seat, players = int(allowed.argmax()), int(roots[row]["seat"]), int(roots[row]["players"])
        return action, lambda: Explanation(self.game.actions.names[action], seat, 0, (0.0,) * players, ())

    def _explainer(self, w: Workspace, seat: int, players: int, action: int, iterations: int) -> Callable[[], Explanation]:
        """What explains an action by the counts and means that are in the workspace now."""
        names = self.game.actions.names
        tried = np.flatnonzero(w.visits)
        tried = tried[np.lexsort((tried, -w.mean[tried], -w.visits[tried]))]
        visits, available, mean, values = w.visits[tried], w.available[tried], w.mean[tried], w.values[:players].copy()

        def explain() -> Explanation:
            moves = [Move(names[a], int(v), int(c), float(m)) for a, v, c, m in zip(tried, visits, available, mean, strict=True)]
            return Explanation(names[action], seat, iterations, tuple(values.tolist()), tuple(moves))

        return explain


class SearchAgent(PositionAgent):
    """Plays by information-set Monte Carlo tree search, every iteration on cards dealt again from the seat to act.

    iterations, milliseconds: the budget of a decision, whichever ends first (default 1,000 iterations; milliseconds of wall time).
    playout: "random", or "heuristic": by the game's rule of thumb. depth: decisions of a playout before the position is evaluated, or
    "end". exploration: constant of the upper confidence bound, in rewards (-1 to 1). widening: actions tried in a node, one by one, the
    rule of thumb's first, for each square root of its visits; 0: all, before any is tried again. None: what serves the game best
    (DEFAULTS of agents.<game>_search). threads: decisions searched at the same time. nodes: most of a tree.

    Without `milliseconds` a decision depends on the position, as its seat knows it, and the generator alone.
    """

    def __init__(
        self,
        game: Game,
        *,
        iterations: int | None = None,
        milliseconds: float | None = None,
        playout: str | None = None,
        depth: int | str | None = None,
        exploration: float | None = None,
        widening: float | None = None,
        threads: int = 1,
        nodes: int | None = None,
    ) -> None:
        given = {"playout": playout, "depth": depth, "exploration": exploration, "widening": widening}
        used = options_of(game, given)
        if iterations is None and milliseconds is None:
            iterations = ITERATIONS
        budget = {"iterations": iterations, "milliseconds": milliseconds}
        self.name = called("search", budget | given)
        check_whole("iterations", iterations, 1, 10**9, optional=True)
        check_number("milliseconds", milliseconds, 0.1, 1e7, optional=True)
        check_number("exploration", used["exploration"], 0, 100)
        check_number("widening", used["widening"], 0, 1000)
        check_whole("nodes", nodes, 2, 1 << 28, optional=True)
        self.settings = Settings(
            iterations,
            milliseconds,
            PLAYOUTS[used["playout"]],
            depth_of(used["depth"]),
            float(used["exploration"]),
            float(used["widening"]),
        )
        wanted = MOST_NODES if iterations is None else 2 + 2 * iterations
        super().__init__(game, threads, nodes if nodes is not None else min(wanted, MOST_NODES))
        self.kernels = compiled(game, "search", "agents.tree", lambda bound: warm_up(game, bound))

    def _look_into(self, w: Workspace, roots: np.ndarray, row: int, allowed: np.ndarray, seed: int) -> Found:
        iterations = search_row(self.kernels, w, roots, row, allowed, seed, self.settings)
        action = int(self.kernels.read_root(w.nodes, w.visits, w.available, w.mean, w.values))
        return action, self._explainer(w, int(roots[row]["seat"]), int(roots[row]["players"]), action, iterations)


def warm_up(game: Game, bound: ModuleType) -> None:
    """Compile the search by using it."""
    records, mask = first_decision(game)
    w = Workspace(game, 8)
    search_row(bound, w, records, 0, mask, 1, Settings(2, None, tree.RANDOM, 0, 0.7, 0.0))
    bound.read_root(w.nodes, w.visits, w.available, w.mean, w.values)


def options_of(game: Game, given: dict[str, Any]) -> dict[str, Any]:
    """The options given, and for those that are None what serves the game best; playout and depth are checked."""
    used = DEFAULTS | getattr(own_module(game), "DEFAULTS", {}) | {key: value for key, value in given.items() if value is not None}
    if used["playout"] not in PLAYOUTS:
        raise ValueError(f"playout must be {' or '.join(PLAYOUTS)}, not {used['playout']!r}")
    if used["playout"] == "heuristic":
        check_hook(game, "playout=heuristic", "playout_action")
    if used["depth"] != "end":
        check_whole("depth", used["depth"], 0, 10**6, also=" or end")
        check_hook(game, "depth", "evaluate")
    return used


def depth_of(depth: int | str) -> int:
    return tree.TO_THE_END if depth == "end" else int(depth)


def called(kind: str, options: dict[str, Any]) -> str:
    """An agent's name: its kind and the options that are not None."""
    given = [f"{key}={value:g}" if isinstance(value, float) else f"{key}={value}" for key, value in options.items() if value is not None]
    return f"{kind}:{','.join(given)}"


def check_hook(game: Game, option: str, hook: str) -> None:
    """ValueError if the game does not give what an option needs."""
    if not hasattr(own_module(game), hook):
        raise ValueError(f"{option} cannot be had for {game.name}: there is no {hook} in agents.{game.name}_search")


def check_whole(name: str, value: Any, low: int, high: int, optional: bool = False, also: str = "") -> None:
    """ValueError unless it is a whole number in range."""
    if value is None and optional:
        return
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not low <= value <= high:
        raise ValueError(f"{name} must be a whole number from {low:,} to {high:,}{also}, not {value!r}")


def check_number(name: str, value: Any, low: float, high: float, optional: bool = False) -> None:
    """ValueError unless it is a number in range."""
    if value is None and optional:
        return
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating) or not low <= value <= high:
        raise ValueError(f"{name} must be a number from {low:g} to {high:g}, not {value!r}")
