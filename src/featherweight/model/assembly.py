"""From the pieces of a description to a model: each is checked as it is added, parents before children."""

from __future__ import annotations

import copy
import difflib
import math
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from featherweight.errors import ModelError
from featherweight.joints import Joint
from featherweight.model.coordinates import in_place
from featherweight.model.described_joint import kind_of, limits_of, rest_of
from featherweight.model.description import Description, Link, LinkFrame, LinkJoint, LinkPoint, Shape
from featherweight.model.geometry import geometry_of
from featherweight.model.inertia import Inertia, impossible
from featherweight.model.model import Model
from featherweight.model.parameters import declared
from featherweight.model.pieces import ContactPoint, Frame, Geometry, JointInfo, Part
from featherweight.model.placement import Placement, numbers_or_symbols, plain, real_numbers
from featherweight.model.properties import Limits, Rotor, per_coordinate
from featherweight.model.spelling import BODY, Bounds, Inertial, placed
from featherweight.model.symbols import is_symbolic
from featherweight.spatial import Matrix, RigidInertia, Transform, Vector

POLICIES = ("strict", "warn", "accept")  # for inertias that no body can have: raise, warn, accept silently
RANK = {"link": 0, "frame": 0, "joint": 1, "point": 2}  # who comes first where a name is used twice


def assemble(
    description: Description,
    *,
    gravity: Sequence[float] = (0.0, 0.0, -9.81),
    policy: str = "strict",
    parameters: Sequence[str] = (),
) -> Model:
    """The model of a description whose joints stand parents first and lead from the world to every link.

    `featherweight.io.build` takes any description, and makes one like that.
    """
    _check_names(description)
    assembly = Assembly(description.name, gravity, policy)
    assembly.add_all(description)
    return assembly.model(parameters, description)


def _check_names(description: Description) -> None:
    """ModelError if a name is used twice in its space, or a link has no joint."""
    spaces = ((*description.links, *description.frames), description.joints, description.points)
    for things in spaces:
        name, count = Counter(thing.name for thing in things).most_common(1)[0] if things else ("", 1)
        if count > 1:
            raise ModelError(f"the name {name!r} is used already; names must be unique")
    loose = {link.name for link in description.links} - {"world"} ^ {joint.child for joint in description.joints}
    if loose:
        raise ModelError(f"link {min(loose)!r}: expected a link, and one joint whose child it is")


