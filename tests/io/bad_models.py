"""Bad models, one for each known failure, and what is said about each: the table that test_bad_models.py goes through.

The file's name in a message is written FILE. What is said now: `python tests/io/bad_models.py`, with `--update` to take
it into the table (read the difference: these are the words users see).
"""

from __future__ import annotations

import ast
import itertools
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import featherweight as fw

GOOD = """\
<robot name="r">
  <link name="base"/>
  <link name="arm">
    <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
  </link>
  <joint name="hinge" type="revolute">
    <parent link="base"/>
    <child link="arm"/>
    <limit lower="-1" upper="1" effort="2" velocity="3"/>
  </joint>
</robot>
"""
INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
SHIP = '<link name="ship"><inertial><mass value="1e9"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>'
FAR = '<origin xyz="1e5 0 0"/><axis xyz="0 0 1"/><limit lower="0" upper="1"/>'
LIMIT = '<limit lower="-1" upper="1" effort="2" velocity="3"/>'


class Bad(NamedTuple):
    """A file that must not load, and the message."""

    name: str
    text: str | bytes | Callable[[], bytes]  # a function where it is large
    message: str

    @property
    def data(self) -> bytes:
        text = self.text() if callable(self.text) else self.text
        return text if isinstance(text, bytes) else text.encode()


def but(*changes: str) -> str:
    """The good model with texts exchanged for others."""
    text = GOOD
    for old, new in zip(changes[::2], changes[1::2], strict=True):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def more(*elements: str) -> str:
    """The good model with more elements at its end."""
    return but("</robot>", "".join(f"  {element}\n" for element in elements) + "</robot>")


def link(name: str) -> str:
    return f'<link name="{name}">{INERTIAL}</link>'


def joint(name: str, parent: str, child: str, kind: str = "revolute", inside: str = LIMIT) -> str:
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>'


def mass(text: str) -> str:
    return but('mass value="1"', f'mass value="{text}"')


def inertia(**moments: float) -> str:
    return but('ixx="1" iyy="1" izz="1"', " ".join(f'{name}="{value}"' for name, value in moments.items()))


def in_joint(text: str) -> str:
    """A line more in the joint, line 10."""
    return but(LIMIT, f"{LIMIT}\n    {text}")


def mimic(leader: str, other: str) -> str:
    """The joint follows another, which is there."""
    return but(LIMIT, f'{LIMIT}<mimic joint="{leader}"/>', "</robot>", f"  {link('hand')}\n  {other}\n</robot>")


def shape(text: str, role: str = "visual") -> str:
    """A shape on line 3."""
    return but('<link name="base"/>', f'<link name="base"><{role}>\n    {text}\n  </{role}></link>')


def motor(text: str) -> str:
    return more(
        f'<transmission name="t">\n    <joint name="hinge"/><actuator name="m">{text}</actuator></transmission>'
    )


ENTITIES = "".join(f'<!ENTITY {b} "&{a};&{a};&{a};&{a};">\n' for a, b in zip("abcdefgh", "bcdefghi", strict=True))

