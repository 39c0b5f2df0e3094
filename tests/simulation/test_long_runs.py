"""Long runs: memory stays flat, and a bar shows how far they are."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import featherweight as fw

MEMORY = """
import resource, sys
import numpy as np
import featherweight as fw

model = fw.robots.double_pendulum()

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6

def traced(t, q, v, x, p):
    return -0.1 * v + x, 0.5 * x

control = fw.compiled(traced, state=[0.1, 0.2])
runs = {
    "native": lambda n: fw.rollout(model, [0.1, 0.2], [0.3, 0.4], steps=n, dt=1e-4, record_every=10**4),
    "compiled": lambda n: fw.simulate(
        model, [0.1, 0.2], [0.3, 0.4], duration=n * 1e-4, dt=1e-4, control=control, record_every=10**4),
    "python": lambda n: fw.rollout(
        model, [0.1, 0.2], [0.3, 0.4], steps=n, dt=1e-4, control=lambda t, q, v: -0.1 * v, record_every=10**4),
    "short runs": lambda n: [fw.rollout(model, [0.1, 0.2], [0.3, 0.4], steps=10, dt=1e-4, control=control)
                             for _ in range(n // 1000)],
}
for name, run in runs.items():
    run(10**5)
    before = peak()
    run(10**6)
    print(f"{name}={peak() - before:.3f}")
"""


def test_memory_is_flat_over_a_million_steps() -> None:
    """Growth of the peak in MB, for steps in native code, with a controller there, and with one in Python."""
    result = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, timeout=120, check=True)
    growth = dict(line.split("=") for line in result.stdout.split("\n") if line)
    assert set(growth) == {"native", "compiled", "python", "short runs"}
    assert all(float(number) < 10.0 for number in growth.values()), growth


def test_a_million_steps_keep_time_and_energy() -> None:
    """Time is a whole number times dt to the end."""
    run = fw.rollout(fw.robots.pendulum(), [1.0], [0.0], steps=10**6, dt=1e-3, integrator="rk4", record_every=10**5)
    assert np.array_equal(run.t, np.arange(11) * 10**5 * 1e-3)
    assert run.complete
    assert np.ptp(run.energy()) <= 1e-6


@pytest.mark.parametrize("control", [None, lambda t, q, v: -0.1 * v], ids=["native", "python"])
def test_a_bar_is_shown(control, capsys) -> None:
    model = fw.robots.pendulum()
    quiet = fw.simulate(model, [0.1], [0.0], duration=0.5, dt=1e-3, control=control)
    assert capsys.readouterr().out == ""
    run = fw.simulate(model, [0.1], [0.0], duration=0.5, dt=1e-3, control=control, progress=True)
    shown = capsys.readouterr().out
    assert "simulating" in shown
    assert "0.5 s of 0.5 s" in shown
    assert np.array_equal(run.q, quiet.q)
    fw.rollout(model, [[0.1]] * 3, [[0.0]] * 3, steps=500, dt=1e-3, control=control, progress=True)
    assert "0.5 s of 0.5 s" in capsys.readouterr().out


def test_the_bar_ends_with_the_run_that_failed(capsys) -> None:
    model = fw.robots.pendulum()
    for _ in range(2):
        with pytest.raises(fw.SimulationError):
            fw.simulate(model, [0.1], [0.0], duration=0.5, dt=1e-3, control=lambda t, q, v: 1 / 0, progress=True)
    fw.simulate(model, [0.1], [0.0], duration=0.5, dt=1e-3, progress=True)
    assert "0.5 s of 0.5 s" in capsys.readouterr().out


def test_without_rich_the_bar_says_what_is_missing(monkeypatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "rich"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "rich", None)
    monkeypatch.setitem(sys.modules, "rich.progress", None)
    model = fw.robots.pendulum()
    options = {"steps": 10, "dt": 1e-3}
    with pytest.raises(ImportError, match=r"progress: the bar needs rich; pip install featherweight\[cli\]"):
        fw.rollout(model, [0.1], [0.0], **options, progress=True)
    assert fw.rollout(model, [0.1], [0.0], **options).complete
