"""An operator as a primitive of JAX: its shapes, value, tangents, transpose, and what `vmap` makes of it.

Inside of JAX nothing may raise: the host computes NaN for states whose numbers are refused, and a status for each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from featherweight.extras import needed
from featherweight.interop.operators import Operator

jax = needed("jax", "jax", "featherweight.interop.jax needs")
jnp = needed("jax.numpy", "jax", "featherweight.interop.jax needs")
core = needed("jax.extend.core", "jax", "featherweight.interop.jax needs")
ad = needed("jax.interpreters.ad", "jax", "featherweight.interop.jax needs")
batching = needed("jax.interpreters.batching", "jax", "featherweight.interop.jax needs")
mlir = needed("jax.interpreters.mlir", "jax", "featherweight.interop.jax needs")

operator_p = core.Primitive("featherweight")
operator_p.multiple_results = True


def called(operator: Operator, arrays: Sequence[Any]) -> list[Any]:
    """The operator's results, and the status of each state."""
    return operator_p.bind(*arrays, operator=operator)


def _on_host(operator: Operator, *arrays: Any) -> tuple[np.ndarray, ...]:
    results, status = operator.tolerant(*(np.asarray(a) for a in arrays))
    return *results, status


def _results(operator: Operator, shapes: Sequence[tuple[int, ...]]) -> list[tuple[tuple[int, ...], Any]]:
    """Shape and type of each result, the status last."""
    batch = operator.batch(shapes)
    return [*(((*batch, *shape), np.dtype(np.float64)) for shape in operator.outputs), (batch, np.dtype(np.int32))]


@operator_p.def_impl
def _run(*arrays: Any, operator: Operator) -> list[Any]:
    return [jnp.asarray(result) for result in _on_host(operator, *arrays)]


@operator_p.def_abstract_eval
def _abstract(*avals: Any, operator: Operator) -> list[Any]:
    return [jax.core.ShapedArray(shape, dtype) for shape, dtype in _results(operator, [a.shape for a in avals])]


def _staged(*arrays: Any, operator: Operator) -> list[Any]:
    shapes = [jax.ShapeDtypeStruct(*result) for result in _results(operator, [a.shape for a in arrays])]
    return list(jax.pure_callback(lambda *a: _on_host(operator, *a), tuple(shapes), *arrays))


mlir.register_lowering(operator_p, mlir.lower_fun(_staged, multiple_results=True))


def _pushed(primals: Sequence[Any], tangents: Sequence[Any], *, operator: Operator) -> tuple[list[Any], list[Any]]:
    which = [k for k, t in enumerate(tangents) if not isinstance(t, ad.Zero)]
    results = operator_p.bind(*primals, operator=operator)
    *moved, _ = operator_p.bind(*primals, *(tangents[k] for k in which), operator=operator.push(which))
    return results, [*moved, ad.Zero(jax.typeof(results[-1]).to_tangent_aval())]


ad.primitive_jvps[operator_p] = _pushed


def _transposed(weights: Sequence[Any], *arrays: Any, operator: Operator) -> list[Any]:
    """Cotangents of the last arguments, in which an operator is linear."""
    known = len(arrays) - operator.linear
    if operator.transpose is None or any(map(ad.is_undefined_primal, arrays[:known])):
        raise NotImplementedError(f"{operator.name} is not linear in what it is transposed with respect to")
    given = [ad.instantiate_zeros(w) for w in weights[:-1]]  # the last one belongs to the status
    *found, _ = operator_p.bind(*arrays[:known], *given, operator=operator.transpose())
    cotangents: list[Any] = [None] * known
    for array, own in zip(arrays[known:], found, strict=True):
        undefined = ad.is_undefined_primal(array)
        cotangents.append(_summed(own, array.aval.shape) if undefined else None)
    return cotangents


ad.primitive_transposes[operator_p] = _transposed


def _summed(array: Any, shape: tuple[int, ...]) -> Any:
    """Summed over axes that were broadcast."""
    more = array.ndim - len(shape)
    array = array.sum(axis=tuple(range(more)))
    grown = tuple(k for k, n in enumerate(shape) if n == 1 and array.shape[k] != 1)
    return array.sum(axis=grown, keepdims=True) if grown else array


def _mapped(arrays: Sequence[Any], axes: Sequence[Any], *, operator: Operator) -> tuple[list[Any], list[int]]:
    """The mapped axis becomes the first of the batch."""
    ranks = [a.ndim - len(s.shape) - (d is not None) for a, s, d in zip(arrays, operator.inputs, axes, strict=True)]
    most, moved = max(ranks), []
    for array, rank, axis in zip(arrays, ranks, axes, strict=True):
        if axis is not None:
            array = jnp.moveaxis(array, axis, 0)
            array = array.reshape(array.shape[0], *(1,) * (most - rank), *array.shape[1:])
        moved.append(array)
    results = operator_p.bind(*moved, operator=operator)
    return results, [0] * len(results)


batching.primitive_batchers[operator_p] = _mapped
