"""What must not matter: numbering, the choice of the root, fixed joints, units, frames."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import featherweight as fw
from laws.measure import allowance, close, law
from laws.random_trees import ONE_DOF, Body, build, floating, recipes, state, states

pytestmark = pytest.mark.usefixtures("interpreted")
TURN = fw.Placement((0.1, -0.2, 0.3), rpy=(0.4, -0.5, 0.6))


def everything(model: fw.Model, q: np.ndarray, v: np.ndarray) -> list[np.ndarray]:
    """Quantities of the whole robot, which do not depend on numbering."""
    return [
        fw.kinetic_energy(model, q, v),
        fw.potential_energy(model, q),
        fw.momentum(model, q, v),
        fw.center_of_mass(model, q),
    ]


def momentum_rate(model: fw.Model, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """A a + Ȧ v; how much is in either part depends on the coordinates."""
    return fw.centroidal_momentum_matrix(model, q) @ a + fw.centroidal_bias(model, q, v)


@law
@given(recipes(mimic=True))
def test_renumbering_changes_nothing(bodies: list[Body]) -> None:
    """Bodies added in another order that respects parents: the same numbers at other places."""
    order: list[Body] = []
    waiting = list(reversed(bodies))
    while waiting:
        names = {"world", *(body.name for body in order)}
        body = next(b for b in waiting if b.parent in names)
        order.append(body)
        waiting.remove(body)
    model, other = build(bodies), build(order)
    q, v, x = states(model, 4)
    places = [(joint, other.joint(joint.name)) for joint in model.joints]
    q2, v2, x2 = np.empty_like(q), np.empty_like(v), np.empty_like(x)
    rows = np.empty(model.nv, dtype=int)  # where each of our velocities is in the other
    for ours, theirs in places:
        q2[:, theirs.q], v2[:, theirs.v], x2[:, theirs.v] = q[:, ours.q], v[:, ours.v], x[:, ours.v]
        rows[ours.v] = np.arange(model.nv)[theirs.v]
    tolerance = 1e-12 * allowance(model, q)
    close(fw.forward_dynamics(other, q2, v2, x2)[:, rows], fw.forward_dynamics(model, q, v, x), tolerance)
    close(fw.inverse_dynamics(other, q2, v2, x2)[:, rows], fw.inverse_dynamics(model, q, v, x))
    close(fw.mass_matrix(other, q2)[:, rows][:, :, rows], fw.mass_matrix(model, q))
    close(fw.coriolis_matrix(other, q2, v2)[:, rows][:, :, rows], fw.coriolis_matrix(model, q, v))
    close(fw.passive_force(other, q2, v2)[:, rows], fw.passive_force(model, q, v))
    for a, b in zip(everything(other, q2, v2), everything(model, q, v), strict=True):
        close(a, b)


# ---- another root


def pose(placement: fw.Placement) -> np.ndarray:
    """A placement as a 4×4 matrix."""
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = np.array(placement.rotation, dtype=float), placement.position
    return T


def placed(T: np.ndarray) -> fw.Placement:
    return fw.Placement(T[:3, 3], rotation=T[:3, :3])


def seen_from(T: np.ndarray, inertia: fw.Inertia) -> fw.Inertia:
    """The same body in a frame at T."""
    R, p = T[:3, :3], T[:3, 3]
    moment = R.T @ np.array(inertia.moment_about_com) @ R
    return fw.Inertia(inertia.mass, R.T @ (np.array(inertia.com) - p), 0.5 * (moment + moment.T))


def backwards(joint: Any) -> fw.joints.Joint:
    """The joint with its two frames exchanged: X(q)⁻¹ is the same motion along the opposite axis."""
    axis = -np.array(joint.axis)
    return fw.joints.Helical(axis, joint.pitch) if hasattr(joint, "pitch") else type(joint)(axis)


def rerooted(bodies: list[Body], root: str) -> tuple[list[Body], dict[str, str]]:
    """The same mechanism with its free joint at another body, and which body each joint moves now.

    A body between the old root and the new one gets a new frame: where the joint towards the new root is mounted.
    """
    by_name = {body.name: body for body in bodies}
    way = [root]  # from the new root to the old one
    while by_name[way[-1]].parent != "world":
        way.append(by_name[way[-1]].parent)
    moved = {name: np.eye(4) for name in by_name}
    for child, parent in pairwise(way):
        moved[parent] = pose(by_name[child].placement)

    new = [Body(root, "world", fw.joints.Free(), fw.Placement(), by_name[root].inertia)]
    moves = {body.name: body.name for body in bodies}
    for child, parent in pairwise(way):
        joint, mounted = backwards(by_name[child].joint), placed(np.linalg.inv(moved[child]))  # at its old origin
        inertia = seen_from(moved[parent], by_name[parent].inertia)
        new.append(Body(parent, child, joint, mounted, inertia, armature=by_name[child].armature))
        moves[child] = parent
    for body in bodies:
        if body.name not in way:
            T = np.linalg.inv(moved[body.parent]) @ pose(body.placement)
            new.append(replace(body, placement=placed(T)))
    return new, moves


def quaternion(R: np.ndarray) -> np.ndarray:
    """x y z w: the eigenvector of the largest eigenvalue of Bar-Itzhack's matrix."""
    (a, b, c), (d, e, f), (g, h, i) = R
    K = np.array(
        [
            [a - e - i, b + d, c + g, h - f],
            [b + d, e - a - i, f + h, c - g],
            [c + g, f + h, i - a - e, d - b],
            [h - f, c - g, d - b, a + e + i],
        ]
    )
    return np.linalg.eigh(K)[1][:, -1]


