"""What the reader and the writer once got wrong: each the smallest file that shows it, and what must hold."""

from __future__ import annotations

import contextlib
import math
import os
import time
import warnings

import numpy as np
import pinocchio as pin
import pytest
from bad_models import GOOD, INERTIAL, LIMIT, but, in_joint, inertia, joint, link, mass, more, motor, shape

import featherweight as fw
from featherweight import Builder, Inertia, Limits, ModelError, Placement
from featherweight.joints import Free, Prismatic, Revolute
from featherweight.model.inertia import impossible_moments
from peers.pinocchio_adapter import robots_folder

BALL = Inertia.sphere(1.0, 0.1)


def robot(*elements):
    return '<robot name="r">\n' + "\n".join(elements) + "\n</robot>"


def back(model, tmp_path, **options):
    fw.save_urdf(model, tmp_path / "robot.urdf")
    return fw.load(tmp_path / "robot.urdf", **options)


def message_of(text, **options):
    with pytest.raises(ModelError) as caught:
        fw.loads(text, **{"policy": "strict", **options})
    return caught.value


def seconds_of(text):
    start = time.process_time()
    with contextlib.suppress(ModelError):
        fw.loads(text)
    return time.process_time() - start


# ---- bounded time and memory


def test_many_loose_joints_take_no_time():
    links = [link(f"some_long_link_name_{k}") for k in range(200)]
    joints = [joint(f"j{k}", f"missing_parent_name_{k}", f"some_long_link_name_{k}") for k in range(200)]
    assert seconds_of(robot(*links, *joints)) < 1


def test_a_long_chain_of_mimic_joints_takes_no_time():
    n = 700
    links = [link(f"l{k}") for k in range(n)]
    joints = [joint(f"j{k}", "base", f"l{k}", inside=f'{LIMIT}<mimic joint="j{k + 1}"/>') for k in range(n - 1)]
    last = joint(f"j{n - 1}", "base", f"l{n - 1}")
    assert seconds_of(robot('<link name="base"/>', *links, *joints, last)) < 1.5


def test_messages_are_short_whatever_the_names():
    assert len(str(message_of(GOOD.replace("hinge", "x" * 100_000).replace("revolute", "y" * 100_000)))) < 1000


# ---- only ModelError, with a line


def test_an_inertia_that_overflows_is_refused():
    """1e100 kg at up to n 1e100 m, squared and summed."""
    n, heavy = 1500, INERTIAL.replace('mass value="1"', 'mass value="1e100"')
    links = [f'<link name="l{k}">{heavy}</link>' for k in range(n)]
    far = [joint(f"j{k}", f"l{k - 1}", f"l{k}", "fixed", '<origin xyz="1e100 0 0"/>') for k in range(1, n)]
    assert message_of(robot('<link name="base"/>', *links, joint("j0", "base", "l0"), *far)).line


def test_moments_that_grow_when_turned_have_a_line():
    numbers = '<origin rpy="1 1 1"/><mass value="1"/><inertia ixx="1e100" ixy="1e100" iyy="1e100" izz="1e100"/>'
    assert message_of(but('<mass value="1"/><inertia ixx="1" iyy="1" izz="1"/>', numbers)).line == 4


def test_an_oblique_normal_of_a_planar_joint_has_a_line():
    assert message_of(but('"revolute"', '"planar"', LIMIT, '<axis xyz="1 1 0"/>')).line


@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize(
    "text",
    [more(link("world"), joint("j", "arm", "world")), but('name="hinge"', 'name="world"')],
    ids=["a link called world", "a joint called world"],
)
def test_what_is_called_like_the_world_is_not_the_world(text, base):
    """It moves with its joints, whatever it is called in the model."""
    plain = text.replace("world", "hand")
    ours, other = (fw.loads(t.replace('<link name="base"/>', link("base")), base=base) for t in (text, plain))
    assert ours.nv == other.nv
    q = ours.random(0)
    with fw.interpret():
        np.testing.assert_array_equal(fw.mass_matrix(ours, q), fw.mass_matrix(other, q))


