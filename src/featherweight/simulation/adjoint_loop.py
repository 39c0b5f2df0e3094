"""The native loop over the steps of a rollout, backwards: its carry are cotangents of the state, and sums of those of
what holds for all steps."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from featherweight.compiler import Argument, Graph
from featherweight.compiler.runtime.loop import Call, Loop
from featherweight.differentiation import replayed, traced
from featherweight.identity import identity
from featherweight.model import Model
from featherweight.simulation.adjoint import AdjointStep
from featherweight.simulation.kept_steps import Segment
from featherweight.simulation.linearized_step import Linearization
from featherweight.simulation.options import StepOptions
from featherweight.simulation.running import chunk_of

ON = "weights on "
STATE = ("q", "v", "x", "memory")  # whose cotangents go from step to step
WEIGHTED = ("q", "v", "tau", "x")  # what a cost is a function of
Q_AFTER, FOUND = "q after", "impulses"


class AdjointLoop:
    """Steps of a structure backwards, for gradients with respect to what has these names."""

    def __init__(self, model: Model, options: StepOptions, names: Sequence[str], smooth: bool) -> None:
        self.step = step = Linearization(model, options, smooth)
        self.defaults, program = step.defaults, step.program
        method = options.integrator
        if (method.solves or method.state_size(model.over_floats)) and not program.solves:
            raise ValueError(
                f"integrator: steps of {method!r} have no gradient back: it gives no equations for them "
                "(solved_equation); use 'semi_implicit', 'rk4' or 'variational'"
            )
        own = {x.name: x for x in step.inputs}
        sizes = options.parts.memory_sizes(model)
        self._remembered = sum(sizes.elements)
        passes_on = bool(self._remembered or (sizes.constraints and program.yielding))
        self._kept = [name for name in STATE if name in own and own[name].size and (name != "memory" or passes_on)]
        changing = (*STATE, "tau", "step", "integrator")
        self._summed = [name for name in own if name in names and name not in changing]
        self._wanted = [name for name in own if name in (*self._kept, *names)]
        self._rest = [x for x in step.inputs if x.name not in changing]
        self._record = "tau" in names
        directions = {name: prod(own[name].directions) for name in own}
        self.carry = [Argument(ON + name, (directions[name],), "n") for name in self._kept]
        self.carry += [Argument(name, (own[name].size,), "n") for name in self._summed]
        given: dict[str, int] = {
            str(name): own[name].size for name in ("q", "v", "x", "memory", "tau", "step") if name in own
        }
        given |= {Q_AFTER: model.nq, FOUND: program.rows}
        given |= {ON + name: n for name in WEIGHTED if (n := directions.get(name, model.nv if name == "tau" else 0))}
        self.given = [Argument(name, (n,), "n") for name, n in given.items() if n]
        constants = [Argument(f"constant {x.name}", (x.size,), "n") for x in self._rest]
        known, tables = options.identity, [table.tobytes().hex() for table in options.tables]
        whole = identity("rollout_gradient", known.text, list(names), smooth, tables, model, options.touching(model))
        self.code = Loop(
            "rollout_gradient", self.carry, [Argument(f"given {a.name}", a.shape, a.symbols) for a in self.given],
            constants, [(model.nv,)] if self._record else [], self._function, len(self.carry),
            None if known.foreign else whole.everywhere, one_by_one=True,
        )  # fmt: skip

    @property
    def weights(self) -> int:
        """Numbers of a step that weights are."""
        return sum(a.shape[0] for a in self.given if a.name.startswith(ON))

    def begin(self, ending: dict[str, np.ndarray], count: int) -> list[np.ndarray]:
        """The carry at the end, from weights on the state there."""
        found = {ON + name: own for name, own in ending.items()}
        return [found[a.name] if a.name in found else np.zeros((count, *a.shape)) for a in self.carry]

    def run(
        self, carry: list[np.ndarray], segment: Segment, weights: dict[str, np.ndarray], tau: np.ndarray | None,
        constants: dict[str, np.ndarray], into: np.ndarray | None,
    ) -> list[np.ndarray]:  # fmt: skip
        """The carry where a segment begins, from that where it ends; gradients with respect to τ go `into` an array."""
        count, steps = len(carry[0]), segment.last - segment.first
        states, first = segment.states, self._remembered
        known = {name: own[:, :-1] for name, own in states.items()} | {ON + n: w for n, w in weights.items()}
        known[Q_AFTER] = states["q"][:, 1:]
        if tau is not None:
            known["tau"] = tau
        if "memory" in states:
            known[FOUND] = states["memory"][:, 1:, first:]
        numbers = np.arange(float(segment.first), float(segment.last))[None, :, None]
        known["step"] = np.ascontiguousarray(np.broadcast_to(numbers, (count, steps, 1)))
        backwards = [known[a.name][:, ::-1] for a in self.given]
        each = [constants[x.name] for x in self._rest]
        at_once = max(1, chunk_of(self.code, count))
        for begin in range(0, steps, at_once):
            part = slice(begin, min(begin + at_once, steps))
            records = [] if into is None else [into[:, segment.first : segment.last][:, ::-1][:, part]]
            after, n = [np.empty_like(c) for c in carry], part.stop - begin
            given = [array[:, part] for array in backwards]
            self.code.run(Call(carry, given, each, after, records, n, 1 if records else n))
            carry = after
        return carry

    def gradients(self, carry: list[np.ndarray]) -> dict[str, np.ndarray]:
        """By name, from the carry where the rollout begins."""
        return {a.name.removeprefix(ON): own for a, own in zip(self.carry, carry, strict=True)}

    def _function(self, scalars: list[list[Any]], lift: Any, mark: Any) -> tuple[list[list[Any]], Any]:
        sizes = [len(own) for own in scalars]
        flat = [x for own in scalars for x in own]

        def write(flat: Sequence[Any]) -> list[Any]:
            rest = iter(flat)
            return self._written([[next(rest) for _ in range(size)] for size in sizes])

        if Graph.tracing() is None:  # interpreted: what is written in a trace, run on numbers
            results = iter(replayed(traced(write, flat, [True] * len(flat)), flat))
        else:
            results = iter(write(flat))
        shapes = [a.shape[0] for a in self.carry] + ([self.step.model.nv] if self._record else [])
        return [[next(results) for _ in range(k)] for k in shapes], 0

    def _written(self, scalars: list[list[Any]]) -> list[Any]:
        """One step backwards: the next carry, and the gradient with respect to its forces."""
        n, m, program = len(self.carry), len(self.given), self.step.program
        carry = {a.name: own for a, own in zip(self.carry, scalars[:n], strict=True)}
        given = {a.name: own for a, own in zip(self.given, scalars[n : n + m], strict=True)}
        known = given | {x.name: own for x, own in zip(self._rest, scalars[n + m :], strict=True)}
        values = {x.name: known.get(x.name, [0.0] * x.size) for x in self.step.inputs}
        step = AdjointStep(program, values, given[Q_AFTER], given.get(FOUND, []))
        memory = carry.get(f"{ON}memory", [0.0] * (self._remembered + program.rows))
        impulses = memory[self._remembered :] if program.yielding else [0.0] * program.rows
        found = step.pulled(carry[f"{ON}q"], carry[f"{ON}v"], impulses, self._wanted)
        names, weights = ["tau", "deflections"], [given[f"{ON}tau"], memory[: self._remembered]]
        if f"{ON}x" in carry:
            names, weights = [*names, "controller"], [*weights, carry[f"{ON}x"]]
        more = step.at.pulled(names, weights, self._wanted)
        total = {}
        for x in self.step.inputs:
            if x.name in self._wanted:
                own = [a + b for a, b in zip(found[x.name], more[x.name], strict=True)]
                total[x.name] = x.cotangents(values[x.name], own)
        results: list[Any] = []
        for name in self._kept:
            added = given.get(ON + name, [0.0] * len(total[name]))
            results += [a + b for a, b in zip(total[name], added, strict=True)]
        for name in self._summed:
            results += [a + b for a, b in zip(carry[name], total[name], strict=True)]
        return [*results, *total["tau"]] if self._record else results
