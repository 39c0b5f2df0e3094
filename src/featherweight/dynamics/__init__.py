"""The public functions of kinematics and dynamics."""

from featherweight.dynamics.articulated import ArticulatedInertias, articulated_inertia, propagator
from featherweight.dynamics.configuration import difference, integrate
from featherweight.dynamics.contact_space import contact_inertia, delassus, operational_inertia, unit_force_response
from featherweight.dynamics.derivatives import (
    forward_dynamics_derivatives,
    inverse_dynamics_derivatives,
    regressor,
)
from featherweight.dynamics.distance import Distance, distance
from featherweight.dynamics.functions import (
    forward_dynamics,
    hybrid_dynamics,
    inverse_dynamics,
    joint_wrenches,
    mass_matrix,
)
from featherweight.dynamics.inertia import (
    bias_force,
    coriolis_matrix,
    gravity_force,
    mass_matrix_inverse,
    passive_force,
    solve_mass_matrix,
)
from featherweight.dynamics.kinematics import (
    body_acceleration,
    body_velocity,
    forward_kinematics,
    frame_pose,
    jacobian,
    jacobian_dot,
    wrench_on,
)
from featherweight.dynamics.momentum import (
    center_of_mass,
    centroidal_bias,
    centroidal_momentum_matrix,
    com_jacobian,
    kinetic_energy,
    momentum,
    potential_energy,
)
from featherweight.dynamics.poses import Pose, Poses

__all__ = [
    "ArticulatedInertias",
    "Distance",
    "Pose",
    "Poses",
    "articulated_inertia",
    "bias_force",
    "body_acceleration",
    "body_velocity",
    "center_of_mass",
    "centroidal_bias",
    "centroidal_momentum_matrix",
    "com_jacobian",
    "contact_inertia",
    "coriolis_matrix",
    "delassus",
    "difference",
    "distance",
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "forward_kinematics",
    "frame_pose",
    "gravity_force",
    "hybrid_dynamics",
    "integrate",
    "inverse_dynamics",
    "inverse_dynamics_derivatives",
    "jacobian",
    "jacobian_dot",
    "joint_wrenches",
    "kinetic_energy",
    "mass_matrix",
    "mass_matrix_inverse",
    "momentum",
    "operational_inertia",
    "passive_force",
    "potential_energy",
    "propagator",
    "regressor",
    "solve_mass_matrix",
    "unit_force_response",
    "wrench_on",
]
