"""What the trace of a step has as outputs: its values, the equations that its impulses obey, and where it ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain, islice
from typing import Any

from featherweight import algorithms
from featherweight.algorithms.inverse_dynamics_derivatives import force_derivatives
from featherweight.algorithms.root_frame import RootFrame
from featherweight.cached import cached_property
from featherweight.constraints import Block, Push, Situation
from featherweight.constraints.softened import softened, softened_stop
from featherweight.constraints.solve.motion import FreeMotion, MotionEquation, by_impulses
from featherweight.constraints.solve.solve import prescribed_joints
from featherweight.constraints.solve.solver import rate
from featherweight.dynamics.evaluate import flat
from featherweight.model import Model, Tree
from featherweight.scalar import where
from featherweight.simulation.options import StepOptions
from featherweight.simulation.pipeline import blocks_at, started
from featherweight.simulation.step import one_step, setting
from featherweight.spatial import Force, Motion, Vector

# unknowns of the equations and what they are given: inputs of the trace beside those of a step
ACCELERATION, IMPULSES, ERRORS, ENDS, ANSWERS = "acceleration", "impulses", "errors", "ends", "answers"
AFTER, Q_END, V_END, ON_BODIES = "velocity after", "q at the end", "v at the end", "forces on bodies"
DELTA, GAINS = "displacement", "mobilities"  # δ of a step that is the solution of equations; J M⁻¹ Jᵀ of rows
REMEMBERED = "impulses as they are remembered"  # those of shapes in the world's axes

SMOOTHING = "smoothing"  # width of softened laws [m/s], an input where they are asked for

UNKNOWN = (ACCELERATION, AFTER, IMPULSES, ERRORS, ENDS, ANSWERS, Q_END, V_END, ON_BODIES, DELTA, GAINS, REMEMBERED)

Named = dict[str, list[Any]]


class StepWriter:
    """What writes the trace of a step from its inputs x, by name."""

    def __init__(self, model: Model, given: StepOptions, tree: Tree, x: Named) -> None:
        self.model, self.tree, self.x = model, tree, x
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
            "after": [*after["q"], *after["v"]], "tau": list(begin.tau),
            "status": [after["clock"][1] + stepped.taken_back],  # not zero: nothing that derivatives can be made of
            "velocity": stepped.velocity, "found": list(stepped.found),
            "memory after": [*chain(*stepped.memory.elements), *stepped.memory.constraints],
            "deflections": list(chain(*stepped.memory.elements)), "controller": list(begin.x),
        }  # fmt: skip
        equation = integrator.equation(start.tree, at.q, at.v, start.acting, self.h)
        situation: Situation = start.begin
        if equation is None:
            motion = integrator.free(start.tree, at.q, at.v, start.acting, self.h, begin.memory.integrator)
            found["free"] = [*motion.q, *motion.v]
            solved = integrator.solved_equation(start.tree, at.q, at.v, start.acting, self.h)
            if solved is not None:
                landing = solved.end(x[DELTA])
                found |= {"search": solved.residual(x[DELTA]), "landing": [*landing[0], *landing[1]]}
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
        soft: list[Any] = []
        recalled: list[Any] = []
        remembered = iter(self.x[REMEMBERED])
        for block in blocks:
            self.tree.mark()
            own = list(block.pushes())
            recalled += block.recalled([next(remembered) for _ in own])
            if held:
                own, end = [Push(joints=dict.fromkeys(own[0].joints, 1.0))], self.x[ENDS][len(rows)]
                errors.append(laws.held(block, own[0], end))
                impulse, error = next(rest), next(w)
                soft += laws.softly_held(len(rows), block, impulse, error, end)
                rows.append(where(end == 0, impulse, error))
            else:
                errors += laws.errors(block, own)
                each = [[next(numbers) for _ in own] for numbers in (rest, w, warm)]
                soft += laws.softly(len(rows), block, own, *each)
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
            "yielding": laws.yielding, "held": [held], "soft laws": soft, "recalled": recalled,
        }  # fmt: skip

    def _motion(self, equation: MotionEquation, pushes: Sequence[Push]) -> Named:
        """The equation of motion by its analytic derivatives: along q and v, where forces stay as they are in the
        bodies' frames; these forces, which may change, and what forces on bodies are at the joints."""
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
            "of bodies": frame.at_joints(tree, others), "middle": list(e.v),
        }  # fmt: skip


