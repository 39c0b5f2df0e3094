"""A gripper takes a box, lifts it and shakes it: does friction hold it, as Coulomb's law says, and without creep?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from featherweight.experiments.claim import Claim
from featherweight.experiments.experiment import Experiment, Outcome, Tell
from featherweight.experiments.worlds.gripper import MASS, MU, SHAKE, SQUEEZE, scene
from featherweight.plot import Camera, movie
from featherweight.simulation import Trajectory, rollout

CAMERA = Camera(np.array([0.9, -1.3, 0.6]), np.array([0.0, 0.0, 0.2]), 0.75)
EVERY = 5


@dataclass(frozen=True, eq=False)
class Gripper:
    """What was measured once the box hangs in the hand: `slip` [m], the largest acceleration of the hand [m/s²], the
    force that presses a finger to the box [N], and what the fingers carry upward [N] beside what the box needs."""

    run: Trajectory
    slip: float
    shaken: float
    pressing: float
    carried: float
    needed: float

    @property
    def claims(self) -> list[Claim]:
        most = 2 * MU * SQUEEZE / MASS
        return [
            Claim(
                "friction holds the box while 2 μ N ≥ m |g + a|",
                f"shaken with up to {self.shaken:.0f} m/s² beside g (friction holds {most:.0f}), it slips by "
                f"{self.slip:.0e} m", self.slip < 1e-9, "Coulomb",
            ),
            Claim(
                "each finger presses with its force N",
                f"{self.pressing:.3f} N for {SQUEEZE:g} N", abs(self.pressing - SQUEEZE) < 0.5, "Signorini",
            ),
            Claim(
                "action equals reaction: the fingers carry m (g + a)",
                f"{self.carried:.6f} N beside {self.needed:.6f} N", abs(self.carried - self.needed) < 1e-3, "Newton",
            ),
        ]  # fmt: skip


def gripper(seconds: float = 3.0) -> Gripper:
    """Run it, and look at the box in the hand."""
    world = scene()
    run = rollout(world.model, world.q, world.v, steps=round(seconds / world.dt), **world.means)
    late = slice(round(min(SHAKE - 0.1, seconds - 0.05) / world.dt), None)
    way = run.q[late, 5:7] - run.q[late, 0:2]
    velocity = np.stack([run.v[late, 0], run.v[late, 1]], axis=1)
    last = len(run.tau) - 1
    contacts = run.contacts(last)
    on_box = [c.force if c.a == "box" else -c.force for c in contacts if c.b != "ground"]
    pressing = sum(abs(c.force[0]) for c in contacts if {c.a, c.b} == {"right", "box"})
    vertical = float(sum(f[2] for f in on_box))
    acceleration = (run.v[-1, 1] - run.v[-2, 1]) / world.dt
    return Gripper(
        run,
        slip=float(np.ptp(way, axis=0).max()),
        shaken=float(np.linalg.norm(np.diff(velocity, axis=0) / world.dt, axis=1).max()),
        pressing=float(pressing),
        carried=vertical,
        needed=float(MASS * (9.81 + acceleration)),
    )


def _run(out: Path, tell: Tell, short: bool) -> Outcome:
    tell("compiling the step of a gripper and a box, then lifting and shaking")
    result = gripper(1.3 if short else 3.0)
    tell("drawing")
    movie(result.run.lane(0, every=EVERY), out / "gripper.gif", rate=20, size=(480, 360), camera=CAMERA)
    return Outcome(
        result.claims, pictures={"gripper.gif": "Two fingers take a box, lift it and shake it; red: contact forces"}
    )


EXPERIMENT = Experiment("gripper", "laws", "A gripper lifts a box and shakes it", _run)
