"""Placements that everyone knows: stacks, planks, edges, things that lie, stand and lean."""

import numpy as np
import pytest

from collision.placing import interpreted, transform
from featherweight.collision import FAR, Placed, touches
from featherweight.shapes import Box, Capsule, Convex, Cylinder

STRAIGHT = np.eye(3)
CORNERS = [[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]
CUBES = [Box((1, 1, 1)), Convex(CORNERS)]


def about_y(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])


def about_z(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])


LYING = about_y(np.pi / 2)


def found(a, b, pa, pb=(0.0, 0.0, 0.0), Ra=STRAIGHT, Rb=STRAIGHT):
    """gap, normal and point of those that are there, sorted by place."""
    gap, normal, point = (
        x[0] for x in interpreted(a, b, Ra[None], np.array([pa], float), Rb[None], np.array([pb], float))
    )  # fmt: skip
    there = np.flatnonzero(gap < FAR)
    there = there[np.lexsort(np.round(point[there], 3).T[::-1])]
    return gap[there], normal[there], point[there]


@pytest.mark.parametrize("a", CUBES, ids=["box", "hull"])
@pytest.mark.parametrize("b", CUBES, ids=["box", "hull"])
@pytest.mark.parametrize("offset", [(0.0, 0.0), (0.3, 0.2), (1e-9, 0.0), (-0.9, 0.0)])
@pytest.mark.parametrize("gap", [-1e-3, 0.0, 1e-3])
def test_stacked_cubes_touch_at_the_corners_of_their_overlap(a, b, offset, gap):
    gaps, normals, points = found(a, b, (*offset, 1 + gap))
    assert gaps == pytest.approx([gap] * 4, abs=1e-12)
    assert np.abs(normals - [0, 0, 1]).max() < 1e-12
    low, high = np.maximum(offset, 0) - 0.5, np.minimum(offset, 0) + 0.5
    corners = {(round(x, 3), round(y, 3)) for x, y, _ in points}
    assert corners == {(round(x, 3), round(y, 3)) for x in (low[0], high[0]) for y in (low[1], high[1])}
    assert np.abs(points[:, 2] - 0.5 - gap / 2).max() < 1e-12


@pytest.mark.parametrize("x", [-0.9, 0.9])
def test_a_plank_across_two_posts(x):
    """The corners of the plank are far from the posts, and those of the posts are below its middle."""
    gaps, normals, points = found(Box((2, 0.3, 0.05)), Box((0.1, 0.1, 1)), (0, 0, 0.5245), (x, 0, 0))
    assert gaps == pytest.approx([-5e-4] * 4, abs=1e-12)
    assert np.abs(normals - [0, 0, 1]).max() < 1e-12
    assert np.ptp(points, axis=0)[:2] == pytest.approx([0.1, 0.1], abs=1e-8)
    assert points.mean(axis=0)[:2] == pytest.approx([x, 0], abs=1e-8)


@pytest.mark.parametrize("a", CUBES, ids=["box", "hull"])
@pytest.mark.parametrize("b", CUBES, ids=["box", "hull"])
def test_edge_on_edge(a, b):
    up = about_z(np.pi / 2) @ about_y(np.pi / 4)
    gaps, normals, points = found(a, b, (0.2, 0.1, 2**0.5 - 1e-3), Ra=about_y(np.pi / 4), Rb=up)
    assert gaps == pytest.approx([-1e-3], abs=1e-12)
    assert normals[0] == pytest.approx([0, 0, 1], abs=1e-12)
    # a's edge is along y at x = 0.2, b's along x at y = 0
    assert points[0] == pytest.approx([0.2, 0, 2**-0.5 - 5e-4], abs=1e-9)


@pytest.mark.parametrize("a", CUBES, ids=["box", "hull"])
@pytest.mark.parametrize("tilt", [1e-6, 1e-4, 5e-3])
def test_a_tilted_cube_keeps_both_sides(a, tilt):
    """Both ends of the lower edge, and the upper ones at their own gap."""
    gaps, _, points = found(a, Box((4, 4, 1)), (0, 0, 1), Ra=about_y(tilt))
    assert len(gaps) == 4
    height = 1 - 0.5 * np.cos(tilt) - points[:, 0] / np.cos(tilt) * np.sin(tilt) - 0.5
    assert gaps == pytest.approx(height, abs=3e-3 * tilt + 1e-12)


