"""Numbers packed into a page: base64 of gzip of a head as JSON and arrays.

First the head's length (4 bytes, little-endian), then the head, then numbers of 4 bytes: wherever an array belongs in
the head, it says at which byte after the head how many of which kind begin. `assets/packed.js` reads it.
"""

from __future__ import annotations

import base64
import gzip
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np


def unpacker() -> str:
    """The function `unpacked(text)` in JavaScript."""
    return (Path(__file__).with_name("assets") / "packed.js").read_text("utf-8")


class PackedArrays:
    """Arrays one after the other, and what the head says of each."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, array: Any, kind: str = "f4") -> dict[str, Any]:
        """Where an array went."""
        data = np.ascontiguousarray(array, f"<{kind}")
        place = {"at": self._size, "count": data.size, "kind": kind}
        self._parts.append(data.tobytes())
        self._size += data.nbytes
        return place

    def packed(self, head: Any) -> str:
        """Head and arrays as one text."""
        text = json.dumps(head).encode()
        text += b" " * (-len(text) % 4)
        data = struct.pack("<I", len(text)) + text + b"".join(self._parts)
        return base64.b64encode(gzip.compress(data, compresslevel=6)).decode()  # 9 takes up to ten times as long
