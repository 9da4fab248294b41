"""Action names and ids: one bijection for a game, the same for every variant."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tabletop.errors import UnknownAction, listed


class Actions:
    """The actions of a game. `names[i]` is the name of action i."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(names)
        self._ids = {name: i for i, name in enumerate(self.names)}
        if len(self._ids) != len(self.names):
            raise ValueError("action names must be different")

    def __len__(self) -> int:
        return len(self.names)

    def id(self, name: str) -> int:
        """The action of that name; UnknownAction if there is none."""
        try:
            return self._ids[name]
        except (KeyError, TypeError):
            near = [n for n in self.names if str(name).partition(":")[0] == n.partition(":")[0]] or self.names
            raise UnknownAction(f"no action is called {name!r}; there are {listed(near)}") from None

    def legal(self, mask: np.ndarray) -> list[str]:
        """Names of the actions that a mask (A,) allows, by id."""
        return [self.names[i] for i in np.flatnonzero(mask)]

    def first(self, prefix: str) -> int:
        """Id of the first action whose name begins with `prefix` (blocks of actions are contiguous)."""
        return next(i for i, name in enumerate(self.names) if name.startswith(prefix))
