"""The paragraph for a paper, and how a result was made."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.report.samples import THREE, WARD

import clustrep as cr
from clustrep.report.words import NULLS, Run, span


def test_the_paragraph_has_what_a_paper_needs(report, analysis):
    text, parameters, citation = report.facts["methods"]
    versions = analysis.provenance["versions"]
    for part in (
        "across 3 studies, alpha (n = 30), beta (n = 30), gamma (n = 30), on 3 shared features, not scaled.",
        "learned by ward for 2 and 3 clusters",
        "by the adjusted Rand index (ARI) and adjusted mutual information (AMI)",
        "with 20 bootstrap resamples of both studies with each drawn sample counted once",
        "Clusters were found by density valleys, within studies",
        analysis.findings.alignment,
        f"clustrep {versions['clustrep']} (numpy {versions['numpy']}, scipy {versions['scipy']}, ",
        f"scikit-learn {versions['scikit-learn']}; Python {versions['python']}), seed 0.",
    ):
        assert part in text
    assert citation.startswith("Reference: Masoero L, ")
    (told,) = [value for name, value in report.facts["provenance"] if name == "clusterer"]
    assert told.startswith("AgglomerativeClustering(")
    assert "n_clusters=k" in told
    assert parameters == f"Clusterers: ward: {told}."


def test_the_null_model_is_told(unimodal):
    text = cr.Report(unimodal).facts["methods"][0]
    drawn = NULLS[unimodal.reference.model]
    assert f"Observed scores were compared with those of 39 simulated null data sets, drawn {drawn}; p-values" in text


def test_scales_and_lack_of_nulls_are_told(studies):
    scaled = studies.scaled("reference=beta")
    made = cr.analyse(WARD, scaled, n_clusters=[2, 3, 4], null=None, agreement="mi", n_resamples=2, rng=5)
    (text, _, _) = cr.Report(made).facts["methods"]
    assert "scaled by the mean and standard deviation of beta." in text
    assert "for 2 to 4 clusters" in text
    assert "null" not in text
    assert "by mutual information (MI) (Masoero" in text
    made = cr.compare(WARD, studies, n_clusters=[3], n_resamples=2, rng=5)
    text = cr.Report(made, cr.null_reference(made, 19, null="copula")).facts["methods"][0]
    assert "19 simulated null data sets, drawn from a Gaussian copula with the size and margins" in text


def test_resampling_is_called_by_its_name(studies):
    made = cr.compare(WARD, studies, n_clusters=[2], n_resamples=2, rng=0, resampling=cr.resampling.Bootstrap())
    assert "with 2 bootstrap resamples of both studies; intervals" in cr.Report(made).facts["methods"][0]
    made = cr.compare(WARD, studies, n_clusters=[2], n_resamples=2, rng=0, resampling=cr.resampling.Subsample(0.5))
    text = cr.Report(made).facts["methods"][0]
    assert "with 2 subsamples of both studies with 50 % of their samples; intervals" in text
    made = cr.compare(WARD, studies, n_clusters=[2], n_resamples=2, rng=0, resampling=cr.resampling.Jitter(0.5))
    assert "with 2 resamples of both studies by Jitter(" in cr.Report(made).facts["methods"][0]


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


def test_provenance_is_read_in_one_place(studies, analysis, unimodal):
    run = Run.of(analysis.provenance)
    assert (run.seed, run.n_resamples, run.resampling, run.noise, run.null) == (
        "0",
        20,
        "Bootstrap(distinct=True)",
        "label",
        None,
    )
    assert set(run.studies) == {"alpha", "beta", "gamma"}
    assert len(run.clusterers) == 2
    assert len(set(run.clusterers)) == 1  # they differ in k alone
    assert Run.of(unimodal.reference.provenance).null == unimodal.reference.provenance["null"].strip("'")
    subsampled = cr.replicability(THREE, studies, n_resamples=2, rng=3, resampling=cr.resampling.Subsample(0.5))
    assert Run.of(subsampled.provenance).resampling.startswith("Subsample(")
    test = Run.of(cr.stability.cluster_test(studies["alpha"], n_resamples=19, rng=1).provenance)
    assert (test.seed, test.clusterers) == ("1", ())


def test_everything_about_a_run_is_listed(analysis):
    rows = Run.of(analysis.provenance).rows()
    names = [name for name, _ in rows]
    assert names[0] == "seed"
    assert names.count("clusterer") == 1
    assert {"n resamples", "resampling", "noise", "clustrep", "python"} <= set(names)
    assert all(isinstance(value, str) for _, value in rows)


@pytest.mark.parametrize(("noise", "words"), [("drop", "were omitted."), ("singletons", "a cluster of its own.")])
def test_what_noise_did_is_told(studies, noise, words):
    result = cr.compare(WARD, studies, n_clusters=[2], noise=noise, n_resamples=2, rng=0)
    assert words in cr.Report(result).facts["methods"][0]
