"""The solver: from blocks of constraints to impulses and the velocity they leave."""

from featherweight.constraints.solve.solve import Solved, impact_speed, solve
from featherweight.constraints.solve.solver import SolverOptions

__all__ = ["Solved", "SolverOptions", "impact_speed", "solve"]
