"""What joint limits cost where nothing else is touched: limp robots with and without them, in turns (`make limits`)."""

from __future__ import annotations

import datetime
import json
import platform
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "tests")]

import featherweight as fw  # noqa: E402
from featherweight.constraints.joint_limit import limits_of  # noqa: E402
from peers.pinocchio_adapter import ROBOTS, robots_folder  # noqa: E402

BATCH, STEPS, DT, ROUNDS = 1024, 1000, 1e-3, 7
CASES = {"panda": "fixed", "go2": "free"}


def measure(name: str, integrator: str) -> dict[str, Any]:
    """Microseconds a step of one core with and without limits, the best of several rounds; how far joints are beyond
    their ends in the last state."""
    model = fw.load(robots_folder() / ROBOTS[name], base=CASES[name], policy="warn")
    rng = np.random.default_rng(0)
    q = np.array([model.random(rng) for _ in range(BATCH)])
    times, beyond = {True: np.inf, False: np.inf}, {}
    for _ in range(ROUNDS + 1):
        for limits in times:
            start = time.perf_counter()
            run = fw.rollout(
                model, q, np.zeros((BATCH, model.nv)), steps=STEPS, dt=DT, record_every=STEPS, integrator=integrator,
                limits=limits,
            )  # fmt: skip
            if beyond.setdefault(limits, -1.0) >= 0:  # the first round compiles
                times[limits] = min(times[limits], time.perf_counter() - start)
            last = run.q[:, -1]
            beyond[limits] = max(
                0.0,
                *(float((limit.lower - last[:, limit.coordinate]).max()) for limit in limits_of(model)),
                *(float((last[:, limit.coordinate] - limit.upper).max()) for limit in limits_of(model)),
            )
    return {
        "without_us": times[False] / BATCH / STEPS * 1e6,
        "with_us": times[True] / BATCH / STEPS * 1e6,
        "ratio": times[True] / times[False],
        "beyond_without": beyond[False],
        "beyond_with": beyond[True],
    }


def main() -> None:
    fw.threads(1)
    date = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    record: dict[str, Any] = {"date": date, "machine": platform.processor() or platform.machine()}
    record |= {"batch": BATCH, "steps": STEPS, "dt": DT, "rounds": ROUNDS}
    for name in CASES:
        for integrator in ("semi_implicit", "variational"):
            record[f"{name} {integrator}"] = found = measure(name, integrator)
            print(f"{name:6} {integrator:14}", {k: float(f"{x:.3g}") for k, x in found.items()}, flush=True)
    (HERE / "results" / f"{date[:10]}-limits.json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
