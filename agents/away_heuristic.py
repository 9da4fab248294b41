"""An a_way player that looks one card ahead: it does what leaves its own ship near home and the others' far from it.

A position is worth what the ways home promise: moves along the lanes as they lie or, where no lanes lead home yet, moves to an open
lane's end and cells from there to home. Every action is carried out on a copy of the position, all targets it asks for included, and
the best end counts. The copy is made from the observation alone: hands of others and the deck in it are a guess, and nothing of
them is used. Whole batches at once; ties go to the lowest action.
"""

from __future__ import annotations

import numpy as np

import tabletop
from away_env import observation as o
from away_env.actions import A_CELL, A_DISCARD, A_DONE, A_PASS, ACTIONS
from away_env.cards import FIRST_BASE, MAX_PLAYERS, MOST_STATIONS, NUM_CARDS, NUM_EXPLORATION, PIRATE_RAID, SCRAPYARD, UNKNOWN_FATE
from away_env.effects import SIZE
from away_env.kernel import FACTION, apply, forget_decision, legal
from away_env.lanes import BASE_PORT, CELL_OF, CELLS, FRAME, MOST_WAITING, STEP, is_card, lanes_from
from away_env.state import (
    CELL,
    DECK,
    FREE,
    LAID,
    LINE,
    NO_CARD,
    NO_CELL,
    NO_FACTION,
    NOWHERE,
    NUM_CELLS,
    OFF,
    PILE,
    SEAT,
    STATE,
    STOP,
    TABLE_PLACE,
    TURN,
)
from away_env.targets import ACTION
from away_env.turn import MAX_ROUNDS
from tabletop.compiled import announce, kernel, used_packages
from tabletop.sampling import check_masks

KERNEL_PACKAGES = ("away_env",)

#: What the player weighs (see docs/agents.md)
WEIGHTS = {
    "far": 0.12,  # how fast a way home loses worth with its length: exp(-far x moves)
    "near": 0.70,  # the same, of what counts near home only
    "near_worth": 0.60,  # what that is worth
    "gap": 2.2,  # moves that a cell without a card on the way counts for
    "blocked": 2.5,  # moves that a card counts for besides that does not let the ship in or out
    "others": 0.85,  # weight of the opponents
    "card": 0.002,  # what a card played costs
    "chain": 0.004,  # what a further card of the same faction in the hand is worth when one is played
    "fate": 0.02,  # what an unknown fate brings
    "fresh": 0.006,  # what discarding a card is worth
    "soon": 0.20,  # what is lost by coming home in phase 2 only
}
FAR, NEAR, NEAR_WORTH, GAP, BLOCKED, OTHERS, CARD, CHAIN, FATE, FRESH, SOON = range(len(WEIGHTS))
NO_WAY = 40.0  # moves home when neither lanes nor open ends lead anywhere
DEPTH = 6  # most targets of an action, and one more
MOST_LEAVES = 200  # ends of one action that are looked at
STRIDE = 97  # targets are tried in steps of this: prime to the number of actions, so that a cut sample is spread out
NEVER = -1e9


# -- the position as the observation tells it ------------------------------------------------------------------------------


@kernel
def only(obs, at, size):
    """Place of the one among `size` entries, or -1."""
    for j in range(size):
        if obs[at + j]:
            return j
    return -1


