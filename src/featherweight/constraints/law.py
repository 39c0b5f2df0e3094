"""What the law of a constraint says: which impulses go with which velocities, for one block of rows by itself.

A law is declared with a block (`Cone(friction)`, `Interval(least, most)`, `Stop(low, high)`). Once the rows of the
block are known, it becomes a local problem: solved exactly while all other blocks stay as they are (a step of
Gauss–Seidel), or linearised for a Newton step of all blocks at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

SOFT = 1e-6  # of the mobility: regularisation of a law that is linearised, unless another is given
TINY = 1e-30
LEAST = 1e-30  # mobility [1/kg]: keeps a row that can move nothing finite

Rows = list[list[Any]]  # one row for each impulse, one entry for each degree of freedom


class Law:
    """One kind of law."""

    size: int  # impulses of a block
    is_contact = False  # of a point: skipped while it is open, and it may slip
    one_sided = False  # the impulse of its first row only pushes
    prescribes = False  # where it acts, it prescribes the velocity of one joint: an active-set method can solve it

    def problem(self, dofs: tuple[int, ...], T: Rows, Y: Rows, e: list[Any], before: Sequence[Any]) -> LocalProblem:
        """The local problem of a block: its rows T and Y (see `LocalProblem`), the velocity error e without impulses,
        and the impulses of the step before."""
        raise NotImplementedError

    def equations(
        self, own: Sequence[Any], w: Sequence[Any], before: Sequence[Any], mobility: Callable[[int], Any]
    ) -> list[Any]:
        """The equations, one for each row and zero, that impulses which fulfil the law obey together with the velocity
        errors w = v⁺ - v*, as long as no other side of the law is taken: what derivatives are made of. `before`:
        impulses of the step before; `mobility`: J M⁻¹ Jᵀ of a row."""
        raise NotImplementedError(f"{type(self).__name__} has no method `equations`, which derivatives need")


@dataclass(frozen=True)
class Linearised:
    """Near impulses λ and velocity errors w, the law says Δλ = a - H Δw; `error` is the squared residual [(m/s)²]."""

    a: list[Any]
    H: list[list[Any]]
    error: Any


class LocalProblem:
    """A block by itself.

    With D = L diag(d) Lᵀ of each joint, a unit impulse that arrives there as t has T = L⁻¹ t and Y = T / d by degree of
    freedom, so that J M⁻¹ Jᵀ = T Yᵀ, and s = Yᵀ λ is all that blocks know of each other. e is the free velocity of each
    row less the wanted one, w = e + T s.
    """

    dofs: tuple[int, ...]
    law: Any
    T: Rows
    Y: Rows
    e: list[Any]

    @property
    def mass(self) -> Any:
        """Effective mass [kg or kg m²]: ρ of y = λ - ρ w."""
        raise NotImplementedError

    def only_if(self, acts: Any) -> LocalProblem:
        """This block, or an inactive placeholder that moves nothing and has a finite mass."""
        raise NotImplementedError

    def with_error(self, e: list[Any]) -> LocalProblem:
        """The same block with another velocity error without impulses."""
        return replace(self, e=e)  # type: ignore[type-var]

    def velocity(self, change: Sequence[Any]) -> list[Any]:
        """G Δλ: what a change of its own impulses does to its velocity."""
        raise NotImplementedError

    def solved(self, own: Sequence[Any], w: Sequence[Any]) -> list[Any]:
        """The impulses that fulfil the law; w is the velocity error with its own impulses as they are."""
        raise NotImplementedError

    def linearised(self, own: Sequence[Any], w: Sequence[Any], soft: Any = SOFT) -> Linearised:
        """The law near these impulses and velocity errors; `soft` is its regularisation, as a part of the mobility."""
        raise NotImplementedError

    def held(self, own: Sequence[Any], w: Sequence[Any], mass: Any) -> Linearised:
        """Instead of the law, whatever the impulses are: Δλ = -mass (w + Δw), which holds the velocity error near zero;
        of no error."""
        none = [0.0] * len(self.e)
        H = [[*none[:k], mass, *none[k + 1 :]] for k in range(len(none))]
        return Linearised([-mass * x for x in w], H, 0.0)

    def reach(self, own: Sequence[Any], change: Sequence[Any]) -> Any:
        """The part of a change, 1 at most, that brings the impulses to the edge of what is allowed."""
        raise NotImplementedError

    def inside(self, own: Sequence[Any]) -> list[Any]:
        """The impulses, projected onto what is allowed."""
        raise NotImplementedError

    def slip(self, w: Sequence[Any]) -> Any:
        """The speed of slip, of a contact with these velocity errors [m/s]."""
        return 0.0

    def error(self, s: dict[int, Any]) -> list[Any]:
        """w = e + T s, for all impulses together."""
        return [e + dot(row, [s[d] for d in self.dofs]) for e, row in zip(self.e, self.T, strict=True)]

    def pushed(self, impulse: Sequence[Any], s: dict[int, Any]) -> list[Any]:
        """s + Yᵀ λ of these impulses, by its own degrees of freedom."""
        own = [s[d] for d in self.dofs]
        for row, number in zip(self.Y, impulse, strict=True):
            own = [x + number * y for x, y in zip(own, row, strict=True)]
        return own


def added(x: Sequence[Any], dx: Sequence[Any], share: Any = 1.0) -> list[Any]:
    """x + share dx."""
    return [a + share * b for a, b in zip(x, dx, strict=True)]


def dot(a: Sequence[Any], b: Sequence[Any]) -> Any:
    total: Any = 0.0
    for x, y in zip(a, b, strict=True):
        total = total + x * y
    return total
