"""Rotations and rigid motions: exponentials, logarithms and Jacobians against series with 60 digits, any scalar."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from mpmath import mpf

from featherweight.compiler import Argument, Kernel
from featherweight.spatial import (
    Force,
    Matrix,
    Motion,
    Quaternion,
    Vector,
    exp_se2,
    exp_se3,
    exp_so3,
    groups,
    left_jacobian_se3,
    left_jacobian_se3_inverse,
    left_jacobian_so3,
    left_jacobian_so3_inverse,
    log_se2,
    log_se3,
    log_so3,
    right_jacobian_se3,
    right_jacobian_se3_inverse,
    right_jacobian_so3,
    right_jacobian_so3_inverse,
)

PI = math.pi
ROUND_TRIP = 4e-15
TINY = [0.0, 1e-300, 1e-200, 1e-160, 1e-100, 1e-20, 1e-10, 1e-8, 1e-6, 1e-4]
ANGLES = [*TINY, 0.1, 0.4899, 0.49, 1.0, 2.0, 2.999999, 3.0, 3.000001, PI - 1e-6, PI - 1e-12]
LONG = [PI, 3.5, 4.0, 5.0, 6.0, 2 * PI - 1e-9, 2 * PI, 7.0, 20.0]
BELOW_A_TURN = [0.0, 1e-200, 1e-8, 1e-3, 0.1, 0.5, 1.0, 2.0, 2.999999, 3.000001, PI - 1e-9, PI, 4.0, 5.0, 6.0]


def directions(count: int = 20) -> Iterator[Vector]:
    """Unit vectors: the axes, one along all, random ones."""
    rng = np.random.default_rng(0)
    for d in [*np.eye(3), -np.eye(3)[0], np.ones(3), [1, 1e-9, 0], *rng.normal(size=(count, 3))]:
        yield Vector(*(d / np.linalg.norm(d)).tolist())


def twists(angles: list[float]) -> Iterator[Motion]:
    """Twists of these angles, with linear parts from 1e-3 to 1e3."""
    rng = np.random.default_rng(1)
    for angle, d in product(angles, directions(8)):
        for size in (1e-3, 1.0, 1e3):
            yield Motion(d * angle, Vector(*(size * rng.normal(size=3)).tolist()))


def size(v: Any) -> float:
    """The largest entry."""
    return max(abs(float(e)) for e in flat(v))


def flat(x: Any) -> list[Any]:
    """All the numbers in nested tuples."""
    return [e for part in x for e in flat(part)] if isinstance(x, (tuple, list)) else [x]


def distance(a: Any, b: Any) -> float:
    """The largest difference."""
    return max(abs(float(x - y)) for x, y in zip(flat(a), flat(b), strict=True))


def error(a: Any, b: Any) -> float:
    """The largest difference, relative to the largest entry of b."""
    return distance(a, b) / size(b) if distance(a, b) else 0.0


# ---- an oracle that shares nothing with the code: power series of matrices with 60 digits


def skew(w: Any) -> mpmath.matrix:
    x, y, z = map(mpf, w)
    return mpmath.matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def ad(v: Motion) -> mpmath.matrix:
    """v × on motions, angular first."""
    M = mpmath.zeros(6)
    M[:3, :3] = M[3:, 3:] = skew(v.angular)
    M[3:, :3] = skew(v.linear)
    return M


def series(M: mpmath.matrix, shift: int) -> mpmath.matrix:
    """Σ M^j / (j + shift)!: the exponential, and with shift 1 its left Jacobian. Entries of M that are zero are left
    out, and mpmath's own matrices, which take most of the time, are made once."""
    n, least = M.rows, mpf(1e-50)
    columns = [[(k, M[k, i]) for k in range(n) if M[k, i]] for i in range(n)]
    one = 1 / mpmath.factorial(shift)
    term: list[list[Any]] = [[one if i == k else 0 for k in range(n)] for i in range(n)]
    total, j = [[mpf(0)] * n for _ in range(n)], shift
    while any(abs(e) > least for row in term for e in row if e):
        total = [[a + e if e else a for a, e in zip(*rows, strict=True)] for rows in zip(total, term, strict=True)]
        j += 1
        term = [[sum(row[k] * m for k, m in column if row[k]) / j for column in columns] for row in term]
    return mpmath.matrix(total)


