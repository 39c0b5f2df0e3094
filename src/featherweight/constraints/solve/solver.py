"""The constraint problem of one step: Gauss–Seidel over blocks, each solved by its own law, and, where that takes too
long, Newton steps for all at once.

The mass matrix is never formed. A unit impulse of a row is carried towards the root once, and pushes the joints on its
way: T and Y of `law.LocalProblem`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from featherweight.algorithms.articulated import articulated_bodies, handed_on
from featherweight.algorithms.contact_inertia import response
from featherweight.algorithms.linear import combine
from featherweight.constraints.constraint import Block
from featherweight.constraints.law import LocalProblem
from featherweight.constraints.solve.coupling import ByPushes, ByVelocities, Coupling, Impulses, Sweep, better
from featherweight.constraints.solve.newton import Iterate
from featherweight.constraints.solve.recovery import recovering
from featherweight.constraints.solve.restitution import Rows, capped
from featherweight.constraints.solve.route import Route, route
from featherweight.constraints.solve.search import search
from featherweight.forces import Push
from featherweight.inputs import Numbers
from featherweight.model import Tree
from featherweight.scalar import logical_not, maximum, repeat, when, where
from featherweight.spatial import Force, Motion

FEW = 6  # contacts
PATIENCE = 4  # sweeps before all blocks are solved at once; none where some always act, which sweeps are slow with
UNKNOWN = 1e300  # residual before the first sweep


@dataclass(frozen=True)
class SolverOptions:
    """When the problem counts as solved.

    Args:
        tolerance: largest velocity [m/s] by which any row may miss its law.
        iterations: sweeps and Newton steps after which a step is given up as not converged.
        keep_best: a step that is given up goes on with the best impulses that were found.
    """

    tolerance: Any = 1e-8
    iterations: int = 10_000
    keep_best: bool = False

    def over(self, numbers: Numbers) -> SolverOptions:
        """The same over other scalars."""
        return SolverOptions(numbers.number(self.tolerance), self.iterations, self.keep_best)


@dataclass(frozen=True)
class Solution:
    """New velocities, impulses of each block, speeds of slip of those with a cone, velocities that recover from depths
    (none if no block has any); the squared residual, and how many sweeps and Newton steps it took; whether bounces were
    taken back (1 or 0)."""

    v: list[Any]
    impulses: Impulses
    slips: list[Any]
    recovery: list[Any]
    error: Any = 0.0
    turns: Any = 0.0
    taken_back: Any = 0.0


class Solver:
    """What is known before the first sweep: articulated bodies, velocities, and the way of each block to the root."""

    def __init__(
        self, tree: Tree, q: Sequence[Any], v: Sequence[Any], free: Sequence[Any], blocks: Sequence[Block],
        options: SolverOptions,
    ) -> None:  # fmt: skip
        self.tree, self.v, self.free, self.blocks, self.options = tree, v, list(free), blocks, options
        self.bodies = articulated_bodies(tree, q)
        self.before, self.after = (self._velocities(x) for x in (v, free))
        self.routes = [route(tree, block.bodies) for block in blocks]
        self.dofs = sorted({d for way in self.routes for d in way.dofs})
        self.always = any(block.acts is True for block in blocks)

    def solve(self, warm: Impulses) -> Solution:
        """Start from the impulses of the step before (warm start)."""
        each = zip(self.blocks, warm, strict=True)
        warm = [[where(block.acts, x, 0.0) for x in impulses] for block, impulses in each]
        coupling, rows = self._coupling(warm)
        taken_back: Any = 0.0
        if any(block.inelastic is not None for block in self.blocks):
            last, taken_back = capped(coupling, rows, warm, self._search)
        else:
            last = self._search(coupling, warm)
        pushes = coupling.pushes(last)
        pushed = self._response(pushes)
        moved = [x + dx for x, dx in zip(self.free, pushed, strict=True)]
        slips = [
            coupling.only(self.blocks[k].acts, partial(_listed, coupling.slip, last, k), [0.0])[0]
            for k in coupling.contacts
        ]
        moves = recovering(coupling, self.blocks, pushes, self._response)
        return Solution(moved, last.impulses, slips, moves, last.error, last.turns, taken_back)

    def _search(self, coupling: Coupling, warm: Impulses) -> Sweep:
        """Impulses that fulfil all laws: sweeps, then Newton steps where they take too long."""
        options = self.options
        square = options.tolerance * options.tolerance

        def all_at_once(now: Sweep, most: int) -> Sweep:
            begin = Iterate(now.impulses, now.error, now.turns)
            found = search(coupling, begin, options.tolerance, most)
            return Sweep(coupling.start(found.impulses), found.impulses, found.error, found.turns)

        last = Sweep(coupling.start(warm), warm, UNKNOWN, 0.0)
        if self.always:
            return all_at_once(last, options.iterations)
        most = min(PATIENCE, options.iterations)
        last = repeat(coupling.sweep, last, until=lambda c: c.error <= square, at_most=most)
        if options.iterations > PATIENCE:
            newton = partial(all_at_once, last, options.iterations - PATIENCE)
            found = when(logical_not(last.error <= square), newton, last)
            last = better(found, last) if options.keep_best else found
        return last

    def _coupling(self, warm: Impulses) -> tuple[Coupling, list[Rows]]:
        few = 0 < sum(block.law.is_contact for block in self.blocks) <= FEW and not self.always
        kind = ByVelocities if few else ByPushes
        problems, rows = [], []
        for block, way, before in zip(self.blocks, self.routes, warm, strict=True):
            self.tree.mark()
            make = partial(self._problem, block, way, before)
            problem, own = kind.only(block.acts, make, None) if block.law.is_contact else make()
            problems.append(problem)
            rows.append(own)
        roaming = [k for k, block in enumerate(self.blocks) if block.roams]
        coupling = kind(self.tree, problems, [block.acts for block in self.blocks], self.dofs, roaming)
        # what was left out for contacts that do not act is undefined there
        each_own = zip(self.blocks, rows, strict=True)
        coupling.eases = [where(block.acts, own.recovers, 0.0) for block, own in each_own]
        return coupling, rows

    def _problem(self, block: Block, way: Route, before: list[Any]) -> tuple[LocalProblem, Rows]:
        """The rows of a block, carried to the root, and its law for them; and their velocities without impulses."""
        pushes = block.pushes()
        _check(block, way, pushes)
        free = [rate(push, self.after, self.free) for push in pushes]
        earlier = [rate(push, self.before, self.v) for push in pushes]
        wanted = block.wanted(earlier, free)
        inelastic = wanted if block.inelastic is None else block.inelastic(earlier, free)
        e = [x - y for x, y in zip(free, wanted, strict=True)]
        T, Y = zip(*(self._carried(push, way) for push in pushes), strict=True)
        recovers: Any = 0.0
        if block.law.one_sided and block.recovers is None:  # part of v*, unless that bounces
            recovers = where(wanted[0] > inelastic[0], 0.0, maximum(inelastic[0], 0.0))
        return block.law.problem(way.dofs, list(T), list(Y), e, before), Rows(free, inelastic, recovers)

    def _carried(self, push: Push, way: Route) -> tuple[list[Any], list[Any]]:
        """T = L⁻¹ t and Y = T / d of the joints that a push meets on its way to the root, the nearest first."""
        bodies, tree = self.bodies, self.tree
        forces: dict[int, Force] = dict(push.bodies)
        T: list[Any] = []
        Y: list[Any] = []
        for group in way.groups:
            i, joint = group[0], tree.joints[group[0]]
            t: list[Any] = [push.joints.get(d, 0) for d in joint.dofs]
            for b in group:
                if b in forces:
                    t = [x + s.dot(forces[b]) for x, s in zip(t, bodies.S[b], strict=True)]
            own = bodies.D[i].forward(t)
            answer = [x * r for x, r in zip(own, bodies.D[i].d_inverse, strict=True)]
            T, Y = T + own, Y + answer
            parent = tree.parent[i]
            if parent > 0:
                y = bodies.D[i].backward(answer)
                F = handed_on(bodies.X[i], forces.get(i, Force.zero()), bodies.U[i], y, joint)
                for b in group[1:]:
                    F = F + bodies.X[b].back(forces.get(b, Force.zero()))
                forces[parent] = forces[parent] + F if parent in forces else F
        return T, Y

    def _velocities(self, v: Sequence[Any]) -> list[Motion]:
        """Of every body, in its frame."""
        V = self.tree.per_body(Motion.zero())
        for i, parent, joint in self.tree.outward():
            V[i] = self.bodies.X[i] @ V[parent] + combine(self.bodies.S[i], v[joint.v])
        return V

    def _response(self, s: dict[int, Any]) -> list[Any]:
        """M⁻¹ Jᵀ λ."""
        y: dict[int, list[Any]] = {}
        for i, _, joint in self.tree.outward():
            own = [s.get(d, 0) for d in range(joint.v.start, joint.v.stop)]
            if joint.v.start in s:
                y[i] = self.bodies.D[i].backward(own)
        return response(self.tree, self.bodies, y)


def _listed(function: Callable[..., Any], *arguments: Any) -> list[Any]:
    return [function(*arguments)]


def _check(block: Block, way: Route, pushes: Sequence[Push]) -> None:
    """Does a block push what it says, with as many rows as its law has?"""
    if len(pushes) != block.law.size:
        law = type(block.law).__name__
        raise ValueError(f"constraints: expected {block.law.size} pushes, as {law} has rows, got {len(pushes)}")
    for push in pushes:
        others = set(push.bodies) - {0, *block.bodies}
        if others or set(push.joints) - set(way.dofs):
            raise ValueError(
                f"constraints: a block says that it pushes bodies {block.bodies}, and pushes bodies "
                f"{sorted(push.bodies)} and degrees of freedom {sorted(push.joints)}; name all of them in Block.bodies"
            )


def rate(push: Push, V: Sequence[Motion], v: Sequence[Any]) -> Any:
    """The velocity of a row: the power of a unit impulse."""
    total: Any = 0.0
    for body, F in push.bodies.items():
        total = total + V[body].dot(F)
    for d, number in push.joints.items():
        total = total + number * v[d]
    return total
