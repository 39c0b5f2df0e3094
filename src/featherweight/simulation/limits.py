"""What users are told of joints that are beyond their limits."""

from __future__ import annotations

import warnings

import numpy as np

from featherweight.contact.joint_rows import limits_of
from featherweight.model import Model

WHERE = "limits act in semi-implicit and variational steps"
MEANT = "limits=False says that this is meant"


def warn_if_beyond(model: Model, q: np.ndarray, acts: bool) -> None:
    """Of the configurations (count, nq) in which a run begins."""
    for limit in limits_of(model):
        beyond = np.flatnonzero(limit.is_beyond(q[:, limit.coordinate]))
        if len(beyond):
            others = f", and {len(beyond) - 1} more" if len(beyond) > 1 else ""
            where = f"robot {beyond[0]}{others}: " if len(q) > 1 else ""
            then = (
                "it is led back slowly"
                if acts
                else "nothing leads it back: limits act in semi-implicit and variational steps"
            )
            warnings.warn(
                f"{where}joint {limit.joint!r} begins at {q[beyond[0], limit.coordinate]:.6g}, beyond its limits from "
                f"{limit.lower:.6g} to {limit.upper:.6g}; {then}, and {MEANT}",
                stacklevel=5,
            )


def warn_if_passed(model: Model, passed: np.ndarray, dt: float) -> None:
    """Of runs in which limits did not act: rows (step, limit), -1 where none was passed."""
    lanes = np.flatnonzero(passed[:, 0] >= 0)
    if len(lanes):
        first = lanes[np.argmin(passed[lanes, 0])]
        step, limit = int(passed[first, 0]), limits_of(model)[int(passed[first, 1])]
        where = f"robot {first}, the first of {len(lanes)} of {len(passed)}: " if len(passed) > 1 else ""
        warnings.warn(
            f"{where}joint {limit.joint!r} is beyond its limits from {limit.lower:.6g} to {limit.upper:.6g} after step "
            f"{step}, t = {(step + 1) * dt:g} s: {WHERE}; {MEANT}",
            stacklevel=3,
        )
