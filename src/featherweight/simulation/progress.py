"""A bar for long runs."""

from __future__ import annotations

from typing import Any


class Progress:
    """Shows how far a run is, by rich; nothing if it is not to be shown."""

    def __init__(self, steps: int, dt: float, *, shown: bool) -> None:
        self._bar: Any = None
        self._dt = dt
        if shown:
            try:
                from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
            except ImportError:
                raise ImportError(
                    "progress: the bar needs rich; pip install featherweight[cli], or progress=False"
                ) from None
            columns = BarColumn(), TextColumn("{task.fields[now]} of {task.fields[end]}"), TimeRemainingColumn()
            self._bar = Progress("simulating", *columns)
            self._task = self._bar.add_task("run", total=steps, now="0 s", end=f"{steps * dt:g} s")

    def __enter__(self) -> Progress:
        if self._bar is not None:
            self._bar.start()
        return self

    def show(self, step: int) -> None:
        """So many steps are done."""
        if self._bar is not None:
            self._bar.update(self._task, completed=step, now=f"{step * self._dt:.4g} s")

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()
