"""Compile feedback: one line while code is traced and compiled, after half a second, where somebody reads it.

On a terminal and in a notebook it begins with what is compiled and ends with how long that took. Elsewhere (pipes,
services, tests) nothing is written, nor where the logger "featherweight" lets no warning pass.
"""

from __future__ import annotations

import logging
import sys
import time
from _thread import allocate_lock, start_new_thread
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

AFTER = 0.5  # [s] of silence
_log = logging.getLogger("featherweight")
_shown_now: Notice | None = None  # that of the thread that compiles: all is done under the compile lock


@contextmanager
def told(name: str) -> Iterator[Notice]:
    """While something is compiled; within another, a part of that. The compile lock is held."""
    global _shown_now
    outer, notice = _shown_now, Notice(name)
    try:
        if outer is None:
            _shown_now = notice
            notice.begin()
        yield outer or notice
        notice.good = True
    finally:
        if outer is None:
            _shown_now = None
            notice.end()


class Notice:
    """A line for what takes long. A thread waits to write its beginning, and is gone when the line is ended."""

    def __init__(self, name: str) -> None:
        self._name, self._stream = name, None
        self.shown = self.good = False
        self._over, self._ended = allocate_lock(), allocate_lock()  # is it over? has the thread ended?
        self._start = time.perf_counter()

    def begin(self) -> None:
        self._stream = _read_by_somebody()
        if self._stream is not None:
            self._over.acquire()
            self._ended.acquire()
            try:
                start_new_thread(self._wait, ())
            except RuntimeError:  # too many threads, or the process ends
                self._stream = None

    def _wait(self) -> None:
        try:
            if not self._over.acquire(timeout=AFTER):
                self.shown = self._write(f"featherweight: compiling {self._name} … (once)")
        finally:
            self._ended.release()

    def end(self) -> None:
        """End the line, if it was begun."""
        if self._stream is not None:
            self._over.release()
            with self._ended:  # nobody writes any more: a fork may follow
                pass
            if self.shown:
                seconds = time.perf_counter() - self._start
                self._write(f" {seconds:.1f} s\n" if self.good else " stopped\n")

    def _write(self, text: str) -> bool:
        stream: Any = self._stream
        try:
            stream.write(text)
            stream.flush()
        except Exception:  # closed, or of another encoding
            return False
        return True


def _read_by_somebody() -> Any:
    """The stream of errors, if it is a terminal or a notebook's; None if nobody waits for what it says."""
    stream = sys.stderr
    try:
        if stream is None or not _log.isEnabledFor(logging.WARNING):
            return None
        return stream if stream.isatty() or type(stream).__module__.startswith("ipykernel.") else None
    except Exception:  # somebody's own stream, without these
        return None
