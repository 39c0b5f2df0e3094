"""A minute with an installed featherweight: fast paths, batches, simulations, against the interpreted source.

Run by `interpreters.py` with every Python it finds; needs NumPy and llvmlite alone.
"""

from __future__ import annotations

import platform
import sys
import time

import numpy as np


def without_the_interpreter_lock() -> None:
    """A free-threaded Python is told that it will not do."""
    try:
        import featherweight  # noqa: F401
    except ImportError as error:
        if "global interpreter lock" in str(error):
            print("free-threaded: refused, as it should be")
            return
        raise
    raise SystemExit("imported without the interpreter lock")


def main() -> None:
    import featherweight as fw

    model = fw.robots.chain(12)
    q, v, tau = np.random.default_rng(0).normal(size=(3, 4096, 12))

    # fast paths, for one state and for a batch
    one = fw.forward_dynamics(model, q[0], v[0], tau[0])
    with fw.threads(2):
        many = fw.forward_dynamics(model, q, v, tau)
        again = fw.forward_dynamics(model, q, v, tau)
    entries = model.cache.entries["forward_dynamics", (), ()]
    builtin = type(len)
    if [type(entries.get(axes)) for axes in (0, 1)] != [builtin, builtin]:
        raise SystemExit(f"no native entry points: {entries}")
    for axes, arrays in ((0, (q[0], v[0], tau[0])), (1, (q, v, tau))):
        if not isinstance(entries[axes](*arrays), np.ndarray):
            raise SystemExit(f"the entry point for {axes} leading axes declines plain arrays")

    # the same bits, and those of the source
    assert one.tobytes() == many[0].tobytes()
    assert many.tobytes() == again.tobytes()
    with fw.interpret():
        np.testing.assert_allclose(many[:8], fw.forward_dynamics(model, q[:8], v[:8], tau[:8]), rtol=1e-9)

    # arrays that somebody holds are not handed out again
    held = [fw.forward_dynamics(model, q[k], v[k], tau[k]) for k in range(50)]
    assert all(held[k].tobytes() == many[k].tobytes() for k in range(50))

    # simulations: in native code, and step by step with Python in between
    options = {"steps": 50, "dt": 1e-3}
    run = fw.rollout(model, q[:8], v[:8], tau=np.zeros((50, 12)), **options)
    with fw.interpret():
        source = fw.rollout(model, q[:2], v[:2], tau=np.zeros((50, 12)), **options)
    np.testing.assert_allclose(run.q[:2], source.q, rtol=1e-9, atol=1e-9)
    steps = fw.simulate(model, q[0], v[0], duration=0.05, dt=1e-3, control=lambda t, q, v: np.zeros(12))
    assert steps.q.tobytes() == run.q[0].tobytes()

    times = []
    state = q[0].copy(), v[0].copy(), tau[0].copy()
    for _ in range(20):
        start = time.perf_counter()
        for _ in range(1000):
            fw.forward_dynamics(model, *state)
        times.append(time.perf_counter() - start)
    print(f"good; one state in {1e6 * min(times):.0f} ns; NumPy {np.__version__}, {platform.machine()}")


if __name__ == "__main__":
    if getattr(sys, "_is_gil_enabled", lambda: True)():
        main()
    else:
        without_the_interpreter_lock()
