"""A limp person falls down stairs, with contact between all parts: nothing sinks in, and energy only falls."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from featherweight.dynamics import kinetic_energy
from featherweight.experiments.claim import Claim
from featherweight.experiments.excerpt import excerpt
from featherweight.experiments.experiment import Experiment, Outcome, Tell
from featherweight.experiments.figures import TEAL, saved
from featherweight.experiments.worlds.newton import model_of
from featherweight.experiments.worlds.stairs import STEPS
from featherweight.experiments.worlds.stairs import scene as scene_of
from featherweight.extras import needed
from featherweight.plot import Camera, movie
from featherweight.simulation import Trajectory, rollout
from featherweight.simulation.contacts import Contact
from featherweight.viewer import export

EVERY, LOOK, SPEED, SHOWN = 10, 20, 0.5, 3.0  # steps between pictures and between looks; of real time; [s]
SHORT = 2.5, 2  # [s], steps: long enough to come to rest
CAMERA = Camera(np.array([4.2, -5.4, 3.2]), np.array([1.05, -0.1, 1.1]), 5.0)


@dataclass(frozen=True, eq=False)
class Stairs:
    """How deep shapes were in each other, and contact points in the ground, at most [m]; pairs of the person's own
    parts that pressed on each other; the largest rise of energy in a step, energy at the beginning and kinetic energy
    at the end [J]; what carries the person at the end over the weight; in how many steps contact was not solved to its
    tolerance, the largest residual [m/s], and contacts that found no slot."""

    run: Trajectory
    deepest: float
    sunk: float
    own: set[tuple[str, str]]
    rise: float
    begin: float
    end: float
    carried: float
    unsolved: int
    residual: float
    missed: int

    @property
    def claims(self) -> list[Claim]:
        return [
            Claim(
                "shapes do not enter each other",
                f"at most {1e3 * self.deepest:.2g} mm deep", self.deepest < 1e-3, "Signorini",
            ),
            Claim(
                "parts of the person touch each other", f"{len(self.own)} pairs of parts do", bool(self.own),
                "self-collision",
            ),
            Claim(
                "contact takes energy, and gives none",
                f"it falls in every step, by {-self.rise:.0e} J at least" if self.rise < 0
                else f"rises of {self.rise:.0e} J at most", self.rise < 1e-6 * self.begin, "energy",
            ),
            Claim(
                "it comes to rest, and is carried",
                f"{self.end:.0e} of {self.begin:.0f} J are left as motion; carried with {self.carried:.3f} of the "
                "weight", self.end < 1e-4 * self.begin and abs(self.carried - 1) < 0.05, "friction",
            ),
        ]  # fmt: skip


def stairs(seconds: float = 6.0, steps: int = STEPS) -> Stairs:
    """Let it fall."""
    world = scene_of(steps)
    run = rollout(world.model, world.q, world.v, steps=round(seconds / world.dt), **world.means)
    energy = run.energy()
    last = len(run.tau) - 1
    looks = [c for k in range(0, last, LOOK) for c in run.contacts(k)]
    of_person = [c for c in looks if not c.a.startswith("step") and np.any(c.force)]
    return Stairs(
        run,
        deepest=max((c.depth for c in looks), default=0.0),
        sunk=float(run.penetration.max()),
        own={(c.a, c.b) for c in of_person},
        rise=float(np.max(np.diff(energy))),
        begin=float(energy[0]),
        end=float(kinetic_energy(model_of(run), run.q[-1], run.v[-1])),
        carried=_carried(run, run.contacts(last)),
        unsolved=int((run.solver[:, 1] > 1e-4).sum()),
        residual=float(run.solver[:, 1].max()),
        missed=int(run.missed.sum()),
    )


def _carried(run: Trajectory, contacts: list[Contact]) -> float:
    """Vertical forces of stairs and ground on the person in the last step, over the weight."""
    from_stairs = -sum(float(c.force[2]) for c in contacts if c.a.startswith("step"))
    return (from_stairs + float(run.contact_force[-1, :, 2].sum())) / model_of(run).weight


def figure_of(result: Stairs) -> Any:
    """Energy over time."""
    figure = needed("matplotlib.figure", "plot", "figures need").Figure(figsize=(6.0, 2.8), layout="constrained")
    axes = figure.subplots()
    axes.plot(result.run.t, result.run.energy(), color=TEAL)
    axes.set(xlabel="time [s]", ylabel="energy [J]", ylim=(0, None))
    axes.grid(alpha=0.25)
    return figure


def _run(out: Path, tell: Tell, short: bool) -> Outcome:
    tell("compiling a person of 23 capsules on stairs, which takes a while the first time, then letting it fall")
    result = stairs(*SHORT) if short else stairs()
    tell("drawing")
    shown = result.run.lane(0, every=EVERY)
    part = excerpt(shown, 0.0, 1.0 if short else SHOWN)
    movie(part, out / "stairs.gif", rate=20, speed=SPEED, size=(480, 360), camera=CAMERA)
    export(shown, out / "stairs-3d.html", speed=SPEED)
    pairs, steps = sum(pair.used for pair in model_of(result.run).collision_pairs()), len(result.run.tau)
    solved = "All steps were solved to 1e-4 m/s, and all contacts found a slot."
    if result.unsolved or result.missed:
        solved = (
            f"In {result.unsolved} of {steps} steps the contact problem was not solved to 1e-4 m/s, with up to "
            f"{result.residual:.0e} m/s left (`keep_best`); {result.missed} contacts found no slot."
        )
    note = (
        f"The stairs are boxes that stand in the world; {pairs} pairs of shapes may touch and share slots. {solved} "
        "On the ground, contact points stand for the person: each is stopped once it touches, "
        f"so it comes as deep as it goes in a step, up to {1e3 * result.sunk:.1f} mm here. Shapes are stopped before."
    )
    return Outcome(
        result.claims,
        pictures={
            "stairs.gif": "A limp person falls down stairs, at half the speed; red: contact forces",
            saved(figure_of(result), out / "stairs.svg"): "Energy: potential and kinetic",
        },
        pages={"stairs-3d.html": "In three dimensions, at half the speed: turn it, move through time"},
        notes=[note],
    )


EXPERIMENT = Experiment("stairs", "laws", "A limp person falls down stairs", _run)
