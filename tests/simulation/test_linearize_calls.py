"""Repeated calls of `linearize` go straight to native code: with the results of a first call, whatever was called
between."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pytest

import featherweight as fw
from featherweight.constraints import JointLimit
from featherweight.contact import SpringDamper
from featherweight.forces import ForceElement, Kinematics, Push
from featherweight.simulation.actuators import EffortLimits
from featherweight.simulation.linearized_step import Linearized


def cart() -> fw.Model:
    builder = fw.Builder("cart")
    joint = fw.joints.Prismatic("x")
    builder.add_body("cart", joint=joint, inertia=fw.Inertia.point(2.0), limits=fw.Limits(upper=0.31, effort=0.25))
    builder.add_contact_point("wheel", parent="cart", position=[0.0, 0.0, -1e-3])
    return builder.build()


@dataclass(frozen=True)
class Pull(ForceElement):
    def forces(self, at: Kinematics, memory: Sequence[Any]) -> Push:
        return Push(joints={0: 0.5})


def alike(a: Linearized, b: Linearized) -> bool:
    return all(np.array_equal(x, y) and x.shape == y.shape for x, y in zip(a, b, strict=True))


def test_calls_in_any_order_are_those_of_a_fresh_model() -> None:
    x = np.array([0.3])
    batch = np.array([[0.1], [0.2], [0.3]])
    calls: list[tuple[Any, dict[str, Any]]] = [
        ((x, x, x), {"dt": 0.5}),
        ((x, x, 2.0 * x), {"dt": 0.5}),
        ((x, x), {"dt": 0.5}),
        ((x, x, x), {"dt": 0.25}),
        ((batch, batch, x), {"dt": 0.25}),
        ((x, x, x), {"dt": 0.25, "f_ext": np.full((2, 6), 0.5)}),
        ((x, x, x), {"dt": 0.25, "limits": False}),
        ((x, x, x), {"dt": 0.25, "limits": False, "integrator": "rk4"}),
        ((x, x, x), {"dt": 0.25, "limits": False, "constraints": (JointLimit(),)}),
        ((x, x, x), {"dt": 0.25, "limits": False, "forces": (Pull(),)}),
        ((x, x, x), {"dt": 0.25, "limits": False, "actuators": EffortLimits()}),
        ((x, x, x), {"dt": 0.25, "limits": False, "contact": SpringDamper()}),
        (([0.3], [0.3], [0.3]), {"dt": 1}),
    ]
    fresh = [fw.linearize(cart(), *args, **options) for args, options in calls]
    model = cart()
    for k in (k for pair in product(range(len(calls)), repeat=2) for k in pair):
        args, options = calls[k]
        found = fw.linearize(model, *args, **options)
        assert type(found) is Linearized
        assert found.A is found[2]
        assert alike(found, fresh[k])


def test_what_is_no_length_of_a_step_is_refused_after_the_same_number() -> None:
    model, x = cart(), np.zeros(1)
    fw.linearize(model, x, x, x, dt=1.0)
    with pytest.raises((TypeError, ValueError), match="dt"):
        fw.linearize(model, x, x, x, dt=True)
    with pytest.raises(TypeError, match="model"):
        fw.linearize("cart", x, x, x, dt=1.0)  # type: ignore[arg-type]


def test_named_tuples_of_native_code_are_freed() -> None:
    model, x = cart(), np.zeros(1)
    fw.linearize(model, x, x, x, dt=1.0)
    assert gc.is_tracked(fw.linearize(model, x, x, x, dt=1.0))
    before = sys.getrefcount(Linearized)
    for _ in range(100):
        fw.linearize(model, x, x, x, dt=1.0)
    assert sys.getrefcount(Linearized) == before
    held = fw.linearize(model, x, x, x, dt=1.0)
    assert sys.getrefcount(Linearized) == before + 1
    assert held.B is not fw.linearize(model, x, x, x, dt=1.0).B
