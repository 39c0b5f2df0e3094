"""Damaged URDF files by the hundred thousand: `make fuzz`.

A mutant either raises ModelError, or loads by default into a model that passes the validator below, takes ten finite
steps of dynamics (fewer, if it has many bodies) and comes back from a file to the last bit. Anything else is a failure:
another exception, a number that is not finite, more than two seconds, memory that grows. Only where the user was warned
that something is wrong may dynamics refuse a step; those are counted apart. What loads by default loads with
`policy="repair"`, and what is repaired, in memory or in the file, loads with `policy="strict"`; what is refused is
refused by all three. Every mutant follows from the seed and its number, so that one can be had again:
`python benchmarks/fuzz_urdf.py --only 12345`; several, in ranges too, are only tried: `--only 12345 20000-20099`.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import datetime
import functools
import importlib.util
import json
import math
import os
import platform
import random
import re
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

import featherweight as fw
from featherweight import algorithms

try:
    import resource
except ImportError:  # Windows does not tell
    resource = None  # type: ignore[assignment]

HERE = Path(__file__).resolve().parent
MOST_SECONDS = 2.0  # of processor time, for one mutant, without the steps
MOST_MEGABYTES = 300.0  # more than at the beginning
STEPS, DT = 10, 1e-4
CHUNK = 250  # mutants a worker takes at a time
MOST_TEXT = 500_000  # longer ones are not damaged further
MOST_LISTED = 200  # failures in the record

# ---- what is damaged

ALL_ELEMENTS = """\
<?xml version="1.0" encoding="utf-8"?>
<!-- everything the reader knows -->
<robot name="all" version="1.0">
  <material name="red"><color rgba="1 0 0 1"/></material>
  <link name="base">
    <inertial><origin xyz="0 0 0.1" rpy="0.1 0.2 0.3"/><mass value="2"/>
      <inertia ixx="0.02" ixy="0.001" ixz="0.002" iyy="0.03" iyz="0.003" izz="0.04"/></inertial>
    <visual name="v"><origin xyz="0 0 1"/><geometry><mesh filename="package://a/b.stl" scale="1 1 -1"/></geometry>
      <material name="red"/></visual>
    <collision><geometry><box size="0.1 0.2 0.3"/></geometry></collision>
  </link>
  <link name="arm">
    <inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01"/></inertial>
    <collision><geometry><sphere radius="0.05"/></geometry></collision>
  </link>
  <link name="slide">
    <inertial><mass value="0.5"/><inertia ixx="0.01" iyy="0.01" izz="0.01"/></inertial>
    <collision><geometry><cylinder radius="0.05" length="0.2"/></geometry></collision>
  </link>
  <link name="wheel">
    <inertial><mass value="0.25"/><inertia ixx="0.001" iyy="0.001" izz="0.002"/></inertial>
    <collision><origin rpy="1.57 0 0"/><geometry><capsule radius="0.05" length="0.2"/></geometry></collision>
  </link>
  <link name="tool"/>
  <joint name="hinge" type="revolute">
    <origin xyz="0 0 0.2" rpy="0 1.5707963267948966 0"/><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
    <limit lower="-1.5" upper="1.5" effort="10" velocity="5"/><dynamics damping="0.1" friction="0.2"/>
  </joint>
  <joint name="rail" type="prismatic">
    <origin xyz="0.1 0 0"/><parent link="arm"/><child link="slide"/><axis xyz="1 0 0"/>
    <limit lower="0" upper="0.5" effort="10" velocity="5"/><mimic joint="hinge" multiplier="0.1" offset="0.05"/>
  </joint>
  <joint name="spin" type="continuous">
    <origin xyz="0 0.1 0"/><parent link="arm"/><child link="wheel"/><axis xyz="0 0.6 0.8"/>
    <limit effort="1" velocity="100"/>
  </joint>
  <joint name="weld" type="fixed"><origin xyz="0 0 0.1"/><parent link="slide"/><child link="tool"/></joint>
  <transmission name="motor">
    <type>transmission_interface/SimpleTransmission</type>
    <joint name="hinge"><hardwareInterface>EffortJointInterface</hardwareInterface></joint>
    <actuator name="m"><mechanicalReduction>50</mechanicalReduction><rotorInertia>1e-6</rotorInertia></actuator>
  </transmission>
  <gazebo reference="arm"><mu1>0.9</mu1></gazebo>
