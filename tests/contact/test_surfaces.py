"""Signed distance, normal and frame of every surface, against a search for the nearest point."""

from __future__ import annotations

import numpy as np
import pytest

import featherweight as fw
from featherweight.contact import Box, Heightfield, Plane, Sphere
from featherweight.contact.surfaces import frame
from featherweight.spatial import Vector

RNG = np.random.default_rng(0)
TURNED = fw.Placement((0.3, -0.2, 0.5), rpy=(0.3, -0.7, 1.1))


def at(surface, p) -> tuple[float, np.ndarray]:
    height, n = surface.height(Vector(*map(float, p)))
    return float(height), np.array([float(x) for x in n])


@pytest.mark.parametrize(
    "surface",
    [
        Plane(normal=(1, 2, 3), point=(0.1, 0, 0)),
        Sphere(center=(0.1, 0.2, 0.3), radius=0.7),
        Box(size=(1, 2, 0.5), placement=TURNED),
    ],
    ids=["plane", "sphere", "box"],
)
def test_the_distance_has_slope_one_along_the_normal(surface) -> None:
    for p in RNG.uniform(-2, 2, (300, 3)):
        height, n = at(surface, p)
        assert np.linalg.norm(n) == pytest.approx(1.0, abs=1e-12)
        step = 1e-6
        assert at(surface, p + step * n)[0] - height == pytest.approx(step, rel=1e-5)
        if height > 0:  # the foot of the point lies on the surface
            assert at(surface, p - height * n)[0] == pytest.approx(0.0, abs=1e-9)


def test_a_box_on_every_face_edge_and_corner() -> None:
    box = Box(size=(2.0, 4.0, 6.0))
    half = np.array([1.0, 2.0, 3.0])
    for sides in np.ndindex(3, 3, 3):
        side = np.array(sides) - 1
        if not side.any():
            continue
        p = side * (half + 0.3)
        height, n = at(box, p)
        assert height == pytest.approx(0.3 * np.linalg.norm(side))
        np.testing.assert_allclose(n, side / np.linalg.norm(side), atol=1e-12)
    for axis in range(3):
        for sign in (-1, 1):
            p = np.array([0.1, 0.2, 0.3])
            p[axis] = sign * (half[axis] - 0.05)
            height, n = at(box, p)
            assert height == pytest.approx(-0.05)
            assert n[axis] == sign


def test_surfaces_are_of_unit_size_at_the_origin_if_nothing_is_said() -> None:
    """A plane and a field through it, a ball and a block around it."""
    p = (0.0, 0.0, 2.0)
    assert [at(surface(), p)[0] for surface in (Plane, Heightfield, Sphere, Box)] == [2.0, 2.0, 1.0, 1.5]
    assert [at(Box(), axis)[0] for axis in 3.0 * np.eye(3)] == [2.5, 2.5, 2.5]


def test_the_frame_is_right_handed_in_every_direction() -> None:
    normals = [*RNG.normal(size=(500, 3)), *np.eye(3), *-np.eye(3), (0, 1e-200, -1), (1e-9, 0, -1)]
    for normal in normals:
        n = np.array(normal, dtype=float) / np.linalg.norm(normal)
        R = np.array([[float(x) for x in row] for row in frame(Vector(*n.tolist()))])
        np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-12)
        assert np.linalg.det(R) == pytest.approx(1.0)
        np.testing.assert_allclose(R[0], n)


def test_a_heightfield_is_bilinear_and_goes_on_beyond_its_edges() -> None:
    heights = RNG.uniform(-0.2, 0.2, (5, 7))
    field = Heightfield(heights, spacing=0.5, origin=(-1.0, 0.5))
    for i in range(4):
        for j in range(6):
            u, w = RNG.uniform(0.01, 0.99, 2)
            x, y = -1.0 + 0.5 * (i + u), 0.5 + 0.5 * (j + w)
            a, b, c, d = heights[i, j], heights[i + 1, j], heights[i, j + 1], heights[i + 1, j + 1]
            ground = (1 - u) * (1 - w) * a + u * (1 - w) * b + (1 - u) * w * c + u * w * d
            height, n = at(field, (x, y, ground))
            assert height == pytest.approx(0.0, abs=1e-12)
            assert np.linalg.norm(n) == pytest.approx(1.0)
            slope = (((b - a) * (1 - w) + (d - c) * w) / 0.5, ((c - a) * (1 - u) + (d - b) * u) / 0.5)
            np.testing.assert_allclose(-n[:2] / n[2], slope, atol=1e-12)
    assert at(field, (-9.0, -9.0, heights[0, 0]))[0] == pytest.approx(0.0, abs=1e-12)
    assert at(field, (9.0, 9.0, heights[-1, -1]))[0] == pytest.approx(0.0, abs=1e-12)


