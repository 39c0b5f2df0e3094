"""v* as the pages of contact say, in closed form: a ball above, on or in the ground, as a point or as a shape.

    across a gap z > 0    v* = -z / h: as far as the two meet
    inside                v* = min(β (depth - slop), v_max), 0 at least; of shapes 0, in steps that move afterwards
    a bounce              v* = -e v, if that is more: for what comes faster than `bounce_speed` and meets in the step

A point acts across what 0.1 m/s closes in a step; a shape wherever the step could bring it.
"""

from __future__ import annotations

import numpy as np
import pytest

import featherweight as fw
from featherweight.constraints import Situation
from featherweight.constraints.solve.solver import Solver
from featherweight.contact import Impulse
from featherweight.forces import Kinematics

G, R = 9.81, 0.1


def ball(kind: str) -> fw.Model:
    builder = fw.Builder(kind).add_body("ball", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(1.0, R))
    if kind == "shape":
        return builder.add_geometry("ball", fw.shapes.Sphere(R)).build()
    return builder.add_contact_point("skin", parent="ball", radius=R).build()


@pytest.mark.parametrize("integrator", ["semi_implicit", "variational"])
@pytest.mark.parametrize("kind", ["point", "shape"])
def test_the_velocity_after_a_step(kind: str, integrator: str) -> None:
    rng, n, h, moves_first = np.random.default_rng(0), 400, 1e-3, integrator == "variational"
    e, slowest, beta, most, slop = 0.5, 0.02, 50.0, 0.016, 1e-5
    z = np.where(rng.random(n) < 0.5, rng.uniform(0, 3e-4, n), -rng.uniform(0, 4e-4, n))
    v = rng.choice([-0.6, -0.3, -0.06, -1.05 * slowest, -0.95 * slowest, 0.1], n)
    q, twist = np.tile(ball(kind).neutral(), (n, 1)), np.zeros((n, 6))
    q[:, 2], twist[:, 2] = R + z, v
    contact = Impulse(restitution=e, bounce_speed=slowest, recovery=beta, recovery_speed=most, slop=slop)
    with fw.interpret():
        run = fw.rollout(ball(kind), q, twist, steps=1, dt=h, contact=contact, integrator=integrator)

    free = v - h * G
    if moves_first:  # impulses act where the step ends, on the velocity it arrives with
        z = z + h * v - h * h * G / 2
    arrives = free if moves_first else v
    acts = z <= (0.1 * h if kind == "point" else np.inf)
    inside = np.clip(beta * (-z - slop), 0.0, most) if kind == "point" or moves_first else 0.0
    wanted = np.where(z > 0, -z / h, inside)
    bounces = (v < -slowest) & (z + h * free <= 0)
    wanted = np.where(bounces, np.maximum(-e * arrives, wanted), wanted)
    sides = bounces, ~bounces & (z > 0), ~bounces & (z < 0), bounces & (inside > -e * arrives)
    assert min(np.sum(acts & side) for side in sides[: 4 if np.any(inside) else 3]) > 5
    np.testing.assert_allclose(run.v[:, 1, 2], np.where(acts, np.maximum(free, wanted), free), rtol=0, atol=1e-7)


@pytest.mark.parametrize("h", [1e-3, 2e-3])
def test_what_rests_in_variational_steps_is_as_deep_as_documented(h: float) -> None:
    """h g / 2β below the slop, with the velocity h g / 2 upward after each step (how-to/contact.md)."""
    model, contact = ball("point"), Impulse()
    q = model.neutral()
    q[2] = R - contact.slop - 0.95 * h * G / (2 * contact.recovery)
    with fw.interpret():
        run = fw.rollout(model, q, np.zeros(6), steps=60, dt=h, contact=contact, integrator="variational")
    assert R - run.q[-1, 2] == pytest.approx(contact.slop + h * G / (2 * contact.recovery), rel=5e-3)
    assert run.v[-1, 2] == pytest.approx(h * G / 2, rel=5e-3)


def test_what_long_searches_may_leave_out_is_what_recovers_from_depth() -> None:
    """Of v* of points and joints that act and do not bounce; of others, and of shapes, nothing (how-to/contact.md)."""
    builder = fw.Builder("several")
    for name in ("deep", "above", "bounces", "shape"):
        builder.add_body(name, joint=fw.joints.Free(), inertia=fw.Inertia.sphere(1.0, R))
        if name != "shape":
            builder.add_contact_point(name, parent=name)
    for name in ("beyond", "within"):
        slide, limits = fw.joints.Prismatic("x"), fw.Limits(-1.0, 0.5)
        builder.add_body(name, joint=slide, inertia=fw.Inertia.sphere(1.0, R), limits=limits)
    model = builder.add_geometry("shape", fw.shapes.Sphere(R)).build()
    q, v = model.neutral(), np.zeros(model.nv)
    q[2::7][:4] = -3e-3, 0.5, -3e-3, R - 3e-3
    q[28:], v[14] = (0.502, 0.499), -1.0
    contact = Impulse(restitution=0.5, recovery=20.0, recovery_speed=0.1, slop=1e-6)
    h, tree = 1e-3, model.over_floats
    at = Kinematics(model, tree, q.tolist(), v.tolist())
    situation = Situation(model, tree, at.q, at.v, h, False, at)
    own = (*contact.constraints(), contact.joint_limit())
    blocks = [block for constraint in own for block in constraint.blocks(situation)]
    solver = Solver(tree, at.q, at.v, at.v, blocks, contact.solver)
    eases = solver._coupling([[0.0] * block.law.size for block in blocks])[0].eases
    of_points, of_joints = 20.0 * (3e-3 - 1e-6), 20.0 * (2e-3 - 1e-6)
    assert [float(x) for x in eases] == pytest.approx([of_points, 0.0, 0.0, 0.0, of_joints, 0.0], rel=1e-12)
