"""Build a model body by body, checked as it grows."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Sequence
from typing import Any

from featherweight.errors import ModelError
from featherweight.joints import Fixed, Joint
from featherweight.model.inertia import Inertia, impossible
from featherweight.model.model import ContactPoint, Frame, JointInfo, Model
from featherweight.model.placement import Placement, real_numbers
from featherweight.spatial import RigidInertia, Transform, Vector

POLICIES = ("strict", "warn")


class Builder:
    """Collects bodies, frames and contact points; `build()` freezes them into a `Model`.

    Every parent is added before its children. Bodies on fixed joints are merged with their parent
    and stay as frames.
    """

    def __init__(
        self, name: str = "robot", *, gravity: Sequence[float] = (0.0, 0.0, -9.81), policy: str = "strict"
    ) -> None:
        if policy not in POLICIES:
            raise ModelError(f"policy: expected one of {', '.join(POLICIES)}, got {policy!r}")
        if not isinstance(name, str):
            raise ModelError(f"name: expected text, got {name!r}")
        self._name = name
        self._gravity = Vector(*real_numbers("gravity", gravity, (3,)).tolist())
        self._policy = policy
        self._names = ["world"]
        self._parent = [-1]
        self._joints: list[JointInfo] = []
        self._X_tree = [Transform.identity()]
        self._inertias = [RigidInertia.zero()]
        self._frames = {"world": Frame("world", 0, Transform.identity())}
        self._points: list[ContactPoint] = []

    def add_body(
        self,
        name: str,
        *,
        parent: str = "world",
        joint: Joint | None = None,
        placement: Placement | None = None,
        inertia: Inertia | None = None,
        joint_name: str | None = None,
    ) -> Builder:
        """Hang a body on `parent` (a body or frame); `placement` is the joint's pose there.

        Without a joint the body is fixed. The joint's name is the body's with `_joint` if not given.
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
        if inertia is not None and inertia.mass > 0:
            self._check(name, rigid)
        joint_name = joint_name if joint_name is not None else f"{name}_joint"
        if not isinstance(joint_name, str) or not joint_name:
            raise ModelError(f"body {name!r}: joint_name: expected a name, got {joint_name!r}")
        if joint_name == name or joint_name in self._frames:
            raise ModelError(f"body {name!r}: the joint's name {joint_name!r} is used already; give joint_name=")

        if joint.nq == joint.nv == 0:
            self._inertias[base.body] += rigid.seen_through(X)
            self._add_frames((name, joint_name), base.body, X)
            return self
        q = self._joints[-1].q.stop if self._joints else 0
        v = self._joints[-1].v.stop if self._joints else 0
        index = len(self._names)
        self._joints.append(JointInfo(joint_name, joint, index, slice(q, q + joint.nq), slice(v, v + joint.nv)))
        self._names.append(name)
        self._parent.append(base.body)
        self._X_tree.append(X)
        self._inertias.append(rigid)
        self._add_frames((name, joint_name), index, Transform.identity())
        return self

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

    def build(self) -> Model:
        """The frozen model, after the last checks."""
        for name, inertia in zip(self._names[1:], self._inertias[1:], strict=True):
            if not inertia.m > 0:
                self._check(name, inertia)
        return Model(
            name=self._name,
            names=tuple(self._names),
            parent=tuple(self._parent),
            joints=tuple(self._joints),
            X_tree=tuple(self._X_tree),
            inertias=tuple(self._inertias),
            gravity_vector=self._gravity,
            frames=self._frames,
            contact_points=tuple(self._points),
        )

    def _check(self, name: str, inertia: RigidInertia) -> None:
        """No body can have this inertia: refuse it, or warn, as the policy says."""
        reason = impossible(inertia)
        if reason is not None:
            text = f"body {name!r}: {reason}"
            if self._policy == "strict":
                raise ModelError(f'{text}; correct it, or pass policy="warn" to Builder to take it as it is')
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
