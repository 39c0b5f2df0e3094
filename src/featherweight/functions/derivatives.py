"""Derivatives of functions: Jacobians, tangents (jvp) and cotangents (vjp), compiled."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any

from featherweight.differentiation import NotBackward, Tangents, pulled_back, pushed_forward, replayed
from featherweight.functions.configuration import Input, velocities, weights_of_numbers
from featherweight.functions.function import Function
from featherweight.functions.native import Native, Returned

BACKWARD = 4  # a Jacobian is made backwards if it has so many times more columns than rows


class Derivative(Native):
    """A compiled derivative of a function: see `derivative`, `jvp` and `vjp`."""

    kind: str

    def __init__(self, function: Function, names: tuple[str, ...]) -> None:
        self.function, self.names = function, names
        self.name = f"{self.kind} of {function.name}"

    def __repr__(self) -> str:
        return f"<featherweight {self.name} with respect to {', '.join(self.names)}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.function, self.names)

    @property
    def asked(self) -> list[Input]:
        """The inputs that it is a derivative with respect to."""
        by_name = {x.name: x for x in self.function.inputs}
        return [by_name[name] for name in self.names]

    def _values(self, flat: list[Any]) -> dict[str, list[Any]]:
        """Values of all arguments, by name."""
        values, at = {}, 0
        for x in self.inputs:
            values[x.name] = flat[at : at + x.size]
            at += x.size
        return values

    def _of_function(self, values: dict[str, list[Any]]) -> list[Any]:
        return [v for x in self.function.inputs for v in values[x.name]]

    def _tangents(self, values: dict[str, list[Any]], along: Mapping[str, Sequence[Tangents]]) -> list[Tangents]:
        """Tangents of all inputs of the function."""
        found: list[Tangents] = []
        for x in self.function.inputs:
            own: list[Tangents] = [{}] * x.size
            found += x.tangents(values[x.name], along[x.name]) if x.name in along else own
        return found

    def _pushed(self, values: dict[str, list[Any]], along: Mapping[str, Sequence[Tangents]]) -> list[Tangents]:
        """Tangents of the results, along their directions."""
        tangents, returned = self._tangents(values, along), self.function.returned
        results, found = pushed_forward(self.function.program, self._of_function(values), tangents)
        moved: list[Tangents] = []
        for (model, own), (_, t) in zip(
            returned.parts(results, returned.shapes), returned.parts(found, returned.shapes), strict=True
        ):
            moved += t if model is None else velocities(model, own, t)
        return moved

    def _on_numbers_of(self, values: dict[str, list[Any]], weights: Sequence[Any]) -> list[Any]:
        """Weights on all numbers of the results, from weights along their directions."""
        returned = self.function.returned
        if not any(returned.models):
            return list(weights)
        results = replayed(self.function.program, self._of_function(values))
        found: list[Any] = []
        for (model, own), (_, w) in zip(
            returned.parts(results, returned.shapes), returned.parts(weights, returned.directions), strict=True
        ):
            found += w if model is None else weights_of_numbers(model, own, w)
        return found

    def _cotangents(self, values: dict[str, list[Any]], weights: Sequence[Any]) -> dict[str, list[Any]]:
        """Cotangents of the inputs that were asked for, along their directions."""
        wanted = [x.name in self.names for x in self.function.inputs for _ in range(x.size)]
        weights = self._on_numbers_of(values, weights)
        _, raw = pulled_back(self.function.program, self._of_function(values), weights, wanted)
        found, at = {}, 0
        for x in self.function.inputs:
            if x.name in self.names:
                found[x.name] = x.cotangents(values[x.name], raw[at : at + x.size])
            at += x.size
        return found


class Jacobians(Derivative):
    kind = "derivative"

    @property
    def inputs(self) -> tuple[Input, ...]:  # type: ignore[override]
        return self.function.inputs

    @property
    def returned(self) -> Returned:  # type: ignore[override]
        of_function = self.function.returned
        n = len(of_function.shapes)
        shapes = tuple((*shape, *x.directions) for x in self.asked for shape in of_function.directions)

        def build(parts: Sequence[Any]) -> Any:
            found = [of_function.build(parts[k * n : k * n + n]) for k in range(len(self.names))]
            return found[0] if len(found) == 1 else tuple(found)

        return Returned(shapes, build, alone=of_function.alone and len(self.names) == 1)

    def write(self, flat: list[Any]) -> list[Any]:
        rows, columns = self._rows(), sum(prod(x.directions) for x in self.asked)
        try:
            by_rows = self._backward(flat) if BACKWARD * rows <= columns else self._forward(flat)
        except NotBackward:
            by_rows = self._forward(flat)
        return [entry for x in self.asked for row in by_rows for entry in row[x.name]]

    def _rows(self) -> int:
        return sum(map(prod, self.function.returned.directions))

    def _forward(self, flat: list[Any]) -> list[dict[str, list[Any]]]:
        """One direction after the other."""
        values, along, at = self._values(flat), {}, 0
        places: dict[str, range] = {}
        for x in self.asked:
            places[x.name] = range(at, at + prod(x.directions))
            along[x.name] = [{d: 1.0} for d in places[x.name]]
            at += prod(x.directions)
        found = self._pushed(values, along)
        return [{name: [t.get(d, 0.0) for d in own] for name, own in places.items()} for t in found]

    def _backward(self, flat: list[Any]) -> list[dict[str, list[Any]]]:
        """One result after the other."""
        values, n = self._values(flat), self._rows()
        return [self._cotangents(values, [float(j == k) for j in range(n)]) for k in range(n)]


class Pushforward(Derivative):
    kind = "jvp"

    @property
    def inputs(self) -> tuple[Input, ...]:  # type: ignore[override]
        return _with_further(self.function.inputs, [(f"d{x.name}", x.directions) for x in self.asked])

    @property
    def returned(self) -> Returned:  # type: ignore[override]
        own = self.function.returned
        return replace(own, shapes=own.directions, models=())

    def write(self, flat: list[Any]) -> list[Any]:
        values = self._values(flat)
        along = {
            x.name: [{0: t} for t in values[d.name]]
            for x, d in zip(self.asked, self.inputs[len(self.function.inputs) :], strict=True)
        }
        return [t.get(0, 0.0) for t in self._pushed(values, along)]


class Pullback(Derivative):
    kind = "vjp"

    @property
    def inputs(self) -> tuple[Input, ...]:  # type: ignore[override]
        returned = self.function.returned
        names = [f"w{name}" if name.isdigit() else f"w_{name}" if name else "w" for name in returned.names]
        return _with_further(self.function.inputs, zip(names, returned.directions, strict=True))

    @property
    def returned(self) -> Returned:  # type: ignore[override]
        return Returned(tuple(x.directions for x in self.asked), tuple)

    def write(self, flat: list[Any]) -> list[Any]:
        values = self._values(flat)
        weights = [w for x in self.inputs[len(self.function.inputs) :] for w in values[x.name]]
        found = self._cotangents(values, weights)
        return [z for x in self.asked for z in found[x.name]]


def derivative(f: Function, *names: str) -> Derivative:
    """The Jacobians ∂f/∂x of a function with respect to inputs, compiled: `fw.derivative(f, "q", "p")(q, v, p)`.

    A configuration is differentiated along q ⊕ δ: nv directions, each joint in its own frame, linear first. Where f is
    made of branches (`where`, `minimum`, `abs` …) it is the derivative of the side that is taken.

    Args:
        f: made by `fw.function`.
        names: of inputs of f; all of them if none is given.

    Returns:
        A function of the inputs of f. It returns a Jacobian for each name, a single one by itself. Its axes are those
        of the batch, of the result, and of the input: (…, n, nv) for a result of shape (n,) and a configuration,
        (…, nv) for a number. If f returns a tuple or a dictionary, so does each.

    >>> import featherweight as fw
    >>> f = fw.function(lambda x, p: p[0] * x * x, inputs={"x": 2, "p": 1})
    >>> fw.derivative(f, "x", "p")([3.0, 4.0], [2.0])
    (array([[12.,  0.],
           [ 0., 16.]]), array([[ 9.],
           [16.]]))
    """
    return Jacobians(_checked(f), _names(f, names))


def jvp(f: Function, *names: str) -> Derivative:
    """Tangents of a function's results along tangents of inputs: `fw.jvp(f, "q")(q, v, p, dq)` = (∂f/∂q) dq, compiled.

    It costs about as much as two or three calls of f, however many numbers f takes.

    Args:
        f: made by `fw.function`.
        names: of inputs of f; all of them if none is given.

    Returns:
        A function of the inputs of f and of one tangent for each name, called `dq` for `q`: shape (nv,) for a
        configuration, else as the input. It returns what f returns, differentiated.

    >>> import featherweight as fw
    >>> f = fw.function(lambda x, p: p[0] * x * x, inputs={"x": 2, "p": 1})
    >>> fw.jvp(f, "x")([3.0, 4.0], [2.0], dx=[1.0, 0.5])
    array([12.,  8.])
    """
    return Pushforward(_checked(f), _names(f, names))


def vjp(f: Function, *names: str) -> Derivative:
    """Cotangents of a function's inputs from weights on its results: `fw.vjp(f)(q, v, p, w)` = wᵀ ∂f/∂(q, v, p).

    One pass backwards, which costs a few times as much as f, however many numbers f takes: the gradient of a cost whose
    gradient with respect to the results of f is w.

    Args:
        f: made by `fw.function`.
        names: of inputs of f; all of them if none is given.

    Returns:
        A function of the inputs of f and of weights `w` of the shape that f returns; of several results, weights for
        each (`w0`, `w1` … for a tuple, `w_name` for a dictionary). It returns a tuple with a cotangent for each name,
        in the order of the names: shape (…, nv) for a configuration, else as the input.

    >>> import featherweight as fw
    >>> f = fw.function(lambda x, p: p[0] * x * x, inputs={"x": 2, "p": 1})
    >>> fw.vjp(f)([3.0, 4.0], [2.0], [1.0, 0.5])
    (array([12.,  8.]), array([17.]))
    """
    return Pullback(_checked(f), _names(f, names))


def _checked(f: Any) -> Function:
    if not isinstance(f, Function):
        hint = "" if not callable(f) else "; make one of it by fw.function(f, inputs={…})"
        raise TypeError(f"f: expected a function made by fw.function, got {type(f).__name__}{hint}")
    return f


def _names(f: Function, names: tuple[str, ...]) -> tuple[str, ...]:
    known = [x.name for x in f.inputs]
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(str(name), known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(known)}"
            raise ValueError(f"names: {f.name} has no input {name!r}; {hint}")
    if len(set(names)) < len(names):
        raise ValueError(f"names: expected each input once, got {', '.join(names)}")
    return names or tuple(known)


def _with_further(own: tuple[Input, ...], others: Iterable[tuple[str, tuple[int, ...]]]) -> tuple[Input, ...]:
    """Inputs of a function and further ones, by name and shape, each under a name that is free."""
    inputs = list(own)
    for name, shape in others:
        while any(x.name == name for x in inputs):
            name += "_"
        inputs.append(Input(name, shape, shape))
    return tuple(inputs)
