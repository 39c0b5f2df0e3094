"""The frozen model of a robot: its tree, its numbers, its names."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from importlib import import_module
from types import MappingProxyType
from typing import Any

import numpy as np

from featherweight.errors import ModelError, unknown_name
from featherweight.identity import Identity, identity
from featherweight.joints import Fixed
from featherweight.model import editing
from featherweight.model.cache import ModelCache, once_per_model
from featherweight.model.collision_pairs import collision_pairs, without_collisions
from featherweight.model.collision_shapes import CollisionShape, collision_shapes, ground_shapes, with_hulls
from featherweight.model.description import Description
from featherweight.model.layouts import PinocchioMaps, pinocchio_maps
from featherweight.model.limits import limit_arrays, random_ranges
from featherweight.model.parameters import OF_JOINTS, Parameter, inertia_of, of_joint
from featherweight.model.pieces import BodyInfo, ContactPoint, Frame, Geometry, JointInfo, Part
from featherweight.model.regularity import impossible_bodies
from featherweight.model.symbols import is_symbolic, symbols_of, with_values
from featherweight.model.tree import Tree
from featherweight.model.tree_joint import TreeJoint
from featherweight.spatial import Force, RigidInertia, Transform, Vector

FOR_PEOPLE = ("notes", "description")  # fields that say where the others come from


@dataclass(frozen=True, eq=False)
class Model:
    """A kinematic tree. Body 0 is the world; `parent[0] = -1`, `parent[i] < i`.

    Models do not change. What has been computed from one is in its `cache`, which is dropped when the model is copied
    or pickled.
    """

    name: str
    names: tuple[str, ...]  # bodies, the world first
    parent: tuple[int, ...]
    joints: tuple[JointInfo, ...]  # of bodies 1 …
    X_tree: tuple[Transform, ...]  # parent's frame to the joint's mounting frame, by body
    inertias: tuple[RigidInertia, ...]
    gravity_vector: Vector
    frames: Mapping[str, Frame]  # by the names that `frame` takes
    contact_points: tuple[ContactPoint, ...]
    parts: tuple[Part, ...] = ()
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    geometry: tuple[Geometry, ...] = ()
    excluded: tuple[tuple[str, str], ...] = ()  # names of links or shapes that do not touch each other
    notes: tuple[str, ...] = ()  # what a file's reader changed or did not use
    description: Description | None = field(default=None, repr=False)  # as a builder or a reader of files wrote it
    nq: int = field(init=False)  #: numbers in a configuration
    nv: int = field(init=False)  #: degrees of freedom
    independent_joints: tuple[JointInfo, ...] = field(init=False)  #: all but mimic joints, in the order of q
    cache: ModelCache = field(init=False)  #: what has been computed from the model

    def __post_init__(self) -> None:
        self._set(
            frames=MappingProxyType(dict(self.frames)),
            parameters=MappingProxyType(dict(self.parameters)),
            nq=max((j.q.stop for j in self.joints), default=0),
            nv=max((j.v.stop for j in self.joints), default=0),
            independent_joints=tuple(j for j in self.joints if j.independent),
            cache=ModelCache(),
        )

    def _set(self, **values: Any) -> None:
        for name, value in values.items():  # CPython finds attributes 20 ns later once __dict__ has been touched
            object.__setattr__(self, name, value)

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

    @property
    def lower(self) -> np.ndarray:
        """Least values of q [rad or m], shape (nq,), with the limits of mimic joints; -inf where there is none, and in
        quaternions. `np.clip(q, model.lower, model.upper)` is within limits. Read-only, like the next three."""
        return limit_arrays(self).lower

    @property
    def upper(self) -> np.ndarray:
        """Greatest values of q [rad or m], shape (nq,); inf where there is none."""
        return limit_arrays(self).upper

    @property
    def velocity_limit(self) -> np.ndarray:
        """Greatest values of `|v|` [rad/s or m/s], shape (nv,), with those of mimic joints; inf where there is none."""
        return limit_arrays(self).velocity

    @property
    def effort_limit(self) -> np.ndarray:
        """Greatest values of `|tau|` [N m or N], shape (nv,); inf where there is none."""
        return limit_arrays(self).effort

    @property
    def frame_names(self) -> tuple[str, ...]:
        """What `frame=` takes: names of links, frames, joints and contact points, in order."""
        return tuple(self.frames)

    def joint(self, name: str) -> JointInfo:
        """The joint with this name; `.q` and `.v` are its slices of the state."""
        for joint in self.joints:
            if joint.name == name:
                return joint
        old = self._with_old_name(name)
        if old is not None and old.name in self.joint_names:
            return self.joint(old.name)
        raise unknown_name("joint", name, self.joint_names)

    def body(self, name: str) -> BodyInfo:
        """The body with this name."""
        if name not in self.names:
            link = self.frames.get(name) if isinstance(name, str) else None
            if link is not None and link.kind == "link":
                raise KeyError(f"no body named {name!r}: that link is part of body {self.names[link.body]!r}")
            raise unknown_name("body", name, self.names)
        i = self.names.index(name)
        return BodyInfo(name, i, self.parent[i], self.inertias[i])

    def frame(self, name: str) -> Frame:
        """The frame of a link, joint or contact point.

        Where a name is used twice, a link or frame comes first, then a joint, then a contact point. The others are
        "joint:NAME" and "point:NAME". The frame of a joint is that of the link it moves.
        """
        try:
            return self.frames[name]
        except (KeyError, TypeError):
            old = self._with_old_name(name)
            if old is not None:
                return old
            raise unknown_name("frame", name, self.frames) from None

    def contact_frame(self, point: str) -> str:
        """The name that `frame=` takes for a contact point: its own, or "point:NAME" if that is used twice."""
        hidden = f"point:{point}"
        return hidden if hidden in self.frames else point

    def _with_old_name(self, name: object) -> Frame | None:
        """The frame of a joint that is called like a link: earlier versions put `_joint` after its name."""
        own = name.rstrip("_").removesuffix("_joint") if isinstance(name, str) else ""
        frame = self.frames.get(f"joint:{own}")
        if frame is None or own == name:
            return None
        text = f"joint {name!r} is called {own!r}, as in its file; as a frame, 'joint:{own}'"
        warnings.warn(text, DeprecationWarning, stacklevel=3)
        return frame

    @property
    def shapes(self) -> tuple[CollisionShape, ...]:
        """What can touch: its collision shapes, meshes as convex hulls."""
        return collision_shapes(self)

    @property
    def ground_shapes(self) -> tuple[CollisionShape, ...]:
        """Those of `shapes` that touch the ground as shapes: no contact points stand for them."""
        return ground_shapes(self)

    @property
    def added(self) -> bool:
        """Whether there is something to touch from models that `Builder.add_model` added."""
        return any(g.group for g in self.geometry)

    @property
    def impossible(self) -> Mapping[str, str]:
        """Bodies that cannot exist, by name, and why: such as a moving body without mass. Kinematics, inverse dynamics
        and the mass matrix work with them; what divides by the mass matrix refuses where it is singular."""
        return impossible_bodies(self)

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

    def neutral(self) -> np.ndarray:
        """The configuration with all joints at zero, shape (nq,)."""
        return np.concatenate([np.zeros(0), *(j.kind.neutral() for j in self.independent_joints)])

    def random(self, rng: np.random.Generator | int | None = None) -> np.ndarray:
        """A random configuration, shape (nq,), within the joints' limits where there are any."""
        rng = np.random.default_rng(rng)
        values = [np.zeros(0)]
        for joint, (bounded, lower, upper) in zip(self.independent_joints, random_ranges(self), strict=True):
            q = joint.kind.random(rng)
            if len(lower):
                q[bounded] = rng.uniform(lower, upper)
            values.append(q)
        return np.concatenate(values)

    @property
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

    # new models from this one
    locked = editing.locked
    renamed = editing.renamed
    with_payload = editing.with_payload
    with_inertias = editing.with_inertias
    with_scaled_mass = editing.with_scaled_mass
    with_hulls = with_hulls
    without_collisions = without_collisions

    collision_pairs = collision_pairs

    def pinocchio_maps(self, names: Sequence[str]) -> PinocchioMaps:
        """Index arrays from our q and v to those of Pinocchio, whose `model.names` are given."""
        return pinocchio_maps(self, names)

    @property
    def over_floats(self) -> Tree:
        """The tree with the model's own numbers, for interpretation: nothing is marked."""
        return _over_floats(self)

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

    @property
    def identity(self) -> Identity:
        """What the model is, but for texts that are meant for people: nothing else may shape a kernel."""
        return _identity(self)

    @property
    def fingerprint(self) -> str | None:
        """A digest of everything in the model: equal for equal models, in every process. None with joints of other
        packages."""
        text = self.identity.everywhere
        return text and hashlib.sha256(text.encode()).hexdigest()

    def __getstate__(self) -> dict[str, Any]:
        state = {f.name: getattr(self, f.name) for f in fields(self) if f.init}
        return {**state, "frames": dict(self.frames), "parameters": dict(self.parameters)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._set(**state)
        self.__post_init__()

    def __repr__(self) -> str:
        return f"<Model {self.name!r}: {self.nb} bodies, nq {self.nq}, nv {self.nv}>"

    def _repr_html_(self) -> str:
        """For notebooks: a still, the tree, the joints. Looked up when it is wanted: it stands far above."""
        return str(import_module("featherweight.notebooks").model_html(self))


@once_per_model
def _identity(model: Model) -> Identity:
    return identity(*(getattr(model, f.name) for f in fields(model) if f.init and f.name not in FOR_PEOPLE))


@once_per_model
def _over_floats(model: Model) -> Tree:
    return model.over(float, lambda: None)
