"""Box against box: separating axes, then clipping of the faces that meet (Gottschalk 1996; Ericson, 4.4 and 5.5).

All is done in the axes of one of the boxes, where the normal of a face is exact.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from featherweight.collision.geometry import chosen, clamp, largest
from featherweight.collision.hulls import hull_point
from featherweight.collision.spread import Candidate, spread
from featherweight.collision.touch import FAR, Placed, Touch, either, only_if
from featherweight.scalar import absolute, logical_not, maximum, minimum, sqrt, when, where
from featherweight.shapes import Box
from featherweight.spatial import Matrix, Vector

PREFERENCE, LEAST = 0.05, 1e-6  # edges must win by 5 % and 1e-6 m, else the choice flickers
SHORT = 1e-6  # sine of the least angle between edges whose cross product is an axis
OFF = 1.02  # times the gap along an axis: contact points that are farther are not the nearest ones
ALONG = 0.01  # sine of the angle up to which two edges are parallel
ON_EDGE = 1e-9  # [m], how far beyond the sides of a face a point may be


class Axis(NamedTuple):
    """The separating axis with the largest gap [m]."""

    gap: Any
    is_b: Any  # is it a face of b, or of a?
    is_axis: tuple[Any, Any, Any]  # which of that box's faces


class Edges(NamedTuple):
    """The pair of edges a_i, b_j with the largest gap [m]; n from b to a, in the axes of a."""

    gap: Any
    n: Vector
    i: Any
    j: Any


def box_box(a: Placed[Box], b: Placed[Box], within: Any) -> list[Touch]:
    """Up to four points of two faces, the point of two edges, or both ends of the overlap of parallel edges.

    Of boxes that are apart with corners or ends of edges nearest, those within so many metres of each other.
    """
    R = a.X.E @ b.X.E.T  # R_ij = a_i·b_j
    t = a.X.E @ (b.X.r - a.X.r)
    half_a, half_b = a.shape.half, b.shape.half
    face, edges = _faces(R, t, half_a, half_b), _edges(R, t, half_a, half_b)
    is_edge = edges.gap > face.gap + (PREFERENCE * absolute(face.gap) + LEAST)
    x, y = _crossing(R, t, half_a, half_b, edges)
    crossing = Touch(edges.gap, a.X.E.transposed_times(edges.n), a.X.r + a.X.E.transposed_times((x + y) * 0.5))
    found = _face_touches(a, b, R, t, face)
    deepest, *others = either(is_edge, crossing, found[0]), *(only_if(logical_not(is_edge), x) for x in found[1:])

    # apart with corners or ends of edges nearest: the gap along an axis is less than that of the points it leads to
    nearest, distance = maximum(face.gap, edges.gap), (x - y).dot(x - y)
    is_off_edges = distance > 1.0001 * (edges.gap * edges.gap) + ON_EDGE * ON_EDGE
    is_off = (is_edge & is_off_edges) | (logical_not(is_edge) & (found[0].gap > OFF * nearest + LEAST))
    is_apart = (nearest > 0) & (nearest <= within) & is_off
    second = only_if(logical_not(is_edge), deepest)
    return [*when(is_apart, lambda: _apart(a, b, R, t, second), [deepest, others[0]]), *others[1:]]


def _apart(a: Placed[Box], b: Placed[Box], R: Matrix, t: Vector, otherwise: Touch) -> list[Touch]:
    """The nearest points of boxes that are apart, and `otherwise`; of parallel edges both ends of the part in which
    they are beside each other: with a point at one end the other one could come nearer."""
    found = hull_point(a, b)[0]
    n_a, n_b = a.X.E @ found.normal, b.X.E @ found.normal
    pick_a, pick_b = (_picking(*largest(*(-absolute(x) for x in n))[:2]) for n in (n_a, n_b))

    # of each box the edge along the axis that is most across the normal
    slope_a, slope_b, cosine = pick_a(*n_a), pick_b(*n_b), pick_a(*(pick_b(*row) for row in R))
    long_a, long_b, center = pick_a(*a.shape.half), pick_b(*b.shape.half), pick_a(*t)
    low, high = maximum(-long_a, center - long_b), minimum(long_a, center + long_b)
    sine = sqrt(maximum(1.0 - cosine * cosine, 0.0))
    two = maximum(maximum(absolute(slope_a), absolute(slope_b)), sine) < ALONG
    same = where(cosine < 0, -1.0, 1.0)
    along, rise = (pick_a(*a.X.E) + pick_b(*b.X.E) * same) * 0.5, slope_a - same * slope_b  # of the place, of the gap
    place = pick_a(*(a.X.E @ (found.point - a.X.r)))

    def at(end: Any) -> Touch:
        s = where(two, end - place, 0.0)
        return Touch(found.gap + maximum(rise * s, 0.0), found.normal, found.point + along * s)

    return [at(low), either(two, at(high), otherwise)]


def _faces(R: Matrix, t: Vector, half_a: Vector, half_b: Vector) -> Axis:
    """The best of six faces: |t·n| - h - Σ h_other |R|."""
    S = R.lift(absolute)
    gaps_a = [absolute(x) - h - row.dot(half_b) for x, h, row in zip(t, half_a, S, strict=True)]
    gaps_b = [
        absolute(x) - h - row.dot(half_a) for x, h, row in zip(R.transposed_times(t), half_b, S.T, strict=True)
    ]  # fmt: skip
    best_a, best_b = (maximum(x, maximum(y, z)) for x, y, z in (gaps_a, gaps_b))
    is_b = best_b > best_a + 1e-9
    return Axis(
        where(is_b, best_b, best_a), is_b, largest(*(where(is_b, y, x) for x, y in zip(gaps_a, gaps_b, strict=True)))
    )


def _edges(R: Matrix, t: Vector, half_a: Vector, half_b: Vector) -> Edges:
    """The best of nine cross products n = a_i × b_j / |a_i × b_j|."""
    S = R.lift(absolute)
    best = Edges(-FAR, Vector(0.0, 0.0, 1.0), 0.0, 0.0)
    for i in range(3):
        i1, i2 = (i + 1) % 3, (i + 2) % 3
        for j in range(3):
            j1, j2 = (j + 1) % 3, (j + 2) % 3
            y, z = R[i1][j], R[i2][j]  # a_i × b_j = -z a_i1 + y a_i2
            square = y * y + z * z
            is_long = square > SHORT * SHORT
            scale = 1.0 / sqrt(where(is_long, square, 1.0))
            along = t[i2] * y - t[i1] * z
            reach_a = half_a[i1] * S[i2][j] + half_a[i2] * S[i1][j]
            reach_b = half_b[j1] * S[i][j2] + half_b[j2] * S[i][j1]
            gap = where(is_long, (absolute(along) - reach_a - reach_b) * scale, -FAR)
            is_best = gap > best.gap + 1e-9
            scale = where(along > 0, -scale, scale)  # t goes from a to b, n from b to a
            n = [0.0, 0.0, 0.0]
            n[i1], n[i2] = -z * scale, y * scale
            best = Edges(
                where(is_best, gap, best.gap),
                chosen(is_best, Vector(*n), best.n),
                where(is_best, float(i), best.i),
                where(is_best, float(j), best.j),
            )
    return best


def _crossing(R: Matrix, t: Vector, half_a: Vector, half_b: Vector, edges: Edges) -> tuple[Vector, Vector]:
    """Nearest points of the two edges that face each other, in the axes of a."""
    is_i, is_j = [edges.i == k for k in (0.0, 1.0, 2.0)], [edges.j == k for k in (0.0, 1.0, 2.0)]
    n_b = R.transposed_times(edges.n)
    center_a = [where(own, 0.0, where(x > 0, -h, h)) for own, x, h in zip(is_i, edges.n, half_a, strict=True)]
    center_b = [where(own, 0.0, where(x > 0, h, -h)) for own, x, h in zip(is_j, n_b, half_b, strict=True)]
    x, y = Vector(*center_a), t + R @ Vector(*center_b)
    u = Vector(*(where(own, 1.0, 0.0) for own in is_i))
    columns = R.T
    w = chosen(is_j[0], columns.x, chosen(is_j[1], columns.y, columns.z))
    long_a = where(is_i[0], half_a.x, where(is_i[1], half_a.y, half_a.z))
    long_b = where(is_j[0], half_b.x, where(is_j[1], half_b.y, half_b.z))
    r = x - y
    cosine, c, f = u.dot(w), u.dot(r), w.dot(r)
    s = clamp((cosine * f - c) / maximum(1.0 - cosine * cosine, SHORT * SHORT), -long_a, long_a)
    q = clamp(cosine * s + f, -long_b, long_b)
    s = clamp(cosine * q - c, -long_a, long_a)
    return x + u * s, y + w * q


def _face_touches(a: Placed[Box], b: Placed[Box], R: Matrix, t: Vector, face: Axis) -> list[Touch]:
    """Points of the incident face, the other box's most opposed one, within the sides of the reference face."""
    is_b, (is_x, is_y, _) = face.is_b, face.is_axis

    def turned(x: Any, y: Any, z: Any) -> tuple[Any, Any, Any]:
        """Three things of the reference box, the one along its normal last."""
        pick = _picking(is_x, is_y)
        return pick(y, z, x), pick(z, x, y), pick(x, y, z)

    # rows: u, v and the normal of the reference face; columns: axes of the incident box
    E, T = (Matrix(*(chosen(is_b, y, x) for x, y in zip(*pair, strict=True))) for pair in ((a.X.E, b.X.E), (R, R.T)))
    E, T = Matrix(*turned(*E)), Matrix(*turned(*T))
    r = chosen(is_b, b.X.r, a.X.r)
    half = Vector(*turned(*chosen(is_b, b.shape.half, a.shape.half)))
    place = Vector(*turned(*chosen(is_b, -R.transposed_times(t), t)))
    side = where(place.z < 0, -1.0, 1.0)

    # incident face: center ± p ± q
    x, y, _ = largest(*T.z.lift(absolute))
    pick = _picking(x, y)
    (ax, ay, az), (hx, hy, hz) = T.T, chosen(is_b, a.shape.half, b.shape.half)
    normal, p, q = (pick(*axes) for axes in ((ax, ay, az), (ay, az, ax), (az, ax, ay)))
    h, h_p, h_q = (pick(*sizes) for sizes in ((hx, hy, hz), (hy, hz, hx), (hz, hx, hy)))
    center = place - normal * (h * where(normal.z < 0, -side, side))
    found = spread(_clipped(center, p * h_p, q * h_q, half, side), ON_EDGE * 10)

    n = E.z * where(is_b, side, -side)
    return [
        Touch(gap, n, r + E.transposed_times(Vector(u, v, side * (half.z + 0.5 * where(gap < FAR, gap, 0.0)))))
        for u, v, gap in found
    ]


