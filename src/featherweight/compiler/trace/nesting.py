"""Nested values: tuples, lists, dictionaries and frozen dataclasses of scalars, flattened and built up again.

Loops in a trace carry flat lists. Users of `scalar.repeat` and `scalar.when` carry whatever has names: this file takes
it apart and puts it together. Fields that are made by `structural()` are known while tracing and are not carried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

STRUCTURAL = "featherweight.structural"


def structural(**options: Any) -> Any:
    """A dataclass field that shapes the code (an index, a count, a name) and is no scalar of a carry."""
    return field(metadata={STRUCTURAL: True}, **options)


@dataclass(frozen=True)
class Nesting:
    """How many scalars a value has, what it looks like, and how it is built of them."""

    size: int
    looks: str  # e.g. "(., Point(x=., y=.))": equal for values that nest alike
    build: Callable[[Sequence[Any]], Any]


LEAF = Nesting(1, ".", lambda scalars: scalars[0])


def flattened(value: Any) -> tuple[list[Any], Nesting]:
    """The scalars of a nested value, in order, and its nesting."""
    scalars: list[Any] = []
    return scalars, _nesting(value, scalars)


def rows(values: Any) -> Any:
    """A carry as it is given: nested values and single scalars as they are, any other iterable of scalars as a list."""
    scalar = not isinstance(values, Iterable) or getattr(values, "ndim", None) == 0
    nested = isinstance(values, (list, tuple, dict)) or is_dataclass(values)
    return values if scalar or nested else list(values)


def _nesting(value: Any, scalars: list[Any]) -> Nesting:
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        kind = type(value)
        return _of_parts(kind.__name__, value._fields, value, scalars, lambda parts: kind(*parts))
    if isinstance(value, (list, tuple)):
        return _of_parts("", range(len(value)), value, scalars, list if isinstance(value, list) else tuple)
    if isinstance(value, dict):
        keys = tuple(value)
        return _of_parts("dict", keys, value.values(), scalars, lambda parts: dict(zip(keys, parts, strict=True)))
    if is_dataclass(value) and not isinstance(value, type):
        return _of_dataclass(value, scalars)
    scalars.append(value)
    return LEAF


def _of_dataclass(value: Any, scalars: list[Any]) -> Nesting:
    kind, known = type(value), {f.name: getattr(value, f.name) for f in fields(value) if f.metadata.get(STRUCTURAL)}
    names = [f.name for f in fields(value) if f.name not in known]

    def build(parts: Sequence[Any]) -> Any:
        new = object.__new__(kind)  # as it was: nothing is checked or derived again
        for name, part in (*known.items(), *zip(names, parts, strict=True)):
            object.__setattr__(new, name, part)
        return new

    looks = ", ".join(f"{name}={_mark(part)}" for name, part in known.items())
    return _of_parts(f"{_mark(kind)}[{looks}]", names, [getattr(value, n) for n in names], scalars, build)


def _mark(value: Any) -> str:
    """What tells a structural value from others: itself, if it is plain; else which object it is."""
    if isinstance(value, type):
        return f"{value.__qualname__}@{id(value):x}"
    plain = isinstance(value, (bool, int, float, str, type(None)))
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return f"({', '.join(map(_mark, value))})"
    return repr(value) if plain else f"{type(value).__name__}@{id(value):x}"


def _of_parts(
    kind: str, names: Iterable[Any], values: Iterable[Any], scalars: list[Any], build: Callable[[Sequence[Any]], Any]
) -> Nesting:
    parts = [_nesting(value, scalars) for value in values]
    looks = ", ".join(f"{name}={part.looks}" if kind else part.looks for name, part in zip(names, parts, strict=True))
    ends = [0]
    for part in parts:
        ends.append(ends[-1] + part.size)

    def built(flat: Sequence[Any]) -> Any:
        return build([part.build(flat[a:b]) for part, a, b in zip(parts, ends[:-1], ends[1:], strict=True)])

    return Nesting(ends[-1], f"{kind}({looks})", built)
