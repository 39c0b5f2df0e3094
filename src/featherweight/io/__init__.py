"""Robots from files and to files."""

from featherweight.io.files import lint, load, loads, save_urdf
from featherweight.io.findings import Finding

__all__ = ["Finding", "lint", "load", "loads", "save_urdf"]
