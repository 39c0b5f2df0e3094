"""4 096 Mini Cheetahs, each with another payload and other gains, for ten seconds: steps per second."""

import time

import numpy as np

import featherweight as fw

robot = fw.robots.mini_cheetah(parameters=("body.mass",))
rng = np.random.default_rng(0)
count, steps, dt = 4096, 10_000, 1e-3


def hold(t, q, v, x, p):
    """PD on the joints; the gains p differ from robot to robot."""
    return np.concatenate([np.zeros(6), p[0] * (np.tile([0.0, -0.8, 1.6], 4) - q[7:]) - p[1] * v[6:]]), x


control = fw.compiled(hold, parameters=rng.uniform([10, 0.3], [40, 1.0], (count, 2)))
masses = {"body.mass": rng.uniform(2.5, 5.0, count)}
q, v = np.tile(robot.neutral(), (count, 1)), rng.normal(size=(count, robot.nv))
begin = time.perf_counter()
run = fw.rollout(robot, q, v, steps=steps, dt=dt, control=control, parameters=masses, record_every=1000, progress=True)
seconds = time.perf_counter() - begin
print(f"{count * steps / seconds / 1e6:.1f} million steps a second, {np.count_nonzero(run.status)} robots failed")
