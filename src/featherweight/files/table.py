"""A trajectory as a table: one row a state, one named column a number. What CSV, Parquet and pandas have in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from featherweight.model import Model
from featherweight.simulation import Trajectory
from featherweight.texts import printable

Labels = list[tuple[str, ...]]
QUATERNION = ("qx", "qy", "qz", "qw")
TWIST = ("vx", "vy", "vz", "wx", "wy", "wz")


class Table(NamedTuple):
    """Columns by name, all of one length: (lanes · (K + 1),)."""

    columns: dict[str, np.ndarray]

    @property
    def rows(self) -> int:
        """How many states."""
        return len(self.columns["t"])


def table_of(trajectory: Trajectory) -> Table:
    """The columns of a trajectory, robots of a batch one after the other, counted in the column `lane`.

    `t` [s]; `q.JOINT`, `v.JOINT`, `tau.JOINT`; of each contact point `force.POINT.x` … [N], `slip.POINT` [m/s] and
    `penetration.POINT` [m]; a controller's state `x.0` … and outputs `output.NAME`. Joints with several numbers have
    `q.base.x`, `.y`, `.z`, `.qx`, `.qy`, `.qz`, `.qw` and `v.base.vx` … `.wz`, or are counted from 0. Forces and
    contact are those of the interval that begins at the state of their row, so the last row has none: NaN.
    """
    lanes = int(np.prod(trajectory.q.shape[:-2]))
    states = trajectory.q.shape[-2]
    columns: dict[str, np.ndarray] = {}
    if trajectory.q.ndim > 2:
        columns["lane"] = np.repeat(np.arange(lanes), states)
    columns["t"] = np.tile(trajectory.t, lanes)
    for head, labels, values in _parts(trajectory):
        samples = values.shape[trajectory.q.ndim - 2]
        rows = np.full((lanes, states, len(labels)), np.nan)
        rows[:, :samples] = values.reshape(lanes, samples, len(labels))
        for k, label in enumerate(labels):
            columns[_free(".".join((head, *label)), columns)] = rows[..., k].ravel()
    return Table(columns)


def _parts(run: Trajectory) -> Iterator[tuple[str, Labels, np.ndarray]]:
    """Arrays (…, K+1 or K, numbers) with something in them: what their columns begin with, and how they go on."""
    model = run.model
    points: Labels = [(name,) for name in _point_names(model, run.contact_force.shape[-2])]
    found: list[tuple[str, Labels, Any]] = [
        ("q", coordinate_labels(model, run.q.shape[-1]), run.q),
        ("v", velocity_labels(model, run.v.shape[-1]), run.v),
        ("tau", velocity_labels(model, run.tau.shape[-1]), run.tau),
        ("force", [(*point, axis) for point in points for axis in "xyz"], run.contact_force),
        ("slip", points, run.contact_slip),
        ("penetration", points, run.penetration),
        ("x", _numbered((run.x.shape[-1],)), run.x),
    ]
    lead = run.q.ndim - 1  # batch axes, and that of samples
    for name, values in run.outputs.items():
        own = np.asarray(values)
        found.append(("output", [(name, *label) for label in _numbered(own.shape[lead:])], own))
    yield from ((head, labels, values) for head, labels, values in found if labels and values.size)


def coordinate_labels(model: Model | None, count: int) -> Labels:
    """Of each number in q the joint's name, and which of its numbers it is."""
    if model is None:
        return _numbered((count,))
    labels: Labels = []
    for joint in model.independent_joints:
        orientation = joint.kind.orientation
        own = None if orientation is None else ("x", "y", "z")[: orientation.start] + QUATERNION
        labels += _named(joint.name, joint.kind.nq, own)
    return labels


def velocity_labels(model: Model | None, count: int) -> Labels:
    """Of each number in v the joint's name, and which of its numbers it is."""
    if model is None:
        return _numbered((count,))
    labels: Labels = []
    for joint in model.independent_joints:
        own = None if joint.kind.orientation is None else TWIST[-joint.kind.nv :]
        labels += _named(joint.name, joint.kind.nv, own)
    return labels


def _named(joint: str, count: int, own: Sequence[str] | None) -> Labels:
    if count == 1:
        return [(joint,)]
    return [(joint, label) for label in (own if own is not None and len(own) == count else map(str, range(count)))]


def _numbered(shape: Sequence[int]) -> Labels:
    """Places in an array of that shape, ("0",), ("1",) …; one without a number for a single one."""
    return [tuple(map(str, place)) for place in np.ndindex(*shape)]


def _point_names(model: Model | None, count: int) -> list[str]:
    return list(map(str, range(count))) if model is None else [point.name for point in model.contact_points]


def _free(name: str, taken: dict[str, Any]) -> str:
    """The name, without what cannot be seen; with a stroke if another column has it."""
    name = printable(name)
    while name in taken:
        name += "'"
    return name
