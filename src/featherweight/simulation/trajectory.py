"""The record of a simulation."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from featherweight.contact import Surface
from featherweight.contact.pair import Pairs
from featherweight.dynamics import kinetic_energy, potential_energy
from featherweight.endings import RUN, TABLES, check_ending
from featherweight.io.meshes import with_meshes
from featherweight.model import Model
from featherweight.recording import read, write
from featherweight.simulation.contacts import Contact, contacts_at, force_between
from featherweight.simulation.header import ROW, ground_in, header_of, in_a_row, pairs_in, parameters_in, robot_in
from featherweight.simulation.loading import (
    OF_SHAPES,
    OUTPUT,
    RECORDS,
    STATES,
    check_saved,
    check_sizes,
    course_of,
    joined,
)
from featherweight.simulation.status import Status

FORMAT = {"format": "featherweight trajectory", "version": 3}


@dataclass(frozen=True, eq=False)
class Trajectory:
    """K + 1 states and the K intervals between them; batch axes first.

    `t` (K+1,) [s]; `q` (…, K+1, nq); `v` (…, K+1, nv); `tau` (…, K, nv), the forces that acted in the first step of
    each interval, or in what `record` says. Of contact in that step: `contact_force` (…, K, nc, 3) [N] in world axes,
    `contact_slip` (…, K, nc) [m/s], `penetration` (…, K, nc) [m], and `solver` (…, K, 2), turns and residual [m/s]. Of
    an integrator that solves equations, `convergence` (…, K, 2), iterations and relative residual. `status` and
    `failed_step` (…): where a lane failed, its rows from that step on are NaN, and `failed_step` is -1 where it did
    not. `ground` has the surfaces that were there, `parameters` the constants of the robots that were given, by name.
    Of a compiled controller: its state `x` (…, K+1, n), and its `outputs` by name, (…, K, …), in the steps that tau is
    of. Of shapes that may touch: `pair_force` (…, K, n, 3) [N] of each contact point in world axes, which `contacts`
    lists by name; `pairs` says which may touch which. Where many pairs share slots: `slots` (…, K, n, 4), number of the
    contact point and its force, and `missed` (…, K, 1), how many contacts found no slot.
    """

    model: Model | None
    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    contact_force: np.ndarray
    status: np.ndarray
    failed_step: np.ndarray
    complete: bool = True  # False if the run was interrupted
    contact_slip: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    penetration: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    solver: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    convergence: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    ground: tuple[Surface, ...] = field(default=(), kw_only=True)
    pairs: Pairs = field(default=None, kw_only=True)
    pair_force: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)), kw_only=True)
    slots: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)), kw_only=True)
    missed: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)), kw_only=True)
    parameters: Mapping[str, np.ndarray] = field(default_factory=dict, kw_only=True)
    x: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)), kw_only=True)
    outputs: Mapping[str, np.ndarray] = field(default_factory=dict, kw_only=True)

    @staticmethod
    def later(model: Model, ground: tuple[Surface, ...], pairs: Pairs, make: Callable[[str], Any]) -> Trajectory:
        """A complete one, whose other fields are made when they are first asked for, by name."""
        new = object.__new__(Trajectory)
        new.__dict__.update(model=model, ground=ground, pairs=pairs, complete=True, _make=make)
        return new

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """A field that has not been made yet."""
            make, own = self.__dict__.get("_make"), self.__dict__
            if make is not None and name in FIELDS:
                return own.setdefault(name, make(name))  # two threads get the same
            if name in own:  # by now
                return own[name]
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __getstate__(self) -> dict[str, Any]:
        """All fields, which are made now if they have not been."""
        for name in FIELDS:
            getattr(self, name)
        self.__dict__.pop("_make", None)
        return dict(self.__dict__)

    def energy(self) -> np.ndarray:
        """Kinetic and potential energy [J] of every state, shape (…, K+1); NaN where a lane had failed."""
        kinetic, potential = self.energies()
        return kinetic + potential

    def energies(self) -> tuple[np.ndarray, np.ndarray]:
        """Kinetic energy, and potential energy [J] of gravity and springs, of every state, shapes (…, K+1); NaN where a
        lane had failed. They are those of the robots that were simulated, with the `parameters` of each."""
        if self.model is None:
            raise ValueError("energy: this trajectory's file has no model; Trajectory.load(path, model=…)")
        good = np.isfinite(self.q).all(axis=-1) & np.isfinite(self.v).all(axis=-1)
        constants = {name: self._of_states(name, values)[good] for name, values in self.parameters.items()}
        kinetic, potential = np.full((2, *good.shape), np.nan)
        kinetic[good] = kinetic_energy(self.model, self.q[good], self.v[good], parameters=constants)
        potential[good] = potential_energy(self.model, self.q[good], parameters=constants)
        return kinetic, potential

    def _of_states(self, name: str, values: np.ndarray) -> np.ndarray:
        """A parameter (…, *shape) as that of every state, (…, K+1, *shape)."""
        shape = _shape_of(self.model, name)
        leading = values.shape[: values.ndim - len(shape)]
        return np.broadcast_to(values.reshape(*leading, 1, *shape), (*self.q.shape[:-1], *shape))

    def lane(self, number: int, *, every: int = 1) -> Trajectory:
        """One robot of a batch, counted through all batch axes, with every so many of its samples."""
        batch = self.q.shape[:-2]
        count = int(np.prod(batch))
        if not isinstance(number, (int, np.integer)) or isinstance(number, bool) or not 0 <= number < count:
            raise ValueError(f"lane: expected a number from 0 to {count - 1}, got {number!r}")
        where = np.unravel_index(number, batch)
        rows = {name: getattr(self, name) for name in (*STATES, *RECORDS, *OF_SHAPES)}
        own = {n: a[where][::every] if a.shape[: len(batch)] == batch else a for n, a in rows.items()}
        outputs = {name: a[where][::every] for name, a in self.outputs.items()}
        ends = {name: getattr(self, name)[where] for name in ("status", "failed_step")}
        constants = {}
        for name, values in self.parameters.items():
            shape = _shape_of(self.model, name)
            constants[name] = np.broadcast_to(values, (*batch, *shape))[where]
        return replace(self, t=self.t[::every], parameters=constants, outputs=outputs, **own, **ends)

    def contacts(self, k: int) -> list[Contact]:
        """The contacts of shapes in the step after state k of one robot: which touch, where, with what force.

        Places are those at state k; forces act on the first of the two, in the world's axes, in the step of the
        interval that `record` says. Contacts without a force and without depth are left out.
        """
        return contacts_at(self, k)

    def force_between(self, a: str, b: str) -> np.ndarray:
        """Force [N] on a shape, or on all shapes of a link, from another, or from "ground": the sum over their contact
        points, in the world's axes, shape (…, K, 3). That of b from a is its negative."""
        return force_between(self, a, b)

    def plot(self, **options: Any) -> Any:
        """Curves over time as a matplotlib figure; the options are those of `featherweight.plot.plot`."""
        return _above("plot").plot(self, **options)

    def show(self, **options: Any) -> Any:
        """Open the viewer in a browser; the options are those of `featherweight.viewer.show`."""
        return _above("viewer").show(self, **options)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to a file, whole or not at all, in the format that its name ends in.

        .fw: all there is, with the robot and the ground; `load` and `featherweight view` read it. For other programs:
        .npz (NumPy), .csv, .parquet (needs pyarrow); `featherweight.files` says which columns they have.
        """
        if check_ending("path", path, (*RUN, *TABLES)) in TABLES:
            return _above("files").write_table(self, path)
        facts = {**FORMAT, "model": getattr(self.model, "name", ""), "complete": self.complete}
        facts |= header_of(self.model, self.ground, self.parameters, self.pairs)
        write(path, facts, [({}, self._arrays())])

    def to_frame(self) -> Any:
        """A `pandas.DataFrame`, one row a state: columns t, q.JOINT, v.JOINT, tau.JOINT, force.POINT.x …; a batch also
        has `lane`. Needs pandas."""
        return _above("files").to_frame(self)

    def _arrays(self) -> dict[str, np.ndarray]:
        names = ("t", "q", "v", *RECORDS, "status", "failed_step")
        others = {f"{OUTPUT}{name}": np.asarray(values) for name, values in self.outputs.items()}
        others |= {name: np.asarray(getattr(self, name)) for name in ("x", *OF_SHAPES) if getattr(self, name).size}
        return {name: np.asarray(getattr(self, name)) for name in names} | others | in_a_row(self.parameters)

    @staticmethod
    def load(path: str | os.PathLike[str], *, model: Model | None = None, roots: Any = ()) -> Trajectory:
        """Read what `save` wrote, or what a run has written so far. The robot is the file's if none is given; one that
        was too large for the head of the file is not in it. Its meshes are kept by their names: `roots` are folders in
        which they are looked for, as in `featherweight.load`.

        Whatever is in a file, this gives a trajectory or ValueError, and takes no more memory than a few times its size
        and 64 MB: a run in which all robots had failed is filled up to its end with NaN only if that is less.
        """
        facts, chunks, _ = read(path)
        if any(facts.get(name) != value for name, value in FORMAT.items()):
            found = {name: facts.get(name) for name in FORMAT}
            raise ValueError(f"{path}: expected a trajectory of version {FORMAT['version']}, got {found}")
        try:
            run = _of_file(facts, [arrays for _, arrays in chunks], model)
        except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, MemoryError) as error:
            what = f"{type(error).__name__}: {error}" if not isinstance(error, ValueError) else error
            raise ValueError(f"{path}: not a trajectory of featherweight: {what}") from None
        return run if run.model is None or not roots else replace(run, model=with_meshes(run.model, roots))

    def __repr__(self) -> str:
        bad = int(np.count_nonzero(self.status))
        lanes = f"{self.status.size} lanes, {bad} failed, " if self.status.ndim else "failed, " * bad
        end = "" if self.complete else ", not complete"
        return f"<Trajectory: {lanes}{len(self.t)} states, {self.t[-1] - self.t[0]:g} s{end}>"

    def _repr_html_(self) -> str:
        """For notebooks: what it was, the moving robot, curves."""
        return str(_above("notebooks").trajectory_html(self))

    def player(self, **options: Any) -> Any:
        """The moving robot inside of a notebook; the options are those of `featherweight.notebooks.player`."""
        return _above("notebooks").player(self, **options)


FIELDS = {f.name: None for f in fields(Trajectory)}


def _above(name: str) -> Any:
    """A part of featherweight that stands on this one: it is looked up when it is wanted, and not needed here."""
    return importlib.import_module(f"featherweight.{name}")


def _shape_of(model: Model | None, name: str) -> tuple[int, ...]:
    """Of one state's value of a parameter."""
    if model is None or name not in model.parameters:
        raise ValueError(f"parameters: {name!r} was not declared when the trajectory's model was built")
    return model.parameters[name].shape


