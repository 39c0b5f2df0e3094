"""Random public calls for a long time, while threads, forks and signals go on: `make soak`.

A worker process makes calls on 200 models (`soak_jobs.py`): in its main thread, where SIGALRM and SIGINT raise
exceptions at any moment, in three more threads, and in children that it forks. Every call is known by model, name and
seed, and gives the same bits every time; a sample of them is made again by fresh processes without a cache. Every 20
seconds the worker lets all models go, loads a small kernel, since code that nobody owns is freed when more is loaded,
and counts: memory, open files, threads. This process watches: if the worker dies or stands still, it says what was
being called, and goes on with another. `--without signals` and the like find out who is to blame.

Memory is counted twice. *In use* is what has been allocated and not freed: blocks of malloc, and of Python's allocator
of small objects. *Resident* is what the system sees: these, and what the two allocators hold for later. Python's holds
a megabyte as long as one object of 50 bytes lives in it, so at single rests up to 16 more of them are resident while
the bytes in use are the same (seen with `sys._debugmallocstats`).

Fails on: a crash, a hang, a wrong bit, after the first two minutes more than 5 MB more in use at any rest than at
an earlier one, a resident memory (median of five rests) that ends more than 5 MB higher, files or threads that become
more.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import datetime
import gc
import itertools
import json
import mmap
import os
import platform
import queue
import random
import re
import signal
import stat
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
THREADS, ALIVE = 3, 12  # beside the main one; models that are kept
REST_SECONDS, WARM_SECONDS = 20.0, 120.0
STILL_SECONDS = 600.0  # without a sign of life: a hang
FORK_SECONDS = 120.0
MOST_MEGABYTES = 5.0
SLOT, FRESH_JOBS = 128, 6  # bytes a thread may write of what it does; calls a fresh process makes


# ---- the worker


class Alarm(Exception):
    """Raised by the handler of SIGALRM, anywhere."""


class Worker:
    """Calls, signals, threads and forks, in one process."""

    def __init__(self, seed: int, minutes: float, recorder: Path, without: list[str]) -> None:
        import soak_jobs as jobs
        from soak_digests import SEEDS, Digests

        self.jobs, self.seed, self.seconds, self.without = jobs, seed, 60 * minutes, without
        with recorder.open("r+b") as file:
            self.recorder = mmap.mmap(file.fileno(), 0)
        self.models: dict[int, Any] = {}
        self.known, self.seeds = Digests(), SEEDS
        self.begin = time.monotonic()
        self.counts = {"calls": 0, "struck": 0, "forks": 0}
        self.armed = self.struck = False
        self.resting, self.ended = threading.Event(), threading.Event()
        self.idle = [threading.Event() for _ in range(0 if "threads" in without else THREADS)]
        self.lock = threading.Lock()

    def pick(self, rng: random.Random) -> tuple[int, str, int]:
        """A call: often one that was made before, or on a model that is there; sometimes on another."""
        there, seed = list(self.models), rng.randrange(self.seeds)
        made = self.known.kinds(there)
        if made and rng.random() < 0.8:
            return (*rng.choice(made), seed)
        number = rng.choice(there) if there and rng.random() < 0.8 else rng.randrange(self.jobs.MODELS)
        return number, rng.choice(list(self.jobs.CALLS)), seed

    def make(self, key: tuple[int, str, int], slot: int) -> str:
        """The call itself; what it is can be read by another process if this one dies of it."""
        number, name, seed = key
        text = f"{number} {name} {seed}".ljust(SLOT).encode()
        self.recorder[slot * SLOT : (slot + 1) * SLOT] = text
        model = self.models.get(number)
        if model is None:
            model = self.jobs.model_of(number)
            self.models[number] = model
        return self.jobs.job(model, name, seed)

    def compare(self, key: tuple[int, str, int], found: str, where: str) -> None:
        with self.lock:
            fresh = key not in self.known
            first = self.known.setdefault(key, found)
            self.counts["calls"] += 1
        if first != found:
            say(wrong=[*key], where=where, first=first, now=found)
        elif fresh:
            say(sample=[*key, found])

    # ---- in threads

    def thread(self, slot: int) -> None:
        rng = random.Random(f"{self.seed} {slot}")
        while not self.ended.is_set():
            if self.resting.is_set():
                self.idle[slot - 1].set()
                time.sleep(0.01)
                continue
            self.idle[slot - 1].clear()
            key = self.pick(rng)
            try:
                self.compare(key, self.make(key, slot), "a thread")
            except Exception:
                say(failure=f"{key} in a thread: {traceback.format_exc()}")
        self.idle[slot - 1].set()

    # ---- in the main thread, under fire

    def strike(self, number: int, frame: Any) -> None:
        self.struck = True
        if self.armed:
            self.armed = False
            raise Alarm if number == signal.SIGALRM else KeyboardInterrupt

    def shot(self, rng: random.Random) -> None:
        """One call that a signal may end."""
        key = self.pick(rng)
        self.struck = False
        if "signals" in self.without:
            pass
        elif rng.random() < 0.5:
            kind = rng.random()
            signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-5, 0.02 if kind < 0.8 else 0.5))
        elif rng.random() < 0.3:
            threading.Timer(rng.uniform(0.0, 0.02), os.kill, (os.getpid(), signal.SIGINT)).start()
        found = None
        try:
            self.armed = True
            found = self.make(key, 0)
            self.armed = False
        except (Alarm, KeyboardInterrupt):
            pass
        except Exception:
            self.armed = False
            say(failure=f"{key} in the main thread: {traceback.format_exc()}")
        self.armed = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        if found is None or self.struck:  # a rollout ends early where Ctrl-C comes
            self.counts["struck"] += 1
        else:
            self.compare(key, found, "the main thread")

    def fork(self, rng: random.Random) -> None:
        """A child makes calls that this process knows the bits of, on the models that it has, and one more."""
        known = self.known.keys(self.models.copy())
        keys = rng.sample(known, min(2, len(known)))
        self.counts["forks"] += 1
        child = os.fork()
        if child == 0:
            code = 3
            try:
                code = 0 if all(self.make(key, 8) == self.known[key] for key in keys) else 2
            finally:
                os._exit(code)
        end = time.monotonic() + FORK_SECONDS
        status = 0
        while time.monotonic() < end:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                break
            time.sleep(0.002)
        else:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            say(failure=f"a forked child hangs: {keys}")
            return
        if status:
            code = os.waitstatus_to_exitcode(status)
            say(failure=f"a forked child ends with {code} (2: other bits, negative: a signal): {keys}")

    def rest(self) -> None:
        """Let everything go, and count what is left."""
        self.resting.set()
        for idle in self.idle:
            while not idle.wait(1.0):
                pass
        time.sleep(0.1)  # for the last timer
        self.models.clear()
        gc.collect()
        self.jobs.load_another()
        self.jobs.fill_kept_memory()
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)
        say(
            rest=[
                round(time.monotonic() - self.begin, 1), memory(),
                len(os.listdir("/proc/self/fd")), threads_left(), in_use(),
            ], counts=self.counts, known=len(self.known),
        )  # fmt: skip
        self.resting.clear()

    def run(self) -> None:
        signal.signal(signal.SIGALRM, self.strike)
        signal.signal(signal.SIGINT, self.strike)
        rng = random.Random(f"{self.seed} main")
        self.jobs.fill_kept_memory()
        for number in self.jobs.structures():  # code that is kept for good
            for name in self.jobs.CALLS:
                self.make((number, name, 0), 0)
            self.models.clear()
        self.begin = time.monotonic()
        say(warm=True)
        for slot in range(1, len(self.idle) + 1):
            threading.Thread(target=self.thread, args=(slot,), daemon=True).start()
        rested = time.monotonic()
        while time.monotonic() - self.begin < self.seconds:
            if rng.random() < 0.05 and "forks" not in self.without:
                self.fork(rng)
            self.shot(rng)
            while len(self.models) > ALIVE:
                self.models.pop(rng.choice(list(self.models)), None)
            if time.monotonic() - rested > REST_SECONDS:
                self.rest()
                rested = time.monotonic()
        self.rest()
        self.ended.set()
        say(ended=True)


def say(**what: Any) -> None:
    os.write(1, (json.dumps(what) + "\n").encode())  # whole lines, whoever writes


def memory() -> float:
    """Resident memory of this process [MB]."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return round(pages * os.sysconf("SC_PAGE_SIZE") / 1e6, 2)