@law
@given(recipes(kinds=ONE_DOF).map(floating))
def test_the_choice_of_the_root_changes_nothing(bodies: list[Body]) -> None:
    """All bodies accelerate alike, whichever of them has the free joint."""
    bodies = [replace(body, rotor=None, stiffness=0.0) for body in bodies]  # a rotor belongs to its joint's parent
    root = bodies[-1].name
    new, moves = rerooted(bodies, root)
    model, other = build(bodies), build(new)
    q, v, tau = state(model)
    tau[:6] = 0
    R, p = fw.frame_pose(model, q, root)
    q2, v2, tau2 = np.empty(model.nq), np.empty(model.nv), np.zeros(model.nv)
    q2[:7], v2[:6] = [*p, *quaternion(R)], fw.body_velocity(model, q, v, root)
    pairs = [(model.joint(f"{b.name}_joint"), other.joint(f"{moves[b.name]}_joint")) for b in bodies[1:]]
    for ours, theirs in pairs:
        q2[theirs.q], v2[theirs.v], tau2[theirs.v] = q[ours.q], v[ours.v], tau[ours.v]
    a, a2 = fw.forward_dynamics(model, q, v, tau), fw.forward_dynamics(other, q2, v2, tau2)
    tolerance = 1e-12 * max(allowance(model, q), allowance(other, q2)) * max(1.0, np.abs(a).max())
    for ours, theirs in pairs:
        close(a2[theirs.v], a[ours.v], tolerance)
    for body in bodies:
        acceleration = fw.body_acceleration(other, q2, v2, a2, body.name, "world")
        close(acceleration, fw.body_acceleration(model, q, v, a, body.name, "world"), tolerance)
    close(momentum_rate(other, q2, v2, a2), momentum_rate(model, q, v, a), 10 * tolerance)
    for found, right in zip(everything(other, q2, v2), everything(model, q, v), strict=True):
        close(found, right, 1e-11)


# ---- fixed joints and frames


@law
@given(recipes(mimic=True))
def test_splitting_a_body_by_a_fixed_joint_changes_nothing(bodies: list[Body]) -> None:
    """Half of each body's mass on a body that is fixed to it, and its children on that."""
    split = []
    for body in bodies:
        m, moment = 0.5 * body.inertia.mass, 0.5 * np.array(body.inertia.moment_about_com)
        half = fw.Inertia(m, body.inertia.com, moment)
        there = seen_from(pose(TURN), half)
        parent, at = body.parent, body.placement
        wheel = body.rotor
        if parent != "world":
            back = np.linalg.inv(pose(TURN))
            parent, at = f"half of {parent}", placed(back @ pose(at))
            wheel = wheel and replace(wheel, placement=placed(back @ pose(wheel.placement)))
        split.append(replace(body, parent=parent, placement=at, inertia=half, rotor=wheel))
        split.append(Body(f"half of {body.name}", body.name, fw.joints.Fixed(), TURN, there))
    model, other = build(bodies), build(split)
    assert other.names == model.names
    q, v, x = states(model, 4)
    close(fw.inverse_dynamics(other, q, v, x), fw.inverse_dynamics(model, q, v, x), 1e-11)
    close(fw.mass_matrix(other, q), fw.mass_matrix(model, q), 1e-11)
    tolerance = 1e-11 * allowance(model, q)
    close(fw.forward_dynamics(other, q, v, x), fw.forward_dynamics(model, q, v, x), tolerance)
    for a, b in zip(everything(other, q, v), everything(model, q, v), strict=True):
        close(a, b, 1e-11)


@law
@given(recipes(mimic=True))
def test_frames_and_contact_points_change_nothing(bodies: list[Body]) -> None:
    builder = fw.Builder("tree")
    for body in bodies:
        builder.add_body(**vars(body))
        builder.add_frame(f"frame on {body.name}", parent=body.name, placement=TURN)
        builder.add_contact_point(f"point of {body.name}", parent=f"frame on {body.name}", position=(0.1, 0.2, 0.3))
    model, other = build(bodies), builder.build()
    q, v, x = states(model, 3)
    assert (fw.forward_dynamics(other, q, v, x) == fw.forward_dynamics(model, q, v, x)).all()
    assert (fw.inverse_dynamics(other, q, v, x) == fw.inverse_dynamics(model, q, v, x)).all()
    for a, b in zip(everything(other, q, v), everything(model, q, v), strict=True):
        assert (a == b).all()
