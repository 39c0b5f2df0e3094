"""A chunk of a sweep: draw its lanes, run them, keep what is wanted. A function of the digest and the number alone.

Random numbers come from Philox, a counter-based generator: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as
easy as 1, 2, 3", SC 2011. Its key is the manifest's digest, its counter begins with the chunk's number.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from featherweight.campaigns import manifest as manifests
from featherweight.campaigns.manifest import Manifest
from featherweight.campaigns.store import DTYPES, Column
from featherweight.compiler.runtime.arguments import as_array
from featherweight.dynamics.evaluate import parameter_values
from featherweight.simulation import Trajectory
from featherweight.simulation.problem import Problem, laid_out
from featherweight.simulation.python_run import run_of
from featherweight.simulation.running import drive
from featherweight.simulation.traced_step import TracedStep

CONTROL = "control_parameters"  # name of their array
OURS = ("status", "failed_step", "t", CONTROL, "zarr.json")
LONGEST = 200  # characters of a name
LARGEST = np.iinfo(np.int64).max


def generator(digest: str, number: int) -> np.random.Generator:
    """The random numbers of a chunk."""
    key = np.frombuffer(bytes.fromhex(digest)[:16], dtype="<u8").astype(np.uint64)
    return np.random.Generator(np.random.Philox(key=key, counter=[0, 0, 0, number]))


class Draw(NamedTuple):
    """What `sample` gave for n lanes: states (n, nq), (n, nv), parameters by name (n, …), those of the controller."""

    q: np.ndarray
    v: np.ndarray
    parameters: dict[str, np.ndarray]
    control_parameters: np.ndarray | None

    def some(self, lanes: slice) -> Draw:
        """Of some lanes."""
        p = self.control_parameters
        parameters = {name: values[lanes] for name, values in self.parameters.items()}
        return Draw(self.q[lanes], self.v[lanes], parameters, None if p is None else p[lanes])

    @property
    def digest(self) -> str:
        """Of all numbers."""
        arrays = [self.q, self.v, *self.parameters.values()]
        whole = hashlib.sha256(repr(list(self.parameters)).encode())
        for array in arrays if self.control_parameters is None else [*arrays, self.control_parameters]:
            whole.update(array.tobytes())
        return whole.hexdigest()


def drawn(manifest: Manifest, number: int) -> Draw:
    """The lanes of a chunk."""
    n = len(manifest.store("").lanes_of(number))
    given = {name: values.copy() for name, values in manifest.given.items()}
    return checked(manifest.step, manifest.functions.sample(generator(manifest.digest, number), n, **given), n)


def read(path: str | os.PathLike[str]) -> Manifest:
    """The manifest of a folder, with the functions of its text; ValueError if they are not here what they were when the
    sweep began."""
    manifest = manifests.read(path)
    if manifest.functions.digest != manifest.facts["study"] or drawn(manifest, 0).digest != manifest.first_sample:
        raise ValueError(
            "sample, reduce: are not the same here as where the sweep began: they must depend on their arguments and "
            "on what their file says alone"
        )
    return manifest


def checked(step: TracedStep, given: Any, n: int) -> Draw:
    """What `sample` returned, in n rows; TypeError or ValueError that say what is wrong with it."""
    if not isinstance(given, tuple) or not 2 <= len(given) <= 4:
        got = f"{len(given)} things" if isinstance(given, tuple) else type(given).__name__
        raise TypeError(f"sample: expected it to return q, v, parameters, control_parameters, got {got}")
    q, v, parameters, p = (*given, None, None)[:4]
    model = step.model
    if parameters is not None and not isinstance(parameters, Mapping):
        raise TypeError(f"sample: parameters: expected a dictionary of arrays, got {type(parameters).__name__}")
    values = dict(zip(model.parameters, parameter_values(model, parameters), strict=True))
    rows = {
        name: _rows(name, values[name], n, model.parameters[name].shape) for name in model.parameters
        if name in (parameters or {})
    }  # fmt: skip
    if p is not None and step.control_parameters is None:
        raise ValueError("sample: control_parameters: expected None, for there is no compiled controller")
    if p is not None:
        p = _rows(CONTROL, p, n, step.control_parameters.shape[-1:])  # type: ignore[union-attr]
    return Draw(_rows("q", q, n, (model.nq,)), _rows("v", v, n, (model.nv,)), rows, p)


def _rows(name: str, values: Any, n: int, shape: tuple[int, ...]) -> np.ndarray:
    array = as_array(f"sample: {name}", values, shape, ", ".join(map(str, shape)))
    if array.shape not in (shape, (n, *shape)):
        raise ValueError(f"sample: {name}: expected shape {shape} or {(n, *shape)}, got {array.shape}")
    return np.array(np.broadcast_to(array, (n, *shape)), dtype=float, order="C")


def problem_of(manifest: Manifest, draw: Draw, every: int | None = None) -> Problem:
    """What is to be simulated."""
    s = manifest.settings
    return laid_out(
        manifest.step, draw.q, draw.v, s.steps, s.dt, every or s.record_every, draw.parameters or None,
        record=s.record, control_parameters=draw.control_parameters,
    )  # fmt: skip


def rolled_out(manifest: Manifest, draw: Draw, every: int | None = None) -> Trajectory:
    """The lanes through time."""
    run = run_of(problem_of(manifest, draw, every))
    drive(run, False, None)
    return run.trajectory()


def kept(manifest: Manifest, draw: Draw) -> dict[str, np.ndarray]:
    """The arrays of a result for these lanes: how they ended, what was drawn of parameters, what `reduce` makes of
    their trajectory, or its states."""
    run = rolled_out(manifest, draw)
    if not run.complete:
        raise KeyboardInterrupt
    found = {"status": run.status.copy(), "failed_step": run.failed_step.astype(np.int64)}  # `reduce` may write to run
    found |= {name: values.copy() for name, values in draw.parameters.items()}
    if draw.control_parameters is not None:
        found[CONTROL] = draw.control_parameters.copy()
    reduce = manifest.functions.reduce
    outcomes = {"q": run.q, "v": run.v} if reduce is None else _reduced(reduce(run), len(draw.q))
    for name in draw.parameters:
        _check_name("sample: parameters", name)
    if both := set(found) & set(outcomes):
        raise ValueError(f"reduce: {', '.join(sorted(both))}: expected other names, these are taken")
    return {name: values for name, values in (*found.items(), *outcomes.items()) if values.size}


def _reduced(outcomes: Any, n: int) -> dict[str, np.ndarray]:
    """What `reduce` returned, checked."""
    if not isinstance(outcomes, Mapping):
        raise TypeError(f"reduce: expected a dictionary of arrays by name, got {type(outcomes).__name__}")
    arrays = {}
    for name, given in outcomes.items():
        _check_name("reduce", name)
        if isinstance(given, np.ma.MaskedArray):
            raise TypeError(f"reduce: {name}: expected an array without a mask, for none is kept; see np.ma.filled")
        values = np.asarray(given)
        if values.dtype.name not in DTYPES:
            if not np.can_cast(values.dtype, np.int64, "same_kind") and values.dtype.kind != "u":
                raise TypeError(f"reduce: {name}: expected numbers or truth values, got {values.dtype}")
            if values.dtype == np.uint64 and values.size and values.max() > LARGEST:
                raise ValueError(f"reduce: {name}: expected whole numbers up to {LARGEST}, got {values.max()}")
            values = values.astype(np.int64)
        if values.ndim == 0 or len(values) != n:
            raise ValueError(f"reduce: {name}: expected one value a lane, shape ({n}, …), got {values.shape}")
        arrays[name] = values
    return arrays


def _check_name(argument: str, name: Any) -> None:
    """A name is a folder's, so it may lead nowhere else."""
    if not isinstance(name, str) or not name or name in OURS or name[0] in "._" or set(name) & {*"/\\:", "\0"}:
        raise ValueError(f"{argument}: expected names without / \\ : and not of ours ({', '.join(OURS)}), got {name!r}")
    if len(os.fsencode(name)) > LONGEST:
        raise ValueError(f"{argument}: expected names of at most {LONGEST} characters, got {name[:20]!r}…")


def columns_of(arrays: Mapping[str, np.ndarray], samples: int) -> dict[str, Column]:
    """What the arrays of a chunk are; an axis as long as the samples is time."""
    columns = {}
    for name, values in arrays.items():
        shape = values.shape[1:]
        axes = tuple("sample" if k == 0 and n == samples else f"{name}_{k}" for k, n in enumerate(shape))
        columns[name] = Column(values.dtype.name, shape, axes)
    return columns


def check_columns(arrays: Mapping[str, np.ndarray], columns: Mapping[str, Column]) -> None:
    """ValueError if a chunk has other arrays than the first one."""
    found = {name: (values.dtype.name, values.shape[1:]) for name, values in arrays.items()}
    wanted = {name: (column.dtype, column.shape) for name, column in columns.items()}
    for name in {**found, **wanted}:
        if found.get(name) != wanted.get(name):
            what = f"{name!r} is {found.get(name)} in this chunk and was {wanted.get(name)} in the first"
            raise ValueError(
                f"sample, reduce: expected arrays of the same names, types and shapes in all chunks: {what}"
            )
