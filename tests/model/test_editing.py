"""Locked, renamed and merged models, payloads: names, files, refusals. Laws of dynamics: test_edited_models.py."""

from __future__ import annotations

import functools
import warnings

import numpy as np
import pytest

import featherweight as fw
from alike import moves_alike
from featherweight import Builder, Inertia, Limits, ModelError, Placement, Rotor
from featherweight.joints import Fixed, Free, Mimic, Prismatic, Revolute, Spherical
from featherweight.model.assembly import assemble

BALL = Inertia.sphere(1.0, 0.1)
HAND = """<robot name="hand">
  <link name="palm"><inertial><mass value="0.7"/><inertia ixx="0.002" iyy="0.003" izz="0.004"/></inertial>
    <collision name="pad"><origin xyz="0 0 0.02"/><geometry><box size="0.08 0.1 0.04"/></geometry></collision>
    <visual><geometry><mesh filename="package://hand/palm.stl"/></geometry><material name="grey"/></visual></link>
  <link name="camera"/>
  <link name="left"><inertial><origin xyz="0 0.01 0.03"/><mass value="0.1"/><inertia ixx="1e-4" iyy="1e-4" izz="2e-5"/>
    </inertial><collision><origin xyz="0 0 0.05"/><geometry><sphere radius="0.01"/></geometry></collision></link>
  <link name="right"><inertial><origin xyz="0 -0.01 0.03"/><mass value="0.1"/>
    <inertia ixx="1e-4" iyy="1e-4" izz="2e-5"/></inertial></link>
  <joint name="camera" type="fixed"><origin xyz="0.04 0 0" rpy="0 0.3 0"/><parent link="palm"/>
    <child link="camera"/></joint>
  <joint name="left" type="prismatic"><origin xyz="0 0.04 0.06"/><parent link="palm"/><child link="left"/>
    <axis xyz="0 1 0"/><limit lower="0" upper="0.04" effort="10" velocity="0.1"/>
    <dynamics damping="2" friction="0"/></joint>
  <joint name="right" type="prismatic"><origin xyz="0 -0.04 0.06"/><parent link="palm"/><child link="right"/>
    <axis xyz="0 -1 0"/><limit lower="0" upper="0.03" effort="5" velocity="0.2"/>
    <mimic joint="left" multiplier="1.5"/></joint>
</robot>"""


def hand(**options) -> fw.Model:
    return fw.loads(HAND, **options)


def arm() -> Builder:
    return (
        Builder("arm")
        .add_body("upper", joint=Revolute("y"), inertia=BALL, joint_name="shoulder", limits=Limits(-1, 1))
        .add_body("lower", parent="upper", joint=Revolute("y"), placement=Placement((0, 0, 0.4)), inertia=BALL,
                  joint_name="elbow", limits=Limits(-2, 2))
        .add_frame("flange", parent="lower", placement=Placement((0, 0, 0.3), rpy=(0.2, 0, 0.4)))
    )  # fmt: skip


def through_a_file(model: fw.Model, folder, **options) -> fw.Model:
    fw.save_urdf(model, folder / "robot.urdf")
    return fw.load(folder / "robot.urdf", gravity=model.gravity, **options)


# ---- locked


def test_what_a_locked_joint_carried_keeps_its_names() -> None:
    model = hand(base="free")
    locked = model.locked({"left": 0.02})
    assert locked.joint_names == ("root_joint",)
    assert locked.names == ("world", "palm")
    assert [part.link for part in locked.parts] == [part.link for part in model.parts]
    assert set(locked.frame_names) == set(model.frame_names)
    assert [p.name for p in locked.contact_points] == [p.name for p in model.contact_points]
    assert sorted((g.link, g.role, g.kind) for g in locked.geometry) == sorted(
        (g.link, g.role, g.kind) for g in model.geometry
    )
    np.testing.assert_allclose(locked.frame("left").X.r, (0, 0.06, 0.06), rtol=1e-15)
    np.testing.assert_allclose(locked.frame("right").X.r, (0, -0.07, 0.06), rtol=1e-15)  # follows: 1.5 times as far
    tip = next(p for p in locked.contact_points if p.radius)
    np.testing.assert_allclose(tip.position, (0, 0.06, 0.11), rtol=1e-15)
    assert locked.mass == pytest.approx(model.mass, rel=1e-15)
    assert locked.notes == model.notes
    assert model.joint_names == ("root_joint", "left", "right")  # nothing has changed


