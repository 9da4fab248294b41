"""Information-set Monte Carlo tree search, compiled: one iteration after another in one tree (SO-ISMCTS; Cowling, Powley, Whitehouse 2012).

This module is a template, as `tabletop.step` is: `agents.search.kernels` makes a copy of it for each game, in which the functions below
that raise NotImplementedError are the game's own. The tree lies in a preallocated array of nodes; children are a linked list. Values
are rewards as `tabletop.step.pay` gives them, one for each seat, so 2, 3 and 4 players are searched alike.

Arrays: work (1,) records, the iteration's position; masks (1, A) int8; scratch: whatever the game's own functions work with.
"""

from __future__ import annotations

import numpy as np

from tabletop.compiled import kernel
from tabletop.stream import draw_below, seed_guess

LIVE = 0
# arguments of the functions below are numpy's numbers, for numba compiles a copy of a function for every literal it is called with
ROOT, NO_NODE = np.int64(0), np.int64(-1)
HERE = np.int64(0)  # row of `work`
RANDOM, HEURISTIC = 0, 1  # kinds of playout
TO_THE_END = -1  # depth
TRIED = 2  # in a mask: legal, and there is a child for it
DEEPEST = 512  # nodes on one way down
NATURE = np.int64(-1)  # `seat` of a node for an outcome, which is then its `action`
UNSEEN = 1e9
FINE, STUCK = 0, 1  # STUCK: a seat on turn had no legal action

# -- the game's own --------------------------------------------------------------------------------------------------------


def determinize(records, i, seat):
    """Deal again, from the row's stream, all that `seat` cannot see in row i."""
    raise NotImplementedError


def observe(records, i, seat, observation):
    """Write what `seat` knows of row i into observation (D,)."""
    raise NotImplementedError


def act(records, i, action):
    """`tabletop.step.act` of the game."""
    raise NotImplementedError


def settle(records, i, skip_forced, mask):
    """`tabletop.step.settle` of the game."""
    raise NotImplementedError


def pay(records, i, rewards):
    """`tabletop.step.pay` of the game."""
    raise NotImplementedError


# -- what a module agents.<game>_search may give; a game without one is played out at random to the end ------------------


@kernel
def forget(records, i, seat):
    """Put what `seat` cannot see in row i into an order that depends on nothing but what it sees."""


@kernel
def quiet(records, i):
    """May a playout be cut at the position in row i, which is live, and the position be evaluated?"""
    return True


@kernel
def outcome(records, i):
    """What the action just done in row i has brought to light, as a number; 0 for nothing. Play goes on apart for each outcome."""
    return 0


@kernel
def evaluate(work, i, masks, scratch, values):
    """Write the expected reward of each seat, -1 to 1, of the position in row i, which is live, into values (P,)."""
    values[:] = 0.0


@kernel
def playout_action(work, masks, scratch):
    """The action that a playout by rule of thumb takes in row 0, whose legal actions are masks[0] != 0."""
    return random_action(work, masks[0])


# -- playouts --------------------------------------------------------------------------------------------------------------


@kernel
def random_action(work, mask):
    """A uniformly random legal action, from the stream of the position in row 0."""
    count = 0
    for a in range(mask.size):
        count += mask[a] != 0
    left = draw_below(work[0]["stream"], count)
    a = 0
    while left > 0 or mask[a] == 0:
        left -= mask[a] != 0
        a += 1
    return a


@kernel
def returns(work, i, rewards, values):
    """The rewards of a game that is over, into values."""
    rewards[:] = 0
    pay(work, i, rewards)
    for k in range(values.size):
        values[k] = rewards[k]


# -- the tree --------------------------------------------------------------------------------------------------------------


@kernel
def add_child(nodes, size, parent, action, seat):
    """A new first child; NO_NODE if the array is full."""
    node = size[0]
    if node >= nodes.size:
        return NO_NODE
    size[0] = node + 1
    n = nodes[node]
    n["next"] = nodes[parent]["first"]
    n["first"] = NO_NODE
    n["visits"] = 0
    n["available"] = 0
    n["value"][:] = 0.0
    n["probability"] = 0.0
    n["action"] = action
    n["seat"] = seat
    nodes[parent]["first"] = node
    return node


@kernel
def chance_child(nodes, size, parent, what):
    """The child for an outcome, a new one if there is none; NO_NODE if the array is full."""
    child = nodes[parent]["first"]
    while child != NO_NODE:
        if nodes[child]["seat"] == NATURE and nodes[child]["action"] == what:
            return child
        child = nodes[child]["next"]
    return add_child(nodes, size, parent, what, NATURE)


@kernel
def start_tree(nodes, size):
    """A tree of nothing but its root."""
    size[0] = 0
    n = nodes[ROOT]
    n["first"] = NO_NODE
    n["next"] = NO_NODE
    n["visits"] = 0
    n["available"] = 0
    n["value"][:] = 0.0
    n["probability"] = 0.0
    n["action"] = -1
    n["seat"] = -1
    size[0] = 1


@kernel
def mark_tried(nodes, node, seat, mask):
    """Mark in the mask which actions of the seat have a child, each of which was available once more; return how many."""
    count = 0
    child = nodes[node]["first"]
    while child != NO_NODE:
        n = nodes[child]
        if n["seat"] == seat and mask[n["action"]]:
            mask[n["action"]] = TRIED
            n["available"] += 1
            count += 1
        child = n["next"]
    return count