BODIES = [
    Bad(
        "mass of zero",
        mass("0"),
        'FILE:4: <link "arm"> <inertial>: there is a moment of inertia without mass; give the mass',
    ),
    Bad(
        "negative mass",
        mass("-1"),
        'FILE:4: <link "arm"> <inertial>: the mass is negative: -1 kg; it is taken as none; measure or '
        "compute it again",
    ),
    Bad(
        "tiny mass",
        mass("1e-12"),
        "FILE:3: <link \"arm\">: moves by joint 'hinge' and has mass 1e-12 kg; give it an <inertial> with its "
        "mass, or make the joint fixed",
    ),
    Bad(
        "no mass and no moment",
        but(INERTIAL, INERTIAL.replace('"1"', '"0"')),
        "FILE:3: <link \"arm\">: moves by joint 'hinge' and has mass 0 kg; give it an <inertial> with its "
        "mass, or make the joint fixed",
    ),
    Bad(
        "negative moment",
        inertia(ixx=-1, iyy=1, izz=1),
        'FILE:4: <link "arm"> <inertial>: its principal moments about the centre of mass are -1, 1, 1: one '
        "is negative; measure or compute it again",
    ),
    Bad(
        "negative principal moment",
        inertia(ixx=1, ixy=2, iyy=1, izz=1),
        'FILE:4: <link "arm"> <inertial>: its principal moments about the centre of mass are -1, 1, 3: one '
        "is negative; measure or compute it again",
    ),
    Bad(
        "triangle inequality",
        inertia(ixx=1, iyy=1, izz=2.5),
        'FILE:4: <link "arm"> <inertial>: its principal moments about the centre of mass are 1, 1, 2.5: the '
        "largest exceeds the sum of the others (triangle inequality); measure or compute it again",
    ),
    Bad(
        "no inertial",
        but(INERTIAL, ""),
        "FILE:3: <link \"arm\">: moves by joint 'hinge' and has mass 0 kg; give it an <inertial> with its "
        "mass, or make the joint fixed",
    ),
    Bad(
        "no inertial in what is welded",
        but(
            INERTIAL, "", "</robot>", f'  <link name="hand"/>\n  {joint("weld", "arm", "hand", "fixed", "")}\n</robot>'
        ),
        "FILE:3: <link \"arm\">: moves by joint 'hinge' and has mass 0 kg (with 1 link fixed to it); give "
        "it an <inertial> with its mass, or make the joint fixed",
    ),
    Bad(
        "inertial without mass",
        but('<mass value="1"/>', ""),
        'FILE:4: <link "arm"> <inertial>: <mass> is missing; write <mass value="…"/>',
    ),
    Bad(
        "inertial without inertia",
        but('<inertia ixx="1" iyy="1" izz="1"/>', ""),
        'FILE:4: <link "arm"> <inertial>: <inertia> is missing; write <inertia ixx="…" ixy="…" …/>',
    ),
    Bad(
        "mass without value",
        but('<mass value="1"/>', "<mass/>"),
        'FILE:4: <link "arm"> <inertial> <mass>: value is missing; write value="…"',
    ),
    Bad(
        "a moment is missing",
        but(' iyy="1"', ""),
        'FILE:4: <link "arm"> <inertial> <inertia>: iyy is missing; write iyy="…"',
    ),
    Bad(
        "two inertials",
        but(INERTIAL, f"{INERTIAL}\n    {INERTIAL.replace('1', '2')}"),
        'FILE:5: <link "arm">: <inertial> is there twice; keep one',
    ),
    Bad(
        "two masses",
        but('<mass value="1"/>', '<mass value="1"/><mass value="2"/>'),
        'FILE:4: <link "arm"> <inertial>: <mass> is there twice; keep one',
    ),
    Bad(
        "moments of a galaxy",
        inertia(ixx=1e20, iyy=1e20, izz=1e20),
        'FILE:4: <link "arm"> <inertial> <inertia>: ixx: 1e+20 is too large; expected at most 1e+19 (and '
        "2 more: `featherweight lint` lists all)",
    ),
    Bad(
        "mass of a mountain",
        mass("1e12"),
        'FILE:4: <link "arm"> <inertial> <mass>: value: 1e12 is too large; expected at most 1e+09',
    ),
    Bad(
        "moments of a country",
        inertia(ixx="1", iyy="1e11", izz="1e11"),
        'FILE:4: <link "arm"> <inertial>: its moments are too large for the mass: they are those of a '
        "ring of radius 316228 m; expected at most 100000 m",
    ),
    Bad(
        "a point on its axis",
        inertia(ixx=0, iyy=0, izz=0),
        "FILE:4: <link \"arm\"> <inertial>: moves by joint 'hinge' and has a moment of inertia about its "
        "joint's axis of 0 kg m²: too little for 1 kg; give it the moments of a solid",
    ),
    Bad(
        "a needle on its axis",
        inertia(ixx="1e-12", iyy=1, izz=1),
        "FILE:4: <link \"arm\"> <inertial>: moves by joint 'hinge' and has a moment of inertia about its "
        "joint's axis of 1e-12 kg m²: too little for 1 kg; give it the moments of a solid",
    ),
    Bad(
        "a feather that carries a tower",
        but(
            'mass value="1"',
            'mass value="1e-3"',
            'ixx="1" iyy="1" izz="1"',
            'ixx="1e-7" iyy="1e-7" izz="1e-7"',
            "</robot>",
            f"  {link('tower')}\n  {joint('far', 'arm', 'tower', inside=FAR)}\n</robot>",
        ),
        "FILE:4: <link \"arm\"> <inertial>: moves by joint 'hinge' and has a moment of inertia about its "
        "joint's axis of 1e-07 kg m²: lost among the 1.00002e+10 kg m² it moves with; give it the "
        "moments of a solid",
    ),
    Bad(
        "a feather that slides and carries a ship",
        but(
            'mass value="1"',
            'mass value="1e-8"',
            "revolute",
            "prismatic",
            "</robot>",
            f"  {SHIP}\n  {joint('j', 'arm', 'ship')}\n</robot>",
        ),
        "FILE:4: <link \"arm\"> <inertial>: moves by joint 'hinge' and has mass 1e-08 kg: lost among the "
        "1e+09 kg it moves with; give it more",
    ),
    Bad(
        "a floating needle",
        but('ixx="1" iyy="1" izz="1"', 'ixx="1" iyy="1" izz="0"', "revolute", "floating", f"    {LIMIT}\n", ""),
        "FILE:4: <link \"arm\"> <inertial>: moves by joint 'hinge' and has a moment of inertia about an "
        "axis through its centre of 0 kg m²: too little for 1 kg; give it the moments of a solid",
    ),
    Bad(
        "a planar needle",
        but('ixx="1" iyy="1" izz="1"', 'ixx="1" iyy="1" izz="0"', "revolute", "planar", LIMIT, '<axis xyz="0 0 1"/>'),
        "FILE:4: <link \"arm\"> <inertial>: moves by joint 'hinge' and has a moment of inertia about an "
        "axis through its centre of 0 kg m²: too little for 1 kg; give it the moments of a solid",
    ),
    Bad(
        "a negative moment of a heavy body",
        but('mass value="1"', 'mass value="1e9"', 'ixx="1"', 'ixx="-1e-8"'),
        'FILE:4: <link "arm"> <inertial>: its principal moments about the centre of mass are -1e-08, 1, '
        "1: one is negative; measure or compute it again",
    ),
]

