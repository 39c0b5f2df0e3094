"""Forces of shapes that touch each other are drawn where they touch."""

from __future__ import annotations

import numpy as np

import featherweight as fw
from featherweight.visuals import motion_of


def test_arrows_stand_where_contacts_are() -> None:
    """Every force of every frame is at the point that `Trajectory.contacts` tells; the others are nowhere strange."""
    builder = fw.Builder("two")
    for name, shape in (("box", fw.shapes.Box((0.3, 0.2, 0.1))), ("ball", fw.shapes.Sphere(0.05))):
        builder.add_body(name, joint=fw.joints.Free(), inertia=fw.Inertia.box(1.0, (0.2, 0.2, 0.2)))
        builder.add_geometry(name, shape, fw.Placement((0.02, 0.0, 0.01), rpy=(0.0, 0.0, 0.3)))
    model = builder.add_contact_point("top", parent="box", position=(0.0, 0.0, 0.06)).build()
    q = model.neutral()
    q[2], q[7:10] = 0.04, (0.05, 0.02, 0.14)
    run = fw.simulate(
        model, q, np.zeros(12), duration=0.2, dt=1e-3, contact=fw.contact.Impulse(pairs=[("box", "ball")])
    )
    motion = motion_of(run, rate=50.0)
    assert motion.points.shape == motion.force.shape == (len(motion), 1 + run.pair_force.shape[1], 3)
    assert (motion.force[:, 0] == 0).all()
    seen = 0
    for frame, k in enumerate(motion.index[:-1]):
        forces, points = motion.force[frame, 1:], motion.points[frame, 1:]
        acts = np.any(forces, axis=1)
        contacts = [c for c in run.contacts(int(k)) if np.any(c.force)]
        np.testing.assert_allclose(points[acts], [c.point for c in contacts], atol=1e-12)
        np.testing.assert_array_equal(forces[acts], [c.force for c in contacts])
        seen += len(contacts)
    assert seen > 10
    assert np.abs(motion.points).max() < 1.0
    few = motion_of(run.lane(0, every=20), rate=50.0)
    assert few.points.shape[1] == motion.points.shape[1]


def test_arrows_of_pairs_that_share_slots() -> None:
    """Few slots for many pairs: another contact in each frame, and its arrow where that is."""
    builder = fw.Builder("balls")
    for k in range(4):
        builder.add_body(f"b{k}", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(1.0, 0.1))
        builder.add_geometry(f"b{k}", fw.shapes.Sphere(0.1))
    model = builder.build()
    q = model.neutral()
    q[2::7], q[::7] = 0.1 + 0.19 * np.arange(4), 0.03 * np.arange(4) ** 2
    contact = fw.contact.Impulse(pairs="auto", slots=3)
    run = fw.simulate(model, q, np.zeros(24), duration=0.5, dt=1e-3, contact=contact)
    motion = motion_of(run, rate=30.0)
    assert len(np.unique(run.slots[..., 0])) > 3
    for frame, k in enumerate(motion.index[:-1]):
        acts = np.any(motion.force[frame], axis=1)
        contacts = [c for c in run.contacts(int(k)) if np.any(c.force)]
        np.testing.assert_allclose(motion.points[frame][acts], [c.point for c in contacts], atol=1e-12)
        np.testing.assert_array_equal(motion.force[frame][acts], [c.force for c in contacts])


def test_arrows_are_forces_on_what_moves() -> None:
    """Of a pair whose first shape stands in the world, the arrow is the force on the second: upward on a ball."""
    builder = fw.Builder("table").add_geometry("world", fw.shapes.Box((1.0, 1.0, 0.2)), name="table")
    builder.add_body("ball", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(1.0, 0.1))
    model = builder.add_geometry("ball", fw.shapes.Sphere(0.1)).build()
    q = model.neutral()
    q[2] = 0.2
    for slots in (0, 1):
        contact = fw.contact.Impulse(pairs=[("table", "ball")], slots=slots)
        run = fw.rollout(model, q, np.zeros(6), steps=40, dt=1e-3, contact=contact)
        assert run.contacts(30)[0].a == "table"
        force = motion_of(run, rate=50.0).force[1]
        assert np.isclose(force[..., 2].max(), 9.81)
        assert force[..., 2].min() >= 0
