"""What a call of `Stepper.step` costs beyond its native time, and what it takes to be ready (`make stepper`)."""

from __future__ import annotations

import datetime
import json
import os
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import featherweight as fw

ROUNDS, DT = 30, 1e-3
RESULTS = Path(__file__).parent / "results"


def best(function: Callable[[], Any], calls: int) -> float:
    """Microseconds a call, the best of several rounds."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(calls):
            function()
        times.append((time.perf_counter() - start) / calls)
    return 1e6 * min(times)


def standing() -> tuple[fw.Model, np.ndarray]:
    model = fw.robots.mini_cheetah()
    q = model.neutral()
    q[2], q[7:] = 0.29, np.tile([0.0, -0.8, 1.6], 4)
    return model, q


def beyond_native(count: int) -> dict[str, float]:
    """A call, and the native run inside of it."""
    model, q = standing()
    sim = fw.Stepper(model, q, count=count, dt=DT, contact=fw.contact.Impulse())
    calls = max(3, 3000 // count)
    sim.step(3)
    state = sim.state()
    times: dict[str, list[float]] = {"call": [], "native": []}
    for _ in range(ROUNDS):
        for name, function in (("call", sim.step), ("native", lambda: sim._native.run(1))):
            sim.load(state)
            start = time.perf_counter()
            for _ in range(calls):
                function()
            times[name].append((time.perf_counter() - start) / calls)
    call, native = (1e6 * min(values) for values in times.values())
    return {"call": call, "native": native, "beyond": call - native, "bytes a robot": float(sim.bytes_per_robot)}


def loop_in_python(seconds: float = 5.0) -> dict[str, float]:
    """Percentiles of the time that a step with a controller in Python takes in a loop of 1 kHz [us]."""
    model, stand = standing()
    sim = fw.Stepper(model, stand, dt=DT, contact=fw.contact.Impulse())
    sim.step()
    taken = []
    begin = time.perf_counter()
    for k in range(int(seconds / DT)):
        while time.perf_counter() < begin + k * DT:
            pass
        start = time.perf_counter()
        sim.tau[0, 6:] = 60 * (stand[7:] - sim.q[0, 7:]) - 2 * sim.v[0, 6:]
        sim.step()
        taken.append(time.perf_counter() - start)
    return {f"p{p}": 1e6 * float(np.percentile(taken, p)) for p in (50, 99)}


def main() -> None:
    model, q = standing()
    impulses = fw.contact.Impulse()
    one = fw.Stepper(model, q, dt=DT, contact=impulses)
    one.step(100)
    start = time.perf_counter()
    fw.Stepper(fw.robots.mini_cheetah(), q, dt=DT, contact=fw.contact.Impulse()).step()
    ready = 1e3 * (time.perf_counter() - start)
    control = fw.compiled(lambda t, q, v, x, p: (p[0] * v, x), parameters=[-0.1])
    pendulum = fw.Stepper(fw.robots.pendulum(), dt=DT)
    tau, v = np.zeros((1, model.nv)), np.zeros(model.nv)
    record = {
        "machine": {"processor": platform.processor() or platform.machine(), "load": os.getloadavg()[0]},
        "one pendulum, a call [us]": best(pendulum.step, 2000),
        "one Mini Cheetah in contact, five steps [us]": best(lambda: one.step(5), 300),
        "beyond native [us]": {str(count): beyond_native(count) for count in (1, 64, 512, 4096)},
        "ready, code in the cache [ms]": ready,
        "other parameters of a controller [us]": best(lambda: control.with_parameters([-0.2]), 500),
        "rollout of one robot and one step [us]": best(
            lambda: fw.rollout(model, q, v, steps=1, dt=DT, contact=impulses, tau=tau), 100
        ),
        "1 kHz in Python [us]": loop_in_python(),
    }
    path = RESULTS / f"{datetime.date.today().isoformat()}-stepper.json"
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(record, indent=1))
    print(f"written: {path.name}")


if __name__ == "__main__":
    main()
