"""Files of robots that are no URDF, answered by name: told by their first bytes or their outermost element."""

from __future__ import annotations

import re

from featherweight.errors import ModelError

BOM = b"\xef\xbb\xbf"
URDF = "load a URDF of the robot, or convert it to one"
BEGINNINGS = {  # of files that are no XML
    b"PXR-USDC": ("a USD file (OpenUSD, of bytes)", "export the robot as URDF, in Isaac Sim by its URDF exporter"),
    b"#usda": ("a USD file (OpenUSD)", "export the robot as URDF, in Isaac Sim by its URDF exporter"),
    b"PK\x03\x04": ("an archive (ZIP, or USD as .usdz)", "unpack it, and load the URDF file in it"),
    b"\x1f\x8b": ("a compressed file (gzip)", "unpack it, and load the URDF file in it"),
    b"version https://git-lfs": ("a pointer of Git LFS, not the file itself", "fetch the file: git lfs pull"),
    b"glTF": ("a mesh (glTF)", "load the URDF file that uses it"),
    b"solid": ("a mesh (STL)", "load the URDF file that uses it"),
}
ELEMENTS = {  # outermost ones
    b"mujoco": ("an MJCF file (MuJoCo), which a later version will read", URDF),
    b"mujocoinclude": ("a part of an MJCF file (MuJoCo), which a later version will read", URDF),
    b"sdf": ("an SDF file (Gazebo)", URDF),
    b"gazebo": ("an old SDF file (Gazebo)", URDF),
    b"COLLADA": ("a mesh (COLLADA)", "load the URDF file that uses it"),
    b"launch": ("a launch file (ROS)", "load the URDF file that it names"),
    b"package": ("a manifest of a ROS package", "load a URDF file of the package"),
    b"html": ("a web page", "download the file itself: on GitHub by the button Raw"),
}
_BEFORE = re.compile(rb"\s*(?:<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>]*>)", re.S | re.I)  # what may precede it
_TAG = re.compile(rb"\s*<([A-Za-z_][\w.-]*)")


def refuse_others(data: bytes, file: str | None) -> None:
    """ModelError with its name if this is another kind of file than URDF, as far as it is known."""
    for start, (what, fix) in BEGINNINGS.items():
        if data.startswith(start):
            raise ModelError(f"this is {what}; {fix}", file=file, line=1)
    at = len(BOM) if data.startswith(BOM) else 0
    while before := _BEFORE.match(data, at):
        at = before.end()
    tag = _TAG.match(data, at)
    found = None if tag is None else _answer(tag[1], data)
    if tag is not None and found is not None:
        line = data.count(b"\n", 0, tag.start(1)) + 1
        raise ModelError(f"this is {found[0]}; {found[1]}", file=file, line=line, element=f"<{tag[1].decode()}>")


def _answer(tag: bytes, data: bytes) -> tuple[str, str] | None:
    """What the outermost element says."""
    if tag == b"robot" and b"<link" not in data and (b"<group" in data or b"<disable_collisions" in data):
        return "an SRDF file, which names groups of a robot's joints", "load the URDF file beside it"
    return ELEMENTS.get(tag.lower() if tag.lower() == b"html" else tag)
