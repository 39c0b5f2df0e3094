"""A and B of a step: against central differences of rollouts, and against the documented equations solved densely."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import featherweight as fw
from featherweight.contact import Impulse, Plane, Sphere, SpringDamper
from featherweight.dynamics.contact_places import contact_places
from featherweight.joints import Free, Prismatic, Revolute
from simulation.semi_implicit_reference import middle_velocity

H = 2e-3
at = fw.Placement
EXACT = Impulse(tolerance=1e-13)
RADIUS = 0.03


def walker() -> fw.Model:
    """A floating body on two legs with a round foot each, and a tail with a pointed end: each may do another thing."""
    build = _floating("walker")
    for side, y in (("left", 0.1), ("right", -0.1)):
        _add_leg(build, side, y)
    build.add_body("tail", parent="base", joint=Revolute("x"), placement=at((-0.15, 0, 0)), inertia=LEG, **DAMPED)
    return build.add_contact_point("end", parent="tail", position=(0, 0.02, -0.3)).build()


def monopod(**joints: Any) -> fw.Model:
    """A floating body on one leg: all that several legs have but for each other, at a fifth of the time to compile."""
    build = _floating("monopod")
    _add_leg(build, "left", 0.1, **joints)
    return build.build()


DAMPED: dict[str, Any] = {"armature": 0.01, "damping": 0.05}
LEG = fw.Inertia.box(0.4, (0.03, 0.03, 0.2), at=(0, 0, -0.1))


def _floating(name: str) -> fw.Builder:
    inertia = fw.Inertia.box(3.0, (0.3, 0.2, 0.1), at=(0.01, 0.0, 0.02))
    return fw.Builder(name).add_body("base", joint=Free(), inertia=inertia)


def _add_leg(build: fw.Builder, side: str, y: float, **joints: Any) -> None:
    places = {f"{side}_hip": ("base", at((0.02, y, 0.0))), f"{side}_knee": (f"{side}_hip", at((0, 0, -0.2)))}
    for name, (parent, place) in places.items():
        build.add_body(name, parent=parent, joint=Revolute("y"), placement=place, inertia=LEG, **{**DAMPED, **joints})
    build.add_contact_point(side, parent=f"{side}_knee", position=(0, 0, -0.2), radius=RADIUS)


def hopper() -> tuple[fw.Model, np.ndarray, np.ndarray, np.ndarray]:
    """A mass above a leg, in a plane, with its foot a little inside the ground: what compiles soon."""
    build = fw.Builder("hopper").add_body("slide", joint=Prismatic("x"), inertia=fw.Inertia.point(0.5))
    build.add_body("base", parent="slide", joint=Prismatic("z"), inertia=fw.Inertia.box(1.0, (0.1, 0.1, 0.1)))
    leg = fw.Inertia.box(0.4, (0.03, 0.03, 0.2), at=(0, 0, -0.1))
    build.add_body("leg", parent="base", joint=Revolute("y"), inertia=leg, damping=0.02)
    build.add_contact_point("foot", parent="leg", position=(0, 0, -0.3), radius=0.02)
    angle, v = 0.3, np.array([0.2, -0.3, 0.5])
    return build.build(), np.array([0.0, 0.3 * np.cos(angle) + 0.02 - 1e-3, angle]), v, np.array([0.5, -1.0, 0.3])


def standing(model: fw.Model) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The feet, and the tail's end, a little inside the ground."""
    q = model.neutral()
    q[7:] = (0.5, -0.9, 0.4, -0.8, 0.1)[: model.nv - 6]
    rng = np.random.default_rng(4)
    q = fw.integrate(model, q, 0.02 * rng.normal(size=model.nv), 1.0)
    places = contact_places(model, fw.forward_kinematics(model, q))
    q[2] -= max(places[:2, 2]) - RADIUS + 1e-4
    return q, 0.02 * rng.normal(size=model.nv), rng.normal(size=model.nv) * 0.5