</robot>
"""
PENDULUM = """\
<robot name="pendulum"><link name="base"/><link name="rod"><inertial><origin xyz="0 0 -0.5"/><mass value="1"/>
<inertia ixx="0.083" iyy="0.083" izz="0.001"/></inertial></link>
<joint name="pivot" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint></robot>
"""
FLOATING = """\
<robot name="floating"><link name="world"/>
<link name="body"><inertial><mass value="3"/><inertia ixx="0.1" iyy="0.2" izz="0.25"/></inertial>
<collision><geometry><box size="0.3 0.2 0.1"/></geometry></collision></link>
<link name="leg"><inertial><origin xyz="0 0 -0.1"/><mass value="0.3"/>
<inertia ixx="1e-3" iyy="1e-3" izz="1e-4"/></inertial>
<collision><origin xyz="0 0 -0.2"/><geometry><sphere radius="0.02"/></geometry></collision></link>
<joint name="float" type="floating"><parent link="world"/><child link="body"/></joint>
<joint name="hip" type="revolute"><origin xyz="0.1 0 0"/><parent link="body"/><child link="leg"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="20" velocity="10"/></joint></robot>
"""
PLANAR = """\
<robot name="planar"><link name="floor"/>
<link name="cart"><inertial><mass value="5"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial></link>
<link name="mast"/>
<link name="head"><inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01"/></inertial></link>
<joint name="move" type="planar"><parent link="floor"/><child link="cart"/><axis xyz="0 0 1"/></joint>
<joint name="weld" type="fixed"><origin xyz="0 0 1"/><parent link="cart"/><child link="mast"/></joint>
<joint name="look" type="revolute"><parent link="mast"/><child link="head"/><axis xyz="0 0 1"/>
<limit lower="-3.14" upper="3.14"/></joint></robot>
"""
GRIPPER = """\
<robot name="gripper"><link name="palm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<link name="left"><inertial><mass value="0.1"/><inertia ixx="1e-4" iyy="1e-4" izz="1e-4"/></inertial></link>
<link name="right"><inertial><mass value="0.1"/><inertia ixx="1e-4" iyy="1e-4" izz="1e-4"/></inertial></link>
<link name="third"><inertial><mass value="0.1"/><inertia ixx="1e-4" iyy="1e-4" izz="1e-4"/></inertial></link>
<joint name="l" type="prismatic"><parent link="palm"/><child link="left"/><axis xyz="0 1 0"/>
<limit lower="0" upper="0.04" effort="20" velocity="0.2"/></joint>
<joint name="r" type="prismatic"><parent link="palm"/><child link="right"/><axis xyz="0 -1 0"/>
<limit lower="0" upper="0.04" effort="20" velocity="0.2"/><mimic joint="l"/></joint>
<joint name="t" type="revolute"><parent link="right"/><child link="third"/><axis xyz="0 0 1"/>
<limit lower="0" upper="1"/><mimic joint="r" multiplier="-20" offset="0.5"/><dynamics damping="0.01"/></joint></robot>
"""
BROKEN = """\
<robot name="broken"><link name="a"><inertial><mass value="0"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<link name="b"><inertial><origin xyz="1 0 0" rpy="0 0 1"/><mass value="1"/>
<inertia ixx="1" iyy="1" izz="3"/></inertial></link>
<link name="c"><inertial><mass value="-1"/><inertia ixx="-1" iyy="1" izz="1"/></inertial></link><link name="d"/>
<joint name="ab" type="revolute"><parent link="a"/><child link="b"/></joint>
<joint name="bc" type="revolute"><parent link="b"/><child link="c"/><mimic joint="ab"/></joint>
<joint name="cd" type="continuous"><parent link="c"/><child link="d"/></joint></robot>
"""
PUBLISHED = (
    "double_pendulum_description/urdf/double_pendulum_simple.urdf",
    "finger_edu_description/robots/finger_edu.urdf",
    "panda_description/urdf/panda.urdf",
    "solo_description/robots/solo.urdf",
    "ur_description/urdf/ur5_robot.urdf",
)


@functools.cache
def seeds() -> tuple[str, ...]:
    """The compact ones, each several times, and published ones if they are installed."""
    compact = (ALL_ELEMENTS, PENDULUM, FLOATING, PLANAR, GRIPPER, BROKEN)
    found = importlib.util.find_spec("pinocchio")
    folder = Path(found.origin).parents[4] / "share" / "example-robot-data" / "robots" if found else Path()
    published = (folder / urdf for urdf in PUBLISHED)
    return (*compact * 5, *(path.read_text(encoding="utf-8") for path in published if path.is_file()))


# ---- how

LEGAL = (
    "0", "-0", "1", "-1", "2", "0.5", "3.14159265358979", "1.57079632679", "1e-3", "1e3", "-1e3", "1e-8", "1e-9",
    "1e-12", "1e-30", "1e-160", "1e-300", "1e-310", "5e-324", "1e-999", "1e30", "1e60", "1e99", "1e100", "-1e100",
    "00001", "+1", ".5", "5.", "1e5", "1E5", "1e+5", "99999999999999999999",
)  # fmt: skip
ILLEGAL = (
    "1.0000001e100", "1e150", "1e308", "1e309", "1e999", "-1e999", "nan", "-nan", "NaN", "inf", "-inf", "Infinity",
    "1_000", "0x10", "1e", "1e+", ".", "-", "+", "1.5.2", "1,5", "٣", "１", "1f", "1d", "true", "None", "${x}", "1/2",
)  # fmt: skip
TOKENS = (
    "<", ">", "/>", "</link>", "</joint>", "</robot>", "<robot>", '<link name="x"/>', "<inertial/>", "<!--", "-->",
    "<![CDATA[", "]]>", "<?x?>", "<?xml version='1.0'?>", "&amp;", "&lt;", "&x;", "&#0;", "&#10;", "&#x10FFFF;",
    "&#xD800;", "<!DOCTYPE r>", "<!DOCTYPE r [<!ENTITY x 'y'>]>", '<mimic joint="hinge"/>',
    '<mimic joint="l" multiplier="1e100"/>', "\x00", "\x01", "\ufeff", "\u2028", "\u00a0", "\r", "\t", "'", '"', "=",
    " ", "\n", '<origin xyz="0 0 0"/>', '<limit lower="1" upper="0"/>', "<gazebo/>", "<material/>", "<xacro:x/>",
    "<mass/>", '<mass value="1"/>', "<transmission/>", "<a:b/>", "é", "脚", "💥",
)  # fmt: skip
STRANGE_NAMES = ("world", "root_joint", "universe", "world_link", "arm_contact0", "base_joint", " ", "a&#10;b", "é脚")
TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar", "spherical", "", "Revolute")
ENCODINGS = (
    "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-7", "latin-1", "cp1252", "koi8-r", "cp037",
    "shift_jis", "gb18030", "ascii",
)  # fmt: skip
CLAIMS = (
    *ENCODINGS, "klingon", "base64", "punycode", "idna", "undefined", "UTF8", "x", "", "utf-16\x00", "a" * 200,
    "charmap", "unicode_escape", "raw_unicode_escape", "utf_8_sig", "mbcs", "palmos",
)  # fmt: skip
ATTRIBUTE = re.compile(r"""[\w:]+\s*=\s*("[^"]*"|'[^']*')""")
VALUE = re.compile(r"""(?<==")[^"]*(?=")""")
NUMBER = re.compile(r"(?<![\w.])[+-]?\d+(\.\d*)?([eE][+-]?\d+)?(?![\w.])")
NAME = re.compile(r"""(?<=\b(?:name|link)=")[^"]*|(?<=\bjoint=")[^"]*""")
TAG = re.compile(r"<(/?)([A-Za-z_:][\w:.-]*)([^<>]*?)(/?)>")

