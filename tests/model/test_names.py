"""Names as in the file: links with frames, joints and contact points each have a space of names of their own."""

from __future__ import annotations

import itertools
import json
import pickle

import numpy as np
import pytest

import featherweight as fw
from alike import moves_alike
from featherweight import Builder, Inertia, Placement
from featherweight.dynamics.regularity import regularity
from featherweight.io import describe, from_plain, to_plain
from featherweight.joints import Free, Mimic, Revolute
from featherweight.model.assembly import assemble

BALL = Inertia.sphere(1.0, 0.1)


def arm(*, hand_first: bool = False) -> Builder:
    """Joint `hand` moves `forearm`, joint `hand_` moves link `hand`, on which the point `hand` is."""
    builder = Builder("arm").add_body("upper", joint=Revolute("y"), inertia=BALL, joint_name="upper")
    forearm = {"parent": "upper", "joint": Revolute("x"), "placement": Placement((0, 0, 0.3)), "joint_name": "hand"}
    hand = {"joint": Revolute("z"), "placement": Placement((0, 0.1, 0.2), rpy=(0.1, 0, 0)), "joint_name": "hand_"}
    if hand_first:
        return (
            builder.add_body("hand", parent="upper", inertia=BALL, **hand)
            .add_body("forearm", inertia=BALL, **forearm)
            .add_contact_point("hand", parent="hand", position=(0, 0, 0.1))
        )
    return (
        builder.add_body("forearm", inertia=BALL, **forearm)
        .add_body("hand", parent="forearm", inertia=BALL, **hand)
        .add_contact_point("hand", parent="hand", position=(0, 0, 0.1))
    )


@pytest.mark.parametrize("hand_first", [False, True])
def test_each_kind_is_looked_up_in_its_own_space(hand_first: bool) -> None:
    model = arm(hand_first=hand_first).build()
    forearm, hand = model.names.index("forearm"), model.names.index("hand")
    assert model.joint("hand").body == forearm
    assert model.body("hand").index == hand
    assert model.frame("hand").body == hand
    assert model.frame("hand").kind == "link"
    assert model.frame("joint:hand").body == forearm
    assert model.frame("point:hand").X.r == (0.0, 0.0, 0.1)
    assert model.contact_frame("hand") == "point:hand"
    assert model.frame("upper").kind == "link"
    assert set(model.frame_names) == {
        "world", "upper", "joint:upper", "forearm", "hand", "joint:hand", "hand_", "point:hand",
    }  # fmt: skip
    assert [name for name in model.frame_names if model.frame(name).kind == "link"] == list(model.names)


def test_who_comes_first_does_not_depend_on_the_order_of_adding() -> None:
    calls = {
        "link": lambda b: b.add_body("x", joint=Revolute("z"), inertia=BALL, joint_name="other"),
        "joint": lambda b: b.add_body("y", joint=Revolute("z"), inertia=BALL, joint_name="x"),
        "point": lambda b: b.add_contact_point("x", parent="world", position=(1, 2, 3)),
    }
    for order in itertools.permutations(calls):
        builder = Builder()
        for kind in order:
            calls[kind](builder)
        model = builder.build()
        assert model.frames["x"].kind == "link", order
        assert {model.frames[f"{kind}:x"].kind for kind in ("joint", "point")} == {"joint", "point"}, order
    without = Builder()
    for kind in ("point", "joint"):
        calls[kind](without)
    assert without.build().frame("x").kind == "joint"


def test_a_name_that_looks_like_another_ones_is_still_a_name() -> None:
    model = arm().add_body("joint:hand", parent="hand", inertia=BALL, joint_name="weld").build()
    assert model.frame("joint:hand").kind == "link"
    assert model.frame("joint:joint:hand").kind == "joint"
    assert set(assemble(describe(model)).frame_names) == set(model.frame_names)