def differences(
    model: fw.Model, q: Any, v: Any, tau: Any, size: float = 2e-7, **options: Any
) -> tuple[np.ndarray, np.ndarray]:
    """A and B by central differences of rollouts; `size` of those of q and v."""
    n, columns = model.nv, []
    steps = np.repeat([size, size, 500 * size], n)
    sides = []
    for sign in (1, -1):
        delta = np.diag(sign * steps)
        moved = np.array([fw.integrate(model, q, row, 1.0) for row in delta[:, :n]])
        taus = tau + delta[:, 2 * n :]
        run = fw.rollout(model, moved, v + delta[:, n : 2 * n], steps=1, tau=taus[:, None], **options)
        assert (run.status == fw.Status.OK).all()
        sides.append((run.q[:, -1], run.v[:, -1]))
    (q1, v1), (q0, v0) = sides
    columns = np.concatenate([fw.difference(model, q0, q1), v1 - v0], axis=1) / (2 * steps[:, None])
    return columns.T[:, : 2 * n], columns.T[:, 2 * n :]


def worst(n: int, found: Any, expected: Any) -> float:
    """The largest error over the largest entry of each block."""
    A, B = found
    errors = []
    for X, Y in zip((A[:n, :n], A[:n, n:], A[n:, :n], A[n:, n:], B[:n], B[n:]), _blocks(n, *expected), strict=True):
        errors.append(np.abs(X - Y).max() / np.abs(Y).max())
    return max(errors)


def _blocks(n: int, A: np.ndarray, B: np.ndarray) -> tuple[np.ndarray, ...]:
    return A[:n, :n], A[:n, n:], A[n:, :n], A[n:, n:], B[:n], B[n:]


def compared(model: fw.Model, q: Any, v: Any, tau: Any, **options: Any) -> Any:
    """The result of `linearize`, whose matrices agree with differences, and the rollout of the same step."""
    found = fw.linearize(model, q, v, tau, **options)
    run = fw.rollout(model, q, v, steps=1, tau=np.array(tau)[None], **options)
    assert np.allclose(found.q, run.q[-1], rtol=0, atol=1e-12)
    assert np.allclose(found.v, run.v[-1], rtol=0, atol=1e-11)
    assert worst(model.nv, found[2:], differences(model, q, v, tau, **options)) <= 1e-6
    return found, run


