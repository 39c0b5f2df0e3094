"""Force elements: what pushes bodies and joints by a law of the state. `contact.SoftContact` is one."""

from featherweight.forces.element import Advance, ForceElement, Push, with_damping
from featherweight.forces.kinematics import Kinematics
from featherweight.forces.wrenches import Wrenches

__all__ = ["Advance", "ForceElement", "Kinematics", "Push", "Wrenches", "with_damping"]
