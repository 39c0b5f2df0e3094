"""Derivatives of dynamics to fifty digits, also far from the origin; and how they are called."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
import pytest

import featherweight as fw
from featherweight import algorithms
from featherweight.joints import Joint
from featherweight.spatial import Force, Motion, Transform, Vector, about_axis
from laws.random_trees import KINDS, Body, bodies, build, floating, state, states

STEP = mpmath.mpf(10) ** -15
FUNCTIONS = (fw.inverse_dynamics_derivatives, fw.forward_dynamics_derivatives)


def some_bodies(kind: str) -> list[Body]:
    """Joints of this kind at the root and inside, with motors, rotors and springs."""
    first = "revolute any" if kind == "mimic" else kind
    return bodies([0, 1, 2], [first, "revolute any", kind], 5, properties=True)


def by_differences(model: fw.Model, q: Any, v: Any, x: Any, f_ext: Any, dynamics: Callable) -> list[np.ndarray]:
    """∂/∂q and ∂/∂v by central differences with 50 digits: right to 24 or more."""
    with mpmath.workdps(50):
        tree = model.over(lambda e: mpmath.mpf(float(e)), lambda: None)
        q, v, x = ([mpmath.mpf(float(e)) for e in array] for array in (q, v, x))
        f = [Force(Vector(*row[3:]), Vector(*row[:3])) for row in f_ext.tolist()]
        q = algorithms.integrate(tree, q, [mpmath.mpf(0)] * model.nv)  # unit quaternions, to all digits

        def column(along: str, k: int) -> list[float]:
            sides = []
            for step in (STEP, -STEP):
                e = [step * (j == k) for j in range(model.nv)]
                place = algorithms.integrate(tree, q, e) if along == "q" else q
                moved = [a + b for a, b in zip(v, e, strict=True)] if along == "v" else v
                sides.append(dynamics(tree, place, moved, x, f)[0])
            return [float((a - b) / (2 * STEP)) for a, b in zip(*sides, strict=True)]

        return [np.array([column(along, k) for k in range(model.nv)]).T for along in ("q", "v")]


def error(x: np.ndarray, reference: np.ndarray) -> float:
    return float(np.abs(x - reference).max() / np.abs(reference).max())


def errors(model: fw.Model, q: np.ndarray, v: np.ndarray, x: np.ndarray) -> tuple[float, float]:
    """Of the derivatives of inverse and of forward dynamics, relative to the largest entry."""
    f_ext = np.random.default_rng(2).normal(size=(model.nb + 1, 6))
    coupled = any(joint.kind.leader is not None for joint in model.joints)
    forward = algorithms.coupled_forward_dynamics if coupled else algorithms.forward_dynamics
    worst = []
    for function, dynamics in zip(FUNCTIONS, (algorithms.inverse_dynamics, forward), strict=True):
        reference = by_differences(model, q, v, x, f_ext, dynamics)
        found = function(model, q, v, x, f_ext)
        worst.append(max(error(a, b) for a, b in zip(found, reference, strict=False)))
    return worst[0], worst[1]


@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize("kind", [*KINDS, "mimic"])
def test_every_joint_kind_to_fifty_digits(kind: str, base: str) -> None:
    """A floating base is a kilometre away."""
    made = some_bodies(kind)
    model = build(floating(made) if base == "free" else made)
    q, v, x = state(model)
    if base == "free":
        q[:3] += 1e3
    with fw.interpret():
        inverse, forward = errors(model, q, v, x)
        condition = np.linalg.cond(fw.mass_matrix(model, q))
    assert inverse <= 1e-14
    assert forward <= 1e-13 * max(1.0, condition / 1e3)


MODEL = build(floating(bodies([0, 1, 2, 0], ["universal any", "revolute y", "mimic", "spherical"], 7, True)))


@pytest.mark.parametrize("away", [0.0, 1e3])
def test_compiled_code_to_fifty_digits(away: float) -> None:
    q, v, x = state(MODEL)
    q[:3] += away
    inverse, forward = errors(MODEL, q, v, x)
    assert inverse <= 1e-14
    assert forward <= 1e-13


@pytest.mark.parametrize("function", [*FUNCTIONS, fw.regressor])
def test_one_state_a_batch_and_numpy_agree(function: Callable) -> None:
    q, v, x = states(MODEL, 11)
    results = function(MODEL, q, v, x)
    with fw.interpret():
        by_numpy = function(MODEL, q, v, x)
    one = function(MODEL, q[3].copy(), v[3].copy(), x[3].copy())
    if function is fw.regressor:
        results, by_numpy, one = (results,), (by_numpy,), (one,)
    for batch, numpy, single in zip(results, by_numpy, one, strict=True):
        assert (batch[3] == single).all()
        np.testing.assert_allclose(batch, numpy, rtol=0, atol=1e-11 * np.abs(numpy).max())


@pytest.mark.parametrize("function", FUNCTIONS)
def test_leading_axes_broadcast(function: Callable) -> None:
    q, v, x = states(MODEL, 6)
    pushed = np.random.default_rng(4).normal(size=(2, 1, MODEL.nb + 1, 6))
    results = function(MODEL, q.reshape(2, 3, -1), v[0], x[:3], pushed)
    for result in results:
        assert result.shape == (2, 3, MODEL.nv, MODEL.nv)
    one = function(MODEL, q[4], v[0], x[1], pushed[1, 0])
    for result, right in zip(results, one, strict=True):
        assert (result[1, 1] == right).all()


@pytest.mark.parametrize("function", FUNCTIONS)
def test_declared_constants_are_those_of_a_robot_built_with_them(function: Callable) -> None:
    def arm(mass: float, position: Any, **options: Any) -> fw.Model:
        builder = fw.Builder("arm", **options)
        builder.add_body("upper", joint=fw.joints.Universal(), inertia=fw.Inertia.box(1.0, (0.1, 0.2, 0.3)))
        placement = fw.Placement(position)
        inertia = fw.Inertia(mass, (0.1, 0.0, 0.2), np.diag([0.02, 0.03, 0.04]))
        builder.add_body("lower", parent="upper", joint=fw.joints.Revolute("x"), placement=placement, inertia=inertia)
        return builder.build()

    open_arm = arm(1.0, (0.0, 0.0, 0.3), parameters=["lower.mass", "lower_joint.position", "gravity"])
    q, v, x = state(open_arm)
    given = {"lower.mass": 2.5, "lower_joint.position": [0.1, 0.2, 0.3]}
    for found, right in zip(
        function(open_arm, q, v, x, parameters=given), function(arm(2.5, (0.1, 0.2, 0.3)), q, v, x), strict=True
    ):
        np.testing.assert_allclose(found, right, rtol=1e-12, atol=1e-12)


def test_results_go_to_arrays_that_are_given() -> None:
    q, v, a = states(MODEL, 4)
    right = fw.inverse_dynamics_derivatives(MODEL, q, v, a)
    shape = right[0].shape
    plain = tuple(np.empty(shape) for _ in range(3))
    strided = np.empty((4, MODEL.nv, MODEL.nv, 3))
    for out in (plain, [strided[..., k] for k in range(3)]):
        found = fw.inverse_dynamics_derivatives(MODEL, q, v, a, out=out)
        for j in range(3):
            assert found[j] is out[j]
            assert (out[j] == right[j]).all()


def test_arrays_that_cannot_take_the_results_are_refused() -> None:
    q, v, a = state(MODEL)
    place = np.empty((MODEL.nv, MODEL.nv))

    def refused(out: Any) -> str:
        with pytest.raises((TypeError, ValueError)) as caught:
            fw.inverse_dynamics_derivatives(MODEL, q, v, a, out=out)
        return str(caught.value)

    assert refused(place) == "out: expected a tuple of 3 NumPy arrays, one for each result, got ndarray"
    assert refused((place, place)) == "out: expected a tuple of 3 NumPy arrays, one for each result, got 2"
    other, short = place.copy(), np.empty((MODEL.nv, 2))
    assert refused((place, other, short)) == f"out[2]: expected shape {place.shape}, got {short.shape}"
    assert refused((place, other, place)) == "out[2]: expected memory of its own, got some that out[0] has too"
    assert refused((place, other, None)).startswith("out[2]: expected a NumPy array")


def test_numbers_that_are_not_finite_are_refused() -> None:
    q, v, a = state(MODEL)
    v[4] = np.nan
    for function in (*FUNCTIONS, fw.regressor):
        with pytest.raises(ValueError, match=r"v\[4\] is nan"):
            function(MODEL, q, v, a)
    v[4] = 1e200  # its square is not finite
    for function in (*FUNCTIONS, fw.regressor):
        with pytest.raises(ValueError, match="the inputs are too large"):
            function(MODEL, q, v, a)


def test_a_singular_mass_matrix_is_refused() -> None:
    builder = fw.Builder("weightless").add_body("point", joint=fw.joints.Spherical(), inertia=fw.Inertia(1.0))
    model = builder.build()
    q, v, a = state(model)
    assert len(fw.inverse_dynamics_derivatives(model, q, v, a)) == 3
    with pytest.raises(ValueError, match="the mass matrix is singular"):
        fw.forward_dynamics_derivatives(model, q, v, a)


@dataclass(frozen=True)
class Cam(Joint):
    """A revolute joint that also slides along its axis by sin q: its S changes in the body."""

    nq = nv = 1

    def transform(self, q: Any) -> Transform:
        return Transform(about_axis(Vector(0, 0, 1), q[0]), Vector(0, 0, fw_sin(q[0])))

    def subspace(self, q: Any) -> tuple[Motion, ...]:
        return (Motion(Vector(0, 0, 1), Vector(0, 0, fw_cos(q[0]))),)

    def subspace_rate(self, q: Any, v: Any) -> tuple[Motion, ...]:
        return (Motion(Vector.zero(), Vector(0, 0, -fw_sin(q[0]) * v[0])),)

    def random(self, rng: np.random.Generator) -> np.ndarray:
        return rng.uniform(-1.0, 1.0, 1)


class WholeCam(Cam):
    def bias_derivative(self, q: Any, v: Any) -> tuple[Motion, ...]:
        return (Motion(Vector.zero(), Vector(0, 0, -fw_cos(q[0]) * v[0] * v[0])),)


def fw_sin(x: Any) -> Any:
    from featherweight.scalar import sin

    return sin(x)


def fw_cos(x: Any) -> Any:
    from featherweight.scalar import cos

    return cos(x)


def test_joints_of_users_whose_axes_change_say_how() -> None:
    """Also when another one follows them."""
    inertia = fw.Inertia(1.0, (0.1, 0.2, 0.3), np.diag([0.2, 0.3, 0.4]))

    def robot(kind: Joint) -> fw.Model:
        builder = fw.Builder("cam").add_body("first", joint=kind, inertia=inertia)
        follower = fw.joints.Mimic(kind, "first_joint", -1.5, 0.2)
        return builder.add_body("second", parent="first", joint=follower, inertia=inertia).build()

    model = robot(WholeCam())
    with fw.interpret():
        inverse, forward = errors(model, *state(model))
        assert inverse <= 1e-14
        assert forward <= 1e-13
        with pytest.raises(NotImplementedError, match=r"Cam: its subspace changes .* bias_derivative"):
            fw.inverse_dynamics_derivatives(robot(Cam()), *state(model))
