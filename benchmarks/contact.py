"""Standing and falling on the ground: ours against MuJoCo, the same robot in one run."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import mujoco
import mujoco.batch
import numpy as np

import featherweight as fw
from peers.mujoco_adapter import joint_order, to_mujoco

DT, TOLERANCE = 1e-3, 1e-6
STANCE = np.tile([0.0, -0.8, 1.6], 4)
KP, KV = 40.0, 1.0
LANES, PEERS = 4096, 256


def stand(t: Any, q: Any, v: Any, x: Any, p: Any) -> tuple[Any, Any]:
    """PD on all joints."""
    return np.concatenate([np.zeros(6), KP * (STANCE - q[7:]) - KV * v[6:]]), x


def best_of(calls: list[Callable[[], Any]], rounds: int) -> list[float]:
    """The shortest time of each, taken in turns."""
    best = [float("inf")] * len(calls)
    for _ in range(rounds):
        for k, call in enumerate(calls):
            start = time.perf_counter()
            call()
            best[k] = min(best[k], time.perf_counter() - start)
    return best


def measure_contact(points: str, rounds: int) -> dict[str, Any]:
    """The Mini Cheetah with PD, 1 ms: standing on its feet, or with all 16 points, dropped and settling."""
    ours = fw.robots.mini_cheetah(rotors="armature", friction=0.0, points=points)
    theirs = to_mujoco(ours, ground=True, servo=(KP, KV))
    theirs.opt.timestep = DT
    order = joint_order(ours)
    control, contact = fw.compiled(stand), fw.contact.Impulse(tolerance=TOLERANCE)
    options = {"dt": DT, "control": control, "contact": contact}
    q = ours.neutral()
    q[2], q[7:] = 0.27, STANCE
    begin = fw.rollout(ours, q, np.zeros(ours.nv), steps=1500, **options)
    q0, v0 = begin.q[-1], begin.v[-1]
    rng = np.random.default_rng(0)
    Q, V = np.tile(q0, (LANES, 1)), 0.1 * rng.normal(size=(LANES, ours.nv))
    Q[:, 7:] += 0.05 * rng.normal(size=(LANES, 12))
    Q[:, 2] += rng.uniform(0.0, 0.02, LANES) if points == "feet" else rng.uniform(0.1, 0.5, LANES)
    steps = 5000

    data = mujoco.MjData(theirs)
    data.qpos[:], data.qvel[:] = fw.convert.to_mujoco(ours, q0, v0, order)
    data.ctrl[:] = STANCE
    mujoco.mj_step(theirs, data, nstep=1500)
    batch = mujoco.batch.Batch(theirs, PEERS, 1, persistent=True)
    batch.qpos[:], batch.qvel[:] = fw.convert.to_mujoco(ours, Q[:PEERS], V[:PEERS], order)
    batch.ctrl = STANCE
    settle = 300
    batch.step(nstep=settle)
    settled = fw.rollout(ours, Q, V, steps=settle, record_every=settle, **options)
    Q, V = settled.q[:, -1], settled.v[:, -1]
    last: dict[str, fw.Trajectory] = {}

    def one() -> None:
        last["one"] = fw.rollout(ours, q0, v0, steps=steps, record_every=steps, **options)

    def many() -> None:
        with fw.threads(1):
            last["many"] = fw.rollout(ours, Q, V, steps=100, record_every=10, **options)

    high = Q + np.array([0.0, 0.0, 5.0] + [0.0] * (ours.nq - 3))

    def fly(contact: Any) -> None:
        with fw.threads(1):
            fw.rollout(ours, high, V, steps=100, dt=DT, control=control, contact=contact, record_every=100)

    one(), many(), fly(contact), fly(None)
    single, peer = best_of([one, lambda: mujoco.mj_step(theirs, data, nstep=steps)], rounds)
    lanes, peers = best_of([many, lambda: batch.step(nstep=100)], max(3, rounds // 3))
    flying, without = best_of([lambda: fly(contact), lambda: fly(None)], max(3, rounds // 3))
    row = {
        "points": points,
        "touching": int((last["one"].contact_force[-1, :, 2] > 0).sum()),
        "mujoco_touching": int(data.ncon),
        "single_us": 1e6 * single / steps,
        "mujoco_single_us": 1e6 * peer / steps,
        "batch_ns": 1e9 * lanes / LANES / 100,
        "mujoco_batch_us": 1e6 * peers / PEERS / 100,
        "flying_ns": 1e9 * flying / LANES / 100,
        "without_contact_ns": 1e9 * without / LANES / 100,
        "lanes_failed": int(np.count_nonzero(last["many"].status) + np.count_nonzero(settled.status)),
        "worst_residual": float(np.nanmax(last["many"].solver[..., 1])),
        "mean_sweeps": float(np.nanmean(last["many"].solver[..., 0])),
    }
    row["single_ratio"] = row["mujoco_single_us"] / row["single_us"]
    row["batch_ratio"] = 1e3 * row["mujoco_batch_us"] / row["batch_ns"]
    return row


if __name__ == "__main__":
    for which in ("feet", "all"):
        print(measure_contact(which, 5))
