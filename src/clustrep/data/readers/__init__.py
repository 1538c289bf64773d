"""Readers of files that hold studies, one module a format. The content of a file tells its format, never its name.

To add a format, write a module with a `Reader` (see `clustrep.data.readers.table`), and list it in `READERS`.
"""

from __future__ import annotations

from clustrep.data.readers.delimited import DELIMITED
from clustrep.data.readers.excel import EXCEL
from clustrep.data.readers.geo import GEO
from clustrep.data.readers.h5ad import H5AD, ZARR
from clustrep.data.readers.parquet import PARQUET
from clustrep.data.readers.r_data import R_DATA
from clustrep.data.readers.source import beginning_of
from clustrep.data.readers.table import Path, Reader

# In the order in which they are asked; the last takes every file, and refuses what is no table.
READERS: tuple[Reader, ...] = (H5AD, ZARR, PARQUET, R_DATA, EXCEL, GEO, DELIMITED)


def reader_of(path: Path) -> Reader:
    """Return the first reader that recognises the beginning of a file."""
    beginning = beginning_of(path)
    return next(reader for reader in READERS if reader.sniff(beginning))
