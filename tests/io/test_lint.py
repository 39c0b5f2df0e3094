"""What `lint` finds in published robots: the line and the element, looked up in the files by hand."""

from __future__ import annotations

import re

import pytest

import featherweight as fw
from featherweight.io import Finding
from featherweight.io.summary import KINDS
from peers.pinocchio_adapter import all_urdfs, robots_folder

# robot: line, element, level, part of the message. `wrong`: a body that moves cannot exist; `warning`: a part of one.
KNOWN = {
    "alex_description/urdf/alex_psyonic_hands.urdf": [
        (943, '<link "LeftPsyonicAbilityBaseLink"> <inertial>', "warning", "triangle inequality"),
        (1037, '<joint "Left_index_q2"> <mimic>', "wrong", "joint 'index_q1' does not exist"),
    ],
    "allegro_hand_description/urdf/allegro_left_hand.urdf": [
        (140, '<link "link_11.0"> <inertial>', "warning", "2.30064e-06, 3.48527e-06, 7.2659e-06: the largest exceeds"),
        (562, '<link "link_15.0"> <inertial>', "warning", "triangle inequality"),
    ],
    "anymal_c_simple_description/urdf/anymal.urdf": [
        (200, '<link "depth_camera_front_camera"> <inertial>', "warning", "triangle inequality"),
        (1701, '<link "hatch"> <inertial>', "warning", "triangle inequality"),
    ],
    "b1_description/urdf/b1.urdf": [(14, '<link "base"> <inertial>', "warning", "3e-06: the largest exceeds the sum")],
    "bolt_description/robots/bolt.urdf": [
        (199, '<link "FL_FOOT"> <inertial>', "warning", "there is a moment of inertia without mass"),
        (384, '<link "FR_FOOT"> <inertial>', "warning", "there is a moment of inertia without mass"),
    ],
    "human_description/robots/human.urdf": [
        (32, '<link "left_upperleg_virtual">', "wrong", "moves by joint 'left_hip_Z' and has mass 0 kg"),
        (555, '<link "right_foot_virtual">', "wrong", "moves by joint 'right_ankle_Z' and has mass 0 kg"),
    ],
    "hyq_description/robots/hyq_no_sensors.urdf": [
        (82, '<link "base_link"> <inertial>', "warning", "triangle inequality"),
        (221, '<link "lf_foot"> <inertial>', "warning", "triangle inequality"),
    ],
    "icub_description/robots/icub.urdf": [
        (407, '<link "neck_1"> <inertial>', "wrong", "moment of inertia about its joint's axis of 0 kg m²"),
        (587, '<link "r_hip_1"> <inertial>', "wrong", "moves by joint 'r_hip_pitch'"),
    ],
    "pr2_description/urdf/pr2.urdf": [
        (782, '<link "sensor_mount_link"> <inertial>', "warning", "0.001, 0.001, 0.01: the largest exceeds the sum"),
        (873, '<link "double_stereo_link"> <inertial>', "warning", "triangle inequality"),
    ],
    "romeo_description/urdf/romeo.urdf": [
        (987, '<link "LFinger11Link">', "wrong", "moves by joint 'LHand' and has mass 0 kg"),
        (1424, '<link "RThumb3Link">', "wrong", "moves by joint 'RThumb3' and has mass 0 kg"),
    ],
    "romeo_description/urdf/romeo_laas_small.urdf": [
        (46, '<link "l_gripper">', "wrong", "has mass 0 kg"),
        (236, '<link "LShoulderYaw_link"> <inertial>', "wrong", "triangle inequality"),
        (328, '<link "body"> <inertial>', "warning", "-0.0213468, 0.0521041, 0.0989523: one is negative"),
        (172, '<link "torso"> <visual> <mesh>', "wrong", "leads outside the allowed folders"),
        (359, '<link "LHipPitch_link"> <inertial>', "wrong", "one is negative"),
    ],
    "romeo_description/urdf/romeo_small.urdf": [
        (548, '<link "RShoulderYawLink"> <inertial>', "wrong", "triangle inequality"),
        (586, '<link "RElbowYawLink"> <inertial>', "wrong", "triangle inequality"),
    ],
    "tiago_description/robots/tiago_dual.urdf": [
        (176, '<link "base_antenna_left_link"> <inertial>', "warning", "one is negative"),
        (205, '<link "base_antenna_right_link"> <inertial>', "warning", "one is negative"),
    ],
    "ur_description/urdf/ur3.urdf": [(6, "<robot>", "error", "there is no <link>")],
}
# How many errors, wrong and warning in each; in all others nothing.
COUNTS = {
    "alex_description/urdf/alex_psyonic_hands.urdf": (0, 8, 4),
    "allegro_hand_description/urdf/allegro_left_hand.urdf": (0, 0, 4),
    "allegro_hand_description/urdf/allegro_right_hand.urdf": (0, 0, 4),
    "anymal_b_simple_description/robots/anymal-kinova.urdf": (0, 0, 1),
    "anymal_b_simple_description/robots/anymal.urdf": (0, 0, 1),
    "anymal_c_simple_description/urdf/anymal.urdf": (0, 0, 5),
    "b1_description/urdf/b1-z1.urdf": (0, 0, 1),
    "b1_description/urdf/b1.urdf": (0, 0, 1),
    "bolt_description/robots/bolt.urdf": (0, 0, 2),
    "go1_description/urdf/go1.urdf": (0, 0, 1),
    "human_description/robots/human.urdf": (0, 19, 0),
    "hyq_description/robots/hyq_no_sensors.urdf": (0, 0, 5),
    "icub_description/robots/icub.urdf": (0, 5, 0),
    "icub_description/robots/icub_reduced.urdf": (0, 3, 0),
    "pr2_description/urdf/pr2.urdf": (0, 0, 2),
    "romeo_description/urdf/romeo.urdf": (0, 24, 0),
    "romeo_description/urdf/romeo_laas_small.urdf": (0, 26, 1),
    "romeo_description/urdf/romeo_small.urdf": (0, 2, 0),
    "tiago_description/robots/tiago.urdf": (0, 0, 2),
    "tiago_description/robots/tiago_dual.urdf": (0, 0, 2),
    "tiago_description/robots/tiago_no_hand.urdf": (0, 0, 2),
    "ur_description/urdf/ur3.urdf": (1, 0, 0),
}


