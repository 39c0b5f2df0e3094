"""Contact points of collision shapes, of links and of frames that are named, or none."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from bad_models import GOOD, INERTIAL, LIMIT, joint, link

import featherweight as fw
from featherweight import ModelError
from featherweight.visuals import Mesh, ball
from featherweight.visuals.solids import box
from peers.pinocchio_adapter import robots_folder

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


CYLINDER = '<cylinder radius="0.1" length="0.6"/>'


def grounded(model):
    return [shape.name for shape in model.ground_shapes]


@pytest.mark.parametrize("contact", [True, "all", ["arm"]])
def test_a_cylinder_touches_as_it_is(contact):
    model = fw.loads(robot("", arm_shapes=SPHERE + collision(CYLINDER, '<origin xyz="1 2 3"/>')), contact=contact)
    (shape,) = model.ground_shapes
    assert (shape.name, shape.link, shape.body) == ("arm_2", "arm", 1)
    assert shape.shape == fw.shapes.Cylinder(0.1, 0.6)
    assert tuple(shape.X.r) == (1, 2, 3)
    assert [point.name for point in model.contact_points] == ["arm_contact0"]
    assert [own.ground for own in model.shapes] == [False, True]


@pytest.mark.parametrize("contact", [False, [], ["base"]])
def test_a_cylinder_that_is_not_named_does_not_touch(contact):
    model = fw.loads(robot(SPHERE, arm_shapes=collision(CYLINDER)), contact=contact)
    assert grounded(model) == []
    assert "arm" in [shape.name for shape in model.shapes]


def test_other_shapes_do_not_touch_the_ground_twice():
    shapes = SPHERE + collision('<box size="1 1 1"/>') + collision('<capsule radius="0.1" length="0.6"/>')
    model = fw.loads(robot(SPHERE, arm_shapes=shapes))
    assert len(model.shapes) == 4
    assert not model.ground_shapes
    assert len(model.contact_points) == 1 + 1 + 8 + 2


def test_points_are_counted_as_if_cylinders_had_some():
    """Names of points do not change with what else touches."""
    model = fw.loads(robot("", arm_shapes=collision(CYLINDER) + SPHERE))
    assert [point.name for point in model.contact_points] == ["arm_contact8"]


def rover(wheels, others=""):
    """A box on so many wheels."""
    text = f'<robot name="rover"><link name="base">{INERTIAL}{others}</link>'
    for k in range(wheels):
        text += f'<link name="wheel{k}">{INERTIAL}{collision(CYLINDER)}</link>'
        text += f'<joint name="axle{k}" type="continuous"><parent link="base"/><child link="wheel{k}"/>'
        text += f'<origin xyz="{k // 2} {k % 2} 0" rpy="1.5707963267948966 0 0"/></joint>'
    return text + "</robot>"


@pytest.mark.parametrize("wheels", [1, 4, 6, 12])
def test_all_wheels_roll_however_many(wheels):
    box = collision('<box size="3 1 0.1"/>')
    model = fw.loads(rover(wheels, box), base="free")
    assert grounded(model) == [f"wheel{k}" for k in range(wheels)]
    assert not [point for point in model.contact_points if "wheel" in point.name]


def test_a_wheel_is_four_contacts():
    """A box on two wheels and a ball that is fixed to it: 8 + 2 · 4 + 1 contacts, which is not too many."""
    model = fw.loads(rover(2, collision('<box size="3 1 0.1"/>') + SPHERE), base="free")
    assert model.notes == ()
    assert [point.radius for point in model.contact_points] == [0.0] * 8 + [0.25]


def test_what_a_base_stands_on_is_among_the_few():
    caster = collision('<sphere radius="0.1"/>', '<origin xyz="-0.5 0 -0.2"/>')
    model = fw.loads(rover(4, TRUNK + caster + TRUNK), base="free")
    assert "touch as they are" in model.notes[0]
    assert [point.name for point in model.contact_points if point.radius] == ["base_contact16"]


def test_of_many_cylinders_a_few_touch_as_they_are():
    """Those at the end of the limb, and no more than make 24 contacts; points stand for some others."""
    many = "".join(collision(CYLINDER, f'<origin xyz="{k} 0 0"/>') for k in range(10))
    model = fw.loads(rover(2, many), base="free")
    assert {"wheel0", "wheel1"} <= {*grounded(model)}
    assert 4 * len(model.ground_shapes) + len(model.contact_points) <= 24 + 4
    assert len(model.ground_shapes) > 3
    touching = {*grounded(model)}
    assert len(touching) < 12
    everything = fw.loads(rover(2, many), base="free", contact="all")
    assert len(everything.ground_shapes) == 12


def test_a_cylinder_that_is_only_seen_is_points_on_its_rims():
    seen = f"<visual><geometry>{CYLINDER}</geometry></visual>"
    model = fw.loads(robot("", arm_shapes=seen), contact=["arm"])
    assert not model.shapes
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
    with pytest.raises(ModelError, match="contact: there is no body or frame 'foot'; there are base, "):
        fw.loads(GOOD, contact=["foot"])


def test_one_name_must_be_in_a_list():
    with pytest.raises(
        ModelError, match="contact: expected True, False, \"all\" or a list of names, got the text 'arm'"
    ):
        fw.loads(GOOD, contact="arm")


# ---- a few of many


def dog(shank="", trunk="", thigh=""):
    """A trunk with four legs of two links; shanks and thighs point down."""
    text = f'<link name="trunk">{INERTIAL}{trunk}</link>'
    for leg, x, y in (("FL", 1, 0.5), ("FR", 1, -0.5), ("RL", -1, 0.5), ("RR", -1, -0.5)):
        text += f'<link name="{leg}_thigh">{INERTIAL}{thigh}</link><link name="{leg}_shank">{INERTIAL}{shank}</link>'
        text += joint(f"{leg}_hip", "trunk", f"{leg}_thigh", inside=f'<origin xyz="{x} {y} 0"/>{LIMIT}')
        text += joint(f"{leg}_knee", f"{leg}_thigh", f"{leg}_shank", inside=f'<origin xyz="0 0 -0.5"/>{LIMIT}')
    return f'<robot name="dog">{text}</robot>'


FOOT = collision('<sphere radius="0.05"/>', '<origin xyz="0 0 -0.5"/>')
BONE = collision('<box size="0.1 0.1 0.4"/>', '<origin xyz="0 0 -0.25"/>')
TRUNK = collision('<box size="2 1 0.4"/>') + collision('<box size="0.2 0.2 0.1"/>', '<origin xyz="0 0 0.2"/>')


def test_a_robot_with_many_points_gets_few_and_a_note():
    text = dog(shank=BONE + FOOT, trunk=TRUNK, thigh=BONE)
    model, whole = fw.loads(text, base="free"), fw.loads(text, base="free", contact="all")
    assert (len(whole.contact_points), len(model.contact_points)) == (16 + 4 * 17, 24)
    names = {point.name: point for point in model.contact_points}
    assert {f"{leg}_shank_contact8" for leg in ("FL", "FR", "RL", "RR")} <= set(names)  # feet, by the names they have
    assert {f"trunk_contact{k}" for k in range(8)} <= set(names)  # corners of the trunk, not of what is on it
    assert all(point in whole.contact_points for point in model.contact_points)
    assert sum("_thigh" in name for name in names) >= 4  # knees
    (note,) = model.notes
    assert note.startswith("24 of 84 contact points of collision shapes are used")
    assert 'contact="all" takes all' in note
    assert whole.notes == ()
    assert fw.loads(text, base="free").contact_points == model.contact_points


def test_ends_of_limbs_are_used_even_if_they_are_close_to_each_other():
    boxes = "".join(collision(f'<box size="{x} 1 1"/>') for x in (1, 2, 3, 4, 5))
    text = f'<link name="trunk">{INERTIAL}{boxes}</link>'
    for k in range(6):
        text += f'<link name="leg{k}">{INERTIAL}{FOOT}</link>'
        text += joint(f"hip{k}", "trunk", f"leg{k}", inside=f'<origin xyz="0 {k / 100} 0"/>{LIMIT}')
    model = fw.loads(f'<robot name="r">{text}</robot>', base="free")
    assert {f"leg{k}_contact0" for k in range(6)} <= {point.name for point in model.contact_points}


def test_few_points_are_all_used():
    model = fw.loads(dog(shank=FOOT, trunk=TRUNK), base="free")
    assert len(model.contact_points) == 20
    assert model.notes == ()


def test_a_base_that_does_not_move_needs_no_points():
    model = fw.loads(dog(shank=BONE + FOOT, trunk=TRUNK, thigh=BONE))
    assert len(model.contact_points) == 24
    assert all(point.body > 0 for point in model.contact_points)
    text = dog(trunk=TRUNK + TRUNK)  # unless nothing else has any
    assert len(fw.loads(text).contact_points) == 24


def test_a_hundred_ends_are_as_many_as_there_may_be():
    text = f'<link name="hub">{INERTIAL}</link>'
    for k in range(100):
        turn = f"{math.cos(k / 16):.6f} {math.sin(k / 16):.6f} 0"
        text += f'<link name="leg{k}">{INERTIAL}{FOOT}</link>'
        text += joint(f"hip{k}", "hub", f"leg{k}", inside=f'<origin xyz="{turn}"/>{LIMIT}')
    model = fw.loads(f'<robot name="r">{text}</robot>', base="free")
    places = np.array([[math.cos(p.body / 16), math.sin(p.body / 16)] for p in model.contact_points])
    assert len(places) == 24
    gaps = np.linalg.norm(places[:, None] - places, axis=2) + 9 * np.eye(24)
    assert gaps.min() > 0.1  # spread: neighbours are 0.06 apart


# ---- meshes by name


MESH = '<collision><geometry><mesh filename="foot.stl" scale="{0}"/></geometry></collision>'


def mesh_robot(folder, write, shape=MESH, origin="0 0 -5", scale="1 1 1"):
    """An arm, and a foot on it whose shape is a mesh."""
    write(folder / "foot.stl")
    foot = f'<link name="foot">{shape.format(scale)}</link>'
    weld = joint("ankle", "arm", "foot", "fixed", f'<origin xyz="{origin}"/>')
    path = folder / "robot.urdf"
    path.write_text(robot("").replace("</robot>", f"{foot}{weld}</robot>"))
    return path


def stl(mesh):
    """A function that writes a mesh."""

    def write(path):
        facets = np.zeros(len(mesh.faces), [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
        facets["corners"] = mesh.vertices[mesh.faces]
        path.write_bytes(bytes(80) + len(facets).to_bytes(4, "little") + facets.tobytes())

    return write


def test_a_round_foot_is_a_ball(tmp_path):
    path = mesh_robot(tmp_path, stl(ball(0.02, 40).moved(np.eye(3), np.array([0.01, 0.0, -0.03]))))
    (point,) = fw.load(path, contact=["foot"]).contact_points
    assert (point.name, point.body) == ("foot_contact0", 1)
    np.testing.assert_allclose(point.position, (0.01, 0.0, -5.03), atol=1e-4)
    assert point.radius == pytest.approx(0.02, rel=0.01)
    assert fw.load(path).contact_points == ()  # not by itself: meshes are not opened


def test_a_foot_is_round_where_it_looks_outward(tmp_path):
    """A ball under a block that is narrower: away from the leg it is a ball; towards it, it is not."""
    foot = Mesh.joined([ball(0.02, 40), box((0.01, 0.03, 0.1)).moved(np.eye(3), np.array([0.0, 0.0, 0.05]))])
    (point,) = fw.load(mesh_robot(tmp_path, stl(foot)), contact=["foot"]).contact_points
    assert point.radius == pytest.approx(0.02, rel=0.02)
    assert len(fw.load(mesh_robot(tmp_path, stl(foot), origin="0 0 5"), contact=["foot"]).contact_points) == 8


@pytest.mark.parametrize(("scale", "size"), [("1 1 1", (0.2, 0.1, 0.03)), ("2 -1 0.5", (0.4, 0.1, 0.015))])
def test_a_foot_that_is_not_round_has_its_corners(tmp_path, scale, size):
    path = mesh_robot(tmp_path, stl(box((0.2, 0.1, 0.03))), scale=scale)
    p = points(fw.load(path, contact=["foot"]))
    corners = [
        (a * size[0] / 2, b * size[1] / 2, c * size[2] / 2 - 5) for a, b, c in itertools.product((-1, 1), repeat=3)
    ]
    np.testing.assert_allclose(sorted_rows(np.round(p, 6)), sorted_rows(np.round(corners, 6)), atol=1e-6)


def test_a_link_with_nothing_but_looks_is_touched_where_it_is_seen(tmp_path):
    visual = '<visual><origin xyz="0 0 1"/><geometry><mesh filename="foot.stl"/></geometry></visual>'
    (point,) = fw.load(mesh_robot(tmp_path, stl(ball(0.02, 40)), shape=visual), contact=["foot"]).contact_points
    np.testing.assert_allclose(point.position, (0.0, 0.0, -4.0), atol=1e-4)
    box_shape = '<visual><geometry><box size="1 1 1"/></geometry></visual>'
    assert len(fw.load(mesh_robot(tmp_path, stl(ball(1.0)), shape=box_shape), contact=["foot"]).contact_points) == 8


def test_a_mesh_that_is_not_there_leaves_the_origin_and_a_note(tmp_path):
    model = fw.load(mesh_robot(tmp_path, lambda path: None), contact=["foot"])
    (point,) = model.contact_points
    assert (point.position, point.radius) == ((0.0, 0.0, -5.0), 0.0)
    assert "contact: the mesh 'foot.stl' of link 'foot' cannot be read: no points of it" in model.notes


def test_published_feet():
    go2 = fw.load(robots_folder() / "go2_description/urdf/go2.urdf", contact=("FL_foot", "RR_foot"), policy="warn")
    for point in go2.contact_points:  # the manufacturer has 22 mm at the foot's origin
        np.testing.assert_allclose(point.position, (0.0, 0.0, -0.213), atol=0.003)
        assert point.radius == pytest.approx(0.022, abs=0.001)
    talos = robots_folder() / "talos_data/robots/talos_reduced.urdf"
    feet = fw.load(talos, contact=("leg_left_6_link",), policy="warn").contact_points
    assert len([point for point in feet if point.position[2] == pytest.approx(-0.1, abs=1e-4)]) == 4  # of the sole
