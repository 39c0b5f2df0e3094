"""Constants given in a call do what the same constants do in the model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import featherweight as fw
from featherweight.compiler.runtime import interpretation
from laws.measure import allowance, close, law
from laws.random_trees import Body, build, inertia, recipes, state, states

pytestmark = pytest.mark.usefixtures("interpreted")


def changed(body: Body, rng: np.random.Generator) -> Body:
    """Other numbers for all that can be a parameter; the rotor stays."""
    other, kind = inertia(rng), body.joint
    at = fw.Placement(rng.normal(size=3), rotation=np.array(body.placement.rotation, dtype=float))
    return replace(
        body,
        inertia=other,
        placement=at,
        armature=rng.uniform(0.0, 0.5, kind.nv),
        damping=rng.uniform(0.0, 0.5, kind.nv),
        friction=rng.uniform(0.0, 0.5, kind.nv),
        stiffness=rng.uniform(0.0, 5.0, kind.nv),
        rest=kind.random(rng),
    )


def constants(body: Body) -> dict[str, Any]:
    """Parameters by name, as calls give them."""
    joint = f"{body.name}_joint"
    of_joint = {
        f"{joint}.{what}": getattr(body, what) for what in ("armature", "damping", "friction", "stiffness", "rest")
    }
    return {
        f"{body.name}.mass": body.inertia.mass,
        f"{body.name}.com": body.inertia.com,
        f"{body.name}.moment": body.inertia.moment_about_com,
        f"{joint}.position": np.array(body.placement.position),
        **{name: value if len(value) > 1 else value[0] for name, value in of_joint.items()},
    }


def results(model: fw.Model, q: Any, v: Any, a: Any, **options: Any) -> list[np.ndarray]:
    """Every function whose value depends on some constant."""
    frame, up = model.names[-1], (0.0, 0.0, 1.0)
    return [
        fw.inverse_dynamics(model, q, v, a, **options),
        fw.joint_wrenches(model, q, v, a, **options),
        fw.mass_matrix(model, q, **options),
        fw.bias_force(model, q, v, **options),
        fw.gravity_force(model, q, **options),
        fw.coriolis_matrix(model, q, v, **options),
        fw.passive_force(model, q, v, **options),
        fw.kinetic_energy(model, q, v, **options),
        fw.potential_energy(model, q, **options),
        fw.center_of_mass(model, q, **options),
        fw.com_jacobian(model, q, **options),
        fw.momentum(model, q, v, **options),
        fw.centroidal_momentum_matrix(model, q, **options),
        fw.centroidal_bias(model, q, v, **options),
        *fw.forward_kinematics(model, q, **options),
        *fw.frame_pose(model, q, frame, **options),
        fw.jacobian(model, q, frame, "world", **options),
        fw.jacobian_dot(model, q, v, frame, "world", **options),
        fw.body_velocity(model, q, v, frame, "world", **options),
        fw.body_acceleration(model, q, v, a, frame, "world", **options),
        fw.wrench_on(model, q, frame, np.ones(6), "world", **options),
        *fw.inverse_dynamics_derivatives(model, q, v, a, **options),
        fw.regressor(model, q, v, a, **options),
    ], [
        fw.forward_dynamics(model, q, v, a, **options),
        *fw.hybrid_dynamics(model, q, v, a, a, [model.joint_names[0]], **options),
        fw.mass_matrix_inverse(model, q, **options),
        fw.solve_mass_matrix(model, q, a, **options),
        fw.delassus(model, q, [frame], **options),
        fw.unit_force_response(model, q, frame, up, **options),
        *fw.forward_dynamics_derivatives(model, q, v, a, **options),
    ]


def agree(found: Any, right: Any, tolerance: float) -> None:
    for easy in zip(found[0], right[0], strict=True):
        close(*easy)
    for solved in zip(found[1], right[1], strict=True):
        close(*solved, tolerance)


@law
@given(recipes(most=5))
def test_given_constants_are_those_of_a_model_built_with_them(bodies: list[Body]) -> None:
    rng = np.random.default_rng(len(bodies))
    others = [changed(body, rng) if k % 2 == 0 else body for k, body in enumerate(bodies)]
    values = {name: x for body in others[::2] for name, x in constants(body).items()}
    values["gravity"] = (1.0, -2.0, 3.0)
    model, other = build(bodies, parameters=tuple(values)), build(others, gravity=values["gravity"])
    q, v, a = state(model)
    right = results(other, q, v, a)
    agree(results(model, q, v, a, parameters=values), right, 1e-12 * allowance(other, q))


@law
@given(recipes(most=5, mimic=True))
def test_constants_that_are_not_given_are_the_models_own(bodies: list[Body]) -> None:
    plain = build(bodies)
    names = [f"{body.name}{what}" for body in bodies for what in (".mass", ".com", ".moment", "_joint.position")]
    names += [f"{body.name}_joint.{what}" for body in bodies for what in ("armature", "damping", "stiffness", "rest")]
    model = build(bodies, parameters=(*names, "gravity"))
    q, v, a = states(model, 2)
    for f, x in ((fw.inverse_dynamics, (q, v, a)), (fw.passive_force, (q, v)), (fw.potential_energy, (q,))):
        close(f(model, *x), f(plain, *x))
        close(f(model, *x, parameters={}), f(plain, *x))
        default = {name: model.parameters[name].default for name in names[::3]}
        close(f(model, *x, parameters=default), f(plain, *x))


@law
@given(recipes(most=4))
def test_constants_broadcast_like_states(bodies: list[Body]) -> None:
    """Three masses on an axis of their own, over two states: six robots, each as if called alone."""
    name, joint = bodies[-1].name, f"{bodies[-1].name}_joint"
    model = build(bodies, parameters=(f"{name}.mass", f"{name}.com", f"{joint}.armature", "gravity"))
    q, v, tau = states(model, 2)
    shape = model.parameters[f"{joint}.armature"].shape
    values = {
        f"{name}.mass": np.array([[1.0], [2.0], [3.0]]),
        f"{name}.com": np.random.default_rng(1).normal(size=(2, 3)),
        f"{joint}.armature": np.random.default_rng(2).uniform(size=(3, 1, *shape)),
    }
    together = fw.forward_dynamics(model, q, v, tau, parameters=values)
    assert together.shape == (3, 2, model.nv)
    for k in range(3):
        for state_number in range(2):
            one = {
                f"{name}.mass": values[f"{name}.mass"][k, 0],
                f"{name}.com": values[f"{name}.com"][state_number],
                f"{joint}.armature": values[f"{joint}.armature"][k, 0],
            }
            x = (q[state_number], v[state_number], tau[state_number])
            alone = fw.forward_dynamics(model, *x, parameters=one)
            close(together[k, state_number], alone, 1e-12 * allowance(model, q))
    # several parameters over one state
    several = fw.mass_matrix(model, q[0], parameters={f"{name}.mass": np.array([1.0, 2.0, 3.0])})
    assert several.shape == (3, model.nv, model.nv)


@law
@given(recipes(most=5, mimic=True))
def test_mass_matrix_is_linear_in_the_masses(bodies: list[Body]) -> None:
    """M(m) = M(0) + m dM/dm for each mass, when the moments about the centre of mass stay."""
    name = bodies[0].name
    model = build(bodies, parameters=(f"{name}.mass",))
    q, _, _ = state(model)
    M = fw.mass_matrix(model, q, parameters={f"{name}.mass": np.array([0.0, 1.0, 3.0])})
    close(M[2] - M[0], 3 * (M[1] - M[0]))


def test_the_inertia_of_a_rotor_cannot_be_given() -> None:
    """It is in three places: the carrier's mass, the joint's armature, the spin."""
    wheel = fw.Rotor(6.0, fw.Inertia(0.5, (0, 0, 0), 0.01))
    builder = fw.Builder("arm", parameters=("link_joint.rotor.moment",))
    builder.add_body("link", joint=fw.joints.Revolute("x"), inertia=fw.Inertia.sphere(1, 0.1), rotor=wheel)
    with pytest.raises(fw.ModelError, match=r"there is no constant 'link_joint.rotor.moment'"):
        builder.build()


def test_one_compiled_kernel_serves_all_constants() -> None:
    """The same through native code, one state and a batch."""
    link = fw.Inertia.box(1.0, (0.1, 0.2, 0.3), (0.1, 0.0, 0.2))
    names = ("link.mass", "link_joint.damping", "link_joint.stiffness")

    def pendulum(mass: float, **options: Any) -> fw.Model:
        body = fw.Inertia(mass, link.com, link.moment_about_com)
        return fw.Builder("pendulum", **options).add_body("link", joint=fw.joints.Universal(), inertia=body).build()

    model, masses = pendulum(1.0, parameters=names), np.array([0.5, 2.0, 3.0])
    q, v, tau = state(model)
    with Compiled():
        batch = fw.forward_dynamics(model, q, v, tau, parameters={"link.mass": masses})
        for mass, a in zip(masses, batch, strict=True):
            one = fw.forward_dynamics(model, q, v, tau, parameters={"link.mass": mass})
            assert (one == a).all()
            close(one, fw.forward_dynamics(pendulum(mass), q, v, tau))
        force = fw.passive_force(model, q, v, parameters={"link_joint.damping": [2.0, 3.0]})
        close(force, [-2.0, -3.0] * v)


class Compiled:
    """Native code again, inside `fw.interpret()`."""

    def __enter__(self) -> None:
        self.token = interpretation._entered.set(())

    def __exit__(self, *error: object) -> None:
        interpretation._entered.reset(self.token)
