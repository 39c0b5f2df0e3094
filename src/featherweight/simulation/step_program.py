"""One step as a trace that can be differentiated: its values, the equations its impulses obey, and where it ends.

How the impulses λ were found does not matter: with the acceleration a they solve

    balance(x, a, λ) = 0    the equation of motion,    laws(x, w, λ) = 0    one equation for each row of a constraint,

in which each law has the side that was taken; w = errors(x, v⁺) is the velocity of each row less the wanted one, and
v⁺ = coasting(x) + h a the velocity that impulses leave. x is all that a step depends on. From there derivatives follow
by the implicit function theorem (`implicit.py`, `adjoint.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from math import prod
from typing import Any

from featherweight.cached import cached_property
from featherweight.compiler import Argument, Graph, Node
from featherweight.differentiation import Program, Tangents, pulled_back, pushed_forward, replayed
from featherweight.model import Model
from featherweight.simulation.options import StepOptions
from featherweight.simulation.step import carry_of, constants_of
from featherweight.simulation.step_equations import (
    ACCELERATION,
    AFTER,
    ANSWERS,
    DELTA,
    ENDS,
    ERRORS,
    GAINS,
    IMPULSES,
    ON_BODIES,
    Q_END,
    REMEMBERED,
    SMOOTHING,
    V_END,
    Named,
    StepWriter,
)


@dataclass(frozen=True)
class StepProgram:
    """The trace of a step of a model, with named inputs and outputs."""

    model: Model
    options: StepOptions
    smooth: bool = False  # laws are softened for derivatives

    @cached_property
    def arguments(self) -> list[Argument]:
        """What a step depends on: its carry, forces, and what holds for all steps."""
        model, options = self.model, self.options
        forces = [Argument("tau", (model.nv,), "nv")] if options.given else []
        if options.wrenches:
            forces.append(Argument("f_ext", (6 * model.nb + 6,), "6 (nb + 1)"))
        carry = [a for a in carry_of(model, options) if a.name not in ("clock", "passed")]
        constants = [a for a in constants_of(model, options) if not a.read_by_index]
        width = [Argument(SMOOTHING, (), "")] if self.smooth else []
        return [*carry, Argument("step", (), ""), *forces, *constants, *width]

    @property
    def rows(self) -> int:
        """How many impulses there are."""
        return self.options.parts.memory_sizes(self.model).constraints

    @property
    def moves_first(self) -> bool:
        """Impulses act at the end of the step."""
        return self.options.integrator.moves_first

    @cached_property
    def _trace(self) -> tuple[Graph, dict[str, list[Node]], Named]:
        """The graph, its inputs and its outputs by name."""
        graph = Graph()
        n, m = self.model.nv, self.rows
        sizes = {a.name: prod(a.shape) for a in self.arguments}
        sizes |= {ACCELERATION: n, AFTER: n, IMPULSES: m, ERRORS: m, ENDS: m, ANSWERS: 0}
        sizes |= {Q_END: self.model.nq, V_END: n, ON_BODIES: 6 * self.model.nb + 6, DELTA: n, GAINS: m, REMEMBERED: m}
        inputs, at = {}, 0
        for name, size in sizes.items():
            inputs[name] = [graph.input(0, at + k) for k in range(size)]
            at += size
        with graph.written():
            tree = self.model.over(graph.model_constant, graph.mark, {p: inputs[p] for p in self.model.parameters})
            outputs = StepWriter(self.model, self.options, tree, inputs).outputs()
        return graph, inputs, outputs

    @cached_property
    def solves(self) -> bool:
        """Without impulses, a step is the solution of equations that are known."""
        return "search" in self._trace[2]

    @property
    def yielding(self) -> list[int]:
        """Numbers of the rows that yield to a change of their impulse."""
        return self._trace[2]["yielding"]

    @cached_property
    def holds_joints(self) -> bool:
        """Constraints hold joints at their ends and do nothing else: an active set says which."""
        return bool(self.rows) and self._trace[2]["held"][0]

    def at(self, values: Named) -> Evaluation:
        """The trace, run on values of its inputs; inside another trace."""
        return Evaluation(self, values)


def traced_into() -> Graph:
    """The trace that is being made."""
    graph = Graph.tracing()
    if graph is None:
        raise RuntimeError("derivatives of a step are written into a trace, and none is open")
    return graph


class Evaluation:
    """A step's trace on values of its inputs, which may become known one after the other."""

    def __init__(self, program: StepProgram, values: Named) -> None:
        self._graph, self._inputs, self._outputs = program._trace
        self.values = dict(values)
        target = traced_into()
        folded = Program.of(self._graph, [], []).folded
        # the numbers of the model are the same in all programs that are run
        self._tables = {
            i: target.number(self._graph.table[args[0]])
            for i, (op, args) in enumerate(zip(self._graph.op, self._graph.args, strict=True))
            if op == "table" and i not in folded
        }

    def run(self, *names: str) -> list[list[Any]]:
        """Values of outputs."""
        program, values, _ = self._program(names)
        return _parts(replayed(program, values), self._sizes(names))

    def pushed(self, names: Sequence[str], tangents: dict[str, Sequence[Tangents]]) -> list[list[Tangents]]:
        """Tangents of outputs from those of inputs."""
        program, values, given = self._program(names)
        own = [t for name in given for t in tangents.get(name, [{}] * len(self._inputs[name]))]
        still: list[Tangents] = [{}] * len(self._tables)
        return _parts(pushed_forward(program, values, [*own, *still])[1], self._sizes(names))

    def pulled(self, names: Sequence[str], weights: Sequence[Sequence[Any]], wanted: Sequence[str]) -> Named:
        """Cotangents of inputs from weights on outputs."""
        program, values, given = self._program(names)
        asked = [name in wanted for name in given for _ in self._inputs[name]]
        _, found = pulled_back(program, values, list(chain(*weights)), [*asked, *[False] * len(self._tables)])
        parts = _parts(found, [len(self._inputs[name]) for name in given])
        return {name: part for name, part in zip(given, parts, strict=False) if name in wanted}

    def _sizes(self, names: Sequence[str]) -> list[int]:
        return [len(self._outputs[name]) for name in names]

    def _program(self, names: Sequence[str]) -> tuple[Program, list[Any], list[str]]:
        given = [name for name in self._inputs if name in self.values]
        inputs = [*(x.id for name in given for x in self._inputs[name]), *self._tables]
        results = Program.of(self._graph, [], [x for name in names for x in self._outputs[name]]).outputs
        values = [*(x for name in given for x in self.values[name]), *self._tables.values()]
        return Program(self._graph, tuple(inputs), results), values, given


def _parts(flat: Sequence[Any], sizes: Sequence[int]) -> list[list[Any]]:
    parts, at = [], 0
    for size in sizes:
        parts.append(list(flat[at : at + size]))
        at += size
    return parts
