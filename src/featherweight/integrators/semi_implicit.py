"""Semi-implicit (symplectic) Euler: the new velocity moves the configuration. Order 1, cheap, robust."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from featherweight.integrators.integrator import Acceleration, Integrator, predicted
from featherweight.model import Tree


class SemiImplicit(Integrator):
    """v⁺ = v + h q̈(q, v), q⁺ = q ⊕ h v⁺; free bodies in axes that do not turn during the step.

    Damping acts with v⁺, so that no damping is too stiff: (M + h D) q̈ = τ - D v - …
    """

    damps_implicitly = True

    def step(
        self, tree: Tree, q: Sequence[Any], v: Sequence[Any], h: Any, acceleration: Acceleration
    ) -> tuple[list[Any], list[Any]]:
        return advanced(tree, q, predicted(tree, v, acceleration(q, v), h), h)


def advanced(tree: Tree, q: Sequence[Any], v: Sequence[Any], h: Any) -> tuple[list[Any], list[Any]]:
    """Where a velocity in the axes of now leads to in h, and the same velocity in the axes of then."""
    new_q, new_v = list(q), list(v)
    for _, _, joint in tree.outward():
        if joint.joint.leader is None:
            new_q[joint.q], new_v[joint.v] = joint.joint.advance(q[joint.q], v[joint.v], h)
    return new_q, new_v
