"""The operations of a trace, one row each: what they take, their value on numbers, derivative, folding, and code.

To add an operation, add a row here and, if users call it, a function in `scalar/`; from outside, `add` a row and call
`scalar.apply`. Everything else follows from the row: folding while tracing, `with fw.interpret()`, LLVM IR for one lane
and for a pack.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from featherweight.compiler.trace import arcsine, arctangent, exponential, normal, remainder, threefry

CONSTANTS = frozenset(("constant", "table"))  # leaves whose numbers are known: a literal, a number of the model
LARGEST_EXP = math.log(np.finfo(float).max)  # beyond, e^x is infinite


def _no_value(*_: Any) -> Any:
    raise NotImplementedError("structure of a trace has no value on numbers")


@dataclass(frozen=True)
class Operation:
    """A row of the table.

    `llvm` is a template: {0}, {1} … are the arguments, {out} is the result (and, with a letter after it, a temporary),
    {T}, {I} and {B} the types of numbers, of integers of their size and of conditions, {s} the suffix of intrinsics;
    {real:1.5}, {int:52} and {true} are literals. Rows without one are structure, which `plan` and `llvm` know by name.

    `derivative` has a function for each argument that is a real number: ∂y/∂x_k from (f, y, x_0, x_1 …), where f(name,
    …) applies an operation; None stands for zero. Where the result is one of two arguments, `chooses` says when it is
    the first one: then its derivative is that of the side taken, and nothing of the other side counts.
    """

    name: str
    takes: str | None = "r"  # a letter for each argument that is a node: a real number or a condition; None: any number
    gives: str = "r"
    numbers: int = 0  # that are no nodes, at the end of the arguments, where any number of nodes comes before them
    value: Callable[..., Any] = _no_value  # on floats
    array: Callable[..., Any] = _no_value  # on NumPy arrays
    fold: Callable[..., float] | None = None  # value on constants; None: the operation stays
    own_leaf: bool = False  # what is folded is always a leaf; else, of literals it is a number
    derivative: tuple[Callable[..., Any] | None, ...] | None = None  # ∂y/∂x_k of each number; None: not known
    chooses: Callable[..., Any] | None = None  # of (f, arguments): where the result is the first of the two numbers
    llvm: str = ""
    lower: Callable[..., Any] | None = None  # as a program of other operations, on nodes: what is compiled of it
    vectors: bool = False  # a level of them is computed together, as whole vectors, by a support function
    symbol: str = ""  # its name in SymPy, if that is another
    others: Callable[..., Any] | None = None  # on mpmath and SymPy numbers, where no function is called so; or `value`


def _exp(x: float) -> float:
    return math.inf if x > LARGEST_EXP else math.exp(x)


def _known(function: Callable[..., Any]) -> Callable[..., float]:
    """A NumPy function on numbers: it knows no exceptions."""

    def value(*args: Any) -> float:
        with np.errstate(all="ignore"):
            return float(function(*args))

    return value


def _elementary(
    name: str, value: Callable, array: Callable, slope: Callable, *, fold: Callable | None = None, **code: Any
) -> Operation:
    """A function of one number, and its derivative."""
    return Operation(name, value=value, array=array, fold=fold or _known(array), derivative=(slope,), **code)


def _inverse(name: str, array: Callable[..., Any], lower: Callable[..., Any], slope: Callable[..., Any]) -> Operation:
    """An inverse trigonometric function: not a number where there is no angle."""
    return _elementary(name, _known(array), array, slope, lower=lower)


def _rounding(name: str, array: Callable[..., Any], llvm: str, **names: Any) -> Operation:
    value, code = _known(array), CALL.format(llvm)
    return Operation(name, value=value, array=array, fold=value, llvm=code, derivative=(None,), **names)


def _random(name: str, array: Callable[..., Any]) -> Operation:
    """A function of a seed and three counters, by a support function."""

    def value(*args: Any) -> float:
        return float(array(*map(float, args)))

    llvm = f"{{out}} = call {{T}} @draw_{name}({{T}} {{0}}, {{T}} {{1}}, {{T}} {{2}}, {{T}} {{3}})"
    flat = (None,) * 4
    return Operation(name, "rrrr", value=value, array=array, fold=value, others=value, llvm=llvm, derivative=flat)


def _normal(*args: Any) -> Any:
    return normal.random_normal(lambda name, *xs: OPERATIONS[name].array(*xs), *args)


def _fused(a: float, b: float, c: float) -> float:
    """a b + c, rounded once."""
    plain = a * b + c
    return float(Fraction(a) * Fraction(b) + Fraction(c)) if math.isfinite(plain) else plain


def _arithmetic(
    name: str, takes: str, value: Callable[..., float], llvm: str, derivative: tuple, fold: Any = None
) -> Operation:
    """Operators of Python, which work on all scalars."""
    fold = fold or value
    return Operation(name, takes, value=value, array=value, fold=fold, own_leaf=True, llvm=llvm, derivative=derivative)


def _one(*_: Any) -> float:
    return 1.0


def _minus_one(*_: Any) -> float:
    return -1.0


PRODUCT = (lambda f, y, a, b: b, lambda f, y, a, b: a)  # ∂(a b)
QUOTIENT = (lambda f, y, a, b: 1.0 / b, lambda f, y, a, b: -(y * (1.0 / b)))  # ∂(a / b)


def _extreme(name: str, value: Callable, array: Callable, llvm: str, chooses: Callable) -> Operation:
    return Operation(
        name, "rr", value=value, array=array, symbol=name.capitalize(), llvm=CHOICE.format(llvm), chooses=chooses
    )


def _order(name: str, value: Callable[..., bool], llvm: str) -> Operation:
    return Operation(name, "rr", "c", value=value, array=value, llvm=f"{{out}} = fcmp {llvm} {{T}} {{0}}, {{1}}")


FMA = "{{out}} = call {{T}} @llvm.fma.{{s}}({{T}} {}, {{T}} {}, {{T}} {})"
CHOICE = "{{out}}c = fcmp {} {{T}} {{0}}, {{1}}\n{{out}} = select {{B}} {{out}}c, {{T}} {{0}}, {{T}} {{1}}"
SUM = "{out} = fadd {T} {0}, {1}"
TIMES = "{out} = fmul {T} {0}, {1}"
CALL = "{{out}} = call {{T}} @llvm.{}.{{s}}({{T}} {{0}})"
AS_INTEGER = "{out}b = bitcast {T} {0} to {I}\n"

ROWS = (
    # leaves: their arguments are no nodes
    Operation("input", ""),
    Operation("constant", ""),
    Operation("table", ""),
    Operation("carry", ""),
    Operation("undefined", ""),
    Operation("rows", ""),  # of an input that stays where it is
    Operation("span", ""),  # slots of an input from one on, as a matrix
    Operation("weights", ""),  # numbers of the model side by side, as a matrix
    # structure; numbers that are no nodes follow the arguments
    Operation("repeat", None),
    Operation("result"),
    Operation("lookup", derivative=(None,)),
    # arrays: the first argument of a load or a store is the version of its array
    Operation("array", None, numbers=1),
    Operation("load", "rr"),
    Operation("store", "rrr"),
    Operation("linear", "rrr"),  # y += W x: versions of y and x, and a leaf for W
    Operation("after", "rr"),  # the version, and a load that comes before what is done to it
    # arithmetic
    _arithmetic("add", "rr", operator.add, SUM, (_one, _one)),
    _arithmetic("sub", "rr", operator.sub, "{out} = fsub {T} {0}, {1}", (_one, _minus_one)),
    _arithmetic("mul", "rr", operator.mul, TIMES, PRODUCT),
    _arithmetic(
        "div", "rr", operator.truediv, "{out} = fdiv {T} {0}, {1}", QUOTIENT, lambda x, y: x / y if y else math.nan
    ),
    _arithmetic("neg", "r", operator.neg, "{out} = fneg {T} {0}", (_minus_one,)),
    _arithmetic(
        "reciprocal",
        "r",
        lambda x: 1.0 / x,
        "{out} = fdiv {T} {real:1.0}, {0}",
        (lambda f, y, x: -(y * y),),
        lambda x: 1.0 / x if x else math.nan,
    ),
    # fused by `plan/fuse.py`
    Operation("fma", "rrr", value=_fused, llvm=FMA.format("{0}", "{1}", "{2}")),
    Operation(
        "fms",
        "rrr",
        value=lambda a, b, c: _fused(a, b, -c),
        llvm="{out}n = fneg {T} {2}\n" + FMA.format("{0}", "{1}", "{out}n"),
    ),
    Operation(
        "fnma",
        "rrr",
        value=lambda a, b, c: _fused(-a, b, c),
        llvm="{out}n = fneg {T} {0}\n" + FMA.format("{out}n", "{1}", "{2}"),
    ),
    # choices and conditions
    _extreme("min", min, np.minimum, "olt", lambda f, a, b: a < b),
    _extreme("max", max, np.maximum, "ogt", lambda f, a, b: a > b),
    Operation(
        "abs",
        value=abs,
        array=abs,
        llvm=CALL.format("fabs"),
        derivative=(lambda f, y, x: f("select", x < 0, -1.0, 1.0),),
    ),
    _order("lt", operator.lt, "olt"),
    _order("le", operator.le, "ole"),
    _order("eq", operator.eq, "oeq"),
    Operation("and", "cc", "c", value=operator.and_, array=operator.and_, llvm="{out} = and {B} {0}, {1}"),
    Operation("or", "cc", "c", value=operator.or_, array=operator.or_, llvm="{out} = or {B} {0}, {1}"),
    Operation("not", "c", "c", value=operator.not_, array=np.logical_not, llvm="{out} = xor {B} {0}, {true}"),
    Operation(
        "select",
        "crr",
        value=lambda c, x, y: x if c else y,
        array=np.where,
        llvm="{out} = select {B} {0}, {T} {1}, {T} {2}",
        chooses=lambda f, c, a, b: c,
    ),
    # elementary functions
    _elementary("sqrt", math.sqrt, np.sqrt, lambda f, y, x: 0.5 / y, fold=math.sqrt, llvm=CALL.format("sqrt")),
    _elementary("sin", math.sin, np.sin, lambda f, y, x: f("cos", x), fold=math.sin, vectors=True),
    _elementary("cos", math.cos, np.cos, lambda f, y, x: -f("sin", x), fold=math.cos, vectors=True),
    _elementary("exp", _exp, np.exp, lambda f, y, x: y, lower=exponential.exp),
    _elementary("log", math.log, np.log, lambda f, y, x: 1.0 / x, lower=exponential.log),
    _elementary("tanh", math.tanh, np.tanh, lambda f, y, x: 1.0 - y * y, lower=exponential.tanh),
    Operation(
        "atan2",
        "rr",
        value=math.atan2,
        array=np.arctan2,
        lower=arctangent.atan2,
        derivative=(lambda f, _, y, x: x / (x * x + y * y), lambda f, _, y, x: -(y / (x * x + y * y))),
    ),
    _inverse("asin", np.arcsin, arcsine.asin, lambda f, y, x: 1.0 / f("sqrt", (1.0 - x) * (1.0 + x))),
    _inverse("acos", np.arccos, arcsine.acos, lambda f, y, x: -(1.0 / f("sqrt", (1.0 - x) * (1.0 + x)))),
    _inverse("atan", np.arctan, arctangent.atan, lambda f, y, x: 1.0 / (1.0 + x * x)),
    # whole numbers and remainders
    _rounding("floor", np.floor, "floor"),
    _rounding("ceil", np.ceil, "ceil", symbol="ceiling", others=math.ceil),
    _rounding("round", np.rint, "roundeven", others=round),
    Operation(
        "mod",
        "rr",
        value=_known(remainder.mod_of_arrays),
        array=remainder.mod_of_arrays,
        fold=_known(remainder.mod_of_arrays),
        lower=remainder.mod,
        symbol="Mod",
        others=operator.mod,
        derivative=(_one, lambda f, _, x, y: -f("floor", x / y)),
    ),
    # random numbers
    _random("random", threefry.uniform),
    _random("random_centre", threefry.centred),
    _random("random_normal", _normal),
    # what they are lowered to; a sum and a product that are rounded by themselves, whatever stands around them
    Operation("plus", "rr", value=operator.add, array=operator.add, llvm=SUM, derivative=(_one, _one)),
    Operation("times", "rr", value=operator.mul, array=operator.mul, llvm=TIMES, derivative=PRODUCT),
    Operation(  # 2^k of a whole number from -1022 to 1023: added to 3 · 2^51, it stands in the last bits
        "power_of_two",
        value=lambda k: math.ldexp(1.0, int(k)),
        array=np.exp2,
        llvm=f"{{out}}k = fadd {{T}} {{0}}, {{real:{1.5 * 2.0**52 + 1023!r}}}\n{{out}}b = bitcast {{T}} {{out}}k to "
        "{I}\n{out}e = shl {I} {out}b, {int:52}\n{out} = bitcast {I} {out}e to {T}",
    ),
    Operation(  # the whole number k of x = 2^k m with m from 1 to 2, for a positive x with all its digits
        "exponent",
        value=lambda x: math.frexp(x)[1] - 1.0,
        array=lambda x: np.frexp(x)[1] - 1.0,
        llvm=AS_INTEGER
        + f"{{out}}e = lshr {{I}} {{out}}b, {{int:52}}\n{{out}}o = or {{I}} {{out}}e, {{int:{0x433 << 52}}}\n"
        + f"{{out}}k = bitcast {{I}} {{out}}o to {{T}}\n{{out}} = fsub {{T}} {{out}}k, {{real:{2.0**52 + 1023!r}}}",
    ),
    Operation(  # the m of x = 2^k m
        "significand",
        value=lambda x: 2.0 * math.frexp(x)[0],
        array=lambda x: 2.0 * np.frexp(x)[0],
        llvm=AS_INTEGER
        + f"{{out}}f = and {{I}} {{out}}b, {{int:{(1 << 52) - 1}}}\n{{out}}o = or {{I}} {{out}}f, {{int:{0x3FF << 52}}}"
        + "\n{out} = bitcast {I} {out}o to {T}",
    ),
)
OPERATIONS: dict[str, Operation] = {}
FOLD: dict[str, Callable[..., float]] = {}
ARITY: dict[str, int | None] = {}  # where the nodes among the arguments end
LEAVES = frozenset(row.name for row in ROWS if row.takes == "")
VECTORS = frozenset(row.name for row in ROWS if row.vectors)


def add(row: Operation) -> None:
    """Add an operation to the table."""
    if row.name in OPERATIONS:
        raise ValueError(f"operation {row.name!r}: expected a new name, there is one of this name already")
    OPERATIONS[row.name] = row
    ARITY[row.name] = -row.numbers or None if row.takes is None else len(row.takes)
    if row.fold is not None:
        FOLD[row.name] = row.fold


for _row in ROWS:
    add(_row)


def operands(op: str, args: tuple) -> tuple[int, ...]:
    """Those of a node's arguments that are nodes."""
    return args[: ARITY[op]]
