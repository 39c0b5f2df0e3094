"""One fault is tried: seeded in a copy of the tree, the tests that reach it are run until one fails.

Outcomes: "caught" (a test fails, or a file of tests as it is collected), "crashed" (the process died), "hung" (a test
was still running after ten times its usual time), "survived", and "unreached" (no test comes to the file). The first
three count as caught. Tests that were cut off by the limit while they ran as usual have not caught anything.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.mutants.faults import Fault
from benchmarks.mutants.reach import environment

try:
    import resource
except ImportError:  # Windows has no limits of this kind
    resource = None  # type: ignore[assignment]

CAUGHT = ("caught", "crashed", "hung")
MOST_SECONDS = 90.0
MOST_BYTES = 12 << 30  # of address space: a fault may ask for any amount of memory
LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "results", "pictures", "_build", "demo", "*.egg-info")
HANGS = 10.0  # times as long as usual, and never less than
HANGS_SECONDS = 20.0


@contextlib.contextmanager
def copy_of(root: Path) -> Iterator[Path]:
    """The tree in a temporary folder: what is tried never touches the sources."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        yield Path(shutil.copytree(root, Path(folder) / "tree", ignore=LEFT_OUT))


def trial(copy: Path, fault: Fault, tests: Sequence[str], seconds: dict[str, float]) -> dict[str, Any]:
    """What becomes of a fault: outcome, the test that saw it, and how long that took."""
    if not tests:
        return {"outcome": "unreached", "seconds": 0.0}
    path = copy / fault.source
    text = path.read_bytes()
    start = time.monotonic()
    try:
        _write(path, fault.applied(text))
        return _run(copy, tests, seconds) | {"seconds": round(time.monotonic() - start, 1)}
    finally:
        _write(path, text)


def _write(path: Path, text: bytes) -> None:
    """Bytecode is told apart by time and size alone, and both may be the same."""
    path.write_bytes(text)
    Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)


def _run(copy: Path, tests: Sequence[str], seconds: dict[str, float]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        order, log = Path(folder) / "order.json", Path(folder) / "log.jsonl"
        order.write_text(json.dumps(tests), encoding="utf-8")
        log.touch()
        own = {"TMPDIR": folder, "MUTANTS_ORDER": str(order), "MUTANTS_LOG": str(log)}
        command = [sys.executable, "-m", "pytest", "-x", "-p", "benchmarks.mutants.ordered", "-p", "no:cacheprovider"]
        files = sorted({test.split("::")[0] for test in tests})
        code = _finished([*command, *files], copy, environment(copy, own))
        return judged(code, [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()], seconds)


def _finished(command: list[str], folder: Path, variables: dict[str, str]) -> int | None:
    """The exit code, or None if all of the processes had to be killed."""
    with subprocess.Popen(
        command, cwd=folder, env=variables, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True, preexec_fn=_limited if resource else None,
    ) as process:  # fmt: skip
        try:
            return process.wait(MOST_SECONDS)
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)
            if isinstance(error, subprocess.TimeoutExpired):
                return None
            raise


def _limited() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))


def judged(code: int | None, events: list[list[Any]], seconds: dict[str, float]) -> dict[str, Any]:
    """Outcome by the exit code of pytest and the events of the tests."""
    failed = [test for event, test, _ in events if event == "fails"]
    if failed:
        return {"outcome": "caught", "test": failed[0]}
    event, test, when = events[-1] if events else ("", "", 0.0)
    running = {"test": test} if event == "begins" else {}
    if code is None:
        usual = seconds.get(test.split("[")[0], 0.0)
        hangs = event == "begins" and time.time() - when > max(HANGS * usual, HANGS_SECONDS)
        return ({"outcome": "hung"} | running) if hangs else {"outcome": "survived", "time_limit": True}
    if code == 0:
        return {"outcome": "survived"}
    if code < 0:
        return {"outcome": "crashed"} | running
    if code in (1, 2, 4):  # a file of tests fails as it is collected
        return {"outcome": "caught", "test": "collection"}
    raise RuntimeError(f"pytest ended with {code}: it found no tests, or has a fault of its own")
