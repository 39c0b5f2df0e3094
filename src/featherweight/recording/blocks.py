"""The format of recordings: blocks of JSON and named arrays, each with its checksums.

A file is a sequence of blocks. Block 0 is the header, block k is the k-th chunk. All numbers are little-endian:

| bytes   | type   | what                                                                             |
| ------- | ------ | -------------------------------------------------------------------------------- |
| 0 - 27  | text   | "featherweight recording 1.0" and a line feed                                    |
| 28 - 31 | uint32 | CRC-32 (zlib's) of the JSON and the data, padding included                       |
| 32 - 39 | uint64 | k, number of the block                                                           |
| 40 - 47 | uint64 | n, bytes of JSON: UTF-8, keys sorted, spaces at its end up to a multiple of 64   |
| 48 - 55 | uint64 | m, bytes of data: each array in C order, zeros at its end up to a multiple of 64 |
| 56 - 59 | uint32 | bytes 60 - 63 of the block before; 0 in block 0                                  |
| 60 - 63 | uint32 | the seal: CRC-32 of bytes 0 - 59                                                 |
| 64 …    |        | the JSON, then the data; the next block begins at 64 + n + m                     |

JSON of a chunk: `{"arrays": [{"dtype": "<f8", "name": "q", "shape": [3, 7]}, …], "facts": {…}}`, with the dtypes of
`DTYPES`. That of the header has no arrays, and "chunks": their number if the file was written whole, null if it grows.

A last chunk of a growing file that is not whole (cut, or a wrong checksum) is a torn tail, and does not count. All else
that does not fit is an error, also a bad chunk that others follow: a chunk is on the disk before the next begins. Each
head has the seal of the one before, so chunks that are swapped, repeated or of another file are noticed.

CRC-32 finds every flip of up to two bits and every burst of 32 in a chunk below 500 MB; other damage slips through once
in 4·10⁹ times. It is no guard against forgers. Still a forged file is safe to read: it gives ValueError or arrays.
"""

from __future__ import annotations

import json
import math
import struct
import zlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

MARK = b"featherweight recording 1.0\n"
HEAD = struct.Struct("<28sI3Q2I")
DTYPES = ("<f8", "<f4", "<i8", "<i4", "|u1")
MOST_JSON, MOST_ARRAYS, MOST_AXES, MOST_DIGITS = 1 << 20, 256, 16, 400


class Head(NamedTuple):
    """The first 64 bytes of a block."""

    mark: bytes
    checksum: int
    number: int
    n: int
    m: int
    before: int
    seal: int


def head_of(raw: bytes) -> Head | None:
    """Parse a head; None if there are not 64 bytes, or mark or seal are wrong."""
    if len(raw) != HEAD.size:
        return None
    head = Head(*HEAD.unpack(raw))
    return head if head.mark == MARK and head.seal == zlib.crc32(raw[:-4]) else None


def encoded(
    number: int, before: int, document: Mapping[str, Any], arrays: Mapping[str, Any]
) -> tuple[list[memoryview], Head]:
    """Encode a block: buffers to write one after the other, and its head. Large arrays are not copied."""
    if len(arrays) > MOST_ARRAYS:
        raise ValueError(f"arrays: expected at most {MOST_ARRAYS}, got {len(arrays)}")
    described, data = [], []
    for name, given in arrays.items():
        array = _little(name, given)
        described.append({"dtype": array.dtype.str, "name": name, "shape": list(array.shape)})
        data += [array.reshape(-1).view(np.uint8).data, memoryview(bytes(-array.nbytes % 64))]
    text = _json({**document, "arrays": described})
    checksum = zlib.crc32(text)
    for piece in data:
        checksum = zlib.crc32(piece, checksum)
    head = Head(MARK, checksum, number, len(text), sum(map(len, data)), before, 0)
    head = head._replace(seal=zlib.crc32(HEAD.pack(*head)[:-4]))
    return [memoryview(HEAD.pack(*head) + text), *data], head


def decoded(text: bytes, data: np.ndarray) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Decode a block: JSON and arrays, which share the memory of `data`. ValueError says what does not fit."""
    document = _parsed(text)
    entries = document.get("arrays")
    if not isinstance(document.get("facts"), dict) or not isinstance(entries, list) or len(entries) > MOST_ARRAYS:
        raise ValueError(f"expected facts and a list of at most {MOST_ARRAYS} arrays")
    arrays: dict[str, np.ndarray] = {}
    place = 0
    for entry in entries:
        match entry:
            case {"name": str(name), "dtype": str(dtype), "shape": list(shape)} if (
                name not in arrays
                and dtype in DTYPES
                and len(shape) <= MOST_AXES
                and all(type(x) is int and 0 <= x < 1 << 48 for x in shape)
            ):
                size = math.prod(shape) * np.dtype(dtype).itemsize
            case _:
                raise ValueError(f"impossible description of an array: {str(entry)[:200]}")
        if size > len(data) - place:
            raise ValueError(f"array {name[:200]!r} is longer than the data")
        arrays[name] = data[place : place + size].view(dtype).reshape(shape)
        place += size + -size % 64
    if place != len(data):
        raise ValueError(f"arrays take {place} bytes of {len(data)}")
    return document, arrays


def _little(name: Any, given: Any) -> np.ndarray:
    """The array as little-endian, C-ordered; checked."""
    if not isinstance(name, str):
        raise TypeError(f"arrays: expected text for a name, got {name!r}")
    array = np.asarray(given)
    dtype = array.dtype.newbyteorder("<")
    if dtype.str not in DTYPES:
        raise TypeError(f"arrays: {name}: expected dtype {', '.join(DTYPES)}, got {array.dtype}")
    if array.ndim > MOST_AXES:
        raise ValueError(f"arrays: {name}: expected at most {MOST_AXES} axes, got {array.ndim}")
    return array.astype(dtype, order="C", copy=False)


def _json(document: Mapping[str, Any]) -> bytes:
    """Padded JSON, parsed once to check that it can be read."""
    try:
        text = json.dumps(document, allow_nan=False, sort_keys=True, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 64)
        if len(text) > MOST_JSON:
            raise ValueError(f"they take {len(text)} bytes of at most {MOST_JSON}; numbers belong into arrays")
        _parsed(text)
    except (TypeError, ValueError, RecursionError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"facts: expected text, finite numbers, lists and dicts, as in JSON: {error}") from None
    return text


def _parsed(text: bytes) -> dict[str, Any]:
    """Parse a JSON object; numbers must be finite and of bounded length."""
    try:
        document = json.loads(text.decode(), parse_float=_finite, parse_int=_whole, parse_constant=_finite)
    except RecursionError:
        raise ValueError("JSON is nested too deeply") from None
    if not isinstance(document, dict):
        raise ValueError("expected a JSON object")
    return document


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"{digits[:40]} is not a finite number")
    return value


def _whole(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"a whole number of {len(digits)} digits; expected at most {MOST_DIGITS}")
    return int(digits)
