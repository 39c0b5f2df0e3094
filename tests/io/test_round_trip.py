"""Load, save, load: the same numbers, to the last bit. And what was built in Python, as far as URDF can say it."""

from __future__ import annotations

import math
import os
import re
import stat
import warnings
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import featherweight as fw
from alike import moves_alike
from featherweight import Builder, Inertia, Limits, ModelError, Placement
from featherweight.joints import Continuous, Free, Helical, Mimic, Planar, Prismatic, Revolute, Universal
from peers.pinocchio_adapter import UNREADABLE, all_urdfs, robots_folder

READABLE = [urdf for urdf in all_urdfs() if urdf not in UNREADABLE]
BALL = Inertia.sphere(1.0, 0.1)


def quiet(path, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fw.load(path, policy="warn", **options)


def everything(model):
    """All a model has, as something that compares: joints are compared by their text, which has all digits."""
    return {
        "name": model.name,
        "dynamics": model.fingerprint,
        "names": model.names,
        "joints": repr(model.joints),
        "limits": [joint.limits for joint in model.joints],
        "frames": dict(model.frames),
        "parts": model.parts,
        "geometry": model.geometry,
        "contact points": model.contact_points,
        "description": described(model.description),
    }


def described(description):
    """The file's own numbers, but for the axes of joints that have none."""
    joints = [replace(j, axis=None) if j.type in ("fixed", "floating") else j for j in description.joints]
    return replace(description, joints=tuple(joints))


def differences(a, b):
    x, y = everything(a), everything(b)
    return [name for name in x if x[name] != y[name]]


def about_bodies(model):
    """The notes on numbers that both files have, without their lines: what was not used is not written."""
    notes = [re.sub(r"^line \d+: ", "", note) for note in model.notes]
    return [note for note in notes if "is not used" not in note]


@pytest.mark.parametrize("urdf", READABLE)
def test_real_robots_come_back_to_the_last_bit(urdf, tmp_path):
    first = quiet(robots_folder() / urdf)
    fw.save_urdf(first, tmp_path / "first.urdf")
    second = quiet(tmp_path / "first.urdf", roots=[robots_folder().parent])
    assert not differences(first, second)
    assert sorted(about_bodies(second)) == sorted(about_bodies(first))
    fw.save_urdf(second, tmp_path / "second.urdf")
    assert (tmp_path / "second.urdf").read_bytes() == (tmp_path / "first.urdf").read_bytes()


def test_68_of_69_robots_are_read():
    """The other one is UNREADABLE: the next test is about it."""
    assert len(all_urdfs()) == 69
    assert len(READABLE) == 68
    assert set(all_urdfs()) - set(READABLE) == set(UNREADABLE) == {"ur_description/urdf/ur3.urdf"}


def test_ur3_is_empty_and_refused_as_pinocchio_refuses_it():
    """The published file has <robot> without a name and nothing in it: what xacro left of a file of macros."""
    path = robots_folder() / "ur_description/urdf/ur3.urdf"
    with pytest.raises(ValueError, match="does not contain a valid URDF model"):
        pin.buildModelFromUrdf(str(path))
    with pytest.raises(ModelError) as caught:
        fw.load(path)
    assert str(caught.value) == f"{path}:6: <robot>: there is no <link>; a robot needs at least one"
    assert (caught.value.file, caught.value.line, caught.value.element) == (str(path), 6, "<robot>")


@pytest.mark.parametrize("base", ["fixed", "free"])
def test_the_base_is_chosen_when_loading(base, tmp_path):
    first = quiet(robots_folder() / "go2_description/urdf/go2.urdf", base=base)
    fw.save_urdf(first, tmp_path / "go2.urdf")
    assert not differences(first, quiet(tmp_path / "go2.urdf", base=base))


# ---- models from Python

BUILT = {
    "pendulum": fw.robots.pendulum(),
    "double_pendulum": fw.robots.double_pendulum(),
    "cartpole": fw.robots.cartpole(),
    "chain": fw.robots.chain(5),
    "mini_cheetah": fw.robots.mini_cheetah(rotors="armature"),
    "humanoid": fw.robots.humanoid(),
}


def back(model, tmp_path, **options):
    fw.save_urdf(model, tmp_path / "robot.urdf")
    return fw.load(tmp_path / "robot.urdf", gravity=model.gravity, **options)


@pytest.mark.parametrize("name", BUILT)
def test_built_in_robots_come_back_with_the_same_dynamics(name, tmp_path):
    model = BUILT[name]
    fw.save_urdf(model, tmp_path / "robot.urdf")
    with warnings.catch_warnings():
        if name == "mini_cheetah":  # the published thigh breaks the triangle inequality by 4 %
            warnings.simplefilter("ignore")
        other = fw.load(tmp_path / "robot.urdf", gravity=model.gravity, policy="warn")
        fw.save_urdf(other, tmp_path / "again.urdf")
        again = fw.load(tmp_path / "again.urdf", gravity=model.gravity, policy="warn")
    moves_alike(model, other)
    assert not differences(other, again)
    for joint in model.joints:
        assert other.joint(joint.name).limits == joint.limits
    points = [(point.name, "sphere") for point in model.contact_points]  # written as balls
    shapes = [(g.link, g.kind) for g in model.geometry]
    assert sorted((g.link, g.kind) for g in other.geometry) == sorted(shapes + points)
    balls = {p.name: (other.names[p.body], p.position, p.radius) for p in other.contact_points}
    for point in model.contact_points:
        body, position, radius = balls[f"{point.name}_contact0"]
        assert (body, radius) == (model.names[point.body], point.radius)
        assert np.allclose(position, point.position, rtol=0, atol=1e-15)


def branching():
    """One joint of each kind, welds between them, geometry, friction, motors."""
    return (
        Builder("branching")
        .add_body("base", joint=Planar("z"), inertia=Inertia.box(3.0, (0.3, 0.2, 0.1)))
        .add_body("mast", parent="base", placement=Placement((0.1, 0.2, 0.3), rpy=(0.4, -0.5, 0.6)), inertia=BALL)
        .add_body(
            "arm", parent="mast", joint=Revolute((1, 2, 3)), placement=Placement((0, 0, 0.2), rpy=(3, 1.5, -3)),
            inertia=Inertia(2.0, (0.1, 0.0, -0.2), [[0.3, 0.01, 0.02], [0.01, 0.4, 0.03], [0.02, 0.03, 0.5]]),
            limits=Limits(-1.0, 2.0, 3.0, 4.0), armature=0.1, damping=0.2, friction=0.3,
        )
        .add_body("slide", parent="arm", joint=Prismatic("x"), inertia=BALL, limits=Limits(-0.1, 0.1))
        .add_body("wheel", parent="arm", joint=Continuous("y"), inertia=BALL, limits=Limits(velocity=9.0))
        .add_body(
            "follower", parent="wheel", joint=Mimic(Revolute("z"), "arm_joint", -1.5, 0.25), inertia=BALL,
            armature=0.4, damping=0.5, friction=0.6,
        )
        .add_body("ball", parent="base", joint=Free(), inertia=BALL)
        .add_geometry("mast", "collision", "box", (0.1, 0.2, 0.3), Placement((0.1, 0, 0), rpy=(0, 0, 1)))
        .add_geometry("arm", "visual", "mesh", (1, 1, -1), mesh="package://arm/arm.stl", color=(1.0, 0.5, 0.0, 1.0))
        .add_geometry("wheel", "collision", "cylinder", (0.1, 0.05))
        .add_geometry("wheel", "visual", "capsule", (0.1, 0.05))
        .add_geometry("ball", "collision", "sphere", (0.1,))
        .build()
    )  # fmt: skip


def test_every_joint_that_urdf_has_comes_back(tmp_path):
    model = branching()
    other = back(model, tmp_path)
    moves_alike(model, other)
    assert [type(j.kind) for j in other.joints] == [type(j.kind) for j in model.joints]
    assert [j.limits for j in other.joints] == [j.limits for j in model.joints]
    for name in ("armature", "damping", "friction"):
        assert np.allclose(
            np.concatenate([getattr(j, name) for j in other.joints]),
            np.concatenate([getattr(j, name) for j in model.joints]),
            rtol=1e-15,
        )
    assert len(other.geometry) == len(model.geometry)
    for ours, theirs in zip(model.geometry, other.geometry, strict=True):
        assert (ours.link, ours.role, ours.kind, ours.size) == (theirs.link, theirs.role, theirs.kind, theirs.size)
        assert (ours.mesh, ours.color) == (theirs.mesh, theirs.color)
        assert np.abs(np.array(ours.X.r) - np.array(theirs.X.r)).max() < 1e-15
        assert np.abs(np.array(ours.X.E) - np.array(theirs.X.E)).max() < 1e-15


@pytest.mark.parametrize("pitch", [math.pi / 2, -math.pi / 2, 0.0, math.pi])
def test_frames_at_right_angles_come_back(pitch, tmp_path):
    builder = Builder()
    for k, roll in enumerate(np.linspace(-3, 3, 7)):
        place = Placement((0.1 * k, 0.2, 0.3), rpy=(roll, pitch, 0.7 - roll))
        builder.add_body(f"b{k}", joint=Revolute("z"), placement=place, inertia=BALL, limits=Limits(-1, 1))
    model = builder.build()
    moves_alike(model, back(model, tmp_path))


CANNOT = {
    "spinning rotors": (fw.robots.mini_cheetah, "URDF has no spinning rotors"),
    "ball joints": (lambda: fw.robots.humanoid(ball_joints=True), "URDF has no joint like"),
    "helical": (lambda: Builder().add_body("b", joint=Helical("z", 0.1), inertia=BALL).build(), "no joint like"),
    "universal": (lambda: Builder().add_body("b", joint=Universal("x", "y"), inertia=BALL).build(), "no joint like"),
    "springs": (
        lambda: Builder().add_body("b", joint=Revolute("z"), stiffness=2.0, inertia=BALL).build(),
        "URDF has no springs",
    ),
}


@pytest.mark.parametrize("what", CANNOT)
def test_what_urdf_cannot_say_is_refused_and_nothing_is_written(what, tmp_path):
    build, message = CANNOT[what]
    model = build()
    with pytest.raises(ModelError, match=message) as caught:
        fw.save_urdf(model, tmp_path / "robot.urdf")
    assert repr(model.name) in str(caught.value)
    assert not list(tmp_path.iterdir())


# ---- the file


NAMES = ["a \"b\" <c> & 'd'", "Größe", "脚", "a b", "x:y", "]]>", "<!--", "%s{}\\n", "-", "0"]


@pytest.mark.parametrize("name", NAMES)
def test_any_name_comes_back(name, tmp_path):
    model = Builder(name).add_body(name, joint=Revolute("z"), inertia=BALL, limits=Limits(-1, 1)).build()
    other = back(model, tmp_path)
    assert (other.name, other.names[1], other.joint_names) == (name, name, (f"{name}_joint",))


@pytest.mark.parametrize("x", [5e-324, 2.2250738585072014e-308, 0.1, 1 / 3, 1e5, 12345.678901234567, -0.0])
def test_every_digit_comes_back(x, tmp_path):
    text = f"""<robot name="r"><link name="a"/><link name="b"><inertial><origin xyz="{x!r} 0 0"/><mass value="1"/>
      <inertia ixx="1" iyy="1" izz="1"/></inertial></link>
      <joint name="j" type="prismatic"><origin xyz="0 {x!r} 0"/><parent link="a"/><child link="b"/>
      <limit lower="-1e99" upper="{abs(x)!r}"/></joint></robot>"""
    model = fw.loads(text)
    fw.save_urdf(model, tmp_path / "robot.urdf")
    other = fw.load(tmp_path / "robot.urdf")
    assert not differences(model, other)
    assert model.X_tree[1].r.y == x
    assert str(other.description.joints[0].origin.xyz[1]) == str(x)  # -0.0 too
    assert other.joints[0].limits.upper == (abs(x),)


def test_saving_replaces_a_file_and_leaves_nothing_beside_it(tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_text("old")
    fw.save_urdf(fw.robots.cartpole(), path)
    assert fw.load(path).nv == 2
    assert [p.name for p in tmp_path.iterdir()] == ["robot.urdf"]


def test_saving_to_a_symbolic_link_replaces_what_it_leads_to(tmp_path):
    real, link = tmp_path / "real.urdf", tmp_path / "link.urdf"
    real.write_text("old")
    link.symlink_to(real)
    fw.save_urdf(fw.robots.cartpole(), link)
    assert link.is_symlink()
    assert fw.load(real).nv == 2
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.urdf", "real.urdf"]


def test_paths_to_save_to_may_be_text_or_path_or_bytes(tmp_path):
    for k, kind in enumerate((str, os.fsencode, lambda path: path)):
        path = tmp_path / f"robot{k}.urdf"
        fw.save_urdf(fw.robots.cartpole(), kind(path))
        assert fw.load(kind(path)).nv == 2


def test_a_built_model_that_could_not_be_read_again_is_not_saved(tmp_path):
    far = Builder("far").add_body("b", joint=Revolute("z"), placement=Placement((1e6, 0, 0)), inertia=BALL).build()
    with pytest.raises(ModelError, match=r"model 'far' cannot be saved as URDF: .*1000000.0 is too large"):
        fw.save_urdf(far, tmp_path / "robot.urdf")
    assert not list(tmp_path.iterdir())


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "robot.urdf"
    path.write_text("old")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        fw.save_urdf(fw.robots.cartpole(), path)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["robot.urdf"]


def test_a_saved_file_is_not_executable(tmp_path):
    fw.save_urdf(fw.robots.cartpole(), tmp_path / "robot.urdf")
    assert not stat.S_IMODE((tmp_path / "robot.urdf").stat().st_mode) & 0o111


@pytest.mark.parametrize("model", [None, "robot", 3])
def test_only_models_are_saved(model, tmp_path):
    with pytest.raises(TypeError, match=f"model: expected a featherweight Model, got {type(model).__name__}"):
        fw.save_urdf(model, tmp_path / "robot.urdf")
