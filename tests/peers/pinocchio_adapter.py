"""Pinocchio as an oracle: our Model from its Model, real robots from example-robot-data."""

from __future__ import annotations

import functools
import warnings
from pathlib import Path

import numpy as np
import pinocchio as pin

import featherweight as fw

ROBOTS = {
    "go2": "go2_description/urdf/go2.urdf",
    "simple_humanoid": "simple_humanoid_description/urdf/simple_humanoid.urdf",
    "talos": "talos_data/robots/talos_full_v2.urdf",
    "panda": "panda_description/urdf/panda.urdf",
    "icub": "icub_description/robots/icub.urdf",
}
AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}


def robots_folder() -> Path:
    """Where example-robot-data was installed (beside Pinocchio, under the same prefix)."""
    return Path(pin.__file__).parents[4] / "share" / "example-robot-data" / "robots"


@functools.cache
def pinocchio_model(robot: str, base: str) -> pin.Model:
    path = str(robots_folder() / ROBOTS[robot])
    return pin.buildModelFromUrdf(path, pin.JointModelFreeFlyer()) if base == "free" else pin.buildModelFromUrdf(path)


def _joint(model: pin.Model, j: int) -> fw.joints.Joint:
    name = model.joints[j].shortname().removeprefix("JointModel")
    if name == "FreeFlyer":
        return fw.joints.Free()
    if name in ("RX", "RY", "RZ"):
        return fw.joints.Revolute(AXES[name[1]])
    if name in ("PX", "PY", "PZ"):
        return fw.joints.Prismatic(AXES[name[1]])
    data = model.joints[j].createData()
    model.joints[j].calc(data, pin.neutral(model), np.zeros(model.nv))
    S = np.asarray(data.S).ravel()
    if name == "RevoluteUnaligned":
        return fw.joints.Revolute(S[3:])
    if name == "PrismaticUnaligned":
        return fw.joints.Prismatic(S[:3])
    raise NotImplementedError(f"joint {model.names[j]} is a {name}")


def from_pinocchio(model: pin.Model) -> fw.Model:
    """The same bodies in the same order, so that q and v are the same arrays."""
    builder = fw.Builder(model.name, gravity=model.gravity.linear, policy="warn")
    names = ["world", *(f"{model.names[j]}_body" for j in range(1, model.njoints))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # published robots have bodies that cannot exist
        for j in range(1, model.njoints):
            placement, inertia = model.jointPlacements[j], model.inertias[j]
            builder.add_body(
                names[j],
                parent=names[model.parents[j]],
                joint=_joint(model, j),
                joint_name=model.names[j],
                placement=fw.Placement(placement.translation, rotation=placement.rotation),
                inertia=fw.Inertia(inertia.mass, inertia.lever, inertia.inertia),
            )
        return builder.build()


@functools.cache
def robot(name: str, base: str) -> fw.Model:
    return from_pinocchio(pinocchio_model(name, base))


def random_states(model: pin.Model, count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Configurations over the whole range (any quaternion, any angle), velocities, forces."""
    rng = np.random.default_rng(seed)
    q = np.empty((count, model.nq))
    ours = from_pinocchio(model)
    for k in range(count):
        q[k] = ours.random(rng)
    return q, rng.normal(size=(count, model.nv)), rng.normal(size=(count, model.nv))
