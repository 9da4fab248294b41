"""The compiled rules against the plain reference, decision by decision.

    python -m tests.beyond.differential --games 20000 --seed 1

plays random games of random variants on both, with the same deck and the same shuffles, and compares after every decision the
legal actions, all that players know, and at the end winners and points. The first difference is told by name.
"""

from __future__ import annotations

import argparse
import random
import time
from typing import Any

import numpy as np

from beyond_env import ending, kernel
from beyond_env.cards import KINDS, NUM_CARDS, SPIRIT_NAMES
from beyond_env.rules import BeyondRules
from beyond_env.state import PHASES, STATE
from tests.beyond.helpers import GAME, NAMES
from tests.reference.beyond_reference import Beyond

CAP = 3_000  # decisions; only games with end_on_nothing=false come near
WEIGHTS = {"enchant": 12.0, "summon": 6.0, "protect": 0.4, "end": 1.5, "reveal": 1.5}

#: Names of the int8 part of a record, where it lies, and how it is shaped: read at once, which is quick
SMALL = [n for n in STATE.names or () if STATE[n].base == np.int8]
START = {n: STATE.fields[n][1] for n in SMALL}  # type: ignore[index]
SHAPE = {n: STATE[n].shape for n in SMALL}


def random_variant(rng: random.Random) -> tuple[int, dict[str, Any]]:
    """Number of players, and options: each is its default or anything in its range."""
    players = rng.choice((2, 3, 4))
    options: dict[str, Any] = {}
    often = rng.random()
    for name, allowed in BeyondRules.allowed().items():
        if allowed.is_bool:
            options[name] = rng.random() < (0.1 if name == "end_distinct" else 0.5)
        elif rng.random() < often * 0.5:
            options[name] = rng.choice((allowed.low, allowed.high, rng.randint(allowed.low, allowed.high)))
    if rng.random() < 0.5:
        options["rescue_limit"] = rng.randint(0, 4)
    options["end_on_nothing"] = rng.random() < 0.9
    if rng.random() < 0.6:  # most games are to be short
        options["end_depletions"] = 1
    if rng.random() < 0.3:
        options["end_enchantments"] = rng.randint(1, 3)
    if options["end_distinct"]:
        options["end_enchantments"] = min(options.get("end_enchantments", 3), 5)
    start = options.get("start_tokens", 2)
    if options.get("token_supply", 21) < start * players:
        options["token_supply"] = start * players
    return players, options


