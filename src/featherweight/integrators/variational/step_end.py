"""Where a step ends, q⁺ = q ⊕ δ: the velocity that follows from the momenta there, h v = M(q⁺)⁻¹ (h p).

Quasi-Newton steps answer with the factors of M(q⁺) too, for the first δ. Mostly the search ends with it: then all but
one pass outward is made already, together with the trial. The last correction of q⁺ comes after that; it is of the size
of the tolerance, and M is not made again for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from featherweight.algorithms.linear import Factored
from featherweight.integrators.variational.carry import Carry
from featherweight.integrators.variational.legendre import per_time
from featherweight.integrators.variational.riqn import MassSolver
from featherweight.model import Tree
from featherweight.scalar import repeat


@dataclass(frozen=True)
class StepEnd:
    """Articulated bodies at q⁺, and the answers y of their joints to the momenta there: the first half of h v. Without
    the momenta of floating bodies, which are known when δ is."""

    answer: MassSolver
    y: list[Any]

    def unless(self, same: Any, again: Callable[[], StepEnd]) -> StepEnd:
        """This where it is the same, else another one."""
        row = Carry(self._parts())
        self.answer.tree.mark()
        parts = repeat(lambda _: row.of(again()._parts()), row.of(self._parts()), until=lambda _: same, at_most=1)
        bodies, joints, y = self.answer.bodies, list(self.answer.tree.joints), list(self.y)
        U, D = list(bodies.U), list(bodies.D)
        for i, (place, columns, L, d_inverse, answers) in enumerate(row.back(parts), start=1):
            U[i], D[i] = columns, Factored(L, D[i].d, d_inverse, D[i].D)
            y[joints[i].v] = answers
            joints[i] = replace(joints[i], place=place)
        tree = replace(self.answer.tree, joints=tuple(joints))
        return StepEnd(replace(self.answer, tree=tree, bodies=replace(bodies, U=U, D=D)), y)

    def _parts(self) -> list[Any]:
        """What the pass outward needs. Body after body, so that equal bodies can be equal code."""
        bodies, parts = self.answer.bodies, []
        for i, joint in enumerate(self.answer.tree.joints[1:], start=1):
            parts.append([joint.place, bodies.U[i], bodies.D[i].L, bodies.D[i].d_inverse, self.y[joint.v]])
        return parts

    def along(self, tree: Tree) -> StepEnd:
        """The same in the passes of this tree."""
        at = replace(tree, joints=self.answer.tree.joints)
        X, S = tree.per_body(), tree.per_body()
        for i, _, joint in at.outward():
            X[i], S[i] = joint.transform(()) @ tree.X_tree[i], joint.subspace(())
        return replace(
            self, answer=replace(self.answer, tree=at, bodies=replace(self.answer.bodies, X=X, S=S, X_own=X, S_own=S))
        )

    def with_momenta(self, p: dict[int, Any], along: Tree) -> StepEnd:
        """With the momenta of floating bodies, by degree of freedom, which were left out; in a pass of this tree."""
        y = list(self.y)
        for i, _, joint in along.outward():
            if along.floats(i):
                own = self.answer.bodies.D[i].solve([p[k] for k in joint.dofs])
                y[joint.v] = [a + b for a, b in zip(y[joint.v], own, strict=True)]
        return replace(self, y=y)

    def velocity(self, h: Any, along: Tree) -> list[Any]:
        """v after the step: the second half, as a pass of this tree. Gravity acts for h/2 there, too: instead of
        pulling all bodies down, let the world move upward."""
        world = self.answer.tree.gravity_field * (0.5 * h * h)
        return per_time(along, self.answer.outward(self.y, along, world), h)
