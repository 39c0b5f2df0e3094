"""Recursive impulse-based quasi-Newton steps: δ ← δ - M(q)⁻¹ e (Lee, Liu, Park and Srinivasa, 2016).

The Jacobian of the residual is the mass matrix at q, but for terms of the order of h. Its inverse is never formed: e is
an impulse, and one articulated-body sweep says how the robot answers it. The articulated inertias are made once a step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

from featherweight.algorithms.articulated import ArticulatedTree, articulated_bodies, parent_columns
from featherweight.algorithms.contact_inertia import response
from featherweight.algorithms.factorization import factorize
from featherweight.algorithms.linear import Factored, combine
from featherweight.algorithms.mass_matrix import mass_matrix
from featherweight.integrators.variational.drnea import Place
from featherweight.model import Tree
from featherweight.scalar import when
from featherweight.spatial import Force, Vector

Answer = Callable[[Sequence[Any]], list[Any]]


def answers(place: Place, needed: Any) -> Answer:
    """e ↦ M(q)⁻¹ e; what it is made of is only computed if some lane needs it."""
    tree = place.tree
    if tree.coupled:
        return factorize(mass_matrix(tree, place.q)).solve
    tree.mark()
    flat = when(needed, lambda: _flat(articulated_bodies(tree, place.q)), None)
    bodies = _unpacked(place, flat)
    return lambda e: _answer(tree, bodies, e)


def _answer(tree: Tree, bodies: ArticulatedTree, e: Sequence[Any]) -> list[Any]:
    """Impulses at the joints carried to the root, then one outward pass."""
    p = tree.per_body()
    y: dict[int, list[Any]] = {}
    for i, parent, joint in tree.inward():
        own = e[joint.v] if p[i] is None else [x - s.dot(p[i]) for x, s in zip(e[joint.v], bodies.S[i], strict=True)]
        y[i] = bodies.D[i].solve(own)
        if parent > 0:
            felt = combine(parent_columns(bodies.X[i], bodies.U[i], joint), y[i])
            if p[i] is not None:
                felt = felt + bodies.X[i].back(p[i])
            p[parent] = felt if p[parent] is None else p[parent] + felt
    return response(tree, bodies, y)


def _flat(bodies: ArticulatedTree) -> list[Any]:
    """What `_answer` needs of articulated bodies, besides X and S, as a list of numbers."""
    numbers: list[Any] = []
    for U, D in zip(bodies.U[1:], bodies.D[1:], strict=True):
        for column in U:
            numbers += [*column.moment, *column.force]
        for k, row in enumerate(D.L):
            numbers += row[:k]
        numbers += D.d_inverse
    return numbers


def _unpacked(place: Place, flat: Sequence[Any]) -> ArticulatedTree:
    """The inverse of `_flat`."""
    numbers = iter(flat)
    U, D = place.tree.per_body(), place.tree.per_body()
    for i in range(1, len(U)):
        n = len(place.S[i])
        U[i] = [Force(Vector(*islice(numbers, 3)), Vector(*islice(numbers, 3))) for _ in range(n)]
        L = [[*islice(numbers, k), *([0] * (n - k))] for k in range(n)]
        D[i] = Factored(L, [], list(islice(numbers, n)))
    return ArticulatedTree(place.X, place.S, U, D, [])
