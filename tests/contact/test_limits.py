"""Joint limits: they act without contact, with springs and with impulses, as a literal solution of their law says."""

import itertools
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import featherweight as fw
from featherweight.constraints.interval import Stop
from featherweight.constraints.joint_limit import REACH, JointLimit
from featherweight.constraints.solve.active_set import ALL_AT_ONCE, ActiveSet
from featherweight.contact import Impulse, SpringDamper
from peers.pinocchio_adapter import ROBOTS, robots_folder

STOPS = JointLimit()


def arm(n=4, *, mimic=False, rotor=False, friction=0.0, free=False):
    """A chain of hinges and a slider, each within limits."""
    build = fw.Builder("arm")
    parent = "world"
    if free:
        build.add_body("base", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(2.0, 0.2))
        parent = "base"
    for k in range(n):
        axis = (0.1, 1.0, 0.3) if k % 2 else (0.2, 0.4, 1.0)
        kind = fw.joints.Prismatic("x") if k == 2 else fw.joints.Revolute(axis)
        motor = fw.Rotor(6.0, fw.Inertia.sphere(0.1, 0.02)) if rotor and k == 1 else None
        build.add_body(
            f"b{k}", parent=parent, joint=kind, placement=fw.Placement((0.0, 0.1, 0.3)), rotor=motor, damping=0.1 * k,
            inertia=fw.Inertia.box(1.0 + k, (0.1, 0.2, 0.3), (0.05, 0.0, 0.15)), limits=fw.Limits(-0.5 - 0.1 * k, 0.4),
            armature=0.01 * k, friction=friction,
        )  # fmt: skip
        parent = f"b{k}"
    if mimic:
        joint = fw.joints.Mimic(fw.joints.Revolute("y"), "b1_joint", -2.0, 0.1)
        build.add_body(
            "follower", parent="b0", joint=joint, inertia=fw.Inertia.sphere(0.5, 0.1, (0.0, 0.0, 0.2)),
            limits=fw.Limits(-0.6, 5.0),
        )  # fmt: skip
    build.add_contact_point("tip", parent=parent, position=(0.0, 0.0, 0.3))
    return build.build()


def bounds(model):
    """Lowest and highest value of each limited coordinate, by hand: q places, v places, lower, upper."""
    found = {}
    for joint in model.joints:
        if joint.kind.nv == 1:
            ratio, offset = joint.kind.ratio, joint.kind.offset
            ends = sorted((float(np.ravel(x)[0]) - offset) / ratio for x in (joint.limits.lower, joint.limits.upper))
            low, high = found.get(joint.v.start, (joint.q.start, -np.inf, np.inf))[1:]
            found[joint.v.start] = (joint.q.start, max(low, ends[0]), min(high, ends[1]))
    return [(q, d, low, high) for d, (q, low, high) in found.items() if np.isfinite(low) or np.isfinite(high)]


def solved(model, q, v, free, M, h):
    """v⁺ of the law: M (v⁺ - free) = Σ λ, each joint between its velocities v_low and v_high, λ ≥ 0 only at the first
    and λ ≤ 0 only at the other; by trying every choice of joints that are held at one of their ends."""

    def least(gap):
        recovery = min(max(STOPS.recovery * (-gap - STOPS.slop), 0.0), STOPS.recovery_speed)
        return -gap / h if gap > 0 else min(recovery, -gap / h)

    rows = [(d, least(q[place] - low), -least(high - q[place])) for place, d, low, high in bounds(model)]
    inverse = np.linalg.inv(M)
    choices = sorted(itertools.product((0, 1, -1), repeat=len(rows)), key=lambda ends: sum(map(abs, ends)))
    for ends in choices:
        held = [(d, low if end > 0 else high, end) for (d, low, high), end in zip(rows, ends, strict=True) if end]
        J = np.array([np.eye(len(v))[d] for d, _, _ in held]).reshape(len(held), len(v))
        wanted = np.array([w for _, w, _ in held])
        force = np.linalg.solve(J @ inverse @ J.T, wanted - J @ free) if held else np.zeros(0)
        after = free + inverse @ J.T @ force
        pushes = all(end * f >= 0 for (_, _, end), f in zip(held, force, strict=True))
        if pushes and all(low - 1e-9 <= after[d] <= high + 1e-9 for d, low, high in rows):
            return after
    raise AssertionError("no choice of held joints solves it")


