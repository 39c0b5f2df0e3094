"""Forces, moments, motors, springs and dampers in every method; constraint forces and Newton's law."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

import featherweight as fw
from equations.mechanisms import L, cartpole, double_pendulum, floating_leg, free_body, g, m_c, m_p, six_axes, skew_arm
from featherweight import equations
from featherweight.equations import Damper, Force, JointDamper, JointSpring, Moment, Spring
from featherweight.equations.expressions import Rate

METHODS = (equations.newton_euler, equations.projected_newton_euler, equations.lagrange)
methods = pytest.mark.parametrize("method", METHODS, ids=lambda f: f.__name__)
k_x, k_theta, F, d, k = sympy.symbols("k_x k_theta F d k", positive=True)


@methods
def test_cartpole_with_motor_wall_spring_and_torsion_spring(method) -> None:
    springs = [JointSpring("rail", k_x, 1), JointSpring("hinge", k_theta), JointDamper("hinge", d)]
    found = method(cartpole(), coordinates=("x", "theta"), motors={"rail": F}, forces=springs).simplified()
    (x, theta), (_, theta_dot) = found.q, found.v
    right = [F - k_x * (x - 1), -k_theta * theta - d * theta_dot]
    assert all(sympy.expand(a - b) == 0 for a, b in zip(found.tau, right, strict=True))
    assert found.inputs == (F,)
    assert found.g[1] == m_p * g * L * sympy.sin(theta)  # gravity alone


def test_a_force_at_the_bob_by_hand() -> None:
    """τ = J_Pᵀ F with the bob at (x + L sin θ, -L cos θ)."""
    force = sympy.symbols("f_x f_y f_z", real=True)
    for method in METHODS:
        found = method(cartpole(), motors=(), forces=[Force(("pole", (0, 0, -L)), force)]).simplified()
        theta = found.q[1]
        along = L * (force[0] * sympy.cos(theta) + force[2] * sympy.sin(theta))
        assert sympy.expand(found.tau[0] - force[0]) == 0
        assert sympy.expand(found.tau[1] - along) == 0


ELEMENTS = {
    "force in the world": [Force("lower", (1, 2, 3))],
    "force in the body": [Force(("lower", (0.5, 0, -1)), (k, 0, d), in_="body")],
    "moment": [Moment("lower", (0, k, 0)), Moment("upper", (0, 0.5, 0), in_="body")],
    "spring to the world": [Spring(("lower", (0, 0, -1)), ("world", (1, 0, -0.5)), k, 0.7)],
    "spring without length": [Spring(("lower", (0, 0, -1)), ("world", (1, 0, -0.5)), k)],
    "spring between bodies": [Spring(("lower", (0.3, 0, -1)), ("upper", (0.2, 0, -0.3)), 30, 0.2)],
    "damper": [Damper(("lower", (0.3, 0, -1)), ("upper", (0.2, 0, -0.3)), d)],
    "damper to the world": [Damper(("lower", (0, 0, -1)), ("world", (1, 0, -0.5)), d)],
}


@pytest.mark.parametrize("name", ELEMENTS)
def test_the_three_agree_on_what_acts(name: str) -> None:
    first, *others = [method(double_pendulum(), forces=ELEMENTS[name]) for method in METHODS]
    assert first.tau != sympy.Matrix(first.inputs)
    for other in others:
        found = equations.agreement(first, other)
        assert found.symbolic is True
        assert found.largest < 1e-12


@pytest.mark.parametrize(("build", "bodies"), [(skew_arm, ("second", "first")), (free_body, ("body", "world"))])
def test_the_three_agree_in_space(build, bodies: tuple[str, str]) -> None:
    """On a skew arm and on a free body, with everything at once."""
    a, b = bodies
    elements = [
        Force((a, (0.1, 0.2, 0.3)), (1, -2, 0.5), in_="body"),
        Moment(a, (0.3, 0.2, 0.1)),
        Spring((a, (0.1, 0.2, 0.3)), (b, (0.2, 0.1, 0.4)), 20, 0.3),
        Damper((a, (0, 0.2, 0.3)), ("world", (1, 1, 1)), 3),
    ]
    first, *others = [method(build(), forces=elements) for method in METHODS]
    for other in others:
        assert equations.agreement(first, other).largest < 1e-12


def test_damping_matrix_is_J_transposed_d_J() -> None:
    """Both ways: projected, and as the second derivative of Rayleigh's dissipation."""
    elements = [Damper(("lower", (0, 0, -1)), ("world", (1, 0, -0.5)), d), JointDamper("shoulder", k)]
    projected, energy = (method(double_pendulum(), forces=elements) for method in METHODS[1:])
    ring = projected.mechanism.ring
    assert all(ring.equal(a, b) for a, b in zip(projected.D, energy.D, strict=True))
    assert all(ring.equal(a, b) for a, b in zip(projected.D, projected.D.T, strict=True))
    still = projected.tau.subs(dict.fromkeys(projected.v, 0))
    rest = projected.tau - still + projected.D * projected.v
    assert all(ring.equal(e, sympy.S.Zero) for e in rest)


