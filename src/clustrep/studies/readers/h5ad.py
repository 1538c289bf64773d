"""AnnData objects and h5ad files, through anndata: one study, or several that a column of obs tells apart."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterator, Sequence
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from clustrep.checks import check_unique
from clustrep.errors import DataError, ParameterError
from clustrep.sentences import argument, option, wording
from clustrep.studies.readers.source import AGAIN, HDF5_MAGIC, Beginning, import_for, in_brief
from clustrep.studies.readers.table import Path, Reader, Request, Table, are_row_numbers
from clustrep.studies.study import Label
from clustrep.text import listing, nearest, plural
from clustrep.types import IntArray

DENSE_BYTES_AT_MOST = 2 * 1024**3


class Cells(NamedTuple):
    """One table of an AnnData: names that it does not have are None."""

    source: str
    matrix: Any  # (n_cells, n_features), dense or sparse
    features: list[str] | None
    samples: list[str] | None
    obs: pd.DataFrame
    are_embedded: bool


def is_hdf5(beginning: Beginning) -> bool:
    """Whether a file has the mark of HDF5, the container of h5ad."""
    return beginning.raw.startswith(HDF5_MAGIC)


def read_h5ad(path: Path, study: str, request: Request) -> Iterator[Table]:
    """Read the studies of an h5ad file: one with this name, or those that `study_key` tells apart."""
    return _tables(_cells_of_file(path, request.rep), study, label=request.label, study_key=request.study_key)


def tables_of_anndata(adata: Any, *, study_key: str, rep: str | None, label: Label) -> Iterator[Table]:
    """Take the studies of an AnnData, which `study_key` tells apart."""
    if not all(hasattr(adata, name) for name in ("obs", "obsm", "layers", "var_names")):
        advice = ": read files with Studies.read(*paths)" if isinstance(adata, str | PathLike) else ""
        raise DataError(f"from_anndata takes an AnnData, got {type(adata).__name__}{advice}.")
    for parameter, value in (("study_key", study_key), ("rep", rep)):
        if (value is not None or parameter == "study_key") and (not isinstance(value, str) or not value):
            raise ParameterError(f"{parameter} must be a name, got {value!r}.", parameter=parameter)
    return _tables(_cells(adata, "The AnnData", rep), "", label=label, study_key=study_key)


# ---------------------------------------------------------------------------------------------------------------------
# one table of an AnnData


def _cells_of_file(path: Path, rep: str | None) -> Cells:
    """Read one table of an h5ad file, and what obs says of its cells."""
    anndata = import_for(path, "an HDF5 file", "anndata", extra="anndata")
    h5py = importlib.import_module("h5py")
    try:
        with h5py.File(path, "r") as file:
            is_h5ad = "obs" in file and "var" in file
    except OSError as error:
        raise _damaged(path, error) from None
    if not is_h5ad:
        raise DataError(
            f"{path} is an HDF5 file but not h5ad, for it has no obs and var: save it as h5ad, or the table as CSV."
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of names that are not unique: refused below; of old formats
            adata = anndata.read_h5ad(path, backed="r")
    except Exception as error:
        raise DataError(
            f"{path} is an h5ad file that anndata can't read ({in_brief(error)}): update anndata, or {AGAIN}."
        ) from None
    try:
        return _cells(adata, str(path), rep)
    except OSError as error:
        raise _damaged(path, error) from None
    finally:
        adata.file.close()


def _damaged(path: Path, error: Exception) -> DataError:
    return DataError(f"{path} is an HDF5 file that is damaged ({in_brief(error)}): {AGAIN}.")


def _cells(adata: Any, source: str, rep: str | None) -> Cells:
    are_embedded = rep is not None and rep != "X" and rep in adata.obsm
    matrix, features = _embedding(adata, rep) if are_embedded else _measured(adata, rep)
    if matrix is None:
        known = [*(["X"] if _x(adata) is not None else []), *adata.obsm, *adata.layers]
        choices = f"; use as {option('rep')} one of {listing(known, 20)}" if known else ""
        raise DataError(f"{source} has no {rep or 'X'!r}{choices}.{nearest(rep or 'X', known)}")
    if len(matrix.shape) != 2:
        raise DataError(f"{source} has an array of {matrix.shape} as {rep!r}: a table of cells by features is needed.")
    matrix = _loaded(matrix, source)
    samples = [str(name) for name in adata.obs_names]
    for names, what, axis in ((features, "feature", "var"), (samples, "sample", "obs")):
        _check_unique_on_axis(names, what, axis, source)
    return Cells(
        source,
        matrix,
        features=None if not are_embedded and are_row_numbers(features) else features,
        samples=None if are_row_numbers(samples) else samples,
        obs=adata.obs,
        are_embedded=are_embedded,
    )


def _embedding(adata: Any, rep: str | None) -> tuple[Any, list[str]]:
    """Take an entry of obsm; its features are numbered where it is not a frame, which names them."""
    matrix = adata.obsm[rep]
    if isinstance(matrix, pd.DataFrame):
        return matrix.to_numpy(), [str(name) for name in matrix.columns]
    return matrix, [f"{rep}_{j}" for j in range(1, matrix.shape[1] + 1)] if len(matrix.shape) == 2 else []


def _measured(adata: Any, rep: str | None) -> tuple[Any, list[str]]:
    """Take X or a layer, None where there is none of that name; its features are those of var."""
    matrix = _x(adata) if rep is None or rep == "X" else adata.layers.get(rep)
    return matrix, [str(name) for name in adata.var_names]


def _x(adata: Any) -> Any:
    try:
        return adata.X
    except KeyError:  # a file without it
        return None


def _check_unique_on_axis(names: Sequence[str], what: str, axis: str, source: str) -> None:
    try:
        check_unique(names, what, source)
    except DataError as error:
        advice = wording(python=f" adata.{axis}_names_make_unique() gives it one.")
        raise DataError(f"{error.sentence}{advice}") from None


def _loaded(matrix: Any, source: str) -> Any:
    """Bring a table into memory: sparse with fast rows, or dense."""
    itemsize = 4 if matrix.dtype == np.float32 else 8
    if not isinstance(matrix, np.ndarray) and matrix.shape[0] * matrix.shape[1] * itemsize > DENSE_BYTES_AT_MOST:
        n_cells, n_features = matrix.shape
        raise DataError(
            f"{source} holds {n_cells:,} cells by {n_features:,} features, "
            f"{n_cells * n_features * itemsize / 1024**3:.1f} GB as a dense table: "
            f"use {argument('rep', 'X_pca')}, or keep fewer features."
        )
    if hasattr(matrix, "to_memory"):
        matrix = matrix.to_memory()
    return matrix.tocsr() if hasattr(matrix, "tocsr") else np.asarray(matrix)


# ---------------------------------------------------------------------------------------------------------------------
# studies of cells


def _tables(cells: Cells, name: str, *, label: Label, study_key: str | None) -> Iterator[Table]:
    """Take the cells as one study, or as one for each value of `study_key`, in the order of their first cells."""
    annotations = tuple(str(column) for column in cells.obs.columns)
    all_rows = np.arange(cells.matrix.shape[0])
    rows_of = {name: all_rows} if study_key is None else _rows_by_study(cells, study_key, annotations)
    for study, rows in rows_of.items():
        part = cells.matrix[rows]
        frame = pd.DataFrame(part.toarray() if hasattr(part, "toarray") else part)
        if cells.features is not None:
            frame.columns = pd.Index(cells.features, dtype=object)
        if cells.samples is not None:
            frame.index = pd.Index([cells.samples[i] for i in rows], dtype=object)
        labels = cells.obs[label].iloc[rows].to_numpy(dtype=object) if label and label in annotations else None
        yield Table(study, frame, labels, annotations, cells.are_embedded)


def _rows_by_study(cells: Cells, study_key: str, annotations: Sequence[str]) -> dict[str, IntArray]:
    if study_key not in annotations:
        choices = f"; there are {listing(annotations, 20)}" if annotations else ""
        raise DataError(
            f"{cells.source} has no column {study_key!r} in obs to tell the studies apart{choices}."
            f"{nearest(study_key, annotations)}"
        )
    column = cells.obs[study_key]
    n_missing = int(column.isna().sum())
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
