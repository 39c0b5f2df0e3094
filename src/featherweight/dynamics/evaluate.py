"""From an algorithm over scalars to a function of arrays: quantities and their kernels.

This is the edge where arrays get their order: wrenches are [force; moment], linear first.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from featherweight.algorithms import Pivot, lost_pivots, pivots
from featherweight.compiler import Argument, Graph, Kernel, Node, interpreting, traced_array
from featherweight.compiler.runtime.arguments import as_array
from featherweight.dynamics.checks import checked_model
from featherweight.dynamics.fast_path import keep_entry
from featherweight.dynamics.regularity import regularity, singular_where
from featherweight.identity import identity
from featherweight.model import Model, Tree
from featherweight.scalar import where
from featherweight.spatial import Force, Motion, Vector

Shape = tuple[int, ...]
Scalars = dict[str, list[Any]]
Results = tuple[list[list[Any]], list[Any]]
Parameters = Mapping[str, ArrayLike] | None
LARGEST = float(np.finfo(float).max)


@dataclass(frozen=True)
class Quantity:
    """A computation on a model: which arrays go in, what shapes come out, and the algorithm.

    Both may depend on options, which are part of the kernel: a frame's name, say. The algorithm returns its results as
    flat lists, and further values that must be finite: dividing by an infinite one would hide it in the results.
    """

    name: str
    inputs: tuple[str, ...]
    outputs: Callable[..., Sequence[Shape]]  # (model, *options)
    algorithm: Callable[..., Results]  # (model, tree, scalars by input, *options)
    chunk_limit: int | None = None  # operations a function; None: as usual
    pivots: Callable[..., list[Pivot]] | None = None  # (tree, q, *options): of M, where it is divided by
    rule: Callable[..., Any] | None = None  # (model, inputs, parameters): its derivative, if it knows it better

    def kernel(self, model: Model, *extra: str, options: tuple[Any, ...] = ()) -> Kernel:
        """The model's kernel for this quantity, with optional inputs `extra`; made on first use."""
        return model.cache.kernels.once((self.name, options, extra), lambda: self._make(model, extra, options))

    def _make(self, model: Model, extra: tuple[str, ...], options: tuple[Any, ...] = ()) -> Kernel:
        model.need_numbers(self.name)
        names = (*self.inputs, *extra)
        watched_bodies = () if self.pivots is None else regularity(model).watched
        pivots = self.pivots if watched_bodies else None

        def function(scalars: list[list[Any]], lift: Callable, mark: Callable) -> tuple[list[list[Any]], Any]:
            arguments = dict(zip((*names, *model.parameters), scalars, strict=True))
            if lift is float and not model.parameters:
                tree = model.over_floats
            else:
                tree = model.over(lift, mark, {n: arguments[n] for n in model.parameters})
            check: Any = 0
            for name in [n for n in names if n in CONFIGURATIONS]:
                for joint in model.independent_joints:
                    check = check + joint.kind.check(arguments[name][joint.q])
            results, watched = self.algorithm(model, tree, arguments, *options)
            if watched:
                check = check + where(abs(sum(watched)) <= LARGEST, 0.0, 1.0)
            if pivots is not None:
                check = check + lost_pivots(pivots(tree, arguments["q"], *options), watched_bodies)
            return results, check

        def explain(arrays: dict[str, np.ndarray]) -> str:
            for name in [n for n in names if n in CONFIGURATIONS]:
                for joint in model.independent_joints:
                    reason = joint.kind.explain(arrays[name][..., joint.q])
                    if reason is not None:
                        return f"{name}: joint {joint.name!r}: {reason}"
            return "" if pivots is None else singular_where(model, arrays, pivots, options)

        parameters = [Argument(p.name, p.shape, ", ".join(map(str, p.shape))) for p in model.parameters.values()]
        whole = identity(self.name, names, options, model)
        return Kernel(
            self.name,
            [*(_argument(model, n) for n in names), *parameters],
            self.outputs(model, *options),
            function,
            explain,
            self.chunk_limit,
            fingerprint=whole.everywhere,
        )


def divides(tree: Tree, q: Sequence[Any], *options: Any) -> list[Pivot]:
    """The pivots of a quantity that divides by M(q), for any options."""
    return pivots(tree, q)


CONFIGURATIONS = {"q", "q0", "q1"}
SMALL = {"dt": (), "direction": (3,), "wrench": (6,)}


def _argument(model: Model, name: str) -> Argument:
    if name in CONFIGURATIONS:
        return Argument(name, (model.nq,), "nq", tuple(j.q.start for j in model.independent_joints))
    if name == "f_ext":
        return Argument("f_ext", (model.nb + 1, 6), "nb + 1, 6", tuple(range(0, 6 * model.nb + 6, 6)))
    if name in SMALL:
        return Argument(name, SMALL[name], ", ".join(map(str, SMALL[name])))
    return Argument(name, (model.nv,), "nv", tuple(j.v.start for j in model.independent_joints))


def wrenches(flat: list[Any] | None) -> list[Force] | None:
    """Rows [force; moment] of a flat array as spatial forces."""
    if flat is None:
        return None
    return [Force(Vector(*flat[k + 3 : k + 6]), Vector(*flat[k : k + 3])) for k in range(0, len(flat), 6)]


def linear_first(x: Motion | Force) -> list[Any]:
    """A motion or force as it stands in arrays."""
    return [*x.linear, *x.angular] if isinstance(x, Motion) else [*x.force, *x.moment]


def flat(rows: Sequence[Sequence[Any]]) -> list[Any]:
    """A matrix by rows, as one list."""
    return [x for row in rows for x in row]


