"""Operational-space inertias without the mass matrix: forces are propagated to the root through free joints.

A force on body i acts on its parent, through the free joint i, as F_λ = χᵀ F with the propagator χ = X - S D⁻¹ Uᵀ X. On
its way it acts on each joint with t = Sᵀ F, which yields with y = D⁻¹ t. So J M⁻¹ Jᵀ for two forces is the sum of
tᵀ D⁻¹ t' over the joints on both paths, in time proportional to the depth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from featherweight.algorithms.articulated import ArticulatedTree, articulated_bodies, handed_on
from featherweight.algorithms.jacobian import force_seen_from
from featherweight.algorithms.linear import Factored, combine, factor
from featherweight.model import Tree, aggregated
from featherweight.spatial import Force, Matrix, Motion, Transform, Vector


@dataclass(frozen=True)
class Pushed:
    """A force propagated to the root: t = Sᵀ F and the response y = D⁻¹ t of each joint, by degree of freedom."""

    t: dict[int, Any]
    y: dict[int, Any]

    def work(self, other: Pushed) -> Any:
        """Σ tᵀ y' over the joints on both paths: the acceleration along one force for the other one."""
        total: Any = 0
        for d in self.t:
            if d in other.y:
                total = total + self.t[d] * other.y[d]
        return total


def push(tree: Tree, bodies: ArticulatedTree, body: int, F: Force) -> Pushed:
    """Propagate a force on a body, in its frame, to the root."""
    t: dict[int, Any] = {}
    y: dict[int, Any] = {}
    for i in tree.path(body):
        tree.mark()
        joint = tree.joints[i]
        pushes = [s.dot(F) for s in bodies.S[i]]
        answers = bodies.D[i].solve(pushes)
        t.update(zip(joint.dofs, pushes, strict=True))
        y.update(zip(joint.dofs, answers, strict=True))
        if tree.parent[i] > 0:
            F = handed_on(bodies.X[i], F, bodies.U[i], answers, joint)
    return Pushed(t, y)


def inverse_inertia(
    tree: Tree, bodies: ArticulatedTree, forces: Sequence[tuple[int, Force]]
) -> tuple[list[list[Any]], list[Pushed]]:
    """G = J M⁻¹ Jᵀ for forces on bodies, each in its body's frame."""
    pushed = [push(tree, bodies, body, F) for body, F in forces]
    G: list[list[Any]] = [[0] * len(pushed) for _ in pushed]
    for r, a in enumerate(pushed):
        tree.mark()
        for c, b in enumerate(pushed[: r + 1]):
            G[r][c] = G[c][r] = a.work(b)
    return G, pushed


def pose(tree: Tree, bodies: ArticulatedTree, body: int) -> Transform:
    """X_0b of one body."""
    X = Transform.identity()
    for i in reversed(tree.path(body)):
        X = bodies.X[i] @ X
    return X


def force_at(X_0: Transform, position: Vector, f: Vector) -> Force:
    """A force in the world's axes at a point of a body, in the body's frame."""
    f = X_0.E @ f
    return Force(position.cross(f), f)


def delassus(tree: Tree, q: Sequence[Any], points: Sequence[tuple[int, Vector]]) -> list[list[Any]]:
    """G = J M⁻¹ Jᵀ for points (body, position), three rows a point, in the world's axes."""
    tree = aggregated(tree)
    bodies = articulated_bodies(tree, q)
    forces = [
        (body, force_at(pose(tree, bodies, body), position, e)) for body, position in points for e in Matrix.identity()
    ]
    return inverse_inertia(tree, bodies, forces)[0]


def operational_inertia(
    tree: Tree, q: Sequence[Any], frames: Sequence[tuple[int, Transform]], in_: str
) -> tuple[list[list[Any]], Factored, list[Any]]:
    """Λ = (J M⁻¹ Jᵀ)⁻¹ for frames (body, X_frame), six rows a frame, linear first; the factors and diagonal of Λ⁻¹."""
    tree = aggregated(tree)
    bodies = articulated_bodies(tree, q)
    units = [Force(Vector.zero(), e) for e in Matrix.identity()] + [Force(e, Vector.zero()) for e in Matrix.identity()]
    forces = []
    for body, X_frame in frames:
        X_0f = X_frame @ pose(tree, bodies, body)
        forces += [(body, X_frame.back(force_seen_from(in_, X_0f, unit))) for unit in units]
    G, _ = inverse_inertia(tree, bodies, forces)
    factors = factor(G)
    columns = [factors.solve([int(r == c) for r in range(len(G))]) for c in range(len(G))]
    inertia = [[columns[min(r, c)][max(r, c)] for c in range(len(G))] for r in range(len(G))]
    return inertia, factors, [G[k][k] for k in range(len(G))]