Random = random.Random


def _pick(pattern: re.Pattern[str], text: str, rng: Random) -> tuple[int, int] | None:
    """Where one of the matches of a pattern is."""
    found = [m.span() for m in pattern.finditer(text)]
    return rng.choice(found) if found else None


def _exchanged(text: str, place: tuple[int, int] | None, new: str) -> str:
    return text if place is None else text[: place[0]] + new + text[place[1] :]


def elements(text: str) -> list[tuple[int, int, str]]:
    """Spans of all elements that are closed, with their tags."""
    found, stack = [], []
    for m in TAG.finditer(text):
        closing, tag, _, empty = m.groups()
        if empty:
            found.append((m.start(), m.end(), tag))
        elif not closing:
            stack.append((m.start(), tag))
        elif stack and stack[-1][1] == tag:
            start, _ = stack.pop()
            found.append((start, m.end(), tag))
    return found


def any_number(rng: Random) -> str:
    return rng.choice(LEGAL if rng.random() < 0.85 else ILLEGAL)


def extreme_number(text: str, rng: Random) -> str:
    return _exchanged(text, _pick(NUMBER, text, rng), any_number(rng))


def extreme_numbers(text: str, rng: Random) -> str:
    """Many at once."""
    share, numbers = rng.choice((0.1, 0.5, 1.0)), [any_number(rng) for _ in range(3)]
    return NUMBER.sub(lambda m: rng.choice(numbers) if rng.random() < share else m[0], text)


def scaled_number(text: str, rng: Random) -> str:
    place = _pick(NUMBER, text, rng)
    if place is None:
        return text
    factor = rng.choice((-1, 1e-6, 1e6, 1e-100, 1e50, 1 + 1e-9))
    return _exchanged(text, place, repr(float(text[slice(*place)]) * factor))


def number_count(text: str, rng: Random) -> str:
    """One number more or less in a list."""
    place = _pick(VALUE, text, rng)
    if place is None:
        return text
    words = text[slice(*place)].split(" ")
    words.insert(rng.randrange(len(words) + 1), any_number(rng)) if rng.random() < 0.5 else words.pop()
    return _exchanged(text, place, " ".join(words))


def lost_attribute(text: str, rng: Random) -> str:
    return _exchanged(text, _pick(ATTRIBUTE, text, rng), "")


def doubled_attribute(text: str, rng: Random) -> str:
    place = _pick(ATTRIBUTE, text, rng)
    return text if place is None else _exchanged(text, place, f"{text[slice(*place)]} {text[slice(*place)]}")