@cache
def exact_jacobian(v: Motion) -> mpmath.matrix:
    return series(ad(v), 1)


def pose(v: Motion) -> mpmath.matrix:
    """exp of a twist as a 4×4 matrix."""
    M = mpmath.zeros(4)
    M[:3, :3] = skew(v.angular)
    for k, u in enumerate(v.linear):
        M[k, 3] = mpf(u)
    return series(M, 0)


def block(M: mpmath.matrix, row: int, column: int) -> list[Any]:
    return [M[row + i, column + j] for i in range(3) for j in range(3)]


def minus(v: Motion) -> Motion:
    return Motion(-v.angular, -v.linear)


@pytest.fixture(autouse=True)
def sixty_digits() -> Iterator[None]:
    with mpmath.workdps(60):
        yield


# ---- quaternions

numbers = st.floats(-10, 10)
quaternions = st.tuples(numbers, numbers, numbers, numbers).filter(lambda q: sum(e * e for e in q) > 1e-3)
vectors = st.tuples(numbers, numbers, numbers).map(lambda v: Vector(*v))


@given(quaternions, quaternions, vectors)
def test_quaternions_multiply_like_their_rotations(a: Any, b: Any, v: Vector) -> None:
    a, b = Quaternion(*a).normalized(), Quaternion(*b).normalized()
    R: Matrix = a.rotation
    assert abs(sum(e * e for e in a) - 1) <= 1e-15
    assert error((a @ b).rotation, R @ b.rotation) <= ROUND_TRIP
    assert error(a.conjugate.rotation, R.T) == 0
    assert error(a @ a.conjugate, Quaternion.identity()) <= 1e-15
    assert a @ Quaternion.identity() == a == Quaternion.identity() @ a
    assert error(a.rotate(v), R @ v) <= ROUND_TRIP or size(v) < 1e-300


def test_hamilton() -> None:
    i, j, k = (Quaternion(*e, 0) for e in Matrix.identity())
    assert i @ j == k
    assert j @ k == i
    assert k @ i == j
    assert j @ i == Quaternion(0, 0, -1, 0)
    assert i @ i == j @ j == k @ k == Quaternion(0, 0, 0, -1)


# ---- rotations


@pytest.mark.parametrize("angle", ANGLES)
def test_log_undoes_exp_on_rotations(angle: float) -> None:
    for d in directions():
        w = d * angle
        assert error(log_so3(exp_so3(w)), w) <= ROUND_TRIP


@pytest.mark.parametrize("angle", [*ANGLES, *LONG])
def test_exp_undoes_log_on_rotations(angle: float) -> None:
    for d in directions():
        q = exp_so3(d * angle)
        w = log_so3(q)
        assert math.hypot(*w) <= PI * (1 + 4e-16)
        assert error(exp_so3(w).rotation, q.rotation) <= ROUND_TRIP


def test_half_a_turn_comes_back_up_to_its_sign() -> None:
    for d in directions():
        w = d * PI
        back = log_so3(exp_so3(w))
        assert min(error(back, w), error(-back, w)) <= ROUND_TRIP


@pytest.mark.parametrize("angle", [*ANGLES, *LONG])
def test_exp_is_the_matrix_exponential(angle: float) -> None:
    for d in directions(3):
        w = d * angle
        exact = block(series(skew(w), 0), 0, 0)
        assert error(exp_so3(w).rotation, exact) <= 1e-15 * max(1.0, angle)


def test_values_at_no_turn_and_at_half_a_turn_are_exact() -> None:
    zero = Vector(0.0, 0.0, 0.0)
    assert exp_so3(zero) == (0, 0, 0, 1)
    assert log_so3(Quaternion(0.0, 0.0, 0.0, 1.0)) == log_so3(Quaternion(0.0, 0.0, 0.0, -1.0)) == zero
    assert log_so3(Quaternion(1.0, 0.0, 0.0, 0.0)) == (PI, 0, 0)
    assert log_so3(Quaternion(0.0, -1.0, 0.0, 0.0)) == (0, PI, 0)
    assert log_so3(exp_so3(Vector(0.0, 0.0, PI))) == (0, 0, PI)
    assert exp_so3(Vector(2e-300, 0.0, -4e-300)) == (1e-300, 0, -2e-300, 1)
    assert log_so3(Quaternion(1e-300, 0.0, -2e-300, 1.0)) == (2e-300, 0, -4e-300)


