"""Calls that have to do with derivatives, most of them wrong; `make misuse-derivatives` makes 100 000 of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import featherweight as fw
from featherweight.contact import Impulse
from functions.derivative_calls import MODELS, Wrong, cost, judged, random_call, run, targets

HOPPER = MODELS["hopper"]


def test_no_call_gives_a_wrong_answer_or_an_unclear_error() -> None:
    counts, wrong = run(2_000_003, 1500)
    assert not wrong
    called = {name: own for name, own in counts.items() if not name.startswith("kind: ")}
    assert len(called) >= 12
    assert sum(own["right"] for own in called.values()) > 300
    assert sum(own["refused"] for own in called.values()) > 600


def test_the_judge_sees_wrong_answers_and_unclear_errors() -> None:
    """Otherwise the test above could not fail."""
    rng = np.random.default_rng(0)
    target = next(t for t in targets() if t.name == "regressor")
    clean = random_call(rng, target)
    while clean.refused or clean.doubted or clean.options or not 0 < np.prod(clean.batch) < 9 or not clean.batch:
        clean = random_call(rng, target)
    assert judged(clean) == "right"

    def spoiled(change):  # type: ignore[no-untyped-def]
        return replace(clean, target=replace(target, call=lambda *a, **k: change(target.call(*a, **k), a, k)))

    def raising(error: Exception):  # type: ignore[no-untyped-def]
        def call(*arguments: object) -> None:
            raise error

        return call

    def rewriting(result: object, a: tuple[np.ndarray, ...], k: dict[str, np.ndarray]) -> object:
        for array in (*a, *k.values()):
            np.asarray(array)[...] = 0.0
        return result

    clean.values = {name: np.array(x) for name, x in clean.clean.items()}
    wrongs = [
        (lambda y, a, k: y[..., :-1] if np.ndim(next(iter((*a, *k.values())))) > 1 else y, "shape"),
        (lambda y, a, k: y + 1e-6 * y.ndim, "another result"),
        (raising(ValueError("operands could not be broadcast together")), "refused"),
        (raising(ZeroDivisionError("division by zero")), "raised ZeroDivisionError"),
        (rewriting, "changed|another"),
    ]
    for change, text in wrongs:
        with pytest.raises(Wrong, match=text):
            judged(spoiled(change))


# ---- what it found


def test_a_batch_of_no_rollouts_has_gradients() -> None:
    value, gradient = fw.rollout_gradient(
        cost, HOPPER, np.zeros((0, 2)), np.zeros(2), steps=3, dt=1e-3, contact=Impulse(), wrt=("q", "tau")
    )
    assert (value.shape, gradient["q"].shape, gradient["tau"].shape) == ((0,), (0, 2), (0, 3, 2))


def test_rollouts_from_what_is_not_finite_name_it() -> None:
    with pytest.raises(ValueError, match=r"v\[1\] is nan; expected finite numbers"):
        fw.rollout_gradient(cost, HOPPER, [0.0, 0.0], [0.0, np.nan], steps=3, dt=1e-3)
    tau = np.zeros((3, 2))
    tau[2, 0] = np.inf
    with pytest.raises(ValueError, match=r"tau\[2, 0\] is inf"):
        fw.rollout_gradient(cost, HOPPER, [0.0, 0.0], [0.0, 0.0], steps=3, dt=1e-3, tau=tau)


def test_rollouts_name_what_is_wrong_before_they_begin() -> None:
    floating = MODELS["floating"]
    q = floating.neutral()
    q[3:7] *= 1.1
    with pytest.raises(ValueError, match=r"q: joint 'base_joint': the quaternion .* has length 1.1"):
        fw.rollout_gradient(cost, floating, q, np.zeros(floating.nv), steps=3, dt=1e-3)
    for wrt, text in ((3, "wrt: expected names among q, v, tau, got 3"), (("v", "v"), "wrt: expected each name once")):
        with pytest.raises(ValueError, match=text):
            fw.rollout_gradient(cost, HOPPER, [0, 0], [0, 0], steps=3, dt=1e-3, wrt=wrt)  # type: ignore[arg-type]
    for steps in (-1, "x", 10**12):
        with pytest.raises((ValueError, TypeError), match="steps: expected"):
            fw.rollout_gradient(cost, HOPPER, [0, 0], [0, 0], steps=steps, dt=1e-3)  # type: ignore[arg-type]


def test_costs_that_are_no_numbers_are_named() -> None:
    for name, bad in (("cost", lambda t, q, v, tau, x: q), ("final", lambda q, v, x: (q[0], q[1]))):
        given = {"cost": cost, "final": None, name: bad}
        with pytest.raises(TypeError, match=f"{name}: expected it to return a number, got what has the shape"):
            fw.rollout_gradient(given["cost"], HOPPER, [0, 0], [0, 0], final=given["final"], steps=3, dt=1e-3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="final: expected a function of one state, got str"):
        fw.rollout_gradient(cost, HOPPER, [0, 0], [0, 0], final="end", steps=3, dt=1e-3)  # type: ignore[arg-type]


@pytest.mark.parametrize("dt", [1j, np.zeros(2), [1e-3]])
def test_time_steps_that_are_none_are_named(dt: object) -> None:
    with pytest.raises(ValueError, match="dt: expected a time step > 0"):
        fw.linearize(HOPPER, [0.0, 0.0], [0.0, 0.0], dt=dt)  # type: ignore[arg-type]


def test_there_is_one_output_for_each_result() -> None:
    f = fw.function(lambda x: (x, x), inputs={"x": 2}, outputs=(None, None, fw.configuration(HOPPER)))
    with pytest.raises(TypeError, match="outputs: expected one for each result, got 3 for 2 results of <lambda>"):
        f([0.0, 0.0])
