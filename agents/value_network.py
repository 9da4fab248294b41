"""A small network that says what a position is worth, compiled, for the leaves of `agents.search`.

A game's own part of the search (agents.<game>_search) that has one writes what it knows of a position into `inputs`, in the frame of the
seat to act; the network makes of it log odds of victory, row k those of the seat k seats on. It is two layers of rectified linear
units. The weights lie beside that module, in <game>_value.npz, and were fitted by `training.fit_value`.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tabletop.compiled import kernel

NAMES = ("first", "first_bias", "second", "second_bias", "last", "last_bias")


class ValueNetwork(NamedTuple):
    """Weights: first (D, H), second (H, G), last (G, P), and biases, all float32; and where the two layers are worked out."""

    first: np.ndarray
    first_bias: np.ndarray
    second: np.ndarray
    second_bias: np.ndarray
    last: np.ndarray
    last_bias: np.ndarray
    hidden: np.ndarray
    hidden_2: np.ndarray


def file_of(game: str) -> Path:
    """Where the weights of a game lie."""
    return Path(__file__).with_name(f"{game}_value.npz")


def value_network(game: str) -> ValueNetwork:
    """The network of a game, to be used by one thread at a time."""
    first, first_bias, second, second_bias, last, last_bias = _weights(game)
    hidden, hidden_2 = np.zeros_like(first_bias), np.zeros_like(second_bias)
    return ValueNetwork(first, first_bias, second, second_bias, last, last_bias, hidden, hidden_2)


@cache
def _weights(game: str) -> tuple[np.ndarray, ...]:
    with np.load(file_of(game), allow_pickle=False) as kept:
        return tuple(np.ascontiguousarray(kept[name], np.float32) for name in NAMES)


@kernel
def log_odds(network, inputs, players, values):
    """Write the log odds of the seats, counted from the one to act, into values[:players], for inputs (D,) of any dtype."""
    hidden, hidden_2 = network.hidden, network.hidden_2
    hidden[:] = network.first_bias
    for i in range(inputs.size):
        x = np.float32(inputs[i])
        if x != 0:
            row = network.first[i]
            for j in range(hidden.size):
                hidden[j] += x * row[j]
    hidden_2[:] = network.second_bias
    for i in range(hidden.size):
        x = hidden[i]
        if x > 0:
            row = network.second[i]
            for j in range(hidden_2.size):
                hidden_2[j] += x * row[j]
    for k in range(players):
        total = network.last_bias[k]
        for j in range(hidden_2.size):
            if hidden_2[j] > 0:
                total += hidden_2[j] * network.last[j, k]
        values[k] = total


@kernel
def judge(network, inputs, me, players, values):
    """Write the expected reward of each seat into values (P,), for inputs (D,) that tell of a position from the seat `me`."""
    odds = np.empty(values.size)
    log_odds(network, inputs, players, odds)
    most = odds[0]
    for k in range(1, players):
        most = max(most, odds[k])
    total = 0.0
    for k in range(players):
        odds[k] = np.exp(odds[k] - most)
        total += odds[k]
    values[:] = 0.0
    for k in range(players):
        chance = odds[k] / total
        values[(me + k) % players] = chance - (1.0 - chance) / (players - 1)
