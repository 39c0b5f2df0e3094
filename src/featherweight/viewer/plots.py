"""Curves beside the robot: panels of `run.plot` on viser's page, which follow the clock of a replay or grow live."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from featherweight.simulation import Trajectory
from featherweight.visuals.panels import PANELS, Curve, Lane, Panel, most_moving

NAMES = ("position", "angles", "rates", "torques", "forces", "energy")  # panels over time with a linear axis
MOST_CURVES, MOST_SAMPLES = 6, 250  # of a panel
COLORS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b")
NOW = "#888888"
WIDTH, HEIGHT = 300, 170  # pixels
OFF = "none"
PADDING = (10, 14, 0, 0)  # pixels: top, right, bottom, left
AXES: tuple[dict[str, int], ...] = ({}, {"size": 52})  # pixels for the numbers at the left
Source = Callable[[], Sequence[tuple[str, Trajectory]]]


class Plots:
    """Two panels of a window at the left, chosen by name. `source` has the runs to be drawn, with their labels."""

    def __init__(self, server: Any, source: Source, first: Sequence[str], *, now: bool, shown: bool = True) -> None:
        self._server, self._source, self._with_now, self._shown = server, source, now, shown
        self._t: float | None = None
        self._window = window = server.gui.add_panel(visible=shown)
        with window.add_tab("plots"):
            self._panels = [_UPlot(server, name, now) for name in [*first, OFF, OFF][:2]]
        window.dock_left()
        window.set_width(WIDTH)
        for panel in self._panels:
            panel.choice.on_update(lambda _, panel=panel: self._chosen(panel))
        self.draw(0.0)

    def show(self, wanted: bool) -> None:
        """The window, or not."""
        self._window.visible = self._shown = wanted
        self.draw(self._t)

    def _chosen(self, panel: _UPlot) -> None:
        panel.forget()
        self.draw(self._t)

    def draw(self, t: float | None) -> None:
        """Draw the runs as they are; a line marks the time t [s]."""
        self._t = t
        if not self._shown or all(panel.choice.value == OFF for panel in self._panels):
            return
        runs = self._source()
        for panel in self._panels:
            panel.draw(runs, t if self._with_now else None)


class _UPlot:
    """One plot, and the name of what it shows."""

    def __init__(self, server: Any, name: str, marked: bool) -> None:
        gui, self._server, self._marked = server.gui, server, marked
        self.choice = gui.add_dropdown("plot", options=(*NAMES, OFF), initial_value=name)
        empty = np.zeros(1)
        self._plot = gui.add_uplot(
            (empty, empty),
            ({}, {"label": " "}),
            scales=_scales(empty, ()),
            height=HEIGHT,
            axes=AXES,
            padding=PADDING,
            visible=False,
            legend={"live": False},
            cursor={"show": False},
        )
        self._title, self._chosen, self._curves = "", [], []  # type: ignore[var-annotated]
        self._drawn: Any = None

    def forget(self) -> None:
        """Another panel is wanted."""
        self._chosen, self._drawn = [], None

    def draw(self, runs: Sequence[tuple[str, Trajectory]], now: float | None) -> None:
        """Curves of all runs on one axis of time."""
        name = self.choice.value
        if name == OFF:
            if self._plot.visible:
                self._plot.visible = False
            return
        if now is None or self._drawn is not runs:  # live, or for the first time
            self._title, self._curves = _curves(name, runs)
            self._drawn = runs
        if not self._curves:  # nothing has happened yet: what was drawn is over
            if self._plot.visible:
                self._plot.visible = False
            return
        names = [curve.name for curve in self._curves]
        if not self._chosen or not set(self._chosen) <= set(names):
            self._choose(len(runs))
        shown = [next(c for c in self._curves if c.name == wanted) for wanted in self._chosen]
        with self._server.atomic():
            self._plot.data = _data(shown, now)
            self._plot.scales = _scales(self._plot.data[0], shown)
            if not self._plot.visible:
                self._plot.visible = True

    def _choose(self, runs: int) -> None:
        """Those that move most, if there are many; as many of each run, and the same."""
        each = len(self._curves) // runs
        own = most_moving(Panel("", self._curves[:each]), max(1, MOST_CURVES // runs))
        several = range(0, each * runs, each) if len(self._curves) == each * runs else [0]
        self._chosen = [self._curves[start + k].name for start in several for k in own][:MOST_CURVES]
        styles = [{"label": name, "stroke": COLORS[k], "width": 1.5} for k, name in enumerate(self._chosen)]
        marks = ({"label": "now", "stroke": NOW, "width": 1},) if self._marked else ()
        self._plot.series = ({"label": "t [s]"}, *styles, *marks)
        self._plot.title = self._title


def _curves(name: str, runs: Sequence[tuple[str, Trajectory]]) -> tuple[str, list[Curve]]:
    """Of one panel of all runs, each under its label."""
    title, found = "", []
    for label, run in runs:
        panel = PANELS[name](Lane(run, 0, MOST_SAMPLES))
        if panel is not None:
            title = panel.title
            found += [Curve(f"{label}: {one.name}" if label else one.name, one.x, one.y) for one in panel.curves]
    return title, found


def _data(curves: Sequence[Curve], now: float | None) -> tuple[np.ndarray, ...]:
    """One axis of time (n,), a row for each curve, and last a line at `now`, NaN elsewhere."""
    t = np.unique(np.concatenate([curve.x for curve in curves]))
    if now is not None:
        at = int(np.searchsorted(t, now))
        t = np.concatenate([t[:at], [now, now], t[at:]])
    rows = [np.interp(t, curve.x, curve.y, left=np.nan, right=np.nan) for curve in curves]
    if now is None:
        return (t, *rows)
    line = np.full(len(t), np.nan)
    line[at : at + 2] = _range(curves)
    return (t, *rows, line)


def _scales(t: np.ndarray, curves: Sequence[Curve]) -> dict[str, Any]:
    """Ranges of both axes: NaN would leave uPlot without one."""
    end = float(t[-1]) if t[-1] > t[0] else float(t[0]) + 1e-3
    return {
        "x": {"time": False, "auto": False, "range": (float(t[0]), end)},
        "y": {"auto": False, "range": _range(curves)},
    }


def _range(curves: Sequence[Curve]) -> tuple[float, float]:
    """From below the least to above the largest value."""
    finite = [curve.y[np.isfinite(curve.y)] for curve in curves]
    every = np.concatenate([np.zeros(0), *finite])
    if not every.size:
        return -1.0, 1.0
    low, high = float(every.min()), float(every.max())
    margin = max(0.06 * (high - low), 1e-3 * max(abs(low), abs(high)), 1e-6)
    return low - margin, high + margin
