"""Dry friction of joints in the contact problem: closed forms, and the laws of contacts, limits and friction together,
recomputed by dense algebra."""

from __future__ import annotations

import math

import numpy as np
import pytest

import featherweight as fw
from contact.test_laws import free_velocity, scenes
from featherweight.contact import Impulse, Plane
from featherweight.joints import Free, Mimic, Prismatic, Revolute, Spherical

G, MU, TOLERANCE = 9.81, 0.7, 1e-7
M, F = 1.5, 2.0  # mass [kg] and friction [N] of a slider
FAR = Plane(point=(0, 0, -50.0))
RIGID = Impulse(ground=FAR, dry_friction="rows", presliding=0.0)
YIELDING = Impulse(ground=FAR, dry_friction="rows")


def slider(limits: fw.Limits | None = None, parameters: tuple[str, ...] = (), friction: float = F) -> fw.Model:
    builder = fw.Builder("slider", gravity=(0, 0, 0), parameters=parameters)
    builder.add_body(
        "block", joint=Prismatic("x"), inertia=fw.Inertia.box(M, (0.1, 0.1, 0.1)), friction=friction, limits=limits
    )
    return builder.add_contact_point("corner", parent="block").build()


def pendulum(friction: float) -> fw.Model:
    rod = fw.Inertia.point(1.0, (0, 0, -1.0))
    builder = fw.Builder("pendulum").add_body("rod", joint=Revolute("y"), inertia=rod, friction=friction)
    return builder.add_contact_point("tip", parent="rod", position=(0, 0, -1.0)).build()


@pytest.mark.parametrize("contact", [RIGID, YIELDING], ids=["rigid", "yielding"])
def test_a_slider_moves_if_the_force_is_more_than_friction_and_by_what_is_left(contact: Impulse) -> None:
    force = np.array([0.5, 0.99, 1.01, 2.0, 50.0, -0.99, -1.5]) * F
    run = fw.rollout(
        slider(), np.zeros((7, 1)), np.zeros((7, 1)), steps=1000, dt=1e-3, contact=contact,
        tau=np.tile(force[:, None, None], (1, 1000, 1)),
    )  # fmt: skip
    assert (run.status == fw.Status.OK).all()
    moves = np.abs(force) > F
    expected = np.where(moves, force - F * np.sign(force), 0.0) / M
    yielded = contact.presliding * 1e-3 * np.abs(force) / M  # in a step: a part of what it would without friction
    assert (np.abs(run.v[:, -1, 0] - expected)[moves] <= 1e-12 + 2 * yielded[moves]).all()
    assert np.abs(run.v[~moves, -1]).max() <= 1e-15
    assert (np.abs(run.q[~moves, :, 0]).max(axis=1) <= 1e-11 + 1.1e-3 * yielded[~moves]).all()
    assert (np.abs(run.q[~moves, 500, 0] - run.q[~moves, -1, 0]) <= 1e-16).all()


@pytest.mark.parametrize("contact", [RIGID, YIELDING], ids=["rigid", "yielding"])
@pytest.mark.parametrize("h", [1e-4, 1e-3, 2e-2])
def test_a_sliding_mass_slows_down_evenly_stops_and_stays(contact: Impulse, h: float) -> None:
    """v = v₀ - f t / m until it is 0, after m v₀ / f; for 10 s."""
    v0 = 1.0
    run = fw.rollout(slider(), [0.0], [v0], steps=round(10 / h), dt=h, contact=contact)
    assert run.status == fw.Status.OK
    slides = run.t < M * v0 / F - h
    np.testing.assert_allclose(run.v[slides, 0], v0 - F * run.t[slides] / M, atol=1e-12)
    stands = run.t > M * v0 / F + 30 * h
    assert np.abs(run.v[stands, 0]).max() <= 1e-15
    assert np.ptp(run.q[stands, 0]) <= 1e-14
    assert run.q[-1, 0] == pytest.approx(0.5 * M * v0**2 / F, abs=0.51 * h * v0)


