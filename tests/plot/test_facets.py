"""The pieces that robots are painted of: the same surface as the triangles, whatever is joined and cut."""

from __future__ import annotations

import numpy as np
import pytest

from featherweight.plot.facets import cut, facets_of
from featherweight.visuals import Mesh, ball, capsule, cylinder
from featherweight.visuals.solids import box

SOLIDS = {"box": box((1.0, 0.4, 0.2)), "ball": ball(0.3), "cylinder": cylinder(0.1, 1.0), "capsule": capsule(0.1, 0.8)}
COLOR = (0.1, 0.2, 0.3)


def areas(corners: np.ndarray) -> np.ndarray:
    """Vectors along the normals, as long as the areas of flat quads (…, 4, 3)."""
    return np.cross(corners[:, 2] - corners[:, 0], corners[:, 3] - corners[:, 1]) / 2


def triangles(mesh: Mesh) -> np.ndarray:
    a, b, c = np.swapaxes(mesh.vertices[mesh.faces], 0, 1)
    return np.cross(b - a, c - a) / 2


@pytest.mark.parametrize("name", SOLIDS)
def test_facets_are_the_surface_of_their_solid(name: str) -> None:
    """Of its area in every direction, and around its volume: nothing is lost, added twice or turned around."""
    mesh = SOLIDS[name]
    whole = facets_of([(3, mesh, COLOR)])
    for facets in (whole, cut(whole, 0.05)):
        area, old = areas(facets.corners), triangles(mesh)
        size = np.linalg.norm(area, axis=1)
        np.testing.assert_allclose(size.sum(), np.linalg.norm(old, axis=1).sum())
        np.testing.assert_allclose(area / size[:, None], facets.normals, atol=1e-6)
        inside = np.einsum("ij,ij->i", facets.corners[:, 0], area).sum()
        np.testing.assert_allclose(inside, np.einsum("ij,ij->i", mesh.vertices[mesh.faces[:, 0]], old).sum())
        assert (facets.body == 3).all()
        assert (facets.colors == COLOR).all()


def test_pairs_of_triangles_are_quads() -> None:
    """Six of a box; around a cylinder twelve, and two times twelve triangles of its ends."""
    assert len(facets_of([(1, SOLIDS["box"], COLOR)]).body) == 6
    assert len(facets_of([(1, SOLIDS["cylinder"], COLOR)]).body) == 36


def test_only_what_is_flat_and_convex_is_joined() -> None:
    corners = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 1, 0.5], [0.6, 0.4, 0], [2, 2, 0]], dtype=float)
    pairs = {(3,): 1, (4,): 2, (5,): 2, (6,): 2}  # a square; bent; an arrow; a triangle of two, with no corner at 2
    for (d,), count in pairs.items():
        assert len(facets_of([(1, Mesh(corners, np.array([(0, 1, 2), (0, 2, d)])), COLOR)]).body) == count
    fan = np.array([(0, 1, 2), (0, 2, 3), (0, 3, 4)])
    flat = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0.5, 1.5, 0], [0, 1, 0]], dtype=float)
    area = areas(facets_of([(1, Mesh(flat, fan), COLOR)]).corners)
    np.testing.assert_allclose(area.sum(axis=0), triangles(Mesh(flat, fan)).sum(axis=0))


def test_pieces_are_short() -> None:
    for mesh in SOLIDS.values():
        corners = cut(facets_of([(1, mesh, COLOR)]), 0.05).corners
        assert np.linalg.norm(np.roll(corners, 1, axis=1) - corners, axis=-1).max() <= 0.05


def test_nothing_has_no_facets() -> None:
    assert len(cut(facets_of([]), 0.1).body) == 0
