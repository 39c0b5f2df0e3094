"""Every pair of shapes, against MuJoCo and against what a contact point is."""

from functools import cache
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collision.placing import (
    SHAPES,
    compiled,
    flat,
    interpreted,
    kernel,
    mujoco_distances,
    numbers,
    outside,
    placed,
    rotations,
    touched,
    transform,
)
from featherweight.collision import FAR, Placed, may_be_within, touch_count, touches
from featherweight.compiler import Lanes, plain
from featherweight.shapes import Box, Capsule, Convex, Cylinder
from featherweight.spatial import Matrix, Transform, Vector

N = 600
PAIRS = list(combinations_with_replacement(SHAPES, 2))
CLOSED = [pair for pair in PAIRS if pair[0] == "sphere" and pair[1] != "convex"] + [("capsule", "capsule")]
BY_SUPPORT = [pair for pair in PAIRS if pair not in CLOSED and pair not in (("capsule", "box"), ("box", "box"))]
AXES = [np.eye(3)[list(p)] * s for p in ((0, 1, 2), (1, 2, 0), (2, 0, 1)) for s in (1.0,)]
MESH = 1e-7  # MuJoCo keeps vertices of meshes in single precision


def placements(seed, spread=0.5, n=N):
    rng = np.random.default_rng(seed)
    return rotations(rng, n), rng.normal(size=(n, 3)) * spread, rotations(rng, n), rng.normal(size=(n, 3)) * 0.2


def nearly_parallel(seed, n):
    """Shapes whose axes are those of the world, turned by nothing up to 0.01 rad, at places of a coarse grid."""
    rng = np.random.default_rng(seed)
    turned = []
    for _ in range(2):
        right = np.array(AXES)[rng.integers(len(AXES), size=n)]
        x, y, z = rng.normal(size=(3, n)) * rng.choice([0.0, 1e-15, 1e-10, 1e-7, 1e-5, 1e-3], size=n)
        turn = np.moveaxis(np.array([[1 + 0 * x, -z, y], [z, 1 + 0 * x, -x], [-y, x, 1 + 0 * x]]), 2, 0)
        q, r = np.linalg.qr(turn)
        turned.append(q * np.sign(np.diagonal(r, axis1=1, axis2=2))[:, None, :] @ right)
    places = rng.choice([-1.2, -0.8, -0.5, -0.2, 0.0, 1e-12, 0.1, 0.4, 0.7], size=(n, 3))
    return turned[0], places + rng.normal(size=(n, 3)) * rng.choice([0.0, 0.1], size=n)[:, None], turned[1], 0 * places


def nearly_touching(a, b, where, by=0.02):
    """The same placements, with a moved along the normal until the gap is between ±by."""
    Ra, pa, Rb, pb = where
    rng = np.random.default_rng(7)
    for _ in range(2):
        gap, normal, _ = touched(a, b, Ra, pa, Rb, pb)
        k = gap.argmin(axis=1)
        known = gap.min(axis=1) < FAR
        n = np.where(known[:, None], normal[np.arange(len(k)), k], 0.0)
        pa = pa - n * (np.where(known, gap.min(axis=1), 0.0) - rng.uniform(-by, by, len(k)))[:, None]
    return Ra, pa, Rb, pb


@cache
def near(pair):
    """N placements of a pair that nearly touch, and what touches there; asked by several tests, computed once."""
    a, b = (SHAPES[kind] for kind in pair)
    where = nearly_touching(a, b, placements(2))
    return where, touched(a, b, *where)


@cache
def near_interpreted(pair):
    """What touches in the same placements, by NumPy."""
    return interpreted(*(SHAPES[kind] for kind in pair), *near(pair)[0])


@cache
def anywhere(pair):
    """N placements of a pair, and what touches there."""
    where = placements(1)
    return where, touched(*(SHAPES[kind] for kind in pair), *where)


def nearest_of_segment(a, b, Ra, pa, Rb, pb):
    """Gap of a capsule above a box that its segment is not in, by ternary search along the segment."""
    low, high = (np.full(len(pa), x * a.length / 2) for x in (-1.0, 1.0))

    def distance(s):
        x = np.einsum("nji,nj->ni", Rb, pa + Ra[:, :, 2] * s[:, None] - pb)
        return np.linalg.norm(np.maximum(np.abs(x) - np.array(b.sizes) / 2, 0), axis=1)

    for _ in range(100):
        one, two = low + (high - low) / 3, high - (high - low) / 3
        is_one = distance(one) < distance(two)
        low, high = np.where(is_one, low, one), np.where(is_one, two, high)
    return distance((low + high) / 2) - a.radius


