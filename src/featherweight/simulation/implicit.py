"""Derivatives of a step by the implicit function theorem, on the sides of the laws that were taken.

With K = ∂balance/∂a, the mass matrix, b and l short for balance and laws, and J the rows of the constraints, ∂b/∂λ is
-Jᵀ / h and ∂w/∂a is h J. So with Z = K⁻¹ Jᵀ, the Delassus matrix G = J Z and S = l_λ + l_w G

    δw = w_x δx + J δv⁺,    S δλ = -l_w (w_x - h Zᵀ b_x) δx - l_x δx,
    δa = -K⁻¹ b_x δx + Z δλ / h.

S is G where contacts stick; a row of the unit matrix where one is open; and not symmetric where one slides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from featherweight import algorithms
from featherweight.algorithms.elimination import LU, eliminated
from featherweight.algorithms.factorization import LTDL
from featherweight.algorithms.linear import is_zero
from featherweight.cached import cached_property
from featherweight.differentiation import Tangents
from featherweight.functions.configuration import Input, velocities, weights_of_numbers
from featherweight.simulation.step_program import (
    ACCELERATION,
    ANSWERS,
    ENDS,
    ERRORS,
    IMPULSES,
    Q_END,
    V_END,
    Evaluation,
    Named,
    StepProgram,
    traced_into,
)

Rows = list[list[Any]]
SparseRows = list[dict[int, Any]]


class ImplicitStep:
    """A step where it was solved: its values, and the matrices of its equations there."""

    def __init__(self, program: StepProgram, values: Named) -> None:
        self.program, self.n, self.m = program, program.model.nv, program.rows
        self.mark = traced_into().mark
        self.at: Evaluation = program.at(values)

    @cached_property
    def _values(self) -> Named:
        names = ("after", "status", "velocity", "found")
        return dict(zip(names, self.at.run(*names), strict=True))

    @property
    def after(self) -> tuple[list[Any], list[Any]]:
        """The state after the step."""
        nq = self.program.model.nq
        return self._values["after"][:nq], self._values["after"][nq:]

    @property
    def status(self) -> Any:
        """Zero where the step could be made."""
        return self._values["status"][0]

    @property
    def velocity(self) -> list[Any]:
        """What impulses have left, before the robot moves with it."""
        return self._values["velocity"]

    @property
    def found(self) -> list[Any]:
        """The impulses; or, where joints are held and nothing else is constrained, at which ends."""
        return self._values["found"]

    def locate(self, velocity: Sequence[Any], found: Sequence[Any]) -> None:
        """Let the equations be those where impulses left this velocity, and were these (or these ends were held)."""
        at, program = self.at, self.program
        if program.moves_first:
            (free,) = at.run("free")
            at.values |= {Q_END: free[: program.model.nq], V_END: free[program.model.nq :]}
        coasting, (self.per_h,) = at.run("coasting", "per_h")
        at.values[ACCELERATION] = [(v - c) * self.per_h for v, c in zip(velocity, coasting, strict=True)]
        at.values |= {IMPULSES: [0.0] * self.m, ENDS: [0.0] * self.m}
        if program.holds_joints:
            at.values[ENDS] = list(found)  # how large the impulses were plays no part
        elif self.m:
            at.values[IMPULSES] = list(found)
        if program.yielding:
            at.values[ANSWERS] = [y for row in program.yielding for y in self.Z[row]]
        if self.m:
            self._correct()

    def _correct(self) -> None:
        """One Newton step on the equations: derivatives are those of the solution, not of what a solver leaves."""
        values = self.at.values
        (values[ERRORS],) = self.at.run("errors")
        (left,) = self.at.run("laws")
        change = self.S.solve([-x for x in left])
        values[IMPULSES] = [x + dx for x, dx in zip(values[IMPULSES], change, strict=True)]
        per_h = [x * self.per_h for x in change]
        for column, x in zip(self.Z, per_h, strict=True):
            values[ACCELERATION] = [_plus(a, z * x) for a, z in zip(values[ACCELERATION], column, strict=True)]
        (values[ERRORS],) = self.at.run("errors")
        for name in ("laws", "S"):  # which depend on them
            self.__dict__.pop(name)

    @cached_property
    def factors(self) -> LTDL:
        """Of K."""
        (flat,) = self.at.run("mass")
        entries = iter(flat)
        K = [[next(entries) for _ in range(i + 1)] for i in range(self.n)]
        return algorithms.factorize(
            [[K[max(i, j)][min(i, j)] for j in range(self.n)] for i in range(self.n)], self.mark
        )

    @cached_property
    def J(self) -> SparseRows:
        """What a unit impulse of each row pushes: ∂balance/∂λ is -Jᵀ / h."""
        (found,) = self.at.pushed(["balance"], {IMPULSES: [{k: -1.0} for k in range(self.m)]})
        h = 1.0 / self.per_h
        return [{d: row[k] * h for d, row in enumerate(found) if k in row} for k in range(self.m)]

    @cached_property
    def inverse(self) -> Rows:
        """K⁻¹."""
        return self.factors.inverse(self.mark)

    @cached_property
    def Z(self) -> Rows:
        """K⁻¹ Jᵀ, by columns."""
        Z = []
        for row in self.J:
            self.mark()
            Z.append([_dot(row, own) for own in self.inverse])
        return Z

    @cached_property
    def laws(self) -> tuple[SparseRows, SparseRows]:
        """∂laws/∂w and ∂laws/∂λ."""
        m, seeds = self.m, [{k: 1.0} for k in range(2 * self.m)]
        (found,) = self.at.pushed(["laws"], {ERRORS: seeds[:m], IMPULSES: seeds[m:]})
        of_w = [{k: x for k, x in row.items() if k < m} for row in found]
        return of_w, [{k - m: x for k, x in row.items() if k >= m} for row in found]

    @cached_property
    def S(self) -> LU:
        """The factors of l_λ + l_w G."""
        m, (of_w, of_impulses) = self.m, self.laws
        G: Rows = [[0.0] * m for _ in range(m)]
        for i, row in enumerate(self.J):
            self.mark()
            for j in range(i + 1):
                G[i][j] = G[j][i] = _dot(row, self.Z[j])
        S: Rows = []
        for own, gains in zip(of_impulses, of_w, strict=True):
            self.mark()
            S.append([own.get(k, 0.0) for k in range(m)])
            for k, gain in gains.items():
                S[-1] = [_plus(s, gain * g) for s, g in zip(S[-1], G[k], strict=True)]
        return eliminated(S, self.mark)

    # ---- forwards

    def accelerations(self, tangents: Mapping[str, Sequence[Tangents]]) -> SparseRows:
        """Tangents of a from those of what the step depends on."""
        (b,) = self.at.pushed(["balance"], dict(tangents))
        if not self.m:
            return self._times([{j: -x for j, x in enumerate(row)} for row in self.inverse], b)
        w, l = self.at.pushed(["errors", "laws"], dict(tangents))
        inner = [*b, *w, *l]
        return self._times([{k: x for k, x in enumerate(row) if inner[k]} for row in self._gains()], inner)

    def _gains(self) -> Rows:
        """What δa is of b_x, w_x and l_x: -K⁻¹ + P Zᵀ, -P / h and -X / h, with X = Z S⁻¹ and P = X l_w."""
        n, m, of_w = self.n, self.m, self.laws[0]
        gains: Rows = []
        for i in range(n):
            self.mark()
            X = self.S.solve_transposed([column[i] for column in self.Z])
            P: list[Any] = [0.0] * m
            for x, row in zip(X, of_w, strict=True):
                for k, gain in row.items():
                    P[k] = _plus(P[k], x * gain)
            C = [-x for x in self.inverse[i]]
            for p, column in zip(P, self.Z, strict=True):
                C = [_plus(c, p * z) for c, z in zip(C, column, strict=True)]
            gains.append([*C, *(-(p * self.per_h) for p in P), *(-(x * self.per_h) for x in X)])
        return gains

    def end_tangents(self, along: Mapping[str, Sequence[Tangents]]) -> SparseRows:
        """Tangents of the state after the step, along its 2 nv directions, from those of what it depends on, along
        theirs."""
        model, own = self.program.model, dict(along)
        nq, q_name, v_name = model.nq, "q", "v"
        chart = Input("q", (nq,), (self.n,), model)
        delta: Sequence[Tangents] = own["q"]
        own["q"] = chart.tangents(self.at.values["q"], delta)
        if self.program.moves_first:
            (free,) = self.at.pushed(["free"], own)
            if not self.m:
                return [dict(row) for row in (*velocities(model, self.after[0], free[:nq]), *free[nq:])]
            own |= {Q_END: free[:nq], V_END: free[nq:]}
            q_name, v_name = Q_END, V_END
            delta = velocities(model, self.at.values[Q_END], free[:nq])
        a = self.accelerations(own)

        # how the end depends on (δq, v, a, …), joint by joint in most steps, and that times their tangents
        n, q, further = self.n, self.at.values[q_name], [name for name in own if name not in (q_name, v_name)]
        inner = [*delta, *own[v_name], *a, *(row for name in further for row in own[name])]
        seeds: list[Tangents] = [{k: 1.0} for k in range(len(inner))]
        local: dict[str, Sequence[Tangents]] = {q_name: chart.tangents(q, seeds[:n]), v_name: seeds[n : 2 * n]}
        local[ACCELERATION], rest = seeds[2 * n : 3 * n], iter(seeds[3 * n :])
        local |= {name: [next(rest) for _ in own[name]] for name in further}
        (end,) = self.at.pushed(["end"], local)
        return self._times([*velocities(model, self.after[0], end[:nq]), *end[nq:]], inner)

    # ---- backwards

    def pulled(self, of_q: Sequence[Any], of_v: Sequence[Any], wanted: Sequence[str]) -> Named:
        """Cotangents of what the step depends on, from weights on the state after it along its directions.

        With ā those of a, the transposed system is Sᵀ z = J K⁻¹ ā / h and y = K⁻¹ ā - h Z l_wᵀ z; then balance, errors
        and laws hand on -y, -l_wᵀ z and -z.
        """
        model = self.program.model
        weights = [*weights_of_numbers(model, self.after[0], of_q), *of_v]
        if self.program.moves_first:
            return self.at.pulled(["free"], [weights], wanted)
        direct = self.at.pulled(["end"], [weights], [*wanted, ACCELERATION])
        y = self.factors.solve(direct.pop(ACCELERATION))
        names, given = ["balance"], [[-x for x in y]]
        if self.m:
            z = self.S.solve_transposed([_dot(row, y) * self.per_h for row in self.J])
            on_w: list[Any] = [0.0] * self.m
            for x, row in zip(z, self.laws[0], strict=True):
                for k, gain in row.items():
                    on_w[k] = _plus(on_w[k], x * gain)
            h = 1.0 / self.per_h
            for column, x in zip(self.Z, on_w, strict=True):
                y = [_plus(y_k, -(c * x * h)) for y_k, c in zip(y, column, strict=True)]
            names = ["balance", "errors", "laws"]
            given = [[-x for x in own] for own in (y, on_w, z)]
        found = self.at.pulled(names, given, wanted)
        return {name: [_plus(x, d) for x, d in zip(found[name], direct[name], strict=True)] for name in found}

    def _times(self, rows: Sequence[Tangents], inner: Sequence[Tangents]) -> SparseRows:
        """A product of sparse matrices."""
        found = []
        for row in rows:
            self.mark()
            total: dict[int, Any] = {}
            for k, gain in row.items():
                for d, x in inner[k].items():
                    total[d] = _plus(total.get(d, 0.0), gain * x)
            found.append(total)
        return found


def _dot(row: Mapping[int, Any], x: Sequence[Any]) -> Any:
    total: Any = 0.0
    for k, entry in row.items():
        total = _plus(total, entry * x[k])
    return total


def _plus(x: Any, y: Any) -> Any:
    return x if is_zero(y) else y if is_zero(x) else x + y
