"""Newton-Euler: free-body diagrams, m r̈ = ΣF and Θ ω̇ + ω × Θ ω = ΣΓ, with the joint reactions as unknowns.

Vectors are in world axes; the moment equation is about the joint's origin. A joint of n freedoms leaves 6 - n unknown
reactions: along its freedoms it passes on nothing but the motor's force, which is what eliminates them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sympy import Expr, S, sign

from featherweight.equations.elements import AppliedLoads, distance, loads
from featherweight.equations.equations import Equations
from featherweight.equations.expressions import Rate, Substitution, column, square
from featherweight.equations.mechanism import Mechanism
from featherweight.equations.steps import DerivationStep, labelled
from featherweight.equations.structural_zero import STRUCTURAL_ZERO, sparse
from featherweight.model import Model
from featherweight.spatial import Force as Wrench
from featherweight.spatial import Motion, Vector

ZERO = Vector(STRUCTURAL_ZERO, STRUCTURAL_ZERO, STRUCTURAL_ZERO)
NOTHING = Wrench(ZERO, ZERO)


@dataclass(frozen=True)
class BodyKinematics:
    """Of every body, in world axes: ω, ω̇, and velocity and acceleration of its origin."""

    omega: list[Vector]
    alpha: list[Vector]
    velocity: list[Vector]
    acceleration: list[Vector]


def newton_euler(
    model: Model, *, forces: Sequence[Any] = (), motors: Any = "all", coordinates: Sequence[str] | None = None
) -> Equations:
    """M a + b + g = τ from the equations of each body by itself; `constraint_forces` has the reactions of the joints.

    Args:
        model: numbers or symbols.
        forces: `Force`, `Moment`, `Spring`, `Damper`, `JointSpring`, `JointDamper`.
        motors: "all" joints have one, or names of joints, or forces by joint.
        coordinates: names for q in place of q1, q2 …
    """
    mechanism = Mechanism(model, coordinates)
    acting = loads(mechanism, forces, motors)
    kinematics = _kinematics(mechanism)

    # each body: inertial wrench, weight and applied wrench
    inertial = [_inertial(mechanism, kinematics, i) for i in range(model.nb + 1)]
    weight = [_weight(mechanism, i) for i in range(model.nb + 1)]
    applied, across = _applied(mechanism, kinematics, acting)
    _rotors(mechanism, kinematics, inertial)
    own = inertial[:], weight[:], applied[:]

    # inward: a joint carries its body and all descendants
    for i, parent, _ in mechanism.tree.inward():
        arm = mechanism.arm(parent, i)
        for wrenches in (inertial, weight, applied):
            if wrenches[i] is not NOTHING:
                wrenches[parent] = wrenches[parent] + _moved(wrenches[i], arm)

    # projection on the joints' freedoms: n equations without reactions
    rows, g, tau = [S.Zero] * model.nv, [S.Zero] * model.nv, list(across)
    for i, parent, joint in mechanism.tree.outward():
        for k, s, armature in zip(
            range(joint.v.start, joint.v.stop), mechanism.subspace[i], joint.armature, strict=True
        ):
            rows[k] = rows[k] + s.dot(inertial[i]) + armature * mechanism.a[k]
            g[k] = g[k] - s.dot(weight[i])
            tau[k] = tau[k] + s.dot(applied[i])
            if joint.spin is not None:
                spin = mechanism.rotation[parent] @ joint.spin.moment
                rows[k] = rows[k] + spin.dot(kinematics.alpha[parent])

    # sort by accelerations
    still = Substitution({a: S.Zero for a in mechanism.a})
    M = [[Rate({a: S.One})(row) for a in mechanism.a] for row in rows]
    b = [still(row) for row in rows]
    whole = {mechanism.joint_of(i).name: inertial[i] - weight[i] - applied[i] for i in range(1, model.nb + 1)}
    return Equations.of(
        "Newton-Euler",
        mechanism,
        acting,
        M=square(M),
        b=column(b),
        g=column(g),
        tau=column(tau),
        joint_forces={name: column([*w.force, *w.moment]) for name, w in whole.items()},
        across=tuple(across),
        derivation=partial(_steps, mechanism, kinematics, *own, across),
    )


def _kinematics(mechanism: Mechanism) -> BodyKinematics:
    """Outward: velocities and accelerations, each from those of the body before."""
    v, a, R = mechanism.v, mechanism.a, mechanism.rotation
    omega, alpha, velocity, acceleration = [ZERO], [ZERO], [ZERO], [ZERO]
    for i, parent, joint in mechanism.tree.outward():
        moves = _combined(mechanism.subspace[i], v[joint.v])  # what the joint adds
        changes = _combined(mechanism.subspace[i], a[joint.v])
        bias = joint.bias(mechanism.q, v).lift(sparse)  # of joints whose axes turn within the body
        turn, arm = omega[parent], mechanism.arm(parent, i)
        omega.append(turn + moves.angular)
        alpha.append(alpha[parent] + changes.angular + R[i] @ bias.angular + omega[i].cross(moves.angular))
        velocity.append(velocity[parent] + turn.cross(arm) + moves.linear)
        acceleration.append(
            acceleration[parent]
            + alpha[parent].cross(arm)
            + turn.cross(turn.cross(arm) + moves.linear)
            + changes.linear
            + R[i] @ bias.linear
            + omega[i].cross(moves.linear)
        )
    return BodyKinematics(omega, alpha, velocity, acceleration)


def _combined(columns: Sequence[Motion], numbers: Sequence[Expr]) -> Motion:
    total = Motion(ZERO, ZERO)
    for s, x in zip(columns, numbers, strict=True):
        total = total + s * x
    return total


def _inertial(mechanism: Mechanism, kinematics: BodyKinematics, body: int) -> Wrench:
    """Σ m r̈, and about the body's origin Σ c × m r̈ + Θ ω̇ + ω × Θ ω, over the links of a body."""
    R, omega, alpha = mechanism.rotation[body], kinematics.omega[body], kinematics.alpha[body]
    total = Wrench(ZERO, ZERO)
    for link in mechanism.links:
        if link.body != body:
            continue
        c = R @ link.com
        force = (kinematics.acceleration[body] + alpha.cross(c) + omega.cross(omega.cross(c))) * link.mass
        moment = c.cross(force)
        if any(link.moment):
            w = R.transposed_times(omega)
            moment = moment + R @ (link.moment @ R.transposed_times(alpha) + w.cross(link.moment @ w))
        total = total + Wrench(moment, force)
    return total


