"""Recordings: append-only files of named arrays. A kill at any byte loses at most the chunk being written.

`blocks.py` has the format, byte by byte. Files are read and written by plain calls, never mapped into memory: a file
that another program cuts meanwhile gives an error, not a dead process.
"""

from __future__ import annotations

import contextlib
import errno
import os
import threading
import zlib
from collections.abc import Collection, Iterator, Mapping
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from featherweight.recording.blocks import HEAD, MARK, MOST_JSON, decoded, encoded, head_of
from featherweight.recording.files import Path, claim, explained, fill, publish, put, take, target_of, write_all

WINDOW = 1 << 20  # bytes read at a time where they are not kept; a multiple of 64

Chunk = tuple[dict[str, Any], dict[str, np.ndarray]]


class Contents(NamedTuple):
    """Contents of a file: facts, chunks, and bytes of a torn tail that were ignored."""

    facts: dict[str, Any]
    chunks: list[Chunk]
    ignored: int


class _BlockEntry(NamedTuple):
    """Index entry of a block: its end in the file, bytes of JSON, checksum of its body, seal."""

    end: int
    n: int
    checksum: int
    seal: int


def read(path: Path) -> Contents:
    """Facts and all chunks, every checksum compared. ValueError, with path and chunk, if the file is damaged."""
    with Recording.open(path) as recording:
        return Contents(recording.facts, list(recording), recording.ignored)


def write(
    path: Path, facts: Mapping[str, Any], chunks: Collection[tuple[Mapping[str, Any], Mapping[str, Any]]]
) -> None:
    """A whole file at once, in place of one that may be there: all of it or nothing. Nothing can be appended later."""
    target = target_of(path)
    with explained(target, "write"):
        if os.path.exists(target):
            with open(target, "r+b", buffering=0) as file:
                claim(file)
        put(target, _encoded(facts, chunks, len(chunks)), os.replace)


