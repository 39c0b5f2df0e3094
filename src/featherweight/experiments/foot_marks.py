"""Marks of feet: how far they slide in each stance, magnified, and where their forces point from step to step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from featherweight.dynamics import forward_kinematics
from featherweight.dynamics.contact_places import contact_places
from featherweight.simulation import Trajectory
from featherweight.visuals import Segments

SWING = 0.05  # [s]: a foot off the ground for longer lands again
ABOVE = 0.002  # [m]: marks on the ground are drawn so high
CROSS = 0.02  # [m]: half of a cross where a foot lands
TRAIL, PLACE, PALE = (0.55, 0.0, 0.62), (0.35, 0.37, 0.4), (0.96, 0.66, 0.62)


def landings(presses: np.ndarray, dt: float) -> np.ndarray:
    """The steps at which a foot comes to the ground, (n,), from which of them it presses on (steps,); hops are left
    out."""
    steps = np.flatnonzero(presses)
    return steps[np.diff(steps, prepend=-np.inf) * dt > SWING]


def slides(run: Trajectory, feet: Sequence[str], *, magnified: float = 1.0) -> list[Segments]:
    """Crosses where feet land, and the ways that they slide from there, so many times as long as they are. Both stay
    until the foot lands again."""
    places, force = _feet(run, feet)
    trail: list[tuple[np.ndarray, float, float]] = []
    cross: list[tuple[np.ndarray, float, float]] = []
    for place, presses in zip(np.swapaxes(places, 0, 1), (np.linalg.norm(force, axis=-1) > 0).T, strict=True):
        starts = landings(presses, float(run.t[1] - run.t[0]))
        for start, after in zip(starts, [*starts[1:], len(presses)], strict=True):
            until = float(run.t[after]) if after < len(presses) else np.inf
            way = place[start] + magnified * (place[start : after + 1] - place[start])
            way[:, 2] = ABOVE
            firm = np.flatnonzero(presses[start:after])
            trail += [(way[k : k + 2], float(run.t[start + k]), until) for k in firm]
            for reach in ((CROSS, 0.0, 0.0), (0.0, CROSS, 0.0)):
                cross.append((np.array([way[0] - reach, way[0] + reach]), float(run.t[start]), until))
    return [_segments(cross, PLACE, 0.003), _segments(trail, TRAIL, 0.006)]


def fan(run: Trajectory, feet: Sequence[str], *, metres: float, seconds: float) -> Segments:
    """Forces of the last `seconds`, a line for each step; a newton is so many metres long."""
    places, force = _feet(run, feet)
    step, foot = np.nonzero(np.linalg.norm(force, axis=-1) > 0)
    tails = places[step, foot]
    ends = np.stack([tails, tails + metres * force[step, foot]], axis=1)
    return Segments(ends, run.t[step], run.t[step] + seconds, PALE, 0.003)


def _feet(run: Trajectory, feet: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Where they are (steps + 1, feet, 3), and their forces (steps, feet, 3)."""
    model = run.model
    if model is None:
        raise ValueError("run: expected a trajectory with its model")
    names = [point.name for point in model.contact_points]
    chosen = [names.index(foot) for foot in feet]
    return contact_places(model, forward_kinematics(model, run.q))[:, chosen], run.contact_force[:, chosen]


def _segments(
    lines: list[tuple[np.ndarray, float, float]], color: tuple[float, float, float], width: float
) -> Segments:
    ordered = sorted(lines, key=lambda line: line[1])
    ends = np.array([line[0] for line in ordered]).reshape(-1, 2, 3)
    return Segments(ends, np.array([x[1] for x in ordered]), np.array([x[2] for x in ordered]), color, width)