@pytest.mark.parametrize("share", [0.97, 1.03])
def test_a_pendulum_is_held_where_friction_is_more_than_its_weight_and_does_not_creep(share: float) -> None:
    angle = 0.4
    model = pendulum(friction=share * G * math.sin(angle))
    run = fw.simulate(model, [angle], [0.0], duration=10.0 if share > 1 else 0.1, dt=1e-3, contact=YIELDING)
    way = np.abs(run.q[:, 0] - angle)
    if share > 1:
        assert way.max() <= 1.1 * 0.01 * 1e-6 * G * math.sin(angle)
        assert np.abs(run.v[100:]).max() <= 1e-15
    else:
        assert way[-1] == pytest.approx(0.5 * 0.03 * G * math.sin(angle) * 0.01, rel=0.05)


def test_energy_never_grows() -> None:
    """A double pendulum with friction in both joints, from any state, until it stands."""
    rod = fw.Inertia.rod(1.0, 0.5, at=(0, 0, -0.25))
    builder = fw.Builder("double").add_body("a", joint=Revolute("y"), inertia=rod, friction=0.8)
    builder.add_body(
        "b", parent="a", joint=Revolute("y"), inertia=rod, friction=0.3, placement=fw.Placement((0, 0, -0.5))
    )
    model = builder.add_contact_point("tip", parent="b", position=(0, 0, -0.5)).build()
    rng = np.random.default_rng(0)
    q, v = rng.uniform(-1.5, 1.5, (16, 2)), rng.normal(size=(16, 2))
    run = fw.rollout(model, q, v, steps=4000, dt=1e-3, contact=RIGID)
    assert (run.status == fw.Status.OK).all()
    assert np.diff(run.energy()[:, ::10], axis=1).max() <= 1e-11
    assert (run.energy()[:, -1] < run.energy()[:, 0] - 0.01).all()
    still = np.abs(run.v[:, -1]).max(axis=1) < 1e-9
    assert still.sum() >= 8
    moved = fw.gravity_force(model, run.q[still, -1])
    assert (np.abs(moved) <= np.array([0.8, 0.3]) + 1e-6).all()  # they stand where friction carries the weight


def test_a_joint_with_a_limit_rubs_there_too() -> None:
    """Pressed against its end with F_p it stays; pulled back with less than f it stays; with more it leaves."""
    model = slider(limits=fw.Limits(-1.0, 0.25))
    force = np.concatenate([np.full(2000, 5.0), np.full(500, -0.9 * F), np.full(500, -1.5 * F)])
    run = fw.rollout(model, [0.0], [0.0], steps=3000, dt=1e-3, contact=RIGID, tau=force[:, None])
    assert run.status == fw.Status.OK
    assert run.q.max() <= 0.25 + 1e-9
    np.testing.assert_allclose(run.q[1000:2501, 0], 0.25, atol=2e-6)  # as deep as is left
    assert np.abs(run.v[2100:2500]).max() <= 1e-12
    assert run.v[-1, 0] == pytest.approx(-0.5 * F / M * 0.5, abs=1e-9)


def walker(*, feet: bool = False) -> fw.Model:
    """Four legs with limits and dry friction in hips and knees; eight points. With `feet` these alone, and no friction:
    contacts so few know of each other by the Delassus matrix, and of the limits by what these push."""
    link = fw.Inertia.box(0.4, (0.04, 0.04, 0.2), (0, 0, -0.1))
    builder = fw.Builder("walker").add_body("trunk", joint=Free(), inertia=fw.Inertia.box(4.0, (0.4, 0.2, 0.1)))
    for k, (x, y) in enumerate([(0.2, 0.1), (0.2, -0.1), (-0.2, 0.1), (-0.2, -0.1)]):
        for name, parent, place, limits, friction in (
            (f"thigh{k}", "trunk", (x, y, 0), fw.Limits(-0.8, 0.9), 0.0 if feet else 0.3),
            (f"shank{k}", f"thigh{k}", (0, 0, -0.2), fw.Limits(-1.2, 0.1), 0.0 if feet else 0.1 * k),
        ):
            builder.add_body(
                name, parent=parent, joint=Revolute("y"), inertia=link, placement=fw.Placement(place), armature=0.01,
                limits=limits, friction=friction,
            )  # fmt: skip
            if name.startswith("shank") or not feet:
                builder.add_contact_point(f"{name}_end", parent=name, position=(0, 0, -0.2))
    return builder.build()