def as_columns(columns: Sequence[Sequence[Any]]) -> list[Any]:
    """The matrix with these columns, flat by rows."""
    return [x for row in zip(*columns, strict=True) for x in row]


def _declined(*values: Any) -> None:
    return None


def evaluate(
    quantity: Quantity,
    model: Model,
    values: dict[str, Any],
    out: Any = None,
    options: tuple[Any, ...] = (),
    parameters: Parameters = None,
) -> tuple[np.ndarray, ...]:
    """The slow path: any array-like, any batch, every check with its message.

    Optional inputs that are None are left out. After the first good call, the native entry point is kept in the model's
    cache for the next ones: one for single states, where `fast_path` looks for it, and one for batches.
    """
    checked_model(model)
    given = {n: value for n, value in values.items() if value is not None or n in quantity.inputs}
    extra = tuple(n for n in given if n not in quantity.inputs)
    everything = (*given.values(), *parameters.values()) if isinstance(parameters, Mapping) else given.values()
    if any(_may_be_traced(value) for value in everything):
        graph = _graph(everything)
        if graph is not None:
            return _inside(quantity, model, given, options, parameters, graph)
    numbers = [*given.values(), *parameter_values(model, parameters)]
    place = (quantity.name, options, extra)
    if out is None and not interpreting():
        for entry in tuple(model.cache.entries.get(place, {}).values()):
            result = entry(*numbers)
            if result is not None:
                return result if isinstance(result, tuple) else (result,)
    kernel = quantity.kernel(model, *extra, options=options)
    results = kernel(*numbers, out=out)
    if not interpreting():
        entry = _remember(model, place, kernel, results[0])
        if entry is not None and not extra and not model.parameters:
            keep_entry(model, (quantity.name, *options), entry)
    return results


def _may_be_traced(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(isinstance(x, Node) for x in value)
    return value.dtype.hasobject if isinstance(value, np.ndarray) else isinstance(value, Node)


def _graph(values: Iterable[Any]) -> Graph | None:
    """The trace that is being made, if the arrays hold traced values."""
    entries = (x for value in values for x in np.ravel(np.asarray(value, dtype=object)))
    return next((x.graph for x in entries if isinstance(x, Node)), None)


def _inside(
    quantity: Quantity,
    model: Model,
    given: dict[str, Any],
    options: tuple[Any, ...],
    parameters: Parameters,
    graph: Graph,
) -> tuple[np.ndarray, ...]:
    """A quantity inside another traced function: its algorithm on the traced values of one state. Parameters that are
    not given are the model's own numbers, not those of the function around it."""

    def one_state(name: str, value: Any, shape: Shape) -> list[Any]:
        array = np.asarray(value, dtype=object)
        if array.shape != shape:
            raise ValueError(f"{name}: expected one state, shape {shape}, while tracing, got {array.shape}")
        return list(array.ravel())

    scalars = {name: one_state(name, value, _argument(model, name).shape) for name, value in given.items()}
    values = _known_parameters(model, parameters)
    constants = {name: one_state(name, value, model.parameters[name].shape) for name, value in values.items()}
    numbers: list[Any] = []  # of the model, in the order in which its tree asks for them

    def lift(x: float) -> Any:
        numbers.append(graph.model_constant(x))
        return numbers[-1]

    tree = replace(model.over(lift, graph.mark, constants), lift=graph.model_constant)

    begin = len(graph.op)
    results, _ = quantity.algorithm(model, tree, scalars, *options)
    if quantity.rule is not None:
        inputs = [*(x for own in (*scalars.values(), *constants.values()) for x in own), *numbers]
        outputs = [x for own in results for x in own]
        graph.rule(quantity.name, quantity.rule(model, scalars, constants), inputs, outputs, begin)
    shapes = quantity.outputs(model, *options)
    return tuple(traced_array(result).reshape(shape) for result, shape in zip(results, shapes, strict=True))


def _remember(model: Model, place: tuple[Any, ...], kernel: Kernel, result: np.ndarray) -> Any:
    """Keep the native entry point for calls of this rank; return it if it is new and for single states."""
    axes = result.ndim - len(kernel.outputs[0])
    entries = model.cache.entries.setdefault(place, {})
    if axes in entries or axes > 1 or (axes == 1 and len(result) < 2):
        return None
    entries[axes] = kernel.entry(batch=axes == 1) or _declined
    return entries[axes] if axes == 0 else None


def parameter_values(model: Model, parameters: Parameters) -> list[np.ndarray]:
    """Values for all declared parameters, in their order: those given, the model's own for the others.

    ValueError or TypeError for what was not declared, and for what no model can be built with.
    """
    given = _known_parameters(model, parameters)
    values = []
    for name, parameter in model.parameters.items():
        if name in given:
            value = as_array(name, given[name], parameter.shape, ", ".join(map(str, parameter.shape)))
            parameter.check(value)
            values.append(value)
        else:
            values.append(parameter.default)
    return values


def _known_parameters(model: Model, parameters: Parameters) -> Mapping[str, Any]:
    """The values that were given, if all of them were declared."""
    if not parameters:
        return {}
    if not isinstance(parameters, Mapping):
        raise TypeError(f"parameters: expected a dictionary of arrays by name, got {type(parameters).__name__}")
    for name in parameters:
        if name not in model.parameters:
            near = difflib.get_close_matches(str(name), model.parameters, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"declared are {', '.join(model.parameters) or 'none'}"
            raise ValueError(f"parameters: {name!r} was not declared when model {model.name!r} was built; {hint}")
    return parameters
