"""Convex hulls as triangles: closed, outward, with the volume that scipy says."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import featherweight as fw
from featherweight.visuals import shapes_of
from featherweight.visuals.hull import hull

BOX = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 2.0) for z in (0.0, 3.0)])


def volume(mesh) -> float:
    a, b, c = np.moveaxis(mesh.vertices[mesh.faces], 1, 0)
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6)


def assert_closed(mesh) -> None:
    """Every edge is walked once in each direction."""
    edges = Counter((int(f[i]), int(f[(i + 1) % 3])) for f in mesh.faces for i in range(3))
    assert set(edges.values()) == {1}
    assert all((b, a) in edges for a, b in edges)


def test_a_box_is_twelve_triangles():
    more = [[0.5, 1.0, 1.5], [0.5, 0.0, 0.0], [0.5, 0.5, 0.0]]  # inside, on an edge, on a face
    mesh = hull(np.concatenate([BOX, more]))
    assert len(mesh.vertices) == 8
    assert len(mesh.faces) == 12
    assert_closed(mesh)
    assert volume(mesh) == pytest.approx(6.0, rel=1e-14)


def prism(n: int) -> np.ndarray:
    turns = 2 * np.pi * np.arange(n) / n
    return np.array([[np.cos(t), np.sin(t), z] for t in turns for z in (-1.0, 1.0)])


@pytest.mark.parametrize("n", [3, 6, 16])
def test_prisms_have_whole_ends(n: int) -> None:
    rotation = np.array(fw.Placement(rpy=(0.3, 0.2, 0.1)).rotation)
    mesh = hull(prism(n) @ rotation.T + 5.0)
    assert len(mesh.vertices) == 2 * n
    assert_closed(mesh)
    assert volume(mesh) == pytest.approx(n * np.sin(2 * np.pi / n), rel=1e-12)


@pytest.mark.parametrize("count", [4, 5, 8, 32, 300])
def test_random_points_have_the_volume_of_scipy(count: int) -> None:
    scipy = pytest.importorskip("scipy.spatial")
    for seed in range(5):
        points = np.random.default_rng(seed).normal(size=(count, 3)) * [1.0, 0.3, 0.05]
        mesh, expected = hull(points), scipy.ConvexHull(points)
        assert len(mesh.vertices) == len(expected.vertices)
        assert_closed(mesh)
        assert volume(mesh) == pytest.approx(expected.volume, rel=1e-12)


def test_a_body_that_only_touches_is_drawn_beside_one_that_is_seen():
    builder = fw.Builder("two")
    for name in ("seen", "felt"):
        builder.add_body(name, joint=fw.joints.Free(), inertia=fw.Inertia.box(1.0, (1, 2, 3)))
    builder.add_geometry("seen", fw.shapes.Sphere(0.5), role="both", color=(1, 0, 0, 1))
    builder.add_geometry("felt", fw.shapes.Convex(BOX), fw.Placement((1, 0, 0)))
    first, second = shapes_of(builder.build())
    assert (first.body, first.color) == (1, (1.0, 0.0, 0.0))
    assert second.body == 2
    assert sorted(second.mesh.vertices.tolist()) == (BOX + np.array([1, 0, 0])).tolist()
