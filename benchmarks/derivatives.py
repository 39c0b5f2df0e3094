"""Derivatives of dynamics beside Pinocchio's: time of a call and in a batch, compile time, error (`make derivatives`).

All in one process, taking turns, the best of many short rounds, by CPU time of the thread: on a shared machine the
clock on the wall also counts the work of others. A batch is one public call on one core; its results are dropped
before the next. Errors are against central differences with 50 digits, relative to the largest entry, also 1 km from
the origin.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp()  # an empty cache: compile times are those of a first call

import numpy as np
import pinocchio as pin

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "tests")]

import featherweight as fw  # noqa: E402
from dynamics.test_derivatives import by_differences, error  # noqa: E402
from featherweight import algorithms  # noqa: E402
from featherweight.compiler.native.target import host  # noqa: E402
from featherweight.dynamics.derivatives import (  # noqa: E402
    FORWARD_DYNAMICS_DERIVATIVES,
    INVERSE_DYNAMICS_DERIVATIVES,
)
from peers.pinocchio_adapter import pinocchio_model, random_states, robot, to_pinocchio  # noqa: E402

BATCHES = {"go2": (64, 1024), "simple_humanoid": (64, 512), "talos": (64, 256)}
PEERS, ROUNDS, SECONDS = 64, 60, 0.006
KINDS = {
    "inverse": (fw.inverse_dynamics_derivatives, INVERSE_DYNAMICS_DERIVATIVES, pin.computeRNEADerivatives),
    "forward": (fw.forward_dynamics_derivatives, FORWARD_DYNAMICS_DERIVATIVES, pin.computeABADerivatives),
}


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


def compile_seconds(model: fw.Model, quantity: Any) -> dict[str, float]:
    """From nothing to native code, for one state and for a pack: on the wall, and CPU time of all threads."""
    found = {}
    for what, width in (("one", 1), ("batch", host().width)):
        start, cpu = time.perf_counter(), time.process_time()
        quantity.kernel(model).code(width)
        found[f"compile_{what}_s"] = time.perf_counter() - start
        found[f"compile_{what}_cpu_s"] = time.process_time() - cpu
    found["operations"] = quantity.kernel(model).plan.operations
    return found


def measure(name: str, kind: str) -> dict[str, float]:
    function, quantity, peer = KINDS[kind]
    theirs, ours = pinocchio_model(name, "free"), robot(name, "free")
    data = theirs.createData()
    found = compile_seconds(ours, quantity)
    q, v, x = random_states(theirs, max(BATCHES[name]))
    q_theirs = to_pinocchio(ours, theirs, q)
    one = [array[0].copy() for array in (q, v, x)]

    def peers() -> None:
        for k in range(PEERS):
            peer(theirs, data, q_theirs[k], v[k], x[k])

    batches = [lambda n=n: function(ours, q[:n], v[:n], x[:n]) for n in BATCHES[name]]
    with fw.threads(1):
        times = best([lambda: function(ours, *one), lambda: peer(theirs, data, q_theirs[0], *one[1:]), peers, *batches])
    found |= {"one_us": times[0] * 1e6, "peer_one_us": times[1] * 1e6, "ratio_one": times[1] / times[0]}
    found["peer_batch_us"] = times[2] / PEERS * 1e6
    for n, seconds in zip(BATCHES[name], times[3:], strict=True):
        found[f"batch_{n}_us"] = seconds / n * 1e6
        found[f"ratio_batch_{n}"] = (times[2] / PEERS) / (seconds / n)
    return found


def accuracy(away: float) -> dict[str, float]:
    """Worst relative errors of ∂q and ∂v on go2, ours and Pinocchio's, with its base so far from the origin [m]."""
    theirs, ours = pinocchio_model("go2", "free"), robot("go2", "free")
    q, v, x = (array[0].copy() for array in random_states(theirs, 1))
    q[0] += away
    found = {}
    for kind, dynamics in (("inverse", algorithms.inverse_dynamics), ("forward", algorithms.forward_dynamics)):
        reference = by_differences(ours, q, v, x, np.zeros((ours.nb + 1, 6)), dynamics)
        function, _, peer = KINDS[kind]
        data = theirs.createData()  # which has the memory of the results
        results = {"ours": function(ours, q, v, x), "pinocchio": peer(theirs, data, q, v, x)}
        for who, matrices in results.items():
            found[f"{kind}_{who}"] = max(error(np.array(m), r) for m, r in zip(matrices, reference, strict=False))
    return found


def main() -> None:
    date = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    record: dict[str, Any] = {"date": date, "machine": platform.processor() or platform.machine()}
    record |= {"pinocchio": pin.__version__, "rounds": ROUNDS}
    for name in BATCHES:
        for kind in KINDS:
            record[f"{name} {kind}"] = found = measure(name, kind)
            print(f"{name} {kind}:", {k: float(f"{x:.3g}") for k, x in found.items()}, flush=True)
    for away in (0.0, 1e3):
        record[f"error at {away:g} m"] = found = accuracy(away)
        print(f"error at {away:g} m:", {k: float(f"{x:.2g}") for k, x in found.items()}, flush=True)
    (HERE / "results" / f"{date[:10]}-derivatives.json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
