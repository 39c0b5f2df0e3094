"""Pinocchio as an oracle: our Model from its Model, real robots from example-robot-data.

Velocities, accelerations and forces are the same arrays in both. So are configurations, but for joints that turn for
ever and planar ones: Pinocchio has the cosine and the sine where we have the angle. `to_pinocchio` and
`from_pinocchio_q` convert.
"""

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
# Pinocchio cannot read them
UNREADABLE = {"ur_description/urdf/ur3.urdf": "an empty robot: it has no name and no link"}
# read without their mimic joints only: there a joint follows ...
MIMIC_UNREADABLE = {
    "alex_description/urdf/alex_psyonic_hands.urdf": "one that the file does not have",
    "romeo_description/urdf/romeo.urdf": "one that comes later in Pinocchio's order",
    "talos_data/robots/talos_full_v2.urdf": "one that comes later in Pinocchio's order",
    "talos_data/robots/talos_full_v2_box.urdf": "one that comes later in Pinocchio's order",
}
AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}


def robots_folder() -> Path:
    """Where example-robot-data was installed (beside Pinocchio, under the same prefix)."""
    return Path(pin.__file__).parents[4] / "share" / "example-robot-data" / "robots"


def all_urdfs() -> list[str]:
    """Every robot of example-robot-data, by its path below `robots_folder()`."""
    return sorted(path.relative_to(robots_folder()).as_posix() for path in robots_folder().rglob("*.urdf"))


@functools.cache
def pinocchio_model(robot: str, base: str, mimic: bool = False) -> pin.Model:
    """Pinocchio's model of a robot by its name in ROBOTS or its path; without `mimic` every joint is free to move."""
    path = str(robots_folder() / ROBOTS.get(robot, robot))
    root = (pin.JointModelFreeFlyer(),) if base == "free" else ()
    return pin.buildModelFromUrdf(path, *root, mimic=mimic)


def kind_of(model: pin.Model, j: int) -> str:
    """RX, RUBZ, Planar, …"""
    return model.joints[j].shortname().removeprefix("JointModel")


def _subspace(model: pin.Model, j: int) -> np.ndarray:
    """The one column of S of a joint, linear first."""
    data = model.joints[j].createData()
    model.joints[j].calc(data, pin.neutral(model), np.zeros(model.nv))
    return np.asarray(data.S).ravel()


def _screw(S: np.ndarray) -> fw.joints.Joint:
    """The joint with one degree of freedom that has this S."""
    linear, angular = S[:3], S[3:]
    if not angular.any():
        return fw.joints.Prismatic(linear)
    return fw.joints.Helical(angular, linear @ angular) if linear.any() else fw.joints.Revolute(angular)


def _cylindrical(joint: pin.JointModelComposite) -> fw.joints.Joint:
    """Of all composite joints we have one: turn about an axis, then slide along it."""
    kinds = [part.shortname().removeprefix("JointModel") for part in joint.joints]
    together = all(placement.isIdentity(0.0) for placement in joint.jointPlacements)
    for axis, vector in AXES.items():
        if kinds == [f"R{axis}", f"P{axis}"] and together:
            return fw.joints.Cylindrical(vector)
    if kinds == ["RevoluteUnaligned", "PrismaticUnaligned"] and together:
        first, second = (part.extract().axis for part in joint.joints)
        if np.array_equal(first, second):
            return fw.joints.Cylindrical(first)
    raise NotImplementedError(f"composite joint of {', '.join(kinds)}")


