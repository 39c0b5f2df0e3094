"""Functions with dynamics inside: configurations in their tangent space, forward dynamics by its rule."""

from __future__ import annotations

import mpmath
import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings

import featherweight as fw
from featherweight import scalar
from featherweight.differentiation import pushforward, replayed, traced
from featherweight.dynamics.functions import FORWARD_DYNAMICS
from joints.kinds import JOINTS, random_state
from laws import random_trees
from peers.pinocchio_adapter import pinocchio_model, random_states, robot

ROBOT = "go2"


def forward_dynamics(model, **options):
    inputs = {"q": fw.configuration(model), "v": model.nv, "tau": model.nv}
    return fw.function(lambda q, v, tau: fw.forward_dynamics(model, q, v, tau, **options), inputs=inputs)


def along(model, f, q, d, eps=1e-6):
    """df at q ⊕ d, by differences."""
    return (f(fw.integrate(model, q, d, eps)) - f(fw.integrate(model, q, -d, eps))) / (2 * eps)


def close(found, expected, tolerance):
    return np.all(np.abs(found - expected) <= tolerance * max(1.0, np.abs(expected).max()))


# ---- the tangent space


@pytest.mark.parametrize("name", [name for name, kind in JOINTS.items() if kind.nv])
def test_directions_are_those_of_integrate(name):
    """d(q ⊕ δ)/dδ at 0 by `integrate`, differentiated as it is written, and by differences of 50 digits."""
    kind = JOINTS[name]
    q, _ = random_state(kind, 1)
    builder = fw.Builder("one")
    builder.add_body("body", parent="world", joint=kind, inertia=fw.Inertia.box(1.0, (0.1, 0.2, 0.3)))
    model = builder.build()
    f = fw.function(lambda q: q, inputs={"q": fw.configuration(model)})
    found = fw.derivative(f)(q)

    def written(values):
        moved = pushforward(
            lambda x: kind.integrate(x[: kind.nq], x[kind.nq :]),
            [*values, *[0.0] * kind.nv],
            [*[{}] * kind.nq, *({c: 1.0} for c in range(kind.nv))],
        )
        return [t.get(c, 0.0) for t in moved for c in range(kind.nv)]

    by_integrate = replayed(traced(written, list(q), [True] * kind.nq), [np.float64(x) for x in q])
    assert np.allclose(found.ravel(), np.array(by_integrate, dtype=float), atol=1e-14)
    with mpmath.workdps(50):
        eps = mpmath.mpf(10) ** -20
        for c in range(kind.nv):
            d = [eps if k == c else mpmath.mpf(0) for k in range(kind.nv)]
            ends = (
                kind.integrate([mpmath.mpf(x) for x in q], d),
                kind.integrate([mpmath.mpf(x) for x in q], [-x for x in d]),
            )
            expected = [float((a - b) / (2 * eps)) for a, b in zip(*ends, strict=True)]
            assert np.allclose(found[:, c], expected, atol=1e-13)


@settings(max_examples=15, deadline=None)
@given(random_trees.trees(most=5, mimic=True))
def test_the_derivative_of_potential_energy_is_the_force_of_gravity_and_springs(model):
    """For every joint kind: forces are what the tangent space pairs with."""
    q, v, _ = random_trees.state(model)
    energy = fw.function(lambda q: fw.potential_energy(model, q), inputs={"q": fw.configuration(model)})
    with fw.interpret():
        expected = fw.gravity_force(model, q) - fw.passive_force(model, q, np.zeros(model.nv))
        assert close(fw.derivative(energy)(q), expected, 1e-11)
        assert close(fw.vjp(energy)(q, 1.0)[0], expected, 1e-11)
        assert np.isclose(fw.jvp(energy)(q, v), expected @ v, atol=1e-9)


