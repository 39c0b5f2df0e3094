"""A neutral description: what builder and readers write, models are made of, and writers read."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from bad_models import GOOD

import featherweight as fw
from featherweight import Builder, Inertia, Limits, ModelError, Placement
from featherweight.io import (
    Actuator,
    Description,
    Finding,
    Follow,
    Inertial,
    Keyframe,
    Link,
    LinkFrame,
    LinkJoint,
    LinkPoint,
    LoopClosure,
    Origin,
    Sensor,
    Shape,
    Source,
    build,
    describe,
    from_plain,
    read_urdf,
    to_plain,
    to_urdf,
)
from featherweight.joints import Free, Helical, Mimic, Revolute
from featherweight.model.assembly import assemble
from peers.pinocchio_adapter import robots_folder

BALL = Inertia.sphere(1.0, 0.1)
ARM = Description(
    "arm",
    (Link("base"), Link("upper", Inertial.of(BALL)), Link("lower", Inertial.of(BALL))),
    (
        LinkJoint("elbow", "revolute", "upper", "lower", Origin((0.0, 0.0, 0.3)), (0.0, 1.0, 0.0)),
        LinkJoint("shoulder", "revolute", "base", "upper", axis=(0.0, 1.0, 0.0)),
    ),
)


def branching() -> Builder:
    """Welds, frames on frames, bodies on frames and on the frames of joints, shapes everywhere, a follower, a rotor."""
    rotor = fw.Rotor(6.0, Inertia(0.05, (0, 0, 0), (3e-5, 3e-5, 6e-5)), Placement((0, 0.1, 0)), "z")
    return (
        Builder("branching")
        .add_body("trunk", joint=Free(), inertia=BALL)
        .add_frame("mount", parent="trunk", placement=Placement((0.1, 0.2, 0.3), rpy=(0.4, -0.5, 0.6)))
        .add_contact_point("corner", parent="mount", position=(0.1, 0, 0), radius=0.01)
        .add_body("mast", parent="mount", inertia=BALL, placement=Placement((0, 0, 0.1), rpy=(0.1, 0.2, 0.3)))
        .add_body(
            "arm", parent="mast_joint", joint=Revolute((1, 2, 3)), inertia=BALL, joint_name="shoulder", rotor=rotor,
            limits=Limits(-1.0, 2.0, 3.0, 4.0), damping=[0.2], stiffness=np.array(3.0), rest=0.4,
        )
        .add_frame("hand", parent="arm")
        .add_body("finger", parent="hand", joint=Mimic(Revolute("x"), "shoulder", -2.0), inertia=BALL, armature=0.1)
        .add_body("screw", parent="shoulder", joint=Helical("z", 0.01), inertia=BALL)
        .add_geometry("world", "visual", "box", [1, 1, 1])
        .add_geometry("corner", "visual", "sphere", (0.02,), Placement((0, 0, 0.1)))
        .add_geometry("hand", "collision", "sphere", (0.1,), Placement((0, 0, 0.1)), color=[1, 0, 0, 1])
        .add_geometry("arm", "visual", "mesh", (1, 1, 1), mesh="arm.stl", path="arm.stl")
    )  # fmt: skip


def assert_same(a: fw.Model, b: fw.Model) -> None:
    """Every number, to the last bit."""
    for name in ("name", "names", "parent", "X_tree", "inertias", "gravity_vector", "contact_points"):
        assert getattr(a, name) == getattr(b, name), name
    assert dict(a.frames) == dict(b.frames)
    assert sorted(a.parts, key=repr) == sorted(b.parts, key=repr)
    for j, k in zip(a.joints, b.joints, strict=True):
        assert repr(j) == repr(k)


@pytest.mark.parametrize(
    "model",
    [branching().build(), fw.robots.mini_cheetah(), fw.robots.humanoid(), fw.robots.humanoid(ball_joints=True)],
    ids=["branching", "mini_cheetah", "humanoid", "ball joints"],
)
def test_what_the_builder_wrote_gives_the_same_model(model: fw.Model) -> None:
    again = assemble(model.description, policy="accept")
    assert_same(model, again)
    assert len(again.geometry) == len(model.geometry)
    for shape in again.geometry:
        alike = [g for g in model.geometry if (g.body, g.kind, g.size) == (shape.body, shape.kind, shape.size)]
        assert sum(np.allclose(shape.X.r, other.X.r, rtol=0, atol=1e-15) for other in alike) == 1
    described = assemble(describe(model), policy="accept")  # what recordings hold
    assert (described.X_tree, described.names) == (model.X_tree, model.names)
    assert described.inertias == model.inertias
    assert from_plain(to_plain(model)).inertias == model.inertias  # a rotor stays where it was on a welded link
    for frame in model.frames.values():
        assert described.frames[frame.name].X.E == frame.X.E
        np.testing.assert_allclose(described.frames[frame.name].X.r, frame.X.r, rtol=0, atol=1e-15)


def test_nobody_can_change_what_was_described() -> None:
    color = [1.0, 0.0, 0.0, 1.0]
    builder = Builder().add_body("a", joint=Revolute("z"), inertia=BALL)
    builder.add_geometry("a", "visual", "sphere", [0.1], color=color)
    color[0] = 0.5
    (link,) = builder.build().description.links
    assert (link.shapes[0].color, link.shapes[0].size) == ((1.0, 0.0, 0.0, 1.0), (0.1,))
    hash(builder.description)


def test_a_description_is_built_as_its_file_is_loaded() -> None:
    path = robots_folder() / "go2_description/urdf/go2.urdf"
    description, findings = read_urdf(path.read_text(), str(path))
    built = build(description, findings=findings, base="free")
    loaded = fw.load(path, base="free")
    assert built.fingerprint == loaded.fingerprint
    assert built.notes == loaded.notes
    assert built.description == loaded.description


def test_everything_tells_where_it_came_from() -> None:
    description, _ = read_urdf(GOOD, "good.urdf")
    lines = GOOD.splitlines()
    for thing in (*description.links, *description.joints, *(s for _, s in description.shapes())):
        assert thing.source.file == "good.urdf"
        tag = thing.source.element.split()[-2 if '"' in thing.source.element.split()[-1] else -1].strip("<>")
        assert f"<{tag}" in lines[thing.line - 1]
    assert description.source == Source("good.urdf", 1, description.source.element)


def test_joints_may_stand_in_any_order_and_types_may_be_any() -> None:
    model = build(ARM)
    assert model.joint_names == ("shoulder", "elbow")
    ball = replace(ARM.joints[0], type="spherical")
    screw = replace(ARM.joints[1], type="screw", kind=Helical("z", 0.1))
    assert build(replace(ARM, joints=(ball, screw))).nq == 5
    with pytest.raises(ModelError, match="type 'slot' is unknown; expected one of revolute"):
        build(replace(ARM, joints=(replace(ball, type="slot"), screw)), policy="warn")


def test_links_and_joints_have_spaces_of_names_of_their_own() -> None:
    joints = (replace(ARM.joints[0], name="lower", mimic=Follow("upper", 2.0)), replace(ARM.joints[1], name="upper"))
    model = build(replace(ARM, joints=joints))
    assert model.joint_names == ("upper", "lower")
    assert repr(model.joint("lower").kind) == "Mimic(Revolute((0.0, 1.0, 0.0)), 'upper', 2.0, 0.0)"
    assert not model.notes


def test_the_world_may_be_a_parent() -> None:
    joint = LinkJoint("slide", "prismatic", "world", "base")
    links = (Link("base", Inertial.of(BALL)), *ARM.links[1:])
    assert build(replace(ARM, links=links, joints=(joint, *ARM.joints))).joint_names == ("slide", "shoulder", "elbow")


def test_frames_and_points_of_a_description() -> None:
    frames = (LinkFrame("tip", "wrist", Origin((0.0, 0.0, 0.1))), LinkFrame("wrist", "lower", Placement((0, 0, 0.2))))
    ball = Shape("collision", None, "sphere", (0.1,))
    links = (*ARM.links[:2], replace(ARM.links[2], shapes=(ball,)))
    model = build(replace(ARM, links=links, frames=frames, points=(LinkPoint("toe", "tip", radius=0.02),)))
    assert [p.name for p in model.contact_points] == ["toe", "lower_contact0"]
    assert np.allclose(model.contact_points[0].position, (0, 0, 0.3))
    with pytest.raises(ModelError, match="the name 'tip' is used already"):
        build(replace(ARM, frames=(*frames, frames[0])))


def test_what_cannot_be_built_is_refused_with_its_place() -> None:
    links = (*ARM.links[:2], Link("lower", Inertial.of(Inertia(0.0)), (), Source("arm.toy", 7, "link lower")))
    with pytest.raises(ModelError) as caught:
        build(replace(ARM, links=links, source=Source("arm.toy")), policy="strict")
    assert str(caught.value).startswith("arm.toy:7: link lower: moves by joint 'elbow' and has mass 0 kg")
    negative = replace(links[2], inertial=Inertial(Origin(), -1.0, (1.0, 0.0, 0.0, 1.0, 0.0, 1.0)))
    with pytest.raises(ModelError, match=r"arm.toy:7: link lower: the mass is negative"):
        build(replace(ARM, links=(*links[:2], negative), source=Source("arm.toy")), policy="strict")
    repaired = build(replace(ARM, links=(*links[:2], negative), source=Source("arm.toy")), policy="repair")
    assert repaired.description.links[2].inertial.mass == 1e-3
    with pytest.raises(ModelError, match=r"^joint 'again': link 'lower' is already the child of joint 'elbow'.*loops"):
        build(replace(ARM, joints=(*ARM.joints, replace(ARM.joints[0], name="again", parent="base"))))
    with pytest.raises(ModelError, match="what its reader found"):
        build(ARM, findings=[Finding("error", 3, "link", "what its reader found")])
    with pytest.raises(TypeError, match="description: expected a featherweight Description, got str"):
        build("arm")
    with pytest.raises(ModelError, match="link 'more': expected a link, and one joint"):
        assemble(replace(branching().description, links=(Link("more"), *branching().description.links)))


def test_loops_are_refused_and_what_is_not_used_is_told() -> None:
    loop = LoopClosure("strut", "point", "base", "lower", Source(None, 9, "<loop>"))
    with pytest.raises(ModelError, match="<loop>: closes a loop") as caught:
        build(replace(ARM, loops=(loop,)), policy="warn")
    assert caught.value.line == 9
    more = replace(
        ARM,
        actuators=(Actuator("motor", "elbow"),),
        sensors=(Sensor("imu", "gyro", "lower"),),
        keyframes=(Keyframe("home", {"elbow": (0.1,)}),),
    )
    model = build(more)
    assert list(model.notes) == [
        "actuator 'motor': is not used",
        "sensor 'imu': is not used",
        "keyframe 'home': is not used",
    ]
    with pytest.raises(ModelError, match=r"model 'arm': URDF has no actuators \(motor\)"):
        to_urdf(model)


def test_a_description_is_written_as_urdf() -> None:
    model = fw.loads(to_urdf(build(ARM)))
    assert model.joint_names == ("shoulder", "elbow")
    assert model.X_tree == build(ARM).X_tree
    with pytest.raises(TypeError, match="robot: expected a featherweight Model or Description, got str"):
        to_urdf("robot")


def test_shapes_of_frames_are_saved() -> None:
    builder = Builder("arm").add_body("a", joint=Revolute("z"), inertia=BALL).add_frame("tool", parent="a")
    builder.add_geometry("tool", "visual", "sphere", (0.1,))
    model = fw.loads(to_urdf(builder.build()))
    assert [(g.link, g.kind) for g in model.geometry] == [("tool", "sphere")]


def test_a_model_with_values_for_its_symbols_is_written_with_them() -> None:
    sympy = pytest.importorskip("sympy")
    m = sympy.Symbol("m", positive=True)
    model = Builder("arm").add_body("a", joint=Revolute("z"), inertia=Inertia.sphere(m, 0.1)).build()
    assert fw.loads(to_urdf(model.with_values({"m": 3.0}))).mass == 3.0
    with pytest.raises(ModelError, match="to_urdf: model 'arm' has symbols"):
        to_urdf(model)
