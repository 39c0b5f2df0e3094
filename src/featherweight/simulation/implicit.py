"""Derivatives of a step by the implicit function theorem, on the sides of the laws that were taken.

The unknowns are the velocity v⁺ = c + h a that impulses leave, c = coasting(x), and the impulses λ. With K =
∂balance/∂a, the mass matrix, b and l short for balance and laws, and J the rows of the constraints, ∂b/∂λ is -Jᵀ / h
and ∂w/∂v⁺ is J. So

    K δv⁺ - Jᵀ δλ = h r δx,    r = K c_x / h - b_x,    l_w (w_x δx + J δv⁺) + l_λ δλ + l_x δx = 0,

and with Z = K⁻¹ Jᵀ, the Delassus matrix G = J Z, S = l_λ + l_w G, X = Z S⁻¹ and P = X l_w

    δv⁺ = (h K⁻¹ - h P Zᵀ) r δx - P w_x δx - X l_x δx.

S is G where contacts stick; a row of the unit matrix where one is open; and not symmetric where one slides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from featherweight import algorithms
from featherweight.algorithms.elimination import LU, eliminated
from featherweight.algorithms.factorization import LTDL
from featherweight.algorithms.linear import is_zero
from featherweight.algorithms.products import multiplied
from featherweight.cached import cached_property
from featherweight.differentiation import Tangents
from featherweight.functions.configuration import Input, velocities
from featherweight.simulation.step_equations import (
    ACCELERATION,
    AFTER,
    ANSWERS,
    ENDS,
    ERRORS,
    GAINS,
    IMPULSES,
    ON_BODIES,
    Q_END,
    V_END,
    Named,
)
from featherweight.simulation.step_program import Evaluation, StepProgram, traced_into

Rows = list[list[Any]]
SparseRows = list[dict[int, Any]]


class ImplicitStep:
    """A step where it was solved: its values, and the matrices of its equations there."""

    def __init__(self, program: StepProgram, values: Named) -> None:
        self.program, self.n, self.m = program, program.model.nv, program.rows
        self.mark = traced_into().mark
        self.at: Evaluation = program.at(values)
        self.side = "laws"  # which equations of the laws derivatives are made of

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
            free = self.free()
            at.values |= {Q_END: free[: program.model.nq], V_END: free[program.model.nq :]}
        self.coasting, (self.per_h,) = at.run("coasting", "per_h")
        self.h = 1.0 / self.per_h
        at.values |= {IMPULSES: [0.0] * self.m, ENDS: [0.0] * self.m, ON_BODIES: [0.0] * (6 * program.model.nb + 6)}
        if program.holds_joints:
            at.values[ENDS] = list(found)  # how large the impulses were plays no part
        elif self.m:
            at.values[IMPULSES] = self.impulses_of(found)
        self._move(self.arrived(velocity))
        if program.yielding:
            at.values[ANSWERS] = [y for row in program.yielding for y in self.answer({row: 1.0})]
        if self.m:
            self._correct()
        if self.m and program.smooth:
            at.values[GAINS] = [self.G[k][k] for k in range(self.m)]
            self.side = "soft laws"
            del self.__dict__["laws"], self.__dict__["S"]

    def impulses_of(self, found: Sequence[Any]) -> list[Any]:
        """The impulses of all rows, from what was found."""
        return list(found)

    def free(self) -> list[Any]:
        """The state after the step without impulses."""
        return self.at.run("free")[0]

    def arrived(self, velocity: Sequence[Any]) -> list[Any]:
        """v⁺, of which this is known. Softened laws ask how large impulses are, which an active set does not say: then
        it is the velocity without them, and `_correct` finds both."""
        return self.by_impulses() if self.program.smooth and self.program.holds_joints else list(velocity)

    def by_impulses(self) -> list[Any]:
        """v⁺ from the impulses: K a = -balance(a = 0)."""
        self.at.values |= {AFTER: list(self.coasting), ACCELERATION: [0.0] * self.n}
        (left,) = self.at.run("balance")
        self.mark()
        return [c - x * self.h for c, x in zip(self.coasting, self.factors.solve(left), strict=True)]

    def _move(self, velocity: Sequence[Any]) -> None:
        """Let this be v⁺."""
        each = zip(velocity, self.coasting, strict=True)
        self.at.values |= {AFTER: list(velocity), ACCELERATION: [(v - c) * self.per_h for v, c in each]}

    def _correct(self) -> None:
        """One Newton step on the equations: derivatives are those of the solution, not of what a solver leaves."""
        values = self.at.values
        (values[ERRORS],) = self.at.run("errors")
        (left,) = self.at.run("laws")
        change = self.S.solve([-x for x in left])
        self.mark()
        values[IMPULSES] = summed(values[IMPULSES], change)
        self._move(summed(values[AFTER], self.answer(dict(enumerate(change)))))
        for column, x in zip(self.G, change, strict=True):  # which is symmetric
            values[ERRORS] = summed(values[ERRORS], [g * x for g in column])
        before, S = self.__dict__.pop("laws"), self.__dict__.pop("S")
        self.mark()
        moved: Any = False  # where nothing slides, the laws are the same as before
        for rows, old in zip(self.laws, before, strict=True):
            for row, own in zip(rows, old, strict=True):
                for k, x in row.items():
                    moved = moved | (x != own[k])
        self.mark()
        self.S = S.replaced(moved, lambda: self._factored(lambda: None))
        self.mark()

    @cached_property
    def K(self) -> Rows:
        """The mass matrix that answers impulses."""
        (flat,) = self.at.run("mass")
        entries, n = iter(flat), self.n
        lower = [[next(entries) for _ in range(i + 1)] for i in range(n)]
        return [[lower[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)]

    @cached_property
    def factors(self) -> LTDL:
        """Of K."""
        return algorithms.factorize(self.K, self.mark)

    @cached_property
    def pushes(self) -> SparseRows:
        """J / h: what a unit impulse of each row pushes."""
        (found,) = self.at.pushed(["balance"], {IMPULSES: [{k: -1.0} for k in range(self.m)]})
        return [{d: row[k] for d, row in enumerate(found) if k in row} for k in range(self.m)]

    @cached_property
    def J(self) -> SparseRows:
        """The velocity of each row is J v."""
        return [{d: x * self.h for d, x in row.items()} for row in self.pushes]

    @cached_property
    def inverse(self) -> Rows:
        """h K⁻¹."""
        return self.factors.scaled(self.h).inverse(self.mark)

    @cached_property
    def Z(self) -> Rows:
        """K⁻¹ Jᵀ, by columns."""
        by_rows = [{k: row[d] for k, row in enumerate(self.pushes) if d in row} for d in range(self.n)]
        found = multiplied(self.inverse_rows, by_rows, self.mark)
        return [[row.get(k, 0.0) for row in found] for k in range(self.m)]

    @property
    def inverse_rows(self) -> SparseRows:
        return [{j: x for j, x in enumerate(row) if not is_zero(x)} for row in self.inverse]

    def answer(self, impulses: Mapping[int, Any]) -> list[Any]:
        """K⁻¹ Jᵀ λ."""
        total: list[Any] = [0.0] * self.n
        for k, x in impulses.items():
            total = summed(total, [z * x for z in self.Z[k]])
        return total

    @cached_property
    def G(self) -> Rows:
        """The Delassus matrix J K⁻¹ Jᵀ."""
        G: Rows = [[0.0] * self.m for _ in range(self.m)]
        for i, row in enumerate(self.J):
            self.mark()
            for j in range(i + 1):
                G[i][j] = G[j][i] = dot(row, self.Z[j])
        return G

    @cached_property
    def laws(self) -> tuple[SparseRows, SparseRows]:
        """∂laws/∂w and ∂laws/∂λ."""
        m, seeds = self.m, [{k: 1.0} for k in range(2 * self.m)]
        (found,) = self.at.pushed([self.side], {ERRORS: seeds[:m], IMPULSES: seeds[m:]})
        of_w = [{k: x for k, x in row.items() if k < m} for row in found]
        return of_w, [{k - m: x for k, x in row.items() if k >= m} for row in found]

    @cached_property
    def S(self) -> LU:
        """The factors of l_λ + l_w G."""
        return self._factored(self.mark)

    def _factored(self, mark: Callable[[], None]) -> LU:
        m, (of_w, of_impulses) = self.m, self.laws
        S: Rows = []
        for own, gains in zip(of_impulses, of_w, strict=True):
            mark()
            S.append([own.get(k, 0.0) for k in range(m)])
            for k, gain in gains.items():
                S[-1] = summed(S[-1], [gain * g for g in self.G[k]])
        return eliminated(S, mark)

    def balance(self, tangents: Mapping[str, Sequence[Tangents]], dq: Sequence[Tangents]) -> SparseRows:
        """-b_x: tangents of the forces that act, less what the equation of motion needs along δq and δv, the tangents
        of the velocity that it is written with (`MotionEquation.v`)."""
        (dv,) = self.at.pushed(["middle"], dict(tangents))
        n, (of_q, of_v) = self.n, self.at.run("of q", "of v")
        on_bodies, on_joints = self.at.pushed(["on bodies", "on joints"], dict(tangents))
        (of_bodies,) = self.at.pushed(["of bodies"], {ON_BODIES: on_bodies})
        found = []
        for i in range(n):
            self.mark()
            total = dict(on_joints[i])
            for d, x in of_bodies[i].items():
                total[d] = plus(total.get(d, 0.0), x)
            for row, moved in ((of_q[i * n : i * n + n], dq), (of_v[i * n : i * n + n], dv)):
                for gain, own in zip(row, moved, strict=True):
                    for d, x in own.items() if not is_zero(gain) else ():
                        total[d] = total.get(d, 0.0) - gain * x
            found.append(total)
        return found

    def velocities(self, tangents: Mapping[str, Sequence[Tangents]], dq: Sequence[Tangents]) -> SparseRows:
        """Tangents of v⁺ from those of what the step depends on."""
        r = self.balance(tangents, dq)
        (coasting,) = self.at.pushed(["coasting"], dict(tangents))
        if not self.m:
            return multiplied(self.inverse_rows, r, self.mark, coasting, self.factors.limbs)
        per_h = [{j: x * self.per_h for j, x in enumerate(row) if not is_zero(x)} for row in self.K]
        r = multiplied(per_h, coasting, self.mark, r)
        w, l = self.at.pushed(["errors", self.side], dict(tangents))
        inner = [*r, *w, *l]
        gains = [{k: x for k, x in row.items() if inner[k]} for row in self._gains()]
        return multiplied(gains, inner, self.mark, limbs=self.factors.limbs)

    def _gains(self) -> SparseRows:
        """What δv⁺ is of r, w_x and l_x: h K⁻¹ - h P Zᵀ, -P and -X, with X = Z S⁻¹ and P = X l_w."""
        n, m, of_w = self.n, self.m, self.laws[0]
        X: Rows = []
        P: SparseRows = []
        for i in range(n):
            self.mark()
            X.append(self.S.solve_transposed([-column[i] for column in self.Z]))
            own: dict[int, Any] = {}
            for x, row in zip(X[-1], of_w, strict=True):
                for k, gain in row.items():
                    own[k] = plus(own.get(k, 0.0), x * gain)
            P.append(own)
        self.mark()
        columns = [{j: z * self.h for j, z in enumerate(column) if not is_zero(z)} for column in self.Z]
        C = multiplied(P, columns, self.mark, self.inverse_rows, self.factors.limbs)
        each = zip(C, P, X, strict=True)
        return [c | {n + k: y for k, y in p.items()} | {n + m + k: y for k, y in enumerate(x)} for c, p, x in each]

    def end_tangents(self, along: Mapping[str, Sequence[Tangents]]) -> SparseRows:
        """Tangents of the state after the step, along its 2 nv directions, from those of what it depends on, along
        theirs."""
        model, own = self.program.model, dict(along)
        nq, n, q_name = model.nq, self.n, "q"
        chart = Input("q", (nq,), (n,), model)
        delta: Sequence[Tangents] = own["q"]
        own["q"] = chart.tangents(self.at.values["q"], delta)
        if self.program.moves_first:
            (free,) = self.at.pushed(["free"], own)
            if not self.m:
                return [dict(row) for row in (*velocities(model, self.after[0], free[:nq]), *free[nq:])]
            own |= {Q_END: free[:nq], V_END: free[nq:]}
            q_name = Q_END
            delta = velocities(model, self.at.values[Q_END], free[:nq])
        moved = self.velocities(own, delta)

        # joint by joint: how the end depends on (δq, v⁺), and that times their tangents
        seeds: list[Tangents] = [{k: 1.0} for k in range(2 * n)]
        local: dict[str, Sequence[Tangents]] = {
            q_name: chart.tangents(self.at.values[q_name], seeds[:n]),
            AFTER: seeds[n:],
        }
        (end,) = self.at.pushed(["end"], local)
        rows = [*velocities(model, self.after[0], end[:nq]), *end[nq:]]
        return multiplied(rows, [*delta, *moved], self.mark, limbs=self.factors.limbs)

    def further_tangents(self, along: Mapping[str, Sequence[Tangents]]) -> tuple[SparseRows, SparseRows, SparseRows]:
        """Tangents of a controller's state, of what force elements remember, and of the impulses, after the step."""
        model, own = self.program.model, dict(along)
        own["q"] = Input("q", (model.nq,), (self.n,), model).tangents(self.at.values["q"], along["q"])
        x, deflections = ([dict(row) for row in rows] for rows in self.at.pushed(["controller", "deflections"], own))
        if not self.program.yielding:
            return x, deflections, []
        r = self.balance(own, along["q"])
        (coasting,) = self.at.pushed(["coasting"], own)
        free = multiplied(self.inverse_rows, r, self.mark, coasting)
        w, l = self.at.pushed(["errors", self.side], own)
        right = multiplied(self.laws[0], multiplied(self.J, free, self.mark, w), self.mark, l)
        found: SparseRows = [{} for _ in range(self.m)]
        for d in sorted({d for row in right for d in row}):
            self.mark()
            for row, y in zip(found, self.S.solve([row.get(d, 0.0) for row in right]), strict=True):
                row[d] = -y
        return x, deflections, found


def dot(row: Mapping[int, Any], x: Sequence[Any] | Mapping[int, Any]) -> Any:
    total: Any = 0.0
    for k, entry in row.items():
        total = plus(total, entry * x[k])
    return total


def summed(x: Sequence[Any], y: Sequence[Any]) -> list[Any]:
    return [plus(a, b) for a, b in zip(x, y, strict=True)]


def plus(x: Any, y: Any) -> Any:
    return x if is_zero(y) else y if is_zero(x) else x + y
