"""What users are told of joints that are beyond their limits."""

from __future__ import annotations

import warnings

import numpy as np

from featherweight.constraints.joint_limit import BEYOND, limits_of, without_limits
from featherweight.model import Model
from featherweight.model.cache import once_per_model

FEW = 3  # joints that are named
ALLOW = "to allow it, pass limits=False (--no-limits)"
WHERE = "limits act in all steps but those of Runge-Kutta methods"


def begins_beyond(model: Model, q: np.ndarray) -> np.ndarray:
    """Which of the configurations (count, nq) are beyond which limit, (count, limits)."""
    columns = [limit.is_beyond(q[:, limit.coordinate]) for limit in limits_of(model)]
    return np.stack(columns, axis=1) if columns else np.zeros((len(q), 0), dtype=bool)


@once_per_model
def _ends(model: Model) -> list[tuple[int, float, float]]:
    """Coordinates, and how far each may be without a word."""
    return [(x.coordinate, x.lower - BEYOND, x.upper + BEYOND) for x in limits_of(model)]


def within(model: Model, q: np.ndarray) -> bool:
    """Whether no configuration of (count, nq) is beyond a limit or NaN there: `begins_beyond`, in less time."""
    if len(q) > FEW:
        return all(bool(((low <= q[:, k]) & (q[:, k] <= high)).all()) for k, low, high in _ends(model))
    for row in q.tolist():
        for k, low, high in _ends(model):
            if not low <= row[k] <= high:
                return False
    return True


def warn_if_beyond(model: Model, q: np.ndarray, speed: float | None) -> None:
    """Of the configurations (count, nq) in which a run begins, and of limits that cannot act. `speed`: most with which
    joints are led back; None: they are not."""
    found = begins_beyond(model, q)
    limits = limits_of(model)
    if found.any():
        lane = int(np.argmax(found.any(axis=1)))
        joints = [limits[k] for k in np.flatnonzero(found.any(axis=0))]
        texts = [f"{x.joint!r} ({x.lower:.6g} to {x.upper:.6g})" for x in joints[:FEW]]
        texts += [f"{len(joints) - FEW} more"] if len(joints) > FEW else []
        first = limits[int(np.argmax(found[lane]))]
        lanes = f" in {int(found.any(axis=1).sum())} of {len(q)} robots, first in robot {lane}" if len(q) > 1 else ""
        then = f"nothing leads them back: {WHERE}" if speed is None else f"they are led back at up to {speed:g} rad/s"
        warnings.warn(
            f"joints begin beyond their limits{lanes}: {', '.join(texts)}; {first.joint!r} is at "
            f"{q[lane, first.coordinate]:.6g}. {then[0].upper()}{then[1:]}; {ALLOW}",
            stacklevel=5,
        )
    ignored = without_limits(model)
    if ignored:
        names = ", ".join(map(repr, ignored[:FEW])) + (" …" if len(ignored) > FEW else "")
        warnings.warn(
            f"limits of {names} do not act: only those of joints with one coordinate do; {ALLOW}", stacklevel=5
        )


def warn_if_passed(model: Model, q: np.ndarray, passed: np.ndarray, dt: float) -> None:
    """Of runs in which limits did not act, and that began within them at q (count, nq): rows (step, limit), -1 where
    none was passed."""
    lanes = np.flatnonzero((passed[:, 0] >= 0) & ~begins_beyond(model, q).any(axis=1))
    if len(lanes):
        first = lanes[np.argmin(passed[lanes, 0])]
        step, limit = int(passed[first, 0]), limits_of(model)[int(passed[first, 1])]
        where = f"robot {first}, the first of {len(lanes)} of {len(passed)}: " if len(passed) > 1 else ""
        warnings.warn(
            f"{where}joint {limit.joint!r} is beyond its limits from {limit.lower:.6g} to {limit.upper:.6g} after step "
            f"{step}, t = {(step + 1) * dt:g} s: {WHERE}; {ALLOW}",
            stacklevel=5,
        )
