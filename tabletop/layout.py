"""The named layout of a flat observation: slices, shapes, scales, and a reading of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Part:
    """One named slice. `high` is the largest value (the smallest is `low`); `labels` name the entries of the last axis;
    `typical` is a large value as play goes, by which a network divides (default: `high`)."""

    name: str
    shape: tuple[int, ...]
    high: int
    doc: str
    labels: tuple[str, ...] = ()
    low: int = 0
    typical: int = 0
    start: int = 0

    @property
    def size(self) -> int:
        return prod(self.shape)

    @property
    def slice(self) -> slice:
        return slice(self.start, self.start + self.size)


class Layout:
    """Named slices of a flat observation of `size` entries of `dtype`, in the frame of one seat."""

    def __init__(self, parts: Sequence[Part], dtype: Any = np.int8) -> None:
        self.dtype = np.dtype(dtype)
        self.parts: dict[str, Part] = {}
        self.size = 0
        for part in parts:
            if part.name in self.parts:
                raise ValueError(f"observation part {part.name} is declared twice")
            if part.labels and len(part.labels) != (part.shape[-1] if part.shape else 1):
                raise ValueError(f"observation part {part.name} has {len(part.labels)} labels for shape {part.shape}")
            placed = Part(part.name, part.shape, part.high, part.doc, part.labels, part.low, part.typical, self.size)
            self.parts[part.name] = placed
            self.size += placed.size
        self.low = np.zeros(self.size, self.dtype)
        self.high = np.zeros(self.size, self.dtype)
        for part in self.parts.values():
            self.low[part.slice] = part.low
            self.high[part.slice] = part.high
        #: (D,) float32: multiply an observation by it to bring its entries to about [-1, 1]
        self.scale = np.ones(self.size, np.float32)
        for part in self.parts.values():
            self.scale[part.slice] = 1.0 / max(part.typical or max(part.high, -part.low), 1)

    def start(self, name: str) -> int:
        """Offset of a part: the constant that an encoder writes at."""
        return self.parts[name].start

    def view(self, observation: np.ndarray, name: str) -> np.ndarray:
        """The part of that name of one observation (D,) or a batch (…, D), in its shape: a view, not a copy."""
        if observation.shape[-1:] != (self.size,):
            raise ValueError(f"observation of shape {observation.shape}; the last axis must have {self.size} entries")
        if name not in self.parts:
            raise KeyError(f"no part {name!r}; parts: {', '.join(self.parts)}")
        part = self.parts[name]
        return observation[..., part.slice].reshape(observation.shape[:-1] + part.shape)

    def decode(self, observation: np.ndarray) -> dict[str, Any]:
        """One observation (D,) as a dictionary: numbers, arrays, and {label: value} (zeros left out) where entries have names."""
        return {name: self._read(part, self.view(observation, name)) for name, part in self.parts.items()}

    def _read(self, part: Part, values: np.ndarray) -> Any:
        if not part.labels:
            return int(values) if part.shape == () else values.tolist()
        if values.ndim > 1:
            return [self._read(part, row) for row in values]
        return {label: int(v) for label, v in zip(part.labels, values, strict=True) if v}

    def describe(self) -> str:
        """The layout as a Markdown table."""
        lines = ["| part | entries | shape | values | meaning |", "| --- | --- | --- | --- | --- |"]
        for p in self.parts.values():
            entries = f"{p.start}" if p.size == 1 else f"{p.start}-{p.start + p.size - 1}"
            shape = " x ".join(map(str, p.shape)) or "1"
            lines.append(f"| {p.name} | {entries} | {shape} | {p.low} to {p.high} | {p.doc} |")
        return "\n".join(lines)
