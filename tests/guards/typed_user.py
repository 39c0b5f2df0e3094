"""A user's program, as type checkers see it: `make check` shows it to mypy and to pyright.

Where a line is wrong on purpose, both must say so: an ignored error that is none is an error. Nothing of this is run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import featherweight as fw


def dynamics() -> np.ndarray:
    model: fw.Model = fw.load("robot.urdf", base="free")
    q, v = model.random(0), np.zeros(model.nv)
    tau: np.ndarray = fw.inverse_dynamics(model, q, v, v)
    pose: fw.Pose = fw.frame_pose(model, q, "hand")
    place: np.ndarray = pose.position
    names: tuple[str, ...] = model.joint_names
    print(place, names, model.nq + 1)
    seen: fw.Pose = pose.inverse() @ fw.exp([0, 0, 0, 0, 0, 1.0])
    points: np.ndarray = seen @ np.zeros((4, 3))
    twist: np.ndarray = fw.log(fw.Pose.from_matrix(seen.matrix))
    print(points, twist, model.lower + model.upper, model.frame_names)
    return fw.forward_dynamics(model, q, v, tau)


def built() -> fw.Model:
    return (
        fw.Builder("arm", gravity=(0, 0, -9.81))
        .add_body(
            "link",
            joint=fw.joints.Revolute("y"),
            inertia=fw.Inertia.box(1.0, (0.1, 0.1, 1.0)),
            placement=fw.Placement((0, 0, 1), rpy=(0.1, 0, 0)),
            limits=fw.Limits(-1.0, 1.0, effort=10.0),
        )
        .build()
    )


def edited(arm: fw.Model, hand: fw.Model) -> fw.Model:
    locked: fw.Model = arm.locked({"elbow": 0.3}).renamed(prefix="left/")
    loaded = locked.with_payload("left/hand", fw.Inertia.point(0.5)).with_scaled_mass({"left/hand": 1.1})
    model = fw.Builder().add_model(loaded).add_model(hand, "hand/", parent="left/hand", joint=fw.joints.Fixed()).build()
    fw.save(model, "robot.urdf")
    fw.save("robot.urdf", model)  # type: ignore[arg-type]
    return model


def controller(t: Any, q: Any, v: Any, x: Any, p: Any) -> tuple[Any, Any]:
    return -p[0] * q - p[1] * v + fw.scalar.sin(t), x


def simulation(model: fw.Model) -> fw.Trajectory:
    run: fw.Trajectory = fw.simulate(
        model,
        model.neutral(),
        np.zeros(model.nv),
        duration=1.0,
        dt=1e-3,
        control=fw.compiled(controller, parameters=[10.0, 1.0]),
        contact=fw.contact.Impulse(ground=fw.contact.Plane(), friction=0.5),
        integrator=fw.integrators.Variational(),
        actuators=fw.actuators.EffortLimits(),
    )
    hills = fw.contact.Heightfield([[0.0, 0.1], [0.2, 0.3]], spacing=0.5, friction=0.8)
    rows: int = hills.heights.shape[0]
    energy: np.ndarray = run.energy()
    good: bool = bool((run.status == fw.Status.OK).all())
    print(energy, good, rows)
    return run


def late(model: fw.Model, run: fw.Trajectory) -> None:
    scene: fw.scenes.Scene = fw.scenes.trot(velocity=(0.5, 0.0, 0.0))
    means: Mapping[str, Any] = scene.means
    driven = fw.control.joint_pd(scene.model, scene.q, stiffness=40.0)
    gains = fw.control.QuadrupedGains(swing=fw.control.Gains(800.0, np.array([50.0, 60.0])))
    fw.control.trot(scene.model, scene.q, duty=0.7, friction=np.array([0.4, 0.5]), gains=gains)
    derived: fw.equations.Equations = fw.equations.lagrange(model)
    text: str = derived.latex()
    fw.viewer.export(run, "run.html")
    fw.plot.plot(run)
    print(means, driven.parameters.shape, text)


def mistakes(model: fw.Model) -> None:
    fw.contact.Impuls()  # type: ignore[attr-defined]
    fw.control.joint_dp(model, [0.0])  # type: ignore[attr-defined]
    fw.integrators.Euler()  # type: ignore[attr-defined]
    fw.actuators.Motor()  # type: ignore[attr-defined]
    fw.scenes.walk()  # type: ignore[attr-defined]
    fw.equations.hamilton(model)  # type: ignore[attr-defined]
    fw.viewer.shows()  # type: ignore[attr-defined]
    fw.plot.plots()  # type: ignore[attr-defined]
    fw.joints.Hinge("y")  # type: ignore[attr-defined]
    model.nqq  # type: ignore[attr-defined]  # noqa: B018
    fw.scenes.trot(speed=1.0)  # type: ignore[call-arg]
    number: int = fw.load("robot.urdf")  # type: ignore[assignment]
    print(number)
