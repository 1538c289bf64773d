"""The formats of files that hold studies, told apart by content: text, GEO series matrices, Parquet and h5ad."""

from __future__ import annotations

import importlib
import re
import warnings
from collections.abc import Iterator, Sequence
from numbers import Number
from os import PathLike
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from clustrep.checks import check_unique, text_sentence
from clustrep.errors import DataError, DataWarning, ParameterError, warn
from clustrep.sentences import argument, option, wording
from clustrep.studies.alignment import AS_THEY_ARE, Reading
from clustrep.studies.readers.delimited import (
    HDF5,
    PARQUET,
    UNNAMED,
    Table,
    are_row_numbers,
    as_labels,
    as_numbers,
    beginning,
    check_sample_names,
    is_names,
    read_table,
    read_text,
)
from clustrep.text import listing, nearest, plural
from clustrep.types import FloatArray, IntArray

Path: TypeAlias = str | PathLike[str]

Label: TypeAlias = str | Literal[False] | None

AGAIN = "copy or download it again"

DENSE_BYTES_AT_MOST = 2 * 1024**3

SERIES_MATRIX = re.compile(r"\s*!(series|sample)_", re.IGNORECASE)


def read_tables(
    paths: Sequence[Path],
    names: Sequence[str],
    *,
    label: Label,
    reading: Reading = AS_THEY_ARE,
    study_key: str | None = None,
    rep: str | None = None,
) -> Iterator[Table]:
    """Read the studies of all files, each after the other; an h5ad file may hold several."""
    beginnings = [beginning(path) for path in paths]
    for parameter, value in (("study_key", study_key), ("rep", rep)):
        if value is not None and (not isinstance(value, str) or not value):
            raise ParameterError(
                f"{parameter} must be a name{wording(python=' or None')}, got {value!r}.", parameter=parameter
            )
        if value is not None and not any(first.startswith(HDF5) for first in beginnings):
            raise ParameterError(
                f"{argument(parameter, value)} is for h5ad files, and there is none among these.", parameter=parameter
            )
    turned, header = reading.turned(names), reading.header
    source: dict[str, Path] = {}
    embeddings: list[Path] = []
    for path, name, first in zip(paths, names, beginnings, strict=True):
        tables: Iterator[Table] | list[Table]
        if first.startswith(HDF5):
            _check_for_text_only(path, name, names, "an h5ad file", "its rows are cells already", reading)
            cells = _read_h5ad(path, rep)
            embeddings += [path] if cells.are_embedded else []
            tables = _studies_of(cells, name, label=label, study_key=study_key)
        elif first.startswith(PARQUET):
            _check_for_text_only(path, name, names, "a Parquet file", "", reading)
            tables = [_read_parquet(path, name, label=label, transpose=name in turned)]
        else:
            text = read_text(path)
            if SERIES_MATRIX.match(text):
                its_rows = "its rows are made samples by themselves"
                _check_for_text_only(path, name, names, "a GEO series matrix", its_rows, reading)
                tables = [_read_series_matrix(text, path, name, label=label)]
            else:
                tables = [read_table(text, path, name, label=label, transpose=name in turned, header=header)]
        for table in tables:
            if table.name in source:
                raise DataError(
                    f"Every study needs a name of its own, but {table.name!r} is in {source[table.name]} and in "
                    f"{path}: rename it in one of them."
                )
            source[table.name] = path
            yield table
    if len(embeddings) > 1:
        warn(
            f"{rep!r} of {listing(embeddings, 3)} is taken as one space: that is right only if it was computed from "
            "all of them together.",
            DataWarning,
        )


def _check_for_text_only(
    path: Path, name: str, names: Sequence[str], kind: str, its_rows: str, reading: Reading
) -> None:
    if reading.header is not None:
        header = argument("header", reading.header)
        raise ParameterError(
            f"{header} is for delimited text, and {path} is {kind}: leave {header} out.", parameter="header"
        )
    if its_rows and name in reading.turned(names):
        others = [other for other in names if other != name]
        instead = f", or use {argument('transpose', others)}" if others and reading.transpose is True else ""
        raise ParameterError(
            f"{path} is {kind}, and {its_rows}: leave {reading.turning(name)} out{instead}.", parameter="transpose"
        )


