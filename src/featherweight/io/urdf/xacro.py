"""xacro files, expanded by the package of that name where it is installed.

Expanding evaluates expressions of the file and reads the files it includes: it is done for files whose name ends in
.xacro alone, so that whoever loads one asks for it.
"""

from __future__ import annotations

import importlib
import os

from featherweight.errors import ModelError

ENDING = ".xacro"
BY_HAND = "xacro robot.xacro > robot.urdf"


def is_xacro(path: str) -> bool:
    """Is a file to be expanded, by its name?"""
    return path.lower().endswith(ENDING)


def expanded(path: str) -> bytes:
    """The URDF text that a xacro file expands to."""
    try:
        xacro = importlib.import_module("xacro")
    except ModuleNotFoundError as error:
        if error.name != "xacro":
            raise
        fix = f"install the package (pip install xacro), or expand it yourself: {BY_HAND}"
        raise ModelError(f"this is a xacro file, and the package xacro is not installed; {fix}", file=path) from None
    if not os.path.isfile(path):
        raise ModelError("cannot read the file: No such file or directory", file=path)
    try:
        return str(xacro.process_file(path).toprettyxml(indent="  ")).encode()
    except Exception as error:  # whatever the package, or an expression of the file, raises
        text = " ".join(str(error).split())
        fix = "with ROS around it, or arguments, expand it yourself: xacro robot.xacro name:=value > robot.urdf"
        raise ModelError(f"xacro cannot expand it: {type(error).__name__}: {text}; {fix}", file=path) from error
