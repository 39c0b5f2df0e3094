"""`Stepper`: robots whose whole state stays in native arrays between calls, where it can be read and written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from featherweight.compiler.runtime.arguments import as_array
from featherweight.compiler.runtime.loop import Call, InPlace, Loop
from featherweight.compiler.runtime.singles import Singles
from featherweight.constraints import Constraint
from featherweight.contact import ContactModel
from featherweight.dynamics.checks import checked_model
from featherweight.dynamics.evaluate import parameter_values
from featherweight.forces import ForceElement
from featherweight.integrators import Integrator
from featherweight.model import Model
from featherweight.simulation.actuators import Actuators
from featherweight.simulation.choosing import Alone, as_states, chosen, number_of_robots
from featherweight.simulation.control import Compiled, as_forces, raised
from featherweight.simulation.live import LiveViews
from featherweight.simulation.problem import (
    MOST_STEPS,
    Control,
    Problem,
    check_record,
    constants_for,
    first_carry,
    seconds,
    step_options,
    whole_number,
)
from featherweight.simulation.python_run import run_of
from featherweight.simulation.running import chunk_of, drive
from featherweight.simulation.step import step_loop
from featherweight.simulation.trajectory import Trajectory
from featherweight.simulation.warning import warn

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class Stepper(LiveViews):
    """`count` robots whose whole state stays in native arrays between calls: state in, state out.

    `q` (count, nq), `v` (count, nv), a compiled controller's state `x` and parameters `p`, the forces `tau`, the
    wrenches `f_ext` (count, nb+1, 6) and the model's `parameters[name]` are live views: a step reads and writes the
    memory they show. What is written into them is checked in the next step, lane by lane: a lane with NaN, or a
    quaternion that is not unit, stands still from then on with the status `BAD_INPUT`, and `reset` brings it back.

    The law: a run that is cut into `step`, `rollout`, `state` and `load` in any way has the bits of one `fw.rollout`.
    A stepper is copied and pickled with its state. A process that forks has two, which go their own ways. It is for one
    thread at a time: a second one that calls it meanwhile gets RuntimeError, and nothing is changed.

    Args:
        model: the robot.
        q, v: states at the beginning, shape (nq,), (nv,) or (count, nq), (count, nv); neutral and zero if not given.
        count: number of robots; as many as there are rows in q and v, if it is not given.
        dt: length of a step [s].
        f_ext: wrenches on the bodies, shape (nb+1, 6) or (count, nb+1, 6). Without them code is compiled that
            knows none; the first look at the view `f_ext` compiles the other.
        parameters: constants that were declared when the model was built, by name, for all or (count, …).

    The others are those of `rollout`. A Python controller is called before each step: one robot's with q (nq,), as
    in `simulate`, those of many with (count, nq), and with a t (count,) once their clocks differ.
    """

    def __init__(
        self,
        model: Model,
        q: ArrayLike | None = None,
        v: ArrayLike | None = None,
        *,
        count: int | None = None,
        dt: float,
        integrator: str | Integrator = "semi_implicit",
        contact: ContactModel | None = None,
        control: Compiled | Control | None = None,
        actuators: Actuators | None = None,
        limits: bool = True,
        forces: ForceElement | Sequence[ForceElement] = (),
        constraints: Constraint | Sequence[Constraint] = (),
        f_ext: ArrayLike | None = None,
        parameters: Mapping[str, ArrayLike] | None = None,
    ) -> None:
        checked_model(model)
        self._model, self._dt = model, seconds("dt", "time step", dt)
        self._arguments: dict[str, Any] = {
            "control": control, "contact": contact, "integrator": integrator, "actuators": actuators, "limits": limits,
            "forces": forces, "constraints": constraints,
        }  # fmt: skip
        options = step_options(model, control is None, f_ext is not None, **self._arguments)
        own = options.control
        given: dict[str, tuple[np.ndarray, int]] = {
            "q": (as_array("q", model.neutral() if q is None else q, (model.nq,), "nq"), 1),
            "v": (as_array("v", np.zeros(model.nv) if v is None else v, (model.nv,), "nv"), 1),
        }
        if f_ext is not None:
            given["f_ext"] = as_array("f_ext", f_ext, (model.nb + 1, 6), "nb + 1, 6"), 2
        if own is not None:
            given |= {"control: state": (own.state, 1), "control: parameters": (own.parameters, 1)}
        values = parameter_values(model, parameters)
        given |= {n: (x, len(p.shape)) for (n, p), x in zip(model.parameters.items(), values, strict=True)}
        self._count = number_of_robots(count, given)

        def rows(name: str) -> np.ndarray:
            array, rank = given[name]
            return np.array(np.broadcast_to(array, (self._count, *array.shape[array.ndim - rank :])), order="C")

        first = rows("q"), rows("v"), rows("control: state") if own is not None else None
        self._begin(step_loop(model, options), first)
        self._tau = np.zeros((self._count, 1, model.nv))
        self._wrenches = rows("f_ext").reshape(self._count, 1, -1) if f_ext is not None else None
        self._parameters = MappingProxyType({name: rows(name) for name in model.parameters})
        self._p = rows("control: parameters") if own is not None else np.zeros((self._count, 0))
        shapes = options.records(model)
        self._records = {name: np.zeros((self._count, 1, *shape)) for name, shape in shapes.items()}
        self._singles, self._alone = Singles(), Alone()
        warn(model, options, self._dt, self._first[0], parameters, limits)
        self._prepare()

    def _begin(self, loop: Loop, first: tuple[np.ndarray, np.ndarray, np.ndarray | None]) -> None:
        """The whole state as one array, a robot a row, and its parts by name; `first`: q, v and x."""
        carry = first_carry(self._model, loop, *first)
        ends = np.cumsum([0, *(part.shape[1] for part in carry)]).tolist()
        self._first, self._together = first, True  # all clocks are the same
        self._rows = np.concatenate(carry, axis=1)
        self._columns = {a.name: slice(*ends[k : k + 2]) for k, a in enumerate(loop.carry)}
        self._parts = {name: self._rows[:, columns] for name, columns in self._columns.items()}

    def _prepare(self) -> None:
        """The loop, and the call that makes steps in place."""
        model = self._model
        control = self._arguments["control"]
        self._control: Any = None if isinstance(control, Compiled) else control
        self._options = options = step_options(model, control is None, self._wrenches is not None, **self._arguments)
        self._loop = step_loop(model, options)
        p = None if options.control is None else self._p
        self._constants = constants_for(options, self._dt, list(self._parameters.values()), p)
        self._takes_tau = control is None
        self._given = [self._tau] if options.given else []
        if self._wrenches is not None:
            self._given.append(self._wrenches)
        carry = list(self._parts.values())
        self._native = self._steps_on(carry, self._given, self._constants, self._records.values(), self._singles)
        self._chunk = chunk_of(self._loop, self._count)

    def _steps_on(self, carry: Any, given: Any, constants: Any, records: Any, singles: Any = None) -> InPlace:
        """Steps in place, with the same forces in each."""
        held = [np.broadcast_to(own, (len(own), MOST_STEPS, own.shape[2])) for own in given]
        return InPlace(self._loop, Call(carry, held, constants, carry, list(records), 1, 1, record="last"), singles)

    def _with_wrenches(self) -> np.ndarray:
        if self._wrenches is None:
            with self._alone:
                self._wrenches = np.zeros((self._count, 1, 6 * self._model.nb + 6))
                self._prepare()
        return self._wrenches

    # ---- time goes on

    def step(self, n: int = 1, ids: ArrayLike | None = None) -> None:
        """Make n steps, of all robots or of those whose numbers are given, in place.

        The interpreter lock is released. Robots that have failed stand still. Ctrl-C comes between steps of all robots.

        Args:
            n: number of steps.
            ids: numbers of robots, each once, or a boolean (count,).
        """
        n = n if type(n) is int and n > 0 else whole_number("n", n)
        with self._alone:
            if ids is not None:
                self._some(n, chosen(ids, self._count))
            elif self._control is None:
                self._steps(self._native, n)
            else:
                self._with_python(n)

    def _steps(self, native: InPlace, n: int) -> None:
        """In native code, up to a tenth of a second at a time."""
        while n > self._chunk:
            native.run(self._chunk)
            n -= self._chunk
        native.run(n)

    def _some(self, n: int, ids: np.ndarray) -> None:
        """Steps of some, on copies of their rows, which go back all at once."""
        if not len(ids):
            return
        self._singles.read()
        rows = self._rows[ids]
        parts = [rows[:, columns] for columns in self._columns.values()]
        given = [own[ids] for own in self._given]
        constants = [own if len(own) == 1 and self._count > 1 else own[ids] for own in self._constants]
        records = {name: np.empty((len(ids), *own.shape[1:])) for name, own in self._records.items()}
        native = self._steps_on(parts, given, constants, records.values())
        if self._control is None:
            self._steps(native, n)
        else:
            for _ in range(n):
                clock = rows[:, self._columns["clock"]][:, 0]
                given[0][:, 0] = self._asked(clock * self._dt, *parts[:2])
                native.run(1)
        self._rows[ids], self._together = rows, False
        for name, record in self._records.items():
            record[ids] = records[name]
        self._singles.write()

    def _with_python(self, n: int) -> None:
        """Steps with a Python controller in between."""
        clock = self._parts["clock"][:, 0]
        for _ in range(n):
            t = float(clock[0] * self._dt) if self._together else clock * self._dt
            self._tau[:, 0] = self._asked(t, self.q, self.v)
            self._native.run(1)

    def _asked(self, t: Any, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """The forces that a Python controller asks for."""
        if self._count == 1:
            t, q, v = float(np.ravel(t)[0]), q[0], v[0]
        when = f"at t = {np.ravel(t)[0]:g} s"
        try:
            forces = self._control(t, q.copy(), v.copy())
        except Exception as error:
            raise raised(self._control, error, when) from error
        return as_forces(forces, (*q.shape[:-1], self._model.nv), when)

    # ---- the whole state

    def state(self) -> np.ndarray:
        """The whole state of all robots, (count, n), as one new array: `layout` says what its columns are.

        It has all that the next step depends on, but for what is held in `tau`, `f_ext`, `p` and `parameters`.
        """
        with self._alone:
            return self._rows.copy()

    def load(self, state: ArrayLike, ids: ArrayLike | None = None) -> None:
        """Go on from what `state` gave: (count, n), rows of the robots whose numbers are given, or one row for all."""
        width = self._rows.shape[1]
        rows = as_states(state, width, self._columns["clock"])
        with self._alone:
            some = None if ids is None else chosen(ids, self._count)
            expected = self._count if some is None else len(some)
            if rows.ndim > 2 or (rows.ndim == 2 and len(rows) not in (1, expected)):
                raise ValueError(f"state: expected shape ({expected}, {width}) or ({width},), got {rows.shape}")
            self._put(rows, some)

    def reset(self, ids: ArrayLike | None = None, q: ArrayLike | None = None, v: ArrayLike | None = None) -> None:
        """Begin anew: all robots, or those whose numbers are given, at time 0, with nothing remembered. What is held in
        `tau`, `f_ext`, `p` and `parameters` stays.

        Args:
            ids: numbers of robots, each once, or a boolean (count,).
            q: configurations, (nq,) or a row for each that is reset; those of the beginning, if they are not given.
            v: velocities, (nv,) or a row for each; those of the beginning, if they are not given.
        """
        model = self._model
        with self._alone:
            some = np.arange(self._count) if ids is None else chosen(ids, self._count)
            new = [None if own is None else own[some] for own in self._first]
            for k, (name, given, size) in enumerate((("q", q, model.nq), ("v", v, model.nv))):
                if given is not None:
                    array = as_array(name, given, (size,), f"n{name}")
                    try:
                        new[k] = np.array(np.broadcast_to(array, (len(some), size)), order="C")
                    except ValueError:
                        raise ValueError(
                            f"{name}: expected shape ({len(some)}, {size}) or ({size},), got {array.shape}"
                        ) from None
            carry = first_carry(model, self._loop, *new)  # type: ignore[arg-type]
            for record in self._records.values():
                record[some] = 0.0
            self._put(np.concatenate(carry, axis=1), None if ids is None else some)

    def _put(self, rows: np.ndarray, ids: np.ndarray | None) -> None:
        """New rows, all at once."""
        if ids is None:
            self._rows[...] = rows
        else:
            self._rows[ids] = rows
        clock = self._parts["clock"][:, 0]
        self._together = bool((clock == clock[:1]).all())
        self._singles.write()

    # ---- a history

    def rollout(self, n: int, *, record_every: int = 1, record: str = "first", progress: bool = False) -> Trajectory:
        """Make n steps and keep every so many states; the stepper goes on from the last.

        `t` goes on from the time of the first robot. `failed_step` counts from here; a robot that had failed before has
        no states. `contact_force`, `outputs` and their like show what was kept last. Ctrl-C ends it early.

        Args:
            n: number of steps.
            record_every: keep every so many states; divides n.
            record: which step of each interval forces and contact are kept of, as in `rollout`.
            progress: show a bar.
        """
        n, every = whole_number("n", n), whole_number("record_every", record_every)
        check_record(record)
        if n % every:
            raise ValueError(f"record_every: expected a divisor of n = {n}, got {every}")
        with self._alone:
            self._singles.read()
            began = np.array(self._parts["clock"][:, 0])
            given = tuple(np.broadcast_to(own, (self._count, n, own.shape[2])) for own in self._given)
            given = given if self._control is None else given[1:]
            contact, alone = self._options.contact, self._count == 1
            problem = Problem(
                self._model, self._dt, n, every, () if alone else (self._count,), self._loop,
                self._options.records(self._model), self._control,
                tuple(own.copy() for own in self._parts.values()), given,
                tuple(self._constants), *((), None) if contact is None else (contact.surfaces, contact.allowed),
                {name: own[0] if alone else own.copy() for name, own in self._parameters.items()},
                record, began,
            )  # fmt: skip
            run = run_of(problem)
            try:
                drive(run, progress, None)
            finally:
                self._show(run.records, run.done - 1)
                self._put(np.concatenate(run.now, axis=1), None)
            return run.trajectory()

    def __reduce__(self) -> Any:
        arguments = {**self._arguments, "dt": self._dt, "count": self._count, "parameters": dict(self._parameters)}
        if self._wrenches is not None:
            arguments["f_ext"] = self._wrenches.reshape(self._count, -1, 6)
        views = {"state": self.state(), "tau": self._tau.copy(), "p": self._p.copy()}
        return _restored, (self._model, *self._first[:2], arguments, views)

    def __deepcopy__(self, memo: dict[int, Any]) -> Stepper:
        """Another stepper of the same robot: its model and a compiled controller never change, and are shared."""
        memo.update((id(one), one) for one in (self._model, self._options.control))
        make, arguments = self.__reduce__()
        return make(*deepcopy(arguments, memo))


def _restored(model: Model, q: np.ndarray, v: np.ndarray, arguments: dict[str, Any], views: Any) -> Stepper:
    """A stepper that was pickled."""
    new = Stepper(model, q, v, **arguments)
    new.load(views["state"])
    new._tau[...], new._p[...] = views["tau"], views["p"]
    return new