def _needed(module: str, path: Path, kind: str, extra: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise DataError(
            f'{path} is {kind}: to read it, install {module} with pip install "clustrep[{extra}]".'
        ) from None


def _in_brief(error: Exception) -> str:
    """The first line of a library's error, without what ends a sentence."""
    words = (str(error).strip().splitlines() or [""])[0].rstrip(".")
    words = re.sub(r"^.*'<Buffer>': |: eof = [^)]*", "", words)  # names and numbers of its own
    return f"{type(error).__name__}: {words[:200]}" if words else type(error).__name__


# ---------------------------------------------------------------------------------------------------------------------
# GEO


def _read_series_matrix(text: str, path: Path, study: str, *, label: Label) -> Table:
    """Read the table of a GEO series matrix, features in rows, and the samples' characteristics."""
    lines = text.split("\n")
    marks = {line.strip().lower(): i for i, line in enumerate(lines) if line.lower().startswith("!series_matrix_table")}
    begin, end = marks.get("!series_matrix_table_begin"), marks.get("!series_matrix_table_end")
    if begin is None or end is None:
        raise DataError(
            f"{path} is a GEO series matrix that is cut off: it ends before its table does. Download it again."
        )
    table = [(i, lines[i]) for i in range(begin + 1, end) if lines[i].strip()]
    if len(table) < 2:
        raise DataError(
            f"{path} is a GEO series matrix without values: this series has them in a supplementary file, "
            "as sequencing studies do. Read that one."
        )
    samples = cells_of(table[0][1])[1:]
    features, rows = [], []
    for i, line in table[1:]:
        cells = line.split("\t")
        if len(cells) != len(samples) + 1:
            raise DataError(
                f"{path} has {len(samples) + 1} cells in the header of its table but {len(cells)} in line {i + 1}: "
                "download it again, or correct that line."
            )
        features.append(cells_of(cells[0])[0])
        rows.append(_numbers(cells[1:], study, samples, features[-1]))
    frame = pd.DataFrame(
        np.array(rows).T, index=pd.Index(samples, dtype=object), columns=pd.Index(features, dtype=object)
    )
    known = _characteristics(lines[:begin], samples)
    labels = None
    if label and label in known:
        several = [sample for sample in samples if len(known[label].get(sample, ())) > 1]
        if several:
            raise DataError(f"{path} has more than one {label!r} for {plural(len(several), 'sample')}: {several[0]!r}.")
        labels = as_labels([next(iter(known[label].get(sample, {"": None}))) for sample in samples])
    return Table(study, frame, labels, tuple(known))


def cells_of(line: str) -> list[str]:
    """Split a line at its tabs, without quotes."""
    return [cell.strip().strip('"').strip() for cell in line.split("\t")]


def _numbers(cells: list[str], study: str, samples: Sequence[str], feature: str) -> FloatArray:
    values = as_numbers(np.array(cells, dtype=object))
    if values.dtype == object:
        values = as_numbers(np.array([cell.strip().strip('"').strip() for cell in cells], dtype=object))
    if values.dtype == object:
        texts = [(value, samples[i], feature) for i, value in enumerate(values.tolist()) if isinstance(value, str)]
        raise DataError(text_sentence(texts, f"Study {study!r}"))
    return values


def _characteristics(lines: Sequence[str], samples: Sequence[str]) -> dict[str, dict[str, dict[str, None]]]:
    """What is said of the samples, such as "er status: positive": by its name, then by sample, each value once."""
    order = list(samples)
    known: dict[str, dict[str, dict[str, None]]] = {}
    for line in lines:
        mark, *cells = cells_of(line)
        if mark.lower() == "!sample_geo_accession":
            order = cells
        if mark.lower().startswith("!sample_characteristics_ch"):
            for sample, cell in zip(order, cells, strict=False):
                what, colon, value = cell.partition(":")
                if colon:
                    known.setdefault(what.strip(), {}).setdefault(sample, {})[value.strip()] = None
    return known


# ---------------------------------------------------------------------------------------------------------------------
# Parquet


def _read_parquet(path: Path, study: str, *, label: Label, transpose: bool) -> Table:
    """Read a Parquet table; its index, or a first column as in a text file, names the rows."""
    _needed("pyarrow", path, "a Parquet file", "parquet")
    try:
        with open(path, "rb") as stream:  # by its path, folders named like a=b would become columns
            frame = pd.read_parquet(stream, engine="pyarrow")
    except Exception as error:
        raise DataError(f"{path} is a damaged Parquet file ({_in_brief(error)}): {AGAIN}.") from None
    _check_flat(frame, path)
    names: list[Any] | None = None
    column = str(frame.index.name or "")
    if frame.index.name is not None and frame.index.name == label:
        frame = frame.reset_index()
    elif frame.index.name is not None or not isinstance(frame.index, pd.RangeIndex):
        names = frame.index.tolist()
    elif frame.shape[1] > 1 and frame.columns[0] != label and _names_rows(frame, transpose):
        names, column = frame.iloc[:, 0].astype(object).tolist(), str(frame.columns[0])
        if frame.columns[0] in UNNAMED and not transpose and are_row_numbers([str(name) for name in names]):
            names = None
        frame = frame.iloc[:, 1:]
    if names is not None and not transpose and not pd.isna(pd.Series(names, dtype=object)).any():
        check_sample_names([str(name) for name in names], study, column)
    columns: list[Any] = frame.columns.tolist()
    numbered = columns == list(range(len(columns)))
    frame = frame.set_axis(pd.RangeIndex(len(frame)) if names is None else pd.Index(names, dtype=object), axis=0)
    frame = frame.set_axis(pd.RangeIndex(len(columns)) if numbered else pd.Index(columns, dtype=object), axis=1)
    if transpose:
        frame = frame.T
    return _label_aside(frame, study, label)


def _check_flat(frame: pd.DataFrame, path: Path) -> None:
    if isinstance(frame.index, pd.MultiIndex):
        raise DataError(
            f"{path} has an index of {frame.index.nlevels} levels: keep the one that names the samples, "
            "and write it again."
        )
    for name, column in frame.items():
        if column.dtype.kind == "O" and any(isinstance(value, np.ndarray | list | dict) for value in column):
            raise DataError(f"{path} has lists in its column {name!r}: give every feature a column of its own.")


def _names_rows(frame: pd.DataFrame, transpose: bool) -> bool:
    """Whether the first column names the rows: it holds text, or its name says so; of a turned table, also numbers."""
    values = frame.iloc[:, 0].dropna().astype(object).tolist()
    if not all(isinstance(value, Number) for value in values):
        return True
    if transpose and len(set(values)) == len(frame) and all(type(value) is int for value in values):
        return True
    return is_names([str(float(value)) for value in values], str(frame.columns[0]), True, False)


def _label_aside(frame: pd.DataFrame, study: str, label: Label) -> Table:
    unnamed = isinstance(frame.columns, pd.RangeIndex)
    known = [str(name) for name in (range(1, frame.shape[1] + 1) if unnamed else frame.columns)]
    if not label or label not in known:
        return Table(study, frame, None)
    check_unique([name for name in known if name == label], "feature", f"Study {study!r}")
    place = known.index(label)
    labels = frame.iloc[:, place].to_numpy(dtype=object)
    frame = frame.iloc[:, [j for j in range(len(known)) if j != place]]
    return Table(study, frame.set_axis(range(len(known) - 1), axis=1) if unnamed else frame, labels)


# ---------------------------------------------------------------------------------------------------------------------
# AnnData


class Cells(NamedTuple):
    """One table of an AnnData: names that it does not have are None."""

    source: str
    matrix: Any  # (n_cells, n_features), dense or sparse
    features: list[str] | None
    samples: list[str] | None
    obs: pd.DataFrame
    are_embedded: bool


def tables_of_anndata(adata: Any, *, study_key: str, rep: str | None, label: Label) -> Iterator[Table]:
    """Take the studies of an AnnData, which `study_key` tells apart."""
    if not all(hasattr(adata, name) for name in ("obs", "obsm", "layers", "var_names")):
        advice = ": read files with Studies.read(*paths)" if isinstance(adata, str | PathLike) else ""
        raise DataError(f"from_anndata takes an AnnData, got {type(adata).__name__}{advice}.")
    for parameter, value in (("study_key", study_key), ("rep", rep)):
        if (value is not None or parameter == "study_key") and (not isinstance(value, str) or not value):
            raise ParameterError(f"{parameter} must be a name, got {value!r}.", parameter=parameter)
    yield from _studies_of(_cells(adata, "The AnnData", rep), "", label=label, study_key=study_key)


def _read_h5ad(path: Path, rep: str | None) -> Cells:
    """Read one table of an h5ad file, and what is said of its cells."""
    anndata = _needed("anndata", path, "an HDF5 file", "anndata")
    h5py = importlib.import_module("h5py")
    try:
        with h5py.File(path, "r") as file:
            is_h5ad = "obs" in file and "var" in file
    except OSError as error:
        raise DataError(f"{path} is an HDF5 file that is damaged ({_in_brief(error)}): {AGAIN}.") from None
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
            f"{path} is an h5ad file that anndata can't read ({_in_brief(error)}): update anndata, or {AGAIN}."
        ) from None
    try:
        return _cells(adata, str(path), rep)
    except OSError as error:
        raise DataError(f"{path} is an HDF5 file that is damaged ({_in_brief(error)}): {AGAIN}.") from None
    finally:
        adata.file.close()


