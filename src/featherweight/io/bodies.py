"""Bodies of a description: what fixed joints weld together, its inertia, and what a body's own joint feels of it."""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from featherweight.io.description import Inertial, Link, LinkJoint, Origin, Tree
from featherweight.io.limits import DIGITS, PARTS, SMALL
from featherweight.model import Inertia, Placement
from featherweight.spatial import Matrix, RigidInertia, Symmetric, Transform, Vector

SIMPLE = ("revolute", "continuous", "prismatic")  # one degree of freedom: they can be followed
HINGES = ("revolute", "continuous")
STAYS = Transform.identity()  # of the first link of a body: nothing need be computed


@dataclass(frozen=True)
class Body:
    """What moves it (None: nothing), its links and the transforms from the first to each; its joint (None: the base),
    the number of the body that carries it, and how far from that one's first link [m]."""

    mover: str | None
    links: list[tuple[Link, Transform]]
    joint: LinkJoint | None = None
    parent: int = -1
    distance: float = 0.0

    @property
    def hinged(self) -> bool:
        """Turns about an axis, and does not slide."""
        return self.joint is not None and self.joint.type in HINGES

    @property
    def inertia(self) -> RigidInertia:
        """Of all its links, about the first one's origin."""
        total = RigidInertia.zero()
        for link, X in self.links:
            if link.inertial is not None:
                own = link_inertia(link.inertial).rigid
                total = total + (own if X is STAYS else own.seen_through(X))
        return total


def welded(tree: Tree, base: str) -> list[Body]:
    """The root's body and that of each moving joint, with the links fixed to them; parents first."""
    bodies = [Body("the free base" if base == "free" else None, [(tree.root, STAYS)])]
    place = {tree.root.name: (0, STAYS)}
    for joint in tree.joints:
        k, X_parent = place[joint.parent]
        X = placement_of(joint.origin).transform
        X = X if X_parent is STAYS else X @ X_parent
        if joint.type != "fixed":
            bodies.append(Body(f"joint {joint.name!r}", [], joint, k, math.hypot(*X.r)))
            k, X = len(bodies) - 1, STAYS
        bodies[k].links.append((tree.links[joint.child], X))
        place[joint.child] = k, X
    return bodies


@contextlib.contextmanager
def one_file() -> Iterator[None]:
    """While a file is read: what is computed of its parts is kept until the end, and no longer."""
    try:
        yield
    finally:
        placement_of.cache_clear()
        link_inertia.cache_clear()


@functools.lru_cache(maxsize=PARTS)
def placement_of(origin: Origin) -> Placement:
    """An origin as a placement; files repeat them, and readers ask several times."""
    return Placement(origin.xyz, rpy=origin.rpy if any(origin.rpy) else None)


@functools.lru_cache(maxsize=PARTS)
def link_inertia(inertial: Inertial) -> Inertia:
    """In the link's axes, about the centre of mass."""
    xx, xy, xz, yy, yz, zz = inertial.moments
    if not any(inertial.origin.rpy):
        return Inertia(max(inertial.mass, 0.0), inertial.origin.xyz, ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))
    R = placement_of(inertial.origin).rotation
    moment = R @ (Matrix.of(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))) @ R.T)
    symmetric = tuple(tuple([(moment[i][j] + moment[j][i]) / 2 for j in range(3)]) for i in range(3))
    return Inertia(max(inertial.mass, 0.0), inertial.origin.xyz, symmetric)


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
    joint = body.joint
    if joint is not None and joint.type == "prismatic":
        return math.inf
    if joint is not None and body.hinged:
        motor = 0.0 if joint.motor is None else joint.motor.reduction**2 * joint.motor.inertia
        return _about(joint.axis, inertia.I) + motor
    I = np.array(inertia.I.matrix, dtype=float)
    m = float(inertia.m)
    c = np.array([float(x) for x in inertia.h]) / m
    about_com = I - m * (c @ c * np.eye(3) - np.outer(c, c))
    if joint is not None and joint.type == "planar":
        return _about(joint.axis, Symmetric.of(about_com.tolist()))
    return float(np.linalg.eigvalsh(about_com)[0])


def _about(axis: Sequence[float], I: Symmetric) -> float:
    length = math.hypot(*axis)
    a = Vector(*[x / length for x in axis])
    return float(a.dot(I @ a))
