"""The three derivations: the textbook's results, equal to each other, and to the compiled algorithms."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import sympy

import featherweight as fw
from equations.mechanisms import NUMERIC, SYMBOLIC, I_p, L, cartpole, g, m_c, m_p, planar_arm
from featherweight import equations
from featherweight.equations.expressions import Rate, Substitution

METHODS = (equations.newton_euler, equations.projected_newton_euler, equations.lagrange)
methods = pytest.mark.parametrize("method", METHODS, ids=lambda f: f.__name__)
STATES = 1000


@functools.cache
def derived_of(name: str, method) -> equations.Equations:
    """The equations of one of the mechanisms, derived once."""
    return method((SYMBOLIC | NUMERIC)[name]())


def vanishes(e: sympy.Expr) -> bool:
    """By SymPy's own simplification, not ours."""
    return sympy.simplify(e) == 0


# ---- the cart-pole of the theory


@methods
def test_cartpole_is_the_textbooks(method) -> None:
    found = method(cartpole(), coordinates=("x", "theta"))
    _x, theta = found.q
    theta_dot = found.v[1]
    M = sympy.Matrix([[m_c + m_p, m_p * L * sympy.cos(theta)], [m_p * L * sympy.cos(theta), m_p * L**2 + I_p]])
    b = sympy.Matrix([-m_p * L * theta_dot**2 * sympy.sin(theta), 0])
    gravity = sympy.Matrix([0, m_p * g * L * sympy.sin(theta)])
    for name, right in (("M", M), ("b", b), ("g", gravity), ("tau", sympy.Matrix(found.inputs))):
        assert all(map(vanishes, getattr(found, name) - right)), name
    assert found.simplified().M == M
    assert found.simplified().b == b
    assert found.simplified().g == gravity
    assert [str(s) for s in found.inputs] == ["tau_x", "tau_theta"]
    determinant = m_p * L**2 * (m_c + m_p * sympy.sin(theta) ** 2) + I_p * (m_c + m_p)
    assert vanishes(found.M.det() - determinant)


@methods
def test_cartpole_with_a_point_mass(method) -> None:
    model = fw.robots.cartpole(cart_mass=m_c, pole_mass=m_p, length=L, gravity=g)
    assert method(model).simplified().M[1, 1] == m_p * L**2


def test_energies_and_coriolis_matrix_of_the_cartpole() -> None:
    found = equations.lagrange(cartpole(), coordinates=("x", "theta"))
    (_, theta), (x_dot, theta_dot) = found.q, found.v
    T = (m_c + m_p) * x_dot**2 / 2 + m_p * L * x_dot * theta_dot * sympy.cos(theta)
    assert vanishes(found.T - T - (m_p * L**2 + I_p) * theta_dot**2 / 2)
    assert vanishes(found.U + m_p * g * L * sympy.cos(theta))


@pytest.mark.parametrize("name", ["cartpole", "double_pendulum", "planar_arm", "skew_arm", "top", "free_body"])
def test_the_rate_of_the_mass_matrix_less_two_C_is_skew(name: str) -> None:
    found = equations.lagrange(SYMBOLIC[name]())
    rate = found.M.applyfunc(found.mechanism.time) - 2 * found.C
    ring = found.mechanism.ring
    assert all(ring.equal(a, b) for a, b in zip(rate, -rate.T, strict=True))
    assert all(ring.equal(a, b) for a, b in zip(found.C * found.v, found.b, strict=True))


def test_steiners_theorem_comes_with_the_inertia() -> None:
    """A rod about its end: m l²/3, from its moment about the middle."""
    rod = fw.Inertia.rod(m_p, L, at=(0, 0, -L / 2))
    model = fw.Builder("rod").add_body("rod", joint=fw.joints.Revolute("y"), inertia=rod).build()
    for method in METHODS:
        assert vanishes(method(model).M[0, 0] - m_p * L**2 / 3)


def test_links_that_are_welded_together_move_as_one() -> None:
    builder = fw.Builder("welded", gravity=(0, 0, -g))
    builder.add_body("arm", joint=fw.joints.Revolute("y"), inertia=fw.Inertia.point(m_c, (0, 0, -L)))
    builder.add_body("tip", parent="arm", placement=fw.Placement((0, 0, -2 * L)), inertia=fw.Inertia.point(m_p))
    for method in METHODS:
        found = method(builder.build()).simplified()
        assert vanishes(found.M[0, 0] - (m_c + 4 * m_p) * L**2)
        assert vanishes(found.g[0] - (m_c + 2 * m_p) * g * L * sympy.sin(found.q[0]))


# ---- equal to each other


@pytest.mark.parametrize("name", SYMBOLIC)
def test_the_three_agree_symbol_by_symbol(name: str) -> None:
    first, *others = [derived_of(name, method) for method in METHODS]
    for other in others:
        found = equations.agreement(first, other)
        assert found.symbolic is True
        assert found.largest < 1e-12


@pytest.mark.parametrize("name", ["pendulum", "cartpole", "double_pendulum"])
def test_the_normal_form_is_right_in_sympys_eyes(name: str) -> None:
    """What simplified() says is equal is equal for SymPy: an independent judge of the small ones."""
    derived = derived_of(name, equations.projected_newton_euler)
    short = derived.simplified()
    for part in ("M", "b", "g"):
        assert all(map(vanishes, getattr(derived, part) - getattr(short, part)))


