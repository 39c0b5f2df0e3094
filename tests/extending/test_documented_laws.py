"""Laws that the pages of forces and contact state, held against what they say literally."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import featherweight as fw
from featherweight.constraints import Block, Constraint, Equality
from featherweight.contact import Impulse
from featherweight.forces import Advance, ForceElement, Push
from featherweight.spatial import Vector


@dataclass(frozen=True)
class Brake(ForceElement):
    """Damping d [N m s/rad] of all degrees of freedom."""

    d: float

    def joint_damping(self, model: fw.Model) -> dict[int, float]:
        return dict.fromkeys(range(model.nv), self.d)


def arm(damping: float) -> fw.Model:
    build, parent = fw.Builder("arm"), "world"
    for k in range(3):
        body = fw.Inertia.box(1.0, (0.1, 0.1, 0.4), (0.0, 0.0, 0.2))
        place = fw.Placement((0.0, 0.0, 0.4 if k else 0.0))
        build.add_body(
            f"b{k}", parent=parent, joint=fw.joints.Revolute("xyx"[k]), placement=place, inertia=body, damping=damping
        )
        parent = f"b{k}"
    return build.build()


@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4", "variational"])
def test_damping_of_an_element_is_damping_of_the_joints(integrator: str) -> None:
    start = [0.3, -0.2, 0.5], [1.0, 2.0, -3.0]
    options = {"steps": 50, "dt": 1e-3, "integrator": integrator}
    own = fw.rollout(arm(0.3), *start, **options)
    by_element = fw.rollout(arm(0.0), *start, forces=Brake(0.3), **options)
    np.testing.assert_allclose(by_element.q, own.q, rtol=0, atol=1e-12)
    assert np.abs(own.q - fw.rollout(arm(0.0), *start, **options).q).max() > 1e-3


@dataclass(frozen=True)
class Ramp(ForceElement):
    """A force at a joint that is `rate` [N] in the first step, and grows by as much with each."""

    dof: int
    rate: float

    def memory_size(self, model: fw.Model) -> int:
        return 1

    def advance(self, at, h, memory) -> Advance:
        return Advance([memory[0] + self.rate])

    def forces(self, at, memory) -> Push:
        return Push(joints={self.dof: memory[0]})


@dataclass(frozen=True)
class Wind(ForceElement):
    """A force [N] on the last body, along the world's axes."""

    force: tuple[float, float, float]

    def forces(self, at, memory) -> Push:
        body = at.model.nb
        return Push({body: at.force_at(body, Vector.zero(), Vector(*self.force))})


@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4", "variational"])
def test_forces_of_several_elements_and_of_motors_add_up(integrator: str) -> None:
    """A crane on two slides, 2 kg and 1 kg, in three steps; each element goes on with what it remembers itself."""
    build = fw.Builder("crane", gravity=(0, 0, 0))
    build.add_body("cart", joint=fw.joints.Prismatic("x"), inertia=fw.Inertia.sphere(2.0, 0.1))
    build.add_body("hook", parent="cart", joint=fw.joints.Prismatic("z"), inertia=fw.Inertia.sphere(1.0, 0.1))
    wind = Wind((4.0, 0.0, 1.0)), Wind((0.5, 9.0, 2.0))
    h, tau = 0.25, np.tile([7.0, -3.0], (3, 1))
    for elements, grown in ((wind, 0.0), ((*wind, Ramp(0, 6.0), Ramp(1, 20.0), Ramp(0, 100.0)), 1.0)):
        run = fw.rollout(build.build(), [0, 0], [0, 0], steps=3, dt=h, tau=tau, forces=elements, integrator=integrator)
        steps = np.arange(1.0, 4.0)[:, None]
        force = np.array([7.0 + 4.5, -3.0 + 3.0]) + grown * steps * [106.0, 20.0]
        np.testing.assert_allclose(run.v[1:], np.cumsum(h * force / [3.0, 1.0], axis=0), rtol=1e-12, atol=1e-12)


@dataclass(frozen=True)
class Spring(ForceElement):
    """-k q on the first joint, as a force on it or on its body."""

    k: float
    on: str

    def forces(self, at, memory) -> Push:
        if self.on == "joint":
            return Push(joints={0: -self.k * at.q[0]})
        return Push({1: at.force_at(1, Vector.zero(), Vector(-self.k * at.q[0], 0.0, 0.0))})


