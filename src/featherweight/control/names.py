"""Controllers by name, for a command line."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any

from featherweight.control.balance import balance
from featherweight.control.joint_pd import joint_pd
from featherweight.control.trot import stand, trot
from featherweight.model import Model
from featherweight.simulation import Compiled

CONTROLLERS: dict[str, Callable[..., Compiled]] = {"balance": balance, "pd": joint_pd, "stand": stand, "trot": trot}


def named(name: str, model: Model, q: Any, **options: Any) -> Compiled:
    """The controller with this name ("balance", "pd", "stand", "trot") for a robot that begins at q.

    Args:
        name: of the controller.
        model: the robot.
        q: where it begins, shape (…, nq).
        **options: those of the controller.
    """
    if name not in CONTROLLERS:
        near = difflib.get_close_matches(str(name), CONTROLLERS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(CONTROLLERS)}"
        raise ValueError(f"no controller named {name!r}; {hint}")
    return CONTROLLERS[name](model, q, **options)
