"""Controllers for the native loop: `fw.control.trot(robot, q)` is what `simulate` and `rollout` take as `control=`."""

from featherweight.control.balance import balance
from featherweight.control.forces import forces_in_cones
from featherweight.control.joint_pd import joint_pd
from featherweight.control.names import named
from featherweight.control.operational_space import operational_space
from featherweight.control.push import pushed
from featherweight.control.stances import stances
from featherweight.control.trot import stand, trot

__all__ = ["balance", "forces_in_cones", "joint_pd", "named", "operational_space", "pushed", "stances", "stand", "trot"]
