"""Operators: tangents and cotangents in all nq numbers of a configuration, against differences along the manifold."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import featherweight as fw
from featherweight.contact import Impulse, Plane, SpringDamper
from featherweight.interop.dynamics import INPUTS, operator_named
from featherweight.interop.operators import Operator, operator_of
from featherweight.interop.rollouts import RolloutCost
from featherweight.interop.steps import Step
from featherweight.interop.tangents import maps
from laws import random_trees

KINDS = ["universal any", "spherical", "helical any", "planar x", "prismatic any"]
TREE = random_trees.build(random_trees.floating(random_trees.bodies([0, 1, 1, 3, 2], KINDS, 3)))
RNG = np.random.default_rng(7)


def state(model: fw.Model = TREE) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return model.random(RNG), *RNG.normal(size=(2, model.nv))


def slope(f: Any, eps: float = 1e-6) -> Any:
    """Along a line or a curve that begins at 0."""
    return (f(eps) - f(-eps)) / (2 * eps)


def energy() -> fw.functions.Function:
    def f(q: Any, v: Any, p: Any) -> Any:
        return fw.kinetic_energy(TREE, q, p[0] * v) + p[1] * fw.potential_energy(TREE, q), fw.center_of_mass(TREE, q)

    return fw.function(f, inputs={"q": fw.configuration(TREE), "v": TREE.nv, "p": 2})


# ---- the space of configurations


def test_the_maps_are_those_of_the_documented_convention() -> None:
    """E by differences of integrate; P E = 1, and E P is the orthogonal projection where there are quaternions."""
    q, n = TREE.random(RNG), TREE.nv
    E = maps(TREE).rate(q, np.eye(n)).T
    for k, d in enumerate(np.eye(n)):
        column = slope(lambda h, d=d: fw.integrate(TREE, q, d, h))  # type: ignore[misc]
        assert np.abs(E[:, k] - column).max() <= 1e-9
    P = maps(TREE).velocity(q, np.eye(TREE.nq)).T
    assert np.abs(P @ E - np.eye(n)).max() <= 1e-13
    assert np.abs(P - np.linalg.pinv(E)).max() <= 1e-12
    w, u = RNG.normal(size=n), RNG.normal(size=TREE.nq)
    assert np.abs(maps(TREE).on_velocity(q, u) - E.T @ u).max() <= 1e-13
    assert np.abs(maps(TREE).on_numbers(q, w) - P.T @ w).max() <= 1e-13


def test_the_chain_rule_through_quaternions_that_are_normalised() -> None:
    """x ↦ f(x / |x|) for any x: the gradient follows from the one that is tangent."""
    f = operator_of(energy())
    q, v, p = TREE.random(RNG), RNG.normal(size=TREE.nv), np.array([1.3, 0.7])
    turned = [slice(j.q.start + j.kind.orientation.start, j.q.start + j.kind.orientation.stop)
              for j in TREE.independent_joints if j.kind.orientation is not None]  # fmt: skip
    assert len(turned) == 2
    x = q.copy()
    for part in turned:
        x[part] *= RNG.uniform(0.5, 2.0)

    def normalised(x: np.ndarray) -> np.ndarray:
        y = x.copy()
        for part in turned:
            y[part] /= np.linalg.norm(x[part])
        return y

    (g,) = f.pull((0,))(normalised(x), v, p, np.array(1.0), np.zeros(3))
    for part in turned:
        assert abs(g[part] @ normalised(x)[part]) <= 1e-12 * np.abs(g).max()
        g[part] /= np.linalg.norm(x[part])  # ∂(x / |x|)/∂x = (1 - n nᵀ) / |x|, and g has no part along n
    d = RNG.normal(size=TREE.nq)
    expected = slope(lambda h: f(normalised(x + h * d), v, p)[0])
    assert abs(g @ d - expected) <= 1e-7 * np.abs(g).max()


# ---- functions


def test_push_and_pull_are_those_of_differences() -> None:
    f = operator_of(energy())
    q, v, p = TREE.random(RNG), RNG.normal(size=TREE.nv), np.array([1.3, 0.7])
    d, dv, dp = RNG.normal(size=TREE.nv), RNG.normal(size=TREE.nv), RNG.normal(size=2)
    dq = maps(TREE).rate(q, d)
    found = f.push((0, 1, 2))(q, v, p, dq, dv, dp)
    ends = [f(fw.integrate(TREE, q, d, h), v + h * dv, p + h * dp) for h in (1e-6, -1e-6)]
    for own, ahead, back in zip(found, *ends, strict=True):
        assert np.abs(own - (ahead - back) / 2e-6).max() <= 1e-7 * max(1.0, np.abs(own).max())
    w = RNG.normal(), RNG.normal(size=3)
    cotangents = f.pull((0, 1, 2))(q, v, p, np.array(w[0]), w[1])
    total = sum((c * t).sum() for c, t in zip(cotangents, (dq, dv, dp), strict=True))
    assert abs(total - sum(np.sum(a * b) for a, b in zip(w, found, strict=True))) <= 1e-11 * abs(total) + 1e-11
    # what changes lengths of quaternions does not count
    longer = dq + (q - fw.integrate(TREE, q, 0 * d, 1.0)) + 0.3 * (np.eye(TREE.nq) - _projection(q)) @ q
    for own, again in zip(found, f.push((0, 1, 2))(q, v, p, longer, dv, dp), strict=True):
        assert np.abs(own - again).max() <= 1e-11 * max(1.0, np.abs(own).max())


def _projection(q: np.ndarray) -> np.ndarray:
    E = maps(TREE).rate(q, np.eye(TREE.nv)).T
    return E @ np.linalg.pinv(E)


def test_a_subset_of_inputs_has_the_same_derivatives() -> None:
    f = operator_of(energy())
    arguments = (TREE.random(RNG), RNG.normal(size=TREE.nv), np.array([1.3, 0.7]), np.array(0.4), RNG.normal(size=3))
    whole = f.pull((0, 1, 2))(*arguments)
    assert np.abs(f.pull((1,))(*arguments)[0] - whole[1]).max() <= 1e-14 * np.abs(whole[1]).max()
    assert f.pull((1,)) is f.pull([1])
    assert f.pull((0,)).transpose is not None
    assert f.pull((0,)).transpose() is f.push((0,))


def test_second_derivatives_are_those_of_differences() -> None:
    f = operator_of(energy())
    q, v, p = TREE.random(RNG), RNG.normal(size=TREE.nv), np.array([1.3, 0.7])
    w = np.array(1.0), np.zeros(3)
    d = RNG.normal(size=TREE.nv)
    dq = maps(TREE).rate(q, d)
    pull = f.pull((0, 1))
    on_q, on_v = pull.push((0,))(q, v, p, *w, dq)
    ends = [pull(fw.integrate(TREE, q, d, h), v, p, *w) for h in (1e-6, -1e-6)]
    for own, ahead, back in zip((on_q, on_v), *ends, strict=True):
        assert np.abs(own - (ahead - back) / 2e-6).max() <= 1e-6 * np.abs(own).max()
    # symmetric along the manifold
    other = maps(TREE).rate(q, RNG.normal(size=TREE.nv))
    assert abs(other @ on_q - dq @ pull.push((0,))(q, v, p, *w, other)[0]) <= 1e-10 * np.abs(on_q).max()


def test_every_named_function_is_the_one_of_the_library() -> None:
    frame = {"frame": "body4"}
    options: dict[str, dict[str, Any]] = {
        name: frame for name in ("frame_pose", "jacobian", "jacobian_dot", "body_velocity", "body_acceleration")
    }
    q, v, a = state()
    known = {"q": q, "q0": q, "v": v, "a": a, "tau": a, "b": a, "dt": np.array(0.3), "q1": TREE.random(RNG)}
    with fw.interpret():
        for name, inputs in INPUTS.items():
            operator = operator_named(name, TREE, options.get(name, {}))
            results = operator(*(known[x] for x in inputs))
            expected = getattr(fw, name)(TREE, *(known[x] for x in inputs), **options.get(name, {}))
            own = operator.build(results)
            assert type(own) is type(expected) or isinstance(expected, (float, np.floating, np.ndarray)), name
            for x, y in zip(results, expected if isinstance(expected, tuple) else (expected,), strict=True):
                assert np.abs(x - y).max() <= 1e-12 * max(1.0, np.abs(y).max()), name


def test_wrenches_and_parameters_are_further_arguments() -> None:
    build = fw.Builder("arm", parameters=("hand.mass", "hand.com"))
    build.add_body("upper", joint=fw.joints.Revolute("y"), inertia=fw.Inertia.point(1.0, (0, 0, -0.5)))
    build.add_body(
        "hand", parent="upper", joint=fw.joints.Revolute("y"), inertia=fw.Inertia.sphere(0.5, 0.1, (0, 0, -0.2))
    )
    arm = build.build()
    f = operator_named("inverse_dynamics", arm, {}, f_ext=True, parameters=("hand.mass",))
    assert [slot.name for slot in f.inputs] == ["q", "v", "a", "f_ext", "hand_mass"]
    q, v, a, wrench = *RNG.normal(size=(3, 2)), RNG.normal(size=(3, 6))
    assert f is operator_named("inverse_dynamics", arm, {}, f_ext=True, parameters=["hand.mass"])
    (tau,) = f(q, v, a, wrench, np.array(0.8))
    expected = fw.inverse_dynamics(arm, q, v, a, wrench, parameters={"hand.mass": 0.8})
    assert np.abs(tau - expected).max() <= 1e-13
    w = RNG.normal(size=2)
    (of_mass,) = f.pull((4,))(q, v, a, wrench, np.array(0.8), w)
    assert abs(of_mass - slope(lambda h: w @ f(q, v, a, wrench, np.array(0.8 + h))[0])) <= 1e-8


# ---- steps and rollouts

BALL = fw.Builder("ball").add_body("ball", joint=fw.joints.Free(), inertia=fw.Inertia.box(1.0, (0.2, 0.3, 0.1)))
BALL_MODEL = BALL.add_contact_point("south", parent="ball", position=(0, 0, -0.05), radius=0.05).build()
SLIDES = Impulse(ground=Plane(friction=0.2), tolerance=1e-13)


def on_the_ground() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    q = np.array([0.1, 0.2, 0.1 - 1e-4, 0.0, 0.0, 0.0, 1.0])
    q[3:] += 0.01 * RNG.normal(size=4)
    q[3:] /= np.linalg.norm(q[3:])
    return q, np.array([1.0, 0.3, -0.2, 0.1, -0.2, 0.3]), RNG.normal(size=6)


def test_a_step_has_the_derivatives_of_differences() -> None:
    step = Step(BALL_MODEL, 2e-3, {"contact": SLIDES})
    q, v, tau = on_the_ground()
    found = fw.linearize(BALL_MODEL, q, v, tau, dt=2e-3, contact=SLIDES)
    assert np.abs(step(q, v, tau)[0] - found.q).max() <= 1e-12
    d, dv, dtau = RNG.normal(size=(3, 6))
    dq = maps(BALL_MODEL).rate(q, d)
    moved = step.push((0, 1, 2))(q, v, tau, dq, dv, dtau)
    ends = [step(fw.integrate(BALL_MODEL, q, d, h), v + h * dv, tau + h * dtau) for h in (1e-7, -1e-7)]
    for own, ahead, back in zip(moved, *ends, strict=True):
        assert np.abs(own - (ahead - back) / 2e-7).max() <= 1e-5 * max(1.0, np.abs(own).max())
    wq, wv = RNG.normal(size=7), RNG.normal(size=6)
    back = step.pull((0, 1, 2))(q, v, tau, wq, wv)
    total = sum(c @ t for c, t in zip(back, (dq, dv, dtau), strict=True))
    assert abs(total - (wq @ moved[0] + wv @ moved[1])) <= 1e-11 * max(1.0, abs(total))
    assert abs(back[0][3:] @ q[3:]) <= 1e-12
    assert np.array_equal(step.pull((1,))(q, v, tau, wq, wv)[0], back[1])
    with pytest.raises(NotImplementedError, match="push of step has no derivative"):
        step.push((0,)).push((0,))


def test_a_batch_of_steps_has_the_numbers_of_single_ones() -> None:
    step = Step(BALL_MODEL, 2e-3, {"contact": SLIDES})
    states = [on_the_ground() for _ in range(6)]
    q, v = (np.stack([s[k] for s in states]).reshape(2, 3, -1) for k in (0, 1))
    tau, wq, wv = states[0][2], RNG.normal(size=(3, 7)), RNG.normal(size=6)
    many = step.pull((0, 1, 2))(q, v, tau, wq, wv)
    assert [x.shape for x in many] == [(2, 3, 7), (2, 3, 6), (2, 3, 6)]
    one = step.pull((0, 1, 2))(q[1, 2], v[1, 2], tau, wq[2], wv)
    for a, b in zip(many, one, strict=True):
        assert np.abs(a[1, 2] - b).max() <= 1e-12 * max(1.0, np.abs(b).max())


def cost(t: Any, q: Any, v: Any, tau: Any, x: Any) -> Any:
    return q[0] * q[0] + (1 + t) * (v @ v) + 1e-2 * (tau @ tau)


def final(q: Any, v: Any, x: Any) -> Any:
    return 3.0 * q[2] + q[3] * q[4] + v[1]


def test_the_cost_of_a_rollout_has_the_gradient_of_differences() -> None:
    f = RolloutCost(cost, BALL_MODEL, 20, 2e-3, final, None, {"contact": SLIDES})
    q, v, _ = on_the_ground()
    tau = RNG.normal(size=(20, 6))
    value, _ = fw.rollout_gradient(
        cost, BALL_MODEL, q, v, tau=tau, steps=20, dt=2e-3, final=final, contact=SLIDES, wrt=()
    )
    assert abs(f(q, v, tau)[0] - value) <= 1e-12 * abs(value)
    d, dv, dtau = *RNG.normal(size=(2, 6)), RNG.normal(size=(20, 6))
    dq = maps(BALL_MODEL).rate(q, d)
    (moved,) = f.push((0, 1, 2))(q, v, tau, dq, dv, dtau)
    ends = [f(fw.integrate(BALL_MODEL, q, d, h), v + h * dv, tau + h * dtau)[0] for h in (1e-7, -1e-7)]
    assert abs(moved - (ends[0] - ends[1]) / 2e-7) <= 1e-5 * abs(moved)
    g = f.pull((0, 1, 2))(q, v, tau, np.array(2.0))
    total = sum((c * t).sum() for c, t in zip(g, (dq, dv, dtau), strict=True))
    assert abs(total - 2.0 * moved) <= 1e-11 * abs(total)
    many = f.pull((2,))(q, np.stack([v, v + 0.1]), tau, np.array([2.0, 1.0]))[0]
    assert many.shape == (2, 20, 6)
    assert np.abs(many[0] - g[2]).max() <= 1e-12 * np.abs(g[2]).max()


def test_the_cost_of_a_controller_has_a_gradient() -> None:
    def spring(t: Any, q: Any, v: Any, x: Any, p: Any) -> Any:
        return [-p[0] * (q[0] - x[0]) - p[1] * v[0]], [x[0] + 0.01 * p[2]]

    build = fw.Builder("cart", parameters=("cart.mass",))
    cart = build.add_body("cart", joint=fw.joints.Prismatic("x"), inertia=fw.Inertia.point(1.0)).build()
    control = fw.compiled(spring, state=np.zeros(1), parameters=[3.0, 0.2, 0.1])
    names = ("p", "q", "v", "cart.mass", "x")
    own = lambda t, q, v, tau, x: q @ q + tau @ tau + x @ x  # noqa: E731
    f = RolloutCost(own, cart, 30, 1e-2, None, names, {"control": control})
    at = [np.array([2.0, 0.3, 0.4]), np.array([0.5]), np.array([0.1]), np.array(1.2), np.array([0.2])]
    found = f.pull(range(5))(*at, np.array(1.0))
    for k, g in enumerate(found):
        d = RNG.normal(size=g.shape)
        expected = slope(lambda h, k=k, d=d: f(*(x + h * d if j == k else x for j, x in enumerate(at)))[0])  # type: ignore[misc]
        assert abs((g * d).sum() - expected) <= 1e-7 * max(1.0, abs(expected))


# ---- what is wrong


@pytest.mark.parametrize("operator", [operator_of(energy()).pull((0, 1)), operator_of(energy())], ids=["pull", "value"])
def test_bad_states_are_nan_and_no_others(operator: Operator) -> None:
    q = np.stack([TREE.random(RNG) for _ in range(12)]).reshape(3, 4, -1)
    v, p, w = RNG.normal(size=(4, TREE.nv)), np.array([1.3, 0.7]), (np.array(1.0), np.zeros(3))
    arguments = [q, v, p, *w][: len(operator.inputs)]
    expected = operator(*arguments)
    q[1, 2] *= 1.1
    q[2, 0, 1] = np.nan
    results, status = operator.tolerant(*arguments)
    assert np.argwhere(status).tolist() == [[1, 2], [2, 0]]
    for own, right in zip(results, expected, strict=True):
        assert np.isnan(own[status == 1]).all()
        assert np.array_equal(own[status == 0], right[status == 0])


def test_a_single_bad_state_is_nan() -> None:
    results, status = operator_of(energy()).tolerant(np.zeros(TREE.nq), np.zeros(TREE.nv), np.ones(2))
    assert (results[0].shape, results[1].shape, status.tolist()) == ((), (3,), 1)
    assert np.isnan(results[0])


def test_bad_states_of_steps_and_rollouts_are_nan() -> None:
    states = [on_the_ground() for _ in range(5)]
    q, v, tau = (np.stack([s[k] for s in states]) for k in range(3))
    q[1, 3:] = 0.0
    v[4, 0] = 1e200
    for operator, arguments in (
        (Step(BALL_MODEL, 2e-3, {"contact": SLIDES}), (q, v, tau)),
        (Step(BALL_MODEL, 2e-3, {"contact": SLIDES}).pull((0,)), (q, v, tau, np.ones(7), np.ones(6))),
        (RolloutCost(cost, BALL_MODEL, 3, 2e-3, None, ("q", "v"), {}), (q, v)),
    ):
        results, status = operator.tolerant(*arguments)
        assert status.tolist() == [0, 1, 0, 0, 1]
        for own in results:
            assert np.isnan(own[[1, 4]]).all()
            assert np.isfinite(own[[0, 2, 3]]).all()


def test_an_empty_batch_is_empty() -> None:
    step = Step(BALL_MODEL, 2e-3, {})
    found = step.pull((0,))(np.zeros((0, 7)), np.zeros((0, 6)), np.zeros(6), np.zeros(7), np.zeros(6))
    assert found[0].shape == (0, 7)
    assert operator_of(energy())(np.zeros((0, TREE.nq)), np.zeros(TREE.nv), np.ones(2))[1].shape == (0, 3)


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: operator_of(len), TypeError, r"f: expected a function made by fw.function, got builtin.*; make one"),
        (lambda: operator_of(3), TypeError, r"f: expected a function made by fw.function, got int$"),
        (lambda: operator_named("mass_matrix", TREE, {"frame": "x"}), TypeError, "mass_matrix: no option 'frame'"),
        (lambda: operator_named("jacobian", TREE, {}), TypeError, "jacobian: expected frame="),
        (lambda: operator_named("jacobian", TREE, {"frame": "bodi4"}), KeyError, "did you mean 'body4'"),
        (lambda: operator_named("mass_matrix", TREE, {}, f_ext=True), TypeError, "f_ext: mass_matrix takes no"),
        (lambda: operator_named("mass_matrix", TREE, {}, parameters="m"), TypeError, "parameters: expected names"),
        (lambda: operator_named("mass_matrix", TREE, {}, parameters=["m"]), ValueError, "parameters: .* none declared"),
        (lambda: operator_named("mass_matrix", 3, {}), TypeError, "model: expected a featherweight Model"),  # type: ignore[arg-type]
        (lambda: Step(TREE, -1.0, {}), ValueError, "dt: expected"),
        (lambda: Step(TREE, 1e-3, {"contacts": None}), TypeError, "no option 'contacts'; expected some of contact,"),
        (lambda: Step(BALL_MODEL, 1e-3, {"contact": SpringDamper()}), ValueError, "remembers from step to step"),
        (lambda: RolloutCost(None, TREE, 3, 1e-3, None, None, {}), ValueError, "cost, final: expected a function"),
        (lambda: RolloutCost(cost, TREE, 0, 1e-3, None, None, {}), ValueError, "steps: expected a whole number"),
        (lambda: RolloutCost(cost, TREE, 3, 1e-3, None, ("q", "p"), {}), ValueError, "inputs: expected names among"),
        (lambda: RolloutCost(cost, TREE, 3, 1e-3, None, ("q",), {}), ValueError, "inputs: expected q, v and further"),
        (lambda: RolloutCost(cost, TREE, 3, 1e-3, None, None, {"control": len}), TypeError, "control: expected"),
        (lambda: operator_of(energy()).batch([(3,), (2,), (2,)]), ValueError, r"f: q: expected shape \(…, "),
        (lambda: operator_of(energy()).batch([(4, TREE.nq), (3, TREE.nv), (2,)]), ValueError, "do not broadcast"),
    ],
)  # fmt: skip
def test_mistakes_are_named(make: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        make()


@pytest.mark.parametrize("library", ["jax", "torch"])
def test_without_the_library_there_is_a_line_that_says_what_to_install(library: str) -> None:
    code = f"import sys; sys.modules[{library!r}] = None\nimport featherweight.interop.{library}"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    last = result.stderr.strip().splitlines()[-1]
    assert last == (
        f'ModuleNotFoundError: featherweight.interop.{library} needs {library}: pip install "featherweight[{library}]"'
    )
