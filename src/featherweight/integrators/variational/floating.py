"""The momentum of robots that float, which nothing but forces from outside changes.

What is left of the equations of a step is far below the tolerance, but not zero, and would add up from step to step. So
the momentum of a floating body with all it carries goes on beside (q, v), without gravity's half. Where a step ends, it
is what it was where the step began, seen from there, with the impulses from outside; and the velocity is made for it.
Where impulses of contact change the velocity afterwards, it is forgotten; with forces on the bodies it is not used.

M(q⁺) v⁺ has it to the last digits where M is made at q⁺. Without damping M is made where the search ended, before the
last correction of q⁺ (`ending`): then it differs by about |e|, which is why the search goes nearer there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from featherweight.algorithms.momentum import composite_bodies
from featherweight.integrators.variational.forces import Braked
from featherweight.model import Tree
from featherweight.scalar import where
from featherweight.spatial import Force, Motion, Vector


def kept_size(tree: Tree) -> int:
    """Numbers that go from step to step: the momentum, and whether it is known."""
    size = sum(len(joint.dofs) for i, joint in enumerate(tree.joints) if tree.floats(i))
    return size + 1 if size else 0


def kept(p: dict[int, Any]) -> list[Any]:
    """Of momenta, by degree of freedom, what goes on to the next step."""
    return [*p.values(), 1.0] if p else []


def forgotten(tree: Tree, state: Sequence[Any], condition: Any) -> list[Any]:
    """A state that begins with what is kept, where the momentum is not known any more."""
    after, size = list(state), kept_size(tree)
    if size:
        after[size - 1] = where(condition, 0.0, after[size - 1])
    return after


def floating_start(
    tree: Tree, q: Sequence[Any], begin: Sequence[Any], own: Sequence[Any], h: Any, forces: Sequence[Any]
) -> list[Any]:
    """What a step begins with (`legendre.start`), of floating bodies by what was kept of them, if it is known."""
    if not own:
        return list(begin)
    p, known, whole = iter(own), own[-1] > 0, list(begin)
    I_c, _ = composite_bodies(tree, q)
    for i, joint in enumerate(tree.joints):
        if tree.floats(i):
            g = (joint.transform(q) @ tree.X_tree[i]).E @ tree.gravity
            weight = I_c[i] @ Motion(Vector.zero(), g)
            for k, s in zip(joint.dofs, joint.subspace(q), strict=True):
                impulse = (h * h) * (s.dot(weight) + 0.5 * forces[k])
                whole[k] = where(known, next(p) + impulse, begin[k])
    return whole


def floating_momentum(
    tree: Tree, q: Sequence[Any], begin: Sequence[Any], delta: Sequence[Any], h: Any, braked: Braked,
    forces: Sequence[Any],
) -> dict[int, Any]:  # fmt: skip
    """p⁺ of floating bodies where the step δ ends, by degree of freedom: Ad_Δᵀ p, with the impulses at the end."""
    p: dict[int, Any] = {}
    for i, _, joint in tree.outward():
        if tree.floats(i):
            S = joint.subspace(q)  # all six unit twists
            motors = [a * delta[k] for k, a in zip(joint.dofs, joint.armature, strict=True)]  # they do not turn
            F = Force.zero()
            for k, s, own in zip(joint.dofs, S, motors, strict=True):
                F = F + Force(*s) * (begin[k] - braked.early[k] * delta[k] - own)
            F = joint.displacement(q, delta).ahead(F)
            for k, s, own in zip(joint.dofs, S, motors, strict=True):
                p[k] = s.dot(F) + own - braked.late[k] * delta[k] + 0.5 * h * h * forces[k]
    return p
