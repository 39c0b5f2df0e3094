"""A robot of which only a pose is known, made ready to be simulated: held by its motors, or limp."""

from __future__ import annotations

import numpy as np

from featherweight.contact import Impulse
from featherweight.control import joint_pd
from featherweight.dynamics import forward_kinematics, mass_matrix, mass_matrix_inverse
from featherweight.dynamics.contact_places import ground_heights
from featherweight.model import Model
from featherweight.simulation import Compiled, Stepper

DT = 1e-3  # s
FIRM = 15.0  # natural frequency [rad/s] of the joints of an arm, critically damped
STIFFNESS, DAMPING = 4.5, 0.11  # of legs, for each kilogram that they carry [N m/rad/kg], [N m s/rad/kg]
FASTEST = 100.0  # natural frequency [rad/s] that light joints of legs may have
TOLERANCE = 1e-5  # m/s, of impulses: less is not to be seen


def stepper_at(model: Model, q: np.ndarray, *, limp: bool) -> Stepper:
    """A simulation that begins at rest at q, on the plane if the robot has points that may touch it: not below it."""
    q = above_ground(model, q)
    contact = Impulse(tolerance=TOLERANCE) if model.contact_points else None
    control = None if limp or not model.nv else hold(model, q)
    return Stepper(model, q, dt=DT, contact=contact, control=control, f_ext=np.zeros((model.nb + 1, 6)))


def above_ground(model: Model, q: np.ndarray) -> np.ndarray:
    """The same, but lifted as far as contact points of a robot that floats are below the ground, z = 0."""
    if not model.contact_points or not model.joints[0].kind.floating:
        return q
    heights = ground_heights(model, forward_kinematics(model, q))
    lifted = q.copy()
    lifted[2] += max(0.0, -float(heights.min()))
    return lifted


def hold(model: Model, q: np.ndarray) -> Compiled:
    """PD towards q that carries the weight of the joints; legs are stiff enough to carry the robot."""
    floats = model.joints[0].kind.floating
    own = np.diag(mass_matrix(model, q))
    stiffness, damping = FIRM**2 * own, 2.0 * FIRM * own
    if floats:
        felt = 1.0 / np.diag(mass_matrix_inverse(model, q))  # if the other joints are free
        stiffness = np.minimum(STIFFNESS * model.mass, FASTEST**2 * felt)
        damping = np.minimum(DAMPING * model.mass, 2.0 * FASTEST * felt)
    return joint_pd(model, q, stiffness=stiffness, damping=damping)