def moved_attribute(text: str, rng: Random) -> str:
    """An attribute in the place of another."""
    a, b = _pick(ATTRIBUTE, text, rng), _pick(ATTRIBUTE, text, rng)
    return text if a is None or b is None else _exchanged(text, a, text[slice(*b)])


def other_value(text: str, rng: Random) -> str:
    """The value of one attribute in another."""
    a, b = _pick(VALUE, text, rng), _pick(VALUE, text, rng)
    return text if a is None or b is None else _exchanged(text, a, text[slice(*b)])


def emptied_value(text: str, rng: Random) -> str:
    return _exchanged(text, _pick(VALUE, text, rng), rng.choice(("", " ", "\t\n")))


def long_value(text: str, rng: Random) -> str:
    long = rng.choice(("x", "1 ", "9", "é")) * rng.choice((100, 5000, 100_000))
    return _exchanged(text, _pick(VALUE, text, rng), long)


def renamed(text: str, rng: Random) -> str:
    """A link or joint gets another's name, or a strange one."""
    a, b = _pick(NAME, text, rng), _pick(NAME, text, rng)
    if a is None or b is None:
        return text
    new = text[slice(*b)] if rng.random() < 0.7 else rng.choice(STRANGE_NAMES)
    if rng.random() < 0.5:  # everywhere
        return text.replace(f'"{text[slice(*a)]}"', f'"{new}"')
    return _exchanged(text, a, new)


def other_type(text: str, rng: Random) -> str:
    return _exchanged(text, _pick(re.compile(r'(?<=type=")[^"]*'), text, rng), rng.choice(TYPES))


def lost_element(text: str, rng: Random) -> str:
    found = elements(text)
    return _exchanged(text, rng.choice(found)[:2], "") if found else text


def doubled_element(text: str, rng: Random) -> str:
    found = elements(text)
    if not found:
        return text
    start, end, _ = rng.choice(found)
    return text[:end] + text[start:end] * rng.choice((1, 1, 2, 20)) + text[end:]


def moved_element(text: str, rng: Random) -> str:
    """A subtree in the place before or inside another."""
    found = elements(text)
    if len(found) < 2:
        return text
    (start, end, _), (place, stop, _) = rng.sample(found, 2)
    moved = text[start:end]
    if rng.random() < 0.5:
        return text[:place] + moved + text[place:]
    inside = text.rfind("</", place, stop)
    return text if inside < 0 else text[:inside] + moved + text[inside:]


def other_tag(text: str, rng: Random) -> str:
    """A tag becomes another's."""
    found = elements(text)
    if not found:
        return text
    start, end, tag = rng.choice(found)
    new = rng.choice([tag for *_, tag in found] + ["unknown", "xacro:macro"])
    inside = text[start:end].replace(f"<{tag}", f"<{new}", 1)
    if inside.endswith(f"</{tag}>"):
        inside = f"{inside[: -len(tag) - 3]}</{new}>"
    return text[:start] + inside + text[end:]


def nested(text: str, rng: Random) -> str:
    """An element inside many others."""
    found = elements(text)
    if not found:
        return text
    start, end, _ = rng.choice(found)
    depth, tag = rng.choice((3, 60, 70, 3000)), rng.choice(("a", "link", "geometry", "robot"))
    return f"{text[:start]}{f'<{tag}>' * depth}{text[start:end]}{f'</{tag}>' * depth}{text[end:]}"


def many(text: str, rng: Random) -> str:
    """A chain of new links, or a crowd of them."""
    names, count = [text[slice(*p)] for p in [_pick(NAME, text, rng)] if p], rng.choice((5, 30, 200))
    parent, kind, extra = names[0] if names else "base", rng.choice(TYPES[:6]), []
    for k in range(count):
        inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
        extra.append(f'<link name="n{k}">{inertial}</link>')
        extra.append(f'<joint name="m{k}" type="{kind}"><parent link="{parent}"/><child link="n{k}"/>')
        extra.append(f'<mimic joint="m{rng.randrange(count)}"/></joint>' if rng.random() < 0.1 else "</joint>")
        parent = f"n{k}" if rng.random() < 0.8 else parent
    return text.replace("</robot>", "".join(extra) + "</robot>")


def new_mimic(text: str, rng: Random) -> str:
    names = [text[slice(*p)] for p in [_pick(NAME, text, rng)] if p] or ["x"]
    numbers = f'multiplier="{any_number(rng)}" offset="{any_number(rng)}"' if rng.random() < 0.7 else ""
    places = [m.start() for m in re.finditer("</joint>", text)]
    return _exchanged(text, (p := rng.choice(places), p), f'<mimic joint="{names[0]}" {numbers}/>') if places else text


def new_motor(text: str, rng: Random) -> str:
    name = _pick(re.compile(r'(?<=<joint name=")[^"]*'), text, rng)
    joint = text[slice(*name)] if name else "x"
    a, b = any_number(rng), any_number(rng)
    inside = f"<mechanicalReduction>{a}</mechanicalReduction><rotorInertia>{b}</rotorInertia>"
    motor = f'<transmission><joint name="{joint}"/><actuator>{inside}</actuator></transmission>'
    return text.replace("</robot>", f"{motor}</robot>")


