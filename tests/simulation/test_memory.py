"""A million steps take no more memory than a thousand."""

from __future__ import annotations

import subprocess
import sys

import pytest

CODE = """
import resource, sys
import featherweight as fw

model = fw.robots.pendulum()
hold = fw.compiled(lambda t, q, v, x, p: (-0.1 * v, x + 1.0), state=[0.0])
control, steps, every = {CONTROL}


def run(n):
    return fw.rollout(model, [0.5], [0.0], dt=1e-3, steps=n, record_every=every, control=control)


run(every)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert run(steps).status == 0
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print("grown by", grown if sys.platform != "darwin" else grown // 1024)
"""
RUNS = {
    "native": "None, 10**6, 10**4",
    "compiled": "hold, 10**6, 10**4",
    "python": "lambda t, q, v: -0.1 * v, 10**5, 10**4",
    "python, recorded": "lambda t, q, v: -0.1 * v, 10**5, 1",
}


@pytest.mark.parametrize("name", RUNS)
def test_memory_is_flat(name: str) -> None:
    """The peak of a process of its own grows by less than 10 MB; 10⁵ recorded states are 3 MB."""
    done = subprocess.run(
        [sys.executable, "-c", CODE.replace("{CONTROL}", RUNS[name])],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[-1]) < 10_000