def test_the_normal_of_a_heightfield_is_that_of_its_heights_beyond_its_edges_too() -> None:
    """The distance is that from the plane which touches the ground straight below. Beyond an edge the ground is as high
    as there, so level across it: what stands there without friction stays."""
    field = Heightfield(RNG.uniform(-0.2, 0.2, (4, 5)), spacing=0.5, origin=(-1.0, 0.5))

    def ground(x: float, y: float) -> float:
        height, n = at(field, (x, y, 5.0))
        return 5.0 - height / n[2]

    beyond = 0
    for x, y in RNG.uniform((-2.0, -0.5), (1.5, 3.5), (300, 2)):
        e = 1e-6
        slope = (ground(x + e, y) - ground(x - e, y)) / (2 * e), (ground(x, y + e) - ground(x, y - e)) / (2 * e)
        n = at(field, (x, y, 5.0))[1]
        np.testing.assert_allclose(-n[:2] / n[2], slope, atol=1e-8)
        assert at(field, (x, y, ground(x, y)))[0] == pytest.approx(0.0, abs=1e-12)
        beyond += not (-1.0 < x < 0.5 and 0.5 < y < 2.5)
    assert 100 < beyond < 290

    ball = fw.Builder("ball").add_body("b", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(1.0, 0.1))
    model = ball.add_contact_point("p", parent="b").build()
    q = model.neutral()
    q[:3] = 2.0, 0.5, 0.5
    contact = fw.contact.Impulse(Heightfield([[0.0, 0.0], [0.5, 0.5]]), friction=0.0)  # it rises to 0.5 m at x = 1 m
    with fw.interpret():
        run = fw.rollout(model, q, np.zeros(6), steps=10, dt=1e-3, contact=contact)
    np.testing.assert_allclose(run.v[-1, :3], 0.0, atol=1e-9)


def test_compiled_surfaces_are_those_of_floats() -> None:
    """A ball falls on each of them; the heights that the native step sees are the ones of floats."""
    ball = fw.Builder("ball").add_body("ball", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(1.0, 0.1))
    model = ball.add_contact_point("skin", parent="ball", radius=0.1).build()
    ground = [
        Plane(point=(0, 0, -0.5)), Sphere(radius=0.4), Box(size=(1, 1, 1), placement=TURNED),
        Heightfield(RNG.uniform(-0.4, 0.0, (4, 4)), spacing=0.7, origin=(-1, -1)),
    ]  # fmt: skip
    q = np.tile(model.neutral(), (200, 1))
    q[:, :3] = RNG.uniform(-1, 1, (200, 3))
    run = fw.rollout(model, q, np.zeros((200, 6)), steps=1, dt=1e-3, contact=fw.contact.Impulse(ground=ground))
    expected = [max(0.0, *(0.1 - at(surface, p)[0] for surface in ground)) for p in q[:, :3]]
    np.testing.assert_allclose(run.penetration[:, 0, 0], expected, atol=1e-12)


def test_two_fields_of_heights_are_two_tables() -> None:
    """A ball over a valley at -1 m, and within another field at 2 m: as deep there as that one says."""
    ball = fw.Builder("ball").add_body("b", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(1.0, 0.1))
    model = ball.add_contact_point("p", parent="b").build()
    low, high = Heightfield(np.full((3, 3), -1.0)), Heightfield(np.full((2, 4), 2.0))
    q = model.neutral()
    q[:3] = 0.5, 0.5, 1.75
    for ground in ((low, high), (high, low)):
        run = fw.rollout(model, q, np.zeros(6), steps=1, dt=1e-3, contact=fw.contact.Impulse(ground))
        assert run.penetration[0, 0] == pytest.approx(0.25)


@pytest.mark.parametrize("point", [(0.0, 0.0), (0.0, 0.0, np.nan), 1.0])
def test_a_planes_point_is_three_numbers(point):
    with pytest.raises(ValueError, match="Plane: point: expected 3 finite numbers"):
        Plane(point=point)
