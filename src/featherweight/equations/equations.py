"""`Equations`: the equations of motion M(q) a + b(q, v) + g(q) = τ, and what can be done with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy
from sympy import Expr, Matrix, Symbol

from featherweight.cached import cached_property
from featherweight.equations.expressions import Evaluation, Substitution, column, gradient, solve_positive
from featherweight.equations.mechanism import Mechanism
from featherweight.equations.normal_form import short_fraction
from featherweight.equations.steps import DerivationStep
from featherweight.errors import ModelError
from featherweight.model import Model

if TYPE_CHECKING:
    from featherweight.equations.elements import AppliedLoads
    from featherweight.equations.equilibria import Equilibrium
    from featherweight.equations.native import NativeFunction

SINGULAR = 1e-11  # a smaller pivot, relative to the largest entry, counts as zero
MANY = 400  # operations from which on common subexpressions are written separately


@dataclass(frozen=True, eq=False, kw_only=True)
class Equations:
    """M(q) a + b(q, v) + g(q) = τ of a model, as SymPy matrices.

    `g` is gravity alone; motors, springs, dampers and applied forces are in `tau`. `C` with C v = b and Ṁ - 2C skew,
    the energies `T` and `U`, and the damping matrix `D` are there where the method has them. `inputs` are the motors'
    symbols; `a` stands for v̇, which is q̈ where v = q̇.
    """

    method: str
    model: Model
    q: Matrix
    v: Matrix
    a: Matrix
    M: Matrix
    b: Matrix
    g: Matrix
    tau: Matrix
    inputs: tuple[Symbol, ...]
    derivation: Callable[[], Sequence[DerivationStep]] = field(repr=False)
    mechanism: Mechanism = field(repr=False)
    loads: AppliedLoads = field(repr=False)
    C: Matrix | None = None
    T: Expr | None = None
    U: Expr | None = None
    D: Matrix | None = None
    joint_forces: Mapping[str, Matrix] | None = None  # whole force and moment of each joint, of (q, v, a), world axes
    across: tuple[Expr, ...] = ()  # of these, what acts along the freedoms

    @staticmethod
    def of(method: str, mechanism: Mechanism, loads: AppliedLoads, **parts: Any) -> Equations:
        """The equations of a derivation; ModelError if M is singular everywhere."""
        symbols = {name: column(getattr(mechanism, name)) for name in "qva"}
        parts |= {"model": mechanism.model, "inputs": loads.inputs, "mechanism": mechanism, "loads": loads}
        equations = Equations(method=method, **symbols, **parts)
        _check_regular(equations)
        return equations

    @cached_property
    def steps(self) -> tuple[DerivationStep, ...]:
        """The derivation: numbered steps with their formulas."""
        return tuple(self.derivation())

    @cached_property
    def parameters(self) -> tuple[Symbol, ...]:
        """The symbols that are neither coordinates nor velocities nor inputs, by name."""
        known = {*self.q, *self.v, *self.a, *self.inputs}
        return tuple(sorted(_symbols(*self.M, *self.b, *self.g, *self.tau) - known, key=lambda s: s.name))

    def simplified(self) -> Equations:
        """The same equations with everything collected: products of cosines and sines as sums, common factors in front.

        Equal expressions become the same. What is too long to be expanded in a second or so stays as it was derived;
        `shared` writes such equations with the pieces they have in common.
        """
        ring = self.mechanism.ring
        parts: dict[str, Any] = {}
        for name in ("M", "b", "g", "tau", "C", "D"):
            part = getattr(self, name)
            if part is not None:
                parts[name] = part.applyfunc(ring.short)
        for name in ("T", "U"):
            if getattr(self, name) is not None:
                parts[name] = ring.short(getattr(self, name))
        return replace(self, **parts)

    def shared(self) -> tuple[list[tuple[Symbol, Expr]], dict[str, Matrix]]:
        """Definitions of common subexpressions, and M, b, g, tau written with them."""
        names = ("M", "b", "g", "tau")
        used = {s.name for s in _symbols(*self.M, *self.b, *self.g, *self.tau)}
        symbols = (s for s in sympy.numbered_symbols("s", real=True) if s.name not in used)
        definitions, matrices = sympy.cse([getattr(self, n) for n in names], symbols=symbols, order="none")
        return definitions, dict(zip(names, matrices, strict=True))

    @property
    def large(self) -> bool:
        """Whether common subexpressions (`shared`) make the equations easier to read."""
        return sum(_operations(e) for part in (self.M, self.b, self.g, self.tau) for e in part) > MANY

    @cached_property
    def acceleration(self) -> Matrix:
        """a = M⁻¹ (τ - b - g): by Cramer's rule for up to three degrees of freedom, which reads well, else by
        elimination."""
        if len(self.a) > 3:
            return column(solve_positive(self.M, self.tau - self.b - self.g))
        numerators, determinant = self._cramer
        return column(x / determinant for x in numerators)

    @cached_property
    def _cramer(self) -> tuple[list[Expr], Expr]:
        """adj M (τ - b - g), and det M."""
        short = self.mechanism.ring.short
        M = self.M.applyfunc(short)
        right = (self.tau - self.b - self.g).applyfunc(short)
        return [short(x) for x in M.adjugate() * right], short(M.det(method="berkowitz"))

    @cached_property
    def constraint_forces(self) -> Mapping[str, Matrix]:
        """Reactions of every joint on the body it carries, as functions of (q, v) and the inputs: force [N], then
        moment [N m] about the joint's origin, in world axes, without what acts along the joint's freedoms.

        Along a freedom that turns, that is a couple; along one that slides, a force.
        """
        if self.joint_forces is None:
            raise AttributeError(
                f"{self.method} has no constraint forces; featherweight.equations.newton_euler finds them"
            )
        if self.mechanism.tree.coupled:
            raise ModelError(
                "constraint_forces: not for models with mimic joints yet: their gears would share the load"
            )
        forces = {}
        for name, whole in self.joint_forces.items():
            joint = self.model.joint(name)
            rest = whole - _along_freedoms(self.mechanism, joint.body, self._passed_on(joint.body))
            forces[name] = rest.applyfunc(self._without_acceleration)
        return forces

    def _without_acceleration(self, e: Expr) -> Expr:
        """An expression that is linear in the accelerations, as a function of the state: one fraction if short."""
        short = self.mechanism.ring.short
        if len(self.a) > 3:
            return Substitution(dict(zip(self.a, self.acceleration, strict=True)))(e)
        numerators, determinant = self._cramer
        constant = Substitution(dict.fromkeys(self.a, sympy.S.Zero))(e)
        terms = [slope * x for slope, x in zip(gradient(e, self.a), numerators, strict=True)]
        numerator = short(sympy.Add(constant * determinant, *terms))
        return short_fraction(self.mechanism.ring, numerator, determinant)

    def _passed_on(self, body: int) -> list[Expr]:
        """What acts along the freedoms of a body's joint: motor, spring, damper, less what its rotor takes."""
        joint = self.mechanism.tree.joints[body]
        columns = range(joint.v.start, joint.v.stop)
        passed = [self.across[k] - J * self.a[k] for k, J in zip(columns, joint.armature, strict=True)]
        if joint.spin is not None:
            whole = self.joint_forces[self.mechanism.joint_of(body).name]  # type: ignore[index]
            s = self.mechanism.subspace[body][0]
            passed = [sympy.Add(*(x * y for x, y in zip((*s.linear, *s.angular), whole, strict=True)))]
        return passed

    # ---- as documents

    def latex(self) -> str:
        """The equations as LaTeX, for a display: M a + b + g = τ and what these are."""
        from featherweight.equations.document import latex

        return latex(self)

    def markdown(self) -> str:
        """The derivation step by step in Markdown, formulas in LaTeX between dollars."""
        from featherweight.equations.document import markdown

        return markdown(self)

    def html(self) -> str:
        """The derivation step by step as one HTML page that needs nothing else, with a drawing if it is planar."""
        from featherweight.equations.page import page

        return page([self])

    # ---- as functions

    def lambdify(self, *names: str) -> NativeFunction:
        """Native code for some of "M", "b", "g", "tau", "a", "C", "T", "U", "D"; M, b, g and tau if none is named.

        The function takes q and v, then inputs and parameters as keywords by name, all of which broadcast; inputs that
        are not given are 0.
        """
        from featherweight.equations.native import native

        return native(self, names or ("M", "b", "g", "tau"))

    def __str__(self) -> str:
        """What `print` shows: M by rows, b, g and τ, a line each."""
        rows = [f"M = {self.M.tolist()}", *(f"{name} = {list(getattr(self, name))}" for name in ("b", "g", "tau"))]
        return "\n".join([f"{self.model.name} by {self.method}, M a + b + g = tau:", *rows])

    def _repr_latex_(self) -> str | None:
        """For notebooks; large equations are shown as text, for collecting them takes long."""
        return None if self.large else f"$$\n{self.latex()}\n$$"

    def equilibria(
        self,
        box: Mapping[Any, tuple[float, float]],
        *,
        parameters: Mapping[Any, float] | None = None,
        inputs: Mapping[Any, float] | None = None,
    ) -> list[Equilibrium]:
        """All states of rest in a box of coordinates, with their stability: proved complete by interval arithmetic.

        Args:
            box: from and to for each coordinate, by symbol or name. A coordinate that no force depends on stays free.
            parameters: numbers for all symbols of the model.
            inputs: numbers for motors; 0 if not given.
        """
        from featherweight.equations.equilibria import equilibria

        return equilibria(self, box, parameters or {}, inputs or {})

    def linearize(
        self, q: Sequence[Any] | None = None, v: Sequence[Any] | None = None, *, inputs: Mapping[Any, Any] | None = None
    ) -> tuple[Matrix, Matrix]:
        """A and B of d(δx)/dt = A δx + B δu, x = (q, v), u the inputs, about a state; about any if none is given."""
        from featherweight.equations.linear import linearize

        return linearize(self, q, v, inputs or {})


