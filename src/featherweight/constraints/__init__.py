"""Constraints: limits, dry friction, contact … as blocks of impulses under a law, and how they are solved."""

from featherweight.constraints.cone import Cone
from featherweight.constraints.constraint import Block, Constraint, Reaction, Situation
from featherweight.constraints.dry_friction import DryFriction
from featherweight.constraints.interval import Equality, Interval
from featherweight.constraints.joint_limit import JointLimit
from featherweight.constraints.law import Law
from featherweight.forces import Push

__all__ = [
    "Block", "Cone", "Constraint", "DryFriction", "Equality", "Interval", "JointLimit", "Law", "Push", "Reaction",
    "Situation",
]  # fmt: skip
