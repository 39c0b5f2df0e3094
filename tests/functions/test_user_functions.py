"""fw.function: arrays in and out, batches, names, errors; derivatives of plain functions."""

from __future__ import annotations

import copy
import pickle
from typing import NamedTuple

import numpy as np
import pytest

import featherweight as fw
from featherweight import scalar

MODEL = fw.robots.pendulum(length=2.0)
X, P = np.array([0.3, -0.7]), np.array([1.5, 2.0, -0.5])


def several(x, p):
    return {"sum": p[0] * x[0] + np.sin(x[1]), "outer": np.outer(x, p), "known": 2.0}


class Both(NamedTuple):
    first: object
    second: object


SEVERAL = fw.function(several, inputs={"x": 2, "p": 3})
SINGLE = fw.function(lambda x, p: np.array([p[0] * x[0] * x[1], np.exp(x[0]) * p[2]]), inputs={"x": 2, "p": 3})


def test_what_a_function_returns():
    found = SEVERAL(X, P)
    assert list(found) == ["sum", "outer", "known"]
    assert found["sum"].shape == ()
    assert np.allclose(found["outer"], np.outer(X, P))
    assert found["known"] == 2.0
    assert SINGLE(X, P).shape == (2,)
    pair = fw.function(lambda x: (x[0], [x[1], x[0] * 2]), inputs={"x": 2})(X)
    assert isinstance(pair, tuple)
    assert pair[1].tolist() == [-0.7, 0.6]
    named = fw.function(lambda x: Both(x, x[0]), inputs={"x": 2})
    assert named(X).second == 0.3
    assert isinstance(named([X, X]), Both)
    one = fw.function(lambda x: (x * x,), inputs={"x": 2})
    for _ in range(2):
        assert one(X)[0].shape == (2,)


def test_shapes_of_inputs():
    f = fw.function(lambda a, M: a * M @ M.T, inputs={"a": (), "M": (2, 3)})
    M = np.arange(6.0).reshape(2, 3)
    assert np.allclose(f(2.0, M), 2.0 * M @ M.T)
    assert f([1.0, 2.0], M).shape == (2, 2, 2)
    J = fw.derivative(f, "M")(2.0, M)
    assert J.shape == (2, 2, 2, 3)
    a, m = fw.vjp(f)(2.0, M, np.eye(2))
    assert np.allclose(a, np.trace(M @ M.T))
    assert np.allclose(m, 4.0 * M)


def test_batches_broadcast():
    x = np.random.default_rng(0).normal(size=(5, 1, 2))
    p = np.random.default_rng(1).normal(size=(4, 3))
    assert SINGLE(x, p).shape == (5, 4, 2)
    assert np.array_equal(SINGLE(x, p)[3, 2], SINGLE(x[3, 0], p[2]))
    J = fw.derivative(SINGLE, "x", "p")(x, p)
    assert [j.shape for j in J] == [(5, 4, 2, 2), (5, 4, 2, 3)]
    assert SINGLE(np.zeros((0, 2)), P).shape == (0, 2)


def test_the_same_bits_alone_in_a_batch_and_on_any_threads():
    x, p = np.random.default_rng(0).normal(size=(3000, 2)), np.random.default_rng(1).normal(size=(3000, 3))
    for f in (SINGLE, fw.derivative(SINGLE), fw.jvp(SINGLE, "x"), fw.vjp(SINGLE)):
        more = [x] if f.name.startswith(("jvp", "vjp")) else []
        results = []
        for n in (1, 2):
            with fw.threads(n):
                results.append(f(x, p, *more))
        alone = f(*(a[7].copy() for a in (x, p, *more)))
        for a, b, c in zip(*(r if isinstance(r, tuple) else (r,) for r in (*results, alone)), strict=True):
            assert a.tobytes() == b.tobytes()
            assert a[7].tobytes() == c.tobytes()


def test_arguments_by_name():
    assert np.array_equal(SINGLE(p=P, x=X), SINGLE(X, P))
    assert np.array_equal(fw.jvp(SINGLE, "p")(X, P, dp=P), fw.jvp(SINGLE, "p")(X, P, P))
    assert len(fw.vjp(SEVERAL)(X, P, w_sum=1.0, w_outer=np.ones((2, 3)), w_known=0.0)) == 2


def test_later_calls_take_the_native_entry_points():
    f = fw.function(lambda x: x * 2.0, inputs={"x": 2})
    f(X), f(np.array([X, X]))
    assert len(f._entries) == 2
    assert f._entries[0](X).tolist() == (2 * X).tolist()
    assert f([0.5, 1.0]).tolist() == [1.0, 2.0]


def test_derivatives_of_several_results():
    J = fw.derivative(SEVERAL, "x")(X, P)
    assert np.allclose(J["sum"], [P[0], np.cos(X[1])])
    assert np.allclose(J["outer"], np.einsum("ij,k->ikj", np.eye(2), P))
    assert J["known"].tolist() == [0.0, 0.0]
    x, p = fw.derivative(SEVERAL)(X, P)
    assert np.allclose(p["sum"], [X[0], 0.0, 0.0])
    t = fw.jvp(SEVERAL, "p", "x")(X, P, P, X)
    assert np.isclose(t["sum"], P @ p["sum"] + X @ x["sum"])