def _joint(model: pin.Model, j: int) -> fw.joints.Joint:
    name, joint = kind_of(model, j), model.joints[j].extract()
    if name in ("RX", "RY", "RZ"):
        return fw.joints.Revolute(AXES[name[1]])
    if name in ("PX", "PY", "PZ"):
        return fw.joints.Prismatic(AXES[name[1]])
    if name in ("HX", "HY", "HZ"):
        return fw.joints.Helical(AXES[name[1]], joint.pitch)
    if name in ("RUBX", "RUBY", "RUBZ"):
        return fw.joints.Continuous(AXES[name[3]])
    if name == "RevoluteUnboundedUnaligned":
        return fw.joints.Continuous(_subspace(model, j)[3:])
    if name == "RevoluteUnaligned":
        return fw.joints.Revolute(joint.axis)
    if name == "PrismaticUnaligned":
        return fw.joints.Prismatic(joint.axis)
    if name == "HelicalUnaligned":
        return fw.joints.Helical(joint.axis, joint.pitch)
    if name == "Universal":
        return fw.joints.Universal(joint.axis1, joint.axis2)
    if name == "Mimic":
        leader = model.mimicked_joints[list(model.mimicking_joints).index(j)]
        own = _screw(_subspace(model, j) / joint.scaling)
        return fw.joints.Mimic(own, model.names[leader], joint.scaling, joint.offset)
    if name == "Composite":
        return _cylindrical(joint)
    plain = {"FreeFlyer": fw.joints.Free, "Planar": fw.joints.Planar, "Spherical": fw.joints.Spherical}
    if name in plain:
        return plain[name]()
    raise NotImplementedError(f"joint {model.names[j]} is a {name}")


def from_pinocchio(model: pin.Model) -> fw.Model:
    """The same bodies in the same order; links on fixed joints are frames."""
    builder = fw.Builder(model.name, gravity=model.gravity.linear, policy="warn")
    names = ["world", *(f"{model.names[j]}_body" for j in range(1, model.njoints))]
    used = {*names, *model.names}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # published robots have bodies that cannot exist
        for j in range(1, model.njoints):
            placement, inertia = model.jointPlacements[j], model.inertias[j]
            v = slice(model.idx_vs[j], model.idx_vs[j] + model.nvs[j])
            motor = {}
            if kind_of(model, j) != "Mimic":  # its coordinate, and what acts on that, is another's
                motor = {"armature": model.armature[v], "damping": model.damping[v], "friction": model.friction[v]}
            builder.add_body(
                names[j],
                parent=names[model.parents[j]],
                joint=_joint(model, j),
                joint_name=model.names[j],
                placement=fw.Placement(placement.translation, rotation=placement.rotation),
                inertia=fw.Inertia(inertia.mass, inertia.lever, inertia.inertia),
                **motor,
            )
        for frame in model.frames:
            if frame.name not in used:
                used.add(frame.name)
                placement = fw.Placement(frame.placement.translation, rotation=frame.placement.rotation)
                builder.add_frame(frame.name, parent=names[frame.parentJoint], placement=placement)
        return builder.build()


@functools.cache
def robot(name: str, base: str, mimic: bool = False) -> fw.Model:
    return from_pinocchio(pinocchio_model(name, base, mimic))


def to_pinocchio(model: fw.Model, theirs: pin.Model, q: np.ndarray) -> np.ndarray:
    """Our configurations (…, nq) as Pinocchio's."""
    result = np.empty((*q.shape[:-1], theirs.nq))
    for j, joint in enumerate(model.joints, start=1):
        kind, own = kind_of(theirs, j), q[..., joint.q]
        if kind.startswith("RevoluteUnbounded") or kind.startswith("RUB") or kind == "Planar":
            own = np.concatenate([own[..., :-1], np.cos(own[..., -1:]), np.sin(own[..., -1:])], axis=-1)
        if kind != "Mimic":
            result[..., theirs.idx_qs[j] : theirs.idx_qs[j] + theirs.nqs[j]] = own
    return result


def from_pinocchio_q(model: fw.Model, theirs: pin.Model, q: np.ndarray) -> np.ndarray:
    """Pinocchio's configurations (…, nq) as ours, angles from -π to π."""
    result = np.empty((*q.shape[:-1], model.nq))
    for j, joint in enumerate(model.joints, start=1):
        kind, own = kind_of(theirs, j), q[..., theirs.idx_qs[j] : theirs.idx_qs[j] + theirs.nqs[j]]
        if kind.startswith("RevoluteUnbounded") or kind.startswith("RUB") or kind == "Planar":
            own = np.concatenate([own[..., :-2], np.arctan2(own[..., -1:], own[..., -2:-1])], axis=-1)
        if kind != "Mimic":
            result[..., joint.q] = own
    return result


def random_states(model: pin.Model, count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Configurations over the whole range (any quaternion, any angle), velocities, forces."""
    rng = np.random.default_rng(seed)
    ours = from_pinocchio(model)
    q = np.array([ours.random(rng) for _ in range(count)])
    return q, rng.normal(size=(count, model.nv)), rng.normal(size=(count, model.nv))
