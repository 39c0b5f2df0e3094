"""Derivatives of a step by the implicit function theorem, on the sides of the laws that were taken.

With K = ∂balance/∂a, the mass matrix, and b, l short for balance and laws,

    K δa + b_λ δλ + b_x δx = 0,    l_a δa + l_λ δλ + l_x δx = 0,

so that with S = l_λ - l_a K⁻¹ b_λ and Y = K⁻¹ b_λ S⁻¹

    δa = -(K⁻¹ + Y l_a K⁻¹) b_x δx + Y l_x δx.

S is the Delassus matrix J M⁻¹ Jᵀ where contacts stick; a row of the unit matrix where one is open; and not symmetric
where one slides.
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
from featherweight.simulation.step_program import (
    ACCELERATION,
    ANSWERS,
    ENDS,
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
            columns = _columns(self.b_impulses, self.m)
            pushes = [[-x / self.per_h for x in columns[row]] for row in program.yielding]
            at.values[ANSWERS] = [y for push in pushes for y in self.factors.solve(push)]

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
    def b_impulses(self) -> SparseRows:
        """∂balance/∂λ."""
        (found,) = self.at.pushed(["balance"], {IMPULSES: [{k: 1.0} for k in range(self.m)]})
        return [dict(row) for row in found]

    @cached_property
    def l_unknown(self) -> tuple[SparseRows, SparseRows]:
        """∂laws/∂a and ∂laws/∂λ."""
        n, seeds = self.n, [{k: 1.0} for k in range(self.n + self.m)]
        (found,) = self.at.pushed(["laws"], {ACCELERATION: seeds[:n], IMPULSES: seeds[n:]})
        of_a = [{k: x for k, x in row.items() if k < n} for row in found]
        return of_a, [{k - n: x for k, x in row.items() if k >= n} for row in found]

    @cached_property
    def inverse(self) -> Rows:
        """K⁻¹."""
        return self.factors.inverse(self.mark)

    @cached_property
    def answers(self) -> Rows:
        """K⁻¹ b_λ, by rows."""
        columns = _columns(self.b_impulses, self.m)
        solved = []
        for column in columns:
            self.mark()
            solved.append(self.factors.solve(column))
        return [[column[i] for column in solved] for i in range(self.n)]

    @cached_property
    def S(self) -> LU:
        """The factors of l_λ - l_a K⁻¹ b_λ."""
        of_a, of_impulses = self.l_unknown
        S: Rows = []
        for own, row in zip(of_impulses, of_a, strict=True):
            self.mark()
            S.append([own.get(k, 0.0) for k in range(self.m)])
            for d, x in row.items():
                S[-1] = [_plus(s, -(x * y)) for s, y in zip(S[-1], self.answers[d], strict=True)]
        return eliminated(S, self.mark)

    # ---- forwards

    def accelerations(self, tangents: Mapping[str, Sequence[Tangents]]) -> list[dict[int, Any]]:
        """Tangents of a from those of what the step depends on."""
        (b,) = self.at.pushed(["balance"], dict(tangents))
        l = self.at.pushed(["laws"], dict(tangents))[0] if self.m else []
        directions = sorted({d for row in (*b, *l) for d in row})
        C, Y = self._gains()
        found: list[dict[int, Any]] = []
        for i in range(self.n):
            self.mark()
            row: dict[int, Any] = {}
            for gains, tangent in ((C[i], b), (Y[i] if self.m else [], l)):
                for gain, own in zip(gains, tangent, strict=True):
                    for d, x in own.items():
                        row[d] = row.get(d, 0.0) + gain * x
            found.append({d: row[d] for d in directions if d in row})
        return found

    def end_tangents(self, tangents: Mapping[str, Sequence[Tangents]]) -> list[Tangents]:
        """Tangents of the state after the step from those of what it depends on."""
        own = dict(tangents)
        if self.program.moves_first:
            (free,) = self.at.pushed(["free"], own)
            if not self.m:
                return free
            nq = self.program.model.nq
            own |= {Q_END: free[:nq], V_END: free[nq:]}
        own[ACCELERATION] = self.accelerations(own)
        (end,) = self.at.pushed(["end"], own)
        return end

    def _gains(self) -> tuple[Rows, Rows]:
        """-(K⁻¹ + Y l_a K⁻¹) and Y."""
        K_inverse, n = self.inverse, self.n
        if not self.m:
            return [[-x for x in row] for row in K_inverse], []
        of_a, _ = self.l_unknown
        Y: Rows = []
        for own in self.answers:
            self.mark()
            Y.append(self.S.solve_transposed(own))
        W: Rows = []  # l_a K⁻¹
        for row in of_a:
            self.mark()
            W.append([_dot(row, K_inverse, j) for j in range(n)])
        C: Rows = []
        for i in range(n):
            self.mark()
            C.append([-x for x in K_inverse[i]])
            for y, w in zip(Y[i], W, strict=True):
                C[i] = [_plus(c, -(y * x)) for c, x in zip(C[i], w, strict=True)]
        return C, Y


def _dot(row: Mapping[int, Any], columns: Rows, j: int) -> Any:
    total: Any = 0.0
    for k, x in row.items():
        total = total + x * columns[k][j]
    return total


def _plus(x: Any, y: Any) -> Any:
    return x if is_zero(y) else y if is_zero(x) else x + y


def _columns(rows: Sequence[Mapping[int, Any]], m: int) -> Rows:
    return [[row.get(k, 0.0) for row in rows] for k in range(m)]
