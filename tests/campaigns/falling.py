"""A small study for tests, as users write them: a chain with a compiled controller, random masses and gains."""

import numpy as np

import featherweight as fw

builder = fw.Builder("arm", parameters=("fore.mass",))
rod = fw.Inertia(1.0, (0.0, 0.0, 0.5), np.diag([0.1, 0.1, 0.01]))
builder.add_body("upper", joint=fw.joints.Revolute("x"), inertia=rod)
builder.add_body(
    "fore", parent="upper", placement=fw.Placement((0.0, 0.0, 1.0)), joint=fw.joints.Revolute("y"), inertia=rod
)
model = builder.build()
WIDTH = 1.0  # [rad]
lanes, seed, steps, dt, record_every, chunk = 70, 3, 40, 1e-3, 20, 16


def hold(t, q, v, x, p):
    return -p[0] * q - p[1] * v, x


control = fw.compiled(hold, parameters=[1.0, 0.1])


def sample(rng, n):
    q = rng.uniform(-WIDTH, WIDTH, (n, 2))
    mass, gains = rng.uniform(0.5, 2.0, n), rng.uniform([0.0, 0.0], [5.0, 1.0], (n, 2))
    return q, rng.normal(size=(n, 2)), {"fore.mass": mass}, gains


def reduce(run):
    return {"last": run.q[:, -1], "speed": np.abs(run.v).max(axis=2), "still": np.abs(run.v[:, -1]).max(axis=1) < 1.0}


def study(**others):
    """The arguments of `fw.sweep`."""
    usual = {"lanes": lanes, "seed": seed, "steps": steps, "dt": dt, "sample": sample, "control": control}
    usual |= {"reduce": reduce, "record_every": record_every, "chunk": chunk, "progress": False}
    return {**usual, **others}