def test_a_cylinder_stands_lies_and_leans_on_a_box():
    drum, floor = Cylinder(0.3, 0.6), Box((4, 4, 0.2))
    gaps, _, points = found(drum, floor, (0.1, 0, 0.399))
    assert gaps == pytest.approx([-1e-3] * 4, abs=1e-12)
    assert np.linalg.norm(points[:, :2] - [0.1, 0], axis=1) == pytest.approx([0.3] * 4, abs=1e-9)
    assert points.mean(axis=0)[:2] == pytest.approx([0.1, 0], abs=1e-9)
    gaps, _, points = found(drum, floor, (0.1, 0, 0.399), Ra=LYING)
    assert gaps == pytest.approx([-1e-3] * 2, abs=1e-12)
    assert points == pytest.approx(np.array([[-0.2, 0, 0.0995], [0.4, 0, 0.0995]]), abs=1e-9)
    angle = 0.5
    gaps, _, points = found(drum, floor, (0.1, 0, 0.1 + 0.3 * np.cos(angle) + 0.3 * np.sin(angle)), Ra=about_y(angle))
    assert gaps == pytest.approx([0], abs=1e-8)
    assert points[0] == pytest.approx([0.1 + 0.3 * np.cos(angle) - 0.3 * np.sin(angle), 0, 0.1], abs=1e-4)


@pytest.mark.parametrize("spin", [0.0, 0.3, 1.1, 2.0])
def test_a_rolling_cylinder_touches_below_its_axis(spin):
    drum, floor = Cylinder(0.3, 0.6), Box((4, 4, 0.2))
    gaps, _, points = found(drum, floor, (0.1, 0.2, 0.4), Ra=LYING @ about_z(spin))
    assert gaps == pytest.approx([0, 0], abs=1e-12)
    assert points[:, 1] == pytest.approx([0.2, 0.2], abs=1e-9)


@pytest.mark.parametrize("length", [0.8, 0.6])
def test_parallel_capsules_touch_at_both_ends_of_their_overlap(length):
    gaps, _, points = found(Capsule(0.1, length), Capsule(0.2, 0.8), (0.2, 0, 0.299), Ra=LYING, Rb=LYING)
    assert gaps == pytest.approx([-1e-3] * 2, abs=1e-12)
    ends = 0.2 - length / 2, min(0.4, 0.2 + length / 2)
    assert points == pytest.approx(np.array([[x, 0, 0.1995] for x in ends]), abs=1e-9)


def test_crossing_capsules_touch_once():
    gaps, _, points = found(Capsule(0.1, 1.0), Capsule(0.1, 1.0), (0.1, 0.2, 0.19), Ra=LYING, Rb=about_z(1.0) @ LYING)
    assert gaps == pytest.approx([-0.01], abs=1e-12)
    gaps, _, points = found(Capsule(0.1, 1.0), Capsule(0.1, 1.0), (0, 0, 1.19))  # end on end
    assert gaps == pytest.approx([-0.01], abs=1e-12)
    assert points[0] == pytest.approx([0, 0, 0.595], abs=1e-12)


def test_a_capsule_lies_on_a_box_and_hangs_over_its_edge():
    gaps, normals, points = found(Capsule(0.1, 1.0), Box((1, 1, 1)), (0.3, 0.1, 0.599), Ra=LYING)
    assert gaps == pytest.approx([-1e-3] * 2, abs=1e-12)
    assert points == pytest.approx(np.array([[-0.2, 0.1, 0.4995], [0.5, 0.1, 0.4995]]), abs=1e-9)
    assert np.abs(normals - [0, 0, 1]).max() < 1e-12


