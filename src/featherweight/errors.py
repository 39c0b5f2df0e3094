"""Errors of featherweight that are not plain ValueError or TypeError."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable

LETTERS = 400_000  # products of lengths of names that are compared: a few hundredths of a second


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


def nearest(name: str, known: Iterable[str], n: int = 1) -> list[str]:
    """Up to n of the known names that are like this one, the nearest first. Comparing takes the product of their
    lengths, so of very many or very long names only the first are looked at."""
    some, left = [], LETTERS
    for other in known:
        left -= len(name) * len(other)
        if left < 0:
            break
        some.append(other)
    return difflib.get_close_matches(name, some, n=n)


def unknown_name(kind: str, name: object, known: Iterable[str]) -> KeyError:
    """For a name that a model does not have: with those that are near, or some that there are; raise it."""
    names = list(known)
    near = nearest(str(name), names, n=3) or [other for other in names if name and str(name) in other][:3]
    if not names:
        hint = "there are none"
    elif near:
        hint = f"did you mean {' or '.join(map(repr, near))}?"
    else:
        hint = f"there are {', '.join(names[:8])}{' …' if len(names) > 8 else ''}"
    return KeyError(f"no {kind} named {name!r}; {hint}")


def no_such(what: str, name: object, known: Collection[str]) -> ValueError:
    """For a name that is none: with the nearest one, or all of them if none is near; raise what this returns."""
    near = nearest(str(name), known)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
    return ValueError(f"no {what} named {name!r}; {hint}")
