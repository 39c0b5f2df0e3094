"""The cost of a whole rollout as an operator, with the gradient of `rollout_gradient`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from featherweight.dynamics.checks import checked_model
from featherweight.errors import SimulationError
from featherweight.functions import configuration, function
from featherweight.interop.operators import Operator, Slot
from featherweight.interop.steps import options_of
from featherweight.interop.tangents import maps
from featherweight.model import Model
from featherweight.simulation import rollout, rollout_gradient
from featherweight.simulation.control import Compiled
from featherweight.simulation.problem import seconds


class RolloutCost(Operator):
    """Σ cost + final of a rollout, as a function of where it begins and of what drives it."""

    def __init__(
        self, cost: Callable[..., Any] | None, model: Model, steps: int, dt: float, final: Callable[..., Any] | None,
        inputs: Sequence[str] | None, given: dict[str, Any],
    ) -> None:  # fmt: skip
        super().__init__()
        self.name = "rollout_cost"
        self.cost, self.final, self.model = cost, final, checked_model(model)
        if isinstance(steps, bool) or not isinstance(steps, (int, np.integer)) or steps < 1:
            raise ValueError(f"steps: expected a whole number of steps > 0, got {steps!r}")
        self.steps, self.dt = int(steps), seconds("dt", "time step", dt)
        self.options = options_of(model, given, ("control",))
        self.control: Compiled | None = self.options.pop("control", None)
        if self.control is not None and not isinstance(self.control, Compiled):
            raise TypeError(
                "control: expected a controller made by featherweight.compiled, which can be differentiated, got "
                f"{type(self.control).__name__}"
            )
        self.names = self._names(inputs)
        self.inputs, self.outputs = tuple(Slot(name, self._shape(name)) for name in self.names), ((),)
        self._functions = self._costs()

    def _names(self, inputs: Any) -> tuple[str, ...]:
        own = ("tau",) if self.control is None else ("p", "x")
        if inputs is None:
            return "q", "v", own[0]
        if isinstance(inputs, str) or not isinstance(inputs, Sequence):
            raise TypeError(f'inputs: expected names in order, such as ("q", "v", "{own[0]}"), got {inputs!r}')
        known = ["q", "v", *own, *self.model.parameters]
        for name in inputs:
            if name not in known:
                raise ValueError(f"inputs: expected names among {', '.join(known)}, got {name!r}")
        if len(set(inputs)) < len(inputs) or not {"q", "v"} <= set(inputs):
            raise ValueError(f"inputs: expected q, v and further names, each once, got {', '.join(inputs)}")
        return tuple(inputs)

    def _shape(self, name: str) -> tuple[int, ...]:
        model = self.model
        if self.control is not None and name in ("p", "x"):
            return (self.control.parameters if name == "p" else self.control.state).shape[-1:]
        shapes = {"q": (model.nq,), "v": (model.nv,), "tau": (self.steps, model.nv)}
        return shapes[name] if name in shapes else model.parameters[name].shape

    def _costs(self) -> tuple[Any, Any]:
        """The costs of one state, compiled."""
        n, q = self.model.nv, configuration(self.model)
        if self.cost is None and self.final is None:
            raise ValueError("cost, final: expected a function, got none of them")
        for name, given in (("cost", self.cost), ("final", self.final)):
            if given is not None and not callable(given):
                raise TypeError(f"{name}: expected a function of one state, got {type(given).__name__}")
        size = 0 if self.control is None else self.control.state.shape[-1]
        running = self.cost and function(self.cost, inputs={"t": (), "q": q, "v": n, "tau": n, "x": size})
        final = self.final and function(self.final, inputs={"q": q, "v": n, "x": size})
        for name, f in (("cost", running), ("final", final)):
            if f and (not f.returned.alone or f.returned.shapes[0]):
                raise TypeError(f"{name}: expected it to return a number")
        return running, final

    def arguments(self, arrays: Sequence[np.ndarray]) -> dict[str, Any]:
        """What `rollout` is given."""
        batch = self.batch([a.shape for a in arrays])
        whole = [np.broadcast_to(a, (*batch, *slot.shape)) for a, slot in zip(arrays, self.inputs, strict=True)]
        values = dict(zip(self.names, whole, strict=True))
        given: dict[str, Any] = {name: values.pop(name) for name in ("q", "v")}
        if self.control is None:
            given["tau"] = values.pop("tau") if "tau" in values else None
        else:
            control = self.control
            control = control.with_parameters(values.pop("p")) if "p" in values else control
            given["control"] = control.with_state(values.pop("x")) if "x" in values else control
        if values:
            given["parameters"] = values
        return {**given, "steps": self.steps, "dt": self.dt, **self.options}

    def __call__(self, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        run = rollout(self.model, **self.arguments(arrays))
        if np.any(run.status):
            raise SimulationError("rollout_cost: a step of this rollout fails; rollout says which, and why")
        running, final = self._functions
        batch = run.q.shape[:-2]
        x = run.x if self.control is not None else np.zeros((*run.q.shape[:-1], 0))
        value = np.zeros(batch)
        if running:
            times = self.dt * np.arange(self.steps)
            value = value + running(times, run.q[..., :-1, :], run.v[..., :-1, :], run.tau, x[..., :-1, :]).sum(axis=-1)
        if final:
            value = value + final(run.q[..., -1, :], run.v[..., -1, :], x[..., -1, :])
        return (np.asarray(value),)

    def gradient(self, which: Sequence[int], arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Gradients with respect to these inputs, in all their numbers."""
        names = [self.names[k] for k in which]
        _, found = rollout_gradient(self.cost, self.model, final=self.final, wrt=names, **self.arguments(arrays))
        q = arrays[self.names.index("q")]
        return [maps(self.model).on_numbers(q, found[x]) if x == "q" else found[x] for x in names]

    def _push(self, which: tuple[int, ...]) -> Operator:
        return _Push(self, which)

    def _pull(self, which: tuple[int, ...]) -> Operator:
        return _Pull(self, which)


class _Push(Operator):
    def __init__(self, of: RolloutCost, which: tuple[int, ...]) -> None:
        super().__init__()
        self.name, self.of, self.which = f"push of {of.name}", of, which
        self.inputs = (*of.inputs, *(Slot(f"d{of.inputs[k].name}", of.inputs[k].shape) for k in which))
        self.outputs = of.outputs
        self.linear, self.transpose = len(which), lambda: of.pull(which)

    def __call__(self, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        n = len(self.of.inputs)
        moved: Any = 0.0
        for k, g, tangent in zip(self.which, self.of.gradient(self.which, arrays[:n]), arrays[n:], strict=True):
            own = len(self.of.inputs[k].shape)
            moved = moved + (g * tangent).sum(axis=tuple(range(-own, 0)))
        return (np.asarray(moved),)


class _Pull(Operator):
    def __init__(self, of: RolloutCost, which: tuple[int, ...]) -> None:
        super().__init__()
        self.name, self.of, self.which = f"pull of {of.name}", of, which
        self.inputs = (*of.inputs, Slot("w", ()))
        self.outputs = tuple(of.inputs[k].shape for k in which)
        self.linear, self.transpose = 1, lambda: of.push(which)

    def __call__(self, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        *values, w = arrays
        found = self.of.gradient(self.which, values)
        each = zip(found, self.outputs, strict=True)
        return tuple(g * w.reshape((*w.shape, *(1 for _ in shape))) for g, shape in each)