@methods
@pytest.mark.parametrize("name", ["top", "free_body"])
def test_the_normal_form_is_right_in_exact_numbers(name: str, method) -> None:
    """With quaternions SymPy takes long: rational states and parameters must give the same fractions."""
    derived = derived_of(name, method)
    short = derived.simplified()
    half, fifth = sympy.Rational(1, 2), sympy.Rational(1, 5)
    for quaternion in ((half, half, -half, half), (fifth, 2 * fifth, 2 * fifth, 4 * fifth)):
        values = {s: sympy.Rational(k + 3, 2 * k + 5) for k, s in enumerate((*derived.parameters, *derived.v))}
        values |= dict(zip(derived.q, (3, -2, 5, *quaternion)[-len(derived.q) :], strict=True))
        for part in ("M", "b", "g"):
            exact = Substitution(values)
            assert getattr(derived, part).applyfunc(exact) == getattr(short, part).applyfunc(exact)


# ---- equal to the compiled algorithms


def _numeric(model: fw.Model) -> tuple[fw.Model, dict[str, float]]:
    rng = np.random.default_rng(5)
    values = {name: float(rng.uniform(0.5, 1.5)) for name in model.symbols}
    return (model.with_values(values) if values else model), values


@methods
@pytest.mark.parametrize("name", [*SYMBOLIC, *NUMERIC])
def test_numbers_agree_with_the_compiled_algorithms(name: str, method) -> None:
    model = (SYMBOLIC | NUMERIC)[name]()
    numeric, values = _numeric(model)
    rng = np.random.default_rng(7)
    q = np.array([numeric.random(rng) for _ in range(STATES)])
    v = rng.normal(size=(STATES, numeric.nv))
    found = derived_of(name, method)
    M, b, gravity, tau = found.lambdify()(q, v, **{n: values[n] for n in values if n in map(str, found.parameters)})

    def close(x: np.ndarray, y: np.ndarray) -> None:
        assert np.abs(x - y).max() <= 1e-12 * max(1.0, np.abs(y).max())

    close(M, fw.mass_matrix(numeric, q))
    close(gravity, fw.gravity_force(numeric, q))
    close(b + gravity, fw.bias_force(numeric, q, v))
    close(tau, fw.passive_force(numeric, q, v))


def test_compiled_accelerations_are_those_of_forward_dynamics() -> None:
    model = planar_arm(4)
    numeric, values = _numeric(model)
    rng = np.random.default_rng(3)
    q, v, tau = rng.normal(size=(3, 100, 4))
    f = equations.lagrange(model).lambdify("a")
    a = f(q, v, **values, **{f"tau{k + 1}": tau[:, k] for k in range(4)})
    right = fw.forward_dynamics(numeric, q, v, tau)
    assert np.abs(a - right).max() <= 1e-10 * np.abs(right).max()


def test_mimic_joints_move_with_their_leader() -> None:
    builder = fw.Builder("gripper")
    builder.add_body("left", joint=fw.joints.Revolute("y"), inertia=fw.Inertia.rod(1.0, 0.4, at=(0, 0, 0.2)))
    follower = fw.joints.Mimic(fw.joints.Revolute("y"), "left_joint", ratio=-0.5, offset=0.3)
    builder.add_body(
        "right",
        parent="left",
        joint=follower,
        placement=fw.Placement((0.1, 0, 0.4)),
        inertia=fw.Inertia.rod(1.0, 0.4, at=(0, 0, 0.2)),
    )
    model = builder.build()
    q, v = np.array([[0.3], [1.1]]), np.array([[2.0], [-1.0]])
    for method in METHODS:
        M, b, gravity, _ = method(model).lambdify()(q, v)
        assert np.allclose(M, fw.mass_matrix(model, q), rtol=1e-12)
        assert np.allclose(b + gravity, fw.bias_force(model, q, v), rtol=1e-12)


def test_declared_parameters_become_symbols() -> None:
    arm = (
        fw.Builder("arm", parameters=("upper.mass", "upper.com", "upper.moment", "gravity", "shoulder.damping"))
        .add_body(
            "upper",
            joint=fw.joints.Revolute("y"),
            joint_name="shoulder",
            inertia=fw.Inertia(2.0, (0.0, 0.0, -0.3), (0.1, 0.2, 0.15)),
            damping=0.7,
        )
        .build()
    )
    found = equations.lagrange(arm).simplified()
    assert {str(s) for s in found.parameters} == {"m_upper", "c_upper_z", "I_upper_yy", "g_z", "d_shoulder"}
    M, _b, gravity, tau = found.lambdify()([0.4], [1.5])
    assert np.allclose(M, fw.mass_matrix(arm, [0.4]))
    assert np.allclose(gravity, fw.gravity_force(arm, [0.4]))
    assert np.allclose(tau, fw.passive_force(arm, [0.4], [1.5]))
    heavier = found.lambdify("M")([0.4], [0.0], m_upper=3.0)
    assert np.allclose(heavier, fw.mass_matrix(arm, [0.4], parameters={"upper.mass": 3.0}))


def test_rate_of_shared_pieces_is_the_derivative() -> None:
    x, y = sympy.symbols("x y", real=True)
    e = sympy.sin(x * y) ** 3 / sympy.sqrt(1 + x**2) + sympy.atan2(x, y) + sympy.Abs(x + 3)
    assert vanishes(Rate({x: 1})(e) - e.diff(x))
