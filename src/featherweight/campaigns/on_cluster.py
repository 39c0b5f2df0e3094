"""Chunks on a Dask cluster. The scheduler sees numbers of chunks and counts; models and results are on the disk.

A worker that dies takes its chunks with it, and Dask gives them to others. Chunks that were on workers that died again
and again are tried once more, each alone; one that kills its worker then, too, is set aside.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from typing import Any

from featherweight.campaigns import worker
from featherweight.campaigns.manifest import Manifest
from featherweight.campaigns.worker import Outcome
from featherweight.extras import needed

WINDOW = 4  # tasks in flight for each thread of a worker
TASK_SECONDS = 0.1  # of work: shorter chunks go together
MOST_TOGETHER = 32  # chunks
CONNECTING = 10  # [s]
GONE = "the scheduler is gone; start one, and the same call goes on"
OPEN = (
    "a Dask scheduler runs whatever it is sent, by anybody who reaches it: keep it on 127.0.0.1 or a closed network, "
    "or use tls:// with certificates"
)


def run_on_cluster(
    manifest: Manifest,
    path: str,
    todo: Sequence[int],
    report: Callable[[Outcome], None],
    scheduler: Any,
    say: Callable[[str], None],
) -> None:
    """Compute chunks on the workers of a scheduler. RuntimeError if it is gone."""
    distributed = needed("distributed", "cluster", "a sweep on a cluster needs")
    with contextlib.ExitStack() as stack:
        client = scheduler
        if isinstance(scheduler, str):
            client = stack.enter_context(_client(distributed, scheduler))
        elif not isinstance(scheduler, distributed.Client):
            raise TypeError(f"scheduler: expected an address or a Dask client, got {type(scheduler).__name__}")
        address = client.scheduler.address
        if not todo:
            return
        if not address.startswith(("tls://", "inproc://", "tcp://127.0.0.1", "tcp://localhost")):
            say(f"{address}: {OPEN}")
        say(f"scheduler {address}, dashboard {client.dashboard_link}, {len(todo)} chunks to do: {path}")
        work = _Work(distributed, client, manifest, path, report)
        try:
            _prepare(client, manifest, path, say)
            work.all(todo)
        except distributed.KilledWorker as error:
            raise RuntimeError(f"workers die while they read the manifest or compile: {error}") from None
        except (CancelledError, TimeoutError, OSError) as error:
            if client.status == "running":
                raise
            raise RuntimeError(f"{GONE} ({type(error).__name__})") from None
        finally:
            work.cancel()


def _client(distributed: Any, address: str) -> Any:
    try:
        return distributed.Client(address, timeout=CONNECTING, set_as_default=False)
    except (OSError, ValueError) as error:
        raise RuntimeError(f"scheduler: none answers at {address} ({type(error).__name__}: {error})") from None


def _prepare(client: Any, manifest: Manifest, path: str, say: Callable[[str], None]) -> None:
    """Compile once for each kind of processor: the others find it in the cache."""
    if not client.nthreads():
        say("waiting for workers")
        client.wait_for_workers(1)
    kinds: dict[str, str] = {}
    for address, kind in client.run(worker.processor, on_error="return").items():
        if isinstance(kind, Exception):
            raise RuntimeError(f"worker {address}: {type(kind).__name__}: {kind}; does it have the same featherweight?")
        kinds.setdefault(kind, address)
    first = [
        client.submit(worker.prepare, path, manifest.digest, workers=[address], allow_other_workers=True, pure=False)
        for address in kinds.values()
    ]
    for address, problem in zip(kinds.values(), client.gather(first, errors="raise"), strict=True):
        if problem:
            raise RuntimeError(f"worker {address}: {problem}")


class _Work:
    """Chunks in flight."""

    def __init__(
        self, distributed: Any, client: Any, manifest: Manifest, path: str, report: Callable[[Outcome], None]
    ) -> None:
        self._distributed, self._client, self._report = distributed, client, report
        self._path, self._digest, self._store = path, manifest.digest, manifest.store(path)
        self._flying: dict[Any, list[int]] = {}
        self._seconds, self._chunks = 0.0, 0  # of the chunks that are done
        self._suspects: list[int] = []

    def all(self, todo: Sequence[int]) -> None:
        """Every chunk; those that were with dying workers once more at the end, each alone."""
        self._some(todo, WINDOW * max(1, sum(self._client.nthreads().values())), alone=False)
        suspects, self._suspects = self._suspects, []
        for number in suspects:
            self._some([number], 1, alone=True)

    def cancel(self) -> None:
        """Take back what is in flight."""
        if self._flying and self._client.status == "running":
            with contextlib.suppress(OSError, RuntimeError):
                self._client.cancel(list(self._flying))

    def _some(self, todo: Sequence[int], window: int, *, alone: bool) -> None:
        place, arrived = 0, self._distributed.as_completed(loop=self._client.loop)
        while True:
            while place < len(todo) and len(self._flying) < window:
                together = 1 if alone else self._together(len(todo) - place, window)
                numbers = list(todo[place : place + together])
                future = self._client.submit(worker.run, self._path, self._digest, numbers, pure=False)
                self._flying[future] = numbers
                arrived.add(future)
                place += together
            if not self._flying:
                return
            for future in arrived.next_batch(block=True):
                self._take(future, self._flying.pop(future), alone)
            if not alone:
                window = WINDOW * max(1, sum(self._client.nthreads().values()))

    def _together(self, left: int, window: int) -> int:
        """How many chunks make a task: more if they are short, one if there are few left."""
        if not self._chunks:
            return 1
        wanted = TASK_SECONDS / max(self._seconds / self._chunks, 1e-9)
        return max(1, min(int(wanted), MOST_TOGETHER, left // window))

    def _take(self, future: Any, numbers: list[int], alone: bool) -> None:
        """What became of a task."""
        if future.status == "finished":
            for outcome in map(lambda row: Outcome(*row), future.result()):
                self._seconds, self._chunks = self._seconds + outcome.seconds, self._chunks + 1
                self._report(outcome)
            return
        if future.status == "cancelled":
            raise RuntimeError(GONE)
        error = future.exception()
        if not isinstance(error, self._distributed.KilledWorker):
            raise RuntimeError(f"chunks {numbers}: {type(error).__name__}: {error}") from error
        left = [number for number in numbers if self._store.record(number) is None]
        if not alone:
            self._suspects += left
            return
        for number in left:
            self._report(Outcome(number, error=f"it kills its worker: {error.allowed_failures + 1} have died of it"))
