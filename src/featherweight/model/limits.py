"""Limits of a whole robot as arrays: of each coordinate, with those of the joints that follow it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from featherweight.model.cache import once_per_model

if TYPE_CHECKING:
    from featherweight.model.model import Model


class LimitArrays(NamedTuple):
    """Bounds of q, shape (nq,), and of |v| and |tau|, shape (nv,); infinite where there are none. Read-only."""

    lower: np.ndarray
    upper: np.ndarray
    velocity: np.ndarray
    effort: np.ndarray


@once_per_model
def limit_arrays(model: Model) -> LimitArrays:
    """What is left to each coordinate q by all joints that move with it, as ratio · q + offset.

    Effort is that of the joint with the coordinate: motors of followers are their own.
    """
    none_of_q, none_of_v = np.full(model.nq, np.inf), np.full(model.nv, np.inf)
    arrays = LimitArrays(-none_of_q, none_of_q, none_of_v, none_of_v.copy())
    for joint in model.joints:
        ratio, limits = joint.kind.ratio, joint.limits
        if joint.independent:
            arrays.effort[joint.v] = limits.effort
        if ratio:  # one that follows with ratio 0 stands still
            ends = (np.array([limits.lower, limits.upper]) - joint.kind.offset) / ratio
            arrays.lower[joint.q] = np.maximum(arrays.lower[joint.q], ends.min(axis=0))
            arrays.upper[joint.q] = np.minimum(arrays.upper[joint.q], ends.max(axis=0))
            arrays.velocity[joint.v] = np.minimum(arrays.velocity[joint.v], np.array(limits.velocity) / abs(ratio))
    for array in arrays:
        array.setflags(write=False)
    return arrays


@once_per_model
def random_ranges(model: Model) -> tuple[tuple[np.ndarray, np.ndarray, np.ndarray], ...]:
    """Of each independent joint: which coordinates have limits, and the bounds that `random` draws between."""
    ranges = []
    for joint in model.independent_joints:
        lower, upper = np.array(joint.limits.lower), np.array(joint.limits.upper)
        bounded = np.isfinite(lower) | np.isfinite(upper)
        lower, upper = (
            np.where(np.isfinite(lower), lower, upper - 2),
            np.where(np.isfinite(upper), upper, lower + 2),
        )
        ranges.append((bounded, lower[bounded], upper[bounded]))
    return tuple(ranges)