@pytest.mark.parametrize("motors", ["all", (), ("hinge",)])
def test_motors_by_name(motors) -> None:
    found = equations.lagrange(cartpole(), motors=motors)
    expected = {"all": ["tau1", "tau2"], (): [], ("hinge",): ["tau2"]}[motors]
    assert [str(s) for s in found.inputs] == expected


# ---- constraint forces


def test_constraint_forces_satisfy_newtons_law_for_each_cut_body() -> None:
    found = equations.newton_euler(cartpole(), coordinates=("x", "theta"))
    (x, theta), (x_dot, theta_dot), (tau_x, _) = found.q, found.v, found.inputs
    a = dict(zip(found.v, found.acceleration, strict=True))
    time = Rate({x: x_dot, theta: theta_dot, **a})
    bob = sympy.Matrix([x + L * sympy.sin(theta), 0, -L * sympy.cos(theta)])
    weight = sympy.Matrix([0, 0, -g])
    hinge, rail = found.constraint_forces["hinge"][:3, 0], found.constraint_forces["rail"][:3, 0]
    pole = m_p * bob.applyfunc(lambda e: time(time(e))) - hinge - m_p * weight
    cart = m_c * sympy.Matrix([a[x_dot], 0, 0]) - rail - sympy.Matrix([tau_x, 0, 0]) + hinge - m_c * weight
    assert all(sympy.simplify(e) == 0 for e in (*pole, *cart))
    assert found.constraint_forces["rail"][0] == 0  # what acts along the rail is no reaction
    assert found.constraint_forces["hinge"][4] == 0


def test_tension_of_a_pendulum() -> None:
    """m v²/l + m g cos θ, along the rod."""
    model = fw.robots.pendulum(mass=m_p, length=L, gravity=g)
    found = equations.newton_euler(model, motors=())
    theta, theta_dot = found.q[0], found.v[0]
    force = found.constraint_forces["hinge"]
    inward = force[0] * sympy.sin(theta) + force[2] * sympy.cos(theta)
    assert sympy.simplify(inward - m_p * (L * theta_dot**2 + g * sympy.cos(theta))) == 0


@pytest.mark.parametrize("build", [six_axes, floating_leg])
def test_constraint_forces_are_those_of_the_compiled_algorithm(build) -> None:
    model = build()
    found = equations.newton_euler(model, motors=())
    rng = np.random.default_rng(2)
    q, v = model.random(rng), rng.normal(size=model.nv)
    passive = fw.passive_force(model, q, v)
    a = fw.forward_dynamics(model, q, v, passive)
    whole = fw.joint_wrenches(model, q, v, a)
    rotation = fw.forward_kinematics(model, q).rotation
    values = dict(zip((*found.q, *found.v), (*q, *v), strict=True))
    from featherweight.equations.expressions import Evaluation

    value = Evaluation(values)
    for joint in model.joints:
        i = joint.body
        force, moment = (rotation[i] @ part for part in (whole[i, :3], whole[i, 3:]))
        mine = np.array([float(value(e)) for e in found.constraint_forces[joint.name]])
        rest = np.concatenate([force, moment]) - mine  # what the joint passes on along its freedoms
        turning = [s for s in found.mechanism.subspace[i] if any(s.angular)]
        sliding = [s for s in found.mechanism.subspace[i] if not any(s.angular)]
        for part, columns in ((rest[3:], [s.angular for s in turning]), (rest[:3], [s.linear for s in sliding])):
            basis = np.array([[float(value(e)) for e in c] for c in columns]).reshape(-1, 3)
            left = part - basis.T @ np.linalg.lstsq(basis.T, part, rcond=None)[0] if len(basis) else part
            assert np.abs(left).max() < 1e-10 * max(1.0, np.abs(whole[i]).max())
        for s in found.mechanism.subspace[i]:
            freedom = np.array([float(value(e)) for e in (*s.linear, *s.angular)])
            if joint.spin is None and not any(joint.armature):
                k = joint.v.start + found.mechanism.subspace[i].index(s)
                assert abs(freedom @ np.concatenate([force, moment]) - passive[k]) < 1e-9


def test_only_newton_euler_has_constraint_forces() -> None:
    with pytest.raises(AttributeError, match="newton_euler finds them"):
        _ = equations.lagrange(cartpole()).constraint_forces


def test_the_count_of_equations_and_unknowns() -> None:
    (count,) = (s.text for s in equations.newton_euler(cartpole()).steps if s.title == "Counting")
    assert count == "2 bodies have 12 equations. Unknown are 10 reactions and 2 accelerations: 12 in all."