TREE = [
    Bad(
        "no link", '<robot name="r">\n</robot>\n', 'FILE:1: <robot "r">: there is no <link>; a robot needs at least one'
    ),
    Bad(
        "two roots",
        more('<link name="other"/>'),
        "FILE:11: <link \"other\">: there are 2 root links: 'base', 'other'; connect them by joints, or "
        "remove all but one",
    ),
    Bad(
        "seven roots",
        more(*(f'<link name="other{k}"/>' for k in range(6))),
        "FILE:11: <link \"other0\">: there are 7 root links: 'base', 'other0', 'other1', 'other2', "
        "'other3' …; connect them by joints, or remove all but one",
    ),
    Bad(
        "circle",
        more(joint("back", "arm", "base")),
        'FILE:6: <joint "hinge">: is part of a circle of joints: no link is the root',
    ),
    Bad(
        "circle beside the root",
        more(link("a"), link("b"), joint("ab", "a", "b"), joint("ba", "b", "a")),
        'FILE:11: <link "a">: is part of a circle of joints; break the circle',
    ),
    Bad(
        "self-loop",
        but('<parent link="base"/>', '<parent link="arm"/>'),
        "FILE:6: <joint \"hinge\">: connects link 'arm' with itself",
    ),
    Bad(
        "two parents",
        more(link("x"), joint("first", "base", "x"), joint("second", "arm", "x")),
        "FILE:13: <joint \"second\">: link 'x' is already the child of joint 'first' (line 12); a link has one "
        "parent; loops are not URDF",
    ),
    Bad(
        "duplicate link",
        more(link("arm")),
        "FILE:11: <link \"arm\">: the name 'arm' is used by another link on line 3; names must be unique",
    ),
    Bad(
        "duplicate joint",
        more(link("other"), joint("hinge", "arm", "other")),
        "FILE:12: <joint \"hinge\">: the name 'hinge' is used by another joint on line 6; names must be unique",
    ),
    Bad(
        "dangling parent",
        but('<parent link="base"/>', '<parent link="bases"/>'),
        "FILE:6: <joint \"hinge\">: parent link 'bases' does not exist; did you mean 'base'?",
    ),
    Bad(
        "dangling child",
        but('<child link="arm"/>', '<child link="forearm"/>'),
        "FILE:6: <joint \"hinge\">: child link 'forearm' does not exist; did you mean 'arm'?",
    ),
    Bad(
        "dangling child far from any",
        more(joint("loose", "arm", "xyz")),
        "FILE:11: <joint \"loose\">: child link 'xyz' does not exist; define it",
    ),
    Bad(
        "link without a name",
        but('<link name="base"/>', "<link/>"),
        "FILE:2: <link>: name is missing (and 1 more: `featherweight lint` lists all)",
    ),
    Bad(
        "link with an empty name",
        but('<link name="base"/>', '<link name=""/>'),
        'FILE:2: <link "">: name is empty (and 1 more: `featherweight lint` lists all)',
    ),
    Bad(
        "link with a name of spaces",
        but('<link name="base"/>', '<link name="  "/>'),
        'FILE:2: <link "  ">: name is empty (and 1 more: `featherweight lint` lists all)',
    ),
    Bad("joint without a name", but('name="hinge" ', ""), "FILE:6: <joint>: name is missing"),
    Bad("joint with an empty name", but('name="hinge"', 'name=""'), 'FILE:6: <joint "">: name is empty'),
]

