"""Controllers: ordinary Python functions, or functions that are traced into the native loop."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from featherweight.errors import SimulationError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True, eq=False)
class Compiled:
    """A controller f(t, q, v, x, p) -> (tau, x) that is traced, with its first state and its parameters.

    It is copied and pickled as its function is, without what was compiled: functions of a module by `pickle`, lambdas
    and functions made inside of others by `cloudpickle`.
    """

    function: Callable[..., Any]
    state: np.ndarray
    parameters: np.ndarray
    loops: Any = field(default_factory=weakref.WeakKeyDictionary, repr=False, compare=False)  # compiled ones, by model

    def __call__(self, t: Any, q: Any, v: Any, x: Any, p: Any) -> tuple[list[Any], list[Any]]:
        """Forces and the next state, as flat lists."""
        result = self.function(t, q, v, x, p)
        if not isinstance(result, tuple) or len(result) != 2:
            name = getattr(self.function, "__name__", "the controller")
            raise TypeError(f"control: expected {name} to return (tau, x), got {type(result).__name__}")
        tau, after = result
        return _flat("tau", tau), _flat("x", x if after is None else after)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "loops"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, loops=weakref.WeakKeyDictionary())


def compiled(function: Callable[..., Any], *, state: ArrayLike = (), parameters: ArrayLike = ()) -> Compiled:
    """A controller for the native loop: `f(t, q, v, x, p) -> tau, x`.

    It is traced once, on arrays of symbols: plain arithmetic on `q`, `v`, `x`, `p`, the functions of
    `featherweight.scalar`, and featherweight's own functions of one state may be used inside. Branches on numbers are
    written with `scalar.where`.

    Args:
        function: the controller; `x` is what it carries from step to step, `p` its parameters.
        state: x at the beginning, shape (n,) or (…, n) for a batch.
        parameters: p, shape (m,) or (…, m) for a batch.
    """
    if not callable(function):
        raise TypeError(f"function: expected a controller f(t, q, v, x, p), got {type(function).__name__}")
    return Compiled(function, _numbers("state", state), _numbers("parameters", parameters))


def as_forces(forces: Any, shape: tuple[int, ...], when: str) -> np.ndarray:
    """What a Python controller returned, as a plain array of this shape; SimulationError if it is none."""
    try:
        array = np.asarray(forces)
        if (
            not np.can_cast(array.dtype, np.dtype(float), "same_kind")
            or array.dtype == bool
            or array.shape[-1:] != shape[-1:]
            or isinstance(forces, np.ma.MaskedArray)
        ):
            raise TypeError
        return np.array(np.broadcast_to(array, shape), dtype=float, order="C")
    except (TypeError, ValueError):
        what = type(forces).__name__
        if isinstance(forces, np.ndarray):
            what = f"shape {forces.shape}" + ("" if forces.dtype == np.dtype(float) else f" of {forces.dtype}")
        raise SimulationError(f"the controller returned {what} {when}; expected {shape}") from None


def raised(error: Exception, when: str) -> SimulationError:
    """A Python controller raised."""
    return SimulationError(f"the controller raised {type(error).__name__} {when}: {error}")


def _flat(name: str, values: Any) -> list[Any]:
    """A row of what a controller returned."""
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError(f"{name}: expected numbers, got a masked array")
    row = np.asarray(values, dtype=object)
    row = row[None] if row.ndim == 0 else row
    if row.ndim != 1:
        raise TypeError(f"{name}: expected a row of numbers, got shape {row.shape}")
    return [x.item() if isinstance(x, np.generic) else x for x in row]


def _numbers(name: str, value: Any) -> np.ndarray:
    try:
        array = np.asarray(value)
        if array.dtype == object or not np.can_cast(array.dtype, float, "same_kind"):
            raise TypeError
        array = array.astype(float)
    except (TypeError, ValueError):
        raise TypeError(f"{name}: expected numbers, shape (n,) or (…, n), got {value!r}") from None
    return array[None] if array.ndim == 0 else array
