"""What a stepper shows of its robots: live views of the arrays that native code works on."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from featherweight.compiler.runtime.singles import Singles
from featherweight.contact import Surface
from featherweight.errors import nearest
from featherweight.model import Model
from featherweight.simulation.control import Compiled
from featherweight.simulation.loading import OUTPUT
from featherweight.simulation.options import StepOptions
from featherweight.simulation.problem import Control

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike


LEADING = ("tau", "p")  # what a learner decides
SINGLES = ("q", "v", "x", "contact_force", *LEADING)


class LiveViews:
    """Views of the arrays of `count` robots. A step reads and writes the memory they show."""

    _model: Model
    _arguments: dict[str, Any]
    _options: StepOptions
    _dt: float
    _count: int
    _rows: np.ndarray  # the whole state, a robot a row
    _columns: dict[str, slice]  # its parts by name
    _parts: dict[str, np.ndarray]
    _tau: np.ndarray  # (count, 1, nv)
    _wrenches: np.ndarray | None  # (count, 1, 6 (nb + 1))
    _p: np.ndarray
    _parameters: Mapping[str, np.ndarray]
    _records: dict[str, np.ndarray]  # of the last step, (count, 1, …)
    _takes_tau: bool
    _together: bool  # all clocks are the same
    _singles: Singles

    def __setattr__(self, name: str, value: Any) -> None:
        """Only what there is: a misspelt name would be taken in silence."""
        if not name.startswith("_") and not hasattr(type(self), name):
            known = [own for own in dir(type(self)) if isinstance(getattr(type(self), own), property)]
            near = nearest(name, known)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
            raise AttributeError(f"a Stepper has no {name!r}; {hint}")
        object.__setattr__(self, name, value)

    @property
    def control(self) -> Compiled | Control | None:
        """The controller, if it has one."""
        control: Compiled | Control | None = self._arguments["control"]
        return control

    @property
    def ground(self) -> tuple[Surface, ...]:
        """The surfaces that may be touched."""
        contact = self._options.contact
        return () if contact is None else tuple(contact.surfaces)

    @property
    def model(self) -> Model:
        """The robot."""
        return self._model

    @property
    def count(self) -> int:
        """Number of robots."""
        return self._count

    @property
    def dt(self) -> float:
        """Length of a step [s]."""
        return self._dt

    @property
    def q(self) -> np.ndarray:
        """Configurations, (count, nq): a live view."""
        return self._parts["q"]

    @q.setter
    def q(self, values: ArrayLike) -> None:
        self._parts["q"][...] = values

    @property
    def v(self) -> np.ndarray:
        """Velocities, (count, nv): a live view."""
        return self._parts["v"]

    @v.setter
    def v(self, values: ArrayLike) -> None:
        self._parts["v"][...] = values

    @property
    def x(self) -> np.ndarray:
        """The state of a compiled controller, (count, n): a live view."""
        return self._parts.get("x", self._rows[:, :0])

    @x.setter
    def x(self, values: ArrayLike) -> None:
        self.x[...] = values

    @property
    def p(self) -> np.ndarray:
        """Parameters of a compiled controller, (count, m): a live view."""
        return self._p

    @p.setter
    def p(self, values: ArrayLike) -> None:
        self._p[...] = values

    @property
    def tau(self) -> np.ndarray:
        """Forces on the joints, (count, nv): a live view that is held until it is written again. With a controller, the
        forces of the last step."""
        return self._tau[:, 0] if self._takes_tau else self._record("tau")

    @tau.setter
    def tau(self, values: ArrayLike) -> None:
        if not self._takes_tau:
            raise AttributeError("tau: the controller gives the forces; write its parameters, p, or use no controller")
        self._tau[:, 0] = values

    @property
    def f_ext(self) -> np.ndarray:
        """Wrenches [force; moment] on the bodies, each in its frame at its origin, (count, nb+1, 6): a live view, held
        until it is written again. The first look compiles a step that has them, if `f_ext` was not given."""
        return self._with_wrenches().reshape(self._count, self._model.nb + 1, 6)

    @f_ext.setter
    def f_ext(self, values: ArrayLike) -> None:
        self.f_ext[...] = values

    def _with_wrenches(self) -> np.ndarray:
        """(count, 1, 6 (nb + 1)), from now on a part of each step."""
        raise NotImplementedError

    @property
    def parameters(self) -> Mapping[str, np.ndarray]:
        """The model's declared parameters by name, (count, …): live views."""
        return self._parameters

    @property
    def t(self) -> np.ndarray:
        """Time of each robot since it began [s], (count,)."""
        return self._parts["clock"][:, 0] * self._dt

    @property
    def status(self) -> np.ndarray:
        """How each robot does, (count,): numbers of `fw.Status`. One that has failed stands still."""
        return self._parts["clock"][:, 1].astype(np.uint8)

    @property
    def failed_step(self) -> np.ndarray:
        """The step in which each robot failed, (count,); -1 if it did not."""
        return self._parts["clock"][:, 2].astype(int)

    @property
    def contact_force(self) -> np.ndarray:
        """Forces [N] on the contact points in the last step, in world axes, (count, nc, 3): a live view."""
        return self._record("contact_force")

    @property
    def contact_slip(self) -> np.ndarray:
        """Speeds [m/s] at which contact points slid in the last step, (count, nc): a live view."""
        return self._record("contact_slip")

    @property
    def penetration(self) -> np.ndarray:
        """Depths [m] of contact points at the last step, (count, nc): a live view."""
        return self._record("penetration")

    @property
    def outputs(self) -> Mapping[str, np.ndarray]:
        """Outputs of a compiled controller in the last step by name, (count, …): live views."""
        names = (name for name in self._records if name.startswith(OUTPUT))
        return MappingProxyType({name.removeprefix(OUTPUT): self._record(name) for name in names})

    def _show(self, records: Mapping[str, np.ndarray], k: int) -> None:
        """What a run kept in interval k, (count, K, …) by name, is what records show from now on."""
        if k >= 0:
            for name, record in self._records.items():
                record[:, 0] = records[name][:, k]

    def _record(self, name: str) -> np.ndarray:
        """Of the last step, to be read only."""
        view = self._records[name][:, 0]
        view.flags.writeable = False
        return view

    @property
    def layout(self) -> Mapping[str, slice]:
        """What the columns of `state()` are: q, v, clock (steps made, status, failed step), and what the integrator,
        contact, and a compiled controller remember."""
        return MappingProxyType(self._columns)

    @property
    def bytes_per_robot(self) -> int:
        """Memory that each robot takes."""
        arrays = [self._rows, self._rows, self._tau, self._p, *self._parameters.values(), *self._records.values()]
        arrays += [] if self._wrenches is None else [self._wrenches]
        return sum(array.nbytes for array in arrays) // max(1, self._count)

    def view(self, name: str, dtype: DTypeLike = np.float32) -> np.ndarray:
        """A copy of a view in single precision, (count, …), for learners; native code of `step` keeps it up to date.

        Of "q", "v", "x", "contact_force" and the names of `outputs` it shows the state after each step, reset or load.
        What is written into that of "tau" or "p" acts in the next step; with a controller that of "tau" shows the
        forces. It is the same array each time, in one piece: `torch.from_numpy` and `np.from_dlpack` share its memory.
        An output whose name is that of a view is not seen here.
        """
        if np.dtype(dtype) != np.float32:
            raise TypeError(f"dtype: expected float32, got {np.dtype(dtype)}; the views themselves are float64")
        outputs = self.outputs
        if name not in SINGLES and name not in outputs:
            raise ValueError(f"view: expected one of {', '.join((*SINGLES, *outputs))}, got {name!r}")
        view = getattr(self, name) if name in SINGLES else outputs[name]
        return self._singles.of(name, view, leads=name in LEADING and view.flags.writeable)

    def __repr__(self) -> str:
        failed = int(np.count_nonzero(self._parts["clock"][:, 1]))
        when = f"t = {self.t[0]:g} s" if self._together else "each at its own time"
        return f"<Stepper: {self._count} × {self._model.name}, {when}, {failed} failed>"
