"""The joint interface: all that algorithms know of a joint (RBDA, section 4.4).

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
from featherweight.spatial import Displacement, Motion, Transform, Vector


class Joint:
    """Base of all joint kinds. Immutable; numbers may be of any scalar type."""

    nq: int
    nv: int
    leader: str | None = None  # the joint whose coordinates this one shares, if it has none of its own
    ratio: float = 1.0  # q_own = ratio · q_leader + offset
    offset: float = 0.0
    orientation: slice | None = None  # the slice of q that is a quaternion
    floating: bool = False  # a free joint: no motor, and S is the six unit twists in some order
    turns: slice | None = None  # the slice of v that is an angular velocity about all three axes, those of B

    def transform(self, q: Sequence[Any]) -> Transform:
        """X_J(q), from A to B."""
        raise NotImplementedError

    def place_after(self, q: Sequence[Any], d: Sequence[Any], q_after: Sequence[Any]) -> Sequence[Any]:
        """Numbers that determine X_J(q ⊕ d) after a small step d, for `transform_at`.

        By default the configuration `q_after` = q ⊕ d. A `uniform` joint may return others that need no sines, such as
        the cosine and sine of an angle sum.
        """
        return q_after

    def transform_at(self, place: Sequence[Any]) -> Transform:
        """X_J from the numbers that `place_after` returns."""
        return self.transform(place)

    def subspace(self, q: Sequence[Any]) -> tuple[Motion, ...]:
        """The columns of S(q), in B: velocity across the joint is S v."""
        raise NotImplementedError

    @property
    def uniform(self) -> bool:
        """Whether S is constant in B."""
        return type(self).subspace_rate is Joint.subspace_rate

    def subspace_after(self, q: Sequence[Any], d: Sequence[Any]) -> tuple[Motion, ...]:
        """The columns of S(q ⊕ d) after a small step d; a kind may avoid further sines here."""
        return self.subspace(q if self.uniform else self.integrate(q, d))

    def subspace_rate(self, q: Sequence[Any], v: Sequence[Any]) -> tuple[Motion, ...]:
        """The columns of dS/dt as seen in B; zero where S is constant in B."""
        return (Motion.zero(),) * self.nv

    def bias_derivative(self, q: Sequence[Any], v: Sequence[Any]) -> tuple[Motion, ...]:
        """The columns of ∂c/∂q as seen in B, c = (dS/dt) v: how c changes along q ⊕ δ while v keeps its numbers.

        Derivatives of dynamics need it where S changes in B.
        """
        if not self.uniform:
            raise NotImplementedError(
                f"{type(self).__name__}: its subspace changes in the body, so derivatives of dynamics need its method "
                "bias_derivative(q, v): the columns of ∂c/∂q, c = (dS/dt) v"
            )
        return (Motion.zero(),) * self.nv

    def integrate(self, q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        """q ⊕ v: the configuration after moving with v for a unit of time."""
        return [a + b for a, b in zip(q, v, strict=True)]

    def difference(self, q0: Sequence[Any], q1: Sequence[Any]) -> list[Any]:
        """q1 ⊖ q0: the velocity that leads from q0 to q1 in a unit of time."""
        return [b - a for a, b in zip(q0, q1, strict=True)]

    def rate(self, u: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        """u̇ such that q ⊕ u moves with velocity v: the inverse of the right Jacobian of ⊕ at u, times v."""
        return list(v)

    def displacement(self, q: Sequence[Any], d: Sequence[Any]) -> Displacement:
        """The displacement of B in A when the joint moves from q to q ⊕ d, without cancellation for small d."""
        return Displacement.between(self.transform(q), self.transform(self.integrate(q, d)))

    def coordinate_rate(self, q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        """q̇ at velocity v. It is v itself, except for joints such as those with quaternions."""
        return list(v)

    def predicted(self, v: Sequence[Any], a: Sequence[Any], h: Any) -> list[Any]:
        """The velocity after a time h, in the body axes at the beginning."""
        return [v_k + h * a_k for v_k, a_k in zip(v, a, strict=True)]

    def advance(
        self, q: Sequence[Any], v: Sequence[Any], h: Any, more: Sequence[Any] | None = None
    ) -> tuple[list[Any], list[Any]]:
        """Move for a time h by a velocity in the present body axes, and by `more` that is forgotten: the new q, and v
        in the new body axes."""
        return self.integrate(q, [h * v_k for v_k in moving(v, more)]), list(v)

    def check(self, q: Sequence[Any]) -> Any:
        """Zero if q is a valid configuration of this joint."""
        return 0

    def explain(self, q: np.ndarray) -> str | None:
        """What is wrong with an array of configurations (…, nq), if anything is."""
        return None

    def neutral(self) -> np.ndarray:
        """The configuration where A and B coincide."""
        return np.zeros(self.nq)

    def random(self, rng: np.random.Generator) -> np.ndarray:
        """A configuration from the joint's whole range."""
        raise NotImplementedError

    def to_pinocchio(self, q: np.ndarray) -> np.ndarray:
        """Configurations (…, nq) as Pinocchio writes them."""
        return q

    def from_pinocchio(self, q: np.ndarray) -> np.ndarray:
        """The inverse of `to_pinocchio`."""
        return q

    def to_mujoco(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Configurations (…, nq) and velocities (…, nv) as MuJoCo writes them."""
        return q, v

    def from_mujoco(self, qpos: np.ndarray, qvel: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The inverse of `to_mujoco`."""
        return qpos, qvel

    def followed(self) -> Joint:
        """What this joint becomes when mimic joints follow it."""
        return self

    def led_by(self, leader: str) -> Joint:
        """The same mimic joint behind a joint of this name."""
        return self._with(leader=leader)

    def following(self, leader: Joint) -> Joint:
        """The same mimic joint behind a leader that has coordinates of its own."""
        return self

    def lift(self, f: Callable[[float], Any]) -> Joint:
        """The same joint over another scalar: `f` applied to its constants."""
        return self

    def _with(self, **constants: Any) -> Any:
        """A copy with other constants."""
        other = copy.copy(self)
        for name, value in constants.items():
            object.__setattr__(other, name, value)
        return other

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"joints do not change: {type(self).__name__}.{name} cannot be set; make a new joint")

    def arguments(self) -> tuple[Any, ...]:
        """Constructor arguments: `type(joint)(*joint.arguments())` is an equal joint."""
        return ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.arguments()))})"


AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def unit_axis(axis: Any) -> Vector:
    """A unit vector from "x", "y", "z" or three numbers of any length but zero."""
    if isinstance(axis, str):
        if axis not in AXES:
            raise ModelError(f'axis: expected "x", "y", "z" or three numbers, got {axis!r}')
        axis = AXES[axis]
    numbers = axis if type(axis) is tuple and {*map(type, axis)} == {float} else _floats(axis)
    if len(numbers) != 3 or not all(map(math.isfinite, numbers)):
        raise ModelError(f"axis: expected three finite numbers, got {axis!r}")
    largest = max(map(abs, numbers))
    if largest == 0.0:
        raise ModelError("axis: expected a direction, got the zero vector")
    if abs(math.hypot(*numbers) - 1.0) > 1e-15:
        numbers = [x / largest for x in numbers]  # first, so that nothing over- or underflows
        length = math.hypot(*numbers)
        numbers = [x / length for x in numbers]
    return Vector(*numbers)


def _floats(axis: Any) -> list[float]:
    """The numbers of an axis; none if it has not one dimension."""
    try:
        numbers = np.asarray(axis)
    except (TypeError, ValueError):
        raise ModelError(f'axis: expected "x", "y", "z" or three numbers, got {axis!r}') from None
    if numbers.dtype.kind not in "fiu":
        raise ModelError(f'axis: expected "x", "y", "z" or three numbers, got {axis!r}')
    return numbers.astype(float).tolist() if numbers.ndim == 1 else []


def finite(name: str, value: Any) -> float:
    """A finite real number; ModelError with its name otherwise."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ModelError(f"{name}: expected a real number, got {value!r}") from None
    if not math.isfinite(number):
        raise ModelError(f"{name}: expected a finite number, got {value!r}")
    return number


class AxisJoint(Joint):
    """A joint with one axis, fixed in both frames."""

    nq = nv = 1
    axis: Vector

    def __init__(self, axis: Any = "z") -> None:
        object.__setattr__(self, "axis", unit_axis(axis))

    def lift(self, f: Callable[[float], Any]) -> AxisJoint:
        return self._with(axis=self.axis.lift(f))

    def arguments(self) -> tuple[Any, ...]:
        return (tuple(self.axis),)


def moving(v: Sequence[Any], more: Sequence[Any] | None) -> list[Any]:
    """A velocity and what is added to it while a joint moves."""
    return list(v) if more is None else [x + y for x, y in zip(v, more, strict=True)]