@pytest.mark.parametrize("pair", CLOSED, ids="-".join)
def test_closed_forms(pair):
    a, b = (SHAPES[kind] for kind in pair)
    for where, (gap, _, _) in (anywhere(pair), near(pair)):
        expected = mujoco_distances(a, b, *where)
        assert 0.1 < np.mean(expected < 0) < 0.9
        assert np.abs(gap.min(axis=1) - expected).max() < 1e-12


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair != ("box", "box")], ids="-".join)
def test_the_gap_grows_along_the_normal(pair):
    """Of shapes that are apart: the normal is the gradient of the distance."""
    a, b = (SHAPES[kind] for kind in pair)
    (Ra, pa, Rb, pb), (gap, normal, _) = anywhere(pair)
    n = normal[np.arange(N), gap.argmin(axis=1)]
    apart, step = gap.min(axis=1) > 0.01, 1e-4
    moved = [touched(a, b, Ra, pa + s * step * n, Rb, pb)[0].min(axis=1) for s in (1, -1)]
    rate = ((moved[0] - moved[1]) / (2 * step))[apart]
    assert np.quantile(np.abs(rate - 1), 0.98) < (1e-3 if pair in BY_SUPPORT else 1e-9)


@pytest.mark.parametrize("other", ["sphere", "capsule", "box", "cylinder"])
def test_the_normal_leads_out_of_what_overlaps(other):
    """A ball that is moved by its depth along the normal just touches, also if its centre was inside."""
    a, b = SHAPES["sphere"], SHAPES[other]
    Ra, pa, Rb, pb = placements(3, spread=0.2)
    gap, normal, _ = touched(a, b, Ra, pa, Rb, pb)
    inside = gap[:, 0] < (-a.radius if other in ("box", "cylinder") else -1.2 * a.radius)
    assert 20 < inside.sum() < N - 20
    moved = touched(a, b, Ra, pa - gap * normal[:, 0], Rb, pb)[0]
    assert np.abs(moved[gap < 0]).max() < 1e-12


def test_a_capsule_and_a_box():
    a, b = SHAPES["capsule"], SHAPES["box"]
    for where, (gap, _, _) in (anywhere(("capsule", "box")), near(("capsule", "box"))):
        expected = nearest_of_segment(a, b, *where)
        is_out = expected > -a.radius + 1e-6
        assert np.mean(is_out) > 0.5
        assert np.abs(gap.min(axis=1) - expected)[is_out].max() < 1e-12
        assert (gap.min(axis=1)[~is_out] <= -a.radius + 1e-6).all()


def test_a_capsule_inside_a_box_touches_with_its_deeper_end():
    a, b = SHAPES["capsule"], Box((2.0, 1.0, 0.6))
    Ra, pa, Rb, pb = placements(4, spread=0.2)
    gap, _, _ = touched(a, b, Ra, pa, Rb, pb)
    ends = [outside(b, Rb, pb, pa + s * a.length / 2 * Ra[:, :, 2]) for s in (1, -1)]
    inside = np.maximum(*ends) < 0
    assert inside.sum() > 50
    assert (gap.min(axis=1) <= np.minimum(*ends) - a.radius + 1e-12)[inside].all()


@pytest.mark.parametrize("size", [0.1, 10.0])
def test_capsules_are_within_a_gap_or_not(size):
    a, b = Capsule(0.15 * size, 0.7 * size), Capsule(0.1 * size, 0.4 * size)
    Ra, pa, Rb, pb = placements(5)
    least = interpreted(a, b, Ra, size * pa, Rb, size * pb)[0].min(axis=1)
    one, other = Placed(a, transform(Ra, size * pa)), Placed(b, transform(Rb, size * pb))
    for gap in (0.0, 0.3 * size):
        within = np.asarray(may_be_within(one, other, gap))
        sure = np.abs(least - gap) > 1e-6 * size
        assert 50 < within.sum() < N - 50
        assert np.array_equal(within[sure], (least < gap)[sure])


def test_two_boxes():
    a, b = SHAPES["box"], Box((0.3, 0.5, 0.4))
    for where in (placements(1), nearly_touching(a, b, placements(2))):
        gap = touched(a, b, *where)[0].min(axis=1)
        expected = mujoco_distances(a, b, *where)
        deep = expected < -1e-9
        # faces are preferred by 5 % and 1e-6 m: never shallower than it is, nor much deeper
        assert (gap[deep] < expected[deep] + 1e-12).all()
        assert (gap[deep] > 1.06 * expected[deep] - 1.1e-6).all()
        near = (expected > 0) & (expected < 0.04)
        assert near.any()
        assert (gap[near] < 1.02 * expected[near] + 1e-6).all()
        assert (gap[near] > 0.94 * expected[near] - 2e-6).all()
        assert np.mean(np.abs(gap - expected)[near] < 1e-6) > 0.8
        far = expected > 0.2
        assert (gap[far] > 0.05).all()


