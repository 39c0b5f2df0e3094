"""A model as a description: what `assemble` makes the same model of, to the last bit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

from featherweight.model.description import Description, Link, LinkFrame, LinkJoint, LinkPoint, Shape
from featherweight.model.model import Model
from featherweight.model.pieces import Frame, JointInfo, Part
from featherweight.model.placement import Placement
from featherweight.model.spelling import Inertial
from featherweight.spatial import Matrix, Transform


def describe(model: Model) -> Description:
    """Links in their order, each fixed to the body it is part of; numbers of followers are their own."""
    shapes: dict[str, list[Shape]] = defaultdict(list)
    for g in model.geometry:
        owner = model.frames[g.link]
        if owner.kind not in ("link", "frame"):
            owner = model.frames[model.names[g.body]]
        origin = _placement(g.X if Transform.identity() == owner.X else g.X @ owner.X.inverse)
        touching = {name: getattr(g, name) for name in ("friction", "restitution", "ground", "group")}
        shape = Shape(g.role, origin, g.kind, g.size, g.mesh, g.color, g.name, path=g.path, **touching)
        shapes[owner.name].append(shape)
    links = [Link("world", None, tuple(shapes["world"]))] if shapes["world"] else []
    joints, frames, points = [], [], []
    parts = {part.link: part for part in model.parts if part.joint}
    rotors = {part.link: part for part in model.parts if not part.joint}
    moving = {model.names[joint.body]: joint for joint in model.joints}
    radii = {point.name: point.radius for point in model.contact_points}
    bases: dict[tuple[int, Matrix], Frame] = {}  # the first link or frame of a body with some axes
    for frame in model.frames.values():
        if frame.kind in ("link", "frame"):
            bases.setdefault((frame.body, frame.X.E), frame)
    for frame in model.frames.values():
        name, parent = frame.name, model.names[frame.body]
        if frame.kind == "point":
            points.append(_point(model, frame, bases, radii[name]))
        elif frame.kind == "frame":
            frames.append(LinkFrame(name, parent, _placement(frame.X), tuple(shapes[name])))
        elif frame.kind == "link" and name != "world":
            links.append(Link(name, Inertial.of(parts[name].inertia), tuple(shapes[name])))
            if name in moving:
                joints.append(_joint(model, moving[name], name, rotors))
            else:
                joints.append(LinkJoint(parts[name].joint, "fixed", parent, name, _placement(frame.X)))
    whole = Description(model.name, tuple(links), tuple(joints), frames=tuple(frames), points=tuple(points))
    return replace(whole, excluded=model.excluded)


def _joint(model: Model, joint: JointInfo, child: str, rotors: Mapping[str, Part]) -> LinkJoint:
    """A follower's numbers as they were before they were seen by its leader; the rotor where it is on the parent."""
    r = abs(joint.kind.ratio)
    felt = {"armature": r * r, "damping": r * r, "friction": r, "stiffness": r * r}
    numbers = {name: tuple(x / scale if r else x for x in getattr(joint, name)) for name, scale in felt.items()}
    rest = joint.rest
    if not joint.independent and joint.stiffness[0]:
        rest = (joint.rest[0] * joint.kind.ratio + joint.kind.offset,)
    rotor = joint.rotor
    if rotor is not None:
        X = rotors[f"{joint.name}.rotor"].X
        if (rotor.placement or Placement()).transform != X:  # that was on a frame of the parent
            rotor = replace(rotor, placement=Placement.of(X))
    return LinkJoint(
        joint.name,
        type(joint.kind).__name__.lower(),
        model.names[model.parent[joint.body]],
        child,
        _placement(model.X_tree[joint.body]),
        limits=joint.limits,
        armature=numbers["armature"],
        damping=numbers["damping"],
        friction=numbers["friction"],
        stiffness=numbers["stiffness"],
        rest=rest,
        rotor=rotor,
        kind=joint.kind,
    )


def _point(model: Model, frame: Frame, bases: Mapping[tuple[int, Matrix], Frame], radius: float) -> LinkPoint:
    """Where a contact point is: on its body, or on an earlier frame with the same axes, which it got them from."""
    if Matrix.identity() == frame.X.E:
        return LinkPoint(frame.name, model.names[frame.body], tuple(map(float, frame.X.r)), radius)
    base = bases[frame.body, frame.X.E]
    position = base.X.E @ (frame.X.r - base.X.r)
    return LinkPoint(frame.name, base.name, tuple(map(float, position)), radius)


def _placement(X: Transform) -> Placement | None:
    return None if Transform.identity() == X else Placement.of(X)
