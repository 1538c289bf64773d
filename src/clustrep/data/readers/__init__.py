"""Readers of files that hold studies, one module a format. The content of a file tells its format, never its name.

To add a format, write a module with a `Reader` (see `clustrep.data.readers.table`), and list it in `READERS`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clustrep.data.readers.delimited import DELIMITED
from clustrep.data.readers.geo import GEO
from clustrep.data.readers.h5ad import H5AD, ZARR
from clustrep.data.readers.parquet import PARQUET
from clustrep.data.readers.r_data import R_DATA
from clustrep.data.readers.source import beginning_of
from clustrep.data.readers.table import Path, Reader, Request, Table
from clustrep.errors import DataError, DataWarning, ParameterError, warn
from clustrep.text import argument, listing, wording

# In the order in which they are asked; the last takes every file, and says so if it is not a table.
READERS: tuple[Reader, ...] = (H5AD, ZARR, PARQUET, R_DATA, GEO, DELIMITED)


def read_tables(paths: Sequence[Path], names: Sequence[str], request: Request) -> Iterator[Table]:
    """Read the studies of all files, one file after the other; an h5ad file may hold several."""
    readers = [reader_of(path) for path in paths]
    _check_some_file_takes(request, readers)
    path_of: dict[str, Path] = {}
    paths_of_embeddings: list[Path] = []
    for path, name, reader in zip(paths, names, readers, strict=True):
        _check_applies(request, reader, path, name, names)
        for table in reader.read(path, name, request):
            if table.name in path_of:
                raise DataError(
                    f"Every study needs a name of its own, but {table.name!r} is in {path_of[table.name]} and in "
                    f"{path}: rename it in one of them."
                )
            path_of[table.name] = path
            if table.is_embedding and path not in paths_of_embeddings:
                paths_of_embeddings.append(path)
            yield table
    if len(paths_of_embeddings) > 1:
        warn(
            f"{request.rep!r} of {listing(paths_of_embeddings, 3)} is taken as one space: that is right only if it "
            "was computed from all of them together.",
            DataWarning,
        )


def reader_of(path: Path) -> Reader:
    """Return the first reader that recognises the beginning of a file."""
    beginning = beginning_of(path)
    return next(reader for reader in READERS if reader.sniff(beginning))


def _check_some_file_takes(request: Request, readers: Sequence[Reader]) -> None:
    """Refuse a parameter of some format of which there is no file."""
    for parameter, value in (("study_key", request.study_key), ("rep", request.rep)):
        if value is not None and (not isinstance(value, str) or not value):
            raise ParameterError(
                f"{parameter} must be a name{wording(python=' or None')}, got {value!r}.", parameter=parameter
            )
        if value is not None and not any(parameter in reader.takes for reader in readers):
            raise ParameterError(
                f"{argument(parameter, value)} is for {_files_that_take(parameter)}, and there is none among these.",
                parameter=parameter,
            )


def _check_applies(request: Request, reader: Reader, path: Path, name: str, names: Sequence[str]) -> None:
    """Refuse a header or a transposition that a file of this format can't have."""
    if request.header is not None and "header" not in reader.takes:
        header = argument("header", request.header)
        raise ParameterError(
            f"{header} is for {_files_that_take('header')}, and {path} is {reader.kind}: leave {header} out.",
            parameter="header",
        )
    if reader.orientation is not None and request.transposes(name):
        others = [other for other in names if other != name]
        instead = f", or use {argument('transpose', others)}" if others and request.transpose is True else ""
        raise ParameterError(
            f"{path} is {reader.kind}, and {reader.orientation}: leave {request.transpose_argument(name)} out"
            f"{instead}.",
            parameter="transpose",
        )


def _files_that_take(parameter: str) -> str:
    return " and ".join(reader.files for reader in READERS if parameter in reader.takes)
