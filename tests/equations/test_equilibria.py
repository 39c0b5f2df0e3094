"""Equilibria: all of them, their stability, and intervals that contain what they must; linearisation."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

import featherweight as fw
from equations.mechanisms import cartpole, double_pendulum, planar_arm, top
from featherweight import equations
from featherweight.equations import JointDamper, JointSpring, interval
from featherweight.equations.equilibria import _krawczyk, _search
from featherweight.equations.interval import Enclosure

VALUES = {"m_c": 1.0, "m_p": 0.1, "L": 0.5, "g": 9.81, "I_p": 0.0, "k_x": 3.0}
METHODS = (equations.newton_euler, equations.projected_newton_euler, equations.lagrange)


def sprung(method=equations.lagrange, *more):
    k_x, k_theta = sympy.symbols("k_x k_theta", positive=True)
    elements = [JointSpring("rail", k_x), JointSpring("hinge", k_theta), *more]
    return method(cartpole(), coordinates=("x", "theta"), forces=elements)


def angles(found, ratio: float, reach: float = 10.0):
    box = {"x": (-2, 2), "theta": (-reach, reach)}
    return found.equilibria(box, parameters={**VALUES, "k_theta": ratio * 0.1 * 9.81 * 0.5})


@pytest.mark.parametrize("method", METHODS, ids=lambda f: f.__name__)
@pytest.mark.parametrize(("ratio", "pairs"), [(0.05, 3), (0.2, 2), (0.217, 2), (0.2174, 0), (0.5, 0)])
def test_spring_ratios_on_both_sides_of_0_2172(method, ratio: float, pairs: int) -> None:
    """sin θ = -κ θ: one more pair on each side in (π, 2π) below 0.217234; the pair in (3π, 4π) needs κ < 0.091325,
    and of it only the one nearer to 3π is within 10."""
    found = angles(sprung(method), ratio)
    theta = np.array([e.q[1] for e in found])
    assert len(found) == 1 + 2 * pairs
    assert all(e.proven and abs(e.q[0]) < 1e-12 for e in found)
    assert np.abs(np.sin(theta) + ratio * theta).max() < 1e-12
    for e in found:
        assert e.stability == ("stable" if math.cos(e.q[1]) + ratio > 0 else "unstable")
    assert found[len(found) // 2].stability == "stable"  # hanging


def test_upright_is_no_equilibrium_with_a_torsion_spring() -> None:
    assert all(abs(abs(e.q[1]) - math.pi) > 0.01 for e in angles(sprung(), 0.1))


def test_all_pairs_further_out() -> None:
    """Below 0.057972 the third pair appears, in (5π, 6π)."""
    assert len(angles(sprung(), 0.0575, reach=19.0)) == 1 + 2 * 6
    assert len(angles(sprung(), 0.0585, reach=19.0)) == 1 + 2 * 4


def test_where_two_equilibria_meet_it_says_so() -> None:
    double = -math.sin(4.493409457909064) / 4.493409457909064
    found = angles(sprung(), double)
    assert any(not e.proven and e.stability == "undecided" for e in found)


def test_damping_makes_it_asymptotic() -> None:
    damped = sprung(equations.lagrange, JointDamper("hinge", 0.1), JointDamper("rail", 0.1))
    assert {e.stability for e in angles(damped, 0.1)} == {"asymptotically stable", "unstable"}


def test_a_coordinate_that_nothing_depends_on_is_free() -> None:
    found = equations.lagrange(cartpole(), coordinates=("x", "theta")).equilibria(
        {"theta": (-4, 4)}, parameters={k: v for k, v in VALUES.items() if k != "k_x"}
    )
    assert [round(e.q[1], 6) for e in found] == [-3.141593, 0, 3.141593]
    assert [e.stability for e in found] == ["unstable", "stable", "unstable"]
    assert all(e.free == ("x",) for e in found)


def test_the_four_equilibria_of_a_double_pendulum() -> None:
    model = double_pendulum().with_values({"m1": 1.0, "m2": 2.0, "l1": 1.0, "l2": 0.7, "g": 9.81})
    found = equations.projected_newton_euler(model).equilibria({"q1": (-1, 4), "q2": (-1, 4)})
    assert len(found) == 4
    assert [e.stability for e in found].count("stable") == 1


def test_equilibria_of_three_links() -> None:
    model = planar_arm().with_values({s: 1.0 for s in planar_arm().symbols})
    found = equations.lagrange(model).equilibria({f"q{k}": (-1.5, 4.0) for k in (1, 2, 3)})
    assert len(found) == 8


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda e: e.equilibria({"theta": (0, 1)}, parameters={}), "no value for I_p, L"),
        (lambda e: e.equilibria({"theta": (0, 1)}, parameters={**VALUES, "k_theta": 1}), "no bounds for x"),
        (lambda e: e.equilibria({"y": (0, 1)}, parameters={**VALUES, "k_theta": 1}), "no coordinate y"),
        (lambda e: e.equilibria({"x": (1, 0), "theta": (0, 1)}, parameters={**VALUES, "k_theta": 1}), "in order"),
    ],
)
def test_what_is_missing_is_named(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call(sprung())


def test_not_for_quaternions() -> None:
    with pytest.raises(ValueError, match="not for quaternions"):
        equations.lagrange(top()).equilibria({"q1": (-1, 1)})


# ---- linearisation


def test_linearised_pendulum() -> None:
    m, L, g = sympy.symbols("m L g", positive=True)
    found = equations.newton_euler(fw.robots.pendulum(mass=m, length=L, gravity=g))
    A, B = found.linearize([0], [0])
    assert sympy.Matrix([[0, 1], [-g / L, 0]]) == A
    assert sympy.Matrix([[0], [1 / (m * L**2)]]) == B
    assert found.linearize([sympy.pi], [0])[0] == sympy.Matrix([[0, 1], [g / L, 0]])


@pytest.mark.parametrize("method", METHODS, ids=lambda f: f.__name__)
def test_linearised_about_a_moving_state(method) -> None:
    """Against differences of the compiled accelerations, with motors on."""
    model = planar_arm(4).with_values({s: 0.8 for s in planar_arm(4).symbols})
    q, v, tau = np.random.default_rng(0).normal(size=(3, 4))
    A, B = method(model).linearize(q, v, inputs={f"tau{k + 1}": x for k, x in enumerate(tau)})
    A, B = (np.array(matrix.tolist(), dtype=float) for matrix in (A, B))

    def derivative(k: int, h: float = 1e-6) -> np.ndarray:
        x = np.concatenate([q, v, tau])
        ends = [x + s * h * np.eye(12)[k] for s in (1, -1)]
        plus, minus = (fw.forward_dynamics(model, *np.split(e, 3)) for e in ends)
        return (plus - minus) / (2 * h)

    right = np.array([derivative(k) for k in range(12)]).T
    assert np.abs(np.hstack([A[4:], B[4:]]) - right).max() < 1e-7 * np.abs(right).max()
    assert (A[:4] == np.hstack([np.zeros((4, 4)), np.eye(4)])).all()


# ---- intervals

numbers = st.floats(-20, 20)
spans = st.tuples(numbers, numbers).map(lambda x: Enclosure(min(x), max(x)))


@given(spans, spans, st.floats(0, 1), st.floats(0, 1))
def test_results_of_numbers_inside_are_inside(a: Enclosure, b: Enclosure, s: float, t: float) -> None:
    x, y = (i.low + u * (i.high - i.low) for i, u in ((a, s), (b, t)))
    x, y = min(max(x, a.low), a.high), min(max(y, b.low), b.high)
    assert x + y in a + b
    assert x - y in a - b
    assert x * y in a * b
    assert math.sin(x) in interval.sin(a)
    assert math.cos(x) in interval.cos(a)
    assert abs(x) in interval.absolute(a)
    assert np.sign(x) in interval.sign(a)
    if a.low >= 0:
        assert math.sqrt(x) in interval.sqrt(a)
    if y != 0:
        assert x / y in a / b


def test_krawczyks_test_encloses_what_the_force_may_be() -> None:
    """K = m - Y F(m) + (1 - Y J)(box - m), by hand; an uncertain F(m) makes it as wide as that."""
    box, middle = [Enclosure(-1.0, 1.0), Enclosure(0.0, 4.0)], [0.0, 2.0]
    J_m = np.array([[2.0, 0.0], [0.0, 4.0]])
    J = [[Enclosure(1.0, 3.0), Enclosure(0.0, 0.0)], [Enclosure(-0.4, 0.4), Enclosure(4.0, 4.0)]]
    F = [Enclosure(0.2, 0.6), Enclosure(-0.8, -0.8)]
    K = _krawczyk(box, middle, F, J, J_m)
    assert K is not None
    # Y F = ((0.1 … 0.3), -0.2); 1 - Y J = ((-0.5 … 0.5, 0), (-0.1 … 0.1, 0)); box - m = (±1, ±2)
    for got, (low, high) in zip(K, ((-0.3 - 0.5, -0.1 + 0.5), (2.2 - 0.1, 2.2 + 0.1)), strict=True):
        assert got.low <= low <= got.low + 1e-14
        assert got.high - 1e-14 <= high <= got.high
    assert _krawczyk(box, middle, F, J, np.zeros((2, 2))) is None


def test_a_force_that_is_lost_in_rounding_is_not_taken_for_a_proof(monkeypatch) -> None:
    """(1e16 + θ) - 1e16 is 0 in floats at θ = 1, far from its root: intervals know that they do not know."""
    monkeypatch.setattr(equations.equilibria, "MOST_BOXES", 100)
    theta = sympy.Symbol("theta", real=True)
    force = sympy.Add(sympy.Add(sympy.Integer(10) ** 16, theta, evaluate=False), -(10**16), evaluate=False)
    with pytest.raises(ValueError, match="equilibria: not done after 100 boxes"):
        _search([force], [theta], [Enclosure(0.2, 1.8)])


def test_values_for_symbols_that_are_not_there_are_refused() -> None:
    """A name with a slip of the pen must not leave the default in place."""
    found, values = sprung(), {**VALUES, "k_theta": 1.0}
    box = {"x": (-1, 1), "theta": (-4, 4)}
    with pytest.raises(ValueError, match=r"equilibria: there is no symbol m_q; there are .*m_c"):
        found.equilibria(box, parameters={**values, "m_q": 1.0})
    with pytest.raises(ValueError, match=r"equilibria: there is no symbol tau_y; there are .*tau_x"):
        found.equilibria(box, parameters=values, inputs={"tau_y": 1.0})
