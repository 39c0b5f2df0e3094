"""Equations of motion as native code: the compiler traces the expressions like any other function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sympy import MatrixBase, Symbol, srepr

from featherweight.compiler import Argument, Kernel
from featherweight.equations.equations import Equations
from featherweight.equations.expressions import Evaluation

PARTS = ("M", "b", "g", "tau", "a", "C", "T", "U", "D")
SQUARE = ("M", "C", "D")


class NativeFunction:
    """f(q, v, **symbols): arrays for each of the parts that were asked for, a single one by itself."""

    def __init__(
        self,
        equations: Equations,
        parts: tuple[str, ...],
        kernel: Kernel,
        symbols: tuple[Symbol, ...],
        defaults: dict[str, float],
    ) -> None:
        self._made_of = equations, parts
        self._kernel = kernel
        self.names = tuple(s.name for s in symbols)
        self._defaults = defaults

    def __call__(self, q: Any, v: Any, **values: Any) -> Any:
        """Values by name for inputs and parameters; q (…, nq) and v (…, nv) and all values broadcast."""
        for name in values:
            if name not in self.names:
                raise TypeError(f"there is no symbol {name!r}; there are {', '.join(self.names) or 'none'}")
        given = {**self._defaults, **values}
        missing = [name for name in self.names if name not in given]
        if missing:
            raise TypeError(f"no value for {', '.join(missing)}: give it as a keyword, {missing[0]}=…")
        results = self._kernel(q, v, *(given[name] for name in self.names))
        return results[0] if len(results) == 1 else results

    def __reduce__(self) -> tuple[Any, ...]:
        return native, self._made_of  # pickled without code: it is compiled again when needed


def native(equations: Equations, names: tuple[str, ...]) -> NativeFunction:
    """A kernel for parts of the equations; it is compiled when it is first called."""
    parts = [_part(equations, name) for name in names]
    nq, nv = len(equations.q), len(equations.v)
    symbols = (*equations.inputs, *equations.parameters)
    shapes = [_shape(name, part) for name, part in zip(names, parts, strict=True)]

    def function(scalars: list[list[Any]], lift: Callable, mark: Callable) -> tuple[list[list[Any]], Any]:
        q, v, *rest = scalars
        values = dict(zip((*equations.q, *equations.v), (*q, *v), strict=True))
        values.update({s: x[0] for s, x in zip(symbols, rest, strict=True)})
        value = Evaluation(values, mark=mark)
        return [[value(e) for e in (part if isinstance(part, MatrixBase) else [part])] for part in parts], 0

    arguments = [Argument("q", (nq,), "nq"), Argument("v", (nv,), "nv"), *(Argument(s.name, (), "") for s in symbols)]
    described = f"lambdify {names} {[a.name for a in arguments]} {_program(parts)}"
    kernel = Kernel("lambdify", arguments, shapes, function, lambda _: "", fingerprint=described)
    defaults = dict.fromkeys((s.name for s in equations.inputs), 0.0)
    defaults.update({s.name: value for s, value in equations.mechanism.values.items()})
    known = {s.name for s in symbols}
    return NativeFunction(equations, names, kernel, symbols, {n: x for n, x in defaults.items() if n in known})


def _program(parts: list[Any]) -> str:
    """Expressions as text, each common subexpression once: the key of their code."""
    numbers: dict[Any, int] = {}
    lines: list[str] = []

    def number(e: Any) -> int:
        if e not in numbers:
            args = [number(a) for a in e.args]
            lines.append(f"{type(e).__name__}{args}" if args else srepr(e))
            numbers[e] = len(lines)
        return numbers[e]

    ends = [number(e) for part in parts for e in (part if isinstance(part, MatrixBase) else [part])]
    return f"{lines} {ends}"


def _part(equations: Equations, name: str) -> Any:
    if name not in PARTS:
        raise ValueError(f"lambdify: expected some of {', '.join(PARTS)}, got {name!r}")
    part = equations.acceleration if name == "a" else getattr(equations, name)
    if part is None:
        raise ValueError(f"lambdify: {equations.method} has no {name}")
    return part


def _shape(name: str, part: Any) -> tuple[int, ...]:
    if not isinstance(part, MatrixBase):
        return ()
    return part.shape if name in SQUARE else (part.rows,)
