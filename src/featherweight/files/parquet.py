"""Apache Parquet, by pyarrow: columns with their names, compressed, for pandas, Polars, DuckDB, Spark …"""

from __future__ import annotations

import os

from featherweight.extras import needed
from featherweight.files.table import table_of
from featherweight.recording.files import write_whole
from featherweight.simulation import Trajectory

WHO = "files that end in .parquet need"


def write_parquet(trajectory: Trajectory, path: str | os.PathLike[str]) -> None:
    """Write a table; what is not there is NaN."""
    arrow = needed("pyarrow", "tables", WHO)
    parquet = needed("pyarrow.parquet", "tables", WHO)
    written = arrow.BufferOutputStream()
    parquet.write_table(arrow.table(table_of(trajectory).columns), written)
    write_whole(path, [memoryview(written.getvalue())])
