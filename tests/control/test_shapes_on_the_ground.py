"""Robots that touch the ground with shapes alone are placed on it as those with contact points are."""

from __future__ import annotations

import numpy as np
import pytest

import featherweight as fw
from featherweight.cli.starts import start
from featherweight.contact import Plane
from featherweight.control.limbs import feet_of
from featherweight.dynamics.contact_places import ground_heights

SHAPES = (
    fw.shapes.Sphere(0.1),
    fw.shapes.Capsule(0.05, 0.3),
    fw.shapes.Box((0.2, 0.3, 0.4)),
    fw.shapes.Cylinder(0.2, 0.1),
    fw.shapes.Convex([(0.1, 0.0, 0.0), (0.0, 0.2, 0.0), (0.0, 0.0, 0.3), (-0.1, -0.1, -0.1)]),
)


def thing(shape: fw.shapes.Shape) -> fw.Model:
    builder = fw.Builder("thing").add_body("thing", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(1.0, 0.1))
    return builder.add_geometry("thing", shape, fw.Placement((0.1, -0.2, 0.3), rpy=(0.3, -0.8, 1.1))).build()


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.kind)
def test_the_lowest_part_of_a_shape_is_its_least_height(shape: fw.shapes.Shape) -> None:
    """Beside the distance from a wide box below, which is found in another way."""
    model = thing(shape)
    q = np.array([model.random(np.random.default_rng(k)) for k in range(4)])
    low = fw.scenes.lowest(model, q)
    floor = fw.Builder("floor").add_geometry("world", fw.shapes.Box((40.0, 40.0, 1.0)), fw.Placement((0.0, 0.0, -5.5)))
    world = floor.add_model(model).build()
    for one, height in zip(q, low, strict=True):
        found = fw.distance(world, one, "world", "thing")
        assert height + 5.0 == pytest.approx(found.distance, abs=1e-9)


def test_heights_above_a_slope() -> None:
    model = thing(fw.shapes.Sphere(0.1))
    normal = np.array([0.6, 0.0, 0.8])
    heights = ground_heights(model, fw.forward_kinematics(model, model.neutral()), normal, (0.0, 0.0, -1.0))
    assert heights == pytest.approx([np.array([0.1, -0.2, 1.3]) @ normal - 0.1])


def walker(hip: float = 1.0, knee: float = 1.0) -> fw.Model:
    """Four legs of three hinges, a small cylinder across at the end of each; no contact points. With -1 a hinge turns
    about -y."""
    builder = fw.Builder("walker")
    builder.add_body("trunk", joint=fw.joints.Free(), inertia=fw.Inertia.box(5.0, (0.4, 0.2, 0.1)))
    for name, x, y in (("FL", 0.2, 0.1), ("FR", 0.2, -0.1), ("HL", -0.2, 0.1), ("HR", -0.2, -0.1)):
        parent, place = "trunk", (x, y, 0.0)
        for joint, axis in (("abad", "x"), ("hip", (0.0, hip, 0.0)), ("knee", (0.0, knee, 0.0))):
            link = f"{name}_{joint}_link"
            builder.add_body(
                link, parent=parent, joint=fw.joints.Revolute(axis), joint_name=f"{name}_{joint}",
                placement=fw.Placement(place), inertia=fw.Inertia.box(0.3, (0.03, 0.03, 0.2)),
            )  # fmt: skip
            parent, place = link, (0.0, 0.0, 0.0) if joint == "abad" else (0.0, 0.0, -0.2)
        builder.add_frame(f"{name}_foot", parent=parent, placement=fw.Placement((0.0, 0.0, -0.2)))
        across = fw.Placement(rpy=(np.pi / 2, 0.0, 0.0))
        builder.add_geometry(f"{name}_foot", fw.shapes.Cylinder(0.03, 0.02), across)
    return builder.build()


def test_a_walker_on_cylinders_is_found_its_feet_and_placed() -> None:
    model = walker()
    assert feet_of("trot", model, None, 3) == ("FL_foot", "FR_foot", "HL_foot", "HR_foot")
    q = fw.scenes.crouched(model)
    assert fw.scenes.lowest(model, q) == pytest.approx(0.0, abs=1e-12)
    q = start(model, (), 0.1, (Plane(),))
    assert fw.scenes.lowest(model, q) == pytest.approx(0.1, abs=1e-12)


@pytest.mark.parametrize(("hip", "knee"), [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)])
def test_feet_are_below_the_hips_whichever_way_hinges_turn(hip: float, knee: float) -> None:
    model = walker(hip, knee)
    q = fw.scenes.crouched(model)
    for name in ("FL", "FR", "HL", "HR"):
        foot, top = (fw.frame_pose(model, q, f"{name}_{part}").position for part in ("foot", "hip_link"))
        assert foot[:2] == pytest.approx(top[:2], abs=1e-12)
        assert 0.2 < top[2] - foot[2] < 0.39
