"""Operators: functions of arrays as programs that differentiate want them, with tangents and cotangents.

An operator takes arrays whose leading axes broadcast, and gives a tuple of arrays. `push` is its pushforward (jvp),
`pull` its pullback (vjp); both are operators again. Unlike `fw.jvp` and `fw.vjp`, they speak of all nq numbers of a
configuration: with q̇ = E(q) δ the rate of its numbers along δ, and P(q) the inverse of E on the tangent space,

    push(q, q̇) = (∂f/∂δ) P q̇,    pull(q, w) = Pᵀ (∂f/∂δ)ᵀ w.

P q̇ leaves out the part of q̇ that is normal to the space of configurations (the length of a quaternion), so the
cotangent is the one that is tangent to it. A chain rule through anything that makes configurations, `integrate` or a
quaternion that is normalised, needs no other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from featherweight.differentiation import Tangents, pulled_back, pushed_forward
from featherweight.errors import SimulationError
from featherweight.functions import Configuration, Function, function
from featherweight.functions.configuration import Input, velocities, weights_of_numbers

Shape = tuple[int, ...]
Arrays = Sequence[np.ndarray]
REFUSED = (ValueError, ArithmeticError, SimulationError)  # what is wrong with the numbers of a state


class Slot(NamedTuple):
    """An argument of an operator: its name, and the shape of its value for one state."""

    name: str
    shape: Shape


class Operator:
    """A function of arrays, with push and pull."""

    name: str
    inputs: tuple[Slot, ...]
    outputs: tuple[Shape, ...]
    linear = 0  # it is linear in so many of its last inputs
    transpose: Callable[[], Operator] | None = None  # with respect to these: of the others and weights on the results

    def __init__(self) -> None:
        self._made: dict[tuple[str, tuple[int, ...]], Operator] = {}

    def build(self, results: Sequence[Any]) -> Any:
        """What users get: the results put together."""
        return results[0] if len(results) == 1 else tuple(results)

    def __call__(self, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        """The results; an error that says what is wrong with the numbers."""
        raise NotImplementedError

    def push(self, which: Sequence[int]) -> Operator:
        """Tangents of the results, from the inputs and from tangents of these of them."""
        return self._once("push", tuple(which), self._push)

    def pull(self, which: Sequence[int]) -> Operator:
        """Cotangents of these inputs, from the inputs and from weights on the results."""
        return self._once("pull", tuple(which), self._pull)

    def _push(self, which: tuple[int, ...]) -> Operator:
        raise NotImplementedError(f"{self.name} has no derivative; second derivatives are those of fw.function")

    def _pull(self, which: tuple[int, ...]) -> Operator:
        raise NotImplementedError(f"{self.name} has no derivative; second derivatives are those of fw.function")

    def _once(self, kind: str, which: tuple[int, ...], make: Callable[[tuple[int, ...]], Operator]) -> Operator:
        if (kind, which) not in self._made:
            self._made.setdefault((kind, which), make(which))
        return self._made[kind, which]

    def batch(self, shapes: Sequence[Shape]) -> Shape:
        """The leading axes of arguments of these shapes, broadcast; ValueError names the argument that does not fit."""
        leading = []
        for slot, shape in zip(self.inputs, shapes, strict=True):
            axes = len(shape) - len(slot.shape)
            if axes < 0 or tuple(shape[axes:]) != slot.shape:
                expected = "(" + ", ".join(["…", *map(str, slot.shape)]) + ")"
                raise ValueError(f"{self.name}: {slot.name}: expected shape {expected}, got {tuple(shape)}")
            leading.append(tuple(shape[:axes]))
        try:
            return np.broadcast_shapes(*leading)
        except ValueError:
            listed = ", ".join(f"{s.name} {tuple(shape)}" for s, shape in zip(self.inputs, shapes, strict=True))
            raise ValueError(f"{self.name}: the leading (batch) axes do not broadcast together: {listed}") from None

    # ---- without errors

    def tolerant(self, *arrays: np.ndarray) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
        """The results, NaN for states whose numbers are refused, and a status for each state: 1 there, else 0."""
        batch = self.batch([a.shape for a in arrays])
        try:
            return self(*arrays), np.zeros(batch, dtype=np.int32)
        except REFUSED:
            pass
        count = prod(batch)
        rows = [
            np.broadcast_to(a, (*batch, *slot.shape)).reshape(count, *slot.shape)
            for a, slot in zip(arrays, self.inputs, strict=True)
        ]
        results = tuple(np.full((count, *shape), np.nan) for shape in self.outputs)
        good = self.good(rows)
        if good.any():
            for result, own in zip(results, self(*(row[good] for row in rows)), strict=True):
                result[good] = own
        shaped = tuple(r.reshape((*batch, *shape)) for r, shape in zip(results, self.outputs, strict=True))
        return shaped, (~good).astype(np.int32).reshape(batch)

    def good(self, rows: Arrays) -> np.ndarray:
        """Which of these states have a result: halves, and halves of those that have none."""
        good = np.ones(len(rows[0]), dtype=bool)
        parts = [slice(0, len(good))]
        while parts:
            part = parts.pop()
            try:
                self(*(row[part] for row in rows))
            except REFUSED:
                middle = (part.start + part.stop) // 2
                if middle == part.start:
                    good[part] = False
                else:
                    parts += [slice(part.start, middle), slice(middle, part.stop)]
        return good


class FunctionOperator(Operator):
    """A function made by `fw.function`."""

    def __init__(self, f: Function) -> None:
        super().__init__()
        self.function, self.name = f, f.name
        self.inputs, self.outputs = tuple(Slot(x.name, x.shape) for x in f.inputs), f.returned.shapes

    def __call__(self, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        result = self.function(*arrays)
        if self.function.returned.alone:
            return (result,)
        return tuple(result.values()) if isinstance(result, dict) else tuple(result)

    def build(self, results: Sequence[Any]) -> Any:
        return self.function.returned.build(results)

    def good(self, rows: Arrays) -> np.ndarray:
        return self.function.kernel.status(*rows) == 0

    def _push(self, which: tuple[int, ...]) -> Operator:
        f, n = self.function, len(self.inputs)

        def push(*arrays: Any) -> Any:
            values, along = _lists(arrays[:n]), dict(zip(which, _lists(arrays[n:]), strict=True))
            tangents: list[Tangents] = []
            for k, (x, own) in enumerate(zip(f.inputs, values, strict=True)):
                moved: list[Tangents] = [{0: t} for t in along[k]] if k in along else [{}] * x.size
                if k in along and x.model is not None:
                    moved = x.tangents(own, velocities(x.model, own, moved))
                tangents += moved
            _, found = pushed_forward(f.program, [v for own in values for v in own], tangents)
            return _shaped([t.get(0, 0.0) for t in found], self.outputs)

        operator = self._derivative(push, [(f"d{self.inputs[k].name}", self.inputs[k].shape) for k in which])
        operator.linear, operator.transpose = len(which), lambda: self.pull(which)
        return operator

    def _pull(self, which: tuple[int, ...]) -> Operator:
        f, n = self.function, len(self.inputs)

        def pull(*arrays: Any) -> Any:
            values, weights = _lists(arrays[:n]), [w for own in _lists(arrays[n:]) for w in own]
            wanted = [k in which for k, x in enumerate(f.inputs) for _ in range(x.size)]
            _, found = pulled_back(f.program, [v for own in values for v in own], weights, wanted)
            starts = np.cumsum([0, *(x.size for x in f.inputs)])
            cotangents: list[Any] = []
            for k in which:
                cotangents += _tangent_part(f.inputs[k], values[k], found[starts[k] : starts[k + 1]])
            return _shaped(cotangents, [self.inputs[k].shape for k in which])

        operator = self._derivative(pull, [(f"w{k}", shape) for k, shape in enumerate(self.outputs)])
        operator.linear, operator.transpose = len(self.outputs), lambda: self.push(which)
        return operator

    def _derivative(self, python_function: Callable[..., Any], further: Sequence[tuple[str, Shape]]) -> Operator:
        inputs: dict[str, Any] = {x.name: x.shape if x.model is None else Configuration(x.model) for x in self._own}
        for name, shape in further:
            while name in inputs:
                name += "_"
            inputs[name] = shape
        made = function(python_function, inputs=inputs)
        made.name = f"{python_function.__name__} of {self.name}"
        return FunctionOperator(made)

    @property
    def _own(self) -> tuple[Input, ...]:
        return self.function.inputs


def _tangent_part(x: Input, values: list[Any], weights: list[Any]) -> list[Any]:
    """Weights on the numbers of an input, less what is normal to the space of configurations."""
    return weights if x.model is None else weights_of_numbers(x.model, values, x.cotangents(values, weights))


def _lists(arrays: Sequence[Any]) -> list[list[Any]]:
    """The numbers of each array, or number."""
    return [list(np.asarray(array, dtype=object).ravel()) for array in arrays]


def _shaped(flat: Sequence[Any], shapes: Sequence[Shape]) -> tuple[Any, ...]:
    parts, at = [], 0
    for shape in shapes:
        part = np.empty(prod(shape), dtype=object)
        part[:] = flat[at : at + prod(shape)]
        parts.append(part.reshape(shape))
        at += prod(shape)
    return tuple(parts)


def operator_of(f: Any) -> Operator:
    """The operator of a function made by `fw.function`; the same one each time."""
    if isinstance(f, Operator):
        return f
    if not isinstance(f, Function):
        hint = "; make one of it by fw.function(f, inputs={…})" if callable(f) else ""
        raise TypeError(f"f: expected a function made by fw.function, got {type(f).__name__}{hint}")
    kept = f.__dict__.get("_operator")
    if kept is None:
        kept = f.__dict__.setdefault("_operator", FunctionOperator(f))
    return kept
