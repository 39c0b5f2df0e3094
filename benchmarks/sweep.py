"""Sweeps: a cluster against threads, a fresh worker, memory of a client with 10⁹ lanes, 10⁵ empty chunks.

Raw data in `benchmarks/results/`. Rates are of the wall clock, the best of several rounds in turns; on a machine with
other work the seconds of CPU beside them say more.
"""

from __future__ import annotations

import datetime
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dask
import distributed

import featherweight as fw
from featherweight.campaigns import on_cluster, worker
from featherweight.campaigns.manifest import read
from featherweight.campaigns.studies import text_of
from featherweight.campaigns.study import loaded

HERE = Path(__file__).parent
ROUNDS, WORKERS = (int(sys.argv[1]) if len(sys.argv) > 1 else 3), 2
STUDY = """
import numpy as np

import featherweight as fw

model = fw.robots.mini_cheetah()
seed, steps, dt, chunk = 1, 500, 1e-3, 512
lanes = 32 * chunk
contact = fw.contact.Impulse()
rest = fw.scenes.crouched(model)


def sample(rng, n):
    q = np.tile(rest, (n, 1))
    q[:, 2] += rng.uniform(0.0, 0.3, n)
    return q, 0.3 * rng.normal(size=(n, model.nv))


def reduce(run):
    return {"height": run.q[:, -1, 2], "speed": np.abs(run.v[:, -1]).max(axis=1)}
"""
FRESH = """
import sys, time
begin, used = time.perf_counter(), time.process_time()
from featherweight.campaigns import worker
path, digest = sys.argv[1:]
problem = worker.prepare(path, digest)
if problem:
    sys.exit(problem)
print(time.perf_counter() - begin, time.process_time() - used)
"""
MANY = """
import signal, sys
import featherweight as fw
from featherweight.campaigns.progress import SweepProgress
from featherweight.campaigns.study import loaded

study = {k: v for k, v in vars(loaded(open(sys.argv[1]).read(), sys.argv[1])).items() if k in
         ("model", "seed", "steps", "dt", "contact", "sample", "reduce")}
SweepProgress.show = lambda self, outcome: signal.raise_signal(signal.SIGINT)
found = fw.sweep(out=sys.argv[2], lanes=10**9, chunk=4096, progress=False, scheduler=sys.argv[3] or None, **study)
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(int(peak.split()[1]) / 1024, found.summary()["chunks"])
"""


def arguments(text: str, file: str | None = None) -> dict[str, Any]:
    """The arguments of a study."""
    names = ("model", "lanes", "seed", "steps", "dt", "chunk", "contact", "actuators", "control", "sample", "reduce")
    own = vars(loaded(text, file))
    return {name: own[name] for name in names if name in own}


def timed(folder: Path, study: dict[str, Any], scheduler: Any) -> dict[str, float]:
    """Seconds of a whole sweep, and those of its chunks."""
    out = folder / "timed.zarr"
    shutil.rmtree(out, ignore_errors=True)
    begin, used = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
    found = fw.sweep(**study, out=out, scheduler=scheduler, progress=False)
    seconds, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_SELF)
    facts = found.summary()
    cpu = after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime
    return {"seconds": seconds, "chunk_seconds": facts["core_seconds"] / facts["chunks"], "client_cpu_seconds": cpu}


def against_threads(folder: Path, client: Any) -> dict[str, Any]:
    """The same sweep on threads and on a cluster of as many workers, in turns."""
    file = folder / "study.py"
    file.write_text(STUDY)
    study = arguments(STUDY, str(file))
    warm = {**study, "lanes": 4 * study["chunk"]}
    rounds = []
    with fw.threads(WORKERS):
        for scheduler in (None, client):
            timed(folder, warm, scheduler)
        for _ in range(ROUNDS):
            rounds.append({"threads": timed(folder, study, None), "cluster": timed(folder, study, client)})
    best = {way: min(r[way]["seconds"] for r in rounds) for way in ("threads", "cluster")}
    work = {way: min(r[way]["chunk_seconds"] for r in rounds) for way in ("threads", "cluster")}
    return {"rounds": rounds, "speed_of_threads": best["threads"] / best["cluster"], "chunk_seconds": work}


