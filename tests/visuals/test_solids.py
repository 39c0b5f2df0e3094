"""Solids are closed, look outward and have the volume of their formulas; the ground lies where contact feels it."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import featherweight as fw
from featherweight.spatial import Vector
from featherweight.visuals import Mesh, terrain_of
from featherweight.visuals.solids import ball, box, capsule, cylinder


def volume(mesh: Mesh) -> float:
    a, b, c = np.swapaxes(mesh.vertices[mesh.faces], 0, 1)
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6)


def edges(mesh: Mesh) -> Counter:
    """Edges by their ends, so that vertices at one place count as one."""
    keys = [tuple(np.round(v, 9)) for v in mesh.vertices]
    return Counter((keys[f[i]], keys[f[(i + 1) % 3]]) for f in mesh.faces for i in range(3))


SOLIDS = {
    "box": (box((0.2, 0.3, 0.4)), 0.024),
    "ball": (ball(0.5, 64), 4 / 3 * np.pi * 0.125),
    "ellipsoid": (ball(np.array([0.1, 0.2, 0.3]), 64), 4 / 3 * np.pi * 0.006),
    "cylinder": (cylinder(0.1, 2.0, 64), np.pi * 0.02),
    "capsule": (capsule(0.1, 2.0, 64), np.pi * 0.02 + 4 / 3 * np.pi * 1e-3),
}


@pytest.mark.parametrize("name", SOLIDS)
def test_a_solid_is_closed_and_has_its_volume(name: str) -> None:
    mesh, expected = SOLIDS[name]
    assert volume(mesh) == pytest.approx(expected, rel=6e-3)  # positive: the faces look outward
    found = edges(mesh)
    assert all(found[b, a] == n for (a, b), n in found.items()), "every edge has its counterpart"


def test_a_capsule_reaches_one_radius_beyond_its_ends() -> None:
    vertices = capsule(0.1, 2.0).vertices
    np.testing.assert_allclose([vertices[:, 2].min(), vertices[:, 2].max()], [-1.1, 1.1])


@pytest.mark.parametrize(
    "surface",
    [
        fw.contact.Plane((0.2, -0.1, 1.0), (0, 0, 0.3)),
        fw.contact.Box((1.0, 0.5, 0.2), fw.Placement((1, 2, 3), rpy=(0.3, 0.2, 0.1))),
        fw.contact.Sphere((1, 2, 3), 0.7),
        fw.contact.Heightfield(np.random.default_rng(0).normal(size=(20, 30)), 0.25, (-1, 2)),
    ],
    ids=lambda surface: type(surface).__name__,
)
def test_the_drawn_ground_is_where_contact_feels_it(surface: fw.contact.Surface) -> None:
    (ground,) = terrain_of([surface], np.array([0.5, -0.2, 1.0]), 4.0)
    heights = [float(surface.height(Vector(*vertex))[0]) for vertex in ground.mesh.vertices]
    np.testing.assert_allclose(heights, 0.0, atol=1e-12)


def test_a_large_heightfield_is_thinned() -> None:
    (ground,) = terrain_of([fw.contact.Heightfield(np.zeros((1000, 700)))], np.zeros(3), 1.0)
    assert len(ground.mesh.vertices) <= 150 * 150
    np.testing.assert_array_equal(ground.mesh.vertices.max(axis=0), [999.0, 699.0, 0.0])
