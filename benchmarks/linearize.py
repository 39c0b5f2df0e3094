"""A and B of a step with four feet down beside MuJoCo's finite differences: time of a call and in a batch
(`make linearize`).

All in one process, taking turns, the best of many short rounds, by CPU time of the thread. A batch is one public call
on one core. MuJoCo differentiates with respect to the state alone, by forward differences: one step for each direction.
"""

from __future__ import annotations

import datetime
import json
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "tests")]

import featherweight as fw  # noqa: E402
from featherweight.contact import Impulse  # noqa: E402
from peers.mujoco_adapter import joint_order, to_mujoco  # noqa: E402

H, BATCH, ROUNDS, SECONDS = 1e-3, 512, 40, 0.01
MEMORY = 1 << 18  # bytes for a gradient with checkpoints: a quarter of what 1000 steps take
STANCE = np.tile([0.0, -0.8, 1.6], 4)


def best(functions: list[Callable[[], Any]]) -> list[float]:
    """Seconds a call of each, the best of many short rounds in turns."""
    counts = []
    for f in functions:
        f()
        start = time.thread_time()
        f()
        counts.append(max(1, int(SECONDS / max(time.thread_time() - start, 1e-7))))
    times = [float("inf")] * len(functions)
    for _ in range(ROUNDS):
        for k, (f, n) in enumerate(zip(functions, counts, strict=True)):
            start = time.thread_time()
            for _ in range(n):
                f()
            times[k] = min(times[k], (time.thread_time() - start) / n)
    return times


def stand(t: Any, q: Any, v: Any, x: Any, p: Any) -> Any:
    return np.concatenate([np.zeros(6), 40.0 * (STANCE - q[7:]) - 1.0 * v[6:]]), x


def standing(model: fw.Model) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A robot that has come to rest on its feet, a little deeper."""
    q = model.neutral()
    q[2], q[7:] = 0.27, STANCE
    run = fw.rollout(model, q, np.zeros(model.nv), steps=1500, dt=H, control=fw.compiled(stand), contact=Impulse())
    q, v = run.q[-1].copy(), run.v[-1].copy()
    q[2] -= 1e-4
    return q, v, np.concatenate([np.zeros(6), 40.0 * (STANCE - q[7:]) - v[6:]])


def peer(model: fw.Model, q: np.ndarray, v: np.ndarray) -> tuple[Any, Any]:
    """The same robot in MuJoCo, on its feet."""
    theirs = to_mujoco(model, ground=True)
    theirs.opt.timestep = H
    data = mujoco.MjData(theirs)
    data.qpos[:], data.qvel[:] = fw.convert.to_mujoco(model, q, v, joint_order(model))
    data.qpos[2] -= 1e-3
    mujoco.mj_forward(theirs, data)
    return theirs, data


def running(t: Any, q: Any, v: Any, tau: Any, x: Any) -> Any:
    return v @ v + 1e-4 * (tau @ tau)


def gradients(model: fw.Model, q: np.ndarray, v: np.ndarray) -> dict[str, float]:
    """A rollout of 1000 steps on four feet, and the gradient of a cost with respect to all of its forces."""
    options: dict[str, Any] = {"steps": 1000, "dt": H, "contact": Impulse()}
    tau = fw.rollout(model, q, v, control=fw.compiled(stand), **options).tau
    alone, both, parts = best(
        [
            lambda: fw.rollout(model, q, v, tau=tau, **options),
            lambda: fw.rollout_gradient(running, model, q, v, tau=tau, **options),
            lambda: fw.rollout_gradient(running, model, q, v, tau=tau, memory=MEMORY, **options),
        ]
    )
    return {
        "rollout of 1000 steps [ms]": alone * 1e3,
        "with its gradient [ms]": both * 1e3,
        "times the rollout": both / alone,
        f"with checkpoints in {MEMORY >> 10} kB [ms]": parts * 1e3,
        "times the rollout, checkpoints": parts / alone,
    }


def main() -> None:
    model = fw.robots.mini_cheetah(rotors="armature", friction=0.0, damping=0.0, points="feet")
    q, v, tau = standing(model)
    contact, spread = Impulse(), 1e-4 * np.random.default_rng(0).normal(size=(BATCH, model.nv))
    Q, V, T = np.tile(q, (BATCH, 1)), v + spread, np.tile(tau, (BATCH, 1))
    theirs, data = peer(model, q, v)
    A = np.zeros((2 * theirs.nv, 2 * theirs.nv))
    with fw.threads(1):
        one, free, many, step, fd = best(
            [
                lambda: fw.linearize(model, q, v, tau, dt=H, contact=contact),
                lambda: fw.linearize(model, q, v, tau, dt=H),
                lambda: fw.linearize(model, Q, V, T, dt=H, contact=contact),
                lambda: fw.rollout(model, Q, V, steps=1, dt=H, tau=T[:, None], contact=contact),
                lambda: mujoco.mjd_transitionFD(theirs, data, 1e-6, False, A, None, None, None),
            ]
        )
    found = {
        "one call, four feet [us]": one * 1e6, "one call, no contact [us]": free * 1e6,
        "batch, four feet [us a state]": many / BATCH * 1e6, "rollout of one step [us a state]": step / BATCH * 1e6,
        "mjd_transitionFD [us]": fd * 1e6, "times, one call": fd / one, "times, batch": fd / (many / BATCH),
        "contacts there": int(data.ncon),
    }  # fmt: skip
    with fw.threads(1):
        found |= gradients(model, q, v)
    for name, value in found.items():
        print(f"{name:36s} {value:10.2f}")
    day = datetime.date.today().isoformat()
    about = {"date": day, "machine": platform.machine(), "mujoco": mujoco.__version__, "batch": BATCH}
    (HERE / "results" / f"{day}-linearize.json").write_text(json.dumps(about | found, indent=1) + "\n")


if __name__ == "__main__":
    main()
