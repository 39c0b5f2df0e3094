"""A model as the algorithms see it: its constants over the scalar at hand, its bodies in order."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from featherweight.joints import Joint
from featherweight.scalar import maximum, weave, where
from featherweight.spatial import Displacement, Force, Motion, RigidInertia, Transform, Vector

SLOW = 1e-4  # velocity [rad/s or m/s] below which dry friction in a simulation is viscous
PIECE = 12  # numbers, of which there may be many, that are treated together


@dataclass(frozen=True)
class Tree:
    """λ, joints, tree transforms and inertias by body; body 0 is the world."""

    parent: tuple[int, ...]
    joints: tuple[TreeJoint, ...]
    X_tree: tuple[Transform, ...]
    I: tuple[RigidInertia, ...]
    gravity: Vector
    lift: Callable[[float], Any]  # a constant over the scalar at hand
    mark: Callable[[], None]  # told where a new piece of the program begins
    nv: int
    coupled: bool  # several joints may share a coordinate
    unjoined: Tree | None = None  # of a tree with joined joints: the tree with each joint by itself (see `joined`)
    ground_friction: Any = None  # μ where a parameter gives it
    weave: Callable[[Hashable], None] | None = None  # told which body a pass has come to, in place of `mark`

    def woven(self) -> Tree:
        """The same tree, whose passes in one direction are worked off together, body by body: for passes that do not
        wait for each other. No outward pass may need anything of an inward one. Mimic joints wait for each other."""
        return self if self.coupled else replace(self, weave=weave())

    def apart(self) -> Tree:
        """The same tree, each pass for itself."""
        return replace(self, weave=None)

    def outward(self) -> Iterator[tuple[int, int, TreeJoint]]:
        """Bodies with their parent and joint, every parent before its children."""
        for i in range(1, len(self.parent)):
            self._come_to("outward", i)
            yield i, self.parent[i], self.joints[i]
        self.mark()

    def inward(self) -> Iterator[tuple[int, int, TreeJoint]]:
        """Bodies with their parent and joint, every child before its parent."""
        for i in range(len(self.parent) - 1, 0, -1):
            self._come_to("inward", i)
            yield i, self.parent[i], self.joints[i]
        self.mark()

    def _come_to(self, direction: str, i: int) -> None:
        if self.weave is None:
            self.mark()
        else:
            self.weave((direction, i))

    def coordinates(self) -> Iterator[int]:
        """Numbers of the coordinates of v, joint after joint."""
        for _, _, joint in self.outward():
            if joint.joint.leader is None:
                yield from range(joint.v.start, joint.v.stop)

    def chosen(self, condition: Any, new: Sequence[Any], old: Sequence[Any]) -> list[Any]:
        """Numbers of a state, the new ones where the condition holds; piece by piece, so that equal pieces can be equal
        code."""
        numbers: list[Any] = []
        for k, (a, b) in enumerate(zip(new, old, strict=True)):
            if k % PIECE == 0:
                self.mark()
            numbers.append(a if a is b else where(condition, a, b))
        return numbers

    def rootward(self, i: int) -> Iterator[tuple[int, int]]:
        """From body i towards the world: each body with its parent, until the parent is the world."""
        while self.parent[i] > 0:
            self.mark()
            yield i, self.parent[i]
            i = self.parent[i]

    def path(self, i: int) -> list[int]:
        """From body i towards the world, without the world."""
        bodies = []
        while i > 0:
            bodies.append(i)
            i = self.parent[i]
        return bodies

    def floats(self, i: int) -> bool:
        """Does body i move freely in the world?"""
        return self.parent[i] == 0 and self.joints[i].joint.floating

    @property
    def afloat(self) -> list[bool]:
        """Of each body: does it move freely in the world, or is it carried by one that does?"""
        bodies = [False]
        for i in range(1, len(self.parent)):
            bodies.append(self.floats(i) or bodies[self.parent[i]])
        return bodies

    def bodies_on(self) -> dict[int, list[int]]:
        """The bodies on a joint, by its first degree of freedom: one, or several where joints are joined."""
        bodies: dict[int, list[int]] = {}
        for i, joint in enumerate(self.joints[1:], start=1):
            bodies.setdefault(joint.v.start, []).append(i)
        return bodies

    @property
    def depth(self) -> int:
        """Bodies in a row, at most."""
        depth = [0] * len(self.parent)
        for i in range(1, len(self.parent)):
            depth[i] = depth[self.parent[i]] + 1
        return max(depth)

    def moved(self, q: Sequence[Any], d: Sequence[Any], q_after: Sequence[Any]) -> Tree:
        """The same tree with its joints placed at q ⊕ d: nothing else is to be asked of it."""
        if self.coupled:
            return self
        joints = [self.joints[0]]
        for _, _, joint in self.outward():
            joints.append(replace(joint, place=joint.joint.place_after(q[joint.q], d[joint.v], q_after[joint.q])))
        return replace(self, joints=tuple(joints))

    def held(self, bodies: Mapping[int, Any]) -> Tree:
        """The same tree, whose joints of these bodies do not answer to forces where a condition holds."""
        if not bodies:
            return self
        joints = list(self.joints)
        for i, condition in bodies.items():
            joints[i] = replace(joints[i], held=(condition,) * len(joints[i].dofs))
        return replace(self, joints=tuple(joints))

    def without_gravity(self) -> Tree:
        """The same tree far from everything."""
        return replace(self, gravity=Vector.zero())

    def without_dry_friction(self) -> Tree:
        """The same tree, where something else takes care of it."""
        return replace(self, joints=tuple(replace(joint, friction=(0,) * len(joint.friction)) for joint in self.joints))

    def damped(self, v: Sequence[Any], h: Any, slow: Any = SLOW) -> Tree:
        """The same tree, damped by the velocity at the end of a step: (M + h D) a = τ - D v has v⁺ = v + h a in D v⁺.

        Dry friction f is damping f / |v|, so that it can stop a joint and not turn it back; below `slow` it is viscous.
        """
        return replace(self, joints=tuple(joint.damped(v, h, slow) for joint in self.joints))

    @property
    def rubs(self) -> bool:
        """Has any joint dry friction?"""
        return any(not _is_zero(f) for joint in self.joints for f in joint.friction)

    def per_body(self, first: Any = None) -> list[Any]:
        """A list with a place for each body; `first` is the world's."""
        return [first] + [None] * (len(self.parent) - 1)

    @property
    def gravity_field(self) -> Motion:
        """a_0 = -g: instead of pulling all bodies down, let the world accelerate upward."""
        return Motion(Vector.zero(), -self.gravity)


