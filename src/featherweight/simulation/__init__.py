"""Simulation: whole rollouts in native code."""

from featherweight.simulation.control import Compiled, compiled
from featherweight.simulation.gradient import rollout_gradient
from featherweight.simulation.linearization import linearize
from featherweight.simulation.running import rollout, simulate
from featherweight.simulation.status import Status
from featherweight.simulation.stepper import Stepper
from featherweight.simulation.trajectory import Trajectory

__all__ = [
    "Compiled", "Status", "Stepper", "Trajectory", "compiled", "linearize", "rollout", "rollout_gradient", "simulate",
]  # fmt: skip
