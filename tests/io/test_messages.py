"""Messages as a user reads them: the cause comes first, and the advice helps."""

from __future__ import annotations

import pytest
from bad_models import ALL, GOOD, mass

import featherweight as fw
from featherweight import ModelError

BY_NAME = {bad.name: bad for bad in ALL}

# What must be said first: what follows from it (no mass, two roots) may come after.
CAUSES = {
    "negative mass": (4, "the mass is negative: -1 kg"),
    "mass of zero": (4, "without mass"),
    "inertial without mass": (4, "<mass> is missing"),
    "mass without value": (4, "value is missing"),
    "a mass that is no number": (4, "'heavy' is not a number"),
    "two masses in one": (4, "expected a number, got '1 2'"),
    "self-loop": (6, "connects link 'arm' with itself"),
    "dangling parent": (6, "parent link 'bases' does not exist; did you mean 'base'?"),
    "dangling child": (6, "child link 'forearm' does not exist; did you mean 'arm'?"),
    "joint without a parent": (6, "<parent> is missing"),
    "joint without a child": (6, "<child> is missing"),
    "parent without a link": (7, "link is missing"),
    "mimic of nothing": (10, "joint is missing"),
    "two mimics": (10, "<mimic> is there twice"),
}
# Advice that leads to the next error, and words that help nobody.
UNKIND = {
    "a moment is missing": 'write iyy="0"',
    "axis without xyz": 'write xyz="0 0 0"',
    "box without size": 'write size="0 0 0"',
    "cylinder without length": 'write length="0"',
    "lower above an upper that is not given": "exchange them",
    "no inertial in what is welded": "1 links",
    "seven roots": "'other5', 'other4'",  # from the last to the first
    "too large": "20000001",  # whatever the size of the file is
    "bytes of another encoding": "invalid token",  # it is not UTF-8
    "an expression of xacro": "write digits",
    "no geometry": "box, sphere, cylinder, mesh",  # capsules are read too
    "moments of a galaxy": "moment_about_com",  # a word of our Python, not of the file
}


@pytest.mark.parametrize("name", CAUSES)
def test_the_cause_comes_first(name, tmp_path):
    line, words = CAUSES[name]
    path = tmp_path / "robot.urdf"
    path.write_bytes(BY_NAME[name].data)
    with pytest.raises(ModelError) as caught:
        fw.load(path, policy="strict")
    assert words in str(caught.value)
    assert caught.value.line == line


@pytest.mark.parametrize("name", UNKIND)
def test_advice_helps(name, tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_bytes(BY_NAME[name].data)
    with pytest.raises(ModelError) as caught:
        fw.load(path, policy="strict")
    assert UNKIND[name] not in str(caught.value)


def test_a_floating_base_has_no_joint_to_make_fixed():
    with pytest.raises(ModelError, match="the free base") as caught:
        fw.loads(GOOD, base="free", policy="strict")
    assert "make the joint fixed" not in str(caught.value)


def test_one_fault_is_one_finding(tmp_path):
    """A mass that is no number is not also a body without mass and a moment without mass."""
    path = tmp_path / "robot.urdf"
    path.write_text(mass("heavy"))
    assert len(fw.lint(path)) == 1


@pytest.mark.parametrize("name", BY_NAME)
def test_every_message_is_one_short_line(name):
    assert "\n" not in BY_NAME[name].message
    assert len(BY_NAME[name].message) < 300
