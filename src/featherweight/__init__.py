"""featherweight: articulated rigid-body dynamics in Python, compiled to SIMD code for each robot."""

from featherweight import joints, robots, scalar
from featherweight.compiler import interpret, thread_count, threads
from featherweight.dynamics import (
    Poses,
    forward_dynamics,
    forward_kinematics,
    inverse_dynamics,
    joint_wrenches,
    mass_matrix,
)
from featherweight.errors import ModelError
from featherweight.model import Builder, Inertia, Model, Placement

__version__ = "0.1.0"

__all__ = [
    "Builder",
    "Inertia",
    "Model",
    "ModelError",
    "Placement",
    "Poses",
    "forward_dynamics",
    "forward_kinematics",
    "interpret",
    "inverse_dynamics",
    "joint_wrenches",
    "joints",
    "mass_matrix",
    "robots",
    "scalar",
    "thread_count",
    "threads",
]
