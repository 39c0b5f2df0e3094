"""NumPy's functions of traced values: they are traced, or an error names the line and what to write there."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import featherweight as fw
from featherweight import scalar
from featherweight.compiler import Argument, Graph, Kernel, Lanes, Node, NodeArray, interpret, traced_array

A = np.array([[1.0, -2.0], [0.5, 3.0], [2.0, 0.25]])
# of an array q of two numbers and of a number t
WORK: dict[str, Callable[[Any, Any], Any]] = {
    "sin of one": lambda q, t: np.sin(t),
    "sin": lambda q, t: np.sin(q),
    "cos": lambda q, t: np.cos(q) + np.cos(t),
    "tan": lambda q, t: np.tan(q),
    "sqrt": lambda q, t: np.sqrt(q * q) + np.sqrt(t),
    "exp": lambda q, t: np.exp(q) + np.exp(t),
    "log": lambda q, t: np.log(np.abs(q)) + np.log(t),
    "tanh": lambda q, t: np.tanh(q) + np.tanh(t),
    "arcsin": lambda q, t: np.arcsin(np.sin(q)),
    "arccos": lambda q, t: np.arccos(np.cos(q) * 0.9) + np.arccos(np.cos(t)),
    "arctan": lambda q, t: np.arctan(q) + np.arctan(t),
    "arctan2": lambda q, t: np.arctan2(q, t) + np.arctan2(1.0, q) + np.arctan2(t, 2.0),
    "hypot": lambda q, t: np.hypot(q, t) + np.hypot(t, 2.0),
    "abs": lambda q, t: np.abs(q) + np.abs(-t) + np.fabs(q),
    "sign": lambda q, t: np.sign(q) + np.sign(-t),
    "minimum": lambda q, t: np.minimum(q, 0.1) + np.minimum(t, q) + np.minimum(0.2, t),
    "maximum": lambda q, t: np.maximum(q, [0.1, -0.1]) + np.maximum(t, 0.2) + np.fmax(q, 0.0),
    "clip": lambda q, t: np.clip(q, -0.5, 0.5) + np.clip(t, 0.1, None) + q.clip(0.0, 1.0),
    "where": lambda q, t: np.where(q > 0, q, 2.0) + np.where(t > 0.5, 1.0, q),
    "where of numbers": lambda q, t: np.where(np.array([True, False]), q, t),
    "comparisons": lambda q, t: np.where((q < t) & (q != 0) | (t <= 0.1), q, -q) + np.where(q >= t, 1, 0),
    "logic": lambda q, t: np.where(np.logical_and(q > 0, np.logical_not(t > 9)), 1.0, 0.0),
    "any, all": lambda q, t: np.where(np.any(q > 0), 1.0, 2.0) + np.where(np.all(q > 0), 3.0, 4.0),
    "floor": lambda q, t: np.floor(3 * q) + np.floor(9 * t) + math.floor(7 * t),
    "ceil": lambda q, t: np.ceil(3 * q) + math.ceil(9 * t),
    "round": lambda q, t: np.rint(3 * q) + np.round(9 * t) + round(5 * t) + np.round(q, 1) + np.trunc(3 * q),
    "mod": lambda q, t: np.mod(q, 0.3) + q % -0.4 + t % 0.25 + 2.0 % t + np.mod(q, t),
    "floor division": lambda q, t: q // 0.3 + t // 0.25 + 2.0 // t,
    "powers": lambda q, t: q**2 + q**3 + t**4 + np.abs(q) ** 0.5 + np.square(q) + np.power(t, 2),
    "reciprocal": lambda q, t: np.reciprocal(q) + np.reciprocal(t),
    "angles": lambda q, t: np.deg2rad(q) + np.radians(t) + np.rad2deg(q) + np.degrees(t),
    "norm": lambda q, t: np.linalg.norm(q) + np.linalg.norm(A @ q) + np.linalg.norm([t, 2.0]),
    "norm of rows": lambda q, t: np.linalg.norm(np.outer(A[:, 0], q), axis=1),
    "products": lambda q, t: A @ q + np.dot(A, q) * (q @ q) + np.einsum("ij,j->i", A, q) + np.inner(q, [1.0, t]),
    "outer": lambda q, t: np.outer(q, [t, 1.0]) + np.kron(q, q).reshape(2, 2),
    "cross": lambda q, t: np.cross(np.append(q, t), [1.0, 2.0, 3.0]),
    "sums": lambda q, t: np.sum(q) + np.mean(q) + q.sum() + np.cumsum(q) + np.prod(q) + np.diff(q),
    "moments": lambda q, t: np.std(q) + np.var(A @ q),
    "extremes": lambda q, t: np.min(q) + np.max(q) + q.min() + np.maximum.reduce(q) + np.ptp(q),
    "joining": lambda q, t: np.concatenate([q, [t, 1.0]]) * np.hstack([q, t, 2.0]),
    "joined and clipped": lambda q, t: np.clip(np.concatenate([q, [t, 5.0]]), -0.2, 0.2),
    "stacking": lambda q, t: np.minimum(np.stack([q, q + t]), 0.3),
    "numbers on the left": lambda q, t: np.float64(2) * t + np.ones(2) / t - np.float32(3) - (np.ones(2) - t),
    "in place": lambda q, t: np.add(q, t, out=np.zeros(2, dtype=object)),
    "scalar of arrays": lambda q, t: scalar.sin(q) + scalar.minimum(q, t) + scalar.sign(q) + scalar.clip(q, -t, t),
    "scalar.where of arrays": lambda q, t: scalar.where(t > 0.5, q, 1.0) + scalar.where(q > 0, t, 2.0),
    "polynomial": lambda q, t: np.polyval([1.0, -2.0, 0.5], t) + np.polyval([1.0, 2.0], q),
}


def all_of_them(q: Any, t: Any) -> list[Any]:
    return [x for function in WORK.values() for x in np.ravel(np.asarray(function(q, t), dtype=object))]


STATES = np.random.default_rng(0).uniform(0.1, 0.9, (11, 3)) * [1.0, -1.0, 1.0]
EXPECTED = np.array([all_of_them(s[:2], s[2]) for s in STATES], dtype=float)


def test_functions_of_traced_arrays_and_single_values_are_those_of_numbers() -> None:
    def function(scalars: Any, *_: Any) -> tuple[Any, Any]:
        q = traced_array(scalars[0][:2])
        return [all_of_them(q, scalars[0][2])], 0

    kernel = Kernel("numpy", [Argument("x", (3,), "3")], [EXPECTED.shape[1:]], function, lambda _: "")
    (pack,) = kernel(STATES)
    np.testing.assert_allclose(pack, EXPECTED, rtol=1e-13, atol=1e-15)
    assert kernel(STATES[4])[0].tobytes() == pack[4].tobytes()
    with interpret():
        np.testing.assert_allclose(kernel(STATES[4])[0], EXPECTED[4], rtol=1e-13, atol=1e-15)


def traced() -> tuple[Graph, NodeArray, Node]:
    graph = Graph()
    q = traced_array([graph.input(0, 0), graph.input(0, 1)])
    assert isinstance(q, NodeArray)
    return graph, q, graph.input(1, 0)


def test_they_are_the_operations_of_the_table() -> None:
    _, q, t = traced()
    for function, ours in ((np.sin, scalar.sin), (np.arcsin, scalar.asin), (np.floor, scalar.floor)):
        assert function(t).id == ours(t).id
        assert [x.id for x in function(q)] == [ours(x).id for x in q]
        plain = np.asarray(q)
        assert type(plain) is np.ndarray
        assert [x.id for x in function(plain)] == [ours(x).id for x in q]
    assert np.arctan2(np.asarray(q), np.asarray(q))[1].id == scalar.atan2(q[1], q[1]).id
    assert np.minimum(np.asarray(q), t)[0].id == scalar.minimum(q[0], t).id
    assert np.linalg.norm(np.asarray(q)).id == scalar.norm(q).id
    assert (t + np.array([2.0]))[0].id == (np.array([2.0]) + t)[0].id == (t + 2.0).id
    assert type(np.concatenate([q, [1.0]])) is NodeArray
    assert traced_array([1.0, np.float64(2)]).dtype == float


def test_lanes_know_them_too() -> None:
    x = np.array([0.3, 1.2, 2.5])
    lanes = Lanes(x)
    for function in (np.sin, np.tanh, np.floor, np.ceil, np.abs):
        assert np.array_equal(function(lanes).values, function(x))
    assert np.array_equal(np.arctan2(lanes, 2.0).values, np.arctan2(x, 2.0))
    assert np.array_equal((lanes % 0.4).values, x % 0.4)
    assert np.array_equal((2.0 % lanes).values, 2.0 % x)
    assert np.array_equal((lanes // 0.4).values, x // 0.4)
    assert np.array_equal((2.0 // lanes).values, 2.0 // x)
    assert np.array_equal(np.floor(np.array([lanes, lanes], dtype=object))[1].values, np.floor(x))


# ---- what cannot work

REFUSED: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "if": (lambda q, t: 1 if t > 0 else 0, "scalar.where(condition, a, b) in place of if"),
    "and": (lambda q, t: t > 0 and t < 1, "& | ~ in place of and, or, not"),
    "min": (lambda q, t: min(t, 1.0), "featherweight.scalar.minimum in place of min"),
    "math.sin": (lambda q, t: math.sin(t), "featherweight.scalar.sin in place of math.sin"),
    "math.atan2": (lambda q, t: math.atan2(t, 1.0), "featherweight.scalar.atan2 in place of math.atan2"),
    "math.fabs": (lambda q, t: math.fabs(t), "featherweight.scalar.absolute in place of math.fabs"),
    "float": (lambda q, t: float(t), "featherweight.scalar (sin, cos, sqrt, where …) in place of math or numpy"),
    "float of a condition": (lambda q, t: float(t > 0), "featherweight.scalar (sin, cos, sqrt, where …)"),
    "int": (lambda q, t: int(t), "sign(x) * featherweight.scalar.floor(abs(x)) in place of int"),
    "fmod": (lambda q, t: np.fmod(t, 2.0), "sign(x) * featherweight.scalar.mod(abs(x), abs(y)) in place of it"),
    "math.fmod": (lambda q, t: math.fmod(t, 2.0), "featherweight.scalar.mod(abs(x), abs(y)) in place of math.fmod"),
    "one over": (lambda q, t: t**-1, "use 1 / x in place of x ** -1"),
    "index": (lambda q, t: q[t], "featherweight.scalar.lookup(table, i)"),
    "index of a list": (lambda q, t: [1.0, 2.0][t], "featherweight.scalar.array(x)[i]"),
    "range": (lambda q, t: range(t), "is no index yet"),
    "power": (lambda q, t: t**1.5, "featherweight.scalar.exp(y * featherweight.scalar.log(x))"),
    "into numbers": (lambda q, t: np.zeros(2).__setitem__(0, t), "is not a number yet"),
    "added to numbers": (lambda q, t: np.ones(2).__iadd__(q), "x = x + y in place of x += y"),
    "as floats": (lambda q, t: np.array(q, dtype=float), "is not a number yet"),
    "isnan": (lambda q, t: np.isnan(q), "x != x in place of it"),
    "log2": (lambda q, t: np.log2(t), "featherweight.scalar.log(x) / math.log(2)"),
    "log2, plain": (lambda q, t: np.log2(np.asarray(q)), "featherweight.scalar.log(x) / math.log(2)"),
    "cbrt": (lambda q, t: np.cbrt(q), "cannot be given to numpy.cbrt"),
    "interp": (lambda q, t: np.interp(t, [0, 1], [2, 3]), "featherweight.scalar.lookup in place of it"),
    "solve": (lambda q, t: np.linalg.solve(np.outer(q, q), q), "cannot be given to numpy.linalg.solve"),
    "select": (lambda q, t: np.select([t > 0], [1.0]), "featherweight.scalar.where, one in the other"),
    "sort": (lambda q, t: np.sort(q), "has no truth value yet"),
    "minimum, plain": (lambda q, t: np.minimum(np.asarray(q), 1.0), "scalar.minimum in place of np.minimum"),
    "clip, plain": (lambda q, t: np.clip(np.asarray(q), 0, 1), "featherweight.scalar.clip in place of np.clip"),
    "compared, plain": (lambda q, t: np.where(np.asarray(q) > 0, 1, 0), "scalar.where in place of np.where"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_work_names_the_line_and_the_substitute(name: str) -> None:
    function, substitute = REFUSED[name]
    _, q, t = traced()
    with pytest.raises(TypeError) as error:
        function(q, t)
    line = function.__code__.co_firstlineno
    assert str(error.value).startswith(f"{__file__}:{line}: a traced value ")
    assert substitute in str(error.value)


def test_a_value_stored_among_numbers_is_told_how_to_make_the_array() -> None:
    _, _, t = traced()
    x = np.zeros(2)
    with pytest.raises(TypeError, match=r"use an array that begins as 0 \* v, in place of np.zeros"):
        x[0] = t


def test_what_numpy_says_of_mixed_arrays_gets_line_and_substitute() -> None:
    def mixed(t, q, v, x, p):
        return [np.sin(np.array([0.0, q[0]]))[1]], x

    with pytest.raises(fw.SimulationError) as error:
        fw.rollout(fw.robots.pendulum(), [0.1], [0.0], steps=1, dt=1e-3, control=fw.compiled(mixed))
    line = inspect.getsourcelines(mixed)[1] + 1
    assert f"{__file__}:{line}: loop of ufunc does not support argument 0 of type float" in str(error.value)
    assert "use featherweight.scalar.sin in place of np.sin" in str(error.value)


def test_a_controller_written_with_numpy_runs_compiled_and_interpreted() -> None:
    model = fw.robots.double_pendulum()

    def control(t, q, v, x, p):
        push = np.clip(-3 * np.sin(q - 0.1 * np.sin(t)) - 0.5 * v, -2.0, p[0])
        return np.where(np.linalg.norm(v) > 4.0, 0.0, push) + np.minimum(np.floor(q), 0.5), x

    def by_python(t, q, v):
        return control(t, q, v, None, [1.5])[0]

    run = fw.rollout(model, [0.9, -0.4], [0.0, 5.0], steps=50, dt=1e-3, control=fw.compiled(control, parameters=[1.5]))
    python = fw.simulate(model, [0.9, -0.4], [0.0, 5.0], duration=0.05, dt=1e-3, control=by_python)
    np.testing.assert_allclose(run.q, python.q, rtol=0, atol=1e-13)
    with fw.interpret():
        again = fw.rollout(
            model, [0.9, -0.4], [0.0, 5.0], steps=50, dt=1e-3, control=fw.compiled(control, parameters=[1.5])
        )
    np.testing.assert_allclose(again.q, run.q, rtol=0, atol=1e-13)
