"""What is wrong where a traced value is used as a number: the user's line, and what to write there."""

from __future__ import annotations

import linecache
import os
import re
import sys
import traceback
from types import FrameType

import numpy as np

OURS = (os.path.dirname(os.path.dirname(os.path.dirname(__file__))) + os.sep, os.path.dirname(np.__file__) + os.sep)
# functions of featherweight.scalar, by the names that math, NumPy and Python have for them
SAME = (
    "sin", "cos", "sqrt", "exp", "log", "tanh", "asin", "acos", "atan", "atan2", "floor", "ceil", "round", "mod",
    "clip", "norm", "sign", "minimum", "maximum", "where",
)  # fmt: skip
SCALAR = {name: name for name in SAME} | {
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2", "rint": "round", "remainder": "mod",
    "fabs": "absolute", "abs": "absolute", "min": "minimum", "max": "maximum", "amin": "minimum",
    "amax": "maximum", "fmin": "minimum", "fmax": "maximum", "hypot": "norm", "interp": "lookup",
}  # fmt: skip
WRITTEN_OUT = {
    "isnan": "x != x", "isfinite": "abs(x) < math.inf", "select": "featherweight.scalar.where, one in the other",
    "log2": "featherweight.scalar.log(x) / math.log(2)", "log10": "featherweight.scalar.log(x) / math.log(10)",
    "exp2": "featherweight.scalar.exp(x * math.log(2))",
    "fmod": "featherweight.scalar.sign(x) * featherweight.scalar.mod(abs(x), abs(y))",
    "int": "featherweight.scalar.sign(x) * featherweight.scalar.floor(abs(x))",
    "trunc": "featherweight.scalar.sign(x) * featherweight.scalar.floor(abs(x))",
}  # fmt: skip
WANT_NUMBERS = re.compile(r"(?<![\w.])(math\.(\w+)|(int))\(")
DECIDE = re.compile(r"(?<![\w.])((?:np\.|numpy\.)?(where|clip|sign|a?min|a?max|minimum|maximum|fmin|fmax))\(")
STORES = re.compile(r"^\s*[\w.]+\[.*\]\s*[-+*/]?=(?!=)")
OF_NUMPY = re.compile(r"(?<![\w.])((?:np|numpy)\.(?:linalg\.)?(\w+))\(")
BY_NUMPY = ("loop of ufunc does not support", "ufunc ", "Cannot cast ufunc")  # how its messages begin


def no_truth_value() -> TypeError:
    where = "featherweight.scalar.where(condition, a, b) in place of if, and & | ~ in place of and, or, not"
    return _error("has no truth value yet", where, DECIDE)


def no_number() -> TypeError:
    instead = "featherweight.scalar (sin, cos, sqrt, where …) in place of math or numpy"
    if STORES.match(linecache.getline(*_place())):
        instead = "an array that begins as 0 * v, in place of np.zeros, or np.concatenate of its pieces"
    return _error("is not a number yet", instead, WANT_NUMBERS)


def no_index() -> TypeError:
    return _error("is no index yet", "featherweight.scalar.lookup(table, i), or featherweight.scalar.array(x)[i]")


def no_power() -> TypeError:
    instead = "1 / x in place of x ** -1, featherweight.scalar.exp(y * featherweight.scalar.log(x)) of x > 0 for others"
    return _error("can only be raised to whole powers up to 8 and to 1/2", instead)


def no_function(name: str) -> TypeError:
    """NumPy's function of this name has no traced form."""
    instead = _instead(name.rpartition(".")[2]) or f"functions of featherweight.scalar ({', '.join(SAME)} …)"
    return _error(f"cannot be given to {name}", f"{instead} in place of it")


def no_place() -> TypeError:
    """Traced values were to be stored in an array of numbers."""
    return _error("has no place in an array of numbers", "a new array: x = x + y in place of x += y")


def explained(error: BaseException) -> str:
    """The text of an error; of one that NumPy raised about arrays with traced values, with line and substitute."""
    text = str(error)
    if not (isinstance(error, TypeError) and text.startswith(BY_NUMPY)):
        return text
    theirs = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(OURS)]
    if not theirs:
        return text
    use = _use(OF_NUMPY, theirs[-1].line or "") or "functions of featherweight.scalar"
    return f"{theirs[-1].filename}:{theirs[-1].lineno}: {text}; use {use}"


def _error(what: str, instead: str, culprits: re.Pattern[str] | None = None) -> TypeError:
    """With the user's line."""
    file, number = _place()
    use = _use(culprits, linecache.getline(file, number)) if culprits else ""
    instead = f"{use}; {instead}" if use else instead
    return TypeError(
        f"{file}:{number}: a traced value {what}, because this code becomes a program for any state; use {instead}"
    )


def _place() -> tuple[str, int]:
    """The innermost line that is neither of this package nor of NumPy."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.startswith(OURS):
        frame = frame.f_back
    frame = frame or sys._getframe(2)
    return frame.f_code.co_filename, frame.f_lineno


def _use(culprits: re.Pattern[str], line: str) -> str:
    """What to write in place of the functions that a line of code calls, or nothing."""
    found = {call: instead for call, name, *_ in culprits.findall(line) if (instead := _instead(name or call))}
    return ", ".join(f"{ours} in place of {theirs}" for theirs, ours in found.items())


def _instead(name: str) -> str | None:
    """What to write in place of a function of math, NumPy or Python; None: we do not know."""
    return WRITTEN_OUT.get(name) or (f"featherweight.scalar.{SCALAR[name]}" if name in SCALAR else None)
