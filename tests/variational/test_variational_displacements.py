"""Displacements, their logarithm and the momenta of a step, against poses and series with 40 digits."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import featherweight as fw
from featherweight.integrators.variational.logarithm import LARGEST_Y, LEAST_W, Log
from featherweight.spatial import (
    Displacement,
    Force,
    Motion,
    Transform,
    Vector,
    left_jacobian_se3_inverse,
    log_se3,
    small_turn,
    turn_about,
)

J = fw.joints
KINDS = [
    J.Revolute((1, 2, 2)), J.Continuous("z"), J.Prismatic((1, 0, 1)), J.Helical("y", 0.3), J.Cylindrical((0, 1, 2)),
    J.Universal("x", (0, 1, 1)), J.Planar("x"), J.Spherical(), J.Free(),
    J.Mimic(J.Revolute("y"), of="other", ratio=-1.5, offset=0.2),
]  # fmt: skip


def numbers(d: Displacement) -> np.ndarray:
    return np.array([*d.turn, *d.p], dtype=float)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: type(kind).__name__)
@pytest.mark.parametrize("size", [1.0, 1e-3, 1e-9])
def test_the_displacement_of_a_joint_is_that_of_its_frames(kind: J.Joint, size: float) -> None:
    """Small ones keep their digits, which differences of poses would not."""
    rng = np.random.default_rng(3)
    q = list(kind.random(rng)) if kind.leader is None else [0.4]
    d = [size * x for x in rng.uniform(-0.5, 0.5, kind.nv)]
    with mpmath.workdps(40):
        exact = [mpmath.mpf(float(x)) for x in q]
        if kind.orientation is not None:  # unit to all digits
            length = mpmath.sqrt(sum(x * x for x in exact[kind.orientation]))
            exact[kind.orientation] = [x / length for x in exact[kind.orientation]]
        lifted = kind.lift(mpmath.mpf)
        after = fw.joints.Joint.displacement(lifted, exact, [mpmath.mpf(float(x)) for x in d])
    own = kind.displacement(q, d)
    small = [0, 1, 2, 4, 5, 6]  # all but the quaternion's w
    scale = np.abs(numbers(after)[small]).max()
    assert np.abs(numbers(own) - numbers(after))[small].max() <= 4e-15 * scale
    assert abs(own.turn.w - after.turn.w) <= 1e-15


@pytest.mark.parametrize("degrees", [120.0, 119.0, 60.0, 1.0, 1e-7])
def test_small_turns_are_turns_of_up_to_120_degrees(degrees: float) -> None:
    angle = float(np.radians(degrees))
    x, y, z, w = turn_about(Vector(0.0, 0.6, -0.8), -angle)
    c, s = small_turn(angle)
    with mpmath.workdps(30):
        half = float(mpmath.sin(mpmath.mpf(angle) / 2))
        exact = [float(f(mpmath.mpf(angle))) for f in (mpmath.cos, mpmath.sin)]
    assert abs(w - np.cos(angle / 2)) <= 2e-16
    np.testing.assert_allclose([x, y, z], [0, -0.6 * half, 0.8 * half], rtol=4e-16)
    np.testing.assert_allclose([c, s], exact, rtol=0, atol=4e-16 * min(1, angle) + 2e-16 * (angle > 1e-3))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: type(kind).__name__)
def test_where_a_joint_is_after_a_step(kind: J.Joint) -> None:
    """X_J(q ⊕ d), with or without sines of q ⊕ d."""
    rng = np.random.default_rng(7)
    q = list(kind.random(rng)) if kind.leader is None else [0.4]
    d = list(rng.uniform(-0.5, 0.5, kind.nv))
    after = kind.integrate(q, d)
    own, expected = kind.transform_at(kind.place_after(q, d, after)), kind.transform(after)
    np.testing.assert_allclose(np.array(own.E), np.array(expected.E), atol=1e-15)
    np.testing.assert_allclose(np.array(own.r), np.array(expected.r), atol=1e-15)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: type(kind).__name__)
def test_axes_of_a_joint_after_a_step(kind: J.Joint) -> None:
    """S(q ⊕ d), without sines of it; the same everywhere but for universal joints."""
    rng = np.random.default_rng(2)
    q = list(kind.random(rng)) if kind.leader is None else [0.4]
    d = list(rng.uniform(-0.5, 0.5, kind.nv))
    expected = np.array(kind.subspace(kind.integrate(q, d)))
    np.testing.assert_allclose(np.array(kind.subspace_after(q, d)), expected, atol=1e-15)
    assert kind.uniform == np.array_equal(np.array(kind.subspace(q)), expected)
    if kind.floating:
        assert np.array_equal(np.sort(expected.reshape(6, 6), axis=0), np.sort(np.eye(6), axis=0))


def test_twists_and_forces_go_along_with_a_displacement() -> None:
    rng = np.random.default_rng(11)
    twist, F, v = rng.normal(size=(3, 6))
    move = Displacement.along(Motion(Vector(*(0.5 * twist[:3])), Vector(*twist[3:])))
    R, hat = np.array(move.turn.rotation), np.cross(np.eye(3), move.p)  # row k of hat: e_k × p
    adjoint = np.block([[R, np.zeros((3, 3))], [-hat.T @ R, R]])  # angular first
    change = np.concatenate(move.change(Motion(Vector(*v[:3]), Vector(*v[3:]))))
    ahead = np.concatenate(move.ahead(Force(Vector(*F[:3]), Vector(*F[3:]))))
    np.testing.assert_allclose(change, adjoint @ v - v, atol=4e-15)
    np.testing.assert_allclose(ahead, adjoint.T @ F, atol=4e-15)


def test_displacements_are_carried_and_joined_like_poses() -> None:
    rng = np.random.default_rng(5)

    def pose() -> Transform:
        q = rng.normal(size=4)
        return J.Free().transform([*rng.normal(size=3), *(q / np.linalg.norm(q))])

    X = pose()
    small = [Displacement.along(Motion(Vector(*rng.uniform(-0.4, 0.4, 3)), Vector(*rng.normal(size=3)))) for _ in "ab"]

    def matrix(d: Displacement) -> np.ndarray:
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = np.array(d.turn.rotation), d.p
        return T

    to_body = np.eye(4)  # pose of the carried frame in the carrier
    to_body[:3, :3], to_body[:3, 3] = np.array(X.E).T, X.r
    carried = np.linalg.inv(to_body) @ matrix(small[0]) @ to_body
    assert np.abs(matrix(small[0].seen_from(X)) - carried).max() <= 1e-14
    assert np.abs(matrix(small[0].then(small[1])) - matrix(small[0]) @ matrix(small[1])).max() <= 1e-14


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-4, 0.03, 0.5, 1.0, np.pi / 3])
def test_logarithm_and_momenta(angle: float) -> None:
    """Polynomials in place of arc sines: the same as the general functions, for turns of up to 60°."""
    rng = np.random.default_rng(7)
    axis = rng.normal(size=3)
    X = Motion(Vector(*(angle * axis / np.linalg.norm(axis))), Vector(*rng.normal(size=3)))
    move = Displacement.along(X)
    log = Log.of(move)
    general = log_se3(*move)
    for own in (log.X, general):
        assert np.abs(np.array(own) - np.array(X)).max() <= 4e-15
    P = Force(Vector(*rng.normal(size=3)), Vector(*rng.normal(size=3)))
    before, after = log.momenta(P)
    assert np.abs(np.array(before) - np.array(left_jacobian_se3_inverse(X).back(P))).max() <= 1e-14
    assert np.abs(np.array(after) - np.array(left_jacobian_se3_inverse(-X).back(P))).max() <= 1e-14
    assert (move.turn.w >= LEAST_W - 1e-15) == (angle <= np.pi / 3)
    assert sum(x * x for x in move.turn.vector) <= LARGEST_Y + 1e-15
