"""The frozen model of a robot: its tree, its numbers, its names."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from featherweight.joints import Fixed, Joint
from featherweight.model.tree import Tree, TreeJoint
from featherweight.spatial import RigidInertia, Transform, Vector


@dataclass(frozen=True)
class JointInfo:
    """A joint of a model: its kind, the body it moves, and its slices of q and v."""

    name: str
    kind: Joint
    body: int
    q: slice
    v: slice


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
    _kernels: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)
    _entries: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "frames", MappingProxyType(dict(self.frames)))

    @property
    def nq(self) -> int:
        """Numbers in a configuration."""
        return self.joints[-1].q.stop if self.joints else 0

    @property
    def nv(self) -> int:
        """Degrees of freedom."""
        return self.joints[-1].v.stop if self.joints else 0

    @property
    def nb(self) -> int:
        """Moving bodies."""
        return len(self.parent) - 1

    @property
    def gravity(self) -> np.ndarray:
        """Acceleration of gravity [m/s²], shape (3,)."""
        return np.array(self.gravity_vector, dtype=float)

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

    def neutral(self) -> np.ndarray:
        """The configuration with all joints at zero, shape (nq,)."""
        return np.concatenate([np.zeros(0), *(j.kind.neutral() for j in self.joints)])

    def random(self, rng: np.random.Generator | int | None = None) -> np.ndarray:
        """A random configuration, shape (nq,)."""
        rng = np.random.default_rng(rng)
        return np.concatenate([np.zeros(0), *(j.kind.random(rng) for j in self.joints)])

    def over(self, lift: Callable[[float], Any], mark: Callable[[], None]) -> Tree:
        """The tree for an algorithm: constants lifted to another scalar, regions marked."""
        world = TreeJoint(Fixed(), slice(0, 0), slice(0, 0))
        return Tree(
            parent=self.parent,
            joints=(world, *(TreeJoint(j.kind.lift(lift), j.q, j.v) for j in self.joints)),
            X_tree=tuple(X.lift(lift) for X in self.X_tree),
            I=tuple(I.lift(lift) for I in self.inertias),
            gravity=self.gravity_vector.lift(lift),
            mark=mark,
        )

    @functools.cached_property
    def fingerprint(self) -> str | None:
        """All that dynamics depends on, as text: equal text, equal code. None with joints of other packages."""
        if any(not type(j.kind).__module__.startswith("featherweight.") for j in self.joints):
            return None
        joints = [(repr(j.kind), j.q.start, j.v.start) for j in self.joints]
        return repr((self.parent, joints, self.X_tree, self.inertias, self.gravity_vector))

    def __getstate__(self) -> dict[str, Any]:
        state = {k: v for k, v in self.__dict__.items() if k not in ("_kernels", "_entries")}
        return {**state, "frames": dict(self.frames)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, frames=MappingProxyType(state["frames"]), _kernels={}, _entries={})

    def __repr__(self) -> str:
        return f"<Model {self.name!r}: {self.nb} bodies, nq {self.nq}, nv {self.nv}>"
