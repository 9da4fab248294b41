"""Goldens of Beyond: playthroughs that a person reads, and node counts.

    python -m tests.beyond.golden            # compares the files in tests/golden/beyond with what the rules do now
    python -m tests.beyond.golden --write    # writes them anew: after a change of the rules that is meant; read the difference

A playthrough is one game: its first and last position in full; at each turn what lies on the table, and a digest of the full
text, which tells of a difference in what is not shown; each decision with the actions that were legal.
Node counts are the numbers of ways to play on from a position for a number of decisions, by the word of the last one: they
change with almost any change of what is legal.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.beyond.helpers import GAME, Position

FOLDER = Path(__file__).parents[1] / "golden" / "beyond"

#: file: number of players, rules, seed
PLAYTHROUGHS = {
    "playthrough_base_2_players.txt": (2, "end_depletions=1", 11),
    "playthrough_protection_summoning_3_players.txt": (3, "protection=true,summoning=true,end_depletions=1,start_tokens=4", 5),
    "playthrough_base_4_players.txt": (4, "end_enchantments=1", 8),
}
WEIGHT = {"enchant": 50.0, "summon": 20.0, "capture": 2.0, "rescue": 2.0, "protect": 0.5, "place": 2.0}

#: name: position, depth
COUNTED = {
    "a new game": (
        """
        beyond(players=2)
        turn: 1
        deck: unicorn_1_yin, turtle_snake_yang, 2 unicorn_2_yang, vermilion_bird_yin, rest
        revealed: metal_tiger_head_yin
        """,
        9,
    ),
    "a bust, three players": (
        """
        beyond(players=3,rescue_limit=2)
        turn: 2
        revealed: unicorn_1_yin, turtle_snake_yang, metal_tiger_body_yin
        deck: unicorn_2_yang, vermilion_bird_yin, rest
        seat 1: 3 tokens
          slots: 3 vermilion_bird_yin
        """,
        9,
    ),
    "captures, four players": (
        """
        beyond(players=4)
        turn: 3
        deck: unicorn_3_yin, vermilion_bird_yang, rest
        seat 0: 2 tokens, 1 Nian Shou
          pool: 2 turtle_snake_yin, azure_dragon_head_yang
        seat 1: 1 token
          pool: metal_tiger_body_yang, metal_tiger_body_yin
        seat 2: 2 tokens
          pool: 3 turtle_snake_yang, azure_dragon_head_yin, 2 azure_dragon_body_yin
          slots: 2 unicorn_1_yin, unicorn_2_yang
        seat 3: 0 tokens, 2 Nian Shou
          pool: turtle_snake_yin, unicorn_4_yang
        """,
        5,
    ),
    "protection": (
        """
        beyond(players=2,protection=true)
        turn: 1
        deck: unicorn_3_yin, vermilion_bird_yang, rest
        seat 0: 3 tokens
          pool: 3 turtle_snake_yin (1 protected), 2 turtle_snake_yang, unicorn_1_yin
          slots: unicorn_1_yang, vermilion_bird_yin
        seat 1: 1 token, 1 Nian Shou
          pool: 2 metal_tiger_head_yin (1 protected), unicorn_4_yang (1 protected)
        """,
        5,
    ),
    "summoning": (
        """
        beyond(players=2,summoning=true)
        turn: 1
        deck: unicorn_3_yin, vermilion_bird_yang, azure_dragon_head_yin, unicorn_3_yin, metal_tiger_head_yin, rest
        discard: 2 unicorn_4_yin, vermilion_bird_yin
        seat 0: 3 tokens
          slots: unicorn_1_yang
          enchantments: vermilion_bird, turtle_snake, azure_dragon, metal_tiger (1 summoned), unicorn
        seat 1: 1 token
          pool: unicorn_2_yin
        """,
        6,
    ),
    "all options": (
        """
        beyond(players=3,protection=true,summoning=true,end_distinct=true,rescue_limit=1,score_laid_tokens=true,end_on_nothing=false,
            capture_slots=3)
        turn: 4
        deck: unicorn_3_yin, vermilion_bird_yang
        revealed: turtle_snake_yin, unicorn_1_yin
        discard: 2 azure_dragon_body_yang
        seat 0: 2 tokens
          slots: vermilion_bird_yin, vermilion_bird_yang
          enchantments: turtle_snake
          pool: azure_dragon_body_yin
        seat 1: 2 tokens
          pool: unicorn_1_yang (1 protected), metal_tiger_body_yin
        seat 2: 2 tokens
          pool: rest
        """.replace(",\n            ", ","),
        5,
    ),
}


def words(names: list[str]) -> str:
    """Actions, those of one word together: `capture 1:turtle_snake_yin 2:nian, end`"""
    groups: dict[str, list[str]] = {}
    for name in names:
        word, _, rest = name.partition(":")
        groups.setdefault(word, []).append(rest)
    return ", ".join(" ".join(filter(None, (word, *rest))) for word, rest in groups.items())


def table(p: Position) -> str:
    """A position without what is long: the first cards of the deck stand for it, and a digest of the full text."""
    digest = hashlib.sha256(str(p).encode()).hexdigest()[:8]
    lines, left_out = [f"deck of {len(p.deck)}: {', '.join(p.deck[:3])} …  [{digest}]"], False
    for line in str(p).splitlines()[1:]:
        if not line.startswith("    "):
            left_out = line.startswith(("deck", "stream", "decisions", "  enchanted"))
        if not left_out:
            lines.append(line)
    return "\n".join(lines)


def playthrough(p: Position, choose: Callable[[list[str]], str]) -> Iterator[str]:
    """The lines of a game, in which `choose` chooses among the legal actions."""
    turn = 0
    while legal := p.legal:
        if p["turns"] != turn:
            turn = p["turns"]
            yield f"\n== turn {turn} {'=' * 60}\n{p if turn == 1 else table(p)}"
        name = choose(legal)
        yield f"seat {p['seat']} {p.phase:8} > {name:34}" + (f"legal: {words(legal)}" if len(legal) > 1 else "forced")
        p.do(name)
    yield f"\n== the end {'=' * 59}\n{p}"


def written_playthrough(file: str, actions: list[str] | None = None) -> str:
    """A playthrough: of these actions, or chosen by chance."""
    players, rules, seed = PLAYTHROUGHS[file]
    rng = random.Random(seed)
    given = iter(actions or [])

    def choose(legal: list[str]) -> str:
        if actions is not None:
            return next(given)
        left = rng.random() * sum(WEIGHT.get(name.partition(":")[0], 1.0) for name in legal)
        for name in legal:
            left -= WEIGHT.get(name.partition(":")[0], 1.0)
            if left < 0:
                return name
        return legal[-1]

    head = f"A game of Beyond by chance: {GAME.variant(rules, players)}, seed {seed}. Made by `python -m tests.beyond.golden --write`."
    return "\n".join([head, *playthrough(Position.of_seed(seed, rules, players), choose)]).rstrip() + "\n"


def actions_of(text: str) -> list[str]:
    """The actions of a written playthrough."""
    return re.findall(r"^seat \d \w+ +> (\S+)", text, re.MULTILINE)


def count(p: Position, depth: int) -> list[Counter[str]]:
    """For 1, 2, … depth decisions: the number of ways to play them, by the word of the last."""
    counts = [Counter() for _ in range(depth)]
    legal = p.legal
    counts[0].update(name.partition(":")[0] for name in legal)
    if depth > 1:
        for name in legal:
            for below, of_child in zip(counts[1:], count(p.copy().do(name), depth - 1), strict=True):
                below.update(of_child)
    return counts


def written_counts() -> str:
    lines = ["Ways to play on from fixed positions, by the word of the last decision. Made by `python -m tests.beyond.golden --write`."]
    for name, (text, depth) in COUNTED.items():
        p = Position.of_text(text)
        lines += ["", f"== {name} {'=' * (70 - len(name))}", str(p).rstrip()]
        for decisions, by_word in enumerate(count(p, depth), 1):
            listed = ", ".join(f"{word} {n}" for word, n in sorted(by_word.items()))
            lines.append(f"depth {decisions}: {by_word.total()} ({listed})")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="compare the goldens of Beyond with what the rules do now, or write them anew")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    made = {file: (lambda file=file: written_playthrough(file)) for file in PLAYTHROUGHS} | {"counts.txt": written_counts}
    for file, make in made.items():
        path, text = FOLDER / file, make()
        old = path.read_text() if path.exists() else ""
        if given.write:
            path.write_text(text)
        print(f"{file}: {'the same' if old == text else 'written' if given.write else 'DIFFERENT'}, {len(text.splitlines())} lines")


if __name__ == "__main__":
    main()