def spliced_token(text: str, rng: Random) -> str:
    place = rng.randrange(len(text) + 1)
    return text[:place] + rng.choice(TOKENS) + text[place:]


def spliced_other(text: str, rng: Random) -> str:
    """The beginning of one file, the end of another."""
    other = rng.choice(seeds())
    return text[: rng.randrange(len(text) + 1)] + other[rng.randrange(len(other)) :]


def spliced_element(text: str, rng: Random) -> str:
    """An element of another file."""
    other = rng.choice(seeds()[:30])
    mine, theirs = elements(text), elements(other)
    if not mine or not theirs:
        return text
    start, end, _ = rng.choice(theirs)
    place = rng.choice(mine)[rng.randrange(2)]
    return text[:place] + other[start:end] + text[place:]


TEXT: dict[Callable[[str, Random], str], int] = {  # and how often
    extreme_number: 8, extreme_numbers: 3, scaled_number: 6, number_count: 1, lost_attribute: 2, doubled_attribute: 1,
    moved_attribute: 1, other_value: 3, emptied_value: 1, long_value: 1, renamed: 3, other_type: 4, lost_element: 3,
    doubled_element: 2, moved_element: 3, other_tag: 2, nested: 1, many: 2, new_mimic: 4, new_motor: 3,
    spliced_token: 2, spliced_other: 1, spliced_element: 2,
}  # fmt: skip


def flipped(data: bytes, rng: Random) -> bytes:
    array = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 5, 50)) if array else 0):
        array[rng.randrange(len(array))] ^= 1 << rng.randrange(8)
    return bytes(array)


def random_bytes(data: bytes, rng: Random) -> bytes:
    place = rng.randrange(len(data) + 1)
    return data[:place] + rng.randbytes(rng.choice((1, 2, 8))) + data[place + rng.choice((0, 1, 8)) :]


def truncated(data: bytes, rng: Random) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def lost_bytes(data: bytes, rng: Random) -> bytes:
    place = rng.randrange(len(data) + 1)
    return data[:place] + data[place + rng.randrange(40) :]


def doubled_bytes(data: bytes, rng: Random) -> bytes:
    place, n = rng.randrange(len(data) + 1), rng.randrange(200)
    return data[: place + n] + data[place:]