def test_any_kind_of_joint_can_be_locked_and_all_of_them() -> None:
    turn = np.array([0.0, 0.0, np.sin(0.3), np.cos(0.3)])
    model = (
        Builder()
        .add_body("base", joint=Free(), inertia=BALL)
        .add_body("ball", parent="base", joint=Spherical(), placement=Placement((1, 0, 0)), inertia=BALL)
        .build()
    )
    locked = model.locked({"ball_joint": turn, "base_joint": [0.0, 0.0, 2.0, *turn]})
    assert (locked.nq, locked.nv, locked.nb) == (0, 0, 0)
    pose = fw.frame_pose(locked, np.zeros(0), "ball")
    np.testing.assert_allclose(pose.position, (np.cos(0.6), np.sin(0.6), 2.0), rtol=1e-15)
    np.testing.assert_allclose(pose.rotation[:2, 0], (np.cos(1.2), np.sin(1.2)), rtol=1e-15)


def test_a_locked_rotor_is_a_link_of_its_own() -> None:
    rotor = Rotor(6.0, Inertia(0.5, (0, 0, 0), (3e-3, 3e-3, 6e-3)), Placement((0, 0.1, 0)), "z")
    model = arm().add_body("drum", parent="lower", joint=Revolute("z"), inertia=BALL, rotor=rotor).build()
    locked = model.locked({"drum_joint": 0.3})
    assert locked.mass == model.mass == 3.5
    assert locked.frame("drum_joint.rotor").X.r == (0, 0.1, 0)


@functools.cache
def reduced(urdf: str) -> tuple[fw.Model, fw.Model, object, np.ndarray]:
    """A robot, the same with a third of its joints locked, and what Pinocchio makes of that."""
    import pinocchio as pin

    from peers.pinocchio_adapter import robots_folder

    path = robots_folder() / urdf
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # published robots have bodies that cannot exist
        model = fw.load(path, base="free", policy="warn")
    theirs = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    q, names = model.random(1), model.joint_names[1::3]
    there = fw.convert.to_pinocchio(model, q, theirs.names)
    less = pin.buildReducedModel(theirs, [theirs.getJointId(name) for name in names], there)
    return model, model.locked({name: q[model.joint(name).q] for name in names}), less, q


ROBOTS = ["talos_data/robots/talos_reduced.urdf", "anymal_b_simple_description/robots/anymal.urdf"]


@pytest.mark.parametrize("urdf", ROBOTS)
def test_locked_robots_are_the_reduced_models_of_pinocchio(urdf: str) -> None:
    pin = pytest.importorskip("pinocchio")
    _, ours, theirs, _ = reduced(urdf)
    maps, data = ours.pinocchio_maps(theirs.names), theirs.createData()
    rng = np.random.default_rng(2)
    for _ in range(3):
        q, (v, a) = ours.random(rng), rng.normal(size=(2, ours.nv))
        there = fw.convert.to_pinocchio(ours, q, theirs.names), v[maps.v], a[maps.v]
        with fw.interpret():
            tau, M = fw.inverse_dynamics(ours, q, v, a), fw.mass_matrix(ours, q)
        right = pin.rnea(theirs, data, *there)
        assert np.abs(tau[maps.v] - right).max() <= 1e-12 * np.abs(right).max()
        M_right = pin.crba(theirs, data, there[0])
        M_right = np.triu(M_right) + np.triu(M_right, 1).T
        assert np.abs(M[np.ix_(maps.v, maps.v)] - M_right).max() <= 1e-12 * np.abs(M_right).max()
        for name in ("LF_FOOT", "gripper_left_base_link"):  # on locked legs and arms too
            if name in ours.frame_names:
                pin.framesForwardKinematics(theirs, data, there[0])
                place = data.oMf[theirs.getFrameId(name)]
                np.testing.assert_allclose(fw.frame_pose(ours, q, name).position, place.translation, atol=1e-13)