def test_gradients_of_a_number():
    f = fw.function(lambda x: scalar.norm(x) + x @ x, inputs={"x": 40})
    x = np.linspace(-1, 1, 40)
    assert np.allclose(fw.derivative(f)(x), x / np.linalg.norm(x) + 2 * x)


def test_second_derivatives():
    """A derivative inside a function is a function like any other."""
    f = fw.function(lambda x: np.sin(x[0]) * x[1] ** 3, inputs={"x": 2})
    gradient = fw.derivative(f)
    g = fw.function(lambda x: gradient(x), inputs={"x": 2})
    a, b = X
    expected = [[-np.sin(a) * b**3, 3 * np.cos(a) * b**2], [3 * np.cos(a) * b**2, 6 * np.sin(a) * b]]
    assert np.allclose(fw.derivative(g)(X), expected, atol=1e-15)
    assert np.allclose(fw.vjp(g)(X, [1.0, 2.0])[0], np.array([1.0, 2.0]) @ expected, atol=1e-15)
    product = fw.function(lambda x, d: fw.jvp(f)(x, d), inputs={"x": 2, "d": 2})
    assert np.allclose(fw.derivative(product, "x")(X, [1.0, 2.0]), np.array([1.0, 2.0]) @ expected, atol=1e-15)


def test_functions_inside_functions():
    outer = fw.function(lambda x: 2.0 * SINGLE(x, P) + SEVERAL(x, p=P)["sum"], inputs={"x": 2})
    assert np.allclose(outer(X), 2 * SINGLE(X, P) + SEVERAL(X, P)["sum"])
    assert np.allclose(
        fw.derivative(outer)(X), 2 * fw.derivative(SINGLE, "x")(X, P) + fw.derivative(SEVERAL, "x")(X, P)["sum"]
    )
    bad = fw.function(lambda x: SINGLE([x, x], P), inputs={"x": 2})
    with pytest.raises(ValueError, match=r"x: expected one state, shape \(2,\), while tracing, got \(2, 2\)"):
        bad(X)


def test_neural_networks():
    """Layers whose weights are numbers, and weights that are inputs: as loops over memory, and backwards too."""
    rng = np.random.default_rng(0)
    W, V, x, b = rng.normal(size=(12, 8)), rng.normal(size=(9, 12)), rng.normal(size=8), rng.normal(size=9)
    hidden = np.tanh(W @ x)
    slope = (1 - hidden**2)[:, None] * W
    w = rng.normal(size=9)

    def network(x, p, b):
        return scalar.dense(p.reshape(9, 12), scalar.dense(W, x, None, scalar.tanh), b)

    f = fw.function(network, inputs={"x": 8, "p": 108, "b": 9})
    assert np.allclose(f(x, V.ravel(), b), V @ hidden + b)
    assert f.kernel.plan.operations < 600  # products are loops
    x_bar, p_bar, b_bar = fw.vjp(f)(x, V.ravel(), b, w)
    assert np.allclose(x_bar, w @ V @ slope)
    assert np.allclose(p_bar.reshape(9, 12), np.outer(w, hidden))
    assert np.array_equal(b_bar, w)
    assert np.allclose(fw.jvp(f)(x, V.ravel(), b, x, V.ravel(), b), V @ (slope @ x) + V @ hidden + b)
    assert np.allclose(fw.derivative(f, "x")(x, V.ravel(), b), V @ slope)


def test_interpreted_it_is_python():
    seen = []

    def function(x):
        seen.append(type(x[0]))
        return x * x

    f = fw.function(function, inputs={"x": 2})
    expected = f(X)
    seen.clear()
    with fw.interpret():
        assert np.array_equal(f(X), expected)
        assert np.array_equal(f([X, X]), [expected, expected])
        assert np.allclose(fw.derivative(f)([X, X])[1], np.diag(2 * X))
        assert np.allclose(fw.vjp(f)(X, X)[0], 2 * X * X)
    assert seen == [np.float64] * 3


def test_a_function_is_run_once():
    calls = []

    def function(x):
        calls.append(1)
        return x * x

    f = fw.function(function, inputs={"x": 2})
    f(X), f([X, X]), fw.derivative(f)(X), fw.vjp(f)(X, X)
    assert len(calls) == 1


