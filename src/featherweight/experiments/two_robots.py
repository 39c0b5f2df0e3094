"""Two quadrupeds push a crate against each other: the faster one wins, both stay up, and forces come in pairs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from featherweight.experiments.claim import Claim
from featherweight.experiments.experiment import Experiment, Outcome, Tell
from featherweight.experiments.figures import AMBER, GREY, RED, TEAL, saved
from featherweight.experiments.worlds.cheetahs import CRATE_MASS, FRONT, MU, SPEEDS
from featherweight.experiments.worlds.cheetahs import crate as scene
from featherweight.experiments.worlds.newton import force_on, model_of, momentum_error, unexplained_force
from featherweight.extras import needed
from featherweight.plot import Camera, movie
from featherweight.simulation import Trajectory, rollout
from featherweight.viewer import export

EVERY, SETTLED = 10, 2.0  # steps from picture to picture; [s] after which both push
CAMERA = Camera(np.array([1.3, -3.2, 1.3]), np.array([0.05, 0.0, 0.18]), 2.2)
SIDES = ("left", "right")


@dataclass(frozen=True, eq=False)
class TwoRobots:
    """Forces on the crate along x [N], by step: of both robots and of the ground; least and largest height of both
    trunks, where the crate is [m]; what of its motion forces do not explain [N]; the error of momentum, and momentum
    [N s]."""

    run: Trajectory
    pushes: dict[str, np.ndarray]
    heights: tuple[float, float]
    crate: np.ndarray
    unexplained: float
    momentum: tuple[float, float]

    @property
    def claims(self) -> list[Claim]:
        low, high = self.heights
        late = self.run.t[:-1] > min(SETTLED, 0.8 * self.run.t[-1])
        left, right, ground = (float(self.pushes[name][late].mean()) for name in (*SIDES, "ground"))
        way = float(self.crate[-1] - self.crate[0])
        error, most = self.momentum
        return [
            Claim(
                "both stay up", f"their trunks between {low:.3f} and {high:.3f} m", high - low < 0.05, "control",
            ),
            Claim(
                f"the one that wants {SPEEDS[0]:g} m/s pushes back the one that wants {SPEEDS[1]:g} m/s",
                f"the crate goes {way:.3f} m; {left:.1f} N and {right:.1f} N from the robots, {ground:.1f} N from the "
                "ground, on average", way > 0, "balance of forces",
            ),
            Claim(
                "the crate moves as its forces say, m a = Σ f + m g", f"to {self.unexplained:.0e} N in every step",
                self.unexplained < 1e-6, "Newton's second law",
            ),
            Claim(
                "action equals reaction: momentum of all is what the ground and gravity gave",
                f"to {error:.1e} of {most:.1f} N s", error < 0.01 * most, "Newton's third law",
            ),
        ]  # fmt: skip


def two_robots(seconds: float = 5.0) -> TwoRobots:
    """Let them push."""
    world = scene()
    run = rollout(world.model, world.q, world.v, steps=round(seconds / world.dt), **world.means)
    parts = {side: [f"{side}_{part}" for part in FRONT] for side in SIDES} | {"ground": ["ground"]}
    model = model_of(run)
    heights = run.q[:, [model.joint(f"{side}_body_joint").q.start + 2 for side in SIDES]]
    return TwoRobots(
        run,
        {name: force_on(run, "crate", own)[:, 0] for name, own in parts.items()},
        (float(heights.min()), float(heights.max())),
        run.q[:, model.joint("crate_joint").q.start],
        unexplained_force(run, "crate", [name for own in parts.values() for name in own]),
        momentum_error(run, ["crate"]),
    )


def figure_of(result: TwoRobots) -> Any:
    """Pushes along x, each averaged over a tenth of a second, and the way of the crate."""
    figure = needed("matplotlib.figure", "plot", "figures need").Figure(figsize=(7.2, 2.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    t = result.run.t[:-1]
    for name, color in (("left", TEAL), ("right", RED), ("ground", AMBER)):
        push = np.convolve(result.pushes[name], np.ones(100) / 100, mode="same")
        left.plot(t, push, color=color, linewidth=1.2, label={"ground": "ground"}.get(name, f"{name} robot"))
    left.axhline(0.0, color=GREY, linewidth=0.8)
    left.set(xlabel="time [s]", ylabel="force on the crate, along x [N]")
    left.legend(fontsize=8, loc="upper left")
    right.plot(result.run.t, result.crate, color=TEAL)
    right.set(xlabel="time [s]", ylabel="place of the crate, x [m]")
    for axes in (left, right):
        axes.grid(alpha=0.25)
    return figure


def _run(out: Path, tell: Tell, short: bool) -> Outcome:
    tell("compiling two quadrupeds, their controllers and a crate, then pushing")
    result = two_robots(1.5 if short else 5.0)
    tell("drawing")
    shown = result.run.lane(0, every=EVERY)
    movie(shown, out / "two-robots.gif", rate=20, size=(480, 300), camera=CAMERA)
    export(shown, out / "two-robots-3d.html")
    note = (
        f"The crate weighs {CRATE_MASS:g} kg; μ is {MU:g}. Neither robot knows of the other or of the crate: each "
        "keeps its place and speed, and what it meets is a disturbance, to which it gives way as its gains let it."
    )
    return Outcome(
        result.claims,
        pictures={
            "two-robots.gif": "Two quadrupeds push a crate against each other; red: contact forces",
            saved(figure_of(result), out / "two-robots.svg"): "Forces on the crate, and where it is",
        },
        pages={"two-robots-3d.html": "In three dimensions: turn it, move through time"},
        notes=[note],
    )


EXPERIMENT = Experiment("two-robots", "laws", "Two quadrupeds push a crate against each other", _run)
