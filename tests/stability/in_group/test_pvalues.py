"""P-values of the in-group proportion, against random contiguous partitions by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.cluster import AgglomerativeClustering, KMeans
from tests.stability.in_group.cases import LABELS, cityblock, null_by_hand, pvalue_by_hand

import clustrep as cr


@pytest.mark.parametrize("p", [1, 3, 20])
def test_pvalues_are_those_of_random_contiguous_partitions(p, rng):
    X = rng.normal(size=(14, p)) * rng.uniform(0.5, 2, size=p) + 4
    study = cr.Study(X, "vdx")
    result = cr.stability.in_group_proportion(study, LABELS, n_neighbors=[1, 2], n_null=12, rng=11)
    null = null_by_hand(X, LABELS, "vdx", 11, 12, (1, 2))
    np.testing.assert_array_equal(result.null_distribution, null)
    for own, pvalues, values in zip(result.proportions, result.exceeding, null.transpose(1, 0, 2), strict=True):
        assert pvalues.tolist() == [pvalue_by_hand(value, values) for value in own]
    alone = cr.stability.in_group_proportion(study, LABELS, n_null=12, rng=11)
    assert alone.exceeding.tolist() == result.exceeding[0].tolist()
    assert alone.null_distribution.shape == (12, 1, 3)


def pvalues_in_other_orders(X, labels, **options):
    """The p-values of the samples in 20 orders: of one study, whatever the order of its rows."""
    labels = np.array(labels)
    orders = [np.arange(len(X)), *(np.random.default_rng(i).permutation(len(X)) for i in range(20))]
    return np.array(
        [
            cr.stability.in_group_proportion(
                cr.Study(X[order], "vdx"), labels[order], n_null=40, rng=2, **options
            ).exceeding
            for order in orders
        ]
    )


@pytest.mark.parametrize(("p", "metric"), [(1, "euclidean"), (3, "euclidean"), (30, "euclidean"), (3, "cityblock")])
def test_pvalues_do_not_depend_on_the_order_of_samples(p, metric, rng):
    X = rng.normal(size=(24, p)) * rng.uniform(0.5, 2, size=p) + 4
    labels = np.where(X[:, 0] > 4, "high", "low")
    labels[:3] = "few"
    first, *others = pvalues_in_other_orders(X, labels, n_neighbors=[1, 2], metric=metric)
    assert len(np.unique(first)) > 1
    for other in others:
        np.testing.assert_array_equal(other, first)


@pytest.mark.parametrize("slope", [1, -1])
def test_pvalues_of_two_standardised_features_do_not_depend_on_the_order_of_samples(slope, rng):
    X = rng.normal(size=(24, 2))
    X[:, 1] += slope * X[:, 0]
    X = (X - X.mean(axis=0)) / X.std(axis=0)  # the principal axes are the diagonals
    first, *others = pvalues_in_other_orders(X, [0, 1, 2] * 8)
    for other in others:
        np.testing.assert_array_equal(other, first)


def test_pvalues_do_not_depend_on_the_names_of_clusters(X):
    names = {0: "z", 1: "x", 2: "y"}
    plain = cr.stability.in_group_proportion(X, LABELS, n_null=20, rng=1)
    renamed = cr.stability.in_group_proportion(X, [names[c] for c in LABELS], n_null=20, rng=1)
    by_name = dict(zip(renamed.clusters.tolist(), renamed.exceeding.tolist(), strict=True))
    assert [by_name[names[c]] for c in range(3)] == plain.exceeding.tolist()


def test_null_partitions_use_the_metric(X):
    result = cr.stability.in_group_proportion(X, LABELS, metric="cityblock", n_null=8, rng=3)
    np.testing.assert_array_equal(
        result.null_distribution, null_by_hand(X, LABELS, "X", 3, 8, (1,), distance=cityblock)
    )


def test_null_clusters_without_samples_do_not_count(rng):
    X = np.concatenate([rng.normal(0, 0.01, size=(8, 2)), rng.normal(100, 0.01, size=(1, 2))])
    labels = [0, 1, 2, 3, 0, 1, 2, 3, 4]
    result = cr.stability.in_group_proportion(X, labels, n_null=15, rng=0)
    null = null_by_hand(X, labels, "X", 0, 15, (1,))
    assert np.isnan(null).any()
    assert not np.isnan(null).all(axis=(1, 2)).any()
    np.testing.assert_array_equal(result.null_distribution, null)
    assert result.exceeding.tolist() == [pvalue_by_hand(value, null) for value in result.proportions]


def test_a_null_cluster_as_good_as_ours_counts_against_it():
    X = [[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]]
    result = cr.stability.in_group_proportion(X, [0, 0, 0, 1, 1, 1], n_null=9, rng=0)
    assert result.proportions.tolist() == [1, 1]
    n_null = np.count_nonzero(~np.isnan(result.null_distribution))
    n_ones = np.count_nonzero(result.null_distribution == 1)
    assert n_ones > 0
    assert result.exceeding.tolist() == [(1 + n_ones) / (1 + n_null)] * 2


def test_one_cluster_is_no_evidence(X):
    assert cr.stability.in_group_proportion(X, [0] * 14, n_null=5, rng=0).exceeding.tolist() == [1]


def test_equal_points_are_no_evidence():
    X = np.ones((5, 2))
    assert cr.stability.in_group_proportion(
        cr.Study(X, "X", label=False), [0, 0, 1, 1, 1], n_null=4
    ).exceeding.tolist() == [1, 1]


def test_null_partitions_belong_to_the_seed_the_study_and_their_number(X):
    study = cr.Study(X, "vdx")
    long = cr.stability.in_group_proportion(study, LABELS, n_null=9, rng=5).null_distribution
    np.testing.assert_array_equal(
        cr.stability.in_group_proportion(study, LABELS, n_null=4, rng=5).null_distribution, long[:4]
    )
    train = cr.Study(X, "other", labels=LABELS)  # the same labels come from elsewhere
    across = cr.stability.in_group_proportion(study, True, train=train, n_null=9, rng=5)
    assert across.labels.tolist() == LABELS
    np.testing.assert_array_equal(across.null_distribution, long)
    for other in (
        cr.stability.in_group_proportion(study, LABELS, n_null=9, rng=6),
        cr.stability.in_group_proportion(cr.Study(X, "mainz"), LABELS, n_null=9, rng=5),
    ):
        assert not np.array_equal(other.null_distribution, long, equal_nan=True)


def test_null_partitions_know_the_metric_by_its_other_name(X):
    plain = cr.stability.in_group_proportion(X, LABELS, metric="cityblock", n_null=4, rng=0)
    other = cr.stability.in_group_proportion(X, LABELS, metric="manhattan", n_null=4, rng=0)
    np.testing.assert_array_equal(other.null_distribution, plain.null_distribution)


@pytest.mark.parametrize("metric", ["seuclidean", "mahalanobis"])
def test_null_partitions_take_the_scale_of_the_metric_from_the_study(metric, rng):
    X = rng.normal(size=(14, 2)) @ [[1, 3], [0, 8]]
    weights = np.diag(1 / X.var(axis=0, ddof=1)) if metric == "seuclidean" else np.linalg.inv(np.cov(X.T))

    def distance(x, y):
        d = np.subtract(x, y)
        return float(d @ weights @ d)

    result = cr.stability.in_group_proportion(X, LABELS, metric=metric, n_null=6, rng=0)
    np.testing.assert_array_equal(result.null_distribution, null_by_hand(X, LABELS, "X", 0, 6, (1,), distance))


@pytest.mark.parametrize("metric", ["seuclidean", "mahalanobis"])
def test_one_cluster_is_no_evidence_in_a_metric_with_a_scale(metric, X):
    assert cr.stability.in_group_proportion(X, [0] * 14, metric=metric, n_null=3, rng=0).exceeding.tolist() == [1]


def test_a_sample_without_direction_does_not_stop_the_null(X):
    X[3] = 0
    assert cr.stability.in_group_proportion(X, LABELS, metric="cosine", n_null=3, rng=0).exceeding.shape == (3,)


@pytest.mark.slow
@pytest.mark.parametrize(("k", "d"), [(2, 2), (3, 5)])
def test_clusters_of_plain_gaussians_are_not_significant_more_often_than_nominal(k, d):
    n_sets = 150
    pvalues = []
    for i in range(n_sets):
        train, X = np.random.default_rng([k, d, i]).normal(size=(2, 40, d))
        result = cr.stability.in_group_proportion(X, clusterer=KMeans(k, n_init=2), train=train, n_null=40, rng=i)
        pvalues.append(result.exceeding[0])
    for level in (0.05, 0.2):
        n_rejected = sum(p <= level for p in pvalues)
        assert binomtest(n_rejected, n_sets, level, alternative="greater").pvalue > 0.01


def test_clusters_that_replicate_have_smaller_pvalues_than_scattered_labels():
    rng = np.random.default_rng(0)
    centres = np.zeros((3, 30))
    centres[range(3), range(3)] = 4
    train, X = (np.repeat(centres, 30, axis=0) + rng.normal(size=(90, 30)) for _ in range(2))
    replicated = cr.stability.in_group_proportion(X, clusterer=KMeans(3, n_init=5), train=train, n_null=100, rng=0)
    assert replicated.proportions.min() > 0.9
    assert replicated.pvalues.max() < 0.3
    scattered = cr.stability.in_group_proportion(X, rng.permutation(replicated.labels), n_null=100, rng=0)
    assert scattered.exceeding.min() > 0.8
    assert scattered.pvalues is None


@pytest.mark.parametrize("clusterer", [KMeans(3, n_init=1), AgglomerativeClustering(3)], ids=["k-means", "ward"])
def test_clusters_of_nothing_are_rarely_significant(clusterer):
    """Where random cells would reject up to every second cluster; the first cluster of every study, so independent."""
    n_sets = 40
    pvalues = []
    for i in range(n_sets):
        X = np.random.default_rng([91, i]).normal(size=(60, 20))
        result = cr.stability.in_group_proportion(X, clusterer=clusterer, n_null=19, rng=i)
        assert result.pvalues_are.startswith("p-values: against simulated data")
        pvalues.append(result.pvalues[0])
    n_rejected = sum(p <= 0.05 for p in pvalues)
    assert binomtest(n_rejected, n_sets, 0.05, alternative="greater").pvalue > 0.01


def test_simulated_data_are_clustered_again():
    """A clusterer that sees which data it was given: simulated data have the study's shape and are other data."""
    X, seen = np.random.default_rng(0).normal(size=(20, 3)), []

    def halves(table):
        seen.append(np.array(table))
        if len(seen) == 3:
            raise ValueError("not this one")
        return (table[:, 0] > 0).astype(int)

    result = cr.stability.in_group_proportion(X, clusterer=halves, n_null=4, rng=1)
    assert len(seen) == 5
    np.testing.assert_array_equal(seen[0], X)
    assert all(table.shape == X.shape and not np.allclose(table, X) for table in seen[1:])
    assert np.isnan(result.null_distribution[1]).all()
    kept = result.null_distribution[[0, 2, 3]].ravel()
    expected = [(1 + sum(kept >= value)) / (1 + len(kept)) for value in result.proportions]
    assert result.pvalues.tolist() == expected


def test_labels_of_the_same_data_have_no_pvalues(X):
    result = cr.stability.in_group_proportion(X, LABELS, n_null=5, rng=0)
    assert result.pvalues is None
    assert result.exceeding.shape == (3,)
    assert result.pvalues_are.startswith("No p-values: random cells are no null")
    assert result.pvalues_are in repr(result)
