"""Which writer a file's ending means; and a trajectory as a pandas table."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from featherweight.endings import TABLES, check_ending
from featherweight.extras import needed
from featherweight.files.csv import write_csv
from featherweight.files.npz import write_npz
from featherweight.files.parquet import write_parquet
from featherweight.files.table import table_of
from featherweight.simulation import Trajectory

WRITERS: dict[str, Callable[[Trajectory, str | os.PathLike[str]], None]] = {
    ".npz": write_npz,
    ".csv": write_csv,
    ".parquet": write_parquet,
}


def write_table(trajectory: Trajectory, path: str | os.PathLike[str]) -> None:
    """Write a trajectory for other programs, in the format that the name ends in: .npz, .csv or .parquet."""
    WRITERS[check_ending("path", path, TABLES)](trajectory, path)


def to_frame(trajectory: Trajectory) -> Any:
    """A `pandas.DataFrame` with the columns of `table_of`: one row a state, robots of a batch one after the other."""
    pandas = needed("pandas", "tables", "to_frame needs")
    return pandas.DataFrame(table_of(trajectory).columns)
