"""`fw.Sweep`: the results of a sweep, complete or not, and any lane of it computed again."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from featherweight.campaigns import manifest as manifests
from featherweight.campaigns.chunks import CONTROL, drawn, read, rolled_out
from featherweight.campaigns.manifest import Manifest, Settings, columns_in
from featherweight.campaigns.store import Store, missing_values
from featherweight.errors import unknown_name
from featherweight.simulation import Trajectory

ENDS = ("status", "failed_step")


class Sweep:
    """What a sweep has computed so far: `sweep["height"]` is an array (lanes, …), NaN where nothing is there yet.

    `status` and `failed_step` (lanes,) say how lanes ended, 255 for those that are not there; `parameters` and
    `outcomes` have what was drawn and what was kept, by name; `t` (samples,) are the times [s] of what is kept of the
    course of a lane. `lane` computes one of them again, whole.
    """

    def __init__(self, path: str | os.PathLike[str], *, manifest: Manifest | None = None) -> None:
        self.path = Path(path)
        try:
            said = manifests.head(path)
        except FileNotFoundError:
            raise FileNotFoundError(f"{path}: expected the folder of a sweep, found no manifest in it") from None
        self._settings = Settings(**said["settings"])
        self._columns, self._drawn = columns_in(said), said["parameters"]
        self._manifest = manifest
        self.digest: str = said["digest"]
        self._store = Store(path, self.digest, self.lanes, self._settings.chunk)

    @property
    def lanes(self) -> int:
        """How many robots there are in all."""
        return self._settings.lanes

    @property
    def t(self) -> np.ndarray:
        """Times [s] of the states that are kept, shape (samples,)."""
        s = self._settings
        return np.arange(s.steps // s.record_every + 1) * s.record_every * s.dt

    @property
    def names(self) -> tuple[str, ...]:
        """Of all arrays."""
        return tuple(self._columns)

    @property
    def complete(self) -> bool:
        """Are all chunks there? Their records are read; `check` looks at all they say."""
        return sum(self._store.record(k) is not None for k in self._store.recorded()) == self._store.chunks

    @property
    def aside(self) -> dict[int, str]:
        """Numbers of the chunks that could not be computed, and why; the next call of `sweep` tries them again."""
        return self._store.aside()

    def __getitem__(self, name: str) -> np.ndarray:
        """An array of all lanes, shape (lanes, …). ValueError if a file is not as it was written."""
        if name not in self._columns:
            raise unknown_name("array", name, self._columns)
        column = self._columns[name]
        whole = missing_values(self.lanes, column)
        for number in self._store.recorded():
            values = self._store.read(number, name, column)
            if values is not None:
                own = self._store.lanes_of(number)
                whole[own.start : own.stop] = values
        return whole

    @property
    def status(self) -> np.ndarray:
        """How lanes ended, shape (lanes,): see `Status`; 255 where a lane is not there yet."""
        return self["status"]

    @property
    def failed_step(self) -> np.ndarray:
        """The step in which a lane failed, shape (lanes,); -1 if it did not."""
        return self["failed_step"]

    @property
    def parameters(self) -> Mapping[str, np.ndarray]:
        """What was drawn for each lane, by name: constants of the robot, and `control_parameters`."""
        return _Arrays(self, [n for n in self._columns if n in self._drawn or n == CONTROL])

    @property
    def outcomes(self) -> Mapping[str, np.ndarray]:
        """What was kept of each lane, by name."""
        return _Arrays(self, [n for n in self._columns if n not in (*self._drawn, CONTROL, *ENDS)])

    def summary(self) -> dict[str, Any]:
        """Counts: chunks and lanes that are there, lanes that failed, seconds of one core, kinds of processors."""
        records = [r for k in self._store.recorded() if (r := self._store.record(k)) is not None]
        return {
            "digest": self.digest,
            "lanes": self.lanes,
            "lanes_done": sum(r["lanes"] for r in records),
            "lanes_failed": sum(r["failed"] for r in records),
            "chunks": self._store.chunks,
            "chunks_done": len(records),
            "core_seconds": round(sum(r["seconds"] for r in records), 3),
            "processors": dict(Counter(r["processor"] for r in records)),
            "aside": self.aside,
        }

    def check(self) -> list[int]:
        """Numbers of chunks whose files are not as they were written; the next call of `sweep` computes them again."""
        return sorted(k for k in self._store.recorded() if self._store.verified(k) is None)

    def lane(self, number: int, *, record_every: int = 1) -> Trajectory:
        """One lane computed again, with every so many of its states, to the bits it had; ValueError if the study is not
        here what it was. The text of the study is run: open sweeps of people you trust only."""
        if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or not 0 <= number < self.lanes:
            raise ValueError(f"lane: expected a number from 0 to {self.lanes - 1}, got {number!r}")
        if self._manifest is None:
            self._manifest = read(self.path)
        chunk, place = divmod(int(number), self._settings.chunk)
        draw = drawn(self._manifest, chunk).some(slice(place, place + 1))
        return rolled_out(self._manifest, draw, record_every).lane(0)

    def show(self, number: int, **options: Any) -> Any:
        """Compute a lane again and open the viewer on it, with its number above it; the options are those of
        `featherweight.viewer.show`."""
        return self.lane(number).show(**{"labels": [f"lane {number}"], **options})

    def plot_map(self, x: Any, y: Any, outcome: Any, **options: Any) -> Any:
        """The mean of an outcome over two parameters, as a matplotlib figure; see `campaigns.plots.plot_map`."""
        from featherweight.campaigns.plots import plot_map

        return plot_map(self, x, y, outcome, **options)

    def plot_quantiles(self, outcome: Any, **options: Any) -> Any:
        """Quantiles of an outcome over time, as a matplotlib figure; see `campaigns.plots.plot_quantiles`."""
        from featherweight.campaigns.plots import plot_quantiles

        return plot_quantiles(self, outcome, **options)

    def __repr__(self) -> str:
        done = sum(1 for _ in self._store.recorded())
        return f"<Sweep: {self.lanes} lanes, {done} of {self._store.chunks} chunks, {', '.join(self.names)}>"


class _Arrays(Mapping[str, np.ndarray]):
    """Arrays of a sweep by name, read when they are asked for."""

    def __init__(self, sweep: Sweep, names: list[str]) -> None:
        self._sweep, self._names = sweep, names

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._names:
            raise unknown_name("array", name, self._names)
        return self._sweep[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"<arrays: {', '.join(self._names)}>"
