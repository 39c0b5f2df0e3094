"""Recursive impulse-based quasi-Newton steps: δ ← δ - M(q)⁻¹ e (Lee, Liu, Park and Srinivasa, 2016).

The Jacobian of the residual is the mass matrix at q, but for terms of the order of h. Its inverse is never formed: e is
an impulse, and one articulated-body sweep says how the robot answers it: inward with the pass that makes e, outward
with the pass that uses the answer. The articulated inertias are made once a step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from featherweight.algorithms.articulated import articulated_bodies
from featherweight.algorithms.contact_inertia import by_body, joint_answers, response
from featherweight.integrators.variational.drnea import Place
from featherweight.model import Tree, joined


class Answer:
    """e ↦ M(q)⁻¹ e in two halves: y = inward(e), a number a coordinate, and M⁻¹ e = outward(y)."""

    def __init__(self, place: Place) -> None:
        self.tree = joined(place.tree)
        self.bodies = articulated_bodies(self.tree, place.q)

    def inward(self, e: Sequence[Any]) -> list[Any]:
        return joint_answers(self.tree, self.bodies, e)

    def outward(self, y: Sequence[Any], along: Tree | None = None) -> list[Any]:
        """As a pass of its own, or woven with the passes of another tree."""
        weave = None if along is None else along.weave
        return response(replace(self.tree, weave=weave), self.bodies, by_body(self.tree, y))

    def __call__(self, e: Sequence[Any]) -> list[Any]:
        """Both halves, each as a pass of its own."""
        return self.outward(joint_answers(self.tree.apart(), self.bodies, e))
