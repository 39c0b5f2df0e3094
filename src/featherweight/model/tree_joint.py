"""A joint in a tree: its kind with its part of q and v."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from featherweight.joints import Joint
from featherweight.spatial import Displacement, Force, Motion, Transform


@dataclass(frozen=True)
class TreeJoint:
    """A joint of a tree: its kind, its slices of the model's q and v, and its properties over the scalar at hand.

    Its motor adds `armature` to the inertia of each degree of freedom, and `spin`: a rotor that turns with q̇
    on the parent has the momentum spin · q̇ there, a pure moment in the parent's axes.
    """

    kind: Joint
    q: slice
    v: slice
    armature: tuple[Any, ...] = ()
    damping: tuple[Any, ...] = ()
    friction: tuple[Any, ...] = ()
    stiffness: tuple[Any, ...] = ()
    rest: tuple[Any, ...] = ()
    spin: Force | None = None
    held: tuple[Any, ...] | None = None  # conditions: where a degree of freedom is locked; None: nowhere
    place: Sequence[Any] | None = None  # what `Joint.transform_at` takes in place of q, where that is known

    @property
    def dofs(self) -> range:
        """Its degrees of freedom, by their places in v."""
        return range(self.v.start, self.v.stop)

    def transform(self, q: Sequence[Any]) -> Transform:
        """X_J(q)."""
        return self.kind.transform(q[self.q]) if self.place is None else self.kind.transform_at(self.place)

    def subspace(self, q: Sequence[Any]) -> tuple[Motion, ...]:
        """The columns of S(q)."""
        return self.kind.subspace(q[self.q] if self.place is None else self.place)

    def subspace_after(self, q: Sequence[Any], d: Sequence[Any]) -> tuple[Motion, ...]:
        """The columns of S(q ⊕ d)."""
        return self.kind.subspace_after(q[self.q], d[self.v])

    def subspace_rate(self, q: Sequence[Any], v: Sequence[Any]) -> tuple[Motion, ...]:
        """The columns of dS/dt as seen in the body."""
        return self.kind.subspace_rate(q[self.q], v[self.v])

    def subspace_derivative(self, q: Sequence[Any]) -> list[tuple[Motion, ...]]:
        """∂S/∂q_j as seen in the body, for each degree of freedom j: the columns of S when only j moves."""
        n = len(self.dofs)
        return [self.kind.subspace_rate(q[self.q], [int(k == j) for k in range(n)]) for j in range(n)]

    def bias(self, q: Sequence[Any], v: Sequence[Any]) -> Motion:
        """c_J = (dS/dt) v as seen in the body."""
        c = Motion.zero()
        for rate, number in zip(self.subspace_rate(q, v), v[self.v], strict=True):
            c = c + rate * number
        return c

    def bias_derivative(self, q: Sequence[Any], v: Sequence[Any]) -> tuple[Motion, ...]:
        """The columns of ∂c_J/∂q as seen in the body."""
        return self.kind.bias_derivative(q[self.q], v[self.v])

    def displacement(self, q: Sequence[Any], d: Sequence[Any]) -> Displacement:
        """How the body's frame moves when the joint moves by d."""
        return self.kind.displacement(q[self.q], d[self.v])

    def stretch(self, q: Sequence[Any]) -> list[Any]:
        """Deflection q ⊖ rest of the joint's spring; zero where there is no spring."""
        if all(isinstance(k, (int, float)) and k == 0 for k in self.stiffness):
            return [0] * len(self.stiffness)
        return self.kind.difference(self.rest, q[self.q])

    def spring_force(self, q: Sequence[Any]) -> list[Any]:
        """-∂U/∂q of the joint's spring, U = ½ Σ κ u², u = q ⊖ rest: -J_r(u)⁻ᵀ κ u."""
        u = self.stretch(q)
        pull = [k * u_j for k, u_j in zip(self.stiffness, u, strict=True)]
        force = []
        for k in range(len(u)):
            column = self.kind.rate(u, [int(j == k) for j in range(len(u))])  # of J_r(u)⁻¹
            total: Any = 0
            for pull_j, entry in zip(pull, column, strict=True):
                total = total - pull_j * entry
            force.append(total)
        return force
