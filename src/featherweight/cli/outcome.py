"""Where a run ended: of a robot that floats its base, of others their joints; and which joint was fastest."""

from __future__ import annotations

import numpy as np

from featherweight.model import Model
from featherweight.report import Line
from featherweight.simulation import Trajectory
from featherweight.visuals import good_part

MOST_JOINTS = 8  # that are listed


def outcome(run: Trajectory, model: Model) -> list[Line]:
    """Lines for the summary of `simulate`, up to where a run failed; none if no state is finite."""
    run, _ = good_part(run)
    good = np.flatnonzero(np.isfinite(run.q).all(axis=-1))
    if not len(good) or not model.nv:
        return []
    q, v = run.q[good[-1]], run.v[good]
    lines = [_base(model, q, v[-1])] if model.joints[0].kind.floating else _joints(model, q)
    return [*lines, *_fastest(model, v)]


def _base(model: Model, q: np.ndarray, v: np.ndarray) -> Line:
    """Position, tilt (the angle between its z axis and the world's), speed."""
    joint = model.joints[0]
    own = q[joint.q]
    x, y = own[3:5]
    tilt = float(np.degrees(np.arccos(np.clip(1 - 2 * (x * x + y * y), -1, 1))))
    speed = float(np.linalg.norm(v[joint.v][:3]))
    place = ", ".join(f"{number + 0.0:.3f}" for number in own[:3])
    return Line("base_end", own[:3].tolist(), "base at the end", f"({place}) m, tilted {tilt:.1f}°, {speed:.2g} m/s")


def _joints(model: Model, q: np.ndarray) -> list[Line]:
    joints = [joint for joint in model.independent_joints if joint.kind.nq == 1][:MOST_JOINTS]
    if not joints:
        return []
    values = {joint.name: float(q[joint.q][0]) for joint in joints}
    more = " …" if len(model.independent_joints) > len(joints) else ""
    text = ", ".join(f"{name} {value:.3g}" for name, value in values.items())
    return [Line("joints_end", values, "joints at the end", f"{text}{more} [rad or m]")]


def _fastest(model: Model, v: np.ndarray) -> list[Line]:
    joints = [joint for joint in model.independent_joints if joint.kind.nv == 1]
    if not joints:
        return []
    peaks = np.abs(v[:, [joint.v.start for joint in joints]]).max(axis=0)
    k = int(np.argmax(peaks))
    text = f"{peaks[k]:.3g} rad/s or m/s ({joints[k].name})"
    return [Line("largest_joint_rate", float(peaks[k]), "fastest joint", text)]
