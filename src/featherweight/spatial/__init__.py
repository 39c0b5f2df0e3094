"""Spatial algebra over any scalar: motions, forces, transforms, inertias, rotations and their groups."""

from featherweight.spatial.displacement import Displacement, polynomial, small_turn, turn_about
from featherweight.spatial.groups import (
    MotionMatrix,
    Quaternion,
    exp_se2,
    exp_se3,
    exp_so3,
    left_jacobian_se3,
    left_jacobian_se3_inverse,
    left_jacobian_so3,
    left_jacobian_so3_inverse,
    log_se2,
    log_se3,
    log_so3,
    right_jacobian_se3,
    right_jacobian_se3_inverse,
    right_jacobian_so3,
    right_jacobian_so3_inverse,
)
from featherweight.spatial.inertia import ArticulatedInertia, RigidInertia
from featherweight.spatial.motion import Force, Motion
from featherweight.spatial.rotation import about_axis, from_quaternion, from_rpy, turned
from featherweight.spatial.transform import Transform
from featherweight.spatial.vector import Matrix, Symmetric, Vector

__all__ = [
    "ArticulatedInertia",
    "Displacement",
    "Force",
    "Matrix",
    "Motion",
    "MotionMatrix",
    "Quaternion",
    "RigidInertia",
    "Symmetric",
    "Transform",
    "Vector",
    "about_axis",
    "exp_se2",
    "exp_se3",
    "exp_so3",
    "from_quaternion",
    "from_rpy",
    "left_jacobian_se3",
    "left_jacobian_se3_inverse",
    "left_jacobian_so3",
    "left_jacobian_so3_inverse",
    "log_se2",
    "log_se3",
    "log_so3",
    "polynomial",
    "right_jacobian_se3",
    "right_jacobian_se3_inverse",
    "right_jacobian_so3",
    "right_jacobian_so3_inverse",
    "small_turn",
    "turn_about",
    "turned",
]