class Recording:
    """An append-only file: a header of facts, then chunks (facts, arrays), each with its checksum.

    `facts` are as JSON reads them back: tuples have become lists. `ignored` is the number of bytes of a torn tail.
    `len` counts the chunks; `recording[k]` and iteration read them one at a time and compare their checksums. One
    process at a time may append, others may read meanwhile. Threads may share a recording.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Recording.create(f"{folder}/run", {"robot": "arm"}) as recording:
    ...         recording.append({"step": 100}, {"q": np.zeros((100, 2))})
    ...     with Recording.resume(f"{folder}/run") as recording:
    ...         recording.append({"step": 200}, {"q": np.ones((100, 2))})
    ...     facts, chunks, ignored = read(f"{folder}/run")
    >>> facts, [(own, list(arrays)) for own, arrays in chunks], ignored
    ({'robot': 'arm'}, [({'step': 100}, ['q']), ({'step': 200}, ['q'])], 0)
    """

    facts: dict[str, Any]
    ignored: int

    def __init__(self, path: Path, *, append: bool) -> None:
        self.path = target_of(path)
        self._append, self._process, self._mutex = append, os.getpid(), threading.Lock()
        self._blocks: list[_BlockEntry] = []
        with explained(self.path, "open"):
            self._file: BinaryIO = open(self.path, "r+b" if append else "rb", buffering=0)  # noqa: SIM115
            try:
                if append:
                    claim(self._file)
                self._survey()
                if append and self.ignored:
                    self._file.truncate(self._blocks[-1].end)
            except BaseException:
                self._file.close()
                raise

    @classmethod
    def create(cls, path: Path, facts: Mapping[str, Any]) -> Recording:
        """A new file, open for appending. There must be none; its header appears whole or not at all."""
        target = target_of(path)
        with explained(target, "create"):
            put(target, _encoded(facts, (), None), publish)
        return cls(target, append=True)

    @classmethod
    def resume(cls, path: Path) -> Recording:
        """Open for appending after the last good chunk; a torn tail is dropped. It costs no more than the last chunk:
        of the others, only the heads are checked."""
        return cls(path, append=True)

    @classmethod
    def open(cls, path: Path) -> Recording:
        """Open for reading the chunks that are there now, also while another process appends."""
        return cls(path, append=False)

    def append(self, facts: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        """One more chunk, on the disk when this returns. If it fails, the file is as before and can go on."""
        if self._file.closed or not self._append or os.getpid() != self._process:
            raise ValueError(f"{self.path}: not open for appending in this process; see Recording.resume")
        with self._mutex:
            last = self._blocks[-1]
            pieces, head = encoded(len(self._blocks), last.seal, {"facts": dict(facts)}, dict(arrays))
            with explained(self.path, f"append chunk {len(self._blocks)} (those before are safe)"):
                self._check_place(last.end)
                try:
                    self._file.seek(last.end)
                    write_all(self._file, pieces)
                    os.fsync(self._file.fileno())
                    end = last.end + HEAD.size + head.n + head.m
                    self._blocks.append(_BlockEntry(end, head.n, head.checksum, head.seal))
                except BaseException:  # a full disk, Ctrl-C: back to the last good chunk
                    with contextlib.suppress(OSError):
                        self._file.truncate(self._blocks[-1].end)
                    raise

    def last(self) -> Chunk | None:
        """The last chunk; None if there is none yet. No other is read."""
        return self[len(self) - 1] if len(self) else None

    def __len__(self) -> int:
        return len(self._blocks) - 1

    def __getitem__(self, k: int) -> Chunk:
        if not 0 <= k < len(self):
            raise IndexError(f"k: expected a chunk from 0 to {len(self) - 1}, got {k}")
        with self._mutex, explained(self.path, f"read chunk {k + 1}"):
            document, arrays = self._load(k + 1)
        return document["facts"], arrays

    def __iter__(self) -> Iterator[Chunk]:
        return (self[k] for k in range(len(self)))

    def close(self) -> None:
        """Close the file and release its lock."""
        self._file.close()

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _survey(self) -> None:
        """Scan the heads of all blocks, read the header, and find the end of the valid part."""
        size = os.fstat(self._file.fileno()).st_size
        end, seal = 0, 0
        while end < size:
            number, head = len(self._blocks), head_of(take(self._file, end, min(HEAD.size, size - end)))
            if head is None:
                if number and self._followed(end, size, number):
                    raise self._damaged(number, "its head is damaged, and good chunks follow")
                break
            if (head.number, head.before) != (number, seal):
                raise self._damaged(number, f"chunk {head.number} is here, swapped, repeated or of another file")
            if not 0 < head.n <= MOST_JSON or head.n % 64 or head.m % 64:
                raise self._damaged(number, f"impossible lengths: {head.n} and {head.m} bytes")
            if end + HEAD.size + head.n + head.m > size:
                break
            end, seal = end + HEAD.size + head.n + head.m, head.seal
            self._blocks.append(_BlockEntry(end, head.n, head.checksum, seal))
        if not self._blocks:
            expected, begins = MARK.decode().strip(), take(self._file, 0, min(len(MARK), size)).decode(errors="replace")
            other = begins.startswith(expected.rpartition(" ")[0]) and begins != MARK.decode()
            why = (
                f"it says {begins.strip()!r}, of another version" if other else "it is another kind of file, or damaged"
            )
            raise self._damaged(0, f"expected a whole {expected!r}; {why}")
        header, _ = self._load(0)
        self.facts, chunks = header["facts"], header.get("chunks")
        if chunks is not None:
            if type(chunks) is not int or (chunks, end) != (len(self), size):
                raise self._damaged(0, f"expected {chunks} chunks, got {len(self)} and {size - end} bytes more")
            if self._append:
                raise ValueError(f"{self.path}: was written whole, nothing can be appended; create another")
        elif len(self) and not self._intact(len(self)):
            if end < size:
                raise self._damaged(len(self), "its checksum is wrong, and another had begun: the file is damaged")
            self._blocks.pop()
        self.ignored = size - self._blocks[-1].end

    def _followed(self, start: int, size: int, number: int) -> bool:
        """Whether a valid head of a later chunk follows a damaged one."""
        for place in range(start, size, WINDOW):
            window, at = take(self._file, place, min(WINDOW, size - place)), -1
            while (at := window.find(MARK, at + 1)) >= 0:
                head = head_of(window[at : at + HEAD.size]) if at % 64 == 0 else None
                if head is not None and head.number > number:
                    return True
        return False

    def _intact(self, number: int) -> bool:
        """Whether the body of a chunk has its checksum."""
        end, checksum = self._blocks[number].end, 0
        for place in range(self._blocks[number - 1].end + HEAD.size, end, WINDOW):
            checksum = zlib.crc32(take(self._file, place, min(WINDOW, end - place)), checksum)
        return checksum == self._blocks[number].checksum

    def _load(self, number: int) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """JSON and arrays of a block."""
        block, start = self._blocks[number], HEAD.size + (self._blocks[number - 1].end if number else 0)
        try:
            text, data = take(self._file, start, block.n), np.empty(block.end - start - block.n, np.uint8)
            if not fill(self._file, data) or zlib.crc32(data.data, zlib.crc32(text)) != block.checksum:
                raise ValueError("its checksum is wrong: the file is damaged")
            return decoded(text, data)
        except MemoryError:
            raise self._damaged(number, "there is not enough memory for it") from None
        except ValueError as error:
            raise self._damaged(number, str(error)) from None

    def _check_place(self, end: int) -> None:
        """Check that the file was not moved or cut; remove what a failed append left."""
        own = os.fstat(self._file.fileno())
        if not os.path.exists(self.path) or not os.path.samestat(os.stat(self.path), own):
            raise FileNotFoundError(errno.ENOENT, "the file was moved or deleted meanwhile")
        if own.st_size < end:
            raise OSError(errno.EIO, "another program has cut the file")
        if own.st_size > end:
            self._file.truncate(end)

    def _damaged(self, number: int, what: str) -> ValueError:
        return ValueError(f"{self.path}: {f'chunk {number} (the first is 1)' if number else 'header'}: {what}")


def _encoded(
    facts: Mapping[str, Any], chunks: Collection[tuple[Mapping[str, Any], Mapping[str, Any]]], count: int | None
) -> Iterator[list[memoryview]]:
    """The blocks of a whole file, one after the other."""
    pieces, head = encoded(0, 0, {"chunks": count, "facts": dict(facts)}, {})
    yield pieces
    for number, (own, arrays) in enumerate(chunks, 1):
        pieces, head = encoded(number, head.seal, {"facts": dict(own)}, dict(arrays))
        yield pieces
