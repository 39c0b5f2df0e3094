"""The public functions of kinematics and dynamics."""

from featherweight.dynamics.functions import forward_dynamics, inverse_dynamics, joint_wrenches, mass_matrix
from featherweight.dynamics.kinematics import Poses, forward_kinematics

__all__ = [
    "Poses",
    "forward_dynamics",
    "forward_kinematics",
    "inverse_dynamics",
    "joint_wrenches",
    "mass_matrix",
]
