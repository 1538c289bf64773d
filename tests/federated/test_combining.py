"""What the scores of several sites say together, and the page about it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from sklearn.cluster import KMeans
from tests.federated.sites import CLUSTERERS, SMALL, cohorts, exchanged

import clustrep as cr
from clustrep.agreement.agreements import resolve_agreements
from clustrep.execution.seeds import Stream, derived_root
from clustrep.federated.inquiry import resampling_of
from clustrep.federated.null import Simulator
from clustrep.federated.valleys import without_ties
from clustrep.fitting.resample import Source
from clustrep.fitting.setting import Setting
from clustrep.null.null_reference import _scores_of_data_sets
from clustrep.separation.valleys import MIDDLE, gabriel_edges, place_in_windows, poorer_sides

RUN = {"n_clusters": (2, 3), "n_resamples": 4, "rng": 7}


@pytest.fixture(scope="module")
def studies():
    return cohorts()


@pytest.fixture(scope="module")
def with_null(studies):
    functions = [
        cr.federated.learn(KMeans(n_init=2), study, null="unimodal", n_null=19, disclosure=SMALL, **RUN)
        for study in studies.values()
    ]
    scores = [cr.federated.score(study, functions, gaps=True, disclosure=SMALL) for study in studies.values()]
    return functions, scores, cr.federated.combine(scores)


# ---------------------------------------------------------------------------------------------------------------------
# data without clusters


def test_simulated_studies_are_scored_as_if_they_were_pooled(studies, with_null):
    functions, scores, combined = with_null
    inquiry = functions[0].question
    agreements = resolve_agreements(("ari", "ami"))
    source = Source(resampling_of(inquiry.resampling), inquiry.seed, True)
    for m, model in enumerate(inquiry.null):
        simulators = [Simulator.of(study, model, source, inquiry) for study in studies.values()]
        for number in (1, 19):
            simulated = [simulator.setting(number).studies[0] for simulator in simulators]
            root = derived_root(inquiry.seed, Stream.NULL, number)
            setting = Setting.prepare(Source(source.resampling, root, True), simulated, inquiry.configurations)
            (pooled,) = _scores_of_data_sets([setting], agreements, "label")
            for t, file in enumerate(scores):
                others = [s for s in range(3) if s != t]
                here = file.null_scores[m, number - 1]
                np.testing.assert_array_equal(here, pooled.scores[..., others, t])
    reference = combined.reference
    assert reference.models == ("elliptical", "margins", "components")
    assert reference.distribution.shape == (19, 2, 2, 3, 3)
    assert reference.overall_pvalue == max(reference.model_pvalues)


def test_observed_scores_and_separateness_are_those_of_the_pooled_run(studies, with_null):
    combined = with_null[2]
    pooled = cr.compare(KMeans(n_init=2), studies, **RUN)
    reference = cr.null_reference(pooled, n=19, null="gaussian")
    np.testing.assert_array_equal(combined.reference.observed, reference.observed)
    np.testing.assert_array_equal(combined.reference.separateness, reference.separateness)
    choice = combined.comparison.choice(combined.reference)
    assert choice.chosen is not None
    assert choice.chosen.n_clusters == 3


def test_data_without_clusters_do_not_look_clustered():
    rng = np.random.default_rng(5)
    studies = cr.Studies({name: rng.normal(size=(80, 3)) * [4, 1, 1] for name in ("a", "b", "c")})
    combined = exchanged(
        KMeans(n_init=2), studies, null="elliptical", n_null=39, disclosure=SMALL, n_clusters=2, n_resamples=2, rng=0
    )
    assert combined.comparison.estimate[0, 0, 0, 1] > 0.5
    assert combined.reference.overall_pvalue > 0.05


# ---------------------------------------------------------------------------------------------------------------------
# gaps


def test_counts_between_clusters_are_those_of_the_pooled_run(studies, with_null):
    """With a rule of one sample nothing is rounded: samples of the other sites, added."""
    functions, _, _ = with_null
    rule = cr.federated.Disclosure(min_cluster_size=1)
    combined = cr.federated.combine(
        [cr.federated.score(study, functions, gaps=True, disclosure=rule) for study in studies.values()]
    )
    frame = combined.gaps.to_frame()
    of_alpha = functions[0]
    centres = of_alpha.functions(1)[0].centroids
    shares = of_alpha.shelves[1].sizes / of_alpha.shelves[1].sizes.sum()
    edges = gabriel_edges(centres)
    counts = np.array(
        [
            place_in_windows(without_ties(studies[name], 7), centres, edges, shares).members.sum(axis=0)
            for name in ("beta", "gamma")
        ]
    )
    rows = frame[(frame["train"] == "alpha") & (frame["k"] == 3)]
    np.testing.assert_array_equal(rows[["a", "b"]], edges)
    np.testing.assert_array_equal(rows[["left", "middle", "right"]], counts.sum(axis=0))
    for e, pvalue in enumerate(rows["pvalue"]):
        sides = poorer_sides(counts[:, e])
        side = counts[np.arange(2), e, sides].sum()
        middle = counts[:, e, MIDDLE].sum()
        assert pvalue == pytest.approx(binom.cdf(middle, middle + side, 0.5) if middle + side else 1.0)
    assert (frame["adjusted"] >= frame["pvalue"]).all()


def test_clear_gaps_are_found_although_small_counts_are_rounded():
    rng = np.random.default_rng(0)
    tables = {name: rng.normal(size=(150, 2)) + 8 * rng.integers(0, 2, 150)[:, None] for name in ("a", "b", "c")}
    combined = exchanged(KMeans(n_init=2), cr.Studies(tables), gaps=True, n_clusters=2, n_resamples=2, rng=0)
    assert (combined.gaps.counts[:, 1] == 18).all()  # at most nine at either site
    assert (combined.gaps.adjusted < 0.01).all()


def test_functions_without_centres_have_no_gaps(studies):
    combined = exchanged(CLUSTERERS["ward by tree"], studies, gaps=True, disclosure=SMALL, **RUN)
    assert combined.gaps is None


# ---------------------------------------------------------------------------------------------------------------------
# tables


def test_contingency_tables(studies):
    functions = [cr.federated.learn(KMeans(n_init=2), study, disclosure=SMALL, **RUN) for study in studies.values()]
    rule = cr.federated.Disclosure(min_cluster_size=1)
    scores = [cr.federated.score(study, functions, tables=True, disclosure=rule) for study in studies.values()]
    assert {file.decimals for file in scores} == {3}
    frame = cr.federated.combine(scores).tables.to_frame()
    pooled = cr.replicability(KMeans(3, n_init=2), studies, n_resamples=1, rng=7)
    by_alpha, by_beta = (pooled.clustering_function(name)(studies["beta"].X) for name in ("alpha", "beta"))
    rows = frame[(frame["train"] == "alpha") & (frame["test"] == "beta") & (frame["k"] == 3)]
    counted = rows.pivot(index="cluster", columns="test_cluster", values="count").to_numpy(int)
    np.testing.assert_array_equal(counted, cr.agreement.contingency_table(by_alpha, by_beta))
    strict = [cr.federated.score(study, functions, tables=True) for study in studies.values()]
    small = [table.counts[(table.counts > 0) & (table.counts < 10)] for file in strict for table in file.tables]
    assert np.concatenate(small).size == 0


# ---------------------------------------------------------------------------------------------------------------------
# the result


def test_a_combined_result_is_saved_and_read(with_null, tmp_path):
    combined = with_null[2]
    combined.save(tmp_path / "together.npz")
    again = cr.load(tmp_path / "together.npz")
    for name in ("clusters", "gaps"):
        pd.testing.assert_frame_equal(getattr(again, name).to_frame(), getattr(combined, name).to_frame())
    np.testing.assert_array_equal(again.comparison.distribution, combined.comparison.distribution)
    assert again.reference.overall_pvalue == combined.reference.overall_pvalue
    assert again.withheld == combined.withheld
    assert repr(again) == repr(combined)
    assert cr.Report(again).to_html() == cr.Report(combined).to_html()


def test_the_page_tells_of_sites_and_names_no_samples(with_null):
    report = cr.Report(with_null[2])
    titles = [section["title"] for section in report.facts["sections"]]
    assert "Clusters at other sites" in titles
    assert "Density valleys between clusters, counted at other sites" in titles
    assert "Pairs of studies" in titles
    assert report.to_html().startswith("<!doctype html>")


def test_what_was_withheld_is_on_the_page():
    studies = cohorts(30, 2)
    with pytest.warns(cr.errors.ReplicateWarning):
        combined = exchanged(KMeans(n_init=2), studies, n_clusters=(2, 3), n_resamples=8, rng=7)
    assert combined.failures
    assert any(line.startswith("alpha: functions of KMeans, k = 3: ") for line in combined.withheld)
    assert len(set(combined.withheld)) == len(combined.withheld)
    told = " ".join(cr.Report(combined).facts["warnings"])
    assert "withheld by the site: a cluster of fewer than 10 samples" in told


def test_versions_that_differ_are_all_named(with_null):
    import dataclasses

    scores = with_null[1]
    other = dataclasses.replace(scores[1], versions={**scores[1].versions, "numpy": "0.1"}).sealed()
    versions = cr.federated.combine([scores[0], other, scores[2]]).provenance.versions
    assert versions["numpy"] == f"{np.__version__} / 0.1"
