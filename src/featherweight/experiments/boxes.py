"""A quadruped trots into a pile of boxes: it stays up, the boxes give way, and what they get the ground has given."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from featherweight.experiments.claim import Claim
from featherweight.experiments.experiment import Experiment, Outcome, Table, Tell
from featherweight.experiments.worlds.cheetahs import BOX_MASS, PILE, WHOLE
from featherweight.experiments.worlds.cheetahs import boxes as scene
from featherweight.experiments.worlds.newton import force_on, model_of, momentum_error, unexplained_force
from featherweight.plot import Camera, movie
from featherweight.simulation import Trajectory, rollout
from featherweight.viewer import export

EVERY = 10
MOVED = 0.02  # [m]: a box that moved
CAMERA = Camera(np.array([2.8, -2.9, 1.3]), np.array([0.8, 0.0, 0.2]), 2.3)


@dataclass(frozen=True, eq=False)
class Boxes:
    """Least and largest height of the trunk, and how far each box went [m]; the impulse of the robot on each forward
    [N s]; what of a box's motion its forces do not explain [N]; the error of momentum, and momentum [N s]; in how many
    steps contact was not solved to its tolerance, and the largest residual [m/s]; contacts that found no slot."""

    run: Trajectory
    heights: tuple[float, float]
    went: np.ndarray
    pushed: np.ndarray
    unexplained: float
    momentum: tuple[float, float]
    unsolved: int
    residual: float
    missed: int

    @property
    def claims(self) -> list[Claim]:
        low, high = self.heights
        moved, error, most = int((self.went > MOVED).sum()), *self.momentum
        return [
            Claim(
                "the robot stays up and trots on",
                f"{self.run.q[-1, 0]:.2f} m in {self.run.t[-1]:g} s, its trunk between {low:.3f} and {high:.3f} m",
                high - low < 0.05 and self.run.q[-1, 0] > 0.2 * self.run.t[-1], "control",
            ),
            Claim(
                "boxes give way", f"{moved} of {len(self.went)} moved, by up to {self.went.max():.2f} m", moved >= 2,
                "Coulomb",
            ),
            Claim(
                "a box moves as its forces say, m a = Σ f + m g", f"to {self.unexplained:.0e} N in every step",
                self.unexplained < 1e-6, "Newton's second law",
            ),
            Claim(
                "action equals reaction: momentum of all bodies is what the ground and gravity gave",
                f"to {error:.1e} of {most:.1f} N s", error < 0.01 * most, "Newton's third law",
            ),
        ]  # fmt: skip


def boxes(seconds: float = 4.0, pile: tuple[int, ...] = PILE) -> Boxes:
    """Let it trot."""
    world = scene(pile)
    run = rollout(world.model, world.q, world.v, steps=round(seconds / world.dt), **world.means)
    names = [f"box{k}" for k in range(sum(pile))]
    place = np.stack([run.q[:, model_of(run).joint(f"{name}_joint").q][:, :2] for name in names], axis=1)
    others = {name: [*(other for other in names if other != name), *WHOLE, "ground"] for name in names}
    return Boxes(
        run,
        heights=(float(run.q[:, 2].min()), float(run.q[:, 2].max())),
        went=np.linalg.norm(place[-1] - place[0], axis=-1),
        pushed=np.array([float(force_on(run, name, WHOLE)[:, 0].sum() * world.dt) for name in names]),
        unexplained=max(unexplained_force(run, name, others[name]) for name in names),
        momentum=momentum_error(run, names),
        unsolved=int((run.solver[:, 1] > 1e-6).sum()),
        residual=float(run.solver[:, 1].max()),
        missed=int(run.missed.sum()),
    )


def _run(out: Path, tell: Tell, short: bool) -> Outcome:
    tell("compiling a quadruped and boxes, which takes a while the first time, then trotting")
    result = boxes(1.5, (2, 1)) if short else boxes()
    tell("drawing")
    shown = result.run.lane(0, every=EVERY)
    movie(shown, out / "boxes.gif", rate=20, size=(480, 300), camera=CAMERA)
    export(shown, out / "boxes-3d.html")
    rows = [
        (f"box {k}", f"{went:.2f} m", f"{pushed:.2f} N s")
        for k, (went, pushed) in enumerate(zip(result.went, result.pushed, strict=True))
    ]
    note = f"Boxes weigh {BOX_MASS:g} kg, the robot {model_of(shown).weight / 9.81 - BOX_MASS * len(rows):.1f} kg."
    if result.unsolved or result.missed:
        note += (
            f" In {result.unsolved} of {len(result.run.tau)} steps the contact problem was not solved to 1e-6 m/s, "
            f"with up to {result.residual:.0e} m/s left (`keep_best`); {result.missed} contacts found no slot."
        )
    return Outcome(
        result.claims,
        [Table("What the robot does to each box", ("", "it went", "impulse of the robot, forward"), rows)],
        {"boxes.gif": "A quadruped trots through a pile of boxes; red: contact forces"},
        {"boxes-3d.html": "In three dimensions: turn it, move through time"},
        [note],
    )


EXPERIMENT = Experiment("boxes", "laws", "A quadruped trots through a pile of boxes", _run)