@settings(max_examples=6, deadline=None)
@given(random_trees.trees(most=5, mimic=True))
def test_the_derivative_of_forward_kinematics_is_the_jacobian(model):
    q, _, _ = random_trees.state(model)
    frame = model.frame_names[-1]
    f = fw.function(lambda q: fw.frame_pose(model, q, frame).position, inputs={"q": fw.configuration(model)})
    with fw.interpret():
        assert close(fw.derivative(f)(q), fw.jacobian(model, q, frame, "world_aligned")[:3], 1e-12)


@settings(max_examples=10, deadline=None)
@given(random_trees.trees(most=4, mimic=True))
def test_results_that_are_configurations_have_directions_too(model):
    """A step q ⊕ v h of a state, in the tangent spaces of both of its ends."""
    q, v, d = random_trees.state(model)
    w = np.random.default_rng(5).normal(size=model.nv)
    here = fw.configuration(model)
    f = fw.function(
        lambda q, v: (fw.integrate(model, q, v, 0.3), v), inputs={"q": here, "v": model.nv}, outputs=(here, None)
    )
    with fw.interpret():
        end, _ = f(q, v)
        (J_q, zero), (J_v, one) = fw.derivative(f)(q, v)
        t, _ = fw.jvp(f, "q")(q, v, d)
        back, _ = fw.vjp(f)(q, v, w, np.zeros(model.nv))
        sides = [fw.difference(model, end, f(fw.integrate(model, q, s * d, 1e-6), v)[0]) for s in (1, -1)]
        moved = (sides[0] - sides[1]) / 2e-6
        pushed = (
            fw.difference(model, end, f(q, v + 1e-6 * d)[0]) - fw.difference(model, end, f(q, v - 1e-6 * d)[0])
        ) / 2e-6
    assert close(J_q @ d, moved, 1e-7)
    assert close(J_v @ d, pushed, 1e-7)
    assert close(t, J_q @ d, 1e-12)
    assert close(back, w @ J_q, 1e-12)
    assert not zero.any()
    assert np.array_equal(one, np.eye(model.nv))


# ---- forward dynamics


@settings(max_examples=12, deadline=None)
@given(random_trees.trees(most=5, mimic=True))
def test_forward_dynamics_on_trees_of_all_joints(model):
    """Against the derivative of inverse dynamics, ∂q̈ = -M⁻¹ ∂τ, by differences; both modes agree."""
    q, v, tau = random_trees.state(model)
    rng = np.random.default_rng(0)
    d, w = rng.normal(size=(3, model.nv)), rng.normal(size=model.nv)
    f = forward_dynamics(model)
    with fw.interpret():
        a = fw.forward_dynamics(model, q, v, tau)
        back = fw.vjp(f)(q, v, tau, w)
        t = fw.jvp(f)(q, v, tau, *d)
        eps = 1e-6
        sides = [
            fw.inverse_dynamics(model, fw.integrate(model, q, d[0], s * eps), v + s * eps * d[1], a) for s in (1, -1)
        ]
        expected = fw.solve_mass_matrix(model, q, d[2] - (sides[0] - sides[1]) / (2 * eps))
    scale = max(1.0, np.abs(w).max() * np.abs(expected).max())
    assert close(t, expected, 1e-6)
    assert abs(w @ t - sum(z @ x for z, x in zip(back, d, strict=True))) < 1e-9 * scale * model.nv


def test_forward_dynamics_against_pinocchio():
    theirs, model = pinocchio_model(ROBOT, "free"), robot(ROBOT, "free")
    q, v, tau = (x[:3] for x in random_states(theirs, 3))
    w = np.random.default_rng(0).normal(size=v.shape)
    f = forward_dynamics(model)
    with fw.interpret():
        J = fw.derivative(f)(q, v, tau)
    back = fw.vjp(f)(q, v, tau, w)
    data = theirs.createData()
    for k in range(3):
        pin.computeABADerivatives(theirs, data, q[k], v[k], tau[k])
        M_inverse = np.triu(data.Minv) + np.triu(data.Minv, 1).T
        for found, row, expected in zip(J, back, (data.ddq_dq, data.ddq_dv, M_inverse), strict=True):
            assert close(found[k], expected, 1e-12)
            assert close(row[k], w[k] @ expected, 1e-12)


