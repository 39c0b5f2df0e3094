"""A model in symbols: coordinates, poses and masses of its bodies. All three derivations start from it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import sympy
from sympy import Expr, S, Symbol

from featherweight.cached import cached_property
from featherweight.dynamics.checks import checked_model
from featherweight.equations.expressions import Rate, exact
from featherweight.equations.normal_form import Ring, angles_in, independent
from featherweight.equations.structural_zero import sparse
from featherweight.errors import ModelError
from featherweight.model import JointInfo, Model, TreeJoint
from featherweight.model.parameters import Parameter
from featherweight.spatial import Matrix, Motion, Symmetric, Transform, Vector

LETTERS = {
    "mass": "m",
    "com": "c",
    "moment": "I",
    "position": "r",
    "armature": "J",
    "damping": "d",
    "friction": "f",
    "stiffness": "k",
    "rest": "q0",
}
AXES = "xyz"


@dataclass(frozen=True)
class SymbolicLink:
    """A rigid piece of a body: mass [kg], centre of mass [m] and moment about it [kg m²], in the body's axes."""

    name: str
    body: int
    mass: Expr
    com: Vector
    moment: Symmetric


def _no_mark() -> None:
    """Do nothing: regions matter to the compiler only."""


class Mechanism:
    """The tree of a model over SymPy: symbols q, v, a; rotation and position of every body as functions of q."""

    def __init__(self, model: Model, coordinates: Sequence[str] | None = None) -> None:
        if checked_model(model).nv == 0:
            raise ModelError(f"model {model.name!r} has no joint that moves: there are no equations of motion")
        self.model = model
        self.values: dict[Symbol, float] = {}  # of symbols that stand for declared parameters
        given = {name: self._declared(p) for name, p in model.parameters.items()}
        self._given = given
        self.tree = model.over(exact, _no_mark, given)
        self._name(coordinates)
        self.rates = self._rates()
        if coordinates is not None and not self.holonomic:
            raise ModelError("coordinates: names are for joints whose velocity is the rate of their coordinates")
        self.links = tuple(self._links())
        self._place()
        self._check_symbols()

    # ---- symbols

    def _declared(self, parameter: Parameter) -> list[Expr]:
        """Symbols for a declared parameter, one for each number that is not zero."""
        owner, _, what = parameter.name.rpartition(".")
        stem = f"{LETTERS[what]}_{re.sub('[^A-Za-z0-9]+', '', owner)}" if owner else "g"
        symbols: list[Expr] = []
        for place in np.ndindex(parameter.shape):
            value = float(parameter.default[place])
            ordered = tuple(sorted(place)) if what == "moment" else place  # symmetric
            labels = [AXES[k] if 3 in parameter.shape else str(k + 1) for k in ordered]
            symbol = Symbol(f"{stem}_{''.join(labels)}" if labels else stem, real=True)
            if self.values.setdefault(symbol, value) != value:
                raise ModelError(f"parameters: {parameter.name!r} would be the symbol {symbol}, which another one is")
            symbols.append(symbol if value != 0 else S.Zero)
        return symbols

    def _name(self, coordinates: Sequence[str] | None) -> None:
        """q, v and a, called q1 … v1 … a1 … if no names are given."""
        nq, nv = self.model.nq, self.model.nv
        if coordinates is None:
            names = [f"q{k}" for k in range(1, nq + 1)]
            rates = [f"v{k}" for k in range(1, nv + 1)]
            second = [f"a{k}" for k in range(1, nv + 1)]
        else:
            names = [str(name) for name in coordinates]
            if len(names) != nq or len(set(names)) != nq:
                raise ModelError(f"coordinates: expected {nq} different names, got {names}")
            rates, second = [f"{n}_dot" for n in names[:nv]], [f"{n}_ddot" for n in names[:nv]]
        self.q, self.v, self.a = (tuple(Symbol(n, real=True) for n in group) for group in (names, rates, second))

    def _check_symbols(self) -> None:
        """A parameter must not have the name of a coordinate, velocity or acceleration."""
        own = {s.name for s in (*self.q, *self.v, *self.a)}
        clash = sorted(own & set(self.model.symbols)) or sorted(own & {s.name for s in self.values})
        if clash:
            raise ModelError(
                f"the symbol {clash[0]} is a parameter of model {self.model.name!r} and a coordinate of its equations; "
                "rename the parameter, or give coordinates= other names"
            )

    def _rates(self) -> dict[Symbol, Expr]:
        """q̇ = N(q) v by coordinate."""
        rates: dict[Symbol, Expr] = {}
        for joint in self.model.independent_joints:
            q, v = self.q[joint.q], self.v[joint.v]
            rates.update(zip(q, joint.kind.lift(exact).coordinate_rate(q, v), strict=True))
        return rates

    @cached_property
    def time(self) -> Rate:
        """d/dt of functions of q."""
        return Rate(self.rates)

    @property
    def quaternions(self) -> list[tuple[Symbol, ...]]:
        """The symbols of unit quaternions."""
        slices = [(j.q.start, j.kind.orientation) for j in self.model.independent_joints if j.kind.orientation]
        return [self.q[start + s.start : start + s.stop] for start, s in slices]

    @property
    def holonomic(self) -> bool:
        """Whether v = q̇ for all joints."""
        return tuple(self.rates.values()) == self.v

    @cached_property
    def ring(self) -> Ring:
        """The ring of trigonometric polynomials of this mechanism, for normal forms."""
        entries = [x for R in self.rotation for row in R for x in row] + [x for p in self.position for x in p]
        return Ring(independent(angles_in(entries)), q=self.q, v=(*self.v, *self.a), quaternions=self.quaternions)

    # ---- bodies

    def _links(self) -> Iterator[SymbolicLink]:
        """The pieces of all bodies that have mass, in the axes of their bodies."""
        for part in self.model.parts:
            inertia, X = part.inertia, part.X.lift(exact)
            mass = self._given.get(f"{part.link}.mass", [exact(inertia.mass)])[0]
            com = self._given.get(f"{part.link}.com") or [exact(x) for x in inertia.com]
            rows = self._given.get(f"{part.link}.moment") or [exact(x) for row in inertia.moment_about_com for x in row]
            moment = Symmetric(rows[0], rows[1], rows[2], rows[4], rows[5], rows[8])
            if part.body > 0 and (mass != 0 or any(moment)):
                yield SymbolicLink(
                    part.link, part.body, mass, X.r + X.E.transposed_times(Vector(*com)), moment.congruent(X.E)
                )

    def _place(self) -> None:
        """Rotation (body to world) and origin of each body, and the motions its joint allows, in world axes."""
        one, zero = Matrix.identity().lift(exact), Vector.zero().lift(exact)
        self.rotation, self.position = [one], [zero]
        self.subspace: list[tuple[Motion, ...]] = [()]
        turns: list[_AxisRotation | None] = [None]
        for i, parent, joint in self.tree.outward():
            X = self.tree.X_tree[i]
            mount = self.rotation[parent] @ X.E.T
            own = self._own(i, joint)
            turn = _turn(joint, self.q, mount, own)
            before = turns[parent]
            if turn is not None and before is not None and one == X.E and before.axis == turn.axis:
                # parallel to the joint before: one rotation by the sum of both angles
                turn = _AxisRotation(turn.axis, before.angle + turn.angle, before.mount)
                R = before.mount @ joint.kind.transform([turn.angle]).E.T.lift(sparse)
            else:
                R = mount @ own.E.T
            turns.append(turn)
            self.rotation.append(R)
            self.position.append(self.position[parent] + self.rotation[parent] @ X.r + mount @ own.r)
            self.subspace.append(tuple(_in_world(s, R, mount, own) for s in joint.subspace(self.q)))

    def _own(self, i: int, joint: TreeJoint) -> Transform:
        """X_J(q), if the joint's kind can be written in symbols: those of this package can."""
        try:
            return joint.transform(self.q).lift(sparse)
        except TypeError as error:
            info = self.joint_of(i)
            raise ModelError(
                f"joint {info.name!r} ({type(info.kind).__name__}) cannot be written in symbols: {error}; "
                "use featherweight.scalar for its functions"
            ) from None

    def supports(self, body: int) -> list[tuple[int, int, Motion]]:
        """The joints that move a body, from the root outward: body, degree of freedom, and motion in world axes."""
        found = []
        for j in reversed(self.tree.path(body)):
            columns = range(self.tree.joints[j].v.start, self.tree.joints[j].v.stop)
            found += [(j, k, s) for k, s in zip(columns, self.subspace[j], strict=True)]
        return found

    def at(self, body: int, point: Vector) -> Vector:
        """Where a point of a body is in the world."""
        return self.position[body] + self.rotation[body] @ point

    def arm(self, a: int, b: int) -> Vector:
        """From the origin of one body to that of another."""
        return (self.position[b] - self.position[a]).lift(sparse)

    def joint_of(self, body: int) -> JointInfo:
        """The joint that carries a body."""
        return self.model.joints[body - 1]


