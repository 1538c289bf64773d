"""Frames → tables of plain types: what each column is called, and what kind of value it holds."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from clustrep.report.page import page_file

Table = dict[str, Any]

MOST_COLUMNS = 8
# Left out of tables first, from left to right, until no more than eight columns are left; the CSV has all.
LEAST = (
    "digest",
    "agreement",
    "trivial",
    "failed",
    "sd",
    "median",
    "qvalue",
    "separateness",
    "null_separateness",
    "null_low",
    "null_high",
    "excess",
    "probability_best",
    "parent",
    "depth",
    "level",
    "n_resamples",
)


class Column(NamedTuple):
    """How a column is written: its kind (see `formatting`), its label and what it holds, for those who point at it.

    Of a column without a kind, floats are numbers and all else is text; without a label, its name is shown.
    """

    kind: str = ""
    label: str = ""
    explanation: str = ""


@cache
def known_columns() -> dict[str, Column]:
    """Read the list of columns; those that are named after a study or a cluster are not in it.

    One that means something else in a kind of table has another line, such as "features.of".
    """
    rows = csv.DictReader(page_file("columns.csv").splitlines())
    return {row.pop("column"): Column(**row) for row in rows}


def _known(table: str, column: str) -> Column:
    """Return how a column is written: as in this kind of table, where it has a line there, else as in all."""
    known = known_columns()
    return known.get(f"{table}.{column}") or known.get(column) or Column()


def table_of(frame: pd.DataFrame, name: str, title: str, columns: Sequence[str] = ()) -> Table:
    """Write a frame as a table of plain types: of `columns`, or of all, those that have values, eight at most."""
    kept = [column for column in columns or frame.columns if column in frame and not frame[column].isna().all()]
    for column in LEAST:
        if len(kept) > MOST_COLUMNS and column in kept:
            kept.remove(column)
    kept = kept[:MOST_COLUMNS]
    kind = name.partition("-")[0]
    known = {column: _known(kind, str(column)) for column in kept}
    return {
        "id": name,
        "title": title,
        "columns": [
            {
                "key": str(column),
                "label": known[column].label or str(column).replace("_", " "),
                "kind": known[column].kind or _kind(frame[column]),
                "title": known[column].explanation or str(column).replace("_", " "),
            }
            for column in kept
        ],
        "rows": [
            {str(column): plain_value(value) for column, value in zip(kept, row, strict=True)}
            for row in frame[kept].itertuples(index=False, name=None)
        ],
    }


def plain_value(value: Any) -> Any:
    """Turn a value of a frame into JSON's: six digits of a number, and None where it is missing.

    Examples
    --------
    >>> import numpy as np
    >>> [plain_value(value) for value in (np.nan, np.float64(1 / 3), np.int64(3), "ward")]
    [None, 0.333333, 3, 'ward']
    """
    if value is None or value is pd.NA:
        return None
    if isinstance(value, float | np.floating):
        return float(f"{value:.6g}") if np.isfinite(value) else None
    return value.item() if isinstance(value, np.generic) else value


def _kind(values: pd.Series) -> str:
    if pd.api.types.is_bool_dtype(values):
        return "flag"
    if pd.api.types.is_integer_dtype(values):
        return "count"
    return "number" if pd.api.types.is_float_dtype(values) else "text"
