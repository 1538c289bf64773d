"""What a report is made of: any results, sorted; what is refused."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from sklearn.cluster import AgglomerativeClustering
from tests.report.samples import WARD, sections

import clustrep as cr
from clustrep.errors import ParameterError
from clustrep.findings.result import VERDICTS
from clustrep.plots.charts import numbers
from clustrep.report.material import Material


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["comparison"], ["data", "choice"]),
        (["comparison", "null"], ["data", "choice"]),
        (["comparison", "replicability", "local"], ["data", "choice", "pairs", "clusters", "map"]),
        (["replicability"], ["data", "pairs"]),
        (["local"], ["data", "clusters", "map"]),
        (["separation"], ["data", "separation-1"]),
        (["comparison", "separation"], ["data", "choice", "separation-1"]),
        (["null of pairs"], ["data", "nullreference-1"]),
        (["leave one out"], ["data", "leaveonestudyout-1"]),
        (["validation"], ["data", "validation-1"]),
        (["test", "other test"], ["data", "clustertest-1", "clustertest-2"]),
        (["stability"], ["data", "stability-1"]),
        (["sensitivity"], ["data", "sensitivity-1"]),
        (["prediction", "instability"], ["data", "predictionstrength-1", "bootstrapinstability-2"]),
        (["consensus", "assignment", "relative"], ["data", "consensus-1", "assignmentconsistency-2",
                                                   "relativevalidation-3"]),
    ],
    ids=lambda value: ", ".join(value),
)  # fmt: skip
def test_any_results_make_a_report(names, expected, parts):
    made = cr.Report(*(parts[name] for name in names))
    assert sections(made) == expected
    json.dumps(made.facts, allow_nan=False)
    assert "NaN" not in made.to_json()
    assert made.to_html().startswith("<!doctype html>")
    assert made.to_markdown().startswith("# ")
    assert made.facts["provenance"][0][0] == "seed"


def test_the_first_result_in_focus_is_shown_first(parts, studies):
    made = cr.Report(parts["comparison"], parts["replicability"], parts["local"])
    assert "Shown first: AgglomerativeClustering, k = 3." in made.to_markdown()
    kinds = [item["kind"] for item in made.facts["verdict"]]
    assert kinds == ["sure", "studies", "clusters"]


def test_one_local_result_or_a_dict_of_several(parts):
    item = next(iter(parts["local"].values()))
    alone, several = cr.Report(item), cr.Report(parts["local"])
    views = [[view["name"] for view in made.facts["sections"][-1]["charts"][0]["views"]] for made in (alone, several)]
    assert views == [["alpha → beta"], ["alpha → beta", "alpha → gamma"]]
    assert len(several.facts["sections"][1]["tables"][0]["rows"]) == 6


@pytest.mark.parametrize(
    "results",
    [
        lambda parts, analysis: [],
        lambda parts, analysis: [{}],
        lambda parts, analysis: ["alpha"],
        lambda parts, analysis: [parts["comparison"].summary()],
        lambda parts, analysis: [parts["comparison"]] * 2,
        lambda parts, analysis: [analysis.findings] * 2,
        lambda parts, analysis: [analysis, parts["test"]],
    ],
)
def test_what_makes_no_report_is_refused(results, parts, analysis):
    with pytest.raises(ParameterError):
        cr.Report(*results(parts, analysis))


@pytest.mark.parametrize("kind", ["null", "choice", "study", "series"])
def test_what_cannot_be_told_alone_gets_its_sentence(kind, parts, studies):
    """Or is shown: the docstring promises a report of `null_reference`."""
    item = {
        **parts,
        "choice": parts["comparison"].choice(),
        "study": studies["alpha"],
        "series": pd.Series([1.0]),
    }[kind]
    try:
        made = cr.Report(item)
    except ParameterError:
        return
    assert made.to_html()


@pytest.mark.parametrize("names", [["test", "other test"], ["local"]], ids=["tests", "local"])
def test_all_studies_are_among_the_data(names, parts):
    made = cr.Report(*(parts[name] for name in names))
    told = {row["study"] for row in made.facts["sections"][0]["tables"][0]["rows"]}
    expected = {"alpha", "beta"} | ({"gamma"} if names == ["local"] else set())
    assert told == expected


def test_a_reference_is_told_beside_its_own_result_alone(studies):
    local = {
        k: cr.local_replicability(
            AgglomerativeClustering(k), train=studies["alpha"], test=studies["beta"], n_resamples=4, rng=0
        )
        for k in (2, 3)
    }
    reference = cr.null_reference(local[3], 19)
    rows = {}
    for k in (2, 3):
        facts = cr.Report(local[k], reference).facts
        (section,) = [item for item in facts["sections"] if item["id"] == "clusters"]
        rows[k] = [row.get("qvalue") for row in section["tables"][0]["rows"]]
    assert rows == {2: [None] * 2, 3: numbers(reference.to_frame()["qvalue"].to_numpy())}
    with pytest.raises(ParameterError):
        cr.Report(local[2], local[3])


def test_a_comparison_and_a_local_result_make_a_report(studies, parts):
    local = cr.local_replicability(WARD, train=studies["alpha"], test=studies["beta"], n_resamples=3, rng=0)
    at_test = cr.local_replicability(
        WARD, train=studies["beta"], test=studies["alpha"], at=studies["alpha"], n_resamples=3, rng=0
    )
    facts = cr.Report(parts["comparison"], local, at_test).facts
    (drawn,) = [item for section in facts["sections"] for item in section["charts"] if item["id"] == "map"]
    assert [view["name"] for view in drawn["views"]] == ["alpha → beta"]
    assert cr.Report(local, at_test).to_html()


def test_an_analysis_is_read_not_computed_again(analysis):
    material = Material.of([analysis])
    assert material.findings is analysis.findings
    assert material.headline is analysis.headline
    assert material.choice is analysis.choice
    assert material.replicabilities[0] is analysis.replicability
    assert material.failures == analysis.failures
    pd.testing.assert_frame_equal(material.summary, analysis.summary())
    for figure in material.maps:
        assert figure.xy.tolist() == analysis.coordinates_of(figure.train).tolist()
        assert figure.axes == analysis.coordinate_names
        shown = [figure.clusters[place] for place in figure.cluster]
        assert shown == analysis.findings.labels_of(figure.train).tolist()


def test_parts_are_put_together_as_an_analysis_does(unimodal):
    """The same choice, from the same results."""
    parts = Material.of([unimodal.comparison, unimodal.reference, *unimodal.local])
    whole = Material.of([unimodal])
    pd.testing.assert_frame_equal(parts.summary, whole.summary)
    assert str(parts.choice) == str(whole.choice)
    assert parts.failures == whole.failures


def test_a_comparison_claims_no_verdict(unimodal):
    """Scores alone do not show whether clusters are separated."""
    said = cr.Report(unimodal.comparison, unimodal.reference).facts["verdict"]
    assert not {item["kind"] for item in said} & {verdict.replace(" ", "-") for verdict in VERDICTS}
    texts = [item["text"] for item in said]
    assert any("null distribution" in text or "null model" in text for text in texts)
