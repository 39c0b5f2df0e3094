"""Contact: points of a robot against surfaces, by springs and dampers or by impulses."""

from featherweight.contact.contact_model import ContactModel
from featherweight.contact.impulse import Impulse
from featherweight.contact.pair import Pair
from featherweight.contact.spring_damper import SpringDamper
from featherweight.contact.surfaces import Box, Heightfield, Plane, Sphere, Surface

__all__ = [
    "Box",
    "ContactModel",
    "Heightfield",
    "Impulse",
    "Pair",
    "Plane",
    "Sphere",
    "SpringDamper",
    "Surface",
]
