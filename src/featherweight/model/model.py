"""The frozen model of a robot: its tree, its numbers, its names."""

from __future__ import annotations

import difflib
import functools
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any

import numpy as np

from featherweight.errors import ModelError
from featherweight.identity import Identity, identity
from featherweight.joints import Fixed, Joint
from featherweight.model.inertia import Inertia
from featherweight.model.layouts import PinocchioMaps, pinocchio_maps
from featherweight.model.parameters import OF_JOINTS, Parameter, inertia_of, of_joint
from featherweight.model.properties import Limits, Rotor
from featherweight.model.symbols import is_symbolic, symbols_of, with_values
from featherweight.model.tree import Tree, TreeJoint
from featherweight.spatial import Force, RigidInertia, Transform, Vector

# of a model: made again where they are needed
NOT_COPIED = ("_kernels", "_entries", "_ranges", "over_floats", "independent_joints", "identity")
FOR_PEOPLE = ("notes", "description")  # fields that say where the others come from


@dataclass(frozen=True)
class JointInfo:
    """A joint of a model: its kind, the body it moves, its slices of q and v, and its properties.

    A mimic joint has the slices of its leader, and properties as its leader's coordinate feels them.
    """

    name: str
    kind: Joint
    body: int
    q: slice
    v: slice
    limits: Limits
    armature: tuple[float, ...]  # added inertia of each degree of freedom, without the rotor's [kg m² or kg]
    damping: tuple[float, ...]  # [N m s or N s/m]
    friction: tuple[float, ...]  # dry friction [N m or N]
    stiffness: tuple[float, ...]  # of a spring [N m or N/m]
    rest: tuple[float, ...]  # configuration where the spring rests
    rotor: Rotor | None = None
    rotor_inertia: float = 0.0  # gear² J
    spin: Vector | None = None  # gear J times the rotor's axis, in the parent's axes

    @property
    def independent(self) -> bool:
        """Has coordinates of its own."""
        return self.kind.leader is None


@dataclass(frozen=True)
class Part:
    """A link (or rotor) that is part of a body; X goes from the body's coordinates to the link's."""

    link: str
    body: int
    X: Transform
    inertia: Inertia


@dataclass(frozen=True)
class BodyInfo:
    """A moving body (or the world, index 0)."""

    name: str
    index: int
    parent: int
    inertia: RigidInertia


@dataclass(frozen=True)
class Frame:
    """A named frame fixed to a body; X goes from the body's coordinates to the frame's."""

    name: str
    body: int
    X: Transform


@dataclass(frozen=True)
class ContactPoint:
    """A point fixed to a body that may touch the ground: position [m] in the body, radius [m]."""

    name: str
    body: int
    position: tuple[float, float, float]
    radius: float


@dataclass(frozen=True)
class Geometry:
    """A shape fixed to a body: how it looks (`role` "visual") or what it touches with ("collision").

    `kind` is box, sphere, cylinder, capsule or mesh; `size` [m] its edges, radius, or radius and length along z, or
    the scale of a mesh, which is kept by reference: `mesh` is its name in a file, `path` the file that was found for
    it when the robot was loaded. X goes from the body's coordinates to the shape's.
    """

    link: str
    body: int
    role: str
    kind: str
    size: tuple[float, ...]
    X: Transform
    mesh: str = ""
    color: tuple[float, ...] = ()
    path: str | None = field(default=None, compare=False)


def _find(kind: str, name: object, known: Iterable[str]) -> KeyError:
    names = list(known)
    near = difflib.get_close_matches(str(name), names, n=3)
    if not names:
        hint = "there are none"
    elif near:
        hint = f"did you mean {' or '.join(map(repr, near))}?"
    else:
        hint = f"there are {', '.join(names[:8])}{' …' if len(names) > 8 else ''}"
    return KeyError(f"no {kind} named {name!r}; {hint}")


