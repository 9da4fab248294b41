"""Search guided by a policy, compiled: one step down the trees of many positions, and back up once the network has judged the leaves.

The tree is that of `agents.tree` (SO-ISMCTS; Cowling, Powley, Whitehouse 2012), chosen through by PUCT (Rosin 2011; Silver et al.
2017): a node's `probability` is the policy's, of the action. This module is a template like `agents.tree`.

Arrays, for n trees: roots, work (n,) records; allowed, masks (n, A) int8; nodes (n, N); size (n, 1); path (n, DEEPEST + 1);
length (n,); seats, whose turn it is at a leaf (n,): -1 where the network is not needed; values (n, P).
"""

from __future__ import annotations

import numpy as np

from agents.tree import (  # noqa: F401 - some are here to be replaced by a game's own
    DEEPEST,
    FINE,
    LIVE,
    NO_NODE,
    ROOT,
    STUCK,
    act,
    add_child,
    back_up,
    chance_child,
    determinize,
    evaluate,
    forget,
    mark_tried,
    observe,
    outcome,
    pay,
    playout_action,
    quiet,
    read_root,
    settle,
    start_tree,
)
from tabletop.compiled import kernel
from tabletop.stream import seed_guess

NOBODY = -1  # of `seats`


@kernel
def start_rows(roots, nodes, size):
    """Trees of nothing but their roots."""
    for i in range(roots.size):
        start_tree(nodes[i], size[i])
        forget(roots, i, np.int64(roots[i]["seat"]))


@kernel
def best_by_puct(nodes, node, seat, mask, exploration):
    """The available child of the highest score: its mean for the seat (if not visited, that of the node) and the policy's probability,
    more for what has been tried seldom. Ties: latest child. NO_NODE if none is available."""
    parent = nodes[node]
    at_first = parent["value"][seat] / max(parent["visits"], 1)
    total = 0.0
    child = parent["first"]
    while child != NO_NODE:
        n = nodes[child]
        if n["seat"] == seat and mask[n["action"]]:
            total += n["probability"]
        child = n["next"]
    best = NO_NODE
    best_score = -1e9
    child = parent["first"]
    while child != NO_NODE:
        n = nodes[child]
        if n["seat"] == seat and mask[n["action"]]:
            mean = n["value"][seat] / n["visits"] if n["visits"] > 0 else at_first
            score = mean + exploration * n["probability"] / max(total, 1e-9) * np.sqrt(n["available"]) / (1.0 + n["visits"])
            if score > best_score:
                best_score = score
                best = child
        child = n["next"]
    return best


@kernel
def descend_rows(
    roots, seeds, iteration, work, allowed, masks, nodes, size, path, length, seats, values, rewards, observation, exploration
):  # fmt: skip
    """One way down each tree, on cards dealt again from the stream of (seeds[i], iteration). Where the game ends on it, that is backed
    up; elsewhere seats[i] is who is to act at the leaf, and observation[i] what it knows. STUCK if a seat had no legal action."""
    for i in range(roots.size):
        work[i] = roots[i]
        s = work[i]
        seed_guess(s["stream"], seeds[i], np.uint64(iteration))
        determinize(work, i, np.int64(s["seat"]))
        mask = masks[i]
        if not settle(work, i, True, mask):
            return STUCK
        for a in range(mask.size):
            mask[a] = mask[a] and allowed[i, a]
        node = ROOT
        path[i, 0] = ROOT
        depth = 1
        seats[i] = NOBODY
        while s["over"] == LIVE:
            seat = np.int64(s["seat"])
            tried = mark_tried(nodes[i], node, seat, mask)
            if tried == 0 or depth >= DEEPEST - 1:
                seats[i] = seat
                break
            if tried * 2 < count(mask):  # cards dealt otherwise allow much that was not foreseen
                add_uniform(nodes[i], size[i], node, seat, mask)
            child = best_by_puct(nodes[i], node, seat, mask, exploration)
            act(work, i, np.int64(nodes[i][child]["action"]))
            if not settle(work, i, True, mask):
                return STUCK
            node = child
            path[i, depth] = child
            depth += 1
            if s["over"] == LIVE:
                what = outcome(work, i)
                if what != 0:
                    child = chance_child(nodes[i], size[i], node, what)
                    if child != NO_NODE:
                        node = child
                        path[i, depth] = child
                        depth += 1
        length[i] = depth
        if seats[i] == NOBODY:
            rewards[:] = 0
            pay(work, i, rewards)
            for k in range(values.shape[1]):
                values[i, k] = rewards[k]
            back_up(nodes[i], path[i], depth, values[i])
        else:
            observe(work, i, seats[i], observation[i])
            for a in range(mask.size):
                mask[a] = mask[a] != 0
    return FINE


@kernel
def count(mask):
    """How many actions are legal."""
    found = 0
    for a in range(mask.size):
        found += mask[a] != 0
    return found


@kernel
def add_uniform(nodes, size, node, seat, mask):
    """A child for every legal action without one, each as likely as the others."""
    share = 1.0 / count(mask)
    for a in range(mask.size):
        if mask[a] == 1:
            child = add_child(nodes, size, node, np.int64(a), seat)
            if child == NO_NODE:
                return
            nodes[child]["probability"] = share
            nodes[child]["available"] = 1
            mask[a] = 2


@kernel
def expand_rows(rows, work, masks, nodes, size, path, length, seats, chances, worths, values):
    """Give the leaves of the trees `rows` a child for each legal action, as likely as chances[j] (A,), if there is room for all of them;
    and back up worths[j], what the seat to act may expect: what it gains the others lose, in equal parts."""
    for j in range(rows.size):
        i = rows[j]
        leaf = path[i, length[i] - 1]
        seat = np.int64(seats[i])
        players = np.int64(work[i]["players"])
        mask = masks[i]
        if length[i] < DEEPEST - 1 and size[i, 0] + count(mask) <= nodes.shape[1]:
            for a in range(mask.size):
                if mask[a]:
                    child = add_child(nodes[i], size[i], leaf, np.int64(a), seat)
                    nodes[i][child]["probability"] = chances[j, a]
        for k in range(values.shape[1]):
            values[i, k] = 0.0
        for k in range(players):
            values[i, k] = worths[j] if k == seat else -worths[j] / (players - 1)
        back_up(nodes[i], path[i], length[i], values[i])
