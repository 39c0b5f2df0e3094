"""Repaired files: what is wrong is written anew, the rest stays; they load strictly, like `policy="repair"`."""

from __future__ import annotations

import difflib
import warnings

import pytest
from bad_models import ALL, GOOD, but, in_joint, joint, more, shape

import featherweight as fw
from peers.public_urdf import FOLDER, TREES, needs_data


def loads_by_default(bad):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            fw.loads(bad.data)
        except fw.ModelError:
            return False
    return True


WRONG = {bad.name: bad.data for bad in ALL if loads_by_default(bad)}


def check(path, base="fixed"):
    """The repaired text, and its changes."""
    text, changes = fw.io.repaired_urdf(path, base=base)
    strict = fw.loads(text, policy="strict", base=base, contact=False)
    assert strict.fingerprint == fw.load(path, policy="repair", base=base, contact=False).fingerprint
    findings = fw.lint(path, base=base)
    assert bool(changes) == any(finding.level in ("wrong", "warning") for finding in findings)
    return text, changes


def test_those_that_load_are_many():
    assert len(WRONG) > 75


@pytest.mark.parametrize("name", WRONG)
def test_a_bad_model_that_loads_is_repaired(name, tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_bytes(WRONG[name])
    _, changes = check(path)
    assert changes


@needs_data
@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize("path", TREES)
def test_a_public_file_is_repaired(path, base):
    text, changes = check(FOLDER / path, base)
    before = (FOLDER / path).read_text(errors="replace")
    if not changes:
        assert text == before
    lost = [line for line in difflib.ndiff(before.splitlines(), text.splitlines()) if line.startswith("- ")]
    assert len(lost) <= 8 * len(changes)  # lines of the file that are not in the other as they were


def test_a_file_that_is_in_order_stays_as_it_is(tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_text(f"<!-- first -->\n{GOOD}<!-- last -->\n")
    assert fw.io.repaired_urdf(path) == (path.read_text(), [])


LINES = {
    "an inertial for a link that has none": (
        more('<link name="hand"/>', joint("j", "arm", "hand")), '  <link name="hand">', '<link name="hand"/>'),
    "limits in their order": (
        but('lower="-1" upper="1"', 'lower="1" upper="-1"'),
        '    <limit lower="-1.0" upper="1.0" effort="2.0" velocity="3.0"/>', ""),
    "no efforts below 0": (
        but('effort="2"', 'effort="-1"'), '    <limit lower="-1.0" upper="1.0" velocity="3.0"/>', 'effort="'),
    "an axis": (in_joint('<axis xyz="0 0 0"/>'), '    <axis xyz="1.0 0.0 0.0"/>', ""),
    "the first of two": (
        in_joint('<origin xyz="1 2 3"/>\n    <origin xyz="4 5 6"/>'), '    <origin xyz="1 2 3"/>', '<origin xyz="4'),
    "no shape that is none": (shape('<geometry><cone r="1"/></geometry>'), '  <link name="base"></link>', "cone"),
    "no macro": (more('<xacro:macro_call a="1"/>'), "</robot>", "xacro"),
    "no joint that follows nothing": (in_joint('<mimic joint="nobody"/>'), '    <child link="arm"/>', "mimic"),
    "damping that is none": (in_joint('<dynamics damping="-1" friction="2"/>'),
        '    <dynamics damping="0.0" friction="2.0"/>', 'damping="-1"'),
}  # fmt: skip


@pytest.mark.parametrize("what", LINES)
def test_a_line_of_a_repaired_file(what, tmp_path):
    text, there, gone = LINES[what]
    path = tmp_path / "robot.urdf"
    path.write_text(text)
    repaired, changes = check(path)
    assert there in repaired.splitlines()
    assert gone == "" or gone not in repaired
    assert len(changes) == 1


@pytest.mark.parametrize("encoding", ["utf-16", "iso-8859-1", "utf-8-sig"])
def test_a_repaired_file_is_in_utf_8(encoding, tmp_path):
    path = tmp_path / "robot.urdf"
    named = "utf-8" if "utf-8" in encoding else encoding
    text = but('lower="-1" upper="1"', 'lower="1" upper="-1"').replace("arm", "bras_é")
    path.write_bytes(f'<?xml version="1.0" encoding="{named}"?>\n{text}'.encode(encoding))
    repaired, _ = check(path)
    (tmp_path / "again.urdf").write_text(repaired, encoding="utf-8")
    assert fw.load(tmp_path / "again.urdf", policy="strict").names[1] == "bras_é"


def test_line_ends_and_tabs_stay(tmp_path):
    path = tmp_path / "robot.urdf"
    wrong = but('lower="-1" upper="1"', 'lower="1" upper="-1"')
    path.write_bytes(wrong.replace("\n", "\r\n").replace("    ", "\t").encode())
    text, _ = check(path)
    assert text.count("\r\n") == text.count("\n") == GOOD.count("\n")
    old, new = wrong.splitlines()[8].strip(), '<limit lower="-1.0" upper="1.0" effort="2.0" velocity="3.0"/>'
    assert text.replace("\r\n", "\n").replace("\t", "    ").replace(new, old) == wrong