def test_mimic_chains_that_overflow_have_a_line():
    leaders = ["hinge", "j0", "j1", "j2"]
    joints = [
        joint(f"j{k}", "arm", f"l{k}", inside=f'{LIMIT}<mimic joint="{leader}" multiplier="50"/>')
        for k, leader in enumerate(leaders)
    ]
    error = message_of(more(*(link(f"l{k}") for k in range(4)), *joints))
    assert error.line == 16
    assert "follows 'hinge' 2500 times as fast" in str(error)


# ---- numbers that are finite


def test_a_tiny_ratio_leaves_finite_numbers():
    follow = '<mimic joint="hinge" multiplier="1e-310" offset="1"/>'
    model = fw.loads(more(link("x"), joint("j", "arm", "x", inside=LIMIT + follow)))
    assert np.isfinite(model.joint("j").rest).all()


def test_a_huge_ratio_leaves_finite_numbers():
    text = more(
        link("x"),
        joint("j", "arm", "x", inside=f'{LIMIT}<mimic joint="hinge" multiplier="1e100"/>'),
        '<transmission name="t"><joint name="j"/><actuator name="m"><mechanicalReduction>1e60</mechanicalReduction>'
        "<rotorInertia>1</rotorInertia></actuator></transmission>",
    )
    with pytest.warns(UserWarning, match="2 × numbers beyond any machine: j, t"):
        model = fw.loads(text)
    assert np.isfinite(model.joint("j").armature).all()


# ---- numbers and text


def test_only_the_spaces_of_xml_are_between_numbers():
    assert message_of(in_joint('<origin xyz="0\u00a01\u20032"/>'))


def test_lines_of_text_are_counted_from_its_beginning():
    assert message_of("\n\n\n" + but(' type="revolute"', "")).line == 9


