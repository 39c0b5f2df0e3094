"""Solid convex shapes that can touch each other: what a body is made of where it meets others."""

from featherweight.shapes.convex import Convex
from featherweight.shapes.primitives import Box, Capsule, Cylinder, Sphere
from featherweight.shapes.shape import Shape

__all__ = ["Box", "Capsule", "Convex", "Cylinder", "Shape", "Sphere"]
