"""Frames become tables of plain types."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd

from clustrep.report.columns import table_of, without_zero_counts
from clustrep.report.formatting import KINDS


def test_columns_have_labels_and_kinds():
    frame = pd.DataFrame(
        {
            "study": ["a", "b"],
            "k": pd.array([2, None], dtype="Int64"),
            "null_mean": [0.25, np.nan],
            "pvalue": [0.05, 1.0],
            "rival": [True, False],
        }
    )
    table = table_of(frame, "t", "Title")
    assert [(column["key"], column["label"], column["kind"]) for column in table["columns"]] == [
        ("study", "study", "text"),
        ("k", "k", "count"),
        ("null_mean", "null mean", "number"),
        ("pvalue", "p", "p"),
        ("rival", "rival", "flag"),
    ]
    assert table["rows"][1] == {"study": "b", "k": None, "null_mean": None, "pvalue": 1.0, "rival": False}
    json.dumps(table, allow_nan=False)
    assert {column["kind"] for column in table["columns"]} <= {"text", *KINDS}


def test_columns_that_a_frame_lacks_are_left_out():
    frame = pd.DataFrame({"mean": [0.5], "low": [0.4]})
    assert [column["key"] for column in table_of(frame, "t", "T", ["high", "low", "mean"])["columns"]] == [
        "low",
        "mean",
    ]


def test_counts_of_nothing_are_left_out():
    frame = pd.DataFrame({"mean": [0.5, 0.6], "trivial": [0.0, 0.0], "failed": [0, 1]})
    assert without_zero_counts(frame).columns.tolist() == ["mean", "failed"]