def _weight(mechanism: Mechanism, body: int) -> Wrench:
    """The weight of the links of a body, about its origin."""
    total = Wrench(ZERO, ZERO)
    for link in mechanism.links:
        if link.body == body:
            force = mechanism.tree.gravity * link.mass
            total = total + Wrench((mechanism.rotation[body] @ link.com).cross(force), force)
    return total


def _rotors(mechanism: Mechanism, kinematics: BodyKinematics, inertial: list[Wrench]) -> None:
    """A rotor's momentum spin · q̇ turns with the joint's parent: a moment there."""
    for _, parent, joint in mechanism.tree.outward():
        if joint.spin is not None:
            spin, k = mechanism.rotation[parent] @ joint.spin.moment, joint.v.start
            moment = spin * mechanism.a[k] + kinematics.omega[parent].cross(spin * mechanism.v[k])
            inertial[parent] = inertial[parent] + Wrench(moment, ZERO)


def _applied(mechanism: Mechanism, kinematics: BodyKinematics, acting: AppliedLoads) -> tuple[list[Wrench], list[Expr]]:
    """Forces on each body about its origin, and what acts across each joint: motors, joint springs and dampers."""
    wrenches = [NOTHING for _ in mechanism.position]

    def push(body: int, place: Vector, force: Vector) -> None:
        wrenches[body] = wrenches[body] + Wrench((mechanism.rotation[body] @ place).cross(force), force)

    for (body, place), force in acting.forces:
        push(body, place, force)
    for body, moment in acting.moments:
        wrenches[body] = wrenches[body] + Wrench(moment, ZERO)
    for line in acting.springs:
        along, length = distance(mechanism, line)
        pull = along * (line.constant * (1 - line.length / length) if line.length != 0 else line.constant)
        push(*line.a, -pull)
        push(*line.b, pull)
    for line in acting.dampers:
        along, length = distance(mechanism, line)
        apart = _velocity(mechanism, kinematics, *line.a) - _velocity(mechanism, kinematics, *line.b)
        pull = along * (line.constant * along.dot(apart) / length**2)
        push(*line.a, -pull)
        push(*line.b, pull)

    across = list(acting.motors)
    for k, stiffness, stretch in acting.joint_springs:
        across[k] = across[k] - stiffness * stretch
    for k, damping, _ in acting.joint_dampers:
        across[k] = across[k] - damping * mechanism.v[k]
    for k, friction, _ in acting.frictions:
        across[k] = across[k] - friction * sign(mechanism.v[k])
    return wrenches, across


