"""Errors of featherweight that are not plain ValueError or TypeError."""

from __future__ import annotations

import difflib
from collections.abc import Collection


class ModelError(ValueError):
    """A model, or a part of one, cannot be: says what is wrong and how to fix it.

    Errors in files know the `file`, the `line` and the `element`; the message begins with them.
    """

    def __init__(
        self, message: str, *, file: str | None = None, line: int | None = None, element: str | None = None
    ) -> None:
        place = ":".join(str(x) for x in (file, line) if x is not None)
        super().__init__(": ".join(x for x in (place, element, message) if x))
        self.file, self.line, self.element = file, line, element


class SimulationError(RuntimeError):
    """A simulation failed: when and why. `trajectory` has everything up to there, `last` the last 100 states, one for
    each step, whatever `record_every` was."""

    def __init__(self, message: str, trajectory: object = None, last: object = None) -> None:
        super().__init__(message)
        self.trajectory, self.last = trajectory, last


class ConvergenceError(SimulationError):
    """A solver did not converge."""


def no_such(what: str, name: object, known: Collection[str]) -> ValueError:
    """For a name that is none: with the nearest one, or all of them if none is near; raise what this returns."""
    near = difflib.get_close_matches(str(name), known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
    return ValueError(f"no {what} named {name!r}; {hint}")
