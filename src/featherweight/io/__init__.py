"""Robots from files and to files."""

from featherweight.io.files import lint, load, loads, save_urdf
from featherweight.io.findings import Finding
from featherweight.io.plain import from_plain, to_plain

__all__ = ["Finding", "from_plain", "lint", "load", "loads", "save_urdf", "to_plain"]
