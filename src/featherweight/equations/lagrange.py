"""Lagrange: the equations of motion from two scalars, kinetic and potential energy.

d/dt ∂T/∂v - ∂T/∂q + ∂U/∂q = τ where v = q̇. Where it is not (spherical, planar and free joints) the velocities are
quasi-velocities q̇ = N(q) v: derivatives along the columns X_j of N take the place of ∂/∂q_j, and their brackets
[X_k, X_l] appear (Boltzmann and Hamel). Both are Koszul's formula for the Christoffel symbols.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import sympy
from sympy import Expr, Matrix, Rational, S, Symbol, sign

from featherweight.equations.elements import AppliedLoads, distance, loads
from featherweight.equations.equations import Equations
from featherweight.equations.expressions import Rate, column, gradient, square
from featherweight.equations.mechanism import Mechanism
from featherweight.equations.steps import DerivationStep, centres_of_mass
from featherweight.equations.structural_zero import sparse
from featherweight.model import Model
from featherweight.spatial import Vector


def lagrange(
    model: Model, *, forces: Sequence[Any] = (), motors: Any = "all", coordinates: Sequence[str] | None = None
) -> Equations:
    """M a + C v + g = τ, from T = ½ vᵀM v and U; C has the Christoffel symbols, so that Ṁ - 2C is skew.

    Args:
        model: numbers or symbols.
        forces: `Force`, `Moment`, `Spring`, `Damper`, `JointSpring`, `JointDamper`.
        motors: "all" joints have one, or names of joints, or forces by joint.
        coordinates: names for q in place of q1, q2 …
    """
    mechanism = Mechanism(model, coordinates)
    acting = loads(mechanism, forces, motors)
    short, v = mechanism.ring.short, mechanism.v
    along = [Rate(direction) for direction in _directions(mechanism)]

    # the two energies
    T = short(_kinetic(mechanism))
    weight = short(_gravity(mechanism))
    elastic = _elastic(mechanism, acting)

    # mass matrix, and how the energies change with the configuration
    momenta = gradient(T, v)  # ∂T/∂v
    M = [gradient(p, v) for p in momenta]
    if not mechanism.holonomic:  # quaternions: worth collecting before they are differentiated
        M = [[mechanism.ring.expanded(e) for e in row] for row in M]
    C = _coriolis(mechanism, M, along)
    g = [X(weight) for X in along]

    # forces that have no potential, by virtual work and by Rayleigh's dissipation
    dissipation = _dissipation(mechanism, acting)
    power = _power(mechanism, acting)
    tau = [
        power_j - X(elastic) - d
        for power_j, X, d in zip(gradient(power, v), along, gradient(dissipation, v), strict=True)
    ]
    D = square([gradient(d, v) for d in gradient(dissipation, v)])
    for k, friction, _ in acting.frictions:
        tau[k] = tau[k] - friction * sign(v[k])
    return Equations.of(
        "Lagrange",
        mechanism,
        acting,
        M=square(M),
        b=column([sympy.Add(*(c * x for c, x in zip(row, v, strict=True))) for row in C]),
        g=column(g),
        tau=column(tau),
        C=square(C),
        T=T,
        U=weight + elastic,
        D=D,
        derivation=partial(_steps, mechanism, T, weight + elastic, momenta, square(C), column(g), column(tau)),
    )


def _kinetic(mechanism: Mechanism) -> Expr:
    """T = Σ ½ m ṙ·ṙ + ½ ω·Θ ω, with velocities by differentiating positions and rotation matrices: ω̂ = Rᵀ Ṙ."""
    time, short = mechanism.time, mechanism.ring.short
    omega = [Vector(S.Zero, S.Zero, S.Zero)]
    for R in mechanism.rotation[1:]:
        turning = R.T @ R.lift(time).lift(sparse)
        omega.append(Vector(turning.z.y, turning.x.z, turning.y.x).lift(short).lift(sparse))
    twice = S.Zero
    for link in mechanism.links:
        r_dot = time.vector(mechanism.at(link.body, link.com))
        twice = twice + link.mass * r_dot.dot(r_dot)
        if any(link.moment):
            twice = twice + omega[link.body].dot(link.moment @ omega[link.body])
    for _, parent, joint in mechanism.tree.outward():
        for armature, rate in zip(joint.armature, mechanism.v[joint.v], strict=True):
            twice = twice + armature * rate**2
        if joint.spin is not None:  # the rotor's momentum, turned by the parent
            twice = twice + 2 * mechanism.v[joint.v.start] * omega[parent].dot(joint.spin.moment)
    return twice / 2


def _gravity(mechanism: Mechanism) -> Expr:
    """U = -Σ m g·r."""
    gravity = mechanism.tree.gravity
    return -sympy.Add(*(link.mass * gravity.dot(mechanism.at(link.body, link.com)) for link in mechanism.links))


def _elastic(mechanism: Mechanism, acting: AppliedLoads) -> Expr:
    """U = Σ ½ k (ℓ - ℓ₀)² + ½ k (q - q₀)²."""
    U = S.Zero
    for line in acting.springs:
        along, length = distance(mechanism, line)
        stretch = along.dot(along) if line.length == 0 else (length - line.length) ** 2
        U = U + line.constant * stretch / 2
    for _, stiffness, stretch in acting.joint_springs:
        U = U + stiffness * stretch**2 / 2
    return U


def _dissipation(mechanism: Mechanism, acting: AppliedLoads) -> Expr:
    """Rayleigh's function Σ ½ d (dℓ/dt)² + ½ d q̇²."""
    half = S.Zero
    for line in acting.dampers:
        _, length = distance(mechanism, line)
        half = half + line.constant * mechanism.time(length) ** 2 / 2
    for k, damping, _ in acting.joint_dampers:
        half = half + damping * mechanism.v[k] ** 2 / 2
    return half