def _symbols(*expressions: Expr) -> set[Symbol]:
    """Free symbols of expressions; each common subexpression is visited once."""
    seen: set[Any] = set()
    stack, found = list(expressions), set()
    while stack:
        x = stack.pop()
        if x in seen:
            continue
        seen.add(x)
        if x.is_Symbol:
            found.add(x)
        stack.extend(x.args)
    return found


def _operations(e: Expr) -> int:
    """Number of different subexpressions."""
    seen: set[Any] = set()
    stack = [e]
    while stack:
        x = stack.pop()
        if x not in seen:
            seen.add(x)
            stack.extend(x.args)
    return len(seen)


def random_values(equations: Equations, rng: np.random.Generator) -> dict[Symbol, float]:
    """A random state and parameters; parameters without a declared value are positive."""
    known = dict(zip(equations.q, equations.model.random(rng), strict=True))
    values = {s: float(rng.uniform(0.5, 1.5)) for s in equations.parameters}
    values |= {s: equations.mechanism.values[s] for s in values if s in equations.mechanism.values}
    moving = {s: float(rng.normal()) for s in (*equations.v, *equations.a, *equations.inputs)}
    return {**values, **moving, **{s: float(x) for s, x in known.items()}}


def _check_regular(equations: Equations) -> None:
    """Refuse a mass matrix that is singular everywhere, naming a degree of freedom that moves without inertia."""
    rng = np.random.default_rng(0)
    worst = None
    for _ in range(2):
        value = Evaluation(random_values(equations, rng))
        M = np.array([[float(value(e)) for e in row] for row in equations.M.tolist()])
        worst = _without_pivot(M)
        if worst is None:
            return
    joint = next(j for j in equations.model.independent_joints if j.v.start <= worst < j.v.stop)
    raise ModelError(
        f"model {equations.model.name!r}: the mass matrix is singular: joint {joint.name!r} can move without moving "
        f"any mass; give body {equations.model.names[joint.body]!r} mass or inertia about that axis, or armature="
    )


