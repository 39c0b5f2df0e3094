"""How contacts act on each other in a sweep: by what they push in common, or by a matrix of all pairs.

With many contacts s = Yᵀ λ is carried, one number a degree of freedom: a contact reads its velocity off it and adds its
own change. With few of them it takes less to form J M⁻¹ Jᵀ once and to carry the velocities themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from featherweight.contact.joint_rows import Row
from featherweight.contact.local import Contact, JointRow, dot
from featherweight.model import Tree
from featherweight.scalar import maximum, when, where


class Coupling:
    """Contacts, rows of joints, which of them act, and the degrees of freedom they push."""

    def __init__(
        self, tree: Tree, contacts: Sequence[Contact], touching: Sequence[Any],
        joints: Sequence[JointRow], rows: Sequence[Row], dofs: Sequence[int],
    ) -> None:  # fmt: skip
        self.tree, self.contacts, self.touching = tree, contacts, touching
        self.joints, self.rows, self.dofs = joints, rows, dofs

    @staticmethod
    def only(acts: Any, body: Callable[[], list[Any]], otherwise: Sequence[Any] | None) -> list[Any]:
        """What `body` gives for a contact that acts; for others `otherwise`, or anything if that is None."""
        raise NotImplementedError

    def start(self, impulses: Sequence[Any]) -> list[Any]:
        """What is carried, for these impulses: 3 of each contact, then one of each row."""
        raise NotImplementedError

    def sweep(self, shared: list[Any], impulses: list[Any]) -> tuple[list[Any], list[Any], Any]:
        """Each contact and each row solved once more: what is carried, impulses, worst squared error put right."""
        raise NotImplementedError

    def pushes(self, shared: Sequence[Any], impulses: Sequence[Any]) -> dict[int, Any]:
        """s by degree of freedom."""
        raise NotImplementedError

    def slip(self, shared: Sequence[Any], k: int) -> tuple[Any, Any]:
        """Velocity of a contact along its surface."""
        raise NotImplementedError

    def _rows_again(self, s: dict[int, Any], impulses: list[Any], worst: Any) -> Any:
        """All rows of joints once; s and the impulses are changed, the worst error is returned."""
        for k, (joint, row) in enumerate(zip(self.joints, self.rows, strict=True), 3 * len(self.contacts)):
            self.tree.mark()
            again = partial(joint.again, impulses[k], dict(s), worst)
            same = [*(s[d] for d in joint.dofs), impulses[k], worst]
            new = again() if row.acts is True else when(row.acts, again, same)
            s.update(zip(joint.dofs, new[:-2], strict=True))
            impulses[k], worst = new[-2:]
        return worst


class ByPushes(Coupling):
    """Many contacts: s is carried, and those that are open are skipped."""

    @staticmethod
    def only(acts: Any, body: Callable[[], list[Any]], otherwise: Sequence[Any] | None) -> list[Any]:
        never = acts is False and otherwise is None  # known while it is traced: nobody looks at what it gives
        return body() if never else when(acts, body, otherwise)

    def start(self, impulses: Sequence[Any]) -> list[Any]:
        s: dict[int, Any] = dict.fromkeys(self.dofs, 0.0)
        for k, (contact, touches) in enumerate(zip(self.contacts, self.touching, strict=True)):
            pushed = partial(contact.pushed, impulses[3 * k : 3 * k + 3], dict(s))
            s.update(zip(contact.dofs, when(touches, pushed, [s[d] for d in contact.dofs]), strict=True))
        for joint, impulse in zip(self.joints, impulses[3 * len(self.contacts) :], strict=True):
            s.update(zip(joint.dofs, joint.pushed([impulse], s), strict=True))
        return [s[d] for d in self.dofs]

    def sweep(self, shared: list[Any], impulses: list[Any]) -> tuple[list[Any], list[Any], Any]:
        s, impulses = dict(zip(self.dofs, shared, strict=True)), list(impulses)
        worst: Any = 0.0
        for k, (contact, touches) in enumerate(zip(self.contacts, self.touching, strict=True)):
            self.tree.mark()
            own = impulses[3 * k : 3 * k + 3]
            again = partial(self._again, k, own, dict(s), worst)
            new = when(touches, again, [*(s[d] for d in contact.dofs), *own, worst])
            s.update(zip(contact.dofs, new[:-4], strict=True))
            impulses[3 * k : 3 * k + 3], worst = new[-4:-1], new[-1]
        worst = self._rows_again(s, impulses, worst)
        return [s[d] for d in self.dofs], impulses, worst

    def _again(self, k: int, own: Sequence[Any], s: dict[int, Any], worst: Any) -> list[Any]:
        contact = self.contacts[k]
        new = contact.solved(own, contact.error(s))
        change = [x - y for x, y in zip(new, own, strict=True)]
        error = contact.velocity(change)
        return [*contact.pushed(change, s), *new, maximum(worst, dot(error, error))]

    def pushes(self, shared: Sequence[Any], impulses: Sequence[Any]) -> dict[int, Any]:
        return dict(zip(self.dofs, shared, strict=True))

    def slip(self, shared: Sequence[Any], k: int) -> tuple[Any, Any]:
        _, x, y = self.contacts[k].error(dict(zip(self.dofs, shared, strict=True)))
        return x, y


class ByVelocities(Coupling):
    """Few contacts: v⁺ - v* of each is carried, and the 3×3 blocks of J M⁻¹ Jᵀ say how one acts on another."""

    def __init__(self, tree: Tree, contacts: Sequence[Contact], *others: Any) -> None:
        super().__init__(tree, contacts, *others)
        self.blocks: dict[tuple[int, int], list[list[Any]]] = {}
        for k, a in enumerate(contacts):
            for l, b in enumerate(contacts[:k]):
                tree.mark()
                common = [(a.dofs.index(d), b.dofs.index(d)) for d in a.dofs if d in b.dofs]
                block = [[dot([t[i] for i, _ in common], [y[j] for _, j in common]) for y in b.Y] for t in a.T]
                self.blocks[k, l], self.blocks[l, k] = block, [list(column) for column in zip(*block, strict=True)]
        self.some_row: Any = False
        for row in self.rows:
            self.some_row = self.some_row | row.acts

    @staticmethod
    def only(acts: Any, body: Callable[[], list[Any]], otherwise: Sequence[Any] | None) -> list[Any]:
        values = body()  # of few contacts most act: to skip one takes longer
        return values if otherwise is None else [where(acts, a, b) for a, b in zip(values, otherwise, strict=True)]

    def start(self, impulses: Sequence[Any]) -> list[Any]:
        e = [list(contact.e) for contact in self.contacts]
        for k in range(len(self.contacts)):
            self._act(e, k, impulses[3 * k : 3 * k + 3])
        if self.rows:
            with_rows = partial(self._moved, e, dict.fromkeys(self.dofs, 0.0), impulses)
            return when(self.some_row, with_rows, _flat(e))
        return _flat(e)

    def _moved(self, e: list[list[Any]], s: dict[int, Any], impulses: Sequence[Any]) -> list[Any]:
        """Velocities after the rows of joints got these impulses."""
        for joint, impulse in zip(self.joints, impulses[3 * len(self.contacts) :], strict=True):
            s.update(zip(joint.dofs, joint.pushed([impulse], s), strict=True))
        return self._with(e, s)

    def _with(self, e: list[list[Any]], s: dict[int, Any]) -> list[Any]:
        """Velocities with those of pushes s."""
        return [
            x + dot(row, [s[d] for d in contact.dofs])
            for contact, own in zip(self.contacts, e, strict=True)
            for x, row in zip(own, contact.T, strict=True)
        ]

    def _act(self, e: list[list[Any]], k: int, change: Sequence[Any]) -> list[Any]:
        """Add what a change of the impulse of contact k does to all velocities; its own is returned."""
        own = self.contacts[k].velocity(change)
        for l in range(len(self.contacts)):
            by = own if l == k else [dot(row, change) for row in self.blocks[l, k]]
            e[l] = [x + dx for x, dx in zip(e[l], by, strict=True)]
        return own

    def sweep(self, shared: list[Any], impulses: list[Any]) -> tuple[list[Any], list[Any], Any]:
        e, impulses = [list(shared[k : k + 3]) for k in range(0, len(shared), 3)], list(impulses)
        worst: Any = 0.0
        for k, (contact, touches) in enumerate(zip(self.contacts, self.touching, strict=True)):
            self.tree.mark()
            own = impulses[3 * k : 3 * k + 3]
            new = [where(touches, x, 0.0) for x in contact.solved(own, e[k])]
            error = self._act(e, k, [x - y for x, y in zip(new, own, strict=True)])
            impulses[3 * k : 3 * k + 3], worst = new, maximum(worst, dot(error, error))
        if not self.rows:
            return _flat(e), impulses, worst
        after = when(self.some_row, partial(self._with_rows, e, list(impulses), worst), [*_flat(e), *impulses, worst])
        return after[: len(shared)], after[len(shared) : -1], after[-1]

    def _with_rows(self, e: list[list[Any]], impulses: list[Any], worst: Any) -> list[Any]:
        before = self.pushes([], impulses)
        s = dict(before)
        worst = self._rows_again(s, impulses, worst)
        return [*self._with(e, {d: s[d] - before[d] for d in s}), *impulses, worst]

    def pushes(self, shared: Sequence[Any], impulses: Sequence[Any]) -> dict[int, Any]:
        s: dict[int, Any] = dict.fromkeys(self.dofs, 0.0)
        for k, contact in enumerate(self.contacts):
            s.update(zip(contact.dofs, contact.pushed(impulses[3 * k : 3 * k + 3], s), strict=True))
        for joint, impulse in zip(self.joints, impulses[3 * len(self.contacts) :], strict=True):
            s.update(zip(joint.dofs, joint.pushed([impulse], s), strict=True))
        return s

    def slip(self, shared: Sequence[Any], k: int) -> tuple[Any, Any]:
        return shared[3 * k + 1], shared[3 * k + 2]


def _flat(e: Sequence[Sequence[Any]]) -> list[Any]:
    return [x for own in e for x in own]
