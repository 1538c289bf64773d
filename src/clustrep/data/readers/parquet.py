"""Parquet files, through pyarrow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Number
from typing import Any

import numpy as np
import pandas as pd

from clustrep.checks import check_unique
from clustrep.data.readers.source import AGAIN, PARQUET_MAGIC, import_for, in_brief
from clustrep.data.readers.table import (
    UNNAMED,
    Path,
    Reader,
    Request,
    Table,
    are_row_numbers,
    by_study,
    check_no_measurements,
    check_sample_names,
    names_rows,
)
from clustrep.data.study import Label
from clustrep.errors import DataError


def read_parquet(path: Path, study: str, request: Request) -> Iterable[Table]:
    """Read a Parquet table; its index, or a first column as in a text file, names the rows."""
    transpose = request.transposes(study)
    frame, row_names, names_column = _row_names(_flat_frame(path), study, request.aside, transpose)
    if row_names is not None and not transpose and not pd.isna(pd.Series(row_names, dtype=object)).any():
        check_sample_names([str(name) for name in row_names], study, names_column)
    columns: list[Any] = frame.columns.tolist()
    are_numbered = columns == list(range(len(columns)))
    rows = pd.RangeIndex(len(frame)) if row_names is None else pd.Index(row_names, dtype=object)
    frame = frame.set_axis(rows, axis=0)
    frame = frame.set_axis(pd.RangeIndex(len(columns)) if are_numbered else pd.Index(columns, dtype=object), axis=1)
    table = with_label_aside(frame.T if transpose else frame, study, request.label)
    return by_study(table, request, str(path))


def _flat_frame(path: Path) -> pd.DataFrame:
    """Read a table that has one level of names on either axis and one value in each cell."""
    import_for(path, "a Parquet file", "pyarrow", extra="parquet")
    try:
        with open(path, "rb") as stream:  # by its path, folders named like a=b would become columns
            frame = pd.read_parquet(stream, engine="pyarrow")
    except Exception as error:
        raise DataError(f"{path} is a damaged Parquet file ({in_brief(error)}): {AGAIN}.") from None
    if isinstance(frame.index, pd.MultiIndex):
        raise DataError(
            f"{path} has an index of {frame.index.nlevels} levels: keep the one that names the samples, "
            "and write it again."
        )
    for name, column in frame.items():
        if column.dtype.kind == "O" and any(isinstance(value, np.ndarray | list | dict) for value in column):
            raise DataError(f"{path} has lists in its column {name!r}: give every feature one column.")
    return frame


def _row_names(
    frame: pd.DataFrame, study: str, aside: Sequence[object], transpose: bool
) -> tuple[pd.DataFrame, list[Any] | None, str]:
    """Separate the names of the rows, None without any, from the values; also return the name of their column."""
    index = frame.index
    if index.name is not None and index.name in aside:
        return frame.reset_index(), None, ""
    if index.name is not None or not isinstance(index, pd.RangeIndex):
        return frame, index.tolist(), str(index.name or "")
    column = frame.columns[0] if frame.shape[1] > 1 else None
    if column is None or column in aside:
        return frame, None, ""
    # A first column of text names the rows, and one named like samples; of a transposed table, also integers.
    names: list[Any] = frame.iloc[:, 0].astype(object).tolist()
    known = [value for value in names if not pd.isna(value)]
    are_numbers = all(isinstance(value, Number) for value in known)
    are_ids = transpose and len(set(known)) == len(frame) and all(type(value) is int for value in known)
    if are_numbers and not are_ids:
        written = [str(float(value)) for value in known]
        if not names_rows(written, str(column), header=True, transpose=False):
            return frame, None, ""
    texts = [str(name) for name in names]
    if not transpose:
        check_no_measurements(texts, str(column), study)
    is_unnamed = column in UNNAMED and not transpose and are_row_numbers(texts)
    return frame.iloc[:, 1:], None if is_unnamed else names, str(column)


def with_label_aside(frame: pd.DataFrame, study: str, label: Label) -> Table:
    """Separate the column that `label` names, if there is one, from the features."""
    are_numbered = isinstance(frame.columns, pd.RangeIndex)
    columns = [str(name) for name in (range(1, frame.shape[1] + 1) if are_numbered else frame.columns)]
    if not label or label not in columns:
        return Table(study, frame, None)
    check_unique([name for name in columns if name == label], "feature", f"Study {study!r}")
    place = columns.index(label)
    labels = frame.iloc[:, place].to_numpy(dtype=object)
    frame = frame.iloc[:, [j for j in range(len(columns)) if j != place]]
    return Table(study, frame.set_axis(range(len(columns) - 1), axis=1) if are_numbered else frame, labels)


PARQUET = Reader(
    kind="a Parquet file",
    files="Parquet files",
    sniff=lambda beginning: beginning.raw.startswith(PARQUET_MAGIC),
    read=read_parquet,
    takes=frozenset(["study_key"]),
)