class MallocInfo(ctypes.Structure):
    """`struct mallinfo2` of the C library."""

    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"
    )]  # fmt: skip


def in_use() -> float:
    """What is allocated and not freed [MB]: by malloc, and in blocks of Python's allocator of small objects, which asks
    the system for its memory."""
    ask = ctypes.CDLL(None).mallinfo2
    ask.restype = MallocInfo
    found = ask()
    with tempfile.TemporaryFile() as file:  # it writes to the file of stderr, and nowhere else
        before = os.dup(2)
        os.dup2(file.fileno(), 2)
        sys._debugmallocstats()
        os.dup2(before, 2)
        os.close(before)
        file.seek(0)
        small = re.findall(rb"# bytes in allocated blocks\s*=\s*([\d,]+)", file.read())
    return round((found.uordblks + found.hblkhd + sum(int(x.replace(b",", b"")) for x in small)) / 1e6, 2)


def fresh() -> int:
    """Calls that are read from stdin, in a process that has done nothing else."""
    import soak_jobs as jobs

    for number, name, seed in json.load(sys.stdin):
        say(sample=[number, name, seed, jobs.job(jobs.model_of(number), name, seed)])
    return 0


# ---- who watches


class Watch:
    """One worker after the other, and fresh processes beside them."""

    def __init__(self, seed: int, minutes: float, without: list[str]) -> None:
        self.seed, self.minutes, self.without = seed, minutes, without
        self.samples: queue.Queue[list[Any]] = queue.Queue()
        self.failures: list[str] = []
        self.compared = 0
        self.rests: list[list[list[float]]] = []  # of each worker
        self.counts = {"calls": 0, "struck": 0, "forks": 0}
        self.over = threading.Event()

    def run(self) -> None:
        checker = threading.Thread(target=self.check)
        checker.start()
        begin, number = time.monotonic(), 0
        while (left := 60 * self.minutes - (time.monotonic() - begin)) > 5 and number < 20:
            self.worker(self.seed + 1000 * number, left)
            number += 1
        self.over.set()
        checker.join()

    def worker(self, seed: int, seconds: float) -> None:
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, stat.S_IRWXU)
            recorder = Path(folder) / "recorder"
            recorder.write_bytes(b" " * (16 * SLOT))
            command = [sys.executable, "-X", "faulthandler", str(HERE / "soak.py"), "--worker", str(recorder)]
            command += ["--seed", str(seed), "--minutes", str(seconds / 60), "--without", *self.without]
            cache = Path(folder) / "cache"
            cache.mkdir(mode=0o700)
            errors = Path(folder) / "errors"
            with errors.open("wb") as stderr:
                process = subprocess.Popen(
                    command, stdout=subprocess.PIPE, stderr=stderr, env=environment(str(cache)), bufsize=0
                )
                self.rests.append([])
                ended = self.listen(process, counts := {"calls": 0, "struck": 0, "forks": 0})
                if ended is None:
                    process.send_signal(signal.SIGABRT)  # and it says where it stood
                code = process.wait()
            for name, n in counts.items():
                self.counts[name] += n
            if ended is not True or code:
                doing = [recorder.read_bytes()[k * SLOT : (k + 1) * SLOT].decode().strip() for k in range(9)]
                last = errors.read_text(encoding="utf-8", errors="replace")[-6000:]
                what = "stands still" if ended is None else f"ended with {code}"
                self.fail(f"seed {seed}: the worker {what}; calls (model, name, seed): {doing}\n{last}")

    def listen(self, process: subprocess.Popen[bytes], counts: dict[str, int]) -> bool | None:
        """What a worker says until it ends: as it should, True; of something else, False; not at all, None."""
        lines: queue.Queue[bytes] = queue.Queue()
        threading.Thread(target=read_lines, args=(process.stdout, lines), daemon=True).start()
        while True:
            try:
                line = lines.get(timeout=STILL_SECONDS)
            except queue.Empty:
                return None
            if not line:
                return False
            said = json.loads(line)
            if "sample" in said:
                self.samples.put(said["sample"])
            elif "rest" in said:
                self.rests[-1].append(said["rest"])
                counts.update(said["counts"])
                t, megabytes, files, threads, used = said["rest"]
                made = ", ".join(f"{n} {name}" for name, n in counts.items())
                sys.stdout.write(
                    f"{t:7.0f} s  {megabytes:8.2f} MB, {used:.2f} in use  {files} files  {threads} threads  {made}, "
                    f"{self.compared} compared, {len(self.failures)} failures\n"
                )
                sys.stdout.flush()
            elif "ended" in said:
                return True
            elif "warm" in said:
                sys.stdout.write("a call of every kind on a model of every shape is made\n")
            else:
                self.fail(json.dumps(said))

    def check(self) -> None:
        """Samples again, by fresh processes without a cache."""
        while not self.over.is_set():
            found: dict[tuple[Any, ...], str] = {}
            with contextlib.suppress(queue.Empty):
                first = self.samples.get(timeout=1.0)
                found[tuple(first[:3])] = first[3]
                others = [self.samples.get_nowait() for _ in range(self.samples.qsize())]
                random.Random(len(others)).shuffle(others)
                same = [x for x in others if x[0] == first[0]][: FRESH_JOBS - 1]
                found.update({tuple(x[:3]): x[3] for x in same})
                for other in [x for x in others if x not in same][:200]:
                    self.samples.put(other)
            for key, digest in self.again(list(found)):
                self.compared += 1
                if found[key] != digest:
                    self.fail(f"other bits than those of a fresh process: {key}: {found[key]}, {digest}")

    def again(self, keys: list[tuple[Any, ...]]) -> Iterator[tuple[tuple[Any, ...], str]]:
        if not keys:
            return
        command = [sys.executable, str(HERE / "soak.py"), "--fresh"]
        try:
            done = subprocess.run(
                command, input=json.dumps(keys).encode(), capture_output=True, env=environment("off"), timeout=600,
                check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            self.fail(f"a fresh process hangs: {keys}")
            return
        if done.returncode:
            self.fail(f"a fresh process ended with {done.returncode}: {keys}\n{done.stderr.decode()[-1000:]}")
        for line in done.stdout.splitlines():
            *key, digest = json.loads(line)["sample"]
            yield tuple(key), digest

    def fail(self, what: str) -> None:
        self.failures.append(what)
        sys.stdout.write(f"FAILED {what}\n")
        sys.stdout.flush()

    def growth(self) -> dict[str, float]:
        """After the first two minutes of a worker, at most: by how much files, threads and megabytes in use were more
        than at an earlier rest; and how much higher the resident memory is in the end, as a median of five rests."""
        grown = {"files": 0.0, "threads": 0.0, "megabytes_in_use": 0.0, "megabytes": 0.0}
        for rests in self.rests:
            late = [x for x in rests if x[0] >= WARM_SECONDS]
            for k, name in ((2, "files"), (3, "threads"), (4, "megabytes_in_use")):
                least = itertools.accumulate((x[k] for x in late), min)
                grown[name] = max(grown[name], *(round(x[k] - low, 2) for x, low in zip(late, least, strict=True)), 0.0)
            if late:
                begin, end = (statistics.median(x[1] for x in part) for part in (late[:5], late[-5:]))
                grown["megabytes"] = max(grown["megabytes"], round(end - begin, 2))
        return grown


def threads_left() -> int:
    """The fewest within a second: where the machine is busy, those that end take a while to be gone."""
    fewest = len(os.listdir("/proc/self/task"))
    for _ in range(20):
        time.sleep(0.05)
        fewest = min(fewest, len(os.listdir("/proc/self/task")))
    return fewest


def read_lines(pipe: Any, lines: queue.Queue[bytes]) -> None:
    for line in pipe:
        lines.put(line)
    lines.put(b"")


def environment(cache: str) -> dict[str, str]:
    """One heap for all threads: what malloc keeps in a heap for each hides what leaks."""
    own = {"FEATHERWEIGHT_CACHE": cache, "MALLOC_ARENA_MAX": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
    return {**os.environ, **own}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--without", nargs="*", default=[], choices=["signals", "forks", "threads"])
    parser.add_argument("--worker", type=Path, metavar="RECORDER", help="be the process that is watched")
    parser.add_argument("--fresh", action="store_true", help="make the calls that stdin names")
    options = parser.parse_args()
    if options.fresh:
        return fresh()
    if options.worker:
        Worker(options.seed, options.minutes, options.worker, options.without).run()
        return 0
    watch = Watch(options.seed, options.minutes, options.without)
    watch.run()
    grown = watch.growth()
    more = max(grown["megabytes"], grown["megabytes_in_use"])
    if more > MOST_MEGABYTES or grown["files"] or grown["threads"]:
        watch.fail(f"grown after two minutes: {grown}")
    import featherweight as fw

    record = {
        "date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
        "version": fw.__version__,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "minutes": options.minutes,
        "seed": options.seed,
        "counts": watch.counts,
        "compared_with_fresh_processes": watch.compared,
        "workers": len(watch.rests),
        "grown_after_two_minutes": grown,
        "at_rest": {"columns": ["s", "MB", "files", "threads", "MB in use"], "workers": watch.rests},
        "failure_count": len(watch.failures),
        "failures": watch.failures[:100],
    }
    path = HERE / "results" / f"{record['date'][:10]}-soak.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    sys.stdout.write(f"{len(watch.failures)} failures; written to {path.relative_to(HERE.parent)}\n")
    return 1 if watch.failures else 0


if __name__ == "__main__":
    sys.exit(main())
