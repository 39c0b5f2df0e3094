"""Equations of motion in symbols, derived in three ways: Newton-Euler, projected Newton-Euler, Lagrange.

>>> import sympy, featherweight as fw
>>> m, l, g = sympy.symbols("m l g", positive=True)
>>> model = fw.robots.pendulum(mass=m, length=l, gravity=g)
>>> equations = fw.equations.lagrange(model).simplified()
>>> equations.M, equations.g
(Matrix([[l**2*m]]), Matrix([[g*l*m*sin(q1)]]))
"""

try:
    import sympy as _sympy  # noqa: F401
except ModuleNotFoundError:  # pragma: no cover
    raise ModuleNotFoundError(
        "featherweight.equations needs SymPy: pip install featherweight[equations]", name="sympy"
    ) from None

from featherweight.equations.agreement import Agreement, agreement
from featherweight.equations.elements import Damper, Force, JointDamper, JointSpring, Moment, Spring
from featherweight.equations.equations import Equations
from featherweight.equations.equilibria import Equilibrium
from featherweight.equations.lagrange import lagrange
from featherweight.equations.latex_document import tex, write_pdf
from featherweight.equations.newton_euler import newton_euler
from featherweight.equations.page import page
from featherweight.equations.projected_newton_euler import projected_newton_euler

__all__ = [
    "Agreement",
    "Damper",
    "Equations",
    "Equilibrium",
    "Force",
    "JointDamper",
    "JointSpring",
    "Moment",
    "Spring",
    "agreement",
    "lagrange",
    "newton_euler",
    "page",
    "projected_newton_euler",
    "tex",
    "write_pdf",
]
