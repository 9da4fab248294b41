"""What holds of every position of Beyond, checked in numpy on whole batches of records; and winners and points, worked out anew."""

from __future__ import annotations

import numpy as np

from beyond_env.cards import COPIES_OF_KIND, FIRST_PART, NEEDED_OF_PART, NUM_KINDS, SPIRIT_OF_KIND, SPIRIT_OF_PART
from beyond_env.rules import BeyondRules
from beyond_env.state import ACT, CHOOSE, PHASES, PLACE, RECLAIM, RESCUE, REVEAL
from tabletop.registry import LIVE, TERMINATED, TRUNCATED

assert PHASES == ("reveal", "rescue", "place", "act", "choose", "reclaim")
NEEDED = np.array(NEEDED_OF_PART)
SPIRIT_AT = np.array(SPIRIT_OF_PART)
SPIRIT_OF = np.array([*SPIRIT_OF_KIND, -1])  # the last for kind -1: no card
UNICORN_PART = FIRST_PART[4]
BIRD, TURTLE, DRAGON, UNICORN = 0, 1, 2, 4


def option(records: np.ndarray, name: str) -> np.ndarray:
    return records["options"][:, BeyondRules.place(name)].astype(int)


def by_kind(cards: np.ndarray) -> np.ndarray:
    """(n, 20) counts of lists of kinds (n, m), in which -1 is no card."""
    return (cards[:, :, None] == np.arange(NUM_KINDS)).sum(1)


def points(records: np.ndarray) -> np.ndarray:
    """(n, 4) points, from the rules page."""
    r = records
    worth = r["options"][:, BeyondRules.place("points_vermilion_bird") :][:, :5].astype(int)
    lying = r["pool"].sum(2, dtype=int) + r["slots"].sum(2, dtype=int) + r["nian"] + r["tokens"]
    laid = r["protected"].sum(2, dtype=int) * option(r, "score_laid_tokens")[:, None]
    return np.einsum("nks,ns->nk", r["enchantments"].astype(int), worth) + lying + laid


def winners(records: np.ndarray) -> np.ndarray:
    """(n, 4) who wins positions that have ended: the holder of six Nian Shou, else most points, fewest cards face up."""
    r = records
    playing = np.arange(4) < r["players"][:, None]
    face_up = r["pool"].sum(2, dtype=int) + r["nian"] + 4 * r["enchantments"].sum(2, dtype=int)
    score = np.where(playing, points(r), -1)
    best = score == score.max(1, keepdims=True)
    fewest = np.where(best, face_up, 10_000).min(1, keepdims=True)
    six = r["nian"] == 6
    return np.where(six.any(1, keepdims=True), six, best & (face_up == fewest))


def check(records: np.ndarray, mask: np.ndarray | None = None) -> None:
    """AssertionError names what does not hold, and in which rows. mask: those of the seats to act."""
    for name, holds in facts(records):
        if not holds.all():
            raise AssertionError(f"{name}: not in rows {np.flatnonzero(~holds)[:5]}")
    if mask is not None:
        live = records["over"] == LIVE
        assert ((mask.sum(1) > 0) == live).all(), "a seat to act has a legal action, and only then"


