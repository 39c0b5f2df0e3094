"""featherweight's functions as functions of PyTorch: with `backward`, `torch.func.grad`, `jvp`, `vjp` and `vmap`.

    from featherweight.interop import torch as fwt

    accelerate = fwt.forward_dynamics(model)         # any function of dynamics
    f = fwt.wrap(fw.function(…))                     # any function of yours
    step = fwt.step(model, dt=1e-3, contact=…)       # one step of a simulation
    cost = fwt.rollout_cost(…)                       # the cost of a whole rollout

- Tensors are double, on the CPU, and are not copied: arrays and tensors share memory. float32 is refused, or with
  `convert=True` computed in double and rounded.
- Leading axes broadcast, and axes of `vmap` become leading axes: one call for a batch, on all cores.
- What is wrong with numbers (NaN, a quaternion that is no unit, a singular mass matrix) is a ValueError that says so.
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
from featherweight.interop.operators import Operator, operator_of
from featherweight.interop.rollouts import RolloutCost
from featherweight.interop.steps import Step
from featherweight.interop.torch_function import applied, torch
from featherweight.model import Model

__all__ = list(NAMES)

Call = Callable[..., Any]


def wrap(f: Function, *, convert: bool = False) -> Call:
    """A function made by `fw.function` as one of PyTorch: it takes and returns tensors, and can be differentiated.

    Args:
        f: made by `fw.function`.
        convert: take float32, too; it is computed in double, and the results are rounded to float32.
    """
    return _function(operator_of(f), convert)


def step(model: Model, *, dt: float, convert: bool = False, **options: Any) -> Call:
    """One step of `rollout` as a function: `step(model, dt=1e-3)(q, v, tau)` returns `(q, v)` after it.

    Its derivatives are the A and B of `fw.linearize`, contacts included, from the side that the step took. Each step
    finds its impulses by itself, without those of the step before.

    Args:
        model: the robot.
        dt: length of the step [s].
        convert: as for `wrap`.
        options: contact, integrator, actuators, limits, forces, constraints, as for `rollout`. What remembers from step
            to step, springs and dampers in contact, is refused.
    """
    return _function(Step(model, dt, options), convert)


def rollout_cost(
    cost: Callable[..., Any] | None, model: Model, *, steps: int, dt: float, final: Callable[..., Any] | None = None,
    inputs: Sequence[str] | None = None, convert: bool = False, **options: Any,
) -> Call:  # fmt: skip
    """The cost of a whole rollout as a function, with the gradient of `fw.rollout_gradient`::

        value = Σ_k cost(t_k, q_k, v_k, τ_k, x_k) + final(q_N, v_N, x_N).

    Args:
        cost, model, steps, dt, final: as for `fw.rollout_gradient`: the costs are functions of featherweight, of one
            state.
        inputs: what the function takes, in order: "q", "v" at the beginning, "tau" (steps, nv), or with a controller
            "p" and "x", and names of declared parameters of the model. By default q, v, tau, or q, v, p.
        convert: as for `wrap`.
        options: control, contact, integrator, actuators, limits, forces, constraints, as for `fw.rollout_gradient`.
    """
    return _function(RolloutCost(cost, model, steps, dt, final, inputs, options), convert)


def _function(operator: Operator, convert: bool) -> Call:
    if not isinstance(convert, bool):
        raise TypeError(f"convert: expected True or False, got {convert!r}")

    def call(*values: Any) -> Any:
        names = [slot.name for slot in operator.inputs]
        if len(values) != len(names):
            raise TypeError(f"{operator.name}: expected {len(names)} arguments ({', '.join(names)}), got {len(values)}")
        tensors = [_tensor(operator, name, value, convert) for name, value in zip(names, values, strict=True)]
        operator.batch([tuple(t.shape) for t in tensors])  # what does not fit is named here
        results = applied(operator, [t.to(torch.float64) for t in tensors])
        if convert and not any(t.dtype == torch.float64 for t in tensors):
            results = tuple(r.to(torch.float32) for r in results)
        return operator.build(results)

    call.__name__ = call.__qualname__ = operator.name
    return call


def _tensor(operator: Operator, name: str, value: Any, convert: bool) -> Any:
    """An argument as a tensor; TypeError if it is none, or not of double precision."""
    where = f"{operator.name}: {name}"
    if not isinstance(value, torch.Tensor):
        try:
            array = np.asarray(value)
            value = torch.as_tensor(array if array.flags.writeable else array.copy())
        except (TypeError, ValueError) as error:
            raise TypeError(f"{where}: expected a tensor, got {type(value).__name__} ({error})") from None
    if value.device.type != "cpu":
        raise ValueError(f"{where}: expected a tensor on the CPU, got one on {value.device}; use .cpu()")
    if value.is_complex() or value.dtype == torch.bool:
        raise TypeError(f"{where}: expected real numbers (float64), got {value.dtype}")
    if not value.is_floating_point():
        return value.to(torch.float64)
    if value.dtype != torch.float64 and not convert:
        raise TypeError(
            f"{where}: expected float64, got {value.dtype}; use .double(), or give convert=True to compute in double "
            "and round the results"
        )
    return value


def _named(name: str) -> Callable[..., Call]:
    def make(
        model: Model, *, f_ext: bool = False, parameters: Iterable[str] = (), convert: bool = False,
        **options: Any,
    ) -> Call:  # fmt: skip
        operator = operator_named(name, model, options, f_ext=f_ext, parameters=parameters)
        return _function(operator, convert)

    return described(make, name)


globals().update({name: _named(name) for name in INPUTS})

if TYPE_CHECKING:

    def __getattr__(name: str) -> Callable[..., Call]: ...
