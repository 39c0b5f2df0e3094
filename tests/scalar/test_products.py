"""Products with matrices of weights: loops over memory that sum in a fixed order, wherever the weights stand."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy

import featherweight as fw
from featherweight import scalar
from featherweight.compiler import Argument, Graph, Kernel, interpret, traced_array
from featherweight.compiler.runtime.loop import Call, Loop
from featherweight.forces import ForceElement, Push
from featherweight.inputs import Numbers, with_fields

RNG = np.random.default_rng(0)
SHAPES = [(1, 1), (3, 2), (5, 13), (8, 9), (17, 9), (12, 64), (65, 3), (1, 100)]


def kernel(function: Any, *sizes: int, outputs: int, by_index: bool = False) -> Kernel:
    """A function of arrays, of which the last may be read by index."""
    arguments = [Argument(f"x{k}", (n,), "n") for k, n in enumerate(sizes)]
    if by_index:
        arguments[-1] = Argument("table", sizes[-1:], "n", read_by_index=True)
    return Kernel("product", arguments, [(outputs,)], lambda s, *_: ([list(function(*s))], 0), lambda _: "")


def fused(a: float, b: float, c: float) -> float:
    """a b + c, rounded once."""
    return float(Fraction(a) * Fraction(b) + Fraction(c))


def in_order(W: np.ndarray, x: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Each entry from b on, column after column, one rounding a term."""
    y = list(b)
    for j, entry in enumerate(x):
        y = [fused(w, entry, total) for w, total in zip(W[:, j], y, strict=True)]
    return np.array(y)


@pytest.mark.parametrize(("m", "n"), SHAPES)
def test_numbers_slots_and_rows_give_the_documented_sums(m: int, n: int) -> None:
    W, b, x = RNG.normal(size=(m, n)), RNG.normal(size=m), RNG.normal(size=(19, n))
    expected = np.array([in_order(W, row, b) for row in x])
    flat, turned = W.ravel(), W.T.ravel()
    ways = {
        "numbers": (kernel(lambda x: scalar.linear(W, x, b), n, outputs=m), ()),
        "by rows": (kernel(lambda x, p: scalar.linear(np.reshape(p, (m, n)), x, b), n, m * n, outputs=m), (flat,)),
        "by columns": (
            kernel(lambda x, p: scalar.linear(np.reshape(p, (n, m)).T, x, b), n, m * n, outputs=m),
            (turned,),
        ),
        "backwards": (
            kernel(lambda x, p: scalar.linear(np.reshape(p[::-1], (m, n)), x, b), n, m * n, outputs=m),
            (flat[::-1].copy(),),
        ),
        "no order": (
            kernel(lambda x, p: scalar.linear(np.reshape([*p[1:], p[0]], (m, n)), x, b), n, m * n, outputs=m),
            (np.roll(flat, 1),),
        ),
        "by index": (
            kernel(
                lambda x, p: scalar.linear(scalar.matrix(p, (m, n), 2), x, b), n, m * n + 2, outputs=m, by_index=True
            ),
            (np.concatenate([[5.0, 6.0], flat]),),
        ),
    }
    for way, (code, weights) in ways.items():
        (pack,) = code(x, *weights)
        assert pack.tobytes() == expected.tobytes(), way
        assert code(x[3], *weights)[0].tobytes() == expected[3].tobytes(), way
        with interpret():
            np.testing.assert_allclose(code(x, *weights)[0], expected, rtol=0, atol=1e-14 * n)
            np.testing.assert_allclose(code(x[3], *weights)[0], expected[3], rtol=0, atol=1e-14 * n)
    np.testing.assert_allclose(expected, x @ W.T + b, rtol=0, atol=1e-14 * n)


