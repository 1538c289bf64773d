"""Whose labels an in-group proportion is of: known ones, a clusterer's, another study's."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from tests.helpers import configured
from tests.stability.in_group.cases import (
    LABELS,
    cityblock,
    draw_of,
    nearest_label_by_hand,
    null_by_hand,
    proportions_by_hand,
    pvalue_by_hand,
    squared,
)

import clustrep as cr
from clustrep.errors import ParameterError

# ---------------------------------------------------------------------------------------------------------------------
# whose labels


def test_true_takes_the_labels_of_the_study(X):
    study = cr.Study(X, "mainz", labels=LABELS)
    assert cr.stability.in_group_proportion(study, True).proportions.tolist() == proportions_by_hand(X, LABELS)


def test_labels_with_names_are_put_in_order(X):
    samples = [f"s{i}" for i in range(14)]
    frame = pd.DataFrame(X, index=samples, columns=["a", "b", "c"])
    labels = pd.Series(LABELS, index=samples).sample(frac=1, random_state=0)
    result = cr.stability.in_group_proportion(frame, labels)
    assert result.labels.tolist() == LABELS
    assert result.samples == tuple(samples)
    assert result.proportions.tolist() == proportions_by_hand(X, LABELS)


def test_a_clusterer_clusters_the_study(X):
    labels = AgglomerativeClustering(3).fit_predict(X)
    result = cr.stability.in_group_proportion(X, clusterer=AgglomerativeClustering(3))
    assert sorted(result.sizes.tolist()) == sorted(np.bincount(labels).tolist())
    assert cr.agreement.adjusted_rand_index(result.labels, labels) == 1
    assert sorted(result.proportions.tolist()) == sorted(proportions_by_hand(X, labels.tolist()))


def test_a_function_may_be_the_clusterer(X):
    result = cr.stability.in_group_proportion(X, clusterer=lambda X: np.where(X[:, 0] > 0, "high", "low"))
    labels = ["high" if x > 0 else "low" for x in X[:, 0]]
    assert result.clusters.tolist() == ["high", "low"]
    assert result.proportions.tolist() == proportions_by_hand(X, labels)


def test_noise_is_a_cluster_like_any_other():
    X = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [9.0], [20.0]]
    result = cr.stability.in_group_proportion(X, clusterer=DBSCAN(eps=0.5, min_samples=2))
    assert result.clusters.tolist() == [-1, 0, 1]
    assert result.proportions.tolist() == [1 / 2, 1, 1]  # 20 → 9, 9 → 5.2


def test_noise_may_be_left_out_altogether():
    X = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [5.16], [20.0]]
    labels = [0, 0, 0, 1, 1, 0, -1, -1]
    result = cr.stability.in_group_proportion(X, labels, noise="drop")
    # 5.1 → 5.0 (as near as 5.2: the lower row), where 5.16 is not there
    assert result.clusters.tolist() == [0, 1]
    assert result.sizes.tolist() == [4, 2]
    assert result.proportions.tolist() == [3 / 4, 1]
    assert result.overall == 5 / 6
    assert result.labels.tolist() == labels
    with_noise = cr.stability.in_group_proportion(X, labels)
    assert with_noise.clusters.tolist() == [-1, 0, 1]
    assert with_noise.proportions.tolist() == [0, 3 / 4, 1 / 2]


NOISY = [-1, 1, 1, 0, 2, 2, 0, 1, 2, -1, 0, 1, -1, 0]


@pytest.mark.parametrize("metric", ["euclidean", "cityblock"])
def test_without_noise_proportions_are_those_of_the_samples_that_are_left(metric, X):
    left = [i for i, label in enumerate(NOISY) if label != -1]
    result = cr.stability.in_group_proportion(X, NOISY, noise="drop", n_neighbors=[1, 3], metric=metric)
    distance = squared if metric == "euclidean" else cityblock
    labels = [NOISY[i] for i in left]
    assert result.proportions.tolist() == [proportions_by_hand(X[left], labels, j, distance) for j in (1, 3)]
    assert (
        result.proportions.tolist()
        != cr.stability.in_group_proportion(X, NOISY, n_neighbors=[1, 3], metric=metric).proportions[:, 1:].tolist()
    )
    assert result.clusters.tolist() == [0, 1, 2]
    assert result.sizes.tolist() == [labels.count(c) for c in range(3)]
    assert result.labels.tolist() == NOISY


def test_without_noise_the_null_is_that_of_the_samples_that_are_left(X):
    left = [i for i, label in enumerate(NOISY) if label != -1]
    labels = [NOISY[i] for i in left]
    result = cr.stability.in_group_proportion(
        cr.Study(X, "vdx"), NOISY, noise="drop", n_neighbors=[1, 3], n_null=8, rng=6
    )
    null = null_by_hand(X[left], labels, "vdx", 6, 8, (1, 3))
    np.testing.assert_array_equal(result.null_distribution, null)
    for own, pvalues, values in zip(result.proportions, result.exceeding, null.transpose(1, 0, 2), strict=True):
        assert pvalues.tolist() == [pvalue_by_hand(value, values) for value in own]


@pytest.mark.parametrize(
    "perturbation", [cr.resampling.Bootstrap(), cr.resampling.Subsample(0.7), cr.resampling.Jitter(0.5)], ids=repr
)
def test_noise_is_left_out_of_copies_too(perturbation, X):
    study = cr.Study(X, "vdx")
    result = cr.stability.in_group_stability(
        study, NOISY, noise="drop", perturbation=perturbation, n_resamples=8, rng=5
    )
    for b in range(8):
        draw = draw_of(perturbation, study, 5, b)
        rows = [i for i in sorted(set(draw.order.tolist())) if NOISY[i] != -1]
        expected = proportions_by_hand(draw.points[rows], [NOISY[i] for i in rows], clusters=[0, 1, 2])
        np.testing.assert_array_equal(result.distribution[b], expected)


def test_what_a_copy_calls_noise_is_left_out_of_it(X):
    study = cr.Study(X, "vdx")

    def clusterer(X):
        return np.where(np.abs(X[:, 1]) > 0.9, -1, (X[:, 0] > np.median(X[:, 0])) * 1)

    result = cr.stability.in_group_stability(
        study, clusterer=clusterer, noise="drop", perturbation=cr.resampling.Subsample(0.7), n_resamples=8, rng=5
    )
    reference = clusterer(X).tolist()
    assert result.labels.tolist() == reference
    assert result.clusters.tolist() == [0, 1]
    n_dropped = 0
    for b in range(8):
        draw = draw_of(cr.resampling.Subsample(0.7), study, 5, b)
        new = dict(zip(draw.order.tolist(), clusterer(draw.sample).tolist(), strict=True))
        rows = [i for i in sorted(new) if new[i] != -1]
        n_dropped += len(new) - len(rows)
        # Clusters are halves by the first feature, so 0 is found again as 0 and 1 as 1.
        expected = proportions_by_hand(X[rows], [new[i] for i in rows], clusters=[0, 1])
        np.testing.assert_array_equal(result.distribution[b], expected)
    assert n_dropped


def test_noise_alone_leaves_nobody_to_judge(X):
    with pytest.raises(ParameterError, match="n_neighbors must be below the number of samples, 0, noise apart, got 1"):
        cr.stability.in_group_proportion(X, [-1] * 14, noise="drop")
    with pytest.raises(ParameterError, match="n_neighbors must be below the number of samples, 2, noise apart, got 2"):
        cr.stability.in_group_proportion(X, [-1] * 12 + [0, 1], noise="drop", n_neighbors=2)


def test_a_clusterer_with_fixed_seed_gives_what_its_labels_give(X):
    clusterer = KMeans(3, n_init=2, random_state=0)
    result = configured(cr.stability.in_group_proportion, accelerate=False)(X, clusterer=clusterer)
    labels = clusterer.fit_predict(X)
    assert result.labels.tolist() == labels.tolist()
    assert result.proportions.tolist() == proportions_by_hand(X, labels.tolist())


# ---------------------------------------------------------------------------------------------------------------------
# across studies


def test_labels_of_the_training_study_are_carried_over_by_the_nearest_sample(X, rng):
    train = rng.integers(-2, 3, size=(14, 3)).astype(float)
    train[5] = train[0]  # another label: the first row counts
    points = np.concatenate([np.rint(X[:6]), train[5:7], X[:4]])
    result = cr.stability.in_group_proportion(points, LABELS, train=train, n_neighbors=[1, 2])
    labels = nearest_label_by_hand(points, train, LABELS)
    assert labels[6] == LABELS[0] != LABELS[5]
    assert result.labels.tolist() == labels
    assert result.proportions.tolist() == [proportions_by_hand(points, labels, j) for j in (1, 2)]
    assert result.provenance["train"] == "train"


def test_training_and_testing_are_not_the_same(rng):
    a, b = rng.normal(size=(10, 2)), rng.normal(size=(12, 2))
    result = cr.stability.in_group_proportion(a, [0, 1] * 6, train=b)
    assert len(result.labels) == 10
    assert result.labels.tolist() == nearest_label_by_hand(a, b, [0, 1] * 6)


def test_a_cluster_without_samples_keeps_its_row():
    train = [[0.0], [1.0], [50.0], [51.0], [99.0]]
    result = cr.stability.in_group_proportion([[0.4], [0.2], [48.0]], list("aabbc"), train=train)
    assert result.clusters.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(result.proportions, [1, 0, np.nan])
    assert result.sizes.tolist() == [2, 1, 0]
    assert result.overall == 2 / 3
    assert result.labels.tolist() == ["a", "a", "b"]


def test_clusters_that_are_absent_count_in_the_null_alone(X, rng):
    train = np.concatenate([rng.normal(size=(12, 3)), [[50.0] * 3, [50.5] * 3, [-80.0] * 3]])
    learned = [
        *"babcabcbacba",
        "x",
        "x",
        "a0",
    ]  # two clusters that are far away, one of them in the middle of the order
    study = cr.Study(X, "vdx")
    result = cr.stability.in_group_proportion(study, learned, train=train, n_neighbors=[1, 2], n_null=10, rng=7)
    labels = nearest_label_by_hand(X, train, learned)
    clusters = ["a", "a0", "b", "c", "x"]
    assert result.labels.tolist() == labels
    assert result.clusters.tolist() == clusters
    assert result.sizes.tolist() == [labels.count(c) for c in clusters]
    assert result.sizes[[1, 4]].tolist() == [0, 0]
    proportions = [proportions_by_hand(X, labels, j, clusters=clusters) for j in (1, 2)]
    np.testing.assert_array_equal(result.proportions, proportions)
    null = null_by_hand(X, labels, "vdx", 7, 10, (1, 2), n_centres=5)
    np.testing.assert_array_equal(result.null_distribution, null)
    assert np.isnan(result.exceeding).tolist() == [[False, True, False, False, True]] * 2
    for own, pvalues, values in zip(proportions, result.exceeding, null.transpose(1, 0, 2), strict=True):
        expected = [math.nan if math.isnan(value) else pvalue_by_hand(value, values) for value in own]
        np.testing.assert_array_equal(pvalues, expected)
    frame = result.to_frame()
    assert frame["size"].tolist() == result.sizes.tolist() * 2
    assert frame["pvalue"].isna().tolist() == [False, True, False, False, True] * 2


def test_true_takes_the_labels_of_the_training_study(X, rng):
    train = cr.Study(rng.normal(size=(14, 3)), "vdx", labels=LABELS)
    study = cr.Study(X, "mainz", labels=[9] * 14)
    result = cr.stability.in_group_proportion(study, True, train=train)
    assert result.labels.tolist() == nearest_label_by_hand(X, train.X, LABELS)
    assert result.provenance["train"] == "vdx"


def test_a_clusterer_sees_the_training_study_only(X, rng):
    train = rng.normal(size=(20, 3))
    seen = []

    def clusterer(X):
        seen.append(X.copy())
        return (X[:, 1] > 0.3).astype(int)

    result = cr.stability.in_group_proportion(X, clusterer=clusterer, train=train)
    assert seen
    assert all(np.array_equal(one, train) for one in seen)
    assert result.labels.tolist() == nearest_label_by_hand(X, train, (train[:, 1] > 0.3).astype(int).tolist())


def test_a_clusterer_without_predict_labels_by_the_nearest_training_sample(X, rng):
    train = rng.normal(size=(20, 3))
    learned = AgglomerativeClustering(3).fit_predict(train).tolist()
    labels = nearest_label_by_hand(X, train, learned)
    result = cr.stability.in_group_proportion(X, clusterer=AgglomerativeClustering(3), train=train)
    assert cr.agreement.adjusted_rand_index(result.labels, labels) == 1
    assert len(set(labels)) == 2  # the third cluster has no sample here
    there = result.sizes > 0
    assert sorted(result.proportions[there].tolist()) == sorted(proportions_by_hand(X, labels))
    assert np.isnan(result.proportions[~there]).tolist() == [True]


def test_a_clusterer_with_predict_labels_by_it(X, rng):
    train = rng.normal(size=(20, 3))
    clusterer = KMeans(3, n_init=2, random_state=1)
    result = configured(cr.stability.in_group_proportion, accelerate=False)(X, clusterer=clusterer, train=train)
    labels = clusterer.fit(train).predict(X).tolist()
    assert result.labels.tolist() == labels
    assert labels != nearest_label_by_hand(X, train, clusterer.labels_.tolist())
    assert result.proportions.tolist() == proportions_by_hand(X, labels)


def test_features_are_aligned_by_name(X, rng):
    train = pd.DataFrame(rng.normal(size=(14, 3)) * [1, 3, 9], columns=["a", "b", "c"])
    frame = pd.DataFrame(X * [1, 3, 9], columns=["a", "b", "c"])
    plain = cr.stability.in_group_proportion(frame, LABELS, train=train)
    shuffled = cr.stability.in_group_proportion(frame, LABELS, train=train[["c", "a", "b"]])
    assert shuffled.labels.tolist() == plain.labels.tolist()
    assert shuffled.labels.tolist() == nearest_label_by_hand(frame.to_numpy(), train.to_numpy(), LABELS)
    np.testing.assert_array_equal(shuffled.proportions, plain.proportions)


def test_a_study_trained_on_itself_keeps_its_labels(X):
    study = cr.Study(X, "mainz", labels=LABELS)
    assert cr.stability.in_group_proportion(study, True, train=study).labels.tolist() == LABELS


def test_the_provenance_of_a_cross_study_result_names_the_clusterer(X):
    result = cr.stability.in_group_proportion(X, clusterer=AgglomerativeClustering(2), train=X + 0.1)
    assert "AgglomerativeClustering" in str(result.provenance["clusterers"])