@kernel
def rebuild(obs, s):
    """Write the position into s, whose options and card table are set; the acting seat's number is returned."""
    players = 2 + only(obs, o.O_PLAYERS, 3)
    me = (players - only(obs, o.O_FIRST, MAX_PLAYERS)) % players
    s["players"] = players
    s["seat"] = me
    s["over"] = 0
    s["decisions"] = 0
    s["limit"] = 1 << 30
    s["won"][:] = 0
    s["options"][SIZE] = obs[o.O_SIZE]
    s["options"][MAX_ROUNDS] = obs[o.O_ROUND] + obs[o.O_ROUNDS_LEFT]
    s["round"] = obs[o.O_ROUND]
    s["part"] = 2 if obs[o.O_SECOND_PART] else 1
    forget_decision(s)
    s["phase"] = only(obs, o.O_PHASE, 9)
    faction = only(obs, o.O_FACTION, 4)
    s["faction"] = faction if faction >= 0 else NO_FACTION
    s["discarded"] = obs[o.O_DISCARDED]
    rebuild_table(obs, s, me)
    rebuild_ships(obs, s, me, players)
    rebuild_cards(obs, s, me, players)
    s["effect"] = only(obs, o.O_EFFECT, len(o.EFFECTS))
    s["step"] = obs[o.O_STEP]
    first = only(obs, o.P_NAMED_1, o.PLANE)
    second = only(obs, o.P_NAMED_2, o.PLANE)
    if s["effect"] == PIRATE_RAID:
        raided = only(obs, o.O_RAIDED, MAX_PLAYERS)
        s["target"][0] = (me + raided) % players if raided >= 0 else NO_CELL
        s["target"][1] = CELL_OF[me, first] if first >= 0 else NO_CELL
    else:
        s["target"][0] = CELL_OF[me, first] if first >= 0 else NO_CELL
        s["target"][1] = CELL_OF[me, second] if second >= 0 else NO_CELL
    named = only(obs, o.O_NAMED_TURN, 4)
    s["target_turn"] = (named - FRAME[me]) & 3 if named >= 0 else -1
    return me


@kernel
def rebuild_table(obs, s, me):
    """Cards and bases on the table."""
    s["board"][:] = OFF
    s["turn"][:] = 0
    s["base"][:] = NO_CELL
    for own in range(o.PLANE):
        cell = CELL_OF[me, own]
        card = np.int64(obs[o.O_LYING + own]) - 1
        if card >= 0:
            s["board"][cell] = card
            s["design"][card] = obs[o.O_LYING + o.PLANE + own] - 1
            s["turn"][cell] = (np.int64(obs[o.O_LYING + 2 * o.PLANE + own]) - 1 - FRAME[me]) & 3
        elif obs[o.O_BOARD + 5 * o.PLANE + own]:
            s["board"][cell] = FREE
        else:
            base = -1
            for port in range(4):  # a base is told by the side its port is on
                if obs[o.O_BOARD + (o.IN + port) * o.PLANE + own]:
                    for k in range(MAX_PLAYERS):
                        if (BASE_PORT[k] + FRAME[me]) & 3 == port:
                            base = k
            if base >= 0:
                s["board"][cell] = FIRST_BASE + base
                s["base"][base] = cell


@kernel
def rebuild_ships(obs, s, me, players):
    s["ship"][:] = NO_CELL
    s["stop"][:] = 0
    s["home"][:] = 0
    s["hand_size"][:] = 0
    for k in range(players):
        seat = (me + k) % players
        s["ship"][seat] = CELL_OF[me, only(obs, o.P_SHIP + k * o.PLANE, o.PLANE)]
        s["stop"][seat] = only(obs, o.O_STOP + k * (1 + MOST_STATIONS), 1 + MOST_STATIONS)
        s["home"][seat] = obs[o.O_HOME + k]
        s["hand_size"][seat] = obs[o.O_HAND_SIZE + k]


@kernel
def rebuild_cards(obs, s, me, players):
    """Where the cards are; those not seen are dealt to the other hands and the deck as they come."""
    s["deck"][:] = NO_CARD
    s["pile"][:] = NO_CARD
    s["place"][:] = NOWHERE
    seat = 0
    dealt = 0  # to that seat
    left = -np.int64(s["hand_size"][me])
    for k in range(players):
        left += np.int64(s["hand_size"][k])
    size = 0
    piled = 0
    top = only(obs, o.O_PILE_TOP, NUM_CARDS)
    s["card"] = only(obs, o.O_CARD, NUM_CARDS)
    deck_size = np.int64(obs[o.O_DECK_SIZE])
    for card in range(NUM_CARDS):
        if obs[o.O_HAND + card]:
            s["place"][card] = me
        elif obs[o.O_PILE + card]:
            s["place"][card] = PILE
            if card != top:
                s["pile"][piled] = card
                piled += 1
        elif obs[o.O_ON_TABLE + card]:
            s["place"][card] = TABLE_PLACE
        elif card == s["card"] and card < NUM_EXPLORATION:
            s["place"][card] = LAID
        elif s["in_deck"][card]:
            if size < deck_size:
                s["place"][card] = DECK
                s["deck"][size] = card
                size += 1
            elif left > 0:
                while seat == me or dealt == s["hand_size"][seat]:
                    seat += 1
                    dealt = 0
                s["place"][card] = seat
                dealt += 1
                left -= 1
    s["deck_size"] = size
    if top >= 0:
        s["pile"][piled] = top
        piled += 1
    s["pile_size"] = piled


