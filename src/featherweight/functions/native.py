"""Compiled functions of named arrays: called by position or by name, for one state or batches that broadcast."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from featherweight.compiler import Graph, Kernel, Node, compiling, interpreting, traced_array
from featherweight.differentiation import replayed, traced
from featherweight.functions.configuration import Input
from featherweight.model import Model

Shape = tuple[int, ...]
SINGULAR = (
    "a result is not finite there: the inputs are too large, or the function or its derivative is singular (√x at 0, a "
    "division by 0, a mass matrix without an inverse)"
)


@dataclass(frozen=True)
class Returned:
    """What a function returns: the shapes of its arrays, and how they are put together."""

    shapes: tuple[Shape, ...]
    build: Callable[[Sequence[Any]], Any]
    names: tuple[str, ...] = ("",)
    alone: bool = False  # a single array, by itself
    models: tuple[Model | None, ...] = ()  # of those that are configurations

    @property
    def directions(self) -> tuple[Shape, ...]:
        """Shapes of what changes: nv directions of a configuration."""
        models = self.models or (None,) * len(self.shapes)
        return tuple(shape if model is None else (model.nv,) for shape, model in zip(self.shapes, models, strict=True))

    def parts(self, flat: Sequence[Any], shapes: Sequence[Shape]) -> list[tuple[Model | None, list[Any]]]:
        """Numbers of each array of these shapes, with the model of a configuration."""
        parts, at = [], 0
        for model, shape in zip(self.models or (None,) * len(shapes), shapes, strict=True):
            parts.append((model, list(flat[at : at + prod(shape)])))
            at += prod(shape)
        return parts


def one(parts: Sequence[Any]) -> Any:
    """A single result, by itself."""
    return parts[0]


class Native:
    """A function of arrays that is compiled when it is first called."""

    name: str
    inputs: tuple[Input, ...]
    returned: Returned
    named: type[tuple] | None = None  # the class of named tuples that it returns, where entry points make these
    _entries: tuple[Any, ...] = ()  # native entry points, for one state and for batches, once there was a call
    _alone = False  # they return what the function does
    _build: Callable[[Sequence[Any]], Any] = tuple  # else, what it is built by
    _ranks: frozenset[int] = frozenset()  # for how many leading axes they were made
    _kernel: Kernel | None = None

    def write(self, values: list[Any]) -> list[Any]:
        """The results of one state, flat, from its values; written into the trace that is open."""
        raise NotImplementedError

    @property
    def kernel(self) -> Kernel:
        """The native code. Machine code is found by the structure of the trace."""
        with compiling:
            if self._kernel is None:
                arguments, shapes = [x.argument for x in self.inputs], self.returned.shapes
                self._kernel = Kernel(self.name, arguments, shapes, self._scalars, self._explain)
            return self._kernel

    def __call__(self, *values: Any, **named: Any) -> Any:
        if not named:
            for entry in self._entries:
                result = entry(*values)
                if result is not None:
                    return result if self._alone else self._built(result)
        return self._slow(self._bound(values, named))

    @property
    def entries(self) -> tuple[Any, ...]:
        """Native entry points: they return None for arguments that only a call of the function understands."""
        return self._entries

    def _built(self, result: Any) -> Any:
        return self._build(result if isinstance(result, tuple) else (result,))

    def _slow(self, values: list[Any]) -> Any:
        """Any array-like, any batch, every check with its message."""
        graph = _graph(values)
        if graph is not None:
            return self._inside(values)
        if interpreting():
            return self.returned.build(self.kernel(*values))
        kernel = self.kernel
        results = kernel(*values)
        axes = results[0].ndim - len(kernel.outputs[0])
        if axes not in self._ranks and (axes == 0 or (axes == 1 and len(results[0]) > 1)):
            entry = kernel.entry(batch=axes == 1, named=self.named)
            self._ranks |= {axes}
            self._build = self.returned.build
            plain = self._build is tuple or self.named is not None
            self._alone = self.returned.alone or (len(kernel.outputs) > 1 and plain)
            if entry is not None:
                self._entries = (*self._entries, entry) if axes else (entry, *self._entries)
        return self.returned.build(results)

    def _bound(self, values: tuple[Any, ...], named: Mapping[str, Any]) -> list[Any]:
        """The arguments in order."""
        names = [x.name for x in self.inputs]
        if len(values) > len(names):
            raise TypeError(f"{self.name}: expected {len(names)} arguments ({', '.join(names)}), got {len(values)}")
        given = dict(zip(names, values, strict=False))
        for name, value in named.items():
            if name not in names:
                near = difflib.get_close_matches(name, names, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"expected {', '.join(names)}"
                raise TypeError(f"{self.name}: there is no argument {name!r}; {hint}")
            if name in given:
                raise TypeError(f"{self.name}: {name} was given twice, by place and by name")
            given[name] = value
        missing = [name for name in names if name not in given]
        if missing:
            raise TypeError(f"{self.name}: expected arguments {', '.join(names)}; {', '.join(missing)} was not given")
        return [given[name] for name in names]

    def _scalars(self, scalars: list[list[Any]], lift: Any, mark: Any) -> tuple[list[list[Any]], Any]:
        """What the kernel runs: results by array, and the check of the inputs."""
        flat = [x for own in scalars for x in own]
        results = self.write(flat) if Graph.tracing() is not None else self._on_numbers(flat)
        check: Any = 0
        for x, own in zip(self.inputs, scalars, strict=True):
            check = check + x.check(own)
        return self._parts(results), check

    def _on_numbers(self, values: list[Any]) -> list[Any]:
        """Interpreted: what is written in a trace, run on numbers."""
        return replayed(traced(self.write, values, [True] * len(values)), values)

    def _parts(self, flat: list[Any]) -> list[list[Any]]:
        return [part for _, part in self.returned.parts(flat, self.returned.shapes)]

    def _inside(self, values: list[Any]) -> Any:
        """Inside another traced function: for one state."""
        flat: list[Any] = []
        for x, value in zip(self.inputs, values, strict=True):
            array = np.asarray(value, dtype=object)
            if array.shape != x.shape:
                raise ValueError(f"{x.name}: expected one state, shape {x.shape}, while tracing, got {array.shape}")
            flat += [v.item() if isinstance(v, np.generic) else v for v in array.ravel()]
        parts = zip(self._parts(self.write(flat)), self.returned.shapes, strict=True)
        return self.returned.build([traced_array(part).reshape(shape) for part, shape in parts])

    def _explain(self, arrays: dict[str, np.ndarray]) -> str:
        for x in self.inputs:
            reason = x.explain(arrays[x.name])
            if reason is not None:
                return reason
        return SINGULAR


def _graph(values: Sequence[Any]) -> Graph | None:
    """The trace that is being made, if the arguments hold traced values."""
    if Graph.tracing() is None:
        return None
    entries = (x for value in values for x in np.ravel(np.asarray(value, dtype=object)))
    return next((x.graph for x in entries if isinstance(x, Node)), None)
