"""What instability, consensus and assignment consistency refuse."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from tests.stability.consensus.cases import ROOT, VERBS, WARD, assert_same_results, slices, two_or_three

import clustrep as cr
from clustrep.errors import DataError, ParameterError, ReplicateWarning


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_resamples": 0}, "n_resamples must be a positive integer, got 0"),
        ({"n_resamples": 2.0}, r"n_resamples must be a positive integer, got 2\.0"),
        ({"perturbation": "bootstrap"}, r"perturbation must be Bootstrap\(\), Subsample\(fraction\), FeatureSubset"),
        ({"perturbation": cr.resampling.Bootstrap}, r"perturbation must be Bootstrap\(\)"),
        ({"n_clusters": 1}, "n_clusters must be"),
        ({"n_clusters": [2, 2]}, r"n_clusters must hold every number once, got \[2, 2\]"),
        ({"n_jobs": 0}, "n_jobs must be a positive integer"),
        ({"rng": -1}, "rng must be a non-negative integer"),
        ({"labels": True}, "labels is True, but study 'X' has no known labels"),
    ],
)
def test_what_is_asked_for_is_checked(verb, options, message, X):
    with pytest.raises(ParameterError, match=message):
        verb(slices, X, **options)


@pytest.mark.parametrize(
    ("verb", "default"),
    [
        (cr.stability.bootstrap_instability, cr.resampling.Bootstrap()),
        (cr.stability.consensus, cr.resampling.Subsample(0.8)),
        (cr.stability.assignment_consistency, cr.resampling.Subsample(0.8)),
    ],
)
def test_no_perturbation_is_the_default_one(verb, default, X):
    results = [
        verb(slices, X, n_resamples=4, rng=ROOT, **options)
        for options in ({}, {"perturbation": None}, {"perturbation": default})
    ]
    for result in results:
        assert_same_results(result, results[0])
        assert result.provenance["resampling"] == repr(default)
        assert result.provenance["n_resamples"] == 4


@pytest.mark.parametrize("verb", VERBS)
def test_arguments_the_wrong_way_round_are_refused(verb, X):
    with pytest.raises(
        ParameterError, match="X must be a table of samples by features, got KMeans: are the arguments the wrong way"
    ):
        verb(X, KMeans(2))
    with pytest.raises(ParameterError, match=r"X must be one study or table, got dict: pick one, studies\[name\]"):
        verb(slices, {"a": X, "b": X + 1})


@pytest.mark.parametrize("verb", VERBS)
def test_one_study_is_asked_for(verb, X):
    with pytest.raises(ParameterError, match=r"X must be one study or table, got Studies: pick one, studies\[name\]"):
        verb(slices, cr.Studies({"a": X, "b": X + 1}))
    with pytest.raises(
        DataError, match="labels of study 'X' must have one label for every point of study 'X': 12; got"
    ):
        verb(slices, X, labels=[0, 1])
    with pytest.raises(DataError, match="missing value"):
        verb(slices, np.where(X > 1, np.nan, X))
    with pytest.raises(ParameterError, match="has no parameter for the number of clusters"):
        verb(two_or_three, X, n_clusters=2)


@pytest.mark.parametrize("verb", [cr.stability.consensus, cr.stability.assignment_consistency])
def test_labels_can_not_be_found_again_without_a_clusterer(verb, X):
    with pytest.raises(ParameterError, match="clusterer is None: a clusterer must find the clusters again, also those"):
        verb(None, X, labels=[0] * 12)


def test_instability_needs_a_clusterer_or_labels(X):
    with pytest.raises(ParameterError, match="clusterer is None: pass a clusterer, or existing labels with labels="):
        cr.stability.bootstrap_instability(None, X)
    with pytest.raises(ParameterError, match="n_clusters needs a clusterer: labels have the clusters that they have"):
        cr.stability.bootstrap_instability(None, X, labels=[0, 1] * 6, n_clusters=2)
    with pytest.raises(ParameterError, match="one_sided must be True or False, got 'yes'"):
        cr.stability.bootstrap_instability(slices, X, one_sided="yes")
    with pytest.raises(ParameterError, match="noise must be one of 'label', 'drop'; got 'singletons'"):
        cr.stability.bootstrap_instability(slices, X, noise="singletons")


@pytest.mark.parametrize("verb", [cr.stability.consensus, cr.stability.assignment_consistency])
def test_noise_is_a_cluster_or_dropped(verb, X):
    with pytest.raises(ParameterError, match="noise must be one of 'label', 'drop'; got 'singletons'"):
        verb(slices, X, noise="singletons")


@pytest.mark.parametrize(("n_labels", "dtype"), [(2, np.int8), (127, np.int8), (128, np.int16), (200, np.int16)])
def test_codes_are_kept_small(n_labels, dtype):
    points = np.arange(200.0)[:, None]
    result = cr.stability.consensus(
        lambda X: np.arange(len(X)) % n_labels, points, perturbation=cr.resampling.Rerun(), n_resamples=2, rng=0
    )
    assert result.codes.dtype == dtype
    assert result.codes.max() == n_labels - 1
    assert np.isfinite(result.matrix(rows=[0])).all()


@pytest.mark.parametrize("verb", [cr.stability.consensus, cr.stability.assignment_consistency])
def test_words_name_the_best_k_of_several(verb, X):
    several = verb(slices, X, n_clusters=[2, 3], n_resamples=4, rng=ROOT)
    assert (
        repr(several).splitlines()[-1]
        == f"{'Lowest' if verb is cr.stability.consensus else 'Highest'} at k = {several.best_n_clusters}"
    )
    assert "Best at" not in repr(verb(slices, X, n_clusters=2, n_resamples=4, rng=ROOT))
    assert "Best at" not in repr(verb(two_or_three, X, n_resamples=4, rng=ROOT))


@pytest.mark.parametrize("verb", VERBS)
def test_a_perturbation_that_keeps_everything_says_so(verb, X):
    with pytest.warns(ReplicateWarning, match=r"Subsample\(fraction=1\.0\) changes nothing here, and Agglomerative"):
        verb(WARD, X, perturbation=cr.resampling.Subsample(1.0), n_resamples=2, rng=0)


@pytest.mark.parametrize("n_pairs", [0, -1, 1.5, True, "all"])
def test_n_pairs_is_a_positive_integer(n_pairs, X):
    with pytest.raises(ParameterError, match="n_pairs must be a positive integer, got"):
        cr.stability.consensus(slices, X, n_pairs=n_pairs)


def test_what_is_asked_of_a_consensus_is_checked(X):
    result = cr.stability.consensus(slices, X, n_clusters=[2, 3], n_resamples=2, rng=0)
    for ask in (result.matrix, lambda: result.cdf(0.5)):
        with pytest.raises(ParameterError, match=r"n_clusters must say which: one of \[2, 3\]"):
            ask()
    with pytest.raises(ParameterError, match="There is no number of clusters 7; there are 2, 3"):
        result.matrix(7)
    for rows in ([12], [-1], [0.5], 3, [[0]], ["a"], [True]):
        with pytest.raises(ParameterError, match="rows must be whole numbers from 0 to 11, got"):
            result.matrix(2, rows=rows)
    for values in (1.1, [-0.1], "half", [0.5, np.nan]):
        with pytest.raises(ParameterError, match="values must be a number from 0 to 1, or several; got"):
            result.cdf(values, 2)
    with pytest.raises(ParameterError, match="low and high must be a number from 0 to 1"):
        result.pac(0.1, 90)
    for low, high in ((0.9, 0.1), (0.5, 0.5)):
        with pytest.raises(ParameterError, match=f"low must be below high, got {low} and {high}"):
            result.pac(low, high)
    assignments = cr.stability.assignment_consistency(slices, X, n_clusters=[2, 3], n_resamples=2, rng=0)
    with pytest.raises(ParameterError, match=r"n_clusters must say which: one of \[2, 3\]"):
        assignments.samples_frame()
    with pytest.raises(ParameterError, match="There is no number of clusters 4; there are 2, 3"):
        assignments.samples_frame(4)


@pytest.mark.parametrize("verb", VERBS)
def test_a_run_in_which_nothing_can_vary_says_so(verb, X):
    with pytest.warns(
        ReplicateWarning, match=r"Rerun\(\) changes nothing here, and AgglomerativeClustering has no random"
    ):
        verb(WARD, X, perturbation=cr.resampling.Rerun(), n_resamples=2, rng=0)