@pytest.mark.parametrize(("feet", "h"), [(False, 1e-4), (False, 1e-3), (False, 5e-3), (False, 2e-2), (True, 1e-3)])
def test_scenes_with_contacts_limits_and_friction_keep_all_laws(feet: bool, h: float) -> None:
    model = walker(feet=feet)
    q, v = scenes(100, seed=int(1e4 * h), model=model)
    rng = np.random.default_rng(1)
    ends = np.array([np.ravel(x)[0] for j in model.joints[1:] for x in (j.limits.lower, j.limits.upper)]).reshape(-1, 2)
    at_end = rng.choice(ends.shape[0], (100, 2))
    for k, joints in enumerate(at_end):  # some at an end, or a little before or beyond
        q[k, 7 + joints] = ends[joints, rng.integers(0, 2, 2)] + rng.uniform(-0.01, 0.01, 2)
    low = np.min([fw.frame_pose(model, q, point.name).position[:, 2] for point in model.contact_points], axis=0)
    q[:, 2] += rng.uniform(-0.02, 0.005, 100) - low
    own = {} if feet else {"dry_friction": "rows", "presliding": 0.0}
    contact = Impulse(friction=MU, tolerance=TOLERANCE, recovery=0.0, **own)
    with pytest.warns(UserWarning, match="beyond their limits"):
        run = fw.rollout(model, q, v, steps=1, dt=h, contact=contact)
    ok = run.status == fw.Status.OK
    assert set(run.status) <= {fw.Status.OK, fw.Status.NOT_CONVERGED}
    assert ok.mean() >= 0.95
    q, v = q[ok], v[ok]
    points = [point.name for point in model.contact_points]
    J = np.stack([fw.jacobian(model, q, name, "world_aligned")[:, :3] for name in points], axis=1)
    M, before = fw.mass_matrix(model, q), free_velocity(model, q, v, h)
    after = run.v[ok, 1].copy()
    # the base turned during the step; what it has in the axes of the beginning
    impulse = h * run.contact_force[ok, 0]
    pushed = np.einsum("bpkn,bpk->bn", J, impulse)
    joints = after[:, 6:]
    base = np.linalg.solve(M[:, :6, :6], (np.einsum("bij,bj->bi", M[:, :6], before) + pushed[:, :6]
                           - np.einsum("bij,bj->bi", M[:, :6, 6:], joints))[..., None])[..., 0]  # fmt: skip
    assert np.abs(np.linalg.norm(base[:, :3], axis=1) - np.linalg.norm(after[:, :3], axis=1)).max() <= 1e-8
    after = np.concatenate([base, joints], axis=1)
    rows = (np.einsum("bij,bj->bi", M, after - before) - pushed)[:, 6:]  # impulses of limits and friction together

    # contacts
    limit = 20 * TOLERANCE
    u, normal = np.einsum("bpkn,bn->bpk", J, after), impulse[..., 2]
    height = np.stack([fw.frame_pose(model, q, name).position[:, 2] for name in points], axis=1)
    touching, beyond = height <= 0.1 * h, u[..., 2] + np.maximum(height, 0.0) / h
    assert (normal >= 0).all()
    assert (impulse[~touching] == 0).all()
    assert (beyond[touching] >= -limit).all()
    along, slip = np.linalg.norm(impulse[..., :2], axis=-1), np.linalg.norm(u[..., :2], axis=-1)
    assert (along <= MU * normal * (1 + 1e-9) + 1e-15).all()
    held = normal > 1e-6
    assert np.abs(beyond[held]).max() <= 1e3 * limit
    assert (slip[held & (along < 0.999 * MU * normal)] <= 1e3 * limit).all()

    # joints: friction is within its bound, or at it and against the velocity; what is more, is a limit's that is met
    f = h * np.array([x for joint in model.joints[1:] for x in joint.friction])
    lower, upper = ends.T
    mobility = np.einsum("bii->bi", np.linalg.inv(M))[:, 6:]
    moves = np.abs(joints) > limit
    friction = np.where(moves, -f * np.sign(joints), np.clip(rows, -f, f))
    rest = (rows - friction) * mobility
    low = q[:, 7:] - lower < upper - q[:, 7:]
    gap, sign = np.where(low, q[:, 7:] - lower, upper - q[:, 7:]), np.where(low, 1.0, -1.0)
    pressed = np.abs(rest) > 50 * limit
    assert (sign * rest)[pressed].min(initial=0.0) >= 0
    wanted = np.where(gap > 0, -gap / h, 0.0)
    assert np.abs((sign * joints - wanted)[pressed]).max(initial=0.0) <= 50 * limit
    assert pressed.any()
    assert feet or ((~moves & (f > 0)).any() and (moves & (f > 0)).any())

    energy = [0.5 * np.einsum("bn,bnm,bm->b", x, M, x) for x in (before, after)]
    outside = (gap < 0).any(axis=1)
    assert (energy[1] <= energy[0] * (1 + 1e-9))[~outside].all()


