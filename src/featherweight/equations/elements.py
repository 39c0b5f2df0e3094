"""Loads on a mechanism besides gravity: forces, moments, motors, springs and dampers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import sympy
from sympy import Expr, S, Symbol

from featherweight.equations.expressions import exact
from featherweight.equations.mechanism import Mechanism
from featherweight.errors import ModelError
from featherweight.joints import Joint
from featherweight.model import JointInfo
from featherweight.model.placement import numbers_or_symbols
from featherweight.spatial import Vector

Place = Any  # the name of a body, joint or frame, or (name, xyz) for a point in its axes


@dataclass(frozen=True)
class Force:
    """A force [N] at a point, in the axes of the world or of the point's body."""

    at: Place
    force: Sequence[Any]
    in_: str = "world"


@dataclass(frozen=True)
class Moment:
    """A moment [N m] on a body, in the axes of the world or of the body."""

    on: str
    moment: Sequence[Any]
    in_: str = "world"


@dataclass(frozen=True)
class Spring:
    """A linear spring between two points, ℓ apart: it pulls them together with k (ℓ - ℓ₀) [N]."""

    a: Place
    b: Place
    stiffness: Any
    length: Any = 0


@dataclass(frozen=True)
class Damper:
    """A linear damper between two points, ℓ apart: it pulls them together with d dℓ/dt [N]."""

    a: Place
    b: Place
    damping: Any


@dataclass(frozen=True)
class JointSpring:
    """A spring across a joint with one coordinate: -k (q - q₀). A torsion spring, if the joint turns."""

    joint: str
    stiffness: Any
    rest: Any = 0


@dataclass(frozen=True)
class JointDamper:
    """A damper across a joint with one coordinate: -d q̇."""

    joint: str
    damping: Any


class Point(NamedTuple):
    """A point of a body, in its axes; body 0 is the world."""

    body: int
    place: Vector


class PointForce(NamedTuple):
    """A force in world axes at a point."""

    at: Point
    force: Vector


class BodyMoment(NamedTuple):
    """A moment in world axes on a body."""

    body: int
    moment: Vector


class PointPair(NamedTuple):
    """A spring (or damper) between two points: its constant, and the length at which it rests."""

    a: Point
    b: Point
    constant: Expr
    length: Expr


class OfJoint(NamedTuple):
    """Stiffness or damping of one degree of freedom; for a spring also its deflection."""

    dof: int
    constant: Expr
    stretch: Expr = S.Zero


@dataclass(frozen=True)
class AppliedLoads:
    """All loads, resolved: points as vectors, numbers exact, the joints' own springs and dampers included."""

    motors: tuple[Expr, ...]  # one for each degree of freedom
    inputs: tuple[Symbol, ...]
    forces: tuple[PointForce, ...]
    moments: tuple[BodyMoment, ...]
    springs: tuple[PointPair, ...]
    dampers: tuple[PointPair, ...]
    joint_springs: tuple[OfJoint, ...]
    joint_dampers: tuple[OfJoint, ...]
    frictions: tuple[OfJoint, ...]


def loads(mechanism: Mechanism, forces: Sequence[Any], motors: Any) -> AppliedLoads:
    """The loads on a mechanism: given elements, motors, and the joints' own springs, dampers and friction."""
    found: dict[str, list[Any]] = {
        name: [] for name in ("forces", "moments", "springs", "dampers", "joint_springs", "joint_dampers", "frictions")
    }
    for joint in mechanism.model.joints:
        _own(mechanism, joint, found)
    for element in forces:
        if isinstance(element, Force):
            at = _point(mechanism, "Force", element.at)
            found["forces"].append(PointForce(at, _vector(mechanism, "force", element.force, element.in_, at.body)))
        elif isinstance(element, Moment):
            body = mechanism.model.frame(element.on).body
            found["moments"].append(BodyMoment(body, _vector(mechanism, "moment", element.moment, element.in_, body)))
        elif isinstance(element, Spring):
            constant, length = _number("stiffness", element.stiffness), _number("length", element.length)
            found["springs"].append(_line(mechanism, element, constant, length))
        elif isinstance(element, Damper):
            found["dampers"].append(_line(mechanism, element, _number("damping", element.damping), S.Zero))
        elif isinstance(element, JointSpring):
            index, q = _coordinate(mechanism, element.joint)
            stretch = q - _number("rest", element.rest)
            found["joint_springs"].append(OfJoint(index, _number("stiffness", element.stiffness), stretch))
        elif isinstance(element, JointDamper):
            index, _ = _coordinate(mechanism, element.joint)
            found["joint_dampers"].append(OfJoint(index, _number("damping", element.damping)))
        else:
            raise TypeError(
                "forces: expected Force, Moment, Spring, Damper, JointSpring or JointDamper of featherweight.equations,"
                f" got {type(element).__name__}"
            )
    acting, inputs = _motors(mechanism, motors)
    return AppliedLoads(acting, inputs, **{name: tuple(items) for name, items in found.items()})