@dataclass(frozen=True)
class _AxisRotation:
    """A rotation by an angle about an axis, from a mounting frame whose rotation is known."""

    axis: Vector
    angle: Expr
    mount: Matrix


def _turn(joint: TreeJoint, q: Sequence[Symbol], mount: Matrix, X: Transform) -> _AxisRotation | None:
    """The rotation of a joint that only turns by its coordinate about an axis through its origin; else None."""
    columns = joint.subspace(q)
    if len(columns) != 1 or any(columns[0].linear) or any(X.r):
        return None
    axis = columns[0].angular
    straight = all(not x.free_symbols for x in axis) and sympy.expand(axis.dot(axis)) == 1
    at_zero = joint.kind.transform([S.Zero])
    return _AxisRotation(axis, q[joint.q.start], mount) if straight and Matrix.identity() == at_zero.E else None


def _in_world(s: Motion, R: Matrix, mount: Matrix, X: Transform) -> Motion:
    """A motion of a body in world axes. Vectors that the joint's rotation does not change need the mount's only."""

    def turned(x: Vector) -> Vector:
        before = X.E.transposed_times(x).lift(sympy.expand).lift(sparse)
        return mount @ before if before == x else R @ x.lift(sparse)

    return Motion(turned(s.angular), turned(s.linear))