def test_the_same_bits_in_any_lane_and_batch() -> None:
    model = walker()
    q, v = scenes(21, model=model)
    contact = Impulse(friction=MU, dry_friction="rows")
    whole = fw.rollout(model, q, v, steps=20, dt=1e-3, contact=contact)
    for k in (0, 13, 20):
        alone = fw.rollout(model, q[k], v[k], steps=20, dt=1e-3, contact=contact)
        for name in ("q", "v", "contact_force", "solver"):
            np.testing.assert_array_equal(getattr(alone, name), getattr(whole, name)[k])
    other = fw.rollout(model, q[::-1][:11], v[::-1][:11], steps=20, dt=1e-3, contact=contact)
    np.testing.assert_array_equal(other.q, whole.q[::-1][:11])


def test_friction_may_differ_from_robot_to_robot() -> None:
    model = slider(parameters=("block_joint.friction",), friction=0.0)
    f = np.array([0.0, 1.0, 4.0])
    run = fw.rollout(
        model, np.zeros((3, 1)), np.zeros((3, 1)), steps=100, dt=1e-3, contact=RIGID, tau=np.full((3, 100, 1), 3.0),
        parameters={"block_joint.friction": f},
    )  # fmt: skip
    np.testing.assert_allclose(run.v[:, -1, 0], np.maximum(3.0 - f, 0.0) / M * 0.1, atol=1e-9)


def test_each_degree_of_freedom_of_a_ball_joint_rubs_for_itself() -> None:
    """As in `passive_force`: |λ_k| ≤ f_k h for each axis of the joint."""
    ball = fw.Inertia(1.0, (0, 0, 0), (0.1, 0.1, 0.1))
    builder = fw.Builder("ball", gravity=(0, 0, 0))
    builder.add_body("ball", joint=Spherical(), inertia=ball, friction=(0.1, 0.2, 0.3))
    model = builder.add_contact_point("skin", parent="ball").build()
    tau = np.tile([0.2, 0.1, -0.5], (200, 1))
    run = fw.rollout(model, model.neutral(), np.zeros(3), steps=200, dt=1e-4, contact=RIGID, tau=tau)
    np.testing.assert_allclose(run.v[-1], [0.02, 0.0, -0.04], atol=1e-6)


def test_what_follows_rubs_with_its_leader() -> None:
    builder = fw.Builder("pair", gravity=(0, 0, 0))
    builder.add_body("a", joint=Prismatic("x"), inertia=fw.Inertia.box(1.0, (0.1, 0.1, 0.1)), friction=1.0)
    follow = Mimic(Prismatic("x"), "a_joint", -2.0)
    builder.add_body("b", joint=follow, inertia=fw.Inertia.box(1.0, (0.1, 0.1, 0.1)), friction=1.5)
    model = builder.add_contact_point("tip", parent="b").build()
    force = np.array([3.9, 4.5])
    run = fw.rollout(
        model, np.zeros((2, 1)), np.zeros((2, 1)), steps=100, dt=1e-3, contact=RIGID,
        tau=np.tile(force[:, None, None], (1, 100, 1)),
    )  # fmt: skip
    np.testing.assert_allclose(run.v[:, -1, 0], [0.0, 0.5 / 5.0 * 0.1], atol=1e-8)


