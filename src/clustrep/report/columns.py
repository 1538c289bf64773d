"""Frames → tables of plain types: what each column is called, and what kind of value it holds."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from clustrep.plots.charts import numbers

Table = dict[str, Any]

MOST_COLUMNS = 6  # that a page shows before more are asked for
# Columns of tables that have more than a page needs; the first six are shown, the others on demand.
CHOICE = (
    "clusterer",
    "k",
    "clusters_found",
    "mean",
    "low",
    "high",
    "adjusted",
    "observed",
    "null_mean",
    "excess",
    "separateness",
    "null_separateness",
    "pvalue",
    "probability_best",
    "rival",
    "trivial",
    "failed",
)
EMBEDDED = ("clusterer", "k", "clusters_found", "agreement", "space", "score", "low", "high", "failed")
PAIRS = ("train", "test", "estimate", "mean", "low", "high", "sd", "trivial", "failed")
CLUSTERS = ("train", "cluster", "test", "estimate", "mean", "size", "low", "high", "null_mean", "pvalue", "qvalue")
FINDINGS = (
    "cluster",
    "study",
    "status",
    "n",
    "share",
    "replicability",
    "low",
    "high",
    "valley_depth",
    "valley_p",
    "shift",
)
STUDIES = ("study", "own_clusters", "shift", "scale", "mixing", "outlier", "n", "clusters", "own_pvalue")
TREE = ("cluster", "size", "outcome", "adjusted", "study", "status", "count", "share", "level", "clusterer", "k")
VALLEYS = (
    "k",
    "a",
    "b",
    "depth",
    "adjusted",
    "apart",
    "left",
    "middle",
    "right",
    "side",
    "low",
    "high",
    "pvalue",
    "pvalue_k",
    "adjusted_k",
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
    """Read the list of columns; those that are named after a study or a cluster are not in it."""
    text = resources.files("clustrep.report").joinpath("page", "columns.csv").read_text("utf-8")
    return {row.pop("column"): Column(**row) for row in csv.DictReader(text.splitlines())}


def table_of(
    frame: pd.DataFrame,
    name: str,
    title: str,
    columns: Sequence[str] | None = None,
    *,
    explanations: Mapping[str, str] | None = None,
    note: str = "",
    most: int = MOST_COLUMNS,
) -> Table:
    """Write a frame as a table of plain types; of `columns`, those that it has.

    Columns after the first `most` are shown on demand ("more"). `explanations` are for columns of this table alone;
    `note` stands below it.
    """
    kept = [column for column in columns or frame.columns if column in frame]
    known = {column: known_columns().get(column, Column()) for column in kept}
    meaning = {column: about.explanation for column, about in known.items()} | dict(explanations or {})
    return {
        "id": name,
        "title": title,
        "note": note,
        "columns": [
            {
                "key": column,
                "label": known[column].label or column.replace("_", " "),
                "kind": known[column].kind or _kind(frame[column]),
                "title": meaning[column] or column.replace("_", " "),
                "more": place >= most,
            }
            for place, column in enumerate(kept)
        ],
        "rows": [
            {column: plain_value(value) for column, value in zip(kept, row, strict=True)}
            for row in frame[kept].itertuples(index=False, name=None)
        ],
    }


def without_zero_counts(table: pd.DataFrame) -> pd.DataFrame:
    """Leave out the counts of single-cluster and failed scores where there are none."""
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


def _kind(values: pd.Series) -> str:
    return "number" if pd.api.types.is_float_dtype(values) else "text"
