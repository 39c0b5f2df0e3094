"""Kill -9 at random moments: worker, scheduler, client, all of them. The same command finishes, to the same bits.

A study runs on a local Dask cluster of processes; every so often one of them, or all, is killed and started again. What
comes out is compared with an undisturbed run on threads. Counts in `benchmarks/results/`.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import featherweight as fw

HERE = Path(__file__).parent
STUDY = """
import numpy as np

import featherweight as fw

model = fw.robots.chain(6)
lanes, seed, steps, dt, record_every, chunk = {lanes}, 5, {steps}, 1e-3, {steps}, 64
control = fw.compiled(lambda t, q, v, x, p: (-p[0] * q - p[1] * v, x), parameters=[1.0, 0.1])


def sample(rng, n):
    return rng.uniform(-1.0, 1.0, (n, 6)), rng.normal(size=(n, 6)), None, rng.uniform(0.0, 2.0, (n, 2))


def reduce(run):
    return {{"last": run.q[:, -1], "fast": np.abs(run.v[:, -1]).max(axis=1) > 3.0}}
"""
KINDS = ("worker", "scheduler", "client", "all")
LONGEST = 300.0  # [s] without a new chunk: something hangs


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Cluster:
    """A scheduler, two workers and the command, each a process of its own."""

    def __init__(self, folder: Path, study: Path, out: Path) -> None:
        self.folder, self.study, self.out, self.port = folder, study, out, free_port()
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.started = 0

    def command(self, name: str) -> list[str]:
        """What starts a process."""
        address = f"tcp://127.0.0.1:{self.port}"
        local = ["--host", "127.0.0.1", "--no-dashboard"]
        if name == "scheduler":
            arguments = ["distributed.cli.dask_scheduler", "--port", str(self.port), *local]
        elif name == "client":
            arguments = [
                "featherweight",
                "sweep",
                str(self.study),
                "-o",
                str(self.out),
                "--scheduler",
                address,
                "--quiet",
            ]
        else:
            quick = ["--nthreads", "1", "--no-nanny", "--death-timeout", "20", "--local-directory", str(self.folder)]
            arguments = ["distributed.cli.dask_worker", address, *quick, *local]
        return [sys.executable, "-m", *arguments]

    def start(self) -> None:
        """Start whatever is not running."""
        for name in ("scheduler", "worker 1", "worker 2", "client"):
            process = self.processes.get(name)
            if process is None or process.poll() is not None:
                with open(self.folder / f"{name}.log", "ab") as log:
                    self.processes[name] = subprocess.Popen(self.command(name), stdout=log, stderr=log)
                self.started += 1

    def kill(self, kind: str) -> None:
        """Kill a process, or all."""
        names = {"worker": [random.choice(["worker 1", "worker 2"])], "all": list(self.processes)}.get(kind, [kind])
        for name in names:
            self.processes[name].kill()
        for name in names:
            self.processes[name].wait()

    def finished(self) -> bool:
        """Has the command come to its end, and all is well?"""
        return self.processes["client"].poll() == 0

    def stop(self) -> None:
        for process in self.processes.values():
            with contextlib.suppress(OSError):
                process.kill()
            process.wait()


def same(a: fw.Sweep, b: fw.Sweep) -> bool:
    """Equal to the bit."""
    return a.complete and b.complete and a.names == b.names and all(np.array_equal(a[n], b[n]) for n in a.names)


def written(out: Path) -> int:
    """Chunks that are there."""
    return sum(1 for _ in (out / ".featherweight" / "chunks").rglob("[0-9]*.json"))


def one_round(
    folder: Path, study: Path, kinds: list[str], wait: tuple[float, float], out: Path
) -> tuple[Path, list[str]]:
    """One sweep with kills until it is finished; where it is, and the kills that were made: each when there is some
    progress after the one before."""
    done: list[str] = []
    cluster = Cluster(folder, study, out)
    cluster.start()
    killed = moved = time.monotonic()
    at_kill = chunks = written(out)
    pause = random.uniform(*wait)
    try:
        while not cluster.finished():
            time.sleep(0.05)
            now, there = time.monotonic(), written(out)
            moved, chunks = (now, there) if there > chunks else (moved, chunks)
            if now - moved > LONGEST:
                raise RuntimeError(f"no new chunk for {LONGEST:g} s; logs are in {folder}")
            if there > at_kill and now - killed > pause and kinds:
                kind = kinds.pop()
                cluster.kill(kind)
                done.append(kind)
                killed, at_kill, pause = now, written(out), random.uniform(*wait)
            if not cluster.finished():
                cluster.start()
        return out, done
    finally:
        cluster.stop()


def undisturbed(folder: Path, study: Path) -> fw.Sweep:
    """The same study on threads."""
    out = folder / "threads.zarr"
    command = [sys.executable, "-m", "featherweight", "sweep", str(study), "-o", str(out), "--quiet"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return fw.Sweep(out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    random.seed(options.seed)
    kinds = [KINDS[k % len(KINDS)] for k in range(options.kills)]
    random.shuffle(kinds)
    folder, counts, rounds, begin = Path(tempfile.mkdtemp()), dict.fromkeys(KINDS, 0), 0, time.monotonic()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    study = folder / "study.py"
    study.write_text(STUDY.format(lanes=64 * 80, steps=4000))
    expected = undisturbed(folder, study)
    while kinds:
        out, done = one_round(folder, study, kinds, (0.0, 1.0), folder / f"killed-{rounds}.zarr")
        if not same(fw.Sweep(out), expected):
            sys.exit(f"{out} differs from {expected.path} after {done}")
        rounds += 1
        for kind in done:
            counts[kind] += 1
        print(f"{rounds} sweeps, kills so far: {counts}, all the same bits", flush=True)
        shutil.rmtree(out)
    seconds = time.monotonic() - begin
    date = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    record = {"date": date, "kills": counts, "sweeps": rounds, "same_bits": True, "seconds": round(seconds, 1)}
    (HERE / "results" / f"{date[:10]}-sweep-kills.json").write_text(json.dumps(record, indent=1) + "\n")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
