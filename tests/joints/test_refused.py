"""What joints and their properties refuse: a ModelError that says whose and what was expected."""

from __future__ import annotations

import math
from typing import Any

import pytest

import featherweight as fw
from featherweight.joints import (
    Continuous,
    Cylindrical,
    Fixed,
    Free,
    Helical,
    Joint,
    Mimic,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)

BODY = fw.Inertia.box(1.0, (0.1, 0.2, 0.3))
WHEEL = fw.Inertia.cylinder(1.0, 0.1, 0.2)  # round about z


@pytest.mark.parametrize("kind", [Revolute, Continuous, Prismatic, Helical, Cylindrical, Planar, Universal])
@pytest.mark.parametrize("axis", ["w", (0, 0, 0), (1, 0), (1, 0, math.nan), (1, 0, math.inf), "xyz", None, (1, 0, 1j)])
def test_a_bad_axis_is_refused(kind: Any, axis: Any) -> None:
    with pytest.raises(fw.ModelError, match="axis: expected"):
        kind(axis)


REFUSED_JOINTS = {
    "parallel axes": (lambda: Universal("x", (-2, 0, 0)), "Universal: expected two axes of different directions"),
    "nearly parallel axes": (lambda: Universal((1, 0, 0), (1, 1e-9, 0)), "different directions"),
    "pitch that is text": (lambda: Helical("x", "far"), "pitch: expected a real number, got 'far'"),
    "pitch that is not finite": (lambda: Helical("x", math.nan), "pitch: expected a finite number"),
    "oblique normal": (lambda: Planar((1, 1, 0)), "Planar: expected the axis x, y or z"),
    "following with a ball": (lambda: Mimic(Spherical(), "leader"), "expected a joint with one coordinate"),
    "following with two coordinates": (lambda: Mimic(Universal(), "leader"), "expected a joint with one coordinate"),
    "following with nothing": (lambda: Mimic(Fixed(), "leader"), "expected a joint with one coordinate"),
    "following with no joint": (lambda: Mimic("x", "leader"), "expected a joint with one coordinate"),
    "following a joint, not a name": (lambda: Mimic(Revolute(), Revolute()), "of: expected the name of the joint"),
    "ratio that is not finite": (lambda: Mimic(Revolute(), "leader", math.inf), "ratio: expected a finite number"),
    "offset that is text": (lambda: Mimic(Revolute(), "leader", 1.0, "x"), "offset: expected a real number"),
}


@pytest.mark.parametrize("name", REFUSED_JOINTS)
def test_a_bad_joint_is_refused(name: str) -> None:
    make, message = REFUSED_JOINTS[name]
    with pytest.raises(fw.ModelError, match=message):
        make()


def mimic_of(leader: str, kind: Joint | None = None) -> Any:
    def build() -> fw.Model:
        builder = fw.Builder("pair").add_body("leg", joint=kind or Revolute(), inertia=BODY)
        return builder.add_body("arm", joint=Mimic(Revolute(), leader), inertia=BODY).build()

    return build


def arm(kind: Joint | None = None, **options: Any) -> Any:
    return lambda: fw.Builder("one").add_body("arm", joint=kind or Revolute("z"), inertia=BODY, **options).build()


