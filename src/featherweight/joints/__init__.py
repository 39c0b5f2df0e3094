"""Joint kinds, one file each: the only place that knows one kind from another."""

from featherweight.joints.continuous import Continuous
from featherweight.joints.cylindrical import Cylindrical
from featherweight.joints.fixed import Fixed
from featherweight.joints.free import Free
from featherweight.joints.helical import Helical
from featherweight.joints.joint import Joint
from featherweight.joints.mimic import Mimic
from featherweight.joints.planar import Planar
from featherweight.joints.prismatic import Prismatic
from featherweight.joints.revolute import Revolute
from featherweight.joints.spherical import Spherical
from featherweight.joints.universal import Universal

__all__ = [
    "Continuous",
    "Cylindrical",
    "Fixed",
    "Free",
    "Helical",
    "Joint",
    "Mimic",
    "Planar",
    "Prismatic",
    "Revolute",
    "Spherical",
    "Universal",
]
