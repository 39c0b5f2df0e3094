"""Featherstone's algorithms, one a file, over any scalar."""

from featherweight.algorithms.forward_dynamics import forward_dynamics
from featherweight.algorithms.inverse_dynamics import inverse_dynamics
from featherweight.algorithms.kinematics import forward_kinematics
from featherweight.algorithms.mass_matrix import mass_matrix

__all__ = ["forward_dynamics", "forward_kinematics", "inverse_dynamics", "mass_matrix"]
