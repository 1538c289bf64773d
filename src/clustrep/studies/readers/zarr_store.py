"""AnnData in a Zarr store, which is a folder: read as an h5ad file is, element by element and block by block."""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path as FolderPath
from typing import Any

import numpy as np

from clustrep.errors import DataError
from clustrep.studies.readers.anndata_cells import Cells
from clustrep.studies.readers.h5ad import asked_columns, cells_of_untrusted, tables_of_cells
from clustrep.studies.readers.h5ad_file import cells_of_stored
from clustrep.studies.readers.source import AGAIN, ZARR_MARKS, Beginning, import_for, in_brief
from clustrep.studies.readers.stored_blocks import Allocate
from clustrep.studies.readers.table import Path, Reader, Request, Table

KIND = "a Zarr store"
# Codecs that run what is written in a file.
UNSAFE = "pickle"


def is_zarr(beginning: Beginning) -> bool:
    """Whether it is a folder with the marks of a Zarr store."""
    return beginning.is_zarr


def read_zarr(path: Path, study: str, request: Request) -> Iterator[Table]:
    """Read the studies of a Zarr store: one with this name, or those that `study_key` tells apart."""
    import_for(path, KIND, "anndata", extra="anndata")
    import_for(path, KIND, "zarr", extra="anndata")
    read = partial(read_stored_cells, path, rep=request.rep, columns=asked_columns(request), features=request.features)
    n_bytes = sum(_size(file, path) for file in _files(path))
    return tables_of_cells(cells_of_untrusted(read, path, KIND, n_bytes), study, request)


def read_stored_cells(
    path: Path,
    *,
    rep: str | None,
    columns: Iterable[str],
    features: Sequence[str] | None = None,
    allocate: Allocate = np.empty,
) -> Cells:
    """Read one table of a Zarr store, block by block; whatever goes wrong is a `DataError`."""
    zarr = importlib.import_module("zarr")
    _check_codecs(path)
    try:
        # What the parts say of themselves: a summary of them at the top was not checked. Version 2 reads none unasked.
        options = {} if zarr.__version__.startswith("2.") else {"use_consolidated": False}
        group = zarr.open_group(os.fspath(path), mode="r", **options)
        is_anndata = "obs" in group and "var" in group
    except Exception as error:
        raise DataError(f"{path} is {KIND} that is damaged ({in_brief(error)}): {AGAIN}.") from None
    if not is_anndata:
        raise DataError(f"{path} is {KIND} but holds no AnnData, for it has no obs and var: write it with anndata.")
    return cells_of_stored(group, path, KIND, rep=rep, columns=columns, features=features, allocate=allocate)


def _check_codecs(path: Path) -> None:
    """Refuse a store with arrays that are unpickled, which can run any program."""
    for file in _files(path):
        if file.name.lower() not in (*ZARR_MARKS, ".zarray"):  # some file systems ignore case
            continue
        try:
            described = json.loads(file.read_bytes())
        except (OSError, ValueError) as error:
            raise DataError(f"{path} is {KIND} that is damaged ({file.name}: {in_brief(error)}): {AGAIN}.") from None
        if any(UNSAFE in name.lower() for name in _codec_names(described)):
            raise DataError(
                f"{path} holds an array that is packed with {UNSAFE}, which can run any program: write it again with "
                "anndata, which does not use it."
            )


def _codec_names(described: Any) -> Iterator[str]:
    """Return the names of all codecs in what is said of an array, wherever they stand."""
    pending = [described]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            yield from (str(value[key]) for key in ("id", "name") if key in value)
            pending += value.values()
        elif isinstance(value, list):
            pending += value


def _files(path: Path) -> Iterator[FolderPath]:
    """Return all files of a store; links are refused, because they lead out of what was looked at."""
    for folder, folders, names in os.walk(path):
        for name in (*folders, *names):
            if (FolderPath(folder) / name).is_symlink():
                raise DataError(f"{path} is {KIND} with a link in it, {name!r}: replace it by what it leads to.")
        yield from (FolderPath(folder) / name for name in names)


def _size(file: FolderPath, path: Path) -> int:
    try:
        return file.lstat().st_size
    except OSError as error:
        raise DataError(f"{path} is {KIND} that is damaged ({in_brief(error)}): {AGAIN}.") from None


ZARR = Reader(
    kind=KIND,
    files="Zarr stores",
    sniff=is_zarr,
    read=read_zarr,
    takes=frozenset(["study_key", "rep"]),
    orientation="its rows are cells already",
)
