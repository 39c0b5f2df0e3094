"""A step and its matrices A and B, compiled for a structure of a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from math import prod
from typing import Any, NamedTuple

import numpy as np

from featherweight.cached import cached_property
from featherweight.compiler import Argument, Graph, Kernel
from featherweight.functions.configuration import Input
from featherweight.functions.native import Native, Returned
from featherweight.identity import identity
from featherweight.model import Model
from featherweight.simulation.implicit import ImplicitStep
from featherweight.simulation.options import StepOptions
from featherweight.simulation.step_program import StepProgram

OFTEN_GIVEN = ("q", "v", "tau", "dt")  # the last arguments of the code; others mostly have their defaults
STATE = ("x", "step", "memory", "integrator", "felt", "held")  # what a step begins with beside q and v
UNSOLVED = (
    "the step cannot be made from there: the equations of its impulses or of its integrator were not solved, or its "
    "end is not finite; rollout says which. Or a bounce was taken back so that it adds no energy: such a step has no "
    "derivative by its laws; take differences of rollouts, or restitution=0"
)


class Linearized(NamedTuple):
    """The state after a step, A = ∂(q⁺, v⁺)/∂(q, v) and B = ∂(q⁺, v⁺)/∂τ, in the tangent space of configurations."""

    q: np.ndarray
    v: np.ndarray
    A: np.ndarray
    B: np.ndarray


class WholeLinearized(Linearized):
    """The same of all that a step hands on to the next, δ(q, v, x, m)⁺ = A δ(q, v, x, m) + B δτ: beside (q, v, A, B)
    the controller's state `x` and the `memory` after the step, as `state` takes them."""

    x: np.ndarray
    memory: np.ndarray


class Linearization(Native):
    """A step and its matrices, compiled for a structure of a step."""

    name = "linearize"

    def __init__(self, model: Model, options: StepOptions, smooth: bool = False, whole: bool = False) -> None:
        self.model, self.options, self.whole = model, options, whole
        self.program = program = StepProgram(model, options, smooth)
        sizes = {a.name: prod(a.shape) for a in program.arguments}
        self._remembered = sum(options.parts.memory_sizes(model).elements)
        self._more = {}  # further parts of the state, by name: how many of their numbers have a derivative
        if whole:
            yields = bool(program.rows and program.yielding)
            self._more = {"x": sizes.get("x", 0), "memory": self._remembered + program.rows * yields}
        self._returned = [name for name in self._more if sizes.get(name)]
        n, further = model.nv, [(sizes[name],) for name in self._returned]
        size = 2 * n + sum(self._more.values())
        shapes = ((model.nq,), (n,), (size, size), (size, n), *further)
        self.returned = Returned(shapes, self._whole if whole else Linearized._make)
        self.named = None if whole else Linearized

    @cached_property
    def _arguments(self) -> list[Argument]:
        """What a step depends on, in the order in which the code takes it."""
        own = {a.name: a for a in self.program.arguments}
        last = [own.pop(name) for name in OFTEN_GIVEN if name in own]
        return [*own.values(), *last]

    @cached_property
    def inputs(self) -> tuple[Input, ...]:
        n, found = self.model.nv, []
        for a in self._arguments:
            shape = (self.model.nb + 1, 6) if a.name == "f_ext" else a.shape
            is_q = a.name == "q"
            found.append(Input(a.name, shape, (n,) if is_q else shape, self.model if is_q else None))
        return tuple(found)

    @cached_property
    def kernel(self) -> Kernel:
        known = self.options.identity
        tables = [table.tobytes().hex() for table in self.options.tables]
        flags = [self.program.smooth, self.whole]
        whole = identity("linearize", known.text, tables, flags, self.model, self.options.touching(self.model))
        each = zip(self._arguments, self.inputs, strict=True)
        arguments = [Argument(a.name, x.shape, a.symbols, a.parts) for a, x in each]
        fingerprint = None if known.foreign else whole.everywhere
        return Kernel(self.name, arguments, self.returned.shapes, self._scalars, self._explain, fingerprint=fingerprint)

    def defaults(self, options: StepOptions) -> dict[str, Any]:
        """Arguments that are not given: numbers of what moves the robot, its declared parameters, zeros."""
        known = {p.name: np.array(p.default, dtype=float) for p in self.model.parameters.values()}
        known["numbers"] = np.array(options.numbers, dtype=float)
        if options.control is not None:
            known |= {"x": options.control.state, "p": options.control.parameters}
        return {x.name: known.get(x.name, np.zeros(x.shape)) for x in self.inputs}

    def checked_state(self, state: Any) -> dict[str, Any]:
        """What else a step begins with, by names of the code's inputs."""
        known = [x.name for x in self.inputs if x.name in STATE]
        if not isinstance(state, Mapping):
            raise TypeError(f"state: expected a dictionary of arrays by name, got {type(state).__name__}")
        for name in state:
            if name not in known:
                raise ValueError(f"state: this step has no {name!r}; expected names among {', '.join(known)}")
        return {name: state[name] for name in known if name in state}

    def write(self, flat: list[Any]) -> list[Any]:
        return self._written(flat)[0]

    def _scalars(self, scalars: list[list[Any]], lift: Any, mark: Any) -> tuple[list[list[Any]], Any]:
        flat = [x for own in scalars for x in own]
        if Graph.tracing() is None:
            return self._parts(self._on_numbers(flat)), 0
        results, status = self._written(flat)
        return self._parts(results), status

    def _written(self, flat: list[Any]) -> tuple[list[Any], Any]:
        """Results of one state, and zero where the step could be made."""
        values, at = {}, 0
        for x in self.inputs:
            values[x.name] = flat[at : at + x.size]
            at += x.size
        step = ImplicitStep(self.program, values)
        q, v = step.after
        step.locate(step.velocity, step.found)
        n, directions = self.model.nv, count()
        along: dict[str, Any] = {name: [{next(directions): 1.0} for _ in range(n)] for name in ("q", "v")}
        for name, size in self._more.items():
            numbers = len(values.get(name, ()))
            along[name] = [{next(directions): 1.0} if k < size else {} for k in range(numbers)]
        columns = next(directions)
        along["tau"] = [{columns + k: 1.0} for k in range(n)]
        moved = step.end_tangents(along)
        if self.whole:
            x_after, deflections, impulses = step.further_tangents(along)
            moved += [*x_after, *deflections, *impulses]
        A = [row.get(d, 0.0) for row in moved for d in range(columns)]
        B = [row.get(columns + d, 0.0) for row in moved for d in range(n)]
        after = {"x": "controller", "memory": "memory after"}
        more = [x for name in self._returned for x in step.at.run(after[name])[0]]
        return [*q, *v, *A, *B, *more], step.status

    def _whole(self, parts: Sequence[Any]) -> WholeLinearized:
        q, v, A, B, *more = parts
        found, nothing = WholeLinearized(q, v, A, B), np.zeros((*np.shape(q)[:-1], 0))
        own = dict(zip(self._returned, more, strict=True))
        found.x, found.memory = own.get("x", nothing), own.get("memory", nothing)
        return found

    def _explain(self, arrays: dict[str, np.ndarray]) -> str:
        for x in self.inputs:
            reason = x.explain(arrays[x.name])
            if reason is not None:
                return reason
        return UNSOLVED