@kernel
def count_untried(mask):
    """How many legal actions have no child."""
    count = 0
    for a in range(mask.size):
        count += mask[a] == 1
    return count


@kernel
def random_untried(work, mask):
    """A uniformly random action without a child; there is one."""
    left = draw_below(work[0]["stream"], count_untried(mask))
    a = 0
    while left > 0 or mask[a] != 1:
        left -= mask[a] == 1
        a += 1
    return a


@kernel
def best_child(nodes, node, seat, mask, exploration):
    """The available child that the upper confidence bound is highest for. Ties: latest child."""
    best = NO_NODE
    best_score = -UNSEEN
    child = nodes[node]["first"]
    while child != NO_NODE:
        n = nodes[child]
        if n["seat"] == seat and mask[n["action"]]:
            score = n["value"][seat] / n["visits"] + exploration * np.sqrt(np.log(n["available"] + 1.0) / n["visits"])
            if score > best_score:
                best_score = score
                best = child
        child = n["next"]
    return best


@kernel
def back_up(nodes, path, length, values):
    """One visit more, of these values, for the nodes on the way."""
    for j in range(length):
        n = nodes[path[j]]
        n["visits"] += 1
        for k in range(values.size):
            n["value"][k] += values[k]


@kernel
def search(
    roots, row, seed, begin, end, work, masks, scratch, rewards, values, nodes, size, path, allowed,
    playout, depth, exploration, widening,
):  # fmt: skip
    """Iterations begin to end - 1 of the search from roots[row], each on cards dealt again from the stream of (seed, iteration): down the
    tree, one node further, a playout, and back up. STUCK if a seat on turn had no legal action.

    It is one function, with one place where actions are done: every function that calls the rules is compiled with a copy of them."""
    if begin == 0:
        start_tree(nodes, size)
        forget(roots, row, np.int64(roots[row]["seat"]))
    mask = masks[0]
    for iteration in range(begin, end):
        work[0] = roots[row]
        seed_guess(work[0]["stream"], seed, np.uint64(iteration))
        determinize(work, HERE, np.int64(work[0]["seat"]))
        if not settle(work, HERE, True, mask):
            return STUCK
        for a in range(allowed.size):
            mask[a] = mask[a] and allowed[a]
        node = ROOT
        path[0] = ROOT
        length = 1
        steps = 0
        in_tree = True
        valued = False
        while work[0]["over"] == LIVE:
            seat = np.int64(work[0]["seat"])
            child = NO_NODE
            tried = 0
            untried = 0
            if in_tree:
                tried = mark_tried(nodes, node, seat, mask)
                if tried == 0 or widening == 0.0 or tried < widening * np.sqrt(nodes[node]["visits"] + 1.0):
                    untried = count_untried(mask)
                if untried == 0:
                    child = best_child(nodes, node, seat, mask, exploration)
                in_tree = untried > 0 or child != NO_NODE  # else the array is full
            if not in_tree:
                if depth >= 0 and steps >= depth and quiet(work, HERE):
                    evaluate(work, HERE, masks, scratch, values)
                    valued = True
                    break
                steps += 1
            if child != NO_NODE:
                action = np.int64(nodes[child]["action"])
            elif playout == HEURISTIC and (not in_tree or (tried == 0 and untried > 1)):
                action = np.int64(playout_action(work, masks, scratch))
            else:
                action = np.int64(random_untried(work, mask) if in_tree else random_action(work, mask))
            if child == NO_NODE and in_tree:
                child = add_child(nodes, size, node, action, seat)
                if child == NO_NODE:
                    in_tree = False
                else:
                    nodes[child]["available"] = 1
            act(work, HERE, action)
            if not settle(work, HERE, True, mask):
                return STUCK
            if in_tree:
                node = child
                path[length] = child
                length += 1
                in_tree = untried == 0 and length < DEEPEST - 1
                if in_tree and work[0]["over"] == LIVE:
                    what = outcome(work, HERE)
                    if what != 0:
                        child = chance_child(nodes, size, node, what)
                        if child == NO_NODE:
                            in_tree = False
                        else:
                            node = child
                            path[length] = child
                            length += 1
        if not valued:
            returns(work, HERE, rewards, values)
        back_up(nodes, path, length, values)
    return FINE


@kernel
def read_root(nodes, visits, available, mean, values):
    """Write what the tree knows of the root's actions: visits, availability (A,) and mean value for the seat to act; values (P,) of the
    root. The action visited most, among those the one of the higher mean, among those the lowest; -1 without a visit."""
    visits[:] = 0
    available[:] = 0
    mean[:] = 0.0
    root = nodes[ROOT]
    for k in range(values.size):
        values[k] = root["value"][k] / max(root["visits"], 1)
    child = root["first"]
    while child != NO_NODE:
        n = nodes[child]
        a = n["action"]
        visits[a] = n["visits"]
        available[a] = n["available"]
        if n["visits"] > 0:
            mean[a] = n["value"][n["seat"]] / n["visits"]
        child = n["next"]
    best = -1
    for a in range(visits.size):
        if visits[a] > 0 and (best < 0 or visits[a] > visits[best] or (visits[a] == visits[best] and mean[a] > mean[best])):
            best = a
    return best
