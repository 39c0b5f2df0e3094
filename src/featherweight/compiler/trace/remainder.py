"""Remainders with the sign of the divisor, as a program of arithmetic; the digits are those of Python's %."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from featherweight.compiler.trace.arctangent import chosen

MOST = 2.0**53  # quotients from here on have no digits left: the remainder is 0


def mod(x: Any, y: Any) -> Any:
    """x - y ⌊x / y⌋ of nodes, of which one may be a number."""
    graph = (x if isinstance(y, float) else y).graph
    quotient = graph.apply("floor", x / y)
    rest = x - quotient * y  # exact: one fused operation
    rest = chosen(quotient == 0, x, rest)  # also if y is infinite
    # a quotient that was rounded up to a whole number is one too large
    beyond = ((rest < 0) & (y > 0)) | ((rest > 0) & (y < 0))
    rest = chosen(beyond, rest + y, rest)
    lost = (abs(quotient) >= MOST) & (abs(x) < math.inf) & (y != 0)
    return chosen(lost | (rest == 0), chosen(y < 0, -0.0, 0.0), rest)


def mod_of_arrays(x: Any, y: Any) -> Any:
    """The same on NumPy arrays."""
    with np.errstate(all="ignore"):
        rest, quotient = np.mod(x, y), np.abs(np.divide(x, y))
        return np.where((quotient >= MOST) & np.isfinite(x) & (y != 0), np.copysign(0.0, y), rest)