@pytest.mark.parametrize("urdf", ROBOTS)
def test_a_locked_robot_is_saved_as_its_file_with_fixed_joints(urdf: str, tmp_path) -> None:
    pytest.importorskip("pinocchio")
    model, locked, _, q = reduced(urdf)
    assert len(locked.description.links) == len(model.description.links)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = through_a_file(locked, tmp_path, base="free", policy="warn")
        stand = through_a_file(model.locked({"root_joint": q[:7]}), tmp_path, policy="warn")
    moves_alike(locked, again)
    moves_alike(model.locked({"root_joint": q[:7]}), stand)
    for other in (again, stand):
        assert [(g.link, g.mesh, g.color) for g in other.geometry] == [
            (g.link, g.mesh, g.color) for g in model.geometry
        ]


def test_a_saved_file_has_the_shapes_and_no_points_of_its_own(tmp_path) -> None:
    """Contact points are made of them again when the file is loaded."""
    model = hand(base="free")
    again = through_a_file(model.locked({"left": 0.02}), tmp_path, base="free")
    assert [(p.name, p.radius) for p in again.contact_points] == [(p.name, p.radius) for p in model.contact_points]
    assert [link.name for link in again.description.links] == [link.name for link in model.description.links]
    assert again.description.links[0].shapes[1].material == "grey"


def test_parameters_of_links_stay_and_those_of_locked_joints_go() -> None:
    names = ("gravity", "left.mass", "left.damping", "ground.friction")
    locked = hand(parameters=names).locked({"left": 0.0})
    assert tuple(locked.parameters) == ("gravity", "left.mass", "ground.friction")


@pytest.mark.parametrize(
    ("joints", "error", "message"),
    [
        ({"lefd": 0.0}, KeyError, "no joint named 'lefd'; did you mean 'left'"),
        ({"palm": 0.0}, KeyError, "no joint named 'palm'"),
        ({"right": 0.0}, ValueError, "joint 'right' follows 'left', and is locked with it"),
        ({"left": [0.0, 1.0]}, ModelError, r"joints\['left'\]: expected shape \(1,\), got \(2,\)"),
        ({"left": np.nan}, ModelError, r"joints\['left'\]: expected finite numbers"),
        ({"root_joint": [0, 0, 0, 0, 0, 0, 2.0]}, ModelError, r"joints\['root_joint'\]: .*quaternion"),
        (["left"], TypeError, "joints: expected a dictionary of configurations by name, got list"),
    ],
)
def test_what_cannot_be_locked_is_refused(joints, error, message) -> None:
    with pytest.raises(error, match=message):
        hand(base="free").locked(joints)


# ---- renamed


def test_names_change_everywhere(tmp_path) -> None:
    model = hand(parameters=("left.mass", "left.damping"))
    other = model.renamed({"left": "thumb", "joint:right": "slide"}, prefix="r_")
    assert other.joint_names == ("r_thumb", "r_slide")
    assert other.names == ("world", "r_thumb", "r_right")
    assert other.joint("r_slide").kind.leader == "r_thumb"
    assert tuple(other.parameters) == ("r_thumb.mass", "r_thumb.damping")
    assert {g.link for g in other.geometry} == {"r_palm", "r_thumb"}
    assert [p.name for p in other.contact_points] == [f"r_{p.name}" for p in model.contact_points]
    assert set(other.frame_names) >= {"world", "r_palm", "r_camera", "joint:r_camera", "r_root_joint"}
    q = np.array([0.01])
    np.testing.assert_array_equal(fw.mass_matrix(other, q), fw.mass_matrix(model, q))
    again = through_a_file(other, tmp_path)
    assert again.joint_names == other.joint_names
    assert [link.name for link in again.description.links] == [f"r_{k}" for k in ("palm", "camera", "thumb", "right")]


