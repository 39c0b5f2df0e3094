"""A person, from the anthropometric tables of biomechanics: Winter's, completed after de Leva.

Winter, "Biomechanics and Motor Control of Human Movement", 4th ed. 2009: masses, centres of mass and radii of gyration
across a segment from table 4.1, heights and breadths from figure 4.1 (Drillis and Contini). De Leva, "Adjustments to
Zatsiorsky-Seluyanov's segment inertia parameters", J. Biomechanics 29, 1996, table 4: radii of gyration along limbs,
head, hand and foot, rounded to our segments. What neither of them gives is a plausible choice of ours, marked *.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import dist, radians
from typing import NamedTuple

from featherweight.errors import ModelError
from featherweight.joints import Free, Joint, Revolute, Spherical
from featherweight.model import Builder, Inertia, Limits, Model, Placement
from featherweight.model.placement import real_numbers

Place = tuple[float, float, float]
SegmentJoint = tuple[str, Joint, Limits | None, float | list[float]]  # name, kind, limits, damping

SLICE = 0.04  # * of a segment's mass and inertia, for each small link between the hinges that carry it
USUAL_HEIGHT, USUAL_MASS = 1.75, 75.0  # [m], [kg], of the person whose strength and damping the tables give


class Hinge(NamedTuple):
    """One axis of a joint, on the left; right-handed about x forward, y left, z up."""

    name: str
    axis: str
    lower: float  # [°]
    upper: float
    velocity: float  # [rad/s]
    effort: float  # [N m]
    damping: float  # [N m s]


class Segment(NamedTuple):
    """A part of the body that moves as one."""

    name: str
    parent: str
    joint: str  # where it turns
    mass: float  # of the whole body's
    ends: tuple[str, str]  # the line along which its centre of mass is measured; lengths are fractions of it
    com: float
    gyration: Place  # about x, y, z through the centre of mass
    hinges: tuple[Hinge, ...] = ()


# fmt: off
# standing upright: x forward, y to the left, z above the ground, as fractions of the height
LANDMARKS: dict[str, Place] = {
    "pelvis":    (0.000, 0.000, 0.530),  # midway between the hips
    "L4-L5":     (0.000, 0.000, 0.600),  # *
    "T12-L1":    (0.000, 0.000, 0.690),  # *
    "shoulders": (0.000, 0.000, 0.818),
    "C7-T1":     (0.000, 0.000, 0.850),  # *
    "ear":       (0.000, 0.000, 0.925),  # *
    "hip":       (0.000, 0.050, 0.530),  # * y: of the joints' centres; the figure has the width outside, 0.191
    "knee":      (0.000, 0.050, 0.285),
    "ankle":     (0.000, 0.050, 0.039),
    "ball":      (0.069, 0.050, 0.014),  # * of the foot, 72 % of its length 0.152 from the heel
    "shoulder":  (0.000, 0.129, 0.818),
    "elbow":     (0.000, 0.129, 0.632),
    "wrist":     (0.000, 0.129, 0.486),
    "knuckle":   (0.000, 0.129, 0.405),  # * the middle finger's second, at three quarters of the hand's 0.108
}

# the table measures the trunk's parts along the whole trunk, from the hips; their radii of gyration are ours *, of
# elliptic cylinders with the breadths of figure 4.1. All limits, strengths and dampings are ours *, after the usual
# ranges of motion
TRUNK_LINE = ("pelvis", "shoulders")
TRUNK = (
    Segment("pelvis", "world", "pelvis", 0.142, TRUNK_LINE, 0.105, (0.21, 0.17, 0.20)),
    Segment("abdomen", "pelvis", "L4-L5", 0.139, TRUNK_LINE, 0.440, (0.17, 0.14, 0.18), (
        #      name            axis  lower upper  velocity effort damping
        Hinge("lumbar_pitch",   "y",   -25,   60,   5,    250,   5.0),
        Hinge("lumbar_roll",    "x",   -25,   25,   5,    180,   5.0))),
    Segment("chest", "abdomen", "T12-L1", 0.216, TRUNK_LINE, 0.820, (0.24, 0.20, 0.21), (
        Hinge("thoracic_pitch", "y",   -15,   30,   5,    200,   5.0),
        Hinge("thoracic_yaw",   "z",   -35,   35,   5,     90,   3.0))),
    Segment("head", "chest", "C7-T1", 0.081, ("C7-T1", "ear"), 1.000, (0.495, 0.495, 0.42), (
        Hinge("neck_yaw",       "z",   -70,   70,  10,     15,   0.5),
        Hinge("neck_roll",      "x",   -45,   45,  10,     35,   0.7),
        Hinge("neck_pitch",     "y",   -60,   50,  10,     40,   0.7))),
)
LEFT = (
    Segment("thigh", "pelvis", "hip", 0.100, ("hip", "knee"), 0.433, (0.323, 0.323, 0.149), (
        Hinge("hip_yaw",        "z",   -45,   45,  12,     60,   1.5),
        Hinge("hip_roll",       "x",   -30,   45,  12,    130,   3.0),
        Hinge("hip_pitch",      "y",  -120,   30,  12,    200,   3.0))),
    Segment("shank", "thigh", "knee", 0.0465, ("knee", "ankle"), 0.433, (0.302, 0.302, 0.103), (
        Hinge("knee",           "y",     0,  140,  15,    220,   1.5),)),
    Segment("foot", "shank", "ankle", 0.0145, ("ankle", "ball"), 0.500, (0.25, 0.475, 0.475), (
        Hinge("ankle_pitch",    "y",   -20,   50,  12,    170,   0.5),
        Hinge("ankle_roll",     "x",   -35,   20,  12,     40,   0.2))),
    Segment("upper_arm", "chest", "shoulder", 0.028, ("shoulder", "elbow"), 0.436, (0.322, 0.322, 0.14), (
        Hinge("shoulder_pitch", "y",  -180,   60,  15,     90,   1.0),
        Hinge("shoulder_roll",  "x",   -45,  180,  15,     75,   1.0),
        Hinge("shoulder_yaw",   "z",   -70,   90,  15,     45,   0.5))),
    Segment("forearm", "upper_arm", "elbow", 0.016, ("elbow", "wrist"), 0.430, (0.303, 0.303, 0.121), (
        Hinge("elbow",          "y",  -145,    0,  20,     75,   0.5),
        Hinge("forearm_yaw",    "z",   -80,   80,  20,     10,   0.05))),
    Segment("hand", "forearm", "wrist", 0.006, ("wrist", "knuckle"), 0.506, (0.297, 0.297, 0.25), (
        Hinge("wrist_roll",     "x",   -80,   70,  25,     12,   0.1),)),
)

# * name, segment, place while standing, radius of the ball around it; breadth of the foot 0.055 from figure 4.1
TRUNK_POINTS = (
    ("pelvis_back",   "pelvis",  (-0.030, 0.0000, 0.530), 0.045),
    ("chest_front",   "chest",   (+0.020, 0.0000, 0.750), 0.050),
    ("chest_back",    "chest",   (-0.020, 0.0000, 0.770), 0.050),
    ("face",          "head",    (+0.013, 0.0000, 0.925), 0.043),
    ("head_back",     "head",    (-0.013, 0.0000, 0.925), 0.043),
    ("head_top",      "head",    (+0.000, 0.0000, 0.955), 0.045),
)
LEFT_POINTS = (
    ("trochanter",    "pelvis",  (+0.000, 0.0500, 0.530), 0.0455),
    ("kneecap",       "shank",   (+0.000, 0.0500, 0.285), 0.030),
    ("heel_inner",    "foot",    (-0.040, 0.0225, 0.000), 0.0),
    ("heel_outer",    "foot",    (-0.040, 0.0775, 0.000), 0.0),
    ("toe_inner",     "foot",    (+0.112, 0.0225, 0.000), 0.0),
    ("toe_outer",     "foot",    (+0.112, 0.0775, 0.000), 0.0),
    ("shoulder_tip",  "chest",   (+0.000, 0.1290, 0.818), 0.030),
    ("elbow_tip",     "forearm", (+0.000, 0.1290, 0.632), 0.020),
    ("palm",          "hand",    (+0.000, 0.1290, 0.432), 0.020),
)

# what is drawn, and what may touch other parts: capsules * by segment, centre while standing, axis, radius, and length
# between the centres of their ends
SKIN, SHIRT = (0.87, 0.72, 0.60, 1.0), (0.31, 0.54, 0.74, 1.0)
TROUSERS, SHOES = (0.27, 0.32, 0.40, 1.0), (0.16, 0.17, 0.20, 1.0)
TRUNK_SHAPES = (
    ("pelvis",    (+0.000, 0.0000, 0.5450), "y", 0.0560, 0.075, TROUSERS),
    ("abdomen",   (+0.000, -0.028, 0.6350), "z", 0.0530, 0.080, SHIRT),
    ("abdomen",   (+0.000, +0.028, 0.6350), "z", 0.0530, 0.080, SHIRT),
    ("chest",     (+0.000, -0.045, 0.7400), "z", 0.0560, 0.070, SHIRT),
    ("chest",     (+0.000, +0.045, 0.7400), "z", 0.0560, 0.070, SHIRT),
    ("chest",     (+0.000, 0.0000, 0.7900), "y", 0.0430, 0.170, SHIRT),
    ("head",      (-0.004, 0.0000, 0.8550), "z", 0.0280, 0.040, SKIN),
    ("head",      (+0.006, 0.0000, 0.9320), "z", 0.0480, 0.036, SKIN),
    ("head",      (+0.046, 0.0000, 0.9400), "y", 0.0120, 0.034, SHOES),
)
LEFT_SHAPES = (
    ("thigh",     (+0.000, 0.0500, 0.4100), "z", 0.0440, 0.215, TROUSERS),
    ("shank",     (+0.000, 0.0500, 0.1650), "z", 0.0310, 0.220, TROUSERS),
    ("foot",      (+0.036, 0.0410, 0.0210), "x", 0.0210, 0.105, SHOES),
    ("foot",      (+0.032, 0.0590, 0.0210), "x", 0.0210, 0.095, SHOES),
    ("upper_arm", (+0.000, 0.1290, 0.7300), "z", 0.0290, 0.170, SHIRT),
    ("forearm",   (+0.000, 0.1290, 0.5600), "z", 0.0220, 0.140, SKIN),
    ("hand",      (+0.004, 0.1290, 0.4400), "z", 0.0190, 0.040, SKIN),
)
# fmt: on
TURNED = {"x": (0.0, radians(90), 0.0), "y": (radians(90), 0.0, 0.0), "z": (0.0, 0.0, 0.0)}  # z to an axis, rpy
ORIGIN = {"world": LANDMARKS["pelvis"]} | {segment.name: LANDMARKS[segment.joint] for segment in TRUNK + LEFT}
CENTRAL = ("world", *(segment.name for segment in TRUNK))


def humanoid(
    *, height: float = USUAL_HEIGHT, mass: float = USUAL_MASS, ball_joints: bool = False, armature: float = 0.0,
    stiffening: float = 1.0, collision: bool = False,
) -> Model:  # fmt: skip
    """A person of that height [m] and mass [kg]: 16 segments, 31 hinges on a free pelvis, 24 contact points.

    At q = 0 it stands upright with its arms hanging, x forward, y left, z up. The base is midway between the hips: the
    soles are on the ground z = 0 with the pelvis at z = 0.53 height. All axes are the same on both sides, so that the
    mirror image has equal pitches and opposite rolls and yaws; hips and shoulders flex with negative pitch, knees bend
    with positive.

    The links between the hinges of one joint are slices of the segment they carry, 4 % of its mass and inertia each in
    its shape and place: small, but enough for a well conditioned mass matrix where the outer two of three axes come
    together, at a roll of 90°. With `ball_joints` hips, shoulders and neck are spherical, whole, and without limits of
    position: no slices, and a quaternion for each in place of three angles.

    Nothing drives the joints; `armature` [kg m²] is what motors would add to each of their axes. The damping, in
    `passive_force`, is that of a limp body, times `stiffening`; it and the limits of effort grow with size, so that all
    sizes move alike.

    With `collision` the capsules that are drawn may touch each other, where a contact model's `pairs` say so.

    >>> import featherweight as fw
    >>> robot = fw.robots.humanoid(height=1.80, mass=80)
    >>> robot
    <Model 'humanoid': 32 bodies, nq 38, nv 37>
    >>> q = robot.neutral()
    >>> q[2] = 0.53 * 1.80
    >>> print(f"centre of mass at {fw.center_of_mass(robot, q)[2] / 1.80:.1%} of the height")
    centre of mass at 57.8% of the height
    """
    h, m = _positive("height", height), _positive("mass", mass)
    for what, given in (("ball_joints", ball_joints), ("collision", collision)):
        if not isinstance(given, bool):
            raise ModelError(f"{what}: expected True or False, got {given!r}")
    strength = m * h / (USUAL_MASS * USUAL_HEIGHT)  # as weight times length
    drag = _positive("stiffening", stiffening) * strength * (h / USUAL_HEIGHT) ** 0.5  # and times a swing's duration
    builder = Builder("humanoid")
    for prefix, side, segments, points, shapes in (
        ("", 1, TRUNK, TRUNK_POINTS, TRUNK_SHAPES),
        ("left_", 1, LEFT, LEFT_POINTS, LEFT_SHAPES),
        ("right_", -1, LEFT, LEFT_POINTS, LEFT_SHAPES),
    ):
        names = {name: name if name in CENTRAL else prefix + name for name in ORIGIN}

        for segment in segments:
            joints = _joints(segment.hinges, side, ball_joints, strength, drag)
            own_armature = armature if segment.hinges else 0.0
            _add_segment(
                builder, segment, joints, own_armature, names=names, prefix=prefix, side=side, height=h, mass=m
            )
        for name, body, place, radius in points:
            position = _offset(ORIGIN[body], place, side, h)
            builder.add_contact_point(prefix + name, parent=names[body], position=position, radius=radius * h)
        for body, place, axis, radius, length, color in shapes:
            placement = Placement(_offset(ORIGIN[body], place, side, h), rpy=TURNED[axis])
            for role in ("visual", "collision")[: 1 + collision]:
                builder.add_geometry(names[body], role, "capsule", (radius * h, length * h), placement, color=color)
    return builder.build()


def _add_segment(
    builder: Builder, segment: Segment, joints: Sequence[SegmentJoint], armature: float, *,
    names: Mapping[str, str], prefix: str, side: int, height: float, mass: float,
) -> None:  # fmt: skip
    """A body for each joint: small slices first, at last the rest of the segment."""
    parent, place = names[segment.parent], _offset(ORIGIN[segment.parent], ORIGIN[segment.name], side, height)
    for k, (name, joint, limits, damping) in enumerate(joints, start=1):
        last = k == len(joints)
        body = names[segment.name] if last else f"{prefix}{name}_link"
        share = segment.mass * mass * (1 - SLICE * (k - 1) if last else SLICE)
        builder.add_body(
            body, parent=parent, joint=joint, joint_name=prefix + name, placement=Placement(place), limits=limits,
            inertia=_inertia(segment, share, side, height), armature=armature, damping=damping,
        )  # fmt: skip
        parent, place = body, (0.0, 0.0, 0.0)


def _joints(hinges: Sequence[Hinge], side: int, ball_joints: bool, strength: float, drag: float) -> list[SegmentJoint]:
    """Name, kind, limits and damping of the joints of a segment, from its parent outward."""
    if not hinges:
        return [("base", Free(), None, 0.0)]
    if ball_joints and len(hinges) == 3:
        name = hinges[0].name.rpartition("_")[0]
        xyz = sorted(hinges, key=lambda hinge: hinge.axis)
        limits = Limits(velocity=[hinge.velocity for hinge in xyz], effort=[strength * hinge.effort for hinge in xyz])
        return [(name, Spherical(), limits, [drag * hinge.damping for hinge in xyz])]
    joints: list[SegmentJoint] = []
    for name, axis, lower, upper, velocity, effort, damping in hinges:
        if side < 0 and axis != "y":  # rolls and yaws go the other way in a mirror
            lower, upper = -upper, -lower
        limits = Limits(radians(lower), radians(upper), velocity, strength * effort)
        joints.append((name, Revolute(axis), limits, drag * damping))
    return joints


def _inertia(segment: Segment, mass: float, side: int, height: float) -> Inertia:
    """Of a segment, or of a slice of it, with this mass [kg]."""
    start, end = (LANDMARKS[name] for name in segment.ends)
    com = [a + segment.com * (b - a) for a, b in zip(start, end, strict=True)]
    moments = [mass * (height * dist(start, end) * k) ** 2 for k in segment.gyration]
    return Inertia(mass, _offset(ORIGIN[segment.name], com, side, height), moments)


def _offset(a: Sequence[float], b: Sequence[float], side: int, height: float) -> Place:
    """From a to b [m], on the left (1) or its mirror image on the right (-1)."""
    x, y, z = (height * (to - start) for start, to in zip(a, b, strict=True))
    return x, side * y, z


def _positive(name: str, value: float) -> float:
    """A size that a person can have, or a ModelError that names it."""
    number = float(real_numbers(name, value, ()))
    if not number > 0:
        raise ModelError(f"{name}: expected a positive number, got {number:g}")
    return number
