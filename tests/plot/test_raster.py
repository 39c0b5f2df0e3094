"""Triangles as pixels: each whose middle is inside, once, of the nearest triangle, in the light that falls there."""

from __future__ import annotations

import numpy as np
import pytest

from featherweight.plot import raster
from featherweight.plot.facets import facets_of
from featherweight.plot.raster import DepthBuffer
from featherweight.visuals import Mesh, ball, capsule, cylinder
from featherweight.visuals.solids import box


def inside(corners: np.ndarray, x: float, y: float) -> bool:
    """By the signs of areas, as books have it."""
    signs = []
    for (ax, ay), (bx, by) in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        signs.append((bx - ax) * (y - ay) - (by - ay) * (x - ax))
    return min(signs) > 0 or max(signs) < 0


def painted(corners, depth, colors, light=None, size=(24, 32)):
    buffer = DepthBuffer(np.zeros((*size, 3), np.uint8))
    corners, depth = np.asarray(corners, dtype=float), np.asarray(depth, dtype=float)
    buffer.paint(corners, depth, np.asarray(colors, dtype=float), np.ones(depth.shape) if light is None else light)
    return buffer.picture


def test_pixels_are_those_whose_middle_is_inside() -> None:
    rng = np.random.default_rng(0)
    for _ in range(12):
        corners = rng.uniform(-5, 35, (3, 2))
        picture = painted([corners], [[1.0, 1.0, 1.0]], [[1.0, 1.0, 1.0]])
        expected = [[255 * inside(corners, x + 0.5, y + 0.5) for x in range(32)] for y in range(24)]
        np.testing.assert_array_equal(picture[..., 0], expected)


def test_the_nearer_triangle_is_seen_whatever_the_order_and_where_they_cross() -> None:
    """Two that cross: by perspective, 1 / distance is linear across the picture."""
    corners = [[(0, 0), (32, 0), (0, 48)], [(0, 0), (32, 0), (0, 48)]]
    depth = [[1.0, 3.0, 1.0], [2.0, 2.0, 2.0]]
    colors = [[1.0, 0, 0], [0, 0, 1.0]]
    crossing = next(x for x in np.arange(0, 32, 0.01) if 1 + (1 / 3 - 1) * x / 32 < 1 / 2)
    for order in ([0, 1], [1, 0]):
        row = painted(np.array(corners)[order], np.array(depth)[order], np.array(colors)[order])[0]
        assert (row[: int(crossing), 0] == 255).all()
        assert (row[int(crossing) + 1 : 31, 2] == 255).all()


def test_light_is_linear_between_corners() -> None:
    light = np.array([[0.0, 1.0, 0.0]])
    picture = painted([[(0, 0), (32, 0), (0, 24)]], [[1.0, 1.0, 1.0]], [[1.0, 1.0, 1.0]], light)
    np.testing.assert_allclose(picture[0, :30, 0], 255 * (np.arange(30) + 0.5) / 32, atol=1)


def test_neighbours_share_no_pixel_and_leave_none() -> None:
    """A square in many triangles: all of it is painted, and what is painted last hides nothing of the rest."""
    rng = np.random.default_rng(1)
    middle = rng.uniform(8, 16, 2)
    ring = np.array([(2, 2), (9, 2), (22, 2), (22, 13), (22, 22), (8, 22), (2, 22), (2, 7)], dtype=float)
    corners = [(a, b, middle) for a, b in zip(ring, np.roll(ring, -1, axis=0), strict=True)]
    counts = np.zeros((24, 32), int)
    for triangle in corners:
        counts += painted([triangle], [[1.0] * 3], [[1.0] * 3])[..., 0] > 0
    assert (counts[2:22, 2:22] == 1).all()
    assert counts.sum() == 400


def test_many_pixels_are_painted_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    corners, depth, colors = rng.uniform(0, 32, (60, 3, 2)), rng.uniform(1, 2, (60, 3)), rng.random((60, 3))
    whole = painted(corners, depth, colors)
    monkeypatch.setattr(raster, "AT_ONCE", 200)
    np.testing.assert_array_equal(painted(corners, depth, colors), whole)


def test_what_is_behind_the_eye_or_outside_is_not_painted() -> None:
    assert not painted([[(0, 0), (32, 0), (0, 24)]], [[1.0, -1.0, 1.0]], [[1.0] * 3]).any()
    assert not painted([[(-9, -9), (-1, -9), (-1, -1)]], [[1.0] * 3], [[1.0] * 3]).any()
    assert not painted(np.empty((0, 3, 2)), np.empty((0, 3)), np.empty((0, 3))).any()


# ---- what is painted

SOLIDS = {"box": box((1.0, 0.4, 0.2)), "ball": ball(0.3), "cylinder": cylinder(0.1, 1.0), "capsule": capsule(0.1, 0.8)}


@pytest.mark.parametrize("name", SOLIDS)
def test_facets_are_the_surface_of_their_solid_with_normals_outward(name: str) -> None:
    mesh, color = SOLIDS[name], (0.1, 0.2, 0.3)
    facets = facets_of([(3, mesh, color)])
    np.testing.assert_array_equal(facets.corners, mesh.vertices[mesh.faces])
    flat = Mesh(mesh.vertices, mesh.faces).face_normals()
    flat /= np.linalg.norm(flat, axis=1, keepdims=True)
    assert np.einsum("ikj,ij->ik", facets.normals, flat).min() > 0.8
    np.testing.assert_allclose(np.linalg.norm(facets.normals, axis=2), 1.0)
    assert (facets.body == 3).all()
    assert (facets.colors == color).all()


def test_nothing_has_no_facets() -> None:
    assert len(facets_of([]).body) == 0
