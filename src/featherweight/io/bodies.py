"""Bodies of a description: what fixed joints weld together, its inertia, and what a body's own joint feels of it."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from featherweight.io.limits import DIGITS, SMALL
from featherweight.joints import Joint
from featherweight.model.description import TYPES, Link, LinkJoint
from featherweight.model.spelling import Three
from featherweight.spatial import RigidInertia, Symmetric, Transform, Vector

STAYS = Transform.identity()  # of the first link of a body: nothing need be computed


@dataclass(frozen=True)
class SpanningTree:
    """The root, and the joints to all other links, depth first: each one's parent is the root or an earlier child.
    `void`: the joints that follow nothing, although they should."""

    root: Link
    joints: tuple[LinkJoint, ...]
    links: dict[str, Link]
    void: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Body:
    """What moves it (None: nothing), its links and the transforms from the first to each; its joint (None: the base),
    the number of the body that carries it, and how far from that one's first link [m]; the directions its joint turns
    it about, and whether it moves its origin."""

    mover: str | None
    links: list[tuple[Link, Transform]]
    joint: LinkJoint | None = None
    parent: int = -1
    distance: float = 0.0
    turns: tuple[Vector, ...] = (Vector(1, 0, 0), Vector(0, 1, 0), Vector(0, 0, 1))
    slides: bool = True

    @property
    def hinged(self) -> bool:
        """Turns, and does not slide."""
        return self.joint is not None and bool(self.turns) and not self.slides

    @property
    def inertia(self) -> RigidInertia:
        """Of all its links, about the first one's origin."""
        total: RigidInertia | None = None
        for link, X in self.links:
            if link.inertial is not None:
                own = link.inertial.inertia.rigid
                own = own if X is STAYS else own.seen_through(X)
                total = own if total is None else total + own
        return RigidInertia.zero() if total is None else total


def welded(tree: SpanningTree, base: str) -> list[Body]:
    """The root's body and that of each moving joint, with the links fixed to them; parents first."""
    bodies = [Body("the free base" if base == "free" else None, [(tree.root, STAYS)])]
    place = {tree.root.name: (0, STAYS)}
    for joint in tree.joints:
        k, X_parent = place[joint.parent]
        X = STAYS if joint.origin is None else joint.origin.transform
        X = X if X_parent is STAYS else X @ X_parent
        if joint.moves:
            turns, slides = _freedoms(joint.motion) if joint.kind is not None else _of_type(joint.type, joint.axis)
            bodies.append(Body(f"joint {joint.name!r}", [], joint, k, math.hypot(*X.r), turns, slides))
            k, X = len(bodies) - 1, STAYS
        bodies[k].links.append((tree.links[joint.child], X))
        place[joint.child] = k, X
    return bodies


def _freedoms(motion: Joint) -> tuple[tuple[Vector, ...], bool]:
    """The directions that a joint turns a body about, and whether it moves its origin."""
    S = motion.subspace(motion.neutral().tolist())
    return tuple([s.angular for s in S if any(s.angular)]), any([any(s.linear) for s in S])


@functools.lru_cache(maxsize=1000)  # files have few axes
def _of_type(kind: str, axis: Three) -> tuple[tuple[Vector, ...], bool]:
    return _freedoms(TYPES.get(kind, TYPES["floating"])(axis))


@dataclass(frozen=True)
class Least:
    """What a body needs so that its own joint is felt: mass [kg], moment [kg m²]. And what hides less: the mass and the
    moments of the body with all it carries."""

    mass: float
    moment: float
    carried_mass: float
    carried_moment: float


class Loads:
    """What each body carries: masses and moments, summed from the last body to the first."""

    def __init__(self, bodies: Sequence[Body]) -> None:
        self.bodies = bodies
        self.mass = [0.0] * len(bodies)
        self.moment = [0.0] * len(bodies)

    def least(self, k: int, inertia: RigidInertia) -> Least:
        """What body k needs, when all it carries is put on it. Less is nothing, or lost among the digits of those."""
        mass, moment = self._with(k, inertia)
        return Least(DIGITS * mass, float(inertia.m) * SMALL**2 + DIGITS * moment, mass, moment)

    def put(self, k: int, inertia: RigidInertia) -> None:
        """Body k on the one that carries it.

        A load of mass m with moments up to B about a joint has at most (√B + d √m)² about a point d away, wherever
        the joints are.
        """
        mass, moment = self._with(k, inertia)
        parent = self.bodies[k].parent
        if parent >= 0:
            self.mass[parent] += mass
            self.moment[parent] += (math.sqrt(moment) + self.bodies[k].distance * math.sqrt(mass)) ** 2

    def _with(self, k: int, inertia: RigidInertia) -> tuple[float, float]:
        return self.mass[k] + float(inertia.m), self.moment[k] + float(max(map(abs, inertia.I)))


def needed(bodies: Sequence[Body], inertias: Sequence[RigidInertia]) -> list[Least]:
    """What each body needs."""
    loads, found = Loads(bodies), []
    for k in range(len(bodies) - 1, -1, -1):
        found.append(loads.least(k, inertias[k]))
        loads.put(k, inertias[k])
    return found[::-1]


def own_moment(body: Body, inertia: RigidInertia) -> float:
    """The least moment that a body's own joint feels of it alone, with the motor's [kg m²]; infinite if it only slides.

    About the axis of a hinge; about the centre of mass for joints that slide as well: what is free turns about it.
    """
    if not body.turns:
        return math.inf
    if body.hinged:
        return _least_moment(body.turns, inertia.I) + _armature(body.joint)
    m = float(inertia.m)
    c = np.array([float(x) for x in inertia.h]) / m
    about_com = np.array(inertia.I.matrix, dtype=float) - m * (c @ c * np.eye(3) - np.outer(c, c))
    return _least_moment(body.turns, Symmetric.of(about_com.tolist()))


def _least_moment(axes: Sequence[Vector], I: Symmetric) -> float:
    """Of all turns about these axes."""
    if len(axes) == 1:
        return float(axes[0].dot(I @ axes[0]))
    A = np.array(axes, dtype=float)
    return float(np.linalg.eigvalsh(A @ np.array(I.matrix, dtype=float) @ A.T)[0])


def _armature(joint: LinkJoint | None) -> float:
    """The least inertia that a joint's motor adds."""
    if joint is None:
        return 0.0
    armature = joint.armature if joint.motor is None else joint.motor.armature
    return armature if type(armature) is float else float(np.min(armature))
