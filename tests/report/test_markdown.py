"""Facts → Markdown."""

from __future__ import annotations

import re
from typing import Any

import pytest
from tests.report.sample_page import _table, sample_facts

from clustrep.report import render


@pytest.fixture(scope="module")
def facts() -> dict[str, Any]:
    return sample_facts()


def test_markdown_tables_keep_their_shape(facts: dict[str, Any]) -> None:
    table = _table("t", "A|B", {"a": ("A|B", "text"), "p": ("p", "p")}, [["x|y\nz", 0.0001], ["\\|", None]])
    section = {"id": "s", "title": "S", "text": [], "charts": [], "tables": [table]}
    lines = render.to_markdown({**facts, "sections": [section]}).splitlines()
    start = lines.index("| A\\|B | p |")
    assert lines[start + 1 : start + 4] == ["| --- | ---: |", "| x\\|y<br>z | < 0.001 |", "| \\\\\\| | – |"]
    assert all(len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) == 3 for line in lines[start : start + 4])


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("<script>alert(1)</script>", "&lt;script>alert(1)&lt;/script>"),
        ("p < 0.05 in R&D, n_resamples", "p < 0.05 in R&D, n_resamples"),
        ("&lt;", "&amp;lt;"),
        ("*a* _b_ `c` [d](e)", "\\*a\\* \\_b\\_ \\`c\\` \\[d\\](e)"),
        ("# not a heading\n# nor this", "\\# not a heading # nor this"),
        ("- item", "\\- item"),
        ("2. item", "2\\. item"),
        ("---", "\\---"),
    ],
)
def test_markdown_text_is_read_as_it_stands(text: str, written: str) -> None:
    assert render.escape(text) == written


def test_markdown_has_everything(facts: dict[str, Any]) -> None:
    text = render.to_markdown(facts)
    assert text.startswith("# Breast cancer subtypes in four cohorts\n\n")
    assert "*Figure.* **Study by study.** Agreement of each training study with each test study." in text
    assert "| seed | 20231 |" in text
    assert "<script" not in text
    for heading in ("How many clusters", "Methods", "Warnings", "How this was computed"):
        assert f"## {heading}\n" in text