@pytest.mark.parametrize("by_index", [False, True])
def test_every_state_may_have_its_own_weights(by_index: bool) -> None:
    m, n, count = 13, 7, 21
    x, p = RNG.normal(size=(count, n)), RNG.normal(size=(count, m * n))

    def function(x: Any, p: Any) -> Any:
        return scalar.linear(scalar.matrix(p, (m, n)), x)

    code = kernel(function, n, m * n, outputs=m, by_index=by_index)
    expected = np.array([in_order(w.reshape(m, n), row, np.zeros(m)) for w, row in zip(p, x, strict=True)])
    assert code(x, p)[0].tobytes() == expected.tobytes()
    with interpret():
        np.testing.assert_allclose(code(x, p)[0], expected, rtol=0, atol=1e-14)


LAYERS = [(RNG.normal(size=(m, n)), RNG.normal(size=m)) for n, m in ((6, 20), (20, 11), (11, 7))]


def network(x: Any, layers: Any = LAYERS) -> Any:
    for k, (W, b) in enumerate(layers):
        x = scalar.dense(W, x, b, scalar.tanh if k < len(layers) - 1 else None)
    return x


def by_numpy(x: np.ndarray, layers: Any = LAYERS) -> np.ndarray:
    for k, (W, b) in enumerate(layers):
        x = x @ W.T + b
        x = np.tanh(x) if k < len(layers) - 1 else x
    return x


def test_layers_of_a_network() -> None:
    x = RNG.normal(size=(37, 6))
    code = kernel(network, 6, outputs=7)
    (pack,) = code(x)
    np.testing.assert_allclose(pack, by_numpy(x), rtol=0, atol=1e-12)
    assert code(x[30])[0].tobytes() == pack[30].tobytes()

    def entry_by_entry(x: Any) -> Any:
        (W1, b1), (W2, b2), (W3, b3) = LAYERS
        return scalar.linear(W3, np.tanh(scalar.linear(W2, np.tanh(scalar.linear(W1, x, b1)), b2)), b3)

    assert kernel(entry_by_entry, 6, outputs=7)(x)[0].tobytes() == pack.tobytes()


def test_layers_follow_each_other_in_memory() -> None:
    """What one product gives is not copied for the next, unless in another order."""
    graph = Graph()
    with graph.written():
        y = network([graph.input(0, k) for k in range(6)])
    assert graph.op.count("array") == 4  # x, and one for each layer
    assert graph.op.count("linear") == 3
    with graph.written():
        scalar.linear(RNG.normal(size=(40, 7)), y)
        assert graph.op.count("array") == 5
        scalar.linear(RNG.normal(size=(40, 7)), y[::-1])
    assert graph.op.count("array") == 7
    x = RNG.normal(size=(9, 6))
    W = RNG.normal(size=(40, 7))
    (pack,) = kernel(lambda x: scalar.linear(W, network(x)[::-1]), 6, outputs=40)(x)
    np.testing.assert_allclose(pack, by_numpy(x)[:, ::-1] @ W.T, rtol=0, atol=1e-12)


def test_other_weights_are_bound_to_the_same_code() -> None:
    """Also zeros and ones, which are structure elsewhere."""

    def structure(layers: Any) -> str:
        return kernel(lambda x: network(x, layers), 6, outputs=7).traced().structure

    others = [(np.round(W), np.zeros_like(b)) for W, b in LAYERS]
    assert structure(LAYERS) == structure(others)
    small = [kernel(lambda x, W=W: scalar.linear(W, x), 2, outputs=2) for W in (np.eye(2), RNG.normal(size=(2, 2)))]
    assert small[0].traced().structure == small[1].traced().structure


