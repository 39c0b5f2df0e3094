"""Recursive impulse-based quasi-Newton steps: δ ← δ - M(q)⁻¹ e (Lee, Liu, Park and Srinivasa, 2016).

The Jacobian of the residual is the mass matrix at q, but for terms of the order of h. Its inverse is never formed: e is
an impulse, and one articulated-body sweep says how the robot answers it: inward with the pass that makes e, outward
with the pass that uses the answer. The articulated inertias are made once a step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from featherweight.algorithms.articulated import articulated_bodies
from featherweight.algorithms.contact_inertia import by_body, joint_answers, response
from featherweight.integrators.variational.drnea import Place
from featherweight.model import joined


class Answer(NamedTuple):
    """e ↦ M(q)⁻¹ e in two halves: y = inward(e), a number a coordinate, and M⁻¹ e = outward(y)."""

    inward: Callable[[Sequence[Any]], list[Any]]
    outward: Callable[[Sequence[Any]], list[Any]]

    def __call__(self, e: Sequence[Any]) -> list[Any]:
        return self.outward(self.inward(e))


def answer(place: Place) -> Answer:
    """How the robot answers impulses at q."""
    tree = joined(place.tree)
    bodies = articulated_bodies(tree, place.q)
    return Answer(
        partial(joint_answers, tree, bodies),
        lambda y: response(tree.apart(), bodies, by_body(tree, y)),
    )