def densely(model: fw.Model, q: Any, v: Any, tau: Any, mu: float, sides: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """A and B of the documented equations of a semi-implicit step on the plane z = 0, solved with dense matrices for
    states nearby and each contact on its side; by differences of order 6, good to about 1e-11."""
    n, columns = model.nv, []
    end = _dense_step(model, q, v, tau, mu, sides)
    for k in range(3 * n):
        size, total = (3e-5 if {*sides} > {"open"} else 3e-3, 1e-3, 0.2)[k // n], np.zeros(2 * n)
        for j, weight in ((1, 3 / 4), (2, -3 / 20), (3, 1 / 60)):
            for sign in (1, -1):
                d = np.zeros(3 * n)
                d[k] = sign * j * size
                moved = fw.integrate(model, q, d[:n], 1.0)
                q1, v1 = _dense_step(model, moved, v + d[n : 2 * n], tau + d[2 * n :], mu, sides)
                total += sign * weight / size * np.concatenate([fw.difference(model, end[0], q1), v1])
        columns.append(total)
    J = np.array(columns).T
    return J[:, : 2 * n], J[:, 2 * n :]


def _dense_step(model: fw.Model, q: Any, v: Any, tau: Any, mu: float, sides: list[str]) -> tuple[Any, Any]:
    n = model.nv
    poses, damping = fw.forward_kinematics(model, q), np.zeros(n)
    damping[6:] = 0.05
    coasting, middle = v.copy(), middle_velocity(model, q, v, H)
    coasting[:3] += H * np.cross(middle[3:6], v[:3])  # the axes of the body turn
    K = fw.mass_matrix(model, q) + H * np.diag(damping)
    free = coasting + H * np.linalg.solve(K, tau - damping * coasting - fw.bias_force(model, q, middle))
    places, rows, wanted = contact_places(model, poses), [], []
    for point, side, place in zip(model.contact_points, sides, places, strict=True):
        if side != "open":
            R, J = poses.rotation[point.body], fw.jacobian(model, q, point.name)
            linear, angular = R @ J[:3], R @ J[3:]
            J = linear + np.cross(angular.T, (0, 0, -point.radius)).T
            rows.append(J[[2, 0, 1]])
            wanted += [max(0.0, min(-50.0 * (place[2] - point.radius + 1e-6), 0.5)), 0.0, 0.0]
    after = free
    if rows:
        J, touching = np.concatenate(rows), [side for side in sides if side != "open"]
        G = J @ np.linalg.solve(K, J.T)
        first = [3 * k + j for k, side in enumerate(touching) for j in range(3) if j == 0 or side == "stick"]
        impulses = np.zeros(len(J))  # as if nothing held what slides
        impulses[first] = np.linalg.solve(G[np.ix_(first, first)], (wanted - J @ free)[first])
        for _ in range(20):  # Newton steps; where all stick the first one is zero
            w = J @ free + G @ impulses - wanted
            r, D = w.copy(), G.copy()
            for k, side in enumerate(touching):
                if side == "slide":
                    t, u, speed = (
                        slice(3 * k + 1, 3 * k + 3),
                        w[3 * k + 1 : 3 * k + 3],
                        np.linalg.norm(w[3 * k + 1 :][:2]),
                    )
                    along = u / speed
                    r[t] = impulses[t] + mu * impulses[3 * k] * along
                    D[t] = mu * impulses[3 * k] / speed * (np.eye(2) - np.outer(along, along)) @ G[t]
                    D[t, 3 * k] += mu * along
                    D[t, t] += np.eye(2)
            impulses = impulses - np.linalg.solve(D, r)
        after = free + np.linalg.solve(K, J.T @ impulses)
    turn = np.concatenate([np.zeros(3), after[3:6]])
    new_q = fw.integrate(model, q, np.concatenate([np.zeros(3), H * after[3:]]), 1.0)
    new_q[:3] = q[:3] + poses.rotation[1] @ after[:3] * H
    still = fw.integrate(model, model.neutral(), np.concatenate([H * turn, np.zeros(n - 6)]), 1.0)
    after = after.copy()
    after[:3] = fw.forward_kinematics(model, still).rotation[1].T @ after[:3]
    return new_q, after


LOW, MIDDLE, HIGH = Plane(friction=0.05), Plane(friction=0.5), Plane(friction=0.9)


@pytest.mark.parametrize(
    ("what", "ground", "push"),
    [("stick", HIGH, 0.0), ("slide", LOW, 0.4), ("open", HIGH, 0.0), ("mixed", MIDDLE, 0.0)],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_contacts_that_stick_slide_are_open_or_do_each_a_thing(what: str, ground: Plane, push: float) -> None:
    model = walker()
    q, v, tau = standing(model)
    v[0] += push
    q[2] += 1.0 if what == "open" else 0.0
    if what == "mixed":
        v[7], v[9] = 3.0, 0.0  # one foot is pulled along
    found, run = compared(model, q, v, tau, dt=H, contact=Impulse(ground=ground, tolerance=1e-13))
    force, slip = np.linalg.norm(run.contact_force[0], axis=-1), run.contact_slip[0]
    sides = ["open" if f == 0 else "slide" if s > 1e-6 else "stick" for f, s in zip(force, slip, strict=True)]
    assert what in sides if what != "mixed" else sides == ["slide", "stick", "open"]
    dense = densely(model, q, v, tau, ground.friction or 0.8, sides)
    assert worst(model.nv, found[2:], dense) <= 1e-10


def test_contact_on_a_ball_with_bounces() -> None:
    """The normal turns with the place, and a foot that hits bounces by the velocity before."""
    model = monopod()
    q, v, tau = standing(model)
    q[2] += 0.0165
    ball = Sphere(center=(0.0, 0.0, -2.0 + 0.02), radius=2.0, friction=0.6, restitution=0.5)
    v[2] = -0.5
    _, run = compared(model, q, v, tau, dt=H, contact=Impulse(ground=ball, tolerance=1e-13))
    assert np.linalg.norm(run.contact_force[0], axis=-1).max() > 0


@pytest.mark.filterwarnings("ignore:joints begin beyond")
@pytest.mark.parametrize("contact", [None, Impulse(ground=HIGH, tolerance=1e-13)], ids=["alone", "with contact"])
@pytest.mark.parametrize("beyond", [-1e-3, 1e-3])
def test_limits_of_joints_that_act(contact: Any, beyond: float) -> None:
    model = monopod(limits=fw.Limits(-0.9, 2.0))
    q, v, tau = standing(model)
    q[8], v[7] = -0.9 - beyond, -3.0
    (_, v_after, _, _), _ = compared(model, q, v, tau, dt=H, contact=contact)
    assert v_after[7] > -3.0 + 1.0  # it was stopped


@pytest.mark.parametrize("presliding", [0.0, 0.01])
def test_dry_friction_as_rows_that_hold_or_slip(presliding: float) -> None:
    model = monopod(friction=0.3)
    q, v, tau = standing(model)
    v[6:] = 1.0, 0.0  # the hip slips, the knee is held
    q[2] += 0.5
    contact = Impulse(ground=HIGH, tolerance=1e-13, dry_friction="rows", presliding=presliding)
    compared(model, q, v, tau, dt=H, contact=contact)


def test_dry_friction_as_damping() -> None:
    model = monopod(friction=0.3)
    q, v, tau = standing(model)
    compared(model, q, v + 0.1, tau, dt=H, contact=Impulse(ground=HIGH, tolerance=1e-13))


def test_springs_and_dampers_at_contacts() -> None:
    model = monopod()
    q, v, tau = standing(model)
    q[2] -= 1e-3
    compared(model, q, v, tau, dt=H / 4, contact=SpringDamper(stiffness=5e3, damping=50.0, ground=HIGH))


@pytest.mark.parametrize("integrator", ["rk4", "variational"])
def test_springs_and_dampers_in_other_steps(integrator: str) -> None:
    contact = SpringDamper(stiffness=5e3, damping=50.0, ground=HIGH)
    compared(*hopper(), dt=H / 4, contact=contact, integrator=integrator)


@pytest.mark.parametrize("ground", [LOW, HIGH], ids=["slides", "sticks"])
def test_a_variational_step_with_impulses_at_its_end(ground: Plane) -> None:
    _, run = compared(*hopper(), dt=H, contact=Impulse(ground=ground, tolerance=1e-13), integrator="variational")
    assert np.linalg.norm(run.contact_force[0], axis=-1).max() > 0


def test_free_flight_by_every_integrator() -> None:
    model, q, v, tau = hopper()
    for integrator in ("semi_implicit", "rk4", "variational"):
        compared(model, q, v, tau, dt=H, integrator=integrator)


def test_a_box_on_more_points_than_it_needs_moves_as_on_three() -> None:
    """Impulses are not unique there; velocities are, as long as all points stick."""
    found = []
    for corners in (4, 3):
        box = fw.Builder("box").add_body("box", joint=Free(), inertia=fw.Inertia.box(2.0, (0.4, 0.3, 0.2)))
        for k, (x, y) in enumerate([(-0.2, -0.15), (0.2, -0.15), (0.0, 0.15), (0.1, 0.1)][:corners]):
            box.add_contact_point(f"corner {k}", parent="box", position=(x, y, -0.1))
        model = box.build()
        q = model.neutral()
        q[2] = 0.1 - 1e-4
        contact = Impulse(ground=HIGH, tolerance=1e-11)
        found.append(fw.linearize(model, q, [0.0, 0.0, -0.1, 0.0, 0.0, 0.0], dt=H, contact=contact))
    for four, three in zip(*found, strict=True):
        assert np.abs(four - three).max() <= 1e-8 * np.abs(three).max() + 1e-10


def test_controllers_close_the_loop() -> None:
    model, q, v, _ = hopper()
    gains = np.array([3.0, 0.2])

    def follow(t: Any, q: Any, v: Any, x: Any, p: Any) -> Any:
        return [0.0, 0.0, -p[0] * q[2] - p[1] * v[2] + x[0]], x

    contact = Impulse(ground=HIGH, tolerance=1e-13)
    control = fw.compiled(follow, state=np.array([0.4]), parameters=gains)
    closed = fw.linearize(model, q, v, dt=H, contact=contact, control=control)
    tau = np.array([0.0, 0.0, -gains @ [q[2], v[2]] + 0.4])
    opened = fw.linearize(model, q, v, tau, dt=H, contact=contact)
    feedback = np.zeros((3, 6))
    feedback[2, [2, 5]] = -gains
    assert np.allclose(closed.v, opened.v, rtol=0, atol=1e-13)
    assert np.allclose(closed.B, opened.B, rtol=1e-9, atol=1e-12)
    assert np.allclose(closed.A, opened.A + opened.B @ feedback, rtol=0, atol=1e-9)
    other = fw.linearize(model, q, v, dt=H, contact=contact, control=control, state={"x": [1.4]})
    assert abs(other.v[2] - closed.v[2]) > 1e-3


def test_batches_have_the_bits_of_single_states() -> None:
    model, q, v, tau = hopper()
    options: dict[str, Any] = {"dt": H, "contact": Impulse(ground=LOW)}
    Q, V = np.tile(q, (20, 1)), v + 0.1 * np.random.default_rng(1).normal(size=(20, 3))
    many = fw.linearize(model, Q, V, tau, **options)
    assert (many.A.shape, many.B.shape) == ((20, 6, 6), (20, 6, 3))
    for k in (0, 7, 19):
        one = fw.linearize(model, Q[k], V[k], tau, **options)
        assert all(np.array_equal(x, y[k]) for x, y in zip(one, many, strict=True))


def test_what_cannot_be_linearised_says_so() -> None:
    model, q, v, tau = hopper()
    with pytest.raises(TypeError, match=r"control: expected a controller made by featherweight\.compiled"):
        fw.linearize(model, q, v, dt=H, control=lambda t, q, v: tau)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="state: this step has no 'y'"):
        fw.linearize(model, q, v, dt=H, state={"y": 0.0})
    with pytest.raises(TypeError, match="state: expected a dictionary"):
        fw.linearize(model, q, v, dt=H, state=[0.0])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="dt: expected a time step > 0"):
        fw.linearize(model, q, v, dt=-1.0)
    with pytest.raises(ValueError, match="q: expected shape"):
        fw.linearize(model, q[:2], v, dt=H)
    with pytest.raises(ValueError, match="cannot be made from there"):
        fw.linearize(model, q, v * 1e200, dt=H)


def test_rotors_mimic_and_turning_axes_on_the_ground() -> None:
    """What the analytic derivatives of the equation of motion know of: spinning rotors, coordinates that joints share,
    axes that turn in their body, joints with several; all pushed by contacts."""
    build = fw.Builder("crawler")
    build.add_body("base", joint=Free(), inertia=fw.Inertia.box(3.0, (0.3, 0.2, 0.1), at=(0.01, 0.0, 0.02)))
    shin = fw.Inertia.box(0.4, (0.03, 0.03, 0.2), at=(0, 0, -0.1))
    rotor = fw.Rotor(9.0, fw.Inertia.sphere(0.1, 0.02))
    build.add_body("hip", parent="base", joint=fw.joints.Universal(), placement=at((0.1, 0.1, 0)), inertia=shin)
    build.add_body("knee", parent="hip", joint=Revolute("y"), placement=at((0, 0, -0.2)), inertia=shin, rotor=rotor)
    follower = fw.joints.Mimic(Revolute("y"), "knee_joint", -0.5, 0.1)
    build.add_body("toe", parent="knee", joint=follower, placement=at((0, 0, -0.1)), inertia=fw.Inertia.point(0.1))
    build.add_body("ball", parent="base", joint=fw.joints.Spherical(), placement=at((-0.1, 0, 0)), inertia=shin)
    build.add_contact_point("toe", parent="toe", position=(0.02, 0, -0.1), radius=RADIUS)
    model = build.add_contact_point("end", parent="ball", position=(0, 0.02, -0.3)).build()
    rng = np.random.default_rng(6)
    q = fw.integrate(model, model.neutral(), 0.1 * rng.normal(size=model.nv), 1.0)
    places = contact_places(model, fw.forward_kinematics(model, q))
    q[2] -= max(places[0, 2] - RADIUS, places[1, 2]) + 1e-4
    v, tau = 0.3 * rng.normal(size=model.nv), rng.normal(size=model.nv)
    _, run = compared(model, q, v, tau, dt=H, contact=Impulse(ground=MIDDLE, tolerance=1e-13))
    assert (np.linalg.norm(run.contact_force[0], axis=-1) > 0).any()
