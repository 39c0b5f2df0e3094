"""The pieces of the controllers, each against its definition: feedback forgives a wrong sign, these tests do not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import featherweight as fw
from featherweight.control.algebra import damped_inverse, orientation_error, rotated, symmetric_inverse, whitened
from featherweight.control.gait import Gait, bump, ramp, smooth
from featherweight.control.limbs import joint_damping
from featherweight.integrators import SemiImplicit
from featherweight.simulation.options import StepOptions
from featherweight.simulation.step import step_loop

CHEETAH = fw.robots.mini_cheetah()
CROUCHED = fw.scenes.crouched(CHEETAH)
HUMANOID = fw.robots.humanoid()
STANDING = fw.scenes.standing(HUMANOID)


def near(model: fw.Model, q: np.ndarray, seed: int, size: float = 0.2) -> tuple[np.ndarray, np.ndarray]:
    """A state near q that moves and turns."""
    rng = np.random.default_rng(seed)
    return fw.integrate(model, q, size * rng.normal(size=model.nv), 1.0), rng.normal(size=model.nv)


# ---- small matrices and orientations


def test_inverses() -> None:
    rng = np.random.default_rng(0)
    J = rng.normal(size=(3, 3))
    A = J @ J.T + np.eye(3)
    np.testing.assert_allclose(symmetric_inverse(A).astype(float), np.linalg.inv(A), rtol=1e-12)
    np.testing.assert_allclose(damped_inverse(J, 1e-9).astype(float), np.linalg.inv(J), rtol=1e-6)
    U, s, Vt = np.linalg.svd(J)
    shares = s / (s**2 + 0.25)  # of 1/σ: σ² / (σ² + d²)
    np.testing.assert_allclose(damped_inverse(J, 0.5).astype(float), Vt.T @ np.diag(shares) @ U.T, rtol=1e-10)
    assert np.isfinite(damped_inverse(np.zeros((3, 3)), 1e-3).astype(float)).all()


def test_a_whitened_problem_has_the_same_lengths() -> None:
    rng = np.random.default_rng(1)
    L, b = rng.normal(size=(6, 6)), rng.normal(size=6)
    Q = L @ L.T
    R, Rb = whitened(Q, b)
    np.testing.assert_allclose((R.T @ R).astype(float), Q, rtol=1e-9)
    assert float(Rb @ Rb) == pytest.approx(b @ Q @ b)


def test_a_vector_is_rotated_about_z() -> None:
    x, y = rotated(np.sin(0.3), np.cos(0.3), 2.0, 1.0)
    c, s = np.cos(0.3), np.sin(0.3)
    assert (x, y) == pytest.approx((2 * c - s, 2 * s + c))


@pytest.mark.parametrize("size", [1e-6, 1e-3, 0.3])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_error_of_an_orientation_leads_from_wanted_to_actual(size: float, sign: float) -> None:
    """2 sin(θ/2) along the axis of the rotation; the same for both quaternions of an orientation."""
    ball = fw.Builder("ball").add_body("ball", joint=fw.joints.Spherical(), inertia=fw.Inertia.sphere(1, 1)).build()
    rng = np.random.default_rng(2)
    for _ in range(20):
        wanted, turn = ball.random(rng), size * rng.normal(size=3)
        actual = sign * fw.integrate(ball, wanted, turn, 1.0)
        angle = np.linalg.norm(turn)
        error = orientation_error(actual, wanted).astype(float)
        np.testing.assert_allclose(error, 2 * np.sin(angle / 2) * turn / angle, rtol=1e-9, atol=1e-15)


# ---- gaits


def test_ways_begin_and_end_at_rest_and_derivatives_are_derivatives() -> None:
    for way, ends, middle in ((smooth, (0.0, 1.0), 0.5), (bump, (0.0, 0.0), 1.0)):
        for s, end in zip((0.0, 1.0), ends, strict=True):
            assert way(s) == pytest.approx((end, 0.0, 0.0), abs=1e-12)
        assert way(0.5)[0] == pytest.approx(middle)
        for s in np.linspace(0.05, 0.95, 7):
            h = 1e-5
            before, here, after = way(s - h), way(s), way(s + h)
            assert here[1] == pytest.approx((after[0] - before[0]) / (2 * h), rel=1e-7, abs=1e-8)
            assert here[2] == pytest.approx((after[1] - before[1]) / (2 * h), rel=1e-7, abs=1e-7)


def test_a_ramp_rises_and_falls() -> None:
    progress = [-0.5, 0.0, 0.1, 0.2, 0.5, 0.8, 0.9, 1.0, 1.5]
    assert [ramp(s, 0.2) for s in progress] == pytest.approx([0.0, 0.0, 0.5, 1.0, 1.0, 1.0, 0.5, 0.0, 0.0])


def test_a_gait_counts_periods_and_feet_swing_in_turn() -> None:
    gait, count = Gait(0.4, 0.6, (0.0, 0.5, 0.5, 0.0), 0.5), 0.0
    assert (gait.stance, gait.swing) == pytest.approx((0.24, 0.16))
    seen = np.zeros(4)
    for k in range(2100):
        t = k * 1e-3
        phase, count = gait.cycle(t, count)
        whole = max(t - 0.5, 0.0) / 0.4
        assert count == pytest.approx(np.floor(whole + 1e-9), abs=1.01e-9) or abs(whole - round(whole)) < 1e-9
        assert phase == pytest.approx(whole - count)
        legs = gait.legs(phase)
        stands = [swing < 0 for _, swing in legs]
        assert stands[0] == stands[3]
        assert stands[1] == stands[2]
        assert stands[0] or stands[1]  # never all in the air
        for stance, swing in legs:
            assert abs(stance - 1) < 1e-9 or (0 <= stance < 1) != (0 < swing <= 1)
        if t >= 0.5:
            seen += ~np.array(stands)
    assert seen / 1600 == pytest.approx([0.4] * 4, abs=0.01)


# ---- what is wanted of a body


class Spy:
    """The whole-body problem, which remembers what it was asked."""

    def __init__(self, body: Any) -> None:
        self.body = body

    def __getattr__(self, name: str) -> Any:
        return getattr(self.body, name)

    def __call__(self, q: Any, v: Any, tasks: Any, cones: Any) -> Any:
        self.tasks, self.cones = tasks, cones
        self.answer = self.body(q, v, tasks, cones)
        return self.answer


def trotting() -> tuple[Any, Any, Gait]:
    """The function of `trot`, its parameters by name, and its gait."""
    control = fw.control.trot(CHEETAH, CROUCHED)
    own = control.function.layout.read(control.parameters)
    return control.function, own, Gait(own.period, own.duty, control.function.offsets, own.start)


@pytest.mark.parametrize("seed", range(3))
def test_balance_asks_for_rates_of_the_centroidal_momentum(seed: int) -> None:
    """Of a wrench w at the base: |F - F_d|² + 50 |N - N_d|² with its force F, and moment N about the centre of mass."""
    control = fw.control.balance(HUMANOID, STANDING)
    spy = Spy(control.function.body)
    q, v = near(HUMANOID, STANDING, seed)
    function = replace(control.function, body=spy)
    tau, after = function(0.0, q, v, control.state, control.parameters)
    w_h, H = (x.astype(float) for x in spy.tasks.momentum)

    com, mass = fw.center_of_mass(HUMANOID, q), HUMANOID.mass
    momentum = fw.centroidal_momentum_matrix(HUMANOID, q) @ v
    own = function.layout.read(control.parameters)
    k, d = own.gains.com.stiffness, own.gains.com.damping
    force = mass * (k * (own.com - com) - HUMANOID.gravity) - d * momentum[:3]
    moment = -own.gains.spin_rate * momentum[3:]
    R = fw.frame_pose(HUMANOID, q, HUMANOID.names[1]).rotation
    rng = np.random.default_rng(seed)
    for w in (*100 * rng.normal(size=(3, 6)), w_h):
        F = R @ w[:3]
        N = R @ w[3:] + np.cross(q[:3] - com, F)
        expected = np.sum((F - force) ** 2) + 50.0 * np.sum((N - moment) ** 2)
        assert (w - w_h) @ H @ (w - w_h) == pytest.approx(expected, rel=1e-9, abs=1e-6)

    # the trunk turns back upright and stops turning; the others go to their posture; feet come to rest
    error = orientation_error(q[3:7], STANDING[3:7]).astype(float)
    np.testing.assert_allclose(spy.tasks.base.astype(float), [0, 0, 0, *(-100 * error - 20 * v[3:6])], rtol=1e-12)
    others = spy.others
    wanted = 100 * (STANDING[[d + 1 for d in others]] - q[[d + 1 for d in others]]) - 20 * v[others]
    np.testing.assert_allclose(spy.tasks.others.astype(float), wanted, rtol=1e-12)
    for limb, foot in zip(spy.limbs, spy.tasks.feet, strict=True):
        twist = fw.body_velocity(HUMANOID, q, v, limb.frame, "world_aligned")
        np.testing.assert_allclose(foot.astype(float), -20 * twist, rtol=1e-12)

    # damping of the joints is made up for, and the next search begins where this one ended
    np.testing.assert_allclose(
        (tau - spy.answer.tau).astype(float), joint_damping(HUMANOID) * v, atol=1e-9 * np.abs(tau.astype(float)).max()
    )
    assert (joint_damping(HUMANOID)[:6] == 0).all()
    forces = spy.answer.forces
    assert (after == np.concatenate([forces.z.ravel(), forces.u.ravel()])).all()
    function(0.0, q, v, after, control.parameters)
    assert (spy.cones.warm[0] == forces.z).all()
    assert (spy.cones.warm[1] == forces.u).all()


@pytest.mark.parametrize("seed", range(3))
def test_a_quadrupeds_body_is_to_go_where_it_should(seed: int) -> None:
    """In the world: its classical acceleration is k (place - x) + d (speed - ẋ); it turns upright, at the rate."""
    function, own = trotting()[:2]
    q, v = near(CHEETAH, CROUCHED, seed)
    rng = np.random.default_rng(seed)
    place, speed, yaw, rate = rng.normal(size=3), rng.normal(size=3), 0.3, 0.7
    base, velocity = function._base(own.gains, q, v, tuple(place), tuple(speed), yaw, rate)
    R = fw.frame_pose(CHEETAH, q, "body").rotation
    np.testing.assert_allclose(velocity, R @ v[:3])
    gains = np.array([(g.stiffness, g.damping) for g in (own.gains.place, own.gains.place, own.gains.height)])
    expected = gains[:, 0] * (place - q[:3]) + gains[:, 1] * (speed - R @ v[:3])
    base = base.astype(float)
    np.testing.assert_allclose(R @ (base[:3] + np.cross(v[3:6], v[:3])), expected, rtol=1e-9)
    error = orientation_error(q[3:7], np.array([0.0, 0.0, np.sin(yaw / 2), np.cos(yaw / 2)])).astype(float)
    k, d = own.gains.orientation.stiffness, own.gains.orientation.damping
    np.testing.assert_allclose(base[3:], -k * error - d * (v[3:6] - R.T @ [0.0, 0.0, rate]), rtol=1e-9)


def test_a_swinging_foot_follows_its_way() -> None:
    """On its way with its speed, what is asked for is the acceleration of the way; off it, more, to come back."""
    function, own, gait = trotting()
    left, landing, T = np.array([0.1, 0.2, 0.0]), np.array([0.3, 0.1, -0.002]), gait.swing

    def place(s: float) -> np.ndarray:
        return left + smooth(s)[0] * (landing - left) + bump(s)[0] * np.array([0.0, 0.0, own.step_height])

    for s in (0.2, 0.5, 0.7):
        h = 1e-4
        rate = (place(s + h) - place(s - h)) / (2 * h * T)
        second = (place(s + h) - 2 * place(s) + place(s - h)) / (h * T) ** 2
        asked = function._swing(own, gait, s, left, landing, place(s), rate).astype(float)
        np.testing.assert_allclose(asked, second, rtol=1e-4, atol=1e-3)
        k, d = own.gains.swing.stiffness, own.gains.swing.damping
        off, fast = np.array([0.01, -0.02, 0.03]), np.array([0.1, 0.2, -0.3])
        pulled = function._swing(own, gait, s, left, landing, place(s) + off, rate + fast).astype(float)
        np.testing.assert_allclose(pulled - asked, -k * off - d * fast, rtol=1e-9)


def test_a_foot_is_put_down_where_it_catches_the_body() -> None:
    """Under its place half a stance ahead; further by √(h/g) for each m/s that the body is too fast, and turned."""
    function, own, gait = trotting()
    places, height = own.places, own.height
    velocity, command = np.array([0.5, -0.1, 0.0]), (0.3, 0.0)
    yaw, swing = 0.4, 0.25
    c, s = np.cos(yaw), np.sin(yaw)
    for k in range(4):
        left = np.array([0.0, 0.0, 0.01])
        got = function._landing(own, gait, k, CROUCHED, velocity, command, s, c, swing, left).astype(float)
        place = np.array([[c, -s], [s, c]]) @ places[k]
        ahead = 0.75 * gait.swing * velocity[:2] + 0.5 * gait.stance * np.array(command)
        caught = np.sqrt(height / 9.81) * (velocity[:2] - command)
        np.testing.assert_allclose(got[:2], CROUCHED[:2] + place + ahead + caught, rtol=1e-9)
        assert got[2] == pytest.approx(0.01 - own.gains.press)
    feet = np.array([fw.frame_pose(CHEETAH, CROUCHED, limb.frame).position for limb in function.body.limbs])
    np.testing.assert_allclose(places, feet[:, :2] - CROUCHED[:2], atol=1e-12)
    assert height == pytest.approx(CROUCHED[2] - feet[:, 2].mean())


def test_a_quadruped_that_begins_elsewhere_has_the_same_code() -> None:
    """How it stands is among the parameters, so a step for it is compiled once, not once for every q."""
    starts = [fw.scenes.crouched(CHEETAH, height=height) for height in (0.26, 0.29)]
    starts[1][7:] += np.linspace(0.05, 0.1, 12)
    controls = [fw.control.trot(CHEETAH, q, velocity=(q[2], 0.0, 0.0)) for q in starts]
    assert (controls[0].parameters != controls[1].parameters).sum() > 10
    one, other = (step_loop(CHEETAH, StepOptions(SemiImplicit(), control=control)).program() for control in controls)
    assert one == other


def test_a_quadruped_remembers_where_it_is() -> None:
    """Place, heading and ground of the beginning; forces and multipliers of the last time, each in its place."""
    q, v = CROUCHED.copy(), np.zeros(CHEETAH.nv)
    q[:3] += [1.0, 2.0, 0.1]
    q[3:7] = [0.0, 0.0, np.sin(0.35), np.cos(0.35)]
    control = fw.control.trot(CHEETAH, q, velocity=(0.3, 0.1, 0.2), start=0.0)
    x = control.function.first_state(q)
    assert x[:9] == pytest.approx([0, 0, 1.0, 2.0, 0.7, 0.1, 0, 0, 0], abs=1e-12)
    feet = [fw.frame_pose(CHEETAH, q, limb.frame).position for limb in control.function.body.limbs]
    np.testing.assert_allclose(x[9:21], np.concatenate(feet))
    spy = Spy(control.function.body)
    function = replace(control.function, body=spy)
    _, after = function(0.01, q, v, x, control.parameters)
    forces = spy.answer.forces
    assert (after[21:33] == forces.z.ravel()).all()
    assert (after[33:45] == forces.u.ravel()).all()
    speed = 3.0 * 0.01 * control.parameters[:3]
    assert after[6:9].astype(float) == pytest.approx(speed)
    ahead = np.array([[np.cos(0.7), -np.sin(0.7)], [np.sin(0.7), np.cos(0.7)]]) @ speed[:2]
    assert after[2:4].astype(float) == pytest.approx(np.array([1.0, 2.0]) + 0.01 * ahead)
    assert (after[1], after[4]) == pytest.approx((0.01, 0.7 + 0.01 * speed[2]))
    _, later = function(0.02, q, v, after, control.parameters)
    assert (spy.cones.warm[0] == forces.z).all()
    assert (spy.cones.warm[1] == forces.u).all()
    raised = q.copy()
    raised[2] += 0.02  # feet and all: the ground is higher now, and is followed slowly
    _, higher = function(0.02, raised, v, after, control.parameters)
    assert float(higher[5] - later[5]) == pytest.approx(5.0 * 0.01 * 0.02)


# ---- pushes and stances


def test_only_joints_are_damped_whatever_the_base_meets() -> None:
    """No motor can make up for a base that moves through something thick."""
    builder = fw.Builder("hopper")
    builder.add_body("trunk", joint=fw.joints.Free(), inertia=fw.Inertia.box(5.0, (0.3, 0.2, 0.1)), damping=2.0)
    leg = fw.Inertia.box(1.0, (0.1, 0.1, 0.3))
    builder.add_body("leg", parent="trunk", joint=fw.joints.Universal("x", "y"), inertia=leg, damping=(0.3, 0.4))
    assert joint_damping(builder.build()).tolist() == [0.0] * 6 + [0.3, 0.4]


def test_a_push_begins_and_ends_with_its_steps() -> None:
    dt = 2.0**-10
    arm = fw.robots.chain(2)
    nothing = fw.compiled(lambda t, q, v, x, p: (0 * v, x))
    push = {"force": (0.0, 3.0, 1.0), "start": 16 * dt, "duration": 8 * dt}
    control = fw.control.pushed(nothing, arm, "joint2", **push)
    run = fw.simulate(arm, [0.3, 0.2], [0.0, 0.0], duration=40 * dt, dt=dt, control=control)
    assert np.flatnonzero(run.tau.any(axis=1)).tolist() == list(range(16, 24))
    J = fw.jacobian(arm, run.q[20], "joint2", "world_aligned")[:3]
    np.testing.assert_allclose(run.tau[20], J.T @ [0.0, 3.0, 1.0], rtol=1e-12)


def test_stances_are_when_a_foot_pressed_and_how_far_it_slid() -> None:
    dt, names = 0.1, [point.name for point in CHEETAH.contact_points]
    force, slip = np.zeros((10, 16, 3)), np.full((10, 16), 0.5)
    foot = names.index("FR_foot")
    force[2:5, foot] = [3.0, 0.0, 4.0]
    force[4, foot] = [0.0, 0.0, 8.0]
    force[7:, foot, 2] = 1.0
    slip[2:5, foot] = 0.01, 0.02, 0.03
    one = fw.simulate(CHEETAH, CROUCHED, np.zeros(18), duration=1.0, dt=dt)
    run = replace(one, contact_force=force, contact_slip=slip)
    first, second = fw.control.stances(run, ["FR_foot"])
    assert first == ("FR_foot", pytest.approx(0.2), pytest.approx(0.5), pytest.approx(0.006), 8.0)
    assert (second.begin, second.end, second.slip) == pytest.approx((0.7, 1.0, 0.15))
