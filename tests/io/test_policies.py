"""strict, repair, warn: what happens to bodies that cannot exist; and nothing in a file is dropped silently."""

from __future__ import annotations

import re
import warnings
from itertools import zip_longest
from xml.etree import ElementTree

import numpy as np
import pytest
from bad_models import BODIES, GOOD, INERTIAL, but, in_joint, inertia, joint, link, more

import featherweight as fw
from featherweight import ModelError
from peers.pinocchio_adapter import robots_folder

IMPOSSIBLE = {
    name: {bad.name: bad.text for bad in BODIES}[name]
    for name in (
        "mass of zero",
        "negative mass",
        "tiny mass",
        "no mass and no moment",
        "negative moment",
        "negative principal moment",
        "triangle inequality",
        "a point on its axis",
        "a needle on its axis",
        "a feather that carries a tower",
        "a feather that slides and carries a ship",
        "no inertial",
        "no inertial in what is welded",
    )
}
ROBOTS = [
    "allegro_hand_description/urdf/allegro_left_hand.urdf",
    "anymal_c_simple_description/urdf/anymal.urdf",
    "bolt_description/robots/bolt.urdf",
    "human_description/robots/human.urdf",
    "icub_description/robots/icub.urdf",
    "pr2_description/urdf/pr2.urdf",
    "romeo_description/urdf/romeo.urdf",
    "romeo_description/urdf/romeo_laas_small.urdf",
    "romeo_description/urdf/romeo_small.urdf",
    "tiago_description/robots/tiago_no_hand.urdf",
]


