"""Tree search guided by a learned policy: the network says which actions to look at and what positions are worth.

All positions of a call are searched side by side, so that the network judges their leaves together, one of each tree at a time.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from agents import tree
from agents.search import Found, PositionAgent, Workspace, called, check_number, check_whole, compiled, first_decision
from tabletop.errors import EmptyMask
from tabletop.registry import Game
from tabletop.sampling import check_masks

if TYPE_CHECKING:
    from agents.policy import PolicyAgent

ITERATIONS = 64
MOST_ROWS = 128  # positions searched side by side
CHILDREN = 40  # nodes for each iteration, besides the root's; once they are used up, the tree grows no more
MOST_NODES = 1 << 22  # of a tree
MOST_NODES_AT_ONCE = 1 << 24  # of the trees that are searched side by side: a gigabyte, of which as much is used as they grow
UNTIL_THE_CLOCK = 4096  # iterations that a search by the clock alone has nodes for


class GuidedAgent(PositionAgent):
    """Plays by information-set tree search with PUCT, without playouts: a leaf is worth what the policy's network says.

    policy: an `agents.policy.PolicyAgent` of the game; its value is taken for the seat to act, and what that gains the others lose in
    equal parts. iterations, milliseconds: the budget of a decision, whichever ends first (default 64 iterations; milliseconds of wall
    time: n positions that are searched side by side get n times as many together). exploration: weight of the policy's probabilities,
    in rewards (-1 to 1).

    Without `milliseconds` a decision depends on the position, as its seat knows it, the policy and the generator alone (to within
    what the network rounds differently in batches of other sizes).
    """

    def __init__(
        self,
        game: Game,
        policy: PolicyAgent,
        *,
        iterations: int | None = None,
        milliseconds: float | None = None,
        exploration: float = 1.25,
    ) -> None:
        check_whole("iterations", iterations, 1, 10**6, optional=True)
        check_number("milliseconds", milliseconds, 0.1, 1e7, optional=True)
        check_number("exploration", exploration, 0, 100)
        if iterations is None and milliseconds is None:
            iterations = ITERATIONS
        super().__init__(game, 1, min(MOST_NODES, (iterations or UNTIL_THE_CLOCK) * CHILDREN + game.num_actions + 2))
        self.policy, self.iterations, self.milliseconds, self.exploration = policy, iterations, milliseconds, exploration
        given = {"iterations": iterations, "milliseconds": milliseconds, "exploration": None if exploration == 1.25 else exploration}
        self.name = called("search", {"policy": policy.name.removeprefix("policy:"), **given})
        self.kernels = compiled(game, "guided search", "agents.puct", lambda bound: warm_up(game, bound))

    def act_on(self, positions: np.ndarray, action_mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Actions (n,) int64 for the seats to act in positions (n,), which are not written to; EmptyMask if a row of the mask (n, A)
        allows nothing. One number of `rng` seeds each row."""
        check_masks(action_mask)
        allowed = np.array(action_mask, np.int8, order="C")
        seeds = rng.integers(2**63, size=len(positions)).astype(np.uint64)
        found: list[Any] = [None] * len(positions)
        choices = allowed.sum(axis=1)
        for row in np.flatnonzero(choices == 1):
            found[row] = self._forced(positions, int(row), allowed[row])
        asked = np.flatnonzero(choices > 1)
        together = min(MOST_ROWS, max(1, MOST_NODES_AT_ONCE // self.nodes))
        for lo in range(0, asked.size, together):
            rows = asked[lo : lo + together]
            for row, answer in zip(rows, self._search(positions[rows], allowed[rows], seeds[rows]), strict=True):
                found[row] = answer
        self._found = [explain for _, explain in found]
        return np.array([action for action, _ in found], np.int64)

    def _search(self, roots: np.ndarray, allowed: np.ndarray, seeds: np.ndarray) -> list[Found]:
        """Search from these positions, side by side."""
        t = Trees(self.game, roots, allowed, self.nodes)
        self.kernels.start_rows(t.roots, t.nodes, t.size)
        until = None if self.milliseconds is None else time.perf_counter() + self.milliseconds / 1000 * len(roots)
        done = 0
        while (self.iterations is None or done < self.iterations) and (not done or until is None or time.perf_counter() < until):
            if t.descend(self.kernels, seeds, done, self.exploration) != tree.FINE:
                raise EmptyMask("a seat on turn had no legal action in a position that the search came to")
            leaves = np.flatnonzero(t.seats >= 0)
            if leaves.size:
                logits, worths = self.policy.logits(t.observation[leaves], t.masks[leaves])
                chances = np.exp(logits - logits.max(axis=1, keepdims=True))
                chances /= chances.sum(axis=1, keepdims=True)
                t.expand(self.kernels, leaves, chances, worths)
            done += 1
        answers = []
        w = Workspace(self.game, 2)
        for i in range(len(roots)):
            action = int(self.kernels.read_root(t.nodes[i], w.visits, w.available, w.mean, w.values))
            if action < 0:  # a single iteration visits the root alone: the policy's choice
                first = np.flatnonzero(t.nodes[i]["seat"][1 : t.size[i, 0]] == roots[i]["seat"]) + 1
                action = int(t.nodes[i]["action"][first[t.nodes[i]["probability"][first].argmax()]])
            seat, players = int(roots[i]["seat"]), int(roots[i]["players"])
            answers.append((action, self._explainer(w, seat, players, action, done)))
        return answers


class Trees:
    """The arrays of searches side by side: see `agents.puct`."""

    def __init__(self, game: Game, roots: np.ndarray, allowed: np.ndarray, nodes: int) -> None:
        n, seats = len(roots), game.rules.max_players
        self.roots, self.work, self.allowed = roots.copy(), roots.copy(), allowed
        self.masks = np.zeros((n, game.num_actions), np.int8)
        self.nodes = np.zeros((n, nodes), Workspace(game, 1).nodes.dtype)
        self.size = np.zeros((n, 1), np.int64)
        self.path = np.zeros((n, tree.DEEPEST + 1), np.int64)
        self.length = np.zeros(n, np.int64)
        self.seats = np.zeros(n, np.int64)
        self.values = np.zeros((n, seats))
        self.rewards = np.zeros(seats, np.float32)
        self.observation = np.zeros((n, game.layout.size), game.layout.dtype)

    def descend(self, kernels: Any, seeds: np.ndarray, iteration: int, exploration: float) -> int:
        """One way down each tree; the leaves that the network is to judge have their seat in `seats`."""
        return kernels.descend_rows(
            self.roots, seeds, iteration, self.work, self.allowed, self.masks, self.nodes, self.size, self.path, self.length, self.seats,
            self.values, self.rewards, self.observation, float(exploration),
        )  # fmt: skip

    def expand(self, kernels: Any, rows: np.ndarray, chances: np.ndarray, worths: np.ndarray) -> None:
        """Back up what the network says of the leaves of these trees: probabilities (m, A), values (m,) for the seats to act."""
        kernels.expand_rows(
            rows, self.work, self.masks, self.nodes, self.size, self.path, self.length, self.seats, chances.astype(np.float32),
            np.clip(worths, -1, 1).astype(np.float64), self.values,
        )  # fmt: skip


def warm_up(game: Game, bound: Any) -> None:
    """Compile the search by using it."""
    records, mask = first_decision(game)
    t = Trees(game, records, mask[None].copy(), 300)
    bound.start_rows(t.roots, t.nodes, t.size)
    for iteration in range(2):
        t.descend(bound, np.ones(1, np.uint64), iteration, 1.0)
        rows = np.flatnonzero(t.seats >= 0)
        t.expand(bound, rows, np.full((len(rows), game.num_actions), 0.1, np.float32), np.zeros(len(rows)))
    w = Workspace(game, 2)
    bound.read_root(t.nodes[0], w.visits, w.available, w.mean, w.values)
