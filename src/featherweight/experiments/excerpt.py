"""A part of a trajectory, from one time to another."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from featherweight.simulation import Trajectory


def excerpt(run: Trajectory, begin: float, end: float) -> Trajectory:
    """The states of a run from one time to another [s], and the intervals between them."""
    first, last = np.searchsorted(run.t, (begin - 1e-9, end + 1e-9))
    states, intervals = slice(first, last), slice(first, last - 1)
    arrays = {name: getattr(run, name)[states] for name in ("t", "q", "v")}
    names = ("tau", "contact_force", "contact_slip", "penetration", "solver", "convergence", "pair_force", "slots",
             "missed")  # fmt: skip
    arrays |= {name: getattr(run, name)[intervals] for name in names if getattr(run, name).size}
    return replace(run, **arrays, x=np.zeros((0, 0)), outputs={})
