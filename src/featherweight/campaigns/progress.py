"""How far a sweep is: lanes, rate, failures, time left. A bar in a terminal that has rich, else a line now and then."""

from __future__ import annotations

import importlib.util
import sys
import time
from typing import Any

from featherweight.campaigns.worker import Outcome

SELDOM = 10.0  # [s] between lines


class SweepProgress:
    """Counts outcomes and shows them."""

    def __init__(self, lanes: int, before: int, failed: int, *, shown: bool) -> None:
        self.lanes, self.before, self.done, self.failed, self.aside = lanes, before, before, failed, 0
        self._begin = self._told = time.perf_counter()
        self._shown, self._bar = shown, None
        if shown and sys.stderr.isatty() and importlib.util.find_spec("rich") is not None:
            self._bar = _bar()

    def __enter__(self) -> SweepProgress:
        if self._bar is not None:
            self._task = self._bar.add_task("sweep", total=self.lanes, completed=self.before, text="")
            self._bar.start()
        return self

    def say(self, text: str) -> None:
        """A line for people."""
        if self._bar is not None:
            self._bar.console.print(text, highlight=False, markup=False, soft_wrap=True)
        elif self._shown:
            print(text, file=sys.stderr, flush=True)

    def show(self, outcome: Outcome) -> None:
        """One more chunk is done, or set aside."""
        self.done, self.failed = self.done + outcome.lanes, self.failed + outcome.failed
        self.aside += bool(outcome.error)
        now = time.perf_counter()
        if self._bar is not None:
            self._bar.update(self._task, completed=self.done, text=self.text(now))
        elif now - self._told > SELDOM:
            self._told = now
            self.say(self.text(now))

    def text(self, now: float) -> str:
        """Lanes, rate, failures and time left, in a line."""
        rate = (self.done - self.before) / max(now - self._begin, 1e-9)
        left = f"{duration((self.lanes - self.done) / rate)} left" if rate > 0 else "no rate yet"
        aside = f", {self.aside} chunks set aside" if self.aside else ""
        return f"{self.done} of {self.lanes} lanes, {rate:.3g} a second, {self.failed} failed{aside}, {left}"

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()
        self.say(self.text(time.perf_counter()).rpartition(",")[0])


def _bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    return Progress(BarColumn(), TextColumn("{task.fields[text]}"), console=Console(stderr=True))


def duration(seconds: float) -> str:
    """A time as people say it.

    >>> duration(42.0), duration(600.0), duration(36000.0)
    ('42 s', '10 min', '10 h')
    """
    for unit, size in (("days", 172800.0), ("h", 7200.0), ("min", 120.0)):
        if seconds >= size:
            return f"{seconds / {'days': 86400, 'h': 3600, 'min': 60}[unit]:.3g} {unit}"
    return f"{seconds:.3g} s"


def amount(size: float) -> str:
    """Bytes as people say them.

    >>> amount(1234.0), amount(5e9)
    ('1.23 kB', '5 GB')
    """
    for unit, many in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= many:
            return f"{size / many:.3g} {unit}"
    return f"{size:.3g} B"