# -- what a position is worth ----------------------------------------------------------------------------------------------


@kernel
def way_home(s, seat, w):
    """Moves from the ship to its home along the lanes, other ships away; where no lanes lead there, moves to where they end and
    what the cells from there on cost."""
    if s["home"][seat]:
        return 0.0
    home = np.int64(s["base"][seat ^ 1])
    home_port = BASE_PORT[seat ^ 1]
    seen = np.zeros(NUM_CELLS, np.uint8)
    waiting = np.empty(MOST_WAITING, np.int16)
    stops = np.empty(MOST_WAITING, np.int16)
    moves = np.empty(MOST_WAITING, np.int16)
    cost = np.full(NUM_CELLS, NO_WAY)  # of cells that lanes do not lead over
    ends = np.empty(NUM_CELLS, np.int64)
    num_ends = 0
    at = np.int64(s["ship"][seat])
    stop = np.int64(s["stop"][seat])
    stops[0] = 8 * at + (3 + stop if stop > 0 else BASE_PORT[seat])
    moves[0] = 0
    num_stops = 1
    next_stop = 0
    warped = False
    if stop > 0:
        seen[at] = 1 << (3 + stop)
    while next_stop < num_stops:
        size = 1
        waiting[0] = stops[next_stop]
        taken = np.int64(moves[next_stop]) + 1
        from_base = next_stop == 0 and stop == 0
        next_stop += 1
        cell = np.int64(waiting[0]) >> 3
        point = np.int64(waiting[0]) & 7
        if not from_base and not warped and s["vortices"][s["design"][s["board"][cell]]] >> point & 1:
            warped = True
            for there in CELLS:
                if is_card(np.int64(s["board"][there])):
                    vortices = np.int64(s["vortices"][s["design"][s["board"][there]]]) & ~np.int64(seen[there])
                    for other in range(4, 8):
                        if vortices >> other & 1:
                            seen[there] |= 1 << other
                            stops[num_stops] = 8 * there + other
                            moves[num_stops] = taken
                            num_stops += 1
        while size > 0:
            size -= 1
            cell = np.int64(waiting[size]) >> 3
            point = np.int64(waiting[size]) & 7
            to = np.int64(1) << point if from_base else lanes_from(s, cell, point, False)
            from_base = False
            for other in range(4, 8):
                if to >> other & 1 and not seen[cell] >> other & 1:
                    seen[cell] |= 1 << other
                    stops[num_stops] = 8 * cell + other
                    moves[num_stops] = taken
                    num_stops += 1
            for port in range(4):
                if to >> port & 1:
                    there = cell + STEP[port]
                    entry = port ^ 2
                    on_table = np.int64(s["board"][there])
                    if is_card(on_table):
                        if seen[there] >> entry & 1:
                            continue
                        seen[there] |= 1 << entry
                        if lets_in(s, there, entry):
                            waiting[size] = 8 * there + entry
                            size += 1
                            continue
                    elif there == home and entry == home_port:
                        return float(taken)
                    elif on_table != FREE:
                        continue
                    paid = taken + entry_cost(s, there, entry, w)
                    if paid < cost[there]:
                        if cost[there] == NO_WAY:
                            ends[num_ends] = there
                            num_ends += 1
                        cost[there] = paid
    return cost_of_cells(s, cost, ends, num_ends, home + STEP[home_port], home_port, w)


