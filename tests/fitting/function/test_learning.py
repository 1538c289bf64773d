"""ψ(· ; A, X): any clusterer becomes a function of points."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.cluster import (
    DBSCAN,
    HDBSCAN,
    AgglomerativeClustering,
    KMeans,
    MeanShift,
)
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import KNeighborsClassifier
from tests.fitting.function.cases import INDUCED, PREDICTING, everything, learned, nearest_rows, short, three_blobs

import clustrep as cr
from clustrep.execution.seeds import ReplicateFailure, Stream, seed_of
from clustrep.fitting.neighbours import KD_TREE_FEATURES, nearest_label

# ---------------------------------------------------------------------------------------------------------------------
# clusterers of every kind


def labels_of(clusterer, X):
    return np.asarray(clusterer(X) if callable(clusterer) else clone(clusterer, safe=False).fit_predict(X))


# ---------------------------------------------------------------------------------------------------------------------
# its own predict, else the nearest training point


@pytest.mark.parametrize("clusterer", PREDICTING, ids=short)
def test_a_clusterer_that_predicts_speaks_for_itself(clusterer, X, points):
    function = learned(clusterer, X.copy())
    fitted = clone(clusterer).fit(X.copy())
    np.testing.assert_array_equal(function(points), fitted.predict(points))
    np.testing.assert_array_equal(function(X), fitted.predict(X))


@pytest.mark.parametrize(("clusterer", "metric"), INDUCED, ids=short)
def test_one_that_does_not_is_induced_by_the_nearest_training_point(clusterer, metric, X, points):
    labels = labels_of(clusterer, X)
    assert len(np.unique(labels)) > 1
    function = learned(clusterer, X)
    np.testing.assert_array_equal(function(points), labels[nearest_rows(points, X, metric)])
    np.testing.assert_array_equal(function(X), labels)


@pytest.mark.parametrize("metric", ["manhattan", "cosine", "maximum", "cubic"])
def test_the_metrics_tested_here_find_other_neighbours_than_the_euclidean(metric, X, points):
    assert np.any(nearest_rows(points, X, metric) != nearest_rows(points, X))


def test_the_function_is_never_labels_even_at_the_training_points(X):
    X = np.concatenate([X, [[30.0, 30.0, 30.0]]])
    mean_shift = MeanShift(bandwidth=2.0, cluster_all=False, min_bin_freq=2, bin_seeding=True)
    assert -1 in clone(mean_shift).fit(X).labels_  # the orphan, which predict gives to the nearest centre
    assert -1 not in learned(mean_shift, X)(X)


def test_noise_passes_through(X):
    X = np.concatenate([X, [[30.0, 30.0, 30.0]]])
    function = learned(DBSCAN(eps=1.5, min_samples=4), X)
    assert function([[31.0, 29.0, 30.0]]).tolist() == [-1]
    assert function(X[:1])[0] != -1


@pytest.mark.parametrize(
    "metric_params", [{"V": [1e6, 1.0, 1.0]}, {"V": [1.0, 1.0, 1e6]}], ids=["first feature", "last feature"]
)
def test_parameters_of_the_metric_are_obeyed(metric_params, X, points):
    # A variance of 10⁶ makes a feature irrelevant.
    clusterer = DBSCAN(eps=1.2, min_samples=4, metric="seuclidean", metric_params=metric_params, algorithm="brute")
    weighted = np.sqrt(metric_params["V"])
    expected = labels_of(clusterer, X)[nearest_rows(points / weighted, X / weighted)]
    np.testing.assert_array_equal(learned(clusterer, X)(points), expected)


def test_minkowski_power_among_the_parameters_of_the_metric_is_obeyed(X, points):
    clusterer = HDBSCAN(min_cluster_size=5, metric="minkowski", metric_params={"p": 1}, copy=True)
    expected = labels_of(clusterer, X)[nearest_rows(points, X, "manhattan")]
    np.testing.assert_array_equal(learned(clusterer, X)(points), expected)


@pytest.mark.parametrize("metric", ["infinity", "chebyshev"])
def test_every_name_of_a_metric_that_the_clusterer_knows_is_understood(metric, X, points):
    clusterer = HDBSCAN(min_cluster_size=5, metric=metric, copy=True)
    expected = labels_of(clusterer, X)[nearest_rows(points, X, "maximum")]
    np.testing.assert_array_equal(learned(clusterer, X)(points), expected)


@pytest.mark.parametrize(
    "clusterer",
    [
        *everything(),
        cr.Induced(KMeans(3, n_init=1, random_state=0), metric="seuclidean"),
        cr.Induced(KMeans(3, n_init=1, random_state=0), metric="mahalanobis"),
    ],
    ids=short,
)
def test_a_points_label_depends_on_that_point_alone(clusterer, X, points):
    function = learned(clusterer, X)
    np.testing.assert_array_equal(function(points), [function(point[None])[0] for point in points])


def test_more_points_than_fit_into_one_block(rng):
    """Beyond 15 features, points are compared in blocks of 1,024."""
    X = rng.normal(size=(40, KD_TREE_FEATURES + 1))
    points = rng.normal(size=(2100, KD_TREE_FEATURES + 1))
    function = learned(lambda X: np.arange(len(X)), X)
    some = [0, 1023, 1024, 2047, 2048, 2099]
    np.testing.assert_array_equal(function(points)[some], nearest_rows(points[some], X))
    assert len(function(points)) == 2100


# ---------------------------------------------------------------------------------------------------------------------
# equal training points


@pytest.mark.parametrize("n_features", [1, 2, KD_TREE_FEATURES, KD_TREE_FEATURES + 1, 40])
@pytest.mark.parametrize("metric", ["euclidean", "cityblock"])
def test_of_equal_training_points_the_first_row_wins(n_features, metric, rng):
    distinct = rng.normal(size=(12, n_features))
    rows = rng.integers(12, size=60)
    function = nearest_label(distinct[rows], np.arange(60), metric)
    drawn = np.unique(rows)
    first = [int(np.flatnonzero(rows == row)[0]) for row in drawn]
    assert function(distinct[drawn]).tolist() == first
    assert function(distinct[drawn] + 1e-9).tolist() == first


@given(st.lists(st.tuples(st.sampled_from([0.0, -0.0, 1.0, 2.5]), st.sampled_from([0.0, -0.0, -3.0])), min_size=1))
def test_first_row_wins_among_any_repeated_points(rows):
    points = np.array(rows)
    expected = [next(i for i, other in enumerate(rows) if other == row) for row in rows]  # −0 equals 0
    assert nearest_label(points, np.arange(len(rows)), "euclidean")(points).tolist() == expected


def test_a_row_drawn_twice_counts_for_the_clusterer(X):
    """Rows are repeated, not made distinct, before the clusterer sees them."""
    seen = []
    learned(lambda X: seen.append(len(X)) or np.arange(len(X)), X[[0, 0, 1, 1, 1]])
    assert seen == [5]


# ---------------------------------------------------------------------------------------------------------------------
# the whole road


def drawn_rows(seed, name, replicate, n):
    return np.random.default_rng(seed_of(seed, Stream.DRAW, name, replicate)).integers(n, size=n)


@pytest.mark.parametrize(
    "clusterer",
    [*everything(), cr.Induced(AgglomerativeClustering(3), classifier=KNeighborsClassifier(3))],
    ids=short,
)
@pytest.mark.filterwarnings("ignore::clustrep.errors.ReplicateWarning")  # what a clusterer says of repeated rows
def test_every_clusterer_goes_the_whole_road(clusterer, rng):
    studies = {"a": three_blobs(rng), "b": three_blobs(rng, 24)}
    result = cr.replicability(clusterer, studies, n_resamples=2, rng=3, resampling=cr.resampling.Bootstrap())
    assert np.isfinite(result.estimate).all()
    for resample in (None, 0, 1):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            train, test = (result.clustering_function(name, resample) for name in ("a", "b"))
        points = studies["b"] if resample is None else studies["b"][drawn_rows(3, "b", resample + 1, 24)]
        scores = result.estimate if resample is None else result.distribution[resample]
        if np.isfinite(scores[0, 1]):
            assert scores[0, 1] == pytest.approx(adjusted_rand_score(train(points), test(points)), abs=1e-12)
    assert np.isfinite(result.distribution).any()


def test_a_point_without_distances_captures_nobody():
    """The origin has no angle to anything: its distances are not numbers, and it must not be anyone's nearest."""
    predict = nearest_label(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), [7, 1, 2], "cosine")
    assert predict(np.array([[1.0, 0.1], [0.1, 1.0]])).tolist() == [1, 2]
    with pytest.raises(ReplicateFailure, match="no distance to any training point"):
        predict(np.array([[0.0, 0.0]]))
