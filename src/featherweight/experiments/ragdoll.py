"""The ragdoll of the notes on articulated-body inertia: it falls limply, and their recursion is held against it.

The notes go through the articulated-body algorithm line by line and call it right for humanoids and ragdolls. Some
lines lack terms; what that does is measured on a humanoid in the air and on the ground.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from featherweight import scenes
from featherweight.dynamics import forward_dynamics, inverse_dynamics
from featherweight.experiments.claim import Claim
from featherweight.experiments.excerpt import excerpt
from featherweight.experiments.experiment import Experiment, Outcome, Table, Tell
from featherweight.experiments.figures import GREY, TEAL, saved
from featherweight.experiments.literal import accelerations, articulated, bodies, on_bodies
from featherweight.extras import needed
from featherweight.plot import Camera, movie
from featherweight.robots import humanoid
from featherweight.simulation import Trajectory, rollout

SEED, IN_THE_AIR, EVERY = 3, 0.15, 5  # of the fall; [s] when it is looked at in the air; steps from record to record

SPEED = 0.5  # of real time
CAMERA = Camera(np.array([4.0, -6.0, 3.4]), np.array([0.0, -0.1, 0.72]), 3.6)


@dataclass(frozen=True, eq=False)
class Ragdoll:
    """A limp humanoid in the air, by the lines of the notes and by the whole algorithm, and on the ground.

    Errors of accelerations are over the largest one. `torque` [N m] is the largest that the notes find in joints where
    there is none, `torque_whole` with I^A and p^A. On the ground: `pushes` and `weight` [N], and the vertical force f_0
    [N] of the root by the formula of the notes, with contact forces left out and put in.
    """

    run: Trajectory
    leftover: float  # Sᵀ I^a S over D
    base_error: float
    joint_error: float
    whole_error: float
    torque: float
    torque_whole: float
    root: float  # [N] that inverse dynamics asks of the root
    pushes: float
    weight: float
    f_0: float
    f_0_whole: float

    @property
    def claims(self) -> list[Claim]:
        """The source, sentence by sentence."""
        return [
            Claim(
                "I^A - U Uᵀ / d fits the constraint of the joint",
                f"Sᵀ I^a S is {self.leftover:.0e} of d", self.leftover < 1e-9, "step 2",
            ),
            Claim(
                "the bias force goes to the parent as p^A + I^A c",
                f"the base's acceleration is off by {_times(self.base_error)}", self.base_error < 1e-9, "step 2",
                "U u / d is missing: what the joint's force does to the parent",
            ),
            Claim(
                "f_0 = I^A_0 a_0 + p^A_0 is the reaction of the ground",
                f"on the ground: f_0 = {self.f_0:.0f} N by this formula, the ground pushes with {self.pushes:.0f} N; "
                f"with contact forces in p^A, f_0 = {abs(self.f_0_whole):.0e} N",
                bool(np.isclose(self.f_0, self.pushes, rtol=0.05)), "step 3",
                "nothing holds the root: f_0 = 0 and a_0 is unknown; contact forces are in p^A",
            ),
            Claim(
                "q̈ = (τ - Sᵀ (I a_λ + p)) / d",
                f"off by {_times(self.joint_error)}", self.joint_error < 1e-9, "step 4",
                "it needs I^A and p^A for I and p, and X a_λ + c for a_λ",
            ),
            Claim(
                "τ = Sᵀ (I a + p) is the torque of a ragdoll's joint",
                f"{self.torque:.3g} N m in joints that are limp; with I^A and p^A {self.torque_whole:.0e} N m",
                self.torque < 1e-6, "step 4", "what hangs on the body is left out",
            ),
            Claim(
                "the floating base never gets a torque",
                f"its motion takes {self.root:.0e} N, N m at the root", self.root < 1e-6, "what matters",
            ),
            Claim(
                "the algorithm is right for humanoids and ragdolls",
                f"with all terms, q̈ as by the library to {self.whole_error:.0e}; as printed, see above",
                max(self.base_error, self.joint_error) < 1e-9, "what matters", "with the terms that are missing it is",
            ),
        ]  # fmt: skip


def ragdoll(seconds: float = 3.0) -> Ragdoll:
    """Let one fall on the ground and two boxes, and evaluate the lines of the notes on the way."""
    scene = scenes.ragdoll(count=2, seed=SEED)  # the code of batches, as for a thousand of them
    steps = round(seconds / scene.dt)
    run = rollout(scene.model, scene.q, scene.v, steps=steps, record_every=EVERY, **scene.means).lane(0)
    model = humanoid(armature=0.0)  # the notes have no rotors

    at = round(IN_THE_AIR / scene.dt) // EVERY
    q, v, limp = run.q[at], run.v[at], np.zeros(model.nv)
    truth = forward_dynamics(model, q, v, limp)
    scale = float(np.abs(truth).max())
    given = bodies(model, q, v)
    whole, printed = articulated(given, limp), articulated(given, limp, lacks=("U D⁻¹ u",))
    q_dd, a = accelerations(given, whole, limp)
    base = np.linalg.solve(printed.I_A[1], -printed.p_A[1])
    joints, _ = accelerations(given, whole, limp, base=truth[:6], lacks=("I^A",))
    several = range(2, model.nb + 1)
    rigid = [given.S[i].T @ (given.I[i] @ a[i] + given.p[i]) for i in several]
    through = [given.S[i].T @ (whole.I_A[i] @ a[i] + whole.p_A[i]) for i in several]

    q, v, force = run.q[-2], run.v[-2], run.contact_force[-1]
    contacts = on_bodies(model, q, force)
    lying = forward_dynamics(model, q, v, limp, contacts)
    without, with_contacts = (articulated(bodies(model, q, v, f), limp) for f in (None, contacts))
    up = bodies(model, q, v).from_world[1][:3, :3] @ [0.0, 0.0, 1.0]  # in the axes of the base
    return Ragdoll(
        run,
        leftover=max(float(np.abs(given.S[i].T @ whole.I_a[i] @ given.S[i] / whole.D[i].max()).max()) for i in several),
        base_error=float(np.abs(base - truth[:6]).max() / np.abs(truth[:6]).max()),
        joint_error=float(np.abs(joints - truth).max()) / scale,
        whole_error=float(np.abs(q_dd - truth).max()) / scale,
        torque=float(max(np.abs(t).max() for t in rigid)),
        torque_whole=float(max(np.abs(t).max() for t in through)),
        root=float(np.abs(inverse_dynamics(model, q, v, lying, contacts)[:6]).max()),
        pushes=float(force[:, 2].sum()),
        weight=float(model.weight),
        f_0=float(up @ (without.I_A[1] @ lying[:6] + without.p_A[1])[:3]),
        f_0_whole=float(up @ (with_contacts.I_A[1] @ lying[:6] + with_contacts.p_A[1])[:3]),
    )


def figure_of(result: Ragdoll) -> Any:
    """Energy of the fall, and what the ground pushes with over the weight."""
    figure = needed("matplotlib.figure", "plot", "figures need").Figure(figsize=(7.2, 3.0), layout="constrained")
    left, right = figure.subplots(1, 2)
    run = result.run
    left.plot(run.t, run.energy(), color=TEAL)
    left.set(xlabel="time [s]", ylabel="energy [J]", title="Contact only takes energy")
    total = run.contact_force[..., 2].sum(axis=1)
    right.plot(run.t[:-1], total / result.weight, color=TEAL)
    right.axhline(1.0, color=GREY, linewidth=0.8)
    right.set(
        xlabel="time [s]", ylabel="ground's force / weight", title="The ground carries it in the end", ylim=(0, None)
    )
    for axes in (left, right):
        axes.grid(alpha=0.25)
        axes.set_title(axes.get_title(), fontsize=10)
    return figure


def _times(error: float) -> str:
    """A relative error in words."""
    return f"{error:.0%}" if error < 1 else f"{error:.2g} times the largest"


def _run(out: Path, tell: Tell, short: bool) -> Outcome:
    tell("compiling the step of a humanoid with 24 contact points, then letting it fall")
    result = ragdoll(0.5 if short else 3.0)
    tell("drawing")
    movie(excerpt(result.run, 0.0, 1.8), out / "ragdoll.gif", rate=20, speed=SPEED, size=(480, 360), camera=CAMERA)
    heads = ("quantity of the notes", "as printed", "with all terms")
    rows = [
        ("acceleration of the base, error", _times(result.base_error), f"{result.whole_error:.0e}"),
        ("accelerations of the joints, error", _times(result.joint_error), f"{result.whole_error:.0e}"),
        ("torque in limp joints", f"{result.torque:.3g} N m", f"{result.torque_whole:.0e} N m"),
        ("f_0 of a body on the ground", f"{result.f_0:.0f} N", f"{abs(result.f_0_whole):.0e} N"),
    ]
    return Outcome(
        result.claims,
        [Table("The recursion, as printed and whole", heads, rows)],
        {
            "ragdoll.gif": "A limp humanoid falls on the ground and two boxes, at half its speed; red: contact forces",
            saved(figure_of(result), out / "ragdoll.svg"): "Energy, and the force of the ground over the weight",
        },
    )


EXPERIMENT = Experiment("ragdoll", "001", "A ragdoll falls: the recursion of the notes, checked", _run)
