"""Controllers by name, for a command line."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from featherweight.control.balance import balance
from featherweight.control.joint_pd import joint_pd
from featherweight.control.trot import stand, trot
from featherweight.errors import no_such
from featherweight.model import Model
from featherweight.simulation import Compiled

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

CONTROLLERS: dict[str, Callable[..., Compiled]] = {"balance": balance, "pd": joint_pd, "stand": stand, "trot": trot}


def named(name: str, model: Model, q: ArrayLike, **options: Any) -> Compiled:
    """The controller with this name ("balance", "pd", "stand", "trot") for a robot that begins at q.

    Args:
        name: of the controller.
        model: the robot.
        q: where it begins, shape (…, nq).
        **options: those of the controller.
    """
    if name not in CONTROLLERS:
        raise no_such("controller", name, CONTROLLERS)
    return CONTROLLERS[name](model, q, **options)