def _picking(is_x: Any, is_y: Any) -> Any:
    """A function that picks one of three scalars or vectors."""

    def pick(x: Any, y: Any, z: Any) -> Any:
        if isinstance(x, Vector):
            return chosen(is_x, x, chosen(is_y, y, z))
        return where(is_x, x, where(is_y, y, z))

    return pick


def _clipped(c: Vector, p: Vector, q: Vector, half: Vector, side: Any) -> list[Candidate]:
    """Ends of the edges of the parallelogram c ± p ± q between the sides of the rectangle, and the rectangle's corners
    within the parallelogram; the gap is along the normal."""
    found = []
    for along, across in ((p, q), (q, p)):
        slopes = [where(absolute(x) < 1e-12, 1e-12, x) for x in along[:2]]
        inverse = [1.0 / x for x in slopes]
        for start in (c - across, c + across):
            low, high = -1.0, 1.0
            for x, h, scale in zip(start[:2], half[:2], inverse, strict=True):
                ends = (h + ON_EDGE - x) * scale, (-h - ON_EDGE - x) * scale
                low, high = maximum(low, minimum(*ends)), minimum(high, maximum(*ends))
            exists = low <= high
            for s in (low, high):
                x = start + along * where(exists, s, 0.0)
                found.append(Candidate(x.x, x.y, side * x.z - half.z, exists))
    det = p.x * q.y - p.y * q.x
    is_open = absolute(det) > 1e-12
    scale = 1.0 / where(is_open, det, 1.0)
    for x, y in ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)):
        u, v = x * half.x - c.x, y * half.y - c.y
        s, t = (u * q.y - v * q.x) * scale, (p.x * v - p.y * u) * scale
        exists = is_open & (absolute(s) <= 1.0) & (absolute(t) <= 1.0)
        height = c.z + where(exists, s, 0.0) * p.z + where(exists, t, 0.0) * q.z
        found.append(Candidate(x * half.x, y * half.y, side * height - half.z, exists))
    return found