def quiet(path, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fw.load(path, policy="warn", **options)


# ---- strict


def test_strict_refuses_and_warn_is_the_default():
    for text in IMPOSSIBLE.values():
        with pytest.raises(ModelError):
            fw.loads(text, policy="strict")
        with pytest.warns(UserWarning, match="wrong; the robot is taken all the same"):
            fw.loads(text)


@pytest.mark.parametrize("policy", ["repair", "warn"])
def test_no_policy_reads_what_is_not_said(policy):
    """Places that are no numbers, two roots, joints without names or ends: nothing is guessed."""
    nowhere = in_joint('<origin xyz="far away"/>')
    for text in (nowhere, more('<link name="other"/>'), but("hinge", ""), but('<child link="arm"/>', "")):
        with pytest.raises(ModelError):
            fw.loads(text, policy=policy)


# ---- repair


def numbers(inertial):
    return () if inertial is None else (inertial.mass, *inertial.moments)


def changed(before, after):
    """Links whose mass or moments are others now."""
    pairs = zip(before.description.links, after.description.links, strict=True)
    return [(a, b) for a, b in pairs if numbers(a.inertial) != numbers(b.inertial)]


def check_repair(path, tmp_path, base="fixed"):
    before, after = quiet(path, base=base), fw.load(path, policy="repair", base=base)
    assert after.notes[: len(before.notes)] == before.notes
    notes = after.notes[len(before.notes) :]
    links = changed(before, after)
    for old, new in links:  # every changed number is told, with the line of the link
        told = [note for note in notes if f"link {new.name!r}" in note and "is left out" not in note]
        assert told, new.name
        line = int(told[0].split(":")[0].removeprefix("line "))
        assert line in (old.line, old.inertial.line if old.inertial else old.line)
        for x_old, x in zip_longest(numbers(old.inertial), numbers(new.inertial)):
            assert x in (x_old, 0.0) or any(repr(x) in note or f"{x:g}" in note for note in told), (x, told)
    for note in notes:  # and nothing else
        assert any(repr(new.name) in note for _, new in links) or "is left out" in note, note
    shapes = [len([s for link in model.description.links for s in link.shapes]) for model in (before, after)]
    assert shapes[0] - shapes[1] == len([note for note in notes if "is left out" in note])
    fw.save_urdf(after, tmp_path / "repaired.urdf")
    again = fw.load(tmp_path / "repaired.urdf", policy="strict", base=base)
    assert again.fingerprint == after.fingerprint
    assert again.contact_points == after.contact_points
    twice = fw.load(tmp_path / "repaired.urdf", policy="repair", base=base)
    assert twice.notes == again.notes  # nothing left to repair
    return links, after


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_what_is_repaired_passes_strict_when_it_is_saved(name, tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_text(IMPOSSIBLE[name])
    links, model = check_repair(path, tmp_path)
    assert len(links) == 1
    with fw.interpret():
        q, v = np.full(model.nq, 0.1), np.full(model.nv, 0.1)
        assert np.linalg.eigvalsh(fw.mass_matrix(model, q)).min() > 0
        assert np.isfinite(fw.forward_dynamics(model, q, v, v)).all()


@pytest.mark.parametrize("urdf", ROBOTS)
def test_published_robots_are_repaired(urdf, tmp_path):
    links, _ = check_repair(robots_folder() / urdf, tmp_path)
    wrong = [f for f in fw.lint(robots_folder() / urdf) if f.level in ("wrong", "warning")]
    bodies = [finding for finding in wrong if "<mesh>" not in finding.element]
    assert {old.name for old, _ in links} == {re.search('"(.*?)"', finding.element)[1] for finding in bodies}


def test_a_floating_base_without_mass_is_repaired(tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_text(GOOD)
    links, model = check_repair(path, tmp_path, base="free")
    assert [new.name for _, new in links] == ["base"]
    assert model.inertias[1].m == 1e-3


def test_repair_changes_as_little_as_it_can():
    model = fw.loads(inertia(ixx=1, iyy=2, izz=4), policy="repair")
    assert np.allclose(np.diag(model.parts[-1].inertia.moment_about_com), (2, 2, 4))
    assert model.inertias[1].m == 1.0
    model = fw.loads(inertia(ixx=-1, iyy=2, izz=2), policy="repair")
    assert np.allclose(np.diag(model.parts[-1].inertia.moment_about_com), (0.002, 2, 2))  # small: it must turn


@pytest.mark.parametrize("moments", ["0", "1"])
def test_a_body_far_from_its_axis_along_it_is_repaired_for_good(moments, tmp_path):
    """Its moments about the joint are 1e10 m, and what the ball has about the axis must not be lost among them."""
    path = tmp_path / "robot.urdf"
    text = but('mass value="1"', f'mass value="{moments}"', 'ixx="1" iyy="1" izz="1"', 'ixx="0" iyy="0" izz="0"')
    path.write_text(text.replace("<mass", '<origin xyz="1e5 0 0"/><mass'))
    links, model = check_repair(path, tmp_path)
    assert len(links) == 1
    with fw.interpret():
        assert np.isfinite(fw.forward_dynamics(model, [0.1], [0.1], [1.0])).all()


def test_repair_leaves_what_is_possible_alone():
    assert fw.loads(GOOD, policy="repair").fingerprint == fw.loads(GOOD).fingerprint
    assert fw.loads(GOOD, policy="repair").notes == ()


# ---- warn


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_warn_warns_once(name, tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_text(IMPOSSIBLE[name])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = fw.load(path)
    (wrong,) = [finding for finding in fw.lint(path) if finding.level == "wrong"]
    (warning,) = caught
    lines = str(warning.message).splitlines()
    assert lines[0] == f"{path}: 1 thing is wrong; the robot is taken all the same"
    assert lines[1].strip() == f"line {wrong.line}: {wrong.element}: {wrong.message}"
    assert lines[-1] == f'`featherweight lint {path}` lists all; policy="repair" changes it, policy="strict" refuses it'
    assert warning.filename == __file__
    assert len(model.notes) == 1


def test_many_things_are_told_in_few_lines():
    hinges = [joint(f"j{k}", "base" if k == 0 else f"l{k - 1}", f"l{k}") for k in range(30)]
    limits = [h.replace('lower="-1" upper="1"', 'lower="1" upper="-1"') for h in hinges[:10]]
    text = more(*(f'<link name="l{k}"/>' for k in range(30)), *limits, *hinges[10:])
    with pytest.warns(UserWarning, match="40 things are wrong") as caught:
        fw.loads(text)
    assert str(caught[0].message).splitlines()[1:3] == [
        "  30 × moving bodies without mass: l0, l1, l2 and 27 more",
        "  10 × limits whose lower is above the upper: j0, j1, j2 and 7 more; they are exchanged",
    ]


def test_warn_says_nothing_of_good_models():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fw.loads(GOOD, policy="warn").fingerprint == fw.loads(GOOD).fingerprint


@pytest.mark.parametrize("base", ["fixed", "free"])
def test_warn_takes_bodies_as_they_are(base):
    text = inertia(ixx=1, iyy=1, izz=5).replace('<link name="base"/>', link("base"))
    with pytest.warns(UserWarning, match="triangle inequality"):
        model = fw.loads(text, policy="warn", base=base)
    assert np.diag(model.parts[-1].inertia.moment_about_com).tolist() == [1, 1, 5]
    assert list(model.impossible) == ["arm"]
    assert "triangle inequality" in model.impossible["arm"]


# ---- nothing is dropped silently

ALL_ELEMENTS = f"""\
<robot name="r">
  <material name="red"><color rgba="1 0 0 1"/></material>
  <link name="base">
    <visual name="v"><origin xyz="0 0 1" rpy="0 0 0"/><geometry><box size="1 1 1"/></geometry>
      <material name="blue"><color rgba="0 0 1 1"/></material></visual>
    <visual><geometry><mesh filename="a.stl" scale="1 1 1"/></geometry></visual>
    <collision name="c"><origin xyz="0 0 1"/><geometry><sphere radius="1"/></geometry></collision>
    <collision><geometry><cylinder radius="1" length="1"/></geometry></collision>
    <collision><geometry><capsule radius="1" length="1"/></geometry></collision>
  </link>
  <link name="arm">{INERTIAL.replace("<mass", '<origin xyz="0 0 0"/><mass')}</link>
  <link name="hand">{INERTIAL}</link>
  <link name="tool"/>
  <joint name="hinge" type="revolute">
    <origin xyz="0 0 1"/><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/><dynamics damping="1" friction="1"/>
  </joint>
  <joint name="wrist" type="revolute">
    <parent link="arm"/><child link="hand"/><limit lower="-1" upper="1"/>
    <mimic joint="hinge" multiplier="1" offset="0"/>
  </joint>
  <joint name="weld" type="fixed"><parent link="hand"/><child link="tool"/></joint>
  <transmission name="t" type="simple">
    <type>transmission_interface/SimpleTransmission</type>
    <joint name="hinge"/>
    <actuator name="m"><mechanicalReduction>2</mechanicalReduction><rotorInertia>0.1</rotorInertia></actuator>
  </transmission>
</robot>
"""


def paths():
    """Every element by the tags that lead to it."""
    found = {}

    def visit(element, path):
        found.setdefault("/".join(path), element)
        for child in element:
            visit(child, [*path, child.tag])

    visit(ElementTree.fromstring(ALL_ELEMENTS), ["robot"])
    return list(found)


def with_surprise(path, what):
    """The document with an attribute or an element that nobody knows in the first element at a path."""
    root = ElementTree.fromstring(ALL_ELEMENTS)
    element = root.find("/".join(path.split("/")[1:])) if "/" in path else root
    if what == "attribute":
        element.set("surprise", "1")
    else:
        ElementTree.SubElement(element, "surprise")
    return ElementTree.tostring(root, encoding="unicode")


def surprises():
    for path in paths():
        for what in ("attribute", "element"):
            yield pytest.param(path, what, id=f"{path} {what}")


def test_a_model_with_all_elements_needs_no_notes():
    assert fw.loads(ALL_ELEMENTS).notes == ()
    assert len(paths()) > 30


@pytest.mark.parametrize(("path", "what"), list(surprises()))
def test_what_is_not_known_is_noted(path, what):
    text = with_surprise(path, what)
    try:
        notes = fw.loads(text).notes
    except ModelError as error:
        notes = (str(error),)
    assert [note for note in notes if "surprise" in note or "more than one shape" in note]


UNUSED = {
    "gazebo": (more('<gazebo reference="arm"/>'), 'line 11: <robot "r"> <gazebo>: is not used'),
    "safety controller": (
        in_joint('<safety_controller k_velocity="1"/>'),
        'line 10: <joint "hinge"> <safety_controller>: is not used',
    ),
    "mimic of a fixed joint": (
        more('<link name="x"/>', joint("weld", "arm", "x", "fixed", '<mimic joint="hinge"/>')),
        'line 12: <joint "weld"> <mimic>: is not used: a fixed joint does not move',
    ),
    "axis that is not a unit vector": (
        in_joint('<axis xyz="0 0 2"/>'),
        'line 10: <joint "hinge"> <axis>: has length 2, not 1; its direction is used',
    ),
    "no limit": (
        but('<limit lower="-1" upper="1" effort="2" velocity="3"/>', ""),
        'line 6: <joint "hinge">: a revolute joint without <limit>: it is not limited',
    ),
    "two motors on a joint": (
        more('<transmission name="t"><joint name="hinge"/><actuator/><actuator/></transmission>'),
        'line 11: <transmission "t">: is not used: only one joint with one actuator is understood',
    ),
}


@pytest.mark.parametrize("what", UNUSED)
def test_what_is_not_used_is_noted(what):
    text, note = UNUSED[what]
    assert fw.loads(text).notes == (note,)