def _of_file(facts: dict[str, Any], chunks: list[dict[str, np.ndarray]], model: Model | None) -> Trajectory:
    """The trajectory that a file has, or what a run has written of it so far."""
    known: dict[str, Any] = {"ground": ground_in(facts), "pairs": pairs_in(facts)}
    own = robot_in(facts) if model is None else None
    if not chunks:
        raise ValueError("the run was killed before its first state was written, or that is damaged")
    known["parameters"] = parameters_in(facts, chunks[0])
    if "run" in facts:
        course = course_of(facts["run"])
        rows, clock, samples = joined(course, chunks)
        found = assembled(model or own, course.batch, course.dt, course.every, samples, rows, clock)
        found = replace(found, **known)
    else:
        (arrays,) = chunks
        check_saved(arrays, facts.get("complete"))
        known |= _by_field({name: values for name, values in arrays.items() if name != ROW})
        found = Trajectory(model or own, complete=facts["complete"], **known)
    if own is not None:
        check_sizes(own, {name: getattr(found, name) for name in ("q", "v", *RECORDS)})
    return found


def assembled(
    model: Model | None,
    batch: tuple[int, ...],
    dt: float,
    every: int,
    samples: int,
    rows: Mapping[str, np.ndarray],
    clock: np.ndarray,
    began: np.ndarray | None = None,
) -> Trajectory:
    """A trajectory of rows by name: q and v (count, K + 1, n), records (count, K, …), and their clocks. NaN where a
    lane had failed, to the end if all have. `began`: steps that each had made before."""
    status, failed, first = clock[:, 1], clock[:, 2], 0.0
    if began is not None and len(began):
        failed, first = np.where(failed < 0, -1.0, np.maximum(failed - began, 0.0)), began[0]
    complete = rows["q"].shape[1] == samples + 1 or bool((status != 0).all())
    if complete:
        rows = {name: _filled(own, samples + (name in STATES)) for name, own in rows.items()}
    steps = np.arange(rows["q"].shape[1]) * every
    lost = (status != 0)[:, None] & (steps[None] >= failed[:, None])
    before = False if began is None else clock[:, 2] < began
    lost[:, 0] &= (status == Status.BAD_INPUT) | before
    if lost.any():
        rows = {name: np.array(own) for name, own in rows.items()}
        for name, own in rows.items():
            own[lost if name in STATES else lost[:, :-1]] = np.nan
    known: dict[str, Any] = _by_field({name: own.reshape(*batch, *own.shape[1:]) for name, own in rows.items()})
    known |= {"status": status.astype(np.uint8).reshape(batch), "failed_step": failed.astype(int).reshape(batch)}
    return Trajectory(model, (first + steps) * dt, complete=complete, **known)


def _by_field(arrays: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Arrays by the names of a trajectory's fields; outputs of a controller are one of them."""
    outputs = {name.removeprefix(OUTPUT): values for name, values in arrays.items() if name.startswith(OUTPUT)}
    return {name: values for name, values in arrays.items() if not name.startswith(OUTPUT)} | {"outputs": outputs}


def _filled(rows: np.ndarray, samples: int) -> np.ndarray:
    """Rows with so many samples; NaN for those that are missing."""
    missing = samples - rows.shape[1]
    if not missing:
        return rows
    return np.concatenate([rows, np.full((len(rows), missing, *rows.shape[2:]), np.nan)], axis=1)
