"""A model as plain data: JSON and back gives the same robot; anything else is refused."""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np
import pytest

import featherweight as fw
from featherweight.io import from_plain, to_plain
from joints.kinds import JOINTS

INERTIA = fw.Inertia(1.5, (0.01, -0.02, 0.1), [[0.02, 0.001, 0], [0.001, 0.03, 0.002], [0, 0.002, 0.025]])


def again(model: fw.Model) -> fw.Model:
    return from_plain(json.loads(json.dumps(to_plain(model), allow_nan=False)))


def assert_same(a: fw.Model, b: fw.Model) -> None:
    """Every number has the same bits; 0 and 0.0 are the same."""
    assert (a.name, a.names, a.parent, a.joint_names) == (b.name, b.names, b.parent, b.joint_names)
    assert (a.X_tree, a.inertias, a.gravity_vector) == (b.X_tree, b.inertias, b.gravity_vector)
    assert list(a.frames) == list(b.frames)
    for name, frame in a.frames.items():
        other = b.frames[name]
        assert (frame.body, frame.X.E) == (other.body, other.X.E)
        np.testing.assert_allclose(other.X.r, frame.X.r, rtol=0, atol=1e-15)
    assert [(p.name, p.body, p.radius) for p in a.contact_points] == [
        (p.name, p.body, p.radius) for p in b.contact_points
    ]
    assert list(a.parameters) == list(b.parameters)
    for j, k in zip(a.joints, b.joints, strict=True):
        assert repr(j.kind) == repr(k.kind)
        for name in (
            "q",
            "v",
            "limits",
            "armature",
            "damping",
            "friction",
            "stiffness",
            "rest",
            "rotor_inertia",
            "spin",
        ):
            assert getattr(j, name) == getattr(k, name), (j.name, name)


@pytest.mark.parametrize(
    "model",
    [
        fw.robots.mini_cheetah(),
        fw.robots.mini_cheetah(rotors="armature", points="feet", parameters=("body.mass", "gravity")),
        fw.robots.humanoid(),
        fw.robots.humanoid(ball_joints=True),
        fw.robots.cartpole(),
        fw.robots.chain(30),
    ],
    ids=lambda model: model.name,
)
def test_built_in_robots_come_back(model: fw.Model) -> None:
    assert_same(model, again(model))


@pytest.mark.parametrize("kind", [kind for kind in JOINTS if "mimic" not in kind and "fixed" not in kind])
def test_every_kind_of_joint_comes_back(kind: str) -> None:
    builder = fw.Builder("one", gravity=(0.1, 0.2, -9.0))
    builder.add_body("a", joint=JOINTS[kind], inertia=INERTIA, placement=fw.Placement((1, 2, 3), rpy=(0.1, 0.2, 0.3)))
    builder.add_body("welded", parent="a", placement=fw.Placement((0, 0, 1), rpy=(0.4, 0, 0)), inertia=INERTIA)
    builder.add_frame("tool", parent="welded", placement=fw.Placement((0, 0.1, 0)))
    builder.add_contact_point("tip", parent="tool", position=(0, 0, 0.3), radius=0.02)
    model = builder.build()
    assert_same(model, again(model))


def test_everything_a_joint_may_have_comes_back() -> None:
    rotor = fw.Rotor(
        6.0, fw.Inertia(0.05, (0, 0, 0), (3e-5, 3e-5, 6e-5)), fw.Placement((0, 0.1, 0), rpy=(0.3, 0, 0)), "z"
    )
    model = (
        fw.Builder("arm")
        .add_body("base", joint=fw.joints.Free(), inertia=INERTIA)
        .add_body(
            "a", parent="base", joint=fw.joints.Revolute("z"), inertia=INERTIA, joint_name="first", rotor=rotor,
            limits=fw.Limits(-1.0, np.inf, 3.0, 20.0), damping=0.1, friction=0.2, stiffness=3.0, rest=0.4,
            armature=0.01,
        )
        .add_body(
            "b", parent="a", joint=fw.joints.Mimic(fw.joints.Prismatic("y"), "first", ratio=2.0, offset=0.5),
            inertia=INERTIA, damping=0.25, stiffness=4.0, rest=1.0, armature=0.5,
        )
        .build()
    )  # fmt: skip
    assert_same(model, again(model))


def test_shapes_come_back_without_where_meshes_are() -> None:
    builder = fw.Builder("one").add_body("a", joint=fw.joints.Revolute("z"), inertia=INERTIA)
    builder.add_geometry("a", "visual", "box", (1, 2, 3), fw.Placement((1, 0, 0)), color=(1, 0, 0, 1))
    builder.add_geometry("a", "visual", "mesh", (1, 1, 1), mesh="package://robot/a.stl", path="secret/a.stl")
    model = builder.build()
    loaded = again(model)
    assert loaded.geometry == model.geometry
    assert [shape.path for shape in loaded.geometry] == [None, None]
    assert "secret" not in json.dumps(to_plain(model))


def test_joints_of_other_packages_stay_behind() -> None:
    class Own(fw.joints.Revolute):
        pass

    assert to_plain(fw.Builder("one").add_body("a", joint=Own("z"), inertia=INERTIA).build()) is None


def places(data: Any, path: tuple = ()) -> list[tuple]:
    found = [path]
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        found += places(value, (*path, key))
    return found


def test_damaged_data_is_refused_or_makes_a_model_that_passes_the_builder() -> None:
    whole = to_plain(fw.robots.mini_cheetah())
    rng, where = np.random.default_rng(0), places(whole)[1:]
    wrong = (None, -1, 1e400, "x", [], {}, True, [[1e9]], "Joint", "world", float("nan"))
    refused = 0
    for _ in range(400):
        data = copy.deepcopy(whole)
        path = where[rng.integers(len(where))]
        target = data
        for key in path[:-1]:
            target = target[key]
        target[path[-1]] = wrong[rng.integers(len(wrong))]
        try:
            from_plain(data)
        except fw.ModelError:
            refused += 1
    assert refused > 200


@pytest.mark.parametrize("data", [None, 3, "text", [], {}, {"name": "a"}, {"name": 1, "gravity": 2, "parameters": 3}])
def test_what_is_no_model_is_refused(data: Any) -> None:
    with pytest.raises(fw.ModelError, match="not a model as plain data"):
        from_plain(data)