def facts(r: np.ndarray):
    """(what, (n,) does it hold) for each thing that always holds."""
    seats = np.arange(4)
    live, over = r["over"] == LIVE, r["over"]
    piles = sum(r[name].astype(int) for name in ("deck_counts", "discard"))
    piles = piles + sum(r[name].sum(1, dtype=int) for name in ("pool", "slots", "enchanted"))
    yield "80 cards", (piles + by_kind(r["revealed"]) + by_kind(r["queue"]) == COPIES_OF_KIND).all(1)
    yield "6 Nian Shou", r["centre_nian"] + r["nian"].sum(1, dtype=int) == 6
    laid = r["protected"].sum((1, 2), dtype=int) + r["summoned"].sum((1, 2), dtype=int)
    yield "all tokens", r["supply"] + r["tokens"].sum(1, dtype=int) + laid == option(r, "token_supply")
    for name in ("centre_nian", "supply", "nian", "tokens", "pool", "protected", "slots", "enchanted", "discard", "deck_counts"):
        yield f"{name} is not negative", (r[name].reshape(r.size, -1) >= 0).all(1)
    absent = seats >= r["players"][:, None]
    for name in ("pool", "protected", "slots", "enchanted", "enchantments", "summoned", "nian", "tokens", "won"):
        yield f"{name} of seats that do not play", ~(absent & r[name].reshape(r.size, 4, -1).any(2)).any(1)
    yield "protected cards lie in the pool", (r["protected"] <= r["pool"]).all((1, 2))
    yield "protection is a variant", (option(r, "protection") == 1) | ~r["protected"].any((1, 2))
    yield "summoned enchantments are there", (r["summoned"] <= r["enchantments"]).all((1, 2))
    yield "summoning is a variant", (option(r, "summoning") == 1) | ~(r["summoned"].any((1, 2)) | (r["summoned_spirit"] >= 0))
    yield "capture slots", (r["slots"].sum(2, dtype=int) <= option(r, "capture_slots")[:, None]).all(1)
    parts = r["enchanted"].reshape(r.size, 4, 10, 2).sum(3, dtype=int)
    yield "enchanted cards are full patterns", (parts == NEEDED * r["enchantments"][:, :, SPIRIT_AT]).all((1, 2))

    yield "the deck and its content", (by_kind(r["deck"]) == r["deck_counts"]).all(1)
    places = np.arange(r["deck"].shape[1])
    yield "nothing lies beyond the deck", ((r["deck"] >= 0) == (places < r["deck_size"][:, None])).all(1)
    yield "known cards", (r["known"] >= 0) & (r["known"] <= r["deck_size"]) & (r["looked"] <= r["known"])
    yield "only a look knows more than the top", (r["known"] <= 1) | (r["looked"] == r["known"])
    for cards, number in (("revealed", "num_revealed"), ("queue", "num_queue")):
        yield f"{cards} and {number}", ((r[cards] >= 0) == (np.arange(5) < r[number][:, None])).all(1)

    yield "over or not", np.isin(over, (LIVE, TERMINATED, TRUNCATED))
    yield "one seat is to act", np.where(live, (r["seat"] >= 0) & (r["seat"] < r["players"]), r["seat"] == -1)
    yield "seats play in turn", ~live | ((r["turns"] - 1) % r["players"] == r["seat"])
    yield "won only at the end", r["won"].any(1) == (over == TERMINATED)
    yield "the holder of six has won", ((r["nian"] == 6).any(1) <= (over == TERMINATED)) | (over == TRUNCATED)
    yield "winners", (over != TERMINATED) | (r["won"] == (winners(r) & (over == TERMINATED)[:, None])).all(1)
    yield "all had as many turns", (over != TERMINATED) | (r["nian"] == 6).any(1) | (r["turns"] % r["players"] == 0)
    kinds = np.where(option(r, "end_distinct")[:, None], (r["enchantments"] > 0).sum(2), r["enchantments"].sum(2, dtype=int))
    cause = (kinds >= option(r, "end_enchantments")[:, None]).any(1) | (r["depletions"] >= option(r, "end_depletions"))
    yield "enchantments or depletions trigger the end", cause <= (r["triggered"] == 1)
    yield "nothing else does, but a turn with nothing", (r["triggered"] == 0) | cause | (option(r, "end_on_nothing") == 1)
    yield "the end comes by six Nian Shou or when triggered", (over != TERMINATED) | (r["nian"] == 6).any(1) | (r["triggered"] == 1)
    yield "cut off at the limit", (over == TRUNCATED) <= (r["decisions"] >= r["limit"])
    yield from facts_of_phase(r, live)


def facts_of_phase(r: np.ndarray, live: np.ndarray):
    """What holds in each phase, of the seat to act."""
    rows = np.arange(r.size)
    seat = np.maximum(r["seat"], 0)
    phase = np.where(live, r["phase"], -1)
    spirits = SPIRIT_OF[r["revealed"]]
    shown = r["num_revealed"].astype(int)
    different = np.array([(spirits == s).sum(1) for s in range(5)]).max(0) <= 1
    last = spirits[rows, np.maximum(shown - 1, 0)]
    yield (
        "reveal: 1 to 4 different spirits, and a card left",
        (phase != REVEAL) | ((shown >= 1) & (shown <= 4) & different & (r["deck_size"] > 0) & ~r["rescued"].any(1)),
    )
    rescued = r["rescued"].sum(1)
    limit = np.minimum(option(r, "rescue_limit"), shown - 1)
    bust = (spirits == last[:, None]).sum(1) == 2
    can = (r["tokens"][rows, seat] > 0) & (rescued < limit) & (r["rescued"][rows, np.maximum(shown - 1, 0)] == 0)
    yield "rescue: a bust, a token, a card and a rescue left", (phase != RESCUE) | (bust & can)
    yield "nothing lies revealed later", ~np.isin(phase, (PLACE, ACT, CHOOSE, RECLAIM)) | (shown == 0)
    yield "cards to be placed", ~live | ((phase == PLACE) == (r["num_queue"] > 0))
    yield "a summon's choice", ~live | ((phase == CHOOSE) == (r["summoned_spirit"] >= 0))
    looks = np.isin(r["summoned_spirit"], (TURTLE, DRAGON))
    yield "cards looked at", ~live | (looks == (r["looked"] > 0))
    most = np.where(r["summoned_spirit"] == TURTLE, 4, 2)
    yield "as many as there are", ~live | ~looks | (r["looked"] == np.minimum(most, r["deck_size"]))
    free = r["slots"][rows, seat].sum(1, dtype=int) < option(r, "capture_slots")
    yield "a bird's choice", ~live | (r["summoned_spirit"] != BIRD) | (r["discard"].any(1) & free)
    tokens = r["summoned"][rows, seat].sum(1, dtype=int)
    yield "a unicorn's choice", (phase != RECLAIM) | ((r["summoned"][rows, seat, UNICORN] > 0) & (tokens > 1))
