"""What a report is made of: any results, sorted; what is refused."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from tests.report.samples import sections

import clustrep as cr
from clustrep.errors import ParameterError
from clustrep.report.material import Material


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["comparison"], ["comparison-1"]),
        (["comparison", "null"], ["comparison-1"]),
        (["null"], ["nullreference-1"]),
        (["comparison", "replicability", "local"],
         ["comparison-1", "replicability-2", "localreplicability-3", "localreplicability-4"]),
        (["comparison", "separation"], ["comparison-1", "separation-2"]),
        (["null of pairs"], ["nullreference-1"]),
        (["leave one out"], ["leaveonestudyout-1"]),
        (["validation"], ["validation-1"]),
        (["test", "other test"], ["clustertest-1", "clustertest-2"]),
        (["stability"], ["stability-1"]),
        (["sensitivity"], ["sensitivity-1"]),
        (["prediction", "instability"], ["predictionstrength-1", "bootstrapinstability-2"]),
        (["consensus", "assignment", "relative"], ["consensus-1", "assignmentconsistency-2", "relativevalidation-3"]),
    ],
    ids=lambda value: ", ".join(value),
)  # fmt: skip
def test_any_results_make_a_report(names, expected, parts):
    made = cr.Report(*(parts[name] for name in names))
    assert sections(made) == expected
    assert "NaN" not in made.to_json()
    page = made.to_html()
    assert page.count("<figure") == page.count('<div class="drawing"') == len(expected)
    assert made.to_markdown().startswith("# ")
    assert made.facts["provenance"][0][0] == "seed"
    json.dumps(made.facts, allow_nan=False)


@pytest.mark.parametrize(
    "results",
    [
        lambda parts, analysis: [],
        lambda parts, analysis: [{}],
        lambda parts, analysis: ["alpha"],
        lambda parts, analysis: [parts["comparison"].summary()],
        lambda parts, analysis: [parts["comparison"].choice()],
        lambda parts, analysis: [parts["comparison"]] * 2,
        lambda parts, analysis: [analysis.findings] * 2,
        lambda parts, analysis: [analysis, parts["test"]],
    ],
)
def test_what_makes_no_report_is_refused(results, parts, analysis):
    with pytest.raises(ParameterError) as caught:
        cr.Report(*results(parts, analysis))
    assert caught.value.parameter == "results"


@pytest.mark.parametrize("names", [["test", "other test"], ["local"]], ids=["tests", "local"])
def test_all_studies_are_among_the_data(names, parts):
    made = cr.Report(*(parts[name] for name in names))
    expected = {"alpha", "beta"} | ({"gamma"} if names == ["local"] else set())
    assert {row["study"] for row in made.facts["data"]["rows"]} == expected


def test_parts_are_put_together_as_an_analysis_does(unimodal):
    """The same choice, from the same results."""
    parts, whole = Material.of([unimodal.comparison, unimodal.reference, *unimodal.local]), Material.of([unimodal])
    assert str(parts.choice) == str(whole.choice)
    assert parts.focus == whole.focus or parts.focus.label == whole.focus.label
    assert parts.failures == whole.failures
    shown = cr.Report(unimodal.comparison, unimodal.reference).facts["sections"][0]["figures"][0]["table"]["rows"]
    summary = unimodal.summary()
    assert [row["k"] for row in shown] == summary["k"].tolist()
    assert pd.Series([row["mean"] for row in shown]).round(4).tolist() == summary["mean"].round(4).tolist()
