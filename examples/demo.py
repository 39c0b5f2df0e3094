"""What featherweight does, in a minute: build robots, compute, compare speeds. Run by `make demo`."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import featherweight as fw


def quadruped() -> fw.Model:
    """A floating trunk with four legs of three joints, built body by body."""
    robot = fw.Builder("quadruped")
    robot.add_body("trunk", joint=fw.joints.Free(), inertia=fw.Inertia.box(7.0, (0.4, 0.2, 0.1)))
    for name, x, y in (("FR", 0.2, -0.1), ("FL", 0.2, 0.1), ("HR", -0.2, -0.1), ("HL", -0.2, 0.1)):
        side = fw.Placement((0, y, 0))
        robot.add_body(
            f"{name}_hip",
            parent="trunk",
            joint=fw.joints.Revolute("x"),
            placement=fw.Placement((x, y, 0)),
            inertia=fw.Inertia.sphere(0.6, 0.05, (0, y / 2, 0)),
        )
        robot.add_body(
            f"{name}_thigh",
            parent=f"{name}_hip",
            joint=fw.joints.Revolute("y"),
            placement=side,
            inertia=fw.Inertia.rod(0.9, 0.2, (0, 0, -0.1)),
        )
        robot.add_body(
            f"{name}_shank",
            parent=f"{name}_thigh",
            joint=fw.joints.Revolute("y"),
            placement=fw.Placement((0, 0, -0.2)),
            inertia=fw.Inertia.cylinder(0.2, 0.02, 0.2, (0, 0, -0.1)),
        )
        robot.add_contact_point(f"{name}_foot", parent=f"{name}_shank", position=(0, 0, -0.2))
    return robot.build()


def seconds(f: Callable[[], object], calls: int) -> float:
    """Seconds a call, the best of five rounds."""
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(calls):
            f()
        best = min(best, (time.perf_counter() - start) / calls)
    return best


def trot() -> None:
    """The Mini Cheetah trots in place for five seconds."""
    scene = fw.scenes.trot()
    fw.simulate(scene.model, scene.q, scene.v, duration=scene.dt, **scene.means)
    start = time.perf_counter()
    run = fw.simulate(scene.model, scene.q, scene.v, duration=5.0, **scene.means)
    factor = 5.0 / (time.perf_counter() - start)
    height = run.q[run.t > 2.0, 2]
    band, torque = 1e3 * np.abs(height - height.mean()).max(), np.abs(run.tau).max()
    print(f"\nThe Mini Cheetah trots in place, {factor:.0f} times faster than real time: its body stays within")
    print(f"{band:.1f} mm of {1e3 * height.mean():.0f} mm, with up to {torque:.0f} N m at a joint.\n")


def main() -> None:
    pendulum = fw.robots.pendulum(length=2.0)
    a = fw.forward_dynamics(pendulum, [np.pi / 2], [0.0], [0.0])
    print(f"A pendulum of 2 m, held level and let go: q̈ = {a[0]:.4f} rad/s² (-g/l = {-9.81 / 2:.4f})\n")

    print(f"{'robot':<12}{'nv':>4}  {'function':<18}{'first call':>12}{'one state':>12}{'4096 states':>16}")
    rng = np.random.default_rng(0)
    for model in (fw.robots.cartpole(), fw.robots.chain(10), quadruped(), fw.robots.chain(100)):
        q = np.array([model.random(rng) for _ in range(4096)])
        v, tau = rng.normal(size=(2, 4096, model.nv))
        for f, rows in (
            (fw.forward_dynamics, (q, v, tau)),
            (fw.inverse_dynamics, (q, v, tau)),
            (fw.forward_kinematics, (q,)),
        ):
            one = [row[0].copy() for row in rows]
            start = time.perf_counter()
            f(model, *one)
            first = time.perf_counter() - start
            f(model, *rows)
            single = seconds(lambda: f(model, *one), 200)  # noqa: B023
            batch = seconds(lambda: f(model, *rows), 2) / 4096  # noqa: B023
            print(
                f"{model.name:<12}{model.nv:>4}  {f.__name__:<18}{1e3 * first:>9.0f} ms{1e6 * single:>9.2f} us"
                f"{1e9 * batch:>10.0f} ns each"
            )

    robot = quadruped()
    q, v = robot.neutral(), np.zeros(robot.nv)
    tau = fw.inverse_dynamics(robot, q, v, v)
    print(f"\nHolding the quadruped still takes {tau[2]:.2f} N at its trunk: its weight,")
    left = np.abs(fw.forward_dynamics(robot, q, v, tau)).max()
    print(f"and forward dynamics with that force leaves accelerations of {left:.0e}.")
    trot()
    print(f"Threads: {fw.thread_count()}. Compiled code is kept in the cache: run me again.")


if __name__ == "__main__":
    main()