def test_functions_of_frames_and_points_take_these_names() -> None:
    model = arm().build()
    q, rest = np.array([0.3, -0.4, 0.5]), np.zeros(3)
    link, joint, point = (fw.frame_pose(model, q, name) for name in ("hand", "joint:hand", "point:hand"))
    poses = fw.forward_kinematics(model, q)
    np.testing.assert_array_equal(link.position, poses.position[model.names.index("hand")])
    np.testing.assert_array_equal(joint.position, poses.position[model.names.index("forearm")])
    np.testing.assert_allclose(point.position, link.position + link.rotation @ (0, 0, 0.1), rtol=1e-15)
    J = fw.jacobian(model, q, "point:hand", "world_aligned")[:3]
    np.testing.assert_allclose(  # a point is looked for among contact points first
        fw.delassus(model, q, ["hand"]), J @ np.linalg.solve(fw.mass_matrix(model, q), J.T), rtol=1e-12, atol=1e-14
    )
    tau, a = fw.hybrid_dynamics(model, q, rest, rest, np.array([0.0, 2.0, 0.0]), ["hand"])
    assert a[model.joint("hand").v] == 2.0
    np.testing.assert_allclose(fw.inverse_dynamics(model, q, rest, a), tau, rtol=1e-12, atol=1e-13)
    assert model.pinocchio_maps(["hand_", "universe", "upper", "hand"]).v.tolist() == [2, 0, 1]


def test_parameters_of_a_link_and_of_a_joint_with_one_name() -> None:
    """`hand.mass` is the link's, `hand.armature` the joint's, which moves another body."""
    names = ("hand.mass", "hand.com", "hand.armature", "hand.damping")
    builder = arm()
    builder._parameters = names
    model, q = builder.build(), np.zeros(3)
    M = fw.mass_matrix(model, q)
    more = fw.mass_matrix(model, q, parameters={"hand.armature": 0.5}) - M
    np.testing.assert_allclose(more, np.diag([0.0, 0.5, 0.0]), atol=1e-15)
    heavier = fw.mass_matrix(model, q, parameters={"hand.mass": 2.0})
    np.testing.assert_allclose((heavier - M)[0, 0], 0.3**2 + 2 * 0.3 * 0.2 + 0.2**2, rtol=1e-12)


@pytest.mark.parametrize(
    ("parameter", "watched"), [("hand.armature", ("upper", "forearm")), ("hand.mass", ("upper", "forearm", "hand"))]
)
def test_parameters_are_watched_where_they_act(parameter: str, watched: tuple[str, ...]) -> None:
    """A parameter of joint `hand` can make the forearm's pivot vanish, not that of link `hand`."""
    builder = arm()
    builder._parameters = (parameter,)
    model = builder.build()
    assert regularity(model).watched == {model.names.index(name) for name in watched}


def test_files_and_copies_keep_the_names(tmp_path) -> None:
    model = arm().add_body("finger", parent="hand", joint=Mimic(Revolute("x"), "hand", 2.0), inertia=BALL).build()
    for other in (
        assemble(describe(model)),
        assemble(model.description),
        from_plain(json.loads(json.dumps(to_plain(model)))),
        pickle.loads(pickle.dumps(model)),
    ):
        assert dict(other.frames) == dict(model.frames)
        assert (other.joint_names, other.names, other.contact_points) == (
            model.joint_names, model.names, model.contact_points,
        )  # fmt: skip
    fw.save_urdf(model, tmp_path / "arm.urdf")
    moves_alike(model, fw.load(tmp_path / "arm.urdf"))
    assert fw.load(tmp_path / "arm.urdf").contact_points[0].name == "hand__contact0"  # on a link `hand_`: `hand` is one


def test_the_axes_of_a_point_are_those_of_its_parent_also_when_the_name_changes_hands() -> None:
    """Point `p` has the axes of a turned frame; link `p`, which comes later, has not."""
    builder = arm().add_frame("turned", parent="hand", placement=Placement(rpy=(0.3, 0, 0)))
    builder.add_contact_point("p", parent="turned").add_contact_point("before", parent="p")
    builder.add_body("p", parent="hand").add_contact_point("after", parent="p")
    model = builder.build()
    assert model.frame("before").X.E == model.frame("turned").X.E
    assert model.frame("after").X.E == model.frame("p").X.E == model.frame("hand").X.E


