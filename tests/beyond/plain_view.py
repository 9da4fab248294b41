"""What a seat sees of Beyond, worked out in plain Python from a record and the layout's documented meaning."""

from __future__ import annotations

from typing import Any

from beyond_env.cards import KINDS, SPIRIT_NAMES, SPIRITS, SYMBOLS
from beyond_env.rules import BeyondRules
from beyond_env.state import PHASES


def counts(cards: list[str]) -> dict[str, int]:
    return {kind: cards.count(kind) for kind in KINDS if kind in cards}


def named(row: Any, names: tuple[str, ...] = KINDS) -> dict[str, int]:
    return {name: int(n) for name, n in zip(names, row, strict=True) if n}


def spirit_of(kind: str) -> str:
    return next(spirit.name for spirit in SPIRITS if kind.startswith(spirit.name))


def progress(pool: dict[str, int]) -> dict[str, int]:
    """Pool cards that fit into one enchantment of each spirit."""
    fitting = {}
    for spirit in SPIRITS:
        held = [sum(pool.get(f"{part}_{symbol}", 0) for symbol in SYMBOLS) for part in spirit.parts]
        fitting[spirit.name] = sum(min(have, need) for have, need in zip(held, spirit.pattern, strict=True))
    return {name: n for name, n in fitting.items() if n}


def points(r: Any, seat: int, rules: BeyondRules) -> int:
    total = sum(int(n) * getattr(rules, f"points_{name}") for n, name in zip(r["enchantments"][seat], SPIRIT_NAMES, strict=True))
    total += sum(map(int, r["pool"][seat])) + sum(map(int, r["slots"][seat])) + int(r["nian"][seat]) + int(r["tokens"][seat])
    return total + (sum(map(int, r["protected"][seat])) if rules.score_laid_tokens else 0)


def bust_chance(r: Any, deck: list[str], revealed: list[str]) -> int:
    """Percent of the cards the next one may be, as far as all know, whose spirit lies there."""
    lying = {spirit_of(kind) for kind in revealed}
    possible = deck[:1] if r["known"] else [kind for kind in deck if kind.split("_")[-1] == deck[0].split("_")[-1]]
    return 100 * sum(spirit_of(kind) in lying for kind in possible) // len(possible)


def view(r: Any, seat: int) -> dict[str, Any]:
    """The decoded observation that `seat` should have of a record."""
    players = int(r["players"])
    rules = BeyondRules.from_codes(r["options"])
    live = r["over"] == 0
    deck = [KINDS[kind] for kind in r["deck"][: r["deck_size"]][::-1]]
    revealed = [KINDS[kind] for kind in r["revealed"] if kind >= 0]
    queue = [KINDS[kind] for kind in r["queue"] if kind >= 0]
    order = [(seat + k) % players for k in range(players)]  # seats as this one counts them
    absent = 4 - players

    def relative(who: int) -> list[int]:
        return [int(k < players and order[k] == who) for k in range(4)]

    def each(value: Any, empty: Any) -> list[Any]:
        return [value(k) for k in order] + [empty for _ in range(absent)]

    bust = bool(revealed) and r["phase"] != PHASES.index("reveal")
    return {
        "phase": {PHASES[r["phase"]]: 1} if live else {},
        "turn": relative(int(r["seat"])) if live else [0] * 4,
        "players": {str(players): 1},
        "first": relative(0),
        "triggered": int(r["triggered"]),
        "depletions": min(int(r["depletions"]), 20),
        "deck_size": len(deck),
        "top_symbol": {deck[0].split("_")[-1]: 1} if deck else {},
        "bust_chance": bust_chance(r, deck, revealed) if live and PHASES[r["phase"]] == "reveal" else 0,
        "known_top": {deck[0]: 1} if r["known"] else {},
        "deck": counts(deck),
        "discard": named(r["discard"]),
        "revealed": counts(revealed),
        "rescued": counts([kind for kind, rescued in zip(revealed, r["rescued"], strict=False) if rescued]),
        "busting": {revealed[-1]: 1} if bust else {},
        "placing": counts(queue[:1]),
        "queue": [KINDS.index(kind) + 1 for kind in queue] + [0] * (5 - len(queue)),
        "looked": counts(deck[: r["looked"]]),
        "summoned_spirit": {SPIRIT_NAMES[r["summoned_spirit"]]: 1} if r["summoned_spirit"] >= 0 else {},
        "centre_nian": int(r["centre_nian"]),
        "supply": int(r["supply"]),
        "pool": each(lambda k: named(r["pool"][k]), {}),
        "protected": each(lambda k: named(r["protected"][k]), {}),
        "slots": each(lambda k: named(r["slots"][k]), {}),
        "enchanted": each(lambda k: named(r["enchanted"][k]), {}),
        "progress": each(lambda k: progress(named(r["pool"][k])), {}),
        "enchantments": each(lambda k: named(r["enchantments"][k], SPIRIT_NAMES), {}),
        "summoned": each(lambda k: named(r["summoned"][k], SPIRIT_NAMES), {}),
        "nian": each(lambda k: int(r["nian"][k]), 0),
        "tokens": each(lambda k: int(r["tokens"][k]), 0),
        "points": each(lambda k: min(points(r, k, rules), 127), 0),
        "options": {name: code for name, code in zip(BeyondRules.names(), rules.codes(), strict=True) if code},
    }
