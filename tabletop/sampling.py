"""Uniformly random legal actions for a batch of masks, and the check that every mask has one."""

from __future__ import annotations

import numpy as np

from tabletop.compiled import kernel
from tabletop.errors import EmptyMask
from tabletop.stream import draw_below


@kernel
def pick_rows(mask, stream, actions):
    """A uniformly random legal action of each mask[i], by a stream (2,) uint64. -1, or the first row whose mask is empty."""
    for i in range(mask.shape[0]):
        count = 0
        for a in range(mask.shape[1]):
            count += mask[i, a] != 0
        if count == 0:
            return i
        left = draw_below(stream, count)
        a = 0
        while left > 0 or mask[i, a] == 0:
            left -= mask[i, a] != 0
            a += 1
        actions[i] = a
    return -1


def random_actions(action_mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Uniformly random legal actions (n,) int64 for masks (n, A) int8 or bool. EmptyMask names a row without a legal action."""
    masks = np.asarray(action_mask)
    actions = np.empty(masks.shape[0], np.int64)
    stream = np.array([rng.integers(2**63), 0], np.uint64)
    empty = pick_rows(masks.view(np.int8) if masks.dtype == np.bool_ else masks, stream, actions)
    if empty >= 0:
        raise EmptyMask(f"row {empty} has no legal action: its game is over, or the seat is not to act")
    return actions


def check_masks(action_mask: np.ndarray) -> None:
    """EmptyMask if a row of masks (n, A) allows nothing."""
    empty = np.flatnonzero(~np.asarray(action_mask).any(axis=-1))
    if empty.size:
        raise EmptyMask(f"row {int(empty[0])} has no legal action: its game is over, or the seat is not to act")
