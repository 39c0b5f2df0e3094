"""Curves of a trajectory, on matplotlib or as a page whose plots can be zoomed."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from featherweight.endings import PAGE, check_ending
from featherweight.extras import needed
from featherweight.plot.layout import save
from featherweight.plot.zoomable import page_of
from featherweight.simulation import Trajectory
from featherweight.texts import printable
from featherweight.visuals.panels import MOST_NAMES, Lane, Panel, most_moving, panels_of

LONGEST = 26  # letters of a name in a legend
GREY = "#c9ced6"  # of curves without a name
TICKS = 6  # at most, of an axis whose numbers may be long, like -0.015
MORE_COLORS = ("#393b79", "#637939")  # after matplotlib's ten: no two curves with a name share one
FAILED = "#b42318"  # colour of the text about a failure
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


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
        panels: some of "position", "angles", "rates", "torques", "forces", "slip", "energy", "energy error", "phase";
            all that have something to show, but for rates, if not given.
        lane: which robot of a batch.
        path: also write it there; the ending chooses the format: .png, .svg, .pdf and others that matplotlib knows, or
            .html for a page whose curves can be zoomed and switched on and off, without a network.
        window: open a window and wait until it is closed.
    """
    if not isinstance(trajectory, Trajectory):
        raise TypeError(f"trajectory: expected a Trajectory, got {type(trajectory).__name__}")
    own = Lane(trajectory, lane)
    shown = panels_of(own, panels)
    figure: Any = needed("matplotlib.figure", "plot", "plots need").Figure(layout="constrained")
    if path is not None:
        check_ending("path", path, [*(f".{kind}" for kind in figure.canvas.get_supported_filetypes()), *PAGE[1:]])
    if window:
        figure = needed("matplotlib.pyplot", "plot", "plots need").figure(layout="constrained")
    columns = min(2, len(shown))
    rows = -(-len(shown) // columns)
    figure.set_size_inches(6.4 * columns, 2.9 * rows)
    for k, panel in enumerate(shown):
        axes = figure.add_subplot(rows, columns, k + 1)
        axes.grid(alpha=0.3)
        _draw(axes, panel, own)
    if own.failure:
        first = figure.axes[0]
        first.text(0.01, 0.03, own.failure, fontsize=8, color=FAILED, transform=first.transAxes)
    if path is not None and Path(path).suffix.lower() in PAGE[1:]:
        Path(path).write_text(page_of(own.model.name, own, panels), encoding="utf-8")
    elif path is not None:
        save(figure, path, dpi=110)
    if window:
        needed("matplotlib.pyplot", "plot", "plots need").show()
    figure._repr_png_ = partial(_png, figure)  # notebooks show it
    return figure


def _png(figure: Any) -> bytes:
    """A picture for the cell of a notebook."""
    data = io.BytesIO()
    figure.savefig(data, format="png", dpi=90)
    return data.getvalue()


def _draw(axes: Any, panel: Panel, own: Lane) -> None:
    """Curves, those with a name above the others; the legend beside them."""
    named = most_moving(panel, MOST_NAMES)
    others = [curve for k, curve in enumerate(panel.curves) if k not in named]
    for curve in others:
        axes.plot(curve.x, curve.y, linewidth=0.7, color=GREY, zorder=1.5)
    colors = [*(f"C{k}" for k in range(MOST_NAMES - len(MORE_COLORS))), *MORE_COLORS]
    curves = [(panel.curves[k], color) for k, color in zip(named, colors, strict=False)]
    lines = [axes.plot(curve.x, curve.y, linewidth=1.1, color=color)[0] for curve, color in curves]
    axes.set_title(panel.title, fontsize=10, loc="left")
    if panel.x_title:
        axes.set_xlabel(panel.x_title)
    if panel.x_title.startswith("t"):
        axes.set_xlim(float(own.t[0]), float(own.t[-1]) if len(own.t) > 1 else 1.0)
    else:
        axes.locator_params(axis="x", nbins=TICKS)
    _scale(axes, panel)
    if lines:
        names = [panel.curves[k].name for k in named]
        more = [f"and {len(others)} more"] if others else []
        _legend(axes, [*lines, *axes.lines[: len(more)]], names, more)


def _scale(axes: Any, panel: Panel) -> None:
    if panel.scale == "symlog":
        axes.set_yscale("symlog", linthresh=panel.linear_below)
        axes.autoscale(axis="y")  # again: margins are those of the linear axis until now
        low, high = axes.get_ylim()
        powers = [10.0**k for k in range(-30, 31) if 10.0**k >= 0.2 * panel.linear_below]
        axes.set_yticks([y for y in (0.0, *powers, *(-y for y in powers)) if low <= y <= high])
        _plain_powers(axes)
    elif panel.scale == "log":
        axes.set_yscale("log")
        low, high = axes.get_ylim()
        if high > 1e4 * low:  # with fewer powers of ten the numbers between them are marked and named
            _plain_powers(axes)


def _legend(axes: Any, lines: Sequence[Any], names: Sequence[str], more: Sequence[str]) -> None:
    """Right of the curves; long names without their middle."""
    texts = [*(shortened(printable(name)) for name in names), *more]
    place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0.0}
    legend = axes.legend(
        lines, ["?"] * len(texts), fontsize=8, frameon=False, handlelength=1.2, labelspacing=0.35, **place
    )
    for text, name in zip(legend.get_texts(), texts, strict=True):  # literal: no mathtext, no hiding of names with "_"
        text.set(parse_math=False, text=name)


def shortened(name: str) -> str:
    """At most LONGEST letters: beginning and end."""
    if len(name) <= LONGEST:
        return name
    end = LONGEST // 2
    return f"{name[: LONGEST - end - 1]}…{name[-end:]}"


def _plain_powers(axes: Any) -> None:
    """Tick labels as plain text and no minor ticks: mathtext and ticks take longer to draw than the curves."""
    axes.minorticks_off()
    axes.yaxis.set_major_formatter(_power)


def _power(value: float, _: int | None = None) -> str:
    """10⁻³ for 0.001."""
    sign = "−" if value < 0 else ""
    return f"{sign}10{f'{np.log10(abs(value)):.0f}'.translate(RAISED)}" if value else "0"
