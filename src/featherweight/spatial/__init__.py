"""Spatial algebra over any scalar: motions, forces, transforms, inertias, rotations."""

from featherweight.spatial.inertia import ArticulatedInertia, RigidInertia
from featherweight.spatial.motion import Force, Motion
from featherweight.spatial.rotation import about_axis, from_quaternion, from_rpy
from featherweight.spatial.transform import Transform
from featherweight.spatial.vector import Matrix, Symmetric, Vector

__all__ = [
    "ArticulatedInertia",
    "Force",
    "Matrix",
    "Motion",
    "RigidInertia",
    "Symmetric",
    "Transform",
    "Vector",
    "about_axis",
    "from_quaternion",
    "from_rpy",
]
