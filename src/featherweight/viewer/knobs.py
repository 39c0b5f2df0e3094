"""Knobs: numbers of a running simulation that sliders and keys change. A knob is one place of an array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from featherweight.model import Model
from featherweight.simulation import Compiled, Stepper
from featherweight.viewer.keys import TAKEN, on_key
from featherweight.visuals.terrain import round_length

STEPS = 20  # presses of a key from one end of a knob to the other
VELOCITY = (  # of a quadruped's command: name, limit, keys for less and more
    ("forward [m/s]", 1.0, ("K", "I")),
    ("sideways [m/s]", 0.5, ("O", "U")),
    ("turning [rad/s]", 1.0, ("L", "J")),
)
STOP = "M"


@dataclass(frozen=True, eq=False)
class Knob:
    """One number of an array, from `low` to `high`: of a live view such as `sim.p[0]`, `sim.tau[0]`,
    `sim.parameters[name][0]`, or of an array of yours that a Python controller reads.

    >>> goal = np.zeros(2)
    >>> Knob("height [m]", goal, 1, -0.5, 0.5, keys=("K", "I")).turn(1)
    >>> goal
    array([0.  , 0.05])

    Args:
        name: beside its slider, with the unit.
        array: what is written into, in place.
        index: which number of it.
        low: least value.
        high: largest value.
        keys: two keys, for less and for more: capital letters or digits, but W A S D Q E, which move the camera.
    """

    name: str
    array: np.ndarray
    index: Any
    low: float
    high: float
    keys: tuple[str, str] | tuple[()] = ()

    def __post_init__(self) -> None:
        if not (np.isfinite(self.low) and np.isfinite(self.high) and self.low < self.high):
            raise ValueError(f"knob {self.name!r}: expected finite low < high, got {self.low!r} and {self.high!r}")
        if not isinstance(self.array, np.ndarray) or np.ndim(self.array[self.index]):
            raise TypeError(f"knob {self.name!r}: expected an array and the index of one number of it")
        if self.keys and (len(self.keys) != 2 or TAKEN & set(self.keys)):
            raise ValueError(
                f"knob {self.name!r}: expected two keys, for less and more, but {', '.join(sorted(TAKEN))}, "
                f"which move the camera, got {self.keys!r}"
            )

    @property
    def value(self) -> float:
        """What it is now."""
        return float(self.array[self.index])

    def set(self, value: float) -> None:
        """Write a value, as near as the range allows."""
        self.array[self.index] = min(max(float(value), self.low), self.high)

    def turn(self, steps: int) -> None:
        """By so many presses of a key, to a number that is not long."""
        step = (self.high - self.low) / STEPS
        self.set(step * round(self.value / step + steps, 6))
        self.set(float(f"{self.value:.6g}"))


def knobs_of(sim: Stepper) -> list[Knob]:
    """What there is to turn: the velocity of a quadruped's controller, targets of joints, the model's parameters."""
    found = []
    if isinstance(sim.control, Compiled):
        found += _of_controller(sim.control.function, sim.p[0], sim.model)
    for name, values in sim.parameters.items():
        for index in np.ndindex(values.shape[1:]):
            now = float(values[0][index])
            low, high = (0.0, 2.0 * now) if now > 0 else (2.0 * now, 0.0) if now < 0 else (-1.0, 1.0)
            label = name if not index else f"{name} {', '.join(map(str, index))}"
            found.append(Knob(label, values[0] if index else values, index or 0, low, high))
    return found


def _of_controller(function: Any, p: np.ndarray, model: Model) -> list[Knob]:
    """Of parameters that are laid out by name: `velocity`, `target`, and those of a controller `inside`."""
    layout = getattr(function, "layout", None)
    if layout is None:
        return []
    places = layout.read(np.arange(layout.size))  # where each number stands in p
    if hasattr(places, "inside"):
        return _of_controller(function.function, p[places.inside[0] :] if len(places.inside) else p[:0], model)
    if hasattr(places, "velocity"):
        if getattr(function, "offsets", ()) is None:  # it stands
            return []
        knobs = zip(places.velocity, VELOCITY, strict=True)
        return [Knob(name, p, int(k), -most, most, keys) for k, (name, most, keys) in knobs]
    if hasattr(places, "target"):
        targets = np.ravel(places.target)
        own = list(getattr(function, "places", range(model.nq)))
        return [
            Knob(f"{joint.name} →", p, int(targets[own.index(joint.q.start)]), *_range(joint))
            for joint in model.independent_joints
            if joint.kind.nq == 1 and joint.q.start in own
        ]
    return []


def _range(joint: Any) -> tuple[float, float]:
    low, high = (round(float(np.ravel(limit)[0]), 3) for limit in (joint.limits.lower, joint.limits.upper))
    return (low, high) if np.isfinite(low) and np.isfinite(high) and low < high else (-np.pi, np.pi)


class KnobPanel:
    """A slider for each knob, and keys: their own, or J and L to choose one and I and K to turn it."""

    def __init__(self, gui: Any, knobs: Sequence[Knob], lock: Any) -> None:
        self._knobs, self._lock, self._chosen = list(knobs), lock, 0
        if not knobs:
            return
        with gui.add_folder("steer"):
            self._sliders = [self._slider(gui, knob) for knob in self._knobs]
            if any(knob.keys for knob in self._knobs):
                self._own_keys(gui)
            else:
                self._text = gui.add_text("J L choose, I K turn", self._knobs[0].name, disabled=True)
                for key, by in (("J", -1), ("L", 1)):
                    on_key(gui, key, f"choose {'previous' if by < 0 else 'next'}", partial(self._choose, by))
                for key, by in (("K", -1), ("I", 1)):
                    on_key(gui, key, "less" if by < 0 else "more", partial(self._turn_chosen, by))

    def _slider(self, gui: Any, knob: Knob) -> Any:
        name = knob.name if not knob.keys else f"{knob.name} {knob.keys[0]} {knob.keys[1]}"
        value = min(max(knob.value, knob.low), knob.high)
        slider = gui.add_slider(name, knob.low, knob.high, round_length((knob.high - knob.low) / 400), value)

        @slider.on_update
        def _(event: Any) -> None:
            if event.client is not None:
                with self._lock:
                    knob.set(slider.value)

        return slider

    def _own_keys(self, gui: Any) -> None:
        for k, knob in enumerate(self._knobs):
            for key, by in zip(knob.keys, (-1, 1), strict=False):
                on_key(gui, key, f"{knob.name}: {'less' if by < 0 else 'more'}", partial(self._turn, k, by))
        if not any(STOP in knob.keys for knob in self._knobs):
            on_key(gui, STOP, "all to zero", self._zero)
            gui.add_markdown(f"Keys: as named, and {STOP} for all to zero. Click beside the robot first.")

    def _turn(self, k: int, steps: int) -> None:
        with self._lock:
            self._knobs[k].turn(steps)
            self._sliders[k].value = self._knobs[k].value

    def _turn_chosen(self, steps: int) -> None:
        self._turn(self._chosen, steps)

    def _choose(self, by: int) -> None:
        self._chosen = (self._chosen + by) % len(self._knobs)
        self._text.value = self._knobs[self._chosen].name

    def _zero(self) -> None:
        with self._lock:
            for knob, slider in zip(self._knobs, self._sliders, strict=True):
                if knob.keys:
                    knob.set(0.0)
                    slider.value = knob.value