def near_limits(model, rng):
    """A state with many joints at, near or beyond their ends, some of them fast."""
    q, v = model.random(rng), rng.normal(size=model.nv) * rng.choice([0.1, 3.0])
    for place, _, low, high in bounds(model):
        end = rng.choice([low, high]) if np.isfinite(low + high) else (low if np.isfinite(low) else high)
        q[place] = end + rng.choice([0.0, 1e-4, -1e-4, 1e-3, -1e-3, -3e-2, 3e-2, 0.2, -0.2])
    return q, v


CASES = {
    "hinges and a slider": arm(),
    "with a rotor": arm(rotor=True),
    "that follow": arm(mimic=True),
    "on a floating body": arm(free=True),
}


@pytest.mark.parametrize("name", CASES)
def test_a_step_solves_the_law(name):
    model, h = CASES[name], 1e-3
    rng = np.random.default_rng(3)
    hit = 0
    for _ in range(40):
        q, v = near_limits(model, rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run = fw.rollout(model, q, v, steps=1, dt=h)
            free = fw.rollout(model, q, v, steps=1, dt=h, limits=False)
        damping = np.zeros(model.nv)
        for joint in model.joints:
            damping[joint.v] += joint.damping
        M = fw.mass_matrix(model, q) + h * np.diag(damping)
        # what a floating base does with its axes while it turns is not the limits' matter
        turned = [joint.v for joint in model.joints if joint.kind.floating]
        before = free.v[-1].copy()
        for part in turned:
            before[part] = v[part] + h * _acceleration(model, q, v, h)[part]
        after = solved(model, q, v, before, M, h)
        compared = [d for d in range(model.nv) if not any(part.start <= d < part.stop for part in turned)]
        np.testing.assert_allclose(run.v[-1, compared], after[compared], atol=2e-8, rtol=1e-9)
        hit += bool(np.abs(after - before).max() > 1e-6)
    assert hit > 20


def searched(seed, n):
    """The active set on a dense problem: M, the free velocity, the bounds, and what it found."""
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(n, n))
    M, free, low, high = B @ B.T + 1e-2 * np.eye(n), rng.normal(size=n), rng.uniform(-1, 0, n), rng.uniform(0, 1, n)
    inverse = np.linalg.inv(M)

    def prescribed(held, wanted):
        rows = [d for d in range(n) if held[d + 1]]
        impulses = np.zeros(n)
        impulses[rows] = np.linalg.solve(inverse[np.ix_(rows, rows)], [wanted[d] - free[d] for d in rows])
        return list(free + inverse @ impulses), dict(enumerate(impulses))

    motion = SimpleNamespace(moved=False, v=list(free), guess=list(free), prescribed=prescribed)
    stops = [Stop(low=float(a), high=float(b)) for a, b in zip(low, high, strict=True)]
    tree = SimpleNamespace(nv=n, mark=lambda: None)
    held, _ = ActiveSet(tree, motion, stops, range(n), range(1, n + 1), [0.0] * n).solve(True)
    return M, free, low, high, held


@pytest.mark.parametrize("seed", [0, 1, 2, 364])
def test_the_search_ends_where_changing_all_at_once_goes_in_circles(seed):
    """As it does for the last one: there Murty's rule has to help."""
    M, free, low, high, held = searched(seed, 8)
    v = np.array(held.v)
    impulses = M @ (v - free)
    assert held.wrong == 0
    assert (held.turns > ALL_AT_ONCE) == (seed == 364)
    assert ((v >= low - 1e-8) & (v <= high + 1e-8)).all()
    np.testing.assert_allclose(v[impulses > 1e-9], low[impulses > 1e-9], atol=1e-12)
    np.testing.assert_allclose(v[impulses < -1e-9], high[impulses < -1e-9], atol=1e-12)


