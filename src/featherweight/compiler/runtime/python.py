"""The Python that runs us: what featherweight relies on."""

from __future__ import annotations

import sys

FREE_THREADED = (
    "featherweight needs Python's global interpreter lock, which is switched off here: its caches, results that are "
    "handed out again and threads for batches rely on it. Use an ordinary build of Python, or PYTHON_GIL=1 (python -X "
    "gil=1) with this one"
)


def check_python(gil: bool | None = None) -> None:
    """ImportError if the interpreter lock is off; `gil`: is it on? As it is, for None."""
    if gil is None:
        gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    if not gil:
        raise ImportError(FREE_THREADED)
