"""Facts in plain types: the answer for scripts, clusters, tables, warnings."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import adjusted_rand_score
from tests.plots.samples import findings_of
from tests.report.samples import crafted, sections

import clustrep as cr
from clustrep.errors import ReplicateWarning
from clustrep.findings.annotations import annotations_of
from clustrep.findings.features import clear_features, feature_sentences
from clustrep.findings.result import INCONCLUSIVE, SEPARATED, VERDICTS, nothing_established
from clustrep.findings.verdict import best_above
from clustrep.report.columns import known_columns, plain_value


def plain(frame: pd.DataFrame) -> list[dict]:
    return [{name: plain_value(value) for name, value in row.items()} for row in frame.to_dict("records")]


def tables(report):
    """All tables of a report by their names."""
    facts = report.facts
    inside = [table for section in facts["sections"] for table in section["tables"]]
    inside += [figure["table"] for section in facts["sections"] for figure in section["figures"] if figure["table"]]
    return {table["id"]: table for table in [*inside, *([facts["studies"]["table"]] if facts["studies"] else [])]}


def test_facts_are_plain_and_are_the_json(report):
    text = json.dumps(report.facts, allow_nan=False)
    assert json.loads(text) == report.facts == json.loads(report.to_json())
    assert sections(report) == ["findings", "samples", "choice", "pairs", "valleys", "features", "annotations"]


def test_sentences_are_those_of_the_headline(analysis, report):
    said, shown = [item.text for item in analysis.headline], [item["text"] for item in report.facts["verdict"]]
    assert [text for text in shown if text in said] == said
    assert shown[0] == said[0] == repr(analysis).splitlines()[1] == repr(report).splitlines()[0]
    in_sections = [text for section in report.facts["sections"] for text in section["text"]]
    assert set(feature_sentences(analysis.findings)) <= set(in_sections) & set(said)


def test_an_analysis_is_read_not_computed_again(analysis, report):
    findings, answer = analysis.findings, report.facts["answer"]
    assert (answer["verdict"], answer["n_clusters"]) == (analysis.verdict, analysis.n_clusters)
    assert answer["table"] == plain(findings.table())
    assert answer["clusters"] == plain(findings.clusters())
    assert answer["studies"] == plain(findings.studies())
    best = analysis.choice.best
    assert (answer["best"]["clusterer"], answer["best"]["k"]) == (best.clusterer, best.n_clusters)
    assert answer["best"]["mean"] == plain_value(best.score)
    assert [item["k"] for item in answer["rivals"]] == [item.n_clusters for item in best.rivals]
    assert answer["focus"]["k"] == analysis.focus.n_clusters
    assert answer["heterogeneity"] == plain_value(analysis.replicability.heterogeneity)


def test_cards_are_the_rows_of_the_findings(analysis, report):
    findings, clear = analysis.findings, clear_features(analysis.findings)
    cards = report.facts["clusters"]
    assert [{name: card[name] for name in findings.clusters()} for card in cards] == plain(findings.clusters())
    entries = [{"cluster": card["cluster"], **entry} for card in cards for entry in card["studies"]]
    assert entries == [{name: row[name] for name in entries[0]} for row in plain(findings.table())]
    for card in cards:
        rows = clear[(clear["cluster"] == card["cluster"]) & (clear["direction"] == "higher")]
        assert card["higher"] == rows["feature"].tolist()[:3]


def test_tables_are_narrow_and_explained(parts, report):
    for made in [report, *(cr.Report(part) for part in parts.values())]:
        for table in tables(made).values():
            assert len(table["columns"]) <= 8
            for column in table["columns"]:
                assert column["key"] in known_columns() or table["id"].startswith("known-table"), column["key"]
                assert len(column["title"]) > 5


def test_tables_have_the_rows_of_the_results(analysis, report):
    made = tables(report)
    summary = analysis.summary()
    means = summary.loc[summary["agreement"] == "ari", "mean"]
    assert [row["mean"] for row in made["curves-table"]["rows"]] == [plain_value(value) for value in means]
    assert len(made["findings-table"]["rows"]) == len(made["valleys-table"]["rows"]) == 9
    assert len(made["pairs-table"]["rows"]) == 6
    counts = pd.crosstab(analysis.known_labels, analysis.labels()["cluster"].to_numpy())
    rows = {row["known label"]: [row[letter] for letter in counts] for row in made["known-table-1"]["rows"]}
    assert rows == {label: row.tolist() for label, row in zip(counts.index, counts.to_numpy(), strict=True)}
    assert {row["feature"] for row in made["features-table"]["rows"]} <= set(analysis.findings.feature_names)


def test_without_evidence_of_clusters_no_cluster_is_shown(unimodal):
    report = cr.Report(unimodal)
    assert unimodal.verdict in ("no evidence of clusters", "inconclusive")
    assert report.facts["clusters"] is None
    assert sections(report)[0] == "samples"
    answer, choice = report.facts["answer"], unimodal.choice
    assert answer["best"]["adjusted"] == plain_value(float(choice.against.adjusted[choice.place(choice.best)]))


def test_without_clusters_known_labels_are_compared_with_the_best_partition(unimodal):
    labels = np.where(np.arange(180) % 3, np.where(unimodal.coordinates[:, 0] > 0, "case", "control"), "")
    known = annotations_of(unimodal.findings, None, known=labels.tolist())
    labelled = dataclasses.replace(unimodal, known_labels=labels, annotations=known)
    ari = []
    for s, name in enumerate(unimodal.names):
        rows = np.flatnonzero(labels[60 * s : 60 * (s + 1)] != "")
        found = next(local.labels for local in unimodal.local if local.train == name)
        ari.append(adjusted_rand_score(labels[60 * s : 60 * (s + 1)][rows], found[rows]))
    (said,) = [item["text"] for item in cr.Report(labelled).facts["verdict"] if item["kind"] == "clusters"]
    assert f"({unimodal.focus.label})" in said
    assert said.endswith(f"ARI {min(ari):.2f} to {max(ari):.2f}.")
    assert all(item["kind"] != "clusters" for item in cr.Report(unimodal).facts["verdict"])


def test_studies_that_show_fewer_clusters_by_themselves_are_named():
    findings = findings_of([["found"] * 3] * 2, [[9] * 3] * 2, "abc")
    for own, named in (([2, 2, 2], None), ([2, 1, 1], "b, c show fewer"), ([1, 1, 1], "No study shows all")):
        text = " ".join(cr.Report(dataclasses.replace(findings, own_clusters=np.array(own))).facts["studies"]["text"])
        assert ("where to look" in text) == (named is not None)
        assert named is None or named in text


def test_findings_alone_make_a_report():
    status = [["found"] * 4, ["found", "found", "found", "not found"], ["found", "found", "found", "not found"]]
    findings = findings_of(status, [[9, 9, 9, 27], [9, 9, 9, 0], [9, 9, 9, 0]], "abcd")
    made = cr.Report(findings)
    assert sections(made) == ["findings", "valleys"]
    (outlier,) = [row for row in made.facts["answer"]["studies"] if row["outlier"]]
    assert outlier["study"] == "d"
    assert any(outlier["why"] in text for text in made.facts["studies"]["text"])
    assert made.to_html().startswith("<!doctype html>")
    nothing = np.full(findings.status.shape, np.nan)
    bare = cr.Report(dataclasses.replace(findings, replicability=nothing, low=nothing, high=nothing))
    assert "replicability" not in [column["key"] for column in tables(bare)["findings-table"]["columns"]]


def test_a_comparison_claims_no_verdict(unimodal):
    """Scores alone do not show whether clusters are separated."""
    said = cr.Report(unimodal.comparison, unimodal.reference).facts["verdict"]
    assert said
    assert not {item["kind"] for item in said} & {verdict.replace(" ", "-") for verdict in VERDICTS}


def test_the_focus_of_a_comparison_is_what_its_headline_names(parts):
    facts = cr.Report(parts["comparison"], parts["null"]).facts
    choice = parts["comparison"].choice(parts["null"])
    named = best_above(choice) or choice.best
    assert facts["answer"]["focus"]["k"] == named.n_clusters
    assert any(named.label in item["text"] for item in facts["verdict"])


def test_one_study_is_told_as_one(studies):
    made = cr.analyse(AgglomerativeClustering(), [studies["alpha"]], n_clusters=[2, 3], n_null=0, n_resamples=2, rng=0)
    facts = cr.Report(made).facts
    assert "random halves of one study, alpha (n = 30)" in facts["methods"][0]
    assert [(row["study"], row["samples"]) for row in facts["data"]["rows"]] == [("alpha", 30)]
    assert "heterogeneity" not in facts["answer"]


def test_cautions_are_those_of_the_pairs(analysis):
    assert crafted(analysis, [[0.9, 0.8], [0.8, 0.9]]).cautions == []
    result = crafted(analysis, [[0.9, 0.8, 0.8], [0.8, 0.9, 0.8], [0.8, 0.8, 0.9]])
    distribution, estimate = result.distribution.copy(), result.estimate.copy()
    distribution[:10, 0, 1], distribution[10:, 0, 1], estimate[1, 2] = 0.4, 0.9, 0.5
    distribution[:10, 2, 2] = 0.4  # a study with itself is not told
    changed = dataclasses.replace(result, distribution=distribution, estimate=estimate)
    modes, far = changed.cautions
    assert "a → b (0.40 and 0.90)" in modes
    assert "b → c, 0.50" in far
    facts = cr.Report(changed).facts
    assert [item["text"] for item in facts["verdict"] if item["kind"] == "caution"] == [modes, far]


def test_warnings_titles_and_failures_are_told(analysis, studies):
    made = cr.Report(dataclasses.replace(analysis, warnings=("mind this",)), title="Mine", warnings=["and that"])
    assert (made.facts["warnings"], made.facts["title"]) == (["mind this", "and that"], "Mine")
    with pytest.warns(ReplicateWarning):
        result = cr.replicability(AgglomerativeClustering(19), studies, n_resamples=4, rng=0)
    facts = cr.Report(result).facts
    assert str(sum(result.failures.values())) in facts["verdict"][-1]["text"]
    assert all(cause in facts["warnings"][0] for cause in result.failures)


def test_nothing_to_look_at_is_told_without_figures_of_it(studies):
    with pytest.warns(ReplicateWarning):
        made = cr.analyse(AgglomerativeClustering(), studies, n_clusters=[19, 20], n_null=0, n_resamples=4, rng=0)
    told = cr.Report(made)
    assert told.facts["verdict"][0] == {"kind": made.verdict.replace(" ", "-"), "text": made.headline[0].text}
    assert "caution" in {item["kind"] for item in told.facts["verdict"]}
    json.dumps(told.facts, allow_nan=False)
    told.to_html()


def test_notebooks_show_the_same_sentences_and_clusters(analysis, studies):
    report = cr.Report(analysis)
    for shown in (analysis, analysis.findings, report):
        assert analysis.headline[0].text.replace("<", "&lt;") in shown._repr_html_()
        assert all(f"<td>{letter}</td>" in shown._repr_html_() for letter in "ABC")
    assert f"{analysis.replicability.mean[0, 1]:.2f} [" in analysis.replicability._repr_html_()
    assert analysis.comparison._repr_html_().count("<tr>") + 0 >= 4
    assert "<td>alpha</td>" in studies._repr_html_()
    assert cr.Report(analysis.comparison)._repr_html_().count("<table") == 0


def test_an_inconclusive_page_counts_no_clusters(analysis):
    empty = nothing_established(analysis.findings.sizes)
    findings = dataclasses.replace(analysis.findings, verdict=INCONCLUSIVE, reason="few", feature_names=(), **empty)
    for each, has_clusters in ((analysis.findings, True), (findings, False)):
        assert each.verdict in (SEPARATED, INCONCLUSIVE)
        columns = [column["key"] for column in cr.Report(each).facts["studies"]["table"]["columns"]]
        assert ("clusters" in columns) == has_clusters
