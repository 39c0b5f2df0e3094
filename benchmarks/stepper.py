"""What a call of `Stepper.step` costs beyond its native time, what it takes to be ready, and the same robots with
`mujoco.batch` (`make stepper`)."""

from __future__ import annotations

import datetime
import json
import os
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mujoco
import mujoco.batch
import numpy as np

import featherweight as fw

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from contact import KP, KV, STANCE, TOLERANCE, stand
from peers.mujoco_adapter import joint_order, to_mujoco

ROUNDS, DT, STEPS, SETTLED = 30, 1e-3, 5, 64
CONTROL = fw.compiled(stand)
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


def against_mujoco(count: int, threads: int) -> dict[str, float]:
    """Five steps of robots that stand on four feet with PD, in one call [us]: ours and theirs in turns. The same robot,
    step and gains; each library's contact and solver as they come, but for our tolerance, which is finer. Wall time,
    and CPU time of the process, which says more where others are at work."""
    ours = fw.robots.mini_cheetah(rotors="armature", friction=0.0, points="feet")
    theirs = to_mujoco(ours, ground=True, servo=(KP, KV))
    theirs.opt.timestep = DT
    q = ours.neutral()
    q[2], q[7:] = 0.27, STANCE
    rng = np.random.default_rng(0)
    Q, V = np.tile(q, (SETTLED, 1)), 0.1 * rng.normal(size=(SETTLED, ours.nv))
    Q[:, 7:] += 0.05 * rng.normal(size=(SETTLED, 12))
    options: dict[str, Any] = {"dt": DT, "contact": fw.contact.Impulse(tolerance=TOLERANCE), "control": CONTROL}
    few = fw.Stepper(ours, Q, V, **options)
    few.step(500)
    Q, V = np.resize(few.q, (count, ours.nq)), np.resize(few.v, (count, ours.nv))
    with fw.threads(threads):
        sim = fw.Stepper(ours, Q, V, **options)
        peers = mujoco.batch.Batch(theirs, count, threads, persistent=True)
        peers.qpos[:], peers.qvel[:] = fw.convert.to_mujoco(ours, Q, V, joint_order(ours))
        peers.ctrl = STANCE
        sim.step(50)
        peers.step(nstep=50)
        calls = max(1, 64 // count)
        both = (lambda: sim.step(STEPS), lambda: peers.step(nstep=STEPS))
        best = {clock: [np.inf, np.inf] for clock in ("", "CPU ")}
        for _ in range(ROUNDS if count < 512 else 6):
            for k, call in enumerate(both):
                start, busy = time.perf_counter(), time.process_time()
                for _ in range(calls):
                    call()
                taken = {"": time.perf_counter() - start, "CPU ": time.process_time() - busy}
                for clock, seconds in taken.items():
                    best[clock][k] = min(best[clock][k], 1e6 * seconds / calls)
    row = {"feet down": float((sim.contact_force[:, :, 2] > 0).sum(axis=1).mean()), "failed": float(sim.status.any())}
    for clock, (mine, other) in best.items():
        row |= {f"{clock}ours": mine, f"{clock}mujoco": other, f"{clock}ratio": other / mine}
    return row


def loop_in_python(seconds: float = 5.0) -> dict[str, float]:
    """Percentiles of the time that a step with a controller in Python takes in a loop of 1 kHz [us], and of the step in
    it; and the same without waiting, when all is in the caches."""
    model, stance = standing()
    sim = fw.Stepper(model, stance, dt=DT, contact=fw.contact.Impulse())
    sim.step()
    q, v, tau = sim.q[0], sim.v[0], sim.tau[0]  # live views
    found = {}
    for name, period in (("", DT), (" hot", 0.0)):
        sim.reset()
        taken, steps = [], []
        begin = time.perf_counter()
        for k in range(int(seconds / DT)):
            while time.perf_counter() < begin + k * period:
                pass
            start = time.perf_counter()
            tau[6:] = 60 * (stance[7:] - q[7:]) - 2 * v[6:]
            asked = time.perf_counter()
            sim.step()
            end = time.perf_counter()
            taken.append(end - start)
            steps.append(end - asked)
        for what, times in (("", taken), (" step", steps)):
            found |= {f"p{p}{what}{name}": 1e6 * float(np.percentile(times, p)) for p in (50, 99)}
    return found


def singles(count: int) -> dict[str, float]:
    """Copies of q and v, by native code and by NumPy."""
    model, q = standing()
    sim = fw.Stepper(model, q, count=count, dt=DT)
    views = sim.view("q"), sim.view("v")

    def by_numpy() -> None:
        views[0][...], views[1][...] = sim.q, sim.v

    return {"native": best(sim._singles.write, 100), "NumPy": best(by_numpy, 100)}


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
        "mujoco": mujoco.__version__,
        "one pendulum, a call [us]": best(pendulum.step, 2000),
        "one Mini Cheetah in contact, five steps [us]": best(lambda: one.step(5), 300),
        "beyond native [us]": {str(count): beyond_native(count) for count in (1, 64, 512, 4096)},
        "ready, code in the cache [ms]": ready,
        "other parameters of a controller [us]": best(lambda: control.with_parameters([-0.2]), 500),
        "rollout of one robot and one step [us]": best(
            lambda: fw.rollout(model, q, v, steps=1, dt=DT, contact=impulses, tau=tau), 100
        ),
        "with q[-1] of it [us]": best(
            lambda: fw.rollout(model, q, v, steps=1, dt=DT, contact=impulses, tau=tau).q[-1], 100
        ),
        "views in single precision [us]": {str(count): singles(count) for count in (1, 4096)},
        "1 kHz in Python [us]": loop_in_python(),
        "five steps, with mujoco.batch [us]": {
            f"{count} robots, {threads} threads": against_mujoco(count, threads)
            for threads in (1, 2)
            for count in (1, 64, 512, 4096)
        },
    }
    path = RESULTS / f"{datetime.date.today().isoformat()}-stepper.json"
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(record, indent=1))
    print(f"written: {path.name}")


if __name__ == "__main__":
    main()