class _Laws:
    """The equations of the laws, each on the side that was taken."""

    def __init__(self, equation: MotionEquation, situation: Situation, x: Named) -> None:
        self.equation, self.situation = equation, situation
        self.after = x[AFTER]
        self.answers: list[Any] = x[ANSWERS]
        self.gains, self.width = x[GAINS], x.get(SMOOTHING)
        self.yielding: list[int] = []
        self._mobilities: dict[int, Any] = {}

    def errors(self, block: Block, pushes: Sequence[Push]) -> list[Any]:
        """The velocity of each row of a block less the wanted one."""
        w = [rate(push, self._bodies, self.after) for push in pushes]
        before, free = (_Later(partial(self._rates_at, pushes, v)) for v in (self._start, self._free))
        return [x - y for x, y in zip(w, block.wanted(before, free), strict=True)]

    def of(
        self, first: int, block: Block, pushes: Sequence[Push], own: list[Any], w: list[Any], before: list[Any]
    ) -> list[Any]:
        """The equations of a block with these impulses, the first of which has this number, and velocity errors."""
        rows = block.law.equations(own, w, before, partial(self._mobility_of, first, pushes))
        return rows if block.acts is True else [where(block.acts, x, l) for x, l in zip(rows, own, strict=True)]

    def softly(
        self, first: int, block: Block, pushes: Sequence[Push], own: list[Any], w: list[Any], before: list[Any]
    ) -> list[Any]:
        """The same equations, softened; none where that is not asked for."""
        if self.width is None:
            return []
        gains = self.gains[first : first + len(own)]
        mobility = partial(self._mobility_of, first, pushes)
        rows = softened(block.law, own, w, before, mobility, gains, self.width[0])
        return rows if block.acts is True else [where(block.acts, x, l) for x, l in zip(rows, own, strict=True)]

    def softly_held(self, row: int, block: Block, impulse: Any, w: Any, end: Any) -> list[Any]:
        """The equation of a joint that an active set holds or leaves, softened."""
        if self.width is None:
            return []
        stop: Any = block.law
        return [softened_stop(stop, impulse, w + stop.velocity_at(end), self.gains[row], self.width[0])]

    def held(self, block: Block, push: Push, end: Any) -> Any:
        """The velocity of a joint that an active set holds at an end (1 the lower, -1 the upper), less that there."""
        stop: Any = block.law
        (d,) = push.joints
        return self.after[d] - stop.velocity_at(end)

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

    def _mobility_of(self, first: int, pushes: Sequence[Push], k: int) -> Any:
        return self._mobility(first + k, pushes[k])

    def _mobility(self, row: int, push: Push) -> Any:
        """J M⁻¹ Jᵀ of a row, as 2 J y - yᵀ M y with a y = M⁻¹ Jᵀ that is given: so it has the right derivative, too."""
        if row in self._mobilities:
            return self._mobilities[row]
        e, graph = self.equation, self.after[0].graph
        y = [graph.input(1, len(self.answers) + k) for k in range(e.tree.nv)]
        self.answers += y
        self.yielding.append(row)
        resting, nothing = e.tree.without_gravity(), [0.0] * e.tree.nv
        needed, _ = algorithms.inverse_dynamics(resting, e.q, nothing, y, None)
        energy: Any = 0.0
        for y_k, force in zip(y, needed, strict=True):
            energy = energy + y_k * force
        self._mobilities[row] = 2.0 * self._rates([push], y)[0] - energy
        return self._mobilities[row]


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
