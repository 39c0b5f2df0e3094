"""How a lane of a simulation ends."""

from __future__ import annotations

import enum


class Status(enum.IntEnum):
    """How a lane of a simulation ended."""

    OK = 0
    NOT_CONVERGED = 1
    DIVERGED = 2
    BAD_CONTROL = 3
    BAD_INPUT = 4
    SINGULAR = 5

    @property
    def reason(self) -> str:
        """In words."""
        return REASONS[self]


REASONS = {
    Status.OK: "it went well",
    Status.NOT_CONVERGED: "a solver did not converge",
    Status.DIVERGED: "the state is no longer finite",
    Status.BAD_CONTROL: "the controller gave NaN or inf",
    Status.SINGULAR: "the mass matrix is singular",
    Status.BAD_INPUT: "q or v is not a state of this robot: NaN, inf, or a quaternion that is not unit (or a "
    "parameter is not one: a mass below 0)",
}
