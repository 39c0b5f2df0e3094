"""Gyroscopic terms of semi-implicit steps: spinning bodies keep their energy, alone and in trees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import featherweight as fw
from featherweight.algorithms.gyroscopic import half_turn
from featherweight.integrators import SemiImplicit
from featherweight.spatial import Symmetric, Vector
from simulation.semi_implicit_reference import free_turn, middle_velocity, own_inertia, step
from simulation.test_linearize import differences, worst
from simulation.test_orders import every_kind

J = fw.joints
STILL = (0.0, 0.0, 0.0)
ROD, BOX = (1.0, 0.01, 0.01), (0.1, 0.2, 0.3)
EXPLICIT, TWO_STAGE = SemiImplicit(gyroscopic="explicit"), SemiImplicit(gyroscopic="two_stage")


def thrown(size: tuple[float, float, float], at: tuple[float, float, float] = STILL) -> fw.Model:
    return (
        fw.Builder("thrown", gravity=STILL).add_body("b", joint=J.Free(), inertia=fw.Inertia.box(1, size, at)).build()
    )


def spinning(*w: float) -> np.ndarray:
    return np.array([0.0, 0.0, 0.0, *w])


def gain(model: fw.Model, v: Any, seconds: float, **options: Any) -> np.ndarray:
    """The energy at each step less that at the beginning, over the kinetic energy then."""
    run = fw.rollout(model, model.neutral(), v, steps=round(seconds / 1e-3), dt=1e-3, **options)
    assert run.status == fw.Status.OK
    energy = fw.kinetic_energy(model, run.q, run.v) + fw.potential_energy(model, run.q)
    return (energy - energy[0]) / fw.kinetic_energy(model, run.q[0], run.v[0])


@pytest.mark.parametrize(
    ("size", "w"),
    [(ROD, (300, 5, 5)), (ROD, (3000, 5, 5)), (ROD, (10, 20, 20)), (BOX, (0.01, 10, 0.01)), (BOX, (3, 10, -5))],
)
def test_a_body_in_flight_keeps_energy_and_angular_momentum(size: Any, w: Any) -> None:
    model, v = thrown(size), spinning(*w)
    run = fw.rollout(model, model.neutral(), v, steps=5000, dt=1e-3)
    inertia = own_inertia(model, 1, True)
    momentum = np.linalg.norm(run.v[:, 3:] @ inertia, axis=1)
    assert np.abs(gain(model, v, 5.0)).max() <= 1e-12
    assert np.abs(momentum / momentum[0] - 1).max() <= 1e-12


def test_by_the_terms_at_the_beginning_the_same_rod_is_lost() -> None:
    model = thrown(ROD)
    run = fw.rollout(model, model.neutral(), spinning(300, 5, 5), steps=1000, dt=1e-3, integrator=EXPLICIT)
    assert run.status == fw.Status.DIVERGED
    assert gain(thrown(BOX), spinning(0.01, 10, 0.01), 5.0, integrator=EXPLICIT)[-1] >= 0.01


def test_angular_velocity_is_of_second_order() -> None:
    model, v, errors = thrown(BOX), spinning(1, 10, 2), {}
    exact = fw.rollout(model, model.neutral(), v, steps=8000, dt=0.5 / 8000, integrator="rk4").v[-1]
    for method, order in ((SemiImplicit(), 2), (EXPLICIT, 1)):
        for steps in (250, 500):
            run = fw.rollout(model, model.neutral(), v, steps=steps, dt=0.5 / steps, integrator=method)
            errors[steps] = np.abs(run.v[-1] - exact).max()
        assert abs(np.log2(errors[250] / errors[500]) - order) <= 0.1


@pytest.mark.parametrize("method", [SemiImplicit(), EXPLICIT, TWO_STAGE], ids=lambda m: m.gyroscopic)
@pytest.mark.parametrize("base", [J.Free(), None], ids=["floating", "bolted"])
def test_a_step_is_what_the_documentation_says(method: SemiImplicit, base: Any) -> None:
    """On a tree with every kind of joint: free and ball joints inside, mimic joints, a rotor."""
    model, h = every_kind((0.0, 0.0, -9.81), base=base), 1e-3
    rng = np.random.default_rng(5)
    q, v, tau = model.random(rng), 3 * rng.normal(size=model.nv), rng.normal(size=model.nv)
    middle = v if method == EXPLICIT else middle_velocity(model, q, v, h)
    if method == TWO_STAGE:
        middle = v + h / 2 * fw.forward_dynamics(model, q, middle, tau)
    assert (np.abs(middle - v).max() > 1e-3) == (method != EXPLICIT)
    run = fw.rollout(model, q, v, steps=1, dt=h, tau=tau[None], integrator=method, limits=False)
    for found, expected in zip((run.q[-1], run.v[-1]), step(model, q, v, h, middle, tau), strict=True):
        assert np.abs(found - expected).max() <= 1e-13 * np.abs(expected).max()
    with fw.interpret():
        again = fw.rollout(model, q, v, steps=1, dt=h, tau=tau[None], integrator=method, limits=False)
    assert np.abs(again.v[-1] - run.v[-1]).max() <= 1e-13 * np.abs(run.v).max()
    many = fw.rollout(model, [q] * 11, [v] * 11, steps=1, dt=h, tau=tau[None], integrator=method, limits=False)
    assert (many.v == run.v).all()


def top(size: tuple[float, float, float], **joint: Any) -> fw.Model:
    inertia = fw.Inertia.box(1.0, size, (0, 0, 0.05))
    return fw.Builder("top").add_body("top", joint=J.Spherical(), inertia=inertia, **joint).build()


def test_heavy_tops_on_a_ball_joint() -> None:
    assert np.abs(gain(top((0.02, 0.02, 0.3)), [3, 0, 300], 2.0)).max() <= 0.4
    assert np.abs(gain(top((0.2, 0.2, 0.02)), [1, 0, 300], 2.0)).max() <= 3e-7


def test_armature_has_inertia_and_no_gyroscopic_term() -> None:
    """Energy with it is kept all the same."""
    moment = np.diag([0.01, 0.02, 0.025])
    ball = fw.Builder("ball", gravity=STILL).add_body(
        "b", joint=J.Spherical(), inertia=fw.Inertia(1.0, STILL, moment), armature=0.01
    )
    model, w = ball.build(), np.array([5.0, 20.0, -3.0])
    assert np.abs(gain(model, w, 2.0)).max() <= 1e-12
    after = fw.rollout(model, model.neutral(), w, steps=1, dt=1e-3).v[-1]
    assert np.abs(after - (2 * free_turn(moment, w, 1e-3, 0.01) - w)).max() <= 1e-12


def carried(root: fw.Inertia, joint: J.Joint, limb: fw.Inertia, at: tuple[float, float, float], **extra: Any) -> Any:
    build = fw.Builder("carried", gravity=STILL).add_body("root", joint=J.Free(), inertia=root)
    return build.add_body("limb", parent="root", joint=joint, placement=fw.Placement(at), inertia=limb, **extra).build()


@pytest.mark.parametrize("spin", [30.0, 300.0])
def test_a_rod_with_a_flap_on_a_spring(spin: float) -> None:
    flap = fw.Inertia.box(0.1, (0.05, 0.02, 0.02))
    model = carried(fw.Inertia.box(1.0, ROD), J.Revolute("y"), flap, (0.3, 0, 0), damping=0.002, stiffness=0.5)
    assert gain(model, [0, 0, 0, spin, 5, 5, 0], 1.0).max() <= 0.01
    run = fw.rollout(model, model.neutral(), [0, 0, 0, spin, 5, 5, 0], steps=1000, dt=1e-3, integrator=EXPLICIT)
    energy = fw.kinetic_energy(model, run.q, run.v)
    assert energy[-1] >= 2 * energy[0]


def test_heavy_limbs_on_a_light_root() -> None:
    """The terms act on the bodies that have them: a couple at the joint would tear the light one away in 30 steps."""
    light, rod = fw.Inertia.box(0.01, (0.02, 0.02, 0.02)), fw.Inertia.box(1.0, ROD)
    assert np.abs(gain(carried(light, J.Spherical(), rod, (0.1, 0, 0)), [0] * 6 + [300, 5, 5], 1.0)).max() <= 1e-7
    hinged = carried(light, J.Revolute("y"), rod, STILL, damping=0.002, stiffness=0.5)
    assert gain(hinged, [0, 0, 0, 10, 5, 5, 0], 1.0).max() <= 0.11
    assert gain(hinged, [0, 0, 0, 10, 5, 5, 0], 1.0, integrator=TWO_STAGE).max() <= 0.001


def test_ropes_of_spinning_rods_in_two_stages() -> None:
    """Three rods on ball joints, each at some 30 rad/s: by the terms at the beginning half of them blow up."""
    build, above = fw.Builder("rope"), "world"
    for k in range(3):
        rod, at = fw.Inertia.box(0.5, (0.04, 0.04, 0.3), (0, 0, -0.15)), fw.Placement((0, 0, -0.3 if k else 0.0))
        build.add_body(f"rod{k}", parent=above, joint=J.Spherical(), placement=at, inertia=rod)
        above = f"rod{k}"
    model, v = build.build(), 30 * np.random.default_rng(1).normal(size=(40, 9))
    q = np.tile(model.neutral(), (40, 1))
    run = fw.rollout(model, q, v, steps=1000, dt=1e-3, integrator=TWO_STAGE)
    energy = fw.kinetic_energy(model, run.q, run.v) + fw.potential_energy(model, run.q)
    assert (run.status == fw.Status.OK).all()
    assert (np.ptp(energy, axis=1) <= 0.25 * fw.kinetic_energy(model, q, v)).all()
    assert (fw.rollout(model, q, v, steps=1000, dt=1e-3, integrator=EXPLICIT).status != fw.Status.OK).sum() >= 15


def test_several_free_bodies_in_one_model() -> None:
    scene = fw.Builder("scene", gravity=STILL)
    for k, size in enumerate((ROD, BOX)):
        scene.add_model(thrown(size), prefix=f"{k}/")
    model = scene.build()
    v = np.concatenate([spinning(300, 5, 5), spinning(0.01, 10, 0.01)])
    run = fw.rollout(model, model.neutral(), v, steps=1000, dt=1e-3)
    for k, size in enumerate((ROD, BOX)):
        own = thrown(size)
        alone = fw.rollout(own, own.neutral(), v[6 * k : 6 * k + 6], steps=1000, dt=1e-3)
        assert (run.v[:, 6 * k : 6 * k + 6] == alone.v).all()


@pytest.mark.filterwarnings("ignore:body 'root'")
def test_bodies_without_inertia_of_their_own_turn_as_before() -> None:
    """A root without mass, and one that is a line, inclined: its inertia is singular up to rounding."""
    limb = fw.Inertia.box(1.0, BOX, (0.1, 0, 0))
    along = np.array([1.0, 2.0, 3.0]) / np.sqrt(14)
    line = 0.1 * (np.eye(3) - np.outer(along, along))
    for root in (fw.Inertia(0.0, STILL, np.zeros((3, 3))), fw.Inertia(1.0, STILL, line)):
        build = fw.Builder("carrier", gravity=STILL, policy="warn").add_body("root", joint=J.Free(), inertia=root)
        for name, axis in (("a", "x"), ("b", "y"), ("c", "z")):
            build.add_body(
                name, parent="root", joint=J.Revolute(axis), inertia=limb, placement=fw.Placement((0.1, 0, 0))
            )
        model = build.build()
        v = np.array([0.0, 0, 0, 3, -2, 5, 1, 2, 3])
        ends = [
            fw.rollout(model, model.neutral(), v, steps=1, dt=1e-3, integrator=m).v[-1]
            for m in (EXPLICIT, "semi_implicit")
        ]
        assert np.abs(ends[0] - ends[1]).max() <= 1e-12


def armed() -> tuple[fw.Model, np.ndarray, np.ndarray, np.ndarray]:
    """A body that floats, with a ball joint inside, spinning; q, v, τ."""
    build = fw.Builder("armed", parameters=("root.mass", "rod.mass"))
    build.add_body("root", joint=J.Free(), inertia=fw.Inertia.box(1.0, BOX, (0.01, 0.02, 0.0)))
    build.add_body("arm", parent="root", joint=J.Revolute("y"), inertia=fw.Inertia.box(0.5, BOX), damping=0.1)
    at, rod = fw.Placement((0.2, 0, 0)), fw.Inertia.box(0.5, ROD, (0.1, 0, 0))
    model = build.add_body("rod", parent="arm", joint=J.Spherical(), placement=at, inertia=rod).build()
    rng = np.random.default_rng(3)
    return model, model.random(rng), 4 * rng.normal(size=model.nv), rng.normal(size=model.nv)


@pytest.mark.parametrize("method", [SemiImplicit(), TWO_STAGE], ids=lambda m: m.gyroscopic)
def test_derivatives_see_the_middle(method: SemiImplicit) -> None:
    model, q, v, tau = armed()
    options: dict[str, Any] = {"dt": 2e-3, "integrator": method}
    found = fw.linearize(model, q, v, tau, **options)
    assert worst(model.nv, found[2:], differences(model, q, v, tau, 1e-5, **options)) <= 1e-7
    other = fw.linearize(model, q, v, tau, dt=2e-3, integrator=EXPLICIT)
    assert worst(model.nv, found[2:], other[2:]) >= 1e-4


@pytest.mark.parametrize("method", [SemiImplicit(), TWO_STAGE], ids=lambda m: m.gyroscopic)
def test_gradients_see_the_middle_through_masses(method: SemiImplicit) -> None:
    model, q, v, _ = armed()

    def end(q: Any, v: Any, x: Any) -> Any:
        return sum((k + 1) * x for k, x in enumerate(v)) + sum(q)

    options: dict[str, Any] = {"steps": 5, "dt": 2e-3, "integrator": method}
    names = ("root.mass", "rod.mass")
    _, found = fw.rollout_gradient(None, model, q, v, final=end, wrt=names, **options)
    for name in names:
        costs = []
        for sign in (1, -1):
            value = model.parameters[name].default + sign * 1e-4
            run = fw.rollout(model, q, v, **options, parameters={name: value})
            costs.append(end(run.q[-1], run.v[-1], None))
        assert found[name] == pytest.approx((costs[0] - costs[1]) / 2e-4, rel=1e-6)


def test_a_method_that_is_not_there_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"gyroscopic: expected one of 'midpoint', 'explicit', 'two_stage', got 'implicit'"
    ):
        SemiImplicit(gyroscopic="implicit")
    assert repr(SemiImplicit()) == "SemiImplicit()"
    assert repr(EXPLICIT) == "SemiImplicit(gyroscopic='explicit')"


def test_a_rod_without_inertia_about_its_axis_has_no_half_turn() -> None:
    """The equation is singular: "it is left out", however its determinant is rounded."""
    rng = np.random.default_rng(0)
    for k in range(300):
        rod = rng.normal(size=3)
        rod[k % 4 : k % 4 + 1] = 0.0  # in a plane of the axes, or in none
        rod /= np.linalg.norm(rod)
        moment = 0.3 * (np.eye(3) - np.outer(rod, rod))
        turn = half_turn(Symmetric(*moment[np.triu_indices(3)]), (0.0,) * 3, Vector(*rng.normal(size=3)), 0.01)
        assert tuple(turn) == (0.0, 0.0, 0.0)
