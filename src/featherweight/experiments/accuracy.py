"""Which integrator is the right one? Error over time, over the time spent, and over the length of a step.

A pendulum and the paper's chain of ten links, without friction: the truth is known, by steps that are far shorter.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass

import numpy as np

from featherweight.dynamics import potential_energy
from featherweight.experiments.claim import Claim
from featherweight.experiments.discrete_steps import states
from featherweight.model import Model
from featherweight.robots import chain, pendulum
from featherweight.simulation import Trajectory, rollout

METHODS = ("semi_implicit", "variational", "rk4")
DT = 1e-3  # s
FINER = 8  # steps of the truth in one of the pendulum
LINKS, SEED, LANES = 10, 3, 16


@dataclass(frozen=True, eq=False)
class Accuracy:
    """What three methods make of the same motion; all arrays have a row for each of `methods`.

    `t` (times,) [s] and `error` (methods, times): the largest error of a pendulum's angle [rad] until then, and
    `energy_error` that of its energy [J], in steps of 1 ms.
    `seconds`, `end_error` (methods, steps): CPU time spent on 1 s of ten links, and the error of their angles [rad].
    `dt` (steps,) [s], `early`, `late` (methods, steps): the largest error of the energy of ten links in the first tenth
    of a run of `duration` [s] and in the whole, over that of the upright chain; the median of 16 random states. `lost`
    (methods, steps): how many of them did not get to the end.
    """

    methods: tuple[str, ...]
    t: np.ndarray
    error: np.ndarray
    energy_error: np.ndarray
    seconds: np.ndarray
    end_error: np.ndarray
    dt: np.ndarray
    duration: float
    early: np.ndarray
    late: np.ndarray
    lost: np.ndarray

    @property
    def crossing(self) -> float:
        """The shortest step at which the variational method keeps the energy better than Runge-Kutta 4 over the whole
        run [s]; infinite if there is none."""
        better = self.late[self.methods.index("variational")] < self.late[self.methods.index("rk4")]
        return float(self.dt[better].min()) if better.any() else np.inf

    @property
    def claims(self) -> list[Claim]:
        """What is often said of variational integrators, and what holds here."""
        _, ours, rk4 = (float(row[-1]) for row in self.error)
        drift = self.late[1] / self.early[1]
        crossing = f"from steps of {1e3 * self.crossing:g} ms on" if self.crossing < np.inf else "at no step measured"
        return [
            Claim(
                "in long runs a variational step is nearer to the truth than Runge-Kutta 4",
                f"pendulum, 1 ms, {self.t[-1]:.0f} s: {ours:.1e} rad against {rk4:.1e}",
                ours < rk4,
            ),
            Claim(
                "its energy does not drift, that of Runge-Kutta 4 does",
                f"ten links: over ten times as long its largest error grows by {np.median(drift):.1f}, that of "
                f"Runge-Kutta 4 by {np.median(self.late[2] / self.early[2]):.0f}",
                bool(np.median(drift) < 5),
            ),
            Claim(
                "so it keeps the energy better",
                f"ten links, {self.duration:.0f} s: {crossing}",
                self.crossing <= DT,
            ),
        ]


def accuracy(*, full: bool = False) -> Accuracy:
    """A pendulum for 1000 s and chains for 200 s, or for 100 and 20 s."""
    t, error, energy_error = _over_time(1000.0 if full else 100.0)
    seconds, end_error = _over_cost(
        (250, 500, 1000, 2000, 4000, 8000) if full else (250, 1000, 4000), 25 if full else 3
    )
    dt, duration = np.array([1, 2, 4, 5, 8, 10, 12.5] if full else [2, 5, 10]) * 1e-3, 200.0 if full else 20.0
    early, late, lost = _over_step(dt, duration)
    return Accuracy(METHODS, t, error, energy_error, seconds, end_error, dt, duration, early, late, lost)


def _over_time(duration: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The largest errors of angle and energy of a pendulum until each time."""
    model, q, v, steps = pendulum(), np.array([2.0]), np.array([1.0]), round(duration / DT)
    truth = rollout(model, q, v, steps=FINER * steps, dt=DT / FINER, integrator="rk4", record_every=10 * FINER)
    error, energy_error = [], []
    for method in METHODS:
        run = rollout(model, q, v, steps=steps, dt=DT, integrator=method, record_every=10)
        error.append(np.maximum.accumulate(np.abs(run.q - truth.q)[:, 0]))
        energy_error.append(np.maximum.accumulate(np.abs(run.energy() - run.energy()[0])))
    return truth.t, np.array(error), np.array(energy_error)


def _over_cost(counts: tuple[int, ...], rounds: int) -> tuple[np.ndarray, np.ndarray]:
    """Seconds spent on a second of ten links, and the error of their angles."""
    model = chain(LINKS)
    q, v = (x[0] for x in states(LINKS, 1, SEED))
    truth = _second(model, q, v, 64_000, "rk4").q[-1]
    seconds, error = np.zeros((2, len(METHODS), len(counts)))
    for row, method in enumerate(METHODS):
        for column, steps in enumerate(counts):
            times = []
            for _ in range(1 + rounds):  # the first one compiles
                begin = time.process_time()
                run = _second(model, q, v, steps, method)
                times.append(time.process_time() - begin)
            seconds[row, column] = min(times)
            error[row, column] = np.abs(run.q[-1] - truth).max()
    return seconds, error


def _second(model: Model, q: np.ndarray, v: np.ndarray, steps: int, method: str) -> Trajectory:
    return rollout(model, q, v, steps=steps, dt=1.0 / steps, integrator=method, record_every=steps)


def _over_step(dt: np.ndarray, duration: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The largest error of the energy of ten links, early and late, and how many runs were lost, for each step."""
    model, (q, v) = chain(LINKS), states(LINKS, LANES, 5)
    scale = float(potential_energy(model, np.zeros(LINKS)))
    early, late, lost = np.zeros((3, len(METHODS), len(dt)))
    for row, method in enumerate(METHODS):
        for column, h in enumerate(dt):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # long steps lose some runs: that is what is counted
                run = rollout(model, q, v, steps=round(duration / h), dt=h, integrator=method, record_every=20)
            energy = run.energy()
            error = np.abs(energy - energy[:, :1]) / scale
            part = error.shape[1] // 10
            early[row, column] = np.median(np.nanmax(error[:, :part], axis=1))
            late[row, column] = np.median(np.nanmax(error, axis=1))
            lost[row, column] = (run.failed_step >= 0).sum()
    return early, late, lost
