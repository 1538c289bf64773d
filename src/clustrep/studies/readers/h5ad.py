"""AnnData objects and h5ad files, through anndata: one study, or several that a column of obs tells apart."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from os import PathLike
from typing import IO, Any

import numpy as np
import pandas as pd

from clustrep.errors import DataError, ParameterError
from clustrep.studies.readers.anndata_cells import Cells, cells_of
from clustrep.studies.readers.h5ad_file import SharedTable, read_answer, read_cells, write_cells, write_refusal
from clustrep.studies.readers.isolated import can_isolate, isolated
from clustrep.studies.readers.source import AGAIN, HDF5_MAGIC, Beginning, import_for
from clustrep.studies.readers.table import Path, Reader, Request, Table
from clustrep.studies.study import Label
from clustrep.text import listing, nearest, plural
from clustrep.types import IntArray

# How long a file may take: so many seconds, and one more for so many bytes.
SECONDS_AT_MOST, BYTES_PER_SECOND = 60, 2**20


def is_hdf5(beginning: Beginning) -> bool:
    """Whether a file has the mark of HDF5, the container of h5ad."""
    return beginning.raw.startswith(HDF5_MAGIC)


def read_h5ad(path: Path, study: str, request: Request) -> Iterator[Table]:
    """Read the studies of an h5ad file: one with this name, or those that `study_key` tells apart."""
    import_for(path, "an HDF5 file", "anndata", extra="anndata")
    read = partial(read_cells, path, rep=request.rep, columns=asked_columns(request), features=request.features)
    return tables_of_cells(cells_of_untrusted(read, path, "an HDF5 file", os.path.getsize(path)), study, request)


def asked_columns(request: Request) -> list[str]:
    """Return the columns of obs that are needed."""
    return [column for column in (request.label, request.study_key, request.groups) if column]


def tables_of_anndata(
    adata: Any, *, study_key: str, rep: str | None, label: Label, features: Sequence[str] | None
) -> Iterator[Table]:
    """Take the studies of an AnnData, which `study_key` tells apart."""
    if not all(hasattr(adata, name) for name in ("obs", "obsm", "layers", "var_names")):
        advice = ": read files with Studies.read(*paths)" if isinstance(adata, str | PathLike) else ""
        raise DataError(f"from_anndata takes an AnnData, got {type(adata).__name__}{advice}.")
    for parameter, value in (("study_key", study_key), ("rep", rep)):
        if (value is not None or parameter == "study_key") and (not isinstance(value, str) or not value):
            raise ParameterError(f"{parameter} must be a name, got {value!r}.", parameter=parameter)
    columns = [column for column in (label, study_key) if column]
    cells = cells_of(adata, "The AnnData", rep=rep, columns=columns, features=features)
    return tables_of_cells(cells, "", Request(label=label, study_key=study_key))


# ---------------------------------------------------------------------------------------------------------------------
# files, which are not trusted


def cells_of_untrusted(read: Callable[..., Cells], path: Path, kind: str, n_bytes: int) -> Cells:
    """Read one table of a file in a copy of this process, which a damaged file may crash or stop."""
    if not can_isolate():
        return read()

    def answer(stream: IO[bytes]) -> None:
        try:
            write_cells(read(allocate=table.allocate), stream, table)
        except DataError as error:
            write_refusal(error, stream)

    with tempfile.TemporaryFile() as stream, tempfile.TemporaryFile() as file:
        table = SharedTable(file)
        seconds = SECONDS_AT_MOST + n_bytes // BYTES_PER_SECOND
        ending = isolated(answer, stream, seconds)
        if ending.was_too_slow:
            raise DataError(
                f"{path} was not read within {plural(seconds, 'second')}: it is probably damaged. {AGAIN.capitalize()}."
            )
        if not ending.is_whole:
            raise DataError(
                f"{path} is {kind} that is damaged, or too large for this machine's memory and temporary files: "
                f"{AGAIN}, or keep fewer features."
            )
        stream.seek(0)
        return read_answer(stream, table)


# ---------------------------------------------------------------------------------------------------------------------
# studies of cells


def tables_of_cells(cells: Cells, name: str, request: Request) -> Iterator[Table]:
    """Take the cells as one study, or as one for each value of `study_key`, in the order of their first cells."""
    study_key = request.study_key
    all_rows = np.arange(cells.matrix.shape[0])
    rows_of = {name: all_rows} if study_key is None else _rows_by_study(cells, study_key)
    for study, rows in rows_of.items():
        part = cells.matrix if study_key is None else cells.matrix[rows]
        frame = pd.DataFrame(part.toarray() if hasattr(part, "toarray") else part)
        if cells.features is not None:
            frame.columns = pd.Index(cells.features, dtype=object)
        if cells.samples is not None:
            frame.index = pd.Index([cells.samples[i] for i in rows], dtype=object)
        labels, groups = (
            np.array([*cells.obs[column], None], dtype=object)[rows] if column and column in cells.obs else None
            for column in (request.label, request.groups)
        )
        yield Table(study, frame, labels, cells.annotations, cells.are_embedded, groups)


def _rows_by_study(cells: Cells, study_key: str) -> dict[str, IntArray]:
    annotations = cells.annotations
    if study_key not in annotations:
        choices = f"; there are {listing(annotations, 20)}" if annotations else ""
        raise DataError(
            f"{cells.source} has no column {study_key!r} in obs to tell the studies apart{choices}."
            f"{nearest(study_key, annotations)}"
        )
    column = cells.obs[study_key]
    n_missing = sum(value is None for value in column)
    if n_missing:
        raise DataError(
            f"{cells.source} has {plural(n_missing, 'cell')} without a study: {study_key!r} is missing there. "
            "Leave those cells out, or give them a study."
        )
    n_blank = sum(not str(value).strip() for value in column)
    if n_blank:
        raise DataError(
            f"{cells.source} has {plural(n_blank, 'cell')} whose study has no name: {study_key!r} is blank there. "
            "Leave those cells out, or give them a study."
        )
    codes, values = pd.factorize(np.array([str(value) for value in column], dtype=object))
    return {str(value): np.flatnonzero(codes == code) for code, value in enumerate(values)}


H5AD = Reader(
    kind="an h5ad file",
    files="h5ad files",
    sniff=is_hdf5,
    read=read_h5ad,
    takes=frozenset(["study_key", "rep"]),
    orientation="its rows are cells already",
)