def test_wrenches_and_parameters():
    """Cotangents of f_ext, and of the robot's own constants."""
    declared = ("b.mass", "b.com", "a.moment", "b_joint.armature", "gravity")
    builder = fw.Builder("arm", gravity=(0, 0, -9.81), parameters=declared)
    box = fw.Inertia.box(1.3, (0.1, 0.2, 0.4), (0.05, 0.02, 0.2))
    place = fw.Placement((0.1, 0.0, 0.3), rpy=(0.2, 0.1, 0.4))
    builder.add_body("a", parent="world", joint=fw.joints.Spherical(), inertia=box)
    builder.add_body("b", parent="a", joint=fw.joints.Universal("x", "y"), inertia=box, placement=place, armature=0.1)
    model = builder.build()
    names = list(model.parameters)
    shapes = [model.parameters[n].shape for n in names]
    inputs = {"q": fw.configuration(model), "v": model.nv, "tau": model.nv, "f": (model.nb + 1, 6)}
    inputs |= {f"p{k}": shape for k, shape in enumerate(shapes)}

    def function(q, v, tau, f, *p):
        return fw.forward_dynamics(model, q, v, tau, f, parameters=dict(zip(names, p, strict=True)))

    compiled = fw.function(function, inputs=inputs)
    rng = np.random.default_rng(3)
    q, v, tau, f = model.random(rng), *rng.normal(size=(2, model.nv)), rng.normal(size=(model.nb + 1, 6))
    values = [q, v, tau, f, *(model.parameters[n].default.copy() for n in names)]
    w = rng.normal(size=model.nv)
    found = fw.vjp(compiled)(*values, w)
    for k, value in enumerate(values[1:], start=1):
        expected = np.zeros_like(value)
        for index in np.ndindex(value.shape):
            if index and len(index) == 2 and k >= 4 and index[0] > index[1]:
                continue  # a moment of inertia is read from its upper triangle
            sides = []
            for sign in (1, -1):
                moved = value.copy()
                moved[index] += sign * 1e-6
                sides.append(w @ compiled(*values[:k], moved, *values[k + 1 :]))
            expected[index] = (sides[0] - sides[1]) / 2e-6
        assert close(found[k], expected, 1e-7)
    expected = [along(model, lambda x: w @ compiled(x, *values[1:]), q, d) for d in np.eye(model.nv)]
    assert close(found[0], expected, 1e-7)


def test_the_gradient_costs_little_more_than_twice_the_function_and_is_linear_in_the_bodies():
    def operations(model):
        f = forward_dynamics(model)
        return fw.vjp(f).kernel.plan.operations, FORWARD_DYNAMICS.kernel(model).plan.operations

    for model in (robot(ROBOT, "free"), fw.robots.mini_cheetah()):
        gradient, value = operations(model)
        assert gradient <= 2.5 * value
    short, middle, long = (operations(fw.robots.chain(n))[0] for n in (20, 40, 80))
    assert long - middle == 2 * (middle - short)


def test_a_gradient_does_not_go_back_through_articulated_bodies():
    """Going through them is right, too, and takes more operations: that is how the rule is known to be followed."""
    model = fw.robots.chain(6)
    q, v, tau = random_trees.state(model)
    by_rule, through = (fw.vjp(forward_dynamics(model)) for _ in range(2))
    through.function.program.graph.ruled.clear()
    assert by_rule.kernel.plan.operations < 0.95 * through.kernel.plan.operations
    for found, expected in zip(by_rule(q, v, tau, tau), through(q, v, tau, tau), strict=True):
        assert close(found, expected, 1e-12)


def test_what_asks_for_no_derivative_is_the_same_program():
    """Forward dynamics inside a function is that of the library, operation by operation."""
    model = fw.robots.mini_cheetah()
    f = forward_dynamics(model)
    q, v, tau = random_trees.states(model, 9)
    assert f(q, v, tau).tobytes() == fw.forward_dynamics(model, q, v, tau).tobytes()
    assert f.kernel.plan.operations <= FORWARD_DYNAMICS.kernel(model).plan.operations


