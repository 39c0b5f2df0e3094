"""Arguments of a kernel: checks that name the argument, broadcasting, layout in rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import prod
from typing import Any

import numpy as np


def as_array(name: str, value: Any, shape: tuple[int, ...], symbols: str) -> np.ndarray:
    """A float64 array whose last axes have the given shape."""
    if type(value) is np.ndarray and value.dtype == np.float64 and value.shape[value.ndim - len(shape) :] == shape:
        return value
    if _masked(value):
        raise TypeError(f"{name}: expected real numbers, got an array with masked entries; fill them first")
    try:
        array = np.asarray(value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name}: expected an array of real numbers, got {type(value).__name__} ({error})") from None
    if array.dtype.kind not in "fiu":
        raise TypeError(f"{name}: expected real numbers (float64), got dtype {array.dtype}")
    rank = len(shape)
    given = array.shape
    if given[len(given) - rank :] != shape or len(given) < rank:
        expected = "(" + ", ".join(["…", *map(str, shape)]) + ")"
        hint = ""
        if len(given) >= 2 and rank == 1 and given[0] == shape[0]:
            hint = "; if a state is a column, transpose it: one state a row"
        elif symbols.startswith("steps") and given[-1:] == shape[-1:]:
            hint = f"; for the same in all steps: numpy.repeat({name}[..., None, :], {shape[0]}, axis=-2)"
        meaning = "" if symbols == ", ".join(map(str, shape)) else f", that is (…, {symbols})"
        raise ValueError(f"{name}: expected shape {expected}{meaning}, got {given}{hint}")
    with np.errstate(all="ignore"):  # what does not fit becomes infinite and is named by the check
        return array.astype(np.float64, copy=False)


def _masked(value: Any) -> bool:
    """A masked array with something masked: the numbers under the mask are not meant."""
    return isinstance(value, np.ndarray) and bool(np.any(getattr(value, "mask", False)))


def batch_shape(names: Sequence[str], arrays: Sequence[np.ndarray], ranks: Sequence[int]) -> tuple[int, ...]:
    """The leading axes of all arguments, broadcast together."""
    leading = [a.shape[: a.ndim - r] for a, r in zip(arrays, ranks, strict=True)]
    if all(shape == leading[0] for shape in leading):
        return leading[0]
    try:
        return np.broadcast_shapes(*leading)
    except (ValueError, RuntimeError):  # RuntimeError: more axes than NumPy has
        listed = ", ".join(f"{n} {a.shape}" for n, a in zip(names, arrays, strict=True))
        raise ValueError(f"the leading (batch) axes do not broadcast together: {listed}") from None


def as_rows(array: np.ndarray, rank: int, batch: tuple[int, ...]) -> tuple[np.ndarray, int]:
    """The array as rows in memory, and the step from row to row in bytes (0: one row for all)."""
    axes = array.ndim - rank
    leading, inner = array.shape[:axes], array.shape[axes:]
    if all(n == 1 for n in leading):
        return np.require(array, requirements=["C", "A"]), 0
    if leading == batch and axes == 1 and array.flags.aligned and (array.flags.c_contiguous or _contiguous(array[0])):
        return array, array.strides[0]
    # strides of axes of length 1 mean nothing, also in contiguous arrays: count from the shape
    return np.require(np.broadcast_to(array, batch + inner), requirements=["C", "A"]), 8 * prod(inner)


def _contiguous(array: np.ndarray) -> bool:
    return array.flags.c_contiguous


def address_of(array: np.ndarray) -> int:
    """Where its data begins; faster than `array.ctypes.data`."""
    return array.__array_interface__["data"][0]


def checked_out(out: Any, shapes: Sequence[tuple[int, ...]]) -> list[np.ndarray]:
    """Arrays for results of these shapes, if they can take them as they are: `out` itself for one result, a tuple of
    arrays for several."""
    if len(shapes) == 1:
        return [_checked_out("out", out, shapes[0])]
    if not isinstance(out, (tuple, list)) or len(out) != len(shapes):
        came = f"{len(out)}" if isinstance(out, (tuple, list)) else type(out).__name__
        raise TypeError(f"out: expected a tuple of {len(shapes)} NumPy arrays, one for each result, got {came}")
    arrays = [_checked_out(f"out[{j}]", x, shape) for j, (x, shape) in enumerate(zip(out, shapes, strict=True))]
    for j, k in combinations(range(len(arrays)), 2):
        if _overlap(arrays[j], arrays[k]):
            raise ValueError(f"out[{k}]: expected memory of its own, got some that out[{j}] has too")
    return arrays


def _overlap(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two arrays have an entry in common; also where that is too hard to tell."""
    try:
        return np.shares_memory(a, b, max_work=10_000)  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True


def _checked_out(name: str, out: Any, shape: tuple[int, ...]) -> np.ndarray:
    """`out` as a plain array on the same memory, if it can take the result as it is. A subclass may say of itself what
    it likes: what counts is what NumPy knows."""
    if not isinstance(out, np.ndarray) or _masked(out):
        raise TypeError(f"{name}: expected a NumPy array of shape {shape}, got {type(out).__name__}")
    out = np.asarray(out)
    if out.dtype != np.float64:
        raise TypeError(f"{name}: expected dtype float64, got {out.dtype}")
    if out.shape != shape:
        raise ValueError(f"{name}: expected shape {shape}, got {out.shape}")
    if not out.flags.writeable:
        raise ValueError(f"{name}: expected a writeable array, got a read-only one")
    extent = out.itemsize
    for stride, n in sorted((abs(stride), n) for stride, n in zip(out.strides, out.shape, strict=True) if n > 1):
        if stride < extent and out.size:
            raise ValueError(f"{name}: expected an array whose entries do not overlap each other in memory")
        extent += stride * (n - 1)
    return out


def first_not_finite(names: Sequence[str], arrays: Sequence[np.ndarray]) -> str | None:
    """Which argument has a NaN or an infinity first, as a sentence."""
    for name, array in zip(names, arrays, strict=True):
        bad = ~np.isfinite(array)
        if bad.any():
            index = tuple(int(i) for i in np.unravel_index(int(np.argmax(bad)), array.shape))
            where = f"[{', '.join(map(str, index))}]" if index else ""
            return f"{name}{where} is {array[index]}; expected finite numbers"
    return None
