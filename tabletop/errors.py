"""The errors this kit raises by name. Each message is one line: what is wrong, and what is allowed."""

from __future__ import annotations


class TabletopError(Exception):
    """Base of all errors raised by the kit and its games."""


class UnknownGame(TabletopError, KeyError):
    """No game is registered under that name."""

    def __str__(self) -> str:  # KeyError shows the repr of its argument
        return str(self.args[0])


class RulesError(TabletopError, ValueError):
    """An option of the rules is unknown or out of range."""


class SetupError(TabletopError, ValueError):
    """A position asked for cannot be set up: unknown card, too many of a kind, unreadable text or bytes."""


class ActionError(TabletopError, ValueError):
    """Base of the errors about one action. Nothing has changed when it is raised."""


class UnknownAction(ActionError):
    """An action id out of range, or a name the game does not have."""


class IllegalAction(ActionError):
    """An action that the acting seat may not take now."""


class StepAfterEnd(TabletopError, RuntimeError):
    """A game that is over was asked to go on without a reset."""


class EmptyMask(TabletopError, ValueError):
    """An agent was asked to act where no action is legal (a finished game, or a seat that is not to act)."""


class CheckpointError(TabletopError, ValueError):
    """A checkpoint is damaged, or belongs to another game, variant or version."""


def listed(names: object, limit: int = 12) -> str:
    """Names as a readable list, cut after `limit`."""
    items = [str(name) for name in names]  # type: ignore[attr-defined]
    rest = len(items) - limit
    return ", ".join(items[:limit]) + (f", … ({rest} more)" if rest > 0 else "")
