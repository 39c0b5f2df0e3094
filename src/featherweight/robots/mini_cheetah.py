"""The MIT Mini Cheetah: a quadruped with twelve geared motors whose rotors matter."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import pi

from featherweight.joints import Free, Revolute
from featherweight.model import Builder, Inertia, Limits, Model, Placement, Rotor

Place = tuple[float, float, float]

LEGS = {"FR": (1, -1), "FL": (1, 1), "HR": (-1, -1), "HL": (-1, 1)}  # front or hind, left or right
GEAR = {"abad": 6.0, "hip": 6.0, "knee": 9.33}
EFFORT = {"abad": 17.0, "hip": 17.0, "knee": 26.0}  # [N m]
NO_LOAD = 24.0 / (2 * 0.05)  # speed of a motor without load [rad/s]: voltage over back electromotive force
AXIS = {"abad": "x", "hip": "y", "knee": "y"}

# mass [kg], centre of mass [m], and moment about it: xx xy xz yy yz zz [1e-6 kg m²], of a left leg
LINKS = {
    "abad_link": (0.54, (0.0, 0.036, 0.0), (381.0, 58.0, 0.45, 560.0, 0.95, 444.0)),
    "thigh": (0.634, (0.0, 0.016, -0.02), (1983.0, 245.0, 13.0, 2103.0, 1.5, 408.0)),
    "shank": (0.064, (0.0, 0.0, -0.061), (245.0, 0.0, 0.0, 248.0, 0.0, 6.0)),
}
BODY = (0.38, 0.098, 0.10)  # length, width, height [m]
# what touches others * by link, of a left leg: capsules by their middle, rpy from z to their axis, radius and length
# between the centres of their ends [m]; a shank ends where its foot does
LIMBS = {
    "abad_link": ((0.0, 0.026, 0.0), (pi / 2, 0.0, 0.0), 0.03, 0.04, (0.29, 0.31, 0.35, 1.0)),
    "thigh": ((0.0, 0.0, -0.1045), (0.0, 0.0, 0.0), 0.02, 0.169, (0.86, 0.58, 0.22, 1.0)),
    "shank": ((0.0, -0.004, -0.1), (0.0, 0.0, 0.0), 0.012, 0.166, (0.29, 0.31, 0.35, 1.0)),
}
TRUNK = (0.45, 0.55, 0.64, 1.0)
ROTOR_MASS, ROTOR_SPIN, ROTOR_ACROSS = 0.055, 63e-6, 33e-6  # [kg], [kg m²]


def mini_cheetah(
    *,
    rotors: str = "spinning",
    damping: float = 0.01,
    friction: float = 0.2,
    points: str = "all",
    parameters: Sequence[str] = (),
    collision: bool = False,
) -> Model:
    """The Mini Cheetah, 9 kg: a free body, four legs FR, FL, HR, HL with ab/ad, hip and knee, 16 contact points.

    The hips' frames are turned by π about z, so that thighs and shanks have x backward. At q = 0 the legs hang straight
    down. `rotors`: "spinning" for real ones, "armature" for their inertia about the joint alone, "none" for a robot
    without. `damping` [N m s] and dry `friction` [N m] act in `passive_force`. `points`: "all" for corners of the body,
    knees and feet, or "feet". `parameters` names constants that are given with each call, as for `Builder`. With
    `collision` a box for the body and a capsule for each link of a leg touch other shapes, where a contact model's
    `pairs` say so; on the ground the contact points stand for them.

    >>> import featherweight as fw
    >>> fw.robots.mini_cheetah()
    <Model 'mini_cheetah': 13 bodies, nq 19, nv 18>
    """
    _check(points, rotors, collision)
    # the published thigh breaks the triangle inequality by 4 %
    builder = Builder("mini_cheetah", policy="accept", parameters=parameters)
    builder.add_body("body", joint=Free(), inertia=Inertia(3.3, (0, 0, 0), (11253e-6, 36203e-6, 42673e-6)))
    if points == "all":
        for corner in product(("front", "hind"), ("left", "right"), ("top", "bottom")):
            signs = (1 if where in ("front", "left", "top") else -1 for where in corner)
            position = [sign * size / 2 for sign, size in zip(signs, BODY, strict=True)]
            builder.add_contact_point(f"body_{'_'.join(corner)}", parent="body", position=position)

    for leg, (end, side) in LEGS.items():
        for joint, link, parent, place, rotor_place, rpy in _chain(leg, end, side):
            gear = GEAR[joint]
            rotor = Rotor(gear, _rotor(AXIS[joint]), Placement(rotor_place, rpy=rpy))
            if rotors == "armature":  # welded to the parent
                builder.add_body(f"{link}_rotor", parent=parent, placement=rotor.placement, inertia=rotor.inertia)
            builder.add_body(
                link,
                parent=parent,
                joint=Revolute(AXIS[joint]),
                joint_name=f"{leg}_{joint}",
                placement=Placement(place, rpy=rpy),
                inertia=_link(link.removeprefix(f"{leg}_"), side),
                limits=Limits(velocity=NO_LOAD / gear, effort=EFFORT[joint]),
                rotor=rotor if rotors == "spinning" else None,
                armature=gear**2 * ROTOR_SPIN if rotors == "armature" else 0.0,
                damping=damping,
                friction=friction,
            )
        if points == "all":
            builder.add_contact_point(f"{leg}_knee_point", parent=f"{leg}_thigh", position=(0.0, 0.0, -0.209))
        builder.add_contact_point(f"{leg}_foot", parent=f"{leg}_shank", position=(0.0, -0.004 * side, -0.195))
    if collision:
        _add_shapes(builder)
    return builder.build()


def _check(points: str, rotors: str, collision: bool) -> None:
    """Refuse what there is not."""
    if points not in ("all", "feet"):
        raise ValueError(f'points: expected "all" or "feet", got {points!r}')
    if rotors not in ("spinning", "armature", "none"):
        raise ValueError(f'rotors: expected "spinning", "armature" or "none", got {rotors!r}')
    if not isinstance(collision, bool):
        raise ValueError(f"collision: expected True or False, got {collision!r}")


def _add_shapes(builder: Builder) -> None:
    """What touches others."""
    builder.add_geometry("body", "collision", "box", BODY, color=TRUNK)
    for leg, (_, side) in LEGS.items():
        for link, ((x, y, z), rpy, radius, length, color) in LIMBS.items():
            placement = Placement((x, side * y, z), rpy=rpy)
            builder.add_geometry(f"{leg}_{link}", "collision", "capsule", (radius, length), placement, color=color)


def _chain(leg: str, end: int, side: int) -> tuple[tuple[str, str, str, Place, Place, Place], ...]:
    """Of each joint: its name, link, parent, place, the rotor's place in the parent, rpy of both."""
    abad, thigh, shank = (f"{leg}_{link}" for link in LINKS)
    return (
        ("abad", abad, "body", (0.19 * end, 0.049 * side, 0.0), (0.125 * end, 0.049 * side, 0.0), (0.0, 0.0, 0.0)),
        ("hip", thigh, abad, (0.0, 0.062 * side, 0.0), (0.0, 0.04 * side, 0.0), (0.0, 0.0, pi)),
        ("knee", shank, thigh, (0.0, 0.0, -0.209), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
    )


def _link(name: str, side: int) -> Inertia:
    """A link's inertia; on the right mirrored in its own axes."""
    mass, (x, y, z), moments = LINKS[name]
    xx, xy, xz, yy, yz, zz = (1e-6 * m for m in moments)
    xy, yz = side * xy, side * yz
    return Inertia(mass, (x, side * y, z), ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))


def _rotor(axis: str) -> Inertia:
    return Inertia(ROTOR_MASS, (0, 0, 0), [ROTOR_SPIN if axis == a else ROTOR_ACROSS for a in "xyz"])
