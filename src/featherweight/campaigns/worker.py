"""What a worker does: chunk after chunk of a sweep, whose manifest it reads once and keeps. Only counts go back."""

from __future__ import annotations

import errno
import platform
import threading
import time
import traceback
from collections.abc import Sequence
from typing import Any, NamedTuple

from featherweight.campaigns.chunks import check_columns, drawn, kept, read
from featherweight.campaigns.manifest import Manifest
from featherweight.compiler import threads
from featherweight.compiler.native.target import host

MOST_KEPT = 4  # manifests
STOPS = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EFBIG, errno.ENOENT}
_known: dict[tuple[str, str], Manifest] = {}


class Outcome(NamedTuple):
    """What became of a chunk: lanes that failed, seconds of a core, bytes; `error`: it was not computed; `stops`: no
    other can be, either."""

    number: int
    lanes: int = 0
    failed: int = 0
    seconds: float = 0.0
    size: int = 0
    error: str = ""
    stops: bool = False


class _OneCore:
    """While anybody in this process computes chunks, each is on one core."""

    def __init__(self) -> None:
        self._lock, self._users = threading.Lock(), 0

    def __enter__(self) -> None:
        with self._lock:
            self._users += 1
            if self._users == 1:
                self._limited = threads(1).__enter__()

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._users -= 1
            if not self._users:
                self._limited.__exit__()


ONE_CORE = _OneCore()


def processor() -> str:
    """What kind of processor this is: its bits may differ from those of others where the library promises nothing."""
    target = host()
    return f"{target.cpu} ({target.triple}, {target.width} lanes)"


def one(manifest: Manifest, path: str, number: int) -> Outcome:
    """Compute a chunk and write it."""
    begin = time.thread_time()
    store = manifest.store(path)
    try:
        arrays = kept(manifest, drawn(manifest, number))
        check_columns(arrays, manifest.columns or {})
        failed = int((arrays["status"] != 0).sum())
        seconds = time.thread_time() - begin
        facts = {"lanes": len(arrays["status"]), "failed": failed, "seconds": seconds, "processor": processor()}
        size = store.write(number, arrays, facts)
    except OSError as error:
        return Outcome(number, error=f"{type(error).__name__}: {error}", stops=error.errno in STOPS)
    except Exception as error:
        at = traceback.extract_tb(error.__traceback__)[-1]
        return Outcome(number, error=f"{type(error).__name__} at {at.filename}:{at.lineno}: {error}")
    return Outcome(number, len(arrays["status"]), failed, seconds, size)


def opened(path: str, digest: str) -> Manifest:
    """The manifest at a path, read once by a process. It must be the one that was meant."""
    known = _known.get((path, digest))
    if known is None:
        try:
            known = read(path)
        except FileNotFoundError:
            raise FileNotFoundError(
                f"{path} is not seen there: the folder must be on a file system that all workers share, under one name"
            ) from None
        if known.digest != digest:
            raise ValueError(f"{path}: the worker sees another sweep there than the client")
        kept_now = tuple(_known)  # at once: other threads change it
        for oldest in kept_now[: max(0, len(kept_now) - MOST_KEPT + 1)]:
            _known.pop(oldest, None)
        _known[path, digest] = known
    return known


def _here() -> str:
    return f"worker on {platform.node()}"


def run(path: str, digest: str, numbers: Sequence[int]) -> list[tuple[Any, ...]]:
    """Compute chunks, one after the other, each on one core: a cluster gives the others to other workers."""
    try:
        manifest = opened(path, digest)
    except Exception as error:
        return [tuple(Outcome(numbers[0], error=f"{_here()}: {type(error).__name__}: {error}", stops=True))]
    with ONE_CORE:
        return [tuple(one(manifest, path, number)) for number in numbers]


def prepare(path: str, digest: str) -> str:
    """Read the manifest and compile its step, before the work is spread out; an error as text, or nothing."""
    try:
        manifest = opened(path, digest)
        manifest.step.loop.code(manifest.settings.chunk)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""
