"""Projected Newton-Euler: the principle of virtual work eliminates the joint reactions.

Σ δrᵀ (m r̈ - F) + δφᵀ (Θ ω̇ + ω × Θ ω - Γ) = 0 for all displacements δr = J_P δq, δφ = J_R δq that the joints allow.
J_P is in world axes; J_R, Θ and ω in those of the body.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sympy import Add, Expr, Matrix, S, Symbol, sign

from featherweight.equations.elements import AppliedLoads, distance, loads
from featherweight.equations.equations import Equations
from featherweight.equations.expressions import column, square
from featherweight.equations.mechanism import Mechanism, SymbolicLink
from featherweight.equations.steps import DerivationStep, centres_of_mass, labelled
from featherweight.equations.structural_zero import STRUCTURAL_ZERO, sparse
from featherweight.model import Model
from featherweight.spatial import Vector

Columns = dict[int, Vector]  # a Jacobian's columns that are not zero, by degree of freedom


def projected_newton_euler(
    model: Model, *, forces: Sequence[Any] = (), motors: Any = "all", coordinates: Sequence[str] | None = None
) -> Equations:
    """M a + b + g = τ with M = Σ m J_PᵀJ_P + J_Rᵀ Θ J_R and b = Σ m J_PᵀJ̇_P v + J_Rᵀ(Θ J̇_R v + ω × Θ ω).

    Args:
        model: numbers or symbols.
        forces: `Force`, `Moment`, `Spring`, `Damper`, `JointSpring`, `JointDamper`.
        motors: "all" joints have one, or names of joints, or forces by joint.
        coordinates: names for q in place of q1, q2 …
    """
    mechanism = Mechanism(model, coordinates)
    acting = loads(mechanism, forces, motors)
    n, v = model.nv, mechanism.v
    M = [[S.Zero] * n for _ in range(n)]
    b, g = [S.Zero] * n, [S.Zero] * n

    # every link: its Jacobians, and its share of M and b
    shares = [_share(mechanism, link) for link in mechanism.links]
    for share in shares:
        for j in share.J_P:
            b[j] = b[j] + share.b[j]
            g[j] = g[j] - share.link.mass * share.J_P[j].dot(mechanism.tree.gravity)
            for k in share.J_P:
                M[j][k] = M[j][k] + share.M[max(j, k), min(j, k)]

    # rotors: armature of the joint, and their gyroscopic moment on the parent
    for _, parent, joint in mechanism.tree.outward():
        for k, armature in zip(range(joint.v.start, joint.v.stop), joint.armature, strict=True):
            M[k][k] = M[k][k] + armature
        if joint.spin is not None:
            spin, k = joint.spin.moment, joint.v.start
            J_R = rotation(mechanism, parent)
            omega = _times(J_R, v)
            b[k] = b[k] + spin.dot(_times(_rate(mechanism, J_R), v))
            for j in J_R:
                M[j][k], M[k][j] = M[j][k] + J_R[j].dot(spin), M[k][j] + J_R[j].dot(spin)
                b[j] = b[j] + J_R[j].dot(omega.cross(spin * v[k]))

    tau, D = _projected_loads(mechanism, acting)
    return Equations.of(
        "projected Newton-Euler",
        mechanism,
        acting,
        M=square(M),
        b=column(b),
        g=column(g),
        tau=column(tau),
        D=D,
        derivation=partial(_steps, mechanism, shares, column(tau), D),
    )


@dataclass(frozen=True)
class Share:
    """Contribution of one link: its Jacobians, entries of M (the lower triangle) and of b."""

    link: SymbolicLink
    J_P: Columns
    J_R: Columns
    M: dict[tuple[int, int], Expr]
    b: dict[int, Expr]


def _share(mechanism: Mechanism, link: SymbolicLink) -> Share:
    """m J_PᵀJ_P + J_RᵀΘJ_R and m J_PᵀJ̇_P v + J_Rᵀ(Θ J̇_R v + ω × Θω)."""
    v, moment = mechanism.v, link.moment
    J_P, J_R = translation(mechanism, link.body, link.com), rotation(mechanism, link.body)
    along = _times(_rate(mechanism, J_P), v) * link.mass  # m J̇_P v
    turns = any(moment)
    if turns:
        momenta = {k: moment @ J for k, J in J_R.items()}  # Θ J_R
        omega = _times(J_R, v)
        gyration = moment @ _times(_rate(mechanism, J_R), v) + omega.cross(_times(momenta, v))
    M: dict[tuple[int, int], Expr] = {}
    b: dict[int, Expr] = {}
    for j in J_P:
        b[j] = J_P[j].dot(along) + (J_R[j].dot(gyration) if turns else 0)
        for k in J_P:
            if k <= j:
                M[j, k] = link.mass * J_P[j].dot(J_P[k]) + (J_R[j].dot(momenta[k]) if turns else 0)
    return Share(link, J_P, J_R, M, b)


def translation(mechanism: Mechanism, body: int, point: Vector) -> Columns:
    """J_P of a point of a body, in world axes: ω_k × (r - p_k) + v_k."""
    r = mechanism.at(body, point)
    columns: Columns = {}
    for j, k, s in mechanism.supports(body):
        column = s.linear + s.angular.cross((r - mechanism.position[j]).lift(sparse)).lift(sparse)
        columns[k] = columns[k] + column if k in columns else column
    return columns


def rotation(mechanism: Mechanism, body: int) -> Columns:
    """J_R of a body, in its own axes."""
    R = mechanism.rotation[body]
    columns: Columns = {}
    for _, k, s in mechanism.supports(body):
        column = R.transposed_times(s.angular).lift(sparse)
        columns[k] = columns[k] + column if k in columns else column
    return columns


def _projected_loads(mechanism: Mechanism, acting: AppliedLoads) -> tuple[list[Expr], Matrix]:
    """τ = Σ J_PᵀF + J_RᵀΓ + motors, and the damping matrix D = Σ Jᵀ d J."""
    n, v = mechanism.model.nv, mechanism.v
    tau = list(acting.motors)
    D = [[S.Zero] * n for _ in range(n)]
    for (body, place), force in acting.forces:
        for k, J in translation(mechanism, body, place).items():
            tau[k] = tau[k] + J.dot(force)
    for body, moment in acting.moments:
        R = mechanism.rotation[body]
        for k, J in rotation(mechanism, body).items():
            tau[k] = tau[k] + J.dot(R.transposed_times(moment))
    for line in acting.springs:
        along, length = distance(mechanism, line)
        pull = line.constant * (1 - line.length / length) if line.length != 0 else line.constant
        for k, J in _relative(mechanism, line.a, line.b).items():
            tau[k] = tau[k] - pull * J.dot(along)
    for line in acting.dampers:
        along, length = distance(mechanism, line)
        rows = {k: J.dot(along) / length for k, J in _relative(mechanism, line.a, line.b).items()}  # ∂ℓ/∂q
        for j, x in rows.items():
            for k, y in rows.items():
                D[j][k] = D[j][k] + line.constant * x * y
    for k, stiffness, stretch in acting.joint_springs:
        tau[k] = tau[k] - stiffness * stretch
    for k, damping, _ in acting.joint_dampers:
        D[k][k] = D[k][k] + damping
    for k, friction, _ in acting.frictions:
        tau[k] = tau[k] - friction * sign(v[k])
    for row in range(n):
        tau[row] = tau[row] - Add(*(d * x for d, x in zip(D[row], v, strict=True) if d != 0))
    return tau, square(D)


def _relative(mechanism: Mechanism, a: Any, b: Any) -> Columns:
    """The Jacobian of r_a - r_b."""
    columns = translation(mechanism, *a)
    for k, J in translation(mechanism, *b).items():
        columns[k] = columns[k] - J if k in columns else -J
    return columns


def _times(columns: Columns, v: Sequence[Expr]) -> Vector:
    """J v."""
    total = Vector(STRUCTURAL_ZERO, STRUCTURAL_ZERO, STRUCTURAL_ZERO)
    for k, J in columns.items():
        total = total + J * v[k]
    return total


def _rate(mechanism: Mechanism, columns: Columns) -> Columns:
    """J̇."""
    return {k: mechanism.time.vector(J) for k, J in columns.items()}


def _matrix(columns: Columns, n: int) -> Matrix:
    zero = Vector(S.Zero, S.Zero, S.Zero)
    return square(zip(*(columns.get(k, zero) for k in range(n)), strict=True))


def _steps(mechanism: Mechanism, shares: list[Share], tau: Matrix, D: Matrix) -> list[DerivationStep]:
    n = mechanism.model.nv
    damping = [(Symbol("D"), D)] if any(D) else []
    jacobians: list[tuple[Symbol, Any]] = []
    added: list[tuple[Symbol, Any]] = []
    for share in shares:
        name = share.link.name
        entries = [[share.M.get((max(j, k), min(j, k)), S.Zero) for k in range(n)] for j in range(n)]
        jacobians += [(labelled("J_P", name), _matrix(share.J_P, n)), (labelled("J_R", name), _matrix(share.J_R, n))]
        added.append((labelled("M", name), square(entries)))
        added.append((labelled("b", name), column(share.b.get(j, S.Zero) for j in range(n))))
    return [
        DerivationStep(
            "Virtual work",
            "Σ δrᵀ(m r̈ - F) + δφᵀ(Θω̇ + ω × Θω - Γ) = 0 for all displacements that the joints allow. Reactions do no "
            "work along these, and never appear.",
        ),
        centres_of_mass(mechanism),
        DerivationStep(
            "Jacobians of every link",
            "δr = J_P δq moves the centre of mass (world axes), δφ = J_R δq turns the link (its own axes).",
            jacobians,
        ),
        DerivationStep(
            "What every link adds",
            "With r̈ = J_P q̈ + J̇_P q̇ and ω̇ likewise: m J_PᵀJ_P + J_RᵀΘJ_R to the mass matrix, "
            "m J_PᵀJ̇_P q̇ + J_Rᵀ(ΘJ̇_R q̇ + ω × Θω) to b, and -J_Pᵀm g to the weight.",
            added,
        ),
        DerivationStep(
            "Projected forces",
            "τ = J_PᵀF + J_RᵀΓ of everything that pulls; of dampers -D q̇ with D = Jᵀd J.",
            [(Symbol("tau"), tau), *damping],
        ),
    ]
