"""Models made of models: a locked joint is one that is held, and merging is drawing two trees on one page."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import featherweight as fw
from laws.measure import close, law
from laws.random_trees import Body, build, recipes, states, trees

pytestmark = pytest.mark.usefixtures("interpreted")


def coordinates(part: fw.Model, whole: fw.Model, what: str, prefix: str = "") -> np.ndarray:
    """Where the coordinates of one model are in another one's arrays."""
    slices = [getattr(whole.joint(prefix + joint.name), what) for joint in part.independent_joints]
    return np.concatenate([np.zeros(0, dtype=int), *(np.arange(s.start, s.stop) for s in slices)])


@law
@given(trees(mimic=True), st.integers(0, 2**8))
def test_a_locked_joint_is_one_that_is_held(model: fw.Model, some: int) -> None:
    """With v = a = 0 there: the same forces at the other joints, and the same poses and energy."""
    q, v, a = states(model, 3)
    held = [joint for k, joint in enumerate(model.independent_joints) if some >> k & 1]
    locked = model.locked({joint.name: q[0, joint.q] for joint in held})
    assert locked.nv == model.nv - sum(joint.kind.nv for joint in held)
    for joint in held:
        q[:, joint.q], v[:, joint.v], a[:, joint.v] = q[0, joint.q], 0.0, 0.0
    Q, V = coordinates(locked, model, "q"), coordinates(locked, model, "v")
    close(fw.inverse_dynamics(locked, q[:, Q], v[:, V], a[:, V]), fw.inverse_dynamics(model, q, v, a)[:, V], 1e-12)
    close(fw.mass_matrix(locked, q[:, Q]), fw.mass_matrix(model, q)[:, V][:, :, V], 1e-12)
    close(fw.kinetic_energy(locked, q[:, Q], v[:, V]), fw.kinetic_energy(model, q, v), 1e-12)
    for name in model.frame_names:
        for ours, right in zip(fw.frame_pose(locked, q[:, Q], name), fw.frame_pose(model, q, name), strict=True):
            close(ours, right, 1e-12)


@law
@given(recipes(most=5, mimic=True), recipes(most=4, mimic=True), st.integers(0, 5))
def test_a_model_that_is_added_is_as_if_it_was_built_there(first: list[Body], second: list[Body], place: int) -> None:
    """Body by body on one builder, or as a whole on a body of another model."""
    parent = first[min(place, len(first)) - 1].name if place else "world"
    at = fw.Placement((0.1, -0.2, 0.3), rpy=(0.4, 0.5, -0.6))
    one = fw.Builder("one").add_model(build(first)).add_frame("mount", parent=parent, placement=at)
    one.add_model(build(second), "second ", parent=parent, placement=at)
    by_hand = fw.Builder("hand")
    for body in first:
        by_hand.add_body(**vars(body))
    by_hand.add_frame("mount", parent=parent, placement=at)
    for body in second:
        kind, on = body.joint, "mount" if body.parent == "world" else f"second {body.parent}"
        if kind.leader is not None:
            kind = fw.joints.Mimic(kind.joint, f"second {kind.leader}", kind.ratio, kind.offset)
        by_hand.add_body(**vars(replace(body, name=f"second {body.name}", parent=on, joint=kind)))
    a, b = one.build(), by_hand.build()
    assert (a.names, a.joint_names, a.parent) == (b.names, b.joint_names, b.parent)
    q, v, x = states(a, 3)
    close(fw.inverse_dynamics(a, q, v, x), fw.inverse_dynamics(b, q, v, x), 1e-12)
    alone = build(second)
    Q, V = (coordinates(alone, a, what, "second ") for what in "qv")
    v[:, [k for k in range(a.nv) if k not in V]] = 0.0
    pose = fw.frame_pose(a, q, "mount")  # the added model's world
    for body in second:
        own = fw.frame_pose(alone, q[:, Q], body.name)
        there = fw.frame_pose(a, q, f"second {body.name}")
        close(there.rotation, pose.rotation @ own.rotation, 1e-12)
        close(there.position, pose.position + (pose.rotation @ own.position[..., None])[..., 0], 1e-12)
        close(
            fw.body_velocity(a, q, v, f"second {body.name}"),
            fw.body_velocity(alone, q[:, Q], v[:, V], body.name),
            1e-11,
        )


@law
@given(trees(mimic=True), st.integers(0, 7))
def test_a_payload_adds_what_its_frame_feels(model: fw.Model, place: int) -> None:
    """M' = M + Jᵀ Φ J with the Jacobian J of the frame and the spatial inertia Φ of the payload there."""
    names = model.frame_names
    frame, m, c = names[1 + place % (len(names) - 1)], 1.7, np.array([0.1, -0.2, 0.3])
    moment = np.array([[0.3, 0.01, 0.02], [0.01, 0.4, 0.03], [0.02, 0.03, 0.5]])
    loaded = model.with_payload(frame, fw.Inertia(m, c, moment))
    cross = np.array([[0, -c[2], c[1]], [c[2], 0, -c[0]], [-c[1], c[0], 0]])
    inertia = np.block([[m * np.eye(3), -m * cross], [m * cross, moment - m * cross @ cross]])
    q, _, _ = states(model, 3)
    J = fw.jacobian(model, q, frame)
    close(fw.mass_matrix(loaded, q), fw.mass_matrix(model, q) + J.swapaxes(-1, -2) @ inertia @ J, 1e-12)
    weight = m * (fw.frame_pose(model, q, frame).rotation @ c + fw.frame_pose(model, q, frame).position) @ model.gravity
    close(fw.potential_energy(loaded, q), fw.potential_energy(model, q) - weight, 1e-12)


@law
@given(trees(properties=False), st.integers(0, 2**8), st.floats(0.1, 10.0))
def test_scaled_masses_scale_what_they_feel(model: fw.Model, some: int, factor: float) -> None:
    """All by one factor: M' = f M. Some of them: as with parameters for mass and moment of these links."""
    q, _, _ = states(model, 3)
    close(fw.mass_matrix(model.with_scaled_mass(factor), q), factor * fw.mass_matrix(model, q), 1e-12)
    chosen = [part.link for k, part in enumerate(model.parts) if some >> k & 1]
    inertias = {part.link: part.inertia for part in model.parts}
    named = {f"{link}.mass": factor * inertias[link].mass for link in chosen}
    named |= {f"{link}.moment": factor * np.array(inertias[link].moment_about_com) for link in chosen}
    declared = fw.Builder(parameters=tuple(named)).add_model(model).build()
    scaled = model.with_scaled_mass(dict.fromkeys(chosen, factor))
    close(fw.mass_matrix(scaled, q), fw.mass_matrix(declared, q, parameters=named), 1e-12)
