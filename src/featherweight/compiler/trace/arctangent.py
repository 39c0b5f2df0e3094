"""The angle of a point in the plane as a program of arithmetic, within 2 ulp.

atan2(y, x) = k π/4 ± atan u with k whole and |u| ≤ 1/2; atan u = u + u³ Σ c_j u^2j.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from featherweight.compiler.trace.node import Condition, Node

# to 4e-18 for |u| ≤ 1/2: interpolated at Chebyshev points of u², with 60 digits
ATAN = (
    -0.3333333333333333,
    0.19999999999999488,
    -0.14285714285599188,
    0.11111111100917376,
    -0.09090908620322523,
    0.07692294712540285,
    -0.06666435677235948,
    0.05879578429582425,
    -0.05240099507994713,
    0.04628024868570153,
    -0.03806653672057366,
    0.025006503566489507,
    -0.009215792047089858,
)
QUARTER_PI = (math.pi / 4, 3.061616997868383e-17)  # π/4 in two parts


def atan2(y: Any, x: Any) -> Any:
    """The angle of the point (x, y), of which one may be a number."""
    graph = (x if isinstance(y, float) else y).graph
    width, height = abs(x), abs(y)
    steep, backward = height > width, x < 0

    # u = t for t = small / large ≤ 1/2, else (t - 1) / (t + 1), an eighth of a turn further on; no sum overflows
    small, large = graph.apply("min", width, height), graph.apply("max", width, height)
    scale = (large > 1).select(0.5, 1.0)
    small, large = scale * small, scale * large
    far = 2 * small > large
    above = far.select(small - large, small)
    below = far.select(small + large, large)
    u = above / (below > 0).select(below, 1.0)

    # undo the reflections at the diagonal and at the two axes
    eighths = far.select(1.0, 0.0)
    for mirrored, whole in ((steep, 2), (backward, 4), (y < 0, 0)):
        eighths, u = chosen(mirrored, whole - eighths, eighths), chosen(mirrored, -u, u)

    # sum the small terms by themselves (a choice keeps them out of the last chain), then the large ones, fused
    square = u * u
    series: Any = 0.0
    for c in reversed(ATAN):
        series = series * square + c
    high, low = QUARTER_PI
    rest = chosen(far | steep | backward, (u * square) * series + eighths * low, (u * square) * series)
    return u + rest + eighths * high


def atan(x: Node) -> Any:
    """The angle whose tangent is x."""
    return atan2(x, 1.0)


def chosen(condition: Condition | bool, if_true: Any, if_false: Any) -> Any:
    """A choice that may be known already."""
    if isinstance(condition, bool):
        return if_true if condition else if_false
    return condition.select(if_true, if_false)