JOINTS = [
    Bad("joint without a type", but(' type="revolute"', ""), 'FILE:6: <joint "hinge">: type is missing'),
    Bad(
        "unknown joint type",
        but('"revolute"', '"hinge"'),
        "FILE:6: <joint \"hinge\">: type 'hinge' is unknown; expected one of revolute, continuous, prismatic, "
        "fixed, floating, planar",
    ),
    Bad(
        "joint type in capitals",
        but('"revolute"', '"Revolute"'),
        "FILE:6: <joint \"hinge\">: type 'Revolute' is unknown; expected one of revolute, continuous, "
        "prismatic, fixed, floating, planar",
    ),
    Bad(
        "joint without a parent",
        but('<parent link="base"/>', ""),
        'FILE:6: <joint "hinge">: <parent> is missing; write <parent link="…"/>',
    ),
    Bad(
        "joint without a child",
        but('<child link="arm"/>', ""),
        'FILE:6: <joint "hinge">: <child> is missing; write <child link="…"/>',
    ),
    Bad(
        "parent without a link",
        but('<parent link="base"/>', "<parent/>"),
        'FILE:7: <joint "hinge"> <parent>: link is missing',
    ),
    Bad(
        "two parents in a joint",
        but('<parent link="base"/>', '<parent link="base"/><parent link="arm"/>'),
        'FILE:7: <joint "hinge">: <parent> is there twice; keep one',
    ),
    Bad(
        "zero axis",
        in_joint('<axis xyz="0 0 0"/>'),
        'FILE:10: <joint "hinge"> <axis>: the axis is zero; give a direction',
    ),
    Bad(
        "axis without xyz",
        in_joint("<axis/>"),
        'FILE:10: <joint "hinge"> <axis>: xyz is missing; write xyz="… … …"',
    ),
    Bad(
        "two axes",
        in_joint('<axis xyz="0 0 1"/><axis xyz="0 1 0"/>'),
        'FILE:10: <joint "hinge">: <axis> is there twice; keep one',
    ),
    Bad(
        "planar joint with an oblique normal",
        but('"revolute"', '"planar"', LIMIT, '<axis xyz="1 1 0"/>'),
        'FILE:9: <joint "hinge"> <axis>: the normal of a planar joint must be along an axis; '
        "write one of 1 0 0, 0 1 0, 0 0 1",
    ),
    Bad(
        "lower above upper",
        but('lower="-1" upper="1"', 'lower="1" upper="-1"'),
        'FILE:9: <joint "hinge"> <limit>: lower 1 is above upper -1; exchange them',
    ),
    Bad(
        "lower above an upper that is not given",
        but('lower="-1" upper="1"', 'lower="1"'),
        'FILE:9: <joint "hinge"> <limit>: lower 1 is above upper 0; give both: what is not given is 0',
    ),
    Bad(
        "negative effort",
        but('effort="2"', 'effort="-2"'),
        'FILE:9: <joint "hinge"> <limit>: effort: expected 0 or more, got -2',
    ),
    Bad(
        "negative velocity",
        but('velocity="3"', 'velocity="-3"'),
        'FILE:9: <joint "hinge"> <limit>: velocity: expected 0 or more, got -3',
    ),
    Bad(
        "two limits",
        in_joint('<limit lower="-2" upper="2"/>'),
        'FILE:10: <joint "hinge">: <limit> is there twice; keep one',
    ),
    Bad(
        "negative damping",
        in_joint('<dynamics damping="-1"/>'),
        'FILE:10: <joint "hinge"> <dynamics>: damping: expected 0 or more, got -1',
    ),
    Bad(
        "negative friction",
        in_joint('<dynamics friction="-0.1"/>'),
        'FILE:10: <joint "hinge"> <dynamics>: friction: expected 0 or more, got -0.1',
    ),
    Bad(
        "negative rotor inertia",
        motor("<rotorInertia>-1</rotorInertia>"),
        'FILE:11: <transmission "t">: rotor inertia: expected 0 or more, got -1',
    ),
    Bad(
        "rotor inertia in words",
        motor("<rotorInertia>small</rotorInertia>"),
        "FILE:12: <transmission \"t\"> <rotorInertia>: rotorInertia: 'small' is not a number; write digits "
        "like -1.5e-3",
    ),
    Bad(
        "two origins",
        in_joint('<origin xyz="0 0 1"/><origin xyz="0 0 2"/>'),
        'FILE:10: <joint "hinge">: <origin> is there twice; keep one',
    ),
    Bad("mimic of itself", in_joint('<mimic joint="hinge"/>'), 'FILE:10: <joint "hinge"> <mimic>: follows itself'),
    Bad(
        "mimic of a missing joint",
        in_joint('<mimic joint="hinges"/>'),
        "FILE:10: <joint \"hinge\"> <mimic>: joint 'hinges' does not exist; did you mean 'hinge'?",
    ),
    Bad(
        "mimic of nothing",
        in_joint("<mimic/>"),
        'FILE:10: <joint "hinge"> <mimic>: joint is missing',
    ),
    Bad(
        "mimic in a circle",
        mimic("b", joint("b", "arm", "hand", inside=f'{LIMIT}<mimic joint="hinge"/>')),
        'FILE:9: <joint "hinge"> <mimic>: follows in a circle: hinge -> b -> hinge (and 1 more: '
        "`featherweight lint` lists all)",
    ),
    Bad(
        "mimic of a fixed joint",
        mimic("weld", joint("weld", "arm", "hand", "fixed", "")),
        "FILE:9: <joint \"hinge\"> <mimic>: joint 'weld' is fixed: it cannot be followed",
    ),
    Bad(
        "mimic of a floating joint",
        mimic("float", joint("float", "arm", "hand", "floating", "")),
        "FILE:9: <joint \"hinge\"> <mimic>: joint 'float' is floating: it cannot be followed",
    ),
    Bad(
        "mimic by a floating joint",
        but('"revolute"', '"floating"', LIMIT, '<mimic joint="hinge"/>'),
        'FILE:9: <joint "hinge"> <mimic>: a floating joint cannot follow another',
    ),
    Bad(
        "two mimics",
        in_joint('<mimic joint="a"/><mimic joint="b"/>'),
        'FILE:10: <joint "hinge">: <mimic> is there twice; keep one (and 1 more: `featherweight lint` lists all)',
    ),
]

