"""The object cache: compiled code on disk, private to its user, checked before it is loaded.

A key is a hash of everything the entry follows from, and of the text of this package, the machine, the compiler's
version. So nothing can be stale: a change of any of them is another key. Machine code follows from the structure of a
trace. What the numbers of a robot are for it, and which code that is, follows from what is computed and all fields of
the robot: if that entry is there, nothing is traced. `FEATHERWEIGHT_CACHE` names another directory, or `off`.

An entry is `MAGIC`, a SHA-256 of its name and of all that follows, a line of JSON (facts, sizes of the object files),
the object files. What is not whole, stands under another name, is no ordinary file or is not the user's alone is as
good as absent: it is compiled anew and replaced. `FEATHERWEIGHT_CACHE_MB` says how much there may be.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import itertools
import json
import logging
import os
import secrets
import stat
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

MAGIC = b"featherweight object 5\n"
MOST_ENTRIES = 10_000  # of 20 kB or, numbers alone, of 2 kB, mostly
MOST_MB = 512.0  # of all entries, where FEATHERWEIGHT_CACHE_MB does not say otherwise
SELDOM = 64  # writes of a process from one look at all entries to the next: there may be thousands
PART = 1 / 16  # of the most bytes: a process that has written so many looks at once
HOUR = 3600.0  # seconds
FLAGS = sum(getattr(os, name, 0) for name in ("O_RDONLY", "O_NOFOLLOW", "O_NONBLOCK", "O_BINARY", "O_CLOEXEC"))
NEW = sum(getattr(os, name, 0) for name in ("O_WRONLY", "O_CREAT", "O_EXCL", "O_NOFOLLOW", "O_BINARY", "O_CLOEXEC"))
_log = logging.getLogger("featherweight")


def key(*parts: str) -> str:
    """Name of the entry for these texts."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def _package_digest() -> str | None:
    root = Path(__file__).parents[2]
    digest = hashlib.sha256(sys.version.encode())
    sources = sorted(root.rglob("*.py"))
    if not sources:
        return None
    for path in sources:
        data = path.read_bytes()
        digest.update(f"{path.relative_to(root).as_posix()} {len(data)}\n".encode() + data)
    return digest.hexdigest()


# of the text this process runs: taken at import, files may change later. None, and no cache, without sources
PACKAGE_DIGEST = _package_digest()


def read(name: str) -> tuple[dict[str, Any], list[bytes]] | None:
    """What stands under a key: facts and object files; None if it is not there, or not whole, or not ours."""
    directory = _directory(os.environ.get("FEATHERWEIGHT_CACHE"))
    if directory is None:
        return None
    try:
        data = _bytes(directory / name)
    except OSError:
        return None
    head = len(MAGIC) + 32
    if data[: len(MAGIC)] != MAGIC or _digest(name, data[head:]) != data[len(MAGIC) : head]:
        return None
    text, _, code = data[head:].partition(b"\n")
    try:
        facts, sizes = json.loads(text)
        ends = list(itertools.accumulate(sizes, initial=0))
        if not isinstance(facts, dict) or ends[-1] != len(code):
            return None
        return facts, [code[start:end] for start, end in itertools.pairwise(ends)]
    except (ValueError, TypeError, RecursionError):
        return None


