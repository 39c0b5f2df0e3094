"""Robots that float: the momentum they keep; and the energy of one in the air, by our methods and MuJoCo's."""

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
Variational = fw.integrators.Variational
MUJOCO = {
    "MuJoCo, Euler": mujoco.mjtIntegrator.mjINT_EULER,
    "MuJoCo, implicitfast": mujoco.mjtIntegrator.mjINT_IMPLICITFAST,
    "MuJoCo, RK4": mujoco.mjtIntegrator.mjINT_RK4,
}


def flight() -> dict[str, Any]:
    """ANYmal in the air: the error of its energy by our methods and MuJoCo's, and the time of a step.

    It is pushed up at its body with twice its weight for a second, legs limp, and left to itself for two. The energy of
    all states is computed by the same function.
    """
    model = quadruped("anymal_b_simple_description/robots/anymal.urdf")
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
    for _ in range(20):
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return {
        "energy_J": float(energy[PUSHED]),
        "mean_square_J2": float((error**2).mean()),
        "largest_J": float(np.abs(error).max()),
        "us": 1e6 * min(times) / FREE,
    }


def momentum() -> dict[str, Any]:
    """What is lost of the momentum of robots that float, as a part of that at the beginning: of a body with a chain of
    balls, far from everything; and of quadrupeds that fall, less what their weight gave them."""
    builder = fw.Builder("balls", gravity=(0, 0, 0))
    for k in range(7):
        builder.add_body(
            f"body{k}",
            parent=f"body{k - 1}" if k else "world",
            joint=fw.joints.Spherical() if k else fw.joints.Free(),
            placement=fw.Placement((0, 0, -0.3 if k else 0)),
            inertia=fw.Inertia(0.7, (0, 0, -0.15), (0.02, 0.03, 0.01)),
        )
    rows, rng = [], np.random.default_rng(4)
    limp = fw.robots.mini_cheetah(damping=0.0, friction=0.0)
    cases = {
        "chain of balls": (builder.build(), 10**5),
        "mini_cheetah, limp": (limp, 10**4),
        "go2": (quadruped("go2_description/urdf/go2.urdf"), 10**4),
    }
    for name, (model, steps) in cases.items():
        q, v = model.neutral(), rng.normal(size=model.nv)
        row: dict[str, Any] = {"robot": name, "steps": steps}
        for column, method in (
            ("default", Variational()),
            ("1e-7", Variational(tolerance=1e-7)),
            ("newton", Variational(solver="newton")),
        ):
            run = fw.rollout(model, q, v, steps=steps, dt=DT, integrator=method, record_every=10)
            p, center = fw.momentum(model, run.q, run.v), fw.center_of_mass(model, run.q)
            turning = p[:, 3:] - np.cross(center, p[:, :3])
            moving = p[:, :3] - model.mass * np.outer(run.t, model.gravity)
            row[column] = {
                part: float(np.abs(x - x[0]).max() / np.linalg.norm(x[0]))
                for part, x in (("linear", moving), ("angular", turning))
            }
        rows.append(row)
        print(row, flush=True)
    return {"rows": rows}


def quadruped(name: str) -> fw.Model:
    """A robot of example-robot-data, floating."""
    for folder in map(Path, sys.path):
        path = folder / "cmeel.prefix/share/example-robot-data/robots" / name
        if path.exists():
            return fw.load(path, base="free", policy="warn")
    raise SystemExit(f"{name}: expected it among the robots of example-robot-data; pip install example-robot-data")