@dataclass(frozen=True, eq=False)
class Model:
    """A kinematic tree. Body 0 is the world; `parent[0] = -1`, `parent[i] < i`.

    Models do not change. Compiled kernels are kept with the model and are dropped when it is
    copied or pickled.
    """

    name: str
    names: tuple[str, ...]  # bodies, the world first
    parent: tuple[int, ...]
    joints: tuple[JointInfo, ...]  # of bodies 1 …
    X_tree: tuple[Transform, ...]  # parent's frame to the joint's mounting frame, by body
    inertias: tuple[RigidInertia, ...]
    gravity_vector: Vector
    frames: Mapping[str, Frame]
    contact_points: tuple[ContactPoint, ...]
    parts: tuple[Part, ...] = ()
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    geometry: tuple[Geometry, ...] = ()
    notes: tuple[str, ...] = ()  # what a file's reader changed or did not use
    description: Any = field(default=None, repr=False)  # the file's own numbers
    _kernels: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)
    _entries: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "frames", MappingProxyType(dict(self.frames)))
        object.__setattr__(self, "parameters", MappingProxyType(dict(self.parameters)))

    @functools.cached_property
    def nq(self) -> int:
        """Numbers in a configuration."""
        return max((j.q.stop for j in self.joints), default=0)

    @functools.cached_property
    def nv(self) -> int:
        """Degrees of freedom."""
        return max((j.v.stop for j in self.joints), default=0)

    @property
    def nb(self) -> int:
        """Moving bodies."""
        return len(self.parent) - 1

    @property
    def gravity(self) -> np.ndarray:
        """Acceleration of gravity [m/s²], shape (3,); of objects if it is symbolic."""
        return np.array(self.gravity_vector, dtype=object if is_symbolic(self.gravity_vector) else float)

    @property
    def mass(self) -> float:
        """Of all moving bodies [kg]."""
        return sum(float(inertia.m) for inertia in self.inertias[1:])

    @property
    def weight(self) -> float:
        """Mass times gravity [N]."""
        return self.mass * float(np.linalg.norm(self.gravity))

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints that move, in order."""
        return tuple(j.name for j in self.joints)

    def joint(self, name: str) -> JointInfo:
        """The joint with this name; `.q` and `.v` are its slices of the state."""
        for joint in self.joints:
            if joint.name == name:
                return joint
        raise _find("joint", name, self.joint_names)

    def body(self, name: str) -> BodyInfo:
        """The body with this name."""
        if name not in self.names:
            raise _find("body", name, self.names)
        i = self.names.index(name)
        return BodyInfo(name, i, self.parent[i], self.inertias[i])

    def frame(self, name: str) -> Frame:
        """The frame of a link, joint or contact point."""
        try:
            return self.frames[name]
        except (KeyError, TypeError):
            raise _find("frame", name, self.frames) from None

    def children(self, i: int) -> tuple[int, ...]:
        """μ(i): the bodies whose parent is i."""
        self._check_body(i)
        return tuple(j for j, p in enumerate(self.parent) if p == i)

    def subtree(self, i: int) -> tuple[int, ...]:
        """ν(i): body i and everything it carries."""
        self._check_body(i)
        inside = {i}
        for j in range(i + 1, len(self.parent)):
            if self.parent[j] in inside:
                inside.add(j)
        return tuple(sorted(inside))

    def _check_body(self, i: int) -> None:
        if not isinstance(i, (int, np.integer)) or isinstance(i, bool):
            raise TypeError(f"body: expected a body's number, got {i!r}; model.body(name).index gives it")
        if not 0 <= i <= self.nb:
            raise IndexError(f"body: expected a number from 0 (the world) to {self.nb}, got {i}")

    @functools.cached_property
    def independent_joints(self) -> tuple[JointInfo, ...]:
        """The joints with coordinates of their own, in the order of q: all but mimic joints."""
        return tuple(j for j in self.joints if j.independent)

    def neutral(self) -> np.ndarray:
        """The configuration with all joints at zero, shape (nq,)."""
        return np.concatenate([np.zeros(0), *(j.kind.neutral() for j in self.independent_joints)])

    def random(self, rng: np.random.Generator | int | None = None) -> np.ndarray:
        """A random configuration, shape (nq,), within the joints' limits where there are any."""
        rng = np.random.default_rng(rng)
        values = [np.zeros(0)]
        for joint, (bounded, lower, upper) in zip(self.independent_joints, self._ranges, strict=True):
            q = joint.kind.random(rng)
            if len(lower):
                q[bounded] = rng.uniform(lower, upper)
            values.append(q)
        return np.concatenate(values)

    @functools.cached_property
    def _ranges(self) -> tuple[tuple[np.ndarray, np.ndarray, np.ndarray], ...]:
        """Of each joint in `independent_joints`: what coordinates are limited, and what `random` draws between."""
        ranges = []
        for joint in self.independent_joints:
            lower, upper = np.array(joint.limits.lower), np.array(joint.limits.upper)
            bounded = np.isfinite(lower) | np.isfinite(upper)
            lower, upper = (
                np.where(np.isfinite(lower), lower, upper - 2),
                np.where(np.isfinite(upper), upper, lower + 2),
            )
            ranges.append((bounded, lower[bounded], upper[bounded]))
        return tuple(ranges)

    @functools.cached_property
    def symbols(self) -> tuple[str, ...]:
        """Names of the symbols among its numbers: such a model has equations of motion, but cannot be computed with."""
        return symbols_of(self)

    def need_numbers(self, what: str) -> None:
        """Refuse to compute with symbols."""
        if self.symbols:
            names = ", ".join(self.symbols)
            raise ModelError(
                f"{what}: model {self.name!r} has symbols in place of numbers: {names}; give them values with "
                "model.with_values({...}), or derive its equations with featherweight.equations"
            )

    def with_values(self, values: Mapping[Any, float]) -> Model:
        """The same model with a number for each of its symbols, by name."""
        return with_values(self, values)

    def pinocchio_maps(self, names: Sequence[str]) -> PinocchioMaps:
        """Index arrays from our q and v to those of Pinocchio, whose `model.names` are given."""
        return pinocchio_maps(self, names)

    @functools.cached_property
    def over_floats(self) -> Tree:
        """The tree with the model's own numbers, nothing marked: what is interpreted needs no other."""
        return self.over(float, lambda: None)

    def over(
        self, lift: Callable[[float], Any], mark: Callable[[], None], given: Mapping[str, list[Any]] | None = None
    ) -> Tree:
        """The tree for an algorithm: constants lifted to another scalar, or those `given` by name as parameters;
        regions marked."""
        given = given or {}
        world = TreeJoint(Fixed(), slice(0, 0), slice(0, 0))
        X_tree = [X.lift(lift) for X in self.X_tree]
        for joint in self.joints:
            position = given.get(f"{joint.name}.position")
            if position is not None:
                X_tree[joint.body] = Transform(X_tree[joint.body].E, Vector(*position))
        return Tree(
            parent=self.parent,
            joints=(world, *(self._joint_over(j, lift, given) for j in self.joints)),
            X_tree=tuple(X_tree),
            I=tuple(inertia_of(i, self, given, lift) for i in range(self.nb + 1)),
            gravity=Vector(*given["gravity"]) if "gravity" in given else self.gravity_vector.lift(lift),
            lift=lift,
            mark=mark,
            nv=self.nv,
            coupled=any(not j.independent for j in self.joints),
            ground_friction=given["ground.friction"][0] if "ground.friction" in given else None,
        )

    @staticmethod
    def _joint_over(joint: JointInfo, lift: Callable[[float], Any], given: Mapping[str, list[Any]]) -> TreeJoint:
        armature, damping, friction, stiffness, rest = (of_joint(joint, what, given, lift) for what in OF_JOINTS[1:])
        if joint.rotor is not None:
            armature = (armature[0] + lift(joint.rotor_inertia),)
        return TreeJoint(
            joint.kind.lift(lift),
            joint.q,
            joint.v,
            armature=armature,
            damping=damping,
            friction=friction,
            stiffness=stiffness,
            rest=rest,
            spin=None if joint.spin is None else Force(joint.spin.lift(lift), Vector.zero()),
        )

    @functools.cached_property
    def identity(self) -> Identity:
        """What the model is, but for texts that are meant for people: nothing else may shape a kernel."""
        return identity(*(getattr(self, f.name) for f in fields(self) if f.init and f.name not in FOR_PEOPLE))

    @property
    def fingerprint(self) -> str | None:
        """A digest of everything in the model: equal for equal models, in every process. None with joints of other
        packages."""
        text = self.identity.everywhere
        return text and hashlib.sha256(text.encode()).hexdigest()

    def __getstate__(self) -> dict[str, Any]:
        state = {k: v for k, v in self.__dict__.items() if k not in NOT_COPIED}
        return {**state, "frames": dict(self.frames), "parameters": dict(self.parameters)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        frames, parameters = MappingProxyType(state["frames"]), MappingProxyType(state["parameters"])
        self.__dict__.update(state, frames=frames, parameters=parameters, _kernels={}, _entries={})

    def __repr__(self) -> str:
        return f"<Model {self.name!r}: {self.nb} bodies, nq {self.nq}, nv {self.nv}>"