def test_misuse_is_explained() -> None:
    with pytest.raises(ValueError, match="dry_friction: expected 'damping' or 'rows', got 'none'"):
        Impulse(dry_friction="none")
    with pytest.raises(ValueError, match="presliding: expected a number of 0 or more"):
        Impulse(presliding=-1.0)
    with pytest.raises(ValueError, match="needs a semi-implicit step"):
        fw.rollout(slider(), [0.0], [1.0], steps=1, dt=1e-3, contact=RIGID, integrator="variational")


def hopper(friction: float) -> fw.Model:
    """A heavy trunk above a light foot on a slide."""
    builder = fw.Builder("hopper").add_body("trunk", joint=Prismatic("z"), inertia=fw.Inertia.sphere(10.0, 0.1))
    builder.add_body(
        "foot", parent="trunk", joint=Prismatic("z"), placement=fw.Placement((0, 0, -0.5)),
        inertia=fw.Inertia.sphere(0.1, 0.02), friction=friction,
    )  # fmt: skip
    return builder.add_contact_point("tip", parent="foot").build()


@pytest.mark.parametrize("friction", [1e-3, 0.1, 1.0, 10.0])
def test_a_joint_at_rest_yields_when_its_foot_hits_the_ground(friction: float) -> None:
    """The trunk falls on: friction takes about f from it in every step, in that of the impact too."""
    dt = 1e-3
    run = fw.simulate(hopper(friction), [0.5005, 0.0], [-1.0, 0.0], duration=0.01, dt=dt, contact=Impulse())
    pushed = 10.0 * (np.diff(run.v[:, 0]) / dt + G)  # N, on the trunk by the foot
    assert run.contact_force[:, 0, 2].max() > 90.0  # the foot was stopped: 0.1 kg, 1 m/s, a step
    assert pushed.max() <= 1.05 * friction
    assert pushed[2:].min() >= 0.98 * friction


def test_a_joint_at_rest_yields_when_another_one_comes_to_its_end() -> None:
    def arm(**kind: str) -> np.ndarray:
        builder = fw.Builder("arm", gravity=(0, 0, 0))
        rod, below = fw.Inertia.rod(1.0, 0.4, at=(0, 0, -0.2)), fw.Placement((0, 0, -0.4))
        builder.add_body("upper", joint=Revolute("y"), inertia=rod, friction=2.0)
        builder.add_body(
            "lower", parent="upper", joint=Revolute("y"), placement=below, inertia=rod, limits=fw.Limits(-1.0, 0.5)
        )
        model = builder.add_contact_point("tip", parent="lower").build()
        contact = Impulse(ground=FAR, **kind)
        return fw.simulate(model, [0.0, 0.45], [0.0, 5.0], duration=0.02, dt=1e-3, contact=contact).v

    by_damping, by_rows = arm(), arm(dry_friction="rows")
    assert abs(by_rows[-1, 0]) > 0.5
    np.testing.assert_allclose(by_damping[-1], by_rows[-1], rtol=0.05, atol=1e-9)


def test_a_limp_quadruped_falls_on_after_its_feet_have_landed() -> None:
    model = fw.robots.mini_cheetah(points="feet")
    q = fw.scenes.crouched(model)
    q[2] += 0.05
    runs = [
        fw.simulate(model, q, np.zeros(18), duration=0.105, dt=1e-3, contact=Impulse(dry_friction=kind))
        for kind in ("damping", "rows")
    ]
    falls = [run.v[-1, 2] for run in runs]
    assert -0.95 < falls[1] < -0.85
    assert abs(falls[0] - falls[1]) <= 0.02