def test_a_link_that_is_part_of_a_body_is_named_with_it() -> None:
    model = arm().add_body("ring", parent="hand").build()
    with pytest.raises(KeyError, match="no body named 'ring': that link is part of body 'hand'"):
        model.body("ring")


def test_frames_of_a_link_a_joint_and_a_point_are_told_apart_by_the_fingerprint() -> None:
    def named(link: str, joint: str) -> fw.Model:
        return Builder().add_body(link, joint=Revolute("z"), inertia=BALL, joint_name=joint).build()

    assert len({named(*names).fingerprint for names in (("a", "b"), ("b", "a"), ("a", "a"), ("b", "b"))}) == 4


def test_what_hangs_on_a_joint_that_is_called_like_it() -> None:
    """The parent is looked up before the new name is there."""
    model = Builder().add_body("a", joint=Revolute("z"), inertia=BALL, joint_name="b").add_body("b", parent="b").build()
    assert model.frame("b").body == model.names.index("a")
    assert model.description.joints[1].parent == "a"


def test_a_joint_that_was_renamed_in_earlier_versions_is_still_found() -> None:
    model = arm().build()
    with pytest.warns(DeprecationWarning, match="joint 'hand_joint' is called 'hand', as in its file"):
        assert model.joint("hand_joint") == model.joint("hand")
    with pytest.warns(DeprecationWarning, match="'joint:hand'"):
        assert model.frame("hand_joint") == model.frame("joint:hand")
    for wrong in ("forearm_joint", "hand__joint", "_joint", "joint", "joint:"):
        with pytest.raises(KeyError):
            model.joint(wrong)


def test_a_recording_with_names_of_earlier_versions_is_read() -> None:
    """What `to_plain` wrote of a robot whose joint was called like its link."""
    ball = [1.0, [0.0, 0.0, 0.0], [[0.004, 0.0, 0.0], [0.0, 0.004, 0.0], [0.0, 0.0, 0.004]]]
    numbers = {name: [0.0] for name in ("armature", "damping", "friction", "stiffness", "rest")}
    hinge = {"joint": ["Revolute", [0.0, 0.0, 1.0]], "limits": [[None]] * 4, "rotor": None, **numbers}
    body = {"name": "hand", "parent": "world", "joint_name": "hand_joint", "placement": None, **hinge, "inertia": ball}
    data = {"name": "old", "gravity": [0.0, 0.0, -9.81], "parameters": [], "calls": [{"body": body}]}
    assert from_plain(data).joint_names == ("hand_joint",)


def test_controllers_find_feet_that_are_called_like_links() -> None:
    """A quadruped whose feet are links, frames and contact points of one name stands as one with names of their own."""
    dog = fw.robots.mini_cheetah(points="feet")

    def renamed(feet: dict[str, str]) -> fw.Model:
        data = to_plain(dog)
        for call in data["calls"]:
            ((what, given),) = call.items()
            if what == "point":
                given["name"] = feet[given["name"]]
        return from_plain(data)

    ends = {p.name: dog.names[p.body] for p in dog.contact_points}
    model, q = renamed(ends), np.concatenate([[0, 0, 0.3, 0, 0, 0, 1], np.tile([0.0, -0.8, 1.6], 4)])
    stand = fw.control.stand(model, q)
    plain = fw.control.stand(dog, q)
    assert [limb.frame for limb in stand.function.body.limbs] == [f"point:{ends[p]}" for p in ends]
    np.testing.assert_array_equal(stand.parameters, plain.parameters)


def test_a_free_base_does_not_take_the_name_of_a_joint() -> None:
    text = """<robot name="r"><link name="root_joint"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/>
      </inertial></link></robot>"""
    model = fw.loads(text, base="free")
    assert model.joint("root_joint").kind.nq == Free().nq
    assert model.frame("root_joint").kind == "link"