@kernel
def lets_in(s, cell, port):
    """Does the card on the cell let a ship in by that port?"""
    return s["face"][s["design"][s["board"][cell]], s["turn"][cell]] >> (o.IN + port) & 1


@kernel
def lets_out(s, cell, port):
    return s["face"][s["design"][s["board"][cell]], s["turn"][cell]] >> (o.OUT + port) & 1


@kernel
def entry_cost(s, cell, port, w):
    """Moves that getting on over a cell counts for, entered by a port: free, or with a card that lets ships in there or not."""
    if s["board"][cell] == FREE:
        return w[GAP]
    return 1.0 if lets_in(s, cell, port) else 1.0 + w[BLOCKED]


@kernel
def cost_of_cells(s, cost, ends, num_ends, door, home_port, w):
    """The least cost of a way over cells, from the ends of lanes (`cost` holds what they cost) to the home base behind the door."""
    waits = np.zeros(NUM_CELLS, np.bool_)
    queue = np.empty(NUM_CELLS, np.int64)
    for j in range(num_ends):
        queue[j] = ends[j]
        waits[ends[j]] = True
    head = 0
    count = num_ends
    while count > 0:
        cell = queue[head]
        head = (head + 1) % NUM_CELLS
        count -= 1
        waits[cell] = False
        card = is_card(np.int64(s["board"][cell]))
        for port in range(4):
            there = cell + STEP[port]
            on_table = np.int64(s["board"][there])
            if on_table != FREE and not is_card(on_table):
                continue
            paid = cost[cell] + entry_cost(s, there, port ^ 2, w)
            if card and not lets_out(s, cell, port):
                paid += w[BLOCKED]
            if paid < cost[there] and paid < cost[door]:
                cost[there] = paid
                if not waits[there]:
                    waits[there] = True
                    queue[(head + count) % NUM_CELLS] = there
                    count += 1
    least = cost[door]
    if is_card(np.int64(s["board"][door])) and not lets_out(s, door, home_port ^ 2):
        least += w[BLOCKED]
    return least


@kernel
def value(s, me, w):
    """What the position is worth to the seat `me`."""
    if s["over"] == 1:
        return 10.0 if s["won"][me] else -10.0
    best = 0.0
    mean = 0.0
    players = np.int64(s["players"])
    for k in range(players):
        if k != me:
            near = nearness(s, k, w)
            best = max(best, near)
            mean += near / (players - 1)
    moves = way_home(s, me, w)
    own = worth_of_way(moves, w)
    if moves == 1.0 and s["seat"] == me:  # the turn's last move is still to come
        own = worth_of_way(0.0, w) - w[SOON]
    return own - w[OTHERS] * (0.8 * best + 0.2 * mean)


@kernel
def nearness(s, seat, w):
    """What the seat's way home is worth."""
    return worth_of_way(way_home(s, seat, w), w)


@kernel
def worth_of_way(moves, w):
    """What so many moves home are worth, most of all none."""
    return 1.5 + w[NEAR_WORTH] if moves == 0.0 else np.exp(-w[FAR] * moves) + w[NEAR_WORTH] * np.exp(-w[NEAR] * moves)


# -- the decision ----------------------------------------------------------------------------------------------------------


@kernel
def asks_target(s, me):
    """Is a target of the same effect asked next?"""
    phase = s["phase"]
    return s["over"] == 0 and s["seat"] == me and phase in (SEAT, CELL, STOP, TURN, LINE)


@kernel
def best_end(work, masks, tried, me, w):
    """The best value that the effect under way in work[0] can end in."""
    if not asks_target(work[0], me):
        return value(work[0], me, w)
    best = NEVER
    leaves = 0
    depth = 0
    legal(work, 0, masks[0])
    tried[0] = 0
    num_actions = masks.shape[1]
    while depth >= 0 and leaves < MOST_LEAVES:
        action = -1
        while tried[depth] < num_actions and action < 0:
            candidate = tried[depth] * STRIDE % num_actions
            tried[depth] += 1
            if masks[depth, candidate]:
                action = candidate
        if action < 0:
            depth -= 1
            continue
        work[depth + 1] = work[depth]
        apply(work, depth + 1, action)
        if depth + 2 < DEPTH and asks_target(work[depth + 1], me):
            depth += 1
            legal(work, depth, masks[depth])
            tried[depth] = 0
        else:
            leaves += 1
            best = max(best, value(work[depth + 1], me, w))
    return best


