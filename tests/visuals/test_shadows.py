"""Shadows lie on the ground, where the sun throws them: their polygons are those of the projected hulls."""

from __future__ import annotations

import numpy as np
import pytest

import featherweight as fw
from featherweight.spatial import Vector
from featherweight.visuals.hull import hull
from featherweight.visuals.shadows import EDGES, HIGH, LOW, RINGS, Shadows
from featherweight.visuals.shapes import DrawnShape
from featherweight.visuals.solids import ball, box, capsule

SUN = (2.0, -3.0, 6.0)
RED = (1.0, 0.0, 0.0)
ROTATION = np.tile(np.eye(3), (3, 1, 1))
POSITION = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 4.0], [-1.0, 2.0, 2.0]])


def area(corners: np.ndarray) -> float:
    """Of a polygon with corners in turn (n, 2)."""
    x, y = corners.T
    return 0.5 * float(x @ np.roll(y, -1) - y @ np.roll(x, -1))


def corners_of(vertices: np.ndarray, shape: int) -> np.ndarray:
    """The polygon of one shape on a plane (EDGES, 3)."""
    return vertices.reshape(-1, 1 + EDGES, 3)[shape, 1:]


def test_a_box_throws_its_corners_along_the_sun() -> None:
    shadows = Shadows([DrawnShape(1, box((2.0, 2.0, 2.0)), RED)], [fw.contact.Plane()], SUN, 1.0)
    corners = corners_of(shadows.at(ROTATION, POSITION), 0)
    box_corners = POSITION[1] + np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    thrown = box_corners[:, :2] - box_corners[:, 2:] / 6.0 * [2.0, -3.0]
    assert {tuple(np.round(c, 9)) for c in corners[:, :2]} <= {tuple(np.round(c, 9)) for c in thrown}
    np.testing.assert_allclose(corners[:, :2].min(axis=0), thrown.min(axis=0))
    np.testing.assert_allclose(corners[:, :2].max(axis=0), thrown.max(axis=0))
    square = 4.0 + 2.0 * 2.0 / 6.0 * (2.0 + 3.0)  # a square that was swept along a way of 2 / 6 (2, 3)
    assert area(corners[:, :2]) == pytest.approx(square)


@pytest.mark.parametrize("mesh", [ball(0.5, 24), capsule(0.1, 1.0, 16)], ids=["ball", "capsule"])
def test_a_polygon_is_nearly_the_hull_of_what_is_thrown(mesh: object) -> None:
    turn = np.array([[0.8, 0.0, 0.6], [0.0, 1.0, 0.0], [-0.6, 0.0, 0.8]])
    shadows = Shadows([DrawnShape(2, mesh, RED)], [fw.contact.Plane()], SUN, 1.0)
    corners = corners_of(shadows.at(ROTATION @ turn, POSITION), 0)[:, :2]
    world = mesh.vertices @ turn.T + POSITION[2]
    thrown = world[:, :2] - world[:, 2:] / 6.0 * [2.0, -3.0]
    flat = np.concatenate([np.column_stack([thrown, np.full(len(thrown), z)]) for z in (0.0, 1.0)])
    solid = hull(flat)
    a, b, c = np.moveaxis(solid.vertices[solid.faces], 1, 0)
    exact = float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6)  # a prism of height 1
    assert 0.85 * exact < area(corners) <= exact * (1 + 1e-9)


def test_polygons_of_several_lie_above_each_other_the_first_highest() -> None:
    shapes = [DrawnShape(1, ball(0.5), RED), DrawnShape(2, ball(0.5), RED), DrawnShape(2, ball(0.2), RED)]
    vertices = Shadows(shapes, [fw.contact.Plane(point=(0.0, 0.0, 0.3))], SUN, 2.0).at(ROTATION, POSITION)
    heights = [corners_of(vertices, k)[:, 2] - 0.3 for k in range(3)]
    np.testing.assert_allclose(np.array(heights), np.repeat([[2 * HIGH], [HIGH + LOW], [2 * LOW]], EDGES, axis=1))


def test_on_a_slope_they_lie_in_its_plane() -> None:
    slope = fw.contact.Plane((0.2, -0.1, 1.0), (0.0, 0.0, 0.4))
    vertices = Shadows([DrawnShape(1, ball(0.5), RED)], [slope], SUN, 1.0).at(ROTATION, POSITION)
    vertices[:, 2] -= HIGH
    np.testing.assert_allclose([slope.height(Vector(*v))[0] for v in vertices], 0.0, atol=1e-12)
    sun, n = np.array(SUN), np.array(slope.normal)
    middle = POSITION[1] - sun * (POSITION[1] @ n - slope.offset) / (sun @ n)
    np.testing.assert_allclose(vertices[0], middle, atol=0.02)


def test_on_rolling_ground_every_vertex_is_on_it() -> None:
    field = fw.contact.Heightfield(0.1 * np.random.default_rng(0).normal(size=(20, 30)), 0.25, (-2.0, -3.0))
    shadows = Shadows([DrawnShape(1, box((1.0, 1.0, 1.0)), RED)], [field], SUN, 1.0)
    vertices = shadows.at(ROTATION, POSITION)
    assert len(vertices) == 1 + RINGS * EDGES
    np.testing.assert_allclose([field.height(Vector(*(v - [0, 0, HIGH])))[0] for v in vertices], 0.0, atol=1e-12)
    assert shadows.faces.max() == len(vertices) - 1
    a, b, c = np.moveaxis(vertices[shadows.faces][..., :2], 1, 0)
    turned = np.cross(np.append(b - a, np.zeros((len(a), 1)), 1), np.append(c - a, np.zeros((len(a), 1)), 1))[:, 2]
    assert (turned >= -1e-12).all(), "none is turned over"


@pytest.mark.parametrize("surfaces", [[], [fw.contact.Plane((1.0, 0.0, 0.0))], [fw.contact.Sphere()]])
def test_without_a_floor_there_are_none(surfaces: list[fw.contact.Surface]) -> None:
    shadows = Shadows([DrawnShape(1, ball(0.5), RED)], surfaces, SUN, 1.0)
    assert shadows.at(ROTATION, POSITION).shape == (0, 3)
    assert shadows.faces.shape == (0, 3)