@dataclass(frozen=True)
class TreeJoint:
    """A joint in its place: takes its own part of the model's q and v.

    Its motor adds `armature` to the inertia of each degree of freedom, and `spin`: a rotor that turns with q̇
    on the parent has the momentum spin · q̇ there, a pure moment in the parent's axes.
    """

    joint: Joint
    q: slice
    v: slice
    armature: tuple[Any, ...] = ()
    damping: tuple[Any, ...] = ()
    friction: tuple[Any, ...] = ()
    stiffness: tuple[Any, ...] = ()
    rest: tuple[Any, ...] = ()
    spin: Force | None = None
    held: tuple[Any, ...] | None = None  # where its degrees of freedom do not answer to forces; None: they do
    place: Sequence[Any] | None = None  # what X_J is made of where it is asked for, in place of q, if that is known

    @property
    def dofs(self) -> range:
        """Its degrees of freedom, by their places in v."""
        return range(self.v.start, self.v.stop)

    def damped(self, v: Sequence[Any], h: Any, slow: Any) -> TreeJoint:
        """The same joint with damping as armature, and dry friction as damping."""
        damping = tuple(
            d if _is_zero(f) else d + f / maximum(abs(v_k), slow)
            for d, f, v_k in zip(self.damping, self.friction, v[self.v], strict=True)
        )
        armature = tuple(a + h * d for a, d in zip(self.armature, damping, strict=True))
        return replace(self, armature=armature, damping=damping, friction=(0,) * len(damping))

    def transform(self, q: Sequence[Any]) -> Transform:
        """X_J(q)."""
        return self.joint.transform(q[self.q]) if self.place is None else self.joint.transform_at(self.place)

    def subspace(self, q: Sequence[Any]) -> tuple[Motion, ...]:
        """The columns of S(q)."""
        return self.joint.subspace(q[self.q] if self.place is None else self.place)

    def subspace_after(self, q: Sequence[Any], d: Sequence[Any]) -> tuple[Motion, ...]:
        """The columns of S(q ⊕ d)."""
        return self.joint.subspace_after(q[self.q], d[self.v])

    def subspace_rate(self, q: Sequence[Any], v: Sequence[Any]) -> tuple[Motion, ...]:
        """The columns of dS/dt as seen in the body."""
        return self.joint.subspace_rate(q[self.q], v[self.v])

    def bias(self, q: Sequence[Any], v: Sequence[Any]) -> Motion:
        """c_J = (dS/dt) v as seen in the body."""
        c = Motion.zero()
        for rate, number in zip(self.subspace_rate(q, v), v[self.v], strict=True):
            c = c + rate * number
        return c

    def displacement(self, q: Sequence[Any], d: Sequence[Any]) -> Displacement:
        """How the body's frame moves when the joint moves by d."""
        return self.joint.displacement(q[self.q], d[self.v])

    def stretch(self, q: Sequence[Any]) -> list[Any]:
        """q ⊖ rest, how far the joint's spring is stretched; zero where there is none."""
        if all(isinstance(k, (int, float)) and k == 0 for k in self.stiffness):
            return [0] * len(self.stiffness)
        return self.joint.difference(self.rest, q[self.q])

    def spring_force(self, q: Sequence[Any]) -> list[Any]:
        """-∂U/∂q of the joint's spring, U = ½ Σ κ u², u = q ⊖ rest: -J_r(u)⁻ᵀ κ u."""
        u = self.stretch(q)
        pull = [k * u_j for k, u_j in zip(self.stiffness, u, strict=True)]
        force = []
        for k in range(len(u)):
            column = self.joint.rate(u, [int(j == k) for j in range(len(u))])  # of J_r(u)⁻¹
            total: Any = 0
            for pull_j, entry in zip(pull, column, strict=True):
                total = total - pull_j * entry
            force.append(total)
        return force


def _is_zero(f: Any) -> bool:
    return isinstance(f, (int, float)) and f == 0
