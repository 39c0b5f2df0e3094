"""Motion and force vectors: the two six-dimensional spaces of spatial algebra (RBDA, chapter 2).

Fields have names, so there is no order to remember; arrays with an order are made at the public
edge only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from featherweight.spatial.vector import Vector


class Force(NamedTuple):
    """A wrench: moment about the frame's origin [N m] and force [N]. Also a momentum."""

    moment: Vector
    force: Vector

    @staticmethod
    def zero() -> Force:
        return Force(Vector.zero(), Vector.zero())

    def __add__(self, f: Force) -> Force:  # type: ignore[override]
        return Force(self.moment + f.moment, self.force + f.force)

    def __sub__(self, f: Force) -> Force:
        return Force(self.moment - f.moment, self.force - f.force)

    def __mul__(self, s: Any) -> Force:
        return Force(self.moment * s, self.force * s)


class Motion(NamedTuple):
    """A twist or its rate: angular [rad/s] and linear [m/s] velocity of the frame's origin."""

    angular: Vector
    linear: Vector

    @staticmethod
    def zero() -> Motion:
        return Motion(Vector.zero(), Vector.zero())

    def __add__(self, v: Motion) -> Motion:  # type: ignore[override]
        return Motion(self.angular + v.angular, self.linear + v.linear)

    def __sub__(self, v: Motion) -> Motion:
        return Motion(self.angular - v.angular, self.linear - v.linear)

    def __neg__(self) -> Motion:
        return Motion(-self.angular, -self.linear)

    def __mul__(self, s: Any) -> Motion:
        return Motion(self.angular * s, self.linear * s)

    @property
    def coordinate(self) -> int | None:
        """The coordinate 0 … 5 (angular first) that this motion is along, if the other five are structural zeros."""
        entries = (*self.angular, *self.linear)
        if any(not isinstance(x, (int, float)) for x in entries):
            return None
        along = [k for k, x in enumerate(entries) if x != 0]
        return along[0] if len(along) == 1 else None

    def dot(self, f: Force) -> Any:
        """Power: v · f."""
        return self.angular.dot(f.moment) + self.linear.dot(f.force)

    def cross(self, v: Motion) -> Motion:
        """v × m: how m changes when it moves with v."""
        return Motion(self.angular.cross(v.angular), self.angular.cross(v.linear) + self.linear.cross(v.angular))

    def cross_force(self, f: Force) -> Force:
        """v ×* f: how f changes when it moves with v."""
        return Force(self.angular.cross(f.moment) + self.linear.cross(f.force), self.angular.cross(f.force))

    def lift(self, f: Callable[[Any], Any]) -> Motion:
        """The motion with `f` applied to each component."""
        return Motion(self.angular.lift(f), self.linear.lift(f))
