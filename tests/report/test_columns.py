"""Frames become tables of plain types; numbers become the text that a reader sees."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from clustrep.report import formatting
from clustrep.report.columns import LEAST, MOST_COLUMNS, table_of


def test_columns_have_labels_and_kinds():
    frame = pd.DataFrame(
        {
            "study": ["a", "b"],
            "k": pd.array([2, None], dtype="Int64"),
            "null_mean": [0.25, np.nan],
            "pvalue": [0.05, 1.0],
            "rival": [True, False],
            "low": [np.nan, np.nan],
        }
    )
    table = table_of(frame, "t", "Title")
    assert [(column["key"], column["label"], column["kind"]) for column in table["columns"]] == [
        ("study", "study", "text"),
        ("k", "k", "count"),
        ("null_mean", "null mean", "number"),
        ("pvalue", "p", "p"),
        ("rival", "rival", "flag"),
    ]  # what has no values is left out
    assert table["rows"][1] == {"study": "b", "k": None, "null_mean": None, "pvalue": 1.0, "rival": False}
    json.dumps(table, allow_nan=False)


def test_what_matters_least_is_left_out_of_wide_tables():
    names = ["train", "test", *LEAST[:4], "estimate", "mean", "low", "high"]
    table = table_of(pd.DataFrame({name: [1.0] for name in names}), "t", "T")
    assert len(table["columns"]) == MOST_COLUMNS
    assert not {column["key"] for column in table["columns"]} & set(LEAST[:2])
    chosen = table_of(pd.DataFrame({name: [1.0] for name in names}), "t", "T", ["high", "nothing", "low"])
    assert [column["key"] for column in chosen["columns"]] == ["high", "low"]


@pytest.mark.parametrize(
    ("value", "kind", "text", "raw"),
    [
        (None, "number", "–", ""),
        (0.005, "p", "0.005", "0.005"),
        (0.0004, "p", "< 0.001", "0.0004"),
        (0.71234, "number", "0.71", "0.71234"),
        (-0.0, "number", "0.00", "-0.0"),
        (-0.25, "number", "-0.25", "-0.25"),
        (1234, "count", "1,234", "1234"),
        (0.5, "share", "50 %", "0.5"),
        (0.001, "share", "< 1 %", "0.001"),
        (True, "flag", "yes", "1"),
        ("k-means", "text", "k-means", None),
        ("unknown", "number", "unknown", None),
        ("not found", "sign", "✗ not found", None),
    ],
)
def test_values_are_written_by_kind(value, kind, text, raw):
    assert formatting.cell(value, kind) == text
    assert formatting.sort_value(value) == raw


def test_an_unknown_kind_of_column_is_an_error():
    with pytest.raises(KeyError, match="money"):
        formatting.cell(1.0, "money")