def test_a_policy_in_a_rollout() -> None:
    """By weights in the function, and by weights that are parameters: shared, or each robot's own."""
    model, count = fw.robots.double_pendulum(), 11
    layers = [(0.3 * RNG.normal(size=(m, n)), 0.1 * RNG.normal(size=m)) for n, m in ((4, 24), (24, 2))]
    numbers = np.concatenate([np.concatenate([W.ravel(), b]) for W, b in layers])

    def unpacked(p: Any) -> Any:
        return [(p[:96].reshape(24, 4), p[96:120]), (p[120:168].reshape(2, 24), p[168:170])]

    def given(t, q, v, x, p):
        return network(np.concatenate([q, v]), unpacked(p)), x

    def known(t, q, v, x, p):
        return network(np.concatenate([q, v]), layers), x

    def python(t, q, v):
        return by_numpy(np.concatenate([q, v]), layers)

    q, v = RNG.uniform(-1, 1, (2, count, 2))
    run = fw.rollout(model, q, v, steps=40, dt=1e-3, control=fw.compiled(known))
    again = fw.rollout(model, q, v, steps=40, dt=1e-3, control=fw.compiled(given, parameters=numbers))
    each = fw.compiled(given, parameters=np.tile(numbers, (count, 1)))
    assert again.q.tobytes() == run.q.tobytes() == fw.rollout(model, q, v, steps=40, dt=1e-3, control=each).q.tobytes()
    alone = fw.rollout(model, q[4], v[4], steps=40, dt=1e-3, control=fw.compiled(known))
    assert alone.q.tobytes() == run.q[4].tobytes()
    reference = fw.simulate(model, q[4], v[4], duration=0.04, dt=1e-3, control=python)
    np.testing.assert_allclose(alone.q, reference.q, rtol=0, atol=1e-12)
    with fw.interpret():
        plain = fw.rollout(model, q[4], v[4], steps=40, dt=1e-3, control=fw.compiled(known))
    np.testing.assert_allclose(alone.q, plain.q, rtol=0, atol=1e-12)


def test_weights_that_change_from_step_to_step() -> None:
    """All of them are read before new ones are written in their place, also where these are made first."""
    m, n, steps = 9, 8, 5
    first, x = RNG.normal(size=(11, m * n)), RNG.normal(size=n)

    def step(scalars: Any, lift: Any, mark: Any) -> Any:
        (W,) = scalars
        after = [0.9 * w + 0.01 for w in W]
        mark()
        return [after, list(scalar.linear(np.reshape(W, (m, n)), x))], 0

    loop = Loop("learning", [Argument("W", (m * n,), "n")], [], [], [(m,)], step, 1)
    states, records = np.empty((11, steps + 1, m * n)), np.empty((11, steps, m))
    loop.run(Call([first], [], [], [states], [records], steps, 1))
    W = first
    for k in range(steps):
        np.testing.assert_allclose(records[:, k], W.reshape(-1, m, n) @ x, rtol=0, atol=1e-13)
        W = 0.9 * W + 0.01


def test_products_of_arrays_that_change() -> None:
    """A product reads the entries as they were when it was asked for."""
    W = RNG.normal(size=(10, 9))

    def function(x: Any) -> Any:
        memory, mark = scalar.array(list(x)), scalar.weave() or (lambda _: None)
        before = [memory[k] for k in range(9)]
        mark("changes")  # which would be made first if nothing held them
        changes = [2.0 * x[k] + k for k in range(9)]
        mark("product")
        first = scalar.linear(W, before)
        mark("changes")
        for k in range(9):
            memory[k] = changes[k]
        after = [memory[k] for k in range(9)]
        return [*first, *scalar.linear(W, before), *scalar.linear(W, after)]

    x = RNG.normal(size=(11, 9))
    (pack,) = kernel(function, 9, outputs=30)(x)
    expected = np.concatenate([x @ W.T, x @ W.T, (2 * x + np.arange(9)) @ W.T], axis=-1)
    np.testing.assert_allclose(pack, expected, rtol=0, atol=1e-13)


