"""Softened laws, for derivatives near changes of contact: the sides of a law pass into each other over a width ε.

Each law says that impulses are what is left of Λ - w when it is projected onto what is allowed (Alart and Curnier,
1991), with Λ = g λ and g the mobility of the block, so that all of it is a velocity [m/s]:

    contact, stops    Λ_n = max(Λ_n - w_n, 0)
    friction          Λ_t = y_t min(|y_t|, μ Λ_n) / |y_t|,  y_t = Λ_t - w_t
    bounds a, b       Λ = a + max(Λ - u - a, 0) - max(Λ - u - b, 0).

Softened, max(x, 0) is (x + √(x² + ε²)) / 2, and min(x, y) is x - max(x - y, 0). As ε → 0 that is the law itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from featherweight.constraints.cone import Cone
from featherweight.constraints.interval import Interval, Stop, is_infinite
from featherweight.constraints.law import Law
from featherweight.inputs import absent
from featherweight.scalar import sqrt

LEAST = 1e-15  # of |y_t| [m/s]


def softened(
    law: Law, own: Sequence[Any], w: Sequence[Any], before: Sequence[Any], mobility: Callable[[int], Any],
    gains: Sequence[Any], width: Any,
) -> list[Any]:  # fmt: skip
    """The equations of a law like `Law.equations`, softened over a width [m/s]; `gains`: mobilities of the rows. Those
    of a law that is not known here stay as they are."""
    if isinstance(law, Cone):
        return _cone(law, own, w, gains, width)
    if isinstance(law, Interval):
        u = w[0] if absent(law.yields) else w[0] + law.yields * mobility(0) * (own[0] - before[0])
        return [_interval(law, own[0] * gains[0], u, gains[0], width)]
    return law.equations(own, w, before, mobility)


def softened_stop(stop: Stop, impulse: Any, v: Any, gain: Any, width: Any) -> Any:
    """The equation of a joint between two ends, with an impulse along its coordinate: positive at the lower end. An end
    that is not there says nothing."""
    equation = scaled = impulse * gain
    if not is_infinite(stop.low):
        equation = equation - positive(scaled - (v - stop.low), width)
    return equation if is_infinite(stop.high) else equation + positive(-scaled - (stop.high - v), width)


def positive(x: Any, width: Any) -> Any:
    """max(x, 0), softened."""
    return 0.5 * (x + sqrt(x * x + width * width))


def _cone(law: Cone, own: Sequence[Any], w: Sequence[Any], gains: Sequence[Any], width: Any) -> list[Any]:
    gain = (gains[0] + gains[1] + gains[2]) * (1.0 / 3.0)
    n, x, y = (l * gain for l in own)
    u_1, u_2, most = x - w[1], y - w[2], law.friction * n
    size = sqrt(u_1 * u_1 + u_2 * u_2 + LEAST * LEAST)
    share = 1.0 - positive(size - most, width) / size
    return [n - positive(n - w[0], width), x - share * u_1, y - share * u_2]


def _interval(law: Interval, scaled: Any, u: Any, gain: Any, width: Any) -> Any:
    y = scaled - u
    if is_infinite(law.least):
        allowed = y
    else:
        allowed = law.least * gain + positive(y - law.least * gain, width)
    return scaled - (allowed if is_infinite(law.most) else allowed - positive(y - law.most * gain, width))
