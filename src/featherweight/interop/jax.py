"""featherweight's functions as functions of JAX: with `grad`, `jvp`, `vjp`, `jit` and `vmap`.

    from featherweight.interop import jax as fwj

    accelerate = fwj.forward_dynamics(model)         # any function of dynamics
    f = fwj.wrap(fw.function(…))                     # any function of yours
    step = fwj.step(model, dt=1e-3, contact=…)       # one step of a simulation
    cost = fwj.rollout_cost(…)                       # the cost of a whole rollout

- Numbers are double: `jax.config.update("jax_enable_x64", True)` comes first. float32 is refused, or with
  `convert=True` computed in double and rounded.
- Leading axes broadcast, and axes of `vmap` become leading axes: one call for a batch, on all cores.
- Nothing raises inside of JAX: where the numbers of a state are refused (NaN, a quaternion that is no unit, a singular
  mass matrix) its results are NaN. With `status=True` a function returns `(result, status)`: 0, or 1 for those.
- The gradient with respect to a configuration q has its shape (nq,), and is tangent to the space of configurations:
  what would change the length of a quaternion is 0.
- Derivatives of any order, except those of `step` and `rollout_cost`, which have first ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from featherweight.functions import Function
from featherweight.interop.dynamics import INPUTS, NAMES, described, operator_named
from featherweight.interop.jax_primitive import called, jax, jnp
from featherweight.interop.operators import Operator, operator_of
from featherweight.interop.rollouts import RolloutCost
from featherweight.interop.steps import Step
from featherweight.model import Model

__all__ = list(NAMES)

Call = Callable[..., Any]


def wrap(f: Function, *, status: bool = False, convert: bool = False) -> Call:
    """A function made by `fw.function` as one of JAX: it takes and returns arrays of JAX, and can be differentiated.

    Args:
        f: made by `fw.function`.
        status: it returns `(result, status)`, with an integer for each state: 0, or 1 where its numbers are refused.
        convert: take float32, too; it is computed in double, and the results are rounded to float32.
    """
    return _function(operator_of(f), status, convert)


def step(model: Model, *, dt: float, status: bool = False, convert: bool = False, **options: Any) -> Call:
    """One step of `rollout` as a function: `step(model, dt=1e-3)(q, v, tau)` returns `(q, v)` after it.

    Its derivatives are the A and B of `fw.linearize`, contacts included, from the side that the step took. Each step
    finds its impulses by itself, without those of the step before.

    Args:
        model: the robot.
        dt: length of the step [s].
        status, convert: as for `wrap`.
        options: contact, integrator, actuators, limits, forces, constraints, as for `rollout`. What remembers from step
            to step, springs and dampers in contact, is refused.
    """
    return _function(Step(model, dt, options), status, convert)


def rollout_cost(
    cost: Callable[..., Any] | None, model: Model, *, steps: int, dt: float, final: Callable[..., Any] | None = None,
    inputs: Sequence[str] | None = None, status: bool = False, convert: bool = False, **options: Any,
) -> Call:  # fmt: skip
    """The cost of a whole rollout as a function, with the gradient of `fw.rollout_gradient`::

        value = Σ_k cost(t_k, q_k, v_k, τ_k, x_k) + final(q_N, v_N, x_N).

    Args:
        cost, model, steps, dt, final: as for `fw.rollout_gradient`: the costs are functions of featherweight, of one
            state.
        inputs: what the function takes, in order: "q", "v" at the beginning, "tau" (steps, nv), or with a controller
            "p" and "x", and names of declared parameters of the model. By default q, v, tau, or q, v, p.
        status, convert: as for `wrap`.
        options: control, contact, integrator, actuators, limits, forces, constraints, as for `fw.rollout_gradient`.
    """
    return _function(RolloutCost(cost, model, steps, dt, final, inputs, options), status, convert)


def _function(operator: Operator, status: bool, convert: bool) -> Call:
    for name, flag in (("status", status), ("convert", convert)):
        if not isinstance(flag, bool):
            raise TypeError(f"{name}: expected True or False, got {flag!r}")

    def call(*values: Any) -> Any:
        if jax.dtypes.canonicalize_dtype(np.float64) != np.float64:
            raise RuntimeError(
                "featherweight computes in double precision, and JAX is in single precision: call "
                'jax.config.update("jax_enable_x64", True) when the program begins'
            )
        names = [slot.name for slot in operator.inputs]
        if len(values) != len(names):
            raise TypeError(f"{operator.name}: expected {len(names)} arguments ({', '.join(names)}), got {len(values)}")
        arrays = [_array(operator, name, value, convert) for name, value in zip(names, values, strict=True)]
        operator.batch([a.shape for a in arrays])  # what does not fit is named here
        *results, states = called(operator, [a.astype(np.float64) for a in arrays])
        if convert and not any(a.dtype == np.float64 for a in arrays):
            results = [r.astype(np.float32) for r in results]
        result = operator.build(results)
        return (result, states) if status else result

    call.__name__ = call.__qualname__ = operator.name
    return call


def _array(operator: Operator, name: str, value: Any, convert: bool) -> Any:
    """An argument as an array of JAX; TypeError if it is none, or not of double precision."""
    where = f"{operator.name}: {name}"
    try:
        array = jnp.asarray(value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{where}: expected real numbers, got {type(value).__name__} ({error})") from None
    if jnp.issubdtype(array.dtype, np.integer):
        return array.astype(np.float64)
    if not jnp.issubdtype(array.dtype, np.floating):
        raise TypeError(f"{where}: expected real numbers (float64), got dtype {array.dtype}")
    if array.dtype != np.float64 and not convert:
        raise TypeError(
            f"{where}: expected float64, got {array.dtype}; convert it, or give convert=True to compute in double and "
            "round the results"
        )
    return array


def _named(name: str) -> Callable[..., Call]:
    def make(
        model: Model, *, f_ext: bool = False, parameters: Iterable[str] = (), status: bool = False,
        convert: bool = False, **options: Any,
    ) -> Call:  # fmt: skip
        operator = operator_named(name, model, options, f_ext=f_ext, parameters=parameters)
        return _function(operator, status, convert)

    return described(make, name)


globals().update({name: _named(name) for name in INPUTS})

if TYPE_CHECKING:

    def __getattr__(name: str) -> Callable[..., Call]: ...
