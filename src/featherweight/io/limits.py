"""How large and how small the numbers of a robot may be: beyond any machine, and still what doubles can compute with.

docs/decisions/0010 says why, docs/how-to/urdf.md what is refused.
"""

from __future__ import annotations

PARTS = 11_000  # links, joints and shapes of a file, together: more than any robot has, and read in three seconds
POINTS = 5_000  # of contact, that its collision shapes have
FOLDERS = 128  # in the name of a mesh
LARGEST = 1e100  # of any number: squares of larger ones overflow
LENGTH = 1e5  # [m] of origins and shapes; also the largest radius of gyration √(I / m)
MASS = 1e9  # [kg] of a link
MOMENT = MASS * LENGTH**2  # [kg m²] of a link
RATIO = 1e6  # of a gear; [rad or m] of the offset of a mimic joint
FOLLOW = 1e3  # of a mimic joint, over all it follows: what turns faster flies apart in a step of a simulation
ROTOR = 1e6  # [kg m²] of a motor
RESISTANCE = 1e12  # damping [N m s or N s/m], friction [N m or N]
TINY = 1e-9  # [kg] of what moves: less is a mistake of units
DIGITS = 1e-13  # of the largest moment: smaller ones are rounding
SMALL = 1e-5  # [m]: radius of gyration of a moving body about its own joint
