"""Pictures of a sweep, on matplotlib: an outcome over two parameters, quantiles over time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from featherweight.endings import check_ending
from featherweight.extras import needed

if TYPE_CHECKING:
    from featherweight.campaigns.result import Sweep

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def values_of(sweep: Sweep, what: Any, argument: str) -> tuple[np.ndarray, str]:
    """Numbers (lanes, …) and a label: of an array's name, of (name, index) for a column of it, or as they are."""
    if isinstance(what, str):
        return sweep[what], what
    if isinstance(what, tuple) and len(what) == 2 and isinstance(what[0], str):
        return sweep[what[0]][..., what[1]], f"{what[0]}[{what[1]}]"
    values = np.asarray(what)
    if values.shape[:1] != (sweep.lanes,):
        raise ValueError(
            f"{argument}: expected a name, (name, index) or an array ({sweep.lanes}, …), got {values.shape}"
        )
    return values, argument


def plot_map(
    sweep: Sweep,
    x: Any,
    y: Any,
    outcome: Any,
    *,
    bins: int = 30,
    labels: Any = None,
    polar: bool = False,
    path: str | Path | None = None,
) -> Any:
    """The mean of an outcome over two parameters, as a matplotlib figure.

    Args:
        x: name of an array, (name, index) for a column of it, or an array (lanes,). An angle [rad] if `polar`.
        y: the same; the radius if `polar`.
        outcome: the same; of truth values the mean is a probability.
        bins: along each axis. Where no lane fell the map is empty.
        labels: of x, y and the outcome; names if not given.
        polar: draw directions as directions.
        path: also write it there; the ending chooses the format.
    """
    if isinstance(bins, bool) or not isinstance(bins, int) or bins < 1:
        raise ValueError(f"bins: expected a whole number > 0, got {bins!r}")
    plt = needed("matplotlib.pyplot", "plot", "plots need")
    (a, name_a), (b, name_b), (c, name_c) = (
        values_of(sweep, what, argument) for what, argument in ((x, "x"), (y, "y"), (outcome, "outcome"))
    )
    there = (sweep.status != 255) & np.isfinite(a) & np.isfinite(b) & np.isfinite(c.astype(float))
    if not there.any():
        raise ValueError("outcome: there is nothing to draw yet: no chunk is done, or all values are NaN")
    around = [[-np.pi, np.pi], [0.0, float(b[there].max())]] if polar else None
    sums, edges_x, edges_y = np.histogram2d(a[there], b[there], bins, around, weights=c[there].astype(float))
    counts, _, _ = np.histogram2d(a[there], b[there], (edges_x, edges_y))
    with np.errstate(invalid="ignore"):
        mean = sums / counts
    name_a, name_b, name_c = labels or (name_a, name_b, name_c)
    figure, axes = plt.subplots(
        figsize=(6.0, 4.6), layout="constrained", subplot_kw={"projection": "polar"} if polar else {}
    )
    truth = c.dtype == bool
    mesh = axes.pcolormesh(
        edges_x, edges_y, mean.T, cmap="viridis", vmin=0 if truth else None, vmax=1 if truth else None
    )
    figure.colorbar(mesh, label=name_c, shrink=0.8)
    axes.set_title(f"{int(there.sum())} lanes", loc="left", fontsize=10)
    if polar:
        axes.set_xlabel(f"{name_b} from the centre, {name_a} around it")
        axes.grid(alpha=0.3)
    else:
        axes.set_xlabel(name_a)
        axes.set_ylabel(name_b)
    return _written(figure, path)


def plot_quantiles(
    sweep: Sweep,
    outcome: Any,
    *,
    quantiles: Any = QUANTILES,
    label: str | None = None,
    path: str | Path | None = None,
) -> Any:
    """Quantiles of an outcome over time, as a matplotlib figure.

    Args:
        outcome: name of an array (lanes, samples), (name, index) for a column of one, or an array of that shape.
        quantiles: from 0 to 1; pairs from outside in are bands, a middle one is a line.
        label: of the outcome; its name if not given.
        path: also write it there; the ending chooses the format.
    """
    plt = needed("matplotlib.pyplot", "plot", "plots need")
    values, name = values_of(sweep, outcome, "outcome")
    t = sweep.t
    if values.shape != (sweep.lanes, len(t)):
        raise ValueError(f"outcome: expected an array of shape {(sweep.lanes, len(t))} over time, got {values.shape}")
    known = values[sweep.status != 255]
    if not len(known):
        raise ValueError("outcome: there is nothing to draw yet: no chunk is done")
    levels = sorted(quantiles)
    curves = np.nanquantile(known, levels, axis=0)
    figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
    for k in range(len(levels) // 2):
        band = f"{levels[k]:g} to {levels[-1 - k]:g}"
        axes.fill_between(t, curves[k], curves[-1 - k], color="C0", alpha=0.2 + 0.2 * k, lw=0, label=band)
    if len(levels) % 2:
        axes.plot(t, curves[len(levels) // 2], color="C0", label=f"{levels[len(levels) // 2]:g}")
    axes.set_xlabel("t [s]")
    axes.set_ylabel(label or name)
    axes.legend(title="quantiles", fontsize=8)
    axes.set_title(f"{len(known)} lanes", loc="left", fontsize=10)
    return _written(figure, path)


def _written(figure: Any, path: str | Path | None) -> Any:
    """The figure, which is also in a file if there is a path."""
    if path is not None:
        check_ending("path", path, [f".{kind}" for kind in figure.canvas.get_supported_filetypes()])
        figure.savefig(path, dpi=110)
    return figure
