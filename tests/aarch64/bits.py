"""Digests of results as JSON, by name: the same bits on every processor. Run by `emulated.py`, here and there.

Functions of one state and of a batch, steps of all integrators, both contact models, elementary functions.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterator
from typing import Any

import numpy as np

import featherweight as fw

OF_Q = ("forward_kinematics", "mass_matrix", "potential_energy", "center_of_mass", "centroidal_momentum_matrix")
OF_V = ("bias_force", "kinetic_energy", "coriolis_matrix")
OF_A = ("inverse_dynamics", "forward_dynamics")
COUNT = 5  # of a batch: a pack and a part of one, on most processors


def screw() -> fw.Model:
    """Joints whose transforms need sines, a quaternion and a screw."""
    box = fw.Inertia.box(0.7, (0.1, 0.2, 0.3), (0.02, -0.03, 0.05))
    build = fw.Builder("screw").add_body("ball", joint=fw.joints.Spherical(), inertia=box)
    build.add_body("thread", parent="ball", joint=fw.joints.Helical("z", 0.05), inertia=box)
    return build.add_body("cross", parent="thread", joint=fw.joints.Universal("x", "y"), inertia=box).build()


def states(model: fw.Model) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Drawn by integers, so that no library's rounding is in them."""
    numbers = np.random.default_rng(7).integers(-800, 800, (COUNT, model.nq + 2 * model.nv)) / 1024
    q, v, a = np.split(numbers, [model.nq, model.nq + model.nv], axis=1)
    for joint in model.joints:
        if joint.kind.orientation is not None:
            q[:, joint.q][:, joint.kind.orientation] = (0.5, -0.5, 0.5, 0.5)
    return q, v, a


def functions() -> Iterator[tuple[str, Any]]:
    for model in (fw.robots.chain(4), screw()):
        q, v, a = states(model)
        given = {name: (q,) for name in OF_Q} | {name: (q, v) for name in OF_V} | {name: (q, v, a) for name in OF_A}
        for name, arrays in given.items():
            yield f"{model.name} {name}", getattr(fw, name)(model, *arrays)
            if name in OF_A:
                yield f"{model.name} {name}, one state", getattr(fw, name)(model, *(array[1] for array in arrays))


def runs() -> Iterator[tuple[str, Any]]:
    chain = fw.robots.chain(3)
    q, v, _ = states(chain)
    for integrator in fw.integrators.NAMES:
        run = fw.rollout(chain, q, v, steps=20, dt=1e-3, integrator=integrator)
        yield f"chain3 {integrator}", (run.q, run.v)
    ball = (
        fw.Builder("ball")
        .add_body("ball", joint=fw.joints.Free(), inertia=fw.Inertia.sphere(1.0, 0.1))
        .add_contact_point("side", parent="ball", position=(0.05, 0.02, -0.05))
        .build()
    )
    q, v, _ = states(ball)
    q[:, 2] = 0.0
    for contact in (fw.contact.Impulse(), fw.contact.SpringDamper()):
        run = fw.rollout(ball, q, v, steps=20, dt=1e-3, contact=contact)
        yield f"ball {type(contact).__name__}", (run.q, run.v, run.contact_force)


def elementary() -> Iterator[tuple[str, Any]]:
    """Of a controller, on angles that grow: no library of the system is asked for a sine."""
    wheel = fw.robots.pendulum()

    def control(t: Any, q: Any, v: Any, x: Any, p: Any) -> Any:
        s = fw.scalar
        values = [s.sin(p[0]), s.cos(p[0]), s.exp(-p[0] * p[0]), s.tanh(p[0]), s.atan2(p[0], t + 1.0)]
        values += [s.log(p[0] * p[0] + 0.5), s.sqrt(p[0] * p[0]), s.random_normal(1.0, t, p[0])]
        return 0.0 * v, np.array(values)

    angles = np.linspace(-40.0, 40.0, 64)[:, None]
    compiled = fw.compiled(control, state=np.zeros((64, 8)), parameters=angles)
    run = fw.rollout(wheel, np.zeros((64, 1)), np.zeros((64, 1)), steps=2, dt=1e-3, control=compiled)
    for k, name in enumerate(("sin", "cos", "exp", "tanh", "atan2", "log", "sqrt", "random_normal")):
        yield name, run.x[..., k]


def digest(result: Any) -> str:
    poses = (result.rotation, result.position) if hasattr(result, "rotation") else (result,)
    parts = result if isinstance(result, tuple) else poses
    return hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in parts)).hexdigest()[:16]


def main() -> None:
    found = {name: digest(result) for kind in (functions, runs, elementary) for name, result in kind()}
    print(json.dumps({"machine": platform.machine(), "digests": found}))


if __name__ == "__main__":
    main()