@pytest.mark.parametrize("other", [Cylinder(0.3, 0.6), Capsule(0.3, 0.6)], ids=["cylinder", "capsule"])
@pytest.mark.parametrize("twist", [0.0, 1e-5, -1e-5])
@pytest.mark.parametrize("around", [0.0, 0.8, np.pi / 2, 3.0])
def test_round_things_side_by_side_touch_along_a_line(other, twist, around):
    c, s = np.cos(twist), np.sin(twist)
    turn = about_z(around)
    crossed = turn @ np.array([[1, 0, 0], [0, c, -s], [0, s, c]])  # about the normal
    gaps, _, points = found(Cylinder(0.3, 0.6), other, turn @ [0.599, 0, 0.1], Ra=crossed, Rb=turn)
    assert gaps == pytest.approx([-1e-3] * 2, abs=1e-9)
    points = (points @ turn)[np.argsort(points[:, 2])]
    assert points == pytest.approx(np.array([[0.2995, 0, -0.2], [0.2995, 0, 0.3]]), abs=2e-5)


@pytest.mark.parametrize(
    "Rb",
    [STRAIGHT, np.diag([1.0, -1.0, -1.0]), about_z(np.pi), LYING],
    ids=["straight", "upside down", "turned", "lying"],
)
@pytest.mark.parametrize("shift", [0.0, 0.25, -0.4])
@pytest.mark.parametrize("apart", [1e-3, 0.03, 2.0])
def test_parallel_edges_of_boxes_that_are_apart(apart, shift, Rb):
    """Diagonally beside each other: both ends of the part in which the edges are beside each other."""
    a, b, n = Box((0.2, 0.4, 0.6)), Box((0.3, 0.3, 0.5)), np.array([-0.6, -0.8, 0.0])  # n from b to a
    half_a, half_b = np.array(a.sizes) / 2, np.abs(Rb) @ np.array(b.sizes) / 2
    gaps, normals, points = found(a, b, (0, 0, 0), [*(half_a + half_b - apart * n)[:2], shift], Rb=Rb)
    low, high = max(-half_a[2], shift - half_b[2]), min(half_a[2], shift + half_b[2])
    middle = half_a - apart / 2 * n
    assert gaps == pytest.approx([apart] * 2, rel=1e-9)
    assert np.abs(normals - n).max() < 1e-9
    assert points == pytest.approx(np.array([[*middle[:2], low], [*middle[:2], high]]), abs=1e-9)


@pytest.mark.parametrize("upside_down", [False, True])
@pytest.mark.parametrize("tilt", [-5e-3, 5e-3])
def test_nearly_parallel_edges_that_are_apart(tilt, upside_down):
    """Turned in the plane of both edges: each end has its own gap."""
    cube, across, edge = Box((1, 1, 1)), np.array([1.0, -1.0, 0.0]) / 2**0.5, np.array([0.51, 0.51, 0.0])
    turn = about_z(-np.pi / 4)
    c, s = np.cos(tilt), np.sin(tilt)
    turn = turn @ np.array([[1, 0, 0], [0, c, -s], [0, s, c]]) @ turn.T
    assert turn @ across == pytest.approx(across)
    flip = np.diag([-1.0, 1.0, -1.0]) if upside_down else np.eye(3)
    gaps, _, points = found(cube, cube, (0, 0, 0), edge + turn @ [0.5, 0.5, 0.0], Rb=turn @ flip)
    assert np.sort(gaps) == pytest.approx(0.01 * 2**0.5 + abs(s) * np.array([-0.5, 0.5]), abs=5e-5)
    assert np.sort(points[:, 2]) == pytest.approx([-0.5, 0.5], abs=5e-3)


def test_boxes_whose_corners_are_nearest_are_looked_at_within_what_is_asked_for():
    cube = Box((0.2, 0.2, 0.2))
    one, other = (Placed(cube, transform(STRAIGHT, np.full(3, x))) for x in (0.0, 1.2))
    gaps = [
        [touch.gap for touch in touches(one, other, *within) if touch.gap < FAR] for within in ((), (1.01,), (0.99,))
    ]
    assert gaps[0] == gaps[1] == pytest.approx([3**0.5])
    assert gaps[2] == []
