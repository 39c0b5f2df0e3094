"""What an integrator is: one method, from a state to the next."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from featherweight.model import Tree

# acceleration(q, v): of the robot with the forces that act during the step
Acceleration = Callable[[Sequence[Any], Sequence[Any]], list[Any]]


class Integrator:
    """A one-step method. Frozen: what it depends on is in its repr."""

    damps_implicitly = False  # the damping of joints acts with the velocity at the end of the step
    damping_limit = math.inf  # stable while h d (M⁻¹)ᵢᵢ is less

    def step(
        self, tree: Tree, q: Sequence[Any], v: Sequence[Any], h: Any, acceleration: Acceleration
    ) -> tuple[list[Any], list[Any]]:
        """The configuration and velocity after h."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"
