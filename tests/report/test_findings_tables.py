"""Findings on the page: every table and sentence is a view of them."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pandas as pd
import pytest
from tests.plots.samples import findings_of
from tests.report.samples import sections

import clustrep as cr
from clustrep.findings.result import SIGNS
from clustrep.report.columns import known_columns, plain_value
from clustrep.report.formatting import amount, cell, score
from clustrep.report.material import ENTRY, IN_STUDY, entries_of, overview_of, studies_of, text_of


@pytest.fixture
def findings():
    status = [["found", "found", "merged"], ["found", "not found", "undetermined"]]
    return findings_of(status, [[10, 30, 5], [20, 0, 0]], ["a", "cluster", "c"])


def plain(frame: pd.DataFrame) -> list[dict]:
    return [{name: plain_value(value) for name, value in row.items()} for row in frame.to_dict("records")]


def test_the_pages_table_is_that_of_the_findings(analysis, report):
    table = plain(analysis.findings.table())
    tables = {item["id"]: item for section in report.facts["sections"] for item in section["tables"]}
    shown = tables["findings-table"]["rows"]
    assert shown == [{name: row[name] for name in shown[0]} for row in table]
    cells = {
        (row["cluster"], key.removeprefix(IN_STUDY)): value
        for row in report.facts["overview"]["rows"]
        for key, value in row.items()
        if key != "cluster"
    }
    assert cells == {(row["cluster"], row["study"]): {name: row[name] for name in ENTRY} for row in table}
    assert report.facts["answer"]["table"] == table
    assert report.facts["answer"]["clusters"] == plain(analysis.findings.clusters())
    assert report.facts["answer"]["studies"] == plain(analysis.findings.studies())


def test_every_form_of_the_page_has_the_same_cells(analysis, report):
    text = re.sub(r"<[^>]*>", "", report.to_html())
    for row in plain(analysis.findings.table()):
        sign = SIGNS[row["status"]]
        assert f"{sign}{row['status']} {amount(row)}{score(row)}" in text
        assert f"{sign} {amount(row)}<br>{score(row).replace('[', chr(92) + '[').replace(']', chr(92) + ']')}" in (
            report.to_markdown()
        )
        assert f"{sign} {amount(row)}" in repr(report)


def test_sentences_are_those_of_the_headline(analysis, report):
    said = [item.text for item in analysis.headline]
    shown = [item["text"] for item in report.facts["verdict"]]
    assert [text for text in shown if text in said] == said
    assert shown[0] == said[0] == repr(analysis).splitlines()[1] == repr(report).splitlines()[0]


def test_cells_are_read_with_and_without_signs(findings):
    table = overview_of(findings)
    assert [column["label"] for column in table["columns"]] == ["cluster", "a", "cluster", "c"]
    texts = [[cell(row[c["key"]], c["kind"]) for c in table["columns"]] for row in table["rows"]]
    assert texts[0] == ["A", "✓ 10 (33.3 %)\n0.10 [0.00, 0.20]", "✓ 30 (100.0 %)\n0.26 [0.16, 0.36]",
                        "⋎ 5 (100.0 %)\n0.42 [0.32, 0.52]"]  # fmt: skip
    assert texts[1][2:] == ["✗ 0 (0.0 %)", "? 0 (0.0 %)"]
    assert text_of(table).splitlines()[2] == "B        ✓ 20 (66.7 %)  ✗ 0 (0.0 %)     ? 0 (0.0 %)"
    assert all(f"{sign} {status}" in table["note"] for status, sign in SIGNS.items())


def test_an_outlier_study_is_named_with_its_reason():
    status = [["found"] * 4, ["found", "found", "found", "not found"], ["found", "found", "found", "not found"]]
    findings = findings_of(status, [[9, 9, 9, 27], [9, 9, 9, 0], [9, 9, 9, 0]], "abcd")
    rows = studies_of(findings)["rows"]
    why = "lacks 2 of 3 clusters that all other studies have"
    assert [row["outlier"] for row in rows] == ["no", "no", "no", why]
    said = [item["text"] for item in cr.Report(findings).facts["verdict"]]
    assert f"Outlier study: d {why}." in said


def test_columns_without_values_are_left_out(findings):
    nothing = np.full(findings.status.shape, np.nan)
    bare = dataclasses.replace(findings, replicability=nothing, low=nothing, high=nothing)
    assert "replicability" not in [column["key"] for column in entries_of(bare)["columns"]]
    assert "interval" not in overview_of(bare)["note"]


def test_findings_alone_make_a_report(findings):
    made = cr.Report(findings)
    assert sections(made) == ["findings", "studies"]
    assert made.facts["provenance"] == []
    assert made.to_html().startswith("<!doctype html>")
    assert made.to_markdown().startswith("# ")


def test_without_evidence_of_clusters_no_cluster_is_shown(unimodal):
    report = cr.Report(unimodal)
    assert unimodal.verdict in ("no evidence of clusters", "inconclusive")
    assert report.facts["overview"] is None
    assert sections(report)[:2] == ["studies", "samples"]
    assert report.facts["verdict"][0]["kind"] == unimodal.verdict.replace(" ", "-")


def test_known_labels_are_counted_by_cluster(analysis, report):
    tables = {item["id"]: item for section in report.facts["sections"] for item in section["tables"]}
    counts = pd.crosstab(analysis.known_labels, analysis.labels()["cluster"].to_numpy())
    rows = {row["label"]: [row[letter] for letter in counts.columns] for row in tables["known-table"]["rows"]}
    assert rows == {label: row.tolist() for label, row in zip(counts.index, counts.to_numpy(), strict=True)}


def test_every_column_of_every_table_explains_itself(parts, report):
    for made in [report, *(cr.Report(part) for part in parts.values())]:
        for section in made.facts["sections"]:
            for table in section["tables"]:
                for column in table["columns"]:
                    assert column["key"] in known_columns() or table["id"] == "known-table", column["key"]
                    assert len(column["title"]) > 5


def test_the_overview_is_on_the_page_beside_the_summary(report):
    page = report.to_html()
    assert page.index('class="separated"') < page.index("table-overview-table") < page.index('class="sure"')


def test_a_cluster_has_one_colour_in_every_table_and_chart(report):
    page = report.to_html()
    swatches = set(re.findall(r'swatch-(\d)" aria-hidden="true"></span>([A-Z])<', page))
    assert swatches == {("0", "A"), ("1", "B"), ("2", "C")}
    charts = {item["id"]: item for section in report.facts["sections"] for item in section["charts"]}
    for trace in charts["samples"]["views"][0]["data"]:
        assert trace["marker"]["color"] == f"@c{'ABC'.index(trace['name'])}"
    for trace in charts["map"]["views"][0]["data"]:
        assert trace["marker"]["line"]["color"] == f"@c{'ABC'.index(trace['name'])}"