NUMBERS = [
    Bad(
        "NaN",
        in_joint('<origin xyz="0 nan 0"/>'),
        "FILE:10: <joint \"hinge\"> <origin>: xyz: 'nan' is not a number; write digits like -1.5e-3",
    ),
    Bad(
        "infinity",
        in_joint('<origin xyz="0 inf 0"/>'),
        "FILE:10: <joint \"hinge\"> <origin>: xyz: 'inf' is not a number; write digits like -1.5e-3",
    ),
    Bad(
        "minus infinity",
        in_joint('<origin xyz="0 -Infinity 0"/>'),
        "FILE:10: <joint \"hinge\"> <origin>: xyz: '-Infinity' is not a number; write digits like -1.5e-3",
    ),
    Bad(
        "too large a number",
        in_joint('<origin xyz="0 1e999 0"/>'),
        'FILE:10: <joint "hinge"> <origin>: xyz: 1e999 is too large; expected at most 100000',
    ),
    Bad(
        "too far away",
        in_joint('<origin xyz="0 -100001 0"/>'),
        'FILE:10: <joint "hinge"> <origin>: xyz: -100001 is too large; expected at most 100000',
    ),
    Bad(
        "too large a shape",
        shape('<geometry><sphere radius="1e6"/></geometry>'),
        'FILE:3: <link "base"> <visual> <sphere>: radius: 1e6 is too large; expected at most 100000',
    ),
    Bad(
        "too much damping",
        in_joint('<dynamics damping="1e13"/>'),
        'FILE:10: <joint "hinge"> <dynamics>: damping: 1e13 is too large; expected at most 1e+12',
    ),
    Bad(
        "too fast a gear",
        motor("<mechanicalReduction>1e7</mechanicalReduction>"),
        'FILE:12: <transmission "t"> <mechanicalReduction>: mechanicalReduction: 1e7 is too large; '
        "expected at most 1e+06",
    ),
    Bad(
        "too heavy a rotor",
        motor("<rotorInertia>1e7</rotorInertia>"),
        'FILE:12: <transmission "t"> <rotorInertia>: rotorInertia: 1e7 is too large; expected at most 1e+06',
    ),
    Bad(
        "too fast a mimic joint",
        in_joint('<mimic joint="other" multiplier="1e7"/>'),
        'FILE:10: <joint "hinge"> <mimic>: multiplier: 1e7 is too large; expected at most 1000',
    ),
    Bad(
        "underscore",
        in_joint('<origin xyz="0 1_000 0"/>'),
        "FILE:10: <joint \"hinge\"> <origin>: xyz: '1_000' is not a number; write digits like -1.5e-3",
    ),
    Bad(
        "hexadecimal",
        in_joint('<origin xyz="0 0x10 0"/>'),
        "FILE:10: <joint \"hinge\"> <origin>: xyz: '0x10' is not a number; write digits like -1.5e-3",
    ),
    Bad(
        "Arabic digits",
        in_joint('<origin xyz="0 ١٢ 0"/>'),
        "FILE:10: <joint \"hinge\"> <origin>: xyz: '١٢' is not a number; write digits like -1.5e-3",
    ),
    Bad(
        "decimal comma",
        in_joint('<origin xyz="0 1,5 0"/>'),
        "FILE:10: <joint \"hinge\"> <origin>: xyz: '1,5' is not a number; write digits like -1.5e-3",
    ),
    Bad(
        "a unit",
        in_joint('<origin xyz="0 1.5m 0"/>'),
        "FILE:10: <joint \"hinge\"> <origin>: xyz: '1.5m' is not a number; write digits like -1.5e-3",
    ),
    Bad(
        "two signs",
        in_joint('<origin xyz="0 --1 0"/>'),
        "FILE:10: <joint \"hinge\"> <origin>: xyz: '--1' is not a number; write digits like -1.5e-3",
    ),
    Bad(
        "half an exponent",
        in_joint('<origin xyz="0 1e 0"/>'),
        "FILE:10: <joint \"hinge\"> <origin>: xyz: '1e' is not a number; write digits like -1.5e-3",
    ),
    Bad(
        "an expression of xacro",
        in_joint('<origin xyz="0 ${length} 0"/>'),
        "FILE:10: <joint \"hinge\"> <origin>: xyz: '0 ${length} 0' is an expression of xacro; expand the "
        "xacro file first: xacro robot.xacro > robot.urdf",
    ),
    Bad(
        "too few numbers",
        in_joint('<origin xyz="0 1"/>'),
        "FILE:10: <joint \"hinge\"> <origin>: xyz: expected 3 numbers, got '0 1'",
    ),
    Bad(
        "too many numbers",
        in_joint('<origin xyz="0 1 2 3"/>'),
        "FILE:10: <joint \"hinge\"> <origin>: xyz: expected 3 numbers, got '0 1 2 3'",
    ),
    Bad(
        "numbers with commas between",
        in_joint('<origin xyz="0, 1, 2"/>'),
        "FILE:10: <joint \"hinge\"> <origin>: xyz: '0,' is not a number; write digits like -1.5e-3",
    ),
    Bad(
        "numbers with semicolons between",
        in_joint('<origin rpy="0;1;2"/>'),
        "FILE:10: <joint \"hinge\"> <origin>: rpy: expected 3 numbers, got '0;1;2'",
    ),
    Bad(
        "no numbers",
        in_joint('<origin xyz=""/>'),
        "FILE:10: <joint \"hinge\"> <origin>: xyz: expected 3 numbers, got ''",
    ),
    Bad(
        "a long text for a number",
        in_joint(f'<origin xyz="0 {"9" * 200}x 0"/>'),
        "FILE:10: <joint \"hinge\"> <origin>: xyz: '9999999999999999999999999999999999999…' is not a number; "
        "write digits like -1.5e-3",
    ),
    Bad(
        "a mass that is no number",
        mass("heavy"),
        "FILE:4: <link \"arm\"> <inertial> <mass>: value: 'heavy' is not a number; write digits like -1.5e-3",
    ),
    Bad(
        "two masses in one",
        mass("1 2"),
        "FILE:4: <link \"arm\"> <inertial> <mass>: value: expected a number, got '1 2'",
    ),
]