@pytest.mark.parametrize(
    ("names", "error", "message"),
    [
        ({"lefd": "x"}, KeyError, "did you mean 'left'"),
        ({"world": "x"}, KeyError, "no link, frame, joint, contact point or shape named 'world'"),
        ({"link:world": "x"}, KeyError, "'link:world'"),
        ({"left": "palm"}, ModelError, "'palm' is used already"),
        ({"left": ""}, ModelError, "expected a name, got ''"),
        ({"left": 3}, (TypeError, ModelError), "3|str"),
        ([("left", "x")], TypeError, "expected a dictionary of names"),
    ],
)
def test_what_cannot_be_renamed_is_refused(names, error, message) -> None:
    with pytest.raises(error, match=message):
        hand().renamed(names)


# ---- payloads and masses


@pytest.mark.parametrize("frame", ["palm", "camera", "left", "joint:left", "left_contact0", "root_joint"])
def test_a_payload_is_saved_with_the_file(frame: str, tmp_path) -> None:
    model = hand(base="free")
    loaded = model.with_payload(frame, Inertia.box(2.0, (0.1, 0.2, 0.3), at=(0.1, 0, 0)), name="load")
    assert loaded.frame("load").X == model.frame(frame).X
    assert loaded.mass == pytest.approx(model.mass + 2.0)
    again = through_a_file(loaded, tmp_path, base="free")
    moves_alike(loaded, again)
    assert [p.name for p in again.contact_points] == [p.name for p in model.contact_points]


def test_masses_that_were_scaled_are_saved(tmp_path) -> None:
    model = hand(base="free")
    scaled = model.with_scaled_mass({"palm": 2.0, "left": 0.5})
    assert [part.inertia.mass for part in scaled.parts] == [1.4, 0.0, 0.05, 0.1]
    assert scaled.description.links[2].inertial.origin == model.description.links[2].inertial.origin
    moves_alike(scaled, through_a_file(scaled, tmp_path, base="free"))
    moves_alike(model, scaled.with_scaled_mass({"palm": 0.5, "left": 2.0}))
    other = model.with_inertias({"left": Inertia.point(0.3, (0, 0, 0.1)), "camera": Inertia.sphere(0.2, 0.05)})
    assert other.mass == pytest.approx(1.3)
    moves_alike(other, through_a_file(other, tmp_path, base="free"))


@pytest.mark.parametrize(
    ("edit", "error", "message"),
    [
        (lambda m: m.with_payload("hand", BALL), KeyError, "no frame named 'hand'"),
        (lambda m: m.with_payload("palm", 2.0), TypeError, "inertia: expected a featherweight Inertia, got float"),
        (lambda m: m.with_payload("palm", Inertia(1, (0, 0, 0), (1, 1, 3))), ModelError, "triangle inequality"),
        (lambda m: m.with_payload("palm", BALL, name="left"), ModelError, "'left' is used already"),
        (lambda m: m.with_payload("palm", BALL).with_payload("left", BALL), ModelError, "'payload' is used already"),
        (lambda m: m.with_scaled_mass(0.0), ModelError, "factor of 'palm': expected a number > 0, got 0.0"),
        (lambda m: m.with_scaled_mass({"root_joint": 2.0}), KeyError, "no link named 'root_joint'"),
        (lambda m: m.with_scaled_mass("heavy"), ModelError, "expected a real number, got 'heavy'"),
        (lambda m: m.with_inertias({"lef": BALL}), KeyError, "did you mean 'left'"),
        (lambda m: m.with_inertias({"left": 1.0}), TypeError, r"inertias\['left'\]: expected a featherweight Inertia"),
        (lambda m: m.with_inertias(BALL), TypeError, "inertias: expected a dictionary of inertias by link"),
    ],
)
def test_impossible_payloads_and_masses_are_refused(edit, error, message) -> None:
    with pytest.raises(error, match=message):
        edit(hand())


def test_symbols_may_be_edited() -> None:
    sympy = pytest.importorskip("sympy")
    m, angle = sympy.Symbol("m", positive=True), sympy.Symbol("phi", real=True)
    model = arm().build().with_payload("flange", Inertia.point(m)).locked({"elbow": angle})
    assert model.symbols == ("m", "phi")
    plain = arm().build().with_payload("flange", Inertia.point(2.0)).locked({"elbow": 0.3})
    moves_alike(model.with_values({"m": 2.0, "phi": 0.3}), plain)


# ---- merged


