"""`fw.sweep`: randomised simulations by the million, on this machine or a cluster, to the same bits."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from featherweight.campaigns.chunks import columns_of, drawn, kept
from featherweight.campaigns.manifest import Manifest, Settings, check_same, columns_in
from featherweight.campaigns.on_threads import run_on_threads
from featherweight.campaigns.parts import Part, part_of
from featherweight.campaigns.progress import SweepProgress, amount, duration
from featherweight.campaigns.result import Sweep
from featherweight.campaigns.store import Store
from featherweight.campaigns.study import functions_of, is_loading
from featherweight.campaigns.worker import ONE_CORE, Outcome
from featherweight.compiler import thread_count
from featherweight.constraints import Constraint
from featherweight.contact import ContactModel
from featherweight.dynamics.checks import checked_model
from featherweight.forces import ForceElement
from featherweight.integrators import Integrator
from featherweight.model import Model
from featherweight.simulation.actuators import Actuators
from featherweight.simulation.control import Compiled
from featherweight.simulation.problem import check_record, seconds, step_options, whole_number
from featherweight.simulation.traced_step import TracedStep
from featherweight.simulation.warning import warn

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

CHUNK_OPERATIONS = 1e10  # of a chunk: about a second on one core
CHUNK_BYTES = 1e8  # of a chunk's trajectory
SMALLEST, LARGEST = 8, 65536  # lanes of a chunk
TRIED = 16  # lanes that are run before the rest, to know how long it will take
IN_VAIN = 8  # chunks set aside before the first one is done


def sweep(
    model: Model, out: str | os.PathLike[str], *, lanes: int, seed: int, steps: int, dt: float,
    sample: Callable[..., Any], given: Mapping[str, ArrayLike] | None = None, control: Compiled | None = None,
    contact: ContactModel | None = None, reduce: Callable[..., Any] | None = None, record_every: int | None = None,
    record: str = "first", integrator: str | Integrator = "semi_implicit", actuators: Actuators | None = None,
    limits: bool = True, forces: ForceElement | Sequence[ForceElement] = (),
    constraints: Constraint | Sequence[Constraint] = (), chunk: int | None = None, scheduler: Any = None,
    part: tuple[int, int] | None = None, progress: bool = True,
) -> Sweep:  # fmt: skip
    """Many robots with random states and parameters, in chunks that any number of workers compute, to the same bits.

    A chunk is a function of the study and its number: of no clock, worker, order or death. The same call goes on where
    a run was ended, by Ctrl-C or a kill, and computes nothing twice. Robots that fail are marked, as in `rollout`.
    What is drawn depends on the whole manifest: seed, lanes, chunk, steps and the rest, and the text of the study.

    Args:
        model: the robot.
        out: folder for the results; `zarr` and `xarray` open it. For a cluster, where all workers see it.
        lanes: number of robots in all.
        seed: of the random numbers.
        steps: number of steps.
        dt: length of a step [s].
        sample: a function of (random generator, n) that returns `q, v, parameters, control_parameters` of n lanes: q
            of shape (nq,) or (n, nq), v of shape (nv,) or (n, nv), constants that were declared when the model was
            built, by name, (n, …) each, and rows (n, m) of the controller's parameters. The last two may be None, or
            left out. It must depend on nothing else.
        given: arrays of numbers by name, which `sample` gets as further arguments: a mean that is searched for, a grid.
        control: a controller made by `featherweight.compiled`.
        reduce: a function of the `Trajectory` of n lanes that returns what is kept, (n, …) by name; states if None.
        record_every: how many steps from one state to the next, for `reduce` or to be kept; the last one if not given.
        chunk: lanes of a chunk; about a second's work if not given. Another one gives other random lanes.
        scheduler: None for the threads of this machine, the address of a Dask scheduler, or a Dask client.
        part: (k, n) for the k-th of n processes that share the work without a scheduler, counted from 0; taken from the
            environment in a Slurm job array.
        progress: show an estimate, and a bar.

    The others are those of `rollout`: `contact`, `record`, `integrator`, `actuators`, `limits`, `forces` and
    `constraints`.

    Returns: a `Sweep`: what is there now. It is not complete after Ctrl-C, for a part, or if chunks were set aside.
    """
    if is_loading():
        raise RuntimeError(
            "fw.sweep was called while a study's file was read: put it under `if __name__ == '__main__':`"
        )
    if control is not None and not isinstance(control, Compiled):
        raise TypeError(f"control: expected a compiled controller, got {type(control).__name__}; see fw.compiled")
    checked_model(model)
    functions = functions_of(sample, reduce)
    if scheduler is not None and functions.text is None:
        raise ValueError(f"{functions.stays}: workers run the text of that file, no closure travels to them")
    options = step_options(model, False, False, control, contact, integrator, actuators, limits, forces, constraints)
    step = TracedStep.of(model, options)
    settings = _settings(step, lanes, chunk, seed, steps, dt, record_every, record)
    share = part_of(part, scheduler)
    path, wanted = str(Path(out).absolute()), Manifest.of(step, settings, functions, _given(given))
    manifest, told = _begun(wanted, path)
    warn(model, options, settings.dt, drawn(manifest, 0).q[:TRIED], None, limits)
    _carry_out(manifest, path, share, scheduler, told, progress)
    return Sweep(path, manifest=manifest)


def _settings(
    step: TracedStep, lanes: Any, chunk: Any, seed: Any, steps: Any, dt: Any, every: Any, record: Any
) -> Settings:
    """The numbers of a sweep, checked; how large its chunks are, if that is not said."""
    lanes, steps = whole_number("lanes", lanes), whole_number("steps", steps)
    every = steps if every is None else whole_number("record_every", every)
    if steps % every:
        raise ValueError(f"record_every: expected a divisor of steps = {steps}, got {every}")
    check_record(record)
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ValueError(f"seed: expected a whole number of 0 or more, got {seed!r}")
    dt = seconds("dt", "time step", dt)
    if chunk is None:
        states = step.model.nq + step.model.nv + sum(int(np.prod(shape)) for shape in step.records.values())
        most = min(
            CHUNK_OPERATIONS / (step.loop.cost(LARGEST) * steps), CHUNK_BYTES / (8 * states * (steps // every + 1))
        )
        chunk = int(2 ** np.clip(np.floor(np.log2(max(most, 1.0))), np.log2(SMALLEST), np.log2(LARGEST)))
    return Settings(lanes, min(whole_number("chunk", chunk), lanes), int(seed), steps, dt, every, record)


def _given(given: Any) -> dict[str, np.ndarray]:
    """Arrays for `sample`, checked."""
    if given is not None and not (
        isinstance(given, Mapping) and all(isinstance(n, str) and n.isidentifier() for n in given)
    ):
        raise TypeError(f"given: expected a dictionary of arrays by the names of sample's arguments, got {given!r}")
    arrays = {name: np.asarray(values, dtype=float) for name, values in (given or {}).items()}
    return {name: np.ascontiguousarray(values).reshape(values.shape) for name, values in arrays.items()}


def _begun(wanted: Manifest, path: str) -> tuple[Manifest, str]:
    """The manifest with its columns, as it stands in the folder; made there if there is none, after a first try of a
    few lanes, with what that says about time and disk."""
    told = ""
    try:
        said = check_same(path, wanted)
    except FileNotFoundError:
        if os.path.isdir(path) and os.listdir(path):
            raise ValueError(f"out: {path} is there, and is no sweep; choose another folder, or remove it") from None
        made, told = _tried(wanted)
        with contextlib.suppress(FileExistsError):  # of another process with the same sweep
            made.write(path)
        said = check_same(path, wanted)
    manifest = replace(wanted, columns=columns_in(said), first_sample=said["first_sample"])
    if drawn(manifest, 0).digest != manifest.first_sample:
        raise ValueError("sample: gives other numbers the second time: it must depend on its generator and count alone")
    _declare(manifest, path)
    return manifest, told


def _tried(manifest: Manifest) -> tuple[Manifest, str]:
    """Run a few lanes: which arrays there are, and what all lanes will take."""
    draw = drawn(manifest, 0)
    few = draw.some(slice(TRIED))
    manifest.step.loop.code(len(few.q))
    with ONE_CORE:
        begin = time.thread_time()
        arrays = kept(manifest, few)
        took = (time.thread_time() - begin) / len(few.q)
    settings = manifest.settings
    columns = columns_of(arrays, settings.steps // settings.record_every + 1)
    disk = settings.lanes * sum(values[0].nbytes for values in arrays.values())
    files = (len(arrays) + 1) * manifest.store("").chunks
    work = f"about {duration(took * settings.lanes)} of one core's time"
    told = f"{settings.lanes} lanes, {work}, {amount(disk)} on disk in {files} files"
    return replace(manifest, columns=columns, first_sample=draw.digest), told


def _declare(manifest: Manifest, path: str) -> None:
    s = manifest.settings
    attributes = {"featherweight sweep": 1, "digest": manifest.digest, "settings": vars(s), **manifest.facts["library"]}
    attributes["model"] = manifest.step.model.name
    t = np.arange(s.steps // s.record_every + 1) * s.record_every * s.dt
    manifest.store(path).declare(manifest.columns or {}, attributes, t)


def _carry_out(manifest: Manifest, path: str, share: Part, scheduler: Any, told: str, progress: bool) -> None:
    """Compute what is not there."""
    store = manifest.store(path)
    store.tidy()
    todo, lanes, failed = _missing(store, share)
    own = sum(len(store.lanes_of(k)) for k in share.numbers(store.chunks)) if share.processes > 1 else store.lanes
    with SweepProgress(own, lanes, failed, shown=progress) as bar:
        if told:
            bar.say(f"{told}; {manifest.settings.chunk} lanes a chunk")
        report = _Report(store, bar)
        try:
            if scheduler is None:
                bar.say(f"{thread_count()} threads, {len(todo)} chunks to do: {path}")
                run_on_threads(manifest, path, todo, report)
            else:
                from featherweight.campaigns.on_cluster import run_on_cluster

                run_on_cluster(manifest, path, todo, report, scheduler, bar.say)
        except KeyboardInterrupt:
            bar.say("interrupted; the same call goes on from here")


def _missing(store: Store, share: Part) -> tuple[list[int], int, int]:
    """Numbers of the chunks that are not there, or not as they were written; lanes of the others, and how many of those
    failed."""
    there, lanes, failed = bytearray(store.chunks), 0, 0
    for number in store.recorded():
        if share.has(number):
            record = store.verified(number)
            if record is not None:
                there[number], lanes, failed = 1, lanes + record["lanes"], failed + record["failed"]
    return [k for k in share.numbers(store.chunks) if not there[k]], lanes, failed


class _Report:
    """What is done with outcomes: shown; of chunks that were not computed, written down. OSError where no other can be
    computed either."""

    def __init__(self, store: Store, bar: SweepProgress) -> None:
        self._store, self._bar, self._done, self._aside = store, bar, 0, 0

    def __call__(self, outcome: Outcome) -> None:
        if outcome.stops:
            raise RuntimeError(f"chunk {outcome.number}: {outcome.error}; the same call goes on when that is put right")
        if outcome.error:
            self._store.set_aside(outcome.number, outcome.error)
            self._aside += 1
            self._bar.say(f"chunk {outcome.number} is set aside: {outcome.error}")
            if not self._done and self._aside >= IN_VAIN:
                raise RuntimeError(f"{self._aside} chunks, and none could be computed, the last: {outcome.error}")
        else:
            self._done += 1
        self._bar.show(outcome)
