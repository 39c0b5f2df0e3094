"""One step as a trace that can be differentiated: its values, the equations its impulses obey, and where it ends.

How the impulses λ were found does not matter: with the acceleration a they solve

    balance(x, a, λ) = 0    the equation of motion,    laws(x, w, λ) = 0    one equation for each row of a constraint,

in which each law has the side that was taken; w = errors(x, v⁺) is the velocity of each row less the wanted one, and
v⁺ = coasting(x) + h a the velocity that impulses leave. x is all that a step depends on. From there derivatives follow by the implicit function theorem (`implicit.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from math import prod
from typing import Any

from featherweight import algorithms
from featherweight.algorithms.inverse_dynamics_derivatives import force_derivatives
from featherweight.algorithms.root_frame import RootFrame
from featherweight.cached import cached_property
from featherweight.compiler import Argument, Graph, Node
from featherweight.constraints import Block, Push, Situation
from featherweight.constraints.solve.motion import FreeMotion, MotionEquation, by_impulses
from featherweight.constraints.solve.solve import prescribed_joints
from featherweight.constraints.solve.solver import rate
from featherweight.differentiation import Program, Tangents, pulled_back, pushed_forward, replayed
from featherweight.model import Model, Tree
from featherweight.dynamics.evaluate import flat
from featherweight.scalar import where
from featherweight.simulation.options import StepOptions
from featherweight.simulation.pipeline import blocks_at, started
from featherweight.simulation.step import carry_of, constants_of, one_step, setting
from featherweight.spatial import Force, Motion, Vector

# unknowns of the equations and what they are given: inputs of the trace beside those of a step
ACCELERATION, IMPULSES, ERRORS, ENDS, ANSWERS = "acceleration", "impulses", "errors", "ends", "answers"
AFTER, Q_END, V_END, ON_BODIES = "velocity after", "q at the end", "v at the end", "forces on bodies"

UNKNOWN = (ACCELERATION, AFTER, IMPULSES, ERRORS, ENDS, ANSWERS, Q_END, V_END, ON_BODIES)

Named = dict[str, list[Any]]


@dataclass(frozen=True)
class StepProgram:
    """The trace of a step of a model, with named inputs and outputs."""

    model: Model
    options: StepOptions

    @cached_property
    def arguments(self) -> list[Argument]:
        """What a step depends on: its carry, forces, and what holds for all steps."""
        model, options = self.model, self.options
        forces = [Argument("tau", (model.nv,), "nv")] if options.given else []
        if options.wrenches:
            forces.append(Argument("f_ext", (6 * model.nb + 6,), "6 (nb + 1)"))
        carry = [a for a in carry_of(model, options) if a.name not in ("clock", "passed")]
        constants = [a for a in constants_of(model, options) if not a.read_by_index]
        return [*carry, Argument("step", (), ""), *forces, *constants]

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
        sizes |= {Q_END: self.model.nq, V_END: n, ON_BODIES: 6 * self.model.nb + 6}
        inputs, at = {}, 0
        for name, size in sizes.items():
            inputs[name] = [graph.input(0, at + k) for k in range(size)]
            at += size
        with graph.written():
            tree = self.model.over(graph.model_constant, graph.mark, {p: inputs[p] for p in self.model.parameters})
            outputs = _Writer(self, tree, inputs).outputs()
        return graph, inputs, outputs

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


class _Writer:
    """What writes the trace of a step."""

    def __init__(self, program: StepProgram, tree: Tree, x: Named) -> None:
        self.program, self.model, self.tree, self.x = program, program.model, tree, x
        given = program.options
        self.options = given.over(x.get("numbers", ()), given.tables)
        known = {name: values for name, values in x.items() if name not in UNKNOWN}
        self.known = {**known, "clock": [x["step"][0], 0.0, -1.0], "passed": [-1.0, -1.0]}
        self.h = x["dt"][0]

    def outputs(self) -> Named:
        """The step's values; the equations of its impulses; where it ends."""
        model, x = self.model, self.x
        begin = setting(model, self.tree, self.options, self.known)
        after, _, stepped = one_step(model, self.tree, self.options, self.known, begin)
        integrator, at = begin.parts.integrator, begin.at
        start = at.once(("started", id(begin.parts)), lambda: started(begin.parts, at, begin.tau, self.h, begin.memory))
        found = {
            "after": [*after["q"], *after["v"]], "status": [after["clock"][1]], "tau": list(begin.tau),
            "velocity": stepped.velocity, "found": list(stepped.memory.constraints),
            "deflections": list(chain(*stepped.memory.elements)), "controller": list(begin.x),
        }  # fmt: skip
        equation = integrator.equation(start.tree, at.q, at.v, start.acting, self.h)
        situation: Situation = start.begin
        if equation is None:
            motion = integrator.free(start.tree, at.q, at.v, start.acting, self.h, begin.memory.integrator)
            found["free"] = [*motion.q, *motion.v]
            equation = MotionEquation.moved(start.tree, x[Q_END], x[V_END])
            situation = Situation(model, at.tree, x[Q_END], x[V_END], self.h, True, at)
        return found | self._equations(begin.parts, equation, situation, begin.memory.constraints)

    def _equations(self, parts: Any, equation: MotionEquation, situation: Situation, before: Sequence[Any]) -> Named:
        a, impulses, tree = self.x[ACCELERATION], self.x[IMPULSES], equation.tree
        blocks = [block for constraint in parts.constraints for block in blocks_at(situation, constraint)]
        laws = _Laws(equation, situation, self.x)
        held = bool(blocks) and prescribed_joints(blocks)
        rest, warm, w = iter(impulses), iter(before), iter(self.x[ERRORS])
        pushes: list[Push] = []
        rows: list[Any] = []
        errors: list[Any] = []
        for block in blocks:
            self.tree.mark()
            own = list(block.pushes())
            if held:
                own, end = [Push(joints=dict.fromkeys(own[0].joints, 1.0))], self.x[ENDS][len(rows)]
                errors.append(laws.held(block, own[0], end))
                rows.append(where(end == 0, next(rest), next(w)))
            else:
                errors += laws.errors(block, own)
                each = [[next(numbers) for _ in own] for numbers in (rest, w, warm)]
                rows += laws.of(len(rows), block, own, *each)
            pushes += own
        self.tree.mark()
        moved = situation.moved
        motion = FreeMotion(
            tree, list(equation.q), lambda: list(situation.v), moved, [], by_impulses(tree, list(equation.q), []), []
        )
        q, v = parts.integrator.finish(situation.start.tree, motion, self.x[AFTER], self.h)
        return self._motion(equation, pushes) | {
            "balance": equation.residual(a, pushes, impulses), "errors": errors, "laws": rows, "end": [*q, *v],
            "coasting": equation.velocity([0.0] * tree.nv), "per_h": [equation.per_h],
            "yielding": laws.yielding, "held": [held],
        }  # fmt: skip

    def _motion(self, equation: MotionEquation, pushes: Sequence[Push]) -> Named:
        """The equation of motion by its analytic derivatives (`algorithms.force_derivatives`): along q and v where forces
        stay as they are in the bodies' frames; these forces, which may change, and what they are at the joints."""
        e, tree, a = equation, equation.tree, self.x[ACCELERATION]
        f_ext, forces = e.pushed(pushes, self.x[IMPULSES])
        frame = RootFrame.of(tree, e.q, e.v)
        I_c, felt, M = frame.composite(tree)
        dq, dv = force_derivatives(tree, frame, e.q, e.v, a, f_ext, I_c, felt)
        for _, _, joint in tree.outward():
            for k, armature in zip(joint.dofs, joint.armature, strict=True):
                forces[k] = forces[k] - armature * a[k]  # what damping has added may depend on v
        numbers = iter(self.x[ON_BODIES])
        others = [Force(Vector(*islice(numbers, 3)), Vector(*islice(numbers, 3))) for _ in f_ext]
        return {
            "mass": [M[i][j] for i in range(tree.nv) for j in range(i + 1)], "of q": flat(dq), "of v": flat(dv),
            "on bodies": [x for f in f_ext for x in (*f.moment, *f.force)], "on joints": forces,
            "of bodies": frame.at_joints(tree, others),
        }  # fmt: skip


