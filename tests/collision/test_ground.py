"""Shapes above planes and other surfaces: the lowest points, against sampling of the shapes' surfaces."""

import numpy as np
import pytest

from collision.placing import SHAPES, flat, kernel, numbers, placed, rotations, transform, unpacked
from featherweight.collision import Placed, ground_touch_count, ground_touches
from featherweight.compiler import Lanes
from featherweight.contact.surfaces import Box as BoxSurface
from featherweight.contact.surfaces import Plane
from featherweight.shapes import Box, Convex, Cylinder
from featherweight.spatial import Vector

N = 500
LARGE = Convex(np.random.default_rng(9).normal(size=(60, 3)) * [0.2, 0.3, 0.1])
ALL = {**SHAPES, "large": LARGE}


def lowest(shape, R, p, normal, offset):
    """Height of the shape's lowest point above a plane, by its support function in NumPy."""
    d = -np.einsum("nji,j->ni", R, normal)
    if shape.kind == "sphere":
        reach = np.full(len(p), shape.radius)
    elif shape.kind == "capsule":
        reach = shape.radius + shape.length / 2 * abs(d[:, 2])
    elif shape.kind == "box":
        reach = np.abs(d) @ np.array(shape.sizes) / 2
    elif shape.kind == "cylinder":
        reach = shape.radius * np.hypot(d[:, 0], d[:, 1]) + shape.length / 2 * abs(d[:, 2])
    else:
        reach = (d @ np.array(shape.points).T).max(axis=1)
    return p @ normal - offset - reach


@pytest.mark.parametrize("name", ALL)
def test_the_lowest_point_is_found(name):
    rng = np.random.default_rng(1)
    shape, R, p = ALL[name], rotations(rng, N), rng.normal(size=(N, 3))
    plane = Plane(normal=(0.3, -0.2, 0.9), point=(0.1, 0.0, 0.2))
    found = ground_touches(Placed(shape, transform(R, p)), plane.height)
    assert len(found) == ground_touch_count(shape)
    gap, normal, point = unpacked(found, N)
    assert np.abs(gap.min(axis=1) - lowest(shape, R, p, np.array(plane.normal), plane.offset)).max() < 1e-13
    assert np.abs(normal - plane.normal).max() < 1e-15
    # each point is the middle between a point of the surface and one of the shape
    assert np.abs(np.einsum("nki,i->nk", point, plane.normal) - plane.offset - gap / 2).max() < 1e-13


def test_a_box_touches_with_its_four_lowest_corners():
    rng = np.random.default_rng(2)
    box, R, p = Box((0.5, 0.8, 0.3)), rotations(rng, N), rng.normal(size=(N, 3))
    gap, _, _ = unpacked(ground_touches(Placed(box, transform(R, p)), Plane().height), N)
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) / 2
    heights = np.sort(p[:, 2:] + np.einsum("ni,ki->nk", R[:, 2], signs * box.sizes), axis=1)
    assert np.abs(np.sort(gap, axis=1) - heights[:, :4]).max() < 1e-14


def test_a_cylinder_that_lies_stands_or_rolls():
    turn = lambda angle: np.array(  # noqa: E731
        [[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]]
    )
    angles = np.concatenate([np.linspace(0, np.pi, 181), [1e-8, 1e-6, 1e-5, 1e-4, 1e-3]])
    R, p = np.array([turn(x) for x in angles]), np.tile([0.2, 0.1, 0.5], (len(angles), 1))
    cylinder = Cylinder(0.3, 0.4)
    gap, _, point = unpacked(ground_touches(Placed(cylinder, transform(R, p)), Plane().height), len(angles))
    low = lowest(cylinder, R, p, np.array([0, 0, 1.0]), 0.0)
    assert np.abs(gap.min(axis=1) - low).max() < 3e-6 * 0.3  # nearly upright: within the slope that keeps its points
    assert np.abs(gap.min(axis=1) - low)[np.abs(np.sin(angles)) > 2e-3].max() < 1e-14
    # standing: four points around the face, all at its height
    assert np.abs(gap[0] - 0.3).max() < 1e-15
    assert np.linalg.matrix_rank(point[0] - point[0].mean(axis=0), tol=0.1) == 2
    assert np.abs(point[0].mean(axis=0)[:2] - [0.2, 0.1]).max() < 1e-15
    # lying: both rims touch, the others do not
    assert np.sort(gap[90]) == pytest.approx([0.2, 0.2, 0.5, 0.5], abs=1e-15)
    # rolling about its axis changes nothing
    spin = np.array(
        [turn(np.pi / 2) @ [[np.cos(x), -np.sin(x), 0], [np.sin(x), np.cos(x), 0], [0, 0, 1]] for x in angles]
    )
    rolled = unpacked(ground_touches(Placed(cylinder, transform(spin, p)), Plane().height), len(angles))
    assert np.abs(rolled[0] - gap[90]).max() < 1e-15
    assert np.abs(rolled[2][:, :2] - point[90, :2]).max() < 1e-15