def test_a_hand_on_an_arm(tmp_path) -> None:
    builder = arm().add_model(
        hand(parameters=("left.mass",)), "hand/", parent="flange", placement=Placement((0, 0, 0.1))
    )
    model = builder.build()
    assert model.joint_names == ("shoulder", "elbow", "hand/left", "hand/right")
    assert model.joint("hand/right").kind.leader == "hand/left"
    assert tuple(model.parameters) == ("hand/left.mass",)
    assert model.body("lower").inertia.m == pytest.approx(1.7)  # the palm is part of the lower arm
    q = np.array([0.3, -0.4, 0.02])
    flange, palm = (fw.frame_pose(model, q, name) for name in ("flange", "hand/palm"))
    np.testing.assert_allclose(palm.position, flange.position + 0.1 * flange.rotation[:, 2], rtol=1e-14)
    again = through_a_file(model, tmp_path)
    moves_alike(Builder().add_model(model).build(), again)
    assert [p.name for p in again.contact_points] == [p.name for p in model.contact_points]
    assert model.fingerprint == builder.build().fingerprint
    moves_alike(model, assemble(model.description, policy="accept", parameters=("hand/left.mass",)))


def test_several_robots_in_one_world(tmp_path) -> None:
    """They know nothing of each other: M is of blocks."""
    dog, stick = fw.robots.mini_cheetah(rotors="armature"), fw.robots.pendulum()
    model = (
        Builder("world")
        .add_model(dog, "a_")
        .add_model(dog, "b_", placement=Placement((0, 2, 0), rpy=(0, 0, 1)))
        .add_model(stick)
        .build()
    )
    assert (model.nq, model.nv, model.nb) == (2 * dog.nq + 1, 2 * dog.nv + 1, 2 * dog.nb + 1)
    q = np.concatenate([dog.random(1), dog.random(2), [0.3]])
    with fw.interpret():
        M = fw.mass_matrix(model, q)
        blocks = [fw.mass_matrix(dog, q[:19]), fw.mass_matrix(dog, q[19:38]), fw.mass_matrix(stick, q[38:])]
    right = np.zeros_like(M)
    for k, block in zip((0, 18, 36), blocks, strict=True):
        right[k : k + len(block), k : k + len(block)] = block
    np.testing.assert_allclose(M, right, rtol=0, atol=1e-13)
    assert len(model.contact_points) == 2 * len(dog.contact_points)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the published thigh breaks the triangle inequality by 4 %
        moves_alike(model, through_a_file(model, tmp_path, policy="warn"))


@pytest.mark.parametrize("base", ["fixed", "free"])
def test_another_joint_carries_the_base(base: str, tmp_path) -> None:
    """A hand on a slide, a hand that is bolted: whatever joint it had."""
    slide = arm().add_model(hand(base=base), parent="flange", joint=Prismatic("z"), placement=Placement((0.1, 0, 0)))
    model = slide.build()
    assert model.joint_names == ("shoulder", "elbow", "root_joint", "left", "right")
    assert model.joint("root_joint").kind.axis == (0, 0, 1)
    assert model.names[3] == "palm"
    assert model.X_tree[3].r == model.frame("flange").X.E.transposed_times(type(model.X_tree[3].r)(0.1, 0, 0)) + (
        model.frame("flange").X.r
    )
    other = through_a_file(model, tmp_path)
    moves_alike(model, other)
    bolted = arm().add_model(hand(base=base), parent="flange", joint=Fixed()).build()
    moves_alike(bolted, arm().add_model(hand(), parent="flange").build())
    floating = Builder().add_model(hand(base=base), joint=Free()).build()
    moves_alike(floating, hand(base="free"))


