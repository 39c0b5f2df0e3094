"""What can touch: shapes of the builder and of files, their names, and what keeps them."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import featherweight as fw
from featherweight import shapes
from featherweight.errors import ModelError
from featherweight.io import from_plain, to_plain

CORNERS = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)]
SOLIDS = {
    "sphere": shapes.Sphere(0.1),
    "capsule": shapes.Capsule(0.1, 0.4),
    "box": shapes.Box((0.1, 0.2, 0.3)),
    "cylinder": shapes.Cylinder(0.1, 0.4),
    "convex": shapes.Convex(CORNERS),
}
PLACE = fw.Placement((0.1, 0.2, 0.3), rpy=(0.4, 0.5, 0.6))


def arm(name: str = "arm") -> fw.Builder:
    """Two links, and one that is welded to the second."""
    builder = fw.Builder(name)
    builder.add_body("upper", joint=fw.joints.Revolute("y"), inertia=fw.Inertia.sphere(1.0, 0.1))
    weld = fw.Placement((0, 0, 1), rpy=(0.7, 0, 0))
    builder.add_body("lower", parent="upper", joint=fw.joints.Revolute("y"), inertia=fw.Inertia.sphere(1.0, 0.1))
    return builder.add_body("hand", parent="lower", placement=weld, inertia=fw.Inertia.sphere(1.0, 0.1))


def full() -> fw.Model:
    """Every kind of shape, on links, a welded link, a frame and the world, with and without names and coefficients."""
    builder = arm().add_frame("tip", parent="hand", placement=PLACE)
    builder.add_geometry("upper", SOLIDS["capsule"], PLACE, friction=0.3)
    builder.add_geometry("lower", SOLIDS["box"], role="both", restitution=0.5, name="shin", color=(1, 0, 0, 1))
    builder.add_geometry("hand", SOLIDS["convex"], PLACE, friction=0.0, restitution=0)
    builder.add_geometry("hand", SOLIDS["sphere"])
    builder.add_geometry("tip", SOLIDS["cylinder"], PLACE)
    builder.add_geometry("lower", "collision", "box", (1, 2, 3))
    return builder.add_geometry("world", SOLIDS["box"], name="table").build()


@pytest.mark.parametrize("kind", SOLIDS)
def test_a_shape_is_where_and_what_it_was_given(kind: str) -> None:
    model = arm().add_geometry("upper", SOLIDS[kind], PLACE, friction=0.3, restitution=0.4, name="own").build()
    (shape,) = model.shapes
    assert (shape.name, shape.link, shape.body, shape.shape) == ("own", "upper", 1, SOLIDS[kind])
    assert (shape.friction, shape.restitution, shape.ground) == (0.3, 0.4, True)
    assert PLACE.transform == shape.X
    assert model.ground_shapes == model.shapes
    assert not model.contact_points


def test_on_a_welded_link_it_is_in_the_body() -> None:
    """p_body = R_weld p_hand + r_weld."""
    model = arm().add_geometry("hand", SOLIDS["sphere"], fw.Placement((0, 1, 0))).build()
    (shape,) = model.shapes
    assert (shape.link, shape.body) == ("hand", 2)
    assert np.allclose(shape.X.r, (0, np.cos(0.7), 1 + np.sin(0.7)), rtol=0, atol=1e-15)


@pytest.mark.parametrize(("role", "roles"), [("collision", "c"), ("visual", "v"), ("both", "vc")])
def test_roles(role: str, roles: str) -> None:
    model = arm().add_geometry("upper", SOLIDS["box"], role=role).build()
    assert "".join(g.role[0] for g in model.geometry) == roles
    assert len(model.shapes) == ("c" in roles)


def test_the_call_with_role_kind_and_size_makes_what_touches_others_but_not_the_ground() -> None:
    builder = arm().add_geometry("upper", "collision", "cylinder", (0.1, 0.4), PLACE)
    (shape,) = builder.add_geometry(parent="upper", role="visual", kind="sphere", size=[1]).build().shapes
    assert (shape.shape, shape.ground) == (SOLIDS["cylinder"], False)


def test_names_are_unique() -> None:
    assert [s.name for s in full().shapes] == ["upper", "shin", "hand", "hand_2", "tip", "lower", "table"]


def test_a_name_that_is_given_goes_before_a_link() -> None:
    model = arm().add_geometry("upper", SOLIDS["box"]).add_geometry("lower", SOLIDS["box"], name="upper").build()
    assert [(s.name, s.link) for s in model.shapes] == [("upper_2", "upper"), ("upper", "lower")]


def test_the_world_does_not_touch_the_ground() -> None:
    table = full().shapes[-1]
    assert (table.name, table.body, table.ground) == ("table", 0, False)


WRONG = {
    "role": (dict(role="seen"), "role: expected one of collision, visual, both, got 'seen'"),
    "friction": (dict(friction=-1), "friction: expected a number of 0 or more"),
    "nan": (dict(friction=np.nan), "friction"),
    "inf": (dict(friction=np.inf), "friction"),
    "true": (dict(friction=True), "friction"),
    "restitution": (dict(restitution=1.1), "restitution: expected a number from 0 to 1"),
    "visual friction": (dict(role="visual", friction=0.1), "touches nothing"),
    "name": (dict(name=""), "name: expected a name"),
    "name 3": (dict(name=3), "name: expected a name"),
    "taken": (dict(name="own"), "'own' is used already"),
    "placement": (dict(placement=(0, 0, 1)), "expected featherweight.Placement"),
    "kind": (dict(kind="box"), "kind"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_cannot_be_is_refused(what: str) -> None:
    given, message = WRONG[what]
    builder = arm().add_geometry("upper", SOLIDS["box"], name="own")
    with pytest.raises((ModelError, TypeError), match=message):
        builder.add_geometry("lower", SOLIDS["box"], **given)
    assert len(builder.build().geometry) == 1


def test_something_else_than_a_shape_is_refused() -> None:
    with pytest.raises(TypeError, match=r"expected one of featherweight\.shapes, got ndarray"):
        arm().add_geometry("lower", np.zeros(3))  # type: ignore[call-overload]
    with pytest.raises(TypeError, match=r"expected one of featherweight\.shapes, got Plane of featherweight\.contact"):
        arm().add_geometry("lower", fw.contact.Plane())  # type: ignore[call-overload]
    with pytest.raises(ModelError, match="no body or frame 'lowr'"):
        arm().add_geometry("lowr", SOLIDS["box"])


def test_what_has_no_volume_touches_nothing() -> None:
    model = arm().add_geometry("upper", "collision", "box", (1, 0, 1)).build()
    assert (len(model.geometry), model.shapes) == (1, ())
    (ball,) = arm().add_geometry("upper", "collision", "capsule", (0.5, 0)).build().shapes
    assert ball.shape == shapes.Sphere(0.5)


# ---- identity: one thing at a time


def variants() -> dict[str, fw.Model]:
    def one(shape: shapes.Shape = SOLIDS["box"], placement: fw.Placement = PLACE, **given) -> fw.Model:
        return arm().add_geometry("upper", shape, placement, **given).build()

    first = one()
    (g,) = first.geometry
    return {
        "first": first,
        "size": one(shapes.Box((0.1, 0.2, 0.4))),
        "kind": one(SOLIDS["cylinder"]),
        "capsule": one(SOLIDS["capsule"]),  # of the same size
        "vertices": one(SOLIDS["convex"]),
        "other vertices": one(shapes.Convex([*CORNERS[:4], (1, 1, 2)])),
        "place": one(placement=fw.Placement((0.1, 0.2, 0.4), rpy=(0.4, 0.5, 0.6))),
        "friction": one(friction=0.3),
        "more friction": one(friction=0.4),
        "restitution": one(restitution=0.3),
        "name": one(name="own"),
        "both": one(role="both"),
        "ground": replace(first, geometry=(replace(g, ground=False),)),
        "group": replace(first, geometry=(replace(g, group=1),)),
        "body": arm().add_geometry("lower", SOLIDS["box"], PLACE).build(),
    }


def test_the_fingerprint_covers_each_of_them() -> None:
    prints = {name: model.fingerprint for name, model in variants().items()}
    assert len({*prints.values()}) == len(prints)
    assert {name: model.fingerprint for name, model in variants().items()} == prints


# ---- what keeps them


def assert_same_shapes(a: fw.Model, b: fw.Model) -> None:
    """The same in any order, X to rounding."""
    others = {shape.name: shape for shape in b.shapes}
    assert sorted(shape.name for shape in a.shapes) == sorted(others)
    for shape in a.shapes:
        other = others[shape.name]
        assert replace(shape, X=other.X) == other
        for ours, theirs in zip(shape.X, other.X, strict=True):
            assert np.allclose(np.array(ours, dtype=float), np.array(theirs, dtype=float), rtol=0, atol=1e-14)


def test_plain_data_keep_them_to_the_bit() -> None:
    model = full()
    again = from_plain(json.loads(json.dumps(to_plain(model), allow_nan=False)))
    assert again.shapes == model.shapes
    assert_same_shapes(again.locked({}), model)


def test_a_recording_has_them(tmp_path: Path) -> None:
    model = full()
    file = tmp_path / "run.fw"
    fw.rollout(model, model.neutral(), np.zeros(model.nv), steps=2, dt=1e-3, file=file)
    again = fw.Trajectory.load(file).model
    assert again is not None
    assert again.shapes == model.shapes


def test_pickling_keeps_them() -> None:
    model = full()
    assert pickle.loads(pickle.dumps(model)).shapes == model.shapes


EDITS = {
    "nothing": lambda m: m.locked({}),
    "payload": lambda m: m.with_payload("hand", fw.Inertia.sphere(1.0, 0.1)),
    "mass": lambda m: m.with_scaled_mass(2.0),
    "inertias": lambda m: m.with_inertias({"hand": fw.Inertia.sphere(1.0, 0.1)}),
    "other names": lambda m: m.renamed({"lower_joint": "knee"}),
}


@pytest.mark.parametrize("edit", EDITS)
def test_edits_keep_them(edit: str) -> None:
    model = full()
    assert_same_shapes(EDITS[edit](model), model)


def test_a_locked_joint_moves_shapes_to_the_parent() -> None:
    model = full().locked({"lower_joint": 0.0})
    assert {shape.name: shape.body for shape in model.shapes} | {"table": 0} == {
        "upper": 1, "shin": 1, "hand": 1, "hand_2": 1, "tip": 1, "lower": 1, "table": 0,
    }  # fmt: skip


def test_other_names() -> None:
    names = {s.name for s in full().renamed({"shin": "shank", "link:hand": "fist"}, prefix="a_").shapes}
    assert names == {"a_upper", "a_shank", "a_fist", "a_fist_2", "a_tip", "a_lower", "a_table"}
    assert [s.name for s in full().renamed({"shape:shin": "x"}).shapes if s.link == "lower"] == ["x", "lower"]
    with pytest.raises(KeyError, match="no link, frame, joint, contact point or shape named"):
        full().renamed({"shape:shinn": "x"})


# ---- several models


def test_added_models_keep_their_shapes_under_their_names() -> None:
    builder = fw.Builder("two").add_geometry("world", SOLIDS["box"], name="wall")
    builder.add_model(full(), "a_").add_model(full(), "b_", placement=fw.Placement((0, 0, 2)))
    model = builder.build()
    assert len(model.shapes) == 15
    for k, prefix in enumerate(("a_", "b_"), 1):
        own = [s for s in model.shapes if s.name.startswith(prefix)]
        assert {s.name for s in own} == {prefix + s.name for s in full().shapes}
        assert {s.group for s in own} == {k}
        for s in own:
            (before,) = [x for x in full().shapes if prefix + x.name == s.name]
            assert (s.shape, s.friction, s.restitution, s.ground) == (
                before.shape, before.friction, before.restitution, before.ground
            )  # fmt: skip
    assert [s.group for s in model.shapes if s.name == "wall"] == [0]
    assert (model.added, full().added) == (True, False)
    again = from_plain(json.loads(json.dumps(to_plain(model))))
    assert (again.shapes, again.added) == (model.shapes, True)
    assert model.locked({"a_lower_joint": 0.1}).added


def test_what_hangs_on_a_robot_is_of_its_group() -> None:
    builder = fw.Builder("cell").add_model(full(), "a_").add_model(full(), "grip_", parent="a_hand")
    builder.add_model(full(), "b_")
    builder.add_geometry("grip_hand", SOLIDS["sphere"], name="late")
    groups = {s.name: s.group for s in builder.build().shapes}
    assert (groups["a_shin"], groups["grip_shin"], groups["b_shin"], groups["late"]) == (1, 1, 2, 1)


def test_groups_of_a_world_that_is_added_stay_apart() -> None:
    world = fw.Builder("world").add_model(full(), "a_").add_model(full(), "b_").build()
    model = fw.Builder("two").add_model(world, "x_").add_model(world, "y_").build()
    groups = {s.name: s.group for s in model.shapes}
    assert len({groups[name] for name in ("x_a_shin", "x_b_shin", "y_a_shin", "y_b_shin")}) == 4


# ---- URDF


def test_urdf_says_what_it_can() -> None:
    builder = arm().add_geometry("upper", SOLIDS["cylinder"], PLACE, name="drum").add_geometry("hand", SOLIDS["box"])
    again = fw.loads(fw.io.to_urdf(builder.build()))
    assert [(s.name, s.link, s.shape) for s in again.shapes] == [
        ("drum", "upper", SOLIDS["cylinder"]),
        ("hand", "hand", SOLIDS["box"]),
    ]
    assert [s.ground for s in again.shapes] == [True, False]  # corners stand for the box
    assert len(again.contact_points) == 8


@pytest.mark.parametrize(
    ("shape", "given", "message"),
    [
        ("convex", {}, "a shape of 'upper': URDF has no convex hulls"),
        ("box", {"friction": 0.5}, "URDF has no friction or restitution of shapes"),
        ("box", {"restitution": 0.5}, "URDF has no friction or restitution of shapes"),
    ],
)
def test_urdf_refuses_what_it_cannot_say(shape: str, given: dict, message: str) -> None:
    model = arm().add_geometry("upper", SOLIDS[shape], **given).build()
    with pytest.raises(ModelError, match=message):
        fw.io.to_urdf(model)


def test_built_in_robots_touch_the_ground_as_before() -> None:
    for model in (fw.robots.mini_cheetah(), fw.robots.humanoid()):
        assert not model.ground_shapes
        assert model.contact_points
