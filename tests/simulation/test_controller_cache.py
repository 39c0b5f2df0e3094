"""Loops with controllers are kept on disk under what was traced: a change of any number in one is another entry."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import featherweight as fw
from featherweight.compiler.runtime import code
from featherweight.integrators import SemiImplicit
from featherweight.simulation.options import StepOptions
from featherweight.simulation.step import step_loop

MODEL = fw.robots.double_pendulum()
Q, V = np.array([0.3, -0.7]), np.array([1.0, 2.0])

SCRIPT = """
import sys
import numpy as np
import featherweight as fw

gain = float(sys.argv[1])
model = fw.robots.double_pendulum()
control = fw.compiled(lambda t, q, v, x, p: (-gain * v, x))
run = fw.simulate(model, [0.3, -0.7], [1.0, 2.0], duration=0.01, dt=1e-3, control=control)
(loop,) = control.loops[model].values()
print(loop.code(1).from_cache, run.q.tobytes().hex())
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: Any) -> Path:
    code._recent.clear()
    code._loaded.clear()
    monkeypatch.setenv("FEATHERWEIGHT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def run(control: fw.simulation.Compiled | None, model: fw.Model = MODEL, **options: Any) -> tuple[bytes, bool]:
    """Forces and states, and whether the code of the loop, made as in a new process, came from the disk."""
    code._recent.clear()
    code._loaded.clear()
    steps = fw.rollout(model, Q, V, steps=5, dt=1e-3, control=control, **options)
    loops = model.cache.kernels if control is None else control.loops[model]
    (loop,) = (loop for key, loop in loops.items() if key[0] == "loop")
    return steps.tau.tobytes() + steps.q.tobytes(), loop.code(1).from_cache


def damper(gain: float) -> Any:
    return fw.compiled(lambda t, q, v, x, p: (-gain * v, x))


def halved(q: Any, turns: int) -> Any:
    return fw.scalar.repeat(lambda c: [0.5 * a for a in c], list(q), until=lambda c: c[0] < 0, at_most=turns)


def test_the_same_controller_is_found_and_gives_the_same_bits() -> None:
    first, found = run(damper(0.5))
    assert not found
    assert run(damper(0.5)) == (first, True)


def test_a_closure_with_another_value_is_another_entry(cache: Path) -> None:
    results = [run(damper(gain)) for gain in (0.5, 0.25, np.nextafter(0.5, 1.0), -0.5)]
    assert not any(found for _, found in results)
    assert len({data for data, _ in results}) == 4
    assert len(list(cache.iterdir())) == 4


def test_another_constant_operation_order_or_branch_is_another_entry() -> None:
    where, table = fw.scalar.where, np.array([1.0, 2.0])
    functions = [
        lambda t, q, v, x, p: (-0.5 * v, x),
        lambda t, q, v, x, p: (-0.5 * v[::-1], x),
        lambda t, q, v, x, p: (-0.5 * v + q, x),
        lambda t, q, v, x, p: (-0.5 * v - q, x),
        lambda t, q, v, x, p: ([where(e < 0, 1.0, 2.0) for e in q], x),
        lambda t, q, v, x, p: ([where(e < 0, 1.0, 2.5) for e in q], x),
        lambda t, q, v, x, p: ([where(e <= 0, 1.0, 2.0) for e in q], x),
        lambda t, q, v, x, p: ([0.0, 0.0], x),
        lambda t, q, v, x, p: ([0.0, 1.0], x),
        lambda t, q, v, x, p: (fw.gravity_force(MODEL, q), x),
        lambda t, q, v, x, p: (fw.gravity_force(fw.robots.double_pendulum(mass2=1.5), q), x),
        lambda t, q, v, x, p: ([fw.scalar.lookup(table, e) for e in q], x),
        lambda t, q, v, x, p: ([fw.scalar.lookup(table + 1.0, e) for e in q], x),
        lambda t, q, v, x, p: (halved(q, 3), x),
        lambda t, q, v, x, p: (halved(q, 4), x),
    ]  # fmt: skip
    assert not any(run(fw.compiled(function))[1] for function in functions)
    assert all(run(fw.compiled(function))[1] for function in functions)


def test_what_stands_around_a_controller_is_in_the_key_too(monkeypatch: pytest.MonkeyPatch) -> None:
    first, found = run(damper(0.5))
    assert not found
    for other in (fw.robots.double_pendulum(mass2=1.5), fw.robots.double_pendulum(gravity=9.8)):
        data, found = run(damper(0.5), other)
        assert found == (other.gravity_vector != MODEL.gravity_vector)  # a mass that was 1 is structure
        with monkeypatch.context() as switched_off:
            switched_off.setenv("FEATHERWEIGHT_CACHE", "off")
            assert run(damper(0.5), other) == (data, False)
        assert data != first
    assert not run(damper(0.5), integrator="rk4")[1]
    assert not run(damper(0.5), actuators=fw.actuators.DCMotor(6.0, 0.05, 0.173, 24.0, 3.0))[1]
    assert not run(fw.compiled(lambda t, q, v, x, p: (-0.5 * v, x), state=[0.0]))[1]
    assert not run(fw.compiled(lambda t, q, v, x, p: (-0.5 * v, x), parameters=[0.0]))[1]
    assert run(damper(0.5))[1]


def test_parameters_and_first_states_are_data_and_share_an_entry() -> None:
    def control(gain: float, start: float) -> Any:
        return fw.compiled(lambda t, q, v, x, p: (-p[0] * v + x[0], x), state=[start], parameters=[gain])

    first, found = run(control(0.5, 0.0))
    other, found_too = run(control(0.25, 1.0))
    assert (found, found_too) == (False, True)
    assert first != other


@pytest.mark.parametrize("order", ["key first", "program first"])
def test_a_function_is_traced_once_however_it_is_used(order: str) -> None:
    """Were it traced for the key and again for the code, one that changes would be kept under a wrong key."""
    calls = io.StringIO()  # of which nothing is known but that it is the same

    def control(t: Any, q: Any, v: Any, x: Any, p: Any) -> Any:
        calls.write("x")
        return -float(calls.tell()) * v, x

    compiled = fw.compiled(control)
    if order == "program first":
        step_loop(MODEL, StepOptions(SemiImplicit(), control=compiled)).program()
    batch = np.array([Q, Q, Q])
    fw.rollout(MODEL, Q, V, steps=5, dt=1e-3, control=compiled)
    fw.rollout(MODEL, batch, V, steps=5, dt=1e-3, control=compiled)
    (loop,) = compiled.loops[MODEL].values()
    loop.program()
    assert calls.getvalue() == "x"
    assert run(damper(1.0))[1]  # what it was when it was traced


def test_a_method_of_somebody_else_is_kept_by_its_trace_as_well() -> None:
    class Backward(fw.integrators.SemiImplicit):
        factor = 1.0

        def step(self, tree: Any, q: Any, v: Any, h: Any, acceleration: Any) -> Any:
            return super().step(tree, q, v, -self.factor * h, acceleration)

    assert step_loop(MODEL, StepOptions(Backward())).kernel.fingerprint is None
    first, found = run(damper(0.5), integrator=Backward())
    assert not found
    assert run(damper(0.5), integrator=Backward()) == (first, True)
    Backward.factor = 2.0
    assert not run(damper(0.5), integrator=Backward())[1]


def test_another_process_finds_it_whatever_its_hash_seed(cache: Path) -> None:
    def started(gain: float, seed: str) -> list[str]:
        command = [sys.executable, "-c", SCRIPT, str(gain)]
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        return subprocess.run(command, env=environment, text=True, capture_output=True, check=True).stdout.split()

    found, first = started(0.5, "1")
    assert found == "False"
    assert started(0.5, "2") == ["True", first]
    assert started(0.75, "1")[0] == "False"
