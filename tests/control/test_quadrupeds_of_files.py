"""Quadrupeds of URDF files: how they crouch, and that they trot by the call the Mini Cheetah trots by."""

from __future__ import annotations

import functools
from math import acos, atan2, cos, sin
from typing import Any

import numpy as np
import pytest

import featherweight as fw

pytest.importorskip("pinocchio")  # brings example-robot-data

UNITREE = ("FL_foot", "FR_foot", "RL_foot", "RR_foot")
FILES: dict[str, Any] = {"go2": UNITREE, "anymal_c_simple": True, "hyq": True, "a1": True, "laikago": True}


@functools.cache
def loaded(name: str, contact: Any = None) -> fw.Model:
    contact = FILES[name] if contact is None else contact
    return fw.load(f"example-robot-data:{name}", base="free", contact=contact)


def limbs(control: Any) -> tuple[Any, ...]:
    return control.function.body.limbs


def built(axes: str, turned: bool, *joints: tuple[float, float, float]) -> fw.Model:
    """Four legs with hinges about these axes; how far it is from each to the next, and to the foot [m]."""
    builder = fw.Builder("built")
    builder.add_body("body", joint=fw.joints.Free(), inertia=fw.Inertia.box(4.0, (0.4, 0.4, 0.1)))
    for k, (x, y) in enumerate([(1, 1), (1, -1), (-1, 1), (-1, -1)]):
        yaw = np.arctan2(y, x) if turned else 0.0
        parent, place = "body", fw.Placement((0.2 * x, 0.2 * y, 0.0), rpy=(0.0, 0.0, yaw))
        for n, (axis, far) in enumerate(zip(axes, joints, strict=True)):
            rod, hinge = fw.Inertia.box(0.2, (0.1, 0.02, 0.02), (0.05, 0, 0)), fw.joints.Revolute(axis)
            builder.add_body(f"link{k}{n}", parent=parent, joint=hinge, placement=place, inertia=rod)
            parent, place = f"link{k}{n}", fw.Placement(far)
        builder.add_contact_point(f"foot{k}", parent=parent, position=joints[-1])
    return builder.build()


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", [*FILES, "tilted"])
def test_a_crouched_robot_has_its_feet_on_the_ground_below_its_hips(name: str) -> None:
    tilted = ("xyy", False, (0.0, 0.05, 0.0), (-0.1, 0.02, -0.2), (0.06, 0.0, -0.2))
    model = built(*tilted) if name == "tilted" else loaded(name)
    with fw.interpret():
        q = fw.scenes.crouched(model)
        low = fw.scenes.crouched(model, 0.9 * q[2])
        for limb in limbs(fw.control.stand(model, q)):
            hip = next(joint for joint in model.joints if joint.v.start == limb.dofs[1])
            below = [
                fw.frame_pose(model, at, model.names[hip.body]).position - fw.frame_pose(model, at, limb.frame).position
                for at in (q, low)
            ]
            assert [below[0][0], below[1][0]] == pytest.approx([0.0, 0.0], abs=1e-9)
            assert below[1][2] == pytest.approx(0.9 * q[2], abs=1e-9)
        assert fw.scenes.lowest(model, q) == pytest.approx(0.0, abs=1e-9)
    inner = q[7:]
    assert ((model.lower[7:] <= inner) & (inner <= model.upper[7:])).all()
    assert (np.abs(inner.reshape(4, 3)[:, 2]) > 0.5).all()


def test_the_mini_cheetah_crouches_as_two_links_do() -> None:
    """By the law of cosines with its published lengths, to the last bit."""
    thigh, shank, height = 0.209, 0.195, 0.28
    knee = acos((height**2 - thigh**2 - shank**2) / (2 * thigh * shank))
    hip = -atan2(shank * sin(knee), thigh + shank * cos(knee))
    model = fw.robots.mini_cheetah()
    q = fw.scenes.crouched(model)
    assert q[2] == height
    assert (q[7:] == np.tile([0.0, hip, knee], 4)).all()
    forward = fw.scenes.crouched(model, knees="forward")
    assert forward[7:] == pytest.approx(-q[7:], abs=1e-12)


def test_robots_stand_as_their_motors_allow() -> None:
    """ANYmal bends its knees towards each other, and stands so high that a knee carries half of it with ease."""
    model = loaded("anymal_c_simple")
    with fw.interpret():
        q = fw.scenes.crouched(model)
        deep = fw.scenes.crouched(model, 0.43)
        levers = [abs(fw.jacobian(model, at, "LF_FOOT", "world_aligned")[2, 8]) for at in (q, deep)]
    thighs, shanks = q[7:].reshape(4, 3).T[1:]
    assert (np.sign(thighs) == [1, 1, -1, -1]).all()
    assert (np.sign(shanks) == [-1, -1, 1, 1]).all()
    assert levers[0] < 0.8 * levers[1]
    assert model.mass * 9.81 / 2 * levers[0] < 0.6 * model.effort_limit[8]


