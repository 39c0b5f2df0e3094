"""Contact points of collision shapes, of links and of frames that are named, or none."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from bad_models import GOOD, INERTIAL, LIMIT, joint, link

import featherweight as fw
from featherweight import ModelError

WELD = joint("weld", "arm", "tool", "fixed", '<origin xyz="0 0 5"/>')


def robot(shapes, root="base", arm_shapes=""):
    """A root, an arm on a joint, a tool welded to the arm."""
    arm = f'<link name="arm">{INERTIAL}{arm_shapes}</link>'
    hinge = joint("hinge", root, "arm", inside=f'<origin xyz="1 2 3"/>{LIMIT}')
    root = f'<link name="{root}">{INERTIAL}{shapes}</link>'
    return f'<robot name="r">{root}{arm}{link("tool")}{hinge}{WELD}</robot>'


def collision(shape, origin=""):
    return f"<collision>{origin}<geometry>{shape}</geometry></collision>"


def points(model):
    return np.array([point.position for point in model.contact_points])


def sorted_rows(a):
    return np.array(sorted(np.round(a, 12).tolist()))


SPHERE = collision('<sphere radius="0.25"/>', '<origin xyz="0.1 0.2 0.3"/>')


def test_a_sphere_is_its_centre_with_its_radius():
    (point,) = fw.loads(robot("", arm_shapes=SPHERE)).contact_points
    assert (point.name, point.body, point.position, point.radius) == ("arm_contact0", 1, (0.1, 0.2, 0.3), 0.25)


def test_a_box_is_its_corners():
    model = fw.loads(robot("", arm_shapes=collision('<box size="0.2 0.4 0.6"/>', '<origin xyz="1 0 0"/>')))
    corners = [(1 + a * 0.1, b * 0.2, c * 0.3) for a, b, c in itertools.product((-1, 1), repeat=3)]
    assert np.allclose(sorted_rows(points(model)), sorted_rows(np.array(corners)))
    assert {point.radius for point in model.contact_points} == {0.0}
    assert [point.name for point in model.contact_points] == [f"arm_contact{k}" for k in range(8)]


def test_a_turned_box_has_turned_corners():
    turned = collision('<box size="0.2 0.4 0.6"/>', '<origin xyz="1 0 0" rpy="0.1 0.2 0.3"/>')
    R = np.array(fw.Placement(rpy=(0.1, 0.2, 0.3)).rotation)
    corners = [R @ (a * 0.1, b * 0.2, c * 0.3) + (1, 0, 0) for a, b, c in itertools.product((-1, 1), repeat=3)]
    model = fw.loads(robot("", arm_shapes=turned))
    assert np.allclose(sorted_rows(points(model)), sorted_rows(np.array(corners)))


def test_a_capsule_is_its_ends_with_its_radius():
    model = fw.loads(robot("", arm_shapes=collision('<capsule radius="0.1" length="0.6"/>')))
    assert sorted_rows(points(model)).tolist() == [[0, 0, -0.3], [0, 0, 0.3]]
    assert {point.radius for point in model.contact_points} == {0.1}


def test_a_cylinder_is_points_on_its_rims():
    model = fw.loads(robot("", arm_shapes=collision('<cylinder radius="0.1" length="0.6"/>')))
    p = points(model)
    assert len(p) == 8
    assert np.allclose(np.hypot(p[:, 0], p[:, 1]), 0.1)
    assert np.allclose(np.abs(p[:, 2]), 0.3)
    angles = np.arctan2(p[:4, 1], p[:4, 0]) % (2 * math.pi)
    assert np.allclose(np.diff(np.sort(angles)), math.pi / 2)
    assert {point.radius for point in model.contact_points} == {0.0}


def test_a_mesh_and_what_is_only_seen_have_none():
    seen = '<visual><geometry><sphere radius="1"/></geometry></visual>'
    model = fw.loads(robot("", arm_shapes=seen + collision('<mesh filename="arm.stl"/>')))
    assert model.contact_points == ()
    assert len(model.geometry) == 2


def test_several_shapes_are_counted_on():
    model = fw.loads(robot("", arm_shapes=SPHERE + collision('<capsule radius="0.1" length="0.6"/>') + SPHERE))
    assert [point.name for point in model.contact_points] == [f"arm_contact{k}" for k in range(4)]
    assert [point.radius for point in model.contact_points] == [0.25, 0.1, 0.1, 0.25]


def test_points_of_a_welded_link_are_in_its_body():
    text = robot("").replace(link("tool"), f'<link name="tool">{INERTIAL}{SPHERE}</link>')
    (point,) = fw.loads(text).contact_points
    assert point.name == "tool_contact0"
    assert point.body == 1
    assert np.allclose(point.position, (0.1, 0.2, 5.3))


@pytest.mark.parametrize(("root", "base", "body"), [("base", "fixed", 0), ("base", "free", 1), ("world", "free", 1)])
def test_points_of_the_root(root, base, body):
    (point,) = fw.loads(robot(SPHERE, root), base=base).contact_points
    assert (point.name, point.body, point.radius) == (f"{root}_contact0", body, 0.25)


def test_points_are_frames():
    model = fw.loads(robot("", arm_shapes=SPHERE))
    with fw.interpret():
        pose = fw.frame_pose(model, [0.0], "arm_contact0")
    assert np.allclose(pose.position, (1.1, 2.2, 3.3))


def test_none():
    model = fw.loads(robot(SPHERE, arm_shapes=SPHERE), contact=False)
    assert model.contact_points == ()
    assert len(model.geometry) == 2
    assert fw.loads(robot(SPHERE), contact=[]).contact_points == ()


def test_by_the_name_of_a_link():
    model = fw.loads(robot(SPHERE, arm_shapes=SPHERE), contact=["arm"])
    assert [point.name for point in model.contact_points] == ["arm_contact0"]


def test_a_link_without_shapes_is_a_point_at_its_origin():
    (point,) = fw.loads(robot(SPHERE), contact=["tool"]).contact_points
    assert (point.name, point.body, point.position, point.radius) == ("tool_contact0", 1, (0.0, 0.0, 5.0), 0.0)


def test_by_the_name_of_a_frame():
    """A joint is a frame too."""
    (point,) = fw.loads(robot(SPHERE), contact=["weld"]).contact_points
    assert (point.name, point.body, point.position, point.radius) == ("weld_contact", 1, (0.0, 0.0, 5.0), 0.0)


def test_links_and_frames_together():
    model = fw.loads(robot(SPHERE, arm_shapes=SPHERE), contact=("base", "weld", "hinge"))
    assert sorted(point.name for point in model.contact_points) == ["base_contact0", "hinge_contact", "weld_contact"]


def test_a_name_that_is_not_there_is_refused():
    with pytest.raises(ModelError, match="there is no body or frame 'arms'; did you mean 'arm'"):
        fw.loads(GOOD, contact=["arms"])


def test_one_name_must_be_in_a_list():
    with pytest.raises(ModelError, match="contact: expected True, False, \"all\" or a list of names, got the text 'arm'"):
        fw.loads(GOOD, contact="arm")