def _cells(adata: Any, source: str, rep: str | None) -> Cells:
    features: list[str] | None
    are_embedded = rep is not None and rep != "X" and rep in adata.obsm
    if are_embedded:
        matrix = adata.obsm[rep]
        if isinstance(matrix, pd.DataFrame):
            features, matrix = [str(name) for name in matrix.columns], matrix.to_numpy()
        else:
            features = [f"{rep}_{j}" for j in range(1, matrix.shape[1] + 1)] if len(matrix.shape) == 2 else None
    else:
        matrix = _x(adata) if rep is None or rep == "X" else adata.layers.get(rep)
        features = [str(name) for name in adata.var_names]
    if matrix is None:
        there = [*(["X"] if _x(adata) is not None else []), *adata.obsm, *adata.layers]
        listed = f"; use as {option('rep')} one of {listing(there, 20)}" if there else ""
        raise DataError(f"{source} has no {rep or 'X'!r}{listed}.{nearest(rep or 'X', there)}")
    if len(matrix.shape) != 2:
        raise DataError(f"{source} has an array of {matrix.shape} as {rep!r}: a table of cells by features is needed.")
    matrix = _loaded(matrix, source)
    samples = [str(name) for name in adata.obs_names]
    for names, what, axis in ((features or [], "feature", "var"), (samples, "sample", "obs")):
        _check_unique_on_axis(names, what, axis, source)
    if not are_embedded and are_row_numbers(features or []):
        features = None
    return Cells(source, matrix, features, None if are_row_numbers(samples) else samples, adata.obs, are_embedded)


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