def _power(mechanism: Mechanism, acting: AppliedLoads) -> Expr:
    """Σ F·ṙ + Γ·ω + motors: linear in v, its derivatives are the generalised forces."""
    power = sympy.Add(*(f * x for f, x in zip(acting.motors, mechanism.v, strict=True)))
    for (body, place), force in acting.forces:
        power = power + mechanism.time.vector(mechanism.at(body, place)).dot(force)
    for body, moment in acting.moments:
        R = mechanism.rotation[body]
        turning = R.T @ R.lift(mechanism.time).lift(sparse)
        omega = Vector(turning.z.y, turning.x.z, turning.y.x)
        power = power + (R @ omega).dot(moment)
    return power


def _directions(mechanism: Mechanism) -> list[dict[Symbol, Expr]]:
    """X_j, the columns of N in q̇ = N v: rates of the coordinates for one unit velocity each."""
    return [{q: x for q, rate in mechanism.rates.items() if (x := Rate({v: S.One})(rate)) != 0} for v in mechanism.v]


def _brackets(mechanism: Mechanism) -> dict[tuple[int, int], dict[int, Expr]]:
    """[X_k, X_l] = Σ_m c_m X_m for each pair that does not commute; empty where v = q̇."""
    if mechanism.holonomic:
        return {}
    directions = _directions(mechanism)
    short = mechanism.ring.short
    n, found = len(directions), {}
    for k in range(n):
        for l in range(k):
            entries = {}
            for q in {*directions[k], *directions[l]}:
                forth = Rate(directions[k])(directions[l].get(q, S.Zero))
                back = Rate(directions[l])(directions[k].get(q, S.Zero))
                if (entry := short(forth - back)) != 0:
                    entries[q] = entry
            if entries:
                found[k, l] = {m: short(x) for m, x in _in_directions(directions, entries, short)}
    return found


def _in_directions(directions: list[dict[Symbol, Expr]], entries: dict[Symbol, Expr], short: Any) -> Any:
    """The components c_m of a motion Σ c_m X_m: columns X_m are orthogonal to each other."""
    for m, X in enumerate(directions):
        product = sympy.Add(*(X[q] * x for q, x in entries.items() if q in X))
        component = short(product) / short(sympy.Add(*(x**2 for x in X.values())))
        if component != 0:
            yield m, component


def _coriolis(mechanism: Mechanism, M: list[list[Expr]], along: list[Rate]) -> list[list[Expr]]:
    """C_jl = Σ_k Γ_jkl v_k with 2 Γ_jkl = X_k M_jl + X_l M_jk - X_j M_kl + ⟨[X_k, X_l], X_j⟩ - ⟨[X_k, X_j], X_l⟩
    - ⟨[X_l, X_j], X_k⟩."""
    n, v, brackets = len(M), mechanism.v, _brackets(mechanism)
    dM = [[[X(M[j][k]) for k in range(n)] for j in range(n)] for X in along]

    def inner(a: int, b: int, c: int) -> Expr:
        """⟨[X_a, X_b], X_c⟩."""
        if a < b:
            return -inner(b, a, c)
        return sympy.Add(*(x * M[m][c] for m, x in brackets.get((a, b), {}).items()))

    C = [[S.Zero] * n for _ in range(n)]
    for j in range(n):
        for l in range(n):
            terms = []
            for k in range(n):
                symbol = dM[k][j][l] + dM[l][j][k] - dM[j][k][l]
                if brackets:
                    symbol = symbol + inner(k, l, j) - inner(k, j, l) - inner(l, j, k)
                if symbol != 0:
                    terms.append(Rational(1, 2) * symbol * v[k])
            C[j][l] = sympy.Add(*terms)
    return C


def _steps(
    mechanism: Mechanism, T: Expr, U: Expr, momenta: list[Expr], C: Matrix, g: Matrix, tau: Matrix
) -> list[DerivationStep]:
    plain = mechanism.holonomic
    if plain:
        law = "d/dt ∂T/∂q̇ - ∂T/∂q + ∂U/∂q = τ"
        symbols = "C_jk = Σ ½ (∂M_jk/∂q_l + ∂M_jl/∂q_k - ∂M_kl/∂q_j) q̇_l"
    else:
        law = "Velocities are not rates of coordinates: q̇ = Σ X_k v_k. d/dt ∂T/∂v - X T + X U = τ + brackets of X"
        brackets = "⟨[X_l, X_k], X_j⟩ - ⟨[X_l, X_j], X_k⟩ - ⟨[X_k, X_j], X_l⟩"
        symbols = f"C_jk = Σ ½ (X_l M_jk + X_k M_jl - X_j M_kl + {brackets}) v_l"
    return [
        centres_of_mass(mechanism),
        DerivationStep("Kinetic and potential energy", "T = Σ ½ m ṙ·ṙ + ½ ω·Θω; U has gravity and springs.", [
            (Symbol("T"), T), (Symbol("U"), U)]),
        DerivationStep("Momenta", "p = ∂T/∂v; the mass matrix is its derivative, M = ∂²T/∂v².", [
            (Symbol("p"), column(momenta))]),
        DerivationStep(
            "Christoffel symbols",
            f"{law}. Written out, the terms quadratic in the velocities are C v with {symbols}, for which Ṁ - 2C is "
            "skew.",
            [(Symbol("C"), C)],
        ),
        DerivationStep(
            "Forces",
            "Gravity is the derivative of its potential. Springs are too, dampers are that of Rayleigh's dissipation, "
            "and all other forces that of their power F·ṙ by the velocities: together they are τ.",
            [(Symbol("g"), g), (Symbol("tau"), tau)],
        ),
    ]  # fmt: skip
