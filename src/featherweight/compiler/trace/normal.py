"""Random numbers of the normal distribution, in operations that are rounded one by one: the same bits on NumPy.

x(u) = q R(q²) for |q| = |u - 1/2| ≤ 0.425, else ±R(√(-log p)) with p = 1/2 - |q|: R are rational, within 5e-15.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from featherweight.compiler.trace.exponential import LN2, P

Call = Callable[..., Any]  # an operation of the table by name, on arrays or in LLVM code

# numerators and denominators, in q² - 0.180625 and √(-log p) - 1.6: interpolated at Chebyshev points with 60 digits
CENTRE, EDGE = 0.180625, 1.6
MIDDLE = (
    (
        3.3871328727963643, -137.80420825654852, 2139.406639720711, -15938.38581328628, 58925.21790488089,
        -101129.46534916267, 66128.2298726726, -8940.205712202582, -349.4188184744363,
    ),
    (
        1.0, -43.6898755670845, 740.8689353320578, -6176.652825712024, 26506.906058383494, -56092.06095810155,
        50905.80268886249, -13818.963557187091,
    ),
)  # fmt: skip
TAIL = (
    (
        1.4234371107496906, 4.665390512193054, 5.90444072228701, 3.847712513168321, 1.4162620528814385,
        0.29794134192142646, 0.033957406207834974, 0.00181525507490058, 3.1891863611397466e-05,
    ),
    (
        1.0, 2.07781699699843, 1.7416420559159884, 0.7540145036732101, 0.17813101749873023, 0.022084070288243027,
        0.001247614474927589, 2.2550455338696916e-05,
    ),
)  # fmt: skip


def random_normal(call: Call, *seed_and_counters: Any) -> Any:
    """The quantile of a uniform random number."""
    return quantile(call, call("random_centre", *seed_and_counters))


def quantile(call: Call, u: Any) -> Any:
    """x with Φ(x) = u, for 2^-53 ≤ u ≤ 1 - 2^-53."""
    q = call("plus", u, -0.5)
    size = call("abs", q)
    middle = call("le", size, 0.425)
    square = call("times", q, q)
    root = call("sqrt", call("neg", _log(call, call("plus", 0.5, call("neg", size)))))
    t = call("select", middle, call("plus", square, -CENTRE), call("plus", root, -EDGE))
    above, below = (
        _polynomial(call, t, [call("select", middle, *pair) for pair in zip(*parts, strict=True)])
        for parts in zip(MIDDLE, TAIL, strict=True)
    )
    scale = call("select", middle, q, call("select", call("lt", q, 0.0), -1.0, 1.0))
    return call("times", scale, call("div", above, below))


def _log(call: Call, p: Any) -> Any:
    """log p = k ln 2 + 2 s + s z P(z), p = 2^k m, s = (m - 1)/(m + 1), z = s²; m from √½ to √2."""
    k, m = call("exponent", p), call("significand", p)
    large = call("lt", 2.0**0.5, m)
    k, m = call("select", large, call("plus", k, 1.0), k), call("select", large, call("times", m, 0.5), m)
    s = call("div", call("plus", m, -1.0), call("plus", m, 1.0))
    z = call("times", s, s)
    rest = call("times", s, call("times", z, _polynomial(call, z, P)))
    return call("plus", call("times", k, LN2[0]), call("plus", call("times", s, 2.0), rest))


def _polynomial(call: Call, x: Any, coefficients: Sequence[Any]) -> Any:
    total = coefficients[-1]
    for c in coefficients[-2::-1]:
        total = call("plus", call("times", total, x), c)
    return total
