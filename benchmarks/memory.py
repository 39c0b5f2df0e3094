"""Models that are compiled and dropped: what stays of them in memory. Linux, `make memory`.

Every other one has a number in its code that no other has, so it is compiled; those between differ in masses alone
and share code. The first models are not counted: what is loaded once for a process is loaded for them.
"""

from __future__ import annotations

import argparse
import datetime
import gc
import json
import os
import platform
import sys
import time
from pathlib import Path
from typing import Any

os.environ["FEATHERWEIGHT_CACHE"] = "off"

import numpy as np

import featherweight as fw

HERE = Path(__file__).parent
MOST_BYTES = 2000  # that may stay of a model
FIRST = 500  # models that are not counted
PARTS = 20  # measurements


class Geared(fw.joints.Revolute):
    """A joint as users write them: its number is no number of the model, but a literal of the code."""

    ratio = 2.0

    def subspace(self, q: Any) -> Any:
        return tuple(s * self.ratio for s in super().subspace(q))


def geared(links: int, k: int) -> fw.Model:
    """A chain with a ratio of its own."""
    Geared.ratio = 2.0 + k * 1e-6
    build = fw.Builder("geared")
    for n in range(links):
        parent, bob = f"link{n - 1}" if n else "world", fw.Inertia.sphere(1.2, 0.1, (0.0, 0.0, -0.2))
        build.add_body(f"link{n}", parent=parent, joint=Geared("y"), placement=fw.Placement((0, 0, -0.5)), inertia=bob)
    return build.build()


def one(k: int) -> None:
    """A model, compiled for one state; now and then for a batch, and for a simulation."""
    links = 1 + k % 3
    model = geared(links, k) if k % 2 else fw.robots.chain(links, mass=1.0 + (k + 1) * 1e-6)
    x = np.full(model.nv, 0.1)
    fw.forward_dynamics(model, x, x, x)
    if k % 10 == 0:
        fw.mass_matrix(model, np.stack([x, x]))
    if k % 20 == 0:
        fw.rollout(model, x, x, steps=3, dt=1e-3)
    if k % 40 == 0:
        fw.simulate(model, x, x, duration=3e-3, dt=1e-3, control=lambda t, q, v: -v)


def measured() -> dict[str, int]:
    gc.collect()
    return {
        "bytes": int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE"),
        "mappings": Path("/proc/self/maps").read_bytes().count(b"\n"),
        "python_blocks": sys.getallocatedblocks(),
        "files": len(os.listdir("/proc/self/fd")),
        "threads": len(os.listdir("/proc/self/task")),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000, help="models")
    parser.add_argument("--no-result", action="store_true", help="write no file")
    arguments = parser.parse_args()

    for k in range(FIRST):
        one(k)
    start, first = time.perf_counter(), measured()
    points = []
    for part in range(PARTS):
        for k in range(arguments.count * part // PARTS, arguments.count * (part + 1) // PARTS):
            one(FIRST + k)
        made, now = arguments.count * (part + 1) // PARTS, measured()
        points.append({"models": made, **now})
        grown = (now["bytes"] - first["bytes"]) / made
        sys.stdout.write(f"\r{made} models, {grown:+.0f} bytes a model, {now['mappings']} mappings\033[K")
        sys.stdout.flush()
    growth = (points[-1]["bytes"] - first["bytes"]) / arguments.count
    record = {
        "date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
        "version": fw.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "machine": f"{platform.system()} {platform.machine()}",
        "count": arguments.count,
        "seconds": round(time.perf_counter() - start, 1),
        "bytes_a_model": round(growth, 1),
        "allowed_bytes_a_model": MOST_BYTES,
        "first": first,
        "points": points,
    }
    sys.stdout.write(f"\n{growth:.0f} bytes stay of a model; {MOST_BYTES} are allowed\n")
    if not arguments.no_result:
        path = HERE / "results" / f"{record['date'][:10]}-memory.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        sys.stdout.write(f"written to {path.relative_to(HERE.parent)}\n")
    return 1 if growth > MOST_BYTES else 0


if __name__ == "__main__":
    sys.exit(main())
