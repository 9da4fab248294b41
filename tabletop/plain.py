"""Games played by the game's own functions alone, one at a time, in plain Python: what every other path has to agree with.

Nothing of the template step is used here: forced decisions, the cut-off and the rewards are said a second time, in few words.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tabletop.errors import EmptyMask
from tabletop.registry import LIVE, NOBODY, TERMINATED, TRUNCATED, Game
from tabletop.rules import Variant
from tabletop.stream import next_game, seed_stream


class Story:
    """Everything that happened in some games of one variant, position after position, game after game.

    M positions in all (of a game with T decisions there are T + 1), P = the game's largest number of players. All arrays are over
    positions: records (M,), observation (M, D) of the seat to act (at the end: of the last mover), mask (M, A), seat (M,),
    action (M,) taken there (-1 at the end), rewards (M, P) on arriving there, over (M,). `first[g]`, `last[g]` are the places of
    the first and the last position of game g.
    """

    def __init__(self, game: Game, variant: Variant) -> None:
        self.game = game
        self.variant = variant
        self.first: list[int] = []
        self.last: list[int] = []
        self._rows: dict[str, list[Any]] = {name: [] for name in ("records", "observation", "mask", "seat", "action", "rewards", "over")}

    def close(self) -> Story:
        """Make the arrays."""
        self.records = np.frombuffer(bytearray().join(self._rows["records"]), self.game.dtype)
        self.bytes = as_bytes(self.records)
        kinds = {"mask": np.int8, "seat": np.int8, "action": np.int64, "rewards": np.float32, "over": np.int8}
        for name, kind in {"observation": self.game.layout.dtype, **kinds}.items():
            setattr(self, name, np.array(self._rows[name], kind))
        self.terminated, self.truncated = self.over == TERMINATED, self.over == TRUNCATED
        return self

    records: np.ndarray
    observation: np.ndarray
    mask: np.ndarray
    seat: np.ndarray
    action: np.ndarray
    rewards: np.ndarray
    over: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray

    def tell(self, records: np.ndarray, mask: np.ndarray, viewer: int, rewards: np.ndarray, action: int) -> None:
        observation = np.full(self.game.layout.size, 77, self.game.layout.dtype)  # the encoder writes every entry
        before = records.tobytes()
        self.game.module("observation").observe(records, 0, viewer, observation)
        if records.tobytes() != before:
            raise ValueError("observe() changes the record")
        values = (before, observation, mask.copy(), int(records["seat"][0]), action, rewards, int(records["over"][0]))
        for rows, value in zip(self._rows.values(), values, strict=True):
            rows.append(value)


def as_bytes(records: np.ndarray) -> np.ndarray:
    """Records (n,) as (n, bytes) uint8: what is compared bit for bit."""
    return np.ascontiguousarray(records).view(np.uint8).reshape(records.size, records.dtype.itemsize)


def field_at(game: Game, byte: int) -> str:
    """The field of a record that the byte belongs to."""
    fields: Any = game.dtype.fields
    return max((name for name in fields if fields[name][1] <= byte), key=lambda name: fields[name][1])


def first_record(game: Game, variant: Variant, seed: int, row: int, number: int = 0, limit: int | None = None) -> np.ndarray:
    """The dealt record (1,) of the game `number` (0: the first) of row `row` of a batch seeded `seed`."""
    records = np.zeros(1, game.dtype)
    game.configure(records, slice(None), variant, limit)
    seed_stream(records["stream"][0], np.uint64(seed), np.uint64(row))
    for _ in range(number):
        next_game(records["stream"][0])
    game.module("kernel").deal(records, 0)
    return records


def mask_of(game: Game, records: np.ndarray) -> np.ndarray:
    """The mask (A,) int8 of row 0, which is live; EmptyMask if nothing is legal."""
    mask = np.full(game.num_actions, 77, np.int8)  # the rules write every entry
    before = records.tobytes()
    game.module("kernel").legal(records, 0, mask)
    if records.tobytes() != before:
        raise ValueError("legal() changes the record")
    if not ((mask == 0) | (mask == 1)).all():
        raise ValueError("legal() left entries of the mask unwritten, or wrote others than 0 and 1")
    if not mask.any():
        raise EmptyMask(f"seat {records['seat'][0]} has no legal action")
    return mask


def act(game: Game, records: np.ndarray, action: int) -> None:
    """One action, counted, and the cut-off."""
    game.module("kernel").apply(records, 0, action)
    records["decisions"] += 1
    if records["over"][0] == LIVE and records["decisions"][0] >= records["limit"][0]:
        records["over"] = TRUNCATED
        records["seat"] = NOBODY


def returns(record: Any, size: int) -> np.ndarray:
    """What every seat gets (size,) for a game that is over."""
    players = int(record["players"])
    won = [bool(w) for w in record["won"][:players]]
    paid = np.zeros(size, np.float32)
    if record["over"] == TERMINATED and any(won) and not all(won):
        paid[:players] = [1 / sum(won) if w else -1 / (players - sum(won)) for w in won]
    return paid


def play(story: Story, records: np.ndarray, rng: np.random.Generator, skip_forced: bool = True) -> None:
    """Play the game of row 0 to its end by uniformly random legal actions, and tell it."""
    game = story.game
    nothing = np.zeros(game.rules.max_players, np.float32)
    mover = 0
    story.first.append(len(story._rows["seat"]))
    while records["over"][0] == LIVE:
        mask = mask_of(game, records)
        legal = np.flatnonzero(mask)
        if legal.size == 1 and skip_forced:
            act(game, records, int(legal[0]))
            continue
        mover = int(records["seat"][0])
        action = int(legal[rng.integers(legal.size)])
        story.tell(records, mask, mover, nothing, action)
        act(game, records, action)
    story.last.append(len(story._rows["seat"]))
    story.tell(records, np.zeros(game.num_actions, np.int8), mover, returns(records[0], nothing.size), -1)


def tell(
    game: Game, variant: Variant, seed: int, rows: Any, number: int = 0, limit: int | None = None, skip_forced: bool = True
) -> Story:
    """The story of the games (seed, row) for each row: the number-th game of each, played at random."""
    story = Story(game, variant)
    for row in rows:
        rng = np.random.default_rng([seed, row, number])
        play(story, first_record(game, variant, seed, row, number, limit), rng, skip_forced)
    return story.close()