@kernel
def hand_of_faction(s, me, faction, without):
    """Cards of a faction in the hand, one left out."""
    count = 0
    for card in range(NUM_CARDS):
        count += s["place"][card] == me and FACTION[card] == faction and card != without
    return count


@kernel
def brings_fate(s, card):
    """Is it a card of the deck that playing this card would bring?"""
    if ACTION[card] == SCRAPYARD:
        return ACTION[s["pile"][s["pile_size"] - 1]] == UNKNOWN_FATE
    return ACTION[card] == UNKNOWN_FATE


@kernel
def worth_of_action(root, work, masks, tried, me, action, now, w):
    """What a legal action leads to."""
    s = root[0]
    if action == A_PASS:
        return now if way_home(s, me, w) > 1.0 else NEVER  # what is left of the turn counts in `now`
    if action == A_DONE:
        return now
    if A_DISCARD <= action < A_CELL:
        card = action - A_DISCARD
        company = hand_of_faction(s, me, FACTION[card], card)
        return now + w[FRESH] * (1.0 - 0.25 * company - (0.3 if ACTION[card] >= 0 else 0.0))
    if action < A_DISCARD and brings_fate(s, action):
        return now + w[FATE]
    work[0] = s
    apply(work, 0, action)
    worth = best_end(work, masks, tried, me, w)
    if action < A_DISCARD:
        worth += w[CHAIN] * hand_of_faction(s, me, FACTION[action], action) - w[CARD]
    return worth


@kernel
def decide(obs, mask, root, work, masks, tried, w):
    """The action for one decision."""
    me = rebuild(obs, root[0])
    now = value(root[0], me, w)
    best = -1
    best_worth = 2 * NEVER
    for action in range(mask.size):
        if mask[action]:
            worth = worth_of_action(root, work, masks, tried, me, action, now, w)
            if worth > best_worth + 1e-9:
                best = action
                best_worth = worth
    return best


@kernel
def decide_rows(observation, mask, root, work, masks, tried, w, actions):
    """The actions for a batch of decisions."""
    for i in range(observation.shape[0]):
        actions[i] = decide(observation[i], mask[i], root, work, masks, tried, w)


class AwayHeuristic:
    """Plays a_way for 2 to 4 players. `weights` changes some of WEIGHTS by name. rules: those whose card table is played by."""

    name = "heuristic"

    def __init__(self, rules: str | None = None, **weights: float) -> None:
        if unknown := sorted(set(weights) - set(WEIGHTS)):
            raise ValueError(f"the a_way heuristic has no weight {unknown[0]!r}; weights: {', '.join(WEIGHTS)}")
        self.weights = np.array(list((WEIGHTS | weights).values()), np.float64)
        game = tabletop.game("away")
        self._root = np.zeros(1, STATE)
        game.configure(self._root, [0], game.variant(rules, 2))
        announce("the a_way heuristic", used_packages(__name__, KERNEL_PACKAGES), self._warm_up)

    def act(self, observation: np.ndarray, action_mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Actions (n,) for observation (n, D) and mask (n, A); EmptyMask if a row allows nothing. `rng` is not used."""
        check_masks(action_mask)
        return self._decide(np.ascontiguousarray(observation, np.int8), np.ascontiguousarray(action_mask, np.int8))

    def _decide(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        actions = np.empty(len(observation), np.int64)
        work, masks, tried = np.zeros(DEPTH + 1, STATE), np.zeros((DEPTH + 1, len(ACTIONS)), np.int8), np.zeros(DEPTH + 1, np.int64)
        decide_rows(observation, mask, self._root.copy(), work, masks, tried, self.weights, actions)
        return actions

    def _warm_up(self) -> None:
        self._decide(np.zeros((0, o.LAYOUT.size), np.int8), np.zeros((0, len(ACTIONS)), np.int8))


HEURISTIC = AwayHeuristic
