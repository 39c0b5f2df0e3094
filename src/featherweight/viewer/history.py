"""What a live simulation did: its last states, as a trajectory."""

from __future__ import annotations

import tempfile
from collections import deque
from pathlib import Path

import numpy as np

from featherweight.simulation import Stepper, Trajectory

LONGEST = 20_000  # states that are kept: five minutes


class History:
    """States of one robot, with the forces of the step before each."""

    def __init__(self, sim: Stepper) -> None:
        self._sim = sim
        self._states: deque[tuple[float, np.ndarray, np.ndarray, np.ndarray, np.ndarray]] = deque(maxlen=LONGEST)

    def __len__(self) -> int:
        return len(self._states)

    def clear(self) -> None:
        """Begin anew."""
        self._states.clear()

    def add(self) -> None:
        """The state as it is now; one at a time that is there already takes its place."""
        sim = self._sim
        t = float(sim.t[0])
        while self._states and self._states[-1][0] >= t:
            self._states.pop()
        self._states.append((t, sim.q[0].copy(), sim.v[0].copy(), sim.tau[0].copy(), sim.contact_force[0].copy()))

    def last(self, seconds: float = np.inf, *, since: float = -np.inf, every: int = 1) -> Trajectory:
        """The states of the last seconds, or since a time [s], every so many of them."""
        states = list(self._states)
        begin = max(states[-1][0] - seconds, since)
        kept = [one for one in states if one[0] >= begin - 1e-9]
        t, q, v, tau, force = (np.array(column) for column in zip(*kept[(len(kept) - 1) % every :: every], strict=True))
        return Trajectory(
            self._sim.model, t, q, v, tau[1:], force[1:], np.array(0, np.uint8), np.array(-1), ground=self._sim.ground,
            parameters={name: values[0].copy() for name, values in self._sim.parameters.items()},
        )  # fmt: skip


def saved(run: Trajectory) -> bytes:
    """What `run.save("run.fw")` writes."""
    with tempfile.TemporaryDirectory(prefix="featherweight-") as folder:
        path = Path(folder) / "run.fw"
        run.save(path)
        return path.read_bytes()
