"""What a joint is: the one interface between joint kinds and algorithms (RBDA, section 4.4).

A joint places its body's frame B relative to the frame A it is mounted on. Its coordinates are
`nq` numbers, its velocity `nv` numbers. Adding a kind of joint means adding one file here.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from featherweight.errors import ModelError
from featherweight.spatial import Motion, Transform, Vector


class Joint:
    """Base of all joint kinds. Immutable; numbers may be of any scalar type."""

    nq: int
    nv: int

    def transform(self, q: Sequence[Any]) -> Transform:
        """X_J(q), from A to B."""
        raise NotImplementedError

    def subspace(self, q: Sequence[Any]) -> tuple[Motion, ...]:
        """The columns of S(q), in B: velocity across the joint is S v."""
        raise NotImplementedError

    def bias(self, q: Sequence[Any], v: Sequence[Any]) -> Motion:
        """c_J = (dS/dt) v as seen in B; zero where S is constant in B."""
        return Motion.zero()

    def check(self, q: Sequence[Any]) -> Any:
        """Zero if q is a configuration of this joint."""
        return 0

    def explain(self, q: np.ndarray) -> str | None:
        """What is wrong with an array of configurations (…, nq), if anything is."""
        return None

    def neutral(self) -> np.ndarray:
        """The configuration with A and B together."""
        return np.zeros(self.nq)

    def random(self, rng: np.random.Generator) -> np.ndarray:
        """A configuration from the joint's whole range."""
        raise NotImplementedError

    def lift(self, f: Callable[[float], Any]) -> Joint:
        """The same joint over another scalar: `f` applied to its constants."""
        return self

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"joints do not change: {type(self).__name__}.{name} cannot be set; make a new joint")

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def unit_axis(axis: Any) -> Vector:
    """A unit vector from "x", "y", "z" or three numbers of any length but zero."""
    if isinstance(axis, str):
        if axis not in AXES:
            raise ModelError(f'axis: expected "x", "y", "z" or three numbers, got {axis!r}')
        axis = AXES[axis]
    try:
        numbers = np.asarray(axis)
    except (TypeError, ValueError):
        raise ModelError(f'axis: expected "x", "y", "z" or three numbers, got {axis!r}') from None
    if numbers.dtype.kind not in "fiu":
        raise ModelError(f'axis: expected "x", "y", "z" or three numbers, got {axis!r}')
    numbers = numbers.astype(float)
    if numbers.shape != (3,) or not np.isfinite(numbers).all():
        raise ModelError(f"axis: expected three finite numbers, got {axis!r}")
    largest = float(np.abs(numbers).max())
    if largest == 0.0:
        raise ModelError("axis: expected a direction, got the zero vector")
    length = math.hypot(*numbers)
    if abs(length - 1.0) > 1e-15:
        numbers = numbers / largest  # first, so that nothing over- or underflows
        numbers = numbers / math.hypot(*numbers)
    return Vector(*(float(x) for x in numbers))


class AxisJoint(Joint):
    """A joint of one coordinate with an axis, fixed in both frames."""

    nq = nv = 1
    axis: Vector

    def __init__(self, axis: Any = "z") -> None:
        object.__setattr__(self, "axis", unit_axis(axis))

    def lift(self, f: Callable[[float], Any]) -> AxisJoint:
        lifted = copy.copy(self)
        object.__setattr__(lifted, "axis", self.axis.lift(f))
        return lifted

    def __repr__(self) -> str:
        return f"{type(self).__name__}({tuple(self.axis)})"
