"""The classical Runge-Kutta method of order 4, on the manifold (Munthe-Kaas, 1998).

Stages are points q ⊕ u with u in the tangent space at q, where u̇ = J_r(u)⁻¹ v; so quaternions stay unit quaternions and
the order is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from featherweight.algorithms import integrate
from featherweight.integrators.integrator import Acceleration, Integrator
from featherweight.model import Tree


class RK4(Integrator):
    """Four accelerations a step."""

    no_impulses = "an impact within a step would spoil the order of its stages"
    damping_limit = 2.785  # of the classical method on ẋ = -λ x: h λ

    def step(
        self, tree: Tree, q: Sequence[Any], v: Sequence[Any], h: Any, acceleration: Acceleration
    ) -> tuple[list[Any], list[Any]]:
        half = h * 0.5
        du1, dv1 = list(v), acceleration(q, v)
        du2, dv2 = self._stage(tree, q, v, du1, dv1, half, acceleration)
        du3, dv3 = self._stage(tree, q, v, du2, dv2, half, acceleration)
        du4, dv4 = self._stage(tree, q, v, du3, dv3, h, acceleration)
        sixth = h * (1.0 / 6.0)
        u = [sixth * (a + 2 * (b + c) + d) for a, b, c, d in zip(du1, du2, du3, du4, strict=True)]
        moved = [v_k + sixth * (a + 2 * (b + c) + d) for v_k, a, b, c, d in zip(v, dv1, dv2, dv3, dv4, strict=True)]
        return integrate(tree, q, u), moved

    @staticmethod
    def _stage(
        tree: Tree,
        q: Sequence[Any],
        v: Sequence[Any],
        du: Sequence[Any],
        dv: Sequence[Any],
        h: Any,
        acceleration: Acceleration,
    ) -> tuple[list[Any], list[Any]]:
        """The slopes of u and v after h along the slopes du, dv."""
        u = [h * x for x in du]
        moved = [v_k + h * x for v_k, x in zip(v, dv, strict=True)]
        slope = list(moved)
        for _, _, joint in tree.outward():
            if joint.kind.leader is None:
                slope[joint.v] = joint.kind.rate(u[joint.v], moved[joint.v])
        return slope, acceleration(integrate(tree, q, u), moved)