class Game:
    """A game on both sides."""

    def __init__(self, players: int, options: dict[str, Any], seed: int) -> None:
        self.records = GAME.new_record(GAME.variant(BeyondRules(**options), players), seed)
        self.mask = np.zeros(len(NAMES), np.int8)
        self.players = players
        self.said: list[str] = []
        self.read()
        self.plain = Beyond(players, options, self.shuffled(NUM_CARDS), lambda cards: self.shuffled(len(cards)))

    def read(self) -> None:
        raw = self.records.view(np.int8).tolist()
        self.small = {}
        for name in SMALL:
            at, shape = START[name], SHAPE[name]
            if not shape:
                self.small[name] = raw[at]
            elif len(shape) == 1:
                self.small[name] = raw[at : at + shape[0]]
            else:
                self.small[name] = [raw[at + k * shape[1] : at + (k + 1) * shape[1]] for k in range(self.players)]

    def shuffled(self, size: int) -> list[str]:
        """The compiled side's order of the `size` cards just shuffled there, the first of which may have been revealed since."""
        s = self.small
        deck = [KINDS[kind] for kind in s["deck"][: s["deck_size"]][::-1]]
        if len(deck) == size:
            return deck
        first = s["revealed"][0] if s["num_revealed"] else s["queue"][0]
        return [KINDS[first], *deck]

    def legal(self) -> list[str]:
        if self.small["over"]:
            return []
        kernel.legal(self.records, 0, self.mask)
        return sorted(NAMES[i] for i in np.flatnonzero(self.mask).tolist())

    def step(self, name: str) -> None:
        self.said.append(name)
        kernel.apply(self.records, 0, GAME.actions.id(name))
        self.read()
        self.plain.step(name)

    def compare(self) -> list[str]:
        """Compare both sides; the legal actions. AssertionError names the first difference."""
        self.same("legal actions", self.legal(), legal := self.plain.legal())
        for name, ours, theirs in self.pairs():
            self.same(name, ours, theirs)
        return legal

    def same(self, name: str, ours: Any, theirs: Any) -> None:
        if ours != theirs:
            variant = GAME.variant_of(self.records[0])
            raise AssertionError(
                f"{variant}: {name} differ after {len(self.said)} decisions\ncompiled: {ours}\nplain:    {theirs}\n"
                f"last decisions: {self.said[-12:]}\n{GAME.text(self.records[0])}"
            )

    def pairs(self) -> Any:
        """(what, its value on the compiled side, its value on the plain side) of all that players know."""
        s, plain = self.small, self.plain
        for seat, player in enumerate(plain.player):
            for name in ("pool", "protected", "slots", "enchanted"):
                cards = getattr(player, name)
                yield f"{name} of seat {seat}", s[name][seat], [cards[kind] for kind in KINDS]
            for name in ("enchantments", "summoned"):
                spirits = getattr(player, name)
                yield f"{name} of seat {seat}", s[name][seat], [spirits[spirit] for spirit in SPIRIT_NAMES]
            yield f"Nian Shou of seat {seat}", s["nian"][seat], player.nian
            yield f"tokens of seat {seat}", s["tokens"][seat], player.tokens
        yield "supply", s["supply"], plain.supply
        yield "centre", s["centre_nian"], plain.centre_nian
        yield "discard pile", s["discard"], [plain.discard.count(kind) for kind in KINDS]
        deck = [KINDS[kind] for kind in s["deck"][: s["deck_size"]][::-1]]
        yield "deck", deck, plain.deck
        yield "deck_counts", s["deck_counts"], [plain.deck.count(kind) for kind in KINDS]
        revealed = [KINDS[kind] for kind in s["revealed"][: s["num_revealed"]]]
        yield "revealed", revealed, plain.revealed
        yield "rescued", {kind for kind, rescued in zip(revealed, s["rescued"], strict=False) if rescued}, set(plain.rescued)
        yield "cards to be placed", [KINDS[kind] for kind in s["queue"][: s["num_queue"]]], plain.collected
        yield "cards looked at", deck[: s["looked"]], plain.looked
        if not s["looked"]:  # during a look the reference does not say that the top card is known too
            yield "known top card", deck[: s["known"]], [plain.known_top] if plain.known_top else []
        yield "depletions", s["depletions"], min(plain.depletions, 100)
        yield "triggered", bool(s["triggered"]), plain.triggered
        yield "seat", s["seat"], plain.seat
        yield "over", bool(s["over"]), plain.over
        if plain.over:
            yield "winners", [seat for seat in range(self.players) if s["won"][seat]], sorted(plain.winners)
            yield "points", [int(ending.score(self.records[0], seat)) for seat in range(self.players)], plain.scores()
        else:
            yield "phase", PHASES[s["phase"]], plain.phase


def play(seed: int) -> tuple[str, int, str]:
    """One random game, compared throughout: its variant, decisions, and how it ended."""
    rng = random.Random(seed)
    players, options = random_variant(rng)
    game = Game(players, options, seed)
    decisions = 0
    while (legal := game.compare()) and decisions < CAP:
        weights = [WEIGHTS.get(name.partition(":")[0], 1.0) for name in legal]
        game.step(rng.choices(legal, weights)[0])
        decisions += 1
    if not game.plain.over:
        end = "stopped"
    elif max(player.nian for player in game.plain.player) == 6:
        end = "six Nian Shou"
    else:
        end = "most points" if len(game.plain.winners) == 1 else "shared"
    return str(GAME.variant_of(game.records[0])), decisions, end


def main() -> None:
    parser = argparse.ArgumentParser(description="play random games on the compiled rules and on the plain reference, and compare")
    parser.add_argument("--games", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0, help="of the first game")
    given = parser.parse_args()
    start = time.perf_counter()
    total, variants, ends = 0, set(), dict[str, int]()
    for seed in range(given.seed, given.seed + given.games):
        variant, decisions, end = play(seed)
        total += decisions
        variants.add(variant)
        ends[end] = ends.get(end, 0) + 1
    seconds = time.perf_counter() - start
    print(f"{given.games} games of {len(variants)} variants, {total} decisions, no difference; ends: {ends}; {seconds:.0f} s")


if __name__ == "__main__":
    main()
