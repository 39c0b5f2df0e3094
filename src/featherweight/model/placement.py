"""Where a frame sits in another: `Placement(xyz, rpy=…)` or `Placement(xyz, quat=…)`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from featherweight.errors import ModelError
from featherweight.model.symbols import check_symbols, is_symbolic
from featherweight.spatial import Matrix, Transform, Vector, from_quaternion, from_rpy


def real_numbers(name: str, value: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Finite floats of this shape; ModelError with their name otherwise."""
    if plain(value) and shape == (len(value),):
        return np.array(value)
    what = f"real numbers of shape {shape}" if shape else "a real number"
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):
        raise ModelError(f"{name}: expected {what}, got {value!r}") from None
    if array.dtype.kind not in "fiu":
        raise ModelError(f"{name}: expected {what}, got {value!r}")
    with np.errstate(all="ignore"):
        array = array.astype(float)
    if array.shape != shape:
        raise ModelError(f"{name}: expected shape {shape}, got {array.shape}")
    if not np.isfinite(array).all():
        raise ModelError(f"{name}: expected finite numbers, got {value!r}")
    return array


def numbers_or_symbols(name: str, value: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Finite floats of this shape, or objects with SymPy expressions among them, for equations of motion."""
    if not is_symbolic(value):
        return real_numbers(name, value, shape)
    array = np.array(value, dtype=object)
    if array.shape != shape:
        raise ModelError(f"{name}: expected shape {shape}, got {array.shape}")
    check_symbols(name, array.ravel())
    return array


def plain(values: Any) -> bool:
    """Whether these are floats in a tuple, none of them infinite or NaN: the usual case, quickly."""
    return type(values) is tuple and {*map(type, values)} == {float} and math.isfinite(sum(values))


def _three(name: str, value: Any) -> Sequence[Any]:
    return value if plain(value) and len(value) == 3 else numbers_or_symbols(name, value, (3,)).tolist()


@dataclass(frozen=True, init=False)
class Placement:
    """Pose of a frame: position [m] and orientation, as roll pitch yaw [rad] (R = Rz Ry Rx, as in
    URDF), unit quaternion x y z w, or rotation matrix (frame to parent). Position and rpy may have symbols."""

    rotation: Matrix
    position: Vector

    def __init__(
        self,
        xyz: Sequence[float] = (0.0, 0.0, 0.0),
        *,
        rpy: Sequence[float] | None = None,
        quat: Sequence[float] | None = None,
        rotation: ArrayLike | None = None,
    ) -> None:
        turned = (rpy is not None) + (quat is not None) + (rotation is not None)
        if turned > 1:
            raise ModelError("Placement: give one of rpy, quat and rotation")
        if rpy is not None:
            R = from_rpy(*_three("rpy", rpy))
        elif quat is not None:
            quaternion = real_numbers("quat", quat, (4,))
            length = math.hypot(*quaternion)
            if abs(length - 1.0) > 1e-6:
                raise ModelError(f"quat: expected a unit quaternion x y z w, got length {length:.9g}")
            R = from_quaternion(*(float(a) for a in quaternion / length))
        elif rotation is not None:
            matrix = real_numbers("rotation", rotation, (3, 3))
            if (
                np.abs(matrix).max() > 2  # before products overflow
                or np.abs(matrix @ matrix.T - np.eye(3)).max() > 1e-6
                or np.linalg.det(matrix) < 0
            ):
                raise ModelError("rotation: expected an orthogonal matrix with determinant +1")
            if np.abs(matrix @ matrix.T - np.eye(3)).max() > 1e-12:  # the nearest rotation
                left, _, right = np.linalg.svd(matrix)
                matrix = left @ right
            R = Matrix.of(matrix.tolist())
        object.__setattr__(self, "rotation", R.lift(_clean) if turned else _STRAIGHT)
        object.__setattr__(self, "position", Vector(*_three("xyz", xyz)))

    @staticmethod
    def of(X: Transform) -> Placement:
        """That of the frame X leads to, number by number."""
        placement = object.__new__(Placement)
        object.__setattr__(placement, "rotation", X.E.T)
        object.__setattr__(placement, "position", X.r)
        return placement

    @property
    def transform(self) -> Transform:
        """X, from the parent's coordinates to this frame's."""
        return Transform(self.rotation.T, self.position)


_STRAIGHT = Matrix.identity().lift(float)


def _clean(x: Any) -> Any:
    """A rotation with entries within rounding of 0 or ±1 made exact: cos(π/2) is 6e-17 in floats."""
    if type(x) is not float and is_symbolic(x):
        return x
    nearest = float(round(x))
    return nearest if abs(x - nearest) < 4e-16 else float(x)
