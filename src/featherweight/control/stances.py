"""Stances of a run: when each foot was on the ground, and how far it slid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from featherweight.simulation import Trajectory


class Stance(NamedTuple):
    """A foot on the ground: its name, begin and end [s], the distance it slid [m], and its peak force [N]."""

    foot: str
    begin: float
    end: float
    slip: float
    force: float


def stances(run: Trajectory, feet: Sequence[str]) -> list[Stance]:
    """Every uninterrupted contact of the feet of one robot with the ground.

    Args:
        run: a trajectory of one robot that has every step (`record_every=1`) and its model.
        feet: names of contact points.
    """
    if run.model is None or run.contact_force.ndim != 3 or not run.contact_force.size:
        raise ValueError("run: expected a trajectory of one robot with its model, contact, and one step or more")
    names = [point.name for point in run.model.contact_points]
    dt = float(run.t[1] - run.t[0])
    found = []
    for foot in feet:
        if foot not in names:
            raise ValueError(f"feet: no contact point named {foot!r}; there are {', '.join(names)}")
        force = np.linalg.norm(run.contact_force[:, names.index(foot)], axis=-1)
        slip = run.contact_slip[:, names.index(foot)]
        changes = np.flatnonzero(np.diff(np.concatenate([[0], force > 0, [0]]).astype(int)))
        for a, b in changes.reshape(-1, 2):
            found.append(Stance(foot, a * dt, b * dt, float(slip[a:b].sum() * dt), float(force[a:b].max())))
    return found
