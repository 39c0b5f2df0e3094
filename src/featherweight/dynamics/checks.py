"""Checks of arguments that public functions share."""

from __future__ import annotations

from typing import Any

from featherweight import algorithms
from featherweight.model import Model


def checked_model(model: Any) -> Model:
    """The model; TypeError if it is something else."""
    if not isinstance(model, Model):
        raise TypeError(f"model: expected a featherweight Model, got {type(model).__name__}")
    return model


def coordinates(in_: Any) -> str:
    """The name of coordinates, checked."""
    if in_ not in algorithms.FRAMES:
        raise ValueError(f"in_: expected one of {', '.join(map(repr, algorithms.FRAMES))}, got {in_!r}")
    return in_
