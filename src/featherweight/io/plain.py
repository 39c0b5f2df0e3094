"""A model as plain data for JSON, and back through the `Builder`, which checks all of it again.

The data are the builder's calls, in order: bodies, frames, contact points, shapes. What comes back has the same
numbers, so that a run's file can carry its robot. Meshes stay behind: a file says their names, never where they are.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from featherweight import joints
from featherweight.errors import ModelError
from featherweight.joints import Joint
from featherweight.model import Builder, Inertia, Limits, Model, Placement, Rotor
from featherweight.model.builder_shapes import described_shapes
from featherweight.model.collision_pairs import excluding
from featherweight.model.describe import describe
from featherweight.model.description import LinkJoint

Plain = dict[str, Any]
OF_SHAPES = ("name", "friction", "restitution", "ground", "group")  # of those that touch
OF_COORDINATES = ("armature", "damping", "friction", "stiffness", "rest")


def to_plain(model: Model) -> Plain | None:
    """The model as lists, texts and numbers; None if it has joints of other packages."""
    if any(not _is_ours(joint.kind) for joint in model.joints):
        return None
    description = describe(model)
    inertias = {part.link: part.inertia for part in model.parts if part.joint}
    calls: dict[tuple[str, str], Plain] = {}
    for joint in description.joints:
        call: Plain = {"name": joint.child, "parent": joint.parent}
        if joint.kind is None:  # a link that is fixed to a body
            call |= {"placement": _placement(joint.origin), "joint_name": joint.name}
        else:
            call |= {"joint_name": joint.name, "placement": _placement(joint.origin), **_joint(joint)}
        calls["link", joint.child] = {"body": {**call, "inertia": _inertia(inertias[joint.child])}}
    for point in description.points:
        place = {"parent": point.parent, "position": list(point.position), "radius": point.radius}
        calls["point", point.name] = {"point": {"name": point.name, **place}}
    for frame in description.frames:
        place = {"parent": frame.parent, "placement": _placement(frame.origin)}
        calls["frame", frame.name] = {"frame": {"name": frame.name, **place}}
    order = [(frame.kind, frame.name) for frame in model.frames.values()]
    shapes: list[Plain] = []
    for shape in model.geometry:
        facts: Plain = {"role": shape.role, "kind": shape.kind, "size": list(shape.size), "mesh": shape.mesh}
        where = {"parent": model.names[shape.body], "placement": _placement(Placement.of(shape.X))}
        if shape.role == "collision":
            facts |= {"link": shape.link} | {name: getattr(shape, name) for name in OF_SHAPES}
        shapes.append({"shape": {**facts, **where, "color": list(shape.color)}})
    return {
        "name": model.name,
        "gravity": [float(x) for x in model.gravity_vector],
        "parameters": list(model.parameters),
        "excluded": [list(pair) for pair in model.excluded],
        "calls": [*(calls[name] for name in order if name in calls), *shapes],
    }


def from_plain(data: Any) -> Model:
    """What `to_plain` wrote, as a model; ModelError if it is anything else."""
    try:
        builder = Builder(data["name"], gravity=data["gravity"], policy="accept", parameters=data["parameters"])
        for call in data["calls"]:
            ((what, given),) = call.items()
            _CALLS[what](builder, dict(given))
        excluded = [(a, b) for a, b in data.get("excluded", [])]
        if not all(isinstance(name, str) for pair in excluded for name in pair):
            raise ModelError("excluded: expected pairs of names")
        return excluding(builder.build(), excluded)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ModelError(f"not a model as plain data: {type(error).__name__}: {error}") from None


def _add_body(builder: Builder, given: Plain) -> None:
    options: Plain = {"placement": _placed(given.pop("placement")), "inertia": Inertia(*given.pop("inertia"))}
    if "joint" in given:
        options["joint"] = _made(given.pop("joint"))
        options["limits"] = Limits(*([_open(x, sign) for x in row] for row, sign in _signed(given.pop("limits"))))
        if given["rotor"] is not None:
            gear, inertia, place, axis = given["rotor"]
            given["rotor"] = Rotor(gear, Inertia(*inertia), _placed(place), axis)
    builder.add_body(**given, **options)


def _add_frame(builder: Builder, given: Plain) -> None:
    builder.add_frame(given["name"], parent=given["parent"], placement=_placed(given["placement"]))


def _add_shape(builder: Builder, given: Plain) -> None:
    parent, origin = given.pop("parent"), _placed(given.pop("placement"))
    link, more = given.pop("link", parent), {name: given.pop(name) for name in OF_SHAPES if name in given}
    (shape,) = described_shapes(placement=origin, **given)
    kinds = {"name": str, "ground": bool, "group": int}
    wrong = [name for name, kind in kinds.items() if name in more and type(more[name]) is not kind]
    if wrong:
        raise ModelError(f"a shape of {parent!r}: {wrong[0]}: expected a {kinds[wrong[0]].__name__}")
    builder.add_described(parent, replace(shape, **more), link)


_CALLS: dict[str, Any] = {
    "body": _add_body,
    "frame": _add_frame,
    "point": lambda builder, given: builder.add_contact_point(**given),
    "shape": _add_shape,
}


def _joint(joint: LinkJoint) -> Plain:
    """What a joint is and has."""
    rotor = None
    if joint.rotor is not None:
        axis = joint.rotor.axis
        axis = axis if axis is None or isinstance(axis, str) else [float(x) for x in axis]
        rotor = [joint.rotor.gear, _inertia(joint.rotor.inertia), _placement(joint.rotor.placement), axis]
    limits = joint.limits or Limits()
    rows = (limits.lower, limits.upper, limits.velocity, limits.effort)
    bounds = [[x if math.isfinite(x) else None for x in row] for row in rows]  # type: ignore[union-attr]
    numbers = {name: list(getattr(joint, name)) for name in OF_COORDINATES}
    return {"joint": _kind(joint.motion), "limits": bounds, "rotor": rotor, **numbers}


def _is_ours(joint: Joint) -> bool:
    return getattr(joints, type(joint).__name__, None) is type(joint) and all(
        _is_ours(a) for a in joint.arguments() if isinstance(a, Joint)
    )


def _kind(joint: Joint) -> list[Any]:
    """The name of a kind and its arguments."""
    return [type(joint).__name__, *(_kind(a) if isinstance(a, Joint) else _list(a) for a in joint.arguments())]


def _list(x: Any) -> Any:
    return list(x) if isinstance(x, tuple) else x


def _made(data: Any) -> Joint:
    name, *arguments = data
    if name not in joints.__all__ or name == "Joint":
        raise ModelError(f"there is no kind of joint {name!r}")
    is_joint = [isinstance(a, list) and bool(a) and isinstance(a[0], str) for a in arguments]
    return getattr(joints, name)(*(_made(a) if own else a for a, own in zip(arguments, is_joint, strict=True)))


def _signed(rows: Any) -> list[tuple[Any, float]]:
    lower, upper, velocity, effort = rows
    return [(lower, -math.inf), (upper, math.inf), (velocity, math.inf), (effort, math.inf)]


def _open(x: float | None, bound: float) -> float:
    return bound if x is None else x


def _inertia(inertia: Inertia) -> list[Any]:
    return [inertia.mass, list(inertia.com), [list(row) for row in inertia.moment_about_com]]


def _placement(placement: Any) -> list[Any] | None:
    """Position, and the rows of the rotation to the parent."""
    if placement is None or placement == Placement():
        return None
    return [[float(x) for x in placement.position], [[float(x) for x in row] for row in placement.rotation]]


def _placed(data: Any) -> Placement | None:
    if data is None:
        return None
    xyz, rotation = data
    return Placement(xyz, rotation=rotation)
