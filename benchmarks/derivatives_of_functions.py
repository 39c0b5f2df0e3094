"""Derivatives of users' functions: what they cost beside the function itself, and beside Pinocchio's matrices.

`make derivatives-of-functions`. Forward dynamics inside `fw.function`: its value, gradient (vjp), tangent (jvp) and
Jacobians, against `computeABADerivatives`, which is what gradients take there. CPU time of one thread, the best of many
rounds, everything in turns; compile times are those of an empty cache.
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

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "tests")]
os.environ["FEATHERWEIGHT_CACHE"] = tempfile.mkdtemp(prefix="featherweight-bench-")

import numpy as np  # noqa: E402
import pinocchio as pin  # noqa: E402

import featherweight as fw  # noqa: E402
from featherweight.functions import Function  # noqa: E402
from peers.pinocchio_adapter import pinocchio_model, random_states, robot  # noqa: E402

ROBOTS, BATCH, ROUNDS = ("go2", "simple_humanoid", "talos"), 512, 40


def forward_dynamics(model: fw.Model) -> Function:
    """Forward dynamics as a user would write it."""
    inputs = {"q": fw.configuration(model), "v": model.nv, "tau": model.nv}
    return fw.function(lambda q, v, tau: fw.forward_dynamics(model, q, v, tau), inputs=inputs)


def best(calls: dict[str, Callable[[], Any]], rounds: int = ROUNDS) -> dict[str, float]:
    """CPU seconds of each call: the best of some rounds, in turns."""
    found = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.thread_time()
            call()
            found[name] = min(found[name], time.thread_time() - start)
    return found


def first_call(call: Callable[[], Any]) -> float:
    """CPU seconds, of all threads."""
    start = time.process_time()
    call()
    return time.process_time() - start


def measured(name: str) -> dict[str, Any]:
    theirs, model = pinocchio_model(name, "free"), robot(name, "free")
    q, v, tau = (x[:BATCH] for x in random_states(theirs, BATCH))
    w = np.random.default_rng(1).normal(size=tau.shape)
    f = forward_dynamics(model)
    ours = {"value": (f, ()), "vjp": (fw.vjp(f), (w,)), "jvp": (fw.jvp(f, "q"), (w,))}
    if name == "go2":
        ours["derivative"] = fw.derivative(f), ()
    row: dict[str, Any] = {"operations": {}, "compile_cpu_s": {}}
    data = theirs.createData()

    def matrices() -> None:
        for k in range(32):
            pin.computeABADerivatives(theirs, data, q[k], v[k], tau[k])

    with fw.threads(1):
        calls: dict[str, Callable[[], Any]] = {"pinocchio": matrices}
        for kind, (g, more) in ours.items():
            row["compile_cpu_s"][kind] = first_call(lambda g=g, more=more: g(q, v, tau, *more))  # type: ignore[misc]
            row["operations"][kind] = g.kernel.plan.operations
            one = (q[0].copy(), v[0].copy(), tau[0].copy(), *(x[0].copy() for x in more))
            g(*one)
            calls[f"{kind} batch"] = lambda g=g, more=more: g(q, v, tau, *more)  # type: ignore[misc]
            calls[f"{kind} one"] = lambda g=g, one=one: [g(*one) for _ in range(64)]  # type: ignore[misc]
        times = best(calls)
    counts = {"pinocchio": 32}
    row["us"] = {call: 1e6 * t / counts.get(call, BATCH if call.endswith("batch") else 64) for call, t in times.items()}
    gradient = ours["vjp"][0](q, v, tau, w)
    pin.computeABADerivatives(theirs, data, q[0], v[0], tau[0])
    expected = w[0] @ np.hstack([data.ddq_dq, data.ddq_dv, data.Minv])
    row["relative_error"] = float(np.abs(np.hstack([g[0] for g in gradient]) - expected).max() / np.abs(expected).max())
    row["times_faster_than_matrices"] = {
        "vjp batch": row["us"]["pinocchio"] / row["us"]["vjp batch"],
        "vjp one": row["us"]["pinocchio"] / row["us"]["vjp one"],
    }
    return row


def main() -> None:
    results = {name: measured(name) for name in ROBOTS}
    for name, row in results.items():
        rounded = {
            k: {n: round(x, 3) for n, x in own.items()} if isinstance(own, dict) else own for k, own in row.items()
        }
        print(name, json.dumps(rounded, indent=1))
    today = datetime.date.today().isoformat()
    about = {"date": today, "machine": platform.processor() or platform.machine(), "batch": BATCH}
    path = HERE / "results" / f"{today}-derivatives-of-functions.json"
    path.write_text(json.dumps({**about, "robots": results}, indent=1) + "\n")
    print(path.name)


if __name__ == "__main__":
    main()
