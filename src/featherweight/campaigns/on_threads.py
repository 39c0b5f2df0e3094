"""Chunks on the threads of this machine: each on one core, so that drawing, reducing and writing overlap with steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from featherweight.campaigns.manifest import Manifest
from featherweight.campaigns.worker import ONE_CORE, Outcome, one
from featherweight.compiler import thread_count

AHEAD = 2  # chunks in flight for each thread


def run_on_threads(manifest: Manifest, path: str, todo: Iterable[int], report: Callable[[Outcome], None]) -> None:
    """Compute chunks; `report` is called with each, in this thread, and what it raises ends it: what was begun is
    finished first."""
    count = thread_count()
    numbers, flying = iter(todo), set[Future[Outcome]]()
    with ONE_CORE, ThreadPoolExecutor(count, thread_name_prefix="featherweight sweep") as pool:
        try:
            while True:
                for number in numbers:
                    flying.add(pool.submit(one, manifest, path, number))
                    if len(flying) >= AHEAD * count:
                        break
                if not flying:
                    return
                done, flying = wait(flying, return_when=FIRST_COMPLETED)
                for future in done:
                    report(future.result())
        except BaseException:
            for future in flying:
                future.cancel()
            raise
