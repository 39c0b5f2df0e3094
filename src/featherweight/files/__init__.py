"""A trajectory in the formats of other programs, one format a file: tables, movies, scenes."""

from featherweight.files.save import to_frame, write_table
from featherweight.files.table import Table, table_of

__all__ = ["Table", "table_of", "to_frame", "write_table"]
