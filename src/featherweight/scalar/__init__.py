"""Functions for any scalar: float, NumPy array, trace node, mpmath or SymPy number.

Arithmetic works on all of them by itself. These are the functions that need to know the type.
"""

from featherweight.compiler.trace.nesting import structural
from featherweight.scalar.functions import (
    absolute,
    acos,
    apply,
    asin,
    atan,
    atan2,
    by_itself,
    ceil,
    clip,
    cos,
    exp,
    floor,
    log,
    logical_not,
    maximum,
    minimum,
    mod,
    norm,
    reciprocal,
    round,
    sign,
    sin,
    sqrt,
    tanh,
    where,
)
from featherweight.scalar.loops import count, only_where, repeat, when
from featherweight.scalar.memory import array, lookup
from featherweight.scalar.products import dense, linear, matrix
from featherweight.scalar.randomness import random, random_normal
from featherweight.scalar.tracing import known, model_number, ruled, weave

__all__ = [
    "absolute", "acos", "apply", "array", "asin", "atan", "atan2", "by_itself", "ceil", "clip", "cos", "count",
    "dense", "exp", "floor", "known", "linear", "log", "logical_not", "lookup", "matrix", "maximum", "minimum", "mod",
    "model_number", "norm", "only_where", "random", "random_normal", "reciprocal", "repeat", "round", "ruled", "sign",
    "sin", "sqrt", "structural", "tanh", "weave", "when", "where",
]  # fmt: skip