def odd_encoding(data: bytes, rng: Random) -> bytes:
    """In another encoding than it claims, or in the same."""
    text = data.decode("utf-8", "replace")
    encoding = rng.choice(ENCODINGS)
    claim = encoding if rng.random() < 0.5 else rng.choice(CLAIMS)
    body = re.sub(r"^<\?xml.*?\?>", "", text)
    if rng.random() < 0.8:
        body = f'<?xml version="1.0" encoding="{claim}"?>{body}'
    return rng.choice((b"", b"", b"", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")) + body.encode(encoding, "replace")


def other_line_ends(data: bytes, rng: Random) -> bytes:
    return data.replace(b"\n", rng.choice((b"\r\n", b"\r", b"\n\n", b"", b"\x0b", b"\xc2\x85")))


BYTES: dict[Callable[[bytes, Random], bytes], int] = {
    flipped: 2, random_bytes: 1, truncated: 1, lost_bytes: 1, doubled_bytes: 1, odd_encoding: 3, other_line_ends: 1,
}  # fmt: skip


def mutant(seed: int, number: int) -> tuple[bytes, dict[str, Any], list[str]]:
    """A damaged file, how to load it, and what was done to it."""
    rng = Random(f"{seed}:{number}")
    text, done = rng.choice(seeds()), []
    for change in rng.choices(list(TEXT), list(TEXT.values()), k=rng.choice((1, 1, 1, 1, 2, 2, 3, 5))):
        if len(text) < MOST_TEXT:
            text = change(text, rng)
            done.append(change.__name__)
    data = text.encode("utf-8", "surrogatepass")
    if rng.random() < 0.12:
        (change_bytes,) = rng.choices(list(BYTES), list(BYTES.values()))
        data = change_bytes(data, rng)
        done.append(change_bytes.__name__)
    base, also = rng.choice(("fixed", "fixed", "free")), rng.choice(("strict", "repair", "repair", "fixed file", ""))
    return data, {"base": base, "also": also}, done


# ---- what must hold


class Failure(Exception):
    """A mutant did what it must not do."""


def _numbers(x: Any) -> Iterable[float]:
    """All numbers in tuples of tuples of numbers."""
    if isinstance(x, (int, float)):
        yield x
    elif isinstance(x, tuple):
        for y in x:
            yield from _numbers(y)


def validate(model: fw.Model, policy: str) -> None:
    """Failure unless the model is a model."""
    n = len(model.parent)
    if not len(model.names) == len(model.X_tree) == len(model.inertias) == len(model.joints) + 1 == n:
        raise Failure("the tuples of a model have different lengths")
    if model.parent[0] != -1 or any(not 0 <= model.parent[i] < i for i in range(1, n)):
        raise Failure(f"parents are not before their children: {model.parent}")
    if len(set(model.names)) < n or len(set(model.joint_names)) < n - 1 or not all(model.names):
        raise Failure("a name is not unique")
    if set(model.names) | set(model.joint_names) > set(model.frames):
        raise Failure("a body or joint is no frame")
    for i, (X, inertia) in enumerate(zip(model.X_tree, model.inertias, strict=True)):
        E = np.array([tuple(row) for row in X.E], dtype=float)
        if not np.isfinite([*E.ravel(), *X.r, inertia.m, *inertia.h, *np.ravel(inertia.I.matrix)]).all():
            raise Failure(f"body {i}: not finite: {X} {inertia}")
        if np.abs(E @ E.T - np.eye(3)).max() > 1e-12:
            raise Failure(f"body {i}: E is no rotation: {E}")
        if i > 0 and policy != "warn":
            _possible(i, float(inertia.m), np.array(tuple(inertia.h), float), np.array(inertia.I.matrix, float))
    for joint in model.joints:
        properties = (joint.armature, joint.damping, joint.friction, joint.stiffness, joint.rest)
        if not np.isfinite([*_numbers(properties), joint.kind.ratio, joint.kind.offset]).all():
            raise Failure(f"joint {joint.name!r}: not finite: {joint}")
        if any(x < 0 for x in _numbers(properties[:4])):
            raise Failure(f"joint {joint.name!r}: negative: {joint}")
        limits = joint.limits
        if not all(a <= b for a, b in zip(limits.lower, limits.upper, strict=True)):
            raise Failure(f"joint {joint.name!r}: limits are not in order: {limits}")
        if not all(x >= 0 for x in (*limits.velocity, *limits.effort)):
            raise Failure(f"joint {joint.name!r}: limits are negative: {limits}")
        axis = getattr(getattr(joint.kind, "joint", joint.kind), "axis", None)
        if axis is not None and abs(np.linalg.norm(tuple(axis)) - 1) > 1e-12:
            raise Failure(f"joint {joint.name!r}: the axis is no unit vector: {axis}")
    for frame in model.frames.values():
        if not 0 <= frame.body < n or not np.isfinite([*frame.X.r]).all():
            raise Failure(f"frame {frame.name!r}: {frame}")
    for point in model.contact_points:
        if not np.isfinite([*point.position, point.radius]).all() or point.radius < 0:
            raise Failure(f"contact point: {point}")
    for shape in model.geometry:
        if not np.isfinite([*shape.size, *shape.X.r, *shape.color]).all():
            raise Failure(f"geometry: {shape}")


def _possible(i: int, m: float, h: np.ndarray, about_origin: np.ndarray) -> None:
    """Mass > 0, moments about the centre of mass not negative, the largest not above the sum of the others."""
    if not m > 0:
        raise Failure(f"body {i} moves and has mass {m}")
    c = h / m
    low, middle, high = np.linalg.eigvalsh(about_origin - m * (c @ c * np.eye(3) - np.outer(c, c)))
    slack = 2e-9 * max(abs(low), high) + 1e-12 * np.abs(about_origin).max()  # digits of the file, and of h and I
    if low < -slack or high > low + middle + slack:
        raise Failure(f"body {i}: no body has the moments {low}, {middle}, {high}")


def steps_of(model: fw.Model) -> int:
    """Many bodies take their time."""
    return STEPS if model.nb < 15 else 2 if model.nb < 60 else 1


def steps(model: fw.Model) -> str:
    """Steps of dynamics on plain floats, with the same algorithms as compiled code: "" if all is finite, or why
    not."""
    tree = model.over(float, lambda: None)
    forward = algorithms.coupled_forward_dynamics if tree.coupled else algorithms.forward_dynamics
    q, v, tau = model.neutral().tolist(), [0.1] * model.nv, [0.0] * model.nv
    for step in range(1, steps_of(model) + 1):
        try:
            a, _ = forward(tree, q, v, tau, None)
            v = [v_k + DT * a_k for v_k, a_k in zip(v, a, strict=True)]
            q = algorithms.integrate(tree, q, [DT * v_k for v_k in v])
        except (ArithmeticError, ValueError) as error:  # of math.sin(inf), say
            return f"step {step}: {error}"
        if not all(map(math.isfinite, (*q, *v))):
            return f"step {step} is not finite"
    return ""


def refuses(model: fw.Model) -> bool:
    """The public functions say so too when numbers are not finite, by ValueError."""
    q, v, tau = model.neutral(), np.full(model.nv, 0.1), np.zeros(model.nv)
    with fw.interpret(), np.errstate(all="ignore"):
        for _ in range(steps_of(model)):
            try:
                v = v + DT * fw.forward_dynamics(model, q, v, tau)
                q = fw.integrate(model, q, v, DT)
            except ValueError:
                return True
            if not np.isfinite(q).all() or not np.isfinite(v).all():
                return False
    return False


def in_order(data: bytes, base: str) -> bool:
    """Loads although nothing may be wrong."""
    try:
        fw.loads(data, base=base, policy="strict")
    except fw.ModelError:
        return False
    return True


def stepped(model: fw.Model, data: bytes, base: str, policy: str = "warn") -> str:
    """Takes ten finite steps; must, unless it was loaded against a warning."""
    reason = steps(model)
    if not reason:
        return "loaded and stepped"
    if policy != "warn" or in_order(data, base):
        raise Failure(f"is in order, but dynamics is not: {reason}")
    if not refuses(model):
        raise Failure(f"a step is not finite and says nothing: {reason}")
    return "loaded against a warning, steps refused"


def comes_back(model: fw.Model, base: str, policy: str, path: Path) -> None:
    """Saved and loaded it is the same; what was repaired passes strict then."""
    fw.save_urdf(model, path)
    try:
        other = fw.load(path, base=base, policy=policy)
    except fw.ModelError as error:
        raise Failure(f"does not load when it is saved: {error}") from None
    parts = ("name", "names", "fingerprint", "geometry", "contact_points", "parts")
    same = [getattr(model, part) == getattr(other, part) for part in parts]
    if not all(same) or dict(model.frames) != dict(other.frames):
        raise Failure("is another model when it is saved and loaded")


def loaded_by(data: bytes, base: str, policy: str) -> fw.Model | None:
    """With another policy; None if it is refused."""
    try:
        return fw.loads(data, base=base, policy=policy)
    except fw.ModelError:
        return None


def other_ways(model: fw.Model | None, data: bytes, base: str, also: str, path: Path) -> None:
    """What else must hold of a mutant that loads by default as this model, or not at all."""
    if also == "strict":
        strict = loaded_by(data, base, "strict")
        if strict is not None:
            validate(strict, "strict")
            if model is None or strict.fingerprint != model.fingerprint:
                raise Failure("loads strictly, and by default as another or not at all")
    elif also == "repair":
        repaired = loaded_by(data, base, "repair")
        if (repaired is None) != (model is None):
            raise Failure("is repaired and not loaded by default, or the other way round")
        if repaired is not None:
            validate(repaired, "repair")
            comes_back(repaired, base, "strict", path)
            stepped(repaired, data, base, "repair")
    elif also and model is not None:
        path.write_bytes(data)
        text, _ = fw.io.repaired_urdf(path, base=base)
        repaired = fw.load(path, base=base, policy="repair")
        strict = loaded_by(text.encode(), base, "strict")
        if strict is None:
            raise Failure("a repaired file does not load strictly")
        if strict.fingerprint != repaired.fingerprint:
            raise Failure("a repaired file is another robot")


def outcome(data: bytes, options: dict[str, Any], number: int, path: Path) -> tuple[str, str, float]:
    """What became of a mutant, the message if it was refused, and the time its steps and the other ways took. Failure
    or another exception if it failed."""
    base, also = options["base"], options["also"]
    try:
        if number % 10:
            model = fw.loads(data, base=base)
        else:
            path.write_bytes(data)
            model = fw.load(path, base=base)
    except fw.ModelError as error:
        if number % 10 == 0 and not [f for f in fw.lint(path, base=base) if f.level == "error"]:
            raise Failure(f"is refused, and lint finds nothing: {error}") from None
        start = time.process_time()
        other_ways(None, data, base, also, path)
        result = "refused" if error.line else "refused without a line"
        return result, str(error), time.process_time() - start
    if number % 10 == 0:
        findings = fw.lint(path, base=base)
        if [f for f in findings if f.level == "error"] or len(str(findings).splitlines()) > 40:
            raise Failure("loads, though lint finds an error, or more than a screen")
    validate(model, "warn")
    if number % 3 == 0:
        comes_back(model, base, "warn", path)
    start = time.process_time()
    result = stepped(model, data, base)
    other_ways(model, data, base, also, path)
    return result, "", time.process_time() - start


# ---- the run


def megabytes() -> float:
    """The most memory this process had so far."""
    if resource is None:
        return 0.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def place_of(error: BaseException) -> str:
    """The last lines of ours an exception came from."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "featherweight" in f.filename]
    return " < ".join(f"{Path(f.filename).name}:{f.lineno}" for f in reversed(frames[-3:]))


def run(seed: int, numbers: Iterable[int]) -> dict[str, Any]:
    """All mutants with these numbers."""
    outcomes, messages, changes = (collections.Counter[str]() for _ in range(3))
    failures: list[dict[str, Any]] = []
    slowest, before = (0.0, -1), megabytes()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)
        for number in numbers:
            data, options, done = mutant(seed, number)
            changes.update(done)
            start, apart = time.process_time(), 0.0
            try:
                result, message, apart = outcome(data, options, number, Path(folder) / "mutant.urdf")
                if message:
                    messages[general(message)] += 1
            except Exception as error:
                result, what = "failed", f"{type(error).__name__}: {error}"[:500]
                failures.append(
                    {"number": number, "what": what, "where": place_of(error), "options": options, "done": done}
                )
            seconds = time.process_time() - start - apart
            slowest = max(slowest, (seconds, number))
            if seconds > MOST_SECONDS:
                result = "failed"
                failures.append({"number": number, "what": f"took {seconds:.1f} s", "options": options, "done": done})
            outcomes[result] += 1
    return {
        "outcomes": outcomes,
        "messages": messages,
        "changes": changes,
        "failures": failures,
        "slowest": slowest,
        "megabytes": megabytes() - before,
    }


def general(message: str) -> str:
    """A message without what is special in it."""
    text = re.sub(r"^\S*\.urdf:", "", message)
    text = re.sub(r"'[^']*'|\"[^\"]*\"", "…", text)
    return re.sub(r"[-+]?\d[\d.e+-]*", "0", text)[:160]


def merged(parts: list[dict[str, Any]]) -> dict[str, Any]:
    total = {name: sum((p[name] for p in parts), collections.Counter()) for name in ("outcomes", "messages", "changes")}
    return total | {
        "failures": [failure for p in parts for failure in p["failures"]],
        "slowest": max(p["slowest"] for p in parts),
        "megabytes": max(p["megabytes"] for p in parts),
    }


def line(result: dict[str, Any], count: int, seconds: float) -> str:
    outcomes = result["outcomes"]
    done = sum(outcomes.values())
    parts = ", ".join(f"{name} {n}" for name, n in sorted(outcomes.items()))
    return f"{done}/{count} in {seconds:.0f} s, {done / max(seconds, 1e-9):.0f} a second: {parts}"


def numbers_in(text: str) -> range:
    """Of one mutant, or of all from the first to the last: "12345", "20000-20099"."""
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def show(seed: int, number: int) -> None:
    """One mutant, how it is loaded, what was done to it and what becomes of it."""
    data, options, done = mutant(seed, number)
    sys.stdout.write(f"{data.decode('utf-8', 'backslashreplace')}\n{options} {done}\n")
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)
        sys.stdout.write(f"{outcome(data, options, number, Path(folder) / 'mutant.urdf')}\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100_000, help="mutants")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--only", type=numbers_in, nargs="+", help="these mutants, without a record; one is printed")
    arguments = parser.parse_args()
    if arguments.only is not None:
        chosen = [number for numbers in arguments.only for number in numbers]
        if len(chosen) == 1:
            show(arguments.seed, chosen[0])
            return 0
        start, result = time.perf_counter(), run(arguments.seed, chosen)
        sys.stdout.write(f"{line(result, len(chosen), time.perf_counter() - start)}\n")
        for failure in result["failures"]:
            sys.stdout.write(f"  {failure}\n")
        return 1 if result["failures"] else 0

    start, parts, shown = time.perf_counter(), [], 0.0
    ranges = [range(k, min(k + CHUNK, arguments.count)) for k in range(0, arguments.count, CHUNK)]
    with concurrent.futures.ProcessPoolExecutor(arguments.jobs) as pool:
        for future in concurrent.futures.as_completed([pool.submit(run, arguments.seed, r) for r in ranges]):
            parts.append(future.result())
            seconds = time.perf_counter() - start
            if seconds > shown + 2 or len(parts) == len(ranges):
                shown = seconds
                sys.stdout.write(f"\r{line(merged(parts), arguments.count, seconds)}\033[K")
                sys.stdout.flush()
    result = merged(parts)
    if result["megabytes"] > MOST_MEGABYTES:
        result["failures"].append({"what": f"memory grew by {result['megabytes']:.0f} MB"})
    today = datetime.datetime.now().astimezone()
    record = {
        "date": today.isoformat(timespec="seconds"),
        "version": fw.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "machine": f"{platform.system()} {platform.machine()}",
        "seed": arguments.seed,
        "count": arguments.count,
        "seconds": round(time.perf_counter() - start, 1),
        "outcomes": dict(sorted(result["outcomes"].items())),
        "slowest_seconds": round(result["slowest"][0], 3),
        "slowest_mutant": result["slowest"][1],
        "memory_growth_megabytes": round(result["megabytes"], 1),
        "changes": dict(result["changes"].most_common()),
        "messages": dict(result["messages"].most_common(200)),
        "failure_count": len(result["failures"]),
        "failures": sorted(result["failures"], key=lambda failure: failure.get("number", -1))[:MOST_LISTED],
    }
    path = HERE / "results" / f"{record['date'][:10]}-fuzz.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    sys.stdout.write(f"\n{len(result['failures'])} failures; written to {path.relative_to(HERE.parent)}\n")
    for failure in record["failures"][:20]:
        sys.stdout.write(f"  {failure}\n")
    return 1 if result["failures"] else 0


if __name__ == "__main__":
    sys.exit(main())