def test_what_stands_with_a_fixed_base_moves_with_it() -> None:
    desk = (
        Builder("desk")
        .add_body("top", placement=Placement((0, 0, 0.7), rpy=(0, 0, 0.5)), inertia=BALL)
        .add_body("fan", joint=Revolute("z"), placement=Placement((0.3, 0, 0.8)), inertia=BALL)
        .add_frame("corner", parent="world", placement=Placement((0.5, 0, 0.7)))
        .add_contact_point("foot", parent="world", position=(0.5, 0.5, 0))
        .add_geometry("world", "visual", "box", (1, 1, 0.1), Placement((0, 0, 0.65)))
        .build()
    )
    cart = Builder("cart").add_model(desk, joint=Prismatic("x")).build()
    assert (cart.names, cart.joint_names) == (("world", "top", "fan"), ("top_joint", "fan_joint"))
    q = np.array([2.0, 0.0])
    top, still = fw.frame_pose(cart, q, "top"), fw.frame_pose(desk, q[1:], "top")
    np.testing.assert_allclose(top.position, (2.0, 0, 0), atol=1e-15)
    for name in ("fan", "corner", "foot"):
        ours, right = fw.frame_pose(cart, q, name), fw.frame_pose(desk, q[1:], name)
        np.testing.assert_allclose(
            top.rotation.T @ (ours.position - top.position), still.rotation.T @ (right.position - still.position),
            atol=1e-15,
        )  # fmt: skip
    assert [(g.link, g.body) for g in cart.geometry] == [("top", 1)]
    parked = Builder().add_model(desk, placement=Placement((1, 0, 0))).build()
    np.testing.assert_allclose(fw.frame_pose(parked, q[1:], "foot").position, (1.5, 0.5, 0), atol=1e-15)
    np.testing.assert_allclose(parked.geometry[0].X.r, (1, 0, 0.65), atol=1e-15)


def test_a_refused_model_leaves_the_builder_as_it_was() -> None:
    builder, bad = arm(), hand(policy="warn")
    half = Builder("half").add_body("new", joint=Revolute("x"), inertia=BALL).add_body("upper", parent="new").build()
    wrongs = [
        (lambda: builder.add_model(half), ModelError, "body 'upper': the name is used already"),
        (lambda: builder.add_model(arm().build()), ModelError, r"'upper': the name is used already; .* prefix="),
        (lambda: builder.add_model(bad, parent="wrist"), ModelError, "there is no body or frame 'wrist'"),
        (lambda: builder.add_model(bad, joint="slide"), ModelError, "expected one of featherweight.joints"),
        (
            lambda: builder.add_model(bad, placement=(0, 0, 1)),
            ModelError,
            "placement: expected featherweight.Placement, got tuple",
        ),
        (lambda: builder.add_model(fw.robots.pendulum(), joint=Free()), ModelError, "has no base that Free"),
        (lambda: builder.add_model("hand"), TypeError, "expected a featherweight Model and a text, got str"),
        (lambda: builder.add_model(bad, prefix=3), TypeError, "expected a featherweight Model and a text"),
    ]
    for wrong, error, message in wrongs:
        with pytest.raises(error, match=message):
            wrong()
    assert builder.build().fingerprint == arm().build().fingerprint
    assert repr(builder.description) == repr(arm().description)
    builder.add_body("new", joint=Revolute("x"), inertia=BALL)  # the name is still free


def test_bodies_of_a_model_are_taken_as_they_are() -> None:
    with pytest.warns(UserWarning, match="triangle"):
        odd = (
            Builder(policy="warn").add_body("b", joint=Revolute("x"), inertia=Inertia(1, (0, 0, 0), (1, 1, 3))).build()
        )
    assert Builder().add_model(odd).build().inertias == odd.inertias
    assert odd.with_payload("b", BALL).nv == odd.locked({}).nv == 1


def test_a_mimic_of_a_mimic_is_locked_with_its_leader() -> None:
    chain = arm().add_body("a", parent="lower", joint=Mimic(Revolute("y"), "elbow", 2.0, 0.1), inertia=BALL)
    chain.add_body("b", parent="a", joint=Mimic(Revolute("y"), "a_joint", -0.5, 0.2), inertia=BALL)
    model = chain.build()
    assert model.locked({"elbow": 0.4}).joint_names == ("shoulder",)
    R = fw.frame_pose(model.locked({"elbow": 0.4, "shoulder": 0.0}), np.zeros(0), "b").rotation
    angle = 0.4 + (2.0 * 0.4 + 0.1) + (-0.5 * (2.0 * 0.4 + 0.1) + 0.2)
    np.testing.assert_allclose(R[:, 2], (np.sin(angle), 0, np.cos(angle)), rtol=1e-14, atol=1e-15)
