"""NumPy's .npz: the arrays of a trajectory under their names, with names of joints and contact points beside them."""

from __future__ import annotations

import io
import os
import re
from typing import Any

import numpy as np

from featherweight.files.table import coordinate_labels, velocity_labels
from featherweight.recording.files import write_whole
from featherweight.simulation import Trajectory

FIELDS = (
    "t", "q", "v", "tau", "contact_force", "contact_slip", "penetration", "solver", "convergence", "x",
    "status", "failed_step",
)  # fmt: skip
SLASHES = re.compile(r"[/\\]")  # in names of links: members of an archive are paths


def write_npz(trajectory: Trajectory, path: str | os.PathLike[str]) -> None:
    """Write what `numpy.load` reads without pickle: arrays with batch axes first, as the trajectory has them.

    `q_names` (nq,) and `v_names` (nv,) say what the numbers of q, v and tau are, `contact_points` (nc,) whose the
    forces are; outputs of a controller are `output.NAME`, parameters of the robots `parameter.NAME`.
    """
    arrays = {name: np.asarray(getattr(trajectory, name)) for name in FIELDS}
    arrays = {name: values for name, values in arrays.items() if values.shape != (0, 0)}
    arrays |= {f"output.{name}": np.asarray(values) for name, values in trajectory.outputs.items()}
    arrays |= {f"parameter.{name}": np.asarray(values) for name, values in trajectory.parameters.items()}
    model = trajectory.model
    if model is not None:
        arrays["q_names"] = _texts([".".join(label) for label in coordinate_labels(model, model.nq)])
        arrays["v_names"] = _texts([".".join(label) for label in velocity_labels(model, model.nv)])
        arrays["contact_points"] = _texts([point.name for point in model.contact_points])
        arrays["model"] = np.array(model.name)
    packed = io.BytesIO()
    members: dict[str, Any] = {SLASHES.sub("_", name): values for name, values in arrays.items()}
    np.savez_compressed(packed, **members)
    write_whole(path, [packed.getbuffer()])


def _texts(names: list[str]) -> np.ndarray:
    return np.array(names, dtype=str)
