"""A bar for long runs: in a notebook by its own display, in a terminal by rich."""

from __future__ import annotations

from typing import Any

from featherweight.simulation.notebook_bar import NotebookBar, notebook


class Progress:
    """Shows how far a run is; nothing if it is not to be shown."""

    def __init__(self, steps: int, dt: float, *, shown: bool) -> None:
        self._bar: Any = None
        self._step = 0
        if shown:
            display = notebook()
            self._bar = NotebookBar(display, steps, dt) if display is not None else TerminalBar(steps, dt)

    def __enter__(self) -> Progress:
        if self._bar is not None:
            self._bar.start()
        return self

    def show(self, step: int) -> None:
        """So many steps are done."""
        self._step = step
        if self._bar is not None:
            self._bar.show(step)

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.show(self._step, last=True)


class TerminalBar:
    """A line that rich keeps up to date."""

    def __init__(self, steps: int, dt: float) -> None:
        try:
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
        except ImportError:
            raise ImportError(
                "progress: the bar needs rich; pip install featherweight[cli], or progress=False"
            ) from None
        columns = BarColumn(), TextColumn("{task.fields[now]} of {task.fields[end]}"), TimeRemainingColumn()
        self._bar, self._dt = Progress("simulating", *columns), dt
        self._task = self._bar.add_task("run", total=steps, now="0 s", end=f"{steps * dt:g} s")

    def start(self) -> None:
        """Show it, empty."""
        self._bar.start()

    def show(self, step: int, *, last: bool = False) -> None:
        """So many steps are done; after the last the line stays."""
        self._bar.update(self._task, completed=step, now=f"{step * self._dt:.4g} s")
        if last:
            self._bar.stop()
