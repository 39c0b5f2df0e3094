"""The frozen model of a robot, and the builder that makes one."""

from featherweight.model.aggregated import aggregated
from featherweight.model.builder import Builder
from featherweight.model.collision_pairs import CollisionPair, CollisionPairs
from featherweight.model.collision_shapes import CollisionShape
from featherweight.model.inertia import Inertia
from featherweight.model.layouts import PinocchioMaps, joints_named
from featherweight.model.model import Model
from featherweight.model.pieces import BodyInfo, ContactPoint, Frame, Geometry, JointInfo
from featherweight.model.placement import Placement
from featherweight.model.properties import Limits, Rotor
from featherweight.model.tree import Tree, TreeJoint

__all__ = [
    "BodyInfo",
    "Builder",
    "CollisionPair",
    "CollisionPairs",
    "CollisionShape",
    "ContactPoint",
    "Frame",
    "Geometry",
    "Inertia",
    "JointInfo",
    "Limits",
    "Model",
    "PinocchioMaps",
    "Placement",
    "Rotor",
    "Tree",
    "TreeJoint",
    "aggregated",
    "joints_named",
]
