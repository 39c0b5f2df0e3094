"""Recursive impulse-based quasi-Newton steps: δ ← δ - M(q)⁻¹ e (Lee, Liu, Park and Srinivasa, 2016).

The Jacobian of the residual is the mass matrix at q, but for terms of the order of h. Its inverse is never formed: e is
an impulse, and one articulated-body sweep says how the robot answers it. The articulated inertias are made once a step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from typing import Any

from featherweight.algorithms.articulated import ArticulatedTree, articulated_bodies
from featherweight.algorithms.contact_inertia import joint_response
from featherweight.algorithms.linear import Factored
from featherweight.integrators.variational.drnea import Place
from featherweight.model import joined
from featherweight.scalar import when
from featherweight.spatial import Force, Vector

Answer = Callable[[Sequence[Any]], list[Any]]


def answers(place: Place, needed: Any) -> Answer:
    """e ↦ M(q)⁻¹ e; what it is made of is only computed if some lane needs it."""
    tree = place.tree
    if tree.coupled:
        tree = joined(tree)
        return partial(joint_response, tree, articulated_bodies(tree, place.q))
    tree.mark()
    flat = when(needed, lambda: _flat(articulated_bodies(tree, place.q)), None)
    return partial(joint_response, tree, _unpacked(place, flat))


def _flat(bodies: ArticulatedTree) -> list[Any]:
    """What `joint_response` needs of articulated bodies, besides X and S, as a list of numbers."""
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
