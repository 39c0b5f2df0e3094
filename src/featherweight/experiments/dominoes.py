"""Dominoes: each falls on the next; energy only falls, and they come to rest on each other."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from featherweight.experiments.claim import Claim
from featherweight.experiments.experiment import Experiment, Outcome, Tell
from featherweight.experiments.worlds.blocks import dominoes as scene
from featherweight.plot import Camera, movie
from featherweight.simulation import Trajectory, rollout

EVERY = 5
CAMERA = Camera(np.array([0.9, -1.6, 0.6]), np.array([0.35, 0.0, 0.08]), 1.2)


@dataclass(frozen=True, eq=False)
class Dominoes:
    """When each was at 45° [s], how fast they are at the end [m/s, rad/s], the largest rise of energy in a step [J],
    and in how many steps the contact problem was not solved to its tolerance."""

    run: Trajectory
    falls: np.ndarray
    speed: float
    rise: float
    unsolved: int

    @property
    def claims(self) -> list[Claim]:
        later = np.diff(self.falls)
        times = ", ".join(f"{t:.2f}" for t in self.falls)
        return [
            Claim("each falls after the one before", f"at 45° after {times} s", bool((later > 0).all()), "order"),
            Claim(
                "contact takes energy, and gives none",
                f"rises of {max(self.rise, 0.0):.0e} J at most", self.rise < 1e-5, "energy",
            ),
            Claim("they come to rest", f"{self.speed:.0e} m/s at the end", self.speed < 1e-2, "friction"),
        ]  # fmt: skip


def dominoes(seconds: float = 2.0, count: int = 8) -> Dominoes:
    """Push the first one."""
    world = scene(count)
    run = rollout(world.model, world.q, world.v, steps=round(seconds / world.dt), **world.means)
    q = run.q.reshape(len(run.q), count, 7)
    level = 1 - 2 * (q[..., 3] ** 2 + q[..., 4] ** 2)  # cosine of the angle from upright
    fallen = level < np.cos(np.pi / 4)
    falls = np.where(fallen.any(axis=0), run.t[np.argmax(fallen, axis=0)], np.inf)
    return Dominoes(
        run, falls, float(np.abs(run.v[-1]).max()), float(np.max(np.diff(run.energy()))),
        int((run.solver[:, 1] > 1e-6).sum()),
    )  # fmt: skip


def _run(out: Path, tell: Tell, short: bool) -> Outcome:
    tell("compiling a row of dominoes, then pushing the first")
    result = dominoes(1.2 if short else 2.0, 3 if short else 8)
    tell("drawing")
    movie(result.run.lane(0, every=EVERY), out / "dominoes.gif", rate=20, speed=0.5, size=(480, 300), camera=CAMERA)
    note = (
        f"In {result.unsolved} of {len(result.run.tau)} steps the contact problem was not solved to 1e-6 m/s; the best "
        "impulses that were found were used (`keep_best`)."
    )
    pictures = {"dominoes.gif": "Dominoes fall one after the other, at half their speed; red: contact forces"}
    return Outcome(result.claims, pictures=pictures, notes=[note] if result.unsolved else [])


EXPERIMENT = Experiment("dominoes", "laws", "Dominoes fall one after the other", _run)