def test_contact_points_of_boxes_that_are_apart_are_on_both():
    """From a point half the gap along the normal is the surface of one, as far back that of the other.
    Edges that are nearly parallel diverge, but have one normal."""
    a, b = SHAPES["box"], Box((0.3, 0.5, 0.4))
    for where, most in ((placements(2, n=4000), 1e-6), (nearly_parallel(2, 4000), 2e-3)):
        Ra, pa, Rb, pb = nearly_touching(a, b, where)
        gap, normal, point = touched(a, b, Ra, pa, Rb, pb)
        i, k = np.nonzero((gap > 1e-3) & (gap < 0.02))
        assert len(i) > 1000
        for shape, R, p, side in ((a, Ra, pa, 0.5), (b, Rb, pb, -0.5)):
            end = point[i, k] + side * gap[i, k, None] * normal[i, k]
            assert (outside(shape, R[i], p[i], end) < 0.02 * gap[i, k] + most).all()


@pytest.mark.parametrize("pair", BY_SUPPORT, ids="-".join)
def test_by_support_functions(pair):
    a, b = (SHAPES[kind] for kind in pair)
    where, found = anywhere(pair)
    gap, expected = found[0].min(axis=1), mujoco_distances(a, b, *where)
    apart = expected > 0
    assert np.quantile(np.abs(gap - expected)[apart], 0.99) < MESH
    assert np.abs(gap - expected)[apart].max() < 1e-5
    assert (gap[~apart] < expected[~apart] + 5e-6).all()  # a direction of least depth nearby: never less than the least
    where, found = near(pair)
    gap, expected = found[0].min(axis=1), mujoco_distances(a, b, *where)
    apart = expected > 0
    assert np.quantile(np.abs(gap - expected)[apart], 0.99) < 5e-6
    assert np.abs(gap - expected)[apart].max() < 3e-4
    assert (gap[~apart] < expected[~apart] + 5e-6).all()
    assert np.quantile(expected[~apart] - gap[~apart], 0.75) < 1e-6
    assert np.quantile(expected[~apart] - gap[~apart], 0.95) < 3e-3


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_points_are_in_the_middle(pair):
    """A point is no farther from either shape than half the gap or overlap."""
    points_are_in_the_middle(pair, near(pair)[0], near_interpreted(pair))


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_points_of_compiled_code_are_in_the_middle(pair):
    points_are_in_the_middle(pair, *near(pair))


THIN = {"capsule": Capsule(0.005, 0.6), "box": Box((0.4, 0.6, 8e-4)), "cylinder": Cylinder(0.2, 6e-4)}


@pytest.mark.parametrize("thin", [False, True], ids=["thick", "thin"])
@pytest.mark.parametrize("pair", BY_SUPPORT, ids="-".join)
def test_points_of_many_placements_are_in_the_middle(pair, thin):
    """Anywhere or nearly parallel, as they are or nearly touching: where an axis of a shape is the best direction, its
    support points are no nearest points."""
    a, b = (THIN.get(kind, SHAPES[kind]) if thin else SHAPES[kind] for kind in pair)
    everywhere = placements(2, n=4000), nearly_parallel(2, 4000)
    for Ra, pa, Rb, pb in (*everywhere, *(nearly_touching(a, b, where) for where in everywhere)):
        gap, _, point = touched(a, b, Ra, pa, Rb, pb)
        i, k = np.nonzero((gap < FAR) & (gap > -0.02))
        assert len(i) > 2000
        for shape, R, p in ((a, Ra, pa), (b, Rb, pb)):
            beyond = outside(shape, R[i], p[i], point[i, k]) - np.abs(gap[i, k]) / 2
            assert np.quantile(beyond, 0.99) < 2e-5
            assert beyond.max() < (1e-3 if pair == ("convex", "convex") else 1e-4)  # TILT of faces of hulls


