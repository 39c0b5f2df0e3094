"""A trajectory in a few numbers: status, energy, slip, contact, solver, speed."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from featherweight.simulation import Status, Trajectory
from featherweight.visuals import Failure, good_part


class Line(NamedTuple):
    """One number of a summary: its name for scripts, its value, and both in words."""

    name: str
    value: Any
    title: str
    text: str


def summary(trajectory: Trajectory, *, seconds: float | None = None) -> list[Line]:
    """What a run of one robot was like; `seconds` is how long it took to compute."""
    if trajectory.q.ndim != 2:
        raise ValueError(f"trajectory: expected one robot, got a batch {trajectory.q.shape[:-2]}")
    status = Status(int(trajectory.status))
    trajectory, failure = good_part(trajectory)
    steps = max(int(np.isfinite(trajectory.q).all(axis=-1).sum()) - 1, 0)
    length = float(trajectory.t[steps] - trajectory.t[0])
    lines = [
        Line("status", _name(status, failure), "status", _status(trajectory, failure)),
        Line("duration", length, "simulated", f"{length:g} s in {steps} samples"),
    ]
    if seconds is not None:
        factor = length / max(seconds, 1e-9)
        text = f"{seconds:.3g} s, {_round(factor)} times as fast as real time"
        lines += [Line("seconds", seconds, "computed in", text), Line("real_time_factor", factor, "", "")]
    if trajectory.model is not None:
        lines += _energy(trajectory.energy())
    lines += _forces(trajectory)
    return lines + _contact(trajectory) + _shapes(trajectory) + _solver(trajectory)


def _name(status: Status, failure: Failure | None) -> str:
    return Status.DIVERGED.name if status is Status.OK and failure is not None else status.name


def _status(trajectory: Trajectory, failure: Failure | None) -> str:
    if failure is not None:
        return f"{_name(Status(int(trajectory.status)), failure)} at {failure.where}"
    return "OK" if trajectory.complete else "OK, interrupted"


def _energy(energy: np.ndarray) -> list[Line]:
    good = energy[np.isfinite(energy)]
    if not len(good):
        return []
    first, last, band = float(good[0]), float(good[-1]), float(np.ptp(good))
    return [
        Line("energy_start", first, "", ""),
        Line("energy_end", last, "energy", f"{first:.6g} J at the start, {last:.6g} J at the end"),
        Line("energy_band", band, "energy range", f"{band:.3g} J"),
    ]


def _forces(trajectory: Trajectory) -> list[Line]:
    """The largest force, and the joint that came nearest to its limit of effort: at 100 % an actuator may have cut."""
    sizes = np.abs(np.nan_to_num(trajectory.tau)).max(axis=0, initial=0.0)
    largest = float(sizes.max(initial=0.0))
    if not largest:
        return []
    lines = [Line("largest_joint_force", largest, "largest joint force", f"{largest:.4g} N m or N")]
    shares = {
        joint.name: float((sizes[joint.v] / np.maximum(joint.limits.effort, 1e-300)).max())
        for joint in (trajectory.model.independent_joints if trajectory.model is not None else ())
        if np.isfinite(joint.limits.effort).any()
    }
    if shares:
        name = max(shares, key=lambda joint: shares[joint])
        lines.append(Line("effort_used", shares[name], "peak torque / limit", f"{shares[name]:.0%} ({name})"))
    return lines


def _contact(trajectory: Trajectory) -> list[Line]:
    """Slip is the way the worst point slides while it presses on the ground."""
    if not trajectory.contact_slip.size:
        return []
    force = np.linalg.norm(np.nan_to_num(trajectory.contact_force), axis=-1)
    slipped = np.where(force > 0, np.nan_to_num(trajectory.contact_slip), 0.0) * np.diff(trajectory.t)[:, None]
    way = slipped.sum(axis=0)
    worst = int(np.argmax(way))
    name = trajectory.model.contact_points[worst].name if trajectory.model is not None else str(worst)
    largest, deepest = float(force.max(initial=0.0)), float(np.nanmax(trajectory.penetration, initial=0.0))
    touched = int((force > 0).any(axis=0).sum())
    return [
        Line("contact_points_used", touched, "contact points that touched", f"{touched} of {force.shape[1]}"),
        Line("slip", float(way[worst]), "slip of the worst point", f"{_length(float(way[worst]))} ({name})"),
        Line("deepest", deepest, "deepest in the ground", _length(deepest)),
        Line("largest_contact_force", largest, "largest contact force", f"{largest:.4g} N"),
    ]


def _shapes(trajectory: Trajectory) -> list[Line]:
    """Contacts of shapes, with the ground or with each other."""
    forces = [trajectory.pair_force] if trajectory.pair_force.size else []
    forces += [trajectory.slots[..., 1:]] if trajectory.slots.size else []
    if not forces:
        return []
    sizes = np.linalg.norm(np.nan_to_num(np.concatenate(forces, axis=-2)), axis=-1)
    most, largest = int((sizes > 0).sum(axis=-1).max(initial=0)), float(sizes.max(initial=0.0))
    lines = [
        Line("shape_contacts_most", most, "contacts of shapes", f"{most} at once at most"),
        Line("largest_shape_force", largest, "largest force of a shape", f"{largest:.4g} N"),
    ]
    missed = int(np.nan_to_num(trajectory.missed).max(initial=0.0)) if trajectory.missed.size else 0
    return [*lines, Line("missed_most", missed, "contacts without a slot", f"{missed} in a step")] if missed else lines


def _solver(trajectory: Trajectory) -> list[Line]:
    """How hard contact was to solve."""
    sweeps, residual = np.moveaxis(np.nan_to_num(trajectory.solver), -1, 0) if trajectory.solver.size else ((), ())
    if not np.any(sweeps):
        return []
    text = f"{np.mean(sweeps):.1f} sweeps a step, {np.max(sweeps):.0f} at most; residual up to "
    return [
        Line("sweeps_mean", float(np.mean(sweeps)), "contact solver", f"{text}{np.max(residual):.1e} m/s"),
        Line("sweeps_most", float(np.max(sweeps)), "", ""),
        Line("residual", float(np.max(residual)), "", ""),
    ]


def _round(number: float) -> str:
    """About three digits, without powers of ten."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def _length(metres: float) -> str:
    """A length in a fitting unit."""
    for unit, size in (("m", 1.0), ("mm", 1e-3), ("um", 1e-6)):
        if metres >= size:
            return f"{metres / size:.3g} {unit}"
    return f"{metres / 1e-9:.3g} nm"