def test_products_in_loops_and_branches() -> None:
    W = RNG.normal(size=(10, 10)) / 4

    def function(x: Any) -> Any:
        def turn(c: Any) -> Any:
            return list(scalar.dense(W, c, None, scalar.tanh))

        x = scalar.repeat(turn, list(x), until=lambda c: scalar.norm(c) < 0.7, at_most=6)
        return scalar.when(x[0] > 0, lambda: list(scalar.linear(W, x)), list(x))

    x = RNG.normal(size=(21, 10))
    code = kernel(function, 10, outputs=10)
    (pack,) = code(x)
    for row, found in zip(x, pack, strict=True):
        for _ in range(6):
            if np.linalg.norm(row) < 0.7:
                break
            row = np.tanh(W @ row)
        np.testing.assert_allclose(found, W @ row if row[0] > 0 else row, rtol=0, atol=1e-12)
    assert code(x[2])[0].tobytes() == pack[2].tobytes()
    with interpret():
        np.testing.assert_allclose(code(x)[0], pack, rtol=0, atol=1e-12)


@dataclass(frozen=True)
class Learned(ForceElement):
    """A torque on the first joint by two layers of a network, whose weights are a table of inputs."""

    weights: Any  # 40 by 2, then 40 of a sum

    def over(self, numbers: Numbers) -> Learned:
        return with_fields(self, weights=numbers.table(self.weights))

    def forces(self, at: Any, memory: Any) -> Push:
        hidden = scalar.dense(scalar.matrix(self.weights, (40, 2)), [at.q[0], at.v[0]], None, scalar.tanh)
        return Push(joints={0: scalar.linear(scalar.matrix(self.weights, (1, 40), 80), hidden)[0]})


def test_a_learned_force_has_its_weights_in_a_table() -> None:
    model, q, v = fw.robots.pendulum(), RNG.uniform(-1, 1, (9, 1)), RNG.uniform(-1, 1, (9, 1))
    codes = []
    for weights in RNG.normal(size=(2, 120)):
        hidden = np.tanh(np.stack([q, v], axis=-1)[:, 0] @ weights[:80].reshape(40, 2).T)
        by_hand = fw.rollout(model, q, v, steps=1, dt=1e-3, tau=(hidden @ weights[80:])[:, None, None])
        run = fw.rollout(model, q, v, steps=1, dt=1e-3, forces=Learned(weights))
        np.testing.assert_allclose(run.q, by_hand.q, rtol=0, atol=1e-12)
        codes.append({loop.kernel.code(8).machine for loop in model.cache.kernels.values() if isinstance(loop, Loop)})
    assert codes[0] == codes[1]  # the second weights compiled nothing


def test_other_scalars() -> None:
    W, x = np.array([[1.0, 2.0], [3.0, 4.0]]), [mpmath.mpf(1), mpmath.mpf(2)]
    assert scalar.linear(W, x, [1, 1]).tolist() == [6, 12]
    a, b = sympy.symbols("a b")
    assert scalar.linear(W, [a, b])[1] == 3.0 * a + 4.0 * b
    assert scalar.dense(W, [1.0, -1.0], None, lambda y: scalar.maximum(y, 0.0)).tolist() == [0.0, 0.0]
    assert scalar.linear(np.ones((2, 0)), [], [1.0, 2.0]).tolist() == [1.0, 2.0]
    table = np.arange(10.0)
    assert scalar.matrix(table, (2, 3), 1).tolist() == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    assert traced_array(scalar.linear(table[:4].reshape(2, 2), [1, 1])).tolist() == [1.0, 5.0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: scalar.linear(np.ones(3), [1.0]), r"W of shape \(m, n\), got shape \(3,\)"),
        (lambda: scalar.linear(np.ones((3, 2)), [1.0]), r"got \(3, 2\), \(1,\) and \(3,\)"),
        (lambda: scalar.linear(np.ones((3, 2)), [1.0, 2.0], [1.0]), r"got \(3, 2\), \(2,\) and \(1,\)"),
        (lambda: scalar.matrix(np.ones(5), (2, 3)), "expected 2 by 3 numbers from 0 on, got 5 in all"),
        (lambda: scalar.linear(np.array([["a"]]), [1.0]), "expected numbers in W"),
    ],
)
def test_what_does_not_fit_is_refused(call: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        call()
