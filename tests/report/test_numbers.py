"""A number that is shown twice is the same number: on the page, in CSV, JSON, Markdown and in the terminal."""

from __future__ import annotations

import base64
import io
import json
import re
from html.parser import HTMLParser

import pandas as pd
import pytest
from tests.report.test_facts import tables

import clustrep as cr
from clustrep.findings.result import SIGNS
from clustrep.report.formatting import amount, cell
from clustrep.report.render import md


class Cells(HTMLParser):
    """The cells of every table of a page, the numbers of every card, and the addresses of the CSV files."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[tuple[str | None, str]]]] = {}
        self.shares: list[tuple[float, float, str]] = []
        self.csv: dict[str, str] = {}
        self._table: str | None = None
        self._cell: list[str] | None = None
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        about = dict(attrs)
        if tag == "table":
            self._table = about.get("id")
            self.tables.setdefault(self._table, [])
        if tag == "tr" and self._table:
            self.tables[self._table].append([])
        if tag == "td" and self._table:
            self._cell = []
            self._raw = about.get("data-value")
        if "data-share" in about:
            self._share = (float(about["data-n"]), float(about["data-share"]))
            self._cell = []
        if tag == "a" and "download" in about:
            self.csv[about["download"].removesuffix(".csv")] = about["href"].partition(",")[2]

    def handle_data(self, data):
        if self._cell is not None:
            self._cell.append(data)

    def handle_endtag(self, tag):
        if tag == "td" and self._table and self._cell is not None:
            text = re.sub("^[●■▲◆▼✚✖] ", "", "".join(self._cell).strip())
            self.tables[self._table][-1].append((self._raw, text))
            self._cell = None
        if tag == "span" and self._cell is not None and hasattr(self, "_share"):
            self.shares.append((*self._share, "".join(self._cell)))
            self._cell = None
            del self._share
        if tag == "table":
            self._table = None


@pytest.fixture(scope="module", params=["separated", "unimodal"])
def told(request, analysis, unimodal):
    made = cr.Report(analysis if request.param == "separated" else unimodal)
    return made, Cells(made.to_html()), json.loads(made.to_json()), made.to_markdown(), repr(made)


def test_tables_are_the_same_on_the_page_in_json_and_in_markdown(told):
    report, page, facts, markdown, _ = told
    for name, table in tables(report).items():
        shown = [row for row in page.tables[name] if row]
        assert len(shown) == len(table["rows"])
        for cells, row in zip(shown, table["rows"], strict=True):
            texts = [cell(row[column["key"]], column["kind"]) for column in table["columns"]]
            assert [text for _, text in cells] == texts
            values = [row[column["key"]] for column in table["columns"]]
            for (raw, _), value in zip(cells, values, strict=True):
                if isinstance(value, float):
                    assert float(raw) == value
            assert f"| {' | '.join(map(md, texts))} |" in markdown
    in_json = {figure["id"]: figure["table"] for section in facts["sections"] for figure in section["figures"]}
    assert in_json == {
        figure["id"]: figure["table"] for section in report.facts["sections"] for figure in section["figures"]
    }


def test_csv_files_have_the_numbers_of_their_tables(told):
    _, page, facts, *_ = told
    figures = [figure for section in facts["sections"] for figure in section["figures"]]
    assert {figure["id"] for figure in figures} == set(page.csv)
    for figure in figures:
        if figure["table"] is None:
            continue
        frame = pd.read_csv(io.BytesIO(base64.b64decode(page.csv[figure["id"]])))
        for i, row in enumerate(figure["table"]["rows"]):
            for key, value in row.items():
                if isinstance(value, float):
                    assert frame[key][i] == pytest.approx(value, rel=1e-5)


def test_cards_the_terminal_and_markdown_have_the_entries_of_the_answer(told):
    _, page, facts, markdown, terminal = told
    table = facts["answer"]["table"] if facts["clusters"] else []
    assert [(n, share) for n, share, _ in page.shares] == [(row["n"], row["share"]) for row in table]
    for row, (*_, text) in zip(table, page.shares, strict=True):
        assert text == amount(row)
    for letter in {row["cluster"] for row in table}:
        cells = [f"{SIGNS[row['status']]} {amount(row)}" for row in table if row["cluster"] == letter]
        assert re.search("  +".join([f"^{letter}", *map(re.escape, cells)]), terminal, re.M)
        assert f"| {letter} | {' | '.join(cells)} |" in markdown


def test_every_sentence_is_on_the_page_in_markdown_and_in_the_terminal(told):
    report, _, facts, markdown, terminal = told
    page = report.to_html().replace("&lt;", "<").replace("&gt;", ">").replace("&#39;", "'").replace("&amp;", "&")
    for item in facts["verdict"]:
        assert item["text"] in page
        assert md(item["text"]) in markdown
        assert item["text"] in terminal


def test_scores_in_sentences_are_those_of_the_tables(told):
    _, _, facts, *_ = told
    focus = facts["answer"]["focus"]
    (said,) = [item["text"] for item in facts["verdict"] if item["kind"] == "sure"]
    assert f"{focus['mean']:.2f}, 95 % interval {focus['low']:.2f} to {focus['high']:.2f}" in said
    (curves,) = [
        figure["table"] for section in facts["sections"] for figure in section["figures"] if figure["id"] == "curves"
    ]
    (row,) = [row for row in curves["rows"] if (row["clusterer"], row["k"]) == (focus["clusterer"], focus["k"])]
    assert (row["mean"], row["low"], row["high"]) == (focus["mean"], focus["low"], focus["high"])
