"""Files: locks, atomic creation, and system errors with advice."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

import numpy as np

ADVICE = {
    errno.EACCES: "check the permissions of the file and its folder",
    errno.EDQUOT: "free some space",
    errno.EEXIST: "Recording.resume goes on with it; or choose another name",
    errno.EFBIG: "the system allows no longer file (ulimit -f)",
    errno.ENOENT: "check the name; folders are not made",
    errno.ENOLCK: "this file system has no locks: choose another",
    errno.ENOSPC: "free some space",
    errno.EPERM: "check the permissions of the file and its folder",
    errno.EROFS: "choose a place you may write to",
}
NO_LINKS = {errno.EPERM, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK}

Path = str | os.PathLike[str]

if sys.platform == "win32":
    import msvcrt

    def _lock(file: BinaryIO) -> None:
        file.seek(0x7FFFFFFE)  # a locked byte cannot be read on Windows: take one that few files have
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(file: BinaryIO) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def target_of(path: Path) -> str:
    """Resolve a path through links; raise if it is a folder or a device."""
    target = os.path.realpath(os.fsdecode(path))
    if os.path.isdir(target):
        raise IsADirectoryError(errno.EISDIR, "expected a file, got a folder: name a file in it", target)
    if os.path.exists(target) and not stat.S_ISREG(os.stat(target).st_mode):
        raise OSError(errno.EINVAL, "expected an ordinary file, got a device, pipe or socket", target)
    return target


@contextlib.contextmanager
def explained(path: str, doing: str) -> Iterator[None]:
    """Re-raise OSError with the path, the operation and advice."""
    try:
        yield
    except OSError as error:
        advice = ADVICE.get(error.errno or 0, "") if error.strerror == os.strerror(error.errno or 0) else ""
        text = f"cannot {doing}: {error.strerror or error}" + (advice and f"; {advice}")
        raise OSError(error.errno or errno.EIO, text, path) from error


def claim(file: BinaryIO) -> None:
    """Lock the file; the system releases the lock when it is closed or the process dies."""
    try:
        _lock(file)
    except (BlockingIOError, PermissionError):
        raise BlockingIOError(errno.EWOULDBLOCK, "it is being written by another process, or by this one") from None


def put(target: str, pieces: Iterable[list[memoryview]], publish: Callable[[str, str], None]) -> None:
    """Write a file atomically: to a temporary name, synced to disk, then `publish` renames it."""
    folder = os.path.dirname(target)
    temporary = os.path.join(folder, f".featherweight-{os.urandom(8).hex()}.tmp")
    try:
        with open(temporary, "xb", buffering=0) as file:
            for some in pieces:
                write_all(file, some)
            os.fsync(file.fileno())
        publish(temporary, target)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
    if sys.platform != "win32":
        _sync(folder)


def write_whole(path: Path, pieces: Iterable[bytes | memoryview]) -> None:
    """Write a file of these pieces in place of one that may be there: all of it or nothing."""
    target = target_of(path)
    with explained(target, "write"):
        put(target, ([memoryview(piece)] for piece in pieces), os.replace)


def publish(temporary: str, target: str) -> None:
    """Rename the file, unless the name is taken."""
    try:
        os.link(temporary, target)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        os.replace(temporary, target)


def _sync(folder: str) -> None:
    """Sync a folder to disk, where the file system supports it."""
    with contextlib.suppress(PermissionError):
        fd = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(fd)
        except OSError as error:
            if error.errno not in (errno.EINVAL, *NO_LINKS):
                raise
        finally:
            os.close(fd)


def write_all(file: BinaryIO, pieces: list[memoryview]) -> None:
    """Write all bytes; a call of the system may take fewer."""
    for piece in pieces:
        while len(piece):
            piece = piece[file.write(piece) :]


def take(file: BinaryIO, place: int, count: int) -> bytes:
    """Read bytes from an offset; fewer at the end of the file."""
    file.seek(place)
    return file.read(count)


def fill(file: BinaryIO, data: np.ndarray) -> bool:
    """Read into an array from the current position; False if the file ends before."""
    rest = data.data
    while len(rest):
        taken: int = file.readinto(rest)  # type: ignore[attr-defined]
        if not taken:
            return False
        rest = rest[taken:]
    return True