REFUSED = {
    "mimic of nothing": (mimic_of("foot"), "there is no moving joint 'foot' to mimic"),
    "mimic of a misspelt joint": (mimic_of("leg_join"), "did you mean 'leg_joint'"),
    "mimic of a body": (mimic_of("leg"), "there is no moving joint 'leg'"),
    "mimic of a fixed joint": (mimic_of("leg_joint", Fixed()), "there is no moving joint 'leg_joint'"),
    "mimic of a ball": (mimic_of("leg_joint", Spherical()), "'leg_joint' has more than one coordinate"),
    "mimic of two coordinates": (mimic_of("leg_joint", Cylindrical()), "'leg_joint' has more than one coordinate"),
    "mimic of itself": (mimic_of("arm_joint"), "circle"),
    "rotor that is no rotor": (arm(rotor=WHEEL), "rotor: expected featherweight.Rotor, got Inertia"),
    "rotor that is not round": (arm(rotor=fw.Rotor(6.0, BODY)), "rotor: expected an inertia that is round about"),
    "rotor round about another axis": (arm(Revolute("x"), rotor=fw.Rotor(6.0, WHEEL)), "round about the axis"),
    "rotor off its axis": (arm(rotor=fw.Rotor(6.0, fw.Inertia.cylinder(1, 0.1, 0.2, (0.1, 0, 0)))), "centre of mass"),
    "rotor on a ball": (arm(Spherical(), rotor=fw.Rotor(6.0, WHEEL)), "expected a joint with one degree of freedom"),
    "rotor without an axis": (arm(Mimic(Revolute(), "x"), rotor=fw.Rotor(6.0, WHEEL)), "rotor: give axis="),
    "rotor without inertia": (arm(rotor=fw.Rotor(6.0, 0.1)), "rotor: expected inertia=featherweight.Inertia"),
    "gear that is not finite": (arm(rotor=fw.Rotor(math.nan, WHEEL)), "rotor.gear: expected"),
    "gear that is text": (arm(rotor=fw.Rotor("high", WHEEL)), "rotor.gear: expected a real number"),
    "negative damping": (arm(damping=-1.0), "damping: expected 0 or more, got -1.0"),
    "negative friction": (arm(friction=[-1.0]), "friction: expected 0 or more"),
    "negative armature": (arm(Planar(), armature=(1.0, 1.0, -1.0)), "armature: expected 0 or more"),
    "negative stiffness": (arm(stiffness=-1e-9), "stiffness: expected 0 or more"),
    "damping that is not finite": (arm(damping=math.inf), "damping: expected finite numbers"),
    "too many dampings": (arm(Planar(), damping=(1.0,) * 4), r"damping: expected shape \(3,\), got \(4,\)"),
    "too few armatures": (arm(Free(), armature=(1.0,) * 5), r"armature: expected shape \(6,\), got \(5,\)"),
    "stiffness that is text": (arm(stiffness="hard"), "stiffness: expected"),
    "rest of the wrong length": (arm(Spherical(), rest=(0.0, 0.0, 0.0)), r"rest: expected shape \(4,\), got \(3,\)"),
    "rest that is no orientation": (
        arm(Spherical(), rest=(0.0, 0.0, 0.0, 2.0)),
        "rest: the quaternion .* length 2",
    ),
    "limits that are none": (arm(limits=(0.0, 1.0)), "limits: expected featherweight.Limits, got tuple"),
    "limits reversed": (arm(limits=fw.Limits(1.0, -1.0)), r"expected lower <= upper, got \(1.0,\) and \(-1.0,\)"),
    "one limit reversed": (arm(Planar(), limits=fw.Limits((0, 0, 1), (1, 1, 0))), "expected lower <= upper"),
    "limits of the wrong length": (
        arm(Planar(), limits=fw.Limits((0, 0), (1, 1))),
        "limits.lower: expected one",
    ),
    "limits that are text": (arm(limits=fw.Limits("low", "high")), "limits.lower: expected 1 numbers, got 'low'"),
    "limits that are not numbers": (arm(limits=fw.Limits(math.nan, 1.0)), "limits.lower: expected one"),
    "negative velocity": (arm(limits=fw.Limits(velocity=-1.0)), "expected velocity and effort of 0 or more"),
    "negative effort": (arm(Free(), limits=fw.Limits(effort=-1.0)), "expected velocity and effort of 0 or more"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_bad_property_is_refused_with_the_body_and_what_was_expected(name: str) -> None:
    make, message = REFUSED[name]
    with pytest.raises(fw.ModelError, match=message) as error:
        make()
    assert "body 'arm'" in str(error.value)


def test_a_bad_axis_of_a_rotor_is_refused_with_the_body() -> None:
    with pytest.raises(fw.ModelError, match=r"body 'arm'.*axis: expected"):
        arm(rotor=fw.Rotor(6.0, WHEEL, axis="w"))()


def test_mimic_joints_in_a_circle_are_refused() -> None:
    builder = fw.Builder("circle")
    for name, leader in (("one", "two"), ("two", "three"), ("three", "one")):
        builder.add_body(name, joint=Mimic(Revolute(), f"{leader}_joint"), inertia=BODY)
    with pytest.raises(fw.ModelError, match="circle"):
        builder.build()


def test_a_refused_rotor_leaves_the_builder_as_it_was() -> None:
    """Its mass is not left on the parent when something else about the joint is wrong."""
    builder = fw.Builder("tree").add_body("base", joint=Free(), inertia=BODY)
    wheel = fw.Rotor(6.0, WHEEL)
    for wrong in ({"limits": fw.Limits(1.0, -1.0)}, {"damping": -1.0}, {"rest": (1.0, 2.0)}, {"joint": Spherical()}):
        with pytest.raises(fw.ModelError):
            builder.add_body("arm", parent="base", **{"joint": Revolute("z"), "inertia": BODY, "rotor": wheel, **wrong})
    model = builder.build()
    assert model.inertias[1].m == 1.0
    assert [part.link for part in model.parts] == ["base"]


def test_one_number_serves_all_coordinates() -> None:
    one = arm(Planar(), armature=0.5, damping=2.0, limits=fw.Limits(-1.0, 1.0))()
    three = arm(Planar(), armature=(0.5,) * 3, damping=(2.0,) * 3, limits=fw.Limits((-1.0,) * 3, (1.0,) * 3))()
    for a, b in zip(one.joints, three.joints, strict=True):
        assert (a.armature, a.damping, a.limits) == (b.armature, b.damping, b.limits)