def _studies_of(cells: Cells, name: str, *, label: Label, study_key: str | None) -> Iterator[Table]:
    """Take the cells as one study, or as one for every value of `study_key`, in the order in which they come."""
    known = tuple(str(column) for column in cells.obs.columns)
    everyone = np.arange(cells.matrix.shape[0])
    groups = {name: everyone} if study_key is None else _groups(cells, study_key, known)
    for study, rows in groups.items():
        part = cells.matrix[rows]
        frame = pd.DataFrame(part.toarray() if hasattr(part, "toarray") else part)
        if cells.features is not None:
            frame.columns = pd.Index(cells.features, dtype=object)
        if cells.samples is not None:
            frame.index = pd.Index([cells.samples[i] for i in rows], dtype=object)
        labels = cells.obs[label].iloc[rows].to_numpy(dtype=object) if label and label in known else None
        yield Table(study, frame, labels, known)


def _groups(cells: Cells, study_key: str, known: Sequence[str]) -> dict[str, IntArray]:
    if study_key not in known:
        listed = f"; there are {listing(known, 20)}" if known else ""
        raise DataError(
            f"{cells.source} has no column {study_key!r} in obs to tell the studies apart{listed}."
            f"{nearest(study_key, known)}"
        )
    column = cells.obs[study_key]
    missing = int(column.isna().sum())
    if missing:
        raise DataError(
            f"{cells.source} has {plural(missing, 'cell')} without a study: {study_key!r} is missing there. "
            "Leave those cells out, or give them a study."
        )
    blank = sum(not str(value).strip() for value in column)
    if blank:
        raise DataError(
            f"{cells.source} has {plural(blank, 'cell')} whose study has no name: {study_key!r} is blank there. "
            "Leave those cells out, or give them a study."
        )
    codes, values = pd.factorize(np.array([str(value) for value in column], dtype=object))
    return {str(value): np.flatnonzero(codes == code) for code, value in enumerate(values)}
