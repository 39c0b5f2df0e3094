"""featherweight inside of JAX: values, derivatives against differences, vmap, jit, training, what is refused."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import featherweight as fw
from featherweight.interop import jax as fwj
from interop.models import FLOATING, SLIDES, close, cost, final, on_the_ground, slope, two_hinges

jax.config.update("jax_enable_x64", True)
N = FLOATING.nv
RNG = np.random.default_rng(1)
PAGE = Path(__file__).parents[2] / "docs/how-to/jax-and-pytorch.md"


def state() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return FLOATING.random(RNG), *RNG.normal(size=(2, N))


def weighed(f: Any, w: Any) -> Any:
    return lambda *a: (w * f(*a)).sum()


# ---- values and first derivatives


def test_values_are_those_of_the_library() -> None:
    q, v, tau = state()
    expected = fw.forward_dynamics(FLOATING, q, v, tau)
    f = fwj.forward_dynamics(FLOATING)
    for found in (f(q, v, tau), jax.jit(f)(q, v, tau)):
        assert isinstance(found, jax.Array)
        assert close(found, expected)
    pose = fwj.frame_pose(FLOATING, frame="arm")(q)
    assert isinstance(pose, fw.Pose)
    assert np.allclose(pose.position, fw.frame_pose(FLOATING, q, "arm").position, atol=1e-14)


@pytest.mark.parametrize("name", ["forward_dynamics", "inverse_dynamics"])
@pytest.mark.parametrize("staged", [False, True], ids=["eager", "jit"])
def test_gradients_are_those_of_differences(name: str, staged: bool) -> None:
    q, v, third = state()
    w, (d, dv, da) = RNG.normal(size=N), RNG.normal(size=(3, N))
    f = getattr(fwj, name)(FLOATING)
    stage = jax.jit if staged else lambda g: g
    gradients = stage(jax.grad(weighed(f, w), argnums=(0, 1, 2)))(q, v, third)
    assert [g.shape for g in gradients] == [(FLOATING.nq,), (N,), (N,)]
    dq = slope(lambda h: fw.integrate(FLOATING, q, d, h))
    own = getattr(fw, name)
    along = slope(lambda h: own(FLOATING, fw.integrate(FLOATING, q, d, h), v + h * dv, third + h * da))
    total = sum(g @ t for g, t in zip(gradients, (dq, dv, da), strict=True))
    assert abs(total - w @ along) <= 1e-6 * max(1.0, np.abs(along).max())
    _, pushed = stage(lambda *a: jax.jvp(f, a[:3], a[3:]))(q, v, third, dq, dv, da)
    assert np.abs(pushed - along).max() <= 1e-6 * max(1.0, np.abs(along).max())
    for turned in (slice(3, 7), slice(7, 11)):
        assert abs(gradients[0][turned] @ q[turned]) <= 1e-12 * np.abs(gradients[0]).max()


def test_jacobians_both_ways_are_those_of_the_library() -> None:
    q, v, tau = state()
    f = fwj.forward_dynamics(FLOATING)
    _, dv, dtau = fw.forward_dynamics_derivatives(FLOATING, q, v, tau)
    for jacobian in (jax.jacfwd, jax.jacrev):
        of_v, of_tau = jacobian(f, argnums=(1, 2))(q, v, tau)
        assert np.abs(of_v - dv).max() <= 1e-11 * np.abs(dv).max()
        assert np.abs(of_tau - dtau).max() <= 1e-11 * np.abs(dtau).max()
    M = fwj.mass_matrix(FLOATING)
    assert np.abs(M(q) - fw.mass_matrix(FLOATING, q)).max() <= 1e-13
    assert jax.jacfwd(M)(q).shape == (N, N, FLOATING.nq)


def test_the_chain_rule_through_integrate_and_normalised_quaternions() -> None:
    """A configuration from plain numbers: a step along a velocity, and quaternions divided by their length."""
    q, v, x = state()
    energy, integrate = fwj.potential_energy(FLOATING), fwj.integrate(FLOATING)

    def through_integrate(d: Any) -> Any:
        return energy(integrate(q, d, 1.0))

    g = jax.grad(through_integrate)(x)
    assert abs(g @ v - slope(lambda h: through_integrate(x + h * v))) <= 1e-7 * np.abs(g).max()

    def normalised(y: Any) -> Any:
        parts = y[:3], y[3:7] / jnp.linalg.norm(y[3:7]), y[7:11] / jnp.linalg.norm(y[7:11]), y[11:]
        return energy(jnp.concatenate(parts))

    y, d = 1.7 * q, RNG.normal(size=q.size)
    g = jax.grad(normalised)(y)
    assert abs(g @ d - slope(lambda h: normalised(y + h * d))) <= 1e-7 * np.abs(g).max()
    h = jax.jvp(jax.grad(normalised), (y,), (d,))[1]  # second derivatives, too
    assert np.abs(h - slope(lambda s: jax.grad(normalised)(y + s * d))).max() <= 1e-6 * np.abs(h).max()


def test_functions_of_users_with_several_results() -> None:
    f = fw.function(lambda x, p: {"a": p * x @ x, "b": np.sin(x)}, inputs={"x": 2, "p": ()})
    g = fwj.wrap(f)
    x = np.array([0.3, 0.4])
    found = jax.jit(g)(x, 2)
    assert sorted(found) == ["a", "b"]
    assert np.allclose(found["a"], 0.5)
    J = jax.jacrev(g)(x, 2.0)
    assert np.allclose(J["a"], 4 * x)
    assert np.allclose(J["b"], np.diag(np.cos(x)))
    third = jax.grad(jax.grad(jax.grad(lambda s: g(jnp.array([s, 0.0]), 2.0)["b"][0])))(0.3)
    assert abs(third + np.cos(0.3)) <= 1e-13


def test_gradients_with_respect_to_masses_and_wrenches() -> None:
    q, v, a = state()
    f = fwj.inverse_dynamics(FLOATING, f_ext=True, parameters=("arm.mass",))
    wrench, w = RNG.normal(size=(FLOATING.nb + 1, 6)), RNG.normal(size=N)
    of_wrench, of_mass = jax.grad(weighed(f, w), argnums=(3, 4))(q, v, a, wrench, 0.7)
    along = slope(lambda h: fw.inverse_dynamics(FLOATING, q, v, a, wrench, parameters={"arm.mass": 0.7 + h}))
    assert abs(of_mass - w @ along) <= 1e-8
    d = RNG.normal(size=wrench.shape)
    along = slope(lambda h: fw.inverse_dynamics(FLOATING, q, v, a, wrench + h * d))
    assert abs((of_wrench * d).sum() - w @ along) <= 1e-7


# ---- batches


def test_mapped_axes_become_ours() -> None:
    f, calls = fwj.forward_dynamics(FLOATING), []
    q = np.stack([FLOATING.random(RNG) for _ in range(12)])
    v, tau = RNG.normal(size=(N, 12)), RNG.normal(size=N)
    expected = fw.forward_dynamics(FLOATING, q, v.T, tau)
    found = jax.jit(jax.vmap(f, in_axes=(0, 1, None)))(q, v, tau)
    assert close(found, expected)
    nested = jax.vmap(jax.vmap(f, in_axes=(0, 0, None)), in_axes=(0, 0, None), out_axes=1)
    assert close(nested(q.reshape(3, 4, -1), v.T.reshape(3, 4, -1), tau).swapaxes(0, 1).reshape(12, N), expected)
    # leading axes inside of a mapped function, shared and not
    inner = jax.vmap(f, in_axes=(0, None, 0))(q[:3], v.T[:4], np.stack([tau] * 3))
    assert inner.shape == (3, 4, N)
    assert close(inner, fw.forward_dynamics(FLOATING, q[:3, None], v.T[:4], tau))
    operator = fw.interop.operators.operator_of(fw.function(lambda x: x * x, inputs={"x": 2}))
    run = operator.function.__class__.__call__
    try:
        type(operator.function).__call__ = lambda self, *a: calls.append(a[0].shape) or run(self, *a)  # type: ignore[method-assign,assignment]
        jax.vmap(fwj.wrap(operator.function))(np.ones((7, 2)))
    finally:
        type(operator.function).__call__ = run  # type: ignore[method-assign]
    assert calls == [(7, 2)]  # one call for all


def test_gradients_of_batches_and_batches_of_gradients() -> None:
    f = fwj.forward_dynamics(FLOATING)
    q = np.stack([FLOATING.random(RNG) for _ in range(5)])
    v, tau, w = RNG.normal(size=(5, N)), RNG.normal(size=N), RNG.normal(size=N)
    single = [jax.grad(weighed(f, w), argnums=(0, 2))(q[k], v[k], tau) for k in range(5)]
    each = jax.jit(jax.vmap(jax.grad(weighed(f, w), argnums=(0, 2)), in_axes=(0, 0, None)))(q, v, tau)
    total = jax.grad(lambda *a: jax.vmap(weighed(f, w), in_axes=(0, 0, None))(*a).sum(), argnums=(0, 2))(q, v, tau)
    broadcast = jax.grad(weighed(f, w), argnums=(0, 2))(q, v, tau)
    for k in range(5):
        assert np.abs(each[0][k] - single[k][0]).max() <= 1e-12 * np.abs(single[k][0]).max()
        assert np.abs(each[1][k] - single[k][1]).max() <= 1e-12 * np.abs(single[k][1]).max()
    for found in (total, broadcast):
        assert found[1].shape == (N,)
        assert np.abs(found[0] - each[0]).max() <= 1e-12 * np.abs(each[0]).max()
        assert np.abs(found[1] - each[1].sum(axis=0)).max() <= 1e-12 * np.abs(found[1]).max()


def test_large_batches_in_a_program_with_several_calls() -> None:
    """Callbacks of one program neither wait for each other forever nor mix."""
    f = fwj.forward_dynamics(FLOATING)
    q = np.tile(FLOATING.random(RNG), (4096, 1))
    v, tau = RNG.normal(size=(2, 4096, N))
    found = jax.jit(lambda: f(q, f(q, v, tau), tau) + f(q, v, tau))()
    expected = fw.forward_dynamics(FLOATING, q, fw.forward_dynamics(FLOATING, q, v, tau), tau)
    assert close(found, expected + fw.forward_dynamics(FLOATING, q, v, tau))


# ---- steps and rollouts


def test_steps_have_the_derivatives_of_differences() -> None:
    q, v, tau = on_the_ground()
    step = jax.jit(fwj.step(FLOATING, dt=2e-3, contact=SLIDES))
    d, dv, dtau, wv = RNG.normal(size=(4, N))
    wq = RNG.normal(size=FLOATING.nq)
    g = jax.grad(lambda *a: wq @ step(*a)[0] + wv @ step(*a)[1], argnums=(0, 1, 2))(q, v, tau)
    dq = slope(lambda h: fw.integrate(FLOATING, q, d, h))

    def at(h: float) -> Any:
        q_after, v_after = step(fw.integrate(FLOATING, q, d, h), v + h * dv, tau + h * dtau)
        return wq @ q_after + wv @ v_after

    total = sum(x @ y for x, y in zip(g, (dq, dv, dtau), strict=True))
    assert abs(total - slope(at, 1e-7)) <= 1e-5 * max(1.0, abs(total))


def test_steps_in_a_loop_have_the_gradient_of_the_rollout() -> None:
    q, v, _ = on_the_ground()
    tau = RNG.normal(size=(10, N))
    step = fwj.step(FLOATING, dt=2e-3, contact=SLIDES)
    whole = fwj.rollout_cost(cost, FLOATING, steps=10, dt=2e-3, final=final, contact=SLIDES)

    def by_steps(q: Any, v: Any, tau: Any) -> Any:
        def advance(carry: Any, force: Any) -> Any:
            t, q, v = carry
            return (t + 2e-3, *step(q, v, force)), cost(t, q, v, force, None)

        (_, q, v), costs = jax.lax.scan(advance, (0.0, q, v), tau)
        return costs.sum() + final(q, v, None)

    value, g = jax.jit(jax.value_and_grad(whole, argnums=(0, 1, 2)))(q, v, tau)
    again, by_hand = jax.value_and_grad(by_steps, argnums=(0, 1, 2))(q, v, tau)
    assert abs(value - again) <= 1e-9 * abs(value)
    for x, y in zip(g, by_hand, strict=True):
        assert np.abs(x - y).max() <= 1e-6 * np.abs(y).max()
    many = jax.vmap(jax.grad(whole, argnums=2), in_axes=(None, 0, None))(q, np.stack([v, v + 0.1]), tau)
    assert np.abs(many[0] - g[2]).max() <= 1e-12 * np.abs(g[2]).max()
    with pytest.raises(NotImplementedError, match="second derivatives"):
        jax.hessian(whole)(q, v, tau)


def test_training_a_plan_of_forces_makes_its_cost_fall() -> None:
    q, v, _ = on_the_ground()
    loss = jax.jit(jax.value_and_grad(fwj.rollout_cost(cost, FLOATING, steps=30, dt=2e-3, contact=SLIDES), argnums=2))
    tau = jnp.zeros((30, N))
    values = []
    for _ in range(8):
        value, g = loss(q, v, tau)
        values.append(float(value))
        tau = tau - 0.1 * g / jnp.linalg.norm(g)
    assert all(after < before for before, after in pairwise(values))
    assert values[-1] < 0.9 * values[0]


def test_training_finds_masses() -> None:
    arm = two_hinges()
    q, v, a = RNG.normal(size=(3, 100, 2))
    right = np.array([1.4, 0.6])
    measured = fw.inverse_dynamics(arm, q, v, a, parameters={"upper.mass": right[0], "hand.mass": right[1]})
    inverse = fwj.inverse_dynamics(arm, parameters=("upper.mass", "hand.mass"))

    @jax.jit
    @jax.value_and_grad
    def loss(log_masses: Any) -> Any:
        return ((inverse(q, v, a, *jnp.exp(log_masses)) - measured) ** 2).mean()

    x, values = jnp.zeros(2), []
    for _ in range(400):
        value, g = loss(x)
        values.append(float(value))
        x = x - 0.1 * g
    assert values[-1] < 1e-6 * values[0]
    assert np.allclose(np.exp(x), right, atol=1e-3)


# ---- what is refused


def test_bad_states_are_nan_and_have_a_status() -> None:
    f = jax.jit(fwj.forward_dynamics(FLOATING, status=True))
    q = np.stack([FLOATING.random(RNG) for _ in range(4)])
    v, tau = RNG.normal(size=(2, N))
    _, status = f(q, v, tau)
    assert status.tolist() == [0, 0, 0, 0]
    q[2, 3:7] *= 1.5
    found, status = f(q, v, tau)
    assert status.dtype == np.int32
    assert status.tolist() == [0, 0, 1, 0]
    assert np.isnan(found).any(axis=1).tolist() == [False, False, True, False]
    g = jax.grad(lambda *a: f(*a)[0].sum())(q, v, tau)
    assert np.isnan(g).any(axis=1).tolist() == [False, False, True, False]
    mapped = jax.vmap(f, in_axes=(0, None, None))(q, v, tau)[1]
    assert mapped.tolist() == [0, 0, 1, 0]
    assert np.isnan(jax.jit(fwj.step(FLOATING, dt=1e-3))(q, v * np.nan, tau)[0]).all()


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda f, q, v, t: f(q, v), TypeError, r"expected 3 arguments \(q, v, tau\), got 2"),
        (lambda f, q, v, t: f(q, v[:-1], t), ValueError, r"forward_dynamics: v: expected shape \(…, 10\), got \(9,\)"),
        (lambda f, q, v, t: f(np.stack([q] * 3), np.stack([v] * 2), t), ValueError, "do not broadcast together: q "),
        (lambda f, q, v, t: f(q.astype(np.float32), v, t), TypeError, "q: expected float64, got float32; convert it"),
        (lambda f, q, v, t: f(q, v, t * 1j), TypeError, "tau: expected real numbers"),
        (lambda f, q, v, t: f(q, v, t > 0), TypeError, "tau: expected real numbers"),
        (lambda f, q, v, t: fwj.wrap(len), TypeError, "f: expected a function made by fw.function"),
        (lambda f, q, v, t: fwj.step(FLOATING, dt=0.0), ValueError, "dt: expected"),
        (lambda f, q, v, t: fwj.jacobian(FLOATING), TypeError, "jacobian: expected frame="),
        (lambda f, q, v, t: fwj.mass_matrix(FLOATING, status=1), TypeError, "status: expected True or False"),
    ],
)
def test_mistakes_are_named_also_under_jit(call: Any, error: type[Exception], text: str) -> None:
    f = fwj.forward_dynamics(FLOATING)
    with pytest.raises(error, match=text):
        call(f, *state())
    with pytest.raises(error, match=text):
        call(lambda *a: jax.jit(f)(*a), *state())


def test_what_is_no_array_is_named() -> None:
    q, v, _ = state()
    with pytest.raises(TypeError, match="forward_dynamics: tau: expected real numbers, got str"):
        fwj.forward_dynamics(FLOATING)(q, v, "tau")


def test_single_precision_is_converted_if_asked() -> None:
    q, v, tau = state()
    f = fwj.forward_dynamics(FLOATING, convert=True)
    halves = [x.astype(np.float32) for x in (q, v, tau)]
    halves[0] = fw.integrate(FLOATING, q, v, 0.0).astype(np.float32)
    found, g = jax.value_and_grad(lambda *a: f(*a).sum())(*halves)
    assert found.dtype == g.dtype == np.float32
    assert abs(found - fw.forward_dynamics(FLOATING, q, v, tau).sum()) <= 1e-4 * np.abs(f(q, v, tau)).max()
    assert f(halves[0], v, tau).dtype == np.float64
    assert f(q, np.zeros(N, dtype=int), tau).dtype == np.float64


def test_without_double_precision_there_is_a_line_that_says_what_to_do() -> None:
    code = (
        "import featherweight as fw\nfrom featherweight.interop import jax as fwj\n"
        "fwj.mass_matrix(fw.robots.pendulum())([0.0])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    last = result.stderr.strip().splitlines()[-1]
    assert last.startswith("RuntimeError: featherweight computes in double precision, and JAX is in single precision")
    assert 'jax.config.update("jax_enable_x64", True)' in last


def test_the_names_are_those_of_torch_and_have_docstrings() -> None:
    from featherweight.interop import torch as fwt

    assert fwj.__all__ == fwt.__all__ == sorted(fwj.__all__)
    for module in (fwj, fwt):
        for name in module.__all__:
            assert len(getattr(module, name).__doc__) > 100, name
            assert getattr(module, name).__name__ == name


@pytest.mark.parametrize("library", ["JAX", "PyTorch"])
def test_the_code_of_the_page_runs(library: str) -> None:
    sections = re.split(r"^## ", PAGE.read_text(), flags=re.M)
    (section,) = [s for s in sections if s.startswith(f"{library}\n")]
    code = "\n".join(re.findall(r"```python\n(.*?)```", section, re.S))
    assert "assert" in code
    exec(compile(code, str(PAGE), "exec"), {})
