"""Controllers for the native loop: `fw.control.trot(robot, q)` is what `simulate` and `rollout` take as `control=`.

Gains, targets, weights and limits are parameters of the compiled step: controllers that differ in numbers alone share
one compilation. What each controller documents as structure shapes its code.
"""

from featherweight.control.balance import balance
from featherweight.control.forces import forces_in_cones
from featherweight.control.gains import BalanceGains, ForceSolver, Gains, QuadrupedGains
from featherweight.control.joint_pd import joint_pd
from featherweight.control.layout import RowLayout, shaped
from featherweight.control.names import named
from featherweight.control.operational_space import operational_space
from featherweight.control.push import pushed
from featherweight.control.several import parts
from featherweight.control.stances import stances
from featherweight.control.trot import stand, trot

__all__ = [
    "BalanceGains",
    "ForceSolver",
    "Gains",
    "QuadrupedGains",
    "RowLayout",
    "balance",
    "forces_in_cones",
    "joint_pd",
    "named",
    "operational_space",
    "parts",
    "pushed",
    "shaped",
    "stances",
    "stand",
    "trot",
]
