"""Clusters × studies: one sign in every cell."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import AgglomerativeClustering

import clustrep as cr
from clustrep.report.cluster_grid import grid_of, overview_of, text_of
from clustrep.report.columns import EXPLANATIONS, MOST_COLUMNS
from clustrep.report.formatting import SIGNS, cell, sign_name
from clustrep.results.analysis import PRESENCE

COLUMNS = [*PRESENCE, "n_like"]
ROWS = [
    ("a", "0", "b", "present", 30),
    ("a", "1", "b", "absent", 0),
    ("a", "new", "b", "new", 12),
    ("a", "0", "c", "split", 30),
    ("a", "1", "c", "merged", 30),
    ("a", "new", "c", "new", 0),
    ("b", "0", "a", "can't tell", 4),
    ("b", "0", "c", "present", 30),
]


def cells(table):
    return [[cell(row[c["key"]], c["kind"]) for c in table["columns"]] for row in table["rows"]]


def test_every_cluster_has_a_sign_in_every_study():
    table = grid_of(pd.DataFrame(ROWS, columns=COLUMNS), pd.DataFrame(), ["a", "b", "c"])
    assert [column["label"] for column in table["columns"]] == ["train", "cluster", "a", "b", "c"]
    assert cells(table) == [
        ["a", "0", "·", "✓", "⋏"],
        ["a", "1", "·", "✗", "⋎"],
        ["a", "new samples", "·", "+ 12", "·"],
        ["b", "0", "?", "·", "✓"],
    ]
    for word, sign in SIGNS.items():
        if word in (*(row[3] for row in ROWS), ""):
            assert f"{sign} " in table["note"]
    assert table["columns"][3]["title"] == "What became of the cluster in b"
    assert text_of(table).splitlines()[1] == "a      0            ·  ✓     ⋏"


def test_a_study_with_the_name_of_a_column_is_kept_apart():
    rows = [("cluster", "0", "train", "present"), ("train", "0", "cluster", "absent")]
    table = grid_of(pd.DataFrame(rows, columns=list(PRESENCE)), pd.DataFrame(), ["train", "cluster"])
    assert cells(table) == [["cluster", "0", "✓", "·"], ["train", "0", "·", "✗"]]


@pytest.fixture
def without_presence(analysis):
    return dataclasses.replace(analysis, presence_result=None)


def test_without_presence_it_is_told_what_holds(without_presence):
    analysis = without_presence
    table = grid_of(analysis.presence(), analysis.clusters(), analysis.names)
    assert len(table["rows"]) == 9
    assert {text for row in cells(table) for text in row[2:]} <= {"✓", "~", "✗", "?", "–", "·"}
    assert grid_of(analysis.presence(), pd.DataFrame(), analysis.names) is None


class Computed:
    """What `presence` returns, as far as an analysis needs it."""

    def __init__(self, analysis):
        self.analysis = analysis

    def labels_of(self, study):
        return next(local.labels for local in self.analysis.local if local.train == study)

    def to_frame(self):
        names = self.analysis.names
        rows = [(a, str(c), b, "present") for a in names for b in names if a != b for c in range(3)]
        return pd.DataFrame(rows, columns=list(PRESENCE))


@pytest.fixture
def with_presence(analysis):
    return dataclasses.replace(analysis, presence_result=Computed(analysis))


def test_the_table_is_first_after_the_summary_and_complete(with_presence):
    report = cr.Report(with_presence)
    first, second = report.facts["sections"][:2]
    assert (first["id"], second["id"]) == ("presence", "gaps")
    (table,) = first["tables"]
    assert len(table["rows"]) == 3 * 3
    for row in table["rows"]:
        assert sorted(row[f"in {name}"] for name in with_presence.names) == ["", "present", "present"]
    assert text_of(table) in repr(report)
    assert len(report.facts["answer"]["presence"]) == 18
    assert [chart["id"] for chart in second["charts"]] == ["gaps"]


def test_clusters_are_named_after_known_labels(with_presence):
    names = set(with_presence.presence()["cluster"])
    assert {name.split(" ")[1] for name in names} == {"(A)", "(B)", "(C)"}
    for study in with_presence.names:
        labels = with_presence.presence_result.labels_of(study)
        known = with_presence.known_labels_of(study)
        for name in with_presence.presence().query("train == @study")["cluster"].unique():
            number, label = name.split(" ")
            values, counts = np.unique(known[labels == int(number)], return_counts=True)
            assert label == f"({values[counts.argmax()]})"


def test_data_in_one_piece_have_no_clusters_that_could_be_present():
    rng = np.random.default_rng(4)
    tables = {name: rng.normal(size=(40, 2)) * [4, 1] for name in "ab"}
    made = cr.analyse(AgglomerativeClustering(), tables, n_clusters=[2, 3], n_null=39, n_resamples=4, rng=0)
    report = cr.Report(made)
    assert made.degree == "one piece"
    assert report.facts["sections"][0]["id"] == "gaps"
    assert "clusters" not in [item["kind"] for item in report.facts["verdict"]]


def test_without_presence_the_frame_is_empty_with_its_columns(without_presence):
    assert without_presence.presence().empty
    assert without_presence.presence().columns.tolist() == list(PRESENCE)


def test_every_column_of_every_table_explains_itself_and_six_are_shown(parts, with_presence):
    results = [cr.Report(part) for name, part in parts.items() if name != "relations"]
    for report in [cr.Report(with_presence), cr.Report(with_presence.separations[0]), *results]:
        for section in report.facts["sections"]:
            for table in section["tables"]:
                shown = [column for column in table["columns"] if not column["more"]]
                assert len(shown) <= MOST_COLUMNS
                for column in table["columns"]:
                    assert column["key"] in EXPLANATIONS or column["kind"] == "sign", column["key"]
                    assert len(column["title"]) > 5


def test_names_of_signs_are_classes():
    assert [sign_name(word) for word in ("present", "can't tell", "new 12", "")] == [
        "sign-present",
        "sign-cant-tell",
        "sign-new",
        "sign-none",
    ]


# ---------------------------------------------------------------------------------------------------------------------
# one row for a cluster and its counterparts


def test_the_overview_has_a_row_for_every_number_and_what_most_studies_say():
    rows = [
        ("a", "0 (A)", "b", "present"),
        ("a", "0 (A)", "c", "present"),
        ("b", "0 (A)", "c", "split"),
        ("c", "0 (B)", "b", "present"),
        ("b", "10", "a", "absent"),
        ("b", "2", "a", "absent"),
        ("b", "2", "c", "absent"),
        ("a", "new", "b", "new"),
    ]
    table = overview_of(pd.DataFrame(rows, columns=list(PRESENCE)), ["a", "b", "c"])
    assert cells(table) == [["0 (A)", "·", "✓", "?"], ["2", "✗", "·", "✗"], ["10", "✗", "·", "·"]]
    assert overview_of(pd.DataFrame(columns=list(PRESENCE)), ["a", "b"]) is None


def test_the_overview_is_on_the_page_beside_the_summary(report):
    page = report.to_html()
    assert report.facts["overview"]["id"] == "overview-table"
    assert page.index('class="separated"') < page.index("table-overview-table") < page.index('class="sure"')


def test_everything_on_the_page_has_the_numbers_that_counterparts_share(analysis, report):
    """k-means and trees number the clusters of every study by themselves."""
    assert analysis.degree == "separated"
    numbers = {}
    for study in analysis.names:
        for sample, number in zip(
            analysis.known_labels_of(study), analysis.presence_result.labels_of(study), strict=True
        ):
            numbers.setdefault(sample, set()).add(str(number))
    assert all(len(of_label) == 1 for of_label in numbers.values())
    tables = {item["id"]: item for section in report.facts["sections"] for item in section["tables"]}
    for name in ("presence-table", "clusters-table", "counterparts-table"):
        for row in tables[name]["rows"]:
            number, label = row["cluster"].split(" ")
            assert {number} == numbers[label.strip("()")]
            if "counterpart" in row:
                assert row["counterpart"] == row["cluster"]
    maps = [trace["name"] for section in report.facts["sections"] for c in section["charts"] if c["id"] == "map"
            for view in c["views"] for trace in view["data"]]  # fmt: skip
    assert set(maps) == {f"{min(number)} ({label})" for label, number in numbers.items()}


def test_several_clusters_in_the_place_of_one_have_letters(analysis):
    names = dataclasses.replace(analysis, presence_result=OneCluster(analysis)).shared_names
    assert sorted(name.split(" ")[0] for (study, _), name in names.items() if study == "alpha") == ["0a", "0b", "0c"]


class OneCluster(Computed):
    def labels_of(self, study):
        return np.zeros(len(super().labels_of(study)), dtype=int)
