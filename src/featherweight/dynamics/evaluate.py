"""From an algorithm over scalars to a function of arrays: kernels by model, with one fast path.

This is the edge where arrays get their order: wrenches are [force; moment], linear first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from featherweight.compiler import Argument, Kernel, compiling, interpret
from featherweight.model import Model, Tree
from featherweight.scalar import where
from featherweight.spatial import Force, Vector

Shape = tuple[int, ...]
LARGEST = float(np.finfo(float).max)


@dataclass(frozen=True)
class Quantity:
    """A computation on a model: which arrays go in, what shapes come out, and the algorithm.

    The algorithm gives its results as flat lists, and further values that must not have overflowed: an
    infinite one might be divided by and leave no trace in the results.
    """

    name: str
    inputs: tuple[str, ...]
    outputs: Callable[[Model], Sequence[Shape]]
    algorithm: Callable[[Model, Tree, dict[str, list[Any]]], tuple[list[list[Any]], list[Any]]]

    def kernel(self, model: Model, *extra: str) -> Kernel:
        """The model's kernel for this quantity, with optional inputs `extra`; made on first use."""
        key = (self.name, extra)
        kernel = model._kernels.get(key)
        if kernel is None:
            with compiling:
                kernel = model._kernels.get(key)
                if kernel is None:
                    kernel = model._kernels[key] = self._make(model, extra)
        return kernel

    def _make(self, model: Model, extra: tuple[str, ...]) -> Kernel:
        names = (*self.inputs, *extra)

        def function(scalars: list[list[Any]], lift: Callable, mark: Callable) -> tuple[list[list[Any]], Any]:
            tree = model.over(lift, mark)
            arguments = dict(zip(names, scalars, strict=True))
            check: Any = 0
            for joint in model.joints:
                check = check + joint.kind.check(arguments["q"][joint.q])
            results, watched = self.algorithm(model, tree, arguments)
            if watched:
                check = check + where(abs(sum(watched)) <= LARGEST, 0.0, 1.0)
            return results, check

        def explain(arrays: dict[str, np.ndarray]) -> str:
            for joint in model.joints:
                reason = joint.kind.explain(arrays["q"][..., joint.q])
                if reason is not None:
                    return f"q: joint {joint.name!r}: {reason}"
            return ""

        return Kernel(
            self.name,
            [_argument(model, n) for n in names],
            self.outputs(model),
            function,
            explain,
            fingerprint=model.fingerprint and f"{self.name}({', '.join(names)}) {model.fingerprint}",
        )


def _argument(model: Model, name: str) -> Argument:
    if name == "q":
        return Argument("q", (model.nq,), "nq", tuple(j.q.start for j in model.joints))
    if name == "f_ext":
        return Argument("f_ext", (model.nb + 1, 6), "nb + 1, 6", tuple(range(0, 6 * model.nb + 6, 6)))
    return Argument(name, (model.nv,), "nv", tuple(j.v.start for j in model.joints))


def wrenches(flat: list[Any] | None) -> list[Force] | None:
    """Rows [force; moment] of a flat array as spatial forces."""
    if flat is None:
        return None
    return [Force(Vector(*flat[k + 3 : k + 6]), Vector(*flat[k : k + 3])) for k in range(0, len(flat), 6)]


def native(model: Model, name: str) -> Any:
    """The fast path of a quantity for one state, or a function that declines."""
    if interpret.depth:
        return _declined
    try:
        return model._entries[name]
    except KeyError:
        return _declined
    except AttributeError:
        raise TypeError(f"model: expected a featherweight Model, got {type(model).__name__}") from None


def _declined(*values: Any) -> None:
    return None


def evaluate(quantity: Quantity, model: Model, values: dict[str, Any], out: Any = None) -> tuple[np.ndarray, ...]:
    """The slow path: any array-like, any batch, every check with its message.

    Optional inputs that are None are left out. Arguments that need no checking in Python have fast paths
    here too, kept on the model once the first call has gone well.
    """
    if not isinstance(model, Model):
        raise TypeError(f"model: expected a featherweight Model, got {type(model).__name__}")
    given = {n: value for n, value in values.items() if value is not None or n in quantity.inputs}
    key = (quantity.name, *given)
    if out is None and not interpret.depth:
        for entry in tuple(model._entries.get(key, {}).values()):
            result = entry(*given.values())
            if result is not None:
                return result if isinstance(result, tuple) else (result,)
    kernel = quantity.kernel(model, *(n for n in given if n not in quantity.inputs))
    results = kernel(*given.values(), out=out)
    if not interpret.depth:
        _remember(model, quantity, key, kernel, results[0])
    return results


def _remember(model: Model, quantity: Quantity, key: tuple[str, ...], kernel: Kernel, result: np.ndarray) -> None:
    """Keep the native entry point for calls like the one that gave this result."""
    axes = result.ndim - len(kernel.outputs[0])
    entries = model._entries.setdefault(key, {})
    if axes in entries or axes > 1 or (axes == 1 and len(result) < 2):
        return
    entries[axes] = kernel.entry(batch=axes == 1) or _declined
    if axes == 0 and key[1:] == quantity.inputs:
        model._entries[quantity.name] = entries[axes]