def _velocity(mechanism: Mechanism, kinematics: BodyKinematics, body: int, place: Vector) -> Vector:
    """Of a point of a body."""
    return kinematics.velocity[body] + kinematics.omega[body].cross(mechanism.rotation[body] @ place)


def _moved(w: Wrench, arm: Vector) -> Wrench:
    """The wrench about another point; `arm` leads from there to its own."""
    return Wrench(w.moment + arm.cross(w.force), w.force)


def reaction_symbols(name: str) -> Wrench:
    """Symbols of a joint's reaction on its body: force F and moment N, in world axes."""
    return Wrench(*(Vector(*(labelled(letter, name, axis) for axis in "xyz")) for letter in "NF"))


def _steps(
    mechanism: Mechanism,
    kinematics: BodyKinematics,
    inertial: list[Wrench],
    weight: list[Wrench],
    applied: list[Wrench],
    across: list[Expr],
) -> list[DerivationStep]:
    """Free-body diagrams, their equations, the count of unknowns, and the joints' transmitted wrenches."""
    model, balance = mechanism.model, []
    for i in range(1, model.nb + 1):
        force = reaction_symbols(mechanism.joint_of(i).name)
        for child in model.children(i):
            arm = mechanism.arm(i, child)
            force = force - _moved(reaction_symbols(mechanism.joint_of(child).name), arm)
        force = force + weight[i] + applied[i]
        balance += [
            (column(inertial[i].force), column(force.force)),
            (column(inertial[i].moment), column(force.moment)),
        ]
    laws = []
    for i, _, joint in mechanism.tree.outward():
        unknown = reaction_symbols(mechanism.joint_of(i).name)
        for k, s in zip(range(joint.v.start, joint.v.stop), mechanism.subspace[i], strict=True):
            if joint.armature[k - joint.v.start] == 0 and joint.spin is None and not mechanism.tree.coupled:
                laws.append((s.dot(unknown), across[k]))
    n, freedoms = model.nb, model.nv
    motion = [(labelled("omega", model.names[i]), column(kinematics.omega[i])) for i in range(1, n + 1)]
    motion += [(labelled("p_ddot", model.names[i]), column(kinematics.acceleration[i])) for i in range(1, n + 1)]
    return [
        DerivationStep(
            "How the bodies move", "Angular velocity, and acceleration of each joint's origin, in world axes.", motion
        ),
        DerivationStep(
            "Every body cut free",
            "m r̈ = ΣF, and about the joint's origin c × m r̈ + Θω̇ + ω × Θω = ΣΓ. F and N are what a joint does to the "
            "body it carries; the body before it feels the opposite.",
            balance,
        ),
        DerivationStep(
            "Counting",
            f"{n} bodies have {6 * n} equations. Unknown are {6 * n - freedoms} reactions and {freedoms} "
            f"accelerations: {6 * n} in all.",
        ),
        DerivationStep(
            "What the joints pass on",
            "Along its freedoms a joint passes on only what acts across it. Each body's joint carries all bodies "
            "behind it: from the last one inward the reactions are known, and these laws are the equations without "
            "reactions.",
            laws,
        ),
    ]
