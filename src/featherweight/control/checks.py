"""Checks of what controllers are given: numbers, configurations, robots with a free base."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

import numpy as np

from featherweight.dynamics.checks import checked_model
from featherweight.model import Model
from featherweight.spatial import Transform


def checked_base(what: str, model: Any) -> Model:
    """The model, if a free joint carries all of it."""
    checked_model(model)
    roots = model.children(0)
    if len(roots) != 1 or not model.joints[0].kind.floating:
        raise ValueError(
            f"{what}: expected a robot with a free base, got {model.name!r} with base joint "
            f"{model.joints[0].kind!r}; load it with base='free'"
        )
    if len(model.independent_joints) < len(model.joints):
        raise ValueError(f"{what}: not for robots with mimic joints yet; {model.name!r} has some")
    if not model.X_tree[1] == Transform.identity():
        raise ValueError(
            f"{what}: expected a base whose coordinates are its pose in the world; {model.name!r} has its free joint"
            f" at {model.X_tree[1]}: place it at the world's origin, without rotation"
        )
    if not np.linalg.norm(model.gravity) > 0:
        raise ValueError(f"{what}: expected gravity that holds {model.name!r} to the ground, got none")
    return model


def checked_state(model: Model, q: Any, *, name: str = "q") -> np.ndarray:
    """Configurations (…, nq) of a robot: finite, with unit quaternions."""
    array = np.asarray(q, dtype=float)
    if array.shape[-1:] != (model.nq,):
        raise ValueError(f"{name}: expected shape (…, nq) = (…, {model.nq}), got {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name}: expected finite numbers")
    for joint in model.independent_joints:
        reason = joint.kind.explain(array[..., joint.q])
        if reason is not None:
            raise ValueError(f"{name}: joint {joint.name!r}: {reason}")
    return array


def finite(name: str, value: Any, size: int) -> np.ndarray:
    """Finite numbers, shape (…, size)."""
    array = _array(value)
    if array is None or array.shape[-1:] != (size,) or not np.isfinite(array).all():
        raise ValueError(f"{name}: expected finite numbers, shape ({size},) or (…, {size}), got {value!r}")
    return array


def positive(name: str, value: Any) -> Any:
    """Finite numbers > 0, shape () or (…) for a batch."""
    return _checked(name, value, lambda x: x > 0, "> 0")


def not_negative(name: str, value: Any) -> Any:
    """Finite numbers of 0 or more, shape () or (…) for a batch."""
    return _checked(name, value, lambda x: x >= 0, "of 0 or more")


def _checked(name: str, value: Any, good: Callable[[np.ndarray], np.ndarray], expected: str) -> Any:
    array = _array(value)
    if array is None or not (good(array) & (array < np.inf)).all():
        raise ValueError(f"{name}: expected a number {expected}, got {value!r}")
    return array if array.ndim else float(array)


def count(name: str, value: Any) -> int:
    """A whole number > 0."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 1:
        raise ValueError(f"{name}: expected a whole number > 0, got {value!r}")
    return int(value)


def _array(value: Any) -> np.ndarray | None:
    """Real numbers as an array; None of anything else."""
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):
        return None
    if array.dtype.kind not in "iuf":  # a Fraction or a Decimal is a number, too
        if not isinstance(value, numbers.Real) or isinstance(value, bool):
            return None
        array = np.asarray(float(value))
    return array.astype(float)