def test_ends_of_a_step_that_has_moved_push_their_own_joints_alone():
    """M Δv = Σ λ where the step ends: nothing but impulses at joints that can come to an end, and away from it."""
    model, h = CASES["that follow"], 1e-3
    rng = np.random.default_rng(4)
    some = 0
    for _ in range(20):
        q, v = near_limits(model, rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run, free = (
                fw.rollout(model, q, v, steps=1, dt=h, integrator="variational", limits=x) for x in (True, False)
            )
        np.testing.assert_array_equal(run.q, free.q)
        impulses = fw.mass_matrix(model, run.q[-1]) @ (run.v[-1] - free.v[-1])
        for place, d, low, high in bounds(model):
            gap = run.q[-1, place] - low if impulses[d] > 0 else high - run.q[-1, place]
            assert abs(impulses[d]) <= 1e-9 or gap <= 2 * h * (REACH + abs(v[d]))
        some += 0 < np.count_nonzero(np.abs(impulses) > 1e-9) < len(bounds(model))
    assert some > 10


def test_two_blocks_may_hold_one_joint():
    """Beyond its end it comes back as fast as the one that asks for more wants it to."""
    run = fw.rollout(slider(-0.5, 0.2), [0.19], [30.0], steps=3, dt=1e-3, constraints=JointLimit())
    np.testing.assert_allclose(run.q[1:, 0], 0.2, atol=1e-9)
    with pytest.warns(UserWarning, match="beyond"):
        run = fw.rollout(slider(-0.5, 0.2), [0.25], [0.0], steps=3, dt=1e-3, constraints=JointLimit(recovery=0.0))
    assert run.status == fw.Status.OK
    np.testing.assert_allclose(run.v[1:, 0], -STOPS.recovery_speed, atol=1e-8)


def slider(lower, upper):
    inertia = fw.Inertia.sphere(1.0, 0.1)
    build = fw.Builder("slider", gravity=(0, 0, 0))
    build.add_body("b", joint=fw.joints.Prismatic("x"), inertia=inertia, limits=fw.Limits(lower, upper))
    return build.add_contact_point("p", parent="b").build()


FAR = fw.contact.Plane(point=(0.0, 0.0, -100.0))


SOFT = SpringDamper(FAR, law="linear", stiffness=100.0, damping=1.0)


@pytest.mark.parametrize("contact", [None, SOFT, Impulse(FAR)], ids=["alone", "springs", "impulses"])
@pytest.mark.parametrize(("q", "v"), [(0.015, 6.0), (0.025, -6.0), (0.0, 1e3), (0.04, -1e3), (0.02, 1e6)])
def test_a_fast_joint_stops_at_the_end_it_comes_to(q, v, contact):
    """A finger with 4 cm of travel, in one step from the nearer end to the other or far beyond."""
    run = fw.rollout(slider(0.0, 0.04), [q], [v], steps=6, dt=1e-2, contact=contact)
    end = 0.04 if v > 0 else 0.0
    np.testing.assert_allclose(run.q[1:, 0], end, atol=1e-12)
    assert not run.status.any()


def test_a_joint_without_travel_stands_still():
    for v in (10.0, -10.0):
        np.testing.assert_allclose(fw.rollout(slider(0.2, 0.2), [0.2], [v], steps=5, dt=1e-3).q, 0.2, atol=1e-12)


@pytest.mark.parametrize("dt", [1e-3, 1e-2, 0.05, 0.1])
def test_long_steps_do_not_overshoot_on_the_way_back(dt):
    with pytest.warns(UserWarning, match="joints begin beyond their limits"):
        run = fw.rollout(slider(-0.5, 0.5), [0.51], [0.0], steps=200, dt=dt, tau=np.full((200, 1), 50.0))
    assert run.q.min() > 0.5 - 1e-9
    np.testing.assert_allclose(run.q[-1, 0], 0.5, atol=2e-6)


@pytest.mark.parametrize("contact", [None, Impulse(FAR)], ids=["alone", "impulses"])
def test_dry_friction_holds_while_another_joint_is_near_its_end(contact):
    """The flange goes towards its end and does not come there; friction holds the shoulder."""
    build = fw.Builder("arm")
    build.add_body(
        "shoulder",
        joint=fw.joints.Revolute("y"),
        inertia=fw.Inertia.box(1.0, (0.1, 0.2, 0.3), (0.2, 0, 0)),
        friction=5.0,
    )
    build.add_body(
        "flange", parent="shoulder", placement=fw.Placement((0.4, 0, 0)), joint=fw.joints.Revolute("x"),
        inertia=fw.Inertia.box(0.2, (0.05, 0.05, 0.05)), limits=fw.Limits(-2.0, 2.0),
    )  # fmt: skip
    model = build.add_contact_point("p", parent="shoulder").build()
    run = fw.rollout(model, [0.0, 0.0], [0.0, 1.9], steps=100, dt=1e-2, contact=contact)
    assert 1.8 < run.q[-1, 1] < 2.0
    assert abs(run.q[-1, 0]) < 2e-4


def _acceleration(model, q, v, h):
    passive = fw.passive_force(model, q, v)
    M = fw.mass_matrix(model, q)
    damping = np.zeros(model.nv)
    for joint in model.joints:
        damping[joint.v] += joint.damping
    return np.linalg.solve(M + h * np.diag(damping), passive - fw.bias_force(model, q, v))


@pytest.mark.parametrize("integrator", ["semi_implicit", "variational"])
@pytest.mark.parametrize("contact", [None, SpringDamper(), Impulse()], ids=["alone", "springs", "impulses"])
def test_limp_arms_stay_within_their_limits(integrator, contact):
    model = arm(mimic=True)
    rng = np.random.default_rng(0)
    q = np.array([model.random(rng) for _ in range(16)])
    for place, _, low, high in bounds(model):
        q[:, place] = np.clip(q[:, place], low, high)
    options = {"steps": 1500, "dt": 1e-3, "contact": contact, "integrator": integrator, "record_every": 10}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of springs that are too stiff: the tip hardly touches
        inside, free = (fw.rollout(model, q, np.zeros_like(q), limits=on, **options) for on in (True, False))
    assert not inside.status.any()
    room = 5e-3 if integrator == "variational" else 2e-6  # a variational step has moved before anything is hit
    for place, _, low, high in bounds(model):
        assert inside.q[..., place].min() > low - room
        assert inside.q[..., place].max() < high + room
    if contact is None:
        assert max(free.q[..., place].max() - high for place, _, _, high in bounds(model)) > 1.0


def test_a_limp_panda_stays_within_its_limits():
    model = fw.load(robots_folder() / ROBOTS["panda"], policy="warn")
    q = 0.5 * (np.array([low for _, _, low, _ in bounds(model)]) + [high for *_, high in bounds(model)])
    run = fw.simulate(model, q, np.zeros(model.nv), duration=3.0, dt=1e-3, record_every=10)
    for place, _, low, high in bounds(model):
        assert low - 2e-6 < run.q[:, place].min() <= run.q[:, place].max() < high + 2e-6


def test_ends_take_energy_and_give_none():
    model = fw.robots.pendulum()
    limited = (
        fw.Builder("p")
        .add_body(
            "bob", joint=fw.joints.Revolute("y"), inertia=fw.Inertia.point(1.0, (0, 0, -1)), limits=fw.Limits(-1, 0.3)
        )
        .build()
    )
    run = fw.simulate(limited, [-0.9], [0.0], duration=3.0, dt=1e-3)
    free = fw.simulate(model, [-0.9], [0.0], duration=3.0, dt=1e-3)
    hits = int(np.argmax(run.q[:, 0] > 0.3 - 1e-6))
    np.testing.assert_allclose(run.q[:hits], free.q[:hits], atol=1e-12)  # as if there were none, until it hits
    # there it stops, and swings back from rest
    assert run.energy().max() <= free.energy().max()
    assert run.energy()[-1] < run.energy()[0] - 0.1
    assert run.q.max() <= 0.3 + 2e-6


def test_a_joint_is_held_against_a_force_and_let_go():
    model = arm(1)
    upper = 0.4
    tau = np.concatenate([np.full((200, 1), 50.0), np.full((200, 1), -50.0)])
    run = fw.rollout(model, [upper], [0.0], steps=400, dt=1e-3, tau=tau)
    np.testing.assert_allclose(run.q[1:200, 0], upper, atol=2e-6)
    assert run.q[-1, 0] < upper - 0.05


@pytest.mark.parametrize("end", [0.0, 0.04], ids=["lower", "upper"])
@pytest.mark.parametrize("force", [10.0, 40.0, 70.0])
@pytest.mark.parametrize("contact", [None, Impulse(FAR)], ids=["alone", "impulses"])
def test_variational_steps_hold_a_light_joint_against_a_force(force, contact, end):
    """15 g pressed with up to 70 N: half of h² q̈ is 2 mm, and that much is made up for."""
    build = fw.Builder("light", gravity=(0, 0, 0))
    inertia = fw.Inertia.sphere(0.015, 0.01)
    build.add_body("b", joint=fw.joints.Prismatic("x"), inertia=inertia, limits=fw.Limits(0.0, 0.04))
    model = build.add_contact_point("p", parent="b").build()
    outward = 1.0 if end else -1.0
    tau = np.full((1000, 1), outward * force)
    run = fw.rollout(model, [end], [0.0], steps=1000, dt=1e-3, tau=tau, contact=contact, integrator="variational")
    first = 0.5e-6 * force / 0.015  # it has moved once before it is held
    assert (outward * (run.q - end)).max() <= 1.1 * first
    np.testing.assert_allclose(run.q[200:, 0], end, atol=2e-6)


def test_a_joint_that_is_hit_yields_although_it_rubs():
    """The flange hits its end and takes the shoulder along, as if its dry friction were not much more than f h."""

    def hit(friction):
        build = fw.Builder("arm", gravity=(0, 0, 0))
        build.add_body(
            "shoulder", joint=fw.joints.Revolute("z"), inertia=fw.Inertia.sphere(1.0, 0.2), friction=friction
        )
        build.add_body(
            "flange", parent="shoulder", joint=fw.joints.Revolute("z"), inertia=fw.Inertia.sphere(1.0, 0.2),
            limits=fw.Limits(-1.0, 1.0),
        )  # fmt: skip
        run = fw.rollout(build.build(), [0.0, 0.999], [0.0, 5.0], steps=3, dt=1e-3)
        return run.v[-1]

    smooth, rubbing = hit(0.0), hit(0.01)
    np.testing.assert_allclose(smooth, [2.5, 0.0], atol=1e-6)
    np.testing.assert_allclose(rubbing, smooth, atol=0.01)


def test_same_bits_alone_in_a_batch_and_in_a_file(tmp_path):
    model = arm(mimic=True)
    rng = np.random.default_rng(1)
    q = np.array([model.random(rng) for _ in range(19)])
    v = rng.normal(size=(19, model.nv))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = fw.rollout(model, q, v, steps=300, dt=1e-3, file=tmp_path / "run.fw")
        alone = fw.rollout(model, q[7], v[7], steps=300, dt=1e-3)
    np.testing.assert_array_equal(whole.q[7], alone.q)
    np.testing.assert_array_equal(fw.Trajectory.load(tmp_path / "run.fw").q, whole.q)


# ---- what users are told


def test_a_start_beyond_a_limit_is_told_and_led_back():
    model = arm()
    told = r"joints begin beyond their limits: 'b1_joint' \(-0.6 to 0.4\); 'b1_joint' is at 0.5. They are led back"
    with pytest.warns(UserWarning, match=told) as warned:
        run = fw.simulate(model, [0.0, 0.5, 0.0, 0.0], np.zeros(4), duration=1.0, dt=1e-3)
    assert warned[0].filename == __file__
    np.testing.assert_allclose(run.v[1, 1], -STOPS.recovery_speed, atol=1e-6)
    assert run.q[-1, 1] < 0.4 + 2e-6
    q = np.zeros((5, 4))
    q[2:, 1] = -0.7
    with pytest.warns(UserWarning, match="beyond their limits in 3 of 5 robots, first in robot 2: 'b1_joint'"):
        fw.rollout(model, q, np.zeros((5, 4)), steps=2, dt=1e-3)
    with pytest.warns(UserWarning, match="'b0_joint' .*, 'b1_joint' .*, 'b2_joint' .*, 1 more; 'b0_joint' is at 2"):
        fw.rollout(model, np.full(4, 2.0), np.zeros(4), steps=2, dt=1e-3)


@pytest.mark.parametrize(("v", "named"), [([5.0, 0.0], "b0_joint"), ([0.0, 5.0], "b1_joint")])
def test_rk4_tells_of_the_first_step_beyond(v, named):
    model = arm(2)
    with pytest.warns(UserWarning, match=r"beyond its limits .* after step \d+, t = .*limits=False") as told:
        run = fw.simulate(model, [0.0, 0.0], v, duration=1.0, dt=1e-3, integrator="rk4", record_every=100)
    message = str(told[0].message)
    assert len(told) == 1
    assert told[0].filename == __file__
    assert f"joint {named!r} is beyond" in message
    step = int(message.partition("after step ")[2].partition(",")[0])
    fine = fw.simulate(model, [0.0, 0.0], v, duration=1.0, dt=1e-3, integrator="rk4", limits=False)
    beyond = [
        (fine.q[:, place] < low - 1e-4) | (fine.q[:, place] > high + 1e-4) for place, _, low, high in bounds(model)
    ]
    assert step + 1 == int(np.argmax(np.any(beyond, axis=0)))
    np.testing.assert_array_equal(run.q, fine.q[::100])  # they do not act


def test_rk4_tells_once_of_a_joint_that_begins_beyond():
    with pytest.warns(UserWarning, match="nothing leads them back|Nothing leads them back") as told:
        fw.simulate(arm(2), [0.0, 0.5], [0.0, 0.0], duration=0.1, dt=1e-3, integrator="rk4")
    assert len(told) == 1


def test_limits_of_joints_with_several_coordinates_are_told_not_to_act():
    build = fw.Builder("u").add_body(
        "b", joint=fw.joints.Universal("x", "y"), inertia=fw.Inertia.sphere(1.0, 0.1, (0, 0, -1)),
        limits=fw.Limits((-0.1, -0.1), (0.1, 0.1)),
    )  # fmt: skip
    with pytest.warns(UserWarning, match="limits of 'b_joint' do not act: only those of joints with one coordinate do"):
        fw.simulate(build.build(), [0.0, 0.0], [1.0, 0.0], duration=0.01, dt=1e-3)
    fw.simulate(build.build(), [0.0, 0.0], [1.0, 0.0], duration=0.01, dt=1e-3, limits=False)


def test_nothing_is_told_where_nothing_is_wrong():
    model = arm(2)
    fw.simulate(model, [0.0, 0.0], [0.0, 0.1], duration=0.05, dt=1e-3, integrator="rk4")
    fw.simulate(fw.robots.pendulum(), [0.0], [50.0], duration=0.5, dt=1e-3, integrator="rk4")


def test_limits_are_true_or_false():
    with pytest.raises(TypeError, match="limits: expected True or False, got 'no'"):
        fw.simulate(arm(1), [0.0], [0.0], duration=0.1, dt=1e-3, limits="no")


def test_limits_that_leave_no_place_are_refused():
    joint = fw.joints.Mimic(fw.joints.Revolute("y"), "a_joint", 1.0, 0.0)
    build = fw.Builder("m").add_body(
        "a", joint=fw.joints.Revolute("y"), inertia=fw.Inertia.sphere(1.0, 0.1), limits=fw.Limits(-1.0, 0.0)
    )
    build.add_body("b", joint=joint, inertia=fw.Inertia.sphere(1.0, 0.1), limits=fw.Limits(0.5, 1.0))
    with pytest.raises(ValueError, match="limits of joint 'b_joint'"):
        fw.simulate(build.build(), [-0.5], [0.0], duration=0.1, dt=1e-3)
    fw.simulate(build.build(), [-0.5], [0.0], duration=0.1, dt=1e-3, limits=False)
    with pytest.raises(ValueError, match="limits of joint 'b_joint'"):
        JointLimit().check(build.build())


def test_joints_far_from_their_ends_are_not_touched():
    assert REACH * 1e-3 < 0.4
    model = arm()
    q, v = np.zeros((2, 4))
    within, free = (fw.rollout(model, q, v, steps=20, dt=1e-3, limits=on) for on in (True, False))
    np.testing.assert_allclose(within.q, free.q, atol=1e-15)
