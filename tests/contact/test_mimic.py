"""Joints that follow others, in contact: the laws by dense algebra, limits, and grips that can be computed by hand."""

from __future__ import annotations

import numpy as np
import pytest

import featherweight as fw
from contact.test_laws import check_laws, scenes
from featherweight.contact import Box, Impulse, Plane, SpringDamper
from featherweight.joints import Free, Mimic, Prismatic, Revolute, Universal

LINK = fw.Inertia.box(0.4, (0.04, 0.04, 0.2), (0, 0, -0.1))


def walker(feet: int) -> fw.Model:
    """Four legs on a floating base. Knees follow hips: in front that of their own leg, behind that of the other.

    Some have ankles that move by themselves, and beyond them toes that follow a hip again.
    """
    builder = fw.Builder("walker").add_body("trunk", joint=Free(), inertia=fw.Inertia.box(4.0, (0.4, 0.2, 0.1)))
    for k, (x, y) in enumerate([(0.2, 0.1), (0.2, -0.1), (-0.2, 0.1), (-0.2, -0.1)]):
        hip = f"thigh{k if k < 2 else 5 - k}_joint"
        builder.add_body(
            f"thigh{k}", parent="trunk", joint=Revolute("y"), inertia=LINK, placement=fw.Placement((x, y, 0)),
            armature=0.01,
        )  # fmt: skip
        builder.add_body(
            f"shank{k}", parent=f"thigh{k}", joint=Mimic(Revolute("y"), hip, -1.5, 0.3), inertia=LINK,
            placement=fw.Placement((0, 0, -0.2)), armature=0.02,
        )  # fmt: skip
        builder.add_contact_point(f"foot{k}", parent=f"shank{k}", position=(0, 0, -0.2))
    for k in range(feet - 4):
        builder.add_body(
            f"ankle{k}",
            parent=f"shank{k}",
            joint=Universal("x", "y"),
            inertia=LINK,
            placement=fw.Placement((0, 0.05, -0.1)),
        )
        builder.add_body(
            f"toe{k}", parent=f"ankle{k}", joint=Mimic(Prismatic("x"), f"thigh{k}_joint", 0.1), inertia=LINK,
            placement=fw.Placement((0.05, 0, -0.1)),
        )  # fmt: skip
        builder.add_contact_point(f"tip{k}", parent=f"toe{k}", position=(0.1, 0, -0.1))
    return builder.build()


@pytest.mark.parametrize("h", [1e-4, 1e-3, 5e-3, 2e-2])
@pytest.mark.parametrize("feet", [4, 8])
def test_a_thousand_scenes_with_mimic_joints_keep_the_laws(feet: int, h: float) -> None:
    model = walker(feet)
    assert model.nv == 10 + 2 * (feet - 4)
    q, v = scenes(125, seed=int(1e4 * h) + feet, model=model)
    check_laws(model, q, v, h)


def hand(rail: bool = True, **limits: fw.Limits) -> fw.Model:
    """Two fingers that close on what is between them, on a hand that slides; finger b moves twice as far as a."""
    builder = fw.Builder("hand", gravity=(0, 0, 0))
    if rail:
        builder.add_body("palm", joint=Prismatic("x"), inertia=fw.Inertia.box(1.0, (0.2, 0.1, 0.05)))
    else:
        builder.add_frame("palm", parent="world")
    follow = Mimic(Prismatic("x"), "a_joint", ratio=-2.0, offset=0.01)
    finger = fw.Inertia.box(0.1, (0.02, 0.02, 0.1))
    for name, side, joint in (("a", -1, Prismatic("x")), ("b", 1, follow)):
        builder.add_body(
            name, parent="palm", joint=joint, inertia=finger, placement=fw.Placement((0.1 * side, 0, 0)),
            limits=limits.get(name),
        )  # fmt: skip
        builder.add_contact_point(f"{name}_tip", parent=name, position=(0, 0, 0))
    return builder.build()


def unbalanced(model: fw.Model, run: fw.Trajectory) -> float:
    """The largest of τ - g + Jᵀ f at the end, for the forces of motors and contacts of the last step."""
    J = [fw.jacobian(model, run.q[-1], point.name, "world_aligned")[:3] for point in model.contact_points]
    pushed = sum(j.T @ f for j, f in zip(J, run.contact_force[-1], strict=True))
    return float(np.abs(run.tau[-1] - fw.gravity_force(model, run.q[-1]) + pushed).max())


