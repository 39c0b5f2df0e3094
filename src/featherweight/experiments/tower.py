"""A tower of blocks stands, and each block carries what is above it; then a ball hits another tower."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from featherweight.experiments.claim import Claim
from featherweight.experiments.experiment import Experiment, Outcome, Table, Tell
from featherweight.experiments.worlds.blocks import tower as scene
from featherweight.plot import Camera, movie
from featherweight.simulation import Trajectory, rollout

COUNT, BALL, EVERY = 5, 4.0, 10
CAMERA = Camera(np.array([2.2, -3.2, 1.4]), np.array([0.2, 0.0, 0.4]), 2.2)


@dataclass(frozen=True, eq=False)
class Tower:
    """How far blocks moved in 2 s [m], what each carries beside the weight above [N]; and a tower that a ball hits,
    with the largest rise of its energy in a step over the energy at the beginning."""

    moved: float
    carried: list[float]
    weights: list[float]
    hit: Trajectory
    rise: float

    @property
    def claims(self) -> list[Claim]:
        off = max(abs(x - y) for x, y in zip(self.carried, self.weights, strict=True))
        return [
            Claim(
                "a tower that stands keeps standing", f"it moved by {self.moved:.0e} m", self.moved < 1e-5, "Signorini",
            ),
            Claim("each block carries what is above it", f"to {off:.0e} N", off < 1e-3, "Newton"),
            Claim(
                "impacts without restitution only take energy",
                f"it never rises by more than {self.rise:.0e} of itself in a step", self.rise < 1e-3, "energy",
            ),
        ]  # fmt: skip


def tower(seconds: float = 2.0, count: int = COUNT) -> Tower:
    """Let one stand, and hit the other."""
    world = scene(count)
    steps = round(seconds / world.dt)
    run = rollout(world.model, world.q, world.v, steps=steps, **world.means)
    carried = [0.0] * count
    for c in run.contacts(steps - 1):
        upper = max(int(name.removeprefix("block")) for name in (c.a, c.b) if name != "ground")
        carried[upper] += abs(float(c.force[2]))
    other = scene(count - 1, ball=BALL)
    hit = rollout(other.model, other.q, other.v, steps=steps, **other.means)
    energy = hit.energy()
    return Tower(
        float(np.abs(run.q[-1] - world.q).max()), carried, [9.81 * (count - k) for k in range(count)], hit,
        float(np.max(np.diff(energy)) / energy[0]),
    )  # fmt: skip


def _run(out: Path, tell: Tell, short: bool) -> Outcome:
    tell("compiling two towers, then letting one stand and hitting the other")
    result = tower(0.5 if short else 2.0, 3 if short else COUNT)
    tell("drawing")
    movie(result.hit.lane(0, every=EVERY), out / "tower.gif", rate=20, speed=0.5, size=(480, 360), camera=CAMERA)
    rows = [
        (f"block {k}", f"{x:.4f} N", f"{y:.4f} N")
        for k, (x, y) in enumerate(zip(result.carried, result.weights, strict=True))
    ]
    table = Table("What each block carries, from below", ("", "contact forces", "weight above"), rows)
    return Outcome(
        result.claims, [table], {"tower.gif": "A ball of 2 kg hits a tower of blocks, at half its speed"}
    )  # fmt: skip


EXPERIMENT = Experiment("tower", "laws", "A tower of blocks stands, and another one is hit", _run)
