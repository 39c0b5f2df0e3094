"""Robots from files and to files, by way of a description that knows no file format."""

from featherweight.io.build import build
from featherweight.io.files import lint, load, loads, read_urdf, repaired_urdf, save, save_urdf, to_urdf
from featherweight.io.findings import Finding
from featherweight.io.plain import from_plain, to_plain
from featherweight.io.summary import Findings
from featherweight.model.describe import describe
from featherweight.model.description import (
    Actuator,
    Description,
    Follow,
    Keyframe,
    Link,
    LinkFrame,
    LinkJoint,
    LinkPoint,
    LoopClosure,
    Motor,
    Sensor,
    Shape,
)
from featherweight.model.spelling import Bounds, Inertial, Origin, Source

__all__ = [
    "Actuator",
    "Bounds",
    "Description",
    "Finding",
    "Findings",
    "Follow",
    "Inertial",
    "Keyframe",
    "Link",
    "LinkFrame",
    "LinkJoint",
    "LinkPoint",
    "LoopClosure",
    "Motor",
    "Origin",
    "Sensor",
    "Shape",
    "Source",
    "build",
    "describe",
    "from_plain",
    "lint",
    "load",
    "loads",
    "read_urdf",
    "repaired_urdf",
    "save",
    "save_urdf",
    "to_plain",
    "to_urdf",
]