class Assembly:
    """Bodies, frames, contact points and shapes of a model that grows."""

    def __init__(self, name: str, gravity: Sequence[float], policy: str) -> None:
        if policy not in POLICIES:
            raise ModelError(f"policy: expected one of {', '.join(POLICIES)}, got {policy!r}")
        if not isinstance(name, str):
            raise ModelError(f"name: expected text, got {name!r}")
        self.name = name
        self.gravity = Vector(*numbers_or_symbols("gravity", gravity, (3,)).tolist())
        self.policy = policy
        self.accepted: set[str] = set()  # bodies that are taken as they are, whatever the policy
        self.names = ["world"]
        self.parent = [-1]
        self.joints: list[JointInfo] = []
        self.size = 0, 0  # of q and v
        self.X_tree = [Transform.identity()]
        self.inertias = [RigidInertia.zero()]
        self.frames = {"world": Frame("world", 0, Transform.identity(), "link")}
        self.taken: dict[str, dict[str, None]] = {"place": {"world": None}, "joint": {}, "point": {}}  # names, by space
        self.points: list[ContactPoint] = []
        self._straight: dict[tuple[str, str], Matrix] = {}
        self.parts: list[Part] = []
        self.geometry: list[Geometry] = []
        self.groups: dict[int, int] = {}  # of bodies that came with added models: with which; see `group_of`

    def copy(self) -> Assembly:
        """The same, which grows by itself."""
        other = copy.copy(self)
        vars(other).update({name: x.copy() for name, x in vars(self).items() if isinstance(x, (list, dict, set))})
        other.taken = {space: names.copy() for space, names in self.taken.items()}
        return other

    def group_of(self, body: int) -> int:
        """The number of the added model that a body came with; 0 of the world and of what was built here."""
        return self.groups.get(body, 0)

    def new_groups(self, parent: str) -> Callable[[int], int]:
        """The numbers that the groups of a model get when it is added: what hangs on a moving body is part of its
        group, what stands in the world one of its own."""
        base = self.frames.get(parent)
        fresh = 1 + max([0, *self.groups.values(), *(g.group for g in self.geometry)])
        own = fresh if base is None or base.body == 0 else self.group_of(base.body)
        return lambda number: fresh + number if number else own

    def add_all(self, description: Description) -> None:
        """A whole description, whose joints stand parents first."""
        links = {link.name: link for link in description.links}
        waiting: dict[str, LinkFrame | LinkPoint] = {frame.name: frame for frame in description.frames}
        hidden = {point.name for point in description.points} & {*links, *waiting}  # points that nothing hangs on
        waiting |= {point.name: point for point in description.points if point.name not in hidden}
        for joint in description.joints:
            self._add_fixed(joint.parent, waiting)  # it may hang on a frame
            self.add_link(links[joint.child], joint)
        for thing in (*description.frames, *description.points):
            if isinstance(thing, LinkPoint) and thing.name in hidden:
                self.add_point(thing)
            else:
                self._add_fixed(thing.name, waiting)
        for owner, shape in description.shapes():
            self.add_shape(owner, shape)

    def _add_fixed(self, name: str, waiting: dict[str, LinkFrame | LinkPoint]) -> None:
        """A frame or point that waits to be added, after those that it is fixed to."""
        chain: list[LinkFrame | LinkPoint] = []
        while name in waiting:
            chain.append(waiting.pop(name))
            name = chain[-1].parent
        for thing in reversed(chain):
            if isinstance(thing, LinkFrame):
                self.add_frame(thing)
            else:
                self.add_point(thing)

    def add_link(self, link: Link, joint: LinkJoint) -> None:
        """A link and the joint it hangs on. Links on fixed joints are merged with their parents."""
        name, what = link.name, f"body {link.name!r}"
        kind = kind_of(what, joint)
        base = self._frame(f"{what}: parent", joint.parent)
        X = placed(what, joint.origin, base.X)
        if not isinstance(link.inertial, (Inertial, type(None))):
            raise ModelError(f"{what}: inertia: expected featherweight.Inertia, got {type(link.inertial).__name__}")
        inertia = None if link.inertial is None else link.inertial.inertia
        own = inertia or Inertia.zero()
        rigid = own.rigid
        self._check_name("body", name, "place")
        if inertia is not None and (is_symbolic(inertia.mass) or inertia.mass > 0):
            self._check(name, inertia)
        if not isinstance(joint.name, str) or not joint.name:
            raise ModelError(f"{what}: joint_name: expected a name, got {joint.name!r}")
        if joint.name in self.taken["joint"]:
            raise ModelError(f"{what}: the joint's name {joint.name!r} is used already; give joint_name=")

        body = base.body
        if kind.nq == kind.nv == 0:
            self.inertias[body] += rigid.seen_through(X)
        else:
            info = self._joint(what, kind, joint, base)
            self.joints.append(info)
            self.names.append(name)
            self.parent.append(base.body)
            self.X_tree.append(X)
            self.inertias.append(rigid)
            body, X = info.body, BODY
        self.parts.append(Part(name, body, X, own, joint.name))
        self._add_name(Frame(name, body, X, "link"), "place")
        self._add_name(Frame(joint.name, body, X, "joint"), "joint")

    def _joint(self, what: str, kind: Joint, joint: LinkJoint, base: Frame) -> JointInfo:
        """The joint with its properties, checked. Adds its rotor to the parent."""
        rotor = joint.rotor
        if not isinstance(joint.limits, (Limits, Bounds, type(None))):
            raise ModelError(f"{what}: limits: expected featherweight.Limits, got {type(joint.limits).__name__}")
        if not isinstance(rotor, (Rotor, type(None))):
            raise ModelError(f"{what}: rotor: expected featherweight.Rotor, got {type(rotor).__name__}")
        limits = limits_of(joint).of(what, kind)
        given = {
            "armature": joint.armature if joint.motor is None else joint.motor.armature,
            "damping": joint.damping,
            "friction": joint.friction,
            "stiffness": joint.stiffness,
        }
        numbers = {n: per_coordinate(what, n, value, kind.nv) for n, value in given.items()}
        rests = rest_of(what, kind, joint.rest)
        rotor_inertia, spin = 0.0, None
        if rotor is not None:
            J, axis = rotor.spin(what, kind)
            X = (rotor.placement or Placement()).transform @ base.X
            self.inertias[base.body] += rotor.inertia.rigid.seen_through(X)
            self.parts.append(Part(f"{joint.name}.rotor", base.body, X, rotor.inertia))
            rotor_inertia = rotor.gear**2 * J
            spin = X.E.transposed_times(axis) * (rotor.gear * J)
        q, v = (slice(n, n) for n in self.size)
        if kind.leader is None:  # of one that follows: known when all joints are
            q, v = slice(q.start, q.start + kind.nq), slice(v.start, v.start + kind.nv)
            self.size = q.stop, v.stop
        return JointInfo(
            joint.name, kind, len(self.names), q, v, limits, **numbers, rest=rests,
            rotor=rotor, rotor_inertia=rotor_inertia, spin=spin,
        )  # fmt: skip

    def add_frame(self, frame: LinkFrame) -> None:
        """A frame that is fixed to a link or to another frame."""
        what = f"frame {frame.name!r}"
        base = self._frame(f"{what}: parent", frame.parent)
        X = placed(what, frame.origin, base.X)
        self._check_name("frame", frame.name, "place")
        self._add_name(Frame(frame.name, base.body, X), "place")

    def add_point(self, point: LinkPoint) -> None:
        """A contact point."""
        what = f"contact point {point.name!r}"
        base = self._frame(f"{what}: parent", point.parent)
        size = point.radius
        if not (type(size) is float and 0 <= size < math.inf):
            size = float(real_numbers(f"{what}: radius", point.radius, ()))
        if size < 0:
            raise ModelError(f"{what}: radius: expected 0 or more, got {size:g}")
        position = point.position
        if not (plain(position) and len(position) == 3):
            position = real_numbers(f"{what}: position", position, (3,)).tolist()
        key = base.kind, base.name  # what a name means may change while things are added
        E = self._straight.get(key)  # of a frame with its parent's axes: points are many
        if E is None:
            E = self._straight[key] = (Placement().transform @ base.X).E
        X = Transform(E, base.X.r + base.X.E.transposed_times(Vector(*position)))
        self._check_name("contact point", point.name, "point")
        self._add_name(Frame(point.name, base.body, X, "point"), "point")
        self.points.append(ContactPoint(point.name, base.body, tuple(X.r), size))

    def add_shape(self, parent: str, shape: Shape) -> None:
        """A shape of a link or frame."""
        known = isinstance(parent, str) and parent in self.frames
        base = self._frame("" if known else f"geometry of {parent!r}", parent)  # names may be long, and shapes many
        self.geometry.append(geometry_of(parent, base, shape))

    def model(self, parameters: Sequence[str], description: Description) -> Model:
        """The frozen model, after the last checks."""
        for name, inertia in zip(self.names[1:], self.inertias[1:], strict=True):
            if not is_symbolic(inertia.m) and not inertia.m > 0:
                self._check(name, inertia)
        model = Model(
            name=self.name,
            names=tuple(self.names),
            parent=tuple(self.parent),
            joints=in_place(self.joints, self.names),
            X_tree=tuple(self.X_tree),
            inertias=tuple(self.inertias),
            gravity_vector=self.gravity,
            frames=self.frames,
            contact_points=tuple(self.points),
            parts=tuple(self.parts),
            geometry=tuple(self.geometry),
            excluded=description.excluded,
            description=description,
        )
        return replace(model, parameters=declared(model, parameters)) if parameters else model

    def _check(self, name: str, inertia: Inertia | RigidInertia) -> None:
        """Refuse an inertia that no body can have, or warn, by the policy."""
        reason = None if self.policy == "accept" or name in self.accepted else impossible(inertia)
        if reason is not None:
            text = f"body {name!r}: {reason}"
            if self.policy == "strict":
                raise ModelError(f'{text}; correct it, or pass policy="warn" to Builder to take it as it is')
            warnings.warn(text, stacklevel=4)

    def _frame(self, what: str, name: Any) -> Frame:
        frame = self.frames.get(name) if isinstance(name, str) else None
        if frame is None:
            near = difflib.get_close_matches(str(name), self.frames, n=1)
            hint = f"did you mean {near[0]!r}?" if near else "add the parent first"
            raise ModelError(f"{what}: there is no body or frame {name!r}; {hint}")
        return frame

    def _check_name(self, what: str, name: Any, space: str) -> None:
        if not isinstance(name, str) or not name:
            raise ModelError(f"{what}: expected a name, got {name!r}")
        if name in self.taken[space]:
            raise ModelError(
                f"{what} {name!r}: the name is used already; names must be unique (add_model takes a prefix=)"
            )

    def _add_name(self, frame: Frame, space: str) -> None:
        """A frame by its name; by "kind:name" if what comes first has the name as well: see `Model.frame`."""
        self.taken[space][frame.name] = None
        other = self.frames.get(frame.name)
        if other is not None and (other.name != frame.name or RANK[frame.kind] < RANK[other.kind]):
            del self.frames[frame.name]
            self.frames[frame.name], frame = frame, other
        key = frame.name
        while key in self.frames:
            key = f"{frame.kind}:{key}"
        self.frames[key] = frame
