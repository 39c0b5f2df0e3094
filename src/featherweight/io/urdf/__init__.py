"""URDF files: one reader and one writer of descriptions."""

from featherweight.io.urdf.read import read
from featherweight.io.urdf.write import write

__all__ = ["read", "write"]
