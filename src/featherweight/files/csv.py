"""CSV (RFC 4180): a line of names, then one line a state; numbers to the last bit, NaN as an empty field."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Iterator

from featherweight.files.table import Table, table_of
from featherweight.recording.files import write_whole
from featherweight.simulation import Trajectory

BLOCK = 4096  # lines that are written at once


def write_csv(trajectory: Trajectory, path: str | os.PathLike[str]) -> None:
    """Write a table in UTF-8. Every name begins with a letter of ours, so a spreadsheet takes none for a formula."""
    write_whole(path, _blocks(table_of(trajectory)))


def _blocks(table: Table) -> Iterator[bytes]:
    text = io.StringIO(newline="")
    lines = csv.writer(text)
    lines.writerow(table.columns)
    for start in range(0, table.rows, BLOCK):
        some = [column[start : start + BLOCK].tolist() for column in table.columns.values()]
        lines.writerows([_field(number) for number in row] for row in zip(*some, strict=True))
        yield text.getvalue().encode()
        text.seek(0)
        text.truncate()


def _field(number: float) -> str:
    """The shortest digits that are read back to the same bits."""
    return "" if math.isnan(number) else repr(number)
