"""A quadruped in the air: the error of its energy, by our methods and MuJoCo's, in one run.

ANYmal (18 degrees of freedom) is pushed up at its body with twice its weight for a second, legs limp, and left to
itself for two. The energy of all states is computed by the same function.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

import featherweight as fw
from featherweight.scalar import where

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from peers.mujoco_adapter import joint_order, to_mujoco

DT, PUSHED, FREE = 1e-3, 1000, 2000  # s, steps
POSE = (0.03, 0.4, -0.8)  # of a leg: apart, thigh, shank; mirrored for the others
MUJOCO = {
    "MuJoCo, Euler": mujoco.mjtIntegrator.mjINT_EULER,
    "MuJoCo, implicitfast": mujoco.mjtIntegrator.mjINT_IMPLICITFAST,
    "MuJoCo, RK4": mujoco.mjtIntegrator.mjINT_RK4,
}


def flight() -> dict[str, Any]:
    """ANYmal in the air: the error of its energy by our methods and MuJoCo's, and the time of a step."""
    model = _anymal()
    q = model.neutral()
    signs = np.array([(1, 1), (-1, 1), (1, -1), (-1, -1)])
    q[7:] = np.concatenate([(a * POSE[0], b * POSE[1], b * POSE[2]) for a, b in signs])
    weight = model.mass * 9.81

    def push(t, q, v, x, p):
        x_, y, z, w = q[3:7]
        up = np.array([2 * (x_ * z - w * y), 2 * (y * z + w * x_), 1 - 2 * (x_ * x_ + y * y)])  # in the body's axes
        return np.concatenate([up * where(t < PUSHED * DT, 2 * weight, 0.0), np.zeros(model.nv - 3)]), x

    rows = {}
    for name, method in (("variational", "variational"), ("semi-implicit Euler", "semi_implicit"), ("RK4", "rk4")):
        control = fw.compiled(push)
        steps = PUSHED + FREE
        states = fw.rollout(model, q, np.zeros(model.nv), steps=steps, dt=DT, integrator=method, control=control)
        begin = states.q[PUSHED], states.v[PUSHED]

        def run(begin: Any = begin, method: str = method) -> None:
            fw.rollout(model, *begin, steps=FREE, dt=DT, integrator=method, record_every=FREE)

        rows[name] = _row(model, states.q, states.v, run)
    order, theirs = joint_order(model), to_mujoco(model)
    theirs.opt.timestep, theirs.opt.disableflags = DT, mujoco.mjtDisableBit.mjDSBL_CONTACT
    for name, method in MUJOCO.items():
        theirs.opt.integrator = method
        data = mujoco.MjData(theirs)
        data.qpos[:], data.qvel[:] = fw.convert.to_mujoco(model, q, np.zeros(model.nv), order)
        Q, V = [data.qpos.copy()], [data.qvel.copy()]
        for k in range(PUSHED + FREE):
            data.qfrc_applied[2] = 2 * weight if k < PUSHED else 0.0
            mujoco.mj_step(theirs, data)
            Q.append(data.qpos.copy())
            V.append(data.qvel.copy())

        def run(data: Any = data, begin: Any = (Q[PUSHED], V[PUSHED])) -> None:
            data.qpos[:], data.qvel[:] = begin
            mujoco.mj_step(theirs, data, nstep=FREE)

        rows[name] = _row(model, *fw.convert.from_mujoco(model, np.array(Q), np.array(V), order), run)
    return {"mujoco": mujoco.__version__, "rows": rows}


def _row(model: fw.Model, q: np.ndarray, v: np.ndarray, run: Any) -> dict[str, float]:
    energy = fw.kinetic_energy(model, q, v) + fw.potential_energy(model, q)
    error = energy[PUSHED:] - energy[PUSHED]
    times = []
    for _ in range(6):
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return {
        "mean_square_J2": float((error**2).mean()),
        "largest_J": float(np.abs(error).max()),
        "us": 1e6 * min(times) / FREE,
    }


def _anymal() -> fw.Model:
    for folder in map(Path, sys.path):
        path = folder / "cmeel.prefix/share/example-robot-data/robots/anymal_b_simple_description/robots/anymal.urdf"
        if path.exists():
            return fw.load(path, base="free", policy="warn")
    raise SystemExit("flight: expected the robots of example-robot-data; pip install example-robot-data")
