"""Poses as values: composed, inverted, as 4×4 matrices, and as twists by exponential and logarithm."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike

from featherweight.compiler import Lanes, Node, plain
from featherweight.compiler.runtime.arguments import as_array, batch_shape, first_not_finite
from featherweight.spatial import Matrix, Motion, Quaternion, Vector, exp_se3, log_se3

ORTHOGONAL = 1e-6  # that a rotation may be off


class Poses(NamedTuple):
    """Orientation (…, nb+1, 3, 3), body to world, and position (…, nb+1, 3) [m] of every body."""

    rotation: np.ndarray
    position: np.ndarray


class Pose(NamedTuple):
    """Orientation (…, 3, 3), frame to world, and position (…, 3) [m].

    `a @ b` is the pose of a frame that has the pose b in a frame with the pose a; `a @ points` are points of that
    frame, shape (…, 3), in the world.

    >>> import featherweight as fw
    >>> ahead = fw.exp([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    >>> (ahead @ ahead).position
    array([2., 0., 0.])
    """

    rotation: np.ndarray
    position: np.ndarray

    @overload
    def __matmul__(self, other: Pose) -> Pose: ...
    @overload
    def __matmul__(self, other: ArrayLike) -> np.ndarray: ...
    def __matmul__(self, other: Pose | ArrayLike) -> Pose | np.ndarray:
        R, p = self
        if isinstance(other, Pose):
            return Pose(R @ other.rotation, _turned(R, other.position) + p)
        points = np.asarray(other)
        if points.shape[-1:] != (3,):
            raise ValueError(f"@: expected a Pose or points of shape (…, 3), got shape {points.shape}")
        return _turned(R, points) + p

    def inverse(self) -> Pose:
        """The pose of the world in this frame."""
        R = np.swapaxes(self.rotation, -1, -2)
        return Pose(R, -_turned(R, self.position))

    @property
    def matrix(self) -> np.ndarray:
        """[[R, p], [0, 1]], shape (…, 4, 4)."""
        R, p = np.asarray(self.rotation), np.asarray(self.position)
        last = np.broadcast_to(np.array([[0.0, 0.0, 0.0, 1.0]]), (*p.shape[:-1], 1, 4))
        return np.concatenate([np.concatenate([R, p[..., None]], axis=-1), last], axis=-2)

    @staticmethod
    def from_matrix(matrix: ArrayLike) -> Pose:
        """The pose of matrices [[R, p], [0, 1]], shape (…, 4, 4); ValueError if they are none."""
        array = np.asarray(matrix)
        if not _is_traced(array):
            array = _numbers("matrix", array, (4, 4), "4, 4")
            if np.abs(array[..., 3, :] - (0, 0, 0, 1)).max(initial=0.0) > ORTHOGONAL:
                raise ValueError("matrix: expected a last row of 0 0 0 1")
            _check_rotation("matrix", array[..., :3, :3])
        return Pose(array[..., :3, :3].copy(), array[..., :3, 3].copy())


def exp(twist: ArrayLike) -> Pose:
    """The exponential map: the pose a frame reaches in a unit of time at a constant twist in its own axes.

    Args:
        twist: [linear; angular] [m, rad], shape (…, 6).

    Returns:
        `rotation` (…, 3, 3) and `position` (…, 3) [m].

    >>> import numpy as np, featherweight as fw
    >>> fw.exp([0.0, 0.0, 0.0, 0.0, 0.0, np.pi / 2]).rotation.round(12)
    array([[ 0., -1.,  0.],
           [ 1.,  0.,  0.],
           [ 0.,  0.,  1.]])
    """
    array = np.asarray(twist) if _is_traced(twist) else _numbers("twist", twist, (6,), "6")
    x = _scalars(array, 1)
    q, p = exp_se3(Motion(Vector(*x[3:]), Vector(*x[:3])))
    batch = array.shape[:-1]
    return Pose(_stacked([e for row in q.rotation for e in row], batch, (3, 3)), _stacked(p, batch, (3,)))


def log(pose: Pose | ArrayLike) -> np.ndarray:
    """The logarithm: the twist that leads to a pose in a unit of time, with the shortest rotation, up to π.

    Args:
        pose: a `Pose`, or matrices of shape (…, 4, 4).

    Returns:
        The twist [linear; angular] [m, rad], shape (…, 6): `fw.exp(fw.log(pose))` is the pose.

    >>> import featherweight as fw
    >>> fw.log(fw.exp([1.0, 2.0, 3.0, 0.1, 0.2, 0.3])).round(12)
    array([1. , 2. , 3. , 0.1, 0.2, 0.3])
    """
    R, p = pose if isinstance(pose, (Pose, Poses)) else Pose.from_matrix(pose)
    if not (_is_traced(R) or _is_traced(p)):
        R, p = _numbers("pose.rotation", R, (3, 3), "3, 3"), _numbers("pose.position", p, (3,), "3")
        _check_rotation("pose.rotation", R)
    R, p = np.asarray(R), np.asarray(p)
    batch = batch_shape(["pose.rotation", "pose.position"], [R, p], [2, 1])
    rows = _scalars(np.broadcast_to(R, (*batch, 3, 3)), 2)
    position = _scalars(np.broadcast_to(p, (*batch, 3)), 1)
    twist = log_se3(Quaternion.of(Matrix.of([rows[:3], rows[3:6], rows[6:]])), Vector(*position))
    return _stacked([*twist.linear, *twist.angular], batch, (6,))


def _turned(R: np.ndarray, points: Any) -> np.ndarray:
    return (R @ np.asarray(points)[..., None])[..., 0]


def _is_traced(x: Any) -> bool:
    array = np.asarray(x, dtype=object) if not isinstance(x, np.ndarray) else x
    return array.dtype == object and any(isinstance(e, Node) for e in array.ravel())


def _numbers(name: str, value: Any, shape: tuple[int, ...], symbols: str) -> np.ndarray:
    """Finite numbers of this shape, for each state of a batch."""
    array = as_array(name, value, shape, symbols)
    reason = first_not_finite([name], [array])
    if reason is not None:
        raise ValueError(reason)
    return array


def _check_rotation(name: str, R: np.ndarray) -> None:
    off = np.abs(R @ np.swapaxes(R, -1, -2) - np.eye(3)).max(axis=(-1, -2), initial=0.0)
    bad = (off > ORTHOGONAL) | (np.linalg.det(R) < 0)
    if np.any(bad):
        where = "".join(f"[{k}]" for k in np.argwhere(bad)[0])
        raise ValueError(f"{name}{where}: expected an orthogonal matrix with determinant +1")


def _scalars(array: np.ndarray, axes: int) -> list[Any]:
    """The numbers of the last axes, one by one, as scalars of all states; of one state, if they are traced."""
    flat = array.reshape(*array.shape[:-axes], prod(array.shape[-axes:]))
    if array.dtype == object:
        if flat.ndim > 1:
            raise ValueError(f"expected one state while tracing, got shape {array.shape}")
        return list(flat)
    return [Lanes(flat[..., k]) for k in range(flat.shape[-1])]


def _stacked(numbers: Sequence[Any], batch: tuple[int, ...], shape: tuple[int, ...]) -> np.ndarray:
    if any(isinstance(x, Node) for x in numbers):
        return np.array(numbers, dtype=object).reshape(shape)
    columns = [np.broadcast_to(plain(x), batch) for x in numbers]
    return np.stack(columns, axis=-1).astype(float, copy=False).reshape(*batch, *shape)
