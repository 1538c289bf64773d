"""Frames → tables of plain types: what each column is called, and what kind of value it holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from clustrep.figures.charts import numbers

Table = dict[str, Any]

# How values are written: see `formatting`. Floats that are not named here are numbers, all else is text.
KIND_OF_COLUMN = {
    "verdict": "text",
    "counterpart": "text",
    "k": "count",
    "size": "count",
    "samples": "count",
    "features": "count",
    "failed": "count",
    "pvalue": "p",
    "qvalue": "p",
    "adjusted": "p",
    "probability_best": "share",
    "found": "share",
    "trivial": "share",
    "rival": "flag",
    "apart": "flag",
}
LABELS = {
    "pvalue": "p",
    "qvalue": "q",
    "adjusted": "adjusted p",
    "null_mean": "without clusters",
    "null_low": "without clusters, low",
    "null_high": "without clusters, high",
    "estimate": "R̂",
    "observed": "R̂",
}
# Columns of tables that have more than a page needs.
CHOICE = (
    "clusterer",
    "k",
    "agreement",
    "mean",
    "low",
    "high",
    "observed",
    "null_mean",
    "excess",
    "pvalue",
    "adjusted",
    "probability_best",
    "rival",
    "trivial",
    "failed",
)
CLUSTERS = (
    "train",
    "cluster",
    "size",
    "test",
    "verdict",
    "estimate",
    "null_mean",
    "pvalue",
    "qvalue",
    "mean",
    "low",
    "high",
)


def table_of(frame: pd.DataFrame, name: str, title: str, columns: Sequence[str] | None = None) -> Table:
    """Write a frame as a table of plain types; of `columns`, those that it has."""
    kept = [column for column in columns or frame.columns if column in frame]
    return {
        "id": name,
        "title": title,
        "columns": [
            {"key": column, "label": LABELS.get(column, column.replace("_", " ")), "kind": _kind(column, frame[column])}
            for column in kept
        ],
        "rows": [
            {column: plain_value(value) for column, value in zip(kept, row, strict=True)}
            for row in frame[kept].itertuples(index=False, name=None)
        ],
    }


def without_zero_counts(table: pd.DataFrame) -> pd.DataFrame:
    """Leave out the counts of trivial and failed scores where there are none."""
    return table.drop(columns=[name for name in ("trivial", "failed") if name in table and not table[name].any()])


def plain_value(value: Any) -> Any:
    """Turn a value of a frame into JSON's: None where it is missing.

    Examples
    --------
    >>> import numpy as np
    >>> [plain_value(value) for value in (np.nan, np.float64(0.25), np.int64(3), "ward")]
    [None, 0.25, 3, 'ward']
    """
    if value is None or value is pd.NA or (isinstance(value, float) and np.isnan(value)):
        return None
    return numbers(value)


def _kind(column: str, values: pd.Series) -> str:
    if column in KIND_OF_COLUMN:
        return KIND_OF_COLUMN[column]
    return "number" if pd.api.types.is_float_dtype(values) else "text"