class _Laws:
    """The equations of the laws, each on the side that was taken."""

    def __init__(self, equation: MotionEquation, situation: Situation, x: Named) -> None:
        self.equation, self.situation = equation, situation
        self.after = x[AFTER]
        self.answers: list[Any] = x[ANSWERS]
        self.yielding: list[int] = []

    def errors(self, block: Block, pushes: Sequence[Push]) -> list[Any]:
        """The velocity of each row of a block less the wanted one."""
        w = [rate(push, self._bodies, self.after) for push in pushes]
        before, free = (_Later(partial(self._rates_at, pushes, v)) for v in (self._start, self._free))
        return [x - y for x, y in zip(w, block.wanted(before, free), strict=True)]

    def of(
        self, first: int, block: Block, pushes: Sequence[Push], own: list[Any], w: list[Any], before: list[Any]
    ) -> list[Any]:
        """The equations of a block with these impulses, the first of which has this number, and velocity errors."""
        rows = block.law.equations(own, w, before, lambda k: self._mobility(first + k, pushes[k]))
        return rows if block.acts is True else [where(block.acts, x, l) for x, l in zip(rows, own, strict=True)]

    def held(self, block: Block, push: Push, end: Any) -> Any:
        """The velocity of a joint that an active set holds at an end (1 the lower, -1 the upper), less that there."""
        stop: Any = block.law
        (d,) = push.joints
        return self.after[d] - where(end > 0, stop.low, stop.high)

    def _start(self) -> Sequence[Any]:
        return self.situation.start.v

    def _free(self) -> Sequence[Any]:
        """The velocity without impulses."""
        if self.situation.moved:
            return self.situation.v
        e = self.equation
        solve = algorithms.coupled_forward_dynamics if e.tree.coupled else algorithms.forward_dynamics
        return e.velocity(solve(e.tree, e.q, e.v, e.forces, e.f_ext)[0])

    def _rates_at(self, pushes: Sequence[Push], v: Callable[[], Sequence[Any]]) -> list[Any]:
        return self._rates(pushes, v())

    def _rates(self, pushes: Sequence[Push], v: Sequence[Any]) -> list[Any]:
        V = self._velocities(v)
        return [rate(push, V, v) for push in pushes]

    def _velocities(self, v: Sequence[Any]) -> list[Motion]:
        """Of the bodies, where impulses act."""
        _ = self.situation.pose  # first: both passes share what the joints compute
        return algorithms.velocities(self.situation.tree, self.situation.q, v)

    @cached_property
    def _bodies(self) -> list[Motion]:
        return self._velocities(self.after)

    def _mobility(self, row: int, push: Push) -> Any:
        """J M⁻¹ Jᵀ of a row, as 2 J y - yᵀ M y with a y = M⁻¹ Jᵀ that is given: so it has the right derivative, too."""
        e, graph = self.equation, self.after[0].graph
        y = [graph.input(1, len(self.answers) + k) for k in range(e.tree.nv)]
        self.answers += y
        self.yielding.append(row)
        resting, nothing = e.tree.without_gravity(), [0.0] * e.tree.nv
        needed, _ = algorithms.inverse_dynamics(resting, e.q, nothing, y, None)
        energy: Any = 0.0
        for y_k, force in zip(y, needed, strict=True):
            energy = energy + y_k * force
        return 2.0 * self._rates([push], y)[0] - energy


class _Later(Sequence[Any]):
    """Numbers that are computed when one of them is asked for."""

    def __init__(self, make: Callable[[], list[Any]]) -> None:
        self._make = make

    @cached_property
    def _all(self) -> list[Any]:
        return self._make()

    def __getitem__(self, k: Any) -> Any:
        return self._all[k]

    def __len__(self) -> int:
        return len(self._all)


def _parts(flat: Sequence[Any], sizes: Sequence[int]) -> list[list[Any]]:
    parts, at = [], 0
    for size in sizes:
        parts.append(list(flat[at : at + size]))
        at += size
    return parts
