"""One trajectory or several to be shown side by side, and what is written above each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from featherweight.model import Model
from featherweight.simulation import Trajectory


def several(trajectory: Any, labels: Any = ()) -> tuple[list[Trajectory], Sequence[str]]:
    """A list of them, and the labels; TypeError or ValueError for something else."""
    found = [trajectory] if isinstance(trajectory, Trajectory) or not isinstance(trajectory, Iterable) else trajectory
    found = list(found)
    if not found:
        raise ValueError("trajectory: expected one or more, got none")
    for one in found:
        if not isinstance(one, Trajectory):
            fix = "; fw.viewer.show and fw.plot.still show a model" if isinstance(one, Model) else ""
            raise TypeError(f"trajectory: expected a Trajectory or several, got {type(one).__name__}{fix}")
    if isinstance(labels, str) or (len(labels) and len(labels) != len(found)):
        raise ValueError(f"labels: expected a list with one for each trajectory, {len(found)}, got {labels!r}")
    return found, labels