def _own(mechanism: Mechanism, joint: JointInfo, found: dict[str, list[Any]]) -> None:
    """Springs, dampers and dry friction of the model's joints."""
    own = mechanism.tree.joints[joint.body]
    plain = type(joint.kind).coordinate_rate is Joint.coordinate_rate
    stretch = own.stretch(mechanism.q) if plain else None
    for n, k in enumerate(range(joint.v.start, joint.v.stop)):
        if own.stiffness[n] != 0:
            if stretch is None:
                raise ModelError(
                    f"joint {joint.name!r}: the spring of a {type(joint.kind).__name__} joint is not in the equations "
                    "yet; use featherweight.equations.Spring between points"
                )
            found["joint_springs"].append(OfJoint(k, own.stiffness[n], stretch[n]))
        if own.damping[n] != 0:
            found["joint_dampers"].append(OfJoint(k, own.damping[n]))
        if own.friction[n] != 0:
            found["frictions"].append(OfJoint(k, own.friction[n]))


def _motors(mechanism: Mechanism, motors: Any) -> tuple[tuple[Expr, ...], tuple[Symbol, ...]]:
    """Motor force at each degree of freedom, and the input symbols among them."""
    acting = [S.Zero] * mechanism.model.nv
    if motors == "all":
        motors = [joint.name for joint in mechanism.model.independent_joints]
    if isinstance(motors, str):
        raise ModelError(f'motors: expected "all", names of joints, or a force by joint, got {motors!r}')
    for name in motors:
        joint = mechanism.model.joint(name)
        dofs = range(joint.v.start, joint.v.stop)
        if isinstance(motors, Mapping):
            given = motors[name]
            values = list(given) if isinstance(given, (list, tuple)) else [given]
            if len(values) != len(dofs):
                raise ModelError(f"motors: joint {name!r}: expected {len(dofs)} forces, got {given!r}")
        else:
            values = [Symbol(_tau(mechanism, k), real=True) for k in dofs]
        for k, value in zip(dofs, values, strict=True):
            acting[k] = acting[k] + _number(f"motors: joint {name!r}", value)
    known = {*mechanism.q, *mechanism.v, *mechanism.values}
    free = sorted({s for f in acting for s in f.free_symbols} - known, key=lambda s: (len(s.name), s.name))
    return tuple(acting), tuple(s for s in free if s.name not in mechanism.model.symbols)


def _tau(mechanism: Mechanism, k: int) -> str:
    """tau1, or tau_x for a coordinate with a name."""
    named = mechanism.q[0].name != "q1" and mechanism.holonomic
    name = f"tau_{mechanism.q[k].name}" if named else f"tau{k + 1}"
    if name in mechanism.model.symbols:
        raise ModelError(
            f"the symbol {name} is a parameter of the model and the force of a motor; rename the parameter"
        )
    return name


def _number(name: str, value: Any) -> Expr:
    return exact(numbers_or_symbols(name, value, ()).item())


def _vector(mechanism: Mechanism, name: str, value: Any, in_: str, body: int) -> Vector:
    """Three numbers or symbols, turned into world axes."""
    vector = Vector(*map(exact, numbers_or_symbols(name, value, (3,)).tolist()))
    if in_ not in ("world", "body"):
        raise ValueError(f'in_: expected "world" or "body", got {in_!r}')
    return mechanism.rotation[body] @ vector if in_ == "body" else vector


def _point(mechanism: Mechanism, what: str, place: Place) -> Point:
    name, xyz = place if isinstance(place, tuple) and len(place) == 2 else (place, (0, 0, 0))
    frame = mechanism.model.frame(name)
    X = frame.X.lift(exact)
    offset = Vector(*map(exact, numbers_or_symbols(f"{what}: point", xyz, (3,)).tolist()))
    return Point(frame.body, X.r + X.E.transposed_times(offset))


def _line(mechanism: Mechanism, element: Spring | Damper, constant: Expr, length: Expr) -> PointPair:
    a, b = (_point(mechanism, type(element).__name__, end) for end in (element.a, element.b))
    if a == b:
        raise ModelError(f"{element}: expected two different points")
    return PointPair(a, b, constant, length)


def _coordinate(mechanism: Mechanism, name: str) -> tuple[int, Symbol]:
    """Degree of freedom and coordinate of a joint that has one."""
    joint = mechanism.model.joint(name)
    if joint.kind.nq != 1 or not joint.independent:
        raise ModelError(f"joint {name!r}: expected a joint with one coordinate of its own, got {joint.kind!r}")
    return joint.v.start, mechanism.q[joint.q.start]


def distance(mechanism: Mechanism, line: PointPair) -> tuple[Vector, Expr]:
    """The vector from b to a in world axes, and its length."""
    along = mechanism.at(*line.a) - mechanism.at(*line.b)
    along = along.lift(mechanism.ring.short)
    square = mechanism.ring.short(along.dot(along))
    return along, sympy.sqrt(square)