def contact_inertia_inverse(tree: Tree, q: Sequence[Any], body: int, position: Vector, direction: Vector) -> Any:
    """1/Λ [1/kg]: acceleration of a point along a direction, for a unit force along it."""
    tree = aggregated(tree)
    bodies = articulated_bodies(tree, q)
    F = force_at(pose(tree, bodies, body), position, direction)
    return inverse_inertia(tree, bodies, [(body, F)])[0][0][0]


def unit_force_response(tree: Tree, q: Sequence[Any], body: int, position: Vector, direction: Vector) -> list[Any]:
    """M⁻¹ Jᵀ n for a point of a body: propagate the force to the root, then one outward pass over all joints."""
    tree = aggregated(tree)
    bodies = articulated_bodies(tree, q)
    y = push(tree, bodies, body, force_at(pose(tree, bodies, body), position, direction)).y
    return response(tree, bodies, by_body(tree, [y.get(d, 0) for d in range(tree.nv)]))


def joint_answers(
    tree: Tree, bodies: ArticulatedTree, tau: Sequence[Any], forces: Sequence[Force] | None = None
) -> list[Any]:
    """y = D⁻¹ t: the acceleration of each joint while its parent rests, for forces τ at the joints and forces on the
    bodies in their frames, all propagated to the root."""
    return answers_and_forces(tree, bodies, tau, forces)[0]


def answers_and_forces(
    tree: Tree, bodies: ArticulatedTree, tau: Sequence[Any], forces: Sequence[Force] | None = None
) -> tuple[list[Any], list[Any]]:
    """y = D⁻¹ t of `joint_answers`, and t, the total force at each joint."""
    y: list[Any] = [0] * tree.nv
    at_joints: list[Any] = [0] * tree.nv
    p = tree.per_body()  # articulated bias force of each body
    bodies_on = tree.bodies_on()
    pushed: dict[int, list[int]] = {first: [] for first in bodies_on}  # bodies with forces on them, by joint
    for i, parent, joint in tree.inward():
        if forces is not None:
            p[i] = Force.zero() - forces[i] if p[i] is None else p[i] - forces[i]
        own = pushed[joint.v.start]
        if p[i] is not None:
            own.append(i)
        if i != bodies_on[joint.v.start][0]:  # an aggregated joint: wait for its first body
            continue
        t = tau[joint.v]
        for j in own:
            t = [x - s.dot(p[j]) for x, s in zip(t, bodies.S[j], strict=True)]
        at_joints[joint.v], y[joint.v] = t, bodies.D[i].solve(t)
        if parent > 0:
            pushes = {i: combine(bodies.U[i], y[joint.v])}
            for j in own:
                pushes[j] = pushes[j] + p[j] if j in pushes else p[j]
            for j, push in pushes.items():
                at_parent = bodies.X[j].back(push)
                p[parent] = at_parent if p[parent] is None else p[parent] + at_parent
            if joint.spin is not None:
                p[parent] = p[parent] + joint.spin * y[joint.v.start]
    return y, at_joints


def by_body(tree: Tree, y: Sequence[Any]) -> dict[int, list[Any]]:
    """Joint accelerations y by body, as `response` takes them."""
    return {i: list(y[joint.v]) for i, joint in enumerate(tree.joints) if i > 0}


def response(tree: Tree, bodies: ArticulatedTree, y: dict[int, list[Any]], world: Motion | None = None) -> list[Any]:
    """M⁻¹ Jᵀ f from y = D⁻¹ t of the joints: one outward pass over all joints. The world may accelerate."""
    return response_and_drag(tree, bodies, y, world)[0]


def response_and_drag(
    tree: Tree, bodies: ArticulatedTree, y: dict[int, list[Any]], world: Motion | None = None
) -> tuple[list[Any], list[Any]]:
    """`response`, and the inertial force at each joint by its parent's acceleration, the drag: D a = t - drag."""
    a: list[Any] = [0] * tree.nv
    drag: list[Any] = [0] * tree.nv
    A = tree.per_body(Motion.zero() if world is None else world)
    bodies_on, spanning = tree.bodies_on(), tree.spanning_tree or tree
    for i, parent, joint in tree.outward():
        A_rigid = bodies.X_own[i] @ A[spanning.parent[i]]
        if i == bodies_on[joint.v.start][0]:  # once for the bodies of an aggregated joint
            own_drag = [A_rigid.dot(U) for U in bodies.U[i]]
            if joint.spin is not None:
                own_drag[0] = own_drag[0] + A[parent].dot(joint.spin)
            answer = y.get(i, [0] * len(own_drag))
            drag[joint.v] = own_drag
            a[joint.v] = [y - x for y, x in zip(answer, bodies.D[i].solve(own_drag), strict=True)]
        A[i] = A_rigid + combine(bodies.S_own[i], a[spanning.joints[i].v])
    return a, drag
