"""A run in a notebook: what it was, the moving robot, curves."""

from __future__ import annotations

import io
import warnings

import numpy as np

from featherweight.compiler import interpret
from featherweight.extras import needed
from featherweight.notebooks.markup import folded, png, table, text
from featherweight.notebooks.player import player
from featherweight.plot import plot
from featherweight.simulation import Status, Trajectory

PANELS = ("position", "angles", "torques", "forces")  # all but energy, which would have to be compiled
WIDTH = 760  # of the curves [pixels]
DPI = 80
MOST_SAMPLES = 3000  # that are looked at


def trajectory_html(trajectory: Trajectory) -> str:
    """One page of HTML: of a batch, the first robot. Nothing is compiled for it."""
    name = "" if trajectory.model is None else f"{trajectory.model.name}: "
    parts = [f"<div><b>{text(name)}</b>{text(repr(trajectory)[1:-1])}</div>", table(_facts(trajectory))]
    if trajectory.model is None or trajectory.status.size == 0 or not _shown(trajectory):
        return f"<div>{''.join(parts)}</div>"
    first = trajectory.lane(0, every=max(1, len(trajectory.t) // MOST_SAMPLES))
    with interpret(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parts.append(player(first)._repr_html_())
        parts.append(folded("curves", _curves(first)))
    return f"<div>{''.join(parts)}</div>"


def _shown(trajectory: Trajectory) -> bool:
    """Does the first robot have a state to be seen?"""
    return bool(np.isfinite(trajectory.q.reshape(-1, *trajectory.q.shape[-2:])[0, 0]).all())


def _facts(trajectory: Trajectory) -> list[tuple[str, str]]:
    step = float(trajectory.t[1] - trajectory.t[0]) if len(trajectory.t) > 1 else 0.0
    rows = [("simulated", f"{trajectory.t[-1] - trajectory.t[0]:g} s, {len(trajectory.t)} states, {step:g} s apart")]
    failed = np.asarray(trajectory.status).reshape(-1)
    names = {Status(int(code)).name: int((failed == code).sum()) for code in np.unique(failed) if code}
    if names:
        rows.append(("failed", ", ".join(f"{count} {name}" for name, count in names.items())))
    elif trajectory.status.ndim == 0:
        rows.append(("status", "OK"))
    if not trajectory.complete:
        rows.append(("interrupted", "it ends before its time"))
    return rows


def _curves(trajectory: Trajectory) -> str:
    """As a picture, by matplotlib if it is there."""
    try:
        needed("matplotlib", "plot", "curves need")
    except ModuleNotFoundError as error:
        return f"<i>{text(error)}</i>"
    figure = plot(trajectory, panels=PANELS)
    data = io.BytesIO()
    figure.savefig(data, format="png", dpi=DPI)
    return png(data.getvalue(), WIDTH, "curves")