SHAPES = [
    Bad(
        "no geometry",
        shape(""),
        'FILE:2: <link "base"> <visual>: <geometry> is missing or empty; write one of box, sphere, '
        "cylinder, capsule, mesh",
    ),
    Bad(
        "empty geometry",
        shape("<geometry/>", "collision"),
        'FILE:2: <link "base"> <collision>: <geometry> is missing or empty; write one of box, sphere, '
        "cylinder, capsule, mesh",
    ),
    Bad(
        "two geometries",
        shape('<geometry><box size="1 1 1"/></geometry><geometry><box size="2 2 2"/></geometry>'),
        'FILE:3: <link "base"> <visual>: <geometry> is there twice; keep one',
    ),
    Bad(
        "unknown shape",
        shape('<geometry><cone radius="1"/></geometry>'),
        'FILE:3: <link "base"> <visual> <cone>: is not a shape; expected box, sphere, cylinder, capsule or mesh',
    ),
    Bad(
        "two shapes",
        shape('<geometry><sphere radius="1"/>\n    <box size="1 1 1"/></geometry>'),
        'FILE:4: <link "base"> <visual>: more than one shape in <geometry>; give each its own element',
    ),
    Bad(
        "box without size",
        shape("<geometry><box/></geometry>"),
        'FILE:3: <link "base"> <visual> <box>: size is missing; write size="… … …"',
    ),
    Bad(
        "negative box",
        shape('<geometry><box size="1 -1 1"/></geometry>'),
        'FILE:3: <link "base"> <visual> <box>: a size is negative: 1.0 -1.0 1.0',
    ),
    Bad(
        "negative radius",
        shape('<geometry><sphere radius="-1"/></geometry>'),
        'FILE:3: <link "base"> <visual> <sphere>: a size is negative: -1.0',
    ),
    Bad(
        "cylinder without length",
        shape('<geometry><cylinder radius="1"/></geometry>'),
        'FILE:3: <link "base"> <visual> <cylinder>: length is missing; write length="…"',
    ),
    Bad(
        "mesh of another user",
        shape('<geometry><mesh filename="package://../../etc/passwd"/></geometry>'),
        "FILE:3: <link \"base\"> <visual> <mesh>: the mesh 'package://../../etc/passwd' leads outside the "
        "allowed folders; put it beside the file, or name its folder in roots",
    ),
    Bad(
        "mesh that climbs out of its package",
        shape('<geometry><mesh filename="package://r/meshes/../../../etc/passwd"/></geometry>'),
        "FILE:3: <link \"base\"> <visual> <mesh>: the mesh 'package://r/meshes/../../../etc/passwd' leads "
        "outside the allowed folders; put it beside the file, or name its folder in roots",
    ),
    Bad(
        "mesh that climbs",
        shape('<geometry><mesh filename="../../../etc/passwd"/></geometry>'),
        "FILE:3: <link \"base\"> <visual> <mesh>: the mesh '../../../etc/passwd' leads outside the allowed "
        "folders; put it beside the file, or name its folder in roots",
    ),
    Bad(
        "mesh at an absolute path",
        shape('<geometry><mesh filename="/etc/passwd"/></geometry>'),
        "FILE:3: <link \"base\"> <visual> <mesh>: the mesh '/etc/passwd' leads outside the allowed "
        "folders; put it beside the file, or name its folder in roots",
    ),
    Bad(
        "mesh by an address of a file",
        shape('<geometry><mesh filename="file:///etc/passwd"/></geometry>'),
        "FILE:3: <link \"base\"> <visual> <mesh>: the mesh 'file:///etc/passwd' leads outside the allowed "
        "folders; put it beside the file, or name its folder in roots",
    ),
    Bad(
        "mesh on the network",
        shape('<geometry><mesh filename="https://example.org/arm.stl"/></geometry>'),
        "FILE:3: <link \"base\"> <visual> <mesh>: the mesh 'https://example.org/arm.stl' is not a file "
        "here: https:// is not fetched; put it beside the file, or name its folder in roots",
    ),
    Bad(
        "mesh on a Windows share",
        shape('<geometry><mesh filename="\\\\server\\share\\arm.stl"/></geometry>'),
        "FILE:3: <link \"base\"> <visual> <mesh>: the mesh '\\\\\\\\server\\\\share\\\\arm.stl' leads outside the "
        "allowed folders; put it beside the file, or name its folder in roots",
    ),
    Bad(
        "mesh on a Windows drive",
        shape('<geometry><mesh filename="C:\\arm.stl"/></geometry>'),
        "FILE:3: <link \"base\"> <visual> <mesh>: the mesh 'C:\\\\arm.stl' leads outside the allowed "
        "folders; put it beside the file, or name its folder in roots",
    ),
    Bad(
        "mesh without a file",
        shape("<geometry><mesh/></geometry>"),
        'FILE:3: <link "base"> <visual> <mesh>: filename is missing',
    ),
]

