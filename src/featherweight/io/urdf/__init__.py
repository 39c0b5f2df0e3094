"""URDF files: one reader and one writer of descriptions, and a writer that changes a file here and there."""

from featherweight.io.urdf.patch import patched
from featherweight.io.urdf.read import described, read
from featherweight.io.urdf.write import write

__all__ = ["described", "patched", "read", "write"]
