"""Pushes: an outside force on a body for a while, added to what a controller asks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from featherweight.dynamics import jacobian
from featherweight.model import Model
from featherweight.scalar import where
from featherweight.simulation import Compiled, compiled


@dataclass(frozen=True, eq=False)
class Pushed:
    """A controller f(t, q, v, x, p) around another; parameters p: its own, then F (3,), begin and end of the push."""

    control: Compiled
    model: Model
    frame: str

    def __call__(self, t: Any, q: Any, v: Any, x: Any, p: Any) -> tuple[Any, Any]:
        own = self.control.parameters.shape[-1]
        tau, after = self.control(t, q, v, x, p[:own])
        if len(tau) != self.model.nv:
            expected = f"expected {self.model.nv} numbers from the controller that is pushed"
            raise ValueError(f"tau: {expected}, got {len(tau)}")
        f, begin, end = p[own : own + 3], p[own + 3], p[own + 4]
        J = jacobian(self.model, q, self.frame, "world_aligned")[:3]
        acts = (t >= begin) & (t < end)
        return np.array([a + where(acts, b, 0.0) for a, b in zip(tau, J.T @ f, strict=True)], dtype=object), after


def pushed(
    control: Compiled, model: Model, frame: str, *, force: Any, start: Any = 0.0, duration: Any = 0.2
) -> Compiled:
    """The same controller on a robot that is pushed: τ + Jᵀ F while start ≤ t < start + duration.

    The push acts as a generalised force, also on a base that nothing drives, so it is seen in `run.tau`.

    Args:
        control: what drives the robot.
        model: the robot.
        frame: name of a link, joint or contact point whose origin is pushed.
        force: F in the world's axes [N], shape (3,) or (…, 3) for a batch.
        start: [s], shape () or (…).
        duration: [s], shape () or (…).
    """
    if not isinstance(control, Compiled):
        raise TypeError(f"control: expected a compiled controller, got {type(control).__name__}; see fw.compiled")
    if not isinstance(model, Model):
        raise TypeError(f"model: expected a featherweight Model, got {type(model).__name__}")
    frame = model.frame(frame).name
    push = _row(force, start, duration)
    batch = np.broadcast_shapes(push.shape[:-1], control.parameters.shape[:-1])
    parameters = np.concatenate(
        [np.broadcast_to(a, (*batch, a.shape[-1])) for a in (control.parameters, push)], axis=-1
    )

    return compiled(Pushed(control, model, frame), state=control.state, parameters=parameters)


def _row(force: Any, start: Any, duration: Any) -> np.ndarray:
    """F, begin and end of pushes, shape (…, 5)."""
    arrays = []
    for name, value in (("force", force), ("start", start), ("duration", duration)):
        array = np.asarray(value, dtype=float)
        if not np.isfinite(array).all() or (name == "force" and array.shape[-1:] != (3,)):
            shape = "(3,) or (…, 3)" if name == "force" else "() or (…)"
            raise ValueError(f"{name}: expected finite numbers, shape {shape}, got {value!r}")
        arrays.append(array)
    push, begin, length = arrays
    if (length < 0).any():
        raise ValueError(f"duration: expected times of 0 or more [s], got {duration!r}")
    batch = np.broadcast_shapes(push.shape[:-1], begin.shape, length.shape)
    times = [np.broadcast_to(a, batch)[..., None] for a in (begin, begin + length)]
    return np.concatenate([np.broadcast_to(push, (*batch, 3)), *times], axis=-1)
