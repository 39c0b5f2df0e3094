"""The object cache: compiled code on disk, private to its user, checked before it is loaded.

A key is a hash of everything the code follows from: what is computed and all its numbers, the text
of this package, the machine, the compiler's version. So nothing can be stale: a change of any of
them is another key, and a hit needs no tracing. What depends on a user's code is traced first: its
key has the trace in place of the numbers. `FEATHERWEIGHT_CACHE` names another directory, or `off`.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
import logging
import os
import stat
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

MAGIC = b"featherweight object 3\n"
MOST_ENTRIES = 5000  # of 20 kB, mostly
SELDOM = 64  # writes of a process from one look at all entries to the next: there may be thousands
HOUR = 3600.0  # seconds
_log = logging.getLogger("featherweight")
_writes = itertools.count()


def key(*parts: str) -> str:
    """Name of the entry for these texts."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def _package_digest() -> str | None:
    root = Path(__file__).parents[1]
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
        fd = os.open(directory / name, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(fd, "rb") as file:
            if not _private(os.fstat(file.fileno())):
                return None
            data = file.read()
    except OSError:
        return None
    head = len(MAGIC) + 32
    if data[: len(MAGIC)] != MAGIC or hashlib.sha256(data[head:]).digest() != data[len(MAGIC) : head]:
        return None
    text, _, code = data[head:].partition(b"\n")
    facts, sizes = json.loads(text)
    ends = list(itertools.accumulate(sizes))
    return facts, [code[end - size : end] for size, end in zip(sizes, ends, strict=True)]


def write(name: str, facts: dict[str, Any], objects: Sequence[bytes]) -> None:
    """Keep facts and object files under a key: whole or not at all, whoever else is writing."""
    directory = _directory(os.environ.get("FEATHERWEIGHT_CACHE"))
    if directory is None:
        return
    temporary = None
    try:
        fd, temporary = tempfile.mkstemp(dir=directory, prefix=".new-")
        sizes = [len(code) for code in objects]
        payload = b"".join((json.dumps([facts, sizes]).encode(), b"\n", *objects))
        with os.fdopen(fd, "wb") as file:
            file.write(MAGIC + hashlib.sha256(payload).digest() + payload)
        os.replace(temporary, directory / name)
        if next(_writes) % SELDOM == 0:
            _prune(directory)
    except OSError as error:
        _log.info("the object cache could not be written: %s", error)
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


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


def _prune(directory: Path) -> None:
    """Drop the oldest entries when there are too many, and what killed processes left half-written."""
    names = os.listdir(directory)
    if len(names) <= MOST_ENTRIES and not any(name.startswith(".new-") for name in names):
        return
    ages: list[tuple[float, Path]] = []
    for path in directory.iterdir():
        try:
            ages.append((time.time() - path.stat().st_mtime, path))
        except FileNotFoundError:  # another process was faster
            continue
    ages.sort(reverse=True)
    surplus = len(ages) // 4 if len(ages) > MOST_ENTRIES else 0
    for k, (age, path) in enumerate(ages):
        if k < surplus or (path.name.startswith(".new-") and age > HOUR):
            path.unlink(missing_ok=True)