def _bytes(path: Path) -> bytes:
    """Of an ordinary file of the user's own. OSError if it is something else; nobody waits for the writer of a pipe."""
    (fd,) = map(os.open, (path,), (FLAGS,))  # unpacked: no signal handler comes between it and `open`
    with open(fd, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or not _private(status):
            raise PermissionError(f"{path} is not an ordinary file of this user alone")
        if status.st_size > _most_bytes(os.environ.get("FEATHERWEIGHT_CACHE_MB")):
            raise OSError(f"{path} is larger than the whole cache may be")
        return file.read(status.st_size)


def touch(name: str) -> None:
    """Make an entry the youngest, if it is there: others that are about to be written refer to it."""
    directory = _directory(os.environ.get("FEATHERWEIGHT_CACHE"))
    if directory is not None:
        with contextlib.suppress(OSError):
            os.utime(directory / name, follow_symlinks=False)


def _digest(name: str, payload: bytes) -> bytes:
    """Of an entry with its name: one that was moved under another name is noticed."""
    digest = hashlib.sha256(f"{name}\n".encode())
    digest.update(payload)
    return digest.digest()


def write(name: str, facts: dict[str, Any], objects: Sequence[bytes]) -> None:
    """Keep facts and object files under a key: whole or not at all, whoever else is writing."""
    directory = _directory(os.environ.get("FEATHERWEIGHT_CACHE"))
    if directory is None:
        return
    most = _most_bytes(os.environ.get("FEATHERWEIGHT_CACHE_MB"))
    sizes = [len(code) for code in objects]
    payload = b"".join((json.dumps([facts, sizes]).encode(), b"\n", *objects))
    if len(payload) > most * PART:
        _log.info("not kept in the object cache: %d bytes, of %d for all entries", len(payload), most)
        return
    temporary = str(directory / f".new-{secrets.token_hex(8)}")
    try:
        (fd,) = map(os.open, (temporary,), (NEW,), (0o600,))
        with open(fd, "wb") as file:
            file.write(MAGIC + _digest(name, payload) + payload)
        os.replace(temporary, directory / name)
        if _written.due(len(payload), most):
            _prune(directory, most)
    except OSError as error:
        _log.info("the object cache could not be written: %s", error)
        with contextlib.suppress(OSError):
            os.unlink(temporary)


class _Written:
    """How much this process has written since it last looked at all entries; it looks at the first one, too. Threads
    that write at once may look a little late."""

    def __init__(self) -> None:
        self._entries, self._bytes = SELDOM, 0

    def due(self, size: int, most: float) -> bool:
        """One more entry: is it time to look?"""
        self._entries, self._bytes = self._entries + 1, self._bytes + size
        if self._entries < SELDOM and self._bytes < most * PART:
            return False
        self._entries = self._bytes = 0
        return True


_written = _Written()


@functools.cache
def _most_bytes(setting: str | None) -> float:
    """Of all entries together."""
    try:
        megabytes = MOST_MB if not setting else float(setting)
        if not megabytes >= 0:
            raise ValueError
    except ValueError:
        _log.warning("FEATHERWEIGHT_CACHE_MB: expected a number of megabytes, got %r; %g it is.", setting, MOST_MB)
        megabytes = MOST_MB
    return megabytes * 1e6


def _private(status: os.stat_result) -> bool:
    if os.name == "nt":
        return True
    return status.st_uid == os.getuid() and not status.st_mode & 0o077


@functools.cache
def _directory(setting: str | None) -> Path | None:
    """The cache directory, made if needed; None if it is switched off or not private."""
    if setting is not None and setting.lower() in ("", "0", "off", "none"):
        return None
    try:
        path = Path(setting) if setting else _default_directory()
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = os.lstat(path)
    except (OSError, RuntimeError) as error:
        _log.warning("no object cache: %s. Kernels are compiled anew in every process.", error)
        return None
    if not stat.S_ISDIR(status.st_mode) or not _private(status):
        _log.warning(
            "no object cache: %s is a link, belongs to somebody else or is open to others; "
            "make it a directory of yours with mode 0700, or set FEATHERWEIGHT_CACHE.",
            path,
        )
        return None
    return path


def _default_directory() -> Path:
    if sys.platform == "win32":
        root = os.environ.get("LOCALAPPDATA") or str(Path.home())
    elif sys.platform == "darwin":
        root = str(Path.home() / "Library" / "Caches")
    else:
        root = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(root) / "featherweight"


def _prune(directory: Path, most: float) -> None:
    """Drop the oldest entries when there are too many or they are too large, down to three quarters of what may be; and
    what killed processes left half-written."""
    found: list[tuple[float, int, str]] = []
    with os.scandir(directory) as entries:
        for entry in entries:
            with contextlib.suppress(FileNotFoundError):  # another process was faster
                status = entry.stat(follow_symlinks=False)
                found.append((time.time() - status.st_mtime, status.st_size, entry.path))
    found.sort(reverse=True)
    count, size = len(found), sum(size for _, size, _ in found)
    crowded = count > MOST_ENTRIES or size > most
    for age, own, path in found:
        surplus = crowded and (count > 0.75 * MOST_ENTRIES or size > 0.75 * most)
        if surplus or (os.path.basename(path).startswith(".new-") and age > HOUR):
            with contextlib.suppress(OSError):
                os.unlink(path)
                count, size = count - 1, size - own
