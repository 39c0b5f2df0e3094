"""A variational integrator in linear time (Lee, Liu, Park and Srinivasa, 2016), one step of its derivation a file.

`logarithm`: from displacements to momenta; `drnea`: the equations of a step; `riqn`, `newton`: how they are solved;
`legendre`: from velocities to momenta and back; `forces`, `guesses`, `solve`, and `variational`, which puts it together.
"""

from featherweight.integrators.variational.variational import Variational

__all__ = ["Variational"]
