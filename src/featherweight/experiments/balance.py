"""A humanoid balances by momentum-based control: what the notes say of the root, the ground and the order of things.

The notes put articulated-body inertia between optimised accelerations and torques. Here a controller that plans the
momentum balances a humanoid that is pushed at its chest, and the sentences are measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from featherweight import control, scenes
from featherweight.dynamics import forward_dynamics, forward_kinematics, hybrid_dynamics, inverse_dynamics
from featherweight.experiments.claim import Claim
from featherweight.experiments.excerpt import excerpt
from featherweight.experiments.experiment import Experiment, Outcome, Table, Tell
from featherweight.experiments.figures import GREY, RED, TEAL, saved
from featherweight.experiments.literal import accelerations, articulated, bodies, on_bodies
from featherweight.extras import needed
from featherweight.plot import Camera, movie
from featherweight.simulation import Trajectory, rollout
from featherweight.visuals import Segments

PUSHES = (0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 80.0)  # [N s] forward, at the chest
START, LENGTH = 0.5, 0.1  # [s]
EVERY = 5  # steps from record to record
UPRIGHT = 0.7  # [m]: a pelvis below has fallen
SHOWN = (3, 5)  # of PUSHES, in the moving picture
CAMERA = Camera(np.array([2.8, -5.4, 1.7]), np.array([0.6, 0.0, 0.78]), 3.0)
VIOLET = (0.55, 0.0, 0.62)


@dataclass(frozen=True, eq=False)
class Balance:
    """Humanoids pushed by PUSHES, and the sentences of the notes at one state of the one that stands.

    `root` [N, N m]: what acts at the root when nobody pushes. `ground`, `weight` [N]. `f_0` [N]: force at the root by
    the formula of the notes, contact forces included. `from_nowhere` and `hybrid` [N, N m]: what the root would have to
    give so that joints move as told, if the base moves as with limp joints, and by hybrid dynamics. `torque_error`:
    torques by inverse dynamics against those through articulated bodies, over the largest.
    """

    runs: Trajectory
    root: float
    ground: float
    weight: float
    f_0: float
    from_nowhere: float
    hybrid: float
    torque_error: float

    @property
    def stands(self) -> np.ndarray:
        """Which of PUSHES it survives."""
        return np.asarray(np.nan_to_num(self.runs.q[:, -1, 2]) > UPRIGHT)

    @property
    def claims(self) -> list[Claim]:
        """The source, sentence by sentence."""
        largest = max(push for push, stands in zip(PUSHES, self.stands, strict=True) if stands)
        return [
            Claim(
                "the root stays without a motor, and control works all the same",
                f"{self.root:g} N at the root; it stands after pushes of up to {largest:g} N s",
                self.root == 0.0 and bool(self.stands[0]), "step 3, what matters",
            ),
            Claim(
                "reactions of the ground come by themselves, through f_0",
                f"ground {self.ground:.1f} N, weight {self.weight:.1f} N, f_0 = {self.f_0:.0e} N",
                bool(np.isclose(self.f_0, self.weight, rtol=0.01)), "what matters",
                "they do come by themselves, but at the feet, within p^A; f_0 = 0",
            ),
            Claim(
                "for control, put the wanted q̈ in the place of τ",
                f"with the base as it was, {self.from_nowhere:.3g} N, N m at the root come from nowhere; by hybrid "
                f"dynamics {self.hybrid:.0e}",
                self.from_nowhere < 1e-6, "step 4",
                "joints that move as told do not yield: I^a = I^A, p^a = p^A + I^A (c + S q̈)",
            ),
            Claim(
                "articulated inertia is needed between optimised accelerations and torques",
                f"inverse dynamics, which has no I^A, gives the same torques to {self.torque_error:.0e}",
                self.torque_error > 1e-6, "what matters", "with all accelerations given, inverse dynamics is enough",
            ),
        ]  # fmt: skip


def balance(seconds: float = 3.5) -> Balance:
    """Push eight of them, and evaluate the sentences of the notes where the first one stands."""
    scene = scenes.balance()
    model, dt = scene.model, scene.dt
    force = np.outer(np.array(PUSHES) / LENGTH, [1.0, 0.0, 0.0])
    driven = control.pushed(control.balance(model, scene.q), model, "chest", force=force, start=START, duration=LENGTH)
    steps = round(seconds / dt)
    runs = rollout(model, scene.q, scene.v, steps=steps, record_every=EVERY, **{**scene.means, "control": driven})

    one = runs.lane(0)
    q, v, tau = one.q[-2], one.v[-2], one.tau[-1]
    contacts = on_bodies(model, q, one.contact_force[-1])
    a = forward_dynamics(model, q, v, tau, contacts)
    given = bodies(model, q, v, contacts)
    found = articulated(given, tau)
    _, spatial = accelerations(given, found, tau)
    through = np.concatenate(
        [given.S[i].T @ (found.I_A[i] @ spatial[i] + found.p_A[i]) for i in range(2, model.nb + 1)]
    )
    armature = np.concatenate([np.broadcast_to(joint.armature, joint.kind.nv) for joint in model.joints])
    by_inverse = inverse_dynamics(model, q, v, a, contacts)

    wanted = np.where(np.arange(model.nv) < 6, a, 5.0)  # rad/s² at all joints, the base as with joints that yield
    names = [joint.name for joint in model.joints[1:]]
    _, moved = hybrid_dynamics(model, q, v, tau, wanted, names, contacts)
    return Balance(
        runs,
        root=float(np.abs(one.tau[:, :6]).max()),
        ground=float(one.contact_force[len(one.contact_force) // 2 :, :, 2].sum(axis=1).mean()),
        weight=float(model.weight),
        f_0=float(np.linalg.norm((found.I_A[1] @ a[:6] + found.p_A[1])[:3])),
        from_nowhere=float(np.abs(inverse_dynamics(model, q, v, wanted, contacts)[:6]).max()),
        hybrid=float(np.abs(inverse_dynamics(model, q, v, moved, contacts)[:6]).max()),
        torque_error=float(np.abs(by_inverse[6:] - through - (armature * a)[6:]).max() / np.abs(tau).max()),
    )


def push_marks(run: Trajectory, newtons: float) -> Segments:
    """A line to the chest while it is pushed; 100 N are 10 cm."""
    model = run.model
    if model is None:
        raise ValueError("run: expected a trajectory with its model")
    pushed = np.flatnonzero((run.t >= START - 1e-9) & (run.t < START + LENGTH - 1e-9))
    chest = forward_kinematics(model, run.q[pushed]).position[:, model.names.index("chest")]
    ends = np.stack([chest - [1e-3 * newtons, 0.0, 0.0], chest], axis=1)
    step = float(run.t[1] - run.t[0])
    return Segments(ends, run.t[pushed], run.t[pushed] + step, VIOLET, 0.03)


def figure_of(result: Balance) -> Any:
    """The height of the pelvis over time, for each push."""
    figure = needed("matplotlib.figure", "plot", "figures need").Figure(figsize=(6.2, 3.2), layout="constrained")
    axes = figure.subplots()
    for push, stands, q in zip(PUSHES, result.stands, result.runs.q, strict=True):
        axes.plot(result.runs.t, q[:, 2], color=TEAL if stands else RED, linewidth=1.2)
        if not stands:
            k = int(np.argmax(q[:, 2] < 0.45))
            axes.annotate(f"{push:g}", (result.runs.t[k], 0.45), fontsize=8, color=RED)
    kept = [push for push, stands in zip(PUSHES, result.stands, strict=True) if stands]
    axes.annotate(f"{min(kept):g} to {max(kept):g} N s: it stands", (1.9, 0.93), fontsize=9, color=TEAL)
    axes.axvspan(START, START + LENGTH, color=GREY, alpha=0.25)
    axes.set(xlabel="time [s]", ylabel="height of the pelvis [m]", ylim=(0, 1.05))
    axes.set_title("Pushed forward at the chest, for 0.1 s [N s]", fontsize=10)
    axes.grid(alpha=0.25)
    return figure


def _run(out: Path, tell: Tell, short: bool) -> Outcome:
    tell("compiling a humanoid with its controller, then pushing eight")
    result = balance(1.5 if short else 3.5)
    tell("drawing")
    lanes = [excerpt(result.runs.lane(k), 0.4, 0.6 if short else 2.2) for k in SHOWN]
    marks = [[push_marks(result.runs.lane(k), PUSHES[k] / LENGTH)] for k in SHOWN]
    labels = [f"{PUSHES[k]:g} N s" for k in SHOWN]
    movie(lanes, out / "balance.gif", labels=labels, rate=20, speed=0.5, size=(380, 360), camera=CAMERA, segments=marks)
    rows = [
        (f"{push:g} N s", "stands" if stands else "falls") for push, stands in zip(PUSHES, result.stands, strict=True)
    ]
    return Outcome(
        result.claims,
        [Table("Pushed forward at the chest for 0.1 s", ("push", "after that"), rows)],
        {
            "balance.gif": "Pushed at the chest (violet), at half the speed: one recovers, one falls. Red: contact",
            saved(figure_of(result), out / "balance.svg"): "Height of the pelvis, by the size of the push",
        },
    )


EXPERIMENT = Experiment("balance", "001", "A humanoid is pushed, and balances without a motor at its root", _run)
