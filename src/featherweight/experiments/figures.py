"""The figures of the experiments with integrators, on matplotlib; axes as in the paper where it has them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from featherweight.experiments.discrete_steps import Method
from featherweight.extras import needed

if TYPE_CHECKING:
    from featherweight.experiments.accuracy import Accuracy
    from featherweight.experiments.convergence import Convergence
    from featherweight.experiments.energy import Energy
    from featherweight.experiments.scaling import Scaling

TEAL, RED, AMBER, GREY, BLUE = "#00798c", "#d1495b", "#c98b1b", "#888888", "#30638e"
SOLVERS = {"newton": RED, "broyden": AMBER, "riqn": TEAL}
INTEGRATORS = {"semi_implicit": RED, "rk4": AMBER, "variational": TEAL}
NAMES = {"semi_implicit": "semi-implicit Euler", "rk4": "Runge–Kutta 4", "variational": "variational"}
GUESSES = {"rest": ":", "velocity": "--", "dynamics": "-"}
LEAST = 1e-16
SCALED = {
    Method("scalable", "newton", "velocity"): ("Newton, older evaluation", RED, "-"),
    Method("scalable", "riqn", "dynamics"): ("RIQN, older evaluation", TEAL, "--"),
    Method("drnea", "broyden", "dynamics"): ("Broyden, DRNEA", AMBER, "-"),
    Method("drnea", "riqn", "dynamics"): ("RIQN, DRNEA", TEAL, "-"),
    Method("drnea", "newton", "velocity"): ("Newton in linear time, DRNEA", BLUE, "-"),
}


def convergence_figure(result: Convergence) -> Any:
    """The residual over the iterations: the median over random states, three solvers from three guesses."""
    figure, (axes,) = _figure(1, (6.4, 3.6))
    for solver, rows in zip(result.solvers, result.median, strict=True):
        for guess, residual in zip(result.guesses, rows, strict=True):
            style = {"color": SOLVERS[solver], "linestyle": GUESSES[guess], "marker": ".", "linewidth": 1.3}
            axes.semilogy(residual, label=f"{_solver(solver)}, from {_guess(guess)}", **style)
    axes.axhline(1e-9 * result.links, color=GREY, linewidth=0.8)
    axes.annotate("the paper's tolerance", (len(residual) - 1, 1e-9 * result.links), ha="right", va="bottom",
                  fontsize=8, color=GREY)  # fmt: skip
    axes.set(xlabel="iteration", ylabel="|e| [N m s]", title=f"{result.links} links, steps of 1 ms")
    return _finished(figure)


def scaling_figure(result: Scaling) -> Any:
    """Time a step and iterations a step over the number of links."""
    figure, (left, right) = _figure(2, (9.6, 3.8))
    for method, (label, color, line) in SCALED.items():
        left.loglog(result.links, 1e6 * result.of(method), line, color=color, marker=".", label=label)
    left.loglog(result.links, 1e6 * result.native, ":", color="black", label="featherweight, default")
    left.set(xlabel="links", ylabel="time a step [µs]", title="Time a step")
    _ticks(left, result.links)
    for method, iterations in zip(result.methods, result.iterations, strict=True):
        if method.evaluation == "drnea":
            style = {"color": SOLVERS[method.solver], "linestyle": GUESSES[method.guess]}
            label = f"{_solver(method.solver)}, from {_guess(method.guess)}"
            right.plot(result.links, iterations, marker=".", linewidth=1.3, label=label, **style)
    right.set(xlabel="links", ylabel="iterations a step", title="Iterations, to 1e-9 N m s a link", ylim=(0, None))
    return _finished(figure)


def energy_figure(result: Energy) -> Any:
    """The size of the energy's error over time, the largest until then."""
    figure, (axes,) = _figure(1, (6.4, 3.6))
    for name, error in zip(result.methods, result.error, strict=True):
        color = TEAL if name == "variational" else RED if "Euler" in name else AMBER
        largest = np.maximum(np.maximum.accumulate(np.abs(error)), LEAST)
        axes.loglog(result.t[1:], largest[1:], "--" if "MuJoCo" in name else "-", color=color, label=name)
    axes.set(xlabel="time [s]", ylabel="largest |E - E₀| until then, over 736 J", title="Ten links, steps of 1 ms")
    return _finished(figure)


def accuracy_figure(result: Accuracy) -> Any:
    """Error over time, over the time spent, and over the length of a step."""
    figure, (time, cost, step) = _figure(3, (12.0, 3.8))
    for row, method in enumerate(result.methods):
        style = {"color": INTEGRATORS[method], "linewidth": 1.5}
        time.loglog(result.t[1:], np.maximum(result.error[row, 1:], LEAST), label=NAMES[method], **style)
        cost.loglog(1e3 * result.seconds[row], result.end_error[row], marker=".", **style)
        step.loglog(1e3 * result.dt, result.early[row], "--", **style)
        step.loglog(1e3 * result.dt, result.late[row], marker=".", **style)
    time.set(xlabel="time [s]", ylabel="error of the angle [rad]", title="A pendulum, steps of 1 ms")
    cost.set(xlabel="time spent [ms]", ylabel="error of the angles [rad]", title="Ten links, after 1 s")
    _ticks(step, 1e3 * result.dt)
    step.set(xlabel="step [ms]", ylabel="error of the energy", ylim=(None, 10.0),
             title=f"Ten links, in {result.duration:.0f} s (dashed: in {result.duration / 10:.0f} s)")  # fmt: skip
    return _finished(figure)


def saved(figure: Any, path: Path) -> str:
    """Write a figure, the same bytes whenever it is the same; the name of its file."""
    figure.savefig(path, metadata={"Date": None})
    return path.name


def _solver(name: str) -> str:
    return {"newton": "Newton", "broyden": "Broyden", "riqn": "RIQN"}[name]


def _guess(name: str) -> str:
    return {"rest": "rest", "velocity": "h v", "dynamics": "h v + ½h²q̈"}[name]


def _figure(columns: int, size: tuple[float, float]) -> tuple[Any, list[Any]]:
    figure = needed("matplotlib.figure", "plot", "figures need").Figure(figsize=size, layout="constrained")
    return figure, list(figure.subplots(1, columns, squeeze=False)[0])


def _ticks(axes: Any, places: np.ndarray) -> None:
    """Plain numbers on a logarithmic axis, half as many where they are close."""
    shown = places[:: 1 + (len(places) > 5)]
    axes.set_xticks(shown, [f"{x:g}" for x in shown])
    axes.set_xticks([], minor=True)


def _finished(figure: Any) -> Any:
    """One legend for all, beside the curves; light grids."""
    entries: dict[str, Any] = {}
    for axes in figure.axes:
        axes.grid(alpha=0.25)
        axes.set_title(axes.get_title(), fontsize=10)
        handles, labels = axes.get_legend_handles_labels()
        entries |= dict(zip(labels, handles, strict=True))
    figure.legend(entries.values(), entries.keys(), loc="outside right upper", fontsize=8, frameon=False)
    return figure
