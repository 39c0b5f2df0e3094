"""The contact problem of one step: Gauss-Seidel over contacts, each solved for itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from featherweight.algorithms.articulated import ArticulatedTree, articulated_bodies, parent_columns
from featherweight.algorithms.contact_inertia import response
from featherweight.algorithms.linear import combine
from featherweight.contact.contact_model import Meeting
from featherweight.contact.joint_rows import Row
from featherweight.model import Tree
from featherweight.scalar import logical_not, maximum, minimum, repeat, sqrt, when, where
from featherweight.spatial import Force, Motion

FEW = 6  # contacts
SLIDES = 3  # inner steps for a contact that slides; with 1, settling robots take half as many sweeps again
SOFT, TINY = 1e-10, 1e-30  # softness of a contact, as a part of its mobility and beside it [1/kg]


@dataclass(frozen=True)
class _Contact:
    """A touching point: three rows T = L⁻¹ t and Y = T / d by degree of freedom, G = T Yᵀ and its inverse, and the
    free velocity less v*."""

    dofs: tuple[int, ...]
    T: list[list[Any]]
    Y: list[list[Any]]
    G: list[Any]  # nn, n1, n2, 11, 12, 22
    inverse: list[Any]
    e: list[Any]
    rho: Any  # step along the surface: less than 1 over the largest eigenvalue of G_tt
    per_n: Any  # step along the normal while it slides: 1 / G_nn, or less where friction works against it

    def flat(self) -> list[Any]:
        rows = [y for row in (*self.T, *self.Y) for y in row]
        return [*rows, *self.G, *self.inverse, *self.e, self.rho, self.per_n]

    @staticmethod
    def of(dofs: tuple[int, ...], values: Sequence[Any]) -> _Contact:
        n = len(dofs)
        rows, rest = [list(values[k * n : (k + 1) * n]) for k in range(6)], values[6 * n :]
        return _Contact(
            dofs, rows[:3], rows[3:], list(rest[:6]), list(rest[6:12]), list(rest[12:15]), rest[15], rest[16]
        )


@dataclass(frozen=True)
class _Joint:
    """A row of a joint: T and Y by degree of freedom, G = T Yᵀ, 1 / G, and the free velocity less what is wanted."""

    dofs: tuple[int, ...]
    T: list[Any]
    Y: list[Any]
    G: Any
    inverse: Any
    e: Any


class Solver:
    """What is known before the first sweep: articulated bodies, velocities, and which contacts and rows act."""

    def __init__(
        self, model: Any, tree: Tree, q: Sequence[Any], v: Sequence[Any], free: Sequence[Any],
        met: Sequence[Meeting], touching: Sequence[Any], rows: Sequence[Row],
    ) -> None:  # fmt: skip
        self.model, self.tree, self.met, self.touching, self.free = model, tree, met, touching, list(free)
        self.rows = rows
        self.bodies = articulated_bodies(tree, q)
        self.before, self.after = _velocities(tree, self.bodies, v), _velocities(tree, self.bodies, free)
        self.dofs = [dofs_of(tree, m.body) for m in met]
        self.all = sorted({d for i in (*(m.body for m in met), *(r.body for r in rows)) for d in dofs_of(tree, i)})

    def solve(self, warm: Sequence[Any]) -> list[Any]:
        """New velocities, impulses, slip speeds, squared residual, sweeps."""
        contacts = []
        for m, touches, dofs in zip(self.met, self.touching, self.dofs, strict=True):
            self.tree.mark()
            contacts.append(_Contact.of(dofs, self._if(touches, partial(self._values, m, dofs), None)))
        joints = [self._joint(row) for row in self.rows]
        acts = [self.touching[k] for k in range(len(contacts)) for _ in range(3)] + [row.acts for row in self.rows]
        impulses = [where(act, x, 0.0) for act, x in zip(acts, warm, strict=True)]
        s = self._warm(contacts, joints, impulses)
        size, tolerance = len(self.all), self.model.tolerance * self.model.tolerance
        carry = [*(s[d] for d in self.all), *impulses, 1e300, 0.0]
        last = repeat(
            lambda c: self._sweep(contacts, joints, c), carry, until=lambda c: c[-2] <= tolerance,
            at_most=self.model.iterations,
        )  # fmt: skip
        s, impulses = dict(zip(self.all, last[:size], strict=True)), last[size:-2]
        moved = [x + dx for x, dx in zip(self.free, self._response(s), strict=True)]
        slips = []
        for contact, touches in zip(contacts, self.touching, strict=True):
            slips += self._if(touches, partial(self._slip, contact, s), [0.0])
        return [*moved, *impulses, *slips, *last[-2:]]

    def _if(self, touches: Any, body: Callable[[], list[Any]], otherwise: Sequence[Any] | None) -> list[Any]:
        """Of many contacts, most are open: skip those. Of few, doing without the skipping is faster."""
        if len(self.met) > FEW:
            return when(touches, body, otherwise)
        values = body()
        return values if otherwise is None else [where(touches, a, b) for a, b in zip(values, otherwise, strict=True)]

    def _warm(self, contacts: Sequence[_Contact], joints: Sequence[_Joint], impulses: Sequence[Any]) -> dict[int, Any]:
        """s of the impulses of the last step."""
        s: dict[int, Any] = dict.fromkeys(self.all, 0.0)
        for k, (contact, touches) in enumerate(zip(contacts, self.touching, strict=True)):
            pushed = partial(self._pushed, contact, impulses[3 * k : 3 * k + 3], dict(s))
            s.update(zip(contact.dofs, self._if(touches, pushed, [s[d] for d in contact.dofs]), strict=True))
        for joint, impulse in zip(joints, impulses[3 * len(contacts) :], strict=True):
            for d, y in zip(joint.dofs, joint.Y, strict=True):
                s[d] = s[d] + y * impulse
        return s

    def _joint(self, row: Row) -> _Joint:
        """A unit impulse of a joint, carried to the root."""
        tree, bodies, joint = self.tree, self.bodies, self.tree.joints[row.body]
        tree.mark()
        unit = [row.sign if d == row.dof else 0 for d in range(joint.v.start, joint.v.stop)]
        T, Y = _pushes(bodies, row.body, unit)
        parent = tree.parent[row.body]
        if parent > 0:
            felt = parent_columns(bodies.X[row.body], bodies.U[row.body], joint)
            above = _carried(tree, bodies, parent, combine(felt, bodies.D[row.body].backward(Y)) * -1.0)
            T, Y = T + above[0], Y + above[1]
        G = _dot(T, Y)
        return _Joint(dofs_of(tree, row.body), T, Y, G, 1.0 / G, row.sign * self.free[row.dof] - row.wanted)

    def _values(self, m: Meeting, dofs: tuple[int, ...]) -> list[Any]:
        return self._contact(m, dofs).flat()

    def _contact(self, m: Meeting, dofs: tuple[int, ...]) -> _Contact:
        model, tree = self.model, self.tree
        pushes = [m.force(row) for row in m.frame]
        recover = minimum(-model.recovery * (m.z + model.slop), model.recovery_speed)
        wanted = maximum(recover, 0.0)
        if m.restitution:
            v_n = self.before[m.body].dot(pushes[0])
            wanted = maximum(where(v_n < -model.bounce_speed, -m.restitution * v_n, 0.0), wanted)
        e = [self.after[m.body].dot(F) for F in pushes]
        e[0] = e[0] - wanted
        T, Y = zip(*(_carried(tree, self.bodies, m.body, F) for F in pushes), strict=True)
        nn, n1, n2, o11, o12, o22 = (_dot(T[r], Y[c]) for r, c in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)))
        # a point may not be free to move in all directions: a trace of softness keeps the inverse finite
        soft = SOFT * (nn + o11 + o22) + TINY
        nn, o11, o22 = nn + soft, o11 + soft, o22 + soft
        # adjugate over determinant; one division for three reciprocals
        a, b, c = o11 * o22 - o12 * o12, n2 * o12 - n1 * o22, n1 * o12 - n2 * o11
        d, f, g = nn * o22 - n2 * n2, n1 * n2 - nn * o12, nn * o11 - n1 * n1
        determinant, widest = nn * a + n1 * b + n2 * c, maximum(o11, o22) + abs(o12)
        # a normal impulse changes the friction, which changes the normal velocity by up to μ |G_nt|: where that is more
        # than G_nn a full step would be turned back by as much and more, for ever
        stiff = maximum(nn, 0.5 * nn + m.friction * sqrt(n1 * n1 + n2 * n2))
        together = 1.0 / (determinant * (widest * stiff))
        scale, rho, per_n = (
            together * (widest * stiff),
            together * (determinant * stiff),
            together * (determinant * widest),
        )
        inverse = [x * scale for x in (a, b, c, d, f, g)]
        return _Contact(dofs, list(T), list(Y), [nn, n1, n2, o11, o12, o22], inverse, e, rho, per_n)

    @staticmethod
    def _pushed(contact: _Contact, impulse: Sequence[Any], s: dict[int, Any]) -> list[Any]:
        """s with the share of an impulse."""
        return [
            s[d] + impulse[0] * n + impulse[1] * a + impulse[2] * b
            for d, n, a, b in zip(contact.dofs, *contact.Y, strict=True)
        ]

    @staticmethod
    def _error(contact: _Contact, s: dict[int, Any]) -> list[Any]:
        """v⁺ - v* at a contact."""
        return [e + _dot(row, [s[d] for d in contact.dofs]) for e, row in zip(contact.e, contact.T, strict=True)]

    def _slip(self, contact: _Contact, s: dict[int, Any]) -> list[Any]:
        _, x, y = self._error(contact, s)
        return [sqrt(x * x + y * y)]

    def _sweep(self, contacts: Sequence[_Contact], joints: Sequence[_Joint], carry: list[Any]) -> list[Any]:
        """Each contact and each row once."""
        size = len(self.all)
        s, impulses, sweeps = dict(zip(self.all, carry[:size], strict=True)), carry[size:-2], carry[-1]
        worst: Any = 0.0
        for k, (contact, touches, m) in enumerate(zip(contacts, self.touching, self.met, strict=True)):
            self.tree.mark()
            own = impulses[3 * k : 3 * k + 3]
            update = partial(self._contact_again, contact, m.friction, own, dict(s), worst)
            new = self._if(touches, update, [*(s[d] for d in contact.dofs), *own, worst])
            s.update(zip(contact.dofs, new[:-4], strict=True))
            impulses[3 * k : 3 * k + 3], worst = new[-4:-1], new[-1]
        for k, (joint, row) in enumerate(zip(joints, self.rows, strict=True), 3 * len(contacts)):
            self.tree.mark()
            again = partial(self._joint_again, joint, impulses[k], dict(s), worst)
            new = when(row.acts, again, [*(s[d] for d in joint.dofs), impulses[k], worst])
            s.update(zip(joint.dofs, new[:-2], strict=True))
            impulses[k], worst = new[-2:]
        return [*(s[d] for d in self.all), *impulses, worst, sweeps + 1.0]

    def _contact_again(
        self, contact: _Contact, mu: float, own: Sequence[Any], s: dict[int, Any], worst: Any
    ) -> list[Any]:
        """s, the impulse and the worst error after one contact was solved again."""
        new = _one(contact, own, self._error(contact, s), mu)
        n, x, y = change = [x - y for x, y in zip(new, own, strict=True)]
        nn, n1, n2, o11, o12, o22 = contact.G
        error = [nn * n + n1 * x + n2 * y, n1 * n + o11 * x + o12 * y, n2 * n + o12 * x + o22 * y]  # put right by it
        return [*self._pushed(contact, change, s), *new, maximum(worst, _dot(error, error))]

    @staticmethod
    def _joint_again(joint: _Joint, own: Any, s: dict[int, Any], worst: Any) -> list[Any]:
        """The same for a row of a joint."""
        e = joint.e + _dot(joint.T, [s[d] for d in joint.dofs])
        new = maximum(own - e * joint.inverse, 0.0)
        change = new - own
        error = change * joint.G
        pushed = [s[d] + y * change for d, y in zip(joint.dofs, joint.Y, strict=True)]
        return [*pushed, new, maximum(worst, error * error)]

    def _response(self, s: dict[int, Any]) -> list[Any]:
        """M⁻¹ Jᵀ λ."""
        y: dict[int, list[Any]] = {}
        for i, _, joint in self.tree.outward():
            own = [s.get(d, 0) for d in range(joint.v.start, joint.v.stop)]
            if joint.v.start in s:
                y[i] = self.bodies.D[i].backward(own)
        return response(self.tree, self.bodies, y)


def _one(c: _Contact, own: Sequence[Any], e: Sequence[Any], mu: float) -> list[Any]:
    """The impulse that solves one contact while the others stay as they are; e is v⁺ - v* with its own as it is."""
    nn, n1, n2, o11, o12, o22 = c.G
    l_n, l_1, l_2 = own

    # open: even without an impulse the point leaves
    b = [e[0] - (nn * l_n + n1 * l_1 + n2 * l_2), e[1] - (n1 * l_n + o11 * l_1 + o12 * l_2)]
    b.append(e[2] - (n2 * l_n + o12 * l_1 + o22 * l_2))
    opens = b[0] >= 0

    # sticking: no velocity is left
    a = c.inverse
    t_n = l_n - (a[0] * e[0] + a[1] * e[1] + a[2] * e[2])
    t_1 = l_1 - (a[1] * e[0] + a[3] * e[1] + a[4] * e[2])
    t_2 = l_2 - (a[2] * e[0] + a[4] * e[1] + a[5] * e[2])
    sticks = (t_n >= 0) & (t_1 * t_1 + t_2 * t_2 <= (mu * mu) * t_n * t_n)

    def slide() -> list[Any]:
        n, x, y = l_n, l_1, l_2
        for _ in range(SLIDES):
            n = maximum(0.0, n - (b[0] + nn * n + n1 * x + n2 * y) * c.per_n)
            v_1, v_2 = b[1] + n1 * n + o11 * x + o12 * y, b[2] + n2 * n + o12 * x + o22 * y
            x, y = _in_disc(x - c.rho * v_1, y - c.rho * v_2, mu * n)
        return [n, x, y]

    slides = when(logical_not(opens | sticks), slide, [t_n, t_1, t_2])
    return [where(opens, 0.0, x) for x in slides]


def _in_disc(x: Any, y: Any, radius: Any) -> tuple[Any, Any]:
    """The nearest point of a disc."""
    square = x * x + y * y
    outside = square > radius * radius

    def pulled() -> list[Any]:
        scale = radius / sqrt(where(outside, square, 1.0))
        return [x * scale, y * scale]

    inner = when(outside, pulled, [x, y])
    return inner[0], inner[1]


def _dot(a: Sequence[Any], b: Sequence[Any]) -> Any:
    total: Any = 0.0
    for x, y in zip(a, b, strict=True):
        total = total + x * y
    return total


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
            felt = parent_columns(bodies.X[i], bodies.U[i], tree.joints[i])
            F = bodies.X[i].back(F) - combine(felt, bodies.D[i].backward(answer))  # χᵀ F
    return T, Y