@settings(max_examples=200, deadline=None)
@given(quaternions, st.sampled_from([1, 0, 1e-9]))
def test_a_quaternion_and_its_negative_have_the_same_logarithm(q: Any, last: float) -> None:
    """Also at half a turn, and whatever their length."""
    q = Quaternion(*q[:3], last * q[3])
    assume(math.hypot(*q) > 1e-3)
    w = log_so3(q)
    assert w == log_so3(Quaternion(*(-e for e in q)))
    assert error(w, log_so3(Quaternion(*(1024 * e for e in q)))) == 0
    assert error(exp_so3(w).rotation, q.normalized().rotation) <= ROUND_TRIP


# ---- rigid motions


def test_log_undoes_exp_on_motions() -> None:
    for v in twists(ANGLES):
        back = log_se3(*exp_se3(v))
        assert error(back.angular, v.angular) <= ROUND_TRIP
        assert error(back.linear, v.linear) <= ROUND_TRIP


def test_exp_undoes_log_on_motions() -> None:
    for v in twists([*ANGLES, *LONG]):
        q, p = exp_so3(v.angular), v.linear
        turn, step = exp_se3(log_se3(q, p))
        assert error(turn.rotation, q.rotation) <= ROUND_TRIP
        assert error(step, p) <= ROUND_TRIP


@pytest.mark.parametrize("angle", [1e-200, 1e-8, 0.1, 2.999999, 3.000001, PI, 5.0, 2 * PI, 20.0])
def test_exp_of_a_twist_is_the_matrix_exponential(angle: float) -> None:
    for v in list(twists([angle]))[::4]:
        T = pose(v)
        q, p = exp_se3(v)
        assert error(q.rotation, block(T, 0, 0)) <= 1e-15 * max(1.0, angle)
        assert distance(p, [T[k, 3] for k in range(3)]) <= 1e-15 * max(1.0, angle) * size(v.linear)


@settings(max_examples=200, deadline=None)
@given(vectors, vectors, st.floats(0, PI - 1e-6))
def test_round_trip_of_any_motion(w: Vector, u: Vector, angle: float) -> None:
    length = math.hypot(*w)
    v = Motion(w * (angle / length) if length > 1e-100 else w, u)
    back = log_se3(*exp_se3(v))
    assert error(back.angular, v.angular) <= ROUND_TRIP or size(v.angular) < 1e-300
    assert error(back.linear, v.linear) <= ROUND_TRIP or size(v.linear) < 1e-300


# ---- the plane


def test_the_plane_is_part_of_space() -> None:
    for angle, (x, y, _) in product([*ANGLES, *(-a for a in ANGLES), *LONG], directions(5)):
        _, p = exp_se3(Motion(Vector(0.0, 0.0, angle), Vector(x, y, 0.0)))
        chord = exp_se2(x, y, angle)
        assert distance(chord, p[:2]) <= 1e-15 * max(1.0, angle)
        if abs(angle) <= 6:
            condition = 2 * PI / (2 * PI - abs(angle))
            assert error(log_se2(*chord, angle), (x, y)) <= 1e-15 * condition


# ---- Jacobians


def coefficient(y: Any, k: int) -> Any:
    """Σ y^j / (2 j + k)!, each term from the one before."""
    term = 1 / mpmath.factorial(k)
    total = term
    for n in range(k + 1, k + 119, 2):
        term = term * y / (n * (n + 1))
        total += term
    return total


def test_coefficients_lose_no_digits() -> None:
    """Each relative to its own size, also at the switch; up to θ = 6, beyond it 2π - θ has few digits left."""
    rng = np.random.default_rng(6)
    for x in [*rng.uniform(0, 36, 150), *rng.uniform(8.9, 9.1, 50), 0, 1e-300, 1e-8, 9, np.nextafter(9, 0)]:
        c = [coefficient(-mpf(x), k) for k in range(7)]
        numerator = c[3] - 2 * c[4]  # k = (c₃ - 2 c₄) / 2 c₂
        k = numerator / (2 * c[2])
        k_rate = (5 * c[5] - c[4] - 8 * c[6]) / (4 * c[2]) + k * k
        exact = [c[2], c[3], c[4] - c[3] / 2, (3 * c[5] - c[4]) / 2, k, k_rate]
        x = float(x)
        computed = [*groups._left(x), *groups._left_rate(x), groups._k(x), groups._k_rate(x)]
        assert max(error([a], [b]) for a, b in zip(computed, exact, strict=True)) <= 6e-15


