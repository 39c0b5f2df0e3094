"""Inputs of functions: arrays of numbers, and configurations, which are differentiated along q ⊕ δ.

A configuration has nq numbers and nv directions: δ moves each joint in its own space, as a velocity held for a unit of
time does, in the body's frame and linear part first. The chart q ⊕ δ is only looked at where δ = 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from featherweight.compiler import Argument
from featherweight.differentiation import Tangents, pullback, pushforward
from featherweight.dynamics.checks import checked_model
from featherweight.joints import Joint
from featherweight.model import Model


@dataclass(frozen=True, eq=False)
class Configuration:
    """An input that is a configuration of a model: see `configuration`."""

    model: Model


def configuration(model: Model) -> Configuration:
    """An input or output of `fw.function` that is a configuration q of this model, shape (nq,).

    Its derivatives are taken in its tangent space: nv directions, q ⊕ δ, each joint in its own frame, linear first. So
    derivatives of energies are joint forces, whatever the joints are.

    >>> import featherweight as fw
    >>> model = fw.robots.pendulum(length=2.0)
    >>> energy = fw.function(lambda q: fw.potential_energy(model, q), inputs={"q": fw.configuration(model)})
    >>> float(fw.derivative(energy, "q")([0.5])[0]) == float(fw.gravity_force(model, [0.5])[0])
    True
    """
    return Configuration(checked_model(model))


@dataclass(frozen=True, eq=False)
class Input:
    """A named input: the shape of its value for one state, and of its directions; the model of a configuration."""

    name: str
    shape: tuple[int, ...]
    directions: tuple[int, ...]
    model: Model | None = None

    @property
    def size(self) -> int:
        return prod(self.shape)

    @property
    def argument(self) -> Argument:
        """What a kernel is told."""
        if self.model is None:
            return Argument(self.name, self.shape, ", ".join(map(str, self.shape)))
        return Argument(self.name, self.shape, "nq", tuple(j.q.start for j in self.model.independent_joints))

    def check(self, values: Sequence[Any]) -> Any:
        """Zero if the values are allowed."""
        total: Any = 0
        for joint in () if self.model is None else self.model.independent_joints:
            total = total + joint.kind.check(values[joint.q])
        return total

    def explain(self, values: np.ndarray) -> str | None:
        """What is wrong with an array of values, if anything is."""
        for joint in () if self.model is None else self.model.independent_joints:
            reason = joint.kind.explain(values[..., joint.q])
            if reason is not None:
                return f"{self.name}: joint {joint.name!r}: {reason}"
        return None

    def tangents(self, values: Sequence[Any], along: Sequence[Tangents]) -> list[Tangents]:
        """Tangents of the values when δ has tangents `along`."""
        if self.model is None:
            return list(along)
        found: list[Tangents] = [{} for _ in values]
        for joint in self.model.independent_joints:
            q, directions = list(values[joint.q]), along[joint.v]
            if any(directions):
                start: list[Any] = [0.0] * joint.kind.nv
                found[joint.q] = pushforward(_chart(joint.kind), [*q, *start], [*({} for _ in q), *directions])
        return found

    def cotangents(self, values: Sequence[Any], weights: Sequence[Any]) -> list[Any]:
        """Cotangents of δ from those of the values."""
        if self.model is None:
            return list(weights)
        found: list[Any] = [0.0] * self.model.nv
        for joint in self.model.independent_joints:
            q, start = list(values[joint.q]), [0.0] * joint.kind.nv
            wanted = [*(False for _ in q), *(True for _ in start)]
            found[joint.v] = pullback(_chart(joint.kind), [*q, *start], weights[joint.q], wanted)[len(q) :]
        return found


def _chart(kind: Joint) -> Any:
    """q ⊕ δ of a joint near δ = 0, as a function of (q, δ): to first order, where the joint knows that."""
    nq = kind.nq
    if type(kind).coordinate_rate is Joint.coordinate_rate:
        return lambda x: kind.integrate(x[:nq], x[nq:])
    return lambda x: [a + b for a, b in zip(x[:nq], kind.coordinate_rate(x[:nq], x[nq:]), strict=True)]


def velocities(model: Model, q: Sequence[Any], tangents: Sequence[Tangents]) -> list[Tangents]:
    """δ of a configuration that was computed, from the tangents of its numbers: the derivative of q ⊖ q₀ at q₀ = q."""
    found: list[Tangents] = [{} for _ in range(model.nv)]
    for joint in model.independent_joints:
        own, moved = list(q[joint.q]), tangents[joint.q]
        if any(moved):
            found[joint.v] = pushforward(_difference(joint.kind), [*own, *own], [*({} for _ in own), *moved])
    return found


def weights_of_numbers(model: Model, q: Sequence[Any], weights: Sequence[Any]) -> list[Any]:
    """Weights on the numbers of a configuration that was computed, from weights on its δ."""
    found: list[Any] = [0.0] * model.nq
    for joint in model.independent_joints:
        own = list(q[joint.q])
        wanted = [*(False for _ in own), *(True for _ in own)]
        found[joint.q] = pullback(_difference(joint.kind), [*own, *own], weights[joint.v], wanted)[len(own) :]
    return found


def _difference(kind: Joint) -> Any:
    nq = kind.nq
    return lambda x: kind.difference(x[:nq], x[nq:])


def inputs_of(inputs: Any) -> tuple[Input, ...]:
    """The inputs of a function as users write them: a number of entries, a shape, or a configuration, by name."""
    if not isinstance(inputs, Mapping) or not inputs:
        raise TypeError(
            'inputs: expected a dictionary of sizes by name, such as {"q": fw.configuration(model), "p": 3}, got '
            f"{inputs!r}"
        )
    return tuple(_input(name, given) for name, given in inputs.items())


def _input(name: Any, given: Any) -> Input:
    if not isinstance(name, str) or not name.isidentifier():
        raise TypeError(f"inputs: expected names of arguments, got {name!r}")
    if isinstance(given, Configuration):
        return Input(name, (given.model.nq,), (given.model.nv,), given.model)
    shape = (given,) if isinstance(given, (int, np.integer)) and not isinstance(given, bool) else given
    sizes = isinstance(shape, (tuple, list)) and all(
        isinstance(n, (int, np.integer)) and not isinstance(n, bool) and n >= 0 for n in shape
    )
    if not sizes:
        hint = "; write fw.configuration(model)" if isinstance(given, Model) else ""
        raise TypeError(
            f"inputs: {name}: expected a number of entries, a shape, or fw.configuration(model), got {given!r}{hint}"
        )
    return Input(name, tuple(map(int, shape)), tuple(map(int, shape)))