XML = [
    Bad("not XML", "robot: {name: r}\n", "FILE:1: not well-formed XML: syntax error (column 1)"),
    Bad(
        "JSON", '{"robot": {"name": "r"}}\n', "FILE:1: not well-formed XML: not well-formed (invalid token) (column 1)"
    ),
    Bad("truncated", GOOD[: GOOD.index("<child")], "FILE:8: not well-formed XML: no element found (column 5)"),
    Bad(
        "truncated in a tag", GOOD[: GOOD.index("<child") + 4], "FILE:8: not well-formed XML: unclosed token (column 5)"
    ),
    Bad("mismatched tags", but("</link>", "</lnk>"), "FILE:5: not well-formed XML: mismatched tag (column 5)"),
    Bad(
        "attribute twice",
        but('name="hinge"', 'name="hinge" name="hinge"'),
        "FILE:6: not well-formed XML: duplicate attribute (column 23)",
    ),
    Bad(
        "attribute without quotes",
        but('name="hinge"', "name=hinge"),
        "FILE:6: not well-formed XML: not well-formed (invalid token) (column 15)",
    ),
    Bad("two outermost elements", GOOD + GOOD, "FILE:12: not well-formed XML: junk after document element (column 1)"),
    Bad(
        "text after the robot",
        f"{GOOD}the end\n",
        "FILE:12: not well-formed XML: junk after document element (column 1)",
    ),
    Bad(
        "wrong outermost element",
        GOOD.replace("robot", "model"),
        'FILE:1: <model "r">: expected <robot> as the outermost element; is this a URDF file?',
    ),
    Bad(
        "SDF",
        '<?xml version="1.0"?>\n<sdf version="1.7">\n  <model name="m"/>\n</sdf>\n',
        "FILE:2: <sdf>: this is an SDF file (Gazebo); load a URDF of the robot, or convert it to one",
    ),
    Bad(
        "MuJoCo's format",
        '<mujoco model="m">\n  <worldbody/>\n</mujoco>\n',
        "FILE:1: <mujoco>: this is an MJCF file (MuJoCo), which a later version will read; load a URDF of the robot, "
        "or convert it to one",
    ),
    Bad(
        "xacro",
        but('"r">', '"r" xmlns:xacro="http://www.ros.org/wiki/xacro">\n  <xacro:property name="m" value="1"/>'),
        "FILE:2: <xacro:property>: is not expanded: part of the robot may be missing; expand the xacro "
        "file first: xacro robot.xacro > robot.urdf",
    ),
    Bad("empty", "", "FILE: the file is empty; expected a URDF document"),
    Bad("only spaces", " \n\t\n", "FILE: the file is empty; expected a URDF document"),
    Bad("only a comment", "<!-- a robot -->\n", "FILE:2: not well-formed XML: no element found (column 1)"),
    Bad(
        "a space before the declaration",
        f' <?xml version="1.0"?>\n{GOOD}',
        "FILE:1: not well-formed XML: XML or text declaration not at start of entity (column 2)",
    ),
    Bad(
        "a NUL byte",
        but('<link name="base"/>', '<link name="ba\0se"/>'),
        "FILE:2: not well-formed XML: not well-formed (invalid token) (column 17)",
    ),
    Bad("only NUL bytes", bytes(100), "FILE:1: not well-formed XML: not well-formed (invalid token) (column 1)"),
    Bad(
        "a control character",
        but('<link name="base"/>', '<link name="ba\x01se"/>'),
        "FILE:2: not well-formed XML: not well-formed (invalid token) (column 17)",
    ),
    Bad(
        "a ZIP file",
        b"PK\x03\x04" + bytes(range(256)),
        "FILE:1: this is an archive (ZIP, or USD as .usdz); unpack it, and load the URDF file in it",
    ),
]

