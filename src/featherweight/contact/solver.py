"""The contact problem of one step: Gauss-Seidel over contacts, each solved for itself (`local`), and what they do to
each other (`coupling`); where that takes too long, Newton steps for all at once (`newton`)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from featherweight.algorithms.articulated import ArticulatedTree, articulated_bodies, handed_on
from featherweight.algorithms.contact_inertia import response
from featherweight.algorithms.linear import combine
from featherweight.contact.contact_model import Meeting
from featherweight.contact.coupling import ByPushes, ByVelocities, Coupling
from featherweight.contact.joint_rows import Row
from featherweight.contact.local import Contact, JointRow, dot
from featherweight.contact.newton import SWEEPS, Newton
from featherweight.model import Tree
from featherweight.scalar import logical_not, maximum, minimum, repeat, sqrt, when, where
from featherweight.spatial import Force, Motion

FEW = 6  # contacts
PATIENCE = 20  # sweeps, before all contacts are solved at once; none where joints rub, which sweeps are slow with
SOFT, TINY = 1e-10, 1e-30  # softness of a contact, as a part of its mobility and beside it [1/kg]


class Solver:
    """What is known before the first sweep: articulated bodies, velocities, and which contacts and rows act.

    Where the step has `moved` the robot already, what bounces does so with the velocity it has come there with.
    """

    def __init__(
        self, model: Any, tree: Tree, q: Sequence[Any], v: Sequence[Any], free: Sequence[Any],
        met: Sequence[Meeting], touching: Sequence[Any], rows: Sequence[Row], *, moved: bool = False,
    ) -> None:  # fmt: skip
        self.model, self.tree, self.met, self.touching, self.free = model, tree, met, touching, list(free)
        self.rows, self.moved = rows, moved
        self.rubs = any(row.acts is True for row in rows)
        self.bodies = articulated_bodies(tree, q)
        self.before, self.after = _velocities(tree, self.bodies, v), _velocities(tree, self.bodies, free)
        self.dofs = [dofs_of(tree, m.body) for m in met]
        self.all = sorted({d for i in (*(m.body for m in met), *(r.body for r in rows)) for d in dofs_of(tree, i)})

    def solve(self, warm: Sequence[Any]) -> list[Any]:
        """New velocities, impulses, slip speeds; the squared residual; how many sweeps and Newton steps it took."""
        acts = [touches for touches in self.touching for _ in range(3)] + [row.acts for row in self.rows]
        warm = [where(act, x, 0.0) for act, x in zip(acts, warm, strict=True)]
        coupling = self._coupling(warm)
        begin = coupling.start(warm)
        size, model = len(begin), self.model

        def converged(carry: list[Any]) -> Any:
            return carry[-2] <= model.tolerance * model.tolerance

        def sweep(carry: list[Any]) -> list[Any]:
            shared, impulses, worst = coupling.sweep(carry[:size], carry[size:-2])
            return [*shared, *impulses, worst, carry[-1] + 1.0]

        def settle(impulses: list[Any], sweeps: Any) -> list[Any]:
            start = [*coupling.start(impulses), *impulses, 1e300, 0.0]
            return repeat(sweep, start, until=lambda c: c[-1] >= sweeps, at_most=int(max(SWEEPS)))[size:-2]

        def all_at_once(carry: list[Any], again: list[Any], most: int) -> list[Any]:
            found = Newton(coupling).search(carry[size:], again, model.tolerance, most, settle)
            return [*coupling.start(found[:-2]), *found]

        last = [*begin, *warm, 1e300, 0.0]
        if self.rubs:
            last = all_at_once(last, [0.0] * len(warm), model.iterations)
        else:
            last = repeat(sweep, last, until=converged, at_most=min(PATIENCE, model.iterations))
            if model.iterations > PATIENCE:
                newton = partial(all_at_once, last, warm, model.iterations - PATIENCE)
                last = when(logical_not(converged(last)), newton, last)
        shared, impulses = last[:size], last[size:-2]
        pushed = self._response(coupling.pushes(shared, impulses))
        moved = [x + dx for x, dx in zip(self.free, pushed, strict=True)]
        slips = []
        for k, touches in enumerate(self.touching):
            slips += coupling.only(touches, partial(self._slip, coupling, shared, k), [0.0])
        return [*moved, *impulses, *slips, *last[-2:]]

    def _coupling(self, warm: Sequence[Any]) -> Coupling:
        kind = ByVelocities if len(self.met) <= FEW and not self.rubs else ByPushes
        contacts = []
        for m, touches, dofs in zip(self.met, self.touching, self.dofs, strict=True):
            self.tree.mark()
            values = kind.only(touches, partial(self._values, m, dofs), None)
            contacts.append(Contact.of(dofs, m.friction, values))
        joints = [self._joint(row, before) for row, before in zip(self.rows, warm[3 * len(self.met) :], strict=True)]
        return kind(self.tree, contacts, self.touching, joints, self.rows, self.all)

    @staticmethod
    def _slip(coupling: Coupling, shared: Sequence[Any], k: int) -> list[Any]:
        x, y = coupling.slip(shared, k)
        return [sqrt(x * x + y * y)]

    def _joint(self, row: Row, before: Any) -> JointRow:
        """A unit impulse of a joint, carried to the root. One that rubs yields to a change of its impulse."""
        tree, bodies, joint = self.tree, self.bodies, self.tree.joints[row.body]
        tree.mark()
        unit = [row.sign if d == row.dof else 0 for d in range(joint.v.start, joint.v.stop)]
        T, Y = _pushes(bodies, row.body, unit)
        parent = tree.parent[row.body]
        if parent > 0:
            answer = bodies.D[row.body].backward(Y)
            F = handed_on(bodies.X[row.body], Force.zero(), bodies.U[row.body], answer, joint)
            above = _carried(tree, bodies, parent, F)
            T, Y = T + above[0], Y + above[1]
        G = dot(T, Y)
        e = row.sign * self.free[row.dof] - row.wanted
        yields = row.yields * G if row.yields else 0.0
        return JointRow(dofs_of(tree, row.body), [T], [Y], G, [e], row.least, row.most, yields, before)

    def _values(self, m: Meeting, dofs: tuple[int, ...]) -> list[Any]:
        return self._contact(m, dofs).flat()

    def _contact(self, m: Meeting, dofs: tuple[int, ...]) -> Contact:
        model, tree = self.model, self.tree
        pushes = [m.force(row) for row in m.frame]
        wanted = self._recovery(m)
        if m.restitution:
            v_n = self.before[m.body].dot(pushes[0])
            hits = self.after[m.body].dot(pushes[0]) if self.moved else v_n
            wanted = maximum(where(v_n < -model.bounce_speed, -m.restitution * hits, 0.0), wanted)
        e = [self.after[m.body].dot(F) for F in pushes]
        e[0] = e[0] - wanted
        T, Y = zip(*(_carried(tree, self.bodies, m.body, F) for F in pushes), strict=True)
        nn, n1, n2, o11, o12, o22 = (dot(T[r], Y[c]) for r, c in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)))
        # a point may not be free to move in all directions: a trace of softness keeps the inverse finite
        soft = SOFT * (nn + o11 + o22) + TINY
        nn, o11, o22 = nn + soft, o11 + soft, o22 + soft
        # adjugate over determinant
        a, b, c = o11 * o22 - o12 * o12, n2 * o12 - n1 * o22, n1 * o12 - n2 * o11
        d, f, g = nn * o22 - n2 * n2, n1 * n2 - nn * o12, nn * o11 - n1 * n1
        scale = 1.0 / (nn * a + n1 * b + n2 * c)
        inverse = [x * scale for x in (a, b, c, d, f, g)]
        return Contact(dofs, m.friction, list(T), list(Y), [nn, n1, n2, o11, o12, o22], inverse, e)

    def _recovery(self, m: Meeting) -> Any:
        """Speed at which a point leaves a surface that it is in too deep."""
        model = self.model
        return maximum(minimum(-model.recovery * (m.z + model.slop), model.recovery_speed), 0.0)

    def _response(self, s: dict[int, Any]) -> list[Any]:
        """M⁻¹ Jᵀ λ."""
        y: dict[int, list[Any]] = {}
        for i, _, joint in self.tree.outward():
            own = [s.get(d, 0) for d in range(joint.v.start, joint.v.stop)]
            if joint.v.start in s:
                y[i] = self.bodies.D[i].backward(own)
        return response(self.tree, self.bodies, y)


def dofs_of(tree: Tree, body: int) -> tuple[int, ...]:
    """The degrees of freedom between a body and the world, the nearest first."""
    return tuple(d for i in tree.path(body) for d in range(tree.joints[i].v.start, tree.joints[i].v.stop))


def _velocities(tree: Tree, bodies: ArticulatedTree, v: Sequence[Any]) -> list[Motion]:
    """Of every body, in its frame."""
    V = tree.per_body(Motion.zero())
    for i, parent, joint in tree.outward():
        V[i] = bodies.X[i] @ V[parent] + combine(bodies.S[i], v[joint.v])
    return V


def _pushes(bodies: ArticulatedTree, i: int, t: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """L⁻¹ t of a joint, and the same over its pivots."""
    T = bodies.D[i].forward(t)
    return T, [x * r for x, r in zip(T, bodies.D[i].d_inverse, strict=True)]


def _carried(tree: Tree, bodies: ArticulatedTree, body: int, F: Force) -> tuple[list[Any], list[Any]]:
    """What the joints on the way of a force to the root are pushed with, the nearest first."""
    T: list[Any] = []
    Y: list[Any] = []
    for i in tree.path(body):
        own, answer = _pushes(bodies, i, [s.dot(F) for s in bodies.S[i]])
        T += own
        Y += answer
        if tree.parent[i] > 0:
            F = handed_on(bodies.X[i], F, bodies.U[i], bodies.D[i].backward(answer), tree.joints[i])
    return T, Y
