"""Numbers → the text that a reader sees."""

from __future__ import annotations

from typing import Any

import pytest

from clustrep.report import formatting


@pytest.mark.parametrize(
    ("value", "kind", "text", "raw"),
    [
        (None, "number", "–", ""),
        (None, "text", "–", ""),
        (0.005, "p", "0.005", "0.005"),
        (0.0004, "p", "< 0.001", "0.0004"),
        (0.71234, "number", "0.712", "0.71234"),
        (1, "number", "1.000", "1"),
        (-0.0, "number", "0.000", "-0.0"),
        (-0.25, "number", "-0.250", "-0.25"),
        (1234, "count", "1,234", "1234"),
        (0.5, "share", "50.0 %", "0.5"),
        (0, "share", "0.0 %", "0"),
        (True, "flag", "yes", "1"),
        (False, "flag", "no", "0"),
        ("k-means", "text", "k-means", None),
        ("unknown", "number", "unknown", None),
        ("not found", "sign", "✗ not found", None),
        ({"status": "found", "n": 1200, "share": 0.5, "replicability": None}, "entry", "✓ 1,200 (50.0 %)", "1200"),
        (4, "text", "4", None),
    ],
)
def test_values_are_written_by_kind(value: Any, kind: str, text: str, raw: str | None) -> None:
    assert formatting.cell(value, kind) == text
    assert formatting.sort_value(value, kind) == raw


def test_an_unknown_kind_of_column_is_an_error() -> None:
    with pytest.raises(KeyError, match="money"):
        formatting.cell(1.0, "money")
