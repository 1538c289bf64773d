"""The paragraph for a paper, and how a result was made."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.report.samples import WARD

import clustrep as cr
from clustrep.report.words import NOISE, NULLS, rows_of, settings_of, span


def methods(*results):
    return cr.Report(*results).facts["methods"]


def test_the_paragraph_has_what_a_paper_needs(report, analysis):
    text, parameters, citation = report.facts["methods"]
    needed = ["3 studies", "alpha (n = 30)", "3 shared features", "2 and 3 clusters", "ARI", "AMI", "20 bootstrap"]
    needed += [analysis.findings.alignment, *(analysis.provenance["versions"][name] for name in ("clustrep", "scipy"))]
    assert [part for part in needed if part not in text] == []
    assert "Masoero" in citation
    (told,) = [value for name, value in report.facts["provenance"] if name == "clusterer"]
    assert told.startswith("AgglomerativeClustering(")
    assert f"ward: {told}" in parameters


def test_the_null_model_is_told_where_there_is_one(unimodal, studies):
    text = methods(unimodal)[0]
    assert NULLS[unimodal.reference.model] in text
    assert f"{len(unimodal.reference.distribution)} simulated" in text
    made = cr.compare(WARD, studies, n_clusters=[3], n_resamples=2, rng=5)
    assert NULLS["copula"] in methods(made, cr.null_reference(made, 19, null="copula"))[0]
    scaled = studies.scaled("reference=beta")
    none = cr.analyse(WARD, scaled, n_clusters=[2, 3, 4], n_null=0, agreement="mi", n_resamples=2, rng=5)
    text = methods(none)[0]
    assert "null" not in text
    assert "2 to 4 clusters" in text
    assert "standard deviation of beta" in text


@pytest.mark.parametrize(
    ("resampling", "named"),
    [
        (cr.resampling.Bootstrap(), "2 bootstrap resamples"),
        (cr.resampling.Subsample(0.5), "2 subsamples"),
        (cr.resampling.Jitter(0.5), "Jitter("),
    ],
    ids=str,
)
def test_resampling_is_called_by_its_name(studies, resampling, named):
    assert named in methods(cr.compare(WARD, studies, n_clusters=[2], n_resamples=2, rng=0, resampling=resampling))[0]


def test_no_word_of_a_report_says_bootstrap_where_there_is_none():
    """More features than samples: subsamples are drawn."""
    rng = np.random.default_rng(0)
    studies = {name: rng.normal(size=(12, 15)) + 4 * rng.integers(0, 2, size=(12, 1)) for name in "ab"}
    report = cr.Report(cr.analyse(WARD, studies, n_clusters=[2], n_null=19, n_resamples=2, rng=0))
    assert "Subsample(" in json.dumps(report.facts["provenance"])
    for text in (json.dumps(report.facts), report.to_markdown(), repr(report)):
        assert "ootstrap" not in text


@pytest.mark.parametrize(
    ("ks", "text"), [([2], "2"), ([2, 3], "2 and 3"), ([2, 3, 4], "2 to 4"), ([2, 3, 5], "2, 3 and 5")]
)
def test_ranges_of_k(ks, text):
    assert span(ks) == text


def test_the_parameters_of_a_run_are_those_of_its_provenance(analysis, unimodal):
    settings = settings_of(analysis.provenance)
    assert {"n_resamples": "20", "resampling": "Bootstrap(distinct=True)"}.items() <= settings.items()
    assert not {"seed", "versions", "studies", "clusterers"} & set(settings)
    assert settings_of(unimodal.reference.provenance)["null"] == unimodal.reference.provenance["null"].strip("'")


def test_everything_about_a_run_is_listed(analysis, studies):
    rows = rows_of(analysis.provenance)
    names = [name for name, _ in rows]
    assert rows[0] == ["seed", "0"]
    assert names.count("clusterer") == 1  # they differ in k alone
    assert {"n resamples", "resampling", "noise", "clustrep", "python"} <= set(names)
    assert all(isinstance(value, str) for _, value in rows)
    test = rows_of(cr.stability.cluster_test(studies["alpha"], n_resamples=19, rng=1).provenance)
    assert test[0] == ["seed", "1"]
    assert "clusterer" not in dict(test)


@pytest.mark.parametrize("noise", NOISE)
def test_what_noise_did_is_told(studies, noise):
    assert NOISE[noise] in methods(cr.compare(WARD, studies, n_clusters=[2], noise=noise, n_resamples=2, rng=0))[0]
