"""Curves of a trajectory: angles, torques, contact forces, slip, energies, phase portraits. On matplotlib."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from featherweight.endings import check_ending
from featherweight.extras import needed
from featherweight.model import Model
from featherweight.plot.layout import save
from featherweight.simulation import Trajectory
from featherweight.texts import printable
from featherweight.visuals import good_part

MOST_SAMPLES = 3000  # of a curve that are drawn
MOST_NAMES = 12  # in a legend
LONGEST_BESIDE = 32  # letters of a name, in a legend of two columns
FAILED = "#b42318"  # colour of the text about a failure
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
PANELS: dict[str, Callable[[Any, Lane], bool]] = {}


class Lane:
    """One robot of a trajectory, downsampled to at most MOST_SAMPLES."""

    def __init__(self, trajectory: Trajectory, lane: int) -> None:
        if trajectory.model is None:
            raise ValueError("trajectory: its file has no model; Trajectory.load(path, model=…)")
        self.model: Model = trajectory.model
        shown, failure = good_part(trajectory, lane)
        self.failure = "" if failure is None else failure.text
        self.run = one = shown.lane(0, every=max(1, len(shown.t) // MOST_SAMPLES))
        self.t, self.q, self.v, self.tau, self.force = one.t, one.q, one.v, one.tau, one.contact_force
        self.slip = one.contact_slip if one.contact_slip.size else np.zeros((len(self.tau), 0))

    @property
    def starts(self) -> np.ndarray:
        """Times at which the intervals with forces begin [s]."""
        return self.t[: len(self.tau)]


def plot(
    trajectory: Trajectory,
    *,
    panels: Sequence[str] | None = None,
    lane: int = 0,
    path: str | os.PathLike[str] | None = None,
    window: bool = False,
) -> Any:
    """Curves over time as a matplotlib figure.

    Args:
        trajectory: what to show.
        panels: some of "position", "angles", "rates", "torques", "forces", "slip", "energy", "phase"; all that have
            something to show, but for rates, if not given.
        lane: which robot of a batch.
        path: also write it there; the ending chooses the format: .png, .svg, .pdf and others that matplotlib knows.
        window: open a window and wait until it is closed.
    """
    if not isinstance(trajectory, Trajectory):
        raise TypeError(f"trajectory: expected a Trajectory, got {type(trajectory).__name__}")
    wanted = [name for name in PANELS if name != "rates"] if panels is None else list(panels)
    unknown = [panels] if isinstance(panels, str) else [name for name in wanted if name not in PANELS]
    if unknown or not wanted:
        got = unknown[0] if unknown else panels
        raise ValueError(f"panels: expected some of {', '.join(map(repr, PANELS))}, in a list, got {got!r}")
    own = Lane(trajectory, lane)
    needed("matplotlib", "plot", "plots need")
    figure: Any = needed("matplotlib.figure", "plot", "plots need").Figure(layout="constrained")
    if path is not None:
        check_ending("path", path, [f".{kind}" for kind in figure.canvas.get_supported_filetypes()])
    if window:
        figure = needed("matplotlib.pyplot", "plot", "plots need").figure(layout="constrained")
    shown = [name for name in wanted if PANELS[name](None, own)] or wanted[:1]
    columns = min(2, len(shown))
    rows = -(-len(shown) // columns)
    figure.set_size_inches(6.0 * columns, 2.9 * rows)
    for k, name in enumerate(shown):
        axes = figure.add_subplot(rows, columns, k + 1)
        axes.grid(alpha=0.3)
        if PANELS[name](axes, own) and name != "phase":
            axes.set_xlabel("t [s]")
            axes.set_xlim(float(own.t[0]), float(own.t[-1]) if len(own.t) > 1 else 1.0)
    if own.failure:
        first = figure.axes[0]
        first.text(0.01, 0.03, own.failure, fontsize=8, color=FAILED, transform=first.transAxes)
    if path is not None:
        save(figure, path, dpi=110)
    if window:
        needed("matplotlib.pyplot", "plot", "plots need").show()
    return figure


def _panel(name: str) -> Callable[[Any], Any]:
    """Register a panel: a function (axes, lane) that draws it and returns whether it has data; axes=None only asks."""

    def keep(function: Any) -> Any:
        PANELS[name] = function
        return function

    return keep


def _lines(axes: Any, title: str, t: np.ndarray, values: np.ndarray, names: Sequence[str]) -> bool:
    if axes is not None and len(names):
        lines = axes.plot(t, values, linewidth=1.1)
        axes.set_title(title, fontsize=10, loc="left")
        _legend(axes, lines, names, "upper right")
    return bool(len(names))


def _legend(axes: Any, lines: Sequence[Any], names: Sequence[str], place: str) -> None:
    """The first names, in two columns if they are many and short enough to stand beside each other."""
    some = [printable(name) for name in names[:MOST_NAMES]]
    columns = 2 if len(some) > 6 and max(map(len, some)) <= LONGEST_BESIDE else 1
    legend = axes.legend(lines[: len(some)], ["?"] * len(some), fontsize=7, ncols=columns, loc=place)
    for text, name in zip(legend.get_texts(), some, strict=True):  # literal: no mathtext, no hiding of names with "_"
        text.set(parse_math=False, text=name)


def _plain_powers(axes: Any) -> None:
    """Tick labels as plain text and no minor ticks: mathtext and ticks take longer to draw than the curves."""
    axes.minorticks_off()
    axes.yaxis.set_major_formatter(_power)


def _power(value: float, _: int | None = None) -> str:
    """10⁻³ for 0.001."""
    sign = "−" if value < 0 else ""
    return f"{sign}10{f'{np.log10(abs(value)):.0f}'.translate(RAISED)}" if value else "0"


def _coordinates(model: Model, *, scalar: bool) -> tuple[list[int], list[str]]:
    """Indices in q and names: all of joints without orientation (`scalar`), or the positions of those with one."""
    places, names = [], []
    for joint in model.independent_joints:
        orientation = joint.kind.orientation
        if (orientation is None) != scalar:
            continue
        own = range(joint.kind.nq) if orientation is None else range(orientation.start)
        places += [joint.q.start + k for k in own]
        labels = range(joint.kind.nq) if orientation is None else "xyz"
        names += (
            [joint.name] if joint.kind.nq == 1 else [f"{joint.name} {x}" for _, x in zip(own, labels, strict=False)]
        )
    return places, names


def _degrees(model: Model, *, scalar: bool) -> tuple[list[int], list[str]]:
    """Indices in v and names of the same joints."""
    places, names = [], []
    for joint in model.independent_joints:
        if (joint.kind.orientation is None) == scalar:
            places += list(range(joint.v.start, joint.v.stop))
            n = joint.kind.nv
            names += [joint.name] if n == 1 else [f"{joint.name} {k}" for k in range(n)]
    return places, names


@_panel("position")
def _position(axes: Any, own: Lane) -> bool:
    places, names = _coordinates(own.model, scalar=False)
    return _lines(axes, "position of the base [m]", own.t, own.q[:, places], names)


@_panel("angles")
def _angles(axes: Any, own: Lane) -> bool:
    places, names = _coordinates(own.model, scalar=True)
    return _lines(axes, "joints [rad or m]", own.t, own.q[:, places], names)


@_panel("rates")
def _rates(axes: Any, own: Lane) -> bool:
    places, names = _degrees(own.model, scalar=True)
    return _lines(axes, "rates of the joints [rad/s or m/s]", own.t, own.v[:, places], names)


@_panel("torques")
def _torques(axes: Any, own: Lane) -> bool:
    places, names = _degrees(own.model, scalar=True)
    if not np.nan_to_num(own.tau[:, places]).any():
        return False
    return _lines(axes, "joint forces [N m or N]", own.starts, own.tau[:, places], names)


@_panel("forces")
def _forces(axes: Any, own: Lane) -> bool:
    size = np.linalg.norm(own.force, axis=-1)
    touched = [k for k in range(size.shape[1]) if np.nanmax(size[:, k], initial=0.0) > 0]
    names = [own.model.contact_points[k].name for k in touched]
    shown = _lines(axes, "contact forces [N]", own.starts, size[:, touched], names)
    weight = own.model.weight
    if axes is not None and shown and np.nanmax(size) > 10 * weight > 0:  # an impact would flatten the rest
        axes.set_yscale("symlog", linthresh=weight)
        _plain_powers(axes)
    return shown


@_panel("slip")
def _slip(axes: Any, own: Lane) -> bool:
    touched = [k for k in range(own.slip.shape[1]) if np.linalg.norm(np.nan_to_num(own.force[:, k]), axis=-1).any()]
    names = [own.model.contact_points[k].name for k in touched]
    pressed = np.linalg.norm(own.force, axis=-1) > 0 if touched else np.zeros(own.slip.shape, dtype=bool)
    slip = np.where(pressed, own.slip, np.nan)[:, touched]
    shown = _lines(axes, "slip of points that press [m/s]", own.starts, np.maximum(slip, 1e-12), names)
    if axes is not None and shown:
        axes.set_yscale("log")
        low, high = axes.get_ylim()
        if high > 1e4 * low:  # with fewer powers of ten the numbers between them are marked and named
            _plain_powers(axes)
    return shown


@_panel("energy")
def _energy(axes: Any, own: Lane) -> bool:
    if axes is None:
        return True
    kinetic, potential = own.run.energies()
    values = np.stack([kinetic, potential - potential[0], kinetic + potential - potential[0]], axis=1)
    return _lines(axes, "energy [J], potential from the start", own.t, values, ["kinetic", "potential", "sum"])


@_panel("phase")
def _phase(axes: Any, own: Lane) -> bool:
    places, names = _coordinates(own.model, scalar=True)
    degrees, _ = _degrees(own.model, scalar=True)
    if axes is not None and names:
        lines = [axes.plot(own.q[:, i], own.v[:, k], linewidth=0.9)[0] for i, k in zip(places, degrees, strict=True)]
        axes.set_title("phase portraits: rate [rad/s or m/s] over joint [rad or m]", fontsize=10, loc="left")
        _legend(axes, lines, names, "best")
    return bool(names)