def test_pickles_and_copies():
    for f in (SEVERAL, fw.derivative(SEVERAL, "x"), fw.jvp(SEVERAL, "p")):
        more = [P] if f.name.startswith("jvp") else []
        expected = f(X, P, *more)["outer"]
        for other in (pickle.loads(pickle.dumps(f)), copy.deepcopy(f)):
            assert np.array_equal(other(X, P, *more)["outer"], expected)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: fw.function(3, inputs={"x": 2}), TypeError, "expected a Python function of arrays, got int"),
        (lambda: fw.function(several, inputs=["x"]), TypeError, "inputs: expected a dictionary of sizes by name"),
        (lambda: fw.function(several, inputs={"x": MODEL}), TypeError, r"write fw\.configuration\(model\)"),
        (lambda: fw.function(several, inputs={"x": -1}), TypeError, "inputs: x: expected a number of entries"),
        (lambda: fw.function(several, inputs={"x y": 1}), TypeError, "expected names of arguments, got 'x y'"),
        (lambda: fw.function(several, {"x": 2, "p": 3}, 7)(X, P), TypeError, "outputs: expected fw.configuration"),
        (
            lambda: fw.function(several, {"x": 2, "p": 3}, {"no": fw.configuration(MODEL)})(X, P),
            TypeError,
            "outputs: several returns 'sum', 'outer', 'known'; there is no 'no'",
        ),
        (
            lambda: fw.function(several, {"x": 2, "p": 3}, {"sum": fw.configuration(MODEL)})(X, P),
            TypeError,
            r"expected a configuration of shape \(1,\), got shape \(\)",
        ),
        (lambda: fw.configuration(3), TypeError, "model: expected a featherweight Model, got int"),
        (lambda: SINGLE(X), TypeError, "p was not given"),
        (lambda: SINGLE(X, P, P), TypeError, r"expected 2 arguments \(x, p\), got 3"),
        (lambda: SINGLE(X, P, x=X), TypeError, "x was given twice"),
        (lambda: SINGLE(X, pp=P), TypeError, "there is no argument 'pp'; did you mean 'p'"),
        (lambda: SINGLE(X, P[:2]), ValueError, r"p: expected shape \(…, 3\)"),
        (lambda: SINGLE(X, [1.0, np.nan, 1.0]), ValueError, r"p\[1\] is nan; expected finite numbers"),
        (lambda: SINGLE(X, "text"), TypeError, "p: expected real numbers"),
        (lambda: SINGLE([1e4, 0.0], P), ValueError, "a result is not finite there"),
        (lambda: fw.derivative(lambda x: x), TypeError, r"make one of it by fw\.function"),
        (lambda: fw.derivative(SINGLE, "y"), ValueError, "has no input 'y'; it has x, p"),
        (lambda: fw.vjp(SINGLE, "x", "x"), ValueError, "expected each input once, got x, x"),
        (lambda: fw.jvp(SINGLE, "x")(X, P), TypeError, "dx was not given"),
        (lambda: fw.function(lambda x: None, inputs={"x": 2})(X), TypeError, "expected it to return numbers"),
        (lambda: fw.function(lambda x: (), inputs={"x": 2})(X), TypeError, "expected it to return an array"),
        (lambda: fw.function(lambda x: x > 0, inputs={"x": 2})(X), TypeError, "expected it to return numbers"),
        (lambda: fw.function(lambda x: x if x[0] > 0 else -x, inputs={"x": 2})(X), TypeError, "has no truth value yet"),
        (lambda: fw.function(lambda x, y: x, inputs={"x": 2})(X), TypeError, "missing 1 required positional argument"),
    ],
)
def test_mistakes_are_explained(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_singular_derivatives_are_refused():
    f = fw.function(lambda x: scalar.sqrt(x[0]), inputs={"x": 1})
    assert f([0.0]) == 0.0
    with pytest.raises(ValueError, match="the function or its derivative is singular"):
        fw.derivative(f)([0.0])


def test_machine_code_is_found_by_the_structure_of_the_trace():
    """Another function that does the same with other numbers of a robot compiles nothing."""

    def gradient(length):
        model = fw.robots.pendulum(length=length)
        f = fw.function(lambda q: fw.potential_energy(model, q), inputs={"q": fw.configuration(model)})
        return fw.derivative(f)

    first, second = gradient(1.25), gradient(1.75)
    first([0.3]), second([0.3])
    assert second.kernel.code(1).from_cache
    assert second([0.3])[0] == pytest.approx(first([0.3])[0] * 1.75 / 1.25)


def test_further_arguments_have_names_of_their_own() -> None:
    """Inputs and results whose names are those that tangents and weights would get."""
    h = fw.function(lambda x, dx, x_: x + 100 * dx + 200 * x_, inputs={"x": 1, "dx": 1, "x_": 1})
    push = fw.jvp(h, "x", "x_")
    assert len({x.name for x in push.inputs}) == 5
    assert push([0.0], [0.0], [0.0], [1.0], [1.0]) == 201.0
    g = fw.function(lambda x, w_a: {"a": x + w_a, "a_": 200 * x}, inputs={"x": 1, "w_a": 1})
    pull = fw.vjp(g)
    assert len({x.name for x in pull.inputs}) == 4
    assert pull([0.0], [0.0], [1.0], [1.0])[0] == 201.0
    with pytest.raises(ValueError, match="names of their own"):
        fw.function(lambda x: {1: x, "1": 2 * x}, inputs={"x": 1})([0.0])
