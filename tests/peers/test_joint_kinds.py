"""Against Pinocchio on small trees made by hand: every kind of joint that Pinocchio has too, on the world, between
bodies, and at the tips of branches. Native code, 50 random states."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import featherweight as fw
from peers.pinocchio_adapter import from_pinocchio, from_pinocchio_q, to_pinocchio
from peers.pinocchio_functions import (
    Pair,
    above,
    errors,
    functions,
    mimics_freed,
    rates_from,
    states,
)

STATES = 50
TOLERANCE = 1e-12
ANY = np.array([0.6, -0.48, 0.64])  # of unit length
ACROSS = np.array([0.8, 0.36, -0.48])  # at a right angle to it


def cylindrical(turn: pin.JointModel, slide: pin.JointModel) -> pin.JointModelComposite:
    joint = pin.JointModelComposite(2)
    joint.addJoint(turn)
    joint.addJoint(slide)
    return joint


def unbounded() -> pin.JointModel:
    """A continuous joint about no axis of its frame: Pinocchio makes these from URDF only."""
    axis = " ".join(map(str, ANY))
    text = f"""<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="continuous">
    <parent link="a"/><child link="b"/><axis xyz="{axis}"/></joint></robot>"""
    return pin.buildModelFromXML(text).joints[1]


PARENTS = (0, 1, 2, 1, 4)  # depth first, as Pinocchio needs
KINDS = {
    "revolute": (
        pin.JointModelRX(),
        pin.JointModelRY(),
        pin.JointModelRevoluteUnaligned(ANY),
        pin.JointModelRZ(),
        pin.JointModelRevoluteUnaligned(ACROSS),
    ),
    "prismatic": (
        pin.JointModelPX(),
        pin.JointModelPrismaticUnaligned(ANY),
        pin.JointModelPY(),
        pin.JointModelRevoluteUnaligned(ACROSS),
        pin.JointModelPZ(),
    ),
    "helical": (
        pin.JointModelHX(0.2),
        pin.JointModelHelicalUnaligned(ANY, -0.3),
        pin.JointModelHY(-0.1),
        pin.JointModelHZ(0.4),
        pin.JointModelRX(),
    ),
    "continuous": (
        pin.JointModelRUBX(),
        pin.JointModelRUBY(),
        unbounded(),
        pin.JointModelRUBZ(),
        pin.JointModelPX(),
    ),
    "cylindrical": (
        cylindrical(pin.JointModelRX(), pin.JointModelPX()),
        cylindrical(pin.JointModelRevoluteUnaligned(ANY), pin.JointModelPrismaticUnaligned(ANY)),
        pin.JointModelRY(),
        pin.JointModelRZ(),
        cylindrical(pin.JointModelRZ(), pin.JointModelPZ()),
    ),
    "universal": (
        pin.JointModelUniversal(ANY, ACROSS),
        pin.JointModelRX(),
        pin.JointModelUniversal(np.eye(3)[2], np.eye(3)[0]),
        pin.JointModelUniversal(ACROSS, ANY),
        pin.JointModelRY(),
    ),
    "planar": (
        pin.JointModelPlanar(),
        pin.JointModelRX(),
        pin.JointModelPlanar(),
        pin.JointModelPlanar(),
        pin.JointModelRY(),
    ),
    "spherical": (
        pin.JointModelSpherical(),
        pin.JointModelPX(),
        pin.JointModelSpherical(),
        pin.JointModelSpherical(),
        pin.JointModelPZ(),
    ),
    "free": (
        pin.JointModelFreeFlyer(),
        pin.JointModelRX(),
        pin.JointModelFreeFlyer(),
        pin.JointModelRY(),
        pin.JointModelPZ(),
    ),
}


def placement(rng: np.random.Generator) -> pin.SE3:
    return pin.SE3(pin.exp3(rng.normal(size=3)), rng.uniform(-0.4, 0.4, 3))


def inertia(rng: np.random.Generator) -> pin.Inertia:
    """Of six random points of equal mass."""
    points, mass = rng.uniform(-0.3, 0.3, (6, 3)), rng.uniform(0.5, 2.0)
    com = points.mean(axis=0)
    about = [(p - com) @ (p - com) * np.eye(3) - np.outer(p - com, p - com) for p in points]
    return pin.Inertia(mass, com, mass * np.mean(about, axis=0))


def tree(kind: str, split: bool = False) -> pin.Model:
    """Five bodies, or four; `split` has two revolute joints and nothing between them for each universal joint."""
    rng = np.random.default_rng(7)
    model = pin.Model()
    numbers = [0]
    for i, (parent, joint) in enumerate(zip(PARENTS, KINDS[kind], strict=True), start=1):
        at, on = placement(rng), numbers[parent]
        if split and isinstance(joint, pin.JointModelUniversal):
            on = model.addJoint(on, pin.JointModelRevoluteUnaligned(joint.axis1), at, f"first of joint{i}")
            at, joint = pin.SE3.Identity(), pin.JointModelRevoluteUnaligned(joint.axis2)
        numbers.append(model.addJoint(on, joint, at, f"joint{i}"))
        model.appendBodyToJoint(numbers[-1], inertia(rng), pin.SE3.Identity())
        model.addJointFrame(numbers[-1])
    model.addFrame(pin.Frame("tool", numbers[-1], placement(rng), pin.OP_FRAME))
    return model


def following() -> tuple[pin.Model, pin.Model]:
    """A tree where one joint follows its grandparent and one a joint of another branch; and without that."""
    full = tree("prismatic")
    model = pin.transformJointIntoMimic(full, 1, 3, -0.7, 0.2)
    return pin.transformJointIntoMimic(model, 2, 4, 1.5, -0.3), full


def compared(kind: str) -> tuple[pin.Model, dict[str, Pair]]:
    """The model, and the functions to compare."""
    if kind == "mimic":
        model, full = following()
        return model, rates_from(full, lambda x: mimics_freed(model, full, x), functions(model))
    model = tree(kind)
    pairs = functions(model)
    if kind == "universal":
        pairs = rates_from(tree(kind, split=True), lambda x: (x, np.eye(model.nv)), pairs)
    return model, pairs


@pytest.mark.parametrize("kind", [*KINDS, "mimic"])
def test_kind_agrees_with_pinocchio(kind: str) -> None:
    theirs, pairs = compared(kind)
    ours = from_pinocchio(theirs)
    found = errors(ours, theirs, states(ours, STATES), pairs)
    inverted = found.pop("operational_inertia", 0.0)  # of J M⁻¹ Jᵀ, which is near singular in some of the states
    assert inverted <= 1e-10
    assert not above(TOLERANCE, found)


WITH_ARMATURE = (
    "mass_matrix",
    "mass_matrix_inverse",
    "solve_mass_matrix",
    "inverse_dynamics",
    "forward_dynamics",
    "bias_force",
    "kinetic_energy",
    "delassus",
)


@pytest.mark.parametrize("kind", [*KINDS, "mimic"])
def test_armature_agrees_with_pinocchio(kind: str) -> None:
    theirs, pairs = compared(kind)
    theirs.armature = np.random.default_rng(8).uniform(0.1, 1.0, theirs.nv)
    ours = from_pinocchio(theirs)
    found = errors(ours, theirs, states(ours, STATES), {name: pairs[name] for name in WITH_ARMATURE if name in pairs})
    assert not above(TOLERANCE, found)


@pytest.mark.parametrize("kind", [*KINDS, "mimic"])
def test_configurations_go_to_pinocchio_and_back(kind: str) -> None:
    theirs, _ = compared(kind)
    ours = from_pinocchio(theirs)
    q = states(ours, STATES).q
    converted = to_pinocchio(ours, theirs, q)
    assert np.array_equal(fw.convert.to_pinocchio(ours, q, list(theirs.names)), converted)
    np.testing.assert_allclose(from_pinocchio_q(ours, theirs, converted), q, rtol=0, atol=1e-15)
    np.testing.assert_allclose(fw.convert.from_pinocchio(ours, converted, list(theirs.names)), q, rtol=0, atol=1e-15)