DANGER = [
    Bad(
        "document type",
        f"<!DOCTYPE robot>\n{GOOD}",
        "FILE:1: document types and entities are refused: they can reach other files; remove <!DOCTYPE …>",
    ),
    Bad(
        "billion laughs",
        f'<!DOCTYPE robot [\n<!ENTITY a "ha">\n{ENTITIES}]>\n<robot name="&i;"/>\n',
        "FILE:1: document types and entities are refused: they can reach other files; remove <!DOCTYPE …>",
    ),
    Bad(
        "external entity",
        '<!DOCTYPE robot [<!ENTITY x SYSTEM "file:///etc/passwd">]>\n<robot name="r">&x;</robot>\n',
        "FILE:1: document types and entities are refused: they can reach other files; remove <!DOCTYPE …>",
    ),
    Bad(
        "parameter entity",
        '<!DOCTYPE robot [<!ENTITY % x SYSTEM "http://localhost/x.dtd"> %x;]>\n<robot name="r"/>\n',
        "FILE:1: document types and entities are refused: they can reach other files; remove <!DOCTYPE …>",
    ),
    Bad(
        "external document type",
        '<!DOCTYPE robot SYSTEM "http://localhost/r.dtd">\n<robot name="r"/>\n',
        "FILE:1: document types and entities are refused: they can reach other files; remove <!DOCTYPE …>",
    ),
    Bad(
        "an entity that is not defined",
        but('<link name="base"/>', '<link name="&base;"/>'),
        "FILE:2: not well-formed XML: undefined entity (column 3) (and 1 more: `featherweight lint` lists all)",
    ),
    Bad(
        "unknown encoding",
        f'<?xml version="1.0" encoding="klingon"?>\n{GOOD}',
        "FILE:1: the encoding 'klingon' cannot be read; expected UTF-8, UTF-16, ISO-8859-1 or US-ASCII",
    ),
    Bad(
        "an encoding that is none",
        f'<?xml version="1.0" encoding="base64"?>\n{GOOD}',
        "FILE:1: the encoding 'base64' cannot be read; expected UTF-8, UTF-16, ISO-8859-1 or US-ASCII",
    ),
    Bad(
        "an encoding of several bytes",
        f'<?xml version="1.0" encoding="shift_jis"?>\n{GOOD}',
        "FILE:1: the encoding 'shift_jis' cannot be read; expected UTF-8, UTF-16, ISO-8859-1 or US-ASCII",
    ),
    Bad(
        "bytes of another encoding",
        but('<link name="base"/>', '<link name="b\xe4se"/>').encode("latin-1"),
        "FILE:2: not well-formed XML: a character that is not UTF-8 (column 16) (and 1 more: "
        "`featherweight lint` lists all)",
    ),
    Bad(
        "UTF-16 by name only",
        f'<?xml version="1.0" encoding="utf-16"?>\n{GOOD}',
        "FILE:1: not well-formed XML: encoding specified in XML declaration is incorrect (column 31)",
    ),
    Bad("half a UTF-16 file", GOOD.encode("utf-16")[:-21], "FILE:10: not well-formed XML: unclosed token (column 3)"),
    Bad(
        "too deep",
        f"<robot>\n{'<link>' * 100}{'</link>' * 100}</robot>",
        "FILE:2: elements are nested more than 64 deep",
    ),
    Bad(
        "too many elements",
        lambda: b'<robot name="r">\n' + b"<a/>" * 200_001 + b"</robot>",
        "FILE:2: the document has more than 200000 elements",
    ),
    Bad(
        "too large",
        lambda: b'<robot name="r">' + b" " * 20_000_000 + b"</robot>",
        "FILE: the file is too large; at most 20000000 bytes are read",
    ),
]

ALL = [*BODIES, *TREE, *JOINTS, *NUMBERS, *SHAPES, *XML, *DANGER]


def said_of(bad: Bad, path: Path) -> str:
    """What is said when a file with this text is loaded."""
    path.write_bytes(bad.data)
    try:
        fw.load(path, policy="strict")
    except fw.ModelError as error:
        return str(error).replace(str(path), "FILE")
    return "(it loads)"


def literal(text: str) -> str:
    """Python's text for a text, in lines that are not too long."""
    parts = re.findall(r".{1,95}(?:\s|$)|.{1,95}", text, re.S)
    return "\n".join(repr(part) for part in parts)


def main() -> None:
    """Print what is said now, with a star where it is not what the table says; with --update, write it there."""
    with tempfile.TemporaryDirectory() as folder:
        said = {bad.name: said_of(bad, Path(folder) / "robot.urdf") for bad in ALL}
    for bad in ALL:
        sys.stdout.write(f"{' ' if said[bad.name] == bad.message else '*'} {bad.name}: {said[bad.name]}\n")
    if "--update" in sys.argv:  # then `ruff format`
        path = Path(__file__)
        lines = path.read_text(encoding="utf-8").encode().splitlines(keepends=True)
        starts = [0, *itertools.accumulate(map(len, lines))]
        source = b"".join(lines)
        calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call) and len(node.args) == 3]
        calls = [node for node in calls if isinstance(node.func, ast.Name) and node.func.id == "Bad"]
        for name, _, old in sorted((node.args for node in calls), key=lambda arguments: -arguments[2].lineno):
            start, end = (
                starts[a - 1] + b for a, b in ((old.lineno, old.col_offset), (old.end_lineno, old.end_col_offset))
            )
            if ast.literal_eval(old) != said[ast.literal_eval(name)]:
                source = source[:start] + literal(said[ast.literal_eval(name)]).encode() + source[end:]
        path.write_bytes(source)


if __name__ == "__main__":
    main()
