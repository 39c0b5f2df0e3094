"""Build a model body by body, checked as it grows."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from featherweight.errors import ModelError
from featherweight.joints import Fixed, Joint
from featherweight.model.inertia import Inertia, impossible
from featherweight.model.model import Model
from featherweight.model.parameters import declared
from featherweight.model.pieces import ContactPoint, Frame, Geometry, JointInfo, Part
from featherweight.model.placement import Placement, numbers_or_symbols, plain, real_numbers
from featherweight.model.properties import Limits, Rotor, per_coordinate
from featherweight.model.symbols import is_symbolic
from featherweight.spatial import RigidInertia, Transform, Vector

POLICIES = ("strict", "warn", "accept")  # for inertias that no body can have: raise, warn, accept silently
SHAPES = {"box": 3, "sphere": 1, "cylinder": 2, "capsule": 2, "mesh": 3}  # numbers in a size


class Builder:
    """Collects bodies, frames and contact points; `build()` freezes them into a `Model`.

    Every parent is added before its children. Bodies on fixed joints are merged with their parent
    and stay as frames. `parameters` names constants ("trunk.mass", "knee.damping", "gravity") that every call
    may give.
    """

    def __init__(
        self,
        name: str = "robot",
        *,
        gravity: Sequence[float] = (0.0, 0.0, -9.81),
        policy: str = "strict",
        parameters: Sequence[str] = (),
    ) -> None:
        if policy not in POLICIES:
            raise ModelError(f"policy: expected one of {', '.join(POLICIES)}, got {policy!r}")
        if not isinstance(name, str):
            raise ModelError(f"name: expected text, got {name!r}")
        self._name = name
        self._gravity = Vector(*numbers_or_symbols("gravity", gravity, (3,)).tolist())
        self._policy = policy
        self._names = ["world"]
        self._parent = [-1]
        self._joints: list[JointInfo] = []
        self._X_tree = [Transform.identity()]
        self._inertias = [RigidInertia.zero()]
        self._frames = {"world": Frame("world", 0, Transform.identity())}
        self._points: list[ContactPoint] = []
        self._parts: list[Part] = []
        self._geometry: list[Geometry] = []
        self._parameters = parameters

    def add_body(
        self,
        name: str,
        *,
        parent: str = "world",
        joint: Joint | None = None,
        placement: Placement | None = None,
        inertia: Inertia | None = None,
        joint_name: str | None = None,
        limits: Limits | None = None,
        armature: float | Sequence[float] = 0.0,
        rotor: Rotor | None = None,
        damping: float | Sequence[float] = 0.0,
        friction: float | Sequence[float] = 0.0,
        stiffness: float | Sequence[float] = 0.0,
        rest: float | Sequence[float] | None = None,
    ) -> Builder:
        """Hang a body on `parent` (a body or frame); `placement` is the joint's pose there.

        Without a joint the body is fixed. The joint's name is the body's with `_joint` if not given. The
        joint may have limits, a motor (`armature`: added inertia [kg m² or kg], or a real spinning `rotor`),
        `damping` [N m s or N s/m], dry `friction` [N m or N] and a spring of `stiffness` [N m or N/m] that
        rests at the configuration `rest`; one number serves all degrees of freedom of a joint.
        """
        if joint is None:
            joint = Fixed()
        if not isinstance(joint, Joint) or not hasattr(joint, "nq"):
            raise ModelError(f"body {name!r}: joint: expected one of featherweight.joints, got {joint!r}")
        base = self._frame(f"body {name!r}: parent", parent)
        X = self._placed(f"body {name!r}", placement) @ base.X
        if inertia is not None and not isinstance(inertia, Inertia):
            raise ModelError(f"body {name!r}: inertia: expected featherweight.Inertia, got {type(inertia).__name__}")
        rigid = (inertia or Inertia.zero()).rigid
        self._new_name("body", name)
        if inertia is not None and (is_symbolic(inertia.mass) or inertia.mass > 0):
            self._check(name, inertia)
        joint_name = joint_name if joint_name is not None else f"{name}_joint"
        if not isinstance(joint_name, str) or not joint_name:
            raise ModelError(f"body {name!r}: joint_name: expected a name, got {joint_name!r}")
        if joint_name == name or joint_name in self._frames:
            raise ModelError(f"body {name!r}: the joint's name {joint_name!r} is used already; give joint_name=")

        if joint.nq == joint.nv == 0:
            self._inertias[base.body] += rigid.seen_through(X)
            self._parts.append(Part(name, base.body, X, inertia or Inertia.zero()))
            self._add_frames((name, joint_name), base.body, X)
            return self
        info = self._joint(
            f"body {name!r}", joint, joint_name, base, limits, rotor, armature, damping, friction, stiffness, rest
        )
        self._joints.append(info)
        self._names.append(name)
        self._parent.append(base.body)
        self._X_tree.append(X)
        self._inertias.append(rigid)
        self._parts.append(Part(name, info.body, Transform.identity(), inertia or Inertia.zero()))
        self._add_frames((name, joint_name), info.body, Transform.identity())
        return self

    def _joint(
        self,
        what: str,
        kind: Joint,
        name: str,
        base: Frame,
        limits: Any,
        rotor: Any,
        armature: Any,
        damping: Any,
        friction: Any,
        stiffness: Any,
        rest: Any,
    ) -> JointInfo:
        """The joint with its properties, checked. Adds its rotor to the parent."""
        if not isinstance(limits, (Limits, type(None))):
            raise ModelError(f"{what}: limits: expected featherweight.Limits, got {type(limits).__name__}")
        if not isinstance(rotor, (Rotor, type(None))):
            raise ModelError(f"{what}: rotor: expected featherweight.Rotor, got {type(rotor).__name__}")
        limits = (limits or Limits()).of(what, kind)
        given = {"armature": armature, "damping": damping, "friction": friction, "stiffness": stiffness}
        numbers = {n: per_coordinate(f"{what}: {n}", value, kind.nv) for n, value in given.items()}
        rest = tuple(kind.neutral().tolist()) if rest is None else rest
        rests = per_coordinate(f"{what}: rest", rest, kind.nq, signed=True)
        if kind.orientation is not None and is_symbolic(rests):
            raise ModelError(f"{what}: rest: expected numbers for a quaternion, got {rest!r}")
        reason = kind.explain(np.array(rests))
        if reason is not None:
            raise ModelError(f"{what}: rest: {reason}")
        rotor_inertia, spin = 0.0, None
        if rotor is not None:
            J, axis = rotor.spin(what, kind)
            X = (rotor.placement or Placement()).transform @ base.X
            self._inertias[base.body] += rotor.inertia.rigid.seen_through(X)
            self._parts.append(Part(f"{name}.rotor", base.body, X, rotor.inertia))
            rotor_inertia = rotor.gear**2 * J
            if base.body > 0:  # the world does not turn
                spin = X.E.transposed_times(axis) * (rotor.gear * J)
        nowhere = slice(0, 0)  # known when all joints are
        return JointInfo(
            name, kind, len(self._names), nowhere, nowhere, limits, **numbers, rest=rests,
            rotor=rotor, rotor_inertia=rotor_inertia, spin=spin,
        )  # fmt: skip

    def _in_place(self) -> tuple[JointInfo, ...]:
        """The joints with their slices of q and v: consecutive ones, and the leader's for mimic joints."""
        q = v = 0
        placed: dict[str, JointInfo] = {}
        for joint in self._joints:
            if joint.independent:
                slices = slice(q, q + joint.kind.nq), slice(v, v + joint.kind.nv)
                placed[joint.name] = replace(joint, q=slices[0], v=slices[1])
                q, v = slices[0].stop, slices[1].stop
        joints = {j.name: j for j in self._joints}
        for joint in self._joints:
            chain: list[JointInfo] = []  # mimic joints up to a leader whose slices are known
            seen: set[str] = set()
            while joint.name not in placed:
                chain.append(joint)
                seen.add(joint.name)
                joint = self._leader(joint, joints, seen)
            for follower in reversed(chain):
                placed[follower.name] = self._following(follower, placed)
        for joint in [j for j in placed.values() if not j.independent]:
            leader = placed[str(joint.kind.leader)]
            placed[leader.name] = replace(leader, kind=leader.kind.followed())
        return tuple(placed[joint.name] for joint in self._joints)

    def _leader(self, joint: JointInfo, joints: dict[str, JointInfo], seen: set[str]) -> JointInfo:
        """The leader of a mimic joint. ModelError if there is none, or if joints follow each other in a circle."""
        what, name = f"body {self._names[joint.body]!r}", str(joint.kind.leader)
        if name in seen:
            raise ModelError(f"{what}: mimic joints follow each other in a circle: {' -> '.join(sorted(seen)[:5])}")
        if name not in joints:
            near = difflib.get_close_matches(name, joints, n=1)
            hint = f"did you mean {near[0]!r}?" if near else "fixed joints do not move"
            raise ModelError(f"{what}: there is no moving joint {name!r} to mimic; {hint}")
        return joints[name]

    def _following(self, joint: JointInfo, placed: dict[str, JointInfo]) -> JointInfo:
        """A mimic joint behind its root leader, its properties referred to that leader's coordinate."""
        what = f"body {self._names[joint.body]!r}"
        leader = placed[str(joint.kind.leader)]
        kind = joint.kind.following(leader.kind)
        if (leader.kind.nq, leader.kind.nv) != (1, 1):
            raise ModelError(f"{what}: joint {leader.name!r} has more than one coordinate and cannot be mimicked")
        r = abs(kind.ratio)
        scaled: dict[str, float] = {
            "armature": joint.armature[0] * r * r,
            "damping": joint.damping[0] * r * r,
            "friction": joint.friction[0] * r,
            "stiffness": joint.stiffness[0] * r * r,
            "rest": (joint.rest[0] - kind.offset) / kind.ratio if joint.stiffness[0] * r else 0.0,
        }
        rotor_inertia = joint.rotor_inertia * r * r
        numbers = [x for x in (*scaled.values(), rotor_inertia, kind.ratio, kind.offset) if not is_symbolic(x)]
        if not np.isfinite(numbers).all():
            raise ModelError(f"{what}: joint {joint.name!r} follows {leader.name!r} too fast: numbers overflow")
        return replace(
            joint,
            kind=kind,
            q=leader.q,
            v=leader.v,
            armature=(scaled["armature"],),
            damping=(scaled["damping"],),
            friction=(scaled["friction"],),
            stiffness=(scaled["stiffness"],),
            rest=(scaled["rest"],),
            rotor_inertia=rotor_inertia,
            spin=None if joint.spin is None else joint.spin * kind.ratio,
        )

    def add_frame(self, name: str, *, parent: str, placement: Placement | None = None) -> Builder:
        """Name a frame that is fixed to a body or to another frame."""
        base = self._frame(f"frame {name!r}: parent", parent)
        X = self._placed(f"frame {name!r}", placement) @ base.X
        self._new_name("frame", name)
        self._add_frames((name,), base.body, X)
        return self

    def add_contact_point(
        self, name: str, *, parent: str, position: Sequence[float] = (0.0, 0.0, 0.0), radius: float = 0.0
    ) -> Builder:
        """A point of a body that may touch the ground; with a radius, the centre of a ball."""
        base = self._frame(f"contact point {name!r}: parent", parent)
        size = float(real_numbers(f"contact point {name!r}: radius", radius, ()))
        if size < 0:
            raise ModelError(f"contact point {name!r}: radius: expected 0 or more, got {size:g}")
        real_numbers(f"contact point {name!r}: position", position, (3,))
        X = Placement(position).transform @ base.X
        self._new_name("contact point", name)
        self._add_frames((name,), base.body, X)
        self._points.append(ContactPoint(name, base.body, tuple(X.r), size))
        return self

    def add_geometry(
        self,
        parent: str,
        role: str,
        kind: str,
        size: Sequence[float],
        placement: Placement | None = None,
        mesh: str = "",
        color: Sequence[float] = (),
        path: str | None = None,
    ) -> Builder:
        """A shape of a body: `role` "visual" or "collision"; `kind` box, sphere, cylinder, capsule or mesh; `size` [m]
        its edges, its radius, its radius and length along z, or a mesh's scale, whose file is at `path`."""
        known = isinstance(parent, str) and parent in self._frames and isinstance(placement, (Placement, type(None)))
        usual = known and role in ("visual", "collision") and plain(size) and SHAPES.get(kind) == len(size)
        what = "" if usual else f"geometry of {parent!r}"  # names may be long, and shapes many
        base = self._frame(what, parent)
        if role not in ("visual", "collision") or kind not in SHAPES:
            raise ModelError(f"{what}: expected a visual or collision {', '.join(SHAPES)}, got {role!r} {kind!r}")
        numbers = tuple(size) if usual else tuple(real_numbers(f"{what}: size", size, (SHAPES[kind],)).tolist())
        X = self._placed(what, placement) @ base.X
        colors = tuple(map(float, color))
        self._geometry.append(Geometry(parent, base.body, role, kind, numbers, X, mesh, colors, path))
        return self

    def build(self) -> Model:
        """The frozen model, after the last checks."""
        for name, inertia in zip(self._names[1:], self._inertias[1:], strict=True):
            if not is_symbolic(inertia.m) and not inertia.m > 0:
                self._check(name, inertia)
        model = Model(
            name=self._name,
            names=tuple(self._names),
            parent=tuple(self._parent),
            joints=self._in_place(),
            X_tree=tuple(self._X_tree),
            inertias=tuple(self._inertias),
            gravity_vector=self._gravity,
            frames=self._frames,
            contact_points=tuple(self._points),
            parts=tuple(self._parts),
            geometry=tuple(self._geometry),
        )
        return replace(model, parameters=declared(model, self._parameters)) if self._parameters else model

    def _check(self, name: str, inertia: Inertia | RigidInertia) -> None:
        """Refuse an inertia that no body can have, or warn, by the policy."""
        reason = None if self._policy == "accept" else impossible(inertia)
        if reason is not None:
            text = f"body {name!r}: {reason}"
            if self._policy == "strict":
                raise ModelError(f'{text}; correct it, or pass policy="warn" to Builder to take it as it is')
            if self._policy == "warn":
                warnings.warn(text, stacklevel=3)

    def _frame(self, what: str, name: Any) -> Frame:
        frame = self._frames.get(name) if isinstance(name, str) else None
        if frame is None:
            near = difflib.get_close_matches(str(name), self._frames, n=1)
            hint = f"did you mean {near[0]!r}?" if near else "add the parent first"
            raise ModelError(f"{what}: there is no body or frame {name!r}; {hint}")
        return frame

    def _placed(self, what: str, placement: Placement | None) -> Transform:
        if placement is None:
            return Transform.identity()
        if not isinstance(placement, Placement):
            raise ModelError(f"{what}: placement: expected featherweight.Placement, got {type(placement).__name__}")
        return placement.transform

    def _new_name(self, what: str, name: Any) -> None:
        if not isinstance(name, str) or not name:
            raise ModelError(f"{what}: expected a name, got {name!r}")
        if name in self._frames:
            raise ModelError(f"{what} {name!r}: the name is used already; names must be unique")

    def _add_frames(self, names: tuple[str, ...], body: int, X: Transform) -> None:
        self._frames.update({name: Frame(name, body, X) for name in names})
