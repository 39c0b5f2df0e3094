"""A variational integrator in linear time (Lee, Liu, Park and Srinivasa, 2016), one step of its derivation a file.

`logarithm`, `straight`: from displacements to momenta, of bodies that are held and of those that float; `drnea`: the
equations of a step; `riqn`, `newton` (with `felt`), `broyden`: steps towards their solution; `guesses`, `solve` and
`rows`: the search for it; `legendre`, `ending`: from velocities to momenta and back; `floating`: momenta that are kept;
`forces`: damping, friction, springs; and `course` and `variational`, which put it together.
"""

from featherweight.integrators.variational.variational import Variational

__all__ = ["Variational"]
