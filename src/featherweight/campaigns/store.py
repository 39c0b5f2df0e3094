"""Results of a sweep on disk, in the Zarr 3 format: a folder that `zarr` and `xarray` open, written without locks.

Of each array, a file has the lanes of one chunk, as plain little-endian numbers. Files are written under another name,
flushed and renamed (`recording/files.py`); when all arrays of a chunk are there, its *record* follows, with their
SHA-256. A chunk is done if its record is there and the checksums are right: a kill at any moment, on any machine, loses
what was in flight and nothing else. Two writers of one chunk write the same bytes.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from featherweight.recording.files import explained, put

OWN = ".featherweight"  # folder of the manifest and the records
A_FOLDER = 1000  # records
DTYPES = {"bool": "bool", "uint8": "uint8", "int64": "int64", "float32": "float32", "float64": "float64"}
MISSING: dict[str, Any] = {"bool": False, "uint8": 255, "int64": -(2**63), "float32": "NaN", "float64": "NaN"}
DAY = 86400.0  # [s]
MOST_DIGITS = 20  # of a chunk's number


class Column(NamedTuple):
    """An array of the result: its type, the shape of one lane's value, and names of those axes."""

    dtype: str
    shape: tuple[int, ...]
    axes: tuple[str, ...]


class Store:
    """The folder of a sweep."""

    def __init__(self, path: str | os.PathLike[str], digest: str, lanes: int, chunk: int) -> None:
        self.path, self.digest, self.lanes, self.chunk = Path(path), digest, lanes, chunk
        self._good: set[tuple[int, str]] = set()  # arrays of chunks whose checksums were right

    @property
    def chunks(self) -> int:
        """How many there are."""
        return -(-self.lanes // self.chunk)

    def lanes_of(self, number: int) -> range:
        """The lanes of a chunk; the last one may be shorter."""
        return range(number * self.chunk, min(self.lanes, (number + 1) * self.chunk))

    # ---- what says which arrays there are

    def declare(self, columns: Mapping[str, Column], attributes: Mapping[str, Any], t: np.ndarray) -> None:
        """Write the metadata of the group and its arrays, and the times of samples."""
        arrays = {name: self._metadata(column) for name, column in columns.items()}
        whole = Column("float64", t.shape, ("sample",))
        arrays["t"] = self._array("float64", t.shape, t.shape, whole.axes, {"units": "s"})
        self._file("t/0", [np.ascontiguousarray(t, dtype="<f8").data.cast("B")])
        for name, metadata in arrays.items():
            self._file(f"{name}/zarr.json", [_json(metadata)])
        together = {"kind": "inline", "must_understand": False, "metadata": arrays}
        group = {"zarr_format": 3, "node_type": "group", "attributes": dict(attributes)}
        self._file("zarr.json", [_json({**group, "consolidated_metadata": together})])

    def _metadata(self, column: Column) -> dict[str, Any]:
        shape, axes = (self.lanes, *column.shape), ("lane", *column.axes)
        return self._array(column.dtype, shape, (self.chunk, *column.shape), axes, {})

    def _array(self, dtype: str, shape: Any, chunks: Any, axes: Any, attributes: Any) -> dict[str, Any]:
        return {
            "zarr_format": 3, "node_type": "array", "shape": list(shape), "data_type": DTYPES[dtype],
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(chunks)}},
            "chunk_key_encoding": {"name": "v2", "configuration": {"separator": "."}},
            "fill_value": MISSING[dtype], "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
            "attributes": attributes, "dimension_names": list(axes), "storage_transformers": [],
        }  # fmt: skip

    # ---- chunks

    def write(self, number: int, arrays: Mapping[str, np.ndarray], facts: Mapping[str, Any]) -> int:
        """A chunk: its arrays (lanes, …), then its record. Bytes that were written; OSError if the disk is full."""
        sums, size = {}, 0
        for name, values in arrays.items():
            padded = np.full((self.chunk, *values.shape[1:]), _missing(values.dtype), dtype=values.dtype)
            padded[: len(values)] = values
            data = np.ascontiguousarray(padded).astype(padded.dtype.newbyteorder("<"), copy=False).data.cast("B")
            self._file(_key(name, number, values.ndim), [data])
            sums[name], size = hashlib.sha256(data).hexdigest(), size + len(data)
        record = {"digest": self.digest, "chunk": number, **facts, "arrays": sums, "axes": _axes(arrays)}
        self._file(self._record(number), [_json({**record, "seal": _seal(record)})])
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path / OWN / "aside" / f"{number}.json")
        return size

    def record(self, number: int) -> dict[str, Any] | None:
        """What is known of a chunk that is done; None if it is not, or its record is damaged."""
        try:
            record = json.loads((self.path / self._record(number)).read_bytes())
            seal = record.pop("seal")
        except (OSError, ValueError, KeyError, AttributeError):
            return None
        good = seal == _seal(record) and record.get("digest") == self.digest and record.get("chunk") == number
        return record if good else None

    def verified(self, number: int) -> dict[str, Any] | None:
        """The record of a chunk, if all its arrays are as they were written."""
        record = self.record(number)
        if record is None:
            return None
        for name, wanted in record["arrays"].items():
            try:
                data = (self.path / _key(name, number, record["axes"][name])).read_bytes()
            except OSError:
                return None
            if hashlib.sha256(data).hexdigest() != wanted:
                return None
        return record

    def read(self, number: int, name: str, column: Column) -> np.ndarray | None:
        """An array of one chunk, (lanes, …); None if the chunk is not done. ValueError if it is not as it was written,
        which is looked at once."""
        shape = (self.chunk, *column.shape)
        file, dtype = self.path / _key(name, number, len(shape)), np.dtype(column.dtype).newbyteorder("<")
        wanted = None
        if (number, name) not in self._good:
            record = self.record(number)
            if record is None:
                return None
            wanted = record["arrays"].get(name, "")
        try:
            data = file.read_bytes()
        except OSError:
            data = b""
        if len(data) != dtype.itemsize * int(np.prod(shape)) or (
            wanted is not None and hashlib.sha256(data).hexdigest() != wanted
        ):
            raise ValueError(
                f"chunk {number}: {file} is damaged, its checksum is wrong: run the sweep again, which computes it anew"
            )
        self._good.add((number, name))
        return np.frombuffer(data, dtype).reshape(shape)[: len(self.lanes_of(number))]

    def recorded(self) -> Iterator[int]:
        """Numbers of the chunks that have a record, in no order; whatever else lies there is passed over."""
        folder = self.path / OWN / "chunks"
        for part in sorted(os.listdir(folder)) if folder.is_dir() else ():
            for name in os.listdir(folder / part) if (folder / part).is_dir() else ():
                digits = name.removesuffix(".json")
                if digits.isascii() and digits.isdigit() and len(digits) < MOST_DIGITS:
                    number = int(digits)
                    if number < self.chunks and self._record(number) == f"{OWN}/chunks/{part}/{name}":
                        yield number

    def set_aside(self, number: int, reason: str) -> None:
        """Write down that a chunk cannot be computed."""
        self._file(f"{OWN}/aside/{number}.json", [_json({"chunk": number, "reason": reason})])

    def aside(self) -> dict[int, str]:
        """Chunks that could not be computed, with the reasons."""
        found = {}
        for file in sorted((self.path / OWN / "aside").glob("[0-9]*.json")):
            with contextlib.suppress(OSError, ValueError, KeyError):
                facts = json.loads(file.read_bytes())
                found[int(facts["chunk"])] = str(facts["reason"])
        return dict(sorted(found.items()))

    def tidy(self) -> None:
        """Remove what killed writers have left behind, a day ago or more."""
        for file in self.path.rglob(".featherweight-*.tmp"):
            with contextlib.suppress(OSError):
                if time.time() - file.stat().st_mtime > DAY:
                    file.unlink()

    def _record(self, number: int) -> str:
        return f"{OWN}/chunks/{number // A_FOLDER}/{number}.json"

    def _file(self, name: str, pieces: list[memoryview]) -> None:
        target = self.path / name
        with explained(str(target), "write"):
            target.parent.mkdir(parents=True, exist_ok=True)
            put(str(target), [pieces], os.replace)


def _key(name: str, number: int, axes: int) -> str:
    return f"{name}/{'.'.join([str(number), *['0'] * (axes - 1)])}"


def _axes(arrays: Mapping[str, np.ndarray]) -> dict[str, int]:
    return {name: values.ndim for name, values in arrays.items()}


def _missing(dtype: Any) -> Any:
    value = MISSING[np.dtype(dtype).name]
    return np.nan if value == "NaN" else value


def missing_values(lanes: int, column: Column) -> np.ndarray:
    """What an array has where nothing was computed."""
    return np.full((lanes, *column.shape), _missing(column.dtype), dtype=column.dtype)


def _json(data: Any) -> memoryview:
    return memoryview(json.dumps(data, indent=1, sort_keys=True).encode())


def _seal(record: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()
