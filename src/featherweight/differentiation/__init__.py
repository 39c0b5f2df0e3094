"""Derivatives of traces: forward and reverse mode, from program to program. Knows no dynamics.

The derivative of each operation is a column of the compiler's table; pieces that know their own have a `Rule`.
"""

from featherweight.differentiation.forward import pushed_forward, pushforward
from featherweight.differentiation.program import Program, traced
from featherweight.differentiation.replay import replayed
from featherweight.differentiation.reverse import pullback, pulled_back
from featherweight.differentiation.rules import NotBackward, Rule, Tangents

__all__ = [
    "NotBackward", "Program", "Rule", "Tangents", "pullback", "pulled_back", "pushed_forward", "pushforward",
    "replayed", "traced",
]  # fmt: skip
