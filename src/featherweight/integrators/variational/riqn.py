"""Recursive impulse-based quasi-Newton steps: δ ← δ - M(q)⁻¹ e (Lee, Liu, Park and Srinivasa, 2016).

The Jacobian of the residual is the mass matrix at q, but for terms of the order of h. Its inverse is never formed: e is
an impulse, and one articulated-body sweep says how the robot answers it: inward with the pass that makes e, outward
with the pass that uses the answer. The articulated inertias are made once a step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from featherweight.algorithms.articulated import ArticulatedTree, articulated_bodies, parent_columns
from featherweight.algorithms.contact_inertia import response
from featherweight.algorithms.factorization import factorize
from featherweight.algorithms.linear import combine
from featherweight.algorithms.mass_matrix import mass_matrix
from featherweight.integrators.variational.drnea import Place
from featherweight.model import Tree


class Answer(NamedTuple):
    """e ↦ M(q)⁻¹ e in two halves: y = inward(e), a number a coordinate, and M⁻¹ e = outward(y)."""

    inward: Callable[[Sequence[Any]], list[Any]]
    outward: Callable[[Sequence[Any]], list[Any]]

    def __call__(self, e: Sequence[Any]) -> list[Any]:
        return self.outward(self.inward(e))


def answer(place: Place) -> Answer:
    """How the robot answers impulses at q."""
    tree = place.tree
    if tree.coupled:
        return Answer(factorize(mass_matrix(tree, place.q)).solve, list)
    bodies = articulated_bodies(tree, place.q)
    return Answer(lambda e: _joint_answers(tree, bodies, e), lambda y: _robot_answers(tree, bodies, y))


def _joint_answers(tree: Tree, bodies: ArticulatedTree, e: Sequence[Any]) -> list[Any]:
    """Impulses at the joints carried to the root: what each joint does if its parent rests."""
    p = tree.per_body()
    y: list[Any] = [0] * tree.nv
    for i, parent, joint in tree.inward():
        own = e[joint.v] if p[i] is None else [x - s.dot(p[i]) for x, s in zip(e[joint.v], bodies.S[i], strict=True)]
        y[joint.v] = bodies.D[i].solve(own)
        if parent > 0:
            felt = combine(parent_columns(bodies.X[i], bodies.U[i], joint), y[joint.v])
            if p[i] is not None:
                felt = felt + bodies.X[i].back(p[i])
            p[parent] = felt if p[parent] is None else p[parent] + felt
    return y


def _robot_answers(tree: Tree, bodies: ArticulatedTree, y: Sequence[Any]) -> list[Any]:
    """The same with parents that move."""
    return response(tree.apart(), bodies, {i: list(y[joint.v]) for i, joint in enumerate(tree.joints) if i > 0})
