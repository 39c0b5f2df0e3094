"""A run that is written to a file as it goes, and taken up again where a kill or Ctrl-C has left it."""

from __future__ import annotations

import os
from typing import Any

from featherweight.recording import Recording
from featherweight.simulation.header import header_of
from featherweight.simulation.python_run import PythonRun
from featherweight.simulation.run import Run
from featherweight.simulation.trajectory import FORMAT

Path = str | os.PathLike[str]
BYTES = 1 << 26  # a chunk is written when there is so much, or
SECONDS = 1.0  # when so much time has passed


class Checkpoint:
    """Appends what is new in a run to its file; nothing if there is no file."""

    def __init__(self, run: Run, path: Path | None) -> None:
        self._run, self._recording = run, None
        self._written: int | None = None
        if path is None:
            return
        p = run.problem
        facts = {
            **FORMAT,
            "run": p.facts(),
            "model": p.model.name,
            **header_of(p.model, p.ground, p.parameters, p.pairs),
        }
        if os.path.exists(path):
            self._recording = self._resumed(path, facts)
        else:
            self._recording = Recording.create(path, facts)

    def _resumed(self, path: Path, facts: dict[str, Any]) -> Recording:
        recording = Recording.resume(path)
        try:
            _check_same(path, recording.facts, facts)
            if isinstance(self._run, PythonRun):
                raise ValueError(
                    f"{path}: exists; a run with a Python controller cannot go on, for what the function remembers is "
                    "not in the file: use featherweight.compiled, or another file"
                )
            for _, arrays in recording:
                try:
                    self._run.restore(arrays, self._written)
                except (KeyError, IndexError, TypeError, ValueError) as error:
                    what = f"{type(error).__name__}: {error}"
                    raise ValueError(f"{path}: exists and is damaged ({what}); choose another file") from None
                self._written = self._run.done
        except BaseException:
            recording.close()
            raise
        return recording

    def due(self, seconds: float) -> bool:
        """Is it time to write?"""
        if self._recording is None:
            return False
        new = self._run.done - (self._written or 0)
        rows = self._run.problem.count * (self._run.problem.model.nq + 2 * self._run.problem.model.nv)
        return seconds >= SECONDS or 8 * rows * new >= BYTES

    def write(self) -> None:
        """One more chunk, if there is anything new."""
        if self._recording is None or self._written == self._run.done:
            return
        self._recording.append({"samples": self._run.done}, self._run.written(self._written))
        self._written = self._run.done

    def __enter__(self) -> Checkpoint:
        return self

    def __exit__(self, *error: object) -> None:
        if self._recording is not None:
            try:
                self.write()
            finally:
                self._recording.close()


def _check_same(path: Path, found: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Is the file of this very run?"""
    if any(found.get(name) != value for name, value in FORMAT.items()) or not isinstance(found.get("run"), dict):
        raise ValueError(f"{path}: exists and is not a run that can go on; choose another file")
    for name, value in wanted["run"].items():
        if found["run"].get(name) != value:
            what = f"{name} is {value!r} here and {found['run'].get(name)!r} there"
            if name == "inputs":
                moved = "what moves it (control, contact, integrator, limits)"
                what = f"the robot, {moved}, its first state or the parameters differ"
            raise ValueError(f"{path}: is of another run: {what}; choose another file")