def test_points_of_a_standing_cylinder_stay_where_they_are_in_the_body():
    """However it sways by less than rounding lets it stand: else its contacts would run around the rim."""
    cylinder, places = Cylinder(0.3, 0.6), []
    for toward in np.linspace(0, 2 * np.pi, 7):
        axis, tilt = np.array([np.cos(toward), np.sin(toward), 0.0]), 1e-8
        x, y, z = np.cross(axis, -np.eye(3)) * tilt + np.eye(3)
        R = np.array([x, y, z])
        found = ground_touches(Placed(cylinder, transform(R, np.array([0.0, 0.0, 0.3]))), Plane().height)
        places.append([R.T @ [*touch.point] for touch in found])
    assert np.ptp(np.array(places), axis=0).max() < 0.3 * 0.01


def test_a_large_hull_lies_on_points_that_hold_it():
    rng = np.random.default_rng(3)
    ring = [[np.cos(x), np.sin(x), z] for z in (-0.2, 0.2) for x in np.linspace(0, 2 * np.pi, 24, endpoint=False)]
    drum = Convex(ring)
    (found,) = [ground_touches(Placed(drum, transform(np.eye(3), rng.normal(size=3) * [1, 1, 0])), Plane().height)]
    x = np.array([t.point for t in found])
    assert [t.gap for t in found] == pytest.approx([-0.2] * 4, abs=1e-15)
    e, f = x[1] - x[0], x[3] - x[2]
    area = 0.5 * abs(e[0] * f[1] - e[1] * f[0])
    assert area > 1.9  # of a circle's inscribed square: 2


def test_any_surface_will_do():
    """Only one corner of the box is above the block."""
    block = BoxSurface(size=(0.2, 0.2, 1.0))
    box = Placed(Box((1.0, 1.0, 0.1)), transform(np.eye(3), [0.45, 0.45, 0.54]))
    gaps = [t.gap for t in ground_touches(box, block.height)]
    assert min(gaps) == pytest.approx(-0.01)
    assert sum(g < 0 for g in gaps) == 1


@pytest.mark.parametrize("name", ALL)
def test_compiled_interpreted_and_floats_agree(name):
    rng = np.random.default_rng(4)
    shape, count = ALL[name], ground_touch_count(ALL[name])
    plane = Plane(normal=(0.3, -0.2, 0.9))
    x = numbers(rotations(rng, 9), rng.normal(size=(9, 3)))

    def function(scalars, lift):
        own = Vector(*map(lift, plane.normal))
        return flat(ground_touches(placed(shape.lifted(lift), scalars), lambda p: (own.dot(p), own)))

    native = kernel(function, 7 * count, 12)
    (packed,) = native(x)
    alone = np.array([native(row)[0] for row in x])
    assert np.array_equal(packed, alone)
    floats = np.array([function(row.tolist(), float) for row in x])
    lanes = np.array(
        [
            np.broadcast_to(y.values if isinstance(y, Lanes) else y, 9)
            for y in function([Lanes(c) for c in x.T.copy()], float)
        ]
    ).T
    assert np.abs(packed - floats).max() < 1e-13
    assert np.abs(lanes - floats).max() < 1e-13


def test_kinds_nobody_knows_are_refused():
    class Torus(Box):
        kind = "torus"

    with pytest.raises(TypeError, match="torus and the ground"):
        ground_touch_count(Torus((1, 1, 1)))
