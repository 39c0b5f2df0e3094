"""Pushes: an outside force on a body for a while, added to what a controller asks for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from featherweight.control.checks import finite
from featherweight.control.layout import Number, RowLayout, shaped
from featherweight.dynamics import jacobian
from featherweight.dynamics.kinematics import frame_named
from featherweight.model import Model
from featherweight.scalar import where
from featherweight.simulation import Compiled, compiled

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True)
class PushParameters:
    """Parameters p of `pushed`: those of the controller inside, the force F, begin and end of the push [s]."""

    inside: np.ndarray = shaped("inside")
    force: np.ndarray = shaped(3)
    begin: Number = 0.0
    end: Number = 0.0


@dataclass(frozen=True, eq=False)
class PushedController:
    """A controller f(t, q, v, x, p) around the function of another."""

    function: Callable[..., Any]
    size: int  # of its parameters
    model: Model
    frame: str

    @property
    def layout(self) -> RowLayout[PushParameters]:
        """Of p."""
        return RowLayout(PushParameters, {"inside": self.size})

    def __call__(self, t: Any, q: Any, v: Any, x: Any, p: Any) -> tuple[Any, Any]:
        own = self.layout.read(p)
        tau, after, _ = compiled(self.function)(t, q, v, x, own.inside)
        if len(tau) != self.model.nv:
            expected = f"expected {self.model.nv} numbers from the controller that is pushed"
            raise ValueError(f"tau: {expected}, got {len(tau)}")
        J = jacobian(self.model, q, self.frame, "world_aligned")[:3]
        acts = (t >= own.begin) & (t < own.end)
        push = J.T @ own.force
        return np.array([a + where(acts, b, 0.0) for a, b in zip(tau, push, strict=True)], dtype=object), after


def pushed(
    control: Compiled, model: Model, frame: str, *, force: ArrayLike, start: ArrayLike = 0.0, duration: ArrayLike = 0.2
) -> Compiled:
    """The same controller on a robot that is pushed: τ + Jᵀ F while start ≤ t < start + duration.

    The push acts as a generalised force, also on a base that nothing drives, so it is seen in `run.tau`. Force and
    times are parameters: other ones compile nothing. The controller's function, the model and the frame are structure.

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
    frame = frame_named(model, frame)
    size = control.parameters.shape[-1]
    function = PushedController(control.function, size, model, frame)
    begin, length = (_times(name, value) for name, value in (("start", start), ("duration", duration)))
    if (length < 0).any():
        raise ValueError(f"duration: expected times of 0 or more [s], got {duration!r}")
    push = PushParameters(control.parameters, finite("force", force, 3), begin, begin + length)
    return compiled(function, state=control.state, parameters=function.layout.pack(push))


def _times(name: str, value: Any) -> np.ndarray:
    array = np.asarray(value, dtype=float)
    if not np.isfinite(array).all():
        raise ValueError(f"{name}: expected finite numbers, shape () or (…), got {value!r}")
    return array
