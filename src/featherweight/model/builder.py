"""Build a model body by body: each call writes a piece of a description, and is checked at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar, overload

import numpy as np

from featherweight import shapes
from featherweight.errors import ModelError
from featherweight.joints import Fixed, Joint
from featherweight.model.assembly import Assembly
from featherweight.model.builder_shapes import described_shapes, solid_shapes
from featherweight.model.description import Description, Link, LinkFrame, LinkJoint, LinkPoint, Shape
from featherweight.model.editing import forms, parameters_renamed
from featherweight.model.edits import grouped, mounted, prefixed, renamed
from featherweight.model.inertia import Inertia
from featherweight.model.model import Model
from featherweight.model.placement import Placement
from featherweight.model.properties import Limits, Rotor
from featherweight.model.spelling import Inertial

Piece = TypeVar("Piece", LinkJoint, LinkFrame, LinkPoint)


class Builder:
    """Collects bodies, frames and contact points; `build()` freezes them into a `Model`.

    Every parent is added before its children. Bodies on fixed joints are merged with their parent
    and stay as frames. Joints, contact points, and links with frames, have names in spaces of their own.
    `parameters` names constants ("trunk.mass", "knee.damping", "gravity") that every call
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
        self._assembly = Assembly(name, gravity, policy)
        self._parameters = parameters
        self._links: dict[str, Link] = {}
        self._joints: dict[str, LinkJoint] = {}
        self._frames: dict[str, LinkFrame] = {}
        self._points: dict[str, LinkPoint] = {}
        self._shapes: dict[str, list[Shape]] = defaultdict(list)
        self._excluded: tuple[tuple[str, str], ...] = ()

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
        kind, parent = Fixed() if joint is None else joint, self._place(parent)
        joint_name = joint_name if joint_name is not None else f"{name}_joint"
        inertial: Any = Inertial.of(inertia) if isinstance(inertia, Inertia) else inertia  # told from what it is not
        link = Link(name, inertial)
        hung = LinkJoint(
            joint_name, type(kind).__name__.lower(), parent, name, placement, limits=limits, damping=damping,
            friction=friction, armature=armature, stiffness=stiffness, rest=rest, rotor=rotor, kind=kind,
        )  # fmt: skip
        self._assembly.add_link(link, hung)
        self._links[name], self._joints[joint_name] = link, _frozen(hung)
        return self

    def add_frame(self, name: str, *, parent: str, placement: Placement | None = None) -> Builder:
        """Name a frame that is fixed to a body or to another frame."""
        frame = LinkFrame(name, self._place(parent), placement)
        self._assembly.add_frame(frame)
        self._frames[name] = _frozen(frame)
        return self

    def add_contact_point(
        self, name: str, *, parent: str, position: Sequence[float] = (0.0, 0.0, 0.0), radius: float = 0.0
    ) -> Builder:
        """A point of a body that may touch the ground; with a radius, the centre of a ball."""
        point = LinkPoint(name, self._place(parent), position, radius)
        self._assembly.add_point(point)
        self._points[name] = _frozen(point)
        return self

    @overload
    def add_geometry(
        self,
        parent: str,
        shape: shapes.Shape,
        placement: Placement | None = None,
        role: str = "collision",
        *,
        friction: float | None = None,
        restitution: float | None = None,
        name: str | None = None,
        color: Sequence[float] = (),
    ) -> Builder: ...

    @overload
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
    ) -> Builder: ...

    def add_geometry(self, parent: str, *given: Any, **named: Any) -> Builder:
        """A shape of a body or frame: what it touches with, how it looks, or both.

        Args:
            parent: name of a body or frame, or "world".
            shape: one of `featherweight.shapes`.
            placement: of the shape's frame in `parent`.
            role: "collision", "visual", or "both".
            friction: coefficient μ of Coulomb's law where this touches; None: that of the contact model.
            restitution: e from 0 to 1; None: that of the contact model.
            name: of what touches; the link's if not given, with a number from the second on.
            color: red, green, blue, and opacity, from 0 to 1.

        Or `add_geometry(parent, role, kind, size, placement, mesh, color, path)` as files have it: `role` "visual" or
        "collision"; `kind` box, sphere, cylinder, capsule, convex or mesh; `size` [m] its edges, its radius, its radius
        and length along z, vertices one after another, or a mesh's scale, whose file is at `path`. Such a shape touches
        other shapes, but not the ground: contact points stand for it there, if there are any.

        >>> import featherweight as fw
        >>> ball = fw.Builder("ball").add_body("ball", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(1.0, 0.1))
        >>> ball.add_geometry("ball", fw.shapes.Sphere(0.1), role="both", friction=0.5).build().shapes[0].name
        'ball'
        """
        solid = given[0] if given else named.get("shape")
        if not isinstance(solid, (shapes.Shape, str, type(None))):
            kind, (room, *_) = type(solid), type(solid).__module__.removeprefix("featherweight.").split(".")
            ours = f" of featherweight.{room}" if kind.__module__.startswith("featherweight.") else ""
            raise TypeError(f"shape: expected one of featherweight.shapes, got {kind.__name__}{ours}")
        add = solid_shapes if isinstance(solid, shapes.Shape) else described_shapes
        base = self._assembly.frames.get(parent) if isinstance(parent, str) else None
        group = 0 if base is None else self._assembly.group_of(base.body)
        for shape in add(*given, **named):
            if shape.name and shape.role == "collision" and shape.name in self._shape_names():
                raise ModelError(
                    f"geometry of {parent!r}: the name {shape.name!r} is used already; names must be unique"
                )
            self.add_described(parent, replace(shape, group=group))
        return self

    def add_described(self, parent: str, shape: Shape, link: str | None = None) -> Builder:
        """A shape of a description, placed in `parent`; `link` is the link or frame whose it is, if that is another
        of the same body."""
        grown = self._assembly
        grown.add_shape(parent, shape)
        drawn, owner, origin = grown.geometry[-1], grown.frames[parent], shape.origin
        if link is not None and link != parent:
            base = grown.frames.get(link)
            if base is None or base.body != drawn.body:
                grown.geometry.pop()
                raise ModelError(f"geometry of {parent!r}: link: expected a link or frame of that body, got {link!r}")
            owner, drawn = base, replace(drawn, link=link)
            grown.geometry[-1], origin = drawn, Placement.of(drawn.X @ base.X.inverse)
        name = owner.name
        if owner.kind in ("joint", "point"):  # a description has shapes on links and frames
            name, origin = grown.names[drawn.body], Placement.of(drawn.X)
        self._shapes[name].append(replace(shape, origin=origin, size=drawn.size, color=drawn.color))
        return self

    def _shape_names(self) -> set[str]:
        return {shape.name for some in self._shapes.values() for shape in some if shape.role == "collision"}

    def add_model(
        self,
        model: Model,
        prefix: str = "",
        parent: str | None = None,
        joint: Joint | None = None,
        placement: Placement | None = None,
    ) -> Builder:
        """Add a whole robot or object: several in one world, a gripper on an arm.

        What stands in the model's world hangs on `parent` (a body or frame; the world if not given), at `placement`.
        A free base stays free, and its coordinates count from there. Gravity and policy are the builder's; bodies are
        taken as they are.

        Args:
            model: what to add.
            prefix: put before all its names, those of parameters too.
            parent: name of a body or frame.
            joint: carries the base of the model in place of the joint it has; its base is a link that is fixed or
                free in its world.
            placement: pose of the model's world in `parent`; with a joint, of that.
        """
        if not isinstance(model, Model) or not isinstance(prefix, str):
            given = f"{type(model).__name__} and {prefix!r}"
            raise TypeError(f"model, prefix: expected a featherweight Model and a text, got {given}")
        if not isinstance(placement, (Placement, type(None))):
            raise ModelError(f"placement: expected featherweight.Placement, got {type(placement).__name__}")
        parent, new = self._place("world" if parent is None else parent), prefixed(prefix)
        if parent in self._assembly.frames and self._assembly.frames[parent].kind == "point":
            raise ModelError(f"parent: expected a body or frame, got the contact point {parent!r}")
        number = self._assembly.new_groups(parent)
        whole, description = (grouped(renamed(form, new), number) for form in forms(model))
        (whole, drawn), (description, standing) = (
            mounted(form, parent, placement, joint) for form in (whole, description)
        )
        grown = self._assembly.copy()  # all of the model is added, or nothing
        grown.accepted |= {link.name for link in whole.links}
        grown.add_all(whole)
        for shape in drawn:
            grown.add_shape(parent, shape)
        grown.groups |= {body: number(0) for body in range(len(self._assembly.names), len(grown.names))}
        self._assembly = grown
        self._links |= {link.name: replace(link, shapes=()) for link in description.links}
        self._joints |= {own.name: own for own in description.joints}
        self._frames |= {frame.name: replace(frame, shapes=()) for frame in description.frames}
        self._points |= {point.name: point for point in description.points}
        for owner, shape in (*description.shapes(), *((parent, shape) for shape in standing)):
            self._shapes[owner].append(shape)
        self._excluded += whole.excluded
        self._parameters = tuple(dict.fromkeys((*self._parameters, *parameters_renamed(model, new))))
        return self

    @property
    def description(self) -> Description:
        """What was added so far."""
        world = {"world": Link("world")} if "world" in self._shapes else {}
        links, frames = {**world, **self._links}, dict(self._frames)
        for name, own in self._shapes.items():
            if name in frames:
                frames[name] = replace(frames[name], shapes=tuple(own))
            else:
                links[name] = replace(links[name], shapes=tuple(own))
        return Description(
            self._assembly.name,
            tuple(links.values()),
            tuple(self._joints.values()),
            frames=tuple(frames.values()),
            points=tuple(self._points.values()),
            excluded=self._excluded,
        )

    def build(self) -> Model:
        """The frozen model, after the last checks."""
        return self._assembly.model(self._parameters, self.description)

    def _place(self, parent: str) -> str:
        """What something hangs on: the frame of a joint is that of the link it moves."""
        frame = self._assembly.frames.get(parent) if isinstance(parent, str) else None
        if frame is not None and frame.kind == "point" and frame.name not in self._points:
            raise ModelError(f"parent: contact point {parent!r} was made from a shape; hang things on links and frames")
        return self._joints[frame.name].child if frame is not None and frame.kind == "joint" else parent


def _frozen(piece: Piece) -> Piece:
    """A piece that no caller can change: with tuples in place of lists and arrays."""
    if not {list, np.ndarray} & {*map(type, vars(piece).values())}:
        return piece
    given = {name: np.asarray(x) for name, x in vars(piece).items() if isinstance(x, (list, np.ndarray))}
    frozen: dict[str, Any] = {name: tuple(x.tolist()) if x.ndim else x.item() for name, x in given.items()}
    return replace(piece, **frozen)