def test_gaits_follow_the_height_of_the_body() -> None:
    """Period by √(h/g), steps by h; what the Mini Cheetah has had stays."""
    cheetah, anymal = fw.robots.mini_cheetah(), loaded("anymal_c_simple")
    with fw.interpret():
        numbers = []
        for model in (cheetah, anymal):
            control = fw.control.trot(model, fw.scenes.crouched(model))
            numbers.append(control.function.layout.read(control.parameters))
    assert (numbers[0].period, numbers[0].step_height) == (0.4, 0.06)
    assert numbers[1].period / numbers[0].period == pytest.approx(np.sqrt(numbers[1].height / 0.28), rel=0.02)
    assert numbers[1].step_height == pytest.approx(0.21 * numbers[1].height, rel=0.1)


def test_feet_across_swing_together_in_any_order() -> None:
    model = loaded("go2")
    with fw.interpret():
        q = fw.scenes.crouched(model)
        for feet, offsets in (
            (None, (0.0, 0.5, 0.5, 0.0)),
            (("FL_foot", "RL_foot", "RR_foot", "FR_foot"), (0.0, 0.5, 0.0, 0.5)),
            (("RR_foot", "FL_foot", "FR_foot", "RL_foot"), (0.0, 0.0, 0.5, 0.5)),
        ):
            control = fw.control.trot(model, q, feet=feet)
            assert control.function.offsets == offsets
            assert [limb.frame for limb in limbs(control)] == list(feet or [f"{name}_contact0" for name in UNITREE])


def test_a_foot_is_what_reaches_furthest_from_the_knee() -> None:
    """HyQ has points along its shanks, too."""
    model = loaded("hyq")
    with fw.interpret():
        q = fw.scenes.crouched(model)
        names = [limb.frame for limb in limbs(fw.control.stand(model, q))]
    assert names == [f"{leg}_foot_contact0" for leg in ("lf", "rf", "lh", "rh")]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", ["go2", "anymal_c_simple"])
def test_it_trots_over_rough_ground_and_is_pushed(name: str) -> None:
    """0.5 m/s over ± 3 cm; a push to the side, three tenths of its weight for 0.2 s, would make it 0.6 m/s fast."""
    model = loaded(name)
    scene = fw.scenes.trot(model, velocity=(0.5, 0.0, 0.0), ground=fw.scenes.rough_ground(roughness=0.03))
    push = (0.0, 0.3 * 9.81 * model.mass, 0.0)
    control = fw.control.pushed(scene.control, model, model.names[1], force=push, start=1.6)
    run = fw.simulate(model, scene.q, scene.v, duration=4.0, **{**scene.means, "control": control})
    assert run.v[(run.t > 1.6) & (run.t < 2.0), 1].max() > 0.3  # it did feel it
    level = 1 - 2 * (run.q[:, 3] ** 2 + run.q[:, 4] ** 2)
    assert level.min() > np.cos(np.radians(12))
    assert level[-1] > np.cos(np.radians(4))
    assert np.abs(run.q[:, 2] - scene.q[2]).max() < 0.05
    late = run.t >= 3.0
    assert np.diff(run.q[late, 0][[0, -1]])[0] == pytest.approx(0.5, abs=0.1)
    feet = {limb.frame for limb in limbs(scene.control)}
    others = [k for k, point in enumerate(model.contact_points) if point.name not in feet]
    assert (run.contact_force[:, others] == 0.0).all()
    assert (np.abs(run.tau[:, 6:]) <= model.effort_limit[6:]).all()


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fw.scenes.trot(loaded("go2", False)), r"crouched: expected four feet .* load\(…, contact=\(…\)\)"),
        (
            lambda: fw.scenes.crouched(loaded("go2"), feet=("base", *UNITREE[1:])),
            r"crouched: the foot 'base' of 'go2_description' has no contact points; load .* with contact=\('base'",
        ),
        (
            lambda: fw.scenes.crouched(loaded("go2"), 0.42),
            r"cannot be 0.42 m below its hip: 'FL_calf_joint' would be at -0.\d+ rad, beyond its limits -2.72 to -0.8",
        ),
        (
            lambda: fw.scenes.crouched(loaded("go2"), knees="forward"),
            r"'FL_calf_joint' would be at 1.5\d rad, beyond its limits .*; give another height, or other knees",
        ),
        (
            lambda: fw.scenes.crouched(loaded("go2"), "high"),
            r"height: expected a number > 0, got 'high'",
        ),
        (
            lambda: fw.scenes.trot(loaded("b1-z1", UNITREE)),
            r"trot: 'b1_description' has joints outside of its legs: joint1, .* with model.locked\(\{'joint1'",
        ),
        (
            lambda: fw.scenes.crouched(built("zyy", True, *[(0.1, 0.0, 0.0)] * 3)),
            r"crouched: expected legs with hip and knee that are hinges about the body's y .* 'link01_joint'",
        ),
        (
            lambda: fw.scenes.crouched(fw.load("example-robot-data:go2", contact=UNITREE)),
            r"crouched: expected a robot with a free base, .*base='free'",
        ),
    ],
)  # fmt: skip
def test_what_a_robot_lacks_is_said(call: Any, message: str) -> None:
    with fw.interpret(), pytest.raises(ValueError, match=message):
        call()
