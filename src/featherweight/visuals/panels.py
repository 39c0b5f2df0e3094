"""What the panels of a plot show, as numbers: angles, torques, contact forces, slip, energies, phase portraits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from featherweight.model import Model
from featherweight.simulation import Trajectory
from featherweight.visuals.failure import good_part

MOST_SAMPLES = 3000  # of a curve that are drawn
MOST_NAMES = 12  # in a legend; those that move most if there are more
LEAST_SLIP = 1e-12  # [m/s] that a logarithmic axis shows
CONSERVED = 0.2  # of the kinetic energy's range: a larger error of the energy is no error but a loss


class Curve(NamedTuple):
    """y over x, both (n,)."""

    name: str
    x: np.ndarray
    y: np.ndarray


@dataclass(frozen=True, eq=False)
class Panel:
    """Curves that belong together, those that move most first if they are many; `scale` is "linear", "log", or
    "symlog", which is linear below `linear_below`."""

    title: str
    curves: list[Curve]
    x_title: str = "t [s]"
    scale: str = "linear"
    linear_below: float = 0.0


class Lane:
    """One robot of a trajectory, downsampled to at most MOST_SAMPLES."""

    def __init__(self, trajectory: Trajectory, lane: int, most: int = MOST_SAMPLES) -> None:
        if trajectory.model is None:
            raise ValueError("trajectory: its file has no model; Trajectory.load(path, model=…)")
        self.model: Model = trajectory.model
        shown, failure = good_part(trajectory, lane)
        self.failure = "" if failure is None else failure.text
        self.run = one = shown.lane(0, every=max(1, len(shown.t) // most))
        self.t, self.q, self.v, self.tau, self.force = one.t, one.q, one.v, one.tau, one.contact_force
        self.slip = one.contact_slip if one.contact_slip.size else np.zeros((len(self.tau), 0))

    @property
    def starts(self) -> np.ndarray:
        """Times at which the intervals with forces begin [s]."""
        return self.t[: len(self.tau)]

    @property
    def conserves(self) -> bool:
        """Does nothing take or give energy? Then a change of it is an error."""
        losses = any(any(joint.damping) or any(joint.friction) for joint in self.model.joints)
        return not (losses or np.nan_to_num(self.tau).any() or np.nan_to_num(self.force).any())


PANELS: dict[str, Callable[[Lane], Panel | None]] = {}


def _panel(name: str) -> Callable[[Callable[[Lane], Panel | None]], Callable[[Lane], Panel | None]]:
    """Register what makes a panel of a robot's run; None if it has nothing to show."""

    def keep(function: Callable[[Lane], Panel | None]) -> Callable[[Lane], Panel | None]:
        PANELS[name] = function
        return function

    return keep


def _over_time(title: str, t: np.ndarray, values: np.ndarray, names: Sequence[str]) -> Panel | None:
    return Panel(title, [Curve(name, t, values[:, k]) for k, name in enumerate(names)]) if len(names) else None


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
def _position(own: Lane) -> Panel | None:
    places, names = _coordinates(own.model, scalar=False)
    return _over_time("position of the base [m]", own.t, own.q[:, places], names)


@_panel("angles")
def _angles(own: Lane) -> Panel | None:
    places, names = _coordinates(own.model, scalar=True)
    return _over_time("joints [rad or m]", own.t, own.q[:, places], names)


@_panel("rates")
def _rates(own: Lane) -> Panel | None:
    places, names = _degrees(own.model, scalar=True)
    return _over_time("rates of the joints [rad/s or m/s]", own.t, own.v[:, places], names)


@_panel("torques")
def _torques(own: Lane) -> Panel | None:
    places, names = _degrees(own.model, scalar=True)
    if not np.nan_to_num(own.tau[:, places]).any():
        return None
    return _over_time("joint forces [N m or N]", own.starts, own.tau[:, places], names)


@_panel("forces")
def _forces(own: Lane) -> Panel | None:
    size = np.linalg.norm(own.force, axis=-1)
    touched = [k for k in range(size.shape[1]) if np.nanmax(size[:, k], initial=0.0) > 0]
    names = [own.model.contact_points[k].name for k in touched]
    panel, weight = _over_time("contact forces [N]", own.starts, size[:, touched], names), own.model.weight
    if panel is not None and np.nanmax(size) > 10 * weight > 0:  # an impact would flatten the rest
        return Panel(panel.title, panel.curves, scale="symlog", linear_below=weight)
    return panel


@_panel("slip")
def _slip(own: Lane) -> Panel | None:
    touched = [k for k in range(own.slip.shape[1]) if np.linalg.norm(np.nan_to_num(own.force[:, k]), axis=-1).any()]
    names = [own.model.contact_points[k].name for k in touched]
    pressed = np.linalg.norm(own.force, axis=-1) > 0 if touched else np.zeros(own.slip.shape, dtype=bool)
    slip = np.maximum(np.where(pressed, own.slip, np.nan)[:, touched], LEAST_SLIP)
    panel = _over_time("slip of points that press [m/s]", own.starts, slip, names)
    return None if panel is None else Panel(panel.title, panel.curves, scale="log")


@_panel("energy")
def _energy(own: Lane) -> Panel | None:
    kinetic, potential = own.run.energies()
    values = np.stack([kinetic, potential - potential[0], kinetic + potential - potential[0]], axis=1)
    return _over_time("energy [J], potential from the start", own.t, values, ["kinetic", "potential", "sum"])


@_panel("energy error")
def _energy_error(own: Lane) -> Panel | None:
    """|E(t) - E(0)| where nothing takes or gives energy."""
    if not own.conserves:
        return None
    kinetic, potential = own.run.energies()
    error = np.abs(kinetic + potential - kinetic[0] - potential[0])
    largest = float(error.max(initial=0.0))
    if not 0 < largest <= CONSERVED * float(np.ptp(kinetic)):
        return None
    shown = np.maximum(error, 1e-6 * largest)
    return Panel("energy error |E − E(0)| [J]", [Curve("error", own.t, shown)], scale="log")


@_panel("phase")
def _phase(own: Lane) -> Panel | None:
    places, names = _coordinates(own.model, scalar=True)
    degrees, _ = _degrees(own.model, scalar=True)
    curves = [Curve(name, own.q[:, i], own.v[:, k]) for name, i, k in zip(names, places, degrees, strict=True)]
    title = "phase portraits: rate [rad/s or m/s] over joint [rad or m]"
    return Panel(title, curves, x_title="joint [rad or m]") if curves else None


def panels_of(own: Lane, names: Sequence[str] | None = None) -> list[Panel]:
    """Panels by name that have something to show; the first, empty, if none has."""
    wanted = [name for name in PANELS if name != "rates"] if names is None else list(names)
    unknown = [names] if isinstance(names, str) else [name for name in wanted if name not in PANELS]
    if unknown or not wanted:
        got = unknown[0] if unknown else names
        raise ValueError(f"panels: expected some of {', '.join(map(repr, PANELS))}, in a list, got {got!r}")
    shown = [panel for panel in (PANELS[name](own) for name in wanted) if panel is not None]
    return shown or [Panel("", [])]


def most_moving(panel: Panel, most: int) -> list[int]:
    """Numbers of at most so many curves, in their order: those with the widest range."""
    if len(panel.curves) <= most:
        return list(range(len(panel.curves)))
    ranges = [float(np.ptp(curve.y[np.isfinite(curve.y)])) if np.isfinite(curve.y).any() else 0.0
              for curve in panel.curves]  # fmt: skip
    return sorted(np.argsort(ranges, kind="stable")[::-1][:most].tolist())
