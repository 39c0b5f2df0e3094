"""Signorini's and Coulomb's laws, recomputed by dense algebra from the forces a step reports; energy; same bits."""

from __future__ import annotations

import numpy as np
import pytest

import featherweight as fw
from featherweight.contact import Impulse, Plane
from simulation.semi_implicit_reference import middle_velocity

MODEL = fw.robots.mini_cheetah(damping=0.0, friction=0.0)
POINTS = [point.name for point in MODEL.contact_points]
MU, TOLERANCE = 0.7, 1e-7
CONTACT = Impulse(friction=MU, tolerance=TOLERANCE, recovery=0.0)


def scenes(count: int, seed: int = 0, model: fw.Model = MODEL) -> tuple[np.ndarray, np.ndarray]:
    """Robots of any pose whose lowest point is a little below the ground, or above."""
    rng = np.random.default_rng(seed)
    q = np.array([model.random(rng) for _ in range(count)])
    q[:, 7:] *= 0.5
    low = np.min([fw.frame_pose(model, q, point.name).position[:, 2] for point in model.contact_points], axis=0)
    q[:, 2] += rng.uniform(-0.02, 0.005, count) - low
    return q, rng.normal(size=(count, model.nv)) * rng.uniform(0.1, 3.0, (count, 1))


def free_velocity(model: fw.Model, q: np.ndarray, v: np.ndarray, h: float) -> np.ndarray:
    """v + h q̈(q, v_m) without contact, in the axes of the beginning."""
    middle = np.array([middle_velocity(model, *state, h, newton=2) for state in zip(q, v, strict=True)])
    after = v + h * fw.forward_dynamics(model, q, middle, np.zeros_like(v))
    after[:, :3] += h * np.cross(middle[:, 3:6], v[:, :3])
    return after


@pytest.mark.parametrize("h", [1e-4, 1e-3, 5e-3, 2e-2])
def test_two_thousand_scenes_keep_the_laws(h: float) -> None:
    q, v = scenes(500, seed=int(1e4 * h))
    check_laws(MODEL, q, v, h)


def check_laws(model: fw.Model, q: np.ndarray, v: np.ndarray, h: float) -> None:
    """One step of each state; nothing passes but by the laws, recomputed from the forces that are reported."""
    points = [point.name for point in model.contact_points]
    run = fw.rollout(model, q, v, steps=1, dt=h, contact=CONTACT)
    ok = run.status == fw.Status.OK
    assert set(run.status) <= {fw.Status.OK, fw.Status.NOT_CONVERGED}
    assert ok.mean() > 0.97
    q, v = q[ok], v[ok]
    impulse = h * run.contact_force[ok, 0]  # (…, points, 3), the normal is z
    J = np.stack([fw.jacobian(model, q, name, "world_aligned")[:, :3] for name in points], axis=1)
    before = free_velocity(model, q, v, h)
    M = fw.mass_matrix(model, q)
    after = before + np.linalg.solve(M, np.einsum("bpkn,bpk->bn", J, impulse)[..., None])[..., 0]

    # what the step gave is what these impulses give
    moved = run.v[ok, 1]
    scale = 1 + np.abs(after).max(axis=1, keepdims=True)
    assert (np.abs(moved[:, 3:] - after[:, 3:]) <= 1e-9 * scale).all()
    speeds = (np.linalg.norm(x[:, :3], axis=1) for x in (moved, after))
    assert np.abs(np.subtract(*speeds)).max() <= 1e-8

    height = np.stack([fw.frame_pose(model, q, name).position[:, 2] for name in points], axis=1)
    u = np.einsum("bpkn,bn->bpk", J, after)
    # a point that 0.1 m/s would bring to the ground within the step may come as far as that
    touching, normal, along = height <= 0.1 * h, impulse[..., 2], impulse[..., :2]
    beyond = u[..., 2] + np.maximum(height, 0.0) / h
    slip = np.linalg.norm(u[..., :2], axis=-1)
    limit = 20 * TOLERANCE  # errors of one sweep are seen before the others of that sweep moved
    assert np.abs(run.contact_slip[ok, 0] - np.where(touching, slip, 0.0)).max() <= limit
    assert np.abs(run.penetration[ok, 0] - np.maximum(-height, 0.0)).max() <= 1e-12
    assert (impulse[~touching] == 0).all()
    assert (normal >= 0).all()
    assert (beyond[touching] >= -limit).all()
    assert (np.linalg.norm(along, axis=-1) <= MU * normal * (1 + 1e-9) + 1e-15).all()
    mobility = np.einsum("bpn,bnm,bpm->bp", J[:, :, 2], np.linalg.inv(M), J[:, :, 2])
    assert (np.minimum(normal * mobility, np.abs(beyond))[touching] <= limit).all()
    slides = touching & (slip > limit)
    against = along + (MU * normal / np.where(slides, slip, 1.0))[..., None] * u[..., :2]
    assert (
        np.linalg.norm(against, axis=-1)[slides] * mobility[slides] <= 50 * limit * np.maximum(1, 1 / slip[slides])
    ).all()

    # contact takes energy, never gives any
    energy = [0.5 * np.einsum("bn,bnm,bm->b", x, M, x) for x in (before, after)]
    assert (energy[1] <= energy[0] * (1 + 1e-12)).all()
    assert np.abs(run.contact_force[ok]).sum(axis=(1, 2, 3)).max() > 0


