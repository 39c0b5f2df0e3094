"""Joint kinds, one file each: the only place that knows one kind from another."""

from featherweight.joints.fixed import Fixed
from featherweight.joints.free import Free
from featherweight.joints.joint import Joint
from featherweight.joints.prismatic import Prismatic
from featherweight.joints.revolute import Revolute

__all__ = ["Fixed", "Free", "Joint", "Prismatic", "Revolute"]
