"""Two balls touch where their surfaces are nearest."""

import numpy as np
import pytest

from featherweight.collision import Placed, touch_count, touches
from featherweight.collision.geometry import across
from featherweight.shapes import Box, Capsule, Convex, Cylinder, Sphere
from featherweight.spatial import Matrix, Transform, Vector


def at(x, y, z):
    return Transform.identity()._replace(r=Vector(x, y, z))


def test_two_balls_that_overlap():
    a, b = Placed(Sphere(0.5), at(0.0, 0.0, 1.0)), Placed(Sphere(0.7), at(0.0, 0.0, 0.0))
    (touch,) = touches(a, b)
    assert touch.gap == pytest.approx(-0.2, abs=1e-15)
    assert tuple(touch.normal) == (0.0, 0.0, 1.0)
    assert tuple(touch.point) == pytest.approx((0.0, 0.0, 0.6))
    assert touch_count(a.shape, b.shape) == 1


def test_centres_that_coincide_have_a_normal():
    a = Placed(Sphere(0.5), at(0.0, 0.0, 0.0))
    (touch,) = touches(a, a)
    assert touch.gap == -1.0
    assert tuple(touch.normal) == (0.0, 0.0, 1.0)


@pytest.mark.parametrize(
    "shape",
    [Sphere(0.3), Capsule(0.2, 0.5), Box((1, 2, 3)), Cylinder(0.4, 0.1), Convex(np.vstack([np.eye(3), -np.eye(3)]))],
    ids=lambda shape: shape.kind,
)
def test_supports_are_farthest(shape):
    rng = np.random.default_rng(1)
    points = [np.array(shape.support(Vector(*d))) for d in rng.normal(size=(200, 3))]
    for d in rng.normal(size=(50, 3)):
        most = d @ np.array(shape.support(Vector(*d)))
        assert max(d @ p for p in points) <= most + 1e-12
    assert max(np.linalg.norm(p) for p in points) <= shape.reach + 1e-12


def test_what_is_across_a_direction_is_across_the_axis_it_is_least_along_too():
    """e × n / |e × n|, e the axis with the smallest |component|."""
    for n in np.random.default_rng(0).normal(size=(50, 3)):
        n /= np.linalg.norm(n)
        expected = np.cross(np.eye(3)[np.argmin(np.abs(n))], n)
        assert tuple(across(Vector(*n))) == pytest.approx(expected / np.linalg.norm(expected), abs=1e-15)


@pytest.mark.parametrize("along", [-0.3, 0.3])
def test_nearly_parallel_capsules_touch_where_the_shorter_one_ends(along):
    """Half a millimetre from where they cross: the farther point is beside the end of the shorter one, not past it."""
    angle, half, apart = 0.02, 0.2, 0.09
    w = np.array([0.0, np.sin(angle), np.cos(angle)])
    centre = np.array([0.0, 0.0, along]) - apart * np.eye(3)[0] - w * (half - 5e-4)
    axes = Matrix.of([np.eye(3)[0], np.cross(w, np.eye(3)[0]), w])
    a = Placed(Capsule(0.05, 1.0), at(0.0, 0.0, 0.0))
    b = Placed(Capsule(0.05, 2 * half), Transform(axes, Vector(*centre)))
    ends = []
    for touch in touches(a, b):
        assert np.dot(touch.normal, w) == pytest.approx(0.0, abs=1e-9)  # else it is about the cap
        ends.append(np.dot(np.array(touch.point) - centre, w))
    assert max(ends) == pytest.approx(half, abs=1e-7)