def test_the_same_bits_in_any_lane_batch_and_thread() -> None:
    q, v = scenes(45)
    contact = Impulse(friction=MU)
    whole = fw.rollout(MODEL, q, v, steps=20, dt=1e-3, contact=contact)
    for k in (0, 13, 44):
        alone = fw.rollout(MODEL, q[k], v[k], steps=20, dt=1e-3, contact=contact)
        for name in ("q", "v", "contact_force", "solver", "penetration", "contact_slip"):
            np.testing.assert_array_equal(getattr(alone, name), getattr(whole, name)[k])
    other = fw.rollout(MODEL, q[::-1][:11], v[::-1][:11], steps=20, dt=1e-3, contact=contact)
    np.testing.assert_array_equal(other.q, whole.q[::-1][:11])
    with fw.threads(2):
        np.testing.assert_array_equal(fw.rollout(MODEL, q, v, steps=20, dt=1e-3, contact=contact).q, whole.q)


@pytest.mark.parametrize("ratio", [1.0, 1e2, 1e4])
def test_heavy_loads_on_light_legs_hold_or_are_reported(ratio: float) -> None:
    leg = fw.Inertia.box(1.0, (0.05, 0.05, 0.3))
    builder = fw.Builder("table").add_body("top", joint=fw.joints.Free(), inertia=fw.Inertia.box(ratio, (1, 1, 0.1)))
    for x in (-0.5, 0.5):
        for y in (-0.5, 0.5):
            name = f"leg{x}{y}"
            builder.add_body(
                name, parent="top", joint=fw.joints.Prismatic("z"), inertia=leg, placement=fw.Placement((x, y, -0.3)),
                stiffness=1e3 * ratio, damping=60.0 * ratio,
            )  # fmt: skip
            builder.add_contact_point(f"{name}foot", parent=name, position=(0, 0, -0.2))
    model = builder.build()
    q = model.neutral()
    q[2] = 0.52
    run = fw.rollout(model, q, np.zeros(model.nv), steps=500, dt=1e-3, contact=Impulse())
    if run.status == fw.Status.OK:
        assert run.penetration.max() <= 1e-3
        assert np.isfinite(run.q).all()
    else:
        assert run.status == fw.Status.NOT_CONVERGED


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Impulse(friction=-1.0), "friction: expected a number of 0 or more, got -1.0"),
        (lambda: Impulse(restitution=1.5), "restitution: expected a number from 0 to 1, got 1.5"),
        (lambda: Plane(friction=float("nan")), "Plane: friction: expected a number of 0 or more"),
        (lambda: Plane(normal=(0, 0, 0)), "Plane: normal: expected a direction, got zero"),
        (lambda: Impulse(friction="much"), "friction: expected a number of 0 or more, got 'much'"),
        (lambda: Impulse(friction=np.array([0.1, 0.2])), "friction: expected a number of 0 or more, got array"),
        (lambda: Plane(restitution="high"), "Plane: restitution: expected a number from 0 to 1, got 'high'"),
        (lambda: Impulse(tolerance=-1), "tolerance: expected a number > 0"),
        (lambda: Impulse(tolerance=0), "tolerance: expected a number > 0"),
        (lambda: fw.contact.SpringDamper(restitution=0.5), "restitution: expected none with springs and dampers, got"),
        (lambda: Impulse(iterations=0), "iterations: expected a whole number of 1 or more"),
        (lambda: fw.contact.SpringDamper(law="magic"), "law: expected 'linear' or 'hertz', got 'magic'"),
        (lambda: fw.contact.SpringDamper(damping=0.0), "damping: expected a number > 0"),
        (
            lambda: fw.contact.Heightfield([[0.0, np.nan], [0, 0]]),
            r"heights: expected finite numbers, got nan at \(0, 1\)",
        ),
        (lambda: fw.contact.Heightfield([1.0, 2.0]), "heights: expected shape"),
        (lambda: fw.contact.Box(size=(1, 0, 1)), "Box: size: expected three lengths > 0"),
        (lambda: fw.contact.Sphere(radius=-1.0), "Sphere: radius: expected a length > 0"),
        (lambda: fw.contact.Sphere(radius="1"), "Sphere: radius: expected a length > 0"),
        (lambda: fw.contact.Heightfield(spacing=(0.1, 0.1)), "Heightfield: spacing: expected a length > 0"),
    ],
)
def test_bad_settings_are_named(make, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_misuse_is_explained() -> None:
    q, v = scenes(1)
    with pytest.raises(ValueError, match="has no contact points"):
        fw.rollout(fw.robots.pendulum(), [0.0], [0.0], steps=1, dt=1e-3, contact=Impulse())
    with pytest.raises(
        ValueError, match=r"impulses act in steps that are semi-implicit, variational or a user's, not .* of RK4\(\)"
    ):
        fw.rollout(MODEL, q[0], v[0], steps=1, dt=1e-3, contact=Impulse(), integrator="rk4")
    with pytest.raises(TypeError, match=r"contact: expected one of featherweight\.contact, got str"):
        fw.rollout(MODEL, q[0], v[0], steps=1, dt=1e-3, contact="impulse")
    with pytest.raises(TypeError, match=r"contact: expected .*, got the surface Plane; write Impulse\(ground="):
        fw.rollout(MODEL, q[0], v[0], steps=1, dt=1e-3, contact=Plane())
    for bad in ([], None, 0.5, "plane", [Plane(), 1]):
        with pytest.raises(TypeError, match="ground: expected a surface"):
            Impulse(ground=bad)
    assert Impulse(Plane(restitution=np.float32(0.5)), friction=np.int64(1)).friction == 1
    with pytest.warns(UserWarning, match=r"Plane: its restitution of 0\.5 does not act with springs"):
        fw.contact.SpringDamper(ground=Plane(restitution=0.5))
    with pytest.warns(UserWarning, match="is too long for hertz springs"):
        fw.rollout(MODEL, q[0], v[0], steps=1, dt=0.02, contact=fw.contact.SpringDamper())


def test_the_longest_step_of_springs_follows_from_the_delassus_matrix() -> None:
    q, v = scenes(3)
    springs = fw.contact.SpringDamper(law="linear", stiffness=3e4, damping=80.0)
    lightest = np.linalg.eigvalsh(fw.delassus(MODEL, q, POINTS))[:, -1]
    k, d = springs.stiffness * lightest, springs.damping * lightest
    longest = 2.0 / (np.sqrt(k + (d / 2) ** 2) + d / 2)  # ω² = k, ω ζ = d / 2
    assert [springs.stable_dt(MODEL, one) for one in q] == pytest.approx(longest, rel=1e-12)
    assert springs.stable_dt(MODEL, q) == pytest.approx(longest.min(), rel=1e-12)
    with pytest.raises(ValueError, match=r"q: expected shape \(…, 19\)"):
        springs.stable_dt(MODEL, q[:, :3])
    q[0, 0] = np.nan
    with pytest.raises(ValueError, match="q is too large or not finite"):
        springs.stable_dt(MODEL, q)
    robot = fw.robots.mini_cheetah(damping=0.0, friction=0.0)  # as new: nothing is known of it
    with pytest.warns(UserWarning, match=f"stable below {springs.stable_dt(MODEL, q[1]):.2g} s"):
        fw.rollout(robot, q[1], v[1], steps=1, dt=0.02, contact=springs)


def test_the_longest_step_of_springs_knows_declared_parameters() -> None:
    builder = fw.Builder("ball", parameters=("ball.mass",))
    builder.add_body("ball", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(2.0, 0.1))
    ball = builder.add_contact_point("low", parent="ball").build()
    springs = fw.contact.SpringDamper(law="linear", stiffness=1e4, damping=50.0)
    q = ball.neutral()

    def longest(mass: float) -> float:
        return 2.0 / (np.sqrt(1e4 / mass + (25.0 / mass) ** 2) + 25.0 / mass)

    assert springs.stable_dt(ball, q) == pytest.approx(longest(2.0), rel=1e-12)
    assert springs.stable_dt(ball, q, {"ball.mass": 0.5}) == pytest.approx(longest(0.5), rel=1e-12)
    masses = np.array([[3.0, 0.7, 1.0]])
    assert springs.stable_dt(ball, np.tile(q, (2, 1, 1)), {"ball.mass": masses}) == pytest.approx(
        longest(0.7), rel=1e-12
    )
    with pytest.raises(ValueError, match="not declared"):
        springs.stable_dt(ball, q, {"mass": 0.5})


@pytest.mark.parametrize("mu", [0.5, 1.0, 2.0, 5.0])
def test_a_leaning_rod_converges_where_friction_feeds_back(mu: float) -> None:
    """Where μ |G_nt| > G_nn a full step along the normal is turned back by friction, for ever."""
    thin = fw.Inertia(1.0, (0, 0, 0), (1 / 3, 1 / 3, 1e-3))
    builder = fw.Builder("rod").add_body("rod", joint=fw.joints.Free(), inertia=thin)
    rod = builder.add_contact_point("tip", parent="rod", position=(0, 0, -1.0)).build()
    rng = np.random.default_rng(0)
    lean = rng.uniform(-1.2, 1.2, 400)
    q = np.zeros((400, 7))
    q[:, 2], q[:, 4], q[:, 6] = np.cos(lean) - 1e-4, np.sin(lean / 2), np.cos(lean / 2)
    run = fw.rollout(rod, q, rng.normal(size=(400, 6)), steps=1, dt=1e-3, contact=Impulse(friction=mu))
    assert (run.status == fw.Status.OK).all()
    assert run.solver[..., 0].max() < 100


def door() -> fw.Model:
    leaf = fw.Inertia(1.0, (0.5, 0, 0), (0.1, 0.1, 0.1))
    builder = fw.Builder("door").add_body(
        "leaf", joint=fw.joints.Revolute("z"), inertia=leaf, limits=fw.Limits(-1.0, 0.51234)
    )
    return builder.add_contact_point("handle", parent="leaf", position=(1.0, 0, 1.0)).build()


@pytest.mark.parametrize("recovery", [0.0, 50.0])
def test_a_fast_joint_stops_at_its_end_and_not_beyond(recovery: float) -> None:
    """At 40 rad/s a joint goes 0.04 rad in a step: its end is met from before, and no energy is added there."""
    speeds = np.array([[40.0], [-40.0], [3.0], [0.0]])
    run = fw.rollout(door(), np.zeros((4, 1)), speeds, steps=500, dt=1e-3, contact=Impulse(recovery=recovery))
    assert run.q.max() <= 0.51234 + 1e-9
    assert run.q.min() >= -1.0 - 1e-9
    assert np.abs(run.q[:, -1, 0] - [0.51234, -1.0, 0.51234, 0.0]).max() <= 1e-6
    assert (np.diff(run.energy(), axis=1) <= 1e-12).all()


def test_a_joint_beyond_its_end_comes_back_by_a_part_a_second_and_never_faster_than_allowed() -> None:
    """At either end the first step gives min(β (excess - slop), v_max)."""
    excess = np.array([5e-7, 1e-3, 4e-3, 2e-2, 0.1])
    q = np.concatenate([0.51234 + excess, -1.0 - excess])
    contact = Impulse(recovery=20.0, recovery_speed=0.1, slop=1e-6)
    with pytest.warns(UserWarning, match=r"led back at up to 0\.1 rad/s"):
        run = fw.rollout(door(), q[:, None], np.zeros((10, 1)), steps=1, dt=1e-3, contact=contact)
    speed = np.clip(20.0 * (excess - 1e-6), 0.0, 0.1)
    assert run.v[:, 1, 0] == pytest.approx(np.concatenate([-speed, speed]), rel=1e-6, abs=1e-8)


def test_friction_of_the_ground_may_differ_from_robot_to_robot() -> None:
    """As a parameter it gives the bits that the contact model's own number gives."""
    box = fw.Builder("box", parameters=("ground.friction",)).add_body(
        "box", joint=fw.joints.Free(), inertia=fw.Inertia.box(1.0, (0.2, 0.2, 0.1))
    )
    for x in (-0.1, 0.1):
        for y in (-0.1, 0.1):
            box.add_contact_point(f"corner{x}{y}", parent="box", position=(x, y, -0.05))
    model = box.build()
    q, v = model.neutral(), np.zeros(6)
    q[2], v[0] = 0.05, 1.0
    mu = np.array([0.1, 0.4, 0.7])
    for kind in (Impulse, fw.contact.SpringDamper):
        run = fw.rollout(model, q, v, steps=400, dt=2e-4, contact=kind(), parameters={"ground.friction": mu})
        for k in range(3):
            own = fw.rollout(
                model, q, v, steps=400, dt=2e-4, contact=kind(friction=9.0), parameters={"ground.friction": mu[k]}
            )
            assert own.q.tobytes() == run.q[k].tobytes()
        assert np.abs(np.diff(run.v[:, [50, 350], 0], axis=1)[:, 0] + 0.06 * mu * 9.81).max() < 0.02