def points_are_in_the_middle(pair, where, found):
    (Ra, pa, Rb, pb), (gap, normal, point) = where, found
    assert np.abs(np.linalg.norm(normal, axis=2) - 1).max() < 1e-12
    i, k = np.nonzero(np.abs(gap) < 0.015)
    assert len(i) > N / 2
    for shape, R, p in zip((SHAPES[kind] for kind in pair), (Ra, Rb), (pa, pb), strict=True):
        beyond = outside(shape, R[i], p[i], point[i, k]) - np.abs(gap[i, k]) / 2
        assert np.quantile(beyond, 0.97) < (1e-4 if pair in BY_SUPPORT else 1e-9)
        assert beyond.max() < (5e-3 if pair in BY_SUPPORT else 1e-4)


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_interpreted_gaps_are_those_of_compiled_code(pair):
    """So what is said of compiled code here is said of both."""
    a, b = (SHAPES[kind] for kind in pair)
    where, found = anywhere(pair)
    for other, (gap, _, _) in ((near_interpreted(pair), near(pair)[1]), (interpreted(a, b, *where), found)):
        off = np.abs(other[0].min(axis=1) - gap.min(axis=1))
        assert np.quantile(off, 0.97) < (1e-5 if pair in BY_SUPPORT else 1e-12)
        assert off.max() < (3e-4 if pair in BY_SUPPORT else 1e-12)


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_the_other_way_round_and_elsewhere(pair):
    a, b = (SHAPES[kind] for kind in pair)
    where, found = near(pair)
    (Ra, pa, Rb, pb), (gap, normal, _) = ([x[:200] for x in part] for part in (where, found))
    rng = np.random.default_rng(5)
    Q, shift = rotations(rng, 1)[0], rng.normal(size=3)
    first = np.arange(200), gap.argmin(axis=1)
    tolerance = 1e-12 if pair in CLOSED else 1e-5
    for other, sign, turn in (
        (touched(b, a, Rb, pb, Ra, pa), -1.0, np.eye(3)),
        (touched(a, b, Q @ Ra, pa @ Q.T + shift, Q @ Rb, pb @ Q.T + shift), 1.0, Q),
    ):
        off = np.abs(other[0].min(axis=1) - gap.min(axis=1))
        assert np.quantile(off, 0.97) < tolerance
        again = np.arange(200), other[0].argmin(axis=1)
        turned = np.linalg.norm(sign * other[1][again] - normal[first] @ turn.T, axis=1)
        assert np.quantile(turned, 0.9) < 1e-3


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_compiled_interpreted_and_floats_agree(pair):
    a, b = (SHAPES[kind] for kind in pair)
    n, count = 13, touch_count(a, b)
    Ra, pa, Rb, pb = (part[:n] for part in near(pair)[0])
    x = np.concatenate([numbers(Ra, pa), numbers(Rb, pb)], axis=1)

    def function(scalars, lift):
        return flat(touches(placed(a.lifted(lift), scalars[:12]), placed(b.lifted(lift), scalars[12:])))

    native = compiled(a, b)
    (packed,) = native(x)
    assert np.array_equal(packed, np.array([native(row)[0] for row in x]))
    floats = np.array([function(row.tolist(), float) for row in x])
    lanes = function([Lanes(column) for column in x.T.copy()], float)
    assert np.array_equal(np.array([np.broadcast_to(plain(y), n) for y in lanes]).T, floats)
    nearest, expected = (y.reshape(n, count, 7)[:, :, 0].min(axis=1) for y in (packed, floats))
    assert np.abs(nearest - expected).max() < (1e-5 if pair in BY_SUPPORT else 1e-12)


HALF = np.array([[1, -1, 0], [1, 1, 0], [0, 0, 2**0.5]]) / 2**0.5
TURNS = [*AXES, HALF, HALF.T @ AXES[1], AXES[2] @ HALF, np.diag([-1.0, -1.0, 1.0]), np.diag([1.0, -1.0, -1.0])]
PLACES = st.sampled_from([0.0, 1e-200, 1e-17, -1e-9, 0.1, 0.25, -0.3, 0.4, 0.5, 1.0, 30.0])


@given(
    pair=st.sampled_from(PAIRS),
    turns=st.tuples(st.sampled_from(TURNS), st.sampled_from(TURNS)),
    place=st.tuples(PLACES, PLACES, PLACES),
)
@settings(max_examples=400, deadline=None, derandomize=True)
def test_degenerate_placements_have_numbers(pair, turns, place):
    """Axes that are parallel, centres that coincide, faces that just touch."""
    a, b = (SHAPES[kind] for kind in pair)
    one, two = (
        Transform(Matrix.of((R.T).tolist()), Vector(*p)) for R, p in zip(turns, (place, (0.0, 0.0, 0.0)), strict=True)
    )
    for touch in touches(Placed(a, one), Placed(b, two)):
        assert np.isfinite([touch.gap, *touch.normal, *touch.point]).all()
        assert np.linalg.norm(touch.normal) == pytest.approx(1, abs=1e-9)


def test_pairs_nobody_knows_are_refused():
    class Torus(Box):
        kind = "torus"

    with pytest.raises(TypeError, match="torus and box"):
        touch_count(Torus((1, 1, 1)), Box((1, 1, 1)))


def test_a_large_hull_is_no_longer_in_code():
    """Its vertices are in memory."""
    operations = {}
    for n in (20, 60):
        hull = Convex(np.random.default_rng(1).normal(size=(n, 3)))

        def function(scalars, lift, hull=hull):
            return flat(touches(placed(hull.lifted(lift), scalars[:12]), placed(hull.lifted(lift), scalars[12:])))

        operations[n] = kernel(function, 28).plan.operations
    assert operations[60] - operations[20] < 6 * 40 * 2
