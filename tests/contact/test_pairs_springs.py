"""Springs and dampers between two shapes, step by step against the literal law of points (`test_slip.Literal`)."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import featherweight as fw
from contact.test_slip import SPRINGS, Literal
from featherweight.contact import Plane, SpringDamper

RADII, MASSES, FRICTION = (0.1, 0.15), (1.0, 0.3), (0.4, 0.9)


def balls() -> fw.Model:
    builder = fw.Builder("balls", gravity=(0, 0, 0))
    for name, radius, mass, friction in zip("ab", RADII, MASSES, FRICTION, strict=True):
        builder.add_body(name, joint=fw.joints.Free(), inertia=fw.Inertia.sphere(mass, radius))
        builder.add_geometry(name, fw.shapes.Sphere(radius), friction=friction)
    return builder.build()


@pytest.mark.parametrize("law", SPRINGS)
def test_every_step_of_two_balls_is_the_literal_one(law: str) -> None:
    """They meet with any velocity and spin: stick, slip, leave. The point of one moves against that of the other, where
    they overlap; the force acts there on one, and its reaction on the other."""
    (K, D), rng, count, steps, h = SPRINGS[law], np.random.default_rng(0), 16, 60, 3e-4
    model, ground, (R_a, R_b) = balls(), Plane(point=(0, 0, -10)), RADII
    apart = rng.normal(size=(count, 3))
    apart /= np.linalg.norm(apart, axis=1)[:, None]
    q, v = np.tile(model.neutral(), (count, 1)), 0.15 * rng.normal(size=(count, 12))
    q[:, 7:10] = apart * (R_a + R_b + rng.uniform(-2e-3, 1e-3, count))[:, None]
    v[:, 6:9] -= 0.2 * apart
    contact = SpringDamper(ground, pairs=[("a", "b")], law=law, stiffness=K, damping=D)
    with fw.interpret():
        run = fw.rollout(model, q, v, steps=steps, dt=h, contact=contact)

    E = [fw.frame_pose(model, run.q, name).rotation for name in "ab"]
    place = [run.q[..., 7 * k : 7 * k + 3] for k in (0, 1)]
    speed, spin = (
        [np.einsum("nsij,nsj->nsi", E[k], run.v[..., 6 * k + at : 6 * k + at + 3]) for k in (0, 1)] for at in (0, 3)
    )
    force, seen = np.zeros((count, steps, 3)), Counter[str]()
    for lane in range(count):
        point = Literal(law, K, D, np.sqrt(FRICTION[0] * FRICTION[1]))
        for s in range(steps):
            (x_a, x_b), (v_a, v_b), (w_a, w_b) = ([part[lane, s] for part in of] for of in (place, speed, spin))
            distance = np.linalg.norm(x_a - x_b)
            z, n = distance - R_a - R_b, (x_a - x_b) / distance
            touch = x_b + (R_b + z / 2) * n
            relative = v_a + np.cross(w_a, touch - x_a) - v_b - np.cross(w_b, touch - x_b)
            force[lane, s], what = point.step(z, n, relative, h)
            seen[what] += 1
    scale = max(1.0, np.abs(force).max())
    assert min(seen[what] for what in ("off", "leaves", "sticks", "slips")) > 3, seen
    given = run.force_between("a", "b")
    np.testing.assert_allclose(given, force, rtol=0, atol=1e-12 * scale)
    for k, sign in ((0, 1.0), (1, -1.0)):
        change = MASSES[k] * np.diff(speed[k], axis=1)
        np.testing.assert_allclose(change, sign * h * force, rtol=0, atol=1e-13 * scale)
    turning = sum(
        MASSES[k] * (np.cross(place[k], speed[k]) + 0.4 * RADII[k] ** 2 * spin[k]) for k in (0, 1)
    )  # angular momentum about the origin: a step moves after it has pushed
    np.testing.assert_allclose(turning[:, 1:], turning[:, :-1], rtol=0, atol=1e-12)