def test_a_number_is_no_path(tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_text(GOOD)
    descriptor = os.open(path, os.O_RDONLY)
    try:
        with pytest.raises(TypeError, match="path: expected a path, got int"):
            fw.load(descriptor)
    finally:
        os.close(descriptor)


@pytest.mark.parametrize("encoding", ["unicode_escape", "charmap", "utf_8_sig"])
def test_only_encodings_are_taken(encoding):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert message_of(f'<?xml version="1.0" encoding="{encoding}"?>\n{GOOD}'.encode()).line == 1


def test_xacro_deep_inside_is_xacro():
    assert "xacro" in str(message_of(but('<link name="base"/>', '<link name="base"><xacro:inertia m="1"/></link>')))


@pytest.mark.parametrize("contact", [None, 5, [5], [["arm"]]])
def test_what_is_no_contact(contact):
    with pytest.raises((TypeError, ModelError), match="contact: expected"):
        fw.loads(GOOD, contact=contact)


# ---- names


def test_geometry_of_a_floating_link_called_world_floats():
    shape = '<visual><geometry><sphere radius="1"/></geometry></visual>'
    text = robot(f'<link name="world">{INERTIAL}{shape}</link>')
    assert [g.body for g in fw.loads(text, base="free").geometry] == [1]


def test_a_joint_called_like_a_link_beside_one_called_like_its_new_name():
    assert fw.loads(robot(link("a"), link("b"), link("c"), joint("b", "a", "b"), joint("b_joint", "b", "c"))).nv == 2


def test_a_joint_that_is_called_like_a_link_can_be_followed():
    follower = joint("j", "b", "c", inside=f'{LIMIT}<mimic joint="b"/>')
    assert fw.loads(robot(link("a"), link("b"), link("c"), joint("b", "a", "b"), follower)).nv == 1


def test_a_joint_that_gets_another_name_is_noted():
    model = fw.load(robots_folder() / "so_arm_description/urdf/so100.urdf")
    assert "gripper" in model.joint_names or any("gripper_joint" in note for note in model.notes)


def test_a_floating_root_called_world_beside_a_link_called_world_link():
    assert fw.loads(robot(link("world"), link("world_link"), joint("j", "world", "world_link")), base="free").nv == 7


# ---- repair and warn


@pytest.mark.parametrize("leader", ["nobody", "weld"])
def test_a_mimic_joint_without_a_leader_passes_strict_when_it_is_repaired(leader, tmp_path):
    text = more(link("x"), joint("weld", "arm", "x", "fixed", "")).replace(LIMIT, f'{LIMIT}<mimic joint="{leader}"/>')
    model = fw.loads(text, policy="repair")
    assert back(model, tmp_path, policy="strict").fingerprint == model.fingerprint


@pytest.mark.parametrize("kind", ["floating", "planar", "fixed"])
def test_a_joint_behind_one_that_cannot_follow_moves_by_itself(kind, tmp_path):
    """Found by 100 000 damaged files: refused by all policies, although lint found nothing to refuse."""
    first, second = f'{LIMIT}<mimic joint="hinge"/>', f'{LIMIT}<mimic joint="first"/>'
    text = more(link("x"), joint("first", "arm", "x", kind, first), link("y"), joint("second", "x", "y", inside=second))
    with pytest.warns(UserWarning, match="second"):
        model = fw.loads(text)
    assert model.joint("second").independent
    repaired = fw.loads(text, policy="repair")
    assert back(repaired, tmp_path, policy="strict").fingerprint == repaired.fingerprint


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("claim", ["", '<?xml version="1.0" encoding="utf-16"?>'])
def test_a_file_of_two_bytes_a_character_without_a_mark_is_repaired(encoding, claim, tmp_path):
    """Found by 100 000 damaged files: the repaired text had a zero behind each character."""
    path = tmp_path / "robot.urdf"
    path.write_bytes((claim + mass("-1").removeprefix('<?xml version="1.0"?>').lstrip()).encode(encoding))
    with pytest.warns(UserWarning, match="mass is negative"):
        fw.load(path)
    text, changes = fw.io.repaired_urdf(path)
    assert changes
    repaired = fw.load(path, policy="repair")
    assert fw.loads(text.encode(), policy="strict").fingerprint == repaired.fingerprint


def test_what_is_repaired_can_move():
    model = fw.loads(inertia(ixx=-1, iyy=1, izz=1), policy="repair")
    with fw.interpret():
        assert np.isfinite(fw.forward_dynamics(model, [0.1], [0.2], [0.3])).all()


def test_warn_says_what_becomes_of_a_negative_mass():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert fw.loads(mass("-1"), policy="warn").inertias[1].m == 0
    assert ["the mass is negative: -1 kg; it is taken as none" in str(w.message) for w in caught] == [True]


@pytest.mark.parametrize("moments", ["-1e-4 1e-4 1e-4", "1e-4 1e-4 9e-4"])
def test_impossible_moments_far_from_the_origin_are_found(moments):
    xx, yy, zz = moments.split()
    far = f'<origin xyz="1000 0 0"/><mass value="1"/><inertia ixx="{xx}" iyy="{yy}" izz="{zz}"/>'
    assert message_of(but('<mass value="1"/><inertia ixx="1" iyy="1" izz="1"/>', far)).line == 4


# ---- nothing dropped silently


@pytest.mark.parametrize(
    "text",
    [
        more('<link name="x"/>', joint("weld", "arm", "x", "fixed", '<dynamics damping="1"/>')),
        more('<link name="x"/>', joint("weld", "arm", "x", "fixed", LIMIT)),
        but('"revolute"', '"continuous"'),
        motor("<mechanicalReduction>2</mechanicalReduction><mechanicalReduction>3</mechanicalReduction>"),
        motor("").replace('<joint name="hinge"/>', '<joint name="nobody"/>'),
        motor("<rotorInertia>1</rotorInertia>").replace(
            "</robot>", '<transmission name="u"><joint name="hinge"/><actuator name="m"/></transmission></robot>'
        ),
        but("</robot>", "stray text</robot>"),
        but('lower="-1" upper="1" ', ""),
        shape('<geometry><sphere radius="1"/></geometry><material name="nobody"/>'),
    ],
    ids=[
        "damping of a fixed joint",
        "limits of a fixed joint",
        "bounds of a continuous joint",
        "a second reduction",
        "a transmission of no joint",
        "a second transmission of a joint",
        "text between elements",
        "a joint between 0 and 0",
        "a material that is not there",
    ],
)
def test_what_has_no_effect_is_noted(text):
    assert fw.loads(text).notes


def test_a_material_of_one_link_colors_others():
    ball = '<visual><geometry><sphere radius="1"/></geometry><material name="red">{}</material></visual>'
    red = '<color rgba="1 0 0 1"/>'
    text = robot(f'<link name="a">{ball.format(red)}{ball.format("")}</link>')
    assert [g.color for g in fw.loads(text).geometry] == [(1.0, 0.0, 0.0, 1.0)] * 2


def test_lint_knows_what_is_no_base(tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_text(GOOD)
    with pytest.raises(ModelError, match="base: expected one of fixed, free, got 'floating'"):
        fw.lint(path, base="floating")


# ---- what was built in Python, saved


@pytest.mark.parametrize("limits", [None, Limits(-1.0, 1.0)], ids=["no limits", "no effort"])
def test_what_is_saved_can_be_read_by_others(limits, tmp_path):
    model = Builder().add_body("b", joint=Prismatic("z"), inertia=BALL, limits=limits).build()
    fw.save_urdf(model, tmp_path / "robot.urdf")
    assert pin.buildModelFromUrdf(str(tmp_path / "robot.urdf")).nv == 1


@pytest.mark.parametrize("distance", [1e-7, 1e-9, 1e-11])
def test_frames_that_look_nearly_straight_up_come_back(distance, tmp_path):
    turn = np.array(Placement(rpy=(0.1, 0.2, 0.3)).rotation, dtype=float)
    target = np.array(Placement(rpy=(0.3, math.pi / 2 - distance, 0.4)).rotation, dtype=float)
    place = Placement(rotation=turn @ (turn.T @ target))  # right to 1e-16, as products are
    model = Builder().add_body("b", joint=Revolute("z"), placement=place, inertia=BALL, limits=Limits(-1, 1)).build()
    E, other = (np.array(m.X_tree[1].E, dtype=float) for m in (model, back(model, tmp_path)))
    assert np.abs(E - other).max() < 1e-14


def test_an_unbounded_prismatic_joint_with_limited_effort_comes_back(tmp_path):
    model = Builder().add_body("b", joint=Prismatic("z"), limits=Limits(effort=5.0), inertia=BALL).build()
    assert back(model, tmp_path).joints[0].limits == model.joints[0].limits


@pytest.mark.parametrize("kind", [Revolute, Prismatic])
def test_a_bound_on_one_side_comes_back_or_is_refused(kind, tmp_path):
    model = Builder().add_body("b", joint=kind("z"), limits=Limits(lower=1.0), inertia=BALL).build()
    try:
        fw.save_urdf(model, tmp_path / "robot.urdf")
    except ModelError:
        return
    assert fw.load(tmp_path / "robot.urdf").joints[0].limits == model.joints[0].limits


def test_damping_that_differs_between_directions_comes_back_or_is_refused(tmp_path):
    model = Builder().add_body("b", joint=Free(), damping=[1, 2, 3, 4, 5, 6.0], inertia=BALL).build()
    try:
        fw.save_urdf(model, tmp_path / "robot.urdf")
    except ModelError:
        return
    assert fw.load(tmp_path / "robot.urdf").joints[0].damping == model.joints[0].damping


def test_frames_come_back(tmp_path):
    model = Builder().add_body("b", joint=Revolute("z"), inertia=BALL).add_frame("tool", parent="b").build()
    assert "tool" in back(model, tmp_path).frames


def test_a_body_may_be_called_rotor(tmp_path):
    model = Builder().add_body("motor.rotor", joint=Revolute("z"), inertia=BALL).build()
    assert back(model, tmp_path).nv == 1


def test_colors_of_numpy_come_back(tmp_path):
    model = Builder().add_body("b", joint=Revolute("z"), inertia=BALL)
    model = model.add_geometry("b", "visual", "sphere", (1,), color=np.array([1.0, 0.0, 0.0, 1.0])).build()
    assert back(model, tmp_path).geometry[0].color == (1.0, 0.0, 0.0, 1.0)


@pytest.mark.parametrize("character", ["&#10;", "&#9;", "&#13;"])
def test_names_with_line_ends_and_tabs_come_back(character, tmp_path):
    model = fw.loads(but('"arm"/>', f'"a{character}m"/>', '<link name="arm">', f'<link name="a{character}m">'))
    assert back(model, tmp_path).names == model.names


@pytest.mark.parametrize("name", ["a\0b", "a\x01b", "a\ud800b"])
def test_names_that_xml_cannot_say_are_refused(name, tmp_path):
    model = Builder(name).add_body("b", joint=Revolute("z"), inertia=BALL).build()
    with pytest.raises(ModelError):
        fw.save_urdf(model, tmp_path / "robot.urdf")


@pytest.mark.parametrize("text", [motor("<rotorInertia>-0</rotorInertia>"), in_joint('<dynamics damping="-0"/>')])
def test_the_sign_of_zero_comes_back(text, tmp_path):
    model = fw.loads(text)
    assert back(model, tmp_path).fingerprint == model.fingerprint


def test_a_robot_that_cannot_move_has_a_configuration_of_pinocchio():
    model = fw.loads(robot(link("a")))
    assert fw.convert.to_pinocchio(model, np.zeros(0)).shape == (0,)


# ---- still wrong


@pytest.mark.parametrize("moments", [(-1, 0, 0), (-1, 1e-12, 1e-12), (-1e-3, 1e-10, 1e-10)])
def test_a_negative_moment_beside_small_ones_passes_strict_when_it_is_repaired(moments, tmp_path):
    model = fw.loads(inertia(**dict(zip(("ixx", "iyy", "izz"), moments, strict=True))), policy="repair")
    assert back(model, tmp_path, policy="strict").fingerprint == model.fingerprint


@pytest.mark.parametrize("turned", ["0 0 0", "0 0 1"])
@pytest.mark.parametrize("kind", ["fixed", "continuous"])
def test_a_mass_of_minus_zero_is_none(kind, turned):
    def read(zero):
        weight = f'<mass value="{zero}"/><inertia ixx="{zero}" iyy="{zero}" izz="{zero}"/></inertial>'
        light = f'<link name="b"><inertial><origin rpy="{turned}"/>{weight}</link>'
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return fw.loads(robot(link("a"), light, joint("ab", "a", "b", kind)), base="free")

    assert read("-0").fingerprint == read("0").fingerprint


@pytest.mark.parametrize("policy", ["repair", "strict"])
def test_origins_of_minus_zero_come_back_from_a_repair(policy, tmp_path):
    """Found by 100 000 damaged files: two bodies become the same ball, and shared the zeros of whichever came first."""
    path = tmp_path / "robot.urdf"
    path.write_text(but('<mass value="1"/>', '<origin xyz="0 -0 -0"/><mass value="0"/>'))
    repaired = fw.load(path, base="free", policy="repair")
    if policy == "strict":
        text, _ = fw.io.repaired_urdf(path, base="free")
        other = fw.loads(text, base="free", policy="strict")
    else:
        other = back(repaired, tmp_path, base="free", policy="strict")
    assert other.fingerprint == repaired.fingerprint


def test_moments_next_to_nothing_keep_the_triangle_inequality():
    assert "triangle" in str(impossible_moments(np.diag([0.0, 0.0, 1e-310])))
    assert impossible_moments(np.zeros((3, 3))) is None


def test_an_encoding_that_a_utf_16_file_claims_is_refused():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        error = message_of(f'<?xml version="1.0" encoding="unicode_escape"?>\n{GOOD}'.encode("utf-16"))
    assert "the encoding 'unicode_escape' cannot be read" in str(error)
