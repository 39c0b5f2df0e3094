"""featherweight: articulated rigid-body dynamics in Python, compiled to SIMD code for each robot."""

import sys as _sys
import typing as _typing

from featherweight import convert, joints, robots, scalar, shapes
from featherweight.compiler import interpret, thread_count, threads
from featherweight.dynamics import (
    ArticulatedInertias,
    Distance,
    Pose,
    Poses,
    articulated_inertia,
    bias_force,
    body_acceleration,
    body_velocity,
    center_of_mass,
    centroidal_bias,
    centroidal_momentum_matrix,
    com_jacobian,
    contact_inertia,
    coriolis_matrix,
    delassus,
    difference,
    distance,
    forward_dynamics,
    forward_dynamics_derivatives,
    forward_kinematics,
    frame_pose,
    gravity_force,
    hybrid_dynamics,
    integrate,
    inverse_dynamics,
    inverse_dynamics_derivatives,
    jacobian,
    jacobian_dot,
    joint_wrenches,
    kinetic_energy,
    mass_matrix,
    mass_matrix_inverse,
    momentum,
    operational_inertia,
    passive_force,
    potential_energy,
    propagator,
    regressor,
    solve_mass_matrix,
    unit_force_response,
    wrench_on,
)
from featherweight.dynamics.poses import exp, log
from featherweight.errors import ConvergenceError, ModelError, SimulationError
from featherweight.model import Builder, Inertia, Limits, Model, Placement, Rotor

if _typing.TYPE_CHECKING:  # what `__getattr__` below imports late; `as` says that it is public
    from featherweight import constraints as constraints
    from featherweight import contact as contact
    from featherweight import control as control
    from featherweight import equations as equations
    from featherweight import forces as forces
    from featherweight import integrators
    from featherweight import io as io
    from featherweight import notebooks as notebooks
    from featherweight import plot as plot
    from featherweight import scenes as scenes
    from featherweight import viewer as viewer
    from featherweight.campaigns import Sweep, sweep
    from featherweight.functions import configuration, derivative, function, jvp, vjp
    from featherweight.io import lint, load, loads, save, save_urdf
    from featherweight.simulation import (
        Status,
        Stepper,
        Trajectory,
        compiled,
        linearize,
        rollout,
        rollout_gradient,
        simulate,
    )
    from featherweight.simulation import actuators as actuators

__version__ = "0.1.0"

__all__ = [
    "ArticulatedInertias",
    "Builder",
    "ConvergenceError",
    "Distance",
    "Inertia",
    "Limits",
    "Model",
    "ModelError",
    "Placement",
    "Pose",
    "Poses",
    "Rotor",
    "SimulationError",
    "Status",
    "Stepper",
    "Sweep",
    "Trajectory",
    "articulated_inertia",
    "bias_force",
    "body_acceleration",
    "body_velocity",
    "center_of_mass",
    "centroidal_bias",
    "centroidal_momentum_matrix",
    "com_jacobian",
    "compiled",
    "configuration",
    "contact_inertia",
    "convert",
    "coriolis_matrix",
    "delassus",
    "derivative",
    "difference",
    "distance",
    "exp",
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "forward_kinematics",
    "frame_pose",
    "function",
    "gravity_force",
    "hybrid_dynamics",
    "integrate",
    "integrators",
    "interpret",
    "inverse_dynamics",
    "inverse_dynamics_derivatives",
    "jacobian",
    "jacobian_dot",
    "joint_wrenches",
    "joints",
    "jvp",
    "kinetic_energy",
    "linearize",
    "lint",
    "load",
    "loads",
    "log",
    "mass_matrix",
    "mass_matrix_inverse",
    "momentum",
    "operational_inertia",
    "passive_force",
    "potential_energy",
    "propagator",
    "regressor",
    "robots",
    "rollout",
    "rollout_gradient",
    "save",
    "save_urdf",
    "scalar",
    "shapes",
    "simulate",
    "solve_mass_matrix",
    "sweep",
    "thread_count",
    "threads",
    "unit_force_response",
    "vjp",
    "wrench_on",
]


_LATE = {
    "actuators": "featherweight.simulation.actuators",
    "constraints": "featherweight.constraints",
    "contact": "featherweight.contact",
    "control": "featherweight.control",
    "equations": "featherweight.equations",
    "forces": "featherweight.forces",
    "integrators": "featherweight.integrators",
    "io": "featherweight.io",
    "notebooks": "featherweight.notebooks",
    "scenes": "featherweight.scenes",
    "plot": "featherweight.plot",
    "viewer": "featherweight.viewer",
}


_ALGORITHMS = {"rnea": "inverse_dynamics", "aba": "forward_dynamics", "crba": "mass_matrix", "fk": "forward_kinematics"}


def __getattr__(name: str) -> _typing.Any:
    """Reading files and simulation are imported when they are first needed."""
    if name in ("lint", "load", "loads", "save", "save_urdf"):
        from featherweight import io

        return getattr(io, name)
    if name in ("configuration", "derivative", "function", "jvp", "vjp"):
        from featherweight import functions

        return getattr(functions, name)
    if name in ("Status", "Stepper", "Trajectory", "compiled", "linearize", "rollout", "rollout_gradient", "simulate"):
        from featherweight import simulation

        return globals().setdefault(name, getattr(simulation, name))  # found at once from now on
    if name in ("Sweep", "sweep"):
        from featherweight import campaigns

        return getattr(campaigns, name)
    if name in _LATE:
        import importlib

        return importlib.import_module(_LATE[name])
    found = _ALGORITHMS.get(name.lower())
    hint = f"; that algorithm is featherweight.{found}" if found else ""
    text = f"module 'featherweight' has no attribute {name!r}{hint}"
    raise AttributeError(text, name=name, obj=_sys.modules[__name__])


def __dir__() -> list[str]:
    """What is imported late, too: for completion, and for Python's "Did you mean"."""
    return sorted({*globals(), *__all__, *_LATE})
