"""A bar for long runs in notebooks, by the display of IPython alone; it is never imported here, only found."""

from __future__ import annotations

import importlib
import sys
import time
from typing import Any

PERIOD = 0.2  # at most so often [s]: each change is a message to the browser


def notebook() -> Any:
    """IPython's display module, if this process is the kernel of a notebook; else None."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is None or getattr(shell, "kernel", None) is None:
        return None
    return importlib.import_module("IPython.display")


class NotebookBar:
    """`<progress>` and a line of text, in the output of the cell."""

    def __init__(self, display: Any, steps: int, dt: float) -> None:
        self._display, self._steps, self._dt = display, steps, dt
        self._handle: Any = None
        self._began = self._shown = 0.0

    def start(self) -> None:
        """Show it, empty."""
        self._began = time.perf_counter()
        self._handle = self._display.display(self._page(0), display_id=True)

    def show(self, step: int, *, last: bool = False) -> None:
        """So many steps are done."""
        now = time.perf_counter()
        if self._handle is not None and (last or now - self._shown >= PERIOD):
            self._shown = now
            self._handle.update(self._page(step))

    def _page(self, step: int) -> Any:
        passed = time.perf_counter() - self._began
        left = f", {passed * (self._steps - step) / step:.0f} s left" if 0 < step < self._steps and passed > 1 else ""
        times = f"{step * self._dt:.4g} of {self._steps * self._dt:g} s{left}"
        bar = f'<progress value="{step}" max="{self._steps}" style="width:50%"></progress>'
        return self._display.HTML(f"<div>{bar} simulated {times}</div>")
