"""Edits of a description, each a function from one to another: joints locked, names changed, the root hung elsewhere.

They take any description: what a file or a builder wrote, and what a model was assembled from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar

from featherweight.errors import ModelError
from featherweight.joints import Joint
from featherweight.model.description import Description, Link, LinkFrame, LinkJoint, LinkPoint, Shape
from featherweight.model.placement import Placement
from featherweight.model.spelling import Inertial, Origin
from featherweight.spatial import Transform

Name = Callable[[str, str], str]  # ("link", "frame", "joint", "point" or "shape", old name) -> new name
Hung = TypeVar("Hung", LinkJoint, LinkFrame)
Placed = TypeVar("Placed", LinkJoint, LinkFrame, Shape)


def locked(description: Description, poses: Mapping[str, Transform]) -> Description:
    """Joints fixed where they are at some configuration: `poses` has X_J of each. Rotors are links from then on."""
    links, joints = list(description.links), []
    for joint in description.joints:
        if joint.name not in poses:
            joints.append(joint)
            continue
        origin = Placement.of(poses[joint.name] @ _transform(joint.origin))
        joints.append(LinkJoint(joint.name, "fixed", joint.parent, joint.child, origin, source=joint.source))
        if joint.rotor is not None:
            rotor = f"{joint.name}.rotor"
            links.append(Link(rotor, Inertial.of(joint.rotor.inertia), source=joint.source))
            joints.append(LinkJoint(f"{rotor}_joint", "fixed", joint.parent, rotor, joint.rotor.placement))
    keyframes = tuple(
        replace(key, q={name: x for name, x in key.q.items() if name not in poses}) for key in description.keyframes
    )
    actuators = tuple(actuator for actuator in description.actuators if actuator.joint not in poses)
    return replace(
        description, links=tuple(links), joints=tuple(joints), actuators=actuators, keyframes=keyframes, format=""
    )


def renamed(description: Description, name: Name) -> Description:
    """Everything under other names; `name` gives them."""
    links = {link.name for link in description.links} | {"world"}
    frames = {frame.name for frame in description.frames}
    joints = {joint.name for joint in description.joints}

    def place(old: str) -> str:
        """The name of what others hang on."""
        kind = "link" if old in links else "frame" if old in frames else "point"
        return name(kind, old)

    def anything(old: str) -> str:
        return name("joint", old) if old in joints and old not in links | frames else place(old)

    def joint_of(joint: LinkJoint) -> LinkJoint:
        kind, mimic = joint.kind, joint.mimic
        if kind is not None and kind.leader is not None:
            kind = kind.led_by(name("joint", kind.leader))
        if mimic is not None:
            mimic = replace(mimic, joint=name("joint", mimic.joint))
        own, child = name("joint", joint.name), name("link", joint.child)
        return replace(joint, name=own, parent=place(joint.parent), child=child, kind=kind, mimic=mimic)

    def touching(old: str) -> str:
        return place(old) if old in links | frames else name("shape", old)

    def shapes_of(owner: Link | LinkFrame) -> tuple[Shape, ...]:
        named = any(shape.name for shape in owner.shapes)
        if not named:
            return owner.shapes
        return tuple(replace(s, name=name("shape", s.name)) if s.name else s for s in owner.shapes)

    return replace(
        description,
        links=tuple(replace(k, name=name("link", k.name), shapes=shapes_of(k)) for k in description.links),
        joints=tuple(map(joint_of, description.joints)),
        frames=tuple(
            replace(f, name=name("frame", f.name), parent=place(f.parent), shapes=shapes_of(f))
            for f in description.frames
        ),
        points=tuple(replace(p, name=name("point", p.name), parent=place(p.parent)) for p in description.points),
        loops=tuple(replace(loop, a=anything(loop.a), b=anything(loop.b)) for loop in description.loops),
        actuators=tuple(replace(x, joint=name("joint", x.joint)) for x in description.actuators),
        sensors=tuple(replace(sensor, of=anything(sensor.of)) for sensor in description.sensors),
        keyframes=tuple(
            replace(key, q={name("joint", joint): x for joint, x in key.q.items()}) for key in description.keyframes
        ),
        excluded=tuple((touching(a), touching(b)) for a, b in description.excluded),
        format="",
    )


def grouped(description: Description, number: Callable[[int], int]) -> Description:
    """Shapes in other groups, by the numbers of those they are in."""

    def shapes_of(owner: Link | LinkFrame) -> tuple[Shape, ...]:
        return tuple(replace(shape, group=number(shape.group)) for shape in owner.shapes)

    return replace(
        description,
        links=tuple(replace(k, shapes=shapes_of(k)) if k.shapes else k for k in description.links),
        frames=tuple(replace(f, shapes=shapes_of(f)) if f.shapes else f for f in description.frames),
    )


def prefixed(prefix: str) -> Name:
    """A prefix before all names but that of the world."""
    return lambda kind, old: old if (kind, old) == ("link", "world") else prefix + old


def mounted(
    description: Description, parent: str, placement: Placement | None, joint: Joint | None
) -> tuple[Description, tuple[Shape, ...]]:
    """What stands in a robot's world hung on `parent` at `placement`, and the shapes of it that `parent` gets.

    With a joint, that carries the base: the first link that was fixed in the world, or one that was free in it. What
    else stood in the world goes with a base that was fixed.
    """
    base = None if joint is None else _base(description, joint)
    owner, X = parent, _transform(placement)
    if base is not None and not base.moves:
        owner, X = base.child, _transform(base.origin).inverse

    def point_of(point: LinkPoint) -> LinkPoint:
        if point.parent != "world":
            return point
        return replace(point, parent=owner, position=tuple((Placement(point.position).transform @ X).r))

    def joint_of(other: LinkJoint) -> LinkJoint:
        rotor = other.rotor
        if rotor is not None and other.parent == "world":  # which carries it
            other = replace(other, rotor=replace(rotor, placement=Placement.of(_transform(rotor.placement) @ X)))
        return _hung(other, owner, X)

    joints = [joint_of(other) for other in description.joints if other is not base]
    if base is not None and joint is not None:
        kind = type(joint).__name__.lower()
        joints.insert(0, LinkJoint(base.name, kind, parent, base.child, placement, source=base.source, kind=joint))
    shapes = tuple(_seen(shape, X) for link in description.links if link.name == "world" for shape in link.shapes)
    links = [link for link in description.links if link.name != "world"]
    if owner != parent:
        links = [replace(k, shapes=k.shapes + shapes) if k.name == owner else k for k in links]
        shapes = ()
    whole = replace(
        description,
        links=tuple(links),
        joints=tuple(joints),
        frames=tuple(_hung(frame, owner, X) for frame in description.frames),
        points=tuple(map(point_of, description.points)),
        excluded=tuple((owner if a == "world" else a, owner if b == "world" else b) for a, b in description.excluded),
    )
    return whole, shapes


def _base(description: Description, joint: Joint) -> LinkJoint:
    """The joint that carries the base of a robot, one that another can stand for."""
    roots = [own for own in description.joints if own.parent == "world"]
    fixed = [own for own in roots if not own.moves]
    free = [own for own in roots if own.motion.floating]
    if not fixed and (len(roots) != 1 or not free):
        raise ModelError(
            f"joint: model {description.name!r} has no base that {joint!r} could carry, a link that is fixed or free "
            "in its world; add a body with that joint first, and hang the model on it"
        )
    return (fixed or free)[0]


def _hung(thing: Hung, owner: str, X: Transform) -> Hung:
    """What hung on the world hung on `owner`, where the world is at X."""
    return replace(_seen(thing, X), parent=owner) if thing.parent == "world" else thing


def _seen(thing: Placed, X: Transform) -> Placed:
    """A thing in a frame from which X leads to the one that it is in."""
    return replace(thing, origin=Placement.of(_transform(thing.origin) @ X))


def _transform(origin: Origin | Placement | None) -> Transform:
    return Transform.identity() if origin is None else origin.transform