JACOBIANS: dict[str, tuple[Callable[..., Any], Callable[..., Any], float, bool]] = {
    # name: on rotations, on motions, sign of the twist in the series, whether inverse
    "left": (left_jacobian_so3, left_jacobian_se3, 1, False),
    "right": (right_jacobian_so3, right_jacobian_se3, -1, False),
    "left inverse": (left_jacobian_so3_inverse, left_jacobian_se3_inverse, 1, True),
    "right inverse": (right_jacobian_so3_inverse, right_jacobian_se3_inverse, -1, True),
}


@pytest.mark.parametrize("name", JACOBIANS)
def test_jacobians_are_their_series_to_the_last_digits(name: str) -> None:
    rotation, motion, sign, inverse = JACOBIANS[name]
    rng = np.random.default_rng(2)
    for angle in [*BELOW_A_TURN, *rng.uniform(0, 2 * PI - 0.05, 25).tolist()]:
        d, u = rng.normal(size=(2, 3))
        v = Motion(Vector(*(angle / np.linalg.norm(d) * d).tolist()), Vector(*u.tolist()))
        exact = exact_jacobian(v if sign > 0 else minus(v))
        exact = mpmath.inverse(exact) if inverse else exact
        A, N = motion(v)
        condition = max(1.0, 0.5 / (2 * PI - angle)) if inverse else 1.0
        assert error(A, block(exact, 0, 0)) <= 2e-15 * condition
        assert error(N, block(exact, 3, 0)) <= 1e-14 * condition
        assert rotation(v.angular) == A


@pytest.mark.parametrize("angle", BELOW_A_TURN)
def test_jacobians_are_derivatives_of_the_exponential(angle: float) -> None:
    """(d/dt exp(v + t δ)) exp(v)⁻¹ = (J_left δ)^ and exp(v)⁻¹ (d/dt exp(v + t δ)) = (J_right δ)^, by differences."""
    rng = np.random.default_rng(3)
    h = mpf(10) ** -18
    for d in list(directions(2))[-2:]:
        v, delta = (Motion(*(Vector(*map(mpf, rng.normal(size=3))) for _ in range(2))) for _ in range(2))
        v = Motion(d.lift(lambda e: mpf(e * angle)), v.linear)
        derivative = (pose(v + delta * h) - pose(v - delta * h)) / (2 * h)
        T, floats = pose(v), Motion(v.angular.lift(float), v.linear.lift(float))
        inverse = mpmath.inverse(T)
        delta = Motion(delta.angular.lift(float), delta.linear.lift(float))
        for left, right, J in ((derivative, inverse, left_jacobian_se3), (inverse, derivative, right_jacobian_se3)):
            M = left * right
            exact = [M[2, 1], M[0, 2], M[1, 0], M[0, 3], M[1, 3], M[2, 3]]
            assert error(J(floats) @ delta, exact) <= 1e-14


@pytest.mark.parametrize("angle", BELOW_A_TURN)
def test_inverse_times_jacobian_is_the_identity(angle: float) -> None:
    for v in list(twists([angle]))[::3]:
        for J, inverse in (
            (left_jacobian_se3, left_jacobian_se3_inverse),
            (right_jacobian_se3, right_jacobian_se3_inverse),
        ):
            a, b = J(v), inverse(v)
            assert error(a.A @ b.A, Matrix.identity()) <= 1e-13
            assert size(a.N @ b.A + a.A @ b.N) <= 1e-13 * max(1.0, size(v.linear))


def test_left_and_right_jacobians_differ_by_the_motion_itself() -> None:
    """J_right(v) = J_left(-v), J_left = Ad J_right with Ad = [[R, 0], [p̂ R, R]], dlog_v Ad = dlog_-v."""
    for v in twists(BELOW_A_TURN):
        q, p = exp_se3(v)
        R, scale = q.rotation, max(1.0, size(v.linear))
        for left, right in (
            (left_jacobian_se3, right_jacobian_se3),
            (right_jacobian_se3_inverse, left_jacobian_se3_inverse),
        ):
            l, r = left(v), right(v)
            assert error(r, left(minus(v))) == 0
            assert error(r.A, l.A.T) == 0
            assert error(R @ r.A, l.A) <= 1e-14
            assert size(Matrix.cross(p) @ R @ r.A + R @ r.N - l.N) <= 2e-14 * scale


