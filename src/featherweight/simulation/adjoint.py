"""A step backwards: from weights on the state after it to those on all that it depends on.

Nothing of the step is solved again: the equations are looked at where they were solved (`implicit.py`), and the
transposed system is solved once. A step that is itself the solution of e(x, δ) = 0 hands on -e_xᵀ (e_δᵀ)⁻¹ δ̄.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from featherweight.algorithms.elimination import LU, eliminated
from featherweight.cached import cached_property
from featherweight.functions.configuration import weights_of_numbers
from featherweight.simulation.implicit import ImplicitStep, Rows, SparseRows, dot, plus, summed
from featherweight.simulation.step_equations import AFTER, DELTA, Q_END, REMEMBERED, V_END, Named
from featherweight.simulation.step_program import StepProgram


class AdjointStep(ImplicitStep):
    """A step that was made: what it began with, where it ended, and its impulses (or which ends were held)."""

    def __init__(self, program: StepProgram, values: Named, q_after: Sequence[Any], found: Sequence[Any]) -> None:
        super().__init__(program, values)
        self.q_after = list(q_after)
        if program.solves:
            self.at.values[DELTA] = self._displacement()
        if self.m or not program.moves_first:
            self.locate([0.0] * self.n, found)

    def impulses_of(self, found: Sequence[Any]) -> list[Any]:
        """What was kept of the step is what it remembered: those of shapes in the world's axes."""
        self.at.values[REMEMBERED] = list(found)
        return self.at.run("recalled")[0]

    def free(self) -> list[Any]:
        """Without a search, where its δ is known."""
        return self.at.run("landing")[0] if self.program.solves else super().free()

    def arrived(self, velocity: Sequence[Any]) -> list[Any]:
        return self.by_impulses()

    def answer(self, impulses: Mapping[int, Any]) -> list[Any]:
        """K⁻¹ Jᵀ λ."""
        total: list[Any] = [0.0] * self.n
        for k, x in impulses.items():
            for d, entry in self.J[k].items():
                total[d] = plus(total[d], entry * x)
        return self.factors.solve(total)

    @cached_property
    def G(self) -> Rows:
        """The Delassus matrix J K⁻¹ Jᵀ = T D⁻¹ Tᵀ, T = J L⁻¹: rows of different limbs have little in common."""
        G: Rows = [[0.0] * self.m for _ in range(self.m)]
        T: SparseRows = []
        for row in self.J:
            self.mark()
            T.append(self.factors.carried(row))
        for i, row in enumerate(T):
            self.mark()
            own = {d: x * self.factors.d_inverse[d] for d, x in row.items()}
            for j in range(i + 1):
                G[i][j] = G[j][i] = dot({d: x for d, x in own.items() if d in T[j]}, T[j])
        return G

    def pulled(
        self, of_q: Sequence[Any], of_v: Sequence[Any], of_impulses: Sequence[Any], wanted: Sequence[str]
    ) -> Named:
        """Cotangents of what the step depends on, from weights on the state after it, along its directions, and on the
        impulses.

        With u those of v⁺, the transposed system is Sᵀ z = J K⁻¹ u + λ̄ and y = h K⁻¹ (u - Jᵀ l_wᵀ z); then balance,
        errors and laws hand on -y, -l_wᵀ z and -z, and coasting u - Jᵀ l_wᵀ z.
        """
        weights = [*weights_of_numbers(self.program.model, self.q_after, of_q), *of_v]
        if not self.program.moves_first:
            return self._impulses_pulled(weights, of_impulses, wanted)
        if not self.m:
            return self._free_pulled(weights, wanted)
        found = self._impulses_pulled(weights, of_impulses, [*wanted, Q_END, V_END])
        more = self._free_pulled([*found.pop(Q_END), *found.pop(V_END)], wanted)
        return {name: summed(found[name], more[name]) for name in found}

    def _impulses_pulled(self, weights: list[Any], of_impulses: Sequence[Any], wanted: Sequence[str]) -> Named:
        direct = self.at.pulled(["end"], [weights], [*wanted, AFTER])
        u, names, given = direct.pop(AFTER), ["balance", "coasting"], []
        if self.m:
            answer = self.factors.solve(u)
            self.mark()
            right = [plus(dot(row, answer), x) for row, x in zip(self.J, of_impulses, strict=True)]
            z = self.S.solve_transposed(right)
            on_w: list[Any] = [0.0] * self.m
            for x, own in zip(z, self.laws[0], strict=True):
                for k, gain in own.items():
                    on_w[k] = plus(on_w[k], x * gain)
            for row, x in zip(self.J, on_w, strict=True):
                u = [plus(u_k, -(row[k] * x)) if k in row else u_k for k, u_k in enumerate(u)]
            names, given = [*names, "errors", self.side], [[-x for x in own] for own in (on_w, z)]
        self.mark()
        y = self.factors.solve(u)
        found = self.at.pulled(names, [[-(x * self.h) for x in y], u, *given], wanted)
        return {name: summed(found[name], direct[name]) for name in found}

    def _free_pulled(self, weights: list[Any], wanted: Sequence[str]) -> Named:
        """From weights on the state without impulses."""
        if not self.program.solves:
            return self.at.pulled(["free"], [weights], wanted)
        found = self.at.pulled(["landing"], [weights], [*wanted, DELTA])
        order = list(reversed(range(self.n)))  # from the tips to the root, so that branches stay apart
        of_delta = found.pop(DELTA)
        y = self._search_factors(order).solve_transposed([of_delta[d] for d in order])
        more = self.at.pulled(["search"], [[-x for x in reversed(y)]], wanted)
        return {name: summed(found[name], more[name]) for name in found}

    def _search_factors(self, order: Sequence[int]) -> LU:
        """Of e_δ, in this order of coordinates."""
        (rows,) = self.at.pushed(["search"], {DELTA: [{k: 1.0} for k in range(self.n)]})
        return eliminated([[rows[i].get(k, 0.0) for k in order] for i in order], self.mark)

    def _displacement(self) -> list[Any]:
        """δ of q⁺ = q ⊕ δ."""
        q, delta = self.at.values["q"], [0.0] * self.n
        for joint in self.program.model.independent_joints:
            delta[joint.v] = joint.kind.difference(q[joint.q], self.q_after[joint.q])
        return delta
