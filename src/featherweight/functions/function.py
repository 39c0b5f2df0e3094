"""Functions of a user: plain Python on arrays, traced once, compiled, batched."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from featherweight.compiler import Graph, Node, compiling, explained, interpreting, traced_array
from featherweight.differentiation import Program, replayed
from featherweight.functions.configuration import Configuration, Input, inputs_of
from featherweight.functions.native import Native, Returned, one
from featherweight.model import Model


class Function(Native):
    """A compiled function: see `function`. It is pickled as its Python function is, without what was compiled."""

    def __init__(self, function: Callable[..., Any], inputs: Mapping[str, Any], outputs: Any = None) -> None:
        self.outputs = outputs
        self.function, self.inputs, self.given = function, inputs_of(inputs), dict(inputs)
        self.name = getattr(function, "__name__", type(function).__name__)

    _made: tuple[Program, Returned] | None = None

    def __repr__(self) -> str:
        return f"<featherweight function {self.name}({', '.join(x.name for x in self.inputs)})>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Function, (self.function, self.given, self.outputs)

    @property
    def program(self) -> Program:
        """The trace, made once: all derivatives are those of this program."""
        return self._traced[0]

    @property
    def returned(self) -> Returned:  # type: ignore[override]
        """What the function returns."""
        return self._traced[1]

    @property
    def _traced(self) -> tuple[Program, Returned]:
        with compiling:
            if self._made is None:
                self._made = self._trace()
            return self._made

    def _trace(self) -> tuple[Program, Returned]:
        graph = Graph()
        leaves = [graph.input(0, k) for k in range(sum(x.size for x in self.inputs))]
        arrays, at = [], 0
        for x in self.inputs:
            arrays.append(_array(x, leaves[at : at + x.size]))
            at += x.size
        with graph.written():
            result = self._called(arrays)
        flat, returned = _taken_apart(self.name, result)
        returned = replace(returned, models=_models(self.name, self.outputs, returned))
        return Program.of(graph, leaves, flat), returned

    def _called(self, arrays: list[Any]) -> Any:
        try:
            return self.function(*arrays)
        except TypeError as error:
            text = explained(error)
            if text == str(error):
                raise
            raise TypeError(text) from error

    def write(self, values: list[Any]) -> list[Any]:
        return replayed(self.program, values)

    def _on_numbers(self, values: list[Any]) -> list[Any]:
        """Interpreted: the Python function itself, state by state where there are several."""
        arrays, at = [], 0
        for x in self.inputs:
            arrays.append(np.array(values[at : at + x.size], dtype=float).reshape(x.shape))
            at += x.size
        return [float(x) for x in _taken_apart(self.name, self.function(*arrays))[0]]

    def _slow(self, values: list[Any]) -> Any:
        if interpreting() and Graph.tracing() is None:
            return self._interpreted(values)
        return super()._slow(values)

    def _interpreted(self, values: list[Any]) -> Any:
        """One state after the other, on numbers: what a debugger steps through."""
        from featherweight.compiler.runtime.arguments import as_array, batch_shape

        arguments = [x.argument for x in self.inputs]
        arrays = [as_array(a.name, v, a.shape, a.symbols) for a, v in zip(arguments, values, strict=True)]
        batch = batch_shape([a.name for a in arguments], arrays, [len(a.shape) for a in arguments])
        rows = [np.broadcast_to(a, (*batch, *x.shape)) for a, x in zip(arrays, self.inputs, strict=True)]
        results = [np.empty((*batch, *shape)) for shape in self.returned.shapes]
        for index in np.ndindex(*batch):
            for result, own in zip(results, self.kernel(*(row[index] for row in rows)), strict=True):
                result[index] = own
        return self.returned.build(results)


def function(python_function: Callable[..., Any], inputs: Mapping[str, Any], outputs: Any = None) -> Function:
    """A function of arrays, compiled to native code: `f = fw.function(python_function, inputs={"q": …, "p": 3})`.

    The Python function is run once, on symbols, when something of it is first needed: arithmetic, NumPy's functions of
    arrays, `featherweight.scalar`, and featherweight's functions of one state may be used inside; branches on numbers
    are written with `scalar.where`. What else it refers to is taken as it is then. Calls of `f` take arrays in the
    order of the inputs, or by name, whose leading axes broadcast: each state of a batch has the bits it has alone.

    Args:
        python_function: it takes the inputs in their order, as arrays, and returns an array (or a number, or a list of
            numbers), a tuple of those, or a dictionary of them by name; `f` returns the same of arrays, leading axes
            first.
        inputs: for each its size: a number of entries n for shape (n,), a shape such as () or (2, 3), or
            `fw.configuration(model)`.
        outputs: which results are configurations, `fw.configuration(model)`: they are differentiated along q ⊕ δ, too.
            For several results a tuple, or a dictionary, with None for those that are plain; None: all are.

    Returns:
        The compiled function; `fw.derivative`, `fw.jvp` and `fw.vjp` differentiate it.

    >>> import featherweight as fw
    >>> f = fw.function(lambda x, p: p[0] * x @ x, inputs={"x": 2, "p": 1})
    >>> f([3.0, 4.0], [2.0])
    array(50.)
    >>> f([[3.0, 4.0], [1.0, 0.0]], [2.0])
    array([50.,  2.])
    >>> fw.derivative(f, "x")([3.0, 4.0], [2.0])
    array([12., 16.])
    """
    if not callable(python_function):
        raise TypeError(f"function: expected a Python function of arrays, got {type(python_function).__name__}")
    return Function(python_function, inputs, outputs)


def _array(x: Input, leaves: list[Node]) -> Any:
    """What the Python function gets for an input: an array of symbols, or one of them."""
    return traced_array(leaves).reshape(x.shape) if x.shape else leaves[0]


def _taken_apart(name: str, result: Any) -> tuple[list[Any], Returned]:
    """What a Python function returned, flat, and how it is put together."""
    build: Callable[[Any], Any] = one
    parts: list[Any] = [result]
    names: tuple[str, ...] = ("",)
    if isinstance(result, Mapping):
        keys = tuple(result)
        parts, names = list(result.values()), tuple(map(str, keys))
        if len(set(names)) < len(names):
            raise ValueError(f"{name}: expected results under names of their own, got {', '.join(map(repr, keys))}")
        build = lambda own: dict(zip(keys, own, strict=True))  # noqa: E731
    elif isinstance(result, tuple):
        parts, names = list(result), tuple(map(str, range(len(result))))
        build = type(result)._make if hasattr(result, "_fields") else tuple  # type: ignore[attr-defined]
    if not parts:
        raise TypeError(f"{name}: expected it to return an array, a tuple or a dictionary of arrays, got {result!r}")
    flat: list[Any] = []
    shapes = []
    for part in parts:
        array = np.asarray(part, dtype=object)
        shapes.append(array.shape)
        flat += [_number(name, x) for x in array.ravel()]
    return flat, Returned(tuple(shapes), build, names, build is one)


def _models(name: str, outputs: Any, returned: Returned) -> tuple[Model | None, ...]:
    """The models of results that are configurations."""
    if outputs is None:
        return (None,) * len(returned.shapes)
    if isinstance(outputs, (tuple, list)) and len(outputs) != len(returned.names):
        many = f"{len(returned.names)} results" if len(returned.names) > 1 else "one result"
        raise TypeError(f"outputs: expected one for each result, got {len(outputs)} for {many} of {name}")
    given = dict(zip(returned.names, outputs, strict=True)) if isinstance(outputs, (tuple, list)) else outputs
    given = {str(k): x for k, x in given.items()} if isinstance(given, Mapping) else {"": given}
    for key, own in given.items():
        if not isinstance(own, (Configuration, type(None))):
            raise TypeError(f"outputs: expected fw.configuration(model) or None, got {own!r}")
        if key not in returned.names:
            names = ", ".join(map(repr, returned.names)) if returned.names != ("",) else "a single array"
            raise TypeError(f"outputs: {name} returns {names}; there is no {key!r}")
    models = [own.model if (own := given.get(key)) is not None else None for key in returned.names]
    for model, shape in zip(models, returned.shapes, strict=True):
        if model is not None and shape != (model.nq,):
            raise TypeError(f"outputs: {name}: expected a configuration of shape ({model.nq},), got shape {shape}")
    return tuple(models)


def _number(name: str, x: Any) -> Any:
    if isinstance(x, Node):
        return x
    try:
        if isinstance(x, (str, bytes)) or x is None:
            raise TypeError
        return float(x)
    except (TypeError, ValueError):
        raise TypeError(
            f"{name}: expected it to return numbers: an array, a tuple or a dictionary of arrays; got a "
            f"{type(x).__name__} in it"
        ) from None