@pytest.mark.parametrize("on", ["joint", "body"])
def test_stages_see_forces_on_bodies_anew_and_on_joints_as_they_were(on: str) -> None:
    """A kilogram on a slide, one Runge-Kutta step of ẍ = -k x, or of ẍ = -k x₀."""
    build = fw.Builder("cart", gravity=(0, 0, 0))
    model = build.add_body("cart", joint=fw.joints.Prismatic("x"), inertia=fw.Inertia.sphere(1.0, 0.1)).build()
    h, k, x, v = 0.5, 2.0, 0.3, -0.4
    with fw.interpret():
        run = fw.rollout(model, [x], [v], steps=1, dt=h, forces=Spring(k, on), integrator="rk4")
    A = np.array([[0.0, 1.0, 0.0], [-k if on == "body" else 0.0, 0.0, 0.0 if on == "body" else -k * x], [0.0] * 3])
    terms, state = np.array([x, v, 1.0]), np.zeros(3)
    for order in range(5):  # exp(h A) to fourth order
        state, terms = state + terms, h / (order + 1) * A @ terms
    np.testing.assert_allclose([run.q[1, 0], run.v[1, 0]], state[:2], rtol=1e-14)


def test_damping_of_several_elements_adds_up() -> None:
    start = [0.3, -0.2, 0.5], [1.0, 2.0, -3.0]
    own = fw.rollout(arm(0.6), *start, steps=20, dt=1e-3)
    by_elements = fw.rollout(arm(0.1), *start, steps=20, dt=1e-3, forces=(Brake(0.3), Brake(0.2)))
    np.testing.assert_allclose(by_elements.q, own.q, rtol=0, atol=1e-12)


@dataclass(frozen=True)
class Halved(Constraint):
    """A joint leaves with half the velocity that it has where constraints act."""

    def block_sizes(self, model: fw.Model) -> list[int]:
        return [1]

    def blocks(self, at) -> list[Block]:
        return [Block(Equality(), (1,), True, lambda: [Push(joints={0: 1.0})], lambda before, free: [0.5 * at.v[0]])]


@pytest.mark.parametrize("integrator", ["semi_implicit", "variational"])
def test_constraints_see_the_state_where_they_act(integrator: str) -> None:
    """Before the robot moves, or where the step ends."""
    build = fw.Builder("fall").add_body("b", joint=fw.joints.Prismatic("z"), inertia=fw.Inertia.sphere(1.0, 0.1))
    options = {"steps": 1, "dt": 0.1, "integrator": integrator}
    run, free = (fw.rollout(build.build(), [0.0], [-3.0], constraints=x, **options) for x in ((Halved(),), ()))
    seen = -3.0 if integrator == "semi_implicit" else free.v[-1, 0]
    assert free.v[-1, 0] == pytest.approx(-3.981)
    assert run.v[-1, 0] == pytest.approx(0.5 * seen)
    ((turns, residual),) = run.solver  # which is recorded, and of a run without constraints is nothing
    assert turns >= 1
    assert residual <= 1e-8
    assert free.solver.size == 0


@pytest.mark.parametrize(("integrator", "gained"), [("semi_implicit", 0.0), ("variational", 9.81)])
def test_what_bounces_does_so_by_the_velocity_that_the_step_says(integrator: str, gained: float) -> None:
    """v⁺ = -e v_n, with v_n before the step; of a step that has moved, with the velocity it arrives with, v_n - g h."""
    build = fw.Builder("point").add_body("p", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(1.0, 0.1))
    model = build.add_contact_point("c", parent="p").build()
    h, e, q = 1e-2, 0.5, model.neutral()
    q[2] = 0.002 if integrator == "variational" else -1e-9  # it touches where impulses act
    run = fw.rollout(
        model, q, [0.0, 0.0, -1.0, 0.0, 0.0, 0.0], steps=1, dt=h, integrator=integrator, contact=Impulse(restitution=e)
    )
    assert run.v[-1, 2] == pytest.approx(e * (1.0 + gained * h), rel=1e-6)