@pytest.mark.parametrize("urdf", KNOWN)
def test_known_faults_are_found_at_their_lines(urdf):
    path = robots_folder() / urdf
    lines = path.read_text().splitlines()
    found = {(f.line, f.element): f for f in fw.lint(path)}
    for line, element, level, message in KNOWN[urdf]:
        finding = found[line, element]
        assert finding.level == level
        assert message in finding.message
        tag = re.findall(r"<(\w+)", element)[-1]
        assert f"<{tag}" in lines[line - 1] or tag == "mimic"  # whose joint is on that line


@pytest.mark.parametrize("urdf", all_urdfs())
def test_nothing_else_is_found(urdf):
    findings = fw.lint(robots_folder() / urdf)
    levels = [finding.level for finding in findings]
    assert tuple(levels.count(level) for level in ("error", "wrong", "warning")) == COUNTS.get(urdf, (0, 0, 0))
    assert set(levels) <= {"error", "wrong", "warning", "note"}
    order = [(("error", "wrong", "warning", "note").index(f.level), f.line) for f in findings]
    assert order == sorted(order)
    assert all(finding.kind in KINDS for finding in findings)


def test_strict_raises_the_first_of_what_lint_finds():
    path = robots_folder() / "romeo_description/urdf/romeo_small.urdf"
    first = next(finding for finding in fw.lint(path) if finding.level == "wrong")
    with pytest.raises(fw.ModelError) as caught:
        fw.load(path, policy="strict")
    assert (caught.value.line, caught.value.element) == (first.line, first.element) == (548, first.element)
    assert str(caught.value).endswith("(and 1 more: `featherweight lint` lists all)")


def test_warnings_are_no_reason_to_refuse():
    """A part of a body cannot exist, the whole can: PR2's sensor mount is welded to its torso."""
    model = fw.load(robots_folder() / "pr2_description/urdf/pr2.urdf")
    assert [note for note in model.notes if "sensor_mount_link" in note and "triangle inequality" in note]


def test_a_base_that_floats_is_a_body_that_moves(tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_text('<robot name="r">\n<link name="base"/>\n</robot>')
    assert fw.lint(path) == []
    assert [(f.level, f.line, f.element) for f in fw.lint(path, base="free")] == [("wrong", 2, '<link "base">')]


def test_a_finding_as_a_dictionary():
    finding = Finding("wrong", 3, "<link>", "is wrong", "make it right", "twice", "the first is used")
    assert finding.as_dict() == {
        "level": "wrong",
        "line": 3,
        "element": "<link>",
        "message": "is wrong",
        "fix": "make it right",
        "kind": "twice",
        "taken": "the first is used",
    }
    assert finding.note == "line 3: <link>: is wrong: the first is used"
    error = finding.error("robot.urdf")
    assert str(error) == "robot.urdf:3: <link>: is wrong; make it right"
    assert (error.file, error.line, error.element) == ("robot.urdf", 3, "<link>")