def test_back_is_the_transpose() -> None:
    rng = np.random.default_rng(4)
    a, b, v, m, f = (Vector(*rng.normal(size=3).tolist()) for _ in range(5))
    J, motion, force = left_jacobian_se3(Motion(a, b)), Motion(v, a), Force(m, f)
    assert (J @ motion).dot(force) == pytest.approx(motion.dot(J.back(force)), rel=1e-14)


def test_jacobians_of_nothing_are_the_identity() -> None:
    v = Motion(Vector(0.0, 0.0, 0.0), Vector(0.0, 0.0, 0.0))
    for rotation, motion, *_ in JACOBIANS.values():
        assert rotation(v.angular) == motion(v).A == Matrix.identity()
        assert size(motion(v).N) == 0


# ---- every scalar


def everything(x: list[Any]) -> list[Any]:
    """All functions of a twist and a vector, nine numbers in; inverses only where they exist."""
    w, u, p = Vector(*x[:3]), Vector(*x[3:6]), Vector(*x[6:])
    v = Motion(w, u)
    q, step = exp_se3(v)
    log = log_se3(q, p)
    chord = exp_se2(x[3], x[4], x[2])
    matrices = [J for rotation, motion, *_ in JACOBIANS.values() for J in (rotation(w), motion(v))]
    return flat((q, step, log, log_so3(q.conjugate), chord, log_se2(x[3], x[4], x[2]), matrices))


KERNEL = Kernel(
    "groups", [Argument("x", (9,), "9")], [(len(everything([0.5] * 9)),)], lambda s, *_: ([everything(s[0])], 0), str
)


def samples() -> np.ndarray:
    rng = np.random.default_rng(5)
    angles = [a for a in (*ANGLES, 4.0, 5.0, 6.0) for _ in range(3)]
    d = rng.normal(size=(len(angles), 3))
    d *= np.array(angles)[:, None] / np.linalg.norm(d, axis=1)[:, None]
    return np.concatenate([d, rng.normal(size=(len(angles), 6))], axis=1)


def test_floats_numpy_forty_digits_and_compiled_code_agree() -> None:
    x = samples()
    (packs,) = KERNEL(x)
    with np.errstate(divide="raise", invalid="raise", over="raise"):  # in the branches that are not taken, too
        arrays = np.stack(np.broadcast_arrays(*everything(list(x.T))), axis=-1)
    for k, row in enumerate(x):
        with mpmath.workdps(40):
            truth = np.array([float(e) for e in everything([mpf(e) for e in row.tolist()])])
        floats = np.array(everything(row.tolist()))
        bound = 1e-14 * np.maximum(np.abs(truth).max(), 1)
        bound = np.where(np.abs(truth) < 1e-5, 1e-13 * np.abs(truth) + 2e-15, bound)
        for other in (floats, arrays[k], packs[k]):
            assert (np.abs(other - truth) <= bound).all()
        assert (KERNEL(row)[0] == packs[k]).all()


def test_compiled_logarithms_of_tiny_rotations_are_accurate_relative_to_their_size() -> None:
    for angle in TINY[1:]:
        w = np.array([d * angle for d in directions()])
        row = np.concatenate([w, np.ones((len(w), 6))], axis=1)
        (result,) = KERNEL(row)
        log = result[:, 7:10]
        assert np.abs(log - w).max() <= ROUND_TRIP * angle


def test_symbols_agree_with_numbers() -> None:
    x = sympy.symbols("x0:9", real=True)
    w, u = Vector(*x[:3]), Vector(*x[3:6])
    expressions = flat((exp_se3(Motion(w, u)), log_so3(Quaternion(*x[:4])), left_jacobian_so3_inverse(w)))
    for row in samples()[[30, 45, 60]].tolist():
        w, u = Vector(*row[:3]), Vector(*row[3:6])
        expected = flat((exp_se3(Motion(w, u)), log_so3(Quaternion(*row[:4])), left_jacobian_so3_inverse(w)))
        values = dict(zip(x, row, strict=True))
        assert error([sympy.N(e.subs(values)) for e in expressions], expected) <= 1e-14
