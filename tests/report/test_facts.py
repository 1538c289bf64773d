"""Facts in plain types: tables, warnings, the answer for scripts."""

from __future__ import annotations

import dataclasses
import json

import pytest
from sklearn.cluster import AgglomerativeClustering
from tests.report.samples import sections

import clustrep as cr
from clustrep.errors import ReplicateWarning
from clustrep.plots.charts import numbers


def test_facts_are_plain(report):
    text = json.dumps(report.facts, allow_nan=False)
    assert json.loads(text) == report.facts
    assert sections(report) == ["findings", "studies", "samples", "choice", "pairs", "map", "data"]
    kinds = [item["kind"] for item in report.facts["verdict"]]
    assert kinds[:3] == ["separated", "sure", "reason"]
    assert kinds[-1] == "next"
    assert report.facts["subtitle"] == "alpha, beta, gamma: 90 samples."
    *sentences, last = [item["text"] for item in report.facts["verdict"]]
    said = "\n".join(sentences)
    assert repr(report).startswith(f"{said}\n\ncluster  alpha  ")
    assert repr(report).endswith(f"\n\nNext: {last}")


def test_json_has_everything_but_charts(report):
    said = json.loads(report.to_json())
    assert all("charts" not in item for item in said["sections"])
    without = [{k: v for k, v in item.items() if k != "charts"} for item in report.facts["sections"]]
    assert said == {**report.facts, "sections": without}


def test_tables_have_the_rows_of_the_results(report, analysis):
    tables = {item["id"]: item for section in report.facts["sections"] for item in section["tables"]}
    assert sorted(tables) == [
        "choice-table", "choice-table-1", "clusters-of-findings-table", "findings-table", "known-table", "pairs-table",
        "studies-of-findings-table", "studies-table",
    ]  # fmt: skip
    for name, agreement in (("choice-table", "ari"), ("choice-table-1", "ami")):  # not interleaved
        summary = analysis.summary()
        means = summary.loc[summary["agreement"] == agreement, "mean"]
        assert [row["mean"] for row in tables[name]["rows"]] == numbers(means.to_numpy())
    assert [row["samples"] for row in tables["studies-table"]["rows"]] == [30, 30, 30]
    kinds = {column["key"]: column["kind"] for column in tables["choice-table"]["columns"]}
    assert {"k": "count", "mean": "number", "probability_best": "share"}.items() <= kinds.items()


def test_warnings_and_titles_are_told(analysis):
    made = cr.Report(dataclasses.replace(analysis, warnings=("mind <b>this</b>",)), title="Mine & yours")
    page = made.to_html()
    assert made.facts["warnings"] == ["mind <b>this</b>"]
    assert "mind &lt;b&gt;this&lt;/b&gt;" in page
    assert "<title>Mine &amp; yours</title>" in page


def test_nothing_to_look_at_is_told_without_charts_of_it(studies):
    with pytest.warns(ReplicateWarning):
        made = cr.analyse(AgglomerativeClustering(), studies, n_clusters=[19, 20], null=None, n_resamples=4, rng=0)
    told = cr.Report(made)
    assert told.facts["verdict"][0] == {"kind": made.verdict.replace(" ", "-"), "text": made.headline[0].text}
    (caution, *_) = [item["text"] for item in told.facts["verdict"] if item["kind"] == "caution"]
    assert caution.startswith("alpha can't be clustered in ")
    json.dumps(told.facts, allow_nan=False)
    told.to_html()


def test_the_answer_is_given_to_scripts(report, analysis):
    answer = json.loads(report.to_json())["answer"]
    best = analysis.choice.best
    assert (answer["best"]["clusterer"], answer["best"]["k"]) == (best.clusterer, best.n_clusters)
    assert answer["best"]["mean"] == numbers(best.score)
    assert [item["k"] for item in answer["rivals"]] == [item.n_clusters for item in best.rivals]
    assert answer["focus"]["k"] == analysis.focus.n_clusters
    assert (answer["verdict"], answer["n_clusters"]) == (analysis.verdict, analysis.n_clusters)
    assert answer["heterogeneity"] == numbers(analysis.replicability.heterogeneity)


def test_the_answer_has_p_values_where_there_is_a_null_model(unimodal):
    answer, choice = cr.Report(unimodal).facts["answer"], unimodal.choice
    assert answer["best"]["adjusted"] == numbers(float(choice.against.adjusted[choice.place(choice.best)]))


def test_failures_are_told_with_their_causes(studies):
    with pytest.warns(ReplicateWarning):
        result = cr.replicability(AgglomerativeClustering(19), studies, n_resamples=4, rng=0)
    facts = cr.Report(result).facts
    n_failed = sum(result.failures.values())
    text = f"{n_failed} scores failed and were omitted; the causes are among the warnings."
    assert facts["verdict"][-1] == {"kind": "failure", "text": text}
    causes = "; ".join(f"{cause} ({count:,})" for cause, count in result.failures.items())
    assert facts["warnings"] == [f"{n_failed} scores failed and were omitted: {causes}."]
