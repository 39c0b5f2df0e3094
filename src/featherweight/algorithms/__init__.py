"""Featherstone's algorithms over any scalar, one in each file."""

from featherweight.algorithms.configuration import difference, integrate
from featherweight.algorithms.contact_inertia import (
    contact_inertia_inverse,
    delassus,
    operational_inertia,
    unit_force_response,
)
from featherweight.algorithms.coriolis import coriolis_matrix
from featherweight.algorithms.coupled import coupled_forward_dynamics, coupled_hybrid_dynamics
from featherweight.algorithms.energy import kinetic_energy, potential_energy
from featherweight.algorithms.factorization import factorize
from featherweight.algorithms.forward_dynamics import forward_dynamics
from featherweight.algorithms.forward_dynamics_derivatives import forward_dynamics_derivatives
from featherweight.algorithms.gyroscopic import change_to_midpoint
from featherweight.algorithms.hybrid_dynamics import hybrid_dynamics
from featherweight.algorithms.inverse_dynamics import inverse_dynamics
from featherweight.algorithms.inverse_dynamics_derivatives import inverse_dynamics_derivatives
from featherweight.algorithms.jacobian import FRAMES, force_seen_from, jacobian, jacobian_dot, seen_from
from featherweight.algorithms.kinematics import body_motion, forward_kinematics, velocities
from featherweight.algorithms.mass_matrix import mass_matrix
from featherweight.algorithms.momentum import (
    center_of_mass,
    centroidal_bias,
    centroidal_momentum_matrix,
    com_jacobian,
    momentum,
)
from featherweight.algorithms.passive_force import passive_force
from featherweight.algorithms.propagator import articulated_inertia, propagated
from featherweight.algorithms.regressor import regressor
from featherweight.algorithms.regularity import Pivot, lost_pivots, pivots, pivots_of_matrix

__all__ = [
    "FRAMES",
    "Pivot",
    "articulated_inertia",
    "body_motion",
    "center_of_mass",
    "centroidal_bias",
    "centroidal_momentum_matrix",
    "change_to_midpoint",
    "com_jacobian",
    "contact_inertia_inverse",
    "coriolis_matrix",
    "coupled_forward_dynamics",
    "coupled_hybrid_dynamics",
    "delassus",
    "difference",
    "factorize",
    "force_seen_from",
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "forward_kinematics",
    "hybrid_dynamics",
    "integrate",
    "inverse_dynamics",
    "inverse_dynamics_derivatives",
    "jacobian",
    "jacobian_dot",
    "kinetic_energy",
    "lost_pivots",
    "mass_matrix",
    "momentum",
    "operational_inertia",
    "passive_force",
    "pivots",
    "pivots_of_matrix",
    "potential_energy",
    "propagated",
    "regressor",
    "seen_from",
    "unit_force_response",
    "velocities",
]
