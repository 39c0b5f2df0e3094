"""A model as plain data for JSON, and back through the `Builder`, which checks all of it again.

The data are the builder's calls, in order: bodies, frames, contact points, shapes. What comes back has the same
numbers, so that a run's file can carry its robot. Meshes stay behind: a file says their names, never where they are.
"""

from __future__ import annotations

import math
from typing import Any

from featherweight import joints
from featherweight.errors import ModelError
from featherweight.joints import Joint
from featherweight.model import Builder, Frame, Inertia, JointInfo, Limits, Model, Placement, Rotor
from featherweight.spatial import Matrix, Transform

Plain = dict[str, Any]
OF_COORDINATES = ("armature", "damping", "friction", "stiffness", "rest")


def to_plain(model: Model) -> Plain | None:
    """The model as lists, texts and numbers; None if it has joints of other packages."""
    if any(not _is_ours(joint.kind) for joint in model.joints):
        return None
    moving = {model.names[joint.body]: joint for joint in model.joints}
    parts = {part.link: part for part in model.parts}
    points = {point.name: point for point in model.contact_points}
    calls: list[Plain] = []
    frames = iter(model.frames.values())
    next(frames)  # the world
    for frame in frames:
        call: Plain = {"name": frame.name, "parent": model.names[frame.body]}
        if frame.name in points:
            calls.append({"point": {**call, **_point(model, frame), "radius": points[frame.name].radius}})
        elif frame.name in moving:
            joint = moving[frame.name]
            call |= {"parent": model.names[model.parent[joint.body]], "joint_name": next(frames).name}
            call |= {"placement": _placement(model.X_tree[joint.body]), **_joint(joint)}
            calls.append({"body": {**call, "inertia": _inertia(parts[frame.name].inertia)}})
        elif frame.name in parts:  # a link that is fixed to a body
            call |= {"placement": _placement(frame.X), "joint_name": next(frames).name}
            calls.append({"body": {**call, "inertia": _inertia(parts[frame.name].inertia)}})
        else:
            calls.append({"frame": {**call, "placement": _placement(frame.X)}})
    for shape in model.geometry:
        facts = {"role": shape.role, "kind": shape.kind, "size": list(shape.size), "mesh": shape.mesh}
        place = {"parent": model.names[shape.body], "placement": _placement(shape.X)}
        calls.append({"shape": {**facts, **place, "color": list(shape.color)}})
    gravity = [float(x) for x in model.gravity_vector]
    return {"name": model.name, "gravity": gravity, "parameters": list(model.parameters), "calls": calls}


def from_plain(data: Any) -> Model:
    """What `to_plain` wrote, as a model; ModelError if it is anything else."""
    try:
        builder = Builder(data["name"], gravity=data["gravity"], policy="accept", parameters=data["parameters"])
        for call in data["calls"]:
            ((what, given),) = call.items()
            _CALLS[what](builder, dict(given))
        return builder.build()
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
    builder.add_geometry(**{**given, "placement": _placed(given["placement"])})


_CALLS: dict[str, Any] = {
    "body": _add_body,
    "frame": _add_frame,
    "point": lambda builder, given: builder.add_contact_point(**given),
    "shape": _add_shape,
}


def _point(model: Model, frame: Frame) -> Plain:
    """Where a contact point is: on its body, or on an earlier frame with the same axes, which it got them from."""
    if Matrix.identity() == frame.X.E:
        return {"position": [float(x) for x in frame.X.r]}
    base = next(f for f in model.frames.values() if (f.body, f.X.E) == (frame.body, frame.X.E))
    return {"parent": base.name, "position": [float(x) for x in base.X.E @ (frame.X.r - base.X.r)]}


def _joint(joint: JointInfo) -> Plain:
    """What a joint is and has; a follower's numbers as they were before they were seen by its leader."""
    r = abs(joint.kind.ratio)
    powers = {"armature": r * r, "damping": r * r, "friction": r, "stiffness": r * r}
    numbers = {
        name: [x / powers[name] if r and name in powers else x for x in getattr(joint, name)] for name in OF_COORDINATES
    }
    if not joint.independent and joint.stiffness[0]:
        numbers["rest"] = [joint.rest[0] * joint.kind.ratio + joint.kind.offset]
    rotor = None
    if joint.rotor is not None:
        place, axis = joint.rotor.placement or Placement(), joint.rotor.axis
        axis = axis if axis is None or isinstance(axis, str) else [float(x) for x in axis]
        rotor = [joint.rotor.gear, _inertia(joint.rotor.inertia), _placement(place.transform), axis]
    limits = joint.limits
    rows = (limits.lower, limits.upper, limits.velocity, limits.effort)
    bounds = [[x if math.isfinite(x) else None for x in row] for row in rows]  # type: ignore[union-attr]
    return {"joint": _kind(joint.kind), "limits": bounds, "rotor": rotor, **numbers}


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


def _placement(X: Transform) -> list[Any] | None:
    """Position, and the rows of the rotation to the parent."""
    if Transform.identity() == X:
        return None
    return [[float(x) for x in X.r], [[float(x) for x in row] for row in X.E.T]]


def _placed(data: Any) -> Placement | None:
    if data is None:
        return None
    xyz, rotation = data
    return Placement(xyz, rotation=rotation)
