"""Calls with plain arrays are remembered: the next one goes straight to native code, with the same bits."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import featherweight as fw
from featherweight.compiler.runtime.fastcall import _numpy_api
from featherweight.dynamics.evaluate import Quantity

pytestmark = pytest.mark.skipif(_numpy_api() is None, reason="no native entry point on this Python or NumPy")

Call = Callable[..., Any]
CALLS: dict[str, Call] = {
    "forward_dynamics": lambda m, q, v, a: fw.forward_dynamics(m, q, v, a),
    "inverse_dynamics": lambda m, q, v, a: fw.inverse_dynamics(m, q, v, a),
    "joint_wrenches": lambda m, q, v, a: fw.joint_wrenches(m, q, v, a),
    "mass_matrix": lambda m, q, v, a: fw.mass_matrix(m, q),
    "mass_matrix_inverse": lambda m, q, v, a: fw.mass_matrix_inverse(m, q),
    "solve_mass_matrix": lambda m, q, v, a: fw.solve_mass_matrix(m, q, a),
    "bias_force": lambda m, q, v, a: fw.bias_force(m, q, v),
    "gravity_force": lambda m, q, v, a: fw.gravity_force(m, q),
    "coriolis_matrix": lambda m, q, v, a: fw.coriolis_matrix(m, q, v),
    "forward_kinematics": lambda m, q, v, a: fw.forward_kinematics(m, q),
    "frame_pose": lambda m, q, v, a: fw.frame_pose(m, q, "tip"),
    "jacobian": lambda m, q, v, a: fw.jacobian(m, q, "tip", "world_aligned"),
    "jacobian_dot": lambda m, q, v, a: fw.jacobian_dot(m, q, v, "tip"),
    "body_velocity": lambda m, q, v, a: fw.body_velocity(m, q, v, "tip", "world"),
    "body_acceleration": lambda m, q, v, a: fw.body_acceleration(m, q, v, a, "tip", "body", classical=True),
    "wrench_on": lambda m, q, v, a: fw.wrench_on(m, q, "tip", np.arange(6.0), "world_aligned"),
    "kinetic_energy": lambda m, q, v, a: fw.kinetic_energy(m, q, v),
    "center_of_mass": lambda m, q, v, a: fw.center_of_mass(m, q),
    "centroidal_momentum_matrix": lambda m, q, v, a: fw.centroidal_momentum_matrix(m, q),
    "delassus": lambda m, q, v, a: fw.delassus(m, q, ["tip", "side"]),
    "operational_inertia": lambda m, q, v, a: fw.operational_inertia(m, q, ["tip"]),
    "integrate": lambda m, q, v, a: fw.integrate(m, q, v, 0.1),
    "inverse_dynamics_derivatives": lambda m, q, v, a: fw.inverse_dynamics_derivatives(m, q, v, a),
    "forward_dynamics_derivatives": lambda m, q, v, a: fw.forward_dynamics_derivatives(m, q, v, a),
    "regressor": lambda m, q, v, a: fw.regressor(m, q, v, a),
}
calls = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)


def arm() -> fw.Model:
    """Six joints: any force at its end moves it."""
    builder, parent = fw.Builder("arm"), "world"
    for k, axis in enumerate("zyxzyx"):
        builder.add_body(
            f"link{k}", parent=parent, joint=fw.joints.Revolute(axis), placement=fw.Placement((0.1, 0.2, 0.3)),
            inertia=fw.Inertia.box(1.0, (0.1, 0.2, 0.3), (0.1, 0, 0.1)),
        )  # fmt: skip
        parent = f"link{k}"
    builder.add_contact_point("tip", parent=parent, position=(0.3, 0, 0))
    return builder.add_contact_point("side", parent="link2", position=(0, 0.2, 0)).build()


def refuse(*_: Any, **__: Any) -> Any:
    raise AssertionError("this call has been made before")


@calls
def test_the_second_call_of_one_state_goes_straight_to_native_code(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    model, state = arm(), np.random.default_rng(0).normal(size=(3, 6))
    first = call(model, *state)
    for name, module in list(sys.modules.items()):
        if name.startswith("featherweight.dynamics.") and hasattr(module, "evaluate"):
            monkeypatch.setattr(module, "evaluate", refuse)
    again = call(model, *state)
    for one, other in zip(*(x if isinstance(x, tuple) else (x,) for x in (again, first)), strict=True):
        np.testing.assert_array_equal(one, other)


@calls
def test_two_states_are_a_batch_that_is_remembered(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    model, rng = arm(), np.random.default_rng(0)
    call(model, *rng.normal(size=(3, 2, 6)))
    monkeypatch.setattr(Quantity, "kernel", refuse)
    call(model, *rng.normal(size=(3, 2, 6)))


def test_a_batch_goes_straight_to_native_code_beside_single_states(monkeypatch: pytest.MonkeyPatch) -> None:
    model, states = arm(), np.random.default_rng(0).normal(size=(3, 2, 6))
    fw.inverse_dynamics(model, *states[:, 0].copy())
    first = fw.inverse_dynamics(model, *states)
    for name, module in list(sys.modules.items()):
        if name.startswith("featherweight.dynamics.") and hasattr(module, "evaluate"):
            monkeypatch.setattr(module, "evaluate", refuse)
    np.testing.assert_array_equal(fw.inverse_dynamics(model, *states), first)


PUBLIC = [getattr(fw, name) for name in CALLS]


@pytest.mark.parametrize("function", PUBLIC, ids=CALLS)
def test_the_fast_path_changes_no_signature(function: Call) -> None:
    """Names, order, defaults and kinds of the arguments are those of the function that it stands before."""
    plain = function.__wrapped__  # type: ignore[attr-defined]
    fast, slow = function.__code__, plain.__code__
    count = slow.co_argcount + slow.co_kwonlyargcount
    assert (fast.co_argcount, fast.co_kwonlyargcount) == (slow.co_argcount, slow.co_kwonlyargcount)
    assert fast.co_varnames[:count] == slow.co_varnames[:count]
    assert (function.__defaults__, function.__kwdefaults__) == (plain.__defaults__, plain.__kwdefaults__)
    assert function.__annotations__ == plain.__annotations__


@calls
def test_an_error_is_shown_with_the_lines_that_led_to_it(call: Call) -> None:
    with pytest.raises(TypeError, match="model: expected a featherweight Model, got int") as caught:
        call(3, *np.zeros((3, 6)))
    assert "return function(model, " in "".join(traceback.format_exception(caught.value))


def test_names_may_come_one_by_one_as_often_as_wanted() -> None:
    """A generator can be read once: to look for the fast path must not use it up."""
    model, q = arm(), np.array([0.3, -0.4, 0.5, -0.6, 0.7, -0.8])
    pairs: list[tuple[Call, list[str]]] = [(fw.delassus, ["side", "tip"]), (fw.operational_inertia, ["tip"])]
    for function, names in pairs:
        expected = function(model, q, names)
        for _ in range(2):
            np.testing.assert_array_equal(function(model, q, (name for name in names)), expected)
            np.testing.assert_array_equal(function(model, q.tolist(), (name for name in names)), expected)


def test_points_may_be_named_or_given_by_arrays_as_often_as_wanted() -> None:
    """Only names are remembered: an array may be altered between two calls."""
    model, place = arm(), np.array([0.3, 0.0, 0.0])
    q = np.array([0.3, -0.4, 0.5, -0.6, 0.7, -0.8])
    named = fw.delassus(model, q, ["side", "tip"])
    for _ in range(3):
        np.testing.assert_allclose(fw.delassus(model, q, ["side", ("link5", place)]), named, rtol=1e-12, atol=1e-12)
    place[0] = 0.0
    assert np.abs(fw.delassus(model, q, ["side", ("link5", place)]) - named).max() > 1e-3