def test_solves_have_the_rule_too():
    model = fw.robots.chain(4)
    inputs = {"q": fw.configuration(model), "b": model.nv}
    f = fw.function(lambda q, b: fw.solve_mass_matrix(model, q, b), inputs=inputs)
    q, b, w = random_trees.state(model)
    Jq, Jb = fw.derivative(f)(q, b)
    assert close(Jb, fw.mass_matrix_inverse(model, q), 1e-12)
    expected = np.array([along(model, lambda x: f(x, b), q, d) for d in np.eye(model.nv)]).T
    assert close(Jq, expected, 1e-7)
    assert close(fw.vjp(f, "q")(q, b, w)[0], w @ Jq, 1e-12)


def test_second_derivatives_of_dynamics():
    model = fw.robots.chain(3)
    f = forward_dynamics(model)
    q, v, tau = random_trees.state(model)
    gradient = fw.vjp(f, "q")
    g = fw.function(lambda q: gradient(q, v, tau, np.ones(3))[0], inputs={"q": fw.configuration(model)})
    expected = np.array([along(model, g, q, d) for d in np.eye(3)]).T
    assert close(fw.derivative(g)(q), expected, 1e-6)


def test_configurations_are_checked():
    model = fw.robots.mini_cheetah()
    f = fw.function(lambda q: fw.center_of_mass(model, q), inputs={"q": fw.configuration(model)})
    q = model.neutral()
    f(q)
    for g in (f, fw.derivative(f)):
        with pytest.raises(ValueError, match=r"q: joint '.*': the quaternion .* has length 2"):
            g([*q[:3], 0.0, 0.0, 0.0, 2.0, *q[7:]])
        with pytest.raises(ValueError, match=r"q: expected shape \(…, 19\), that is \(…, nq\)"):
            g(q[:-1])


def test_a_single_entry_of_forward_dynamics():
    model = fw.robots.chain(3)
    q, v, tau = random_trees.state(model)
    inputs = {"q": fw.configuration(model), "v": model.nv, "tau": model.nv}
    f = fw.function(lambda q, v, tau: fw.forward_dynamics(model, q, v, tau)[1], inputs=inputs)
    expected = [along(model, lambda x: f(x, v, tau), q, d) for d in np.eye(3)]
    assert close(fw.derivative(f, "q")(q, v, tau), expected, 1e-7)
    assert close(fw.jvp(f, "q")(q, v, tau, np.ones(3)), np.sum(expected), 1e-7)


def test_a_whole_motion_of_a_loop_backwards():
    """Steps of dynamics in `scalar.count`: the rule is followed in each turn, and turns are stored."""
    model = fw.robots.chain(2)

    def final(q, v, damping):
        def step(k, state):
            a = fw.forward_dynamics(model, state["q"], state["v"], [-damping * x for x in state["v"]])
            v = [x + 0.02 * y for x, y in zip(state["v"], a, strict=True)]
            return {"q": list(fw.integrate(model, state["q"], v, 0.02)), "v": v}

        end = scalar.count(15, step, {"q": list(q), "v": list(v)})
        return end["q"][0] ** 2 + end["v"][1]

    f = fw.function(final, inputs={"q": fw.configuration(model), "v": 2, "damping": ()})
    q, v = np.array([0.3, 0.4]), np.array([0.1, -0.2])
    gradient = fw.vjp(f)(q, v, 0.5, 1.0)
    eps = 1e-6
    by_q = [(f(q + eps * d, v, 0.5) - f(q - eps * d, v, 0.5)) / (2 * eps) for d in np.eye(2)]
    by_v = [(f(q, v + eps * d, 0.5) - f(q, v - eps * d, 0.5)) / (2 * eps) for d in np.eye(2)]
    by_damping = (f(q, v, 0.5 + eps) - f(q, v, 0.5 - eps)) / (2 * eps)
    for found, expected in zip(gradient, (by_q, by_v, by_damping), strict=True):
        assert close(found, np.array(expected), 1e-8)
