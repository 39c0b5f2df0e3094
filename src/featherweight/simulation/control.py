"""Controllers: ordinary Python functions, or functions that are traced into the native loop."""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from featherweight.errors import SimulationError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


SEEN = ("contact_force", "touching", "dt", "step")
Shape = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Compiled:
    """A controller f(t, q, v, x, p) -> (tau, x) that is traced, with first state and parameters: see `compiled`.

    It is copied and pickled as its function is, without what was compiled: functions of a module by `pickle`, lambdas
    and functions made inside of others by `cloudpickle`.
    """

    function: Callable[..., Any]
    state: np.ndarray
    parameters: np.ndarray
    loops: Any = field(default_factory=weakref.WeakKeyDictionary, repr=False, compare=False)  # compiled ones, by model
    every: int = 1
    sees: tuple[str, ...] = ()
    outputs: Mapping[str, Shape] = field(default_factory=dict)

    @property
    def feels(self) -> bool:
        """Does it see contact?"""
        return bool({"contact_force", "touching"} & set(self.sees))

    @property
    def held(self) -> int:
        """How many outputs there are, numbers in all."""
        return sum(map(prod, self.outputs.values()))

    def with_parameters(self, parameters: ArrayLike) -> Compiled:
        """The same controller with other parameters, shape (m,) or (…, m): nothing is traced or compiled again."""
        return replace(self, parameters=_alike("parameters", parameters, self.parameters))

    def with_state(self, state: ArrayLike) -> Compiled:
        """The same controller with another first state, shape (n,) or (…, n): nothing is traced or compiled again."""
        return replace(self, state=_alike("state", state, self.state))

    def __call__(self, t: Any, q: Any, v: Any, x: Any, p: Any, *seen: Any) -> tuple[list[Any], list[Any], list[Any]]:
        """Forces, the next state and outputs, as flat lists."""
        result = self.function(t, q, v, x, p, *seen)
        name, wanted = getattr(self.function, "__name__", "the controller"), 3 if self.outputs else 2
        if not isinstance(result, tuple) or len(result) != wanted:
            what = "(tau, x, outputs)" if self.outputs else "(tau, x)"
            got = f"{len(result)} things" if isinstance(result, tuple) else type(result).__name__
            fix = "; compiled(…, outputs=…) says what the third is" if got == "3 things" else ""
            raise TypeError(f"control: expected {name} to return {what}, got {got}{fix}")
        tau, after = result[:2]
        outputs = self._flat_outputs(result[2]) if self.outputs else []
        return _flat("tau", tau), _flat("x", x if after is None else after), outputs

    def _flat_outputs(self, outputs: Any) -> list[Any]:
        if not isinstance(outputs, Mapping) or set(outputs) != set(self.outputs):
            got = ", ".join(map(str, outputs)) if isinstance(outputs, Mapping) else type(outputs).__name__
            raise TypeError(f"outputs: expected a dictionary of {', '.join(self.outputs)}, got {got}")
        flat = []
        for name, shape in self.outputs.items():
            values = np.asarray(outputs[name], dtype=object)
            if values.shape != shape:
                fix = f"declare it: outputs={{{name!r}: {values.shape}}}"
                raise TypeError(f"outputs: {name}: expected shape {shape}, got {values.shape}; {fix}")
            flat += [x.item() if isinstance(x, np.generic) else x for x in values.ravel()]
        return flat

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "loops"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, loops=weakref.WeakKeyDictionary())


def compiled(
    function: Callable[..., Any],
    *,
    state: ArrayLike = (),
    parameters: ArrayLike = (),
    every: int = 1,
    sees: Sequence[str] = (),
    outputs: Sequence[str] | Mapping[str, Shape] = (),
) -> Compiled:
    """A controller for the native loop: `f(t, q, v, x, p) -> tau, x`.

    It is traced once, on arrays of symbols: plain arithmetic on `q`, `v`, `x`, `p`, the functions of
    `featherweight.scalar`, and featherweight's own functions of one state may be used inside. Branches on numbers are
    written with `scalar.where`.

    Args:
        function: the controller; `x` is what it carries from step to step, `p` its parameters.
        state: x at the beginning, shape (n,) or (…, n) for a batch.
        parameters: p, shape (m,) or (…, m) for a batch.
        every: it is asked in every so many steps; its forces and outputs are held in between.
        sees: what it sees beside the state, some of "contact_force" (nc, 3) [N] in the last step, "touching" (nc,),
            1 where that is not zero and 0 elsewhere, "dt" [s], and "step", the number of the step. Then it is called
            with one argument more, which has these names.
        outputs: names of what it returns beside tau and x, in a dictionary: `tau, x, {"cost": …}`. Numbers, or arrays
            whose shapes are given here by name. `Trajectory.outputs` and `Stepper.outputs` have them.
    """
    if not callable(function):
        raise TypeError(f"function: expected a controller f(t, q, v, x, p), got {type(function).__name__}")
    if isinstance(every, bool) or not isinstance(every, (int, np.integer)) or every < 1:
        raise ValueError(f"every: expected a whole number of steps > 0, got {every!r}")
    if isinstance(sees, str) or any(name not in SEEN for name in sees):
        raise ValueError(f"sees: expected some of {', '.join(SEEN)}, got {sees!r}")
    numbers = _numbers("state", state), _numbers("parameters", parameters)
    return Compiled(function, *numbers, every=int(every), sees=tuple(sees), outputs=_shapes(outputs))


def _shapes(outputs: Any) -> Mapping[str, Shape]:
    """Shapes of outputs by name."""
    shapes = dict(outputs) if isinstance(outputs, Mapping) else outputs
    if isinstance(shapes, (list, tuple)):
        shapes = dict.fromkeys(shapes, ())
    good = isinstance(shapes, dict) and all(
        isinstance(name, str) and isinstance(shape, tuple) and all(isinstance(n, int) and n >= 0 for n in shape)
        for name, shape in shapes.items()
    )
    if not good:
        raise TypeError(f"outputs: expected names, or shapes by name, got {outputs!r}")
    return shapes


def _alike(name: str, values: Any, before: np.ndarray) -> np.ndarray:
    """Other numbers, as many as before."""
    array = _numbers(name, values)
    if array.shape[-1:] != before.shape[-1:]:
        raise ValueError(f"{name}: expected shape (…, {before.shape[-1]}), as before, got {array.shape}")
    return array


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


def raised(control: Any, error: Exception, when: str) -> SimulationError:
    """A Python controller raised."""
    call = misfit(control, "t", "q", "v")
    fix = f"{call} -> tau" if call else ""
    return SimulationError(f"the controller raised {type(error).__name__} {when}: {error}{fix}")


def misfit(function: Any, *arguments: str) -> str:
    """How a controller is called, as the end of a message; nothing if this one can be called so."""
    try:
        inspect.signature(function).bind(*arguments)
    except TypeError:
        return f"; it is called as f({', '.join(arguments)})"
    except ValueError:  # of built-in functions, whose arguments nobody knows
        pass
    return ""


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
