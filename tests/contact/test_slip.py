"""The slip law of springs against a literal reference: step by step, and where what slides comes to rest."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import pytest

import featherweight as fw
from featherweight.contact import Plane, Sphere, SpringDamper

SPRINGS = {"linear": (2e4, 2e2), "hertz": (5e5, 5e3)}  # K, D
WEIGHT = 20.0


def particle(mass: float = 1.0, weight: float = WEIGHT) -> fw.Model:
    """A body that touches the ground with its centre: nothing turns it."""
    builder = fw.Builder("particle", gravity=(0, 0, -weight / mass))
    builder.add_body("body", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(mass, 0.1))
    return builder.add_contact_point("centre", parent="body").build()


@dataclass
class Literal:
    """A point on a surface, in steps of h as the documentation of `SpringDamper` has them."""

    law: str
    K: float
    D: float
    mu: float
    u: np.ndarray = field(default_factory=lambda: np.zeros(3))

    def step(self, z: float, n: np.ndarray, v: np.ndarray, h: float) -> tuple[np.ndarray, str]:
        """The force, and what the point does."""
        K, D, u = self.K, self.D, self.u - n * (n @ self.u)
        r = 1.0 if self.law == "linear" else math.sqrt(max(0.0, -z))
        v_t = v - n * (n @ v)
        f_n = max(0.0, r * (-K * z - D * (n @ v))) if z < 0 else 0.0
        if f_n == 0.0:
            self.u = self.u / (1 + h * K / D)
            return np.zeros(3), "off" if z >= 0 else "leaves"
        f_t = -r * (K * (u + h * v_t) + D * v_t)
        if np.linalg.norm(f_t) <= self.mu * f_n:
            self.u = u + h * v_t
            return f_n * n + f_t, "sticks"
        f_t = self.mu * f_n * f_t / np.linalg.norm(f_t)
        self.u = (u - h * f_t / (D * r)) / (1 + h * K / D)
        return f_n * n + f_t, "slips"


@pytest.mark.parametrize("h", [1e-3, 5e-5])
@pytest.mark.parametrize("law", SPRINGS)
def test_every_step_is_the_literal_one(law: str, h: float) -> None:
    """Points that begin near a slope and a dome on it, with any velocity: they stick, slip, hop and land again."""
    (K, D), rough, smooth = SPRINGS[law], 0.9, 0.4
    up, centre, radius = np.array([0.36, -0.48, 0.8]), np.array([0.0, 0.0, -0.6]), 0.7
    ground = [Plane(normal=tuple(up), friction=smooth), Sphere(tuple(centre), radius, friction=rough)]
    rng, count, steps = np.random.default_rng(0), 24, 300
    model = particle()
    q = np.tile(model.neutral(), (count, 1))
    toward = rng.normal(size=(count, 3)) * [0.5, 0.5, 0.2] + [0, 0, 1]
    q[:, :3] = centre + toward / np.linalg.norm(toward, axis=1, keepdims=True) * (radius - 1e-3)
    q[:, :3] += np.maximum(0.0, -1e-3 - q[:, :3] @ up)[:, None] * up
    v = rng.normal(size=(count, 6)) * [0.5, 0.5, 0.5, 0, 0, 0]
    run = fw.rollout(model, q, v, steps=steps, dt=h, contact=SpringDamper(ground, law=law, stiffness=K, damping=D))

    forces, slips, seen = np.zeros((count, steps, 3)), np.zeros((count, steps)), Counter[str]()
    for k in range(count):
        points = [Literal(law, K, D, mu) for mu in (smooth, rough)]
        for s, (p, velocity) in enumerate(zip(run.q[k, :-1, :3], run.v[k, :-1, :3], strict=True)):
            away = np.linalg.norm(p - centre)
            for point, (z, n) in zip(points, ((up @ p, up), (away - radius, (p - centre) / away)), strict=True):
                force, what = point.step(z, n, velocity, h)
                forces[k, s] += force
                slips[k, s] = max(slips[k, s], np.linalg.norm(velocity - n * (n @ velocity)) if z < 0 else 0.0)
                seen[what] += 1
    scale = np.maximum(np.linalg.norm(forces, axis=-1, keepdims=True), WEIGHT)
    assert (np.abs(run.contact_force[:, :, 0] - forces) / scale).max() <= 1e-12
    np.testing.assert_allclose(run.contact_slip[:, :, 0], slips, rtol=0, atol=1e-13)
    after = run.v[:, :-1, :3] + h * (forces - [0, 0, WEIGHT])
    np.testing.assert_allclose(run.v[:, 1:, :3], after, rtol=0, atol=1e-13)
    assert min(seen[what] for what in ("off", "leaves", "sticks", "slips")) > 10, seen


SLIDES = [  # law, K, D; μ, mass [kg], speed [m/s], course [rad], push aside over the friction
    (*springs, *case)
    for springs in (("linear", 2e4, 2e2), ("linear", 5e4, 2e3), ("hertz", 5e5, 5e3), ("hertz", 1e6, 2e4))
    for case in (
        (0.5, 1.0, 0.3, 0.0, 0.0), (0.8, 0.5, 0.5, 2.0, 0.5), (0.3, 2.0, 0.1, -1.0, 0.0), (0.5, 1.0, 0.2, 4.0, -0.5),
        (1.0, 1.0, 0.6, 0.5, 0.3),
    )
]  # fmt: skip
SECONDS = 0.6
Case = tuple[str, float, float, float, float, float, float, float]


def begin(case: Case) -> tuple[float, np.ndarray, np.ndarray]:
    """Depth at rest, velocity along the ground, and the force that pushes aside."""
    law, K, _, mu, _, speed, course, aside = case
    ahead, left = np.array([[math.cos(course), math.sin(course)], [-math.sin(course), math.cos(course)]])
    return WEIGHT / K if law == "linear" else (WEIGHT / K) ** (2 / 3), speed * ahead, aside * mu * WEIGHT * left


def pushed(t, q, v, x, p):
    return p, x


def rest(case: Case, h: float, integrator: str = "semi_implicit") -> np.ndarray:
    """Where a particle that slides at its depth of rest ends."""
    law, K, D, mu, mass, speed, *_ = case
    depth, velocity, push = begin(case)
    model = particle(mass)
    q, steps = model.neutral(), round(SECONDS / h)
    q[2] = -depth
    run = fw.rollout(
        model, q, [*velocity, 0, 0, 0, 0], steps=steps, dt=h, record_every=steps, integrator=integrator,
        contact=SpringDamper(law=law, stiffness=K, damping=D, friction=mu),
        control=fw.compiled(pushed, parameters=[*push, 0, 0, 0, 0]),
    )  # fmt: skip
    assert np.abs(run.v[-1]).max() < 1e-4 * speed
    return run.q[-1, :2]


def rest_by_law(cases: list[Case], steps: int = 4000) -> np.ndarray:
    """The same by the differential equations of the law, in Runge-Kutta steps."""
    K, D, mu, mass = (np.array([case[k] for case in cases])[:, None] for k in (1, 2, 3, 4))
    depth, velocity, push = (np.array(x) for x in zip(*map(begin, cases), strict=True))
    r = np.where([case[0] == "linear" for case in cases], 1.0, np.sqrt(depth))[:, None]

    def rate(state: np.ndarray) -> np.ndarray:
        _, v, u = state
        f = -r * (K * u + D * v)
        slips = np.linalg.norm(f, axis=-1, keepdims=True) > mu * WEIGHT
        f = np.where(slips, f * mu * WEIGHT / np.linalg.norm(f, axis=-1, keepdims=True), f)
        return np.array([v, (f + push) / mass, np.where(slips, -(f + K * r * u) / (D * r), v)])

    state, h = np.array([0 * velocity, velocity, 0 * velocity]), SECONDS / steps
    for _ in range(steps):
        a = rate(state)
        b = rate(state + 0.5 * h * a)
        c = rate(state + 0.5 * h * b)
        state = state + h / 6 * (a + 2 * (b + c) + rate(state + h * c))
    return state[0]


def test_what_slides_stops_where_the_law_says() -> None:
    """To 0.5 % in steps of 10 us, and with half of the error in half the step."""
    right = rest_by_law(SLIDES)
    far = np.linalg.norm(right, axis=1)
    fine, coarse = (np.linalg.norm([rest(case, h) for case in SLIDES] - right, axis=1) / far for h in (1e-5, 4e-5))
    assert fine.max() < 5e-3
    np.testing.assert_allclose(coarse / fine, 4.0, rtol=0.03)


def test_the_published_parameters_have_their_known_distances() -> None:
    """1 kg under 20 N with μ = 0.5, from 0.3 m/s: 3.945 mm by the law, 3.930 and 3.799 mm in long steps (THEORY 12)."""
    case = ("hertz", 5e5, 5e3, 0.5, 1.0, 0.3, 0.0, 0.0)
    assert 1e3 * rest_by_law([case])[0, 0] == pytest.approx(3.945, abs=5e-4)
    assert [1e3 * rest(case, h)[0] for h in (1e-4, 1e-3)] == pytest.approx([3.930, 3.799], abs=5e-4)


@pytest.mark.parametrize("integrator", ["rk4", "variational"])
def test_other_integrators_follow_the_same_law(integrator: str) -> None:
    """The deflection moves once a step with them too: of first order, but nearer."""
    chosen = [SLIDES[k] for k in (1, 10, 18)]
    right = rest_by_law(chosen)
    errors = [np.linalg.norm([rest(case, h, integrator) for case in chosen] - right, axis=1) for h in (1e-4, 4e-4)]
    assert (errors[0] / np.linalg.norm(right, axis=1)).max() < 1e-3
    np.testing.assert_allclose(errors[1] / errors[0], 4.0, rtol=0.2)


@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4", "variational"])
@pytest.mark.parametrize("law", SPRINGS)
def test_half_of_the_friction_is_held_without_creep(law: str, integrator: str) -> None:
    """At r K u = f, for any length of time."""
    (K, D), model, mu = SPRINGS[law], particle(), 0.5
    depth = WEIGHT / K if law == "linear" else (WEIGHT / K) ** (2 / 3)
    q, push = model.neutral(), 0.5 * mu * WEIGHT * np.array([0.6, -0.8])
    q[2] = -depth
    run = fw.rollout(
        model, q, np.zeros(6), steps=3000, dt=1e-3, record_every=1000, integrator=integrator,
        contact=SpringDamper(law=law, stiffness=K, damping=D, friction=mu),
        control=fw.compiled(pushed, parameters=[*push, 0, 0, 0, 0]),
    )  # fmt: skip
    r = 1.0 if law == "linear" else math.sqrt(depth)
    np.testing.assert_allclose(run.q[-1, :2], push / (K * r), rtol=1e-6)
    np.testing.assert_allclose(run.q[-1, :2], run.q[-2, :2], rtol=1e-12)
