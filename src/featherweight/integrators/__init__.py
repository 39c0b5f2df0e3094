"""Integrators, one method a file, over any scalar: a step of the equations of motion."""

from featherweight.integrators.integrator import Integrator
from featherweight.integrators.rk4 import RK4
from featherweight.integrators.semi_implicit import SemiImplicit
from featherweight.integrators.variational import Variational

NAMES: dict[str, type[Integrator]] = {"semi_implicit": SemiImplicit, "rk4": RK4, "variational": Variational}

__all__ = ["NAMES", "RK4", "Integrator", "SemiImplicit", "Variational"]