def fresh_worker(folder: Path, name: str) -> dict[str, Any]:
    """A process that has never seen a study, its code in the cache: seconds until it can compute."""
    study = arguments(*text_of(name))
    out = folder / f"{name}.zarr"
    found = fw.sweep(**{**study, "lanes": 16, "chunk": 8}, out=out, progress=False)
    command = [sys.executable, "-c", FRESH, str(out), found.digest]
    rows = [subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() for _ in range(5)]
    size = (out / ".featherweight" / "manifest.fw").stat().st_size
    nodes = len(read(out).step.loop.kernel._write()[0].op)
    wall, cpu = (min(float(row[k]) for row in rows) for k in (0, 1))
    return {"seconds": wall, "cpu_seconds": cpu, "manifest_bytes": size, "nodes": nodes}


def client_memory(folder: Path, scheduler: str) -> dict[str, Any]:
    """Largest memory [MB] of a client with 10⁹ lanes, up to its first chunks: one that traces and compiles, one that
    finds its code in the cache, and that one with a cluster.

    By VmHWM, which begins anew with a program. `ru_maxrss` does not: a child has that of its parent at least, and this
    script holds more than any client.
    """
    ways = {"compiles": ("", str(folder / "cache")), "finds_its_code": ("", ""), "on_a_cluster": (scheduler, "")}
    found: dict[str, Any] = {"lanes": 10**9}
    for way, (address, cache) in ways.items():
        command = [sys.executable, "-c", MANY, str(folder / "study.py"), str(folder / f"{way}.zarr"), address]
        own = {**os.environ, **({"FEATHERWEIGHT_CACHE": cache} if cache else {})}
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=own).stdout.split()
        found |= {f"megabytes_{way}": float(done[0]), "chunks": int(done[1])}
    return found


def empty_chunks(folder: Path, client: Any, n: int) -> dict[str, Any]:
    """n chunks of nothing through the scheduler, in the window and with the accounts of real ones."""

    def run(path: str, digest: str, numbers: list[int]) -> list[tuple[Any, ...]]:
        return [(number, 1, 0, 0.0, 0, "", False) for number in numbers]

    manifest = read(folder / "pushes.zarr")
    real, counted = on_cluster.worker, [0]
    on_cluster.worker = SimpleNamespace(run=run, prepare=worker.prepare, processor=worker.processor)  # type: ignore[assignment]
    try:
        begin, used = time.perf_counter(), time.process_time()

        def report(outcome: worker.Outcome) -> None:
            counted[0] += 1

        on_cluster.run_on_cluster(manifest, str(folder / "pushes.zarr"), range(n), report, client, lambda text: None)
    finally:
        on_cluster.worker = real
    seconds = time.perf_counter() - begin
    if counted[0] != n:
        sys.exit(f"{counted[0]} of {n} chunks came back")
    return {"chunks": n, "chunks_a_second": n / seconds, "client_cpu_seconds": time.process_time() - used}


def written_chunks(folder: Path, client: Any) -> dict[str, Any]:
    """Chunks of one lane and one step, with all files written and flushed."""
    file = folder / "tiny.py"
    file.write_text(
        "import numpy as np\nimport featherweight as fw\n\nmodel = fw.robots.chain(1)\n"
        "lanes, seed, steps, dt, chunk = 2000, 1, 1, 1e-3, 1\n\n\n"
        "def sample(rng, n):\n    return rng.normal(size=(n, 1)), np.zeros(1)\n"
    )
    found = timed(folder, arguments(file.read_text(), str(file)), client)
    return {"chunks": 2000, "chunks_a_second": 2000 / found["seconds"], "files_a_chunk": 5}


def main() -> None:
    date = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    record: dict[str, Any] = {
        "date": date,
        "workers": WORKERS,
        "dask": dask.__version__,
        "processor": worker.processor(),
    }
    folder = Path(tempfile.mkdtemp())
    record["fresh_worker"] = {name: fresh_worker(folder, name) for name in ("payload", "pushes")}
    print("fresh worker", record["fresh_worker"], flush=True)
    cluster = distributed.LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=None, silence_logs=40)
    with cluster, distributed.Client(cluster) as client:
        record["cluster_against_threads"] = against_threads(folder, client)
        print(
            "speed of threads",
            {k: v for k, v in record["cluster_against_threads"].items() if k != "rounds"},
            flush=True,
        )
        record["client_memory"] = client_memory(folder, client.scheduler.address)
        print("memory", record["client_memory"], flush=True)
        record["empty_chunks"] = empty_chunks(folder, client, 100_000)
        print("empty", record["empty_chunks"], flush=True)
        record["written_chunks"] = written_chunks(folder, client)
        print("written", record["written_chunks"], flush=True)
    (HERE / "results" / f"{date[:10]}-sweep.json").write_text(json.dumps(record, indent=1) + "\n")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
