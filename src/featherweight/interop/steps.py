"""One step of a simulation as an operator: (q, v, τ) → (q⁺, v⁺), with the A and B of `linearize`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from featherweight.dynamics.checks import checked_model
from featherweight.errors import SimulationError
from featherweight.interop.operators import Operator, Slot
from featherweight.interop.tangents import maps, times
from featherweight.model import Model
from featherweight.simulation import linearize, rollout
from featherweight.simulation.problem import seconds, step_options
from featherweight.simulation.status import Status

MOVING = ("contact", "integrator", "actuators", "limits", "forces", "constraints")


def options_of(model: Model, given: dict[str, Any], also: Sequence[str] = ()) -> dict[str, Any]:
    """What moves a robot, by name; TypeError for other names."""
    for name in given:
        if name not in (*MOVING, *also):
            raise TypeError(f"no option {name!r}; expected some of {', '.join((*MOVING, *also))}")
    return dict(given)


class Step(Operator):
    """One step of `rollout`."""

    def __init__(self, model: Model, dt: float, given: dict[str, Any]) -> None:
        super().__init__()
        self.name = "step"
        self.model, self.dt = checked_model(model), seconds("dt", "time step", dt)
        self.options = options_of(model, given)
        self._check()
        self.inputs = Slot("q", (model.nq,)), Slot("v", (model.nv,)), Slot("tau", (model.nv,))
        self.outputs = (model.nq,), (model.nv,)

    def _check(self) -> None:
        defaults = {"contact": None, "integrator": "semi_implicit", "actuators": None, "limits": True}
        moving = {**defaults, "forces": (), "constraints": (), **self.options}
        parts = step_options(self.model, True, False, None, *(moving[name] for name in MOVING)).parts
        if sum(parts.memory_sizes(self.model).elements):
            raise ValueError(
                "contact, forces: what remembers from step to step (springs and dampers in contact) is no function of "
                "(q, v, tau); use contact.Impulse"
            )

    def __call__(self, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        q, v, tau = arrays
        run = rollout(self.model, q, v, tau=tau[..., None, :], steps=1, dt=self.dt, **self.options)
        failed = np.ravel(run.status)[np.flatnonzero(run.status)]
        if failed.size:
            raise SimulationError(f"step: {Status(int(failed[0])).reason}")
        return run.q[..., 1, :], run.v[..., 1, :]

    def linearized(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> tuple[Any, np.ndarray]:
        """The configuration after the step, and ∂(q⁺, v⁺)/∂(q, v, τ), shape (…, 2nv, 3nv)."""
        found = linearize(self.model, q, v, tau, dt=self.dt, **self.options)
        return found.q, np.concatenate([found.A, found.B], axis=-1)

    def _push(self, which: tuple[int, ...]) -> Operator:
        return _Push(self, which)

    def _pull(self, which: tuple[int, ...]) -> Operator:
        return _Pull(self, which)


class _Push(Operator):
    def __init__(self, step: Step, which: tuple[int, ...]) -> None:
        super().__init__()
        self.name, self.step, self.which = "push of step", step, which
        self.inputs = (*step.inputs, *(Slot(f"d{step.inputs[k].name}", step.inputs[k].shape) for k in which))
        self.outputs = step.outputs
        self.linear, self.transpose = len(which), lambda: step.pull(which)

    def __call__(self, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        model, n = self.step.model, self.step.model.nv
        q_after, J = self.step.linearized(*arrays[:3])
        moved: Any = 0.0
        for k, tangent in zip(self.which, arrays[3:], strict=True):
            along = maps(model).velocity(arrays[0], tangent) if k == 0 else tangent
            moved = moved + times(J[..., k * n : k * n + n], along)
        return maps(model).rate(q_after, moved[..., :n]), np.ascontiguousarray(moved[..., n:])


class _Pull(Operator):
    def __init__(self, step: Step, which: tuple[int, ...]) -> None:
        super().__init__()
        self.name, self.step, self.which = "pull of step", step, which
        self.inputs = (*step.inputs, Slot("wq", step.outputs[0]), Slot("wv", step.outputs[1]))
        self.outputs = tuple(step.inputs[k].shape for k in which)
        self.linear, self.transpose = 2, lambda: step.push(which)

    def __call__(self, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        model, n = self.step.model, self.step.model.nv
        q_after, J = self.step.linearized(*arrays[:3])
        on_q = maps(model).on_velocity(q_after, arrays[3])
        transposed = np.swapaxes(J, -1, -2)
        weights = times(transposed[..., :n], on_q) + times(transposed[..., n:], arrays[4])
        parts = [weights[..., k * n : k * n + n] for k in self.which]
        each = zip(self.which, parts, strict=True)
        return tuple(maps(model).on_numbers(arrays[0], w) if k == 0 else np.ascontiguousarray(w) for k, w in each)