def _without_pivot(M: np.ndarray) -> int | None:
    """The first degree of freedom, from the last inward, that has no inertia of its own."""
    M, size = M.copy(), float(np.abs(M).max())
    for k in reversed(range(len(M))):
        if M[k, k] <= SINGULAR * size:
            return k
        M[:k, :k] -= np.outer(M[:k, k], M[k, :k]) / M[k, k]
    return None


def _along_freedoms(mechanism: Mechanism, body: int, across: Sequence[Expr]) -> Matrix:
    """Ψ τ: a couple about the axes of freedoms that turn, a force along those that slide; Ψᵀ S = 1."""
    columns = mechanism.tree.joints[body].subspace(mechanism.q)
    turning = [k for k, s in enumerate(columns) if any(s.angular)]
    sliding = [k for k in range(len(columns)) if k not in turning]
    force, moment = [sympy.S.Zero] * 3, [sympy.S.Zero] * 3
    for chosen, pick, total in ((turning, lambda s: s.angular, moment), (sliding, lambda s: s.linear, force)):
        if not chosen:
            continue
        gram = sympy.Matrix([[sympy.expand(pick(columns[j]).dot(pick(columns[k]))) for k in chosen] for j in chosen])
        weights = gram.applyfunc(mechanism.ring.short).inv() * sympy.Matrix([across[k] for k in chosen])
        for weight, k in zip(weights, chosen, strict=True):
            for axis, x in enumerate(pick(mechanism.subspace[body][k])):
                total[axis] = total[axis] + x * weight
    return column([*force, *moment])
