"""Bodies of a file: what fixed joints weld together weighs as much as in the model, and a motor helps a light link."""

from __future__ import annotations

import numpy as np
import pytest
from bad_models import GOOD, but

import featherweight as fw
from featherweight.io.bodies import SpanningTree, welded

WELDED = """
  <link name="{name}"><inertial><origin xyz="0.1 0.2 -0.3" rpy="0.3 0.2 0.1"/><mass value="2"/>
    <inertia ixx="0.3" iyy="0.4" izz="0.5" ixy="0.01"/></inertial></link>
  <joint name="to_{name}" type="fixed"><parent link="{parent}"/><child link="{name}"/>
    <origin xyz="{xyz}" rpy="0.7 -0.4 1.1"/></joint>"""


def test_what_is_welded_is_where_the_model_has_it() -> None:
    """A wrist on an arm, a hand on the wrist, each turned and moved."""
    wrist = WELDED.format(name="wrist", parent="arm", xyz="0.5 -0.4 0.3")
    hand = WELDED.format(name="hand", parent="wrist", xyz="0.1 0.2 0.6")
    text = GOOD.replace("</robot>", f"{wrist}{hand}\n</robot>")
    description, _ = fw.io.read_urdf(text)
    root, *_ = description.links
    tree = SpanningTree(root, tuple(description.joints), {link.name: link for link in description.links})
    _, arm = welded(tree, "fixed")
    assert [link.name for link, _ in arm.links] == ["arm", "wrist", "hand"]
    expected = fw.loads(text).inertias[1]
    assert arm.inertia.m == pytest.approx(expected.m)
    np.testing.assert_allclose(arm.inertia.h, expected.h, rtol=1e-12)
    np.testing.assert_allclose(arm.inertia.I.matrix, expected.I.matrix, rtol=1e-12)


def test_a_motor_makes_up_for_a_link_without_moments() -> None:
    needle = but('ixx="1" iyy="1" izz="1"', 'ixx="0" iyy="0" izz="0"')
    motor = """<transmission name="t"><joint name="hinge"/><actuator name="m">
      <mechanicalReduction>10</mechanicalReduction><rotorInertia>1e-4</rotorInertia></actuator></transmission>"""
    with pytest.raises(fw.ModelError, match="a moment of inertia about its joint's axis of 0 kg m²"):
        fw.loads(needle, policy="strict")
    model = fw.loads(needle.replace("</robot>", f"{motor}</robot>"), policy="strict")
    assert fw.mass_matrix(model, [0.3]) == pytest.approx(1e-2)


def test_a_needle_that_floats_is_one_wherever_its_frame_is() -> None:
    """Beside its axis it has a moment about that of its frame, and none about its own, which it turns about."""
    text = """<robot name="r"><link name="needle"><inertial><origin xyz="1 0 0"/><mass value="1"/>
      <inertia ixx="1" iyy="1" izz="{izz}"/></inertial></link></robot>"""
    with pytest.raises(fw.ModelError, match=r"needle.*moment of inertia"):
        fw.loads(text.format(izz=0), base="free", policy="strict")
    fw.loads(text.format(izz=1), base="free", policy="strict")
