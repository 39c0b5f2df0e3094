"""Errors in code of users while a step is traced: they say in what, and where."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from featherweight.errors import SimulationError

HERE = str(Path(__file__).parents[1])
NOT_OURS = (
    "zip()",
    "unsupported operand",
    "object of type",
    "cannot unpack",
    "not enough",
    "too many",
    "'",
)  # how Python's own messages begin


@contextmanager
def asking(argument: str) -> Iterator[None]:
    """While code of users may run, for this argument of `rollout`: what Python says of a mistake there gets its place.
    Errors that already say what was expected pass."""
    try:
        yield
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        told = isinstance(error, (SimulationError, ValueError, TypeError)) and not str(error).startswith(NOT_OURS)
        if told and frames[-1].filename.startswith(HERE):
            raise
        theirs = [frame for frame in frames if not frame.filename.startswith(HERE)]
        at = (theirs or list(frames))[-1]
        raise SimulationError(
            f"{argument}: {type(error).__name__} while a step was traced, in {at.name} at {at.filename}:{at.lineno}: "
            f"{error or 'it is not implemented'}"
        ) from error
