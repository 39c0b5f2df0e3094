"""One source, any scalar: floats, NumPy, 40 digits, symbols, dual numbers, one lane and packs agree."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
import sympy

import featherweight as fw
from featherweight import algorithms
from laws.random_trees import states, tree

TREES = {
    "pendulum": fw.robots.pendulum(),
    "double_pendulum": fw.robots.double_pendulum(),
    "cartpole": fw.robots.cartpole(pole_inertia=0.02),
    "chain": fw.robots.chain(4),
    "floating tree": tree(
        [0, 1, 2, 1, 4, 4], ["free", "revolute x", "prismatic any", "revolute any", "revolute z", "prismatic x"], 1
    ),
    "two roots": tree([0, 0, 1, 2], ["revolute y", "free", "free", "revolute any"], 2),
}
SMALL = ("pendulum", "double_pendulum", "cartpole")
robots = pytest.mark.parametrize("name", TREES)


def over(model: fw.Model, scalar: Any, q: Any, v: Any, x: Any) -> list[np.ndarray]:
    """Acceleration, joint forces, mass matrix and poses, with every number made by `scalar`."""
    trees = model.over(scalar, lambda: None)
    q, v, x = ([scalar(e) for e in array] for array in (q, v, x))
    poses = algorithms.forward_kinematics(trees, q)
    return [
        np.array(algorithms.forward_dynamics(trees, q, v, x, None)[0]),
        np.array(algorithms.inverse_dynamics(trees, q, v, x, None)[0]),
        np.array(algorithms.mass_matrix(trees, q)),
        np.array([[e for row in X.E.T for e in row] for X in poses]),
        np.array([list(X.r) for X in poses]),
    ]


def public(model: fw.Model, q: np.ndarray, v: np.ndarray, x: np.ndarray) -> list[np.ndarray]:
    poses = fw.forward_kinematics(model, q)
    return [
        fw.forward_dynamics(model, q, v, x),
        fw.inverse_dynamics(model, q, v, x),
        fw.mass_matrix(model, q),
        poses.rotation.reshape(*q.shape[:-1], -1, 9),
        poses.position,
    ]


def agree(x: np.ndarray, y: np.ndarray, tolerance: float = 1e-12) -> None:
    x, y = x.astype(float), y.astype(float)
    assert np.abs(x - y).max() <= tolerance * max(1.0, np.abs(y).max())


@robots
def test_floats_numpy_and_compiled_agree_with_forty_digits(name: str) -> None:
    model = TREES[name]
    q, v, x = states(model, 11)
    with fw.interpret():
        numpy = public(model, q, v, x)
    packs = public(model, q, v, x)
    for k in (0, 10):
        with mpmath.workdps(40):
            truth = over(model, lambda e: mpmath.mpf(float(e)), q[k], v[k], x[k])
        floats = over(model, float, q[k], v[k], x[k])
        single = public(model, q[k].copy(), v[k].copy(), x[k].copy())
        for right, *others in zip(truth, floats, single, strict=True):
            for other in others:
                agree(other, right)
        for right, batch, one, array in zip(truth, packs, single, numpy, strict=True):
            agree(batch[k], right)
            agree(array[k], right)
            assert (batch[k] == one).all()


@pytest.mark.parametrize("name", SMALL)
def test_symbols_agree_with_numbers(name: str) -> None:
    """The same source on SymPy gives the equations of motion."""
    model = TREES[name]
    q, v, x = (sympy.symbols(f"{s}0:{model.nv}", real=True) for s in ("q", "v", "x"))
    tree = model.over(sympy.nsimplify, lambda: None)
    tau = algorithms.inverse_dynamics(tree, q, v, x, None)[0]
    M = algorithms.mass_matrix(tree, q)
    a = algorithms.forward_dynamics(tree, q, v, x, None)[0]
    numbers = [states(model, 1, seed=3)[k][0] for k in range(3)]
    values = {
        s: float(n)
        for symbols, array in zip((q, v, x), numbers, strict=True)
        for s, n in zip(symbols, array, strict=True)
    }
    right = public(model, *numbers)
    agree(np.array([sympy.sympify(e).subs(values) for e in a]), right[0])
    agree(np.array([sympy.sympify(e).subs(values) for e in tau]), right[1])
    agree(np.array([[sympy.sympify(e).subs(values) for e in row] for row in M]), right[2])


def test_symbols_give_the_textbook_pendulum() -> None:
    q, v, a = sympy.symbols("q v a", real=True)
    tree = fw.robots.pendulum(length=2.0, mass=3.0).over(sympy.nsimplify, lambda: None)
    tau = algorithms.inverse_dynamics(tree, [q], [v], [a], None)[0][0]
    g = sympy.Rational(981, 100)
    assert sympy.simplify(tau - (12 * a + 6 * g * sympy.sin(q))) == 0


def test_symbols_give_the_derivatives_of_the_textbook_pendulum() -> None:
    q, v, x = sympy.symbols("q v x", real=True)
    tree = fw.robots.pendulum(length=2.0, mass=3.0).over(sympy.nsimplify, lambda: None)
    g = sympy.Rational(981, 100)
    dq, dv, da = algorithms.inverse_dynamics_derivatives(tree, [q], [v], [x], None)
    (Dq, Dv, Dtau), _ = algorithms.forward_dynamics_derivatives(tree, [q], [v], [x], None)
    right = (6 * g * sympy.cos(q), 0, 12, -g * sympy.cos(q) / 2, 0, sympy.Rational(1, 12))
    for found, expected in zip((dq, dv, da, Dq, Dv, Dtau), right, strict=True):
        assert sympy.simplify(found[0][0] - expected) == 0


@robots
def test_derivatives_by_complex_numbers_and_by_differences_agree(name: str) -> None:
    """∂τ/∂v and ∂τ/∂q by a complex step: the road to automatic derivatives stays open."""
    model = TREES[name]
    if any(isinstance(j.kind, fw.joints.Free) for j in model.joints):
        columns = range(model.nv)
    else:
        columns = range(2 * model.nv)
    q, v, a = (x[0] for x in states(model, 1))
    tree = model.over(complex, lambda: None)
    for j in columns:
        q_c, v_c = [mpmath.mpc(e) for e in q], [mpmath.mpc(e) for e in v]
        dq, dv = np.zeros(model.nq), np.zeros(model.nv)
        target, step, k = (v_c, dv, j) if j < model.nv else (q_c, dq, j - model.nv)
        target[k] += mpmath.mpc(0, 1e-100)
        step[k] = 1e-4
        tau = algorithms.inverse_dynamics(tree, q_c, v_c, [mpmath.mpc(e) for e in a], None)[0]
        exact = np.array([float(mpmath.mpc(e).imag) * 1e100 for e in tau])
        difference = (
            8 * (fw.inverse_dynamics(model, q + dq, v + dv, a) - fw.inverse_dynamics(model, q - dq, v - dv, a))
            - (
                fw.inverse_dynamics(model, q + 2 * dq, v + 2 * dv, a)
                - fw.inverse_dynamics(model, q - 2 * dq, v - 2 * dv, a)
            )
        ) / 12e-4
        agree(exact, difference, 1e-8)


def test_rotation_of_a_quarter_turn_is_exact_while_tracing() -> None:
    """Structure folds: a chain of parallel axes needs no 3×3 products."""
    from featherweight.dynamics.functions import FORWARD_DYNAMICS

    plain = FORWARD_DYNAMICS.kernel(fw.robots.chain(6)).plan.operations
    skew = FORWARD_DYNAMICS.kernel(tree([0, 1, 2, 3, 4, 5], ["revolute any"] * 6, 4)).plan.operations
    assert plain < 0.5 * skew
