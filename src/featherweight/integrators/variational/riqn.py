"""Recursive impulse-based quasi-Newton steps: δ ← δ - M⁻¹ e (Lee, Liu, Park and Srinivasa, 2016).

The Jacobian of the residual is the mass matrix where the step begins, M(q), but for terms of the order of h. It is
that where the step ends, M(q ⊕ δ), too, which serves for the velocity there as well. Its inverse is never formed: e is
an impulse, and one articulated-body sweep says how the robot answers it: inward with the pass that makes e, outward
with the pass that uses the answer. The articulated inertias are made once a step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from featherweight import algorithms
from featherweight.algorithms.articulated import ArticulatedTree, articulated_bodies
from featherweight.algorithms.contact_inertia import by_body, joint_answers, response
from featherweight.model import Tree, aggregated
from featherweight.spatial import Force, Motion


@dataclass(frozen=True)
class MassSolver:
    """b ↦ M(q)⁻¹ b in two halves: y = inward(b), a number a coordinate, and M⁻¹ b = outward(y)."""

    tree: Tree
    q: Sequence[Any]
    bodies: ArticulatedTree

    @staticmethod
    def at(tree: Tree, q: Sequence[Any]) -> MassSolver:
        tree = aggregated(tree)
        return MassSolver(tree, q, articulated_bodies(tree, q))

    @staticmethod
    def after(tree: Tree, q: Sequence[Any], delta: Sequence[Any]) -> MassSolver:
        """That of the robot at q ⊕ δ."""
        q_after = algorithms.integrate(tree, q, delta)
        return MassSolver.at(tree.moved(q, delta, q_after), q_after)

    def inward(self, b: Sequence[Any], forces: Sequence[Force] | None = None) -> list[Any]:
        """Of impulses b at the joints, and others on the bodies."""
        return joint_answers(self.tree, self.bodies, b, forces)

    def outward(self, y: Sequence[Any], along: Tree | None = None, world: Motion | None = None) -> list[Any]:
        """As a pass of its own, or woven with the passes of another tree; the world may move too."""
        weave = None if along is None else along.weave
        return response(replace(self.tree, weave=weave), self.bodies, by_body(self.tree, y), world)

    def __call__(self, b: Sequence[Any]) -> list[Any]:
        """Both halves, each as a pass of its own."""
        return self.outward(joint_answers(self.tree.separate_passes(), self.bodies, b))