@pytest.mark.parametrize("integrator", ["semi_implicit", "variational"])
def test_a_gripper_on_a_rail_holds_with_equal_forces(integrator: str) -> None:
    """Both fingers push with f, as the palm is free; finger b moves twice as far, and τ = 3 f."""
    model, tau = hand(), 6.0
    contact = Impulse(ground=Box(size=(0.1, 0.1, 0.1)), friction=0.5)
    run = fw.simulate(
        model, np.zeros(2), np.zeros(2), duration=1.0, dt=1e-3, contact=contact, integrator=integrator,
        control=fw.compiled(lambda t, q, v, x, p: ([-20.0 * v[0], tau - 20.0 * v[1]], x)),
    )  # fmt: skip
    assert unbalanced(model, run) <= 1e-5
    tips = [fw.frame_pose(model, run.q[-1], name).position[0] for name in ("a_tip", "b_tip")]
    np.testing.assert_allclose(tips, [-0.05, 0.05], atol=1e-3)
    if integrator == "semi_implicit":  # a variational step ends with the velocity that recovery gave
        np.testing.assert_allclose(run.contact_force[-1, :, 0], [-tau / 3, tau / 3], atol=1e-6)


def test_a_follower_stops_at_its_own_limit_and_holds_its_leader() -> None:
    """Finger b may go to -0.05: its leader, which could go to 1, stops at 0.03."""
    model = hand(rail=False, a=fw.Limits(-1.0, 1.0), b=fw.Limits(-0.05, 0.5))
    contact = Impulse(ground=Plane(point=(0, 0, -1.0)), recovery=0.0)
    v = np.array([[40.0], [0.5], [-40.0], [0.0]])
    run = fw.rollout(model, np.zeros((4, 1)), v, steps=1000, dt=1e-3, contact=contact, tau=np.full((4, 1000, 1), 0.5))
    assert (run.status == fw.Status.OK).all()
    assert run.q.max() == pytest.approx(0.03, abs=1e-9)
    np.testing.assert_allclose(run.q[:, -1, 0], 0.03, atol=1e-9)
    assert run.q.min() >= -0.245 - 1e-9  # where b is at its other end
    energy = 0.5 * fw.mass_matrix(model, [0.0])[0, 0] * run.v[..., 0] ** 2 - 0.5 * run.q[..., 0]
    assert (np.diff(energy, axis=1) <= 1e-9).all()


def test_limits_that_leave_no_place_are_named() -> None:
    model = hand(a=fw.Limits(0.05, 0.1), b=fw.Limits(-0.05, 0.5))
    with pytest.raises(ValueError, match="limits of joint 'b_joint', which follows 'a_joint', leave that no place"):
        fw.rollout(model, np.zeros(2), np.zeros(2), steps=1, dt=1e-3, contact=Impulse())


def test_limits_of_followers_are_part_of_what_is_cached() -> None:
    """Robots that differ in nothing but the limits of a follower do not share their code."""
    ends = []
    for lower in (-0.05, -0.09):
        model = hand(rail=False, b=fw.Limits(lower, 0.5))
        run = fw.rollout(model, [0.0], [1.0], steps=200, dt=1e-3, contact=Impulse(ground=Plane(point=(0, 0, -1.0))))
        ends.append(run.q[-1, 0])
    np.testing.assert_allclose(ends, [0.03, 0.05], atol=1e-9)


def finger() -> fw.Model:
    rod = fw.Inertia.rod(1.0, 0.4, at=(0, 0, -0.2))
    builder = fw.Builder("finger").add_body("a", joint=Revolute("y"), inertia=rod)
    follow = Mimic(Revolute("y"), "a_joint", 1.0, 0.0)
    builder.add_body("b", parent="a", joint=follow, inertia=rod, placement=fw.Placement((0, 0, -0.4)))
    return builder.add_contact_point("tip", parent="b", position=(0, 0, -0.4)).build()


@pytest.mark.parametrize("contact", [SpringDamper, Impulse])
@pytest.mark.parametrize("integrator", ["semi_implicit", "variational"])
def test_a_bent_finger_comes_to_rest_on_the_ground(contact: type, integrator: str) -> None:
    """0.4 (cos q + cos 2q) = 0.7 where it rests, and the ground carries what gravity pulls there."""
    model = finger()
    ground = contact(ground=Plane(point=(0, 0, -0.7)), friction=0.0)
    damping = fw.compiled(lambda t, q, v, x, p: ([-2.0 * v[0]], x))
    dt = 1e-4 if contact is SpringDamper else 1e-3
    run = fw.simulate(model, [0.8], [0.0], duration=3.0, dt=dt, contact=ground, integrator=integrator, control=damping)
    assert fw.frame_pose(model, run.q[-1], "tip").position[2] == pytest.approx(-0.7, abs=2e-3)
    assert unbalanced(model, run) <= 1e-3
    assert run.contact_force[-1, 0, 2] > 5.0
    np.testing.assert_allclose(run.contact_force[-1, 0, :2], 0.0, atol=1e-9)


def test_a_step_that_is_too_long_for_springs_is_seen_with_mimic_joints_too() -> None:
    with pytest.warns(UserWarning, match="is too long for hertz springs"):
        fw.rollout(finger(), [0.8], [0.0], steps=1, dt=0.02, contact=SpringDamper(ground=Plane(point=(0, 0, -0.7))))
