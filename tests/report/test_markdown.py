"""Facts → Markdown."""

from __future__ import annotations

import re

import pytest

from clustrep.report import render


def test_markdown_tables_keep_their_shape(report):
    columns = [{"key": "a", "label": "A|B", "kind": "text", "title": ""}, {"key": "p", "label": "p", "kind": "p"}]
    table = {
        "id": "t",
        "title": "A|B",
        "columns": columns,
        "rows": [{"a": "x|y", "p": 0.0001}, {"a": "\\|", "p": None}],
    }
    section = {"id": "s", "title": "S", "text": [], "figures": [], "tables": [table]}
    lines = render.to_markdown({**report.facts, "sections": [section]}).splitlines()
    start = lines.index("| A\\|B | p |")
    assert lines[start + 1 : start + 4] == ["| --- | ---: |", "| x\\|y | < 0.001 |", "| \\\\\\| | – |"]
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
def test_markdown_text_is_read_as_it_stands(text, written):
    assert render.md(text) == written


def test_markdown_has_every_section_and_describes_every_figure(report):
    text = report.to_markdown()
    for section in report.facts["sections"]:
        assert f"## {section['title']}\n" in text
        for figure in section["figures"]:
            assert f"**{figure['title']}.**" in text
